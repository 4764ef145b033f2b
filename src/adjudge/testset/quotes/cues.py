"""What sounds like speech and what like narration (English), to find where an unclosed quotation must have ended."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from adjudge.testset.sentences import is_ended

if TYPE_CHECKING:
    from collections.abc import Sequence

_VERBS = (
    "said|says|say|added|adds|told|tells|asked|asks|explained|explains|warned|insisted|wrote|writes|tweeted|posted|"
    "claimed|claims|argued|argues|continued|continues|replied|noted|notes|admitted|recalled|stated|commented|concluded|"
    "announced|joked|shouted|responded|suggested|declared|stressed|acknowledged|remarked|predicted|confirmed"
)
# Verbs that attribute speech only after the quotation, because people also use them when they speak.
_MORE_VERBS = (
    f"{_VERBS}|assured|assures|observed|observes|stresses|complained|promised|conceded|emphasised|emphasized|affirmed|"
    "lamented|quipped|insists|recalls|warns|reckons|believes"
)
_WHO = r"(?:(?:he|she|they|it|who|I|we|the\s+\w+|one\s+\w+|an?\s+\w+)|[A-Z][\w.'’-]*(?:\s+[A-Z][\w.'’-]*){0,3})"
ATTRIBUTION = re.compile(rf"\b(?:{_VERBS})\b")
# A comma (or the end of a sentence), then who said it: the quotation ends before. Whatever somebody does at the very
# end, he does it speaking: , he enthuses.
TRAILING = re.compile(
    rf"(?<=[,.!?])\s(?:{_WHO}\s+(?:also\s+)?(?:{_MORE_VERBS})\b|(?:{_MORE_VERBS})\s+{_WHO}\b|"
    r"(?:he|she|they)\s\w+(?:s|ed)\.$|"
    rf"(?:his|her|its|their)\s[^,.!?\"”]{{2,50}}?\s(?:{_MORE_VERBS})\.$)"
)
_AFTER_SPEECH = re.compile(r"(?<=[,.!?])\s")
# The same with the speaker's office between commas: , the club's owner, Ann Lee, told reporters.
_LAST_CLAUSE = re.compile(
    rf",\s(?P<who>(?:the|a|an|one|its|his|her|their|[A-Z])[^.!?\"”]*?)\s(?:{_VERBS})\b(?P<more>[^.!?\"”]*)\.?$"
)
FIRST_PERSON = re.compile(r"\b(?:I|I['’]m|I['’]ve|[Ww]e|[Yy]ou|[Mm]y|[Oo]ur|[Yy]our|me|us|[Ll]et['’]s|mine|ours)\b")


def sounds_like_speech(text: str) -> bool:
    """Whether someone speaks of himself or to somebody."""
    return FIRST_PERSON.search(text) is not None


@lru_cache(maxsize=256)
def trailing_starts(text: str) -> tuple[int, ...]:
    """All places where it is told who said what stands before, in order."""
    blanks = (match.start() for match in _AFTER_SPEECH.finditer(text))
    return tuple(start for start in blanks if TRAILING.match(text, start))


def ends_with_attribution(text: str) -> bool:
    """Whether the text says at its end, or in its middle, who said it: the quotation ended before."""
    if TRAILING.search(text):
        return True
    last = _LAST_CLAUSE.search(text)
    return last is not None and not sounds_like_speech(last["who"] + " " + last["more"])


def sounds_like_narration(text: str) -> bool:
    """Whether the text says who said something, and nobody speaks."""
    return ATTRIBUTION.search(text) is not None and not sounds_like_speech(text)


def last_of_speech(texts: Sequence[str], first: int, until: int, *, resumed: bool = False) -> int:
    """The segment in which the quotation that opens in `first` most likely ends; it must end before `until`.

    A quotation that is `resumed` after the words who spoke ("So," she said. "Yes.) seldom goes beyond its segment.
    """
    last = first
    for index in range(first + 1, until):
        if sounds_like_narration(texts[index]):
            return last
        if sounds_like_speech(texts[index]):
            last = index
    # A single sentence between speech and the next quotation mostly belongs to the speech.
    one_more = (
        not (resumed and last == first) and until - 1 - last == 1 and until < len(texts) and is_ended(texts[until - 1])
    )
    return until - 1 if one_more else last
