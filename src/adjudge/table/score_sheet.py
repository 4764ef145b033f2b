"""Scores as integer-coded columns, and the customary computation of system means.

An item is one segment of one system. Scores are averaged within items first, then over items, so that frequently judged
segments do not weigh more. Judgments of annotators who did not pass the control (column `passed`) only count for
the mean and standard deviation of the annotator.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from adjudge.table.comparisons import NOBODY
from adjudge.table.errors import DataError
from adjudge.table.judgments import INCLUSION, RECOGNISED_EXTRAS, Judgments, answers_needed, codes_of, weights_of
from adjudge.table.maths import Bools, Floats, Ints, distinct, divide, memoised
from adjudge.table.protocols import KIND_CODES, RATED, SCORED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array


# Fields of `Sheet` with one entry per score.
_BY_SCORE = (
    "score", "annotator", "system", "item", "rated", "kind", "document", "original", "given_z", "judgments"
)  # fmt: skip
_NEEDED = (
    "protocol", "annotator", "document", "segment", "system", "kind", "human", "score", INCLUSION, *RECOGNISED_EXTRAS
)  # fmt: skip
# The official z-scores were computed from annotators' means and standard deviations as R prints them. The same rounding
# changes a z-score by less than 1e-6, and reproduces the official numbers to their last digit.
PRINTED_DIGITS = 7


@dataclass(frozen=True, eq=False)
class Sheet:
    """One entry per score. `rated` marks those that count for systems.

    The others are controls, which only show how an annotator uses the scale.
    """

    systems: tuple[str, ...]
    human: Bools
    annotators: tuple[str, ...]
    score: Floats
    annotator: Ints
    system: Ints
    item: Ints
    item_system: Ints
    rated: Bools
    kind: Ints
    """Code in `table.protocols.KIND_CODES`."""
    documents: tuple[str, ...]
    document: Ints
    """Index in `documents`, -1 if the document is not known."""
    original: Bools
    """False for the copy of a judgment that was credited to another system with the same output."""
    given_z: Floats
    """A released z-score (if only segment means were released), NaN otherwise."""
    judgments: Ints
    """The number of judgments behind the score: 1, unless it is a released mean."""
    item_weight: Floats | None = None
    """1 / probability of every item's segment, if segments were sampled with unequal probabilities."""

    def with_scores(self, score: Floats) -> Sheet:
        """Replace the scores."""
        return replace(self, score=score)

    def keep(self, rows: Bools) -> Sheet:
        """Keep these rows; codes do not change."""
        return replace(self, **{name: getattr(self, name)[rows] for name in _BY_SCORE})

    def of_kind(self, kind: str) -> Bools:
        """Mark the scores of this kind."""
        of_this_kind: Bools = self.kind == KIND_CODES[kind]
        return of_this_kind

    def of_systems(self, chosen: Bools) -> Bools:
        """Mark the scores of these systems (marked by index), whatever their kind."""
        marked: Bools = (self.system >= 0) & chosen[self.system]
        return marked


@memoised
def sheet_of(judgments: Judgments) -> Sheet:
    """Code the scores of one language pair, last revision; rows without a score are left out."""
    table = judgments.final().table
    table = table.select(name for name in _NEEDED if name in table.columns)
    table = table.filter(pl.col("protocol").is_in(SCORED) & pl.col("score").is_not_null())
    rated = _mark_rated(table, judgments)
    systems = table["system"].filter(rated).unique().sort()
    annotators = table["annotator"].fill_null(NOBODY).unique().sort()
    documents = table["document"].drop_nulls().unique().sort()
    item = _items(table)
    system = _codes(table["system"], systems)
    item_system = np.full(int(item.max()) + 1, -1, dtype=np.int64)
    item_system[item] = system
    human = set(table.filter(pl.col("human"))["system"].to_list())
    return Sheet(
        systems=tuple(systems),
        human=np.array([name in human for name in systems], dtype=bool),
        annotators=tuple(annotators),
        score=table["score"].to_numpy().astype(float),
        annotator=_codes(table["annotator"].fill_null(NOBODY), annotators),
        system=system,
        item=item,
        item_system=item_system,
        rated=rated.to_numpy(),
        kind=_constant(_codes(table["kind"], tuple(KIND_CODES))),
        documents=tuple(documents),
        document=_codes(table["document"], documents),
        original=_constant(~_column(table, "copy", False).to_numpy()),
        given_z=_constant(_column(table, "z", float("nan")).to_numpy()),
        judgments=_constant(_column(table, "n", 1).cast(pl.Int64).to_numpy()),
        item_weight=_item_weights(table, rated, item),
    )


def in_table(judgments: Judgments, values: Floats) -> Floats:
    """Values of the scores of a sheet, by row of the table of last revisions; NaN for rows without a score."""
    scored = pl.col("protocol").is_in(SCORED) & pl.col("score").is_not_null()
    rows = judgments.final().table.select(scored.fill_null(value=False)).to_series().to_numpy()
    by_row = np.full(len(rows), np.nan)
    by_row[rows] = values
    return by_row


def own_means(judgments: Judgments) -> Floats:
    """The mean of its annotator, which z-scores take off, by row of the table of last revisions."""
    sheet = sheet_of(judgments)
    who, people = sheet.annotator[sheet.original], len(sheet.annotators)
    count = np.bincount(who, minlength=people)
    mean = divide(np.bincount(who, sheet.score[sheet.original], minlength=people), count)
    return in_table(judgments, mean[sheet.annotator])


def _mark_rated(table: pl.DataFrame, judgments: Judgments) -> pl.Series:
    """Mark the scores of systems by annotators who passed; judgments without any are refused."""
    rated = table["kind"].is_in(RATED) & _column(table, "passed", True)
    if not rated.any():
        raise answers_needed("scores of systems", judgments, "choose a method for rankings")
    return rated


def _items(table: pl.DataFrame) -> Ints:
    """An integer for every output of a system for a segment."""
    (codes,) = codes_of(table, ("system", "document", "segment"))
    return codes


def _item_weights(table: pl.DataFrame, rated: pl.Series, item: Ints) -> Floats | None:
    """1 / probability of every item's segment, 1 for items without a rated score; None if all are equal."""
    weight = weights_of(table.filter(rated))
    if weight is None:
        return None
    by_item = np.ones(int(item.max()) + 1)
    by_item[item[rated.to_numpy()]] = weight
    return by_item


def _column(table: pl.DataFrame, name: str, otherwise: bool | float) -> pl.Series:
    """An additional column of some readers; `otherwise` if it is missing, empty or of another type."""
    if name not in table.columns or table[name].dtype == pl.String:
        return pl.repeat(otherwise, table.height, eager=True).alias(name)
    return table[name].fill_null(otherwise)


def _constant(values: NDArray[Any]) -> NDArray[Any]:
    """The same values; one that stands in every place is held once."""
    first = values[:1]
    same = bool(
        np.isnan(values).all() if first.dtype.kind == "f" and np.isnan(first).any() else (values == first).all()
    )
    return np.broadcast_to(first, values.shape) if same and len(values) else values


def _codes(column: pl.Series, values: Sequence[str] | pl.Series) -> Ints:
    """The index of every entry among the values, -1 where it is not there."""
    codes = column.replace_strict(values, range(len(values)), default=-1, return_dtype=pl.Int64)
    return codes.fill_null(-1).to_numpy()


@dataclass(frozen=True, eq=False)
class ItemMeans:
    """The mean score and system of every scored item, and the number of scores of each system."""

    mean: Floats
    system: Ints
    judgments: Ints
    weight: Floats | None = None
    """The weight of every item, if segments were sampled with unequal probabilities."""

    def system_means(self, systems: int) -> Floats:
        """The (weighted) mean over items of each system; NaN for a system without any."""
        weight = np.ones(len(self.mean)) if self.weight is None else self.weight
        count = np.bincount(self.system, weights=weight, minlength=systems)
        total = np.bincount(self.system, weights=weight * self.mean, minlength=systems)
        return divide(total, count)


def item_means(sheet: Sheet) -> ItemMeans:
    """Average the rated scores within items."""
    used = sheet.rated & ~np.isnan(sheet.score)
    item, score = sheet.item[used], sheet.score[used]
    items = len(sheet.item_system)
    count = np.bincount(item, minlength=items)
    total = np.bincount(item, weights=score, minlength=items)
    has_scores = count > 0
    judged = np.bincount(sheet.system[used], weights=sheet.judgments[used], minlength=len(sheet.systems))
    weight = None if sheet.item_weight is None else sheet.item_weight[has_scores]
    mean, system = total[has_scores] / count[has_scores], sheet.item_system[has_scores]
    return ItemMeans(mean, system, judged.astype(np.int64), weight)


def standardised(sheet: Sheet, *, zero_sd: str = "drop", calibrated: bool = False) -> Sheet:
    """Scores as z: minus the annotator's mean, divided by the annotator's standard deviation (n - 1).

    Args:
        sheet: the scores, including controls, which show how an annotator uses the scale.
        zero_sd: the treatment of annotators whose scores are all equal: `drop` (no z) or `zero` (z = 0).
        calibrated: use only the calibration items, which all annotators judged.
    """
    base = sheet.original & sheet.of_kind("calibration") if calibrated else sheet.original
    if not base.any():
        raise DataError("there are no calibration items in the data; use zscore, or mark them with kind 'calibration'")
    who, score = sheet.annotator[base], sheet.score[base]
    people = len(sheet.annotators)
    count = np.bincount(who, minlength=people)
    # Centred at one of the annotator's scores, so that equal scores have a spread of exactly 0.
    pivot = np.zeros(people)
    pivot[who] = score
    around = score - pivot[who]
    shift = np.bincount(who, weights=around, minlength=people) / np.maximum(count, 1)
    squares = np.bincount(who, weights=(around - shift[who]) ** 2, minlength=people)
    sd = significant(np.sqrt(squares / np.maximum(count - 1, 1)))
    mean = significant(pivot + shift)
    usable = (count > 1) & (sd > 0)
    z = (sheet.score - mean[sheet.annotator]) / np.where(usable, sd, 1.0)[sheet.annotator]
    otherwise = 0.0 if zero_sd == "zero" else np.nan
    z = np.where(usable[sheet.annotator], z, otherwise)
    return sheet.with_scores(np.where(np.isnan(sheet.given_z), z, sheet.given_z))


def significant(values: Floats, digits: int = PRINTED_DIGITS) -> Floats:
    """Values rounded to this many significant digits."""
    size = np.floor(np.log10(np.abs(values), out=np.zeros_like(values), where=values != 0))
    scale = 10.0 ** (digits - 1 - size)
    rounded: Floats = np.round(values * scale) / scale
    return rounded


def resampled_means(sheet: Sheet, count: int, rng: np.random.Generator) -> Floats:
    """System means over bootstrap resamples of annotators: (count, systems).

    An item that one annotator judged once counts where the annotator was drawn, however often: sums by annotator and
    system say all of these items. Other items of a system that the same annotators judged, as the segments of a
    document, are taken together: the sum of their means is the sum of everybody's scores by the number of times that
    these were drawn.
    """
    used = sheet.rated & ~np.isnan(sheet.score) & (sheet.item_system[sheet.item] >= 0)
    people, systems = len(sheet.annotators), len(sheet.systems)
    item, who, score = sheet.item[used], sheet.annotator[used], sheet.score[used]
    times = np.bincount(item, minlength=len(sheet.item_system))
    share = np.ones(len(times)) if sheet.item_weight is None else sheet.item_weight
    # In the order of items, so that systems with equal scores get exactly equal sums.
    row_of = np.empty(len(times), dtype=np.int64)
    row_of[item] = np.arange(len(item))
    once = row_of[times == 1]
    cell, weight = (sheet.item_system[item[once]], who[once]), share[item[once]]
    sum_once, weight_once = (_add_up(values, cell, (systems, people)) for values in (weight * score[once], weight))
    again = np.flatnonzero(times[item] > 1)
    again = again[np.lexsort((who[again], item[again]))]
    several = _JudgedBySeveral.of(sheet, share, item[again], who[again], score[again])
    means = np.empty((count, systems))
    step = max(1, _MOST_CELLS // max(several.groups, people, 1))
    for start in range(0, count, step):
        size = min(step, count - start)
        weights = rng.multinomial(people, np.full(people, 1 / people), size=size).T.astype(float)
        total, whole = several.of_resamples(weights)
        drawn = (weights > 0).astype(float)
        means[start : start + size] = divide(sum_once @ drawn + total, weight_once @ drawn + whole).T
    return means


def _add_up(values: Floats, cell: tuple[Ints, Ints], shape: tuple[int, int]) -> csr_array:
    """The sum of the values in each cell of a sparse table, which adds up every row in the same order."""
    from scipy.sparse import coo_array

    return coo_array((values, cell), shape=shape).tocsr()


_MOST_CELLS = 4_000_000
"""Weights of groups in resamples that are held at one time."""


@dataclass(frozen=True, eq=False)
class _JudgedBySeveral:
    """Items that were judged several times, in groups of one system that the same annotators judged equally often."""

    sums: csr_array
    """The sum of everybody's scores of the items of a group: (groups, people)."""
    counts: csr_array
    """How often everybody judged each item of a group: (groups, people)."""
    by_system: csr_array
    """Which groups are of a system: (systems, groups)."""
    weight: Floats
    """The weights of the items of each group, added up."""

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return len(self.weight)

    @classmethod
    def of(cls, sheet: Sheet, share: Floats, item: Ints, who: Ints, score: Floats) -> _JudgedBySeveral:
        """The groups, from the item, annotator and score of every row, in the order of items and annotators."""
        alike = _group_items_judged_alike(sheet, item, who)
        shape, groups = (len(alike.system), len(sheet.annotators)), np.arange(len(alike.system))
        first = alike.first[item]
        items = distinct(item)
        return cls(
            _add_up(share[item] * score, (alike.group[item], who), shape),
            _add_up(np.ones(int(first.sum())), (alike.group[item[first]], who[first]), shape),
            _add_up(np.ones(len(groups)), (alike.system, groups), (len(sheet.systems), len(groups))),
            np.bincount(alike.group[items], weights=share[items], minlength=len(groups)).astype(float),
        )

    def of_resamples(self, weights: Floats) -> tuple[Floats, Floats]:
        """The sum over items of each system and their weight, given how often everybody was drawn: (systems, draws)."""
        drawn = self.counts @ weights
        total = self.by_system @ divide(self.sums @ weights, drawn, otherwise=0.0)
        return total, self.by_system @ ((drawn > 0) * self.weight[:, None])


@dataclass(frozen=True, eq=False)
class _JudgedAlike:
    """Items of one system that the same annotators judged equally often, as groups."""

    group: Ints
    """The group of each item; -1 if it was not judged."""
    first: Bools
    """Whether an item is the first of its group."""
    system: Ints
    """The system of each group."""


def _group_items_judged_alike(sheet: Sheet, item: Ints, who: Ints) -> _JudgedAlike:
    """The groups of items, from the item and annotator of every score, in order."""
    items, start, size = np.unique(item, return_index=True, return_counts=True)
    pattern = np.empty(len(items), dtype=np.int64)
    patterns = 0
    for number in np.unique(size):
        of_this_size = np.flatnonzero(size == number)
        judges = who[start[of_this_size][:, None] + np.arange(number)]
        distinct, code = np.unique(judges, axis=0, return_inverse=True)
        pattern[of_this_size] = patterns + code.ravel()
        patterns += len(distinct)
    system = sheet.item_system[items]
    groups, first, code = np.unique(pattern * len(sheet.systems) + system, return_index=True, return_inverse=True)
    group, is_first = np.full(len(sheet.item_system), -1), np.zeros(len(sheet.item_system), dtype=bool)
    group[items], is_first[items[first]] = code, True
    return _JudgedAlike(group, is_first, groups % len(sheet.systems))
