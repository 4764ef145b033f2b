"""Relative rankings with known truth: Davidson-Luce labels, uneven opponents, careless annotators, repeats.

Every system has a quality in log-odds, on every segment a deviation from it, and in every annotator's eyes another.
Careful annotators label a screen by `davidson.draw_ranks`; careless ones click every label with equal probability.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.core.judgments import Judgments
from adjudge.core.languages import parse_pair
from adjudge.core.rng import DEFAULT_SEED, generator
from adjudge.results.simulate import Simulated, TrueSystem, Truth
from adjudge.simulate.blocks import Blocks, draw_blocks
from adjudge.simulate.davidson import draw_ranks
from adjudge.simulate.names import numbered
from adjudge.simulate.texts import USUAL_LENGTH, draw_texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.simulate.campaign import RankingCampaign

REFERENCE = "reference"
SCREENS_PER_TASK = 20
_STREAM = 1001


def simulate_rankings(campaign: RankingCampaign, *, seed: int = DEFAULT_SEED) -> Simulated:
    """Draw a campaign of relative rankings.

    Args:
        campaign: the parameters.
        seed: the same campaign and seed give the same judgments.

    Returns:
        The judgments and the truth behind them.
    """
    rng = generator(seed, _STREAM)
    ability = _abilities(campaign, rng)
    careless = np.zeros(campaign.annotators, dtype=bool)
    careless[rng.permutation(campaign.annotators)[: round(campaign.careless * campaign.annotators)]] = True
    blocks = draw_blocks(campaign, ability, rng)
    sources = draw_texts(campaign.documents * campaign.segments, rng)
    ranks = _label(campaign, ability, careless, blocks, clarity=_clarity(campaign, sources), rng=rng)
    judgments = _table(campaign, blocks, ranks, careless, rng)
    return Simulated(judgments, _truth(campaign, seed, ability, careless, judgments.fingerprint), sources)


def _abilities(campaign: RankingCampaign, rng: np.random.Generator) -> NDArray[np.float64]:
    drawn = rng.normal(0, campaign.spread, campaign.systems)
    ability = np.array(campaign.qualities) if campaign.qualities is not None else drawn - drawn.mean()
    return np.append(ability, ability.max() + campaign.reference_lead) if campaign.reference else ability


def _label(
    campaign: RankingCampaign,
    ability: NDArray[np.float64],
    careless: NDArray[np.bool_],
    blocks: Blocks,
    *,
    clarity: NDArray[np.float64],
    rng: np.random.Generator,
) -> NDArray[np.int32]:
    """The labels given; 0 stands for one left blank."""
    segments = campaign.documents * campaign.segments
    deviation = rng.normal(0, campaign.segment_spread, (segments, len(ability)))
    met, seen = np.unique(blocks.annotator * segments + blocks.segment, return_inverse=True)
    taste = rng.normal(0, campaign.taste, (len(met), len(ability)))
    strength = ability[blocks.shown] + deviation[blocks.segment[:, None], blocks.shown]
    strength += taste[seen[:, None], blocks.shown]
    ranks = draw_ranks(strength * clarity[blocks.segment][:, None], campaign.ties, rng)
    random_clicks = rng.integers(1, campaign.block_size + 1, size=ranks.shape, dtype=np.int32)
    ranks = np.where(careless[blocks.annotator][:, None], random_clicks, ranks)
    ranks[rng.random(ranks.shape) < campaign.blanks] = 0
    return ranks


def _clarity(campaign: RankingCampaign, sources: tuple[str, ...]) -> NDArray[np.float64]:
    """How clearly differences show on each segment: 1 at the usual length, less on longer texts."""
    words = np.array([len(text.split()) for text in sources])
    return np.asarray((words / USUAL_LENGTH) ** -campaign.length_effect)


def _table(
    campaign: RankingCampaign,
    blocks: Blocks,
    ranks: NDArray[np.int32],
    careless: NDArray[np.bool_],
    rng: np.random.Generator,
) -> Judgments:
    count, size = ranks.shape
    source, target = parse_pair(campaign.pair).split("-", 1)
    names = np.array([*numbered("system", campaign.systems), REFERENCE])
    people = np.array(numbered("annotator", campaign.annotators))
    nth = _nth_screen_of_annotator(blocks.annotator)
    seconds = np.exp(rng.normal(np.where(careless[blocks.annotator], 2.2, 3.6), 0.4))
    documents = numbered("document", campaign.documents)
    each = pl.DataFrame(
        {
            "annotator": people[blocks.annotator],
            "task": nth // SCREENS_PER_TASK + 1,
            "screen": numbered("screen", count),
            "document": np.array(documents)[blocks.segment // campaign.segments],
            "segment": (blocks.segment + 1).astype(str),  # the line of the source text, as files of the field have it
            # A time is that of the whole screen; each of its outputs gets an equal share, as in every table.
            "active_seconds": (seconds / size).round(1),
        }
    ).with_columns(pl.format("{}-{}", pl.col("annotator"), pl.col("task")).alias("task"))
    rows = each[np.repeat(np.arange(count), size)].with_columns(
        pl.lit(campaign.name).alias("campaign"),
        pl.lit("ranking").alias("protocol"),
        pl.lit(source).alias("source_lang"),
        pl.lit(target).alias("target_lang"),
        pl.Series("system", names[blocks.shown.ravel()]),
        pl.Series("human", blocks.shown.ravel() == campaign.systems),
        pl.Series("rank", ranks.ravel()).replace(0, None),
    )
    return Judgments.from_columns(rows)


def _nth_screen_of_annotator(annotator: NDArray[np.int64]) -> NDArray[np.int64]:
    return (pl.Series("who", annotator).to_frame().select(pl.int_range(pl.len()).over("who"))).to_series().to_numpy()


def _truth(
    campaign: RankingCampaign,
    seed: int,
    ability: NDArray[np.float64],
    careless: NDArray[np.bool_],
    fingerprint: str,
) -> Truth:
    names = [*numbered("system", campaign.systems), REFERENCE]
    best_first = np.argsort(-ability, kind="stable")
    systems = tuple(
        TrueSystem(names[i], bool(i == campaign.systems), float(ability[i]), 1 + int((ability > ability[i]).sum()))
        for i in best_first
    )
    people = numbered("annotator", campaign.annotators)
    return Truth(
        settings={"protocol": "ranking", **campaign.settings(), "seed": seed},
        data=fingerprint,
        protocol="ranking",
        unit="log-odds of winning",
        systems=systems,
        careless=tuple(name for name, one in zip(people, careless, strict=True) if one),
    )
