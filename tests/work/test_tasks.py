"""Tasks give the same results in this process, in several, and however they are cut."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import parallel_config, register_parallel_backend
from joblib._parallel_backends import ThreadingBackend

from adjudge.table.errors import ClusterError, DataError, UsageError
from adjudge.table.rng import generator
from adjudge.work import processes
from adjudge.work import tasks as work_tasks
from adjudge.work.processes import prepared_processes
from adjudge.work.tasks import CHUNKS, chunks_of, current_workers, map_tasks, try_tasks, workers
from tests.helpers.warm_command import PATIENCE


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes are thought to cost nothing, so that all but the first task go to them."""
    monkeypatch.setattr(work_tasks, "START_UP", 0.0)
    monkeypatch.setattr(work_tasks, "HAND_OVER", 0.0)


def draw(task: int) -> tuple[int, float]:
    return task, float(generator(1, task).standard_normal(1000).sum())


def process(_: int) -> int:
    sum(range(100_000))
    return os.getpid()


def odd_ones_fail(task: int) -> int:
    if task % 2:
        raise DataError(f"task {task} has no data")
    return task


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("jobs", [2, 3])
def test_the_number_of_workers_changes_nothing(jobs: int) -> None:
    with workers(jobs=1):
        alone = map_tasks(draw, range(40), what="draws")
    with workers(jobs=jobs):
        together = map_tasks(draw, range(40), what="draws")
    assert together == alone


@pytest.mark.usefixtures("eager")
def test_large_work_goes_to_other_processes() -> None:
    with workers(jobs=2):
        ids = map_tasks(process, range(20), what="sums")
    assert ids[0] == os.getpid()
    assert len(set(ids)) == 2, "this process and one more share the work"


def test_small_work_stays_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    # A millisecond for each task, also where the machine is slow.
    monkeypatch.setattr(work_tasks, "process_time", count(0, 0.001).__next__)
    with workers(jobs=2):
        assert set(map_tasks(process, range(20), what="sums")) == {os.getpid()}


@pytest.mark.usefixtures("eager")
def test_few_large_tasks_stay_here_where_they_can_be_divided_further() -> None:
    with workers(jobs=4):
        assert set(map_tasks(process, range(3), what="sums", at_least=1)) == {os.getpid()}


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("jobs", [1, 2])
def test_the_first_fault_is_raised_whoever_met_it(jobs: int) -> None:
    with workers(jobs=jobs), pytest.raises(DataError, match="task 1 has no data"):
        map_tasks(odd_ones_fail, range(20), what="tasks")


@pytest.mark.usefixtures("eager")
def test_a_worker_hands_nothing_on() -> None:
    with workers(jobs=2):
        inside = map_tasks(lambda _: current_workers().jobs, range(4), what="tasks")
    assert inside[1:] == [1, 1, 1]


@pytest.mark.usefixtures("eager")
def test_a_fault_of_the_program_in_another_process_is_raised_and_later_work_goes_on() -> None:
    home = os.getpid()

    def not_at_home(_: int) -> int:
        if os.getpid() != home:
            raise LookupError("a fault of the program itself")
        return sum(range(100_000))

    with workers(jobs=2):
        with pytest.raises(LookupError, match="of the program itself"):
            map_tasks(not_at_home, range(20), what="tasks")
        assert map_tasks(draw, range(10), what="draws") == [draw(task) for task in range(10)]


@pytest.mark.slow
@pytest.mark.usefixtures("eager")
def test_a_process_that_is_lost_leaves_its_tasks_to_this_one(tmp_path: Path) -> None:
    here = os.getpid()

    def draw_or_die(task: int) -> tuple[int, float]:
        if os.getpid() != here:
            (tmp_path / "lost").touch()
            # What the system does with a process when memory is short.
            os.kill(os.getpid(), signal.SIGKILL)
        # The first task is done before there are others; this process must not do all before another one has begun.
        end = time.monotonic() + 300
        while task and not (tmp_path / "lost").exists():
            assert time.monotonic() < end, "no other process has begun a task"
            time.sleep(0.01)
        return draw(task)

    drawn = [draw(task) for task in range(12)]
    with workers(jobs=2):
        assert map_tasks(draw_or_die, range(12), what="draws") == drawn
        assert map_tasks(draw, range(12), what="draws") == drawn


def test_what_a_command_leaves_behind_at_its_end_is_removed_without_a_warning() -> None:
    script = """
import os
from adjudge.work.processes import _executor, end_processes
assert _executor(1).submit(abs, -3).result() == 3
end_processes()
from joblib.externals.loky.backend.synchronize import Lock
left = Lock()
assert "PYTHONWARNINGS" not in os.environ
os._exit(0)
"""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONWARNINGS"}
    # Standard error is open until the process that removes the lock has ended.
    ended = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    assert ended.stderr == ""


def test_a_fault_of_the_cluster_is_no_fault_of_a_task() -> None:
    def fail(task: int) -> int:
        raise ClusterError(f"all workers have gone at task {task}")

    with pytest.raises(ClusterError, match="gone at task 0"):
        try_tasks(fail, range(3), what="tasks")


def test_processes_are_started_while_large_files_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "large.csv"
    file.write_text("score\n")
    started: list[int] = []

    def start(number: int) -> Recorder:
        started.append(number)
        return Recorder()

    monkeypatch.setattr(processes, "_executor", start)
    with workers(jobs=3):
        with prepared_processes([tmp_path], ["json"]):
            pass
        assert started == [], "small files are read before processes would be there"
        monkeypatch.setattr(processes, "LARGE", 1)
        with prepared_processes([tmp_path], ["json"]):
            pass
        assert started == [2]
        with pytest.raises(DataError), prepared_processes([file], ["json"]):
            raise DataError("not a table")
    assert Recorder.ended == 1, "nobody waits for processes when the file cannot be read"
    with workers(jobs=1), prepared_processes([file], ["json"]):
        pass
    assert started == [2, 2]


class Recorder:
    """An executor that only counts."""

    ended = 0

    def submit(self, function: Callable[..., None], *arguments: Any) -> None:
        function(*arguments)

    def shutdown(self, **_: bool) -> None:
        Recorder.ended += 1


class AllAtOnce(ThreadingBackend):  # type: ignore[misc]
    """A backend as that of Spark: it gives no result before it has them all."""

    supports_return_generator = False


@pytest.mark.usefixtures("eager")
def test_backends_of_joblib_that_give_all_results_at_once_do_the_work_too() -> None:
    register_parallel_backend("all at once", AllAtOnce)
    with parallel_config(backend="all at once"), workers(jobs=2):
        there = map_tasks(draw, range(20), what="draws")
    assert there == [draw(task) for task in range(20)]


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("jobs", [1, 2])
def test_the_smallest_task_is_first_then_the_largest_and_results_keep_their_order(jobs: int, tmp_path: Path) -> None:
    def note_and_double(task: int) -> int:
        sum(range(100_000))
        with (tmp_path / str(os.getpid())).open("a") as file:
            file.write(f"{task}\n")
        return 2 * task

    tasks = [5, 2, 9, 4, 7]
    with workers(jobs=jobs):
        outcomes = try_tasks(note_and_double, tasks, what="tasks", sizes=[float(task) for task in tasks])
    assert [outcome.unwrap() for outcome in outcomes] == [10, 4, 18, 8, 14]
    done = {file.name: [int(line) for line in file.read_text().split()] for file in tmp_path.iterdir()}
    here = done.pop(str(os.getpid()))
    assert here[0] == 2
    assert all(begun == sorted(begun, reverse=True) for begun in (here[1:], *done.values()))
    assert sum(9 in begun for begun in done.values()) == jobs - 1, "another process begins with the largest"


def test_work_that_is_known_to_be_long_is_not_tried_here_first() -> None:
    tasks = range(4)
    sizes = [1.0, 4.0, 2.0, 3.0]
    with workers(jobs=2):
        outcomes = try_tasks(process, tasks, what="sums", sizes=sizes, known_seconds=1000.0)
    assert outcomes[1].unwrap() != os.getpid(), "another process has begun with the largest"
    with workers(jobs=1):
        outcomes = try_tasks(process, tasks, what="sums", sizes=sizes, known_seconds=1000.0)
    assert {outcome.unwrap() for outcome in outcomes} == {os.getpid()}


@pytest.mark.usefixtures("eager")
def test_tasks_without_size_are_done_all_the_same() -> None:
    with workers(jobs=2):
        outcomes = try_tasks(draw, range(4), what="draws", sizes=[0.0] * 4)
    assert [outcome.unwrap() for outcome in outcomes] == [draw(task) for task in range(4)]


def test_nothing_to_do() -> None:
    assert map_tasks(draw, [], what="nothing") == []
    assert try_tasks(draw, [], what="nothing", sizes=[]) == []


@given(st.integers(1, 300), st.integers(1, 20))
def test_chunks_hold_every_task_once_in_order(tasks: int, jobs: int) -> None:
    chunks = chunks_of(range(tasks), jobs)
    assert [task for chunk in chunks for task in chunk] == list(range(tasks))
    assert all(chunks)
    assert len(chunks) <= CHUNKS * jobs
    assert max(map(len, chunks)) - min(map(len, chunks)) <= 1


@pytest.mark.parametrize(("choice", "value"), [("jobs", 0), ("jobs", -2), ("scheduler", "localhost")])
def test_choices_that_make_no_sense_are_explained(choice: str, value: object) -> None:
    with pytest.raises(UsageError, match=f"'{choice}' is '?{value}"), workers(**{choice: value}):
        pass


def test_choices_hold_inside_only() -> None:
    before = current_workers()
    with workers(jobs=3), workers(cache=True):
        assert current_workers().jobs == 3
        assert current_workers().cache
    assert current_workers() == before
