"""One family of decisions, and what follows from it: corrected p-values, rank sets, lines and letters."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, studentized_range

from adjudge.ranking.decisions import (
    PairDecisions,
    PairTests,
    decide,
    decide_by_both,
    find_again,
    holm,
    line_after,
    step_down,
)
from adjudge.table.maths import Bools, Floats, contrasts
from tests.conftest import examples

EFFECTS = np.array([10.0, 7.0, 6.5, 1.0])
COVARIANCE = np.eye(4) * 0.5 + 3.0


def decided(effects: Floats, covariance: Floats, draws: int = 10_000) -> PairDecisions:
    return decide(effects, contrasts(effects, covariance).two_sided, covariance, draws=draws)


def slow_step_down(p: Floats, covariance: Floats, draws: int, seed: int) -> dict[tuple[int, int], float]:
    """The definition: for each pair the share of draws whose largest error over it and all weaker pairs reaches it."""
    rng = np.random.default_rng(seed)
    errors = rng.multivariate_normal(np.zeros(len(p)), covariance, size=draws)
    pairs = list(combinations(range(len(p)), 2))
    statistic = {pair: norm.isf(p[pair] / 2) for pair in pairs}
    size = {
        (i, j): np.abs(errors[:, i] - errors[:, j])
        / np.sqrt(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j])
        for i, j in pairs
    }
    corrected: dict[tuple[int, int], float] = {}
    highest = 0.0
    for pair in sorted(pairs, key=lambda pair: -statistic[pair]):
        weaker = [other for other in pairs if statistic[other] <= statistic[pair]]
        largest = np.max([size[other] for other in weaker], axis=0)
        highest = max(highest, float((largest >= statistic[pair]).mean()))
        corrected[pair] = highest
    return corrected


def test_the_strongest_pair_is_corrected_as_tukey_does() -> None:
    """SciPy's studentized range is the exact distribution of the largest difference of independent estimates."""
    effects, covariance = np.array([0.0, 0.3, 0.9, 2.1]), np.eye(4) * 0.5
    corrected = step_down(contrasts(effects, covariance).two_sided, covariance, draws=200_000)
    assert corrected.p[0, 3] == pytest.approx(studentized_range.sf(2.1 * np.sqrt(2), 4, np.inf), abs=0.004)
    needed = studentized_range.isf(0.01, 4, np.inf) / np.sqrt(2)
    assert corrected.needed[0, 3] == pytest.approx(needed, abs=0.02)


@pytest.mark.parametrize("seed", range(3))
def test_steps_agree_with_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((5, 5))
    covariance, effects = root @ root.T, rng.normal(0, 3, 5)
    p = contrasts(effects, covariance).two_sided
    fast, slow = step_down(p, covariance, draws=40_000).p, slow_step_down(p, covariance, 40_000, seed)
    for pair, value in slow.items():
        # Three standard errors of a share from 40,000 draws, twice.
        assert fast[pair] == pytest.approx(value, abs=0.011), pair


def test_steps_decide_more_than_one_look() -> None:
    """Tukey's quantile for three systems is 2.34; once the third is decided, only the pair itself is left: 1.96."""
    effects, covariance = np.array([0.0, 2.2, 100.0]), np.eye(3) * 0.5
    assert decided(effects, covariance).rank_sets.tolist() == [[3, 3], [2, 2], [1, 1]]


@settings(max_examples=examples(30))
@given(st.integers(2, 9), st.integers(0, 10_000))
def test_everything_that_holm_decides_is_decided(systems: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((systems, systems))
    covariance, effects = root @ root.T, rng.normal(0, 4, systems)
    p = contrasts(effects, covariance).two_sided
    upper = np.triu_indices(systems, 1)
    corrected = step_down(p, covariance, draws=1000).p[upper]
    assert (corrected <= holm(p[upper]) + 1e-15).all()
    assert (corrected >= p[upper] - 4 * np.sqrt(p[upper] * (1 - p[upper]) / 1000) - 0.002).all()
    # A weaker pair never has the smaller corrected p.
    assert (np.diff(corrected[np.argsort(p[upper], kind="stable")]) >= -1e-15).all()


def test_rank_sets_and_lines_count_decided_pairs() -> None:
    result = decided(EFFECTS, COVARIANCE)
    assert result.rank_sets.tolist() == [[1, 1], [2, 3], [2, 3], [4, 4]]
    tests = PairTests(contrasts(EFFECTS, COVARIANCE).greater, result.p)
    for rule in ("decided", "rank-sets"):
        assert line_after(rule, np.arange(4), tests, result.better, 0.05).tolist() == [True, False, True]
    assert result.letters(np.arange(4)) == ("a", "b", "b", "c")


def test_nothing_is_ruled_out_where_the_errors_are_large() -> None:
    result = decided(EFFECTS, COVARIANCE * 1000)
    assert result.rank_sets.tolist() == [[1, 4]] * 4
    assert result.letters(np.arange(4)) == ("a",) * 4


def test_rank_sets_hold_all_true_ranks_as_often_as_promised() -> None:
    """Six systems, two pairs of them equal: in 200 draws of estimates, at least 95% less two standard errors."""
    truth = np.array([0.0, 0.0, 1.0, 1.0, 2.5, 6.0])
    rng = np.random.default_rng(5)
    root = rng.standard_normal((6, 6)) * 0.4 + np.eye(6)
    covariance = root @ root.T
    lowest = 1 + (truth[None, :] > truth[:, None]).sum(1)
    highest = len(truth) - (truth[None, :] < truth[:, None]).sum(1)
    hits = 0
    for _ in range(200):
        sets = decided(truth + root @ rng.standard_normal(6), covariance, draws=1000).rank_sets
        hits += bool(((sets[:, 0] <= lowest) & (sets[:, 1] >= highest)).all())
    assert hits / 200 >= 0.95 - 2 * np.sqrt(0.95 * 0.05 / 200)


@settings(max_examples=examples(60))
@given(st.integers(1, 7), st.integers(0, 100_000))
def test_systems_share_a_letter_exactly_where_they_are_not_separated(systems: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    better: Bools = np.triu(rng.random((systems, systems)) < 0.5, 1)
    order = rng.permutation(systems)
    nothing = np.full((systems, systems), np.nan)
    corrected = decide(np.zeros(systems), nothing, None).corrected
    letters = PairDecisions(0.05, nothing, corrected, better).letters(order)
    assert letters is not None
    for i, j in combinations(range(systems), 2):
        assert bool(set(letters[i]) & set(letters[j])) == (not (better[i, j] or better[j, i]))
    assert all(letters)


def test_without_a_covariance_holm_corrects() -> None:
    p = np.array([[np.nan, 0.01, 0.04], [0.01, np.nan, 0.03], [0.04, 0.03, np.nan]])
    result = decide(np.array([3.0, 2.0, 1.0]), p, None)
    assert result.corrected.name == "holm"
    np.testing.assert_allclose(result.corrected.p[np.triu_indices(3, 1)], [0.03, 0.06, 0.06])
    assert result.better.sum() == 1
    # Holm's first step divides by three, and 2 normal tails are used.
    assert result.corrected.needed[0, 1] == pytest.approx(norm.isf(0.01 / 3 / 2))


def test_both_readings_must_agree() -> None:
    """Of three systems, the first is typically best; the average agrees on the last, is open on one, opposed on one."""
    typical = decided(np.array([9.0, 5.0, 1.0]), np.eye(3) * 0.1)
    average = decided(np.array([3.0, 9.0, -9.0]), np.eye(3) * 0.1)
    usual, mean, close = (np.subtract.outer(v, v) for v in ([9.0, 5.0, 1.0], [3.0, 9.0, -9.0], [3.0, 3.1, 3.05]))
    both = decide_by_both(typical, average, (usual, mean), "typical")
    assert both.better.tolist() == [[False, False, True], [False, False, True], [False, False, False]]
    assert [both.state(0, 1), both.state(0, 2), both.state(2, 1)] == ["opposed", "decided", "decided"]
    unsure = decided(np.array([3.0, 3.1, 3.05]), np.eye(3) * 0.1)
    half = decide_by_both(typical, unsure, (usual, close), "typical")
    assert half.number == 0
    assert half.state(0, 1) == "typical only"
    assert decide_by_both(unsure, typical, (close, usual), "typical").state(1, 0) == "average only"


def test_other_people_find_it_again_as_often_as_said() -> None:
    """True differences of standard deviation 3, errors of 1: said and found agree over 4,000 pairs of campaigns."""
    rng = np.random.default_rng(11)
    said, found = [], []
    for _ in range(400):
        truth = rng.normal(0, 3 / np.sqrt(2), 5)
        first, second = (truth + rng.normal(0, 1 / np.sqrt(2), 5) for _ in range(2))
        difference = np.subtract.outer(first, first)
        p = 2 * norm.sf(np.abs(difference))
        same, again = find_again(difference, np.ones((5, 5)), p, last=1.96)
        for i, j in combinations(range(5), 2):
            ahead = np.sign(difference[i, j]) * (second[i] - second[j])
            said.append((same[i, j], again[i, j]))
            found.append((ahead > 0, ahead > 1.96))
    np.testing.assert_allclose(np.mean(said, axis=0), np.mean(found, axis=0), atol=0.03)
