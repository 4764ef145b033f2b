"""All pairs within blocks, against a slow and obvious way to count them."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.table.comparisons import BLOCK_KEY, Comparisons, comparisons, not_compared
from adjudge.table.errors import DataError
from adjudge.table.judgments import Judgments, SetAside
from tests.conftest import examples

SYSTEMS = ("_ref", "a", "b", "c", "system d", "é")
Row = dict[str, object]


@st.composite
def tables(draw: st.DrawFn) -> list[Row]:
    """Blocks with no label, one, or several; systems may stand twice in one, and blocks may repeat another."""
    rows: list[Row] = []
    for number in range(draw(st.integers(1, 8))):
        annotator = draw(st.sampled_from(["ann", "bob", None]))
        # Without a name and a screen, nobody knows what was ranked together.
        screens = [str(number), "0"] if annotator is None else [str(number), "0", None]
        keys: Row = {
            "campaign": draw(st.sampled_from(["one", "two", None])),
            "source_lang": "cs",
            "target_lang": draw(st.sampled_from(["en", "de"])),
            "annotator": annotator,
            "task": draw(st.sampled_from([None, "hit"])),
            "screen": draw(st.sampled_from(screens)),
            "document": draw(st.sampled_from([None, "other", "doc"])),
            "segment": draw(st.sampled_from(["1", "2"])),
        }
        labels = draw(
            st.lists(st.tuples(st.sampled_from(SYSTEMS), st.one_of(st.none(), st.integers(1, 5))), max_size=6)
        )
        rows += [{**keys, "system": system, "rank": rank} for system, rank in labels]
    return draw(st.permutations(rows))


def make(rows: list[Row], protocol: str = "ranking") -> Judgments:
    frame = pl.DataFrame(rows, infer_schema_length=None)
    return Judgments.from_columns(
        frame.with_columns(pl.lit(protocol).alias("protocol"), (pl.col("system") == "_ref").alias("human"))
    )


def counted_slowly(rows: list[Row]) -> Counter[tuple[object, ...]]:
    blocks: dict[tuple[object, ...], list[tuple[str, int]]] = defaultdict(list)
    for row in rows:
        if row["rank"] is not None:
            blocks[tuple(row[name] for name in BLOCK_KEY)].append((str(row["system"]), int(str(row["rank"]))))
    counts: Counter[tuple[object, ...]] = Counter()
    for key, labels in blocks.items():
        for (combination, rank), (other, other_rank) in combinations(labels, 2):
            if combination == other:
                continue
            better = (rank < other_rank) - (rank > other_rank)
            first, second, outcome = (
                (combination, other, better) if combination < other else (other, combination, -better)
            )
            counts[key[3] or "(unknown)", first, second, outcome] += 1
    return counts


def counted(result: Comparisons) -> Counter[tuple[object, ...]]:
    return Counter(
        (result.annotators[who], result.systems[first], result.systems[second], int(outcome))
        for who, first, second, outcome in zip(
            result.annotator, result.first, result.second, result.outcome, strict=True
        )
    )


@settings(max_examples=examples(60))
@given(tables())
def test_every_pair_of_labels_within_a_block(rows: list[Row]) -> None:
    if not rows:
        return
    result = comparisons(make(rows))
    assert counted(result) == counted_slowly(rows)
    assert result.systems == tuple(sorted({str(row["system"]) for row in rows}))
    assert len(result.label_rank) == sum(row["rank"] is not None for row in rows)
    keys = {tuple(row[name] for name in BLOCK_KEY) for row in rows}
    assert len(result.block_annotator) == len(keys)
    assert [bool(flag) for flag in result.human] == [name == "_ref" for name in result.systems]


@settings(max_examples=examples(25))
@given(tables())
def test_leaving_systems_out_is_the_same_before_and_after(rows: list[Row]) -> None:
    kept = [row for row in rows if row["system"] != "a"]
    if not kept:
        return
    whole = comparisons(make(rows))
    without = whole.without(np.array([name == "a" for name in whole.systems]))
    assert counted(without) == counted(comparisons(make(kept)))


def test_scores_of_pairwise_judgments_are_ranked_within_the_screen() -> None:
    rows: list[Row] = [
        {"screen": "1", "system": "a", "score": 70.0},
        {"screen": "1", "system": "b", "score": 30.0},
        {"screen": "2", "system": "a", "score": 50.0},
        {"screen": "2", "system": "b", "score": 50.0},
    ]
    result = comparisons(make(rows, "pairwise"))
    assert counted(result) == {("(unknown)", "a", "b", 1): 1, ("(unknown)", "a", "b", 0): 1}


def test_only_the_last_revision_counts() -> None:
    rows: list[Row] = [
        {"screen": "1", "system": "a", "rank": 1, "revision": 1},
        {"screen": "1", "system": "a", "rank": 3, "revision": 2},
        {"screen": "1", "system": "b", "rank": 2, "revision": 1},
    ]
    assert counted(comparisons(make(rows))) == {("(unknown)", "a", "b", -1): 1}


def test_scores_alone_are_no_comparisons() -> None:
    with pytest.raises(DataError, match="relative ranks are needed, but the data hold da"):
        comparisons(make([{"system": "a", "score": 1.0}], "da"))


def test_a_table_that_does_not_say_what_was_shown_together() -> None:
    rows: list[Row] = [{"system": f"s{i}", "rank": 1 + i % 5} for i in range(2000)]
    with pytest.raises(DataError, match="2,000 labels stand in one block"):
        comparisons(make(rows))


@pytest.mark.parametrize(
    ("annotator", "segment", "screens"),
    [(None, None, None), (None, "1", None), ("ann", None, None), (None, "1", "s"), ("ann", None, "s")],
)
def test_rankings_that_nothing_tells_apart_are_no_block(
    annotator: str | None, segment: str | None, screens: str | None
) -> None:
    """Two rankings of a above b are two comparisons, where screens tell them apart, and never four."""
    rows: list[Row] = [
        {
            "annotator": annotator,
            "segment": segment,
            "screen": screens and f"{screens}{i}",
            "system": name,
            "rank": rank,
        }
        for i in range(2)
        for name, rank in (("a", 1), ("b", 2))
    ]
    if screens is not None:
        assert len(comparisons(make(rows))) == 2
        return
    with pytest.raises(DataError, match="system 'a' occurs 2 times in one block, so the table does not say"):
        comparisons(make(rows))


def test_outputs_shown_without_a_rank_are_set_aside() -> None:
    """They are no comparisons, whether or not the row says its protocol."""
    keys = {"annotator": "ann", "segment": "1", "source_lang": "cs", "target_lang": "en"}
    ranks = {"a": 1, "b": 2, "c": None}
    judgments = make([{**keys, "system": system, "rank": rank} for system, rank in ranks.items()])
    assert not_compared(judgments) == (SetAside("no rank was given", 1),)
    without_protocol = judgments.table.with_columns(
        pl.when(pl.col("rank").is_null()).then(None).otherwise("protocol").alias("protocol")
    )
    assert not_compared(Judgments(without_protocol)) == (SetAside("no rank was given", 1),)
    assert not_compared(make([{**keys, "system": system, "rank": 1} for system in "ab"])) == ()
