"""Repeated work: map a function over independent tasks on all cores or a cluster, keep results, show progress.

    with workers(jobs=4):
        rates = map_tasks(rate_of_split, range(1000), what="A/A splits")

A task draws its chance from its own seed, never from the worker that does it, so that the results are the same bytes
for every number of workers.
"""

from __future__ import annotations

from adjudge.work.cache import cached, kept_with_version
from adjudge.work.processes import AUDIT_MODULES, prepared_processes
from adjudge.work.tasks import (
    Outcome,
    Workers,
    current_workers,
    do_task,
    map_tasks,
    one_thread,
    try_tasks,
    workers,
    worth_dividing,
)

__all__ = [
    "AUDIT_MODULES",
    "Outcome",
    "Workers",
    "cached",
    "current_workers",
    "do_task",
    "kept_with_version",
    "map_tasks",
    "one_thread",
    "prepared_processes",
    "try_tasks",
    "workers",
    "worth_dividing",
]
