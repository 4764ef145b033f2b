"""A matrix of numbers as coloured cells: what was judged together, documents by systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.report.charts import theme

if TYPE_CHECKING:
    from collections.abc import Sequence


def matrix(
    rows: Sequence[str],
    columns: Sequence[str],
    cells: Sequence[Sequence[float | None]],
    *,
    steps: Sequence[float],
    what: str,
    number: str,
    row_height: int = 26,
) -> dict[str, Any]:
    """Coloured cells. Empty ones stay blank.

    Args:
        rows: names, the first at the top.
        columns: names, the first at the left.
        cells: one sequence per row.
        steps: the values between the colours: six from orange over neutral to blue, three from neutral to blue.
        what: what a cell is, for its tooltip.
        number: the format of cells, as d3 writes it.
        row_height: of a cell, in pixels.
    """
    import altair as alt

    values = [
        {"row": row, "column": column, "value": value}
        for row, line in zip(rows, cells, strict=True)
        for column, value in zip(columns, line, strict=True)
        if value is not None
    ]
    base = alt.Chart(theme.values(values)).encode(
        x=alt.X("column:N", sort=list(columns), title=None, axis=theme.column_axis(len(columns))),
        y=alt.Y("row:N", sort=list(rows), title=None),
    )
    boxes = base.mark_rect(stroke=theme.PAPER, strokeWidth=1.5, cornerRadius=2).encode(
        color=alt.Color(
            "value:Q",
            scale=alt.Scale(type="threshold", domain=list(steps), range=list(theme.HEAT[-len(steps) - 1 :])),
            legend=None,
        ),
        tooltip=[
            alt.Tooltip("row:N", title=" "),
            alt.Tooltip("column:N", title="  "),
            alt.Tooltip("value:Q", title=what, format=number),
        ],
    )
    wide = f"width / {max(len(columns), 1)} > 34 ? 1 : 0"
    numbers = base.mark_text(fontSize=11, opacity=alt.expr(wide)).encode(text=alt.Text("value:Q", format=number))
    return theme.finish(alt.layer(boxes, numbers), height=row_height * max(len(rows), 2))
