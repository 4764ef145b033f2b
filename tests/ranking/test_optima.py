"""All cheapest orders: against every permutation, and where there are too many to count."""

from __future__ import annotations

import math
import time
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from adjudge.ranking import optimal_order
from adjudge.ranking.optimal_order import Optima, cheapest_order, cost_of, find_optima
from tests.conftest import examples

Costs = NDArray[np.int64]


def sparse(n: int, seed: int, even: float, most: int = 2) -> Costs:
    """Random preferences; a share of the pairs has none."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.integers(1, most + 1, (n, n)) * (rng.random((n, n)) > even), 1)
    forward = rng.random((n, n)) < 0.7
    return np.where(forward, 0, upper) + np.where(forward, upper, 0).T


def optima_of(costs: Costs, seconds: float = 60) -> Optima:
    solution = cheapest_order(costs, deadline=time.process_time() + 60)
    return find_optima(costs, solution.order, solution.cost, deadline=time.process_time() + seconds)


def by_permutations(costs: Costs) -> tuple[int, list[int], list[int]]:
    orders = list(permutations(range(len(costs))))
    all_costs = [cost_of(costs, np.array(order)) for order in orders]
    cheapest = [order for order, cost in zip(orders, all_costs, strict=True) if cost == min(all_costs)]
    of_elements = [[order.index(element) for order in cheapest] for element in range(len(costs))]
    return len(cheapest), [min(positions) for positions in of_elements], [max(positions) for positions in of_elements]


@settings(max_examples=examples(40))
@given(st.integers(0, 100_000), st.integers(2, 6), st.sampled_from([0.0, 0.3, 0.6, 1.0]))
def test_every_cheapest_order_is_counted(seed: int, n: int, even: float) -> None:
    costs = sparse(n, seed, even)
    number, first, last = by_permutations(costs)
    counted = optima_of(costs)
    assert (counted.complete, counted.places_complete) == (True, True)
    assert (counted.number, counted.first.tolist(), counted.last.tolist()) == (number, first, last)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_places_are_true_where_orders_cannot_be_counted(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranges found without counting lie within the true ranges, and equal them where `places_complete` is set."""
    costs = sparse(7, seed, 0.4)
    number, first, last = by_permutations(costs)
    monkeypatch.setattr(optimal_order, "MOST_SETS", 1)
    counted = optima_of(costs)
    assert counted.complete == (number == 1)
    assert counted.number <= number
    assert (counted.first >= first).all()
    assert (counted.last <= last).all()
    if counted.places_complete:
        assert (counted.first.tolist(), counted.last.tolist()) == (first, last)


@pytest.mark.slow
def test_elements_without_any_preference_can_stand_anywhere() -> None:
    few = optima_of(np.zeros((8, 8), dtype=np.int64))
    assert (few.number, few.complete) == (math.factorial(8), True)
    many = optima_of(np.zeros((30, 30), dtype=np.int64))
    assert (many.complete, many.places_complete) == (False, True)
    assert set(many.first) == {0}
    assert set(many.last) == {29}


def test_time_that_runs_out_is_told() -> None:
    counted = optima_of(sparse(20, 1, 0.3), seconds=0)
    assert (counted.complete, counted.places_complete) == (False, False)
    assert counted.number >= 1
