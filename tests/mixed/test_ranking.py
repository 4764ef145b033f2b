"""The mixed model on normal scores."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm, skew

from adjudge.evidence.verdict import add_verdict
from adjudge.mixed.design import normal_scores
from adjudge.mixed.model import jackknife_of
from adjudge.ranking.methods import RankSettings, rank
from adjudge.ranking.scores import ScoreEstimator, rank_scores
from adjudge.table.judgments import Judgments
from adjudge.table.maths import Floats
from tests.helpers.mixed_make import campaign


def test_normal_scores_share_the_mean_rank_of_ties() -> None:
    expected = norm.ppf((np.array([1.0, 3.5, 2.0, 3.5]) - 0.5) / 4)
    np.testing.assert_allclose(normal_scores(np.array([3.0, 9.0, 5.0, 9.0])), expected)


def test_only_the_order_of_scores_counts() -> None:
    judgments = campaign("pages", 6)
    stretched = Judgments(judgments.table.with_columns(score=(judgments.table["score"] / 10).exp()))

    def effects(scores: Judgments, model: str) -> Floats:
        return ScoreEstimator(scores, model=model).estimate.effects

    np.testing.assert_allclose(effects(judgments, "mixed-rank"), effects(stretched, "mixed-rank"))
    assert not np.allclose(effects(judgments, "mixed-points"), effects(stretched, "mixed-points"))


def test_the_ranking_has_the_common_shape() -> None:
    findings = rank_scores(ScoreEstimator(campaign("pages", 6), model="mixed-rank"), RankSettings()).findings
    assert findings.systems == ("s0", "s1", "s2")
    assert findings.n.sum() == len(campaign("pages", 6))
    assert findings.decisions is not None
    assert findings.decisions.rank_sets.shape == (3, 2)
    np.testing.assert_allclose(findings.tests.two_sided, findings.tests.two_sided.T)


def fail_on_some(score: Floats, rng: np.random.Generator, share: float, gain: float) -> Floats:
    """A system that is better by `gain`, except on a share of its outputs, where it gets next to nothing."""
    return np.where(rng.random(len(score)) < share, rng.uniform(0, 10, len(score)), score + gain)


def test_a_system_with_disasters_does_not_come_out_first_alone() -> None:
    """5 points better on nine outputs of ten and a disaster on the tenth: typically better, on average not."""
    rng = np.random.default_rng(3)
    people, documents, segments = 12, 20, 3
    rows = []
    for annotator in range(people):
        strict = rng.normal(0, 5)
        for document in range(documents):
            for system in ("careful", "failing"):
                score = 70 + strict + rng.normal(0, 8, segments)
                score = fail_on_some(score, rng, 0.1, 5.0) if system == "failing" else score
                rows += [(f"a{annotator}", f"d{document}", str(i), system, float(np.clip(value, 0, 100)))
                         for i, value in enumerate(score)]  # fmt: skip
    names = ("annotator", "document", "segment", "system", "score")
    judgments = Judgments.from_columns(
        {**{name: [row[i] for row in rows] for i, name in enumerate(names)}, "protocol": ["da"] * len(rows)}
    )
    ranking = add_verdict(rank(judgments))
    assert ranking.order == ("careful", "failing")
    (pair,) = ranking.comparisons
    assert not pair.decided
    assert pair.state in ("typical only", "opposed")
    assert ranking.verdict[0].startswith("failing is usually better than careful, but ")
    assert rank(judgments, method="mixed-rank").order == ("failing", "careful")


def test_points_decide_penalties() -> None:
    judgments = campaign("pages", 6)
    penalties = Judgments(judgments.table.with_columns(protocol=pl.lit("mqm")))
    assert ScoreEstimator(judgments).reading == "typical"
    assert ScoreEstimator(penalties).reading == "average"
    assert rank(penalties).settings["decided_by"] == "average"


def test_errors_by_texts_are_those_of_the_jackknife_and_skewness_that_of_scipy() -> None:
    """Efron's formula, pair by pair; what a text says is the change without it with the sign turned."""
    rng = np.random.default_rng(4)
    effects = rng.normal(0, 0.1, (40, 3))
    effects[::8, 0] += 1.0  # without one of five texts on which it fails, the first system is better
    found = jackknife_of(effects)
    change = effects[:, 0] - effects[:, 1]
    assert found.se[0, 1] == pytest.approx(np.sqrt(39 / 40 * ((change - change.mean()) ** 2).sum()))
    assert found.lean[0, 1] == pytest.approx(-skew(change) / np.sqrt(40))
    assert found.lean[0, 1] == -found.lean[1, 0] < 0
    assert found.lean[1, 2] == 0, "chance alone is no skewness"
    centred = effects[:, 2] - effects.mean(1)
    assert found.from_mean[2] == pytest.approx(np.sqrt(39 / 40 * ((centred - centred.mean()) ** 2).sum()))
    effects[4:, 2] = np.nan
    assert jackknife_of(effects).se[0, 2] == 0, "four texts are too few"
