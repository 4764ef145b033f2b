"""Policies: which system a page shows next, with probabilities.

`even`   every system equally often
`top:k`  half of the pages to the k-th best system of a draw from what is known, half to the next one: the systems about
         which it is unclear whether they belong to the top (`best` is `top:1`, after top-two sampling, D. Russo 2020:
         Simple Bayesian algorithms for best-arm identification. Operations Research 68, 1625-1647)
`pairs`  systems in proportion to the open pairs they take part in, those that are nearly settled first

A floor gives every system its share all the time. Within these shares each annotator meets all systems, and among the
pages with a system those that were judged least come first.

Draws pair: what makes a document easy or hard, and how a person sees it, is the same for the systems that meet there,
and cancels in their differences. So among the pages that were judged least, those of documents come first that the
person has just judged by other systems, then all systems go through the documents in one random order.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from adjudge.table.errors import DataError, UsageError
from adjudge.table.judgments import fingerprint
from adjudge.table.maths import divide
from adjudge.table.rng import DEFAULT_SEED, generator

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from adjudge.table.maths import Bools, Floats


POLICIES = ("even", "best", "top:k", "pairs")
DRAWS = 1000
DIGITS = 9
"""Probabilities are rounded to so many digits before drawing, so that they are the same on every machine."""
_TOP = re.compile(r"top:([1-9][0-9]{0,8})")
_STREAM = 5001
SETTLED_ERRORS = 3.0
"""Standard errors beyond which a pair counts as settled where no look has said so."""
LEAST_WEIGHT = 0.1
"""The weight of a pair that is far from settled, beside 1 for one that nearly is."""


MOST_TOGETHER = 4
"""Systems that a person is led to judge on one document; more would tire."""
GIVEN_UP = {
    "even": "speed: all systems become known equally well, so that the best is found late",
    "best": "the order of the systems below the best two, which are judged less and stay uncertain",
    "top:k": "the order within the top and within the rest: only who belongs to the top is sought",
    "pairs": "precision of differences that are settled already",
}
"""What each policy gives up for its goal."""


@dataclass(frozen=True)
class Adaptive:
    """The settings of an adaptive campaign."""

    policy: str = "even"
    floor: float = 0.2
    """The share of all pages that is spread evenly over the systems, whatever the policy."""
    warm_up: int = 3
    """Observations of every system before the policy begins; even until then."""
    seed: int = DEFAULT_SEED

    def __post_init__(self) -> None:
        parse_policy(self.policy)
        if not 0 < self.floor <= 1:
            raise UsageError(f"the floor is {self.floor:g}, it must lie above 0 and not above 1; usual is 0.2")
        if self.warm_up < 1:
            raise UsageError(f"warm_up is {self.warm_up}; give at least 1, the policy needs something to go by")


@dataclass(frozen=True)
class Candidate:
    """A page that could be shown: its systems (several where outputs stand side by side), and how often it was judged.

    `judged` counts what is to be balanced besides systems: judgments of this page or of its document so far. `items`
    are what its systems can share with others, named as in observations: the documents. Where there are none, as on
    screens of several outputs, pages are drawn at random.
    """

    key: str
    systems: tuple[str, ...]
    judged: int = 0
    items: tuple[str, ...] = ()


@dataclass(frozen=True)
class Decision:
    """What was drawn, and with which probabilities: first a group of pages with the same systems, then one of them."""

    number: int
    annotator: str
    observations: int
    """How many observations were known."""
    groups: tuple[tuple[str, ...], ...]
    """The systems of the pages that could be shown."""
    probabilities: tuple[float, ...]
    """Of each group."""
    pages: tuple[int, ...]
    """In each group, the pages that come first, all equally likely; the others have probability 0."""
    drawn: str
    """The key of the page."""
    systems: tuple[str, ...]
    """Of the page that was drawn."""
    open_pairs: tuple[tuple[str, str], ...] | None = None
    """For `pairs`, the pairs that the last look had left open; None where the estimates told."""
    paired: bool = False
    """Whether systems were led to the same documents; campaigns that began without it go on so."""

    @property
    def probability(self) -> float:
        """With which the page was drawn."""
        group = self.groups.index(self.systems)
        return self.probabilities[group] / sum(self.probabilities) / self.pages[group]


def parse_policy(text: str) -> int:
    """The size of the top for `best` and `top:k`, 0 for the other policies; unknown ones are refused."""
    if text in ("even", "pairs"):
        return 0
    if text == "best":
        return 1
    match = _TOP.fullmatch(text)
    if match is None:
        raise UsageError(f"unknown policy '{text}'; choose one of {', '.join(POLICIES)}, such as top:3")
    return int(match[1])


def decide(
    running: RunningEstimates,
    candidates: Sequence[Candidate],
    *,
    annotator: str,
    number: int,
    settings: Adaptive,
    open_pairs: Sequence[tuple[str, str]] | None = None,
    paired: bool = True,
) -> Decision:
    """Draw the page to show next.

    Args:
        running: what is known of the systems.
        candidates: the pages that this annotator could be shown now, in a fixed order.
        annotator: who asks.
        number: the number of the decision, from 0: with the seed it fixes the draw.
        settings: policy, floor and seed.
        open_pairs: for `pairs`, the pairs that the last look left open; default: derived from the estimates.
        paired: whether systems are led to the same documents, and people to documents that they know.
    """
    if not candidates:
        raise DataError("there is no page left to show; the campaign is complete for this annotator")
    rng = generator(settings.seed, _STREAM, number)
    share = system_shares(running, settings, rng, open_pairs)
    share = _tilt_for_annotator(running, share, annotator, settings.floor)
    pages = _group_pages(candidates)
    if paired:
        pages = {systems: _first_pages(running, group, annotator, settings.seed) for systems, group in pages.items()}
    groups = tuple(pages)
    column = {name: i for i, name in enumerate(running.systems)}
    weight = np.array([np.mean([share[column[name]] for name in systems]) for systems in groups])
    probability = np.maximum(np.round(weight / weight.sum(), DIGITS), 10.0**-DIGITS)
    group = groups[int(np.searchsorted(np.cumsum(probability), rng.random() * probability.sum(), side="right"))]
    return Decision(
        number=number,
        annotator=annotator,
        observations=running.count,
        groups=groups,
        probabilities=tuple(probability.tolist()),
        pages=tuple(len(pages[systems]) for systems in groups),
        drawn=pages[group][int(rng.integers(len(pages[group])))].key,
        systems=group,
        open_pairs=None if open_pairs is None else tuple((first, second) for first, second in open_pairs),
        paired=paired,
    )


def system_shares(
    running: RunningEstimates,
    settings: Adaptive,
    rng: np.random.Generator,
    open_pairs: Sequence[tuple[str, str]] | None = None,
) -> Floats:
    """The share of the next pages that each system gets."""
    size = len(running.systems)
    even = np.full(size, 1 / size)
    top = parse_policy(settings.policy)
    if settings.policy == "even" or running.observations.min() < settings.warm_up:
        # Shares that bring all systems to the same number of judgments.
        missing = np.maximum(running.weight.mean() + 1 - running.weight, 0.05)
        return np.asarray(missing / missing.sum())
    effects, covariance = running.estimate()
    if top:
        share = _shares_at_border(effects, covariance, min(top, size - 1), rng)
    else:
        share = _shares_by_open_pairs(running.systems, effects, covariance, open_pairs)
    return settings.floor * even + (1 - settings.floor) * share


def _shares_at_border(effects: Floats, covariance: Floats, top: int, rng: np.random.Generator) -> Floats:
    """How often each system is the last of the top or the first below it, in draws from what is known."""
    value, vector = np.linalg.eigh((covariance + covariance.T) / 2)
    noise = rng.standard_normal((DRAWS, len(effects))) @ (vector * np.sqrt(np.maximum(value, 0.0))).T
    order = np.argsort(-(effects + noise), axis=1, kind="stable")
    border = order[:, top - 1 : top + 1].ravel()
    return np.bincount(border, minlength=len(effects)) / len(border)


def _shares_by_open_pairs(
    systems: tuple[str, ...], effects: Floats, covariance: Floats, open_pairs: Sequence[tuple[str, str]] | None
) -> Floats:
    alone = np.diag(covariance)
    se = np.sqrt(np.maximum(alone[:, None] + alone[None, :] - 2 * covariance, 1e-12))
    if open_pairs is None:
        return shares_by_pairs(effects, se)
    column = {name: number for number, name in enumerate(systems)}
    listed = np.zeros_like(se, dtype=bool)
    for first, second in open_pairs:
        if first not in column or second not in column:
            unknown = first if first not in column else second
            raise DataError(f"'{unknown}' is not among the systems ({', '.join(systems)}); check the open pairs")
        listed[column[first], column[second]] = listed[column[second], column[first]] = True
    return shares_by_pairs(effects, se, listed)


def shares_by_pairs(effects: Floats, se: Floats, is_open: Bools | None = None) -> Floats:
    """Shares in proportion to open pairs, which the estimates tell unless given; campaigns may be a first dimension."""
    settled_share = np.abs(effects[..., :, None] - effects[..., None, :]) / se / SETTLED_ERRORS
    weight = np.clip(settled_share**2, LEAST_WEIGHT, 1.0) * (settled_share < 1 if is_open is None else is_open)
    systems = np.arange(effects.shape[-1])
    weight[..., systems, systems] = 0.0
    return divide(weight.sum(axis=-1), weight.sum(axis=(-2, -1))[..., None], otherwise=1 / len(systems))


def _tilt_for_annotator(running: RunningEstimates, share: Floats, annotator: str, floor: float) -> Floats:
    """The shares, tilted so that what this annotator has seen comes close to them; the floor stays."""
    seen = running.by_annotator.get(annotator)
    if seen is None:
        return share
    total = float(seen.sum())
    tilt = np.clip(1 + (total * share - seen) / (1 + np.sqrt(total)), 0.2, 3.0)
    tilted = share * tilt / (share * tilt).sum()
    least = floor / len(share)
    return np.asarray(least + (1 - floor) * tilted)


def _group_pages(candidates: Sequence[Candidate]) -> dict[tuple[str, ...], list[Candidate]]:
    """By the systems they show, the pages that were judged least; in the order given."""
    groups: dict[tuple[str, ...], list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        groups[candidate.systems].append(candidate)
    least = {systems: min(page.judged for page in group) for systems, group in groups.items()}
    return {systems: [page for page in group if page.judged == least[systems]] for systems, group in groups.items()}


def _first_pages(running: RunningEstimates, pages: list[Candidate], annotator: str, seed: int) -> list[Candidate]:
    """The page by which its systems meet others: on documents that the person knows, then by the common order.

    All of them where pages share nothing.
    """
    if not all(page.items for page in pages):
        return pages

    def place(page: Candidate) -> tuple[int, str]:
        met = [running.met[annotator, item] for item in page.items]
        return -sum(0 < count < MOST_TOGETHER for count in met), min(_place(seed, item) for item in page.items)

    return [min(pages, key=place)]


@lru_cache(maxsize=100_000)
def _place(seed: int, item: str) -> str:
    """The place of a document in the common order: random, but the same whichever pages are left."""
    return fingerprint(f"{seed}\n{item}")


def first_difference(
    log: Sequence[tuple[Decision, Sequence[Candidate]]], observations: Sequence[Observation], running: RunningEstimates,
    settings: Adaptive,
) -> int | None:  # fmt: skip
    """Replay a finished campaign: the number of the first decision that comes out otherwise, None where all agree.

    Args:
        log: every decision with the candidates it had, in order; it knows the pairs that were open.
        observations: all observations, in the order in which they were saved.
        running: empty, with the systems of the campaign.
        settings: those of the campaign.
    """
    for decision, candidates in log:
        running.add_all(observations[running.count : decision.observations])
        again = decide(
            running, candidates, annotator=decision.annotator, number=decision.number, settings=settings,
            open_pairs=decision.open_pairs, paired=decision.paired,
        )  # fmt: skip
        if again != decision:
            return decision.number
    return None


# Estimates of all systems while judgments come in, quick enough for every decision.
#
#     value = system + annotator + item + residual
#
# Items (documents, or screens of several outputs) and annotators are random with fixed ratios of variances. Items are
# eliminated from the equations one by one as they change, so that an observation costs one small update, and an
# estimate one small system of equations, however many judgments there are. The verdict on the systems is not made
# here: that is the work of the full model.

ITEM_RATIO = 1.5
"""Residual variance over that of items."""
ANNOTATOR_RATIO = 1.5
_RIDGE = 1e-3
"""Keeps systems without observations at the mean of all."""


@dataclass(frozen=True)
class Observation:
    """One thing that was saved: the mean score of a page, or one output's standing on a screen of several.

    `item` is what systems share: the document of a page, the screen of a ranking. `weight` is how many independent
    judgments it is worth; the segments of one page are worth less than their number.
    """

    system: str
    item: str
    annotator: str
    value: float
    weight: float = 1.0


class RunningEstimates:
    """The equations of all observations so far."""

    def __init__(self, systems: Sequence[str]) -> None:
        self.systems = tuple(systems)
        self._column = {name: number for number, name in enumerate(self.systems)}
        self._annotators: dict[str, int] = {}
        self._items: dict[str, tuple[Floats, float]] = {}
        """By item, the weights per unknown and the weighted sum of values."""
        size = len(self.systems)
        self._matrix, self._right = np.zeros((size, size)), np.zeros(size)
        self._squares = 0.0
        self.count = 0
        self.weight = np.zeros(size)
        """Weight of the observations of each system."""
        self.observations = np.zeros(size, dtype=np.int64)
        self.by_annotator: dict[str, NDArray[np.int64]] = {}
        """Observations of each system, by annotator."""
        self.met: Counter[tuple[str, str]] = Counter()
        """Observations by annotator and item."""

    def add(self, observation: Observation) -> None:
        """Take one observation in; the order counts for replaying bit for bit."""
        system = self._column[observation.system]
        if observation.annotator not in self._annotators:
            self._annotators[observation.annotator] = len(self._right)
            self.by_annotator[observation.annotator] = np.zeros(len(self.systems), dtype=np.int64)
            self._matrix = np.pad(self._matrix, (0, 1))
            self._right = np.append(self._right, 0.0)
        annotator = self._annotators[observation.annotator]
        share, total = self._items.get(observation.item, (np.zeros(0), 0.0))
        share = np.concatenate([share, np.zeros(len(self._right) - len(share))])
        self._change(share, total, -1.0)
        weight = observation.weight
        share[[system, annotator]] += weight
        total += weight * observation.value
        self._items[observation.item] = (share, total)
        self._matrix[np.ix_([system, annotator], [system, annotator])] += weight
        self._right[[system, annotator]] += weight * observation.value
        self._squares += weight * observation.value**2
        self._change(share, total, 1.0)
        self.count += 1
        self.weight[system] += weight
        self.observations[system] += 1
        self.by_annotator[observation.annotator][system] += 1
        self.met[observation.annotator, observation.item] += 1

    def add_all(self, observations: Iterable[Observation]) -> None:
        """Take many observations in, in order."""
        for observation in observations:
            self.add(observation)

    def estimate(self) -> tuple[Floats, Floats]:
        """The effects of all systems and their covariance."""
        size = len(self.systems)
        ridge = np.full(len(self._right), ANNOTATOR_RATIO)
        ridge[:size] = _RIDGE
        mean = float(self._right[:size].sum() / max(self.weight.sum(), 1e-9))
        right = self._right - mean * self._matrix[:, :size].sum(axis=1)
        inverse = np.linalg.inv(self._matrix + np.diag(ridge))
        solution = inverse @ right
        effects: Floats = mean + solution[:size]
        covariance = np.asarray(inverse[:size, :size] * self._residual(solution, right, mean), dtype=np.float64)
        return effects, covariance

    def _change(self, share: Floats, total: float, sign: float) -> None:
        """Take the elimination of an item out of the equations, or put it in."""
        weight = share[: len(self.systems)].sum()
        if weight <= 0:
            return
        used = np.flatnonzero(share)
        scale = sign / (weight + ITEM_RATIO)
        self._matrix[np.ix_(used, used)] -= scale * np.outer(share[used], share[used])
        self._right[used] -= scale * share[used] * total
        self._squares -= scale * total * total

    def _residual(self, solution: Floats, right: Floats, mean: float) -> float:
        """The residual variance; that of the values themselves while there are hardly more values than unknowns."""
        size = len(self.systems)
        freedom = self.count - size - 1
        # Squares around the mean, items eliminated like everything else: 1' y and 1' 1 follow from the sums of systems.
        ones = float(self._matrix[:size, :size].sum())
        squares = self._squares - 2 * mean * float(self._right[:size].sum()) + mean**2 * ones
        left = max(squares - float(solution @ right), 1e-9)
        return left / freedom if freedom > 0 else max(squares, 1e-9)
