"""A published ranking beside ours: what of it holds, and at which step the rest is lost.

Between the published ranking and ours stand four steps, in this order:

    rows        the rule of the publication on all judgments, as released
    filter      the same rule without annotators who fail the rule of quality
    model       our model, which allows for who judged what; every pair by itself, without a correction
    correction  the decisions about all pairs together

A difference that was published is lost at the last step from which on no later one finds it, and the reason is that
step's. The rule is given, or found: the one of ours whose order on the released rows is nearest to the published one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from adjudge.evidence import verdict_comparison as words
from adjudge.evidence.audit import AuditSettings
from adjudge.evidence.claims import claims_section
from adjudge.evidence.explanation import explain
from adjudge.evidence.verdict_facts import claim_better
from adjudge.people.check import Quality, quality_of
from adjudge.ranking.estimator import is_relative
from adjudge.ranking.methods import RankSettings, find_method, rank
from adjudge.ranking.scores import as_scores
from adjudge.readers.published import Published, Range
from adjudge.table.errors import DataError
from adjudge.table.maths import kendall
from adjudge.table.results import UNWRITTEN, Cell, Result, Span, Table, number, p_value, shown_name, span, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from adjudge.evidence.claims import Claim
    from adjudge.ranking.ranking import PairComparison, Ranking
    from adjudge.table.judgments import Judgments

Pair = tuple[str, str]
StepName = Literal["rows", "filter", "model", "correction"]
Verdict = Literal["holds", "needs more people", "fragile", "not supported", "contradicted"]
RULES = {
    "scores": ("zscore", "raw", "zscore-task", "wmt22", "wmt24", "wmt25", "wmt26"),
    "relative": ("wins-or-ties", "wins", "expected-wins", "wins-no-ties", "bradley-terry", "mfas"),
}
"""Rules of publications, the most usual first."""
LEVEL = 0.05


@dataclass(frozen=True)
class ReauditedSystem:
    """A system in both rankings."""

    system: str
    human: bool
    published_rank: int
    """The best rank that it was given."""
    published_range: Range
    rank: int
    rank_set: Range
    by_rule: int | None
    """Its rank by the rule on the released rows."""


@dataclass(frozen=True)
class Change:
    """A system that our reading puts elsewhere, and why, in the order of the steps."""

    system: str
    before: int
    after: int
    because: tuple[str, ...]

    def to_dict(self) -> dict[str, object]:
        """The documented keys."""
        return {"system": self.system, "from": self.before, "to": self.after, "because": list(self.because)}


@dataclass(frozen=True)
class PublishedClaim:
    """A difference that was published: our verdict, and where it is lost."""

    claim: str
    better: str
    worse: str
    verdict: Verdict
    p: float | None
    p_adjusted: float | None
    lost_at: StepName | None
    because: str


@dataclass(frozen=True)
class Step:
    """What a step between both rankings finds of the published one."""

    step: StepName
    means: str
    judgments: int
    differences: int
    """Pairs that it calls different."""
    published: int
    """Published differences among these."""
    tau: float
    """Kendall's correlation of its order with the published one."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Reaudit(Result):
    """A published ranking beside ours."""

    verb: ClassVar[str] = "reaudit"

    published: str
    """Where the published ranking is from."""
    rule: str
    """The rule of the publication, or the nearest one."""
    reproduced: bool
    """Whether the rule gives the published order on the released rows."""
    systems: tuple[ReauditedSystem, ...]
    changes: tuple[Change, ...]
    steps: tuple[Step, ...]
    decided: tuple[PairComparison, ...]
    """The pairs that we decide."""
    published_claims: tuple[PublishedClaim, ...]
    sentence: str
    """To cite."""
    verdict: tuple[str, ...] = field(default=(), metadata=UNWRITTEN)

    @property
    def first_lines(self) -> tuple[str, ...]:
        """What of the published ranking holds."""
        return self.verdict

    def counted(self, verdict: Verdict) -> int:
        """How many published differences have this verdict."""
        return sum(claim.verdict == verdict for claim in self.published_claims)

    def tables(self) -> tuple[Table, ...]:
        """The systems in both rankings, the steps between these, and every published difference."""
        because = {change.system: "; ".join(change.because) for change in self.changes}
        rows = tuple(
            (
                shown_name(one.system, one.human), Span(*one.published_range), one.by_rule, one.rank,
                Span(*one.rank_set), because.get(one.system),
            )
            for one in self.systems
        )  # fmt: skip
        columns = (
            text("system"), span("published", name="published_rank"), number(f"by {self.rule}", 0), number("ours", 0),
            span("rank set", name="rank_set"), text("why it moved"),
        )  # fmt: skip
        steps = tuple((s.means, s.judgments, s.differences, s.published, s.tau) for s in self.steps)
        about = (
            text("step"), number("judgments", 0), number("pairs called different", 0, "pairs that it calls different"),
            number("of those published", 0), number("tau", 2, "Kendall's correlation with the published order"),
        )  # fmt: skip
        claims = tuple(
            (c.claim, c.verdict, c.p, c.p_adjusted, c.lost_at, c.because or None) for c in self.published_claims
        )
        heads = (
            text("published difference"), text("verdict"), p_value("p"), p_value("p (all pairs)", name="p_adjusted"),
            text("lost at"), text("because"),
        )  # fmt: skip
        return (
            Table("Published and ours", columns, rows),
            Table("From the published ranking to ours", about, steps),
            Table("Published differences", heads, claims),
        )


def reaudit(
    judgments: Judgments, published: Published | None, *, rule: str | None = None, everyone: bool = False, seed: int = 1
) -> Reaudit:
    """Put a published ranking beside ours.

    Args:
        judgments: of one language pair and campaign, of everybody.
        published: the ranking; None for the one that the rule gives.
        rule: the method of the publication; default: the one that is nearest to the published order.
        everyone: whether annotators who fail the rule of quality count.
        seed: for everything that is random.
    """
    if published is None and rule is None:
        raise DataError("nothing to audit again; give the published ranking, or the rule that made it")
    quality = Quality(judgments, {}) if everyone else quality_of(judgments)
    kept = quality.kept
    settings = RankSettings(seed=seed)
    released = _by_rule(judgments, published, rule, settings)
    if published is None:
        published = _as_published(released)
    published = published.of(released.order)
    ours = rank(kept, method=None, settings=settings)
    filtered = released if kept is judgments else rank(kept, method=released.method, settings=settings)
    stages = _Stages(published, released, filtered, ours, quality)
    claims = stages.claims(claims_section(kept, AuditSettings(seed=seed)).claims)
    systems = stages.systems()
    found = stages.reproduced
    sentence = words.say_reaudited(published.name, {c.better + "\0" + c.worse: c.verdict for c in claims})
    return Reaudit(
        settings={"published": published.name, "rule": released.method, "seed": seed},
        data=judgments.fingerprint,
        set_aside=kept.set_aside,
        notes=(*judgments.notes, *published.notes, *stages.notes()),
        published=published.name,
        rule=released.method,
        reproduced=found,
        systems=systems,
        changes=stages.changes(systems),
        steps=stages.steps(),
        decided=tuple(pair for pair in ours.comparisons if pair.decided),
        published_claims=claims,
        sentence=sentence,
        verdict=(sentence, words.say_rule_found(released.method, reproduced=found)),
    )


def _by_rule(judgments: Judgments, published: Published | None, rule: str | None, settings: RankSettings) -> Ranking:
    """The ranking by the rule of the publication on the released rows; the rule is found if none is given."""
    if rule is not None:
        find_method(rule)
        return rank(judgments, method=rule, settings=settings)
    assert published is not None
    best: tuple[float, Ranking] | None = None
    kind = "relative" if is_relative(as_scores(judgments)) else "scores"
    for name in RULES[kind]:
        try:
            ranking = rank(judgments, method=name, settings=settings)
            near = _agreement(published.of(ranking.order).ranges, _ranks(ranking))
        except DataError:
            continue
        if best is None or near > best[0]:
            best = near, ranking
        if near == 1:
            break
    if best is None:
        return rank(judgments, method=None, settings=settings)
    return best[1]


def _as_published(ranking: Ranking) -> Published:
    """What a workshop would print: the ranks, and the pairs that the rule's own test calls different."""
    ranges = {one.system: (one.rank, one.rank) for one in ranking.systems}
    return Published(f"the ranking by {ranking.method}", ranges, pairs=tuple(sorted(_called(ranking))))


def _ranks(ranking: Ranking) -> dict[str, int]:
    return {one.system: one.rank for one in ranking.systems}


def _agreement(published: Mapping[str, Range], ranks: Mapping[str, int]) -> float:
    """The share of pairs in the published order of lines that the ranks do not reverse."""
    names = [name for name in published if name in ranks]
    pairs = [(a, b) for place, a in enumerate(names) for b in names[place + 1 :]]
    return sum(ranks[a] <= ranks[b] for a, b in pairs) / max(len(pairs), 1)


def _called(ranking: Ranking, *, corrected: bool = False) -> set[Pair]:
    """The pairs that a ranking calls different: as it decides, or each by itself."""
    if corrected:
        return {(pair.better, pair.worse) for pair in ranking.comparisons if pair.decided}
    return {
        (pair.better, pair.worse)
        for pair in ranking.comparisons
        if pair.p is not None and pair.p < LEVEL and pair.agreeing
    }


@dataclass(frozen=True, eq=False)
class _Stages:
    """The steps from a published ranking to ours."""

    published: Published
    released: Ranking
    """By the rule of the publication, on all rows."""
    filtered: Ranking
    """By the same rule, without those who fail."""
    ours: Ranking
    quality: Quality

    @cached_property
    def called(self) -> dict[StepName, set[Pair]]:
        """The pairs that each step calls different."""
        return {
            "rows": _called(self.released), "filter": _called(self.filtered), "model": _called(self.ours),
            "correction": _called(self.ours, corrected=True),
        }  # fmt: skip

    @cached_property
    def rankings(self) -> dict[StepName, Ranking]:
        """The ranking of each step."""
        return {"rows": self.released, "filter": self.filtered, "model": self.ours, "correction": self.ours}

    @property
    def reproduced(self) -> bool:
        """Whether the rule gives the published order on the released rows."""
        return _agreement(self.published.ranges, _ranks(self.released)) == 1

    @cached_property
    def explained(self) -> dict[str, str]:
        """Why the model moves each system away from the customary means."""
        try:
            explained = explain(self.quality.kept)
        except DataError:
            return {}
        why = {one.system: explained.reason(one) for one in explained.systems}
        return {system: reason for system, reason in why.items() if reason}

    def claims(self, audited: Sequence[Claim]) -> tuple[PublishedClaim, ...]:
        """Every published difference with our verdict, the best supported first."""
        of_pair = {claim.systems: claim for claim in audited if claim.kind == "better"}
        tests = {frozenset((pair.better, pair.worse)): pair for pair in self.ours.comparisons}
        known = set(self.ours.order)
        found = []
        for better, worse in self.published.apart:
            if not {better, worse} <= known:
                continue
            test = tests.get(frozenset((better, worse)))
            reverse = (worse, better) in self.called["correction"]
            claim = of_pair.get((better, worse))
            verdict: Verdict = "contradicted" if reverse else "not supported" if claim is None else claim.verdict
            lost = None if verdict not in ("contradicted", "not supported") else self._lost_at((better, worse))
            because = self._because(lost, (better, worse), test) if lost else "" if claim is None else claim.reason
            p, adjusted = (None, None) if test is None else (test.p, test.p_adjusted)
            sentence = claim_better(better, worse)
            found.append(PublishedClaim(sentence, better, worse, verdict, p, adjusted, lost, because))
        order: tuple[Verdict, ...] = ("holds", "needs more people", "fragile", "not supported", "contradicted")
        return tuple(sorted(found, key=lambda claim: order.index(claim.verdict)))

    def _lost_at(self, pair: Pair) -> StepName:
        """The first step after the last one that still finds the difference."""
        steps = list(self.called)
        finding = [place for place, step in enumerate(steps) if pair in self.called[step]]
        return steps[min(max(finding, default=-1) + 1, len(steps) - 1)]

    def _because(self, step: StepName, pair: Pair, test: PairComparison | None) -> str:
        before = self.rankings[step]
        by_step = next((one for one in before.comparisons if {one.better, one.worse} == set(pair)), None)
        p = None if by_step is None else by_step.p_adjusted if step == "correction" else by_step.p
        turned = test is not None and (test.better, test.worse) != pair
        found: Literal["nothing", "the opposite", "one reading"] = "nothing"
        if by_step is not None and p is not None and p < LEVEL:
            found = "one reading" if not by_step.agreeing else "the opposite" if by_step.better != pair[0] else found
        return words.say_lost(step, self.released.method, p, turned=turned, found=found)

    def systems(self) -> tuple[ReauditedSystem, ...]:
        """The systems of both rankings, in our order."""
        by_rule = _ranks(self.released)
        return tuple(
            ReauditedSystem(
                one.system, one.human, self.published.ranges[one.system][0], self.published.ranges[one.system],
                one.rank, one.rank_set, by_rule.get(one.system),
            )
            for one in self.ours.systems
            if one.system in self.published.ranges
        )  # fmt: skip

    def changes(self, systems: Sequence[ReauditedSystem]) -> tuple[Change, ...]:
        """The systems that do not stand where they were published, with the step at which each moves."""
        found = []
        filtered = _ranks(self.filtered)
        shared = [one.system for one in systems]
        # Ranks among the systems of both rankings, since one of them may have more.
        places = [
            {name: 1 + sum(ranks[other] < ranks[name] for other in shared) for name in shared}
            for ranks in (_ranks(self.released), filtered, _ranks(self.ours))
        ]
        ranges = [one.published_range for one in systems]
        for one in systems:
            low = 1 + sum(last < one.published_range[0] for _, last in ranges)
            high = len(ranges) - sum(first > one.published_range[1] for first, _ in ranges)
            by_rule, by_filter, own = (place[one.system] for place in places)
            if low <= own <= high:
                continue
            because = []
            if not low <= by_rule <= high:
                because.append(words.say_rows(self.released.method, by_rule))
            if by_filter != by_rule:
                because.append(words.say_filter(len(self.quality.left_out), by_filter))
            if own != by_filter:
                because.append(words.say_model(self.explained.get(one.system, ""), own))
            found.append(Change(one.system, low, own, tuple(because)))
        return tuple(found)

    def steps(self) -> tuple[Step, ...]:
        """What every step finds of the published differences."""
        apart = set(self.published.apart)
        means = words.reaudit_steps(self.released.method, len(self.quality.left_out))
        used = {step: len(self.quality.kept) for step in self.called} | {"rows": len(self.quality.everyone)}
        return tuple(
            Step(step, means[step], used[step], len(called), len(called & apart), self._tau(self.rankings[step]))
            for step, called in self.called.items()
        )

    def _tau(self, ranking: Ranking) -> float:
        names = [name for name in ranking.order if name in self.published.ranges]
        middle = np.array([-sum(self.published.ranges[name]) / 2 for name in names])
        ranks = _ranks(ranking)
        return float(kendall(middle, np.array([-float(ranks[name]) for name in names])))

    def notes(self) -> tuple[str, ...]:
        """What to know about the comparison."""
        return (self.quality.note,) if self.quality.left_out else ()


@dataclass(frozen=True, kw_only=True, repr=False)
class Gallery(Result):
    """Published rankings of released campaigns beside ours."""

    verb: ClassVar[str] = "reaudit"

    campaigns: Mapping[str, Reaudit]
    left_out: Mapping[str, str]
    """Campaigns that could not be audited again, and why."""

    @property
    def first_lines(self) -> tuple[str, ...]:
        """How much of all published rankings holds."""
        verdicts = [claim.verdict for one in self.campaigns.values() for claim in one.published_claims]
        return (words.say_gallery(len(self.campaigns), verdicts),)

    def tables(self) -> tuple[Table, ...]:
        """A row for each campaign, and the systems of each."""
        verdicts: tuple[Verdict, ...] = ("holds", "needs more people", "fragile", "not supported", "contradicted")
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (
                name, one.published, one.rule, one.reproduced, len(one.systems), len(one.published_claims),
                *(one.counted(verdict) for verdict in verdicts),
            )
            for name, one in self.campaigns.items()
        )  # fmt: skip
        columns = (
            text("campaign"), text("published"), text("rule"), text("rule gives the order"), number("systems", 0),
            number("differences", 0), *(number(verdict, 0) for verdict in verdicts),
        )  # fmt: skip
        note = " ".join(f"{name} is left out: {why}." for name, why in self.left_out.items())
        overview = Table("Published rankings beside ours", columns, rows, note)
        parts = ((name, one.tables()[0]) for name, one in self.campaigns.items())
        return overview, *(replace(table, title=f"{name}: {table.title}") for name, table in parts)
