"""Tables with one rank column per candidate."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.readers import registry
from adjudge.readers.options import ReadOptions
from adjudge.readers.rank_tables import candidate_names
from adjudge.table.comparisons import comparisons
from adjudge.table.errors import InputError
from adjudge.table.judgments import Judgments

COLUMNS = ("Ref_rating", "MT_Z_rating", "MT_Y_rating")


def read(
    *files: Path, segment: str | None = "ID", columns: tuple[str, ...] = COLUMNS, human: str | None = None
) -> Judgments:
    options = ReadOptions(segment_column=segment, rank_columns=columns, human=human, pair="en-ko")
    return registry.read(files, format="rank-table", options=options)


def test_one_file_per_annotator(tmp_path: Path) -> None:
    folder = tmp_path / "groups"
    folder.mkdir()
    header = "\tID\tSource Segment\tSegment Origin\tRef_rating\tMT_Z_rating\tMT_Y_rating\n"
    (folder / "a1.csv").write_text(f'{header}0\t1\t"one ""quoted"" text"\tb\t1\t3\t2\n1\t2\ttwo\ta\t1\t-1\t\n')
    (folder / "a2.csv").write_text(f"{header}0\t1\tone\tb\t2\t2\t1\n")
    (folder / ".hidden").write_text("nothing")
    judgments = read(folder)
    rows = judgments.table.select("annotator", "screen", "segment", "system", "rank").rows()
    assert rows == [
        *[("a1", "1", "1", "Ref", 1), ("a1", "1", "1", "MT_Z", 3), ("a1", "1", "1", "MT_Y", 2)],
        *[("a1", "2", "2", "Ref", 1), ("a1", "2", "2", "MT_Z", None), ("a1", "2", "2", "MT_Y", None)],
        *[("a2", "3", "1", "Ref", 2), ("a2", "3", "1", "MT_Z", 2), ("a2", "3", "1", "MT_Y", 1)],
    ]
    first = judgments.table.row(0, named=True)
    assert (first["campaign"], first["human"], first["Segment Origin"]) == ("groups", True, "b")
    assert first["Source Segment"] == 'one "quoted" text'
    assert judgments.table.columns[-2:] == ["Source Segment", "Segment Origin"]
    assert judgments.pairs == ("en-ko",)
    assert len(comparisons(judgments)) == 6


def test_the_scale_is_as_long_as_told_or_as_the_candidates_are_many(tmp_path: Path) -> None:
    file = tmp_path / "ann.csv"
    file.write_text("segment,x,y\ns1,1,5\n")
    options = ReadOptions(rank_columns=("x", "y"), labels=5)
    assert registry.read([file], format="rank-table", options=options).table["rank"].to_list() == [1, 5]
    with pytest.raises(InputError, match=r"line 2: rank is '5', it must lie between 1 and 2 .*'labels'"):
        read(file, segment=None, columns=("x", "y"))


def test_delimiters_default_segment_and_human(tmp_path: Path) -> None:
    for delimiter in ",;\t":
        file = tmp_path / "ann.txt"
        file.write_text(delimiter.join(["segment", "ht", "mt"]) + "\n" + delimiter.join(["s1", "1", "2"]) + "\n")
        judgments = read(file, segment=None, columns=("ht", "mt"), human="ht")
        assert judgments.table.select("system", "human", "kind").rows() == [
            ("ht", True, "reference"),
            ("mt", False, "system"),
        ]


def test_a_segment_of_several_columns(tmp_path: Path) -> None:
    file = tmp_path / "ann.csv"
    file.write_text("doc,line,a,b\nd1,7,1,2\n")
    assert read(file, segment="doc,line", columns=("a", "b")).table["segment"].to_list() == ["d1/7", "d1/7"]


def test_columns_with_names_of_the_judgment_table_are_kept_apart(tmp_path: Path) -> None:
    file = tmp_path / "ann.csv"
    file.write_text("ID,rank,,a,b\n1,high,x,1,2\n")
    row = read(file, columns=("a", "b")).table.row(0, named=True)
    assert (row["rank"], row["rank (column 2)"], row["column 3"]) == (1, "high", "x")


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        (COLUMNS, ["Ref", "MT_Z", "MT_Y"]),
        (("a", "b"), ["a", "b"]),
        (("a rank", "b rank"), ["a", "b"]),
        (("x_y_rank", "z_y_rank"), ["x", "z"]),
        (("_rating", "a_rating"), ["_rating", "a_rating"]),
        (("parking", "ranking"), ["parking", "ranking"]),
        (("a-", "b-"), ["a-", "b-"]),
    ],
)
def test_candidates_are_called_after_their_columns(columns: tuple[str, ...], names: list[str]) -> None:
    assert candidate_names(columns) == names


@pytest.mark.parametrize(
    ("table", "options", "words"),
    [
        ("ID,a,b\n1,1,2\n", {"columns": ()}, "'rank_columns'; the columns are ID, a, b"),
        ("ID,a,b\n1,1,2\n", {"columns": ("a", "c")}, "'rank_columns' names 'c', but the columns are ID, a, b"),
        ("ID,a,b\n1,1,2\n", {"columns": ("a", "a")}, "names a column twice"),
        ("ID,a,b\n1,1,2\n", {"columns": ("a", "b"), "segment": "Seg"}, "'segment_column' names 'Seg'"),
        ("ID,a,b\n1,1,2\n", {"columns": ("a", "b"), "segment": None}, "with 'segment_column'; the columns are ID"),
        ("ID,a,b\n1,1,3\n", {"columns": ("a", "b")}, "line 2: rank is '3', it must lie between 1 and 2"),
        ("ID,a,b\n1,1\n", {"columns": ("a", "b")}, "line 2: 2 fields where the header has 3"),
        ("ID,a,b\n", {"columns": ("a", "b")}, "holds a header but no rows"),
        ("", {"columns": ("a", "b")}, "is empty"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, table: str, options: dict[str, tuple[str, ...]], words: str) -> None:
    file = tmp_path / "ann.csv"
    file.write_text(table)
    with pytest.raises(InputError, match=words):
        read(file, **options)  # type: ignore[arg-type]


def test_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no files"):
        read(tmp_path)
