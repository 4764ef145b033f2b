"""Bradley-Terry with ties and 1,000 resamples from string columns, beside evalica's fit of the same rows.

adjudge counts the rows first and resamples the counts; evalica (0.4) fits the rows, without resamples here because
a hundred of them already take it two minutes at a million rows.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from adjudge.ranking.methods import RankSettings, rank_large_file

SYSTEMS = 30


def pairs(rows: int, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    strength = np.linspace(0.5, -0.5, SYSTEMS)
    left = rng.integers(SYSTEMS, size=rows)
    right = (left + 1 + rng.integers(SYSTEMS - 1, size=rows)) % SYSTEMS
    weight = np.stack(
        [np.exp(strength[left]), np.exp(strength[right]), 0.47 * np.exp((strength[left] + strength[right]) / 2)]
    )
    share = np.cumsum(weight / weight.sum(0), axis=0)
    outcome = (rng.random(rows) > share[:2]).sum(0)
    names = np.array([f"system-{i:02d}" for i in range(SYSTEMS)])
    words = np.array(["left", "right", "tie"])
    return pl.DataFrame({"left": names[left], "right": names[right], "winner": words[outcome]})


def ours(table: pl.DataFrame) -> float:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "pairs.parquet"
        table.write_parquet(file)
        start = time.process_time()
        rank_large_file(file, None, RankSettings(resamples=1000))
        return time.process_time() - start


def evalica_fit(table: pl.DataFrame) -> float:
    import evalica

    winner = {"left": evalica.Winner.X, "right": evalica.Winner.Y, "tie": evalica.Winner.Draw}
    left, right = table["left"].to_list(), table["right"].to_list()
    outcome = [winner[word] for word in table["winner"]]
    start = time.process_time()
    evalica.bradley_terry(left, right, outcome)
    return time.process_time() - start


def run() -> None:
    print("Bradley-Terry, CPU seconds: adjudge with ties and 1,000 resamples, evalica the fit alone")
    ours(pairs(1000))  # imports
    for rows in (100_000, 1_000_000, 10_000_000):
        table = pairs(rows)
        mine, theirs = ours(table), evalica_fit(table)
        print(f"{rows:>12,} rows   adjudge {mine:7.2f}   evalica fit {theirs:7.2f}   ratio {theirs / mine:6.1f}")


if __name__ == "__main__":
    run()
