"""Audits of released rankings: every question has an answer, and the answers are of the size that is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from adjudge import read
from adjudge.evidence.audit import audit
from adjudge.evidence.stability import Stability
from adjudge.evidence.trust import AATest, Influence, Reliability
from adjudge.planning.relative import RelativeSpread, spread_like
from adjudge.ranking.methods import rank

QUESTIONS = ("stability", "aa", "reliability", "influence")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "pair", "systems"),
    [
        ("wmt10/data_RNK.csv", "cs-en", 13),
        ("wmt11/wmt11-maneval-indivsystems.RNK_results.csv", "cs-en", 9),
    ],
)
def test_rankings_have_the_whole_audit(file: str, pair: str, systems: int, data: Path) -> None:
    """The numbers of systems are those of the files, the reference included."""
    judgments = read([data / file], format="wmt-ranking").for_pair(pair)
    sections = audit(judgments, only=QUESTIONS).sections
    stability, aa, reliability, influence = (sections[name] for name in QUESTIONS)
    assert isinstance(stability, Stability)
    assert isinstance(aa, AATest)
    assert isinstance(reliability, Reliability)
    assert isinstance(influence, Influence)
    assert reliability.systems == systems
    order = rank(judgments).order
    assert all(row.baseline_order == tuple(name for name in order if name not in row.removed) for row in stability.rows)
    # A test that is not honest on these data would lie above: the interval reaches 5% or less.
    assert aa.rates["bradley-terry"].interval[0] < 0.05
    assert reliability.methods["bradley-terry"].tau > 0.5
    assert influence.rows[0].in_se > 0


@pytest.mark.slow
def test_plans_assume_the_tastes_of_released_campaigns(data: Path) -> None:
    """The middle half of the campaigns of 2010 lies around what `plan --protocol ranking` assumes."""
    parts = read([data / "wmt10" / "data_RNK.csv"], format="wmt-ranking").by_pair().values()
    low, high = np.quantile([spread_like(part).taste for part in parts], [0.25, 0.75])
    assert low - 0.05 < RelativeSpread().taste < high + 0.05
