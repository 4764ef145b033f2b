"""What mt-metrics-eval's own code says of simulated systems and four metrics, number by number.

Expected values: `metrics/mtme-values.json`, made with mt-metrics-eval 0.0.3 (from its repository), numpy 1.26.4 and
scipy 1.12.0.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adjudge.metrics.join import join
from adjudge.metrics.meta import evaluate
from adjudge.metrics.results import MetaEvaluation
from adjudge.readers.metric_scores import read_metric_scores

METRICS = ("alpha", "beta", "gamma", "delta")
GROUPINGS = {"none": None, "sys": "by_system", "item": "by_item"}


@cache
def result_of(folder: Path) -> MetaEvaluation:
    scores = read_metric_scores([folder / "scores.tsv"])
    human = [score for score in scores if score.metric == "human"]
    joined, aside = join(human, [score for score in scores if score.metric != "human"])
    assert aside == ()
    return evaluate(joined, permutations=3000, resamples=50)


def expected_of(folder: Path) -> Any:
    return json.loads((folder / "mtme-values.json").read_text())


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("grouping", GROUPINGS)
def test_segment_level(data: Path, metric: str, grouping: str) -> None:
    coefficients = result_of(data / "metrics").metrics[metric]["segment"]
    values = coefficients.values if GROUPINGS[grouping] is None else coefficients.groups[str(GROUPINGS[grouping])]
    expected = expected_of(data / "metrics")["segment_level"][metric]
    for ours, theirs in (("pearson", "pearson"), ("spearman", "spearman"), ("kendall", "kendall_b")):
        assert values[ours] == pytest.approx(expected[f"{theirs}_{grouping}"], abs=1e-9)
    assert values["pairwise_accuracy"] == pytest.approx(expected[f"acc23_{grouping}_eps0"], abs=1e-9)
    assert 2 * values["pairwise_accuracy"] - 1 == pytest.approx(expected[f"tau23_{grouping}"], abs=1e-9)
    assert values["tie_calibrated_accuracy"] == pytest.approx(expected[f"acc_eq_{grouping}"], abs=1e-9)
    assert values["tie_threshold"] == pytest.approx(expected[f"acc_eq_{grouping}_threshold"], abs=1e-9)


@pytest.mark.parametrize("metric", METRICS)
def test_system_level(data: Path, metric: str) -> None:
    values = result_of(data / "metrics").metrics[metric]["system"].values
    expected = expected_of(data / "metrics")["system_level"][metric]
    for ours, theirs in (("pearson", "pearson"), ("spearman", "spearman"), ("kendall", "kendall_b")):
        assert values[ours] == pytest.approx(expected[theirs], abs=1e-9)
    assert values["pairwise_accuracy"] == pytest.approx(expected["pairwise_accuracy"], abs=1e-9)
    # Drawn at random on both sides: 1,000 permutations there, 3,000 here.
    assert values["soft_pairwise_accuracy"] == pytest.approx(expected["soft_pairwise_accuracy_1000perm"], abs=0.01)


@pytest.mark.parametrize("level", ["system", "segment"])
def test_williams(data: Path, level: str) -> None:
    p_values = {
        (comparison.better, comparison.worse): comparison.p
        for comparison in result_of(data / "metrics").comparisons
        if comparison.level == level and comparison.test == "williams"
    }
    for names, p in expected_of(data / "metrics")[f"williams_{level}_one_sided"].items():
        first, second = names.split()
        ours = p_values[first, second] if (first, second) in p_values else p_values[second, first]
        assert ours == pytest.approx(p, rel=1e-9)


def test_permutations(data: Path) -> None:
    """PERM-BOTH there finds no more extreme draw in 3,000 for any pair; the data count as one draw here."""
    tests = [
        comparison
        for comparison in result_of(data / "metrics").comparisons
        if comparison.test == "permutation of pearson"
    ]
    expected = expected_of(data / "metrics")["perm_both"]
    assert len(tests) == len(expected) == 6
    for test in tests:
        assert expected[f"{test.better} > {test.worse} (segment pearson, pooled, k=3000)"] == 0
        assert test.p == pytest.approx(1 / 3001)
        assert np.isfinite(test.difference)
