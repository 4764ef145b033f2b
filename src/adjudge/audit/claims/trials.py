"""Trials: what a claim is put to. Each is the ranking made again from changed data, or by another estimator.

A claim "A is better than B" survives a trial if A is still ahead and, where the trial tests it, the difference is still
significant by itself. The bar is lower than for making the claim, which is adjusted for all pairs, because a trial
has fewer data.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Trial:
    """Differences (row minus column) of all systems, with standard errors and degrees of freedom.

    NaN where a system is not in the trial; `se` is None where only the order counts.
    """

    name: str
    family: str
    """Trials of one family, such as one per annotator, are survived together."""
    difference: NDArray[np.float64]
    se: NDArray[np.float64] | None = None
    df: NDArray[np.float64] | None = None
    least_p: NDArray[np.float64] | None = None
    """What p cannot be below, where the spread understates the doubt."""

    def applies(self, first: int, other: int) -> bool:
        """Whether both systems are in the trial."""
        return bool(np.isfinite(self.difference[first, other]))

    def without(self, systems: NDArray[np.bool_]) -> Trial:
        """The trial of all pairs in which none of the marked systems takes part."""
        gone = systems[:, None] | systems[None, :]
        return replace(self, difference=np.where(gone, np.nan, self.difference))

    def keeps_better(self, better: int, worse: int, level: float) -> bool:
        """Whether "better than" stands in this trial: still ahead, and significantly so where that is tested."""
        from scipy.stats import t

        difference = self.difference[better, worse]
        if self.se is None or self.df is None or difference <= 0:
            return bool(difference > 0)
        least = 0.0 if self.least_p is None else self.least_p[better, worse]
        with np.errstate(divide="ignore"):
            p = 2 * t.sf(difference / self.se[better, worse], self.df[better, worse])
        return bool(max(p, least) < level)

    def keeps_equal(self, first: int, other: int, margin: float, level: float) -> bool:
        """Whether "no further apart than the margin" stands in this trial."""
        from scipy.stats import t

        if self.se is None or self.df is None:
            return True
        difference, se, df = (float(part[first, other]) for part in (self.difference, self.se, self.df))
        return bool(max(t.sf((difference + margin) / se, df), t.cdf((difference - margin) / se, df)) < level)


def spread_out(values: NDArray[np.float64], places: list[int], n: int) -> NDArray[np.float64]:
    """A matrix over some of the systems as one over all n; NaN for those that are not among them."""
    whole = np.full((n, n), np.nan)
    whole[np.ix_(places, places)] = values
    return whole


def outcome(trials: Iterable[Trial], stands: Callable[[Trial], bool]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The families that a claim survives whole, and the single trials that break it."""
    families: dict[str, bool] = {}
    broken: list[str] = []
    for trial in trials:
        unbroken = stands(trial)
        families[trial.family] = families.get(trial.family, True) and unbroken
        if not unbroken:
            broken.append(trial.name)
    return tuple(name for name, unbroken in families.items() if unbroken), tuple(broken)
