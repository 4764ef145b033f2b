"""Differences, rank sets and equivalence from estimates with a covariance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm, studentized_range, t

from adjudge.ranking.lines import rank_sets, simultaneous_interval
from adjudge.table.maths import contrasts, equivalence

EFFECTS = np.array([10.0, 7.0, 6.5, 1.0])
COVARIANCE = np.eye(4) * 0.5 + 3.0


def test_a_shared_part_of_the_covariance_cancels() -> None:
    compared = contrasts(EFFECTS, COVARIANCE)
    assert compared.se[0, 1] == pytest.approx(1.0)
    assert compared.two_sided[0, 1] == pytest.approx(2 * norm.sf(3.0))
    assert compared.greater[1, 0] == pytest.approx(norm.cdf(3.0))
    assert np.isnan(np.diag(compared.two_sided)).all()
    np.testing.assert_allclose(compared.difference, -compared.difference.T)


def test_few_degrees_of_freedom_widen_intervals() -> None:
    compared = contrasts(EFFECTS, COVARIANCE, np.full((4, 4), 5.0))
    low, high = compared.interval(0.05)
    assert high[0, 1] - low[0, 1] == pytest.approx(2 * t.isf(0.025, 5))
    assert compared.two_sided[0, 1] == pytest.approx(2 * t.sf(3.0, 5))


def test_simultaneous_intervals_are_tukeys_for_independent_estimates() -> None:
    """SciPy's studentized range: the range of 4 normal estimates over their standard error, 95%."""
    compared = contrasts(EFFECTS, np.eye(4) * 0.5)
    low, high = simultaneous_interval(compared, np.eye(4) * 0.5, draws=200_000, seed=3)
    expected = studentized_range.ppf(0.95, 4, np.inf) / np.sqrt(2)
    assert (high[0, 1] - low[0, 1]) / 2 == pytest.approx(expected, abs=0.02)


def test_rank_sets_count_those_that_are_surely_better_or_worse() -> None:
    compared = contrasts(EFFECTS, COVARIANCE)
    sets = rank_sets(compared, COVARIANCE, seed=1)
    assert sets.simultaneous.tolist() == [[1, 1], [2, 3], [2, 3], [4, 4]]
    assert (sets.marginal[:, 0] >= sets.simultaneous[:, 0]).all()
    assert (sets.marginal[:, 1] <= sets.simultaneous[:, 1]).all()
    again = rank_sets(compared, COVARIANCE, seed=1)
    np.testing.assert_array_equal(again.simultaneous, sets.simultaneous)


def test_nothing_is_ruled_out_where_the_errors_are_large() -> None:
    sets = rank_sets(contrasts(EFFECTS, COVARIANCE * 1000), COVARIANCE * 1000)
    assert sets.simultaneous.tolist() == [[1, 4]] * 4


def test_steps_decide_more_than_one_look() -> None:
    """Tukey's quantile for three systems is 2.34; with one of them decided, two of the six directions drop out."""
    effects, covariance = np.array([0.0, 2.3, 100.0]), np.eye(3) * 0.5
    assert rank_sets(contrasts(effects, covariance), covariance).simultaneous.tolist() == [[3, 3], [2, 2], [1, 1]]


def test_sets_hold_all_true_ranks_as_often_as_promised() -> None:
    """Six systems, two pairs of them equal: in 200 draws of estimates, at least 95% less two standard errors."""
    truth = np.array([0.0, 0.0, 1.0, 1.0, 2.5, 6.0])
    rng = np.random.default_rng(5)
    root = rng.standard_normal((6, 6)) * 0.4 + np.eye(6)
    covariance = root @ root.T
    lowest = 1 + (truth[None, :] > truth[:, None]).sum(1)
    highest = len(truth) - (truth[None, :] < truth[:, None]).sum(1)
    hits = 0
    for _ in range(200):
        estimate = truth + root @ rng.standard_normal(6)
        sets = rank_sets(contrasts(estimate, covariance), covariance, draws=500).simultaneous
        hits += bool(((sets[:, 0] <= lowest) & (sets[:, 1] >= highest)).all())
    assert hits / 200 >= 0.95 - 2 * np.sqrt(0.95 * 0.05 / 200)


def test_equivalence_is_shown_by_the_interval_inside_the_margins() -> None:
    compared = contrasts(np.array([0.5, 0.0]), np.eye(2) * 0.02)
    shown = equivalence(compared, 0, 1, margin=1.0)
    assert shown.p == pytest.approx(norm.sf(2.5))
    assert -1 < shown.low < shown.high < 1
    assert equivalence(compared, 0, 1, margin=0.6).p > 0.05
    # A difference that is far from significant is no parity where the errors are wide.
    wide = equivalence(contrasts(np.array([0.5, 0.0]), np.eye(2) * 2), 0, 1, margin=1.0)
    assert wide.p > 0.3
