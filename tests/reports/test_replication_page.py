"""The page of a paper: figures of every kind, cells of every state, what is left out."""

from __future__ import annotations

import json
from functools import cache
from xml.etree import ElementTree as ET

import pytest

from adjudge.papers.figures import PaperFigure
from adjudge.reports.charts import draw_places
from adjudge.reports.drawing import paint
from adjudge.reports.files import render
from adjudge.reports.page import ReportPage, Section
from adjudge.reports.replication_page import build_replication_page, figure_charts
from adjudge.reports.result_page import build_page, charts_of
from tests.helpers.made import NASTY
from tests.helpers.papers import SYSTEMS, replication

FIGURES = replication().figures


@pytest.mark.slow
@pytest.mark.parametrize("figure", FIGURES, ids=[figure.figure for figure in FIGURES])
def test_every_kind_of_figure_can_be_drawn(figure: PaperFigure) -> None:
    for drawn in figure_charts(figure).values():
        assert ET.fromstring(paint(drawn)).tag.endswith("svg")
        assert drawn.rows


def test_every_system_is_named_in_the_charts_that_show_systems() -> None:
    for figure in FIGURES:
        if figure.kind in ("scatter", "places", "tournament"):
            (drawn,) = figure_charts(figure).values()
            assert all(f">{name}</text>" in drawn.body for name in SYSTEMS), figure.kind


@cache
def paper_page() -> ReportPage:
    return build_replication_page(replication(), title="A paper")


def section(slug: str) -> Section:
    (page,) = paper_page().pairs
    return next(part for part in page.sections if part.slug == slug)


@pytest.mark.slow
def test_the_page_counts_sources_apart_and_says_what_is_missing() -> None:
    (page,) = paper_page().pairs
    assert page.headline == "1 of 2 numbers of the paper that the data allow to compare come out as printed."
    facts = {fact.label: (fact.value, fact.detail) for fact in page.facts}
    assert facts["Cells of the paper"] == ("1 of 2", "match, 1 not released, 1 not compared")
    assert facts["Cells of organisers' files"] == ("20 of 20", "match")
    assert facts["Figures drawn"] == ("7", "from the paper's data, 1 from other data")
    assert section("left-out").tables[0].rows == (("Figure 8", "it shows a text"),)
    states = [row[3] for row in section("table-1").tables[0].rows]
    assert states == ["matches", "differs", "not released", "other data"]
    assert section("table-2").folded[0].note == "Published figures from a folder."


@pytest.mark.slow
def test_every_chart_has_a_sentence_for_those_who_cannot_see_it() -> None:
    charts = [chart for _, chart in paper_page().charts]
    assert len(charts) == 10
    assert all(chart.says.endswith(".") for chart in charts)
    assert len({chart.slug for chart in charts}) == len(charts)
    bars = section("figure-7")
    assert bars.words[0] == "They fall."
    assert bars.charts[0].says == "judgments (%): better 40.0 → 35.5; tie 40.0 → 35.5."


def test_a_system_that_a_ranking_lacks_leaves_a_gap() -> None:
    """Without the best system the others keep their places, so that nobody seems to move."""
    assert draw_places({"orig": ["a", "b", "c"], "without a": ["b", "c"]}).rows == (
        {"system": "a", "orig": "1", "moves": "no"},
        {"system": "b", "orig": "2", "without a": "2", "moves": "no"},
        {"system": "c", "orig": "3", "without a": "3", "moves": "no"},
    )


def test_texts_of_data_stay_texts() -> None:
    html = render(build_replication_page(replication(NASTY), title=NASTY))
    assert NASTY not in html


@pytest.mark.slow
def test_the_same_page_comes_from_output_files_and_charts_from_plot() -> None:
    result = replication()
    assert build_page({"p": result}, title="A paper") == paper_page()
    charts = charts_of(result)
    assert "figure 1" in charts
    assert "figure 7, MT_Y" in charts


def test_figures_are_data_in_json() -> None:
    plain = json.loads(json.dumps(replication().to_dict(), allow_nan=False))
    kinds = [figure["kind"] for figure in plain["figures"]]
    assert kinds == ["scatter", "curves", "curves", "places", "matrix", "matrix", "bars", "tournament"]
    assert plain["figures"][0]["points"][0] == {"name": "system-a", "group": "en-cs", "x": 100.0, "y": 50.0}
    assert plain["not_recomputed"] == [{"what": "Figure 8", "why": "it shows a text"}]
