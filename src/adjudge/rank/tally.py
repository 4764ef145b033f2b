"""Tallies: how often each system beat, tied with and lost to each other one, and how it fared in whole blocks.

Everything in a tally is a sum over blocks, so a resample of annotators is a weighted sum of their tallies, and every
method that scores tallies can score a thousand resamples at once (leading dimensions of the arrays).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.core.comparisons import Comparisons


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of n systems; arrays have the shape (..., n, n) or (..., n), one leading entry per resample."""

    systems: tuple[str, ...]
    human: NDArray[np.bool_]
    wins: NDArray[np.float64]
    """`wins[i, j]`: how often i was strictly better than j."""
    ties: NDArray[np.float64]
    """`ties[i, j]`: how often i and j got the same rank; symmetric."""
    blocks: NDArray[np.float64]
    """Blocks in which the system has a rank."""
    block_wins: NDArray[np.float64]
    """Blocks in which the system is strictly better than all others with a rank."""
    block_wins_or_ties: NDArray[np.float64]
    """Blocks in which no system is better."""
    points: NDArray[np.float64]
    """Sum of (labels on the scale + 1 - rank)."""

    @property
    def losses(self) -> NDArray[np.float64]:
        """`losses[i, j]`: how often j was strictly better than i."""
        return np.swapaxes(self.wins, -1, -2)

    @property
    def met(self) -> NDArray[np.float64]:
        """`met[i, j]`: how often i and j were compared."""
        return self.wins + self.losses + self.ties

    def without(self, left_out: NDArray[np.bool_]) -> Tally:
        """The tally among the systems that are not marked (whole-block counts stay those of the full blocks)."""
        kept = np.flatnonzero(~left_out)
        return Tally(
            tuple(self.systems[i] for i in kept),
            self.human[kept],
            self.wins[..., kept, :][..., kept],
            self.ties[..., kept, :][..., kept],
            self.blocks[..., kept],
            self.block_wins[..., kept],
            self.block_wins_or_ties[..., kept],
            self.points[..., kept],
        )


def tally(comparisons: Comparisons) -> Tally:
    """The tally of all comparisons."""
    from adjudge.rank.resampling_units import block_units

    return block_units(comparisons).total()
