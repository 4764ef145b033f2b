"""Randomness: an explicit generator, made from a seed and passed down. No global state anywhere."""

from __future__ import annotations

import numpy as np

DEFAULT_SEED = 1


def generator(seed: int, *stream: int) -> np.random.Generator:
    """A generator for one purpose: the same seed and stream numbers always give the same draws."""
    return np.random.default_rng([seed, *stream])
