"""`wins-or-ties`: share of comparisons won or tied, ">= others" (Bojar et al. 2011; Equation 1 of Lopez 2012).

Rewards ties: systems that resemble many others gain by it.
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
    return share((tally.wins + tally.ties).sum(-1), tally.met.sum(-1))
