"""Systems within subsets of the judgments: one chart for every column, and whether the differences are chance."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from adjudge.core.wording import short_list
from adjudge.report.charts import theme
from adjudge.report.charts.heatmap import draw_matrix
from adjudge.report.charts.vega import Layer, channel, condition
from adjudge.report.page import Chart, Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.results.audit.breakdown import Breakdown, ColumnBreakdown

MOST_LINES = 8
"""Subsets that are drawn as lines; more are drawn as coloured cells."""
LEVEL = 0.05
LINE_HEIGHT = 15
"""Of a name, in pixels."""
_SHARES = (-0.6, -0.35, -0.1, 0.1, 0.35, 0.6)


def breakdown_section(breakdown: Breakdown) -> Section:
    """Whether systems fare better on some of the judgments than on others."""
    words = ["Do systems fare better on some of the judgments than on others?"]
    asked = len(breakdown.columns)
    words += [
        f"By {column.column}: {column.verdict(asked)} {_largest(column)}".rstrip() for column in breakdown.columns
    ]
    charts = tuple(
        Chart(
            f"breakdown-{number}" if asked > 1 else "breakdown",
            f"Systems by {column.column}",
            "Coloured lines rise or fall by more than chance, beside the other systems."
            if len(column.levels) <= MOST_LINES
            else "How much better (blue) or worse (orange) than elsewhere; most of what looks like a pattern is noise.",
            _lines(column, breakdown.unit) if len(column.levels) <= MOST_LINES else _cells(column),
        )
        for number, column in enumerate(breakdown.columns, start=1)
    )
    tables = breakdown.tables()
    return Section("breakdown", "Subsets", tuple(words), charts, tables[::2], tables[1::2])


def _largest(column: ColumnBreakdown) -> str:
    moved = [score for score in column.scores if score.p < LEVEL]
    if moved:
        named = [f"{score.system} in {score.level} ({score.shift:+.2f})" for score in moved[:6]]
        return f"Shifts beyond chance: {short_list(named)}."
    largest = column.largest
    if largest is None:
        return ""
    return f"The largest shift, {largest.system} in {largest.level} ({largest.shift:+.2f}), may be chance."


def _lines(column: ColumnBreakdown, unit: str) -> dict[str, Any]:
    """One line per system over the subsets, coloured where it moves by more than chance."""
    moved = {score.system for score in column.scores if score.p < LEVEL}
    rows = [
        {
            "system": score.system,
            "subset": score.level,
            "score": score.score,
            "shift": score.shift if score.shift == score.shift else None,
            "moves": "beyond chance" if score.system in moved else "chance",
        }
        for score in column.scores
    ]
    base = Layer(rows).encode(
        x=channel("subset:N", sort=list(column.levels), title=column.column, axis=dict(labelAngle=0, labelLimit=140)),
        y=channel("score:Q", title=unit, scale=dict(zero=False)),
        detail="system:N",
        color=channel(
            "moves:N",
            scale=dict(domain=["beyond chance", "chance"], range=[theme.ACCENT, theme.MUTED]),
            legend=None,
        ),
        opacity=condition("datum.moves == 'chance'", dict(value=0.55), dict(value=1.0)),
        tooltip=[
            channel("system:N", title=" "),
            channel("subset:N", title=column.column),
            channel("score:Q", title="score", format=".2f"),
            channel("shift:Q", title="shift", format="+.2f"),
        ],
    )
    height = max(260, 18 * len({score.system for score in column.scores}))
    last = [row for row in rows if row["subset"] == column.levels[-1]]
    ends = _apart([score.score for score in column.scores if score.level == column.levels[-1]], height)
    beside = [{**row, "score": end} for row, end in zip(last, ends, strict=True)]
    names = base.with_rows(beside).mark("text", align="left", dx=8, fontSize=11)
    layers = (base.mark("line", strokeWidth=2), base.mark("point", filled=True, size=60), names.encode(text="system:N"))
    return theme.finish(*layers, height=height)


def _apart(scores: Sequence[float], height: int) -> list[float]:
    """The scores, moved as little as it takes for names beside them not to overlap."""
    order = sorted(range(len(scores)), key=lambda i: scores[i])
    least = (max(scores) - min(scores)) * LINE_HEIGHT / height if scores else 0.0
    placed = [scores[i] for i in order]
    for _ in range(len(placed)):
        for low, high in pairwise(range(len(placed))):
            missing = least - (placed[high] - placed[low])
            if missing > 0:
                placed[low] -= missing / 2
                placed[high] += missing / 2
    return [placed[order.index(i)] for i in range(len(scores))]


def _cells(column: ColumnBreakdown) -> dict[str, Any]:
    """The shift of every system in every subset."""
    systems = list(dict.fromkeys(score.system for score in column.scores))
    shifts = {(score.level, score.system): score.shift for score in column.scores if score.shift == score.shift}
    largest = max((abs(shift) for shift in shifts.values()), default=1.0) or 1.0
    cells = [[shifts.get((level, system)) for system in systems] for level in column.levels]
    steps = [largest * share for share in _SHARES]
    return draw_matrix(column.levels, systems, cells, steps=steps, what="shift", cell_format="+.1f", row_height=20)
