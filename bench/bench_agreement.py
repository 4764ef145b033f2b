"""Krippendorff's alpha of 0-100 scores and of preferences, beside evalica's and the plain definition.

adjudge takes columns (unit, value); evalica (0.4) a table annotators x units, which is made before its clock starts.
The plain definition compares every pair of scores, so it runs on the smallest size only. Agreement of a whole
campaign, with all coefficients and 1,000 resamples of annotators, has no counterpart; its time stands alone.
"""

from __future__ import annotations

import time
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from adjudge.people.agreement import agree
from adjudge.people.coefficients import Level, alpha
from adjudge.table.judgments import Judgments

ANNOTATORS = 30
PER_UNIT = 3


def ratings(rows: int, highest: int, seed: int = 1) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Units, annotators and values: every unit is scored by three of thirty people, who agree somewhat."""
    rng = np.random.default_rng(seed)
    units = np.repeat(np.arange(rows // PER_UNIT), PER_UNIT)
    people = (rng.integers(ANNOTATORS, size=(rows // PER_UNIT, 1)) + np.array([[0, 7, 13]])) % ANNOTATORS
    quality = rng.normal(0.6, 0.2, size=rows // PER_UNIT)[units] + rng.normal(0, 0.2, size=len(units))
    return units, people.ravel(), np.clip(np.round(quality * highest), 0, highest)


def ours(rows: int, highest: int, level: Level) -> tuple[float, float]:
    units, _, values = ratings(rows, highest)
    start = time.process_time()
    coefficient = alpha(units, values, level=level)
    return time.process_time() - start, coefficient


def evalicas(rows: int, highest: int, level: Level) -> tuple[float, float]:
    import evalica
    import pandas as pd

    units, people, values = ratings(rows, highest)
    table = np.full((ANNOTATORS, rows // PER_UNIT), np.nan)
    table[people, units] = values
    frame = pd.DataFrame(table)
    start = time.process_time()
    coefficient = evalica.alpha(frame, distance=level).alpha
    return time.process_time() - start, float(coefficient)


def plain(rows: int, highest: int) -> tuple[float, float]:
    units, _, values = ratings(rows, highest)
    start = time.process_time()
    within = [pair for part in np.split(values, np.flatnonzero(np.diff(units)) + 1) for pair in combinations(part, 2)]
    observed = sum((a - b) ** 2 for a, b in within) / len(within)
    expected = sum((a - b) ** 2 for a, b in combinations(values.tolist(), 2)) / (len(values) * (len(values) - 1) / 2)
    return time.process_time() - start, 1 - observed / expected


def campaign(rows: int) -> float:
    units, people, values = ratings(rows, 100)
    table = pl.DataFrame({"unit": units, "who": people, "score": values}).select(
        pl.lit("c").alias("campaign"),
        pl.lit("da").alias("protocol"),
        pl.format("annotator-{}", "who").alias("annotator"),
        (pl.col("unit") // 10).cast(pl.String).alias("segment"),
        pl.format("system-{}", pl.col("unit") % 10).alias("system"),
        "score",
    )
    judgments = Judgments.from_columns(table)
    start = time.process_time()
    agree(judgments)
    return time.process_time() - start


def run() -> None:
    print("Krippendorff's alpha, CPU seconds; ratio = other / adjudge")
    ours(1000, 100, "interval")
    mine, coefficient = ours(6000, 100, "interval")
    theirs, same = plain(6000, 100)
    print(f"{6000:>12,} interval   adjudge {mine:8.4f}   every pair {theirs:8.2f}   ratio {theirs / mine:10,.0f}")
    print(f"{'':12} alpha {coefficient:.6f} and {same:.6f}")
    for rows in (100_000, 1_000_000):
        for level, highest in (("interval", 100), ("ordinal", 100), ("nominal", 2)):
            mine, coefficient = ours(rows, highest, level)  # type: ignore[arg-type]
            theirs, same = evalicas(rows, highest, level)  # type: ignore[arg-type]
            times = f"adjudge {mine:8.4f}   evalica    {theirs:8.3f}   ratio {theirs / mine:10,.1f}"
            print(f"{rows:>12,} {level:9}  {times}   difference {abs(coefficient - same):.0e}")
    print(f"{1_000_000:>12,} scores: agree with all coefficients and 1,000 resamples {campaign(1_000_000):.1f}")


if __name__ == "__main__":
    run()
