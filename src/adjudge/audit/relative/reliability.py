"""Split-half reliability of relative judgments: two halves of the annotators, nobody in both, by every method."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.audit.halves import random_halves, unnamed_note
from adjudge.audit.reliability import SPLITS, agreement_of, tau_of_halves
from adjudge.core.comparisons import comparisons
from adjudge.core.errors import DataError
from adjudge.core.rng import DEFAULT_SEED, generator
from adjudge.evidence.verdict import FEWEST_ANNOTATORS
from adjudge.rank.counts import labelling_annotators
from adjudge.rank.methods import METHODS
from adjudge.rank.relative import check_comparable
from adjudge.rank.resampling_units import annotator_units, people_counts
from adjudge.rank.tastes import fit_tastes, refit
from adjudge.results.audit.trust import Reliability

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.audit.settings import AuditSettings
    from adjudge.core.arrays import Floats
    from adjudge.core.comparisons import Comparisons
    from adjudge.core.judgments import Judgments
    from adjudge.rank.counts import Tally
    from adjudge.rank.methods import Method
    from adjudge.rank.resampling_units import Units


SLOW_SPLITS = 5
"""Splits of methods that search for an order or play every match."""
SLOW = ("mfas", "trueskill")
_STREAM = 42


def section(judgments: Judgments, settings: AuditSettings) -> Reliability:
    """The section of an audit."""
    compared = comparisons(judgments)
    check_comparable(compared)
    return reliability(compared, seed=settings.seed)


def reliability(compared: Comparisons, *, splits: int = SPLITS, seed: int = DEFAULT_SEED) -> Reliability:
    """Kendall's tau between the orders of two halves of the annotators, by every method for relative judgments.

    Args:
        compared: comparisons of one language pair.
        splits: random divisions of the annotators.
        seed: of the divisions.
    """
    named = compared.of_named_annotators()
    unnamed = len(compared) - len(named)
    if len(labelling_annotators(named)) < FEWEST_ANNOTATORS:
        raise DataError(f"halves of the annotators need {FEWEST_ANNOTATORS} named annotators or more; there are fewer")
    units = annotator_units(named)
    people = np.arange(units.number)
    first = np.stack([random_halves(people, generator(seed, _STREAM, split))[0] for split in range(splits)])
    agreements = {}
    for name, method in METHODS.items():
        if method.judgments != "relative":
            continue
        chosen = first[:SLOW_SPLITS] if name in SLOW else first
        if method.significance == "tastes":
            halves = _strengths(named, units, chosen)
        else:
            halves = [_scores(method, units.weighted(part.astype(float)), seed) for part in (chosen, ~chosen)]
        agreements[name] = agreement_of(np.array([tau_of_halves(*pair) for pair in zip(*halves, strict=True)]))
    return Reliability(agreements, units.number, len(compared.systems), unnamed_note(unnamed, "comparison"))


def _strengths(compared: Comparisons, units: Units, first: NDArray[np.bool_]) -> list[Floats]:
    """Strengths as the ranking has them, of both halves in every split, at the taste that all annotators show."""
    people = people_counts(units)
    fitted = fit_tastes(people, compared)
    halves = []
    for part in (first, ~first):
        # Where very many annotators are taken together, a group goes where its first member goes.
        grouped = part[:, np.unique(people.group, return_index=True)[1]]
        strengths = [refit(people.of(rows), fitted.taste, fitted.dispersion) for rows in grouped]
        met = [people.of(rows).met().sum(-1) > 0 for rows in grouped]
        halves.append(np.where(met, strengths, np.nan))
    return halves


def _scores(method: Method, tallies: Tally, seed: int) -> Floats:
    """The scores of every tally; NaN for the reference where the method is defined without it."""
    rng = generator(seed, _STREAM)
    scores = np.full((len(tallies.wins), len(tallies.systems)), np.nan)
    if method.reference == "exclude":
        scores[:, ~tallies.human] = method.score(tallies.without(tallies.human), rng)
    else:
        scores[:] = method.score(tallies, rng)
    # A system that nobody in this half compared has no place in its order.
    return np.where(tallies.met.sum(-1) > 0, scores, np.nan)
