"""Pairs of genuine outputs and controls, against a slow search row by row; colliding hashes do no harm."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from adjudge.people import check as module
from adjudge.people.check import SAME_OUTPUT, SAME_SHOWING, control_pairs, repeat_pairs
from adjudge.table.judgments import Judgments
from adjudge.table.maths import Hashes
from adjudge.table.protocols import KINDS

Pair = tuple[str | None, float, float]


def judgments(seed: int) -> Judgments:
    rng = np.random.default_rng(seed)
    n = 300
    words = {name: rng.choice(["a", "b", "c"], n).tolist() for name in ("task", "document", "segment", "system")}
    kinds = rng.choice(["system", "degraded", "repeat", "reference"], n, p=[0.5, 0.2, 0.2, 0.1])
    missing = rng.random(n) < 0.1
    return Judgments.from_columns(
        {
            **words,
            "annotator": [None if person == "x" else person for person in rng.choice(["p", "q", "x"], n)],
            "kind": kinds,
            "protocol": ["da"] * n,
            "score": [None if gone else float(score) for gone, score in zip(missing, rng.permutation(n), strict=True)],
        }
    )


def slow_pairs(table: pl.DataFrame, control: str, key: tuple[str, ...]) -> list[Pair]:
    """Every control beside the first genuine output of the same key, of the first kind that there is."""
    rows = table.filter(pl.col("score").is_not_null()).rows(named=True)
    pairs = []
    for row in (row for row in rows if row["kind"] == control):
        alike = [other for other in rows if all(other[name] == row[name] for name in key)]
        genuine = [other for kind in KINDS[control].made_from for other in alike if other["kind"] == kind]
        if genuine:
            pairs.append((row["annotator"], genuine[0]["score"], row["score"]))
    return pairs


def in_order(pairs: list[Pair]) -> list[Pair]:
    return sorted(pairs, key=lambda pair: pair[1:])


@pytest.mark.parametrize("colliding", [False, True])
@pytest.mark.parametrize("seed", [1, 2])
def test_pairs_are_those_of_a_slow_search(seed: int, colliding: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if colliding:

        def same_for_all(table: pl.DataFrame, key: tuple[str, ...]) -> Hashes:
            return np.zeros(table.height * min(1, len(key)), dtype=np.uint64)

        monkeypatch.setattr(module, "key_hashes", same_for_all)
    made = judgments(seed)
    table = made.table
    assert in_order(control_pairs(made).rows()) == in_order(slow_pairs(table, "degraded", SAME_SHOWING))
    for within_tasks, key in ((True, SAME_SHOWING), (False, SAME_OUTPUT)):
        pairs = repeat_pairs(made, within_tasks=within_tasks).rows()
        assert pairs
        assert in_order(pairs) == in_order(slow_pairs(table, "repeat", key))
