"""Randomness: explicit generators, made from a seed and passed down. There is no global state."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

DEFAULT_SEED = 1


def generator(seed: int, *stream: int) -> np.random.Generator:
    """A generator for one purpose: the same seed and stream numbers always give the same draws."""
    import numpy as np

    return np.random.default_rng([seed, *stream])
