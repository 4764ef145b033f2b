"""A corrected copy of the texts, with a log of every change. Only sure corrections are made, never in place."""

from __future__ import annotations

import gzip
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adjudge.core.errors import UsageError
from adjudge.core.files import atomic_path, is_gzip, read_bytes, write_text
from adjudge.testset.document import COLUMNS
from adjudge.testset.rewrite import Changes, find_segments_with_markup, replace_segments

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adjudge.results.testset import Edit, Finding
    from adjudge.testset.document import SourceText

LOG = "changes.tsv"
_HEADER = ("file", "line", "document", "category", "confidence", "before", "after")


@dataclass(frozen=True)
class Fixed:
    """What was written."""

    files: tuple[Path, ...]
    changes: int
    left: int = 0
    """Segments that were not corrected, because they hold markup."""


def write_fixed(sources: Sequence[SourceText], findings: Sequence[Finding], folder: Path) -> Fixed:
    """Write every text, corrected, under its own name and in its own format into the folder, and the log beside."""
    _check_names(sources, folder)
    log = ["\t".join(_HEADER)]
    contents: dict[Path, bytes] = {}
    left = 0
    for source in sources:
        raw = read_bytes(source.path)
        changes, used = _changes(source, findings)
        locked = find_segments_with_markup(raw, source.format) & changes.keys() if changes else frozenset()
        left += len(locked)
        changes = {index: text for index, text in changes.items() if index not in locked}
        log += [line for index, lines in used.items() if index not in locked for line in lines]
        new = replace_segments(raw, source.format, changes, COLUMNS)
        contents[folder / source.path.name] = gzip.compress(new, mtime=0) if is_gzip(source.path) else new
    for path, content in contents.items():
        with atomic_path(path) as temporary:
            temporary.write_bytes(content)
    write_text(folder / LOG, "\n".join(log) + "\n")
    return Fixed((*contents, folder / LOG), len(log) - 1, left)


def _changes(source: SourceText, findings: Sequence[Finding]) -> tuple[Changes, dict[int, list[str]]]:
    """New texts by the place of their segment, and their lines of the log."""
    sure: dict[int, list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.sure and finding.file == str(source.path):
            sure[finding.line].append(finding)
    # Lines in another encoding are written as UTF-8, even where nothing else is wrong with them.
    recoded = {finding.line: finding for finding in source.findings if finding.category == "encoding"}
    changes: Changes = {}
    log: dict[int, list[str]] = {}
    for index, segment in enumerate(segment for document in source.documents for segment in document.segments):
        text, used = apply_edits(segment.text, sure.get(segment.line, []))
        used += [recoded[segment.line]] if segment.line in recoded else []
        if used:
            changes[index] = text
            log[index] = [_log_line(finding, segment.text, text) for finding in used]
    return changes, log


def _check_names(sources: Sequence[SourceText], folder: Path) -> None:
    if any(source.path.resolve().parent == folder.resolve() for source in sources):
        raise UsageError(
            f"--fix {folder} is the folder of the texts themselves; name another, they are never overwritten"
        )
    names = [LOG, *(source.path.name for source in sources)]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"--fix would write two files '{twice}' into {folder}; correct the texts one by one")


def apply_edits(text: str, findings: Sequence[Finding]) -> tuple[str, list[Finding]]:
    """The text after the edits, and the findings whose edits were made; of two that overlap the surer is made.

    A segment of which nothing would be left stays as it is: without it, translations would be out of step.
    """
    used: list[Finding] = []
    edits: list[Edit] = []
    for finding in sorted(findings, key=lambda finding: -finding.confidence):
        if finding.edit is not None and not any(_overlap(finding.edit, other) for other in edits):
            used.append(finding)
            edits.append(finding.edit)
    after = text
    # From the end, so that the places of earlier edits stay.
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end))[::-1]:
        after = after[: edit.start] + edit.text + after[edit.end :]
    return (after, used) if after.strip() else (text, [])


def _overlap(first: Edit, second: Edit) -> bool:
    if first == second:
        return True
    if first.start == first.end and second.start == second.end:
        return first.start == second.start
    return first.start < second.end and second.start < first.end


def _log_line(finding: Finding, before: str, after: str) -> str:
    where = (finding.file, finding.line, finding.document, finding.category, f"{finding.confidence:.2f}")
    return "\t".join(" ".join(str(value).split()) for value in (*where, before, after))
