"""Campaigns of known truth, drawn with numpy alone: no line is shared with the models, or with `adjudge simulate`.

People are strict or generous, stretch the scale, have a ceiling of their own, tastes, tired tasks and views of a
document; outputs are shared, and a few people do most of the work or sit behind several accounts. A cell is one kind
of campaign. It draws the table that an organiser would have, and knows the mean that each system has before all people
and on all documents of the same kind: in points for scores, in log-odds for rankings.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
MANY = 200_000
"""People with a document each, by whose scores the mean in points is found."""
DISASTER = (8.0, 6.0)
"""Mean and standard deviation of the scores of a translation that went altogether wrong."""
CEILING = 90
"""Where the scale ends for people who never give a full score."""


def names(prefix: str, codes: Codes) -> list[str]:
    return [f"{prefix}{code:04d}" for code in codes.tolist()]


@dataclass(frozen=True)
class Scores:
    """A campaign of scores. Standard deviations are in points."""

    qualities: tuple[float, ...]
    work: tuple[int, ...]
    """Screens of each person. A screen is a document as translated by `together` systems."""
    together: int = 1
    documents: int = 40
    segments: int = 4
    """In each document."""
    per_task: int = 10
    """Screens in a task."""
    mean: float = 75.0
    strictness: float = 7.0
    scale: float = 0.2
    """Of the logarithm of the stretch that a person gives to all differences."""
    ceilings: float = 0.0
    """Share of the people who never give more than 90."""
    taste: float = 2.5
    polarising: float = 0.0
    """Taste for the first system, where it is not that for all."""
    polarised: int = 1
    """How many systems, the first ones, have it."""
    families: float = 0.0
    """Taste for the whole first half of the systems, besides."""
    task: float = 2.0
    document: float = 3.0
    segment: float = 3.5
    system_document: float = 3.0
    output: float = 0.0
    """Of a single translation of a segment, which all who judge it share."""
    view: float = 0.0
    """Of a person's opinion of a document, which all its translations share."""
    page: float = 2.5
    residual: float = 10.0
    step: float = 1.0
    """Scores are multiples of this."""
    disasters: float = 0.0
    """Share of the first system's outputs that went altogether wrong."""
    clickers: int = 0
    """People whose scores have nothing to do with the outputs."""
    accounts: int = 0
    """Accounts among which people divide their work, one after the other; 0: everybody has one."""
    common: int = 0
    """Documents of which everybody judges every system; all others are then seen by one person each."""
    late: int = 0
    """Systems that are judged only in the last third, when every other person has left."""
    drift: float = 0.0
    """Points by which everybody becomes stricter from the first to the last screen."""

    kind = "scores"

    @property
    def systems(self) -> int:
        """How many there are."""
        return len(self.qualities)

    @property
    def special(self) -> bool:
        """Whether the first system is unlike the others."""
        return bool(self.polarising or self.disasters)

    @cached_property
    def truth(self) -> Floats:
        """The mean in points, 0 on average; equal systems are exactly equal, as all systems get the same draws."""
        rng = np.random.default_rng(7)
        shared = (self.task, self.document, self.segment, self.view)
        own = (self.system_document, self.output, self.page, self.residual)
        strict, taste, rest = rng.normal(size=(3, MANY))
        rest *= np.sqrt(np.sum(np.square(shared + own)))
        stretch, top = self._scales(rng, MANY)
        mean = np.empty(self.systems)
        for system, quality in enumerate(self.qualities):
            liking = np.hypot(self._tastes[system], self.families if system < self.systems // 2 else 0.0)
            latent = quality + liking * taste + rest
            mean[system] = self._on_scale(self.mean + self.strictness * strict + stretch * latent, top).mean()
        if self.disasters:
            wrong = self._on_scale(rng.normal(*DISASTER, MANY), np.full(MANY, 100.0)).mean()
            mean[0] = (1 - self.disasters) * mean[0] + self.disasters * wrong
        # A person who clicks at random gives every system the same.
        return np.asarray((mean - mean.mean()) * (1 - self.clickers / len(self.work)))

    def draw(self, rng: np.random.Generator) -> pl.DataFrame:
        """One campaign as a judgment table."""
        person, document, system, screen, progress = self._pages(rng)
        first = np.full(len(self.work), screen.max())
        np.minimum.at(first, person, screen)
        task = (screen - first[person]) // self.per_task
        every = np.repeat(np.arange(len(person)), self.segments)
        segment = (document[:, None] * self.segments + np.arange(self.segments)).ravel()
        stretch, top = self._scales(rng, len(self.work))
        liking = rng.normal(size=(len(self.work), self.systems)) * self._tastes
        if self.families:
            liking[:, : self.systems // 2] += rng.normal(0, self.families, (len(self.work), 1))
        latent = (
            np.array(self.qualities)[system]
            + liking[person, system]
            + rng.normal(0, self.task, (len(self.work), task.max() + 1))[person, task]
            + rng.normal(0, self.document, document.max() + 1)[document]
            + rng.normal(0, self.system_document, (self.systems, document.max() + 1))[system, document]
            + rng.normal(0, self.view, (len(self.work), document.max() + 1))[person, document]
            + rng.normal(0, self.page, len(person))
            - self.drift * progress
        )[every]
        latent += rng.normal(0, self.segment, segment.max() + 1)[segment] + rng.normal(0, self.residual, len(every))
        strict = rng.normal(0, self.strictness, len(self.work))
        who, which = person[every], system[every]
        if self.output:
            latent += rng.normal(0, self.output, (self.systems, segment.max() + 1))[which, segment]
        score = self._on_scale(self.mean + strict[who] + stretch[who] * latent, top[who])
        if self.disasters:
            wrong = (rng.random(segment.max() + 1) < self.disasters)[segment] & (which == 0)
            score[wrong] = self._on_scale(rng.normal(*DISASTER, wrong.sum()), np.full(wrong.sum(), 100.0))
        clicked = who < self.clickers
        score[clicked] = self._on_scale(rng.normal(self.mean, 15, clicked.sum()), np.full(clicked.sum(), 100.0))
        table = pl.DataFrame(
            {
                "annotator": names("p", who), "task": names("t", who * 1000 + task[every]),
                "screen": names("v", screen[every]), "document": names("d", document[every]),
                "segment": names("g", segment), "system": names("s", which), "score": score, "protocol": "da",
            }
        )  # fmt: skip
        return self._behind_accounts(table, who, screen[every], rng) if self.accounts else table

    @property
    def _tastes(self) -> Floats:
        taste = np.full(self.systems, self.taste)
        taste[: self.polarised] = self.polarising or self.taste
        return taste

    def _scales(self, rng: np.random.Generator, people: int) -> tuple[Floats, Floats]:
        stretch = np.exp(rng.normal(0, self.scale, people))
        return stretch, np.where(rng.random(people) < self.ceilings, CEILING, 100.0)

    def _on_scale(self, latent: Floats, top: Floats) -> Floats:
        return np.asarray(np.clip(np.round(latent / self.step) * self.step, 0.0, top))

    def _pages(self, rng: np.random.Generator) -> tuple[Codes, Codes, Codes, Codes, Floats]:
        """Person, document, system, screen and progress of the campaign (0 to 1) of every page, screen by screen."""
        rows: list[tuple[int, int, int, int, float]] = []
        screen, own = 0, self.common
        for person, number in enumerate(self.work):
            units: list[tuple[int, Codes]] = []
            for document in range(self.common):
                units += [(document, np.array([system])) for system in rng.permutation(self.systems)]
            documents = np.arange(own, own + number) if self.common else np.arange(self.documents)
            own += number if self.common else 0
            orders = rng.permuted(np.tile(np.arange(self.systems), (len(documents), 1)), axis=1)
            for lap in range(-(-number // len(documents))):
                shown = slice(lap * self.together, (lap + 1) * self.together)
                units += [(int(documents[n]), orders[n, shown]) for n in rng.permutation(len(documents))]
            units = units[: number + self.common * self.systems]
            if self.late:
                units = self._with_late_systems(units, person, rng)
            for place, (document, systems) in enumerate(units):
                rows += [(person, document, int(system), screen, place / number) for system in systems]
                screen += 1
        whose, which, systems_shown, screens, progress = (np.array(column) for column in zip(*rows, strict=True))
        return whose, which, systems_shown, screens, progress

    def _with_late_systems(
        self, units: list[tuple[int, Codes]], person: int, rng: np.random.Generator
    ) -> list[tuple[int, Codes]]:
        begin, early = 2 * len(units) // 3, self.systems - self.late
        before = [(document, rng.permutation(early)[: self.together]) for document, _ in units[:begin]]
        return before if person % 2 else before + units[begin:]

    def _behind_accounts(
        self, table: pl.DataFrame, person: Codes, screen: Codes, rng: np.random.Generator
    ) -> pl.DataFrame:
        """Names of accounts instead of people's, one task each, and times: a person uses one account after another."""
        people = len(self.work)
        cut = np.diff(np.r_[0, np.sort(rng.choice(self.accounts - 1, people - 1, replace=False)) + 1, self.accounts])
        account = np.empty(len(person), dtype=np.int64)
        second = np.empty(len(person))
        used = 0
        for who in range(people):
            rows = np.flatnonzero(person == who)
            place = screen[rows] - screen[rows].min()
            turn = place * cut[who] // (place.max() + 1)
            # Half of the accounts follow within five minutes of the last, the others hours later.
            gap = np.where(rng.random(cut[who]) < 0.5, rng.uniform(30, 300, cut[who]), rng.exponential(4e4, cut[who]))
            account[rows] = used + turn
            second[rows] = rng.uniform(0, 1e5) + np.cumsum(gap)[turn] + np.cumsum(rng.gamma(2.0, 15.0, len(rows)))
            used += int(cut[who])
        given = pl.Series(names("a", rng.permutation(self.accounts)[account]))
        start = pl.Series((1.7e9 + second) * 1e3).cast(pl.Int64).cast(pl.Datetime("ms", "UTC"))
        return table.with_columns(
            annotator=given, task=given, started=start, ended=start + pl.duration(seconds=10)
        )  # fmt: skip


@dataclass(frozen=True)
class Relative:
    """A campaign of rankings or pairs. Standard deviations are in log-odds."""

    qualities: tuple[float, ...]
    work: tuple[int, ...]
    """Screens of each person, each with a segment of its own."""
    shown: int = 2
    taste: float = 0.5
    polarising: float = 0.0
    """How much one half of the people like the first system, and the other half dislike it."""
    polarised: int = 1
    """How many systems, the first ones, part people so, each its own halves."""
    families: float = 0.0
    """Taste for the whole first half of the systems, besides."""
    luck: float = 1.0
    """How differently a system does on segments."""
    common: int = 0
    """Segments that everybody judges besides."""
    each: int = 0
    """Screens of each person on each of them."""
    crowded: bool = False
    """Whether half of the screens of everybody show one and the same segment."""
    tie: float = 0.8
    """Outputs whose values fall into the same step of this size are tied."""

    kind = "relative"

    @property
    def systems(self) -> int:
        """How many there are."""
        return len(self.qualities)

    @property
    def special(self) -> bool:
        """Whether the first system is unlike the others."""
        return bool(self.polarising)

    @property
    def truth(self) -> Floats | None:
        """Equal strengths are equal on every scale; other ones have no value that all models of ties share."""
        return np.zeros(self.systems) if len(set(self.qualities)) == 1 else None

    def draw(self, rng: np.random.Generator) -> pl.DataFrame:
        """One campaign as a judgment table."""
        extra = self.common * self.each
        person = np.repeat(np.arange(len(self.work)), np.array(self.work) + extra)
        segment = self.common + np.arange(len(person))
        if self.crowded:
            segment[rng.random(len(person)) < 0.5] = 0
        for who in range(len(self.work) if extra else 0):
            segment[np.flatnonzero(person == who)[:extra]] = np.repeat(np.arange(self.common), self.each)
        shown = rng.permuted(np.tile(np.arange(self.systems), (len(person), 1)), axis=1)[:, : self.shown]
        liking = rng.normal(0, self.taste, (len(self.work), self.systems))
        liking[:, : self.polarised] += self.polarising * rng.choice([-1.0, 1.0], (len(self.work), self.polarised))
        if self.families:
            liking[:, : self.systems // 2] += rng.normal(0, self.families, (len(self.work), 1))
        luck = rng.normal(0, self.luck, (segment.max() + 1, self.systems))
        value = np.array(self.qualities)[shown] + liking[person[:, None], shown] + luck[segment[:, None], shown]
        value += rng.gumbel(size=shown.shape)
        level = np.floor(value / self.tie + rng.random((len(person), 1)))
        rank = 1 + (level[:, :, None] < level[:, None, :]).sum(2)
        every = np.repeat(np.arange(len(person)), self.shown)
        return pl.DataFrame(
            {
                "annotator": names("p", person[every]), "screen": names("v", every),
                "segment": names("g", segment[every]), "system": names("s", shown.ravel()), "rank": rank.ravel(),
                "protocol": "ranking" if self.shown > 2 else "pairwise",
            }
        )  # fmt: skip


Cell = Scores | Relative


def spread(systems: int, sd: float) -> tuple[float, ...]:
    """Qualities at even distances, with this standard deviation."""
    even = np.arange(systems) - (systems - 1) / 2
    return tuple((sd * even / even.std()).tolist())


def two_levels(systems: int, difference: float) -> tuple[float, ...]:
    return (difference,) * (systems // 2) + (0.0,) * (systems - systems // 2)


def equal(systems: int, people: int, screens: int, **settings: float | bool) -> Scores:
    """Equal systems, and equal work."""
    return replace(Scores((0.0,) * systems, (screens,) * people), **settings)  # type: ignore[arg-type]


def alike(systems: int, people: int, screens: int, **settings: float | bool) -> Relative:
    """The same for rankings and pairs."""
    return replace(Relative((0.0,) * systems, (screens,) * people), **settings)  # type: ignore[arg-type]


BASIS = equal(8, 12, 50)
CAREFUL = {
    "strictness": 4.0, "scale": 0.1, "taste": 1.5, "task": 1.0, "document": 2.0, "segment": 2.0, "system_document": 1.5,
    "page": 1.5, "residual": 6.0,
}  # fmt: skip
"""People who agree so well that five points are much, and a disaster stands out."""
FAILING = equal(4, 12, 40, mean=84.0, **CAREFUL)
POLARISED = equal(5, 8, 40, mean=55.0, taste=1.5, polarising=8.0)
SIDE_BY_SIDE = equal(12, 12, 17, together=3)
CROWD = replace(equal(13, 50, 7, taste=2.7, together=2), accounts=50, task=0.0)
LATE = Scores((0.0,) * 6, (36,) * 10, late=2, drift=6.0, mean=60.0)
MOST_BY_ONE = (216, *((20,) * 7))
NEARLY_ALL_BY_ONE = (162, 9, 9)

EQUAL: dict[str, Cell] = {
    "scores, 8 systems, 12 people": BASIS,
    "scores, 16 systems, 20 people": equal(16, 20, 40),
    "scores, 5 systems, 5 people": equal(5, 5, 50),
    "scores, 2 systems, 8 people": equal(2, 8, 40),
    "scores, 4 systems, 3 people": equal(4, 3, 60),
    "single segments, 6 systems, 10 people": equal(6, 10, 80, segments=1, documents=150),
    "own scales and ceilings, 8 systems, 12 people": replace(BASIS, scale=0.4, ceilings=0.33, mean=82.0),
    "3 systems on a screen, 12 people": SIDE_BY_SIDE,
    "3 systems on a screen, view of a document 3 points": replace(SIDE_BY_SIDE, view=3.0),
    "3 systems on a screen, view of a document 6 points": replace(SIDE_BY_SIDE, view=6.0),
    "one of 8 does 60%": replace(equal(5, 8, 1), work=MOST_BY_ONE, documents=60),
    "one of 3 does 90%": replace(equal(4, 3, 1), work=NEARLY_ALL_BY_ONE, documents=60),
    "one system polarises, 8 people": POLARISED,
    "one system polarises, 15 people": replace(POLARISED, work=(40,) * 15),
    "two of 8 systems polarise, 12 people": equal(8, 12, 40, mean=55.0, taste=1.5, polarising=8.0, polarised=2),
    "two of 5 systems polarise, 8 people": replace(POLARISED, polarised=2),
    "9 people behind 50 accounts": replace(equal(13, 9, 40, taste=2.7, together=2), accounts=50, task=0.0),
    "50 people with one task each": CROWD,
    "2 of 12 people click at random": replace(BASIS, clickers=2),
    "rankings of 5, 8 systems, 8 people": alike(8, 8, 30, shown=5),
    "rankings of 5, 8 systems, 3 people": alike(8, 3, 30, shown=5),
    "rankings of 5, 8 systems, 5 people without tastes": alike(8, 5, 30, shown=5, taste=0.0),
    "rankings of 5, 20 systems, 8 people": alike(20, 8, 60, shown=5),
    "rankings of 5, 8 systems, 300 people with 3 screens each": alike(8, 300, 3, shown=5),
    "pairs, 4 systems, 8 people": alike(4, 8, 60),
    "pairs, 4 systems, 2 people": alike(4, 2, 60),
    "pairs, 2 systems, 8 people": alike(2, 8, 40),
    "pairs, 2 systems, 3 people": alike(2, 3, 40),
    "pairs, half of all screens on one segment": alike(4, 10, 30, crowded=True),
    "pairs, 16 people, own segments": alike(4, 16, 30),
    "pairs, 16 people, and 10 pairs each on 2 common segments": alike(4, 16, 30, common=2, each=10),
    "pairs, one of 3 does 90%": replace(alike(4, 3, 1), work=NEARLY_ALL_BY_ONE),
    "rankings of 5, one of 8 does half": replace(alike(8, 8, 1, shown=5), work=(140, *((20,) * 7))),
    "rankings of 5, one system polarises, 8 people": alike(8, 8, 30, shown=5, polarising=1.0),
    "rankings of 5, two systems polarise, 8 people": alike(8, 8, 30, shown=5, polarising=1.0, polarised=2),
}
"""Systems that are equally good: nothing may be decided."""

FAILURES: dict[str, Cell] = {
    "A: 10% disasters, otherwise 5 points better": replace(FAILING, disasters=0.10, qualities=(5.0, 0.0, 0.0, 0.0)),
    "B: 5% disasters, otherwise 3.9 points better": replace(FAILING, disasters=0.05, qualities=(3.9, 0.0, 0.0, 0.0)),
    "C: 5% disasters, otherwise equal": replace(FAILING, disasters=0.05),
}
"""One system of four fails now and then: its typical score and its mean say different things."""

UNEQUAL: dict[str, Cell] = {
    "scores, 8 systems, 12 people": replace(BASIS, qualities=spread(8, 3.0)),
    "scores, 6 systems, 12 people": replace(equal(6, 12, 50), qualities=spread(6, 3.0)),
    "scores, 5 systems, 5 people": replace(equal(5, 5, 50), qualities=spread(5, 3.0)),
    "scores, two levels, 8 systems, 12 people": replace(BASIS, qualities=two_levels(8, 3.0)),
    "own scales and ceilings, 8 systems, 12 people": replace(
        BASIS, qualities=spread(8, 3.0), scale=0.4, ceilings=0.33, mean=82.0
    ),
    "3 systems on a screen, 12 people, view 6 points": replace(SIDE_BY_SIDE, view=6.0, qualities=spread(12, 3.0)),
    "50 people with one task each, 13 systems": replace(CROWD, qualities=spread(13, 3.0)),
    "rankings of 5, 8 systems, 8 people": replace(alike(8, 8, 30, shown=5), qualities=spread(8, 0.4)),
    "pairs, 4 systems, 8 people": replace(alike(4, 8, 60), qualities=spread(4, 0.4)),
}
"""Systems of different quality: what is found, and is it found again?"""

UNFRIENDLY: dict[str, Cell] = {
    "one document judged by all, hundreds by one person each": equal(6, 10, 40, common=1),
    "2 of 6 systems come late, half the people gone, all grow stricter": LATE,
    "three values only: 0, 50, 100": replace(BASIS, step=50.0, mean=65.0),
    "most scores at the top: mean 97 before the ceiling": replace(BASIS, mean=97.0, scale=0.4, strictness=10.0),
    "most scores at the top, unequal systems": replace(
        BASIS, qualities=spread(8, 3.0), mean=97.0, scale=0.4, strictness=10.0
    ),
    "scores, people prefer families of systems, 8 people": equal(6, 8, 40, mean=55.0, families=4.0),
    "rankings of 5, people prefer families of systems, 8 people": alike(8, 8, 30, shown=5, families=0.7),
    "12 documents that everybody judges, luck of each output 8 points": equal(6, 10, 36, documents=12, output=8.0),
    "four documents only, 10 people": equal(5, 10, 18, documents=4, segments=10),
}
"""Designs that nobody should choose, and somebody does."""

GROUPS = {"equal": EQUAL, "failures": FAILURES, "unequal": UNEQUAL, "unfriendly": UNFRIENDLY}
