"""Fits at known variances without a few cells, from the solution for all of them: for audits that leave out one by one.

Leaving out cells changes W and h in the blocks that hold them: W by E, h by f. With N = L inv(S) L' of the whole, T for
the cells of these blocks, r for L inv(S) in the columns of the systems, and C = inv(I + E N[T, T]) E,

    relative covariance of the systems   R' = R - r[T]' C r[T]                        (Woodbury)
    their estimates                      t' = t + r[T]' (f - C a),  a = (N h)[T] + N[T, T] f
    h' N' h'                                = h' N h + f' ((N h)[T] + a) - a' C a

so that only matrices of the size of T are solved, and the border is never factored again. The degrees of freedom are
those of the whole, since the variances are: what is left only bounds them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from scipy.linalg.lapack import dpotri

from adjudge.rank.mixed.degrees import degrees_of_part, most_degrees
from adjudge.rank.mixed.known_ratios.blocks import SolvedBlocks, solve_blocks
from adjudge.rank.mixed.known_ratios.model import LEAST_VARIANCE, KnownFit
from adjudge.rank.mixed.known_ratios.projection import Solved
from adjudge.rank.mixed.leaving_out.remaining import Remaining

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.core.arrays import Bools, Codes, Floats
    from adjudge.rank.mixed.known_ratios.cells import CellBucket
    from adjudge.rank.mixed.known_ratios.model import KnownModel

FEW_CELLS = 0.3
"""Up to this share of the cells, those of the changed blocks, this way is faster than solving anew."""


class _Left(NamedTuple):
    """What is left of the cells: its systems, that of each cell (-1 where it is not kept), and the bound."""

    systems: tuple[str, ...]
    system: Codes
    most_degrees: float


class _Solution(NamedTuple):
    """Estimates of the systems, their covariance relative to the residual variance, and that variance."""

    estimates: Floats
    relative: Floats
    variance: float


@dataclass(frozen=True, eq=False)
class _Changed:
    """The blocks that lose some of their cells. T holds the padding of blocks too, on which nothing depends."""

    cells: Codes
    """T."""
    added: Sequence[Floats]
    """E by bucket, (blocks, cells, cells)."""
    forward: Floats
    """f."""
    square: float
    """What is added to the squares that are left of the blocks."""

    def times(self, values: Floats) -> Floats:
        """E times values of T."""
        parts, start = [], 0
        for added in self.added:
            blocks, size = added.shape[:2]
            part = values[start : start + blocks * size].reshape(blocks, size, -1)
            parts.append((added @ part).reshape(blocks * size, -1))
            start += blocks * size
        return np.concatenate(parts)


class CellsLeftOut:
    """The solution for all cells of a model, from which some are left out."""

    def __init__(self, model: KnownModel, degrees: Floats) -> None:
        self.model, self._degrees = model, degrees
        self._remaining = Remaining(model)
        cells = model.cells
        every = np.ones(len(cells), dtype=bool)
        self._blocks = cast("Sequence[SolvedBlocks]", model.blocks(every, model.groupings))
        solved = Solved(model, every, cells.design.system, model.groupings, self._blocks)
        self._whole = solved.of_systems()
        self._reached = np.vstack([self._whole.reached, np.zeros(solved.systems + 1)])
        self._product = float(solved.forward[:, 0] @ self._whole.reached[:, -1])
        self._square = float(cells.squares.sum()) + sum(float(block.square.sum()) for block in self._blocks)
        # Cells that pad a block are in no column, which is one of zeros behind the last.
        width = solved.width + solved.systems
        inverse = dpotri(solved.factor, lower=0)[0]
        self._inverse = np.zeros((width + 1, width + 1))
        self._inverse[:width, :width] = np.triu(inverse) + np.triu(inverse, 1).T
        self._columns = [np.append(codes, -1) for codes in (*model.border_codes, solved.width + cells.design.system)]

    def part(self, kept: Bools) -> KnownFit | None:
        """The fit to the cells that are kept; None where it must be made another way, or cannot be made."""
        left = self._left(kept)
        if left is None:
            return None
        changed = self._changed(kept) if left.systems == self.model.cells.design.systems else None
        solution = self._solved_anew(left, kept) if changed is None else self._solved_from_whole(changed, kept)
        if solution.variance < LEAST_VARIANCE:
            return None
        places = [self.model.cells.design.systems.index(system) for system in left.systems]
        relative, scale = solution.relative, self.model.scale
        return KnownFit(
            systems=left.systems,
            effects=self.model.in_points(solution.estimates),
            covariance=(relative + relative.T) / 2 * solution.variance * scale.sd**2,
            df=degrees_of_part(self._degrees[np.ix_(places, places)], left.most_degrees),
        )

    def _left(self, kept: Bools) -> _Left | None:
        """What is left, if a fit to it is possible and has the effects of the whole."""
        design = self.model.cells.design
        most = self._remaining.most_degrees(kept)
        if most is not None:
            return _Left(design.systems, np.where(kept, design.system, -1), most)
        part = self.model.comparable(kept)
        if part is None:
            return None
        return _Left(part.design.systems, part.systems_of(kept), most_degrees(part.design, part.effects))

    def _solved_anew(self, left: _Left, kept: Bools) -> _Solution:
        model = self.model
        solved = model.solver(model, kept, left.system, model.groupings, model.blocks(kept, model.groupings))
        return _Solution(solved.estimates, solved.of_systems().relative, solved.variance)

    def _solved_from_whole(self, changed: _Changed, kept: Bools) -> _Solution:
        cells, near, reached = self.model.cells, self._near(changed.cells), self._reached[changed.cells]
        product = self._product + float(changed.forward @ reached[:, -1])
        reached[:, -1] += near @ changed.forward
        matrix = changed.times(near)
        matrix[np.diag_indices(len(matrix))] += 1
        correction = np.linalg.solve(matrix, changed.times(reached))
        forward = changed.forward - correction[:, -1]
        product += float(reached[:, -1] @ forward)
        square = self._square + changed.square - float(cells.squares[~kept].sum())
        of_systems = reached[:, :-1].T
        return _Solution(
            estimates=self._whole.estimates + of_systems @ forward,
            relative=self._whole.relative - of_systems @ correction[:, :-1],
            variance=(square - product) / (int(cells.scores[kept].sum()) - len(of_systems)),
        )

    def _near(self, cells: Codes) -> Floats:
        """N[T, T]."""
        columns = [codes[cells] for codes in self._columns]
        rows = sum(self._inverse[codes] for codes in columns)
        return np.asarray(sum(rows[:, codes] for codes in columns))

    def _changed(self, kept: Bools) -> _Changed | None:
        """The blocks without the cells that are not kept; None where too many blocks hold some."""
        gone = np.append(~kept, False)
        touched = [np.flatnonzero(gone[bucket.cells].any(axis=1)) for bucket in self.model.cells.buckets]
        buckets = [(number, slots) for number, slots in enumerate(touched) if len(slots)]
        cells = [self.model.cells.buckets[number].cells[slots].ravel() for number, slots in buckets]
        if not cells or sum(map(len, cells)) > FEW_CELLS * len(kept):
            return None
        added, forward, square = [], [], 0.0
        for number, slots in buckets:
            before, bucket = self._blocks[number], self.model.cells.buckets[number]
            after = solve_blocks(_some(bucket, slots), kept, before.inner[slots], self.model.segment_ratio)
            added.append(after.weights - before.weights[slots])
            forward.append((after.forward - before.forward[slots]).ravel())
            square += float(after.square.sum() - before.square[slots].sum())
        return _Changed(np.concatenate(cells), added, np.concatenate(forward), square)


def _some(bucket: CellBucket, slots: Codes) -> CellBucket:
    """Some blocks of a bucket."""
    return replace(
        bucket,
        cells=bucket.cells[slots],
        counts=bucket.counts[slots],
        sums=bucket.sums[slots],
        same=(),
    )
