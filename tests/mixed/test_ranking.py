"""The mixed model on normal scores."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from adjudge.mixed.design import design_from, normal_scores
from adjudge.ranking.scores import rank_design
from adjudge.table.judgments import Judgments
from tests.helpers.mixed_make import campaign


def test_normal_scores_share_the_mean_rank_of_ties() -> None:
    expected = norm.ppf((np.array([1.0, 3.5, 2.0, 3.5]) - 0.5) / 4)
    np.testing.assert_allclose(normal_scores(np.array([3.0, 9.0, 5.0, 9.0])), expected)


def test_only_the_order_of_scores_counts() -> None:
    judgments = campaign("pages", 6)
    stretched = Judgments(judgments.table.with_columns(score=(judgments.table["score"] / 10).exp()))
    plain, other = (rank_design(design_from(scores, model="mixed-rank")) for scores in (judgments, stretched))
    np.testing.assert_allclose(plain.fit.effects, other.fit.effects)
    assert not np.allclose(
        rank_design(design_from(judgments, model="mixed-points")).fit.effects,
        rank_design(design_from(stretched, model="mixed-points")).fit.effects,
    )


def test_the_ranking_has_the_common_shape() -> None:
    ranking = rank_design(design_from(campaign("pages", 6), model="mixed-rank"))
    findings = ranking.findings
    assert findings.systems == ("s0", "s1", "s2")
    assert findings.n.sum() == len(campaign("pages", 6))
    assert findings.rank_sets.shape == (3, 2)
    np.testing.assert_allclose(findings.tests.two_sided, findings.tests.two_sided.T)
    low, high = ranking.interval
    wide_low, wide_high = ranking.simultaneous
    off = ~np.eye(3, dtype=bool)
    assert ((wide_low <= low) | ~off).all()
    assert ((wide_high >= high) | ~off).all()
