"""Differences between a judge and people: means, contrasts and slopes with their errors.

Errors allow for what items of one document share, and from three people on for what each person's answers share
(two-way clusters, the largest of both and of their combination), so that they hold for other people and texts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.core.maths import student_quantile, student_tail

if TYPE_CHECKING:
    from adjudge.core.arrays import Bools, Codes, Floats

FEWEST_PEOPLE = 3
"""People from whom on errors hold for other people too."""


@dataclass(frozen=True, eq=False)
class Differences:
    """The judge minus a person, one entry per person and item (for comparisons: per person, item and side)."""

    value: Floats
    item: Codes
    cluster: Codes
    person: Codes
    system: pl.Series
    unit: str

    def mean(self) -> tuple[float, tuple[float, float], float]:
        """Estimate, 95% interval and p-value of the mean."""
        return self._estimate(np.ones(len(self.value)))

    def contrast(self, chosen: Bools) -> tuple[float, tuple[float, float], float]:
        """Of the mean over the chosen entries minus that over the others."""
        return self.slope(chosen.astype(float))

    def slope(self, x: Floats) -> tuple[float, tuple[float, float], float]:
        """Of the slope on a variable."""
        return self._estimate(x - x.mean())

    def _estimate(self, weight: Floats) -> tuple[float, tuple[float, float], float]:
        scale = float((weight**2).sum())
        estimate = float((weight * self.value).sum()) / scale
        centre = 0.0 if np.ptp(weight) == 0 else float(self.value.mean())
        residual = weight * (self.value - centre - estimate * weight) / scale
        variance, df = variance_of(residual, self.cluster, self.person)
        se = float(np.sqrt(variance))
        reach = float(student_quantile(0.025, df)) * se
        p = 2 * float(student_tail(abs(estimate) / se, df)) if se > 0 else (1.0 if estimate == 0 else 0.0)
        return estimate, (estimate - reach, estimate + reach), min(p, 1.0)

    def at(self, kept: Bools) -> Differences:
        """Some of the entries."""
        return replace(
            self,
            value=self.value[kept],
            item=self.item[kept],
            cluster=self.cluster[kept],
            person=self.person[kept],
            system=self.system.filter(pl.Series(kept)),
        )


def variance_of(residual: Floats, cluster: Codes, person: Codes) -> tuple[float, int]:
    """The variance of a sum, by documents and, where there are enough, by people; and its degrees of freedom."""
    documents, by_document = _variance_by(residual, cluster)
    people = len(np.unique(person))
    if people < FEWEST_PEOPLE:
        return by_document, documents - 1
    _, by_person = _variance_by(residual, person)
    _, by_both = _variance_by(residual, cluster * (int(person.max()) + 1) + person)
    return max(by_document, by_person, by_document + by_person - by_both), min(documents, people) - 1


def _variance_by(residual: Floats, cluster: Codes) -> tuple[int, float]:
    """The number of clusters, and the variance of a sum whose entries may depend on each other within clusters."""
    _, code = np.unique(cluster, return_inverse=True)
    sums = np.bincount(code, weights=residual)
    number = len(sums)
    return number, float((sums**2).sum()) * number / (number - 1) if number > 1 else float("inf")
