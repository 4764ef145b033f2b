"""How precisely a design measures differences: exact for known variances, so that nothing needs to be simulated.

The covariance of system effects in a mixed model depends on who judges what and on the variances, not on the scores.
With the standard error se of a difference d, the power of a two-sided test at level a shared by m comparisons is about
P(T > t(1 - a/2m) - d/se), T having the degrees of freedom of the difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.rng import generator
from adjudge.plan.layout import mixed_design
from adjudge.rank.mixed import refit
from adjudge.rank.mixed.effects import identify

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.plan.layout import Layout
    from adjudge.plan.settings import PlanSettings, Variances

_SCORES = 3002


@dataclass(frozen=True, eq=False)
class Precision:
    """Standard errors and degrees of freedom of the difference of every pair of systems."""

    se: NDArray[np.float64]
    df: NDArray[np.float64]

    @property
    def typical(self) -> float:
        """Root mean square of the standard errors."""
        return float(np.sqrt((self.se**2).mean()))

    def power(self, difference: float, level: float) -> float:
        """The chance to find a difference, mean over pairs; `level` is that of a single comparison."""
        from scipy.stats import t

        return float(t.sf(t.isf(level / 2, self.df) - difference / self.se, self.df).mean())

    def detectable(self, power: float, level: float) -> float:
        """The difference that is found with this power, for a pair of typical precision."""
        from scipy.stats import t

        df = float(np.median(self.df))
        return float(self.typical * (t.isf(level / 2, df) + t.ppf(power, df)))


def measure(layout: Layout, settings: PlanSettings, variances: Variances, per_item: int) -> Precision:
    """The precision of a design whose tasks are each done by `per_item` people."""
    rows = layout.rows(settings.annotators, per_item)
    # The scores only carry the model to its equations; any that vary will do.
    score = generator(settings.seed, _SCORES).standard_normal(len(rows["system"]))
    design = mixed_design(rows, settings.systems, score)
    model = refit(design, variances.ratios)
    # What the design cannot tell from the residual belongs to it.
    residual = variances.sd["residual"] ** 2 * (
        1 + sum(variances.ratios[effect] for effect in identify(design).in_residual)
    )
    covariance = model.covariance * residual / model.components[-1].sd ** 2
    first, second = np.triu_indices(settings.systems, 1)
    own = np.diag(covariance)
    variance = own[first] + own[second] - 2 * covariance[first, second]
    return Precision(np.sqrt(variance), model.df[first, second])
