"""Scores of the same outputs, grouped so that every coefficient is a sum: per output and annotator n, sum, squares.

An item is one system's output for one segment. A pair of scores of an item is `intra` where one person gave both (a
repeat), `inter` otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.core.comparisons import RELATIVE, SEGMENT_KEY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.core.judgments import Judgments

# Degraded outputs are made to be easy, and tutorials show the answer: neither says how people agree.
LEFT_OUT = ("attention", "degraded", "tutorial")


@dataclass(frozen=True, eq=False)
class ScoreCells:
    """Cells: one per item and annotator. Scores are taken from the mean of all, so that squares lose no digits."""

    annotators: tuple[str, ...]
    item: NDArray[np.int64]
    annotator: NDArray[np.int64]
    number: NDArray[np.float64]
    total: NDArray[np.float64]
    squares: NDArray[np.float64]
    human: NDArray[np.bool_]

    def where(self, kept: NDArray[np.bool_]) -> ScoreCells:
        """The marked cells; items are renumbered."""
        return ScoreCells(
            self.annotators,
            np.unique(self.item[kept], return_inverse=True)[1],
            self.annotator[kept],
            self.number[kept],
            self.total[kept],
            self.squares[kept],
            self.human[kept],
        )

    @property
    def own_pairs(self) -> NDArray[np.float64]:
        """Pairs of scores within each cell."""
        return self.number * (self.number - 1) / 2

    @property
    def own_distance(self) -> NDArray[np.float64]:
        """Sum of the squared differences of the pairs within each cell."""
        return np.maximum(self.number * self.squares - self.total**2, 0)

    @property
    def items(self) -> int:
        """How many items there are."""
        return int(self.item.max(initial=-1)) + 1

    def per_item(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums of one value per cell over the cells of each item."""
        return np.asarray(np.bincount(self.item, weights=values, minlength=self.items), dtype=float)

    def per_annotator(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums of one value per cell over the cells of each annotator."""
        return np.asarray(np.bincount(self.annotator, weights=values, minlength=len(self.annotators)), dtype=float)


def usable_scores(judgments: Judgments) -> Judgments:
    """The scores whose annotator and segment are known, of outputs that are not made to be easy."""
    scored = judgments.final().keep(~pl.col("protocol").is_in(RELATIVE), otherwise="relative judgment among scores")
    scored = scored.keep(pl.col("score").is_not_null(), otherwise="judgment without a score")
    scored = scored.keep(~pl.col("kind").is_in(LEFT_OUT), otherwise="degraded output, attention check or tutorial")
    known = pl.col("annotator").is_not_null() & pl.col("segment").is_not_null()
    return scored.keep(known, otherwise="score without annotator or segment")


def _is_reference() -> pl.Expr:
    return pl.col("human") | (pl.col("kind") == "reference")


def _shown() -> pl.Expr:
    """What was shown: a control that shows the reference in a system's place is an item of its own, whatever system."""
    control = (pl.col("kind") == "reference") & ~pl.col("human")
    return pl.when(control).then(pl.lit("(reference)")).otherwise(pl.col("system"))


def score_cells(judgments: Judgments) -> ScoreCells:
    """Group the scores by output and annotator."""
    key = (*SEGMENT_KEY, "protocol", "shown")
    mean = judgments.table["score"].mean() or 0.0
    grouped = (
        judgments.table.lazy()
        .with_columns(pl.col("score") - mean, _shown().alias("shown"), _is_reference().alias("human"))
        .group_by(*key, "annotator", maintain_order=True)
        .agg(
            pl.len().alias("number"),
            pl.col("score").sum().alias("total"),
            (pl.col("score") ** 2).sum().alias("squares"),
            pl.col("human").any(),
        )
        .with_columns((pl.struct(key).rank("dense") - 1).alias("item"))
        .sort("item", "annotator")
        .collect()
    )
    annotators = tuple(grouped["annotator"].unique().sort().to_list())
    code = grouped["annotator"].replace_strict(annotators, range(len(annotators)), return_dtype=pl.Int64)
    return ScoreCells(
        annotators,
        grouped["item"].cast(pl.Int64).to_numpy(),
        code.to_numpy(),
        grouped["number"].cast(pl.Float64).to_numpy(),
        grouped["total"].to_numpy(),
        grouped["squares"].to_numpy(),
        grouped["human"].to_numpy(),
    )
