"""Tasks on a dask cluster: the same results, one sentence for what is wrong, and a lost worker loses nothing."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

import pytest

from adjudge.table.errors import ClusterError, DataError
from adjudge.table.rng import generator
from adjudge.work.processes import _versions_of_workers, find_version_mismatch, versions
from adjudge.work.tasks import map_tasks, try_tasks, workers
from tests.helpers.clusters import Cluster, needs_distributed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = needs_distributed


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    started = Cluster(tmp_path)
    started.wait_for_workers()
    yield started
    started.close()


@pytest.mark.slow
def test_a_cluster_gives_what_this_process_gives_even_when_a_worker_is_lost(cluster: Cluster, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    begun.mkdir()

    def number(task: int) -> float:
        return float(generator(1, task).standard_normal(1000).sum())

    def draw(task: int) -> tuple[float, int]:
        (begun / str(task)).touch()
        time.sleep(0.05)
        return number(task), os.getpid()

    def fail(task: int) -> int:
        raise DataError(f"task {task} has no data")

    with workers(scheduler=cluster.address):
        # A worker is lost in the middle of the work.
        threading.Thread(target=lose_a_worker, args=(cluster, begun, 10), daemon=True).start()
        drawn = map_tasks(draw, range(60), what="draws")
        with pytest.raises(DataError, match="task 0 has no data"):
            map_tasks(fail, range(5), what="faults")
        sized = try_tasks(abs, [-1, -2, -3], what="numbers", sizes=[2.0, 1.0, 3.0])
    assert [outcome.unwrap() for outcome in sized] == [1, 2, 3]
    assert [value for value, _ in drawn] == [number(task) for task in range(60)]
    assert os.getpid() not in {process for _, process in drawn}


def lose_a_worker(cluster: Cluster, begun: Path, tasks: int) -> None:
    """Kill a worker when so many tasks have begun."""
    end = time.monotonic() + 300
    while len(list(begun.iterdir())) < tasks and time.monotonic() < end:
        time.sleep(0.01)
    cluster.workers[0].kill()


class LostWorker:
    """A client one of whose workers is lost while it is asked."""

    def __init__(self, fault: Exception) -> None:
        self.fault = fault

    def run(self, function: Callable[[], object], *, on_error: str) -> dict[str, object]:
        assert on_error == "return"
        return {"tcp://a": function(), "tcp://b": self.fault}


def test_a_worker_that_is_lost_while_versions_are_asked_is_left_out() -> None:
    assert _versions_of_workers(LostWorker(ConnectionError("closed"))) == {"tcp://a": versions()}
    with pytest.raises(ModuleNotFoundError, match="adjudge"):
        _versions_of_workers(LostWorker(ModuleNotFoundError("No module named 'adjudge'")))


@pytest.mark.slow
def test_a_cluster_without_workers_is_explained(tmp_path: Path) -> None:
    empty = Cluster(tmp_path, workers=0)
    try:
        with pytest.raises(ClusterError, match="has no workers; start some"), workers(scheduler=empty.address):
            pass
    finally:
        empty.close()


@pytest.mark.slow
def test_all_workers_gone_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adjudge.work.processes.WITHOUT_WORKERS", 1.0)
    monkeypatch.setattr("adjudge.work.processes.LOOK_AGAIN", 0.2)
    lonely = Cluster(tmp_path, workers=1)
    try:
        lonely.wait_for_workers()
        begun = tmp_path / "begun"
        begun.mkdir()

        def nap(task: int) -> None:
            (begun / str(task)).touch()
            time.sleep(0.5)

        with workers(scheduler=lonely.address):
            threading.Thread(target=lose_a_worker, args=(lonely, begun, 1), daemon=True).start()
            with pytest.raises(ClusterError, match=r"^all workers of tcp://.* have gone; start some and run"):
                map_tasks(nap, range(1000), what="naps")
    finally:
        lonely.close()


def test_a_scheduler_that_does_not_answer_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adjudge.work.processes.TO_CONNECT", 1)
    # Port 9 (discard) is not served on loopback.
    with pytest.raises(ClusterError, match=r"no scheduler answers at .*:9;"), workers(scheduler="tcp://127.0.0.1:9"):
        pass


def test_versions_that_differ_are_named() -> None:
    own = versions()
    assert find_version_mismatch(own, {"tcp://a:1": own}) is None
    older = own | {"numpy": "1.0"}
    sentence = find_version_mismatch(own, {"tcp://a:1": own, "tcp://b:2": older})
    assert sentence == f"the worker tcp://b:2 has numpy 1.0, this machine has {own['numpy']}; install the same on both"
