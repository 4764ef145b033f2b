"""A campaign as `compare` sees it: scores of systems, how far they depend on who judged what, and what they cost.

How far scores depend on people and texts is found by drawing annotators and documents again, both with replacement and
independently of each other: a score counts as often as its annotator times its document was drawn (A. Owen 2007, The
pigeonhole bootstrap, Annals of Applied Statistics 1, 386-411). Documents that two campaigns share are drawn together.
Strengths and effects of models with annotators' tastes are drawn from the covariance that the model gives them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from adjudge.evidence.verdict_comparison import say_same_order, show_correlation
from adjudge.ranking.counts import tally, units_of
from adjudge.ranking.decisions import holm
from adjudge.ranking.estimator import is_relative
from adjudge.ranking.methods import RankSettings, default_method, find_method, rank
from adjudge.ranking.relative_estimator import RelativeEstimator
from adjudge.ranking.scores import ScoreEstimator
from adjudge.table.comparisons import comparisons, segment_keys
from adjudge.table.errors import DataError, UsageError, param
from adjudge.table.judgments import Judgments
from adjudge.table.maths import NORMAL_95, divide, kendall, pearson, spearman
from adjudge.table.protocols import RATED, SCORED
from adjudge.table.record import count_answers
from adjudge.table.results import (
    P_HOLM,
    Cell,
    Result,
    Table,
    number,
    p_value,
    percent,
    shown_name,
    tabulate,
    text,
    to_plain,
)
from adjudge.table.rng import generator
from adjudge.table.score_sheet import sheet_of, standardised

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from adjudge.ranking.estimator import Estimate
    from adjudge.ranking.methods import Method
    from adjudge.readers.metric_scores import MetricScore
    from adjudge.table.maths import Floats, Ints

    Coefficient = Callable[[Floats, Floats], float]


# What single people said in a campaign: scores and preferences by segment, and how long they took.


Item = tuple[str | None, str | None, str]
"""Document, segment and system."""
Preference = tuple[str | None, str | None, str, str]
"""Document, segment and two systems in the order of their names."""
LONGEST_PAUSE = 600.0
"""Seconds between two answers beyond which the person is taken to have paused."""
ACTIVE, FROM_START, BETWEEN = "active time", "from start to end", "between answers"


def preferences_of(judgments: Judgments) -> dict[Preference, float]:
    """The mean outcome of every two systems on every segment: 1 where all prefer the first."""
    compared = comparisons(judgments)
    keys = segment_keys(judgments).select("document", "segment").rows()
    means = (
        pl.DataFrame({"segment": compared.segment, "a": compared.first, "b": compared.second, "o": compared.outcome})
        .group_by("segment", "a", "b", maintain_order=True)
        .agg(pl.col("o").cast(pl.Float64).mean())
    )
    return {
        (*keys[segment], compared.systems[first], compared.systems[second]): outcome
        for segment, first, second, outcome in means.iter_rows()
    }


def minutes_of(table: pl.DataFrame) -> tuple[float | None, str | None]:
    """Compute how long people worked, and say how that is known.

    The active time counts where judgments have it. Else the time from start to end of what was shown together, each
    once, or else the time between one answer of an annotator and the next, with pauses of more than ten minutes left
    out and the first answer not counted.
    """
    seconds = table["active_seconds"].drop_nulls()
    if seconds.len():
        return float(seconds.sum()) / 60, ACTIVE
    timed = table.filter(pl.col("started").is_not_null() & (pl.col("ended") > pl.col("started")))
    if timed.height:
        shown = timed.unique(["annotator", "task", "started", "ended"], maintain_order=True)
        return float((shown["ended"] - shown["started"]).dt.total_seconds(fractional=True).sum()) / 60, FROM_START
    answered = table.filter(pl.col("ended").is_not_null() & pl.col("annotator").is_not_null())
    moments = answered.unique(["annotator", "ended"]).sort("annotator", "ended")
    gaps = moments.select(pl.col("ended").diff().over("annotator").dt.total_seconds(fractional=True))["ended"]
    worked = gaps.filter(gaps <= LONGEST_PAUSE)
    return (float(worked.sum()) / 60, BETWEEN) if worked.len() else (None, None)


SCORE_METHOD = "raw"
"""Scores are compared as they were given, so that readers can compute them again; `--method` chooses others."""
_ANNOTATORS, _DOCUMENTS, _RELATIVE, _MODEL = 81, 82, 83, 84
_FEWEST_DEGREES = 3.0
"""With fewer degrees of freedom the spread of draws from Student's t has no limit."""


@dataclass(frozen=True, eq=False)
class Campaign:
    """One way of judging: scores by system, with what is known of their doubt."""

    name: str
    method: str
    unit: str
    scores: Mapping[str, float]
    human: frozenset[str]
    resampled: Mapping[str, Floats] = field(default_factory=dict)
    """The score of every system in every resample; empty where nothing can be drawn again."""
    p_better: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """By pair, the one-sided p of the test that the first system is better: small where the data show that it is."""
    certain: int | None = None
    """Pairs of systems that are told apart after Holm's correction."""
    items: Mapping[Item, float] = field(default_factory=dict)
    preferences: Mapping[Preference, float] = field(default_factory=dict)
    """Of relative judgments: how far the first system was preferred, from -1 to 1, on every segment."""
    judgments: int = 0
    minutes: float | None = None
    timing: str | None = None
    """How the minutes are known."""
    fingerprint: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Draws:
    """How often each document is drawn in each resample, for all campaigns together."""

    documents: Mapping[str, int]
    weights: Floats
    """(resamples, documents)"""
    seed: int

    def of(self, names: Sequence[str]) -> Ints:
        """The columns of these documents."""
        return np.array([self.documents[name] for name in names], dtype=np.int64)


def draw_documents(sources: Iterable[Judgments | Sequence[MetricScore]], *, resamples: int, seed: int) -> Draws:
    """Draw the documents of all campaigns; a document that several share is drawn for all of them at once."""
    names = sorted(
        {
            name
            for source in sources
            for name in (
                source.table.select(_DOCUMENT)["unit"].unique()
                if isinstance(source, Judgments)
                else map(document_of, source)
            )
        }
    )
    n = max(len(names), 1)
    weights = generator(seed, _DOCUMENTS).multinomial(n, np.full(n, 1 / n), size=resamples).astype(float)
    return Draws({name: i for i, name in enumerate(names)}, weights, seed)


_DOCUMENT = pl.coalesce("document", "segment").fill_null("").alias("unit")
"""The document, or the segment where the document is not known."""


def document_of(score: MetricScore) -> str:
    """Return what is drawn again with a score: its document, or its segment if documents are not known."""
    return score.document or score.segment or ""


def campaign_of_judgments(name: str, judgments: Judgments, number: int, method: str | None, draws: Draws) -> Campaign:
    """A campaign from judgments of one language pair; `number` keeps the annotators of campaigns apart."""
    if len(judgments.pairs) > 1:
        pairs = ", ".join(judgments.pairs)
        raise DataError(f"{name} holds several language pairs ({pairs}); choose with {param('pair')}")
    relative = is_relative(judgments)
    chosen = find_method(method or (default_method(judgments) if relative else SCORE_METHOD))
    if (chosen.judgments == "relative") != relative:
        kind = "relative judgments" if relative else "scores"
        raise UsageError(f"{param('method')} {chosen.name} does not fit {name}, which holds {kind}; leave it out")
    scores, resampled = _scores_by(judgments, chosen, number, draws)
    p_better, certain, notes = _ranking_tests(judgments)
    final = judgments.final().table
    minutes, timing = minutes_of(final)
    rated = final.filter(pl.col("protocol").is_in(SCORED) & pl.col("kind").is_in(RATED) & pl.col("score").is_not_null())
    # In the order of the table: sums over items would have other last digits in every run.
    by_item = rated.group_by("document", "segment", "system", maintain_order=True)
    means = by_item.agg(pl.col("score").mean()).iter_rows()
    return Campaign(
        name=name,
        method=chosen.name,
        unit=chosen.unit,
        scores=scores,
        human=frozenset(final.filter(pl.col("human"))["system"].unique().to_list()),
        resampled=resampled,
        p_better=p_better,
        certain=certain,
        items={} if relative else {(document, segment, system): mean for document, segment, system, mean in means},
        preferences=preferences_of(judgments) if relative else {},
        judgments=count_answers(final).judgments,
        minutes=minutes,
        timing=timing,
        fingerprint=judgments.fingerprint,
        notes=notes,
    )


def _scores_by(
    judgments: Judgments, method: Method, number: int, draws: Draws
) -> tuple[dict[str, float], dict[str, Floats]]:
    """The score of every system by the method, and the same in every resample."""
    if method.judgments == "relative":
        return _relative_scores(judgments, method, number, draws)
    if method.name not in ("raw", "zscore"):
        # The covariance of the mixed model says how effects vary over other annotators and documents.
        estimator = ScoreEstimator(judgments, model=method.name)
        estimate = estimator.estimate if estimator.reading is None else estimator.average
        return _drawn(estimate, len(draws.weights), generator(draws.seed, _MODEL, number))
    sheet = sheet_of(judgments)
    sheet = sheet if method.name == "raw" else standardised(sheet)
    used = sheet.rated & ~np.isnan(sheet.score)
    counts = np.bincount(sheet.item[used], minlength=len(sheet.item_system))
    table = judgments.final().table.filter(pl.col("protocol").is_in(SCORED) & pl.col("score").is_not_null())
    cells = Cells(
        systems=sheet.systems,
        system=sheet.system[used],
        weight=1.0 / counts[sheet.item[used]],
        score=sheet.score[used],
        annotator=sheet.annotator[used] if len(sheet.annotators) > 1 else None,
        document=draws.of(table.select(_DOCUMENT)["unit"].filter(used).to_list()),
    )
    return cells.scores(), cells.resampled(number, draws)


@dataclass(frozen=True, eq=False)
class Cells:
    """Scores with their weight, annotator and document: all that the pigeonhole bootstrap needs."""

    systems: tuple[str, ...]
    system: Ints
    weight: Floats
    score: Floats
    annotator: Ints | None
    document: Ints

    def means(self, weight: Floats) -> Floats:
        """The weighted mean score of every system."""
        n = len(self.systems)
        total = np.bincount(self.system, weights=weight * self.score, minlength=n)
        return divide(total, np.bincount(self.system, weights=weight, minlength=n))

    def scores(self) -> dict[str, float]:
        """The scores of the systems by name."""
        return {name: float(mean) for name, mean in zip(self.systems, self.means(self.weight), strict=True)}

    def resampled(self, number: int, draws: Draws) -> dict[str, Floats]:
        """The scores over all resamples; `number` tells the annotators of two campaigns apart."""
        people = 0 if self.annotator is None else int(self.annotator.max()) + 1
        rng = generator(draws.seed, _ANNOTATORS, number)
        means = np.empty((len(draws.weights), len(self.systems)))
        for resample, drawn in enumerate(draws.weights):
            weight = self.weight * drawn[self.document]
            if self.annotator is not None:
                weight = weight * rng.multinomial(people, np.full(people, 1 / people))[self.annotator]
            means[resample] = self.means(weight)
        return dict(zip(self.systems, means.T, strict=True))


def _relative_scores(
    judgments: Judgments, method: Method, number: int, draws: Draws
) -> tuple[dict[str, float], dict[str, Floats]]:
    """By a method for relative judgments; annotators are drawn again (blocks, where there is one annotator only)."""
    compared = comparisons(judgments)
    if len(compared) == 0:
        raise DataError("no two systems were ranked in the same block, so there is nothing to compare")
    units, rng = units_of(compared), generator(draws.seed, _RELATIVE, number)
    if method.significance == "tastes" and units.kind == "annotators":
        return _drawn(RelativeEstimator(compared).estimate_at()[0], len(draws.weights), rng)
    scores = method.score(tally(compared), rng)
    resampled = np.concatenate([method.score(part, rng) for part in units.resampled(len(draws.weights), rng)])
    named = dict(zip(compared.systems, (float(score) for score in scores), strict=True))
    return named, dict(zip(compared.systems, resampled.T, strict=True))


def _drawn(estimate: Estimate, number: int, rng: np.random.Generator) -> tuple[dict[str, float], dict[str, Floats]]:
    """Effects by name, and draws around them from Student's t, because few people leave their errors uncertain."""
    systems, effects, covariance = estimate.systems, estimate.effects, estimate.covariance
    degrees = float(np.nanmedian(estimate.df[~np.eye(len(systems), dtype=bool)]))
    noise = rng.multivariate_normal(np.zeros(len(effects)), covariance, size=number, method="eigh")
    if np.isfinite(degrees):
        finite = max(degrees, _FEWEST_DEGREES)
        noise *= np.sqrt(finite / rng.chisquare(finite, size=(number, 1)))
    named = {name: float(effect) for name, effect in zip(systems, effects, strict=True)}
    return named, dict(zip(systems, (effects + noise).T, strict=True))


def _ranking_tests(judgments: Judgments) -> tuple[dict[tuple[str, str], float], int | None, tuple[str, ...]]:
    """Test every pair by the default ranking, which respects annotators and documents whatever the scores are.

    Gives `p_better`, `certain` and `notes` of the campaign.
    """
    try:
        ranking = rank(judgments, settings=RankSettings())
    except DataError as fault:
        return {}, None, (f"pairs of systems are not tested: {fault.for_command_line()}",)
    p_better: dict[tuple[str, str], float] = {}
    for pair in ranking.comparisons:
        if pair.p is not None:
            p_better[pair.better, pair.worse] = pair.p / 2
            p_better[pair.worse, pair.better] = 1 - pair.p / 2
    certain = sum(pair.decided for pair in ranking.comparisons)
    return p_better, certain, ()


Interval = tuple[float, float]
LEVEL = 0.05


@dataclass(frozen=True)
class ScoreCorrelation:
    """Correlation of scores (Pearson) and of orders (Spearman, Kendall's tau-b), with 95% intervals.

    The intervals say what other annotators and documents could show.
    """

    n: int
    pearson: float
    spearman: float
    kendall: float
    interval: Interval | None
    spearman_interval: Interval | None = None
    kendall_interval: Interval | None = None


@dataclass(frozen=True)
class Flip:
    """A pair that the second campaign orders differently: `better` is the better one in the first."""

    better: str
    worse: str
    p: float | None
    """p-value of the flip: the larger of the two campaigns' one-sided p-values. None if one cannot be tested."""
    p_holm: float | None

    @property
    def certain(self) -> bool:
        """Whether the campaigns contradict each other by more than chance."""
        return self.p_holm is not None and self.p_holm < LEVEL


@dataclass(frozen=True)
class FlipCount:
    """How many pairs flip, and how many would by chance if both campaigns measured the same truth."""

    flips: int
    pairs: int
    expected: float | None
    p: float | None


@dataclass(frozen=True)
class ItemAgreement:
    """Agreement on single translations that both campaigns judged, or on which of two was preferred."""

    n: int
    pearson: float
    kendall: float
    unit: str = "translations"
    """`translations`, or `preferences` between two systems on one segment if a campaign is relative."""
    decided: int | None = None
    """Preferences that are decided in both campaigns."""
    same: float | None = None
    """The share of these for which both prefer the same system."""


@dataclass(frozen=True)
class ComparedSystem:
    """One unit (a system, or a document if there is only one system) with its score and rank in every campaign."""

    system: str
    human: bool
    scores: tuple[float | None, ...]
    ranks: tuple[int | None, ...]


@dataclass(frozen=True)
class CampaignCost:
    """The effort of a campaign, in all and per pair of systems that differ significantly."""

    campaign: str
    method: str
    judgments: int
    minutes: float | None
    certain_pairs: int | None
    judgments_per_certain_pair: float | None
    minutes_per_certain_pair: float | None
    timing: str | None = None
    """The source of the minutes: active time, from start to end, or between answers."""


@dataclass(frozen=True)
class CampaignPair:
    """Two of the campaigns side by side."""

    campaigns: tuple[str, str]
    scores: ScoreCorrelation
    flips: tuple[Flip, ...]
    flip_count: FlipCount
    items: ItemAgreement | None
    verdict: str


@dataclass(frozen=True, kw_only=True)
class CampaignComparison(Result):
    """Two or more campaigns over the same systems."""

    verb: ClassVar[str] = "compare"

    campaigns: tuple[str, ...]
    unit: str
    """The compared units: `systems`, or `documents` or `segments` if the campaigns share only one system."""
    systems: tuple[ComparedSystem, ...]
    pairs: tuple[CampaignPair, ...]
    """Every two campaigns, in the order in which they were given."""
    costs: tuple[CampaignCost, ...]

    @property
    def verdict(self) -> str:
        """The verdict on the first two campaigns."""
        return self.pairs[0].verdict

    def to_dict(self) -> dict[str, Any]:
        """The documented keys: correlation, flips and verdict of the first two campaigns, and all campaign pairs."""
        plain = super().to_dict()
        first: dict[str, Any] = to_plain(self.pairs[0])
        del first["campaigns"]
        return plain | first | {"comparisons": plain.pop("pairs")}

    def tables(self) -> tuple[Table, ...]:
        """Correlations, scores side by side, flips and preferences where there are any, costs."""
        flips, preferences = self._flips_table(), self._preferences_table()
        some = [table for table in (flips, preferences) if table.rows]
        return (self._pairs_table(), self._systems_table(), *some, self._costs_table())

    def _preferences_table(self) -> Table:
        """How often two campaigns prefer the same translation."""
        rows = tuple(
            (*pair.campaigns, pair.items.n, pair.items.decided, pair.items.same)
            for pair in self.pairs
            if pair.items is not None and pair.items.unit == "preferences"
        )
        counts = (number("shared preferences", 0), number("decided in both", 0), percent("the same"))
        note = "On one segment and two systems: is it the same translation that both prefer?"
        return Table("Preferences compared", (text("campaign"), text("other campaign"), *counts), rows, note)

    def _pairs_table(self) -> Table:
        rows: list[tuple[Cell, ...]] = []
        for pair in self.pairs:
            low, high = pair.scores.interval or (None, None)
            count, items = pair.flip_count, pair.items
            rows.append(
                (*pair.campaigns, pair.scores.n, pair.scores.pearson, low, high, pair.scores.spearman,
                 pair.scores.kendall, count.flips, count.expected, count.p, None if items is None else items.pearson)
            )  # fmt: skip
        columns = (
            text("campaign"), text("campaign"), number(self.unit, 0), number("pearson"), number("low"), number("high"),
            number("spearman"), number("kendall"), number("flips", 0),
            number("by chance", 1, help="flips if both campaigns measured the same truth"),
            p_value("p", help="so many flips or more by chance"), number("items", help="Pearson's r over shared items"),
        )  # fmt: skip
        return Table("Campaigns compared", columns, tuple(rows), " ".join(pair.verdict for pair in self.pairs[:1]))

    def _systems_table(self) -> Table:
        rows = tuple(
            (shown_name(system.system, system.human), *system.scores, *system.ranks) for system in self.systems
        )
        columns = (
            text(self.unit.removesuffix("s")),
            *(number(name, 2, help="score") for name in self.campaigns),
            *(number(f"rank in {name}", 0) for name in self.campaigns),
        )
        plain = any(cost.method == SCORE_METHOD for cost in self.costs)
        note = "Raw means and their ranks do not correct for who judged what; adjudge rank does." if plain else ""
        return Table("Scores side by side", columns, rows, note)

    def _flips_table(self) -> Table:
        rows = tuple(
            (*pair.campaigns, flip.better, flip.worse, flip.p, flip.p_holm, "yes" if flip.certain else "no")
            for pair in self.pairs
            for flip in pair.flips
        )
        columns = (
            text("campaign"), text("other campaign"), text("better in the first"), text("better in the other"),
            p_value("p"), P_HOLM, text("more than chance"),
        )  # fmt: skip
        return Table("Pairs that flip", columns, rows)

    def _costs_table(self) -> Table:
        columns = {
            "campaign": text("campaign"),
            "method": text("scores by"),
            "judgments": number("judgments", 0),
            "minutes": number("minutes", 0),
            "certain_pairs": number("certain pairs", 0, help="decided by the default ranking, as adjudge rank does"),
            "judgments_per_certain_pair": number("judgments per certain pair", 0),
            "minutes_per_certain_pair": number("minutes per certain pair", 1),
            "timing": text("minutes are", help="active time, from start to end, or between answers"),
        }
        return tabulate("What each campaign took", self.costs, columns)


# Two campaigns side by side: correlation of scores and orders, pairs that flip, agreement, the verdict in a sentence.
#
# Intervals come from the resampled scores of both campaigns: Pearson's and Spearman's r by Fisher's z, Kendall's tau as
# it is, each plus or minus 1.96 standard deviations over the resamples.
#
# A pair of systems flips where the two campaigns order it differently. It flips by more than chance where each
# campaign finds its own order with confidence: the p of a flip is the larger of the two one-sided p-values, which is
# the test of Gail and Simon for a qualitative interaction of two groups (1985, Biometrics 41, 361-372). Holm corrects
# it for all pairs. How many flips chance alone would bring is simulated: both campaigns get the mean of their
# standardised scores as the truth, drawn together to the spread that its errors leave, and each its own resampled
# errors. The mean itself has errors, so that systems lie further apart in it than they truly do, and too few pairs
# would flip.


FEWEST_FOR_R = 3


def score_correlation(first: Campaign, second: Campaign, systems: Sequence[str]) -> ScoreCorrelation:
    """Correlate the scores of two campaigns over the systems that both have."""
    x, y = (np.array([campaign.scores[name] for name in systems]) for campaign in (first, second))
    if len(systems) < FEWEST_FOR_R:
        return ScoreCorrelation(len(systems), float("nan"), float("nan"), float("nan"), None)
    drawn = [_resampled(campaign, systems) for campaign in (first, second)]
    coefficients: dict[str, Coefficient] = {"pearson": pearson, "spearman": spearman, "kendall": kendall}
    values = {name: coefficient(x, y) for name, coefficient in coefficients.items()}
    # A correlation of 1 has no finite z; it is replaced by the value halfway to the next lower one that ranks allow.
    limits = {"pearson": 0.9999, "spearman": 1 - 6 / (len(systems) * (len(systems) ** 2 - 1)), "kendall": None}
    intervals = [
        _interval(values[name], coefficient, drawn[0], drawn[1], limit=limits[name])
        for name, coefficient in coefficients.items()
    ]
    return ScoreCorrelation(len(systems), values["pearson"], values["spearman"], values["kendall"], *intervals)


def _resampled(campaign: Campaign, systems: Sequence[str]) -> Floats | None:
    """(resamples, systems), or None where nothing can be drawn again."""
    return np.stack([campaign.resampled[name] for name in systems], axis=1) if campaign.resampled else None


def _interval(
    value: float, coefficient: Coefficient, first: Floats | None, second: Floats | None, *, limit: float | None
) -> tuple[float, float] | None:
    """The spread over resamples, by Fisher's z where a limit is given: correlations beyond it count as the limit."""
    if first is None or second is None or np.isnan(value):
        return None
    known = np.isfinite(first).all(1) & np.isfinite(second).all(1)
    drawn = np.array([coefficient(x, y) for x, y in zip(first[known], second[known], strict=True)])
    drawn = drawn[np.isfinite(drawn)]
    if len(drawn) < 20:
        return None
    if limit is None:
        reach = NORMAL_95 * drawn.std(ddof=1)
        return (max(-1.0, float(value - reach)), min(1.0, float(value + reach)))
    z, middle = np.arctanh(np.clip(drawn, -limit, limit)), np.arctanh(np.clip(value, -limit, limit))
    reach = NORMAL_95 * z.std(ddof=1)
    return (float(np.tanh(middle - reach)), float(np.tanh(middle + reach)))


def flips(first: Campaign, second: Campaign, systems: Sequence[str]) -> tuple[Flip, ...]:
    """Every pair that the second campaign orders otherwise than the first, the most certain first."""
    order = sorted(systems, key=lambda name: (-first.scores[name], name))
    pairs = [(a, b) for a, b in combinations(order, 2) if first.scores[a] > first.scores[b]]
    flipped = [second.scores[better] < second.scores[worse] for better, worse in pairs]
    p: list[float | None] = []
    for pair, flip in zip(pairs, flipped, strict=True):
        forth, back = first.p_better.get(pair), second.p_better.get(pair[::-1])
        p.append(1.0 if not flip else None if forth is None or back is None else max(forth, back))
    corrected = holm(np.array([1.0 if value is None else value for value in p]))
    reversed_pairs = [
        Flip(better, worse, value, None if value is None else float(p_holm))
        for (better, worse), flip, value, p_holm in zip(pairs, flipped, p, corrected, strict=True)
        if flip
    ]
    return tuple(sorted(reversed_pairs, key=lambda flip: (2.0 if flip.p is None else flip.p, flip.better, flip.worse)))


def flip_count(first: Campaign, second: Campaign, systems: Sequence[str], number: int) -> FlipCount:
    """Count the pairs that flip, and simulate how many would if both campaigns measured the same truth."""
    pairs = len(systems) * (len(systems) - 1) // 2
    drawn = [_resampled(campaign, systems) for campaign in (first, second)]
    if len(systems) < FEWEST_FOR_R or drawn[0] is None or drawn[1] is None:
        return FlipCount(number, pairs, None, None)
    # The scores with mean 0 and standard deviation 1, and their resampled errors in the same unit.
    standard, errors = [], []
    for campaign, resampled in ((first, drawn[0]), (second, drawn[1])):
        scores = np.array([campaign.scores[name] for name in systems])
        unit = float(scores.std()) or 1.0
        standard.append((scores - scores.mean()) / unit)
        errors.append(np.nan_to_num((resampled - np.nanmean(resampled, axis=0)) / unit))
    # The mean drawn together to the spread that is left without its errors.
    truth = (standard[0] + standard[1]) / 2
    spread, noise = float(truth.var()), float(((errors[0] + errors[1]) / 2).var(axis=1).mean())
    truth = truth * np.sqrt(max(0.0, 1 - noise / spread)) if spread > 0 else truth
    upper = np.triu_indices(len(systems), 1)
    signs = [np.sign((truth + error)[:, upper[0]] - (truth + error)[:, upper[1]]) for error in errors]
    simulated = (signs[0] * signs[1] < 0).sum(1)
    return FlipCount(
        number, pairs, float(simulated.mean()), float((1 + (simulated >= number).sum()) / (1 + len(simulated)))
    )


def item_agreement(first: Campaign, second: Campaign, systems: Sequence[str]) -> ItemAgreement | None:
    """Measure agreement on single translations that both judged; None if they share none.

    Where one of them is relative, on which of two translations of a segment is preferred, and by how much.
    """
    if first.preferences or second.preferences:
        return _preference_agreement(first, second, set(systems))
    shared = [item for item in first.items if item in second.items and item[2] in set(systems)]
    if len(shared) < FEWEST_FOR_R:
        return None
    x, y = (np.array([campaign.items[item] for item in shared]) for campaign in (first, second))
    return ItemAgreement(len(shared), pearson(x, y), kendall(x, y))


def _preference_agreement(first: Campaign, second: Campaign, systems: set[str]) -> ItemAgreement | None:
    one, other = (campaign.preferences or _preferences_of_scores(campaign, systems) for campaign in (first, second))
    shared = [item for item in one if item in other and item[2] in systems and item[3] in systems]
    if len(shared) < FEWEST_FOR_R:
        return None
    x, y = (np.array([preferences[item] for item in shared]) for preferences in (one, other))
    decided = (x != 0) & (y != 0)
    same = float((np.sign(x) == np.sign(y))[decided].mean()) if decided.any() else None
    # Each preference counts in both directions, so that the order of names does not matter.
    both_x, both_y = np.append(x, -x), np.append(y, -y)
    return ItemAgreement(
        len(shared), pearson(both_x, both_y), kendall(both_x, both_y), "preferences", int(decided.sum()), same
    )


def _preferences_of_scores(campaign: Campaign, systems: set[str]) -> dict[Preference, float]:
    """Differences of scores of two systems on one segment."""
    by_segment: dict[tuple[str | None, str | None], dict[str, float]] = {}
    for (document, segment, system), score in campaign.items.items():
        if system in systems:
            by_segment.setdefault((document, segment), {})[system] = score
    return {
        (*key, a, b): scores[a] - scores[b]
        for key, scores in by_segment.items()
        for a, b in combinations(sorted(scores), 2)
    }


def verdict_on(names: tuple[str, str], scores: ScoreCorrelation, flips: Sequence[Flip], count: FlipCount) -> str:
    """Whether the two give the same order of systems, and how far what differs is more than chance."""
    return say_same_order(
        names,
        [(flip.better, flip.worse) for flip in flips if flip.certain],
        flips=len(flips),
        pairs=count.pairs,
        systems=scores.n,
        more_than_chance=None if count.p is None else count.p < LEVEL,
        r=show_correlation(scores.pearson, scores.interval),
    )
