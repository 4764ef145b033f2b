"""Metrics and judges that are models as helpers: their scores of all outputs tighten what few human scores say.

A helper has a score for every output of the test set, judged or not. For a judged output, x is its score less the mean
of its scores of that system over the whole test set (see `match`). Where the judged segments are a random draw, x is
0 on average for every system, so that

    corrected score = human score - slope * x

has the same mean as the human score, whatever the slope and however good, biased or useless the helper: a helper that
loves one system adds the same to all outputs of that system, and x does not change. If the helper explains part of why
some outputs are better than others of the same system, the corrected scores vary less, and differences of systems are
known better: a control variate, or prediction-powered inference. The corrected scores are ranked by the same mixed
model, with annotators, tastes, tasks, documents, segments and pages.

- **Slopes** come from other documents than those they are used on, and are shrunken (see below), so that neither
  chance nor a useless helper makes errors look small.
- **Errors.** The mean over the test set is known for these texts, but the ranking is about texts of this kind. With u
  = slope * x over all outputs, the variance of the mean of u over the whole test set, by documents, is added to that of
  the corrected scores. Where all outputs were judged, the two together are the variance without helpers: nothing is
  gained, and nothing is claimed. If c is the slope of human scores on u, averaged by system and
  document (more than 1 where slopes are shrunken), human scores and u vary together by c, and the part to add is 2c - 1
  times the variance of u; at least once.
- **Gain.** The variance of a difference of two systems without helpers over that with them: so many times the judgments
  would be needed without helpers. It is estimated by leaving out documents, with an interval (`estimate_gains`). If the
  model's own variances would grow with helpers, the ranking is the one without them.

**The number of a helper** for an output is its score less the mean of its scores of the same system over the whole test
set, in standard deviations of such numbers. Where the model is fitted to normal scores, so are the helper's scores,
ranked among all outputs. An output without a score gets the mean number of its segment over the other systems: how hard
the helper finds the segment. So a system that a metric does not score at all, as a reference-based metric does not
score its reference, still shares the corrections that are common to all systems of a segment. Every system's numbers
average to exactly 0 over the segments of the test set, whichever scores are missing.

**Folds.** Documents are dealt into folds (segments where documents are unknown or there is only one). For each fold the
slopes are fitted to the rows of all other folds, within the model: with P the projection that takes away systems and
weighs by the inverse covariance of annotators, tastes, tasks, documents, segments and pages, at the variances of the
fit without helpers, all that is needed are the numbers y'Py, X'Py and X'PX.

Slopes are shrunken: they are one more random effect, whose variance is estimated by restricted maximum likelihood like
the others (ridge regression with the penalty found on the rows that the slopes are fitted to). A helper that explains
nothing beyond chance gets the slope 0, and helpers that say the same share their slope.

Segments that were chosen with known probabilities (column `inclusion`) are weighted, which makes x 0 on average again.

A. T. Chaganty, S. Mussmann, P. Liang (2018): The price of debiasing automatic metrics in natural language evaluation.
ACL, 643-653. Control variates for human evaluation.
A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan, T. Zrnic (2023): Prediction-powered inference. Science 382,
669-674. T. Zrnic, E. J. Candès (2024): Cross-prediction-powered inference. PNAS 121. Slopes from other folds.
A. E. Hoerl, R. W. Kennard (1970): Ridge regression: biased estimation for nonorthogonal problems. Technometrics 12,
55-67. D. A. Harville (1977): Maximum likelihood approaches to variance component estimation and to related problems.
Journal of the American Statistical Association 72, 320-338.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from adjudge.mixed.design import MixedDesign, combine, levels_of, normal_scores
from adjudge.mixed.effects import TASTE, Helper
from adjudge.mixed.equations import totals
from adjudge.mixed.fit import MixedFit, evaluate, prepare
from adjudge.mixed.model import Model, model_of
from adjudge.readers.metric_scores import MetricScore, fingerprint_of_scores, score_cells, segment_namer
from adjudge.table.errors import DataError, param
from adjudge.table.judgments import Judgments, SetAside
from adjudge.table.maths import Bools, Codes, Floats, difference_variances, student_quantile, varies
from adjudge.table.rng import generator
from adjudge.table.wording import counted, short_list
from adjudge.work.tasks import map_tasks, one_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from adjudge.readers.metric_scores import Cells


LEAST_SCORED = 0.5
"""Of the judged outputs, humans left aside, at least this share must have a score; else names probably differ."""
MOSTLY_COMPLETE = 0.95
_JUDGED = "judged"
_FILLED = "only how hard they find the segments is used there"


@dataclass(frozen=True, eq=False)
class Matched:
    """The scores of helpers over the whole test set, and where each row of a design is in it."""

    names: tuple[str, ...]
    systems: tuple[str, ...]
    human: Bools
    given: Floats
    """The scores as given: (helpers, systems, segments), NaN where there is none."""
    system: Codes
    """The system of every row."""
    segment: Codes
    """The segment of every row; -1 where the helpers do not know it."""
    document: Codes
    """The document of every segment; -1 where it is not known."""
    fingerprint: str
    set_aside: tuple[SetAside, ...]

    def numbers(self, *, normal: bool) -> Floats:
        """The numbers of all outputs: (helpers, systems, segments), each system's with mean 0."""
        return np.stack([_numbers(given, normal=normal) for given in self.given])

    def of_rows(self, numbers: Floats) -> Floats:
        """The numbers of the judged outputs, (rows, helpers); 0 where the segment is not known."""
        rows = numbers[:, self.system, self.segment].T
        return np.where(self.segment[:, None] >= 0, rows, 0.0)

    @property
    def scored(self) -> Bools:
        """Which rows each helper has a score of: (helpers, rows)."""
        return np.asarray(~np.isnan(self.given[:, self.system, self.segment]) & (self.segment >= 0))

    @property
    def judged_share(self) -> float:
        """The share of the outputs of the test set that somebody judged."""
        known = self.segment >= 0
        cells = np.unique(self.system[known] * self.given.shape[2] + self.segment[known])
        return float(len(cells) / (self.given.shape[1] * self.given.shape[2]))


def _numbers(given: Floats, *, normal: bool) -> Floats:
    """One helper's numbers: (systems, segments)."""
    known = ~np.isnan(given)
    if not varies(given[known]):
        return np.zeros_like(given)
    # Numbers have no unit, and squares of the largest scores must not overflow.
    score = given / np.abs(given[known]).max()
    if normal:
        score[known] = normal_scores(given[known])
    count = known.sum(axis=1, keepdims=True)
    mean = np.where(known, score, 0.0).sum(axis=1, keepdims=True) / np.maximum(count, 1)
    centred = np.where(known, score - mean, 0.0)
    of_segment = centred.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    filled = np.where(known, centred, of_segment)
    filled -= filled.mean(axis=1, keepdims=True)
    spread = float(filled[known].std())
    # A helper that gives all outputs of a system one score says nothing of single outputs.
    return filled / spread if spread > 1e-9 * np.abs(score[known]).max() else np.zeros_like(given)


def match(judgments: Judgments, design: MixedDesign, scores: Sequence[MetricScore]) -> Matched:
    """Find the scores of every judged output and of all other outputs of the same systems.

    Args:
        judgments: what the design was made from.
        design: the judged rows.
        scores: of metrics or of judges that are models, for all outputs, judged or not.
    """
    return match_outputs(_judged_outputs(judgments, design), design.systems, design.human, design.system, scores)


def match_outputs(
    judged: Sequence[MetricScore],
    systems: tuple[str, ...],
    human: Bools,
    system: Codes,
    scores: Sequence[MetricScore],
) -> Matched:
    """The same for judged outputs in the form of scores, whose systems have these codes."""
    usable = [score for score in scores if score.segment is not None and score.score is not None]
    wanted = [score for score in usable if score.system in systems]
    if not usable:
        held = "scores of whole test sets only" if any(score.score is not None for score in scores) else "no scores"
        raise DataError(f"{param('with_scores')} holds {held}; give the scores of every output, segment by segment")
    if not wanted:
        theirs = short_list(sorted({score.system for score in usable}))
        raise DataError(
            f"{param('with_scores')} scores none of the judged systems: it has {theirs}, the judgments have "
            f"{short_list(systems)}; give both the same names"
        )
    named = segment_namer([output for output in judged if output.segment is not None], wanted)
    cells, repeated = score_cells(wanted, named)
    place = {segment: i for i, segment in enumerate(dict.fromkeys(named(score) for score in wanted))}
    known = (output for output in [*wanted, *judged] if output.segment is not None and output.document is not None)
    documents = {named(output): output.document for output in known}
    of_segments = {documents.get(segment) for segment in place} - {None}
    number = {document: i for i, document in enumerate(sorted(of_segments, key=str))}
    names = tuple(name for name in dict.fromkeys(score.metric for score in scores) if name in cells)
    matched = Matched(
        names=names,
        systems=systems,
        human=human,
        given=np.stack([_matrix(cells[name], systems, place) for name in names]),
        system=system,
        segment=np.array([-1 if row.segment is None else place.get(named(row), -1) for row in judged]),
        document=np.array([number.get(documents.get(segment), -1) for segment in place]),
        fingerprint=fingerprint_of_scores(scores),
        set_aside=_set_aside(scores, usable, wanted, repeated),
    )
    _check_scored(matched)
    return matched


def _judged_outputs(judgments: Judgments, design: MixedDesign) -> list[MetricScore]:
    """System, segment and document of every row of the design, in the form of scores."""
    table = judgments.final().table[design.row].select("system", "segment", "document")
    return judged_outputs(table.iter_rows())


def judged_outputs(names: Iterable[tuple[str, str | None, str | None]]) -> list[MetricScore]:
    """Outputs by system, segment and document in the form of scores; refused where no segment is named."""
    rows = [MetricScore(_JUDGED, system, segment, document, None) for system, segment, document in names]
    if all(row.segment is None for row in rows):
        raise DataError(
            "the judgments name no segments, so scores of metrics cannot be matched with them; give a column "
            f"'segment', or leave out {param('with_scores')}"
        )
    return rows


def _check_scored(matched: Matched) -> None:
    machine = ~matched.human[matched.system]
    for name, scored in zip(matched.names, matched.scored, strict=True):
        share = float(scored[machine].mean()) if machine.any() else float(scored.mean())
        if share < LEAST_SCORED:
            raise DataError(
                f"{param('with_scores')} has scores by '{name}' for {share:.0%} of the judged outputs only, at least "
                f"{LEAST_SCORED:.0%} are needed; check the names of systems and segments, or leave it out"
            )


def _matrix(cells: Cells, systems: Sequence[str], place: dict[str, int]) -> Floats:
    row = {name: i for i, name in enumerate(systems)}
    matrix = np.full((len(systems), len(place)), np.nan)
    for (system, segment), score in cells.items():
        matrix[row[system], place[segment]] = score
    return matrix


def _set_aside(
    scores: Sequence[MetricScore], usable: Sequence[MetricScore], wanted: Sequence[MetricScore], repeated: int
) -> tuple[SetAside, ...]:
    strangers = sorted({score.system for score in usable} - {score.system for score in wanted})
    helping = {score.metric for score in wanted}
    whole = [score.metric in helping for score in scores if score.segment is None and score.score is not None]
    idle = sorted({score.metric for score in scores} - helping)
    aside = [
        SetAside("metric score of a whole test set, beside those of its segments", sum(whole)),
        SetAside(f"metric without scores of the judged systems' segments: {', '.join(idle)}", len(whole) - sum(whole)),
        SetAside("metric score that is missing (None or empty)", sum(score.score is None for score in scores)),
        SetAside("metric score that repeats another of the same system and segment", repeated),
    ]
    if strangers:
        reason = f"metric score of a system without human scores: {short_list(strangers)}"
        aside.append(SetAside(reason, len(usable) - len(wanted)))
    return tuple(record for record in aside if record.rows)


def notes_on_matching(matched: Matched, useless: Sequence[str]) -> Iterator[str]:
    """Which helpers cannot help, which outputs have no scores, and what is used instead."""
    if useless:
        yield f"{short_list(useless)}: the same score for all outputs of a system, so it cannot help"
    unscored: dict[tuple[str, ...], list[str]] = {}
    missing: dict[int, list[str]] = {}
    for name, scored, given in zip(matched.names, matched.scored, matched.given, strict=True):
        nowhere = np.isnan(given).all(axis=1)
        without = tuple(system for system, none in zip(matched.systems, nowhere, strict=True) if none)
        unscored.setdefault(without, []).append(name)
        missing.setdefault(int((~scored & ~nowhere[matched.system]).sum()), []).append(name)
    for systems, names in unscored.items():
        if systems:
            yield f"{short_list(systems)}: no scores by {short_list(names)}, so {_FILLED}"
    for rows, names in missing.items():
        if rows:
            yield f"{counted(rows, 'judgment')} of outputs without a score by {short_list(names)}: {_FILLED}"
    yield from _incomplete(matched)


def _incomplete(matched: Matched) -> Iterator[str]:
    """Say where a helper scores only part of the outputs of the systems that it scores."""
    for name, given in zip(matched.names, matched.given, strict=True):
        known = ~np.isnan(given)
        share = float(known[known.any(axis=1)].mean())
        if share < MOSTLY_COMPLETE:
            yield (
                f"{name} scores {share:.0%} of the outputs of the test set; the rest is filled in by how hard it "
                "finds the segments, so give all scores if there are more"
            )


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
    known = prepared.effects.ratios(ratios)
    with one_thread():
        evaluation = evaluate(prepared.layout, totals(prepared.layout, every), np.log(known))
    quadratic = evaluation.solution.quadratic
    return Products(float(quadratic[0, 0]) * scale**2, quadratic[0, 1:] * scale, quadratic[1:, 1:], evaluation.freedom)


def folds_of(design: MixedDesign, seed: int, most: int = FOLDS) -> Codes:
    """The fold of every row: documents dealt at random, or segments where there are no two documents."""
    units = [codes for codes in (design.document, design.segment) if codes is not None and levels_of(codes) > 1]
    if not units:
        raise DataError(
            "all judgments are of one segment, so what metrics explain cannot be learned elsewhere; judge more "
            f"segments, or leave out {param('with_scores')}"
        )
    return deal(units[0], seed, most)


def deal(units: Codes, seed: int, most: int = FOLDS) -> Codes:
    """The fold of every row, where units are dealt at random."""
    count = levels_of(units)
    order = generator(seed, _STREAM).permutation(count)
    fold: Codes = (np.argsort(order) % min(most, count))[units]
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


NEARLY_ALL = 0.95
"""Where so many outputs were judged, the others have nothing to add."""
NO_GAIN = 0.005
"""A gain that differs from 1 by less is shown as 1.00."""
ENOUGH_UNITS = 10
RANDOM_DRAW = "helpers assume that the judged segments are a random draw from the segments that the helpers score"
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
    everywhere: Floats
    """What would be taken off every output of the test set: (systems, segments)."""


@dataclass(frozen=True, eq=False)
class Helped:
    """A correction by all helpers, and what they gain."""

    correction: Correction
    helpers: tuple[Helper, ...]
    gain: float
    """The variance of differences without helpers over that with them; 1 where the interval includes 1."""
    gain_low: float | None
    gain_high: float | None
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
        return Correction(
            self.model.fitted, np.zeros(helpers), np.zeros(len(self.rows)), np.zeros(self.whole.shape[1:])
        )

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
                f"{param('with_scores')} explains every human score exactly, so nothing is left "
                "to estimate errors from; give scores of "
                f"metrics, not the human scores themselves, or leave out {param('with_scores')}"
            ) from fault
        mean = slopes.mean(axis=0)
        together = products(design, by_document(design, predicted)[:, None], without.ratios)
        varied = float(together.helpers[0, 0])
        slope = float(together.cross[0]) / varied if varied > 0 else 1.0
        everywhere = np.tensordot(mean, self.whole[chosen], axes=1)
        of_means = covariance_of_means(everywhere, self.document)
        covariance = fitted.covariance + max(2 * slope - 1, 1.0) * of_means
        return Correction(replace(fitted, covariance=covariance), mean, predicted, everywhere)


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


MOST_PARTS = 40
"""Documents are left out one by one, or in so many parts."""
FEWEST_PARTS = 3
_OF_PEOPLE = ("annotator", "task")


@dataclass(frozen=True)
class Gain:
    """What helpers are worth, in times the judgments, with a 95% interval; none where documents are too few."""

    estimate: float
    low: float | None = None
    high: float | None = None

    @property
    def shown(self) -> float:
        """The estimate where the interval lies above 1, else 1: no gain is claimed that may be chance."""
        return self.estimate if self.low is not None and self.low > 1 else 1.0


def estimate_gains(sources: Sources, matched: Matched, corrections: Sequence[Correction], seed: int) -> list[Gain]:
    """The gain of each correction, out of sample.

    With D0 and D1 for the variance of differences that comes from texts, without and with helpers, and T for that which
    comes from people, which helpers do not change, the gain is (T + D0) / (T + D1). Variances are means over pairs.

    D0 and D1 come from leaving out documents, part by part, at the variances of the fit without helpers: the slopes
    used on a document were fitted elsewhere, so nothing is flattered. A document that is left out also leaves the test
    set over which a helper's mean is taken; documents that nobody judged only count there. So where everything was
    judged, D1 is D0. T is the model's. It has the doubt of few people, (K - 1)(A - 1) degrees of freedom for K systems
    and A annotators, and the gain is convex in it: what the gain exceeds 1 by is divided by 1 + v, with v for the
    variance of T over (T + D1)^2. The interval is that of a jackknife over documents; its ends are taken at T one
    standard error higher and lower, because T moves the gain towards 1 but not beyond.
    """
    design, fitted = sources.model.prepared.design, sources.model.fitted
    systems = len(design.systems)
    part = folds_of(design, seed, MOST_PARTS)
    # Centred scores: the effects of what is left are then differences from the same point.
    score = design.score - design.score.mean()
    columns = np.column_stack([score, *(score - correction.predicted for correction in corrections)])
    numbers, effects = _effects_without_parts(design, columns, part, fitted.ratios)
    count = len(numbers)
    if count < FEWEST_PARTS:
        return [Gain(1.0) for _ in corrections]
    # Where people are not named, or there is one, nothing is known of tastes, and nothing doubted.
    degrees = (design.people - 1) * (systems - 1) if design.people > 1 else float("inf")
    everywhere = [correction.everywhere for correction in corrections]
    shifts = [means_of_parts(matched, taken_off, part, numbers) for taken_off in everywhere]
    return gains_from(effects, shifts, _variance_of_people(sources.model), degrees)


def gains_from(effects: Floats, shifts: Sequence[tuple[Floats, float]], people: float, degrees: float) -> list[Gain]:
    """The gain of each correction.

    Args:
        effects: without each part, (parts, 1 + corrections, systems): those without helpers first.
        shifts: of each correction, what each part adds to the means over the test set, and the variance that texts
            without judgments add (`means_of_parts`).
        people: what people add to the variance of a difference.
        degrees: the degrees of freedom of that.
    """
    count, upper = len(effects), np.triu_indices(effects.shape[2], 1)
    differences = effects[:, :, upper[0]] - effects[:, :, upper[1]]
    influence = (differences.mean(axis=0) - differences) * (count - 1) / count
    plain = (influence[:, 0] ** 2).mean(axis=1) * count / (count - 1)
    gains = []
    for number, (shift, unjudged) in enumerate(shifts, start=1):
        if not shift.any() and np.array_equal(influence[:, number], influence[:, 0]):
            gains.append(Gain(1.0, 1.0, 1.0))
            continue
        helped = (influence[:, number] + shift[:, upper[0]] - shift[:, upper[1]]) ** 2
        gains.append(_gain(plain, helped.mean(axis=1) * count / (count - 1), unjudged, people, degrees))
    return gains


def _gain(plain: Floats, helped: Floats, unjudged: float, people: float, degrees: float) -> Gain:
    """The gain from what each part adds to the variance without helpers and with them."""
    count, before, after = len(plain), float(plain.sum()), float(helped.sum())
    left, quantile = count / (count - 1), float(student_quantile(0.025, count - 1))
    least = _NOTHING * (before + after + people) + np.finfo(float).tiny

    def log_gain(lasting: float) -> tuple[float, float]:
        """The logarithm of the gain if people add so much, and half the length of its interval."""
        fewer, better = (before - plain) * left + lasting, (after - helped) * left + unjudged + lasting
        rest = np.log(np.maximum(fewer, least) / np.maximum(better, least))
        whole = np.log(max(before + lasting, least) / max(after + unjudged + lasting, least))
        return float(whole), quantile * float(np.sqrt((count - 1) * rest.var()))

    doubt = float(np.sqrt(2 / degrees)) * (people + before)
    above = float(np.expm1(log_gain(people)[0])) / (1 + (doubt / max(people + after + unjudged, least)) ** 2)
    low, high = log_gain(people + doubt), log_gain(max(people - doubt, 0.0))
    return Gain(1 + above, float(np.exp(low[0] - low[1])), float(np.exp(high[0] + high[1])))


def _effects_without_parts(
    design: MixedDesign, columns: Floats, part: Codes, ratios: Mapping[str, float]
) -> tuple[list[int], Floats]:
    """Which parts can be left out, and the effects without each: (parts, columns, systems), at known variances."""
    scale = float(columns[:, 0].std()) or 1.0
    numbers, effects = [], []
    # Calibration items say the same of annotators, whichever documents are left out.
    linked = np.zeros(0) if design.linking is None else (design.linking.score - design.score.mean()) / scale
    for number in range(levels_of(part)):
        rows = part != number
        rest = design.subset(rows)
        try:
            found = _effects_of_columns(rest, columns[rows] / scale, linked, ratios)
        except DataError:
            continue
        if rest.systems == design.systems:
            numbers.append(number)
            effects.append(found * scale)
    return numbers, np.array(effects)


def _effects_of_columns(design: MixedDesign, columns: Floats, linked: Floats, ratios: Mapping[str, float]) -> Floats:
    """The effects of all systems for each column of scores."""
    prepared = prepare(design, ratios)
    if design.weight is not None:
        return np.array([prepared.effects_at(column, ratios) for column in columns.T])
    every = np.vstack([columns, np.repeat(linked[:, None], columns.shape[1], axis=1)])
    log_ratios = np.log(prepared.effects.ratios(ratios))
    with one_thread():
        evaluation = evaluate(prepared.layout, totals(prepared.layout, every), log_ratios)
    return np.asarray(evaluation.solution.border[: len(design.systems)].T)


def _variance_of_people(model: Model) -> float:
    """What annotators, their tastes and their tasks add to the variance of a difference, mean over pairs."""
    prepared, systems = model.prepared, len(model.design.systems)
    scale, standard = prepared.standardised(None)
    log_ratios = np.log(prepared.effects.ratios(model.fitted.ratios))
    with one_thread():
        evaluation = evaluate(prepared.layout, totals(prepared.layout, standard[:, None]), log_ratios)
        crossed = evaluation.equations.crossed(evaluation.equations.system_inverse(), systems)
    upper = np.triu_indices(systems, 1)
    added = [
        float(difference_variances(covariance)[upper].mean())
        for effect, covariance in zip(prepared.effects.kept, crossed, strict=True)
        if any(name in _OF_PEOPLE or name.startswith(TASTE) for name in effect.parts)
    ]
    return sum(added) * evaluation.residual_variance * scale.sd**2


def means_of_parts(matched: Matched, everywhere: Floats, part: Codes, numbers: Sequence[int]) -> tuple[Floats, float]:
    """What each part adds to the means over the test set, (parts, systems), and the variance that the rest adds.

    Args:
        matched: the helpers' scores.
        everywhere: what is taken off every output of the test set, (systems, segments).
        part: of every judged row.
        numbers: of the parts.
    """
    systems, segments = everywhere.shape
    of_segment = np.full(segments, -1)
    known = matched.segment >= 0
    of_segment[matched.segment[known]] = part[known]
    means = np.stack([everywhere[:, of_segment == number].sum(axis=1) / segments for number in numbers])
    covariance = covariance_of_means(everywhere, matched.document)
    variance = float(difference_variances(covariance)[np.triu_indices(systems, 1)].mean())
    return means, variance * float((of_segment < 0).mean())


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
    single = []
    if alone and len(matched.names) > 1:
        single = map_tasks(sources.corrected_by, [[number] for number in every], what="each helper alone")
    gain, *gains = estimate_gains(sources, matched, [together, *single], seed)
    gains = gains or [gain] * len(matched.names)
    larger = gain_of(sources.model.fitted.covariance, together.fit.covariance) < 1
    if larger or (gain.high is not None and gain.high < 1):
        together, gain = sources.uncorrected(len(matched.names)), Gain(1.0, 1.0, 1.0)
        larger = True
    useless = [name for name, numbers in zip(matched.names, sources.whole, strict=True) if not numbers.any()]
    notes = (*_notes(design, matched, together, gain, larger=larger), *notes_on_matching(matched, useless))
    return Helped(together, helpers_of(matched, together.slopes, gains), gain.shown, gain.low, gain.high, notes)


def helpers_of(matched: Matched, slopes: Floats, gains: Sequence[Gain]) -> tuple[Helper, ...]:
    """What each helper does, from its slope and what it alone gains."""
    parts = zip(matched.names, slopes.tolist(), gains, matched.scored, strict=True)
    return tuple(
        Helper(name, slope, gain.shown, gain.low, gain.high, int(scored.sum()), int((~scored).sum()))
        for name, slope, gain, scored in parts
    )


def gain_of(without: Floats, helped: Floats) -> float:
    """The ratio of the variances of differences, averaged over all pairs of systems."""
    upper = np.triu_indices(len(without), 1)
    return float((difference_variances(without)[upper] / difference_variances(helped)[upper]).mean())


def notes_on_gain(matched: Matched, gain: Gain, *, used: bool, larger: bool) -> Iterator[str]:
    """What the helpers are worth.

    Args:
        matched: the helpers' scores.
        gain: of all together.
        used: whether they change anything.
        larger: whether they would make errors larger.
    """
    scores = f"scores of all outputs by {counted(len(matched.names), 'helper')}"
    between = "" if gain.low is None else f" ({gain.low:.2f} to {gain.high:.2f} times the judgments)"
    if larger:
        yield f"{scores} would make errors larger: they are left out"
    elif gain.shown >= 1 + NO_GAIN:
        yield f"{scores} are worth {gain.shown:.2f} times the judgments ({gain.low:.2f} to {gain.high:.2f})"
    elif not used:
        yield f"{scores} add nothing to the judgments"
    else:
        yield f"{scores} add nothing that can be told from chance{between}"
    share = matched.judged_share
    if share >= NEARLY_ALL:
        yield (
            f"{share:.0%} of the outputs that the helpers score were judged: where nothing is left to judge, helpers "
            "cannot add anything; give them the scores of the whole test set"
        )


def _notes(design: MixedDesign, matched: Matched, together: Correction, gain: Gain, *, larger: bool) -> Iterator[str]:
    """What the helpers are worth, and on which assumption."""
    yield from notes_on_gain(matched, gain, used=bool(together.predicted.any()), larger=larger)
    if design.weight is not None:
        yield "helpers assume that segments were chosen with the probabilities in the column 'inclusion'"
        return
    yield RANDOM_DRAW
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
