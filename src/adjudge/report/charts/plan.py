"""The smallest difference that each design can find, against the work it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.report.charts import theme
from adjudge.report.charts.vega import Layer, channel

if TYPE_CHECKING:
    from pathlib import Path

    from adjudge.results.plan import Plan


def draw_plan(plan: Plan) -> dict[str, Any]:
    """The difference detected with the requested power, by judgments; a line at the difference asked for."""
    rows = [
        {
            "design": point.structure,
            "per item": str(point.judgments_per_item),
            "judgments": point.judgments,
            "detectable": point.detectable,
            "power": point.power,
        }
        for point in plan.curve
    ]
    structures = list(dict.fromkeys(point.structure for point in plan.curve))
    colours = [theme.ACCENT, theme.HUMAN, theme.WARN, theme.MUTED][: len(structures)]
    # On a logarithmic scale, numbers stand closer the larger they are.
    apart = dict(labelOverlap="greedy", labelSeparation=8)
    x = channel("judgments:Q", title="judgments, controls included", scale=dict(type="log", nice=False), axis=apart)
    base = Layer(rows).encode(
        x=x,
        y=channel("detectable:Q", title=f"points found with power {plan.power:.0%}", scale=dict(zero=True)),
        color=channel("design:N", title=None, scale=dict(domain=structures, range=colours)),
    )
    symbol = dict(symbolType="stroke", symbolStrokeWidth=2, symbolStrokeColor=theme.INK)
    tooltip = [
        channel("design:N"),
        channel("per item:N"),
        channel("judgments:Q", format=","),
        channel("detectable:Q", format=".2f"),
        channel("power:Q", format=".0%"),
    ]
    dash = channel("per item:N", title="judgments per item", legend=symbol)
    lines = base.mark("line", strokeWidth=2, opacity=0.8).encode(strokeDash=dash)
    points = base.mark("point", filled=True, size=45).encode(tooltip=tooltip)
    wanted = Layer([{"y": plan.difference}]).mark("rule", color=theme.INK, strokeDash=[2, 4])
    return theme.finish(lines, points, wanted.encode(y="y:Q"), height=300)


def write_plan_chart(plan: Plan, path: Path) -> None:
    """Write the chart: PNG where the name ends so, SVG otherwise."""
    import vl_convert

    from adjudge.core.files import atomic_path, write_text

    svg = vl_convert.vegalite_to_svg(theme.paint(draw_plan(plan)))
    if path.suffix == ".png":
        with atomic_path(path) as temporary:
            temporary.write_bytes(vl_convert.svg_to_png(svg, scale=theme.PNG_SCALE))
    else:
        write_text(path, svg)
