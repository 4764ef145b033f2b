"""The A/A test: how often a test calls a system different from itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adjudge.results.result import to_plain
from adjudge.results.table import Table, number, percent, text

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
    """The rates by test, from `splits` random splits of every system that has enough pages."""

    rates: Mapping[str, AARate]
    splits: int
    systems: int

    def to_dict(self) -> dict[str, Any]:
        """As promised to users: by test."""
        plain: dict[str, Any] = to_plain(self.rates)
        return plain

    def tables(self) -> tuple[Table, ...]:
        """One line per test."""
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
            f"Each of {self.systems} systems was split at random into two halves of its pages, {self.splits} times: "
            "how often a test calls the halves different. An honest one does so in 5% of the cases at .05."
        )
        return (Table("A/A test: which tests tell the truth on these data", columns, rows, note),)
