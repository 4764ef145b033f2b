"""How a system's distance from the human changes between two versions of a test set, by a model.

Of scores: the mixed model with an effect for every system in every version (and for contaminated and untouched
segments apart), so that strictness, tastes, documents and pages are allowed for. With m(s, v) the effect of system s in
version v and h the human, the change is [m(s, after) - m(h, after)] - [m(s, before) - m(h, before)], and beyond
untouched segments the difference of two such changes. Of ranks: the strengths of Bradley-Terry with tastes, fitted to
every part by itself; tastes that two parts share make their difference more certain than is said.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from adjudge.audit.parity.notes import PLACE
from adjudge.core.comparisons import comparisons
from adjudge.core.errors import DataError
from adjudge.core.judgments import Judgments
from adjudge.core.maths import student_below, student_tail
from adjudge.core.protocols import RELATIVE
from adjudge.core.test_set import AFTER, BEFORE
from adjudge.rank.lines_and_rank_sets import holm
from adjudge.ranking.estimator import RelativeEstimator, ScoreEstimator, fit_cells
from adjudge.results.parity_change import ModelChange

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from adjudge.core.arrays import Floats

_VERSION, _PART = "version of the test set", "part of the segments"
PARTS = {"all": ("contaminated", "untouched"), "contaminated": ("contaminated",), "untouched": ("untouched",)}
BEYOND = "beyond untouched"


class _Estimate(NamedTuple):
    """A change with its standard error and degrees of freedom."""

    change: float
    se: float
    df: float


def model_changes(
    before: Judgments, after: Judgments, human: str, contaminated: frozenset[str] | None
) -> tuple[tuple[ModelChange, ...], tuple[str, ...]]:
    """The change of every system on every part of the segments; where no model can be fitted, a note says why."""
    relative = bool(set(after.protocols) & set(RELATIVE))
    estimate = _by_ranks if relative else _by_scores
    try:
        changes = estimate(before, after, human, contaminated)
    except DataError as fault:
        return (), (f"the model of the change is left out: {fault}",)
    return tuple(change for part, estimates in changes.items() for change in _corrected(part, estimates)), ()


def _corrected(part: str, changes: Mapping[str, _Estimate]) -> list[ModelChange]:
    p = np.array([_two_sided(estimate) for estimate in changes.values()])
    least = sys.float_info.min
    corrected: list[ModelChange] = []
    for (system, estimate), alone, of_all in zip(changes.items(), p, holm(p), strict=True):
        change, se = estimate.change, estimate.se
        reach = float(student_below(0.975, estimate.df)) * se
        p_values = (max(float(alone), least), max(float(of_all), least))
        corrected.append(ModelChange(system, part, change, se, (change - reach, change + reach), *p_values))
    return corrected


def _two_sided(estimate: _Estimate) -> float:
    return 2 * float(student_tail(abs(estimate.change) / estimate.se, estimate.df)) if estimate.se > 0 else float("nan")


def _marked(contaminated: frozenset[str] | None) -> pl.Expr:
    names = sorted(contaminated or ())
    inside = pl.col("segment").is_in(names) | PLACE.is_in(names).fill_null(value=False)
    return pl.when(inside).then(pl.lit("contaminated")).otherwise(pl.lit("untouched")).alias(_PART)


def _by_scores(
    before: Judgments, after: Judgments, human: str, contaminated: frozenset[str] | None
) -> dict[str, dict[str, _Estimate]]:
    table = _both_versions(before, after, human, contaminated)
    design = ScoreEstimator(Judgments(table), model="mixed-points", check=False).design
    rows = table[design.row]
    names = [f"{v}\t{p}" for v, p in rows.select(_VERSION, _PART).iter_rows()]
    levels = sorted(set(names))
    code = np.array([levels.index(name) for name in names])
    cells = fit_cells(design, code, levels)
    fitted, weight = cells.fit, cells.n.astype(float)
    index = {
        (design.systems[s], *levels[k].split("\t")): i
        for i, (s, k) in enumerate(zip(cells.owner, cells.level, strict=True))
    }

    def estimate(contrast: Floats) -> _Estimate:
        se = float(np.sqrt(max(float(contrast @ fitted.covariance @ contrast), 0.0)))
        return _Estimate(float(contrast @ fitted.effects), se, float(fitted.degrees.of(contrast[None])[0]))

    def contrast(name: str, parts: tuple[str, ...]) -> Floats | None:
        row = np.zeros(len(weight))
        for who, sign in ((name, 1.0), (human, -1.0)):
            for version, direction in ((AFTER, 1.0), (BEFORE, -1.0)):
                inside = [index[who, version, part] for part in parts if (who, version, part) in index]
                if not inside:
                    return None
                row[inside] += sign * direction * weight[inside] / weight[inside].sum()
        return row

    others = [name for name in design.systems if name != human]
    return _all_parts(others, contrast, estimate, several=contaminated is not None)


def _both_versions(
    before: Judgments, after: Judgments, human: str, contaminated: frozenset[str] | None
) -> pl.DataFrame:
    """The judgments of both versions in one table, each row with its version and its part of the segments."""
    # The model leaves references out as controls; here the human is one of those compared.
    competing = pl.when(pl.col("system") == human).then(pl.lit("system")).otherwise(pl.col("kind")).alias("kind")
    # The same person's work on two versions is not one task or page, whatever its numbers.
    one_work = [
        pl.concat_str(pl.col(_VERSION), pl.col(name).fill_null(""), separator=":").alias(name)
        for name in ("task", "screen")
    ]
    tables = [
        version.final()
        .table.with_columns(competing, pl.lit(name).alias(_VERSION), _marked(contaminated), revision=pl.lit(1))
        .with_columns(one_work)
        for name, version in ((BEFORE, before), (AFTER, after))
    ]
    return pl.concat(tables, how="diagonal_relaxed")


def _all_parts(
    systems: list[str],
    contrast: Callable[[str, tuple[str, ...]], Floats | None],
    estimate: Callable[[Floats], _Estimate],
    *,
    several: bool,
) -> dict[str, dict[str, _Estimate]]:
    """The changes on each part of the segments, and beyond untouched ones where there are any."""
    contrasts: dict[str, dict[str, Floats]] = {}
    for part, held in PARTS.items():
        if part == "all" or several:
            rows = {name: contrast(name, held) for name in systems}
            contrasts[part] = {name: row for name, row in rows.items() if row is not None}
    if several:
        both = [name for name in contrasts["contaminated"] if name in contrasts["untouched"]]
        contrasts[BEYOND] = {name: contrasts["contaminated"][name] - contrasts["untouched"][name] for name in both}
    return {part: {name: estimate(row) for name, row in rows.items()} for part, rows in contrasts.items() if rows}


def _by_ranks(
    before: Judgments, after: Judgments, human: str, contaminated: frozenset[str] | None
) -> dict[str, dict[str, _Estimate]]:
    estimates: dict[str, dict[str, _Estimate]] = {}
    for part, held in PARTS.items():
        if part == "all" or contaminated is not None:
            versions = []
            for version in (before, after):
                marked = Judgments(version.table.with_columns(_marked(contaminated)))
                versions.append(_distances(marked.select(pl.col(_PART).is_in(held)), human))
            estimates[part] = {
                name: _difference(versions[0][name], versions[1][name]) for name in versions[0] if name in versions[1]
            }
    if contaminated is not None:
        first, second = estimates["contaminated"], estimates["untouched"]
        estimates[BEYOND] = {name: _difference(second[name], first[name]) for name in first if name in second}
    return estimates


def _distances(judgments: Judgments, human: str) -> dict[str, _Estimate]:
    """Every system minus the human, by strengths with tastes."""
    compared = comparisons(judgments)
    estimator = RelativeEstimator(compared, check=False)
    if not estimator.by_tastes or human not in compared.systems:
        raise DataError("tastes need two named annotators or more who judged the human in every part")
    estimate, _ = estimator.estimate_at()
    human_code, covariance = compared.systems.index(human), estimate.covariance
    distances = {}
    for i, name in enumerate(compared.systems):
        if i != human_code:
            variance = covariance[i, i] + covariance[human_code, human_code] - 2 * covariance[i, human_code]
            change = float(estimate.effects[i] - estimate.effects[human_code])
            distances[name] = _Estimate(change, float(np.sqrt(max(variance, 0.0))), float(estimate.df[i, human_code]))
    return distances


def _difference(first: _Estimate, second: _Estimate) -> _Estimate:
    """The second minus the first, taken as independent; degrees of freedom after Welch and Satterthwaite."""
    variances = first.se**2, second.se**2
    whole = sum(variances)
    spread = sum(variance**2 / estimate.df for variance, estimate in zip(variances, (first, second), strict=True))
    return _Estimate(second.change - first.change, float(np.sqrt(whole)), whole**2 / spread if spread > 0 else np.inf)
