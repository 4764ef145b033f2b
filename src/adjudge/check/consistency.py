"""Whether a person's answers stay the same: for identical texts, and from the beginning of the work to its end.

Identical texts that one person ranked or scored apart were a finding of Bojar et al. (2011, Table 9). Tired people give
other scores, work faster, and agree less with the others: each is regressed on the place in the work, by means of
screens, because judgments of one page resemble each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.core.integer_codes import equal_to_others, key_hashes
from adjudge.core.maths import student_tail
from adjudge.core.protocols import RATED
from adjudge.results.check import Drift, SameText

if TYPE_CHECKING:
    from adjudge.core.arrays import Floats
    from adjudge.core.judgments import Judgments

FEWEST = 15
"""Screens of a person from which on a drift is looked for."""
_TEXTS = ("target_text", "text_hash")
_WORK = ("annotator", "task", "screen", "document", "segment", "system", "active_seconds", "ended")


def same_texts(judgments: Judgments) -> tuple[SameText, ...]:
    """By annotator, the pairs of identical texts shown together, and how many were judged apart.

    Nothing where the data do not say what was shown.
    """
    table = judgments.table
    column = next((name for name in _TEXTS if name in table.columns), None)
    if column is None:
        return ()
    cell = ["annotator", "task", "screen", "segment"]
    shown = table.select(*cell, column, answer=_answer()).drop_nulls(["answer", column, "annotator"])
    shown = shown.filter(equal_to_others(key_hashes(shown, (*cell, column))))
    # Of n identical texts, n (n - 1) / 2 pairs; those with equal answers are counted the same way.
    equal = shown.group_by(*cell, column, "answer").len("equal")
    alike = (
        equal.group_by(*cell, column)
        .agg(pl.col("equal").sum().alias("all"), (pl.col("equal") * (pl.col("equal") - 1) // 2).sum().alias("together"))
        .with_columns(pairs=pl.col("all") * (pl.col("all") - 1) // 2)
    )
    counted = alike.group_by("annotator").agg(pl.col("pairs").sum(), pl.col("together").sum()).sort("annotator")
    return tuple(
        SameText(annotator, pairs, pairs - together)
        for annotator, pairs, together in counted.filter(pl.col("pairs") > 0).rows()
    )


def drifts(judgments: Judgments) -> tuple[Drift, ...]:
    """By annotator, how scores, time and distance from the others change from the first judgment to the last.

    The order of the work is that of the times where every judgment has one, otherwise that of the rows.
    """
    rows = _rated(judgments)
    screens = rows.group_by("annotator").agg(pl.col("screen").n_unique())
    if not (screens["screen"] >= FEWEST).any():
        return ()
    item = ["document", "segment", "system"]
    others = (pl.col("answer").sum().over(item) - pl.col("answer").sum().over([*item, "annotator"])) / (
        pl.len().over(item) - pl.len().over([*item, "annotator"])
    )
    by_time = rows["ended"].null_count() == 0
    ordered = rows.sort("annotator", "ended", maintain_order=True) if by_time else rows
    table = ordered.with_columns(
        deviation=pl.col("answer") - pl.col("answer").mean().over("system"),
        others=pl.when(pl.len().over(item) > pl.len().over([*item, "annotator"])).then(others),
    )
    return tuple(
        _drift(str(name), part)
        for (name,), part in table.sort("annotator", maintain_order=True).group_by("annotator", maintain_order=True)
        if part["screen"].n_unique() >= FEWEST
    )


def _answer() -> pl.Expr:
    """The judgment as a number of which more is better."""
    return pl.coalesce(pl.col("score"), -pl.col("rank").cast(pl.Float64))


def _rated(judgments: Judgments) -> pl.DataFrame:
    """The judgments of systems by known annotators, of which drifts tell; the column answer is the judgment."""
    wanted = pl.col("kind").is_in(RATED) & pl.col("annotator").is_not_null()
    return (
        judgments.table.select(*_WORK, "kind", answer=_answer())
        .filter(wanted & pl.col("answer").is_not_null())
        .drop("kind")
    )


def _drift(name: str, part: pl.DataFrame) -> Drift:
    """The drift of one annotator; rows are in the order of the work, with what is expected of each without a drift."""
    # The distance is taken after the person's own level, which is no matter of the order.
    apart = pl.col("answer") - pl.col("others")
    screens = (
        part.with_columns(
            seconds=pl.when(pl.col("active_seconds") > 0).then(pl.col("active_seconds").log()),
            distance=(apart - apart.mean()).abs(),
        )
        .group_by("task", "screen", maintain_order=True)
        .agg(pl.col("deviation", "seconds", "distance").mean())
    )
    score, time, distance = (_line(screens[column]) for column in ("deviation", "seconds", "distance"))
    return Drift(
        annotator=name,
        judgments=part.height,
        score_change=score[0],
        p_score=score[1],
        time_ratio=None if time[0] is None else float(np.exp(time[0])),
        p_time=time[1],
        distance_change=distance[0],
        p_distance=distance[1],
    )


def _line(values: pl.Series) -> tuple[float | None, float | None]:
    return change(np.linspace(0, 1, len(values)), values.cast(pl.Float64).to_numpy())


def change(position: Floats, value: Floats) -> tuple[float | None, float | None]:
    """The change of a straight line from position 0 to 1, and the two-sided p of no change (t-test of the slope)."""
    known = np.isfinite(value)
    position, value = position[known], value[known]
    if len(value) < FEWEST or np.ptp(value) == 0:
        return None, None
    centred = position - position.mean()
    slope = float(centred @ value / (centred @ centred))
    residual = value - value.mean() - slope * centred
    freedom = len(value) - 2
    error = np.sqrt(residual @ residual / freedom / (centred @ centred))
    if error == 0:
        return slope, None
    return slope, float(2 * student_tail(abs(slope / error), freedom))
