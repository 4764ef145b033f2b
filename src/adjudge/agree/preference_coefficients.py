"""Coefficients of agreement on preferences, from grouped annotations; intervals by resampling annotators."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from adjudge.agree.annotations import CATEGORIES, TIE, between_annotators, chance_with_ties, within_annotators
from adjudge.agree.coefficients import (
    above_chance,
    above_chance_all,
    fleiss_parts,
    nominal_alpha,
    pooled_cohen_kappa,
    random_clicker,
)
from adjudge.agree.options import over_resamples, percentile_interval
from adjudge.core.maths import divide
from adjudge.results.agree import Coefficients

if TYPE_CHECKING:
    from adjudge.agree.annotations import Annotations, AnnotatorPairs
    from adjudge.core.arrays import Floats


RESAMPLED = ("observed", "s", "s_corrected", "pi", "kappa")
"""The coefficients that get intervals."""


def brief(annotations: Annotations, kind: str, labels: int) -> dict[str, float]:
    """The observed agreement and the coefficients that need the share of ties at most."""
    units = annotations.inter if kind == "inter" else annotations.intra
    observed = float(divide(units.agreeing.sum(), units.pairs.sum()))
    expected = _simple_chance(annotations, labels)
    return {"observed": observed} | {name: above_chance(observed, chance) for name, chance in expected.items()}


def coefficients(annotations: Annotations, kind: str, labels: int, *, weights: Floats | None = None) -> Coefficients:
    """All coefficients of one kind, `inter` or `intra`.

    Args:
        annotations: the annotations, grouped.
        kind: between annotators or within.
        labels: how many rank labels a random clicker has.
        weights: how often each annotator was drawn (resamples x annotators), for intervals.
    """
    units = annotations.inter if kind == "inter" else annotations.intra
    mirrored = units.mirrored()
    by_annotator = between_annotators(annotations) if kind == "inter" else within_annotators(annotations)
    share = divide(by_annotator.agreeing, by_annotator.pairs)
    kappa, kappa_chance = pooled_cohen_kappa(by_annotator.pairs, share, by_annotator.expected)
    fleiss, fleiss_chance = fleiss_parts(mirrored.counts, mirrored.pairs, mirrored.agreeing)
    alpha, alpha_chance = nominal_alpha(mirrored.counts, mirrored.pairs, mirrored.agreeing)
    chance = {"kappa": kappa_chance, "fleiss": fleiss_chance, "alpha": alpha_chance}
    simple = brief(annotations, kind, labels)
    return Coefficients(
        pairs=int(units.pairs.sum()),
        items=len(units.pairs),
        observed=simple["observed"],
        s=simple["s"],
        s_corrected=simple["s_corrected"],
        pi=simple["pi"],
        kappa=kappa,
        fleiss=fleiss,
        alpha=alpha,
        expected=_simple_chance(annotations, labels) | chance,
        interval={} if weights is None else _intervals(annotations, by_annotator, labels, weights),
    )


def _simple_chance(annotations: Annotations, labels: int) -> dict[str, float]:
    tie = divide(annotations.totals[TIE], annotations.totals.sum())
    return {"s": 1 / CATEGORIES, "s_corrected": random_clicker(labels), "pi": float(chance_with_ties(tie, tie))}


def _intervals(
    annotations: Annotations, by_annotator: AnnotatorPairs, labels: int, weights: Floats
) -> dict[str, tuple[float, float]]:
    counts = annotations.counts
    ties, total = (annotations.per_annotator(number) for number in (counts[:, TIE], counts.sum(1)))
    resampled = over_resamples(partial(_resampled, by_annotator, ties, total, labels), weights)
    return {name: percentile_interval(values, weights) for name, values in zip(RESAMPLED, resampled, strict=True)}


def _resampled(by_annotator: AnnotatorPairs, ties: Floats, total: Floats, labels: int, weights: Floats) -> Floats:
    """The coefficients of `RESAMPLED` (rows) in every resample.

    Args:
        by_annotator: pairs of annotations.
        ties: of each annotator.
        total: the annotations of each.
        labels: how many rank labels a random clicker has.
        weights: how often each annotator was drawn (resamples x annotators).
    """
    pairs = by_annotator.summed(by_annotator.pairs, weights)
    observed = divide(by_annotator.summed(by_annotator.agreeing, weights), pairs)
    tie = divide(weights @ ties, weights @ total)
    expected = (
        np.full(len(weights), 1 / CATEGORIES),
        np.full(len(weights), random_clicker(labels)),
        chance_with_ties(tie, tie),
        divide(by_annotator.summed(by_annotator.pairs * by_annotator.expected, weights), pairs),
    )
    return np.stack([observed, *(above_chance_all(observed, chance) for chance in expected)])
