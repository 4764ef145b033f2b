"""Scores with known truth: leniency, taste, scale, carelessness, unequal documents, controls, the scale's ends.

    score = mean + system + [leniency + task] + taste + document + segment + system:document + page + residual

A taste belongs to one annotator and one system. Annotators multiply what they see by their own use of the scale.
Careless ones give scores that have nothing to do with what they see. `design_scores` is drawn once, `draw_scores` then
draws any number of campaigns of that design at once, so that studies of calibration cost little more than their
analysis.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.rng import DEFAULT_SEED, generator
from adjudge.results.simulate import Simulated
from adjudge.simulate.invented_texts import draw_texts, human_names
from adjudge.simulate.score_campaign import DEGRADED, REFERENCE, ScoreDesign, design_scores
from adjudge.simulate.truth import truth_of

if TYPE_CHECKING:
    from adjudge.core.arrays import Bools, Floats, Ints
    from adjudge.simulate.score_campaign import ScoreCampaign


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
