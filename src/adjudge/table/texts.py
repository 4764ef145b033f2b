"""A test set as texts: source segments in their documents, references, and the systems' outputs, all aligned.

Also the names of the two versions of a test set, in tasks and in judgments.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

import polars as pl

from adjudge.table.errors import DataError, shown
from adjudge.table.judgments import SPAN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


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


# Error marks in a text: their form, which are allowed, and how they move when the text changes.
#
# Offsets are half-open and count code points. The quoted text is stored with them, so that misplaced marks are noticed.
# An omission (`missing`) has no position and quotes nothing.
# `span_column` makes one column from the marks of many judgments.

TARGET, SOURCE, MISSING = "target", "source", "missing"
Span = dict[str, Any]


@dataclass(frozen=True)
class Mark:
    """One error. `side` is `target`, `source`, or `missing` for what was left out."""

    start: int | None
    end: int | None
    severity: str
    category: str | None = None
    side: str = TARGET
    text: str | None = None


@dataclass(frozen=True)
class MarkRules:
    """Which marks a protocol has. Without `overlap`, no two marks of one side share a character."""

    severities: tuple[str, ...]
    categories: tuple[str, ...] = ()
    source: bool = False
    missing: bool = True
    overlap: bool = False

    @property
    def sides(self) -> tuple[str, ...]:
        """The sides on which an error may be."""
        return (TARGET, *((SOURCE,) if self.source else ()), *((MISSING,) if self.missing else ()))


def find_mark_fault(mark: Mark, rules: MarkRules, *, target: str, source: str | None) -> str | None:
    """Say what is wrong with a mark in these texts, or None. The category may be missing: it is chosen later."""
    if mark.side not in rules.sides:
        return f"side '{shown(mark.side)}' is none of {', '.join(rules.sides)}"
    if mark.severity not in rules.severities:
        return f"severity '{shown(mark.severity)}' is none of {', '.join(rules.severities)}"
    if mark.category is not None and mark.category not in rules.categories:
        return f"category '{shown(mark.category)}' is not in the campaign's list"
    if mark.side == MISSING:
        placed = (mark.start, mark.end, mark.text) != (None, None, None)
        return "an omission has no place and quotes nothing" if placed else None
    return _fault_of_offsets(mark, target if mark.side == TARGET else source or "")


def _fault_of_offsets(mark: Mark, text: str) -> str | None:
    start, end = mark.start, mark.end
    if start is None or end is None or not 0 <= start < end <= len(text):
        return f"a mark from {start} to {end} does not lie within a text of {len(text)} characters"
    if mark.text != text[start:end]:
        return f"a mark quotes '{shown(mark.text)}' where the text has '{shown(text[start:end])}'"
    return None


def find_marks_fault(marks: Sequence[Mark], rules: MarkRules, *, target: str, source: str | None) -> str | None:
    """Say what is wrong with the marks of one translation, or None."""
    faults = (find_mark_fault(mark, rules, target=target, source=source) for mark in marks)
    if (fault := next(filter(None, faults), None)) is not None:
        return fault
    placed = [mark for mark in marks if mark.side != MISSING]
    return _fault_of_repeats(placed) if rules.overlap else _fault_of_overlap(placed)


def _fault_of_repeats(marks: Sequence[Mark]) -> str | None:
    counts = Counter((mark.side, mark.start, mark.end, mark.text, mark.category) for mark in marks if mark.category)
    twice = next((key for key, count in counts.items() if count > 1), None)
    return None if twice is None else f"'{shown(twice[3])}' is marked twice as '{twice[4]}'"


def _fault_of_overlap(marks: Sequence[Mark]) -> str | None:
    # Sorted by place, if any two marks overlap, then two neighbours do.
    for first, second in pairwise(sorted(marks, key=lambda mark: (mark.side, mark.start or 0))):
        if first.side == second.side and (second.start or 0) < (first.end or 0):
            return f"two marks overlap, '{shown(first.text)}' and '{shown(second.text)}'"
    return None


def carry_over(marks: Iterable[Mark], before: str, after: str) -> tuple[Mark, ...]:
    """Move marks to a text that was changed in one place: those that touch the change are dropped."""
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    shift = len(after) - len(before)
    kept: list[Mark] = []
    for mark in marks:
        if mark.side != TARGET or mark.start is None or mark.end is None or mark.end <= head:
            kept.append(mark)
        elif mark.start >= len(before) - tail:
            start, end = mark.start + shift, mark.end + shift
            kept.append(Mark(start, end, mark.severity, mark.category, mark.side, after[start:end]))
    return tuple(kept)


def span_column(spans: Sequence[Sequence[Span]]) -> pl.Series:
    """The column `spans`: a list for every judgment, empty if no error was marked.

    It is built field by field, which is many times faster than span by span.
    """
    fields = SPAN.to_schema()
    flat = pl.DataFrame(
        {
            "row": [row for row, several in enumerate(spans) for _ in several],
            **{name: [span[name] for several in spans for span in several] for name in fields},
        },
        schema={"row": pl.Int64, **fields},
    )
    lists = flat.select("row", pl.struct(list(fields)).alias("spans")).group_by("row", maintain_order=True).all()
    rows = pl.DataFrame({"row": pl.int_range(len(spans), eager=True)})
    column = rows.join(lists, on="row", how="left", maintain_order="left")["spans"]
    nothing = pl.lit([], dtype=pl.List(SPAN))
    return pl.select(pl.coalesce(column, nothing).alias("spans")).to_series()


# Human-targeted edit rates (HTER): how much of a translation a person changed, through sacrebleu's TER.
#
# TER(PE, MT) uses the post-edit as the reference and the translation as the hypothesis. The rate of several segments is
# the sum of their edits divided by the words of the post-edits: segments are not averaged. sacrebleu's defaults apply:
# case is ignored, words are split as tercom does.
#
# M. Snover et al. (2006): A study of translation edit rate with targeted human annotation.


def edit_rate(edition: Sequence[str], text: Sequence[str]) -> float:
    """TER(edition, text) as a share of the edition's words: 0 if nothing was changed."""
    from sacrebleu.metrics.ter import TER

    if len(edition) != len(text):
        raise DataError(f"{len(edition)} edited segments against {len(text)}: both texts need the same segments")
    return float(TER().corpus_score(list(text), [list(edition)]).score) / 100


def ter_signature() -> str:
    """Return the signature of sacrebleu's TER."""
    from sacrebleu.metrics.ter import TER

    metric = TER()
    metric.corpus_score(["a"], [["a"]])
    return signature_text(metric)


def signature_text(metric: Any) -> str:
    """Write the signature of a metric of sacrebleu in a form that fits into the signatures of results."""
    return str(metric.get_signature()).replace("|", ",").replace(":", "=")
