"""Slopes of human scores on helpers, each fitted on other documents than those it is used on.

Documents are dealt into folds (segments where documents are unknown or there is only one). For each fold the slopes are
fitted to the rows of all other folds, within the model: with P the projection that takes away systems and weighs by the
inverse covariance of annotators, tastes, tasks, documents, segments and pages, at the variances of the fit without
helpers, all that is needed are the numbers y'Py, X'Py and X'PX.

Slopes are shrunken: they are one more random effect, whose variance is estimated by restricted maximum likelihood like
the others (ridge regression with the penalty found on the rows that the slopes are fitted to). A helper that explains
nothing beyond chance gets the slope 0, and helpers that say the same share their slope.

A. E. Hoerl, R. W. Kennard (1970): Ridge regression: biased estimation for nonorthogonal problems. Technometrics 12,
55-67. D. A. Harville (1977): Maximum likelihood approaches to variance component estimation and to related problems.
Journal of the American Statistical Association 72, 320-338.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.errors import DataError
from adjudge.core.rng import generator
from adjudge.rank.mixed.design import levels_of
from adjudge.rank.mixed.effects import SMALLEST_RATIO
from adjudge.rank.mixed.fit import prepare
from adjudge.rank.mixed.reml import evaluate
from adjudge.rank.mixed.solver.equations import totals
from adjudge.work import one_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from adjudge.core.arrays import Codes, Floats
    from adjudge.rank.mixed.design import MixedDesign

FOLDS = 10
_STREAM = 71
_GRID = 81
_LOW, _HIGH = -8.0, 10.0
"""The range of the logarithm of a helper's part beside the residual that is searched, base 10."""
_NOTHING = 1e-12


@dataclass(frozen=True, eq=False)
class Products:
    """y'Py, X'Py and X'PX of some rows, and their degrees of freedom: all that slopes are computed from."""

    score: float
    cross: Floats
    helpers: Floats
    freedom: int

    def of(self, helpers: Sequence[int]) -> Products:
        """The same for some of the helpers."""
        return Products(self.score, self.cross[helpers], self.helpers[np.ix_(helpers, helpers)], self.freedom)

    @property
    def slopes(self) -> Floats:
        """The shrunken slopes; all 0 where their variance is estimated as 0."""
        size, axes = np.linalg.eigh(self.helpers)
        size, along = np.maximum(size, 0.0), axes.T @ self.cross
        largest = float(size.max(initial=0.0))
        if largest <= 0 or self.score <= 0:
            return np.zeros(len(size))

        def criterion(log_ratio: Floats) -> Floats:
            ratio = 10.0 ** log_ratio[:, None] / largest
            left = self.score - (along**2 * ratio / (1 + ratio * size)).sum(axis=1)
            left = np.maximum(left, _NOTHING * self.score)
            return np.asarray(np.log1p(ratio * size).sum(axis=1) + self.freedom * np.log(left))

        best, lowest = _lowest(criterion)
        if lowest >= self.freedom * np.log(self.score):
            return np.zeros(len(size))
        ratio = 10.0**best / largest
        return np.asarray(axes @ (along * ratio / (1 + ratio * size)))


def _lowest(criterion: Callable[[Floats], Floats]) -> tuple[float, float]:
    """Where a criterion is lowest: on a grid, which is made finer around its lowest point until nothing changes."""
    low, high = _LOW, _HIGH
    while True:
        grid = np.linspace(low, high, _GRID)
        values = criterion(grid)
        best = int(np.argmin(values))
        if high - low < 1e-7:
            return float(grid[best]), float(values[best])
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, _GRID - 1)]


def products(design: MixedDesign, helpers: Floats, ratios: Mapping[str, float]) -> Products:
    """The products of a design's scores and the helpers' numbers (rows, helpers), at known ratios of variances."""
    prepared = prepare(design)
    every = np.column_stack([design.score, helpers])
    if design.linking is not None:
        # Calibration items link the annotators; the helpers say nothing of them.
        linked = np.zeros((len(design.linking), every.shape[1]))
        linked[:, 0] = design.linking.score
        every = np.vstack([every, linked])
    # As in fits: rounding is then the same for every scale.
    scale = float(every[:, 0].std()) or 1.0
    every[:, 0] = (every[:, 0] - every[:, 0].mean()) / scale
    known = np.maximum(prepared.effects.ratios(ratios), SMALLEST_RATIO)
    with one_thread():
        evaluation = evaluate(prepared.layout, totals(prepared.layout, every), np.log(known))
    quadratic = evaluation.solution.quadratic
    return Products(float(quadratic[0, 0]) * scale**2, quadratic[0, 1:] * scale, quadratic[1:, 1:], evaluation.freedom)


def folds_of(design: MixedDesign, seed: int) -> Codes:
    """The fold of every row: documents dealt at random, or segments where there are no two documents."""
    units = [codes for codes in (design.document, design.segment) if codes is not None and levels_of(codes) > 1]
    if not units:
        raise DataError(
            "all judgments are of one segment, so what metrics explain cannot be learned elsewhere; judge more "
            "segments, or leave out --with"
        )
    count = levels_of(units[0])
    order = generator(seed, _STREAM).permutation(count)
    fold: Codes = (np.argsort(order) % min(FOLDS, count))[units[0]]
    return fold


def products_elsewhere(
    design: MixedDesign, helpers: Floats, ratios: Mapping[str, float], fold: Codes
) -> list[Products]:
    """For each fold the products of all rows of other folds; zeros where these are too few to say anything."""
    nothing = Products(0.0, np.zeros(helpers.shape[1]), np.zeros((helpers.shape[1],) * 2), 1)
    elsewhere = []
    for number in range(levels_of(fold)):
        rows = fold != number
        try:
            elsewhere.append(products(design.subset(rows), helpers[rows], ratios))
        except DataError:
            elsewhere.append(nothing)
    return elsewhere
