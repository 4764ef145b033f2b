"""Copied and mirrored stretches are found, ordinary agreement is not."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest

from adjudge.people.twins import FEWEST_ITEMS, _all_meetings, _answers, find_twins
from adjudge.table.judgments import Judgments


def ranked(answers: dict[str, np.ndarray]) -> Judgments:
    """Annotator -> (items, 3) ranks of three systems."""
    rows = [
        (who, str(item), f"s{system}", int(rank))
        for who, ranks in answers.items()
        for item, row in enumerate(ranks)
        for system, rank in enumerate(row)
    ]
    names = ("annotator", "segment", "system", "rank")
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    screen = [f"{row[0]}-{row[1]}" for row in rows]
    return Judgments.from_columns({**columns, "screen": screen, "protocol": ["ranking"] * len(rows)})


def random_ranks(seed: int, items: int = 100) -> np.ndarray:
    return np.random.default_rng(seed).integers(1, 4, size=(items, 3))


def test_independent_annotators_are_no_twins() -> None:
    for seed in range(20):
        assert find_twins(ranked({"a": random_ranks(2 * seed), "b": random_ranks(2 * seed + 1)})) == ()


def test_good_agreement_is_not_copying() -> None:
    """Two people who agree on six items in ten, here and there, copy nothing."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        people = {}
        truth = random_ranks(seed)
        for who in "abc":
            same = rng.random(100) < 0.75
            people[who] = np.where(same[:, None], truth, random_ranks(1000 + seed + ord(who)))
        assert find_twins(ranked(people)) == ()


def test_a_mirrored_block_is_found() -> None:
    a, b = random_ranks(1), random_ranks(2)
    b[40:70] = 4 - a[40:70]
    (block,) = find_twins(ranked({"a": a, "b": b}))
    assert block.kind == "mirrored"
    assert block.annotators == ("a", "b")
    assert int(block.first) <= 40
    assert int(block.last) >= 69
    assert block.items >= 30
    assert block.preferences == 3 * block.items
    assert 0 < block.p < 1e-10


def test_a_copied_block_is_found_among_honest_ones() -> None:
    people = {who: random_ranks(i) for i, who in enumerate("abcd")}
    people["e"] = random_ranks(9)
    people["e"][10:40] = people["a"][10:40]
    (block,) = find_twins(ranked(people))
    assert (block.kind, block.annotators) == ("copied", ("a", "e"))


def test_ties_on_both_sides_prove_nothing() -> None:
    ties = np.ones((60, 3), dtype=int)
    assert find_twins(ranked({"a": ties, "b": ties})) == ()


def slowly(table: pl.DataFrame) -> dict[tuple[str, str], list[tuple[str, bool, bool, int, int]]]:
    """What two annotators share, item by item and system by system."""
    answers: dict[str, dict[str, dict[str, float]]] = {}
    for who, item, system, score in table.select("annotator", "segment", "system", "score").iter_rows():
        answers.setdefault(who, {}).setdefault(item, {}).setdefault(system, score)
    by_pair = {}
    for a, b in combinations(sorted(answers), 2):
        rows = []
        for item in [item for item in answers[a] if item in answers[b]]:
            first, second = answers[a][item], answers[b][item]
            pairs = list(combinations(sorted(set(first) & set(second)), 2))
            x, y = ([int(np.sign(own[i] - own[j])) for i, j in pairs] for own in (first, second))
            decided = sum(map(bool, x)) + sum(map(bool, y))
            mirrored = x == [-sign for sign in y]
            rows.append((item, bool(pairs) and x == y, bool(pairs) and mirrored, decided, len(pairs)))
        if len(rows) >= FEWEST_ITEMS:
            by_pair[a, b] = rows
    return by_pair


@pytest.mark.parametrize("seed", range(5))
def test_shared_items_are_those_of_a_slow_comparison(seed: int) -> None:
    """Items in any order, some judged twice, systems missing here and there, many ties."""
    rng = np.random.default_rng(seed)
    n = 400
    table = pl.DataFrame(
        {
            "annotator": rng.choice(["a", "b", "c", "d", "rare"], n, p=[0.3, 0.3, 0.2, 0.19, 0.01]),
            "segment": rng.integers(0, 25, n).astype(str),
            "system": rng.choice(["s1", "s2", "s3", "s4"], n),
            "score": rng.integers(1, 4, n).astype(float),
        }
    )
    judgments = Judgments.from_columns(table.with_columns(protocol=pl.lit("da")))
    by_pair = {
        shared.annotators: list(
            zip(
                (shared.names[item] for item in shared.items),
                shared.copied,
                shared.mirrored,
                shared.decided,
                shared.preferences,
                strict=True,
            )
        )
        for meetings in _all_meetings(_answers(judgments))
        for shared in map(meetings.pair, range(len(meetings.starts)))
    }
    assert by_pair == slowly(table)
