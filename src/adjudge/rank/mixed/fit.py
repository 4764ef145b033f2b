"""Fitting the mixed model: system effects with their covariance, and where the spread of scores comes from.

With it goes what must be said of a fit: for whom it holds, on whom it rests, and what its errors leave out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.inclusion_weights import weights_note
from adjudge.core.maths import NORMAL_95
from adjudge.rank.mixed.degrees import (
    ContrastDegrees,
    contrast_degrees,
    degrees_of_tastes,
    degrees_of_texts,
    outputs_unnamed,
    satterthwaite,
    unknown_outputs,
    unknown_strictness,
)
from adjudge.rank.mixed.design import levels_of
from adjudge.rank.mixed.effects import MEANINGS, SMALLEST_RATIO, Effects, identify
from adjudge.rank.mixed.equations import totals
from adjudge.rank.mixed.layout import lay_out
from adjudge.rank.mixed.reml import Evaluation, Optimum, evaluate, maximise
from adjudge.rank.mixed.rows import COPIES
from adjudge.rank.mixed.weighted import weighted_effects
from adjudge.rank.relative_notes import one_judge
from adjudge.results.rank import LeftOut, VarianceComponent
from adjudge.work import one_thread

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from adjudge.core.arrays import Floats
    from adjudge.rank.mixed.design import MixedDesign
    from adjudge.rank.mixed.effects import Effects
    from adjudge.rank.mixed.layout import Layout


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
    def for_these_people_only(self) -> bool:
        """Whether so few people judged that nothing can be said of what others would say."""
        return 0 < self.annotators <= FEW_ANNOTATORS

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

    def __getstate__(self) -> dict[str, object]:
        # Equations are laid out again by the worker that needs them, and few do.
        return {name: value for name, value in vars(self).items() if name != "layout"}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state)

    def __getattr__(self, name: str) -> Layout:
        if name != "layout" or "effects" not in vars(self):
            raise AttributeError(name)
        layout = vars(self)["layout"] = _laid_out(self.design, self.effects)
        return layout

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
        scale, standard = self.standardised(score)
        with one_thread():
            evaluation = self._evaluated(standard, ratios)
            optimum = Optimum(evaluation, evaluation.equations.border.converged, 0)
            return _weighted(self, finished(self, optimum, scale), standard, scale)

    def effects_at(self, score: Floats | None, ratios: Mapping[str, float]) -> Floats:
        """Only the effects of `refit`; skips the cost of their standard errors."""
        if self.design.weight is not None:
            return self.refit(score, ratios).effects
        scale, standard = self.standardised(score)
        with one_thread():
            evaluation = self._evaluated(standard, ratios)
        return unscaled(evaluation, scale, len(self.design.systems))

    def _evaluated(self, standard: Floats, ratios: Mapping[str, float]) -> Evaluation:
        return evaluate(self.layout, totals(self.layout, standard[:, None]), np.log(self.effects.ratios(ratios)))

    def standardised(self, score: Floats | None) -> tuple[Scale, Floats]:
        """The scores, those of calibration items among them, with mean 0 and standard deviation 1."""
        scores = self.design.score if score is None else score
        linking = self.design.linking
        every = scores if linking is None else np.append(scores, linking.score)
        # Equal scores have no scale of their own; that nothing can be told from them is said further on.
        scale = Scale(float(every.mean()), float(every.std()) or 1.0)
        return scale, (every - scale.mean) / scale.sd


def prepare(design: MixedDesign) -> Prepared:
    """Lay out the equations, without looking at the scores."""
    effects = identify(design)
    return Prepared(design, effects, _laid_out(design, effects))


def _laid_out(design: MixedDesign, effects: Effects) -> Layout:
    rows = design.stacked()
    return lay_out(rows.system, len(rows.systems), effects.kept)


def fit(design: MixedDesign) -> MixedFit:
    """Fit the model by restricted maximum likelihood."""
    design.check()
    return prepare(design).fit()


def refit(design: MixedDesign, ratios: Mapping[str, float]) -> MixedFit:
    """Fit the model at known ratios of variances, as found by an earlier fit: quick, for resampling and audits."""
    design.check()
    return prepare(design).refit(None, ratios)


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
    of_tastes = degrees_of_tastes(design, effects)
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
    return replace(
        model,
        effects=weighted.effects * scale.sd + scale.mean,
        covariance=(weighted.covariance + unknown_strictness(design, prepared.effects)) * scale.sd**2,
        df=np.minimum(weighted.df, np.where(np.isinf(model.df), np.inf, degrees_of_tastes(design, prepared.effects))),
        notes=(*model.notes, *weights_note(design.weight)),
    )


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
        components.append(
            VarianceComponent(effect.name, sd, low, high, effect.levels, effect.meaning, at_zero, effect.parts)
        )
    low, high = _interval(float(residual), np.sqrt(spread[0, 0]) / 2)
    meaning = ", and ".join([MEANINGS["residual"], *(MEANINGS[part] for part in effects.in_residual)])
    return (*components, VarianceComponent("residual", float(residual), low, high, rows, meaning))


def _interval(sd: float, error: float) -> tuple[float, float] | tuple[None, None]:
    """A 95% interval on the logarithmic scale; none where the likelihood is so flat that it would say nothing."""
    width = float(np.exp(min(NORMAL_95 * error, 50.0)))
    return (sd / width, sd * width) if width < _TELLS_NOTHING else (None, None)


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
