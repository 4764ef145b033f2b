"""Coefficients, ties and tests against definitions spelled out, and other tools."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import kendalltau, pearsonr, spearmanr

from adjudge.metrics.levels import (
    accuracy,
    calibrate_pooled,
    calibrated,
    coefficients,
    mean_defined,
    pair_p,
    pairs,
    signs,
    soft_pairwise_accuracy,
)
from adjudge.metrics.significance import permute_groups, permute_pearson, williams
from adjudge.ranking.decisions import holm
from adjudge.table.maths import kendall, pearson, spearman
from tests.conftest import examples

Floats = NDArray[np.float64]


def scores(seed: int, systems: int = 5, segments: int = 12, step: float = 1.0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    human = np.round(rng.normal(0, 2, size=(systems, segments)))
    return human, np.round((human + rng.normal(0, 2, size=human.shape)) / step) * step


def test_coefficients_are_scipys() -> None:
    human, metric = scores(1)
    x, y = human.ravel(), metric.ravel()
    assert pearson(x, y) == pytest.approx(pearsonr(x, y).statistic)
    assert spearman(x, y) == pytest.approx(spearmanr(x, y).statistic)
    assert kendall(x, y) == kendalltau(x, y).statistic


def test_groups_that_do_not_vary_are_left_out_of_the_mean() -> None:
    human = np.array([[1.0, 2.0, 3.0], [5.0, 5.0, 5.0]])
    metric = np.array([[1.0, 2.0, 4.0], [1.0, 2.0, 3.0]])
    by_system = coefficients(human, metric, "system")["pearson"]
    assert mean_defined(by_system) == pytest.approx(pearson(human[0], metric[0]))
    assert np.isnan(mean_defined(coefficients(np.ones((2, 2)), metric[:, :2], "item")["pearson"]))


def slow_accuracy(human: Floats, metric: Floats, threshold: float) -> float:
    """Mean over items of the share of pairs on which the metric says what the human says."""
    shares = []
    for x, y in zip(human.T, metric.T, strict=True):
        agreeing = [
            np.sign(x[i] - x[j]) == (0 if abs(y[i] - y[j]) <= threshold else np.sign(y[i] - y[j]))
            for i, j in combinations(range(len(x)), 2)
        ]
        shares.append(np.mean(agreeing))
    return float(np.mean(shares))


@settings(max_examples=examples(25))
@given(st.integers(0, 10_000), st.sampled_from([0.1, 1.0]))
def test_the_best_threshold_is_found_among_all(seed: int, step: float) -> None:
    human, metric = scores(seed, systems=4, segments=5, step=step)
    compared = pairs(human, metric, "item")
    assert accuracy(compared) == pytest.approx(slow_accuracy(human, metric, 0.0))
    candidates = np.unique(np.concatenate([[0.0], np.abs(compared.difference)]))
    every = [slow_accuracy(human, metric, threshold) for threshold in candidates]
    best = calibrated(compared)
    assert best.accuracy == pytest.approx(max(every))
    assert slow_accuracy(human, metric, best.threshold) == pytest.approx(best.accuracy)


@settings(max_examples=examples(25))
@given(st.integers(0, 10_000), st.sampled_from([1e-9, 0.1, 1.0, 4.0]), st.integers(0, 3))
def test_classes_of_sizes_lead_to_the_threshold_of_all_pairs_in_order(seed: int, step: float, holes: int) -> None:
    human, metric = scores(seed, systems=4, segments=9, step=step)
    metric[0, :holes] = np.nan
    classes, ordered = calibrate_pooled(human, metric), calibrated(pairs(human, metric, "pooled"))
    assert [classes.accuracy, classes.without] == pytest.approx([ordered.accuracy, ordered.without])
    assert classes.threshold == ordered.threshold


@pytest.mark.parametrize(
    ("r_first", "r_second", "r_between", "n", "two_sided"),
    [(0.6, 0.4, 0.5, 103, 0.014566044687), (0.85, 0.72, 0.66, 40, 0.0644106869094)],
)
def test_williams_is_that_of_r(r_first: float, r_second: float, r_between: float, n: int, two_sided: float) -> None:
    """R 4.2.2, psych 2.2.9: `r.test(n = 103, r12 = .4, r13 = .6, r23 = .5)$p` and `r.test(40, .85, .72, .66)$p`."""
    p = williams(r_first, r_second, r_between, n)
    assert 2 * p == pytest.approx(two_sided, rel=1e-9)
    assert williams(r_second, r_first, r_between, n) == pytest.approx(1 - p)


def test_williams_needs_four_scores() -> None:
    assert np.isnan(williams(0.5, 0.4, 0.3, 3))


def slow_permutation(human: Floats, a: Floats, b: Floats, flips: NDArray[np.bool_]) -> Floats:
    """Differences of r when scores change sides one by one."""
    differences = []
    za, zb = ((x - x.mean()) / x.std() for x in (a, b))
    for flip in flips:
        first, second = np.where(flip, zb, za), np.where(flip, za, zb)
        differences.append(pearson(human, first) - pearson(human, second))
    return np.array(differences)


def test_permuted_pearson_is_that_of_exchanged_scores() -> None:
    rng = np.random.default_rng(3)
    # One system: every score is a segment of its own.
    human = rng.normal(size=(1, 40))
    a, b = human * 0.8 + rng.normal(size=human.shape), human * 0.5 + rng.normal(size=human.shape)
    (test,) = permute_pearson(human, {"a": a, "b": b}, by_item=False, permutations=4000, rng=np.random.default_rng(1))
    flips = np.random.default_rng(2).random((4000, 40)) < 0.5
    drawn = slow_permutation(human[0], a[0], b[0], flips)
    expected = (1 + (np.abs(drawn) >= abs(test.difference)).sum()) / 4001
    assert test.difference == pytest.approx(pearson(human[0], a[0]) - pearson(human[0], b[0]))
    assert test.p == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize(("systems", "segments"), [(4, 3), (12, 1)])
def test_permutations_by_item_are_draws_from_all_ways_to_exchange(systems: int, segments: int) -> None:
    """Few scores exchange in few ways, which are computed once; more scores, way by way."""
    rng = np.random.default_rng(systems)
    human = rng.normal(size=(systems, segments))
    a, b = (human + rng.normal(0, noise, human.shape) for noise in (0.5, 3))
    za, zb = ((x - x.mean()) / x.std() for x in (a, b))
    flips = np.arange(1 << systems)[:, None] >> np.arange(systems) & 1
    every = np.zeros(1)
    for segment in range(segments):
        one, other = (
            np.where(flips, *pair) for pair in ((za.T[segment], zb.T[segment]), (zb.T[segment], za.T[segment]))
        )
        apart = [pearson(human.T[segment], x) - pearson(human.T[segment], y) for x, y in zip(one, other, strict=True)]
        every = np.add.outer(every, np.array(apart) / segments).ravel()
    (test,) = permute_pearson(human, {"a": a, "b": b}, by_item=True, permutations=2000, rng=rng)
    assert test.difference == pytest.approx(every[-1])
    exact = (np.abs(every) >= abs(test.difference) - 1e-9).mean()
    # Three standard errors of 2,000 draws.
    assert test.p == pytest.approx(exact, abs=0.001 + 3 * np.sqrt(exact * (1 - exact) / 2000))
    assert 0.02 < exact < 0.98


def test_equal_metrics_are_never_told_apart_and_p_is_never_zero() -> None:
    human, metric = scores(5, segments=60)
    same, far = permute_pearson(
        human, {"a": metric, "b": metric.copy(), "c": np.random.default_rng(1).normal(size=metric.shape)},
        by_item=True, permutations=99, rng=np.random.default_rng(1),
    )[:2]  # fmt: skip
    assert same.p == 1
    # Three pairs of metrics take 120 permutations at least.
    assert far.p == pytest.approx(1 / 121)


def test_permutations_of_sums_hold_their_level() -> None:
    """Of tests between two metrics of equal worth, about one in twenty is significant."""
    rng = np.random.default_rng(8)
    p = [
        permute_groups({"a": rng.normal(size=50), "b": rng.normal(size=50)}, permutations=199, rng=rng)[0].p
        for _ in range(400)
    ]
    assert 0.025 < np.mean(np.array(p) <= 0.05) < 0.085


@pytest.mark.parametrize("documents", [False, True])
def test_pooled_permutations_hold_their_level_where_errors_are_shared(documents: bool) -> None:
    """Two metrics of equal worth, whose errors are the same for all systems on a segment, or in a document.

    Nominal 5% of 300 campaigns, standard error 1.3; with single scores exchanged it was 19% and more.
    """
    systems, segments = 10, 60
    text = np.repeat(np.arange(20), 3)
    alarms = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        human = rng.normal(size=(systems, segments)) + rng.normal(size=segments)
        shared = rng.normal(size=(2, 20))[:, text] if documents else rng.normal(size=(2, segments))
        a, b = (human + own + rng.normal(size=human.shape) for own in shared)
        (test,) = permute_pearson(
            human, {"a": a, "b": b}, by_item=False, permutations=99, rng=rng, texts=text if documents else None
        )
        alarms += test.p <= 0.05
    assert 3 <= alarms <= 27


def test_soft_accuracy_of_the_human_itself_is_one() -> None:
    human, metric = scores(6, segments=50)
    flips = signs(500, 50, np.random.default_rng(1))
    assert soft_pairwise_accuracy(human, human, flips) == 1
    assert 0.5 < soft_pairwise_accuracy(human, metric, flips) < 1
    assert (pair_p(human, flips) > 0).all()
    assert soft_pairwise_accuracy(human, -human, flips) < 0.5


def test_many_metrics_can_be_told_apart_after_holm() -> None:
    """Twelve metrics, one of them far better: 1,000 permutations give 66 / 1,001 > .05 at best after Holm."""
    rng = np.random.default_rng(5)
    human = rng.normal(size=(6, 40))
    metrics = {f"m{i}": human + rng.normal(0, 4, human.shape) for i in range(11)}
    metrics["good"] = human + rng.normal(0, 0.2, human.shape)
    tests = permute_pearson(human, metrics, by_item=False, permutations=1000, rng=rng)
    corrected = holm(np.array([test.p for test in tests]))
    with_good = [p for test, p in zip(tests, corrected, strict=True) if "good" in (test.first, test.second)]
    assert max(with_good) < 0.05
    assert min(test.p for test in tests) == pytest.approx(1 / (1 + 40 * 66))
    # Pairs that are not told apart stop after the first thousand.
    others = [test.p for test in tests if "good" not in (test.first, test.second) and test.p > 0.1]
    assert all((p * 1001) == pytest.approx(round(p * 1001)) for p in others)


def test_no_p_is_zero() -> None:
    assert williams(0.9999, 0.1, 0.1, 100_000) > 0
