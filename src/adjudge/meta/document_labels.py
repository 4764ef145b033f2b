"""Labels of documents from post-edits: edit rates, the weight between two of them, and a sweep over weights.

Edit rates (`core.edit_rates`) tell how much of a translation a person changed.

The label of the 2016 shared task is W1 * TER(PE1, MT) + W2 * TER(PE2, PE1), where W1 is 1 and W2 grows from 1 in steps
of 1 until (i) the standard deviation of the baseline's predictions is at least half their mean, or (ii) the baseline's
mean absolute error is at least 0.1 below that of predicting the mean label everywhere (Graham et al. 2017, section 2).
The organisers trained their baseline again for each weight. Where only its predictions are at hand, the straight line
that fits them best to the labels stands for that; see `refit`.

The sweep shows how every system's correlation with the label changes with the weight (Graham et al. 2017, Figure 1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.maths import pearson
from adjudge.results.qe import ChosenWeight, OrderOfSystems

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from adjudge.core.arrays import Floats


FIRST_WEIGHT = 1.0
LEAST_RATIO = 0.5
LEAST_GAIN = 0.1
LIMIT = 100
# A criterion that is met exactly must not be missed by the last digit of a float.
_DIGITS = 1e-12


def combine(first: Floats, second: Floats, weight: float) -> Floats:
    """The labels at this weight of the second post-edition."""
    return np.asarray(FIRST_WEIGHT * first + weight * second)


def refit(predictions: Floats) -> Callable[[Floats], Floats]:
    """A stand-in for training again: predictions moved and stretched to fit given labels best."""

    def predict(labels: Floats) -> Floats:
        if np.ptp(predictions) == 0:
            return np.full(len(labels), labels.mean())
        slope, start = np.polyfit(predictions, labels, 1)
        return np.asarray(start + slope * predictions)

    return predict


def tune_weight(
    first: Floats, second: Floats, predict: Callable[[Floats], Floats], *, limit: int = LIMIT
) -> ChosenWeight:
    """The weight by the rule above.

    Args:
        first: TER(PE1, MT) of every document.
        second: TER(PE2, PE1) of every document.
        predict: the baseline, trained again: labels in, predictions out.
        limit: where to stop if no criterion is ever met.
    """
    weight, ratio, gain = 1, 0.0, 0.0
    for weight in range(1, limit + 1):
        labels = combine(first, second, float(weight))
        predicted = predict(labels)
        ratio = float(predicted.std(ddof=1) / predicted.mean()) if predicted.mean() else 0.0
        gain = float(np.abs(labels - labels.mean()).mean() - np.abs(labels - predicted).mean())
        if ratio >= LEAST_RATIO - _DIGITS:
            return ChosenWeight(
                float(weight), "the spread of the baseline's predictions is half their mean", ratio, gain
            )
        if gain >= LEAST_GAIN - _DIGITS:
            return ChosenWeight(float(weight), "the baseline's error is 0.1 below that of the mean label", ratio, gain)
    return ChosenWeight(float(weight), f"no criterion of the rule is met up to {limit}", ratio, gain)


def sweep(
    first: Floats, second: Floats, predictions: Mapping[str, Floats], weights: Sequence[float]
) -> dict[str, tuple[float | None, ...]]:
    """Pearson's r of every system at every weight; documents without a prediction are left out."""
    by_system: dict[str, tuple[float | None, ...]] = {}
    for name, values in predictions.items():
        known = ~np.isnan(values)
        r = [pearson(combine(first, second, weight)[known], values[known]) for weight in weights]
        by_system[name] = tuple(None if np.isnan(value) else value for value in r)
    return by_system


def orders_along(
    weights: Sequence[float], by_weight: Mapping[str, Sequence[float | None]]
) -> tuple[OrderOfSystems, ...]:
    """The rankings of systems along the sweep, each with the weights between which it stands."""
    orders: list[OrderOfSystems] = []
    for i, weight in enumerate(weights):
        at_weight = {name: -2.0 if (r := values[i]) is None else r for name, values in by_weight.items()}
        order = tuple(name for name, _ in sorted(at_weight.items(), key=lambda item: (-item[1], item[0])))
        if orders and orders[-1].order == order:
            orders[-1] = OrderOfSystems(orders[-1].low, weight, order)
        else:
            orders.append(OrderOfSystems(weight, weight, order))
    return tuple(orders)
