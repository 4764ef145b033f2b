"""The search for variances in large campaigns, where traces are drawn.

L. A. Garcia-Cortes, C. Moreno, L. Varona, J. Altarriba (1992): Variance component estimation by resampling. Journal of
Animal Breeding and Genetics 109, 358-363.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np

from adjudge.mixed.equations import Equations, Totals, totals
from adjudge.mixed.fit import (
    HIGH,
    LEAST_DAMPING,
    LONGEST_STEP,
    LOW,
    MOST_STEPS,
    Evaluation,
    Optimum,
    damped_step,
    evaluate,
    expected_gain,
    free_ratios,
)
from adjudge.table.rng import generator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.mixed.border import IterativeBorder
    from adjudge.mixed.layout import Layout
    from adjudge.table.maths import Floats


LARGE_TOLERANCE = 1e-7
"""As `TOLERANCE` where traces are drawn: variances are then within a thousandth of their standard errors."""
_FAR = 1.0
"""As long as more than this is to be gained, a few draws point the way."""
_BACK = (0.1, 0.9)
"""The least and the largest share of a step that went too far which the next one may go back."""


def search_by_draws(layout: Layout, scores: Totals, start: float) -> Optimum:
    """Find the ratios of maximum restricted likelihood from equal ones.

    The criterion itself is not known, so every step is taken.

    The average information may be several times too small in a direction, and full steps would go back and forth for
    ever. So where the slope in a ratio has changed its sign, the next step in it goes no farther back than to where a
    straight line between the two slopes is level.
    """
    log_ratios = np.full(layout.parts.shape[1], np.log(start))
    drawn, longest = _Drawn(layout, scores), np.full(len(log_ratios), LONGEST_STEP)
    taken, slope = np.zeros(len(log_ratios)), np.zeros(len(log_ratios))
    for steps in range(MOST_STEPS):
        current = drawn.at(log_ratios)
        free = free_ratios(log_ratios, current.gradient)
        if expected_gain(current, free) < LARGE_TOLERANCE:
            return Optimum(current, converged=current.equations.border.converged, steps=steps)
        turned = (slope * current.gradient < 0) & (taken != 0)
        back = np.abs(current.gradient) / np.maximum(np.abs(current.gradient - slope), 1e-300)
        longest = np.where(turned, np.clip(back, *_BACK) * np.abs(taken), np.minimum(2 * longest, LONGEST_STEP))
        step = np.clip(damped_step(current, free, LEAST_DAMPING / 10**steps), -longest, longest)
        proposed = np.clip(log_ratios + step, LOW, HIGH)
        taken, slope, log_ratios = proposed - log_ratios, current.gradient, proposed
    return Optimum(current, converged=False, steps=MOST_STEPS)


class _Drawn:
    """Evaluations with traces by draws.

    As long as much is to be gained, few draws do. Each begins with the errors of the one before, which are nearly the
    same.
    """

    def __init__(self, layout: Layout, scores: Totals) -> None:
        self._layout, self._scores = layout, scores
        self._errors, self._draws = ErrorDraws(layout), CHUNK
        self._near = np.empty((layout.width, 0))

    def at(self, log_ratios: Floats) -> Evaluation:
        """The evaluation at these ratios."""
        current = evaluate(self._layout, self._scores, log_ratios)
        border = cast("IterativeBorder", current.equations.border)
        while True:
            self._near = self._errors.errors(current.equations, border, draws=self._draws, near=self._near)
            border.use_draws(self._near)
            if self._draws == DRAWS or expected_gain(current, free_ratios(log_ratios, current.gradient)) > _FAR:
                return current
            current, self._draws = replace(current), DRAWS


DRAWS = 32
CHUNK = 8
"""Draws that are made and solved together."""
DRAWS_TOLERANCE = 1e-6
"""Of their solutions: far below the error that so few draws have."""
_SEED = 20_240_501
"""Fixed, so that the same data always give the same fit, and every step sees the same draws."""


class ErrorDraws:
    """Draws of the border's estimation errors, whose covariance is its inverse: for traces where that is too large.

    Scores simulated by the model, W u + e, give the estimates inv(C) W'(W u + e), where C = W'W + D with the penalties
    D. Their errors are inv(C) W'(W u + e) - u = inv(C) (W'e - D u), so that of all rows only the sums W'e are needed.
    The same draws serve at all variances: u is a draw of standard normal numbers times the standard deviations.
    """

    def __init__(self, layout: Layout) -> None:
        self._chunks = [_chunk(layout, generator(_SEED, number)) for number in range(DRAWS // CHUNK)]

    def errors(self, equations: Equations, border: IterativeBorder, *, draws: int, near: Floats) -> Floats:
        """So many draws of the border's errors at the variances of the equations.

        Args:
            equations: with the border to solve.
            border: that of the equations.
            draws: how many, a multiple of `CHUNK`.
            near: the errors at similar variances (width, any number), to begin with.
        """
        errors = np.zeros((equations.layout.width, draws))
        errors[:, : near.shape[1]] = near[:, :draws]
        for number in range(draws // CHUNK):
            chunk = slice(number * CHUNK, (number + 1) * CHUNK)
            right = equations.reduced(_right(equations, *self._chunks[number]))
            errors[:, chunk] = border.solve_from(errors[:, chunk], right, tolerance=DRAWS_TOLERANCE)[0]
        return errors


def _chunk(layout: Layout, rng: np.random.Generator) -> tuple[Totals, tuple[Floats, Floats, Floats]]:
    """Sums of residuals, and standard normal numbers for border, core and absorbed unknowns."""
    border, core, absorbed = (
        rng.standard_normal((len(kind), CHUNK)) for kind in (layout.border_kind, layout.core_kind, layout.absorbed_kind)
    )
    return totals(layout, rng.standard_normal((layout.rows, CHUNK))), (border, core, absorbed)


def _right(equations: Equations, residuals: Totals, normal: tuple[Floats, Floats, Floats]) -> Totals:
    """The right-hand sides W'e - D u; the penalty times a standard deviation is its square root. Systems have none."""
    layout = equations.layout
    pull = np.append(np.sqrt(equations.variances.penalty), 0.0)

    def less(sums: Floats, kind: NDArray[np.int64], drawn: Floats) -> Floats:
        return np.asarray(sums - pull[kind, None] * drawn)

    border, core, absorbed = normal
    return Totals(
        less(residuals.border, layout.border_kind, border),
        less(residuals.core, layout.core_kind, core),
        less(residuals.absorbed, layout.absorbed_kind, absorbed),
        residuals.square,
    )
