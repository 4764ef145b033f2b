"""Where a quotation that nobody closed must have ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.testset.quotes.cues import sounds_like_narration, sounds_like_speech
from adjudge.testset.sentences import is_ended

if TYPE_CHECKING:
    from collections.abc import Sequence


def last_of_speech(texts: Sequence[str], first: int, until: int, *, resumed: bool = False) -> int:
    """The segment in which the quotation that opens in `first` most likely ends; it must end before `until`.

    A quotation that is `resumed` after the words who spoke ("So," she said. "Yes.) seldom goes beyond its segment.
    """
    last = first
    for place in range(first + 1, until):
        if sounds_like_narration(texts[place]):
            return last
        if sounds_like_speech(texts[place]):
            last = place
    # A single segment between speech and the next quotation mostly belongs to the speech, unless it is no sentence.
    one_more = (
        not (resumed and last == first) and until - 1 - last == 1 and until < len(texts) and is_ended(texts[until - 1])
    )
    return until - 1 if one_more else last
