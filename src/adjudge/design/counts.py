"""Counting a design: how many judgments each system gets in every task, from every person, on every segment."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.protocols import WORK

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from adjudge.design.tasks import Task, TaskSet


@dataclass(frozen=True, eq=False)
class Counts:
    """Judgments of systems (columns), over all people; `people` are tasks' planned annotators, or tasks in a pool."""

    names: tuple[str, ...]
    by_task: NDArray[np.float64]
    by_person: NDArray[np.float64]
    by_segment: NDArray[np.float64]
    by_document: NDArray[np.float64]
    by_screen: NDArray[np.float64]

    def columns(self, systems: Sequence[str]) -> list[int]:
        """The columns of these systems."""
        return [self.names.index(system) for system in systems if system in self.names]


def work_tasks(tasks: TaskSet) -> tuple[Task, ...]:
    """The tasks whose judgments count."""
    return tuple(task for task in tasks.tasks if task.kind == "work")


def count_judgments(tasks: TaskSet) -> Counts:
    """Count the genuine outputs of all work tasks; a text of several systems counts for each of them."""
    by: dict[str, Counter[tuple[str, str]]] = {
        name: Counter() for name in ("task", "person", "segment", "document", "screen")
    }
    for task in work_tasks(tasks):
        people = task.annotators or (task.id,) * task.judgments
        for screen, item, output in task.outputs():
            # What a standardisation by task or annotator averages over: controls made to be bad are left out.
            if output.kind not in WORK:
                continue
            segment = f"{screen.document}\n{item.segment}"
            for system in output.systems:
                by["task"][task.id, system] += task.judgments
                # A repeat is averaged with its original before texts are compared.
                if output.kind != "repeat":
                    by["segment"][segment, system] += task.judgments
                    by["document"][screen.document, system] += task.judgments
                by["screen"][f"{screen.id}/{item.id}", system] += task.judgments
                by["person"].update((person, system) for person in people)
    names = (*tasks.systems, *sorted({system for _, system in by["task"]} - set(tasks.systems)))
    tables = [_make_table(counts, names) for counts in by.values()]
    return Counts(names, *tables)


def _make_table(counts: Counter[tuple[str, str]], names: Sequence[str]) -> NDArray[np.float64]:
    rows = {row: i for i, row in enumerate(dict.fromkeys(row for row, _ in counts))}
    columns = {name: i for i, name in enumerate(names)}
    table = np.zeros((len(rows), len(names)))
    for (row, system), number in counts.items():
        table[rows[row], columns[system]] = number
    return table


def count_components(links: Iterable[Iterable[str]]) -> int:
    """How many separate groups there are, where each of `links` ties its members together."""
    parent: dict[str, str] = {}

    def root(node: str) -> str:
        while parent.setdefault(node, node) != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for link in links:
        members = list(link)
        for other in members:
            parent[root(other)] = root(members[0])
    return len({root(node) for node in list(parent)})
