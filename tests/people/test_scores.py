"""Agreement on scores: the fast sums against slow, obvious counts, and against other tools."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from adjudge.people.agreement import agree
from adjudge.people.coefficients import alpha
from adjudge.people.scores import patterns, score_cells
from adjudge.table.errors import DataError, UsageError
from adjudge.table.judgments import Judgments
from tests.conftest import examples
from tests.helpers.check_make import scores

Rows = list[tuple[str, str, str, float | None]]


def random_scores(seed: int, *, repeats: bool) -> Rows:
    rng = np.random.default_rng(seed)
    rows: Rows = []
    for segment in range(12):
        for system in ("ref", "x", "y"):
            for who in rng.choice(4, size=3, replace=repeats):
                rows.append((f"a{who}", str(segment), system, float(rng.integers(0, 101))))
    return rows


@settings(max_examples=examples(20))
@given(st.integers(0, 10_000))
def test_without_repeats_alpha_is_the_usual_one(seed: int) -> None:
    rows = random_scores(seed, repeats=False)
    agreement = agree(scores(rows), resamples=0)
    items = [f"{segment} {system}" for _, segment, system, _ in rows]
    assert agreement.inter["all"].alpha == pytest.approx(alpha(items, [row[3] or 0.0 for row in rows]), abs=1e-9)
    assert agreement.intra["all"].pairs == 0


@settings(max_examples=examples(20))
@given(st.integers(0, 10_000))
def test_pairs_and_differences_agree_with_counting(seed: int) -> None:
    rows = random_scores(seed, repeats=True)
    items: dict[tuple[str, str], list[tuple[str, float]]] = defaultdict(list)
    for who, segment, system, score in rows:
        items[(segment, system)].append((who, score or 0.0))
    result = agree(scores(rows), resamples=0)
    for kind, agreement in (("inter", result.inter["all"]), ("intra", result.intra["all"])):
        pairs = [
            (a, b) for item in items.values() for a, b in combinations(item, 2) if (a[0] == b[0]) == (kind == "intra")
        ]
        squares = [(a[1] - b[1]) ** 2 for a, b in pairs]
        assert agreement.pairs == len(pairs)
        assert agreement.numbers["difference"] == pytest.approx(math.sqrt(np.mean(squares)))
    annotator = result.annotators[0]
    own = [
        (a[1] - b[1]) ** 2
        for item in items.values()
        for a, b in combinations(item, 2)
        if a[0] != b[0] and annotator.annotator in (a[0], b[0])
    ]
    assert annotator.inter["pairs"] == len(own)
    assert annotator.inter["difference"] == pytest.approx(math.sqrt(np.mean(own)))


@settings(max_examples=examples(20))
@given(st.integers(0, 10_000), st.lists(st.integers(0, 3), min_size=4, max_size=4))
def test_resampled_alpha_agrees_with_counting(seed: int, drawn: list[int]) -> None:
    """Alpha with annotators drawn several times: every pair counted, but those of copies of one annotator."""
    cells = score_cells(scores(random_scores(seed, repeats=True)))
    times = dict(zip(cells.annotators, drawn, strict=False))
    weights = np.array([[times[who] for who in cells.annotators]], dtype=float)
    items: dict[tuple[str, str], list[tuple[str, float]]] = defaultdict(list)
    for who, segment, system, score in random_scores(seed, repeats=True):
        items[(segment, system)] += [(who, score or 0.0)] * times[who]
    observed, values = 0.0, []
    for item in items.values():
        pairs = [(a[1] - b[1]) ** 2 for a, b in combinations(item, 2) if a[0] != b[0]]
        if pairs:
            observed += len(item) * float(np.mean(pairs))
            values += [score for _, score in item]
    expected = np.mean([(a - b) ** 2 for a, b in combinations(values, 2)]) if values else 0
    slow = 1 - observed / len(values) / expected if expected else math.nan
    assert patterns(cells).alpha(weights)[0] == pytest.approx(slow, nan_ok=True)


def test_correlation_of_two_annotators() -> None:
    """Pearson and Spearman of the shared items (SciPy)."""
    rng = np.random.default_rng(1)
    first = rng.integers(0, 101, 30)
    second = np.clip(first + rng.integers(-30, 31, 30), 0, 100)
    rows: Rows = [("ann", str(i), "x", float(s)) for i, s in enumerate(first)]
    rows += [("bob", str(i), "x", float(s)) for i, s in enumerate(second)]
    numbers = agree(scores(rows), resamples=0).inter["all"].numbers
    assert numbers["pearson"] == pytest.approx(stats.pearsonr(first, second)[0])
    assert numbers["spearman"] == pytest.approx(stats.spearmanr(first, second)[0])
    assert numbers["annotator_pairs"] == 1


def test_who_gives_one_score_throughout_correlates_with_nobody() -> None:
    """Also where outputs were scored once, twice or three times: means must not differ by rounding."""
    rows = [("a", str(segment), "x", 10.0 * segment) for segment in range(1, 7)]
    rows += [("b", str(segment), "x", 0.1) for segment in range(1, 7) for _ in range(segment % 3 + 1)]
    between = agree(scores(rows)).inter["all"]
    assert math.isnan(float(str(between.numbers["pearson"])))
    assert math.isnan(float(str(between.numbers["spearman"])))


def test_correlation_of_repeats_counts_each_pair_in_both_orders() -> None:
    rng = np.random.default_rng(2)
    first, second = rng.integers(0, 101, 20), rng.integers(0, 101, 20)
    rows: Rows = [("ann", str(i), "x", float(s)) for i, s in enumerate(first)]
    rows += [("ann", str(i), "x", float(s)) for i, s in enumerate(second)]
    result = agree(scores(rows), resamples=0)
    both = stats.pearsonr(np.concatenate([first, second]), np.concatenate([second, first]))[0]
    assert result.intra["all"].numbers["pearson"] == pytest.approx(both)
    assert result.annotators[0].intra["pearson"] == pytest.approx(both)
    assert result.intra["all"].alpha == pytest.approx(alpha(np.tile(np.arange(20), 2), np.concatenate([first, second])))


def test_equal_scores_everywhere_leave_alpha_undefined() -> None:
    rows: Rows = [(who, segment, "x", 70.1) for who in "abc" for segment in "1234"]
    agreement = agree(scores(rows)).inter["all"]
    assert math.isnan(agreement.alpha)
    assert agreement.numbers["difference"] == pytest.approx(0, abs=1e-6)


def test_shape_is_that_of_preferences() -> None:
    plain = agree(scores(random_scores(1, repeats=True))).to_dict()
    for part in ("all", "without_reference"):
        for kind in ("inter", "intra"):
            values = plain[kind][part]
            assert {"pairs", "observed", "s", "s_corrected", "pi", "kappa", "fleiss", "alpha"} <= set(values)
            assert values["observed"] is None
            low, high = values["interval"]["alpha"]
            assert low <= high
    assert plain["kind"] == "scores"
    assert "by_length" not in plain


def test_controls_and_rows_without_score_are_set_aside() -> None:
    rows: Rows = [
        ("a", "1", "x", 10.0),
        ("b", "1", "x", 20.0),
        ("a", "2", "x", None),
        ("b", "2", "x", 5.0),
        ("a", "2", "x", 6.0),
    ]
    judgments = scores(rows)
    kinds = pl.Series("kind", ["system", "system", "system", "degraded", "repeat"])
    result = agree(Judgments(judgments.table.with_columns(kinds)), resamples=0)
    assert result.inter["all"].pairs == 1
    assert [(aside.reason, aside.rows) for aside in result.set_aside] == [
        ("judgment without a score", 1),
        ("degraded output, attention check or tutorial", 1),
    ]
    # A row left blank in a table that does not say its protocol has none at all.
    blank = pl.when(pl.col("score").is_null()).then(None).otherwise("protocol").alias("protocol")
    unsaid = agree(Judgments(judgments.table.with_columns(kinds, blank)), resamples=0)
    assert unsaid.set_aside == result.set_aside


def test_a_reference_in_a_systems_place_is_another_item() -> None:
    """Controls show the reference under a system's name: they agree with each other, not with the system's output."""
    rows: Rows = [("a", "1", "x", 10.0), ("a", "1", "x", 90.0), ("a", "1", "y", 80.0), ("b", "1", "x", 30.0)]
    kinds = pl.Series("kind", ["system", "reference", "reference", "repeat"])
    result = agree(Judgments(scores(rows).table.with_columns(kinds)), resamples=0)
    assert (result.inter["all"].pairs, result.intra["all"].pairs) == (1, 1)
    assert result.inter["all"].numbers["difference"] == pytest.approx(20)
    assert result.intra["all"].numbers["difference"] == pytest.approx(10)
    assert result.intra["without_reference"].pairs == 0


def test_documents_scored_as_a_whole_are_items() -> None:
    """Agreement on documents is that on the same scores of one segment each."""
    rng = np.random.default_rng(3)
    rows = [(name, f"d{number}", system) for name in "abc" for number in range(6) for system in "xy"]
    names = ("annotator", "document", "system")
    columns: dict[str, object] = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    fixed = {**columns, "score": rng.integers(0, 100, len(rows)).astype(float), "protocol": ["da"] * len(rows)}
    whole = agree(Judgments.from_columns(fixed))
    by_segment = agree(Judgments.from_columns({**fixed, "segment": ["1"] * len(rows)})).inter["all"]
    assert repr(whole.inter["all"]) == repr(by_segment), "what scores have no coefficient for is NaN in both"
    assert whole.inter["all"].pairs == 6 * 2 * 3


def test_unnamed_segments_of_a_document_are_no_repeats() -> None:
    fixed = {"annotator": list("aabb"), "document": ["d"] * 4, "system": ["x"] * 4, "protocol": ["da"] * 4}
    screens = {"screen": list("1212")}
    for columns in (fixed, {**fixed, **screens}):
        with pytest.raises(DataError, match="agreement needs all three"):
            agree(Judgments.from_columns({**columns, "score": [1.0, 2.0, 3.0, 4.0]}))


def test_faults_are_explained() -> None:
    with pytest.raises(DataError, match="nothing was judged twice"):
        agree(scores([("a", "1", "x", 1.0), ("b", "2", "x", 1.0)]))
    with pytest.raises(DataError, match="no judgment has a score"):
        agree(scores([("a", "1", "x", None)]))
    with pytest.raises(UsageError, match="for rankings only"):
        agree(scores([("a", "1", "x", 1.0)]), texts=["text"])
    with pytest.raises(UsageError, match="-1 resamples"):
        agree(scores([("a", "1", "x", 1.0)]), resamples=-1)


def test_sums_are_the_same_in_every_run() -> None:
    """An engine that adds the scores of an output in changing order changes the last digits (seen in 40 of 40 runs)."""
    rng = np.random.default_rng(3)
    rows = 20_000
    table = pl.DataFrame(
        {
            "annotator": [f"w{code}" for code in rng.integers(0, 3, rows)],
            "system": [f"s{code}" for code in rng.integers(0, 10, rows)],
            "segment": [f"{code}" for code in rng.integers(0, 100, rows)],
            "score": rng.normal(50, 7.3, rows),
            "protocol": ["da"] * rows,
        }
    )
    judgments = Judgments.from_columns(table)
    cells = [score_cells(judgments) for _ in range(5)]
    assert len({(own.total.tobytes(), own.squares.tobytes()) for own in cells}) == 1


def test_tables_of_scores_name_their_parts_alike() -> None:
    tables = agree(scores(random_scores(1, repeats=True)), resamples=20).tables()
    assert [table.title for table in tables[:2]] == ["Agreement of scores", "95% intervals, annotators resampled"]
    assert {table.columns[1].label for table in tables[:2]} == {"judgments"}
