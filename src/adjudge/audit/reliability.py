"""Split-half reliability: divide the annotators at random into two halves, and compare the orders of the systems.

No annotator is in both halves, so agreement between them is agreement about the systems. Models take the variances (or
the taste) found on the whole data; z-scores are each annotator's own in any case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.audit.halves import random_halves, unnamed_note
from adjudge.core.errors import DataError, unknown_choice
from adjudge.core.maths import kendall
from adjudge.core.rng import DEFAULT_SEED, generator
from adjudge.ranking.estimator import estimator_of
from adjudge.evidence.verdict import FEWEST_ANNOTATORS
from adjudge.results.audit.trust import HalfAgreement, Reliability

if TYPE_CHECKING:
    from collections.abc import Iterable

    from adjudge.audit.settings import AuditSettings
    from adjudge.core.arrays import Floats
    from adjudge.core.judgments import Judgments
    from adjudge.ranking.estimator import Estimator


SPLITS = 25
SLOW_SPLITS = 5
"""Splits of methods that search for an order or play every match."""
SLOW = ("mfas", "trueskill")
SAME_ORDERS = {"mixed-rank": "mixed"}
"""Methods that are fitted to the same scores in another unit, which no order depends on."""
_STREAMS = {"scores": 32, "relative": 42}


def section(judgments: Judgments, settings: AuditSettings) -> Reliability:
    """The section of an audit."""
    return reliability(estimator_of(judgments), seed=settings.seed)


def reliability(
    estimator: Estimator, *, methods: Iterable[str] | None = None, splits: int = SPLITS, seed: int = DEFAULT_SEED
) -> Reliability:
    """Kendall's tau between halves of the annotators.

    Args:
        estimator: of the judgments.
        methods: names from `estimator.methods`; default: all.
        splits: random divisions of the annotators.
        seed: of the divisions.
    """
    chosen = estimator.methods if methods is None else tuple(methods)
    for name in chosen:
        if name not in estimator.methods:
            raise unknown_choice("method", name, estimator.methods)
    if estimator.people < FEWEST_ANNOTATORS:
        raise DataError(f"halves of the annotators need {FEWEST_ANNOTATORS} named annotators or more; there are fewer")
    stream = _STREAMS[estimator.kind]
    first = np.stack([random_halves(estimator.people, generator(seed, stream, split))[0] for split in range(splits)])
    agreement: dict[str, HalfAgreement] = {}
    for name in dict.fromkeys(SAME_ORDERS.get(name, name) for name in chosen):
        some = first[:SLOW_SPLITS] if name in SLOW else first
        halves = (estimator.scores_of(name, half, generator(seed, stream)) for half in (some, ~some))
        agreement[name] = agreement_of(np.array([tau_of_halves(*pair) for pair in zip(*halves, strict=True)]))
    return Reliability(
        {name: agreement[SAME_ORDERS.get(name, name)] for name in chosen},
        estimator.people,
        len(estimator.systems),
        unnamed_note(estimator.unnamed, estimator.judgment),
    )


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
