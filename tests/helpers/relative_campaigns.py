"""Simulated relative judgments of people with tastes, as comparisons: for tests of error rates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.ranking.counts import annotator_units, people_counts
from adjudge.ranking.decisions import PairTests, decide, holm, line_after
from adjudge.ranking.tastes import compare_people
from adjudge.table.comparisons import Comparisons

Floats = NDArray[np.float64]
LEVEL = 0.05
DRAWS = 1000


@dataclass(frozen=True)
class RelativeCampaign:
    """Systems of given strengths (equal ones where left out), ranked by people who each have a taste."""

    systems: int
    work: tuple[int, ...]
    """Blocks of each annotator."""
    shown: int = 5
    taste: float = 0.5
    """How differently annotators like a system: standard deviation in log-odds."""
    segments: int = 0
    """Source segments that all annotators share; each block has a segment of its own where it is 0."""
    segment_sd: float = 0.0
    """How differently a system does on segments."""
    polarising: float = 0.0
    """How much the first system is liked by half of the people and disliked by the other half."""
    families: float = 0.0
    """How differently annotators like the first half of the systems from the second: they are of two families."""
    documents: int = 0
    """Documents that the shared segments are parts of, in turn."""
    document_sd: float = 0.0
    """How differently a system does in documents."""
    common: tuple[int, int] = (0, 0)
    """So many segments that all annotators judge besides, and so many more screens of each annotator on them."""
    on_one_segment: float = 0.0
    """This share of all screens is on one and the same segment."""
    strengths: tuple[float, ...] | None = None

    @property
    def truth(self) -> Floats:
        """The strengths, 0 on average."""
        given = np.zeros(self.systems) if self.strengths is None else np.array(self.strengths)
        return np.asarray(given - given.mean())

    def draw(self, rng: np.random.Generator) -> Comparisons:
        """One campaign."""
        segments, besides = self.common
        who = np.repeat(np.arange(len(self.work)), np.array(self.work) + besides)
        number = len(who)
        shown = np.sort(np.argsort(rng.random((number, self.systems)), axis=1)[:, : self.shown], axis=1)
        liking = rng.normal(0, self.taste, (len(self.work), self.systems))
        liking[:, 0] += self.polarising * rng.choice([-1, 1], len(self.work))
        liking[:, : self.systems // 2] += rng.normal(0, self.families, (len(self.work), 1))
        segment = rng.integers(self.segments, size=number) if self.segments else np.arange(number)
        if besides:
            place = np.arange(number) - np.searchsorted(who, who)
            segment = np.where(place < besides, number + place % segments, segment)
        if self.on_one_segment:
            segment[rng.random(number) < self.on_one_segment] = 0
        document = segment % self.documents if self.documents else None
        view = self.truth[shown] + liking[who[:, None], shown] + rng.gumbel(size=shown.shape)
        if self.segment_sd:
            luck = rng.normal(0, self.segment_sd, (int(segment.max()) + 1, self.systems))
            view += luck[segment[:, None], shown]
        if document is not None:
            view += rng.normal(0, self.document_sd, (self.documents, self.systems))[document[:, None], shown]
        rounded = np.round(view)
        ranks = 1 + (rounded[:, :, None] < rounded[:, None, :]).sum(2)
        compared = as_comparisons(self.systems, who, segment, shown, ranks)
        return compared if document is None else replace(compared, document=document[compared.block].astype(np.int32))


def as_comparisons(
    systems: int,
    who: NDArray[np.integer[Any]],
    segment: NDArray[np.integer[Any]],
    shown: NDArray[np.integer[Any]],
    ranks: NDArray[np.integer[Any]],
) -> Comparisons:
    """Blocks (rows of systems in ascending order, and their ranks) as comparisons."""
    number, size = shown.shape
    first, second = np.triu_indices(size, 1)
    block = np.repeat(np.arange(number), len(first))
    return Comparisons(
        systems=tuple(f"s{i:03d}" for i in range(systems)),
        human=np.zeros(systems, dtype=bool),
        annotators=tuple(f"p{i:03d}" for i in range(int(who.max()) + 1)),
        first=shown[:, first].ravel().astype(np.int32),
        second=shown[:, second].ravel().astype(np.int32),
        outcome=np.sign(ranks[:, second] - ranks[:, first]).ravel().astype(np.int8),
        annotator=who[block].astype(np.int32),
        segment=segment[block].astype(np.int32),
        block=block.astype(np.int32),
        label_system=shown.ravel().astype(np.int32),
        label_rank=ranks.ravel().astype(np.int32),
        label_block=np.repeat(np.arange(number), size).astype(np.int32),
        block_annotator=who.astype(np.int32),
    )


@dataclass(frozen=True)
class Outcome:
    """What one campaign led to."""

    claimed: bool
    """Whether any pair was called different after Holm's correction."""
    line: bool
    covered: float
    """Share of systems whose interval holds their strength."""


def outcome(compared: Comparisons, truth: Floats) -> Outcome:
    """Rank a campaign by Bradley-Terry with tastes and compare with the truth."""
    from scipy.special import stdtrit

    strengths = compare_people(people_counts(annotator_units(compared)), compared)
    fit, pairs = strengths.fit, strengths.pairs
    half = stdtrit(fit.df_system, 1 - LEVEL / 2) * fit.system_errors()
    decided = decide(fit.strength, pairs.two_sided, fit.covariance, level=LEVEL, draws=DRAWS)
    order = np.argsort(-fit.strength, kind="stable")
    lines = line_after("decided", order, PairTests(pairs.greater, pairs.two_sided), decided.better, LEVEL)
    return Outcome(
        claimed=bool((holm(pairs.two_sided[np.triu_indices(len(truth), 1)]) < LEVEL).any()),
        line=bool(lines.any()),
        covered=float((np.abs(fit.strength - truth) <= half).mean()),
    )


def outcomes(campaign: RelativeCampaign, number: int, seed: int) -> list[Outcome]:
    """So many campaigns."""
    rng = np.random.default_rng(seed)
    return [outcome(campaign.draw(rng), campaign.truth) for _ in range(number)]
