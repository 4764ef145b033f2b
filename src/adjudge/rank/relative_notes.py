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
_SHARED_LUCK = "judgments of one text are not independent, so errors are too small if texts were judged several times"
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
        yield f"only {_people(units)}: tastes are allowed for, but the result rests on {people}; ask more"


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


def lone_judge_note(units: Units) -> Iterator[str]:
    """Say which systems one of several annotators alone judged."""
    n = len(units.systems)
    cells = units.counts[:, : 2 * n * n].tocoo()
    seen = np.zeros((units.counts.shape[0], n), dtype=bool)
    for system in divmod(cells.col[cells.data > 0] % (n * n), n):
        seen[cells.row[cells.data > 0], system] = True
    named = np.arange(len(seen)) != (-1 if units.nobody is None else units.nobody)
    yield from one_judge(units.systems, seen[named], seen[~named])


def one_judge(systems: Sequence[str], named: NDArray[np.bool_], unnamed: NDArray[np.bool_]) -> Iterator[str]:
    """Say which systems one of several annotators alone judged.

    Judgments without a name are nobody's: they may be those of the one person, or of several others.

    Args:
        systems: the systems.
        named: what each annotator with a name judged (people, systems).
        unnamed: what was judged without a name.
    """
    if len(named) < 2:
        return
    judges, by_others = named.sum(axis=0), unnamed.any(axis=0)
    yield from _few_judges("one annotator{}", "rests on that person's taste", systems, (judges == 1) & ~by_others)
    with_others = "rests on that person's taste and on judgments without a name"
    yield from _few_judges("one annotator{} with a name", with_others, systems, (judges == 1) & by_others)
    yield from _few_judges("nobody with a name", "may rest on one person's taste", systems, (judges == 0) & by_others)


def _few_judges(who: str, rests: str, systems: Sequence[str], judged_so: NDArray[np.bool_]) -> Iterator[str]:
    names = [name for name, chosen in zip(systems, judged_so, strict=True) if chosen]
    if names:
        shown = ", ".join(names[:MOST_SHOWN]) + (f" and {len(names) - MOST_SHOWN} more" if names[MOST_SHOWN:] else "")
        was, them = agreeing(len(names), "was", "were"), agreeing(len(names), "it", "them")
        by = who.format(agreeing(len(names), "", " each"))
        yield f"{shown} {was} judged by {by}: the result for {them} {rests}"


def resampling_notes(units: Units, significance: str, method: Method) -> Iterator[str]:
    """Say what resampling so few people, or the sign test, leaves out."""
    if units.kind != "annotators":
        who = "those who judged" if units.unnamed else "this person"
        yield (
            f"fewer than two annotators are known, so {units.kind} were resampled: the result holds for {who} only, "
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
        yield "every comparison is a tie, so the systems cannot be separated"
        return
    for group in circles(tally.wins, level):
        names = ", ".join(tally.systems[i] for i in group)
        yield f"the direct comparisons of {names} form a cycle, so no order agrees with all of them"
    order = np.argsort(-scores, kind="stable")
    earlier = np.argsort(order)[:, None] < np.argsort(order)[None, :]
    better, worse = np.nonzero(contradicted(scores, tally.wins) & earlier & (tally.wins < tally.wins.T))
    if len(better):
        shown = [
            f"{tally.systems[i]} won {tally.wins[i, j]:.0f} and lost {tally.wins[j, i]:.0f} against {tally.systems[j]}"
            for i, j in zip(better[:MOST_SHOWN], worse[:MOST_SHOWN], strict=True)
        ]
        more = f" and {len(better) - MOST_SHOWN} more" if len(better) > MOST_SHOWN else ""
        yield f"scores contradict the direct comparisons of a pair, so nothing is claimed: {'; '.join(shown)}{more}"


def unopposed_note(tally: Tally, apart: Separation) -> Iterator[str]:
    """Say whose strength no judgment bounds."""
    leading = apart.unbounded & (apart.leads | apart.leads.T).any(axis=1)
    if leading.any():
        names = ", ".join(name for name, leads in zip(tally.systems, leading, strict=True) if leads)
        doubt = "its size depends on the prior alone; p-values come from how often it was seen"
        yield f"no judgment contradicts the lead or lag of {names}: {doubt}"
