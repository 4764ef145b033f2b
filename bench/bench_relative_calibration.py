"""How often tests between systems of equal strength call them different, by the number of annotators.

Six systems of equal strength; each annotator ranks blocks of five, with a taste of their own (a deviation for every
system, in log-odds). An honest test at .05 errs in 5% of the pairs. `python -m bench.bench_relative_calibration 1000`
makes so many campaigns of each size.
"""

from __future__ import annotations

import sys

import numpy as np
import polars as pl

import adjudge
from adjudge.core.judgments import Judgments
from adjudge.rank import RankSettings

SYSTEMS = 6
SHOWN = 5
# annotators, blocks of each
SIZES = ((2, 30), (3, 30), (5, 20), (8, 20), (12, 15), (25, 8), (40, 5))
TASTES = (0.0, 0.5)
LEVEL = 0.05


def campaign(annotators: int, blocks: int, taste: float, rng: np.random.Generator) -> Judgments:
    """Rankings by people who see no difference between the systems but their own taste."""
    number = annotators * blocks
    who = np.repeat(np.arange(annotators), blocks)
    shown = np.argsort(rng.random((number, SYSTEMS)), axis=1)[:, :SHOWN]
    liking = rng.normal(0, taste, (annotators, SYSTEMS))[who[:, None], shown] + rng.gumbel(size=shown.shape)
    rounded = np.round(liking)
    ranks = 1 + (rounded[:, :, None] < rounded[:, None, :]).sum(2)
    columns = {
        "annotator": np.repeat(who, SHOWN).astype(str),
        "screen": np.repeat(np.arange(number), SHOWN).astype(str),
        "segment": np.repeat(np.arange(number), SHOWN).astype(str),
        "system": np.char.add("s", shown.ravel().astype(str)),
        "rank": ranks.ravel(),
    }
    return Judgments.from_columns(pl.DataFrame(columns).with_columns(protocol=pl.lit("ranking")))


def rates(annotators: int, blocks: int, taste: float, campaigns: int) -> tuple[float, float]:
    """The share of pairs that differ at .05 by resampled Bradley-Terry strengths, and by the sign test."""
    rng = np.random.default_rng([annotators, blocks, int(10 * taste)])
    resampled, sign = [], []
    for seed in range(campaigns):
        judgments = campaign(annotators, blocks, taste, rng)
        found = adjudge.rank(judgments, settings=RankSettings(resamples=400, seed=seed)).comparisons
        resampled += [one.p is not None and one.p < LEVEL for one in found]
        sign += [(one.numbers["p_sign"] or 1.0) < LEVEL for one in found]
    return float(np.mean(resampled)), float(np.mean(sign))


def main(campaigns: int = 200) -> None:
    """Print a table."""
    print(f"{'taste':>6} {'annotators':>10} {'blocks each':>12} {'bradley-terry':>14} {'sign test':>10}")
    for taste in TASTES:
        for annotators, blocks in SIZES:
            model, sign = rates(annotators, blocks, taste, campaigns)
            print(f"{taste:6.1f} {annotators:10d} {blocks:12d} {model:14.3f} {sign:10.3f}", flush=True)


if __name__ == "__main__":
    main(*(int(one) for one in sys.argv[1:]))
