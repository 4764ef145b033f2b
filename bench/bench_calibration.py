"""Does "95%" mean 95%? The mixed models on simulated campaigns whose truth is known. Takes about an hour at 500 draws.

For each campaign shape and model, many campaigns are drawn from one design: once with systems of different quality (do
intervals of differences and rank sets hold the truth?), once with equal ones (how often is any pair called
different?). Shapes with `scale` and `ends` break the models' assumptions on purpose: annotators use the scale
differently, and scores are whole numbers between 0 and 100; the truth in points is bent there, so only the false alarms
are to be read. Shapes with tastes show what a model without them makes of a few people's liking.

    python -m bench.bench_calibration [draws]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from adjudge.core.rng import generator
from adjudge.core.sheet import item_means, sheet_of, standardised
from adjudge.rank.contrasts import contrasts, rank_sets
from adjudge.rank.lines import holm
from adjudge.rank.mann_whitney import mann_whitney
from adjudge.rank.mixed import design_from, prepare
from adjudge.rank.mixed.fit import MixedFit
from adjudge.simulate.score_campaign import ScoreCampaign
from adjudge.simulate.score_design import ScoreDesign, design_scores
from adjudge.simulate.scores import draw_scores

Floats = NDArray[np.float64]

PURE = ScoreCampaign(humans=0, scale=0.0, ends=False, round_numbers=0.0)
SHAPES = {
    "4 systems, 4 annotators, 8 tasks": replace(PURE, systems=4, annotators=4, tasks=8, documents=8),
    "6 systems, 10 annotators, 20 tasks": replace(PURE, systems=6, annotators=10, tasks=20, documents=15),
    "8 systems, 30 annotators, 60 tasks": PURE,
    "15 systems, 100 annotators, 200 tasks": replace(PURE, systems=15, annotators=100, tasks=200, documents=60),
    "8 systems, single segments": replace(PURE, context=False),
    "8 systems, no page effect": replace(PURE, page_effect=0.0, system_document_effect=0.0),
    "8 systems, scale and ends": replace(PURE, scale=0.25, ends=True, round_numbers=0.3),
    "4 systems, 5 annotators, tastes": replace(
        PURE, systems=4, annotators=5, tasks=40, task_size=40, documents=20, controls=0.0, taste=4.0
    ),
    "6 systems, 10 annotators, tastes, scale, ends": replace(
        PURE, systems=6, annotators=10, tasks=30, documents=15, taste=3.0, scale=0.25, ends=True
    ),
    "6 systems, 10 annotators, tastes, one careless": replace(
        PURE, systems=6, annotators=10, tasks=30, documents=15, taste=3.0, careless=0.1
    ),
}
MODELS = ("mixed", "mixed-points", "mixed-plain")


@dataclass
class Hits:
    """One number per campaign: shares of what was right, or whether there was a false alarm."""

    covered: list[float] = field(default_factory=list)
    covered_normal: list[float] = field(default_factory=list)
    all_ranks: list[float] = field(default_factory=list)
    each_rank: list[float] = field(default_factory=list)
    alarm: list[float] = field(default_factory=list)
    alarm_normal: list[float] = field(default_factory=list)
    alarm_customary: list[float] = field(default_factory=list)
    degrees: list[float] = field(default_factory=list)


def main(draws: int = 500) -> None:
    columns = ("coverage", "normal", "all ranks", "each rank", "Holm", "normal", "customary", "df")
    print(f"{'campaign':48}{'model':13}" + "".join(f"{name:>10}" for name in columns))
    for name, campaign in SHAPES.items():
        differing = design_scores(campaign, generator(11, 1))
        equal = design_scores(replace(campaign, qualities=(0.0,) * campaign.systems), generator(11, 1))
        for model in MODELS:
            hits = Hits()
            for fitted, truth, _ in fits(differing, model, draws, 21):
                count_differences(hits, fitted, truth)
            for fitted, _, score in fits(equal, model, draws, 22):
                count_alarms(hits, fitted, equal, score)
            shown = [100 * np.mean(getattr(hits, column)) for column in list(vars(hits))[:-1]]
            numbers = "".join(f"{number:10.1f}" for number in shown)
            print(f"{name:48}{model:13}{numbers}{np.median(hits.degrees):10.0f}", flush=True)


def fits(design: ScoreDesign, model: str, draws: int, stream: int) -> Iterator[tuple[MixedFit, Floats, Floats]]:
    """Every draw's fit, with the truth and the scores behind it."""
    first = draw_scores(design, generator(12, stream, 0)).score[0]
    table = design_from(design.judgments(first), model=model)
    prepared = prepare(table)
    for number in range(draws):
        drawn = draw_scores(design, generator(12, stream, number))
        fitted = table.model.fitted_scores(drawn.score[0][table.row])
        yield prepared.fit(fitted), drawn.quality[0], drawn.score[0]


def count_differences(hits: Hits, fitted: MixedFit, truth: Floats) -> None:
    compared = contrasts(fitted.effects, fitted.covariance, fitted.df)
    upper = np.triu_indices(len(truth), 1)
    error = np.abs(compared.difference - (truth[:, None] - truth[None, :]))[upper]
    low, high = compared.interval()
    hits.covered.append(float((error <= ((high - low) / 2)[upper]).mean()))
    hits.covered_normal.append(float((error <= 1.96 * compared.se[upper]).mean()))
    hits.degrees.append(float(np.median(compared.df[upper])))
    sets = rank_sets(compared, fitted.covariance, draws=2000)
    rank = 1 + (truth[None, :] > truth[:, None]).sum(1)
    inside = (sets.simultaneous[:, 0] <= rank) & (rank <= sets.simultaneous[:, 1])
    hits.all_ranks.append(float(inside.all()))
    hits.each_rank.append(float(((sets.marginal[:, 0] <= rank) & (rank <= sets.marginal[:, 1])).mean()))


def count_alarms(hits: Hits, fitted: MixedFit, design: ScoreDesign, score: Floats) -> None:
    upper = np.triu_indices(len(fitted.systems), 1)
    for counted, df in ((hits.alarm, fitted.df), (hits.alarm_normal, np.inf)):
        p = contrasts(fitted.effects, fitted.covariance, df).two_sided[upper]
        counted.append(float(holm(p).min() < 0.05))
    means = item_means(standardised(sheet_of(design.judgments(score))))
    p = mann_whitney(means.mean, means.system, len(fitted.systems)).two_sided[upper]
    hits.alarm_customary.append(float(holm(p).min() < 0.05))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
