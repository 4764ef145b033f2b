"""A document as detectors see it: its segments with their lines, and a way to say what is wrong with one."""

from __future__ import annotations

from dataclasses import dataclass

from adjudge.results.testset import Edit, Finding

AROUND = 32


@dataclass(frozen=True)
class Segment:
    """A segment and the line it stands on."""

    line: int
    text: str


@dataclass(frozen=True)
class Document:
    """A run of segments that belong together."""

    file: str
    name: str
    segments: tuple[Segment, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of the segments."""
        return tuple(segment.text for segment in self.segments)

    def finding(
        self,
        index: int,
        category: str,
        what: str,
        confidence: float,
        *,
        span: tuple[int, int] | None = None,
        edit: Edit | None = None,
    ) -> Finding:
        """A finding in the segment at this place; the excerpt shows the span, the edit or the start of the text."""
        segment = self.segments[index]
        start, end = span or ((edit.start, edit.end) if edit else (0, min(len(segment.text), 2 * AROUND)))
        low, high = max(0, start - AROUND), min(len(segment.text), end + AROUND)
        return Finding(
            file=self.file,
            line=segment.line,
            document=self.name,
            category=category,
            text=_cut(segment.text, low, high, segment.text[low:high]),
            suggestion=None if edit is None else _cut(segment.text, low, high, _edited(segment.text, low, high, edit)),
            confidence=confidence,
            what=what,
            edit=edit,
        )


def _edited(text: str, low: int, high: int, edit: Edit) -> str:
    return text[low : edit.start] + edit.text + text[edit.end : high]


def _cut(text: str, low: int, high: int, shown: str) -> str:
    return ("…" if low else "") + shown.strip() + ("…" if high < len(text) else "")
