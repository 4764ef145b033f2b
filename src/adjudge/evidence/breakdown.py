"""Breakdowns by a column: does a system fare better on some of the judgments than on others?

Of scores the mixed model is asked, with an effect for every system in every subset; of relative judgments the subsets
are permuted among documents. Holm corrects for the number of columns.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.evidence.verdict import say_subsets_differ
from adjudge.ranking.decisions import holm
from adjudge.ranking.estimator import is_relative
from adjudge.ranking.methods import DEFAULTS, METHODS
from adjudge.ranking.relative_estimator import RelativeEstimator
from adjudge.ranking.scores import CellFit, ScoreEstimator, as_scores, fit_cells
from adjudge.table.comparisons import BLOCK_KEY, Comparisons, block_rows, comparisons, relative_judgments
from adjudge.table.errors import DataError, UsageError, param, unknown_choice
from adjudge.table.judgments import Judgments, codes_of
from adjudge.table.maths import Codes, Floats, student_tail
from adjudge.table.results import Cell, Table, number, p_value, tabulate, text
from adjudge.table.rng import DEFAULT_SEED, generator
from adjudge.table.wording import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.evidence.audit import AuditSettings
    from adjudge.ranking.ranking import Ranking

LEVEL = 0.05
_STREAM = 47


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

    def tables(self, asked: int) -> tuple[Table, Table]:
        """The systems by subsets, and every shift; `asked` is the number of columns asked for."""
        cells = {(score.system, score.level): score.score for score in self.scores}
        rows: list[tuple[Cell, ...]] = [
            (system, *(cells.get((system, level)) for level in self.levels))
            for system in dict.fromkeys(score.system for score in self.scores)
        ]
        unknown = counted(self.unknown, "judgment has", "judgments have")
        left_out = f" {unknown} no {self.column} and {agreeing(self.unknown, 'is', 'are')} left out."
        note = self.verdict(asked) + (left_out if self.unknown else "")
        by_system = (text("system"), *(number(level, 2) for level in self.levels))
        scores = sorted(self.scores, key=lambda score: (self.levels.index(score.level), score.rank))
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
        return (
            Table(f"Breakdown by {self.column}", by_system, tuple(rows), note),
            replace(tabulate(f"Ranks and shifts by {self.column}", scores, columns), lines=lines),
        )


@dataclass(frozen=True)
class Breakdown:
    """All columns that were asked for."""

    columns: tuple[ColumnBreakdown, ...]
    unit: str = "score"
    """What a score is, for the axis of a chart."""

    def tables(self) -> tuple[Table, ...]:
        """For every column the systems by subsets, and every shift."""
        return tuple(table for column in self.columns for table in column.tables(len(self.columns)))


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
    relative = is_relative(judgments)
    if relative:
        tests = [relative_breakdown(judgments, column, generator(seed, _STREAM, i)) for i, column in enumerate(by)]
    else:
        estimator = ScoreEstimator(judgments, model="mixed-points", check=False)
        tests = [score_breakdown(estimator, column) for column in by]
    corrected = holm(np.array([test.p for test in tests])).tolist()
    columns = tuple(replace(test, p_holm=p_holm) for test, p_holm in zip(tests, corrected, strict=True))
    return Breakdown(columns, METHODS[DEFAULTS["relative" if relative else "scores"]].unit)


def with_breakdown(ranking: Ranking, judgments: Judgments, by: Sequence[str], *, seed: int = DEFAULT_SEED) -> Ranking:
    """The ranking with a breakdown of its judgments; as it is where no column is asked for."""
    if not by:
        return ranking
    settings = {**ranking.settings, "by": ",".join(by)}
    notes = (*ranking.notes, "the breakdown is of human scores alone, without helpers") if ranking.helpers else None
    made = breakdown(judgments, by, seed=seed)
    return replace(ranking, settings=settings, breakdown=made, notes=notes or ranking.notes)


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
        levels = [_plain(value) for value in sorted(numbers.drop_nulls().unique().to_list())]
        words = numbers.map_elements(_plain, return_dtype=pl.String)
    else:
        words = _known_words(values)
        levels = sorted(words.drop_nulls().unique().to_list())
    if len(levels) > MOST_LEVELS:
        much = f"column '{column}' has {len(levels):,} values; {MOST_LEVELS} are the most to compare"
        raise DataError(f"{much}; group them in a column of a side table ({param('attributes')})")
    codes = words.replace_strict(levels, range(len(levels)), default=-1, return_dtype=pl.Int64).fill_null(-1)
    return _checked(Subsets(column, tuple(levels), codes.to_numpy(), ordered=False))


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


def _checked(parts: Subsets) -> Subsets:
    if len(parts.levels) < 2:
        raise DataError(f"column '{parts.column}' has fewer than two values, so there is nothing to compare")
    return parts


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


def relative_breakdown(
    judgments: Judgments, column: str, rng: np.random.Generator, permutations: int = PERMUTATIONS
) -> ColumnBreakdown:
    """Every system in every subset by a column of relative judgments; p is not corrected for other columns yet."""
    compared, blocks = comparisons(judgments), block_rows(judgments)
    parts = subsets(blocks, column)
    _check_constant_in_blocks(judgments, blocks, column)
    part = compared.keep(parts.code[compared.block] >= 0, parts.code[compared.label_block] >= 0)
    units = _units(blocks, parts)
    # Where the question is what tastes are like, they stay in the residuals.
    residuals = RelativeEstimator(part).residuals(beyond_tastes=not units.of_annotators)
    score, information = _sums_by_unit(part, residuals, units)
    observed, observed_score = statistics(score, information, units.level[None, :], len(parts.levels))
    drawn = []
    for start in range(0, permutations, CHUNK):
        shuffled = np.stack([_shuffled(units, rng) for _ in range(min(CHUNK, permutations - start))])
        drawn.append(statistics(score, information, shuffled, len(parts.levels)))
    whole, by_subset = (np.concatenate(values) for values in zip(*drawn, strict=True))
    spread, centre = np.maximum(by_subset.std(axis=0), 1e-12), by_subset.mean(axis=0)
    size = np.abs(observed_score[0] - centre) / spread
    largest = (np.abs(by_subset - centre) / spread).max((1, 2))
    p_shift = (1 + (largest[:, None, None] >= size).sum(0)) / (1 + len(largest))
    return ColumnBreakdown(
        column=column,
        levels=parts.levels,
        scores=_relative_scores(part, parts, np.where(spread > 1e-9, p_shift, 1.0)),
        p=float((1 + (whole >= observed[0] * (1 - 1e-12)).sum()) / (1 + len(whole))),
        p_holm=math.nan,
        test=f"{units.name} permuted {permutations:,} times",
        unknown=int((parts.code < 0).sum()),
    )


def _check_constant_in_blocks(judgments: Judgments, blocks: pl.DataFrame, column: str) -> None:
    if column in BLOCK_KEY or column not in blocks.columns:
        return
    table = relative_judgments(judgments).table
    (code,) = codes_of(table, BLOCK_KEY)
    differing = table.select(column).with_columns(block=code).unique().height - blocks.height
    if differing:
        raise DataError(
            f"column '{column}' differs within what was compared ({counted(differing, 'time')}), so it says nothing "
            "of the whole comparison; choose a column about segments, documents, annotators or tasks"
        )


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


def _sums_by_unit(part: Comparisons, residuals: tuple[Floats, Floats], units: _Units) -> tuple[Floats, Floats]:
    """The residuals of every unit summed by system: (units, n), and their information: (units, n, n)."""
    first, second = part.first.astype(np.int64), part.second.astype(np.int64)
    residual, weight = residuals
    unit, n, count = units.of_block[part.block], len(part.systems), len(units.level)
    score = np.zeros(count * n)
    for system, sign in ((first, 1.0), (second, -1.0)):
        score += sign * np.bincount(unit * n + system, residual, count * n)
    pairs = np.bincount((unit * n + first) * n + second, weight, count * n * n).reshape(count, n, n)
    both = (pairs + np.swapaxes(pairs, 1, 2)).astype(np.float64)
    # The Laplacian: the sum of w (e_i - e_j)(e_i - e_j)' over all pairs.
    off = np.where(np.eye(n, dtype=bool), 0.0, both)
    return score.reshape(count, n), np.eye(n) * off.sum(-1)[..., None, :] - off


def statistics(score: Floats, information: Floats, level: Codes, levels: int) -> tuple[Floats, Floats]:
    """The statistic for one or more assignments (draws, units) of units to subsets, and its sums of residuals.

    Args:
        score: (units, n), sums of residuals.
        information: (units, n, n).
        level: (draws, units), the subset of every unit.
        levels: how many subsets there are.
    """
    from scipy.sparse import csr_array

    (draws, units), n = level.shape, score.shape[1]
    row = (np.arange(draws)[:, None] * levels + level).ravel()
    column = np.tile(np.arange(units), draws)
    member = csr_array((np.ones(len(row)), (row, column)), shape=(draws * levels, units))
    sums = (member @ score).reshape(draws, levels, n)
    held = (member @ information.reshape(units, n * n)).reshape(draws, levels, n, n)
    moved = np.linalg.solve(held + RIDGE * np.eye(n), np.concatenate([sums[..., None], held], axis=-1))
    squares = (sums * moved[..., 0]).sum((1, 2))
    freedom = np.trace(moved[..., 1:], axis1=-2, axis2=-1).sum(1)
    return squares / np.maximum(freedom, 1e-12), sums


def _shuffled(units: _Units, rng: np.random.Generator) -> Codes:
    """The subsets of units, exchanged at random within each stratum."""
    order = np.lexsort((rng.random(len(units.level)), units.stratum))
    shuffled = np.empty_like(units.level)
    shuffled[np.argsort(units.stratum, kind="stable")] = units.level[order]
    return shuffled


def _relative_scores(part: Comparisons, parts: Subsets, p_shift: Floats) -> tuple[SubsetScore, ...]:
    """The strengths within each subset with their errors, and the shifts between them."""
    shape = len(parts.levels), len(part.systems)
    strength, error, met = np.full(shape, np.nan), np.full(shape, np.nan), np.zeros(shape, dtype=int)
    for level in range(len(parts.levels)):
        inside = part.keep(parts.code[part.block] == level, parts.code[part.label_block] == level)
        if len(inside):
            strength[level], error[level], met[level] = RelativeEstimator(inside, check=False).strengths()
    everywhere = ~np.isnan(strength).any(0)
    shift = np.full(shape, np.nan)
    if everywhere.sum() > 1:
        centred = strength - strength[:, everywhere].mean(1, keepdims=True)
        shift = np.where(everywhere, centred - centred.mean(0), np.nan)
    p_shift = np.where(everywhere, p_shift, np.nan)
    known = np.nonzero(~np.isnan(strength))
    return _subset_scores(
        part.systems, parts, known[::-1], [values[known] for values in (met, strength, error, shift, p_shift)]
    )


def _subset_scores(
    systems: tuple[str, ...], parts: Subsets, cells: Sequence[Codes], values: Sequence[Floats | Codes]
) -> tuple[SubsetScore, ...]:
    """One entry per cell, which is a system and a subset; values are number, score, error, shift and its p."""
    owner, level = cells
    score = values[1]
    better = (level[:, None] == level[None, :]) & (score[None, :] > score[:, None])
    rank = 1 + better.sum(axis=1)
    return tuple(
        SubsetScore(systems[s], parts.levels[k], int(n), float(mean), float(se), float(shift), int(place), float(p))
        for s, k, n, mean, se, shift, p, place in zip(owner, level, *values, rank, strict=True)
    )


# Breakdown of scores: the mixed model with one effect for every system in every subset.
#
# With m(s, l) the effect of system s in subset l, the interaction is the set of contrasts m(s, l) - m(s, 1) - m(1, l)
# + m(1, 1) (of cells that were judged, all that sums of systems and subsets leave), tested together by the F
# statistic c' V^-1 c / q with q contrasts. Where subsets are ordered from low to high, as lengths are, only the
# slopes are compared, which needs fewer contrasts and finds a trend more often. Tastes of annotators, which are for
# systems, cancel out of contrasts within an annotator, so these rest on pages and documents and not on the number of
# annotators (`ContrastDegrees`).


MOST_CELLS = 1200


def score_breakdown(estimator: ScoreEstimator, column: str) -> ColumnBreakdown:
    """Every system in every subset by a column of scores; p is not corrected for other columns yet."""
    design = estimator.design
    parts = subsets(estimator.judgments.final().table[design.row], column)
    known, levels = design.subset(parts.code >= 0), len(parts.levels)
    code = parts.code[parts.code >= 0]
    judged = np.zeros((len(known.systems), levels), dtype=bool)
    judged[known.system, code] = True
    complete = np.flatnonzero(judged.all(axis=1))
    if parts.ordered and len(complete) < 2:
        raise DataError(f"fewer than two systems were judged in every subset by '{column}'")
    if judged.sum() > MOST_CELLS:
        held = f"'{column}' has {levels} values, which with the systems make {judged.sum():,} cells"
        raise DataError(
            f"{held}; {MOST_CELLS:,} are the most to compare. Group them in a side table ({param('attributes')})"
        )
    known.check()
    # Subsets need not share annotators or documents: systems are compared within each.
    cells = fit_cells(known, code, parts.levels)
    if cells.of_one_page:
        # What one person thought of one page would be taken for the subset.
        raise DataError(f"every system was judged on one page only in each subset by '{column}'; nothing to compare")
    owner, level, fitted = cells.owner, cells.level, cells.fit
    present = np.unique(owner, return_inverse=True)[1]
    sums = np.hstack([np.eye(int(present.max()) + 1)[present], np.eye(levels)[level]])
    slopes = parts.ordered and levels > 2
    if slopes:
        slope = np.arange(levels) - (levels - 1) / 2
        first = (owner == complete[0]).astype(float)
        contrasts = np.array([((owner == other) - first) * slope[level] for other in complete[1:]])
    else:
        from scipy.linalg import null_space

        contrasts = null_space(sums.T).T
    if not len(contrasts):
        raise DataError(f"no two systems were judged in the same two subsets by '{column}'; nothing to compare")
    shift, p = _shifts(cells, sums)
    return ColumnBreakdown(
        column=column,
        levels=parts.levels,
        scores=_subset_scores(known.systems, parts, (owner, level), (fitted.n, fitted.effects, fitted.se, shift, p)),
        p=_f_test(cells, contrasts),
        p_holm=math.nan,
        test="slopes from low to high by the mixed model" if slopes else "by the mixed model",
        unknown=int((parts.code < 0).sum()),
    )


def _f_test(cells: CellFit, contrasts: Floats) -> float:
    """The p that all contrasts are 0."""
    from scipy.special import chdtrc, fdtrc

    fitted = cells.fit
    value, covariance = contrasts @ fitted.effects, contrasts @ fitted.covariance @ contrasts.T
    q, degrees = len(contrasts), fitted.degrees.of_several(contrasts)
    statistic = float(value @ np.linalg.solve(covariance, value))
    p = fdtrc(q, degrees, statistic / q) if np.isfinite(degrees) else chdtrc(q, statistic)
    return max(float(p), sys.float_info.min)


def _shifts(cells: CellFit, sums: Floats) -> tuple[Floats, Floats]:
    """How much better each system is in a subset than in the others, beside the other systems; p after Holm.

    A cell that sums of systems and subsets explain whatever its value, such as a system's only one, has no shift.
    """
    fitted = cells.fit
    contrasts = np.eye(len(sums)) - sums @ np.linalg.pinv(sums)
    tested = np.diag(contrasts) > 1e-9
    contrasts = contrasts[tested]
    value = contrasts @ fitted.effects
    error = np.sqrt(np.maximum(np.einsum("ci,ij,cj->c", contrasts, fitted.covariance, contrasts), 1e-300))
    shift, p = np.full(len(tested), np.nan), np.full(len(tested), np.nan)
    shift[tested] = value
    p[tested] = holm(2 * student_tail(np.abs(value) / error, fitted.degrees.of(contrasts)))
    return shift, p
