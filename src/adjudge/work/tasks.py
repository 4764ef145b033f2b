"""Map a function over independent tasks: in this process, in several, or on a cluster.

Work begins in this process. When the first tasks show that the rest will take longer than starting processes does, the
rest goes to them. So small work stays as fast as a loop, and nobody has to guess sizes.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any, Generic, Self, TextIO, TypeVar

from adjudge.table.errors import AdjudgeError, ClusterError, UsageError, param

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import TracebackType

    from threadpoolctl import ThreadpoolController


# Who does the work: how many processes and threads, which cluster, whether results are kept, and who watches.
#
# Linear algebra has one thread in every process, since what adjudge computes are many small matrices. Several threads
# would spend their time waiting for each other, most of all where other processes work too; and they add numbers in
# parts, so that the last digit of a sum would depend on the number of cores.


@dataclass(frozen=True)
class Workers:
    """The choices of whoever started the work.

    Attributes:
        jobs: processes on this machine; all cores where None.
        scheduler: the address of a dask scheduler, as `tcp://host:8786`; this machine where None.
        cache: whether expensive results are kept for the next time.
        watch: called with a line about the progress, and with None when it is over.
    """

    jobs: int | None = None
    scheduler: str | None = None
    cache: bool = False
    watch: Callable[[str | None], None] | None = None

    def __post_init__(self) -> None:
        if self.jobs is not None and self.jobs < 1:
            raise UsageError(f"{param('jobs')} is {self.jobs}; give the number of processes, at least 1")
        if self.scheduler is not None and "://" not in self.scheduler:
            raise UsageError(f"{param('scheduler')} is '{self.scheduler}'; give an address as tcp://host:8786")


_CURRENT: ContextVar[Workers] = ContextVar("adjudge_workers", default=Workers())  # noqa: B039 - it is frozen


def current_workers() -> Workers:
    """Who does the work here."""
    return _CURRENT.get()


def jobs_of(current: Workers) -> int:
    """How many processes work, this one included."""
    if current.jobs is not None:
        return current.jobs
    from joblib import cpu_count

    return int(cpu_count())


@contextmanager
def workers(**changes: Any) -> Iterator[Workers]:
    """A context in which work is done like this. The fields are those of `Workers`; others stay as they were.

    A cluster must answer when the context begins, not after hours of other work.
    """
    chosen = replace(current_workers(), **changes)
    if chosen.scheduler is not None:
        from adjudge.work.processes import connect

        connect(chosen.scheduler)
    token = _CURRENT.set(chosen)
    try:
        yield chosen
    finally:
        _CURRENT.reset(token)


def one_thread() -> AbstractContextManager[object]:
    """A context in which linear algebra uses one thread; afterwards it uses as many as before."""
    loaded = tuple(name for name in ("numpy", "scipy.linalg") if name in sys.modules)
    limits: AbstractContextManager[object] = _libraries(loaded).limit(limits=1, user_api="blas")
    return limits


@cache
def _libraries(loaded: tuple[str, ...]) -> ThreadpoolController:  # noqa: ARG001
    """The libraries with threads, looked for once while the same modules are loaded, each of which brings its own.

    Looking for them takes longer than a small fit.
    """
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


# Progress of repeated work: how much is done, and how long the rest will take. Short work says nothing.


SILENT = 2.0
"""Seconds for which nobody wants to be told anything."""
BETWEEN_LINES = 15.0
"""Seconds between two lines in a log."""
WIDTH = 24


class Progress:
    """Counts tasks and tells whoever watches; use it in a `with` statement."""

    def __init__(self, what: str, total: int, watch: Callable[[str | None], None] | None = None) -> None:
        self.what, self.total, self.done = what, total, 0
        self._watch = watch
        self._started = perf_counter()
        self._told = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._told and self._watch is not None:
            self._watch(None)

    def advance(self, tasks: int = 1) -> None:
        """So many tasks more are done."""
        self.done += tasks
        seconds = perf_counter() - self._started
        if self._watch is not None and seconds > SILENT and self.done < self.total:
            self._watch(self.line(seconds))
            self._told = True

    def line(self, seconds: float) -> str:
        """What is done after so many seconds, and what is left."""
        left = seconds / self.done * (self.total - self.done) if self.done else 0.0
        filled = WIDTH * self.done // max(self.total, 1)
        bar = "#" * filled + "." * (WIDTH - filled)
        return f"{self.what} [{bar}] {self.done} of {self.total}, {shown_seconds(left)} left"


def shown_seconds(seconds: float) -> str:
    """A time as people say it: `8 s`, `3 min`, `2 h 5 min`."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def make_watcher(stream: TextIO | None = None) -> Callable[[str | None], None]:
    """A watcher that rewrites one line on a terminal, and adds a line to a log now and then."""
    target, last = stream or sys.stderr, -BETWEEN_LINES

    def show_on_terminal(line: str | None) -> None:
        target.write(f"\r\x1b[K{line or ''}")
        target.flush()

    def add_to_log(line: str | None) -> None:
        nonlocal last
        now = perf_counter()
        if line is not None and now - last >= BETWEEN_LINES:
            last = now
            target.write(f"adjudge: {line}\n")
            target.flush()

    return show_on_terminal if target.isatty() else add_to_log


_Task = TypeVar("_Task")
_Done = TypeVar("_Done")

START_UP = 2.5
"""Seconds until new processes have imported what they need; about so much on an ordinary machine."""
HAND_OVER = 0.3
"""The same where the processes are there already."""
CHUNKS = 4
"""Into how many pieces the tasks of each worker are cut: few, since each carries its data along."""


@dataclass(frozen=True)
class Outcome(Generic[_Done]):
    """What became of a task: its result, or the fault that explains why there is none."""

    result: _Done | None = None
    fault: AdjudgeError | None = None

    def unwrap(self) -> _Done:
        """The result; raises the fault where there is one."""
        if self.fault is not None:
            raise self.fault
        return self.result  # type: ignore[return-value]


class _Processes:
    """Whether the processes of this machine have been started; later work need not wait for them."""

    started = 0


def note_processes(jobs: int) -> None:
    """Note that so many processes, this one included, are at hand."""
    _Processes.started = max(jobs, _Processes.started)


def map_tasks(
    function: Callable[[_Task], _Done], tasks: Iterable[_Task], *, what: str, at_least: int = 1
) -> list[_Done]:
    """The results of all tasks, in their order.

    Args:
        function: does one task. It must depend on nothing but the task and what it carries along.
        tasks: each holds what it needs, its own seed included.
        what: the name of the work, for those who wait.
        at_least: stay in this process unless there are so many tasks for each worker; for tasks that can be divided
            further inside.

    Raises:
        AdjudgeError: the fault of the first task that has one.
    """
    return [outcome.unwrap() for outcome in try_tasks(function, tasks, what=what, at_least=at_least)]


def try_tasks(
    function: Callable[[_Task], _Done],
    tasks: Iterable[_Task],
    *,
    what: str,
    at_least: int = 1,
    sizes: Sequence[float] | None = None,
    known_seconds: float = 0.0,
) -> list[Outcome[_Done]]:
    """As `map_tasks`, but a task that has no result gives its fault instead of ending the work.

    Args:
        function: does one task.
        tasks: what is to be done.
        what: the name of the work, for those who wait.
        at_least: tasks for each worker, as in `map_tasks`.
        sizes: how much there is to do in each task, in any unit, where they differ much. The smallest is then done
            first, because nobody else works meanwhile, and the others from the largest on, so that no worker is left
            with a large one at the end.
        known_seconds: what all tasks take at least, where that is known. If it is long enough, no task is tried in
            this process first.
    """
    todo = list(tasks)
    if sizes is None:
        return _do_in_order(function, todo, [1.0] * len(todo), what=what, at_least=at_least, alone=False)
    order = sorted(range(len(todo)), key=lambda position: -sizes[position])
    handed_over = _is_worth_it(known_seconds, len(todo), at_least)
    if not handed_over:
        order = order[-1:] + order[:-1]
    ordered = [todo[position] for position in order]
    sizes_to_try = [] if handed_over else [sizes[position] for position in order]
    outcomes = _do_in_order(function, ordered, sizes_to_try, what=what, at_least=at_least, alone=True)
    return [outcomes[order.index(position)] for position in range(len(todo))]


def _do_in_order(
    function: Callable[[_Task], _Done],
    tasks: Sequence[_Task],
    sizes: Sequence[float],
    *,
    what: str,
    at_least: int,
    alone: bool,
) -> list[Outcome[_Done]]:
    """The outcomes of tasks that are begun in this order, at first in this process if their sizes are given.

    Each is handed over by itself where `alone` is true, in a few pieces for each worker otherwise.
    """
    current = current_workers()
    with Progress(what, len(tasks), current.watch) as progress:
        if current.scheduler is not None and len(tasks) > 1:
            from adjudge.work.processes import map_on_cluster

            return map_on_cluster(function, tasks, current.scheduler, progress, alone=alone)
        outcomes = _do_here(function, tasks, sizes, progress, at_least) if sizes else []
        rest = tasks[len(outcomes) :]
        if rest:
            from adjudge.work.processes import map_in_processes

            jobs = jobs_of(current)
            outcomes += map_in_processes(function, chunks_of(rest, jobs, alone=alone), jobs, progress)
            note_processes(jobs)
    return outcomes


def _do_here(
    function: Callable[[_Task], _Done],
    tasks: Sequence[_Task],
    sizes: Sequence[float],
    progress: Progress,
    at_least: int,
) -> list[Outcome[_Done]]:
    """The outcomes of the first tasks, up to where other processes are faster; of all where they never are.

    Measured in CPU time: on a machine that is busy with other work, more processes would not help.
    """
    outcomes: list[Outcome[_Done]] = []
    started = process_time()
    size_done, size_of_all = 0.0, sum(sizes)
    for task, size in zip(tasks, sizes, strict=True):
        tasks_left = len(tasks) - len(outcomes)
        if outcomes and tasks_left > 1 and size_done > 0:
            seconds = (process_time() - started) * (size_of_all - size_done) / size_done
            if _is_worth_it(seconds, tasks_left, at_least):
                break
        outcomes.append(do_task(function, task))
        size_done += size
        progress.advance()
    return outcomes


def is_worth_dividing(seconds: float, *, tasks: int, most_jobs: int) -> bool:
    """Whether a few processes of this machine, at most `most_jobs`, do the tasks sooner than this one.

    Args:
        seconds: what all tasks take at least.
        tasks: how many there are.
        most_jobs: with more processes, or a cluster, the work inside each task is rather divided.
    """
    current = current_workers()
    if current.scheduler is not None or jobs_of(current) > most_jobs:
        return False
    return _is_worth_it(seconds, tasks, at_least=1)


def _is_worth_it(seconds: float, tasks: int, at_least: int) -> bool:
    """Whether processes do so many tasks, of so many seconds together, sooner than this one."""
    if seconds < HAND_OVER:
        return False
    jobs = jobs_of(current_workers())
    waiting = HAND_OVER if _Processes.started >= jobs else START_UP
    return jobs > 1 and tasks >= at_least * jobs and seconds * (1 - 1 / min(jobs, tasks)) > waiting


def do_task(function: Callable[[_Task], _Done], task: _Task) -> Outcome[_Done]:
    """The outcome of a task; faults other than explained ones are faults of adjudge and raised at once.

    So are those of a cluster: they say nothing of the task, and would come again with the next.
    """
    try:
        return Outcome(function(task))
    except ClusterError:
        raise
    except AdjudgeError as fault:
        return Outcome(fault=fault)


def do_chunk(function: Callable[[_Task], _Done], tasks: Sequence[_Task]) -> list[Outcome[_Done]]:
    """The outcomes of several tasks in a worker, which hands nothing on to workers of its own and has one thread."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)
    with workers(jobs=1, scheduler=None, watch=None):
        return [do_task(function, task) for task in tasks]


def chunks_of(tasks: Sequence[_Task], jobs: int, *, alone: bool = False) -> list[Sequence[_Task]]:
    """The tasks in order, cut into pieces of equal size, a few for each worker; or each by itself."""
    pieces = len(tasks) if alone else min(len(tasks), CHUNKS * jobs)
    borders = [round(i * len(tasks) / pieces) for i in range(pieces + 1)]
    return [tasks[borders[i] : borders[i + 1]] for i in range(pieces)]
