"""What single people said in a campaign: scores and preferences by segment, and how long they took."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.comparisons import comparisons, segment_keys
from adjudge.core.protocols import RATED, SCORED

if TYPE_CHECKING:
    from adjudge.core.judgments import Judgments

Item = tuple[str | None, str | None, str]
"""Document, segment and system."""
Preference = tuple[str | None, str | None, str, str]
"""Document, segment and two systems in the order of their names."""
LONGEST_PAUSE = 600.0
"""Seconds between two answers beyond which the person is taken to have paused."""
ACTIVE, FROM_START, BETWEEN = "active time", "from start to end", "between answers"


def items_of(table: pl.DataFrame) -> dict[Item, float]:
    """The mean score of every segment of every system."""
    rated = table.filter(pl.col("protocol").is_in(SCORED) & pl.col("kind").is_in(RATED) & pl.col("score").is_not_null())
    means = rated.group_by("document", "segment", "system").agg(pl.col("score").mean())
    return {(document, segment, system): score for document, segment, system, score in means.iter_rows()}


def preferences_of(judgments: Judgments) -> dict[Preference, float]:
    """The mean outcome of every two systems on every segment: 1 where all prefer the first."""
    compared = comparisons(judgments)
    keys = segment_keys(judgments).select("document", "segment").rows()
    means = (
        pl.DataFrame({"segment": compared.segment, "a": compared.first, "b": compared.second, "o": compared.outcome})
        .group_by("segment", "a", "b")
        .agg(pl.col("o").cast(pl.Float64).mean())
    )
    return {
        (*keys[segment], compared.systems[first], compared.systems[second]): outcome
        for segment, first, second, outcome in means.iter_rows()
    }


def minutes_of(table: pl.DataFrame) -> tuple[float | None, str | None]:
    """Compute how long people worked, and say how that is known.

    The active time counts where judgments have it. Else the time from start to end of what was shown together, each
    once, or else the time between one answer of an annotator and the next, with pauses of more than ten minutes left
    out and the first answer not counted.
    """
    seconds = table["active_seconds"].drop_nulls()
    if seconds.len():
        return float(seconds.sum()) / 60, ACTIVE
    timed = table.filter(pl.col("started").is_not_null() & (pl.col("ended") > pl.col("started")))
    if timed.height:
        shown = timed.unique(["annotator", "task", "started", "ended"])
        return float((shown["ended"] - shown["started"]).dt.total_seconds(fractional=True).sum()) / 60, FROM_START
    answered = table.filter(pl.col("ended").is_not_null() & pl.col("annotator").is_not_null())
    moments = answered.unique(["annotator", "ended"]).sort("annotator", "ended")
    gaps = moments.select(pl.col("ended").diff().over("annotator").dt.total_seconds(fractional=True))["ended"]
    worked = gaps.filter(gaps <= LONGEST_PAUSE)
    return (float(worked.sum()) / 60, BETWEEN) if worked.len() else (None, None)
