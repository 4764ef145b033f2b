"""The journal of answers: a line per answer, on disk before the next one counts, so that nothing is asked twice.

The first line says what was asked: judge, prompt, tasks and parameters. A run that goes on must ask the same.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Self

from adjudge.core.errors import InputError, shown
from adjudge.core.files import read_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from types import TracebackType

ENDING = ".journal.jsonl"
MOST_KEPT = 2000
"""Characters of an answer that the journal keeps."""
LATEST = 2**35
"""Seconds since 1970 that no clock shows: the year 3058."""


@dataclass(frozen=True)
class Answered:
    """One answer: its value, or why it cannot be used; when it was asked and answered (seconds since 1970)."""

    id: str
    value: float | None
    reason: str | None
    text: str
    started: float
    ended: float


class Journal:
    """The answers so far; `add` appends one durably. One process at a time writes to it."""

    def __init__(self, path: Path, asked: Mapping[str, Any], accepts: Callable[[float], bool]) -> None:
        """Name the file, what a run that goes on must share, and which values can be answers."""
        self.path = path
        self._accepts = accepts
        self.answers: dict[str, Answered] = {}
        self._asked = {"journal": 1, **asked}

    def __enter__(self) -> Self:
        existed = self.path.exists()
        try:
            self._file = self.path.open("ab")
        except OSError as fault:
            raise InputError(f"cannot be written ({fault.strerror}); check the folder", file=self.path) from fault
        try:
            self._lock()
            whole = self._read() if existed else 0
            self._file.truncate(whole)
        except BaseException:
            self._file.close()
            raise
        if not whole:
            self._write(self._asked)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def add(self, answer: Answered) -> None:
        """Keep an answer: when this returns, it is on disk."""
        self.answers[answer.id] = answer
        self._write(asdict(answer) | {"text": answer.text[:MOST_KEPT]})

    def _write(self, line: Mapping[str, Any]) -> None:
        try:
            self._file.write(json.dumps(line, ensure_ascii=True).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as fault:
            raise InputError(f"cannot be written ({fault.strerror}); make room, then go on", file=self.path) from fault

    def _lock(self) -> None:
        try:
            import fcntl
        except ImportError:
            # Not on Windows; two runs at once would ask twice, and lose nothing.
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as fault:
            raise InputError("is in use by another run; wait for it, or name another output", file=self.path) from fault

    def _read(self) -> int:
        """Read the answers, and return the length without a last line that was cut when the program ended."""
        content = read_bytes(self.path)
        whole = content.rfind(b"\n") + 1
        lines = content[:whole].split(b"\n")[:-1]
        for number, line in enumerate(lines, start=1):
            entry = self._parse(line, number)
            if number == 1 and len(lines) == 1 and "journal" in entry:
                # No answer yet, as after a wrong address: nothing would be mixed.
                return whole if entry == self._asked else 0
            if number == 1:
                self._check(entry)
                continue
            if not self._is_answer(entry):
                raise InputError("is no answer to this judge's questions; delete it", file=self.path, line=number)
            self.answers[entry["id"]] = Answered(**entry)
        return whole

    def _is_answer(self, entry: Mapping[str, Any]) -> bool:
        """Whether a line has what an answer has, of the right kinds."""
        if set(entry) != {field.name for field in fields(Answered)}:
            return False
        value, reason = entry["value"], entry["reason"]
        usable = _is_number(value) and self._accepts(value) and reason is None
        unusable = value is None and isinstance(reason, str)
        texts = isinstance(entry["id"], str) and isinstance(entry["text"], str)
        times = all(_is_number(entry[name]) and 0 <= entry[name] <= LATEST for name in ("started", "ended"))
        return (usable or unusable) and texts and times

    def _parse(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            entry = None
        if not isinstance(entry, dict):
            raise InputError("is no line of a journal; delete it, or name another output", file=self.path, line=number)
        return entry

    def _check(self, header: Mapping[str, Any]) -> None:
        for name, value in self._asked.items():
            if header.get(name) != value:
                what = f"was begun with {name} '{shown(header.get(name))}', this run has '{shown(value)}'"
                raise InputError(f"{what}; name another output, or delete the journal to begin anew", file=self.path)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
