"""Composition of rankings: which systems were shown together, and how strong the company of each was.

A ratio of wins depends on the opponents a system happened to meet (Bojar et al. 2011, sections 2.5.1 and 3.2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.audit.shown import DEFAULT_METHOD, scores_by, shown
from adjudge.results.audit.sampling import Composition, Opposition

if TYPE_CHECKING:
    from adjudge.audit.settings import AuditSettings
    from adjudge.core.judgments import Judgments


def section(judgments: Judgments, settings: AuditSettings) -> Composition:
    """Count who met whom."""
    blocks = shown(judgments)
    tally, together, times = blocks.tally, blocks.together, blocks.times
    scores = scores_by(tally, settings.method)
    known = np.isfinite(scores)
    weight = together[:, known].astype(float)
    company = np.divide(weight @ scores[known], weight.sum(1), out=np.full(len(times), np.nan), where=weight.sum(1) > 0)
    presence = blocks.with_reference
    pairs = together[np.triu_indices(len(times), k=1)]
    return Composition(
        unit="block",
        method=settings.method or DEFAULT_METHOD,
        systems=tally.systems,
        matrix=tuple(tuple(row) for row in together.tolist()),
        shares=tuple(tuple(row) for row in (together / np.maximum(times, 1)[:, None]).tolist()),
        opposition=tuple(
            Opposition(
                system=tally.systems[i],
                human=bool(tally.human[i]),
                shown=int(times[i]),
                opponents=int((together[i] > 0).sum()),
                opponent_score=float(company[i]),
                reference_share=float(presence[i]),
            )
            for i in range(len(times))
        ),
        fewest=int(pairs.min()),
        most=int(pairs.max()),
    )
