"""Sole winners: which system alone had the best label of a block (Bojar et al. 2011, Table 4).

A block with one label counts as won by it; a block without labels has no winner.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.audit.shown import compared_systems
from adjudge.rank.tally import share, tally
from adjudge.results.audit.wins import SoleWinner, SoleWinners

if TYPE_CHECKING:
    from adjudge.audit.settings import AuditSettings
    from adjudge.core.judgments import Judgments


def section(judgments: Judgments, settings: AuditSettings) -> SoleWinners:  # noqa: ARG001
    """Count the blocks that each system won alone."""
    compared = compared_systems(judgments)
    counted = tally(compared)
    wins = counted.block_wins.astype(int)
    blocks = len(compared.block_annotator)
    empty = blocks - len(np.unique(compared.label_block))
    won = share(counted.block_wins, counted.blocks)
    order = sorted(range(len(wins)), key=lambda i: (-wins[i], counted.systems[i]))
    return SoleWinners(
        blocks=blocks,
        tied=blocks - empty - int(wins.sum()),
        empty=empty,
        systems=tuple(
            SoleWinner(
                system=counted.systems[i],
                human=bool(counted.human[i]),
                wins=int(wins[i]),
                labelled=int(counted.blocks[i]),
                share=float(won[i]),
            )
            for i in order
        ),
    )
