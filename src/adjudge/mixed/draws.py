"""The search for variances in large campaigns, where traces are drawn.

L. A. Garcia-Cortes, C. Moreno, L. Varona, J. Altarriba (1992): Variance component estimation by resampling. Journal of
Animal Breeding and Genetics 109, 358-363.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np

from adjudge.mixed.equations import Equations, Totals, totals
from adjudge.mixed.fit import Evaluation, Neighbourhood, evaluate
from adjudge.table.rng import generator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.mixed.border import IterativeBorder
    from adjudge.mixed.layout import Layout
    from adjudge.table.maths import Floats


_FAR = 10.0
"""As long as more than this is to be gained, a few draws point the way; then their errors would lead to and fro."""


class Drawn:
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
            if self._draws == DRAWS or Neighbourhood(current).gain > _FAR:
                return current
            current, self._draws = replace(current), DRAWS


DRAWS = 32
CHUNK = 8
"""Draws that are made together."""
DRAWS_TOLERANCE = 1e-5
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
        start = np.zeros((equations.layout.width, draws))
        start[:, : near.shape[1]] = near[:, :draws]
        chunks = [equations.reduced(_right(equations, *chunk)) for chunk in self._chunks[: draws // CHUNK]]
        return border.solve_from(start, np.hstack(chunks), tolerance=DRAWS_TOLERANCE)[0]


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
