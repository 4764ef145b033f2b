"""Groups of documents by k-means, for people to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.rng import generator

if TYPE_CHECKING:
    from numpy.typing import NDArray

STARTS = 10
STEPS = 50


def group(points: NDArray[np.float64], number: int, seed: int) -> NDArray[np.int64]:
    """The group of every point: the best of several starts."""
    random = generator(seed, 74)
    best: tuple[float, NDArray[np.int64]] | None = None
    for _ in range(STARTS):
        spread, member = _one_start(points, number, random)
        if best is None or spread < best[0]:
            best = spread, member
    assert best is not None
    return best[1]


def _one_start(
    points: NDArray[np.float64], number: int, random: np.random.Generator
) -> tuple[float, NDArray[np.int64]]:
    centres = points[random.choice(len(points), number, replace=False)]
    member = np.zeros(len(points), dtype=np.int64)
    spread = np.inf
    for _ in range(STEPS):
        squares = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        member = squares.argmin(axis=1)
        now = float(squares[np.arange(len(points)), member].sum())
        if now >= spread - 1e-9:
            break
        spread = now
        centres = np.array(
            [points[member == i].mean(axis=0) if (member == i).any() else centres[i] for i in range(number)]
        )
    return spread, member
