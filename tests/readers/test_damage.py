"""Damaged, endless and oversized files are refused in one sentence, before they fill the memory or hang."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import zipfile
from pathlib import Path

import polars as pl
import pytest

from adjudge import read
from adjudge.readers import native, registry
from adjudge.readers.appraise_batches import read_batches
from adjudge.readers.tables import parquet_bytes, read_parquet
from adjudge.table import files
from adjudge.table.errors import InputError
from adjudge.table.judgments import Judgments

ROWS = pl.DataFrame({"system": ["a", "b"] * 50, "score": [float(i) for i in range(100)]})


def test_every_flipped_bit_of_a_file_of_ours_is_noticed(tmp_path: Path) -> None:
    judgments = Judgments.from_columns(ROWS)
    raw = parquet_bytes(judgments.table, judgments.fingerprint)
    assert read_parquet(raw, tmp_path).equals(judgments.table)
    assert judgments.fingerprint.encode() in raw
    generator = random.Random(7)
    for _ in range(25):
        damaged = bytearray(raw)
        damaged[generator.randrange(len(raw))] ^= 1 << generator.randrange(8)
        # Where the flipped bit hits the marker of the checksum, the file is read like one of another tool.
        if b"adjudge-sha256:" in damaged:
            with pytest.raises(InputError, match="checksum is not that of its content"):
                read_parquet(bytes(damaged), tmp_path)


@pytest.mark.parametrize("change", ["cut", "header", "page"])
def test_damaged_parquet_of_other_tools_is_one_sentence(
    change: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    buffer = io.BytesIO()
    ROWS.write_parquet(buffer)
    raw = bytearray(buffer.getvalue())
    damaged = {
        "cut": raw[: len(raw) // 2],
        "header": raw[:-12] + b"\xff\xff\xff\x7f" + raw[-8:],
        "page": raw[:4] + b"\xff" * 60 + raw[64:],
    }[change]
    file = tmp_path / "foreign.parquet"
    file.write_bytes(bytes(damaged))
    with pytest.raises(InputError, match="is damaged Parquet"):
        registry.read(file)
    assert "panicked" not in capfd.readouterr().err


def test_what_does_not_fit_into_memory_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "memory_at_hand", lambda: 20_000_000)
    bomb = tmp_path / "bomb.csv.gz"
    bomb.write_bytes(gzip.compress(b"a" * 50_000_000))
    with pytest.raises(InputError, match="MB once decompressed, too much for the 20 MB of memory at hand"):
        registry.read(bomb)
    large = tmp_path / "large.csv"
    with large.open("wb") as file:
        file.truncate(40_000_000)
    with pytest.raises(InputError, match="is 40 MB large"):
        registry.read(large)
    batches = tmp_path / "batches.zip"
    with zipfile.ZipFile(batches, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.json", b" " * 30_000_000)
        archive.writestr("b.json", b" ")
    with pytest.raises(InputError, match="MB unpacked"):
        read_batches([batches])


def test_an_archive_of_very_many_files_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_MOST_FILES", 3)
    with zipfile.ZipFile(tmp_path / "many.zip", "w") as archive:
        for number in range(4):
            archive.writestr(f"{number}.csv", "system,score\na,1\nb,2\n")
    with pytest.raises(InputError, match="holds 4 files, more than 3; unpack it"):
        read(tmp_path / "many.zip")


def test_counts_beyond_memory_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adjudge.readers.pairs.memory_at_hand", lambda: 3_000_000)
    file = tmp_path / "counts.cs-en.txt"
    file.write_text("a b 9000 1000 1\n", encoding="utf-8")
    with pytest.raises(InputError, match="stands for 10,001 comparisons, more than the 10,000 that are read"):
        registry.read(file, format="pairwise-counts")


def test_counts_that_nobody_can_have_made_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "counts.cs-en.txt"
    file.write_text("a b 40 10000002 12\n", encoding="utf-8")
    with pytest.raises(InputError, match="stands for 10,000,054 comparisons, more than the 5,000,000 that are read"):
        registry.read(file, format="pairwise-counts")


def test_a_pipe_into_which_nobody_writes_does_not_hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "PATIENCE", 1)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match="is a pipe from which nothing came for 1 s"):
        registry.read(pipe)


def test_an_endless_device_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "memory_at_hand", lambda: 20_000_000)
    with pytest.raises(InputError, match="MB so far, too much"):
        registry.read("/dev/zero")


@pytest.mark.parametrize("name", [name for name in registry.FORMATS if name != "rank-lines"])
def test_a_mark_of_byte_order_alone_is_an_empty_file(name: str, tmp_path: Path) -> None:
    file = tmp_path / "bom.csv"
    file.write_bytes(b"\xef\xbb\xbf")
    with pytest.raises(InputError, match=r"is empty|holds no"):
        registry.read(file, format=name)


DEEP = "[" * 100_000
HALF = '{"user_id": "\\ud800", "item_i": 0, "annotation": [], "doc_id": "x", "scores": {}}'
LONG = '[{"system": "a", "score": ' + "9" * 5000 + "}]"


@pytest.mark.parametrize("text", [DEEP, HALF, LONG, '{"a": ' * 50_000])
@pytest.mark.parametrize("name", ["judgments", "pearmut", "wmt-humeval"])
def test_json_that_no_table_can_hold(name: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / "odd.jsonl"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError):
        registry.read(file, format=name)


def test_a_broken_deflate_stream_is_explained(tmp_path: Path) -> None:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.json", json.dumps([{"items": [], "task": {}}] * 50))
        archive.writestr("b.json", "[]")
    raw = bytearray(whole.getvalue())
    raw[40:60] = b"\xff" * 20
    file = tmp_path / "batches.zip"
    file.write_bytes(bytes(raw))
    with pytest.raises(InputError, match="damaged zip file"):
        read_batches([file])
    file = tmp_path / "table.csv.gz"
    packed = bytearray(gzip.compress(b"system,score\na,1\n" * 500))
    packed[20:40] = b"\xff" * 20
    file.write_bytes(bytes(packed))
    with pytest.raises(InputError, match="cannot be read"):
        registry.read(file)
    file = tmp_path / "table.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", b"system,score\na,1\n" * 500)
    raw = bytearray(file.read_bytes())
    raw[40:50] = b"\xff" * 10
    file.write_bytes(bytes(raw))
    with pytest.raises(InputError, match="cannot be read"):
        registry.read(file)


@pytest.mark.parametrize("name", ["table.zip", "ratings.xlsx", "batches.zip", "log.eval"])
def test_an_archive_whose_offsets_point_outside_of_it_is_explained(name: str, tmp_path: Path) -> None:
    """Python's reader raises a plain ValueError for these."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("a.csv" if name == "table.zip" else "header.json", b"system,score\na,1\nb,2\n")
    # A byte is missing before the directory, which counts from the beginning.
    raw = whole.getvalue()
    file = tmp_path / name
    file.write_bytes(raw[:35] + raw[46:])
    with pytest.raises(InputError) as caught:
        read_batches([file]) if name == "batches.zip" else registry.read(file)
    assert len(str(caught.value)) < 400


def test_parquet_that_was_written_comes_back(tmp_path: Path) -> None:
    judgments = Judgments.from_columns(ROWS)
    native.write(judgments, tmp_path / "a.parquet")
    assert pl.read_parquet(tmp_path / "a.parquet").equals(judgments.table)


@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_a_header_of_a_hundred_thousand_columns_is_refused(tmp_path: Path, separator: str) -> None:
    """Reading it took minutes: each column costs work, however few rows there are."""
    file = tmp_path / "wide.csv"
    file.write_text(separator.join(["system", "score", *(f"c{i}" for i in range(100_000))]) + "\na,1\n")
    with pytest.raises(InputError, match="has 100,002 columns, a table may have 20,000"):
        registry.read(file)


@pytest.mark.parametrize("name", ["Aa" * 50_000, "x" * 6_000], ids=["words", "letters"])
def test_a_name_of_a_column_that_is_a_whole_file_is_refused(tmp_path: Path, name: str) -> None:
    """Its words were compared with all that are known, for minutes."""
    file = tmp_path / "long.csv"
    file.write_text(f"system,score,{name}\na,1,2\nb,2,3\n")
    with pytest.raises(InputError, match=r"a column whose name has \d+,000 characters"):
        registry.read(file)


def test_objects_that_each_name_fields_of_their_own_are_refused(tmp_path: Path) -> None:
    """A file of 1 MB took gigabytes and minutes: each field is a column."""
    file = tmp_path / "fields.jsonl"
    file.write_text("".join(f'{{"system": "a", "score": {i % 9}, "k{i}": 1}}\n' for i in range(25_000)))
    with pytest.raises(InputError, match="has 25,002 columns, a table may have 20,000"):
        registry.read(file)


def test_a_text_that_counts_for_many_outputs_is_read_within_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file has it once, the table in each row."""
    file = tmp_path / "nested.json"
    outputs = [{"system": f"s{i}", "score": 1} for i in range(1000)]
    file.write_text(json.dumps([{"source": "x" * 30_000, "outputs": outputs}]))
    monkeypatch.setattr(files, "memory_at_hand", lambda: 20_000_000)
    with pytest.raises(InputError, match="30 MB once read, too much for the 20 MB"):
        registry.read(file)


def test_half_of_a_character_in_an_answer_is_set_aside(tmp_path: Path) -> None:
    """Written as an escape inside of error spans, it ended in an error of the library that keeps tables."""
    file = tmp_path / "appraise.csv"
    row = 'engces0101,sysA,{0},TGT,eng,ces,80,doc,False,"[{{""start_i"":2,""end_i"":5,""severity"":""{1}""}}]",0,1\n'
    file.write_text("".join(row.format(i, "minor") for i in range(1, 4)) + row.format(4, "\\ud800"))
    judgments = registry.read(file, format="appraise", bad_rows=0.5)
    assert len(judgments) == 3
    assert sum(part.rows for part in judgments.set_aside) == 1


# Python converts no more than 4,300 digits to a number.
DIGITS = "9" * 5000


@pytest.mark.parametrize("named", [f"system{DIGITS}Id,system1rank", f"system1Id,system{DIGITS}rank"])
def test_a_column_number_of_many_digits_is_explained(tmp_path: Path, named: str) -> None:
    file = tmp_path / "ranks.csv"
    file.write_text(f"srclang,trglang,srcIndex,segmentId,judgeId,{named}\nces,eng,1,1,ann,a,1\n")
    with pytest.raises(InputError, match="no column 'system1"):
        registry.read(file, format="wmt-ranking")


def test_a_round_of_many_digits_is_set_aside(tmp_path: Path) -> None:
    file = tmp_path / "esa.jsonl"
    good = {"doc_id": "d_#_1", "scores": {"a": {"human1": 70}, "b": {"human1": 60}}}
    odd = {"doc_id": "d_#_2", "scores": {"a": {f"human{DIGITS}": 70}, "b": {"human1": 60}}}
    file.write_text(f"{json.dumps(good)}\n{json.dumps(odd)}\n")
    judgments = registry.read(file, format="wmt-humeval", bad_rows=1.0)
    assert len(judgments) == 3
    assert sum(part.rows for part in judgments.set_aside) == 1


def test_json_nested_too_deeply_inside_a_log_is_explained(tmp_path: Path) -> None:
    file = tmp_path / "log.eval"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("header.json", "{}")
        archive.writestr("samples/1.json", "[" * 100_000)
    with pytest.raises(InputError, match="zip archive"):
        registry.read(file)
