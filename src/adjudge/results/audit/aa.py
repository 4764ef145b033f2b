"""The A/A test: how often a test calls a system different from itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

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
    """The rates by test, from `splits` random splits of every system that has enough pages (or annotators)."""

    rates: Mapping[str, AARate]
    splits: int
    systems: int
    unit: Literal["pages", "annotators"] = "pages"
    by_annotator: AATest | None = None
    """The same where whole annotators are split instead of pages."""
    no_annotators: str = ""
    """Why annotators could not be split, where that was tried."""

    def to_dict(self) -> dict[str, Any]:
        """As promised to users: by test, and the same under `by_annotator` where annotators were split too."""
        plain: dict[str, Any] = to_plain(self.rates)
        if self.unit == "annotators":
            return plain
        return {**plain, "by_annotator": None if self.by_annotator is None else self.by_annotator.to_dict()}

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
            "times: how often a test calls the halves different. An honest one does so in 5% of the cases at .05."
        )
        if self.no_annotators:
            note += f" Halves of the annotators were not compared: {self.no_annotators}."
        return Table(f"{_TITLES[self.unit]} on these data", columns, rows, note)


_TITLES = {
    "pages": "A/A test: which tests tell the truth",
    "annotators": "A/A test by annotators: which tests tell the truth for other people",
}
