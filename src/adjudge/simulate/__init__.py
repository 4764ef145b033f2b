"""Campaigns with known truth, drawn from parameters: relative rankings or scores. `simulate` is the main function.

    from adjudge.simulate import RankingCampaign, simulate

    simulated = simulate(RankingCampaign(systems=8, annotators=20, blocks=600), seed=1)
    simulated.judgments, simulated.truth

`recovery` compares a ranking with that truth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.core.rng import DEFAULT_SEED
from adjudge.simulate.ranking_campaign import RankingCampaign
from adjudge.simulate.rankings import simulate_rankings
from adjudge.simulate.score_campaign import ScoreCampaign, design_scores
from adjudge.simulate.scores import draw_scores, simulate_scores
from adjudge.simulate.truth import recovery
from adjudge.work import map_tasks

if TYPE_CHECKING:
    from adjudge.results.simulate import Simulated

__all__ = [
    "RankingCampaign", "ScoreCampaign", "design_scores", "draw_scores", "recovery", "simulate", "simulate_many",
    "simulate_rankings", "simulate_scores",
]  # fmt: skip


def simulate(campaign: RankingCampaign | ScoreCampaign, *, seed: int = DEFAULT_SEED) -> Simulated:
    """Draw the judgments of a campaign; the same campaign and seed give the same judgments."""
    if isinstance(campaign, ScoreCampaign):
        return simulate_scores(campaign, seed=seed)
    return simulate_rankings(campaign, seed=seed)


def simulate_many(
    campaign: RankingCampaign | ScoreCampaign, campaigns: int, *, seed: int = DEFAULT_SEED
) -> list[Simulated]:
    """Draw so many campaigns, the first with this seed, each of the others with the next one."""
    return map_tasks(lambda each: simulate(campaign, seed=each), range(seed, seed + campaigns), what="campaigns")
