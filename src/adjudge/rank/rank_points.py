"""`rank-points`: mean of K + 1 - rank, where K is the number of labels on the scale (Kim et al.).

Treats the distance between ranks 1 and 2 like that between 4 and 5.
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
    return share(tally.points, tally.blocks)
