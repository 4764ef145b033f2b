"""Simulated campaigns that are looked at while they grow, for `bench_look` and for the tests of `adjudge.look`.

Every page holds some segments of one document in one system's translation, judged by one annotator. A score is the sum
of the system's quality and of independent normal effects of annotator, taste (annotator and system), document, segment,
system and document, page, and residual. Systems are drawn for every page; a campaign grows page by page.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adjudge.evidence.boundaries import LookPlan, Observed, Settled, settle
from adjudge.mixed.design import MODELS, MixedDesign, combine
from adjudge.mixed.fit import fit
from adjudge.table.errors import DataError
from adjudge.table.judgments import renumber
from adjudge.table.maths import contrasts

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class GrowingCampaign:
    """A campaign of scores, in the order in which its pages are judged."""

    systems: int = 4
    annotators: int = 10
    documents: int = 40
    page: int = 4
    """Segments on a page."""
    pages: int = 160
    qualities: tuple[float, ...] = ()
    """All equal where left out."""
    annotator_sd: float = 6.0
    taste_sd: float = 2.0
    """How much annotators differ in what they think of a system."""
    document_sd: float = 4.0
    segment_sd: float = 6.0
    system_document_sd: float = 7.0
    page_sd: float = 6.5
    residual_sd: float = 13.5
    one_by_one: bool = False
    """Whether each person judges all of their pages before the next one begins; otherwise all judge side by side."""

    @property
    def judgments(self) -> int:
        """Judgments when all pages are done."""
        return self.pages * self.page


@dataclass(frozen=True, eq=False)
class Pages:
    """The codes and scores of all pages, in order."""

    annotator: Codes
    document: Codes
    system: Codes
    score: Floats
    """(pages, segments)."""


Draw = Callable[[int, "Pages"], int]
"""The system that a page shows: of the number of the page, and all pages; those before it are judged."""


def draw_campaign(campaign: GrowingCampaign, rng: np.random.Generator, choose: Draw | None = None) -> Pages:
    """Draw a campaign; `choose` says which system each page shows, at random in even turns where left out."""
    scores = _Scores(campaign, rng)
    count = campaign.pages
    annotator = np.concatenate([rng.permutation(campaign.annotators) for _ in range(-(-count // campaign.annotators))])[
        :count
    ]
    if campaign.one_by_one:
        annotator = np.sort(annotator)
    document = np.concatenate([rng.permutation(campaign.documents) for _ in range(-(-count // campaign.documents))])
    even = np.concatenate([rng.permutation(campaign.systems) for _ in range(-(-count // campaign.systems))])
    pages = Pages(annotator, document[:count], even[:count].copy(), np.empty((count, campaign.page)))
    for number in range(count):
        if choose is not None:
            pages.system[number] = choose(number, pages)
        pages.score[number] = scores.page(
            int(annotator[number]), int(pages.document[number]), int(pages.system[number])
        )
    return pages


class _Scores:
    """The effects of a campaign, drawn once; page effects and residuals are drawn for every page."""

    def __init__(self, campaign: GrowingCampaign, rng: np.random.Generator) -> None:
        self.campaign, self.rng = campaign, rng
        self.quality = np.array(campaign.qualities or (0.0,) * campaign.systems)
        self.annotator = rng.normal(0, campaign.annotator_sd, campaign.annotators)
        self.taste = rng.normal(0, campaign.taste_sd, (campaign.annotators, campaign.systems))
        self.document = rng.normal(0, campaign.document_sd, campaign.documents)
        self.segment = rng.normal(0, campaign.segment_sd, (campaign.documents, campaign.page))
        self.system_document = rng.normal(0, campaign.system_document_sd, (campaign.systems, campaign.documents))

    def page(self, annotator: int, document: int, system: int) -> Floats:
        """The scores of one page."""
        campaign, rng = self.campaign, self.rng
        common = 70 + self.quality[system] + self.annotator[annotator] + self.document[document]
        common += (
            self.taste[annotator, system] + self.system_document[system, document] + rng.normal(0, campaign.page_sd)
        )
        return np.asarray(common + self.segment[document] + rng.normal(0, campaign.residual_sd, campaign.page))


def design_of(pages: Pages, count: int, systems: int) -> MixedDesign:
    """The table of the mixed model after so many pages."""
    size = pages.score.shape[1]
    each = np.repeat(np.arange(count), size)
    segment = pages.document[each] * size + np.tile(np.arange(size), count)
    given = pages.score[:count].ravel()
    model = MODELS["mixed"]
    return MixedDesign(
        score=model.fitted_scores(given),
        given=given,
        model=model,
        systems=tuple(f"system-{number:02d}" for number in range(systems)),
        human=np.zeros(systems, dtype=bool),
        system=pages.system[each],
        annotator=renumber(pages.annotator[each]),
        task=None,
        document=renumber(pages.document[each]),
        segment=renumber(segment),
        page=each if size > 1 else None,
        row=np.arange(count * size),
        annotator_system=combine(pages.annotator[each], pages.system[each]),
    )


def observe(pages: Pages, count: int, systems: int, fraction: float) -> Observed:
    """What the mixed model says of all pairs after so many pages."""
    from scipy.special import ndtri

    pairs, people = systems * (systems - 1) // 2, len(np.unique(pages.annotator[:count]))
    try:
        model = fit(design_of(pages, count, systems))
    except DataError:
        # Too early: nothing connects the systems yet, so nothing is known.
        unknown = np.full(pairs, np.nan)
        return Observed(fraction, np.zeros(pairs), unknown, np.full(pairs, np.inf), np.zeros(pairs), people=people)
    compared = contrasts(model.effects, model.covariance, model.df)
    upper = np.triu_indices(systems, 1)
    difference = compared.difference[upper]
    z = np.sign(difference) * np.minimum(-ndtri(compared.two_sided[upper] / 2), 37.0)
    return Observed(fraction, difference, compared.se[upper], compared.df[upper], z, people=people)


@dataclass(frozen=True, eq=False)
class Outcome:
    """How a campaign ended: what was settled, and after which share of the plan all was."""

    settled: Settled
    fraction: float
    looks: list[Observed]


def run_looks(pages: Pages, plan: LookPlan, systems: int, *, stop: bool = True) -> Outcome:
    """Look at equal distances until all pairs are settled or the plan is used up."""
    count = len(pages.system)
    pairs = systems * (systems - 1) // 2
    tested = np.ones(pairs, dtype=bool)
    state, looks = Settled.none(pairs), []
    for number in range(1, plan.looks + 1):
        fraction = number / plan.looks
        looks.append(observe(pages, round(count * fraction), systems, fraction))
        state = settle(plan, looks, state, tested, systems)
        if stop and (state.sign != 0).all():
            break
    return Outcome(state, looks[-1].fraction, looks)
