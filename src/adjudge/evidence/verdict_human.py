"""How systems stand to a human translation, in words: better, worse, at parity or not separated, and conditions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from adjudge.evidence.verdict_facts import FEW_PEOPLE
from adjudge.table.wording import agreeing, counted, few_names, measured, short_list

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from adjudge.evidence.conditions import Conditions
    from adjudge.evidence.verdict_facts import Decisions, HumanStanding

FEWEST_BETTER = 2
"""So many systems, and more than half of all, must beat a human translation to raise an alarm about it."""
NOT_TOLD_APART = (
    "Not told apart",
    "The data do not show a difference between system and human. That is not the same as showing that there is none.",
)
ParityVerdict = Literal["below the human", "above the human", "at parity", "not told apart"]
PARITY_VERDICTS: tuple[ParityVerdict, ...] = ("above the human", "at parity", "not told apart", "below the human")
"""In the order in which they are told."""
_FEW_IN_PARITY = 3
FOR_FEW = {1: "For this one person only", 2: "For these two people only"}
"""What opens a sentence about the one or two people who judged."""


def say_parity_claim(claim: str, *, fragile: bool) -> str:
    """What a supported claim of parity means."""
    within = "the difference lies within the margin"
    return f"{claim}: {within}, but not in every audit." if fragile else f"{claim}: {within}, in every audit."


def say_humans(decisions: Decisions) -> list[str]:
    """How the systems stand to every human translation, each by itself.

    That no difference was found is told apart from parity, which is claimed only where it was tested. What one or two
    people say is said of them only.
    """
    few = FOR_FEW.get(decisions.annotators or 0)
    standings, judged = decisions.standings, say_judged_by(decisions.conditions)
    if few is not None:
        standings, judged = tuple(map(_without_numbers, standings)), ""
    sentences = [sentence for standing in standings for sentence in _against_human(standing, decisions.margin, judged)]
    return [_of_few(few, sentence) for sentence in sentences]


def _without_numbers(standing: HumanStanding) -> HumanStanding:
    """The standing where it is said already that only one or two people judged."""
    broken = tuple(name for name in standing.fragile if name not in standing.narrow)
    return replace(standing, fragile=broken, narrow=())


_TOLD_OF_NOBODY = ("The data do not separate", "Alarm", "Look first")
"""How sentences begin that are not about those who judged."""


def _of_few(few: str | None, sentence: str) -> str:
    """The sentence about the one or two people who judged."""
    if few is None or sentence.startswith(_TOLD_OF_NOBODY):
        return sentence
    return f"{few}: {sentence[:1].lower() + sentence[1:] if sentence.startswith('The human') else sentence}"


def _against_human(standing: HumanStanding, margin: float | None, judged: str) -> list[str]:
    human = standing.human
    if len(standing.worse) > 1 and not (standing.better or standing.parity or standing.open):
        return [_above_all(standing)]
    sentences = alarm_about_humans([standing])
    if not sentences:
        sentences = _by_strength(standing.better, standing, f"better than the human translation {human}", judged)
    if standing.parity and margin is not None:
        within = f"at parity with {human}, within {measured(margin, 'point')}"
        sentences += _by_strength(standing.parity, standing, within, judged)
    if standing.open:
        open_ = f"The data do not separate {few_names(standing.open)} from {human}"
        sentences.append(f"{open_}; that leaves the question open, it does not show that they are equal.")
    return sentences + _by_strength(standing.worse, standing, f"worse than the human translation {human}")


def _above_all(standing: HumanStanding) -> str:
    """The human translation is ahead of every system, of all or of some in every audit."""
    fragile = [name for name in standing.worse if name in standing.fragile]
    if not fragile:
        is_ = "is" if standing.audited else "comes out"
        return f"The human translation {standing.human} {is_} better than every system."
    parts = _weak_parts(standing.worse, standing)
    over = "" if len(parts) == 1 and len(fragile) == len(standing.worse) else "for {} "
    why = " and ".join(f"{over.format(few_names(part))}{say_why_weak(part, standing)}" for part in reversed(parts))
    return f"The human translation {standing.human} comes out better than every system, but {why}."


def _by_strength(names: Sequence[str], standing: HumanStanding, what: str, judged: str = "") -> list[str]:
    """What holds is said plainly; what is fragile, or was never audited, is no more than what comes out."""
    sure = [name for name in names if name not in standing.fragile]
    sentences = [f"{few_names(sure)} {_verb(sure, audited=standing.audited)} {what}{judged}."] if sure else []
    return sentences + [
        f"{few_names(part)} {_verb(part, audited=False)} {what}, but {say_why_weak(part, standing)}."
        for part in _weak_parts(names, standing)
    ]


def _weak_parts(names: Sequence[str], standing: HumanStanding) -> list[list[str]]:
    """Systems for which more people should judge, and those whose claim an audit breaks; neither part is empty."""
    narrow = [name for name in names if name in standing.narrow]
    broken = [name for name in names if name in standing.fragile and name not in narrow]
    return [part for part in (narrow, broken) if part]


def _verb(names: Sequence[str], *, audited: bool) -> str:
    return agreeing(len(names), "is", "are") if audited else agreeing(len(names), "comes out", "come out")


def alarm_about_humans(standings: Sequence[HumanStanding]) -> list[str]:
    """Where a human translation loses to most systems, something is more likely wrong than all of them superhuman."""
    return [
        sentence for one in standings for sentence in _alarm(one.human, len(one.better), sum(map(len, one.all_lists)))
    ]


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


def say_why_weak(names: Sequence[str], standing: HumanStanding) -> str:
    """Why claims about these systems do not hold."""
    return "more people should judge" if {*names} <= {*standing.narrow} else "not in every audit"


_WHOM = {"experts": ("expert", "experts"), "crowd": ("person of a crowd", "people of a crowd")}


def say_judged_by(conditions: Conditions | None) -> str:
    """By whom and how a claim about a human translation was judged, at the end of its sentence."""
    if conditions is None or conditions.people is None or conditions.accounts:
        return ""
    whom = agreeing(conditions.people, *_WHOM.get(conditions.raters or "", ("person", "people")))
    seen = {"pages": " in context", "segments": " without context"}.get(conditions.context or "", "")
    return f", as {conditions.people:,} {whom} judged{seen}"


def say_conditions_of(decisions: Decisions) -> tuple[str, ...]:
    """The conditions, where something is claimed that depends on them."""
    claimed = any(standing.better or standing.parity for standing in decisions.standings)
    return say_conditions(decisions.conditions) if claimed else ()


def say_conditions(conditions: Conditions | None) -> tuple[str, ...]:
    """Under which conditions a human translation was compared: what is known, and what is not."""
    if conditions is None:
        return ()
    people, original = conditions.people, conditions.original
    who = "" if people is None else counted(people, *(("account",) if conditions.accounts else ("person", "people")))
    # What is known of each condition, and what it is called where nothing is.
    told = (
        (who and f"by {who}", "how many people"),
        (conditions.raters and f"({conditions.raters})", "experts or crowd"),
        (conditions.shown and f"with the {conditions.shown}", "source or reference beside it"),
        (conditions.context and _CONTEXTS[conditions.context], "in context or not"),
        ("" if original is None else _say_original(original), "the original language"),
    )
    known, unknown = [words for words, _ in told if words], [name for words, name in told if not words]
    unknown += ["faults of the test set"] if conditions.checked is None else []
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


def say_parity(
    by_verdict: Mapping[ParityVerdict, Sequence[str]],
    human: str,
    margin: float | None,
    annotators: int | None,
    *,
    conditions: Conditions | None = None,
    beside: BesideRanking | None = None,
) -> tuple[str, ...]:
    """How systems stand to one human translation in a test of parity, one sentence per verdict.

    The first is the headline. Where one or two people judged, it is about them. Where most systems are above the
    human translation, an alarm comes first. What only a ranking decides (`beside`) is not said to be open.
    """
    above, systems = len(by_verdict.get("above the human", ())), sum(map(len, by_verdict.values()))
    judged = say_judged_by(conditions) if (annotators or 0) > FEW_PEOPLE else ""
    alarm = _alarm(human, above, systems)
    claimed = {"above the human", "at parity"} & {*by_verdict}
    beneath = say_conditions(conditions) if claimed else ()
    beside = beside or BesideRanking()
    told = {verdict: [name for name in names if name not in beside.decided] for verdict, names in by_verdict.items()}
    told = {verdict: names for verdict, names in told.items() if names}
    sentences = _parity_sentences(told, human, margin, annotators, judged) if told else ()
    return (*alarm, *sentences, *beside.sentences(human), *beneath)


def _parity_sentences(
    by_verdict: Mapping[ParityVerdict, Sequence[str]],
    human: str,
    margin: float | None,
    annotators: int | None,
    judged: str,
) -> tuple[str, ...]:
    (first, names), *others = by_verdict.items()
    # What cannot be told is not told of other people: nothing is said of those who judged.
    people = "" if first == "not told apart" else FOR_FEW.get(annotators or 0, "")
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


@dataclass(frozen=True)
class BesideRanking:
    """Where a test of parity and a ranking of all pairs differ: who is decided in one of them alone."""

    left_open: tuple[str, ...] = ()
    """Systems that are told from the human translation here, and not in a ranking."""
    decided: tuple[str, ...] = ()
    """Systems of which it is the other way round."""
    pairs: int = 0
    """For which a ranking corrects."""
    scores: bool = False
    """Whether typical scores must agree there."""

    def sentences(self, human: str) -> tuple[str, ...]:
        """Who, and why."""
        said = []
        if self.decided:
            alone, how = ("averages", "by typical scores") if self.scores else ("comparisons", "by all comparisons")
            whom = f"{few_names(self.decided)} from {human}"
            said.append(f"The {alone} with {human} alone do not tell {whom}; a ranking {how} does.")
        if self.left_open:
            more = " and asks that typical scores agree" if self.scores else ""
            open_ = f"A ranking leaves {few_names(self.left_open)} open"
            said.append(f"{open_}: it corrects for {counted(self.pairs, 'pair')}{more}.")
        return tuple(said)


def explain_parity(margin: float | None) -> str:
    """What the verdicts in a table of parity mean."""
    note = (
        "'Not told apart' is not proof of parity. Verdicts are corrected for all comparisons with the human (Holm), "
        "those of a ranking for all pairs."
    )
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
