"""Fits without an annotator or a document, from the solution for all rows: for audits that leave out one by one.

Once the absorbed unknowns (pages) are eliminated, the equations C u = r of all other unknowns are sums over rows and
absorbed levels. Rows that are left out take G from C and d from r, at the unknowns T that they touch. With M for the
part of inv(C) at T, and Z for its columns of the systems there (Woodbury's identity),

    effects without them      = effects + Z' inv(I - G M) (G u - d)
    covariance without them   = covariance + Z' inv(I - G M) G Z              (relative to the residual variance)

and the sum of squares that is left follows likewise. Nothing but a matrix of the size of T is solved. Levels that lose
all their rows stay in the equations; nothing pulls on them. The degrees of freedom are those of the whole, since the
variances are; what is left only bounds them.

To make the design of what is left, and to identify its effects, takes longer than that. Nearly always counts suffice to
tell what a model can say of it, for all units at once (`most_degrees_without_each`): if every effect keeps many more,
or many fewer, levels than any other, it stays an effect of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, cast

import numpy as np
from scipy.sparse import csr_array, hstack

from adjudge.mixed.border import TOLERANCE, conjugate_gradients
from adjudge.mixed.design import ALMOST_ALL, MixedDesign, combine, levels_of
from adjudge.mixed.effects import (
    SCREENS,
    SYSTEM_ON_TEXT,
    TASTE,
    Cause,
    Effect,
    Effects,
    Work,
    eased,
    is_screen,
    judged_outputs,
)
from adjudge.mixed.equations import Equations, Totals, equations_at, totals
from adjudge.mixed.layout import Layout, inside_blocks
from adjudge.table.judgments import number_of_groups

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from adjudge.mixed.border import DenseBorder
    from adjudge.table.maths import Bools, Codes, Floats


MOST_PRODUCTS = 20_000
"""For each row so many products take as long as to lay out and solve the equations of what is left."""
MOST_NUMBERS = 5_000_000
"""Numbers, one for every row and unit, that units are left out with at the same time."""
LEAST_VARIANCE = 1e-6
"""With less residual variance than this, beside scores of variance 1, what is left is fitted anew."""
MOST_KEPT = 50_000_000
"""Numbers of what blocks need of the border's inverse that are kept in memory."""


@dataclass(frozen=True, eq=False)
class Remainder:
    """The solution for the rows that are left: all relative to standardised scores."""

    effects: Floats
    relative: Floats
    """The covariance of the effects, relative to the residual variance."""
    variance: float
    """Of the residual."""


class Whole:
    """The equations of all rows at known variances, from which some rows are taken away."""

    def __init__(self, layout: Layout, ratios: Floats, standard: Floats) -> None:
        self._layout, self._score = layout, standard
        self._equations = equations = equations_at(layout, ratios)
        solution, inverse = equations.solve(totals(layout, standard[:, None])), equations.system_inverse()
        self._square = float(solution.quadratic[0, 0])
        self._solution = np.concatenate([solution.border[:, 0], solution.core[:, 0]])
        self._systems = np.concatenate([inverse.border, inverse.core])
        self._rows = csr_array(hstack([layout.border_rows, layout.core_rows], format="csr"))
        self._levels = csr_array(hstack([layout.absorbed_border, layout.absorbed_core], format="csr"))
        self._totals = layout.absorbed_rows.T @ standard
        self._weight = equations.variances.absorbed_weight(layout)
        self._absorbed = solution.absorbed[:, 0]

    @cached_property
    def _inverse(self) -> _Inverse:
        return _Inverse(self._equations)

    def effects_without(self, unit: Codes, chosen: Codes) -> Floats:
        """The effects without each of the chosen units: (chosen, systems); NaN where nothing is left for the residual.

        Units that touch few unknowns are taken away exactly (`without`), others by conjugate gradients.
        """
        effects = np.full((len(chosen), self._layout.systems), np.nan)
        for number, code in enumerate(chosen):
            remainder = self.without(unit == code)
            if remainder is None:
                # The other units are like this one.
                step = max(1, MOST_NUMBERS // len(unit))
                for first in range(number, len(chosen), step):
                    part = slice(first, first + step)
                    effects[part] = self._effects_by_steps(unit, chosen[part])
                break
            if remainder.variance >= LEAST_VARIANCE:
                effects[number] = remainder.effects
        return effects

    def _effects_by_steps(self, unit: Codes, chosen: Codes) -> Floats:
        """The effects without each unit, by conjugate gradients from the solution for all rows.

        The equations of all rows, already factored, are so similar to those of what is left that a few steps are
        enough, however many unknowns a unit touches.
        """
        layout, variances = self._layout, self._equations.variances
        design = csr_array(hstack([layout.border_rows, layout.core_rows, layout.absorbed_rows], format="csr"))
        by_unknown = csr_array(design.T)
        of_border = variances.penalties(layout.border_kind, 0.0)
        of_border[-1] = 1.0  # what padding points to
        others = (variances.penalties(kind, 1.0) for kind in (layout.core_kind, layout.absorbed_kind))
        penalty = np.concatenate([of_border, *others])[:, None]
        ends = np.cumsum([layout.width, len(layout.core_kind)])
        left = unit[:, None] != chosen

        def times(values: Floats) -> Floats:
            return np.asarray(by_unknown @ (left * (design @ values)) + penalty * values)

        def precondition(values: Floats) -> Floats:
            nothing = np.zeros((values.shape[1], values.shape[1]))
            border, core, absorbed = np.split(values, ends)
            solved = self._equations.solve(Totals(border, core, absorbed, nothing))
            return np.concatenate([solved.border, solved.core, solved.absorbed])

        score = self._score[:, None]
        start = np.tile(np.concatenate([self._solution, self._absorbed])[:, None], len(chosen))
        found = conjugate_gradients(times, precondition, start, by_unknown @ (left * score), tolerance=TOLERANCE)
        if not found.converged:
            return np.full((len(chosen), layout.systems), np.nan)
        square = (left * score * (score - design @ found.x)).sum(axis=0)
        freedom = left.sum(axis=0) - layout.systems
        known = (freedom > 0) & (square > LEAST_VARIANCE * freedom)
        return np.where(known[:, None], found.x[: layout.systems].T, np.nan)

    def without(self, gone: Bools) -> Remainder | None:
        """The solution without some rows; None where so many unknowns are touched that one made anew is quicker."""
        touched = self._touched(np.flatnonzero(gone))
        if len(touched.unknowns) ** 3 > MOST_PRODUCTS * len(gone):
            return None
        removed = _removed(touched)
        solution, systems = self._solution[removed.unknowns], self._systems[removed.unknowns]
        matrix = self._inverse.part(removed.unknowns)
        pull = removed.matrix @ solution - removed.right
        right = np.column_stack([pull, removed.matrix @ systems])
        solved = np.linalg.solve(np.eye(len(matrix)) - removed.matrix @ matrix, right)
        k = self._layout.systems
        square = (
            self._square
            - removed.square
            + float(solution @ (removed.right - pull))
            - float((matrix @ pull) @ solved[:, 0])
        )
        freedom = self._layout.rows - int(gone.sum()) - k
        return Remainder(
            effects=self._solution[:k] + systems.T @ solved[:, 0],
            relative=self._systems[:k] + systems.T @ solved[:, 1:],
            variance=square / freedom if freedom > 0 else 0.0,
        )

    def beside(self, unit: Bools) -> Beside | None:
        """The rows of a unit as all others see them; None where a solution made anew is quicker, as in `without`."""
        rows = np.flatnonzero(unit)
        touched = self._touched(rows)
        if len(touched.unknowns) ** 3 > MOST_PRODUCTS * len(unit):
            return None
        removed = _removed(touched)
        matrix = self._inverse.part(removed.unknowns)
        solution = self._solution[removed.unknowns]
        pull = removed.matrix @ solution - removed.right
        others = solution + matrix @ np.linalg.solve(np.eye(len(matrix)) - removed.matrix @ matrix, pull)
        pages = touched.weight_after * (touched.left - touched.after @ others)
        error: Floats = touched.score - touched.rows @ others - touched.by_level.T @ pages

        def project(values: Floats) -> Floats:
            by_page = touched.by_level @ values
            right = touched.rows.T @ values - touched.before.T @ (touched.weight[:, None] * by_page)
            solved = matrix @ right
            on_pages = touched.weight[:, None] * (by_page - touched.before @ solved)
            return np.asarray(values - touched.rows @ solved - touched.by_level.T @ on_pages)

        return Beside(touched.score, error, project)

    def _touched(self, gone: Codes) -> _Touched:
        """The unknowns that some rows touch, and how."""
        row, unknown, _ = _entries(self._rows, gone)
        absorbed_row, absorbed, _ = _entries(self._layout.absorbed_rows, gone)
        levels, level = np.unique(absorbed, return_inverse=True)
        of_level, level_unknown, count = _entries(self._levels, levels)
        unknowns = np.unique(np.concatenate([unknown, level_unknown]))
        rows = np.zeros((len(gone), len(unknowns)))
        rows[row, np.searchsorted(unknowns, unknown)] = 1.0
        before = np.zeros((len(levels), len(unknowns)))
        before[of_level, np.searchsorted(unknowns, level_unknown)] = count
        by_level = np.zeros((len(levels), len(gone)))
        by_level[level, absorbed_row] = 1.0
        weight = self._weight[levels]
        return _Touched(
            unknowns=unknowns,
            score=self._score[gone],
            rows=rows,
            by_level=by_level,
            before=before,
            total=self._totals[levels],
            weight=weight,
            weight_after=1 / (1 / weight - by_level.sum(axis=1)),
        )


@dataclass(frozen=True, eq=False)
class _Touched:
    """Some rows, and the unknowns that they touch; absorbed unknowns (pages) are told apart as levels."""

    unknowns: Codes
    score: Floats
    rows: Floats
    """(rows, unknowns): 1 where a row has the unknown."""
    by_level: Floats
    """(levels, rows): 1 where a row is of the level."""
    before: Floats
    """(levels, unknowns): how many rows of a level have the unknown, all rows counted."""
    total: Floats
    """The sum of the scores of each level, of all rows."""
    weight: Floats
    """Of each level, with all rows."""
    weight_after: Floats
    """Without these rows."""

    @property
    def after(self) -> Floats:
        """As `before`, without these rows."""
        return np.asarray(self.before - self.by_level @ self.rows)

    @property
    def left(self) -> Floats:
        """As `total`, without these rows."""
        return np.asarray(self.total - self.by_level @ self.score)


@dataclass(frozen=True, eq=False)
class Beside:
    """The rows of a unit beside all others, at known variances: y, and P of the model for these rows (P_ii).

    P is relative to the residual variance and to standardised scores.
    """

    score: Floats
    error: Floats
    """inv(P_ii) (P y)_i: by how much the scores differ from what all others predict."""
    project: Callable[[Floats], Floats]
    """Columns times P_ii."""


def _removed(touched: _Touched) -> _Removed:
    """What some rows add to the equations."""
    rows, before, after, left = touched.rows, touched.before, touched.after, touched.left
    weight, weight_after, total, score = touched.weight, touched.weight_after, touched.total, touched.score
    # Pages are eliminated: the rows' own products, less those of their pages before, and with those after.
    lost, kept = weight[:, None] * before, weight_after[:, None] * after
    return _Removed(
        unknowns=touched.unknowns,
        matrix=rows.T @ rows - before.T @ lost + after.T @ kept,
        right=score @ rows - total @ lost + left @ kept,
        square=float(score @ score - weight @ total**2 + weight_after @ left**2),
    )


def _entries(matrix: csr_array, rows: Codes) -> tuple[Codes, Codes, Floats]:
    """The entries of some rows of a sparse matrix: the place of each row among these, its columns, and the values."""
    length = np.diff(matrix.indptr)[rows]
    place = np.repeat(np.arange(len(rows)), length)
    index = np.arange(len(place)) + np.repeat(matrix.indptr[rows] - np.cumsum(length) + length, length)
    return place, matrix.indices[index], matrix.data[index]


@dataclass(frozen=True, eq=False)
class _Removed:
    """What some rows add to the equations, at the unknowns that they touch."""

    unknowns: Codes
    """T: numbers of border unknowns, and after them of those of the core."""
    matrix: Floats
    """G."""
    right: Floats
    """d."""
    square: float
    """What they add to the squares of the scores."""


@dataclass(frozen=True, eq=False)
class _Block:
    """Of the unknowns inside one document: their covariance given the border, and what the border means for them."""

    inner: Floats
    reach: Floats
    """The slopes on the border unknowns that the block touches."""
    border: Codes


class _Inverse:
    """The inverse of the matrix of coefficients once absorbed unknowns are eliminated, of which any part can be had."""

    def __init__(self, equations: Equations) -> None:
        layout = equations.layout
        self._border = cast("DenseBorder", equations.border).inverse
        self._width = layout.width
        self._blocks: list[_Block] = []
        self._block = np.zeros(len(layout.core_kind), dtype=np.int64)
        self._local = np.zeros(len(layout.core_kind), dtype=np.int64)
        for blocks in equations.factored:
            bucket = blocks.bucket
            here = slice(bucket.core_start, bucket.core_start + bucket.count * bucket.core)
            self._block[here] = np.repeat(np.arange(bucket.count), bucket.core) + len(self._blocks)
            self._local[here] = np.tile(np.arange(bucket.core), bucket.count)
            back = blocks.inverse_factor.transpose(0, 2, 1)
            self._blocks += map(_Block, back @ blocks.inverse_factor, -(back @ blocks.half), bucket.border_index)
        self._reached: dict[int, Floats] = {}
        self._room = MOST_KEPT

    def _reach(self, block: int) -> Floats:
        """The covariance of the unknowns of a block with all border unknowns."""
        if block in self._reached:
            return self._reached[block]
        of_block = self._blocks[block]
        reached: Floats = of_block.reach @ self._border[of_block.border]
        if reached.size <= self._room:
            self._room -= reached.size
            self._reached[block] = reached
        return reached

    def part(self, unknowns: Codes) -> Floats:
        """The rows and columns of some unknowns, which are in order."""
        border, core = unknowns[unknowns < self._width], unknowns[unknowns >= self._width] - self._width
        block, local = self._block[core], self._local[core]
        start = np.flatnonzero(np.diff(block, prepend=-1))
        ends = pairwise([*start, len(core)])  # none where no document has unknowns of its own
        members = [(int(block[first]), slice(first, end), local[first:end]) for first, end in ends]
        reached = np.concatenate([np.empty((0, self._width)), *(self._reach(b)[chosen] for b, _, chosen in members)])
        whole = np.empty((len(unknowns), len(unknowns)))
        b = len(border)
        whole[:b, :b] = self._border[np.ix_(border, border)]
        whole[b:, :b] = reached[:, border]
        whole[:b, b:] = whole[b:, :b].T
        inner = whole[b:, b:]
        for number, place, chosen in members:
            of_block = self._blocks[number]
            inner[:, place] = reached[:, of_block.border] @ of_block.reach[chosen].T
            inner[place, place] += of_block.inner[np.ix_(chosen, chosen)]
        return whole


_SYSTEM, _PERSON, _SEGMENT = "system", "annotator", "segment"


def most_degrees_without_each(design: MixedDesign, effects: Effects, ratios: Floats, unit: Codes) -> Floats:
    """The bound on degrees of freedom in the fit without each unit (see `effects.most_degrees`).

    NaN where counts do not tell that such a fit is possible and has the systems and the effects of the whole.

    Args:
        design: without calibration items.
        effects: of the design.
        ratios: of each effect's variance to that of the residual.
        unit: of each row.
    """
    units, systems = levels_of(unit), len(design.systems)
    text = next((effect.parts[0] for effect in effects.kept if effect.parts[0] in SYSTEM_ON_TEXT), None)
    if text is None or not _all_apart(effects) or not design.model.taste:
        return np.full(units, np.nan)
    codes = {_SYSTEM: design.system, **{effect.parts[0]: effect.codes for effect in effects.plain}}
    left = {name: _levels_left(of_rows, unit) for name, of_rows in codes.items()}
    surely = (left.pop(_SYSTEM) == systems) & _scores_differ(design.as_given, unit)
    surely &= _surely_apart(codes, left, unit)
    surely &= left.get(_SEGMENT, np.full(units, systems + 1)) > systems
    surely &= _same_screens(design, effects, unit)
    # Where several levels link all systems, some system has two of them, and so it has of whatever is finer.
    degrees = {}
    for crossed, own in ((TASTE, _PERSON), (text, SYSTEM_ON_TEXT[text])):
        degrees[crossed] = left[crossed] - left[own] - systems + 1
        surely &= (degrees[crossed] >= 1) & _still_linked(design.system, codes[own], unit, systems)
    tastes = np.maximum(degrees[TASTE] * Work.of(design).share_without_each(effects, ratios, unit), 1)
    most = np.array([min(people, eased(texts)) for people, texts in zip(tastes, degrees[text], strict=True)])
    return np.where(surely, most, np.nan)


def _all_apart(effects: Effects) -> bool:
    """Whether all effects of the model are there, each by itself, but for those that the data do not name."""
    named = all(left_out.cause in (Cause.NOT_NAMED, Cause.NO_SCREEN) for left_out in effects.left_out)
    alone = all(len(effect.parts) == 1 for effect in effects.kept)
    parts = {effect.parts[0] for effect in effects.kept}
    own = {SYSTEM_ON_TEXT[part] for part in parts & set(SYSTEM_ON_TEXT)}
    return named and alone and {_PERSON, TASTE, *own} <= parts


def _same_screens(design: MixedDesign, effects: Effects, unit: Codes) -> Bools:
    """Whether without each unit the same of `SCREENS` are effects, or part of others."""
    same = np.ones(levels_of(unit), dtype=bool)
    parts = {effect.parts[0] for effect in effects.kept}
    for name, text in zip(SCREENS, (design.document, design.segment), strict=True):
        if text is None or design.annotator is None:
            continue
        codes = combine(design.annotator, text)
        outputs = judged_outputs(codes, design)
        if levels_of(codes) == levels_of(outputs) or levels_of(codes) in (levels_of(text), levels_of(design.annotator)):
            continue
        levels, left = _levels_left(codes, unit), _levels_left(outputs, unit)
        same &= is_screen(name, levels, left, documents=design.document is not None) == (name in parts)
        same &= (levels > _levels_left(text, unit)) & (levels > _levels_left(design.annotator, unit))
    return same


def _levels_left(codes: Codes, unit: Codes) -> Codes:
    """How many levels are left without each unit: all but those whose rows are all of this unit."""
    levels = levels_of(codes)
    owner = np.empty(levels, dtype=np.int64)
    owner[codes] = unit
    inside = inside_blocks(Effect((), codes, levels), unit)
    return levels - np.bincount(owner[inside], minlength=levels_of(unit))


def _scores_differ(score: Floats, unit: Codes) -> Bools:
    """Whether what is left without each unit has different scores."""
    lowest, highest = (_without_each(sign * score, unit) * sign for sign in (1, -1))
    differ: Bools = lowest < highest
    return differ


def _without_each(score: Floats, unit: Codes) -> Floats:
    """The lowest score of all rows but those of each unit."""
    low = np.full(levels_of(unit), np.inf)
    np.minimum.at(low, unit, score)
    first = int(np.argmin(low))
    others = np.full(len(low), low[first])
    others[first] = np.delete(low, first).min(initial=np.inf)
    return others


def _surely_apart(codes: Mapping[str, Codes], left: Mapping[str, Codes], unit: Codes) -> Bools:
    """Whether without each unit all effects can be told from each other, and from the residual.

    Args:
        codes: of each effect.
        left: how many of its levels are left without each unit.
        unit: of each row.
    """
    every, gone = np.stack(list(left.values())), np.bincount(unit)
    surely: Bools = (every.min(axis=0) > 1) & (every.max(axis=0) < ALMOST_ALL * (gone.sum() - gone))
    for first, second in combinations(left, 2):
        fewer, more = np.minimum(left[first], left[second]), np.maximum(left[first], left[second])
        near = fewer >= ALMOST_ALL * more
        if (near & surely).any():
            together = _levels_left(combine(codes[first], codes[second]), unit)
            surely &= ~(near & (fewer >= ALMOST_ALL * together))
    return surely


def _still_linked(system: Codes, own: Codes, unit: Codes, systems: int) -> Bools:
    """Whether all systems share levels, directly or through others, without each unit."""
    first = np.unique(combine(system, own, unit), return_index=True)[1]
    system, own, unit = system[first], own[first], unit[first]
    linked = [
        number_of_groups(system[unit != code], own[unit != code], systems) == 1 for code in range(levels_of(unit))
    ]
    return np.array(linked)
