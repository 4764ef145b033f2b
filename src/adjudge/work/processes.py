"""Tasks in several processes of this machine, of which this one is the first.

This process does tasks too instead of waiting: it begins at once, while the others still import what they need. The
others are those of joblib (loky). Where the user has chosen another backend of joblib, as that of Spark, it does all.
"""

from __future__ import annotations

import os
import platform
import signal
from collections import deque
from concurrent.futures import BrokenExecutor, Future
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from threading import Lock, current_thread, main_thread
from time import perf_counter
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from warnings import filterwarnings

from adjudge._version import __version__
from adjudge.table.errors import ClusterError, param
from adjudge.work.tasks import Outcome, Progress, chunks_of, current_workers, do_chunk, jobs_of, note_processes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path


_Task = TypeVar("_Task")
_Done = TypeVar("_Done")

IDLE = 300
"""Seconds after which a process without work ends."""
LARGE = 2_000_000
"""Bytes of files from which on processes are started while the files are read."""
COMPRESSED = 30
"""How many bytes of text a byte of Parquet stands for."""
AUDIT_MODULES = (
    "scipy.linalg",
    "scipy.sparse",
    "adjudge.evidence.audit",
    "adjudge.evidence.claims",
    "adjudge.evidence.trust",
)
"""What audits import, of which some takes long."""
_EXECUTORS: dict[int, Any] = {}
"""Those that were used; usually it is one."""


def map_in_processes(
    function: Callable[[_Task], _Done], chunks: Sequence[Sequence[_Task]], jobs: int, progress: Progress
) -> list[Outcome[_Done]]:
    """The outcomes of all chunks, in their order; chunks are begun in this order too."""
    from joblib.parallel import get_active_backend

    if type(get_active_backend()[0]).__name__ != "LokyBackend":
        return _map_by_backend(function, chunks, jobs, progress)
    return _Shared(function, chunks, progress).run(jobs)


class _Shared(Generic[_Task, _Done]):
    """Chunks that this process and others take one by one, whoever is free.

    Where another process is lost, as when memory is short and the system ends it, this one does all that is left.
    """

    def __init__(
        self, function: Callable[[_Task], _Done], chunks: Sequence[Sequence[_Task]], progress: Progress
    ) -> None:
        self.function, self.chunks, self.progress = function, chunks, progress
        self.waiting = deque(range(len(chunks)))
        self.elsewhere: dict[int, Future[list[Outcome[_Done]]]] = {}
        self.lock = Lock()

    def run(self, jobs: int) -> list[Outcome[_Done]]:
        executor = _executor(jobs - 1)
        # loky ends workers that have grown by 300 MB, as with large tables, and starts new ones: users need not know.
        filterwarnings("ignore", message="A worker stopped while some jobs", category=UserWarning)
        try:
            with _interrupts_wait():
                for _ in range(min(jobs - 1, len(self.chunks) - 1)):
                    self._hand_over(executor)
            here: dict[int, list[Outcome[_Done]]] = {}
            while (number := self._take()) is not None:
                here[number] = self._do_here(number)
            by_chunk = [here[k] if k in here else self._fetch_or_do(k) for k in range(len(self.chunks))]
        except BaseException:
            # After an interrupt or a fault, nobody needs what the other processes are computing.
            with self.lock:
                self.waiting.clear()
            executor.shutdown(wait=False, kill_workers=True)
            raise
        return [outcome for outcomes in by_chunk for outcome in outcomes]

    def _hand_over(self, executor: Any) -> None:
        """Give the next chunk to another process, which gets one more when it is done."""
        with self.lock:
            if not self.waiting:
                return
            number = self.waiting.popleft()
            try:
                self.elsewhere[number] = future = executor.submit(do_chunk, self.function, self.chunks[number])
            except BrokenExecutor:
                self.waiting.appendleft(number)
                return

        def go_on(done: Future[list[Outcome[_Done]]]) -> None:
            fault = None if done.cancelled() else done.exception()
            if fault is None and not done.cancelled():
                self._count(len(self.chunks[number]))
                self._hand_over(executor)
            elif fault is not None and not isinstance(fault, BrokenExecutor):
                with self.lock:
                    self.waiting.clear()

        future.add_done_callback(go_on)

    def _take(self) -> int | None:
        with self.lock:
            return self.waiting.popleft() if self.waiting else None

    def _do_here(self, number: int) -> list[Outcome[_Done]]:
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):
            outcomes = do_chunk(self.function, self.chunks[number])
        self._count(len(outcomes))
        return outcomes

    def _fetch_or_do(self, number: int) -> list[Outcome[_Done]]:
        """The outcomes of a chunk that another process has, or had before it was lost."""
        with self.lock:
            future = self.elsewhere.get(number)
            if future is None:
                self.waiting.remove(number)
        if future is not None:
            with suppress(BrokenExecutor):
                return future.result()
        return self._do_here(number)

    def _count(self, tasks: int) -> None:
        with self.lock:
            self.progress.advance(tasks)


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Hold Ctrl-C back while processes are started, which inherit that: the terminal sends it to all of them.

    This process alone must hear of it, and does so afterwards; one that still imports modules would print where it was.
    Libraries have threads of their own, which still receive the signal. So it is noted by a handler, too: raised in the
    middle of starting a process, it could get lost.
    """
    from multiprocessing import resource_tracker

    # Started first, because its start lets all signals through again.
    resource_tracker.ensure_running()
    heard: list[int] = []
    in_main_thread = current_thread() is main_thread()
    handler = signal.signal(signal.SIGINT, lambda number, _: heard.append(number)) if in_main_thread else None
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if in_main_thread:
            signal.signal(signal.SIGINT, handler or signal.SIG_DFL)
        if heard:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def _no_leak_warnings() -> Iterator[None]:
    """Start the process in which loky removes what this one leaves behind, without its warnings.

    It inherits the environment when the first executor is made. A command ends without waiting for its threads, one of
    which may just be removing a semaphore itself. Users would read of a leak that there is not.
    """
    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, (before, "ignore:resource_tracker:UserWarning")))
    try:
        yield
    finally:
        os.environ.pop("PYTHONWARNINGS")
        os.environ.update({} if before is None else {"PYTHONWARNINGS": before})


def _executor(processes: int) -> Any:
    """The executor of loky, which joblib ships. `joblib.Parallel` cannot do what is needed here.

    It gives this process no share of the tasks, and an interrupt waits for tasks that have begun.
    """
    from joblib.externals.loky import get_reusable_executor

    with _no_leak_warnings():
        executor = get_reusable_executor(max_workers=processes, timeout=IDLE)
    _EXECUTORS[id(executor)] = executor
    return executor


def end_processes() -> None:
    """End the other processes, which have nothing left to do, without waiting until they have cleared up."""
    for executor in _EXECUTORS.values():
        executor.shutdown(wait=True, kill_workers=True)
    _EXECUTORS.clear()


@contextmanager
def prepared_processes(paths: Iterable[Path], modules: Sequence[str]) -> Iterator[None]:
    """Start the other processes while this one reads large files, so that they are ready when there is work for them.

    Args:
        paths: the files and folders that are read inside.
        modules: what the work will import; none where the work is too short for other processes.
    """
    current = current_workers()
    is_long = modules and current.jobs != 1 and current.scheduler is None and _count_bytes(paths) > LARGE
    jobs = jobs_of(current) if is_long else 1
    if jobs == 1:
        yield
        return
    executor = _executor(jobs - 1)
    with _interrupts_wait():
        for _ in range(jobs - 1):
            executor.submit(_import_all, modules)
    note_processes(jobs)
    try:
        yield
    except BaseException:
        executor.shutdown(wait=False, kill_workers=True)
        raise


def _count_bytes(paths: Iterable[Path]) -> int:
    """The size of the files as text."""
    files = [file for path in paths for file in (path.iterdir() if path.is_dir() else [path])]
    weights = {".parquet": COMPRESSED}
    return sum(file.stat().st_size * weights.get(file.suffix.lower(), 1) for file in files if file.is_file())


def _import_all(modules: Sequence[str]) -> None:
    for module in modules:
        import_module(module)


def _map_by_backend(
    function: Callable[[_Task], _Done], chunks: Sequence[Sequence[_Task]], jobs: int, progress: Progress
) -> list[Outcome[_Done]]:
    from joblib import Parallel, delayed

    outcomes: list[Outcome[_Done]] = []
    # Without memory maps: arrays that workers cannot write to would behave otherwise than in this process.
    parallel = Parallel(n_jobs=jobs, batch_size=1, prefer="processes", max_nbytes=None)
    for outcomes_of_chunk in parallel(delayed(do_chunk)(function, chunk) for chunk in chunks):
        outcomes += outcomes_of_chunk
        progress.advance(len(outcomes_of_chunk))
    return outcomes


# Tasks on a dask cluster that is already running.
#
# The same tasks give the same bytes as on this machine, as long as both have the same versions; that is checked first.
# Where a worker is lost, dask gives its tasks to another one.


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
    chunks = chunks_of(tasks, _count_threads(client), alone=alone)
    # The function carries the data along, so it travels once and not with every chunk.
    carried = client.scatter(function, broadcast=True, hash=False)
    futures = [client.submit(do_chunk, carried, chunk, pure=False) for chunk in chunks]
    try:
        with client.as_current():
            return _gather(client, address, futures, [len(chunk) for chunk in chunks], progress)
    finally:
        client.cancel(futures)


def _gather(
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
            # The data of the tasks lay on the workers and were lost with the last of them.
            raise _explain_no_workers(address) from fault
        for future in finished:
            progress.advance(sizes[futures.index(future)])
        open_ -= finished
        seen = perf_counter() if finished or _count_threads(client) else seen
        if perf_counter() - seen > WITHOUT_WORKERS:
            raise _explain_no_workers(address)
    try:
        return [outcome for future in futures for outcome in future.result()]
    except distributed.KilledWorker as fault:
        raise ClusterError(
            f"workers of {address} kept dying on the same task; give them more "
            f"memory, or leave out {param('scheduler')}"
        ) from fault


def _explain_no_workers(address: str) -> ClusterError:
    return ClusterError(f"all workers of {address} have gone; start some and run the command again")


def _count_threads(client: Any) -> int:
    """Threads of all workers together."""
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    return sum(int(worker["nthreads"]) for worker in workers)


@cache
def connect(address: str) -> Any:
    """A client of the scheduler, whose workers have the same versions as this process."""
    distributed: Any = import_module("distributed")
    try:
        client: Any = distributed.Client(address, timeout=TO_CONNECT, set_as_default=False)
    except (OSError, ValueError) as fault:
        raise ClusterError(
            f"no scheduler answers at {address}; start one with 'dask scheduler', or correct {param('scheduler')}"
        ) from fault
    if not _count_threads(client):
        client.close()
        raise ClusterError(f"the scheduler at {address} has no workers; start some with 'dask worker {address}'")
    version_mismatch = find_version_mismatch(versions(), _versions_of_workers(client))
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


def find_version_mismatch(own: Mapping[str, str], workers: Mapping[str, Mapping[str, str]]) -> str | None:
    """The first difference between this process and a worker, in one sentence."""
    for worker, theirs in workers.items():
        for name, here in own.items():
            there = theirs.get(name, "none")
            if there != here:
                return f"the worker {worker} has {name} {there}, this machine has {here}; install the same on both"
    return None
