"""Post-edits and judgments of post-edits."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.readers import registry
from adjudge.table.errors import InputError
from adjudge.table.judgments import Judgments

EDITS = (
    "editId srclang trglang srcIndex documentId segmentId editorId system1Number system1Id "
    "system1actionVal system1actionStr system1edit"
).replace(" ", "\t")
ANSWERS = "srclang,trglang,srcIndex,documentId,segmentId,judgeId,systemNumber,systemId,editId,judgment"


def read(tmp_path: Path, file_format: str, *lines: str) -> Judgments:
    file = tmp_path / "made.txt"
    file.write_text("\r\n".join(lines) + "\r\n", encoding="utf-8", newline="")
    return registry.read([file], format=file_format)


def edit(number: int, action: str, text: str) -> str:
    return f"{number}\tSpanish\tEnglish\t15\tdoc/1\t9\ted\t6\tx\t{action}\t{text}"


def test_every_row_stays_with_its_action_and_text(tmp_path: Path) -> None:
    judgments = read(
        tmp_path,
        "wmt-edits",
        EDITS,
        edit(1, "1\tEDIT", 'He said "no, and left'),
        edit(2, "2\tOK", " spaced "),
        edit(3, "3\tBAD", "x"),
        edit(4, "0\tN/A", "y"),
    )
    rows = judgments.table.select("edit", "action", "text").rows()
    assert rows == [
        ("1", "EDIT", 'He said "no, and left'),
        ("2", "OK", " spaced "),
        ("3", "BAD", "x"),
        ("4", "N/A", "y"),
    ]
    row = judgments.table.row(0, named=True)
    assert (row["protocol"], row["annotator"], row["system"], row["segment"]) == ("postedit", "ed", "x", "15")
    assert judgments.pairs == ("es-en",)
    assert judgments.notes == ()


def test_what_is_odd_is_noted(tmp_path: Path) -> None:
    judgments = read(tmp_path, "wmt-edits", EDITS, edit(1, "1\tBAD", "a"), edit(1, "1\tEDIT", "b"))
    assert judgments.notes == (
        "1 row names another action than the code says; the code counts",
        "1 row repeats the edit id of another row",
    )
    assert judgments.table["action"].to_list() == ["EDIT", "EDIT"]


def test_answers_become_scores(tmp_path: Path) -> None:
    row = "Czech,English,1773,doc,1,ann,43,{},57,{}"
    rows = [row.format("x", "YES"), row.format("_ref", "NO"), row.format("x", "UNK")]
    judgments = read(tmp_path, "wmt-acceptability", ANSWERS, *rows)
    assert judgments.table["score"].to_list() == [1.0, 0.0, None]
    assert judgments.table["human"].to_list() == [False, True, False]
    assert judgments.table["edit"].to_list() == ["57"] * 3
    assert judgments.protocols == ("acceptability",)


@pytest.mark.parametrize(
    ("file_format", "lines", "words"),
    [
        ("wmt-edits", [EDITS], "holds a header but no edits"),
        ("wmt-edits", [EDITS, edit(1, "4\tEDIT", "a")], "line 2: action is '4'"),
        ("wmt-edits", [EDITS, edit(1, "1\tEDIT", "a\tb")], "line 2: 13 fields"),
        ("wmt-edits", [EDITS.replace("editId", "id"), edit(1, "1\tEDIT", "a")], "has no column 'editId'"),
        ("wmt-acceptability", [ANSWERS], "holds a header but no judgments"),
        ("wmt-acceptability", [ANSWERS, "Czech,English,1,d,1,a,4,x,5,MAYBE"], "line 2: judgment is 'MAYBE'"),
        ("wmt-acceptability", [EDITS, edit(1, "1\tEDIT", "a")], "has no column 'judgment'"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, file_format: str, lines: list[str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        read(tmp_path, file_format, *lines)
