"""What is a word: frequency lists of words, and a Hunspell dictionary where one is at hand."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.util import find_spec
from itertools import islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from adjudge.table.languages import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from adjudge.testsets.documents import Document
    from adjudge.testsets.findings import Finding


# Where words come from: Hunspell dictionaries, and the frequency lists of wordfreq.
# A dictionary is a list of stems with flags, and rules that say which beginnings and endings a flag allows. Those of
# languages that build words out of words need more than this: they are left to spylls, which knows all of Hunspell but
# takes ten times as long to load. `tests/testsets/test_words.py` holds both to the same answers.
#
# Of wordfreq only the files are read: importing the package takes longer than reading a list. The format is
# documented there (cBpack): packed lists of words, the place of a list says how frequent its words are, in hundredths
# of a power of ten.


# Directives of an affix file that do not matter for looking up a word.
_HARMLESS = (
    "SET", "TRY", "KEY", "MAP", "REP", "PHONE", "NAME", "VERSION", "HOME", "LANG", "WORDCHARS", "NOSUGGEST", "BREAK",
    "ICONV", "OCONV", "MAXNGRAMSUGS", "COMPOUNDMIN", "COMPOUNDRULE", "ONLYINCOMPOUND",
)  # fmt: skip
ZIPF_OF_CERTAINTY = 9.0
"""The Zipf scale is the logarithm of occurrences in a billion words: a word that is all words stands at 9."""


class Dictionary(Protocol):
    """Anything that can be asked for a word."""

    def lookup(self, word: str) -> bool:
        """Whether it is a word."""
        ...


@dataclass(frozen=True)
class Affix:
    """Take `strip` off a stem that fits the condition, and put the affix there."""

    flag: str
    strip: str
    fits: re.Pattern[str]
    crosses: bool
    """Whether an affix at the other end may stand beside it."""


class Stems:
    """Stems, beginnings and endings."""

    def __init__(self, words: dict[str, str], prefixes: dict[str, list[Affix]], suffixes: dict[str, list[Affix]]):
        self.words, self.prefixes, self.suffixes = words, prefixes, suffixes
        self._longest = max(map(len, suffixes), default=0)

    def lookup(self, word: str) -> bool:
        """Whether the word is a stem, or a stem with a beginning, an ending or both."""
        if word in self.words or any(affix.flag in self.words[stem] for stem, affix in self._strip_suffixes(word)):
            return True
        for without_prefix, prefix in self._strip_prefixes(word):
            if prefix.flag in self.words.get(without_prefix, ""):
                return True
            if prefix.crosses and any(
                affix.crosses and {affix.flag, prefix.flag} <= set(self.words[stem])
                for stem, affix in self._strip_suffixes(without_prefix)
            ):
                return True
        return False

    def _strip_suffixes(self, word: str) -> list[tuple[str, Affix]]:
        return [
            (stem, affix)
            for cut in range(len(word), max(len(word) - self._longest, 1) - 1, -1)
            for affix in self.suffixes.get(word[cut:], ())
            if (stem := word[:cut] + affix.strip) in self.words and affix.fits.search(stem)
        ]

    def _strip_prefixes(self, word: str) -> list[tuple[str, Affix]]:
        return [
            (affix.strip + word[len(added) :], affix)
            for added, affixes in self.prefixes.items()
            if word.startswith(added) and len(word) > len(added)
            for affix in affixes
            if affix.fits.search(affix.strip + word[len(added) :])
        ]


def read_dictionary(base: Path) -> Dictionary:
    """The dictionary of `base.aff` and `base.dic`."""
    raw = base.with_name(base.name + ".aff").read_bytes()
    encoding = re.search(rb"^\s*SET\s+(\S+)", raw, re.MULTILINE)
    code = encoding[1].decode("ascii") if encoding else "latin-1"
    lines = [line.split() for line in raw.decode(code).splitlines() if line.strip() and not line.startswith("#")]
    rules = [fields for fields in lines if fields[0] in ("PFX", "SFX")]
    if not all(fields[0] in (*_HARMLESS, "PFX", "SFX") for fields in lines) or any(map(_has_more, rules)):
        return _read_with_spylls(base)
    refused = "".join(fields[1] for fields in lines if fields[0] == "ONLYINCOMPOUND")
    words = _read_stems(base.with_name(base.name + ".dic").read_bytes().decode(code), refused)
    return Stems(words, *(_read_affixes(rules, kind) for kind in ("PFX", "SFX")))


def _has_more(fields: list[str]) -> bool:
    """Whether an affix takes affixes itself, or flags are longer than a letter."""
    return len(fields[1]) != 1 or (len(fields) > 4 and "/" in fields[3])


def _read_stems(text: str, refused: str) -> dict[str, str]:
    words: dict[str, str] = {}
    for line in text.splitlines()[1:]:
        # What follows a blank is morphology.
        word, _, flags = line.partition("\t")[0].partition(" ")[0].partition("/")
        if not any(flag in refused for flag in flags):
            words[word] = words.get(word, "") + flags
    return words


def _read_affixes(rules: list[list[str]], kind: str) -> dict[str, list[Affix]]:
    affixes: dict[str, list[Affix]] = defaultdict(list)
    crosses: dict[str, bool] = {}
    for name, flag, *fields in rules:
        if name != kind:
            continue
        if flag not in crosses:
            crosses[flag] = fields[0] == "Y"
            continue
        strip, added = ("" if part == "0" else part for part in fields[:2])
        condition = fields[2] if len(fields) > 2 else "."
        fits = re.compile(f"(?:{condition})$" if kind == "SFX" else f"^(?:{condition})")
        affixes[added].append(Affix(flag, strip, fits, crosses[flag]))
    return dict(affixes)


def _read_with_spylls(base: Path) -> Dictionary:
    import gc
    import warnings

    from spylls import hunspell

    with warnings.catch_warnings():
        # spylls leaves its files open until they are collected, which Python complains about.
        warnings.simplefilter("ignore", ResourceWarning)
        dictionary: Dictionary = hunspell.Dictionary.from_files(str(base))
        gc.collect()
    return dictionary


@lru_cache(maxsize=2)
def _folder(package: str) -> Path | None:
    """Where a package is installed, without importing it."""
    found = find_spec(package)
    return None if found is None or found.origin is None else Path(found.origin).parent


def _find_list(language: str) -> Path | None:
    """The longest list of a language."""
    folder = _folder("wordfreq")
    if folder is None or not language.isalpha():
        return None
    files = (folder / "data" / f"{size}_{language}.msgpack.gz" for size in ("large", "small"))
    return next((file for file in files if file.exists()), None)


def has_list(language: str) -> bool:
    """Whether there is a list of the language."""
    return _find_list(language) is not None


def read_list(language: str) -> dict[str, float]:
    """The words of a language with their frequencies on the Zipf scale, most frequent first."""
    import gzip

    import msgpack  # type: ignore[import-untyped]

    file = _find_list(language)
    if file is None:
        return {}
    _, *ranks = msgpack.unpackb(gzip.decompress(file.read_bytes()), raw=False)
    # Within a rank words are in alphabetical order, and each occurs once.
    return {word: round(ZIPF_OF_CERTAINTY - rank / 100, 2) for rank, words in enumerate(ranks) for word in words}


# Dictionaries that come with spylls.
HUNSPELL = {"en": "en/en_US", "ru": "ru/ru", "sv": "sv/sv_SE"}
# Lists of these need a tokeniser that cuts words out of running text; a misspelling cannot be told there.
NO_BLANKS = ("zh", "ja", "ko", "th")
BEGINNINGS = (
    "un", "re", "co", "non", "anti", "inter", "over", "under", "out", "pre", "mis", "sub", "super", "ultra", "multi",
    "micro", "semi", "counter", "dis", "self", "cyber", "post", "bio", "eco", "mega", "mini", "auto",
)  # fmt: skip
ENDINGS = (
    "s", "es", "ed", "d", "ing", "er", "ers", "r", "rs", "ly", "ness", "less", "like", "able", "ish", "ity", "ist",
    "ists", "ism", "ize", "ized", "izing", "ise", "ised", "ising", "isation", "ization", "ful", "wise", "y", "ies",
)  # fmt: skip
# British forms and the American ones that the dictionary has; then those that misspellings have as well.
BRITISH = (
    ("our", "or"), ("ise", "ize"), ("isa", "iza"), ("isi", "izi"), ("yse", "yze"), ("ysi", "yzi"), ("lling", "ling"),
    ("lled", "led"), ("ller", "ler"), ("ogue", "og"), ("dgement", "dgment"),
)  # fmt: skip
RATHER_BRITISH = (
    ("tre", "ter"), ("bre", "ber"), ("aem", "em"), ("aed", "ed"), ("oe", "e"), ("mme", "m"), ("ence", "ense"),
    ("lful", "llful"),
)  # fmt: skip
# Function words that make no compounds: where one is the half of an unknown word, a blank is missing.
NEVER_PARTS = (
    "the", "that", "and", "of", "with", "from", "which", "this", "was", "were", "had", "has", "have", "would",
    "could", "should", "they", "their", "his", "its", "are", "been", "will", "what", "who", "when", "but", "than",
    "then", "there", "these", "those", "said", "about", "into", "your", "our", "you", "she", "more", "also",
    "because", "since", "while", "during", "until",
)  # fmt: skip
FUNCTION_WORDS = 100
ENOUGH = 0.3
"""Of running English text close to half are among the hundred most frequent words, of its neighbours' a tenth."""
FREQUENT = 3.0
"""On the Zipf scale: once in a million words."""
LONGEST_WORD = 60
"""No word of a list is longer."""


@dataclass(frozen=True)
class Near:
    """A word close to another, how frequent it is, and by how much it is likelier than the next best one."""

    word: str
    zipf: float
    lead: float


class Lexicon:
    """Words of one language."""

    def __init__(self, language: str) -> None:
        self.language = language

    @cached_property
    def frequencies(self) -> Mapping[str, float]:
        """The words of the list, most frequent first, on the Zipf scale: log10 of occurrences in a billion words."""
        return read_list(self.language)

    @cached_property
    def _dictionary(self) -> Dictionary | None:
        folder = _folder("spylls") if self.language in HUNSPELL else None
        return None if folder is None else read_dictionary(folder / "hunspell" / "data" / HUNSPELL[self.language])

    @cached_property
    def _alphabet(self) -> str:
        """The letters of the thousand most frequent words."""
        first = islice(self.frequencies, 1000)
        return "".join(sorted({letter for word in first for letter in word if letter.isalpha()}))

    @property
    def has_dictionary(self) -> bool:
        """Whether rare words can be looked up as well."""
        return self.language in HUNSPELL

    def zipf(self, word: str) -> float:
        """The frequency as log10 per billion words; 0 where the list does not know the word."""
        return self.frequencies.get(word, 0.0)

    @lru_cache(maxsize=100_000)  # noqa: B019  one lexicon lives as long as the command
    def in_dictionary(self, word: str) -> bool:
        """Whether the dictionary has the word or one of its forms."""
        return bool(self._dictionary is not None and self._dictionary.lookup(word))

    def is_derived(self, word: str) -> bool:
        """Whether a known word with a usual beginning or ending makes it; the ending only of words the list has."""
        if self.language != "en":
            return False
        starts = (word.removeprefix(beginning) for beginning in BEGINNINGS if word.startswith(beginning))
        if any(len(base) > 4 and self.in_dictionary(base) for base in starts) or self._is_british(word):
            return True
        if self.zipf(word) == 0.0:
            return False
        stems = [word.removesuffix(ending) for ending in ENDINGS if word.endswith(ending)]
        return any(len(stem) > 3 and (self.in_dictionary(stem) or self.in_dictionary(f"{stem}e")) for stem in stems)

    def _is_british(self, word: str) -> bool:
        pairs = (*BRITISH, *RATHER_BRITISH) if self.zipf(word) >= 1.5 else BRITISH
        return any(british in word and self.in_dictionary(word.replace(british, other)) for british, other in pairs)

    @lru_cache(maxsize=20_000)  # noqa: B019
    def nearest(self, word: str) -> Near | None:
        """The most frequent word that one letter more, less, changed or exchanged makes of it."""
        if len(word) > LONGEST_WORD:
            return None
        candidates = {
            candidate: self.frequencies[candidate]
            for candidate in self._one_letter_away(word)
            if candidate in self.frequencies
        }
        candidates.pop(word, None)
        if not candidates:
            return None
        # First letters are seldom wrong.
        likely = {candidate: zipf + (candidate[0] == word[0]) for candidate, zipf in candidates.items()}
        best = max(likely, key=likely.__getitem__)
        second = max((value for candidate, value in likely.items() if candidate != best), default=0.0)
        return Near(best, candidates[best], likely[best] - second)

    def _one_letter_away(self, word: str) -> Iterator[str]:
        cuts = [(word[:i], word[i:]) for i in range(len(word) + 1)]
        for left, right in cuts:
            if right:
                yield left + right[1:]
            if len(right) > 1:
                yield left + right[1] + right[0] + right[2:]
            for letter in self._alphabet:
                yield left + letter + right
                if right:
                    yield left + letter + right[1:]

    @cached_property
    def _long_words(self) -> list[str]:
        # The list goes from the most frequent word to the rarest.
        frequent = takewhile(lambda item: item[1] >= FREQUENT, self.frequencies.items())
        return [word for word, _ in frequent if len(word) > 7]

    @cached_property
    def _function_words(self) -> frozenset[str]:
        return frozenset(islice(self.frequencies, FUNCTION_WORDS))

    def sounds_like(self, text: str, enough: float = ENOUGH) -> bool:
        """Whether so many of the language's most frequent words stand in the text that it is in that language."""
        words = text.lower().split()
        return len(words) > 3 and sum(word in self._function_words for word in words) >= enough * len(words)

    def knows_most(self, text: str) -> bool:
        """Whether most words of a text are in the dictionary, or most longer ones, names aside, are frequent."""
        words = [word.strip(".,;:!?\"'()“”’") for word in text.split()]
        if self.has_dictionary:
            letters = [word for word in words if len(word) > 1 and word.isalpha()]
            known = sum(self.in_dictionary(word) or self.in_dictionary(word.lower()) for word in letters)
            return len(letters) > 3 and known >= 0.6 * len(letters)
        long = [word for word in words if len(word) > 4 and word.isalpha() and word.islower()]
        return len(long) > 2 and sum(self.zipf(word) >= FREQUENT for word in long) >= 0.7 * len(long)

    @lru_cache(maxsize=20_000)  # noqa: B019
    def two_letters_away(self, word: str) -> str | None:
        """A frequent long word that is two letters away, if there is one."""
        from rapidfuzz import process
        from rapidfuzz.distance import DamerauLevenshtein

        match = process.extractOne(word, self._long_words, scorer=DamerauLevenshtein.distance, score_cutoff=2)
        return None if match is None else str(match[0])

    @lru_cache(maxsize=20_000)  # noqa: B019
    def split(self, word: str) -> tuple[str, str] | None:
        """The two frequent words that were run together, the likeliest pair."""
        best: tuple[float, tuple[str, str]] | None = None
        for i in range(1, len(word)):
            left, right = word[:i], word[i:]
            both_alone = self._stands_alone(left) and self._stands_alone(right)
            if both_alone or self._with_function_word(left, right):
                likelihood = self.zipf(left) + self.zipf(right)
                if best is None or likelihood > best[0]:
                    best = likelihood, (left, right)
        return best[1] if best is not None and best[0] >= 8.5 else None

    def _stands_alone(self, word: str) -> bool:
        if len(word) == 1:
            return word == "a" and self.language == "en"
        if word in ("sub", "non", "pre", "mis", "pro", "dis"):
            # Prefixes that the lists contain as words.
            return False
        # Short words need a higher frequency, because the lists contain many abbreviations.
        return self.zipf(word) >= (5.5 if len(word) == 2 else 4.5 if len(word) == 3 else 3.3)

    def _with_function_word(self, left: str, right: str) -> bool:
        """Whether one is a function word that makes no compounds, and the other a word of the dictionary."""
        if self.language != "en":
            return False
        other = right if left in NEVER_PARTS else left if right in NEVER_PARTS else ""
        return len(other) > 2 and self.zipf(other) >= 1 and self.in_dictionary(other)


@lru_cache(maxsize=4)
def lexicon(language: str) -> Lexicon | None:
    """The words of a language, or None where no list knows them."""
    return Lexicon(language) if language not in NO_BLANKS and has_list(language) else None


# The language of texts, and segments that are in another one.

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


def find_foreign_text(document: Document, language: str) -> Iterator[Finding]:
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
