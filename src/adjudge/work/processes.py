"""Tasks in several processes of this machine, of which this one is the first.

This process does tasks too instead of waiting: it begins at once, while the others still import what they need. The
others are those of joblib (loky). Where the user has chosen another backend of joblib, as that of Spark, it does all.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from threading import Lock, current_thread, main_thread
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from warnings import filterwarnings

from adjudge.work.tasks import do_chunk, processes_started
from adjudge.work.workers import current_workers, jobs_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from concurrent.futures import Future
    from pathlib import Path

    from adjudge.work.progress import Progress
    from adjudge.work.tasks import Outcome

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
    "adjudge.audit",
    "adjudge.audit.claims.section",
    "adjudge.audit.influence",
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
        return _by_chosen_backend(function, chunks, jobs, progress)
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
        # It ends processes that have grown by 300 MB, as with large tables, and starts new ones: nothing to tell users.
        filterwarnings("ignore", message="A worker stopped while some jobs", category=UserWarning)
        try:
            with _interrupts_wait():
                for _ in range(min(jobs - 1, len(self.chunks) - 1)):
                    self._hand_over(executor)
            here = self._do_own_share()
            by_chunk = [here[k] if k in here else self._done_elsewhere(k) for k in range(len(self.chunks))]
        except BaseException:
            # An interrupt or a fault: nobody waits for what the others are at.
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
            chunk = self.chunks[number]
            try:
                self.elsewhere[number] = future = executor.submit(do_chunk, self.function, chunk)
            except BrokenExecutor:
                self.waiting.appendleft(number)
                return

        def then(finished: Future[list[Outcome[_Done]]]) -> None:
            if finished.cancelled():
                return
            fault = finished.exception()
            if isinstance(fault, BrokenExecutor):
                return
            if fault is not None:
                with self.lock:
                    self.waiting.clear()
                return
            self._count(len(chunk))
            self._hand_over(executor)

        future.add_done_callback(then)

    def _do_own_share(self) -> dict[int, list[Outcome[_Done]]]:
        outcomes: dict[int, list[Outcome[_Done]]] = {}
        while True:
            with self.lock:
                if not self.waiting:
                    return outcomes
                number = self.waiting.popleft()
            outcomes[number] = self._do_here(number)

    def _do_here(self, number: int) -> list[Outcome[_Done]]:
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):
            outcomes = do_chunk(self.function, self.chunks[number])
        self._count(len(outcomes))
        return outcomes

    def _done_elsewhere(self, number: int) -> list[Outcome[_Done]]:
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


@cache
def _start_tracker() -> None:
    """Start the process in which loky removes what this one leaves behind, without its warnings.

    A command ends without waiting for its threads, one of which may just be removing a semaphore itself. Users would
    read of a leak that there is not.
    """
    from joblib.externals.loky.backend import resource_tracker

    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, (before, "ignore:resource_tracker:UserWarning")))
    try:
        resource_tracker.ensure_running()
    finally:
        if before is None:
            del os.environ["PYTHONWARNINGS"]
        else:
            os.environ["PYTHONWARNINGS"] = before


def _executor(processes: int) -> Any:
    from joblib.externals.loky import get_reusable_executor

    _start_tracker()
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
    jobs = 1
    if modules and current.jobs != 1 and current.scheduler is None and _bytes_of(paths) > LARGE:
        jobs = jobs_of(current)
    if jobs == 1:
        yield
        return
    executor = _executor(jobs - 1)
    with _interrupts_wait():
        for _ in range(jobs - 1):
            executor.submit(_import_all, modules)
    processes_started(jobs)
    try:
        yield
    except BaseException:
        executor.shutdown(wait=False, kill_workers=True)
        raise


def _bytes_of(paths: Iterable[Path]) -> int:
    files = [file for path in paths for file in (path.iterdir() if path.is_dir() else [path])]
    weights = {".parquet": COMPRESSED}
    return sum(file.stat().st_size * weights.get(file.suffix.lower(), 1) for file in files if file.is_file())


def _import_all(modules: Sequence[str]) -> None:
    for module in modules:
        import_module(module)


def _by_chosen_backend(
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
