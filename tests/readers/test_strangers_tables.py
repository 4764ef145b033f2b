"""Tables as people have them: a title over a sheet, decimal commas, UTF-16, fields inside fields, and good guesses."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
import xlsxwriter

import adjudge
from adjudge import read
from adjudge.readers.tables import load_table
from adjudge.table.errors import AdjudgeError, InputError


def write(tmp_path: Path, text: str, *, name: str = "table.csv", encoding: str = "utf-8") -> Path:
    file = tmp_path / name
    file.write_text(text, encoding=encoding)
    return file


def test_tables_without_campaigns_are_one_evaluation(tmp_path: Path) -> None:
    """As the first rule of docs/formats.md says."""
    scores = [tmp_path / name for name in ("spring.csv", "autumn.csv")]
    pairs = [tmp_path / name for name in ("first.csv", "second.csv")]
    for file in scores:
        file.write_text(f"system,segment,annotator,score\nA,{file.stem}1,u,70\nB,{file.stem}1,u,60\n")
    for file in pairs:
        file.write_text(f"left,right,winner,segment,annotator\nA,B,left,{file.stem}1,u\n")
    assert read(scores).table["campaign"].unique().to_list() == [None]
    assert len(read(scores).by_pair()) == 1
    assert read(pairs).table["campaign"].unique().to_list() == ["first"]
    assert len(read(pairs).by_pair()) == 1
    assert len(read(pairs)) == 4


def test_a_title_above_the_header_of_a_sheet_is_left_out(tmp_path: Path) -> None:
    workbook = io.BytesIO()
    with xlsxwriter.Workbook(workbook) as book:
        sheet = book.add_worksheet()
        sheet.merge_range(0, 0, 0, 2, "Our campaign")
        for row, values in enumerate([("Model", "Rater", "Rating"), ("x", "ann", 7), ("y", "ann", "much")], start=2):
            sheet.write_row(row, 0, values)
    file = tmp_path / "ratings.xlsx"
    file.write_bytes(workbook.getvalue())
    judgments = read(file, bad_rows=0.5)
    assert judgments.table.select("system", "annotator", "score").rows() == [("x", "ann", 7.0)]
    assert any("2 rows above the header" in note for note in judgments.notes)
    assert any("line 5" in note for note in judgments.notes), "rows are numbered as the spreadsheet shows them"


def workbook(tmp_path: Path, *sheets: Sequence[tuple[object, ...]], merged: str = "") -> Path:
    """A workbook whose sheets hold these rows; `merged` names cells of the last sheet, as A2:A4."""
    file = tmp_path / "ratings.xlsx"
    with xlsxwriter.Workbook(file) as book:
        for rows in sheets:
            sheet = book.add_worksheet()
            for row, values in enumerate(rows):
                sheet.write_row(row, 0, values)
        if merged:
            sheet.merge_range(merged, sheets[-1][int(merged[1]) - 1][ord(merged[0]) - ord("A")])
    return file


HEADER = ("Annotator", "Segment", "System", "Score")


def test_the_sheet_with_the_columns_of_judgments_is_read(tmp_path: Path) -> None:
    about = [("All about our ratings", "and whom to ask"), ("Me", "me")]
    judgments = read(workbook(tmp_path, about, [HEADER, ("ann", 1, "x", 7), ("ann", 1, "y", 8)], [("a", "b")]))
    assert judgments.table["score"].to_list() == [7.0, 8.0]
    assert "only the sheet 'Sheet2' of ratings.xlsx is read; not Sheet1, Sheet3" in judgments.notes


def test_headings_over_several_columns_are_no_header(tmp_path: Path) -> None:
    rows = [("who", "", "what", ""), HEADER, ("ann", 1, "x", 7), ("ann", 1, "y", "much")]
    judgments = read(workbook(tmp_path, rows), bad_rows=0.5)
    assert judgments.table["score"].to_list() == [7.0]
    assert any("line 4" in note for note in judgments.notes)


def test_merged_cells_hold_for_all_their_rows(tmp_path: Path) -> None:
    """Also where the table does not begin in the corner of the sheet, and cells below stay empty as they are."""
    people = ["ann", None, None, "bob", None]
    rows = [("", *HEADER), *(("", person, 1, name, 7) for person, name in zip(people, "xyzxy", strict=True))]
    judgments = read(workbook(tmp_path, [(), (), *rows], merged="B4:B6"))
    assert judgments.table["annotator"].to_list() == ["ann", "ann", "ann", "bob", None]
    assert "2 merged cells of ratings.xlsx filled with the value at their top" in judgments.notes


def test_rows_of_a_sheet_are_numbered_from_its_top(tmp_path: Path) -> None:
    rows = [(), (), (), HEADER, ("ann", 1, "x", 7), ("ann", 1, "y", "much")]
    with pytest.raises(InputError, match="line 6: column 'score' holds 'much'"):
        read(workbook(tmp_path, rows))


def test_columns_of_a_sheet_without_a_name_are_called_after_their_place(tmp_path: Path) -> None:
    judgments = read(workbook(tmp_path, [(*HEADER, "", "note"), ("ann", 1, "x", "7,5", "?", "a"), ("ann", 1, "y", 8)]))
    assert judgments.table.select("score", "column 5", "note").rows() == [(7.5, "?", "a"), (8.0, None, None)]


@pytest.mark.parametrize("nothing", ["-", "--", "–", "NA", "n/a", "#N/A", ".", " - ", "None"])
def test_what_people_write_for_no_score_is_no_score(nothing: str, tmp_path: Path) -> None:
    judgments = read(write(tmp_path, f"system,segment,score\nx,1,7\ny,1,{nothing}\n"))
    assert judgments.table["score"].to_list() == [7.0, None]


def test_names_with_commas_can_be_given_as_the_message_has_them(tmp_path: Path) -> None:
    rows = [("item", "rater", "Alpha", "Gamma, Inc."), (1, "ann", 60, 70), (2, "ann", 65, 80)]
    file = workbook(tmp_path, rows)
    with pytest.raises(InputError, match=r"'systems' 'Alpha,\"Gamma, Inc\.\"';"):
        read(file)
    assert read(file, systems='Alpha,"Gamma, Inc."').systems == ("Alpha", "Gamma, Inc.")


def test_names_that_differ_in_blanks_or_case_are_told(tmp_path: Path) -> None:
    rows = [
        "system,annotator,segment,score",
        "A,ann,1,7",
        "A ,ann,2,8",
        "a, ann,1,7",
        "B,Ann,1,9",
        "B b,ann,3,9",
        "Bb,ann,3,9",
    ]
    judgments = read(write(tmp_path, "\n".join(rows)))
    assert len(judgments.systems) == 6
    assert [note.split(";")[0] for note in judgments.notes if "only and" in note] == [
        "systems 'A', 'A ' and 'a' differ in blanks or case only and are ranked apart",
        "annotators ' ann' and 'ann' differ in blanks only and count as different people",
    ]


@pytest.mark.parametrize("separator", [";", "\t", "|", ","])
def test_a_line_that_names_the_separator_is_no_header(separator: str, tmp_path: Path) -> None:
    rows = [f"sep={separator}", *(separator.join(row) for row in (("system", "score"), ("x", "7"), ("y", "much")))]
    file = write(tmp_path, "\r\n".join(rows), encoding="utf-8-sig")
    assert read(file, bad_rows=0.5).table["score"].to_list() == [7.0]
    with pytest.raises(InputError, match="line 4: column 'score' holds 'much'"):
        read(file)


@pytest.mark.parametrize("separator", [";", "\t", "|", ","])
@pytest.mark.parametrize(
    "comments", [(), ("# made by our tool",), ("#", "# by us, and; others | too, all, of us", "#x", "")]
)
def test_comments_above_the_header_are_left_out(separator: str, comments: tuple[str, ...], tmp_path: Path) -> None:
    table = [("system", "annotator", "score"), ("x", "# ann", "7"), ("y", "ann", "much")]
    rows = [*comments, *(separator.join(row) for row in table)]
    file = write(tmp_path, "\r\n".join(rows), encoding="utf-8-sig")
    assert read(file, bad_rows=0.5).table.select("system", "annotator", "score").rows() == [("x", "# ann", 7.0)]
    with pytest.raises(InputError, match=f"line {len(comments) + 3}: column 'score' holds 'much'"):
        read(file)


def test_blanks_around_bars_are_no_part_of_names(tmp_path: Path) -> None:
    file = write(tmp_path, "system | annotator | score\nx | ann | 7\ny | ann | 8\n")
    assert read(file).table.select("system", "annotator", "score").rows() == [("x", "ann", 7.0), ("y", "ann", 8.0)]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("#system,score\nx\ny,8\n", ["#system", "score"]),
        ("# system\tscore\ttext\nx\t7\tnow, then, here, there\n", ["# system", "score", "text"]),
        ("system|x,score\na,7\n", ["system|x", "score"]),
        ("# system\n# none\n", ["# system"]),
        ("#system,score\n#1,7\n", ["#system", "score"]),
    ],
)
def test_headers_that_begin_with_a_hash_or_hold_a_bar_stay(text: str, columns: list[str], tmp_path: Path) -> None:
    assert load_table(write(tmp_path, text)).frame.columns == columns


def test_another_scale_needs_another_protocol(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"score is -4, .*or name the protocol of another scale"):
        read(write(tmp_path, "system,segment,score\nx,1,-4\ny,1,-2\n"))
    judgments = read(write(tmp_path, "system,segment,score,protocol\nx,1,-4,mqm\ny,1,-2,mqm\n"))
    assert judgments.table["score"].to_list() == [-4.0, -2.0]


@pytest.mark.parametrize("separator", [";", "\t"])
def test_a_decimal_comma_is_a_point_where_commas_separate_nothing(separator: str, tmp_path: Path) -> None:
    rows = [("SYSTEM", "SCORE", "NOTE"), ("x", "70,5", "a, b"), ("y", "60", "1,5 of 2"), ("z", "-0,25", "c")]
    judgments = read(write(tmp_path, "\n".join(separator.join(row) for row in rows)), bad_rows=0.5)
    assert judgments.table.select("system", "score", "NOTE").rows()[:2] == [
        ("x", 70.5, "a, b"),
        ("y", 60.0, "1,5 of 2"),
    ]
    assert any("commas in SCORE are decimal points" in note for note in judgments.notes)


def test_decimal_commas_in_quotes_are_points_in_scores_alone(tmp_path: Path) -> None:
    judgments = read(write(tmp_path, 'system,score,errors\nx,"72,5","1,2"\ny,60,"3,4"\nx,"61,125",1\n'))
    assert judgments.table["score"].to_list() == [72.5, 60.0, 61.125]
    assert judgments.table["errors"].to_list() == ["1,2", "3,4", "1"]
    assert any("commas in score are decimal points" in note for note in judgments.notes)


@pytest.mark.parametrize("cell", ["1,234", "1,234.5"])
def test_what_may_be_a_thousand_is_refused_with_what_to_do(cell: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"line 2: column 'score' holds '{cell}'.*write it with a point and without"):
        read(write(tmp_path, f'system,score\nx,"{cell}"\ny,60\n'))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_text_with_a_byte_order_mark_is_read(encoding: str, tmp_path: Path) -> None:
    file = write(tmp_path, "model\trating\nKočka\t7\ny\t9\n", encoding=encoding)
    assert read(file).systems == ("Kočka", "y")


def test_a_file_that_only_begins_as_utf_16_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "half.tsv"
    file.write_bytes("model\trating\n".encode("utf-16") + b"x")
    with pytest.raises(InputError, match="begins as UTF-16 and is not"):
        read(file)


def test_fields_inside_fields_are_known_by_their_last_names(tmp_path: Path) -> None:
    rows = [{"meta": {"system": {"name": name}, "lp": "en-de"}, "judgment": {"score": 7}} for name in "xy"]
    judgments = read(write(tmp_path, "\n".join(map(json.dumps, rows)), name="a.jsonl"))
    assert judgments.systems == ("x", "y")
    assert judgments.pairs == ("en-de",)


# Everybody scores every system: nothing but the header tells people from systems.
CROSSED = "品甲,品乙,译文,值\n" + "".join(
    f"{who},{system},{number} {'译文' * 30},{70 + number}\n"
    for who in ("甲", "乙")
    for system in "xyz"
    for number in range(2)
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ID,rater,A1,B2\n1,ann,70,80\n2,ann,60,90\n", "if each is a system, say 'systems' A1,B2"),
        ("Logiciel,Résultat\nx,7\ny,8\nx,9\ny,9\n", "'columns' system=Logiciel,score=Résultat"),
        ("system,Satz,Zahl\nx,1,70\ny,1,80\n", "'columns' score=Zahl"),
        (
            CROSSED,
            "; 品甲 (2 values, such as 甲, 乙) or 品乙 (3 values, such as x, y, z) may be it; say which it is",
        ),
        (CROSSED, "'columns' system=品乙,annotator=品甲,score=值"),
        (CROSSED.replace("品甲", "annotator"), "'columns' system=品乙,score=值"),
    ],
)
def test_a_refusal_names_the_columns_that_look_right(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as fault:
        read(write(tmp_path, text))
    assert words in str(fault.value)


def test_names_joined_by_commas_are_a_list_in_python_too(tmp_path: Path) -> None:
    file = write(tmp_path, "id,x,y\n1,70,80\n2,60,90\n")
    assert read(file, systems="x, y").table.equals(read(file, systems=["x", "y"]).table)
    assert read(write(tmp_path, "a1,b1\nx,7\ny,8\n"), columns="system=a1,score=b1").systems == ("x", "y")


def test_what_was_simulated_prints_short() -> None:
    simulated = adjudge.simulate(seed=1)
    assert str(simulated) == repr(simulated)
    assert len(str(simulated)) < 120


def test_campaigns_are_compared_one_after_the_other_too(tmp_path: Path) -> None:
    rows = [f"{system},{i},{10 * i + 7 * number}" for i in range(6) for number, system in enumerate("xyz")]
    files = [write(tmp_path, "system,segment,score\n" + "\n".join(rows) + "\n", name=f"{name}.csv") for name in "ab"]
    apart, listed = adjudge.compare(*files, resamples=10), adjudge.compare(files, resamples=10)
    assert apart.to_dict() == listed.to_dict()


RATED_BY_COLUMN = "segment,system,anna,ben\n1,A,80,70\n1,B,60,\n2,A,90,85\n2,B,70,60\n"


def test_a_column_per_annotator_is_the_same_as_a_row_for_each_of_them(tmp_path: Path) -> None:
    rows = [line.split(",") for line in RATED_BY_COLUMN.splitlines()[1:]]
    long = [f"{row[0]},{row[1]},{name},{row[place]}" for place, name in ((2, "anna"), (3, "ben")) for row in rows]
    expected = read(write(tmp_path, "\n".join(["segment,system,annotator,score", *long])))
    for name in ("anna,ben", ["Anna", "Ben"]):
        wide = read(write(tmp_path, RATED_BY_COLUMN), raters=name)
        assert wide.table.drop("campaign").equals(expected.table.drop("campaign"))
        note = "2 columns are taken for the scores of one annotator each; --wide ranks says otherwise"
        assert note in wide.notes
        assert {use.column: use.taken_for for use in wide.columns} == {"anna": "score by anna", "ben": "score by ben"}


def test_columns_of_annotators_hold_ranks_or_winners_too(tmp_path: Path) -> None:
    table = "segment,screen,system,r1,r2\n1,a,A,1,2\n1,a,B,2,1\n"
    ranks = read(write(tmp_path, table), raters="r1,r2", wide="ranks").table
    assert ranks.select("annotator", "system", "rank").rows() == [
        ("r1", "A", 1.0), ("r1", "B", 2.0), ("r2", "A", 2.0), ("r2", "B", 1.0),
    ]  # fmt: skip
    pairs = read(write(tmp_path, "segment,left,right,r1,r2\n1,A,B,left,tie\n"), raters="r1,r2").table
    assert set(pairs["annotator"]) == {"r1", "r2"}
    assert pairs.filter(annotator="r1").sort("rank")["system"].to_list() == ["A", "B"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"raters": "anna,zoe"}, "'raters' names 'zoe'"),
        ({"raters": "anna"}, "two or more different columns, each of one annotator"),
        ({"raters": "anna,ben", "systems": "A,B"}, "cannot both be given"),
        ({"raters": "anna,ben", "wide": "stars"}, "stars"),
        ({"raters": "anna,ben", "columns": "score=anna"}, "'columns' takes 'anna' for 'score', but the columns are"),
        ({"raters": "anna,ben", "columns": "score=segment"}, "which column is 'score', but so does 'raters'"),
        ({"raters": "anna,ben", "columns": "annotator=segment"}, "which column is 'annotator', but so does 'raters'"),
        ({"raters": "anna,system"}, "has no column 'system', it has segment, ben"),
    ],
)
def test_columns_of_annotators_that_cannot_be(tmp_path: Path, options: dict[str, Any], words: str) -> None:
    with pytest.raises(AdjudgeError, match=words):
        read(write(tmp_path, RATED_BY_COLUMN), **options)


def test_a_bad_cell_of_an_annotator_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 3: column 'ben' holds 'good'"):
        read(write(tmp_path, RATED_BY_COLUMN.replace("60,\n", "60,good\n")), raters="anna,ben")
    with pytest.raises(InputError, match="line 3: score in column 'ben' is 600"):
        read(write(tmp_path, RATED_BY_COLUMN.replace("60,\n", "60,600\n")), raters="anna,ben")
    with pytest.raises(InputError, match="line 2: has winner 'Q' in column 'ben'"):
        read(write(tmp_path, "segment,left,right,anna,ben\n1,A,B,left,Q\n"), raters="anna,ben")
    with pytest.raises(InputError, match="line 3: column 'B' holds 'good'"):
        read(write(tmp_path, "segment,A,B\n1,60,70\n2,65,good\n"), systems="A,B")


def test_a_column_of_an_annotator_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has the column 'anna' twice"):
        read(write(tmp_path, "segment,system,anna,anna,ben\n1,A,80,70,60\n1,B,60,50,40\n"), raters="anna,ben")


def test_pairs_by_annotator_in_columns_that_the_user_names(tmp_path: Path) -> None:
    table = "segment,one,other,r1,r2\n1,A,B,left,tie\n"
    pairs = read(write(tmp_path, table), raters="r1,r2", columns="left=one,right=other")
    assert set(pairs.table["protocol"]) == {"pairwise"}
    assert [use.taken_for for use in pairs.columns] == ["segment", "left", "right", "winner by r1", "winner by r2"]


def test_annotators_in_columns_of_data_frames() -> None:
    """Missing numbers are none, columns may be called by numbers, and rows are rows."""
    items: dict[Any, list[Any]] = {"segment": [1, 1], "system": ["A", "B"]}
    polars = read(pl.DataFrame({**items, "x": [60.0, float("nan")], "y": [50, 40]}), raters=["x", "y"]).table
    assert polars["score"].to_list() == [60.0, None, 50.0, 40.0]
    numbered = {**items, 1: [60.0, None], 2: [50, 40]}
    pandas = read(pd.DataFrame(numbered), raters=[1, 2]).table
    assert pandas.select("annotator", "score").rows() == [("1", 60.0), ("1", None), ("2", 50.0), ("2", 40.0)]
    with pytest.raises(InputError, match="row 2: column 'y' holds 'good'"):
        read(pl.DataFrame({**items, "x": [1, 2], "y": ["3", "good"]}), raters=["x", "y"])


def sheets(folder: Path, named: dict[str, list[tuple[object, ...]]]) -> Path:
    file = folder / "people.xlsx"
    with xlsxwriter.Workbook(str(file)) as book:
        for name, rows in named.items():
            sheet = book.add_worksheet(name)
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, row)
    return file


PEOPLE: dict[str, list[tuple[object, ...]]] = {
    "anna": [("Ratings of anna",), ("segment", "system", "score"), (1, "A", 80), (1, "B", 60)],
    "read me": [("How to judge",), ("Read both texts",)],
    "ben": [("segment", "system", "score"), (1, "A", 70), (1, "B", "65,5")],
}


def test_a_sheet_per_annotator(tmp_path: Path) -> None:
    file = sheets(tmp_path, PEOPLE)
    every = read(file, sheets="all")
    assert every.table.select("annotator", "system", "score").rows() == [
        ("anna", "A", 80.0), ("anna", "B", 60.0), ("ben", "A", 70.0), ("ben", "B", 65.5),
    ]  # fmt: skip
    assert any("taken for an annotator" in note for note in every.notes)
    assert any("not read me" in note for note in every.notes)
    assert read(file, sheets=["ben", "anna"]).table.equals(every.table)
    assert set(read(file, sheets="ben").table["annotator"]) == {"ben"}
    unaided = read(file)
    assert unaided.table.equals(every.table), "sheets with the same header are one table"
    assert any("not read me" in note for note in unaided.notes)


def test_sheets_keep_the_annotators_that_a_column_names(tmp_path: Path) -> None:
    rows: list[tuple[object, ...]] = [(*HEADER,), ("zoe", 1, "A", 80), ("zoe", 1, "B", 60)]
    named = {"x": rows, "y": [*rows, ("zoe", 2, "A", 50)]}
    assert set(read(sheets(tmp_path, named), sheets="x").table["annotator"]) == {"zoe"}


def test_columns_of_annotators_in_several_sheets(tmp_path: Path) -> None:
    """Then sheets are no annotators; a row that names their columns is the header, below any title."""
    rows: list[tuple[object, ...]] = [("Ratings",), ("segment", "system", "anna", "ben"), (1, "A", 80, 70)]
    file = sheets(tmp_path, {"news": rows, "read me": PEOPLE["read me"], "talks": [rows[1], (2, "A", 60, 50)]})
    for chosen in ("all", "News,talks"):
        table = read(file, sheets=chosen, raters="anna,ben").table
        assert table["annotator"].to_list() == ["anna", "ben", "anna", "ben"]


def test_all_sheets_without_those_that_nobody_has_filled(tmp_path: Path) -> None:
    file = sheets(tmp_path, {**PEOPLE, "zoe": [("segment", "system", "score")]})
    every = read(file, sheets="all")
    assert set(every.table["annotator"]) == {"anna", "ben"}
    assert "no rows below the header in people.xlsx, sheet zoe" in every.notes
    assert "only 3 sheets of people.xlsx are read; not read me" in every.notes
    with pytest.raises(InputError, match="sheet 'zoe': holds a header but no judgments"):
        read(file, sheets="anna,zoe")


def test_a_sheet_with_a_column_of_annotators_that_the_user_names(tmp_path: Path) -> None:
    rows: list[tuple[object, ...]] = [("Wer", "segment", "system", "score"), ("zoe", 1, "A", 80), ("zoe", 1, "B", 60)]
    judgments = read(sheets(tmp_path, {"x": rows, "y": rows[:2]}), sheets="all", columns="annotator=Wer")
    assert set(judgments.table["annotator"]) == {"zoe"}
    assert not any("taken for an annotator" in note for note in judgments.notes)


def test_the_name_of_a_sheet_is_not_told_as_a_column(tmp_path: Path) -> None:
    rows: list[tuple[object, ...]] = [("item", "system", "score"), (1, "A", 80), (1, "B", 60)]
    columns = read(sheets(tmp_path, {"anna": rows, "ben": rows}), sheets="all").columns
    assert [use.column for use in columns] == ["item", "system", "score"] * 2


def test_sheets_that_cannot_be_read(tmp_path: Path) -> None:
    file = sheets(tmp_path, PEOPLE)
    with pytest.raises(InputError, match="has no sheet 'zoe', it has anna, read me, ben"):
        read(file, sheets="zoe")
    with pytest.raises(InputError, match="no sheet with the columns of judgments"):
        read(sheets(tmp_path, {"read me": PEOPLE["read me"]}), sheets="all")
    with pytest.raises(InputError, match="is no Excel workbook"):
        read(write(tmp_path, RATED_BY_COLUMN), sheets="all")
    bad = {**PEOPLE, "ben": [*PEOPLE["ben"][:2], (1, "B", 60), (2, "A", "good")]}
    with pytest.raises(InputError, match=r"people.xlsx, sheet 'ben', line 4: column 'score' holds 'good'"):
        read(sheets(tmp_path, bad), sheets="all")
