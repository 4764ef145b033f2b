"""A test set as texts: source segments in their documents, references, and the systems' outputs, all aligned.

Also the names of the two versions of a test set, in tasks and in judgments.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION, BEFORE, AFTER = "version", "before", "after"
"""The column for the version of a test set, and its two values: original and corrected."""
CORRECTED = "corrected"
"""The column that says whether the source of a segment differs between the versions."""


@dataclass(frozen=True)
class SourceSegment:
    """A source segment; `document` and `segment` together identify it."""

    document: str
    segment: str
    text: str
    version: str | None = None
    """The version of the test set, if there are two."""


@dataclass(frozen=True)
class TestSet:
    """Texts in the order of the source: entry i of every translation belongs to `source[i]`."""

    __test__ = False  # not a test, whatever its name looks like to pytest

    source: tuple[SourceSegment, ...]
    references: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    systems: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.source)

    def documents(self) -> tuple[tuple[str, range], ...]:
        """The documents in order, each with the indices of its segments."""
        grouped = groupby(range(len(self.source)), key=lambda i: (self.source[i].document, self.source[i].version))
        runs = [(name, list(run)) for (name, _), run in grouped]
        return tuple((name, range(run[0], run[-1] + 1)) for name, run in runs)

    @property
    def fingerprint(self) -> str:
        """Twelve hexadecimal digits that identify all texts."""
        digest = hashlib.sha256()
        for segment in self.source:
            fields = (segment.document, segment.segment, segment.text, segment.version or "")
            digest.update("\t".join((*fields[: 3 + bool(segment.version)], "\n")).encode())
        for group in (self.references, self.systems):
            for name, texts in group.items():
                digest.update("\n".join((name, *texts, "")).encode())
        return digest.hexdigest()[:12]
