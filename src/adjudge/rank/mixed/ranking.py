"""Ranking scores by a mixed model: `mixed`, the default for scores, and the models beside it (`models` names them)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adjudge.core.errors import DataError
from adjudge.core.rng import DEFAULT_SEED
from adjudge.rank.assemble import Estimate, Provenance, assemble
from adjudge.rank.contrasts import Contrasts, contrasts
from adjudge.rank.lines_and_rank_sets import DRAWS, RankSets, rank_sets, simultaneous_interval
from adjudge.rank.mixed.design import design_from
from adjudge.rank.mixed.models import DEFAULT_MODEL
from adjudge.rank.mixed.shared_fits import model_of
from adjudge.rank.relative_notes import unnamed_people_note
from adjudge.rank.significance import PairTests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjudge.core.arrays import Floats
    from adjudge.core.judgments import Judgments, SetAside
    from adjudge.rank import RankSettings
    from adjudge.rank.methods import Method
    from adjudge.rank.mixed.design import MixedDesign
    from adjudge.rank.mixed.fit import MixedFit
    from adjudge.results.rank import Ranking


DEFAULT_RULE = "holm"
FEWEST_DRAWS = 100
"""Fewer draws leave the quantile behind rank sets to chance."""


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
    points: Floats | None = None
    """Effects on the scores themselves (`mixed-points`), where the model is fitted to normal scores."""

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
                **({} if self.points is None else {"points": self.points}),
                "rank_low": self.rank_sets.marginal[:, 0],
                "rank_high": self.rank_sets.marginal[:, 1],
            },
            pair_numbers={"se": self.contrasts.se, "df": self.contrasts.df, "low": low, "high": high},
        )


def rank_by_model(judgments: Judgments, method: Method, settings: RankSettings) -> Ranking:
    """Rank systems by their effects in a mixed model."""
    draws = DRAWS if settings.resamples is None else max(settings.resamples, FEWEST_DRAWS)
    ranking = rank_scores(judgments, method=method.name, level=settings.level, seed=settings.seed, resamples=draws)
    model = ranking.fit
    if len(model.systems) < 2:
        raise DataError(f"at least two systems must be scored, the data hold {model.systems[0]}")
    rule = settings.lines or DEFAULT_RULE
    return assemble(
        Provenance(judgments.fingerprint, ranking.set_aside, judgments.final().notes),
        ranking.estimate,
        method=method.name,
        rule=rule,
        level=settings.level,
        settings={
            "method": method.name,
            "effects": "+".join(component.effect for component in model.components[:-1]),
            "lines": rule,
            "level": settings.level,
            "draws": draws,
            "seed": settings.seed,
            "converged": model.converged,
        },
        notes=(*ranking.notes, *_unnamed_note(judgments, method)),
        components=model.components,
        left_out=model.left_out,
    )


def _unnamed_note(judgments: Judgments, method: Method) -> Iterator[str]:
    """Say whose scores are taken to be those that name no annotator, where others do."""
    design = design_from(judgments, model=method.name)
    if design.annotator is None:
        return
    unnamed = judgments.final().table["annotator"].gather(design.row).null_count()
    yield from unnamed_people_note(unnamed, "score", by_task=design.task is not None)


def rank_scores(
    judgments: Judgments,
    *,
    method: str = DEFAULT_MODEL,
    level: float = 0.05,
    seed: int = DEFAULT_SEED,
    resamples: int = DRAWS,
) -> MixedRanking:
    """Fit the model to judgments and compare all systems.

    Args:
        judgments: scores of one language pair and campaign.
        method: a name from `models.MODELS`.
        level: 1 - confidence of intervals and rank sets.
        seed: of the draws behind rank sets and simultaneous intervals.
        resamples: the number of those draws.
    """
    return rank_design(design_from(judgments, model=method), level=level, seed=seed, resamples=resamples)


def rank_design(
    design: MixedDesign, *, level: float = 0.05, seed: int = DEFAULT_SEED, resamples: int = DRAWS
) -> MixedRanking:
    """Fit the model to a design that is at hand and compare all systems."""
    model = model_of(design).fitted
    compared = contrasts(model.effects, model.covariance, model.df)
    return MixedRanking(
        fit=model,
        contrasts=compared,
        rank_sets=rank_sets(compared, model.covariance, level=level, seed=seed, draws=resamples),
        interval=compared.interval(level),
        simultaneous=simultaneous_interval(compared, model.covariance, level=level, seed=seed, draws=resamples),
        set_aside=design.set_aside,
        points=model_of(design.with_model("mixed-points")).fitted.effects if design.model.normal else None,
    )
