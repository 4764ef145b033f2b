"""Whatever a file holds, a reader gives a judgment table or one sentence that explains why not.

All readers of the registry are held to it, also those that come later.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adjudge.readers import native, registry
from adjudge.readers.options import ReadOptions
from adjudge.readers.registry import COMMON_OPTIONS, FORMATS
from adjudge.readers.summary import describe
from adjudge.table.errors import AdjudgeError
from adjudge.table.judgments import SCHEMA, Judgments
from tests.conftest import examples
from tests.helpers.samples import SAMPLES

COLUMNS = sorted(
    {
        *SCHEMA,
        *(
            name
            for texts in SAMPLES.values()
            for text in texts
            for name in text.split("\n")[0].replace("\t", ",").split(",")
        ),
        *(
            "Answer.Q1",
            "WorkerId",
            "HITId",
            "AssignmentId",
            "Input.src",
            "Input.sys_0",
            "AcceptTime",
            "worker",
            "label",
        ),
        *("doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity", "mean", "sd", "SYS", "SID"),
    }
)
CELLS = [
    *(
        "",
        " ",
        "0",
        "1",
        "2",
        "3",
        "5",
        "7",
        "-1",
        "1.5",
        "100",
        "1e400",
        "-0",
        "nan",
        "inf",
        "NaN",
        "null",
        "1_0",
        "١",
    ),
    *("99999999999999999999", "2147483648", "1" * 400, "a", "b", "_ref", "x+y", "a,b", "blank", "Czech", "cze", "en"),
    *("RANK", "NIST", "YES", "UNK", "EDIT", "N/A", "SYSTEM", "BAD_REF", "TGT", "True", "minor", "Major", "<v>bad</v>"),
    *(
        '"',
        '""',
        '"half',
        'mid"dle',
        "\\",
        "'",
        "line\nbreak",
        "\r",
        "\u2028",
        "\x1b[31m",
        "\ufeff",
        "[]",
        "{}",
        "[{}]",
    ),
    *(
        '[{"start_i": 1, "end_i": "missing"}]',
        '[{"start": 1}]',
        "a_1_SYSTEM_0__50|b_2_REF_1__x",
        "2024-05-01T12:00:00Z",
    ),
]
NAMES = [
    "data.csv",
    "data.tsv",
    "ad-latest.csv",
    "test.cs-en.txt",
    "data.jsonl",
    "data.zip",
    "data.csv.gz",
    "data.parquet",
]

odd = st.one_of(st.sampled_from(CELLS), st.text(max_size=8))


@st.composite
def tables(draw: st.DrawFn) -> bytes:
    """A table with columns that formats know, cells that they may not, and here and there a row of another length."""
    delimiter = draw(st.sampled_from([",", "\t", ";", " ", "|"]))
    header = draw(st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=14))
    rows = draw(st.lists(st.lists(odd, min_size=len(header), max_size=len(header)), max_size=4))
    if draw(st.booleans()) and rows:
        rows[-1] = draw(st.lists(odd, max_size=16))
    end = draw(st.sampled_from(["\n", "\r\n", ""]))
    return end.join(delimiter.join(row) for row in [header, *rows]).encode("utf-8", "surrogatepass")


@st.composite
def damaged(draw: st.DrawFn, whole: bytes) -> bytes:
    """A whole file after a few accidents."""
    raw = whole
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(raw)))
        end = min(len(raw), start + draw(st.integers(0, 12)))
        accident = draw(st.sampled_from(["cut", "drop", "insert", "replace", "repeat", "lines"]))
        token = draw(st.one_of(odd.map(lambda text: text.encode("utf-8", "surrogatepass")), st.binary(max_size=3)))
        raw = {
            "cut": raw[:start],
            "drop": raw[:start] + raw[end:],
            "insert": raw[:start] + token + raw[start:],
            "replace": raw[:start] + token + raw[end:],
            "repeat": raw[:end] + raw[start:],
            "lines": b"\n".join(reversed(raw.split(b"\n"))),
        }[accident]
    return raw


def contents(name: str) -> st.SearchStrategy[bytes]:
    wholes = [text.encode() for text in SAMPLES.get(name, ())]
    accidents = [damaged(whole) for whole in wholes] * 2
    return st.one_of(*accidents, tables(), st.binary(max_size=200), st.text(max_size=200).map(str.encode))


VALUES: dict[str, st.SearchStrategy[Any]] = {
    "human": st.sampled_from([None, "a|b", ".*"]),
    "pair": st.sampled_from([None, "cs-en", "", "x"]),
    "strict": st.booleans(),
    "bad_rows": st.sampled_from([0.0, 0.01, 0.5, 1.0]),
    "segment_column": st.sampled_from([None, "segment", "ID", "segment,system", ","]),
    "rank_columns": st.sampled_from([(), ("a_rank", "b_rank", "c_rank"), ("rank", "score"), ("a",), ("", "")]),
    "columns": st.sampled_from(
        [(), ("system=worker",), ("score=label", "segment=system"), ("left=x",), ("x=y",), ("",)]
    ),
    "systems": st.sampled_from([(), ("score", "rank"), ("a", "b"), ("system",), ("screen", "segment")]),
    "wide": st.sampled_from([None, "scores", "ranks", "x"]),
    "winner": st.sampled_from([(), ("left=1", "right=2"), ("tie=",), ("x",)]),
    "labels": st.sampled_from([None, 2, 7, 1]),
}


def options(name: str) -> st.SearchStrategy[ReadOptions]:
    """Options that the format uses, and now and then all of them."""
    used = [option for option in VALUES if option in (*COMMON_OPTIONS, *FORMATS[name].options)]
    return st.one_of(
        st.fixed_dictionaries({}, optional={option: VALUES[option] for option in used}),
        st.fixed_dictionaries({}, optional=VALUES),
    ).map(lambda chosen: ReadOptions(**chosen))


def for_sample(name: str) -> ReadOptions:
    """The options that the sample of a format needs."""
    return ReadOptions(rank_columns=("a_rank", "b_rank", "c_rank")) if name == "rank-table" else ReadOptions()


def check(paths: list[Path], name: str, chosen: ReadOptions) -> Judgments | None:
    """Read; any fault but an explained one, and any table that is none, fails the test."""
    try:
        judgments = registry.read(paths, format=name, options=chosen)
    except AdjudgeError as fault:
        sentence = str(fault)
        assert sentence
        assert sentence.isprintable()
        assert len(sentence) < 1500
        return None
    assert judgments.table.height > 0
    assert dict(list(judgments.table.schema.items())[: len(SCHEMA)]) == SCHEMA
    again = Judgments.from_columns(judgments.table)
    assert again.table.equals(judgments.table)
    assert describe(judgments, {}).rows == judgments.table.height
    assert all(aside.rows > 0 for aside in judgments.set_aside)
    return judgments


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=examples(80), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_file_is_read_or_explained(
    name: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("any", numbered=True)
    raw = data.draw(contents(name))
    file_name = data.draw(st.sampled_from(NAMES))
    file = folder / file_name
    file.write_bytes(gzip.compress(raw) if file_name.endswith(".gz") and data.draw(st.booleans()) else raw)
    path = folder if data.draw(st.integers(0, 9)) == 0 else file
    check([path], name, data.draw(options(name)))


@pytest.mark.parametrize("raw", [b",", b"campaign,", b"\t", b"a,,\n", b",\n,\n", b"a,\nb,", b"[]", b"{}"])
@pytest.mark.parametrize("name", FORMATS)
def test_hardly_anything_is_explained(name: str, raw: bytes, tmp_path: Path) -> None:
    file = tmp_path / "data.csv"
    file.write_bytes(raw)
    assert check([file], name, ReadOptions()) is None


@pytest.mark.parametrize("name", SAMPLES)
def test_whole_samples_are_read_and_come_back(name: str, tmp_path: Path) -> None:
    chosen = for_sample(name)
    for number, text in enumerate(SAMPLES[name]):
        file = tmp_path / f"sample-{number}.csv"
        file.write_text(text, encoding="utf-8")
        judgments = check([file], name, chosen)
        assert judgments is not None
        native.write(judgments, tmp_path / "back.parquet")
        assert registry.read([tmp_path / "back.parquet"]).table.equals(judgments.table)
        native.write(judgments, tmp_path / "back.csv")
        assert registry.read([tmp_path / "back.csv"]).table.equals(judgments.table)


@pytest.mark.parametrize("name", SAMPLES)
def test_two_files_are_one_table_with_screens_of_their_own(name: str, tmp_path: Path) -> None:
    chosen = for_sample(name)
    files = [tmp_path / "one.csv", tmp_path / "two.csv"]
    for file in files:
        file.write_text(SAMPLES[name][0], encoding="utf-8")
    single, both = check(files[:1], name, chosen), check(files, name, chosen)
    assert single is not None
    assert both is not None
    # Files that name the same campaign, and the batches of a folder, hold the same judgments twice: each counts once.
    if name in ("judgments", "mturk-da"):
        assert both.table.height == single.table.height
        assert sum(part.rows for part in both.set_aside) >= single.table.height
    else:
        assert both.table.height == 2 * single.table.height
        keys = pl.struct("campaign", "annotator", "screen", "source_lang", "target_lang")
        assert both.table.select(keys.n_unique()).item() == 2 * single.table.select(keys.n_unique()).item()


def test_every_format_has_a_line_that_says_what_it_is() -> None:
    for name, (_, what, *_) in FORMATS.items():
        assert name == name.lower()
        assert 10 < len(what) < 110
        assert "\n" not in what
