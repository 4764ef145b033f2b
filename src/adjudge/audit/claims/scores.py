"""Claims from scores: every statement by the mixed model, tried by the audits that other rankings fail.

Trials: both halves of the annotators in several random divisions; without the human systems, the best and the worst
system; the human's scores divided; scores instead of ranks; the direction of z-scores; every annotator and every
document left out in turn. Refits keep the variances of the full data, which makes them quick.

Parity: a system is no further from a human translation than a margin, by two one-sided tests. Each human translation is
compared by itself. A claim of parity never stands beside a significant difference that is larger than the margin.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from adjudge.audit.claims.make_claims import Evidence, above_zero, better_claims, verdict
from adjudge.audit.claims.trials import DIVISIONS, HALVES, Trial, TrialOutcome, spread_out, try_claim
from adjudge.audit.halves import named_annotators, random_halves, unnamed_note
from adjudge.audit.margins import margin_in_points
from adjudge.core.comparisons import NOBODY
from adjudge.core.errors import DataError
from adjudge.core.rng import generator
from adjudge.core.score_sheet import item_means, sheet_of, standardised
from adjudge.evidence.verdict import FEWEST_ANNOTATORS, claim_parity
from adjudge.rank.contrasts import contrasts, equivalence
from adjudge.rank.lines_and_rank_sets import holm
from adjudge.rank.mixed import design_from
from adjudge.rank.mixed.design import levels_of
from adjudge.rank.mixed.rows import rows_of_the_model
from adjudge.rank.mixed.shared_fits import fit_to_part, model_of
from adjudge.results.audit.claims import Claim, Claims
from adjudge.work import map_tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import polars as pl

    from adjudge.audit.settings import AuditSettings
    from adjudge.core.arrays import Bools, Codes
    from adjudge.core.judgments import Judgments
    from adjudge.rank.contrasts import Contrasts, Equivalence
    from adjudge.rank.mixed import MixedDesign, MixedFit, Prepared
    from adjudge.rank.mixed.known_ratios.model import KnownModel
    from adjudge.rank.mixed.shared_fits import Refit, Unit

LEVEL = 0.05
DIVISORS = (2.0, 10.0)
# Leaving out one at a time is done for so many annotators and documents, those with the most judgments.
MOST_LEFT_OUT = 60
FEWEST_TO_LEAVE_OUT = 3
UNITS: tuple[Unit, ...] = ("annotator", "document")
_STREAM = 34
Pair = tuple[int, int]


def section(judgments: Judgments, settings: AuditSettings) -> Claims:
    """Make every claim and put it to the trials."""
    design = design_from(judgments)
    annotator = named_annotators(judgments, design)
    unnamed = 0 if annotator is None else int((annotator < 0).sum())
    model = _Model(design, rows_of_the_model(judgments).table, annotator)
    trials: list[Trial] = []

    def tried() -> list[Trial]:
        # Made once, and only if some claim is supported.
        if not trials:
            trials.extend([*model.trials(settings.seed), _zscore_trial(judgments, model.systems)])
        return trials

    evidence = model.evidence()
    claims = better_claims(evidence, LEVEL, tried)
    margin = margin_in_points(settings.margin, model.design.as_given)
    parity = () if margin is None else parity_claims(model.compared, evidence, margin, LEVEL, tried)
    return Claims(
        method="mixed",
        unit="points",
        level=LEVEL,
        margin=margin if parity else None,
        claims=(*parity, *claims),
        audits=tuple(dict.fromkeys(trial.family for trial in trials)),
        humans=tuple(name for name, human in zip(model.systems, model.design.human, strict=True) if human),
        annotators=None if annotator is None or unnamed else levels_of(annotator),
        notes=(*model.model.left_out_notes, *unnamed_note(unnamed, "score")) if trials else (),
    )


@dataclass(frozen=True, eq=False)
class _Part:
    """Rows that a trial is made on."""

    name: str
    family: str
    rows: Bools


def _fit_to_part(prepared: Prepared, fitted: MixedFit, known: KnownModel | None, rows: Bools) -> Refit | None:
    """The fit to some of the rows; None where they cannot be compared any more: that is not the claim's fault."""
    try:
        return fit_to_part(prepared, fitted, known, rows)
    except DataError:
        return None


class _Model:
    """The fitted model of all data, and its refits."""

    def __init__(self, design: MixedDesign, table: pl.DataFrame, annotator: Codes | None) -> None:
        self.design = design
        self.table = table
        self.annotator = annotator
        """Of every row, -1 where it names none; None where nobody is named."""
        self.model = model_of(design)
        self.prepared, self.fitted = self.model.prepared, self.model.fitted
        self.compared = contrasts(self.fitted.effects, self.fitted.covariance, self.fitted.df)
        self.systems = design.systems

    def evidence(self) -> Evidence:
        low, high = self.compared.interval(LEVEL)
        effects, compared = self.fitted.effects, self.compared
        return Evidence(self.systems, self.design.human, effects, compared.difference, low, high, compared.two_sided)

    def trials(self, seed: int) -> Iterator[Trial]:
        """Every trial that makes sense for these data."""
        yield from self._parts([*self._halves(seed), *self._without_systems()])
        for unit in UNITS:
            yield from self._one_by_one(unit)
        human = self.design.human[self.design.system]
        for divisor in DIVISORS if human.any() and not human.all() else ():
            divided = self.design.with_scores(np.where(human, self.design.as_given / divisor, self.design.as_given))
            with suppress(DataError):  # what is left cannot be compared any more: that is not the claim's fault
                divided.check()
                name = f"human divided by {divisor:g}"
                trial = self._trial(name, name, self.prepared.refit(divided.score, self.fitted.ratios))
                # The human itself is worse now by design: the trial is about all others.
                yield trial.without(self.design.human)
        yield self._trial(
            "scores instead of ranks",
            "scores instead of ranks",
            model_of(self.design.with_model("mixed-points")).fitted,
        )

    def _parts(self, parts: Sequence[_Part]) -> Iterator[Trial]:
        """A trial on each part of the rows, at the variances of the whole."""
        fit = partial(_fit_to_part, self.prepared, self.fitted, self.model.known)
        fits = map_tasks(fit, [part.rows for part in parts], what="parts of the data")
        for part, fitted in zip(parts, fits, strict=True):
            if fitted is not None:
                yield replace(self._trial(part.name, part.family, fitted), adjusted=part.family != HALVES)

    def _halves(self, seed: int) -> Iterator[_Part]:
        """Both halves of the annotators, in several random divisions."""
        if self.annotator is None or levels_of(self.annotator) < FEWEST_ANNOTATORS:
            return
        for division in range(1, DIVISIONS + 1):
            halves = random_halves(self.annotator, generator(seed, _STREAM, division))
            for half, rows in zip(("first", "second"), halves, strict=True):
                yield _Part(f"division {division} of the annotators, {half} half", HALVES, rows)

    def _without_systems(self) -> Iterator[_Part]:
        """What is left without some of the systems."""
        design, order = self.design, np.argsort(-self.fitted.effects)
        human = design.human[design.system]
        if human.any() and (~design.human).sum() > 1:
            yield _Part("without the human", "without the human", ~human)
        if len(self.systems) > 2:
            for name, system in (("best", order[0]), ("worst", order[-1])):
                yield _Part(f"without the {name} system", f"without the {name} system", design.system != system)

    def _one_by_one(self, unit: Unit) -> Iterator[Trial]:
        """A trial without each annotator or document, those with the most judgments first."""
        codes = self.model.codes(unit)
        if codes is None or levels_of(codes) < FEWEST_TO_LEAVE_OUT:
            return
        chosen = np.argsort(-np.bincount(codes), kind="stable")[:MOST_LEFT_OUT]
        first = np.unique(codes, return_index=True)[1]
        names = self.table[unit]
        for code, fitted in zip(chosen, self.model.leave_out(unit, chosen), strict=True):
            if fitted is not None:
                name = f"{unit} {names[int(first[code])] or (NOBODY if unit == 'annotator' else code + 1)} left out"
                yield self._trial(name, f"any {unit} left out", fitted)

    def _trial(self, name: str, family: str, fitted: Refit) -> Trial:
        compared = contrasts(fitted.effects, fitted.covariance, fitted.df)
        indices = [self.systems.index(system) for system in fitted.systems]
        parts = (compared.difference, compared.se, compared.df)
        difference, se, df = (spread_out(part, indices, len(self.systems)) for part in parts)
        return Trial(name, family, difference, se, df)


def _zscore_trial(judgments: Judgments, systems: tuple[str, ...]) -> Trial:
    """The direction of the customary ranking."""
    sheet = sheet_of(judgments)
    means = item_means(standardised(sheet)).system_means(len(sheet.systems))
    score = np.array([means[sheet.systems.index(name)] if name in sheet.systems else np.nan for name in systems])
    return Trial("order by z-scores", "order by z-scores", score[:, None] - score[None, :])


def parity_claims(
    compared: Contrasts, evidence: Evidence, margin: float, level: float, trials: Callable[[], list[Trial]]
) -> tuple[Claim, ...]:
    """One claim for every system and every human translation.

    Args:
        compared: differences in points, the unit of the margin.
        evidence: what the claims of differences rest on.
        margin: in points.
        level: of the tests, which Holm corrects together.
        trials: made only if some claim is supported.
    """
    humans = np.flatnonzero(evidence.human)
    pairs = [(int(system), int(human)) for human in humans for system in np.flatnonzero(~evidence.human)]
    tests = [equivalence(compared, *pair, margin=margin, level=level) for pair in pairs]
    corrected = holm(np.array([test.p for test in tests]))
    apart = {pair for pair, p in evidence.adjusted().items() if p < level and evidence.difference[pair] > margin}
    supported = [pair for pair, p in zip(pairs, corrected, strict=True) if p < level and not {pair, pair[::-1]} & apart]
    outcomes = _outcomes(trials() if supported else [], supported, pairs, margin, level)
    return tuple(
        _claim(evidence, pair, test, float(p), outcomes.get(pair))
        for pair, test, p in zip(pairs, tests, corrected, strict=True)
    )


def _outcomes(
    trials: list[Trial], supported: list[Pair], pairs: list[Pair], margin: float, level: float
) -> dict[Pair, TrialOutcome]:
    """Which trials each supported claim survives, and which break it."""
    outcomes = {}
    # Where only the order counts, nothing is said of equivalence.
    tested = {trial: trial.equivalence(pairs, margin) for trial in trials if trial.se is not None}
    for pair in supported:
        standing = {trial: p[pair] < level for trial, p in tested.items() if pair in p}
        outcomes[pair] = try_claim(list(tested), pair, standing.__getitem__)
    return outcomes


def _claim(evidence: Evidence, pair: Pair, test: Equivalence, p: float, tried: TrialOutcome | None) -> Claim:
    system, human = (evidence.systems[index] for index in pair)
    survives, broken, fails = tried or TrialOutcome()
    return Claim(
        claim=claim_parity(system, human),
        kind="parity",
        systems=(system, human),
        estimate=test.difference,
        interval=(test.low, test.high),
        p_holm=above_zero(p),
        survives=survives,
        broken_by=broken,
        verdict=verdict(supported=tried is not None, broken=broken),
        fails=fails,
        p=above_zero(test.p),
    )
