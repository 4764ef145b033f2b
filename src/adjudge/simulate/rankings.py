"""Relative rankings with known truth: Davidson-Luce labels, uneven opponents, careless annotators, repeats.

Every system has a quality in log-odds, on every segment a deviation from it, and in every annotator's eyes others: one
for the system as a whole (taste), and one for each output.
Careful annotators label a screen by `draw_ranks`; careless ones click every label with equal probability.

Plackett and Luce fill a ranking from the top: the next place goes to a system with probability proportional to its
strength. Firth, Kosmidis and Turner (2019, "Davidson-Luce: a flexible extension of the Davidson and Plackett-Luce
models") let several systems share the place: a set T of systems is chosen with probability proportional to
nu^(|T| - 1) times the geometric mean of the strengths in T. With two systems this is Davidson's (1970) model of ties:
P(a > b) : P(tie) : P(b > a) = e^a : nu e^((a+b)/2) : e^b.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.core.judgments import Judgments
from adjudge.core.languages import parse_pair
from adjudge.core.rng import DEFAULT_SEED, generator
from adjudge.results.simulate import Simulated
from adjudge.simulate.invented_texts import USUAL_LENGTH, draw_texts, numbered
from adjudge.simulate.ranking_campaign import Blocks, draw_blocks
from adjudge.simulate.truth import truth_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.core.arrays import Bools, Floats
    from adjudge.simulate.ranking_campaign import RankingCampaign

# Blocks handled at once, so that a million blocks do not need a gigabyte.
_CHUNK = 50_000


def draw_ranks(strength: Floats, ties: float, rng: np.random.Generator) -> NDArray[np.int32]:
    """Draw one ranking per row.

    Args:
        strength: log strengths, one row per block and one column per place on the screen.
        ties: Davidson's nu; 0 means that nothing ties.
        rng: the source of chance.

    Returns:
        The labels, 1 for the best, tied systems alike, no label skipped.
    """
    parts = [_draw_chunk(strength[i : i + _CHUNK], ties, rng) for i in range(0, len(strength), _CHUNK)]
    return np.concatenate(parts) if parts else np.empty(strength.shape, dtype=np.int32)


def _draw_chunk(strength: Floats, ties: float, rng: np.random.Generator) -> NDArray[np.int32]:
    blocks, columns = strength.shape
    sets = np.arange(1, 2**columns)
    member = (sets[:, None] >> np.arange(columns)) & 1
    size = member.sum(axis=1)
    log_ties = np.log(ties) if ties > 0 else -np.inf
    bonus = np.where(size > 1, (size - 1) * log_ties, 0.0) if ties > 0 else np.where(size > 1, -np.inf, 0.0)
    weight = strength @ (member / size[:, None]).T + bonus
    ranks = np.zeros((blocks, columns), dtype=np.int32)
    left = np.full(blocks, 2**columns - 1)
    for label in range(1, columns + 1):
        # The largest of log weights with Gumbel noise is a draw in proportion to the weights.
        open_sets = (sets & ~left[:, None]) == 0
        noisy = np.where(open_sets, weight + rng.gumbel(size=weight.shape), -np.inf)
        chosen = np.where(left > 0, sets[noisy.argmax(axis=1)], 0)
        ranks[((chosen[:, None] >> np.arange(columns)) & 1).astype(bool)] = label
        left &= ~chosen
    return ranks


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
    truth = truth_of(
        campaign,
        seed,
        judgments.fingerprint,
        humans=(REFERENCE,),
        quality=ability,
        careless=careless,
        protocol="ranking",
        unit="log-odds of winning",
        notes=campaign.notes(),
    )
    return Simulated(judgments, truth, sources)


def _abilities(campaign: RankingCampaign, rng: np.random.Generator) -> Floats:
    drawn = rng.normal(0, campaign.spread, campaign.systems)
    ability = np.array(campaign.qualities) if campaign.qualities is not None else drawn - drawn.mean()
    return np.append(ability, ability.max() + campaign.reference_lead) if campaign.reference else ability


def _label(
    campaign: RankingCampaign,
    ability: Floats,
    careless: Bools,
    blocks: Blocks,
    *,
    clarity: Floats,
    rng: np.random.Generator,
) -> NDArray[np.int32]:
    """The labels given; 0 stands for one left blank."""
    segments = campaign.documents * campaign.segments
    deviation = rng.normal(0, campaign.segment_spread, (segments, len(ability)))
    met, seen = np.unique(blocks.annotator * segments + blocks.segment, return_inverse=True)
    taste = rng.normal(0, campaign.taste, (len(met), len(ability)))
    strength = ability[blocks.shown] + deviation[blocks.segment[:, None], blocks.shown]
    strength += taste[seen[:, None], blocks.shown]
    if campaign.system_taste > 0:
        liking = rng.normal(0, campaign.system_taste, (campaign.annotators, len(ability)))
        strength += liking[blocks.annotator[:, None], blocks.shown]
    ranks = draw_ranks(strength * clarity[blocks.segment][:, None], campaign.ties, rng)
    random_clicks = rng.integers(1, campaign.block_size + 1, size=ranks.shape, dtype=np.int32)
    ranks = np.where(careless[blocks.annotator][:, None], random_clicks, ranks)
    ranks[rng.random(ranks.shape) < campaign.blanks] = 0
    return ranks


def _clarity(campaign: RankingCampaign, sources: tuple[str, ...]) -> Floats:
    """Compute how clearly differences show on each segment: 1 at the usual length, less on longer texts."""
    words = np.array([len(text.split()) for text in sources])
    return np.asarray((words / USUAL_LENGTH) ** -campaign.length_effect)


def _table(
    campaign: RankingCampaign, blocks: Blocks, ranks: NDArray[np.int32], careless: Bools, rng: np.random.Generator
) -> Judgments:
    count, size = ranks.shape
    source, target = parse_pair(campaign.pair).split("-", 1)
    names = np.array([*numbered("system", campaign.systems), REFERENCE])
    people = np.array(numbered("annotator", campaign.annotators))
    nth = pl.DataFrame({"who": blocks.annotator}).select(pl.int_range(pl.len()).over("who")).to_series().to_numpy()
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
