"""Small mathematics: every function against a slow, clear one or against SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from adjudge.table.maths import (
    NORMAL_95,
    Contrasts,
    distinct,
    divide,
    mean_ranks,
    normal_quantile,
    over_contrasts,
    pearson,
    student_quantile,
    student_tail,
    varies,
    with_least_errors,
)

# Rounded, because squares of numbers near 0 vanish in NumPy's correlation.
NUMBERS = st.floats(-1e6, 1e6).map(lambda number: round(number, 3))
SHORT = st.lists(NUMBERS, min_size=1, max_size=20)


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 5)))
def test_the_different_integers_are_those_of_a_set(numbers: list[int]) -> None:
    assert distinct(np.array(numbers, dtype=np.int64)).tolist() == sorted(set(numbers))


@pytest.mark.parametrize("systems", [2, 3, 7])
def test_the_forms_of_contrasts_are_their_products_with_the_matrix(systems: int) -> None:
    """The definition, contrast by contrast: also of a matrix that is not symmetric."""
    matrices = np.random.default_rng(systems).normal(size=(4, systems, systems))
    pairs = [np.eye(systems)[i] - np.eye(systems)[j] for i in range(systems) for j in range(i + 1, systems)]
    every = [*pairs, *(np.eye(systems) - 1 / systems)]
    expected = [[contrast @ matrix @ contrast for contrast in every] for matrix in matrices]
    assert over_contrasts(matrices) == pytest.approx(np.array(expected))
    assert over_contrasts(matrices[0]) == pytest.approx(np.array(expected[0]))


@given(SHORT, NUMBERS)
def test_division_is_by_what_is_positive_only(parts: list[float], whole: float) -> None:
    quotients = divide(parts, whole)
    for part, quotient in zip(parts, quotients, strict=True):
        assert quotient == part / whole if whole > 0 else math.isnan(quotient)


def test_division_takes_another_value_where_there_is_nothing_to_divide_by() -> None:
    assert divide([1, 2], [0, 4], otherwise=0.0).tolist() == [0.0, 0.5]
    assert float(divide(3, 4)) == 0.75


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=30))
def test_correlation_is_that_of_numpy(pairs: list[tuple[float, float]]) -> None:
    x, y = np.array(pairs).T
    correlation = pearson(x, y)
    # Values that differ by less than a millionth lose digits in either way to compute it.
    if np.ptp(x) > 1e-6 * np.abs(x).max() and np.ptp(y) > 1e-6 * np.abs(y).max():
        assert correlation == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-6)
    assert math.isnan(correlation) or -1 <= correlation <= 1


@pytest.mark.parametrize("constant", [[0.1 + 0.2, 0.3, 0.3], [5.0, 5.0, 5.0], [1e9, 1e9 + 1e-5, 1e9]])
def test_what_varies_by_rounding_alone_correlates_with_nothing(constant: list[float]) -> None:
    values = np.array(constant)
    assert not varies(values)
    assert math.isnan(pearson(values, np.array([1.0, 2.0, 3.0])))


def test_a_single_value_does_not_vary() -> None:
    assert not varies(np.array([3.0]))
    assert not varies(np.array([]))


@given(st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=30))
def test_mean_ranks_are_those_of_scipy(values: list[float]) -> None:
    assert mean_ranks(np.array(values)).tolist() == stats.rankdata(values).tolist()


def test_normal_quantiles_are_those_of_scipy() -> None:
    probabilities = np.linspace(0, 1, 101)
    assert normal_quantile(probabilities).tolist() == stats.norm.ppf(probabilities).tolist()
    assert float(normal_quantile(0.975)) == NORMAL_95


@given(st.floats(-50, 50), st.one_of(st.floats(1, 1e5), st.just(math.inf)), st.floats(1e-6, 1 - 1e-6))
def test_students_distribution_is_that_of_scipy(value: float, df: float, tail: float) -> None:
    assert float(student_tail(value, df)) == stats.t.sf(value, df)
    assert float(student_quantile(tail, df)) == pytest.approx(float(stats.t.isf(tail, df)), abs=1e-300)


@given(st.floats(-8, 8), st.floats(-0.6, 0.6), st.floats(2, 200), st.sampled_from([0.01, 0.05, 0.3]))
def test_an_interval_that_leans_contains_0_where_p_is_above_its_level(
    t: float, lean: float, df: float, level: float
) -> None:
    """Both follow from Johnson's (1978) shift; an interval is never shorter than without it, and grows on one side."""
    difference, se = np.array([[np.nan, t], [-t, np.nan]]), np.full((2, 2), 1.0)
    plain = Contrasts(difference, se, np.full((2, 2), df), difference, difference, difference)
    leaning = with_least_errors(plain, se, np.array([[0.0, lean], [-lean, 0.0]]))
    low, high = (float(end[0, 1]) for end in leaning.interval(level))
    half = float(student_quantile(level / 2, df))
    further = abs(lean) * (1 + 2 * half**2) / 6
    assert low == pytest.approx(t - half - further * (lean < 0))
    assert high == pytest.approx(t + half + further * (lean > 0))
    p = float(leaning.two_sided[0, 1])
    if min(abs(low), abs(high)) > 1e-6:
        assert (p > level) == (low < 0 < high)
    assert p == pytest.approx(float(leaning.two_sided[1, 0]))
