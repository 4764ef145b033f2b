"""Campaigns over the same systems compared: do two ways of judging give the same order? `compare` is the main function.

Campaigns may be protocols, years, runs, halves, crowds and experts, or people and a metric.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence  # noqa: TC003 - the shell reads the types of settings when it runs
from dataclasses import dataclass, replace
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from adjudge.evidence import compared_campaigns
from adjudge.evidence.verdict_comparison import say_same_documents, show_correlation
from adjudge.metrics.gold import GoldSettings, gold
from adjudge.ranking.decisions import holm
from adjudge.readers.metric_scores import MetricScore, fingerprint_of_scores
from adjudge.table.errors import DataError, UsageError, param, shown, unknown_choice
from adjudge.table.judgments import Judgments
from adjudge.table.maths import Floats, kendall
from adjudge.table.settings import method_option, option, seed_option
from adjudge.table.wording import as_argument, split_names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from adjudge.evidence.compared_campaigns import Draws

    Source = Judgments | list[MetricScore]


def _renames(typed: Sequence[str]) -> dict[str, str]:
    renames: dict[str, str] = {}
    for pair in (part for given in typed for part in split_names(given)):
        old, equals, new = pair.partition("=")
        if not (old and equals and new):
            raise UsageError(f"{param('rename')} is '{pair}'; write OLD=NEW")
        renames[old] = new
    return renames


@dataclass(frozen=True, kw_only=True)
class CompareSettings:
    """The names of systems, the method whose scores are compared, and the resamples of its intervals."""

    rename: Mapping[str, str] | None = option(
        None,
        "Rename a system. May be repeated.",
        metavar="OLD=NEW",
        typed=list[str] | None,
        parse=_renames,
        about="new names of systems by their old names, if campaigns name them differently.",
    )
    method: str | None = method_option("Ranking method. Default: mean raw scores, or bradley-terry for rankings.")
    resamples: int = option(1000, "Bootstrap resamples of annotators and documents for intervals.")
    seed: int = seed_option()

    def __post_init__(self) -> None:
        if self.resamples < 0:
            raise UsageError(f"{param('resamples')} is {self.resamples}, it must be 0 or more")


# The names of systems in several campaigns: renaming, and help where they do not match.


MOST_NAMED = 6


def rename_systems(sources: Mapping[str, Source], rename: Mapping[str, str]) -> dict[str, Source]:
    """Give systems their new names in all campaigns; a name that no campaign has is refused."""
    known = {name for source in sources.values() for name in _systems(source)}
    for old in rename:
        if old not in known:
            raise unknown_choice("system to rename", old, sorted(known))
    for campaign, source in sources.items():
        olds: dict[str, str] = {}
        for old in sorted(set(_systems(source))):
            new = rename.get(old, old)
            if olds.setdefault(new, old) != old:
                both = f"'{shown(olds[new])}' and '{shown(old)}'"
                one = f"--rename makes one system '{shown(new)}' of {both} in {campaign}"
                raise UsageError(f"{one}; choose another name")
    renamed: dict[str, Source] = dict(sources)
    for name, source in sources.items() if rename else ():
        if isinstance(source, Judgments):
            table = source.table.with_columns(pl.col("system").replace(dict(rename)))
            renamed[name] = replace(source, table=table)
        else:
            renamed[name] = [replace(score, system=rename.get(score.system, score.system)) for score in source]
    return renamed


def _systems(source: Source) -> Iterable[str]:
    return source.systems if isinstance(source, Judgments) else {score.system for score in source}


def check_shared(campaigns: Sequence[compared_campaigns.Campaign]) -> None:
    """Refuse campaigns that share fewer than two systems with the first, with a hint at names that look alike."""
    first = campaigns[0]
    for other in campaigns[1:]:
        if len(set(first.scores) & set(other.scores)) < 2:
            hint = _hint(suggestions(first.scores, other.scores))
            raise DataError(
                f"{first.name} and {other.name} share fewer than two systems: {_listed(first.scores)} against "
                f"{_listed(other.scores)}; {hint}"
            )


def name_notes(campaigns: Sequence[compared_campaigns.Campaign]) -> list[str]:
    """Systems that some campaigns lack, and names that look alike."""
    notes = []
    first = campaigns[0]
    for other in campaigns[1:]:
        lone = [set(first.scores) - set(other.scores), set(other.scores) - set(first.scores)]
        for campaign, names in zip((first, other), lone, strict=True):
            if names:
                notes.append(f"only {campaign.name} has {_listed(sorted(names))}")
        alike = suggestions(sorted(lone[0]), sorted(lone[1]))
        if alike:
            notes.append(f"some names look alike: {_hint(alike)}")
    return notes


def suggestions(first: Iterable[str], second: Iterable[str]) -> dict[str, str]:
    """Names of the second that look like names of the first, but for case, signs and a prefix or suffix: new to old."""
    known = list(first)
    similar: dict[str, str] = {}
    for name in second:
        alike = [candidate for candidate in known if _alike(candidate, name)]
        if len(alike) == 1 and alike[0] != name:
            similar[name] = alike[0]
    return similar


def _alike(first: str, second: str) -> bool:
    a, b = (re.sub(r"[^\w.]|_", "", name.casefold()) for name in (first, second))
    return bool(a and b) and (a == b or a.endswith(f".{b}") or b.endswith(f".{a}"))


def _hint(alike: Mapping[str, str]) -> str:
    if not alike:
        return f"rename them with {param('rename')} OLD=NEW"
    pairs = [f"{param('rename')} {as_argument([f'{old}={new}'])}" for old, new in list(alike.items())[:MOST_NAMED]]
    return f"try {' '.join(pairs)}"


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    more = f" and {len(every) - MOST_NAMED} more" if len(every) > MOST_NAMED else ""
    return f"{', '.join(every[:MOST_NAMED])}{more}"


# Runs over one and the same system: compared are its documents (or segments), by the gold standard of each run.


def compare_documents(
    sources: Mapping[str, Source], system: str, *, keys: Mapping[str, str] | None, seed: int
) -> compared_campaigns.CampaignComparison:
    """Compare every two runs by their scores of documents; the interval is Fisher's, over documents."""
    runs: dict[str, Judgments] = {name: source for name, source in sources.items() if not isinstance(source, list)}
    standards = {name: gold([run], GoldSettings(seed=seed), names=[name], keys=keys) for name, run in runs.items()}
    by_unit = {
        name: {
            str(score.document if score.segment is None else score.segment): score.z
            for score in standard.scores
            if score.z is not None
        }
        for name, standard in standards.items()
    }
    unit = next(iter(standards.values())).level
    order = list(dict.fromkeys(key for of_run in by_unit.values() for key in of_run))
    ranks = {name: rank_units(of_run) for name, of_run in by_unit.items()}
    costs = []
    for name, run in runs.items():
        table = run.final().table
        minutes, timing = compared_campaigns.minutes_of(table)
        costs.append(compared_campaigns.CampaignCost(name, "zscore", table.height, minutes, None, None, None, timing))
    return compared_campaigns.CampaignComparison(
        settings={"method": "zscore", "seed": seed},
        data="+".join(standard.data for standard in standards.values()),
        set_aside=tuple(aside for standard in standards.values() for aside in standard.set_aside),
        notes=(f"the campaigns hold one system ({system}), so its {unit} are compared by mean z-scores",
               *(f"{name}: {note}" for name, standard in standards.items() for note in standard.notes)),
        campaigns=tuple(runs),
        unit=unit,
        systems=tuple(
            compared_campaigns.ComparedSystem(
                key,
                False,
                tuple(of_run.get(key) for of_run in by_unit.values()),
                tuple(of_run.get(key) for of_run in ranks.values()),
            )
            for key in order
        ),
        pairs=tuple(_pair_documents((a, b), [runs[a], runs[b]], keys, unit, seed) for a, b in combinations(runs, 2)),
        costs=tuple(costs),
    )  # fmt: skip


def rank_units(scores: Mapping[str, float]) -> dict[str, int]:
    """Rank systems or documents by their scores, 1 is best; equal scores share the better rank."""
    return {name: 1 + sum(other > score for other in scores.values()) for name, score in scores.items()}


def _pair_documents(
    names: tuple[str, str], runs: Sequence[Judgments], keys: Mapping[str, str] | None, unit: str, seed: int
) -> compared_campaigns.CampaignPair:
    first, second = names
    both = gold(runs, GoldSettings(orders=0, seed=seed), names=[first, second], keys=keys)
    correlation = both.correlation
    if correlation is None or correlation.n == 0:
        raise DataError(f"{first} and {second} share no {unit}; check the names, or give {param('keys')}")
    before, after = (
        {(score.document, score.segment): score.z for score in scores} for scores in (both.scores, both.second)
    )
    shared = [key for key in before if key in after and before[key] is not None and after[key] is not None]
    x, y = (np.array([by_key[key] for key in shared], dtype=float) for by_key in (before, after))
    upper = np.triu_indices(len(shared), 1)
    flipped = int((np.sign(x[upper[0]] - x[upper[1]]) * np.sign(y[upper[0]] - y[upper[1]]) < 0).sum())
    scores = compared_campaigns.ScoreCorrelation(
        correlation.n, correlation.pearson, correlation.spearman, kendall(x, y), correlation.interval
    )
    count = compared_campaigns.FlipCount(flipped, len(upper[0]), None, None)
    r = show_correlation(scores.pearson, scores.interval)
    verdict = say_same_documents(names, flips=count.flips, pairs=count.pairs, unit=unit, r=r)
    return compared_campaigns.CampaignPair(names, scores, (), count, None, verdict)


# Metrics, and files of scores without annotators, as campaigns: means of segments, documents drawn again.


def campaigns_of_scores(name: str, scores: Sequence[MetricScore], draws: Draws) -> list[compared_campaigns.Campaign]:
    """Every metric (or column of human scores) of a file as a campaign of its own; a single one is named as given."""
    by_metric: dict[str, list[MetricScore]] = {}
    for score in scores:
        if score.score is not None:
            by_metric.setdefault(score.metric, []).append(score)
    several = len(by_metric) > 1
    return [
        _campaign_of_metric(metric if several else name, of_metric, draws) for metric, of_metric in by_metric.items()
    ]


def _campaign_of_metric(name: str, scores: Sequence[MetricScore], draws: Draws) -> compared_campaigns.Campaign:
    segments = [score for score in scores if score.segment is not None]
    used = segments or scores
    systems = tuple(sorted({score.system for score in used}))
    cells = compared_campaigns.Cells(
        systems=systems,
        system=np.array([systems.index(score.system) for score in used]),
        weight=np.ones(len(used)),
        score=np.array([score.score for score in used], dtype=float),
        annotator=None,
        document=draws.of([compared_campaigns.document_of(score) for score in used]),
    )
    resampled = cells.resampled(0, draws) if segments else {}
    p_better, certain = _resampling_tests(cells.scores(), resampled)
    return compared_campaigns.Campaign(
        name=name,
        method="mean",
        unit="mean score",
        scores=cells.scores(),
        human=frozenset(),
        resampled=resampled,
        p_better=p_better,
        certain=certain,
        items={(score.document, score.segment, score.system): float(score.score or 0.0) for score in segments},
        judgments=len(used),
        fingerprint=fingerprint_of_scores(scores),
    )


def _resampling_tests(
    scores: Mapping[str, float], resampled: Mapping[str, Floats]
) -> tuple[dict[tuple[str, str], float], int | None]:
    """Differences of means against their spread over resampled documents, by the normal distribution.

    Gives `p_better` and `certain` of the campaign.
    """
    from scipy.special import ndtr

    if not resampled:
        return {}, None
    p_better: dict[tuple[str, str], float] = {}
    for first, second in permutations(scores, 2):
        spread = float(np.std(resampled[first] - resampled[second], ddof=1))
        difference = scores[first] - scores[second]
        p_better[first, second] = float(ndtr(-difference / spread)) if spread > 0 else float(difference <= 0)
    pairs = [2 * min(p, p_better[pair[::-1]]) for pair, p in p_better.items() if pair[0] < pair[1]]
    return p_better, int((holm(np.array(pairs)) < compared_campaigns.LEVEL).sum())


def compare(
    campaigns: Mapping[str, Any], settings: CompareSettings | None = None, *, keys: Mapping[str, str] | None = None
) -> compared_campaigns.CampaignComparison:
    """Compare two or more campaigns over the systems that they share.

    Args:
        campaigns: by name: judgments (or whatever `adjudge.read` takes), or metric scores as
            `readers.metric_scores.read_metric_scores` gives them.
        settings: other names of systems, the method whose scores are compared, and the resamples of the intervals.
        keys: the document of every segment, for judgments that do not say it.

    Returns:
        Correlations with intervals, pairs that flip, agreement on shared items, costs, and a verdict in one sentence.
    """
    settings = settings or CompareSettings()
    rename, method, resamples, seed = settings.rename or {}, settings.method, settings.resamples, settings.seed
    sources = rename_systems({name: _read_source(source) for name, source in campaigns.items()}, rename)
    if len(sources) < 2 and not any(isinstance(source, list) for source in sources.values()):
        raise UsageError("one campaign was given, at least two are needed; name another file")
    held = {source.systems if isinstance(source, Judgments) else () for source in sources.values()}
    if len(held) == 1 and len(only := held.pop()) == 1:
        return compare_documents(sources, only[0], keys=keys, seed=seed)
    draws = compared_campaigns.draw_documents(sources.values(), resamples=resamples, seed=seed)
    loaded: list[compared_campaigns.Campaign] = []
    for number, (name, source) in enumerate(sources.items()):
        if isinstance(source, Judgments):
            loaded.append(compared_campaigns.campaign_of_judgments(name, source, number, method, draws))
        else:
            loaded += campaigns_of_scores(name, source, draws)
    if len(loaded) < 2:
        raise UsageError("one campaign was given, at least two are needed; name another file")
    check_shared(loaded)
    return compared_campaigns.CampaignComparison(
        settings={
            "method": method,
            "resamples": resamples,
            "seed": seed,
            "rename": ",".join(f"{old}={new}" for old, new in rename.items()) or None,
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


def _read_source(source: Any) -> Source:
    from adjudge.ranking.scores import as_scores
    from adjudge.readers.metric_scores import MetricScore
    from adjudge.readers.registry import read

    if isinstance(source, list) and source and all(isinstance(score, MetricScore) for score in source):
        return source
    return as_scores(read(source))


def _notes(loaded: Sequence[compared_campaigns.Campaign], sources: Mapping[str, Source]) -> tuple[str, ...]:
    judgments = {name: source for name, source in sources.items() if isinstance(source, Judgments)}
    # Readers begin some notes with the name of the file already.
    noted = [(campaign.name, note) for campaign in loaded for note in campaign.notes]
    noted += [(name, note) for name, source in judgments.items() for note in source.notes]
    of_campaigns = [note if note.startswith(f"{name}: ") else f"{name}: {note}" for name, note in noted]
    return tuple(dict.fromkeys((*name_notes(loaded), *of_campaigns)))


def _side_by_side(loaded: Sequence[compared_campaigns.Campaign]) -> tuple[compared_campaigns.ComparedSystem, ...]:
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
        compared_campaigns.ComparedSystem(
            name,
            any(name in campaign.human for campaign in loaded),
            tuple(campaign.scores.get(name) for campaign in loaded),
            tuple(of_campaign.get(name) for of_campaign in ranks),
        )
        for name in sorted(several, key=lambda name: (name not in first, -first.get(name, 0.0), name))
    )


def _pair(first: compared_campaigns.Campaign, second: compared_campaigns.Campaign) -> compared_campaigns.CampaignPair:
    systems = sorted(
        name
        for name in first.scores
        if name in second.scores and np.isfinite(first.scores[name]) and np.isfinite(second.scores[name])
    )
    correlation, flipped = (
        compared_campaigns.score_correlation(first, second, systems),
        compared_campaigns.flips(first, second, systems),
    )
    count = compared_campaigns.flip_count(first, second, systems, len(flipped))
    return compared_campaigns.CampaignPair(
        campaigns=(first.name, second.name),
        scores=correlation,
        flips=flipped,
        flip_count=count,
        items=compared_campaigns.item_agreement(first, second, systems),
        verdict=compared_campaigns.verdict_on((first.name, second.name), correlation, flipped, count),
    )


def _cost(campaign: compared_campaigns.Campaign) -> compared_campaigns.CampaignCost:
    certain = campaign.certain
    per = None if not certain else campaign.judgments / certain
    minutes = None if not certain or campaign.minutes is None else campaign.minutes / certain
    return compared_campaigns.CampaignCost(
        campaign.name, campaign.method, campaign.judgments, campaign.minutes, certain, per, minutes, campaign.timing
    )
