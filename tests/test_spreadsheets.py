"""Texts that look like formulas are shown as texts by spreadsheets, and can be had back."""

from __future__ import annotations

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.reports.files import as_plain_text
from tests.conftest import examples

TEXT = st.one_of(st.text(alphabet="=+-@\t\r' a", max_size=4), st.none())


def undo_plain_text(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame as it was before `as_plain_text`: without the apostrophe before what looks like a formula."""
    names = {name: name[1:] for name in frame.columns if name[:1] == "'" and name.lstrip("'")[:1] in tuple("=+-@\t\r")}
    return frame.with_columns(pl.col(pl.String).str.replace(r"^'('*[=+\-@\t\r])", "${1}")).rename(names)


@settings(max_examples=examples(100))
@given(st.lists(TEXT, min_size=1, max_size=6))
def test_what_was_changed_for_spreadsheets_can_be_undone(texts: list[str | None]) -> None:
    frame = pl.DataFrame(
        {"=system": texts, "score": [-1.5] * len(texts)}, schema={"=system": pl.String, "score": pl.Float64}
    )
    changed = as_plain_text(frame)
    assert not any(text and text[0] in "=+-@\t\r" for text in [*changed.columns, *changed.to_series(0)])
    assert changed["score"].to_list() == [-1.5] * len(texts)
    assert undo_plain_text(changed).equals(frame)
