"""Changes to relative judgments that should not matter: something left out, or comparisons counted differently.

Besides leaving out systems, annotators and source segments: ties dropped; repeats by the same annotator dropped, and
the comparisons of a block of k systems weighed by 1 / (k - 1), because neither are independent (Lopez 2012, section 5);
only comparisons between neighbours in the order, or only between distant systems, because ratios depend on whom a
system met.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.comparisons import NOBODY, segment_keys
from adjudge.rank.counts import labelling_annotators
from adjudge.results.audit.stability import ChangeFamily

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from adjudge.core.arrays import Bools
    from adjudge.core.comparisons import Comparisons
    from adjudge.core.judgments import Judgments


MOST_LEFT_OUT = 30
"""Of annotators and of segments, so many with the most comparisons are left out in turn."""


@dataclass(frozen=True, eq=False)
class RelativeChange:
    """One change: what it is called, which systems it removes, and the comparisons that are left."""

    name: str
    family: ChangeFamily
    removed: Bools
    apply: Callable[[Comparisons], Comparisons]
    weighted: bool = False
    """Whether comparisons weigh by the size of their block."""


def segment_names(judgments: Judgments) -> tuple[str, ...]:
    """Document and segment of every source segment, by its code in comparisons."""
    keys = segment_keys(judgments).select("document", "segment")
    return tuple(" ".join(str(part) for part in row if part is not None) or NOBODY for row in keys.iter_rows())


def all_changes(
    compared: Comparisons, order: NDArray[np.int64], segments: Sequence[str] | None = None
) -> Iterator[RelativeChange]:
    """Every change that applies, given the systems in order, the best first, and the names of segments by code."""
    yield from _systems_removed(compared, order)
    nobody = np.zeros(len(compared.systems), dtype=bool)
    yield RelativeChange("ties dropped", ChangeFamily.TIES_DROPPED, nobody, _without_ties)
    named = _named(compared, segments)
    if named.any():
        yield RelativeChange("repeats dropped", ChangeFamily.REPEATS_DROPPED, nobody, _without_repeats(named))
    yield RelativeChange("longer blocks weighed down", ChangeFamily.BLOCKS_WEIGHTED, nobody, lambda c: c, weighted=True)
    near = near_pairs(order)
    for name, family, kept in (
        ("only neighbours in the order", ChangeFamily.NEIGHBOURS_ONLY, near),
        ("only distant systems", ChangeFamily.DISTANT_ONLY, ~near),
    ):
        yield RelativeChange(name, family, nobody, _only_pairs(kept))
    yield from _units_removed(compared, nobody, segments)


def near_pairs(order: NDArray[np.int64]) -> Bools:
    """Pairs of systems whose ranks differ by a quarter of the systems at most, and by one at least."""
    rank = np.argsort(order)
    return np.asarray(np.abs(rank[:, None] - rank[None, :]) <= max(1, len(order) // 4))


def _systems_removed(compared: Comparisons, order: NDArray[np.int64]) -> Iterator[RelativeChange]:
    everyone = np.arange(len(compared.systems))
    if compared.human.any() and not compared.human.all():
        yield _removal("human removed", ChangeFamily.HUMAN_REMOVED, compared.human)
    if len(order) < 3:
        return
    yield _removal("lowest removed", ChangeFamily.LOWEST_REMOVED, everyone == order[-1])
    yield _removal("highest removed", ChangeFamily.HIGHEST_REMOVED, everyone == order[0])
    for system in order[1:-1]:
        yield _removal(f"without {compared.systems[system]}", ChangeFamily.SYSTEM_REMOVED, everyone == system)


def _removal(name: str, family: ChangeFamily, removed: Bools) -> RelativeChange:
    return RelativeChange(name, family, removed, lambda compared: compared.without(removed))


def _units_removed(compared: Comparisons, nobody: Bools, segments: Sequence[str] | None) -> Iterator[RelativeChange]:
    judged = labelling_annotators(compared)
    if len(judged) > 2:
        for code in _busiest(compared.annotator):
            others = judged[judged != code]
            name = f"without annotator {compared.annotators[code]}"
            yield RelativeChange(name, ChangeFamily.ANNOTATOR_REMOVED, nobody, _of_annotators(others))
    busiest = _busiest(compared.segment)
    if len(busiest) > 1:
        for code in busiest:
            name = f"without source segment {code if segments is None else segments[code]}"
            yield RelativeChange(name, ChangeFamily.SEGMENT_REMOVED, nobody, _without_segment(int(code)))


def untried_notes(compared: Comparisons, most: int) -> Iterator[str]:
    """Which annotators and segments are not left out in turn, because only the busiest are."""
    for name, codes in (("annotators", compared.annotator), ("source segments", compared.segment)):
        number = len(np.unique(codes))
        if number > most:
            yield f"of {number:,} {name}, the {most} with the most comparisons are left out in turn"


def _busiest(codes: NDArray[np.int32]) -> NDArray[np.int64]:
    work = np.bincount(codes)
    return np.argsort(-work, kind="stable")[: min(MOST_LEFT_OUT, int((work > 0).sum()))]


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
