"""Reliability: would other annotators have put the systems into the same order?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adjudge.results.result import to_plain
from adjudge.results.table import Table, number, text

if TYPE_CHECKING:
    from collections.abc import Mapping


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
