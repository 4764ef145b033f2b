"""Campaigns with known truth, drawn from parameters. `simulate` chooses the protocol.

from adjudge.simulate import RankingCampaign, simulate

simulated = simulate(RankingCampaign(systems=8, annotators=20, blocks=600), seed=1)
simulated.judgments, simulated.truth
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.core.rng import DEFAULT_SEED
from adjudge.simulate.campaign import RankingCampaign
from adjudge.simulate.rankings import simulate_rankings
from adjudge.simulate.recovery import recovery

if TYPE_CHECKING:
    from adjudge.core.simulated import Simulated

__all__ = ["RankingCampaign", "recovery", "simulate", "simulate_rankings"]


def simulate(campaign: RankingCampaign, *, seed: int = DEFAULT_SEED) -> Simulated:
    """Draw the judgments of a campaign; the same campaign and seed give the same judgments."""
    return simulate_rankings(campaign, seed=seed)
