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
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from adjudge.core.errors import DataError
from adjudge.core.rng import generator
from adjudge.rank.mixed.effects import SMALLEST_RATIO
from adjudge.rank.mixed.equations import Totals, equations_at, totals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.core.arrays import Floats
    from adjudge.rank.mixed.border import IterativeBorder
    from adjudge.rank.mixed.equations import Equations, Solution
    from adjudge.rank.mixed.layout import Layout


START_RATIO = 0.1
OTHER_STARTS = (0.001, 1.0, 100.0)
DOUBTFUL_RATIO = 1e3
"""With so little residual beside an effect the criterion may have several valleys; then other starts are tried too."""
LARGEST_RATIO = 1e6
_FLAT = 0.01
"""A criterion that changes less than this with the logarithm of a ratio has come to its end."""
MOST_STEPS = 100
LONGEST_STEP = 3.0
"""In logarithms of ratios: a variance changes at most twentyfold in a step."""
TOLERANCE = 1e-9
"""Converged where a full step would lower the criterion by less than this."""
_LEAST_DAMPING = 1e-3
_MOST_DAMPING = 1e8
_NO_VARIANCE = 1e-10
_NOTHING_LEFT = (
    "systems and annotators explain every score exactly, so chance variation cannot be estimated; "
    "check the score column or collect more judgments"
)
LARGE_TOLERANCE = 1e-7
"""As `TOLERANCE` where traces are drawn: variances are then within a thousandth of their standard errors."""
_FAR = 1.0
"""As long as more than this is to be gained, a few draws point the way."""


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
        """Of the criterion, in the log ratios; a border that is solved iteratively must have its draws."""
        return self.equations.freedoms() - self.squares

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
        raise DataError(_NOTHING_LEFT)
    return Evaluation(equations, solution, variance)


def maximise(layout: Layout, score: Floats) -> Optimum:
    """Find the ratios of maximum restricted likelihood, for standardised scores.

    Where the criterion still falls at the largest ratio, it has no lowest point: the residual is 0 but for rounding.
    """
    optimum = _best_of_starts(layout, score)
    endless = optimum.evaluation.equations.ratios >= 0.999 * LARGEST_RATIO
    if endless.any() and (optimum.evaluation.gradient[endless] < -_FLAT).any():
        raise DataError(_NOTHING_LEFT)
    return optimum


def _best_of_starts(layout: Layout, score: Floats) -> Optimum:
    """Search from one start, and from others where there may be several valleys."""
    scores = totals(layout, score[:, None])
    if layout.iterative:
        return _search_by_draws(layout, scores, START_RATIO)
    first = _search(layout, scores, START_RATIO)
    if first.converged and first.evaluation.equations.ratios.max(initial=0.0) <= DOUBTFUL_RATIO:
        return first
    optima = [first]
    for start in OTHER_STARTS:
        # What lies so far off that nothing is left of the residual is no better answer.
        with suppress(DataError):
            optima.append(_search(layout, scores, start))
    return min(optima, key=lambda optimum: (round(optimum.evaluation.criterion, 4), not optimum.converged))


_LOW, _HIGH = np.log(SMALLEST_RATIO), np.log(LARGEST_RATIO)


def _free(log_ratios: Floats, gradient: Floats) -> NDArray[np.bool_]:
    """The ratios that are not held at their smallest or largest value."""
    held: NDArray[np.bool_] = ((log_ratios <= _LOW) & (gradient > 0)) | ((log_ratios >= _HIGH) & (gradient < 0))
    return ~held


def _search(layout: Layout, scores: Totals, start: float) -> Optimum:
    """Go downhill from equal ratios."""
    log_ratios = np.full(layout.parts.shape[1], np.log(start))
    current = evaluate(layout, scores, log_ratios)
    damping = _LEAST_DAMPING
    for steps in range(MOST_STEPS):
        free = _free(log_ratios, current.gradient)
        if _gain(current, free) < TOLERANCE:
            return Optimum(current, converged=True, steps=steps)
        while True:
            proposed = np.clip(log_ratios + _step(current, free, damping), _LOW, _HIGH)
            attempt = evaluate(layout, scores, proposed)
            if attempt.criterion <= current.criterion:
                log_ratios, current, damping = proposed, attempt, damping / 10
                break
            damping = max(damping * 10, _LEAST_DAMPING)
            if damping > _MOST_DAMPING:
                # No step however short lowers the criterion: this is as far as rounding lets us see. Along flat
                # directions the gradient is rounding alone, so what counts is what a damped step promised.
                return Optimum(current, converged=_gain(current, free, _LEAST_DAMPING) < 1e-4, steps=steps)
    return Optimum(current, converged=False, steps=MOST_STEPS)


def _search_by_draws(layout: Layout, scores: Totals, start: float) -> Optimum:
    """The same where traces are drawn and the criterion itself is not known, so that every step is taken.

    The first steps need few draws. Each begins with the errors of the one before, which are nearly the same.
    """
    log_ratios = np.full(layout.parts.shape[1], np.log(start))
    errors, draws = ErrorDraws(layout), CHUNK
    near = np.empty((layout.width, 0))
    for steps in range(MOST_STEPS):
        current = evaluate(layout, scores, log_ratios)
        border = cast("IterativeBorder", current.equations.border)
        while True:
            near = errors.errors(current.equations, border, draws=draws, near=near)
            border.use_draws(near)
            free = _free(log_ratios, current.gradient)
            gain = _gain(current, free)
            if draws == DRAWS or gain > _FAR:
                break
            current, draws = replace(current), DRAWS
        if gain < LARGE_TOLERANCE:
            return Optimum(current, converged=border.converged, steps=steps)
        log_ratios = np.clip(log_ratios + _step(current, free, _LEAST_DAMPING / 10**steps), _LOW, _HIGH)
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
    gain = float(gradient @ np.linalg.solve(curvature + ridge, gradient)) / 2
    # A curvature that rounding has made negative says nothing of how far the bottom is.
    return gain if gain >= 0 else float(np.inf)


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
