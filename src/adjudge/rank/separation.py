"""Separation: where no judgment contradicts a lead, resamples cannot show how far it may be due to chance.

If no system of a group U ever lost to one outside, U's strengths have no finite best value: every resample shows the
same lead, by a size that the ridge alone bounds, and a spread of nearly nothing (Ford 1957). The doubt that remains is
how often it was seen. The two groups that such a lead of i over j rests on are those from which wins lead to i, and
those to which wins lead from j; the judgments between a group and the rest are all wins. Of these the most that any two
systems have between them is counted, because the judgments within one block are not independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Separation:
    """`p[i, j]`: what two-sided p for i against j cannot be below; 0 where judgments go both ways. Symmetric."""

    p: NDArray[np.float64]
    leads: NDArray[np.bool_]
    """`leads[i, j]`: i is ahead of j and no judgment says otherwise."""

    @property
    def unbounded(self) -> NDArray[np.bool_]:
        """Systems that judgments do not hold to most of the others: they could be any distance away."""
        return np.asarray(2 * (self.p > 0).sum(axis=1) > len(self.p) - 1)

    def widened(self, sets: NDArray[np.int64], own: NDArray[np.int64], level: float) -> NDArray[np.int64]:
        """Rank sets that reach the ranks of systems whose lead, or lag, was seen too seldom to be sure of.

        `sets` and `own` are (n, 2): the lowest and the highest rank, by resamples and of the ranking itself.
        """
        doubtful = self.p > level
        low = np.where(doubtful, own[None, :, 0], sets[:, :1]).min(axis=1)
        high = np.where(doubtful, own[None, :, 1], sets[:, 1:]).max(axis=1)
        return np.stack([np.minimum(sets[:, 0], low), np.maximum(sets[:, 1], high)], axis=1)


def separation(wins: NDArray[np.float64]) -> Separation:
    """What is separated in a table of wins (row over column)."""
    reaches = _reachable(wins > 0)
    # Column i: the group from which wins lead to i. Row j: the group to which wins lead from j.
    upper = _strongest(wins, reaches.T, ~reaches.T)
    lower = _strongest(wins, ~reaches, reaches)
    seen = np.maximum(upper[:, None], lower[None, :])
    leads = reaches & ~reaches.T
    p = np.where(leads, np.minimum(1.0, 2.0 * 0.5**seen), 0.0)
    p = np.maximum(p, p.T)
    # Where wins lead neither way, nothing at all says which of the two is better.
    p[~reaches & ~reaches.T] = 1.0
    np.fill_diagonal(p, 0.0)
    return Separation(p, leads)


def _reachable(edges: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether a path leads from row to column; every system reaches itself."""
    reaches = edges | np.eye(len(edges), dtype=bool)
    for middle in range(len(edges)):
        reaches |= reaches[:, middle, None] & reaches[None, middle, :]
    return reaches


def _strongest(wins: NDArray[np.float64], above: NDArray[np.bool_], below: NDArray[np.bool_]) -> NDArray[np.float64]:
    """For each row of two groups, the most wins that one system above has over one below; 0 where a group is empty."""
    return np.array(
        [wins[np.ix_(one, other)].max(initial=0.0) for one, other in zip(above, below, strict=True)], dtype=float
    )
