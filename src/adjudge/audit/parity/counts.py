"""Counts of better, tie and worse against the human, the sign test, and what holds for other people.

The sign test takes every judgment for evidence of its own. Annotators have tastes, so a verdict also needs a model that
allows for them: of scores the mixed model, of ranks Bradley-Terry with tastes, fitted to the system and the human. It
also allows for what annotators of the same segments and documents share.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from adjudge.audit.margins import margin_in_points
from adjudge.audit.parity.resampling import Resampler, Sums, interval_of
from adjudge.core.errors import DataError
from adjudge.rank.lines_and_rank_sets import holm
from adjudge.results.parity import Contrast, ParityPart, SystemParity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.audit.parity.outcomes import Outcomes
    from adjudge.core.comparisons import Comparisons
    from adjudge.core.judgments import Judgments
    from adjudge.ranking.estimate import Estimate
    from adjudge.results.parity import Part


Ties = Literal["half", "drop"]
FEWEST_PEOPLE = 2
"""One person's taste cannot be told from quality."""


def sign_test(better: int, tie: int, worse: int, ties: Ties = "half") -> float:
    """Two-sided exact binomial test. `half`: x = round(better + tie / 2) of all; `drop`: ties left out."""
    from scipy.stats import binomtest

    x, n = (round(better + tie / 2), better + tie + worse) if ties == "half" else (better, better + worse)
    # Never 0: what is too small for a number is the smallest number.
    return max(float(binomtest(x, n).pvalue), sys.float_info.min) if n else float("nan")


def count_part(
    part: Part,
    outcomes: Outcomes,
    resampler: Resampler,
    *,
    ties: Ties,
    contrasts: Mapping[str, Contrast] | None = None,
) -> ParityPart:
    """All systems on one part of the segments."""
    counts = {name: _counts(outcomes, name) for name in outcomes.systems}
    tests = {name: sign_test(*three, ties) for name, three in counts.items()}
    adjusted = dict(zip(tests, holm(np.array(list(tests.values()))), strict=True))
    by_people = _people_tests(outcomes)
    systems = tuple(
        replace(
            _system(name, three, outcomes, resampler),
            p=tests[name],
            p_holm=float(adjusted[name]),
            contrast=(contrasts or {}).get(name),
            p_people=by_people.get(name),
        )
        for name, three in counts.items()
    )
    segments = outcomes.compared.select("document", "segment").n_unique()
    judged = max((counted.n for counted in systems), default=0)
    return ParityPart(part, judged, segments, systems, *_points_and_score(outcomes, outcomes.human))


def _system(name: str, counts: tuple[int, int, int], outcomes: Outcomes, resampler: Resampler) -> SystemParity:
    """One system against the human, with intervals; it is not tested yet."""
    better, tie, worse = counts
    n = better + tie + worse
    rows = outcomes.compared.filter(pl.col("system") == name)
    share = Sums.of(rows, pl.col("outcome") >= 0, resampler)
    lead = Sums.of(rows, pl.col("outcome"), resampler)
    points, score = _points_and_score(outcomes, name)
    return SystemParity(
        system=name,
        human=name in outcomes.humans,
        mt_better=better,
        tie=tie,
        human_better=worse,
        n=n,
        p=float("nan"),
        p_holm=float("nan"),
        parity_share=(better + tie) / n,
        interval=interval_of(share.means(resampler.weights), share.units),
        lead=(better - worse) / n,
        lead_interval=interval_of(lead.means(resampler.weights), lead.units),
        rank_points=points,
        mean_score=score,
    )


def _people_tests(outcomes: Outcomes) -> dict[str, float]:
    """For ranks by two named people or more, p of every system against the human with tastes allowed for (Holm)."""
    from adjudge.ranking.estimator import RelativeEstimator

    if (outcomes.annotators or 0) < FEWEST_PEOPLE:
        return {}
    p = {}
    for name in outcomes.systems:
        rows = outcomes.compared.filter(pl.col("system") == name)
        if rows["annotator"].n_unique() < FEWEST_PEOPLE:
            p[name] = 1.0
            continue
        compared = _comparisons(rows, (name, outcomes.human))
        tested = RelativeEstimator(compared).estimate.contrasts.two_sided[0, 1]
        p[name] = max(float(tested), sys.float_info.min)
    return {name: float(value) for name, value in zip(p, holm(np.array(list(p.values()))), strict=True)}


def _comparisons(rows: pl.DataFrame, systems: tuple[str, str]) -> Comparisons:
    """The outcomes of one system against the human, each a block of its own."""
    from adjudge.core.comparisons import Comparisons
    from adjudge.core.integer_codes import codes_of

    annotator, segment, document = (
        codes.astype(np.int32) for codes in codes_of(rows, ["annotator"], ["document", "segment"], ["document"])
    )
    outcome = rows["outcome"].to_numpy().astype(np.int8)
    number = np.arange(rows.height, dtype=np.int32)
    return Comparisons(
        systems=systems,
        human=np.array([False, True]),
        annotators=tuple(rows["annotator"].unique().sort().to_list()),
        first=np.zeros_like(number),
        second=np.ones_like(number),
        outcome=outcome,
        annotator=annotator,
        segment=segment,
        block=number,
        label_system=np.tile(np.array([0, 1], dtype=np.int32), rows.height),
        label_rank=np.stack([np.where(outcome < 0, 2, 1), np.where(outcome > 0, 2, 1)], axis=1)
        .ravel()
        .astype(np.int32),
        label_block=np.repeat(number, 2),
        block_annotator=annotator,
        document=document if rows["document"].null_count() == 0 else None,
    )


def _counts(outcomes: Outcomes, system: str) -> tuple[int, int, int]:
    outcome = outcomes.compared.filter(pl.col("system") == system)["outcome"]
    return int((outcome > 0).sum()), int((outcome == 0).sum()), int((outcome < 0).sum())


def _points_and_score(outcomes: Outcomes, system: str) -> tuple[float | None, float | None]:
    """The mean of rank points, or of scores; the other is None."""
    mean = outcomes.worth.filter(pl.col("system") == system).select(pl.col("value").mean()).item()
    worth = None if mean is None else float(mean)
    return (worth, None) if outcomes.relative else (None, worth)


def model_contrasts(
    judgments: Judgments, human: str, margin: float | str | None
) -> tuple[dict[str, Contrast], tuple[str, ...]]:
    """The contrast of every system with the human, and what is to be known of the model.

    Where the model cannot be fitted, there are none and the note says why.
    """
    from adjudge.ranking.estimator import ScoreEstimator

    # The model leaves references out as controls; here the human is one of those compared.
    competing = pl.when(pl.col("system") == human).then(pl.lit("system")).otherwise(pl.col("kind")).alias("kind")
    table = judgments.final().table.with_columns(competing)
    try:
        estimator = ScoreEstimator(type(judgments)(table), model="mixed-points")
        estimate = estimator.estimate
    except DataError as fault:
        return {}, (f"the mixed model is left out: {fault}",)
    points = margin_in_points(margin, estimator.design.as_given, default=False)
    if human not in estimate.systems:
        return {}, (f"the mixed model is left out: it has no scores of '{human}'",)
    return _contrasts_with(estimate, human, points), estimator.notes


def _contrasts_with(estimate: Estimate, human: str, margin: float | None) -> dict[str, Contrast]:
    """The contrast of every other system with the human; p-values are corrected for all of them (Holm)."""
    from adjudge.rank.contrasts import equivalence

    reference, compared = estimate.systems.index(human), estimate.contrasts
    low, high = compared.interval()
    others = [i for i in range(len(estimate.systems)) if i != reference]
    tests = {i: None if margin is None else equivalence(compared, i, reference, margin=margin) for i in others}
    p_holm = holm(np.array([compared.two_sided[i, reference] for i in others]))
    p_equivalence = holm(np.array([np.nan if (test := tests[i]) is None else test.p for i in others]))
    results = {}
    for number, i in enumerate(others):
        tested = tests[i]
        results[estimate.systems[i]] = Contrast(
            difference=float(compared.difference[i, reference]),
            se=float(compared.se[i, reference]),
            interval=(float(low[i, reference]), float(high[i, reference])),
            p=max(float(compared.two_sided[i, reference]), sys.float_info.min),
            margin=margin,
            p_equivalence=None if tested is None else max(tested.p, sys.float_info.min),
            p_holm=max(float(p_holm[number]), sys.float_info.min),
            p_equivalence_holm=None if tested is None else max(float(p_equivalence[number]), sys.float_info.min),
        )
    return results
