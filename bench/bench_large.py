"""Large Parquet files: seconds and memory.

python -m bench.bench_large pairs 100         # a hundred million comparisons, counted: Bradley-Terry
python -m bench.bench_large scores 1          # a million scores, read whole: z-scores
python -m bench.bench_large check 1           # a million judgments with controls and repeats: check
python -m bench.bench_large agree 1           # the same: agree
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import polars as pl

from bench.bench_large_report import watched

MILLION = 1_000_000
ANNOTATORS, SYSTEMS = 1000, 20
CHECKED = ("check", "agree")


def main(kind: str, millions: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{kind}.parquet"
        _write(file, kind, millions * MILLION)
        print(f"{millions} million rows, {file.stat().st_size / 1e9:.2f} GB", flush=True)
        method = "bradley-terry" if kind == "pairs" else "zscore"
        verb = [kind] if kind in CHECKED else ["rank", "--method", method]
        watched("adjudge", [sys.executable, "-m", "adjudge", *verb, str(file), "--json"])


def _work(rows: int) -> pl.LazyFrame:
    """Every two annotators judge eight outputs, one of them again and one degraded; then two others go on."""
    number = pl.int_range(rows, eager=False, dtype=pl.Int64)
    group, slot = pl.col("number") // 20, pl.col("number") % 20
    first = pl.col("group").hash(2) % ANNOTATORS
    # The ninth is a degraded copy of the first, the tenth a repeat of the second.
    item = pl.col("group") * 8 + pl.when(pl.col("output") < 8).then("output").otherwise(pl.col("output") - 8)
    kind = pl.when(pl.col("output") < 8).then(pl.lit("system")).when(pl.col("output") == 8).then(pl.lit("degraded"))
    chance, fall = pl.col("number").hash(1) % 40, pl.when(pl.col("output") == 8).then(20).otherwise(0)
    return (
        pl.select(number.alias("number")).lazy()
        .with_columns(group=group, output=slot // 2, second=slot % 2)
        .with_columns(item=item, person=(first + pl.col("second") * (1 + pl.col("group") % 499)) % ANNOTATORS)
        .select(
            system=pl.format("sys{}", pl.col("item") % SYSTEMS),
            annotator=pl.format("w{}", "person"),
            task=pl.format("t{}", pl.col("group") // 4),
            document=pl.format("d{}", pl.col("item") // SYSTEMS // 20),
            segment=pl.format("s{}", pl.col("item") // SYSTEMS),
            kind=kind.otherwise(pl.lit("repeat")),
            protocol=pl.lit("da"),
            score=(30 + chance + pl.col("person") % 10 + pl.col("item") % SYSTEMS - fall).cast(pl.Float64),
        )
    )  # fmt: skip


def _write(file: Path, kind: str, rows: int) -> None:
    """Every annotator judges every system's translation of every segment; scores look like chance."""
    if kind in CHECKED:
        _work(rows).sink_parquet(file)
        return
    number = pl.int_range(rows, eager=False, dtype=pl.Int64)
    table = pl.select(number.alias("number")).lazy()
    annotator, rest = pl.col("number") % ANNOTATORS, pl.col("number") // ANNOTATORS
    system, segment = rest % SYSTEMS, rest // SYSTEMS
    chance = pl.col("number").hash(1)
    named = {
        "annotator": pl.format("w{}", annotator),
        "document": pl.format("d{}", segment // 20),
        "segment": pl.format("s{}", segment),
    }
    if kind == "pairs":
        other = (system + 1 + rest // SYSTEMS % (SYSTEMS - 1)) % SYSTEMS
        won = chance % 100 < 50 + (other - system)
        sides = {"left": pl.format("sys{}", system), "right": pl.format("sys{}", other)}
        table = table.select(**sides, winner=pl.when(won).then(pl.lit("left")).otherwise(pl.lit("right")), **named)
    else:
        score = (chance % 80 + annotator % 10 + system // 2).cast(pl.Float64)
        table = table.select(system=pl.format("sys{}", system), **named, score=score)
    table.sink_parquet(file)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
