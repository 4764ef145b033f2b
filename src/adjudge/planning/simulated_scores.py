"""A simulated campaign of scores before any score is drawn: its parameters, and who scores what in which task.

Parameters are checked when they are given. The design includes the controls.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.planning.simulated_rankings import check_qualities
from adjudge.planning.truth import Simulated, draw_texts, human_names, numbered, truth_of
from adjudge.table.errors import UsageError
from adjudge.table.judgments import Judgments
from adjudge.table.languages import parse_pair
from adjudge.table.rng import DEFAULT_SEED, generator
from adjudge.table.settings import check_least, check_shares

if TYPE_CHECKING:
    from adjudge.table.maths import Bools, Codes, Floats, Ints


SYSTEM, REFERENCE, DEGRADED, REPEAT = range(4)
KIND_NAMES = ("system", "reference", "degraded", "repeat")
_CONTROLS = (REFERENCE, DEGRADED, REPEAT)


@dataclass(frozen=True, eq=False)
class ScoreDesign:
    """One entry per score to give; all are codes. Human translations have the last codes of the systems."""

    campaign: ScoreCampaign
    task: Codes
    screen: Codes
    document: Codes
    segment: Codes
    system: Codes
    kind: Codes
    task_annotator: Codes

    def __len__(self) -> int:
        return len(self.task)

    @property
    def annotator(self) -> Codes:
        """Who gives each score."""
        return self.task_annotator[self.task]

    def judgments(self, score: Floats, seconds: Floats | None = None) -> Judgments:
        """The judgment table with these scores."""
        table = self._names.with_columns(pl.Series("score", score))
        return Judgments.from_columns(table if seconds is None else table.with_columns(active_seconds=seconds))

    @cached_property
    def _names(self) -> pl.DataFrame:
        campaign = self.campaign
        source, target = parse_pair(campaign.pair).split("-", 1)
        systems = np.array([*numbered("system", campaign.systems), *human_names(campaign.humans)])
        # A control keeps the name of the system whose output it replaces, as in released files.
        return pl.DataFrame(
            {
                "annotator": np.array(numbered("annotator", campaign.annotators))[self.annotator],
                "task": np.array(numbered("task", len(self.task_annotator)))[self.task],
                "screen": np.array(numbered("screen", int(self.screen.max()) + 1))[self.screen],
                "document": np.array(numbered("document", campaign.documents))[self.document],
                "segment": (self.segment + 1).astype(str),
                "system": systems[self.system],
                "kind": np.array(KIND_NAMES)[self.kind],
                "human": self.system >= campaign.systems,
            }
        ).with_columns(
            campaign=pl.lit(campaign.name),
            protocol=pl.lit("da"),
            source_lang=pl.lit(source),
            target_lang=pl.lit(target),
        )


def design_scores(campaign: ScoreCampaign, rng: np.random.Generator) -> ScoreDesign:
    """Draw who judges what."""
    lengths = rng.integers((campaign.segments + 1) // 2, campaign.segments + campaign.segments // 2 + 1,
                           size=campaign.documents)  # fmt: skip
    rows = _pages(campaign, lengths, rng) if campaign.context else _single_segments(campaign, lengths, rng)
    share = np.exp(campaign.workload * rng.standard_normal(campaign.annotators))
    who = rng.choice(campaign.annotators, size=campaign.tasks, p=share / share.sum())
    task, screen, document, segment, system, kind = rows.T
    return ScoreDesign(campaign, task, screen, document, segment, system, kind, who)


def _rated_size(campaign: ScoreCampaign) -> int:
    return max(1, round(campaign.task_size * (1 - campaign.controls)))


def _pages(campaign: ScoreCampaign, lengths: Codes, rng: np.random.Generator) -> Codes:
    """Tasks of whole documents, each by one system; then pages seen before, whose segments are now controls."""
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    count = campaign.systems + campaign.humans
    rows: list[Codes] = []
    screen = 0
    stream = _PageStream(campaign.documents * count, rng)
    for task in range(campaign.tasks):
        pages = stream.take(lengths, count, _rated_size(campaign))
        again = _pages_again(pages, lengths, count, campaign.task_size - _rated_size(campaign), rng)
        for position, page in enumerate([*pages, *again]):
            document, system = divmod(page, count)
            length = lengths[document]
            kind = rng.choice(_CONTROLS, size=length) if position >= len(pages) else np.zeros(length, dtype=np.int64)
            segment = starts[document] + np.arange(length)
            rows.append(_rows(task, np.full(length, screen), np.full(length, document), segment,
                              system=np.full(length, system), kind=kind))  # fmt: skip
            screen += 1
    return np.concatenate(rows)


class _PageStream:
    """All pages in a random order, again and again in another, so that every page is judged about equally often."""

    def __init__(self, pages: int, rng: np.random.Generator) -> None:
        self._pages, self._rng = pages, rng
        self._waiting: list[int] = []

    def take(self, lengths: Codes, count: int, rows: int) -> list[int]:
        """The next pages that make up about this number of rows; at least one."""
        taken: list[int] = []
        while rows > 0 or not taken:
            if not self._waiting:
                self._waiting = self._rng.permutation(self._pages).tolist()
            rows -= int(lengths[self._waiting[-1] // count])
            taken.append(self._waiting.pop())
        return taken


def _pages_again(pages: list[int], lengths: Codes, count: int, rows: int, rng: np.random.Generator) -> list[int]:
    again: list[int] = []
    for page in rng.permutation(pages).tolist():
        if rows <= 0:
            break
        again.append(page)
        rows -= int(lengths[page // count])
    return again


def _single_segments(campaign: ScoreCampaign, lengths: Codes, rng: np.random.Generator) -> Codes:
    """Tasks of single segments: every system equally often in each, controls drawn from the task's own items."""
    document_of = np.repeat(np.arange(campaign.documents), lengths)
    count = campaign.systems + campaign.humans
    each = max(1, round(_rated_size(campaign) / count))
    rounds = -(-campaign.tasks * each // len(document_of))
    streams = [
        np.concatenate([rng.permutation(len(document_of)) for _ in range(rounds)])[: campaign.tasks * each]
        for _ in range(count)
    ]
    segments = np.stack(streams).reshape(count, campaign.tasks, each)
    rows: list[Codes] = []
    screen = 0
    for task in range(campaign.tasks):
        segment = segments[:, task, :].ravel()
        system = np.repeat(np.arange(count), each)
        chosen, kinds = _controls(len(segment), campaign, rng)
        segment, system = np.concatenate([segment, segment[chosen]]), np.concatenate([system, system[chosen]])
        kind = np.concatenate([np.zeros(count * each, dtype=np.int64), kinds])
        shuffled = rng.permutation(len(segment))
        screens = screen + np.arange(len(segment))
        screen += len(segment)
        rows.append(_rows(task, screens, document_of[segment[shuffled]], segment[shuffled],
                          system=system[shuffled], kind=kind[shuffled]))  # fmt: skip
    return np.concatenate(rows)


def _controls(items: int, campaign: ScoreCampaign, rng: np.random.Generator) -> tuple[Codes, Codes]:
    """Draw the items of a task that are repeated as controls, each at most once per kind of control."""
    per_kind = min(items, round((campaign.task_size - _rated_size(campaign)) / len(_CONTROLS)))
    chosen = np.concatenate([rng.permutation(items)[:per_kind] for _ in _CONTROLS])
    return chosen, np.repeat(_CONTROLS, per_kind)


def _rows(task: int, screen: Codes, document: Codes, segment: Codes, *, system: Codes, kind: Codes) -> Codes:
    return np.stack([np.full(len(screen), task), screen, document, segment, system, kind], axis=1)


@dataclass(frozen=True, kw_only=True)
class ScoreCampaign:
    """A campaign of scores from 0 to 100 (direct assessment).

    Effects are standard deviations in points, before the scale's ends cut them; the defaults are of the size that a
    mixed model finds in large shared tasks.
    """

    systems: int = 8
    humans: int = 1
    """Human translations that are judged like systems."""
    annotators: int = 30
    tasks: int = 60
    """Units of work handed out, each to one annotator."""
    task_size: int = 100
    """Judgments in a task, controls included (approximately, where whole documents are judged)."""
    documents: int = 30
    segments: int = 8
    """Segments of a document on average; documents hold half to one and a half of it."""
    context: bool = True
    """Whole documents by one system on a page; otherwise single segments, the same number by every system in a task."""
    controls: float = 0.3
    """Share of a task that is controls: degraded outputs, repeats and references, in equal parts."""
    mean: float = 75.0
    spread: float = 4.0
    """Of the systems' drawn qualities; ignored where `qualities` are given."""
    qualities: tuple[float, ...] | None = None
    """Points above or below the mean, one per machine system."""
    human_lead: float = 3.0
    """Points by which human translations and references lie above the best system."""
    degradation: float = 25.0
    """Points that a degraded output loses on average."""
    leniency: float = 10.0
    """Of annotators: some give high scores, some low ones."""
    taste: float = 3.0
    """Of how much more, or less, an annotator likes a system than others do. `mixed-points` finds 1.8 to 6.0 points in
    ten released sets from 0 to 100 with ten people or more (news 2021, ESA 2024, ESA study), 2.7 in the middle."""
    scale: float = 0.3
    """Of the logarithm of annotators' use of the scale: some spread their scores wide, some narrowly. In the same sets
    the residuals of annotators vary by .16 to .38."""
    task_effect: float = 5.0
    document_effect: float = 2.0
    segment_effect: float = 6.0
    system_document_effect: float = 4.0
    page_effect: float = 3.0
    residual: float = 18.0
    careless: float = 0.0
    """Share of the annotators whose scores have nothing to do with what they see."""
    workload: float = 0.5
    """How unequal the annotators' shares of the work are (standard deviation of its logarithm)."""
    round_numbers: float = 0.3
    """Share of the annotators who give multiples of 5 or 10."""
    ends: bool = True
    """Whether scores are whole numbers from 0 to 100; otherwise they are kept as drawn."""
    pair: str = "src-tgt"
    name: str = "simulated"

    def __post_init__(self) -> None:
        check_least(self, 1, "systems", "annotators", "tasks", "documents", "segments")
        check_least(self, 0, "humans", "spread", "leniency", "taste", "scale", "task_effect", "document_effect",
                       "segment_effect", "system_document_effect", "page_effect", "residual", "workload")  # fmt: skip
        check_shares(self, "careless", "round_numbers")
        check_least(self, 1, "task_size")
        check_shares(self, "controls", most=0.9)
        check_qualities(self.qualities, self.systems)
        if self.systems + self.humans < 2:
            raise UsageError("one system has nobody to be compared with; simulate at least two")


# Scores with known truth: leniency, taste, scale, carelessness, unequal documents, controls, the scale's ends.
#
#     score = mean + system + [leniency + task] + taste + document + segment + system:document + page + residual
#
# A taste belongs to one annotator and one system. Annotators multiply what they see by their own use of the scale.
# Careless ones give scores that have nothing to do with what they see. `design_scores` is drawn once, `draw_scores`
# then draws any number of campaigns of that design at once, so that studies of calibration cost little more than
# their analysis.

_STREAM = 1002
_CARELESS_MEAN, _CARELESS_SPREAD = 60.0, 25.0
_STEPS = (5, 10)


@dataclass(frozen=True, eq=False)
class ScoreDraws:
    """Scores (draws, rows), the systems' true qualities in points (draws, systems), and who is careless."""

    score: Floats
    quality: Floats
    careless: Bools


def simulate_scores(campaign: ScoreCampaign, *, seed: int = DEFAULT_SEED) -> Simulated:
    """Draw one campaign of scores, with times and source texts.

    Args:
        campaign: the parameters.
        seed: the same campaign and seed give the same judgments.

    Returns:
        The judgments and the truth behind them.
    """
    rng = generator(seed, _STREAM)
    design = design_scores(campaign, rng)
    drawn = draw_scores(design, rng)
    hasty = drawn.careless[0][design.annotator]
    seconds = np.exp(rng.normal(np.where(hasty, 1.2, 2.7), 0.5)).round(1)
    judgments = design.judgments(drawn.score[0], seconds)
    sources = draw_texts(int(design.segment.max()) + 1, rng)
    truth = truth_of(
        campaign,
        seed,
        judgments.fingerprint,
        humans=human_names(campaign.humans),
        quality=drawn.quality[0],
        careless=drawn.careless[0],
        protocol="da",
        unit="points above the average system",
    )
    return Simulated(judgments, truth, sources)


def draw_scores(design: ScoreDesign, rng: np.random.Generator, *, draws: int = 1) -> ScoreDraws:
    """Draw the scores of a design, any number of times at once; every draw has effects of its own."""
    campaign = design.campaign
    quality = _qualities(campaign, draws, rng)
    careless = _some(campaign.careless, campaign.annotators, draws, rng)
    seen = campaign.mean + _shown_quality(design, quality, rng)
    who, task = design.annotator, design.task
    scale = np.exp(rng.normal(0, campaign.scale, (draws, campaign.annotators)))[:, who]
    level = rng.normal(0, campaign.leniency, (draws, campaign.annotators))[:, who]
    level += rng.normal(0, campaign.task_effect, (draws, campaign.tasks))[:, task]
    if campaign.taste > 0:
        liking = rng.normal(0, campaign.taste, (draws, campaign.annotators * quality.shape[1]))
        seen = seen + liking[:, who * quality.shape[1] + design.system]
    noise = rng.normal(0, campaign.residual, seen.shape)
    score = campaign.mean + level + scale * (seen - campaign.mean + noise)
    score = np.where(careless[:, who], rng.normal(_CARELESS_MEAN, _CARELESS_SPREAD, seen.shape), score)
    if campaign.ends:
        score = _on_the_scale(campaign, score, who, rng)
    return ScoreDraws(score, quality, careless)


def _qualities(campaign: ScoreCampaign, draws: int, rng: np.random.Generator) -> Floats:
    """Points above or below the mean of the machine systems, human translations last."""
    drawn = rng.normal(0, campaign.spread, (draws, campaign.systems))
    drawn -= drawn.mean(axis=1, keepdims=True)
    if campaign.qualities is not None:
        drawn = np.broadcast_to(np.array(campaign.qualities), drawn.shape)
    humans = np.repeat(drawn.max(axis=1, keepdims=True) + campaign.human_lead, campaign.humans, axis=1)
    return np.concatenate([drawn, humans], axis=1)


def _shown_quality(design: ScoreDesign, quality: Floats, rng: np.random.Generator) -> Floats:
    """Compute the quality of what is shown, in points: a control equals a reference, or is worse than its output."""
    campaign, draws = design.campaign, len(quality)
    count, segments = quality.shape[1], int(design.segment.max()) + 1
    best = quality[:, : campaign.systems].max(axis=1, keepdims=True)
    shown = np.where(design.kind == REFERENCE, best + campaign.human_lead, quality[:, design.system])
    loss = rng.gamma(4.0, campaign.degradation / 4.0, (draws, len(design))) if campaign.degradation > 0 else 0.0
    shown = shown - np.where(design.kind == DEGRADED, loss, 0.0)
    cell = design.document * count + design.system
    shown += rng.normal(0, campaign.document_effect, (draws, campaign.documents))[:, design.document]
    shown += rng.normal(0, campaign.segment_effect, (draws, segments))[:, design.segment]
    shown += rng.normal(0, campaign.system_document_effect, (draws, campaign.documents * count))[:, cell]
    page = _page(design)
    shown += rng.normal(0, campaign.page_effect, (draws, int(page.max()) + 1))[:, page]
    return np.asarray(shown)


def _page(design: ScoreDesign) -> Ints:
    """One annotator's work on one system's translation of one document in one task."""
    systems = design.campaign.systems + design.campaign.humans
    key = (design.task * design.campaign.documents + design.document) * systems + design.system
    page: Ints = np.unique(key, return_inverse=True)[1]
    return page


def _some(share: float, people: int, draws: int, rng: np.random.Generator) -> Bools:
    """In every draw this share of the people, chosen at random."""
    order = np.argsort(rng.random((draws, people)), axis=1)
    return np.asarray(order < round(share * people))


def _on_the_scale(campaign: ScoreCampaign, score: Floats, who: Ints, rng: np.random.Generator) -> Floats:
    """Round scores to whole numbers from 0 to 100, for some annotators in steps of 5 or 10."""
    coarse = _some(campaign.round_numbers, campaign.annotators, len(score), rng)
    step = np.where(coarse, rng.choice(_STEPS, size=coarse.shape), 1)[:, who]
    return np.clip(np.round(score / step) * step, 0, 100)
