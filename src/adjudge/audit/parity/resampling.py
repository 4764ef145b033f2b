"""Resampling of documents (or of segments where documents are unknown), and the change between two test sets.

Judgments of one document are not independent, and a clean test set holds the same documents as the one before: both
versions of a document are drawn together, and every figure uses the same draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.core.errors import DataError
from adjudge.core.maths import divide, expanded_tail
from adjudge.core.rng import generator
from adjudge.results.parity_change import Change

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from adjudge.audit.parity.outcomes import Outcomes
    from adjudge.core.arrays import Floats


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
    column = "document" if all(part.documents_known for part in parts) else "segment"
    every = pl.concat([table[column] for part in parts for table in (part.compared, part.worth)])
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
        return float(divide(self.total.sum(), self.count.sum()))

    @property
    def units(self) -> int:
        """How many units have a value."""
        return int((self.count > 0).sum())

    def means(self, weights: Floats) -> Floats:
        """The mean in every resample."""
        return divide(weights @ self.total, weights @ self.count)


def interval_of(values: Floats, units: int | None = None) -> tuple[float, float]:
    """The 95% interval of a resampled figure: the middle of its values; NaN where no resample has one.

    Args:
        values: the figure in every resample.
        units: how many units were drawn, where the interval is to be wider for few of them.
    """
    finite = values[np.isfinite(values)]
    if len(finite) == 0:
        return (float("nan"), float("nan"))
    tail = 0.025 if units is None else expanded_tail(0.025, max(units, 2))
    low, high = np.quantile(finite, [tail, 1 - tail])
    return (float(low), float(high))


Pair = tuple[Sums, Sums]
BEYOND = "beyond untouched"


def changes(
    before: Mapping[str, Outcomes], after: Mapping[str, Outcomes], drawn: Resampler
) -> tuple[tuple[Change, ...], tuple[Change, ...]]:
    """Changes of every system's parity share and worth in every part, and the differences in differences."""
    systems = sorted(set(before["all"].systems) & set(after["all"].systems))
    changed: list[Change] = []
    beyond: list[Change] = []
    measures = ("parity_share", "rank_points" if after["all"].relative else "mean_score")
    for measure in measures:
        for name in systems:
            pairs = {
                part: (_sums(before[part], name, measure, drawn), _sums(after[part], name, measure, drawn))
                for part in before
            }
            changed += [_change(name, measure, part, pair, drawn) for part, pair in pairs.items()]
            if "contaminated" in pairs:
                beyond.append(_beyond(name, measure, pairs["contaminated"], pairs["untouched"], drawn))
    return tuple(changed), tuple(beyond)


def _sums(outcomes: Outcomes, system: str, measure: str, drawn: Resampler) -> Sums:
    if measure == "parity_share":
        return Sums.of(outcomes.compared.filter(pl.col("system") == system), pl.col("outcome") >= 0, drawn)
    return Sums.of(outcomes.worth.filter(pl.col("system") == system), pl.col("value"), drawn)


def _change(system: str, measure: str, part: str, pair: Pair, drawn: Resampler) -> Change:
    before, after = pair
    difference = after.mean - before.mean
    interval = interval_of(_differences(pair, drawn.weights))
    p = _p(difference, _exchanged(pair, drawn.exchanged))
    return Change(system, measure, part, before.mean, after.mean, difference, interval, p)


def _beyond(system: str, measure: str, touched: Pair, untouched: Pair, drawn: Resampler) -> Change:
    touched_change, other = (pair[1].mean - pair[0].mean for pair in (touched, untouched))
    resampled = _differences(touched, drawn.weights) - _differences(untouched, drawn.weights)
    exchanged = _exchanged(touched, drawn.exchanged) - _exchanged(untouched, drawn.exchanged)
    # Here "before" is the change on untouched segments, "after" that on contaminated ones.
    difference = touched_change - other
    return Change(
        system, measure, BEYOND, other, touched_change, difference, interval_of(resampled), _p(difference, exchanged)
    )  # fmt: skip


def _differences(pair: Pair, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    before, after = pair
    return after.means(weights) - before.means(weights)


def _exchanged(pair: Pair, exchanged: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The difference where the two versions of some units have changed places."""
    before, after = pair
    stay, swap = (~exchanged).astype(np.float64), exchanged.astype(np.float64)
    later = divide(stay @ after.total + swap @ before.total, stay @ after.count + swap @ before.count)
    earlier = divide(stay @ before.total + swap @ after.total, stay @ before.count + swap @ after.count)
    return later - earlier


def _p(difference: float, exchanged: NDArray[np.float64]) -> float:
    finite = exchanged[np.isfinite(exchanged)]
    if not np.isfinite(difference) or len(finite) == 0:
        return float("nan")
    beyond = int((np.abs(finite) >= abs(difference) - 1e-12).sum())
    return (1 + beyond) / (1 + len(finite))
