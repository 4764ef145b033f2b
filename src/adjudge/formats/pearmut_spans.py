"""Error spans as Pearmut's browser counts them, turned into half-open ranges of code points.

Both ends of a span are included. The browser counts UTF-16 units and skips line breaks, which are no characters on its
page. Behind the text stands the word [missing]; a span that begins there marks an omission.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adjudge.formats.spans import Span

LONGEST = 10**9
UNDECIDED = "undecided"


def read_span(entry: dict[str, Any], target: str | None) -> Span:
    """One span; `target` is the judged text, where the log holds it."""
    category, severity = entry.get("category"), entry.get("severity")
    made: Span = {
        "start": None,
        "end": None,
        "severity": str(severity or UNDECIDED).lower(),
        "category": str(category) if category else None,
        "side": "target",
        "text": None,
    }
    if entry["start_i"] == "missing":
        return {**made, "side": "missing"}
    first, last = int(entry["start_i"]), int(entry["end_i"])
    if not 0 <= first <= last <= LONGEST:
        raise ValueError(first, last)
    if target is None:
        return {**made, "start": first, "end": last + 1}
    places = _places(target)
    if first >= len(places):
        return {**made, "side": "missing"}
    start, end = places[first], places[min(last, len(places) - 1)] + 1
    return {**made, "start": start, "end": end, "text": target[start:end]}


def _places(text: str) -> list[int]:
    """For every unit that the browser counts, which code point of the text it is part of."""
    return [
        place
        for place, character in enumerate(text)
        if character != "\n"
        for _ in range(2 if ord(character) > 0xFFFF else 1)
    ]
