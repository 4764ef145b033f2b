"""An estimate of systems with what follows for every pair of them, and the estimators that make it.

An `Estimate` has the effects of systems with a joint covariance. Scores give differences with standard errors, and that
is all. Relative judgments cannot always tell the size of a difference. Systems that no chain of comparisons connects
have none (`unmet`). A lead that no judgment contradicts has no size that the data bound (`unopposed`), so that its
p-value counts how often it was seen. And nothing is claimed against a pair's own judgments: where these say the
opposite, p is 1. `contrasts` has these p-values; `se` and `least_p` say the same in the form that trials need, which
look at the pair again after a change.

An `Estimator` makes estimates of all judgments, of some of them, or of all but one annotator, document or segment.
There are two. `ScoreEstimator` (`ranking.scores`) asks the mixed model of scores, `RelativeEstimator`
(`ranking.relative_estimator`) the strengths of Bradley-Terry with annotators' tastes. Audits and parity know nothing
else of how a model is fitted. Estimates without a unit keep the variances, or the taste, of the whole data, which makes
them quick and comparable. So do parts of scores; a part of relative judgments is estimated by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from adjudge.ranking.decisions import DRAWS, PairDecisions, best_first, decide, levelled
from adjudge.table.errors import DataError
from adjudge.table.maths import Bools, Codes, Contrasts, Floats, contrasts
from adjudge.table.protocols import RELATIVE
from adjudge.table.rng import DEFAULT_SEED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.ranking.relative_estimator import RelativeEstimator
    from adjudge.ranking.scores import ScoreEstimator
    from adjudge.table.judgments import Judgments

UnitKind = Literal["annotator", "document", "segment"]


@dataclass(frozen=True, eq=False)
class Estimate:
    """Effects of systems in the order of `systems`; matrices of pairs are row minus column."""

    systems: tuple[str, ...]
    human: Bools
    effects: Floats
    covariance: Floats
    """Of the effects; NaN where only their differences have known errors."""
    contrasts: Contrasts
    unmet: Bools | None = None
    """Pairs that no chain of comparisons connects; None where every pair can be compared."""
    unopposed: Bools | None = None
    """Pairs between which no judgment contradicts the lead; None for scores."""
    tested_se: Floats | None = None
    """The errors that give the p-values of all pairs, where these do not come from the errors of differences."""
    least_p: Floats | None = None
    """What p of a pair cannot be below after a change to its difference; None where nothing bounds it."""
    least_errors: Floats | None = None
    """What the errors of distances from the mean of all systems cannot be below; None where nothing bounds them."""

    @classmethod
    def of_effects(
        cls, systems: tuple[str, ...], human: Bools, effects: Floats, covariance: Floats, df: Floats
    ) -> Estimate:
        """An estimate of scores: every difference is known with its error."""
        return cls(systems, human, effects, covariance, contrasts(effects, covariance, df))

    @cached_property
    def difference(self) -> Floats:
        """The differences of effects; NaN between systems that have nothing to do with each other."""
        difference = self.contrasts.difference
        return difference if self.unmet is None else np.where(self.unmet, np.nan, difference)

    @property
    def se(self) -> Floats:
        """The standard errors behind the p-values of all pairs."""
        return self.contrasts.se if self.tested_se is None else self.tested_se

    @property
    def df(self) -> Floats:
        """The degrees of freedom of all differences."""
        return self.contrasts.df

    @property
    def complete(self) -> bool:
        """Whether every system was compared with another."""
        return self.unmet is None or not (self.unmet.sum(1) == len(self.systems) - 1).any()

    @property
    def order(self) -> list[int]:
        """The systems, the best first; equal ones by name, as in a ranking."""
        return best_first(levelled(self.effects, self.se), self.systems)

    def decide(self, level: float, *, seed: int = DEFAULT_SEED, draws: int = DRAWS) -> PairDecisions:
        """Decide all pairs at a family-wise level."""
        p = self.contrasts.two_sided
        return decide(self.effects, p, self.covariance, level=level, seed=seed, draws=draws)

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """The interval of each difference by itself; NaN where no judgment bounds it."""
        tested = self.contrasts if self.tested_se is None else replace(self.contrasts, se=self.tested_se)
        low, high = replace(tested, difference=self.difference).interval(level)
        if self.unopposed is not None:
            low[self.unopposed] = high[self.unopposed] = np.nan
        return low, high

    def significant(self, level: float) -> Bools:
        """Which pairs differ, each by itself; symmetric."""
        return np.asarray(np.nan_to_num(self.contrasts.two_sided, nan=1.0) < level)

    def errors_from_mean(self, kept: list[int] | None = None) -> Floats:
        """The standard error of the distance of each system, or of some, from the mean of them all."""
        covariance = self.covariance if kept is None else self.covariance[np.ix_(kept, kept)]
        centre = np.eye(len(covariance)) - 1 / len(covariance)
        errors: Floats = np.sqrt(np.maximum(np.diag(centre @ covariance @ centre), 0.0))
        return errors if kept is not None or self.least_errors is None else np.fmax(errors, self.least_errors)


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
        from adjudge.ranking.relative_estimator import RelativeEstimator
        from adjudge.table.comparisons import comparisons
        from adjudge.table.judgments import weights_of

        if weights_of(judgments.table) is not None:
            raise DataError(
                "the segments were chosen with unequal probabilities, which audits of rankings and pairs cannot undo; "
                "use adjudge rank, which weighs them, or leave out the column 'inclusion'"
            )
        return RelativeEstimator(comparisons(judgments), judgments, seed=seed)
    from adjudge.ranking.scores import ScoreEstimator

    return ScoreEstimator(judgments)
