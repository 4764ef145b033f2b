"""A corrected copy of the texts, with a log of every change. Only sure corrections are made, never in place."""

from __future__ import annotations

import gzip
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adjudge.core.errors import UsageError
from adjudge.core.files import atomic_path, is_gzip, read_bytes, write_text
from adjudge.testset.document import COLUMNS
from adjudge.testset.rewrite import Changes, rewritten, with_markup

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adjudge.results.testset import Finding
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
        locked = with_markup(raw, source.format) & changes.keys() if changes else frozenset()
        left += len(locked)
        changes = {index: text for index, text in changes.items() if index not in locked}
        log += [line for index, lines in used.items() if index not in locked for line in lines]
        new = rewritten(raw, source.format, changes, COLUMNS)
        contents[folder / source.path.name] = gzip.compress(new, mtime=0) if is_gzip(source.path) else new
    for path, content in contents.items():
        with atomic_path(path) as temporary:
            temporary.write_bytes(content)
    write_text(folder / LOG, "\n".join(log) + "\n")
    return Fixed((*contents, folder / LOG), len(log) - 1, left)


def _changes(source: SourceText, findings: Sequence[Finding]) -> tuple[Changes, dict[int, list[str]]]:
    """New texts by the place of their segment, and their lines of the log."""
    sure = _sure(source, findings)
    # Lines in another encoding are written as UTF-8, even where nothing else is wrong with them.
    recoded = {finding.line: finding for finding in source.findings if finding.category == "encoding"}
    changes: Changes = {}
    log: dict[int, list[str]] = {}
    for index, segment in enumerate(segment for document in source.documents for segment in document.segments):
        text, used = corrected(segment.text, sure.get(segment.line, []))
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


def _sure(source: SourceText, findings: Sequence[Finding]) -> dict[int, list[Finding]]:
    by_line: dict[int, list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.sure and finding.file == str(source.path):
            by_line[finding.line].append(finding)
    return by_line


def corrected(text: str, findings: Sequence[Finding]) -> tuple[str, list[Finding]]:
    """The text after the edits, and the findings whose edits were made; of two that overlap the surer is made.

    A segment of which nothing would be left stays as it is: without it, translations would be out of step.
    """
    before = text
    used: list[Finding] = []
    for finding in sorted(findings, key=lambda finding: -finding.confidence):
        if finding.edit is not None and not any(_overlap(finding, other) for other in used):
            used.append(finding)
    for finding in sorted(used, key=lambda finding: (finding.edit.start, finding.edit.end) if finding.edit else (0, 0))[
        ::-1
    ]:
        assert finding.edit is not None
        text = text[: finding.edit.start] + finding.edit.text + text[finding.edit.end :]
    return (text, used) if text.strip() else (before, [])


def _overlap(first: Finding, second: Finding) -> bool:
    assert first.edit is not None
    assert second.edit is not None
    if first.edit == second.edit:
        return True
    if first.edit.start == first.edit.end and second.edit.start == second.edit.end:
        return first.edit.start == second.edit.start
    return first.edit.start < second.edit.end and second.edit.start < first.edit.end


def _log_line(finding: Finding, before: str, after: str) -> str:
    values = (
        finding.file,
        finding.line,
        finding.document,
        finding.category,
        f"{finding.confidence:.2f}",
        before,
        after,
    )
    return "\t".join(" ".join(str(value).split()) for value in values)
