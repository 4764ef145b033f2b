"""Fitting the mixed model: system effects with their covariance, and where the spread of scores comes from.

With it goes what must be said of a fit: for whom it holds, on whom it rests, and what its errors leave out.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from adjudge.mixed.design import COPIES, MixedDesign, levels_of
from adjudge.mixed.effects import (
    MEANINGS,
    SCREENS,
    SMALLEST_RATIO,
    TASTE,
    ContrastDegrees,
    Effects,
    LeftOut,
    VarianceComponent,
    contrast_degrees,
    degrees_of_tastes,
    degrees_of_texts,
    identify,
    outputs_unnamed,
    satterthwaite,
    unknown_outputs,
    unknown_strictness,
)
from adjudge.mixed.equations import Equations, Solution, Totals, equations_at, totals
from adjudge.mixed.layout import Layout, indicator, lay_out
from adjudge.mixed.weighted import weighted_effects
from adjudge.table.errors import DataError
from adjudge.table.judgments import weights_note
from adjudge.table.maths import NORMAL_95, Floats, normal_quantile
from adjudge.table.participants import one_judge
from adjudge.table.wording import agreeing, listed
from adjudge.work.tasks import one_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array


# Restricted maximum likelihood: the ratios of variances under which the scores are most likely.
#
# The criterion is -2 log REML with the residual variance and the systems profiled out. Its gradient in the logarithms
# of the ratios is exact; the curvature is the average of observed and expected information, which needs only products
# of the residuals' projections, corrected by how the last step changed the gradient (`Neighbourhood`). Steps are
# shortened until the criterion falls. Where the border is too large for its inverse, the traces in the gradient are
# estimated from draws of the border's estimation errors (`draws.py`), and the gradient alone tells whether a step went
# too far.
#
# H. D. Patterson, R. Thompson (1971): Recovery of inter-block information when block sizes are unequal. Biometrika
# 58, 545-554. The restricted likelihood. A. R. Gilmour, R. Thompson, B. R. Cullis (1995): Average information REML,
# an efficient algorithm for variance parameter estimation in linear mixed models. Biometrics 51, 1440-1450. The
# curvature.


START_RATIO = 0.1
OTHER_STARTS = (0.001, 1.0, 100.0)
DOUBTFUL_RATIO = 1e3
"""With so little residual beside an effect the criterion may have several valleys; then other starts are tried too."""
LARGEST_RATIO = 1e6
_FLAT = 0.01
"""A criterion that changes less than this with the logarithm of a ratio has come to its end."""
MOST_STEPS = 100
LONGEST_STEP = 3.0
"""Mean squares change at most twentyfold in a step."""
TOLERANCE = 1e-11
"""Converged where a full step would lower the criterion by less than this."""
_NOTHING_TO_GAIN = 1e-4
"""The same where steps do not get there, or traces are drawn: variances are then within a hundredth of their standard
errors."""
_NEAR = 1.0
"""With less than this to gain, steps tell the curvature."""
_HOPE = 2.0
"""No search gains more than so many times what a full step promises, and 1."""
_SLOW = 0.5
"""Where more than this share of what was to be gained before is left, the way leads along a flat valley."""
_FIRMEST = 1e8
_LEAST_BEND = 0.05
"""A curvature that is less than this share of the average information in any direction is not believed."""
_ROUNDING = 1e-13
"""Of the criterion, for every score."""
_NO_VARIANCE = 1e-10
_NOTHING_LEFT = (
    "systems and annotators explain every score exactly, so chance variation cannot be estimated; "
    "check the score column or collect more judgments"
)


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
    def freedoms(self) -> Floats:
        """How many levels of each effect the scores determine; a border that is solved iteratively must have draws."""
        return self.equations.freedoms()

    @property
    def gradient(self) -> Floats:
        """Of the criterion, in the log ratios."""
        return self.freedoms - self.squares

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
    seen: tuple[tuple[Floats, Floats], ...] = ()
    """Ratios that the last steps came from, and the slopes in them; with these a search goes on as if it had not
    paused."""
    firmness: float = 1.0
    last: float = np.inf
    """What a full step promised before the last one."""


def evaluate(layout: Layout, scores: Totals, log_ratios: Floats) -> Evaluation:
    """The criterion at these ratios, for totals of standardised scores."""
    return evaluate_at(equations_at(layout, np.exp(log_ratios)), scores)


def evaluate_at(equations: Equations, scores: Totals) -> Evaluation:
    """The criterion of factored equations, for totals of standardised scores."""
    solution = equations.solve(scores)
    freedom = equations.layout.rows - equations.layout.systems
    variance = float(solution.quadratic[0, 0]) / freedom if freedom > 0 else 0.0
    if variance < _NO_VARIANCE:
        raise DataError(_NOTHING_LEFT)
    return Evaluation(equations, solution, variance)


def maximise(
    layout: Layout,
    score: Floats,
    near: Floats | Optimum | None = None,
    *,
    tolerance: float = TOLERANCE,
    goal: float = np.inf,
) -> Optimum:
    """Find the ratios of maximum restricted likelihood, for standardised scores.

    Where the criterion still falls at the largest ratio, it has no lowest point: the residual is 0 but for rounding.

    Args:
        layout: of the equations.
        score: standardised.
        near: ratios close to the optimum, such as those of a model with one effect less, or where a search of these
            scores paused; searched from first.
        tolerance: how much a full step may still gain where the search ends.
        goal: a criterion; a search from near ends where it will clearly stay above.
    """
    at = partial(evaluate, layout, totals(layout, score[:, None]))
    optimum = None if near is None else _search(layout, near, tolerance, at, goal)
    if optimum is None or not optimum.converged:
        optimum = _best_of_starts(layout, score, tolerance)
    endless = optimum.evaluation.equations.ratios >= 0.999 * LARGEST_RATIO
    if endless.any() and (optimum.evaluation.gradient[endless] < -_FLAT).any():
        raise DataError(_NOTHING_LEFT)
    return optimum


def _best_of_starts(layout: Layout, score: Floats, tolerance: float = TOLERANCE) -> Optimum:
    """Search from one start, and from others where there may be several valleys."""
    scores = totals(layout, score[:, None])
    if layout.iterative:
        from adjudge.mixed.draws import Drawn  # which builds on this module

        return _search(layout, START_RATIO, _NOTHING_TO_GAIN, Drawn(layout, scores).at)
    found = partial(evaluate, layout, scores)
    first = _search(layout, START_RATIO, tolerance, found)
    if first.converged and first.evaluation.equations.ratios.max(initial=0.0) <= DOUBTFUL_RATIO:
        return first
    optima = [first]
    for start in OTHER_STARTS:
        # What lies so far off that nothing is left of the residual is no better answer.
        with suppress(DataError):
            optima.append(_search(layout, start, tolerance, found))
    return min(optima, key=lambda optimum: (round(optimum.evaluation.criterion, 4), not optimum.converged))


class Neighbourhood:
    """The criterion around an evaluation: a quadratic in y = log(1 + n ratio) of every effect.

    n is chosen so that of an effect's levels the share n ratio / (1 + n ratio) is determined by the scores, as it is.
    In balanced nested designs 1 + n ratio is a ratio of mean squares, and the average information is nearly the
    curvature in its logarithm, however far the variances are from 0. A variance of 0 is a place like any other, y = 0.
    """

    def __init__(self, current: Evaluation, seen: Sequence[tuple[Floats, Floats]] = ()) -> None:
        self.ratios = ratios = current.equations.ratios
        share = np.clip(current.freedoms / current.equations.levels, 1e-12, 1 - 1e-9)
        self._scale = share / (1 - share) / ratios
        self.slope = current.gradient / share
        # The average information of a variance that is too large is too small: it has the squares, not the levels.
        self.bend = current.curvature / np.outer(share, share) + np.diag(np.maximum(self.slope, 0.0))
        for place in seen:
            self._correct(*place)
        own = np.diag(self.bend)
        # Scores without any noise have slopes where no curvature is left: a step is then as long as it may be.
        self.bend = self.bend + 1e-9 * np.diag(np.where(own > 0, own, np.maximum(np.abs(self.slope), 1e-9)))
        self.free = ~((ratios <= 1.001 * SMALLEST_RATIO) & (self.slope > 0))
        self.free &= ~((ratios >= 0.999 * LARGEST_RATIO) & (self.slope < 0))

    def _correct(self, ratios: Floats, slope: Floats) -> None:
        """Make the curvature tell the slopes at other ratios, by a symmetric matrix of rank one."""
        moved = self.distance(ratios)
        missed = self.slope - slope * (1 + self._scale * ratios) / self._scale - self.bend @ moved
        along = float(missed @ moved)
        if abs(along) > 1e-8 * float(np.linalg.norm(missed) * np.linalg.norm(moved)):
            corrected = self.bend + np.outer(missed, missed) / along
            unit = np.sqrt(np.diag(self.bend).clip(1e-300))
            if np.linalg.eigvalsh(corrected / np.outer(unit, unit))[0] > _LEAST_BEND:
                self.bend = corrected

    def distance(self, ratios: Floats) -> Floats:
        """The way from other ratios to here, in y."""
        return np.asarray(np.log((1 + self._scale * self.ratios) / (1 + self._scale * ratios)))

    @property
    def gain(self) -> float:
        """By how much a full step would lower the criterion."""
        bend, slope = self.bend[np.ix_(self.free, self.free)], self.slope[self.free]
        gain = float(slope @ np.linalg.solve(bend, slope)) / 2
        # A curvature that rounding has made negative says nothing of how far the bottom is.
        return gain if gain >= 0 else float(np.inf)

    def after_step(self, firmness: float = 1.0) -> Floats:
        """The ratios after a step towards the lowest criterion, as if it bent so many times as much.

        A step that would be too long, or go below a variance of 0, is cut; the others take account of how far it goes.
        """
        bend = self.bend * firmness
        lowest = np.maximum(-np.log1p(self._scale * self.ratios), -LONGEST_STEP)
        step, moved = np.zeros(len(self.ratios)), self.free.copy()
        while moved.any():
            step[moved] = -np.linalg.solve(bend[np.ix_(moved, moved)], (self.slope + bend @ (step * ~moved))[moved])
            # The farthest alone: with that cut, the others may not go so far any more.
            beyond = np.maximum(step - LONGEST_STEP, lowest - step) * moved
            farthest = int(np.argmax(beyond))
            if beyond[farthest] <= 0:
                break
            step[farthest], moved[farthest] = np.clip(step[farthest], lowest[farthest], LONGEST_STEP), False
        ratios = np.expm1(np.log1p(self._scale * self.ratios) + step) / self._scale
        return np.where(self.free, np.clip(ratios, SMALLEST_RATIO, LARGEST_RATIO), self.ratios)


def _search(
    layout: Layout,
    start: float | Floats | Optimum,
    tolerance: float,
    at: Callable[[Floats], Evaluation],
    goal: float = np.inf,
) -> Optimum:
    """Go downhill from equal ratios, from given ones, or on from a pause, as long as the goal is in sight."""
    if isinstance(start, Optimum):
        current, seen, firmness, last, begin = start.evaluation, start.seen, start.firmness, start.last, start.steps
    else:
        ratios = np.broadcast_to(np.asarray(start, dtype=float), layout.parts.shape[1:])
        current, seen, firmness, last, begin = at(np.log(ratios)), (), 1.0, np.inf, 0
    for steps in range(begin, MOST_STEPS):
        around = Neighbourhood(current, seen)
        gain = around.gain
        if gain < tolerance or current.criterion - _HOPE * gain - 1 > goal:
            return Optimum(current, current.equations.border.converged, steps, seen, firmness, last)
        # Along a valley that hardly falls, each step goes twice as far as long as that is downhill.
        firmness = firmness / 2 if _SLOW * last < gain < _NEAR else 1.0
        while not _is_better(attempt := at(np.log(around.after_step(firmness))), current, around):
            firmness = 10 * firmness if firmness >= 1 else 1.0
            if firmness > _FIRMEST:
                # No step however short lowers the criterion: this is as far as rounding lets us see.
                return Optimum(current, gain < _NOTHING_TO_GAIN, steps)
        if gain < _NEAR:
            seen = (*seen[-1:], (around.ratios, current.gradient / around.ratios))
        current, last = attempt, gain
    return Optimum(current, Neighbourhood(current, seen).gain < _NOTHING_TO_GAIN, MOST_STEPS)


def _is_better(attempt: Evaluation, current: Evaluation, around: Neighbourhood) -> bool:
    """Whether a step lowered the criterion; where that is not known, whether it went less than twice too far."""
    if np.isfinite(attempt.criterion):
        return attempt.criterion <= current.criterion + _ROUNDING * current.freedom
    ahead = Neighbourhood(attempt)
    step = -around.distance(ahead.ratios)
    return float(ahead.slope @ step) <= abs(float(around.slope @ step))


# An interval from a thousandth to a thousand times the estimate.
_TELLS_NOTHING = 1000.0


@dataclass(frozen=True, eq=False)
class MixedFit:
    """A fitted model. Arrays are in the order of `systems`; effects are in the unit of the scores."""

    systems: tuple[str, ...]
    human: NDArray[np.bool_]
    n: NDArray[np.int64]
    effects: Floats
    """The score that an average annotator gives the system on an average document."""
    covariance: Floats
    df: Floats
    """Degrees of freedom of every difference of two effects (Satterthwaite); infinite on the diagonal."""
    components: tuple[VarianceComponent, ...]
    """The random effects and, last, the residual."""
    ratios: Mapping[str, float]
    """Variance over residual variance, by effect (folded ones by their narrowest part): what `refit` takes."""
    left_out: tuple[LeftOut, ...]
    loglik: float | None
    """The restricted log-likelihood; None where the campaign is too large to compute it."""
    converged: bool
    iterations: int
    annotators: int
    """How many people judged; 0 where they are not named."""
    exact: bool
    """False where conjugate gradients and simulated traces were used, above `border.DENSE_LIMIT` border unknowns."""
    notes: tuple[str, ...]
    degrees: ContrastDegrees
    """The degrees of freedom of contrasts other than differences of two effects."""

    @property
    def se(self) -> Floats:
        """The standard error of each effect."""
        return np.sqrt(np.diag(self.covariance))


@dataclass(frozen=True, eq=False)
class PartFit:
    """What audits need of a fit at known variances; arrays are in the order of `systems`."""

    systems: tuple[str, ...]
    effects: Floats
    covariance: Floats
    df: Floats


@dataclass(frozen=True)
class Scale:
    """Scores are fitted with mean 0 and standard deviation 1, so that rounding is the same for every scale."""

    mean: float
    sd: float


@dataclass(frozen=True, eq=False)
class Prepared:
    """A design whose equations are laid out, for fits with several kinds of scores or variances."""

    design: MixedDesign
    effects: Effects
    layout: Layout
    plain: Prepared | None = None
    """Where systems are parted, the same with one variance of tastes."""
    further: dict[str, Prepared] = field(default_factory=dict)
    """The same with one further system parted, as far as that was asked for."""

    def __getstate__(self) -> dict[str, object]:
        # Equations are laid out again by the worker that needs them, and few do.
        return {"design": self.design, "effects": self.effects, "plain": None, "further": {}}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state)

    def __getattr__(self, name: str) -> Layout:
        if name != "layout" or "effects" not in vars(self):
            raise AttributeError(name)
        layout = vars(self)["layout"] = _laid_out(self.design, self.effects)
        return layout

    def with_scores_of(self, design: MixedDesign) -> Prepared:
        """The same equations for a design that differs in its scores alone."""
        return replace(self, design=design)

    def parting(self, system: str) -> Prepared:
        """The same with one further system parted."""
        wider = self.design.parting(system)
        if len(self.design) > MOST_KEPT_ROWS:
            return replace(prepare(wider), plain=self.plain or self)
        if system not in self.further:
            self.further[system] = prepare(wider)
        # Another reading of the same judgments differs in its scores.
        return replace(self.further[system], design=wider, plain=self.plain or self)

    def fit(self, score: Floats | None = None) -> MixedFit:
        """Fit by restricted maximum likelihood.

        Args:
            score: what the model is fitted to instead of the design's own scores, as `ScoreModel.fitted_scores` gives
                it.
        """
        scale, standard = self.standardised(score)
        with one_thread():
            return _weighted(self, finished(self, maximise(self.layout, standard), scale), standard, scale)

    def refit(self, score: Floats | None, ratios: Mapping[str, float]) -> MixedFit:
        """Fit at known ratios of variances."""
        return self.refits([score], ratios)[0]

    def refits(self, scores: Sequence[Floats | None], ratios: Mapping[str, float]) -> list[MixedFit]:
        """Fit several scores at known ratios of variances; the equations are the same and factored once."""
        fits = []
        with one_thread():
            equations = equations_at(self.layout, np.exp(np.log(self.effects.ratios(ratios))))
            for score in scores:
                scale, standard = self.standardised(score)
                evaluation = evaluate_at(equations, totals(self.layout, standard[:, None]))
                optimum = Optimum(evaluation, equations.border.converged, 0)
                fits.append(_weighted(self, finished(self, optimum, scale), standard, scale))
        return fits

    def effects_at(self, score: Floats | None, ratios: Mapping[str, float]) -> Floats:
        """Only the effects of `refit`; skips the cost of their standard errors."""
        if self.design.weight is not None:
            return self.refit(score, ratios).effects
        scale, standard = self.standardised(score)
        with one_thread():
            evaluation = self.evaluated(standard, ratios)
        return unscaled(evaluation, scale, len(self.design.systems))

    def predictions(self, ratios: Mapping[str, float]) -> dict[tuple[str, ...], Floats]:
        """What each effect adds to the score of every row, by its parts: best linear unbiased predictions.

        Where e are the predicted residuals, the prediction of an effect's level is its ratio times the sum of e over
        the rows of the level (Henderson's equations, row by row), however the equations were laid out.
        """
        scale, standard = self.standardised(None)
        with one_thread():
            solved, layout = self.evaluated(standard, ratios).solution, self.layout
            known = layout.border_rows @ solved.border + layout.core_rows @ solved.core
            residual = scale.sd * (standard - (known + layout.absorbed_rows @ solved.absorbed)[:, 0])
        rows = len(self.design)
        predicted = {}
        for effect, ratio in zip(self.effects.kept, self.effects.ratios(ratios), strict=True):
            sums = np.bincount(effect.codes, residual)
            levels = ratio * (sums if effect.marked is None else np.where(effect.marked, sums, 0.0))
            predicted[effect.parts] = levels[effect.codes[:rows]]
        return predicted

    def evaluated(self, standard: Floats, ratios: Mapping[str, float]) -> Evaluation:
        """The criterion and the solution for standardised scores at known ratios of variances."""
        return evaluate(self.layout, totals(self.layout, standard[:, None]), np.log(self.effects.ratios(ratios)))

    def standardised(self, score: Floats | None) -> tuple[Scale, Floats]:
        """The scores, those of calibration items among them, with mean 0 and standard deviation 1."""
        scores = self.design.score if score is None else score
        linking = self.design.linking
        every = scores if linking is None else np.append(scores, linking.score)
        # Equal scores have no scale of their own; that nothing can be told from them is said further on.
        scale = Scale(float(every.mean()), float(every.std()) or 1.0)
        return scale, (every - scale.mean) / scale.sd


def prepare(design: MixedDesign, ratios: Mapping[str, float] | None = None) -> Prepared:
    """Lay out the equations, without looking at the scores; where ratios of variances are given, for these alone."""
    effects = identify(design)
    return Prepared(design, effects, _laid_out(design, effects, None if ratios is None else effects.ratios(ratios)))


def _laid_out(design: MixedDesign, effects: Effects, ratios: Floats | None = None) -> Layout:
    rows = design.stacked()
    return lay_out(rows.system, len(rows.systems), effects.kept, ratios)


def fit(design: MixedDesign) -> MixedFit:
    """Fit the model by restricted maximum likelihood."""
    design.check()
    return fit_parting(prepare(design))[1]


def refit(design: MixedDesign, ratios: Mapping[str, float]) -> MixedFit:
    """Fit the model at known ratios of variances, as found by an earlier fit: quick, for resampling and audits."""
    design.check()
    return prepare(design, ratios).refit(None, ratios)


def unscaled(evaluation: Evaluation, scale: Scale, systems: int) -> Floats:
    """System effects in the unit of the scores."""
    effects: Floats = evaluation.solution.border[:systems, 0] * scale.sd + scale.mean
    return effects


def finished(prepared: Prepared, optimum: Optimum, scale: Scale) -> MixedFit:
    """Everything that is said of a fit, in the unit of the scores."""
    design, effects = prepared.design, prepared.effects
    evaluation = optimum.evaluation
    equations, k = evaluation.equations, len(design.systems)
    inverse = equations.system_inverse()
    relative = inverse.border[:k, :k]
    crossed = equations.crossed(inverse, k)
    of_tastes = degrees_of_tastes(design, effects, equations.ratios)
    of_contrasts = contrast_degrees(effects, evaluation, relative, crossed, of_tastes)
    spread = of_contrasts.spread
    # Of a handful of scores the approximation can exceed what there is.
    degrees = np.minimum(satterthwaite(relative, crossed, spread), evaluation.freedom)
    most = min(of_tastes, degrees_of_texts(design, effects))
    exact = not equations.layout.iterative
    shift = 2 * evaluation.freedom * np.log(scale.sd)
    return MixedFit(
        systems=design.systems,
        human=design.human,
        n=np.bincount(design.system, minlength=k),
        effects=unscaled(evaluation, scale, k),
        covariance=system_covariance(design, effects, relative, evaluation.residual_variance, scale),
        df=np.where(np.eye(k, dtype=bool), np.inf, np.minimum(degrees, most)),
        components=_components(effects, evaluation, spread, scale.sd, equations.layout.rows),
        ratios={effect.narrowest: float(ratio) for effect, ratio in zip(effects.kept, equations.ratios, strict=True)},
        left_out=effects.left_out,
        loglik=float(-(evaluation.criterion + shift) / 2) if exact else None,
        converged=optimum.converged,
        iterations=optimum.steps,
        annotators=design.people,
        exact=exact,
        notes=notes_on(design, effects, converged=optimum.converged),
        degrees=of_contrasts,
    )


def system_covariance(design: MixedDesign, effects: Effects, relative: Floats, variance: float, scale: Scale) -> Floats:
    """The covariance of the effects of the systems, from that relative to the residual variance."""
    estimated = ((relative + relative.T) / 2 + unknown_outputs(design)) * variance
    covariance: Floats = (estimated + unknown_strictness(design, effects)) * scale.sd**2
    return covariance


def _weighted(prepared: Prepared, model: MixedFit, standard: Floats, scale: Scale) -> MixedFit:
    """The model with weighted effects and their errors, where segments were chosen with unequal probabilities."""
    design = prepared.design
    if design.weight is None:
        return model
    kept = prepared.effects.kept
    ratios = np.array([model.ratios[effect.narrowest] for effect in kept])
    residual = (model.components[-1].sd / scale.sd) ** 2
    weighted = weighted_effects(design, kept, standard, ratios, residual)
    of_tastes = degrees_of_tastes(design, prepared.effects, ratios)
    return replace(
        model,
        effects=weighted.effects * scale.sd + scale.mean,
        covariance=(weighted.covariance + unknown_strictness(design, prepared.effects)) * scale.sd**2,
        df=np.minimum(weighted.df, np.where(np.isinf(model.df), np.inf, of_tastes)),
        notes=(*model.notes, *weights_note(design.weight)),
    )


def _components(
    effects: Effects, evaluation: Evaluation, spread: Floats, unit: float, rows: int
) -> tuple[VarianceComponent, ...]:
    residual = np.sqrt(evaluation.residual_variance) * unit
    components = []
    tastes = [number for number, effect in enumerate(effects.kept, start=1) if TASTE in effect.parts]
    for number, effect in enumerate(effects.kept, start=1):
        ratio = evaluation.equations.ratios[number - 1]
        # The log of the variance is the sum of two parameters.
        error = np.sqrt(max(spread[0, 0] + 2 * spread[0, number] + spread[number, number], 0.0)) / 2
        if effect.marked is not None:
            # All that tastes for this system vary: what those for others do, and what they vary more.
            both = [*tastes, number]
            share = evaluation.equations.ratios[np.array(both) - 1]
            ratio, slope = share.sum(), np.append(1.0, share / share.sum())
            error = np.sqrt(max(float(slope @ spread[np.ix_([0, *both], [0, *both])] @ slope), 0.0)) / 2
        at_zero = bool(ratio <= 2 * SMALLEST_RATIO)
        sd = 0.0 if at_zero else float(np.sqrt(ratio) * residual)
        low, high = (None, None) if at_zero else _interval(sd, error)
        components.append(
            VarianceComponent(effect.name, sd, low, high, effect.levels, effect.meaning, at_zero, effect.parts)
        )
    low, high = _interval(float(residual), np.sqrt(spread[0, 0]) / 2)
    held = [MEANINGS[part] for part in effects.in_residual if part not in SCREENS]
    meaning = ", and ".join([MEANINGS["residual"], *held])
    return (*components, VarianceComponent("residual", float(residual), low, high, rows, meaning))


def _interval(sd: float, error: float) -> tuple[float, float] | tuple[None, None]:
    """A 95% interval on the logarithmic scale; none where the likelihood is so flat that it would say nothing."""
    width = float(np.exp(min(NORMAL_95 * error, 50.0)))
    return (sd / width, sd * width) if width < _TELLS_NOTHING else (None, None)


# Systems over which people part.
#
# One variance of tastes serves all systems. One that some people like and others do not makes it larger: errors of all
# other systems are too wide then, and its own too small. So the system whose tastes exceed the common variance most, by
# the score statistic, gets a further variance, and keeps it if the restricted likelihood gains enough for the largest
# of all systems; then the next one is tried. A variance at its bound of 0 gains nothing in half of all cases, which
# makes the level 2 (.05) / systems (S. G. Self, K.-Y. Liang 1987. Journal of the American Statistical Association 82,
# 605-610).


PARTED_LEVEL = 0.05
FEWEST_ALIKE = 3
"""So many systems, and more than half of all, share a variance at least: what is common must be known from them."""
FEWEST_TASTES = 3
"""Fewer people who judged a system do not tell how much more they part over it: one is lost to the system's effect."""
MOST_TASTES = 1000
"""With more pairs of annotator and system than this, all systems share one variance."""
MOST_PARTED_ROWS = 200_000
"""With more scores, too."""
MOST_KEPT_ROWS = 60_000
"""With more scores, the equations with a further system parted are not remembered for the other reading."""
_ABOVE_ZERO = 1e-3
_ROUGHLY, _CLOSELY = 0.1, 1e-7
"""Tolerances of the search whether a system is parted, and with what variances in the end."""
_MOST_GAIN = 3.0
"""Of many campaigns none gained more likelihood than so many times the square of the statistic."""
_CANDIDATES = 6
"""So many systems by the first look, or a quarter of all, are looked at again: one that is parted hardly changes the
order of the others."""
_MOST_COLUMNS = 100
"""Tastes that are looked at together."""


def fit_parting(prepared: Prepared, *, most_rows: int = MOST_PARTED_ROWS) -> tuple[Prepared, MixedFit]:
    """Fit the design's own scores; systems over which people part more than over others get their own variance.

    Returns the equations with these variances besides, or the same where there is no such system.

    Args:
        prepared: with one variance of tastes.
        most_rows: with more scores, it stays so.
    """
    scale, standard = prepared.standardised(None)
    with one_thread():
        if len(standard) <= most_rows and _may_part(prepared):
            optimum = maximise(prepared.layout, standard, tolerance=_ROUGHLY)
            prepared, optimum = _part_systems(prepared, optimum, standard)
            closely = _CLOSELY if prepared.design.parted else TOLERANCE
            optimum = maximise(prepared.layout, standard, optimum, tolerance=closely)
        else:
            optimum = maximise(prepared.layout, standard)
        return prepared, _weighted(prepared, finished(prepared, optimum, scale), standard, scale)


def _part_systems(prepared: Prepared, optimum: Optimum, standard: Floats) -> tuple[Prepared, Optimum]:
    """Part one system after the other, as long as that is called for."""
    names = prepared.design.systems
    most = min((len(names) - 1) // 2, len(names) - FEWEST_ALIKE)
    candidates = np.arange(len(names))
    while len(prepared.design.parted) < most:
        statistic = parting_statistics(prepared, optimum.evaluation, standard, candidates)
        candidates = np.argsort(-statistic)[: max(_CANDIDATES, len(names) // 4)]
        system = int(candidates[0])
        excess = (statistic[system], names[system])
        if (parted := _parted(prepared, optimum, standard, *excess)) is None:
            break
        prepared, optimum = parted
    return prepared, optimum


def _parted(
    prepared: Prepared, optimum: Optimum, standard: Floats, statistic: float, system: str
) -> tuple[Prepared, Optimum] | None:
    """The model with a further system parted, that with the largest statistic; None where that is not called for."""
    least = float(normal_quantile(1 - PARTED_LEVEL / len(prepared.design.systems))) ** 2
    if statistic <= 0 or _MOST_GAIN * statistic**2 < least:
        return None
    wider = prepared.parting(system)
    ratios = optimum.evaluation.equations.ratios
    known = {effect.narrowest: float(ratio) for effect, ratio in zip(prepared.effects.kept, ratios, strict=True)}
    names = [effect.narrowest for effect in wider.effects.kept]
    # A variance that was estimated as 0 may not be so any more: the search begins well above.
    near = np.array([max(known.get(name, START_RATIO), _ABOVE_ZERO) for name in names])
    goal = optimum.evaluation.criterion - least
    found = maximise(wider.layout, standard, near, tolerance=_ROUGHLY, goal=goal)
    if abs(found.evaluation.criterion - goal) < 3 * _ROUGHLY:
        # So near the bound rough searches do not tell.
        before = maximise(prepared.layout, standard, optimum, tolerance=_CLOSELY)
        goal = before.evaluation.criterion - least
        found = maximise(wider.layout, standard, found, tolerance=_CLOSELY, goal=goal)
    return (wider, found) if found.converged and found.evaluation.criterion < goal else None


def _may_part(prepared: Prepared) -> bool:
    """Whether tastes are in the model by themselves, and the campaign is not too large to look at each."""
    design = prepared.design
    tastes = next((effect for effect in prepared.effects.plain if effect.parts == (TASTE,)), None)
    return (
        tastes is not None and tastes.levels <= MOST_TASTES and design.weight is None and not prepared.layout.iterative
    )


def parting_statistics(
    prepared: Prepared, evaluation: Evaluation, standard: Floats, candidates: NDArray[np.int64] | None = None
) -> Floats:
    """By how many standard deviations tastes for each system exceed what the variances explain.

    With z = Z'P y and G = Z'P Z for a system's tastes, (z'z - tr G) / sqrt(2 tr G^2): the slope of the restricted
    likelihood in a further variance of these, over its standard deviation. -inf for systems that are parted
    already, that too few people judged, or that are no candidates.
    """
    design = prepared.design
    rows, layout = design.stacked(), evaluation.equations.layout
    statistics = np.full(len(design.systems), -np.inf)
    assert rows.annotator_system is not None
    scores = totals(layout, standard[:, None])
    asked = range(len(design.systems)) if candidates is None else np.sort(candidates).tolist()
    tastes = {system: np.unique(rows.annotator_system[rows.system == system]) for system in asked}
    wanted = [
        system
        for system in asked
        if design.systems[system] not in design.parted and len(tastes[system]) >= FEWEST_TASTES
    ]
    for several in _in_portions(wanted, [len(tastes[system]) for system in wanted]):
        own = np.flatnonzero(np.isin(rows.system, several))
        levels = np.concatenate([tastes[system] for system in several])
        order = np.argsort(levels)
        place = order[np.searchsorted(levels[order], rows.annotator_system[own])]
        columns = indicator([place], len(own), len(levels))
        products = evaluation.equations.quadratic(_beside(scores, layout, own, columns, standard))
        ends = np.cumsum([1, *(len(tastes[system]) for system in several)]).tolist()
        for system, (first, last) in zip(several, pairwise(ends), strict=True):
            explained, found = products[first:last, first:last], products[0, first:last]
            variance = 2 * float((explained**2).sum())
            if variance > 0:
                excess = float(found @ found) / evaluation.residual_variance - float(np.trace(explained))
                statistics[system] = excess / np.sqrt(variance)
    return statistics


def _in_portions(wanted: Sequence[int], sizes: Sequence[int]) -> Iterator[list[int]]:
    """Consecutive ones, as many as have no more than `_MOST_COLUMNS` together, but at least one."""
    portion: list[int] = []
    total = 0
    for one, size in zip(wanted, sizes, strict=True):
        if portion and total + size > _MOST_COLUMNS:
            yield portion
            portion, total = [], 0
        portion.append(one)
        total += size
    if portion:
        yield portion


def _beside(scores: Totals, layout: Layout, rows: NDArray[np.int64], columns: csr_array, standard: Floats) -> Totals:
    """The totals of the scores and of sparse columns that are 0 but in some rows, which alone are looked at."""
    border, core, absorbed = (
        np.column_stack([known, (part[rows].T @ columns).toarray()])
        for known, part in (
            (scores.border, layout.border_rows),
            (scores.core, layout.core_rows),
            (scores.absorbed, layout.absorbed_rows),
        )
    )
    crossed = columns.T @ standard[rows]
    square = np.block([[scores.square, crossed[None, :]], [crossed[:, None], (columns.T @ columns).toarray()]])
    return Totals(border, core, absorbed, square)


FEW_ANNOTATORS = 2
"""Up to so many people, nothing can be said of what others would say."""


def notes_on(design: MixedDesign, effects: Effects, *, converged: bool) -> tuple[str, ...]:
    """Everything that is to be said, people first."""
    notes = [*_notes_on_people(design), *_notes_on_systems(design), *_notes_on_outputs(design)]
    notes += [
        f"{effect.effect}: {effect.reason}; the errors do not include it"
        for effect in effects.left_out
        if effect.cause.confounded
    ]
    if design.parted:
        notes.append(
            f"people part over {listed(design.parted)} more than over other systems: "
            f"{agreeing(len(design.parted), 'its', 'their')} errors are wider, those of others narrower"
        )
    if design.linking is not None:
        notes += design.linking.notes(design)
    if not converged:
        notes.append("the search for the variances did not converge: read standard errors with caution")
    return tuple(notes)


def _notes_on_systems(design: MixedDesign) -> Iterator[str]:
    """Say which systems one of several annotators alone judged."""
    if design.annotator is None:
        return
    seen = np.zeros((levels_of(design.annotator), len(design.systems)), dtype=bool)
    seen[design.annotator, design.system] = True
    # Annotators that stand for scores without a name are numbered after the others.
    yield from one_judge(design.systems, seen[: design.people], seen[design.people :])


def _notes_on_outputs(design: MixedDesign) -> Iterator[str]:
    """Say what unnamed outputs are taken for."""
    if not outputs_unnamed(design):
        return
    if unknown_outputs(design).any():
        taken = "all annotators are assumed to have judged the same outputs, so errors are large; name the segments"
    else:
        taken = "everyone scored each system once, which is taken as a score of the whole system"
    yield f"segments are not named: {taken}"


def _notes_on_people(design: MixedDesign) -> Iterator[str]:
    """Say for whom the verdict holds."""
    annotators = design.people
    if annotators == 0:
        yield "annotators are not named: scores of one annotator or page count as independent, so errors are too small"
    elif any(aside.reason == COPIES for aside in design.set_aside):
        yield "everyone gave the same scores, so all annotators count as one person; others may judge differently"
    elif annotators == 1:
        yield "only one annotator: the verdict holds for this annotator only, others may judge differently"
    elif annotators == FEW_ANNOTATORS:
        yield "only two annotators: the verdict holds for these people only, others may judge differently"
    elif annotators == FEW_ANNOTATORS + 1:
        yield "only three annotators: how far tastes differ is hardly known, so errors are large"
    elif not design.model.taste:
        yield "tastes of annotators are not in this model: the verdict holds for these annotators, not for others"
