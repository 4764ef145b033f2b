"""`wins-no-ties`: wins / (wins + losses), ties left out (Bojar et al. 2011; Equation 3 of Lopez 2012).

Depends on who was compared with whom, as every ratio does.
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
    return share(tally.wins.sum(-1), (tally.wins + tally.losses).sum(-1))
