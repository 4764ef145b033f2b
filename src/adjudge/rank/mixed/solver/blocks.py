"""Which unknowns stay inside documents, so that the equations fall into blocks, and which reach across.

The place of every level is chosen by itself: most tastes are for one page or one document, and only those of annotators
who met a system in several documents reach across. Levels that hold the very same rows (a taste seen on one page, the
only task of an annotator) are one unknown whose variance is the sum of theirs. Both keep the border small, on which the
time of a fit depends.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.integer_codes import renumber
from adjudge.rank.mixed.effects import ACROSS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.core.arrays import Bools, Codes, Floats
    from adjudge.rank.mixed.effects import Effect


LARGEST_BLOCK = 3000
"""Core unknowns of one block above which its most numerous effect is moved to the border."""
_NOWHERE = -1


@dataclass(frozen=True, eq=False)
class Group:
    """Some of the unknowns: for each effect that has any here the unknown of every row (-1: none), and their kinds."""

    codes: tuple[Codes, ...]
    kind: Codes


@dataclass(frozen=True, eq=False)
class Unknowns:
    """The block of every row, the unknowns in each group, and what their kinds are.

    An unknown of a kind is the sum of the effects that `parts` (kinds, effects) marks by 1.
    """

    block: Codes
    border: Group
    core: Group
    absorbed: Group
    parts: Floats

    @property
    def levels(self) -> Codes:
        """How many unknowns there are of each kind."""
        every = np.concatenate([self.border.kind, self.core.kind, self.absorbed.kind])
        return np.bincount(every, minlength=len(self.parts))


def find_unknowns(effects: Sequence[Effect]) -> Unknowns:
    """Divide the unknowns. What is finest inside the blocks is absorbed, if something is left for the core."""
    levels = Levels(effects)
    inner = [number for number, effect in enumerate(effects) if effect.parts[0] not in ACROSS]
    while True:
        block = components([effects[number].codes for number in inner], levels.rows)
        inside = [inside_blocks(effect, block) if inner else np.zeros(effect.levels, dtype=bool) for effect in effects]
        whole = [number for number in range(len(effects)) if inside[number].all()]
        absorbed = max(reversed(whole), key=lambda number: effects[number].levels) if len(whole) > 1 else None
        core = levels.chosen(np.concatenate(inside or [np.zeros(0, dtype=bool)]), absorbed)
        if not core.codes or _largest(core, block) <= LARGEST_BLOCK:
            border = levels.chosen(~np.concatenate(inside or [np.zeros(0, dtype=bool)]), absorbed)
            return Unknowns(block, border, core, levels.whole(absorbed), levels.parts)
        moved = max(inner, key=lambda number: (number != absorbed, effects[number].levels))
        inner = [number for number in inner if number != moved]


class Levels:
    """The levels of all effects in one numbering, those that hold the same rows as one."""

    def __init__(self, effects: Sequence[Effect]) -> None:
        self.effects = effects
        self.rows = len(effects[0].codes) if effects else 0
        self.start = np.cumsum([0, *(effect.levels for effect in effects)])
        self.first = _first_alike(effects, self.start)
        """The first level that holds the same rows."""
        held = np.zeros(int(self.start[-1]), dtype=np.int64)
        for number, (start, end) in enumerate(pairwise(self.start)):
            # No two levels of one effect hold the same rows, so each bit is added once.
            held[self.first[start:end]] += 1 << number
        self.held = held[self.first]
        """Which effects have a level that holds the same rows, one bit each."""
        kinds, self.kind = np.unique(self.held, return_inverse=True)
        self.parts = (kinds[:, None] >> np.arange(len(effects)) & 1).astype(np.float64)

    def chosen(self, wanted: Bools, absorbed: int | None) -> Group:
        """The wanted levels, each set of equal ones once, without those that are absorbed."""
        places = wanted & (self.first == np.arange(len(self.first)))
        if absorbed is not None:
            places &= (self.held >> absorbed & 1) == 0
        number = np.where(places, np.cumsum(places) - 1, _NOWHERE)
        codes = [
            number[start:end][effect.codes]
            for effect, (start, end) in zip(self.effects, pairwise(self.start), strict=True)
            if places[start:end].any()
        ]
        return Group(tuple(codes), self.kind[places])

    def whole(self, effect: int | None) -> Group:
        """All levels of one effect, or none."""
        if effect is None:
            return Group((), np.empty(0, dtype=np.int64))
        return Group((self.effects[effect].codes,), self.kind[self.start[effect] : self.start[effect + 1]])


def _first_alike(effects: Sequence[Effect], start: Codes) -> Codes:
    """For each level the first one, of any effect, that holds the same rows."""
    first = np.arange(int(start[-1]))
    sizes = [np.bincount(effect.codes, minlength=effect.levels) for effect in effects]
    for later in range(1, len(effects)):
        later_effect = effects[later]
        row = _one_row_each(later_effect)
        for earlier in reversed(range(later)):
            other = effects[earlier].codes
            met = other[row]
            alike = sizes[earlier][met] == sizes[later]
            if alike.any():
                alike &= _constant(later_effect, other, met)
                first[start[later] : start[later + 1]][alike] = first[start[earlier] + met[alike]]
    return first


def _one_row_each(effect: Effect) -> Codes:
    """A row of each level."""
    row = np.empty(effect.levels, dtype=np.int64)
    row[effect.codes] = np.arange(len(effect.codes))
    return row


def _constant(effect: Effect, codes: Codes, met: Codes) -> Bools:
    """For each level of an effect whether all its rows have the code met in one of them."""
    constant = np.ones(effect.levels, dtype=bool)
    constant[effect.codes[met[effect.codes] != codes]] = False
    return constant


def inside_blocks(effect: Effect, block: Codes) -> Bools:
    """For each level whether it does not reach across blocks."""
    return _constant(effect, block, block[_one_row_each(effect)])


def components(codes: Sequence[Codes], rows: int) -> Codes:
    """Rows that are linked by any of these effects are in one block."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not codes:
        return np.zeros(rows, dtype=np.int64)
    if all(_nested(effect_codes, codes[0]) for effect_codes in codes[1:]):
        return renumber(codes[0])
    nodes = np.cumsum([0, *(int(effect_codes.max()) + 1 for effect_codes in codes)])
    start = np.concatenate([codes[0]] * (len(codes) - 1) or [codes[0]])
    end = np.concatenate([later + first for later, first in zip(codes[1:], nodes[1:], strict=False)] or [codes[0]])
    graph = coo_array((np.ones(len(start), dtype=np.int8), (start, end)), shape=(nodes[-1], nodes[-1]))
    label: Codes = connected_components(graph, directed=False)[1].astype(np.int64)
    return np.unique(label[codes[0]], return_inverse=True)[1]


def _nested(codes: Codes, outer: Codes) -> bool:
    """Whether rows with the same code have the same one of another effect."""
    met = np.empty(int(codes.max(initial=-1)) + 1, dtype=np.int64)
    met[codes] = outer
    return bool((met[codes] == outer).all())


def _largest(core: Group, block: Codes) -> int:
    """The number of unknowns in the block that has most."""
    return int(np.bincount(blocks_of(core, block)).max())


def blocks_of(core: Group, block: Codes) -> Codes:
    """The block of each unknown of the core."""
    owner = np.empty(len(core.kind), dtype=np.int64)
    for codes in core.codes:
        inside = codes >= 0
        owner[codes[inside]] = block[inside]
    return owner
