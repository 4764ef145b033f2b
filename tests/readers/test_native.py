"""What is written is read back the same, in Parquet and in CSV; tables made by hand are understood."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.people.check import check
from adjudge.ranking.methods import rank
from adjudge.readers import native, registry
from adjudge.readers.options import ReadOptions
from adjudge.table.errors import InputError, UsageError
from adjudge.table.judgments import SCHEMA, Judgments
from adjudge.table.protocols import KINDS, ON_SCALE, PROTOCOLS
from tests.conftest import examples

# No file of text can hold a zero byte, and no UTF-8 a lone surrogate.
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
ODD = st.sampled_from(
    (
        *("", " ", '"', '""', ",", ";", "\t", "\n", "\r", "\r\n", "null", "NaN", "#", "\ufeff", "\u2028", "'"),
        *("=1+1", "@", "-", "+5", "-5", "'-5", "'=", "''@a"),
    )
)

ANY_TEXT = st.one_of(st.none(), TEXT, ODD, st.tuples(TEXT, ODD).map("".join))
TIME = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)).map(lambda time: time.replace(tzinfo=UTC))  # noqa: DTZ001
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
OFFSET = st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1))
SPANS = st.lists(
    st.fixed_dictionaries(
        {
            "start": OFFSET,
            "end": OFFSET,
            "severity": ANY_TEXT,
            "category": ANY_TEXT,
            "side": st.sampled_from([None, "source", "target", "missing"]),
            "text": ANY_TEXT,
        }
    ),
    max_size=2,
)


def _on_scale(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"score": row["score"] % 100} if row["protocol"] in ON_SCALE and row["score"] is not None else row


ROW = st.fixed_dictionaries(
    {
        **{name: ANY_TEXT for name, dtype in SCHEMA.items() if dtype == pl.String},
        "system": st.one_of(TEXT, ODD).filter(bool),
        "protocol": st.sampled_from(tuple(PROTOCOLS)),
        "kind": st.sampled_from(tuple(KINDS)),
        "human": st.booleans(),
        "score": st.one_of(st.none(), NUMBER),
        "rank": st.one_of(st.none(), st.integers(1, 2**31 - 1)),
        "spans": st.one_of(st.none(), SPANS),
        "started": st.one_of(st.none(), TIME),
        "ended": st.one_of(st.none(), TIME),
        "active_seconds": st.one_of(st.none(), NUMBER.map(abs)),
        "revision": st.integers(0, 2**31 - 1),
        "own column": ANY_TEXT,
    }
).map(_on_scale)


@pytest.mark.slow
@settings(max_examples=examples(40))
@given(rows=st.lists(ROW, min_size=1, max_size=4, unique_by=lambda row: str(row["segment"])))
@pytest.mark.parametrize("ending", ["parquet", "csv", "tsv"])
def test_a_table_comes_back_as_it_was(
    ending: str, rows: list[dict[str, object]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    schema = {**SCHEMA, "own column": pl.String}
    judgments = Judgments.from_columns(pl.DataFrame(rows, schema=schema))
    file = tmp_path_factory.mktemp("native") / f"table.{ending}"
    native.write(judgments, file)
    back = registry.read([file])
    assert back.table.equals(judgments.table)
    assert back.table.schema == judgments.table.schema
    assert back.fingerprint == judgments.fingerprint
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def read(tmp_path: Path, text: str) -> Judgments:
    file = tmp_path / "table.csv"
    file.write_bytes(text.encode())
    return registry.read([file])


def test_nothing_is_missing_and_two_quotes_are_empty(tmp_path: Path) -> None:
    judgments = read(tmp_path, 'system,score,text\na,1,""\nb,"",\n')
    assert judgments.table["text"].to_list() == ["", None]
    assert judgments.table["score"].to_list() == [1.0, None]


def test_a_blank_name_is_no_name(tmp_path: Path) -> None:
    """Programs that quote every cell write two quotes for what is missing: that was one more person."""
    names = ("annotator", "task", "screen", "document", "segment")
    lines = [f"system,score,{','.join(names)}", 'a,1,"","","","",""', 'b,2," "," "," "," "," "', "c,3,n,n,n,n,n"]
    table = read(tmp_path, "\n".join(lines)).table
    assert [table[name].to_list() for name in names] == [[None, None, "n"]] * 5


def test_marks_of_passed_and_rejected_work_are_true_or_false_in_csv_too(tmp_path: Path) -> None:
    rows = [(f"a{i % 4}", f"s{i % 3}", str(i // 3), 10.0 * (i % 3) + i % 7, i % 4 != 3, i % 4 == 1) for i in range(96)]
    names = ["annotator", "system", "segment", "score", "passed", "rejected"]
    table = pl.DataFrame(rows, schema=names, orient="row").with_columns(
        protocol=pl.lit("da"), campaign=pl.lit("t"), document=pl.col("segment").str.slice(0, 1)
    )
    table.write_parquet(tmp_path / "t.parquet")
    table.write_csv(tmp_path / "t.csv")
    checked = [check(registry.read(tmp_path / name)).to_dict() for name in ("t.parquet", "t.csv")]
    assert checked[0]["annotators"] == checked[1]["annotators"]
    assert [person["rejected"] for person in checked[1]["annotators"]] == [False, True, False, False]
    marked = table.with_columns(copy=pl.col("rejected"), z=pl.lit(0.25), n=pl.lit(2))
    marked.write_parquet(tmp_path / "marked.parquet")
    marked.write_csv(tmp_path / "marked.csv")
    customary = [rank(registry.read(tmp_path / f"marked.{end}"), method="zscore").systems for end in ("parquet", "csv")]
    assert customary[0] == customary[1]
    left = [rank(registry.read(tmp_path / name), method="mixed").set_aside for name in ("t.parquet", "t.csv")]
    assert left[0] == left[1]
    assert any(aside.rows == 24 for aside in left[1])


def test_own_columns_named_like_marks_stay_as_they_are(tmp_path: Path) -> None:
    text = "system,segment,score,annotator,passed,rejected,copy\nx,1,50,a,2024-05-01,no,b\ny,1,60,a,later,yes,c\n"
    judgments = read(tmp_path, text)
    assert judgments.table["passed"].to_list() == ["2024-05-01", "later"]
    assert judgments.table["rejected"].to_list() == [False, True]
    check(judgments)
    assert len(rank(judgments, method="raw").systems) == 2


def test_a_table_made_by_hand(tmp_path: Path) -> None:
    judgments = read(
        tmp_path,
        "system;source_lang;rank;score;human;started;note\r\n"
        "a;Czech;1.0;;yes;2024-05-01 12:00:00;x\r\n"
        "b;cze;;7,5;0;2024-05-01;y\r\n".replace("7,5", "7.5"),
    )
    assert judgments.table["source_lang"].to_list() == ["cs", "cs"]
    assert judgments.table["rank"].to_list() == [1, None]
    assert judgments.table["human"].to_list() == [True, False]
    assert judgments.table["started"].to_list() == [
        datetime(2024, 5, 1, 12, tzinfo=UTC),
        datetime(2024, 5, 1, tzinfo=UTC),
    ]
    assert judgments.table["protocol"].to_list() == ["ranking", "da"]
    assert judgments.table["note"].to_list() == ["x", "y"]
    assert "2 rows name no protocol" in judgments.notes[0]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2024-05-01T12:00:00Z", datetime(2024, 5, 1, 12, tzinfo=UTC)),
        ("2024-05-01T12:00:00.25+02:00", datetime(2024, 5, 1, 10, 0, 0, 250_000, tzinfo=UTC)),
        ("2024-05-01T12:00:00+0530", datetime(2024, 5, 1, 6, 30, tzinfo=UTC)),
        ("2024-05-01 12:00:00.5 -05", datetime(2024, 5, 1, 17, 0, 0, 500_000, tzinfo=UTC)),
        ("2024-05-01  12:00 +02:00", datetime(2024, 5, 1, 10, tzinfo=UTC)),
        ("2024-05-01T12:00Z", datetime(2024, 5, 1, 12, tzinfo=UTC)),
        ("2024-05-01 12:00:00 UTC", datetime(2024, 5, 1, 12, tzinfo=UTC)),
        ("2024-05-01 12:00:00", datetime(2024, 5, 1, 12, tzinfo=UTC)),
        ("2024-05-01", datetime(2024, 5, 1, tzinfo=UTC)),
    ],
)
def test_forms_of_time_may_be_mixed(tmp_path: Path, written: str, meant: datetime) -> None:
    judgments = read(tmp_path, f"system,rank,ended\na,1,2020-01-01T00:00:00Z\nb,2,{written}\nc,3,\n")
    assert judgments.table["ended"].to_list()[1:] == [meant, None]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("system,rank\n", "holds a header but no judgments"),
        ("name,rank\na,1\n", "no column 'system'"),
        ("system,rank,rank\na,1,2\n", "has the column 'rank' twice"),
        ("system,rank\na,1\nb,1,2\n", "line 3: 3 fields where the header has 2"),
        ("system,rank\na,1\n\nb\n", "line 4: 1 field where the header has 2"),
        ('system,rank\n"a\nb",1\nc,0\n', "line 4: column 'rank' holds 0"),
        ("system,annotator\na,x\n", "no column 'rank' or 'score', it has system, annotator"),
        ("system,protocol\na,da\n", "no column 'rank' or 'score'"),
        ("system,protocol,rank\na,da,1\n", "no column 'score', which protocol 'da' needs"),
        ("system,score\na,99\nb,1000\n", "line 3: score is 1000, it must lie between 0 and 100"),
        ("system,protocol,score\na,esa,-3\n", "line 2: score is -3"),
        ("system,score\na,inf\n", "line 2: column 'score' holds 'inf'"),
        ("system,spans\na,{}\n", "a JSON list of spans"),
        ("system,spans\na,[1]\n", "a JSON list of spans"),
        ('system,spans\na,"[{""begin"": 1}]"\n', "a JSON list of spans"),
        ('system,spans\na,"[{""start"": ""one""}]"\n', "a JSON list of spans"),
        ('system,spans\na,"[{""start"": 1e3}]"\n', "a JSON list of spans"),
        (f'system,spans\na,"[{{""start"": {2**70}}}]"\n', "a JSON list of spans"),
        ('system,spans\na,"[{""text"": ""\\ud800""}]"\n', "a JSON list of spans"),
        ("system,spans\na," + "[" * 100_000 + "\n", "a JSON list of spans"),
        ("PAR1 and then nothing", "is damaged Parquet"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read(tmp_path, text)


def test_parquet_of_other_tools(tmp_path: Path) -> None:
    file = tmp_path / "table.parquet"
    frame = pl.DataFrame(
        {
            "system": pl.Series(["a", "b"], dtype=pl.Categorical),
            "segment": [1, 2],
            "rank": [1.0, None],
            "started": [datetime(2024, 1, 1), datetime(2024, 1, 2)],  # noqa: DTZ001
            "list": [[1, 2], None],
        }
    )
    frame.write_parquet(file)
    judgments = registry.read([file])
    assert judgments.table["segment"].to_list() == ["1", "2"]
    assert judgments.table["started"].to_list()[0] == datetime(2024, 1, 1, tzinfo=UTC)
    native.write(judgments, tmp_path / "table.csv")
    assert registry.read([tmp_path / "table.csv"]).table["list"].to_list() == ["[1, 2]", None]


def test_columns_of_unlike_kinds_are_pooled_as_text(tmp_path: Path) -> None:
    pl.DataFrame({"system": ["a"], "rank": [1], "own": [[1]]}).write_parquet(tmp_path / "one.parquet")
    pl.DataFrame({"system": ["b"], "rank": [1], "own": ["x"]}).write_parquet(tmp_path / "two.parquet")
    pooled = registry.read([tmp_path / "one.parquet", tmp_path / "two.parquet"])
    assert pooled.table["own"].to_list() == ["[1]", "x"]


def test_a_file_counts_once(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("system,rank\na,1\n")
    with pytest.raises(InputError, match="given twice"):
        registry.read([file, tmp_path / "." / "table.csv"])


def ranks(tmp_path: Path, *given: int) -> Path:
    file = tmp_path / "ranks.csv"
    rows = "".join(f"ann,1,s{i},{rank}\n" for i, rank in enumerate(given))
    file.write_text(f"annotator,screen,system,rank\n{rows}")
    return file


def test_a_scale_that_is_told_is_kept_to(tmp_path: Path) -> None:
    file = ranks(tmp_path, 1, 2, 7)
    with pytest.raises(InputError, match="line 4: rank is 7, it must lie between 1 and 5; correct it"):
        registry.read([file], options=ReadOptions(labels=5))
    assert len(registry.read([file], options=ReadOptions(labels=7))) == 3
    with pytest.raises(UsageError, match="'labels' is 1"):
        registry.read([file], options=ReadOptions(labels=1))


def test_ranks_that_no_block_explains_are_pointed_out(tmp_path: Path) -> None:
    assert "the largest rank is 7 (in 1 row)" in registry.read([ranks(tmp_path, 1, 2, 7)]).notes[-1]
    for usual in ([1, 2, 5], [1, 2, 3, 4, 5, 6, 7]):
        assert not [note for note in registry.read([ranks(tmp_path, *usual)]).notes if "largest rank" in note]


@pytest.mark.parametrize(("name", "ending"), [("table.CSV", ","), ("table.Tsv", "\t")])
def test_endings_in_capitals_mean_the_same(name: str, ending: str, tmp_path: Path) -> None:
    native.write(Judgments.from_columns(pl.DataFrame({"system": ["a"]})), tmp_path / name)
    assert f"annotator{ending}" in (tmp_path / name).read_text().partition("\n")[0]


@pytest.mark.parametrize(
    ("name", "how"),
    [("table.json", "as '.json'"), ("table.JSONL", "as '.JSONL'"), ("table.foo", "as '.foo'"), ("table", "without an")],
)
def test_a_name_that_does_not_say_what_to_write_is_refused(name: str, how: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"{name}: .* {how}.*; end the name in \.parquet, \.csv or \.tsv"):
        native.write(Judgments.from_columns(pl.DataFrame({"system": ["a"]})), tmp_path / name)
    assert not list(tmp_path.iterdir())
