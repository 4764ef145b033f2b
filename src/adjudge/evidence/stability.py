"""Stability: does the ranking stay when a system, an annotator or a text is left out, or the human made worse?

Scores are ranked by z-scores, as is customary, with lines by Wilcoxon's rank-sum tests. Relative judgments are ranked
by Bradley-Terry with tastes, at the taste of the whole data, and lines come from rank sets; other methods are ranked by
their scores, with lines by sign tests after Holm's correction.

R. Knowles (2021): On the stability of system rankings at WMT.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl

from adjudge.evidence.trust import untried_notes
from adjudge.ranking.changes import (
    BUSIEST,
    GENUINE,
    ONCE_PER_PAIR,
    REMOVALS,
    ChangeFamily,
    Data,
    all_changes,
    block_weights,
    relative_changes,
)
from adjudge.ranking.counts import count_people
from adjudge.ranking.decisions import PairTests, decide
from adjudge.ranking.estimator import is_relative
from adjudge.ranking.lines import check_connected, cluster_numbers, line_after, named_clusters
from adjudge.ranking.methods import Method, find_method
from adjudge.ranking.relative_estimator import RelativeEstimator
from adjudge.ranking.significance import RankSums, mann_whitney, sign_tests
from adjudge.table.comparisons import Comparisons, comparisons
from adjudge.table.errors import DataError, unknown_choice
from adjudge.table.maths import Bools, Codes, Floats, divide
from adjudge.table.protocols import RATED
from adjudge.table.results import Cell, Result, Table, number, text, to_plain
from adjudge.table.rng import generator
from adjudge.table.score_sheet import Sheet, item_means, sheet_of, standardised
from adjudge.table.wording import as_sentences, counted
from adjudge.work.tasks import map_tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence

    from adjudge.evidence.audit import AuditSettings
    from adjudge.ranking.changes import Change
    from adjudge.ranking.estimator import Estimate
    from adjudge.table.judgments import Judgments


@dataclass(frozen=True)
class StabilityRow:
    """One change: the order and clusters of the systems that are in both rankings, before and after."""

    change: str
    family: ChangeFamily
    removed: tuple[str, ...]
    rank_changed: bool
    cluster_changed: bool
    order: tuple[str, ...]
    clusters: tuple[tuple[str, ...], ...]
    flips: tuple[tuple[str, str], ...]
    """Pairs whose order is reversed: (better before, better after)."""
    baseline_order: tuple[str, ...]
    baseline_clusters: tuple[tuple[str, ...], ...]
    pairs: int
    """How many pairs of systems are in both rankings."""
    divisor: float | None = None
    """By what the scores of humans, or the distances of the lowest systems from the top, were divided."""

    @property
    def label(self) -> str:
        """The family in words, with the divisor where there is one."""
        return self.family.label(self.divisor)

    @property
    def both_changed(self) -> bool:
        """Order and clusters changed."""
        return self.rank_changed and self.cluster_changed

    def to_dict(self) -> dict[str, object]:
        """The documented keys."""
        names = (
            "change", "family", "removed", "rank_changed", "cluster_changed", "both_changed", "order", "clusters",
            "flips", "baseline_order", "baseline_clusters", "pairs",
        )  # fmt: skip
        return {name: self.label if name == "family" else to_plain(getattr(self, name)) for name in names}


@dataclass(frozen=True)
class Stability:
    """All changes, and how segments were rated: `SR+DC` with document context, `SR-DC` without."""

    rows: tuple[StabilityRow, ...]
    style: str
    method: str
    rule: str
    notes: tuple[str, ...] = ()
    """What was not tried, and why."""

    def tables(self) -> tuple[Table, ...]:
        """One line per change."""
        table = stability_table(self.rows)
        return (replace(table, note=" ".join([table.note, *as_sentences(self.notes)])),)

    def to_dict(self) -> list[dict[str, object]]:
        """The documented keys: a list of changes."""
        return [row.to_dict() for row in self.rows]


def stability_table(rows: Sequence[StabilityRow]) -> Table:
    """One line per change; families of many (one per annotator or document) are summed up in one line each."""
    lines: list[tuple[Cell, ...]] = []
    for label in dict.fromkeys(row.label for row in rows):
        members = [row for row in rows if row.label == label]
        together = len(members) > FAMILY_IN_FULL
        lone = [(row.change, [row]) for row in members]
        for name, some in [(f"{label} (each of {len(members)})", members)] if together else lone:
            counts = [sum(getattr(row, f"{what}_changed") for row in some) for what in ("rank", "cluster", "both")]
            shown = [f"{n}/{len(some)}" if together else "changed" if n else "–" for n in counts]
            lines.append((name, *shown, sum(len(row.flips) for row in some), sum(row.pairs for row in some)))
    columns = (text("change"), text("rank"), text("cluster"), text("both"), number("flips", 0), number("pairs", 0))
    note = "Did the order, the clusters, or both change among the systems that are in both rankings?"
    return Table("Stability: what if", columns, tuple(lines), note)


FAMILY_IN_FULL = 12


@dataclass(frozen=True, kw_only=True)
class StabilityOverPairs(Result):
    """How many language pairs each change touches, by annotation style: Tables 2 and 3 of Knowles (2021)."""

    verb: ClassVar[str] = "audit stability"

    changes: tuple[ChangeCount, ...]

    def tables(self) -> tuple[Table, ...]:
        """One line per change and style."""
        rows = tuple(
            (f"{one.family} ({one.style})", *(f"{count}/{one.pairs}" for count in (one.rank, one.cluster, one.both)))
            for one in self.changes
        )
        columns = (text("change"), text("rank"), text("cluster"), text("both"))
        note = "Language pairs that had changes, of those to which the change applies."
        return (Table("Stability over language pairs", columns, rows, note),)


@dataclass(frozen=True)
class ChangeCount:
    """In how many of the language pairs a change moved ranks, clusters, both."""

    family: str
    """The family in words, with the divisor where there is one."""
    style: str
    rank: int
    cluster: int
    both: int
    pairs: int


def over_pairs(by_pair: Mapping[str, Stability], *, data: str) -> StabilityOverPairs:
    """Count over language pairs the changes that are made once in each."""
    counted: dict[tuple[str, str], list[StabilityRow]] = {}
    for stability in by_pair.values():
        for row in stability.rows:
            if row.family in ONCE_PER_PAIR:
                counted.setdefault((row.label, stability.style), []).append(row)
    first = next(iter(by_pair.values()))
    return StabilityOverPairs(
        settings={"method": first.method, "lines": first.rule},
        data=data,
        changes=tuple(
            ChangeCount(
                label,
                style,
                sum(row.rank_changed for row in rows),
                sum(row.cluster_changed for row in rows),
                sum(row.both_changed for row in rows),
                len(rows),
            )
            for (label, style), rows in counted.items()
        ),
    )


# The rule of the published stability study.
DEFAULT_RULE = "scipy-1.6"
MOST_ROWS = 100_000_000
"""Rows that are ranked again, in all, beyond which not every annotator and document is left out, ..."""
MOST_LEFT_OUT = 50
"""... but so many of each."""
MOST_CHANGED = 300
"""Items of one annotator up to which it is faster to compare these again than all."""
LEVEL = 0.05
DRAWS = 500
"""Behind rank sets of relative judgments."""


def stability_section(judgments: Judgments, settings: AuditSettings) -> Stability:
    """The section of an audit."""
    if is_relative(judgments):
        return _relative_section(judgments, settings)
    method = "raw" if settings.method == "raw" else "zscore"
    rule = settings.lines or DEFAULT_RULE
    most, notes = _most_left_out(judgments)
    rows = stability(judgments, method=method, rule=rule, removal=settings.removal, most_left_out=most)
    return Stability(rows, rating_style(judgments), method, rule, notes)


def _relative_section(judgments: Judgments, settings: AuditSettings) -> Stability:
    estimator = RelativeEstimator(comparisons(judgments), judgments)
    method = find_method(settings.method or "bradley-terry")
    rule = settings.lines or "decided"
    ranker = _RelativeRanker(estimator, method, rule, settings.seed)
    rows, unranked = _try_changes(ranker.systems, ranker.changes, ranker.before, ranker.after)
    notes = [*untried_notes(estimator.units, BUSIEST)]
    if unranked:
        more = f" and {len(unranked) - 3:,} more" if len(unranked) > 3 else ""
        what = f"changes after which the rest cannot be ranked ({len(unranked):,}) are left out"
        notes.append(f"{what}: {', '.join(unranked[:3])}{more}")
    return Stability(rows, "relative", method.name, rule, tuple(notes))


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
        rule: how lines between clusters are drawn, see `ranking.lines`.
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
    ranker = _ScoreRanker(sheet, None if method == "raw" else zero_sd, rule, level)
    if not len(ranker.order):
        raise DataError("every annotator gave the same score to everything, so there is no ranking to change")
    changes = all_changes(sheet, ranker.order, removal=removal, most_left_out=most_left_out)
    chosen = [change for change in changes if families is None or change.family in families]
    return _try_changes(ranker.systems, chosen, ranker.before, ranker.after)[0]


def _try_changes(
    systems: tuple[str, ...],
    changes: Sequence[Change[Data]],
    before: Callable[[Bools], Order],
    after: Callable[[Change[Data]], Order | None],
) -> tuple[tuple[StabilityRow, ...], tuple[str, ...]]:
    """What became of the ranking after each change, and the changes after which the rest cannot be ranked.

    Args:
        systems: by name.
        changes: to make.
        before: ranks the data as they are, without some of the systems.
        after: ranks them after a change; None where the rest cannot be ranked any more.
    """
    orders = map_tasks(after, changes, what="changes to the data")
    removals = {change.removed.tobytes(): change.removed for change in changes}
    whole = {key: before(removed) for key, removed in removals.items()}
    tried = list(zip(changes, orders, strict=True))
    rows = [
        _compared_orders(systems, change, whole[change.removed.tobytes()], order)
        for change, order in tried
        if order is not None
    ]
    return tuple(rows), tuple(change.name for change, order in tried if order is None)


class _ScoreRanker:
    """Scores or z-scores, with lines by rank-sum tests.

    Where one annotator is left out, only the items that this person judged are averaged and compared again.
    """

    def __init__(self, sheet: Sheet, zero_sd: str | None, rule: str, level: float) -> None:
        self.raw, self.zero_sd, self.rule, self.level = sheet, zero_sd, rule, level
        self.systems = sheet.systems
        self.sheet = sheet = self._prepared(sheet)
        used = sheet.rated & ~np.isnan(sheet.score)
        self.item, self.score, self.annotator = sheet.item[used], sheet.score[used], sheet.annotator[used]
        self.means = item_means(sheet)
        means = self.means.system_means(len(sheet.systems))
        self.order = np.array([i for i in np.argsort(-means, kind="stable") if not np.isnan(means[i])])
        self.sums = RankSums(self.means.mean, self.means.system, len(sheet.systems)) if len(self.order) else None
        seen = np.bincount(self.item, minlength=len(sheet.item_system)) > 0
        self.place = np.cumsum(seen) - 1
        """Of every item among those that have a mean."""

    def _prepared(self, raw: Sheet) -> Sheet:
        """The scores that are ranked: z-scores, unless nothing is said of equal ones."""
        return raw if self.zero_sd is None else standardised(raw, zero_sd=self.zero_sd)

    def before(self, removed: Bools) -> Order:
        """The ranking of the whole."""
        return self._ranked(self.sheet, removed)

    def after(self, change: Change[Sheet]) -> Order:
        """The ranking after a change, which every score survives."""
        if change.annotator is not None:
            return self._without(change.annotator)
        return self._ranked(self._prepared(change.apply(self.raw)), change.removed)

    def _without(self, annotator: int) -> Order:
        """Order and clusters without an annotator."""
        by_annotator = self.annotator == annotator
        items = np.unique(self.item[by_annotator])
        if len(items) > MOST_CHANGED or self.sums is None:
            nobody = np.zeros(len(self.systems), dtype=bool)
            return self._ranked(self.sheet.keep(self.sheet.annotator != annotator), nobody)
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
        return self._ordered(means.system_means(len(self.systems)), self.sums.tests_after(place, left))

    def _ranked(self, sheet: Sheet, removed: Bools) -> Order:
        """Order and clusters of the systems that are not removed."""
        means = item_means(sheet)
        n = len(sheet.systems)
        scores = np.where(removed, np.nan, means.system_means(n))
        compared = ~removed[means.system]
        return self._ordered(scores, mann_whitney(means.mean[compared], means.system[compared], n))

    def _ordered(self, scores: Floats, tests: PairTests) -> Order:
        order = _order_of(scores, self.systems)
        if not len(order):
            return Order((), ())
        decided = decide(scores, tests.two_sided, None, level=self.level)
        lines = line_after(self.rule, order, tests, decided.better, self.level)
        numbers = cluster_numbers(lines)
        names = tuple(self.systems[i] for i in order)
        return Order(names, named_clusters(names, numbers))


@dataclass(frozen=True, eq=False)
class _Ranked:
    """Scores of systems with what lines are drawn from."""

    systems: tuple[str, ...]
    scores: Floats
    tests: PairTests
    estimate: Estimate | None
    """By strengths with tastes, where the scores are such."""


class _RelativeRanker:
    """Relative judgments by one method and rule; the taste found first is kept."""

    def __init__(self, estimator: RelativeEstimator, method: Method, rule: str, seed: int) -> None:
        self.method, self.rule, self.seed = method, rule, seed
        self.systems, self.compared = estimator.systems, estimator.compared
        self.taste: float | None = None
        self.whole = self._estimate(estimator)
        order = _order_of(self.whole.scores, self.systems)
        self.changes = list(relative_changes(self.compared, order, estimator.segment_names))

    def before(self, removed: Bools) -> Order:
        """The ranking of the whole."""
        return self._ordered(self.whole, removed)

    def after(self, change: Change[Comparisons]) -> Order | None:
        """The ranking after a change; None where the rest cannot be ranked any more."""
        try:
            ranked = self._estimate(RelativeEstimator(change.apply(self.compared)), weighted=change.weighted)
        except DataError:
            return None
        return self._ordered(ranked, np.zeros(len(ranked.systems), dtype=bool))

    def _estimate(self, estimator: RelativeEstimator, *, weighted: bool = False) -> _Ranked:
        """Score all systems and compare them."""
        compared, tally = estimator.compared, estimator.tally
        check_connected(tally)
        weights = block_weights(compared) if weighted else None
        if self.method.significance == "tastes" and estimator.by_tastes:
            estimate, taste = estimator.estimate_at(self.taste, weights)
            self.taste = taste if self.taste is None else self.taste
            tests = PairTests(estimate.contrasts.greater, estimate.contrasts.two_sided)
            return _Ranked(estimator.systems, estimate.effects, tests, estimate)
        if weights is not None:
            nobody = np.zeros(len(compared), dtype=np.int64)
            people = count_people(compared, nobody, nobody[:1], weights=weights)
            tally = replace(tally, wins=people.wins[0], ties=people.ties[0])
        scores = self.method.score(tally, generator(self.seed))
        return _Ranked(estimator.systems, scores, sign_tests(tally.wins), None)

    def _ordered(self, ranked: _Ranked, removed: Bools) -> Order:
        """Order and clusters of the systems that are not removed."""
        order = np.array([i for i in _order_of(ranked.scores, ranked.systems) if not removed[i]], dtype=np.int64)
        names = tuple(ranked.systems[i] for i in order)
        if len(order) < 2:
            return Order(names, (names,))
        part = np.ix_(order, order)
        tests = PairTests(ranked.tests.greater[part], ranked.tests.two_sided[part])
        covariance = None if ranked.estimate is None else ranked.estimate.covariance[part]
        decided = decide(ranked.scores[order], tests.two_sided, covariance, level=LEVEL, draws=DRAWS)
        lines = line_after(self.rule, np.arange(len(order)), tests, decided.better, LEVEL)
        return Order(names, named_clusters(names, cluster_numbers(lines)))


def _order_of(scores: Floats, systems: Sequence[str]) -> Codes:
    """The systems that have a score, the best first; equal ones by name."""
    kept = [i for i, score in enumerate(scores) if not np.isnan(score)]
    return np.array(sorted(kept, key=lambda i: (-scores[i], systems[i])), dtype=np.int64)


def _compared_orders(systems: Sequence[str], change: Change[Data], before: Order, after: Order) -> StabilityRow:
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
        cluster_changed=list(map(frozenset, before.clusters)) != list(map(frozenset, after.clusters)),
        order=after.order,
        clusters=after.clusters,
        flips=flips,
        baseline_order=before.order,
        baseline_clusters=before.clusters,
        pairs=len(common) * (len(common) - 1) // 2,
        divisor=change.divisor,
    )
