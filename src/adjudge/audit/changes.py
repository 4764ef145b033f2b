"""Changes to the data after which a good ranking stays as it is (Knowles 2021).

A change acts on the raw scores, before annotators' means and standard deviations are taken. The systems it removes are
left out of both rankings that are compared; of the original one only after everything else was computed from all data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.audit.margins import scale_of
from adjudge.results.audit.stability import ChangeFamily

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from adjudge.core.score_sheet import Sheet

DIVISORS = (1.25, 1.5, 2.0, 4.0, 10.0)
# What is removed with human translations: their genuine rows alone, so that their degraded versions stay as the
# controls they are, or all rows under their names, as the script of the published study does.
GENUINE, ALL_ROWS = "genuine", "all-rows"
REMOVALS = (GENUINE, ALL_ROWS)


@dataclass(frozen=True, eq=False)
class Change:
    """One change: what it does to the sheet, and which systems (marked by index) neither ranking shows."""

    name: str
    family: ChangeFamily
    removed: NDArray[np.bool_]
    apply: Callable[[Sheet], Sheet]
    divisor: float | None = None
    annotator: int | None = None
    """Who is left out, where that is all: the z-scores of the others stay as they are."""


def all_changes(
    sheet: Sheet, order: NDArray[np.int64], *, removal: str = GENUINE, most_left_out: int | None = None
) -> Iterator[Change]:
    """Every change that makes sense for these scores; `order` is the original ranking, the best first.

    Of annotators and documents, at most so many are left out one by one, those with the most judgments.
    """
    yield from human_changes(sheet, removal)
    if len(order) > 2:
        yield _system_removed(sheet, int(order[-1]), "lowest removed", ChangeFamily.LOWEST_REMOVED)
        yield _system_removed(sheet, int(order[0]), "highest removed", ChangeFamily.HIGHEST_REMOVED)
        yield from _lowest_raised(sheet, order)
        for system in order:
            yield _system_removed(sheet, int(system), f"without {sheet.systems[system]}", ChangeFamily.SYSTEM_REMOVED)
    nobody = np.zeros(len(sheet.systems), dtype=bool)
    for code, name in _several(sheet.annotators, sheet.annotator[sheet.rated], most_left_out):
        apply = _without(lambda sheet: sheet.annotator, code)
        yield Change(f"without annotator {name}", ChangeFamily.ANNOTATOR_REMOVED, nobody, apply, annotator=code)
    for code, name in _several(sheet.documents, sheet.document[sheet.rated], most_left_out):
        apply = _without(lambda sheet: sheet.document, code)
        yield Change(f"without document {name}", ChangeFamily.DOCUMENT_REMOVED, nobody, apply)


def human_changes(sheet: Sheet, removal: str = GENUINE) -> Iterator[Change]:
    """Human translations and reference controls removed, or made worse by dividing their scores."""
    # Where people's translations were never ranked, they may still have been shown as controls, and count in z-scores.
    judged = sheet.human.any() or sheet.of_kind("reference").any()
    if not judged or (~sheet.human).sum() < 2:
        return
    if removal == ALL_ROWS:
        name = "human, its degraded versions and references removed"
        yield Change(name, ChangeFamily.HUMAN_REMOVED, sheet.human, _without_all_rows_of_human)
    else:
        yield Change("human and references removed", ChangeFamily.HUMAN_REMOVED, sheet.human, _without_human)
    for divisor in DIVISORS:
        name = f"human divided by {divisor:g}"
        yield Change(name, ChangeFamily.HUMAN_DIVIDED, sheet.human, _human_divided(divisor), divisor)


def _lowest_raised(sheet: Sheet, order: NDArray[np.int64]) -> Iterator[Change]:
    """The lowest quarter of the systems made better: their distance from the top of the scale is divided.

    Knowles (2021, footnote 15) notes that inflating the scores of poor systems has a similar effect as deflating those
    of humans, and that scores of zero need thought. Distances from the top do not depend on where zero is.
    """
    systems = [int(system) for system in order if not sheet.human[system]]
    if len(systems) < 3:
        return
    raised = np.zeros(len(sheet.systems), dtype=bool)
    raised[systems[-max(1, len(systems) // 4) :]] = True
    for divisor in DIVISORS:
        name = f"lowest raised by {divisor:g}"
        yield Change(name, ChangeFamily.LOWEST_RAISED, raised, _raised(raised, divisor), divisor)


def _raised(systems: NDArray[np.bool_], divisor: float) -> Callable[[Sheet], Sheet]:
    def apply(sheet: Sheet) -> Sheet:
        top = scale_of(sheet.score).high
        touched = sheet.of_systems(systems) & ~sheet.of_kind("degraded")
        return sheet.with_scores(np.where(touched, top - (top - sheet.score) / divisor, sheet.score))

    return apply


def _several(names: tuple[str, ...], used: NDArray[np.int64], most: int | None) -> list[tuple[int, str]]:
    """The names that were used most, if there are at least two: with one, nothing would be left without it."""
    count = np.bincount(used[used >= 0], minlength=len(names))
    codes = np.flatnonzero(count)
    if most is not None:
        codes = np.sort(codes[np.argsort(-count[codes], kind="stable")[:most]])
    return [(int(code), names[code]) for code in codes] if len(codes) > 1 else []


def _without_human(sheet: Sheet) -> Sheet:
    # Degraded references stay: they were never meant to be a good translation.
    human = sheet.of_systems(sheet.human) & ~sheet.of_kind("degraded")
    return sheet.keep(~(human | sheet.of_kind("reference")))


def _without_all_rows_of_human(sheet: Sheet) -> Sheet:
    return sheet.keep(~(sheet.of_systems(sheet.human) | sheet.of_kind("reference")))


def _human_divided(divisor: float) -> Callable[[Sheet], Sheet]:
    def apply(sheet: Sheet) -> Sheet:
        touched = sheet.of_systems(sheet.human) | sheet.of_kind("reference")
        return sheet.with_scores(np.where(touched, sheet.score / divisor, sheet.score))

    return apply


def _system_removed(sheet: Sheet, system: int, name: str, family: ChangeFamily) -> Change:
    removed = np.zeros(len(sheet.systems), dtype=bool)
    removed[system] = True
    return Change(name, family, removed, lambda whole: whole.keep(~whole.of_systems(removed)))


def _without(column: Callable[[Sheet], NDArray[np.int64]], code: int) -> Callable[[Sheet], Sheet]:
    return lambda sheet: sheet.keep(column(sheet) != code)
