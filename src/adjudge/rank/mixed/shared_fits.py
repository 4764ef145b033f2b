"""Fits that a ranking and the audits of it share: of the whole data, and without each annotator or document.

A fit depends on nothing but the design, so what one has computed is the same for the next. The latest models are
remembered by the content of their design.
"""

from __future__ import annotations

import pickle
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from adjudge.core.errors import DataError
from adjudge.core.fingerprint import fingerprint
from adjudge.rank.contrasts import contrasts, two_sided
from adjudge.rank.mixed.degrees import degrees_of_part, most_degrees
from adjudge.rank.mixed.effects import identify
from adjudge.rank.mixed.fit import MixedFit, Prepared, prepare, system_covariance, unscaled
from adjudge.rank.mixed.known_ratios.cells import cells_of
from adjudge.rank.mixed.known_ratios.large_model import LargeModel
from adjudge.rank.mixed.known_ratios.model import KnownFit, KnownModel
from adjudge.rank.mixed.leaving_out.cells import CellsLeftOut
from adjudge.rank.mixed.leaving_out.each_unit import NOTE, fits_without_each
from adjudge.rank.mixed.leaving_out.rows import Whole
from adjudge.work import map_tasks, one_thread

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from adjudge.core.arrays import Bools, Codes, Floats
    from adjudge.rank.mixed.design import MixedDesign
    from adjudge.rank.mixed.fit import Scale

Unit = Literal["annotator", "document"]
MANY_ROWS = 200_000
"""Scores beyond which units are left out all at once, however few the unknowns."""
Refit = MixedFit | KnownFit
"""Either has systems, effects, covariance and df."""
MOST_ROWS = 300_000
"""Rows of all models that are remembered, if there are several; the equations of so many take about 200 MB."""


@dataclass(eq=False)
class Model:
    """A design with its equations laid out, the fit to all of it, and the fits without a unit that were asked for."""

    prepared: Prepared
    fitted: MixedFit
    without: dict[tuple[Unit, int], Refit | None] = field(default_factory=dict)

    @cached_property
    def known(self) -> KnownModel | None:
        """The model by cells at the variances of the whole; None where cells are no use."""
        return known_model(self.prepared, self.fitted)

    @cached_property
    def _fits_without(self) -> FitsWithout:
        return FitsWithout(self.prepared, self.fitted, _content(self.prepared.design))

    def codes(self, unit: Unit) -> Codes | None:
        """The annotator or document of each row."""
        return self.prepared.design.annotator if unit == "annotator" else self.prepared.design.document

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
        """Whether units are left out by `leaving_out.each_unit`: the campaign is too large for a fit without each."""
        design = self.prepared.design
        large = self.prepared.layout.iterative or len(design) > MANY_ROWS
        return large and design.linking is None and design.weight is None

    def parts(self, parts: Sequence[Bools]) -> list[Refit | None]:
        """The fit to each of these parts of the rows, at the variances of the whole; None where it has no answer."""
        fit = partial(_fit_or_none, self.prepared, self.fitted, self.known)
        return map_tasks(fit, parts, what="parts of the data")

    def effects_of_parts(self, parts: Sequence[Bools], *, what: str) -> list[Floats]:
        """Only the effects, of all systems; NaN for a system that a part has none of."""
        fit = partial(_effects_of_part, self.prepared.design, self.fitted.ratios, self.known)
        return map_tasks(fit, parts, what=what)

    def p_of_halves(self, half: Codes, systems: Codes) -> Floats:
        """The p-value that the halves of each of these systems differ; `half` is 0 or 1 for every row."""
        design = self.prepared.design
        # Every system is two, in order; one that is not split stays as it is.
        sides, system = np.unique(2 * design.system + half, return_inverse=True)
        names = tuple(f"{design.systems[side // 2]} {'AB'[side % 2]}" for side in sides)
        halves = design.with_systems(system, names, design.human[sides // 2])
        first = np.searchsorted(sides, 2 * systems)
        pairs = (first, first + 1)
        by_cell = None if self.known is None else self.known.cells.values_of(halves.system)
        if self.known is not None and by_cell is not None:
            with one_thread():
                differences = self.known.differences(by_cell, halves.systems, halves.human, pairs=pairs)
            if differences is not None:
                with np.errstate(divide="ignore", invalid="ignore"):
                    t = differences.difference / np.sqrt(np.maximum(differences.variance, 0.0))
                return two_sided(t, differences.df)
        fitted = prepare(halves).refit(halves.score, self.fitted.ratios)
        return contrasts(fitted.effects, fitted.covariance, fitted.df).two_sided[pairs]

    @property
    def left_out_notes(self) -> tuple[str, ...]:
        """What must be said with fits without a unit."""
        return (NOTE,) if self.all_at_once else ()

    def _without_each(self, unit: Unit) -> dict[tuple[Unit, int], Refit | None]:
        codes = self.codes(unit)
        if codes is None:
            return {}
        with one_thread():
            fits = fits_without_each(self.prepared, self.fitted, codes)
        return {(unit, code): fitted for code, fitted in fits.items()}


def known_model(prepared: Prepared, fitted: MixedFit) -> KnownModel | None:
    """A fitted model by cells, at its variances; None where cells are no use."""
    scale, standard = prepared.standardised(prepared.design.score)
    cells = cells_of(prepared, standard)
    if cells is None:
        return None
    kind = LargeModel if cells.large else KnownModel
    return kind(cells, prepared.effects, prepared.effects.ratios(fitted.ratios), scale)


def fit_to_part(prepared: Prepared, fitted: MixedFit, known: KnownModel | None, rows: Bools) -> Refit:
    """The fit to some of the rows, at the variances of the whole; by cells where these suffice."""
    kept = None if known is None else known.cells.whole(rows)
    if known is not None and kept is not None:
        with one_thread():
            by_cells = known.part(kept)
        if by_cells is not None:
            return by_cells
    return prepared.part(rows).refit(prepared.design.score[rows], fitted.ratios)


def _fit_or_none(prepared: Prepared, fitted: MixedFit, known: KnownModel | None, rows: Bools) -> Refit | None:
    try:
        return fit_to_part(prepared, fitted, known, rows)
    except DataError:
        return None


def _effects_of_part(design: MixedDesign, ratios: Mapping[str, float], known: KnownModel | None, rows: Bools) -> Floats:
    kept = None if known is None else known.cells.whole(rows)
    estimated = None
    if known is not None and kept is not None:
        with one_thread():
            estimated = known.effects_of_part(kept)
    if estimated is None:
        part = design.subset(rows)
        # A part that the model cannot order, such as one of equal scores, has no order by it.
        with suppress(DataError):
            estimated = part.systems, prepare(part).effects_at(part.score, ratios)
    whole = np.full(len(design.systems), np.nan)
    if estimated is not None:
        whole[[design.systems.index(name) for name in estimated[0]]] = estimated[1]
    return whole


class FitsWithout:
    """Fits without an annotator or a document, made from the solution for the whole where that is possible."""

    def __init__(self, prepared: Prepared, fitted: MixedFit, key: str = "") -> None:
        self.prepared = prepared
        self.fitted = fitted
        self.key = key
        """By which a worker knows that its next tasks are of the same model; nothing is remembered without it."""

    def __getstate__(self) -> dict[str, object]:
        # Workers factor the equations sooner than they would receive them.
        return {"prepared": self.prepared, "fitted": self.fitted, "key": self.key}

    def __call__(self, left_out: tuple[Unit, int]) -> Refit | None:
        """The fit without a unit; None where the rest cannot be ranked at all, which is another audit's subject."""
        unit, code = left_out
        design = self.prepared.design
        codes = design.annotator if unit == "annotator" else design.document
        if codes is None:
            return None
        try:
            return self.by_cells(codes != code) or self.refit(codes != code)
        except DataError:
            return None

    def by_cells(self, rows: Bools) -> KnownFit | None:
        """The fit to the marked rows by cells; None where these do not suffice."""
        left_out = self._cells_left_out
        kept = None if left_out is None else left_out.model.cells.whole(rows)
        if left_out is None or kept is None:
            return None
        with one_thread():
            return left_out.part(kept)

    def refit(self, rows: Bools) -> KnownFit:
        """The fit to the marked rows by the equations of the whole."""
        prepared, ratios = self.prepared, self.fitted.ratios
        design = prepared.design.subset(rows)
        design.check()
        effects = identify(design)
        places = [self.fitted.systems.index(system) for system in design.systems]
        degrees = degrees_of_part(self.fitted.df[np.ix_(places, places)], most_degrees(design, effects))
        plain = prepared.design.linking is None and prepared.design.weight is None and not prepared.layout.iterative
        with one_thread():
            evaluation = self._whole.without(rows) if plain and prepared.effects.alike(effects, rows) else None
            if evaluation is None:
                anew = prepared.part(rows).refit(design.score, ratios)
                return KnownFit(anew.systems, anew.effects, anew.covariance, degrees)
            part, scale = Prepared(design, effects, evaluation.equations.layout), self._standardised[0]
            systems = len(design.systems)
            relative = evaluation.equations.system_inverse().border[:systems, :systems]
        covariance = system_covariance(part, evaluation, relative, scale)
        return KnownFit(design.systems, unscaled(evaluation, scale, systems), covariance, degrees)

    @cached_property
    def _cells_left_out(self) -> CellsLeftOut | None:
        if self.key and self.key in _LEFT_OUT:
            return _LEFT_OUT[self.key]
        known = known_model(self.prepared, self.fitted)
        with one_thread():
            left_out = None if known is None or known.cells.large else CellsLeftOut(known, self.fitted.df)
        _LEFT_OUT.clear()
        _LEFT_OUT[self.key] = left_out
        return left_out

    @cached_property
    def _standardised(self) -> tuple[Scale, Floats]:
        return self.prepared.standardised(self.prepared.design.score)

    @cached_property
    def _whole(self) -> Whole:
        ratios = self.prepared.effects.ratios(self.fitted.ratios)
        return Whole(self.prepared.layout, ratios, self._standardised[1])


_MODELS: OrderedDict[str, Model] = OrderedDict()
_LEFT_OUT: dict[str, CellsLeftOut | None] = {}
"""That of the latest model, since a worker gets its tasks in several pieces."""


def model_of(design: MixedDesign) -> Model:
    """The model of a design; the same object for the same content, as long as it is remembered."""
    key = _content(design)
    if key not in _MODELS:
        design.check()
        prepared = _prepared(design)
        _MODELS[key] = Model(prepared, prepared.fit(design.score))
    _MODELS.move_to_end(key)
    while len(_rows_by_layout()) > 1 and sum(_rows_by_layout().values()) > MOST_ROWS:
        _MODELS.popitem(last=False)
    return _MODELS[key]


def _prepared(design: MixedDesign) -> Prepared:
    """The design with its equations laid out; those of a remembered design that differs in its scores alone."""
    for model in _MODELS.values():
        if _differs_in_scores_alone(model.prepared.design, design):
            return Prepared(design, model.prepared.effects, model.prepared.layout)
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
    _LEFT_OUT.clear()


def _content(design: MixedDesign) -> str:
    """What the fit depends on: scores, codes and systems, calibration items among them."""
    return fingerprint(pickle.dumps(vars(design)), digits=32)
