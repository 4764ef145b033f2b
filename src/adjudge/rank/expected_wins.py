"""`expected-wins`: the mean over opponents of wins / (wins + losses) against each (Koehn 2012).

Every opponent weighs the same, however often it was met, so the luck of the draw matters less than in the plain ratios.
Opponents never met, or only tied with, are left out of the mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.rank.tally import share

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.rank.tally import Tally


def scores(tally: Tally) -> NDArray[np.float64]:
    """The score of every system, the higher the better."""
    decided = tally.wins + tally.losses
    against = np.nan_to_num(share(tally.wins, decided))
    return share(against.sum(-1), (decided > 0).sum(-1).astype(float))
