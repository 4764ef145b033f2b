"""Gold standards: segments before documents, annotators checked, a curve that ends where the correlation stands."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import adjudge
from adjudge import gold
from adjudge.metrics.join import read_keys
from adjudge.table.errors import DataError, InputError
from adjudge.table.judgments import Judgments


def run(seed: int, documents: int = 8, tasks: int = 6) -> Judgments:
    """Every task judges every segment of every document once, with an annotator of its own."""
    truth = np.linspace(20, 80, documents)
    rng = np.random.default_rng(seed)
    rows = [
        (f"a{task}", f"t{task}", f"d{d}", f"d{d}s{s}", float(np.clip(truth[d] + rng.normal(0, 15), 0, 100)), task)
        for task in range(tasks)
        for d in range(documents)
        for s in range(3)
    ]
    names = ("annotator", "task", "document", "segment", "score")
    columns: dict[str, object] = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    columns["ended"] = [datetime(2024, 1, 1, row[5], tzinfo=UTC) for row in rows]
    return Judgments.from_columns({**columns, "system": ["x"] * len(rows), "protocol": ["da"] * len(rows)})


def test_segments_are_averaged_before_documents() -> None:
    """A segment judged twice weighs no more than one judged once."""
    rows = [("s1", 0.0), ("s1", 20.0), ("s2", 50.0), ("s3", 100.0)]
    judgments = Judgments.from_columns(
        {
            "annotator": ["a"] * 4,
            "document": ["d"] * 4,
            "segment": [segment for segment, _ in rows],
            "score": [score for _, score in rows],
            "system": ["x"] * 4,
            "protocol": ["da"] * 4,
        }
    )
    (only,) = gold(judgments).scores
    assert only.raw == pytest.approx((10 + 50 + 100) / 3)
    assert only.n == 4


def test_two_runs_of_one_truth_agree() -> None:
    result = gold(run(1), run(2), orders=20)
    assert result.correlation is not None
    assert result.correlation.n == 8
    assert result.correlation.pearson > 0.9
    low, high = result.correlation.interval
    assert low < result.correlation.pearson < high


def test_the_curve_ends_at_the_correlation_and_is_the_same_again() -> None:
    result = gold(run(1), run(2), orders=10)
    assert result.correlation is not None
    assert len(result.curve) == 6
    assert result.curve[-1].pearson == pytest.approx(result.correlation.pearson)
    assert result.curve[-1].random_low == pytest.approx(result.correlation.pearson)
    assert result.curve[2].mean == pytest.approx(9)
    assert result.curve == gold(run(1), run(2), orders=10).curve


def test_keys_give_documents_and_unknown_segments_are_named() -> None:
    judgments = run(3)
    segments = judgments.table["segment"].unique().to_list()
    mapped = gold(judgments, keys={segment: segment[:2] for segment in segments})
    assert len(mapped.scores) == 8
    with pytest.raises(DataError, match="is not in the keys"):
        gold(judgments, keys={"d0s0": "d0"})


def test_keys_are_read_by_their_header(tmp_path: Path) -> None:
    file = tmp_path / "keys.txt"
    file.write_text("ORIG.TRG.FN ORIG.LN NEW.LN z\ndoc-a 1 1 .5\ndoc-a 2 2 .1\ndoc-b 1 3 .2\n")
    assert read_keys(file) == {"1": "doc-a", "2": "doc-a", "3": "doc-b"}
    file.write_text("document\tsegment\na b\t1\n")
    assert read_keys(file) == {"1": "a b"}
    file.write_text("x y\n1 2\n")
    with pytest.raises(InputError, match="no column 'segment'"):
        read_keys(file)
    file.write_text("segment document\n1 a\n1 b\n")
    with pytest.raises(InputError, match="line 3: segment '1' belongs to two documents"):
        read_keys(file)


def test_reliability_of_one_run_predicts_a_second() -> None:
    """Two runs of a known truth: z of 40 segments with noise 1 by 20 people; the true reliability is 20 / 21."""
    rng = np.random.default_rng(1)
    truth = rng.normal(size=40)
    rows = [
        {"annotator": f"a{a}", "system": "s", "segment": str(i), "score": float(50 + 10 * (truth[i] + rng.normal()))}
        for a in range(20)
        for i in range(40)
    ]
    found = adjudge.gold(pl.DataFrame(rows)).reliability
    assert found is not None
    assert found.reliability == pytest.approx(20 / 21, abs=0.03)
    assert found.needed == pytest.approx(9, rel=0.5)
