"""Campaigns compared: correlations, intervals, flips, names, costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from adjudge import compare
from adjudge.evidence.compare import suggestions
from adjudge.evidence.compared_campaigns import (
    Campaign,
    Item,
    _scores_by,
    draw_documents,
    flip_count,
    flips,
    item_agreement,
    minutes_of,
    preferences_of,
    score_correlation,
)
from adjudge.ranking.methods import find_method
from adjudge.readers import native
from adjudge.readers.metric_scores import MetricScore
from adjudge.reports.compare_page import build_compare_page
from adjudge.table.errors import DataError, UsageError
from adjudge.table.judgments import Judgments
from tests.conftest import Run, assert_explained
from tests.helpers.rank_make import blocks, random_blocks

EFFECTS = {"a": 12.0, "b": 6.0, "c": 0.0, "d": -6.0, "e": -12.0}


def campaign(effects: dict[str, float], seed: int, *, annotators: int = 8, noise: float = 8.0) -> Judgments:
    """Every annotator scores every system on five documents of three segments, in half a minute each."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"p{seed}-{annotator}", f"d{document}", str(segment), system, 60 + effect + rng.normal(0, noise), 30.0)
        for annotator in range(annotators)
        for document in rng.choice(10, 5, replace=False)
        for system, effect in effects.items()
        for segment in range(3)
    ]
    names = ("annotator", "document", "segment", "system", "score", "active_seconds")
    columns: dict[str, object] = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    return Judgments.from_columns({**columns, "protocol": ["da"] * len(rows), "campaign": ["c"] * len(rows)})


def test_two_runs_of_one_truth_agree() -> None:
    result = compare({"one": campaign(EFFECTS, 1), "two": campaign(EFFECTS, 2)}, resamples=200)
    assert result.pairs[0].scores.n == 5
    assert result.pairs[0].scores.pearson > 0.95
    low, high = result.pairs[0].scores.interval or (0.0, 0.0)
    assert low < result.pairs[0].scores.pearson < high <= 1
    assert result.pairs[0].flips == ()
    assert result.verdict.startswith("one and two put the 5 systems into the same order (r = ")
    assert [system.system for system in result.systems] == list("abcde")
    assert [system.ranks for system in result.systems] == [(i, i) for i in range(1, 6)]


def test_every_run_gives_the_same_digits() -> None:
    """Sums over items in no particular order had other last digits from run to run."""
    scored = {"one": campaign(EFFECTS, 1), "two": campaign(EFFECTS, 2)}
    ranked = {"one": random_blocks(1, number=200), "two": random_blocks(2, number=200)}
    for campaigns in (scored, ranked):
        results = [compare(campaigns, resamples=20).to_dict() for _ in range(6)]
        assert all(result == results[0] for result in results)


def test_scores_are_means_of_segments_as_given() -> None:
    """The mean over segments of the means within them, by polars."""
    judgments = campaign(EFFECTS, 1)
    means = (
        judgments.table.group_by("system", "document", "segment").agg(pl.col("score").mean())
        .group_by("system").agg(pl.col("score").mean())
    )  # fmt: skip
    result = compare({"one": judgments, "two": campaign(EFFECTS, 2)}, resamples=20)
    for system in result.systems:
        assert system.scores[0] == pytest.approx(means.filter(pl.col("system") == system.system)["score"][0])


def test_a_true_contradiction_is_found() -> None:
    turned = {**EFFECTS, "a": -12.0, "e": 12.0}
    result = compare({"one": campaign(EFFECTS, 1), "two": campaign(turned, 2)}, resamples=200)
    certain = {(flip.better, flip.worse) for flip in result.pairs[0].flips if flip.certain}
    assert ("a", "e") in certain
    assert "contradict each other by more than chance" in result.verdict
    assert result.pairs[0].flip_count.p is not None
    assert result.pairs[0].flip_count.p < 0.05


def test_noise_flips_pairs_by_chance_only() -> None:
    """Five equal systems: about half of the pairs flip, as chance brings, and no flip is certain."""
    equal = dict.fromkeys(EFFECTS, 0.0)
    result = compare({"one": campaign(equal, 3), "two": campaign(equal, 4)}, resamples=300)
    pair = result.pairs[0]
    assert not any(flip.certain for flip in pair.flips)
    assert pair.flip_count.p is not None
    assert pair.flip_count.p > 0.05


def test_flips_of_many_equal_systems_are_rarely_more_than_chance() -> None:
    """Fifteen equal systems, errors known: p < .05 in about 5% of the cases, where the noisy mean as truth gave 28%."""
    rng = np.random.default_rng(1)
    systems = [f"s{i}" for i in range(15)]

    def noisy(name: str) -> Campaign:
        scores = rng.normal(size=15)
        drawn = scores + rng.normal(size=(100, 15))
        resampled = dict(zip(systems, drawn.T, strict=True))
        return Campaign(name, "raw", "points", dict(zip(systems, scores.tolist(), strict=True)), frozenset(), resampled)

    def p_of_one() -> float:
        one, two = noisy("one"), noisy("two")
        return flip_count(one, two, systems, len(flips(one, two, systems))).p or 0.0

    assert sum(p_of_one() < 0.05 for _ in range(200)) < 24


def test_the_p_of_a_flip_is_the_larger_of_both() -> None:
    first = Campaign("x", "m", "u", {"a": 2.0, "b": 1.0}, frozenset(), p_better={("a", "b"): 0.01, ("b", "a"): 0.99})
    second = Campaign("y", "m", "u", {"a": 1.0, "b": 2.0}, frozenset(), p_better={("b", "a"): 0.03, ("a", "b"): 0.97})
    (flip,) = flips(first, second, ["a", "b"])
    assert (flip.better, flip.worse, flip.p, flip.p_holm) == ("a", "b", 0.03, 0.03)
    assert np.isnan(score_correlation(first, second, ["a", "b"]).pearson)


def test_a_rank_correlation_of_1_in_a_resample_is_not_infinitely_far() -> None:
    """Four systems; in half of the resamples two neighbours change places, so that Spearman's r is .8 or 1.

    By hand: 1 counts as .9, halfway to .8, so z is atanh(.8) = 1.0986 or atanh(.9) = 1.4722 with a standard deviation
    of .1916 over 20 resamples, and the lower end is tanh(1.4722 - 1.96 * .1916).
    """
    names = ["a", "b", "c", "d"]
    still = {name: np.full(20, float(4 - i)) for i, name in enumerate(names)}
    moved = {**still, "a": np.tile([4.0, 3.0], 10), "b": np.tile([3.0, 4.0], 10)}
    scores = {name: float(4 - i) for i, name in enumerate(names)}
    first, second = (Campaign("x", "m", "u", scores, frozenset(), resampled) for resampled in (still, moved))
    low, high = score_correlation(first, second, names).spearman_interval or (0.0, 0.0)
    assert low == pytest.approx(np.tanh(1.4722 - 1.96 * 0.1916), abs=1e-3)
    assert low < 0.9 < high < 1


@pytest.mark.slow
def test_intervals_hold_the_correlation_of_the_truth() -> None:
    """Two campaigns with their own people judge ten systems; the truth of both correlates with r = 1.

    What is estimated is below 1 because of noise, so the interval is checked where there is no ceiling: the second
    campaign judges other qualities, correlated with those of the first. 95% are promised; of 40 intervals 33 or more
    hold it but in one case of a hundred (binomial).
    """
    rng = np.random.default_rng(6)
    names = [f"s{i}" for i in range(10)]
    held = 0
    for i in range(40):
        first = rng.normal(0, 8, 10)
        other = 0.7 * first + rng.normal(0, 5, 10)
        truth = float(np.corrcoef(first, other)[0, 1])
        judged = [
            campaign(dict(zip(names, effects, strict=True)), 100 + 2 * i + k, annotators=6, noise=10.0)
            for k, effects in enumerate((first, other))
        ]
        low, high = score_correlation(*without_tests(judged, resamples=100), names).interval or (0, 0)
        held += low <= truth <= high
    assert held >= 33


def without_tests(judged: list[Judgments], resamples: int) -> tuple[Campaign, Campaign]:
    """Two campaigns by their raw scores, without the ranking that tests pairs, which takes longest."""
    draws = draw_documents(judged, resamples=resamples, seed=1)
    made = [_scores_by(judgments, find_method("raw"), i, draws) for i, judgments in enumerate(judged)]
    first, second = (Campaign(str(i), "raw", "", own[0], frozenset(), own[1]) for i, own in enumerate(made))
    return first, second


def test_rankings_are_compared_with_scores_and_with_a_metric() -> None:
    """Bradley-Terry of simulated blocks, whose systems s1 to s4 and ref get worse in this order: ref, s1, ..., s4."""
    blocks = random_blocks(3, number=300, annotators=8)
    effects = {name: -8.0 * i for i, name in enumerate(("ref", "s1", "s2", "s3", "s4"))}
    metric = [
        MetricScore("m", name, str(i), None, effect + i % 3) for name, effect in effects.items() for i in range(9)
    ]
    shared = set(blocks.systems) & set(effects)
    assert len(shared) >= 4
    result = compare({"blocks": blocks, "scores": campaign(effects, 5), "metric": metric}, resamples=100)
    assert result.campaigns == ("blocks", "scores", "metric")
    assert [pair.campaigns for pair in result.pairs] == [
        ("blocks", "scores"),
        ("blocks", "metric"),
        ("scores", "metric"),
    ]
    assert result.pairs[2].scores.pearson > 0.95
    assert [cost.method for cost in result.costs] == ["bradley-terry", "raw", "mean"]


def test_names_are_matched_with_help() -> None:
    other = campaign({f"X.{name.upper()}": effect for name, effect in EFFECTS.items()}, 2)
    with pytest.raises(DataError, match=r"share fewer than two systems.*'rename' X\.A=a"):
        compare({"one": campaign(EFFECTS, 1), "two": other})
    rename = {f"X.{name.upper()}": name for name in EFFECTS}
    assert compare({"one": campaign(EFFECTS, 1), "two": other}, rename=rename, resamples=20).pairs[0].scores.n == 5
    assert suggestions(["alpha", "beta"], ["run.Alpha", "gamma"]) == {"run.Alpha": "alpha"}
    with pytest.raises(UsageError, match="system to rename"):
        compare({"one": campaign(EFFECTS, 1), "two": other}, rename={"nobody": "a"})


def test_names_in_other_scripts_are_not_all_alike() -> None:
    assert suggestions(["נמר"], ["дом"]) == {}
    assert suggestions(["Дом-1"], ["дом_1"]) == {"дом_1": "Дом-1"}
    assert suggestions(["🦄"], ["🐎"]) == {}


def test_renaming_does_not_make_one_system_of_two() -> None:
    other = {name.upper(): effect for name, effect in EFFECTS.items()} | {"a": 1.0}
    with pytest.raises(UsageError, match="makes one system 'a' of 'A' and 'a' in two"):
        compare({"one": campaign(EFFECTS, 1), "two": campaign(other, 2)}, rename={"A": "a"}, resamples=20)


def test_systems_of_one_campaign_only_are_said() -> None:
    result = compare({"one": campaign(EFFECTS, 1), "two": campaign({**EFFECTS, "f": 0.0}, 2)}, resamples=20)
    assert "only two has f" in result.notes
    assert result.pairs[0].scores.n == 5


@pytest.mark.parametrize("effects", [EFFECTS, {"a": 0.0}], ids=["systems", "documents of one system"])
def test_notes_say_which_campaign_they_are_about(effects: dict[str, float]) -> None:
    second = replace(campaign(effects, 2), notes=("commas are decimal points",))
    notes = compare({"one": campaign(effects, 1), "two": second}, resamples=20).notes
    assert "two: commas are decimal points" in notes
    assert "commas are decimal points" not in notes


def test_what_a_certain_pair_costs() -> None:
    """8 annotators, 5 documents, 5 systems, 3 segments: 600 judgments of half a minute."""
    (cost, _) = compare({"one": campaign(EFFECTS, 1), "two": campaign(EFFECTS, 2)}, resamples=20).costs
    assert (cost.judgments, cost.minutes) == (600, 300.0)
    assert cost.certain_pairs
    assert cost.minutes_per_certain_pair == pytest.approx(300 / cost.certain_pairs)


def test_minutes_come_from_times_where_nothing_else_is_known() -> None:
    """Two screens of two rows: 60 s and 120 s from start to end; answers 100 s apart, and one after two hours."""
    start = datetime(2024, 1, 1, 12, tzinfo=UTC)
    rows = [("p", "1", 0, 60), ("p", "1", 0, 60), ("p", "2", 100, 220), ("p", "2", 100, 220), ("q", "3", 0, 7200)]
    table = pl.DataFrame(
        {
            "annotator": [row[0] for row in rows],
            "task": ["t"] * 5,
            "active_seconds": pl.Series([None] * 5, dtype=pl.Float64),
            "started": [start + timedelta(seconds=row[2]) for row in rows],
            "ended": [start + timedelta(seconds=row[3]) for row in rows],
        }
    )
    assert minutes_of(table.with_columns(active_seconds=pl.lit(6.0))) == (0.5, "active time")
    assert minutes_of(table) == ((60 + 120 + 7200) / 60, "from start to end")
    unstarted = table.with_columns(started=pl.lit(None, dtype=pl.Datetime("us", "UTC")))
    minutes, timing = minutes_of(unstarted)
    assert (minutes, timing) == (160 / 60, "between answers")
    late = unstarted.filter(pl.col("annotator") == "p").with_columns(pl.col("ended") + pl.duration(hours=2)).tail(1)
    assert minutes_of(pl.concat([unstarted, late])) == (minutes, timing)
    assert minutes_of(unstarted.head(1)) == (None, None)


def test_preferences_are_compared_where_one_side_is_relative() -> None:
    """Two rankings of the same segments: both prefer a on 1 and 2, and they contradict each other on 3."""
    ranked: list[dict[str, int | None]] = [{"a": 1, "b": 2}, {"a": 1, "b": 2}, {"a": 1, "b": 2}, {"a": 1, "b": 1}]
    other: list[dict[str, int | None]] = [{"a": 1, "b": 3}, {"a": 2, "b": 3}, {"a": 2, "b": 1}, {"a": 1, "b": 2}]
    first, second = (Campaign("", "", "", {}, frozenset(), preferences=preferences_of(blocks(own)))
                     for own in (ranked, other))  # fmt: skip
    agreement = item_agreement(first, second, ["a", "b"])
    assert agreement is not None
    assert (agreement.n, agreement.decided, agreement.unit) == (4, 3, "preferences")
    assert agreement.same == pytest.approx(2 / 3)
    scores: dict[Item, float] = {(None, str(i), name): score for i, pair in enumerate([(9, 3), (5, 4), (7, 1), (2, 2)])
              for name, score in zip("ab", map(float, pair), strict=True)}  # fmt: skip
    scored = Campaign("", "", "", {}, frozenset(), items=scores)
    mixed = item_agreement(first, scored, ["a", "b"])
    assert mixed is not None
    assert (mixed.n, mixed.decided, mixed.same) == (4, 3, 1.0)


def test_items_are_compared_where_they_are_shared() -> None:
    judgments = campaign(EFFECTS, 1)
    result = compare({"one": judgments, "same": judgments}, resamples=20)
    items = result.pairs[0].items
    assert items is not None
    assert items.pearson == pytest.approx(1.0)
    assert items.n == judgments.table.select("document", "segment", "system").n_unique()


@pytest.mark.slow
def test_the_command(adjudge: Callable[..., Run], tmp_path: Path) -> None:
    first, two, page = tmp_path / "one.parquet", tmp_path / "two.parquet", tmp_path / "page.html"
    native.write(campaign(EFFECTS, 1), first)
    native.write(campaign({**EFFECTS, "f": 3.0}, 2), two)
    run = adjudge("compare", first, two, "--rename", "f=g", "--resamples", "50", "--report", page, "--json")
    assert run.json["campaigns"] == ["one", "two"]
    assert set(run.json["scores"]) >= {"pearson", "spearman", "kendall", "interval", "n"}
    assert set(run.json["systems"][0]) >= {"system", "scores", "ranks"}
    assert isinstance(run.json["flips"], list)
    assert run.json["verdict"].endswith(").")
    assert "Places from campaign to campaign" in page.read_text(encoding="utf-8")
    assert_explained(adjudge("compare", first), code=2, names=("one campaign was given",))
    assert_explained(adjudge("compare", first, two, "--rename", "f"), code=2, names=("OLD=NEW",))
    assert_explained(adjudge("compare", first, two, "--format", "a,b,c"), code=2, names=("3 formats for 2 campaigns",))


def test_python_takes_paths_and_frames(tmp_path: Path) -> None:
    first = tmp_path / "one.parquet"
    native.write(campaign(EFFECTS, 1), first)
    result = compare([first, campaign(EFFECTS, 2).table], resamples=20)
    assert result.campaigns == (str(first), "campaign 2")
    assert result.pairs[0].scores.n == 5


def test_the_page_shows_scatter_and_flow() -> None:
    result = compare({"one": campaign(EFFECTS, 1), "two": campaign(EFFECTS, 2)}, resamples=20)
    (page,) = build_compare_page(result).pairs
    assert [chart.slug for chart in page.sections[0].charts] == ["scatter", "flow"]
    assert page.headline == result.verdict
