"""Bradley-Terry strengths compared: p-values, intervals and rank sets that hold for other annotators than these.

The covariance and the degrees of freedom come from `tastes`. Three things the model cannot know are added. A lead that
no judgment contradicts has no size, so its p-value comes from how often each annotator saw it. Systems that no chain of
wins connects have p = 1. And nothing is claimed against a pair's own judgments: where these say the opposite, p is 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.maths import student_below, student_quantile
from adjudge.rank.assemble import Findings
from adjudge.rank.contrasts import Contrasts, contrasts
from adjudge.rank.lines_and_rank_sets import DRAWS, rank_sets
from adjudge.rank.resampling_units import people_counts, units_of
from adjudge.rank.significance import PairTests, Separation, contradicted, separation, sign_tests, unanimous_p
from adjudge.rank.tastes import TasteFit, fit_tastes
from adjudge.results.rank import TASTE, VarianceComponent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.core.arrays import Floats
    from adjudge.core.comparisons import Comparisons
    from adjudge.rank import RankSettings
    from adjudge.rank.counts import PeopleCounts
    from adjudge.rank.methods import Method
    from adjudge.rank.resampling_units import Units


FEWEST_DRAWS = 100
"""Fewer draws leave the quantile behind rank sets to chance."""


_DIFFERENTLY = "how differently a system does"


@dataclass(frozen=True, eq=False)
class ComparedStrengths:
    """A fit with tastes, and every pair of systems compared by it."""

    fit: TasteFit
    pairs: Contrasts
    apart: Separation
    contradicted: NDArray[np.bool_]
    """Pairs whose own judgments say the opposite of the strengths; symmetric."""


def compare_strengths(units: Units, blocks: Comparisons | None = None) -> ComparedStrengths:
    """Fit strengths with tastes and compare all pairs.

    Args:
        units: counts of at least two annotators.
        blocks: the comparisons behind them, where they are known one by one.
    """
    return compare_people(people_counts(units), blocks)


def compare_people(
    people: PeopleCounts, blocks: Comparisons | None = None, *, taste: float | None = None
) -> ComparedStrengths:
    """The same from counts by annotator, where the taste may be known."""
    fit = fit_tastes(people, blocks, taste=taste)
    wins = people.wins.sum(0)
    apart, against = separation(wins), contradicted(fit.strength, wins)
    pairs = contrasts(fit.strength, fit.covariance, fit.df)
    p = np.where(apart.leads | apart.leads.T, unanimous_p(people.wins, fit.taste), pairs.two_sided)
    p[apart.unconnected | against] = 1.0
    np.fill_diagonal(p, np.nan)
    return ComparedStrengths(fit, _with_p(pairs, p), apart, against)


def scores_of(method: Method, compared: Comparisons, rng: np.random.Generator) -> Floats:
    """The score of every system as a ranking by this method has it.

    Bradley-Terry strengths are those with tastes wherever two annotators or more are known, so that tournaments,
    split halves and comparisons of campaigns show the order of the ranking.
    """
    units = units_of(compared)
    if method.significance == "tastes" and units.kind == "annotators":
        return fit_tastes(people_counts(units), compared).strength
    return method.score(units.total(), rng)


def _with_p(pairs: Contrasts, p: Floats) -> Contrasts:
    """The contrasts with other two-sided p-values, and the statistics that belong to them."""
    size = student_quantile(np.maximum(p, 1e-300) / 2, pairs.df)
    ahead = pairs.difference >= 0
    t = np.where(p == pairs.two_sided, pairs.t, np.where(ahead, size, -size))
    return replace(pairs, two_sided=p, greater=np.where(ahead, p / 2, 1 - p / 2), t=t)


def strength_findings(units: Units, compared: ComparedStrengths, settings: RankSettings) -> Findings:
    """What a ranking is put together from."""
    tally, fit, pairs = units.total(), compared.fit, compared.pairs
    sets = rank_sets(pairs, fit.covariance, level=settings.level, seed=settings.seed, draws=draws(settings))
    counts = {"wins": tally.wins, "ties": tally.ties, "losses": tally.losses}
    low, high = _intervals(fit, settings.level)
    errors = {"se": fit.system_errors(), "low": low, "high": high}
    bounded = {name: np.where(compared.apart.unbounded, np.nan, values) for name, values in errors.items()}
    return Findings(
        systems=tally.systems,
        human=tally.human,
        scores=fit.strength,
        n=tally.met.sum(-1).astype(int),
        tests=PairTests(pairs.greater, pairs.two_sided),
        rank_sets=sets.simultaneous,
        numbers={
            **{name: table.sum(-1).astype(np.int64) for name, table in counts.items()},
            **bounded,
            "rank_low": sets.marginal[:, 0],
            "rank_high": sets.marginal[:, 1],
        },
        pair_numbers={
            **{name: table.astype(np.int64) for name, table in counts.items()},
            "p_sign": sign_tests(tally.wins).two_sided,
            "se": pairs.se,
            "df": np.where(np.isfinite(pairs.df), pairs.df, np.nan),
        },
    )


def draws(settings: RankSettings) -> int:
    """How many draws rank sets are made from."""
    return DRAWS if settings.resamples is None else max(settings.resamples, FEWEST_DRAWS)


def _intervals(fit: TasteFit, level: float) -> tuple[Floats, Floats]:
    half = student_below(1 - level / 2, fit.df_system) * fit.system_errors()
    return fit.strength - half, fit.strength + half


def spread_components(fit: TasteFit, people: int, segments: int, documents: int) -> tuple[VarianceComponent, ...]:
    """Tastes, segments and documents as sources of spread, in log-odds."""
    sources = (
        (TASTE, fit.taste, people, "how differently annotators like systems"),
        ("system:segment", fit.segment_sd, segments, f"{_DIFFERENTLY} on segments that several annotators judged"),
        ("system:document", fit.document_sd, documents, f"{_DIFFERENTLY} in documents that several annotators judged"),
    )
    return tuple(
        VarianceComponent(effect, sd, None, None, levels, meaning, sd == 0)
        for effect, sd, levels, meaning in sources
        if sd is not None
    )
