"""The words of verdicts: who is best, and what holds, is fragile or open.

Only this module and its sisters word verdicts: `verdict_human` how systems stand to a human translation,
`verdict_looks` what a look settles, `verdict_comparison` whether two rankings of the same systems agree. All of them
word the facts of `verdict_facts`, in sentences that every page, table and paragraph uses.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from adjudge.evidence.verdict_facts import (
    FEW_PEOPLE,
    Decisions,
    Disagreement,
    Verdict,
    claim_best,
    claim_better,
    decide_by_ranking,
)
from adjudge.evidence.verdict_human import alarm_about_humans, say_conditions_of, say_humans, say_why_weak
from adjudge.evidence.verdict_looks import say_exclusions, say_verdict_of_looks
from adjudge.people.check import Failing
from adjudge.ranking.methods import METHODS
from adjudge.table.results import p_value, show
from adjudge.table.wording import agreeing, counted, few_names, listed, short_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.evidence.claims import Claim, Claims
    from adjudge.evidence.conditions import Alike, Composition, Oddities
    from adjudge.people.results import Twins
    from adjudge.ranking.methods import Method
    from adjudge.ranking.ranking import Ranking
    from adjudge.table.record import CampaignRecord, LooksRecord

Tone = Literal["decided", "open", "warning"]
NOBODY_FAILS = Failing()


def add_verdict(
    ranking: Ranking,
    failing: Failing = NOBODY_FAILS,
    otherwise: Ranking | None = None,
    oddities: Oddities | None = None,
    record: CampaignRecord | None = None,
    *,
    composition: Composition | None = None,
) -> Ranking:
    """The ranking with the sentences that are printed before its table, and a note on who judged what.

    Args:
        ranking: of those who count.
        failing: who fails the rule of quality.
        otherwise: the ranking of what would count the other way: with those who fail, or without them.
        oddities: what looks like a mistake in the data.
        record: how the judgments were collected; where looks were taken, the verdict is theirs.
        composition: what a system owes to those who judged it, where that is much.
    """
    decisions = decide_by_ranking(ranking, annotators=ranking.annotators)
    decided = say_decided(decisions)
    sentences = (
        *put_looks_first(say_headline(decisions), None if record is None else record.looks),
        *say_left_out(decisions, failing, otherwise),
        *say_oddities(oddities),
        *([decided] if decisions.apart or decisions.unguarded else []),
        *alarm_about_humans(decisions.standings),
        *say_who_is_meant(ranking, decided=bool(decisions.apart)),
        *say_exclusions(record),
    )
    notes = (*ranking.notes, *say_composition(ranking.method, composition))
    return replace(ranking, verdict=tuple(dict.fromkeys(sentences)), notes=notes)


NOT_NAMED = "who judged is not named"


def say_who_is_meant(judged: Ranking | Claims, *, decided: bool, headline: str = "") -> list[str]:
    """That not everybody is named, if the headline does not say so, or that accounts are taken for fewer people."""
    if judged.annotators is None and decided and NOT_NAMED not in headline:
        return ["The data do not name everybody who judged: all this may be the view of a few people."]
    if not judged.accounts or judged.annotators is None:
        return []
    if judged.fewest_people is None:
        return [f"The {judged.annotators:,} accounts may be fewer people: tell which accounts are one person."]
    few = counted(judged.fewest_people, "person", "people")
    accounts = f"The {judged.annotators:,} accounts may be as few as {few}, and pairs are decided as if they were."
    return [accounts, "Tell which accounts are one person, or that each is a person of their own."]


def say_who_judged(ranking: Ranking, otherwise: str) -> str:
    """`20 annotators`, which is said `otherwise`; or how many accounts, where these may be fewer people."""
    if not ranking.accounts or ranking.annotators is None:
        return otherwise
    fewest = ranking.fewest_people
    few = "fewer people" if fewest is None else f"as few as {counted(fewest, 'person', 'people')}"
    return f"{counted(ranking.annotators, 'account')} (which may be {few})"


def say_left_out(decisions: Decisions, failing: Failing, otherwise: Ranking | None) -> list[str]:
    """Who fails and why, whether they count, and what the verdict would be the other way; or that nobody passes."""
    if not failing.people:
        return []
    if failing.everybody:
        return [say_nobody_passes(len(failing.people))]
    names = failing.people
    unit = "account" if failing.of_accounts else "annotator"
    who = counted(len(names), f"{unit} fails", f"{unit}s fail")
    failed = listed([f"of {reason}" if reason in ("controls", "pace") else f"({reason})" for reason in failing.reasons])
    shown = listed(names if len(names) <= 3 else [*names[:2], f"{len(names) - 2:,} others"])
    left_out = agreeing(len(names), "is left out", "are left out")
    counts = f"{agreeing(len(names), 'counts', 'count')} all the same"
    opening = f"{who} the check {failed} and {counts if failing.all_count else left_out}: {shown}."
    other = f"{'without' if failing.all_count else 'with'} {agreeing(len(names), names[0], 'them')}"
    return [opening, *([] if otherwise is None else _say_otherwise(decisions, otherwise, other))]


def say_fail_and_count(failed: int, people: int, *, of_accounts: bool) -> str:
    """That some fail the check and count all the same: by the control of a release, as accounts, or on request."""
    who = f"{failed:,} of {counted(people, 'account' if of_accounts else 'annotator')}"
    return f"{who} {agreeing(failed, 'does', 'do')} not pass the check, but their judgments count: see Annotators."


def say_nobody_passes(people: int) -> str:
    """That no annotator passes the check, and all count all the same."""
    who = agreeing(people, "The one annotator does not pass", f"None of the {people:,} annotators passes")
    return f"{who} the check; the ranking rests on {agreeing(people, 'that', 'their')} work all the same."


def _say_otherwise(decisions: Decisions, otherwise: Ranking, them: str) -> list[str]:
    other, begun = decide_by_ranking(otherwise, annotators=otherwise.annotators), f"{them[:1].upper()}{them[1:]}"
    if other.leaders != decisions.leaders:
        return [f"Settle the check first: {them} the verdict is another.", f"{begun}: {say_headline(other)}"]
    if other.apart != decisions.apart:
        return [f"{begun} {other.apart:,} instead of {decisions.apart:,} pairs are decided."]
    return [f"{begun} the verdict is the same."]


def put_looks_first(headline: str, looks: LooksRecord | None) -> tuple[str, ...]:
    """The verdict of the looks, where there were any, before that of a test at the end."""
    looked = () if looks is None else say_verdict_of_looks(looks)
    if not looked or not headline:
        return looked or (headline,)
    return (*looked, f"A test at the end would say: {headline}")


# Who is best

_VIEW = {1: ("This is the view of one person", "this person"), 2: ("This is the view of two people", "them")}


def say_headline(decisions: Decisions) -> str:
    """One sentence: who is best, or between whom the data cannot decide.

    Where one or two people judged, it is about them only, and says so. A single system is never called the best: how
    it stands to the human translation is said instead.
    """
    people = decisions.annotators or 0
    if decisions.unguarded is not None:
        return say_unguarded(decisions.unguarded)
    if len(decisions.systems) == 1:
        only, *_ = say_humans(decisions) or ["Only one system was judged."]
        return only
    if people in _VIEW and len(decisions.leaders) < len(decisions.systems):
        view, whom = _VIEW[people]
        return f"{view}: for {whom} {_say_view(decisions)}; others may see it differently."
    return say_best(decisions)


def say_unguarded(method: Method) -> str:
    """The warning before the ranking by an official rule, in place of who is best."""
    some, pairs = method.equal_systems or (0, 0)
    return (
        f"Warning: the rule {method.name} has no guarantee against chance. It called some of eight equal systems "
        f"different in {some}% of simulated campaigns, and {pairs}% of their pairs: decide by the default method."
    )


def say_audited_method(name: str | None, by: str) -> list[str]:
    """Before the audit of a method by another one's claims: what is known of this method.

    Args:
        name: the method that was asked for, if one was.
        by: the method that claims are made by.
    """
    method = METHODS.get(name or by)
    if method is None or method.name == by:
        return []
    known = [say_unguarded(method)] if method.equal_systems else []
    known += [f"The test of {method.name} ignores who judged."] if method.ignores_people else []
    return [*known, f"Claims are by {by}; the other sections are about {method.name}."]


def _say_view(decisions: Decisions) -> str:
    leaders = decisions.leaders
    if len(leaders) == 1:
        if len(decisions.systems) == 2:
            return claim_better(leaders[0], next(name for name in decisions.systems if name != leaders[0]))
        best = claim_best(leaders[0], among_machines=bool(decisions.standings))
        return best if decisions.all_behind else f"{leaders[0]} comes first{_among(decisions)}"
    return f"{few_names(leaders)} {_say_lead(decisions)}"


def _say_lead(decisions: Decisions) -> str:
    return "lead the machine translations" if decisions.standings else "lead together"


def _among(decisions: Decisions) -> str:
    """Human translations do not compete: where there is one, nobody is first or best of all."""
    return " of the machine translations" if decisions.standings else ""


def say_best(decisions: Decisions) -> str:
    """The best of several systems, or between whom the data cannot decide."""
    leaders = decisions.leaders
    what = "machine translation" if decisions.standings else "system"
    if decisions.disagreement is not None:
        return say_disagreement(decisions.disagreement)
    if len(leaders) == 1:
        return _say_winner(decisions)
    if len(leaders) == len(decisions.systems):
        nothing = f"No {what} is shown to be better than another"
        if decisions.people_needed is None:
            return f"{nothing}."
        instead = f"about {decisions.people_needed:,} people instead of {decisions.annotators:,}"
        return f"{nothing}; {instead} could separate the first two."
    if len(leaders) > 3:
        shown = f"{leaders[0]}, {leaders[1]}, ..."
        return (
            f"Any of {len(leaders)} {what}s may be the best ({shown}): none of them is shown to be worse than another."
        )
    others, nobody = ("all other ones", "no other one") if decisions.standings else ("all others", "nobody")
    behind = f"{others} are behind one of them" if decisions.all_behind else f"{nobody} is shown to be better than they"
    separate = "the two" if len(leaders) == 2 else "them"
    return f"{listed(leaders)} {_say_lead(decisions)}: {behind}, and these judgments cannot separate {separate}."


def _say_winner(decisions: Decisions) -> str:
    winner, weakest = decisions.leaders[0], decisions.weakest
    if decisions.strength == "not supported":
        return f"{winner} comes out first{_among(decisions)}, but the data do not establish that it is the best."
    every = "system"
    best = f"{winner} comes out best"
    if not all(winner in standing.better for standing in decisions.standings):
        best, every = f"{best} of the machine translations", "one"
    if decisions.strength == "not audited" or weakest is None:
        if decisions.instead is not None:
            return f"{best}, but by a test that ignores who judged."
        if any(winner in standing.worse for standing in decisions.standings):
            return f"{best}; a human translation comes out better."
        return f"{best}: it is decided better than every other {every}."
    if decisions.strength == "holds":
        return _say_clear_winner(decisions, winner)
    if decisions.strength == "needs more people":
        if weakest.people_needed is None and decisions.annotators is None:
            return f"{best}, but {NOT_NAMED}: it may be the view of a few people."
        if weakest.people_needed is None and weakest.reason:
            over = f"over {winner} and {weakest.systems[-1]}"
            why = weakest.reason.partition(" (")[0].replace("over this pair", over)
            return f"{best}, but {why}: more people should judge."
        return f"{best}, but narrowly: as many other people would {say_again(weakest.replication)}."
    rival = weakest.systems[-1]
    broken = say_despite(weakest.broken_by[0]) if weakest.broken_by else "but not in every audit"
    return f"{best}, {broken}: let other people judge {winner} and {rival} first."


def _say_clear_winner(decisions: Decisions, winner: str) -> str:
    above = [standing for standing in decisions.standings if winner in standing.worse]
    if above:
        which = f" {above[0].human}" if len(decisions.standings) > 1 else ""
        who = f"the human translation{which}" if len(above) == 1 else f"{len(above)} human translations"
        weak = [say_why_weak([winner], standing) for standing in above if winner in standing.fragile]
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
    return "but annotators part over it" if trial == OWN_SPREAD else f"but not {_say_how(trial)}"


def _say_how(trial: str) -> str:
    """How a trial looks again at a claim: without somebody, or by another order."""
    unit = trial.removesuffix(" left out")
    return f"without {unit}" if unit != trial else trial.removeprefix("order ")


def say_disagreement(found: Disagreement) -> str:
    """Why the better typical scores, or the better average, do not make a winner."""
    ahead, other, (own, others) = found.ahead, found.other, found.shares
    if found.state == "average only":
        if others - own < FAILURES:
            return f"{ahead} is ahead of {other} on average, but not surely in typical scores: no winner."
        low = f"{others:.0%} of {other}'s scores are very low ({ahead}: {own:.0%})"
        return f"{ahead} is ahead of {other} on average, but not usually: {low}."
    if own - others >= FAILURES:
        average = "not surely better" if found.same_order else "not"
        low = f"{own:.0%} of its scores are very low ({other}: {others:.0%})"
        return f"{ahead} is usually better than {other}, but {low}, so its average is {average}: no winner."
    if found.state == "opposed":
        return f"Typical scores and averages disagree on {ahead} and {other}: neither is decided better."
    sure = " surely" if found.same_order else ""
    return f"{ahead} is ahead of {other} in typical scores, but not{sure} on average: no winner."


FAILURES = 0.02
"""By so much more of its scores must be very low for failures to be the reason why typical scores and average part."""


def say_claims(decisions: Decisions, *, untested: bool) -> tuple[str, ...]:
    """What audited claims say, the most important first; `untested` is whether parity lacked a margin."""
    sentences = [say_headline(decisions) if len(decisions.systems) > 1 else ""]
    sentences += [*say_humans(decisions), *say_conditions_of(decisions)]
    if untested:
        sentences.append("Parity was not tested: no margin is customary on this scale; give one with --margin.")
    sentences += [say_correction(decisions.lost, decisions.apart)]
    return tuple(sentence for sentence in sentences if sentence)


def name_best(decisions: Decisions, method: str) -> tuple[str, str, str, Tone]:
    """The best system as a fact at the top of a page: label, value, detail and tone."""
    leaders, label = decisions.leaders, f"Best {'machine translation' if decisions.standings else 'system'}"
    if len(decisions.systems) == 1:
        return "Systems", "one", f"{leaders[0]}, compared with human translations only", "open"
    if len(leaders) > 1:
        return label, "undecided", f"between {short_list(leaders)}", "open"
    if decisions.strength == "not supported":
        return label, "undecided", f"{leaders[0]} comes out first", "open"
    if (decisions.annotators or FEW_PEOPLE + 1) <= FEW_PEOPLE:
        return label, leaders[0], "for the people who judged, and them only", "warning"
    if decisions.strength in ("fragile", "needs more people"):
        detail = "but not in every audit" if decisions.strength == "fragile" else "but more people should judge"
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
        orders = agreeing(len(differ), "order by {} is different", "orders by {} differ").format(short_list(differ))
        sentences.append(f"The {orders}: {unsettled}.")
    return sentences


# What holds, and what is open

OWN_SPREAD = "how far annotators part"
"""The trial of a claim by how differently annotators see the pair."""
HOLDS_AND_FRAGILE = (
    "Holds, needs more people, fragile",
    (
        "A pair is decided if its p is below the level after the correction for all pairs. The claim holds if p is "
        "also below .01 and no audit breaks it: people or documents left out, another way to rank, how far annotators "
        "part. It is fragile if some audit breaks it. Otherwise it needs more people: p is not below .01, one or two "
        "people judged, or it is not known who they are."
    ),
)
CANNOT_DECIDE = (
    "Cannot decide",
    (
        "Means what it says: the data fit both answers. It does not mean that two systems are equally good. More "
        "judgments, by more annotators, may decide it."
    ),
)
SIGNS_OF_CLAIMS = "How sure is it that the row's system is better than the column's?"


def say_ranking(decisions: Decisions) -> tuple[str, ...]:
    """The sentences under the headline of a ranking."""
    sentences = (
        *say_humans(decisions),
        *say_conditions_of(decisions),
        say_decided(decisions),
        *(_say_corrected(decisions) if decisions.unguarded is None else ()),
    )
    return tuple(sentence for sentence in sentences if sentence)


def _say_corrected(decisions: Decisions) -> tuple[str, str]:
    return say_correction(decisions.lost, decisions.apart), say_clusters(decisions.clusters, decisions.ranked)


def say_decided(decisions: Decisions) -> str:
    """How many pairs of systems are decided, or called different by a rule that guarantees nothing."""
    if decisions.unguarded is None:
        return say_apart(
            decisions.apart,
            decisions.pairs,
            decisions.level,
            clusters=decisions.clusters,
            instead=decisions.instead,
            named=decisions.annotators is not None,
        )
    different = decisions.apart + decisions.lost
    verb = agreeing(different, "is", "are")
    return f"By this rule, {different:,} of {counted(decisions.pairs, 'pair')} {verb} different at {decisions.level:g}."


def say_apart(
    apart: int, pairs: int, level: float, *, clusters: int = 0, instead: str | None = None, named: bool = True
) -> str:
    """How many pairs are decided; `instead` names the method that allows for people, where the test does not.

    Where not everybody is `named`, no level is promised.
    """
    blind = "" if instead is None else f" by a test that ignores who judged; {instead} allows for people's tastes"
    if not named and not blind:
        blind = ", as if every unnamed judgment came from a person of its own"
    if pairs == 1:
        return f"{say_apart_in_table(apart, pairs).removesuffix('.')}{blind if apart else ''}."
    if apart == 0:
        return f"None of the {pairs:,} pairs is decided."
    sure = blind or f", at a level of {100 * level:g}% for all together"
    if apart == pairs:
        return f"All {pairs:,} pairs are decided{sure}."
    decided = say_apart_in_table(apart, pairs).removesuffix(".")
    if clusters == 1 and apart > 1 and not blind:
        return f"{decided}, but no group is better than all the rest: see each system's ranks."
    return f"{decided}{sure}."


def say_apart_in_paper(apart: int, pairs: int, how: str) -> str:
    """The same for the methods section of a paper; `how` names the level and cites the correction."""
    if pairs == 1:
        return f"The two systems {'differ' if apart else 'are not told apart'} {how}."
    if apart == pairs:
        return f"All {pairs:,} pairs differ {how}."
    if apart == 0:
        return f"None of the {pairs:,} pairs differs {how}."
    left = pairs - apart
    others = "The other one is" if left == 1 else f"The other {left:,} are"
    differ = agreeing(apart, "differs", "differ")
    return f"Of {pairs:,} pairs, {apart:,} {differ} {how}. {others} not told apart."


def say_apart_in_table(apart: int, pairs: int) -> str:
    """The same above a table of all pairs."""
    if pairs == 1:
        return "The two systems are separated." if apart else "The two systems are not separated."
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
    if clusters == 2:
        return "A line makes two groups: everyone above it is decided better than everyone below it."
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
    reach, stay = ("bar does", "it stays") if len(systems) == 1 else ("bars do", "they stay")
    who = short_list(systems)
    return f" The {reach} not reach {first}'s line for {who}. After the correction for all pairs {stay} undecided."


BARS_OF_SINGLE_SYSTEMS = " A bar is of one system alone: some that do not overlap may be undecided all the same."
"""Of intervals of scores: pairs are decided by their differences, and corrected for all pairs."""


def _counts(holds: int, more: int, fragile: int, pairs: int) -> list[str]:
    left = pairs - holds - more - fragile
    counts = (
        (holds, "holds", "hold"),
        (more, "needs more people", "need more people"),
        (fragile, "is fragile", "are fragile"),
        (left, "is open", "are open"),
    )
    return [f"{number:,} {agreeing(number, one, several)}" for number, one, several in counts]


def count_claims(holds: int, more: int, fragile: int, pairs: int) -> str:
    """The counts of claims below their table, and on the page of a report."""
    return f"Of {counted(pairs, 'pair')}: {', '.join(_counts(holds, more, fragile, pairs))}."


def count_claims_in_short(holds: int, more: int, fragile: int) -> str:
    """The counts of claims in a fact at the top of a page."""
    return f"hold: {holds:,}; need more people: {more:,}; fragile: {fragile:,}"


def count_claims_in_paper(holds: int, more: int, fragile: int) -> str:
    """What the audits left of the differences claimed, for a paper."""
    claimed = holds + more + fragile
    counts = zip((holds, more, fragile), _counts(holds, more, fragile, claimed), strict=False)
    found = [f"{words} in every audit" if "hold" in words else words for number, words in counts if number]
    if len(found) > 1:
        return f"Of {claimed:,} differences claimed, {listed(found)}."
    if not found:
        return "No difference is claimed."
    all_of_them = agreeing(claimed, "The one difference", f"All {claimed:,} differences")
    return f"{all_of_them} claimed {found[0].partition(' ')[2]}."


_RULE = "A decided pair holds if p (all pairs), and p by how far annotators part, are below .01 and no audit breaks it."


def say_rule(audits: Sequence[str]) -> str:
    """When a claim holds and when it does not."""
    kept = [audit for audit in audits if not audit.endswith("left out") and not audit.startswith("without ")]
    left_out = [audit for audit in audits if audit not in kept]
    lists = [f"{what}: {listed(names)}." for what, names in (("Audits", left_out), ("Other audits", kept)) if names]
    return " ".join([_RULE, *lists])


def say_breaks(claims: Sequence[Claim]) -> tuple[str, ...]:
    """What makes claims fragile: what breaks how many."""
    breaking = Counter(audit for claim in claims for audit in claim.fails)
    if not breaking:
        return ()
    shown = [f"{audit} ({number:,})" for audit, number in breaking.most_common(_MOST_SAID)]
    most = "most " if len(breaking) > _MOST_SAID else ""
    return (f"What breaks {most}fragile claims: {listed(shown)}.",)


def say_more_people(decisions: Decisions, claims: Sequence[Claim]) -> tuple[str, ...]:
    """What it would take to decide more: people for the first two systems, and for claims that need more of them."""
    people = decisions.annotators or 0
    said = []
    first = decisions.leaders[:2]
    if decisions.people_needed is not None and len(first) == 2 and len(decisions.leaders) < len(decisions.systems):
        instead = f"About {decisions.people_needed:,} people instead of {people:,}"
        said.append(f"{instead} could separate {listed(first)}, if their difference is as estimated.")
    short = [claim for claim in claims if claim.kind == "better" and claim.verdict == "needs more people"]
    needed = sorted(claim.people_needed for claim in short if claim.people_needed is not None)
    if needed and people:
        many = f"{needed[0]:,}" if needed[0] == needed[-1] else f"{needed[0]:,} to {needed[-1]:,}"
        which = "" if len(needed) == len(short) else f"{len(needed):,} of "
        what = agreeing(len(short), "the claim that needs", f"the {len(short):,} claims that need")
        said.append(f"About {many} people instead of {people:,} would make {which}{what} more people hold.")
    return tuple(said)


def say_reason(
    verdict: Verdict,
    *,
    trial: str = "",
    difference: float = math.nan,
    p: float | None = None,
    needed: int | None = None,
    people: int | None = None,
    accounts: bool = False,
    alone: str = "",
) -> str:
    """Why a supported claim does not hold: what breaks it and how, or how many people it would take.

    `p` is by `alone`, the other reading of the scores, or by how far annotators part.
    """
    if verdict == "holds":
        return ""
    if not trial:
        return "the accounts may be fewer people" if accounts else _say_too_weak(needed, people, p, alone)
    if trial == OWN_SPREAD:
        return _say_parted(p or 0.0)
    where = _say_how(trial)
    if math.isnan(difference):
        return f"nothing is known of it {where}"
    if difference <= 0:
        return f"{where} the order is reversed"
    return f"{where} the difference is not significant ({_p(1.0 if p is None else p)})"


def _say_too_weak(needed: int | None, people: int | None, p: float | None, alone: str) -> str:
    """Why a claim that no audit breaks needs more people."""
    if people is None:
        return "the people who judged are not named"
    if people <= FEW_PEOPLE:
        return "only one person judged" if people == 1 else "only two people judged"
    if p is not None:
        return f"it is less sure by {alone} ({_p(p)})" if alone else _say_parted(p)
    if needed is None:
        return "p after the correction is not below .01"
    return f"about {needed:,} people instead of {people:,} would make it hold"


def _say_parted(p: float) -> str:
    return f"annotators part over this pair ({_p(p)} by how far they part)"


def say_subsets_differ(differ: bool, p: float, p_holm: float, columns: int, test: str) -> str:
    """Whether systems differ between subsets of the judgments; p-values are corrected for so many columns."""
    corrected = f", {_p(p_holm)} after Holm's correction for {columns} columns" if columns > 1 else ""
    differs = f"Systems {'differ' if differ else 'do not differ'} between subsets by more than chance explains"
    return f"{differs}: {_p(p)} of the interaction{corrected} ({test})."


def _p(value: float) -> str:
    return "p < .001" if value < 0.001 else f"p = {show(value, p_value('p'))}"


def say_oddities(found: Oddities | None) -> list[str]:
    """What looks like a mistake in the data, as questions."""
    if found is None:
        return []
    sentences = [_say_alike(alike) for alike in found.alike[:_MOST_SAID]]
    if len(found.alike) > _MOST_SAID:
        more = len(found.alike) - _MOST_SAID
        sentences.append(f"{counted(more, 'more pair')} of systems {agreeing(more, 'is', 'are')} as alike.")
    if found.twins:
        sentences.append(_say_twins(found.twins))
    if found.constant:
        system, score, number = found.constant[0]
        others = f", and {counted(len(found.constant) - 1, 'more system')} likewise" if len(found.constant) > 1 else ""
        sentences.append(f"All {number:,} scores of {system} are {score:g}{others}: is a column mistaken?")
    if len(found.alone) == 1:
        ((system, person),) = found.alone
        sentences.append(f"Annotator {person} alone judged {system}: what is said of it is one person's view.")
    elif found.alone:
        names = few_names([system for system, _ in found.alone])
        sentences.append(f"One person alone judged each of {names}: what is said of them is one person's view.")
    return sentences


def say_composition(method: str, found: Composition | None) -> list[str]:
    """That those who judged a system, and its tasks, are worth more to it than its margin of error."""
    if found is None:
        return []
    does = "favour it" if found.worth > 0 else "hold it down"
    who = f"the annotators and tasks that {found.system} happened to get {does} by {abs(found.worth):.1f} points"
    against = f"That is against the average system, and more than the margin of error ({found.margin:.1f})"
    corrected = {
        "raw": "Raw means do not correct for it (--method mixed does)",
        "zscore": "That is what z-scores leave or add (--method mixed corrects for it)",
    }
    taken_off = "This is taken off here, but not in raw means (--explain shows it for every system)"
    return [f"{who}. {against}. {corrected.get(method, taken_off)}"]


_MOST_SAID = 3
"""Pairs of alike systems that are named in the first lines; more are counted."""


def _say_twins(twins: Sequence[Twins]) -> str:
    first, *others = twins
    answers, why = (
        ("the same", "did one copy") if first.kind == "copied" else ("mirrored", "is one scale turned around")
    )
    more = f", and {counted(len(others), 'more pair')} of people likewise" if others else ""
    who = " and ".join(first.annotators)
    return f"{who} gave {answers} answers to {first.items:,} items in a row{more}: {why}?"


def _say_alike(alike: Alike) -> str:
    first, second = alike.systems
    items = {"score": "shared items", "rank": "shared screens", "text": "shared segments"}[alike.what]
    # Never rounded up to all.
    share = f"{math.floor(100 * alike.same / alike.shared)}% of {alike.shared:,}"
    share = f"all {alike.shared:,}" if alike.same == alike.shared else share
    return f"{first} and {second} have the same {alike.what} on {share} {items}: is one a copy of the other?"
