"""Does "95%" mean 95%? The mixed models on simulated campaigns whose truth is known.

For each kind of campaign, designs are drawn anew every ten campaigns. Each campaign is drawn once with systems of
different quality (do intervals of differences and rank sets hold the truth?) and once with equal ones (how often is
any pair called different after Holm's correction?). The truth of a system is the score that it gets on average from
people and on documents of the same kind, found by drawing very many campaigns: where scores pile up at the ends of the
scale, that is what points mean. Every percentage is printed with its Monte-Carlo standard error over campaigns.

    python -m bench.bench_calibration [campaigns] [part of a campaign's name] [models, separated by commas]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from adjudge.mixed.design import design_from
from adjudge.mixed.fit import MixedFit, prepare
from adjudge.planning.simulated_scores import ScoreCampaign, ScoreDesign, design_scores, draw_scores
from adjudge.ranking.decisions import decide
from adjudge.ranking.lines import holm
from adjudge.ranking.significance import mann_whitney
from adjudge.table.maths import contrasts
from adjudge.table.rng import generator
from adjudge.table.score_sheet import item_means, sheet_of, standardised

Floats = NDArray[np.float64]

NO_TASTE = ScoreCampaign(humans=0, taste=0.0, scale=0.0, ends=False, round_numbers=0.0)
TASTES = replace(NO_TASTE, taste=3.0)
LIFELIKE = replace(TASTES, scale=0.25, ends=True, round_numbers=0.3)
MEDIUM = replace(LIFELIKE, systems=6, annotators=10, tasks=30, documents=15)
SHAPES = {
    "4 systems, 4 people, 8 tasks": replace(NO_TASTE, systems=4, annotators=4, tasks=8, documents=8),
    "6 systems, 10 people, 20 tasks": replace(NO_TASTE, systems=6, annotators=10, tasks=20, documents=15),
    "8 systems, 30 people, 60 tasks": NO_TASTE,
    "8 systems, 30 people, single segments": replace(NO_TASTE, context=False),
    "4 systems, 3 people, taste 3": replace(TASTES, systems=4, annotators=3, tasks=20, documents=20),
    "4 systems, 5 people, taste 4": replace(
        TASTES, systems=4, annotators=5, tasks=40, task_size=40, documents=20, controls=0.0, taste=4.0
    ),
    "4 systems, 10 people, taste 4": replace(TASTES, systems=4, annotators=10, tasks=20, documents=15, taste=4.0),
    "6 systems, 10 people, taste 3": replace(MEDIUM, scale=0.0, ends=False, round_numbers=0.0),
    "the same, own scales, ends": MEDIUM,
    "the same, own scales, ends, mean 88": replace(MEDIUM, mean=88.0),
    "the same, own scales, ends, one careless": replace(MEDIUM, careless=0.1),
    "the same, own scales, ends, unequal work": replace(MEDIUM, workload=1.2),
    "8 systems, 30 people, taste 3, own scales, ends": LIFELIKE,
    "15 systems, 100 people, taste 3, own scales, ends": replace(
        LIFELIKE, systems=15, annotators=100, tasks=200, documents=60
    ),
}
MODELS = ("mixed", "mixed-points", "mixed-plain")
CAMPAIGNS_PER_DESIGN = 10
SPREAD = 4.0
"""Standard deviation of the true qualities, which are spread evenly over a normal distribution."""


@dataclass
class Hits:
    """One number per campaign: shares of what was right, or whether there was a false alarm."""

    covered: list[float] = field(default_factory=list)
    covered_normal: list[float] = field(default_factory=list)
    all_ranks: list[float] = field(default_factory=list)
    each_rank: list[float] = field(default_factory=list)
    alarm: list[float] = field(default_factory=list)
    alarm_normal: list[float] = field(default_factory=list)
    degrees: list[float] = field(default_factory=list)
    slope: list[float] = field(default_factory=list)


def main(campaigns: int = 300, part: str = "", models: tuple[str, ...] = MODELS) -> None:
    columns = ("intervals", "by normal", "all ranks", "each rank", "false alarm", "by normal")
    print(f"{'campaign':52}{'model':14}" + "".join(f"{name:>12}" for name in columns) + f"{'df':>6}{'slope':>7}")
    for name, campaign in SHAPES.items():
        if part in name:
            measure(name, campaign, campaigns, models)


def measure(name: str, campaign: ScoreCampaign, campaigns: int, models: tuple[str, ...]) -> None:
    differing = replace(campaign, qualities=qualities(campaign.systems))
    equal = replace(campaign, qualities=(0.0,) * campaign.systems)
    truth = expected_scores(differing)
    hits = {model: Hits() for model in models}
    customary = []
    for fitted, model, _, _ in fits(differing, models, campaigns, 21):
        count_differences(hits[model], fitted, truth)
    for fitted, model, design, score in fits(equal, models, campaigns, 22):
        count_alarms(hits[model], fitted)
        if model == models[0]:
            customary.append(customary_alarm(design, score))
    for model in models:
        print_row(name, model, hits[model])
    print(f"{name:52}customary test: false alarms {in_percent(customary)}", flush=True)


def qualities(systems: int) -> tuple[float, ...]:
    """Qualities as a normal distribution spreads them."""
    from scipy.stats import norm

    return tuple(SPREAD * norm.ppf((np.arange(systems) + 0.5) / systems))


def expected_scores(campaign: ScoreCampaign, draws: int = 2000) -> Floats:
    """What every system gets on average, over people, documents and pages of the same kind."""
    total = np.zeros(campaign.systems)
    for number in range(draws // 50):
        design = design_scores(replace(campaign, controls=0.0, careless=0.0), generator(13, number))
        score = draw_scores(design, generator(14, number), draws=50).score.mean(axis=0)
        total += np.bincount(design.system, score) / np.bincount(design.system)
    # Careless people give every system the same on average.
    return np.asarray((1 - campaign.careless) * total / (draws // 50))


def fits(
    campaign: ScoreCampaign, models: tuple[str, ...], campaigns: int, stream: int
) -> Iterator[tuple[MixedFit, str, ScoreDesign, Floats]]:
    """Every campaign fitted by every model, with its design and scores."""
    for number in range(campaigns):
        if number % CAMPAIGNS_PER_DESIGN == 0:
            design = design_scores(campaign, generator(11, stream, number))
            first = design.judgments(np.arange(len(design), dtype=np.float64) % 100)
            tables = {model: design_from(first, model=model) for model in models}
            prepared = {model: prepare(table) for model, table in tables.items()}
        drawn = draw_scores(design, generator(12, stream, number))
        for model, table in tables.items():
            given = drawn.score[0][table.row]
            yield prepared[model].fit(table.model.fitted_scores(given)), model, design, drawn.score[0]


def count_differences(hits: Hits, fitted: MixedFit, truth: Floats) -> None:
    compared = contrasts(fitted.effects, fitted.covariance, fitted.df)
    upper = np.triu_indices(len(truth), 1)
    true_difference = truth[:, None] - truth[None, :]
    error = np.abs(compared.difference - true_difference)[upper]
    low, high = compared.interval()
    hits.covered.append(float((error <= ((high - low) / 2)[upper]).mean()))
    hits.covered_normal.append(float((error <= 1.96 * compared.se[upper]).mean()))
    hits.degrees.append(float(np.median(compared.df[upper])))
    hits.slope.append(float(np.polyfit(truth, fitted.effects, 1)[0]))
    sets = decide(fitted.effects, compared.two_sided, fitted.covariance, draws=2000).rank_sets
    rank = 1 + (truth[None, :] > truth[:, None]).sum(1)
    inside = (sets[:, 0] <= rank) & (rank <= sets[:, 1])
    hits.all_ranks.append(float(inside.all()))
    hits.each_rank.append(float(inside.mean()))


def count_alarms(hits: Hits, fitted: MixedFit) -> None:
    upper = np.triu_indices(len(fitted.systems), 1)
    for counted, df in ((hits.alarm, fitted.df), (hits.alarm_normal, np.inf)):
        p = contrasts(fitted.effects, fitted.covariance, df).two_sided[upper]
        counted.append(float(holm(p).min() < 0.05))


def customary_alarm(design: ScoreDesign, score: Floats) -> float:
    """Whether Wilcoxon's test on z-scores calls any pair different after Holm."""
    means = item_means(standardised(sheet_of(design.judgments(score))))
    systems = design.campaign.systems
    p = mann_whitney(means.mean, means.system, systems).two_sided[np.triu_indices(systems, 1)]
    return float(holm(p).min() < 0.05)


def print_row(name: str, model: str, hits: Hits) -> None:
    shown = (hits.covered, hits.covered_normal, hits.all_ranks, hits.each_rank, hits.alarm, hits.alarm_normal)
    numbers = "".join(f"{in_percent(values):>12}" for values in shown)
    print(f"{name:52}{model:14}{numbers}{np.median(hits.degrees):6.0f}{np.mean(hits.slope):7.3f}", flush=True)


def in_percent(values: list[float]) -> str:
    """The mean with its Monte-Carlo standard error."""
    return f"{100 * np.mean(values):.1f} ±{100 * np.std(values, ddof=1) / np.sqrt(len(values)):.1f}"


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    part = sys.argv[2] if len(sys.argv) > 2 else ""
    main(number, part, tuple(sys.argv[3].split(",")) if len(sys.argv) > 3 else MODELS)
