"""Planning rankings and pairs: how many people and blocks find a difference of strengths, with tastes allowed for.

If all pairs of n systems are met alike, an annotator with m blocks of k systems has the information

    H = c v (n I - J),   c = m k (k - 1) / (n (n - 1)),   v = 1 / (2 (2 + nu)),

for systems of about equal strength, nu being Davidson's parameter of ties. With L = n c v, dispersion phi and taste tau
(see `ranking.tastes`), the difference of two strengths among G annotators has the variance 2 (phi / L + tau^2) / G.
However many blocks each person judges, 2 tau^2 / G remains. Every segment is taken to be judged once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from adjudge.ranking.bradley_terry import fit
from adjudge.ranking.counts import people_counts, units_of
from adjudge.ranking.decisions import holm
from adjudge.ranking.relative_estimator import RelativeEstimator
from adjudge.ranking.tastes import fit_tastes
from adjudge.table.comparisons import Comparisons, comparisons
from adjudge.table.errors import DataError, UsageError, param
from adjudge.table.judgments import Judgments, fingerprint
from adjudge.table.maths import Floats, student_below, student_quantile
from adjudge.table.results import Column, Result, Table, number, percent, tabulate, text
from adjudge.table.rng import DEFAULT_SEED, generator
from adjudge.table.settings import check_least, check_shares
from adjudge.table.wording import counted

# The result of planning relative judgments: how many blocks each number of annotators needs.


@dataclass(frozen=True)
class RelativePoint:
    """So many people with so many blocks each, and what they can find."""

    annotators: int
    blocks_each: int
    blocks: int
    judgments: int
    """Outputs judged by a person."""
    comparisons: int
    se: float
    """The standard error of the difference of two strengths."""
    power: float
    detectable: float
    suffices: bool
    hours_each: float


@dataclass(frozen=True)
class RelativeCheck:
    """The recommended design simulated and ranked: the share of true differences found, and of false claims."""

    draws: int
    found: float
    any_claim: float


@dataclass(frozen=True, kw_only=True)
class RelativePlan(Result):
    """What every number of annotators needs; strengths and differences are log-odds."""

    verb: ClassVar[str] = "plan"

    protocol: str
    difference: float
    power: float
    level: float
    comparisons: int
    points: tuple[RelativePoint, ...]
    spread: dict[str, float]
    """What was assumed: tastes and segments (standard deviations), dispersion within blocks, share of ties."""
    checked: RelativeCheck | None = None

    @property
    def recommended(self) -> RelativePoint | None:
        """The least work in all that suffices; None where nothing does."""
        return min((point for point in self.points if point.suffices), key=lambda point: point.blocks, default=None)

    def tables(self) -> tuple[Table, ...]:
        """What each number of people needs, what was assumed, and the simulated check."""
        assumed = Table("Assumed", (text("what"), number("value", 2)), tuple(self.spread.items()))
        if self.checked is None:
            return self._needs(), assumed
        rows = (
            ("true differences found", self.checked.found),
            ("campaigns of equal systems with a claim", self.checked.any_claim),
        )
        title = f"The recommended design, simulated {counted(self.checked.draws, 'time')}"
        return self._needs(), assumed, Table(title, (text("what"), percent("share")), rows)

    def _needs(self) -> Table:
        columns: dict[Any, Column] = {
            "annotators": number("annotators", 0),
            lambda point: "yes" if point.suffices else "no": text("suffices"),
            "blocks_each": number("blocks each", 0),
            "blocks": number("blocks", 0),
            "judgments": number("judgments", 0, help="outputs judged by a person"),
            "comparisons": number("comparisons", 0),
            "hours_each": number("hours each", 1),
            "se": number("se", 3, help="standard error of the difference of two strengths"),
            "power": percent("power", 0),
            "detectable": number("detectable", 2, help="difference detected with the requested power"),
        }
        note = (
            f"To find a difference of {self.difference:g} log-odds with power {self.power:.0%}, "
            f"{counted(self.comparisons, 'comparison')} at level {self.level:g}. "
            "More people buy more than more blocks of the same people."
        )
        return tabulate("What each number of annotators needs", self.points, columns, note)


MOST_BLOCKS = 2000
"""Blocks that one person can be asked for."""
FEWEST_PEOPLE = 3
_STREAM = 51
RELEASED = "25 released campaigns (WMT 2010 and 2011, four systems or more)"
MIDDLE_HALF = (0.15, 0.24)
"""Of the tastes in them: the quartiles."""


@dataclass(frozen=True)
class RelativeSpread:
    """How relative judgments vary: by default the medians of `RELEASED`."""

    taste: float = 0.18
    dispersion: float = 2.1
    """Of rankings; that of pairs is 1."""
    ties: float = 0.6
    """Davidson's nu: two equal systems tie with probability nu / (2 + nu)."""


@dataclass(frozen=True, kw_only=True)
class RelativePlanSettings:
    """The question, and what there is to answer it with."""

    protocol: Literal["ranking", "pairwise"] = "ranking"
    systems: int = 8
    difference: float = 0.3
    power: float = 0.8
    level: float = 0.05
    comparisons: int | None = None
    annotators: int = 10
    block_size: int = 5
    seconds: float = 60.0
    """Of a block."""
    draws: int = 30
    seed: int = DEFAULT_SEED

    def __post_init__(self) -> None:
        check_least(self, 2, "systems", "annotators", "block_size")
        check_shares(self, "power", "level", ends=False)
        if self.difference <= 0:
            raise UsageError(
                f"{param('difference')} is {self.difference:g}; give the log-odds that matter to you, above 0"
            )

    @property
    def shown(self) -> int:
        """Systems in a block."""
        return 2 if self.protocol == "pairwise" else min(self.block_size, self.systems)

    @property
    def tests(self) -> int:
        """How many comparisons the level is shared by: all pairs of systems unless set."""
        return self.comparisons or self.systems * (self.systems - 1) // 2


def spread_like(judgments: Judgments) -> RelativeSpread:
    """The spread that a pilot shows."""
    compared = comparisons(judgments)
    units = units_of(compared)
    if units.kind != "annotators":
        raise DataError(f"a pilot of one person says nothing of tastes; ask several, or leave {param('like')} out")
    people = people_counts(units)
    fitted = fit_tastes(people, compared)
    plain = fit(people.wins.sum(0), people.ties.sum(0))
    return RelativeSpread(fitted.taste, fitted.dispersion, float(np.exp(plain.log_tie)))


def plan_relative(
    settings: RelativePlanSettings | None = None, *, spread: RelativeSpread | None = None
) -> RelativePlan:
    """How many blocks each number of annotators needs.

    Args:
        settings: the question.
        spread: how judgments vary; default: as in the median of released campaigns.
    """
    asked, assumed = settings or RelativePlanSettings(), spread or RelativeSpread()
    sizes = sorted({FEWEST_PEOPLE, 5, 8, 10, 15, 20, 30, 50, asked.annotators})
    points = tuple(_point(people, asked, assumed) for people in sizes)
    planned = next(point for point in points if point.annotators == asked.annotators)
    checked = _simulated(planned, asked, assumed) if planned.suffices and asked.draws > 0 else None
    assumptions = {
        "taste (sd)": assumed.taste,
        "dispersion within blocks": _dispersion(asked, assumed),
        "ties (nu)": assumed.ties,
    }
    return RelativePlan(
        settings={**vars(asked), "comparisons": asked.tests},
        data=fingerprint(repr(sorted(assumptions.items()))),
        notes=(*_notes(planned, asked, assumed), *((_ASSUMED,) if spread is None else ())),
        protocol=asked.protocol,
        difference=asked.difference,
        power=asked.power,
        level=asked.level,
        comparisons=asked.tests,
        points=points,
        spread=assumptions,
        checked=checked,
    )


_ASSUMED = (
    f"tastes, dispersion and ties are the medians of {RELEASED}; tastes are {MIDDLE_HALF[0]} to {MIDDLE_HALF[1]} "
    "in the middle half of them, so allow for more people, or take them from a pilot (--like)"
)


def _notes(planned: RelativePoint, asked: RelativePlanSettings, assumed: RelativeSpread) -> tuple[str, ...]:
    if planned.suffices:
        return ()
    floor = asked.difference / np.sqrt(2 * assumed.taste**2 / asked.annotators) if assumed.taste else np.inf
    note = (
        f"{asked.annotators} annotators cannot find {asked.difference:g} log-odds with power {asked.power:.0%} in "
        f"{MOST_BLOCKS:,} blocks each: tastes alone leave a difference of {floor:.1f} standard errors; ask more people"
    )
    return (note,)


def _dispersion(asked: RelativePlanSettings, assumed: RelativeSpread) -> float:
    return 1.0 if asked.shown == 2 else assumed.dispersion


def standard_error(people: int, blocks: float, asked: RelativePlanSettings, assumed: RelativeSpread) -> float:
    """Compute the standard error of a difference of two strengths by the formula at the top."""
    n, k = asked.systems, asked.shown
    value = blocks * k * (k - 1) / (n - 1) / (2 * (2 + assumed.ties))
    return float(np.sqrt(2 * (_dispersion(asked, assumed) / value + assumed.taste**2) / people))


def _point(people: int, asked: RelativePlanSettings, assumed: RelativeSpread) -> RelativePoint:
    """The fewest blocks that suffice, or the most that one person can be asked for."""
    from scipy.stats import nct

    # All systems show how far tastes differ.
    df = (people - 1) * (asked.systems - 1)
    critical = float(student_quantile(asked.level / asked.tests / 2, df))

    def power(blocks: float) -> float:
        return float(nct.sf(critical, df, asked.difference / standard_error(people, blocks, asked, assumed)))

    low, high = 1, MOST_BLOCKS
    suffices = power(high) >= asked.power
    while suffices and low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if power(middle) >= asked.power else (middle + 1, high)
    se = standard_error(people, high, asked, assumed)
    return RelativePoint(
        annotators=people,
        blocks_each=high,
        blocks=people * high,
        judgments=people * high * asked.shown,
        comparisons=people * high * asked.shown * (asked.shown - 1) // 2,
        se=se,
        power=power(high),
        detectable=se * (critical + float(student_below(asked.power, df))),
        suffices=suffices,
        hours_each=high * asked.seconds / 3600,
    )


def _simulated(point: RelativePoint, asked: RelativePlanSettings, assumed: RelativeSpread) -> RelativeCheck:
    """Campaigns with one system ahead of all others by the difference asked for, and campaigns of equal systems."""
    rng = generator(asked.seed, _STREAM)
    ahead = np.zeros(asked.systems)
    ahead[0] = asked.difference
    detected: list[float] = []
    claimed: list[float] = []
    for _ in range(asked.draws):
        for strengths, outcomes in ((ahead, detected), (np.zeros(asked.systems), claimed)):
            compared = draw(strengths, (point.annotators, point.blocks_each, asked.shown), assumed, rng)
            p = RelativeEstimator(compared).estimate_at()[0].contrasts.two_sided
            upper = np.triu_indices(asked.systems, 1)
            below = (holm(p[upper]) if asked.comparisons is None else p[upper] * asked.tests) < asked.level
            outcomes.append(float(below[upper[0] == 0].mean()) if outcomes is detected else float(below.any()))
    return RelativeCheck(asked.draws, float(np.mean(detected)), float(np.mean(claimed)))


def draw(
    strengths: Floats, work: tuple[int, int, int], spread: RelativeSpread, rng: np.random.Generator
) -> Comparisons:
    """A campaign of annotators with tastes, who rank blocks by what they like; close likings are ties.

    `work` is how many people there are, how many blocks each judges, and how many systems a block shows.
    """
    n, (people, blocks, shown) = len(strengths), work
    who = np.repeat(np.arange(people), blocks)
    system = np.sort(np.argsort(rng.random((len(who), n)), axis=1)[:, :shown], axis=1)
    taste = rng.normal(0, spread.taste, (people, n))
    liking = strengths[system] + taste[who[:, None], system] + rng.gumbel(size=system.shape)
    # A difference of logistic noise below this margin is as frequent as Davidson's ties.
    margin = np.log((2 + 2 * spread.ties) / 2)
    first, second = np.triu_indices(shown, 1)
    difference = liking[:, first] - liking[:, second]
    outcome = np.where(np.abs(difference) < margin, 0, np.sign(difference))
    block = np.repeat(np.arange(len(who)), len(first))
    ranks = 1 + (liking[:, :, None] < liking[:, None, :]).sum(2)
    return Comparisons(
        systems=tuple(f"system {i + 1}" for i in range(n)),
        human=np.zeros(n, dtype=bool),
        annotators=tuple(f"annotator {i + 1}" for i in range(people)),
        first=system[:, first].ravel().astype(np.int32),
        second=system[:, second].ravel().astype(np.int32),
        outcome=outcome.ravel().astype(np.int8),
        annotator=who[block].astype(np.int32),
        segment=block.astype(np.int32),
        block=block.astype(np.int32),
        label_system=system.ravel().astype(np.int32),
        label_rank=ranks.ravel().astype(np.int32),
        label_block=np.repeat(np.arange(len(who)), shown).astype(np.int32),
        block_annotator=who.astype(np.int32),
    )
