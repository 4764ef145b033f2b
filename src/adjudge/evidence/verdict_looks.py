"""What a look at a growing campaign settles, and whether to go on, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.evidence.verdict_facts import claim_better, claim_top
from adjudge.table.wording import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.evidence.look_claims import LookClaim
    from adjudge.table.record import CampaignRecord, LooksRecord

HARDLY = 0.1
"""Below this chance to be settled within the plan, a claim is called hardly decidable. Advice only."""
TOO_WIDE = 10
"""If intervals would shrink by more than this factor, their present width says nothing."""
NONE_AS_SHOWN = 0.05
"""Fewer pairs than this are shown as none."""


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
        left_open = "it stays open" if top else f"{_say_waiting(waiting, claims)} {stay}"
        return True, f"Stop: the planned judgments are in; {left_open}."
    open_ = f"{_say_waiting(waiting, claims)} {agreeing(len(waiting), 'is', 'are')} not settled yet"
    if 1 < len(claims) == len(waiting):
        open_ = f"none of the {len(claims)} pairs is settled yet"
    if top:
        open_ = f"{waiting[0].claim} is not settled yet".replace(" is the best system is", " as the best system is")
    if all(claim.chance is not None and claim.chance < HARDLY for claim in waiting):
        return (
            False,
            f"{open_[:1].upper()}{open_[1:]}; the chance to settle more within the plan is below {HARDLY:.0%}.",
        )
    left = planned - judgments
    within = [claim.needed for claim in waiting if claim.needed is not None and claim.needed <= left]
    if not within:
        return False, f"Go on: {open_}. To settle more, the {left:,} judgments that are left are probably too few."
    beyond, more = len(waiting) - len(within), counted(max(within), "more judgment")
    if not beyond or top:
        return False, f"Go on: {open_}. About {more} should settle {agreeing(len(waiting), 'it', 'them')}."
    others = f"the other {beyond} {agreeing(beyond, 'is', 'are')} so close that the plan is probably too small for"
    return (
        False,
        f"Go on: {open_}. About {more} should settle {len(within)} of them; {others} {agreeing(beyond, 'it', 'them')}.",
    )


def _say_waiting(waiting: Sequence[LookClaim], claims: Sequence[LookClaim]) -> str:
    if len(claims) == 1:
        return "the pair"
    return f"all {len(claims)} pairs" if len(waiting) == len(claims) else f"{len(waiting)} of {len(claims)} pairs"


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
        settled = f"settle about {expected:.{0 if expected >= 1 else 1}f} of the {open_pairs} open pairs"
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
