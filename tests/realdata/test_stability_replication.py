"""Knowles (2021), "On the Stability of System Rankings at WMT", over the released campaigns of 2021.

Official figures are read by the replication itself from the files beside the judgments; `test_official_rankings.py`
reads them in its own way. Counts over language pairs are checked against the audit of each pair.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from scipy.stats import mannwhitneyu

from adjudge.evidence.stability import stability
from adjudge.papers.replicate import ReplicatedCell, ReplicatedTable, Replication, Source
from adjudge.ranking.changes import ChangeFamily
from adjudge.table.judgments import Judgments
from tests.conftest import Run
from tests.helpers.released import read_released
from tests.helpers.replications import replication_of

# Eleven language pairs by seven figures of each of their 133 systems.
OFFICIAL_CELLS = 931


def replication(folder: Path) -> Replication:
    return replication_of("stability", folder)


def table(folder: Path, name: str) -> dict[str, ReplicatedCell]:
    (replicated,) = [table for table in replication(folder).replicated if table.table == name]
    return {cell.name: cell for cell in replicated.cells}


def official(folder: Path) -> list[ReplicatedTable]:
    return [table for table in replication(folder).replicated if table.title.startswith("the official ranking")]


def test_every_cell_of_the_official_rankings_comes_out(data: Path) -> None:
    tables = official(data / "wmt21")
    assert len(tables) == 11
    assert sum(len(table.cells) for table in tables) == OFFICIAL_CELLS
    assert [cell for table in tables for cell in table.cells if not cell.match] == []


def test_the_toy_z_scores(data: Path) -> None:
    """Section 5: 0, .39 and -.39."""
    cells = table(data / "wmt21", "Section 5")
    assert [cell.published for cell in cells.values()] == [0.0, 0.39, -0.39]
    assert all(cell.match for cell in cells.values())


def test_counts_over_other_campaigns_are_not_compared(data: Path) -> None:
    """Tables 2 and 3 print counts of 2018 to 2020; those of 2021 stand beside them, and say so."""
    for name in ("Table 2", "Table 3"):
        for cell in table(data / "wmt21", name).values():
            assert cell.match is None
            assert cell.note
    total = table(data / "wmt21", "Table 2")
    assert total["ALL SR+DC: rank"].published == 18
    assert total["ALL SR+DC: pairs"].recomputed == 6


def test_counts_are_those_of_the_audits(data: Path) -> None:
    counted = {"pairs": 0, "rank": 0, "cluster": 0, "both": 0}
    for part in read_released(data / "wmt21" / "newstest2021-toen", "wmt-da").by_pair().values():
        if "z" in part.table.columns and part.table["z"].is_not_null().any():
            continue
        (row,) = stability(part, families=[ChangeFamily.HUMAN_REMOVED], removal="all-rows")
        counted["pairs"] += 1
        counted["rank"] += row.rank_changed
        counted["cluster"] += row.cluster_changed
        counted["both"] += row.both_changed
    cells = table(data / "wmt21", "Table 2")
    assert {key: cells[f"ALL SR+DC: {key}"].recomputed for key in counted} == counted


def spelled_out(judgments: Judgments, kept: pl.Expr, shown: pl.Expr) -> tuple[list[str], list[int]]:
    """Order and sizes of clusters by section 3 of the paper, with polars and scipy's `mannwhitneyu`.

    z-scores are made from the rows that are kept; systems that are not shown are left out of ranking and lines only.
    Her line: half the two-sided p against every system below is under .05 (SciPy before 1.7).
    """
    table = judgments.table
    if "passed" in table.columns:
        table = table.with_columns(pl.col("passed").fill_null(value=True))
    score = pl.col("score")
    z = (score - score.mean().over("annotator")) / score.std().over("annotator")
    rated = table.filter(kept).with_columns(z=z.fill_nan(None)).filter(pl.col("kind").is_in(["system", "repeat"]))
    rated = rated.filter(shown & pl.col("passed") if "passed" in rated.columns else shown)
    means = rated.group_by("system", "document", "segment").agg(pl.col("z").mean().round(10)).drop_nulls("z")
    order = means.group_by("system").agg(pl.col("z").mean()).sort("z", descending=True)["system"].to_list()
    values = {name: means.filter(pl.col("system") == name)["z"].to_numpy() for name in order}
    ends = [
        i + 1
        for i in range(len(order) - 1)
        if all(
            mannwhitneyu(values[order[i]], values[below], alternative="two-sided", method="asymptotic").pvalue < 0.1
            for below in order[i + 1 :]
        )
    ]
    return order, [b - a for a, b in pairwise([0, *ends, len(order)])]


@pytest.mark.parametrize("pair", ["cs-en", "ha-en", "de-en"])
def test_removing_people_is_what_the_paper_says(data: Path, pair: str) -> None:
    """Section 5.2: human systems and REF are removed before z-scores are made, BAD_REF stays.

    The baseline is the ranking from all data with the significance clusters made without human systems.
    """
    part = read_released(data / "wmt21" / "newstest2021-toen", "wmt-da").by_pair()[pair]
    (row,) = stability(part, families=[ChangeFamily.HUMAN_REMOVED])
    people = pl.col("system").is_in(list(row.removed))
    gone = (people & (pl.col("kind") != "degraded")) | (pl.col("kind") == "reference")
    before = spelled_out(part, pl.lit(value=True), ~people)
    after = spelled_out(part, ~gone, ~people)
    assert (list(row.baseline_order), [len(baseline_cluster) for baseline_cluster in row.baseline_clusters]) == before
    assert (list(row.order), [len(cluster) for cluster in row.clusters]) == after


def test_figure_1_has_the_counts_of_the_authors_repository(data: Path) -> None:
    """scripts/reference_tables.txt of github.com/nrc-cnrc/WMT-Stability: divided by 1.25, 2/1/0 of 21, 21/13/11 of 25.

    Those of 2021, with document context, are counts of six language pairs, and not compared.
    """
    cells = table(data / "wmt21", "Figure 1")
    keys = ("pairs", "rank", "cluster", "both")
    assert [cells[f"SR–DC, divided by 1.25: {key}"].published for key in keys] == [21, 2, 1, 0]
    assert [cells[f"SR+DC, divided by 1.25: {key}"].published for key in keys] == [25, 21, 13, 11]
    assert [cells[f"SR+DC, divided by 10: {key}"].published for key in keys] == [25, 23, 19, 17]
    assert cells["SR+DC, divided by 1.25: pairs"].recomputed == 6
    assert {cell.match for cell in cells.values()} == {None}


def test_cells_of_paper_and_organisers_are_counted_apart(data: Path) -> None:
    """The paper prints three figures that do not depend on its campaigns; all others are in the organisers' files."""
    counts = replication(data / "wmt21").counts()
    assert (counts[Source.PAPER].compared, counts[Source.PAPER].matching) == (3, 3)
    assert (counts[Source.ORGANISERS].compared, counts[Source.ORGANISERS].matching) == (OFFICIAL_CELLS, OFFICIAL_CELLS)


def test_a_language_pair_with_means_only_is_named(data: Path) -> None:
    assert any("zh-en is not audited: only means" in note for note in replication(data / "wmt21").notes)


def test_the_command(adjudge: Callable[..., Run], data: Path) -> None:
    answer = adjudge("replicate", "stability", "--data", data / "wmt21" / "facebook-wikipedia-2021", "--json").json
    assert answer["matching"] == answer["compared"] == 3 + 7 * (9 + 9 + 6 + 5)
    (table_2,) = [part for part in answer["tables"] if part["table"] == "Table 2"]
    cell = table_2["cells"][0]
    assert cell["match"] is None
    assert cell["published"] == pytest.approx(13)
