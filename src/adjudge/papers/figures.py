"""The figures of papers as data: what is drawn, and one sentence that says it to those who cannot see it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from adjudge.table.results import to_plain

Basis = Literal["the paper's data", "other data", "simulated data"]


@dataclass(frozen=True, kw_only=True)
class PaperFigure:
    """One figure of a paper, drawn again."""

    kind: ClassVar[str] = "figure"

    figure: str
    """Its number, such as `Figure 1`."""
    title: str
    says: str
    """What is to be seen, with the most important numbers."""
    page: int | None = None
    basis: Basis = "the paper's data"
    note: str = ""
    """How it differs from what is printed, and why."""

    @property
    def number_and_page(self) -> str:
        """As in `Figure 1 (page 3)`."""
        return f"{self.figure} (page {self.page})" if self.page is not None else self.figure

    @property
    def heading(self) -> str:
        """Number, page and title."""
        return f"{self.number_and_page}: {self.title}"

    def to_dict(self) -> dict[str, Any]:
        """The figure with its kind first."""
        fields = {field.name: to_plain(getattr(self, field.name)) for field in dataclasses.fields(self)}
        return {"kind": self.kind, **fields}


@dataclass(frozen=True)
class ScatterPoint:
    """One point and its name."""

    name: str
    group: str
    x: float
    y: float


@dataclass(frozen=True)
class FittedLine:
    """The straight line of least squares, and Pearson's r."""

    slope: float
    intercept: float
    r: float


@dataclass(frozen=True, kw_only=True)
class Scatter(PaperFigure):
    """Points with a fitted line; named ones carry their names."""

    kind: ClassVar[str] = "scatter"

    x: str
    y: str
    points: tuple[ScatterPoint, ...]
    line: FittedLine
    named: bool = True


@dataclass(frozen=True)
class CurveAt:
    """A point of a curve, with a band where there is one."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Curve:
    """One line of a panel."""

    name: str
    points: tuple[CurveAt, ...]
    panel: str = ""


@dataclass(frozen=True)
class Mark:
    """A straight line across a chart with its name: at this x or this y."""

    name: str
    axis: Literal["x", "y"]
    value: float


@dataclass(frozen=True, kw_only=True)
class Curves(PaperFigure):
    """Lines over a common x; one chart for every panel."""

    kind: ClassVar[str] = "curves"

    x: str
    y: str
    curves: tuple[Curve, ...]
    marks: tuple[Mark, ...] = ()
    ordinal: bool = False
    """Whether the values of x are equally spaced."""
    share: bool = False
    """Whether y is a share, shown in percent."""


@dataclass(frozen=True)
class RankingColumn:
    """One ranking: its systems in order, and the clusters they form."""

    name: str
    order: tuple[str, ...]
    clusters: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, kw_only=True)
class PlacesOfSystems(PaperFigure):
    """How systems move between rankings."""

    kind: ClassVar[str] = "places"

    rankings: tuple[RankingColumn, ...]


@dataclass(frozen=True, kw_only=True)
class Matrix(PaperFigure):
    """Coloured cells; empty ones are null."""

    kind: ClassVar[str] = "matrix"

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[float | None, ...], ...]
    what: str
    middle: float | None = None
    """Where colours turn; none where colours only grow darker."""


@dataclass(frozen=True)
class Bar:
    """One bar: its panel, its row, and its series within the row."""

    panel: str
    row: str
    series: str
    value: float


@dataclass(frozen=True, kw_only=True)
class Bars(PaperFigure):
    """Bars in rows; one chart for every panel."""

    kind: ClassVar[str] = "bars"

    x: str
    bars: tuple[Bar, ...]
    decimals: int
    mark: Mark | None = None


@dataclass(frozen=True)
class ViolatedLead:
    """A lead of the lower over the higher of two systems in an order."""

    winner: str
    loser: str
    weight: float


@dataclass(frozen=True, kw_only=True)
class TournamentOrder(PaperFigure):
    """An order of systems, the best first, and the leads that it violates."""

    kind: ClassVar[str] = "tournament"

    order: tuple[str, ...]
    leads: tuple[ViolatedLead, ...]
