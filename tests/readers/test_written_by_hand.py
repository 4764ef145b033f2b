"""Released results that people had in a spreadsheet or a data frame: headers, numbers of rows, other separators."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import polars as pl
import pytest
import xlsxwriter

from adjudge import read
from adjudge.table.errors import InputError
from adjudge.table.judgments import Judgments

NAMES = [
    "username",
    "system",
    "itemId",
    "itemType",
    "srcLang",
    "trgLang",
    "score",
    "docId",
    "isDocScore",
    "start",
    "end",
]
ROWS = [
    ["engdeu01", "A", "1", "TGT", "eng", "deu", "70", "d", "False", "1700000000.1", "1700000009.1"],
    ["engdeu01", "A", "2", "BAD", "eng", "deu", "20", "d", "False", "1700000010.1", "1700000019.1"],
    ["engdeu01", "B", "1", "TGT", "eng", "deu", "60", "d", "False", "1700000020.1", "1700000029.1"],
    ["engdeu01", "B", "1", "TGT", "eng", "deu", "90", "d", "True", "1700000030.1", "1700000039.1"],
]
WANTED = [("A", "1", "system", 70.0), ("A", "2", "degraded", 20.0), ("B", "1", "system", 60.0)]
WHOLE = ("score of a whole document, not of a segment", 1)


def text_of(rows: list[list[str]], separator: str = ",") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator="\n").writerows(rows)
    return text.getvalue()


def outputs(judgments: Judgments) -> list[tuple[object, ...]]:
    return judgments.table.select("system", "segment", "kind", "score").sort("system", "segment").rows()


VARIANTS = {
    "as it is": text_of(ROWS),
    "header": text_of([NAMES, *ROWS]),
    "header in capitals": text_of([[name.upper() for name in NAMES], *ROWS]),
    "numbers of rows": text_of([["", *NAMES], *([str(number), *row] for number, row in enumerate(ROWS))]),
    "scores with a point": text_of([[*row[:6], f"{row[6]}.0", *row[7:]] for row in ROWS]),
    "tabs": text_of(ROWS, "\t"),
    "semicolons": text_of([NAMES, *ROWS], ";"),
}


@pytest.mark.parametrize("variant", list(VARIANTS))
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_results_of_appraise_are_recognised(tmp_path: Path, variant: str, encoding: str) -> None:
    file = tmp_path / "results.csv"
    file.write_text(VARIANTS[variant], encoding=encoding)
    judgments = read(file)
    assert judgments.notes[0] == "the format was recognised as appraise; --format chooses another"
    assert judgments.table["annotator"].unique().to_list() == ["engdeu01"]
    assert outputs(judgments) == WANTED
    assert [(record.reason, record.rows) for record in judgments.set_aside] == [WHOLE]


def test_a_data_frame_of_such_results_means_the_same() -> None:
    judgments = read(pl.DataFrame(ROWS, schema=NAMES, orient="row"))
    assert outputs(judgments) == WANTED
    assert [(record.reason, record.rows) for record in judgments.set_aside] == [WHOLE]
    assert judgments.pairs == ("en-de",)


def test_an_item_type_that_says_something_else_is_kept() -> None:
    frame = pl.DataFrame(ROWS[:3], schema=NAMES, orient="row").with_columns(pl.lit("news").alias("itemType"))
    judgments = read(frame)
    assert judgments.table["kind"].unique().to_list() == ["system"]
    assert judgments.table["itemType"].unique().to_list() == ["news"]


def test_language_pairs_are_understood_as_files_write_them(tmp_path: Path) -> None:
    """Whatever is no pair leaves the languages unknown, and is told."""
    file = tmp_path / "pairs.csv"
    pairs = ["en-de", "en_de", "ende", "en→de", "English to German", "EN-DE", "eng-deu"]
    file.write_text(text_of([["system", "score", "lp"], *(["A", "70", pair] for pair in pairs)]), encoding="utf-8")
    judgments = read(file)
    assert judgments.pairs == ("en-de",)
    assert not any("language pair" in note for note in judgments.notes)
    file.write_text("system,score,lp\nA,70,en-de\nA,60,Europarl\nB,50,Europarl\nB,40,\n", encoding="utf-8")
    judgments = read(file)
    assert judgments.pairs == ("en-de", "und-und")
    note = "2 rows have no language pair in the column of pairs, such as 'Europarl'; write en-cs"
    assert note in judgments.notes
    file.write_text("left,right,winner,lp\nA,B,left,en_de\n", encoding="utf-8")
    assert read(file).pairs == ("en-de",)


def test_error_spans_as_appraise_writes_them(tmp_path: Path) -> None:
    """Those that annotators marked include their last character, those filled in beforehand do not."""
    typed = '[{"start_i": 0, "end_i": 3, "severity": "minor", "error_type": null}, {"start_i": 5, "end_i": 7}]'
    untyped = '[{"start_i": 0, "end_i": 3, "severity": "Major"}, {"start_i": "missing", "end_i": "missing"}]'
    ends = {typed: [4, 7], untyped: [4, None]}
    for spans, expected in ends.items():
        frame = pl.DataFrame({"system": ["A", "B"], "esa_score": [70, 60], "error_spans": [spans, "[]"]})
        table = read(frame).table
        assert [span["end"] for span in table["spans"][0]] == expected
        assert table["spans"][1].to_list() == []


def test_spans_of_no_known_form_do_not_spoil_the_scores_beside_them(tmp_path: Path) -> None:
    frame = pl.DataFrame({"system": ["A", "B"], "score": [70, 60], "error_spans": ["3-7 minor", None]})
    judgments = read(frame)
    assert judgments.table["score"].to_list() == [70.0, 60.0]
    assert any("1 value of column 'spans' cannot be read and is left empty" in note for note in judgments.notes)
    with pytest.raises(InputError, match="a JSON list of spans"):
        read(frame.drop("score"))


def test_systems_of_a_wide_table_are_named_in_any_case(tmp_path: Path) -> None:
    file = tmp_path / "wide.csv"
    file.write_text("ID,Rater,DeepL,Google\n1,ann,70,60\n2,ann,80,50\n", encoding="utf-8")
    judgments = read(file, systems=["deepl", "GOOGLE"])
    assert judgments.systems == ("DeepL", "Google")
    assert {use.column: use.use for use in judgments.columns} == dict.fromkeys(
        ["ID", "Rater", "DeepL", "Google"], "used"
    )
    assert "DeepL" not in judgments.table.columns
    with pytest.raises(InputError, match="names 'Bing', but the columns are ID, Rater, DeepL, Google"):
        read(file, systems=["DeepL", "Bing"])


def test_protocols_and_kinds_may_be_written_in_capitals(tmp_path: Path) -> None:
    file = tmp_path / "mqm.csv"
    text = "MT Engine,Overall Score,Evaluator Name,protocol,kind\nA,-5,ann,MQM,System\nB,-1,ann, Mqm,BAD\n"
    file.write_text(text, encoding="utf-8")
    judgments = read(file)
    assert judgments.table.select("system", "score", "annotator", "protocol", "kind").rows() == [
        ("A", -5.0, "ann", "mqm", "system"),
        ("B", -1.0, "ann", "mqm", "degraded"),
    ]


COMPARISONS = {
    "winners and losers": "winner,loser,judge,item\nA,B,u,1\nB,A,u,2\nA,B,u,3\n",
    "marks": "model_a,model_b,judge,item,winner_model_a,winner_model_b,winner_tie\nA,B,u,1,1,0,0\nB,A,u,2,1,0,0\n"
    "B,A,u,3,0,1,0\nA,B,u,4,0,0,1\n",
    "scores": "model_a,model_b,judge,item,score_a,score_b\nA,B,u,1,70,60.5\nB,A,u,2,9,8\nB,A,u,3,9,10\nA,B,u,4,7,7.0\n"
    "A,B,u,5,,7\n",
}


@pytest.mark.parametrize("way", list(COMPARISONS))
def test_who_won_may_be_said_in_several_columns(tmp_path: Path, way: str) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text(COMPARISONS[way], encoding="utf-8")
    for judgments in (read(file), read(file, format="pairwise-table"), read(pl.read_csv(file))):
        ranks = {(row["segment"], row["system"]): row["rank"] for row in judgments.table.iter_rows(named=True)}
        won = {("1", "A"): 1, ("1", "B"): 2, ("2", "A"): 2, ("2", "B"): 1, ("3", "A"): 1, ("3", "B"): 2}
        tied = {} if way == "winners and losers" else {("4", "A"): 1, ("4", "B"): 1}
        blank = {("5", "A"): None, ("5", "B"): None} if way == "scores" else {}
        assert ranks == {**won, **tied, **blank}
        assert any("who won" in note or "the marks in winner_model_a" in note for note in judgments.notes)


def test_winners_and_losers_tell_nothing_of_sides(tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text("winner,loser\n" + "A,B\n" * 40, encoding="utf-8")
    assert not any("one order nearly always" in note for note in read(file).notes)


def test_winners_written_as_missing_are_no_answer(tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text("left,right,winner\nA,B,A\nA,B,NA\nA,B,null\nA,B,-\n", encoding="utf-8")
    assert read(file).table["rank"].null_count() == 6


def test_columns_that_may_be_the_winner_are_named(tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    rows = "".join(f"A,B,text {number},{'pq'[number % 2]}\n" for number in range(12))
    file.write_text(f"left,right,prompt,antwort\n{rows}", encoding="utf-8")
    with pytest.raises(InputError, match=r"'columns' winner=antwort 'winner' MEANING=p,MEANING=q \(left, right or tie"):
        read(file)


def test_the_only_column_of_sides_says_who_won(tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    rows = "".join(f"A,B,text {number},{'AB'[number % 2]}\n" for number in range(12))
    file.write_text(f"left,right,prompt,antwort\n{rows}", encoding="utf-8")
    assert read(file).table["rank"].to_list() == [1, 2, 2, 1] * 6


def test_all_columns_that_may_be_the_score_are_named(tmp_path: Path) -> None:
    """One of them was suggested, which of columns of annotators would have lost all the others."""
    file = tmp_path / "wide.csv"
    file.write_text("system,item,ann,bob\nA,1,70,60\nB,1,50,60\n", encoding="utf-8")
    with pytest.raises(
        InputError, match=r"2 columns of numbers \(ann, bob\); if each is an annotator, say 'raters' ann"
    ):
        read(file)
    file.write_text("system,Note (1 bis 5)\nA,4\nB,5\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"as 'columns' 'score=Note \(1 bis 5\)' \(with 'lower"):
        read(file)


@pytest.mark.parametrize("names", [("Score", "Score"), ("Rating", "Rating"), ("score", "score")])
def test_a_column_of_answers_that_stands_twice_is_refused(tmp_path: Path, names: tuple[str, str]) -> None:
    table = [["System", *names], ["A", "70", "60"], ["B", "60", "50"]]
    file, sheet = tmp_path / "twice.csv", tmp_path / "twice.xlsx"
    file.write_text(text_of(table), encoding="utf-8")
    with xlsxwriter.Workbook(sheet) as book:
        page = book.add_worksheet()
        for number, row in enumerate(table):
            page.write_row(number, 0, row)
    for path in (file, sheet):
        with pytest.raises(InputError, match=f"has the column '{names[0]}' twice; keep one"):
            read(path)


def test_comments_may_stand_twice(tmp_path: Path) -> None:
    file = tmp_path / "twice.csv"
    file.write_text("system,score,comment,comment\nA,70,x,y\nB,60,,\n", encoding="utf-8")
    assert read(file).table["text"].to_list() == ["x", None]


def test_a_unit_in_brackets_does_not_count_unless_several_columns_have_one(tmp_path: Path) -> None:
    file = tmp_path / "units.csv"
    file.write_text("modelName,Score (0-100),Duration [s]\nA,70,3\nB,60,4\n", encoding="utf-8")
    assert read(file).table.select("system", "score", "active_seconds").rows() == [("A", 70.0, 3.0), ("B", 60.0, 4.0)]
    file.write_text("model,score (first),score (second)\nA,70,3\nB,60,4\n", encoding="utf-8")
    with pytest.raises(InputError, match="has no column 'rank' or 'score'"):
        read(file)
