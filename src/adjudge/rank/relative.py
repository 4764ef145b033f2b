"""Ranking from relative judgments: score the tally, resample the annotators, test the pairs, draw the lines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.comparisons import comparisons as compare
from adjudge.core.comparisons import relative_judgments
from adjudge.core.errors import DataError, UsageError
from adjudge.core.rng import generator
from adjudge.rank.assemble import Estimate, Provenance, assemble, provenance
from adjudge.rank.connected import check_connected
from adjudge.rank.lines import rank_bounds, resampled_rank_sets
from adjudge.rank.significance import (
    PairTests,
    difference_spread,
    few_units,
    resampling_tests,
    separation,
    sign_tests,
)
from adjudge.rank.units import units_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.core.comparisons import Comparisons
    from adjudge.core.judgments import Judgments
    from adjudge.rank import RankSettings
    from adjudge.rank.methods import Method
    from adjudge.rank.significance import Separation
    from adjudge.rank.tally import Tally
    from adjudge.rank.units import Units
    from adjudge.results.rank import Ranking

    _Numbers = NDArray[np.float64] | NDArray[np.int64]

DEFAULT_RESAMPLES = 1000
FEW_ANNOTATORS = 5


@dataclass(frozen=True, eq=False)
class _Scored:
    scores: NDArray[np.float64]
    resampled: NDArray[np.float64]


def rank_relative(judgments: Judgments, method: Method, settings: RankSettings) -> Ranking:
    """Rank systems by one of the methods for relative judgments."""
    compared = _prepared(judgments, method, settings)
    source = replace(provenance(judgments), set_aside=relative_judgments(judgments).set_aside)
    return rank_units(units_of(compared), source, method, settings)


def rank_units(units: Units, source: Provenance, method: Method, settings: RankSettings) -> Ranking:
    """Rank systems from counts per unit of resampling."""
    tally = units.total()
    check_connected(tally)
    scored = _scored(method, units, tally, settings)
    if np.isnan(scored.scores).all():
        raise DataError(f"every comparison is a tie, so {method.name} has nothing to count; try wins-or-ties")
    significance = _significance(method, settings, scored)
    tests = _tests(tally, scored, units, significance)
    apart = separation(tally.wins)
    sets = resampled_rank_sets(scored.scores, scored.resampled, settings.level)
    sets = apart.widened(sets, np.stack(rank_bounds(scored.scores), axis=1), settings.level)
    numbers = _numbers(tally, scored, units.number, settings.level)
    estimate = Estimate(
        systems=tally.systems,
        human=tally.human,
        scores=scored.scores,
        n=tally.met.sum(-1).astype(int),
        tests=tests,
        rank_sets=sets,
        numbers=numbers if method.bounded else _bounded(numbers, apart),
        pair_numbers=_pair_numbers(tally, scored, units.number),
    )
    return assemble(
        source,
        estimate,
        method=method.name,
        rule=settings.lines or "rank-sets",
        level=settings.level,
        settings=_settings(method, settings, significance, len(scored.resampled), units.kind),
        notes=_notes(units) + _all_tied(tally) + (() if method.bounded else _unopposed(tally, apart)),
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
    # Units that are not resampled (one block only) leave nothing to learn from resamples.
    resampled = [method.score(part, rng) for part in units.resampled(count, rng)] if units.number > 1 else []
    empty = np.empty((0, len(tally.systems)))
    return _Scored(method.score(tally, rng), np.concatenate(resampled) if resampled else empty)


def _significance(method: Method, settings: RankSettings, scored: _Scored) -> str:
    """The test that is made: without resamples there is the sign test only."""
    wanted = settings.significance or method.significance
    return wanted if len(scored.resampled) > 1 else "sign"


def _tests(tally: Tally, scored: _Scored, units: Units, significance: str) -> PairTests:
    if significance == "sign":
        return sign_tests(tally.wins)
    spread = difference_spread(scored.resampled, units.number)
    return resampling_tests(scored.scores, spread, units.number, tally.wins)


def _numbers(tally: Tally, scored: _Scored, units: int, level: float) -> dict[str, _Numbers]:
    numbers: dict[str, _Numbers] = {
        name: counts.sum(-1).astype(np.int64)
        for name, counts in (("wins", tally.wins), ("ties", tally.ties), ("losses", tally.losses))
    }
    if len(scored.resampled) > 1:
        known = np.ma.masked_invalid(scored.resampled)
        numbers["se"] = np.asarray(known.std(axis=0, ddof=1).filled(np.nan)) * np.sqrt(few_units(units))
        low, high = _interval(scored.resampled, level)
        numbers["low"], numbers["high"] = low, high
    return numbers


def _interval(resampled: NDArray[np.float64], level: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    unknown = np.isnan(resampled).any(axis=0)
    low, high = np.quantile(np.nan_to_num(resampled), [level / 2, 1 - level / 2], axis=0)
    return np.where(unknown, np.nan, low), np.where(unknown, np.nan, high)


def _pair_numbers(tally: Tally, scored: _Scored, units: int) -> dict[str, _Numbers]:
    """What is told of every pair besides its p: its own counts, the sign test on them, the difference's spread."""
    numbers: dict[str, _Numbers] = {
        name: counts.astype(np.int64)
        for name, counts in (("wins", tally.wins), ("ties", tally.ties), ("losses", tally.losses))
    }
    numbers["p_sign"] = sign_tests(tally.wins).two_sided
    if len(scored.resampled) > 1:
        numbers["se"] = difference_spread(scored.resampled, units)
    return numbers


def _settings(
    method: Method, settings: RankSettings, significance: str, resamples: int, unit: str
) -> dict[str, str | int | float | None]:
    return {
        "method": method.name,
        "reference": method.reference or settings.reference or "include",
        "significance": significance,
        "lines": settings.lines or "rank-sets",
        "level": settings.level,
        "resampled": unit,
        "resamples": resamples,
        "seed": settings.seed,
    }


def _notes(units: Units) -> tuple[str, ...]:
    if units.kind == "blocks":
        return ("fewer than two annotators are known, so blocks were resampled: intervals hold for these annotators",)
    if units.number < FEW_ANNOTATORS:
        return (f"only {units.number} annotators: intervals from resampling so few people are too narrow",)
    return ()


def _all_tied(tally: Tally) -> tuple[str, ...]:
    return () if tally.wins.any() else ("every comparison is a tie: nothing tells the systems apart",)


def _bounded(numbers: dict[str, _Numbers], apart: Separation) -> dict[str, _Numbers]:
    """The numbers without the intervals of systems that no judgment bounds: the resamples' spread would be made up."""
    for name in {"se", "low", "high"} & set(numbers):
        numbers[name] = np.where(apart.unbounded, np.nan, numbers[name])
    return numbers


def _unopposed(tally: Tally, apart: Separation) -> tuple[str, ...]:
    """Say whose strength no judgment bounds."""
    leading = apart.unbounded & (apart.leads | apart.leads.T).any(axis=1)
    if not leading.any():
        return ()
    names = ", ".join(name for name, leads in zip(tally.systems, leading, strict=True) if leads)
    doubt = "how large it is, the prior alone decides; p-values come from how often it was seen"
    return (f"no judgment contradicts the lead or lag of {names}: {doubt}",)
