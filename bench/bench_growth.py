"""CPU time, memory and growth on data that are not friendly, beside what other programs take for the same files.

    python -m bench growth                                  # every work, four sizes each; some minutes
    python -m bench.bench_growth zscore votes               # some of them
    GROWTH_SIZE=4 GROWTH_RUNS=3 python -m bench growth      # four times as large, the least of three runs each

Outputs are nearly all distinct, names are long, a thousand people do very unequal work, and little is judged twice.
Every figure is of a whole process, from the file to the answer: CPU seconds (user and system) and the most memory. The
exponent b of CPU ~ n^b is fitted to the four sizes by least squares of logarithms, the time of the start taken off.
Beside the largest size stand the same file read by others. They are asked for in the interpreter that ADJUDGE_PEERS
names (default: this one); what is not installed is said to be missing. No test depends on these figures.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from adjudge.table.maths import Codes

SIZE, RUNS = float(os.environ.get("GROWTH_SIZE", "1")), int(os.environ.get("GROWTH_RUNS", "1"))
PEERS = os.environ.get("ADJUDGE_PEERS", sys.executable)


@dataclass(frozen=True)
class Work:
    """What is done with files of growing size."""

    what: str
    sizes: tuple[int, ...]
    make: Callable[[int], pl.DataFrame]
    command: tuple[str, ...]
    peers: dict[str, str] = field(default_factory=dict)
    """Scripts by the name of the program; each reads the file in its first argument."""


@dataclass(frozen=True)
class Taken:
    """CPU seconds and megabytes of a process."""

    cpu: float
    memory: float


def _unequal(rng: np.random.Generator, rows: int, people: int) -> Codes:
    """Who judged each row: work is unequal."""
    share = rng.lognormal(0, 1.2, people)
    return rng.choice(people, rows, p=share / share.sum())


def _named(**codes: Codes) -> pl.DataFrame:
    """Long names for codes, as platforms give them; other columns as they are."""
    names = {
        "annotator": "worker-A{}XQ", "task": "batch-{}", "document": "news-2026.site.example.{}", "segment": "seg-{}",
        "system": "online-system-{}", "model_a": "vendor/model-{}-instruct", "model_b": "vendor/model-{}-instruct",
    }  # fmt: skip
    table = pl.DataFrame(codes)
    return table.select(pl.format(names[name], name).alias(name) if name in names else name for name in codes)


def distinct_outputs(rows: int) -> pl.DataFrame:
    """Scores of which 97% are of outputs that nobody else judged."""
    rng = np.random.default_rng(1)
    people = max(10, rows // 1000)
    who, output = _unequal(rng, rows, people), np.arange(rows)
    again = rng.random(rows) < 0.03
    output[again] = rng.integers(0, rows, again.sum())
    system, segment = output % 20, output // 20
    spread = 10 + 5 * rng.random(people)
    score = 60 + 0.3 * system + 12 * rng.standard_normal(people)[who] + spread[who] * rng.standard_normal(rows)
    points = np.clip(np.round(score), 0, 100).astype(np.int64)
    return _named(annotator=who, system=system, document=segment // 15, segment=segment, score=points)


def votes(rows: int) -> pl.DataFrame:
    """Votes on different questions by judges with tastes, between 80 models that met unequally often."""
    rng, models = np.random.default_rng(2), 80
    judges = max(10, rows // 1000)
    who, share = _unequal(rng, rows, judges), rng.lognormal(0, 1, models)
    first = rng.choice(models, rows, p=share / share.sum())
    second = (first + 1 + rng.integers(models - 1, size=rows)) % models
    strength = rng.normal(0, 0.6, models)
    lead = strength[first] - strength[second] + rng.normal(0, 0.3, (judges, models))[who, first]
    won = rng.random(rows) < 1 / (1 + np.exp(-lead))
    outcome = np.where(rng.random(rows) < 0.15, "tie", np.where(won, "model_a", "model_b"))
    table = _named(annotator=who, segment=np.arange(rows), model_a=first, model_b=second)
    return table.with_columns(winner=outcome)


def pages(rows: int) -> pl.DataFrame:
    """Scores in tasks of 100: pages of ten segments, of whatever document and system."""
    rng = np.random.default_rng(3)
    task, page = np.arange(rows) // 100, np.arange(rows) // 10
    documents = max(20, rows // 500)
    own, system = (rng.integers(many, size=page[-1] + 1)[page] for many in (documents, 15))
    who = _unequal(rng, int(task[-1]) + 1, max(10, rows // 500))[task]
    return _scored(rng, who, own, own * 15 + np.arange(rows) % 10, system, task=task)


def at_random(rows: int) -> pl.DataFrame:
    """Scores of whatever segment and system by whomever."""
    rng = np.random.default_rng(4)
    segment = rng.integers(max(20, rows // 500) * 15, size=rows)
    who, system = rng.integers(max(10, rows // 500), size=rows), rng.integers(15, size=rows)
    return _scored(rng, who, segment // 15, segment, system)


def many_systems(systems: int) -> pl.DataFrame:
    """Thirty scores of each of many systems, at random."""
    rng, rows = np.random.default_rng(5), 30 * systems
    segment, who = rng.integers(600, size=rows), rng.integers(60, size=rows)
    return _scored(rng, who, segment // 15, segment, rng.integers(systems, size=rows))


def _scored(
    rng: np.random.Generator, who: Codes, document: Codes, segment: Codes, system: Codes, **more: Codes
) -> pl.DataFrame:
    """Scores of which people, tastes, documents, segments and outputs explain a part."""
    score = 70 + 0.5 * (system % 15) + 18 * rng.standard_normal(len(who))
    for spread, unit in (
        (11, who), (3, who * (system.max() + 1) + system), (2, document), (6, segment),
        (4, document * (system.max() + 1) + system),
    ):  # fmt: skip
        score += spread * rng.standard_normal(int(unit.max()) + 1)[unit]
    points = np.clip(np.round(score), 0, 100).astype(np.int64)
    return _named(annotator=who, **more, document=document, segment=segment, system=system, score=points)


def tournament(systems: int) -> pl.DataFrame:
    """Every two systems met eight times."""
    rng = np.random.default_rng(6)
    strength = np.sort(rng.normal(0, 0.5, systems))[::-1]
    first, second = (side.repeat(8) for side in np.triu_indices(systems, 1))
    won = rng.random(len(first)) < 1 / (1 + np.exp(strength[second] - strength[first]))
    table = _named(annotator=np.arange(len(first)) % 20, segment=np.arange(len(first)), model_a=first, model_b=second)
    return table.with_columns(winner=np.where(won, "model_a", "model_b"))


POLARS = """
import sys, polars as pl
z = (pl.col("score") - pl.col("score").mean().over("annotator")) / pl.col("score").std().over("annotator")
rows = pl.scan_csv(sys.argv[1]).unique(["annotator", "system", "document", "segment"], keep="last", maintain_order=True)
items = rows.with_columns(z=z).filter(pl.col("z").is_finite()).group_by("system", "document", "segment")
print(items.agg(pl.col("z", "score").mean()).group_by("system").agg(pl.col("z", "score").mean(), pl.len()).collect())
"""
DUCKDB = """
import sys, duckdb
duckdb.sql(f"with t as (select *, row_number() over () n from '{sys.argv[1]}'), last as (select * from t qualify n = "
    "max(n) over (partition by annotator, system, document, segment)), z as (select *, (score - avg(score) over w) / "
    "stddev_samp(score) over w z from last window w as (partition by annotator)), items as (select system, avg(z) z "
    "from z group by system, document, segment) select system, avg(z) from items group by system").fetchall()
"""
EVALICA = """
import sys, evalica, polars as pl
won = {"model_a": evalica.Winner.X, "model_b": evalica.Winner.Y, "tie": evalica.Winner.Draw}
rows = pl.read_csv(sys.argv[1])
evalica.bradley_terry(*(rows[side].to_list() for side in ("model_a", "model_b")), [won[w] for w in rows["winner"]])
"""
ARENA_RANK = """
import sys, pandas as pd
from arena_rank.models.bradley_terry import BradleyTerry
from arena_rank.utils.data_utils import PairDataset
rows = PairDataset.from_pandas(pd.read_csv(sys.argv[1]))
BradleyTerry(n_competitors=len(rows.competitors)).compute_ratings_and_cis(rows)
"""
LME4 = """
library(lme4)
rows <- read.csv(commandArgs(TRUE)[1])
lmer(score ~ system + (1 | annotator) + (1 | annotator:system) + (1 | document) + (1 | segment) + (1 | document:system),
     rows)
"""
HIGHS = """
import sys, numpy as np, polars as pl
from itertools import combinations
from scipy.optimize import LinearConstraint, milp
rows = pl.read_csv(sys.argv[1])
names = sorted({*rows["model_a"], *rows["model_b"]})
wins = np.zeros((len(names), len(names)))
for a, b, winner in rows.select("model_a", "model_b", "winner").rows():
    first, second = (a, b) if winner == "model_a" else (b, a)
    wins[names.index(first), names.index(second)] += 1
pairs = {pair: place for place, pair in enumerate(combinations(range(len(names)), 2))}
cost = [wins[j, i] - wins[i, j] for i, j in pairs]  # of placing i before j
triples = list(combinations(range(len(names)), 3))
matrix = np.zeros((len(triples), len(pairs)))
for row, (i, j, k) in enumerate(triples):
    matrix[row, [pairs[i, j], pairs[j, k], pairs[i, k]]] = 1, 1, -1
done = milp(cost, integrality=np.ones(len(pairs)), bounds=(0, 1), constraints=LinearConstraint(matrix, 0, 1))
print(done.fun)
"""

RANK = ("rank", "--json")
WORKS = {
    "zscore": Work(
        "z-scores, nearly all outputs distinct", (20_000, 60_000, 200_000, 600_000), distinct_outputs,
        (*RANK, "--method", "zscore"), {"polars": POLARS, "duckdb": DUCKDB},
    ),
    "votes": Work(
        "Bradley-Terry, votes on different questions", (20_000, 60_000, 200_000, 600_000), votes,
        (*RANK, "--method", "bradley-terry"), {"evalica (no intervals)": EVALICA, "arena-rank": ARENA_RANK},
    ),
    "pages": Work(
        "mixed model, tasks of ten pages", (3_000, 10_000, 30_000, 100_000), pages, (*RANK, "--method", "mixed"),
        {"lme4": LME4},
    ),
    "random": Work(
        "mixed model, everybody meets everything at random", (3_000, 8_000, 20_000, 50_000), at_random,
        (*RANK, "--method", "mixed"), {"lme4": LME4},
    ),
    "systems": Work("mixed model, many systems", (30, 80, 200, 500), many_systems, RANK),
    "tournament": Work(
        "tournament, every two met eight times", (10, 15, 25, 40), tournament, ("tournament", "--json"),
        {"HiGHS": HIGHS},
    ),
}  # fmt: skip
BY_SYSTEMS = ("systems", "tournament")
"""Works whose size is a number of systems, which GROWTH_SIZE leaves as it is."""


def taken(command: list[str]) -> Taken | None:
    """The least CPU time of all runs, and their most memory; None where the program cannot do it."""
    runs = []
    environment = {**os.environ, "ADJUDGE_CACHE": "off"}
    for _ in range(RUNS):
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            return None
        runs.append(Taken(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024))
    return Taken(min(run.cpu for run in runs), max(run.memory for run in runs))


def exponent(sizes: list[int], seconds: list[float]) -> float:
    """The b of seconds ~ sizes^b, by least squares of logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(seconds, 0.01)), 1)[0])


def _grow(name: str, work: Work, folder: Path, start: float) -> None:
    sizes = [round(size * (1 if name in BY_SYSTEMS else SIZE)) for size in work.sizes]
    print(f"\n{work.what}", flush=True)
    file, seconds, known = folder / f"{name}.csv", [], []
    for size in sizes:
        work.make(size).write_csv(file)
        ours = taken([sys.executable, "-m", "adjudge", work.command[0], str(file), *work.command[1:]])
        if ours is None:
            print(f"{size:>12,}   adjudge failed")
            continue
        seconds.append(ours.cpu)
        known.append(size)
        print(f"{size:>12,}   adjudge {ours.cpu:9.2f} s {ours.memory:7,.0f} MB", flush=True)
    if len(known) > 1:
        beyond = [second - start for second in seconds]
        print(f"{'':>12}   grows like n^{exponent(known, beyond):.2f}, {start:.2f} s of the start taken off")
    for peer, script in work.peers.items():
        path = folder / ("peer.R" if peer == "lme4" else "peer.py")
        path.write_text(script)
        theirs = taken(["Rscript" if peer == "lme4" else PEERS, str(path), str(file)]) if _at_hand(peer) else None
        if theirs is None:
            print(f"{'':>12}   {peer}: not at hand, or it fails")
        else:
            figures = f"{theirs.cpu:9.2f} s {theirs.memory:7,.0f} MB"
            print(f"{sizes[-1]:>12,}   {peer} {figures}; adjudge takes {seconds[-1] / theirs.cpu:.1f} times as long")


def _at_hand(peer: str) -> bool:
    from shutil import which

    return peer != "lme4" or which("Rscript") is not None


def run(*names: str) -> None:
    """Every work, or those named."""
    load = ", ".join(f"{number:.1f}" for number in os.getloadavg())
    print(f"CPU seconds, the least of {RUNS} runs; load of the machine {load} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder:
        tiny = Path(folder) / "tiny.csv"
        distinct_outputs(60).write_csv(tiny)
        start = taken([sys.executable, "-m", "adjudge", "rank", "--method", "zscore", "--json", str(tiny)])
        for name in names or WORKS:
            _grow(name, WORKS[name], Path(folder), 0.0 if start is None else start.cpu)


if __name__ == "__main__":
    run(*sys.argv[1:])
