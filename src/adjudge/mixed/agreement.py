"""Does a person's work agree with that of the others? Told by the model at its variances; no controls are needed.

With P = inv(V) - inv(V) X C X' inv(V) of the whole fit and the rows i of one annotator,

    e = inv(P_ii) (P y)_i                              errors of predicting their scores from those of all others
    m = y_i - e                                        the prediction
    R = P_ii - P_ii 1 1' P_ii / (1' P_ii 1)            strictness taken away
    I = m' R m,    slope b = m' R y_i / I              b ~ N(1, 1/I) for an ordinary person
    s^2 = (y_i - b m)' R (y_i - b m) / (n - 2)         1 for an ordinary person
    r = b / s                                          free of how the person uses the scale

r is 1 for work that follows the others as expected and 0 for work that has nothing to do with theirs. Careless work is
r ~ N(0, 1/I), ordinary work r ~ N(1, 1/I + h^2), since ordinary people differ; their ratio is a Bayes factor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.mixed.border import TOLERANCE, conjugate_gradients
from adjudge.mixed.equations import Equations, equations_at, totals
from adjudge.mixed.fit import prepare
from adjudge.mixed.leaving_out import Beside, Whole
from adjudge.mixed.model import model_of
from adjudge.work.tasks import one_thread

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.mixed.design import MixedDesign
    from adjudge.mixed.fit import MixedFit, Prepared
    from adjudge.mixed.layout import Layout
    from adjudge.table.maths import Bools, Codes, Floats

ORDINARY_SPREAD = 1 / 3
"""h: how much the agreement of ordinary people differs. In released scores by experts .21 to .37 beyond its error."""
MOST_ROWS = 200_000
"""With more scores than these, agreement is not computed."""
_NO_INFORMATION = 1e-9


@dataclass(frozen=True)
class PersonFit:
    """How the work of one person follows that of the others."""

    slope: float
    spread: float | None
    """None where it is not estimated by person."""
    information: float
    """I: 1 / sqrt(I) is the standard error of the agreement."""

    @property
    def agreement(self) -> float:
        """The slope, free of how the person uses the scale: r."""
        return self.slope if self.spread is None else self.slope / self.spread

    @property
    def log_bayes_factor(self) -> float:
        """Of careless against ordinary work."""
        r, inverse = self.agreement, 1 / self.information
        wide = inverse + ORDINARY_SPREAD**2
        return float((np.log(wide / inverse) - r**2 / inverse + (r - 1) ** 2 / wide) / 2)


def fit_from_products(products: Floats, rows: int) -> PersonFit | None:
    """The fit of a person from the products v' P_ii w of the columns 1, y and m; None where they tell nothing."""
    level, score, predicted = range(3)
    if not products[level, level] > _NO_INFORMATION or rows < 3:
        return None
    within = products - np.outer(products[:, level], products[level]) / products[level, level]
    information = float(within[predicted, predicted])
    if information <= _NO_INFORMATION:
        return None
    slope = float(within[predicted, score]) / information
    rest = float(within[score, score]) - slope**2 * information
    spread = float(np.sqrt(max(rest, 0.0) / (rows - 2)))
    return PersonFit(slope, spread, information) if spread > 0 else None


def fits_of_people(design: MixedDesign, trusted: Bools) -> dict[int, PersonFit]:
    """The fit of every annotator beside the trusted ones, by code; without those of whom nothing can be told.

    The variances are those of the trusted annotators alone, who are compared with each other. Everybody else is
    compared with them, one by one. Calibration items are among the rows of their annotators.

    Args:
        design: of all annotators.
        trusted: by annotator, at least two.
    """
    if design.annotator is None or len(design) > MOST_ROWS:
        return {}
    rows = trusted[design.annotator]
    model = model_of(design if rows.all() else design.subset(rows))
    if model.prepared.layout.iterative:
        return {}
    codes = np.flatnonzero(trusted)
    fits = _fits_in(model.prepared, model.fitted, {place: int(code) for place, code in enumerate(codes)})
    for code in np.flatnonzero(~trusted):
        part = design.subset(rows | (design.annotator == code))
        prepared = prepare(part, model.fitted.ratios)
        place = int(np.searchsorted(codes, code))  # parts of a design number annotators anew, in the same order
        fits |= _fits_in(prepared, prepared.refit(None, model.fitted.ratios), {place: int(code)})
    return fits


def _fits_in(prepared: Prepared, fitted: MixedFit, codes: Mapping[int, int]) -> dict[int, PersonFit]:
    """The fits of some annotators beside all others of a fit; `codes` has their codes there, and what to call them."""
    annotator = prepared.design.stacked().annotator
    assert annotator is not None
    scale, standard = prepared.standardised(None)
    residual = (fitted.components[-1].sd / scale.sd) ** 2
    fits: dict[int, PersonFit] = {}
    with one_thread():
        others = _Others(prepared.layout, prepared.effects.ratios(fitted.ratios), standard)
        for place, code in codes.items():
            beside = others.beside(annotator == place)
            columns = np.column_stack([np.ones(len(beside.score)), beside.score, beside.score - beside.error])
            found = fit_from_products(columns.T @ beside.project(columns) / residual, len(columns))
            if found is not None:
                fits[code] = found
    return fits


class _Others:
    """The rows of any annotator beside all others: by the unknowns they touch, or, if these are many, by iteration."""

    def __init__(self, layout: Layout, ratios: Floats, standard: Floats) -> None:
        self._layout, self._standard = layout, standard
        self._equations: Equations = equations_at(layout, ratios)
        self._whole = Whole(layout, ratios, standard)
        self._projected = self._project(standard[:, None])[:, 0]

    def beside(self, unit: Bools) -> Beside:
        return self._whole.beside(unit) or self._by_iteration(np.flatnonzero(unit))

    def _project(self, values: Floats) -> Floats:
        """P times columns of all rows: what is left of them once all effects are predicted."""
        layout, solved = self._layout, self._equations.solve(totals(self._layout, values))
        explained = layout.border_rows @ solved.border + layout.core_rows @ solved.core
        return np.asarray(values - explained - layout.absorbed_rows @ solved.absorbed)

    def _by_iteration(self, rows: Codes) -> Beside:
        """Conjugate gradients for inv(P_ii); P_ii has few eigenvalues far from 1."""

        def project(values: Floats) -> Floats:
            every = np.zeros((len(self._standard), values.shape[1]))
            every[rows] = values
            return self._project(every)[rows]

        right = self._projected[rows, None]
        found = conjugate_gradients(project, np.copy, np.zeros_like(right), right, tolerance=TOLERANCE)
        return Beside(self._standard[rows], found.x[:, 0], project)
