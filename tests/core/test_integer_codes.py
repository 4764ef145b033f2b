"""Codes of rows against the dense rank of their columns taken together."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.core.integer_codes import codes_of, renumber
from tests.conftest import examples

WORDS = st.one_of(st.none(), st.sampled_from(["", "a", "b", "10", "9", "é", "語", "a b"]))


@settings(max_examples=examples(60))
@given(st.lists(st.tuples(WORDS, WORDS, WORDS), max_size=40))
def test_codes_are_dense_ranks(rows: list[tuple[str | None, ...]]) -> None:
    names = ("x", "y", "z")
    table = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    for found, key in zip(codes_of(table, names, ("z", "x")), (names, ("z", "x")), strict=True):
        expected = table.select(pl.struct(key).rank("dense").cast(pl.Int64) - 1).to_series().to_list()
        assert found.tolist() == expected


@pytest.mark.parametrize("codes", [[], [3, 3, 1], [5, 10**12, 5, 0], [-1, 4, -1]])
def test_renumbered_codes_have_no_gaps_and_keep_their_order(codes: list[int]) -> None:
    given = np.array(codes, dtype=np.int64)
    assert renumber(given).tolist() == [sorted(set(codes)).index(code) for code in codes]
