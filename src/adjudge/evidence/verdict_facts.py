"""What the data decide about the systems of one ranking: the facts that verdicts are worded from.

`Decisions` has them, whether they come from a ranking (`decide_by_ranking`) or from audited claims alone
(`decide_by_claims`). Who leads, how well that is supported, and how systems stand to each human translation all follow
from the decided pairs. Claims have their names here, because everything that speaks of a claim uses them.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Literal

from adjudge.ranking.methods import DEFAULTS, METHODS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from adjudge.evidence.claims import Claim, Claims
    from adjudge.evidence.conditions import Conditions
    from adjudge.ranking.decisions import State
    from adjudge.ranking.methods import Method
    from adjudge.ranking.ranking import PairComparison, Ranking

Pair = tuple[str, str]
"""Two systems, the better first."""
Verdict = Literal["holds", "needs more people", "fragile", "not supported"]
"""Of a claim: see `HOLDS_AND_FRAGILE`."""
Strength = Literal["holds", "needs more people", "fragile", "not supported", "not audited"]
STRENGTHS: tuple[Strength, ...] = ("holds", "needs more people", "fragile", "not supported", "not audited")
"""The strongest first."""
FEW_PEOPLE = 2
"""What so few people say is said of them alone: nothing holds for others."""
FAR_TOO_FEW = 10
"""Where more than so many times the people would be needed, no number of them is named."""


@dataclass(frozen=True)
class HumanStanding:
    """How the systems stand to one human translation; every system is in one of the lists."""

    human: str
    better: tuple[str, ...]
    """Systems that are better than it, by more than the margin where there is one."""
    parity: tuple[str, ...]
    """Systems that are no further from it than the margin."""
    open: tuple[str, ...]
    """Systems that the data do not separate from it."""
    worse: tuple[str, ...]
    fragile: tuple[str, ...] = ()
    """Those of the better, the worse and the ones at parity whose claim does not hold."""
    audited: bool = True
    """Whether claims were put to audits at all."""
    narrow: tuple[str, ...] = ()
    """Those of the fragile that no audit breaks, but that need more people."""

    @property
    def all_lists(self) -> tuple[tuple[str, ...], ...]:
        """The lists of which every system is in one."""
        return self.better, self.parity, self.open, self.worse


@dataclass(frozen=True)
class Disagreement:
    """Two systems of which one is better in typical scores, but not surely on average, or the other way round."""

    ahead: str
    """The one that is better by the reading that tells them apart: typical scores, if both do."""
    other: str
    state: State
    shares: tuple[float, float]
    """Of the scores of either that are very low."""
    same_order: bool
    """Whether the other reading puts the same one first, though not surely."""


@dataclass(frozen=True)
class Decisions:
    """What the data decide about the systems of one ranking."""

    systems: tuple[str, ...]
    """Those that may be called the best: no human translations, unless nothing else was judged. The best first."""
    leaders: tuple[str, ...]
    """Those of them than which no other is decided better."""
    strength: Strength
    """How well it is supported that the only leader is better than all others."""
    standings: tuple[HumanStanding, ...]
    margin: float | None
    """Within which a system is at parity with a human translation."""
    pairs: int
    apart: int
    """Pairs that are decided."""
    lost: int
    """Pairs that would be decided if each were the only question."""
    level: float
    """The family-wise level of all decisions."""
    annotators: int | None
    """How many people judged, where they are known."""
    ranked: int = 0
    """Systems and human translations in the ranking; 0 where there is none."""
    clusters: int = 0
    """Groups between which lines are drawn."""
    all_behind: bool = True
    """Whether every other system is decided worse than one of the leaders."""
    weakest: Claim | None = None
    """The weakest claim that the only leader is better than another system."""
    disagreement: Disagreement | None = None
    """What keeps a system with the best typical scores, or the best average, from being the best."""
    people_needed: int | None = None
    """About so many people could separate the first two systems, where they are open and it is not out of reach."""
    conditions: Conditions | None = None
    """Under which people judged, where claims about a human translation were audited."""
    unguarded: Method | None = None
    """The method, where it is a rule that calls equal systems different far more often than the level says."""
    instead: str | None = None
    """The method that allows for people's tastes, where the test behind these decisions does not."""


def decide_by_ranking(ranking: Ranking, claims: Claims | None = None, annotators: int | None = None) -> Decisions:
    """The decisions of a ranking; audited claims of the same method have the last word on what holds."""
    annotators = ranking.annotators if annotators is None else annotators
    apart, systems = told_apart(ranking), [system.system for system in ranking.systems if not system.human]
    humans = [system.system for system in ranking.systems if system.human]
    audited = claims if claims is not None and claims.method == ranking.method else None
    if audited is not None and audited.humans:
        standings, margin = _audited_standings(audited), audited.margin
    else:
        standings, margin = tuple(_standing(human, systems, dict.fromkeys(apart)) for human in humans), None
    method = METHODS.get(ranking.method)
    return _decide(
        ranking,
        systems or humans,
        apart,
        {(pair.better, pair.worse): pair for pair in ranking.comparisons},
        {} if audited is None else _claims(audited),
        typical={system.system: system.numbers.get("typical") or 0.0 for system in ranking.systems},
        low_shares={system.system: system.numbers.get("low_share") or 0.0 for system in ranking.systems},
        annotators=annotators,
        standings=standings if systems else (),
        margin=margin,
        lost=len(lost_to_correction(ranking)),
        level=ranking.lines.level,
        ranked=len(ranking.systems),
        clusters=len(ranking.clusters),
        conditions=None if audited is None else audited.conditions,
        unguarded=method if method is not None and method.equal_systems else None,
        instead=DEFAULTS[ranking.kind] if ignores_people(ranking) else None,
    )


def decide_by_claims(claims: Claims) -> Decisions:
    """The decisions of audited claims where no ranking stands beside them."""
    better = _claims(claims)
    order = order_systems(claims)
    return _decide(
        claims,
        [name for name in order if name not in claims.humans] or order,
        [pair for pair, claim in better.items() if claim.verdict != "not supported"],
        better,
        better,
        typical=claims.typical,
        low_shares=claims.low_shares,
        annotators=claims.annotators,
        standings=_audited_standings(claims),
        margin=claims.margin,
        lost=sum(claim.lost_to_correction(claims.level) for claim in better.values()),
        level=claims.level,
        conditions=claims.conditions,
    )


def _decide(
    judged: Ranking | Claims,
    systems: Sequence[str],
    apart: Collection[Pair],
    pairs: Mapping[Pair, PairComparison] | Mapping[Pair, Claim],
    audited: Mapping[Pair, Claim],
    *,
    typical: Mapping[str, float],
    low_shares: Mapping[str, float],
    annotators: int | None,
    **known: Any,
) -> Decisions:
    """What follows from the decided pairs, wherever they come from."""
    leaders = _unbeaten(systems, apart)
    weakest, all_behind = _weakest(leaders, systems, audited), _all_behind(systems, leaders, apart)
    states, p = ({name: getattr(pair, what) for name, pair in pairs.items()} for what in ("state", "p"))
    return Decisions(
        systems=tuple(systems),
        leaders=leaders,
        strength=_strength(leaders, weakest, all_behind=all_behind),
        pairs=len(pairs),
        apart=len(apart),
        annotators=annotators,
        all_behind=all_behind,
        weakest=weakest,
        disagreement=_disagreement(leaders, systems, states, typical, low_shares),
        people_needed=people_needed(systems, p, judged.critical, None if judged.accounts else annotators),
        **known,
    )


def ignores_people(ranking: Ranking) -> bool:
    """Whether the test behind a ranking takes the tastes of a few people for the quality of systems."""
    method = METHODS.get(ranking.method)
    return ranking.settings.get("significance") == "sign" or (method is not None and method.ignores_people)


def told_apart(ranking: Ranking) -> set[Pair]:
    """The pairs of systems that are decided.

    Where a method gives no p-values, the lines between clusters tell systems apart.
    """
    if all(comparison.p is None for comparison in ranking.comparisons):
        cluster = {system.system: system.cluster for system in ranking.systems}
        apart = (pair for pair in ranking.comparisons if cluster[pair.better] != cluster[pair.worse])
    else:
        apart = (pair for pair in ranking.comparisons if pair.decided)
    return {(pair.better, pair.worse) for pair in apart}


def lost_to_correction(ranking: Ranking) -> list[PairComparison]:
    """Pairs that would be decided by themselves, but not after the correction for all pairs."""
    level = ranking.lines.level
    return [
        pair
        for pair in ranking.comparisons
        if pair.p is not None and pair.p_adjusted is not None and pair.p < level <= pair.p_adjusted and pair.agreeing
    ]


def order_systems(claims: Claims) -> list[str]:
    """All systems of the claims, the best first: who is better in how many pairs."""
    pairs = list(_claims(claims))
    ahead = Counter({name: 0 for pair in pairs for name in pair})
    ahead.update(better for better, _ in pairs)
    return sorted(ahead, key=lambda name: (-ahead[name], name))


def _claims(claims: Claims, kind: str = "better") -> dict[Pair, Claim]:
    return {(claim.systems[0], claim.systems[1]): claim for claim in claims.claims if claim.kind == kind}


def _supported(claims: Claims, kind: str) -> dict[Pair, Strength]:
    found = _claims(claims, kind).items()
    return {pair: claim.verdict for pair, claim in found if claim.verdict != "not supported"}


def _unbeaten(systems: Sequence[str], apart: Iterable[Pair]) -> tuple[str, ...]:
    beaten = {worse for better, worse in apart if better in systems}
    return tuple(name for name in systems if name not in beaten)


def _all_behind(systems: Sequence[str], leaders: Sequence[str], apart: Iterable[Pair]) -> bool:
    behind = {worse for better, worse in apart if better in leaders}
    return all(name in behind for name in systems if name not in leaders)


def _strength(leaders: Sequence[str], weakest: Claim | None, *, all_behind: bool) -> Strength:
    """How well the only leader is supported: nobody may be better than it, and yet it not be better than everyone."""
    if len(leaders) == 1 and not all_behind:
        return "not supported"
    return "not audited" if weakest is None else weakest.verdict


def _weakest(leaders: Sequence[str], systems: Sequence[str], claims: Mapping[Pair, Claim]) -> Claim | None:
    """The weakest of the claims that the only leader is better than the others; None where none was audited."""
    if len(leaders) != 1:
        return None
    others = [claims[leaders[0], name] for name in systems if (leaders[0], name) in claims]
    return max(others, key=lambda claim: (STRENGTHS.index(claim.verdict), -(claim.estimate or 0.0)), default=None)


def _disagreement(
    leaders: Sequence[str],
    among: Sequence[str],
    states: Mapping[Pair, State],
    typical: Mapping[str, float],
    low_shares: Mapping[str, float],
) -> Disagreement | None:
    """What alone keeps a leader from being the best: of every other system, it is decided better, or by one reading."""
    # Hundreds of systems may lead, with a hundred thousand pairs: these are gone through once, not for each leader.
    inside = {*among}
    pairs: dict[str, list[tuple[Pair, State]]] = {leader: [] for leader in leaders}
    for pair, state in states.items():
        if inside.issuperset(pair):
            for name in pairs.keys() & pair:
                pairs[name].append((pair, state))
    for leader, met in pairs.items():
        split = [(pair, state) for pair, state in met if state not in ("decided", "open")]
        if not split or not all(leader in _ahead(pair, state, typical) for pair, state in met):
            continue
        by_average, kind = split[0]
        usual = tuple(sorted(by_average, key=lambda name: -typical.get(name, 0.0)))
        ahead, other = by_average if kind == "average only" else usual
        shares = low_shares.get(ahead, 0.0), low_shares.get(other, 0.0)
        return Disagreement(ahead, other, kind, shares, same_order=usual == by_average)
    return None


def _ahead(pair: Pair, state: State, typical: Mapping[str, float]) -> set[str]:
    """Who is better by a reading of the scores that would decide the pair; pairs are in the order of averages."""
    better = max(pair, key=lambda name: typical.get(name, 0.0))
    by_state = {"decided": {pair[0]}, "average only": {pair[0]}, "typical only": {better}, "open": set()}
    return by_state.get(state, {pair[0], better})


def people_needed(
    systems: Sequence[str], p: Mapping[Pair, float | None], critical: float | None, people: int | None
) -> int | None:
    """About so many people could separate the first two systems, if their difference is as estimated.

    Errors shrink as the square root of the number of people, so that z grows to the critical value with
    people * (critical / z)^2 of them. Nothing is said of one or two people, or where far too few have judged.
    """
    own = p.get((systems[0], systems[1])) if len(systems) > 1 else None
    if own is None or critical is None or people is None or people <= FEW_PEOPLE:
        return None
    statistic = -NormalDist().inv_cdf(own / 2) if own > 0 else math.inf
    if not 0 < statistic < critical:
        return None
    needed = math.ceil(people * (critical / statistic) ** 2)
    return needed if needed <= FAR_TOO_FEW * people else None


def _audited_standings(claims: Claims) -> tuple[HumanStanding, ...]:
    apart, parity = (_supported(claims, kind) for kind in ("better", "parity"))
    systems = [name for name in order_systems(claims) if name not in claims.humans]
    return tuple(_standing(human, systems, apart, parity) for human in claims.humans)


def _standing(
    human: str,
    systems: Sequence[str],
    apart: Mapping[Pair, Strength | None],
    parity: Mapping[Pair, Strength | None] | None = None,
) -> HumanStanding:
    """How systems stand to one human; a verdict of None in `apart` says that nothing was audited."""
    equal = {name: parity[name, human] for name in systems if (name, human) in parity} if parity else {}
    others = [name for name in systems if name not in equal]
    better = {name: apart[name, human] for name in others if (name, human) in apart}
    worse = {name: apart[human, name] for name in others if (human, name) in apart}
    left_open = tuple(name for name in others if name not in better and name not in worse)
    weak = ("fragile", "needs more people")
    fragile = tuple(name for part in (equal, better, worse) for name, verdict in part.items() if verdict in weak)
    verdicts = {**equal, **better, **worse}
    return HumanStanding(
        human,
        tuple(better),
        tuple(equal),
        left_open,
        tuple(worse),
        fragile,
        audited=parity is not None,
        narrow=tuple(name for name in fragile if verdicts[name] == "needs more people"),
    )


def claim_better(better: str, worse: str) -> str:
    """The claim about two systems."""
    return f"{better} is better than {worse}"


def claim_best(system: str, *, among_machines: bool = False) -> str:
    """The claim about the first system, which human translations do not compete with."""
    return f"{system} is the best{' machine translation' if among_machines else ''}"


def claim_top(members: Sequence[str]) -> str:
    """The claim about the best system, or about the best few, that looks put to the test."""
    return (
        f"{members[0]} is the best system" if len(members) == 1 else f"the top {len(members)} are {', '.join(members)}"
    )


def claim_parity(system: str, human: str) -> str:
    """The claim about a system and a human translation."""
    return f"{system} is at parity with {human}"
