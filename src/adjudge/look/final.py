"""Estimates after stopping: the plain one is too large when a campaign stops because it looked large.

Outcomes are ordered by stage: an upper crossing is the more extreme the earlier it came, then outcomes of one look by
their Z, then lower crossings, the earliest last. The interval holds the true differences under which the outcome is not
in a tail of that order; the median-unbiased estimate has half of the order on either side.

C. Jennison, B. W. Turnbull (2000): Group sequential methods, sections 8.4 and 8.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.look.boundaries import crossing

if TYPE_CHECKING:
    from collections.abc import Sequence

_WIDEST = 12.0
"""Differences are searched within so many standard errors of the plain estimate."""


@dataclass(frozen=True)
class Path:
    """What one difference went through until it was settled or judging ended.

    `bounds` are those of the looks before the last one, whose Z is `z`.
    """

    information: tuple[float, ...]
    bounds: tuple[float, ...]
    z: float


@dataclass(frozen=True)
class FinalEstimate:
    """The median-unbiased estimate and the interval by stage-wise ordering."""

    estimate: float
    interval: tuple[float, float]


def final_estimate(path: Path, *, level: float = 0.05) -> FinalEstimate:
    """The estimate of a difference after stopping, with its interval of confidence 1 - level."""
    if path.z < 0:
        turned = final_estimate(Path(path.information, path.bounds, -path.z), level=level)
        return FinalEstimate(-turned.estimate, (-turned.interval[1], -turned.interval[0]))
    low, middle, high = (_difference_at(path, tail) for tail in (level / 2, 0.5, 1 - level / 2))
    return FinalEstimate(middle, (low, high))


def at_least_as_extreme(path: Path, difference: float) -> float:
    """The probability, under a true difference, of an outcome at or above this one in the order by stage."""
    upper = [*path.bounds, path.z]
    lower = [*(-bound for bound in path.bounds), -np.inf]
    above, _ = crossing(path.information, upper, lower, drift=difference)
    return float(above.sum())


def _difference_at(path: Path, tail: float) -> float:
    """The true difference under which the outcome has this probability."""
    from scipy.optimize import brentq

    se = 1 / np.sqrt(path.information[-1])
    plain = path.z * se
    # An early crossing says less than its standard error alone, so the search is as wide as the first look's error.
    width = _WIDEST * max(se, 1 / np.sqrt(path.information[0]))
    return float(
        brentq(lambda true: at_least_as_extreme(path, true) - tail, plain - width, plain + width, xtol=1e-6 * se)
    )


def as_path(information: Sequence[float], bounds: Sequence[float], z: float) -> Path:
    """The path with information that only grows, as the recursion needs it."""
    values = np.asarray(information, dtype=float).copy()
    for k in range(len(values) - 2, -1, -1):
        values[k] = min(values[k], 0.996 * values[k + 1])
    return Path(tuple(values.tolist()), tuple(bounds), z)
