"""Segments as sentences: punctuation at the end, sentences cut in two, small letters at the start."""

from __future__ import annotations

from typing import TYPE_CHECKING

import regex

from adjudge.results.testset import Edit
from adjudge.testset.boilerplate import is_boilerplate, looks_like_title

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adjudge.results.testset import Finding
    from adjudge.testset.document import Document

_ENDED = regex.compile(r"[.!?…:;。！？；：।॥؟۔։።៕][\"'”’»«)\]*“›‹」』）\s]*$")
_LINK_AT_END = regex.compile(r"(?:https?://|www\.|@|#)\S+$|(?<=\S)\.(?:com|org|net|html?|co\.uk)\S*$")
_CLOSERS = "\"'”’»«)]*“›‹」』）"
_SMALL_START = regex.compile(r"\p{Ll}{2,}\s")
_BRAND = regex.compile(r"(?:i|e)\p{Lu}|(?:https?|www)|\p{Ll}+\p{N}|(?:de|van|von|al|el|bin|da|di|la|le)\s\p{Lu}")
_FULL_STOP = {"zh": "。", "ja": "。", "hi": "।", "ur": "۔"}
_VERB = regex.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|will|would|can|could|may|might|must|should|did|does|do|said|says|"
    r"told|went|came|made|took|got|gave|left|met|ran|won|lost|heard|saw|found|knew|thought|felt|kept|held|began|brought|"
    r"bought|caught|stood|spoke|wrote|broke|chose|drove|fell|flew|grew|led|paid|sent|sold|spent|sat|rose|wore|shot|built|"
    r"fought|taught|became|drew|threw|ate|drank|sang|hid|shook|stole|struck|understood|withdrew|\p{Ll}{2,}ed)\b"
    r"|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b"
)
# No sentence ends with an article, a conjunction or a preposition that never stands alone.
_BREAKS_OFF = regex.compile(r"(?<=\s\p{Ll}+\s)(?:the|a|an|of|and|or|but|with|from|into|than|because|its|their|our|my)$")
FEWEST_WORDS = 5
CERTAIN_WORDS = 8
INFORMAL = 0.1
USUAL = 0.25
"""Where more segments than this lack punctuation, the document does not use it, and none is missing."""


def is_ended(text: str) -> bool:
    """Whether the text ends with punctuation that ends a sentence or announces something."""
    return _ENDED.search(text) is not None


def find(document: Document, language: str) -> Iterator[Finding]:
    """All findings of one document; the first segment may be a headline."""
    texts = document.texts
    body = range(1, len(texts))
    lacking = [index for index in body if texts[index].strip() and not is_ended(texts[index])]
    uses_punctuation = len(lacking) <= max(1, USUAL * len(body))
    for index in lacking:
        following = texts[index + 1] if index + 1 < len(texts) else ""
        if _is_continued(texts[index], following):
            what = "a sentence is cut in two: the next segment starts with a lower-case letter"
            yield document.finding(index, "segmentation", what, 0.8, span=_end_span(texts[index]))
        elif language == "en" and _BREAKS_OFF.search(texts[index]):
            what = "the sentence breaks off"
            yield document.finding(index, "segmentation", what, 0.8, span=_end_span(texts[index]))
        elif uses_punctuation and _is_sentence(texts[index], language):
            yield _report_missing_period(document, index, language)
    yield from _find_small_starts(document)


def _is_continued(text: str, following: str) -> bool:
    return bool(text.strip()) and _SMALL_START.match(following) is not None and _BRAND.match(following) is None


def _is_sentence(text: str, language: str) -> bool:
    words = text.split()
    scripts_without_blanks = len(words) < 3 and len(text) > 15 and not text.isascii()
    if _LINK_AT_END.search(text) or is_boilerplate(text) or text.rstrip().endswith((",", "-", "–", "—")):
        return False
    if scripts_without_blanks:
        return True
    # A short line without a verb is a heading.
    long_enough = len(words) >= (FEWEST_WORDS if language == "en" and _VERB.search(text) else CERTAIN_WORDS)
    return long_enough and not looks_like_title(text)


def _report_missing_period(document: Document, index: int, language: str) -> Finding:
    text = document.texts[index]
    end = len(text.rstrip())
    # In American usage the period stands before the closing quotation mark.
    position = end - 1 if end > 1 and text[end - 1] in '"”' and language == "en" else end
    edit = Edit(position, position, _FULL_STOP.get(language, "."))
    # Headings are recognised in English only.
    confidence = 0.6 if language != "en" else 0.9 if len(text.split()) >= CERTAIN_WORDS else 0.75
    return document.finding(index, "final-period", "no punctuation at the end", confidence, edit=edit)


def is_informal(texts: Sequence[str]) -> bool:
    """Whether the writers do not care for capital letters: several segments start with a small one."""
    small = sum(text[:1].islower() and _BRAND.match(text) is None for text in texts)
    return small > max(1, INFORMAL * len(texts))


def _find_small_starts(document: Document) -> Iterator[Finding]:
    texts = document.texts
    if is_informal(texts):
        return
    for index in range(1, len(texts)):
        if not _is_continued(texts[index - 1], texts[index]) or not is_ended(texts[index - 1]):
            continue
        if texts[index - 1].rstrip(_CLOSERS + " ").endswith((".", "!", "?")) and not _inside_list(texts, index):
            edit = Edit(0, 1, texts[index][0].upper())
            yield document.finding(index, "typo", "a lower-case letter at the start of a sentence", 0.7, edit=edit)


def _inside_list(texts: tuple[str, ...], index: int) -> bool:
    """Whether neighbours start with a small letter as well."""
    beside = [texts[i] for i in (index - 1, index + 1) if 0 <= i < len(texts)]
    return any(_SMALL_START.match(text) for text in beside)


def _end_span(text: str) -> tuple[int, int]:
    return max(0, len(text) - 20), len(text)
