"""Stability: does the ranking stay when a system, an annotator or a document is left out, or the human made worse?

R. Knowles (2021): On the stability of system rankings at WMT.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.audit.changes import GENUINE, REMOVALS, all_changes
from adjudge.core.errors import DataError, unknown_choice
from adjudge.core.maths import divide
from adjudge.core.protocols import RATED
from adjudge.core.score_sheet import item_means, sheet_of, standardised
from adjudge.core.wording import counted
from adjudge.rank.lines_and_rank_sets import cluster_numbers, line_after, named_clusters
from adjudge.rank.mann_whitney import RankSums, mann_whitney
from adjudge.results.audit.stability import Stability, StabilityRow
from adjudge.work import map_tasks

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from numpy.typing import NDArray

    from adjudge.audit.changes import Change
    from adjudge.audit.relative.changes import RelativeChange
    from adjudge.audit.settings import AuditSettings
    from adjudge.core.judgments import Judgments
    from adjudge.core.score_sheet import Sheet
    from adjudge.rank.significance import PairTests
    from adjudge.results.audit.stability import ChangeFamily

# The rule of the published stability study.
DEFAULT_RULE = "scipy-1.6"
MOST_ROWS = 100_000_000
"""Rows that are ranked again, in all, beyond which not every annotator and document is left out, ..."""
MOST_LEFT_OUT = 50
"""... but so many of each."""
MOST_CHANGED = 300
"""Items of one annotator up to which it is faster to compare these again than all."""


def section(judgments: Judgments, settings: AuditSettings) -> Stability:
    """The section of an audit: by z-scores, unless another customary method is asked for."""
    method = "raw" if settings.method == "raw" else "zscore"
    rule = settings.lines or DEFAULT_RULE
    most, notes = _most_left_out(judgments)
    rows = stability(judgments, method=method, rule=rule, removal=settings.removal, most_left_out=most)
    return Stability(rows, rating_style(judgments), method, rule, notes)


def _most_left_out(judgments: Judgments) -> tuple[int | None, tuple[str, ...]]:
    """How many annotators and documents of a large table are left out, and what must be said of it."""
    rated = judgments.table.lazy().filter(pl.col("kind").is_in(RATED))
    units = rated.select(pl.col("annotator", "document").drop_nulls().n_unique()).collect().row(0)
    if sum(units) * len(judgments) <= MOST_ROWS or max(units) <= MOST_LEFT_OUT:
        return None, ()
    note = (
        f"of {counted(units[0], 'annotator')} and {counted(units[1], 'document')}, those {MOST_LEFT_OUT} of each with "
        "the most judgments were left out one by one, because the table is large"
    )
    return MOST_LEFT_OUT, (note,)


def rating_style(judgments: Judgments) -> str:
    """`SR+DC` where most screens show several segments of one document by one system, `SR-DC` otherwise."""
    rated = judgments.table.filter(pl.col("kind").is_in(RATED) & pl.col("screen").is_not_null())
    segments = rated.group_by("annotator", "task", "screen").agg(pl.col("segment").n_unique())["segment"]
    return "SR+DC" if segments.len() and (segments > 1).sum() > segments.len() / 2 else "SR-DC"


@dataclass(frozen=True)
class Order:
    """Systems in order, the best first, and the clusters between lines."""

    order: tuple[str, ...]
    clusters: tuple[tuple[str, ...], ...]


def stability(
    judgments: Judgments,
    *,
    method: str = "zscore",
    rule: str = DEFAULT_RULE,
    level: float = 0.05,
    zero_sd: str = "drop",
    removal: str = GENUINE,
    families: Container[ChangeFamily] | None = None,
    most_left_out: int | None = None,
) -> tuple[StabilityRow, ...]:
    """Make every change to the data that applies, rank again, and compare.

    Args:
        judgments: scores of one language pair.
        method: `zscore` or `raw`.
        rule: how lines between clusters are drawn, see `rank.lines_and_rank_sets`.
        level: significance level of the lines.
        zero_sd: what becomes of annotators whose scores are all equal, `drop` or `zero`.
        removal: which rows go when human translations are removed: `genuine`, or `all-rows` under their names, their
            degraded versions among them, as the script of Knowles (2021) does.
        families: the families of changes to make; default: all of them.
        most_left_out: how many annotators and documents are left out one by one; default: all of them.
    """
    if removal not in REMOVALS:
        raise unknown_choice("removal", removal, REMOVALS)
    sheet = sheet_of(judgments)
    if not np.isnan(sheet.given_z).all():
        raise DataError("only means of segments were released, so z-scores cannot be made again after a change")

    def prepare(raw: Sheet) -> Sheet:
        return raw if method == "raw" else standardised(raw, zero_sd=zero_sd)

    original = prepare(sheet)
    means = item_means(original).system_means(len(sheet.systems))
    order = np.array([i for i in np.argsort(-means, kind="stable") if not np.isnan(means[i])])
    if len(order) == 0:
        raise DataError("every annotator gave the same score to everything, so there is no ranking to change")
    changes = [
        change
        for change in all_changes(sheet, order, removal=removal, most_left_out=most_left_out)
        if families is None or change.family in families
    ]
    removals = {change.removed.tobytes(): change.removed for change in changes}
    baselines = {key: _ranked(original, removed, rule, level) for key, removed in removals.items()}

    everybody = _Everybody(original)

    def compare(change: Change) -> StabilityRow:
        if change.annotator is not None:
            after = everybody.ranked_without(change.annotator, rule, level)
        else:
            after = _ranked(prepare(change.apply(sheet)), change.removed, rule, level)
        return compared_orders(sheet.systems, change, baselines[change.removed.tobytes()], after, change.divisor)

    return tuple(map_tasks(compare, changes, what="changes to the data"))


class _Everybody:
    """The scores of all annotators by item, from which those of one are taken away.

    Only the items that the annotator judged change, so the others are neither averaged nor compared again.
    """

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        used = sheet.rated & ~np.isnan(sheet.score)
        self.item, self.score, self.annotator = sheet.item[used], sheet.score[used], sheet.annotator[used]
        self.means = item_means(sheet)
        self.sums = RankSums(self.means.mean, self.means.system, len(sheet.systems))
        seen = np.bincount(self.item, minlength=len(sheet.item_system)) > 0
        self.place = np.cumsum(seen) - 1
        """Of every item among those that have a mean."""

    def ranked_without(self, annotator: int, rule: str, level: float) -> Order:
        """Order and clusters without an annotator."""
        by_annotator = self.annotator == annotator
        items = np.unique(self.item[by_annotator])
        if len(items) > MOST_CHANGED:
            nobody = np.zeros(len(self.sheet.systems), dtype=bool)
            return _ranked(self.sheet.keep(self.sheet.annotator != annotator), nobody, rule, level)
        judged = np.zeros(len(self.sheet.item_system), dtype=bool)
        judged[items] = True
        others = judged[self.item] & ~by_annotator
        total = np.bincount(self.item[others], self.score[others], minlength=len(judged))[items]
        left = divide(total, np.bincount(self.item[others], minlength=len(judged))[items])
        place = self.place[items]
        mean = self.means.mean.copy()
        mean[place] = left
        kept = ~np.isnan(mean)
        weight = None if self.means.weight is None else self.means.weight[kept]
        means = replace(self.means, mean=mean[kept], system=self.means.system[kept], weight=weight)
        tests = self.sums.tests_after(place, left)
        return _ordered(self.sheet.systems, means.system_means(len(self.sheet.systems)), tests, rule, level)


def _ranked(sheet: Sheet, removed: NDArray[np.bool_], rule: str, level: float) -> Order:
    """Order and clusters of the systems that are not removed."""
    means = item_means(sheet)
    n = len(sheet.systems)
    scores = np.where(removed, np.nan, means.system_means(n))
    compared = ~removed[means.system]
    tests = mann_whitney(means.mean[compared], means.system[compared], n)
    return _ordered(sheet.systems, scores, tests, rule, level)


def _ordered(systems: tuple[str, ...], scores: NDArray[np.float64], tests: PairTests, rule: str, level: float) -> Order:
    """Order and clusters of the systems that have a score."""
    kept = np.flatnonzero(~np.isnan(scores))
    if not len(kept):
        return Order((), ())
    order = np.array(sorted(kept, key=lambda i: (-scores[i], systems[i])), dtype=np.int64)
    numbers = cluster_numbers(line_after(rule, order, tests, np.ones((len(systems), 2), dtype=np.int64), level))
    names = tuple(systems[i] for i in order)
    return Order(names, named_clusters(names, numbers))


def compared_orders(
    systems: Sequence[str], change: Change | RelativeChange, before: Order, after: Order, divisor: float | None = None
) -> StabilityRow:
    """What a change does to the order and the clusters of the systems that are in both rankings."""
    common = set(before.order) & set(after.order)
    order_before = tuple(name for name in before.order if name in common)
    order_after = tuple(name for name in after.order if name in common)
    position = {name: i for i, name in enumerate(order_after)}
    flips = tuple((a, b) for a, b in combinations(order_before, 2) if position[a] > position[b])
    return StabilityRow(
        change=change.name,
        family=change.family,
        removed=tuple(name for name, gone in zip(systems, change.removed, strict=True) if gone),
        rank_changed=order_before != order_after,
        cluster_changed=_as_sets(before.clusters) != _as_sets(after.clusters),
        order=after.order,
        clusters=after.clusters,
        flips=flips,
        baseline_order=before.order,
        baseline_clusters=before.clusters,
        pairs=len(common) * (len(common) - 1) // 2,
        divisor=divisor,
    )


def _as_sets(clusters: tuple[tuple[str, ...], ...]) -> list[frozenset[str]]:
    return [frozenset(cluster) for cluster in clusters]
