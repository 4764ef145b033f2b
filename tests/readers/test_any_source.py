"""Judgments are read from a path, several, a table in memory of any kind, or are judgments already."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import adjudge
from adjudge import read
from adjudge.table.errors import DataError, UsageError

ROWS = "annotator,segment,system,score,source_lang,target_lang\nann,1,a,70,cs,en\nann,1,b,60,cs,en\nbob,2,a,5,de,en\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "scores.csv"
    path.write_text(ROWS, encoding="utf-8")
    return path


def test_one_path_is_enough(file: Path) -> None:
    from_text, from_path = adjudge.read(str(file)), adjudge.read(file)
    assert from_text.fingerprint == from_path.fingerprint == adjudge.read([file]).fingerprint
    assert len(from_text) == 3


def test_data_frames_are_understood_as_files_are(file: Path) -> None:
    frame = pl.read_csv(file)
    expected = adjudge.read(file)
    stranger = SpeaksArrow(frame)
    columns, records = frame.to_dict(as_series=False), frame.to_dicts()
    for source in (frame, frame.lazy(), pd.read_csv(file), stranger, columns, records):
        judgments = read(source)
        assert judgments.fingerprint == expected.fingerprint
        assert judgments.notes == expected.notes


def test_several_tables_in_memory_are_pooled(file: Path) -> None:
    frame = pl.read_csv(file)
    halves = [pd.read_csv(file)[:1], SpeaksArrow(frame[1:])]
    assert read(halves).fingerprint == adjudge.read(file).fingerprint


class SpeaksArrow:
    """A table of a library that adjudge has never heard of."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self.frame = frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.frame.__arrow_c_stream__(requested_schema)


def test_records_may_lack_fields_and_the_order_of_fields_is_that_of_the_first() -> None:
    records = [{"system": "a", "score": 5, "segment": 1}, {"segment": 1, "system": "b", "score": 7, "note": "late"}]
    table = adjudge.read(records).table
    assert table["score"].to_list() == [5.0, 7.0]
    assert table["note"].to_list() == [None, "late"]


def test_columns_of_unequal_length_are_refused() -> None:
    with pytest.raises(UsageError, match=r"dict cannot be read as a table .*; give columns of one length"):
        adjudge.read({"system": ["a", "b"], "score": [1, 2, 3]})


def test_campaigns_in_one_table_are_called_campaigns() -> None:
    rows = [{"campaign": c, "system": s, "segment": i, "score": i} for c in "xy" for s in "ab" for i in range(3)]
    with pytest.raises(DataError, match=r"hold 2 campaigns \(.*; drop the column 'campaign' if they are one, or take"):
        adjudge.rank(rows)


def test_judgments_stay_what_they_are_and_a_pair_is_selected(file: Path) -> None:
    judgments = adjudge.read(file)
    assert read(judgments) is judgments
    assert read(judgments, pair="de-en").systems == ("a",)
    assert adjudge.read(file, pair="Czech-English").systems == ("a", "b")


@pytest.mark.parametrize("source", [7, None, {"system": "a"}, b"x.csv", [7], [{"system": "a"}, 7]])
def test_anything_else_is_refused_with_what_would_do(source: object) -> None:
    with pytest.raises(UsageError, match="data frame"):
        adjudge.read(source)


def test_an_unknown_setting_is_named(file: Path) -> None:
    with pytest.raises(UsageError, match="did you mean 'human'"):
        adjudge.read(file, humen="ref")  # type: ignore[call-arg]


def test_a_frame_has_no_format() -> None:
    with pytest.raises(UsageError, match="format"):
        adjudge.read(pl.DataFrame({"system": ["a"], "score": [1.0]}), format="appraise")


def test_what_pandas_calls_missing_is_missing() -> None:
    frame = pd.DataFrame(
        {
            "system": ["a", "b"],
            "rank": [1.0, float("nan")],
            "annotator": ["ann", None],
            "started": [pd.Timestamp("2024-05-01T12:00:00Z"), pd.NaT],
        }
    )
    table = adjudge.read(frame).table
    assert table["rank"].to_list() == [1, None]
    assert table["annotator"].to_list() == ["ann", None]
    assert [str(moment) for moment in table["started"]] == ["2024-05-01 12:00:00+00:00", "None"]


def test_the_index_of_a_pandas_frame_is_columns_where_it_has_names(file: Path) -> None:
    frame, expected = pd.read_csv(file), adjudge.read(file)
    for index in (["annotator", "segment"], ["system"]):
        assert adjudge.read(frame.set_index(index)).fingerprint == expected.fingerprint
        assert adjudge.read(frame.set_index(index, drop=False)).fingerprint == expected.fingerprint
    wide = frame.pivot_table(index=["annotator", "segment"], columns="system", values="score")
    assert adjudge.read(wide, systems=["a", "b"]).table["annotator"].to_list() == ["ann", "ann", "bob", "bob"]


def test_numbers_of_which_some_are_missing_are_names_as_in_files() -> None:
    """Data frames hold them as fractions, with NaN where there is none."""
    numbers = {"system": ["a", "b", "c"], "segment": [1.0, 2.0, float("nan")], "score": [50.0, float("nan"), 70.0]}
    for frame in (pl.DataFrame(numbers), pd.DataFrame(numbers)):
        table = adjudge.read(frame).table
        assert table["segment"].to_list() == ["1", "2", None]
        assert table["score"].to_list() == [50.0, None, 70.0]
    assert adjudge.read(pl.DataFrame({**numbers, "segment": [1.5, 2.0, 3.0]})).table["segment"][0] == "1.5"


@pytest.mark.parametrize(
    "times", [[1714564800, 1714564801], [1714564800.0, 1714564801.0], [1714564800000, 1714564801000]]
)
def test_unix_times_are_the_same_in_every_source(times: list[float], tmp_path: Path) -> None:
    columns = {"system": ["a", "b"], "score": [50, 60], "ended": times}
    frame = pl.DataFrame(columns)
    frame.write_csv(tmp_path / "a.csv")
    frame.write_parquet(tmp_path / "a.parquet")
    for source in (frame, pd.DataFrame(columns), tmp_path / "a.csv", tmp_path / "a.parquet"):
        moments = [str(moment) for moment in adjudge.read(source).table["ended"]]
        assert moments == ["2024-05-01 12:00:00+00:00", "2024-05-01 12:00:01+00:00"]


@pytest.mark.parametrize("text", ["2024/05/01 12:00", "01.05.2024 12:00", "01.05.2024 12:00:00"])
def test_dates_that_mean_one_thing_are_understood(text: str) -> None:
    frame = pl.DataFrame({"system": ["a"], "score": [50], "ended": [text]})
    assert str(adjudge.read(frame).table["ended"][0]) == "2024-05-01 12:00:00+00:00"


def test_durations_are_seconds() -> None:
    columns = {"system": ["a"], "score": [50], "active_seconds": [timedelta(seconds=5.5)]}
    for frame in (pl.DataFrame(columns), pd.DataFrame(columns)):
        assert adjudge.read(frame).table["active_seconds"].to_list() == [5.5]


def test_times_of_pandas_finer_than_microseconds_give_no_warning() -> None:
    frame = pd.DataFrame({"system": ["a"], "score": [50], "ended": [pd.Timestamp("2024-05-01T12:00:00.123456789Z")]})
    assert str(adjudge.read(frame).table["ended"][0]) == "2024-05-01 12:00:00.123456+00:00"


def test_a_human_that_no_system_is_called_is_told() -> None:
    columns = {"system": ["a", "ref"], "segment": ["1", "1"], "score": [50.0, 70.0]}
    assert not any("--human" in note for note in adjudge.read(pl.DataFrame(columns), human="ref").notes)
    misspelt = adjudge.read(pl.DataFrame(columns), human="refA")
    assert "no system matches --human 'refA', so none counts as a human translation" in misspelt.notes


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"human": 3}, "'human' is int '3'; give a text"),
        ({"encoding": b"cp1252"}, "'encoding' is bytes"),
        ({"bad_rows": float("nan")}, "'bad_rows' is float 'nan'; give a number"),
        ({"bad_rows": "many"}, "'bad_rows' is str 'many'; give a number"),
        ({"level": float("nan")}, "'level' is nan, a number is needed"),
    ],
)
def test_options_of_another_kind_are_explained(file: Path, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        adjudge.rank(file, **settings)


@pytest.mark.parametrize("name", ["a" * 5000, "folder/" + "a" * 256, "ä" * 200, "x/" * 3000])
def test_a_text_that_is_too_long_for_a_path_is_explained(name: str) -> None:
    """Such as a table given as text."""
    with pytest.raises(UsageError, match="too long for the name of a file"):
        read(name)


def test_classes_derived_from_those_of_libraries_are_tables() -> None:
    class Ratings(pd.DataFrame):  # type: ignore[misc]
        """A table of somebody's own."""

    rows = {"system": ["a", "b"], "score": [70, 60], "note": ["x", None]}
    expected = read(pl.DataFrame(rows)).fingerprint
    assert read(Ratings(rows)).fingerprint == expected
    assert read({name: pd.Series(values) for name, values in rows.items()}).fingerprint == expected


def test_lengths_of_time_beside_the_judgments_are_seconds() -> None:
    frame = pd.DataFrame({"system": ["a", "b"], "score": [70, 60], "pause": pd.to_timedelta([1500, 3000], unit="ms")})
    judgments = read(frame)
    assert judgments.table["pause"].to_list() == [1.5, 3.0]
    assert judgments.fingerprint
