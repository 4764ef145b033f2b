"""Weights for segments that were sampled with unequal probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.core.errors import DataError, shown
from adjudge.core.wording import counted

if TYPE_CHECKING:
    from adjudge.core.arrays import Floats

INCLUSION = "inclusion"
"""The probability with which the segment of a row was chosen; a column beyond the judgment table's own."""


def weights_of(table: pl.DataFrame) -> Floats | None:
    """1 / probability for every row, scaled to a mean of 1; None if all probabilities are equal."""
    if INCLUSION not in table.columns or table[INCLUSION].null_count() == table.height:
        return None
    given = table[INCLUSION]
    probability = given.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
    bad = ~((probability > 0) & (probability <= 1))
    if bad.any():
        value = given[int(np.argmax(bad))]
        got = "nothing" if value is None else f"'{shown(value)}'"
        rows = counted(int(bad.sum()), "row")
        raise DataError(
            f"column '{INCLUSION}' holds {got} in {rows}; give the probability with which the segment "
            "was chosen, above 0 and at most 1, in every row, or leave the column out"
        )
    if np.ptp(probability) == 0:
        return None
    weight = 1 / probability
    return np.asarray(weight / weight.mean())


def weights_note(weight: Floats | None) -> tuple[str, ...]:
    """The note about weighted results."""
    if weight is None:
        return ()
    effective = float(weight.sum() ** 2 / (weight @ weight))
    worth = f"the {len(weight):,} scores are worth about {round(effective):,} of equal weight"
    return (f"segments were chosen with unequal probabilities: each score counts 1 / probability, so that {worth}",)
