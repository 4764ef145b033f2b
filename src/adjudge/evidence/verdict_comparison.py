"""Whether two rankings of the same systems agree, in words: two campaigns, people and a program, two methods."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from adjudge.table.wording import agreeing, counted, listed, measured, short_list

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from adjudge.evidence.verdict_facts import Pair


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


def say_moved(system: str, first: tuple[str, int], second: tuple[str, int], reason: str) -> str:
    """That a system has one rank by one way and another by another, and the main reason."""
    why = f": {reason}" if reason else ""
    return f"{system} is {say_place(first[1])} by {first[0]} and {say_place(second[1])} by {second[0]}{why}."


def say_reason_for_place(way: str, rank: int, reason: str) -> str:
    """Why a system has another rank by one way alone."""
    return f"{say_place(rank)} by {way}: {reason}"


def _points(amount: float) -> str:
    size = abs(amount)
    return measured(float(f"{size:.1f}" if size >= 1 else f"{size:.2g}"), "point")


def _worth(amount: float) -> str:
    """What a reason took off the mean of a system, or added to it, in points."""
    points = _points(amount)
    return f"which took {points} off its mean" if amount < 0 else f"which added {points} to its mean"


def say_strictness(amount: float, share: float, *, extreme: bool) -> str:
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


def say_what_judged(part: str, amount: float) -> str:
    """What else in its judgments held a system down, or up, compared with the average system."""
    if part == "tasks":
        how = f"its tasks were judged more {'strictly' if amount < 0 else 'generously'}"
    elif part == "tastes":
        how = f"its busiest judges like it {'less' if amount < 0 else 'more'}"
    elif part == "pages":
        how = f"it did {'worse' if amount < 0 else 'better'} on long documents"
    elif part == "rest":
        how = f"its outputs with few judgments scored {'low' if amount < 0 else 'high'}"
    else:
        how = f"its {part} are {'harder' if amount < 0 else 'easier'} than average"
    return f"{how}, {_worth(amount)}"


def say_set_aside(rows: int, all_rows: int, amount: float) -> str:
    """How many of a system's judgments do not count, and what they did to it."""
    left_out = agreeing(rows, "is set aside", "are set aside")
    return f"{rows:,} of its {all_rows:,} judgments {left_out}, {_worth(amount)}"


def say_own_means(amount: float) -> str:
    """What z-scores do first: take off the average that each person gives. `amount` is what the system gains by it."""
    how = "low" if amount > 0 else "high"
    return f"z-scores take off each person's mean, and its judges score {how}: {_signed(amount)}"


def say_z_distortion(amount: float, seen: float, systems: int) -> str:
    """That z-scores also take off the quality of what each person judged; `amount` is what this did to the system.

    Args:
        amount: in points, compared with the average system.
        seen: how many systems those who judged it saw, on average.
        systems: how many there are.
    """
    what = "better" if amount < 0 else "weaker"
    whom = f" ({seen:.0f} of {systems} systems)" if seen < systems - 0.5 else ""
    taken_for = "generosity" if amount < 0 else "strictness"
    return f"its judges had {what} outputs{whom}, which z-scores take for {taken_for}: {_signed(amount)}"


def _signed(amount: float) -> str:
    return f"{'+' if amount > 0 else '-'}{_points(amount)}"


def say_disasters(share: float, of_all: float) -> str:
    """Why the average and the typical score of a system stand apart."""
    more = "more" if share > of_all else "fewer"
    return f"{share:.1%} of its scores are very low, {more} than in all ({of_all:.1%}), and only averages count them"


def say_official_lines(others: int) -> str:
    """That no official line separates a system from others above it."""
    return f"no official line separates it from {counted(others, 'system')} above it"


def say_others_moved(amount: float | None) -> str:
    """That a system changed places because others moved."""
    own = "" if amount is None else f" (this one's distance from the average changed by {_points(amount)})"
    return f"other systems moved{own}"


def say_ties(share: float, of_all: float) -> str:
    """That ties helped or hurt a system by wins-or-ties, where they count as won; expected-wins leaves them out."""
    return f"{share:.0%} of its comparisons are ties ({of_all:.0%} in all), which only wins-or-ties counts as won"


def say_opponents(amount: float) -> str:
    """That a system met stronger, or weaker, opponents than an even spread has; in log-odds."""
    return f"it met {'stronger' if amount > 0 else 'weaker'} opponents than an even spread has ({amount:+.2f} log-odds)"


def say_busy_annotator(share: float, by_one: float, by_others: float) -> str:
    """That one busy annotator, whose taste counts for less in the model, made many of a system's comparisons."""
    return (
        f"one annotator made {share:.0%} of its comparisons, and it won {by_one:.0%} of these, "
        f"{by_others:.0%} of others'"
    )


def say_flips(what: str, divisors: Sequence[str], flips: Mapping[str, Sequence[int]]) -> str:
    """How many pairs of other systems changed their order by each method when some scores were divided."""
    said = [f"{what[:1].upper()}{what[1:]} were divided by {listed(divisors)}."]
    for method, numbers in flips.items():
        flipped = f"so many pairs of others flip: {listed([*map(str, numbers)])}"
        said.append(f"By {method}, {flipped if any(numbers) else 'no pair of others flips'}.")
    return " ".join(said)


# A published ranking beside ours


def say_reaudited(published: str, verdicts: Mapping[str, str]) -> str:
    """What of a published ranking holds, to cite; `verdicts` has that of every difference."""
    if not verdicts:
        return f"The published ranking ({published}) tells no two of the judged systems apart."
    counts = {name: list(verdicts.values()).count(name) for name in dict.fromkeys(verdicts.values())}
    parts = [
        f"{counts[name]} {agreeing(counts[name], *form)}"
        for name, form in {
            "holds": ("holds", "hold"),
            "needs more people": ("needs more people", "need more people"),
            "fragile": ("is fragile", "are fragile"),
            "not supported": ("is not supported", "are not supported"),
            "contradicted": ("is contradicted", "are contradicted"),
        }.items()
        if name in counts
    ]
    of_all = f"{counted(len(verdicts), 'difference')} in the published ranking ({published})"
    return f"Of {of_all}, {listed(parts)} by the released judgments."


def say_rule_found(rule: str, *, reproduced: bool) -> str:
    """Whether a rule gives the published order on the released rows."""
    if reproduced:
        return f"The rule {rule} gives the published order on the released judgments."
    return f"No rule that was tried gives exactly the published order on the released judgments; {rule} is taken."


def say_rows(rule: str, rank: int) -> str:
    """A system has another rank by the rule of the publication on the released rows."""
    return f"rows or rule: {rule} on the released judgments puts it {say_place(rank)}"


def say_filter(people: int, rank: int) -> str:
    """A system moves without those who fail."""
    return f"filter: without {counted(people, 'annotator')} who {agreeing(people, 'fails', 'fail')}, {say_place(rank)}"


def say_model(reason: str, rank: int) -> str:
    """A system moves by the model; the reason is that of the explanation."""
    return f"model: {say_place(rank)}{f', since {reason}' if reason else ', by who judged it and what was judged'}"


def say_lost(
    step: Literal["rows", "filter", "model", "correction"],
    rule: str,
    p: float | None,
    *,
    turned: bool,
    found: Literal["nothing", "the opposite", "one reading"],
) -> str:
    """Why a published difference is not found from this step on.

    Args:
        step: the first step that does not find it.
        rule: the rule of the publication.
        p: of the step's test, whichever system it puts first.
        turned: whether our estimate is the opposite.
        found: what the step's test finds below the level: one reading of two is not enough.
    """
    value = "" if p is None else f" (p {'< .001' if p < 0.001 else f'= {p:.3f}'.replace('0.', '.')})"
    if found == "one reading":
        why = f"of typical and average scores, only one finds it{value}"
    elif found == "the opposite":
        who = {"rows": f"{rule} on the released judgments", "filter": f"{rule} without those who fail"}
        why = f"{who.get(step, 'our model')} finds the opposite{value}"
    else:
        why = {
            "rows": f"{rule} on the released judgments does not find it{value}",
            "filter": f"{rule} does not find it without those who fail{value}",
            "model": f"it is not significant once annotators and texts are allowed for{value}",
            "correction": f"it is not significant among all pairs{value}",
        }[step]
    other = "points that way, too" if found == "the opposite" else "points the other way"
    return f"{why}; our estimate {other}" if turned and (step in ("rows", "filter") or found == "nothing") else why


def reaudit_steps(rule: str, people: int) -> dict[str, str]:
    """The steps from a published ranking to ours, in words."""
    without = (
        f"without {counted(people, 'annotator')} who {agreeing(people, 'fails', 'fail')}" if people else "nobody fails"
    )
    return {
        "rows": f"{rule} on all released judgments",
        "filter": f"the same rule, {without}",
        "model": "our model, every pair by itself",
        "correction": "our model, corrected for all pairs",
    }


def say_gallery(campaigns: int, verdicts: Sequence[str]) -> str:
    """How much of several published rankings holds."""
    held = verdicts.count("holds")
    against = verdicts.count("contradicted")
    of_all = f"Of {counted(len(verdicts), 'published difference')} in {counted(campaigns, 'campaign')}"
    both = f"{held} {agreeing(held, 'holds', 'hold')} and {against} {agreeing(against, 'is', 'are')} contradicted"
    return f"{of_all}, {both}."
