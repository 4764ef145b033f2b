"""Sampling of rankings: do scores go with how often a system was judged, or with how often it met the reference?

Bojar et al. (2011), sections 2.4 and 3.2: a system shown more often, or more often beside the reference, scored lower
in some tasks. Correlations are over systems that are not human; a block counts where a system was shown, labelled or
not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.audit.correlate import correlate
from adjudge.audit.shown import DEFAULT_METHOD, scores_by, shown
from adjudge.results.audit.sampling import SampledSystem, Sampling

if TYPE_CHECKING:
    from adjudge.audit.settings import AuditSettings
    from adjudge.core.judgments import Judgments


def section(judgments: Judgments, settings: AuditSettings) -> Sampling:
    """Correlate scores with how systems were drawn."""
    blocks = shown(judgments)
    tally = blocks.tally
    scores = scores_by(tally, settings.method)
    machine = ~tally.human
    times, presence = blocks.times.astype(float), blocks.with_reference
    no_reference = not tally.human.any()
    return Sampling(
        method=settings.method or DEFAULT_METHOD,
        times_judged=correlate(times[machine], scores[machine]),
        reference_presence=correlate(presence[machine], scores[machine]),
        systems=tuple(
            SampledSystem(
                system=tally.systems[i],
                human=bool(tally.human[i]),
                shown=int(times[i]),
                labelled=int(tally.blocks[i]),
                reference_share=float("nan") if no_reference else float(presence[i]),
                score=float(scores[i]),
            )
            for i in np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")
        ),
    )
