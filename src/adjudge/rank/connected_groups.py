"""Which systems are compared with each other, directly or through others.

Scores connect systems that one annotator judged; relative judgments connect systems that met.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.errors import DataError
from adjudge.core.integer_codes import SPARSE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from adjudge.rank.counts import Tally

MOST_SHOWN = 4
FEW_SYSTEMS = 100
SMALL_TABLE = 100_000
"""A table of so many meetings is made sooner than a graph, however many of them are empty."""


def groups(system: NDArray[np.int64], other: NDArray[np.int64], systems: int) -> tuple[tuple[int, ...], ...]:
    """The systems in groups that share no level of `other` (such as annotators), each in order."""
    if not _is_small(system, other, systems):
        return _many_groups(system, other, systems)
    first = _first_linked(system, other, systems)
    return tuple(tuple(np.flatnonzero(first == number).tolist()) for number in np.unique(first))


def number_of_groups(system: NDArray[np.int64], other: NDArray[np.int64], systems: int) -> int:
    """How many groups `groups` gives."""
    if _is_small(system, other, systems):
        return len(np.unique(_first_linked(system, other, systems)))
    return len(_many_groups(system, other, systems))


def _is_small(system: NDArray[np.int64], other: NDArray[np.int64], systems: int) -> bool:
    """Whether a table of who met whom is quickly made."""
    levels = int(other.max(initial=-1)) + 1
    return systems <= FEW_SYSTEMS and levels * systems <= max(SMALL_TABLE, SPARSE * len(system))


def _first_linked(system: NDArray[np.int64], other: NDArray[np.int64], systems: int) -> NDArray[np.int64]:
    """The first system that each is linked with, from a table of who met whom: audits ask this thousands of times."""
    levels = int(other.max(initial=-1)) + 1
    met = np.zeros(levels * systems, dtype=np.float32)
    met[other * systems + system] = 1
    table = met.reshape(levels, systems)
    near = table.T @ table > 0
    near[np.diag_indices(systems)] = True
    while True:
        further = near.astype(np.float32) @ near > 0
        if (further == near).all():
            break
        near = further
    first: NDArray[np.int64] = np.argmax(near, axis=1)
    return first


def _many_groups(system: NDArray[np.int64], other: NDArray[np.int64], systems: int) -> tuple[tuple[int, ...], ...]:
    """As `groups`, by a graph."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    system, other = _met(system, other, systems)
    nodes = systems + int(other.max(initial=-1)) + 1
    links = coo_array((np.ones(len(system), dtype=np.int8), (system, other + systems)), shape=(nodes, nodes))
    label = connected_components(links, directed=False)[1][:systems]
    return tuple(sorted(tuple(np.flatnonzero(label == group).tolist()) for group in np.unique(label)))


def _met(
    system: NDArray[np.int64], other: NDArray[np.int64], systems: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each pair of system and level that meets, once, as far as that is quickly told."""
    cells = (int(other.max(initial=-1)) + 1) * systems
    if cells > SPARSE * len(system):
        return system, other
    met = np.zeros(cells, dtype=bool)
    met[other * systems + system] = True
    level, met_system = np.divmod(np.flatnonzero(met), systems)
    return met_system, level


def in_words(groups: Sequence[Sequence[int]], names: Sequence[str]) -> str:
    """Groups as `(A, B); (C)`; the first few where there are many."""
    shown = "; ".join("(" + ", ".join(names[system] for system in group) + ")" for group in groups[:MOST_SHOWN])
    return shown + ("; ..." if len(groups) > MOST_SHOWN else "")


def check_connected(tally: Tally) -> None:
    """Refuse groups of systems that never met: no comparison says which of two such groups is better."""
    label = groups_that_met(tally)
    number = int(label.max()) + 1
    if number > 1:
        smallest = np.argmin(np.bincount(label))
        alone = ", ".join(name for name, group in zip(tally.systems, label, strict=True) if group == smallest)
        raise DataError(
            f"the systems fall into {number} groups that were never compared with each other "
            f"(one of them: {alone}), so they have no common ranking; collect comparisons between the groups"
        )


def groups_that_met(tally: Tally) -> NDArray[np.int32]:
    """The number of each system's group: between groups nobody ever met anybody."""
    from scipy.sparse.csgraph import connected_components

    label: NDArray[np.int32] = connected_components(tally.met > 0, directed=False)[1]
    return label
