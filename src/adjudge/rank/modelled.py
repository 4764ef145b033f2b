"""Ranking scores by a model: `mixed` and its companion on ranks, `mixed-rank`. The default for scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.core.errors import DataError
from adjudge.rank.assemble import Provenance, assemble
from adjudge.rank.contrasts import DRAWS

if TYPE_CHECKING:
    from adjudge.core.judgments import Judgments
    from adjudge.rank import RankSettings
    from adjudge.rank.methods import Method
    from adjudge.rank.mixed.scores import MixedRanking
    from adjudge.results.rank import Ranking

DEFAULT_RULE = "holm"


def rank_modelled(judgments: Judgments, method: Method, settings: RankSettings) -> Ranking:
    """Rank systems by their effects in a mixed model."""
    found = fitted(judgments, method.name, settings)
    if len(found.fit.systems) < 2:
        raise DataError(f"at least two systems must be scored, the data hold {found.fit.systems[0]}")
    rule = settings.lines or DEFAULT_RULE
    final = judgments.final()
    return assemble(
        Provenance(judgments.fingerprint, found.set_aside, final.notes),
        found.estimate,
        method=method.name,
        rule=rule,
        level=settings.level,
        settings={
            "method": method.name,
            "effects": "+".join(found.fit.ratios),
            "lines": rule,
            "level": settings.level,
            "draws": _draws(settings),
            "seed": settings.seed,
            "converged": found.fit.converged,
        },
        notes=found.notes,
        components=found.fit.components,
        left_out=found.fit.left_out,
    )


def fitted(judgments: Judgments, method: str, settings: RankSettings) -> MixedRanking:
    """The fitted model with its contrasts and rank sets."""
    if method == "mixed-rank":
        from adjudge.rank.mixed_rank import rank_scores
    else:
        from adjudge.rank.mixed.scores import rank_scores

    return rank_scores(judgments, level=settings.level, seed=settings.seed, resamples=_draws(settings))


def _draws(settings: RankSettings) -> int:
    # Fewer draws than a hundred leave the quantile behind rank sets to chance.
    return DRAWS if settings.resamples is None else max(settings.resamples, 100)
