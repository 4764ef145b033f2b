"""Cheapest orders, cuts and bounds, against dynamic programming over sets and against many orders."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from adjudge.ranking import optimal_order
from adjudge.ranking.optimal_order import (
    Pairs,
    Relaxed,
    cheapest_order,
    cost_of,
    descend,
    first_order,
    packed_bound,
    proved_bound,
    relax,
    shake,
)
from tests.conftest import examples

Costs = NDArray[np.int64]

# Pure noise whose linear program has no whole solution, so that one in whole numbers is really needed.
FRACTIONAL = [(14, 19), (14, 41), (15, 9), (15, 12), (15, 21), (15, 28), (15, 56)]


def noise(n: int, seed: int, most: int = 20) -> Costs:
    upper = np.triu(np.random.default_rng(seed).integers(-most, most + 1, (n, n)), 1)
    return np.asarray(np.maximum(upper - upper.T, 0))


def by_sets(costs: Costs) -> int:
    """The least cost by dynamic programming over all sets of elements that come first."""
    n = len(costs)
    sets = np.arange(1 << n)
    placed = (sets[:, None] >> np.arange(n)) & 1
    step = costs @ (1 - placed).T
    best = np.full(1 << n, np.iinfo(np.int64).max)
    best[0] = 0
    for size in range(n):
        now = sets[placed.sum(1) == size]
        for element in range(n):
            free = now[placed[now, element] == 0]
            np.minimum.at(best, free | (1 << element), best[free] + step[element, free])
    return int(best[-1])


def soon() -> float:
    return time.process_time() + 60


def relaxed_program(pairs: Pairs) -> Relaxed:
    """The linear program with all cycle inequalities that matter."""
    relaxed = relax(pairs, deadline=soon())
    assert relaxed is not None
    assert relaxed.complete
    return relaxed


def as_point(pairs: Pairs, order: NDArray[np.int64]) -> NDArray[np.float64]:
    position = np.argsort(order)
    return (position[pairs.first] < position[pairs.second]).astype(float)


@pytest.mark.parametrize(("n", "seed"), FRACTIONAL)
def test_fractional_programs_end_at_the_optimum(n: int, seed: int) -> None:
    costs = noise(n, seed)
    relaxed = relaxed_program(Pairs(costs))
    assert (np.minimum(relaxed.x, 1 - relaxed.x) > 0.1).any()
    solution = cheapest_order(costs, deadline=soon())
    assert solution.cost == solution.lower_bound == cost_of(costs, solution.order) == by_sets(costs)


@pytest.mark.parametrize(("n", "seed"), FRACTIONAL)
def test_whole_numbers_alone_end_at_the_optimum(n: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a bad order, without a search for better ones: the program in whole numbers finds and proves the best."""
    monkeypatch.setattr(optimal_order, "first_order", lambda costs: np.arange(len(costs)))
    monkeypatch.setattr(optimal_order, "shake", lambda _, order, **__: order)
    monkeypatch.setattr(optimal_order, "descend", lambda _, order: order)
    costs = noise(n, seed)
    solution = cheapest_order(costs, deadline=soon())
    assert solution.cost == solution.lower_bound == by_sets(costs)


@pytest.mark.parametrize(("n", "seed"), FRACTIONAL)
def test_cuts_and_limits_hold_for_orders(n: int, seed: int) -> None:
    costs = noise(n, seed)
    pairs = Pairs(costs)
    relaxed = relaxed_program(pairs)
    rng = np.random.default_rng(seed)
    orders = np.array([as_point(pairs, rng.permutation(n)) for _ in range(2000)]).T
    assert (relaxed.cuts.matrix @ orders <= relaxed.cuts.limit[:, None]).all()
    best = cheapest_order(costs, deadline=soon())
    low, high = relaxed.limits(best.cost)
    point = as_point(pairs, best.order)
    assert (low == high).any(), "some pairs are decided"
    assert (low <= point).all()
    assert (point <= high).all()


@settings(max_examples=examples(25))
@given(st.integers(0, 100_000), st.integers(2, 12), st.sampled_from([1, 2, 20]))
def test_noise_agrees_with_dynamic_programming(seed: int, n: int, most: int) -> None:
    costs = noise(n, seed, most)
    solution = cheapest_order(costs, deadline=soon())
    assert solution.cost == solution.lower_bound == by_sets(costs)


@settings(max_examples=examples(25))
@given(st.integers(0, 100_000), st.integers(2, 10), st.sampled_from([1, 20]))
def test_packed_cycles_never_cost_more_than_the_optimum(seed: int, n: int, most: int) -> None:
    costs = noise(n, seed, most) + np.random.default_rng(seed).integers(0, 3, (n, n))
    np.fill_diagonal(costs, 0)
    assert packed_bound(costs) <= by_sets(costs)


@pytest.mark.parametrize("seed", range(5))
def test_any_multipliers_give_a_true_bound(seed: int) -> None:
    costs = noise(12, seed)
    pairs = Pairs(costs)
    relaxed = relaxed_program(pairs)
    rng = np.random.default_rng(seed)
    for scale in (0.1, 1, 10):
        bound, _ = proved_bound(pairs, relaxed.cuts, scale * rng.random(len(relaxed.cuts)))
        assert bound <= by_sets(costs) + 1e-9
    assert relaxed.bound <= by_sets(costs) + 1e-9


@pytest.mark.slow
def test_time_that_runs_out_leaves_a_true_bound() -> None:
    costs = noise(60, 1)
    solution = cheapest_order(costs, deadline=time.process_time() + 1.0)
    assert solution.lower_bound < solution.cost == cost_of(costs, solution.order)
    assert solution.lower_bound >= packed_bound(costs) > solution.cost / 2


def test_searches_never_make_an_order_dearer() -> None:
    costs = noise(25, 3)
    start = np.arange(25)
    down = descend(costs, start)
    assert sorted(down) == list(range(25))
    assert cost_of(costs, down) < cost_of(costs, start)
    assert cost_of(costs, first_order(costs)) <= cost_of(costs, descend(costs, np.argsort((costs - costs.T).sum(1))))
    assert cost_of(costs, shake(costs, down, goal=0, deadline=soon())) <= cost_of(costs, down)


@pytest.mark.parametrize("n", [2, 5, 14])
def test_descent_makes_the_best_insertion_each_time(n: int) -> None:
    """Against trying every insertion and counting the whole cost."""
    costs = noise(n, n)
    order = np.random.default_rng(n).permutation(n)
    slow = order
    while True:
        tried = [np.insert(np.delete(slow, i), j, slow[i]) for i in range(n) for j in range(n)]
        gains = [cost_of(costs, slow) - cost_of(costs, order) for order in tried]
        if max(gains) <= 0:
            break
        slow = tried[int(np.argmax(gains))]
    assert descend(costs, order).tolist() == slow.tolist()
