"""Figures of four papers, drawn from released data; numbers are those that the papers print beside them.

The papers' pictures themselves are not compared: only what their text and tables say of them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from adjudge.papers.figures import Bars, Curves, Matrix, PaperFigure, PlacesOfSystems, Scatter, TournamentOrder
from adjudge.papers.grain_of_salt import agreement_by_length
from adjudge.papers.replicate import Replication, State
from adjudge.people.agreement import agree
from tests.conftest import Run
from tests.helpers.released import read_released
from tests.helpers.replications import replication_of


@pytest.fixture(scope="module")
def bojar(data: Path) -> Replication:
    return replication_of("grain-of-salt", data / "wmt10")


@pytest.fixture(scope="module")
def lopez(data: Path) -> Replication:
    return replication_of("in-order", data)


def figure(result: Replication, name: str) -> PaperFigure:
    (drawn,) = [drawn for drawn in result.figures if drawn.figure == name]
    return drawn


@pytest.mark.parametrize(
    ("name", "systems", "r", "x"),
    [
        ("Figure 3", 17, -0.558, (350, 420)),
        ("Figure 4", 16, -0.434, (130, 170)),
        ("Figure 6", 18, -0.433, (0.19, 0.26)),
    ],
)
def test_scatters_have_the_printed_correlations(
    bojar: Replication, name: str, systems: int, r: float, x: tuple[float, float]
) -> None:
    """Bojar et al. (2011), Tables 5 and 10; systems as in Table 1 without the reference; axes as labelled in print."""
    drawn = figure(bojar, name)
    assert isinstance(drawn, Scatter)
    assert len(drawn.points) == systems
    assert drawn.line.r == pytest.approx(r, abs=5e-4)
    assert all(x[0] <= point.x <= x[1] for point in drawn.points)
    slope, start = drawn.line.slope, drawn.line.intercept
    errors = [point.y - start - slope * point.x for point in drawn.points]
    assert sum(errors) == pytest.approx(0, abs=1e-6)
    assert sum(error * point.x for error, point in zip(errors, drawn.points, strict=True)) == pytest.approx(0, abs=1e-4)


def test_figure_1_holds_all_systems_without_references(bojar: Replication) -> None:
    """12 + 17 + 19 + 18 + 16 + 24 + 25 + 14 systems (Lopez 2012, Table 1); two of them as in Table 2."""
    drawn = figure(bojar, "Figure 1")
    assert isinstance(drawn, Scatter)
    assert len(drawn.points) == 145
    by_name = {(point.group, point.name): (round(point.x, 1), round(point.y, 1)) for point in drawn.points}
    assert by_name["en-cs", "cu-bojar"] == (65.6, 32.3)
    assert by_name["en-cs", "onlineB"] == (70.4, 37.5)


def test_figure_2_is_left_out_without_source_texts_and_drawn_with_them(
    bojar: Replication, data: Path, tmp_path: Path
) -> None:
    """Texts are made up: sentence n has n mod 30 + 1 words. A point pools two lengths, as in the paper."""
    assert any(left_out.what == "Figure 2" for left_out in bojar.not_recomputed)
    assert not any(drawn.figure == "Figure 2" for drawn in bojar.figures)
    lines = ["word " * (n % 30 + 1) for n in range(1, 2035)]
    names = {code: f"source.{code}" for code in ("cs", "de", "en", "es", "fr")}
    for name in names.values():
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    rankings = read_released(data / "wmt10" / "data_RNK.csv", "wmt-ranking")
    drawn = agreement_by_length(rankings, tmp_path, names)
    assert drawn is not None
    inter = next(curve for curve in drawn.curves if curve.name == "inter, with reference")
    table = rankings.table
    own = table.filter((table["segment"].cast(int) % 30 + 1).is_in([10, 11]))
    expected = agree(type(rankings)(own), resamples=0).inter["all"].s
    assert next(point.y for point in inter.points if point.x == 10) == pytest.approx(expected)
    (tmp_path / "source.fr").unlink()
    assert agreement_by_length(rankings, tmp_path, names) is None


def test_table_9_is_in_the_release(bojar: Replication) -> None:
    """The same annotator gave the same text ranks 2 and 5, then 5 and 4."""
    (table,) = [table for table in bojar.replicated if table.table == "Table 9"]
    assert [cell.recomputed for cell in table.cells] == [2, 5, 5, 4]
    assert all(cell.match for cell in table.cells)


def test_the_tournament_of_table_3(lopez: Replication) -> None:
    """Lopez (2012), Table 3: 24 violated leads of 61 judgments; lium over onlineB is one of them, by 1."""
    drawn = figure(lopez, "Table 3")
    assert isinstance(drawn, TournamentOrder)
    assert (len(drawn.leads), sum(lead.weight for lead in drawn.leads)) == (24, 61)
    weights = {(lead.winner, lead.loser): lead.weight for lead in drawn.leads}
    assert weights["lium", "onlineB"] == 1
    assert weights["upv-combo", "cambridge"] == 6
    assert drawn.order[0] == "onlineB"
    costs = {
        drawn.figure: sum(lead.weight for lead in drawn.leads)
        for drawn in lopez.figures
        if isinstance(drawn, TournamentOrder)
    }
    # Costs of other orders: Table 3 (107), Table 2 (38), Equation 3 as the data have it (28), Table 4 (6 and 103).
    assert costs == {
        "Table 3": 61, "Table 3, right column": 107, "Table 2, Equation 1": 38, "Table 2, Equation 3": 28,
        "Table 4": 6, "Table 4, Equation 2": 103,
    }  # fmt: skip


def test_figure_1_of_lopez_is_one_block_of_the_release(lopez: Replication) -> None:
    """JHU 1, BBN-COMBO 2, RWTH 3, RWTH-COMBO 3, CMU 4, German-English 2010."""
    (table,) = [table for table in lopez.replicated if table.table == "Figure 1"]
    assert all(cell.match for cell in table.cells)
    ranks = [cell.recomputed for cell in table.cells if cell.name.startswith("rank of")]
    assert ranks == [1, 2, 3, 3, 4]


def test_figures_of_kim_are_the_counts_of_its_tables(data: Path) -> None:
    """Kim et al. (2022): Tables 5 and 6, losses of 3.09 and 5.38 points (section 5.1), mean kappa .31 (section 5.2)."""
    result = replication_of("suboptimal", data / "suboptimal")
    shares, points, kappas = result.figures
    assert isinstance(shares, Bars)
    assert isinstance(points, Bars)
    assert isinstance(kappas, Bars)
    values = {(bar.panel[:4], bar.panel[-4:-1], bar.row, bar.series[:6]): bar.value for bar in shares.bars}
    assert values["MT_Y", "874", "MT better", "before"] == pytest.approx(100 * 117 / 874)
    assert values["MT_Z", "184", "Tie", "after "] == pytest.approx(100 * 36 / 184)
    assert "MT_Y loses 3.09 points on all segments; MT_Z loses 5.38 points on all segments" in shares.says
    assert len(points.bars) == 12
    assert len(kappas.bars) == 11
    assert [bar.value for bar in kappas.bars] == sorted(bar.value for bar in kappas.bars)
    assert kappas.mark is not None
    assert kappas.mark.value == pytest.approx(0.31, abs=0.005)
    states = {cell.name: cell.state for table in result.replicated for cell in table.cells if cell.state is not None}
    assert states["before, first annotator: MT_Z"] is State.DIFFERS
    assert states["after, second annotator: MT_Z"] is State.MATCHES
    assert all(
        cell.note for table in result.replicated for cell in table.cells if cell.state is State.DIFFERS
    )  # fmt: skip


def test_figures_of_knowles_over_other_campaigns(data: Path) -> None:
    """Shares of Figure 1 from the author's repository; the others show language pairs at hand, whole, and say so."""
    result = replication_of("stability", data / "wmt21")
    fractions = figure(result, "Figure 1").to_dict()["curves"]
    first = {(curve["panel"][:19], curve["name"]): [point["y"] for point in curve["points"]] for curve in fractions}
    assert first["2018 to 2020, SR–DC", "Δ rank"] == pytest.approx([count / 21 for count in (2, 4, 6, 9, 10)])
    assert first["2018 to 2020, SR+DC", "Δ both"] == pytest.approx([count / 25 for count in (11, 14, 15, 16, 17)])
    for name in ("Figure 2", "Figure 3"):
        drawn = figure(result, name)
        assert isinstance(drawn, PlacesOfSystems)
        assert drawn.basis == "other data"
        assert [ranking.name for ranking in drawn.rankings] == ["orig", "d-1.25", "d-1.5", "d-2", "d-4", "d-10"]
        assert len({frozenset(ranking.order) for ranking in drawn.rankings}) == 1
        for ranking in drawn.rankings:
            assert [system for cluster in ranking.clusters for system in cluster] == list(ranking.order)
    company, documents = figure(result, "Figure 4"), figure(result, "Figure 5")
    assert isinstance(company, Matrix)
    assert isinstance(documents, Matrix)
    assert company.rows == company.columns
    assert set(documents.columns) == set(company.columns)


def test_kinds_of_items_are_those_of_the_files(data: Path) -> None:
    """Counted with awk: type SYSTEM in 14,443 lines of ad-good-raw-redup.csv of 2021 (facebook-wikipedia), and
    82,411, 10,883, 10,875 and 10,890 lines by type in the six ad-*en-good-stnd-redup.csv. 74 judgments of workers
    without spread, which have no z-score, are known from the segment means of de-en (73) and is-en (1)."""
    result = replication_of("stability", data / "wmt21")
    (own,) = [table for table in result.replicated if table.table == "Table 1, by campaign"]
    counts = {cell.name: cell.recomputed for cell in own.cells}
    assert counts["facebook-wikipedia-2021: SYSTEM"] == 14443
    kinds = ("SYSTEM", "REPEAT", "REF", "BAD_REF")
    assert [counts[f"newstest2021-toen: {kind}"] for kind in kinds] == [82411 + 74, 10883, 10875, 10890]


def test_figures_of_graham(data: Path) -> None:
    """r = .901 (section 3.1), 83 points of cor.csv; labels that are simulated say so. TER of 62 documents."""
    sweep, curve = replication_of("document-qe", data / "eacl2017").figures
    assert isinstance(sweep, Curves)
    assert isinstance(curve, Curves)
    released, recomputed, random = curve.curves
    assert [point.y for point in recomputed.points] == pytest.approx([point.y for point in released.points], abs=1e-5)
    assert len(released.points) == 83
    assert round(recomputed.points[-1].y, 3) == 0.901
    # With all assignments every order is the same.
    assert all((point.low or 0) - 1e-9 <= point.y <= (point.high or 0) + 1e-9 for point in random.points)
    assert sweep.basis == "simulated data"
    panels = {own.panel for own in sweep.curves}
    assert panels == {"everything simulated", "TER(PE1, MT) from the references' TER"}
    for panel in panels:
        ends = {own.name: (own.points[0].y, own.points[-1].y) for own in sweep.curves if own.panel == panel}
        # The truth that was simulated: who senses errors of sentences leads at weight 0, who senses context at 50.
        assert ends["sentences"][0] > ends["context"][0]
        assert ends["sentences"][1] < ends["context"][1]


def test_the_command_writes_a_page(adjudge: Callable[..., Run], data: Path, tmp_path: Path) -> None:
    path = tmp_path / "paper.html"
    done = adjudge("replicate", "suboptimal", "--data", data, "--report", path, "--json")
    assert done.json["figures"][0]["figure"] == "Figure 2"
    page = path.read_text(encoding="utf-8")
    assert "57 of 68 numbers of the paper" in page
    refused = adjudge("replicate", "suboptimal", "--data", data, "--report", tmp_path / "paper.doc")
    assert refused.code != 0
    assert "choose one of these endings" in refused.err
