"""The truth behind simulated judgments: made from what was drawn, and compared with a ranking."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from adjudge.results.simulate import Recovery, TrueSystem, Truth
from adjudge.simulate.invented_texts import numbered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.core.arrays import Bools, Floats
    from adjudge.results.rank import Ranking
    from adjudge.simulate.ranking_campaign import RankingCampaign
    from adjudge.simulate.score_campaign import ScoreCampaign


def truth_of(
    campaign: RankingCampaign | ScoreCampaign,
    seed: int,
    fingerprint: str,
    *,
    humans: Sequence[str],
    quality: Floats,
    careless: Bools,
    protocol: str,
    unit: str,
    notes: tuple[str, ...] = (),
) -> Truth:
    """The systems in true order with their qualities, and who was careless.

    Args:
        campaign: its parameters.
        seed: of the draw.
        fingerprint: of the judgments.
        humans: the names of human translations, which follow those of the systems.
        quality: of every system and human translation.
        careless: which annotators click at random.
        protocol: of the judgments.
        unit: of the qualities.
        notes: where the judgments are not as the parameters say.
    """
    names = [*numbered("system", campaign.systems), *humans]
    systems = tuple(
        TrueSystem(names[i], bool(i >= campaign.systems), float(quality[i]), 1 + int((quality > quality[i]).sum()))
        for i in np.argsort(-quality, kind="stable")
    )
    people = numbered("annotator", campaign.annotators)
    return Truth(
        settings={"protocol": protocol, **campaign.settings(), "seed": seed},
        data=fingerprint,
        notes=notes,
        protocol=protocol,
        unit=unit,
        systems=systems,
        careless=tuple(name for name, is_careless in zip(people, careless, strict=True) if is_careless),
    )


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
