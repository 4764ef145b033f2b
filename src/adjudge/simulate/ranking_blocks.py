"""Which systems are shown together, on which segment and to whom. Knows nothing of the labels given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.simulate.ranking_campaign import RankingCampaign


@dataclass(frozen=True, eq=False)
class Blocks:
    """One entry per screen. `shown` holds the systems' codes; the reference, where there is one, has the last code."""

    shown: NDArray[np.int64]
    segment: NDArray[np.int64]
    annotator: NDArray[np.int64]

    def take(self, chosen: NDArray[np.int64]) -> Blocks:
        """The chosen screens."""
        return Blocks(self.shown[chosen], self.segment[chosen], self.annotator[chosen])


def draw_blocks(campaign: RankingCampaign, ability: NDArray[np.float64], rng: np.random.Generator) -> Blocks:
    """Draw all screens: new ones, then those that the same or another annotator judges again, in a random order."""
    # Rounded down: at least one screen is new.
    again = int(campaign.repeats * campaign.blocks)
    others = int(campaign.overlap * campaign.blocks) if campaign.annotators > 1 else 0
    share = _workload(campaign, rng)
    new = campaign.blocks - again - others
    first = Blocks(
        shown=_draw_shown(campaign, ability, new, rng),
        segment=rng.integers(campaign.documents * campaign.segments, size=new),
        annotator=rng.choice(campaign.annotators, size=new, p=share),
    )
    repeated = first.take(rng.choice(new, size=again, replace=again > new))
    overlap = first.take(rng.choice(new, size=others, replace=others > new))
    someone_else = _someone_else(overlap.annotator, share, rng)
    overlap = Blocks(overlap.shown, overlap.segment, someone_else)
    together = Blocks(
        *(
            np.concatenate([getattr(part, name) for part in (first, repeated, overlap)])
            for name in ("shown", "segment", "annotator")
        )
    )
    shuffled = together.take(rng.permutation(campaign.blocks))
    # Systems are shown in random order.
    return Blocks(rng.permuted(shuffled.shown, axis=1), shuffled.segment, shuffled.annotator)


def _workload(campaign: RankingCampaign, rng: np.random.Generator) -> NDArray[np.float64]:
    load = np.exp(campaign.workload * rng.standard_normal(campaign.annotators))
    return np.asarray(load / load.sum())


def _someone_else(
    annotator: NDArray[np.int64], share: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """For every screen another annotator than its own, by workload."""
    if not len(annotator):
        return annotator
    noisy = np.log(share) + rng.gumbel(size=(len(annotator), len(share)))
    noisy[np.arange(len(annotator)), annotator] = -np.inf
    return np.asarray(noisy.argmax(axis=1))


def _draw_shown(
    campaign: RankingCampaign, ability: NDArray[np.float64], blocks: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Systems on each screen: one drawn evenly, the others by closeness in strength; sometimes the reference."""
    rank = np.empty(campaign.systems)
    rank[np.argsort(ability[: campaign.systems])] = np.arange(campaign.systems)
    centre = rng.integers(campaign.systems, size=blocks)
    liking = -campaign.uneven * np.abs(rank[centre][:, None] - rank)
    noisy = liking + rng.gumbel(size=liking.shape)
    noisy[np.arange(blocks), centre] = np.inf
    size = min(campaign.block_size, campaign.systems + (campaign.reference > 0))
    shown = np.argsort(-noisy, axis=1)[:, :size]
    if size > shown.shape[1]:  # every system is shown already: the reference joins them always
        return np.concatenate([shown, np.full((blocks, 1), campaign.systems)], axis=1)
    with_reference = rng.random(blocks) < campaign.reference
    shown[with_reference, -1] = campaign.systems
    return shown
