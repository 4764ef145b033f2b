"""A campaign as `compare` sees it: scores of systems, how far they depend on who judged what, and what they cost.

How far scores depend on people and texts is found by drawing annotators and documents again, both with replacement and
independently of each other: a score counts as often as its annotator times its document was drawn (A. Owen 2007, The
pigeonhole bootstrap, Annals of Applied Statistics 1, 386-411). Documents that two campaigns share are drawn together.
Strengths and effects of models with annotators' tastes are drawn from the covariance that the model gives them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.compare.single_judgments import items_of, minutes_of, preferences_of
from adjudge.core.comparisons import comparisons
from adjudge.core.errors import DataError, UsageError
from adjudge.core.judgments import Judgments
from adjudge.core.maths import divide
from adjudge.core.protocols import RATED, RELATIVE, SCORED
from adjudge.core.rng import generator
from adjudge.core.score_sheet import sheet_of, standardised
from adjudge.rank import RankSettings, default_method, rank
from adjudge.rank.methods import find_method
from adjudge.rank.resampling_units import tally, units_of
from adjudge.ranking.estimator import RelativeEstimator, ScoreEstimator

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from adjudge.compare.single_judgments import Item, Preference
    from adjudge.core.arrays import Floats, Ints
    from adjudge.formats.metric_score_files import MetricScore
    from adjudge.rank.methods import Method
    from adjudge.ranking.estimate import Estimate

RESAMPLES = 1000
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

    @property
    def resamples(self) -> int:
        """How many resamples there are."""
        return len(self.weights)

    def of(self, names: Sequence[str]) -> Ints:
        """The columns of these documents."""
        return np.array([self.documents[name] for name in names], dtype=np.int64)


def draw_documents(sources: Iterable[Judgments | Sequence[MetricScore]], *, resamples: int, seed: int) -> Draws:
    """Draw the documents of all campaigns; a document that several share is drawn for all of them at once."""
    names = sorted({name for source in sources for name in _document_names(source)})
    n = max(len(names), 1)
    weights = generator(seed, _DOCUMENTS).multinomial(n, np.full(n, 1 / n), size=resamples).astype(float)
    return Draws({name: i for i, name in enumerate(names)}, weights, seed)


def _document_names(source: Judgments | Sequence[MetricScore]) -> Iterable[str]:
    if isinstance(source, Judgments):
        return source.table.select(_DOCUMENT)["unit"].unique().to_list()
    return {document_of(score) for score in source}


# The document, or the segment where the document is not known.
_DOCUMENT = pl.coalesce("document", "segment").fill_null("").alias("unit")


def document_of(score: MetricScore) -> str:
    """Return what is drawn again with a score: its document, or its segment if documents are not known."""
    return score.document or score.segment or ""


def campaign_of_judgments(name: str, judgments: Judgments, number: int, method: str | None, draws: Draws) -> Campaign:
    """A campaign from judgments of one language pair; `number` keeps the annotators of campaigns apart."""
    if len(judgments.pairs) > 1:
        pairs = ", ".join(judgments.pairs)
        raise DataError(f"{name} holds several language pairs ({pairs}); choose with --pair")
    relative = bool(set(judgments.protocols) & set(RELATIVE))
    chosen = find_method(method or (default_method(judgments) if relative else SCORE_METHOD))
    if (chosen.judgments == "relative") != relative:
        kind = "relative judgments" if relative else "scores"
        raise UsageError(f"--method {chosen.name} does not fit {name}, which holds {kind}; leave it out")
    scores, resampled = _scores_by(judgments, chosen, number, draws)
    tests = _ranking_tests(judgments)
    final = judgments.final().table
    minutes, timing = minutes_of(final)
    return Campaign(
        name=name,
        method=chosen.name,
        unit=chosen.unit,
        scores=scores,
        human=frozenset(final.filter(pl.col("human"))["system"].unique().to_list()),
        resampled=resampled,
        p_better=tests.p_better,
        certain=tests.certain,
        items={} if relative else items_of(final),
        preferences=preferences_of(judgments) if relative else {},
        judgments=final.filter(pl.col("kind").is_in(RATED)).height,
        minutes=minutes,
        timing=timing,
        fingerprint=judgments.fingerprint,
        notes=tests.notes,
    )


def _scores_by(
    judgments: Judgments, method: Method, number: int, draws: Draws
) -> tuple[dict[str, float], dict[str, Floats]]:
    """The score of every system by the method, and the same in every resample."""
    if method.judgments == "relative":
        return _relative_scores(judgments, method, number, draws)
    if method.name not in ("raw", "zscore"):
        return _model_scores(judgments, method, number, draws)
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
        means = np.empty((draws.resamples, len(self.systems)))
        for resample in range(draws.resamples):
            weight = self.weight * draws.weights[resample, self.document]
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
        return _drawn(RelativeEstimator(compared).estimate_at()[0], draws.resamples, rng)
    scores = method.score(tally(compared), rng)
    resampled = np.concatenate([method.score(part, rng) for part in units.resampled(draws.resamples, rng)])
    named = dict(zip(compared.systems, (float(score) for score in scores), strict=True))
    return named, dict(zip(compared.systems, resampled.T, strict=True))


def _model_scores(
    judgments: Judgments, method: Method, number: int, draws: Draws
) -> tuple[dict[str, float], dict[str, Floats]]:
    """By the mixed model, whose covariance says how effects vary over other annotators and documents."""
    estimate = ScoreEstimator(judgments, model=method.name).estimate
    return _drawn(estimate, draws.resamples, generator(draws.seed, _MODEL, number))


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


@dataclass(frozen=True)
class RankingPairs:
    """Tests of all pairs of systems: `p_better` as in `Campaign`, and how many pairs are certain after Holm."""

    p_better: Mapping[tuple[str, str], float]
    certain: int | None
    notes: tuple[str, ...] = ()


def _ranking_tests(judgments: Judgments) -> RankingPairs:
    """Test every pair by the default ranking, which respects annotators and documents whatever the scores are."""
    try:
        ranking = rank(judgments, settings=RankSettings())
    except DataError as fault:
        return RankingPairs({}, None, (f"pairs of systems are not tested: {fault}",))
    p_better: dict[tuple[str, str], float] = {}
    for pair in ranking.comparisons:
        if pair.p is not None:
            p_better[pair.better, pair.worse] = pair.p / 2
            p_better[pair.worse, pair.better] = 1 - pair.p / 2
    certain = sum(pair.p_holm is not None and pair.p_holm < ranking.lines.level for pair in ranking.comparisons)
    return RankingPairs(p_better, certain)
