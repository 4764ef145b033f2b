"""The language of texts, and segments that are in another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.core.languages import UNKNOWN
from adjudge.testset.lexicon import lexicon

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adjudge.results.testset import Finding
    from adjudge.testset.document import Document

FEWEST_WORDS = 8
FEWEST_LETTERS = 60
SURE_MARGIN = 12.0
"""By how much the logarithm of the likelihood must be higher than that of the texts' language."""
ENOUGH_HERE = 0.2
"""A single segment is settled with fewer function words than a whole text, whose language nobody knows yet."""


def detect(texts: Sequence[str]) -> str:
    """The language of all texts together, as a two-letter code."""
    sample = " ".join(texts)[:20_000]
    if not any(letter.isalpha() for letter in sample):
        return UNKNOWN
    english = lexicon("en")
    if english is not None and english.sounds_like(sample):
        return "en"
    import py3langid

    return str(py3langid.classify(sample)[0])


def find(document: Document, language: str) -> Iterator[Finding]:
    """Long segments that are surely in another language; names and quoted titles are too short to tell."""
    vocabulary = lexicon(language)
    for index, text in enumerate(document.texts):
        if len(text) < FEWEST_LETTERS or (text.isascii() and len(text.split()) < FEWEST_WORDS):
            continue
        if vocabulary is not None and (vocabulary.sounds_like(text, ENOUGH_HERE) or vocabulary.knows_most(text)):
            # This settles most segments without loading the models of a hundred languages.
            continue
        import py3langid

        detected, likelihood = py3langid.classify(text)
        if detected != language and likelihood - dict(py3langid.rank(text)).get(language, likelihood) >= SURE_MARGIN:
            what = f"the segment is in '{detected}', the text in '{language}'"
            yield document.finding(index, "language", what, 0.8)
