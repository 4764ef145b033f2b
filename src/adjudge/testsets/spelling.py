"""Misspelt words and words run together: unknown to dictionary and frequency list, with a frequent word close by.

Never on capitalised words or words with letters beyond the alphabet's plain ones (names), nor on a form that the
document uses three times. A misspelling that is itself a word (though for through) cannot be found this way; some
are in `confusions.py`. Names that have lost their accents are found where the file writes them with accents elsewhere.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING
from unicodedata import combining, normalize

import regex

from adjudge.testsets.documents import Document, is_informal
from adjudge.testsets.findings import Edit, Finding
from adjudge.testsets.words import NEVER_PARTS, Lexicon, Near

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


# Not part of a name, a link, a handle, a number or something written with dots and dashes.
_WORD = regex.compile(r"(?<![\p{L}\p{N}_@#./\\’'-])\p{Ll}+(?![\p{L}\p{N}_@/\\-]|['’](?!s\b)|[.\"”]\p{L})")
_DOUBLED = regex.compile(r"(?<![\p{L}\p{N}-])(\p{Ll}{2,})(?: \1)+(?![\p{L}\p{N}'’-])")
_MAY_DOUBLE = frozenset(
    {"had", "that", "who", "very", "really", "so", "no", "ha", "bye", "her", "many", "in", "on", "is"}
)
# Some letters stand between names: Silva e Costa, Ortega y Gasset.
_LONE = regex.compile(r"(?<=\s)(?:([b-z])(?=\s(?!\p{Lu}))|([bcfghjkmnpqrstuwz])(?=\s))")
# Function words that make no compounds, and those that make none with the following word.
GLUED_BEFORE = (*NEVER_PARTS, "a", "at", "as", "in", "to", "if", "it", "is", "an", "or", "be")
_NAME = regex.compile(r"(?<![\p{L}@#/.])\p{Lu}[\p{Ll}\p{M}]{3,}(?![\p{L}@/])")
_QUOTED = "\"“”„«»'‘’"
SHORTEST = 4
LONG = 6
RECURRING = 3
RARE = 2.2
"""Unknown to the dictionary and below this on the Zipf scale: hardly a word."""
GAIN = 1.4
"""How much more frequent the suggestion must be."""
FREQUENT_ENOUGH = 3.5
CLEAR = 1.0
"""How much more frequent the suggestion must be than the next best one, for a correction without asking."""


def repeated_words(texts: Iterable[str]) -> frozenset[str]:
    """Words that a file uses more than once: a compound that its authors use again is meant so."""
    words = Counter(word for text in texts for word in _WORD.findall(text))
    return frozenset(word for word, times in words.items() if times > 1)


def accented_names(texts: Iterable[str]) -> dict[str, str]:
    """The names that a file writes with accents, by what is left of them without; not where two become the same."""
    names = {name for text in texts for name in _NAME.findall(text) if not name.isascii()}
    plain = Counter(map(_strip_accents, names))
    return {bare: name for name in names if plain[bare := _strip_accents(name)] == 1 and bare.isascii()}


def _strip_accents(word: str) -> str:
    return "".join(letter for letter in normalize("NFD", word) if not combining(letter))


def find_lost_accents(document: Document, accented: Mapping[str, str]) -> Iterator[Finding]:
    """Find names without the accents that they have elsewhere in the file."""
    for index, text in enumerate(document.texts if accented else ()):
        for match in _NAME.finditer(text):
            if (name := accented.get(match.group())) is not None:
                edit = Edit(match.start(), match.end(), name)
                yield document.finding(index, "typo", f"'{match.group()}' is '{name}' elsewhere", 0.7, edit=edit)


def find_typos(document: Document, lexicon: Lexicon, repeated: frozenset[str] = frozenset()) -> Iterator[Finding]:
    """All findings of one document; `repeated` are words that the whole file uses more than once."""
    words = Counter(word for text in document.texts for word in _WORD.findall(text))
    informal = is_informal(document.texts)
    for index, text in enumerate(document.texts):
        doubled = {match[1] for match in _DOUBLED.finditer(text)}
        for match in _WORD.finditer(text):
            word = match.group()
            if len(word) < SHORTEST or words[word] >= RECURRING or word in doubled or not _is_unknown(word, lexicon):
                continue
            if lexicon.zipf(word) == 0.0 or not _stands_in_marks(text, match):
                yield from _explain(document, index, match, lexicon, again=word in repeated)
        yield from _find_doubled(document, index, text, lexicon)
        if lexicon.language == "en" and not informal:
            yield from _find_lone_letters(document, index, text)


def _stands_in_marks(text: str, match: regex.Match[str]) -> bool:
    """A word alone in quotation marks is spoken about; if a list has it, it is foreign rather than wrong."""
    return text[match.start() - 1 : match.start()] in _QUOTED and text[match.end() : match.end() + 1] in _QUOTED


def _is_unknown(word: str, lexicon: Lexicon) -> bool:
    zipf = lexicon.zipf(word)
    if lexicon.language == "en" and not word.isascii():
        return False
    if not lexicon.has_dictionary:
        return zipf == 0.0 and word.isascii() and len(word) > 5
    if zipf >= 4.0 or lexicon.in_dictionary(word) or lexicon.is_derived(word):
        return False
    if zipf < RARE or _surely_glued(word, lexicon):
        return True
    # Frequency lists hold common misspellings: one of those is far rarer than the right form beside it. As every short
    # word has a frequent one beside it, there only letters that changed places count, and the most frequent words.
    near = lexicon.nearest(word)
    if near is None or near.zipf - zipf < 1.8 or near.word[0] != word[0] or not lexicon.in_dictionary(near.word):
        return False
    of_the_most_frequent = near.zipf >= 5.8 and near.zipf - zipf >= 2.5
    return len(word) >= LONG or sorted(near.word) == sorted(word) or of_the_most_frequent


def _surely_glued(word: str, lexicon: Lexicon) -> bool:
    """Frequency lists of the web hold `ofthe` as well: two of the most frequent words, but no dictionary has it."""
    parts = lexicon.split(word)
    if parts is None:
        return False
    left, right = parts
    return min(map(lexicon.zipf, parts)) >= 5.2 and (left in GLUED_BEFORE or right in NEVER_PARTS)


def _explain(
    document: Document, index: int, match: regex.Match[str], lexicon: Lexicon, *, again: bool
) -> Iterator[Finding]:
    word, (start, end) = match.group(), match.span()
    # Without a dictionary, endings look like words: Spanish pronouns would count as words run together.
    near, parts = lexicon.nearest(word), lexicon.split(word) if lexicon.has_dictionary else None
    likely = near is not None and _is_likely(word, near, lexicon)
    # A compound that is rare looks the same as two words run together, unless one of them is a function word.
    glued = parts is not None and max(map(lexicon.zipf, parts)) > 5.5
    perhaps_glued = glued or (lexicon.zipf(word) == 0.0 and not again)
    if parts is not None and perhaps_glued and (not likely or near is None or near.zipf < FREQUENT_ENOUGH):
        edit = Edit(start, end, " ".join(parts))
        confidence = 0.92 if glued else 0.6
        yield document.finding(index, "spacing", f"'{word}': two words run together?", confidence, edit=edit)
    elif near is not None and likely:
        edit = Edit(start, end, near.word)
        what = f"'{word}' is unknown, '{near.word}' is close"
        yield document.finding(index, "typo", what, _confidence(word, near, lexicon), edit=edit)
    elif (
        lexicon.has_dictionary
        and len(word) > 8
        and lexicon.zipf(word) == 0.0
        and (far := lexicon.two_letters_away(word)) is not None
    ):
        edit = Edit(start, end, far)
        yield document.finding(index, "typo", f"'{word}' is unknown, '{far}' is close", 0.7, edit=edit)


def _is_likely(word: str, near: Near, lexicon: Lexicon) -> bool:
    """First letters are seldom wrong: a form that the list has, if rarely, is then another word."""
    other_start = near.word[0] != word[0] and lexicon.zipf(word) > 0
    return near.zipf >= 2.5 and near.zipf - lexicon.zipf(word) >= GAIN and not other_start


def _confidence(word: str, near: Near, lexicon: Lexicon) -> float:
    if not lexicon.has_dictionary:
        return 0.5
    clear = near.zipf >= FREQUENT_ENOUGH and near.lead >= CLEAR
    return 0.9 if clear and lexicon.zipf(word) < 1.5 and len(word) > 4 else 0.75


def _find_doubled(document: Document, index: int, text: str, lexicon: Lexicon) -> Iterator[Finding]:
    """Find words that stand twice in a row; outside English only longer ones, as articles and pronouns may repeat."""
    english = lexicon.language == "en"
    for match in _DOUBLED.finditer(text):
        # A rare word that is doubled is a name, such as that of a plant or a place.
        rare = lexicon.zipf(match[1]) < RARE
        if match[1] in _MAY_DOUBLE or rare or (not english and len(match[1]) < SHORTEST):
            continue
        edit = Edit(match.start(), match.end(), match[1])
        times = match[0].count(" ") + 1
        what = f"'{match[1]}' stands " + ("twice" if times == 2 else f"{times:,} times")
        yield document.finding(index, "typo", what, 0.9 if english else 0.6, edit=edit)


def _find_lone_letters(document: Document, index: int, text: str) -> Iterator[Finding]:
    for match in _LONE.finditer(text):
        letter = match.group()
        if letter == "i":
            yield document.finding(index, "typo", "a small i", 0.8, edit=Edit(match.start(), match.end(), "I"))
        elif letter not in "xvn" or (letter == "n" and "'" not in text):
            yield document.finding(index, "typo", "a single letter that is no word", 0.6, span=match.span())
