"""Draws of the border's estimation errors, in place of its inverse where that is too large to compute."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.rng import generator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.rank.mixed.equations import Equations

    Floats = NDArray[np.float64]

DRAWS = 32
_CHUNK = 8
_SEED = 20_240_501
"""Fixed, so that the same data always give the same fit, and every step sees the same draws."""


def error_draws(equations: Equations) -> Floats:
    """Draws of the border's (estimate - truth) for scores simulated by the model: their covariance is its inverse."""
    parts = [_errors(equations, generator(_SEED, chunk)) for chunk in range(DRAWS // _CHUNK)]
    return np.concatenate(parts, axis=1)


def _errors(equations: Equations, rng: np.random.Generator) -> Floats:
    layout = equations.layout
    spread = np.append(np.sqrt(equations.ratios), 0.0)
    border = rng.standard_normal((layout.width, _CHUNK)) * spread[layout.border_owner, None]
    core = rng.standard_normal((len(layout.core_owner), _CHUNK)) * spread[layout.core_owner, None]
    rows = rng.standard_normal((layout.rows, _CHUNK))
    rows += layout.border_rows @ border + layout.core_rows @ core
    if layout.absorbed_effect is not None:
        absorbed = rng.standard_normal((len(layout.absorbed_size), _CHUNK)) * spread[layout.absorbed_effect]
        rows += layout.absorbed_rows @ absorbed
    errors: Floats = equations.solve(rows).border - border
    return errors
