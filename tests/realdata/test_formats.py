"""Released files read as they are, against numbers counted by others: papers, other tools, the files themselves."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl
import pytest

import adjudge
from adjudge.readers.options import ReadOptions
from adjudge.table.comparisons import comparisons
from adjudge.table.judgments import Judgments
from tests.helpers.released import read_released

# Lopez 2012, Table 1: systems without the reference, and pairwise judgments with it.
LOPEZ_TABLE_1 = {
    "wmt10.Czech,English": (12, 5375),
    "wmt10.English,Czech": (17, 13538),
    "wmt10.English,French": (19, 7962),
    "wmt10.English,German": (18, 13694),
    "wmt10.English,Spanish": (16, 5174),
    "wmt10.French,English": (24, 8294),
    "wmt10.German,English": (25, 10424),
    "wmt10.Spanish,English": (14, 11307),
    "wmt11.Czech,English.combo": (4, 2602),
    "wmt11.Czech,English.individual": (8, 4922),
    "wmt11.English,Czech.combo": (2, 2686),
    "wmt11.English,Czech.individual": (10, 17875),
    "wmt11.English,French.combo": (2, 880),
    "wmt11.English,French.individual": (17, 9086),
    "wmt11.English,German.combo": (4, 4374),
    "wmt11.English,German.individual": (22, 12996),
    "wmt11.English,Spanish.combo": (4, 5930),
    "wmt11.English,Spanish.individual": (15, 11130),
    "wmt11.French,English.combo": (6, 3000),
    "wmt11.French,English.individual": (18, 6986),
    "wmt11.German,English.combo": (8, 3844),
    "wmt11.German,English.individual": (20, 9079),
    "wmt11.Spanish,English.combo": (6, 4156),
    "wmt11.Spanish,English.individual": (15, 5652),
    "wmt11.Urdu,English.tunablemetrics": (8, 6257),
}
RAW = {
    "combo": "wmt11/wmt11-maneval-combosystems.RNK_results.csv",
    "individual": "wmt11/wmt11-maneval-indivsystems.RNK_results.csv",
    "tunablemetrics": "wmt11/wmt11-maneval-tunablemetrics.RNK_results.csv",
}


def counts(judgments: Judgments) -> Counter[tuple[str, str, int]]:
    result = comparisons(judgments)
    rows = zip(result.first.tolist(), result.second.tolist(), result.outcome.tolist(), strict=True)
    return Counter((result.systems[first], result.systems[second], outcome) for first, second, outcome in rows)


@pytest.mark.parametrize("task", LOPEZ_TABLE_1)
def test_counts_are_those_of_the_paper_and_of_the_raw_blocks(task: str, data: Path) -> None:
    counted = adjudge.read([data / "pairwise" / task], format="pairwise-counts")
    systems, pairs = LOPEZ_TABLE_1[task]
    assert sum(not human for human in comparisons(counted).human) == systems
    assert len(comparisons(counted)) == pairs
    ending = task.rsplit(".", 1)[1]
    raw = read_released(data / RAW.get(ending, "wmt10/data_RNK.csv"), "wmt-ranking")
    assert counts(raw.for_pair(counted.pairs[0])) == counts(counted)


def test_the_folder_of_counts_is_25_tasks(data: Path) -> None:
    judgments = adjudge.read([data / "pairwise"], format="pairwise-counts")
    assert judgments.table["campaign"].unique(maintain_order=True).to_list() == sorted(LOPEZ_TABLE_1)
    assert judgments.table.height == 2 * sum(pairs for _, pairs in LOPEZ_TABLE_1.values())


def test_blocks_of_2010(data: Path) -> None:
    """Blocks, exact repeats and empty blocks as counted with `sort | uniq -c` on the file's lines."""
    judgments = read_released(data / "wmt10" / "data_RNK.csv", "wmt-ranking")
    blocks = judgments.table.group_by("screen", maintain_order=True).agg(
        *(pl.col(name).first() for name in ("source_lang", "target_lang", "segment", "annotator")),
        pl.concat_str(pl.col("system"), pl.col("rank").fill_null(-1), separator=" ").str.join(",").alias("labels"),
        pl.col("rank").count().alias("given"),
    )
    assert blocks.height == 7692
    assert blocks.height - blocks.drop("screen").unique().height == 95
    assert blocks.filter(given=0).height == 69
    assert blocks.filter(given=1).height == 2
    assert judgments.set_aside == ()


def test_blocks_of_2011_are_padded(data: Path) -> None:
    judgments = adjudge.read(sorted((data / "wmt11").glob("*.csv")), format="wmt-ranking")
    assert [(aside.reason, aside.rows) for aside in judgments.set_aside] == [
        ("padding: the system called 'blank'", 3300)
    ]
    assert "blank" not in judgments.systems
    assert set(judgments.pairs) >= {"ht_raw-en", "ht_clean-en", "ur-en", "cs-en"}


def test_edits_of_2010(data: Path) -> None:
    """Actions as counted with `cut -f 11 data_EDT.tsv | sort | uniq -c`."""
    judgments = adjudge.read([data / "wmt10" / "data_EDT.tsv"], format="wmt-edits")
    assert dict(judgments.table["action"].value_counts().rows()) == {"EDIT": 4093, "BAD": 1738, "OK": 1327, "N/A": 97}
    assert judgments.table["edit"].n_unique() == judgments.table.height == 7255
    assert judgments.table["text"].null_count() == 0
    assert judgments.table["text"].str.contains('"').sum() == 889
    assert judgments.notes == ()


def test_acceptability_of_2010_disagrees_with_the_edits_on_some_systems(data: Path) -> None:
    """Answers as counted with `cut -d , -f 10 data_ACC.csv | sort | uniq -c`."""
    answers = adjudge.read([data / "wmt10" / "data_ACC.csv"], format="wmt-acceptability").table
    assert Counter(answers["score"].to_list()) == {0.0: 3838, 1.0: 3025, None: 42}
    edits = adjudge.read([data / "wmt10" / "data_EDT.tsv"], format="wmt-edits").table
    joined = answers.join(edits, on="edit", how="inner")
    assert joined.height == 6905
    assert joined.filter(pl.col("system") != pl.col("system_right")).height == 325


def test_rank_tables_of_22_annotators(data: Path) -> None:
    """Kim et al.: Cohen's kappa over the rank numbers of two annotators, mean of the 11 groups 0.3104."""
    options = ReadOptions(
        segment_column="ID", rank_columns=("Ref_rating", "MT_Z_rating", "MT_Y_rating"), pair="en-ko"
    )  # fmt: skip
    judgments = adjudge.read([data / "suboptimal" / "score" / "groups"], format="rank-table", options=options)
    assert judgments.systems == ("MT_Y", "MT_Z", "Ref")
    assert judgments.table.filter(human=True)["system"].unique().to_list() == ["Ref"]
    assert set(judgments.table["Segment Origin"].unique()) == {"a", "b", "origin"}
    assert judgments.table["rank"].null_count() == 0
    labels = {who[0]: part["rank"].to_list() for who, part in judgments.table.group_by("annotator")}
    kappas = [kappa(labels[f"{group}1"], labels[f"{group}2"]) for group in "abcdefghijk"]
    assert round(sum(kappas) / len(kappas), 4) == 0.3104


def kappa(first: list[int], second: list[int]) -> float:
    observed = sum(x == y for x, y in zip(first, second, strict=True)) / len(first)
    expected = sum(first.count(rank) * second.count(rank) for rank in (1, 2, 3)) / len(first) ** 2
    return (observed - expected) / (1 - expected)
