"""Metrics, and files of scores without annotators, as campaigns: means of segments, documents drawn again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.compare.campaign import Campaign, Cells, RankingPairs, document_of
from adjudge.formats.metric_score_files import fingerprint_of_scores
from adjudge.rank.lines_and_rank_sets import holm

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from adjudge.compare.campaign import Draws
    from adjudge.core.arrays import Floats
    from adjudge.formats.metric_score_files import MetricScore

LEVEL = 0.05


def campaigns_of_scores(name: str, scores: Sequence[MetricScore], draws: Draws) -> list[Campaign]:
    """Every metric (or column of human scores) of a file as a campaign of its own; a single one is named as given."""
    by_metric: dict[str, list[MetricScore]] = {}
    for score in scores:
        if score.score is not None:
            by_metric.setdefault(score.metric, []).append(score)
    several = len(by_metric) > 1
    return [
        _campaign_of_metric(metric if several else name, of_metric, draws) for metric, of_metric in by_metric.items()
    ]


def _campaign_of_metric(name: str, scores: Sequence[MetricScore], draws: Draws) -> Campaign:
    segments = [score for score in scores if score.segment is not None]
    used = segments or scores
    systems = tuple(sorted({score.system for score in used}))
    cells = Cells(
        systems=systems,
        system=np.array([systems.index(score.system) for score in used]),
        weight=np.ones(len(used)),
        score=np.array([score.score for score in used], dtype=float),
        annotator=None,
        document=draws.of([document_of(score) for score in used]),
    )
    resampled = cells.resampled(0, draws) if segments else {}
    tests = _resampling_tests(cells.scores(), resampled)
    return Campaign(
        name=name,
        method="mean",
        unit="mean score",
        scores=cells.scores(),
        human=frozenset(),
        resampled=resampled,
        p_better=tests.p_better,
        certain=tests.certain,
        items={(score.document, score.segment, score.system): float(score.score or 0.0) for score in segments},
        judgments=len(used),
        fingerprint=fingerprint_of_scores(scores),
    )


def _resampling_tests(scores: Mapping[str, float], resampled: Mapping[str, Floats]) -> RankingPairs:
    """Differences of means against their spread over resampled documents, by the normal distribution."""
    from scipy.special import ndtr

    if not resampled:
        return RankingPairs({}, None)
    p_better: dict[tuple[str, str], float] = {}
    for first in scores:
        for second in scores:
            if first != second:
                spread = float(np.std(resampled[first] - resampled[second], ddof=1))
                difference = scores[first] - scores[second]
                p_better[first, second] = float(ndtr(-difference / spread)) if spread > 0 else float(difference <= 0)
    pairs = [2 * min(p, p_better[pair[::-1]]) for pair, p in p_better.items() if pair[0] < pair[1]]
    return RankingPairs(p_better, int((holm(np.array(pairs)) < LEVEL).sum()))
