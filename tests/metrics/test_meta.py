"""The command: reading scores of every form, joining them, and what it says."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import adjudge
from adjudge import meta
from adjudge.metrics.join import join
from adjudge.metrics.meta import evaluate
from adjudge.readers.metric_scores import MetricScore, read_metric_scores
from adjudge.table.errors import DataError, InputError
from adjudge.table.protocols import SCORED
from tests.conftest import Run, assert_explained


def table(folder: Path, *, systems: int = 6, segments: int = 30, outlier: bool = False) -> Path:
    rng = np.random.default_rng(1)
    lines = ["system\tsegment\tdocument\thuman\tgood\tbad"]
    for s in range(systems):
        low = -40 if outlier and s == 0 else 0
        for g in range(segments):
            human = low + 2 * s + rng.normal(0, 5)
            values = (human, human + rng.normal(0, 2), human + rng.normal(0, 20))
            lines.append("\t".join([f"s{s}", str(g), f"d{g // 5}", *(f"{value:.3f}" for value in values)]))
    file = folder / "scores.tsv"
    file.write_text("\n".join(lines) + "\n")
    return file


def test_the_better_metric_is_found_at_every_level(tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    # Documents exchange as a whole, so it takes several of them to tell metrics apart: here 12.
    file = table(tmp_path, segments=60)
    result = adjudge("meta", file, file, "--permutations", "200", "--resamples", "100", "--json").json
    assert set(result["metrics"]) == {"good", "bad"}
    assert set(result["metrics"]["good"]) == {"system", "document", "segment"}
    for level in ("document", "segment"):
        good, bad = (result["metrics"][name][level] for name in ("good", "bad"))
        assert good["pearson"] > bad["pearson"]
        assert good["by_item"]["tie_calibrated_accuracy"] > bad["by_item"]["tie_calibrated_accuracy"]
    low, high = result["metrics"]["good"]["segment"]["intervals"]["pearson"]
    assert low < result["metrics"]["good"]["segment"]["pearson"] < high
    segment = [comparison for comparison in result["comparisons"] if comparison["level"] == "segment"]
    assert all((comparison["better"], comparison["worse"]) == ("good", "bad") for comparison in segment)
    assert all(0 < comparison["p"] < 0.05 for comparison in segment)
    assert result["clusters"]["segment"] == [["good"], ["bad"]]
    assert any("mae" in note for note in result["notes"])


def test_a_notebook_gets_what_the_command_prints(tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    file = table(tmp_path)
    result = meta(file, [file], permutations=50, resamples=20)
    printed = adjudge("meta", file, file, "--permutations", "50", "--resamples", "20", "--json").json
    assert result.to_dict() == printed


@pytest.mark.parametrize("name", ["human", "gold", *SCORED, "SQM", "score"])
def test_a_column_of_human_scores_needs_no_option_under_a_usual_name(tmp_path: Path, name: str) -> None:
    file = table(tmp_path)
    file.write_text(file.read_text().replace("human", name, 1))
    result = meta(file, [file], permutations=1, resamples=0)
    assert set(result.to_dict()["metrics"]) == {"good", "bad"}


def test_outliers_are_named_and_left_out_beside(tmp_path: Path) -> None:
    scores = read_metric_scores([table(tmp_path, systems=8, outlier=True)])
    human = [score for score in scores if score.metric == "human"]
    joined, _ = join(human, [score for score in scores if score.metric != "human"])
    result = evaluate(joined, permutations=50, resamples=20)
    assert result.outliers == ("s0",)
    levels = result.metrics["bad"]
    assert levels["system without outliers"].values["pearson"] < levels["system"].values["pearson"]


def test_every_form_of_scores_is_read(tmp_path: Path) -> None:
    (tmp_path / "BLEU.seg.score").write_text("a\t1.5\na\tNone\nb\t2\nb\t3\n")
    (tmp_path / "BLEU.sys.score").write_text("a 1.5\nb 2.5\n")
    (tmp_path / "long.csv").write_text("system,segment,metric,score\na,1,m,0.5\n")
    (tmp_path / "x.json").write_text(json.dumps([{"name": "BLEU", "score": 30.5}, {"name": "chrF2", "score": 55}]))
    assert MetricScore("BLEU", "a", "2", None, None) in read_metric_scores([tmp_path / "BLEU.seg.score"])
    assert len(read_metric_scores([tmp_path])) == 6
    assert read_metric_scores([tmp_path / "long.csv"]) == [MetricScore("m", "a", "1", None, 0.5)]
    assert MetricScore("chrF2", "x", None, None, 55.0) in read_metric_scores([tmp_path / "x.json"])


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("m.seg.score", "a 1 2\n", "line 1: has 3 fields"),
        ("m.seg.score", "a x\n", "line 1: score is 'x'"),
        ("m.seg.score", "", "is empty"),
        ("m.json", "{", "is not JSON"),
        ("m.json", "[1]", "entry 1 is '1', an object with 'name' and 'score'"),
        ("m.tsv", "system\tsegment\na\t1\n", "has no column of scores"),
        ("m.tsv", "x\ty\na\t1\n", "has no column 'system'"),
        (
            "j.csv",
            "annotator,segment,system,score\na,1,x,5\n",
            "judgments of annotators, .* read it with 'format' judgm",
        ),
    ],
)
def test_bad_files_are_explained(tmp_path: Path, name: str, content: str, fault: str) -> None:
    file = tmp_path / name
    file.write_text(content)
    with pytest.raises(InputError, match=fault):
        read_metric_scores([file])


def test_what_cannot_be_joined_is_said(tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    human = [MetricScore("human", s, g, None, 1.0) for s in "abc" for g in "123"]
    metric = [MetricScore("m", s, g, None, 1.0) for s in "abd" for g in "124"]
    _, aside = join(human, metric)
    assert {(reason.reason, reason.rows) for reason in aside} == {
        ("human score of a system without metric scores: c", 3),
        ("metric score of a system without human scores: d", 3),
        ("human score without a metric score", 2),
        ("metric score without a human score", 2),
    }
    with pytest.raises(DataError, match="fewer than two systems"):
        join(human, [MetricScore("m", "z", "1", None, 1.0)])
    other = tmp_path / "other.tsv"
    other.write_text("system\tsegment\tm\nq\t1\t2\n")
    assert_explained(adjudge("meta", table(tmp_path), other), names=("fewer than two systems",))


def test_scores_of_whole_test_sets_are_enough(tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    (tmp_path / "human.sys.score").write_text("a 1\nb 2\nc 3\nd 5\n")
    (tmp_path / "bleu.sys.score").write_text("a 10\nb 20\nc 31\nd 50\n")
    result = adjudge("meta", tmp_path / "human.sys.score", tmp_path / "bleu.sys.score", "--json").json
    assert set(result["metrics"]["bleu"]) == {"system"}
    assert result["metrics"]["bleu"]["system"]["pairwise_accuracy"] == pytest.approx(1)


def test_a_whole_folder_of_mt_metrics_eval(tmp_path: Path) -> None:
    """One file of human scores and the metrics of its language pair are taken, as if they had been named."""
    metrics = tmp_path / "metric-scores" / "en-de"
    metrics.mkdir(parents=True)
    (tmp_path / "human-scores").mkdir()
    lines = {name: [f"s{s}\t{s + (7 * t + 3 * s) % 5 + shift}" for s in range(4) for t in range(6)]
             for shift, name in enumerate(("mqm", "da-sqm", "good", "other"))}  # fmt: skip
    for name in ("mqm", "da-sqm"):
        (tmp_path / "human-scores" / f"en-de.{name}.seg.score").write_text("\n".join(lines[name]) + "\n")
    for name in ("good", "other"):
        (metrics / f"{name}.seg.score").write_text("\n".join(lines[name]) + "\n")
    named = adjudge.meta(tmp_path / "human-scores" / "en-de.mqm.seg.score", metrics, permutations=20, resamples=20)
    assert adjudge.meta(tmp_path, permutations=20, resamples=20).to_dict() == named.to_dict()
    with pytest.raises(adjudge.AdjudgeError, match="holds human scores da-sqm, mqm for en-de; choose one"):
        adjudge.meta(tmp_path, gold_column="esa")
    with pytest.raises(adjudge.AdjudgeError, match="holds metrics of en-de; choose one with 'pair'"):
        adjudge.meta(tmp_path, pair="de-fr")
