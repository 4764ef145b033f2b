"""The model of a design, fitted once: what rankings and audits ask of it, and which way each answer is computed.

`Model` is all that the rest of the program needs: the fit to all scores, fits without each annotator or document, to
some of the rows, and with rows assigned to other systems, at the variances of the whole. There are few ways:

- Every fit eliminates Henderson's equations (`layout`, `equations`). Their border, what reaches across documents, is
  solved by a dense factor, or by conjugate gradients where it is large (`equations.equations_at` chooses).
- A fit without a unit changes the solution of the whole (`leaving_out`), which is exact. Where that would touch
  too many unknowns, or what is left has other effects, the rest is fitted like any other part.
- In large campaigns, units are left out nearly exactly, all at once (`large_leaving_out`), and a note says so.

A fit depends on nothing but the design, so what one has computed is the same for the next. The latest models are
remembered by the content of their design.
"""

from __future__ import annotations

import pickle
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from adjudge.mixed.design import combine
from adjudge.mixed.effects import degrees_of_part, identify, most_degrees
from adjudge.mixed.fit import MixedFit, PartFit, Prepared, fit_parting, prepare, system_covariance
from adjudge.mixed.large_leaving_out import NOTE, fits_without_each
from adjudge.mixed.leaving_out import LEAST_VARIANCE, Whole, most_degrees_without_each
from adjudge.table.errors import DataError
from adjudge.table.judgments import fingerprint, renumber
from adjudge.table.maths import Bools, Codes, Floats, difference_variances, two_sided
from adjudge.work.tasks import map_tasks, one_thread

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from adjudge.mixed.design import MixedDesign

Unit = Literal["annotator", "document", "text"]
MANY_ROWS = 200_000
"""Scores beyond which units are left out all at once, however few the unknowns, and no system is parted."""
Refit = MixedFit | PartFit
"""Either has systems, effects, covariance and df."""
MOST_ROWS = 300_000
"""Rows of all models that are remembered, if there are several; the equations of so many take about 200 MB."""
FEWEST_TEXTS, MOST_TEXTS, MOST_REFITTED_TEXTS = 5, 60, 20
"""Documents, or groups of them or of segments, that are left out in turn to measure how much texts matter."""
SURELY_SKEWED = 2.0
"""A skewness of texts of so many standard errors (of normal ones) is no chance: rare failures."""


@dataclass(frozen=True, eq=False)
class Jackknife:
    """What leaving out texts tells of errors."""

    se: Floats
    """(systems, systems), of differences; 0 where a system is in too few texts."""
    lean: Floats
    """How skewed the estimates of differences are, third cumulant / se^3; 0 where that may be chance."""
    from_mean: Floats
    """(systems,): errors of the distance of each system from the mean of all."""


def jackknife_of(effects: Floats) -> Jackknife:
    """The errors from the effects without each text, (texts, systems); NaN where one cannot be estimated."""
    se, lean = _moments(effects[:, :, None] - effects[:, None, :])
    return Jackknife(se, lean, _moments(effects - effects.mean(axis=1, keepdims=True))[0])


def _moments(changed: Floats) -> tuple[Floats, Floats]:
    """The error and the skewness of estimates that change so without each text."""
    known = (~np.isnan(changed)).sum(0)
    enough = known >= FEWEST_TEXTS
    number = np.where(enough, known, FEWEST_TEXTS).astype(np.float64)
    from_mean = changed - np.nansum(changed, axis=0) / number
    second, third = (np.nansum(from_mean**power, axis=0) / number for power in (2, 3))
    # What a text says is the change without it with the sign turned.
    skewness = -third / np.where(second > 1e-100, second, 1.0) ** 1.5
    by_chance = np.sqrt(6 * number * (number - 1) / ((number - 2) * (number + 1) * (number + 3)))
    skewed = enough & (np.abs(skewness) > SURELY_SKEWED * by_chance)
    return np.sqrt(np.where(enough, (number - 1) * second, 0.0)), np.where(skewed, skewness / np.sqrt(number), 0.0)


@dataclass(eq=False)
class Model:
    """A design with its equations laid out, the fit to all of it, and the fits without a unit that were asked for."""

    prepared: Prepared
    fitted: MixedFit
    without: dict[tuple[Unit, int], Refit | None] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, object]:
        # What a worker needs of the fits without a unit, it computes itself.
        return {"prepared": self.prepared, "fitted": self.fitted, "without": {}}

    @property
    def design(self) -> MixedDesign:
        """What the model is fitted to."""
        return self.prepared.design

    @cached_property
    def predictions(self) -> dict[tuple[str, ...], Floats]:
        """What each effect is predicted to add to the score of every row, by the effect's parts.

        Over the rows of a system their means add up to the mean score less the system's effect, because the residuals
        of a system have the mean 0 (not so where segments are weighted).
        """
        return self.prepared.predictions(self.fitted.ratios)

    @cached_property
    def _raw_weight(self) -> Floats:
        """The weight of each row in the raw mean of its system: an output counts once, or as often as it stands for."""
        design = self.design
        output = np.arange(len(design)) if design.segment is None else combine(design.system, design.segment)
        weight = 1 / np.bincount(output)[output] * (1.0 if design.weight is None else design.weight)
        return np.asarray(weight / np.bincount(design.system, weight)[design.system])

    def over_rows(self, value: Floats) -> Floats:
        """The mean over the rows of each system, weighed as in raw means."""
        by_system = np.bincount(self.design.system, self._raw_weight * value, minlength=len(self.design.systems))
        return np.asarray(by_system, dtype=np.float64)

    def part_of_means(self, *effects: str) -> Floats:
        """What effects of these first names are predicted to add to the raw means of systems; `A (x)` belongs to A."""
        added = [
            self.over_rows(value) for names, value in self.predictions.items() if names[0].split(" (")[0] in effects
        ]
        return np.asarray(np.sum([np.zeros(len(self.design.systems)), *added], axis=0))

    def codes(self, unit: Unit) -> Codes | None:
        """The annotator or document of each row."""
        return unit_codes(self.design, unit)

    def part(self, rows: Bools) -> MixedFit:
        """The fit to some of the rows, at the variances of the whole; refuses rows that no model can rank."""
        design = self.design.subset(rows)
        design.check()
        return prepare(design, self.fitted.ratios).refit(None, self.fitted.ratios)

    def effects_of(self, rows: Bools) -> Floats:
        """The effects alone in a fit to some of the rows, by system of the whole; NaN for those that have none."""
        part, whole = self.design.subset(rows), np.full(len(self.design.systems), np.nan)
        places = [self.design.systems.index(name) for name in part.systems]
        try:
            whole[places] = prepare(part, self.fitted.ratios).effects_at(None, self.fitted.ratios)
        except DataError:
            # A part that the model cannot order, such as one of equal scores, has no order by it.
            whole[:] = np.nan
        return whole

    def parts(self, parts: Sequence[Bools]) -> list[MixedFit | None]:
        """The fit to each of these parts of the rows; None where it has no answer."""
        return map_tasks(self._part_or_none, parts, what="parts of the data")

    def _part_or_none(self, rows: Bools) -> MixedFit | None:
        try:
            return self.part(rows)
        except DataError:
            return None

    def effects_of_parts(self, parts: Sequence[Bools], *, what: str) -> list[Floats]:
        """Only the effects, of all systems; NaN for a system that a part has none of."""
        return map_tasks(self.effects_of, parts, what=what)

    def p_of_halves(self, half: Codes, systems: Codes) -> Floats:
        """The p-value that the halves of each of these systems differ; `half` is 0 or 1 for every row."""
        design = self.design
        # Every system is two, in order; one that is not split stays as it is.
        divided = 2 * design.system + half
        sides = np.flatnonzero(np.bincount(divided))
        names = tuple(f"{design.systems[side // 2]} {'AB'[side % 2]}" for side in sides)
        halves = design.with_systems(renumber(divided), names, design.human[sides // 2])
        fitted = prepare(halves, self.fitted.ratios).refit(None, self.fitted.ratios)
        first = np.searchsorted(sides, 2 * systems)
        pairs = (first, first + 1)
        difference = fitted.effects[first] - fitted.effects[first + 1]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = difference / np.sqrt(np.maximum(difference_variances(fitted.covariance)[pairs], 0.0))
        return two_sided(ratio, fitted.df[pairs])

    def jackknife(self) -> Jackknife | None:
        """How all differences change without each document; None where there are too few texts.

        The model takes all systems to vary alike. A system that fails on some documents varies more than that, which
        the documents themselves show (the jackknife with groups of documents deleted in turn).
        """
        texts = self.codes("text")
        return None if texts is None else jackknife_of(self._effects_without_each(texts))

    def _effects_without_each(self, texts: Codes) -> Floats:
        """The effects without each text: (texts, systems); NaN where one cannot be estimated."""
        number, names = int(texts.max()) + 1, self.design.systems
        effects = np.full((number, len(names)), np.nan)
        judged = np.zeros((number, len(names)), dtype=np.int64)
        np.add.at(judged, (texts, self.design.system), 1)
        complete = (judged.sum(0) - judged > 0).all(1)
        if complete.any() and not self.all_at_once:
            effects[complete] = self._fits_without.effects(texts, np.flatnonzero(complete))
        rest = np.flatnonzero(np.isnan(effects).any(1)).tolist()
        for code, without in zip(rest, self.leave_out("text", rest) if rest else (), strict=True):
            if without is not None:
                effects[code, [names.index(name) for name in without.systems]] = without.effects
        return effects

    def leave_out(self, unit: Unit, left_out: Iterable[int]) -> list[Refit | None]:
        """The fit without each of these units, at the variances of the whole; None where the rest cannot be ranked."""
        wanted = [(unit, int(code)) for code in left_out]
        if self.all_at_once and not all(key in self.without for key in wanted):
            self.without.update(self._without_each(unit))
        missing = [key for key in wanted if key not in self.without]
        fits = map_tasks(self._fits_without, missing, what=f"leaving out each {unit}")
        self.without.update(zip(missing, fits, strict=True))
        return [self.without[key] for key in wanted]

    @property
    def all_at_once(self) -> bool:
        """Whether units are left out by `large_leaving_out`: the campaign is too large for a fit without each."""
        large = self.prepared.layout.iterative or len(self.design) > MANY_ROWS
        return large and self.design.linking is None and self.design.weight is None

    @property
    def left_out_notes(self) -> tuple[str, ...]:
        """What must be said with fits without a unit."""
        return (NOTE,) if self.all_at_once else ()

    @cached_property
    def _fits_without(self) -> FitsWithout:
        return FitsWithout(self.prepared, self.fitted, _content(self.design))

    def _without_each(self, unit: Unit) -> dict[tuple[Unit, int], Refit | None]:
        codes = self.codes(unit)
        if codes is None:
            return {}
        with one_thread():
            fits = fits_without_each(self.prepared, self.fitted, codes)
        return {(unit, code): fitted for code, fitted in fits.items()}


def unit_codes(design: MixedDesign, unit: Unit) -> Codes | None:
    """The annotator or document of each row, or the text for the jackknife."""
    if unit == "text":
        return _texts(design)
    return design.annotator if unit == "annotator" else design.document


def _texts(design: MixedDesign) -> Codes | None:
    """The document of each row, or its segment where there are too few documents, in a limited number of groups."""
    exact = design.linking is None and design.weight is None
    for codes in (design.document, design.segment):
        if codes is not None and int(codes.max()) + 1 >= FEWEST_TEXTS:
            return renumber(codes % (MOST_TEXTS if exact else MOST_REFITTED_TEXTS))
    return None


class FitsWithout:
    """Fits without an annotator or a document, made from the solution for the whole where that is possible."""

    def __init__(self, prepared: Prepared, fitted: MixedFit, key: str = "") -> None:
        self.prepared = prepared
        self.fitted = fitted
        self.key = key
        """By which a worker knows that its next tasks are of the same model; nothing is remembered without it."""
        self._bounds: dict[Unit, Floats] = {}

    def __getstate__(self) -> dict[str, object]:
        # Workers factor the equations sooner than they would receive them.
        return {"prepared": self.prepared, "fitted": self.fitted, "key": self.key, "_bounds": self._bounds}

    def __call__(self, left_out: tuple[Unit, int]) -> Refit | None:
        """The fit without a unit; None where the rest cannot be ranked at all, which is another audit's subject."""
        unit, code = left_out
        codes = unit_codes(self.prepared.design, unit)
        if codes is None:
            return None
        try:
            with one_thread():
                return self._by_counts(unit, codes, code) or self.refit(codes != code)
        except DataError:
            return None

    @property
    def _from_whole(self) -> bool:
        """Whether the solution for the whole can be had without some rows."""
        design = self.prepared.design
        return design.linking is None and design.weight is None and not self.prepared.layout.iterative

    def _by_counts(self, unit: Unit, codes: Codes, code: int) -> PartFit | None:
        """The fit without a unit, if counts tell that what is left has the systems and effects of the whole."""
        if not self._from_whole:
            return None
        design, effects = self.prepared.design, self.prepared.effects
        if unit not in self._bounds:
            ratios = effects.ratios(self.fitted.ratios)
            self._bounds[unit] = most_degrees_without_each(design, effects, ratios, codes)
        most = self._bounds[unit][code]
        remainder = None if np.isnan(most) else self._whole.without(codes == code)
        if remainder is None or remainder.variance < LEAST_VARIANCE:
            return None
        scale = self.prepared.standardised(None)[0]
        relative = (remainder.relative + remainder.relative.T) / 2
        return PartFit(
            systems=design.systems,
            effects=remainder.effects * scale.sd + scale.mean,
            covariance=relative * remainder.variance * scale.sd**2,
            df=degrees_of_part(self.fitted.df, float(most)),
        )

    def effects(self, unit: Codes, chosen: Codes) -> Floats:
        """The effects alone without each of the chosen units: (chosen, systems); NaN where that takes a new fit."""
        if not self._from_whole:
            return np.full((len(chosen), len(self.prepared.design.systems)), np.nan)
        scale = self.prepared.standardised(None)[0]
        with one_thread():
            return np.asarray(self._whole.effects_without(unit, chosen) * scale.sd + scale.mean)

    def refit(self, rows: Bools) -> PartFit:
        """The fit to the marked rows, whatever they are."""
        whole = self.prepared
        design = whole.design.subset(rows)
        design.check()
        effects = identify(design)
        places = [self.fitted.systems.index(system) for system in design.systems]
        most = most_degrees(design, effects, effects.ratios(self.fitted.ratios))
        degrees = degrees_of_part(self.fitted.df[np.ix_(places, places)], most)
        # Rows of a linked design stand for several each, so that effects are compared only where the whole can be used.
        alike = self._from_whole and design.systems == whole.design.systems and whole.effects.alike(effects, rows)
        remainder = self._whole.without(~rows) if alike else None
        if remainder is None or remainder.variance < LEAST_VARIANCE:
            anew = prepare(design, self.fitted.ratios).refit(None, self.fitted.ratios)
            return PartFit(anew.systems, anew.effects, anew.covariance, degrees)
        scale = whole.standardised(None)[0]
        covariance = system_covariance(design, effects, remainder.relative, remainder.variance, scale)
        return PartFit(design.systems, remainder.effects * scale.sd + scale.mean, covariance, degrees)

    @cached_property
    def _whole(self) -> Whole:
        if self.key and self.key in _WHOLES:
            return _WHOLES[self.key]
        ratios = self.prepared.effects.ratios(self.fitted.ratios)
        whole = Whole(self.prepared.layout, ratios, self.prepared.standardised(None)[1])
        _WHOLES.clear()
        _WHOLES[self.key] = whole
        return whole


_MODELS: OrderedDict[str, Model] = OrderedDict()
_WHOLES: dict[str, Whole] = {}
"""That of the latest model, since a worker gets its tasks in several pieces."""


def model_of(design: MixedDesign) -> Model:
    """The model of a design; the same object for the same content, as long as it is remembered."""
    key = _content(design)
    if key not in _MODELS:
        design.check()
        _MODELS[key] = Model(*fit_parting(_prepared(design), most_rows=MANY_ROWS))
    _MODELS.move_to_end(key)
    while len(_rows_by_layout()) > 1 and sum(_rows_by_layout().values()) > MOST_ROWS:
        _MODELS.popitem(last=False)
    return _MODELS[key]


def _prepared(design: MixedDesign) -> Prepared:
    """The design with its equations laid out; those of a remembered design that differs in its scores alone."""
    for model in _MODELS.values():
        known = model.prepared.plain or model.prepared
        if _differs_in_scores_alone(known.design, design):
            return known.with_scores_of(design)
    return prepare(design)


def _differs_in_scores_alone(design: MixedDesign, other: MixedDesign) -> bool:
    """Whether two designs have the same equations but for the scores."""
    if design.linking is not None or other.linking is not None or design.model.taste != other.model.taste:
        return False
    scores = ("score", "given", "model")
    fields = [(getattr(design, name), getattr(other, name)) for name in vars(design) if name not in scores]
    return all(_same(first, second) for first, second in fields)


def _same(first: object, second: object) -> bool:
    """Whether two fields of designs are equal; what one of them does not know is no array."""
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        return np.array_equal(first, second)
    return not isinstance(first, np.ndarray) and not isinstance(second, np.ndarray) and first == second


def _rows_by_layout() -> dict[int, int]:
    """The rows of each layout that is remembered; several models may share one."""
    return {id(model.prepared.layout): len(model.prepared.design) for model in _MODELS.values()}


def forget_models() -> None:
    """Remember nothing, for those who measure time."""
    _MODELS.clear()
    _WHOLES.clear()


def _content(design: MixedDesign) -> str:
    """What the fit depends on: scores, codes and systems, calibration items among them."""
    return fingerprint(pickle.dumps(vars(design)), digits=32)
