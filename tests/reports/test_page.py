"""The page data: what is shown, before any layout."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from adjudge.evidence.trust import AARate, HalfAgreement, Reliability
from adjudge.reports.audit_section import rates_chart, reliability_section
from adjudge.reports.build import build_report, ranks_by_pair
from adjudge.reports.files import write_site
from adjudge.reports.page import Chart, ReportPage
from adjudge.reports.ranking_section import scores_chart
from adjudge.table.results import Table, to_plain
from tests.helpers.made import audit, pair_results, score_results, undecided

GOLDEN = Path(__file__).parent / "golden" / "page.json"


@pytest.fixture(scope="module")
def page() -> ReportPage:
    return build_report({"en-cs": pair_results(), "de-en": pair_results()}, title="Campaign")


def test_page_data_are_as_agreed(page: ReportPage) -> None:
    """See golden/README.md: after a wanted change, ADJUDGE_UPDATE_GOLDEN=1 writes the file anew."""
    plain = to_plain(replace(page, version="test", pairs=page.pairs[:1]))
    for section in plain["pairs"][0]["sections"]:
        for chart in section["charts"]:
            # How charts look is seen in pages; what they say is agreed here.
            chart["drawing"] = chart["drawing"]["rows"]
    actual = json.dumps(plain, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    if os.environ.get("ADJUDGE_UPDATE_GOLDEN"):
        GOLDEN.write_text(actual, encoding="utf-8")
    assert actual == GOLDEN.read_text(encoding="utf-8")


def test_every_chart_is_well_formed_and_inside_its_frame(page: ReportPage) -> None:
    scored = build_report({"de-en": score_results()}, title="")
    charts = [*page.charts_by_id().values(), *scored.charts_by_id().values()]
    assert len(charts) > 20
    for chart in charts:
        drawn = ET.fromstring(chart.drawing.to_svg("name", chart.title, chart.says))
        assert [each.text for each in list(drawn)[:2]] == [chart.title, chart.says]
        places = [(each, name) for each in drawn.iter() for name in ("x", "x1", "x2", "cx") if each.get(name)]
        assert places
        assert all(0 <= float(each.attrib[name]) <= chart.drawing.width for each, name in places)
        heights = [
            float(each.attrib[name]) for each in drawn.iter() for name in ("y", "y1", "y2", "cy") if each.get(name)
        ]
        assert 0 <= min(heights) <= max(heights) <= chart.drawing.height


def test_several_pairs_begin_with_an_overview(page: ReportPage) -> None:
    assert page.overview is not None
    assert [row[0] for row in page.overview.rows] == ["en-cs", "de-en"]
    assert page.overview.rows[0][1] == "alpha or beta"
    assert build_report({"en-cs": pair_results()}, title="").overview is None
    assert page.matrix is not None
    assert [column.label for column in page.matrix.columns] == ["system", "en-cs", "de-en"]
    ranked = {system.system: system.rank_set for system in pair_results().ranking.systems}
    assert {str(row[0]): row[1] for row in page.matrix.rows if row[1] is not None} == ranked


def test_criteria_of_one_language_pair_are_not_called_language_pairs() -> None:
    parts = {f"spring/{criterion}/en-de": pair_results() for criterion in ("adequacy", "naturalness")}
    page = build_report(parts, title="")
    assert page.overview is not None
    assert page.overview.title == "All rankings"
    assert page.overview.columns[0].label == "ranking"
    matrix = ranks_by_pair(parts)
    assert matrix is not None
    assert matrix.title == "Possible ranks in each ranking"


def test_many_pairs_are_a_site_whose_links_lead_somewhere(page: ReportPage, tmp_path: Path) -> None:
    write_site(page, tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"index.html", "en-cs.html", "de-en.html"}
    for name in names:
        text = (tmp_path / name).read_text(encoding="utf-8")
        links = re.findall(r'href="([^"]+)"', text)
        assert {link for link in links if not link.startswith("#")} <= names
        assert all(f'id="{link[1:]}"' in text for link in links if link.startswith("#"))
    index = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert '<a href="en-cs.html">en-cs</a>' in index
    assert "Possible ranks in each language pair" in index


def test_every_signature_and_everything_set_aside_is_shown(page: ReportPage) -> None:
    results = pair_results()
    shown = page.pairs[0]
    assert set(shown.signatures) == {result.signature for result in results.results}
    assert {(aside.reason, aside.rows) for aside in shown.set_aside} == {("blank label", 3)}


def test_pairs_whose_names_look_alike_get_ids_of_their_own() -> None:
    page = build_report({"a/en-cs": pair_results(), "a en-cs": pair_results(), "?": pair_results()}, title="")
    slugs = [pair.slug for pair in page.pairs]
    assert len(set(slugs)) == 3
    assert len(page.charts_by_id()) == sum(len(pair.charts) for pair in page.pairs)


def test_what_is_missing_is_left_out_with_its_reason() -> None:
    results = replace(
        pair_results(), agreement=None, checked=None, others=(), missing=("Agreement is left out: nothing twice.",)
    )
    page = build_report({"en-cs": results}, title="").pairs[0]
    assert {section.slug for section in page.sections} == {"ranking", "pairs", "tournament", "opponents"}
    assert "Agreement is left out: nothing twice." in page.words
    assert all(fact.label != "Agreement" for fact in page.facts)


def test_circles_and_the_cheapest_order_are_told_in_words() -> None:
    sections = {section.slug: section for section in build_report({"x": pair_results()}, title="").pairs[0].sections}
    circles, cheapest = sections["tournament"].words
    assert "In them: alpha, beta and gamma." in circles
    assert cheapest == (
        "The best order goes against leads of 2 judgments in all; no order does better. "
        "It is one of 2 such orders, and 1 system can move between them."
    )


def test_annotators_who_fail_the_check_are_named() -> None:
    section = next(
        section
        for section in build_report({"x": pair_results()}, title="").pairs[0].sections
        if section.slug == "annotators"
    )
    assert section.words == (
        "1 of 2 annotators pass the check and 1 fails (bob).",
        "The ranking uses the judgments of all of them; --only-passing leaves out those who do not pass.",
    )
    assert [chart.slug for chart in section.charts] == ["annotators"]


def test_scores_have_differences_instead_of_wins() -> None:
    page = build_report({"x": score_results()}, title="").pairs[0]
    sections = {section.slug: section for section in page.sections}
    assert [chart.title for chart in sections["pairs"].charts] == ["Differences"]
    assert "opponents" not in sections
    assert {"stability", "composition", "documents", "sampling", "spread"} <= set(sections)
    assert page.picture is not None
    assert page.picture.title == "Distance from the first"
    assert sections["spread"].words[0].startswith("Beside the noise of single scores, annotator matters most")


def test_what_every_reader_needs_comes_first_and_the_audit_is_folded() -> None:
    for results in (score_results(), pair_results()):
        page = build_report({"x": results}, title="").pairs[0]
        opened = [section.slug for section in page.sections if not section.audit]
        assert opened == [slug for slug in ("ranking", "claims") if slug in opened]
        assert "ranking" in opened
        assert [section.audit for section in page.sections] == sorted(section.audit for section in page.sections)
        assert page.charts[0] is page.picture
        assert "methods" not in opened


def test_claims_are_told_in_plain_words() -> None:
    page = build_report({"x": score_results()}, title="").pairs[0]
    section = page.sections[1]
    assert section.slug == "claims"
    summary, rule, breaks, parity = section.words
    assert summary == "Of 3 pairs: 1 holds, 0 need more people, 1 is fragile, 1 is open."
    assert "Audits: without the worst system and any annotator left out." in rule
    assert breaks == "What breaks fragile claims: any annotator left out (1)."
    assert parity == "beta is at parity with ref: the difference lies within the margin, in every audit."
    assert page.facts[1].detail == "hold: 1; need more people: 0; fragile: 1"


def test_tests_that_lie_are_named() -> None:
    sections = {section.slug: section for section in build_report({"x": score_results()}, title="").pairs[0].sections}
    assert sections["aa"].words[2:] == (
        "Too often on these data: zscore. A difference that these tests find may be chance.",
        "Consistent with 5%: mixed (up to 13% cannot be excluded).",
    )
    assert "The test of mixed calls equal systems different in 5% of cases here (5% is nominal)." in (
        sections["methods"].words
    )
    assert "by mixed: Kendall's tau 0.80" in sections["reliability"].words[1]
    assert "annotator bob: without them, alpha moves by -1.2 (0.6 standard errors)" in sections["influence"].words[1]


def test_stability_is_summed_up_in_words() -> None:
    sections = {section.slug: section for section in build_report({"x": score_results()}, title="").pairs[0].sections}
    first, second = sections["stability"].words
    assert first.endswith(
        "to the human, the best or the worst system. 1 of these 2 changes moved other systems or lines."
    )
    assert second == "Leaving out one annotator changes the order in 1 and the clusters in 0 of 2 cases."


def test_an_audit_without_a_page_of_its_own_is_shown_with_its_tables() -> None:
    @dataclass(frozen=True)
    class Edits:
        def tables(self) -> tuple[Table, ...]:
            return (Table("First", (), ()), Table("Second", (), ()))

    results = replace(pair_results(), audit=replace(audit(), sections={"edits": Edits()}))
    section = build_report({"x": results}, title="").pairs[0].sections[-1]
    assert (section.slug, section.title) == ("edits", "Post-edits")
    assert [table.title for table in (*section.tables, *section.folded)] == ["First", "Second"]


def test_bars_and_decisions_follow_one_rule() -> None:
    """Points are hollow where the pair is undecided, and the caption says so."""
    results = pair_results()
    chart = scores_chart(results.ranking)
    assert chart.says.startswith("Hollow points are not separated from alpha; filled ones are.")
    assert _states(chart, "alpha") == {"ref": "separated", "alpha": "", "beta": "not separated"}
    pairs = results.ranking.comparisons
    near = undecided(pairs[0], 0.02, 0.06)
    gaps = tuple(replace(pair, numbers={"low": 0.05, "high": 0.45}) for pair in (near, *pairs[1:]))
    chart = scores_chart(replace(results.ranking, comparisons=gaps))
    assert chart.says == (
        "Hollow points are not separated from ref; filled ones are. "
        "The bar does not reach ref's line for alpha. After the correction for all pairs it stays undecided."
    )
    assert _states(chart, "ref") == {"ref": "", "alpha": "not separated", "beta": "separated"}


def test_bars_of_scores_are_said_to_be_of_single_systems() -> None:
    says = scores_chart(pair_results().ranking).says
    assert says.endswith("A bar is of one system alone: some that do not overlap may be undecided all the same.")


def _states(chart: Chart, first: str) -> dict[str, str]:
    return {row["system"].removesuffix(" (human)"): row[f"from {first}"] for row in chart.drawing.rows}


def test_what_has_no_number_is_not_drawn() -> None:
    """A test without any p, a method that orders a single system: no NaN reaches the page, and nobody agrees best."""
    nothing = AARate(0, float("nan"), float("nan"), (float("nan"), float("nan")))
    known = AARate(40, 0.05, 0.0, (0.01, 0.16))
    drawn = rates_chart([("sign", nothing.rate_05, *nothing.interval), ("mixed", known.rate_05, *known.interval)],
                        title="rate", number=".0%")  # fmt: skip
    assert "nan" not in drawn.body.lower()
    assert [row[" "] for row in drawn.rows] == ["mixed"]
    [row] = rates_chart([("few", 0.0, 0.0, float("nan"))], title="rate", number=".2f").rows
    assert "interval" not in row
    unknown = HalfAgreement(0, float("nan"), float("nan"), float("nan"))
    agreed = {"mfas": unknown, "bradley-terry": HalfAgreement(5, 0.4, 0.1, 0.7)}
    assert "agree best by bradley-terry" in reliability_section(Reliability(agreed, 8, 2)).words[1]
    alone = reliability_section(Reliability({"mfas": unknown}, 8, 2))
    assert alone.words[1] == "No method orders the systems in both halves."
    assert alone.charts == ()
