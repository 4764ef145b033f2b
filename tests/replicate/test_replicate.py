"""The frame of replications: matching of printed figures, finding files, faults."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from adjudge.core.errors import InputError, UsageError
from adjudge.core.replication import ReplicatedCell, ReplicatedTable, Replication
from adjudge.replicate import PAPERS, replicate
from adjudge.replicate.published import decimals_of, find_file, read_published
from adjudge.report.text import result_as_text
from tests.conftest import Run, assert_explained


@pytest.mark.parametrize(
    ("printed", "recomputed", "match"),
    [
        ("0.654", 0.65449, True),
        ("0.654", 0.6546, False),
        ("0.5", 0.45, True),
        ("0.5", 0.55, True),
        ("388", 387.5, True),
        ("409", 408, False),
        ("1", None, False),
    ],
)
def test_a_cell_matches_to_its_printed_digits(printed: str, recomputed: float | None, match: bool) -> None:
    cell = ReplicatedCell("cell", float(printed), decimals_of(printed), recomputed)
    assert cell.match is match


def test_result_for_people_and_machines() -> None:
    cells = (ReplicatedCell("a", 0.65, 2, 0.6512), ReplicatedCell("b", 3.0, 0, None, "not released"))
    result = Replication(
        settings={"paper": "p"}, data="0", paper="A Paper", replicated=(ReplicatedTable("Table 1", "About", 2, cells),)
    )
    plain = result.to_dict()
    assert (plain["cells"], plain["matching"]) == (2, 1)
    assert plain["tables"][0]["cells"][1] == {
        "name": "b",
        "published": 3.0,
        "recomputed": None,
        "match": False,
        "note": "not released",
    }
    shown = result_as_text(result)
    assert "1 of 2" in shown
    assert "Table 1 (page 2): About" in shown


def test_files_are_found_in_the_folder_or_one_below(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "x.csv").write_text("", encoding="utf-8")
    assert find_file(tmp_path, "x.csv") == tmp_path / "one" / "x.csv"
    assert find_file(tmp_path / "one", "x.csv") == tmp_path / "one" / "x.csv"
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "x.csv").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match=r"holds 2 files called 'x\.csv'"):
        find_file(tmp_path, "x.csv")
    with pytest.raises(InputError, match=r"holds no 'y\.csv'"):
        find_file(tmp_path, "y.csv")


def test_every_paper_has_its_published_figures() -> None:
    """Printed figures are numbers, and names of cells are unique within their table."""
    for module, _ in PAPERS.values():
        published = read_published(module)
        for table in published.content["tables"]:
            for name, printed in table["cells"].items():
                assert float(printed) == pytest.approx(float(printed)), name
            assert set(table.get("notes", {})) <= set(table["cells"])


def test_faults_are_explained(tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    with pytest.raises(UsageError, match="unknown paper 'grain-of-sand': did you mean 'grain-of-salt'"):
        replicate("grain-of-sand", tmp_path)
    with pytest.raises(InputError, match="is not a folder"):
        replicate("grain-of-salt", tmp_path / "none")
    assert_explained(adjudge("replicate", "grain-of-salt", "--data", tmp_path), names=("data_RNK.csv", str(tmp_path)))
