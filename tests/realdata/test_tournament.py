"""Lopez (2012), all tables, from counts and from raw rankings."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge import read
from adjudge.papers.replicate import Replication, State, replicate
from adjudge.ranking.tournament import tournament
from tests.helpers.replications import replication_of

# Cells that cannot match because the paper mixes up its equations; each has a note that says so.
KNOWN = {
    ("Table 2", "cost of Equation 3"),
    ("Table 3", "cost of Equation 2"),
    ("Table 3", "cost of Equation 3"),
    ("Table 4", "Spearman, Equation 1 and the optimum"),
}


def differing(replication: Replication) -> set[tuple[str, str]]:
    return {
        (table.table, cell.name) for table in replication.replicated for cell in table.cells if cell.match is not True
    }


def test_every_cell_matches_or_is_explained(data: Path) -> None:
    replication = replication_of("in-order", data)
    assert differing(replication) == KNOWN
    assert all(
        cell.note for table in replication.replicated for cell in table.cells if (table.table, cell.name) in KNOWN
    )
    cells = {(table.table, cell.name): cell.recomputed for table in replication.replicated for cell in table.cells}
    assert cells["Section 5", "acyclic tournaments"] == 9
    assert cells["Section 5", "violations of the optimum"] == 396
    assert [cells["Section 5", f"violations of Equation {i}"] for i in (1, 2, 3)] == [1140, 1215, 979]
    assert [cells["Table 2", f"cost of Equation {i}"] for i in (1, 3)] == [38, 28]
    assert cells["Table 3", "cost of the printed order"] == cells["Table 3", "cost of the optimum"] == 61
    violated = [figure for (table, name), figure in cells.items() if table == "Table 3" and "violated:" in name]
    assert (len(violated), sum(figure or 0 for figure in violated)) == (24, 61)


def test_raw_rankings_give_the_same(data: Path, tmp_path: Path) -> None:
    for name in ("wmt10", "wmt11"):
        (tmp_path / name).symlink_to(data / name, target_is_directory=True)
    assert differing(replicate("in-order", tmp_path)) == KNOWN


def test_cells_without_data_say_so(data: Path, tmp_path: Path) -> None:
    (tmp_path / "data_RNK.csv").symlink_to(data / "wmt10" / "data_RNK.csv")
    replication = replicate("in-order", tmp_path)
    tables = {table.table: {cell.name: cell for cell in table.cells} for table in replication.replicated}
    assert tables["Table 1"]["2010 English-Czech: pairs"].match
    absent = tables["Table 1"]["2011 English-Czech individual: pairs"]
    assert (absent.match, absent.state, absent.note) == (None, State.NOT_IN_FOLDER, "the folder lacks data for it")
    assert all(cell.recomputed is None and cell.note for cell in tables["Section 5"].values())
    assert "2011 English-Czech individual" in replication.notes[0]


@pytest.mark.parametrize(("file", "optima"), [("wmt10.French,English", 8), ("wmt11.French,English.individual", 26)])
def test_optimal_orders_are_not_unique(data: Path, file: str, optima: int) -> None:
    """How many orders are cheapest (pairs without a lead may stand either way), counted independently for both."""
    judgments = read([data / "pairwise" / file], format="pairwise-counts")
    tournament_result = tournament(judgments, methods=["wins-or-ties"])
    assert tournament_result.mfas.optima_complete
    assert tournament_result.mfas.optima == optima
