"""Metrics against relative judgments: ties as metrics tasks counted them, and pairs of systems told apart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import adjudge
from adjudge.metrics.segment_tau import taus
from adjudge.readers import native
from adjudge.table.errors import UsageError
from adjudge.table.judgments import Judgments
from tests.conftest import Run


def rankings(seed: int = 1, blocks: int = 60) -> Judgments:
    """Three systems and a human ranked by four people; a is best of the systems, c worst."""
    rng = np.random.default_rng(seed)
    strength = {"a": 1.2, "b": 0.0, "c": -1.2, "ref": 2.0}
    rows = []
    for block in range(blocks):
        latent = {name: own + rng.gumbel() for name, own in strength.items()}
        ordered = sorted(latent.values(), reverse=True)
        for name, own in latent.items():
            rank = 1 + ordered.index(own) // 2 if block % 5 == 0 else 1 + ordered.index(own)
            rows.append((f"p{block % 4}", str(block % 20), f"s{block}", name, rank, name == "ref"))
    names = ("annotator", "segment", "screen", "system", "rank", "human")
    columns: dict[str, object] = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    return Judgments.from_columns({**columns, "protocol": ["ranking"] * len(rows)})


def metric_table(path: Path, seed: int = 2) -> Path:
    """A metric that follows the systems with noise and ties, and one that is noise; no scores of the human."""
    rng = np.random.default_rng(seed)
    lines = ["system\tsegment\tgood\tnoise"]
    for system, level in (("a", 2), ("b", 1), ("c", 0)):
        lines += [
            f"{system}\t{segment}\t{int(np.round(level + rng.normal(0, 0.7)))}\t{rng.normal():.3f}"
            for segment in range(20)
        ]
    path.write_text("\n".join(lines) + "\n")
    return path


def by_hand(judgments: pl.DataFrame, scores: pl.DataFrame, metric: str) -> tuple[int, int, int]:
    """Comparison by comparison: how often the metric agrees, disagrees, or has a tie."""
    value = {(row["system"], row["segment"]): row[metric] for row in scores.iter_rows(named=True)}
    counts = [0, 0, 0]
    for _, block in judgments.group_by("screen", "annotator", "segment"):
        rows = block.filter(~pl.col("human") & pl.col("rank").is_not_null()).rows(named=True)
        for i, first in enumerate(rows):
            for second in rows[i + 1 :]:
                keys = [(row["system"], row["segment"]) for row in (first, second)]
                if first["rank"] == second["rank"] or first["system"] == second["system"]:
                    continue
                if any(value.get(key) is None for key in keys):
                    continue
                better, worse = (0, 1) if first["rank"] < second["rank"] else (1, 0)
                difference = value[keys[better]] - value[keys[worse]]
                counts[0 if difference > 0 else 1 if difference < 0 else 2] += 1
    return counts[0], counts[1], counts[2]


def test_ties_are_counted_as_the_tasks_did() -> None:
    """Definitions: wmt10_segTau.pl (a tie of the metric is no agreement), and Macháček and Bojar 2013 and 2014."""
    values = taus(np.array(6.0), np.array(3.0), np.array(1.0))
    assert values["tau_ties_against"] == pytest.approx((6 - 4) / 10)
    assert values["tau_ties_ignored"] == pytest.approx(3 / 9)
    assert values["tau_ties_zero"] == pytest.approx(3 / 10)


def test_every_decided_comparison_counts_once(tmp_path: Path) -> None:
    judgments, table = rankings(), metric_table(tmp_path / "metrics.tsv")
    result = adjudge.meta(judgments, [table], resamples=100)
    scores = pl.read_csv(table, separator="\t", schema_overrides={"segment": pl.String})
    for metric in ("good", "noise"):
        agree, against, tied = by_hand(judgments.table, scores, metric)
        own = result.metrics[metric]["decided comparisons"]
        assert own.n == agree + against + tied
        assert own.values["tau_ties_against"] == pytest.approx((agree - against - tied) / own.n)
        assert own.values["tau_ties_ignored"] == pytest.approx((agree - against) / (agree + against))
        assert own.values["tau_ties_zero"] == pytest.approx((agree - against) / own.n)
        low, high = own.intervals["tau_ties_zero"]
        assert low < own.values["tau_ties_zero"] < high
    reasons = " ".join(record.reason for record in result.set_aside)
    assert "human translation" in reasons
    assert "left tied" in reasons


def test_systems_that_people_tell_apart(tmp_path: Path) -> None:
    result = adjudge.meta(rankings(), [metric_table(tmp_path / "metrics.tsv")], resamples=50)
    ranking = adjudge.rank(rankings())
    apart = [
        pair
        for pair in ranking.comparisons
        if pair.p_holm is not None and pair.p_holm < 0.05 and "ref" not in (pair.better, pair.worse)
    ]
    assert apart
    own = result.metrics["good"]["separated systems"]
    assert own.n == len(apart)
    assert own.values["accuracy"] == 1.0
    assert result.settings["gold_method"] == "bradley-terry"
    tests = {(pair.level, pair.test): pair for pair in result.comparisons}
    assert tests["decided comparisons", "permutation of tau (ties 0)"].better == "good"
    assert tests["decided comparisons", "permutation of tau (ties 0)"].told_apart
    assert result.clusters["decided comparisons"] == (("good",), ("noise",))


@pytest.mark.slow
def test_the_command_writes_a_page(adjudge: Callable[..., Run], tmp_path: Path) -> None:
    table, page = tmp_path / "judgments.parquet", tmp_path / "meta.html"
    native.write(rankings(), table)
    metrics = metric_table(tmp_path / "metrics.tsv")
    run = adjudge("meta", table, metrics, "--format", "judgments", "--gold-method", "wins-or-ties",
                  "--resamples", "50", "--report", page, "--json")  # fmt: skip
    assert run.json["settings"]["gold_method"] == "wins-or-ties"
    assert set(run.json["metrics"]["good"]) == {"system", "separated systems", "decided comparisons"}
    assert "good is best on decided comparisons" in page.read_text()


def test_a_method_for_rankings_does_not_fit_scores(tmp_path: Path) -> None:
    scores = Judgments.from_columns(
        {"system": list("abab"), "segment": list("1122"), "score": [1.0, 2.0, 3.0, 4.0], "protocol": ["da"] * 4,
         "annotator": ["p"] * 4}
    )  # fmt: skip
    with pytest.raises(UsageError, match="leave it out with scores"):
        adjudge.meta(scores, [metric_table(tmp_path / "metrics.tsv")], gold_method="wins")


def test_systems_that_scores_tell_apart(tmp_path: Path) -> None:
    """The pairs are those that `rank` decides; a metric that orders systems by name is right on its share of them."""
    rng = np.random.default_rng(4)
    level = {"a": 50, "b": 52, "c": 65, "d": 80}
    rows = [
        {"annotator": f"p{who}", "segment": str(item), "system": name, "score": float(rng.normal(at, 5))}
        for who in range(6) for item in range(20) for name, at in level.items()
    ]  # fmt: skip
    file = tmp_path / "metric.tsv"
    scores = [
        "system\tmetric\tscore",
        *(f"{name}\tturned\t{score}" for name, score in zip("abcd", (1, 0, 2, 3), strict=True)),
    ]
    file.write_text("\n".join(scores) + "\n")
    frame = pl.DataFrame(rows)
    decided = {(pair.better, pair.worse) for pair in adjudge.rank(frame).comparisons if pair.decided}
    own = adjudge.meta(adjudge.read(frame), [file], resamples=20).metrics["turned"]["separated systems"]
    assert own.n == len(decided) >= 5
    assert own.values["accuracy"] == pytest.approx(1 - (("b", "a") in decided) / len(decided))
