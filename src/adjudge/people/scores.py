"""Agreement on scores: interval alpha, typical difference, correlations, and each annotator's own agreement.

Alpha is Krippendorff's with the interval metric. Where a person scored an item more than once, only the pairs of the
kind asked for count (inter or intra), and an item weighs as many times as it has scores; without repeats this is the
usual definition. Correlations are computed for every two annotators on the items they share (repeats averaged first),
and averaged with n - 1 as weight; of repeats, for every annotator, each pair in both orders because neither is first.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from adjudge.people.coefficients import AgreeOptions, notes_on, percentile_interval, resample_statistic
from adjudge.people.results import PARTS, Agreement, AnnotatorAgreement, Coefficients, Number
from adjudge.table.comparisons import SEGMENT_KEY
from adjudge.table.errors import DataError
from adjudge.table.judgments import LEFT_BLANK, Judgments, codes_of, renumber
from adjudge.table.maths import divide
from adjudge.table.protocols import NOT_TRANSLATIONS, RELATIVE
from adjudge.table.rng import generator

if TYPE_CHECKING:
    import scipy.sparse as sp
    from numpy.typing import NDArray


# Scores of the same outputs as sums: number, total and squares per output and annotator; alpha for many resamples.
#
# An item is one system's output for one segment. A pair of scores of an item is `intra` where one person gave both (a
# repeat), `inter` otherwise.
#
# How much an item weighs in alpha depends on who scored it, not on the scores. So items scored by the same people
# equally often (a pattern) are added up first; what is left per pattern is one number per pair of its annotators.
# With w the times an annotator was drawn, the squared differences of a pattern are sum w_a w_b D_ab over a < b, and
# copies of one annotator are never paired with each other.

# Degraded outputs are made to be easy, and tutorials show the answer: neither says how people agree.


@dataclass(frozen=True, eq=False)
class ScoreCells:
    """Cells: one per item and annotator. Scores are taken from the mean of all, so that squares lose no digits."""

    annotators: tuple[str, ...]
    item: NDArray[np.int64]
    annotator: NDArray[np.int64]
    number: NDArray[np.float64]
    total: NDArray[np.float64]
    squares: NDArray[np.float64]
    human: NDArray[np.bool_]

    def keep(self, kept: NDArray[np.bool_]) -> ScoreCells:
        """Keep the marked cells; items are renumbered. Where all are marked, the same object."""
        if kept.all():
            return self
        values = (getattr(self, name)[kept] for name in ("annotator", "number", "total", "squares", "human"))
        return ScoreCells(self.annotators, renumber(self.item[kept]), *values)

    @property
    def own_pairs(self) -> NDArray[np.float64]:
        """Pairs of scores within each cell."""
        return self.number * (self.number - 1) / 2

    @property
    def own_distance(self) -> NDArray[np.float64]:
        """Sum of the squared differences of the pairs within each cell."""
        return np.maximum(self.number * self.squares - self.total**2, 0)

    @property
    def items(self) -> int:
        """How many items there are."""
        return int(self.item.max(initial=-1)) + 1

    def per_item(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums of one value per cell over the cells of each item."""
        return np.asarray(np.bincount(self.item, weights=values, minlength=self.items), dtype=float)

    def per_annotator(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums of one value per cell over the cells of each annotator."""
        return np.asarray(np.bincount(self.annotator, weights=values, minlength=len(self.annotators)), dtype=float)


def usable_scores(judgments: Judgments) -> Judgments:
    """The scores whose annotator and segment are known, of outputs that are not made to be easy.

    One score of a document without a segment is about the whole; several by one person are about segments unknown.
    """
    absolute = ~pl.col("protocol").is_in(RELATIVE) | LEFT_BLANK
    scored = judgments.final().keep(absolute, otherwise="relative judgment among scores")
    scored = scored.keep(pl.col("score").is_not_null(), otherwise="judgment without a score")
    genuine = ~pl.col("kind").is_in(NOT_TRANSLATIONS)
    scored = scored.keep(genuine, otherwise="degraded output, attention check or tutorial")
    known = pl.col("annotator").is_not_null() & pl.col("segment").is_not_null()
    if scored.table["segment"].null_count():
        once = pl.len().over("annotator", *SEGMENT_KEY, _shown()) == 1
        known |= pl.col("annotator").is_not_null() & pl.col("document").is_not_null() & once
    return scored.keep(known, otherwise="score without annotator or segment")


def _shown() -> pl.Expr:
    """What was shown: a control that shows the reference in a system's place is an item of its own, whatever system."""
    control = (pl.col("kind") == "reference") & ~pl.col("human")
    return pl.when(control).then(pl.lit("(reference)")).otherwise(pl.col("system"))


def score_cells(judgments: Judgments) -> ScoreCells:
    """Group the scores by output and annotator."""
    reference = pl.col("human") | (pl.col("kind") == "reference")
    table = judgments.table.select(*SEGMENT_KEY, "protocol", "annotator", "score", shown=_shown(), human=reference)
    item, person = codes_of(table, (*SEGMENT_KEY, "protocol", "shown"), ("annotator",))
    names = tuple(table["annotator"].unique().sort())
    people = max(len(names), 1)
    cells, cell = np.unique(item * people + person, return_inverse=True)
    scores = table["score"].to_numpy() - (table["score"].mean() or 0.0)

    def added(values: NDArray[Any] | None) -> NDArray[np.float64]:
        # In the order of the rows, so that sums are always the same.
        return np.bincount(cell, weights=values, minlength=len(cells)).astype(float)

    return ScoreCells(
        names,
        cells // people,
        cells % people,
        added(None),
        added(scores),
        added(scores**2),
        added(table["human"].to_numpy()) > 0,
    )


# Resamples are made in slices of about this many numbers, to bound memory.
SLICE = 10_000_000


@dataclass(frozen=True, eq=False)
class Patterns:
    """Sums over the items of each pattern; matrices are patterns x annotators or patterns x pairs of annotators."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    """The pairs of annotators, as codes."""
    items: NDArray[np.float64]
    number: sp.csr_array
    """Scores that each annotator gave to one item."""
    total: sp.csr_array
    squares: sp.csr_array
    pairs: sp.csr_array
    """Pairs of scores on one item."""
    distance: sp.csr_array
    """Squared differences, added up over all items."""

    def alpha(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Alpha for every row of weights (resamples x annotators)."""
        if len(self.items) == 0:
            return np.full(len(weights), np.nan)
        step = max(1, SLICE // max(len(self.items), len(self.first)))
        slices = (weights[start : start + step] for start in range(0, len(weights), step))
        return np.concatenate([self._alpha(part) for part in slices])

    def _alpha(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        drawn = weights.T
        together = drawn[self.first] * drawn[self.second]
        pairs, distance, number = self.pairs @ together, self.distance @ together, self.number @ drawn
        # Patterns without a pair do not count. To add their zeros is faster than to leave them out.
        used = pairs > 0
        mean = divide(np.maximum(distance, 0), pairs, otherwise=0.0)
        observed, n = (mean * number).sum(0), (number * self.items[:, None] * used).sum(0)
        total, squares = (((sums @ drawn) * used).sum(0) for sums in (self.total, self.squares))
        return alpha_from_sums(observed, n, total, squares)


def alpha_from_sums(
    observed: NDArray[np.float64], n: NDArray[np.float64], total: NDArray[np.float64], squares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Interval alpha.

    Args:
        observed: over items, the number of scores times the mean squared difference of their pairs, added up.
        n: the number of scores.
        total: their sum.
        squares: the sum of their squares.
    """
    expected = divide(2 * (n * squares - total**2), n * (n - 1))
    # Equal scores everywhere leave rounding noise where there is no spread at all.
    spread = np.where(expected > 1e-12 * divide(squares, n), expected, 0)
    return np.asarray(1 - divide(divide(observed, n), spread))


def patterns(cells: ScoreCells) -> Patterns:
    """Add up items by who scored them how often; `cells` are sorted by item and annotator."""
    from scipy.sparse import csr_array

    people = len(cells.annotators)
    pattern = _pattern_of_items(cells)
    count = int(pattern.max(initial=-1)) + 1
    items = np.bincount(pattern, minlength=count).astype(float)
    first_cell, second_cell = pairs_of_cells(cells.item)
    pair, code = np.unique(cells.annotator[first_cell] * people + cells.annotator[second_cell], return_inverse=True)
    of_pair, of_cell = pattern[cells.item[first_cell]], pattern[cells.item]

    def by_pair(values: NDArray[np.float64]) -> sp.csr_array:
        return csr_array((values, (of_pair, code)), shape=(count, len(pair)))

    def by_person(values: NDArray[np.float64]) -> sp.csr_array:
        return csr_array((values, (of_cell, cells.annotator)), shape=(count, people))

    n, s, q = cells.number, cells.total, cells.squares
    return Patterns(
        pair // people if people else pair,
        pair % people if people else pair,
        items,
        by_person(n / items[of_cell]),
        by_person(s),
        by_person(q),
        by_pair(n[first_cell] * n[second_cell] / items[of_pair]),
        by_pair(n[first_cell] * q[second_cell] + n[second_cell] * q[first_cell] - 2 * s[first_cell] * s[second_cell]),
    )


def _pattern_of_items(cells: ScoreCells) -> NDArray[np.int64]:
    """A code per item, equal where the same people scored as often: by 64-bit sums of random numbers per person."""
    mark = generator(0).integers(0, 2**63, size=len(cells.annotators), dtype=np.uint64)
    terms = mark[cells.annotator] * cells.number.astype(np.uint64)
    starts = np.flatnonzero(np.diff(cells.item, prepend=-1))
    sums = np.add.reduceat(terms, starts) if len(starts) else terms
    return np.asarray(np.unique(sums, return_inverse=True)[1], dtype=np.int64)


def pairs_of_cells(item: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All pairs of places with the same item, by comparing each place with the one 1, 2, 3, ... further on."""
    first_cells: list[NDArray[np.int64]] = []
    second_cells: list[NDArray[np.int64]] = []
    for step in range(1, int(np.bincount(item).max(initial=0))):
        first = np.flatnonzero(item[:-step] == item[step:])
        first_cells.append(first)
        second_cells.append(first + step)
    none = np.zeros(0, dtype=np.int64)
    return np.concatenate([none, *first_cells]), np.concatenate([none, *second_cells])


def agree_on_scores(judgments: Judgments, options: AgreeOptions) -> Agreement:
    """Agreement on numbers given to the same outputs."""
    usable = usable_scores(judgments)
    if len(usable) == 0:
        raise DataError("no judgment has a score, an annotator and a segment (or document); agreement needs all three")
    every = score_cells(usable)
    weights = options.draws(every.annotator, len(every.annotators))
    parts = dict(zip(PARTS, (every, every.keep(~every.human)), strict=True))
    inter = {name: score_coefficients(part, "inter", weights=weights) for name, part in parts.items()}
    intra = {name: score_coefficients(part, "intra", weights=weights) for name, part in parts.items()}
    return Agreement(
        settings={"kind": "scores", "resamples": options.resamples, "seed": options.seed},
        data=judgments.fingerprint,
        set_aside=usable.set_aside,
        notes=judgments.notes + notes_on(inter["all"].pairs, intra["all"].pairs, len(every.annotators)),
        kind="scores",
        inter=inter,
        intra=intra,
        annotators=_by_annotator(every),
    )


def _by_annotator(cells: ScoreCells) -> tuple[AnnotatorAgreement, ...]:
    """One entry per annotator who gave a score, who judged most first."""
    names, sums = cells.annotators, _annotator_sums(cells)
    judgments = sums[0]
    within, between = _within(sums), _between(sums, correlations_between(cells))
    order = sorted(np.flatnonzero(judgments).tolist(), key=lambda i: (-judgments[i], names[i]))
    entries = ((names[i], int(judgments[i]), within[i], between[i]) for i in order)
    return tuple(
        AnnotatorAgreement(annotator=name, judgments=given, ties=float("nan"), intra=intra, inter=inter)
        for name, given, intra, inter in entries
    )


def _annotator_sums(cells: ScoreCells) -> NDArray[np.float64]:
    """Eight rows of sums by annotator.

    Scores; squared differences of repeats; the four of `repeat_products`; pairs with others, and their squared
    differences.
    """
    # What the others gave to the item of each cell; squared differences to them follow from the sums.
    number, total, squares = (
        cells.per_item(sums)[cells.item] - sums for sums in (cells.number, cells.total, cells.squares)
    )
    distance = cells.number * squares + number * cells.squares - 2 * cells.total * total
    repeats = [cells.per_annotator(value) for value in (cells.number, cells.own_distance)]
    others = [cells.per_annotator(value) for value in (cells.number * number, distance)]
    return np.stack([*repeats, *repeat_products(cells), *others])


def _within(sums: NDArray[np.float64]) -> list[dict[str, Number]]:
    pairs, correlation = repeat_correlations(sums[2:6])
    difference = np.sqrt(divide(sums[1], pairs))
    return [{"pairs": int(pairs[i]), "difference": difference[i], "pearson": correlation[i]} for i in range(len(pairs))]


def _between(sums: NDArray[np.float64], correlation: pl.DataFrame) -> list[dict[str, Number]]:
    pairs, distance = sums[6:]
    difference = np.sqrt(divide(np.maximum(distance, 0), pairs))
    means = [mean_correlations(correlation, rows) for rows in _rows_by_annotator(correlation, len(pairs))]
    return [{"pairs": int(pairs[i]), "difference": difference[i], **means[i]} for i in range(len(pairs))]


def _rows_by_annotator(correlation: pl.DataFrame, annotators: int) -> list[NDArray[np.int64]]:
    """The rows of each annotator among those of every two, in their order."""
    who = np.concatenate([correlation["who"].to_numpy(), correlation["who_2"].to_numpy()])
    row = np.tile(np.arange(correlation.height), 2)
    order = np.lexsort((row, who))
    return np.split(row[order], np.searchsorted(who[order], np.arange(1, annotators)))


MIN_SHARED = 3


def score_coefficients(cells: ScoreCells, kind: str, *, weights: NDArray[np.float64] | None = None) -> Coefficients:
    """All that is said of scores of one kind, `inter` or `intra`."""
    once = np.ones((1, len(cells.annotators)))
    if kind == "inter":
        # Only items that two or more people scored count.
        cells = cells.keep(np.bincount(cells.item, minlength=cells.items)[cells.item] > 1)
        pairs, distance = inter_pairs(cells)
        alphas, correlation = patterns(cells).alpha, mean_correlations(correlations_between(cells))
    else:
        cells = cells.keep(cells.number > 1)
        pairs, distance = cells.own_pairs, cells.own_distance
        alphas = partial(_alpha_of_repeats, _repeat_sums(cells))
        correlation = mean_repeat_correlation(repeat_products(cells))
    interval = {} if weights is None else {"alpha": percentile_interval(resample_statistic(alphas, weights), weights)}
    # In points of the scale.
    numbers: dict[str, Number] = {"difference": float(np.sqrt(divide(distance.sum(), pairs.sum())))}
    return Coefficients(
        pairs=int(pairs.sum()),
        items=int((pairs > 0).sum()),
        alpha=float(alphas(once)[0]),
        interval=interval,
        numbers=numbers | correlation,
    )


def inter_pairs(cells: ScoreCells) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Per item: pairs of scores by different people, and the sum of their squared differences."""
    number, total, squares = (cells.per_item(sums) for sums in (cells.number, cells.total, cells.squares))
    pairs = number * (number - 1) / 2 - cells.per_item(cells.own_pairs)
    distance = number * squares - total**2 - cells.per_item(cells.own_distance)
    return pairs, np.maximum(distance, 0)


def _alpha_of_repeats(by_annotator: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Alpha of repeats for every row of weights (resamples x annotators), from `_repeat_sums`."""
    return alpha_from_sums(*(weights @ sums for sums in by_annotator))


def _repeat_sums(cells: ScoreCells) -> NDArray[np.float64]:
    """Four rows of sums by annotator over cells with repeats, in the order that `alpha_from_sums` has."""
    per_cell = divide(2 * cells.own_distance, 2 * cells.own_pairs) * cells.number
    values = (per_cell, cells.number, cells.total, cells.squares)
    return np.stack([cells.per_annotator(sums) for sums in values])


def item_means(cells: ScoreCells) -> NDArray[np.float64]:
    """The mean score of each cell, without the noise of rounding, which would turn equal scores into different ones."""
    return np.round(cells.total / cells.number, 9)


def correlations_between(cells: ScoreCells) -> pl.DataFrame:
    """Pearson's and Spearman's correlation of every two annotators on the items they share."""
    first, second = pairs_of_cells(cells.item)
    mean = item_means(cells)
    people = cells.annotator
    return (
        pl.LazyFrame({"who": people[first], "who_2": people[second], "mean": mean[first], "mean_2": mean[second]})
        .group_by("who", "who_2", maintain_order=True)
        .agg(
            pl.len().alias("shared"),
            pl.corr("mean", "mean_2").alias("pearson"),
            pl.corr(pl.col("mean").rank(), pl.col("mean_2").rank()).alias("spearman"),
            # The correlation with equal scores is 0 / 0, and would come out as any number.
            ((pl.col("mean").min() == pl.col("mean").max()) | (pl.col("mean_2").min() == pl.col("mean_2").max())).alias(
                "equal"
            ),
        )
        .with_columns(pl.when("equal").then(float("nan")).otherwise(pl.col("pearson", "spearman")).name.keep())
        .filter(pl.col("shared") >= MIN_SHARED)
        .sort("who", "who_2")
        .collect(engine="in-memory")
    )


def repeat_products(cells: ScoreCells) -> NDArray[np.float64]:
    """Four sums by annotator for `repeat_correlations`: pairs in both orders, scores, products, squares."""
    often = cells.number - 1
    values = (2 * cells.own_pairs, often * cells.total, cells.total**2 - cells.squares, often * cells.squares)
    return np.stack([cells.per_annotator(value) for value in values])


def repeat_correlations(sums: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Per annotator: pairs of repeats, and their correlation with each pair in both orders."""
    pairs = sums[0]
    mean, product, squares = (divide(value, pairs) for value in sums[1:])
    variance = squares - mean**2
    return pairs / 2, divide(product - mean**2, np.where(variance > 1e-9, variance, 0))


def mean_repeat_correlation(sums: NDArray[np.float64]) -> dict[str, Number]:
    """The mean over annotators, who weigh by their pairs of repeats."""
    pairs, correlation = repeat_correlations(sums)
    used = (pairs >= MIN_SHARED) & np.isfinite(correlation)
    weight = pairs[used] - 1
    mean = float(divide((correlation[used] * weight).sum(), weight.sum()))
    return {"pearson": mean, "annotators": int(used.sum())}


def mean_correlations(correlation: pl.DataFrame, rows: NDArray[np.int64] | None = None) -> dict[str, Number]:
    """The mean over pairs of annotators, a pair with n shared items weighing n - 1; constant scores have none.

    Args:
        correlation: of every two annotators.
        rows: the pairs to take; default: all.
    """
    chosen = slice(None) if rows is None else rows
    weight = correlation["shared"].to_numpy()[chosen] - 1.0
    means: dict[str, Number] = {}
    for name in ("pearson", "spearman"):
        value = correlation[name].to_numpy()[chosen]
        defined = np.isfinite(value)
        means[name] = float(divide((value[defined] * weight[defined]).sum(), weight[defined].sum()))
    return means | {"annotator_pairs": len(weight)}
