"""The words of every verdict. No other module says who is better than whom, or what holds, is fragile, open or settled.

`Decisions` has what a ranking and its audits decide. The rest is grouped by the question that a sentence answers: who
is best, what holds, how systems stand to a human translation, what a look settles, whether two campaigns agree, and
whether a program may judge. These functions take plain values, so that every page, table and paragraph can use them.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal

from adjudge.table.wording import agreeing, counted, listed, measured, short_list

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from adjudge.evidence.claims import Claim, Claims
    from adjudge.evidence.conditions import Alike, Conditions, Oddities
    from adjudge.evidence.look_claims import LookClaim
    from adjudge.ranking.decisions import State
    from adjudge.ranking.ranking import PairComparison, Ranking
    from adjudge.table.record import CampaignRecord, LooksRecord

    Names = Callable[[Sequence[str]], str]

Pair = tuple[str, str]
"""Two systems, the better first."""
Verdict = Literal["holds", "needs more people", "fragile", "not supported"]
"""Of a claim: see `HOLDS_AND_FRAGILE`."""
Strength = Literal["holds", "needs more people", "fragile", "not supported", "not audited"]
Tone = Literal["decided", "open", "warning"]
STRENGTHS: tuple[Strength, ...] = ("holds", "needs more people", "fragile", "not supported", "not audited")
"""The strongest first."""
FEW_PEOPLE = 2
"""What so few people say is said of them alone: nothing holds for others."""
FEWEST_ANNOTATORS = 4
"""With fewer people, a half of them is a single person or nobody."""
HARDLY = 0.1
"""Below this chance to be settled within the plan, a claim is called hardly decidable. Advice only."""
TOO_WIDE = 10
"""If intervals would shrink by more than this factor, their present width says nothing."""
NONE_AS_SHOWN = 0.05
"""Fewer pairs than this are shown as none."""
FEWEST_BETTER = 2
"""So many systems, and more than half of all, must beat a human translation to raise an alarm about it."""
FAR_TOO_FEW = 10
"""Where more than so many times the people would be needed, no number of them is named."""


# What the data decide


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


@dataclass(frozen=True)
class Disagreement:
    """Two systems of which one is better in typical scores, but not on average, or the other way round."""

    typical: str
    """The one with the better typical scores."""
    other: str
    shares: tuple[float, float]
    """Of the scores of either that are very low."""


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


def decide_by_ranking(ranking: Ranking, claims: Claims | None = None, annotators: int | None = None) -> Decisions:
    """The decisions of a ranking; audited claims of the same method have the last word on what holds."""
    annotators = ranking.annotators if annotators is None else annotators
    apart, systems = told_apart(ranking), [system.system for system in ranking.systems if not system.human]
    humans = [system.system for system in ranking.systems if system.human]
    among = systems or humans
    leaders = _unbeaten(among, apart)
    audited = claims if claims is not None and claims.method == ranking.method else None
    better = {} if audited is None else _claims(audited)
    if audited is not None and audited.humans:
        standings, margin = _audited_standings(audited), audited.margin
    else:
        standings, margin = tuple(_standing(human, systems, dict.fromkeys(apart)) for human in humans), None
    weakest, all_behind = _weakest(leaders, among, better), _all_behind(among, leaders, apart)
    return Decisions(
        systems=tuple(among),
        leaders=leaders,
        strength=_strength(leaders, weakest, all_behind=all_behind),
        standings=standings if systems else (),
        margin=margin,
        pairs=len(ranking.comparisons),
        apart=len(apart),
        lost=len(lost_to_correction(ranking)),
        level=ranking.lines.level,
        annotators=annotators,
        ranked=len(ranking.systems),
        clusters=len(ranking.clusters),
        all_behind=all_behind,
        weakest=weakest,
        disagreement=_disagreement(
            leaders,
            among,
            {(pair.better, pair.worse): pair.state for pair in ranking.comparisons},
            {system.system: system.numbers.get("typical") or 0.0 for system in ranking.systems},
            {system.system: system.numbers.get("low_share") or 0.0 for system in ranking.systems},
        ),
        people_needed=people_needed(
            among,
            {(pair.better, pair.worse): pair.p for pair in ranking.comparisons},
            ranking.critical,
            None if ranking.fewest_people is not None else annotators,
        ),
        conditions=None if audited is None else audited.conditions,
    )


def decide_by_claims(claims: Claims) -> Decisions:
    """The decisions of audited claims where no ranking stands beside them."""
    better = _claims(claims)
    supported = [pair for pair, claim in better.items() if claim.verdict != "not supported"]
    order = order_systems(claims)
    systems = [name for name in order if name not in claims.humans] or order
    leaders = _unbeaten(systems, supported)
    weakest, all_behind = _weakest(leaders, systems, better), _all_behind(systems, leaders, supported)
    return Decisions(
        systems=tuple(systems),
        leaders=leaders,
        strength=_strength(leaders, weakest, all_behind=all_behind),
        standings=_audited_standings(claims),
        margin=claims.margin,
        pairs=len(better),
        apart=len(supported),
        lost=sum(claim.lost_to_correction(claims.level) for claim in better.values()),
        level=claims.level,
        annotators=claims.annotators,
        all_behind=all_behind,
        weakest=weakest,
        disagreement=_disagreement(
            leaders,
            systems,
            {pair: claim.state for pair, claim in better.items()},
            claims.typical,
            claims.low_shares,
        ),
        people_needed=people_needed(
            systems,
            {pair: claim.p for pair, claim in better.items()},
            claims.critical,
            None if claims.accounts else claims.annotators,
        ),
        conditions=claims.conditions,
    )


def add_verdict(
    ranking: Ranking,
    left_out: Sequence[str] = (),
    everyone: Ranking | None = None,
    oddities: Oddities | None = None,
    record: CampaignRecord | None = None,
) -> Ranking:
    """The ranking with the sentences that are printed before its table.

    Args:
        ranking: of those who count.
        left_out: annotators who fail the rule of quality.
        everyone: the ranking with their judgments, if there are any.
        oddities: what looks like a mistake in the data.
        record: how the judgments were collected; where looks were taken, the verdict is theirs.
    """
    decisions = decide_by_ranking(ranking, annotators=ranking.annotators)
    decided = say_apart(decisions.apart, decisions.pairs, decisions.level, clusters=decisions.clusters)
    alarms = [sentence for standing in decisions.standings for sentence in alarm_about_human(standing)]
    sentences = (
        *put_looks_first(say_headline(decisions), None if record is None else record.looks),
        *say_oddities(oddities),
        *([decided] if decisions.apart else []),
        *alarms,
        *say_accounts(ranking),
        *say_exclusions(record),
        *say_left_out(decisions, left_out, everyone),
    )
    return replace(ranking, verdict=tuple(dict.fromkeys(sentences)))


def say_accounts(ranking: Ranking) -> list[str]:
    """That accounts are taken for as few people as there may be."""
    if ranking.fewest_people is None or ranking.annotators is None:
        return []
    accounts = f"The {ranking.annotators:,} accounts may be as few as {ranking.fewest_people:,} people"
    return [f"{accounts}, and all is decided as if they were: tell which accounts are one person."]


def say_left_out(decisions: Decisions, left_out: Sequence[str], everyone: Ranking | None) -> list[str]:
    """Who was left out, and what the verdict would be with them."""
    if not left_out or everyone is None:
        return []
    other = decide_by_ranking(everyone, annotators=everyone.annotators)
    who = counted(len(left_out), "annotator fails", "annotators fail")
    them = agreeing(len(left_out), "this one", "them")
    names = listed(left_out) if len(left_out) <= 3 else f"{left_out[0]}, {left_out[1]}, ..."
    opening = f"{who} the check and {agreeing(len(left_out), 'is', 'are')} left out ({names})"
    if other.leaders == decisions.leaders and other.apart == decisions.apart:
        return [f"{opening}; with {them} the verdict is the same."]
    if other.leaders == decisions.leaders:
        return [f"{opening}; with {them} {other.apart:,} instead of {decisions.apart:,} pairs are decided."]
    return [f"{opening}; settle the check first, because with {them} the verdict is another.",
            f"With {them}: {say_headline(other)}"]  # fmt: skip


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
    for leader in leaders:
        pairs = {pair: state for pair, state in states.items() if leader in pair and {*pair} <= {*among}}
        split = [pair for pair, state in pairs.items() if state not in ("decided", "open")]
        if not split or not all(leader in _ahead(pair, state, typical) for pair, state in pairs.items()):
            continue
        first, other = sorted(split[0], key=lambda name: -typical.get(name, 0.0))
        return Disagreement(first, other, (low_shares.get(first, 0.0), low_shares.get(other, 0.0)))
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


def _but(names: Sequence[str], standing: HumanStanding) -> str:
    """Why claims about these systems do not hold."""
    return "narrowly" if {*names} <= {*standing.narrow} else "not in every audit"


# Who is best

_VIEW = {1: ("This is the view of one person", "this person"), 2: ("This is the view of two people", "them")}
_FEW_PEOPLE = {1: "For this one person only", 2: "For these two people only"}


def claim_better(better: str, worse: str) -> str:
    """The claim about two systems."""
    return f"{better} is better than {worse}"


def claim_best(system: str) -> str:
    """The claim about the first system."""
    return f"{system} is the best"


def claim_top(members: Sequence[str]) -> str:
    """The claim about the best system, or about the best few, that looks put to the test."""
    return (
        f"{members[0]} is the best system" if len(members) == 1 else f"the top {len(members)} are {', '.join(members)}"
    )


def say_headline(decisions: Decisions) -> str:
    """One sentence: who is best, or between whom the data cannot decide.

    Where one or two people judged, it is about them only, and says so. A single system is never called the best: how
    it stands to the human translation is said instead.
    """
    people = decisions.annotators or 0
    if len(decisions.systems) == 1:
        only, *_ = say_humans(decisions, _few_names) or ["Only one system was judged."]
        return f"{_FEW_PEOPLE[people]}: {only}" if people in _FEW_PEOPLE else only
    if people in _VIEW and len(decisions.leaders) < len(decisions.systems):
        view, whom = _VIEW[people]
        return f"{view}: for {whom} {_say_view(decisions)}; others may see it differently."
    return say_best(decisions)


def _say_view(decisions: Decisions) -> str:
    leaders = decisions.leaders
    if len(leaders) == 1:
        if len(decisions.systems) == 2:
            return claim_better(leaders[0], next(name for name in decisions.systems if name != leaders[0]))
        return claim_best(leaders[0]) if decisions.all_behind else f"{leaders[0]} comes first"
    return f"{_few_names(leaders)} lead together"


def say_best(decisions: Decisions) -> str:
    """The best of several systems, or between whom the data cannot decide."""
    leaders = decisions.leaders
    if decisions.disagreement is not None:
        return say_disagreement(decisions.disagreement)
    if len(leaders) == 1:
        return _say_winner(decisions)
    if len(leaders) == len(decisions.systems):
        nothing = "No system is shown to be better than another"
        if decisions.people_needed is None:
            return f"{nothing}."
        instead = f"about {decisions.people_needed:,} people instead of {decisions.annotators:,}"
        return f"{nothing}; {instead} could separate the first two."
    if len(leaders) > 3:
        shown = f"{leaders[0]}, {leaders[1]}, ..."
        return (
            f"Any of {len(leaders)} systems may be the best ({shown}): none of them is shown to be worse than another."
        )
    behind = "all others are behind one of them" if decisions.all_behind else "nobody is shown to be better than they"
    separate = "the two" if len(leaders) == 2 else "them"
    return f"{listed(leaders)} lead together: {behind}, and these judgments cannot separate {separate}."


def _few_names(names: Sequence[str]) -> str:
    """Up to three names; more are counted."""
    return listed(names) if len(names) <= 3 else f"{len(names)} systems ({names[0]}, {names[1]}, ...)"


def _say_winner(decisions: Decisions) -> str:
    winner, weakest = decisions.leaders[0], decisions.weakest
    if decisions.strength == "not supported":
        return f"{winner} comes out first, but the data do not establish that it is the best."
    if decisions.strength == "not audited" or weakest is None:
        if any(winner in standing.worse for standing in decisions.standings):
            return f"{winner} comes out best of the machine translations; a human translation comes out better."
        if not all(winner in standing.better for standing in decisions.standings):
            return f"{winner} comes out best of the machine translations: it is decided better than every other one."
        return f"{winner} comes out best: it is decided better than every other system."
    if decisions.strength == "holds":
        return _say_clear_winner(decisions, winner)
    if decisions.strength == "needs more people":
        if weakest.people_needed is None and decisions.annotators is None:
            return f"{winner} comes out best, but who judged is not named: it may be the view of a few people."
        if weakest.people_needed is None and weakest.reason:
            return f"{winner} comes out best, but {weakest.reason.partition(' (')[0]}: more people should judge."
        return f"{winner} comes out best, but narrowly: as many other people would {say_again(weakest.replication)}."
    rival = weakest.systems[-1]
    broken = say_despite(weakest.broken_by[0]) if weakest.broken_by else "but not in every audit"
    return f"{winner} comes out best, {broken}: let other people judge {winner} and {rival} before you rely on it."


def _say_clear_winner(decisions: Decisions, winner: str) -> str:
    above = [standing for standing in decisions.standings if winner in standing.worse]
    if above:
        who = "the human translation" if len(above) == 1 else f"{len(above)} human translations"
        weak = [_but([winner], standing) for standing in above if winner in standing.fragile]
        if weak:
            come = agreeing(len(above), "comes", "come")
            return f"{winner} is the best machine translation; {who} {come} out better, but {max(weak)}."
        return f"{winner} is the best machine translation; only {who} {agreeing(len(above), 'is', 'are')} better."
    if not all(winner in standing.better for standing in decisions.standings):
        return f"{winner} is the best machine translation: better than every other system, and no check changes that."
    return f"{winner} is the best: better than every other system, and no check changes that."


def say_again(probability: float | None) -> str:
    """Whether other people would decide the same, in words."""
    chance = 0.5 if probability is None else probability
    if chance < 0.35:
        return "perhaps not confirm it"
    if chance < 0.65:
        return "confirm it about as likely as not"
    return f"{'probably' if chance < 0.85 else 'very probably'} confirm it"


def say_despite(trial: str) -> str:
    """What a claim does not survive, after its own sentence."""
    if trial.endswith(" left out"):
        return f"but not without {trial.removesuffix(' left out')}"
    if trial.startswith("without "):
        return f"but not {trial}"
    return "but annotators part over it" if trial == OWN_SPREAD else f"but not in the {trial}"


def say_disagreement(found: Disagreement) -> str:
    """Why the better typical scores, or the better average, do not make a winner."""
    first, second = found.shares
    if first <= second:
        return f"Typical scores and average disagree on {found.typical} and {found.other}: neither is decided better."
    return (
        f"{found.typical} is usually better than {found.other}, but {first:.0%} of its scores are very low "
        f"({found.other}: {second:.0%}), so its average is not: no winner."
    )


def say_claims(decisions: Decisions, *, untested: bool) -> tuple[str, ...]:
    """What audited claims say, the most important first; `untested` is whether parity lacked a margin."""
    sentences = [say_headline(decisions) if len(decisions.systems) > 1 else ""]
    sentences += [*say_humans(decisions, _few_names), *_conditions_of(decisions)]
    if untested:
        sentences.append("Parity was not tested: no margin is customary on this scale; give one with --margin.")
    sentences += [say_correction(decisions.lost, decisions.apart)]
    return tuple(sentence for sentence in sentences if sentence)


def name_best(decisions: Decisions, method: str) -> tuple[str, str, str, Tone]:
    """The best system as a fact at the top of a page: label, value, detail and tone."""
    leaders, label = decisions.leaders, "Best system"
    if len(decisions.systems) == 1:
        return "Systems", "one", f"{leaders[0]}, compared with human translations only", "open"
    if len(leaders) > 1:
        return label, "undecided", f"between {short_list(leaders)}", "open"
    if decisions.strength == "not supported":
        return label, "undecided", f"{leaders[0]} comes out first", "open"
    if (decisions.annotators or FEW_PEOPLE + 1) <= FEW_PEOPLE:
        return label, leaders[0], "for the people who judged, and them only", "warning"
    if decisions.strength in ("fragile", "needs more people"):
        detail = "but not in every audit" if decisions.strength == "fragile" else "narrowly: more people should judge"
        return label, leaders[0], detail, "warning"
    if decisions.strength == "not audited":
        return label, leaders[0], f"by {method}, not audited", "warning"
    return label, leaders[0], f"by {method}", "decided"


def say_best_metric(leaders: Sequence[str], metrics: int, where: str) -> str:
    """Which metric is best."""
    if len(leaders) == 1:
        return f"{leaders[0]} is best {where}."
    if len(leaders) == metrics:
        return f"The data cannot tell the metrics apart {where}."
    return f"The data cannot tell which metric is best {where}: {short_list(leaders, 'or')}."


def say_orders(method: str, agree: Sequence[str], differ: Sequence[str]) -> list[str]:
    """Which other methods give the same order, and what it means that some do not."""
    sentences = [f"The order by {method} is also that by {short_list(agree)}."] if agree else []
    if differ:
        unsettled = "what depends on the method is not settled by the data"
        sentences.append(f"The order by {short_list(differ)} is different: {unsettled}.")
    return sentences


# What holds, and what is open

OWN_SPREAD = "how far annotators part"
"""The trial of a claim by how differently annotators see the pair."""
HOLDS_AND_FRAGILE = (
    "Holds, needs more people, fragile",
    (
        "A pair is decided if its p is below the level after the correction for all pairs. The claim holds if p is "
        "also below .01 and no audit breaks it: people and documents left out, other ways to rank, how far annotators "
        "part. It needs more people if no audit breaks it and p is between .01 and the level, or if one or two people "
        "judged. It is fragile if some audit breaks it."
    ),
)
CANNOT_DECIDE = (
    "Cannot decide",
    (
        "Means what it says: the data fit both answers. It does not mean that two systems are equally good. More "
        "judgments, by more annotators, may decide it."
    ),
)
SIGNS_OF_CLAIMS = "✓ holds, + needs more people, ! fragile, blank: the data cannot decide."


def say_ranking(decisions: Decisions) -> tuple[str, ...]:
    """The sentences under the headline of a ranking."""
    sentences = (
        *say_humans(decisions, _few_names),
        *_conditions_of(decisions),
        say_apart(decisions.apart, decisions.pairs, decisions.level, clusters=decisions.clusters),
        say_correction(decisions.lost, decisions.apart),
        say_clusters(decisions.clusters, decisions.ranked),
    )
    return tuple(sentence for sentence in sentences if sentence)


def say_apart(apart: int, pairs: int, level: float, *, clusters: int = 0) -> str:
    """How many pairs of systems are decided."""
    if pairs == 1:
        return "The two systems are decided." if apart else "The two systems are not separated."
    if apart == 0:
        return f"None of the {pairs:,} pairs of systems is decided."
    sure = f"at a level of {100 * level:g}% for all together"
    if apart == pairs:
        return f"All {pairs:,} pairs of systems are decided, {sure}."
    decided = f"{apart:,} of {pairs:,} pairs of systems {agreeing(apart, 'is', 'are')} decided"
    if clusters == 1 and apart > 1:
        return f"{decided}, but no group is better than all the rest: see each system's ranks."
    return f"{decided}, {sure}."


def say_apart_in_paper(apart: int, pairs: int, how: str) -> str:
    """The same for the methods section of a paper; `how` names the level and cites the correction."""
    if pairs == 1:
        return f"The two systems {'differ' if apart else 'are not told apart'} {how}."
    if apart == pairs:
        return f"All {pairs:,} pairs of systems differ {how}."
    if apart == 0:
        return f"None of the {pairs:,} pairs of systems differs {how}."
    left = pairs - apart
    others = "the other one is" if left == 1 else f"the other {left:,} are"
    differ = agreeing(apart, "differs", "differ")
    return f"Of {pairs:,} pairs of systems, {apart:,} {differ} {how}; {others} not told apart."


def say_apart_in_table(apart: int, pairs: int) -> str:
    """The same above a table of all pairs."""
    return f"{apart:,} of {counted(pairs, 'pair')} {agreeing(apart, 'is', 'are')} decided."


def say_correction(lost: int, apart: int = 1) -> str:
    """What is said of pairs that differ by themselves, but not after the correction for all pairs."""
    if not lost:
        return ""
    more = "more " if apart else ""
    if lost == 1:
        return f"One {more}pair would be decided if it were the only question asked."
    return f"{lost:,} {more}pairs would be decided if each were the only question asked."


def say_clusters(clusters: int, systems: int) -> str:
    """What the lines of a ranking mean."""
    if clusters in (1, systems):
        return ""
    return f"Lines make {clusters} groups: everyone above a line is decided better than everyone below it."


def say_apart_from(first: str, undecided: int, others: int) -> str:
    """Who is told apart from the first system of a chart, in which points of undecided systems are hollow."""
    if undecided == others:
        return f"No other system is separated from {first}: all their points are hollow."
    if not undecided:
        return f"All others are separated from {first}."
    return f"Hollow points are not separated from {first}; filled ones are."


def say_bars_off_line(first: str, systems: Sequence[str]) -> str:
    """Why bars may stop short of the line of the first system although nothing is decided."""
    reach = "bar does" if len(systems) == 1 else "bars do"
    return f" The {reach} not reach {first}'s line for {short_list(systems)}: the correction makes the difference."


def say_bars_apart(lost: int, tested: int) -> str:
    """Why bars may stand apart although the pair is undecided: the correction, or the test of the difference itself."""
    sentence = ""
    if lost:
        pairs = "1 pair of bars does" if lost == 1 else f"{lost:,} pairs of bars do"
        sentence += f" {pairs} not reach each other, but only the correction leaves the pair undecided."
    if tested:
        pairs = "1 pair of bars stands" if tested == 1 else f"{tested:,} pairs of bars stand"
        sentence += (
            f" {pairs} apart although the test of the difference, which allows for few annotators, is undecided."
        )
    return sentence


def _counts(holds: int, more: int, fragile: int, pairs: int) -> list[str]:
    left = pairs - holds - more - fragile
    counts = (
        (holds, "holds", "hold"),
        (more, "needs more people", "need more people"),
        (fragile, "is fragile", "are fragile"),
        (left, "is open", "are open"),
    )
    return [f"{number:,} {agreeing(number, one, several)}" for number, one, several in counts]


def count_claims(holds: int, more: int, fragile: int, pairs: int, unit: str) -> str:
    """The counts of claims below their table."""
    return f"Of {counted(pairs, 'pair')}: {', '.join(_counts(holds, more, fragile, pairs))}. Differences are in {unit}."


def count_claims_on_page(holds: int, more: int, fragile: int, pairs: int) -> str:
    """The counts of claims on the page of a report."""
    return f"Of {counted(pairs, 'pair')} of systems: {', '.join(_counts(holds, more, fragile, pairs))}."


def count_claims_in_short(holds: int, more: int, fragile: int) -> str:
    """The counts of claims in a fact at the top of a page."""
    return f"hold: {holds:,}; need more people: {more:,}; fragile: {fragile:,}"


def count_claims_in_line(holds: int, more: int, fragile: int, pairs: int) -> str:
    """The counts of claims in one line of a terminal."""
    return f"of {counted(pairs, 'pair')} {', '.join(_counts(holds, more, fragile, pairs))}"


def count_claims_in_paper(holds: int, more: int, fragile: int) -> str:
    """What the audits left of the differences claimed, for a paper."""
    claimed = holds + more + fragile
    if claimed == 0:
        return "No difference is claimed."
    if holds == claimed > 1:
        return f"All {claimed:,} differences claimed hold in every audit."
    parts = (
        (holds, f"{agreeing(holds, 'holds', 'hold')} in every audit"),
        (more, f"{agreeing(more, 'needs', 'need')} more annotators"),
        (fragile, f"{agreeing(fragile, 'is', 'are')} fragile"),
    )
    if claimed == 1:
        return f"The one difference claimed {next(words for number, words in parts if number)}."
    found = [f"{number:,} {words}" for number, words in parts if number]
    return f"Of {counted(claimed, 'difference')} claimed, {listed(found)}."


def say_rule(audits: Sequence[str]) -> str:
    """When a claim holds and when it does not."""
    return (
        "A decided pair holds if its corrected p is below .01, also by how far annotators part and by average scores, "
        f"and no audit breaks it. The audits: {listed(audits)}."
    )


def say_breaks(claims: Sequence[Claim]) -> tuple[str, ...]:
    """What makes claims fragile: what breaks how many."""
    breaking = Counter(audit for claim in claims for audit in claim.fails)
    if not breaking:
        return ()
    return (f"What breaks fragile claims: {listed([f'{audit} ({n:,})' for audit, n in breaking.most_common()])}.",)


def say_reason(
    verdict: Verdict,
    *,
    trial: str = "",
    difference: float = math.nan,
    p: float | None = None,
    needed: int | None = None,
    people: int | None = None,
    accounts: bool = False,
) -> str:
    """Why a supported claim does not hold: what breaks it and how, or how many people it would take."""
    if verdict == "holds":
        return ""
    if not trial:
        if accounts:
            return "the accounts may be fewer people"
        if people is None:
            return "the people who judged are not named"
        if people <= FEW_PEOPLE:
            return "only one person judged" if people == 1 else "only two people judged"
        if p is not None:
            return f"annotators part over this pair (p = {_p(p)} by how far they part)"
        return "" if needed is None else f"about {needed:,} people instead of {people:,} would make it hold"
    if trial == OWN_SPREAD:
        return f"annotators part over this pair (p = {_p(p or 0.0)} by how far they part)"
    left_out = trial.removesuffix(" left out")
    where = f"without {left_out}" if left_out != trial else trial if trial.startswith("without ") else f"in the {trial}"
    if math.isnan(difference):
        return f"nothing is known of it {where}"
    if difference <= 0:
        return f"{where} the order is reversed"
    return f"{where} the difference is not significant (p = {_p(1.0 if p is None else p)})"


def say_subsets_differ(differ: bool, p: float, p_holm: float, columns: int, test: str) -> str:
    """Whether systems differ between subsets of the judgments; p-values are corrected for so many columns."""
    corrected = f", {_p(p_holm)} after Holm's correction for {columns} columns" if columns > 1 else ""
    differs = f"Systems {'differ' if differ else 'do not differ'} between subsets by more than chance explains"
    return f"{differs}: p of the interaction {_p(p)}{corrected} ({test})."


def _p(value: float) -> str:
    return "<.001" if value < 0.001 else f"{value:.3f}"


# How systems stand to a human translation

NOT_TOLD_APART = (
    "Not told apart",
    "The data do not show a difference between system and human. That is not the same as showing that there is none.",
)
ParityVerdict = Literal["below the human", "above the human", "at parity", "not told apart"]
PARITY_VERDICTS: tuple[ParityVerdict, ...] = ("above the human", "at parity", "not told apart", "below the human")
"""In the order in which they are told."""
_FEW_IN_PARITY = 3


def claim_parity(system: str, human: str) -> str:
    """The claim about a system and a human translation."""
    return f"{system} is at parity with {human}"


def say_parity_claim(claim: str, *, fragile: bool) -> str:
    """What a supported claim of parity means."""
    within = "the difference lies within the margin"
    return f"{claim}: {within}, but not in every audit." if fragile else f"{claim}: {within}, in every audit."


def say_humans(decisions: Decisions, named: Names) -> list[str]:
    """How the systems stand to every human translation, each by itself.

    That no difference was found is told apart from parity, which is claimed only where it was tested.
    """
    judged = say_judged_by(decisions.conditions)
    return [
        sentence
        for standing in decisions.standings
        for sentence in _against_human(standing, decisions.margin, named, judged)
    ]


def _against_human(standing: HumanStanding, margin: float | None, named: Names, judged: str) -> list[str]:
    human = standing.human
    if len(standing.worse) > 1 and not (standing.better or standing.parity or standing.open):
        return [_above_all(standing, named)]
    sentences = alarm_about_human(standing)
    if not sentences:
        sentences = _by_strength(standing.better, standing, f"better than the human translation {human}", named, judged)
    if standing.parity and margin is not None:
        within = f"at parity with {human}, within {measured(margin, 'point')}"
        sentences += _by_strength(standing.parity, standing, within, named, judged)
    if standing.open:
        open_ = f"The data do not separate {named(standing.open)} from {human}"
        sentences.append(f"{open_}; that leaves the question open, it does not show that they are equal.")
    return sentences + _by_strength(standing.worse, standing, f"worse than the human translation {human}", named)


def _above_all(standing: HumanStanding, named: Names) -> str:
    """The human translation is ahead of every system, of all or of some in every audit."""
    fragile = [name for name in standing.worse if name in standing.fragile]
    if not fragile:
        is_ = "is" if standing.audited else "comes out"
        return f"The human translation {standing.human} {is_} better than every system."
    whole = f"The human translation {standing.human} comes out better than every system"
    over = "" if len(fragile) == len(standing.worse) else f"over {named(fragile)} "
    return f"{whole}, but {over}{_but(fragile, standing)}."


def _by_strength(names: Sequence[str], standing: HumanStanding, what: str, named: Names, judged: str = "") -> list[str]:
    """What holds is said plainly; what is fragile, or was never audited, is no more than what comes out."""
    sure = [name for name in names if name not in standing.fragile]
    sentences = [f"{named(sure)} {_verb(sure, audited=standing.audited)} {what}{judged}."] if sure else []
    narrow = [name for name in names if name in standing.narrow]
    broken = [name for name in names if name in standing.fragile and name not in narrow]
    weak = [part for part in (narrow, broken) if part]
    return sentences + [
        f"{named(part)} {_verb(part, audited=False)} {what}, but {_but(part, standing)}." for part in weak
    ]


def _verb(names: Sequence[str], *, audited: bool) -> str:
    return agreeing(len(names), "is", "are") if audited else agreeing(len(names), "comes out", "come out")


def alarm_about_human(standing: HumanStanding) -> list[str]:
    """Where a human translation loses to most systems, something is more likely wrong than all of them superhuman."""
    systems = len(standing.better) + len(standing.parity) + len(standing.open) + len(standing.worse)
    return _alarm(standing.human, len(standing.better), systems)


def _alarm(human: str, better: int, systems: int) -> list[str]:
    if better < FEWEST_BETTER or 2 * better <= systems:
        return []
    every = "both" if systems == FEWEST_BETTER else f"all {systems:,}"
    how_many = every if better == systems else f"{better:,} of {systems:,}"
    return [
        f"Alarm: {how_many} systems come out better than the human translation {human}, which is hard to believe.",
        (
            "Look first at this human translation, its source text, the people who judged, and whether the source is "
            "itself a translation."
        ),
    ]


_WHOM = {"experts": ("expert", "experts"), "crowd": ("person of a crowd", "people of a crowd")}


def say_judged_by(conditions: Conditions | None) -> str:
    """By whom and how a claim about a human translation was judged, at the end of its sentence."""
    if conditions is None or conditions.people is None or conditions.accounts:
        return ""
    whom = agreeing(conditions.people, *_WHOM.get(conditions.raters or "", ("person", "people")))
    seen = {"pages": " in context", "segments": " without context"}.get(conditions.context or "", "")
    return f", as {conditions.people:,} {whom} judged{seen}"


def _conditions_of(decisions: Decisions) -> tuple[str, ...]:
    """The conditions, where something is claimed that depends on them."""
    claimed = any(standing.better or standing.parity for standing in decisions.standings)
    return say_conditions(decisions.conditions) if claimed else ()


def say_conditions(conditions: Conditions | None) -> tuple[str, ...]:
    """Under which conditions a human translation was compared: what is known, and what is not."""
    if conditions is None:
        return ()
    known: list[str] = []
    unknown: list[str] = []
    people = conditions.people
    if people is None:
        unknown.append("how many people")
    else:
        known.append(f"by {counted(people, 'account') if conditions.accounts else counted(people, 'person', 'people')}")
    known += [f"({conditions.raters})"] if conditions.raters else []
    unknown += [] if conditions.raters else ["experts or crowd"]
    known += [f"with the {conditions.shown}"] if conditions.shown else []
    unknown += [] if conditions.shown else ["source or reference beside it"]
    known += [_CONTEXTS[conditions.context]] if conditions.context else []
    unknown += [] if conditions.context else ["in context or not"]
    if conditions.original is None:
        unknown.append("the original language")
    else:
        known.append(_say_original(conditions.original))
    if conditions.checked is None:
        unknown.append("faults of the test set")
    known += [f"with a kappa of {conditions.agreement:.2f}"] if conditions.agreement is not None else []
    sentences = [f"Judged {' '.join(known)}."] if known else []
    sentences += [f"Not known: {'; '.join(unknown)}."] if unknown else []
    if conditions.humans == 1:
        sentences.append("There is one human translation: another translator may do better or worse.")
    return tuple(sentences)


_CONTEXTS = {"pages": "in context", "segments": "one segment at a time"}


def _say_original(share: float) -> str:
    if share > 0.99:
        return "on original source texts"
    return "on sources that are translations" if share < 0.01 else f"on sources of which {share:.0%} are originals"


def say_oddities(found: Oddities | None) -> list[str]:
    """What looks like a mistake in the data, as questions."""
    if found is None:
        return []
    sentences = [_say_alike(alike) for alike in found.alike[:_MOST_SAID]]
    if len(found.alike) > _MOST_SAID:
        more = len(found.alike) - _MOST_SAID
        sentences.append(f"{counted(more, 'more pair')} of systems {agreeing(more, 'is', 'are')} as alike.")
    if found.constant:
        system, score, number = found.constant[0]
        others = f", and {counted(len(found.constant) - 1, 'more system')} likewise" if len(found.constant) > 1 else ""
        sentences.append(f"All {number:,} scores of {system} are {score:g}{others}: is a column mistaken?")
    if len(found.alone) == 1:
        ((system, person),) = found.alone
        sentences.append(f"Annotator {person} alone judged {system}: what is said of it is one person's view.")
    elif found.alone:
        names = _few_names([system for system, _ in found.alone])
        sentences.append(f"One person alone judged each of {names}: what is said of them is one person's view.")
    return sentences


_MOST_SAID = 3
"""Pairs of alike systems that are named in the first lines; more are counted."""


def _say_alike(alike: Alike) -> str:
    first, second = alike.systems
    items = {"score": "shared items", "rank": "shared screens", "text": "shared segments"}[alike.what]
    # Never rounded up to all.
    share = f"{math.floor(100 * alike.same / alike.shared)}% of {alike.shared:,}"
    share = f"all {alike.shared:,}" if alike.same == alike.shared else share
    return f"{first} and {second} have the same {alike.what} on {share} {items}: is one a copy of the other?"


def say_parity(
    by_verdict: Mapping[ParityVerdict, Sequence[str]],
    human: str,
    margin: float | None,
    annotators: int | None,
    conditions: Conditions | None = None,
) -> tuple[str, ...]:
    """How systems stand to one human translation in a test of parity, one sentence per verdict.

    The first is the headline. Where one or two people judged, it is about them. Where most systems are above the
    human translation, an alarm comes first.
    """
    above, systems = len(by_verdict.get("above the human", ())), sum(map(len, by_verdict.values()))
    judged = say_judged_by(conditions) if (annotators or 0) > FEW_PEOPLE else ""
    alarm = _alarm(human, above, systems)
    claimed = {"above the human", "at parity"} & {*by_verdict}
    beneath = say_conditions(conditions) if claimed else ()
    return (*alarm, *_parity_sentences(by_verdict, human, margin, annotators, judged), *beneath)


def _parity_sentences(
    by_verdict: Mapping[ParityVerdict, Sequence[str]],
    human: str,
    margin: float | None,
    annotators: int | None,
    judged: str,
) -> tuple[str, ...]:
    (first, names), *others = by_verdict.items()
    people = _FEW_PEOPLE.get(annotators or 0, "")
    if not others and first == "below the human" and len(names) > 1:
        opening, statement = "All systems", f" are below {human}."
    else:
        opening, statement = _parity_sentence(first, names, human, margin, judged)
    headline = f"{people}: {opening.lower()}{statement}" if people else f"{opening}{statement}"
    return (headline, *("".join(_parity_sentence(verdict, names, human, margin, judged)) for verdict, names in others))


def _parity_sentence(
    verdict: ParityVerdict, names: Sequence[str], human: str, margin: float | None, judged: str
) -> tuple[str, str]:
    """What opens the sentence with a capital letter that may be lowered, if not a system's name, and the rest."""
    is_ = agreeing(len(names), "is", "are")
    if verdict == "at parity" and margin is not None:
        apart = f"less than {measured(margin, 'point')} apart"
        return "", f"{short_list(names)} {is_} at parity with {human}: {apart}{judged}."
    if verdict == "not told apart":
        return "The data", f" cannot tell {short_list(names)} from {human}, which is no proof of parity."
    end = judged if verdict == "above the human" else ""
    return "", f"{short_list(names)} {is_} {verdict.removesuffix('the human')}{human}{end}."


def explain_parity(margin: float | None) -> str:
    """What the verdicts in a table of parity mean."""
    note = "'Not told apart' is not proof of parity. Verdicts are corrected for all systems (Holm)."
    if margin is None:
        return note
    return (
        f"{note} At parity: surely less than {measured(margin, 'point')} from the human (two one-sided tests at .05)."
    )


def note_few_people(annotators: int | None) -> list[str]:
    """For whom verdicts on parity by ranks speak."""
    if annotators is None:
        return [
            "annotators are not named, so their tastes are not allowed for: a verdict may be about these people only"
        ]
    if annotators == 1:
        return ["only one annotator: the verdict holds for this person only, others may judge differently"]
    if annotators <= _FEW_IN_PARITY:
        return [f"only {annotators} annotators: tastes are allowed for, but all rests on these people"]
    return []


# What a look settles, and whether to go on


def advise(
    claims: Sequence[LookClaim], *, top: int | None, planned: int, judgments: int, ended: bool
) -> tuple[bool, str]:
    """Whether to stop, and one sentence that says what to do.

    `top` is the number of systems whose lead is the goal, None where pairs are; then the first claim is about them all.
    """
    waiting = [claim for claim in (claims if top is None else claims[:1]) if claim.verdict == "open"]
    if not waiting:
        pairs = "the pair is" if len(claims) == 1 else f"all {len(claims)} pairs are"
        best = "the best system is" if top == 1 else f"the top {top} are"
        return True, f"Stop: {pairs if top is None else best} settled."
    if ended:
        stay = f"{agreeing(len(waiting), 'stays', 'stay')} open"
        left_open = "it stays open" if top else f"{len(waiting)} of {counted(len(claims), 'pair')} {stay}"
        return True, f"Stop: the planned judgments are in; {left_open}."
    open_ = f"{counted(len(waiting), 'pair')} open"
    if top:
        open_ = f"{waiting[0].claim} is not settled yet".replace(" is the best system is", " as the best system is")
    if all(claim.chance is not None and claim.chance < HARDLY for claim in waiting):
        return False, f"{open_}; the chance to settle more within the plan is below {HARDLY:.0%}."
    left = planned - judgments
    within = [claim.needed for claim in waiting if claim.needed is not None and claim.needed <= left]
    if not within:
        return False, f"Go on: {open_}; more judgments than the {left:,} left would be needed."
    beyond = len(waiting) - len(within)
    more = f"; {counted(beyond, 'pair')} would need more than the plan has" if beyond and not top else ""
    return False, f"Go on: {open_}, about {counted(max(within), 'judgment')}{more}."


def say_too_few(people: int, least: int, *, ended: bool) -> str:
    """Nothing is settled for others before so many people have judged."""
    judged = "One person has judged" if people == 1 else f"{people} people have judged"
    if ended:
        return f"Stop: the planned judgments are in. {judged}, which says nothing of others: nothing is settled."
    return f"Go on: {judged[0].lower()}{judged[1:]}; nothing is settled for others before {least} people have."


def say_doubt(claims: Sequence[LookClaim]) -> str:
    """What comes first: claims that were settled and that the judgments contradict, or no longer show."""
    said = []
    for standing, but in (
        ("contradicts", "the judgments so far say the opposite"),
        ("unsure", "the judgments so far no longer show it"),
    ):
        doubtful = [claim for claim in claims if claim.standing == standing]
        if doubtful:
            more = f" and {counted(len(doubtful) - 1, 'other claim')}" if len(doubtful) > 1 else ""
            was = f"{agreeing(len(doubtful), 'was', 'were')} settled at look {doubtful[0].settled_at}"
            said.append(f"Caution: '{doubtful[0].claim}'{more} {was}, but {but}. ")
    return "".join(said)


def say_contradicted(*, ended: bool) -> str:
    """What to do about settled claims that the judgments contradict."""
    rely = "Do not rely on it before other people have judged."
    return f"The planned judgments are in. {rely}" if ended else f"Go on. {rely}"


def say_for_whom(annotators: int, *, all_named: bool) -> str:
    """For whom something is settled: with one or two people nothing is known of others."""
    if annotators > 2:
        return ""
    if not all_named:
        return " This may hold for those who judged only: not all annotators are named."
    return f" This holds for {'this annotator' if annotators <= 1 else 'these two annotators'} only."


def say_outlook(
    more: int, *, open_pairs: int, expected: float, chance: float | None, half_width: float, half_width_then: float
) -> str:
    """What so many more judgments would buy: a chance to settle the goal or the open pairs, narrower intervals."""
    if chance is not None:
        settled = f"settle the goal with a chance of {chance:.0%}"
    elif open_pairs == 0:
        settled = "find no pair open"
    elif open_pairs == 1:
        settled = f"settle the open pair with a chance of {expected:.0%}"
    elif expected < NONE_AS_SHOWN:
        settled = f"probably settle none of the {open_pairs} open pairs"
    else:
        settled = f"settle about {expected:.1f} of the {open_pairs} open pairs"
    # With very few judgments, the width of intervals is unknown.
    known = half_width <= TOO_WIDE * half_width_then
    narrower = f" and narrow intervals from ±{half_width:.2f} to ±{half_width_then:.2f}" if known else ""
    return f"{counted(more, 'more judgment')} would {settled}{narrower}."


def say_verdict_of_looks(looks: LooksRecord) -> tuple[str, ...]:
    """What a campaign that was looked at while it grew has settled, the verdict first; nothing where no look was taken.

    An ordinary test at the end would be wrong more often than its level says, because the campaign could have ended at
    every look.
    """
    if not looks.taken:
        return ()
    last = looks.taken[-1]
    if last.top:
        verdict = f"{claim_top(last.top)}: settled at a planned look."
    elif last.settled:
        first = claim_better(*last.settled[0])
        more = f" and {counted(len(last.settled) - 1, 'other pair')}" if len(last.settled) > 1 else ""
        verdict = f"The planned looks settled that {first}{more}."
    else:
        verdict = "The planned looks settled nothing."
    seen = f"The campaign was looked at {len(looks.taken)} of {counted(looks.looks, 'time')} while it grew"
    spent = f"{seen}; {looks.spent:.4f} of the level {looks.level:g} is spent."
    left = "An ordinary test at the full level, as below, does not know of the looks; what only it finds is open."
    more_looks = (
        () if last.fraction >= 1 else ("The rest of the level is left for a final look (adjudge look --final).",)
    )
    return (verdict, spent, left, *more_looks)


def put_looks_first(headline: str, looks: LooksRecord | None) -> tuple[str, ...]:
    """The verdict of the looks, where there were any, before that of a test at the end."""
    looked = () if looks is None else say_verdict_of_looks(looks)
    if not looked or not headline:
        return looked or (headline,)
    return (*looked, f"A test at the end would say: {headline}")


def say_exclusions(record: CampaignRecord | None) -> list[str]:
    """Whom the organisers excluded while judgments were collected."""
    if record is None or not record.excluded:
        return []
    first, *others = record.excluded
    more = f" and {len(others):,} more" if others else ""
    return [f"The organisers excluded {first.annotator} ({first.reason}){more} while judgments were collected."]


def say_next_look(judgments: int, planned: int, next_look: int | None) -> str:
    """Below the last verdict: when the next one comes; None where all planned looks have been taken."""
    coming = "all planned looks have been taken"
    if next_look is not None:
        coming = f"the next planned look comes at {next_look:,}"
    return f"Now {judgments:,} of {planned:,} judgments are in; {coming}."


def say_first_look(judgments: int, planned: int, first_look: int) -> tuple[str, str]:
    """Before the first look: when it comes, and why there is no verdict yet."""
    headline = f"Go on: {judgments:,} of {planned:,} judgments are in; the first planned look comes at {first_look:,}."
    return headline, "Until then there is no verdict, because extra looks would raise the error rate."


def explain_possible_ranks(level: float, *, planned_looks: bool) -> str:
    """What the ranks that are shown at any time promise."""
    certain = f"These ranks hold at all times together, with {1 - level:.0%} confidence, however often you look"
    stopping = "verdicts are given at planned looks only." if planned_looks else "you may stop at any time."
    gain = "The gain of more judgments is projected: as if differences were as estimated and the same people continued."
    return f"{certain}; {stopping} {gain}"


# Whether two campaigns agree

MORE_THAN_CHANCE = (
    "More than chance",
    "The campaigns separate the pair in opposite orders: chance hardly explains it.",
)


def say_same_order(
    names: Pair, certain: Sequence[Pair], *, flips: int, pairs: int, systems: int, more_than_chance: bool | None, r: str
) -> str:
    """Whether two campaigns give the same order of systems, and how far what differs is more than chance.

    Args:
        names: the campaigns.
        certain: pairs that they order differently, each with confidence.
        flips: how many pairs they order differently at all.
        pairs: how many pairs of systems there are.
        systems: how many systems they share.
        more_than_chance: whether there are more flips than chance explains; None where that is unknown.
        r: the correlation in brackets, as `show_correlation` gives it.
    """
    both = " and ".join(names)
    if certain:
        pair = " and ".join(certain[0])
        more = f" and {len(certain) - 1} more" if len(certain) > 1 else ""
        contradict = f"{both} contradict each other by more than chance"
        return f"{contradict} on {len(certain)} of {counted(pairs, 'pair')}: {pair}{more}{r}."
    if not flips:
        return f"{both} put the {systems} systems into the same order{r}."
    flipped = f"{flips} of {counted(pairs, 'pair')} of systems {agreeing(flips, 'flips', 'flip')}"
    if more_than_chance is None:
        return f"Between {both} {flipped}, and the role of chance is unknown{r}."
    if more_than_chance:
        return f"Between {both} {flipped}, more than chance explains, though no single pair is certain{r}."
    return f"Between {both} {flipped}, which is no more than chance explains{r}."


def say_same_documents(names: Pair, *, flips: int, pairs: int, unit: str, r: str) -> str:
    """How well two campaigns agree on documents or segments of one system."""
    share = 1 - flips / max(pairs, 1)
    return f"{' and '.join(names)} agree on {100 * share:.0f}% of all pairs of {unit}{r}."


def show_correlation(pearson: float, interval: tuple[float, float] | None) -> str:
    """A correlation in brackets; nothing where it is not known."""
    if math.isnan(pearson):
        return ""
    if interval is None:
        return f" (r = {pearson:.3f})"
    return f" (r = {pearson:.3f}, 95% interval {interval[0]:.3f} to {interval[1]:.3f})"


# Whether a program may judge

_STANDS_IN = "stand in for a person like those who judged"


def say_judge(outcome: Literal["passed", "failed", "open"], stood_up: int, people: int, *, reason: str = "") -> str:
    """Whether a machine judge may stand in for a person: it stood up to so many of the people."""
    if outcome == "open":
        return f"cannot be told{reason}"
    may = "may" if outcome == "passed" else "may not"
    number = stood_up if stood_up or outcome == "passed" else "none"
    return f"{may} {_STANDS_IN}: it is as close to the others as {number} of {counted(people, 'person', 'people')}"


def say_judges(passed: Sequence[str], failed: Sequence[str], unknown: Mapping[str, str]) -> list[str]:
    """Which machine judges may stand in for a person; `unknown` says of the others why it cannot be told."""
    sentences = [f"{short_list(passed)} may {_STANDS_IN}."] if passed else []
    sentences += [f"{short_list(failed)} may not."] if failed else []
    sentences += [f"{judge}: {why}." for judge, why in unknown.items()]
    if passed:
        whom = agreeing(len(passed), "It is", "They are")
        sentences.append(f"{whom} not counted in the ranking all the same: rankings on this page are by people alone.")
    return sentences


def say_changed_ranking(changed: int, turned: int, pairs: int, worst: tuple[str, str, float, float]) -> str:
    """That a judge does not stand in for a person because of what it does to the ranking."""
    first, second, by_people, by_judge = worst
    how = f", {turned} of them turned around" if turned else ""
    return (
        f"may not {_STANDS_IN}: it changes {changed} of {counted(pairs, 'difference')} between systems by more than "
        f"people differ{how}, most clearly {first} - {second} ({by_people:+.1f} by people, {by_judge:+.1f} by it)"
    )


def say_copy(person: str, equal: float, correlation: float) -> str:
    """That a judge gives a person's own answers."""
    return (
        f"may not {_STANDS_IN}: its answers are a copy of {person}'s ({100 * equal:.0f}% the same, "
        f"correlation {correlation:.2f}), so it adds nothing"
    )


def say_primed(person: str, correlation: float, bound: float) -> str:
    """That a judge follows a person more closely than it could without knowing the answers."""
    return (
        f"cannot be told: it follows {person} more closely (correlation {correlation:.2f}) than a judge without errors "
        f"could ({bound:.2f}), so it has probably seen these answers"
    )


# Why a system moved between two ways of ranking

MOST_OF_IT = 0.5
"""Whoever gave more of a system's judgments than this gave most of them."""


def say_place(rank: int) -> str:
    """`1st`, `2nd`, `13th`."""
    ending = "th" if rank % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")
    return f"{rank}{ending}"


def say_moved(system: str, first: tuple[str, int], second: tuple[str, int], reasons: Sequence[str]) -> str:
    """That a system has one rank by one way and another by another, and the main reason."""
    why = f": {reasons[0]}" if reasons else ""
    return f"{system} is {say_place(first[1])} by {first[0]} and {say_place(second[1])} by {second[0]}{why}."


def _points(amount: float) -> str:
    size = abs(amount)
    return measured(float(f"{size:.1f}" if size >= 1 else f"{size:.2g}"), "point")


def _worth(amount: float) -> str:
    """What a reason took from a system, or gave it, in points."""
    return f"which {'costs' if amount < 0 else 'gives'} it {_points(amount)}"


def say_who_judged(amount: float, share: float, *, extreme: bool) -> str:
    """That stricter, or more generous, people than average judged a system; one of them perhaps most of it.

    Args:
        amount: what it is worth to the system, in points, compared with the average system.
        share: of its judgments that the person gave who gave most of them.
        extreme: whether nobody is stricter (or more generous) than this person.
    """
    if share > MOST_OF_IT:
        who = "strictest" if amount < 0 else "most generous"
        one = f"the {who} person" if extreme else f"one {'strict' if amount < 0 else 'generous'} person"
        return f"{one} judged most of it ({share:.0%}), {_worth(amount)}"
    return f"{'stricter' if amount < 0 else 'more generous'} people than average judged it, {_worth(amount)}"


def say_what_judged(part: Literal["tasks", "documents", "segments", "tastes", "rest"], amount: float) -> str:
    """What else in its judgments held a system down, or up, compared with the average system."""
    if part == "tasks":
        how = f"people were {'stricter' if amount < 0 else 'more generous'} in its tasks than in their others"
    elif part == "tastes":
        how = f"those who judged it like it {'less' if amount < 0 else 'more'} than others would"
    elif part == "rest":
        how = f"single pages, outputs and scores happened to come out {'low' if amount < 0 else 'high'}"
    else:
        how = f"its {part} are {'harder' if amount < 0 else 'easier'} than average"
    return f"{how}, {_worth(amount)}"


def say_set_aside(rows: int, all_rows: int, amount: float) -> str:
    """How many of a system's judgments do not count, and what they did to it."""
    left_out = agreeing(rows, "is set aside", "are set aside")
    return f"{rows:,} of its {counted(all_rows, 'judgment')} {left_out}, {_worth(amount)}"


def say_own_means(amount: float) -> str:
    """What z-scores do first: take off the average that each person gives. `amount` is what the system gains by it."""
    how = "low" if amount > 0 else "high"
    return f"z-scores take off each person's mean, and those who judged it score {how}: {_signed(amount)}"


def say_z_distortion(amount: float, seen: float, systems: int) -> str:
    """That z-scores also take off the quality of what each person judged; `amount` is what this did to the system.

    Args:
        amount: in points, compared with the average system.
        seen: how many systems those who judged it saw, on average.
        systems: how many there are.
    """
    what = "better" if amount < 0 else "weaker"
    whom = f"of {systems} systems they saw {seen:.0f}" if seen < systems - 0.5 else "they saw all systems"
    return f"its judges had {what} outputs than others, which z-scores take for strictness ({whom}): {_signed(amount)}"


def _signed(amount: float) -> str:
    return f"{'+' if amount > 0 else '-'}{_points(amount)}"


def say_disasters(share: float, of_all: float) -> str:
    """Why the average and the typical score of a system stand apart."""
    more = "more" if share > of_all else "fewer"
    return (
        f"{share:.1%} of its scores are very low, {more} than the {of_all:.1%} of all: they weigh on its average only"
    )


def say_official_lines(others: int) -> str:
    """That no official line separates a system from others above it."""
    return f"no official line separates it from {counted(others, 'system')} above it"


def say_others_moved(amount: float | None) -> str:
    """That a system changed places because others moved."""
    own = "" if amount is None else f" (its own distance from the average changed by {_points(amount)})"
    return f"it is the others that moved{own}"


def say_ties(share: float, of_all: float) -> str:
    """That ties, which count as won, helped or hurt a system by wins-or-ties."""
    more = "more" if share > of_all else "fewer"
    return f"{share:.0%} of its comparisons are ties, {more} than the {of_all:.0%} of all, and ties count as won"


def say_opponents(amount: float) -> str:
    """That a system met stronger, or weaker, opponents than an even spread has; in log-odds."""
    return (
        f"it met {'stronger' if amount > 0 else 'weaker'} opponents than an even spread would ({amount:+.2f} log-odds)"
    )


def say_busy_annotator(share: float, by_one: float, by_others: float) -> str:
    """That one busy annotator, whose taste counts for less in the model, made many of a system's comparisons."""
    return (
        f"one annotator made {share:.0%} of its comparisons and has it win {by_one:.0%}, "
        f"others {by_others:.0%}; the model lets no single person outvote them"
    )


def say_flips(what: str, divisors: Sequence[str], flips: Mapping[str, Sequence[int]]) -> str:
    """How many pairs of other systems changed their order by each method when some scores were divided."""
    counts = "; ".join(f"by {method} {', '.join(map(str, numbers))}" for method, numbers in flips.items())
    return f"Pairs of others that flip when {what} are divided by {listed(divisors)}: {counts}."
