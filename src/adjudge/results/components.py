"""Where the spread of scores comes from: the variance components of a mixed model, in plain words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adjudge.results.table import Table, number, text

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class VarianceComponent:
    """One source of spread: its standard deviation in the unit of the scores, with an interval where there is one."""

    effect: str
    sd: float
    low: float | None
    high: float | None
    levels: int
    meaning: str
    at_zero: bool = False
    """Whether the estimate is the smallest possible one: the data show no such spread."""


@dataclass(frozen=True)
class LeftOut:
    """An effect that is not in the model by itself, and why."""

    effect: str
    reason: str


def component_table(components: Sequence[VarianceComponent], left_out: Sequence[LeftOut] = ()) -> Table:
    """The components as a table, the effects that were left out in its note."""
    rows = tuple((one.effect, one.sd, one.low, one.high, one.levels, one.meaning) for one in components)
    columns = (
        text("effect"),
        number("sd", 2, help="standard deviation in the unit of the scores"),
        number("low", 2),
        number("high", 2),
        number("levels", 0),
        text("meaning"),
    )
    listed = "; ".join(f"{one.effect} ({one.reason})" for one in left_out)
    note = f"Not in the model by themselves: {listed}." if left_out else ""
    return Table("Where the spread of scores comes from", columns, rows, note)
