"""Released scores of English-German 2023: what metrics are worth as helpers when a fifth of the documents is judged.

Expected: other code on the same scores found, for differences of systems, best single metrics worth 1.12 to
1.22, all together 1.16 to 1.29, a random metric 1.0. Figures with their errors are in `docs/helpers.md`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import adjudge
from adjudge.table.judgments import Judgments
from tests.helpers.released import read_released


def share_of(judgments: Judgments, share: float, seed: int) -> Judgments:
    """The judgments of some of the documents, drawn at random."""
    documents = judgments.table["document"].unique().sort().to_list()
    drawn = np.random.default_rng(seed).choice(documents, int(share * len(documents)), replace=False)
    return Judgments(judgments.table.filter(pl.col("document").is_in(drawn.tolist())))


@pytest.mark.slow
def test_good_metrics_help_and_a_random_one_does_not(data: Path) -> None:
    judgments = read_released(data / "wmt23" / "human-scores" / "en-de.mqm.seg.score", "metric-scores")
    scores = data / "wmt23" / "metric-scores" / "en-de"
    rankings = [adjudge.rank(share_of(judgments, 0.2, seed), with_scores=scores) for seed in range(5)]
    assert {len(ranking.helpers) for ranking in rankings} == {13}
    helpers = {
        name: [helper for ranking in rankings for helper in ranking.helpers if helper.name == name]
        for name in ("MetricX-23-b-refA", "GEMBA-MQM-src", "Random-sysname-src")
    }
    # An interval is as wide on either side by ratios; the gain in its middle is printed unless the interval includes 1.
    gains = {
        name: np.mean([np.sqrt((one.gain_low or np.nan) * (one.gain_high or np.nan)) for one in found])
        for name, found in helpers.items()
    }
    printed = {name: np.mean([one.gain for one in found]) for name, found in helpers.items()}
    assert 1.04 < gains["MetricX-23-b-refA"] < 1.25
    assert 1.04 < gains["GEMBA-MQM-src"] < 1.25
    assert gains["Random-sysname-src"] == pytest.approx(1.0, abs=0.01)
    assert printed["Random-sysname-src"] == 1.0
    assert 1 < printed["GEMBA-MQM-src"] < gains["GEMBA-MQM-src"]
    assert 1 < printed["MetricX-23-b-refA"] < gains["MetricX-23-b-refA"]
    assert 1.08 < np.mean([ranking.gain for ranking in rankings]) < 1.35
    assert any(note.startswith("refA: no scores by BERTscore-refA") for note in rankings[0].notes)
