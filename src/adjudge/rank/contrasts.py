"""From estimates with a joint covariance to statements about pairs: differences with p-values, and equivalence.

Every function takes effects, their covariance, and the degrees of freedom of each difference. A difference divided by
its standard error is referred to Student's t. `lines_and_rank_sets` looks at all differences at once.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.maths import difference_variances, student_quantile, student_tail

if TYPE_CHECKING:
    from adjudge.core.arrays import Codes, Floats


@dataclass(frozen=True, eq=False)
class Contrasts:
    """Row minus column, for every pair of systems; the diagonal is no contrast (NaN)."""

    difference: Floats
    se: Floats
    df: Floats
    t: Floats
    greater: Floats
    """One-sided p that the row's system is better than the column's."""
    two_sided: Floats

    def part(self, systems: Codes) -> Contrasts:
        """The contrasts of some of the systems, in this order."""
        chosen = np.ix_(systems, systems)
        return Contrasts(*(getattr(self, field.name)[chosen] for field in fields(self)))

    def interval(self, level: float = 0.05) -> tuple[Floats, Floats]:
        """Each difference by itself: 1 - level confidence."""
        half = self.se * student_quantile(level / 2, self.df)
        return self.difference - half, self.difference + half


@dataclass(frozen=True)
class Equivalence:
    """Two one-sided tests: are two systems no further apart than a margin?"""

    difference: float
    low: float
    high: float
    """The 1 - 2 level interval: equivalence is shown where it lies inside the margins."""
    margin: float
    p: float


def contrasts(effects: Floats, covariance: Floats, df: Floats | float = np.inf) -> Contrasts:
    """All differences with standard errors and p-values."""
    se = np.sqrt(np.maximum(difference_variances(covariance), 0.0))
    difference = effects[:, None] - effects[None, :]
    degrees = np.broadcast_to(np.asarray(df, dtype=np.float64), difference.shape).copy()
    np.fill_diagonal(se, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = difference / se
    np.fill_diagonal(degrees, np.inf)
    greater = student_tail(ratio, degrees)
    return Contrasts(difference, se, degrees, ratio, greater, two_sided(ratio, degrees))


def two_sided(t: Floats, df: Floats) -> Floats:
    """The p-value of a difference divided by its standard error, without regard to its direction."""
    return np.minimum(2 * student_tail(np.abs(t), df), 1.0)


def equivalence(compared: Contrasts, first: int, second: int, *, margin: float, level: float = 0.05) -> Equivalence:
    """Test whether two systems differ by less than the margin: the larger p of two one-sided tests.

    A difference that is not significant is no evidence of equality; this is.
    """
    difference, se, df = (float(part[first, second]) for part in (compared.difference, compared.se, compared.df))
    tails = student_tail(np.array([difference + margin, margin - difference]) / se, df)
    half = se * float(student_quantile(level, df))
    return Equivalence(difference, difference - half, difference + half, margin, float(tails.max()))
