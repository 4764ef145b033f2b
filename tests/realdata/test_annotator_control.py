"""Annotator control of two crowd runs (Graham et al. 2017), from the raw batches."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from adjudge.people.check import CheckRule, check
from adjudge.people.twins import find_twins
from adjudge.table.judgments import Judgments
from tests.helpers.released import read_released

# Table 1 of the paper; its "Run A" is the folder runB and its "Run B" is runA, 10,050 there is a misprint for 10,500,
# and 6,640 counts system and repeat items only while 7,700 counts all kinds.
TOTALS = {
    "runA": {"workers": 46, "items": 10_500, "tested": 44, "passing": 29, "kept": 7_700, "rated": 6_160},
    "runB": {"workers": 47, "items": 14_600, "tested": 39, "passing": 22, "kept": 8_300, "rated": 6_640},
}


@pytest.mark.parametrize("run", TOTALS)
def test_totals_are_published(data: Path, run: str) -> None:
    judgments = read_released(data / "eacl2017" / "batched-hits" / run, "mturk-da")
    result = check(judgments)
    expected = TOTALS[run]
    assert len(result.annotators) == expected["workers"]
    assert len(judgments) == expected["items"]
    assert sum(not annotator.rejected for annotator in result.annotators) == expected["tested"]
    assert len(result.passing) == expected["passing"]
    assert result.kept["judgments"] == expected["kept"]
    assert result.kept["system"] + result.kept["repeat"] == expected["rated"]


@pytest.mark.parametrize("run", TOTALS)
def test_p_values_are_the_official_ones(data: Path, run: str) -> None:
    """Official file `ad-trk-stats.csv`: worker, p, t, pairs."""
    judgments = read_released(data / "eacl2017" / "batched-hits" / run, "mturk-da")
    pairs_by_p = {
        annotator.p_controls: annotator.control_pairs
        for annotator in check(judgments).annotators
        if annotator.p_controls is not None
    }
    rows = [line.split() for line in (data / "eacl2017" / run / "ad-trk-stats.csv").read_text().splitlines()]
    # Worker names were anonymised in the official file: the p-values themselves identify the workers.
    for _, p, _, pairs in rows:
        nearest = min(pairs_by_p, key=lambda value: abs(value - float(p)))
        assert nearest == pytest.approx(float(p), rel=1e-6, abs=1e-12)
        assert pairs_by_p[nearest] == int(pairs)


@pytest.mark.parametrize("run", TOTALS)
def test_other_tests_give_other_totals(data: Path, run: str) -> None:
    judgments = read_released(data / "eacl2017" / "batched-hits" / run, "mturk-da")
    for test in ("welch", "paired-t-two-sided"):
        result = check(judgments, rule=CheckRule(test=test))
        assert (len(result.passing), result.kept["judgments"]) != (TOTALS[run]["passing"], TOTALS[run]["kept"])


def test_the_mirrored_block_of_a_parity_study_is_found(data: Path) -> None:
    """In the released ranks before cleaning, 31 segments (93 preferences) of one annotator mirror the other's."""
    folder = data / "suboptimal" / "bts"
    ranks = {name: [int(x) for x in (folder / f"{name}.txt").read_text().split()] for name in ("ref", "mt_y", "mt_z")}
    segments = len(ranks["ref"]) // 2
    rows = [
        (f"annotator {1 + i // segments}", f"{i % segments + 1}", name, rank)
        for name, column in ranks.items()
        for i, rank in enumerate(column)
    ]
    columns = {name: [row[k] for row in rows] for k, name in enumerate(("annotator", "segment", "system", "rank"))}
    screens = [f"{row[0]} {row[1]}" for row in rows]
    (block,) = find_twins(Judgments.from_columns({**columns, "screen": screens, "protocol": ["ranking"] * len(rows)}))
    assert (block.kind, block.items, block.preferences) == ("mirrored", 31, 93)
    assert (block.first, block.last) == ("350", "380")
    assert np.isfinite(block.p)
