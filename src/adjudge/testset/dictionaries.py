"""Where words come from: Hunspell dictionaries, and the frequency lists of wordfreq.

A dictionary is a list of stems with flags, and rules that say which beginnings and endings a flag allows. Those of
languages that build words out of words need more than this: they are left to spylls, which knows all of Hunspell but
takes ten times as long to load. `tests/testset/test_words.py` holds both to the same answers.

Of wordfreq only the files are read: importing the package takes longer than reading a list. The format is documented
there (cBpack): packed lists of words, the place of a list says how frequent its words are, in hundredths of a power of
ten.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

# Directives of an affix file that do not matter for looking up a word.
_HARMLESS = (
    "SET", "TRY", "KEY", "MAP", "REP", "PHONE", "NAME", "VERSION", "HOME", "LANG", "WORDCHARS", "NOSUGGEST", "BREAK",
    "ICONV", "OCONV", "MAXNGRAMSUGS", "COMPOUNDMIN", "COMPOUNDRULE", "ONLYINCOMPOUND",
)  # fmt: skip
_FORMAT = {"format": "cB", "version": 1}
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
        if word in self.words or any(affix.flag in self._flags(stem) for stem, affix in self._strip_suffixes(word)):
            return True
        for without_prefix, prefix in self._strip_prefixes(word):
            if prefix.flag in self._flags(without_prefix):
                return True
            if prefix.crosses and any(
                affix.crosses and {affix.flag, prefix.flag} <= set(self._flags(stem))
                for stem, affix in self._strip_suffixes(without_prefix)
            ):
                return True
        return False

    def _flags(self, stem: str) -> str:
        return self.words.get(stem, "")

    def _strip_suffixes(self, word: str) -> list[tuple[str, Affix]]:
        candidates = []
        for length in range(min(self._longest, len(word) - 1) + 1):
            for affix in self.suffixes.get(word[len(word) - length :], ()):
                stem = word[: len(word) - length] + affix.strip
                if stem in self.words and affix.fits.search(stem):
                    candidates.append((stem, affix))
        return candidates

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


@lru_cache(maxsize=1)
def _folder() -> Path | None:
    package = find_spec("wordfreq")
    return None if package is None or package.origin is None else Path(package.origin).parent / "data"


def _find_list(language: str) -> Path | None:
    """The longest list of a language."""
    folder = _folder()
    if folder is None or not language.isalpha():
        return None
    files = (folder / f"{size}_{language}.msgpack.gz" for size in ("large", "small"))
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
    header, *ranks = msgpack.unpackb(gzip.decompress(file.read_bytes()), raw=False)
    if header != _FORMAT:
        return _read_with_wordfreq(language)
    # Within a rank words are in alphabetical order, and each occurs once.
    return {word: round(ZIPF_OF_CERTAINTY - rank / 100, 2) for rank, words in enumerate(ranks) for word in words}


def _read_with_wordfreq(language: str) -> dict[str, float]:
    """The slow way, should the format ever change."""
    import math

    from wordfreq import get_frequency_dict

    frequencies = get_frequency_dict(language, wordlist="best")
    return {word: math.log10(frequency) + ZIPF_OF_CERTAINTY for word, frequency in frequencies.items()}
