"""Appraise files written from a judgment table come back as that table. All data are made up."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge import read
from adjudge.readers.appraise_batches import format_spans, parse_spans, write
from adjudge.table.errors import DataError, UsageError
from adjudge.table.judgments import SPAN, Judgments

BEGIN = datetime(2024, 5, 1, 12, tzinfo=UTC)


def table(*, documents: bool, spans: bool) -> Judgments:
    marked: list[dict[str, Any]] = [
        {"start": 0, "end": 4, "severity": "major", "category": None, "side": "target", "text": None},
        {
            "start": None,
            "end": None,
            "severity": "minor",
            "category": "Accuracy/Omission",
            "side": "missing",
            "text": None,
        },
    ]
    rows = 6
    columns = {
        "campaign": ["results"] * rows,
        "protocol": ["esa" if spans else "sqm" if documents else "da"] * rows,
        "source_lang": ["en"] * rows,
        "target_lang": ["cs"] * rows,
        "annotator": ["a1", "a1", "a1", "a2", "a2", "a2"],
        "task": ["a1", "a1", "a1", "a2", "a2", "a2"],
        "document": ["d, 1", "d, 1", "d2", "d, 1", "d, 1", "d2"] if documents else [None] * rows,
        "segment": ["21", "21", "34", "21", "22", "34"],
        "system": ["A", "A", "refA", "A", "A", "refA"],
        "kind": ["system", "system", "degraded", "repeat", "system", "reference"],
        "human": [False, False, True, False, False, True],
        "score": [80.0, 81.0, 0.0, 33.0, 12.5, 100.0],
        "spans": pl.Series([marked, [], [], [], [], []], dtype=pl.List(SPAN)) if spans else None,
        "started": [BEGIN + timedelta(seconds=number) for number in range(rows)],
        "ended": [BEGIN + timedelta(seconds=number + 0.75) for number in range(rows)],
        "active_seconds": [0.75] * rows,
        "revision": [1, 2, 1, 1, 1, 1],
    }
    return Judgments.from_columns({name: values for name, values in columns.items() if values is not None})


@pytest.mark.parametrize(
    ("documents", "spans", "columns"), [(False, False, 9), (True, False, 11), (True, True, 12)]
)  # fmt: skip
def test_what_is_written_comes_back(tmp_path: Path, documents: bool, spans: bool, columns: int) -> None:
    judgments = table(documents=documents, spans=spans)
    write(judgments, tmp_path / "results.csv")
    back = read([tmp_path / "results.csv"], format="appraise").table
    same = [name for name in judgments.table.columns if name not in ("screen", "text")]
    order = ["annotator", "segment", "system", "revision"]
    assert back.select(same).sort(order).equals(judgments.table.select(same).sort(order))
    write(judgments, tmp_path / "again.csv", columns=columns)
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "results.csv").read_bytes()


def test_rows_look_as_appraise_writes_them(tmp_path: Path) -> None:
    write(table(documents=True, spans=True), tmp_path / "results.csv")
    first = (tmp_path / "results.csv").read_text().splitlines()[0]
    assert first == (
        'a1,A,21,TGT,eng,ces,80,"d, 1",False,"[{""start_i"":0,""end_i"":3,""severity"":""major"",""error_type"":null},'
        '{""start_i"":""missing"",""end_i"":""missing"",""severity"":""minor"",""error_type"":[""Accuracy"",""Omission""]}]",'
        "1714564800.000,1714564800.750"
    )


def test_flags_go_back_to_the_document(tmp_path: Path) -> None:
    judgments = table(documents=True, spans=True)
    flags = pl.Series("flags", [None, None, "incomplete#bad2", "dup", None, None])
    write(Judgments(judgments.table.with_columns(flags)), tmp_path / "results.csv")
    lines = (tmp_path / "results.csv").read_text().splitlines()
    assert any("BAD,eng,ces,0,d2#incomplete#bad2,False" in line for line in lines)
    assert any('TGT,eng,ces,33,"d, 1#dup",False' in line for line in lines)


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    judgments = table(documents=False, spans=False)
    with pytest.raises(UsageError, match="9, 11 or 12 columns, not 10"):
        write(judgments, tmp_path / "x.csv", columns=10)
    with pytest.raises(DataError, match="6 judgments have no score"):
        write(Judgments(judgments.table.with_columns(score=pl.lit(None, dtype=pl.Float64))), tmp_path / "x.csv")
    assert not (tmp_path / "x.csv").exists()


one_span = st.one_of(
    st.builds(
        lambda start, size, severity, category, side: {
            "start": start, "end": start + size, "severity": severity, "category": category, "side": side, "text": None,
        },
        st.integers(0, 5000), st.integers(1, 200), st.sampled_from(["minor", "major", "critical", "undecided"]),
        st.sampled_from([None, "Style", "Accuracy/Omission"]), st.sampled_from(["target", "source"]),
    ),
    st.just({"start": None, "end": None, "severity": "major", "category": None, "side": "missing", "text": None}),
)  # fmt: skip


@given(st.lists(one_span, max_size=5))
def test_spans_come_back(spans: list[dict[str, Any]]) -> None:
    assert parse_spans(format_spans(spans), Path("x"), 1) == spans


def test_attention_checks_do_not_become_judgments(tmp_path: Path) -> None:
    judgments = Judgments.from_columns(
        {"protocol": ["da"] * 2, "annotator": ["a"] * 2, "segment": ["1", "2"], "system": ["x"] * 2,
         "kind": ["system", "attention"], "score": [50.0, 7.0], "source_lang": ["en"] * 2, "target_lang": ["de"] * 2}
    )  # fmt: skip
    write(judgments, tmp_path / "out.csv")
    back = read([tmp_path / "out.csv"], format="appraise").table
    assert back.select("kind", "score").rows() == [("system", 50.0), ("degraded", 7.0)]


def test_people_who_did_the_same_task_stay_apart(tmp_path: Path) -> None:
    both = table(documents=False, spans=False).table.with_columns(pl.lit("t1").alias("task"))
    write(Judgments(both), tmp_path / "results.csv")
    back = read([tmp_path / "results.csv"], format="appraise").table
    assert set(back["annotator"]) == {"t1.a1", "t1.a2"}, "two accounts: the second is no correction of the first"
    assert back["revision"].sort().to_list() == [1, 1, 1, 1, 1, 2]
