"""Ranking from relative judgments: by strengths with annotators' tastes, or by other scores with a bootstrap."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.comparisons import comparisons as compare
from adjudge.core.comparisons import not_compared
from adjudge.core.errors import DataError, UsageError
from adjudge.core.rng import generator
from adjudge.rank.assemble import Findings, Provenance, assemble, provenance
from adjudge.rank.connected_groups import check_connected
from adjudge.rank.lines_and_rank_sets import rank_bounds, resampled_rank_sets
from adjudge.rank.relative_notes import (
    TEXTS_NOT_NAMED,
    evidence_notes,
    few_people_note,
    lone_judge_note,
    resampling_notes,
    unnamed_people_note,
    unopposed_note,
)
from adjudge.rank.resampling_units import units_of
from adjudge.rank.significance import (
    PairTests,
    contradicted,
    difference_spread,
    resampling_tests,
    separation,
    sign_tests,
    small_sample_factor,
)
from adjudge.rank.strengths import compare_strengths, draws, spread_components, strength_findings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from adjudge.core.comparisons import Comparisons
    from adjudge.core.judgments import Judgments
    from adjudge.rank import RankSettings
    from adjudge.rank.counts import Tally
    from adjudge.rank.methods import Method
    from adjudge.rank.resampling_units import Units
    from adjudge.rank.significance import Separation
    from adjudge.results.rank import Ranking
    from adjudge.results.result import Setting

    _Numbers = NDArray[np.float64] | NDArray[np.int64]

DEFAULT_RESAMPLES = 1000


@dataclass(frozen=True, eq=False)
class _Scored:
    scores: NDArray[np.float64]
    resampled: NDArray[np.float64]
    units: str


def rank_relative(judgments: Judgments, method: Method, settings: RankSettings) -> Ranking:
    """Rank systems by one of the methods for relative judgments."""
    compared = _prepared(judgments, method, settings)
    source = replace(provenance(judgments), set_aside=not_compared(judgments))
    return rank_units(units_of(compared), source, method, settings, blocks=compared)


def rank_units(
    units: Units, source: Provenance, method: Method, settings: RankSettings, *, blocks: Comparisons | None = None
) -> Ranking:
    """Rank systems from counts by annotator or block; `blocks` are the underlying comparisons, if known."""
    tally = units.total()
    check_connected(tally)
    wanted = settings.significance or method.significance
    if wanted == "tastes" and method.significance != "tastes":
        raise UsageError(f"{method.name} has no model of tastes; choose bradley-terry, or --significance resample")
    if wanted == "tastes" and units.kind == "annotators":
        return _rank_by_tastes(units, source, method, settings, blocks)
    return _rank_by_resamples(units, source, method, settings, "resample" if wanted == "tastes" else wanted)


def _rank_by_tastes(
    units: Units, source: Provenance, method: Method, settings: RankSettings, blocks: Comparisons | None
) -> Ranking:
    """Strengths with a model of annotators' tastes."""
    compared = compare_strengths(units, blocks)
    tally = units.total()
    rule = settings.lines or "rank-sets"
    segments = 0 if blocks is None else len(np.unique(blocks.segment))
    documents = 0 if blocks is None or blocks.document is None else len(np.unique(blocks.document))
    return assemble(
        source,
        strength_findings(units, compared, settings),
        method=method.name,
        rule=rule,
        level=settings.level,
        settings={
            "method": method.name,
            "reference": method.reference or settings.reference or "include",
            "significance": "tastes",
            "lines": rule,
            "level": settings.level,
            "draws": draws(settings),
            "seed": settings.seed,
        },
        notes=(
            *few_people_note(units),
            *unnamed_people_note(units.unnamed, "comparison"),
            *([TEXTS_NOT_NAMED] if segments == 1 else []),
            *lone_judge_note(units),
            *evidence_notes(tally, compared.fit.strength, settings.level),
            *unopposed_note(tally, compared.apart),
        ),
        components=spread_components(compared.fit, units.number, segments, documents),
    )


def _rank_by_resamples(
    units: Units, source: Provenance, method: Method, settings: RankSettings, wanted: str
) -> Ranking:
    """Scores of the tally, with intervals and rank sets from resampled annotators (or texts, or blocks)."""
    tally = units.total()
    scored = _scored(method, units, tally, settings)
    if np.isnan(scored.scores).all():
        raise DataError(f"every comparison is a tie, so {method.name} has nothing to count; try wins-or-ties")
    # Without resamples, only the sign test is available.
    significance = wanted if len(scored.resampled) > 1 else "sign"
    apart = separation(tally.wins)
    findings = _findings(tally, scored, units, apart, level=settings.level, significance=significance)
    if not method.bounded:
        findings = replace(findings, numbers=_bounded(findings.numbers, apart))
    rule = settings.lines or ("rank-sets" if units.kind == "annotators" else "none")
    return assemble(
        source,
        findings,
        method=method.name,
        rule=rule,
        level=settings.level,
        settings=_settings(method, settings, significance, rule, scored),
        notes=(
            *resampling_notes(units, significance, method),
            *evidence_notes(tally, scored.scores, settings.level),
            *(() if method.bounded else unopposed_note(tally, apart)),
        ),
    )


def _findings(
    tally: Tally, scored: _Scored, units: Units, apart: Separation, *, level: float, significance: str
) -> Findings:
    """Scores with rank sets from resamples, widened for systems that no judgment bounds."""
    sets = resampled_rank_sets(scored.scores, scored.resampled, level)
    return Findings(
        systems=tally.systems,
        human=tally.human,
        scores=scored.scores,
        n=tally.met.sum(-1).astype(int),
        tests=_tests(tally, scored, units, significance),
        rank_sets=apart.widened(sets, np.stack(rank_bounds(scored.scores), axis=1), level),
        numbers=_numbers(tally, scored, units.number, level),
        pair_numbers=_pair_numbers(tally, scored, units.number),
    )


def _prepared(judgments: Judgments, method: Method, settings: RankSettings) -> Comparisons:
    if method.reference and settings.reference and settings.reference != method.reference:
        raise UsageError(f"{method.name} is defined with --reference {method.reference}; choose another method")
    compared = compare(judgments)
    if (method.reference or settings.reference) == "exclude":
        compared = compared.without(compared.human)
    check_comparable(compared)
    return compared


def check_comparable(compared: Comparisons) -> None:
    """Refuse fewer than two systems, and systems that were never compared."""
    if len(compared.systems) < 2:
        names = ", ".join(compared.systems) or "no system"
        raise DataError(f"at least two systems must be compared, the data hold {names}; nothing can be ranked")
    if len(compared) == 0:
        raise DataError("no two systems were ranked in the same block, so nothing can be compared; check the columns")


def _scored(method: Method, units: Units, tally: Tally, settings: RankSettings) -> _Scored:
    rng = generator(settings.seed)
    count = method.resamples or DEFAULT_RESAMPLES if settings.resamples is None else settings.resamples
    # A single block cannot be resampled.
    resampled = [method.score(part, rng) for part in units.resampled(count, rng)] if units.number > 1 else []
    empty = np.empty((0, len(tally.systems)))
    return _Scored(method.score(tally, rng), np.concatenate(resampled) if resampled else empty, units.kind)


def _tests(tally: Tally, scored: _Scored, units: Units, significance: str) -> PairTests:
    if significance == "sign":
        return sign_tests(tally.wins).without_claims(contradicted(scored.scores, tally.wins))
    spread = difference_spread(scored.resampled, units.number)
    return resampling_tests(scored.scores, spread, units.number, tally.wins)


def _numbers(tally: Tally, scored: _Scored, units: int, level: float) -> dict[str, _Numbers]:
    numbers: dict[str, _Numbers] = {
        name: counts.sum(-1).astype(np.int64)
        for name, counts in (("wins", tally.wins), ("ties", tally.ties), ("losses", tally.losses))
    }
    if len(scored.resampled) > 1:
        known = np.ma.masked_invalid(scored.resampled)
        numbers["se"] = np.asarray(known.std(axis=0, ddof=1).filled(np.nan)) * np.sqrt(small_sample_factor(units))
        low, high = _interval(scored.resampled, level)
        numbers["low"], numbers["high"] = low, high
    return numbers


def _interval(resampled: NDArray[np.float64], level: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    unknown = np.isnan(resampled).any(axis=0)
    low, high = np.quantile(np.nan_to_num(resampled), [level / 2, 1 - level / 2], axis=0)
    return np.where(unknown, np.nan, low), np.where(unknown, np.nan, high)


def _pair_numbers(tally: Tally, scored: _Scored, units: int) -> dict[str, _Numbers]:
    """Numbers of every pair besides its p-value: its counts, their sign test, the standard error of the difference."""
    numbers: dict[str, _Numbers] = {
        name: counts.astype(np.int64)
        for name, counts in (("wins", tally.wins), ("ties", tally.ties), ("losses", tally.losses))
    }
    numbers["p_sign"] = sign_tests(tally.wins).two_sided
    if len(scored.resampled) > 1:
        numbers["se"] = difference_spread(scored.resampled, units)
    return numbers


def _settings(
    method: Method, settings: RankSettings, significance: str, rule: str, scored: _Scored
) -> dict[str, Setting]:
    return {
        "method": method.name,
        "reference": method.reference or settings.reference or "include",
        "significance": significance,
        "lines": rule,
        "level": settings.level,
        "resampled": scored.units,
        "resamples": len(scored.resampled),
        "seed": settings.seed,
    }


def _bounded(numbers: Mapping[str, _Numbers], apart: Separation) -> dict[str, _Numbers]:
    """The numbers without the intervals of systems that no judgment bounds, since resampling cannot findings them."""
    of_spread = {"se", "low", "high"} & set(numbers)
    return {**numbers, **{name: np.where(apart.unbounded, np.nan, numbers[name]) for name in of_spread}}
