"""Segments of one document share their luck: copies of what was seen are no further evidence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import adjudge
from adjudge.metrics.join import Scores
from adjudge.metrics.levels import interval
from adjudge.metrics.meta import evaluate
from adjudge.table.judgments import Judgments

SYSTEMS = ("a", "b", "c", "d")


def test_segments_of_one_document_are_drawn_together() -> None:
    rng = np.random.default_rng(3)
    human = rng.normal(size=(4, 12)) + np.arange(4)[:, None]
    metric = human + rng.normal(size=human.shape)
    single = Scores(SYSTEMS, tuple(str(i) for i in range(12)), human, {"m": metric})
    copied = Scores(
        SYSTEMS,
        tuple(str(i) for i in range(60)),
        np.repeat(human, 5, axis=1),
        {"m": np.repeat(metric, 5, axis=1)},
        tuple(f"d{i // 5}" for i in range(60)),
    )
    of_single, of_copied = (
        evaluate(scores, permutations=20, resamples=100).metrics["m"] for scores in (single, copied)
    )
    assert of_copied["system"].intervals == {
        name: pytest.approx(ends) for name, ends in of_single["system"].intervals.items()
    }
    for name in ("pearson", "spearman", "kendall", "pearson_by_item", "tie_calibrated_accuracy_by_item"):
        assert of_copied["segment"].intervals[name] == pytest.approx(of_single["segment"].intervals[name])


def test_intervals_over_few_documents_are_wider() -> None:
    """Normal values: the quantile of Student's t with 5 degrees of freedom is 2.571, widened by sqrt(6 / 5)."""
    values = np.random.default_rng(1).normal(size=1_000_000)
    assert interval(values, units=6) == pytest.approx((-2.816, 2.816), rel=0.01)
    assert interval(values, units=100_000) == pytest.approx((-1.96, 1.96), rel=0.01)


def test_comparisons_of_one_document_change_sides_together(tmp_path: Path) -> None:
    """Five segments with the same answers and scores in each document tell metrics apart no better than one."""
    rng = np.random.default_rng(8)
    ranks = [rng.permutation(3) + 1 for _ in range(9)]
    scores = rng.normal(size=(9, 3, 2))
    results = []
    for copies in (1, 5):
        places = [(d, c) for d in range(9) for c in range(copies)]
        judged = [(f"p{d % 3}", f"d{d}", f"{d}-{c}", SYSTEMS[k], int(ranks[d][k])) for d, c in places for k in range(3)]
        names = ("annotator", "document", "segment", "system", "rank")
        columns: dict[str, object] = {name: [row[i] for row in judged] for i, name in enumerate(names)}
        judgments = Judgments.from_columns({**columns, "protocol": ["ranking"] * len(judged)})
        made = [(SYSTEMS[k], f"d{d}", f"{d}-{c}", *scores[d, k]) for d, c in places for k in range(3)]
        table = tmp_path / f"{copies}.tsv"
        pl.DataFrame(made, schema=["system", "document", "segment", "one", "two"], orient="row").write_csv(
            table, separator="\t"
        )
        results.append(adjudge.meta(judgments, [table], permutations=500, resamples=100))
    single, copied = (
        next(test for test in result.comparisons if test.level == "decided comparisons") for result in results
    )
    assert copied.p == single.p
    ends = [result.metrics["one"]["decided comparisons"].intervals["tau_ties_zero"] for result in results]
    assert ends[1] == pytest.approx(ends[0])


def test_several_systems_on_few_documents_are_no_independent_scores() -> None:
    """Copies of one system on the same documents repeat each other: Fisher's interval would be half as wide."""
    rng = np.random.default_rng(4)
    runs: dict[str, tuple[Judgments, Judgments]] = {}
    quality = 15 * rng.normal(size=12)
    scores = [70 + quality + 8 * rng.normal(size=12) for _ in range(2)]
    for name, systems in (("one", SYSTEMS[:1]), ("four", SYSTEMS)):
        first, second = (
            Judgments.from_columns(
                {
                    "annotator": ["p"] * 12 * len(systems),
                    "document": [f"d{d}" for _ in systems for d in range(12)],
                    "segment": [str(d) for _ in systems for d in range(12)],
                    "system": [system for system in systems for _ in range(12)],
                    "score": np.tile(np.clip(score, 0, 100), len(systems)),
                    "protocol": ["da"] * 12 * len(systems),
                }
            )
            for score in scores
        )
        runs[name] = (first, second)
    single, several = (adjudge.gold(*runs[name]).correlation for name in ("one", "four"))
    assert single is not None
    assert several is not None
    assert several.pearson == pytest.approx(single.pearson)
    width = [ends[1] - ends[0] for ends in (single.interval, several.interval)]
    assert width[1] > 0.6 * width[0]
