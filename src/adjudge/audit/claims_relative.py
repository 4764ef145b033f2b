"""Claims from rankings: every statement by Bradley-Terry with resampled annotators, put to other rankings.

Trials: without the reference, the best and the worst system; the direction of expected wins and of wins without ties;
every annotator left out in turn, at the spread that all annotators show.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.audit.trials import Trial, spread_out
from adjudge.audit.verdicts import Evidence, better_claims
from adjudge.core.claims import Claims
from adjudge.core.comparisons import comparisons
from adjudge.core.rng import generator
from adjudge.rank import bradley_terry, expected_wins, wins_no_ties
from adjudge.rank.relative import check_comparable, check_connected
from adjudge.rank.significance import difference_spread
from adjudge.rank.units import Units, units_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from adjudge.audit.settings import AuditSettings
    from adjudge.core.comparisons import Comparisons
    from adjudge.core.judgments import Judgments

LEVEL = 0.05
RESAMPLES = 1000
MOST_LEFT_OUT = 60


def section(judgments: Judgments, settings: AuditSettings) -> Claims:
    """Make every claim and put it to the trials."""
    compared = comparisons(judgments)
    check_comparable(compared)
    whole = _Estimated(compared, settings.seed)
    check_connected(whole.tally)
    trials: list[Trial] = []

    def tried() -> list[Trial]:
        if not trials:
            trials.extend(_trials(whole, settings.seed))
        return trials

    made = better_claims(whole.evidence(), LEVEL, tried)
    audits = tuple(dict.fromkeys(trial.family for trial in trials))
    return Claims("bradley-terry", "log-odds of winning", LEVEL, None, made, audits)


class _Estimated:
    """Strengths with the spread of their differences over resampled annotators (blocks, where there is one only)."""

    def __init__(self, compared: Comparisons, seed: int) -> None:
        self.compared = compared
        self.units: Units = units_of(compared)
        self.tally = self.units.total()
        self.scores = bradley_terry.scores(self.tally)
        drawn = self.units.resampled(RESAMPLES, generator(seed))
        self.se = difference_spread(np.concatenate([bradley_terry.scores(one) for one in drawn]))
        self.df = np.full_like(self.se, max(self.units.number - 1, 1))

    def evidence(self) -> Evidence:
        from scipy.stats import t

        difference = self.scores[:, None] - self.scores[None, :]
        half = self.se * t.isf(LEVEL / 2, self.df)
        with np.errstate(divide="ignore", invalid="ignore"):
            p = np.where(self.se > 0, 2 * t.sf(np.abs(difference) / self.se, self.df), np.nan)
        systems, human = self.compared.systems, self.compared.human
        return Evidence(systems, human, self.scores, difference, difference - half, difference + half, p)


def _trials(whole: _Estimated, seed: int) -> Iterator[Trial]:
    compared = whole.compared
    order = np.argsort(-whole.scores)
    everyone = np.arange(len(order))
    left_out = [("without the best system", everyone == order[0]), ("without the worst system", everyone == order[-1])]
    if compared.human.any():
        left_out.insert(0, ("without the reference", compared.human))
    for name, gone in left_out:
        if (~gone).sum() > 1:
            yield _again(name, compared, gone, seed)
    for name, module in (("order by expected wins", expected_wins), ("order by wins without ties", wins_no_ties)):
        score = module.scores(whole.tally)
        yield Trial(name, name, score[:, None] - score[None, :])
    yield from _annotators_left_out(whole)


def _again(name: str, compared: Comparisons, gone: NDArray[np.bool_], seed: int) -> Trial:
    part = _Estimated(compared.without(gone), seed)
    places = [int(i) for i in np.flatnonzero(~gone)]
    difference = part.scores[:, None] - part.scores[None, :]
    return Trial(name, name, *(spread_out(one, places, len(gone)) for one in (difference, part.se, part.df)))


def _annotators_left_out(whole: _Estimated) -> Iterator[Trial]:
    """All fits at once: the total minus each annotator's own counts."""
    units = whole.units
    if units.kind != "annotators" or units.number < 3:
        return
    judged = np.unique(whole.compared.block_annotator)
    counts = np.asarray(units.counts.sum(axis=1)).ravel()
    chosen = np.argsort(-counts, kind="stable")[:MOST_LEFT_OUT]
    weights = np.ones((len(chosen), units.number)) - np.eye(units.number)[chosen]
    fits = bradley_terry.scores(units.weighted(weights))
    for place, scores in zip(chosen, fits, strict=True):
        name = f"annotator {whole.compared.annotators[judged[place]]} left out"
        yield Trial(name, "any annotator left out", scores[:, None] - scores[None, :], whole.se, whole.df)
