"""Campaigns with known truth, drawn from parameters: relative rankings or scores. `simulate` is the main function.

    from adjudge.simulate import RankingCampaign, simulate

    simulated = simulate(RankingCampaign(systems=8, annotators=20, blocks=600), seed=1)
    simulated.judgments, simulated.truth

`recovery` compares a ranking with that truth.
"""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

from adjudge.core.rng import DEFAULT_SEED
from adjudge.results.simulate import Recovery
from adjudge.simulate.ranking_campaign import RankingCampaign
from adjudge.simulate.rankings import simulate_rankings
from adjudge.simulate.score_campaign import ScoreCampaign
from adjudge.simulate.score_design import design_scores
from adjudge.simulate.scores import draw_scores, simulate_scores
from adjudge.work import map_tasks

if TYPE_CHECKING:
    from adjudge.results.rank import Ranking
    from adjudge.results.simulate import Simulated, Truth

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
    draw = partial(_simulate_with, campaign)
    return map_tasks(draw, range(seed, seed + campaigns), what="campaigns")


def _simulate_with(campaign: RankingCampaign | ScoreCampaign, seed: int) -> Simulated:
    return simulate(campaign, seed=seed)


def recovery(truth: Truth, ranking: Ranking) -> Recovery:
    """Compare a ranking with the truth: Kendall's tau, pairs in the wrong order, claims of clusters that are wrong.

    Systems that only one of the two holds (as a reference left out of the ranking) do not count, and true ranks are
    taken among the systems that count. Pairs that are truly equal can be in no wrong order and are left out of tau.
    """
    quality = {true.system: true.quality for true in truth.systems}
    ranked = [line for line in ranking.systems if line.system in quality]
    pairs = [(a, b) for a, b in combinations(ranked, 2) if quality[a.system] != quality[b.system]]
    misordered = [(a, b) for a, b in pairs if quality[a.system] < quality[b.system]]
    wrong_claims = [(a, b) for a, b in misordered if a.cluster != b.cluster]
    names = {line.system for line in ranked}
    best = max((quality[name] for name in names), default=None)
    true_rank = {name: 1 + sum(quality[other] > quality[name] for other in names) for name in names}
    return Recovery(
        systems=len(ranked),
        kendall=1 - 2 * len(misordered) / len(pairs) if pairs else None,
        pairs=len(pairs),
        misordered=tuple((a.system, b.system) for a, b in misordered),
        wrong_claims=tuple((a.system, b.system) for a, b in wrong_claims),
        best_found=bool(ranked) and quality[ranked[0].system] == best,
        rank_sets_covering=sum(line.rank_set[0] <= true_rank[line.system] <= line.rank_set[1] for line in ranked),
    )
