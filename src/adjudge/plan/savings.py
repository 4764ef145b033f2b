"""What saves judgments: looks on the way, which may stop a campaign early, and choosing segments by probability.

Looks: all numbers are exact for one difference with normal statistics, by the integration of `look.boundaries`.

Chosen segments: with q = (1 - EVEN) x + EVEN for spreads x of mean 1, an even draw of n segments has the variance
mean(v) / n for segments whose differences vary by v, and a weighted draw mean(v / q) / n. Where differences vary just
as the spread (v = x^2), that is mean(x^2 / q) beside mean(x^2); where the spread tells nothing (v = 1), mean(1 / q)
beside 1. Tastes of annotators stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.errors import DataError
from adjudge.core.maths import normal_quantile
from adjudge.design.select_segments import EVEN
from adjudge.look.boundaries import Spending, boundaries, crossing, spent
from adjudge.results.plan import PlanSelection

if TYPE_CHECKING:
    from adjudge.core.arrays import Floats

ASSUMED_CV = 0.7
"""The standard deviation of spreads in units of their mean, where no file tells them: as metrics' spreads have it."""
_POINTS = 2000


@dataclass(frozen=True)
class Saving:
    """Judgments as shares of a campaign of the same power with one look at the end."""

    looks: int
    largest: float
    """Where nothing stops the campaign."""
    planned: float
    """On average, where the difference is the one planned for."""
    larger: float
    """On average, where it is one and a half times that."""
    none: float
    """On average, where there is no difference."""


def saving(looks: int, *, spending: Spending = "kim-demets", level: float = 0.05, power: float = 0.9) -> Saving:
    """The judgments that equally spaced looks take (two-sided level)."""
    from scipy.optimize import brentq

    times = [number / looks for number in range(1, looks + 1)]
    upper = boundaries(times, [spent(spending, level / 2, time) for time in times])
    lower = [-bound for bound in upper]
    fixed = float(-normal_quantile(level / 2) + normal_quantile(power))

    def missed(drift: float) -> float:
        return float(crossing(times, upper, lower, drift=drift)[0].sum()) - power

    drift = float(brentq(missed, 0.5 * fixed, 2 * fixed, xtol=1e-8))
    largest = (drift / fixed) ** 2

    def mean(times_planned: float) -> float:
        above, below = crossing(times, upper, lower, drift=times_planned * drift)
        stopped = above + below
        stopped[-1] += 1 - stopped.sum()
        return float(largest * (stopped @ np.array(times)))

    return Saving(looks, largest, mean(1.0), mean(1.5), mean(0.0))


def plan_selection(judgments: int, spread: Floats | None = None) -> PlanSelection:
    """Judgments with segments chosen by this spread; default: by an assumed one.

    Args:
        judgments: those of the recommended design.
        spread: a number per segment, as for `design --select FILE`.
    """
    x = assumed_spread() if spread is None else np.asarray(spread, dtype=float)
    if not x.mean() > 0:
        raise DataError("the numbers of --select are all 0, so nothing can be chosen by them; leave the option out")
    x = x / x.mean()
    q = (1 - EVEN) * x + EVEN
    return PlanSelection(
        spread_cv=float(x.std()),
        assumed=spread is None,
        even=judgments,
        expected=ceil(judgments * float((x**2 / q).mean() / (x**2).mean())),
        largest=ceil(judgments * float((1 / q).mean())),
    )


def assumed_spread() -> Floats:
    """Spreads with the assumed variation: the quantiles of a lognormal distribution."""
    sigma = np.sqrt(np.log1p(ASSUMED_CV**2))
    return np.asarray(np.exp(sigma * normal_quantile((np.arange(_POINTS) + 0.5) / _POINTS)))
