"""Fits at known ratios of variances, for audits that refit a model hundreds of times.

`KnownModel` fits a model to some of its cells (`cells`), or to all of them as those of other systems. What a part of
the data allows is told from its cells; where they do not suffice to tell, the answer is None, and the caller makes the
fit another way, by `fit.Prepared`, which also says what is wrong with data that cannot be fitted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.integer_codes import renumber
from adjudge.rank.connected_groups import number_of_groups
from adjudge.rank.mixed.degrees import most_degrees
from adjudge.rank.mixed.design import ALMOST_ALL, combine, levels_of
from adjudge.rank.mixed.effects import identify
from adjudge.rank.mixed.known_ratios.blocks import Grouping, Groupings, solve_blocks
from adjudge.rank.mixed.known_ratios.cells import SEGMENT, same_levels
from adjudge.rank.mixed.known_ratios.projection import Solved
from adjudge.rank.mixed.solver.blocks import Levels, inside_blocks
from adjudge.rank.mixed.solver.layout import indicator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.core.arrays import Bools, Codes, Floats
    from adjudge.rank.mixed.design import MixedDesign
    from adjudge.rank.mixed.effects import Effect, Effects
    from adjudge.rank.mixed.fit import Scale
    from adjudge.rank.mixed.known_ratios.cells import Cells
    from adjudge.rank.mixed.known_ratios.projection import Blocks, Projection, Systems

LEAST_VARIANCE = 1e-6
"""With less residual variance than this, beside scores of variance 1, the equations are solved another way."""


@dataclass(frozen=True, eq=False)
class KnownFit:
    """What audits need of a fit at known variances; arrays are in the order of `systems`."""

    systems: tuple[str, ...]
    effects: Floats
    covariance: Floats
    df: Floats


@dataclass(frozen=True, eq=False)
class KnownDifferences:
    """Some differences of two systems in a fit at known variances, with the variance and the degrees of freedom."""

    difference: Floats
    variance: Floats
    df: Floats


@dataclass(frozen=True, eq=False)
class Part:
    """Some cells as a design, with its effects but for the segments."""

    design: MixedDesign
    effects: Effects

    def systems_of(self, kept: Bools) -> Codes:
        """The system of each cell; -1 where it is not kept."""
        system = np.full(len(kept), -1)
        system[kept] = self.design.system
        return system


class KnownModel:
    """A model by cells at known ratios."""

    solver: type[Solved] = Solved

    def __init__(self, cells: Cells, effects: Effects, ratios: Floats, scale: Scale) -> None:
        self.cells, self.scale, self.ratios = cells, scale, ratios
        self.parts = [effect.parts for effect in effects.kept]
        self.left_out = effects.left_out
        self.segment = next((number for number, parts in enumerate(self.parts) if SEGMENT in parts), None)
        self.segment_ratio = 0.0 if self.segment is None else float(ratios[self.segment])
        of_cells = ratios if self.segment is None else np.delete(ratios, self.segment)
        each = [
            Grouping(float(ratio), effect.codes, effect.levels, cells.same(number))
            for number, (effect, ratio) in enumerate(zip(cells.effects, of_cells, strict=True))
        ]
        self.groupings = Groupings(each, len(cells))
        levels = Levels(cells.effects)
        reaching = levels.chosen(~np.concatenate([*cells.inside, np.zeros(0, dtype=bool)]), None)
        self.penalty = 1 / (levels.parts[reaching.kind] @ of_cells)
        """Of each column of the border."""
        self.border_codes = reaching.codes
        self.border = indicator(reaching.codes, len(cells), len(self.penalty))
        self.border_sums = self.border.T.tocsr()
        self._both_levels: dict[int, int] = {}
        self._border_places: dict[int, Codes] = {}

    def part(self, kept: Bools) -> KnownFit | None:
        """The fit to these cells; None where it must be made another way, or cannot be made."""
        solved = self._solved(kept)
        return None if solved is None else self.fit(*solved, solved[1].of_systems())

    def effects_of_part(self, kept: Bools) -> tuple[tuple[str, ...], Floats] | None:
        """The systems of these cells and their effects alone; None as in `part`."""
        solved = self._solved(kept)
        return None if solved is None else (solved[0].design.systems, self.in_points(solved[1].estimates))

    def differences(
        self, system: Codes, systems: tuple[str, ...], human: Bools, *, pairs: tuple[Codes, Codes]
    ) -> KnownDifferences | None:
        """Some differences in the fit to all cells as those of other systems; None as in `part`.

        Args:
            system: of each cell.
            systems: their names.
            human: whether each is a person's translation.
            pairs: the first and the second system of each difference.
        """
        every = np.ones(len(self.cells), dtype=bool)
        part = self._part(self.cells.design.with_systems(system, systems, human), every)
        regrouped = [] if part is None else zip(self.groupings.each, part.effects.kept, strict=True)
        groupings = [self._regrouped(grouping, effect) for grouping, effect in regrouped]
        if part is None or None in groupings:
            return None
        usable = Groupings([grouping for grouping in groupings if grouping is not None], len(every))
        solved = self.solver(self, every, system, usable, self.blocks(every, usable))
        if solved.variance < LEAST_VARIANCE:
            return None
        first, second = pairs
        variance, degrees = solved.degrees_of_pairs(solved.of_systems(), first, second)
        return KnownDifferences(
            difference=(solved.estimates[first] - solved.estimates[second]) * self.scale.sd,
            variance=variance * solved.variance * self.scale.sd**2,
            df=np.minimum(degrees, most_degrees(part.design, part.effects)),
        )

    def fit(self, part: Part, projection: Projection, systems: Systems) -> KnownFit:
        """A solution with errors and degrees of freedom."""
        degrees = projection.degrees(systems)
        most = most_degrees(part.design, part.effects)
        relative = (systems.relative + systems.relative.T) / 2
        return KnownFit(
            systems=part.design.systems,
            effects=self.in_points(systems.estimates),
            covariance=relative * systems.variance * self.scale.sd**2,
            df=np.where(np.eye(len(relative), dtype=bool), np.inf, np.minimum(degrees, most)),
        )

    def in_points(self, estimates: Floats) -> Floats:
        """Estimates in the unit of the scores."""
        return estimates * self.scale.sd + self.scale.mean

    def _solved(self, kept: Bools) -> tuple[Part, Solved] | None:
        """The equations of these cells; None where they cannot be used."""
        part = self.comparable(kept)
        if part is None:
            return None
        solved = self.solver(self, kept, part.systems_of(kept), self.groupings, self.blocks(kept, self.groupings))
        return (part, solved) if solved.variance > LEAST_VARIANCE else None

    def comparable(self, kept: Bools) -> Part | None:
        """The design of these cells, if it can surely be fitted and has the effects of the whole."""
        cells = self.cells
        if not kept.any() or cells.low[kept].min() == cells.high[kept].max():
            return None
        design = cells.design.subset(kept)
        if not 1 < len(design.systems) < cells.scores[kept].sum() or design.annotator is None:
            return None
        # Where annotators alone do not link all systems, it takes the segments to tell.
        if number_of_groups(design.system, design.annotator, len(design.systems)) > 1:
            return None
        return self._part(design, kept)

    def _part(self, design: MixedDesign, kept: Bools) -> Part | None:
        """The design of some cells with its effects, if these are the effects of the whole."""
        scores = int(self.cells.scores[kept].sum())
        effects = identify(design, scores=scores)
        if [effect.parts for effect in effects.kept] != [parts for parts in self.parts if SEGMENT not in parts]:
            return None
        for effect, other in zip(self.cells.effects, effects.kept, strict=True):
            # Of folded effects the finer one stands for both, which need not be the same one everywhere.
            if len(effect.parts) > 1 and not (renumber(effect.codes[kept]) == renumber(other.codes)).all():
                return None
        return Part(design, effects) if self._segments_alike(effects, len(design.systems), kept) else None

    def _segments_alike(self, effects: Effects, systems: int, kept: Bools) -> bool:
        """Whether segments, if they have a variance, still have one of their own."""
        if self.cells.segment is None:
            return True
        rows = kept[self.cells.of_row]
        segments = _number_of_levels(self.cells.segment[rows])
        return systems < segments < ALMOST_ALL * self.cells.scores[kept].sum() and not any(
            self._same_as_segments(number, effect, segments, kept) for number, effect in enumerate(effects.kept)
        )

    def _same_as_segments(self, number: int, effect: Effect, segments: int, kept: Bools) -> bool:
        """Whether an effect of some cells holds the same scores together as the segments do."""
        fewer, more = sorted((segments, effect.levels))
        if fewer < ALMOST_ALL * more or self.cells.segment is None:
            return False
        # A score that is left out takes one level of the two together with it at most.
        left_out = int(self.cells.scores[~kept].sum())
        if fewer < ALMOST_ALL * (self._levels_with_segments(number) - left_out):
            return False
        rows = kept[self.cells.of_row]
        place = np.cumsum(kept) - 1
        both = combine(effect.codes[place[self.cells.of_row[rows]]], self.cells.segment[rows])
        return fewer >= ALMOST_ALL * levels_of(both)

    def _levels_with_segments(self, number: int) -> int:
        """How many levels an effect of all cells and the segments have together."""
        if number not in self._both_levels and self.cells.segment is not None:
            codes = self.cells.effects[number].codes[self.cells.of_row]
            self._both_levels[number] = levels_of(combine(codes, self.cells.segment))
        return self._both_levels[number]

    def _regrouped(self, grouping: Grouping, effect: Effect) -> Grouping | None:
        """The same effect with other levels; None where one that stayed inside blocks no longer does."""
        if np.array_equal(grouping.codes, effect.codes):
            return grouping
        inside = inside_blocks(effect, self.cells.block)
        if not inside.all():
            return None
        same = tuple(same_levels(effect.codes, inside, bucket.cells) for bucket in self.cells.buckets)
        return Grouping(grouping.ratio, effect.codes, effect.levels, same)

    def blocks(self, kept: Bools, groupings: Groupings) -> Sequence[Blocks]:
        """All blocks, solved for the cells that are kept."""
        return [
            solve_blocks(bucket, kept, self.inner(number, groupings), self.segment_ratio)
            for number, bucket in enumerate(self.cells.buckets)
        ]

    def inner(self, number: int, groupings: Groupings) -> Floats:
        """The covariance of what stays inside the blocks of a bucket."""
        cells = self.cells.buckets[number].cells
        inner = np.zeros((*cells.shape, cells.shape[1]))
        for grouping in groupings.each:
            inner += grouping.ratio * grouping.same[number]
        return inner

    def border_entries(self, size: int) -> tuple[Codes, Codes]:
        """Which entries of all W are added where in the lower triangle of a matrix of this size."""
        source, row, column = self._border_entries
        if size not in self._border_places:
            self._border_places[size] = row * size + column
        return source, self._border_places[size]

    @cached_property
    def _border_entries(self) -> tuple[Codes, Codes, Codes]:
        """The entries of all W, and the rows and columns where they are added, in the order of the matrix."""
        before = 0
        source, rows, columns = ([np.zeros(0, dtype=np.int64)] for _ in range(3))
        for bucket in self.cells.buckets:
            codes = [np.append(column, -1)[bucket.cells] for column in self.border_codes]
            for row, column in product(codes, codes):
                lower = (row[:, :, None] >= column[:, None, :]) & (column >= 0)[:, None, :]
                block, first, second = np.nonzero(lower)
                source.append(np.ravel_multi_index((block, first, second), lower.shape) + before)
                rows.append(row[block, first])
                columns.append(column[block, second])
            before += bucket.cells.size * bucket.cells.shape[1]
        row, column = np.concatenate(rows), np.concatenate(columns)
        order = np.lexsort((column, row))
        return np.concatenate(source)[order], row[order], column[order]


def _number_of_levels(codes: Codes) -> int:
    """How many different codes there are."""
    seen = np.zeros(levels_of(codes), dtype=bool)
    seen[codes] = True
    return int(np.count_nonzero(seen))
