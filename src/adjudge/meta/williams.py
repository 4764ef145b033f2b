"""Williams' test: is one metric's correlation with the human higher than another's, the two being correlated too?

E. J. Williams (1959): Regression analysis; for metrics, Graham and Baldwin (2014).
"""

from __future__ import annotations

import math


def williams(r_first: float, r_second: float, r_between: float, n: int) -> float:
    """The one-sided p that the first correlation is higher.

    Args:
        r_first: correlation of the first metric with the human.
        r_second: correlation of the second metric with the human.
        r_between: correlation of the two metrics.
        n: how many pairs of scores.
    """
    from scipy.stats import t as student

    if n < 4 or any(math.isnan(r) for r in (r_first, r_second, r_between)):
        return float("nan")
    k = 1 - r_first**2 - r_second**2 - r_between**2 + 2 * r_first * r_second * r_between
    below = 2 * k * (n - 1) / (n - 3) + (r_first + r_second) ** 2 / 4 * (1 - r_between) ** 3
    if below <= 0:
        return float("nan")
    statistic = (r_first - r_second) * math.sqrt((n - 1) * (1 + r_between)) / math.sqrt(below)
    return float(student.sf(statistic, n - 3))
