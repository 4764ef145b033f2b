"""Fingerprints are the first digits of SHA-256, for text, bytes and files alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

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
def test_a_table_has_the_digest_of_its_csv_however_much_is_written_at_once(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = Judgments.from_columns({"system": ["a", 'b,"', "c"], "score": [1.5, None, 2.0]}).table
    monkeypatch.setattr("adjudge.table.judgments.ROWS_AT_ONCE", at_once)
    written = table.select(pl.exclude("spans"), pl.lit(None, pl.String).alias("spans")).write_csv()
    assert Judgments(table).fingerprint == fingerprint(written)
