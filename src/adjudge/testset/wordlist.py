"""Frequency lists of words, read from the files that come with wordfreq.

The package itself is not imported: that takes longer than the list, and nothing of it is needed but the file. The
format is documented there (cBpack): packed lists of words, the place of a list says how frequent its words are, in
hundredths of a power of ten.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

_FORMAT = {"format": "cB", "version": 1}
ZIPF_OF_CERTAINTY = 9.0
"""The Zipf scale is the logarithm of occurrences in a billion words: a word that is all words stands at 9."""


@lru_cache(maxsize=1)
def _folder() -> Path | None:
    package = find_spec("wordfreq")
    return None if package is None or package.origin is None else Path(package.origin).parent / "data"


def _file(language: str) -> Path | None:
    """The longest list of a language."""
    folder = _folder()
    if folder is None or not language.isalpha():
        return None
    files = (folder / f"{size}_{language}.msgpack.gz" for size in ("large", "small"))
    return next((file for file in files if file.exists()), None)


def has_list(language: str) -> bool:
    """Whether there is a list of the language."""
    return _file(language) is not None


def read_list(language: str) -> dict[str, float]:
    """The words of a language with their frequencies on the Zipf scale, most frequent first."""
    import gzip

    import msgpack  # type: ignore[import-untyped]

    file = _file(language)
    if file is None:
        return {}
    header, *ranks = msgpack.unpackb(gzip.decompress(file.read_bytes()), raw=False)
    if header != _FORMAT:
        return _from_package(language)
    # Within a rank words stand in order of the alphabet, and each once.
    return {word: zipf for rank, words in enumerate(ranks) for zipf in (_zipf(rank),) for word in words}


def _zipf(rank: int) -> float:
    return round(ZIPF_OF_CERTAINTY - rank / 100, 2)


def _from_package(language: str) -> dict[str, float]:
    """The slow way, should the format ever change."""
    import math

    from wordfreq import get_frequency_dict

    frequencies = get_frequency_dict(language, wordlist="best")
    return {word: math.log10(frequency) + ZIPF_OF_CERTAINTY for word, frequency in frequencies.items()}
