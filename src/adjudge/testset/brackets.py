"""Brackets without their partner, followed through a document as far as a bracket reasonably reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import regex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjudge.results.testset import Finding
    from adjudge.testset.document import Document

_CLOSING = {"(": ")", "[": "]", "（": "）", "【": "】"}
_OPENING = {closing: opening for opening, closing in _CLOSING.items()}
_FACE = regex.compile(r"(?:^|(?<=\s))[:;=][-'^o]?[()\[\]]+")
# What a bracket without a partner may be: the number of a list, a face the other way round, half-open in mathematics.
_OTHER_USES = regex.compile(
    r"(?:^|(?<=\s))\p{L}?[\p{N}ivx]{0,4}[)\]]|[()]{1,20}[-'^]?[:;=]|[:;=8xX][-'^o]?[()]|[\[(]-?[\d.]+\s*[,;]\s*-?[\d.]+[)\]]"
)
FARTHEST = 3
"""A bracket may close some segments later."""


class Bracket(NamedTuple):
    """A bracket and its place."""

    segment: int
    position: int
    character: str


def find(document: Document) -> Iterator[Finding]:
    """All findings of one document."""
    other_uses: dict[int, set[int]] = {}
    for bracket, what in _find_unmatched(document.texts):
        if bracket.segment not in other_uses:
            matches = _OTHER_USES.finditer(document.texts[bracket.segment])
            other_uses[bracket.segment] = {position for match in matches for position in range(*match.span())}
        if bracket.position not in other_uses[bracket.segment]:
            span = (bracket.position, bracket.position + 1)
            yield document.finding(bracket.segment, "brackets", f"a bracket that is {what}", 0.7, span=span)


def _find_unmatched(texts: tuple[str, ...]) -> Iterator[tuple[Bracket, str]]:
    opened: list[Bracket] = []
    for index, text in enumerate(texts):
        for bracket in _find_brackets(text, index):
            if bracket.character in _CLOSING:
                opened.append(bracket)
            elif opened and opened[-1].character == _OPENING[bracket.character]:
                opened.pop()
            else:
                yield bracket, "never opened"
        last = index == len(texts) - 1
        late = [bracket for bracket in opened if last or index - bracket.segment >= FARTHEST]
        yield from ((bracket, "never closed") for bracket in late)
        opened = [bracket for bracket in opened if not last and index - bracket.segment < FARTHEST]


def _find_brackets(text: str, index: int) -> list[Bracket]:
    faces = {position for match in _FACE.finditer(text) for position in range(*match.span())}
    return [
        Bracket(index, position, character)
        for position, character in enumerate(text)
        if (character in _CLOSING or character in _OPENING) and position not in faces
    ]
