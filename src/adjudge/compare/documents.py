"""Runs over one and the same system: compared are its documents (or segments), by the gold standard of each run."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.errors import DataError
from adjudge.core.maths import kendall
from adjudge.evidence.verdict import say_same_documents, show_correlation
from adjudge.meta.gold import gold
from adjudge.results.compare import (
    CampaignComparison,
    CampaignCost,
    CampaignPair,
    ComparedSystem,
    FlipCount,
    ScoreCorrelation,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from adjudge.core.judgments import Judgments
    from adjudge.formats.metric_score_files import MetricScore
    from adjudge.results.gold import Gold


def compare_documents(
    sources: Mapping[str, Judgments | list[MetricScore]], system: str, *, keys: Mapping[str, str] | None, seed: int
) -> CampaignComparison:
    """Compare every two runs by their scores of documents; the interval is Fisher's, over documents."""
    runs: dict[str, Judgments] = {name: source for name, source in sources.items() if not isinstance(source, list)}
    standards = {name: gold([run], names=[name], keys=keys, seed=seed) for name, run in runs.items()}
    by_unit = {name: _by_unit(standard) for name, standard in standards.items()}
    unit = next(iter(standards.values())).level
    order = list(dict.fromkeys(key for of_run in by_unit.values() for key in of_run))
    ranks = {name: rank_units(of_run) for name, of_run in by_unit.items()}
    return CampaignComparison(
        settings={"method": "zscore", "seed": seed},
        data="+".join(standard.data for standard in standards.values()),
        set_aside=tuple(aside for standard in standards.values() for aside in standard.set_aside),
        notes=(f"the campaigns hold one system ({system}), so its {unit} are compared by mean z-scores",
               *(f"{name}: {note}" for name, standard in standards.items() for note in standard.notes)),
        campaigns=tuple(runs),
        unit=unit,
        systems=tuple(
            ComparedSystem(
                key,
                False,
                tuple(of_run.get(key) for of_run in by_unit.values()),
                tuple(of_run.get(key) for of_run in ranks.values()),
            )
            for key in order
        ),
        pairs=tuple(_pair((a, b), [runs[a], runs[b]], keys, unit, seed) for a, b in combinations(runs, 2)),
        costs=tuple(_cost(name, run) for name, run in runs.items()),
    )  # fmt: skip


def _by_unit(standard: Gold) -> dict[str, float]:
    return {
        str(score.segment if score.segment is not None else score.document): score.z
        for score in standard.scores
        if score.z is not None
    }


def rank_units(scores: Mapping[str, float]) -> dict[str, int]:
    """Rank systems or documents by their scores, 1 is best; equal scores share the better rank."""
    return {name: 1 + sum(other > score for other in scores.values()) for name, score in scores.items()}


def _pair(
    names: tuple[str, str], runs: Sequence[Judgments], keys: Mapping[str, str] | None, unit: str, seed: int
) -> CampaignPair:
    first, second = names
    both = gold(runs, names=[first, second], keys=keys, orders=0, seed=seed)
    correlation = both.correlation
    if correlation is None or correlation.n == 0:
        raise DataError(f"{first} and {second} share no {unit}; check the names, or give --keys")
    before, after = (
        {(score.document, score.segment): score.z for score in scores} for scores in (both.scores, both.second)
    )
    shared = [key for key in before if key in after and before[key] is not None and after[key] is not None]
    x, y = (np.array([by_key[key] for key in shared], dtype=float) for by_key in (before, after))
    upper = np.triu_indices(len(shared), 1)
    flipped = int((np.sign(x[upper[0]] - x[upper[1]]) * np.sign(y[upper[0]] - y[upper[1]]) < 0).sum())
    scores = ScoreCorrelation(
        correlation.n, correlation.pearson, correlation.spearman, kendall(x, y), correlation.interval
    )
    count = FlipCount(flipped, len(upper[0]), None, None)
    r = show_correlation(scores.pearson, scores.interval)
    verdict = say_same_documents(names, flips=count.flips, pairs=count.pairs, unit=unit, r=r)
    return CampaignPair(names, scores, (), count, None, verdict)


def _cost(name: str, run: Judgments) -> CampaignCost:
    from adjudge.compare.single_judgments import minutes_of

    table = run.final().table
    minutes, timing = minutes_of(table)
    return CampaignCost(name, "zscore", table.height, minutes, None, None, None, timing)
