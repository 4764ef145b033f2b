"""Tasks on a dask cluster that is already running.

The same tasks give the same bytes as on this machine, as long as both have the same versions; that is checked first.
Where a worker is lost, dask gives its tasks to another one.
"""

from __future__ import annotations

import platform
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from adjudge._version import __version__
from adjudge.core.errors import ClusterError, UsageError
from adjudge.work.tasks import chunks_of, do_chunk

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from adjudge.work.progress import Progress
    from adjudge.work.tasks import Outcome

_Task = TypeVar("_Task")
_Done = TypeVar("_Done")

TO_CONNECT = 30
"""Seconds to wait for the scheduler, which may be busy."""
WITHOUT_WORKERS = 60.0
"""Seconds to wait for a worker when all have gone."""
LOOK_AGAIN = 5.0
PACKAGES = ("numpy", "scipy", "polars")


def map_on_cluster(
    function: Callable[[_Task], _Done],
    tasks: Sequence[_Task],
    address: str,
    progress: Progress,
    *,
    alone: bool = False,
) -> list[Outcome[_Done]]:
    """The outcomes of the tasks, in their order; each is handed over by itself where `alone` is true."""
    client = connect(address)
    chunks = chunks_of(tasks, _threads(client), alone=alone)
    # The function carries the data along, so it travels once and not with every chunk.
    carried = client.scatter(function, broadcast=True, hash=False)
    futures = [client.submit(do_chunk, carried, chunk, pure=False) for chunk in chunks]
    try:
        with client.as_current():
            return _gathered(client, address, futures, [len(chunk) for chunk in chunks], progress)
    finally:
        client.cancel(futures)


def _gathered(
    client: Any, address: str, futures: Sequence[Any], sizes: Sequence[int], progress: Progress
) -> list[Outcome[Any]]:
    distributed: Any = import_module("distributed")
    open_, seen = set(futures), perf_counter()
    while open_:
        try:
            finished = distributed.wait(open_, timeout=LOOK_AGAIN, return_when="FIRST_COMPLETED").done
        except TimeoutError:
            finished = set()
        except distributed.client.FuturesCancelledError as fault:
            # The data of the tasks lay with the workers and went with the last of them.
            raise _all_gone(address) from fault
        for future in finished:
            progress.advance(sizes[futures.index(future)])
        open_ -= finished
        seen = perf_counter() if finished or _threads(client) else seen
        if perf_counter() - seen > WITHOUT_WORKERS:
            raise _all_gone(address)
    try:
        return [outcome for future in futures for outcome in future.result()]
    except distributed.KilledWorker as fault:
        raise ClusterError(
            f"workers of {address} kept dying on the same task; give them more memory, or leave out --scheduler"
        ) from fault


def _all_gone(address: str) -> ClusterError:
    return ClusterError(f"all workers of {address} have gone; start some and run the command again")


def _threads(client: Any) -> int:
    """Threads of all workers together."""
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    return sum(int(worker["nthreads"]) for worker in workers)


@cache
def connect(address: str) -> Any:
    """A client of the scheduler, whose workers have the same versions as this process."""
    try:
        distributed: Any = import_module("distributed")
    except ImportError as fault:
        raise UsageError("--scheduler needs the package distributed; pip install 'adjudge[cluster]'") from fault
    try:
        client: Any = distributed.Client(address, timeout=TO_CONNECT, set_as_default=False)
    except (OSError, ValueError) as fault:
        raise ClusterError(
            f"no scheduler answers at {address}; start one with 'dask scheduler', or correct --scheduler"
        ) from fault
    if not _threads(client):
        client.close()
        raise ClusterError(f"the scheduler at {address} has no workers; start some with 'dask worker {address}'")
    version_mismatch = differing_versions(versions(), _versions_of_workers(client))
    if version_mismatch is not None:
        client.close()
        raise ClusterError(version_mismatch)
    return client


def _versions_of_workers(client: Any) -> dict[str, Mapping[str, str]]:
    """The versions of every worker that answers; one that is lost meanwhile does no work, so nothing is asked of it."""
    answers = client.run(versions, on_error="return")
    for answer in answers.values():
        if isinstance(answer, Exception) and not isinstance(answer, OSError):
            raise answer
    return {worker: answer for worker, answer in answers.items() if not isinstance(answer, OSError)}


def versions() -> dict[str, str]:
    """The versions on which bytes depend, in this process."""
    found = {"adjudge": __version__, "Python": ".".join(platform.python_version_tuple()[:2])}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "none"
    return found


def differing_versions(own: Mapping[str, str], workers: Mapping[str, Mapping[str, str]]) -> str | None:
    """The first difference between this process and a worker, in one sentence."""
    for worker, theirs in workers.items():
        for name, here in own.items():
            there = theirs.get(name, "none")
            if there != here:
                return f"the worker {worker} has {name} {there}, this machine has {here}; install the same on both"
    return None
