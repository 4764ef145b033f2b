"""Drawn rankings follow the model that they are said to follow."""

from __future__ import annotations

import numpy as np
import pytest

from adjudge.planning.simulated_rankings import draw_ranks
from adjudge.table.rng import generator

DRAWS = 40_000


def shares(ranks: np.ndarray, a: int = 0, b: int = 1) -> np.ndarray:
    """How often the system at index a is better than, tied with or worse than the one at index b."""
    return np.array([(np.sign(ranks[:, b] - ranks[:, a]) == sign).mean() for sign in (1, 0, -1)])


@pytest.mark.parametrize(("a", "b", "nu"), [(0.0, 0.0, 0.5), (1.0, -0.5, 0.8), (0.3, 0.0, 0.0), (2.0, 0.0, 3.0)])
def test_two_systems_follow_davidson(a: float, b: float, nu: float) -> None:
    """Expected: Davidson (1970), P(a>b) : P(tie) : P(b>a) = e^a : nu e^((a+b)/2) : e^b."""
    weights = np.array([np.exp(a), nu * np.exp((a + b) / 2), np.exp(b)])
    expected = weights / weights.sum()
    drawn = shares(draw_ranks(np.tile([a, b], (DRAWS, 1)), nu, generator(1)))
    assert drawn == pytest.approx(expected, abs=4 * 0.5 / np.sqrt(DRAWS))


def test_without_ties_every_pair_of_a_larger_block_follows_bradley_terry() -> None:
    """Expected: Luce's choice axiom; the other systems on the screen do not matter to a pair."""
    strength = np.array([0.8, 0.0, -0.4, 0.3, 1.1])
    ranks = draw_ranks(np.tile(strength, (DRAWS, 1)), 0.0, generator(2))
    assert (np.sort(ranks, axis=1) == np.arange(1, 6)).all()
    for a in range(5):
        for b in range(a + 1, 5):
            expected = 1 / (1 + np.exp(strength[b] - strength[a]))
            assert shares(ranks, a, b)[0] == pytest.approx(expected, abs=4 * 0.5 / np.sqrt(DRAWS))


def test_labels_are_dense_and_start_at_one() -> None:
    ranks = draw_ranks(generator(3).normal(size=(500, 5)), 1.0, generator(4))
    for row in ranks:
        assert set(row) == set(range(1, row.max() + 1))


def test_no_block_gives_no_ranking() -> None:
    assert draw_ranks(np.empty((0, 5)), 0.5, generator(1)).shape == (0, 5)
