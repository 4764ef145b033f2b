"""Stability: does the ranking stay when a system, an annotator or a text is left out, or the human made worse?

Scores are ranked by the mixed model, at the variances of the whole data, in the order of averages in points and with
lines between systems that are decided; z-scores, with lines by Wilcoxon's rank-sum tests, stand beside it, because
their instability is what the published study found. Unless the model is asked for, it is tried with the changes that
are made once in a language pair: what it says without an annotator or a document is part of other sections. Relative
judgments are ranked
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
from adjudge.evidence.verdict_comparison import say_flips
from adjudge.mixed.design import DEFAULT_MODEL, MODELS
from adjudge.ranking.changes import (
    BUSIEST,
    DIVISORS,
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
from adjudge.ranking.decisions import PairTests, check_connected, cluster_numbers, decide, line_after, named_clusters
from adjudge.ranking.estimator import Estimate, Part, is_relative
from adjudge.ranking.methods import Method, find_method
from adjudge.ranking.relative_estimator import HELD, RelativeEstimator
from adjudge.ranking.scores import ScoreEstimator, decide_scores
from adjudge.ranking.significance import RankSums, mann_whitney, sign_tests
from adjudge.table.comparisons import Comparisons, comparisons
from adjudge.table.errors import DataError, unknown_choice
from adjudge.table.maths import Bools, Codes, Floats, divide, with_least_errors
from adjudge.table.protocols import RATED
from adjudge.table.results import Cell, Result, Table, number, text, to_plain
from adjudge.table.rng import generator
from adjudge.table.score_sheet import Sheet, in_table, item_means, sheet_of, standardised
from adjudge.table.wording import as_sentences, counted, listed
from adjudge.work.tasks import map_tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence

    from adjudge.evidence.audit import AuditSettings
    from adjudge.ranking.changes import Change
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
    method: str = "zscore"
    """What ranked, before and after."""

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
            "flips", "baseline_order", "baseline_clusters", "pairs", "method",
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

    @property
    def own(self) -> tuple[StabilityRow, ...]:
        """The changes as the method in use ranks them."""
        return tuple(row for row in self.rows if row.method == self.method)

    @property
    def flips(self) -> str:
        """Flipped pairs when humans are made worse, or poor systems better, by each method in a sentence."""
        for family in (ChangeFamily.HUMAN_DIVIDED, ChangeFamily.LOWEST_RAISED):
            counts: dict[str, list[int]] = {}
            for row in self.rows:
                if row.family is family:
                    counts.setdefault(row.method, []).append(len(row.flips))
            if len(counts) > 1:
                what = "distances of the lowest from the top"
                if family is ChangeFamily.HUMAN_DIVIDED:
                    of_references = any(row.change.startswith("references divided") for row in self.rows)
                    what = "scores of references" if of_references else "human scores"
                return say_flips(what, [f"{divisor:g}" for divisor in DIVISORS], counts)
        return ""

    def tables(self) -> tuple[Table, ...]:
        """One line per change."""
        first, *others = dict.fromkeys((self.method, *(row.method for row in self.rows)))
        table = stability_table(self.own)
        once = all(row.family in ONCE_PER_PAIR for row in self.own)
        units = {ChangeFamily.ANNOTATOR_REMOVED: "annotator", ChangeFamily.DOCUMENT_REMOVED: "document"}
        families = {row.family for row in self.rows}
        left_out = listed(["system", *(unit for family, unit in units.items() if family in families)])
        alone = f"Each {left_out} is left out by {listed(others or ['nothing'])} alone"
        more = [f"{alone}; --method {first} leaves them out by {first}, too."] if others and once else []
        notes = [table.note, *[self.flips] * bool(self.flips), *more, *as_sentences(self.notes)]
        title = f"{table.title} ({first})" if others else table.title
        beside = [stability_table([row for row in self.rows if row.method == other]) for other in others]
        return (
            replace(table, title=title, note=" ".join(notes)),
            *(replace(made, title=f"{made.title} ({other})") for made, other in zip(beside, others, strict=True)),
        )

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
            (
                f"{one.family} ({one.style}, by {one.method})",
                *(f"{count}/{one.pairs}" for count in (one.rank, one.cluster, one.both)),
            )
            for one in self.changes
        )
        columns = (text("change"), text("rank"), text("cluster"), text("both"))
        note = "Rankings that had changes, of those to which the change applies."
        return (Table("Stability over all rankings", columns, rows, note),)


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
    method: str = "zscore"


def over_pairs(by_pair: Mapping[str, Stability], *, data: str) -> StabilityOverPairs:
    """Count over language pairs the changes that are made once in each."""
    counted: dict[tuple[str, str, str], list[StabilityRow]] = {}
    for stability in by_pair.values():
        for row in stability.rows:
            if row.family in ONCE_PER_PAIR:
                counted.setdefault((row.label, stability.style, row.method), []).append(row)
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
                method,
            )
            for (label, style, method), rows in counted.items()
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
    method, style = settings.method or DEFAULT_MODEL, rating_style(judgments)
    most, notes = _most_left_out(judgments)
    means = "raw" if method == "raw" else "zscore"
    rule = settings.lines or DEFAULT_RULE

    def by_means() -> tuple[StabilityRow, ...]:
        return stability(judgments, method=means, rule=rule, removal=settings.removal, most_left_out=most)

    if method not in MODELS:
        return Stability(by_means(), style, means, rule, notes)
    ranker = _ModelRanker(judgments, method, settings.lines or "decided", settings.seed)
    changes = ranker.changes(most, every=settings.method is not None)
    rows, unranked = _compare(ranker.systems, changes, ranker.after(changes), ranker.before, method)
    notes = (*notes, *_unranked_note(unranked))
    try:
        rows += by_means()
    except DataError as fault:
        notes = (*notes, f"nothing stands beside it: {fault.for_command_line()}")
    return Stability(rows, style, method, ranker.rule, notes)


def _unranked_note(unranked: Sequence[str]) -> tuple[str, ...]:
    """Which changes leave data that cannot be ranked."""
    if not unranked:
        return ()
    more = f" and {len(unranked) - 3:,} more" if len(unranked) > 3 else ""
    what = f"changes after which the rest cannot be ranked ({len(unranked):,}) are left out"
    return (f"{what}: {', '.join(unranked[:3])}{more}",)


def _relative_section(judgments: Judgments, settings: AuditSettings) -> Stability:
    estimator = RelativeEstimator(comparisons(judgments), judgments)
    method = find_method(settings.method or "bradley-terry")
    rule = settings.lines or "decided"
    ranker = _RelativeRanker(estimator, method, rule, settings.seed)
    rows, unranked = _try_changes(ranker.systems, ranker.changes, ranker.before, ranker.after, method.name)
    held = (f"after changes, {HELD}",) * (ranker.whole.estimate is not None and estimator.is_large)
    notes = (*held, *untried_notes(estimator.units, BUSIEST), *_unranked_note(unranked))
    return Stability(rows, "relative", method.name, rule, notes)


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
        rule: how lines between clusters are drawn, see `ranking.decisions`.
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
    return _try_changes(ranker.systems, chosen, ranker.before, ranker.after, method)[0]


def _try_changes(
    systems: tuple[str, ...],
    changes: Sequence[Change[Data]],
    before: Callable[[Bools], Order],
    after: Callable[[Change[Data]], Order | None],
    method: str,
) -> tuple[tuple[StabilityRow, ...], tuple[str, ...]]:
    """What became of the ranking after each change, and the changes after which the rest cannot be ranked.

    Args:
        systems: by name.
        changes: to make.
        before: ranks the data as they are, without some of the systems.
        after: ranks them after a change; None where the rest cannot be ranked any more.
        method: what ranks.
    """
    return _compare(systems, changes, map_tasks(after, changes, what="changes to the data"), before, method)


def _compare(
    systems: tuple[str, ...],
    changes: Sequence[Change[Data]],
    orders: Sequence[Order | None],
    before: Callable[[Bools], Order],
    method: str,
) -> tuple[tuple[StabilityRow, ...], tuple[str, ...]]:
    """The same where the rankings after the changes are known."""
    removals = {change.removed.tobytes(): change.removed for change in changes}
    whole = {key: before(removed) for key, removed in removals.items()}
    tried = list(zip(changes, orders, strict=True))
    rows = [
        replace(_compared_orders(systems, change, whole[change.removed.tobytes()], order), method=method)
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


_Readings = tuple["Estimate", "Estimate | None"]
"""The estimate that pairs are tested by, and the other one that must agree, where scores have two readings."""


class _ModelRanker:
    """Scores by a mixed model, as `rank` does: the order of averages in points, lines where pairs are decided."""

    def __init__(self, judgments: Judgments, method: str, rule: str, seed: int) -> None:
        self.judgments, self.rule, self.seed = judgments, rule, seed
        whole = ScoreEstimator(judgments, model=method)
        self.reading, self.systems = whole.reading, whole.systems
        self.estimators = [whole]
        if whole.reading is not None:
            points = whole.in_points()
            typical = ScoreEstimator(judgments, whole.design.with_model("mixed-rank"), check=False)
            self.estimators = [points, typical] if whole.reading == "average" else [typical, points]
        self.floor = None if self.reading is None else whole.average.contrasts
        """The least errors of averages in points: how much they vary with the documents."""
        self.whole = self._readings([estimator.estimate for estimator in self.estimators])
        self.units = {
            f"{units.kind} {name}": (units, code) for units in whole.units for code, name in enumerate(units.names)
        }

    def changes(self, most_left_out: int | None, *, every: bool) -> list[Change[Sheet]]:
        """The changes that touch what the model uses: all of them, or those that are made once in a language pair."""
        whole = self._shown(self.whole)
        sheet = sheet_of(self.judgments)
        place = {name: i for i, name in enumerate(sheet.systems)}
        order = np.array([place[self.systems[i]] for i in _order_of(whole.effects, self.systems)], dtype=np.int64)
        made = all_changes(sheet, order, most_left_out=most_left_out)
        wanted = [change for change in made if every or change.family in ONCE_PER_PAIR]
        human = whole.human.any()
        of_human = (ChangeFamily.HUMAN_REMOVED, ChangeFamily.HUMAN_DIVIDED)
        # The systems of the model, where annotators without any spread alone judged another.
        known = np.array([place[name] for name in self.systems], dtype=np.int64)
        return [
            replace(change, removed=change.removed[known])
            for change in wanted
            if (human or change.family not in of_human)
            and (self._unit(change) is None or self._unit(change) in self.units)
        ]

    @staticmethod
    def _unit(change: Change[Sheet]) -> str | None:
        """The annotator or document that is left out, as in `units`."""
        left_out = (ChangeFamily.ANNOTATOR_REMOVED, ChangeFamily.DOCUMENT_REMOVED)
        return change.name.removeprefix("without ") if change.family in left_out else None

    def before(self, removed: Bools) -> Order:
        """The ranking of the whole."""
        return self._ordered(self.whole, removed)

    def after(self, changes: Sequence[Change[Sheet]]) -> list[Order | None]:
        """The ranking after each change; None where the rest cannot be ranked any more."""
        made = [self._estimates(estimator, changes) for estimator in self.estimators]
        return [
            None if any(one is None for one in both)
            else self._ordered(self._readings([one for one in both if one is not None]), change.removed)
            for change, both in zip(changes, zip(*made, strict=True), strict=True)
        ]  # fmt: skip

    def _estimates(self, estimator: ScoreEstimator, changes: Sequence[Change[Sheet]]) -> list[Estimate | None]:
        """By one reading: without a unit, without systems, or with other scores."""
        found: dict[int, Estimate | None] = {}
        unit_of = {i: self.units[unit] for i, change in enumerate(changes) if (unit := self._unit(change)) is not None}
        for units in estimator.units:
            here = [i for i, (of_kind, _) in unit_of.items() if of_kind.kind == units.kind]
            codes = np.array([unit_of[i][1] for i in here], dtype=np.int64)
            found |= dict(zip(here, estimator.without_each(units, codes), strict=True))
        rescored = [i for i, change in enumerate(changes) if change.divisor is not None]
        removed = [i for i in range(len(changes)) if i not in unit_of and i not in rescored]
        parts = estimator.parts([Part(systems=~changes[i].removed) for i in removed])
        found |= dict(zip(removed, parts, strict=True))
        sheet = sheet_of(self.judgments)
        for i in rescored:
            scores = in_table(self.judgments, changes[i].apply(sheet).score)
            found[i] = estimator.with_scores(scores[estimator.design.row])
        return [found[i] for i in range(len(changes))]

    def _readings(self, estimates: Sequence[Estimate]) -> _Readings:
        """The estimates by each reading, those in points with the least errors."""
        first, *others = estimates
        if self.reading is None:
            return first, None
        second = others[0]
        return (self._floored(first), second) if self.reading == "average" else (first, self._floored(second))

    def _floored(self, estimate: Estimate) -> Estimate:
        places = [self.systems.index(name) for name in estimate.systems]
        if self.floor is None:
            return estimate
        floor = self.floor.part(np.array(places, dtype=np.int64))
        return replace(estimate, contrasts=with_least_errors(estimate.contrasts, floor.se, floor.lean))

    def _shown(self, readings: _Readings) -> Estimate:
        """What gives the order: averages in points, where there are two readings."""
        first, second = readings
        return first if second is None or self.reading == "average" else second

    def _ordered(self, readings: _Readings, removed: Bools) -> Order:
        """Order and clusters of the systems that are not removed."""
        gone = {name for name, out in zip(self.systems, removed, strict=True) if out}
        first, second = (None if one is None else _without_systems(one, gone) for one in readings)
        if first is None or len(first.systems) < 2:
            names = () if first is None else first.systems
            return Order(names, (names,) * bool(names))
        decided = decide_scores(first, second, self.reading, level=LEVEL, seed=self.seed, draws=DRAWS)
        order = _order_of(self._shown((first, second)).effects, first.systems)
        tests = PairTests(first.contrasts.greater, first.contrasts.two_sided)
        lines = line_after(self.rule, order, tests, decided.better, LEVEL)
        names = tuple(first.systems[i] for i in order)
        return Order(names, named_clusters(names, cluster_numbers(lines)))


def _without_systems(estimate: Estimate, gone: Container[str]) -> Estimate:
    """The estimate of the other systems, as it is."""
    kept = np.array([i for i, name in enumerate(estimate.systems) if name not in gone], dtype=np.int64)
    part = np.ix_(kept, kept)
    pairs = estimate.contrasts.part(kept)
    systems = tuple(estimate.systems[i] for i in kept)
    return Estimate(systems, estimate.human[kept], estimate.effects[kept], estimate.covariance[part], pairs)


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
        self.estimator = estimator
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
            if estimator is not self.estimator and not weighted and self.estimator.is_large:
                estimate = self.estimator.changed(compared)
            else:
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
