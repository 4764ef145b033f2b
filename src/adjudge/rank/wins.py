"""`wins`: share of comparisons won, "> others" (Bojar et al. 2011).

Ties count against both systems.
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
    return share(tally.wins.sum(-1), tally.met.sum(-1))
