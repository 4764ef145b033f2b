"""Random halves of the annotators, and z-scores beside the rows of the mixed model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.core.protocols import SCORED
from adjudge.core.score_sheet import sheet_of, standardised

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.core.judgments import Judgments


def random_half(annotator: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.bool_]:
    """The rows of half of the annotators, drawn at random; of an odd number the smaller half."""
    people = int(annotator.max()) + 1
    chosen = np.zeros(people, dtype=bool)
    chosen[rng.permutation(people)[: people // 2]] = True
    return chosen[annotator]


def z_by_row(judgments: Judgments) -> NDArray[np.float64]:
    """The z-score of every row in the table of last revisions; NaN where there is none."""
    table = judgments.final().table
    scored = table.select(pl.col("protocol").is_in(SCORED) & pl.col("score").is_not_null()).to_series()
    z = np.full(table.height, np.nan)
    z[scored.fill_null(value=False).to_numpy()] = standardised(sheet_of(judgments)).score
    return z
