"""Bad input through the command: one sentence, the right exit code, no traceback, nothing half-written.

The property tests in `tests/readers/test_every_reader.py` throw random files at the readers; here the faults that the
contract names go through the command as a user meets them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from adjudge.readers.registry import FORMATS
from tests.conftest import Run, assert_explained
from tests.helpers.samples import SAMPLES
from tests.helpers.tables import command

BLOCK = SAMPLES["wmt-ranking"][0]
ASSESSMENTS, BATCH, DOCUMENTS = SAMPLES["wmt-da"][0], SAMPLES["mturk-da"][0], SAMPLES["appraise"][1]
ERRORS, RATINGS, SUBMITTED = SAMPLES["appraise"][2], SAMPLES["mqm"][0], SAMPLES["pearmut"][0]
FAULTS: dict[str, tuple[str, bytes | None, tuple[str, ...]]] = {
    "missing file": ("wmt-ranking", None, ("no such file", "bad.csv")),
    "empty file": ("wmt-ranking", b"", ("bad.csv", "is empty")),
    "header only": ("wmt-ranking", BLOCK.split("\n")[0].encode(), ("bad.csv", "no ranking")),
    "binary file": ("wmt-ranking", b"\x7fELF\r\n\x1a\n\0\0\0\rIHDR", ("bad.csv, line", "binary")),
    "picture": ("wmt-ranking", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", ("bad.csv", "is a picture; give the table")),
    "not UTF-8": ("wmt-ranking", BLOCK.encode() + "é".encode("latin-1"), ("bad.csv, line 4", "UTF-8")),
    "truncated file": ("wmt-ranking", BLOCK.encode()[:-20], ("bad.csv, line 3", "fields")),
    "open quote": ("wmt-ranking", BLOCK.encode() + b'Czech,"English,1', ("bad.csv, line 4", "quotes")),
    "wrong columns": ("wmt-ranking", b"a,b\n1,2\n", ("bad.csv, line 1", "no column", "it has a, b")),
    "rank of 7": ("wmt-ranking", BLOCK.replace("1,3,2\n", "1,7,2\n").encode(), ("bad.csv, line 2", "'7'", "1 and 5")),
    "truncated Parquet": ("judgments", b"PAR1\x15\x04\x15", ("bad.csv", "Parquet")),
    "rank below one": ("judgments", b"system,rank\na,0\n", ("bad.csv", "rank", "0")),
    "score that is no number": ("judgments", b"system,score\na,many\n", ("bad.csv", "score", "many")),
    "contradictory counts": ("pairwise-counts", b"a b 1 2 3\nb a 1 2 3\n", ("bad.csv, line 2", "line 1")),
    "rank columns not named": ("rank-table", b"segment,a,b\n1,1,2\n", ("bad.csv", "--rank-columns", "segment, a, b")),
    "unknown winner": ("pairwise-table", b"left,right,winner\na,b,c\n", ("bad.csv", "'c'")),
    "assessment of 1000": ("wmt-da", ASSESSMENTS.replace("\t35\t", "\t1000\t").encode(), ("bad.csv, line 3", "1000")),
    "assessment of no known type": (
        "wmt-da",
        ASSESSMENTS.replace("BAD_", "OK_").encode(),
        ("bad.csv, line 4", "OK_REF"),
    ),
    "assessments cut short": ("wmt-da", ASSESSMENTS.encode()[:-9], ("bad.csv, line 6", "9 fields")),
    "no assessments": ("wmt-da", b"", ("bad.csv", "is empty")),
    "answer of 1000": ("mturk-da", BATCH.replace("__71", "__1000").encode(), ("bad.csv, line 2", "1000")),
    "answer cut short": ("mturk-da", BATCH.encode()[:-30], ("bad.csv, line 3", "'a_7_REPEA'")),
    "no answers": ("mturk-da", b"\n", ("bad.csv", "is empty")),
    "result of 1000": ("appraise", DOCUMENTS.replace(",80,", ",1000,").encode(), ("bad.csv, line 1", "'1000'")),
    "results cut in a quote": ("appraise", ERRORS.encode()[:-25], ("bad.csv, line 3", "quotes")),
    "no results": ("appraise", b"", ("bad.csv", "is empty")),
    "unknown severity": ("mqm", RATINGS.replace("Minor", "Odd").encode(), ("bad.csv, line 2", "'Odd'")),
    "no rater": ("mqm", RATINGS.replace("rater", "who").encode(), ("bad.csv", "'annotator'", "who")),
    "ratings cut short": ("mqm", RATINGS.encode()[:-40], ("bad.csv, line 4", "fields")),
    "slider at 1000": ("pearmut", SUBMITTED.replace("90", "1000").encode(), ("bad.csv, line 2", "score is 1000")),
    "log cut short": ("pearmut", SUBMITTED.encode()[:-30], ("bad.csv, line 2", "damaged JSON")),
    "no ranking among the types": ("wmt-ranking-2007", b"TASK,TYPE,ITEM_ID\nt,NIST,1\n", ("bad.csv", "ANNOTATOR_ID")),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_bad_files(fault: str, tmp_path: Path) -> None:
    file_format, raw, names = FAULTS[fault]
    file, output = tmp_path / "bad.csv", tmp_path / "out" / "table.parquet"
    if raw is not None:
        file.write_bytes(raw)
    run = command("import", file, "--format", file_format, "-o", output)
    assert_explained(run, names=names)
    assert not output.exists()
    assert [path.name for path in tmp_path.rglob("*") if path.is_file() and path != file] == []


def test_a_fault_leaves_an_older_output_as_it_was(tmp_path: Path) -> None:
    file, output = tmp_path / "bad.csv", tmp_path / "table.csv"
    file.write_text("system,rank\na,0\n")
    output.write_text("older")
    assert_explained(command("import", file, "-o", output))
    assert output.read_text() == "older"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.csv", "table.csv"]


def test_a_folder_without_files_in_a_process_of_its_own(adjudge: Callable[..., Run], tmp_path: Path) -> None:
    run = adjudge("import", tmp_path, "--format", "wmt-ranking", "-o", tmp_path / "out.csv")
    assert_explained(run, names=("folder", str(tmp_path)))


def test_an_unknown_format_is_a_wrong_call(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text(BLOCK)
    run = command("import", tmp_path / "one.csv", "--format", "wmt-rankin", "-o", tmp_path / "out.csv")
    assert_explained(run, code=2, names=("wmt-rankin", "did you mean 'wmt-ranking'", *FORMATS))


def test_a_pair_that_is_not_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text(BLOCK)
    arguments = ("--format", "wmt-ranking", "--pair", "de-en", "-o", tmp_path / "out.csv")
    run = command("import", tmp_path / "one.csv", *arguments)
    assert_explained(run, names=("'de-en'", "cs-en"))
    assert not (tmp_path / "out.csv").exists()


def test_a_pattern_for_humans_that_is_none_is_a_wrong_call(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text(BLOCK)
    arguments = ("--format", "wmt-ranking", "--human", "(", "-o", tmp_path / "out.csv")
    assert_explained(command("import", tmp_path / "one.csv", *arguments), code=2, names=("--human",))


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text(BLOCK)
    run = command("import", tmp_path / "one.csv", "--format", "wmt-ranking", "-o", tmp_path / "one.csv" / "out.csv")
    assert_explained(run, names=("cannot be written",))


def test_the_same_file_twice(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text(BLOCK)
    files = (tmp_path / "one.csv", tmp_path / "one.csv")
    run = command("import", *files, "--format", "wmt-ranking", "-o", tmp_path / "out.csv")
    assert_explained(run, names=("given twice",))


@pytest.mark.parametrize("name", SAMPLES)
def test_a_good_file_is_imported(name: str, tmp_path: Path) -> None:
    file, output = tmp_path / "good.csv", tmp_path / "out.parquet"
    file.write_text(SAMPLES[name][0], encoding="utf-8")
    arguments = ("--rank-columns", "a_rank,b_rank,c_rank") if name == "rank-table" else ()
    answer = command("import", file, "--format", name, "-o", output, "--json", *arguments).json
    assert answer["rows"] > 0
    assert set(answer) >= {
        *("rows", "annotators", "systems", "documents", "segments", "pairs", "protocols"),
        *("signature", "settings", "version", "set_aside"),
    }
    assert command("import", output, "-o", tmp_path / "again.csv", "--json").json["data"] == answer["data"]
