"""Identical texts judged apart, and drifts: made-up judgments with known answers, and the line test against SciPy."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import linregress

from adjudge.people.check import FEWEST, change, check
from adjudge.table.judgments import Judgments

COMMON = {"campaign": "c", "source_lang": "en", "target_lang": "cs"}


def rankings(blocks: list[list[tuple[str, int, str]]]) -> Judgments:
    rows = [
        {
            **COMMON, "protocol": "ranking", "annotator": "ann", "task": "t", "screen": f"s{number}",
            "document": "d", "segment": str(number), "system": system, "rank": rank, "target_text": text,
        }
        for number, block in enumerate(blocks)
        for system, rank, text in block
    ]  # fmt: skip
    return Judgments.from_columns(pl.DataFrame(rows))


def test_identical_texts_judged_apart_are_counted_in_pairs() -> None:
    judgments = rankings(
        [
            [("A", 1, "same"), ("B", 1, "same"), ("C", 2, "same"), ("D", 3, "other")],  # 3 pairs, 2 of them apart
            [("A", 1, "x"), ("B", 2, "y")],
            [("A", 2, "z"), ("B", 2, "z")],  # 1 pair, together
        ]
    )
    (same,) = check(judgments).same_texts
    assert (same.annotator, same.pairs, same.apart) == ("ann", 4, 2)


def test_nothing_is_said_where_texts_are_not_known() -> None:
    judgments = rankings([[("A", 1, "x"), ("B", 2, "x")]])
    assert check(Judgments(judgments.table.drop("target_text"))).same_texts == ()


def scores(people: dict[str, tuple[float, float]], *, items: int = 200, seed: int = 1) -> Judgments:
    """Everybody scores the same outputs; the pair is the change of score and the ratio of times from first to last."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(70, 10, items)
    rows = [
        {
            **COMMON, "protocol": "da", "annotator": name, "task": "t", "screen": str(i), "document": f"d{i // 10}",
            "segment": str(i), "system": "AB"[i % 2],
            "score": float(np.clip(truth[i] + shift * i / items + rng.normal(0, 3), 0, 100)),
            "active_seconds": float(20 * ratio ** (i / items) * np.exp(rng.normal(0, 0.1))),
        }
        for name, (shift, ratio) in people.items()
        for i in range(items)
    ]  # fmt: skip
    return Judgments.from_columns(pl.DataFrame(rows))


def test_a_drift_is_found_with_its_size() -> None:
    judgments = scores({"steady": (0.0, 1.0), "also": (0.0, 1.0), "tired": (-20.0, 0.4)})
    drifts = {drift.annotator: drift for drift in check(judgments).drifts}
    tired = drifts["tired"]
    assert tired.score_change == pytest.approx(-20, abs=6)
    assert tired.p_score is not None
    assert tired.p_score < 1e-4
    assert tired.time_ratio == pytest.approx(0.4, rel=0.1)
    assert drifts["steady"].time_ratio == pytest.approx(1, rel=0.1)


def test_few_judgments_say_nothing_of_a_drift() -> None:
    assert check(scores({"ann": (0.0, 1.0)}, items=FEWEST - 1)).drifts == ()


def test_the_line_is_that_of_scipy() -> None:
    """scipy.stats.linregress: slope and two-sided p."""
    rng = np.random.default_rng(5)
    position, value = np.linspace(0, 1, 80), rng.normal(size=80) + np.linspace(0, 1, 80)
    expected = linregress(position, value)
    assert change(position, value) == pytest.approx((expected.slope, expected.pvalue))


def test_false_alarms_of_a_drift_are_as_rare_as_promised() -> None:
    """Without any drift, p below .05 in about 5% of 400 people (binomial bound: 4 standard errors)."""
    rng = np.random.default_rng(9)
    position = np.linspace(0, 1, 60)
    alarms = sum((change(position, rng.normal(size=60))[1] or 1) < 0.05 for _ in range(400))
    assert abs(alarms / 400 - 0.05) < 4 * np.sqrt(0.05 * 0.95 / 400)
