"""A translation beside its source: out of step, untranslated, empty, or in the source's own language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.core.errors import InputError
from adjudge.results.testset import Finding
from adjudge.testset import alignment, eaten_quotes
from adjudge.testset.document import decoded_lines
from adjudge.testset.language import detect

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adjudge.testset.document import SourceText

FEWEST_LINES = 10


def check_translation(source: SourceText, path: Path, code: str) -> list[Finding]:
    """Everything that is wrong with one translation of the source."""
    lines, findings = decoded_lines(path)
    texts = source.texts
    if len(lines) != len(texts):
        # A translation may keep the blank lines between documents.
        lines = [line for line in lines if line.strip()]
    if len(lines) != len(texts):
        what = (
            f"has {len(lines):,} lines where {source.path} has {len(texts):,} segments; one line per segment is needed"
        )
        raise InputError(what, file=path)
    all_findings = [*findings, *alignment.find(texts, lines, path)]
    all_findings += _marks_taken_away(source, lines)
    if len(lines) >= FEWEST_LINES and detect(lines) == code:
        what = f"the translation is in '{code}', the language of the source"
        all_findings.append(Finding(str(path), 1, "", "language", lines[0][:64], None, 0.9, what))
    return all_findings


def _marks_taken_away(source: SourceText, lines: Sequence[str]) -> list[Finding]:
    """What the translation shows of quotation marks that a reader of tables took from the source."""
    known = eaten_quotes.find(source)
    shown = () if known else eaten_quotes.find_by(source, lines)
    return [*shown, *eaten_quotes.restorations(source, lines)] if known or shown else []
