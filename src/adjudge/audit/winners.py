"""Winners of relative judgments: systems that won a block alone, and pairs whose winner has the lower overall score.

Sole winners: which system alone had the best label of a block (Bojar et al. 2011, Table 4). A block with one label
counts as won by it; a block without labels has no winner.
Discrepancies: pairs in which the winner of the direct comparison has the lower overall score (section 2.5). They can
come from chance, from different segments, or from uneven opponents; a cycle makes some unavoidable.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from adjudge.audit.composition import DEFAULT_METHOD, compared_systems, scores_by
from adjudge.core.maths import divide
from adjudge.rank.resampling_units import tally
from adjudge.rank.significance import sign_tests
from adjudge.results.audit.sampling import Discrepancies, Discrepancy, SoleWinner, SoleWinners

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.audit.settings import AuditSettings
    from adjudge.core.judgments import Judgments
    from adjudge.rank.counts import Tally


def sole_winners_section(judgments: Judgments, settings: AuditSettings) -> SoleWinners:  # noqa: ARG001
    """Count the blocks that each system won alone."""
    compared = compared_systems(judgments)
    counted = tally(compared)
    wins = counted.block_wins.astype(int)
    blocks = len(compared.block_annotator)
    empty = blocks - len(np.unique(compared.label_block))
    won = divide(counted.block_wins, counted.blocks)
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


def discrepancies_section(judgments: Judgments, settings: AuditSettings) -> Discrepancies:
    """Compare every pair's own judgments with the overall scores."""
    counted = tally(compared_systems(judgments))
    scores = scores_by(counted, settings.method)
    order = np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")
    shares = divide(counted.losses, counted.met)[np.ix_(order, order)]
    return Discrepancies(
        method=settings.method or DEFAULT_METHOD,
        systems=tuple(counted.systems[i] for i in order),
        scores=tuple(scores[order].tolist()),
        matrix=tuple(tuple(None if np.isnan(cell) else cell for cell in row) for row in shares.tolist()),
        compared=int((np.triu(counted.met, k=1) > 0).sum()),
        pairs=_pairs(counted, scores),
    )


def _pairs(counted: Tally, scores: NDArray[np.float64]) -> tuple[Discrepancy, ...]:
    p = sign_tests(counted.wins).two_sided
    discrepancies: list[Discrepancy] = []
    for i, j in combinations(range(len(scores)), 2):
        better, worse = (i, j) if counted.wins[i, j] > counted.wins[j, i] else (j, i)
        if counted.wins[better, worse] > counted.wins[worse, better] and scores[better] < scores[worse]:
            discrepancies.append(
                Discrepancy(
                    better=counted.systems[better],
                    worse=counted.systems[worse],
                    wins=int(counted.wins[better, worse]),
                    losses=int(counted.wins[worse, better]),
                    ties=int(counted.ties[better, worse]),
                    better_score=float(scores[better]),
                    worse_score=float(scores[worse]),
                    p=float(p[better, worse]),
                )
            )
    return tuple(
        sorted(
            discrepancies, key=lambda discrepancy: (discrepancy.p, discrepancy.better_score - discrepancy.worse_score)
        )
    )
