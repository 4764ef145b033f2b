"""Large files: rankings straight from Parquet and CSV, in seconds and memory, beside a bare polars script.

python -m bench.bench_large scores 100        # a hundred million scores in Parquet: z-scores
python -m bench.bench_large pairs 100         # as many comparisons in Parquet: Bradley-Terry
python -m bench.bench_large csv 10            # ten million scores in CSV: z-scores, and the same by polars alone
python -m bench.bench_large check 100         # a hundred million judgments with controls and repeats in Parquet: check
python -m bench.bench_large agree 100         # the same: agree
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
# The fastest of nine forms that were tried: words as codes, read at once, then streamed. The rows are used as they are.
POLARS = """
import sys, polars as pl
types = dict.fromkeys(("system", "annotator", "document", "segment"), pl.Categorical) | {"score": pl.Float64}
rows = pl.read_csv(sys.argv[1], schema_overrides=types).lazy()
%s
people = rows.group_by("annotator").agg(pl.col("score").mean().alias("mean"), pl.col("score").std().alias("sd"))
z = (pl.col("score") - pl.col("mean")) / pl.col("sd")
items = rows.join(people, on="annotator").group_by("system", "document", "segment").agg(z.mean().alias("z"))
print(items.group_by("system").agg(pl.col("z").mean()).sort("z", descending=True).collect(engine="streaming"))
"""
# Of duplicate judgments the last counts, as in adjudge. Checking for duplicates first is the fastest.
EACH_ONCE = """
key = ["system", "annotator", "document", "segment"]
different = rows.select(pl.struct(key).hash().n_unique(), pl.len()).collect(engine="streaming").row(0)
rows = rows if different[0] == different[1] else rows.unique(key, keep="last")
"""


def main(kind: str, millions: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / ("scores.csv" if kind == "csv" else f"{kind}.parquet")
        _write(file, kind, millions * MILLION)
        print(f"{millions} million rows, {file.stat().st_size / 1e9:.2f} GB", flush=True)
        method = "bradley-terry" if kind == "pairs" else "zscore"
        verb = [kind] if kind in CHECKED else ["rank", "--method", method]
        ours = watched("adjudge", [sys.executable, "-m", "adjudge", *verb, str(file), "--json"])
        if kind == "csv":
            for name, line in (("polars", ""), ("polars, each judgment once", EACH_ONCE)):
                bare = watched(name, [sys.executable, "-c", POLARS % line, str(file)])
                print(f"adjudge / {name}: {ours[0] / bare[0]:.2f} in wall time, {ours[1] / bare[1]:.2f} in CPU time")


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
    if file.suffix == ".csv":
        table.sink_csv(file)
    else:
        table.sink_parquet(file)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
