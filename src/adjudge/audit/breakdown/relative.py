"""Breakdown of relative judgments: are systems stronger in some subsets than Bradley-Terry expects of all judgments?

With t the strengths from all judgments, every comparison leaves a residual y - mu. An annotator's taste b, predicted
with the variance that `rank` estimates, explains a part of the residuals; what is left, y - mu - v (b_i - b_j), is
summed by system within each subset: S_l, with information M_l. The statistic is the sum over subsets of S_l' M_l^-1 S_l
(Rao's score test of strengths by subset), over its degrees of freedom: where the same few systems are compared again
and again within a document, they are fewer than after a permutation.

Its distribution comes from permutation. Judgments of one document are not independent, so whole documents change
subsets, or whole annotators where the column is about them; where the column differs within documents, as the length
of segments does, segments change places within their document. A shift of one system in one subset is tested by the
same permutations, against the largest shift of each (Westfall and Young 1993, section 2.5), which corrects for all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.audit.breakdown.subsets import ColumnTest, Subsets, ranks_within, subsets
from adjudge.core.comparisons import block_rows, comparisons
from adjudge.core.errors import DataError
from adjudge.core.integer_codes import codes_of
from adjudge.core.wording import counted
from adjudge.ranking.estimator import RelativeEstimator
from adjudge.results.audit.breakdown import SubsetScore

if TYPE_CHECKING:
    import polars as pl

    from adjudge.core.arrays import Codes, Floats
    from adjudge.core.comparisons import Comparisons
    from adjudge.core.judgments import Judgments

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
    from adjudge.core.comparisons import BLOCK_KEY, relative_judgments

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
