"""Raw and standardised means, and the rank-sum test, against definitions and other tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu

import adjudge
from adjudge.ranking.methods import RankSettings, rank
from adjudge.ranking.significance import RankSums, halves_differ, mann_whitney
from adjudge.table.errors import DataError
from adjudge.table.judgments import Judgments
from adjudge.table.score_sheet import Sheet, resampled_means, sheet_of, standardised
from tests.conftest import examples

QUICK = RankSettings(resamples=0)


def scored(rows: Sequence[tuple[str, str, str, str, float | None]]) -> Judgments:
    """Rows of (annotator, system, segment, kind, score)."""
    names = ("annotator", "system", "segment", "kind", "score")
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    return Judgments.from_columns({**columns, "protocol": ["da"] * len(rows), "campaign": ["test"] * len(rows)})


def random_scores(seed: int, *, systems: int = 4, segments: int = 20, annotators: int = 6, step: int = 10) -> Judgments:
    rng = np.random.default_rng(seed)
    rows: list[tuple[str, str, str, str, float | None]] = []
    for s in range(systems):
        for segment in range(segments):
            for who in rng.choice(annotators, size=rng.integers(1, 3), replace=False):
                value = np.clip(60 - 5 * s + 8 * who + rng.normal(0, 20), 0, 100)
                kind = "repeat" if rng.random() < 0.1 else "system"
                rows.append((f"a{who}", f"s{s}", str(segment), kind, float(np.round(value / step) * step)))
    rows += [
        (f"a{who}", "s0", str(i), "degraded", float(rng.integers(0, 30))) for who in range(annotators) for i in range(3)
    ]
    return scored(rows)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [((25, 50, 50, 75), 0.0), ((0, 25, 50, 75), 0.387), ((25, 50, 75, 100), -0.387)],
)
def test_a_score_of_50_means_what_its_neighbours_make_of_it(scores: tuple[float, ...], expected: float) -> None:
    """The toy z-scores of Knowles (2021), section 5."""
    sheet = sheet_of(scored([("a", "x", str(i), "system", score) for i, score in enumerate(scores)]))
    z = standardised(sheet).score
    assert z[scores.index(50)] == pytest.approx(expected, abs=5e-4)


def test_equal_scores_have_no_spread_even_where_their_mean_is_not_exact() -> None:
    """Three times .1 add up to more than .3 in binary; the spread that this leaves is not one of the annotator's."""
    sheet = sheet_of(scored([("a", "x", str(i), "system", 0.1) for i in range(3)]))
    assert np.isnan(standardised(sheet).score).all()
    assert (standardised(sheet, zero_sd="zero").score == 0).all()


def slow_means(judgments: Judgments) -> dict[str, tuple[float, float, int, int]]:
    """Raw mean, z mean, segments and judgments of each system, step by step as the workshops describe it."""
    table = judgments.table
    mean, sd = pl.col("score").mean().over("annotator"), pl.col("score").std().over("annotator")
    z = (pl.col("score") - mean.round_sig_figs(7)) / sd.round_sig_figs(7)
    rated = table.with_columns(z=z).filter(pl.col("kind").is_in(["system", "repeat"]))
    by_item = rated.group_by("system", "document", "segment").agg(pl.col("score").mean(), pl.col("z").mean(), pl.len())
    by_system = by_item.group_by("system").agg(
        pl.col("score").mean(), pl.col("z").mean(), pl.len().alias("n"), pl.col("len").sum()
    )
    return {row["system"]: (row["score"], row["z"], row["n"], row["len"]) for row in by_system.iter_rows(named=True)}


@settings(max_examples=examples(10))
@given(st.integers(0, 10_000))
def test_means_are_taken_over_segments_first(seed: int) -> None:
    judgments = random_scores(seed)
    expected = slow_means(judgments)
    by_z, by_raw = rank(judgments, method="zscore", settings=QUICK), rank(judgments, method="raw", settings=QUICK)
    for system in by_z.systems:
        raw, z, n, n_all = expected[system.system]
        assert system.score == pytest.approx(z)
        assert system.numbers["raw"] == pytest.approx(raw)
        assert (system.n, system.numbers["n_all"]) == (n, n_all)
    assert [system.score for system in by_raw.systems] == pytest.approx(
        sorted((raw for raw, *_ in expected.values()), reverse=True)
    )


@settings(max_examples=examples(40))
@given(st.integers(0, 10_000), st.sampled_from([1, 5, 50]))
def test_the_rank_sum_test_is_scipys(seed: int, step: int) -> None:
    """scipy `mannwhitneyu(method="asymptotic", use_continuity=True)`, with many and few ties."""
    rng = np.random.default_rng(seed)
    system = rng.integers(4, size=60)
    values = np.round(rng.normal(50, 20, size=60) / step) * step
    tests = mann_whitney(values, system, 4)
    for i in range(4):
        for j in range(4):
            x, y = values[system == i], values[system == j]
            if i == j or len(x) == 0 or len(y) == 0 or len(np.unique(np.concatenate([x, y]))) == 1:
                continue
            expected = mannwhitneyu(x, y, alternative="greater", method="asymptotic")
            assert tests.greater[i, j] == pytest.approx(expected.pvalue)
            expected = mannwhitneyu(x, y, alternative="two-sided", method="asymptotic")
            assert tests.two_sided[i, j] == pytest.approx(expected.pvalue)


@pytest.mark.parametrize("seed", range(40))
def test_tests_after_a_change_are_those_of_the_changed_values(seed: int) -> None:
    """Some values become others or go, with ties between old and new ones; every bit is the same."""
    rng = np.random.default_rng(seed)
    systems, count, levels = (int(rng.integers(1, most)) for most in (6, 60, 30))
    values, system = rng.integers(0, levels, count) / 7, rng.integers(0, systems, count)
    changed = rng.choice(count, int(rng.integers(0, count + 1)), replace=False)
    new = np.where(rng.random(len(changed)) < 0.3, np.nan, rng.integers(0, 30, len(changed)) / 7)
    after = values.copy()
    after[changed] = new
    kept = ~np.isnan(after)
    expected = mann_whitney(after[kept], system[kept], systems)
    tests = RankSums(values, system, systems).tests_after(changed, new)
    np.testing.assert_array_equal(tests.greater, expected.greater)
    np.testing.assert_array_equal(tests.two_sided, expected.two_sided)


def test_systems_that_cannot_be_tested_have_no_p() -> None:
    tests = mann_whitney(np.array([1.0, 1.0, 1.0, 1.0]), np.array([0, 0, 1, 1]), 3)
    assert tests.two_sided[0, 1] == 1
    assert np.isnan(tests.two_sided[0, 2])


def test_annotators_who_never_vary_have_no_z_or_zero() -> None:
    rows = [("flat", s, str(i), "system", 50.0) for s in "xy" for i in range(3)]
    rows += [("a", s, str(i), "system", 40.0 + 10 * i + (5 if s == "x" else 0)) for s in "xy" for i in range(3, 6)]
    judgments = scored(rows)
    dropped = rank(judgments, method="zscore", settings=QUICK)
    kept = rank(judgments, method="zscore", settings=RankSettings(resamples=0, zero_sd="zero"))
    assert (
        [system.n for system in dropped.systems] == [system.n for system in kept.systems] == [6, 6]
    )  # raw scores still count
    assert kept.systems[0].score == pytest.approx((dropped.systems[0].score or 0) / 2)
    assert any("same score throughout" in note for note in dropped.notes)
    assert dropped.systems[0].numbers["raw"] == kept.systems[0].numbers["raw"]
    with pytest.raises(DataError, match="no annotator's scores vary"):
        rank(scored(rows[:6]), method="zscore")


def test_calibration_items_set_the_scale() -> None:
    rows = [
        (who, s, str(i), "system", base + 10 * i)
        for who, base in (("a", 20.0), ("b", 50.0))
        for i, s in enumerate("xxy")
    ]
    rows += [
        (who, "c", str(i), "calibration", base + 10 * i) for who, base in (("a", 20.0), ("b", 50.0)) for i in range(5)
    ]
    ranking = rank(scored(rows), method="zscore-calibrated", settings=QUICK)
    assert {system.system for system in ranking.systems} == {"x", "y"}
    expected_sd = np.std([0, 10, 20, 30, 40], ddof=1)
    assert [(system.system, system.score) for system in ranking.systems] == [
        ("y", 0.0),
        ("x", pytest.approx(-15 / expected_sd)),
    ]
    with pytest.raises(DataError, match="no calibration items"):
        rank(scored(rows[:6]), method="zscore-calibrated")


def test_p_is_one_sided_in_the_direction_of_the_scores() -> None:
    ranking = rank(random_scores(3), method="zscore", settings=QUICK)
    assert ranking.settings["alternative"] == "greater"
    top, bottom = ranking.order[0], ranking.order[-1]
    pair = next(
        comparison for comparison in ranking.comparisons if (comparison.better, comparison.worse) == (top, bottom)
    )
    assert pair.p is not None
    assert pair.p < 0.5


def test_systems_without_a_common_annotator_are_named() -> None:
    rows = [
        (f"a{group}{who}", f"s{group}{system}", f"{group}{segment}", "system", float(10 * (segment + who) + system))
        for group in range(2)
        for who in range(3)
        for system in range(2)
        for segment in range(4)
    ]
    apart = rank(scored(rows), method="zscore", settings=QUICK)
    assert any("2 groups without a common annotator: (s00, s01); (s10, s11)" in note for note in apart.notes)
    # Judging a control of the other group compares nothing; judging one of its systems does.
    control = rank(scored([*rows, ("a00", "s10", "0", "degraded", 3.0)]), method="raw", settings=QUICK)
    assert any("2 groups" in note for note in control.notes)
    joined = rank(scored([*rows, ("a00", "s10", "0", "system", 3.0)]), method="raw", settings=QUICK)
    assert not any("groups" in note for note in joined.notes)


def test_scores_of_nobody_are_said_to_be_standardised_together() -> None:
    rows = [(who, system, str(i), "system", float(i * len(system))) for who in ("a", None) for system in ("x", "yy")
            for i in range(4)]  # fmt: skip
    ranking = rank(scored(rows), method="zscore", settings=QUICK)  # type: ignore[arg-type]
    assert "8 scores name no annotator: they are standardised as if one person had given them" in ranking.notes


@pytest.mark.parametrize("method", ["zscore", "mixed"])
def test_the_fingerprint_is_that_of_the_table_as_given(method: str) -> None:
    judgments = random_scores(3)
    saved_twice = Judgments(
        pl.concat([judgments.table, judgments.table.head(5).with_columns(revision=pl.lit(2, dtype=pl.Int32))])
    )
    assert rank(saved_twice, method=method, settings=QUICK).data == saved_twice.fingerprint


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 5)), min_size=1, max_size=40),
)
def test_halves_of_all_systems_are_tested_as_each_system_alone(rows: list[tuple[int, int, int]]) -> None:
    system, half, value = np.array(rows).T
    together = halves_differ(value / 3, system, half, 3)
    for number in range(3):
        mine = system == number
        alone = mann_whitney(value[mine] / 3, half[mine], 2).two_sided[0, 1] if mine.any() else np.nan
        np.testing.assert_array_equal(together[number], alone)


@pytest.mark.parametrize("seed", range(3))
def test_resampled_means_are_those_of_scores_written_out(seed: int) -> None:
    """Annotators drawn twice count twice; an item that nobody drawn has judged is left out."""
    sheet = sheet_of(random_scores(seed, segments=8))
    weighted = replace(sheet, item_weight=np.random.default_rng(seed).uniform(1, 3, len(sheet.item_system)))
    for own in (sheet, weighted):
        rng = np.random.default_rng(seed)
        people = len(own.annotators)
        drawn = rng.multinomial(people, np.full(people, 1 / people), size=5)
        expected = [_means_of_drawn(own, times) for times in drawn]
        assert resampled_means(own, 5, np.random.default_rng(seed)) == pytest.approx(np.array(expected), nan_ok=True)


def _means_of_drawn(sheet: Sheet, times: np.ndarray) -> list[float]:
    scores: dict[int, list[float]] = {}
    for item, who, score, rated in zip(sheet.item, sheet.annotator, sheet.score, sheet.rated, strict=True):
        if rated and times[who]:
            scores.setdefault(int(item), []).extend([score] * times[who])
    means = []
    for system in range(len(sheet.systems)):
        items = [item for item in scores if sheet.item_system[item] == system]
        weight = [1.0 if sheet.item_weight is None else float(sheet.item_weight[item]) for item in items]
        values = [float(np.mean(scores[item])) for item in items]
        means.append(float(np.average(values, weights=weight)) if items else float("nan"))
    return means


def test_z_by_task_takes_each_task_for_itself() -> None:
    """One person, strict in the second task: by task both systems' z are those of Knowles (2021), section 5."""
    rows = [
        {"annotator": "a", "task": task, "segment": f"{task}{i}", "system": "AB"[i % 2], "score": score + shift}
        for task, shift in (("1", 0.0), ("2", -25.0))
        for i, score in enumerate((25.0, 50.0, 75.0, 100.0))
    ]
    ranking = adjudge.rank(pl.DataFrame(rows), method="zscore-task", resamples=0, everyone=True)
    scores = {row.system: row.score for row in ranking.systems}
    assert scores == pytest.approx({"B": 0.387298, "A": -0.387298}, abs=1e-5)
