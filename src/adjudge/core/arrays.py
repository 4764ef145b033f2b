"""Type aliases for arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.int64]
"""Integer codes: each is an index into a list."""
Hashes = NDArray[np.uint64]
Bools = NDArray[np.bool_]
"""One boolean per row or cell, usable as an index."""
