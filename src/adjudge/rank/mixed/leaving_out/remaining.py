"""What a model can say once a few of its cells are left out, told from counts alone.

`KnownModel.comparable` makes the design of the cells that are left and identifies its effects, which takes longer than
the fit itself. Nearly always counts suffice: if every effect keeps many more, or many fewer, levels than any other, it
stays an effect of its own. Where they do not suffice, the answer is None, and `comparable` is asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from adjudge.rank.connected_groups import number_of_groups
from adjudge.rank.mixed.degrees import eased
from adjudge.rank.mixed.design import ALMOST_ALL
from adjudge.rank.mixed.known_ratios.cells import SEGMENT
from adjudge.results.rank import TASTE, Cause

if TYPE_CHECKING:
    from adjudge.core.arrays import Bools, Codes
    from adjudge.rank.mixed.known_ratios.model import KnownModel

_SYSTEM, _ON_DOCUMENT = "system", "system:document"
_KNOWN = {"annotator", TASTE, "task", "document", SEGMENT, _ON_DOCUMENT, "page"}


@dataclass(frozen=True, eq=False)
class _Partition:
    """The level of each cell, and how many cells each level has."""

    codes: Codes
    sizes: Codes

    def left(self, gone: Codes) -> int:
        """How many levels are left without some cells."""
        levels, count = np.unique(self.codes[gone], return_counts=True)
        return len(self.sizes) - int((self.sizes[levels] == count).sum())


class Remaining:
    """The counts of a model's cells."""

    def __init__(self, model: KnownModel) -> None:
        self._model, self._cells = model, model.cells
        design = self._cells.design
        effects = {effect.parts[0]: effect.codes for effect in self._cells.effects}
        self._partitions = {
            name: _Partition(codes, np.bincount(codes)) for name, codes in ((_SYSTEM, design.system), *effects.items())
        }
        self._scores = int(self._cells.scores.sum())

    def most_degrees(self, kept: Bools) -> float | None:
        """The bound on degrees of freedom in a fit to these cells.

        None where counts do not tell that such a fit is possible and has the systems and the effects of the whole.
        """
        if not self._simple or not kept.any() or self._cells.low[kept].min() == self._cells.high[kept].max():
            return None
        gone = np.flatnonzero(~kept)
        levels = {name: partition.left(gone) for name, partition in self._partitions.items()}
        systems, scores = levels.pop(_SYSTEM), self._scores - int(self._cells.scores[gone].sum())
        if self._cells.segment is not None:
            levels[SEGMENT] = self._segments_left(kept)
        if systems < self._systems or not self._surely_apart(levels, scores):
            return None
        tastes = self._degrees(TASTE, "annotator", levels, kept)
        texts = self._degrees(_ON_DOCUMENT, "document", levels, kept) if _ON_DOCUMENT in levels else np.inf
        return None if min(tastes, texts) < 1 else min(tastes, eased(texts))

    @cached_property
    def _simple(self) -> bool:
        """Whether all effects of the model are there, each by itself, but for those that the data do not name."""
        parts = [part for effect in self._model.parts for part in effect]
        named = all(left_out.cause == Cause.NOT_NAMED for left_out in self._model.left_out)
        plain = len(parts) == len(self._model.parts) and set(parts) <= _KNOWN
        return plain and named and {"annotator", TASTE} <= set(parts) and self._cells.design.model.taste

    @property
    def _systems(self) -> int:
        return len(self._cells.design.systems)

    def _surely_apart(self, levels: dict[str, int], scores: int) -> bool:
        """Whether effects with so many levels can be told from each other, from the systems, and from the residual."""
        ordered = sorted(levels.values())
        apart = all(fewer < ALMOST_ALL * more for fewer, more in pairwise(ordered))
        several = ordered[0] > 1 and levels.get(SEGMENT, self._systems + 1) > self._systems
        return apart and several and ordered[-1] < ALMOST_ALL * scores

    @cached_property
    def _segment_sizes(self) -> Codes:
        """How many scores each segment has."""
        assert self._cells.segment is not None
        return np.bincount(self._cells.segment)

    def _segments_left(self, kept: Bools) -> int:
        assert self._cells.segment is not None
        segments, count = np.unique(self._cells.segment[~kept[self._cells.of_row]], return_counts=True)
        return len(self._segment_sizes) - int((self._segment_sizes[segments] == count).sum())

    def _degrees(self, crossed: str, own: str, levels: dict[str, int], kept: Bools) -> float:
        """As `effects.crossed_degrees`, of an effect whose levels are each of one system; 0 for systems in groups.

        Where several levels link all systems, some system has two of them, and so it has of whatever is finer.
        """
        codes = self._partitions[own].codes
        linked = number_of_groups(self._cells.design.system[kept], codes[kept], self._systems) == 1
        return float(levels[crossed] - levels[own] - self._systems + 1) if linked else 0.0
