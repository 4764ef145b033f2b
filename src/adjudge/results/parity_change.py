"""What becomes of human parity from one version of a test set to the other: counts, and by a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from adjudge.results.table import P_HOLM, Cell, Table, number, p_value, text

if TYPE_CHECKING:
    from adjudge.results.parity import ParityPart

Interval = tuple[float, float]


@dataclass(frozen=True)
class Change:
    """A figure of one system before and after: the difference with its 95% interval by resampling documents."""

    system: str
    measure: str
    part: str
    before: float
    after: float
    difference: float
    interval: Interval
    p: float
    """Two-sided: before and after exchanged at random, document by document."""


@dataclass(frozen=True)
class ModelChange:
    """The change of a system's distance from the human by a model that allows for annotators, documents and tastes."""

    system: str
    part: str
    """The segments: `all`, `contaminated`, `untouched`, or `beyond untouched`, the difference of the last two."""
    change: float
    """In points of the scores, or in log-odds of ranks."""
    se: float
    interval: Interval
    p: float
    p_holm: float
    """Corrected for all systems, within the part."""


@dataclass(frozen=True)
class ParityChange:
    """What becomes of parity between two versions of a test set."""

    before: tuple[ParityPart, ...]
    changes: tuple[Change, ...]
    difference_in_differences: tuple[Change, ...]
    """The change on contaminated segments beyond the change on untouched ones."""
    units: int
    unit: str
    by_model: tuple[ModelChange, ...] = ()


def model_table(changes: tuple[ModelChange, ...]) -> Table:
    """The changes of distances from the human, one line each."""
    rows = tuple(
        (change.system, change.part, change.change, f"{change.interval[0]:+.2f} to {change.interval[1]:+.2f}",
         change.p, change.p_holm)
        for change in changes
    )  # fmt: skip
    columns = (text("system"), text("segments"), number("change", 2), text("95% interval"), p_value("p"), P_HOLM)
    note = (
        "How much closer to the human a system is after than before, in points of scores or log-odds of ranks, with "
        "annotators, documents and tastes allowed for. 'beyond untouched' is the difference in differences."
    )
    return Table("Change of the distance from the human, by the model", columns, rows, note)


def change_table(change: ParityChange) -> Table:
    """Every figure before and after."""
    rows: list[tuple[Cell, ...]] = []
    for figure in (*change.changes, *change.difference_in_differences):
        unit = 100 if figure.measure == "parity_share" else 1
        low, high = (f"{unit * limit:+.2f}" for limit in figure.interval)
        values = (unit * value for value in (figure.before, figure.after, figure.difference))
        rows.append(
            (figure.system, figure.measure.replace("_", " "), figure.part, *values, f"{low} to {high}", figure.p)
        )
    columns = (
        text("system"),
        text("measure", help="parity share in percentage points"),
        text("segments"),
        number("before", 2),
        number("after", 2),
        number("change", 2),
        text("95% interval"),
        p_value("p", help="before and after exchanged at random within documents"),
    )
    note = (
        f"Intervals by resampling {change.units} {change.unit}, before and after together. "
        "'beyond untouched' is the change on contaminated segments minus the change on untouched ones."
    )
    return Table("Change from before to after", columns, tuple(rows), note)
