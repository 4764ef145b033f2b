"""Detectors of contaminants: what they find of errors put into clean text, what they find in the clean text, and speed.

Every error is put in alone, so that errors do not hide each other. An error in a quotation counts as found where the
finding lies on a line of that quotation. The clean text is our own (`tests/testset/clean.txt`); with a file of other
source text as ADJUDGE_BENCH_TEXT (plain, blank line between documents), alarms and speed are measured on that too.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from tests.testset.inject import Injected, clean_lines, injected

from adjudge.core.testset import CATEGORIES, Finding
from adjudge.testset.document import Document, Segment
from adjudge.testset.inspect import in_document
from adjudge.testset.lexicon import lexicon


def documents(text: str) -> list[Document]:
    """The documents of a plain text."""
    found: list[list[Segment]] = [[]]
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            found[-1].append(Segment(number, line))
        elif found[-1]:
            found.append([])
    return [Document("bench", str(i), tuple(run)) for i, run in enumerate(found, start=1) if run]


def look(text: str) -> list[Finding]:
    """Everything that counts, in all documents."""
    words = lexicon("en")
    found = [one for document in documents(text) for one in in_document(document, "en", words)]
    return [one for one in found if one.category in CATEGORIES]


def outcome(error: Injected, before: set[tuple[int, str, str]]) -> tuple[bool, int]:
    """Whether the error is found, and how many new findings are beside it; only the error's document is looked at."""
    words = lexicon("en")
    line = min(error.lines)
    document = next(one for one in documents(error.text) if one.segments[0].line <= line <= one.segments[-1].line)
    found = [one for one in in_document(document, "en", words) if one.category in CATEGORIES]
    hits = [one for one in found if one.line in error.lines and one.category in error.categories]
    beside = [one for one in found if one not in hits and (one.line, one.category, one.what) not in before]
    return bool(hits), len(beside)


def run() -> None:
    """Print recall and precision by kind of error, alarms on clean text, and segments a second."""
    lines = clean_lines()
    # This also loads the word lists before anything is measured.
    before = {(one.line, one.category, one.what) for one in look("\n".join(lines))}
    print(f"{'kind of error':26s}{'errors':>8s}{'recall':>9s}{'precision':>11s}")
    for kind, errors in injected(lines).items():
        outcomes = [outcome(error, before) for error in errors]
        found = sum(hit for hit, _ in outcomes)
        beside = sum(others for _, others in outcomes)
        precision = found / (found + beside) if found + beside else float("nan")
        print(f"{kind:26s}{len(errors):8d}{found / len(errors):9.2f}{precision:11.2f}")
    _alarms("own clean text", "\n".join(lines))
    if other := os.environ.get("ADJUDGE_BENCH_TEXT"):
        _alarms(Path(other).name, Path(other).read_text(encoding="utf-8"))


def _alarms(name: str, text: str) -> None:
    start = time.process_time()
    found = look(text)
    seconds = time.process_time() - start
    segments = sum(bool(line.strip()) for line in text.split("\n"))
    alarmed = len({one.line for one in found})
    print(f"{name}: {segments} segments, {alarmed / segments:.1%} alarmed, {segments / seconds:.0f} segments/s")
