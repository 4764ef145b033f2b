"""Agreement on the scores of a large table: all scores of some segments at a time, of which sums are kept.

Alpha, differences and pairs are sums over items. What compares every two annotators is added up by pairs of annotators:
Pearson's correlation, and what the intervals need. Where so many people scored the same items that there are too many
pairs, both are left out. Spearman's correlation needs all items of two people at once and is always left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.agree.score_cells import Patterns, alpha_from_sums, pairs_of_cells, pattern_marks
from adjudge.agree.scores import MIN_SHARED, annotator_sums, inter_pairs, item_means, repeat_sums, shared_cells
from adjudge.core.maths import divide

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from adjudge.agree.score_cells import ScoreCells

MOST_PAIRS = 10_000_000
"""Pairs of scores of the same items, in a part of the table, from which on pairs are not looked at one by one."""
MOST_PATTERNS = 20_000_000
"""Pairs of annotators, over all patterns, from which on there are no intervals."""


@dataclass(frozen=True, eq=False)
class PairTables:
    """What is added up by pairs of annotators; `pattern` says who scored an item and how often."""

    items: pl.DataFrame
    """Columns pattern, items."""
    people: pl.DataFrame
    """Columns pattern, who, number (of one item), total, squares."""
    pairs: pl.DataFrame
    """Columns pattern, who, who_2, pairs (of one item), distance."""
    correlations: pl.DataFrame
    """Columns who, who_2, shared, and the sums of x, y, xx, yy and xy, mean scores of items."""


@dataclass(frozen=True, eq=False)
class ScoreSums:
    """Sums over items; those of different items add up."""

    inter: NDArray[np.float64]
    """Pairs, items, squared differences, and the four of `alpha_from_sums`."""
    intra: NDArray[np.float64]
    """Pairs, items, squared differences."""
    repeats: NDArray[np.float64]
    """By annotator, for the alpha of repeats."""
    annotators: NDArray[np.float64]
    """As `annotator_sums` has them."""
    tables: PairTables | None
    """None where there are too many pairs."""


def score_sums(cells: ScoreCells) -> ScoreSums:
    """The sums of some items, with all their scores."""
    shared = shared_cells(cells)
    pairs, distance = inter_pairs(shared)
    number, total, squares = (shared.per_item(sums) for sums in (shared.number, shared.total, shared.squares))
    observed = (divide(distance, pairs) * number)[pairs > 0].sum()
    again = cells.where(cells.number > 1)
    many = np.bincount(shared.item, minlength=shared.items)
    return ScoreSums(
        np.array([pairs.sum(), (pairs > 0).sum(), distance.sum(), observed, number.sum(), total.sum(), squares.sum()]),
        np.array([again.own_pairs.sum(), len(again.item), again.own_distance.sum()]),
        repeat_sums(again).by_annotator,
        annotator_sums(cells),
        _pair_tables(shared) if (many * (many - 1) // 2).sum() <= MOST_PAIRS else None,
    )


def _pair_tables(cells: ScoreCells) -> PairTables:
    marks = pattern_marks(cells)
    here, there = pairs_of_cells(cells.item)
    n, s, q, mean = cells.number, cells.total, cells.squares, item_means(cells)
    who, who_2 = (cells.annotator[side].astype(np.int32) for side in (here, there))
    people = pl.DataFrame(
        {"pattern": marks[cells.item], "who": cells.annotator.astype(np.int32), "number": n, "total": s, "squares": q}
    )
    distance = n[here] * q[there] + n[there] * q[here] - 2 * s[here] * s[there]
    together = {"pattern": marks[cells.item[here]], "who": who, "who_2": who_2}
    pairs = pl.DataFrame({**together, "pairs": n[here] * n[there], "distance": distance})
    x, y = mean[here], mean[there]
    products = pl.DataFrame({"who": who, "who_2": who_2, "x": x, "y": y, "xx": x * x, "yy": y * y, "xy": x * y})
    return PairTables(
        pl.DataFrame({"pattern": marks}).group_by("pattern").len("items"),
        _added(people, ("pattern", "who"), ("total", "squares"), same="number"),
        _added(pairs, ("pattern", "who", "who_2"), ("distance",), same="pairs"),
        products.group_by("who", "who_2").agg(pl.len().alias("shared"), pl.col("x", "y", "xx", "yy", "xy").sum()),
    )


def _added(table: pl.DataFrame, key: Sequence[str], sums: Sequence[str], *, same: str) -> pl.DataFrame:
    """Rows of equal keys as one; `same` is a column in which they agree."""
    return table.group_by(*key).agg(pl.col(same).first(), pl.col(*sums).sum())


def added_sums(parts: Sequence[ScoreSums]) -> ScoreSums:
    """The sums of all parts together."""
    inter, intra, repeats, annotators = (
        np.sum([getattr(part, name) for part in parts], axis=0) for name in ("inter", "intra", "repeats", "annotators")
    )
    return ScoreSums(inter, intra, repeats, annotators, added_tables([part.tables for part in parts]))


def added_tables(tables: Sequence[PairTables | None]) -> PairTables | None:
    """The tables of all parts together; None where one is missing, or they are too large."""
    known = [table for table in tables if table is not None]
    if len(known) < len(tables) or sum(table.pairs.height for table in known) > MOST_PATTERNS:
        return None
    items = pl.concat(table.items for table in known).group_by("pattern").agg(pl.col("items").sum())
    people, pairs = pl.concat(table.people for table in known), pl.concat(table.pairs for table in known)
    correlations = pl.concat(table.correlations for table in known).group_by("who", "who_2")
    return PairTables(
        items,
        _added(people, ("pattern", "who"), ("total", "squares"), same="number"),
        _added(pairs, ("pattern", "who", "who_2"), ("distance",), same="pairs"),
        correlations.agg(pl.col("shared", "x", "y", "xx", "yy", "xy").sum()),
    )


def inter_alpha(sums: ScoreSums) -> float:
    """Alpha between annotators, without resamples."""
    return float(alpha_from_sums(*(np.array([number]) for number in sums.inter[3:]))[0])


def correlations_of(tables: PairTables) -> pl.DataFrame:
    """Pearson's correlation of every two annotators, with the columns of `correlations_between`; Spearman's is NaN."""
    n = pl.col("shared")
    covariance = pl.col("xy") - pl.col("x") * pl.col("y") / n
    spread, spread_2 = (pl.col(f"{side}{side}") - pl.col(side) ** 2 / n for side in ("x", "y"))
    # Equal scores leave rounding noise where there is no spread.
    both = (spread > 1e-9 * pl.col("xx")) & (spread_2 > 1e-9 * pl.col("yy"))
    pearson = pl.when(both).then(covariance / (spread * spread_2).sqrt()).otherwise(float("nan"))
    return (
        tables.correlations.filter(n >= MIN_SHARED)
        .select("who", "who_2", "shared", pearson=pearson, spearman=pl.lit(float("nan")))
        .sort("who", "who_2")
    )


def patterns_of(tables: PairTables, people: int) -> Patterns:
    """The sums by pattern, for resamples of so many annotators."""
    from scipy.sparse import csr_array

    marks = tables.items.sort("pattern")
    items = marks["items"].cast(pl.Float64).to_numpy()
    by_person, by_pair = tables.people.sort("pattern", "who"), tables.pairs.sort("pattern", "who", "who_2")
    row, row_of_pair = (marks["pattern"].search_sorted(table["pattern"]).to_numpy() for table in (by_person, by_pair))
    first, second = (by_pair[name].cast(pl.Int64).to_numpy() for name in ("who", "who_2"))
    pair, code = np.unique(first * people + second, return_inverse=True)

    def matrix(table: pl.DataFrame, name: str) -> csr_array:
        if table is by_person:
            places, width = (row, by_person["who"].to_numpy()), people
        else:
            places, width = (row_of_pair, code), len(pair)
        return csr_array((table[name].to_numpy(), places), shape=(len(items), width))

    return Patterns(
        pair // max(people, 1),
        pair % max(people, 1),
        items,
        matrix(by_person, "number"),
        matrix(by_person, "total"),
        matrix(by_person, "squares"),
        matrix(by_pair, "pairs"),
        matrix(by_pair, "distance"),
    )
