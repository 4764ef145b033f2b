"""Tables of any shape: columns under other names, wide tables, Excel, JSON, Label Studio, comparisons."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import xlsxwriter

from adjudge import read
from adjudge.readers.columns import PAIR_COLUMNS, SYNONYMS
from adjudge.table.errors import InputError, UsageError
from adjudge.table.judgments import SCHEMA, Judgments
from tests.conftest import ROOT

SCORES = [
    {"Model": "a", "Rating": 70, "user": "u1", "item": 1, "note": "x"},
    {"Model": "b", "Rating": 60.5, "user": "u1", "item": 1, "note": None},
    {"Model": "refA", "Rating": 100, "user": "u2", "item": 2, "note": "y"},
]


def written(tmp_path: Path, name: str, rows: list[dict[str, Any]]) -> Path:
    file = tmp_path / name
    if name.endswith(".csv"):
        pl.DataFrame(rows).write_csv(file)
    elif name.endswith(".xlsx"):
        with xlsxwriter.Workbook(file) as book:
            sheet = book.add_worksheet()
            for column, title in enumerate(rows[0]):
                for line, value in enumerate([title, *(row[title] for row in rows)]):
                    sheet.write(line, column, value)
    elif name.endswith(".jsonl"):
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    elif name.endswith(".json"):
        file.write_text(json.dumps({"version": 1, "data": rows}), encoding="utf-8")
    else:
        pl.DataFrame(rows).write_parquet(file)
    return file


def answers(judgments: Judgments) -> list[tuple[Any, ...]]:
    return judgments.table.select("system", "score", "annotator", "segment", "note", "human").rows()


@pytest.mark.parametrize("name", ["a.csv", "a.xlsx", "a.json", "a.jsonl", "a.parquet"])
def test_the_same_table_in_every_kind_of_file(tmp_path: Path, name: str) -> None:
    judgments = read(written(tmp_path, name, SCORES))
    assert answers(judgments) == [
        ("a", 70.0, "u1", "1", "x", False),
        ("b", 60.5, "u1", "1", None, False),
        ("refA", 100.0, "u2", "2", "y", True),
    ]
    taken = {use.column: use.taken_for or use.use for use in judgments.columns}
    assert taken == {"Model": "system", "Rating": "score", "user": "annotator", "item": "segment", "note": "kept"}


def test_what_the_user_says_comes_before_names(tmp_path: Path) -> None:
    rows = [{"system": "linux", "engine": "a", "score": 1, "overall quality": 80, "annotator": "x"}]
    file = written(tmp_path, "a.csv", rows)
    judgments = read(file, columns={"system": "Engine", "score": "overall_quality"})
    assert judgments.table.select("system", "score").row(0) == ("a", 80.0)
    assert judgments.table["system (column)"].to_list() == ["linux"]


def test_fields_inside_fields_have_dotted_names(tmp_path: Path) -> None:
    rows = [{"meta": {"model": {"name": "a"}}, "answer": {"stars": 4}, "tags": ["x", "y"]}]
    judgments = read(written(tmp_path, "a.json", rows), columns={"system": "meta.model.name", "score": "answer.stars"})
    assert judgments.table.select("system", "score", "tags").row(0) == ("a", 4.0, '["x", "y"]')


def test_a_column_of_pairs_is_taken_apart(tmp_path: Path) -> None:
    rows = [{"system": "a", "score": 1, "lp": "en-de"}, {"system": "a", "score": 2, "lp": "cs-en"}]
    assert read(written(tmp_path, "a.csv", rows)).pairs == ("en-de", "cs-en")


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (["system"], "NAME=COLUMN is needed"),
        (["sistem=Model"], "did you mean 'system'"),
        (["system=Model", "system=Rating"], "twice which column is 'system'"),
        (["system=Modell"], "the columns are Model, Rating, user, item, note"),
    ],
)
def test_wrong_column_maps_are_explained(tmp_path: Path, columns: list[str], words: str) -> None:
    with pytest.raises((UsageError, InputError), match=words):
        read(written(tmp_path, "a.csv", SCORES), columns=columns)


def test_a_missing_system_names_a_column_that_may_be_it(tmp_path: Path) -> None:
    rows = [{"id": i, "who knows": name, "score": i} for i, name in enumerate("abab")]
    with pytest.raises(InputError, match="'columns' 'system=who knows'"):
        read(written(tmp_path, "a.csv", rows))


@pytest.mark.parametrize(
    ("cells", "column", "protocol"),
    [([(1, 2, 3), (2, 1, 2), (1, 1, 1)], "rank", "ranking"), ([(70, 80, 90), (5, 50, 1)], "score", "da")],
)
def test_wide_tables_of_ranks_and_scores(
    tmp_path: Path, cells: list[tuple[int, ...]], column: str, protocol: str
) -> None:
    rows = [{"id": f"s{i}", "rater": "r", "MT A": a, "MT B": b, "HT": c} for i, (a, b, c) in enumerate(cells)]
    judgments = read(written(tmp_path, "wide.csv", rows), systems=["MT A", "mt_b", "HT"], human="HT")
    assert judgments.table[column].to_list() == [value for row in cells for value in row]
    assert judgments.table["segment"].to_list() == [row["id"] for row in rows for _ in range(3)]
    assert judgments.protocols == (protocol,)
    assert judgments.table.filter("human")["system"].unique().to_list() == ["HT"]
    assert any(f"taken for {column}s" in note for note in judgments.notes)


def test_five_stars_of_five_systems_can_be_said_to_be_scores(tmp_path: Path) -> None:
    rows = [{"item": i, "a": 1, "b": 2} for i in range(5)]
    file = written(tmp_path, "wide.csv", rows)
    assert read(file, systems=["a", "b"]).protocols == ("ranking",)
    assert read(file, systems=["a", "b"], wide="scores").protocols == ("da",)
    with pytest.raises(UsageError, match="choose one of scores, ranks"):
        read(file, systems=["a", "b"], wide="stars")


def test_battles_of_an_arena_keep_both_bad_apart(tmp_path: Path) -> None:
    rows = [
        {"model_a": "x", "model_b": "y", "winner": winner, "judge": "j", "question_id": i, "tstamp": 1682351591.13}
        for i, winner in enumerate(["model_a", "model_b", "tie", "tie (bothbad)", "both good", ""])
    ]
    table = read(written(tmp_path, "battles.json", rows)).table
    assert table["rank"].to_list() == [1, 2, 2, 1, 1, 1, 1, 1, 1, 1, None, None]
    assert table["both"].to_list()[4:10] == [None, None, "bad", "bad", "good", "good"]
    assert table["annotator"].unique().to_list() == ["j"]
    assert str(table["ended"][0]) == "2023-04-24 15:53:11.130000+00:00"


def test_values_of_winners_can_be_said(tmp_path: Path) -> None:
    rows = [{"sysA": "x", "sysB": "y", "choice": value} for value in (1, 2, 0, 9)]
    file = written(tmp_path, "pairs.xlsx", rows)
    values = {"left": 1, "right": 2, "tie": 0, "both-bad": 9}
    table = read(file, winner=values).table
    assert table["rank"].to_list() == [1, 2, 2, 1, 1, 1, 1, 1]
    with pytest.raises(InputError, match=r"line 2: has winner '1'.*'winner' MEANING=0,MEANING=1,MEANING=2"):
        read(file)
    words = written(tmp_path, "words.xlsx", [{"sysA": "x", "sysB": "y", "choice": "x is better"}])
    with pytest.raises(InputError, match=r"as 'winner' 'MEANING=x is better'$"):
        read(words)
    with pytest.raises(UsageError, match="choose one of left, right, tie, both-good, both-bad, none"):
        read(file, winner={"centre": 1})


EXPORT = [
    {
        "id": 7,
        "data": {"source": "A cat.", "system": "a"},
        "annotations": [
            {
                "completed_by": {"id": 1, "email": "ann@example.org"},
                "created_at": "2024-05-01T12:00:00Z",
                "lead_time": 12.5,
                "result": [{"from_name": "rating", "to_name": "text", "type": "rating", "value": {"rating": 4}}],
            },
            {"completed_by": 2, "was_cancelled": True, "result": []},
            {"completed_by": 3, "result": [{"from_name": "rating", "type": "rating", "value": {"rating": 2}}]},
        ],
    }
]


def test_an_export_of_label_studio(tmp_path: Path) -> None:
    file = tmp_path / "export.json"
    file.write_text(json.dumps(EXPORT), encoding="utf-8")
    judgments = read(file)
    rows = judgments.table.select("annotator", "segment", "system", "score", "active_seconds").rows()
    assert rows == [("ann@example.org", "7", "a", 4.0, 12.5), ("3", "7", "a", 2.0, None)]
    assert "1 annotation was cancelled and is no judgment" in judgments.notes


def test_scores_of_mt_metrics_eval_with_their_documents(tmp_path: Path) -> None:
    (tmp_path / "set" / "human-scores").mkdir(parents=True)
    (tmp_path / "set" / "documents").mkdir()
    scores = "x\t-1.0\nx\tNone\ny\t-5\ny\t0\n"
    (tmp_path / "set" / "human-scores" / "en-de.mqm.seg.score").write_text(scores, encoding="utf-8")
    (tmp_path / "set" / "documents" / "en-de.docs").write_text("news\td1\nnews\td2\n", encoding="utf-8")
    judgments = read(tmp_path / "set", format="metric-scores")
    rows = judgments.table.select("campaign", "protocol", "document", "segment", "system", "score").rows()
    assert rows == [
        ("set/mqm", "mqm", "d1", "1", "x", -1.0),
        ("set/mqm", "mqm", "d1", "1", "y", -5.0),
        ("set/mqm", "mqm", "d2", "2", "y", 0.0),
    ]
    assert judgments.pairs == ("en-de",)
    assert [(part.reason, part.rows) for part in judgments.set_aside] == [("no score was given", 1)]


def test_the_documents_show_all_synonyms() -> None:
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    for name, others in {**SYNONYMS, **PAIR_COLUMNS}.items():
        if len(others) > 1:
            assert f"| `{name}` | {', '.join(f'`{other}`' for other in others[1:])} |" in page


def test_every_column_of_the_judgment_table_has_its_names() -> None:
    assert set(SCHEMA) == set(SYNONYMS) - {"pair", "criterion"}
    assert all(names[0] == name for name, names in {**SYNONYMS, **PAIR_COLUMNS}.items())


def test_headers_that_are_alike_without_their_blanks_stay_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_bytes(b"system, score ,\xe2\x80\xa8,\t\na,1,x,y\nb,2,x,y\n")
    assert read([file]).table["score"].to_list() == [1, 2]


def _label_studio(tasks: int) -> list[Any]:
    return [
        {
            "id": number,
            "data": {"system": f"s{number % 2}", "segment": str(number)},
            "annotations": [
                {
                    "completed_by": 1,
                    "result": [{"from_name": "score", "type": "number", "value": {"number": number % 90}}],
                }
            ],
        }
        for number in range(1, tasks + 1)
    ]


@pytest.mark.parametrize("broken", [None, {"id": 7}, {"data": {}, "annotations": 3}, {"data": 3, "annotations": [{}]}])
def test_one_broken_task_of_label_studio_is_set_aside(broken: Any, tmp_path: Path) -> None:
    tasks = _label_studio(150)
    tasks[6] = broken
    file = tmp_path / "export.json"
    file.write_text(json.dumps(tasks), encoding="utf-8")
    judgments = read([file])
    assert len(judgments) == 149
    assert sum(record.rows for record in judgments.set_aside) == 1
    assert any("row 7: task 7 is not as Label Studio writes tasks" in note for note in judgments.notes)
    with pytest.raises(InputError, match="row 7: task 7 is not as Label Studio writes tasks"):
        read([file], strict=True)


def test_one_damaged_line_of_json_lines_is_set_aside(tmp_path: Path) -> None:
    rows = [json.dumps({"system": f"s{i % 2}", "segment": i, "score": i % 100}) for i in range(200)]
    rows[4], rows[9] = rows[4][:-3], "12"
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(rows), encoding="utf-8")
    judgments = read([file])
    assert len(judgments) == 198
    assert sum(record.rows for record in judgments.set_aside) == 2
    assert any("lines 5, 10: is damaged JSON" in note for note in judgments.notes)
    with pytest.raises(InputError, match="line 5: is damaged JSON"):
        read([file], strict=True)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("system,score\na,1\nb,x\n", 3),
        ("system,score\n\na,1\n\nb,x\n", 5),
        ('system,score\n"a\n",1\nb,x\n', 4),
        ("# made by hand\nsystem,score\na,1\nb,x", 4),
        ("system,score\na,1\n,\nb,x\n", 4),
    ],
)
def test_a_fault_names_its_line_also_where_the_text_was_let_go(text: str, line: int, tmp_path: Path) -> None:
    file = tmp_path / "scores.csv"
    file.write_text(text)
    with pytest.raises(InputError, match=f"scores.csv, line {line}: column 'score' holds 'x'"):
        read(file, strict=True)
