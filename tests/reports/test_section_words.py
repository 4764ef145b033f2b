"""Sections say what their results hold: who was left out, what breaks claims, which tests err."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from adjudge.evidence.composition import Documents, TaskComposition
from adjudge.evidence.trust import AARate, AATest, Influence, LeftOutUnit
from adjudge.reports.audit_section import (
    _rule,
    aa_section,
    composition_section,
    documents_section,
    influence_section,
    stability_section,
)
from adjudge.reports.build import PairResults, build_report
from adjudge.reports.page import Section
from adjudge.reports.ranking_section import pairs_chart, scores_chart
from tests.helpers.made import made_claims, pair_results, ranked, ranking, score_results, stability
from tests.reports.test_result_page import rows_of


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
    rows = json.dumps(section.charts[0].spec)
    assert '"name": "raw", "estimate": 0.3, "low": 0.2, "high": 0.4, "stands": "above"' in rows
    assert '"high": 0.03, "stands": "below"' in rows


def test_who_was_left_out_in_turn_is_counted() -> None:
    row = LeftOutUnit("document", "d1", 9, "A", 0.5, 1.0, 0, 0, 0)
    words = influence_section(Influence((row, replace(row, name="d2")), 3, 1)).words
    assert words[0] == "Each of 2 documents was left out in turn: which of them moves the ranking most?"
    assert "without it, A moves" in words[1]
    note = Influence((row,), 3, 1).tables()[0].note
    assert note.startswith("All units that were left out, those that move an effect most first.")


@pytest.mark.parametrize(
    ("unit", "held", "words"),
    [
        ("task", (5, 5.0, 5), "A task holds all 5 systems."),
        ("annotator", (3, 3.0, 3), "An annotator judged 3 of 5 systems."),
        ("annotator", (1, 2.5, 4), "An annotator judged 1 to 4 of 5 systems, 2.5 on average."),
    ],
)
def test_what_a_task_or_an_annotator_holds(unit: str, held: tuple[int, float, int], words: str) -> None:
    systems = tuple("ABCDE")
    matrix = tuple((1,) * 5 for _ in systems)
    shares = tuple((1.0,) * 5 for _ in systems)
    made = TaskComposition(unit, 9, systems, matrix, shares, held, 1.0, 9, {}, None)
    section = composition_section(made)
    assert section.words[0] == words
    assert len(section.words) == (1 if held[0] == 5 else 2)
    assert ("annotators who judged the column, too" in section.charts[0].says) == (unit == "annotator")


def test_documents_on_a_small_scale_keep_their_digits_and_colours() -> None:
    """Penalties of errors lie between -3 and 0: in whole points, all cells would read alike."""
    made = next(s for s in score_results().audit.sections.values() if isinstance(s, Documents))  # type: ignore[union-attr]
    small = replace(made, scale="raw score", matrix=tuple((-1.2,) * len(made.systems) for _ in made.documents))
    spec = json.dumps(documents_section(replace(small, difficulty=(-2.0,) * len(made.documents))).charts[0].spec)
    assert '"format": ".2f"' in spec
    assert '"format": ".0f"' not in spec


def test_the_ranking_as_it_is_shows_its_lines_beside_those_after_changes() -> None:
    made = stability("alpha")
    rows = tuple(replace(row, baseline_clusters=(("alpha",), ("beta",))) for row in made.rows)
    spec = json.dumps(stability_section(replace(made, rows=rows)).charts[0].spec)
    assert '{"ranking": "as it is", "place": 1.5, "says": "end of a cluster"}' in spec


def test_nothing_is_said_to_spread_where_nothing_does() -> None:
    results = score_results()
    still = tuple(replace(component, sd=0.0, low=None, high=None) for component in results.ranking.components)
    section = _section(replace(results, ranking=replace(results.ranking, components=still)), "spread")
    assert section.words == ("Beside single scores' own noise, nothing adds to the spread.",)
    assert section.charts[0].says == "Bars are standard deviations."
    assert _section(results, "spread").charts[0].says.endswith("; thin lines are their intervals.")


def test_one_annotator_and_one_pair_are_one() -> None:
    results = pair_results()
    assert results.checked is not None
    alone = replace(results.checked, annotators=(replace(results.checked.annotators[0], p_controls=None),))
    assert _section(replace(results, checked=alone), "annotators").words == (
        "Nobody could be tested on controls; the one annotator is kept.",
    )
    two = ranking(ranked("A", 1, cluster=1, ranks=(1, 1)), ranked("B", 2, cluster=2, ranks=(2, 2)))
    assert scores_chart(two).says == "All others are separated from A."
    undecided = ranking(*two.systems, open_pairs=(("A", "B"),))
    assert scores_chart(undecided).says.startswith("No other system is separated from A: all their points are hollow.")


def test_dots_say_what_strong_colours_say_also_in_narrow_cells() -> None:
    systems = [ranked(name, i, cluster=1, ranks=(1, 3)) for i, name in enumerate("ABC", start=1)]
    for method in ("bradley-terry", "mixed"):
        made = ranking(*systems, open_pairs=(("A", "B"),), method=method)
        rows = rows_of(pairs_chart(made).spec)
        dots = {(row["row"], row["column"]): row["dot"] for row in rows}
        assert dots["A", "B"] == dots["B", "A"] == ""
        assert dots["A", "C"] == dots["C", "A"] == "•"
        assert all(row["label"].endswith(row["dot"]) for row in rows)


def test_a_long_name_is_cut_below_the_axis() -> None:
    long = ranked("x" * 60, 1, cluster=1, ranks=(1, 1))
    made = ranking(long, ranked("B", 2, cluster=1, ranks=(2, 2)), method="mixed")
    gaps = tuple(replace(pair, numbers={"low": 0.1, "high": 0.4}) for pair in made.comparisons)
    titles = re.findall(
        r'"title": "[^"]* against ([^"]*)"', json.dumps(scores_chart(replace(made, comparisons=gaps)).spec)
    )
    assert titles
    assert {len(json.loads(f'"{title}"')) for title in titles} == {28}
