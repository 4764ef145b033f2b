"""Fits at known variances without a few cells, from the solution for all of them: for audits that leave out one by one.

Leaving out cells changes W and h in the blocks that hold them, W by E say. With N = L inv(S) L' of the whole and T for
the cells of these blocks, the border's equations change by L' E L, and

    N' = N - N[:, T] inv(I + E N[T, T]) E N[T, :]        (Woodbury),

so that only matrices of the size of T are solved, and the border is never factored again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np
from scipy.linalg import lu_factor, lu_solve
from scipy.linalg.lapack import dpotri
from scipy.sparse import csr_array, hstack

from adjudge.rank.mixed.known_ratios.blocks import SolvedBlocks, solve_blocks
from adjudge.rank.mixed.known_ratios.model import LEAST_VARIANCE
from adjudge.rank.mixed.known_ratios.projection import Projection, Solved, Systems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.core.arrays import Bools, Codes, Floats
    from adjudge.rank.mixed.known_ratios.cells import CellBucket
    from adjudge.rank.mixed.known_ratios.model import KnownFit, KnownModel

FEW_CELLS = 0.3
"""Up to this share of the cells, those of the changed blocks, this way is faster than solving anew."""


@dataclass(frozen=True, eq=False)
class _Changed:
    """Blocks solved without some of their cells."""

    blocks: list[SolvedBlocks]
    cells: Codes
    """All cells of the blocks that changed: T."""
    added: Sequence[Floats]
    """What is added to W: E, a matrix for each block that changed, in the order of its cells in T."""
    forward: Floats
    """What is added to h."""

    def times(self, values: Floats) -> Floats:
        """E times values of T."""
        end = np.cumsum([len(block) for block in self.added])
        parts = np.split(values, end[:-1])
        return np.concatenate([block @ part for block, part in zip(self.added, parts, strict=True)])


class CellsLeftOut:
    """The solution for all cells of a model, from which some are left out."""

    def __init__(self, model: KnownModel) -> None:
        self.model = model
        every = np.ones(len(model.cells), dtype=bool)
        system = model.cells.design.system
        self.solved = Solved(model, every, system, model.groupings, model.blocks(every, model.groupings))
        self.whole = self.solved.of_systems()

    def part(self, kept: Bools) -> KnownFit | None:
        """The fit to the cells that are kept; None where it must be made another way, or cannot be made."""
        part = self.model.comparable(kept)
        if part is None:
            return None
        changed = self._changed(kept) if part.design.systems == self.model.cells.design.systems else None
        if changed is None:
            return self.model.part(kept)
        without = _Without(self, changed, kept)
        systems = without.of_systems()
        return self.model.fit(part, without, systems) if systems.variance > LEAST_VARIANCE else None

    @cached_property
    def inverse(self) -> Floats:
        """Of S."""
        upper = dpotri(self.solved.factor, lower=0)[0]
        inverse: Floats = np.triu(upper) + np.triu(upper, 1).T
        return inverse

    @cached_property
    def columns(self) -> csr_array:
        """L."""
        used = self.solved.used
        border = self.model.border if used.all() else self.model.border[:, used]
        return hstack([border, self.solved.system_sums.T]).tocsr()

    @property
    def _blocks(self) -> Sequence[SolvedBlocks]:
        return cast("Sequence[SolvedBlocks]", self.solved.blocks)

    def _changed(self, kept: Bools) -> _Changed | None:
        """The blocks without the cells that are not kept; None where too many blocks hold some."""
        gone = np.append(~kept, False)
        touched = [np.flatnonzero(gone[bucket.cells].any(axis=1)) for bucket in self.model.cells.buckets]
        buckets = zip(self.model.cells.buckets, touched, strict=True)
        cells = [line[line < len(kept)] for bucket, slots in buckets for line in bucket.cells[slots]]
        if not cells or sum(map(len, cells)) > FEW_CELLS * len(kept):
            return None
        blocks, added, forward = [], [], []
        for number, slots in enumerate(touched):
            before = self._blocks[number]
            blocks.append(before if not len(slots) else self._solved_again(number, slots, kept))
            added += list(blocks[-1].weights[slots] - before.weights[slots])
            forward += list(blocks[-1].forward[slots] - before.forward[slots])
        # Without the padding of blocks that are smaller than others of their bucket.
        sizes = [len(line) for line in cells]
        return _Changed(
            blocks,
            np.concatenate(cells),
            [block[:size, :size] for block, size in zip(added, sizes, strict=True)],
            np.concatenate([line[:size] for line, size in zip(forward, sizes, strict=True)]),
        )

    def _solved_again(self, number: int, slots: Codes, kept: Bools) -> SolvedBlocks:
        """A bucket with some of its blocks solved again."""
        bucket, before = self.model.cells.buckets[number], self._blocks[number]
        part = solve_blocks(_some(bucket, slots), kept, before.inner[slots], self.model.segment_ratio)
        fields = ("counts", "weights", "forward", "segment_size", "segment_sums", "square")
        values = {name: getattr(before, name).copy() for name in fields}
        for name, value in values.items():
            value[slots] = getattr(part, name)
        return replace(before, **values)


def _some(bucket: CellBucket, slots: Codes) -> CellBucket:
    """Some blocks of a bucket."""
    return replace(
        bucket,
        cells=bucket.cells[slots],
        counts=bucket.counts[slots],
        sums=bucket.sums[slots],
        same=(),
    )


class _Without(Projection):
    """The solution without some cells."""

    def __init__(self, left_out: CellsLeftOut, changed: _Changed, kept: Bools) -> None:
        solved = left_out.solved
        super().__init__(left_out.model, solved.system, solved.groupings, changed.blocks)
        self._left_out, self._changed = left_out, changed
        columns = left_out.columns[changed.cells]
        self._spread = columns @ left_out.inverse
        """L inv(S) of the changed cells: (T, border and systems)."""
        self._near = columns @ self._spread.T
        """N[T, T]."""
        self._factor = lu_factor(np.eye(len(self._near)) + changed.times(self._near), check_finite=False)
        cells = left_out.model.cells
        self._freedom = int(cells.scores[kept].sum()) - solved.systems
        self._square = float(cells.squares[kept].sum()) + sum(float(block.square.sum()) for block in changed.blocks)

    def _correction(self, values: Floats) -> Floats:
        """inv(I + E N[T, T]) E times values of T."""
        correction: Floats = lu_solve(self._factor, self._changed.times(values), check_finite=False)
        return correction

    def of_systems(self) -> Systems:
        """The columns of the systems."""
        whole, changed = self._left_out.whole, self._changed
        before = whole.reached[changed.cells]
        before[:, -1] += self._near @ changed.forward
        correction = self._correction(before)
        shift = -correction
        shift[:, -1] += changed.forward
        reached = whole.reached + self._left_out.solved.reached(self._spread.T @ shift)
        forward = self.forward[:, 0]
        variance = (self._square - float(forward @ reached[:, -1])) / self._freedom
        relative = whole.relative - before[:, :-1].T @ correction[:, :-1]
        return Systems(relative, reached[:, :-1].T @ forward, reached, variance, self._freedom)

    def quadratic(self, values: Floats) -> Floats:
        """V' L inv(S) L' v, of the changed S."""
        across = self._left_out.solved.across(values)
        changed = self._spread @ across
        product: Floats = across.T @ self._left_out.inverse @ across - changed.T @ self._correction(changed)
        return product
