"""The words of every verdict. No other module says who is better than whom, or what holds, is fragile, open or settled.

`Decisions` has what a ranking and its audits decide. The rest is grouped by the question that a sentence answers: who
is best, what holds, how systems stand to a human translation, what a look settles, whether two campaigns agree, and
whether a program may judge. These functions take plain values, so that every page, table and paragraph can use them.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from adjudge.table.wording import agreeing, counted, listed, measured, short_list

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from adjudge.evidence.claims import Claim, Claims
    from adjudge.evidence.look_claims import LookClaim
    from adjudge.ranking.ranking import PairComparison, Ranking

    Names = Callable[[Sequence[str]], str]

Pair = tuple[str, str]
"""Two systems, the better first."""
Strength = Literal["holds", "fragile", "not supported", "not audited"]
Tone = Literal["decided", "open", "warning"]
STRENGTHS: tuple[Strength, ...] = ("holds", "fragile", "not supported", "not audited")
"""The strongest first."""
FEWEST_ANNOTATORS = 4
"""With fewer no claim can be tried on halves of the annotators: a half would be a single person or nobody."""
HARDLY = 0.1
"""Below this chance to be settled within the plan, a claim is called hardly decidable. Advice only."""
TOO_WIDE = 10
"""If intervals would shrink by more than this factor, their present width says nothing."""
NONE_AS_SHOWN = 0.05
"""Fewer pairs than this are shown as none."""


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
    """Those of the better, the worse and the ones at parity whose claim does not survive every audit."""
    audited: bool = True
    """Whether claims were put to audits at all."""


@dataclass(frozen=True)
class Decisions:
    """What the data decide about the systems of one ranking."""

    systems: tuple[str, ...]
    """Those that may be called the best: no human translations, unless nothing else was judged. The best first."""
    leaders: tuple[str, ...]
    """Those of them than which no other is shown to be better."""
    strength: Strength
    """How well it is supported that the only leader is better than all others."""
    standings: tuple[HumanStanding, ...]
    margin: float | None
    """Within which a system is at parity with a human translation."""
    pairs: int
    apart: int
    """Pairs that differ by more than chance."""
    lost: int
    """Pairs that differ by themselves, but not after the correction for all pairs."""
    level: float
    """At which pairs are told apart."""
    annotators: int | None
    """How many people judged, where they are known."""
    ranked: int = 0
    """Systems and human translations in the ranking; 0 where there is none."""
    clusters: int = 0
    """Groups between which lines are drawn."""


def decide_by_ranking(ranking: Ranking, claims: Claims | None = None, annotators: int | None = None) -> Decisions:
    """The decisions of a ranking; audited claims of the same method have the last word on what holds."""
    apart, systems = told_apart(ranking), [system.system for system in ranking.systems if not system.human]
    humans = [system.system for system in ranking.systems if system.human]
    among = systems or humans
    leaders = _unbeaten(among, apart)
    audited = claims if claims is not None and claims.method == ranking.method else None
    verdicts = {} if audited is None else _verdicts(audited)
    if audited is not None and audited.humans:
        standings, margin = _audited_standings(audited), audited.margin
    else:
        standings, margin = tuple(_standing(human, systems, dict.fromkeys(apart)) for human in humans), None
    return Decisions(
        systems=tuple(among),
        leaders=leaders,
        strength=_strength(leaders, systems, verdicts),
        standings=standings if systems else (),
        margin=margin,
        pairs=len(ranking.comparisons),
        apart=len(apart),
        lost=len(lost_to_correction(ranking)),
        level=ranking.lines.level,
        annotators=annotators,
        ranked=len(ranking.systems),
        clusters=len(ranking.clusters),
    )


def decide_by_claims(claims: Claims) -> Decisions:
    """The decisions of audited claims where no ranking stands beside them."""
    verdicts = _verdicts(claims)
    supported = _supported(verdicts)
    order = order_systems(claims)
    systems = [name for name in order if name not in claims.humans] or order
    leaders = _unbeaten(systems, supported)
    return Decisions(
        systems=tuple(systems),
        leaders=leaders,
        strength=_strength(leaders, systems, verdicts),
        standings=_audited_standings(claims),
        margin=claims.margin,
        pairs=len(verdicts),
        apart=len(supported),
        lost=sum(claim.lost_to_correction(claims.level) for claim in claims.claims if claim.kind == "better"),
        level=claims.level,
        annotators=claims.annotators,
    )


def told_apart(ranking: Ranking) -> set[Pair]:
    """Pairs of systems that differ by more than chance explains (Holm, at the lines' level).

    Where a method gives no p-values, the lines between clusters tell systems apart.
    """
    if all(comparison.p_holm is None for comparison in ranking.comparisons):
        cluster = {system.system: system.cluster for system in ranking.systems}
        apart = (pair for pair in ranking.comparisons if cluster[pair.better] != cluster[pair.worse])
    else:
        level = ranking.lines.level
        apart = (pair for pair in ranking.comparisons if pair.p_holm is not None and pair.p_holm < level)
    return {(pair.better, pair.worse) for pair in apart}


def lost_to_correction(ranking: Ranking) -> list[PairComparison]:
    """Pairs that differ by themselves, but not after Holm's correction for all pairs."""
    level = ranking.lines.level
    return [
        pair
        for pair in ranking.comparisons
        if pair.p is not None and pair.p_holm is not None and pair.p < level <= pair.p_holm
    ]


def order_systems(claims: Claims) -> list[str]:
    """All systems of the claims, the best first: who is better in how many pairs."""
    pairs = list(_verdicts(claims))
    ahead = Counter({name: 0 for pair in pairs for name in pair})
    ahead.update(better for better, _ in pairs)
    return sorted(ahead, key=lambda name: (-ahead[name], name))


def _verdicts(claims: Claims, kind: str = "better") -> dict[Pair, Strength]:
    return {(claim.systems[0], claim.systems[1]): claim.verdict for claim in claims.claims if claim.kind == kind}


def _supported(verdicts: Mapping[Pair, Strength]) -> dict[Pair, Strength]:
    return {pair: verdict for pair, verdict in verdicts.items() if verdict != "not supported"}


def _unbeaten(systems: Sequence[str], apart: Iterable[Pair]) -> tuple[str, ...]:
    beaten = {worse for better, worse in apart if better in systems}
    return tuple(name for name in systems if name not in beaten)


def _strength(leaders: Sequence[str], systems: Sequence[str], verdicts: Mapping[Pair, Strength]) -> Strength:
    """The weakest verdict on the claims that the only leader is better than the others."""
    others = [verdicts[leaders[0], name] for name in systems if leaders and (leaders[0], name) in verdicts]
    return max(others, key=STRENGTHS.index, default="not audited")


def _audited_standings(claims: Claims) -> tuple[HumanStanding, ...]:
    apart, parity = (_supported(_verdicts(claims, kind)) for kind in ("better", "parity"))
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
    fragile = tuple(name for part in (equal, better, worse) for name, verdict in part.items() if verdict == "fragile")
    return HumanStanding(
        human, tuple(better), tuple(equal), left_open, tuple(worse), fragile, audited=parity is not None
    )


# Who is best

_BEST: dict[Strength, str] = {
    "holds": "{} is the best system.",
    "fragile": "{} comes out best, but not in every audit.",
    "not supported": "{} comes out first, but the data do not establish that it is the best.",
    "not audited": "{} comes out best; that was not put to the audits.",
}
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
    people = _FEW_PEOPLE.get(decisions.annotators or 0, "")
    if len(decisions.systems) == 1:
        only, *_ = say_humans(decisions, short_list) or ["Only one system was judged."]
        return f"{people}: {only}" if people else only
    if people and len(decisions.leaders) == 1:
        return f"{people}: {decisions.leaders[0]} comes out best."
    return say_best(decisions, people)


def say_best(decisions: Decisions, people: str = "", named: Callable[[Sequence[str], str], str] = short_list) -> str:
    """The best of several systems, or between whom the data cannot decide."""
    leaders = decisions.leaders
    if len(leaders) == 1:
        return _BEST[decisions.strength].format(leaders[0])
    if len(leaders) == len(decisions.systems):
        undecided = "data cannot tell which system is best: no two of them are told apart."
    else:
        undecided = f"data cannot tell which is best: {named(leaders, 'or')}."
    return f"{people}: the {undecided}" if people else f"The {undecided}"


def say_claims(decisions: Decisions, *, untested: bool) -> tuple[str, ...]:
    """What audited claims say, the most important first; `untested` is whether parity lacked a margin."""
    sentences = [say_best(decisions, named=listed) if len(decisions.systems) > 1 else ""]
    sentences += say_humans(decisions, listed)
    if untested:
        sentences.append("Parity was not tested: no margin is customary on this scale; give one with --margin.")
    sentences += [say_correction(decisions.lost, decisions.pairs), say_scope(decisions.annotators)]
    return tuple(sentence for sentence in sentences if sentence)


def name_best(decisions: Decisions, method: str) -> tuple[str, str, str, Tone]:
    """The best system as a fact at the top of a page: label, value, detail and tone."""
    leaders, label = decisions.leaders, "Best system"
    if len(decisions.systems) == 1:
        return "Systems", "one", f"{leaders[0]}, compared with human translations only", "open"
    if len(leaders) > 1:
        return label, "undecided", f"between {short_list(leaders)}", "open"
    if (decisions.annotators or 3) < 3:
        return label, leaders[0], "for the people who judged, and them only", "warning"
    if decisions.strength == "not supported":
        return label, "undecided", f"{leaders[0]} comes out first", "open"
    if decisions.strength == "fragile":
        return label, leaders[0], "but not in every audit", "warning"
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

HOLDS_AND_FRAGILE = (
    "Holds and fragile",
    (
        "The data support a claim if its p is below the level after Holm's correction. It holds if it also survives "
        "every audit: other halves of the annotators, people and documents left out, other methods. It is fragile if "
        "some audit breaks it, or too few people judged to ask other halves of them."
    ),
)
CANNOT_DECIDE = (
    "Cannot decide",
    (
        "Means what it says: the data fit both answers. It does not mean that two systems are equally good. More "
        "judgments, by more annotators, may decide it."
    ),
)
SIGNS_OF_CLAIMS = "✓ holds, ! fragile, blank: the data cannot decide."
_FEW = {1: "Only one person judged: all of this is about this person only.",
        2: "Two people judged: all of this is about these two only."}  # fmt: skip


def say_ranking(decisions: Decisions) -> tuple[str, ...]:
    """The sentences under the headline of a ranking."""
    sentences = (
        *say_humans(decisions, short_list),
        say_apart(decisions.apart, decisions.pairs, decisions.level),
        say_correction(decisions.lost, decisions.pairs),
        say_clusters(decisions.clusters, decisions.ranked),
        say_scope(decisions.annotators),
    )
    return tuple(sentence for sentence in sentences if sentence)


def say_apart(apart: int, pairs: int, level: float) -> str:
    """How many pairs of systems differ, and how many stay open."""
    chance = f"by more than chance explains (Holm, {100 * level:g}%)"
    if pairs == 1:
        return f"The one pair of systems {'differs' if apart else 'does not differ'} {chance}."
    if apart in (0, pairs):
        return f"{'All' if apart else 'None of the'} {pairs:,} pairs of systems differ {chance}."
    left = pairs - apart
    stay = "the other one stays" if left == 1 else f"the other {left:,} stay"
    return f"Of {pairs:,} pairs of systems, {apart:,} {agreeing(apart, 'differs', 'differ')} {chance}; {stay} open."


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
    told = f"{apart:,} of {counted(pairs, 'pair')} {agreeing(apart, 'is', 'are')} told apart"
    return f"{told} after Holm's correction for asking {counted(pairs, 'question')}."


def say_correction(lost: int, pairs: int) -> str:
    """What is said of pairs that differ by themselves, but not after the correction for all pairs."""
    if not lost:
        return ""
    one = "One pair of systems differs by itself but stays"
    differ = one if lost == 1 else f"{lost} pairs differ by themselves but stay"
    return f"{differ} undecided: Holm's correction for all {pairs} pairs makes the difference."


def say_clusters(clusters: int, systems: int) -> str:
    """What the lines of a ranking mean."""
    if clusters == 1:
        return "No line can be drawn anywhere in the ranking."
    if clusters == systems:
        return ""
    return f"Lines cut the ranking into {clusters} clusters; the order within a cluster is not a finding."


def say_scope(annotators: int | None) -> str:
    """For whom the claims are made, where few people judged."""
    if annotators is None or annotators == 0 or annotators >= FEWEST_ANNOTATORS:
        return ""
    few = f"Only {annotators} people judged: no claim could be tested on other people, so none holds."
    return _FEW.get(annotators, few)


def say_apart_from(first: str, undecided: int, others: int, pairs: int) -> str:
    """Who is told apart from the first system of a chart, in which points of undecided systems are hollow."""
    rule = f"after Holm's correction for {agreeing(pairs, 'the one pair', f'all {pairs:,} pairs')}"
    if undecided == others:
        return f"No other system is told apart from {first} {rule}: all their points are hollow."
    if not undecided:
        return f"All others are told apart from {first} {rule}."
    return f"Hollow points are not told apart from {first} {rule}; filled ones are."


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


def count_claims(holds: int, fragile: int, pairs: int, unit: str) -> str:
    """The counts of claims below their table."""
    counts = f"hold {holds}, fragile {fragile}, left open by the data {pairs - holds - fragile}"
    return f"Of {counted(pairs, 'difference')}, in {unit}: {counts}."


def count_claims_on_page(holds: int, fragile: int, pairs: int) -> str:
    """The counts of claims on the page of a report."""
    shares = f"Differences that hold: {holds:,} of {counted(pairs, 'pair')} of systems"
    return f"{shares}. Fragile: {fragile:,}. Left open by the data: {pairs - holds - fragile:,}."


def count_claims_in_short(holds: int, fragile: int) -> str:
    """The counts of claims in a fact at the top of a page."""
    return f"in every audit: {holds:,}; fragile: {fragile:,}"


def count_claims_in_line(holds: int, fragile: int, pairs: int) -> str:
    """The counts of claims in one line of a terminal."""
    held = f"{counted(holds, 'difference holds', 'differences hold')} in every audit"
    left = pairs - holds - fragile
    return f"{held}, {fragile} {agreeing(fragile, 'is', 'are')} fragile, {left} {agreeing(left, 'stays', 'stay')} open"


def count_claims_in_paper(holds: int, fragile: int) -> str:
    """What the audits left of the differences claimed, for a paper."""
    claimed = holds + fragile
    if claimed == 0:
        return "No difference is claimed."
    if claimed == 1:
        return f"The one difference claimed {'holds' if holds else 'does not hold'} in every audit."
    if not fragile:
        return f"All {claimed:,} differences claimed hold in every audit."
    if not holds:
        return f"None of the {claimed:,} differences claimed holds in every audit."
    held = "1 holds" if holds == 1 else f"{holds:,} hold"
    broken = "the other one does not" if fragile == 1 else f"the other {fragile:,} do not"
    return f"Of {counted(claimed, 'difference')} claimed, {held} in every audit; {broken}."


def say_rule(audits: Sequence[str]) -> str:
    """When a claim holds and when it is fragile."""
    return f"A claim holds if it survives every audit ({listed(audits)}), and is fragile if some audit breaks it."


def say_breaks(fragile: Sequence[Claim], annotators: int | None) -> tuple[str, ...]:
    """What makes claims fragile: what breaks how many, or that nobody else could be asked."""
    if not fragile:
        return ()
    if (annotators or 0) < FEWEST_ANNOTATORS:
        few = "The data do not name the people who judged" if annotators is None else "Too few people judged"
        return (f"{few}: no half of them can be asked again, so no claim can hold here.",)
    breaking = Counter(audit for claim in fragile for audit in claim.fails)
    return (f"What breaks fragile claims: {listed([f'{audit} ({n:,})' for audit, n in breaking.most_common()])}.",)


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
    return [
        sentence for standing in decisions.standings for sentence in _against_human(standing, decisions.margin, named)
    ]


def _against_human(standing: HumanStanding, margin: float | None, named: Names) -> list[str]:
    human = standing.human
    if len(standing.worse) > 1 and not (standing.better or standing.parity or standing.open):
        return [_above_all(standing, named)]
    sentences = _by_strength(standing.better, standing, f"better than the human translation {human}", named)
    if standing.parity and margin is not None:
        within = f"at parity with {human}, within {measured(margin, 'point')}"
        sentences += _by_strength(standing.parity, standing, within, named)
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
    return f"{whole}, but {'' if len(fragile) == len(standing.worse) else f'over {named(fragile)} '}not in every audit."


def _by_strength(names: Sequence[str], standing: HumanStanding, what: str, named: Names) -> list[str]:
    """What holds is said plainly; what is fragile, or was never audited, is no more than what comes out."""
    sure = [name for name in names if name not in standing.fragile]
    fragile = [name for name in names if name in standing.fragile]
    sentences = [f"{named(sure)} {_verb(sure, audited=standing.audited)} {what}."] if sure else []
    if fragile:
        sentences.append(f"{named(fragile)} {_verb(fragile, audited=False)} {what}, but not in every audit.")
    return sentences


def _verb(names: Sequence[str], *, audited: bool) -> str:
    return agreeing(len(names), "is", "are") if audited else agreeing(len(names), "comes out", "come out")


def say_parity(
    by_verdict: Mapping[ParityVerdict, Sequence[str]], human: str, margin: float | None, annotators: int | None
) -> tuple[str, ...]:
    """How systems stand to one human translation in a test of parity, one sentence per verdict.

    The first is the headline. Where one or two people judged, it is about them.
    """
    (first, names), *others = by_verdict.items()
    people = _FEW_PEOPLE.get(annotators or 0, "")
    if not others and first == "below the human" and len(names) > 1:
        opening, statement = "All systems", f" are below {human}."
    else:
        opening, statement = _parity_sentence(first, names, human, margin)
    headline = f"{people}: {opening.lower()}{statement}" if people else f"{opening}{statement}"
    return (headline, *("".join(_parity_sentence(verdict, names, human, margin)) for verdict, names in others))


def _parity_sentence(verdict: ParityVerdict, names: Sequence[str], human: str, margin: float | None) -> tuple[str, str]:
    """What opens the sentence with a capital letter that may be lowered, if not a system's name, and the rest."""
    is_ = agreeing(len(names), "is", "are")
    if verdict == "at parity" and margin is not None:
        apart = f"less than {measured(margin, 'point')} apart"
        return "", f"{short_list(names)} {is_} at parity with {human}: {apart}."
    if verdict == "not told apart":
        return "The data", f" cannot tell {short_list(names)} from {human}, which is no proof of parity."
    return "", f"{short_list(names)} {is_} {verdict.removesuffix('the human')}{human}."


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
