"""The frame of replications: matching of printed figures, finding files, faults."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from adjudge.evidence.stability import Stability, StabilityRow
from adjudge.papers.replicate import (
    PAPERS,
    ReplicatedCell,
    ReplicatedTable,
    Replication,
    Source,
    count_decimals,
    find_file,
    read_published,
    replicate,
)
from adjudge.papers.stability import AuditedPair, official_figures, table_2
from adjudge.ranking.changes import ChangeFamily
from adjudge.reports.page import result_as_text
from adjudge.table.errors import InputError, UsageError
from tests.conftest import Run, assert_explained
from tests.readers.test_wmt_da import rows, write


@pytest.mark.parametrize(
    ("printed", "recomputed", "match"),
    [
        ("0.654", 0.65449, True),
        ("0.654", 0.6546, False),
        ("0.5", 0.45, True),
        ("0.5", 0.55, True),
        ("388", 387.5, True),
        ("409", 408, False),
        ("1", None, None),
    ],
)
def test_a_cell_matches_to_its_printed_digits(printed: str, recomputed: float | None, match: bool | None) -> None:
    cell = ReplicatedCell("cell", float(printed), count_decimals(printed), recomputed)
    assert cell.match is match


def test_result_for_people_and_machines() -> None:
    cells = (
        ReplicatedCell("a", 0.65, 2, 0.6512),
        ReplicatedCell("b", 3.0, 0, None, "needs what was kept", released=False),
        ReplicatedCell("c", 3.0, 0, None, "lies elsewhere"),
        ReplicatedCell("d", 3.0, 0, 4.0, "a misprint"),
        ReplicatedCell("e", 7.0, 0, 7.0, "the sum of what is printed", from_print=True),
        ReplicatedCell("f", 7.0, 0, 8.0, "a wrong sum of what is printed", from_print=True),
    )
    result = Replication(
        settings={"paper": "p"}, data="0", paper="A Paper", replicated=(ReplicatedTable("Table 1", "About", 2, cells),)
    )
    plain = result.to_dict()
    assert (plain["cells"], plain["compared"], plain["matching"]) == (6, 3, 1)
    counts = {"cells": 6, "compared": 3, "matching": 1, "from_print": 1, "not_released": 1}
    assert plain["by_source"] == {"paper": counts}
    assert plain["tables"][0]["cells"][1] == {
        "name": "b",
        "published": 3.0,
        "recomputed": None,
        "match": None,
        "note": "needs what was kept",
        "state": "not released",
    }
    states = [cell["state"] for cell in plain["tables"][0]["cells"]]
    assert states == ["matches", "not released", "not in the folder", "differs", "follows from print", "differs"]
    shown = result_as_text(result)
    assert "all cells of the paper" in shown
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


def audited(campaign: str, pairs: int, *, style: str, changed: bool) -> list[AuditedPair]:
    """Language pairs of a campaign in which the removal of the human changes the order, or does not."""
    change, family = "human and references removed", ChangeFamily.HUMAN_REMOVED
    row = StabilityRow(change, family, (), changed, False, (), (), (), (), (), 0)
    stability = Stability((row,), style, "zscore", "scipy-1.6")
    return [AuditedPair(campaign, f"{changed}{i}-en", stability) for i in range(pairs)]


def test_the_campaigns_of_a_paper_are_compared_where_they_are_there() -> None:
    """Knowles (2021), Table 2: three language pairs of 2020 without context, of which one changes its order."""
    published = read_published("stability")
    campaign = "mturk-sntlevel-humaneval-newstest2020"
    whole = [
        *audited(campaign, 2, style="SR-DC", changed=False),
        *audited(campaign, 1, style="SR-DC", changed=True),
        *audited("another", 4, style="SR-DC", changed=True),
    ]
    cells = {cell.name: cell for cell in table_2(published, whole).cells}
    assert all(cells[f"’20 (–DC, MT.): {key}"].match for key in ("pairs", "rank", "cluster", "both"))
    assert cells["’18 (–DC): rank"].match is None
    # Not all campaigns of this style are there, so the total is over whatever there is, and not compared.
    assert (cells["ALL SR–DC: pairs"].recomputed, cells["ALL SR–DC: pairs"].match) == (7, None)
    part = {cell.name: cell for cell in table_2(published, whole[1:]).cells}
    assert part["’20 (–DC, MT.): rank"].match is None


def test_figures_about_other_data_are_not_counted_as_compared() -> None:
    cells = (
        ReplicatedCell("a", 1.0, 0, 2.0, "other data", comparable=False),
        ReplicatedCell("b", None, 2, 0.5),
        ReplicatedCell("c", 1.0, 0, 1.0),
    )
    result = Replication(settings={}, data="0", paper="P", replicated=(ReplicatedTable("T", "t", None, cells),))
    plain = result.to_dict()
    assert (plain["cells"], plain["compared"], plain["matching"]) == (3, 1, 1)
    assert [cell["match"] for cell in plain["tables"][0]["cells"]] == [None, None, True]
    assert plain["by_source"]["paper"] == {
        "cells": 3, "compared": 1, "matching": 1, "from_print": 0, "not_released": 0,
    }  # fmt: skip


def test_cells_of_the_paper_and_of_files_are_counted_apart() -> None:
    cell = ReplicatedCell("a", 1.0, 0, 1.0)
    tables = (
        ReplicatedTable("Table 1", "t", 1, (cell,)),
        ReplicatedTable("x-y", "t", None, (cell, cell), Source.ORGANISERS, "a folder"),
        ReplicatedTable("own", "t", None, (ReplicatedCell("b", None, 0, 1.0),), Source.NONE),
    )
    result = Replication(settings={}, data="0", paper="P", replicated=tables)
    counts = {source: (count.compared, count.matching) for source, count in result.counts().items()}
    assert counts == {Source.PAPER: (1, 1), Source.ORGANISERS: (2, 2), Source.NONE: (0, 0)}
    assert result.to_dict()["matching"] == 3


def test_a_campaign_that_cannot_be_read_is_named_and_left_out(tmp_path: Path) -> None:
    """Made-up judgments without official files, and a file that breaks off in a row beside them."""
    for name in ("whole", "broken"):
        (tmp_path / name).mkdir()
        write(tmp_path / name / "ad-latest.csv", rows())
    file = tmp_path / "broken" / "ad-latest.csv"
    file.write_text(file.read_text()[:-30])
    result = replicate("stability", tmp_path)
    assert any(note.startswith("broken is left out") for note in result.notes)
    assert "whole de-en has no official figures beside its judgments" in result.notes
    file.rename(tmp_path / "whole" / "ad-latest.csv")
    with pytest.raises(InputError, match=r"ad-latest\.csv, line"):
        replicate("stability", tmp_path)


def test_official_files_are_read_by_their_columns(tmp_path: Path) -> None:
    """Years differ in columns and in quotes; what a file does not have is not compared."""
    (tmp_path / "ad-sys-scores-ces-en.csv").write_text('SYS RAW.SCR Z.SCR N\n"a.1" 70.5 0.25 10 \n"b.2" NA -0.25 9\n')
    (tmp_path / "clusters.csv").write_text("SRC TRG WINS SYSTEM\ncs en 1 a.1\n")
    (tmp_path / "ad-sys-scores-de-en.csv").write_text("")
    figures = official_figures(tmp_path)
    assert sorted((cell.system, cell.name, cell.value) for cell in figures["cs-en"]) == [
        ("a.1", "N", 10), ("a.1", "raw", 70.5), ("a.1", "wins", 1), ("a.1", "z", 0.25),
        ("b.2", "N", 9), ("b.2", "z", -0.25),
    ]  # fmt: skip
    assert figures["de-en"] == []
