"""A corrected copy of the texts, with a log of every change. Only sure corrections are made, never in place."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adjudge.core.errors import UsageError
from adjudge.core.files import write_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adjudge.core.testset import Finding
    from adjudge.testset.read import SourceText

LOG = "changes.tsv"
_HEADER = ("file", "line", "document", "category", "confidence", "before", "after")


@dataclass(frozen=True)
class Fixed:
    """What was written."""

    files: tuple[Path, ...]
    changes: int


def write_fixed(sources: Sequence[SourceText], findings: Sequence[Finding], folder: Path) -> Fixed:
    """Write every text, corrected, under its own name into the folder, and the log beside them.

    Plain text stays as it is, line by line; other formats are written as plain text, a blank line between documents.
    """
    if any(source.path.resolve().parent == folder.resolve() for source in sources):
        raise UsageError(
            f"--fix {folder} is the folder of the texts themselves; name another, they are never overwritten"
        )
    log = ["\t".join(_HEADER)]
    written: list[Path] = []
    for source in sources:
        own = _sure(source, findings)
        texts = {}
        for document in source.documents:
            for segment in document.segments:
                texts[segment.line], used = corrected(segment.text, own.get(segment.line, []))
                log += [_log_line(one, segment.text, texts[segment.line]) for one in used]
        name = source.path.name if source.format == "text" else f"{source.path.stem}.txt"
        write_text(folder / name, _laid_out(source, texts))
        written.append(folder / name)
    write_text(folder / LOG, "\n".join(log) + "\n")
    return Fixed((*written, folder / LOG), len(log) - 1)


def _sure(source: SourceText, findings: Sequence[Finding]) -> dict[int, list[Finding]]:
    own: dict[int, list[Finding]] = defaultdict(list)
    for one in findings:
        if one.sure and one.file == str(source.path):
            own[one.line].append(one)
    return own


def corrected(text: str, findings: Sequence[Finding]) -> tuple[str, list[Finding]]:
    """The text after the edits, and the findings whose edits were made; of two that overlap the surer is made."""
    used: list[Finding] = []
    for one in sorted(findings, key=lambda finding: -finding.confidence):
        if one.edit is not None and not any(_overlap(one, other) for other in used):
            used.append(one)
    for one in sorted(used, key=lambda finding: (finding.edit.start, finding.edit.end) if finding.edit else (0, 0))[
        ::-1
    ]:
        assert one.edit is not None
        text = text[: one.edit.start] + one.edit.text + text[one.edit.end :]
    return text, used


def _overlap(one: Finding, other: Finding) -> bool:
    assert one.edit is not None
    assert other.edit is not None
    if one.edit == other.edit:
        return True
    if one.edit.start == one.edit.end and other.edit.start == other.edit.end:
        return one.edit.start == other.edit.start
    return one.edit.start < other.edit.end and other.edit.start < one.edit.end


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


def _laid_out(source: SourceText, texts: dict[int, str]) -> str:
    if source.format != "text":
        blocks = ["\n".join(texts[one.line] for one in document.segments) for document in source.documents]
        return "\n\n".join(blocks) + "\n"
    last = max(texts)
    return "\n".join(texts.get(line, "") for line in range(1, last + 1)) + "\n"
