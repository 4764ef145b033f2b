"""How far a ranking can be trusted: the A/A test, reliability over halves of the annotators, influence of each unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from adjudge.core.wording import agreeing, as_sentences, counted
from adjudge.results.result import to_plain
from adjudge.results.table import Table, number, percent, tabulate, text

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class AARate:
    """How often one test said "different" at .05 and at .01, and an interval of the former.

    The interval (Wilson, 95%) is for further random splits of the same judgments.
    """

    tests: int
    rate_05: float
    rate_01: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class AATest:
    """The rates by test, from `splits` random splits of every system that has enough pages (or annotators)."""

    rates: Mapping[str, AARate]
    splits: int
    systems: int
    unit: Literal["pages", "annotators"] = "pages"
    by_annotator: AATest | None = None
    """The same where whole annotators are split instead of pages."""
    no_annotators: str = ""
    """Why annotators could not be split, where that was tried."""
    notes: tuple[str, ...] = ()
    """What is in no half of the annotators, and why."""

    def to_dict(self) -> dict[str, Any]:
        """The documented keys: by test, and under `by_annotator` by halves of the annotators.

        Of relative judgments only annotators are split, so there the two are the same.
        """
        halves = self if self.unit == "annotators" else self.by_annotator
        plain: dict[str, Any] = to_plain(self.rates)
        return {**plain, "by_annotator": None if halves is None else to_plain(halves.rates)}

    def tables(self) -> tuple[Table, ...]:
        """One line per test; a table for pages and one for annotators."""
        others = () if self.by_annotator is None else self.by_annotator.tables()
        return (self._table(), *others)

    def _table(self) -> Table:
        rows = tuple(
            (name, rate.tests, rate.rate_05, *rate.interval, rate.rate_01) for name, rate in self.rates.items()
        )
        columns = (
            text("test"),
            number("tests", 0),
            percent("p < .05", help="should be 5%"),
            percent("low"),
            percent("high"),
            percent("p < .01", help="should be 1%"),
        )
        note = (
            f"Each of {self.systems} systems was split at random into two halves of its {self.unit}, {self.splits} "
            "times: how often a test calls the halves different. A correct test does so in 5% of the cases at .05."
        )
        if self.no_annotators:
            note += f" Halves of the annotators were not compared: {self.no_annotators}."
        return Table(f"{_TITLES[self.unit]} on these data", columns, rows, note)


_TITLES = {
    "pages": "A/A test: which tests can be trusted",
    "annotators": "A/A test by annotators: which tests can be trusted for other people",
}


@dataclass(frozen=True)
class HalfAgreement:
    """Kendall's tau between the orders of two halves of the annotators: mean over splits, and its middle 95%."""

    splits: int
    tau: float
    low: float
    high: float


@dataclass(frozen=True)
class Reliability:
    """Agreement of disjoint halves of the annotators, by method."""

    methods: Mapping[str, HalfAgreement]
    annotators: int
    systems: int
    notes: tuple[str, ...] = ()
    """What is in neither half, and why."""

    def to_dict(self) -> dict[str, Any]:
        """By method."""
        plain: dict[str, Any] = to_plain(self.methods)
        return plain

    def tables(self) -> tuple[Table, ...]:
        """One line per method."""
        rows = tuple(
            (name, agreement.tau, agreement.low, agreement.high, agreement.splits)
            for name, agreement in self.methods.items()
        )
        columns = (text("method"), number("tau", 2), number("low", 2), number("high", 2), number("splits", 0))
        note = (
            f"Kendall's tau between the orders of {self.systems} systems by one half of the {self.annotators} "
            "annotators and by the other; low and high hold 95% of the random splits."
        )
        return (Table("Reliability: one half of the annotators against the other", columns, rows, note),)


MOST_SHOWN = 10


@dataclass(frozen=True)
class LeftOutUnit:
    """What changes when one annotator or document is left out."""

    unit: Literal["annotator", "document", "segment"]
    name: str
    judgments: int
    system: str
    """The system whose effect moves most, compared with the mean of all."""
    shift: float
    """By how much, in the unit of the scores."""
    in_se: float
    """The same in standard errors of that effect."""
    flips: int
    """Pairs of systems whose order is reversed."""
    lost: int
    gained: int
    """Pairs that are no longer significant, and pairs that have become so (p < .05, each by itself)."""


@dataclass(frozen=True)
class Influence:
    """Every annotator and document left out in turn, those that move most first."""

    rows: tuple[LeftOutUnit, ...]
    pairs: int
    significant: int
    """Pairs of systems, and how many differ significantly on the whole data (p < .05, each by itself)."""
    notes: tuple[str, ...] = ()
    """What was not tried, and why."""

    def to_dict(self) -> list[dict[str, Any]]:
        """A list of units."""
        plain: list[dict[str, Any]] = to_plain(self.rows)
        return plain

    def tables(self) -> tuple[Table, ...]:
        """Those that move most."""
        rows = self.rows[:MOST_SHOWN]
        columns = {
            "unit": text("left out"),
            "name": text("name"),
            "judgments": number("judgments", 0),
            "system": text("moves most"),
            "shift": number("shift", 2),
            "in_se": number("in se", 2),
            **{name: number(name, 0) for name in ("flips", "lost", "gained")},
        }
        differing = f"{self.significant} {agreeing(self.significant, 'differs', 'differ')}"
        shown = f"The {len(rows)} of {counted(len(self.rows), 'unit')} that move an effect most when left out"
        if len(rows) == len(self.rows):
            shown = "All units that were left out, those that move an effect most first"
        note = (
            f"{shown}. "
            f"Of {counted(self.pairs, 'pair')} {differing} at .05, each by itself; flips are pairs whose order is "
            "reversed, lost and gained are pairs that cease or begin to differ."
        )
        note = " ".join([note, *as_sentences(self.notes)])
        return (tabulate("Influence: who moves the ranking", rows, columns, note),)
