"""Split-half reliability: divide the annotators at random into two halves, and compare the orders of the systems.

No annotator is in both halves, so agreement between them is agreement about the systems. The mixed model takes the
variances found on the whole data; z-scores are each annotator's own in any case.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from adjudge.audit.halves import named_annotators, random_halves, segment_means, unnamed_note, z_by_row
from adjudge.core.errors import DataError, unknown_choice
from adjudge.core.maths import divide, kendall
from adjudge.core.rng import DEFAULT_SEED, generator
from adjudge.evidence.verdict import FEWEST_ANNOTATORS
from adjudge.rank.mixed import design_from, prepare
from adjudge.rank.mixed.design import levels_of
from adjudge.rank.mixed.shared_fits import model_of
from adjudge.results.audit.trust import HalfAgreement, Reliability
from adjudge.work import map_tasks, one_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from adjudge.audit.settings import AuditSettings
    from adjudge.core.arrays import Bools, Floats
    from adjudge.core.judgments import Judgments
    from adjudge.rank.mixed import MixedDesign


METHODS = ("mixed", "mixed-rank", "zscore", "raw")
# Fitted to the same normal scores in another unit, which no order depends on.
SAME_ORDERS = {"mixed-rank": "mixed"}
SPLITS = 25
_STREAM = 32


def section(judgments: Judgments, settings: AuditSettings) -> Reliability:
    """The section of an audit."""
    return reliability(judgments, seed=settings.seed)


def reliability(
    judgments: Judgments, *, methods: Iterable[str] = METHODS, splits: int = SPLITS, seed: int = DEFAULT_SEED
) -> Reliability:
    """Kendall's tau between halves of the annotators.

    Args:
        judgments: scores of one language pair and campaign.
        methods: names from `METHODS`.
        splits: random divisions of the annotators.
        seed: of the divisions.
    """
    chosen = tuple(methods)
    for name in chosen:
        if name not in METHODS:
            raise unknown_choice("method", name, METHODS)
    design = design_from(judgments)
    design.check()
    annotator = named_annotators(judgments, design)
    if annotator is None or levels_of(annotator) < FEWEST_ANNOTATORS:
        raise DataError(f"halves of the annotators need {FEWEST_ANNOTATORS} named annotators or more; there are fewer")
    values = {"mixed": design.score, "raw": design.as_given, "zscore": z_by_row(judgments)[design.row]}
    orders = tuple(dict.fromkeys(SAME_ORDERS.get(name, name) for name in chosen))
    by_model = _by_model(design) if "mixed" in orders else None

    def scores_of(rows: Bools) -> dict[str, Floats]:
        means = {name: _means(design, values[name], rows) for name in orders if name != "mixed"}
        return means if by_model is None else {"mixed": by_model(rows), **means}

    def taus(split: int) -> dict[str, float]:
        halves = [scores_of(rows) for rows in random_halves(annotator, generator(seed, _STREAM, split))]
        tau = {name: tau_of_halves(halves[0][name], halves[1][name]) for name in orders}
        return {name: tau[SAME_ORDERS.get(name, name)] for name in chosen}

    by_split = map_tasks(taus, range(splits), what="halves of the annotators")
    agreement = {name: agreement_of(np.array([tau[name] for tau in by_split])) for name in chosen}
    notes = unnamed_note(int((annotator < 0).sum()), "score")
    return Reliability(agreement, levels_of(annotator), len(design.systems), notes)


def _by_model(design: MixedDesign) -> Callable[[Bools], Floats]:
    """The effects of all systems from some of the rows; NaN for a system that has none there."""
    model = model_of(design)
    known, ratios = model.known, model.fitted.ratios

    def effects(rows: Bools) -> Floats:
        kept = None if known is None else known.cells.whole(rows)
        estimated = None
        if known is not None and kept is not None:
            with one_thread():
                estimated = known.effects_of_part(kept)
        if estimated is None:
            part = design.subset(rows)
            # A half that the model cannot order, such as one of equal scores, has no order by it.
            with suppress(DataError):
                estimated = part.systems, prepare(part).effects_at(part.score, ratios)
        whole = np.full(len(design.systems), np.nan)
        if estimated is not None:
            whole[[design.systems.index(name) for name in estimated[0]]] = estimated[1]
        return whole

    return effects


def _means(design: MixedDesign, value: Floats, rows: Bools) -> Floats:
    """The customary score from some of the rows: the mean over segments of the means within them."""
    mean, system = segment_means(design, np.where(rows, value, np.nan), design.system)
    count = np.bincount(system, minlength=len(design.systems))
    total = np.bincount(system, mean, minlength=len(design.systems))
    return divide(total, count)


def tau_of_halves(first: Floats, other: Floats) -> float:
    """Kendall's tau-b of the systems that have a score in both halves."""
    both = ~np.isnan(first) & ~np.isnan(other)
    return kendall(first[both], other[both])


def agreement_of(tau: Floats) -> HalfAgreement:
    """The mean over splits and the middle 95%."""
    known = tau[~np.isnan(tau)]
    if not len(known):
        return HalfAgreement(0, float("nan"), float("nan"), float("nan"))
    low, high = np.quantile(known, [0.025, 0.975])
    return HalfAgreement(len(known), float(known.mean()), float(low), float(high))
