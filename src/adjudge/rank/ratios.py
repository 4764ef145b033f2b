"""The customary ratios of wins, one function per method. Each takes a tally and gives every system's score.

`wins-or-ties`        share of comparisons won or tied, ">= others" (Bojar et al. 2011; Equation 1 of Lopez 2012).
                      Rewards ties: systems that resemble many others gain by it.
`wins`                share of comparisons won, "> others" (Bojar et al. 2011). Ties count against both systems.
                      `wins-no-reference` is the same without comparisons with the reference (Equation 2 of Lopez 2012).
`wins-no-ties`        wins / (wins + losses), ties left out (Bojar et al. 2011; Equation 3 of Lopez 2012).
`block-wins-or-ties`  share of blocks in which no system was better, ">= all in block" (Bojar et al. 2011).
`block-wins`          share of blocks in which the system was better than all others, "> all in block".
`rank-points`         mean of K + 1 - rank, where K is the number of labels on the scale (Kim et al.).
                      Treats the distance between ranks 1 and 2 like that between 4 and 5.
`expected-wins`       mean over opponents of wins / (wins + losses) against each (Koehn 2012).

All but the last depend on who was compared with whom. By expected wins every opponent weighs the same, however often it
was met; opponents never met, or only tied with, are left out of the mean. Of the block measures and rank points the
denominator is the number of blocks in which the system has a rank. A system without a denominator has no score (NaN).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.maths import divide

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.rank.counts import Tally


def wins_or_ties(tally: Tally) -> NDArray[np.float64]:
    """Share of comparisons won or tied."""
    return divide((tally.wins + tally.ties).sum(-1), tally.met.sum(-1))


def wins(tally: Tally) -> NDArray[np.float64]:
    """Share of comparisons won."""
    return divide(tally.wins.sum(-1), tally.met.sum(-1))


def wins_no_ties(tally: Tally) -> NDArray[np.float64]:
    """Share won of the comparisons that were not tied."""
    return divide(tally.wins.sum(-1), (tally.wins + tally.losses).sum(-1))


def block_wins_or_ties(tally: Tally) -> NDArray[np.float64]:
    """Share of blocks in which no system was better."""
    return divide(tally.block_wins_or_ties, tally.blocks)


def block_wins(tally: Tally) -> NDArray[np.float64]:
    """Share of blocks won outright."""
    return divide(tally.block_wins, tally.blocks)


def rank_points(tally: Tally) -> NDArray[np.float64]:
    """Mean of labels on the scale + 1 - rank."""
    return divide(tally.points, tally.blocks)


def expected_wins(tally: Tally) -> NDArray[np.float64]:
    """Mean over opponents of the share won against each."""
    decided = tally.wins + tally.losses
    against = np.nan_to_num(divide(tally.wins, decided))
    return divide(against.sum(-1), (decided > 0).sum(-1).astype(float))
