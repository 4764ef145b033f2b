"""Names beside points that cover neither each other nor a point."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

FONT_SIZE = 11
# Of a character (a little wider than most fonts have them), a line, and a point with its border, in pixels.
CHARACTER, LINE, RADIUS = 6.4, 13.0, 6.0
_STEP = 4.0
# Names to the side of a point are read more easily than those above or below it.
_ASIDE = 0.3


def place_labels(
    points: Sequence[tuple[float, float]], names: Sequence[str], *, width: float, height: float
) -> list[tuple[float, float]]:
    """The centre of every name: as near to its point as it can be without covering another name or a point.

    A chart that is drawn wider than `width` moves all centres apart, so that names stay free of each other.

    Args:
        points: in pixels, from the left and from the top.
        names: of the points.
        width: of the plot in pixels.
        height: of the plot in pixels.
    """
    at = np.array(points, dtype=float).reshape(-1, 2)
    sizes = np.array([(CHARACTER * len(name) + 4, LINE) for name in names], dtype=float).reshape(-1, 2)
    centres = np.full(at.shape, np.nan)
    for i in _crowded_first(at):
        centres[i] = _nearest_free(i, at, sizes, centres, (width, height))
    return [(float(x), float(y)) for x, y in centres]


def _crowded_first(at: NDArray[np.float64]) -> list[int]:
    """Points with near neighbours have the least choice."""
    apart = np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1))
    near = np.sort(apart, axis=1)[:, 1:4].sum(1) if len(at) > 1 else np.zeros(len(at))
    return [int(i) for i in np.argsort(near, kind="stable")]


def _nearest_free(
    i: int,
    at: NDArray[np.float64],
    sizes: NDArray[np.float64],
    centres: NDArray[np.float64],
    plot: tuple[float, float],
) -> NDArray[np.float64]:
    """Of a grid of centres inside the plot, the nearest free one; the least covered where none is free."""
    half = sizes[i] / 2
    steps = [np.arange(half[k], max(plot[k] - half[k], half[k]) + _STEP, _STEP) for k in (0, 1)]
    grid = np.stack(np.meshgrid(*steps, indexing="ij"), axis=-1).reshape(-1, 2)
    beside = _beside(at[i], half, plot)
    grid = np.concatenate([beside, grid])
    on_points = (np.abs(grid[:, None] - at) < half + RADIUS).all(-1).sum(1)
    placed = ~np.isnan(centres[:, 0])
    on_names = (np.abs(grid[:, None] - centres[placed]) < half + sizes[placed] / 2).all(-1).sum(1)
    gap = np.maximum(np.abs(grid - at[i]) - half, 0)
    away = np.hypot(gap[:, 0], gap[:, 1]) + _ASIDE * np.abs(grid[:, 1] - at[i, 1])
    # Ties go to the first candidate, which stands to the right of the point.
    best = np.lexsort((np.round(away, 6), on_points + on_names))[0]
    nearest: NDArray[np.float64] = grid[best]
    return nearest


def _beside(point: NDArray[np.float64], half: NDArray[np.float64], plot: tuple[float, float]) -> NDArray[np.float64]:
    """To the right, to the left, above and below the point, where that lies inside the plot."""
    gap = half + RADIUS + 1
    centres = point + np.array([(gap[0], 0), (-gap[0], 0), (0, -gap[1]), (0, gap[1])])
    inside = ((centres >= half) & (centres <= np.array(plot) - half)).all(1)
    beside: NDArray[np.float64] = centres[inside]
    return beside
