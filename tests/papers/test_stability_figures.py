"""Figures and counts of Knowles (2021) where the campaigns of the paper lie in the folder; judgments are made up."""

from __future__ import annotations

from adjudge.evidence.stability import Stability, stability
from adjudge.papers.figures import Curves, Matrix, PaperFigure, PlacesOfSystems
from adjudge.papers.replicate import State, read_published
from adjudge.papers.stability import AuditedPair, draw_figures, kinds_of_items, total_changes, workers_who_saw
from adjudge.ranking.changes import ALL_ROWS, ONCE_PER_PAIR
from adjudge.table.judgments import Judgments
from tests.evidence.test_stability import balanced

PUBLISHED = read_published("stability")
CHOSEN = {name: (campaign, pair) for name, (campaign, pair) in PUBLISHED.content["figures"].items()}
OTHER = ("another campaign", "x-y")


def audited(judgments: Judgments) -> Stability:
    rows = stability(judgments, families=ONCE_PER_PAIR, removal=ALL_ROWS)
    return Stability(rows, "SR+DC", "zscore", "scipy-1.6")


def figures(*keys: tuple[str, str]) -> dict[str, PaperFigure]:
    parts = {key: balanced(seed) for seed, key in enumerate(keys)}
    stabilities = {key: audited(judgments) for key, judgments in parts.items()}
    pairs = [AuditedPair(*key, stability_of_pair) for key, stability_of_pair in stabilities.items()]
    drawn = draw_figures(PUBLISHED, total_changes(PUBLISHED, "Figure 1", "divisions", pairs), stabilities, parts)
    return {figure.figure: figure for figure in drawn}


def test_the_language_pairs_of_the_paper_are_drawn_where_they_are_there() -> None:
    drawn = figures(*CHOSEN.values(), OTHER)
    for name, (campaign, pair) in CHOSEN.items():
        assert drawn[name].basis == "the paper's data"
        assert f"{pair} ({campaign})" in drawn[name].title
        assert drawn[name].note == ""


def test_others_stand_for_them_otherwise_and_say_so() -> None:
    drawn = figures(OTHER)
    assert list(drawn) == [f"Figure {number}" for number in range(1, 6)]
    for name, figure in drawn.items():
        assert figure.basis == "other data"
        assert name == "Figure 1" or "which is not in the folder" in figure.note
    places, company, documents = drawn["Figure 2"], drawn["Figure 4"], drawn["Figure 5"]
    assert isinstance(places, PlacesOfSystems)
    assert isinstance(company, Matrix)
    assert isinstance(documents, Matrix)
    assert places.rankings[0].order == ("A", "B", "C")  # the human is left out of rankings and clusters
    # Every one of four annotators judged all four systems.
    assert company.cells == ((4.0,) * 4,) * 4
    assert documents.columns == ("HUMAN", "A", "B", "C")


def test_the_published_fractions_are_drawn_without_any_campaign() -> None:
    """scripts/reference_tables.txt of the author's repository: divided by 4, 9/4/3 of 21 and 21/20/16 of 25."""
    (drawn,) = draw_figures(PUBLISHED, total_changes(PUBLISHED, "Figure 1", "divisions", []), {}, {})
    assert isinstance(drawn, Curves)
    at_four = {
        (curve.panel.split(" (")[0], curve.name): next(point.y for point in curve.points if point.x == 4)
        for curve in drawn.curves
    }
    assert at_four == {
        ("2018 to 2020, SR–DC", "Δ rank"): 9 / 21,
        ("2018 to 2020, SR–DC", "Δ cluster"): 4 / 21,
        ("2018 to 2020, SR–DC", "Δ both"): 3 / 21,
        ("2018 to 2020, SR+DC", "Δ rank"): 21 / 25,
        ("2018 to 2020, SR+DC", "Δ cluster"): 20 / 25,
        ("2018 to 2020, SR+DC", "Δ both"): 16 / 25,
    }


def test_kinds_and_workers_of_a_campaign_of_the_paper_are_compared() -> None:
    """The made-up campaign has 192 outputs of systems, four references and four degraded outputs, by all workers."""
    campaign = "appraise-doclevel-humaneval-newstest2020"
    parts = {(campaign, "en-zh"): balanced(), OTHER: balanced()}
    table, other = kinds_of_items(PUBLISHED, parts)
    cells = {cell.name: cell for cell in table.cells}
    assert [cells[f"{campaign}: {kind}"].recomputed for kind in ("SYSTEM", "REPEAT", "REF", "BAD_REF")] == [
        192,
        0,
        4,
        4,
    ]
    assert cells[f"{campaign}: SYSTEM"].state is State.DIFFERS
    rows = {str(row[0]): row for row in table.as_table().rows}
    assert rows[f"{campaign}: SYSTEM"][-1] == "no reason is known"
    assert cells["newstest2018-humaneval: REF"].state is State.NOT_IN_FOLDER
    assert {cell.name: cell.recomputed for cell in other.cells}["another campaign: SYSTEM"] == 192
    workers = {cell.name: cell for cell in workers_who_saw(PUBLISHED, parts).cells}
    assert (workers["en-zh 2020: BAD_REF"].recomputed, workers["en-zh 2020: BAD_REF"].match) == (100, True)
    assert workers["en-zh 2020: human"].recomputed == 100
    assert workers["en-iu 2020: human"].state is State.NOT_IN_FOLDER
