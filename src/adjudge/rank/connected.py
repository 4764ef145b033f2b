"""Which systems are compared with each other, directly or through others: those that somebody judged side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MOST_SHOWN = 4


def groups(system: NDArray[np.int64], other: NDArray[np.int64], systems: int) -> tuple[tuple[int, ...], ...]:
    """The systems in groups that share no level of `other` (such as annotators), each in order."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    nodes = systems + int(other.max(initial=-1)) + 1
    links = coo_array((np.ones(len(system), dtype=np.int8), (system, other + systems)), shape=(nodes, nodes))
    label = connected_components(links, directed=False)[1][:systems]
    found = [tuple(int(place) for place in np.flatnonzero(label == one)) for one in np.unique(label)]
    return tuple(sorted(found))


def in_words(found: Sequence[Sequence[int]], names: Sequence[str]) -> str:
    """Groups as `(A, B); (C)`; the first few where there are many."""
    shown = "; ".join("(" + ", ".join(names[place] for place in group) + ")" for group in found[:MOST_SHOWN])
    return shown + ("; ..." if len(found) > MOST_SHOWN else "")
