"""Commands that divide their work print the same JSON in one process and in two.

Processes are treated as free of cost here, so that even small work is sent to them; each test checks that it was.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from adjudge import simulate
from adjudge.metrics.significance import permute_pearson
from adjudge.mixed.model import forget_models
from adjudge.planning.simulated_rankings import RankingCampaign
from adjudge.planning.simulated_scores import ScoreCampaign
from adjudge.shell.line import app
from adjudge.table.rng import generator
from adjudge.work import processes
from adjudge.work import tasks as work_tasks
from adjudge.work.tasks import workers
from tests.helpers.warm_command import PATIENCE

PLAN = ("plan", "--systems", "3", "--documents", "12", "--annotators", "4", "--difference", "8", "--draws", "4")
SIMULATE = ("simulate", "-o", "campaigns.parquet", "--protocol", "da", "--tasks", "4", "--campaigns", "4")
AUDIT = ("audit", "scores.parquet", "--only", "claims,aa,reliability,influence,stability")
PAIRS = ("audit", "pairs.parquet", "--only", "claims,stability")
RANKINGS = ("audit", "rankings.parquet", "--only", "aa,stability")
REPORT = ("report", "pairs.parquet", "-o", "report.html")
ONE_PAIR = ("report", "scores.parquet", "-o", "report.html")
RANK = ("rank", "rankings.parquet", "--method", "mfas", "--resamples", "20")
META = ("meta", "human.tsv", "metrics.tsv", "--permutations", "1000", "--resamples", "20")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small campaigns: scores of one language pair and of three, rankings, and scores of metrics."""
    made = tmp_path_factory.mktemp("campaigns")
    rankings = simulate(RankingCampaign(systems=5, annotators=6, blocks=60), seed=1).judgments
    rankings.table.write_parquet(made / "rankings.parquet")
    scores = simulate(ScoreCampaign(systems=3, annotators=8, tasks=12), seed=1).judgments.table
    scores.write_parquet(made / "scores.parquet")
    small = ScoreCampaign(systems=3, annotators=4, tasks=4)
    pairs = [
        simulate(small, seed=seed).judgments.table.with_columns(target_lang=pl.lit(name))
        for seed, name in enumerate(("cs", "de", "fr"))
    ]
    pl.concat(pairs).write_parquet(made / "pairs.parquet")
    _write_metrics(made)
    return made


def _write_metrics(made: Path) -> None:
    rng = generator(1)
    systems, segments = (codes.ravel() for codes in np.divmod(np.arange(4 * 30), 30))
    human = rng.normal(size=len(systems))
    common = {"system": [f"s{code}" for code in systems], "segment": segments}
    pl.DataFrame({**common, "score": human}).write_csv(made / "human.tsv", separator="\t")
    metrics = {f"m{k}": human * (1 + k / 4) + rng.normal(size=len(human)) for k in range(3)}
    pl.DataFrame({**common, **metrics}).write_csv(made / "metrics.tsv", separator="\t")


@pytest.fixture
def divided(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Makes processes cost nothing; tells what was handed to them."""
    monkeypatch.setattr(work_tasks, "START_UP", 0.0)
    monkeypatch.setattr(work_tasks, "HAND_OVER", 0.0)
    names: list[str] = []
    original = processes.map_in_processes

    def in_processes(function: Callable[[Any], Any], tasks: Sequence[Any], jobs: int, progress: Any) -> Any:
        names.append(progress.what)
        return original(function, tasks, jobs, progress)

    monkeypatch.setattr(processes, "map_in_processes", in_processes)
    return names


def run(*arguments: str, jobs: int) -> str:
    forget_models()  # or the second run would find the fits of the first
    done = CliRunner().invoke(app, [*arguments, "--json", "--jobs", str(jobs)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "jobs", "tasks"),
    [
        (PLAN, 2, {"designs"}),
        (SIMULATE, 2, {"campaigns"}),
        (AUDIT, 2, {"sections"}),
        (PAIRS, 2, {"language pairs"}),
        (RANKINGS, 2, {"A/A splits by annotators", "changes to the data"}),
        (REPORT, 2, {"language pairs"}),
        (ONE_PAIR, 2, {"rankings and audits"}),
        (RANK, 2, {"resampled tournaments"}),
        (META, 2, {"metrics", "accuracy of metrics", "permutations"}),
        # Few processes divide the sections of an audit, more of them what is repeated inside.
        (AUDIT, 4, {"A/A splits by pages", "halves of the annotators", "leaving out each annotator"}),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, tuple) else "",
)
def test_a_command_prints_the_same_in_several_processes(
    arguments: tuple[str, ...],
    jobs: int,
    tasks: set[str],
    folder: Path,
    divided: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(folder)
    alone = run(*arguments, jobs=1)
    page = _page(arguments)
    assert divided == []
    assert run(*arguments, jobs=jobs) == alone
    assert _page(arguments) == page
    assert tasks <= set(divided)


def _page(arguments: tuple[str, ...]) -> str:
    """What a report wrote; nothing for other commands, which print all that they have."""
    return Path("report.html").read_text() if arguments[0] == "report" else ""


@pytest.mark.slow
def test_a_replication_prints_the_same_in_two_processes(data: Path, divided: list[str]) -> None:
    replicate = ("replicate", "stability", "--data", str(data / "wmt21" / "facebook-wikipedia-2021"))
    assert run(*replicate, jobs=2) == run(*replicate, jobs=1)
    assert set(divided) == {"changes to the data"}


def test_permutations_are_the_same_in_two_processes(divided: list[str]) -> None:
    rng = generator(2)
    human = rng.normal(size=(5, 40))
    metrics = {name: human + rng.normal(size=human.shape) for name in "abc"}
    p: list[tuple[float, ...]] = []
    for jobs in (1, 2):
        with workers(jobs=jobs):
            tests = permute_pearson(human, metrics, by_item=True, permutations=600, rng=generator(3))
        p.append(tuple(test.p for test in tests))
    assert p[0] == p[1]
    assert set(divided) == {"permutations"}


SUMS = """
import adjudge, numpy as np, polars as pl
rng = np.random.default_rng(1)
table = pl.DataFrame({"system": rng.integers(0, 20, 30_000), "score": rng.normal(50, 7, 30_000)})
print(table.group_by("system", maintain_order=True).agg(pl.col("score").sum(), mean=pl.col("score").mean()).rows())
"""


@pytest.mark.slow
def test_the_number_of_threads_changes_no_digit() -> None:
    """Polars adds up few large groups in parts, one for each of its threads, unless it is told not to."""
    shown = [
        subprocess.run(
            [sys.executable, "-c", SUMS],
            env={**os.environ, "POLARS_MAX_THREADS": threads}, capture_output=True, check=True, timeout=PATIENCE,
        ).stdout
        for threads in ("1", "5")
    ]  # fmt: skip
    assert shown[0]
    assert shown[0] == shown[1]
