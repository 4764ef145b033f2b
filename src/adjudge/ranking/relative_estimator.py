"""The estimator of relative judgments: strengths of Bradley-Terry with annotators' tastes (see `ranking.estimator`)."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from adjudge.ranking import bradley_terry
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
from adjudge.ranking.decisions import DRAWS, PairDecisions, check_connected, groups_that_met
from adjudge.ranking.estimator import Estimate, Part, Units
from adjudge.ranking.methods import METHODS
from adjudge.ranking.relative import check_comparable
from adjudge.ranking.significance import difference_spread, resampling_tests, separation
from adjudge.ranking.tastes import (
    ComparedStrengths,
    at_known_tastes,
    compare_fitted,
    compare_people,
    fit_tastes,
    predicted_tastes,
    refit,
    refit_with_errors,
)
from adjudge.table.comparisons import NOBODY, Comparisons, segment_keys
from adjudge.table.maths import Bools, Codes, Contrasts, Floats, difference_variances, distinct, divide, student_tail
from adjudge.table.rng import DEFAULT_SEED, generator

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adjudge.ranking.counts import Tally
    from adjudge.ranking.counts import Units as ResamplingUnits
    from adjudge.table.judgments import Judgments


RESAMPLES = 1000
"""Resamples behind the errors where one annotator judged everything."""
LARGE = 2000
"""Beyond so many tastes and lucks of documents, changes to the data are tried without fitting these again."""
HELD = "tastes and the luck of texts are as large as in all judgments, because these are many"


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
        return self._refitted_with_errors[0]

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

    @cached_property
    def is_large(self) -> bool:
        """Whether tastes and shared texts are so many that a fit takes seconds."""
        if not self.by_tastes:
            return False
        document = self.compared.document
        people, documents = len(self._counts.wins), 0 if document is None else len(distinct(document))
        if (people + documents) * len(self.systems) <= LARGE:
            return False
        fit = self._whole.strengths.fit
        of_documents = 0 if fit.document_sd is None else documents
        return fit.weights is not None and (people + of_documents) * len(self.systems) > LARGE

    def changed(self, part: Comparisons) -> Estimate:
        """The estimate of some of the comparisons at the taste and the luck of texts of the whole.

        Strengths and covariance move by as much as those of weighed counts by annotator do.
        """
        fit, people = self._whole.strengths.fit, count_people(part, person_of(part), group_of(part))
        before, after = self._refitted_with_errors, self._at_whole(part)
        kept = np.array([self.systems.index(name) for name in part.systems], dtype=np.int64)
        both, centre = np.ix_(kept, kept), np.eye(len(kept)) - 1 / len(kept)
        moved = replace(
            fit,
            strength=fit.strength[kept] + after[0] - before[0][kept],
            covariance=centre @ (fit.covariance[both] + after[1] - before[1][both]) @ centre,
            df=fit.df[both],
            df_system=fit.df_system[kept],
            weights=None,
        )
        return _estimate_of(compare_fitted(moved, people), units_of(part).total())

    def _at_whole(self, part: Comparisons) -> tuple[Floats, Floats]:
        """Strengths and covariance by weighed counts of some comparisons, whose systems may be other ones.

        Where blocks have lost comparisons, or systems are split, the rest tells less of its text and varies less.
        """
        fit, people = self._whole.strengths.fit, count_people(part, person_of(part), group_of(part))
        blocks = int(self.compared.block.max()) + 1
        left, whole = (np.bincount(compared.block, minlength=blocks) for compared in (part, self.compared))
        if len(part.systems) > len(self.systems) or (left < whole)[part.block].any():
            weights, errors = at_known_tastes(fit, people, part)
            errors *= fit.errors / self._errors_by_moments
        else:
            of_block = np.ones(blocks)
            of_block[self.compared.block] = 1.0 if fit.weights is None else fit.weights
            weights, errors = of_block[part.block], fit.errors
        counts = count_people(part, person_of(part), people.group, weights=weights)
        return refit_with_errors(counts, fit.taste, errors)

    @cached_property
    def _errors_by_moments(self) -> float:
        return at_known_tastes(self._whole.strengths.fit, self._counts, self.compared)[1]

    @cached_property
    def _refitted_with_errors(self) -> tuple[Floats, Floats]:
        fit = self._whole.strengths.fit
        return refit_with_errors(self._weighed, fit.taste, fit.errors)

    def _estimate_of_halves(self, halves: _Strengths) -> Estimate:
        """The halves compared: at the taste and the luck of texts of the whole, where it is large.

        Errors by weighed counts are as many times too small, or too large, as those of the whole are.
        """
        if halves.units.kind != "annotators" or not self.is_large:
            return halves.estimate
        part = halves.compared
        whole, people = self._whole.strengths.fit, count_people(part, person_of(part), group_of(part))
        exact, plain = (difference_variances(of) for of in (whole.covariance, self._refitted_with_errors[1]))
        strength, covariance = self._at_whole(part)
        n, df = len(strength), float(np.nanmedian(whole.df))
        moved = replace(
            whole,
            strength=strength,
            covariance=covariance * exact.sum() / plain.sum(),
            df=np.full((n, n), df),
            df_system=np.full(n, df),
            weights=None,
        )
        return _estimate_of(compare_fitted(moved, people), halves.tally)

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

        Nor is there a test of a half that never won, or never lost: it has no finite strength, and the halves of a
        system never meet.

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
        endless = separation(part.tally.wins).unbounded
        connected = (first >= 0) & (second >= 0) & ~_unmet(part.tally)[first, second]
        connected &= ~endless[first] & ~endless[second]
        own = self._estimate_of_halves(part)
        p = [own.contrasts.two_sided, *(part.resampled_p(score, draws, rng) for score in resampled)]
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
