"""Estimators make an `Estimate` of all judgments, of some of them, or of all but one annotator, document or segment.

There are two. `ScoreEstimator` asks the mixed model of scores, `RelativeEstimator` the strengths of Bradley-Terry with
annotators' tastes. Audits and parity know nothing else of how a model is fitted. Estimates without a unit keep the
variances, or the taste, of the whole data, which makes them quick and comparable. So do parts of scores; a part of
relative judgments is estimated by itself.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
import polars as pl

from adjudge.mixed.components import Cause
from adjudge.mixed.design import DEFAULT_MODEL, MixedDesign, combine, design_from, levels_of
from adjudge.mixed.fit import MixedFit, prepare
from adjudge.mixed.model import Model, Refit, model_of
from adjudge.ranking import bradley_terry
from adjudge.ranking.accounts import account_notes, suspected_accounts, widen_part
from adjudge.ranking.counts import (
    PeopleCounts,
    annotator_units,
    count_people,
    group_of,
    labelling_annotators,
    people_counts,
    person_of,
    units_of,
)
from adjudge.ranking.decisions import DRAWS, PairDecisions, Reading, decide_by_both
from adjudge.ranking.estimate import Estimate
from adjudge.ranking.lines import check_connected, groups_that_met
from adjudge.ranking.methods import METHODS
from adjudge.ranking.relative import check_comparable
from adjudge.ranking.significance import difference_spread, resampling_tests, separation
from adjudge.ranking.tastes import ComparedStrengths, compare_people, fit_tastes, predicted_tastes, refit
from adjudge.table.comparisons import NOBODY, Comparisons, comparisons, segment_keys
from adjudge.table.errors import DataError
from adjudge.table.judgments import Judgments, renumber
from adjudge.table.maths import Bools, Codes, Contrasts, Floats, divide, student_tail, with_errors
from adjudge.table.protocols import RELATIVE, SCORED
from adjudge.table.rng import DEFAULT_SEED, generator
from adjudge.table.score_sheet import sheet_of, standardised

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adjudge.ranking.counts import Tally
    from adjudge.ranking.counts import Units as ResamplingUnits

UnitKind = Literal["annotator", "document", "segment"]
LEVEL = 0.05
RESAMPLES = 1000
"""Resamples behind the errors where one annotator judged everything."""


@dataclass(frozen=True, eq=False)
class Units:
    """What can be left out as a whole: annotators, documents or source segments."""

    kind: UnitKind
    codes: Codes
    """The unit of every judgment."""
    names: tuple[str | None, ...]
    """By code; None where the data do not name it."""

    @property
    def work(self) -> Codes:
        """How many judgments each unit has."""
        return np.bincount(self.codes, minlength=len(self.names))

    @property
    def number(self) -> int:
        """How many units have judgments."""
        return int((self.work > 0).sum())

    def busiest(self, most: int | None = None) -> Codes:
        """The units with the most judgments, these first."""
        return np.argsort(-self.work, kind="stable")[: self.number][:most]


@dataclass(frozen=True, eq=False)
class Part:
    """The judgments of some people, or of some systems."""

    people: Bools | None = None
    """Which of the named annotators."""
    systems: Bools | None = None
    """Which of the systems."""


class Estimator(Protocol):
    """Answers what audits ask of the judgments of one language pair and campaign."""

    @property
    def kind(self) -> Literal["scores", "relative"]:
        """What the judgments are."""

    @property
    def judgment(self) -> str:
        """What one judgment is called."""

    @property
    def methods(self) -> tuple[str, ...]:
        """The ranking methods whose orders `scores_of` knows."""

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems, by name."""

    @property
    def human(self) -> Bools:
        """Which of them are human translations."""

    @property
    def people(self) -> int:
        """How many annotators are named."""

    @property
    def unnamed(self) -> int:
        """How many judgments name no annotator."""

    @property
    def annotators(self) -> int | None:
        """How many people judged; None where some are not named."""

    @property
    def estimate(self) -> Estimate:
        """The estimate of all judgments."""

    @property
    def baseline(self) -> Estimate:
        """What estimates without a unit are compared with: the whole, its pairs judged as these judge them."""

    @property
    def units(self) -> tuple[Units, ...]:
        """What can be left out in turn."""

    @property
    def trial_units(self) -> tuple[Units, ...]:
        """What claims are tried without."""

    @property
    def left_out_notes(self) -> tuple[str, ...]:
        """What must be said with estimates without a unit."""

    def decide(self, level: float, *, seed: int = DEFAULT_SEED, draws: int = DRAWS) -> PairDecisions:
        """Decide all pairs of systems at a family-wise level."""

    def parts(self, parts: Sequence[Part]) -> list[Estimate | None]:
        """The estimate of each part; None where it cannot be compared."""

    def without_each(self, units: Units, codes: Codes) -> list[Estimate | None]:
        """The estimate without each of these units; None where the rest cannot be ranked."""

    def scores_of(self, method: str, halves: Bools, rng: np.random.Generator) -> Floats:
        """The scores of all systems by one of `methods` from some of the people: (halves, systems).

        Args:
            method: a name from `methods`.
            halves: (halves, people), who is in each.
            rng: for methods that draw at random.
        """


def is_relative(judgments: Judgments) -> bool:
    """Whether there are relative judgments, which are ranked even where there are scores beside them."""
    return bool(set(judgments.protocols) & set(RELATIVE))


def estimator_of(judgments: Judgments, *, seed: int = DEFAULT_SEED) -> ScoreEstimator | RelativeEstimator:
    """The estimator for the kind of these judgments."""
    if is_relative(judgments):
        return RelativeEstimator(comparisons(judgments), judgments, seed=seed)
    return ScoreEstimator(judgments)


def reading_of(judgments: Judgments) -> Reading:
    """By which reading of scores pairs are decided: MQM's weights have a meaning of their own, so its points decide."""
    return "average" if set(judgments.protocols) & set(SCORED) == {"mqm"} else "typical"


def decide_scores(
    estimate: Estimate,
    other: Estimate | None,
    reading: Reading | None,
    *,
    level: float,
    seed: int = DEFAULT_SEED,
    draws: int = DRAWS,
) -> PairDecisions:
    """Decide all pairs by an estimate, where there is another reading of the scores only as far as it agrees."""
    decided = estimate.decide(level, seed=seed, draws=draws)
    if other is None or reading is None:
        return decided
    second, differences = other.decide(level, seed=seed, draws=draws), (estimate.difference, other.difference)
    return decide_by_both(decided, second, differences, reading)


def spread_by_texts(estimate: Estimate, model: Model) -> Estimate:
    """The estimate with errors at least as large as documents show (`Model.jackknife_se`)."""
    shown = model.jackknife_se()
    if shown is None:
        return estimate
    return replace(estimate, contrasts=with_errors(estimate.contrasts, np.fmax(estimate.contrasts.se, shown)))


class ScoreEstimator:
    """Scores, by the mixed model."""

    kind: Literal["scores"] = "scores"
    judgment = "score"
    methods = ("mixed", "mixed-rank", "zscore", "raw")

    def __init__(
        self,
        judgments: Judgments,
        design: MixedDesign | None = None,
        *,
        model: str = DEFAULT_MODEL,
        check: bool = True,
    ) -> None:
        self.judgments = judgments
        self.reading = reading_of(judgments) if design is None and model == DEFAULT_MODEL else None
        """What the design is of, and pairs are decided by, where typical and average scores must agree."""
        # Of two readings, the one that pairs are tested by; normal scores in their own unit.
        chosen = model if self.reading is None else "mixed-points" if self.reading == "average" else "mixed-rank"
        self.design = design_from(judgments, model=chosen) if design is None else design
        if check:
            self.design.check()
        self.systems, self.human = self.design.systems, self.design.human
        self.accounts = suspected_accounts(judgments)
        """Accounts that may be fewer people: every estimate is as wide as if they were."""

    @cached_property
    def _model(self) -> Model:
        return model_of(self.design)

    @cached_property
    def estimate(self) -> Estimate:
        """The estimate of all judgments."""
        return self.average if self.reading == "average" else self.estimate_of(self._model.fitted)

    @cached_property
    def average(self) -> Estimate:
        """The estimate in points: mean scores, with errors that cover documents on which a system fails."""
        model = model_of(self.design.with_model("mixed-points"))
        return spread_by_texts(self.estimate_of(model.fitted), model)

    @cached_property
    def typical(self) -> Estimate:
        """The estimate of normal scores: how each system's scores rank among all."""
        return self.estimate_of(model_of(self.design.with_model("mixed-rank")).fitted)

    def decide(self, level: float, *, seed: int = DEFAULT_SEED, draws: int = DRAWS) -> PairDecisions:
        """Decide all pairs; where scores have two readings, both must agree."""
        other = None if self.reading is None else self.average if self.reading == "typical" else self.typical
        return decide_scores(self.estimate, other, self.reading, level=level, seed=seed, draws=draws)

    @property
    def baseline(self) -> Estimate:
        """The same: without a unit, pairs are tested as with it."""
        return self.estimate

    def in_points(self) -> ScoreEstimator:
        """The estimator of the scores themselves."""
        return ScoreEstimator(self.judgments, self.design.with_model("mixed-points"), check=False)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known of the model."""
        return (*self.account_notes(self.decide(LEVEL)), *self._model.fitted.notes)

    def account_notes(self, decisions: PairDecisions) -> tuple[str, ...]:
        """That accounts were taken for fewer people, and what would be decided otherwise."""
        if self.accounts is None:
            return ()
        name = DEFAULT_MODEL if self.reading else self.design.model.name
        plain = ScoreEstimator(replace(self.judgments, people=True), model=name)
        n = len(self.systems)
        otherwise = plain.decide(decisions.level).number
        return tuple(account_notes(self.accounts, decisions.number, otherwise, n * (n - 1) // 2))

    @property
    def left_out_notes(self) -> tuple[str, ...]:
        """What must be said with estimates without a unit."""
        return self._model.left_out_notes

    def estimate_of(self, fitted: Refit) -> Estimate:
        """The estimate of a fit."""
        human = self.human[[self.systems.index(name) for name in fitted.systems]]
        fitted = widen_part(fitted, self._model.fitted, self.accounts)
        return Estimate.of_effects(fitted.systems, human, fitted.effects, fitted.covariance, fitted.df)

    @cached_property
    def annotator(self) -> Codes | None:
        """The annotator of every score, from 0 on, and -1 for none; None where nobody is named."""
        if self.design.annotator is None:
            return None
        named = self._column("annotator").is_not_null().to_numpy()
        annotator = np.full(len(self.design), -1, dtype=np.int64)
        annotator[named] = renumber(self.design.annotator[named])
        return annotator

    @property
    def people(self) -> int:
        """How many annotators are named."""
        return 0 if self.annotator is None else levels_of(self.annotator)

    @property
    def unnamed(self) -> int:
        """How many judgments name no annotator."""
        return 0 if self.annotator is None else int((self.annotator < 0).sum())

    @property
    def annotators(self) -> int | None:
        """How many people judged; None where some are not named."""
        return None if self.annotator is None or self.unnamed else self.people

    def of_named_annotators(self) -> ScoreEstimator:
        """The scores that name an annotator; all of them where nobody is named."""
        if self.annotator is None or not self.unnamed:
            return self
        return ScoreEstimator(self.judgments, self.design.subset(self.annotator >= 0))

    def _column(self, name: str) -> pl.Series:
        return self.judgments.final().table[name].gather(self.design.row)

    @cached_property
    def units(self) -> tuple[Units, ...]:
        """Annotators and documents, as far as the data know them."""
        kinds: tuple[Literal["annotator", "document"], ...] = ("annotator", "document")
        units = []
        for kind in kinds:
            codes = self._model.codes(kind)
            if codes is not None:
                first = np.unique(codes, return_index=True)[1]
                units.append(Units(kind, codes, tuple(self._column(kind).gather(first).to_list())))
        return tuple(units)

    @property
    def trial_units(self) -> tuple[Units, ...]:
        """The same: claims are tried without each of them."""
        return self.units

    def parts(self, parts: Sequence[Part]) -> list[Estimate | None]:
        """The estimate of each part, at the variances of the whole; None where it cannot be compared."""
        fits = self._model.parts([self._rows(part) for part in parts])
        return [None if fitted is None else self.estimate_of(fitted) for fitted in fits]

    def _rows(self, part: Part) -> Bools:
        rows = np.ones(len(self.design), dtype=bool)
        if part.people is not None and self.annotator is not None:
            # The last place is for scores without an annotator, whose code is -1.
            rows &= np.append(part.people, False)[self.annotator]
        if part.systems is not None:
            rows &= part.systems[self.design.system]
        return rows

    def without_each(self, units: Units, codes: Codes) -> list[Estimate | None]:
        """The estimate without each of these units, at the variances of the whole."""
        if units.kind == "segment":
            raise ValueError(units.kind)
        fits = self._model.leave_out(units.kind, codes)
        return [None if fitted is None else self.estimate_of(fitted) for fitted in fits]

    def with_scores(self, score: Floats) -> Estimate | None:
        """The estimate as if these scores had been given, at the variances of the whole; None if it has none."""
        design = self.design.with_scores(score)
        with suppress(DataError):
            design.check()
            return self.estimate_of(self._model.prepared.refit(design.score, self._model.fitted.ratios))
        return None

    def scores_of(self, method: str, halves: Bools, rng: np.random.Generator) -> Floats:  # noqa: ARG002
        """By the model at the variances of the whole, or the customary means over segments; nothing is drawn."""
        rows = [self._rows(Part(people=half)) for half in halves]
        if method in ("mixed", "mixed-rank"):
            # The two are fitted to the same normal scores in different units, which no order depends on.
            return np.array(self._model.effects_of_parts(rows, what="halves of the annotators"))
        value = self.design.as_given if method == "raw" else self.z
        return np.array([self._means(np.where(half, value, np.nan)) for half in rows])

    def _means(self, value: Floats) -> Floats:
        """The customary score: the mean over segments of the means within them."""
        mean, system = self.segment_means(value, self.design.system)
        count = np.bincount(system, minlength=len(self.systems))
        return divide(np.bincount(system, mean, minlength=len(self.systems)), count)

    def segment_means(self, value: Floats, owner: Codes) -> tuple[Floats, Codes]:
        """The means within segments of each owner (a system, or half of one), without NaN, and whose they are."""
        known = ~np.isnan(value)
        segment = np.arange(len(self.design)) if self.design.segment is None else self.design.segment
        item = combine(owner[known], segment[known])
        item_owner = np.empty(levels_of(item), dtype=np.int64)
        item_owner[item] = owner[known]
        return np.bincount(item, value[known]) / np.bincount(item), item_owner

    @cached_property
    def z(self) -> Floats:
        """The z-score of every score; NaN where there is none."""
        table = self.judgments.final().table
        scored = table.select(pl.col("protocol").is_in(SCORED) & pl.col("score").is_not_null()).to_series()
        z = np.full(table.height, np.nan)
        z[scored.fill_null(value=False).to_numpy()] = standardised(sheet_of(self.judgments)).score
        return z[self.design.row]

    def pages(self) -> Codes | None:
        """All that one annotator judged of one system's translation of one document; None where it is not known."""
        design = self.design
        if design.annotator is not None and design.document is not None:
            return combine(design.annotator, design.system, design.document)
        return design.page

    def annotators_by_system(self) -> Codes | None:
        """All that one annotator judged of one system; None where nobody is named."""
        return None if self.design.annotator is None else combine(self.design.annotator, self.design.system)

    def p_of_halves(self, half: Codes, systems: Codes) -> Floats:
        """The p-value that the two halves of each of these systems differ; `half` is 0 or 1 for every score."""
        return self._model.p_of_halves(half, systems)


@dataclass(frozen=True, eq=False)
class CellFit:
    """The mixed model with an effect for every system in every subset that it was judged in."""

    owner: Codes
    """The system of each effect."""
    level: Codes
    """Its subset."""
    fit: MixedFit
    n: Codes
    """How many scores each effect has."""

    @property
    def of_one_page(self) -> bool:
        """Whether pages are left out of the model because every system has one in each subset."""
        return any(
            left.effect == "page" and left.cause in (Cause.ONE_LEVEL, Cause.SYSTEMS) for left in self.fit.left_out
        )


def fit_cells(design: MixedDesign, level: Codes, names: Sequence[str]) -> CellFit:
    """Fit an effect for every system in every subset; `level` is the subset of each score, `names` are theirs."""
    cells, system = np.unique(design.system * len(names) + level, return_inverse=True)
    owner, of_cell = cells // len(names), cells % len(names)
    labels = tuple(f"{design.systems[s]} ({names[k]})" for s, k in zip(owner, of_cell, strict=True))
    fitted = prepare(design.with_systems(system, labels, design.human[owner])).fit()
    return CellFit(owner, of_cell, fitted, np.bincount(system, minlength=len(cells)))


class RelativeEstimator:
    """Rankings and pairs, by Bradley-Terry with tastes; by resampled texts or blocks where one annotator judged all."""

    kind: Literal["relative"] = "relative"
    judgment = "comparison"
    left_out_notes: tuple[str, ...] = ()
    methods = tuple(name for name, method in METHODS.items() if method.judgments == "relative")

    def __init__(
        self,
        compared: Comparisons,
        judgments: Judgments | None = None,
        *,
        seed: int = DEFAULT_SEED,
        check: bool = True,
    ) -> None:
        if check:
            check_comparable(compared)
        self.compared, self.judgments, self.seed = compared, judgments, seed
        self.systems, self.human = compared.systems, compared.human

    @cached_property
    def _whole(self) -> _Strengths:
        return _Strengths(self.compared, self.seed)

    @property
    def tally(self) -> Tally:
        """Wins and ties of all comparisons."""
        return self._whole.tally

    @property
    def by_tastes(self) -> bool:
        """Whether two annotators or more judged, so that their tastes can be told from quality."""
        return self._whole.units.kind == "annotators"

    @cached_property
    def estimate(self) -> Estimate:
        """The estimate of all judgments."""
        check_connected(self.tally)
        return self._whole.estimate

    def decide(self, level: float, *, seed: int = DEFAULT_SEED, draws: int = DRAWS) -> PairDecisions:
        """Decide all pairs of systems at a family-wise level."""
        return self.estimate.decide(level, seed=seed, draws=draws)

    @cached_property
    def baseline(self) -> Estimate:
        """The strengths with unanimous leads counted by their size, as without a unit."""
        return self._moved(self.estimate.effects, self.tally)

    @cached_property
    def _named(self) -> Comparisons:
        return self.compared.of_named_annotators()

    @cached_property
    def people(self) -> int:
        """How many annotators are named."""
        return len(labelling_annotators(self._named))

    @property
    def unnamed(self) -> int:
        """How many judgments name no annotator."""
        return len(self.compared) - len(self._named)

    @property
    def annotators(self) -> int | None:
        """How many people judged; None where some are not named."""
        names = [self.compared.annotators[code] for code in labelling_annotators(self.compared)]
        return None if NOBODY in names else len(names)

    @cached_property
    def segment_names(self) -> tuple[str, ...]:
        """Document and segment of every source segment, by its code in comparisons; numbers where none is known."""
        if self.judgments is None:
            return tuple(str(code) for code in range(int(self.compared.segment.max()) + 1))
        keys = segment_keys(self.judgments).select("document", "segment")
        return tuple(" ".join(str(part) for part in row if part is not None) or NOBODY for row in keys.iter_rows())

    @cached_property
    def _person(self) -> Codes:
        return person_of(self.compared)

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(self.compared.annotators[code] for code in labelling_annotators(self.compared))

    @cached_property
    def units(self) -> tuple[Units, ...]:
        """Annotators and source segments."""
        segments = Units("segment", self.compared.segment.astype(np.int64), self.segment_names)
        return Units("annotator", self._person, self._names), segments

    @cached_property
    def trial_units(self) -> tuple[Units, ...]:
        """Annotators; very many are left out in the groups in which they are counted, named by the first of each."""
        if not self.by_tastes:
            return ()
        group = self._whole.counts.group
        names = tuple(self._names[first] for first in np.unique(group, return_index=True)[1])
        return (Units("annotator", group[self._person], names),)

    def parts(self, parts: Sequence[Part]) -> list[Estimate | None]:
        """The estimate of each part by itself; None where nothing is compared in it."""
        return [self._part(part) for part in parts]

    def _part(self, part: Part) -> Estimate | None:
        compared = self.compared if part.systems is None else self.compared.without(~part.systems)
        if part.people is not None:
            compared = compared.of_annotators(labelling_annotators(self._named)[part.people])
        return _Strengths(compared, self.seed).estimate if len(compared) else None

    def without_each(self, units: Units, codes: Codes) -> list[Estimate | None]:
        """The strengths without each of these units, at the taste and the errors of the whole."""
        return [self._without(units.codes == code) for code in codes]

    def _without(self, gone: Bools) -> Estimate:
        counts, fit = self._whole.counts, self._whole.strengths.fit
        part = self.compared.keep(gone, np.zeros(len(self.compared.label_rank), dtype=bool))
        left = _less(counts, count_people(part, self._person[gone], counts.group))
        tally = replace(self.tally, wins=left.wins.sum(0), ties=left.ties.sum(0))
        if fit.weights is not None:
            left = _less(self._weighed, count_people(part, self._person[gone], counts.group, weights=fit.weights[gone]))
        moved = refit(left, fit.taste, fit.errors) - self._refitted
        return self._moved(self.estimate.effects + moved, tally)

    @cached_property
    def _weighed(self) -> PeopleCounts:
        """Counts by annotator in which comparisons of texts that others judged too count for less."""
        counts, weights = self._whole.counts, self._whole.strengths.fit.weights
        return counts if weights is None else count_people(self.compared, self._person, counts.group, weights=weights)

    @cached_property
    def _refitted(self) -> Floats:
        """The strengths of all judgments by these counts, from which those without a unit are told."""
        fit = self._whole.strengths.fit
        return refit(self._weighed, fit.taste, fit.errors)

    def _moved(self, strength: Floats, tally: Tally) -> Estimate:
        """Other strengths at the errors of the whole; pairs of which it says nothing stay silent."""
        whole, strengths = self.estimate, self._whole.strengths
        pairs = strengths.pairs
        difference = strength[:, None] - strength[None, :]
        with np.errstate(divide="ignore", invalid="ignore"):
            t = difference / pairs.se
            p = 2 * student_tail(np.abs(difference) / pairs.se, pairs.df)
        p[strengths.contradicted | strengths.apart.unconnected] = 1.0
        moved = Contrasts(difference, pairs.se, pairs.df, t, np.where(difference >= 0, p / 2, 1 - p / 2), p)
        least_p = np.maximum(np.where(np.abs(pairs.t) > 0, 0.0, 1.0), separation(tally.wins).p)
        return replace(whole, effects=strength, contrasts=moved, unmet=_unmet(tally), least_p=least_p)

    def estimate_at(self, taste: float | None = None, weights: Floats | None = None) -> tuple[Estimate, float]:
        """The estimate at a known taste, or with comparisons weighed, and its taste."""
        counts = self._counts
        if weights is not None:
            counts = count_people(self.compared, self._person, counts.group, weights=weights)
        strengths = compare_people(counts, self.compared if weights is None else None, taste=taste)
        return _estimate_of(strengths, self.tally), strengths.fit.taste

    @cached_property
    def _counts(self) -> PeopleCounts:
        return count_people(self.compared, self._person, group_of(self.compared))

    def residuals(self, *, beyond_tastes: bool) -> tuple[Floats, Floats]:
        """What each comparison says beyond the strengths of the systems, and its variance given these.

        Args:
            beyond_tastes: whether what the annotator's taste explains is taken away, as far as it can be predicted.
        """
        people, compared = self._counts, self.compared
        plain = bradley_terry.fit(people.wins.sum(0), people.ties.sum(0))
        strength, taste = plain.strength, np.zeros((len(people.wins), len(self.systems)))
        if len(people.wins) > 1:
            fitted = fit_tastes(people, compared)
            strength = fitted.strength
            taste = predicted_tastes(people, fitted, float(plain.log_tie)) if beyond_tastes else taste
        mean, variance = bradley_terry.expectations(strength, float(plain.log_tie))
        first, second, person = compared.first, compared.second, people.group[self._person]
        weight = variance[first, second]
        liking = taste[person, first] - taste[person, second]
        return (compared.outcome + 1) / 2 - mean[first, second] - weight * liking, weight

    def strengths(self) -> tuple[Floats, Floats, Codes]:
        """The strength of every system, its error, and how often it met others.

        A system that met nobody has neither; errors need two annotators.
        """
        people = self._counts
        met = people.met().sum(1).astype(np.int64)
        if len(people.wins) > 1:
            fitted = fit_tastes(people, self.compared)
            strength, error = fitted.strength, fitted.system_errors()
        else:
            strength = bradley_terry.fit(people.wins.sum(0), people.ties.sum(0)).strength
            error = np.full(len(met), np.nan)
        return np.where(met > 0, strength, np.nan), np.where(met > 0, error, np.nan), met

    @cached_property
    def _named_units(self) -> ResamplingUnits:
        return annotator_units(self._named)

    @cached_property
    def _named_fit(self) -> tuple[PeopleCounts, float, float]:
        people = people_counts(self._named_units)
        fitted = fit_tastes(people, self._named)
        if fitted.weights is not None:
            people = count_people(self._named, person_of(self._named), people.group, weights=fitted.weights)
        return people, fitted.taste, fitted.errors

    def scores_of(self, method: str, halves: Bools, rng: np.random.Generator) -> Floats:
        """By any method for relative judgments; strengths at the taste that all annotators show.

        NaN for a system that nobody in a half compared, and for the reference where the method leaves it out.
        """
        chosen = METHODS[method]
        if chosen.significance == "tastes":
            return self._strengths_of(halves)
        tallies = self._named_units.weighted(halves.astype(float))
        scores = np.full((len(tallies.wins), len(tallies.systems)), np.nan)
        if chosen.reference == "exclude":
            scores[:, ~tallies.human] = chosen.score(tallies.without(tallies.human), rng)
        else:
            scores[:] = chosen.score(tallies, rng)
        return np.where(tallies.met.sum(-1) > 0, scores, np.nan)

    def _strengths_of(self, halves: Bools) -> Floats:
        people, taste, errors = self._named_fit
        # Where very many annotators are taken together, a group goes where its first member goes.
        grouped = halves[:, np.unique(people.group, return_index=True)[1]]
        strengths = [refit(people.of(half), taste, errors) for half in grouped]
        met = [people.of(half).met().sum(-1) > 0 for half in grouped]
        return np.where(met, strengths, np.nan)

    def of_named_annotators(self) -> RelativeEstimator:
        """The comparisons that name an annotator."""
        return RelativeEstimator(self._named, self.judgments, seed=self.seed, check=False)

    def people_by_system(self) -> Bools:
        """Who judged which system: (annotators, systems)."""
        judged = np.zeros((len(self.compared.annotators), len(self.systems)), dtype=bool)
        judged[self.compared.annotator, self.compared.first] = True
        judged[self.compared.annotator, self.compared.second] = True
        return judged

    def halved(self, second_half: Bools) -> Comparisons:
        """The comparisons with systems 0, 1, ... for the first halves and n, n + 1, ... for the second ones.

        Args:
            second_half: (annotators, systems), whose judgments of a system are of its second half.
        """
        compared, n = self.compared, len(self.systems)
        label_annotator = compared.block_annotator[compared.label_block]
        first, second, label = (
            system + n * second_half[who, system]
            for who, system in (
                (compared.annotator, compared.first),
                (compared.annotator, compared.second),
                (label_annotator, compared.label_system),
            )
        )
        swapped = first > second
        return replace(
            compared,
            systems=(*(f"{name} A" for name in self.systems), *(f"{name} B" for name in self.systems)),
            human=np.tile(self.human, 2),
            first=np.where(swapped, second, first).astype(np.int32),
            second=np.where(swapped, first, second).astype(np.int32),
            outcome=np.where(swapped, -compared.outcome, compared.outcome).astype(np.int8),
            label_system=label.astype(np.int32),
        )

    def p_of_halves(
        self, second_half: Bools, resampled: Sequence[Callable[[Tally], Floats]], draws: int, rng: np.random.Generator
    ) -> list[Floats]:
        """The p-value that the two halves of each system differ; NaN where no comparison connects them.

        By strengths with tastes first, then by scores of resampled annotators, one test for each way to score.
        """
        compared, n = self.halved(second_half), len(self.systems)
        # Systems that are not split have no second half.
        present = np.union1d(compared.first, compared.second)
        gone = np.ones(2 * n, dtype=bool)
        gone[present] = False
        part = _Strengths(compared.without(gone), self.seed)
        index = np.full(2 * n, -1)
        index[present] = np.arange(len(present))
        first, second = index[:n], index[n:]
        connected = (first >= 0) & (second >= 0) & ~_unmet(part.tally)[first, second]
        p = [part.estimate.contrasts.two_sided, *(part.resampled_p(score, draws, rng) for score in resampled)]
        return [np.where(connected, values[first, second], np.nan) for values in p]


class _Strengths:
    """Strengths of some comparisons: by tastes, or with resampled texts or blocks of one annotator."""

    def __init__(self, compared: Comparisons, seed: int) -> None:
        self.compared, self.seed = compared, seed
        self.units = units_of(compared)
        self.tally = self.units.total()

    @cached_property
    def counts(self) -> PeopleCounts:
        """Wins and ties by annotator."""
        return people_counts(self.units)

    @cached_property
    def strengths(self) -> ComparedStrengths:
        """The fit with tastes."""
        return compare_people(self.counts, self.compared)

    @cached_property
    def estimate(self) -> Estimate:
        """The estimate of these comparisons."""
        if self.units.kind == "annotators":
            return _estimate_of(self.strengths, self.tally)
        return self._resampled()

    def resampled_p(self, score: Callable[[Tally], Floats], draws: int, rng: np.random.Generator) -> Floats:
        """The p-values of all pairs by scores of resampled annotators."""
        drawn = np.concatenate([score(resample) for resample in self.units.resampled(draws, rng)])
        usable = drawn[~np.isnan(drawn).any(axis=1)]
        number, tally = self.units.number, self.tally
        return resampling_tests(score(tally), difference_spread(usable, number), number, tally.wins).two_sided

    def _resampled(self) -> Estimate:
        number, tally = self.units.number, self.tally
        scores = bradley_terry.scores(tally)
        drawn = self.units.resampled(RESAMPLES, generator(self.seed))
        spread = difference_spread(np.concatenate([bradley_terry.scores(resample) for resample in drawn]), number)
        tests = resampling_tests(scores, spread, number, tally.wins)
        difference, df = scores[:, None] - scores[None, :], np.full_like(spread, max(number - 1, 1))
        pairs = Contrasts(difference, spread, df, divide(difference, spread), tests.greater, tests.two_sided)
        apart = separation(tally.wins)
        unopposed = apart.leads | apart.leads.T
        covariance = np.full_like(spread, np.nan)
        return Estimate(
            tally.systems, tally.human, scores, covariance, pairs, _unmet(tally), unopposed, least_p=apart.p
        )


def _less(counts: PeopleCounts, removed: PeopleCounts) -> PeopleCounts:
    """The counts without some of the comparisons; what rounding leaves of none is none."""
    wins, ties = (np.where(left > 1e-9, left, 0.0) for left in (counts.wins - removed.wins, counts.ties - removed.ties))
    return PeopleCounts(wins, ties, counts.group)


def _estimate_of(strengths: ComparedStrengths, tally: Tally) -> Estimate:
    """The estimate by a fit with tastes."""
    fit, pairs, apart = strengths.fit, strengths.pairs, strengths.apart
    # An error that gives the p-value which also counts unanimous and contradicted leads.
    differ = np.abs(pairs.t) > 0
    tested_se = np.where(differ, np.abs(pairs.difference) / np.where(differ, np.abs(pairs.t), 1.0), pairs.se)
    return Estimate(
        tally.systems,
        tally.human,
        fit.strength,
        fit.covariance,
        pairs,
        _unmet(tally),
        apart.leads | apart.leads.T,
        tested_se,
        np.where(differ, 0.0, 1.0),
    )


def _unmet(tally: Tally) -> Bools:
    """Pairs of systems that no chain of comparisons connects."""
    group = groups_that_met(tally)
    return np.asarray(group[:, None] != group[None, :])
