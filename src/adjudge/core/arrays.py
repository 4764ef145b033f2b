"""Names for the types of arrays, for annotations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.int64]
"""Whole numbers that stand for things: each is the index of a thing in a list."""
Hashes = NDArray[np.uint64]
Bools = NDArray[np.bool_]
"""One true or false value per row or cell; chooses rows where it is an index."""
