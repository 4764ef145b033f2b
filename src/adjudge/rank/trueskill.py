"""`trueskill`: skills updated match by match (Herbrich et al. 2006; for translation, Sakaguchi et al. 2014).

Skills start at 0 with spread 1; beta is half the spread, the margin of a draw follows from the share of ties, and
skills do not drift (systems do not change). The outcome depends on the order of the matches, so the mean over several
random orders is reported. All orders, and all resamples, advance together, one match at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.maths import normal_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.rank.counts import Tally

BETA = 0.5
ORDERS = 16


def scores(tally: Tally, rng: np.random.Generator) -> NDArray[np.float64]:
    """The mean skill over random orders for one tally; over one order each for a batch of tallies."""
    if tally.wins.ndim == 2:
        wins, ties = (np.repeat(counts[None], ORDERS, axis=0) for counts in (tally.wins, tally.ties))
        mean: NDArray[np.float64] = _play(wins, ties, rng).mean(0)
        return mean
    return _play(tally.wins, tally.ties, rng)


def _play(wins: NDArray[np.float64], ties: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    first, second, drawn, last = _matches(wins, ties, rng)
    batch, n = wins.shape[0], wins.shape[-1]
    margin = draw_margin(drawn, last)
    mean, variance = np.zeros((batch, n)), np.ones((batch, n))
    rows = np.arange(batch)
    for match in range(first.shape[1]):
        playing = rows[match < last] if (match >= last).any() else rows
        pair = (playing[None, :], np.stack([first[playing, match], second[playing, match]]))
        mean[pair], variance[pair] = update(mean[pair], variance[pair], drawn[playing, match], margin[playing])
    return mean


def _matches(
    wins: NDArray[np.float64], ties: NDArray[np.float64], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_], NDArray[np.int64]]:
    """Every comparison once, in random order per row: winner (or either, of a draw), loser, drawn; and how many."""
    batch, n = wins.shape[0], wins.shape[-1]
    cells = np.concatenate([wins.reshape(batch, -1), np.triu(ties, 1).reshape(batch, -1)], axis=1).astype(np.int64)
    last = cells.sum(1)
    played = np.zeros((batch, int(last.max(initial=0))), dtype=np.int64)
    for row in range(batch):
        played[row, : last[row]] = rng.permutation(np.repeat(np.arange(cells.shape[1]), cells[row]))
    drawn, pair = np.divmod(played, n * n)
    first, second = np.divmod(pair, n)
    return first, second, drawn.astype(bool), last


def draw_margin(drawn: NDArray[np.bool_], last: NDArray[np.int64]) -> NDArray[np.float64]:
    """The margin within which two performances count as a draw, from the share of draws of each row."""
    share = drawn.sum(1) / np.maximum(last, 1)
    margin: NDArray[np.float64] = normal_quantile((np.clip(share, 1e-6, 1 - 1e-6) + 1) / 2) * np.sqrt(2) * BETA
    return margin


def update(
    mean: NDArray[np.float64], variance: NDArray[np.float64], drawn: NDArray[np.bool_], margin: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means and variances (2, matches) of both players after a match that the first one won, or that was drawn."""
    c2 = 2 * BETA**2 + variance.sum(0)
    c = np.sqrt(c2)
    t, e = (mean[0] - mean[1]) / c, margin / c
    v, w = np.empty_like(t), np.empty_like(t)
    v[drawn], w[drawn] = _drawn(t[drawn], e[drawn])
    v[~drawn], w[~drawn] = _won(t[~drawn], e[~drawn])
    moved = mean + variance / c * v * np.array([[1.0], [-1.0]])
    return moved, variance * np.maximum(1 - variance / c2 * w, 1e-6)


def _won(t: NDArray[np.float64], e: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    from scipy.special import log_ndtr

    x = t - e
    v = np.exp(-(x**2) / 2 - log_ndtr(x)) / np.sqrt(2 * np.pi)
    return v, v * (v + x)


def _drawn(t: NDArray[np.float64], e: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    from scipy.special import ndtr

    size = np.abs(t)
    low, high = -e - size, e - size
    mass = np.maximum(ndtr(high) - ndtr(low), 1e-12)
    density_low, density_high = (np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi) for x in (low, high))
    v = (density_low - density_high) / mass
    w = v**2 + (high * density_high - low * density_low) / mass
    return np.where(t < 0, -v, v), w
