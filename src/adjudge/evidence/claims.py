"""Claims: every statement of a ranking by its model, put to trials in which weaker claims fail.

Trials: both halves of the annotators in several random divisions; without the humans, the best and the worst system;
the annotators (of scores also the documents) with the most judgments left out in turn; other ways to rank. Of scores
these are the human's scores divided, scores instead of ranks, and the direction of z-scores; of relative judgments the
direction of expected wins and of wins without ties. Estimates of parts keep the variances of the full data, which makes
them quick.

Parity, of scores: a system is no further from a human translation than a margin, by two one-sided tests. Each human
translation is compared by itself. A claim of parity never stands beside a significant difference that is larger than
the margin.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import methodcaller
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from adjudge.evidence.trust import random_halves, unnamed_note
from adjudge.evidence.verdict import FEWEST_ANNOTATORS, claim_best, claim_better, claim_parity, count_claims
from adjudge.ranking import relative as ratios
from adjudge.ranking.changes import margin_in_points
from adjudge.ranking.estimator import Estimator, Part, RelativeEstimator, ScoreEstimator, estimator_of
from adjudge.ranking.lines import holm
from adjudge.table.comparisons import NOBODY
from adjudge.table.maths import Floats, equivalence, student_tail
from adjudge.table.results import P_HOLM, UNWRITTEN, Cell, Table, number, text, to_plain
from adjudge.table.rng import generator
from adjudge.table.score_sheet import item_means, sheet_of, standardised
from adjudge.table.wording import as_sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from adjudge.evidence.audit import AuditSettings
    from adjudge.ranking.estimate import Estimate
    from adjudge.table.judgments import Judgments


# Trials that a claim has to survive. Each is the ranking made again from changed data, or by another estimator.
#
# A claim "A is better than B" survives a trial if A is still ahead and, where the trial tests it, the difference is
# still significant at the level of the claim itself: after Holm's correction for all pairs of the trial. Halves of
# the annotators are the exception. Each half has half of the evidence, so that there the difference must be
# significant by itself, in both halves of every division.


HALVES = "halves of the annotators"
"""The family that a claim must survive to hold: what half of the people say, the other half must say too."""
NO_HALVES = "too few annotators to divide them into halves"
NOT_IN_BOTH_HALVES = "too few annotators judged the two to divide them into halves"
DIVISIONS = 5


@dataclass(frozen=True, eq=False)
class Trial:
    """Differences (row minus column) of all systems, with standard errors and degrees of freedom.

    NaN where a system is not in the trial; `se` is None where only the order counts.
    """

    name: str
    family: str
    """Trials of one family, such as one per annotator, are survived together."""
    difference: Floats
    se: Floats | None = None
    df: Floats | None = None
    least_p: Floats | None = None
    """What p cannot be below, where the spread understates the doubt."""
    adjusted: bool = True
    """Whether p-values are corrected for all pairs of the trial."""

    def applies(self, first: int, second: int) -> bool:
        """Whether both systems are in the trial."""
        return bool(np.isfinite(self.difference[first, second]))

    def without(self, systems: NDArray[np.bool_]) -> Trial:
        """The trial of all pairs in which none of the marked systems takes part."""
        gone = systems[:, None] | systems[None, :]
        return replace(self, difference=np.where(gone, np.nan, self.difference))

    @cached_property
    def p(self) -> Floats | None:
        """Two-sided p of every pair, corrected where the trial says so; None where only the order counts."""
        if self.se is None or self.df is None:
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            p = 2 * student_tail(np.abs(self.difference) / self.se, self.df)
        p = p if self.least_p is None else np.maximum(p, self.least_p)
        p[~np.isfinite(self.difference)] = np.nan
        if not self.adjusted:
            return p
        return _holm_of_pairs(p)

    def keeps_better(self, better: int, worse: int, level: float) -> bool:
        """Whether "better than" stands in this trial: still ahead, and significantly so where that is tested."""
        if not self.difference[better, worse] > 0:
            return False
        return self.p is None or bool(self.p[better, worse] < level)

    def equivalence(self, pairs: Sequence[tuple[int, int]], margin: float) -> dict[tuple[int, int], float]:
        """For each of the pairs in the trial the p that it is further apart than the margin, corrected by Holm."""
        if self.se is None or self.df is None:
            return {}
        applying = [pair for pair in pairs if self.applies(*pair)]
        chosen = tuple(np.array(applying, dtype=np.int64).reshape(-1, 2).T)
        difference, se, df = self.difference[chosen], self.se[chosen], self.df[chosen]
        p = np.maximum(student_tail((difference + margin) / se, df), student_tail((margin - difference) / se, df))
        corrected = holm(p) if self.adjusted else p
        return dict(zip(applying, corrected.tolist(), strict=True))


def _holm_of_pairs(p: Floats) -> Floats:
    """A symmetric matrix of p-values, each pair corrected once for all pairs."""
    upper = np.triu_indices(len(p), 1)
    adjusted = np.full_like(p, np.nan)
    adjusted[upper] = holm(p[upper])
    adjusted.T[upper] = adjusted[upper]
    return adjusted


class TrialOutcome(NamedTuple):
    """What became of a claim."""

    survives: tuple[str, ...] = ()
    """The families that it survives whole."""
    broken_by: tuple[str, ...] = ()
    """The single trials that break it."""
    fails: tuple[str, ...] = ()
    """The families of these trials."""


def try_claim(trials: Sequence[Trial], pair: tuple[int, int], stands: Callable[[Trial], bool]) -> TrialOutcome:
    """As `outcome`, of the trials that both systems are in.

    A claim that could not be tried on both halves of the annotators in every division is broken by that: it rests on
    one person or two, and others have said nothing.
    """
    tried = outcome([trial for trial in trials if trial.applies(*pair)], stands)
    halves = [trial.applies(*pair) for trial in trials if trial.family == HALVES]
    if halves and all(halves):
        return tried
    return TrialOutcome(
        survives=tuple(family for family in tried.survives if family != HALVES),
        broken_by=(*tried.broken_by, NOT_IN_BOTH_HALVES if halves else NO_HALVES),
        fails=(*(family for family in tried.fails if family != HALVES), HALVES),
    )


def outcome(trials: Iterable[Trial], stands: Callable[[Trial], bool]) -> TrialOutcome:
    """The families that a claim survives whole, and the single trials that break it."""
    families: dict[str, bool] = {}
    broken: list[str] = []
    for trial in trials:
        unbroken = stands(trial)
        families[trial.family] = families.get(trial.family, True) and unbroken
        if not unbroken:
            broken.append(trial.name)
    survives, fails = (
        tuple(name for name, unbroken in families.items() if unbroken == wanted) for wanted in (True, False)
    )
    return TrialOutcome(survives, tuple(broken), fails)


# Claims: statements of a ranking with their evidence, the audits they survive, and what breaks them.


Verdict = Literal["holds", "fragile", "not supported"]
MOST_SHOWN = 40


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

    def lost_to_correction(self, level: float) -> bool:
        """Whether the claim would be supported if it were the only one: Holm's correction makes the difference."""
        return self.p is not None and self.p < level and self.verdict == "not supported"


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

    @property
    def pairs(self) -> int:
        """How many pairs of systems there are."""
        return sum(claim.kind == "better" for claim in self.claims)

    def counted(self, verdict: Verdict, kind: str = "better") -> int:
        """How many claims of this kind have this verdict."""
        return sum(claim.verdict == verdict and claim.kind == kind for claim in self.claims)

    def to_dict(self) -> list[dict[str, Any]]:
        """The documented keys: a list of claims."""
        plain: list[dict[str, Any]] = to_plain(self.claims)
        return plain

    def tables(self) -> tuple[Table, ...]:
        """The claims that hold and those that are fragile, in plain words; the others are counted."""
        supported = [claim for claim in self.claims if claim.verdict != "not supported"]
        rows = tuple(_row(claim) for claim in supported[:MOST_SHOWN])
        columns = (
            text("claim"), text("verdict"), number("by", 2, help=self.unit), number("low", 2), number("high", 2),
            P_HOLM, text("audits survived"), text("broken by"),
        )  # fmt: skip
        return (Table("Claims", columns, rows, self.in_words(len(supported))),)

    def in_words(self, supported: int) -> str:
        """What the counts say, in a sentence or two."""
        words = [count_claims(self.counted("holds"), self.counted("fragile"), self.pairs, self.unit)]
        if supported > MOST_SHOWN:
            words.append(f"The first {MOST_SHOWN} claims are shown; --json has all.")
        return " ".join([*words, *as_sentences(self.notes)])


def _row(claim: Claim) -> tuple[Cell, ...]:
    low, high = claim.interval or (None, None)
    survived = f"{len(claim.survives)} of {len(claim.survives) + len(claim.fails)}"
    further = len(claim.broken_by) - 3
    broken = "; ".join(claim.broken_by[:3]) + (f" and {further} more" if further > 0 else "")
    return (claim.claim, claim.verdict, claim.estimate, low, high, claim.p_holm, survived, broken)


Pair = tuple[int, int]


def better_claims(estimate: Estimate, level: float, trials: Callable[[], list[Trial]]) -> tuple[Claim, ...]:
    """Every "A is better than B" and "A is the best"; `trials` are made only if some claim is supported."""
    adjusted = estimate.adjusted()
    tried = trials() if any(p < level for p in adjusted.values()) else []
    low, high = estimate.interval(level)
    claims = {}
    for pair, p in adjusted.items():
        names = (estimate.systems[pair[0]], estimate.systems[pair[1]])
        keeps = methodcaller("keeps_better", *pair, level)
        outcome = try_claim(tried, pair, keeps) if p < level else None
        interval, p_values = (float(low[pair]), float(high[pair])), (p, estimate.contrasts.two_sided[pair])
        difference = float(estimate.difference[pair])
        claims[pair] = _claim("better", claim_better(*names), names, difference, interval, p_values, outcome)
    strength = {"holds": 0, "fragile": 1, "not supported": 2}
    by_strength = sorted(claims.values(), key=lambda claim: (strength[claim.verdict], -(claim.estimate or 0.0)))
    return (_best(estimate, claims), *by_strength)


def _claim(  # noqa: PLR0917
    kind: Literal["better", "best", "parity"],
    words: str,
    systems: tuple[str, ...],
    estimate: float | None,
    interval: tuple[float, float] | None,
    p_values: tuple[float | None, float | None],
    tried: TrialOutcome | None,
) -> Claim:
    """A claim with its verdict: supported and unbroken claims hold, supported and broken ones are fragile.

    `p_values` are corrected and by itself; `tried` is None where the claim is not supported.
    """
    survives, broken, fails = tried or TrialOutcome()
    verdict: Verdict = "not supported" if tried is None else "fragile" if broken else "holds"
    # A p-value is never 0: what is too small for a number is the smallest number.
    p_holm, p = (None if p is None or np.isnan(p) else max(float(p), sys.float_info.min) for p in p_values)
    return Claim(words, kind, systems, estimate, interval, p_holm, survives, broken, verdict, p, fails)


def _best(estimate: Estimate, claims: dict[Pair, Claim]) -> Claim:
    """That A is the best stands on A being better than every other system."""
    first = estimate.order[0]
    parts = [claim for (better, _), claim in claims.items() if better == first]
    weakest = min(parts, key=lambda claim: claim.estimate or 0.0)
    supported = all(claim.verdict != "not supported" for claim in parts)
    common = set.intersection(*({*claim.survives} for claim in parts))
    tried = TrialOutcome(
        survives=tuple(name for name in parts[0].survives if name in common),
        broken_by=tuple(dict.fromkeys(name for claim in parts for name in claim.broken_by)),
        fails=tuple(dict.fromkeys(name for claim in parts for name in claim.fails)),
    )
    p_holm = max((claim.p_holm for claim in parts if claim.p_holm is not None), default=None)
    p = max((claim.p for claim in parts if claim.p is not None), default=None)
    name = estimate.systems[first]
    return _claim(
        "best", claim_best(name), (name,), weakest.estimate, weakest.interval, (p_holm, p), tried if supported else None
    )


def parity_claims(
    estimate: Estimate, margin: float, level: float, trials: Callable[[], list[Trial]]
) -> tuple[Claim, ...]:
    """One claim for every system and every human translation.

    Args:
        estimate: what all claims rest on, in points.
        margin: in points.
        level: of the tests, which Holm corrects together.
        trials: made only if some claim is supported.
    """
    humans = np.flatnonzero(estimate.human)
    pairs = [(int(system), int(human)) for human in humans for system in np.flatnonzero(~estimate.human)]
    tests = [equivalence(estimate.contrasts, *pair, margin=margin, level=level) for pair in pairs]
    corrected = holm(np.array([test.p for test in tests]))
    apart = {pair for pair, p in estimate.adjusted().items() if p < level and estimate.difference[pair] > margin}
    supported = [pair for pair, p in zip(pairs, corrected, strict=True) if p < level and not {pair, pair[::-1]} & apart]
    # Where only the order counts, nothing is said of equivalence.
    tried = [trial for trial in trials() if trial.se is not None] if supported else []
    tested = {trial: trial.equivalence(pairs, margin) for trial in tried}
    claims = []
    for pair, test, p_holm in zip(pairs, tests, corrected.tolist(), strict=True):
        outcome = None
        if pair in supported:
            standing = {trial: p[pair] < level for trial, p in tested.items() if pair in p}
            outcome = try_claim(tried, pair, standing.__getitem__)
        names, interval = (estimate.systems[pair[0]], estimate.systems[pair[1]]), (test.low, test.high)
        p_values = (p_holm, test.p)
        claims.append(_claim("parity", claim_parity(*names), names, test.difference, interval, p_values, outcome))
    return tuple(claims)


LEVEL = 0.05
DIVISORS = (2.0, 10.0)
# Leaving out one at a time is done for so many annotators and documents, those with the most judgments.
MOST_LEFT_OUT = 60
FEWEST_TO_LEAVE_OUT = 3
_STREAM = 34


def claims_section(judgments: Judgments, settings: AuditSettings) -> Claims:
    """Make every claim and put it to the trials."""
    estimator = estimator_of(judgments, seed=settings.seed)
    relative = estimator.kind == "relative"
    whole = estimator.estimate
    trials: list[Trial] = []

    def tried() -> list[Trial]:
        # Made once, and only if some claim is supported.
        if not trials:
            trials.extend(make_trials(estimator, settings.seed))
        return trials

    claims = better_claims(whole, LEVEL, tried)
    margin = None
    if isinstance(estimator, ScoreEstimator):
        margin = margin_in_points(settings.margin, estimator.design.as_given)
    parity = () if margin is None else parity_claims(whole, margin, LEVEL, tried)
    notes = (*estimator.left_out_notes, *unnamed_note(estimator.unnamed, estimator.judgment))
    return Claims(
        method="bradley-terry" if relative else "mixed",
        unit="log-odds of winning" if relative else "points",
        kind=estimator.kind,
        level=LEVEL,
        margin=margin if parity else None,
        claims=(*parity, *claims),
        audits=tuple(dict.fromkeys(trial.family for trial in trials)),
        humans=tuple(name for name, human in zip(whole.systems, whole.human, strict=True) if human),
        annotators=estimator.annotators,
        notes=notes if trials else (),
    )


def make_trials(estimator: ScoreEstimator | RelativeEstimator, seed: int) -> Iterator[Trial]:
    """Every trial that makes sense for these data."""
    yield from _halves(estimator, seed)
    yield from _without_systems(estimator)
    if isinstance(estimator, RelativeEstimator):
        for name, score in (("expected wins", ratios.expected_wins), ("wins without ties", ratios.wins_no_ties)):
            yield _order_trial(f"order by {name}", score(estimator.tally))
        yield from _one_by_one(estimator)
    else:
        yield from _one_by_one(estimator)
        yield from _other_scores(estimator)


def _halves(estimator: Estimator, seed: int) -> Iterator[Trial]:
    """Both halves of the annotators, in several random divisions; a half has half of the evidence."""
    if estimator.people < FEWEST_ANNOTATORS:
        return
    names, parts = [], []
    for division in range(1, DIVISIONS + 1):
        halves = random_halves(estimator.people, generator(seed, _STREAM, division))
        for half, people in zip(("first", "second"), halves, strict=True):
            names.append(f"division {division} of the annotators, {half} half")
            parts.append(Part(people=people))
    for name, part in zip(names, estimator.parts(parts), strict=True):
        if part is not None:
            yield replace(_trial(estimator, name, HALVES, part), adjusted=False)


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


def _one_by_one(estimator: Estimator) -> Iterator[Trial]:
    """A trial without each unit, those with the most judgments first."""
    for units in estimator.trial_units:
        if len(units.names) < FEWEST_TO_LEAVE_OUT:
            continue
        codes = units.busiest(MOST_LEFT_OUT)
        for code, left in zip(codes, estimator.without_each(units, codes), strict=True):
            if left is not None:
                name = units.names[code] or (NOBODY if units.kind == "annotator" else code + 1)
                yield _trial(estimator, f"{units.kind} {name} left out", f"any {units.kind} left out", left)


def _other_scores(estimator: ScoreEstimator) -> Iterator[Trial]:
    """The human's scores divided, the scores themselves instead of normal scores, and z-scores."""
    given, human = estimator.design.as_given, estimator.human[estimator.design.system]
    for divisor in DIVISORS if human.any() and not human.all() else ():
        divided = estimator.with_scores(np.where(human, given / divisor, given))
        # What cannot be compared any more is not the claim's fault.
        if divided is not None:
            name = f"human divided by {divisor:g}"
            # The human itself is worse now by design: the trial is about all others.
            yield _trial(estimator, name, name, divided).without(estimator.human)
    yield _trial(estimator, "scores instead of ranks", "scores instead of ranks", estimator.in_points())
    sheet = sheet_of(estimator.judgments)
    means = dict(zip(sheet.systems, item_means(standardised(sheet)).system_means(len(sheet.systems)), strict=True))
    yield _order_trial("order by z-scores", np.array([means.get(name, np.nan) for name in estimator.systems]))


def _order_trial(name: str, score: Floats) -> Trial:
    """A trial of the direction alone."""
    return Trial(name, name, score[:, None] - score[None, :])


def _trial(estimator: Estimator, name: str, family: str, estimate: Estimate) -> Trial:
    """The trial of an estimate, which may be of some of the systems: NaN for the others."""
    indices = [estimator.systems.index(system) for system in estimate.systems]
    n = len(estimator.systems)

    def spread(values: Floats) -> Floats:
        whole = np.full((n, n), np.nan)
        whole[np.ix_(indices, indices)] = values
        return whole

    least_p = None if estimate.least_p is None else spread(estimate.least_p)
    return Trial(name, family, spread(estimate.difference), spread(estimate.se), spread(estimate.df), least_p)
