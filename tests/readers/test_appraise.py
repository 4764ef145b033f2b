"""Appraise's results: columns told by the first row, saves, flags, tutorials, spans, segments, people. Made-up data."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from adjudge import read
from adjudge.ranking.methods import rank
from adjudge.readers.appraise import layout
from adjudge.readers.options import ReadOptions
from adjudge.table.errors import DataError, InputError, UsageError
from adjudge.table.judgments import SetAside

TIME = 1700000000.0
SPANS = json.dumps([{"start_i": 2, "end_i": 4, "severity": "minor", "error_type": None}])


def quoted(field: object) -> str:
    text = str(field)
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ',"\n') else text


def row(*middle: object, item: object = 1, kind: str = "TGT", system: str = "sysA", score: object = 80,
        user: str = "engces0101", at: float = 0.0, after: tuple[object, ...] = ()) -> str:  # fmt: skip
    times = (f"{TIME + at:.3f}", f"{TIME + at + 5:.3f}")
    return ",".join(map(quoted, (user, system, item, kind, "eng", "ces", score, *middle, *times, *after)))


def write(tmp_path: Path, *rows: str, name: str = "results.csv") -> Path:
    (tmp_path / name).write_text("\n".join(rows) + "\n", encoding="utf-8")
    return tmp_path / name


@pytest.mark.parametrize(
    ("middle", "after", "columns"),
    [
        ((), (), ("start", "end")),
        (("doc", "False"), (), ("document", "complete", "start", "end")),
        (("doc", "True", "[]"), (), ("document", "complete", "mqm", "start", "end")),
        (("", ""), (), ("errors", "source_errors", "start", "end")),
        (("Other", "Typo;Other"), (), ("errors", "source_errors", "start", "end")),
        ((), (7, 12345), ("start", "end", "batch", "database_item")),
        (("", ""), (7, 12345, 0),
         ("errors", "source_errors", "start", "end", "batch", "database_item", "target_place")),
        (("doc", "False"), (7, 12345, 1),
         ("document", "complete", "start", "end", "batch", "database_item", "target_place")),
        (("doc", "False", "[]"), (7, 12345), ("document", "complete", "mqm", "start", "end", "batch", "database_item")),
    ],
)  # fmt: skip
def test_the_first_row_tells_the_columns(
    middle: tuple[str, ...], after: tuple[int, ...], columns: tuple[str, ...]
) -> None:
    fields = ["u", "s", "1", "TGT", "eng", "ces", "80", *middle, "1700000000.0", "1700000001.0", *map(str, after)]
    names = layout(fields)
    assert names is not None
    assert names[7:] == columns


def test_results_without_times_and_results_about_data() -> None:
    assert layout(["u", "s", "1", "TGT", "eng", "ces", "80", "doc", "False"]) is not None
    data = ["u", "news", "http://x", "s", "1", "TGT", "eng", "ces", "80", "2", "1700000000.0", "1700000001.0"]
    assert (layout(data) or ())[:4] == ("account", "domain", "document", "system")
    assert layout(["a", "b", "c"]) is None
    assert layout(["u", "s", "1", "XXX", "eng", "ces", "80", "0", "0"]) is None


def test_direct_assessment(tmp_path: Path) -> None:
    file = write(tmp_path, row(item=12), row(item=12, kind="BAD", score=3, at=9), row(kind="REF", system="x.ref.A"))
    judgments = read([file], format="appraise")
    assert judgments.pairs == ("en-cs",)
    assert judgments.protocols == ("da",)
    assert judgments.table.select("annotator", "task", "segment", "system", "kind", "human", "score").rows() == [
        ("engces0101", "engces0101", "12", "sysA", "system", False, 80.0),
        ("engces0101", "engces0101", "12", "sysA", "degraded", False, 3.0),
        ("engces0101", "engces0101", "1", "x.ref.A", "reference", True, 80.0),
    ]
    assert judgments.table["started"][0] == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    assert judgments.table["active_seconds"].to_list() == [5.0] * 3


def test_the_last_save_counts_and_all_are_kept(tmp_path: Path) -> None:
    rows = [row("d", "False", score=2, at=20), row("d", "False", score=1), row("d", "False", item=2, score=9)]
    judgments = read([write(tmp_path, *rows)], format="appraise")
    assert judgments.table.select("segment", "score", "revision").rows() == [
        ("1", 2.0, 2),
        ("1", 1.0, 1),
        ("2", 9.0, 1),
    ]
    assert judgments.final().table["score"].to_list() == [2.0, 9.0]


def test_scores_of_whole_documents_are_read_and_ranked_where_asked_for(tmp_path: Path) -> None:
    """Four people score twelve documents by two systems; segments (always 10) count for nothing."""
    rng = np.random.default_rng(1)
    rows: list[str] = []
    for who in range(4):
        for document in range(12):
            for system, level in (("sysA", 70), ("sysB", 40)):
                user, name, score = f"engces0{who}", f"d{document}", int(level + rng.integers(-5, 6))
                rows += [
                    row(name, "False", user=user, system=system, score=10),
                    row(name, "True", user=user, system=system, item=2, score=score, at=9.0 * len(rows)),
                ]
    judgments = read([write(tmp_path, *rows)], format="appraise", whole_documents=True)
    assert judgments.set_aside == (SetAside("score of a segment, not of a whole document", 96),)
    assert judgments.table["segment"].null_count() == len(judgments) == 96
    ranking = rank(judgments)
    (pair,) = ranking.comparisons
    assert (pair.better, pair.worse) == ("sysA", "sysB")
    assert pair.difference == pytest.approx(30, abs=3)
    assert not any("segments are not named" in note for note in ranking.notes)
    with pytest.raises(InputError, match="holds no score of a whole document"):
        read([write(tmp_path, row("d", "False"))], format="appraise", whole_documents=True)


def test_scores_of_whole_documents_are_set_aside(tmp_path: Path) -> None:
    judgments = read([write(tmp_path, row("d", "False"), row("d", "True", item=2))], format="appraise")
    assert judgments.protocols == ("sqm",)
    assert len(judgments) == 1
    assert judgments.set_aside == (SetAside("score of a whole document, not of a segment", 1),)


def test_flags_come_off_the_document(tmp_path: Path) -> None:
    names = ["talk#sysA", "talk#sysA#bad2", "talk#dup", "talk#incomplete", "talk#1-10", "talk#sysA#bad5#duplicate1"]
    kinds = ["TGT", "BAD", "TGT", "TGT", "TGT", "BAD"]
    rows = [
        row(name, "False", "[]", kind=kind, system="x.sysA", item=item)
        for item, (name, kind) in enumerate(zip(names, kinds, strict=True), start=20)
    ]
    table = read([write(tmp_path, *rows)], format="appraise").table
    assert table.select("document", "flags", "kind").rows() == [
        ("talk", None, "system"), ("talk", "bad2", "degraded"), ("talk", "dup", "repeat"),
        ("talk", "incomplete", "system"), ("talk#1-10", None, "system"), ("talk", "bad5#duplicate1", "degraded"),
    ]  # fmt: skip


def test_intact_segments_of_a_copy_flagged_bad_are_set_aside(tmp_path: Path) -> None:
    rows = [row("d#bad", "False", "[]", kind="BAD"), row("d#bad", "False", "[]", item=2), row("d", "False", "[]")]
    judgments = read([write(tmp_path, *rows)], format="appraise")
    assert judgments.table["kind"].to_list() == ["degraded", "system"]
    assert judgments.set_aside == (SetAside("intact segment of a corrupted copy of a document", 1),)


def test_tutorials_are_told_by_document_or_item(tmp_path: Path) -> None:
    rows = [
        row("ende-tutorial1", "False", "[]", system="ende-tutorial1"),
        row("d", "False", "[]", item=1000004),
        row("d", "False", "[]", item=55),
    ]
    assert read([write(tmp_path, *rows)], format="appraise").table["kind"].to_list() == ["tutorial"] * 2 + ["system"]


def test_spans_marked_and_filled_in(tmp_path: Path) -> None:
    spans = [
        {"start_i": 2, "end_i": 4, "severity": "minor", "error_type": None},
        {"start_i": 2, "end_i": 4, "severity": "major"},
        {"start_i": "missing", "end_i": "missing", "severity": "undecided", "error_type": None},
    ]
    judgments = read([write(tmp_path, row("d", "False", json.dumps(spans)))], format="appraise")
    assert judgments.protocols == ("esa",)
    marks = judgments.table["spans"][0].to_list()
    assert [(item["start"], item["end"], item["severity"], item["side"]) for item in marks] == [
        (2, 5, "minor", "target"), (2, 4, "major", "target"), (None, None, "undecided", "missing"),
    ]  # fmt: skip
    assert "results: 1 error span has no severity (an unfinished click)" in judgments.notes


def test_scores_of_mqm_follow_from_the_errors(tmp_path: Path) -> None:
    spans = [{"start_i": 0, "end_i": 1, "severity": "major", "error_type": ["Fluency", "Grammar"]}]
    rows = [row("d", "False", json.dumps(spans), score=0), row("d", "False", "[]", score=0, item=2)]
    judgments = read([write(tmp_path, *rows)], format="appraise")
    assert judgments.protocols == ("mqm",)
    assert judgments.table["score"].to_list() == [-5.0, 0.0]
    assert judgments.table["spans"][0].to_list()[0]["category"] == "Fluency/Grammar"


def test_pairs_share_a_screen(tmp_path: Path) -> None:
    rows = [
        row("", "", item=item, system=system, score=score, at=item)
        for item, scores in ((1, (80, 60)), (2, (10, 10)))
        for system, score in zip("AB", scores, strict=True)
    ]
    judgments = read([write(tmp_path, *rows)], format="appraise")
    assert judgments.protocols == ("pairwise",)
    assert judgments.table.group_by("screen", maintain_order=True).len()["len"].to_list() == [2, 2]
    assert read([write(tmp_path, *(row.replace(",,,", ",") for row in rows))], format="appraise").protocols == (
        "pairwise",
    )


def test_shared_outputs_have_a_row_for_each_system(tmp_path: Path) -> None:
    rows = [row(system="A"), row(system="B", item=2), row(system="A+B", item=3), row(system="R2L+Back", item=4)]
    judgments = read([write(tmp_path, *rows)], format="appraise")
    assert judgments.table.select("system", "segment").rows() == [
        ("A", "1"), ("B", "2"), ("A", "3"), ("B", "3"), ("R2L+Back", "4"),
    ]  # fmt: skip
    assert judgments.notes == ("results: 1 output is shared by systems; each has a row",)


def test_items_numbered_by_task_become_places_in_the_document(tmp_path: Path) -> None:
    """The document has three segments; account 2 got its first two for system B, account 3 its last."""
    pages = {
        "u1": [("doc", "A", 3), ("other", "A", 1)],
        "u2": [("other", "B", 1), ("doc", "B", 2), ("doc#bad1", "B", 2)],
        "u3": [("doc", "B", 1), ("other", "C", 1)],
    }
    rows = []
    for user, shown in pages.items():
        item = 0
        for name, system, size in shown:
            for _ in range(size):
                item += 1
                kind = "BAD" if "bad" in name else "TGT"
                rows.append(row(name, "False", "[]", item=item, user=user, system=system, kind=kind))
    judgments = read([write(tmp_path, *rows)], format="appraise")
    document = judgments.table.filter(pl.col("document") == "doc")
    assert document.select("annotator", "system", "kind", "segment").rows() == [
        ("u1", "A", "system", "1"), ("u1", "A", "system", "2"), ("u1", "A", "system", "3"),
        ("u2", "B", "system", "1"), ("u2", "B", "system", "2"),
        ("u2", "B", "degraded", "1"), ("u2", "B", "degraded", "2"), ("u3", "B", "system", "3"),
    ]  # fmt: skip
    assert any("told by their place in the document" in note for note in judgments.notes)


@pytest.mark.parametrize(
    "text",
    [
        '{"Ann": ["u1", "u2"], "Bob": ["u3"]}',
        '{"u1": "Ann", "u2": "Ann", "u3": "Bob"}',
        '[{"login": "u1", "person": "Ann"}, {"login": "u2", "person": "Ann"}, {"login": "u3", "person": "Bob"}]',
        "\ufeffAnnotatorID,protocol,login,,\nAnn,ESA,u1,,\nAnn,ESA,u2,,\nBob,ESA,u3,,\n",
        "u1\tAnn\nu2\tAnn\nu3\tBob\n",
        "protocol;login;person\nESA;u1;Ann\nESA;u2;Ann\nESA;u3;Bob\n",
    ],
)
def test_people_behind_accounts(tmp_path: Path, text: str) -> None:
    (tmp_path / "map").write_text(text, encoding="utf-8")
    file = write(tmp_path, *(row(user=user) for user in ("u1", "u2", "u3", "u4")))
    judgments = read([file], format="appraise", options=ReadOptions(annotators=tmp_path / "map"))
    assert judgments.table["annotator"].to_list() == ["Ann", "Ann", "Bob", "u4"]
    assert judgments.table["task"].to_list() == ["u1", "u2", "u3", "u4"]
    assert judgments.notes == ("1 of 4 accounts is not in the map of annotators",)


def test_an_account_that_others_are_mapped_to_is_a_person(tmp_path: Path) -> None:
    (tmp_path / "map.csv").write_text("m1,cal1\nm2,cal1\nm3,cal2\n")
    file = write(tmp_path, row(user="cal1"), row(user="cal2"))
    judgments = read([file], format="appraise", options=ReadOptions(annotators=tmp_path / "map.csv"))
    assert judgments.table["annotator"].to_list() == ["cal1", "cal2"]
    assert judgments.notes == ()


def test_a_map_of_other_accounts_is_refused(tmp_path: Path) -> None:
    (tmp_path / "map.csv").write_text("x1,Ann\nx2,Bob\n")
    with pytest.raises(InputError, match="knows none of the accounts in the results"):
        read([write(tmp_path, row())], format="appraise", options=ReadOptions(annotators=tmp_path / "map.csv"))


def test_a_folder_may_hold_other_files(tmp_path: Path) -> None:
    write(tmp_path, row(), name="a.csv")
    write(tmp_path, row("d", "False"), name="b.csv")
    (tmp_path / "header.csv").write_text("username,system,itemId,itemType,srcLang,trgLang,score,timeStart,timeEnd\n")
    (tmp_path / "batches.zip").write_bytes(b"PK\0\0")
    judgments = read([tmp_path], format="appraise")
    assert judgments.table["campaign"].to_list() == ["a", "b"]
    assert judgments.notes == ("ignored, not results: batches.zip, header.csv",)


def test_a_header_line_may_be_there(tmp_path: Path) -> None:
    header = "username,system,itemId,itemType,srcLang,trgLang,score,timeStart,timeEnd"
    assert len(read([write(tmp_path, header, row())], format="appraise")) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (row(score=1000), "line 2: score is '1000'"),
        (row(score="x"), "line 2: score is 'x'"),
        (row(kind="SRC"), "line 2: item type is 'SRC'"),
        (row("d", "False"), "line 2: 11 fields where the first row has 9"),
        ('"open', "line 2: cannot be read as a table"),
    ],
)
def test_faults_name_file_line_and_value(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read([write(tmp_path, row(), text)], format="appraise")


@pytest.mark.parametrize("mqm", ["[{", '["x"]', '[{"start_i": "a", "end_i": 2}]', '[{"start_i": -1, "end_i": 1e99}]'])
def test_damaged_spans_are_named(tmp_path: Path, mqm: str) -> None:
    with pytest.raises(InputError, match=r"line 2: .* is not a list of error spans"):
        read([write(tmp_path, row("d", "False", "[]"), row("d", "False", mqm))], format="appraise")


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no result file"):
        read([write(tmp_path, "a,b,c")], format="appraise")


def test_exports_that_name_the_source_segment(tmp_path: Path) -> None:
    """15 columns: the source segment second, every segment marked as a whole document. The shape is that which the
    organisers of the 2025 workshop unpack in their script; the rows are made up."""
    rows = [
        ",".join(map(quoted, (
            user, f"{document}_#_{number}", system, item, "TGT", "eng", "ces", 80 + number, document, complete, "[]",
            TIME, TIME + 5, 1, item,
        )))
        for user, system, shift in (("u1", "sysA", 0), ("u2", "sysB", 7))
        for document, number, item, complete in (
            ("en-tutorial", 0, 0, "False"), ("en-cs_#_news_#_d1", 0, 1 + shift, "True"),
            ("en-cs_#_news_#_d1", 1, 2 + shift, "True"),
        )
    ]  # fmt: skip
    judgments = read([write(tmp_path, *rows)], format="appraise")
    table = judgments.table
    assert table.select("kind", "document", "segment", "system", "score", "batch").rows()[:3] == [
        ("tutorial", "en-tutorial", "0", "sysA", 80.0, "1"), ("system", "en-cs_#_news_#_d1", "0", "sysA", 80.0, "1"),
        ("system", "en-cs_#_news_#_d1", "1", "sysA", 81.0, "1"),
    ]  # fmt: skip
    assert table.filter(pl.col("kind") == "system").group_by("segment").len()["len"].to_list() == [2, 2]
    assert judgments.protocols == ("esa",)
    assert judgments.notes[0] == "results: every row is marked as a whole document; each counts as a segment"
    assert not judgments.set_aside


def test_three_outputs_side_by_side_are_scores(tmp_path: Path) -> None:
    """The export of contrastive tasks: 12 columns, batch numbers and the position of the target. Rows are made up."""
    rows = [
        row("doc", "False", "[]", system=system, score=score, after=(7, 12345, position))
        for position, (system, score) in enumerate((("a", 50), ("b", 70), ("c", 20)))
    ]
    judgments = read([write(tmp_path, *rows)], format="appraise")
    assert judgments.protocols == ("esa",)
    assert judgments.table.select("system", "score", "revision").rows() == [("a", 50, 1), ("b", 70, 1), ("c", 20, 1)]


def test_calibration_tasks_are_told_by_the_name_of_the_file_and_people_by_the_map_beside_it(tmp_path: Path) -> None:
    line = "{account},{system},{item},TGT,eng,ces,{score},doc#1,False,1.0,9.0"
    work = [line.format(account=f"work{i}", system="A", item=i, score=60 + i) for i in range(3)]
    shared = [line.format(account=f"shared{i}", system="B", item=i, score=50 + i) for i in range(2)]
    (tmp_path / "results.csv").write_text("\n".join(work) + "\n", encoding="utf-8")
    (tmp_path / "calibrationHITs.csv").write_text("\n".join(shared) + "\n", encoding="utf-8")
    people_map = "work0,shared0\nwork1,shared0\nwork2,shared1\n"
    (tmp_path / "calibrationHITs.mapping.csv").write_text(people_map, encoding="utf-8")
    judgments = read([tmp_path / "results.csv", tmp_path / "calibrationHITs.csv"], format="appraise")
    people = dict(judgments.table.select("task", "annotator").iter_rows())
    assert set(people.values()) == {"shared0", "shared1"}
    kinds = judgments.table.group_by("system").agg(pl.col("kind").unique())
    assert {name: kind for name, (kind,) in kinds.iter_rows()} == {"A": "system", "B": "calibration"}


def test_calibration_tasks_of_2022(data: Path) -> None:
    """736 lines map accounts to those of 99 calibration tasks; some people did theirs under several accounts."""
    path = data / "wmt22sqm" / "WMT22.Appraise.calibrationHITs.20221103.csv"
    judgments = read([path], format="appraise")
    assert set(judgments.table["kind"]) == {"calibration"}
    with pytest.raises(DataError, match="calibration items only"):
        rank(judgments.for_pair("en-cs"))


def test_a_map_of_all_accounts_makes_them_people(tmp_path: Path) -> None:
    rows = [f"account{i},A,{i},TGT,eng,ces,50,1.0,9.0" for i in range(12)]
    (tmp_path / "results.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    known = {"anna": [f"account{i}" for i in range(6)], "ben": [f"account{i}" for i in range(6, 11)]}
    (tmp_path / "map.json").write_text(json.dumps(known), encoding="utf-8")
    source = [tmp_path / "results.csv"]
    assert not read(source, format="appraise").people
    assert not read(source, format="appraise", annotators=tmp_path / "map.json").people  # one account is unknown
    (tmp_path / "map.json").write_text(json.dumps({**known, "eva": ["account11"]}), encoding="utf-8")
    assert read(source, format="appraise", annotators=tmp_path / "map.json").people
    assert read(source, format="appraise", accounts_are_people=True).people


def test_files_are_named_by_strings_too_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "results.csv").write_text("account1,A,1,TGT,eng,ces,50,1.0,9.0\n", encoding="utf-8")
    (tmp_path / "map.json").write_text(json.dumps({"anna": ["account1"]}), encoding="utf-8")
    (tmp_path / "batches.json").write_text("[]", encoding="utf-8")
    source, names = tmp_path / "results.csv", str(tmp_path / "map.json")
    known = read(source, format="appraise", annotators=tmp_path / "map.json")
    assert known.people
    assert read(source, format="appraise", annotators=names).people
    for batches in (str(tmp_path / "batches.json"), [str(tmp_path / "batches.json")]):
        by_path = read(source, format="appraise", batches=[tmp_path / "batches.json"])
        assert read(source, format="appraise", batches=batches).table.equals(by_path.table)
    mistakes: dict[str, Any] = {"batches": 5, "annotators": 5, "attributes": [5], "columns": 5}
    for name, wrong in mistakes.items():
        with pytest.raises(UsageError):
            read(source, format="appraise", **{name: wrong})
    with pytest.raises(UsageError, match="'annotators' is one file, not 2"):
        read(source, format="appraise", annotators=[names, names])  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["people.json", "people.csv"])
def test_the_map_in_a_folder_of_results_is_found_and_named(tmp_path: Path, name: str) -> None:
    write(tmp_path, *(row(item=n, user=user, at=60 * n) for n in (1, 2) for user in ("engces0101", "engces0102")))
    (tmp_path / "texts.json").write_text('[{"task": 1}]', encoding="utf-8")
    map_of_people = {
        "json": '{"Ada": ["engces0101", "engces0102"]}',
        "csv": "account,person\nengces0101,Ada\nengces0102,Ada\n",
    }
    (tmp_path / name).write_text(map_of_people[name.split(".")[1]], encoding="utf-8")
    found = read(tmp_path)
    assert set(found.table["annotator"]) == {"Ada"}
    assert f"people are those of {name}, beside the results; --annotators names another map" in found.notes
    assert "ignored, not results: texts.json" in found.notes
