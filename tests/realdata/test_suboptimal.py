"""Kim et al. (2022), The Suboptimal WMT Test Sets and Their Impact on Human Parity, from the released ranks."""

from __future__ import annotations

from pathlib import Path

import pytest

import adjudge
from adjudge.papers.replicate import Replication
from adjudge.testsets.check import TestSetOptions, testset
from adjudge.testsets.versions import segment_ter
from tests.helpers.replications import replication_of


@pytest.fixture(scope="module")
def replication(data: Path) -> Replication:
    return replication_of("suboptimal", data / "suboptimal")


def cells(replication: Replication, table: str) -> dict[str, float | None]:
    replicated = next(part for part in replication.replicated if part.table == table)
    return {cell.name: cell.recomputed for cell in replicated.cells}


@pytest.mark.parametrize("table", ["Table 3", "Table 5", "Table 6"])
def test_counts_are_the_printed_ones(replication: Replication, table: str) -> None:
    replicated = next(part for part in replication.replicated if part.table == table)
    assert all(cell.match for cell in replicated.cells)


def test_true_rank_points(replication: Replication) -> None:
    """Means of both annotators; the paper's Table 7 mixes in means of the first, and notes say where."""
    assert cells(replication, "Table 7") == pytest.approx(
        {
            "HT, before": 2.7769, "MT_Y, before": 2.2208, "MT_Z, before": 2.0801,
            "HT, after": 2.8021, "MT_Y, after": 2.1876, "MT_Z, after": 1.9725,
        },
        abs=5e-5,
    )  # fmt: skip


def test_cells_are_counted_by_source(replication: Replication) -> None:
    """72 cells of the paper, of which 4 are shares of its printed counts; 437 of the released file of TER."""
    counts = {
        str(source): (count.compared, count.matching, count.from_print)
        for source, count in replication.counts().items()
    }
    assert counts == {"paper": (68, 57, 4), "authors' files": (437, 437, 0)}


def test_every_difference_has_its_reason(replication: Replication) -> None:
    different = [cell for table in replication.replicated for cell in table.cells if not cell.match]
    assert len(different) == 11
    assert all(cell.note for cell in different)


def test_segments_that_the_cleaning_changed_most(replication: Replication) -> None:
    """Section 5.2: three sentences above 0.8, two of them contaminated, which holds if 0.8 itself is counted."""
    text = cells(replication, "Text")
    assert text["segments with TER above 0.8, MT_Y or MT_Z"] == 3
    assert text["of these contaminated"] == 2


def test_agreement_of_the_groups(replication: Replication) -> None:
    """Mean kappa of 11 groups 0.3104 (the paper says 0.31); of preferences 0.263."""
    assert cells(replication, "Text")["mean kappa of 11 groups"] == pytest.approx(0.31042415, abs=1e-8)
    assert "mean kappa of preferences, the human first, over the groups: 0.263" in replication.notes


def test_the_change_is_within_what_documents_allow(replication: Replication) -> None:
    """Resampling 21 documents by a script of its own (20,000 draws): -12.0 to 5.3 and -12.3 to 1.0."""
    notes = " ".join(replication.notes)
    assert "MT_Y -3.09 points on all segments, 95% -11.8 to +5.4" in notes
    assert "MT_Z -5.38 points on all segments, 95% -12.2 to +1.1" in notes
    assert "MT_Y -0.46 points on all segments" in notes
    assert "MT_Z -2.06 points on all segments" in notes


def test_the_mirrored_block_is_named(replication: Replication) -> None:
    assert any("31 segments (350 to 380, 93 preferences) are mirrored" in note for note in replication.notes)


def test_ter_between_versions_is_the_released_one(data: Path) -> None:
    """`score/mt_google.txt` holds TER of Google's output, the one before cleaning as hypothesis, to four digits."""
    folder = data / "suboptimal"
    before, after = (
        (folder / name / "mt_google.txt").read_text(encoding="utf-8").splitlines() for name in ("bts", "ats")
    )
    released = [float(value) for value in (folder / "score" / "mt_google.txt").read_text().split()]
    assert segment_ter(before, after) == pytest.approx(released, abs=5.1e-5)


def test_the_released_sources_lost_their_marks_and_an_output_its_step(data: Path, tmp_path: Path) -> None:
    folder = data / "suboptimal" / "bts"
    source = tmp_path / "src.txt"
    source.write_text("\n".join((folder / "src.txt").read_text(encoding="utf-8").split("\n")[:437]), encoding="utf-8")
    translation = folder / "mt_google.txt"
    result = testset([source], TestSetOptions(language="en", translations=(translation,)))
    eaten = [finding for finding in result.findings if finding.category == "eaten-quotes"]
    assert sum(finding.edit is None for finding in eaten) == 1  # the file as a whole
    assert {finding.edit.text for finding in eaten if finding.edit is not None} == {'"'}
    # 58 translations start with a mark.
    assert 60 < len({finding.line for finding in eaten if finding.edit is not None}) < 90
    misaligned = [finding for finding in result.findings if finding.category == "misaligned"]
    assert len(misaligned) == 1
    assert "1 line behind" in misaligned[0].what


def test_contaminated_segments_are_one_option_of_rank(data: Path) -> None:
    """92 ids are marked in the released files, judged twice: 184 rankings, in each of which a system meets two others.

    That machine translations gain on contaminated segments is not more than chance explains, before as after cleaning.
    """
    for version in ("bts", "ats"):
        folder = data / "suboptimal" / version
        ranking = adjudge.rank(folder, format="rank-lines", stacked=2, human="ref", by="error")
        assert ranking.breakdown is not None
        (own,) = ranking.breakdown.columns
        assert own.levels == ("F", "T")
        assert {score.n for score in own.scores if score.level == "T"} == {184 * 2}
        assert own.p > 0.05
