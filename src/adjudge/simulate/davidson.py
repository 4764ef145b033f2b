"""Rankings with ties drawn from known strengths (Davidson-Luce).

Plackett and Luce fill a ranking from the top: the next place goes to a system with probability proportional to its
strength. Firth, Kosmidis and Turner (2019, "Davidson-Luce: a flexible extension of the Davidson and Plackett-Luce
models") let several systems share the place: a set T of systems is chosen with probability proportional to
nu^(|T| - 1) times the geometric mean of the strengths in T. With two systems this is Davidson's (1970) model of ties:
P(a > b) : P(tie) : P(b > a) = e^a : nu e^((a+b)/2) : e^b.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Blocks handled at once, so that a million blocks do not need a gigabyte.
_CHUNK = 50_000


def draw_ranks(strength: NDArray[np.float64], ties: float, rng: np.random.Generator) -> NDArray[np.int32]:
    """Draw one ranking per row.

    Args:
        strength: log strengths, one row per block and one column per place on the screen.
        ties: Davidson's nu; 0 means that nothing ties.
        rng: the source of chance.

    Returns:
        The labels, 1 for the best, tied systems alike, no label skipped.
    """
    parts = [_draw_chunk(strength[i : i + _CHUNK], ties, rng) for i in range(0, len(strength), _CHUNK)]
    return np.concatenate(parts) if parts else np.empty(strength.shape, dtype=np.int32)


def _draw_chunk(strength: NDArray[np.float64], ties: float, rng: np.random.Generator) -> NDArray[np.int32]:
    blocks, places = strength.shape
    sets = np.arange(1, 2**places)
    member = (sets[:, None] >> np.arange(places)) & 1
    size = member.sum(axis=1)
    log_ties = np.log(ties) if ties > 0 else -np.inf
    bonus = np.where(size > 1, (size - 1) * log_ties, 0.0) if ties > 0 else np.where(size > 1, -np.inf, 0.0)
    weight = strength @ (member / size[:, None]).T + bonus
    ranks = np.zeros((blocks, places), dtype=np.int32)
    left = np.full(blocks, 2**places - 1)
    for label in range(1, places + 1):
        # The largest of log weights with Gumbel noise is a draw in proportion to the weights.
        open_sets = (sets & ~left[:, None]) == 0
        noisy = np.where(open_sets, weight + rng.gumbel(size=weight.shape), -np.inf)
        chosen = np.where(left > 0, sets[noisy.argmax(axis=1)], 0)
        ranks[((chosen[:, None] >> np.arange(places)) & 1).astype(bool)] = label
        left &= ~chosen
    return ranks
