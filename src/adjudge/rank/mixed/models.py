"""The models of scores by name: which scores are fitted, whether tastes are in the model, and the unit of the effects.

`mixed`         normal scores with tastes, shown in points: the default
`mixed-rank`    the same model in its own unit, standard deviations of normal scores
`mixed-points`  the scores themselves, with tastes
`mixed-plain`   the scores themselves, without tastes: true for these annotators, not for others

Annotators like some systems more than others do (annotator:system). Without that effect, the tastes of a few people
pass for the quality of the systems. And annotators use the scale differently, which on the scores themselves looks
like taste. Normal scores take most of that away:

    z = quantile((rank - 1/2) / n),   ranks among all scores of the language pair, ties sharing their mean rank.

They are put back on the scale of the scores by a straight line, mean(y) + b (z - mean(z)) with b = cov(y, z) / var(z),
so that effects and errors are in points. `docs/mixed.md` compares the models.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adjudge.core.errors import unknown_choice
from adjudge.core.maths import mean_ranks, normal_quantile

if TYPE_CHECKING:
    from adjudge.core.arrays import Floats


DEFAULT_MODEL = "mixed"


@dataclass(frozen=True)
class ScoreModel:
    """What is fitted, and in which unit."""

    name: str
    taste: bool
    """Whether annotator:system is among the effects."""
    normal: bool
    """Whether normal scores are fitted instead of the scores themselves."""
    points: bool
    """Whether effects are in points; otherwise in standard deviations of normal scores."""

    def fitted_scores(self, score: Floats) -> Floats:
        """What the model is fitted to, for scores as the annotators gave them."""
        if not self.normal:
            return score
        quantile = normal_scores(score)
        if not self.points:
            return quantile
        fitted: Floats = score.mean() + points_per_unit(score, quantile) * (quantile - quantile.mean())
        return fitted


MODELS = {
    model.name: model
    for model in (
        ScoreModel("mixed", taste=True, normal=True, points=True),
        ScoreModel("mixed-rank", taste=True, normal=True, points=False),
        ScoreModel("mixed-points", taste=True, normal=False, points=True),
        ScoreModel("mixed-plain", taste=False, normal=False, points=True),
    )
}


def find_model(name: str) -> ScoreModel:
    """The model of this name."""
    if name not in MODELS:
        raise unknown_choice("model", name, MODELS)
    return MODELS[name]


def normal_scores(score: Floats) -> Floats:
    """The normal quantile of each score's rank among all."""
    return normal_quantile((mean_ranks(score) - 0.5) / len(score))


def points_per_unit(score: Floats, quantile: Floats) -> float:
    """The slope of scores on their normal scores: what a standard deviation of normal scores is worth in points."""
    centred = quantile - quantile.mean()
    spread = float(centred @ centred)
    return float((score - score.mean()) @ centred) / spread if spread > 0 else 1.0
