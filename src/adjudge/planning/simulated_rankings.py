"""A simulated campaign of rankings before any label is drawn: its parameters, and which systems are shown together.

Parameters are checked when they are given. Blocks say what is shown on which segment and to whom.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.planning.truth import USUAL_LENGTH, Simulated, draw_texts, numbered, truth_of
from adjudge.table.errors import UsageError, param
from adjudge.table.judgments import Judgments
from adjudge.table.languages import parse_pair
from adjudge.table.rng import DEFAULT_SEED, generator
from adjudge.table.settings import check_least, check_shares
from adjudge.table.wording import agreeing, counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.table.maths import Bools, Floats, Ints


@dataclass(frozen=True, kw_only=True)
class RankingCampaign:
    """A campaign of relative rankings. Shares lie between 0 and 1, qualities are log-odds (Bradley-Terry)."""

    systems: int = 8
    """Machine systems; a human reference comes on top where `reference` is above 0."""
    annotators: int = 20
    blocks: int = 600
    """Screens judged in all, repeated ones included."""
    block_size: int = 5
    """Systems on a screen (fewer where there are fewer systems)."""
    documents: int = 20
    segments: int = 10
    """Segments of each document."""
    spread: float = 1.0
    """Standard deviation of the drawn qualities; ignored where `qualities` are given."""
    qualities: tuple[float, ...] | None = None
    """The qualities themselves, one per system."""
    ties: float = 0.5
    """Davidson's nu: two equal systems tie with probability ties / (2 + ties)."""
    reference: float = 0.2
    """Share of the blocks that hold the human reference."""
    reference_lead: float = 1.5
    """How far the reference lies above the best system."""
    uneven: float = 0.0
    """How strongly systems of similar strength are shown together: 0 is not at all, 1 is very."""
    careless: float = 0.0
    """Share of the annotators who click at random."""
    workload: float = 0.8
    """How unequal the annotators' shares of the work are (standard deviation of its logarithm)."""
    repeats: float = 0.05
    """Share of the blocks that the same annotator has judged before."""
    overlap: float = 0.2
    """Share of the blocks that a second annotator judges as well."""
    segment_spread: float = 2.0
    """How much a system's quality differs between segments (standard deviation): what annotators agree on."""
    taste: float = 1.0
    """How much an annotator's view of an output differs from others' (standard deviation), alike when it returns."""
    system_taste: float = 0.4
    """How much more, or less, an annotator likes a system than others do, on all its outputs (standard deviation). The
    default gives a fitted taste of about 0.15, the middle of 29 released campaigns of 2010 and 2011 (0 to 0.28)."""
    length_effect: float = 0.0
    """How much harder long source texts are: twice the length divides differences by 2 ** length_effect."""
    blanks: float = 0.0
    """Share of the labels left blank."""
    pair: str = "src-tgt"
    name: str = "simulated"

    def __post_init__(self) -> None:
        check_least(self, 1, "systems", "annotators", "blocks", "documents", "segments")
        check_shares(self, "reference", "careless", "repeats", "overlap", "blanks")
        check_least(self, 0, "spread", "ties", "uneven", "workload", "segment_spread", "taste", "system_taste",
                       "length_effect")  # fmt: skip
        check_least(self, 2, "block_size")
        if self.block_size > MAX_BLOCK:
            raise UsageError(
                f"{param('block_size')} {self.block_size} is too large; show at most {MAX_BLOCK} systems together"
            )
        if self.repeats + self.overlap > 0.9:
            both = f"{self.repeats:g} and {self.overlap:g}"
            raise UsageError(f"{param('repeats')} and {param('overlap')} are {both}; together they may be at most 0.9")
        check_qualities(self.qualities, self.systems)
        if self.systems == 1 and self.reference == 0:
            raise UsageError("one system without a reference has nobody to be compared with; simulate at least two")

    @property
    def shown_at_most(self) -> int:
        """How many there are to be shown on a screen: the systems, and the reference where there is one."""
        return self.systems + (self.reference > 0)

    def notes(self) -> tuple[str, ...]:
        """Say where screens cannot be as the parameters say, as there are too few systems."""
        notes = []
        if self.block_size > self.shown_at_most:
            held = f"{counted(self.systems, 'system')}{' and a reference' if self.reference > 0 else ''}"
            are = agreeing(self.systems, "is", "are")
            notes.append(f"screens show {self.shown_at_most}, not {self.block_size}: there {are} only {held}")
        if self.block_size >= self.shown_at_most and 0 < self.reference < 1:
            notes.append(
                f"the reference is on every screen, not on a share of {self.reference:g}: all systems fit on one"
            )
        return tuple(notes)


MAX_BLOCK = 10


def check_qualities(qualities: tuple[float, ...] | None, systems: int) -> None:
    """Refuse qualities of more or fewer systems than there are."""
    if qualities is not None and len(qualities) != systems:
        given = counted(len(qualities), "quality was", "qualities were")
        raise UsageError(f"{given} given for {counted(systems, 'system')}; give one for each")


@dataclass(frozen=True, eq=False)
class Blocks:
    """One entry per screen. `shown` holds the systems' codes; the reference, where there is one, has the last code."""

    shown: Ints
    segment: Ints
    annotator: Ints

    def take(self, chosen: Ints) -> Blocks:
        """The chosen screens."""
        return Blocks(self.shown[chosen], self.segment[chosen], self.annotator[chosen])


def draw_blocks(campaign: RankingCampaign, ability: Floats, rng: np.random.Generator) -> Blocks:
    """Draw all screens: new ones, then those that the same or another annotator judges again, in a random order."""
    # Rounded down: at least one screen is new.
    again = int(campaign.repeats * campaign.blocks)
    others = int(campaign.overlap * campaign.blocks) if campaign.annotators > 1 else 0
    load = np.exp(campaign.workload * rng.standard_normal(campaign.annotators))
    share = load / load.sum()
    new = campaign.blocks - again - others
    first = Blocks(
        shown=_draw_shown(campaign, ability, new, rng),
        segment=rng.integers(campaign.documents * campaign.segments, size=new),
        annotator=rng.choice(campaign.annotators, size=new, p=share),
    )
    repeated = first.take(rng.choice(new, size=again, replace=again > new))
    overlap = first.take(rng.choice(new, size=others, replace=others > new))
    overlap = replace(overlap, annotator=_other_annotators(overlap.annotator, share, rng))
    parts = (first, repeated, overlap)
    together = Blocks(*(np.concatenate([getattr(part, name.name) for part in parts]) for name in fields(Blocks)))
    shuffled = together.take(rng.permutation(campaign.blocks))
    # Systems are shown in random order.
    return replace(shuffled, shown=rng.permuted(shuffled.shown, axis=1))


def _other_annotators(annotator: Ints, share: Floats, rng: np.random.Generator) -> Ints:
    """For every screen another annotator than its own, by workload."""
    if not len(annotator):
        return annotator
    noisy = np.log(share) + rng.gumbel(size=(len(annotator), len(share)))
    noisy[np.arange(len(annotator)), annotator] = -np.inf
    return np.asarray(noisy.argmax(axis=1))


def _draw_shown(campaign: RankingCampaign, ability: Floats, blocks: int, rng: np.random.Generator) -> Ints:
    """Systems on each screen: one drawn evenly, the others by closeness in strength; sometimes the reference."""
    rank = np.empty(campaign.systems)
    rank[np.argsort(ability[: campaign.systems])] = np.arange(campaign.systems)
    centre = rng.integers(campaign.systems, size=blocks)
    liking = -campaign.uneven * np.abs(rank[centre][:, None] - rank)
    noisy = liking + rng.gumbel(size=liking.shape)
    noisy[np.arange(blocks), centre] = np.inf
    size = min(campaign.block_size, campaign.shown_at_most)
    shown = np.argsort(-noisy, axis=1)[:, :size]
    if size > shown.shape[1]:  # every system is shown already: the reference joins them always
        return np.concatenate([shown, np.full((blocks, 1), campaign.systems)], axis=1)
    with_reference = rng.random(blocks) < campaign.reference
    shown[with_reference, -1] = campaign.systems
    return shown


# Relative rankings with known truth: Davidson-Luce labels, uneven opponents, careless annotators, repeats.
#
# Every system has a quality in log-odds, on every segment a deviation from it, and in every annotator's eyes others:
# one for the system as a whole (taste), and one for each output. Careful annotators label a screen by `draw_ranks`;
# careless ones click every label with equal probability.
#
# Plackett and Luce fill a ranking from the top: the next place goes to a system with probability proportional to its
# strength. Firth, Kosmidis and Turner (2019, "Davidson-Luce: a flexible extension of the Davidson and Plackett-Luce
# models") let several systems share the place: a set T of systems is chosen with probability proportional to
# nu^(|T| - 1) times the geometric mean of the strengths in T. With two systems this is Davidson's (1970) model of ties:
# P(a > b) : P(tie) : P(b > a) = e^a : nu e^((a+b)/2) : e^b.

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
    ability = draw_abilities(campaign, int(campaign.reference > 0), rng)
    careless = draw_careless(campaign, rng)
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


def draw_abilities(campaign: RankingCampaign, humans: int, rng: np.random.Generator) -> Floats:
    """The qualities of the systems in log-odds, and of human translations behind them."""
    drawn = rng.normal(0, campaign.spread, campaign.systems)
    ability = np.array(campaign.qualities) if campaign.qualities is not None else drawn - drawn.mean()
    return np.append(ability, np.repeat(ability.max() + campaign.reference_lead, humans))


def draw_careless(campaign: RankingCampaign, rng: np.random.Generator) -> Bools:
    """Which annotators click at random."""
    careless = np.zeros(campaign.annotators, dtype=bool)
    careless[rng.permutation(campaign.annotators)[: round(campaign.careless * campaign.annotators)]] = True
    return careless


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
