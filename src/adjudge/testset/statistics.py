"""How large a test set is: documents, sentences, words and distinct words, as Kim and others (2022) count in Table 1.

Words are tokens of sacreBLEU's tokenisers in lower case, punctuation left out. Sentences end at a sentence mark that is
followed by a blank and a capital letter, digit or opening quotation mark; in scripts without blanks at the mark itself.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import regex

from adjudge.core.errors import UsageError, unknown_choice
from adjudge.results.testset import DocumentLength, TextStatistics

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adjudge.testset.document import Document

TOKENIZERS = ("13a", "intl", "zh", "ja-mecab", "ko-mecab", "char", "none")
BY_LANGUAGE = {"zh": "zh", "ja": "char", "th": "char", "km": "char", "lo": "char", "my": "char"}
"""Languages written without blanks, whose words 13a cannot tell apart; Chinese is split into its characters."""

# A title or an initial before the mark does not end a sentence: "Mr. Smith", "J. Smith".
_NOT_AN_END = r"(?<!\b(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|Gen|Col|Lt|Sen|Rep|Gov|No|vs|\p{Lu})\.)"
_BORDER = regex.compile(
    rf"(?<=[.!?…։።]['\"”’»)\]]{{0,20}}){_NOT_AN_END}\s+(?=['\"“„«(\[¿¡]*[\p{{Lu}}\p{{Lo}}\p{{N}}])|(?<=[。！？।॥؟۔]['\"”’」』）]{{0,20}})(?=\S|\s+\S)"
)
_WORD = regex.compile(r"[\p{L}\p{N}]")


def text_statistics(documents: Sequence[Document], *, language: str, tokenize: str | None) -> TextStatistics:
    """Count documents, segments, sentences and words.

    Args:
        documents: the source texts.
        language: their language, which decides the tokeniser where none is named.
        tokenize: a name from `TOKENIZERS`, or None.
    """
    name = tokenize or BY_LANGUAGE.get(language, "13a")
    split = _find_tokenizer(name)
    sentences = [count_sentences(text) for document in documents for text in document.texts if text.strip()]
    vocabulary: Counter[str] = Counter()
    lengths = []
    for document in documents:
        words = [word for text in document.texts for word in split(text.lower()) if _WORD.search(word)]
        vocabulary.update(words)
        lengths.append(DocumentLength(document.name, len(document.segments), len(words)))
    return TextStatistics(
        tokenize=name,
        documents=len(documents),
        segments=sum(len(document.segments) for document in documents),
        sentences=sum(sentences),
        sentences_per_segment=sum(sentences) / len(sentences) if sentences else None,
        most_sentences=max(sentences, default=0),
        words=vocabulary.total(),
        distinct_words=len(vocabulary),
        by_document=tuple(lengths),
    )


def count_sentences(text: str) -> int:
    """The number of sentences in a segment that holds any text."""
    return sum(bool(_WORD.search(part)) for part in _BORDER.split(text)) or 1


def _find_tokenizer(name: str) -> Callable[[str], list[str]]:
    if name not in TOKENIZERS:
        raise unknown_choice("tokeniser", name, TOKENIZERS)
    from sacrebleu.metrics.bleu import BLEU

    try:
        tokenizer = BLEU(tokenize=name).tokenizer
    except (ImportError, RuntimeError) as fault:
        raise UsageError(f"--tokenize {name} needs a package that is not installed ({fault}); install it") from fault
    return lambda text: tokenizer(text).split()
