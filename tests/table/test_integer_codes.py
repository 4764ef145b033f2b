"""Codes of rows against the dense rank of their columns taken together, hashes against counts of rows that agree."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.table.judgments import codes_of, has_single, key_hashes, mark_among, mark_repeated, renumber
from tests.conftest import examples

WORDS = st.one_of(st.none(), st.sampled_from(["", "a", "b", "10", "9", "é", "語", "a b"]))


@settings(max_examples=examples(60))
@given(st.lists(st.tuples(WORDS, WORDS, WORDS), max_size=40))
def test_codes_are_dense_ranks(rows: list[tuple[str | None, ...]]) -> None:
    names = ("x", "y", "z")
    table = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    for codes, key in zip(codes_of(table, names, ("z", "x")), (names, ("z", "x")), strict=True):
        expected = table.select(pl.struct(key).rank("dense").cast(pl.Int64) - 1).to_series().to_list()
        assert codes.tolist() == expected


@pytest.mark.parametrize("codes", [[], [3, 3, 1], [5, 10**12, 5, 0], [-1, 4, -1]])
def test_renumbered_codes_have_no_gaps_and_keep_their_order(codes: list[int]) -> None:
    given = np.array(codes, dtype=np.int64)
    assert renumber(given).tolist() == [sorted(set(codes)).index(code) for code in codes]


NAMES = ("annotator", "task", "segment")
FEW_WORDS = st.sampled_from([None, "", "a", "b", "aa"])
ROWS = st.lists(st.tuples(FEW_WORDS, FEW_WORDS, FEW_WORDS), max_size=12)


def words(rows: list[tuple[str | None, ...]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict.fromkeys(NAMES, pl.String), orient="row")


@settings(max_examples=examples(60))
@given(ROWS)
def test_hashes_tell_which_rows_agree(rows: list[tuple[str | None, ...]]) -> None:
    hashes = key_hashes(words(rows), NAMES)
    counts = Counter(rows)
    assert len(set(hashes.tolist())) == len(counts)
    assert mark_repeated(hashes).tolist() == [counts[row] > 1 for row in rows]
    assert has_single(hashes) == (1 in counts.values())


@settings(max_examples=examples(60))
@given(ROWS, st.integers(0, 12))
def test_hashes_are_looked_up_among_others(rows: list[tuple[str | None, ...]], cut: int) -> None:
    hashes = key_hashes(words(rows), NAMES)
    wanted = set(rows[:cut])
    assert mark_among(hashes, hashes[:cut]).tolist() == [row in wanted for row in rows]


def test_the_same_word_in_another_column_is_another_key() -> None:
    hashes = key_hashes(words([("a", "b", None), ("b", "a", None), ("a", None, "b"), ("b", None, "a")]), NAMES)
    assert len(np.unique(hashes)) == 4
