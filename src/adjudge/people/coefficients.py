"""Coefficients of agreement. All but alpha have the form (observed - expected) / (1 - expected).

S (Bennett, Alpert and Goldstein 1954): all categories are equally likely by chance. For preferences from rank labels
this overstates chance ties: somebody who clicks labels at random on a scale of k labels ties two systems with
probability 1/k, not 1/3 (Bojar et al. 2011, section 2.2.2). `chance_of_random_clicks` gives that chance agreement; with
five labels it is .36.

Scott's pi (1955): chance follows the distribution of categories over all annotations together.

Cohen's kappa (1960): chance follows each annotator's own distribution of categories. It is a coefficient for two
annotators. For more, the two-annotator quantities are pooled over all pairs of annotators, each pair weighing as many
times as it has shared annotations:

    kappa = sum n_ab (P_o,ab - P_e,ab) / sum n_ab (1 - P_e,ab)

With two annotators this is Cohen's kappa itself. A plain mean of the pairs' kappas would let two people who share three
items weigh as much as two who share three hundred (and is undefined where they happen to agree on one category).

Fleiss' kappa (1971): Scott's pi for many annotators, every item weighing the same. Observed agreement is the mean over
items of the share of agreeing pairs of annotations, so items may have different numbers of annotations; items with
fewer than two say nothing and are left out.

Krippendorff's alpha (2018): 1 - observed / expected disagreement, for any number of annotators and missing values.
Everything is a sum over units (the things judged), so no table of values x values is needed:

- interval: the squared differences within a unit of m values add up to 2 m sum(x^2) - 2 sum(x)^2;
- ordinal: the ordinal distance of two values is the difference of their mid-ranks among all values, so ordinal alpha is
  interval alpha of the mid-ranks;
- nominal: the pairs that differ follow from how often each value occurs in the unit.

A unit with one value says nothing and is left out, as in the definition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from adjudge.people.results import Coefficients
from adjudge.table.errors import DataError, UsageError, unknown_choice
from adjudge.table.maths import Bools, Floats, Ints, divide, expanded_tail
from adjudge.table.rng import generator
from adjudge.table.settings import option, seed_option
from adjudge.table.wording import counted
from adjudge.work.tasks import map_tasks

if TYPE_CHECKING:
    import scipy.sparse as sp
    from numpy.typing import ArrayLike, NDArray

    from adjudge.table.comparisons import Comparisons


def above_chance(observed: float, expected: float) -> float:
    """(observed - expected) / (1 - expected); NaN where chance alone would agree always, or nothing was observed."""
    return float(above_chance_all(np.array([observed]), np.array([expected]))[0])


def above_chance_all(observed: Floats, expected: Floats) -> Floats:
    """Compute agreement above chance for many values at once."""
    return divide(observed - expected, 1 - expected)


def chance_of_random_clicks(labels: int) -> float:
    """P(E) of better/tie/worse between two people who choose among so many rank labels at random."""
    tie = 1 / labels
    return tie**2 + 2 * ((1 - tie) / 2) ** 2


def chance_of(counts: ArrayLike) -> float:
    """P(E) of two draws from the distribution of these counts."""
    number = np.asarray(counts, dtype=float)
    return float((divide(number, number.sum()) ** 2).sum())


def cohen_kappa(first: Sequence[object], second: Sequence[object]) -> float:
    """Kappa of two annotators' categories for the same items, in the same order."""
    if len(first) != len(second):
        raise UsageError(f"the annotators have {len(first)} and {len(second)} annotations; give one each per item")
    code = {category: i for i, category in enumerate(dict.fromkeys([*first, *second]))}
    table = np.zeros((len(code), len(code)))
    np.add.at(table, ([code[category] for category in first], [code[category] for category in second]), 1)
    return kappa_of_table(table)


def kappa_of_table(table: ArrayLike) -> float:
    """Kappa of a square table: how often the first annotator chose row i where the second chose column j."""
    counts = np.asarray(table, dtype=float)
    total = np.array(counts.sum())
    observed = divide(np.array(np.trace(counts)), total)
    expected = divide(np.array(counts.sum(1) @ counts.sum(0)), total**2)
    return above_chance(float(observed), float(expected))


def pooled_cohen_kappa(pairs: Floats, observed: Floats, expected: Floats) -> tuple[float, float]:
    """Kappa pooled over pairs of annotators, and its P(E).

    Args:
        pairs: how many annotations each two annotators share.
        observed: the share of them that agree.
        expected: the agreement that the two annotators' own distributions would give by chance.

    Returns:
        Kappa and the pooled P(E).
    """
    total = np.array(pairs.sum())
    chance = float(divide(np.array((pairs * expected).sum()), total))
    return above_chance(float(divide(np.array((pairs * observed).sum()), total)), chance), chance


def fleiss_kappa(counts: ArrayLike) -> float:
    """Kappa of a table items x categories: how many annotators put the item into the category."""
    table = np.asarray(counts, dtype=float)
    pairs, agreeing = pairs_within(table)
    return fleiss_parts(table, pairs, agreeing)[0]


def fleiss_parts(counts: Floats, pairs: Floats, agreeing: Floats) -> tuple[float, float]:
    """Kappa and its P(E), where only some pairs within an item count (say, those of different annotators)."""
    used = pairs > 0
    observed = float(divide(np.array((agreeing[used] / pairs[used]).sum()), np.array(used.sum())))
    expected = chance_of(counts[used].sum(0)) if used.any() else float("nan")
    return above_chance(observed, expected), expected


def pairs_within(counts: Floats) -> tuple[Floats, Floats]:
    """Count pairs of annotations, and those that agree, in each row of a table items x categories."""
    total = counts.sum(-1)
    return total * (total - 1) / 2, (counts * (counts - 1)).sum(-1) / 2


Level = Literal["nominal", "ordinal", "interval"]
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")


def alpha(units: ArrayLike, values: ArrayLike, *, level: Level = "interval") -> float:
    """Alpha of values in long form: `values[i]` was given to the thing `units[i]`.

    Args:
        units: what was judged: whole numbers (fast) or anything that can be told apart.
        values: the values given; NaN is a missing value.
        level: `nominal` (equal or not), `ordinal` (order counts), `interval` (differences count).

    Returns:
        1 for perfect agreement, 0 for chance, NaN where no unit has two values or all values are equal.
    """
    if level not in LEVELS:
        raise unknown_choice("level", level, LEVELS)
    code, given = _drop_unpaired(np.asarray(units), np.asarray(values))
    if len(given) == 0:
        return float("nan")
    if level == "nominal":
        return _nominal_alpha_of_values(code, given)
    return _interval_alpha(code, _mid_ranks(given) if level == "ordinal" else given.astype(float))


def nominal_alpha(counts: Floats, pairs: Floats, agreeing: Floats) -> tuple[float, float]:
    """Nominal alpha and its P(E) from a table units x categories.

    `pairs` and `agreeing` say which pairs within a unit count (say, those of different annotators). A unit weighs as
    many times as it has values, which is Krippendorff's definition where all its pairs count.
    """
    used = pairs > 0
    sizes = counts[used].sum(-1)
    total = np.array(sizes.sum())
    disagreement = divide(np.array((sizes * (1 - agreeing[used] / pairs[used])).sum()), total)
    number = counts[used].sum(0)
    chance = divide(np.array((number * (number - 1)).sum()), total * (total - 1))
    return float(1 - divide(disagreement, 1 - chance)), float(chance)


def _drop_unpaired(units: NDArray[np.generic], values: NDArray[np.generic]) -> tuple[Ints, NDArray[np.generic]]:
    """Codes of units and values, without missing values and without units that have one value only."""
    if units.shape != values.shape:
        raise UsageError(f"{units.size} units and {values.size} values were given; each value needs its unit")
    if values.dtype.kind == "f" and np.isnan(values).any():
        kept = ~np.isnan(values)
        units, values = units[kept], values[kept]
    code = _unit_codes(units)
    single = np.bincount(code) == 1 if len(code) else np.zeros(0, dtype=bool)
    if not single.any():
        return code, values
    kept = ~single[code]
    return code[kept], values[kept]


def _unit_codes(units: NDArray[np.generic]) -> Ints:
    if units.dtype.kind in "biuf":
        return _codes(units)
    number: dict[object, int] = {}
    return np.array([number.setdefault(unit, len(number)) for unit in units.tolist()], dtype=np.int64)


def _codes(values: NDArray[np.generic]) -> Ints:
    """Numbers from 0 that keep the order of the values. Whole numbers close together need no sorting."""
    if values.dtype.kind in "biuf" and len(values):
        whole = values.astype(np.int64) if values.dtype.kind != "f" or np.abs(values).max() < 2**53 else None
        if whole is not None and np.array_equal(whole, values):
            low, high = int(whole.min()), int(whole.max())
            if high - low <= 10 * len(values):
                return whole - low
    return np.asarray(np.unique(values, return_inverse=True)[1], dtype=np.int64)


def _interval_alpha(unit: Ints, values: Floats) -> float:
    # Alpha does not change when all values are shifted; around the mean, squares lose no digits.
    centred = values - values.mean()
    sizes = np.bincount(unit).astype(float)
    sums = np.bincount(unit, weights=centred)
    squares = np.bincount(unit, weights=centred * centred)
    used = sizes > 1
    sizes, sums, squares = sizes[used], sums[used], squares[used]
    n = sizes.sum()
    observed = (2 * (sizes * squares - sums**2) / (sizes - 1)).sum() / n
    expected = 2 * (n * squares.sum() - sums.sum() ** 2) / (n * (n - 1))
    return float(1 - divide(np.array(observed), np.array(expected)))


def _mid_ranks(values: NDArray[np.generic]) -> Floats:
    code = _codes(values)
    number = np.bincount(code)
    middle = np.cumsum(number) - number / 2
    return np.asarray(middle[code], dtype=float)


def _nominal_alpha_of_values(unit: Ints, values: NDArray[np.generic]) -> float:
    value = _codes(values)
    kinds = int(value.max()) + 1
    sizes = np.bincount(unit).astype(float)
    cell, times = _count_keys(unit * kinds + value, len(sizes) * kinds)
    # Ordered pairs that agree, each weighing 1 / (m - 1) by the size m of its unit.
    agreement = (times * (times - 1.0) / (sizes[cell // kinds] - 1)).sum() / len(value)
    number = np.bincount(value).astype(float)
    chance = (number * (number - 1)).sum() / (len(value) * (len(value) - 1.0))
    return float(1 - divide(np.array(1 - agreement), np.array(1 - chance)))


def _count_keys(key: Ints, size: int) -> tuple[Ints, Ints]:
    """The keys that occur and how often: by counting where the table is small enough, by sorting otherwise."""
    if size <= 20 * len(key):
        times = np.bincount(key)
        occupied = np.flatnonzero(times)
        return occupied, times[occupied]
    return np.unique(key, return_counts=True)


# Annotations of preferences, grouped so that every coefficient is a sum: by item, by annotator, by pair of annotators.
#
# An item is a pair of systems on a segment. Every unordered pair of annotations of an item is one observation: `intra`
# where one person made both, `inter` otherwise. The categories are better, tie and worse. Which system of a pair comes
# first is arbitrary, so every annotation counts in both directions, and no coefficient depends on the systems' names.
#
# Sums over pairs of annotators are products of sparse matrices, also with annotators counted several times, which makes
# resampling of annotators cheap: with w the times an annotator was drawn, a sum becomes w' M w.

CATEGORIES = 3
TIE = 1


@dataclass(frozen=True, eq=False)
class UnitCounts:
    """Units of agreement: how often each category was used, the pairs of annotations, and those that agree."""

    counts: Floats
    pairs: Floats
    agreeing: Floats

    def mirror(self) -> UnitCounts:
        """Count every unit twice, the second time seen from the other system."""
        both = np.concatenate([self.counts, self.counts[:, ::-1]])
        return UnitCounts(both, np.tile(self.pairs, 2), np.tile(self.agreeing, 2))


@dataclass(frozen=True, eq=False)
class Annotations:
    """Cells: one per item and annotator, with the number of times each category was chosen. Sorted by item."""

    annotators: tuple[str, ...]
    item: Ints
    """Dense codes of items, per cell."""
    annotator: Ints
    counts: Floats
    segment: Ints
    """Codes of segments, per cell."""
    human: Bools
    """Whether a human translation takes part, per cell."""

    def keep(self, kept: Bools) -> Annotations:
        """Keep the marked cells; items are renumbered."""
        item = np.unique(self.item[kept], return_inverse=True)[1]
        return Annotations(
            self.annotators, item, self.annotator[kept], self.counts[kept], self.segment[kept], self.human[kept]
        )

    @property
    def totals(self) -> Floats:
        """How often each category was chosen, over all annotations."""
        return np.asarray(self.counts.sum(0))

    @cached_property
    def intra(self) -> UnitCounts:
        """Units of one annotator each: what they said about one item, where they said it more than once."""
        return _keep_paired(self.counts, *pairs_within(self.counts))

    @cached_property
    def inter(self) -> UnitCounts:
        """Units are items; the pairs within one person are not counted."""
        counts = np.stack([self._per_item(self.counts[:, c]) for c in range(CATEGORIES)], axis=1)
        pairs, agreeing = pairs_within(counts)
        own_pairs, own_agreeing = pairs_within(self.counts)
        return _keep_paired(counts, pairs - self._per_item(own_pairs), agreeing - self._per_item(own_agreeing))

    def per_annotator(self, values: Floats) -> Floats:
        """Sums of one value per cell over the cells of each annotator."""
        return np.asarray(np.bincount(self.annotator, weights=values, minlength=len(self.annotators)), dtype=float)

    def _per_item(self, values: Floats) -> Floats:
        return np.asarray(np.bincount(self.item, weights=values), dtype=float)

    def matrix(self, values: Floats) -> sp.csr_array:
        """One value per cell as a sparse matrix items x annotators."""
        import scipy.sparse as sp

        shape = (int(self.item.max(initial=-1)) + 1, len(self.annotators))
        return sp.csr_array((values, (self.item, self.annotator)), shape=shape)


def _keep_paired(counts: Floats, pairs: Floats, agreeing: Floats) -> UnitCounts:
    used = pairs > 0
    return UnitCounts(counts[used], pairs[used], agreeing[used])


def group_annotations(comparisons: Comparisons, known: Bools) -> Annotations:
    """The annotations behind comparisons; `known` marks those whose annotator and segment are known."""
    systems, people = len(comparisons.systems), len(comparisons.annotators)
    segment = comparisons.segment[known].astype(np.int64)
    first, second = comparisons.first[known].astype(np.int64), comparisons.second[known].astype(np.int64)
    item = np.unique((segment * systems + first) * systems + second, return_inverse=True)[1]
    key = item * people + comparisons.annotator[known]
    cells, first_cell, cell = np.unique(key, return_index=True, return_inverse=True)
    category = comparisons.outcome[known].astype(np.int64) + 1
    counts = np.bincount(cell * CATEGORIES + category, minlength=len(cells) * CATEGORIES)
    human = comparisons.human[first] | comparisons.human[second]
    return Annotations(
        comparisons.annotators,
        cells // people if people else cells,
        cells % people if people else cells,
        counts.reshape(-1, CATEGORIES).astype(float),
        segment[first_cell],
        human[first_cell],
    )


@dataclass(frozen=True, eq=False)
class AnnotatorPairs:
    """Pairs of annotations by `first` and `second` (codes, first < second, or equal for intra)."""

    first: Ints
    second: Ints
    pairs: Floats
    agreeing: Floats
    expected: Floats
    """P(E) from the two annotators' own shares of ties."""

    def summed(self, values: Floats, weights: Floats) -> Floats:
        """The sum of one value per pair of annotators, for every row of weights (resamples x annotators).

        Copies of one annotator are not paired with each other: they would always agree.
        """
        if np.array_equal(self.first, self.second):
            return np.asarray(weights[:, self.first] @ values)
        from scipy.sparse import csr_array

        matrix = csr_array((values, (self.first, self.second)), shape=(weights.shape[1],) * 2)
        return np.asarray(((weights @ matrix) * weights).sum(1))


def chance_with_ties(first: Floats, second: Floats) -> Floats:
    """P(E) of better/tie/worse between two who tie with these probabilities and else prefer either side alike."""
    return np.asarray(first * second + (1 - first) * (1 - second) / 2)


def pair_annotators(annotations: Annotations) -> AnnotatorPairs:
    """Pair annotators who share an item; the ties of each are those on the items they share."""
    from scipy.sparse import triu

    by_category = [annotations.matrix(annotations.counts[:, c]) for c in range(CATEGORIES)]
    both = annotations.matrix(annotations.counts.sum(1))
    pairs = triu(both.T @ both, k=1, format="coo")
    pairs.sum_duplicates()
    first, second = pairs.coords
    agreeing = sum((_pick_entries(counts.T @ counts, first, second) for counts in by_category), np.zeros(len(first)))
    tied = by_category[TIE].T @ both
    shared = pairs.data
    first_ties, second_ties = _pick_entries(tied, first, second), _pick_entries(tied, second, first)
    expected = chance_with_ties(divide(first_ties, shared), divide(second_ties, shared))
    return AnnotatorPairs(first.astype(np.int64), second.astype(np.int64), shared, agreeing, expected)


def _pick_entries(matrix: sp.sparray, rows: NDArray[np.int32], columns: NDArray[np.int32]) -> Floats:
    # SciPy returns a sparse or a dense array, depending on the index.
    entries = matrix.tocsr()[rows, columns]
    return np.asarray(entries.toarray() if hasattr(entries, "toarray") else entries, dtype=float).ravel()


def pair_repeats(annotations: Annotations) -> AnnotatorPairs:
    """Pair every annotator who annotated an item twice with themselves; their ties are those of all annotations."""
    pairs, agreeing = (annotations.per_annotator(number) for number in pairs_within(annotations.counts))
    ties = tie_shares(annotations)
    who = np.flatnonzero(pairs)
    return AnnotatorPairs(who, who, pairs[who], agreeing[who], chance_with_ties(ties[who], ties[who]))


def tie_shares(annotations: Annotations) -> Floats:
    """Each annotator's share of ties; NaN for those without annotations."""
    ties, total = (annotations.counts[:, TIE], annotations.counts.sum(1))
    return divide(annotations.per_annotator(ties), annotations.per_annotator(total))


# What agreement is measured with, and what both kinds of it share: resamples of annotators, notes, the empty case.

LengthUnit = Literal["words", "characters"]
RESAMPLES = 1000
RESAMPLES_PER_TASK = 50
# With two people, half of all draws hold only one of them, who has nobody to agree with.
MIN_ANNOTATORS = 3
FEW_ANNOTATORS = 5
CONFIDENCE = 0.95
ANY_LANGUAGE = ""
"""The key of texts that serve every source language that has none of its own."""


def _read_texts(named: list[str]) -> Mapping[str, Sequence[str]]:
    from adjudge.people.agreement import read_source_texts

    return read_source_texts(named)


def texts_by_language(texts: Mapping[str, Sequence[str]] | Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Texts by the code of their language; those without one serve every language."""
    return texts if isinstance(texts, Mapping) else {ANY_LANGUAGE: texts}


@dataclass(frozen=True)
class AgreeOptions:
    """The settings of `agree`, explained there."""

    labels: int | None = option(
        None, "Number of ranks on the scale. Default: the largest in the data.", only="python", reads=True
    )
    texts: Mapping[str, Sequence[str]] | None = option(
        None,
        "Source text with segment n on line n, for agreement by length. Once, or once per source language.",
        metavar="[LANG=]FILE",
        typed=list[str] | None,
        parse=_read_texts,
        python="Mapping[str, Sequence[str]] | Sequence[str] | None",
        about="the lines of the source text (or those of each source language by its code), for agreement by length.",
        convert=texts_by_language,
    )
    length_unit: Literal["words", "characters"] = option("words", "Unit of text length.")
    resamples: int = option(RESAMPLES, "Bootstrap resamples of annotators for intervals; 0 for no intervals.")
    seed: int = seed_option()

    def __post_init__(self) -> None:
        if self.resamples < 0:
            raise UsageError(f"{self.resamples} resamples were asked for; give 0 or more")

    def draws(self, annotator: Ints, people: int) -> Floats | None:
        """Draw how often each annotator counts in each resample; None if there are too few to draw from."""
        active = np.unique(annotator)
        if self.resamples == 0 or len(active) < MIN_ANNOTATORS:
            return None
        weights = np.zeros((self.resamples, people))
        share = np.full(len(active), 1 / len(active))
        weights[:, active] = generator(self.seed).multinomial(len(active), share, size=self.resamples)
        return weights


def resample_statistic(statistic: Callable[[Floats], Floats], weights: Floats) -> Floats:
    """A statistic of every resample, along the last axis; the resamples are divided among the workers.

    They were drawn beforehand and are always cut in the same places, so the number of workers changes nothing.

    Args:
        statistic: computes the statistic for rows of weights (resamples x annotators).
        weights: how often each annotator was drawn in each resample.
    """
    pieces = [weights[start : start + RESAMPLES_PER_TASK] for start in range(0, len(weights), RESAMPLES_PER_TASK)]
    return np.concatenate(map_tasks(statistic, pieces, what="resamples of annotators"), axis=-1)


def notes_on(inter: int, intra: int, people: int) -> tuple[str, ...]:
    """Note what cannot be measured with so few pairs or annotators; refuse judgments without any pair."""
    if inter + intra == 0:
        raise DataError(
            "nothing was judged twice, so there is no agreement to measure; let people share or repeat some segments"
        )
    notes = []
    if inter == 0:
        notes.append("no two people judged the same thing: there is no agreement between annotators to measure")
    if intra == 0:
        notes.append("nobody judged the same thing twice: there is no agreement within annotators to measure")
    if people < MIN_ANNOTATORS:
        few = counted(people, "annotator is", "annotators are")
        notes.append(f"{few} too few to draw from, so there are no intervals")
    elif people < FEW_ANNOTATORS:
        notes.append(f"only {people} annotators: intervals from resampling so few people are too narrow")
    return tuple(notes)


def percentile_interval(values: Floats, weights: Floats) -> tuple[float, float]:
    """A 95% interval from resampled values, wider where people are few (`expanded_tail`); NaN where most have none.

    Args:
        values: the statistic of every resample.
        weights: how often each annotator was drawn in each resample.
    """
    defined = values[np.isfinite(values)]
    if len(defined) * 2 <= len(values):
        return (float("nan"), float("nan"))
    people = int((weights > 0).any(axis=0).sum())
    tail = expanded_tail((1 - CONFIDENCE) / 2, people)
    low, high = np.quantile(defined, [tail, 1 - tail])
    return (float(low), float(high))


# Coefficients of agreement on preferences, from grouped annotations; intervals by resampling annotators.

RESAMPLED = ("observed", "s", "s_corrected", "pi", "kappa")
"""The coefficients that get intervals."""


def measure_simple(annotations: Annotations, kind: str, labels: int) -> dict[str, float]:
    """Measure observed agreement, and the coefficients that need no more than the share of ties."""
    units = annotations.inter if kind == "inter" else annotations.intra
    observed = float(divide(units.agreeing.sum(), units.pairs.sum()))
    expected = _simple_chance(annotations, labels)
    return {"observed": observed} | {name: above_chance(observed, chance) for name, chance in expected.items()}


def coefficients(annotations: Annotations, kind: str, labels: int, *, weights: Floats | None = None) -> Coefficients:
    """All coefficients of one kind, `inter` or `intra`.

    Args:
        annotations: the annotations, grouped.
        kind: between annotators or within.
        labels: how many rank labels a random clicker has.
        weights: how often each annotator was drawn (resamples x annotators), for intervals.
    """
    units = annotations.inter if kind == "inter" else annotations.intra
    mirrored = units.mirror()
    by_annotator = pair_annotators(annotations) if kind == "inter" else pair_repeats(annotations)
    share = divide(by_annotator.agreeing, by_annotator.pairs)
    kappa, kappa_chance = pooled_cohen_kappa(by_annotator.pairs, share, by_annotator.expected)
    fleiss, fleiss_chance = fleiss_parts(mirrored.counts, mirrored.pairs, mirrored.agreeing)
    alpha, alpha_chance = nominal_alpha(mirrored.counts, mirrored.pairs, mirrored.agreeing)
    chance = {"kappa": kappa_chance, "fleiss": fleiss_chance, "alpha": alpha_chance}
    simple = measure_simple(annotations, kind, labels)
    return Coefficients(
        pairs=int(units.pairs.sum()),
        items=len(units.pairs),
        observed=simple["observed"],
        s=simple["s"],
        s_corrected=simple["s_corrected"],
        pi=simple["pi"],
        kappa=kappa,
        fleiss=fleiss,
        alpha=alpha,
        expected=_simple_chance(annotations, labels) | chance,
        interval={} if weights is None else _intervals(annotations, by_annotator, labels, weights),
    )


def _simple_chance(annotations: Annotations, labels: int) -> dict[str, float]:
    tie = divide(annotations.totals[TIE], annotations.totals.sum())
    return {
        "s": 1 / CATEGORIES,
        "s_corrected": chance_of_random_clicks(labels),
        "pi": float(chance_with_ties(tie, tie)),
    }


def _intervals(
    annotations: Annotations, by_annotator: AnnotatorPairs, labels: int, weights: Floats
) -> dict[str, tuple[float, float]]:
    counts = annotations.counts
    ties, total = (annotations.per_annotator(number) for number in (counts[:, TIE], counts.sum(1)))
    resampled = resample_statistic(partial(_resample_coefficients, by_annotator, ties, total, labels), weights)
    return {name: percentile_interval(values, weights) for name, values in zip(RESAMPLED, resampled, strict=True)}


def _resample_coefficients(
    by_annotator: AnnotatorPairs, ties: Floats, total: Floats, labels: int, weights: Floats
) -> Floats:
    """The coefficients of `RESAMPLED` (rows) in every resample.

    Args:
        by_annotator: pairs of annotations.
        ties: of each annotator.
        total: the annotations of each.
        labels: how many rank labels a random clicker has.
        weights: how often each annotator was drawn (resamples x annotators).
    """
    pairs = by_annotator.summed(by_annotator.pairs, weights)
    observed = divide(by_annotator.summed(by_annotator.agreeing, weights), pairs)
    tie = divide(weights @ ties, weights @ total)
    expected = (
        np.full(len(weights), 1 / CATEGORIES),
        np.full(len(weights), chance_of_random_clicks(labels)),
        chance_with_ties(tie, tie),
        divide(by_annotator.summed(by_annotator.pairs * by_annotator.expected, weights), pairs),
    )
    return np.stack([observed, *(above_chance_all(observed, chance) for chance in expected)])
