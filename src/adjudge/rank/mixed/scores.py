"""The ranking of systems by the mixed model, in the shape that the other methods have too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adjudge.core.rng import DEFAULT_SEED
from adjudge.rank.assemble import Estimate
from adjudge.rank.contrasts import DRAWS, Contrasts, RankSets, contrasts, rank_sets, simultaneous_interval
from adjudge.rank.mixed.design import design_from
from adjudge.rank.mixed.fit import MixedFit, fit
from adjudge.rank.significance import PairTests

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from adjudge.core.judgments import Judgments, SetAside
    from adjudge.rank.mixed.design import MixedDesign

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MixedRanking:
    """A fitted model and what follows from it; arrays are in the order of `fit.systems`."""

    fit: MixedFit
    contrasts: Contrasts
    rank_sets: RankSets
    interval: tuple[Floats, Floats]
    """Low and high of every difference, by itself."""
    simultaneous: tuple[Floats, Floats]
    """Low and high of every difference, all at once."""
    set_aside: tuple[SetAside, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be said with the result."""
        return self.fit.notes

    @property
    def estimate(self) -> Estimate:
        """What `rank.assemble` needs."""
        low, high = self.interval
        return Estimate(
            systems=self.fit.systems,
            human=self.fit.human,
            scores=self.fit.effects,
            n=self.fit.n,
            tests=PairTests(self.contrasts.greater, self.contrasts.two_sided),
            rank_sets=self.rank_sets.simultaneous,
            numbers={
                "se": self.fit.se,
                "rank_low": self.rank_sets.marginal[:, 0],
                "rank_high": self.rank_sets.marginal[:, 1],
            },
            pair_numbers={"se": self.contrasts.se, "df": self.contrasts.df, "low": low, "high": high},
        )


def rank_scores(
    judgments: Judgments, *, level: float = 0.05, seed: int = DEFAULT_SEED, resamples: int = DRAWS
) -> MixedRanking:
    """Rank systems by their effects in the unit of the scores.

    Args:
        judgments: scores of one language pair and campaign.
        level: 1 - confidence of intervals and rank sets.
        seed: of the draws behind rank sets and simultaneous intervals.
        resamples: the number of those draws.
    """
    return rank_design(design_from(judgments), level=level, seed=seed, resamples=resamples)


def rank_design(
    design: MixedDesign, *, level: float = 0.05, seed: int = DEFAULT_SEED, resamples: int = DRAWS
) -> MixedRanking:
    """The same for a design that is at hand."""
    found = fit(design)
    compared = contrasts(found.effects, found.covariance, found.df)
    return MixedRanking(
        fit=found,
        contrasts=compared,
        rank_sets=rank_sets(compared, found.covariance, level=level, seed=seed, draws=resamples),
        interval=compared.interval(level),
        simultaneous=simultaneous_interval(compared, found.covariance, level=level, seed=seed, draws=resamples),
        set_aside=design.set_aside,
    )
