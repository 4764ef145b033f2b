"""Leads that no judgment contradicts: resamples show no doubt about them, however few judgments there are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.evidence.audit import AuditSettings, audit
from adjudge.ranking.counts import annotator_units, block_units
from adjudge.ranking.methods import RankSettings, rank
from adjudge.ranking.significance import separation
from adjudge.table.comparisons import comparisons
from tests.helpers.rank_make import blocks

ORDERED: dict[str, int | None] = {"a": 1, "b": 2, "c": 3}


def path_exists(wins: list[list[int]], start: int, goal: int) -> bool:
    reached = [start]
    for item in reached:
        reached += [other for other, won in enumerate(wins[item]) if won and other not in reached]
    return goal in reached


def slow_p(wins: list[list[int]], i: int, j: int) -> float:
    """By the definition in the module: 0 where wins lead both ways, 1 where they lead neither way."""
    n = range(len(wins))
    down, up = path_exists(wins, i, j), path_exists(wins, j, i)
    if down == up:
        return 0.0 if down or i == j else 1.0
    better, worse = (i, j) if down else (j, i)
    above = {k for k in n if path_exists(wins, k, better)}
    below = {k for k in n if path_exists(wins, worse, k)}
    clearest = max(
        [wins[a][b] for a in above for b in n if b not in above]
        + [wins[a][b] for a in n if a not in below for b in below]
    )
    return float(min(1.0, 2 * 0.5**clearest))


@st.composite
def tables(draw: st.DrawFn) -> list[list[int]]:
    n = draw(st.integers(2, 6))
    row = st.lists(st.sampled_from([0, 0, 0, 1, 2, 7]), min_size=n, max_size=n)
    return draw(st.lists(row, min_size=n, max_size=n))


@given(tables())
def test_the_fast_way_is_the_definition(wins: list[list[int]]) -> None:
    for i in range(len(wins)):
        wins[i][i] = 0
    separated = separation(np.array(wins, dtype=float))
    assert separated.p.tolist() == [[slow_p(wins, i, j) for j in range(len(wins))] for i in range(len(wins))]


def test_a_lead_counts_as_often_as_it_was_seen() -> None:
    # a beat b 3 times and c 9 times; b and c beat each other, so every comparison puts a ahead of both.
    separated = separation(np.array([[0.0, 3, 9], [0, 0, 4], [0, 4, 0]]))
    assert separated.p[0].tolist() == [0.0, 2 * 0.5**9, 2 * 0.5**9]
    assert separated.p[1, 2] == 0.0
    assert separated.unbounded.tolist() == [True, False, False]


def test_nothing_separates_two_that_only_lost() -> None:
    separated = separation(np.array([[0.0, 5, 50], [0, 0, 0], [0, 0, 0]]))
    assert separated.p[1, 2] == 1.0


def test_two_people_who_agree_four_times_prove_nothing() -> None:
    judgments = blocks([ORDERED] * 4, annotators=["x", "x", "y", "y"])
    ranking = rank(judgments)
    assert ranking.order == ("a", "b", "c")
    # Two of two by each: 2 E[sigma(z / sqrt 2)^2]^2 with a taste of .5, by a sum over a fine grid of z.
    z = np.linspace(-9, 9, 20001)
    density = np.exp(-(z**2) / 2) / np.exp(-(z**2) / 2).sum()
    expected = 2 * float((density / (1 + np.exp(-np.sqrt(2) * 0.5 * z)) ** 2).sum()) ** 2
    assert [pair.p for pair in ranking.comparisons] == pytest.approx([expected] * 3)
    assert expected > 0.15
    assert [system.rank_set for system in ranking.systems] == [(1, 3)] * 3
    assert len(ranking.clusters) == 1
    assert all(system.numbers["high"] is None for system in ranking.systems)
    assert any("no judgment contradicts" in note for note in ranking.notes)


def test_ties_everywhere_are_said_and_have_no_interval() -> None:
    ranking = rank(blocks([{"a": 1, "b": 1}] * 9))
    assert [(system.score, system.rank, system.rank_set, system.numbers["se"]) for system in ranking.systems] == [
        (0, 1, (1, 2), None)
    ] * 2
    assert "every comparison is a tie, so the systems cannot be separated" in ranking.notes
    assert not [note for note in ranking.notes if "contradicts" in note]


def test_blocks_without_a_label_are_nobody_to_draw() -> None:
    """Nor does a comparison without an answer keep pairs from being counted."""
    judgments = blocks([{"a": 1, "b": 2}, {"a": 2, "b": 1}, {"a": None, "b": None}], annotators=["x", "y", "z"])
    compared = comparisons(judgments)
    assert (annotator_units(compared).number, block_units(compared).number) == (2, 2)
    assert block_units(compared).times.tolist() == [1, 1]


@pytest.mark.parametrize("method", ["bradley-terry", "wins-or-ties", "expected-wins", "block-wins", "rank-points"])
def test_unanimous_people_draw_lines_once_there_are_enough_judgments(method: str) -> None:
    settings = RankSettings(resamples=50 if method != "bradley-terry" else 2000)
    # Where all ranks are told at once, three pairs share the level of .05.
    number = 9 if method == "bradley-terry" else 7
    people = [f"p{i}" for i in range(number)]
    few = rank(blocks([ORDERED] * 5, annotators=people[:5]), method=method, settings=settings)
    enough = rank(blocks([ORDERED] * number, annotators=people), method=method, settings=settings)
    assert few.systems[0].rank_set == (1, 3)  # 2 / 2**5 is more than .05
    assert enough.systems[0].rank_set == (1, 1)  # 2 / 2**7, or 3 * 2 / 2**9, is not


def test_claims_need_judgments_too() -> None:
    judgments = blocks([ORDERED] * 4, annotators=["x", "x", "y", "y"])
    claims = audit(judgments, only=("claims",), settings=AuditSettings()).to_dict()["claims"]
    assert {claim["verdict"] for claim in claims} == {"not supported"}
    assert [claim["interval"] for claim in claims if claim["kind"] == "better"] == [[None, None]] * 3


def test_trials_that_tear_the_systems_apart_do_not_judge_across_the_gap() -> None:
    """Without c, the best, nothing connects a and b with d and e."""
    group: list[dict[str, int | None]] = []
    for i in range(60):
        odd = i % 6 == 0
        group += [{"c": 1, "a": 2}, {"c": 1, "d": 3}, {"a": 2, "c": 1 + 2 * odd}]
        group += [{"a": 1 + odd, "b": 2 - odd}, {"d": 1 + odd, "e": 2 - odd}, {"d": 2, "c": 1 + 2 * odd}]
    judgments = blocks(group, annotators=[f"p{i // 36}" for i in range(len(group))])
    claims = audit(judgments, only=("claims",), settings=AuditSettings()).to_dict()["claims"]
    apart = next(claim for claim in claims if set(claim["systems"]) == {"a", "e"})
    together = next(claim for claim in claims if set(claim["systems"]) == {"a", "b"})
    assert "without the best system" in together["survives"]
    assert not [name for name in (*apart["survives"], *apart["broken_by"]) if name == "without the best system"]
