"""An estimate: systems, their effects with a joint covariance, and what follows for every pair of them.

Scores give differences with standard errors, and that is all. Relative judgments cannot always tell the size of a
difference. Systems that no chain of comparisons connects have none (`unmet`). A lead that no judgment contradicts has
no size that the data bound (`unopposed`), so that its p-value counts how often it was seen. And nothing is claimed
against a pair's own judgments: where these say the opposite, p is 1. `contrasts` has these p-values; `se` and `least_p`
say the same in the form that trials need, which look at the pair again after a change.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from adjudge.ranking.decisions import DRAWS, PairDecisions, decide
from adjudge.ranking.lines import best_first, levelled
from adjudge.table.maths import Bools, Contrasts, Floats, contrasts, student_quantile
from adjudge.table.rng import DEFAULT_SEED


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
        half = self.se * student_quantile(level / 2, self.df)
        if self.unopposed is not None:
            half[self.unopposed] = np.nan
        return self.difference - half, self.difference + half

    def significant(self, level: float) -> Bools:
        """Which pairs differ, each by itself; symmetric."""
        return np.asarray(np.nan_to_num(self.contrasts.two_sided, nan=1.0) < level)

    def errors_from_mean(self, kept: list[int] | None = None) -> Floats:
        """The standard error of the distance of each system, or of some, from the mean of them all."""
        covariance = self.covariance if kept is None else self.covariance[np.ix_(kept, kept)]
        centre = np.eye(len(covariance)) - 1 / len(covariance)
        errors: Floats = np.sqrt(np.maximum(np.diag(centre @ covariance @ centre), 0.0))
        return errors
