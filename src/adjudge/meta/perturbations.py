"""Downstream: how metrics fare when the human ranking is made from changed data (Knowles 2021, section 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.audit.changes import all_changes
from adjudge.core.maths import pearson
from adjudge.core.score_sheet import item_means, sheet_of, standardised
from adjudge.results.audit.stability import ONCE_PER_PAIR
from adjudge.results.meta import Perturbation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.core.arrays import Floats
    from adjudge.core.judgments import Judgments
    from adjudge.core.score_sheet import Sheet


def perturbations(judgments: Judgments, metrics: Mapping[str, Mapping[str, float]]) -> tuple[Perturbation, ...]:
    """Pearson's r of every metric at system level before and after each change of the human data.

    Args:
        judgments: scores of one language pair.
        metrics: the score of every system by every metric.
    """
    sheet = sheet_of(judgments)
    original = _system_scores(sheet)
    order = np.array([i for i in np.argsort(-original) if not np.isnan(original[i])])
    perturbed: list[Perturbation] = []
    for change in all_changes(sheet, order):
        if change.family not in ONCE_PER_PAIR:
            continue
        changed = _system_scores(change.apply(sheet))
        kept = [i for i in range(len(sheet.systems)) if not change.removed[i] and not np.isnan(changed[i])]
        before = _correlations(sheet.systems, kept, original, metrics)
        after = _correlations(sheet.systems, kept, changed, metrics)
        perturbed.append(Perturbation(change.name, len(kept), before, after, _order(before) != _order(after)))
    return tuple(perturbed)


def _system_scores(sheet: Sheet) -> Floats:
    return item_means(standardised(sheet)).system_means(len(sheet.systems))


def _correlations(
    systems: tuple[str, ...], kept: list[int], human: Floats, metrics: Mapping[str, Mapping[str, float]]
) -> dict[str, float]:
    result: dict[str, float] = {}
    for name, scores in metrics.items():
        both = [i for i in kept if systems[i] in scores]
        result[name] = pearson(human[both], np.array([scores[systems[i]] for i in both]))
    return result


def _order(correlations: dict[str, float]) -> list[str]:
    return sorted(correlations, key=lambda name: -correlations[name])
