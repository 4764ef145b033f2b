"""The label of the 2016 shared task on document-level quality estimation, and the rule that chose its weight.

label = W1 * TER(PE1, MT) + W2 * TER(PE2, PE1), where W1 is 1 and W2 grows from 1 in steps of 1 until (i) the standard
deviation of the baseline's predictions is at least half their mean, or (ii) the baseline's mean absolute error is at
least 0.1 below that of predicting the mean label everywhere (Graham et al. 2017, section 2). The organisers trained
their baseline again for each weight. Where only its predictions are at hand, the straight line that fits them best to
the labels stands for that; see `refitted`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.results.qe import ChosenWeight

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

FIRST_WEIGHT = 1.0
LEAST_RATIO = 0.5
LEAST_GAIN = 0.1
LIMIT = 100
# A criterion that is met exactly must not be missed by the last digit of a float.
_DIGITS = 1e-12


def combined(first: Array, second: Array, weight: float) -> Array:
    """The labels at this weight of the second post-edition."""
    return np.asarray(FIRST_WEIGHT * first + weight * second)


def refitted(predictions: Array) -> Callable[[Array], Array]:
    """A stand-in for training again: predictions moved and stretched to fit given labels best."""

    def predict(labels: Array) -> Array:
        if np.ptp(predictions) == 0:
            return np.full(len(labels), labels.mean())
        slope, start = np.polyfit(predictions, labels, 1)
        return np.asarray(start + slope * predictions)

    return predict


def tuned(first: Array, second: Array, predict: Callable[[Array], Array], *, limit: int = LIMIT) -> ChosenWeight:
    """The weight by the rule above.

    Args:
        first: TER(PE1, MT) of every document.
        second: TER(PE2, PE1) of every document.
        predict: the baseline, trained again: labels in, predictions out.
        limit: where to stop if no criterion is ever met.
    """
    weight, ratio, gain = 1, 0.0, 0.0
    for weight in range(1, limit + 1):
        labels = combined(first, second, float(weight))
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
