"""Fingerprints are the first digits of SHA-256, for text, bytes and files alike."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING

import polars as pl
import pytest

import adjudge
from adjudge.table.judgments import SCHEMA, Judgments, fingerprint, fingerprint_of_file, fingerprint_of_parts

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


def _mixed(number: int) -> int:
    """SplitMix64 after its addition: G. L. Steele and others (2014), Fast splittable pseudorandom number generators."""
    number = ((number ^ number >> 30) * 0xBF58476D1CE4E5B9) % 2**64
    number = ((number ^ number >> 27) * 0x94D049BB133111EB) % 2**64
    return number ^ number >> 31


def _of_cell(column: pl.Series, row: int) -> int:
    """The number of a cell, one sign or one number at a time."""
    value = column[row]
    if column.name in SCHEMA and column.dtype in (pl.Float64, pl.Int32, pl.Boolean):
        if value is None:
            return 0x9E3779B97F4A7C15
        # Both zeros are one number.
        packed = struct.pack("<d", value + 0.0) if isinstance(value, float) else struct.pack("<q", value)
        (bits,) = struct.unpack("<Q", packed)
        return _mixed(bits)
    cell = column[row : row + 1]
    text = cell.str.replace_all("\n", "\u2028", literal=True) if column.dtype == pl.String else cell
    signs = text.to_frame().write_csv(include_header=False).encode()
    return _mixed(sum(_mixed(place << 8 | sign) for place, sign in enumerate(signs)) % 2**64)


def _by_hand(table: pl.DataFrame) -> str:
    """The fingerprint of a table without nested columns, cell by cell."""
    columns = [c for c in table.iter_columns() if c.name != "screen" and (c.name in SCHEMA or c.count())]
    total, blocks = 0, dict[str, int]()
    for row in range(table.height):
        cells = ((place, c) for place, c in enumerate(columns, start=1) if c.count())
        number = _mixed(sum(_mixed(_of_cell(c, row) ^ place << 48) for place, c in cells) % 2**64)
        screen = table["screen"][row]
        if screen is None:
            total += number
        else:
            blocks[screen] = blocks.get(screen, 0) + number
    total += sum(_mixed(number % 2**64) for number in blocks.values())
    return fingerprint(f"{json.dumps([c.name for c in columns])} {table.height} {total % 2**64:x}")


@pytest.mark.parametrize("at_once", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("times", [1, 20])
def test_the_fingerprint_is_that_of_the_cells_one_by_one(
    at_once: int, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However much is hashed at once, and whether words stand in many rows or in one."""
    columns: dict[str, list[object]] = {
        "system": ["a", 'b,"', "c"], "score": [1.5, None, -0.0], "segment": ["1", "2", "é\nf"], "text": ["", None, "x"],
        "screen": ["1", None, "1"], "human": [True, False, False], "own": [1, 2, None],
    }  # fmt: skip
    table = Judgments.from_columns({name: values * times for name, values in columns.items()}).table
    whole = Judgments(table).fingerprint
    monkeypatch.setattr("adjudge.table.judgments.ROWS_AT_ONCE", at_once)
    monkeypatch.setattr("adjudge.table.judgments.SIGNS_AT_ONCE", at_once)
    assert Judgments(table).fingerprint == whole == _by_hand(table)


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
