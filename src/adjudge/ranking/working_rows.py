"""Relative judgments as rows of a weighted mixed model, and its variances by restricted maximum likelihood (REML).

At strengths t0 a screen with m systems has the score s = sum (y - mu)(e_i - e_j) over its pairs, and the information
H = sum v (e_i - e_j)(e_i - e_j)' with eigenvalues l_r and eigenvectors q_r. It gives up to m - 1 rows

    x_r = sqrt(l_r) q_r,    y_r = q_r's / sqrt(l_r) = x_r'(delta + taste of annotator + luck of its texts) + e_r,

where delta is how far the strengths are from t0; tastes, lucks and errors are independent with the variances tau^2,
sigma^2 and phi. Rows of one screen are orthogonal, so the luck of a text that is on one screen alone only adds
sigma^2 l_r to the variances of its rows: it is a weight and needs no unknown.

The likelihood depends on the rows through sums of H and s by annotator, by text and by both (Henderson's equations).
The effect with the most unknowns is eliminated level by level, along the eigenvectors of its information. What is left,
the border, is one dense matrix with the strengths in it. Variances move by Fisher scoring. In large models the
information is a mean over random signs (Hutchinson 1990), and so are traces beyond `MOST_EXACT` unknowns in the border.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from adjudge.ranking.bradley_terry import RIDGE, expectations
from adjudge.table.maths import distinct
from adjudge.table.rng import DEFAULT_SEED, generator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjudge.ranking.counts import PeopleCounts
    from adjudge.table.comparisons import Comparisons
    from adjudge.table.maths import Bools, Codes, Floats

ANNOTATOR, SEGMENT, DOCUMENT = "annotator", "segment", "document"
LEAST_INFORMATION = 0.05
"""Rows with less than this share of the most information do not tell how large errors are."""
LEAST_RATIO = 1e-6
"""A variance below this share of that of errors is 0."""
LEAST_ERRORS = 0.25
"""phi is not below this, and not so small that judgments would vary less than independent comparisons do in all."""
MOST_DENSE = 300
"""Up to so many unknowns, the expected information is computed."""
MOST_EXACT = 1000
"""Up to so many unknowns, the border is inverted as a whole."""
SIGNS, SIGNS_WITH_TRACES = 24, 8
"""Random signs behind a trace beyond that, and behind the information where traces are exact."""
OWN_TASTES = 3.0
"""The variance of tastes for one system counts as if so many people had shown that for all."""
LEAST_OWN = 0.5
"""The variance of tastes for one system is at least this share of that for all."""
MOST_ROUNDS = 60
# Variances are settled when none moves by more than this share: in small models, in large ones, and where traces are
# means over random signs, so that a round takes long.
SETTLED, SETTLED_LARGE, SETTLED_SAMPLED = 1e-8, 1e-3, 1e-2
_STARTS = {ANNOTATOR: 0.03, SEGMENT: 0.8, DOCUMENT: 0.05}
_WIDTH = 8
"""Columns of eliminated levels are padded to multiples of this, so that many have one shape."""
_SLICE = 4_000_000
"""So many numbers are in memory at a time while levels are eliminated."""
_STREAM = 77


@dataclass(frozen=True, eq=False)
class Screens:
    """Screens of equally many systems: their labels (screens, m), scores (screens, m) and information."""

    label: Codes
    score: Floats
    information: Floats
    counted: tuple[float, int] | None = None
    """Sum of squares and number of rows, where a screen stands for all that an annotator judged."""

    @cached_property
    def _eigen(self) -> tuple[Floats, Floats, Floats, Bools]:
        value, vector = np.linalg.eigh(self.information)
        value = np.maximum(value, 0.0)
        telling = value > LEAST_INFORMATION * self.label.shape[1] / 4
        return value, vector, np.einsum("bik,bi->bk", vector, self.score), telling

    @property
    def rows(self) -> int:
        """How many rows tell how large errors are."""
        return self.counted[1] if self.counted is not None else int(self._eigen[3].sum())

    @property
    def values(self) -> Floats:
        """The eigenvalues l_r (screens, m)."""
        return self._eigen[0]

    def weighed(self, luck: Floats | None) -> tuple[Floats, Floats, float]:
        """Scores, information and sum of squares; luck (screens,) in units of phi adds to the variance of rows."""
        if luck is None and self.counted is not None:
            return self.score, self.information, self.counted[0]
        value, vector, along, telling = self._eigen
        factor = 1 / (1 + (0.0 if luck is None else luck[:, None]) * value)
        squares = float((along**2 * factor / np.where(telling, value, 1.0))[telling].sum())
        if luck is None:
            return self.score, self.information, squares
        score = (vector @ (along * factor)[:, :, None])[:, :, 0]
        return score, (vector * (value * factor)[:, None, :]) @ vector.swapaxes(1, 2), squares

    def of(self, chosen: Bools) -> Screens:
        """Some of the screens."""
        return Screens(self.label[chosen], self.score[chosen], self.information[chosen])


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of all screens. Labels are the systems that screens show: `system` and `screen` of each."""

    systems: int
    groups: tuple[Screens, ...]
    system: Codes
    screen: Codes
    level: dict[str, Codes]
    """(screens,) by effect; -1 where a text is on this screen alone."""
    alone: dict[str, Bools] = field(default_factory=dict)
    """(screens,) by effect: whose text is on this screen alone."""

    @property
    def number(self) -> int:
        """How many rows tell how large errors are."""
        return sum(group.rows for group in self.groups)

    def without(self, effect: str) -> Rows:
        """The rows without one of the effects."""
        level = {name: part for name, part in self.level.items() if name != effect}
        return replace(self, level=level, alone={name: part for name, part in self.alone.items() if name != effect})

    def typical_information(self) -> float:
        """The mean of l_r, weighed by l_r itself: times the variance of luck, it is what luck adds to phi."""
        values = np.concatenate([group.values.ravel() for group in self.groups])
        return float((values**2).sum() / max(values.sum(), 1e-300))


def rows_of_counts(people: PeopleCounts, strength: Floats, log_tie: float) -> Rows:
    """Rows where only counts by annotator are known: every comparison is a screen of its own, on its own text."""
    scores, information = moments(people, strength, log_tie)
    mean, variance = expectations(strength, log_tie)
    n, wins, ties = len(strength), people.wins.sum(0), np.triu(people.ties.sum(0))
    telling = 4 * variance > LEAST_INFORMATION
    squares = (wins * (1 - mean) ** 2 + ties * (0.5 - mean) ** 2) / np.where(telling, variance, 1.0)
    number = round(float((wins + ties)[telling].sum()))
    seen = information[:, np.arange(n), np.arange(n)] > 0
    label = np.arange(len(scores) * n).reshape(-1, n)
    group = Screens(label, scores, information, (float(squares[telling].sum()), number))
    screen, system = np.divmod(label.ravel(), n)
    return Rows(n, (group,), np.where(seen.ravel(), system, -1), screen, {ANNOTATOR: np.arange(len(scores))})


def moments(people: PeopleCounts, strength: Floats, log_tie: float) -> tuple[Floats, Floats]:
    """The score (people, n) and the information (people, n, n) of each annotator at these strengths."""
    mean, variance = expectations(strength, log_tie)
    met = people.wins + np.swapaxes(people.wins, 1, 2) + people.ties
    scores = (people.wins + people.ties / 2).sum(2) - (met * mean).sum(2)
    information = -met * variance
    index = np.arange(len(strength))
    information[:, index, index] = 0.0
    information[:, index, index] = -information.sum(2)
    return scores, information


def rows_of(compared: Comparisons, annotator: Codes, strength: Floats, log_tie: float) -> Rows:
    """The rows of comparisons; `annotator` says who made each: 0, 1, 2, ..."""
    n = len(strength)
    mean, variance = expectations(strength, log_tie)
    first, second = compared.first.astype(np.int64), compared.second.astype(np.int64)
    residual, v = (compared.outcome + 1) / 2 - mean[first, second], variance[first, second]
    _, at, screen = np.unique(compared.block, return_index=True, return_inverse=True)
    labels = distinct(np.concatenate([screen * n + first, screen * n + second]))
    one, other = np.searchsorted(labels, screen * n + first), np.searchsorted(labels, screen * n + second)
    score = np.bincount(one, residual, len(labels)) - np.bincount(other, residual, len(labels))
    size = np.bincount(labels // n)
    start = np.cumsum(size) - size
    # All entries of the information matrices, one screen after the other.
    offset = np.cumsum(size**2) - size**2
    i, j, m, base = one - start[screen], other - start[screen], size[screen], offset[screen]
    entries = np.zeros(int((size**2).sum()))
    for row, column, sign in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
        entries += sign * np.bincount(base + row * m + column, v, len(entries))
    groups = []
    for m in np.unique(size):
        chosen = np.flatnonzero(size == m)
        label = start[chosen][:, None] + np.arange(m)
        information = entries[offset[chosen][:, None] + np.arange(m * m)].reshape(-1, m, m)
        groups.append(Screens(label, score[label], information))
    level, alone = {ANNOTATOR: annotator[at].astype(np.int64)}, {}
    for name, text in _texts(compared, at).items():
        code = np.unique(text, return_inverse=True)[1]
        # Only screens with a system in common have luck in common.
        outputs, times = np.unique(code[labels // n] * n + labels % n, return_counts=True)
        shared = np.bincount(outputs // n, times > 1) > 0
        if shared.any():
            level[name], alone[name] = np.where(shared[code], np.cumsum(shared)[code] - 1, -1), ~shared[code]
    return Rows(n, tuple(groups), labels % n, labels // n, level, alone)


def _texts(compared: Comparisons, at: Codes) -> dict[str, Codes]:
    """The segment and the document of every screen, where there are several of them and the two are not the same."""
    found = {}
    for name, text in ((SEGMENT, compared.segment), (DOCUMENT, compared.document)):
        if text is not None and len(text) and text.min() < text.max():
            found[name] = text[at].astype(np.int64)
    if len(found) > 1:
        documents = len(distinct(found[DOCUMENT]))
        if documents == len(distinct(found[SEGMENT] * (found[DOCUMENT].max() + 1) + found[DOCUMENT])):
            del found[DOCUMENT]
    return found


@dataclass(frozen=True)
class Variances:
    """phi, the variance of errors, and the variances of the effects divided by it."""

    errors: float
    ratios: dict[str, float]

    def of(self, effect: str) -> float:
        """The variance of an effect; 0 where it is not in the model, or too small to matter."""
        ratio = self.ratios.get(effect, 0.0)
        return self.errors * ratio if ratio > 2 * LEAST_RATIO else 0.0


@dataclass(frozen=True, eq=False)
class OwnTastes:
    """What tastes for each system add to the covariance, one matrix (n, n) after the other: all would be gigabytes."""

    more: Floats
    """(systems,): how much more than all tastes those for one system vary."""
    tie: Floats
    """(tastes, n): what each taste has to do with the strengths."""
    system: Codes
    """The system that each taste is for."""

    def __iter__(self) -> Iterator[Floats]:
        for system, more in enumerate(self.more):
            mine = self.tie[self.system == system]
            yield more * mine.T @ mine


@dataclass(frozen=True, eq=False)
class Solution:
    """The strengths at some variances."""

    variances: Variances
    delta: Floats
    covariance: Floats
    """(n, n), of delta."""
    slopes: Floats
    """(variances, n, n): how the covariance moves with phi and with the variance of each effect above 0."""
    information: Floats
    """(variances, variances): of phi and those effects."""
    bound: float
    """The most degrees of freedom: in how many ways tastes can differ, fewer where few people have most weight."""
    own_tastes: OwnTastes
    """What is to be added to the covariance, as people differ more on some systems than on others."""
    own_df: Floats
    """(systems,): the degrees of freedom of each."""


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums of scores and information over screens: in the border, of the eliminated effect, and across the two."""

    border: Floats
    score: Floats
    squares: float
    own: tuple[Codes, Codes, Floats]
    crossed: tuple[Codes, Codes, Floats]
    own_score: Floats

    def __add__(self, other: _Sums) -> _Sums:
        own, crossed = (
            tuple(np.concatenate(pair) for pair in zip(ours, theirs, strict=True))
            for ours, theirs in ((self.own, other.own), (self.crossed, other.crossed))
        )
        return _Sums(
            self.border + other.border,
            self.score + other.score,
            self.squares + other.squares,
            (own[0], own[1], own[2]),
            (crossed[0], crossed[1], crossed[2]),
            self.own_score + other.own_score,
        )


class _Adding:
    """Adds values up by key, many at a time, because every sum over all keys takes as long as there are keys."""

    def __init__(self, size: int) -> None:
        self._total, self._parts, self._number = np.zeros(size), list[tuple["Codes", "Floats"]](), 0

    def add(self, key: Codes, value: Floats) -> None:
        """Add values, each to its key."""
        self._parts.append((key, value))
        self._number += len(key)
        if self._number > _SLICE:
            self.total()

    def total(self) -> Floats:
        """The sums so far."""
        if self._parts:
            key, value = (np.concatenate(part) for part in zip(*self._parts, strict=True))
            self._total += np.bincount(key, value, len(self._total))
            self._parts, self._number = [], 0
        return self._total


class _Levels:
    """The eliminated effect: eigenvalues of each level's information, and what ties its eigenvectors to the border."""

    def __init__(self, sums: _Sums, level: Codes, size: int) -> None:
        """Level is that of each unknown, ascending; size that of the border."""
        self.size, unknowns = size, len(level)
        height = np.bincount(level)
        start = np.cumsum(height) - height
        row, column, value = sums.crossed
        tied, place = np.unique(level[row] * size + column, return_inverse=True)
        width = np.bincount(tied // size, minlength=len(height))
        first = np.cumsum(width) - width
        padded = -(-width // _WIDTH) * _WIDTH
        offset = np.cumsum(height * padded) - height * padded
        of = level[row]
        cell = offset[of] + (row - start[of]) * padded[of] + place - first[of]
        blocks = np.bincount(cell, value, int((height * padded).sum()))
        row, column, value = sums.own
        of, squared = level[row], np.cumsum(height**2) - height**2
        own = np.bincount(
            squared[of] + (row - start[of]) * height[of] + column - start[of], value, int((height**2).sum())
        )
        self.value, self.score = np.zeros(unknowns), np.zeros(unknowns)
        self._groups: list[tuple[Codes, Codes, Floats]] = []
        self._vectors: list[Floats] = []
        for m, c in np.unique(np.stack([height, padded]), axis=1).T:
            chosen = np.flatnonzero((height == m) & (padded == c))
            rows = start[chosen][:, None] + np.arange(m)
            values, vectors = np.linalg.eigh(own[squared[chosen][:, None] + np.arange(m * m)].reshape(-1, m, m))
            block = blocks[offset[chosen][:, None] + np.arange(m * c)].reshape(-1, m, c)
            inside = np.arange(c) < width[chosen][:, None]
            # What is padded stands in a column beyond the border.
            columns = np.full((len(chosen), c), size)
            columns[inside] = tied[(first[chosen][:, None] + np.arange(c))[inside]] % size
            self.value[rows] = np.maximum(values, 0.0)
            self.score[rows] = np.einsum("bik,bi->bk", vectors, sums.own_score[rows])
            self._groups.append((rows, columns, vectors.swapaxes(1, 2) @ block))
            self._vectors.append(vectors)

    def _parts(self, weight: Floats) -> Iterator[tuple[Codes, Floats]]:
        """Slice by slice, columns and the sums over eigenvectors of weight times tie times tie: (levels, c, c)."""
        for rows, columns, block in self._groups:
            step = max(1, _SLICE // columns.shape[1] ** 2)
            for begin in range(0, len(rows), step):
                part = slice(begin, begin + step)
                tie = block[part]
                yield columns[part], (tie * weight[rows[part]][:, :, None]).swapaxes(1, 2) @ tie

    def reduction(self, weight: Floats) -> Floats:
        """B'WB in the border, B being the ties."""
        wide = self.size + 1
        adding = _Adding(wide * wide)
        for columns, products in self._parts(weight):
            adding.add((columns[:, :, None] * wide + columns[:, None, :]).ravel(), products.ravel())
        return adding.total().reshape(wide, wide)[:-1, :-1]

    def paired(self, weight: Floats, matrix: Floats) -> float:
        """The sum of the entries of B'WB times those of a matrix."""
        wide = np.zeros((self.size + 1, self.size + 1))
        wide[:-1, :-1] = matrix
        return sum(
            float((products * wide[columns[:, :, None], columns[:, None, :]]).sum())
            for columns, products in self._parts(weight)
        )

    def onto(self, border: Floats) -> Floats:
        """B x for x (border, k)."""
        wide = np.concatenate([border, np.zeros((1, border.shape[1]))])
        found = np.zeros((len(self.value), border.shape[1]))
        for rows, columns, block in self._groups:
            found[rows] = block @ wide[columns]
        return found

    def back(self, own: Floats) -> Floats:
        """B'x for x (unknowns, k)."""
        found = np.zeros((self.size + 1, own.shape[1]))
        for rows, columns, block in self._groups:
            np.add.at(found, columns.ravel(), (block.swapaxes(1, 2) @ own[rows]).reshape(-1, own.shape[1]))
        return found[:-1]

    def by_system(self, own: Floats) -> Floats:
        """Values along eigenvectors (unknowns, k) as values of systems."""
        found = np.zeros_like(own)
        for (rows, _, _), vectors in zip(self._groups, self._vectors, strict=True):
            found[rows] = vectors @ own[rows]
        return found

    def dense(self) -> Floats:
        """B itself."""
        found = np.zeros((len(self.value), self.size + 1))
        for rows, columns, block in self._groups:
            found[rows[:, :, None], columns[:, None, :]] = block
        return found[:, :-1]


class Equations:
    """Henderson's equations of rows, with one effect eliminated."""

    def __init__(self, rows: Rows, strength: Floats) -> None:
        self.rows, self.strength, n = rows, strength, rows.systems
        self.effects = tuple(rows.level)
        codes: dict[str, Codes] = {}
        levels: dict[str, Codes] = {}
        seen = rows.system >= 0
        for name, level in rows.level.items():
            of_label = level[rows.screen]
            held = seen & (of_label >= 0)
            known, place = np.unique(of_label[held] * n + rows.system[held], return_inverse=True)
            codes[name], levels[name] = np.full(len(seen), -1), known // n
            codes[name][held] = place
        self.unknowns = {name: len(known) for name, known in levels.items()}
        # Documents hold segments and are judged by many, so that they stay in the border.
        self.eliminated = max((name for name in self.effects if name != DOCUMENT), key=self.unknowns.__getitem__)
        self.border: dict[str, slice] = {}
        end = 0
        for name in self.effects:
            if name != self.eliminated:
                self.border[name] = slice(end, end + self.unknowns[name])
                end += self.unknowns[name]
        self.fixed, self.size = slice(end, end + n), end + n
        places = [np.where(codes[name] >= 0, codes[name] + part.start, -1) for name, part in self.border.items()]
        self._places = np.array([*places, np.where(seen, rows.system + end, -1)])
        self._code, self._level = codes[self.eliminated], levels[self.eliminated]
        moved = np.zeros(len(rows.level[ANNOTATOR]), dtype=bool)
        for alone in rows.alone.values():
            moved |= alone
        self._split = [(group, moved[rows.screen[group.label[:, 0]]]) for group in rows.groups]
        self._still = self._sums([(group if not on.any() else group.of(~on), None) for group, on in self._split])
        self._moving = [group.of(on) for group, on in self._split if on.any()]
        self._levels: _Levels | None = None
        if not any((self._code[group.label] >= 0).any() for group in self._moving):
            self._levels = _Levels(self._still, self._level, self.size)
        self._latest: tuple[Floats, _Sums, _Levels] | None = None
        self._solved: _Solved | None = None
        self.people = len(distinct(rows.level[ANNOTATOR]))

    def _sums(self, groups: list[tuple[Screens, Floats | None]]) -> _Sums:
        size = self.size
        border, score, squares = _Adding(size * size), np.zeros(size), 0.0
        own_score = np.zeros(self.unknowns[self.eliminated])
        own: list[tuple[Codes, Codes, Floats]] = []
        crossed: list[tuple[Codes, Codes, Floats]] = []
        nothing = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))
        for group, luck in groups:
            scores, information, square = group.weighed(luck)
            squares += square
            code, places = self._code[group.label], self._places[:, group.label]
            own_score += np.bincount(code[code >= 0], scores[code >= 0], len(own_score))
            own.append(_entries(code, code, information))
            for place in places:
                score += np.bincount(place[place >= 0], scores[place >= 0], size)
                crossed.append(_entries(code, place, information))
                for other in places:
                    row, column, value = _entries(place, other, information)
                    border.add(row * size + column, value)
        one, two = (
            tuple(np.concatenate(parts) for parts in zip(nothing, *many, strict=True)) for many in (own, crossed)
        )
        matrix = border.total().reshape(size, size)
        return _Sums(matrix, score, squares, (one[0], one[1], one[2]), (two[0], two[1], two[2]), own_score)

    def _at(self, ratios: dict[str, float]) -> tuple[_Sums, _Levels]:
        """The sums, where texts on one screen alone are weighed at these ratios."""
        if not self._moving and self._levels is not None:
            return self._still, self._levels
        weight = np.array([ratios[name] for name in self.rows.alone])
        if self._latest is None or not np.array_equal(self._latest[0], weight):
            luck = weight @ np.array(list(self.rows.alone.values()))
            sums = self._still + self._sums(
                [(group, luck[self.rows.screen[group.label[:, 0]]]) for group in self._moving]
            )
            self._latest = weight, sums, self._levels or _Levels(sums, self._level, self.size)
        return self._latest[1:]

    def at(self, variances: Variances) -> _Solved:
        """The equations solved at these variances; the latest solution is kept."""
        if self._solved is None or self._solved.variances != variances:
            self._solved = _Solved(self, variances, *self._at(variances.ratios))
        return self._solved

    def estimate(self, known: dict[str, float] | None = None, start: Variances | None = None) -> _Solved:
        """Solve at the variances of the largest restricted likelihood.

        Args:
            known: variances of effects that stay.
            start: where to start from; an effect that it does not have starts at 0.
        """
        held = known or {}
        squares = self._still.squares + sum(group.weighed(None)[2] for group in self._moving)
        typical = self.rows.typical_information()
        errors = max(0.8 * squares / max(self.rows.number, 1), 1.0)
        variance = np.array([errors, *(held.get(name, _STARTS[name]) for name in self.effects)])
        free = np.array([True, *(name not in held for name in self.effects)])
        if squares <= 1e-9 * self.rows.number:
            # Nothing varies where all comparisons are ties.
            variance[free] = [1.0, *(0.0 for name in self.effects if name not in held)]
            return self.at(self._variances(variance))
        if start is not None:
            variance[free] = [start.errors, *(start.of(name) for name in self.effects if name not in held)]
        small = self.size + self.unknowns[self.eliminated] <= MOST_DENSE
        settled = SETTLED if small else SETTLED_LARGE if self.size <= MOST_EXACT else SETTLED_SAMPLED
        emptied, before = np.zeros(len(variance), dtype=int), np.zeros(len(variance))
        for number in range(MOST_ROUNDS):
            solved = self.at(self._variances(variance))
            least = np.full(len(variance), LEAST_RATIO * variance[0])
            least[0] = max(1 - typical * variance[1:].sum(), LEAST_ERRORS)
            step = _step(variance, least, solved, free, emptied)
            if (np.abs(step) / (variance + step + 1e-2 * variance[0])).max() < settled:
                break
            # Weights of texts on one screen follow the variances, so that each step is a share of what is to come.
            share = float(step @ before) / max(float(before @ before), 1e-300)
            if 0.2 < share < 0.9 and (variance + step / (1 - share) > 0).all():
                step, before = step / (1 - share), np.zeros(len(variance))
            else:
                step, before = step * (0.5 if number > MOST_ROUNDS // 3 else 1.0), step
            variance = variance + step
        return solved

    def _variances(self, variance: Floats) -> Variances:
        ratio = np.maximum(variance[1:] / variance[0], LEAST_RATIO)
        return Variances(float(variance[0]), dict(zip(self.effects, ratio.tolist(), strict=True)))

    def information_by_annotator(self, ratios: dict[str, float]) -> Floats:
        """The eigenvalues of every annotator's information: (people, n)."""
        sums, levels = self._at(ratios)
        n, annotators = self.rows.systems, int(self.rows.level[ANNOTATOR].max()) + 1
        if self.eliminated == ANNOTATOR:
            found = np.zeros((annotators, n))
            place = np.arange(len(self._level)) - np.searchsorted(self._level, self._level)
            found[self._level, place] = levels.value
            return found
        of = self._tastes[0]
        found = np.zeros((annotators, n, n))
        for who in range(annotators):
            mine = self.border[ANNOTATOR].start + np.flatnonzero(of == who)
            found[who, : len(mine), : len(mine)] = sums.border[np.ix_(mine, mine)]
        return np.asarray(np.maximum(np.linalg.eigvalsh(found), 0.0))

    @cached_property
    def _tastes(self) -> tuple[Codes, Codes]:
        """Whose taste for which system each unknown is."""
        rows, seen = self.rows, self.rows.system >= 0
        found = distinct(rows.level[ANNOTATOR][rows.screen[seen]] * rows.systems + rows.system[seen])
        return found // rows.systems, found % rows.systems

    @property
    def systems_of_tastes(self) -> Codes:
        """The system that each taste is for."""
        return self._tastes[1]


def screen_weights(rows: Rows, variances: Variances) -> Floats:
    """About how much each screen counts: 1 / (1 + variance of its text's luck / error of what the text tells of it)."""
    information = np.zeros(len(rows.level[ANNOTATOR]))
    shown = np.bincount(rows.screen, minlength=len(information))
    for group in rows.groups:
        information[rows.screen[group.label[:, 0]]] = np.trace(group.information, axis1=1, axis2=2)
    found = np.ones(len(information))
    for name, alone in rows.alone.items():
        level, ratio = rows.level[name], variances.ratios[name]
        held = level[rows.screen] >= 0
        outputs = distinct(level[rows.screen][held] * rows.systems + rows.system[held])
        known = np.bincount(level[~alone], information[~alone]) / np.maximum(
            np.bincount(outputs // rows.systems) - 1, 1
        )
        found += ratio * np.where(alone, information / np.maximum(shown - 1, 1), known[level])
    return np.asarray(1 / found)


def fit_rows(rows: Rows, strength: Floats, known: dict[str, float] | None = None) -> Solution:
    """The strengths at the variances of the largest restricted likelihood.

    Documents make the border large, and often have no luck of their own beyond that of their segments. So they are
    tried after the rest is fitted.
    """
    first = Equations(rows.without(DOCUMENT), strength).estimate(known)
    if DOCUMENT not in rows.level:
        return first.solution()
    equations = Equations(rows, strength)
    none = Variances(first.variances.errors, {**first.variances.ratios, DOCUMENT: LEAST_RATIO})
    if equations.at(none).gradient[1 + equations.effects.index(DOCUMENT)] <= 0:
        return replace(first.solution(), variances=none)
    return equations.estimate(known, none).solution()


def _entries(row: Codes, column: Codes, information: Floats) -> tuple[Codes, Codes, Floats]:
    """The entries of matrices (screens, m, m) whose row and column are known: where they stand, and their values."""
    if row.min(initial=0) >= 0 and column.min(initial=0) >= 0:
        shape = information.shape
        rows, columns = np.broadcast_to(row[:, :, None], shape), np.broadcast_to(column[:, None, :], shape)
        return rows.ravel(), columns.ravel(), information.ravel()
    inside = (row >= 0)[:, :, None] & (column >= 0)[:, None, :]
    screen, i, j = np.nonzero(inside)
    return row[screen, i], column[screen, j], information[inside]


def _step(variance: Floats, least: Floats, solved: _Solved, free: Bools, emptied: Codes) -> Floats:
    """One step of Fisher scoring from these variances, of which none falls below its bound.

    A variance that would fall below is put at its bound, and the others move given that; one that comes back from its
    bound again and again approaches it slowly instead. `emptied` counts how often each was put there.
    """
    gradient, information = solved.gradient, solved.information
    at_bound = (variance <= least * 1.001) & (gradient <= 0)
    step = np.where(free & at_bound, least - variance, 0.0)
    moving = free & ~at_bound
    while moving.any():
        rest = ~moving
        right = gradient[moving] - information[np.ix_(moving, rest)] @ step[rest]
        step[moving] = np.linalg.lstsq(information[np.ix_(moving, moving)], right, rcond=1e-10)[0]
        below = moving & (variance + step < least)
        if not below.any():
            break
        often = below & (emptied > 2)
        step[below] = (least - variance)[below]
        step[often] *= 0.8
        emptied[below] += 1
        moving &= ~below
    return np.minimum(step, 3 * variance + 0.5)


class _Solved:
    """The equations solved at given variances: strengths, their covariance, gradient and information of variances."""

    def __init__(self, equations: Equations, variances: Variances, sums: _Sums, levels: _Levels) -> None:
        from scipy.linalg import cho_factor

        self.equations, self.variances, self.sums, self.levels = equations, variances, sums, levels
        n, fixed = equations.rows.systems, equations.fixed
        ratio = variances.ratios[equations.eliminated]
        self._shrunk = 1 / (1 + ratio * levels.value)
        self._weight = ratio * self._shrunk
        self._ridge = RIDGE * (np.eye(n) - 1 / n)
        scale = np.trace(sums.border[fixed, fixed]) / n
        matrix = sums.border - levels.reduction(self._weight)
        matrix[fixed, fixed] += self._ridge + scale / n
        root = np.ones(equations.size)
        for name, part in equations.border.items():
            root[part] = np.sqrt(variances.ratios[name])
        matrix *= root
        matrix *= root[:, None]
        matrix[np.arange(fixed.start), np.arange(fixed.start)] += 1.0
        factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        self._root, self._scale, self._factor = root, scale / n, factor
        score = sums.score.copy()
        score[fixed] -= RIDGE * equations.strength
        own, border = self._solution(levels.score[:, None], score[:, None])
        self._own, self._border = own[:, 0], border[:, 0]
        self.delta = self._border[fixed] - self._border[fixed].mean()
        left = sums.squares + RIDGE * float(equations.strength @ equations.strength)
        left -= float(levels.score @ self._own) + float(score @ self._border)
        strength = equations.strength + self.delta
        self._squares = left - RIDGE * float(strength @ strength)
        unit = np.zeros((equations.size, n))
        unit[fixed] = np.eye(n)
        self._of_fixed = self._solve(unit)
        """Columns of the inverse of the scaled border that belong to the strengths."""
        self._derivatives()

    def _solve(self, right: Floats) -> Floats:
        """The scaled border times this is the right side."""
        from scipy.linalg import cho_solve

        solved: Floats = cho_solve(self._factor, right, check_finite=False)
        return solved

    def _solution(self, own: Floats, border: Floats) -> tuple[Floats, Floats]:
        """The unknowns for right sides in the eliminated effect (unknowns, k) and in the border (size, k)."""
        reduced = border - self.levels.back(self._weight[:, None] * own)
        found = self._root[:, None] * self._solve(self._root[:, None] * reduced)
        return self._weight[:, None] * (own - self.levels.onto(found)), found

    def _derivatives(self) -> None:
        equations, phi, ratios = self.equations, self.variances.errors, self.variances.ratios
        names = equations.effects
        variance = np.array([phi * ratios[name] for name in names])
        # Residuals summed by level, and how much they vary: r_k = Z_k'P y and t_k = tr(Z_k'P Z_k).
        squared = np.array([float((part**2).sum()) for part in self._residuals(self._own, self._border)])
        dense = equations.size + equations.unknowns[equations.eliminated] <= MOST_DENSE
        trace, products = self._expected() if dense else self._sampled()
        if not dense and equations.size <= MOST_EXACT:
            trace = self._traces()
        rows = equations.rows.number - self._used()
        errors_trace = (rows - variance @ trace) / phi
        errors_squared = (self._squares / phi - variance @ squared) / phi
        self.gradient = 0.5 * np.append(errors_squared - errors_trace, squared - trace)
        crossed = (trace - products @ variance) / phi
        information = np.empty((len(names) + 1, len(names) + 1))
        information[0, 0] = (rows - 2 * variance @ trace + variance @ products @ variance) / phi**2
        information[1:, 1:], information[0, 1:], information[1:, 0] = products, crossed, crossed
        self.information = information / 2
        self.trace = trace

    def _residuals(self, own: Floats, border: Floats) -> Iterator[Floats]:
        """Z_k'P y of each effect, from the unknowns that y leads to: these are its variance times as large."""
        for name in self.equations.effects:
            mine = own if name == self.equations.eliminated else border[self.equations.border[name]]
            yield mine / (self.variances.errors * self.variances.ratios[name])

    def _used(self) -> float:
        """How many rows the strengths use up: n - 1 where all are connected."""
        n, fixed = self.equations.rows.systems, self.equations.fixed
        return n - float(np.sum(self._of_fixed[fixed] * (self._ridge + self._scale)))

    def _traces(self) -> Floats:
        """tr(Z_k'P Z_k) for each effect: (unknowns - trace of its part of the scaled inverse) / variance."""
        from scipy.linalg.lapack import dpotri

        equations = self.equations
        inverse = dpotri(self._factor[0], lower=1)[0]
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        diagonal, found = np.diag(inverse), []
        for name in equations.effects:
            if name == equations.eliminated:
                tied = self.levels.paired(self._shrunk**2, inverse * np.outer(self._root, self._root))
                found.append(float((self.levels.value * self._shrunk).sum()) - tied)
            else:
                left = equations.unknowns[name] - float(diagonal[equations.border[name]].sum())
                found.append(left / self.variances.ratios[name])
        return np.array(found) / self.variances.errors

    def _expected(self) -> tuple[Floats, Floats]:
        """tr(P V_k) and tr(P V_k P V_l), from one dense matrix of all unknowns."""
        equations, ratios = self.equations, self.variances.ratios
        own = len(self.levels.value)
        ties = self.levels.dense()
        gram = np.block([[np.diag(self.levels.value), ties], [ties.T, self.sums.border]])
        fixed = slice(own + equations.fixed.start, own + equations.fixed.stop)
        root = np.concatenate([np.full(own, np.sqrt(ratios[equations.eliminated])), self._root])
        whole = gram.copy()
        whole[fixed, fixed] += self._ridge + self._scale
        whole *= np.outer(root, root)
        random = np.arange(fixed.start)
        whole[random, random] += 1.0
        left = root[:, None] * gram
        projected = (gram - left.T @ np.linalg.solve(whole, left)) / self.variances.errors
        parts = [slice(0, own)] * len(equations.effects)
        for place, name in enumerate(equations.effects):
            if name != equations.eliminated:
                parts[place] = slice(own + equations.border[name].start, own + equations.border[name].stop)
        products = [[float((projected[one, other] ** 2).sum()) for other in parts] for one in parts]
        return np.array([float(np.trace(projected[part, part])) for part in parts]), np.array(products)

    def _sampled(self) -> tuple[Floats, Floats]:
        """The same as means over random signs z: z'Z_k'P Z_k z, and the squares of Z_l'P Z_k z."""
        equations, levels = self.equations, self.levels
        number = SIGNS_WITH_TRACES if equations.size <= MOST_EXACT else SIGNS
        rng = generator(DEFAULT_SEED, _STREAM)
        signs, own, border = [], [], []
        for name in equations.effects:
            drawn = rng.choice([-1.0, 1.0], (equations.unknowns[name], number))
            signs.append(drawn)
            if name == equations.eliminated:
                own.append(levels.value[:, None] * drawn)
                border.append(levels.back(drawn))
            else:
                wide = np.zeros((equations.size, number))
                wide[equations.border[name]] = drawn
                own.append(levels.onto(wide))
                border.append(self.sums.border[:, equations.border[name]] @ drawn)
        solved = self._solution(np.concatenate(own, axis=1), np.concatenate(border, axis=1))
        trace, products = np.zeros(len(signs)), np.zeros((len(signs), len(signs)))
        for one, residual in enumerate(self._residuals(*solved)):
            for other in range(len(signs)):
                part = residual[:, other * number : (other + 1) * number]
                products[one, other] = float((part**2).sum()) / number
                if one == other:
                    trace[one] = float((part * signs[one]).sum()) / number
        return trace, (products + products.T) / 2

    def solution(self) -> Solution:
        """What follows for the strengths."""
        equations, phi, ratios = self.equations, self.variances.errors, self.variances.ratios
        n, fixed = equations.rows.systems, equations.fixed
        centre = np.eye(n) - 1 / n
        columns = self._of_fixed @ centre
        covariance = phi * centre @ columns[fixed]
        slopes, moving = [], [0]
        used = np.zeros((n, n))
        for place, name in enumerate(equations.effects):
            if name == equations.eliminated:
                tie = self._shrunk[:, None] * self.levels.onto(self._root[:, None] * columns)
            else:
                tie = columns[equations.border[name]] / np.sqrt(max(ratios[name], 1e-300))
            slope = tie.T @ tie
            used += phi * ratios[name] * slope
            if ratios[name] > 2 * LEAST_RATIO:
                slopes.append(slope)
                moving.append(place + 1)
            if name == ANNOTATOR:
                tastes = self._tastes_by_system(tie)
        of_errors = (covariance - covariance @ (self._ridge / phi) @ covariance - used) / phi
        values = equations.information_by_annotator(ratios)
        share = (values / (1 + ratios[ANNOTATOR] * values)).sum(1)
        worth = float(share.sum() ** 2 / max((share**2).sum(), 1e-300))
        ways = equations.unknowns[ANNOTATOR] - equations.people - (n - 1)
        return Solution(
            self.variances,
            self.delta,
            covariance,
            np.array([of_errors, *slopes]),
            self.information[np.ix_(moving, moving)],
            ways * (worth - 1) / max(equations.people - 1, 1),
            *tastes,
        )

    def _tastes_by_system(self, tie: Floats) -> tuple[OwnTastes, Floats]:
        """What tastes for each system, which may differ more or less than those for others, add to the covariance.

        How far the variance of tastes for one system is from that for all is told by one step of Fisher scoring. As few
        people tell little of it, it is shrunk as if `OWN_TASTES` more people had shown the common variance.
        """
        equations = self.equations
        phi, ratio, n = self.variances.errors, self.variances.ratios[ANNOTATOR], equations.rows.systems
        if equations.eliminated == ANNOTATOR:
            residual, tie = self.levels.by_system(self._own[:, None])[:, 0], self.levels.by_system(tie)
            row, column, value = self.sums.own
            same = row == column
            information = np.bincount(row[same], value[same], len(residual))
        else:
            part = equations.border[ANNOTATOR]
            residual, information = self._border[part], np.asarray(np.diag(self.sums.border)[part], dtype=np.float64)
        residual = residual / (phi * ratio)
        # How much residuals vary, up to what the strengths take up, which makes their sum right.
        spread = information / (phi * (1 + ratio * information))
        spread *= self.trace[equations.effects.index(ANNOTATOR)] / spread.sum()
        system = equations.systems_of_tastes
        squared, expected, known = (np.bincount(system, part, n) for part in (residual**2, spread, spread**2))
        people = expected**2 / np.maximum(known, 1e-300)
        # One is lost to the strength of the system and one to the common variance: two people tell nothing.
        people = np.maximum(people - 2, 0.0)
        more = (squared - expected) / np.maximum(known, 1e-300) * people / (people + OWN_TASTES)
        more = np.maximum(more, (LEAST_OWN - 1) * phi * ratio)
        return OwnTastes(more, tie, system), people + 1 + OWN_TASTES
