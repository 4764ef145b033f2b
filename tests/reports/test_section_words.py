"""Sections say what their results hold: who was left out, what breaks claims, which tests err."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from adjudge.evidence.composition import Documents, ExplainedSpread, TaskComposition
from adjudge.evidence.trust import AARate, AATest, Influence, LeftOutUnit
from adjudge.mixed.effects import TASTE
from adjudge.reports.audit_section import (
    _rule,
    aa_section,
    composition_section,
    documents_section,
    influence_section,
    stability_section,
)
from adjudge.reports.build import PairResults, build_report
from adjudge.reports.drawing import INK, MUTED, WARN
from adjudge.reports.page import Section
from adjudge.reports.ranking_section import pairs_chart, scores_chart
from tests.helpers.made import made_claims, pair_results, ranked, ranking, score_results, stability


def _section(results: PairResults, slug: str) -> Section:
    page = build_report({"p": results}, title="t").pairs[0]
    return next(section for section in page.sections if section.slug == slug)


def test_what_breaks_fragile_claims_is_counted() -> None:
    made = made_claims(("A", "B", "fragile"), ("A", "C", "fragile"))
    broken = [replace(claim, fails=("no best", "no worst")[: i + 1]) for i, claim in enumerate(made.claims)]
    made = replace(made, claims=tuple(broken), audits=("no best", "no worst"), annotators=9)
    assert _rule(made)[1] == "What breaks fragile claims: no best (2) and no worst (1)."
    assert len(_rule(replace(made_claims(("A", "B", "holds")), audits=("no best",)))) == 1


def test_a_test_that_errs_too_seldom_is_named_and_grey() -> None:
    rates = {"raw": AARate(99, 0.3, 0.1, (0.2, 0.4)), "mixed": AARate(99, 0.0, 0.0, (0.0, 0.03))}
    section = aa_section(AATest(rates, 25, 4))
    assert section.words[-1] == "Less often than 5%: mixed. That is on the safe side, and may miss differences."
    drawn = section.charts[0].drawing
    assert drawn.rows[0] == {" ": "raw", "false alarms at .05": "30%", "interval": "20% to 40%"}
    raw, mixed = re.findall(r"<circle[^>]*>", drawn.body)
    assert WARN in raw
    assert MUTED in mixed


def test_who_was_left_out_in_turn_is_counted() -> None:
    row = LeftOutUnit("document", "d1", 9, "A", 0.5, 1.0, 0, 0, 0)
    words = influence_section(Influence((row, replace(row, name="d2")), 3, 1)).words
    assert words[0] == "Each of 2 documents was left out in turn: which of them moves the ranking most?"
    assert "without it, A moves" in words[1]
    note = Influence((row,), 3, 1).tables()[0].note
    assert note.startswith("All units that were left out, those that move an effect most first.")


@pytest.mark.parametrize(
    ("unit", "held", "met", "words"),
    [
        ("task", (5, 5.0, 5), 1.0, "A task holds all 5 systems."),
        ("annotator", (3, 3.0, 3), 0.4, "An annotator judged 3 of 5 systems."),
        ("annotator", (1, 2.5, 4), 0.2, "An annotator judged 1 to 4 of 5 systems, 2.5 on average."),
        ("annotator", (4, 4.9, 5), 1.0, "An annotator judged 4 to 5 of 5 systems, 4.9 on average."),
    ],
)
def test_what_a_task_or_an_annotator_holds(unit: str, held: tuple[int, float, int], met: float, words: str) -> None:
    systems = tuple("ABCDE")
    matrix = tuple((1,) * 5 for _ in systems)
    shares = tuple((1.0, 0.5, 0.5, 0.5, 0.5) for _ in systems)
    made = TaskComposition(unit, 9, systems, matrix, shares, held, met, 9, {}, None)
    section = composition_section(made)
    assert section.words[0] == words
    assert len(section.words) == (1 if met == 1 else 2), "a caution only where systems rarely meet"
    assert ("annotators who judged the column, too" in section.charts[0].says) == (unit == "annotator")
    alike = replace(made, shares=tuple((1.0,) * 5 for _ in systems))
    assert composition_section(alike).charts == (), "a square of 100% says nothing"


def test_documents_on_a_small_scale_keep_their_digits_and_colours() -> None:
    """Penalties of errors lie between -3 and 0: in whole points, all cells would read alike."""
    made = next(s for s in score_results().audit.sections.values() if isinstance(s, Documents))  # type: ignore[union-attr]
    small = replace(made, scale="raw score", matrix=tuple((-1.2,) * len(made.systems) for _ in made.documents))
    explained = tuple(
        ExplainedSpread(factors, 0.5, adjusted)
        for factors, adjusted in (("annotators + systems", 0.2), ("annotators + systems + documents", 0.3))
    )
    small = replace(small, difficulty=(-2.0,) * len(made.documents), explained=explained)
    drawn = documents_section(small).charts[0].drawing
    assert {row["raw score"] for row in drawn.rows} == {"-1.20"}


def test_documents_that_explain_little_are_not_drawn() -> None:
    made = next(s for s in score_results().audit.sections.values() if isinstance(s, Documents))  # type: ignore[union-attr]
    explained = tuple(
        ExplainedSpread(factors, 0.5, adjusted)
        for factors, adjusted in (("annotators + systems", 0.2), ("annotators + systems + documents", 0.21))
    )
    section = documents_section(replace(made, scale="raw score", explained=explained))
    assert section.charts == ()
    assert "another 1.0% of the spread" in section.words[0]
    assert documents_section(replace(made, scale="z-score", explained=explained)).charts, "it was asked for"


def test_the_ranking_as_it_is_shows_its_lines_beside_those_after_changes() -> None:
    made = stability("alpha")
    rows = tuple(replace(row, baseline_clusters=(("alpha",), ("beta",))) for row in made.rows)
    with_lines, without = (
        stability_section(replace(made, rows=each)).charts[0].drawing.body for each in (rows, made.rows)
    )
    ends = [re.findall(rf'<line[^>]*stroke="{re.escape(INK)}"[^>]*>', body) for body in (with_lines, without)]
    assert len(ends[0]) == len(ends[1]) + 1


def test_nothing_is_said_to_spread_where_nothing_does() -> None:
    results = score_results()
    still = tuple(replace(component, sd=0.0, low=None, high=None) for component in results.ranking.components)
    section = _section(replace(results, ranking=replace(results.ranking, components=still)), "spread")
    assert section.words == ("Beside the noise of single scores, nothing adds to the spread.",)
    assert section.charts[0].says == "Bars are standard deviations."
    tasteless = (*still, replace(still[0], effect=TASTE, sd=0.004), replace(still[0], effect="luck", sd=2.0))
    section = _section(replace(results, ranking=replace(results.ranking, components=tasteless)), "spread")
    assert section.words[-1] == "No tastes of annotators are found in these scores."
    assert _section(results, "spread").charts[0].says.endswith("; thin lines are their intervals.")


def test_one_annotator_and_one_pair_are_one() -> None:
    results = pair_results()
    assert results.checked is not None
    alone = replace(results.checked, annotators=(replace(results.checked.annotators[0], p_controls=None),))
    assert _section(replace(results, checked=alone), "annotators").words == (
        "Nobody could be tested on controls; the one annotator is kept.",
    )
    few, *others = results.checked.annotators
    tested = (replace(few, passed=False, reasons=("judged too few controls",)), *others)
    assert _section(replace(results, checked=replace(results.checked, annotators=tested)), "annotators").words[0] == (
        "0 of 2 annotators pass the check, 1 fails (bob) and 1 could not be tested."
    )
    two = ranking(ranked("A", 1, cluster=1, ranks=(1, 1)), ranked("B", 2, cluster=2, ranks=(2, 2)))
    assert scores_chart(two).says == "All others are separated from A."
    undecided = ranking(*two.systems, open_pairs=(("A", "B"),))
    assert scores_chart(undecided).says.startswith("No other system is separated from A: all their points are hollow.")


def test_dots_say_what_strong_colours_say_also_in_narrow_cells() -> None:
    systems = [ranked(name, i, cluster=1, ranks=(1, 3)) for i, name in enumerate("ABC", start=1)]
    for method in ("bradley-terry", "mixed"):
        made = ranking(*systems, open_pairs=(("A", "B"),), method=method)
        drawn = pairs_chart(made).drawing
        texts = re.findall(r"<text[^>]*>([^<]*)</text></g>", drawn.body)
        cells = {(row["system"], row["against"]): text for row, text in zip(drawn.rows, texts[-3:], strict=True)}
        assert {pair for pair, text in cells.items() if text.endswith("•")} == {("A", "C"), ("B", "C")}
        wide = [ranked(f"system-{i:02}", i, cluster=1, ranks=(1, 30)) for i in range(1, 31)]
        many = pairs_chart(ranking(*wide, open_pairs=(("system-01", "system-02"),), method=method)).drawing
        dots = re.findall(r'<text x="[^"]*">([^<]*)</text></g>', many.body)
        assert sum(dot.endswith("•") for dot in dots) == 30 * 29 // 2 - 1


def test_a_long_name_is_cut_below_the_axis() -> None:
    long = ranked("x" * 60, 1, cluster=1, ranks=(1, 1))
    made = ranking(long, ranked("B", 2, cluster=1, ranks=(2, 2)), method="mixed")
    gaps = tuple(replace(pair, numbers={"low": 0.1, "high": 0.4}) for pair in made.comparisons)
    titles = re.findall(r">[^<]* against ([^<]*)</text>", scores_chart(replace(made, comparisons=gaps)).drawing.body)
    assert [len(title) for title in titles] == [28]
