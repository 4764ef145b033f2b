"""A share with its interval."""

from __future__ import annotations

from math import sqrt

from adjudge.results.audit.edits import Proportion

NORMAL_95 = 1.959963984540054


def proportion(part: int, whole: int) -> Proportion:
    """The share and its 95% interval by Wilson's score method (1927), which is honest for few observations."""
    if whole == 0:
        nan = float("nan")
        return Proportion(nan, (nan, nan), 0)
    share, z2 = part / whole, NORMAL_95**2
    middle = (share + z2 / (2 * whole)) / (1 + z2 / whole)
    reach = NORMAL_95 * sqrt(share * (1 - share) / whole + z2 / (4 * whole**2)) / (1 + z2 / whole)
    low = 0.0 if part == 0 else max(0.0, middle - reach)
    high = 1.0 if part == whole else min(1.0, middle + reach)
    return Proportion(share, (low, high), whole)
