"""Fitting the mixed model: system effects with their covariance, and where the spread of scores comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.maths import NORMAL_95
from adjudge.rank.mixed.effects import MEANINGS, SMALLEST_RATIO, Effects, identify
from adjudge.rank.mixed.layout import lay_out
from adjudge.rank.mixed.leaving_out import without
from adjudge.rank.mixed.reml import Evaluation, Optimum, evaluate, maximise
from adjudge.results.components import LeftOut, VarianceComponent

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

    from adjudge.core.arrays import Floats
    from adjudge.rank.mixed.design import MixedDesign
    from adjudge.rank.mixed.layout import Layout


FEW_ANNOTATORS = 2
# An interval from a thousandth to a thousand times the estimate.
_TELLS_NOTHING = 1000.0
_FLAT = 1e-9
"""Directions in which the likelihood is flatter than this, compared with the steepest, say nothing of the variances."""


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
    """Variance over residual variance, by effect: what `refit` takes."""
    left_out: tuple[LeftOut, ...]
    loglik: float | None
    """The restricted log-likelihood; None where the campaign is too large to compute it."""
    converged: bool
    iterations: int
    exact: bool
    """False where conjugate gradients and simulated traces were used, above `border.DENSE_LIMIT` border unknowns."""
    notes: tuple[str, ...]

    @property
    def se(self) -> Floats:
        """The standard error of each effect."""
        return np.sqrt(np.diag(self.covariance))


@dataclass(frozen=True)
class _Scale:
    """Scores are fitted with mean 0 and standard deviation 1, so that rounding is the same for every scale."""

    mean: float
    sd: float


@dataclass(frozen=True, eq=False)
class Prepared:
    """A design whose equations are laid out, for fits with several kinds of scores or variances."""

    design: MixedDesign
    effects: Effects
    layout: Layout

    def fit(self, score: Floats) -> MixedFit:
        """Fit by restricted maximum likelihood."""
        scale, standard = _standardised(score)
        with _one_thread():
            return _finished(self, maximise(self.layout, standard), scale)

    def part(self, rows: NDArray[np.bool_]) -> Prepared:
        """The marked rows alone; quick where nearly all are marked. Refuses what no model can answer."""
        design = self.design.subset(rows)
        design.check()
        effects = identify(design)
        layout = without(self.layout, rows) if self.effects.alike(effects, rows) else None
        return Prepared(design, effects, layout or _laid_out(design, effects))

    def refit(self, score: Floats, ratios: Mapping[str, float]) -> MixedFit:
        """Fit at known ratios of variances."""
        scale, standard = _standardised(score)
        with _one_thread():
            evaluation = evaluate(self.layout, standard, np.log(self.effects.ratios(ratios)))
            return _finished(self, Optimum(evaluation, evaluation.equations.border.converged, 0), scale)

    def effects_at(self, score: Floats, ratios: Mapping[str, float]) -> Floats:
        """The effects of `refit` alone, without what their errors take."""
        scale, standard = _standardised(score)
        with _one_thread():
            evaluation = evaluate(self.layout, standard, np.log(self.effects.ratios(ratios)))
        return _in_points(evaluation, scale)


def prepare(design: MixedDesign) -> Prepared:
    """Lay out the equations, without looking at the scores."""
    effects = identify(design)
    return Prepared(design, effects, _laid_out(design, effects))


def _laid_out(design: MixedDesign, effects: Effects) -> Layout:
    return lay_out(design.system, len(design.systems), effects.kept)


def fit(design: MixedDesign) -> MixedFit:
    """Fit the model by restricted maximum likelihood."""
    design.check()
    return prepare(design).fit(design.score)


def refit(design: MixedDesign, ratios: Mapping[str, float]) -> MixedFit:
    """Fit the model at known ratios of variances, as found by an earlier fit: quick, for resampling and audits."""
    design.check()
    return prepare(design).refit(design.score, ratios)


def _one_thread() -> AbstractContextManager[object]:
    """Many small matrices: threads of the linear algebra library would spend their time waiting for each other."""
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[object] = threadpool_limits(1, user_api="blas")
    return limits


def _standardised(score: Floats) -> tuple[_Scale, Floats]:
    # Equal scores have no scale of their own; that nothing can be told from them is said further on.
    scale = _Scale(float(score.mean()), float(score.std()) or 1.0)
    return scale, (score - scale.mean) / scale.sd


def _in_points(evaluation: Evaluation, scale: _Scale) -> Floats:
    """System effects in the unit of the scores."""
    effects: Floats = evaluation.solution.border[: evaluation.equations.layout.systems, 0] * scale.sd + scale.mean
    return effects


def _finished(prepared: Prepared, optimum: Optimum, scale: _Scale) -> MixedFit:
    design, effects = prepared.design, prepared.effects
    evaluation = optimum.evaluation
    equations, k = evaluation.equations, len(design.systems)
    inverse = equations.system_inverse()
    variance = evaluation.residual_variance
    relative = inverse.border[:k]
    crossed = [part.T @ part for part in equations.by_effect(inverse)]
    spread = _parameter_covariance(evaluation)
    exact = not equations.layout.iterative
    shift = 2 * evaluation.freedom * np.log(scale.sd)
    return MixedFit(
        systems=design.systems,
        human=design.human,
        n=np.bincount(design.system, minlength=k),
        effects=_in_points(evaluation, scale),
        covariance=(relative + relative.T) / 2 * variance * scale.sd**2,
        df=_degrees(relative, crossed, evaluation, spread),
        components=_components(effects, evaluation, spread, scale.sd, len(design)),
        ratios={effect.name: float(ratio) for effect, ratio in zip(effects.kept, equations.ratios, strict=True)},
        left_out=effects.left_out,
        loglik=float(-(evaluation.criterion + shift) / 2) if exact else None,
        converged=optimum.converged,
        iterations=optimum.steps,
        exact=exact,
        notes=_notes(design, effects, optimum),
    )


def _parameter_covariance(evaluation: Evaluation) -> Floats:
    """The covariance of (log residual variance, log ratios...); zero for ratios at their smallest."""
    scale = np.sqrt(np.maximum(np.diag(evaluation.information), 0.0))
    free = np.append(True, evaluation.equations.ratios > 2 * SMALLEST_RATIO) & (scale > 0)
    unit = evaluation.information[np.ix_(free, free)] / np.outer(scale[free], scale[free])
    # The criterion is -2 log likelihood, so its curvature is twice the information.
    # Away from the optimum it may bend the wrong way, and such directions say nothing of the variances either.
    bend, direction = np.linalg.eigh(unit)
    sure = bend > _FLAT * bend.max(initial=0.0)
    inverse = 2 * (direction[:, sure] / bend[sure]) @ direction[:, sure].T
    covariance = np.zeros_like(evaluation.information)
    covariance[np.ix_(free, free)] = inverse / np.outer(scale[free], scale[free])
    return covariance


def _degrees(relative: Floats, crossed: list[Floats], evaluation: Evaluation, spread: Floats) -> Floats:
    """Satterthwaite's degrees of freedom, 2 v^2 / Var(v), for the estimated variance v of a difference; at least 1.

    F. E. Satterthwaite (1946): An approximate distribution of estimates of variance components. Biometrics Bulletin 2,
    110-114. Var(v) by the delta method from the covariance of the variance parameters, as in F. G. Giesbrecht and
    J. C. Burns (1985): Two-stage analysis based on a mixed model. Biometrics 41, 477-486.
    """
    own = _of_differences(relative)
    slopes = [own] + [
        penalty * _of_differences(part) for penalty, part in zip(evaluation.equations.penalty, crossed, strict=True)
    ]
    slope = np.stack(slopes, axis=-1)
    variance = np.einsum("ijk,kl,ijl->ij", slope, spread, slope)
    with np.errstate(divide="ignore", invalid="ignore"):
        degrees = np.maximum(np.where(variance > 0, 2 * own**2 / variance, np.inf), 1.0)
    np.fill_diagonal(degrees, np.inf)
    return degrees


def _of_differences(covariance: Floats) -> Floats:
    """The variance of every difference."""
    own = np.diag(covariance)
    differences: Floats = own[:, None] + own[None, :] - covariance - covariance.T
    return differences


def _components(
    effects: Effects, evaluation: Evaluation, spread: Floats, unit: float, rows: int
) -> tuple[VarianceComponent, ...]:
    residual = np.sqrt(evaluation.residual_variance) * unit
    components = []
    for number, (effect, ratio) in enumerate(zip(effects.kept, evaluation.equations.ratios, strict=True), start=1):
        at_zero = bool(ratio <= 2 * SMALLEST_RATIO)
        # The log of the variance is the sum of two parameters.
        error = np.sqrt(max(spread[0, 0] + 2 * spread[0, number] + spread[number, number], 0.0)) / 2
        sd = 0.0 if at_zero else float(np.sqrt(ratio) * residual)
        low, high = (None, None) if at_zero else _interval(sd, error)
        components.append(VarianceComponent(effect.name, sd, low, high, effect.levels, effect.meaning, at_zero))
    low, high = _interval(float(residual), np.sqrt(spread[0, 0]) / 2)
    meaning = ", and ".join([MEANINGS["residual"], *(MEANINGS[part] for part in effects.in_residual)])
    return (*components, VarianceComponent("residual", float(residual), low, high, rows, meaning))


def _interval(sd: float, error: float) -> tuple[float, float] | tuple[None, None]:
    """A 95% interval on the logarithmic scale; none where the likelihood is so flat that it would say nothing."""
    width = float(np.exp(min(NORMAL_95 * error, 50.0)))
    return (sd / width, sd * width) if width < _TELLS_NOTHING else (None, None)


def _notes(design: MixedDesign, effects: Effects, optimum: Optimum) -> tuple[str, ...]:
    notes = []
    annotators = 0 if design.annotator is None else int(design.annotator.max()) + 1
    if annotators == 1:
        notes.append("one annotator only: the verdict holds for this annotator, others may judge otherwise")
    elif annotators == FEW_ANNOTATORS:
        notes.append("two annotators only: the verdict holds for these two, others may judge otherwise")
    elif annotators == 0:
        notes.append(
            "annotators are not named: scores of one annotator or page count as unrelated, so errors are too small"
        )
    notes += [
        f"{effect.effect}: {effect.reason}; the errors do not include it"
        for effect in effects.left_out
        if "cannot be told apart" in effect.reason
    ]
    if not optimum.converged:
        notes.append("the search for the variances did not converge: read standard errors with caution")
    return tuple(notes)
