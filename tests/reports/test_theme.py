"""Long names in charts keep what tells them apart."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from adjudge.metrics.results import MetricComparison
from adjudge.reports import chart_theme
from adjudge.reports.charts import draw_places
from adjudge.reports.metrics_section import draw_metric_wins
from tests.reports.test_result_page import rows_of

ORDER = [f"newstest.Some-Lab-Document-Level.{i}" for i in range(3)]
COMPARED = [
    MetricComparison("system", "williams", ORDER[0], ORDER[1], 0.2, 0.001, 0.002, 0.002, one_sided=True),
    MetricComparison("system", "williams", ORDER[0], ORDER[2], 0.2, 0.03, 0.04, 0.04, one_sided=True),
    MetricComparison("system", "williams", ORDER[1], ORDER[2], float("nan"), None, None, None, one_sided=True),
]


@pytest.mark.parametrize(("swapped", "in_the_middle"), [(False, True), (True, False)])
def test_names_are_cut_where_they_differ_least(swapped: bool, in_the_middle: bool) -> None:
    """Names that differ at the end keep their end; names that differ at the start are cut at the end."""

    def named(name: str) -> str:
        return f"{name[-1]}-{name}-campaign" if swapped else name

    compared = [replace(pair, better=named(pair.better), worse=named(pair.worse)) for pair in COMPARED]
    spec = draw_metric_wins(compared, [named(name) for name in ORDER])
    axes = [layer["encoding"][channel]["axis"]["labelExpr"] for layer in spec["layer"] for channel in "xy"]
    cut = r"newstest\.[^\"]*\\u2026[^\"]+\.2\"" if in_the_middle else r"2-newstest\.[^\"]*\\u2026\""
    assert all(re.search(cut, expression) for expression in axes)


def test_signs_say_what_colours_say_and_one_sided_tests_need_half_the_level() -> None:
    rows = rows_of(draw_metric_wins(COMPARED, ORDER))
    signs = {(row["row"], row["column"]): row["sign"] for row in rows}
    assert signs[ORDER[0], ORDER[1]] == "+"
    assert signs[ORDER[1], ORDER[0]] == "−"
    assert {signs[pair] for pair in signs if ORDER[2] in pair} == {""}
    assert [row["difference"] for row in rows][-2:] == [None, None]


def test_what_all_names_share_is_cut_first() -> None:
    """Names of files differ in the middle: cut at their end or in the middle, all would read alike."""
    names = [f"generaltest2022.en-liv.hyp.{name}.liv.txt" for name in ("TAL-SJTU", "TartuNLP", "NiuTrans")]
    assert chart_theme.shorten(names, 17) == ["…TAL-SJTU…", "…TartuNLP…", "…NiuTrans…"]
    assert chart_theme.shorten(["a-1", "a-2"], 17) == ["a-1", "a-2"]
    # Few shared letters are not worth a mark, and a single digit would say too little.
    assert chart_theme.shorten(["GPT-4 " + "x" * 20, "GPT-5 " + "y" * 20], 12)[0] == "GPT-4 xxxxx…"
    assert chart_theme.shorten(["some-long-system-1", "some-long-system-2"], 12) == ["some-l…tem-1", "some-l…tem-2"]
    assert chart_theme.shorten([], 12) == []


def test_the_axis_looks_shortened_names_up() -> None:
    import vl_convert

    names = [f"generaltest2022.en-liv.hyp.{name}.liv.txt" for name in ('A"B', "C\\D")]
    spec = chart_theme.paint(draw_places({"one": names, "generaltest2022 of everything in the world": names[::-1]}))
    svg = vl_convert.vegalite_to_svg(spec)
    for shown in ("…A&quot;B…", "…C\\D…", "generaltest2022 of everythi…"):
        assert shown in svg or shown.replace("&quot;", '"') in svg
