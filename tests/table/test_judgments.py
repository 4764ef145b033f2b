"""The judgment table: types, defaults, what is refused, and taking a table apart."""

from __future__ import annotations

from datetime import UTC, datetime

import polars as pl
import pytest

from adjudge.readers.summary import describe, describe_answers
from adjudge.table.errors import DataError, InputError
from adjudge.table.judgments import SCHEMA, Judgments, SetAside, concat


def test_missing_columns_become_null_or_their_default_and_all_get_their_type() -> None:
    judgments = Judgments.from_columns({"system": ["a", "b"], "rank": [1, None], "own": ["x", "y"]})
    assert dict(judgments.table.schema) == {**SCHEMA, "own": pl.String}
    row = judgments.table.row(0, named=True)
    assert (row["kind"], row["human"], row["revision"], row["source_lang"]) == ("system", False, 1, "und")
    assert row["annotator"] is None


def test_languages_get_one_code() -> None:
    judgments = Judgments.from_columns(
        {"system": ["a", "b", "c"], "source_lang": ["Czech", "ces", None], "target_lang": ["English", "en", "eng"]}
    )
    assert judgments.pairs == ("cs-en", "und-en")


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"rank": [1]}, "no column 'system'"),
        ({"system": ["a", None]}, "row 2: has no system"),
        ({"system": ["a", ""]}, "row 2: has no system"),
        ({"system": ["a"], "rank": ["best"]}, "column 'rank' holds 'best'"),
        ({"system": ["a"], "rank": [1.5]}, r"column 'rank' holds '1\.5'"),
        ({"system": ["a"], "rank": [0]}, "column 'rank' holds 0, at least 1"),
        ({"system": ["a"], "rank": [2**40]}, f"column 'rank' holds '{2**40}'"),
        ({"system": ["a"], "score": ["high"]}, "column 'score' holds 'high'"),
        ({"system": ["a"], "score": [float("inf")]}, "holds inf, a finite number"),
        ({"system": ["a"], "score": [float("nan")]}, "holds nan, a finite number"),
        ({"system": ["a"], "score": [{"value": 1}]}, "column 'score' holds 'Struct"),
        ({"system": ["a"], "active_seconds": [-1.0]}, "column 'active_seconds' holds -1.0"),
        ({"system": ["a"], "protocol": ["guess"]}, "column 'protocol' holds 'guess'; use one of ranking"),
        ({"system": ["a"], "kind": ["x" * 500]}, "column 'kind' holds 'x+…'"),
        ({"system": ["a"], "human": ["perhaps"]}, "column 'human' holds"),
        ({"system": ["a"], "started": ["today"]}, "column 'started' holds"),
        ({"system": [["a"]]}, "column 'system' holds"),
    ],
)
def test_what_is_refused_is_named(columns: dict[str, list[object]], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Judgments.from_columns(columns, source="file.csv")


def test_whole_numbers_that_a_data_frame_made_fractions() -> None:
    written = Judgments.from_columns({"system": ["a", "b"], "rank": ["2.0", None]})
    kept = Judgments.from_columns({"system": ["a", "b"], "rank": [2.0, float("nan")]})
    assert written.table["rank"].to_list() == kept.table["rank"].to_list() == [2, None]


def test_the_last_revision_counts_and_the_others_are_set_aside() -> None:
    judgments = Judgments.from_columns(
        {"system": ["a", "a", "b"], "score": [1.0, 2.0, 3.0], "revision": [1, 2, 1], "segment": ["1", "1", "1"]}
    )
    final = judgments.final()
    assert final.table["score"].to_list() == [2.0, 3.0]
    assert final.set_aside == (SetAside("earlier revision of a judgment that was saved again", 1),)
    assert final.final().table.equals(final.table)


def test_pairs_are_taken_apart_and_campaigns_within_them() -> None:
    judgments = Judgments.from_columns(
        {
            "system": ["a", "b", "c"],
            "campaign": ["one", "two", "one"],
            "source_lang": ["cs", "cs", "de"],
            "target_lang": ["en", "en", "en"],
        }
    )
    assert {name: part.systems for name, part in judgments.by_pair().items()} == {
        "one/cs-en": ("a",),
        "two/cs-en": ("b",),
        "de-en": ("c",),
    }
    assert judgments.for_pair("Czech-English").systems == ("a", "b")
    with pytest.raises(DataError, match="language pair 'fr-en' is not in the data; it has cs-en, de-en"):
        judgments.for_pair("fr-en")


def test_notes_on_other_pairs_stay_with_them() -> None:
    notes = ["scores-cs-en.csv: odd", "scores-de-en.csv: odd", "all: odd", "left alone for de-en, cs-en: odd"]
    judgments = Judgments.from_columns(
        {"system": ["a", "b"], "source_lang": ["cs", "de"], "target_lang": ["en", "en"]}, notes=notes
    )
    assert judgments.for_pair("cs-en").notes == (notes[0], notes[2], notes[3])
    assert judgments.by_pair()["de-en"].notes == (notes[1], notes[2], notes[3])


def test_tutorials_are_no_systems_of_the_campaign() -> None:
    judgments = Judgments.from_columns(
        {"system": ["a", "tutorial1", "b"], "kind": ["system", "tutorial", "degraded"], "annotator": ["x", "x", "y"],
         "document": ["d", "t", "d"], "segment": ["1", "1", "2"]}
    )  # fmt: skip
    facts = describe(judgments, {})
    assert (facts.rows, facts.annotators, facts.systems, facts.documents, facts.segments) == (3, 2, 2, 1, 2)


def test_what_was_left_blank_or_changed_since_is_no_answer() -> None:
    judgments = Judgments.from_columns(
        {"system": ["a", "a", "b", "c"], "annotator": ["x", "x", "x", "y"], "segment": ["1", "1", "1", "2"],
         "score": [1.0, 2.0, 3.0, None], "revision": [0, 1, 0, 0], "protocol": ["da"] * 4}
    )  # fmt: skip
    facts = describe_answers(judgments, {})
    assert (facts.rows, facts.annotators, facts.segments) == (2, 1, 1)
    assert facts.data == judgments.fingerprint


def test_tables_are_put_together_with_what_was_set_aside() -> None:
    first = Judgments.from_columns({"system": ["a"], "own": [1]}, set_aside=[SetAside("why", 2)], notes=["n"])
    second = Judgments.from_columns({"system": ["b"], "own": ["x"]}, set_aside=[SetAside("why", 3)], notes=["n"])
    both = concat([first, second])
    assert both.systems == ("a", "b")
    assert both.set_aside == (SetAside("why", 5),)
    assert both.notes == ("n",)
    assert both.table["own"].to_list() == ["1", "x"]


def test_the_fingerprint_is_of_the_content() -> None:
    base = {"system": ["a"], "text": [""], "started": [datetime(2024, 1, 1, tzinfo=UTC)]}
    judgments = Judgments.from_columns(base)
    assert judgments.fingerprint == Judgments.from_columns(base, notes=["other"]).fingerprint
    assert judgments.fingerprint != Judgments.from_columns({**base, "text": [None]}).fingerprint
    span = {"start": 0, "end": 1, "severity": "minor", "category": None, "side": "target", "text": "x"}
    assert judgments.fingerprint != Judgments.from_columns({**base, "spans": [[span]]}).fingerprint
    assert judgments.fingerprint == Judgments.from_columns({**base, "topic": [None]}).fingerprint
    assert judgments.fingerprint != Judgments.from_columns({**base, "topic": ["law"]}).fingerprint


@pytest.mark.parametrize("extra", [[["a", "b"]], [{"a": 1}], [[{"a": 1}]], [None]])
def test_columns_of_ones_own_may_be_lists_or_records(extra: list[object]) -> None:
    base = {"system": ["s"], "score": [1.0]}
    judgments = Judgments.from_columns(pl.DataFrame({**base, "mine": extra}))
    assert len(judgments.fingerprint) == 12
    assert judgments.fingerprint == Judgments.from_columns(pl.DataFrame({**base, "mine": extra})).fingerprint


@pytest.mark.parametrize("at_once", [0, 2, 100])
def test_rows_of_large_tables_are_those_of_small_ones(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns without any value are not written out in large tables; nobody can tell."""
    columns = {"system": ["a", "b", "c", "a"], "score": [1.0, None, 3.0, 4.0], "own": [None] * 4}
    judgments = Judgments.from_columns(pl.DataFrame(columns, schema_overrides={"own": pl.String}))
    monkeypatch.setattr("adjudge.table.judgments.ROWS_AT_ONCE", at_once)
    for condition in (
        pl.col("system") == "a",
        pl.col("score").is_null(),
        pl.lit(value=False),
        pl.col("task").is_null(),
    ):
        expected = judgments.table.filter(condition)
        assert judgments.select(condition).table.equals(expected)
        assert judgments.keep(condition, otherwise="").table.schema == expected.schema
