"""Results in a notebook: short text and HTML, data frames, charts."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import polars as pl
import pytest

from adjudge.reports import result_page
from adjudge.reports.display import MOST_ROWS, frame_of
from adjudge.reports.result_page import charts_of
from adjudge.table.errors import DataError, UsageError
from adjudge.table.results import HumanName, Result, Span, Table, number, show, span, text
from tests.helpers.made import NASTY, pair_results, ranked, ranking, score_results, three_systems

RELATIVE, SCORES = pair_results(), score_results()
RESULTS: list[Result] = [*RELATIVE.results, *SCORES.results]


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: type(result).__name__)
def test_every_result_is_short_in_text_and_ends_with_its_signature(result: Result) -> None:
    assert str(result).splitlines()[-1] == result.signature
    assert len(str(result)) < 4000
    assert repr(result) == f"<{type(result).__name__}: {result.signature}>"


def test_text_shows_the_ranking_with_its_lines() -> None:
    lines = str(three_systems()).splitlines()
    assert lines[0] == "Ranking by bradley-terry"
    assert lines[3].split()[:8] == ["1", "ref", "(human)", "0.750", "0.550", "0.950", "a", "1"]
    assert set(lines[4]) == {"-"}
    assert lines[5].split()[:7] == ["2", "alpha", "0.500", "0.300", "0.700", "b", "2–3"]


def test_long_tables_are_cut_and_say_so() -> None:
    many = ranking(*(ranked(f"s{i}", i, cluster=1, ranks=(1, 40)) for i in range(1, 41)))
    assert f"({40 - MOST_ROWS} more rows in to_frame())" in str(many)
    assert many.to_frame().height == 40


def test_names_cannot_break_out_of_the_html() -> None:
    html = three_systems(NASTY)._repr_html_()
    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;/script&gt;" in html


def test_names_cannot_break_out_of_a_plot(tmp_path: Path) -> None:
    """A page whose names hold tags has exactly the elements of one whose names are as long and hold none."""
    charts = [three_systems(name).plot() for name in (NASTY, "x" * len(NASTY))]
    saved = [chart.save(tmp_path / f"{i}.html").read_text(encoding="utf-8") for i, chart in enumerate(charts)]
    for nasty, harmless in (saved, [chart._repr_html_() for chart in charts], [chart._repr_svg_() for chart in charts]):
        assert "window.hacked" in nasty, "the name must be there"
        assert elements(nasty) == elements(harmless) != []


def elements(html: str) -> list[str]:
    """The elements of a page as a browser would find them, without their numbered ids."""
    found: list[str] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: found.append(f"{tag} {[name for name, _ in attrs]}")  # type: ignore[method-assign]
    parser.handle_endtag = lambda tag: found.append(f"/{tag}")  # type: ignore[method-assign]
    parser.feed(html)
    return found


def test_frames_hold_plain_names_numbers_and_ranges_as_two_columns() -> None:
    frame = three_systems().to_frame()
    assert frame["system"].to_list() == ["ref", "alpha", "beta"]
    assert frame.select("rank_set_low", "rank_set_high").rows() == [(1, 1), (2, 3), (2, 3)]
    assert frame.schema["score"] == pl.Float64
    assert three_systems().to_frame("pairs").columns == [
        "better",
        "worse",
        "difference",
        "p",
        "p_adjusted",
        "state",
        "p_holm",
        "p_bh",
    ]
    assert three_systems().to_frame(-1).height == 3


def test_columns_of_one_name_and_missing_numbers_survive() -> None:
    table = Table("t", (number("n"), number("n"), span("r")), ((1.0, float("nan"), Span(1, 2)), (2.0, 3.0, None)))
    frame = frame_of(table)
    assert frame.columns == ["n", "n 2", "r_low", "r_high"]
    assert frame.rows() == [(1.0, None, 1, 2), (2.0, 3.0, None, None)]


def test_a_human_name_is_its_name_and_is_shown_as_human() -> None:
    assert HumanName("refA") == "refA"
    assert show(HumanName("refA"), text("system")) == "refA (human)"


def test_what_is_0_as_shown_has_no_minus() -> None:
    assert [show(value, number("n", 2)) for value in (-0.0, -0.004, -1e-17, -0.006)] == [
        "0.00",
        "0.00",
        "0.00",
        "-0.01",
    ]


def test_unknown_tables_and_charts_name_those_there_are() -> None:
    with pytest.raises(UsageError, match="Pairs of systems"):
        three_systems().to_frame("no such table")
    with pytest.raises(UsageError, match="the result has 2 tables"):
        three_systems().to_frame(7)
    with pytest.raises(UsageError, match="scores, ranks, pairs"):
        three_systems().plot("no such chart")
    with pytest.raises(DataError, match="no chart"):
        RELATIVE.counts.plot()


def test_pandas_gets_the_same_values() -> None:
    frame = three_systems().to_pandas()
    assert frame["system"].tolist() == ["ref", "alpha", "beta"]
    assert frame["rank_set_high"].tolist() == [1, 3, 3]


def test_without_pandas_the_message_names_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match="to_frame"):
        three_systems().to_pandas()


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: type(result).__name__)
def test_every_chart_can_be_displayed_and_saved(
    result: Result, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    charts = charts_of(result)
    # Drawn once: a plot makes all charts of a result and shows one.
    monkeypatch.setattr(result_page, "charts_of", lambda _: charts)
    for name in charts:
        chart = result.plot(name)
        svg = chart.save(tmp_path / "chart.svg").read_text(encoding="utf-8")
        assert ET.fromstring(svg).tag.endswith("svg")
        assert "var(--" not in svg
        assert chart._repr_svg_() == svg


def test_a_plot_is_saved_as_its_ending_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chart = three_systems().plot()
    beginnings = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<svg", ".html": b"<!DOCTYPE html>"}
    for ending, beginning in beginnings.items():
        assert chart.save(tmp_path / f"chart{ending}").read_bytes().startswith(beginning)
    with pytest.raises(UsageError, match="choose one of these endings"):
        chart.save(tmp_path / "chart.jpg")
    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(UsageError, match="this needs the package 'typst'"):
        chart.save(tmp_path / "chart.png")
