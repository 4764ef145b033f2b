"""The weight sweep: how every system's correlation with the label moves as one component gains weight.

Y. Graham et al. (2017): Improving evaluation of document-level machine translation quality estimation, Figure 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.meta.coefficients import pearson
from adjudge.meta.label_weights import combined
from adjudge.results.qe import OrderOfSystems

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


def sweep(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    predictions: Mapping[str, NDArray[np.float64]],
    weights: Sequence[float],
) -> dict[str, tuple[float | None, ...]]:
    """Pearson's r of every system at every weight; documents without a prediction are left out."""
    found: dict[str, tuple[float | None, ...]] = {}
    for name, values in predictions.items():
        known = ~np.isnan(values)
        r = [pearson(combined(first, second, weight)[known], values[known]) for weight in weights]
        found[name] = tuple(None if np.isnan(one) else one for one in r)
    return found


def orders_along(
    weights: Sequence[float], by_weight: Mapping[str, Sequence[float | None]]
) -> tuple[OrderOfSystems, ...]:
    """The rankings of systems along the sweep, each with the weights between which it stands."""
    found: list[OrderOfSystems] = []
    for i, weight in enumerate(weights):
        order = tuple(sorted(by_weight, key=lambda name: (-_number(by_weight[name][i]), name)))
        if found and found[-1].order == order:
            found[-1] = OrderOfSystems(found[-1].low, weight, order)
        else:
            found.append(OrderOfSystems(weight, weight, order))
    return tuple(found)


def _number(value: float | None) -> float:
    return -2.0 if value is None else value
