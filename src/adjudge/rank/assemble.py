"""From findings to a ranking: order, ranks, lines, and every pair with its p-values. The same for all methods."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from adjudge.rank.lines_and_rank_sets import (
    benjamini_hochberg,
    cluster_numbers,
    holm,
    line_after,
    named_clusters,
    rank_bounds,
)
from adjudge.rank.methods import find_method
from adjudge.results.rank import Lines, PairComparison, RankedSystem, Ranking

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from adjudge.core.judgments import Judgments, SetAside
    from adjudge.rank.significance import PairTests
    from adjudge.results.rank import Helper, LeftOut, VarianceComponent
    from adjudge.results.result import Setting


ROUNDING = 1e-11
"""Scores no further apart than this, in parts of the largest, are equal: their digits beyond come from rounding."""
NEGLIGIBLE = 1e-6
"""So are those no further apart than this, in standard errors: a search for variances ends no closer to the optimum."""


@dataclass(frozen=True, eq=False)
class Findings:
    """What a method found out, by system index; `numbers` are (n,), `pair_numbers` (n, n) arrays of its own."""

    systems: tuple[str, ...]
    human: NDArray[np.bool_]
    scores: NDArray[np.float64]
    n: NDArray[np.int64]
    tests: PairTests
    rank_sets: NDArray[np.int64]
    numbers: Mapping[str, NDArray[np.float64] | NDArray[np.int64]] = field(default_factory=dict)
    pair_numbers: Mapping[str, NDArray[np.float64] | NDArray[np.int64]] = field(default_factory=dict)


@dataclass(frozen=True)
class Provenance:
    """Where the numbers come from: the data's fingerprint, what was set aside, what must be said."""

    data: str
    set_aside: tuple[SetAside, ...] = ()
    notes: tuple[str, ...] = ()


def provenance(judgments: Judgments) -> Provenance:
    """The provenance of a ranking by last revisions; the fingerprint is that of the table as given."""
    final = judgments.final()
    return Provenance(judgments.fingerprint, final.set_aside, final.notes)


def assemble(
    source: Provenance,
    findings: Findings,
    *,
    method: str,
    rule: str,
    level: float,
    settings: Mapping[str, Setting],
    notes: tuple[str, ...] = (),
    components: tuple[VarianceComponent, ...] = (),
    left_out: tuple[LeftOut, ...] = (),
    helpers: tuple[Helper, ...] = (),
    gain: float | None = None,
) -> Ranking:
    """Put the ranking together."""
    findings = replace(findings, scores=_levelled(findings))
    order = _order(findings)
    after = line_after(rule, order, findings.tests, findings.rank_sets, level)
    clusters = cluster_numbers(after)
    facts = find_method(method)
    systems = _ranked_systems(findings, order, clusters)
    return Ranking(
        settings=settings,
        data=source.data,
        set_aside=source.set_aside,
        notes=source.notes + notes,
        method=method,
        kind=facts.judgments,
        unit=facts.unit,
        difference_unit=facts.difference_unit,
        systems=systems,
        comparisons=_comparisons(findings, order),
        clusters=named_clusters([system.system for system in systems], clusters),
        lines=Lines(rule, level),
        components=components,
        left_out=left_out,
        helpers=helpers,
        gain=gain,
    )


def _levelled(findings: Findings) -> NDArray[np.float64]:
    """The scores with those that only rounding, or where a search ended, tells apart made equal, to the largest."""
    scores, se = findings.scores, findings.pair_numbers.get("se")
    levelled = scores.copy()
    tolerance = np.full((len(scores), len(scores)), ROUNDING * float(np.nanmax(np.abs(scores), initial=1.0)))
    if se is not None:
        tolerance = np.maximum(tolerance, NEGLIGIBLE * np.where(np.isfinite(se), se, 0.0))
    for above, below in pairwise(np.argsort(-scores)):
        if levelled[above] - scores[below] <= tolerance[above, below]:
            levelled[below] = levelled[above]
    return levelled


def _order(findings: Findings) -> NDArray[np.int64]:
    """The best first; equal scores by name, so that the order never depends on the order of the rows."""
    keys = [(np.isnan(score), -score, name) for score, name in zip(findings.scores, findings.systems, strict=True)]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


def _ranked_systems(
    findings: Findings, order: NDArray[np.int64], clusters: NDArray[np.int64]
) -> tuple[RankedSystem, ...]:
    """The systems in their order; one without a score has the last rank."""
    ranks = rank_bounds(findings.scores)[0]
    return tuple(
        RankedSystem(
            system=findings.systems[i],
            human=bool(findings.human[i]),
            score=_number(findings.scores[i]),
            rank=int(ranks[i]) if not np.isnan(findings.scores[i]) else len(order),
            rank_set=(int(findings.rank_sets[i, 0]), int(findings.rank_sets[i, 1])),
            cluster=int(cluster),
            n=int(findings.n[i]),
            numbers={name: _number(values[i]) for name, values in findings.numbers.items()},
        )
        for i, cluster in zip(order, clusters, strict=True)
    )


def _comparisons(findings: Findings, order: NDArray[np.int64]) -> tuple[PairComparison, ...]:
    first, second = np.triu_indices(len(order), 1)
    better, worse = order[first], order[second]
    p = findings.tests.reported[better, worse]
    difference = findings.scores[better] - findings.scores[worse]
    p_holm, p_bh = holm(p), benjamini_hochberg(p)
    return tuple(
        PairComparison(
            better=findings.systems[i],
            worse=findings.systems[j],
            difference=_number(difference[k]),
            p=_number(p[k]),
            p_holm=_number(p_holm[k]),
            p_bh=_number(p_bh[k]),
            numbers={name: _number(values[i, j]) for name, values in findings.pair_numbers.items()},
        )
        for k, (i, j) in enumerate(zip(better, worse, strict=True))
    )


def _number(value: np.floating | np.integer | float) -> float | int | None:
    """A plain number; whole numbers stay whole, NaN is None."""
    if isinstance(value, np.integer):
        return int(value)
    return None if np.isnan(value) else float(value)
