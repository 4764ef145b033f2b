"""Tests between pairs, corrections, rank sets and lines against other tools and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from statsmodels.stats.multitest import multipletests

from adjudge.ranking.decisions import (
    PairTests,
    benjamini_hochberg,
    cluster_numbers,
    holm,
    line_after,
    rank_bounds,
    resampled_rank_sets,
)
from adjudge.ranking.significance import Separation, difference_spread, resampling_tests, sign_tests
from tests.conftest import examples


@pytest.mark.slow
@settings(max_examples=examples(8))
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_corrections_are_those_of_statsmodels(p: list[float]) -> None:
    """statsmodels 0.14 and later, `multipletests`, methods holm and fdr_bh."""
    values = np.array(p)
    assert holm(values) == pytest.approx(multipletests(values, method="holm")[1])
    assert benjamini_hochberg(values) == pytest.approx(multipletests(values, method="fdr_bh")[1])


def test_a_pair_that_was_not_tested_is_not_counted() -> None:
    assert holm(np.array([0.01, np.nan, 0.04])) == pytest.approx([0.02, np.nan, 0.04], nan_ok=True)


@given(st.integers(0, 60), st.integers(0, 60))
def test_the_sign_test_is_the_exact_binomial(wins: int, losses: int) -> None:
    """scipy `binomtest`."""
    tests = sign_tests(np.array([[0.0, wins], [losses, 0.0]]))
    if wins + losses == 0:
        assert np.isnan(tests.two_sided[0, 1])
        return
    assert tests.two_sided[0, 1] == pytest.approx(binomtest(wins, wins + losses).pvalue)
    assert tests.greater[0, 1] == pytest.approx(binomtest(wins, wins + losses, alternative="greater").pvalue)
    assert tests.greater[1, 0] == pytest.approx(binomtest(losses, wins + losses, alternative="greater").pvalue)


def test_resampled_differences_are_tested_against_their_spread() -> None:
    rng = np.random.default_rng(1)
    resampled = rng.normal(size=(4000, 3)) * [1.0, 1.0, 0.1] + [5.0, 0.0, 0.0]
    wins = np.full((3, 3), 5.0)  # judgments that go both ways: the resamples alone decide
    tests = resampling_tests(np.array([5.0, 0.0, 0.0]), difference_spread(resampled, 10_000), 10_000, wins)
    assert tests.two_sided[0, 1] == pytest.approx(2 * 0.000204, rel=0.3)  # 5 / sqrt(2) standard deviations
    assert tests.two_sided[1, 2] == pytest.approx(1.0)
    assert tests.greater[1, 0] > 0.99


def test_resamples_that_do_not_vary_leave_the_test_to_the_pair_itself() -> None:
    """scipy `binomtest` of 14 wins and 6 losses."""
    wins = np.array([[0.0, 14.0], [6.0, 0.0]])
    tests = resampling_tests(np.array([0.4, -0.4]), np.full((2, 2), 1e-14), 2, wins)
    assert tests.two_sided[0, 1] == pytest.approx(binomtest(14, 20).pvalue)


def test_the_spread_of_few_units_is_made_good() -> None:
    """Resampled means of k values have the variance s2 (k - 1) / k**2 on average; what is wanted is s2 / k."""
    rng = np.random.default_rng(2)
    values = np.array([0.0, 1.0, 5.0])
    drawn = values[rng.integers(3, size=(40_000, 3))].mean(1)
    spread = difference_spread(np.stack([drawn, np.zeros_like(drawn)], axis=1), 3)
    assert spread[0, 1] == pytest.approx(values.std(ddof=1) / np.sqrt(3), rel=0.01)


def test_rank_bounds_share_ranks_among_equals() -> None:
    low, high = rank_bounds(np.array([3.0, 1.0, 3.0, np.nan]))
    assert low.tolist() == [1, 3, 1, 1]
    assert high.tolist() == [3, 4, 3, 4]


def test_rank_sets_trim_both_ends() -> None:
    scores = np.array([2.0, 1.0])
    resampled = np.array([[2.0, 1.0]] * 98 + [[1.0, 2.0]] * 2)
    assert resampled_rank_sets(scores, resampled, 0.05).tolist() == [[1, 1], [2, 2]]
    assert resampled_rank_sets(scores, resampled, 0.02).tolist() == [[1, 2], [1, 2]]
    assert resampled_rank_sets(scores, np.empty((0, 2)), 0.05).tolist() == [[1, 2], [1, 2]]


def three_systems(p12: float, p13: float, p23: float) -> PairTests:
    """One-sided p that the earlier system is better; the reverse is 1 - p."""
    greater = np.array([[np.nan, p12, p13], [1 - p12, np.nan, p23], [1 - p13, 1 - p23, np.nan]])
    return PairTests(greater, np.minimum(1, 2 * np.fmin(greater, greater.T)))


@pytest.mark.parametrize(
    ("rule", "p", "expected"),
    [
        ("official", (0.01, 0.01, 0.5), [1, 2, 2]),
        ("official", (0.5, 0.01, 0.01), [1, 1, 2]),
        # The second beats both others: two wins are more than the one system below it, so no line stands there.
        ("official", (0.99, 0.01, 0.01), [1, 1, 1]),
        ("scipy-1.6", (0.04, 0.04, 0.5), [1, 2, 2]),
        ("scipy-1.7", (0.04, 0.04, 0.5), [1, 1, 1]),
        # Blind to direction: the second is significantly *better*, and still a line stands after the first.
        ("scipy-1.6", (0.99, 0.01, 0.5), [1, 2, 2]),
        ("strict", (0.99, 0.01, 0.5), [1, 1, 1]),
        ("strict", (0.5, 0.01, 0.01), [1, 1, 2]),
        ("strict", (0.5, 0.5, 0.01), [1, 1, 1]),
        ("scipy-1.6", (0.5, 0.5, 0.01), [1, 1, 2]),
        ("holm", (0.5, 0.005, 0.006), [1, 1, 2]),
        ("holm", (0.5, 0.01, 0.02), [1, 1, 1]),
    ],
)
def test_lines_stand_where_the_rule_says(rule: str, p: tuple[float, float, float], expected: list[int]) -> None:
    after = line_after(rule, np.arange(3), three_systems(*p), np.zeros((3, 3), dtype=bool), 0.05)
    assert cluster_numbers(after).tolist() == expected


def test_one_lead_that_was_seldom_seen_costs_others_one_rank() -> None:
    """A won all of three comparisons: it may be anywhere, but nobody else can pass more than A because of it."""
    seldom = np.zeros((4, 4))
    seldom[0, 1:] = seldom[1:, 0] = 0.25
    apart = Separation(seldom, np.zeros((4, 4), dtype=bool), np.zeros((4, 4), dtype=bool))
    places = np.array([[1, 1], [2, 2], [3, 3], [4, 4]])
    assert apart.widened(places, places, 0.05).tolist() == [[1, 4], [1, 2], [2, 3], [3, 4]]
