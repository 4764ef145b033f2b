"""Both estimators answer the same questions, and parts of the data as the data of the parts would."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from adjudge.mixed.design import design_from
from adjudge.mixed.fit import refit
from adjudge.mixed.model import model_of
from adjudge.planning.simulated_scores import ScoreCampaign, simulate_scores
from adjudge.ranking.estimator import Part, estimator_of
from adjudge.ranking.relative_estimator import RelativeEstimator
from adjudge.ranking.scores import ScoreEstimator
from adjudge.table.judgments import Judgments
from tests.helpers.rank_make import blocks, random_blocks


@pytest.fixture(scope="module")
def scores() -> Judgments:
    return simulate_scores(ScoreCampaign(systems=4, annotators=8, tasks=16, documents=6), seed=3).judgments


@pytest.fixture(scope="module")
def rankings() -> Judgments:
    return random_blocks(2, number=160, annotators=8)


@pytest.mark.parametrize("kind", ["scores", "relative"])
def test_both_kinds_answer_the_same_questions(kind: str, scores: Judgments, rankings: Judgments) -> None:
    estimator = estimator_of(scores if kind == "scores" else rankings)
    estimate, n = estimator.estimate, len(estimator.systems)
    assert (estimator.kind, estimator.people, estimator.annotators, estimator.unnamed) == (kind, 8, 8, 0)
    assert estimate.systems == estimator.systems
    assert estimate.covariance.shape == estimate.se.shape == estimate.df.shape == (n, n)
    np.testing.assert_allclose(estimate.difference, -estimate.difference.T)
    np.testing.assert_allclose(estimate.contrasts.two_sided, estimate.contrasts.two_sided.T)
    assert [estimator.systems[i] for i in estimate.order] == sorted(
        estimator.systems, key=lambda name: -estimate.effects[estimator.systems.index(name)]
    )
    everyone, none = np.ones(8, dtype=bool), np.ones(n, dtype=bool)
    for part in estimator.parts([Part(people=everyone), Part(systems=none)]):
        assert part is not None
        np.testing.assert_allclose(part.effects, estimate.effects, rtol=1e-6, atol=1e-6)
    units = estimator.units[0]
    assert (units.kind, units.number) == ("annotator", 8)
    assert all(left is not None and left.complete for left in estimator.without_each(units, units.busiest(2)))
    for method in estimator.methods[:2]:
        assert estimator.scores_of(method, everyone[None], np.random.default_rng(1)).shape == (1, n)


def test_scores_without_somebody_are_the_scores_of_the_others(scores: Judgments) -> None:
    """Against a fit to the table without these rows, at the variances of the whole."""
    estimator = ScoreEstimator(scores)
    units = estimator.units[0]
    name, (left,) = units.names[2], estimator.without_each(units, np.array([2]))
    whole = estimator.design
    assert left is not None
    rest = whole.subset(~(scores.final().table["annotator"].gather(whole.row) == name).to_numpy())
    expected = refit(rest, model_of(design_from(scores)).fitted.ratios)
    np.testing.assert_allclose(left.effects, expected.effects, rtol=1e-6)
    np.testing.assert_allclose(left.covariance, expected.covariance, rtol=1e-5)


def test_strengths_of_some_systems_are_those_of_a_table_of_them(rankings: Judgments) -> None:
    estimator = estimator_of(rankings)
    kept = ~estimator.human
    (part,) = estimator.parts([Part(systems=kept)])
    names = [name for name, inside in zip(estimator.systems, kept, strict=True) if inside]
    alone = estimator_of(rankings.select(pl.col("system").is_in(names))).estimate
    assert part is not None
    assert part.systems == alone.systems
    np.testing.assert_allclose(part.effects, alone.effects, atol=1e-9)


def test_a_lead_that_nobody_contradicts_has_no_size() -> None:
    """a always wins, so its distance from the others is that of the ridge; b and c go both ways."""
    shown = [{"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 3, "c": 2}] * 6
    estimate = estimator_of(blocks(shown, annotators=[f"p{i % 4}" for i in range(12)])).estimate
    low, high = estimate.interval(0.05)
    assert np.isnan(low[0, 1:]).all()
    assert np.isnan(high[0, 1:]).all()
    assert np.isfinite([low[1, 2], high[1, 2]]).all()
    assert estimate.contrasts.two_sided[0, 1] < 0.05


def test_systems_that_no_comparison_connects_have_no_difference() -> None:
    """Without p1 nobody has compared c."""
    shown = [{"a": 1, "b": 2, "c": 3}, {"a": 3, "b": 2, "c": 1}, {"a": 1, "b": 2}, {"a": 2, "b": 1}]
    estimator = estimator_of(blocks(shown, annotators=["p1", "p1", "p2", "p3"]))
    assert isinstance(estimator, RelativeEstimator)
    units = estimator.units[0]
    (left,) = estimator.without_each(units, np.array([units.names.index("p1")]))
    assert left is not None
    assert not left.complete
    assert np.isnan(left.difference[2, :2]).all()
    assert np.isfinite(left.difference[0, 1])
