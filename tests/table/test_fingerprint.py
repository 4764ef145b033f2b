"""Fingerprints are the first digits of SHA-256, for text, bytes and files alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

import adjudge
from adjudge.table.judgments import Judgments, fingerprint, fingerprint_of_file, fingerprint_of_parts

if TYPE_CHECKING:
    from pathlib import Path

# SHA-256 of "abc": FIPS 180-2, appendix B.1.
ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_a_text_has_the_digest_of_its_bytes() -> None:
    assert fingerprint("abc") == ABC[:12]
    assert fingerprint(b"abc", digits=64) == ABC


def test_parts_are_joined() -> None:
    assert fingerprint_of_parts(["a", "bc"]) == ABC[:12]


def test_a_file_has_the_digest_of_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "abc"
    path.write_bytes(b"abc")
    assert fingerprint_of_file(path) == ABC[:12]


@pytest.mark.parametrize("at_once", [1, 2, 3, 100])
def test_a_table_has_one_fingerprint_however_much_is_written_at_once(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = Judgments.from_columns({"system": ["a", 'b,"', "c"], "score": [1.5, None, 2.0]}).table
    whole = Judgments(table).fingerprint
    monkeypatch.setattr("adjudge.table.judgments.ROWS_AT_ONCE", at_once)
    assert Judgments(table).fingerprint == whole


def test_the_order_of_rows_does_not_matter() -> None:
    table = adjudge.simulate("ranking", systems=5, blocks=60, seed=3).judgments.table
    whole = adjudge.read(table)
    assert adjudge.read(table.reverse()).fingerprint == whole.fingerprint
    assert adjudge.read(table[1:]).fingerprint != whole.fingerprint
    swapped = table.with_columns(rank=pl.col("rank").shift(1, fill_value=1))
    assert adjudge.read(swapped).fingerprint != whole.fingerprint


def test_comparisons_that_readers_number_are_the_same_in_any_order() -> None:
    rows = pl.DataFrame({"annotator": ["a", "b", "a"], "item": [1, 2, 3], "left": ["x", "y", "x"],
                         "right": ["y", "z", "z"], "winner": ["left", "right", "tie"]})  # fmt: skip
    assert adjudge.read(rows).fingerprint == adjudge.read(rows.reverse()).fingerprint
    # Two rows of one screen are not the same as one row on each of two screens.
    ranks = pl.DataFrame({"screen": [1, 1], "segment": [1, 1], "system": ["x", "y"], "rank": [1, 1]})
    apart = ranks.with_columns(screen=pl.Series([1, 2]))
    assert adjudge.read(ranks).fingerprint != adjudge.read(apart).fingerprint


def test_texts_of_several_lines_stay_one_row() -> None:
    rows = pl.DataFrame(
        {"system": ["x", "y"], "segment": ["1", "1"], "score": [1.0, 2.0], "text": ["a\nb", "c\u2028d"]}
    )
    assert adjudge.read(rows).fingerprint == adjudge.read(rows.reverse()).fingerprint
    other = rows.with_columns(text=pl.Series(["a", "b"]))
    assert adjudge.read(rows).fingerprint != adjudge.read(other).fingerprint


def test_the_numbers_do_not_depend_on_the_order_of_rows_either() -> None:
    """So that the same signature gives the same numbers, up to the last digits of sums."""
    scores = adjudge.simulate("da", systems=4, annotators=6, tasks=8, controls=0, seed=3).judgments.table
    ranks = adjudge.simulate("ranking", systems=5, blocks=60, seed=3).judgments.table
    for table, methods in (
        (scores, ("mixed", "raw", "zscore", "wmt25")),
        (ranks, ("bradley-terry", "trueskill", "mfas")),
    ):
        mixed = table.sample(fraction=1, shuffle=True, seed=7)
        for method in methods:
            one, other = adjudge.rank(table, method=method), adjudge.rank(mixed, method=method)
            assert one.signature == other.signature
            assert one.order == other.order
            assert [a.score for a in one.systems] == pytest.approx([b.score for b in other.systems], rel=1e-9)
