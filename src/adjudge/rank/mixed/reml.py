"""Restricted maximum likelihood: the ratios of variances under which the scores are most likely.

The criterion is -2 log REML with the residual variance and the systems profiled out. Its gradient in the logarithms of
the ratios is exact; the curvature is the average of observed and expected information, which needs only products of
the residuals' projections. Steps are damped until the criterion falls. Where the border is too large for its inverse,
the traces in the gradient are estimated from draws of the border's estimation errors.

H. D. Patterson, R. Thompson (1971): Recovery of inter-block information when block sizes are unequal. Biometrika 58,
545-554. The restricted likelihood.
A. R. Gilmour, R. Thompson, B. R. Cullis (1995): Average information REML, an efficient algorithm for variance parameter
estimation in linear mixed models. Biometrics 51, 1440-1450. The curvature.
L. A. Garcia-Cortes, C. Moreno, L. Varona, J. Altarriba (1992): Variance component estimation by resampling. Journal of
Animal Breeding and Genetics 109, 358-363. The traces by draws.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.errors import DataError
from adjudge.core.rng import generator
from adjudge.rank.mixed.border import IterativeBorder
from adjudge.rank.mixed.effects import SMALLEST_RATIO
from adjudge.rank.mixed.equations import equations_at, totals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.core.arrays import Floats
    from adjudge.rank.mixed.equations import Equations, Solution, Totals
    from adjudge.rank.mixed.layout import Layout


START_RATIO = 0.1
OTHER_STARTS = (0.001, 1.0, 100.0)
DOUBTFUL_RATIO = 1e3
"""With so little residual beside an effect the criterion may have several valleys; then other starts are tried too."""
LARGEST_RATIO = 1e6
MOST_STEPS = 100
LONGEST_STEP = 3.0
"""In logarithms of ratios: a variance changes at most twentyfold in a step."""
TOLERANCE = 1e-9
"""Converged where a full step would lower the criterion by less than this."""
_LEAST_DAMPING = 1e-3
_MOST_DAMPING = 1e8
_NO_VARIANCE = 1e-10
DRAWS = 32
_CHUNK = 8
_SEED = 20_240_501
"""Fixed, so that the same data always give the same fit, and every step sees the same draws."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The criterion at given ratios; its derivatives are in the logarithms of the ratios."""

    equations: Equations
    solution: Solution
    residual_variance: float

    @property
    def criterion(self) -> float:
        """-2 log restricted likelihood; NaN where the determinant is not known."""
        freedom = self.freedom
        constant = freedom * (1 + np.log(2 * np.pi))
        return float(self.equations.log_determinant + freedom * np.log(self.residual_variance) + constant)

    @property
    def freedom(self) -> int:
        """Rows beyond the number of systems."""
        return self.equations.layout.rows - self.equations.layout.systems

    @cached_property
    def squares(self) -> Floats:
        """Each effect's sum of squares, on the scale of its own variance."""
        return self.equations.squares(self.solution) / self.residual_variance

    @cached_property
    def gradient(self) -> Floats:
        """Of the criterion, in the log ratios."""
        equations = self.equations
        if isinstance(equations.border, IterativeBorder):
            equations.border.use_draws(_error_draws(equations))
        return equations.freedoms() - self.squares

    @cached_property
    def information(self) -> Floats:
        """The criterion's curvature in (log residual variance, log ratios...)."""
        # What an effect adds to each row is the direction in which its variance moves the fit.
        directions = self.equations.directions(self.solution)
        products = self.equations.quadratic(directions) / self.residual_variance
        squares = self.squares
        return np.block([[np.array([[float(self.freedom)]]), squares[None, :]], [squares[:, None], products]])

    @cached_property
    def curvature(self) -> Floats:
        """The curvature in the log ratios alone, the residual variance following along."""
        cross = self.information[0, 1:]
        inner: Floats = self.information[1:, 1:] - np.outer(cross, cross) / self.information[0, 0]
        return inner


@dataclass(frozen=True, eq=False)
class Optimum:
    """Where the search ended, and how."""

    evaluation: Evaluation
    converged: bool
    steps: int


def evaluate(layout: Layout, scores: Totals, log_ratios: Floats) -> Evaluation:
    """The criterion at these ratios, for totals of standardised scores."""
    return evaluated(equations_at(layout, np.exp(log_ratios)), scores)


def evaluated(equations: Equations, scores: Totals) -> Evaluation:
    """The criterion of factored equations."""
    solution = equations.solve(scores)
    freedom = equations.layout.rows - equations.layout.systems
    variance = float(solution.quadratic[0, 0]) / freedom if freedom > 0 else 0.0
    if variance < _NO_VARIANCE:
        raise DataError(
            "systems and annotators explain every score exactly, so nothing is left to judge chance by; "
            "check the score column or collect more judgments"
        )
    return Evaluation(equations, solution, variance)


def maximise(layout: Layout, score: Floats) -> Optimum:
    """Find the ratios of maximum restricted likelihood, for standardised scores."""
    scores = totals(layout, score[:, None])
    first = _search(layout, scores, START_RATIO)
    doubtful = not first.converged or first.evaluation.equations.ratios.max(initial=0.0) > DOUBTFUL_RATIO
    if layout.iterative or not doubtful:
        return first
    optima = [first]
    for start in OTHER_STARTS:
        # What lies so far off that nothing is left of the residual is no better answer.
        with suppress(DataError):
            optima.append(_search(layout, scores, start))
    return min(optima, key=lambda optimum: (round(optimum.evaluation.criterion, 4), not optimum.converged))


def _search(layout: Layout, scores: Totals, start: float) -> Optimum:
    """Go downhill from equal ratios."""
    low, high = np.log(SMALLEST_RATIO), np.log(LARGEST_RATIO)
    log_ratios = np.full(layout.parts.shape[1], np.log(start))
    current = evaluate(layout, scores, log_ratios)
    damping = _LEAST_DAMPING
    for steps in range(MOST_STEPS):
        free = ~((log_ratios <= low) & (current.gradient > 0)) & ~((log_ratios >= high) & (current.gradient < 0))
        if _gain(current, free) < TOLERANCE:
            return Optimum(current, converged=current.equations.border.converged, steps=steps)
        while True:
            proposed = np.clip(log_ratios + _step(current, free, damping), low, high)
            attempt = evaluate(layout, scores, proposed)
            if layout.iterative or attempt.criterion <= current.criterion:
                log_ratios, current, damping = proposed, attempt, damping / 10
                break
            damping = max(damping * 10, _LEAST_DAMPING)
            if damping > _MOST_DAMPING:
                # No step however short lowers the criterion: this is as far as rounding lets us see. Along flat
                # directions the gradient is rounding alone, so what counts is what a damped step promised.
                return Optimum(current, converged=_gain(current, free, _LEAST_DAMPING) < 1e-4, steps=steps)
    return Optimum(current, converged=False, steps=MOST_STEPS)


def _step(current: Evaluation, free: NDArray[np.bool_], damping: float) -> Floats:
    curvature = current.curvature[np.ix_(free, free)]
    scale = np.diag(curvature).clip(1e-12)
    step = np.zeros(len(free))
    step[free] = -np.linalg.solve(curvature + damping * np.diag(scale), current.gradient[free])
    return np.clip(step, -LONGEST_STEP, LONGEST_STEP)


def _gain(current: Evaluation, free: NDArray[np.bool_], damping: float = 1e-9) -> float:
    """By how much a step, a full one if not damped, would lower the criterion."""
    if not free.any():
        return 0.0
    curvature = current.curvature[np.ix_(free, free)]
    ridge = np.diag(np.diag(curvature).clip(1e-12)) * damping
    gradient = current.gradient[free]
    return float(gradient @ np.linalg.solve(curvature + ridge, gradient)) / 2


def _error_draws(equations: Equations) -> Floats:
    """Draws of the border's (estimate - truth) for scores simulated by the model: their covariance is its inverse."""
    parts = [_errors(equations, generator(_SEED, chunk)) for chunk in range(DRAWS // _CHUNK)]
    return np.concatenate(parts, axis=1)


def _errors(equations: Equations, rng: np.random.Generator) -> Floats:
    layout = equations.layout
    spread = np.append(np.sqrt(layout.parts @ equations.ratios), 0.0)
    border, core, absorbed = (
        rng.standard_normal((len(kind), _CHUNK)) * spread[kind, None]
        for kind in (layout.border_kind, layout.core_kind, layout.absorbed_kind)
    )
    rows = rng.standard_normal((layout.rows, _CHUNK))
    rows += layout.border_rows @ border + layout.core_rows @ core + layout.absorbed_rows @ absorbed
    errors: Floats = equations.solve(totals(layout, rows)).border - border
    return errors
