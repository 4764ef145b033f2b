"""`bradley-terry`: strengths that explain all comparisons at once, with ties after Davidson (1970).

    P(a beats b) : P(tie) : P(b beats a)  =  e^a : nu e^((a+b)/2) : e^b

Who met whom does not matter, because every comparison is explained by both systems' strengths. A small ridge keeps
strengths finite where a system won (or lost) everything, and centres them at 0. Fitted by Newton's method, for many
resamples at once; the log-likelihood is concave, so there is one optimum.

R. R. Davidson (1970): On extending the Bradley-Terry model to accommodate ties in paired comparison experiments.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.ranking.counts import Tally

RIDGE = 0.01
# Newton squares the error: after a step shorter than this, what is left is below rounding.
TOLERANCE = 1e-7
MOST_STEPS = 100
# A Newton step longer than this overshoots where a system has won everything; shortening it keeps the ascent stable.
LONGEST_STEP = 3.0


@dataclass(frozen=True, eq=False)
class BradleyTerryFit:
    """Strengths (..., n), the log of nu (...), and whether every fit converged."""

    strength: NDArray[np.float64]
    log_tie: NDArray[np.float64]
    converged: bool
    steps: int


def scores(tally: Tally) -> NDArray[np.float64]:
    """The strength of every system on the logit scale, 0 on average."""
    return fit(tally.wins, tally.ties).strength


def fit(wins: NDArray[np.float64], ties: NDArray[np.float64], *, ridge: float = RIDGE) -> BradleyTerryFit:
    """Fit strengths to counts of the shape (..., n, n)."""
    n = wins.shape[-1]
    met, won, tied = wins + np.swapaxes(wins, -1, -2) + ties, wins.sum(-1) + ties.sum(-1) / 2, ties.sum((-1, -2)) / 2
    theta = np.zeros((*wins.shape[:-2], n + 1))
    theta[..., n] = np.log(np.maximum(2 * tied, 1e-9) / np.maximum(wins.sum((-1, -2)), 0.5))
    decided = wins.sum((-1, -2)) > 0
    longest = np.inf
    steps = 0
    while longest > TOLERANCE and steps < MOST_STEPS:
        gradient, hessian = _derivatives(theta, met, won, tied, ridge)
        move = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        length = np.abs(move).max(-1, keepdims=True)
        theta += move * np.minimum(1.0, LONGEST_STEP / np.maximum(length, 1e-300))
        # Where nobody ever won, the share of ties has no bound, and the strengths are 0 whatever it is.
        unsettled = np.where(decided[..., None], length, np.abs(move[..., :n]).max(-1, keepdims=True))
        longest = float(unsettled.max(initial=0.0))
        steps += 1
    strength = theta[..., :n] - theta[..., :n].mean(-1, keepdims=True)
    log_tie = np.where(tied > 0, theta[..., n], -np.inf)
    return BradleyTerryFit(strength, log_tie, longest <= TOLERANCE, steps)


def expectations(strength: NDArray[np.float64], log_tie: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and variance (n, n) of one comparison, which scores 1, 1/2 or 0 for the row's system."""
    half = (strength[:, None] - strength[None, :]) / 2
    better, worse = np.exp(half), np.exp(-half)
    tie = np.exp(log_tie)
    whole = better + worse + tie
    mean = (better + tie / 2) / whole
    return mean, (better + tie / 4) / whole - mean**2


def _derivatives(
    theta: NDArray[np.float64],
    met: NDArray[np.float64],
    won: NDArray[np.float64],
    tied: NDArray[np.float64],
    ridge: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Gradient and negative Hessian. A comparison scores 1, 1/2 or 0 for the first system; `v` is its variance.

    `won` are wins and half the ties of each system, `tied` ties in all.
    """
    has_ties = tied > 0
    n = met.shape[-1]
    half = (theta[..., :n, None] - theta[..., None, :n]) / 2
    # All three outcomes are divided by e^((a+b)/2), which keeps the exponentials small.
    better, worse = np.exp(half), np.exp(-half)
    tie = np.where(has_ties, np.exp(theta[..., n]), 0.0)[..., None, None]
    whole = better + worse + tie
    p, q = better / whole, tie / whole
    mean = p + q / 2
    v = met * (p + q / 4 - mean**2)
    expected_ties = met * q
    gradient = np.empty_like(theta)
    gradient[..., :n] = won - (met * mean).sum(-1) - ridge * theta[..., :n]
    gradient[..., n] = np.where(has_ties, tied - expected_ties.sum((-1, -2)) / 2, 0.0) - _TIE_RIDGE * theta[..., n]
    hessian = np.zeros((*theta.shape, n + 1))
    hessian[..., :n, :n] = -v
    index = np.arange(n)
    hessian[..., index, index] = v.sum(-1) - v[..., index, index] + ridge
    cross = (expected_ties * (0.5 - mean)).sum(-1)
    hessian[..., :n, n] = cross
    hessian[..., n, :n] = cross
    hessian[..., n, n] = (expected_ties * (1 - q)).sum((-1, -2)) / 2 + _TIE_RIDGE
    return gradient, hessian


# Keeps the tie parameter finite where every comparison is a tie, and the system solvable where none is.
_TIE_RIDGE = 1e-6
