"""Claims: every statement of a ranking by its model, tried by the audits that other rankings fail.

Trials: both halves of the annotators in several random divisions; without the humans, the best and the worst system;
every annotator (of scores also every document) left out in turn; other ways to rank. Of scores these are the human's
scores divided, scores instead of ranks, and the direction of z-scores; of relative judgments the direction of expected
wins and of wins without ties. Estimates of parts keep the variances of the full data, which makes them quick.

Parity, of scores: a system is no further from a human translation than a margin, by two one-sided tests. Each human
translation is compared by itself. A claim of parity never stands beside a significant difference that is larger than
the margin.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from adjudge.audit.claims.make_claims import better_claims, parity_claims
from adjudge.audit.claims.trials import DIVISIONS, HALVES, Trial
from adjudge.audit.halves import random_halves, unnamed_note
from adjudge.audit.margins import margin_in_points
from adjudge.core.comparisons import NOBODY
from adjudge.core.rng import generator
from adjudge.core.score_sheet import item_means, sheet_of, standardised
from adjudge.rank import ratios
from adjudge.ranking.estimator import Part, RelativeEstimator, ScoreEstimator, estimator_of
from adjudge.evidence.verdict import FEWEST_ANNOTATORS
from adjudge.results.audit.claims import Claims

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjudge.audit.settings import AuditSettings
    from adjudge.core.arrays import Floats
    from adjudge.core.judgments import Judgments
    from adjudge.ranking.estimate import Estimate
    from adjudge.ranking.estimator import Estimator

LEVEL = 0.05
DIVISORS = (2.0, 10.0)
# Leaving out one at a time is done for so many annotators and documents, those with the most judgments.
MOST_LEFT_OUT = 60
FEWEST_TO_LEAVE_OUT = 3
_STREAM = 34


def section(judgments: Judgments, settings: AuditSettings) -> Claims:
    """Make every claim and put it to the trials."""
    estimator = estimator_of(judgments, seed=settings.seed)
    relative = estimator.kind == "relative"
    whole = estimator.estimate
    trials: list[Trial] = []

    def tried() -> list[Trial]:
        # Made once, and only if some claim is supported.
        if not trials:
            trials.extend(make_trials(estimator, settings.seed))
        return trials

    claims = better_claims(whole, LEVEL, tried)
    margin = None
    if isinstance(estimator, ScoreEstimator):
        margin = margin_in_points(settings.margin, estimator.design.as_given)
    parity = () if margin is None else parity_claims(whole, margin, LEVEL, tried)
    notes = (*estimator.left_out_notes, *unnamed_note(estimator.unnamed, estimator.judgment))
    return Claims(
        method="bradley-terry" if relative else "mixed",
        unit="log-odds of winning" if relative else "points",
        kind=estimator.kind,
        level=LEVEL,
        margin=margin if parity else None,
        claims=(*parity, *claims),
        audits=tuple(dict.fromkeys(trial.family for trial in trials)),
        humans=tuple(name for name, human in zip(whole.systems, whole.human, strict=True) if human),
        annotators=estimator.annotators,
        notes=notes if trials else (),
    )


def make_trials(estimator: ScoreEstimator | RelativeEstimator, seed: int) -> Iterator[Trial]:
    """Every trial that makes sense for these data."""
    yield from _halves(estimator, seed)
    yield from _without_systems(estimator)
    if isinstance(estimator, RelativeEstimator):
        for name, score in (("expected wins", ratios.expected_wins), ("wins without ties", ratios.wins_no_ties)):
            yield _order_trial(f"order by {name}", score(estimator.tally))
        yield from _one_by_one(estimator)
    else:
        yield from _one_by_one(estimator)
        yield from _other_scores(estimator)


def _halves(estimator: Estimator, seed: int) -> Iterator[Trial]:
    """Both halves of the annotators, in several random divisions; a half has half of the evidence."""
    if estimator.people < FEWEST_ANNOTATORS:
        return
    names, parts = [], []
    for division in range(1, DIVISIONS + 1):
        halves = random_halves(estimator.people, generator(seed, _STREAM, division))
        for half, people in zip(("first", "second"), halves, strict=True):
            names.append(f"division {division} of the annotators, {half} half")
            parts.append(Part(people=people))
    for name, part in zip(names, estimator.parts(parts), strict=True):
        if part is not None:
            yield replace(_trial(estimator, name, HALVES, part), adjusted=False)


def _without_systems(estimator: Estimator) -> Iterator[Trial]:
    """What is left without some of the systems."""
    order, everyone = np.argsort(-estimator.estimate.effects), np.arange(len(estimator.systems))
    gone = {"best system": everyone == order[0], "worst system": everyone == order[-1]}
    if estimator.human.any():
        gone = {"reference" if estimator.kind == "relative" else "human": estimator.human, **gone}
    left = {f"without the {name}": ~systems for name, systems in gone.items() if (~systems).sum() > 1}
    parts = estimator.parts([Part(systems=systems) for systems in left.values()])
    for name, part in zip(left, parts, strict=True):
        if part is not None:
            yield _trial(estimator, name, name, part)


def _one_by_one(estimator: Estimator) -> Iterator[Trial]:
    """A trial without each unit, those with the most judgments first."""
    for units in estimator.trial_units:
        if len(units.names) < FEWEST_TO_LEAVE_OUT:
            continue
        codes = units.busiest(MOST_LEFT_OUT)
        for code, left in zip(codes, estimator.without_each(units, codes), strict=True):
            if left is not None:
                name = units.names[code] or (NOBODY if units.kind == "annotator" else code + 1)
                yield _trial(estimator, f"{units.kind} {name} left out", f"any {units.kind} left out", left)


def _other_scores(estimator: ScoreEstimator) -> Iterator[Trial]:
    """The human's scores divided, the scores themselves instead of normal scores, and z-scores."""
    given, human = estimator.design.as_given, estimator.human[estimator.design.system]
    for divisor in DIVISORS if human.any() and not human.all() else ():
        divided = estimator.with_scores(np.where(human, given / divisor, given))
        # What cannot be compared any more is not the claim's fault.
        if divided is not None:
            name = f"human divided by {divisor:g}"
            # The human itself is worse now by design: the trial is about all others.
            yield _trial(estimator, name, name, divided).without(estimator.human)
    yield _trial(estimator, "scores instead of ranks", "scores instead of ranks", estimator.in_points())
    sheet = sheet_of(estimator.judgments)
    means = dict(zip(sheet.systems, item_means(standardised(sheet)).system_means(len(sheet.systems)), strict=True))
    yield _order_trial("order by z-scores", np.array([means.get(name, np.nan) for name in estimator.systems]))


def _order_trial(name: str, score: Floats) -> Trial:
    """A trial of the direction alone."""
    return Trial(name, name, score[:, None] - score[None, :])


def _trial(estimator: Estimator, name: str, family: str, estimate: Estimate) -> Trial:
    """The trial of an estimate, which may be of some of the systems: NaN for the others."""
    indices = [estimator.systems.index(system) for system in estimate.systems]
    n = len(estimator.systems)

    def spread(values: Floats) -> Floats:
        whole = np.full((n, n), np.nan)
        whole[np.ix_(indices, indices)] = values
        return whole

    least_p = None if estimate.least_p is None else spread(estimate.least_p)
    return Trial(name, family, spread(estimate.difference), spread(estimate.se), spread(estimate.df), least_p)
