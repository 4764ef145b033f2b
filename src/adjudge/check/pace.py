"""How fast and how varied somebody answered: seconds per judgment, and the longest run of equal answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from adjudge.core.judgments import Judgments


def pace(judgments: Judgments) -> pl.DataFrame:
    """Columns annotator, seconds (median), constant (longest run), in one row per annotator.

    Runs follow the order of the rows, which is that of showing in every format that knows it.
    """
    answer = pl.coalesce(pl.col("score"), pl.col("rank").cast(pl.Float64))
    ordered = judgments.table.with_columns(answer=answer).filter(pl.col("answer").is_not_null())
    runs = ordered.select("annotator", "answer").with_columns(
        run=pl.struct("annotator", "answer").rle_id(),
    )
    longest = runs.group_by("annotator", "run").len().group_by("annotator").agg(pl.col("len").max().alias("constant"))
    seconds = ordered.group_by("annotator").agg(pl.col("active_seconds").median().alias("seconds"))
    return seconds.join(longest, on="annotator", nulls_equal=True)
