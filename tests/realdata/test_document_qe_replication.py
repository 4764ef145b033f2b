"""Graham et al. (2017), "Improving Evaluation of Document-level Machine Translation Quality Estimation".

Expected values are those printed in the paper or released beside it; `test_document_gold.py` and
`test_annotator_control.py` check the computations behind them in their own way.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from adjudge.papers.replicate import ReplicatedCell, Replication, State
from tests.conftest import Run, assert_explained
from tests.helpers.replications import replication_of


def replication(folder: Path) -> Replication:
    return replication_of("document-qe", folder)


def table(folder: Path, name: str) -> dict[str, ReplicatedCell]:
    (replicated,) = [table for table in replication(folder).replicated if table.table == name]
    return {cell.name: cell for cell in replicated.cells}


def test_table_1_under_three_readings(data: Path) -> None:
    """All cells but the misprint 10,050, which is 10,500: 105 assignments of 100 items."""
    cells = table(data / "eacl2017", "Table 1")
    (other,) = [cell for cell in cells.values() if not cell.match]
    assert (other.name, other.published, other.recomputed) == ("Run B: total", 10050, 10500)
    assert all(cell.note for cell in cells.values())


def test_the_replication_and_its_curve(data: Path) -> None:
    """Section 3.1: r = .901, at least 27 and on average 107 assessments; `cor.csv`: 83 points of three numbers."""
    assert all(cell.match for cell in table(data / "eacl2017", "Section 3.1").values())
    curve = table(data / "eacl2017", "Figure 2")
    assert len(curve) == 3 * 83
    assert all(cell.match for cell in curve.values())


@pytest.mark.parametrize("run", ["runA", "runB"])
def test_scores_of_documents(data: Path, run: str) -> None:
    """`doc-key-enes.csv` of each run: z, raw mean and number of judgments of 62 documents."""
    cells = table(data / "eacl2017", f"Documents, {run}")
    assert len(cells) == 3 * 62
    assert [cell for cell in cells.values() if not cell.match] == []


def test_costs_are_what_the_prices_say(data: Path) -> None:
    """Footnote 5: .06 and .12 euros a word. 22,736 words at .12 are 2,728; at .06 they are 1,364, not 1,422."""
    cells = table(data / "eacl2017", "Costs")
    assert cells["post-editing, high"].recomputed == pytest.approx(22736 * 0.12)
    assert cells["post-editing, high"].match
    assert cells["post-editing, low"].recomputed == pytest.approx(22736 * 0.06)
    assert not cells["post-editing, low"].match
    # 95 and 112 assignments were not rejected, at .99 dollars each.
    assert cells["direct assessment, one run on average"].recomputed == pytest.approx(0.99 * (95 + 112) / 2)
    assert all(cell.note for cell in cells.values())


def test_what_was_not_released_is_simulated_and_says_so(data: Path) -> None:
    for cell in table(data / "eacl2017", "Table 2").values():
        assert (cell.match, cell.state) == (None, State.NOT_RELEASED)
    cells = table(data / "eacl2017", "Figure 1, simulated")
    assert all(cell.published is None and "simulated" in cell.note for cell in cells.values())
    at = {name: cell.recomputed or 0.0 for name, cell in cells.items()}
    assert at["sentences, weight 0: r"] > at["context, weight 0: r"]
    assert at["sentences, weight 50: r"] < at["context, weight 50: r"]
    assert at["rankings of systems along the sweep"] > 1


def test_the_command(adjudge: Callable[..., Run], data: Path, tmp_path: Path) -> None:
    for file in (data / "eacl2017").iterdir():
        (tmp_path / file.name).symlink_to(file)
    # Without translations and references, whose edit rate takes long, the first figure has one panel.
    (tmp_path / "texts").unlink()
    (tmp_path / "texts").mkdir()
    source = "wmt16-qe-task3-enes-src.en"
    (tmp_path / "texts" / source).symlink_to(data / "eacl2017" / "texts" / source)
    answer = adjudge("replicate", "document-qe", "--data", tmp_path, "--json").json
    assert {curve["panel"] for curve in answer["figures"][0]["curves"]} == {"everything simulated"}
    unexplained = [
        cell for table in answer["tables"] for cell in table["cells"] if cell["match"] is False and not cell["note"]
    ]
    assert unexplained == []
    assert answer["compared"] - answer["matching"] == 5
    (tmp_path / "empty").mkdir()
    assert_explained(adjudge("replicate", "document-qe", "--data", tmp_path / "empty"), names=("cor.csv",))
