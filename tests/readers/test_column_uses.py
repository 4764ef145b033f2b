"""`import` says of every format that goes by names what each column was taken for, and which were not used."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.readers.registry import FORMATS, read
from adjudge.readers.summary import describe
from tests.helpers.samples import SAMPLES
from tests.readers.test_every_reader import for_sample

# Formats without named columns: lines of fields in a fixed order, files of ranks, documents of JSON.
NAMELESS = ("pairwise-counts", "rank-lines", "appraise", "wmt-humeval", "pearmut", "metric-scores")
TAKEN = {
    "judgments": {"rank": "rank", "human": "human"},
    "wmt-ranking": {"judgeId": "annotator", "srcIndex": "segment", "system2Id": "system", "system3rank": "rank"},
    "wmt-ranking-2007": {"ITEM_ID": "segment", "SYSTEM_1": "system", "SCORE_0_A": "rank", "SCORE_0_B": "not used"},
    "wmt-edits": {"editorId": "annotator", "system1edit": "text", "system1Number": "not used"},
    "wmt-acceptability": {"judgment": "score", "systemId": "system", "systemNumber": "not used"},
    "pairwise-table": {"worker": "annotator", "left": "left", "winner": "winner"},
    "rank-table": {"segment": "segment", "a_rank": "rank of a", "c_rank": "rank of c"},
    "wmt-da": {"WorkerId": "annotator", "sys_id": "system", "score": "score", "Input.item": "not used"},
    "mturk-da": {"WorkerId": "annotator", "Answer.Q1": "system, segment, kind, score", "AcceptTime": "started"},
    "mqm": {"rater": "annotator", "severity": "spans: severity", "doc_id": "not used"},
}


def columns_of(file: Path, name: str, **reading: object) -> dict[str, str]:
    """What `import` shows."""
    options = for_sample(name)
    judgments = read(file, format=name, options=options, **reading)
    tables = {table.title: table for table in describe(judgments, {}).tables()}
    return {str(row[-2]): str(row[-1]) for row in tables["Columns"].rows} if "Columns" in tables else {}


def test_every_format_is_tried() -> None:
    assert {*TAKEN, *NAMELESS} == set(FORMATS)


@pytest.mark.parametrize("name", TAKEN)
def test_columns_are_told(name: str, tmp_path: Path) -> None:
    file = tmp_path / "sample.csv"
    text = SAMPLES[name][0]
    if name == "judgments":
        # For a plain judgment table nothing is shown; with an additional column it is.
        text = "\n".join(f"{line},{'x' if number else 'extra'}" for number, line in enumerate(text.splitlines())) + "\n"
    file.write_text(text, encoding="utf-8")
    columns = columns_of(file, name)
    assert {column: columns[column] for column in TAKEN[name]} == TAKEN[name]


def test_columns_of_systems_are_told(tmp_path: Path) -> None:
    file = tmp_path / "wide.csv"
    file.write_text("ID,rater,note,x,y\n1,ann,a,70,80\n2,ann,b,60,90\n", encoding="utf-8")
    assert columns_of(file, "judgments", systems=("x", "y")) == {
        "ID": "segment", "rater": "annotator", "note": "kept", "x": "score of x", "y": "score of y"
    }  # fmt: skip


def test_fields_of_label_studio_are_told(tmp_path: Path) -> None:
    file = tmp_path / "export.json"
    file.write_text(
        '[{"id": 7, "data": {"model": "x", "src": "a"}, "annotations": [{"completed_by": 3, "result": '
        '[{"from_name": "rating", "value": {"rating": 4}}]}]}]',
        encoding="utf-8",
    )
    columns = columns_of(file, "judgments")
    assert columns == {
        "model": "system", "src": "kept", "item_id": "segment", "rating": "score", "completed_by": "annotator"
    }  # fmt: skip
