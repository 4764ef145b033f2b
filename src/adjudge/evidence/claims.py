"""Claims: every statement of a ranking by its model, put to trials in which weaker claims fail.

A claim "A is better than B" is supported if the pair is decided (`ranking.decisions`). Then it is tried: without each
annotator and document, without the best, the worst and the human system, by the order of other ways to rank, and by how
far annotators part over the pair. A trial breaks the claim if it reverses the order or leaves the difference
insignificant by itself; what rests on one annotator or document, because nothing is known without it, is broken too.
A supported claim that no trial breaks holds if its corrected p is below .01; otherwise it needs more people.

Parity, of scores: a system is no further from a human translation than a margin, by two one-sided tests in points. Each
human translation is compared by itself. A claim of parity never stands beside a decided difference that is larger than
the margin.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from adjudge.evidence.conditions import find_conditions
from adjudge.evidence.verdict import OWN_SPREAD, count_claims, say_reason
from adjudge.evidence.verdict_facts import FEW_PEOPLE, Verdict, claim_best, claim_better, claim_parity
from adjudge.ranking import relative as ratios
from adjudge.ranking.changes import margin_in_points
from adjudge.ranking.decisions import STRONG, PairDecisions, find_again, holm
from adjudge.ranking.estimator import Estimator, Part, estimator_of
from adjudge.ranking.relative_estimator import RelativeEstimator
from adjudge.ranking.scores import ScoreEstimator, low_shares
from adjudge.table.comparisons import NOBODY
from adjudge.table.maths import Floats, equivalence, normal_quantile, student_tail
from adjudge.table.results import P_ADJUSTED, P_HOLM, UNWRITTEN, Cell, Table, number, percent, text, to_plain
from adjudge.table.score_sheet import item_means, sheet_of, standardised
from adjudge.table.wording import as_sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from adjudge.evidence.audit import AuditSettings
    from adjudge.evidence.conditions import Conditions
    from adjudge.ranking.decisions import State
    from adjudge.ranking.estimator import Estimate, Units
    from adjudge.table.judgments import Judgments


# Trials that a claim has to survive. Each is the ranking made again from changed data, or by another estimator.
#
# The family of all pairs was settled when the pair was decided, so that a trial asks of the pair by itself.


LEVEL = 0.05


@dataclass(frozen=True, eq=False)
class Trial:
    """Differences (row minus column) of all systems, with p-values; NaN where a system is not in the trial."""

    name: str
    family: str
    """Trials of one family, such as one per annotator, are survived together."""
    difference: Floats
    p: Floats | None = None
    """Two-sided, of every pair by itself; None where only the order counts."""
    level: float = LEVEL
    needed: bool = False
    """Whether a pair that is not in the trial rests on what was left out."""
    estimate: Estimate | None = None
    """What equivalence is tested by, where it can be; its systems may be some of those of the trial."""

    def applies(self, first: int, second: int) -> bool:
        """Whether the claim is put to this trial."""
        return self.needed or bool(np.isfinite(self.difference[first, second]))

    def keeps_better(self, better: int, worse: int) -> bool:
        """Whether "better than" stands in this trial: still ahead, and significantly so where that is tested."""
        if not self.difference[better, worse] > 0:
            return False
        return self.p is None or bool(self.p[better, worse] < self.level)

    def keeps_parity(self, names: tuple[str, str], margin: float) -> bool:
        """Whether the two are no further apart than the margin here."""
        if self.estimate is None or not {*names} <= {*self.estimate.systems}:
            return False
        first, second = (self.estimate.systems.index(name) for name in names)
        return equivalence(self.estimate.contrasts, first, second, margin=margin, level=self.level).p < self.level


def try_claim(trials: Iterable[Trial], stands: Callable[[Trial], bool]) -> tuple[tuple[str, ...], ...]:
    """The families that a claim survives whole, the single trials that break it, and the families of these."""
    families: dict[str, bool] = {}
    broken: list[str] = []
    for trial in trials:
        unbroken = stands(trial)
        families[trial.family] = families.get(trial.family, True) and unbroken
        broken += [] if unbroken else [trial.name]
    whole, fails = (tuple(name for name, kept in families.items() if kept == wanted) for wanted in (True, False))
    return whole, tuple(broken), fails


# Claims: statements of a ranking with their evidence, the audits they survive, and what breaks them.


@dataclass(frozen=True)
class Claim:
    """One statement. Claims that the data do not support are not put to the audits."""

    claim: str
    kind: Literal["better", "best", "parity"]
    systems: tuple[str, ...]
    estimate: float | None
    interval: tuple[float, float] | None
    p_holm: float | None
    survives: tuple[str, ...]
    broken_by: tuple[str, ...]
    verdict: Verdict
    p: float | None = None
    """Before the correction for all claims of its kind."""
    fails: tuple[str, ...] = ()
    """The audits that do not leave it whole; `broken_by` has their single trials, as one for each annotator."""
    p_adjusted: float | None = None
    """Corrected for all pairs, as decisions are."""
    replication: float | None = None
    """The probability that as many other people would decide the same."""
    people_needed: int | None = None
    """About so many people would make a claim hold that needs more of them."""
    reason: str = ""
    """Why it does not hold, in a sentence; empty where it does, or where the data decide nothing."""
    state: State = "open"
    """Of the pair: decided, open, or on which reading of the scores alone it would be decided."""
    agreeing: bool = field(default=True, metadata=UNWRITTEN)
    """Whether both readings of scores, where there are two, point the same way, the second significantly."""

    def lost_to_correction(self, level: float) -> bool:
        """Whether the claim would be supported if it were the only one: the correction makes the difference."""
        if self.p is None or self.p_adjusted is None or not self.agreeing:
            return False
        return self.p < level <= self.p_adjusted


@dataclass(frozen=True)
class Claims:
    """All claims of one ranking: parity, then the best system, then pairs, the best supported first."""

    method: str
    unit: str
    """What estimates are measured in."""
    level: float
    margin: float | None
    """Two systems no further apart than this count as equal, where parity is claimed."""
    claims: tuple[Claim, ...]
    audits: tuple[str, ...]
    """The audits that supported claims were put to."""
    humans: tuple[str, ...] = ()
    """The human translations, each of which is compared by itself."""
    annotators: int | None = None
    """How many people judged, where they are named."""
    kind: Literal["relative", "scores"] = field(default="scores", metadata=UNWRITTEN)
    """Whether systems were compared or scored."""
    notes: tuple[str, ...] = ()
    """How audits of a large campaign were computed, where not as usual."""
    typical: Mapping[str, float] = field(default_factory=dict)
    """Where each system's typical score stands, where scores have two readings; only the order counts."""
    low_shares: Mapping[str, float] = field(default_factory=dict)
    """The share of each system's scores among the lowest of the campaign."""
    critical: float | None = None
    """The normal statistic at which open pairs would be decided; None where more people would not narrow the test."""
    accounts: bool = False
    """Whether annotators are accounts that may be fewer people."""
    fewest_people: int | None = None
    """As few people may be behind these accounts; None if nothing says how few."""
    conditions: Conditions | None = None
    """Under which people judged, where there is a human translation."""

    @property
    def pairs(self) -> int:
        """How many pairs of systems there are."""
        return sum(claim.kind == "better" for claim in self.claims)

    def counted(self, verdict: Verdict, kind: str = "better") -> int:
        """How many claims of this kind have this verdict."""
        return sum(claim.verdict == verdict and claim.kind == kind for claim in self.claims)

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many pairs hold, need more people, and are fragile."""
        return self.counted("holds"), self.counted("needs more people"), self.counted("fragile")

    def to_dict(self) -> list[dict[str, Any]]:
        """The documented keys: a list of claims."""
        plain: list[dict[str, Any]] = to_plain(self.claims)
        return plain

    def tables(self) -> tuple[Table, ...]:
        """Every supported claim in plain words, those that hold first; the others are counted."""
        rows = tuple(_row(claim) for claim in self.claims if claim.verdict != "not supported")
        columns = (
            text("claim"), text("verdict"), number("by", 2, help=self.unit), number("low", 2), number("high", 2),
            P_ADJUSTED, replace(P_HOLM, detail=True),
            percent("again", 0, help="probability that as many other people would decide the same"),
            text("audits survived"), text("why it does not hold"),
        )  # fmt: skip
        return (Table("Claims", columns, rows, self.in_words()),)

    def in_words(self) -> str:
        """What the counts say, in a sentence or two."""
        unit = f"Differences are in {self.unit}."
        return " ".join([count_claims(*self.counts, self.pairs), unit, *as_sentences(self.notes)])


def _row(claim: Claim) -> tuple[Cell, ...]:
    low, high = claim.interval or (None, None)
    survived = f"{len(claim.survives)} of {len(claim.survives) + len(claim.fails)}"
    return (claim.claim, claim.verdict, claim.estimate, low, high, claim.p_adjusted, claim.p_holm, claim.replication,
            survived, claim.reason)  # fmt: skip


Pair = tuple[int, int]
_STRENGTH = {"holds": 0, "needs more people": 1, "fragile": 2, "not supported": 3}


@dataclass(frozen=True, eq=False)
class Case:
    """All that claims of "better than" rest on."""

    tested: Estimate
    """What pairs are decided and tried by."""
    shown: Estimate
    """What is printed: the difference and its interval."""
    decisions: PairDecisions
    people: int | None
    """How many annotators are known."""
    accounts: bool = False
    """Whether annotators are accounts that may be fewer people."""
    other_p: Floats | None = None
    """By the other reading of scores, of each pair by itself; None where there is one reading only."""
    other: str = ""
    """What this reading is called."""

    @cached_property
    def order(self) -> list[int]:
        """The systems, the best first, by what is printed."""
        return self.shown.order

    @cached_property
    def again(self) -> Floats:
        """The probability that as many other people would decide each pair again."""
        tested = self.tested
        return find_again(tested.difference, tested.se, self.decisions.p, self.decisions.corrected.last)[1]

    def people_needed(self, pair: Pair) -> int | None:
        """About so many people would make a decided pair as sure as a claim that holds; None for accounts."""
        statistic = -float(normal_quantile(max(float(self.decisions.p[pair]), 1e-300) / 2))
        needed, people = float(self.decisions.corrected.needed[pair]), self.people or 0
        if people <= FEW_PEOPLE or self.accounts or not (statistic > 0 and math.isfinite(needed)):
            return None
        return max(math.ceil(people * (needed / statistic) ** 2), people + 1)


def better_claims(case: Case, trials: Callable[[], list[Trial]]) -> tuple[Claim, ...]:
    """Every "A is better than B" and "A is the best"; `trials` are made only if some claim is supported."""
    decisions, shown = case.decisions, case.shown
    tried = trials() if decisions.number else []
    low, high = shown.interval(decisions.level)
    pairs = [(better, worse) for place, better in enumerate(case.order) for worse in case.order[place + 1 :]]
    p_holm = holm(np.array([decisions.p[pair] for pair in pairs]))
    claims = {}
    for pair, corrected in zip(pairs, p_holm, strict=True):
        names = (shown.systems[pair[0]], shown.systems[pair[1]])
        claim = Claim(
            claim=claim_better(*names),
            kind="better",
            systems=names,
            estimate=_finite(shown.difference[pair]),
            interval=(float(low[pair]), float(high[pair])),
            p_holm=_p(corrected),
            survives=(),
            broken_by=(),
            verdict="not supported",
            p=_p(decisions.p[pair]),
            p_adjusted=_p(decisions.corrected.p[pair]),
            state=decisions.state(*pair),
            agreeing=decisions.agreeing is None or bool(decisions.agreeing[pair]),
        )
        claims[pair] = _tried(claim, case, pair, tried) if decisions.better[pair] else claim
    by_strength = sorted(claims.values(), key=lambda claim: (_STRENGTH[claim.verdict], -(claim.estimate or 0.0)))
    return (*_best(case, claims), *by_strength)


def _tried(claim: Claim, case: Case, pair: Pair, trials: Sequence[Trial]) -> Claim:
    """A supported claim with its verdict, and what it would take to hold."""
    parting = [float(trial.p[pair]) for trial in trials if trial.name == OWN_SPREAD and trial.p is not None]
    spread = max(parting, default=0.0)
    # What holds must be as sure by the other reading of the scores.
    other = 0.0 if case.other_p is None else float(case.other_p[pair])
    weak, alone = max((spread, ""), (other, case.other))
    sure = max(claim.p_adjusted or 0.0, weak)
    stands = partial(Trial.keeps_better, better=pair[0], worse=pair[1])
    claim = _put_to(claim, pair, trials, stands, p=sure, people=case.people, accounts=case.accounts)
    if claim.verdict == "needs more people":
        needed = case.people_needed(pair) if (claim.p_adjusted or 0.0) >= STRONG else None
        p = weak if needed is None and weak >= STRONG else None
        reason = say_reason(claim.verdict, needed=needed, people=case.people, accounts=case.accounts, p=p, alone=alone)
        claim = replace(claim, people_needed=needed, reason=reason)
    # What one or two people say, or people without a name, foretells nothing of other people.
    return replace(claim, replication=_finite(case.again[pair]) if (case.people or 0) > FEW_PEOPLE else None)


def _put_to(
    claim: Claim,
    pair: Pair,
    trials: Sequence[Trial],
    stands: Callable[[Trial], bool],
    *,
    p: float,
    people: int | None,
    accounts: bool,
) -> Claim:
    """A supported claim after its trials; p is the largest by which it must be sure."""
    chosen = [trial for trial in trials if trial.applies(*pair)]
    survives, broken, fails = try_claim(chosen, stands)
    breaking = next((trial for trial in chosen if trial.name in broken), None)
    verdict: Verdict = "holds"
    if breaking is not None:
        verdict = "fragile"
    elif accounts or (people or 0) <= FEW_PEOPLE or p >= STRONG:
        verdict = "needs more people"
    reason = say_reason(verdict, people=people, accounts=accounts)
    if breaking is not None:
        alone = None if breaking.p is None else float(breaking.p[pair])
        reason = say_reason(verdict, trial=breaking.name, difference=float(breaking.difference[pair]), p=alone)
    return replace(claim, survives=survives, broken_by=broken, fails=fails, verdict=verdict, reason=reason)


def _best(case: Case, claims: dict[Pair, Claim]) -> Iterator[Claim]:
    """That A is the best stands on A being better than every other system; human translations do not compete."""
    human = case.shown.human
    among = [system for system in case.order if not human[system]] or case.order
    if len(among) < 2:
        return
    first = among[0]
    parts = [claim for (better, worse), claim in claims.items() if better == first and worse in among]
    weakest = max(parts, key=lambda claim: (_STRENGTH[claim.verdict], -(claim.estimate or 0.0)))
    name = case.shown.systems[first]
    best = replace(
        weakest,
        claim=claim_best(name, among_machines=len(among) < len(case.order)),
        kind="best",
        systems=(name,),
        p_holm=_largest(claim.p_holm for claim in parts),
        p_adjusted=_largest(claim.p_adjusted for claim in parts),
        p=_largest(claim.p for claim in parts),
    )
    if weakest.verdict == "not supported":
        yield best
        return
    common = set.intersection(*({*claim.survives} for claim in parts))
    yield replace(
        best,
        survives=tuple(family for family in parts[0].survives if family in common),
        broken_by=tuple(dict.fromkeys(trial for claim in parts for trial in claim.broken_by)),
        fails=tuple(dict.fromkeys(family for claim in parts for family in claim.fails)),
    )


def _largest(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _p(value: float) -> float | None:
    # A p-value is never 0: what is too small for a number is the smallest number.
    return None if math.isnan(value) else max(float(value), sys.float_info.min)


def parity_claims(
    points: Estimate,
    decisions: PairDecisions,
    margin: float,
    trials: Callable[[], list[Trial]],
    *,
    people: int | None,
    accounts: bool = False,
) -> tuple[Claim, ...]:
    """One claim for every system and every human translation.

    Args:
        points: the estimate in points.
        decisions: of all pairs.
        margin: in points.
        trials: of estimates in points; made only if some claim is supported.
        people: how many annotators are known.
        accounts: whether they may be accounts of fewer people.
    """
    humans = np.flatnonzero(points.human)
    pairs = [(int(system), int(human)) for human in humans for system in np.flatnonzero(~points.human)]
    level = decisions.level
    tests = [equivalence(points.contrasts, *pair, margin=margin, level=level) for pair in pairs]
    corrected = holm(np.array([test.p for test in tests]))
    apart = (decisions.better | decisions.better.T) & (np.abs(points.difference) > margin)
    supported = [pair for pair, p in zip(pairs, corrected, strict=True) if p < level and not apart[pair]]
    # Where only the order counts, nothing is said of equivalence.
    tried = [trial for trial in trials() if trial.estimate is not None or trial.needed] if supported else []
    claims = []
    for pair, test, p_holm in zip(pairs, tests, corrected.tolist(), strict=True):
        names = (points.systems[pair[0]], points.systems[pair[1]])
        claim = Claim(
            claim=claim_parity(*names),
            kind="parity",
            systems=names,
            estimate=_finite(test.difference),
            interval=(test.low, test.high),
            p_holm=_p(p_holm),
            survives=(),
            broken_by=(),
            verdict="not supported",
            p=_p(test.p),
        )
        stands = partial(Trial.keeps_parity, names=names, margin=margin)
        if pair in supported:
            claim = _put_to(claim, pair, tried, stands, p=p_holm, people=people, accounts=accounts)
        claims.append(claim)
    return tuple(claims)


# Leaving out one at a time is done for so many documents, those with the most judgments, and for all annotators of
# campaigns with no more than so many.
MOST_LEFT_OUT = 60
MOST_ANNOTATORS = 300
FEWEST_TO_LEAVE_OUT = 3


def claims_section(judgments: Judgments, settings: AuditSettings) -> Claims:
    """Make every claim and put it to the trials."""
    estimator = estimator_of(judgments, seed=settings.seed)
    relative = estimator.kind == "relative"
    made: dict[str, list[Trial]] = {}

    def trials(name: str, of: ScoreEstimator | RelativeEstimator) -> list[Trial]:
        # Made once, and only if some claim is supported.
        if name not in made:
            made[name] = list(make_trials(of))
        return made[name]

    whole, decisions = estimator.estimate, estimator.decide(LEVEL, seed=settings.seed)
    shown, margin = whole, None
    parity: tuple[Claim, ...] = ()
    typical: dict[str, float] = {}
    low: dict[str, float] = {}
    if isinstance(estimator, ScoreEstimator):
        shown, margin = estimator.average, margin_in_points(settings.margin, estimator.design.as_given)
        if estimator.reading is not None:
            typical, low = (
                dict(zip(estimator.systems, values.tolist(), strict=True))
                for values in (estimator.typical.effects, low_shares(estimator.design))
            )
    # Where not all are named, those who are count.
    people = estimator.people or None if estimator.annotators is None else estimator.annotators
    accounts, fewest, other_p, named = False, None, None, ""
    if isinstance(estimator, ScoreEstimator):
        accounts = estimator.accounts is not None
        fewest = None if estimator.accounts is None else estimator.accounts.fewest_people
        other = estimator.other
        other_p = None if other is None else other.contrasts.two_sided
        named = "typical scores alone" if estimator.reading == "average" else "the average alone"
    claims = better_claims(
        Case(whole, shown, decisions, people, accounts, other_p, named), lambda: trials("better", estimator)
    )
    if margin is not None and isinstance(estimator, ScoreEstimator):
        points = estimator if estimator.reading == "average" else estimator.in_points()
        parity = parity_claims(
            shown, decisions, margin, lambda: trials("parity", points), people=people, accounts=accounts
        )
    humans = tuple(name for name, human in zip(whole.systems, whole.human, strict=True) if human)
    return Claims(
        method="bradley-terry" if relative else "mixed",
        unit="log-odds of winning" if relative else "points",
        kind=estimator.kind,
        level=LEVEL,
        margin=margin if parity else None,
        claims=(*parity, *claims),
        audits=tuple(dict.fromkeys(trial.family for every in made.values() for trial in every)),
        humans=humans,
        annotators=estimator.annotators,
        notes=estimator.left_out_notes if made else (),
        typical=typical,
        low_shares=low,
        critical=decisions.corrected.critical,
        accounts=accounts,
        fewest_people=fewest,
        conditions=find_conditions(judgments, len(humans)) if humans else None,
    )


def make_trials(estimator: ScoreEstimator | RelativeEstimator) -> Iterator[Trial]:
    """Every trial that makes sense for these data, those that say most first."""
    yield from _one_by_one(estimator)
    yield from _without_systems(estimator)
    if isinstance(estimator, RelativeEstimator):
        for name, score in (("expected wins", ratios.expected_wins), ("wins without ties", ratios.wins_no_ties)):
            yield _order_trial(f"order by {name}", score(estimator.tally))
    else:
        sheet = sheet_of(estimator.judgments)
        means = dict(zip(sheet.systems, item_means(standardised(sheet)).system_means(len(sheet.systems)), strict=True))
        yield _order_trial("order by z-scores", np.array([means.get(name, np.nan) for name in estimator.systems]))


def _one_by_one(estimator: Estimator) -> Iterator[Trial]:
    """A trial without each unit, those with the most judgments first, and one by how far annotators part."""
    for units in estimator.trial_units:
        if len(units.names) < FEWEST_TO_LEAVE_OUT:
            continue
        everyone = units.kind == "annotator" and units.number <= MOST_ANNOTATORS
        codes = units.busiest(None if everyone else MOST_LEFT_OUT)
        estimates = estimator.without_each(units, codes)
        for code, left in zip(codes, estimates, strict=True):
            name = units.names[code] or (NOBODY if units.kind == "annotator" else code + 1)
            yield _trial(estimator, f"{units.kind} {name} left out", f"any {units.kind} left out", left, needed=True)
        if everyone and sum(left is not None for left in estimates) >= FEWEST_TO_LEAVE_OUT:
            yield _own_spread(estimator, units, estimates)


def _own_spread(estimator: Estimator, units: Units, estimates: Sequence[Estimate | None]) -> Trial:
    """The difference against how far it moves without each annotator, counted by their share of the work.

    The model takes annotators to part over all systems alike. Where they part over one pair more than that, its
    difference varies from one annotator left out to the next (the jackknife).
    """
    whole = estimator.baseline
    moved = np.stack([_trial(estimator, "", "", left).difference for left in estimates if left is not None])
    people = (~np.isnan(moved)).sum(0)
    work = units.work[units.work > 0].astype(float)
    effective = work.sum() ** 2 / (work**2).sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        from_mean = moved - np.nansum(moved, axis=0) / people
        variance = (people - 1) / people * np.nansum(from_mean**2, axis=0)
        error = np.sqrt(np.fmax(variance, whole.se**2))
        p = 2 * student_tail(np.abs(whole.difference) / error, max(effective - 1, 1.0))
    if whole.least_p is not None:
        p = np.maximum(p, whole.least_p)
    return Trial(OWN_SPREAD, OWN_SPREAD, whole.difference, p)


def _without_systems(estimator: Estimator) -> Iterator[Trial]:
    """What is left without some of the systems."""
    order, everyone = np.argsort(-estimator.estimate.effects), np.arange(len(estimator.systems))
    gone = {"best system": everyone == order[0], "worst system": everyone == order[-1]}
    if estimator.human.any():
        gone = {"reference" if estimator.kind == "relative" else "human": estimator.human, **gone}
    left = {f"without the {name}": ~systems for name, systems in gone.items() if (~systems).sum() > 1}
    parts = estimator.parts([Part(systems=systems) for systems in left.values()])
    for name, part in zip(left, parts, strict=True):
        if part is not None:
            yield _trial(estimator, name, name, part)


def _order_trial(name: str, score: Floats) -> Trial:
    """A trial of the direction alone."""
    return Trial(name, name, score[:, None] - score[None, :])


def _trial(estimator: Estimator, name: str, family: str, estimate: Estimate | None, *, needed: bool = False) -> Trial:
    """The trial of an estimate, which may be of some of the systems, or of none: NaN for the others."""
    n = len(estimator.systems)
    nothing = np.full((n, n), np.nan)
    if estimate is None:
        return Trial(name, family, nothing, nothing, needed=needed)
    indices = [estimator.systems.index(system) for system in estimate.systems]

    def spread(values: Floats) -> Floats:
        whole = nothing.copy()
        whole[np.ix_(indices, indices)] = values
        return whole

    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * student_tail(np.abs(estimate.difference) / estimate.se, estimate.df)
    p = p if estimate.least_p is None else np.maximum(p, estimate.least_p)
    return Trial(name, family, spread(estimate.difference), spread(p), needed=needed, estimate=estimate)
