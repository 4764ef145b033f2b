"""Who does the work: how many processes and threads, which cluster, whether results are kept, and who watches.

Linear algebra has one thread in every process, since what adjudge computes are many small matrices. Several threads
would spend their time waiting for each other, most of all where other processes work too; and they add numbers in
parts, so that the last digit of a sum would depend on the number of cores.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from adjudge.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from threadpoolctl import ThreadpoolController


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
            raise UsageError(f"--jobs is {self.jobs}; give the number of processes, at least 1")
        if self.scheduler is not None and "://" not in self.scheduler:
            raise UsageError(f"--scheduler is '{self.scheduler}'; give an address as tcp://host:8786")


_DEFAULT = Workers()
_CURRENT: ContextVar[Workers | None] = ContextVar("adjudge_workers", default=None)


def current_workers() -> Workers:
    """Who does the work here."""
    return _CURRENT.get() or _DEFAULT


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
        from adjudge.work.cluster import connect

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


def limit_threads() -> None:
    """One thread in this process from now on: for workers, which do nothing else."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


@cache
def _libraries(loaded: tuple[str, ...]) -> ThreadpoolController:  # noqa: ARG001
    """The libraries with threads, looked for once while the same modules are loaded, each of which brings its own.

    Looking for them takes longer than a small fit.
    """
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
