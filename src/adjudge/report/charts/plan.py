"""The smallest difference that each design can find, against the work it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.report.charts import theme

if TYPE_CHECKING:
    from pathlib import Path

    from adjudge.results.plan import Plan


def plan_chart(plan: Plan) -> dict[str, Any]:
    """The difference detected with the requested power, by judgments; a line at the difference asked for."""
    import altair as alt

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
    base = alt.Chart(theme.values(rows)).encode(
        x=alt.X("judgments:Q", title="judgments, controls included", scale=alt.Scale(type="log", nice=False)),
        y=alt.Y("detectable:Q", title=f"points found with power {plan.power:.0%}", scale=alt.Scale(zero=True)),
        color=alt.Color("design:N", title=None, scale=alt.Scale(domain=structures, range=colours)),
    )
    symbol = alt.Legend(symbolType="stroke", symbolStrokeWidth=2, symbolStrokeColor=theme.INK)
    tooltip = [
        alt.Tooltip("design:N"),
        alt.Tooltip("per item:N"),
        alt.Tooltip("judgments:Q", format=","),
        alt.Tooltip("detectable:Q", format=".2f"),
        alt.Tooltip("power:Q", format=".0%"),
    ]
    dash = alt.StrokeDash("per item:N", title="judgments per item", legend=symbol)
    lines = base.mark_line(strokeWidth=2, opacity=0.8).encode(strokeDash=dash)
    points = base.mark_point(filled=True, size=45).encode(tooltip=tooltip)
    wanted = alt.Chart(theme.values([{"y": plan.difference}])).mark_rule(color=theme.INK, strokeDash=[2, 4])
    return theme.finish(alt.layer(lines, points, wanted.encode(y="y:Q")), height=300)


def write_plan_chart(plan: Plan, path: Path) -> None:
    """Write the chart: PNG where the name ends so, SVG otherwise."""
    import vl_convert

    from adjudge.core.files import atomic_path, write_text

    svg = vl_convert.vegalite_to_svg(theme.paint(plan_chart(plan)))
    if path.suffix == ".png":
        with atomic_path(path) as temporary:
            temporary.write_bytes(vl_convert.svg_to_png(svg, scale=theme.PNG_SCALE))
    else:
        write_text(path, svg)
