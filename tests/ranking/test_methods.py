"""The small methods against their definitions, spelled out block by block."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest
import trueskill as reference_trueskill
from hypothesis import given, settings
from hypothesis import strategies as st

import adjudge
from adjudge.ranking import relative
from adjudge.ranking.counts import tally
from adjudge.ranking.methods import RankSettings, rank
from adjudge.table.comparisons import comparisons
from adjudge.table.errors import UsageError
from adjudge.table.judgments import Judgments
from tests.conftest import examples
from tests.helpers.rank_make import blocks, random_blocks

QUICK = RankSettings(resamples=0)


def slow_scores(judgments: Judgments, *, exclude: str | None = None) -> dict[str, dict[str, float]]:
    """Every ratio from its definition (Bojar et al. 2011, section 2.1; Lopez 2012, Equations 1 to 3)."""
    by_block: dict[str, list[tuple[str, int]]] = {}
    for row in judgments.table.drop_nulls("rank").iter_rows(named=True):
        if row["system"] != exclude:
            by_block.setdefault(row["screen"], []).append((row["system"], row["rank"]))
    outcome: dict[str, list[int]] = {}
    for labels in by_block.values():
        for (a, rank_a), (b, rank_b) in combinations(labels, 2):
            sign = int(np.sign(rank_b - rank_a))
            outcome.setdefault(a, []).append(sign)
            outcome.setdefault(b, []).append(-sign)
    result: dict[str, dict[str, float]] = {}
    for system, signs in outcome.items():
        wins, ties, losses = signs.count(1), signs.count(0), signs.count(-1)
        mine = [
            (rank, [r for s, r in labels if s != system])
            for labels in by_block.values()
            for s, rank in labels
            if s == system
        ]
        result[system] = {
            "wins-or-ties": (wins + ties) / len(signs),
            "wins": wins / len(signs),
            "wins-no-ties": wins / (wins + losses),
            "block-wins-or-ties": sum(all(rank <= r for r in others) for rank, others in mine) / len(mine),
            "block-wins": sum(all(rank < r for r in others) for rank, others in mine) / len(mine),
            "rank-points": sum(4 + 1 - rank for rank, _ in mine) / len(mine),
        }
    return result


@settings(max_examples=examples(20))
@given(st.integers(0, 100_000))
def test_ratios_are_their_definitions(seed: int) -> None:
    judgments = random_blocks(seed, number=30)
    expected = slow_scores(judgments)
    for method in ("wins-or-ties", "wins", "wins-no-ties", "block-wins-or-ties", "block-wins", "rank-points"):
        for system in rank(judgments, method=method, settings=QUICK).systems:
            assert system.score == pytest.approx(expected[system.system][method])
    without = slow_scores(judgments, exclude="ref")
    for system in rank(judgments, method="wins-no-reference", settings=QUICK).systems:
        assert system.score == pytest.approx(without[system.system]["wins"])
    for system in rank(
        judgments, method="wins-no-ties", settings=RankSettings(reference="exclude", resamples=0)
    ).systems:
        assert system.score == pytest.approx(without[system.system]["wins-no-ties"])


def test_expected_wins_weighs_opponents_alike() -> None:
    """a beats b 3:1 and c 1:1; Koehn's mean over opponents is (3/4 + 1/2) / 2."""
    judgments = blocks(
        [{"a": 1, "b": 2}] * 3 + [{"a": 2, "b": 1}, {"a": 1, "c": 2}, {"a": 2, "c": 1}, {"b": 1, "c": 1}]
    )
    counts = tally(comparisons(judgments))
    assert relative.expected_wins(counts)[0] == pytest.approx((3 / 4 + 1 / 2) / 2)
    assert relative.expected_wins(counts)[2] == pytest.approx(1 / 2)  # only ties with b: b is left out of the mean


@settings(max_examples=examples(30))
@given(st.floats(-2, 2), st.floats(-2, 2), st.floats(0.1, 1), st.floats(0.1, 1), st.booleans(), st.floats(0.05, 0.6))
def test_a_trueskill_match_is_that_of_the_trueskill_package(
    m1: float, m2: float, s1: float, s2: float, drawn: bool, share: float
) -> None:
    """trueskill 0.4.5, `rate_1vs1` with tau 0."""
    environment = reference_trueskill.TrueSkill(mu=0, sigma=1, beta=relative.BETA, tau=0, draw_probability=share)
    margin = reference_trueskill.calc_draw_margin(share, 2, environment)
    first, second = environment.create_rating(m1, s1), environment.create_rating(m2, s2)
    expected = reference_trueskill.rate_1vs1(first, second, drawn=drawn, env=environment)
    mean, variance = relative.update(
        np.array([[m1], [m2]]), np.array([[s1**2], [s2**2]]), np.array([drawn]), np.array([margin])
    )
    assert mean[:, 0] == pytest.approx([rating.mu for rating in expected], abs=1e-4)
    assert np.sqrt(variance[:, 0]) == pytest.approx([rating.sigma for rating in expected], abs=1e-4)


def test_the_draw_margin_is_that_of_the_trueskill_package() -> None:
    """trueskill 0.4.5, `calc_draw_margin`."""
    drawn = np.array([[True, False, False, False]])
    environment = reference_trueskill.TrueSkill(mu=0, sigma=1, beta=relative.BETA, tau=0, draw_probability=0.25)
    expected = reference_trueskill.calc_draw_margin(0.25, 2, environment)
    assert relative.draw_margin(drawn, np.array([4]))[0] == pytest.approx(expected)


def test_a_method_defined_without_the_reference_refuses_it() -> None:
    with pytest.raises(UsageError, match="defined with 'reference' exclude"):
        rank(random_blocks(1), method="wins-no-reference", settings=RankSettings(reference="include"))


def test_unknown_names_are_answered_with_the_choices() -> None:
    with pytest.raises(UsageError, match=r"did you mean 'wins'\?"):
        rank(random_blocks(1), method="winz")
    with pytest.raises(UsageError, match="unknown rule"):
        rank(random_blocks(1), settings=RankSettings(lines="nope"))
    with pytest.raises(UsageError, match="'level'"):
        rank(random_blocks(1), settings=RankSettings(level=2))


@pytest.mark.parametrize("method", ["bradley-terry", "expected-wins", "wins"])
def test_rounding_alone_gives_no_system_a_better_rank(method: str) -> None:
    """Each of three systems beats the next 21 times to 19, in a circle, so that all are equally good."""
    orders = [("a", "b", "c"), ("b", "c", "a"), ("c", "a", "b")] * 7 + [
        ("c", "b", "a"),
        ("a", "c", "b"),
        ("b", "a", "c"),
    ] * 6
    ranking = rank(blocks([{name: i + 1 for i, name in enumerate(order)} for order in orders]), method=method)
    assert [(system.system, system.rank) for system in ranking.systems] == [("a", 1), ("b", 1), ("c", 1)]
    assert len({system.score for system in ranking.systems}) == 1


def test_where_a_search_ended_gives_no_system_a_better_rank() -> None:
    """The same three scores for both, shared out alike: the model's estimates differed by 4e-8 points, p was 1."""
    rows = [
        ("3", "q", 60.0),
        ("1", None, 70.0),
        ("2", "q", 82.7),
        ("3", None, 70.0),
        ("1", "q", 82.7),
        ("2", "q", 60.0),
    ]
    columns = {
        "system": ["A"] * 3 + ["B"] * 3,
        "document": ["d", "e", "d"] * 2,
        **{name: [row[i] for row in rows] for i, name in enumerate(("segment", "annotator", "score"))},
    }
    ranking = rank(Judgments.from_columns({**columns, "protocol": ["da"] * 6}))
    assert [(system.system, system.rank) for system in ranking.systems] == [("A", 1), ("B", 1)]
    assert ranking.systems[0].score == ranking.systems[1].score == pytest.approx(70.9)
    assert ranking.comparisons[0].difference == 0


def test_equal_means_are_equal_though_sums_round_otherwise() -> None:
    """.1 + .2 + .3 in two orders differ in the last digit; both systems have the mean .2."""
    scores = {"a": [0.1, 0.2, 0.3], "b": [0.3, 0.2, 0.1], "c": [0.2, 0.1, 0.15]}
    assert np.cumsum(scores["a"])[-1] != np.cumsum(scores["b"])[-1]
    rows = [(name, str(segment), score) for name, own in scores.items() for segment, score in enumerate(own)]
    columns = {name: [row[i] for row in rows] for i, name in enumerate(("system", "segment", "score"))}
    judgments = Judgments.from_columns({**columns, "protocol": ["da"] * 9, "annotator": ["x"] * 9})
    ranking = rank(judgments, method="raw", settings=QUICK)
    assert [(system.system, system.rank) for system in ranking.systems] == [("a", 1), ("b", 1), ("c", 3)]


def test_any_in_block_fails_only_those_alone_in_the_last_place() -> None:
    """Bojar et al. (2011), footnote 6: rewarded once per block for winning or tying any comparison."""
    judgments = blocks([{"a": 1, "b": 2, "c": 3}, {"a": 2, "b": 1, "c": 2}, {"a": 1, "b": 3, "c": 2}])
    ranking = rank(judgments, method="block-any", settings=RankSettings(resamples=0))
    expected = {"a": 1.0, "b": 2 / 3, "c": 2 / 3}
    assert {row.system: row.score for row in ranking.systems} == pytest.approx(expected)


def test_measures_that_count_ties_as_won_say_whom_this_favours() -> None:
    rows = [
        {"annotator": "a", "segment": str(i), "screen": str(i), "system": name, "rank": rank, "protocol": "ranking"}
        for i in range(20)
        for name, rank in (("x", 1), ("y", 1), ("z", 2 + i % 2))
    ]
    ranked = adjudge.rank(pl.DataFrame(rows), method="wins-or-ties", resamples=0)
    assert any("favours systems that tie often (from 0% (z) to 50% (x)" in note for note in ranked.notes)
    assert not any("tie often" in note for note in adjudge.rank(pl.DataFrame(rows), method="wins", resamples=0).notes)
