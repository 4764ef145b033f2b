"""Bradley-Terry against other tools and against a direct maximisation of its likelihood."""

from __future__ import annotations

import choix
import evalica
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize

from adjudge.ranking.bradley_terry import RIDGE, fit
from tests.conftest import examples

Floats = NDArray[np.float64]


def counts(seed: int, n: int, *, ties: bool = True, games: int = 12) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    wins = rng.poisson(games, size=(n, n)).astype(float)
    np.fill_diagonal(wins, 0)
    tied = np.triu(rng.poisson(games / 3, size=(n, n)), 1).astype(float) if ties else np.zeros((n, n))
    return wins, tied + tied.T


def test_without_ties_it_is_what_choix_finds() -> None:
    """choix 0.4.1, `ilsr_pairwise_dense`, no regularisation."""
    wins, ties = counts(1, 8, ties=False)
    expected = choix.ilsr_pairwise_dense(wins, tol=1e-12, max_iter=1000)
    assert fit(wins, ties, ridge=1e-9).strength == pytest.approx(expected - expected.mean(), abs=1e-7)


def test_without_ties_it_is_what_evalica_finds() -> None:
    """evalica 0.4, `bradley_terry`."""
    wins, ties = counts(2, 6, ties=False)
    names = [f"s{i}" for i in range(6)]
    xs, ys = zip(
        *[(names[i], names[j]) for i in range(6) for j in range(6) for _ in range(int(wins[i, j]))], strict=True
    )
    result = evalica.bradley_terry(list(xs), list(ys), [evalica.Winner.X] * len(xs), tolerance=1e-12, limit=10_000)
    expected = np.log([result.scores[name] for name in names])
    assert fit(wins, ties, ridge=1e-9).strength == pytest.approx(expected - expected.mean(), abs=1e-6)


def slow_log_likelihood(theta: Floats, wins: Floats, ties: Floats, ridge: float) -> float:
    """Davidson's likelihood, term by term."""
    n = len(wins)
    total = -ridge / 2 * float((theta[:n] ** 2).sum())
    for i in range(n):
        for j in range(i + 1, n):
            a, b, tie = np.exp(theta[i]), np.exp(theta[j]), np.exp(theta[n] + (theta[i] + theta[j]) / 2)
            p = np.array([a, b, tie]) / (a + b + tie)
            total += float(np.log(p) @ np.array([wins[i, j], wins[j, i], ties[i, j]]))
    return total


@settings(max_examples=examples(15))
@given(st.integers(0, 10_000), st.integers(2, 5))
def test_it_maximises_davidsons_likelihood(seed: int, n: int) -> None:
    wins, ties = counts(seed, n, games=5)
    ties[0, 1] = ties[1, 0] = ties[0, 1] + 1  # at least one tie: the tie parameter has an optimum
    fitted = fit(wins, ties)
    theta = np.append(fitted.strength, fitted.log_tie)
    here = slow_log_likelihood(theta, wins, ties, RIDGE)
    best = minimize(
        lambda x: -slow_log_likelihood(x, wins, ties, RIDGE), theta, method="Nelder-Mead", options={"maxiter": 400}
    )
    assert fitted.converged
    assert here >= -best.fun - 1e-6
    for step in np.vstack([np.eye(n + 1), -np.eye(n + 1)]) * 1e-3:
        assert slow_log_likelihood(theta + step, wins, ties, RIDGE) <= here + 1e-9


def test_many_fits_at_once_are_the_single_fits() -> None:
    single = [counts(seed, 5) for seed in range(7)]
    together = fit(np.stack([wins for wins, _ in single]), np.stack([ties for _, ties in single]))
    for i, (wins, ties) in enumerate(single):
        assert together.strength[i] == pytest.approx(fit(wins, ties).strength, abs=1e-9)


def test_an_unbeaten_system_has_a_finite_strength() -> None:
    wins = np.array([[0.0, 9.0, 9.0], [0.0, 0.0, 5.0], [0.0, 5.0, 0.0]])
    fitted = fit(wins, np.zeros((3, 3)))
    assert fitted.converged
    assert 3 < fitted.strength[0] < 20
    assert fitted.strength[1] == pytest.approx(fitted.strength[2])


@pytest.mark.parametrize("size", [1, 1e3, 1e7])
def test_extreme_counts_converge(size: float) -> None:
    """One system that won everything, one that lost everything, ties only: the gradient of the definition is 0."""
    wins = np.array([[0, 3, 9, 2], [0, 0, 5, 1], [0, 4, 0, 7], [0, 0, 0, 0]]) * size
    fitted = fit(wins, np.zeros((4, 4)))
    assert fitted.converged
    better = 1 / (1 + np.exp(fitted.strength[None, :] - fitted.strength[:, None]))
    gradient = wins.sum(1) - ((wins + wins.T) * better).sum(1) - RIDGE * fitted.strength
    assert np.abs(gradient).max() < 1e-9 * max(size, 1)
    tied = fit(np.zeros((4, 4)), (1 - np.eye(4)) * size)
    assert tied.converged
    assert tied.strength.tolist() == [0.0] * 4
