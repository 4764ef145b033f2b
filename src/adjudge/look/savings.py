"""What looks save: the judgments of a campaign that may stop early, beside one with a single look at the end.

All numbers are exact for one difference with normal statistics, by the integration of `boundaries`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adjudge.look.boundaries import Spending, boundaries, crossing, spent


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
    from scipy.special import ndtri

    times = [number / looks for number in range(1, looks + 1)]
    upper = boundaries(times, [spent(spending, level / 2, time) for time in times])
    lower = [-bound for bound in upper]
    fixed = float(-ndtri(level / 2) + ndtri(power))

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
