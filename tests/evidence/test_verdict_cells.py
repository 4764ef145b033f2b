"""The simulator of the bench of verdicts: what it calls true is what its campaigns show, and its people have faults."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from bench.bench_verdicts import Counts, Pairs, drawn, said, share_of
from bench.campaign_cells import EQUAL, FAILURES, GROUPS, UNEQUAL, UNFRIENDLY, Cell, Relative, Scores

CELLS = [(name, cell) for cells in GROUPS.values() for name, cell in cells.items()]


def means(table: pl.DataFrame) -> np.ndarray:
    return table.group_by("system").agg(pl.col("score").mean()).sort("system")["score"].to_numpy()


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("A: 10% disasters, otherwise 5 points better", FAILURES),
        ("own scales and ceilings, 8 systems, 12 people", UNEQUAL),
        ("most scores at the top, unequal systems", UNFRIENDLY),
    ],
)
def test_the_truth_is_the_mean_of_many_campaigns(name: str, cell: dict[str, Cell]) -> None:
    """Everybody judges every system about as often, so that raw means have no bias."""
    truth = cell[name].truth
    assert truth is not None
    found = np.array([means(drawn(name, cell[name], number)) for number in range(60)])
    found -= found.mean(1, keepdims=True)
    error = found.std(0, ddof=1) / np.sqrt(len(found))
    assert (np.abs(found.mean(0) - truth) < 4 * error).all()
    assert np.ptp(truth) > 10 * error.mean()


def test_equal_systems_are_exactly_equal_in_points() -> None:
    for name, cell in EQUAL.items():
        assert cell.truth is not None
        assert np.ptp(cell.truth) < (0.05 if cell.special else 1e-9), name


@pytest.mark.parametrize(("name", "cell"), CELLS, ids=[name for name, _ in CELLS])
def test_a_campaign_is_drawn_again_by_its_number(name: str, cell: Cell) -> None:
    table = drawn(name, cell, 4)
    assert table.equals(drawn(name, cell, 4))
    assert not table.equals(drawn(name, cell, 4, 2))
    assert table["system"].n_unique() == cell.systems
    people = table["annotator"].n_unique()
    assert people == (cell.accounts if isinstance(cell, Scores) and cell.accounts else len(cell.work))
    twice = ["annotator", "screen", "segment", "system"]
    assert not table.select(twice).is_duplicated().any()


def test_accounts_of_one_person_follow_each_other() -> None:
    cell = EQUAL["9 people behind 50 accounts"]
    assert isinstance(cell, Scores)
    table = drawn("9 people behind 50 accounts", cell, 0)
    spans = table.group_by("annotator").agg(pl.col("started").min(), pl.col("ended").max(), pl.col("screen").min())
    order = spans.sort("screen")
    # Screens are numbered person by person, so that an account which starts before the last one ended is another's.
    others = (order["started"].to_numpy()[1:] < order["ended"].to_numpy()[:-1]).sum()
    assert others <= len(cell.work) - 1
    assert table["task"].equals(table["annotator"].alias("task"))


def test_half_of_the_screens_show_one_segment() -> None:
    cell = EQUAL["pairs, half of all screens on one segment"]
    assert isinstance(cell, Relative)
    most = max(drawn("pairs", cell, 0)["segment"].value_counts()["count"].to_list())
    assert 0.4 < most / (2 * sum(cell.work)) < 0.6


def test_a_campaign_is_counted_by_hand() -> None:
    """Three systems, 2 points apart: one decision is true, one goes against the means; one claim is strong."""
    cell = Scores((2.0, 0.0, -2.0), (1,) * 3, scale=0.0, mean=50.0)
    pairs = Pairs(
        better=[0, 0, 2], worse=[1, 2, 1], difference=np.array([2.5, 4.0, 1.0]), low=np.array([1.0, 4.5, -1.0]),
        high=np.array([4.0, 5.0, 3.0]), strength=np.array([3.0, 5.0, 2.0]), decided=[False, True, True],
        holds=[False, True, False], again=[0.5, 0.75, 0.5],
    )  # fmt: skip
    counts = Counts()
    counts.add(cell, pairs, pairs)
    assert counts.any_false == [1.0]
    assert counts.false_holds == [0.0]
    assert counts.true_decided == [(1.0, 3.0)]
    assert counts.strong_hold == [(1.0, 1.0)]
    assert counts.covered == [(1.0, 3.0)]
    assert counts.said_again == [(1.25, 2.0)]
    assert counts.found_again == [(2.0, 2.0)]


def test_the_error_of_a_share_counts_campaigns() -> None:
    """Two campaigns of ten pairs, all right and all wrong: the share is known as badly as a coin thrown twice."""
    assert share_of([(10.0, 10.0), (0.0, 10.0)]) == [0.5, 0.5]
    assert share_of([]) is None


def test_what_the_public_functions_say_is_read() -> None:
    name = "scores, 6 systems, 12 people"
    pairs = said(drawn(name, UNEQUAL[name], 0))
    assert len(pairs.better) == 15
    assert sum(pairs.decided) > 0
    assert (pairs.low < pairs.difference).all()
    assert (pairs.difference < pairs.high).all()
