"""The claims of a look in words and numbers: estimates, intervals, and after stopping the final estimates.

After stopping, the plain estimate is too large, because a campaign stops when it looks large. Outcomes are ordered by
stage: an upper crossing is the more extreme the earlier it came, then outcomes of one look by their Z, then lower
crossings, the earliest last. The interval holds the true differences under which the outcome is not in a tail of that
order; the median-unbiased estimate has half of the order on either side (C. Jennison, B. W. Turnbull 2000: Group
sequential methods, sections 8.4 and 8.5).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import ceil
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from adjudge.evidence.boundaries import LEAST_PEOPLE, Observed, State, bound, crossing, information_of
from adjudge.evidence.verdict_facts import claim_better, claim_top
from adjudge.evidence.verdict_looks import advise, say_contradicted, say_doubt, say_outlook, say_too_few
from adjudge.table.errors import DataError, UsageError, param
from adjudge.table.maths import NORMAL_95, Bools, normal_quantile, student_below, student_quantile
from adjudge.table.record import count_answers, is_answered, is_judgment
from adjudge.table.results import UNWRITTEN, Result, Table, number, percent, tabulate, text
from adjudge.table.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from adjudge.ranking.ranking import PairComparison, Ranking
    from adjudge.table.judgments import Judgments


# What is known of every difference at a look: estimate, standard error, and the normal quantile of its p-value.
#
# With few annotators a difference divided by its standard error follows Student's t. Its two-sided p is turned into the
# normal quantile of the same probability, so that one set of boundaries serves all.


_FARTHEST = 37.0
"""The largest normal quantile that a p-value above 0 can have in double precision."""


def observe(ranking: Ranking, fraction: float, people: int | None = None) -> Observed:
    """The differences of a ranking by any method that tests pairs, at a fraction of the plan; systems go by name.

    `people` have judged; None where not all of them are named.
    """
    by_pair: dict[tuple[str, str], tuple[float, ...]] = {}
    for comparison in ranking.comparisons:
        values = _numbers(comparison)
        by_pair[comparison.better, comparison.worse] = values
        by_pair[comparison.worse, comparison.better] = (-values[0], values[1], values[2], -values[3], -values[4])
    pairs = combinations(sorted(entry.system for entry in ranking.systems), 2)
    difference, se, df, z, leaning = np.array([by_pair[pair] for pair in pairs], dtype=float).reshape(-1, 5).T
    # Twice the variance of tastes over the number of annotators, where the model knows tastes.
    lasting = (
        2 * component.sd**2 * len(ranking.systems) / component.levels
        for component in ranking.components
        if component.of_tastes
    )
    return Observed(fraction, difference, se, df, z, next(lasting, 0.0), people, leaning)


def _numbers(comparison: PairComparison) -> tuple[float, float, float, float, float]:
    """Difference, error, degrees of freedom, z and what it leans to; what is not known is NaN, infinity or 0."""
    difference = comparison.difference
    if difference is None:
        return 0.0, np.nan, np.inf, 0.0, 0.0
    se, df = comparison.numbers.get("se"), comparison.numbers.get("df")
    sign = 1.0 if difference >= 0 else -1.0
    leaning = 0.0 if comparison.p is None else sign * as_normal(comparison.p)
    if sign * float(comparison.numbers.get("typical") or sign) < 0:
        leaning = 0.0
    # What typical scores say and the average does not, or the other way round, settles nothing.
    z = leaning if comparison.agreeing else 0.0
    return difference, np.nan if se is None else float(se), np.inf if df is None else float(df), z, leaning


def as_normal(p: float) -> float:
    """The normal quantile of a two-sided p-value."""
    return min(float(-normal_quantile(min(p, 1.0) / 2)), _FARTHEST)


def count_judgments(judgments: Judgments) -> int:
    """The judgments that count towards the plan (`table.record` says what counts)."""
    count = count_answers(judgments.final().table).judgments
    if not count:
        raise DataError("there are no judgments yet that count towards the plan; wait for the first ones")
    return count


def count_people(judgments: Judgments) -> int | None:
    """The people whose judgments count towards the plan; None where not all of them are named."""
    people = answered_rows(judgments)["annotator"]
    return None if people.null_count() else people.n_unique()


def people_behind(ranking: Ranking, people: int | None) -> int | None:
    """As few people as these may be, where they are accounts of fewer."""
    return people if people is None or ranking.fewest_people is None else min(people, ranking.fewest_people)


def answered_rows(judgments: Judgments) -> pl.DataFrame:
    """The rows that count towards the plan: ranks, scores, and translations that were corrected."""
    return judgments.final().table.filter(is_answered() & is_judgment())


# What open claims still need, how likely they are settled within the plan, and the advice that follows.
#
# None of this spends level: advice is advice, and going on is always allowed.


_TOO_MANY = 50
"""Beyond this many times the plan, the number of judgments needed is not shown."""


def needed_judgments(state: State, index: int) -> int | None:
    """Judgments more until the look at which the claim would be settled, if the difference is as estimated."""
    z, now, last = abs(float(state.now.trend[index])), state.now.fraction, _bound_at(state, index, 1.0)

    def reached(fraction: float) -> bool:
        return bool(z * np.sqrt(growth(state, index, fraction)) >= _bound_at(state, index, fraction))

    if not reached(1.0):
        beyond = _smallest(lambda fraction: z * np.sqrt(growth(state, index, fraction)) >= last, now, _TOO_MANY)
        return None if beyond is None else max(1, ceil(beyond * state.plan.planned) - state.judgments)
    ahead = [number / state.plan.looks for number in range(1, state.plan.looks) if number / state.plan.looks > now]
    ahead.append(1.0)
    return max(1, ceil(ahead[bisect_left(ahead, True, key=reached)] * state.plan.planned) - state.judgments)


def chance_within_plan(state: State, index: int) -> float | None:
    """The chance to cross the last boundary within the plan under the trend so far (conditional power)."""
    from scipy.special import ndtr

    fraction = state.now.fraction
    if fraction >= 1 or not state.now.tells_of_others:
        return None
    limit = _bound_at(state, index, 1.0)
    share = 1 / growth(state, index, 1.0)
    # With a share t of the last look's information in, the score there is Z sqrt(t) plus the drift Z / sqrt(t) over
    # what is left, with variance 1 - t.
    return float(ndtr((abs(float(state.now.trend[index])) / np.sqrt(share) - limit) / np.sqrt(max(1 - share, 1e-9))))


def _smallest(reached: Callable[[float], bool], low: float, high: float) -> float | None:
    """The smallest number above `low` that is enough, to a thousandth; None where even `high` is not."""
    if not reached(high):
        return None
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def growth(state: State, index: int, fraction: float) -> float:
    """How many times the present information there is at a fraction of the plan, if the same people go on."""
    variance = float(state.now.se[index]) ** 2
    lasting = min(state.now.lasting, 0.99 * variance) if variance > 0 else 0.0
    passing = 1.0 if not variance > 0 else (variance - lasting) / variance
    return 1 / (1 - passing + passing * state.now.fraction / fraction)


def _bound_at(state: State, index: int, fraction: float) -> float:
    """The boundary of a comparison at a look to come."""
    return bound(state.plan, state.seen, index, float(state.settled.level[index]), ahead=fraction)


def advice_on(state: State, claims: tuple[LookClaim, ...]) -> tuple[bool, str]:
    """Whether to stop, and what to do, with the first sentence about settled claims that the present data contradict.

    Nobody is told to stop on what one or two people think, or on what the judgments contradict by now.
    """
    plan = state.plan
    doubt = say_doubt(claims)
    if not state.now.tells_of_others:
        return state.ended, doubt + say_too_few(state.now.people or 0, LEAST_PEOPLE, ended=state.ended)
    if any(claim.standing == "contradicts" for claim in claims):
        return state.ended, doubt + say_contradicted(ended=state.ended)
    top = plan.goal.size if plan.goal.kind == "top" else None
    stop, advice = advise(claims, top=top, planned=plan.planned, judgments=state.judgments, ended=state.ended)
    return stop, doubt + advice


# What a campaign is to settle: all pairs, named pairs, the best system, or the top k.
#
# Pairs are tested two-sided, each at its share of the level, by the group sequential Holm procedure.
#
# "A is the best system" needs A to be better than every other. Such a claim can be false in these ways only: A is
# better than B is said for some A and the true best B, which are n - 1 statements, or, where another system equals B,
# that B is better than it, one more. So n one-sided tests at a / n keep the chance of a false claim below a, however
# many looks and candidates there are. For the top k against the rest there are k (n - k) + 1 such statements.


GoalKind = Literal["pairs", "top"]


@dataclass(frozen=True)
class Goal:
    """What is to be settled. The best system is the top 1."""

    kind: GoalKind = "pairs"
    size: int = 1
    """Of the top."""
    between: tuple[tuple[str, str], ...] = ()
    """The pairs that are to be settled; all where none are named."""

    def __str__(self) -> str:
        """As the command line has it."""
        if self.kind == "pairs":
            return "pairs"
        return "best" if self.size == 1 else f"top:{self.size}"

    def check(self, systems: tuple[str, ...]) -> None:
        """Refuse a goal that these systems cannot have."""
        unknown = [name for pair in self.between for name in pair if name not in systems]
        if unknown:
            raise DataError(f"'{unknown[0]}' is not among the systems ({', '.join(systems)}); check {param('between')}")
        if self.kind == "top" and self.size >= len(systems):
            raise DataError(
                f"{param('goal')} {self} needs more than {counted(self.size, 'system')}, "
                f"the data hold {len(systems)}; choose a "
                "smaller top"
            )

    def one_sided_level(self, level: float, systems: int) -> float:
        """The level of each comparison where the top is the goal."""
        return level / (self.size * (systems - self.size) + 1)


def parse_goal(text: str, between: tuple[tuple[str, str], ...] = ()) -> Goal:
    """`pairs`, `best` or `top:3`; with named pairs, `pairs` means these."""
    if text == "pairs":
        return Goal(between=between)
    if between:
        raise UsageError(f"named pairs are for the goal 'pairs', not for '{text}'; leave one of them out")
    if text == "best":
        return Goal("top", 1)
    kind, _, size = text.partition(":")
    if kind == "top" and size.isascii() and size.isdigit() and int(size) >= 1:
        return Goal("top", int(size))
    raise UsageError(f"unknown goal '{text}'; choose pairs, best, or top:k with a whole number k, such as top:3")


# The result of an interim look: what is settled, what is open, and whether to stop.


Verdict = Literal["settled", "open"]
Standing = Literal["agrees", "unsure", "contradicts"]


@dataclass(frozen=True)
class LookClaim:
    """A statement about systems, and whether it is settled."""

    claim: str
    systems: tuple[str, ...]
    """The better system first; for a top, its members."""
    estimate: float | None
    """The difference; for a top, that of its weakest lead."""
    interval: tuple[float | None, float | None]
    """The repeated confidence interval of the difference, at the claim's share of the level."""
    verdict: Verdict
    needed: int | None
    """Further judgments until the claim would be settled, if the difference is as estimated; None if unknown."""
    settled_at: int | None = None
    """The look at which it was settled."""
    chance: float | None = None
    """The probability of settling it within the plan, if the difference is as estimated."""
    z: float | None = None
    bound: float | None = None
    """The boundary of z at this look."""
    unbiased: float | None = None
    """After stopping: the median-unbiased estimate of the difference."""
    final_interval: tuple[float, float] | None = None
    """After stopping: the 95% interval by stage-wise ordering, for this claim by itself."""
    standing: Standing | None = None
    """Of a settled claim, whether all judgments so far agree: they may say the opposite by now, or be unsure (p > .05
    by itself)."""


@dataclass(frozen=True, kw_only=True)
class Look(Result):
    """One look: the share of the plan that is done, the level spent, and the state of all claims."""

    verb: ClassVar[str] = "look"

    look: int
    looks: int
    """Number of planned looks."""
    judgments: int
    planned: int
    information: float
    """The fraction of the plan that is in: of the judgments, or of the people if that is smaller."""
    level: float
    """The level spent so far, of all claims together."""
    goal: str
    claims: tuple[LookClaim, ...]
    stop: bool
    advice: str
    people: int | None = None
    """How many people have judged; None where not all of them are named. Of accounts, as few as they may be."""
    who: str = field(default="", metadata=UNWRITTEN)
    """Who judged, in words."""

    @property
    def first_lines(self) -> tuple[str, ...]:
        """What to do."""
        return (self.advice,)

    @property
    def settled(self) -> tuple[LookClaim, ...]:
        """The claims that are settled for good."""
        return tuple(claim for claim in self.claims if claim.verdict == "settled")

    @property
    def open(self) -> tuple[LookClaim, ...]:
        """The claims that are open."""
        return tuple(claim for claim in self.claims if claim.verdict == "open")

    def tables(self) -> tuple[Table, ...]:
        """The claims, the settled ones first; after stopping, the final estimates."""
        by = f" by {self.who}" if self.who else ""
        note = (
            f"Look {self.look} ({self.looks} planned): {self.judgments:,} of {self.planned:,} judgments{by}, "
            f"{self.information:.0%} of the plan. {self.level:.4f} of the level is spent."
        )
        rows = tuple(
            (
                claim.claim,
                claim.verdict,
                claim.estimate,
                _span(claim.interval),
                claim.needed,
                claim.chance,
                claim.settled_at,
            )
            for claim in (*self.settled, *self.open)
        )
        columns = (
            text("claim"),
            text("verdict"),
            number("difference", 2),
            text("interval", help="holds at all looks together, at the claim's share of the level"),
            number("needed", 0, help="further judgments needed, if the difference is as estimated"),
            percent("chance", 0, help="probability of settling it within the plan, if the difference is as estimated"),
            number("settled at look", 0),
        )
        tables = [Table(f"Look {self.look}", columns, rows, note)]
        if any(claim.unbiased is not None for claim in self.claims):
            tables.append(self._final())
        return tuple(tables)

    def _final(self) -> Table:
        rows = tuple(
            (claim.claim, claim.unbiased, _span(claim.final_interval))
            for claim in self.claims
            if claim.final_interval is not None
        )
        columns = (text("claim"), number("median-unbiased", 2), text("95% interval"))
        note = (
            "Differences that stopped a campaign look too large; these estimates account for the looks. Each interval "
            "is for its claim alone, while verdicts are for all claims together."
        )
        return Table("After stopping", columns, rows, note)


@dataclass(frozen=True)
class LiveSystem:
    """A system with the ranks that it may have."""

    system: str
    score: float | None
    best: int
    worst: int


@dataclass(frozen=True)
class Outlook:
    """The projected gain of more judgments, if differences are as estimated and the same people continue."""

    more: int
    open: int
    """Comparisons of the goal that are open now."""
    expected: float
    """How many of them would be settled."""
    chance: float | None
    """For the goals best and top: the probability of settling it, by its weakest comparison."""
    half_width: float
    """The mean half-width of the intervals now."""
    half_width_then: float

    @property
    def sentence(self) -> str:
        """The outlook in one sentence."""
        return say_outlook(
            self.more,
            open_pairs=self.open,
            expected=self.expected,
            chance=self.chance,
            half_width=self.half_width,
            half_width_then=self.half_width_then,
        )


@dataclass(frozen=True, kw_only=True)
class LiveState(Result):
    """The state at any time: possible ranks and claims, valid at all times together."""

    verb: ClassVar[str] = "look"

    judgments: int
    planned: int
    level: float
    systems: tuple[LiveSystem, ...]
    """The best first."""
    claims: tuple[LookClaim, ...]
    outlook: Outlook | None
    """None if the plan is used up."""
    stop: bool
    advice: str
    start: tuple[float, tuple[float | None, ...]] | None
    """The fraction of the plan and the standard errors at the first time, which determine the bounds; None before
    enough people have judged."""
    people: int | None = None

    def tables(self) -> tuple[Table, ...]:
        """The systems with their possible ranks, and the claims."""
        columns = {
            "system": text("system"),
            "score": number("score", 2),
            "best": number("best rank", 0, help="holds at all times together"),
            "worst": number("worst rank", 0),
        }
        claims = tuple(
            (claim.claim, "holds" if claim.verdict == "settled" else "open", claim.estimate, _span(claim.interval))
            for claim in self.claims
        )
        heads = (text("claim"), text("state"), number("difference", 2), text("interval"))
        return (tabulate("Possible ranks", self.systems, columns), Table("Pairs", heads, claims))


def _span(interval: tuple[float | None, float | None] | None) -> str:
    if interval is None or interval[0] is None or interval[1] is None:
        return ""
    return f"{interval[0]:.2f} to {interval[1]:.2f}"


_FINAL_LEVEL = 0.05
_WIDE = 12.0
"""Differences are at first searched within so many standard errors of the plain estimate."""
_PRECISION = 1e-6
"""In standard errors."""
_MOST_SECANTS = 12


def claims_of(state: State) -> tuple[LookClaim, ...]:
    """The claims of the goal, the clearest first."""
    if state.plan.goal.kind == "pairs":
        tested = tested_pairs(state.plan.goal, state.systems)
        claims = [_pair_claim(state, int(index)) for index in np.flatnonzero(tested)]
        return tuple(sorted(claims, key=lambda claim: -abs(claim.z or 0.0)))
    return _top_claims(state)


def tested_pairs(goal: Goal, systems: tuple[str, ...]) -> Bools:
    """Which pairs of systems belong to the goal."""
    named = {frozenset(pair) for pair in goal.between}
    return np.array([not named or frozenset(pair) in named for pair in combinations(systems, 2)], dtype=bool)


def _pair_claim(state: State, index: int) -> LookClaim:
    now, settled = state.now, state.settled
    first, second = state.pairs[index]
    sign = int(settled.sign[index]) or (1 if now.difference[index] >= 0 else -1)
    better, worse = (first, second) if sign > 0 else (second, first)
    is_settled = settled.sign[index] != 0
    limit = bound(state.plan, state.seen, index, float(settled.level[index]))
    estimate = sign * float(now.difference[index])
    half = half_width(float(now.se[index]), float(now.df[index]), limit)
    standing = _standing(estimate, sign * float(now.z[index])) if is_settled else None
    # Of scores, typical ones settle a claim; the average must agree, but by itself, so that its interval may reach 0.
    low = max(estimate - half, 0.0) if standing == "agrees" else estimate - half
    return LookClaim(
        claim=claim_better(state.systems[better], state.systems[worse]),
        systems=(state.systems[better], state.systems[worse]),
        estimate=estimate,
        interval=(low, estimate + half) if np.isfinite(half) else (None, None),
        verdict="settled" if is_settled else "open",
        needed=None if is_settled else needed_judgments(state, index),
        settled_at=int(settled.look[index]) or None,
        chance=None if is_settled else chance_within_plan(state, index),
        z=sign * float(now.z[index]),
        bound=limit if np.isfinite(limit) else None,
        standing=standing,
    )


def _standing(estimate: float, z: float) -> Standing:
    """What all judgments so far say of a claim that was settled, by the difference and its z toward what is claimed.

    The difference tells which way they point: z is 0 where two readings of the scores do not agree.
    """
    return "contradicts" if estimate < 0 else "unsure" if z < NORMAL_95 else "agrees"


def half_width(se: float, df: float, limit: float) -> float:
    """The boundary in the unit of the difference: the quantile of t with the probability of the normal boundary."""
    from scipy.special import ndtr

    tail = float(ndtr(-limit))
    quantile = limit if np.isinf(df) else float(student_quantile(tail, df)) if tail > 0 else np.inf
    return se * quantile


def leading(state: State, size: int) -> tuple[str, ...]:
    """The systems with the largest estimates, the best first."""
    systems = state.systems
    effect = np.zeros(len(systems))
    for (first, second), difference in zip(state.pairs, state.now.difference, strict=True):
        effect[first] += difference
        effect[second] -= difference
    order = sorted(range(len(systems)), key=lambda number: (-effect[number], systems[number]))
    return tuple(systems[number] for number in order[:size])


def settled_top(state: State) -> tuple[str, ...]:
    """The systems each of which is settled as better than all of the rest, where they are as many as the goal asks."""
    n, size = len(state.systems), state.plan.goal.size
    better = state.better
    wins = Counter(winner for winner, _ in better)
    members = [number for number in range(n) if wins[number] >= n - size]
    others = set(range(n)) - set(members)
    if len(members) != size or any((member, other) not in better for member in members for other in others):
        return ()
    return tuple(name for name in leading(state, n) if state.systems.index(name) in members)


def _top_claims(state: State) -> tuple[LookClaim, ...]:
    members = state.top or leading(state, state.plan.goal.size)
    claims = [_toward(_pair_claim(state, int(index)), members) for index in np.flatnonzero(state.crossing(members))]
    open_links = [claim for claim in claims if claim.verdict == "open"]
    weakest = min(claims, key=lambda claim: claim.z or 0.0)
    needed = [claim.needed for claim in open_links]
    chances = [claim.chance for claim in open_links if claim.chance is not None]
    main = replace(
        weakest,
        claim=claim_top(members),
        systems=members,
        verdict="settled" if state.top else "open",
        needed=None if state.top or None in needed else max((number or 0 for number in needed), default=None),
        chance=None if state.top else min(chances, default=None),
        settled_at=state.top_at or None,
        standing=_standing(min(claim.estimate or 0.0 for claim in claims), weakest.z or 0.0) if state.top else None,
    )
    return (main,) if state.top else (main, *open_links)


def _toward(claim: LookClaim, members: tuple[str, ...]) -> LookClaim:
    """The claim turned so that the member of the top is said to be better; what points the other way is open."""
    if claim.systems[0] in members:
        return claim
    worse, better = claim.systems
    low, high = claim.interval
    return replace(
        claim,
        claim=claim_better(better, worse),
        systems=(better, worse),
        estimate=None if claim.estimate is None else -claim.estimate,
        interval=(None if high is None else 0.0 - high, None if low is None else 0.0 - low),
        verdict="open",
        settled_at=None,
        standing=None,
        z=None if claim.z is None else -claim.z,
        needed=None,
        chance=None,
    )


def with_final_estimates(state: State, claims: tuple[LookClaim, ...]) -> tuple[LookClaim, ...]:
    """After stopping: the claims with estimates that account for the looks."""
    index_of = {frozenset((state.systems[i], state.systems[j])): k for k, (i, j) in enumerate(state.pairs)}
    return tuple(
        claim if len(claim.systems) != 2 else _with_final(state, claim, index_of[frozenset(claim.systems)])
        for claim in claims
    )


def _with_final(state: State, claim: LookClaim, index: int) -> LookClaim:
    looks = [observed for observed in state.seen[: claim.settled_at or len(state.seen)] if observed.tells_of_others]
    if not looks:
        return claim
    last = looks[-1]
    se = float(last.se[index])
    if not se > 0:
        return claim
    df = float(last.df[index])
    # Errors from few annotators are wider than the normal distribution says.
    wider = 1.0 if np.isinf(df) else float(student_below(1 - _FINAL_LEVEL / 2, df)) / NORMAL_95
    information = np.array(information_of(looks, index))
    information *= 1 / (se * wider) ** 2 / information[-1]
    level = float(state.settled.level[index])
    bounds = [bound(state.plan, looks[:number], index, level) for number in range(1, len(looks))]
    sign = 1.0 if claim.systems[0] == state.systems[state.pairs[index][0]] else -1.0
    # The recursion needs information that only grows.
    for k in range(len(information) - 2, -1, -1):
        information[k] = min(information[k], 0.996 * information[k + 1])
    z = sign * float(last.difference[index]) / (se * wider)
    estimate, interval = final_estimate(Path(tuple(information.tolist()), tuple(bounds), z), level=_FINAL_LEVEL)
    return replace(claim, unbiased=estimate, final_interval=interval)


@dataclass(frozen=True)
class Path:
    """What one difference went through until it was settled or judging ended.

    `bounds` are those of the looks before the last one, whose Z is `z`.
    """

    information: tuple[float, ...]
    bounds: tuple[float, ...]
    z: float


def final_estimate(path: Path, *, level: float = 0.05) -> tuple[float, tuple[float, float]]:
    """The median-unbiased estimate of a difference after stopping, and its interval by stage-wise ordering."""
    if path.z < 0:
        turned, (low, high) = final_estimate(replace(path, z=-path.z), level=level)
        return -turned, (-high, -low)
    low, middle, high = (_difference_at(path, tail) for tail in (level / 2, 0.5, 1 - level / 2))
    return middle, (low, high)


def at_least_as_extreme(path: Path, difference: float) -> float:
    """The probability, under a true difference, of an outcome at or above this one in the order by stage."""
    upper = [*path.bounds, path.z]
    lower = [*(-bound for bound in path.bounds), -np.inf]
    above, _ = crossing(path.information, upper, lower, drift=difference)
    return float(above.sum())


def _difference_at(path: Path, tail: float) -> float:
    """The true difference under which the outcome has this probability, which grows with the difference."""
    from scipy.optimize import brentq

    se = 1 / np.sqrt(path.information[-1])
    plain = path.z * se
    near = _by_secants(path, tail, plain, se)
    if near is not None:
        return near

    def off(true: float) -> float:
        return at_least_as_extreme(path, true) - tail

    # An early crossing says less than its standard error alone, so the search is as wide as the first look's error.
    width = _WIDE * max(se, 1 / np.sqrt(path.information[0]))
    low, high = plain - width, plain + width
    # A statistic that was small at the first look and is huge at the next one points at a difference far below it.
    while off(low) > 0:
        low -= width
    while off(high) < 0:
        high += width
    return float(brentq(off, low, high, xtol=_PRECISION * se))


def _by_secants(path: Path, tail: float, plain: float, se: float) -> float | None:
    """The same by secants: the normal quantile of the probability is nearly a line. None where they lead nowhere."""
    wanted = float(normal_quantile(tail))

    def off(true: float) -> float:
        return float(normal_quantile(at_least_as_extreme(path, true))) - wanted

    before, here = plain, plain + wanted * se if wanted else plain + se
    off_before, off_here = off(before), off(here)
    for _ in range(_MOST_SECANTS):
        if not np.isfinite(off_before) or not np.isfinite(off_here) or off_before == off_here:
            return None
        step = off_here * (here - before) / (off_here - off_before)
        before, off_before = here, off_here
        here -= step
        if abs(step) < _PRECISION * se:
            return here
        off_here = off(here)
    return None
