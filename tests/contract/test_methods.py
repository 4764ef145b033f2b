"""What every ranking method owes its users, whatever its formula."""

from __future__ import annotations

import json

import polars as pl
import pytest

from adjudge.ranking.methods import METHODS, RankSettings, rank
from adjudge.ranking.ranking import Ranking
from adjudge.table.errors import DataError
from adjudge.table.judgments import Judgments, concat
from tests.helpers.rank_make import blocks, random_blocks

RELATIVE = [name for name, method in METHODS.items() if method.judgments == "relative"]
# Methods whose score of twice the data is the score of the data. With more judgments of the same people Bradley-Terry
# tells tastes from noise more clearly, and weighs people a little more evenly.
SAME_WHEN_DOUBLED = dict.fromkeys(RELATIVE, 1e-09) | {"bradley-terry": 0.1}
del SAME_WHEN_DOUBLED["trueskill"]  # skills learn from every further match
QUICK = RankSettings(resamples=40)


def scores(ranking: Ranking) -> dict[str, float | None]:
    return {system.system: system.score for system in ranking.systems}


@pytest.mark.parametrize("method", RELATIVE)
def test_the_order_of_rows_does_not_matter(method: str) -> None:
    judgments = random_blocks(1)
    shuffled = Judgments(judgments.table.sample(fraction=1, shuffle=True, seed=3))
    assert (
        rank(shuffled, method=method, settings=QUICK).systems == rank(judgments, method=method, settings=QUICK).systems
    )


@pytest.mark.parametrize("method", RELATIVE)
def test_names_do_not_matter(method: str) -> None:
    judgments = random_blocks(2)
    names = dict(zip(judgments.systems, reversed([f"x{i}" for i in range(len(judgments.systems))]), strict=True))
    renamed = Judgments(judgments.table.with_columns(pl.col("system").replace_strict(names)))
    before, after = rank(judgments, method=method, settings=QUICK), rank(renamed, method=method, settings=QUICK)
    tolerance = 0.2 if method == "trueskill" else 1e-9  # random orders of matches follow the names
    if method == "mfas":
        # One of several cheapest orders may be given: they must cost the same, which tests/ranking/test_mfas.py checks.
        assert len(before.systems) == len(after.systems)
        return
    for system, score in scores(before).items():
        assert scores(after)[names[system]] == pytest.approx(score, abs=tolerance)


@pytest.mark.parametrize("method", SAME_WHEN_DOUBLED)
def test_judgments_counted_twice_leave_the_scores(method: str) -> None:
    judgments = random_blocks(3)
    # On texts of their own: what is judged again on the same text shares its luck, which Bradley-Terry allows for.
    again = Judgments(judgments.table.with_columns(pl.col("screen", "segment") + "-again"))
    doubled = rank(concat([judgments, again]), method=method, settings=QUICK)
    expected = scores(rank(judgments, method=method, settings=QUICK))
    for system, score in scores(doubled).items():
        assert score == pytest.approx(expected[system], abs=SAME_WHEN_DOUBLED[method])


@pytest.mark.parametrize("method", RELATIVE)
def test_one_annotator_is_enough_and_is_said(method: str) -> None:
    alone = Judgments(random_blocks(4).table.with_columns(annotator=pl.lit("only")))
    ranking = rank(alone, method=method, settings=QUICK)
    assert len(ranking.systems) in (5, 6)
    assert any("fewer than two annotators" in note for note in ranking.notes)


@pytest.mark.parametrize("method", RELATIVE)
def test_ties_everywhere_rank_nobody_above_anybody(method: str) -> None:
    judgments = blocks([{"a": 1, "b": 1, "c": 1}] * 12)
    try:
        ranking = rank(judgments, method=method, settings=QUICK)
    except DataError as fault:
        assert "tie" in str(fault)  # noqa: PT017
    else:
        assert {system.rank for system in ranking.systems} == {1}
        assert len(ranking.clusters) == 1
        assert all(comparison.p is None or comparison.p > 0.05 for comparison in ranking.comparisons)


@pytest.mark.parametrize("method", RELATIVE)
def test_nothing_to_rank_is_explained(method: str) -> None:
    empty = Judgments(random_blocks(5).table.clear())
    with pytest.raises(DataError):
        rank(empty, method=method)
    with pytest.raises(DataError, match=r"at least two systems|no two systems"):
        rank(blocks([{"a": 1}, {"a": 1}]), method=method)
    with pytest.raises(DataError, match="groups that were never compared"):
        rank(blocks([{"a": 1, "b": 2}, {"c": 1, "d": 2}]), method=method)


@pytest.mark.parametrize("method", RELATIVE)
def test_blank_ranks_count_for_nothing(method: str) -> None:
    judgments = random_blocks(6)
    blank = judgments.table.head(3).with_columns(pl.lit(None, dtype=pl.Int32).alias("rank"), screen=pl.lit("blank"))
    with_blank = rank(Judgments(pl.concat([judgments.table, blank])), method=method, settings=RankSettings(resamples=0))
    without = rank(judgments, method=method, settings=RankSettings(resamples=0))
    tolerance = 0.2 if method == "trueskill" else 1e-9
    for system, score in scores(without).items():
        assert scores(with_blank)[system] == pytest.approx(score, abs=tolerance)


@pytest.mark.parametrize("method", RELATIVE)
def test_the_result_is_complete_and_the_same_again(method: str) -> None:
    judgments = random_blocks(7)
    ranking = rank(judgments, method=method, settings=QUICK)
    n = len(ranking.systems)
    assert ranking == rank(judgments, method=method, settings=QUICK)
    assert len(ranking.comparisons) == n * (n - 1) // 2
    assert [name for cluster in ranking.clusters for name in cluster] == list(ranking.order)
    assert all(system.rank_set[0] <= system.rank <= system.rank_set[1] for system in ranking.systems)
    assert f"method:{method}" in ranking.signature
    assert "seed:1" in ranking.signature
    plain = ranking.to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert {
        "signature",
        "settings",
        "version",
        "set_aside",
        "method",
        "systems",
        "comparisons",
        "clusters",
        "lines",
    } <= set(plain)
    assert {"system", "human", "score", "rank", "rank_set", "cluster", "n", "wins", "ties", "losses"} <= set(
        plain["systems"][0]
    )
    assert {"better", "worse", "difference", "p", "p_holm", "p_bh"} <= set(plain["comparisons"][0])
