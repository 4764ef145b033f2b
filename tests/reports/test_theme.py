"""Long names in charts keep what tells them apart."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from adjudge.metrics.results import MetricComparison
from adjudge.reports import drawing
from adjudge.reports.charts import draw_matrix, draw_places
from adjudge.reports.metrics_section import _cells, draw_metric_wins

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
    drawn = draw_metric_wins(compared, [named(name) for name in ORDER]).body
    cut = r">newstest\.[^<]*…[^<]+\.2<" if in_the_middle else r">2-newstest\.[^<]*…<"
    assert len(re.findall(cut, drawn)) == 2, "beside the rows and above the columns"


def test_signs_say_what_colours_say_and_one_sided_tests_need_half_the_level() -> None:
    cells = [cell for pair in COMPARED for cell in _cells(pair)]
    signs = {(cell.row, cell.column): cell.sign for cell in cells}
    assert signs[ORDER[0], ORDER[1]] == "+"
    assert signs[ORDER[1], ORDER[0]] == "−"
    assert {signs[pair] for pair in signs if ORDER[2] in pair} == {""}
    assert [cell.facts["difference"] for cell in cells][-2:] == ["", ""]


def test_what_all_names_share_is_cut_first() -> None:
    """Names of files differ in the middle: cut at their end or in the middle, all would read alike."""
    names = [f"generaltest2022.en-liv.hyp.{name}.liv.txt" for name in ("TAL-SJTU", "TartuNLP", "NiuTrans")]
    assert drawing.shorten(names, 17) == ["…TAL-SJTU…", "…TartuNLP…", "…NiuTrans…"]
    assert drawing.shorten(["a-1", "a-2"], 17) == ["a-1", "a-2"]
    # Few shared letters are not worth a mark, and a single digit would say too little.
    assert drawing.shorten(["GPT-4 " + "x" * 20, "GPT-5 " + "y" * 20], 12)[0] == "GPT-4 xxxxx…"
    assert drawing.shorten(["some-long-system-1", "some-long-system-2"], 12) == ["some-l…tem-1", "some-l…tem-2"]
    assert drawing.shorten([], 12) == []


def test_a_shortened_name_says_itself_in_full() -> None:
    names = [f"generaltest2022.en-liv.hyp.{name}.liv.txt" for name in ('A"B', "C\\D")]
    svg = draw_places({"one": names, "generaltest2022 of everything in the world": names[::-1]}).to_svg()
    for shown in ("…A&quot;B…", "…C\\D…"):
        assert f">{shown}</text>" in svg
    assert f"<title>{names[1]}</title>" in svg
    assert "<title>generaltest2022 of everything in the world</title>" in svg


def test_names_of_any_script_fit_and_do_not_turn_what_is_beside_them() -> None:
    """Chinese letters are twice as wide as Latin ones; Arabic and Hebrew ones run the other way."""
    names = ["译" * 40, "x" * 40, "نظام الترجمة العصبية", "a\u0301" * 15, "\x00\ud800ok"]
    shown = drawing.fit_names(names, 165)
    assert max(map(drawing.measure, shown)) <= 165
    assert shown[2:] == names[2:], "what fits stays whole; accents take no room of their own"
    svg = draw_places({"one": names, "two": names}).to_svg()
    assert "\u2068نظام الترجمة العصبية\u2069</text>" in svg
    assert ET.fromstring(svg) is not None


@pytest.mark.parametrize("count", [1, 2, 30])
def test_one_to_thirty_systems_are_drawn(count: int) -> None:
    names = [f"system-{i}" for i in range(count)]
    drawn = draw_matrix(names, names, [[0.5] * count] * count, steps=(0.2, 0.4, 0.6), what="share", number=".0%")
    assert len(drawn.rows) == count * count
    boxes = re.findall(r'<path d="M([0-9.]+)-[0-9.]+h([0-9.]+)"', drawn.body)
    assert len(boxes) == count * count
    assert min(float(width) for _, width in boxes) >= 20
    assert max(float(x) + float(width) for x, width in boxes) <= drawn.width


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6), st.integers(2, 10), st.booleans())
@example(879609.9999999999, 1e-6, 6, False)
def test_axes_have_few_round_numbers_inside_them(low: float, size: float, most: int, percent: bool) -> None:
    axis = drawing.Numbers(low, low + size, percent=percent)
    ticks = axis.ticks(most)
    assert len(ticks) <= most + 1
    assert all(low - 1e-6 * size <= value <= low + size * (1 + 1e-6) for value, _ in ticks)


def test_steps_of_a_quarter_are_written_in_full() -> None:
    assert [written for _, written in drawing.Numbers(0.0, 1.1).ticks(5)] == ["0.00", "0.25", "0.50", "0.75", "1.00"]
    assert [written for _, written in drawing.Numbers(0.0, 0.1, percent=True).ticks(4)] == [
        "0.0%",
        "2.5%",
        "5.0%",
        "7.5%",
        "10.0%",
    ]
