"""Changes to the data after which a good ranking stays as it is (Knowles 2021).

Of scores, a change acts on the raw ones, before annotators' means and standard deviations are taken. The systems it
removes are left out of both rankings that are compared; of the original one only after everything else was computed
from all data.

Of relative judgments, besides leaving out systems, annotators and source segments: ties dropped; repeats by the same
annotator dropped, and the comparisons of a block of k systems weighed by 1 / (k - 1), because neither are independent
(Lopez 2012, section 5); only comparisons between neighbours in the order, or only between distant systems, because
ratios depend on whom a system met.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Generic, Self, TypeVar

import numpy as np

from adjudge.ranking.counts import labelling_annotators
from adjudge.table.comparisons import NOBODY, Comparisons
from adjudge.table.errors import UsageError, param

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from adjudge.table.maths import Bools
    from adjudge.table.score_sheet import Sheet


# The families of changes to the data.


class ChangeFamily(StrEnum):
    """Kinds of changes to the data."""

    unit: str
    """What is removed or changed, such as `annotator`."""

    def __new__(cls, words: str, unit: str) -> Self:
        """A family by its words and what is removed or changed."""
        family = str.__new__(cls, words)
        family._value_ = words
        family.unit = unit
        return family

    HUMAN_REMOVED = "human removed", "human"
    REFERENCES_REMOVED = "references removed", "references"
    HUMAN_DIVIDED = "human divided", "human"
    LOWEST_REMOVED = "lowest removed", "lowest"
    HIGHEST_REMOVED = "highest removed", "highest"
    LOWEST_RAISED = "lowest raised", "lowest"
    SYSTEM_REMOVED = "system removed", "system"
    ANNOTATOR_REMOVED = "annotator removed", "annotator"
    DOCUMENT_REMOVED = "document removed", "document"
    SEGMENT_REMOVED = "segment removed", "segment"
    TIES_DROPPED = "ties dropped", "ties"
    REPEATS_DROPPED = "repeats dropped", "repeats"
    BLOCKS_WEIGHTED = "blocks weighted", "blocks"
    NEIGHBOURS_ONLY = "neighbours only", "neighbours"
    DISTANT_ONLY = "distant pairs only", "distant"

    def label(self, divisor: float | None = None) -> str:
        """The family in words, with the divisor where there is one."""
        return self.value if divisor is None else f"{self.value} by {divisor:g}"


ONCE_PER_PAIR = (
    ChangeFamily.HUMAN_REMOVED,
    ChangeFamily.REFERENCES_REMOVED,
    ChangeFamily.HUMAN_DIVIDED,
    ChangeFamily.LOWEST_REMOVED,
    ChangeFamily.HIGHEST_REMOVED,
    ChangeFamily.LOWEST_RAISED,
    ChangeFamily.TIES_DROPPED,
    ChangeFamily.REPEATS_DROPPED,
    ChangeFamily.BLOCKS_WEIGHTED,
    ChangeFamily.NEIGHBOURS_ONLY,
    ChangeFamily.DISTANT_ONLY,
)
"""Changes that are made once in a language pair (once for each divisor), not for every annotator or document."""


# The margin of equivalence in points: the largest difference at which two systems count as equally good.
#
# Three points are a convention of scales from 0 to 100. On a scale from 1 to 5 they would be most of it, so that any
# two systems would be at parity: on another scale there is no margin unless the user gives one, in points or as a
# share of the scale's spread (`5%`), which is the distance between its ends.


POINTS_OF_100 = 3.0
"""The margin where the scale is from 0 to 100 and none is given."""


@dataclass(frozen=True)
class Scale:
    """The ends of the scale on which scores were given."""

    low: float
    high: float

    @property
    def hundred(self) -> bool:
        """Whether the scale is from 0 to 100."""
        return (self.low, self.high) == (0.0, 100.0)

    @property
    def spread(self) -> float:
        """The distance between the ends."""
        return self.high - self.low


def scale_of(scores: NDArray[np.float64]) -> Scale:
    """The scale of the scores: 0 to 100 where they lie in it and reach above its middle, else their own ends."""
    low, high = float(scores.min()), float(scores.max())
    return Scale(0.0, 100.0) if low >= 0 and 50 < high <= 100 else Scale(low, high)


def check_margin(margin: float | str | None) -> None:
    """Refuse what is no margin."""
    if margin is not None:
        _parsed(margin)


def margin_in_points(margin: float | str | None, scores: NDArray[np.float64], *, default: bool = True) -> float | None:
    """The margin in points; None where none is given and the scale has no customary one.

    Args:
        margin: points, or a share of the scale's spread such as `5%`; None for the customary one.
        scores: all scores that were given, which tell the scale.
        default: whether there is a customary margin on a scale from 0 to 100.
    """
    scale = scale_of(scores)
    if margin is None:
        return POINTS_OF_100 if default and scale.hundred else None
    number, share = _parsed(margin)
    return number / 100 * scale.spread if share else number


def _parsed(margin: float | str) -> tuple[float, bool]:
    """The number, and whether it is a share of the scale's spread in percent."""
    text = str(margin).strip()
    share = text.endswith("%")
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        number = float("nan")
    if not 0 < number < float("inf"):
        raise UsageError(
            f"{param('margin')} is {margin}, it must be above 0: points such as 3, or a share of the scale such as 5%"
        )
    return number, share


DIVISORS = (1.25, 1.5, 2.0, 4.0, 10.0)
# What is removed with human translations: their genuine rows alone, so that their degraded versions stay as the
# controls they are, or all rows under their names, as the script of the published study does.
GENUINE, ALL_ROWS = "genuine", "all-rows"
REMOVALS = (GENUINE, ALL_ROWS)


BUSIEST = 30
"""Of annotators and of segments of relative judgments, so many with the most comparisons are left out in turn."""
Data = TypeVar("Data")


@dataclass(frozen=True, eq=False)
class Change(Generic[Data]):
    """One change: what it does to the data, and which systems (marked by index) neither ranking shows."""

    name: str
    family: ChangeFamily
    removed: Bools
    apply: Callable[[Data], Data]
    divisor: float | None = None
    annotator: int | None = None
    """Who is left out, where that is all: the z-scores of the others stay as they are."""
    weighted: bool = False
    """Whether comparisons weigh by the size of their block."""


def all_changes(
    sheet: Sheet, order: NDArray[np.int64], *, removal: str = GENUINE, most_left_out: int | None = None
) -> Iterator[Change[Sheet]]:
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


def human_changes(sheet: Sheet, removal: str = GENUINE) -> Iterator[Change[Sheet]]:
    """Human translations and reference controls removed, or made worse by dividing their scores."""
    # Where people's translations were never ranked, they may still have been shown as controls, and count in z-scores.
    judged = sheet.human.any() or sheet.of_kind("reference").any()
    if not judged or (~sheet.human).sum() < 2:
        return
    if removal == ALL_ROWS:
        name = "human, its degraded versions and references removed"
        yield Change(name, ChangeFamily.HUMAN_REMOVED, sheet.human, _without_all_rows_of_human)
    else:
        name = "human and references removed" if sheet.human.any() else "references removed"
        yield Change(name, ChangeFamily.HUMAN_REMOVED, sheet.human, _without_human)
    if sheet.human.any() and sheet.of_kind("reference").any():
        nobody = np.zeros(len(sheet.systems), dtype=bool)
        yield Change("references alone removed", ChangeFamily.REFERENCES_REMOVED, nobody, _without_references)
    for divisor in DIVISORS:
        name = f"{'human' if sheet.human.any() else 'references'} divided by {divisor:g}"
        yield Change(name, ChangeFamily.HUMAN_DIVIDED, sheet.human, _human_divided(divisor), divisor)


def _lowest_raised(sheet: Sheet, order: NDArray[np.int64]) -> Iterator[Change[Sheet]]:
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


def _raised(systems: Bools, divisor: float) -> Callable[[Sheet], Sheet]:
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


def _without_references(sheet: Sheet) -> Sheet:
    return sheet.keep(~sheet.of_kind("reference"))


def _without_all_rows_of_human(sheet: Sheet) -> Sheet:
    return sheet.keep(~(sheet.of_systems(sheet.human) | sheet.of_kind("reference")))


def _human_divided(divisor: float) -> Callable[[Sheet], Sheet]:
    def apply(sheet: Sheet) -> Sheet:
        touched = sheet.of_systems(sheet.human) | sheet.of_kind("reference")
        return sheet.with_scores(np.where(touched, sheet.score / divisor, sheet.score))

    return apply


def _system_removed(sheet: Sheet, system: int, name: str, family: ChangeFamily) -> Change[Sheet]:
    removed = np.zeros(len(sheet.systems), dtype=bool)
    removed[system] = True
    return Change(name, family, removed, lambda whole: whole.keep(~whole.of_systems(removed)))


def _without(column: Callable[[Sheet], NDArray[np.int64]], code: int) -> Callable[[Sheet], Sheet]:
    return lambda sheet: sheet.keep(column(sheet) != code)


def relative_changes(
    compared: Comparisons, order: NDArray[np.int64], segments: Sequence[str] | None = None
) -> Iterator[Change[Comparisons]]:
    """Every change that applies, given the systems in order, the best first, and the names of segments by code."""
    yield from _each_system_removed(compared, order)
    nobody = np.zeros(len(compared.systems), dtype=bool)
    yield Change("ties dropped", ChangeFamily.TIES_DROPPED, nobody, _without_ties)
    named = _named(compared, segments)
    if named.any():
        yield Change("repeats dropped", ChangeFamily.REPEATS_DROPPED, nobody, _without_repeats(named))
    yield Change("longer blocks weighed down", ChangeFamily.BLOCKS_WEIGHTED, nobody, lambda c: c, weighted=True)
    near = near_pairs(order)
    for name, family, kept in (
        ("only neighbours in the order", ChangeFamily.NEIGHBOURS_ONLY, near),
        ("only distant systems", ChangeFamily.DISTANT_ONLY, ~near),
    ):
        yield Change(name, family, nobody, _only_pairs(kept))
    yield from _units_removed(compared, nobody, segments)


def near_pairs(order: NDArray[np.int64]) -> Bools:
    """Pairs of systems whose ranks differ by a quarter of the systems at most, and by one at least."""
    rank = np.argsort(order)
    return np.asarray(np.abs(rank[:, None] - rank[None, :]) <= max(1, len(order) // 4))


def _each_system_removed(compared: Comparisons, order: NDArray[np.int64]) -> Iterator[Change[Comparisons]]:
    everyone = np.arange(len(compared.systems))
    if compared.human.any() and not compared.human.all():
        yield _removal("human removed", ChangeFamily.HUMAN_REMOVED, compared.human)
    if len(order) < 3:
        return
    yield _removal("lowest removed", ChangeFamily.LOWEST_REMOVED, everyone == order[-1])
    # Where the only human translation is the highest, it is removed already.
    if not np.array_equal(compared.human, everyone == order[0]):
        yield _removal("highest removed", ChangeFamily.HIGHEST_REMOVED, everyone == order[0])
    for system in order[1:-1]:
        yield _removal(f"without {compared.systems[system]}", ChangeFamily.SYSTEM_REMOVED, everyone == system)


def _removal(name: str, family: ChangeFamily, removed: Bools) -> Change[Comparisons]:
    return Change(name, family, removed, lambda compared: compared.without(removed))


def _units_removed(
    compared: Comparisons, nobody: Bools, segments: Sequence[str] | None
) -> Iterator[Change[Comparisons]]:
    judged = labelling_annotators(compared)
    if len(judged) > 2:
        for code in _busiest(compared.annotator):
            others = judged[judged != code]
            name = f"without annotator {compared.annotators[code]}"
            yield Change(name, ChangeFamily.ANNOTATOR_REMOVED, nobody, _of_annotators(others))
    busiest = _busiest(compared.segment)
    if len(busiest) > 1:
        for code in busiest:
            name = f"without source segment {code if segments is None else segments[code]}"
            yield Change(name, ChangeFamily.SEGMENT_REMOVED, nobody, _without_segment(int(code)))


def _busiest(codes: NDArray[np.int32]) -> NDArray[np.int64]:
    work = np.bincount(codes)
    return np.argsort(-work, kind="stable")[: min(BUSIEST, int((work > 0).sum()))]


def _of_annotators(codes: NDArray[np.int64]) -> Callable[[Comparisons], Comparisons]:
    return lambda compared: compared.of_annotators(codes)


def _without_segment(code: int) -> Callable[[Comparisons], Comparisons]:
    def apply(compared: Comparisons) -> Comparisons:
        blocks = np.zeros(len(compared.block_annotator), dtype=bool)
        blocks[compared.block[compared.segment == code]] = True
        return compared.keep(compared.segment != code, ~blocks[compared.label_block])

    return apply


def _only_pairs(kept: Bools) -> Callable[[Comparisons], Comparisons]:
    def apply(compared: Comparisons) -> Comparisons:
        return compared.keep(kept[compared.first, compared.second], np.ones(len(compared.label_rank), dtype=bool))

    return apply


def _without_ties(compared: Comparisons) -> Comparisons:
    return compared.keep(compared.outcome != 0, np.ones(len(compared.label_rank), dtype=bool))


def _named(compared: Comparisons, segments: Sequence[str] | None) -> Bools:
    """Comparisons that name annotator and segment: of the others nobody knows whether they repeat one."""
    people = np.array([name != NOBODY for name in compared.annotators], dtype=bool)[compared.annotator]
    if segments is None:
        return people
    return np.asarray(people & np.array([name != NOBODY for name in segments], dtype=bool)[compared.segment])


def _without_repeats(named: Bools) -> Callable[[Comparisons], Comparisons]:
    """The first time that an annotator compared two systems on a segment, and all that names neither."""

    def apply(compared: Comparisons) -> Comparisons:
        key = np.stack([compared.annotator, compared.segment, compared.first, compared.second])
        _, first = np.unique(key, axis=1, return_index=True)
        kept = ~named
        kept[first] = True
        return compared.keep(kept, np.ones(len(compared.label_rank), dtype=bool))

    return apply


def block_weights(compared: Comparisons) -> NDArray[np.float64]:
    """1 / (k - 1) for every comparison of a block of k systems, so that every label counts once."""
    size = np.bincount(compared.label_block, minlength=len(compared.block_annotator))
    return np.asarray(1.0 / np.maximum(size[compared.block] - 1, 1))
