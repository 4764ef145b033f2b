"""Relative rankings of the workshops: blocks of five, tables of pairs, and the oddities of single years."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from adjudge.readers import registry
from adjudge.readers.options import ReadOptions
from adjudge.table.comparisons import comparisons
from adjudge.table.errors import InputError
from adjudge.table.judgments import Judgments, SetAside

BLOCKS = (
    "srclang,trglang,srcIndex,documentId,segmentId,judgeId,"
    "system1Number,system1Id,system2Number,system2Id,system3Number,system3Id,system1rank,system2rank,system3rank"
)
PAIRS = "srclang,trglang,srcIndex,segmentId,judgeID,system1Id,system1rank,system2Id,system2rank,rankingID"


def read(tmp_path: Path, *lines: str, name: str = "made.csv") -> Judgments:
    file = tmp_path / name
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return registry.read([file], format="wmt-ranking")


def labels(judgments: Judgments) -> list[tuple[str, str, int | None]]:
    return judgments.table.select("screen", "system", "rank").rows()


def test_a_row_is_a_block(tmp_path: Path) -> None:
    judgments = read(
        tmp_path,
        BLOCKS,
        "Czech,English,7,doc/1,3,ann,1,_ref,2,system one,3,a+b,1,3,2",
        "cze,eng,8,doc/1,4,bob,2,system one,0,blank,1,_ref,2,-1,2",
    )
    assert labels(judgments) == [
        ("1", "_ref", 1),
        ("1", "system one", 3),
        ("1", "a+b", 2),
        ("2", "system one", 2),
        ("2", "_ref", 2),
    ]
    assert judgments.pairs == ("cs-en",)
    assert judgments.table.row(0, named=True) | {"started": None} == judgments.table.row(0, named=True)
    first = judgments.table.select("campaign", "annotator", "document", "segment", "human", "kind").row(0)
    assert first == ("made", "ann", "doc/1", "7", True, "reference")
    assert judgments.set_aside == (SetAside("padding: the system called 'blank'", 1),)


def test_blank_ranks_are_null_and_exact_repeats_stay(tmp_path: Path) -> None:
    row = "Czech,English,7,doc/1,3,ann,1,x,2,y,3,z,-1,2,"
    judgments = read(tmp_path, BLOCKS, row, row)
    assert [rank for _, _, rank in labels(judgments)] == [None, 2, None] * 2
    assert judgments.table["screen"].n_unique() == 2


def test_unused_columns_are_null(tmp_path: Path) -> None:
    judgments = read(tmp_path, BLOCKS, "-1,-1,7,-1,7,-1,-1,x,-1,y,-1,z,1,2,3")
    row = judgments.table.row(0, named=True)
    assert (row["document"], row["annotator"]) == (None, None)
    assert judgments.pairs == ("und-und",)
    assert judgments.notes == ("made.csv does not say who judged",)


def test_pairs_of_one_ranking_become_a_block_again(tmp_path: Path) -> None:
    judgments = read(
        tmp_path,
        PAIRS,
        "cze,eng,5,5,judge1,x,1,y,2,11",
        "cze,eng,5,5,judge1,x,1,z,4,11",
        "cze,eng,5,5,judge1,y,2,z,4,11",
        "cze,eng,5,5,judge2,x,2,y,2,12",
    )
    assert labels(judgments) == [
        ("1", "x", 1),
        ("1", "y", 2),
        ("1", "z", 4),
        ("2", "x", 2),
        ("2", "y", 2),
    ]


@pytest.mark.parametrize(
    "rows",
    [
        # A pair is missing.
        ["cze,eng,5,5,j,x,1,y,2,11", "cze,eng,5,5,j,x,1,z,4,11"],
        # The same system has two ranks.
        ["cze,eng,5,5,j,x,1,y,2,11", "cze,eng,5,5,j,x,3,z,4,11", "cze,eng,5,5,j,y,2,z,4,11"],
        # A pair stands twice, another is missing.
        ["cze,eng,5,5,j,x,1,y,2,11", "cze,eng,5,5,j,y,2,x,1,11", "cze,eng,5,5,j,y,2,z,4,11"],
        # No ranking is named.
        ["cze,eng,5,5,j,x,1,y,2,", "cze,eng,5,5,j,x,1,z,4,", "cze,eng,5,5,j,y,2,z,4,"],
    ],
)
def test_pairs_that_make_no_whole_ranking_stay_pairs(tmp_path: Path, rows: list[str]) -> None:
    judgments = read(tmp_path, PAIRS, *rows)
    assert judgments.table["screen"].to_list() == [str(1 + i // 2) for i in range(2 * len(rows))]
    assert len(comparisons(judgments)) == len(rows)


def test_a_block_holds_the_comparisons_of_its_pairs(tmp_path: Path) -> None:
    ranks = {"a": 1, "b": 2, "c": 2, "d": 5, "e": 3}
    rows = [f"cze,eng,5,5,j,{x},{ranks[x]},{y},{ranks[y]},1" for x in ranks for y in ranks if x < y]
    together, apart = (
        read(tmp_path, PAIRS, *rows),
        read(tmp_path, PAIRS.removesuffix(",rankingID"), *(r[:-2] for r in rows)),
    )
    assert together.table["screen"].n_unique() == 1
    assert apart.table["screen"].n_unique() == 10
    for judgments in (together, apart):
        result = comparisons(judgments)
        outcomes = sorted(zip(result.first.tolist(), result.second.tolist(), result.outcome.tolist(), strict=True))
        assert outcomes == sorted(
            (i, j, (ranks[x] < ranks[y]) - (ranks[x] > ranks[y]))
            for i, x in enumerate(ranks)
            for j, y in enumerate(ranks)
            if i < j
        )


def test_an_output_that_systems_share_counts_for_each(tmp_path: Path) -> None:
    judgments = read(
        tmp_path,
        BLOCKS,
        "Czech,English,7,d,3,ann,1,x,2,y,3,x+y,1,3,2",
        'Czech,English,8,d,3,ann,1,z,2,"x,y",3,Transformer+R2L,1,3,2',
        "German,English,8,d,3,ann,1,x+y,2,v,3,w,1,3,2",
    )
    assert labels(judgments) == [
        *[("1", "x", 1), ("1", "y", 3), ("1", "x", 2), ("1", "y", 2)],
        *[("2", "z", 1), ("2", "x", 3), ("2", "y", 3), ("2", "Transformer+R2L", 2)],
        # In this language pair neither x nor y exists on its own, so that the name is a name.
        *[("3", "x+y", 1), ("3", "v", 3), ("3", "w", 2)],
    ]
    assert judgments.notes == ("2 outputs that systems share, such as 'x+y', are counted for each of the systems",)


def test_the_order_and_spelling_of_columns_are_free(tmp_path: Path) -> None:
    judgments = read(
        tmp_path,
        "system2rank;extra;SYSTEM1ID;system1Rank;system2Name;segmentID;tgtlang;srclang;annotator",
        "2.0;?;x;1.0;y;9;en;cs;me",
    )
    assert labels(judgments) == [("1", "x", 1), ("1", "y", 2)]
    assert judgments.table.select("segment", "annotator").row(0) == ("9", "me")


def test_the_pair_can_come_from_the_name_of_the_file(tmp_path: Path) -> None:
    header = "srcIndex,judgeId,system1Id,system1rank,system2Id,system2rank"
    assert read(tmp_path, header, "1,me,x,1,y,2", name="test.cs-en.csv").pairs == ("cs-en",)


def test_files_with_the_same_name_stay_apart(tmp_path: Path) -> None:
    files = []
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        files.append(tmp_path / folder / "data.csv")
        files[-1].write_text(f"{BLOCKS}\nCzech,English,7,d,3,ann,1,x,2,y,3,z,1,3,2\n")
    judgments = registry.read(files, format="wmt-ranking")
    assert judgments.table["campaign"].unique(maintain_order=True).to_list() == ["one/data", "two/data"]
    assert len(comparisons(judgments)) == 6


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([BLOCKS], "holds a header but no ranking"),
        ([BLOCKS, "Czech,English,7,d,3,ann,1,x,2,y,3,z,1,7,2"], "line 2: rank is '7', it must lie between 1 and 5"),
        ([BLOCKS, "Czech,English,7,d,3,ann,1,x,2,y,3,z,1,b,2"], "line 2: rank is 'b'"),
        ([BLOCKS, "Czech,English,7,d,3,ann,1,x,2,y,3,z,1,1.5,2"], "line 2: rank is '1.5'"),
        ([BLOCKS, "Czech,English,7,d,3,ann,1,x,2,y,3"], "line 2: 11 fields where the header has 15"),
        ([BLOCKS, 'Czech,English,7,"d,3,ann,1,x'], "line 2: cannot be read as a table"),
        ([BLOCKS, "Czech,English,7,d,3,ann,0,blank,0,blank,0,blank,-1,-1,-1"], "holds no label of any system"),
        (["srclang,trglang,srcIndex,judgeId,score", "a,b,1,2,3"], "has no column 'system1Id'"),
        (["srclang,trglang,srcIndex,judgeId,system1Id", "a,b,1,2,3"], "has no column 'system1rank'"),
        (["srclang,trglang,judgeId,system1Id,system1rank", "a,b,1,2,3"], "has no column 'segmentId'"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, lines: list[str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        read(tmp_path, *lines)


def test_the_first_wrong_rank_is_named(tmp_path: Path) -> None:
    row = "Czech,English,7,d,3,ann,1,x,2,y,3,z,1,{},{}"
    with pytest.raises(InputError, match="line 3: rank is '8'"):
        read(tmp_path, BLOCKS, row.format(2, 3), row.format(8, 3), row.format(9, 3))


def test_screens_are_numbered_by_block_in_order(tmp_path: Path) -> None:
    rows = [f"Czech,English,{i},d,3,ann,1,x,2,y,3,z,1,3,2" for i in range(12)]
    judgments = read(tmp_path, BLOCKS, *rows)
    assert judgments.table["screen"].cast(pl.Int64).to_list() == [1 + i // 3 for i in range(36)]


FIVE = (
    "srclang,trglang,srcIndex,documentId,segmentId,judgeId,"
    + ",".join(f"system{i}Number,system{i}Id" for i in range(1, 6))
    + ","
    + ",".join(f"system{i}rank" for i in range(1, 6))
)


def test_blocks_of_2013(tmp_path: Path) -> None:
    """Numbers and documents are -1, judges are numbered within their group, names carry test set, pair and id."""
    names = [
        f"newstest2013.fr-en.{name}" for name in ("uni_primary.2658", "two__words.28", "online-B", "ref", "Tree-2")
    ]
    shown = ",".join(f"-1,{name}" for name in names)
    judgments = read(
        tmp_path,
        FIVE,
        f"French,English,556,-1,556,researcher_31,{shown},2,2,3,1,-1",
        f"French,English,557,-1,557,turker_31,{shown},5,4,5,1,1",
    )
    assert [system.removeprefix("newstest2013.fr-en.") for system in judgments.systems] == [
        "Tree-2",
        "online-B",
        "ref",
        "two__words.28",
        "uni_primary.2658",
    ]
    assert judgments.table.filter("human")["system"].unique().to_list() == ["newstest2013.fr-en.ref"]
    assert judgments.table["document"].is_null().all()
    assert judgments.table["annotator"].unique(maintain_order=True).to_list() == ["researcher_31", "turker_31"]
    assert len(comparisons(judgments)) == 6 + 10


def test_pairs_of_2016_with_outputs_that_systems_share(tmp_path: Path) -> None:
    """Five outputs were shown, one of them made by two systems: all 15 pairs of six are given, and are one block."""
    ranks = {"jhu-pbmt.4285": 4, "dv.4346": 2, "comb.4509": 3, "jhu-syntax.4391": 3, "online-A.0": 1, "SMT.4335": 1}
    names = list(ranks)
    rows = [
        f"eng,ptb,620,620,judge26,newstest2016.{a}.en-pt,{ranks[a]},newstest2016.{b}.en-pt,{ranks[b]},1264"
        for i, a in enumerate(names)
        for b in names[i + 1 :]
    ]
    judgments = read(tmp_path, PAIRS, *rows, name="wmt16it.eng-ptb.csv")
    assert judgments.pairs == ("en-pt",)
    assert judgments.table["screen"].n_unique() == 1
    assert judgments.table["rank"].to_list() == list(ranks.values())
    assert not judgments.table["human"].any()


def test_five_at_a_time_with_a_ranking_id_are_blocks_of_their_rows(tmp_path: Path) -> None:
    shown = ",".join(f"-1,{name}" for name in "vwxyz")
    row = f"cze,eng,7,-1,7,judge1,{shown},1,2,3,4,5,11"
    judgments = read(tmp_path, f"{FIVE},rankingID", row, row)
    assert judgments.table["screen"].n_unique() == 2
    assert len(comparisons(judgments)) == 20


def test_names_with_commas_and_quotes(tmp_path: Path) -> None:
    row = 'Czech,English,7,d,3,ann,1,"sys, the first",2,"a ""b"" c",3,z.1,1,3,2'
    assert read(tmp_path, BLOCKS, row).systems == ('a "b" c', "sys, the first", "z.1")


@pytest.mark.parametrize(("labels", "fits"), [(None, False), (4, False), (7, True), (10, True)])
def test_the_scale_can_be_told(tmp_path: Path, labels: int | None, fits: bool) -> None:
    file = tmp_path / "made.csv"
    file.write_text(f"{BLOCKS}\nCzech,English,7,d,3,ann,1,x,2,y,3,z,1,7,2\n")
    options = ReadOptions(labels=labels)
    if fits:
        assert registry.read([file], format="wmt-ranking", options=options).table["rank"].max() == 7
        return
    with pytest.raises(InputError, match=r"line 2: rank is '7', it must lie between 1 and .*'labels'"):
        registry.read([file], format="wmt-ranking", options=options)
