"""Who does the work: how many processes, which cluster, whether results are kept, and who watches."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from adjudge.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


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


@contextmanager
def workers(**changes: Any) -> Iterator[Workers]:
    """A context in which work is done like this. The fields are those of `Workers`; others stay as they were."""
    chosen = replace(current_workers(), **changes)
    token = _CURRENT.set(chosen)
    try:
        yield chosen
    finally:
        _CURRENT.reset(token)
