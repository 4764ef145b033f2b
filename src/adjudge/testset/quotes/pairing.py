"""Follows quotation marks, double or single, through a document: which quotations are never closed or never opened.

A quotation may run over several segments. A mark that opens while a quotation is open means one of three things: a
quotation inside a quotation (then two marks close), the newspapers' convention that each paragraph of a long quotation
opens anew and only the last closes, or that the earlier one was never closed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from adjudge.testset.quotes.cues import TRAILING, ends_with_attribution, sounds_like_narration, sounds_like_speech

if TYPE_CHECKING:
    from adjudge.testset.quotes.marks import Mark

# What follows a genitive is a noun or what describes it, never one of these.
_NO_NOUN = re.compile(
    r" (?:that|which|who|was|is|are|were|be|to|in|on|of|for|by|at|from|with|as|he|she|they|it|when|while|because|but|"
    r"or|had|has|have|will|would|could|after|before|during|if)\b"
)
Problem = Literal["never closed", "never opened", "opens anew", "apostrophe"]


@dataclass(frozen=True)
class Broken:
    """A mark without its partner. `until` is the segment in which, at the latest, a missing end must have come."""

    problem: Problem
    mark: Mark
    until: int = 0


class Pairing:
    """Goes through the marks of a document in order, pairs those that open and close, and keeps the others apart."""

    def __init__(self, texts: tuple[str, ...], marks: list[Mark]) -> None:
        self.texts = texts
        self.marks = marks
        self.broken: list[Broken] = []
        self.opened: Mark | None = None
        self.closed: list[Mark] = []
        self.inner = 0
        """Quotations inside the open one that have still to close."""

    def run(self) -> list[Broken]:
        """Go through all marks."""
        for number, mark in enumerate(self.marks):
            side = self._decide_side(mark)
            if side == "open":
                self._open(mark, number)
            elif side == "close":
                self._close(mark)
        if self.opened is not None:
            self.broken.append(Broken("never closed", self.opened, len(self.texts)))
        return self.broken

    def _decide_side(self, mark: Mark) -> str:
        if mark.side == "either":
            return "close" if self.opened is not None else "open"
        if mark.side == "digit":
            return "inches" if self._means_inches(mark) else "close"
        return mark.side

    def _means_inches(self, mark: Mark) -> bool:
        """After a digit a mark means inches where no quotation is open, or where its segment goes on and closes it."""
        if self.opened is None:
            return True
        later = [each for each in self.marks if each.index == mark.index and each.position > mark.position]
        if later and later[0].side == "close":
            return True
        after = self.texts[mark.index][mark.position + 1 :]
        return self.opened.index != mark.index and after[:1] == " " and after[1:2].islower()

    def _open(self, mark: Mark, number: int) -> None:
        if self.opened is None:
            self.opened = mark
        elif not mark.leading and self._closes_twice(number):
            self.inner += 1
        elif mark.leading and mark.index != self.opened.index and self._continues(mark):
            # Each paragraph opens anew, the last one closes.
            self.broken.append(Broken("opens anew", self.opened, mark.index))
            self.opened = mark
        else:
            self.broken.append(Broken("never closed", self.opened, mark.index))
            self.opened = mark

    def _closes_twice(self, number: int) -> bool:
        """Whether a quotation inside the open one starts here: its own end comes in this segment, then the outer's."""
        following = self.marks[number + 1 : number + 3]
        ends = len(following) == 2 and all(each.side in ("close", "either", "digit") for each in following)
        return ends and following[0].index == self.marks[number].index

    def _continues(self, mark: Mark) -> bool:
        """Whether everything since the open mark can be one long quotation."""
        assert self.opened is not None
        after_opening = self.texts[self.opened.index][self.opened.position + 1 :]
        if ends_with_attribution(after_opening):
            return False
        between = [after_opening, *self.texts[self.opened.index + 1 : mark.index]]
        if any(sounds_like_narration(text) for text in between):
            return False
        return len(between) == 1 or all(sounds_like_speech(text) for text in between[1:])

    def _close(self, mark: Mark) -> None:
        if self.inner:
            self.inner -= 1
        elif self.opened is not None:
            self.opened = None
            self.closed.append(mark)
        elif (earlier := self._possessive_before(mark)) is not None:
            # clients" files": the first one was an apostrophe, and this one closes.
            self.broken.append(Broken("apostrophe", earlier))
        elif looks_possessive(self.texts[mark.index], mark.position):
            self.broken.append(Broken("apostrophe", mark))
        else:
            self.broken.append(Broken("never opened", mark))

    def _possessive_before(self, mark: Mark) -> Mark | None:
        """A mark of the segment that was taken for the end, though it looks like the end of a plural's genitive."""
        same = (each for each in self.closed if each.index == mark.index)
        return next((each for each in same if looks_possessive(self.texts[each.index], each.position)), None)


def looks_possessive(text: str, position: int) -> bool:
    """`clients" files`: a plural's s, the mark, a blank and another word that is not who said it."""
    before, after = text[:position], text[position + 1 :]
    if not before.endswith(("s", "S", "z", "x")) or not after.startswith(" ") or not after[1:2].isalpha():
        return False
    return TRAILING.match(f",{after}", 1) is None and _NO_NOUN.match(after) is None
