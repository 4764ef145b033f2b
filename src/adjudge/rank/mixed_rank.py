"""`mixed-rank`: the mixed model on normal scores instead of the scores themselves.

Every score is replaced by the normal quantile of its place among all scores of the language pair,

    quantile((rank - 1/2) / n),   ties sharing their mean rank,

so that only the order of scores counts, and neither a long tail of low scores nor a pile at the top of the scale. All
annotators are ranked together, and their differences are left to the model. Effects are in standard deviations of
normal scores, not in points.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.core.rng import DEFAULT_SEED
from adjudge.rank.contrasts import DRAWS
from adjudge.rank.mixed import design_from
from adjudge.rank.mixed.scores import MixedRanking, rank_design

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from adjudge.core.judgments import Judgments
    from adjudge.rank.mixed import MixedDesign


def normal_scores(score: NDArray[np.float64]) -> NDArray[np.float64]:
    """The normal quantile of each score's place among all."""
    from scipy.stats import norm, rankdata

    quantile: NDArray[np.float64] = norm.ppf((rankdata(score) - 0.5) / len(score))
    return quantile


def ranked(design: MixedDesign) -> MixedDesign:
    """The design with normal scores."""
    return design.with_scores(normal_scores(design.score))


def rank_scores(
    judgments: Judgments, *, level: float = 0.05, seed: int = DEFAULT_SEED, resamples: int = DRAWS
) -> MixedRanking:
    """Rank systems by their effects on normal scores; the arguments are those of `mixed.rank_scores`."""
    design = design_from(judgments)
    # A constant score is refused with its own value, not with that of its normal score.
    design.check()
    return rank_design(ranked(design), level=level, seed=seed, resamples=resamples)
