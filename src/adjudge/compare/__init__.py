"""Campaigns over the same systems compared: do two ways of judging give the same order? `compare` is the main function.

Campaigns may be protocols, years, runs, halves, crowds and experts, or people and a metric.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.compare.campaign import RESAMPLES, campaign_of_judgments, draw_documents
from adjudge.compare.documents import compare_documents, rank_units
from adjudge.compare.metrics import campaigns_of_scores
from adjudge.compare.names import check_shared, name_notes, rename_systems
from adjudge.compare.orders import flip_count, flips, item_agreement, score_correlation, verdict_on
from adjudge.core.errors import UsageError
from adjudge.core.judgments import Judgments
from adjudge.core.rng import DEFAULT_SEED
from adjudge.results.compare import CampaignComparison, CampaignCost, CampaignPair, ComparedSystem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from adjudge.compare.campaign import Campaign
    from adjudge.formats.metric_score_files import MetricScore

__all__ = ["compare"]


def compare(
    campaigns: Mapping[str, Any],
    *,
    rename: Mapping[str, str] | None = None,
    method: str | None = None,
    keys: Mapping[str, str] | None = None,
    resamples: int = RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> CampaignComparison:
    """Compare two or more campaigns over the systems that they share.

    Args:
        campaigns: by name: judgments (or whatever `adjudge.read` takes), or metric scores as
            `formats.metric_scores.read_metric_scores` gives them.
        rename: systems under other names, old to new, where campaigns name them differently.
        method: the method whose scores are compared; means of scores as given, and Bradley-Terry for relative
            judgments, where left out.
        keys: the document of every segment, for judgments that do not say it.
        resamples: of annotators and documents, for intervals.
        seed: of the resamples.

    Returns:
        Correlations with intervals, pairs that flip, agreement on shared items, costs, and a verdict in one sentence.
    """
    if resamples < 0:
        raise UsageError(f"--resamples is {resamples}, it must be 0 or more")
    sources = rename_systems({name: _read_source(source) for name, source in campaigns.items()}, rename or {})
    if len(sources) < 2 and not any(isinstance(source, list) for source in sources.values()):
        raise UsageError("one campaign was given, at least two are needed; name another file")
    shared_system = _only_system(sources)
    if shared_system is not None:
        return compare_documents(sources, shared_system, keys=keys, seed=seed)
    loaded = _make_campaigns(sources, method, resamples, seed)
    check_shared(loaded)
    return CampaignComparison(
        settings={
            "method": method,
            "resamples": resamples,
            "seed": seed,
            "rename": ",".join(f"{old}={new}" for old, new in (rename or {}).items()) or None,
        },
        data="+".join(campaign.fingerprint for campaign in loaded),
        set_aside=tuple(
            aside for source in sources.values() if isinstance(source, Judgments) for aside in source.final().set_aside
        ),
        notes=_notes(loaded, sources),
        campaigns=tuple(campaign.name for campaign in loaded),
        unit="systems",
        systems=_side_by_side(loaded),
        pairs=tuple(_pair(first, second) for first, second in combinations(loaded, 2)),
        costs=tuple(_cost(campaign) for campaign in loaded),
    )


def _read_source(source: Any) -> Judgments | list[MetricScore]:
    from adjudge.formats import read
    from adjudge.formats.metric_score_files import MetricScore
    from adjudge.rank.edits_as_scores import as_scores

    if isinstance(source, list) and source and all(isinstance(score, MetricScore) for score in source):
        return source
    return as_scores(read(source))


def _only_system(sources: Mapping[str, Judgments | list[MetricScore]]) -> str | None:
    """The system, where all campaigns hold judgments of one and the same only."""
    names = [source.systems if isinstance(source, Judgments) else ("", "") for source in sources.values()]
    return names[0][0] if all(systems == names[0] and len(systems) == 1 for systems in names) else None


def _make_campaigns(
    sources: Mapping[str, Judgments | list[MetricScore]], method: str | None, resamples: int, seed: int
) -> list[Campaign]:
    draws = draw_documents(sources.values(), resamples=resamples, seed=seed)
    loaded: list[Campaign] = []
    for number, (name, source) in enumerate(sources.items()):
        if isinstance(source, Judgments):
            loaded.append(campaign_of_judgments(name, source, number, method, draws))
        else:
            loaded += campaigns_of_scores(name, source, draws)
    if len(loaded) < 2:
        raise UsageError("one campaign was given, at least two are needed; name another file")
    return loaded


def _notes(loaded: Sequence[Campaign], sources: Mapping[str, Judgments | list[MetricScore]]) -> tuple[str, ...]:
    judgments = {name: source for name, source in sources.items() if isinstance(source, Judgments)}
    read = [f"{name}: {note}" for name, source in judgments.items() for note in source.notes]
    of_campaigns = [f"{campaign.name}: {note}" for campaign in loaded for note in campaign.notes]
    return tuple(dict.fromkeys((*name_notes(loaded), *of_campaigns, *read)))


def _side_by_side(loaded: Sequence[Campaign]) -> tuple[ComparedSystem, ...]:
    """Every system that at least two campaigns have, in the order of the first."""
    every = dict.fromkeys(name for campaign in loaded for name in campaign.scores)
    several = [name for name in every if sum(name in campaign.scores for campaign in loaded) > 1]
    shared = [name for name in several if all(name in campaign.scores for campaign in loaded)]
    among = shared if len(shared) > 1 else several
    ranks = [
        rank_units({name: campaign.scores[name] for name in among if name in campaign.scores}) for campaign in loaded
    ]
    first = loaded[0].scores
    return tuple(
        ComparedSystem(
            name,
            any(name in campaign.human for campaign in loaded),
            tuple(campaign.scores.get(name) for campaign in loaded),
            tuple(of_campaign.get(name) for of_campaign in ranks),
        )
        for name in sorted(several, key=lambda name: (name not in first, -first.get(name, 0.0), name))
    )


def _pair(first: Campaign, second: Campaign) -> CampaignPair:
    systems = sorted(
        name
        for name in first.scores
        if name in second.scores and np.isfinite(first.scores[name]) and np.isfinite(second.scores[name])
    )
    correlation, flipped = score_correlation(first, second, systems), flips(first, second, systems)
    count = flip_count(first, second, systems, len(flipped))
    return CampaignPair(
        campaigns=(first.name, second.name),
        scores=correlation,
        flips=flipped,
        flip_count=count,
        items=item_agreement(first, second, systems),
        verdict=verdict_on((first.name, second.name), correlation, flipped, count),
    )


def _cost(campaign: Campaign) -> CampaignCost:
    certain = campaign.certain
    per = None if not certain else campaign.judgments / certain
    minutes = None if not certain or campaign.minutes is None else campaign.minutes / certain
    return CampaignCost(
        campaign.name, campaign.method, campaign.judgments, campaign.minutes, certain, per, minutes, campaign.timing
    )
