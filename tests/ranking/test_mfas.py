"""The cheapest order of a tournament: against every permutation, and against dynamic programming over sets."""

from __future__ import annotations

import time
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from adjudge.ranking.optimal_order import find_optima
from adjudge.ranking.tournament import components, contradicted_wins, net_wins, solve, tournament
from adjudge.table.errors import DataError
from tests.conftest import examples
from tests.helpers.rank_make import blocks, random_blocks

Net = NDArray[np.int64]


def random_net(seed: int, n: int, *, even: float = 0.2, most: int = 6) -> Net:
    """Leads of random sizes; a share of the pairs is even."""
    rng = np.random.default_rng(seed)
    lead = rng.integers(1, most + 1, size=(n, n)) * (rng.random((n, n)) > even)
    upper = np.triu(lead, 1)
    forward = rng.random((n, n)) < 0.6
    return np.where(forward, upper, 0) + np.where(forward, 0, upper).T


def every_order(net: Net) -> dict[tuple[int, ...], int]:
    return {order: contradicted_wins(net, np.array(order)) for order in permutations(range(len(net)))}


@settings(max_examples=examples(40))
@given(st.integers(0, 100_000), st.integers(1, 6))
def test_no_permutation_is_cheaper(seed: int, n: int) -> None:
    net = random_net(seed, n)
    solution = solve(net)
    costs = every_order(net)
    assert solution.optimal
    assert solution.cost == contradicted_wins(net, solution.order) == min(costs.values())


@settings(max_examples=examples(30))
@given(st.integers(0, 100_000), st.integers(2, 6))
def test_all_cheapest_orders_are_counted(seed: int, n: int) -> None:
    net = random_net(seed, n, most=2)
    solution = solve(net)
    costs = every_order(net)
    cheapest = [order for order, cost in costs.items() if cost == solution.cost]
    optima = find_optima(net.T.copy(), solution.order, solution.cost, deadline=time.process_time() + 30)
    assert optima.complete
    assert optima.number == len(cheapest)
    for element in range(n):
        places = [order.index(element) for order in cheapest]
        assert (optima.first[element], optima.last[element]) == (min(places), max(places))


def by_subsets(net: Net) -> int:
    """The least cost by dynamic programming over sets of placed systems: slow, and obviously right."""
    n = len(net)
    best = {0: 0}
    for placed in range(1, 1 << n):
        best[placed] = min(
            best[placed & ~(1 << i)] + int(sum(net[j, i] for j in range(n) if not placed >> j & 1))
            for i in range(n)
            if placed >> i & 1
        )
    return best[(1 << n) - 1]


@pytest.mark.parametrize("seed", range(6))
def test_larger_tournaments_agree_with_dynamic_programming(seed: int) -> None:
    net = random_net(seed, 10, even=0.1, most=20)
    assert solve(net).cost == by_subsets(net)


def test_components_come_in_the_order_of_their_leads() -> None:
    net = np.zeros((5, 5), dtype=np.int64)
    net[0, 1] = net[1, 2] = net[2, 0] = 2  # a cycle
    net[3, 0] = net[0, 4] = net[2, 4] = 1
    assert [sorted(part) for part in components(net)] == [[3], [0, 1, 2], [4]]
    assert solve(net).cost == 2


def test_when_time_runs_out_a_bound_is_proved() -> None:
    net = random_net(1, 30, even=0.0, most=50)
    solution = solve(net, time_limit=1e-9)
    assert solution.lower_bound <= solution.cost == contradicted_wins(net, solution.order)
    assert not solution.optimal or solution.cost == 0


def test_net_wins_are_leads() -> None:
    assert net_wins(np.array([[0.0, 5.0], [3.0, 0.0]])).tolist() == [[0, 2], [0, 0]]


def test_a_cycle_is_found_and_its_weakest_lead_contradicted() -> None:
    """Rock beats scissors three times, scissors beat paper twice, paper beats rock once."""
    wins = [("rock", "scissors")] * 3 + [("scissors", "paper")] * 2 + [("paper", "rock")]
    result = tournament(blocks([{a: 1, b: 2} for a, b in wins]))
    assert not result.acyclic
    assert result.cycles == (("paper", "rock", "scissors"),)
    assert result.mfas.order == ("rock", "scissors", "paper")
    assert (result.mfas.cost, result.mfas.optimal, result.mfas.optima) == (1, True, 1)
    (only,) = result.mfas.violated
    assert (only.better, only.worse, only.weight) == ("paper", "rock", 1)
    assert result.to_dict()["cycles"] == {"number": 1, "members": [["paper", "rock", "scissors"]]}


def test_even_pairs_may_stand_either_way() -> None:
    result = tournament(blocks([{"a": 1, "b": 1}, {"a": 1, "c": 2}, {"b": 1, "c": 2}]))
    assert result.acyclic
    assert result.mfas.optima == 2
    assert {(move.system, move.highest, move.lowest) for move in result.mfas.movable} == {
        ("a", 1, 2),
        ("b", 1, 2),
    }


def test_the_cost_of_every_ranking_is_told() -> None:
    result = tournament(random_blocks(3))
    assert "ref" not in result.systems
    assert any("human translations are left out: ref" in note for note in result.notes)
    assert min(result.violations.values()) == result.violations["mfas"] == result.mfas.cost
    assert {"wins-or-ties", "wins-no-ties", "wins-no-reference", "bradley-terry", "trueskill"} <= set(result.violations)
    rho = result.spearman
    assert rho["wins"]["mfas"] == rho["mfas"]["wins"]


def test_systems_that_never_met_are_told() -> None:
    result = tournament(blocks([{"a": 1, "b": 2}, {"c": 1, "d": 2}]))
    assert result.mfas.optima == 6
    assert any("2 groups that never met" in note for note in result.notes)


def test_rankings_that_cannot_be_made_are_told() -> None:
    result = tournament(blocks([{"a": 1, "b": 1, "c": 1}] * 3))
    assert result.acyclic
    assert "wins-no-ties" not in result.violations
    assert any("wins-no-ties" in note for note in result.notes)


def test_the_order_given_follows_net_wins_where_that_costs_nothing() -> None:
    net = np.zeros((4, 4), dtype=np.int64)
    net[0, 3] = 1
    net[1, 3] = 5
    assert solve(net).order.tolist() == [1, 0, 2, 3]


def test_what_is_no_tournament_is_explained() -> None:
    with pytest.raises(DataError, match="at least two systems that are not human"):
        tournament(blocks([{"ref": 1, "a": 2}]))
    with pytest.raises(DataError, match="no two systems were ranked in the same block"):
        tournament(blocks([{"a": 1}, {"b": 1}]))
