"""Split-half reliability: divide the annotators at random into two halves, and compare the orders of the systems.

No annotator is in both halves, so agreement between them is agreement about the systems. The mixed model takes the
variances found on the whole data; z-scores are each annotator's own in any case.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from adjudge.audit.halves import FEWEST_ANNOTATORS, random_half, z_by_row
from adjudge.core.errors import DataError, unknown_choice
from adjudge.core.rng import DEFAULT_SEED, generator
from adjudge.rank.mixed import design_from, prepare
from adjudge.rank.mixed.design import combine, levels_of
from adjudge.rank.mixed.shared import model_of
from adjudge.results.audit.trust import HalfAgreement, Reliability
from adjudge.work import map_tasks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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
    if design.annotator is None or levels_of(design.annotator) < FEWEST_ANNOTATORS:
        raise DataError(f"halves of the annotators need {FEWEST_ANNOTATORS} named annotators or more; there are fewer")
    annotator = design.annotator
    values = {"mixed": design.score, "raw": design.as_given, "zscore": z_by_row(judgments)[design.row]}
    orders = tuple(dict.fromkeys(SAME_ORDERS.get(name, name) for name in chosen))
    known = {"mixed": model_of(design).fitted.ratios} if "mixed" in orders else {}

    def taus(split: int) -> dict[str, float]:
        first = random_half(annotator, generator(seed, _STREAM, split))
        halves = [_orders(design, rows, values, orders, known) for rows in (first, ~first)]
        tau = {name: kendall(halves[0][name], halves[1][name]) for name in orders}
        return {name: tau[SAME_ORDERS.get(name, name)] for name in chosen}

    by_split = map_tasks(taus, range(splits), what="halves of the annotators")
    agreement = {name: agreement_of(np.array([tau[name] for tau in by_split])) for name in chosen}
    return Reliability(agreement, levels_of(annotator), len(design.systems))


def _orders(
    design: MixedDesign,
    rows: Bools,
    values: Mapping[str, Floats],
    chosen: tuple[str, ...],
    known: Mapping[str, Mapping[str, float]],
) -> dict[str, Floats]:
    """Every method's scores of all systems from some of the rows; NaN for a system that has none there."""
    part = design.subset(rows)
    prepared = prepare(part) if known else None
    indices = [design.systems.index(name) for name in part.systems]
    scores: dict[str, Floats] = {}
    for name in chosen:
        own = values[name][rows]
        scores[name] = np.full(len(design.systems), np.nan)
        # A half that the model cannot order, such as one of equal scores, has no order by it.
        with suppress(DataError):
            estimated = prepared.effects_at(own, known[name]) if prepared and name in known else _means(part, own)
            scores[name][indices] = estimated
    return scores


def _means(design: MixedDesign, value: Floats) -> Floats:
    """The customary score: the mean over segments of the means within them."""
    segment = np.arange(len(design)) if design.segment is None else design.segment
    usable = ~np.isnan(value)
    system = design.system[usable]
    item = combine(system, segment[usable])
    owner = np.empty(levels_of(item), dtype=np.int64)
    owner[item] = system
    mean = np.bincount(item, value[usable]) / np.bincount(item)
    count = np.bincount(owner, minlength=len(design.systems))
    total = np.bincount(owner, mean, minlength=len(design.systems))
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def kendall(first: Floats, other: Floats) -> float:
    """Kendall's tau of the systems that have a score in both halves."""
    from scipy.stats import kendalltau

    both = ~np.isnan(first) & ~np.isnan(other)
    return float(kendalltau(first[both], other[both]).statistic) if both.sum() > 1 else float("nan")


def agreement_of(tau: Floats) -> HalfAgreement:
    """The mean over splits and the middle 95%."""
    known = tau[~np.isnan(tau)]
    if not len(known):
        return HalfAgreement(0, float("nan"), float("nan"), float("nan"))
    low, high = np.quantile(known, [0.025, 0.975])
    return HalfAgreement(len(known), float(known.mean()), float(low), float(high))
