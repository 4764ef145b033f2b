"""Claims from rankings: every statement by Bradley-Terry with annotators' tastes, tried on other rankings.

Trials: both halves of the annotators in several random divisions; without the reference, the best and the worst
system; the direction of expected wins and of wins without ties; every annotator left out in turn, at the spread that
all annotators show.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.audit.claims.make_claims import Evidence, better_claims
from adjudge.audit.claims.trials import DIVISIONS, HALVES, Trial, spread_out
from adjudge.audit.halves import random_halves, unnamed_note
from adjudge.core.comparisons import NOBODY, comparisons
from adjudge.core.maths import student_quantile
from adjudge.core.rng import generator
from adjudge.evidence.verdict import FEWEST_ANNOTATORS
from adjudge.rank import bradley_terry, ratios
from adjudge.rank.connected_groups import check_connected, groups_that_met
from adjudge.rank.counts import labelling_annotators
from adjudge.rank.relative import check_comparable
from adjudge.rank.resampling_units import Units, people_counts, units_of
from adjudge.rank.significance import difference_spread, resampling_tests, separation
from adjudge.rank.strengths import ComparedStrengths, compare_strengths
from adjudge.rank.tastes import refit
from adjudge.results.audit.claims import Claims

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from adjudge.audit.settings import AuditSettings
    from adjudge.core.comparisons import Comparisons
    from adjudge.core.judgments import Judgments
    from adjudge.rank.counts import Tally

LEVEL = 0.05
RESAMPLES = 1000
MOST_LEFT_OUT = 60
_STREAM = 34


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

    claims = better_claims(whole.evidence(), LEVEL, tried)
    audits = tuple(dict.fromkeys(trial.family for trial in trials))
    return Claims(
        method="bradley-terry",
        unit="log-odds of winning",
        kind="relative",
        level=LEVEL,
        margin=None,
        claims=claims,
        audits=audits,
        humans=tuple(name for name, human in zip(compared.systems, compared.human, strict=True) if human),
        annotators=_named_annotators(compared),
        notes=unnamed_note(whole.units.unnamed, "comparison") if trials else (),
    )


def _named_annotators(compared: Comparisons) -> int | None:
    """How many people judged; None where some are not named."""
    names = [compared.annotators[code] for code in labelling_annotators(compared)]
    return None if NOBODY in names else len(names)


class _Estimated:
    """Strengths with the errors of their differences: by tastes, or by resampled blocks of one annotator."""

    def __init__(self, compared: Comparisons, seed: int) -> None:
        self.compared = compared
        self.units: Units = units_of(compared)
        self.tally = self.units.total()
        self.by_tastes = compare_strengths(self.units, compared) if self.units.kind == "annotators" else None
        self.apart = separation(self.tally.wins)
        if self.by_tastes is None:
            self._resample(seed)
        else:
            self._take(self.by_tastes)

    def _take(self, strengths: ComparedStrengths) -> None:
        pairs = strengths.pairs
        self.scores, self.df, self.two_sided = strengths.fit.strength, pairs.df, pairs.two_sided
        # An error that gives the p-value which also counts unanimous and contradicted leads.
        differ = np.abs(pairs.t) > 0
        self.se = np.where(differ, np.abs(pairs.difference) / np.where(differ, np.abs(pairs.t), 1.0), pairs.se)
        self.least_p = np.where(differ, 0.0, 1.0)

    def _resample(self, seed: int) -> None:
        self.scores = bradley_terry.scores(self.tally)
        drawn = self.units.resampled(RESAMPLES, generator(seed))
        resampled = np.concatenate([bradley_terry.scores(resample) for resample in drawn])
        self.se = difference_spread(resampled, self.units.number)
        self.df = np.full_like(self.se, max(self.units.number - 1, 1))
        self.two_sided = resampling_tests(self.scores, self.se, self.units.number, self.tally.wins).two_sided
        self.least_p = self.apart.p

    @property
    def difference(self) -> NDArray[np.float64]:
        """Differences of strengths; NaN between systems that have nothing to do with each other."""
        return _differences(self.scores, self.tally)

    def evidence(self) -> Evidence:
        difference = self.difference
        half = self.se * student_quantile(LEVEL / 2, self.df)
        # The size of a lead that no judgment contradicts is the prior's; an interval would be made up.
        half[self.apart.leads | self.apart.leads.T] = np.nan
        systems, human = self.units.systems, self.units.human
        return Evidence(systems, human, self.scores, difference, difference - half, difference + half, self.two_sided)


def _differences(scores: NDArray[np.float64], tally: Tally) -> NDArray[np.float64]:
    group = groups_that_met(tally)
    return np.where(group[:, None] == group[None, :], scores[:, None] - scores[None, :], np.nan)


def _trials(whole: _Estimated, seed: int) -> Iterator[Trial]:
    yield from _halves(whole, seed)
    compared = whole.compared
    order = np.argsort(-whole.scores)
    everyone = np.arange(len(order))
    left_out = [("without the best system", everyone == order[0]), ("without the worst system", everyone == order[-1])]
    if compared.human.any():
        left_out.insert(0, ("without the reference", compared.human))
    for name, gone in left_out:
        part = compared.without(gone)
        if len(part):
            yield _again(name, _Estimated(part, seed), gone)
    others = (("order by expected wins", ratios.expected_wins), ("order by wins without ties", ratios.wins_no_ties))
    for name, method in others:
        score = method(whole.tally)
        yield Trial(name, name, score[:, None] - score[None, :])
    yield from _annotators_left_out(whole)


def _halves(whole: _Estimated, seed: int) -> Iterator[Trial]:
    """Both halves of the annotators, in several random divisions."""
    annotators = labelling_annotators(whole.compared.of_named_annotators())
    if len(annotators) < FEWEST_ANNOTATORS:
        return
    for division in range(1, DIVISIONS + 1):
        halves = random_halves(np.arange(len(annotators)), generator(seed, _STREAM, division))
        for half, chosen in zip(("first", "second"), halves, strict=True):
            part = _Estimated(whole.compared.of_annotators(annotators[chosen]), seed)
            name = f"division {division} of the annotators, {half} half"
            yield Trial(name, HALVES, part.difference, part.se, part.df, part.least_p, adjusted=False)


def _again(name: str, part: _Estimated, gone: NDArray[np.bool_]) -> Trial:
    indices = [int(i) for i in np.flatnonzero(~gone)]
    numbers = (part.difference, part.se, part.df, part.least_p)
    difference, se, df, least_p = (spread_out(values, indices, len(gone)) for values in numbers)
    return Trial(name, name, difference, se, df, least_p)


def _annotators_left_out(whole: _Estimated) -> Iterator[Trial]:
    """Strengths without each annotator, the busiest first, at the taste and the errors of all."""
    if whole.by_tastes is None or whole.units.number < 3:
        return
    fit, people = whole.by_tastes.fit, people_counts(whole.units)
    judged = labelling_annotators(whole.compared)
    work = people.wins.sum((1, 2)) + people.ties.sum((1, 2)) / 2
    for person in np.argsort(-work, kind="stable")[:MOST_LEFT_OUT]:
        others = people.without(int(person))
        tally = whole.units.weighted((people.group != person).astype(float))
        difference = _differences(refit(others, fit.taste, fit.dispersion), tally)
        least_p = np.maximum(whole.least_p, separation(tally.wins).p)
        name = f"annotator {whole.compared.annotators[judged[np.argmax(people.group == person)]]} left out"
        yield Trial(name, "any annotator left out", difference, whole.se, whole.df, least_p)
