"""Which effects stay inside documents, so that the equations fall into blocks, and which reach across."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.core.arrays import Codes
    from adjudge.rank.mixed.effects import Effect


LARGEST_BLOCK = 3000
"""Core unknowns of one block above which its most numerous effect is moved to the border."""
_ACROSS = ("annotator", "annotator:system", "task")


@dataclass(frozen=True, eq=False)
class Blocks:
    """The block of every row, and the numbers of the effects in each group."""

    block: Codes
    border: tuple[int, ...]
    core: tuple[int, ...]
    absorbed: int | None


def find_blocks(effects: Sequence[Effect]) -> Blocks:
    """Divide the effects. What is finest inside the blocks is absorbed, if something is left for the core."""
    inner = [number for number, effect in enumerate(effects) if effect.parts[0] not in _ACROSS]
    while True:
        block = _components([effects[number].codes for number in inner], effects)
        nested = [number for number, effect in enumerate(effects) if number in inner or _inside(effect.codes, block)]
        inside = sorted(nested, key=lambda number: effects[number].levels) if inner else []
        absorbed = inside[-1] if len(inside) > 1 else None
        core = tuple(number for number in inside if number != absorbed)
        if not core or _largest([effects[number].codes for number in core], block) <= LARGEST_BLOCK:
            border = tuple(number for number in range(len(effects)) if number not in inside)
            return Blocks(block, border, core, absorbed)
        moved = max([number for number in inner if number in core] or inner, key=lambda number: effects[number].levels)
        inner = [number for number in inner if number != moved]


def _components(codes: Sequence[Codes], effects: Sequence[Effect]) -> Codes:
    """Rows that are linked by any of these effects are in one block."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not codes:
        return np.zeros(len(effects[0].codes) if effects else 0, dtype=np.int64)
    nodes = np.cumsum([0, *(int(effect_codes.max()) + 1 for effect_codes in codes)])
    start = np.concatenate([codes[0]] * (len(codes) - 1) or [codes[0]])
    end = np.concatenate([later + first for later, first in zip(codes[1:], nodes[1:], strict=False)] or [codes[0]])
    graph = coo_array((np.ones(len(start), dtype=np.int8), (start, end)), shape=(nodes[-1], nodes[-1]))
    label: Codes = connected_components(graph, directed=False)[1].astype(np.int64)
    return np.unique(label[codes[0]], return_inverse=True)[1]


def _inside(codes: Codes, block: Codes) -> bool:
    """Whether no level reaches across blocks."""
    first = np.empty(int(codes.max()) + 1, dtype=np.int64)
    first[codes] = block
    return bool((first[codes] == block).all())


def _largest(codes: Sequence[Codes], block: Codes) -> int:
    """The number of levels in the block that has most."""
    count = np.zeros(int(block.max()) + 1, dtype=np.int64)
    for effect_codes in codes:
        owner = np.empty(int(effect_codes.max()) + 1, dtype=np.int64)
        owner[effect_codes] = block
        count += np.bincount(owner, minlength=len(count))
    return int(count.max())
