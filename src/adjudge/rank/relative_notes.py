"""What must be said of a ranking from relative judgments: few people, tastes ignored, cycles, unbounded leads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.wording import agreeing, counted
from adjudge.rank.significance import circles, contradicted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from adjudge.rank.counts import Tally
    from adjudge.rank.methods import Method
    from adjudge.rank.resampling_units import Units
    from adjudge.rank.significance import Separation

VERY_FEW = 3
"""Up to so many people, whatever is told rests on each of them."""
FEW = 8
"""Below so many people who share the work evenly, intervals from resampling them are too narrow."""
MOST_SHOWN = 3
_SHARED_LUCK = "judgments of one text share its luck, and errors are too small where texts were judged several times"
TEXTS_NOT_NAMED = f"segments are not named: {_SHARED_LUCK}; name the segments"
COUNTED_WITHOUT_TEXTS = f"comparisons were counted without their segments: {_SHARED_LUCK}"


def effective_people(units: Units) -> float:
    """How many annotators who share the work evenly the annotators are worth: (sum of work)^2 / sum of squares."""
    n = len(units.systems)
    work = np.asarray(units.counts[:, : 2 * n * n].sum(axis=1)).ravel()
    return float(work.sum() ** 2 / (work**2).sum())


def few_people_note(units: Units) -> Iterator[str]:
    """Say that two or three people decide."""
    if units.number <= VERY_FEW:
        people = "these" if units.unnamed else f"these {units.number} people"
        yield f"only {_people(units)}: tastes are allowed for, but all that is told rests on {people}; ask more"


def _people(units: Units) -> str:
    """Who judged; those without a name, however many they are, are no number of people."""
    if not units.unnamed:
        return counted(units.number, "annotator")
    return f"{counted(units.number - 1, 'annotator')} and judgments without a name, which count as one person's"


def unnamed_people_note(unnamed: int, what: str, *, by_task: bool = False) -> Iterator[str]:
    """Say that judgments without an annotator, among others with one, count as one person's: all, or of each task."""
    if unnamed:
        named = counted(unnamed, f"{what} names", f"{what}s name")
        they = agreeing(unnamed, "it counts as that", "they count as those")
        whose = "one more person for each task" if by_task else "one more person"
        yield f"{named} no annotator: {they} of {whose}; name the annotators"


def lone_judge_note(systems: Sequence[str], wins: NDArray[np.float64], ties: NDArray[np.float64]) -> Iterator[str]:
    """Say which systems one of several annotators alone judged, from counts by annotator (people, n, n)."""
    met = wins.sum(2) + wins.sum(1) + ties.sum(2)
    yield from one_judge(systems, (met > 0).sum(0))


def one_judge(systems: Sequence[str], judges: NDArray[np.int64]) -> Iterator[str]:
    """Say which systems have one judge, given how many each has."""
    alone = [name for name, number in zip(systems, judges, strict=True) if number == 1]
    if alone:
        shown = ", ".join(alone[:MOST_SHOWN]) + (f" and {len(alone) - MOST_SHOWN} more" if alone[MOST_SHOWN:] else "")
        was = "was judged by one annotator" if len(alone) == 1 else "were judged by one annotator each"
        yield f"{shown} {was}: what is told of {'it' if len(alone) == 1 else 'them'} rests on that person's taste"


def resampling_notes(units: Units, significance: str, method: Method) -> Iterator[str]:
    """Say what resampling so few people, or the sign test, leaves out."""
    if units.kind != "annotators":
        who = "those who judged" if units.unnamed else "this person"
        yield (
            f"fewer than two annotators are known, so {units.kind} were resampled: what is told holds for {who} only, "
            "and no line is drawn"
        )
        return
    yield from unnamed_people_note(units.unnamed, "comparison")
    worth = effective_people(units)
    instead = "" if method.significance == "tastes" else "; bradley-terry allows for it"
    if worth < FEW:
        alike = "" if worth > 0.9 * units.number else f", worth {worth:.1f} who share the work evenly"
        yield (
            f"only {_people(units)}{alike}: intervals, rank sets and lines from resampling so few "
            f"people are too narrow{instead}"
        )
    if significance == "sign":
        yield f"p-values are sign tests, which ignore that annotators have tastes{instead}"


def evidence_notes(tally: Tally, scores: NDArray[np.float64], level: float) -> Iterator[str]:
    """Say where nothing was decided, where systems beat each other in a circle, and where scores contradict a pair."""
    if not tally.wins.any():
        yield "every comparison is a tie: nothing tells the systems apart"
        return
    for group in circles(tally.wins, level):
        names = ", ".join(tally.systems[i] for i in group)
        yield f"{names} beat each other in a circle by their own comparisons, so no order agrees with all of these"
    order = np.argsort(-scores, kind="stable")
    earlier = np.argsort(order)[:, None] < np.argsort(order)[None, :]
    better, worse = np.nonzero(contradicted(scores, tally.wins) & earlier & (tally.wins < tally.wins.T))
    if len(better):
        shown = [
            f"{tally.systems[i]} won {tally.wins[i, j]:.0f} and lost {tally.wins[j, i]:.0f} against {tally.systems[j]}"
            for i, j in zip(better[:MOST_SHOWN], worse[:MOST_SHOWN], strict=True)
        ]
        more = f" and {len(better) - MOST_SHOWN} more" if len(better) > MOST_SHOWN else ""
        yield f"scores contradict a pair's own comparisons, where nothing is claimed: {'; '.join(shown)}{more}"


def unopposed_note(tally: Tally, apart: Separation) -> Iterator[str]:
    """Say whose strength no judgment bounds."""
    leading = apart.unbounded & (apart.leads | apart.leads.T).any(axis=1)
    if leading.any():
        names = ", ".join(name for name, leads in zip(tally.systems, leading, strict=True) if leads)
        doubt = "how large it is, the prior alone decides; p-values come from how often it was seen"
        yield f"no judgment contradicts the lead or lag of {names}: {doubt}"
