"""The change of a figure between two versions of a test set, and the change beyond that of untouched segments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.audit.parity.resample import Resampler, Sums, interval_of
from adjudge.results.parity import Change

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from adjudge.audit.parity.outcomes import Outcomes

Pair = tuple[Sums, Sums]
BEYOND = "beyond untouched"


def changes(
    before: Mapping[str, Outcomes], after: Mapping[str, Outcomes], drawn: Resampler
) -> tuple[tuple[Change, ...], tuple[Change, ...]]:
    """Changes of every system's parity share and worth in every part, and the differences in differences."""
    systems = sorted(set(before["all"].systems) & set(after["all"].systems))
    found: list[Change] = []
    beyond: list[Change] = []
    measures = ("parity_share", "rank_points" if after["all"].relative else "mean_score")
    for measure in measures:
        for name in systems:
            pairs = {
                part: (_sums(before[part], name, measure, drawn), _sums(after[part], name, measure, drawn))
                for part in before
            }
            found += [_change(name, measure, part, pair, drawn) for part, pair in pairs.items()]
            if "contaminated" in pairs:
                beyond.append(_beyond(name, measure, pairs["contaminated"], pairs["untouched"], drawn))
    return tuple(found), tuple(beyond)


def _sums(found: Outcomes, system: str, measure: str, drawn: Resampler) -> Sums:
    if measure == "parity_share":
        return Sums.of(found.compared.filter(pl.col("system") == system), pl.col("outcome") >= 0, drawn)
    return Sums.of(found.worth.filter(pl.col("system") == system), pl.col("value"), drawn)


def _change(system: str, measure: str, part: str, pair: Pair, drawn: Resampler) -> Change:
    before, after = pair
    difference = after.mean - before.mean
    interval = interval_of(_differences(pair, drawn.weights))
    p = _p(difference, _exchanged(pair, drawn.exchanged))
    return Change(system, measure, part, before.mean, after.mean, difference, interval, p)


def _beyond(system: str, measure: str, touched: Pair, untouched: Pair, drawn: Resampler) -> Change:
    one, other = (pair[1].mean - pair[0].mean for pair in (touched, untouched))
    resampled = _differences(touched, drawn.weights) - _differences(untouched, drawn.weights)
    exchanged = _exchanged(touched, drawn.exchanged) - _exchanged(untouched, drawn.exchanged)
    # Here "before" is the change on untouched segments, "after" that on contaminated ones.
    difference = one - other
    return Change(
        system, measure, BEYOND, other, one, difference, interval_of(resampled), _p(difference, exchanged)
    )  # fmt: skip


def _differences(pair: Pair, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    before, after = pair
    return after.means(weights) - before.means(weights)


def _exchanged(pair: Pair, exchanged: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The difference where the two versions of some units have changed places."""
    before, after = pair
    stay, swap = (~exchanged).astype(np.float64), exchanged.astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        later = (stay @ after.total + swap @ before.total) / (stay @ after.count + swap @ before.count)
        earlier = (stay @ before.total + swap @ after.total) / (stay @ before.count + swap @ after.count)
    return np.asarray(later - earlier, dtype=np.float64)


def _p(difference: float, exchanged: NDArray[np.float64]) -> float:
    finite = exchanged[np.isfinite(exchanged)]
    if not np.isfinite(difference) or len(finite) == 0:
        return float("nan")
    beyond = int((np.abs(finite) >= abs(difference) - 1e-12).sum())
    return (1 + beyond) / (1 + len(finite))
