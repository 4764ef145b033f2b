"""Histories of a campaign: what many clients asked for, when, what was acknowledged; and whether it can have been.

The model is small. A screen is a list of saves, in the order of their numbers; the answer to an output is that of the
newest change in it. A decision, a task that is taken or handed in, and an extension are entries of a list each. What is
stored must be such lists that every acknowledged operation is in them, once; that nothing is in them which nobody asked
for; and that an operation which was acknowledged before another began stands before it. A read must show an answer that
could have been current at some moment between its begin and its end.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import inf

Value = Hashable


@dataclass(frozen=True)
class Operation:
    """What a client asked for: an id of its own, which list it belongs to, the value; and when (seconds).

    `end` is infinite where no answer came: it may have happened, at any time since. `refused` never did.
    """

    id: str
    list: str
    value: Value
    begin: float
    end: float = inf
    refused: bool = False

    @property
    def acknowledged(self) -> bool:
        return self.end < inf and not self.refused


@dataclass(frozen=True)
class Read:
    """A look at one answer, by one client: the value that it saw."""

    list: str
    value: Value
    begin: float
    end: float


def faults_of_lists(
    operations: Iterable[Operation], stored: Mapping[str, Sequence[tuple[str, Value]]]
) -> Iterator[str]:
    """What cannot have been: operations that were lost, doubled, made up, changed, or stand in a wrong order."""
    asked = {operation.id: operation for operation in operations}
    by_list: dict[str, list[Operation]] = defaultdict(list)
    for operation in asked.values():
        by_list[operation.list].append(operation)
    for name in sorted(by_list.keys() | stored.keys()):
        entries = stored.get(name, ())
        yield from (
            f"{key} stands {times} times in {name}"
            for key, times in Counter(k for k, _ in entries).items()
            if times > 1
        )
        for key, value in entries:
            wanted = asked.get(key)
            if wanted is None or wanted.list != name:
                yield f"{key} is in {name}, though nobody asked for it"
            elif wanted.refused:
                yield f"{key} is in {name}, though it was refused"
            elif wanted.value != value:
                yield f"{key} of {name} is {value}, asked for was {wanted.value}"
        kept = {key for key, _ in entries}
        for operation in by_list.get(name, ()):
            if operation.acknowledged and operation.id not in kept:
                yield f"{operation.id} of {name} was acknowledged, and is lost"
        yield from _faults_of_order(name, [asked[key] for key, _ in entries if key in asked])


def _faults_of_order(name: str, ordered: Sequence[Operation]) -> Iterator[str]:
    """Operations that stand behind one which began only after they had been acknowledged."""
    latest_begin, culprit = -inf, ""
    for operation in ordered:
        if operation.end < latest_begin:
            yield f"{operation.id} of {name} was acknowledged before {culprit} began, and stands behind it"
        if operation.begin > latest_begin:
            latest_begin, culprit = operation.begin, operation.id


def faults_of_reads(writes: Iterable[Operation], reads: Iterable[Read]) -> Iterator[str]:
    """Reads that show what was no longer, or not yet, there; each list of writes is one answer."""
    by_list = {name: list(group) for name, group in groupby(sorted(writes, key=lambda w: w.list), lambda w: w.list)}
    for read in reads:
        given = [write for write in by_list.get(read.list, ()) if not write.refused]
        could = [write for write in given if write.value == read.value and write.begin < read.end]
        over = [write.begin for write in given if write.end < read.begin]
        last = max(over, default=-inf)
        if read.value is None and not over:
            continue
        # A write is over for sure where another one began after its end, and was acknowledged before the read began.
        if not any(write.end >= last for write in could):
            when = f"between {read.begin:.3f} and {read.end:.3f}"
            yield f"{read.list} was read as {read.value}, which was not current {when}"
