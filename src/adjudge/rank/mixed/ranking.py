"""Ranking scores by a mixed model: `mixed`, the default for scores, and the models beside it (`models` names them)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adjudge.core.errors import DataError
from adjudge.core.rng import DEFAULT_SEED
from adjudge.rank.assemble import Findings, Provenance, assemble
from adjudge.rank.contrasts import Contrasts, contrasts
from adjudge.rank.lines_and_rank_sets import DRAWS, RankSets, rank_sets, simultaneous_interval
from adjudge.rank.mixed.design import design_from
from adjudge.rank.mixed.helpers import help_design, match
from adjudge.rank.mixed.shared_fits import model_of
from adjudge.rank.relative_notes import unnamed_people_note
from adjudge.rank.significance import PairTests

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adjudge.core.arrays import Floats
    from adjudge.core.judgments import Judgments, SetAside
    from adjudge.formats.metric_score_files import MetricScore
    from adjudge.rank import RankSettings
    from adjudge.rank.methods import Method
    from adjudge.rank.mixed.design import MixedDesign
    from adjudge.rank.mixed.fit import MixedFit
    from adjudge.rank.mixed.helpers import Helped, Matched
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
    helped: Helped | None = None
    """What helpers did, if there are any."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be said with the result."""
        return (*(() if self.helped is None else self.helped.notes), *self.fit.notes)

    @property
    def findings(self) -> Findings:
        """What `rank.assemble` needs."""
        low, high = self.interval
        return Findings(
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
    draws = DRAWS if settings.resamples is None else max(settings.resamples, FEWEST_DRAWS)
    design = design_from(judgments, model=method.name)
    matched = match(judgments, design, helpers) if helpers is not None else None
    ranking = rank_design(design, level=settings.level, seed=settings.seed, resamples=draws, helpers=matched)
    model = ranking.fit
    if len(model.systems) < 2:
        raise DataError(f"at least two systems must be scored, the data hold {model.systems[0]}")
    rule = settings.lines or DEFAULT_RULE
    return assemble(
        Provenance(
            judgments.fingerprint,
            ranking.set_aside + (() if matched is None else matched.set_aside),
            judgments.final().notes,
        ),
        ranking.findings,
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
            **({} if matched is None else {"helpers": len(matched.names), "with": matched.fingerprint}),
        },
        notes=(*ranking.notes, *_unnamed_note(judgments, method)),
        components=model.components,
        left_out=model.left_out,
        helpers=() if ranking.helped is None else ranking.helped.helpers,
        gain=None if ranking.helped is None else ranking.helped.gain,
    )


def _unnamed_note(judgments: Judgments, method: Method) -> Iterator[str]:
    """Say whose scores are taken to be those that name no annotator, where others do."""
    design = design_from(judgments, model=method.name)
    if design.annotator is None:
        return
    unnamed = judgments.final().table["annotator"].gather(design.row).null_count()
    yield from unnamed_people_note(unnamed, "score", by_task=design.task is not None)


def rank_design(
    design: MixedDesign,
    *,
    level: float = 0.05,
    seed: int = DEFAULT_SEED,
    resamples: int = DRAWS,
    helpers: Matched | None = None,
) -> MixedRanking:
    """Fit the model to a design that is at hand, with helpers if there are any, and compare all systems."""
    helped = None if helpers is None else help_design(design, helpers, seed=seed)
    model = model_of(design).fitted if helped is None else helped.fit
    compared = contrasts(model.effects, model.covariance, model.df)
    return MixedRanking(
        fit=model,
        contrasts=compared,
        rank_sets=rank_sets(compared, model.covariance, level=level, seed=seed, draws=resamples),
        interval=compared.interval(level),
        simultaneous=simultaneous_interval(compared, model.covariance, level=level, seed=seed, draws=resamples),
        set_aside=design.set_aside,
        points=_in_points(design, helpers, seed) if design.model.normal else None,
        helped=helped,
    )


def _in_points(design: MixedDesign, helpers: Matched | None, seed: int) -> Floats:
    """Effects on the scores themselves."""
    points = design.with_model("mixed-points")
    if helpers is None:
        return model_of(points).fitted.effects
    return help_design(points, helpers, seed=seed, alone=False).fit.effects
