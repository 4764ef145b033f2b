"""Models of scores that are not in the package, for `bench_models`: other ways to take the use of the scale out.

All have tastes (annotator:system) and degrees of freedom as `mixed` has them, and differ in the scores they are fitted
to. Each is written to be read, not to be fast.

`scaled`           scores divided by the annotator's own spread, shrunk towards the spread of all
`scaled-inside`    the same, with the spread of what is left once system, segment and annotator are fitted, in turns
`within`           normal scores of ranks among the annotator's own scores
`scaled-normal`    normal scores over all scores, after the division of `scaled`
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from adjudge.mixed.design import MixedDesign, levels_of, normal_scores, points_per_unit
from adjudge.table.maths import Codes, Floats

ROUNDS = 5


def scaled(design: MixedDesign) -> Floats:
    """Every annotator's distance from their own mean, in units of their spread."""
    assert design.annotator is not None
    given, who = design.as_given, design.annotator
    left = given - group_mean(given, who)[who]
    return given - left + left / relative_spread(left, who)[who]


def scaled_inside(design: MixedDesign) -> Floats:
    """Spreads of residuals instead of scores, so that who saw better systems is not taken for who spreads more."""
    assert design.annotator is not None
    given, who = design.as_given, design.annotator
    factors = [codes for codes in (design.system, who, design.segment) if codes is not None]
    spread = np.ones(levels_of(who))
    centre = group_mean(given, who)[who]
    for _ in range(ROUNDS):
        score = centre + (given - centre) / spread[who]
        left = score.copy()
        for _ in range(ROUNDS):
            for codes in factors:
                left -= group_mean(left, codes)[codes]
        spread *= relative_spread(left, who)
    return np.asarray(centre + (given - centre) / spread[who])


def within(design: MixedDesign) -> Floats:
    """Normal scores of ranks within each annotator."""
    assert design.annotator is not None
    given, who = design.as_given, design.annotator
    score = np.empty(len(given))
    for person in range(levels_of(who)):
        own = who == person
        score[own] = normal_scores(given[own])
    return in_points(given, score)


def scaled_normal(design: MixedDesign) -> Floats:
    """Normal scores over all scores, of scores divided by annotators' spreads."""
    return in_points(design.as_given, normal_scores(scaled(design)))


def in_points(given: Floats, score: Floats) -> Floats:
    """Normal scores on the scale of the scores, as `mixed` puts them there."""
    return np.asarray(given.mean() + points_per_unit(given, score) * (score - score.mean()))


def group_mean(value: Floats, codes: Codes) -> Floats:
    return np.asarray(np.bincount(codes, value) / np.bincount(codes))


def relative_spread(left: Floats, who: Codes) -> Floats:
    """Each annotator's spread relative to all, shrunk: the variance of log variances beyond chance is their own.

    The log of a variance with d degrees of freedom has the variance 2 / d.
    """
    number = np.maximum(np.bincount(who), 2)
    variance = np.bincount(who, left**2) / (number - 1)
    known = variance > 0
    log_variance = np.log(np.where(known, variance, variance[known].mean()))
    error = 2 / (number - 1)
    middle = np.average(log_variance, weights=1 / (error + 0.1))
    own = max(float(np.average((log_variance - middle) ** 2 - error, weights=1 / (error + 0.1))), 0.0)
    shrunk = own / (own + error) * (log_variance - middle)
    return np.asarray(np.exp(shrunk / 2))


CANDIDATES: dict[str, Callable[[MixedDesign], Floats]] = {
    "scaled": scaled,
    "scaled-inside": scaled_inside,
    "within": within,
    "scaled-normal": scaled_normal,
}


def as_candidate(design: MixedDesign, name: str) -> MixedDesign:
    """The design (of `mixed-points`) with the scores that a candidate is fitted to."""
    return replace(design, score=CANDIDATES[name](design), given=design.as_given)
