"""`block-wins`: share of blocks in which the system was better than all others, "> all in block" (Bojar et al. 2011).

The denominator is the number of blocks in which the system has a rank.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.rank.tally import share

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from adjudge.rank.tally import Tally


def scores(tally: Tally) -> NDArray[np.float64]:
    """The score of every system, the higher the better."""
    return share(tally.block_wins, tally.blocks)
