"""Sampling of scores: do scores go with how often a system was judged, or with how often it met a human translation?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.audit.correlate import correlate
from adjudge.core.sheet import item_means, sheet_of, standardised
from adjudge.results.audit.sampling import SampledSystem, Sampling

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.audit.settings import AuditSettings
    from adjudge.core.judgments import Judgments
    from adjudge.core.sheet import Sheet


def section(judgments: Judgments, settings: AuditSettings) -> Sampling:
    """Correlate system scores with how systems were drawn."""
    sheet = sheet_of(judgments)
    chosen = sheet if settings.method == "raw" else standardised(sheet)
    n = len(sheet.systems)
    scores = item_means(chosen).system_means(n)
    times = np.bincount(sheet.system[sheet.rated], minlength=n).astype(float)
    presence = _beside_human(sheet)
    machine = ~sheet.human
    return Sampling(
        method="raw" if settings.method == "raw" else "zscore",
        times_judged=correlate(times[machine], scores[machine]),
        reference_presence=correlate(presence[machine], scores[machine]),
        systems=tuple(
            SampledSystem(
                system=sheet.systems[i],
                human=bool(sheet.human[i]),
                shown=int(times[i]),
                labelled=int(times[i]),
                reference_share=float(presence[i]),
                score=float(scores[i]),
            )
            for i in np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")
        ),
    )


def _beside_human(sheet: Sheet) -> NDArray[np.float64]:
    """Of each system's judgments, the share by annotators who also judged a human translation; NaN if nobody did."""
    human = sheet.of_kind("reference") | (sheet.of_systems(sheet.human) & sheet.rated)
    n = len(sheet.systems)
    if not human.any():
        return np.full(n, np.nan)
    met = np.zeros(len(sheet.annotators))
    met[np.unique(sheet.annotator[human])] = 1
    system, beside = sheet.system[sheet.rated], met[sheet.annotator[sheet.rated]]
    return np.bincount(system, weights=beside, minlength=n) / np.maximum(np.bincount(system, minlength=n), 1)
