"""The model fitted to corrected scores, its errors, and what helpers gain; the package's docstring has the method."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.errors import DataError
from adjudge.core.maths import difference_variances
from adjudge.core.wording import counted
from adjudge.rank.mixed.design import combine
from adjudge.rank.mixed.helpers.matching import notes_on_matching
from adjudge.rank.mixed.helpers.slopes import folds_of, products, products_elsewhere
from adjudge.rank.mixed.shared_fits import model_of
from adjudge.results.rank import Helper
from adjudge.work import map_tasks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adjudge.core.arrays import Codes, Floats
    from adjudge.rank.mixed.design import MixedDesign
    from adjudge.rank.mixed.fit import MixedFit
    from adjudge.rank.mixed.helpers.matching import Matched
    from adjudge.rank.mixed.helpers.slopes import Products
    from adjudge.rank.mixed.shared_fits import Model

NEARLY_ALL = 0.95
"""Where so many outputs were judged, the others have nothing to add."""
NO_GAIN = 0.005
"""A gain that differs from 1 by less is shown as 1.00."""
ENOUGH_UNITS = 10
UNLIKELY = 3.0
"""Judged documents that lie so many standard errors off the rest are no random draw (p = .003)."""


@dataclass(frozen=True, eq=False)
class Correction:
    """Human scores corrected by some of the helpers."""

    fit: MixedFit
    """The fit to the corrected scores; its covariance is that for texts of this kind."""
    slopes: Floats
    """Of these helpers: the mean over folds."""
    predicted: Floats
    """What is taken off the score of each row."""


@dataclass(frozen=True, eq=False)
class Helped:
    """A correction by all helpers, and what they gain."""

    correction: Correction
    helpers: tuple[Helper, ...]
    gain: float
    """The variance of differences without helpers over that with them, mean over pairs of systems; 1 if left out."""
    notes: tuple[str, ...]

    @property
    def fit(self) -> MixedFit:
        """The fit to the corrected scores."""
        return self.correction.fit


@dataclass(frozen=True, eq=False)
class Sources:
    """What corrections are made from: a model without helpers, and the numbers of all outputs."""

    model: Model
    document: Codes
    whole: Floats
    """The numbers of all outputs: (helpers, systems, segments)."""
    rows: Floats
    """Those of the judged outputs: (rows, helpers)."""
    fold: Codes
    elsewhere: Sequence[Products]
    """Of each fold, from the rows of all others."""

    def uncorrected(self, helpers: int) -> Correction:
        """The fit without helpers."""
        return Correction(self.model.fitted, np.zeros(helpers), np.zeros(len(self.rows)))

    def corrected_by(self, chosen: Sequence[int]) -> Correction:
        """The fit with some of the helpers."""
        slopes = np.array([part.of(chosen).slopes for part in self.elsewhere])
        if not slopes.any():
            return self.uncorrected(len(chosen))
        design, without = self.model.prepared.design, self.model.fitted
        predicted = np.einsum("rh,rh->r", self.rows[:, chosen], slopes[self.fold])
        try:
            fitted = self.model.prepared.fit(design.score - predicted)
        except DataError as fault:
            raise DataError(
                "--with explains every human score exactly, so nothing is left to estimate errors from; give scores of "
                "metrics, not the human scores themselves, or leave out --with"
            ) from fault
        mean = slopes.mean(axis=0)
        together = products(design, by_document(design, predicted)[:, None], without.ratios)
        varied = float(together.helpers[0, 0])
        slope = float(together.cross[0]) / varied if varied > 0 else 1.0
        of_means = covariance_of_means(np.tensordot(mean, self.whole[chosen], axes=1), self.document)
        covariance = fitted.covariance + max(2 * slope - 1, 1.0) * of_means
        return Correction(replace(fitted, covariance=covariance), mean, predicted)


def sources_of(design: MixedDesign, matched: Matched, seed: int) -> Sources:
    """The model without helpers, the helpers' numbers for it, and folds with what slopes are computed from."""
    model = model_of(design)
    whole = matched.numbers(normal=design.model.normal)
    rows, fold = matched.of_rows(whole), folds_of(design, seed)
    elsewhere = products_elsewhere(design, rows, model.fitted.ratios, fold)
    return Sources(model, matched.document, whole, rows, fold, elsewhere)


def by_document(design: MixedDesign, predicted: Floats) -> Floats:
    """For each row the mean prediction of its system's outputs of its document (or segment), as rows are weighted."""
    text = design.document if design.document is not None else design.segment
    cell = design.system if text is None else combine(design.system, text)
    weight = np.ones(len(design)) if design.weight is None else design.weight
    return np.asarray((np.bincount(cell, weight * predicted) / np.bincount(cell, weight))[cell])


def covariance_of_means(numbers: Floats, document: Codes) -> Floats:
    """The covariance of the systems' means of (systems, segments) numbers over a test set, documents as units.

    Where the documents of some segments are unknown (-1), segments are the units, and the variances are enlarged by as
    much as documents enlarge those of differences between systems where they are known.
    """
    if (document >= 0).all():
        return _of_means(numbers, document)
    known = document >= 0
    alone = _of_means(numbers, np.arange(numbers.shape[1]))
    if not known.any():
        return alone
    upper = np.triu_indices(len(numbers), 1)
    by_segment, by_document = (
        difference_variances(_of_means(numbers[:, known], units))[upper].sum()
        for units in (np.arange(int(known.sum())), np.unique(document[known], return_inverse=True)[1])
    )
    return alone * max(1.0, by_document / by_segment) if by_segment > 0 else alone


def _of_means(numbers: Floats, unit: Codes) -> Floats:
    systems, segments = numbers.shape
    count = int(unit.max()) + 1
    if count < 2:
        return np.zeros((systems, systems))
    centred = numbers - numbers.mean(axis=1, keepdims=True)
    sums = np.zeros((count, systems))
    np.add.at(sums, unit, centred.T)
    return np.asarray(sums.T @ sums / segments**2 * count / (count - 1))


def help_design(design: MixedDesign, matched: Matched, *, seed: int, alone: bool = True) -> Helped:
    """Fit the model to scores that all helpers together have corrected, and by each helper alone for its gain.

    Args:
        design: the human scores.
        matched: the helpers' scores for this design.
        seed: of the folds.
        alone: whether to compute the gain by each helper alone too.
    """
    sources = sources_of(design, matched, seed)
    every = range(len(matched.names))
    together = sources.corrected_by(list(every))
    single = [together] * len(matched.names)
    if alone and len(matched.names) > 1:
        single = map_tasks(sources.corrected_by, [[number] for number in every], what="each helper alone")
    without = sources.model.fitted.covariance
    estimated = gain_of(without, together.fit.covariance)
    if estimated < 1:
        together = sources.uncorrected(len(matched.names))
    helpers = tuple(
        Helper(
            name, float(together.slopes[i]), gain_of(without, single[i].fit.covariance),
            int(matched.scored[i].sum()), int((~matched.scored[i]).sum()),
        )
        for i, name in enumerate(matched.names)
    )  # fmt: skip
    useless = [name for name, numbers in zip(matched.names, sources.whole, strict=True) if not numbers.any()]
    notes = (*_notes(design, matched, together, estimated), *notes_on_matching(matched, useless))
    return Helped(together, helpers, max(estimated, 1.0), notes)


def gain_of(without: Floats, helped: Floats) -> float:
    """The ratio of the variances of differences, averaged over all pairs of systems."""
    upper = np.triu_indices(len(without), 1)
    return float((difference_variances(without)[upper] / difference_variances(helped)[upper]).mean())


def _notes(design: MixedDesign, matched: Matched, together: Correction, gain: float) -> Iterator[str]:
    """What the helpers are worth, and on which assumption."""
    scores = f"scores of all outputs by {counted(len(matched.names), 'helper')}"
    if gain >= 1 + NO_GAIN:
        yield f"{scores} are worth {gain:.2f} times the judgments; this is an estimate"
    elif gain >= 1 - NO_GAIN:
        yield f"{scores} add next to nothing to the judgments"
    else:
        yield f"{scores} would make errors larger (worth {gain:.2f} times the judgments): they are left out"
    share = matched.judged_share
    if share >= NEARLY_ALL:
        yield (
            f"{share:.0%} of the outputs that the helpers score were judged: where nothing is left to judge, helpers "
            "cannot add anything; give them the scores of the whole test set"
        )
    if design.weight is not None:
        yield "helpers assume that segments were chosen with the probabilities in the column 'inclusion'"
        return
    yield "helpers assume that the judged segments are a random draw from the segments that the helpers score"
    off = standard_errors_off(design, together.predicted)
    if abs(off) > UNLIKELY:
        side = "better" if off > 0 else "worse"
        yield (
            f"the judged outputs are {side} by the helpers' scores than the rest ({abs(off):.1f} standard errors), "
            "which is unlikely in a random draw: if segments were chosen on purpose, leave out the helpers"
        )


def standard_errors_off(design: MixedDesign, predicted: Floats) -> float:
    """How far predictions of judged outputs are from 0 on average, documents (or segments) as units; 0 if too few."""
    units = design.document if design.document is not None else design.segment
    if units is None or not predicted.any():
        return 0.0
    sums = np.bincount(units, predicted)
    return float(sums.sum() / np.sqrt(sums @ sums)) if len(sums) >= ENOUGH_UNITS else 0.0
