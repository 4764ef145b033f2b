"""Pairs of scores that belong together: a genuine output and its degraded version, or an answer and its repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from adjudge.core.judgments import Judgments

SAME_SHOWING = ("annotator", "task", "system", "document", "segment")
SAME_OUTPUT = ("annotator", "system", "document", "segment")


def control_pairs(judgments: Judgments) -> pl.DataFrame:
    """Columns annotator, genuine, control: each degraded output beside the genuine one of the same task and segment.

    Where the degraded text is a reference, its genuine version is the reference; an output that was shown again is
    represented by its first showing.
    """
    return _paired(judgments, control="degraded", genuine=("system", "reference"), key=SAME_SHOWING)


def repeat_pairs(judgments: Judgments) -> pl.DataFrame:
    """Columns annotator, genuine, control: each repeated output beside its first showing to the same annotator."""
    within_task = _paired(judgments, control="repeat", genuine=("system",), key=SAME_SHOWING)
    return (
        within_task
        if within_task.height
        else _paired(judgments, control="repeat", genuine=("system",), key=SAME_OUTPUT)
    )


def _paired(judgments: Judgments, *, control: str, genuine: tuple[str, ...], key: tuple[str, ...]) -> pl.DataFrame:
    scored = judgments.table.filter(pl.col("score").is_not_null())
    controls = scored.filter(pl.col("kind") == control).select(*key, pl.col("score").alias("control"))
    order = pl.col("kind").replace_strict(genuine, range(len(genuine)), default=None, return_dtype=pl.Int32)
    originals = (
        scored.filter(pl.col("kind").is_in(genuine))
        .sort(order, maintain_order=True)
        .unique(key, keep="first", maintain_order=True)
        .select(*key, pl.col("score").alias("genuine"))
    )
    return controls.join(originals, on=key, nulls_equal=True).select("annotator", "genuine", "control")
