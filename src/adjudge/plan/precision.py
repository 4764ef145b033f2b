"""How precisely a design measures differences: exact for known variances, so that nothing needs to be simulated.

The covariance of system effects in a mixed model depends on who judges what and on the variances, not on the scores.
With the standard error se of a difference d, the power of a two-sided test at level a shared by m comparisons is about
P(T > t(1 - a/2m) - d/se), T having the degrees of freedom of the difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.maths import student_below, student_quantile, student_tail
from adjudge.core.rng import generator
from adjudge.plan.layout import mixed_design
from adjudge.rank.mixed import prepare

if TYPE_CHECKING:
    from adjudge.core.arrays import Floats
    from adjudge.plan.layout import Layout
    from adjudge.plan.settings import PlanSettings, Variances
    from adjudge.rank.mixed import Prepared

DRAWS = 4
_SCORES = 3002


@dataclass(frozen=True, eq=False)
class Precision:
    """Standard errors and degrees of freedom of the difference of every pair of systems."""

    se: Floats
    df: Floats

    @property
    def typical(self) -> float:
        """Root mean square of the standard errors."""
        return float(np.sqrt((self.se**2).mean()))

    def power(self, difference: float, level: float) -> float:
        """The chance to find a difference, mean over pairs; `level` is that of a single comparison."""
        return float(student_tail(student_quantile(level / 2, self.df) - difference / self.se, self.df).mean())

    def detectable(self, power: float, level: float) -> float:
        """The difference that is found with this power, for a pair of typical precision."""
        df = float(np.median(self.df))
        return float(self.typical * (student_quantile(level / 2, df) + student_below(power, df)))


def measure(layout: Layout, settings: PlanSettings, variances: Variances, per_item: int) -> Precision:
    """The precision of a design whose tasks are each done by `per_item` people."""
    rows = layout.rows(settings.annotators, per_item)
    systems = settings.systems
    design = mixed_design(rows, systems, np.zeros(len(rows["system"])))
    prepared = prepare(design)
    ratios = variances.ratios
    drawn = [_draw_scores(prepared, variances, generator(settings.seed, _SCORES, number)) for number in range(DRAWS)]
    models = [prepared.refit(score, ratios) for score in drawn]
    # Effects that the design cannot separate from the residual are part of it.
    residual = variances.sd["residual"] ** 2 * (1 + sum(ratios[effect] for effect in prepared.effects.in_residual))
    covariance = models[0].covariance * residual / models[0].components[-1].sd ** 2
    first, second = np.triu_indices(systems, 1)
    alone = np.diag(covariance)
    variance = alone[first] + alone[second] - 2 * covariance[first, second]
    # The errors are exact; the degrees of freedom depend a little on the scores, so several draws are averaged.
    df = 1 / np.mean([1 / model.df[first, second] for model in models], axis=0)
    return Precision(np.sqrt(variance), df)


def _draw_scores(prepared: Prepared, variances: Variances, rng: np.random.Generator) -> Floats:
    """Draw scores from the variances: a fit needs some, and its degrees of freedom depend a little on them."""
    score = rng.standard_normal(len(prepared.design))
    for effect, ratio in zip(prepared.effects.kept, prepared.effects.ratios(variances.ratios), strict=True):
        score += np.sqrt(ratio) * rng.standard_normal(effect.levels)[effect.codes]
    return score
