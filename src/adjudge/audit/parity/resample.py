"""Resampling of documents (or of segments where documents are unknown), the same draws for every figure.

Judgments of one document are not independent, and a clean test set holds the same documents as the one before: both
versions of a document are drawn together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.core.errors import DataError
from adjudge.core.rng import generator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from adjudge.audit.parity.outcomes import Outcomes

    Floats = NDArray[np.float64]

RESAMPLES = 10_000
_DRAW, _EXCHANGE = 61, 62


@dataclass(frozen=True, eq=False)
class Resampler:
    """Which units are drawn, how often each is in every resample, and in which their versions are exchanged."""

    column: str
    names: tuple[str, ...]
    weights: Floats
    """(resamples, units): how often each unit was drawn."""
    exchanged: NDArray[np.bool_]

    @property
    def unit(self) -> str:
        """What is drawn, in words."""
        return f"{self.column}s"

    def codes(self, table: pl.DataFrame) -> NDArray[np.int64]:
        """The unit of every row."""
        known = dict(zip(self.names, range(len(self.names)), strict=True))
        codes = table[self.column].replace_strict(known, default=None, return_dtype=pl.Int64)
        return codes.to_numpy().astype(np.int64)


def resampler(parts: Sequence[Outcomes], *, seed: int, resamples: int = RESAMPLES) -> Resampler:
    """A resampler of all documents in the parts."""
    column = "document" if all(one.documents_known for one in parts) else "segment"
    every = pl.concat([table[column] for one in parts for table in (one.compared, one.worth)])
    if every.null_count():
        raise DataError("some judgments do not say their segment, by which parity is tested; fill the column 'segment'")
    names = tuple(str(name) for name in every.unique().sort().to_list())
    n = len(names)
    weights = generator(seed, _DRAW).multinomial(n, np.full(n, 1 / n), size=resamples).astype(np.float64)
    exchanged = generator(seed, _EXCHANGE).random((resamples, n)) < 0.5
    return Resampler(column, names, weights, exchanged)


@dataclass(frozen=True, eq=False)
class Sums:
    """The sum and the number of values in every unit: all that a mean needs to be resampled."""

    total: Floats
    count: Floats

    @classmethod
    def of(cls, table: pl.DataFrame, value: pl.Expr, drawn: Resampler) -> Sums:
        """The sums of a value over the rows of a table."""
        codes, n = drawn.codes(table), len(drawn.names)
        values = table.select(value.cast(pl.Float64).alias("value"))["value"].to_numpy()
        return cls(np.bincount(codes, values, n).astype(np.float64), np.bincount(codes, minlength=n).astype(np.float64))

    @property
    def mean(self) -> float:
        """The mean of all values."""
        count = self.count.sum()
        return float(self.total.sum() / count) if count else float("nan")

    def means(self, weights: Floats) -> Floats:
        """The mean in every resample."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((weights @ self.total) / (weights @ self.count), dtype=np.float64)


def interval_of(values: Floats) -> tuple[float, float]:
    """The 95% percentile interval of a resampled figure; NaN where no resample has one."""
    finite = values[np.isfinite(values)]
    if len(finite) == 0:
        return (float("nan"), float("nan"))
    low, high = np.quantile(finite, [0.025, 0.975])
    return (float(low), float(high))
