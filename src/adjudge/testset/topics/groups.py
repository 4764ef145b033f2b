"""Topics as groups of documents (k-means), and the energy distance of two sets of documents (permutation test)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.rng import generator

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CHUNK = 200


def energy_test(
    points: NDArray[np.float64], first: NDArray[np.bool_], *, permutations: int, seed: int
) -> tuple[float, float]:
    """The energy distance of the marked points to the others, and the share of permutations with one as large."""
    distances = _distances(points)
    observed = float(_energy(distances, first[None, :].astype(np.float64))[0])
    random = generator(seed, 73)
    larger = 0
    for start in range(0, permutations, _CHUNK):
        size = min(_CHUNK, permutations - start)
        marked = random.permuted(np.tile(first.astype(np.float64), (size, 1)), axis=1)
        larger += int((_energy(distances, marked) >= observed - 1e-12).sum())
    return observed, (1 + larger) / (1 + permutations)


def _distances(points: NDArray[np.float64]) -> NDArray[np.float64]:
    squares = (points**2).sum(axis=1)
    between: NDArray[np.float64] = np.sqrt(np.maximum(squares[:, None] + squares[None, :] - 2 * points @ points.T, 0.0))
    return between


def _energy(distances: NDArray[np.float64], marked: NDArray[np.float64]) -> NDArray[np.float64]:
    """2 E|X - Y| - E|X - X'| - E|Y - Y'|, for every row of marks."""
    others = 1 - marked
    x, y = marked.sum(axis=1), others.sum(axis=1)
    to_marked = marked @ distances
    between = (to_marked * others).sum(axis=1) / (x * y)
    within_x = (to_marked * marked).sum(axis=1) / x**2
    within_y = ((others @ distances) * others).sum(axis=1) / y**2
    return np.asarray(2 * between - within_x - within_y, dtype=np.float64)


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
