"""Detectors of contaminants: what they find of errors put into clean text, what they find in the clean text, and speed.

Every error is put in alone, so that errors do not hide each other. An error in a quotation counts as found where the
finding lies on a line of that quotation. The clean text is our own (`tests/testset/clean.txt`); with a file of other
source text as ADJUDGE_BENCH_TEXT (plain, blank line between documents), alarms and speed are measured on that too.
Where the released data of the parity study are at hand, findings are held against what its authors edited
(`bench/testset_edits.py` says exactly what counts): on the released text, and with the quotation marks back that a
reader of tables took away.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from tests.helpers.inject import Injected, clean_lines, injected

from adjudge.testsets.check import inspect_document
from adjudge.testsets.documents import Document, Segment
from adjudge.testsets.findings import CATEGORIES, Finding
from adjudge.testsets.words import lexicon
from bench.testset_edits import QUOTES, Edited, read_edited


def documents(text: str) -> list[Document]:
    """The documents of a plain text."""
    groups: list[list[Segment]] = [[]]
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            groups[-1].append(Segment(number, line))
        elif groups[-1]:
            groups.append([])
    return [Document("bench", str(i), tuple(run)) for i, run in enumerate(groups, start=1) if run]


def look(text: str) -> list[Finding]:
    """Everything that counts, in all documents."""
    words = lexicon("en")
    findings = [finding for document in documents(text) for finding in inspect_document(document, "en", words)]
    return [item for item in findings if item.category in CATEGORIES]


def outcome(error: Injected, before: set[tuple[int, str, str]]) -> tuple[bool, int]:
    """Whether the error is found, and how many new findings are beside it; only the error's document is looked at."""
    words = lexicon("en")
    line = min(error.lines)
    document = next(
        document
        for document in documents(error.text)
        if document.segments[0].line <= line <= document.segments[-1].line
    )
    findings = [finding for finding in inspect_document(document, "en", words) if finding.category in CATEGORIES]
    hits = [item for item in findings if item.line in error.lines and item.category in error.categories]
    beside = [item for item in findings if item not in hits and (item.line, item.category, item.what) not in before]
    return bool(hits), len(beside)


def run() -> None:
    """Print recall and precision by kind of error, alarms on clean text, and segments a second."""
    lines = clean_lines()
    # This also loads the word lists before anything is measured.
    before = {(finding.line, finding.category, finding.what) for finding in look("\n".join(lines))}
    print(f"{'kind of error':26s}{'errors':>8s}{'recall':>9s}{'precision':>11s}")
    for kind, errors in injected(lines).items():
        outcomes = [outcome(error, before) for error in errors]
        hits = sum(hit for hit, _ in outcomes)
        beside = sum(others for _, others in outcomes)
        precision = hits / (hits + beside) if hits + beside else float("nan")
        print(f"{kind:26s}{len(errors):8d}{hits / len(errors):9.2f}{precision:11.2f}")
    _alarms("own clean text", "\n".join(lines))
    released = Path(os.environ.get("ADJUDGE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    if (released / "suboptimal").is_dir():
        _against_edits(read_edited(released / "suboptimal"))
    if other := os.environ.get("ADJUDGE_BENCH_TEXT"):
        _alarms(Path(other).name, Path(other).read_text(encoding="utf-8"))


def _against_edits(edited: Edited) -> None:
    """Precision and recall by category, segment by segment."""
    print(f"\n{len(edited.released)} released segments, {sum(map(bool, edited.gold))} edited in these categories")
    print(f"{'category':42s}{'edited':>8s}" + "".join(f"{name:>22s}" for name in ("as released", "repaired")))
    print(f"{'':50s}" + f"{'found':>8s}{'prec.':>7s}{'rec.':>7s}" * 2)
    texts = (edited.released, edited.repaired)
    findings = [[finding for document in edited.documents(text) for finding in _all(document)] for text in texts]
    rows = [frozenset({name}) for name in (*sorted(QUOTES), "final-period", "spacing", "typo")]
    for categories in (*rows, QUOTES):
        gold = {number for number, own in enumerate(edited.gold, start=1) if own & categories}
        cells = [_cells({finding.line for finding in own if finding.category in categories}, gold) for own in findings]
        print(f"{' + '.join(sorted(categories)):42s}{len(gold):8d}" + "".join(cells))
    marked = {number for number, own in enumerate(edited.marked, start=1) if own}
    cells = [_cells({finding.line for finding in own}, marked) for own in findings]
    print(f"{'any finding, against segments marked':42s}{len(marked):8d}" + "".join(cells))


def _all(document: Document) -> list[Finding]:
    noted = ("double-blank", "out-of-context")
    return [finding for finding in inspect_document(document, "en", lexicon("en")) if finding.category not in noted]


def _cells(lines: set[int], gold: set[int]) -> str:
    hits = len(lines & gold)
    return f"{len(lines):8d}{hits / max(1, len(lines)):7.2f}{hits / max(1, len(gold)):7.2f}"


def _alarms(name: str, text: str) -> None:
    start = time.process_time()
    findings = look(text)
    seconds = time.process_time() - start
    segments = sum(bool(line.strip()) for line in text.split("\n"))
    alarmed = len({item.line for item in findings})
    print(f"{name}: {segments} segments, {alarmed / segments:.1%} alarmed, {segments / seconds:.0f} segments/s")
