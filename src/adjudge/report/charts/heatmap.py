"""Coloured cells in rows and columns, with numbers where there is room for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.report.charts import theme
from adjudge.report.charts.vega import Layer, channel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.report.charts.vega import Rows, Spec

ROW_HEIGHT = 30


def draw_heatmap(
    cells: Rows,
    columns: Sequence[str],
    *texts: tuple[Spec, Spec],
    colour: Spec,
    tooltip: Sequence[Spec],
    rows: Sequence[str] | None = None,
    title: str | None = None,
    row_height: int = ROW_HEIGHT,
    gap: float = 2,
    radius: int = 3,
) -> dict[str, Any]:
    """A chart of cells, each with its `row` and `column`.

    Args:
        cells: the data; a pair without a cell stays blank.
        columns: names, the first at the left.
        *texts: what stands in the cells: the look of a text, and the channel with its content.
        colour: the channel of the colours.
        tooltip: what is shown of the cell that is pointed at.
        rows: names, the first at the top; the same as the columns by default.
        title: above the columns.
        row_height: in pixels.
        gap: between two cells, in pixels.
        radius: of their corners.
    """
    rows = columns if rows is None else rows
    base = Layer(cells).encode(
        x=channel("column:N", sort=list(columns), title=title, axis=theme.column_axis(len(columns))),
        y=channel("row:N", sort=list(rows), title=None),
    )
    boxes = base.mark("rect", stroke=theme.PAPER, strokeWidth=gap, cornerRadius=radius)
    shown = [base.mark("text", **look).encode(text=content) for look, content in texts]
    layers = (boxes.encode(color=colour, tooltip=list(tooltip)), *shown)
    return theme.finish(*layers, height=row_height * max(len(rows), 2))


def show_where_wide(columns: Sequence[str], pixels: int, size: int, *, narrow: bool = False) -> Spec:
    """The look of texts of this size that are shown only where a cell is wider than so many pixels, or narrower."""
    shown = "0 : 1" if narrow else "1 : 0"
    return {"fontSize": size, "opacity": {"expr": f"width / {max(len(columns), 1)} > {pixels} ? {shown}"}}


def draw_matrix(
    rows: Sequence[str],
    columns: Sequence[str],
    cells: Sequence[Sequence[float | None]],
    *,
    steps: Sequence[float],
    what: str,
    cell_format: str,
    row_height: int = 26,
) -> dict[str, Any]:
    """A heat map of numbers. Empty cells stay blank.

    Args:
        rows: names, the first at the top.
        columns: names, the first at the left.
        cells: one sequence per row.
        steps: the values between the colours: six from orange over neutral to blue, three from neutral to blue.
        what: what a cell is, for its tooltip.
        cell_format: the format of cells, as d3 writes it.
        row_height: of a cell, in pixels.
    """
    values = [
        {"row": row, "column": column, "value": value}
        for row, line in zip(rows, cells, strict=True)
        for column, value in zip(columns, line, strict=True)
        if value is not None
    ]
    colours = dict(type="threshold", domain=list(steps), range=list(theme.HEAT[-len(steps) - 1 :]))
    return draw_heatmap(
        values,
        columns,
        (show_where_wide(columns, 34, 11), channel("value:Q", format=cell_format)),
        colour=channel("value:Q", scale=colours, legend=None),
        tooltip=[
            channel("row:N", title=" "),
            channel("column:N", title="  "),
            channel("value:Q", title=what, format=cell_format),
        ],
        rows=rows,
        row_height=row_height,
        gap=1.5,
        radius=2,
    )
