"""Breakdowns by a column: does a system fare better on some of the judgments than on others?

`scores` asks the mixed model, `relative` permutes the subsets among documents. Holm corrects for the number of columns.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from adjudge.evidence.verdict import say_subsets_differ
from adjudge.mixed.variances import Cause
from adjudge.ranking.estimator import RelativeEstimator, ScoreEstimator, fit_cells, is_relative
from adjudge.ranking.lines import holm
from adjudge.ranking.methods import DEFAULTS, METHODS
from adjudge.ranking.scores import as_scores
from adjudge.table.comparisons import block_rows, comparisons
from adjudge.table.errors import DataError, UsageError, param, unknown_choice
from adjudge.table.judgments import codes_of
from adjudge.table.maths import student_tail
from adjudge.table.results import Cell, Table, number, p_value, tabulate, text
from adjudge.table.rng import DEFAULT_SEED, generator
from adjudge.table.wording import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.evidence.audit import AuditSettings
    from adjudge.mixed.design import MixedDesign
    from adjudge.mixed.fit import MixedFit
    from adjudge.ranking.ranking import Ranking
    from adjudge.table.comparisons import Comparisons
    from adjudge.table.judgments import Judgments
    from adjudge.table.maths import Codes, Floats


# The subsets by a column: its values, or three parts of a column of many numbers.
#
# `source_length` is a column that need not be there: it is counted in words where the judgments hold the source texts.


PARTS = ("low", "middle", "high")
FEW_VALUES = 8
"""A column of more different numbers is cut into three parts."""
MOST_LEVELS = 200
SOURCE_LENGTH = "source_length"
ANSWERS = ("score", "rank", "spans")
"""What a ranking is made of; subsets by it would tell nothing."""
MISSING = ("", "nan", "na", "n/a", "null", "none")
"""What files write where a value is missing."""


@dataclass(frozen=True, eq=False)
class Subsets:
    """The subset of every row."""

    column: str
    levels: tuple[str, ...]
    code: Codes
    """The place of the row's subset among the levels; -1 where the column has no value."""
    ordered: bool
    """Whether the levels go from low to high."""


def subsets(table: pl.DataFrame, column: str) -> Subsets:
    """Divide the rows of a table by one of its columns."""
    values = _values(table, column)
    numbers = _as_numbers(values)
    if numbers is not None and numbers.n_unique() > FEW_VALUES:
        return _three_parts(column, numbers)
    if numbers is not None:
        # Few numbers may be the numbers of groups, so no order is taken for granted.
        groups = [_plain(value) for value in sorted(numbers.drop_nulls().unique().to_list())]
        return _coded(column, groups, numbers.map_elements(_plain, return_dtype=pl.String))
    words = _known_words(values)
    return _coded(column, sorted(words.drop_nulls().unique().to_list()), words)


def _values(table: pl.DataFrame, column: str) -> pl.Series:
    if column in ANSWERS:
        raise UsageError(
            f"{param('by')} {column} would divide the judgments by what is ranked; name a column about the texts"
        )
    if column in table.columns:
        return table[column]
    if column == SOURCE_LENGTH and "source_text" in table.columns:
        return table["source_text"].str.split(" ").list.eval(pl.element().filter(pl.element() != "")).list.len()
    if column == SOURCE_LENGTH:
        raise DataError(
            f"lengths need the source texts; give a column source_length or source_text in {param('attributes')}"
        )
    raise unknown_choice(f"column for {param('by')}", column, [name for name in table.columns if name not in ANSWERS])


def _known_words(values: pl.Series) -> pl.Series:
    words = values.cast(pl.String).str.strip_chars()
    return words.set(words.str.to_lowercase().is_in(MISSING).fill_null(value=False), None)


def _as_numbers(values: pl.Series) -> pl.Series | None:
    """The values as numbers; None where some are not."""
    if values.dtype == pl.Boolean or values.dtype.is_nested():
        return None
    values = _known_words(values)
    numbers = values.cast(pl.Float64, strict=False)
    return None if (numbers.is_null() & values.is_not_null()).any() or numbers.is_null().all() else numbers


def _plain(value: float) -> str:
    """A number with as many digits as tell it from others: 20240501 is not 20240502."""
    return f"{value:.15g}"


def _short(value: float) -> str:
    return _plain(value) if value == round(value) else f"{value:g}"


def _three_parts(column: str, values: pl.Series) -> Subsets:
    """Cut at the thirds of the rows; every part is named with its range."""
    array = values.to_numpy().astype(float)
    known = ~np.isnan(array)
    low, high = np.quantile(array[known], (1 / 3, 2 / 3))
    part = np.where(known, (array > low).astype(int) + (array > high), -1)
    present = [index for index in range(len(PARTS)) if (part == index).any()]
    names = tuple(
        f"{PARTS[index]} ({_short(array[part == index].min())} to {_short(array[part == index].max())})"
        for index in present
    )
    code = np.full(len(array), -1)
    for place, index in enumerate(present):
        code[part == index] = place
    return _checked(Subsets(column, names, code, ordered=True))


def _coded(column: str, levels: list[str], words: pl.Series) -> Subsets:
    if len(levels) > MOST_LEVELS:
        much = f"column '{column}' has {len(levels):,} values; {MOST_LEVELS} are the most to compare"
        raise DataError(f"{much}; group them in a column of a side table ({param('attributes')})")
    codes = words.replace_strict(levels, range(len(levels)), default=-1, return_dtype=pl.Int64).fill_null(-1)
    return _checked(Subsets(column, tuple(levels), codes.to_numpy(), ordered=False))


def _checked(parts: Subsets) -> Subsets:
    if len(parts.levels) < 2:
        raise DataError(f"column '{parts.column}' has fewer than two values, so there is nothing to compare")
    return parts


@dataclass(frozen=True)
class ColumnTest:
    """What came out for one column, before the correction for other columns."""

    levels: tuple[str, ...]
    scores: tuple[SubsetScore, ...]
    p: float
    name: str
    """Which test, in words."""
    unknown: int
    """Judgments without a value in the column."""


def ranks_within(level: Codes, score: Floats) -> Codes:
    """The rank of every score within its level, 1 for the highest; equal scores share the better rank."""
    same = level[:, None] == level[None, :]
    ranks: Codes = 1 + (same & (score[None, :] > score[:, None])).sum(axis=1)
    return ranks


# Breakdown: systems within subsets of the judgments, and whether they differ between subsets by more than chance.


LEVEL = 0.05


@dataclass(frozen=True)
class SubsetScore:
    """One system within one subset."""

    system: str
    level: str
    n: int
    score: float
    se: float
    shift: float
    """How much better the system is here than elsewhere, compared with the other systems; NaN where it is not known."""
    rank: int
    """Among the systems of the subset."""
    p: float
    """That the shift is chance, corrected for all systems and subsets of the column; NaN where it is not known."""


@dataclass(frozen=True)
class ColumnBreakdown:
    """The subsets by one column. A small p says that systems differ between subsets by more than chance."""

    column: str
    levels: tuple[str, ...]
    scores: tuple[SubsetScore, ...]
    p: float
    """Of the interaction of systems and subsets."""
    p_holm: float
    """Corrected for the number of columns asked for."""
    test: str
    """Which test p comes from, in words."""
    unknown: int = 0
    """Judgments that have no value in the column, and are left out here."""

    @property
    def differs(self) -> bool:
        """Whether systems differ between subsets by more than chance."""
        return self.p_holm < LEVEL

    @property
    def largest(self) -> SubsetScore | None:
        """The largest shift that is known."""
        known = [score for score in self.scores if not math.isnan(score.shift)]
        return max(known, key=lambda score: abs(score.shift), default=None)

    def verdict(self, asked: int) -> str:
        """The answer in a sentence."""
        return say_subsets_differ(self.differs, self.p, self.p_holm, asked, self.test)


@dataclass(frozen=True)
class Breakdown:
    """All columns that were asked for."""

    columns: tuple[ColumnBreakdown, ...]
    unit: str = "score"
    """What a score is, for the axis of a chart."""

    def tables(self) -> tuple[Table, ...]:
        """For every column the systems by subsets, and every shift."""
        asked = len(self.columns)
        return tuple(
            table for column in self.columns for table in (_scores_breakdown(column, asked), _shifts_breakdown(column))
        )


def _scores_breakdown(breakdown: ColumnBreakdown, asked: int) -> Table:
    systems = list(dict.fromkeys(score.system for score in breakdown.scores))
    cells = {(score.system, score.level): score for score in breakdown.scores}
    rows: list[tuple[Cell, ...]] = []
    for system in systems:
        row = [cells.get((system, level)) for level in breakdown.levels]
        rows.append((system, *(None if cell is None else cell.score for cell in row)))
    unknown = counted(breakdown.unknown, "judgment has", "judgments have")
    are = agreeing(breakdown.unknown, "is", "are")
    left_out = f" {unknown} no {breakdown.column} and {are} left out." if breakdown.unknown else ""
    columns = (text("system"), *(number(level, 2) for level in breakdown.levels))
    return Table(f"Breakdown by {breakdown.column}", columns, tuple(rows), breakdown.verdict(asked) + left_out)


def _shifts_breakdown(breakdown: ColumnBreakdown) -> Table:
    scores = sorted(breakdown.scores, key=lambda score: (breakdown.levels.index(score.level), score.rank))
    columns = {
        "level": text("subset"),
        "rank": number("rank", 0, help="among the systems of the subset"),
        "system": text("system"),
        "n": number("n", 0, help="judgments in the subset"),
        "score": number("score", 2),
        "se": number("se", 2),
        "shift": number("shift", 2, help="how much better than elsewhere, compared with the other systems"),
        "p": p_value("p", help="that the shift is chance, corrected for all systems and subsets"),
    }
    lines = frozenset(i for i, (one, other) in enumerate(pairwise(scores), start=1) if one.level != other.level)
    return replace(tabulate(f"Ranks and shifts by {breakdown.column}", scores, columns), lines=lines)


# Breakdown of relative judgments: are systems stronger in some subsets than Bradley-Terry expects of all judgments?
#
# With t the strengths from all judgments, every comparison leaves a residual y - mu. An annotator's taste b,
# predicted with the variance that `rank` estimates, explains a part of the residuals; what is left, y - mu - v (b_i -
# b_j), is summed by system within each subset: S_l, with information M_l. The statistic is the sum over subsets of
# S_l' M_l^-1 S_l (Rao's score test of strengths by subset), over its degrees of freedom: where the same few systems
# are compared again and again within a document, they are fewer than after a permutation.
#
# Its distribution comes from permutation. Judgments of one document are not independent, so whole documents change
# subsets, or whole annotators where the column is about them; where the column differs within documents, as the length
# of segments does, segments change places within their document. A shift of one system in one subset is tested by the
# same permutations, against the largest shift of each (Westfall and Young 1993, section 2.5), which corrects for all.


PERMUTATIONS = 1999
CHUNK = 100
FEWEST_UNITS = 4
"""Fewer documents (annotators, segments) cannot change places in enough ways to be significant."""
RIDGE = 0.5
"""Added to the information of every system in a subset: half a comparison, which bounds shifts that rest on nothing."""


@dataclass(frozen=True, eq=False)
class Randomness:
    """Where permutations come from."""

    rng: np.random.Generator
    permutations: int = PERMUTATIONS


@dataclass(frozen=True, eq=False)
class _Units:
    """What changes subsets as a whole: its name, the unit of every block, and in which stratum it may move."""

    name: str
    of_block: Codes
    stratum: Codes
    """The stratum of every unit."""
    level: Codes
    """The subset of every unit."""
    of_annotators: bool
    """Whether the column is about annotators, and the units are parts of their work."""


@dataclass(frozen=True, eq=False)
class _Sums:
    """Residuals and information of every unit, summed by system."""

    score: Floats
    """(units, n)"""
    information: Floats
    """(units, n * n)"""


def relative_breakdown(judgments: Judgments, column: str, randomness: Randomness) -> ColumnTest:
    """Every system in every subset by a column."""
    compared, blocks = comparisons(judgments), block_rows(judgments)
    parts = _of_blocks(judgments, blocks, column)
    known = parts.code[compared.block] >= 0
    part = compared.keep(known, parts.code[compared.label_block] >= 0)
    units = _units(blocks, parts)
    # Where the question is what tastes are like, they stay in the residuals.
    residuals = RelativeEstimator(part).residuals(beyond_tastes=not units.of_annotators)
    sums = _sums(part, residuals, units)
    p, p_shift = _permuted(sums, units, len(parts.levels), randomness)
    return ColumnTest(
        parts.levels,
        _scores(part, parts, p_shift),
        p,
        f"{units.name} permuted {randomness.permutations:,} times",
        int((parts.code < 0).sum()),
    )


def _of_blocks(judgments: Judgments, blocks: pl.DataFrame, column: str) -> Subsets:
    """The subset of every block."""
    from adjudge.table.comparisons import BLOCK_KEY, relative_judgments

    parts = subsets(blocks, column)
    if column in BLOCK_KEY or column not in blocks.columns:
        return parts
    table = relative_judgments(judgments).table
    (code,) = codes_of(table, BLOCK_KEY)
    differing = table.select(column).with_columns(block=code).unique().height - blocks.height
    if differing:
        raise DataError(
            f"column '{column}' differs within what was compared ({counted(differing, 'time')}), so it says nothing "
            "of the whole comparison; choose a column about segments, documents, annotators or tasks"
        )
    return parts


def _laplacian(weights: Floats) -> Floats:
    """Sum w (e_i - e_j)(e_i - e_j)' from weights of pairs, (..., n, n), that hold every pair in both directions."""
    n = weights.shape[-1]
    off = np.where(np.eye(n, dtype=bool), 0.0, weights)
    laplacian: Floats = np.eye(n) * off.sum(-1)[..., None, :] - off
    return laplacian


def _units(blocks: pl.DataFrame, parts: Subsets) -> _Units:
    """The coarsest units within which the column is constant, as long as every subset has about two or more."""
    known = np.flatnonzero(parts.code >= 0)
    document_key = ("source_lang", "target_lang", "campaign", "document")
    keys = {"documents": document_key, "annotators": ("annotator",), "segments": (*document_key, "segment")}
    named = {name: key for name, key in keys.items() if blocks[key[-1]][known].n_unique() > 1}
    codes = dict(zip(named, codes_of(blocks[known], *named.values()), strict=True)) | {"blocks": np.arange(len(known))}
    level = parts.code[known]
    usable = {
        name: code
        for name, code in codes.items()
        if _constant(code, level) and len(np.unique(code)) >= max(FEWEST_UNITS, 2 * len(parts.levels))
    }
    if not usable:
        raise DataError(f"too few documents, annotators or segments differ in '{parts.column}' to test it")
    name, code = min(usable.items(), key=lambda item: len(np.unique(item[1])))
    _, first, unit = np.unique(code, return_index=True, return_inverse=True)
    # Segments and blocks change places within their document, where documents have several subsets.
    document = codes.get("documents")
    inside = name in ("segments", "blocks") and document is not None and not _constant(document, level)
    stratum = document[first] if inside and document is not None else np.zeros(len(first), dtype=np.int64)
    of_block = np.full(blocks.height, -1)
    of_block[known] = unit
    where = " within their documents" if inside else ""
    if name in ("segments", "blocks") and document is None:
        where = ", as documents are not known,"
    of_annotators = name != "annotators" and "annotators" in codes and _constant(codes["annotators"], level)
    return _Units(f"{name}{where}", of_block, stratum, level[first], of_annotators)


def _constant(code: Codes, level: Codes) -> bool:
    return len(np.unique(code)) == len(np.unique(np.stack([code, level]), axis=1).T)


def _sums(part: Comparisons, residuals: tuple[Floats, Floats], units: _Units) -> _Sums:
    """Residuals and their information, by unit."""
    first, second = part.first.astype(np.int64), part.second.astype(np.int64)
    residual, weight = residuals
    unit, n, count = units.of_block[part.block], len(part.systems), len(units.level)
    score = np.zeros(count * n)
    for system, sign in ((first, 1.0), (second, -1.0)):
        score += sign * np.bincount(unit * n + system, residual, count * n)
    pairs = np.bincount((unit * n + first) * n + second, weight, count * n * n).reshape(count, n, n)
    information = _laplacian((pairs + np.swapaxes(pairs, 1, 2)).astype(np.float64))
    return _Sums(score.reshape(count, n), information.reshape(count, n * n))


@dataclass(frozen=True, eq=False)
class _Statistics:
    """The statistic (draws,) and the sums of residuals by subset (draws, levels, n)."""

    whole: Floats
    score: Floats


def _statistics(sums: _Sums, level: Codes, levels: int) -> _Statistics:
    """The statistics for one or more assignments (draws, units) of units to subsets."""
    from scipy.sparse import csr_array

    draws, units = level.shape
    n = sums.score.shape[1]
    row = (np.arange(draws)[:, None] * levels + level).ravel()
    column = np.tile(np.arange(units), draws)
    member = csr_array((np.ones(len(row)), (row, column)), shape=(draws * levels, units))
    score = (member @ sums.score).reshape(draws, levels, n)
    information = (member @ sums.information).reshape(draws, levels, n, n)
    bounded = information + RIDGE * np.eye(n)
    moved = np.linalg.solve(bounded, np.concatenate([score[..., None], information], axis=-1))
    squares = (score * moved[..., 0]).sum((1, 2))
    freedom = np.trace(moved[..., 1:], axis1=-2, axis2=-1).sum(1)
    return _Statistics(squares / np.maximum(freedom, 1e-12), score)


def _permuted(sums: _Sums, units: _Units, levels: int, randomness: Randomness) -> tuple[float, Floats]:
    """The p of the statistic, and the corrected p of every shift: (levels, n)."""
    observed = _statistics(sums, units.level[None, :], levels)
    drawn: list[_Statistics] = []
    for start in range(0, randomness.permutations, CHUNK):
        count = min(CHUNK, randomness.permutations - start)
        shuffled = np.stack([_shuffled(units, randomness.rng) for _ in range(count)])
        drawn.append(_statistics(sums, shuffled, levels))
    whole = np.concatenate([part.whole for part in drawn])
    score = np.concatenate([part.score for part in drawn])
    spread = np.maximum(score.std(axis=0), 1e-12)
    centre = score.mean(axis=0)
    size = np.abs(observed.score[0] - centre) / spread
    largest = (np.abs(score - centre) / spread).max((1, 2))
    p = (1 + (whole >= observed.whole[0] * (1 - 1e-12)).sum()) / (1 + len(whole))
    p_shift = (1 + (largest[:, None, None] >= size).sum(0)) / (1 + len(largest))
    return float(p), np.where(spread > 1e-9, p_shift, 1.0)


def _shuffled(units: _Units, rng: np.random.Generator) -> Codes:
    """The subsets of units, exchanged at random within each stratum."""
    order = np.lexsort((rng.random(len(units.level)), units.stratum))
    shuffled = np.empty_like(units.level)
    shuffled[np.argsort(units.stratum, kind="stable")] = units.level[order]
    return shuffled


def _scores(part: Comparisons, parts: Subsets, p_shift: Floats) -> tuple[SubsetScore, ...]:
    """The strengths within each subset with their errors, and the shifts between them."""
    n, levels = len(part.systems), len(parts.levels)
    strength, error, met = np.full((levels, n), np.nan), np.full((levels, n), np.nan), np.zeros((levels, n), dtype=int)
    for level in range(levels):
        inside = part.keep(parts.code[part.block] == level, parts.code[part.label_block] == level)
        if not len(inside):
            continue
        strength[level], error[level], met[level] = RelativeEstimator(inside, check=False).strengths()
    everywhere = ~np.isnan(strength).any(0)
    shift = np.full_like(strength, np.nan)
    if everywhere.sum() > 1:
        centred = strength - strength[:, everywhere].mean(1, keepdims=True)
        shift = np.where(everywhere, centred - centred.mean(0), np.nan)
    subset, system = np.nonzero(~np.isnan(strength))
    rank = ranks_within(subset, strength[subset, system])
    return tuple(
        SubsetScore(
            part.systems[s], parts.levels[k], int(met[k, s]), float(strength[k, s]), float(error[k, s]),
            float(shift[k, s]), int(rank[i]), float(p_shift[k, s]) if everywhere[s] else np.nan,
        )
        for i, (k, s) in enumerate(zip(subset.tolist(), system.tolist(), strict=True))
    )  # fmt: skip


# Breakdown of scores: the mixed model with one effect for every system in every subset.
#
# With m(s, l) the effect of system s in subset l, the interaction is the set of contrasts m(s, l) - m(s, 1) - m(1, l)
# + m(1, 1) (of cells that were judged, all that sums of systems and subsets leave), tested together by the F
# statistic c' V^-1 c / q with q contrasts. Where subsets are ordered from low to high, as lengths are, only the
# slopes are compared, which needs fewer contrasts and finds a trend more often. Tastes of annotators, which are for
# systems, cancel out of contrasts within an annotator, so these rest on pages and documents and not on the number of
# annotators (`ContrastDegrees`).


MOST_CELLS = 1200
TWO = 2
ONE_PAGE = (Cause.ONE_LEVEL, Cause.SYSTEMS)
"""Why pages are left out of the model where every system has one."""


@dataclass(frozen=True, eq=False)
class _Cells:
    """The systems in subsets that were judged: cell i is system `owner[i]` in subset `level[i]`."""

    owner: Codes
    level: Codes
    complete: tuple[int, ...]
    """The systems that were judged in every subset."""
    index: dict[tuple[int, int], int]

    @classmethod
    def of(cls, cells: Codes, levels: int) -> _Cells:
        owner, level = cells // levels, cells % levels
        index = {(int(s), int(k)): i for i, (s, k) in enumerate(zip(owner, level, strict=True))}
        complete = tuple(int(s) for s in np.unique(owner) if (owner == s).sum() == levels)
        return cls(owner, level, complete, index)


def score_breakdown(design: MixedDesign, table: pl.DataFrame, column: str) -> ColumnTest:
    """Every system in every subset by a column of the table of last revisions."""
    parts = subsets(table[design.row], column)
    known = design.subset(parts.code >= 0)
    code, levels = parts.code[parts.code >= 0], len(parts.levels)
    cells = _Cells.of(np.unique(known.system * levels + code), levels)
    _check(cells, parts)
    known.check()
    # Subsets need not share annotators or documents: systems are compared within each.
    fitted = fit_cells(known, code, parts.levels).fit
    _check_pages(fitted, column)
    contrasts = _interaction(cells, levels, ordered=parts.ordered)
    if not len(contrasts):
        raise DataError(f"no two systems were judged in the same two subsets by '{column}'; nothing to compare")
    return ColumnTest(
        parts.levels,
        _scores_scores(fitted, cells, known.systems, parts),
        _f_test(fitted, contrasts),
        "slopes from low to high by the mixed model" if parts.ordered and levels > 2 else "by the mixed model",
        int((parts.code < 0).sum()),
    )


def _check(cells: _Cells, parts: Subsets) -> None:
    if parts.ordered and len(cells.complete) < TWO:
        raise DataError(f"fewer than two systems were judged in every subset by '{parts.column}'")
    if len(cells.owner) > MOST_CELLS:
        held = (
            f"'{parts.column}' has {len(parts.levels)} values, which with the systems make {len(cells.owner):,} cells"
        )
        raise DataError(
            f"{held}; {MOST_CELLS:,} are the most to compare. Group them in a side table ({param('attributes')})"
        )


def _check_pages(fitted: MixedFit, column: str) -> None:
    """Refuse subsets of one page each: what one person thought of one page is then taken for the subset."""
    if any(left.effect == "page" and left.cause in ONE_PAGE for left in fitted.left_out):
        raise DataError(f"every system was judged on one page only in each subset by '{column}'; nothing to compare")


def _interaction(cells: _Cells, levels: int, *, ordered: bool) -> Floats:
    """The contrasts that are 0 where all systems differ between subsets in the same way."""
    if not ordered or levels == TWO:
        return _beyond_sums(cells, levels)
    first, *others = cells.complete
    slope = np.arange(levels) - (levels - 1) / 2
    rows = np.zeros((len(others), len(cells.owner)))
    for row, system in zip(rows, others, strict=True):
        row[[cells.index[system, level] for level in range(levels)]] = slope
        row[[cells.index[first, level] for level in range(levels)]] = -slope
    return rows


def _beyond_sums(cells: _Cells, levels: int) -> Floats:
    """All that cells tell beyond sums of a system's and a subset's own effect; not every cell need be judged."""
    from scipy.linalg import null_space

    contrasts: Floats = null_space(_sums_of_effects(cells, levels).T).T
    return contrasts


def _sums_of_effects(cells: _Cells, levels: int) -> Floats:
    """Indicators of the system and of the subset of every cell."""
    systems = np.unique(cells.owner, return_inverse=True)[1]
    return np.hstack([np.eye(int(systems.max()) + 1)[systems], np.eye(levels)[cells.level]])


def _f_test(fitted: MixedFit, contrasts: Floats) -> float:
    """The p that all contrasts are 0."""
    from scipy.special import chdtrc, fdtrc

    value, covariance = contrasts @ fitted.effects, contrasts @ fitted.covariance @ contrasts.T
    q, degrees = len(contrasts), fitted.degrees.of_several(contrasts)
    statistic = float(value @ np.linalg.solve(covariance, value))
    p = fdtrc(q, degrees, statistic / q) if np.isfinite(degrees) else chdtrc(q, statistic)
    return max(float(p), sys.float_info.min)


def _scores_scores(
    fitted: MixedFit, cells: _Cells, systems: tuple[str, ...], parts: Subsets
) -> tuple[SubsetScore, ...]:
    shift, p = _shifts(fitted, cells, len(parts.levels))
    rank = ranks_within(cells.level, fitted.effects)
    return tuple(
        SubsetScore(
            systems[s], parts.levels[k], int(fitted.n[i]), float(fitted.effects[i]), float(fitted.se[i]),
            float(shift[i]), int(rank[i]), float(p[i]),
        )
        for i, (s, k) in enumerate(zip(cells.owner.tolist(), cells.level.tolist(), strict=True))
    )  # fmt: skip


def _shifts(fitted: MixedFit, cells: _Cells, levels: int) -> tuple[Floats, Floats]:
    """How much better each system is in a subset than in the others, beside the other systems; p after Holm.

    A cell that sums of systems and subsets explain whatever its value, such as a system's only one, has no shift.
    """
    sums = _sums_of_effects(cells, levels)
    contrasts = np.eye(len(cells.owner)) - sums @ np.linalg.pinv(sums)
    tested = np.diag(contrasts) > 1e-9
    contrasts = contrasts[tested]
    value = contrasts @ fitted.effects
    error = np.sqrt(np.maximum(np.einsum("ci,ij,cj->c", contrasts, fitted.covariance, contrasts), 1e-300))
    shift, p = np.full(len(tested), np.nan), np.full(len(tested), np.nan)
    shift[tested] = value
    p[tested] = holm(2 * student_tail(np.abs(value) / error, fitted.degrees.of(contrasts)))
    return shift, p


_STREAM = 47


def breakdown_section(judgments: Judgments, settings: AuditSettings) -> Breakdown:
    """The section of an audit."""
    if not settings.by:
        raise DataError(f"it needs a column of the judgments, which {param('by')} names")
    return breakdown(judgments, settings.by, seed=settings.seed)


def breakdown(judgments: Judgments, by: Sequence[str], *, seed: int = DEFAULT_SEED) -> Breakdown:
    """Every system in every subset by each of the columns, and the test of the interaction.

    Args:
        judgments: of one language pair and campaign, relative or scores (post-edits and verdicts count as scores).
        by: columns of the judgments, or `source_length`.
        seed: of the permutations for relative judgments.
    """
    judgments = as_scores(judgments)
    if is_relative(judgments):
        kind: Literal["relative", "scores"] = "relative"
        tests = _relative(judgments, by, seed)
    else:
        design, table = ScoreEstimator(judgments, check=False).design, judgments.final().table
        kind, tests = "scores", [score_breakdown(design, table, column) for column in by]
    corrected = holm(np.array([test.p for test in tests]))
    columns = tuple(
        ColumnBreakdown(column, test.levels, test.scores, test.p, float(p_holm), test.name, test.unknown)
        for column, test, p_holm in zip(by, tests, corrected, strict=True)
    )
    return Breakdown(columns, METHODS[DEFAULTS[kind]].unit)


def with_breakdown(ranking: Ranking, judgments: Judgments, by: Sequence[str], *, seed: int = DEFAULT_SEED) -> Ranking:
    """The ranking with a breakdown of its judgments; as it is where no column is asked for."""
    if not by:
        return ranking
    settings = {**ranking.settings, "by": ",".join(by)}
    notes = (*ranking.notes, "the breakdown is of human scores alone, without helpers") if ranking.helpers else None
    made = breakdown(judgments, by, seed=seed)
    return replace(ranking, settings=settings, breakdown=made, notes=notes or ranking.notes)


def _relative(judgments: Judgments, by: Sequence[str], seed: int) -> list[ColumnTest]:
    return [
        relative_breakdown(judgments, column, Randomness(generator(seed, _STREAM, number)))
        for number, column in enumerate(by)
    ]
