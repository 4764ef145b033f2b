"""Ranking scores by a mixed model: `mixed`, the default for scores, and the others of `mixed.design.MODELS`."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from adjudge.mixed.design import DEFAULT_MODEL, MixedDesign, Screens, combine, design_from, levels_of, screens_of
from adjudge.mixed.effects import Cause, ScreenEffect
from adjudge.mixed.fit import MixedFit, PartFit, prepare
from adjudge.mixed.helpers import Helped, Matched, help_design, match
from adjudge.mixed.model import Model, Refit, model_of
from adjudge.ranking.decisions import DRAWS, PairDecisions, PairTests, Reading, decide_by_both, resampled_rank_sets
from adjudge.ranking.estimator import Estimate, Part, Units
from adjudge.ranking.ranking import Findings, Provenance, Ranking, assemble, provenance
from adjudge.ranking.relative import unnamed_people_note
from adjudge.ranking.significance import mann_whitney
from adjudge.ranking.tastes import draws
from adjudge.table.comparisons import NOBODY
from adjudge.table.errors import DataError, param
from adjudge.table.judgments import (
    FIRST_EDIT,
    LEFT_BLANK,
    Judgments,
    groups,
    in_words,
    list_blank,
    renumber,
    weights_note,
)
from adjudge.table.maths import (
    Bools,
    Codes,
    Floats,
    divide,
    memoised,
    student_quantile,
    student_tail,
    with_least_errors,
)
from adjudge.table.participants import ASK_FOR_MAP, AccountEvidence, suspected_accounts
from adjudge.table.protocols import EDITED, PROTOCOLS, RELATIVE, SCORED
from adjudge.table.rng import DEFAULT_SEED, generator
from adjudge.table.score_sheet import ItemMeans, Sheet, item_means, resampled_means, sheet_of, standardised
from adjudge.table.texts import edit_rate
from adjudge.table.wording import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adjudge.ranking.methods import Method, RankSettings
    from adjudge.readers.metric_scores import MetricScore


# The estimator of scores. They have two readings, typical and average, which must agree.

LEVEL = 0.05


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
    """The estimate with errors at least as large as texts show, and skewed as they are (`Model.jackknife`)."""
    shown = model.jackknife()
    if shown is None:
        return estimate
    pairs = with_least_errors(estimate.contrasts, shown.se, shown.lean)
    return replace(estimate, contrasts=pairs, least_errors=shown.from_mean)


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
        self.corrected: Screens | None = None
        """Screens whose places and company are taken out of the estimate of all judgments, where that is asked for."""

    @cached_property
    def _model(self) -> Model:
        return model_of(self.design)

    @cached_property
    def estimate(self) -> Estimate:
        """The estimate of all judgments."""
        return self.average if self.reading == "average" else self._estimate_whole(self._model)

    @cached_property
    def average(self) -> Estimate:
        """The estimate in points: mean scores, with errors that cover documents on which a system fails."""
        model = model_of(self.design.with_model("mixed-points"))
        return spread_by_texts(self._estimate_whole(model), model)

    @cached_property
    def typical(self) -> Estimate:
        """The estimate of normal scores: how each system's scores rank among all."""
        return self._estimate_whole(model_of(self.design.with_model("mixed-rank")))

    def _estimate_whole(self, model: Model) -> Estimate:
        if self.corrected is None:
            return self.estimate_of(model.fitted)
        from adjudge.mixed.screens import fit_screens

        found = fit_screens(model, self.corrected)
        return self.estimate_of(model.fitted if found is None else found.corrected(model.fitted))

    def decide(self, level: float, *, seed: int = DEFAULT_SEED, draws: int = DRAWS) -> PairDecisions:
        """Decide all pairs; where scores have two readings, both must agree."""
        return decide_scores(self.estimate, self.other, self.reading, level=level, seed=seed, draws=draws)

    @property
    def other(self) -> Estimate | None:
        """The reading that must agree with the one that pairs are decided by; None where there is one only."""
        if self.reading is None:
            return None
        return self.average if self.reading == "typical" else self.typical

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
        plain.corrected = self.corrected
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


# The cautious reading of scores by accounts: decided as if there were as few people as their times allow.
#
# If one person has F accounts, the model takes F copies of one taste for F independent ones, and the part of the
# covariance C that comes from tastes is too small by that factor. With the variance tau^2 of tastes,
#
#     C' = C + (F - 1) tau^2 dC/dtau^2,    df <= (fewest people - 1) (systems - 1)
#
# dC/dtau^2 is exact (`mixed.effects.ContrastDegrees`). Grouping accounts by guesses instead is not valid: on the design
# of ESA 2024 the groups are wrong often enough to call equal systems different.


def widen_mixed(fit: MixedFit, accounts: AccountEvidence | None) -> MixedFit:
    """The fit with the errors of as few people as there may be; the same fit if no accounts are suspected."""
    if accounts is None:
        return fit
    covariance, df = _widened(fit.covariance, fit.df, shared_tastes(fit), accounts)
    return replace(fit, covariance=covariance, df=df)


def widen_part(fit: Refit, whole: MixedFit, accounts: AccountEvidence | None) -> Refit:
    """The same for a fit to a part of the judgments, or without an annotator or document.

    A fit that does not know what tastes add to its errors takes that from the whole.
    """
    if accounts is None:
        return fit
    if isinstance(fit, MixedFit):
        return widen_mixed(fit, accounts)
    places = [whole.systems.index(name) for name in fit.systems]
    shared = shared_tastes(whole)[np.ix_(places, places)]
    return PartFit(fit.systems, fit.effects, *_widened(fit.covariance, fit.df, shared, accounts))


def shared_tastes(fit: MixedFit) -> Floats:
    """tau^2 dC/dtau^2: what tastes add to the covariance of the effects, in the unit of the scores."""
    of_tastes = fit.degrees.of_tastes
    if of_tastes is None:
        return np.zeros_like(fit.covariance)
    shared: Floats = of_tastes * fit.components[-1].sd ** 2
    return (shared + shared.T) / 2


def _widened(covariance: Floats, df: Floats, shared: Floats, accounts: AccountEvidence) -> tuple[Floats, Floats]:
    if accounts.fewest_people is None:
        return covariance, df
    most = max((accounts.fewest_people - 1) * (len(df) - 1), 1)
    return covariance + (accounts.factor - 1) * shared, np.where(np.isinf(df), df, np.minimum(df, most))


def account_notes(accounts: AccountEvidence, decided: int, otherwise: int, pairs: int) -> Iterator[str]:
    """Say that accounts were taken for fewer people, and what they decide taken for as many.

    Args:
        accounts: the evidence.
        decided: pairs that are decided by so few people.
        otherwise: pairs that would be decided if every account were a person.
        pairs: of systems.
    """
    instead = f"{otherwise} if every account were a person"
    yield _in_words(accounts, f": {decided} of {counted(pairs, 'pair')}, {instead}")


def account_note(judgments: Judgments) -> tuple[str, ...]:
    """Say that scores by accounts are taken for those of fewer people, without the pairs that this decides."""
    accounts = None if {*judgments.protocols} & {*RELATIVE} else suspected_accounts(judgments)
    return () if accounts is None else (_in_words(accounts, ""),)


def _in_words(accounts: AccountEvidence, decided: str) -> str:
    if accounts.fewest_people is None:
        return f"{accounts.in_words}. {ASK_FOR_MAP}"
    return f"{accounts.in_words}. Pairs are decided as if they were{decided}. {ASK_FOR_MAP}"


# The ranking by a mixed model.


@dataclass(frozen=True, eq=False)
class MixedRanking:
    """What a mixed model says of the systems, in the order of `shown.systems`."""

    shown: Estimate
    """What is printed: mean scores in points, or the effects of a model in another unit."""
    fit: MixedFit
    """The model behind what is printed."""
    decided_by: Estimate
    """What pairs are tested by: typical scores, or the same as what is printed."""
    decisions: PairDecisions
    typical: Floats | None = None
    """Where each system's typical score stands among all scores, in percent; None where there is one reading only."""
    low_shares: Floats | None = None
    """The share of each system's scores that are among the lowest of the campaign."""
    helped: Helped | None = None
    """What helpers did, if there are any."""
    screen_effects: tuple[ScreenEffect, ...] = ()
    """What place and company on a screen do, where screens show several systems."""
    screen_notes: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be said with the result."""
        return (*(() if self.helped is None else self.helped.notes), *self.fit.notes, *self.screen_notes)

    @property
    def findings(self) -> Findings:
        """What `ranking.ranking.assemble` needs."""
        shown, level = self.shown, self.decisions.level
        low, high = shown.interval(level)
        error = shown.errors_from_mean()
        half = error * student_quantile(level / 2, shown.df.min(axis=1))
        tested = self.decided_by.contrasts
        own: dict[str, Floats] = {}
        if self.typical is not None and self.low_shares is not None:
            own = {"typical": self.typical, "low_share": self.low_shares}
        both: dict[str, Floats] = {}
        if self.typical is not None:
            both = {"typical": np.subtract.outer(self.typical, self.typical), "p_average": shown.contrasts.two_sided}
        return Findings(
            systems=shown.systems,
            human=shown.human,
            scores=shown.effects,
            n=self.fit.n,
            tests=PairTests(tested.greater, tested.two_sided),
            decisions=self.decisions,
            numbers={"low": shown.effects - half, "high": shown.effects + half, "se": error, **own},
            pair_numbers={"se": shown.se, "df": shown.df, "low": low, "high": high, **both},
        )


def rank_by_model(
    judgments: Judgments, method: Method, settings: RankSettings, *, helpers: Sequence[MetricScore] | None = None
) -> Ranking:
    """Rank systems by their effects in a mixed model.

    Args:
        judgments: scores of one language pair and campaign.
        method: one of the models.
        settings: those that methods share.
        helpers: scores of metrics for all outputs, which tighten what the judgments say (see `helpers`).
    """
    estimator = ScoreEstimator(judgments, model=method.name)
    matched = match(judgments, estimator.design, helpers) if helpers is not None else None
    ranking = rank_scores(estimator, settings, matched)
    model = ranking.fit
    rule = settings.lines or "decided"
    return assemble(
        Provenance(
            judgments.fingerprint,
            estimator.design.set_aside + (() if matched is None else matched.set_aside),
            judgments.final().notes,
        ),
        replace(ranking.findings, n=_count_judgments(judgments, estimator.design)),
        method=method.name,
        rule=rule,
        level=settings.level,
        settings={
            "method": method.name,
            "effects": "+".join(component.effect for component in model.components[:-1]),
            **({} if ranking.decisions.reading is None else {"decided_by": ranking.decisions.reading}),
            "lines": rule,
            "level": settings.level,
            "draws": draws(settings),
            "seed": settings.seed,
            "converged": model.converged,
            **({"correct_screens": True} if settings.correct_screens else {}),
            **({} if matched is None else {"helpers": len(matched.names), "with": matched.fingerprint}),
        },
        annotators=estimator.annotators,
        accounts=estimator.accounts is not None,
        fewest_people=None if estimator.accounts is None else estimator.accounts.fewest_people,
        notes=(
            *estimator.account_notes(ranking.decisions),
            *ranking.notes,
            *_unnamed_note(estimator),
            *_repeats_note(judgments, estimator.design),
        ),
        components=model.components,
        left_out=model.left_out,
        helpers=() if ranking.helped is None else ranking.helped.helpers,
        gain=None if (helped := ranking.helped) is None else (helped.gain, helped.gain_low, helped.gain_high),
        screen_effects=ranking.screen_effects,
    )


def _repeated(judgments: Judgments, design: MixedDesign) -> Bools:
    """Which rows of the design are repeats."""
    return (judgments.final().table["kind"] == "repeat").to_numpy()[design.row]


def _count_judgments(judgments: Judgments, design: MixedDesign) -> Codes:
    """The judgments of every system, without repeats: `table.record` says what counts as one."""
    return np.bincount(design.system[~_repeated(judgments, design)], minlength=len(design.systems))


def _repeats_note(judgments: Judgments, design: MixedDesign) -> Iterator[str]:
    """Say that repeats tell of the systems too, though they are not counted as judgments."""
    if repeats := int(_repeated(judgments, design).sum()):
        used = agreeing(repeats, "is used, but n does not count it", "are used, but n does not count them")
        yield f"{counted(repeats, 'repeat')} {used}"


def _unnamed_note(estimator: ScoreEstimator) -> Iterator[str]:
    """Say whose scores are taken to be those that name no annotator, where others do."""
    if estimator.annotator is not None:
        yield from unnamed_people_note(estimator.unnamed, "score", by_task=estimator.design.task is not None)


def rank_scores(estimator: ScoreEstimator, settings: RankSettings, helpers: Matched | None = None) -> MixedRanking:
    """Estimate scores by their readings, with helpers if there are any, and decide all pairs."""
    level, seed, number = settings.level, settings.seed, draws(settings)
    design, reading = estimator.design, estimator.reading
    screen_notes: tuple[str, ...] = ()
    screen_effects: tuple[ScreenEffect, ...] = ()
    if helpers is None:
        screen_effects, screen_notes = _test_screens(estimator, correct=settings.correct_screens)
        shown = estimator.estimate if reading is None else estimator.average
        fit = _shown_model(estimator).fitted
        decided_by, decisions, helped = estimator.estimate, estimator.decide(level, seed=seed, draws=number), None
        typical = None if reading is None else estimator.typical.effects
    else:
        helped = help_design(design if reading is None else design.with_model("mixed-points"), helpers, seed=seed)
        fit, shown = helped.fit, estimator.estimate_of(helped.fit)
        other, typical = None, None
        if reading is not None:
            normal = help_design(design.with_model("mixed-rank"), helpers, seed=seed, alone=False).fit
            other, typical = estimator.estimate_of(normal), normal.effects
        decided_by = shown if other is None or reading == "average" else other
        agrees = None if other is None else shown if decided_by is other else other
        decisions = decide_scores(decided_by, agrees, reading, level=level, seed=seed, draws=number)
    return MixedRanking(
        shown,
        fit,
        decided_by,
        decisions,
        None if typical is None else _percentile(typical),
        None if reading is None else low_shares(design),
        helped,
        screen_effects,
        screen_notes,
    )


def _shown_model(estimator: ScoreEstimator) -> Model:
    """The model behind what is printed."""
    design = estimator.design
    return model_of(design if estimator.reading is None else design.with_model("mixed-points"))


def _test_screens(estimator: ScoreEstimator, *, correct: bool) -> tuple[tuple[ScreenEffect, ...], tuple[str, ...]]:
    """What place and company do where screens show several systems, and notes; estimates correct it if asked to."""
    screens = screens_of(estimator.judgments, estimator.design)
    if screens is None and correct:
        nothing = "no screen shows several systems, so that there is nothing to correct"
        raise DataError(f"{nothing}; leave out {param('correct_screens')}")
    if screens is None:
        return (), ()
    from adjudge.mixed.screens import fit_screens, notes_on_screens

    if correct:
        estimator.corrected = screens
    found = fit_screens(_shown_model(estimator), screens)
    effects = () if found is None else found.effects()
    return effects, tuple(notes_on_screens(effects, corrected=correct))


def _percentile(normal_scores: Floats) -> Floats:
    from scipy.special import ndtr

    return np.asarray(100 * ndtr(normal_scores))


LOWEST = 0.05
"""Scores as low as the lowest twentieth of a campaign are called very low."""


def low_shares(design: MixedDesign) -> Floats:
    """The share of each system's scores that are among the lowest of the campaign."""
    low = design.as_given <= np.quantile(design.as_given, LOWEST)
    return np.asarray(divide(np.bincount(design.system, low), np.bincount(design.system)))


# The customary ranking of scores: raw or standardised means, Wilcoxon's rank-sum test on segment means, lines.
#
# This is what the translation workshops publish. Its test takes segments for independent, which those of one page are
# not; `adjudge audit` measures on the data at hand how often it calls a system different from itself.


DEFAULT_RESAMPLES = 1000
FEW_ANNOTATORS = 5


def rank_by_means(judgments: Judgments, method: Method, settings: RankSettings) -> Ranking:
    """Rank systems by `raw`, `zscore` or `zscore-calibrated`: means of items, with tests between them.

    Segments and judgments are counted raw.
    """
    sheet = sheet_of(judgments)
    if len(sheet.systems) < 2:
        raise DataError(f"at least two systems must be scored, the data hold {sheet.systems[0]}; nothing can be ranked")
    z_sheet = _standardised(judgments, sheet, method, settings)
    chosen = sheet if method.name == "raw" else z_sheet
    resamples = DEFAULT_RESAMPLES if settings.resamples is None else settings.resamples
    resampled = resampled_means(chosen, resamples if len(chosen.annotators) > 1 else 0, generator(settings.seed))
    n, raw, z = len(sheet.systems), item_means(sheet), item_means(z_sheet)
    means = raw if method.name == "raw" else z
    scores = means.system_means(n)
    if np.isnan(scores).all():
        raise DataError(
            f"no annotator's scores vary, so there is no z-score; use {param('method')} raw or {param('zero_sd')} zero"
        )
    tests = mann_whitney(means.mean, means.system, n) if means.weight is None else weighted_tests(means, n)
    # As the official tables count them: every system that this one is significantly better than, wherever it ranks.
    wins = (np.nan_to_num(tests.greater, nan=1.0) < settings.level).sum(1)
    rule = settings.lines or "official"
    ranks = resampled_rank_sets(scores, resampled, settings.level)
    return assemble(
        _source(judgments),
        Findings(
            systems=sheet.systems,
            human=sheet.human,
            scores=scores,
            n=np.bincount(raw.system, minlength=n),
            tests=tests,
            numbers={
                "raw": raw.system_means(n),
                "z": z.system_means(n),
                "n_all": raw.judgments,
                "wins": wins,
                **({"rank_low": ranks[:, 0], "rank_high": ranks[:, 1]} if len(resampled) else {}),
            },
        ),
        method=method.name,
        rule=rule,
        level=settings.level,
        settings={
            "method": method.name,
            "zero_sd": settings.zero_sd,
            "test": "wilcoxon rank-sum" if means.weight is None else "weighted t",
            "alternative": "greater",
            "lines": rule,
            "level": settings.level,
            "resampled": "annotators",
            "resamples": len(resampled),
            "seed": settings.seed,
        },
        annotators=None if NOBODY in sheet.annotators else len(sheet.annotators),
        notes=(*_notes(sheet, z_sheet), *weights_note(means.weight)),
    )


def _standardised(judgments: Judgments, sheet: Sheet, method: Method, settings: RankSettings) -> Sheet:
    """Scores as z by annotator; by task, where an annotator may have a scale of their own in each."""
    if method.name != "zscore-task":
        return standardised(sheet, zero_sd=settings.zero_sd, calibrated=method.name == "zscore-calibrated")
    if judgments.table["task"].is_null().all():
        raise DataError("the data name no tasks, so scores cannot be standardised by task; use zscore")
    task = pl.format("{} | {}", pl.col("annotator").fill_null(NOBODY), pl.col("task").fill_null(""))
    by_task = sheet_of(replace(judgments, table=judgments.table.with_columns(task.alias("annotator"))))
    z = standardised(replace(by_task, systems=sheet.systems), zero_sd=settings.zero_sd)
    return sheet.with_scores(z.score)


def _source(judgments: Judgments) -> Provenance:
    """Where the scores come from; rows of which the score was left blank are set aside."""
    blank = (pl.col("protocol").is_in(SCORED) & pl.col("score").is_null()) | LEFT_BLANK
    source = provenance(judgments)
    left_open = list_blank(judgments.final().table.filter(blank), "no score was given")
    return replace(source, set_aside=(*source.set_aside, *left_open))


def weighted_tests(means: ItemMeans, systems: int) -> PairTests:
    """Welch's t-test on weighted means of segments, for segments chosen with unequal probabilities.

    Ranks cannot be weighted so that the rank-sum test keeps its level; the mean can. Its variance is the sum of
    w^2 (y - mean)^2 over the square of the sum of weights, as of a ratio of two sums.
    """
    weight = np.ones(len(means.mean)) if means.weight is None else means.weight
    centre = means.system_means(systems)
    count, total = (np.bincount(means.system, weights, minlength=systems) for weights in (None, weight))
    squares = np.bincount(means.system, (weight * (means.mean - centre[means.system])) ** 2, minlength=systems)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = squares / total**2 * count / (count - 1)
        per_degree = variance**2 / (count - 1)
        spread = variance[:, None] + variance[None, :]
        t = (centre[:, None] - centre[None, :]) / np.sqrt(spread)
        df = spread**2 / (per_degree[:, None] + per_degree[None, :])
    greater, two_sided = student_tail(t, df), np.minimum(1.0, 2 * student_tail(np.abs(t), df))
    for p in (greater, two_sided):
        np.fill_diagonal(p, np.nan)
    return PairTests(greater, two_sided, alternative="greater")


def _notes(raw: Sheet, z: Sheet) -> Iterator[str]:
    """Equal scores, few people, people without a name, and groups of systems without a common annotator."""
    equal, scores = np.unique(raw.annotator[np.isnan(z.score) & ~np.isnan(raw.score)]), int(np.isnan(z.score).sum())
    if len(equal):
        judged = f"{counted(scores, 'score')} {agreeing(scores, 'has', 'have')} no z"
        yield f"{counted(len(equal), 'annotator')} gave the same score throughout, so that {judged}"
    named = len(raw.annotators) - (NOBODY in raw.annotators)
    if 0 < named < FEW_ANNOTATORS:
        yield f"only {counted(named, 'annotator')}: ranks from resampling so few people are too narrow"
    if NOBODY in raw.annotators:
        nameless = int(((raw.annotator == raw.annotators.index(NOBODY)) & np.isnan(raw.given_z)).sum())
        if nameless:
            they, them = agreeing(nameless, "it is", "they are"), agreeing(nameless, "it", "them")
            what = f"{they} standardised as if one person had given {them}"
            yield f"{counted(nameless, 'score names', 'scores name')} no annotator: {what}"
    apart = groups(raw.system[raw.rated], raw.annotator[raw.rated], len(raw.systems))
    if len(apart) > 1:
        yield (
            f"the systems fall into {len(apart)} groups without a common annotator: {in_words(apart, raw.systems)}; "
            "raw means compare the groups as if all annotators were alike, z-scores as if all groups were equally good"
        )


# Post-edits and judgments of acceptability as scores, so that the mixed model ranks them like any others.
#
# A post-edit scores 100 minus its edit rate (HTER) in percent: 100 where nothing was changed, 0 where as many edits
# were made as the edition has words, and below where more were. An output that was too bad to correct scores 0. A
# judgment of acceptability scores 100 for yes and 0 for no, so that a system's score is the share of acceptable edits
# in percent.


VERDICTS = tuple(protocol.name for protocol in PROTOCOLS.values() if protocol.answer == "verdict")
AS_SCORES = "da"
"""The protocol under which the scores count: points that a person gave to one translation."""
UNCHANGED, HOPELESS, UNANSWERED = "OK", "BAD", "N/A"
_EDIT_NOTE = "scores are 100 minus the edit rate (HTER) in percent: 100 where nothing was changed"
_VERDICT_NOTE = "scores are 100 for an acceptable edit and 0 for another: the share of acceptable edits in percent"


def as_scores(judgments: Judgments) -> Judgments:
    """Post-edits, or else judgments of acceptability, as scores; other judgments as they are."""
    protocols = set(judgments.protocols)
    if protocols & {*RELATIVE, *SCORED} or not protocols & {*EDITED, *VERDICTS}:
        return judgments
    return _made_scores(judgments)


@memoised
def _made_scores(judgments: Judgments) -> Judgments:
    """What post-edits, or judgments of acceptability, are as scores: rankings and audits of a report all ask."""
    if set(judgments.protocols) & set(EDITED):
        only = judgments.keep(
            pl.col("protocol").is_in(EDITED), otherwise="judgment of acceptability, beside post-edits"
        )
        return _edits(only.final())
    return _verdicts(judgments.final())


def _verdicts(judgments: Judgments) -> Judgments:
    answered = judgments.keep(pl.col("score").is_not_null(), otherwise="no judgment of acceptability was given")
    points = answered.table.with_columns(pl.col("score") * 100, pl.lit(AS_SCORES).alias("protocol"))
    return replace(answered, table=points, notes=(*answered.notes, _VERDICT_NOTE))


def _edits(judgments: Judgments) -> Judgments:
    if "action" in judgments.table.columns:
        answered = pl.col("action").fill_null(UNANSWERED) != UNANSWERED
        judgments = judgments.keep(answered, otherwise="output that was not edited: no answer was given")
    else:
        judgments = judgments.keep(pl.col("text").is_not_null(), otherwise="output that was not edited")
    table = judgments.table.with_columns(
        pl.lit(AS_SCORES).alias("protocol"), pl.Series("score", _edit_scores(judgments.table), dtype=pl.Float64)
    )
    return replace(judgments, table=table, notes=(*judgments.notes, _EDIT_NOTE))


def _edit_scores(table: pl.DataFrame) -> list[float]:
    actions = table["action"].to_list() if "action" in table.columns else ["EDIT"] * table.height
    outputs = table["target_text"].to_list() if "target_text" in table.columns else [None] * table.height
    # What a second editor leaves as it is may have been changed by the first.
    staged = table[FIRST_EDIT].is_not_null().to_list() if FIRST_EDIT in table.columns else [False] * table.height
    scores = []
    for action, edit, output, again in zip(actions, table["text"].to_list(), outputs, staged, strict=True):
        if not again and action in (UNCHANGED, HOPELESS):
            scores.append(100.0 if action == UNCHANGED else 0.0)
        elif edit is None or output is None:
            needed = "edit rates need the outputs that were edited"
            raise DataError(f"{needed}; give them in a column 'target_text', as adjudge export writes it")
        else:
            scores.append(100 - 100 * edit_rate([edit], [output]))
    return scores
