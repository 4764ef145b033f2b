"""Names of simulated things, and source texts: words of no language, sentences of the lengths that news has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def numbered(what: str, count: int) -> list[str]:
    """Names that sort as they count: `system-01`, `system-02`, ..."""
    width = max(2, len(str(count)))
    return [f"{what}-{i:0{width}d}" for i in range(1, count + 1)]


def human_names(count: int) -> list[str]:
    """`human-A`, `human-B`, ...: names that are recognised as human translations."""
    letters = [chr(ord("A") + i) for i in range(26)]
    return [f"human-{letters[i] if i < len(letters) else i}" for i in range(count)]


USUAL_LENGTH = 18
_FIRST = ("b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z")
_SECOND = ("a", "e", "i", "o", "u")
_SPREAD_OF_LENGTH = 0.55


def draw_texts(count: int, rng: np.random.Generator) -> tuple[str, ...]:
    """One sentence per segment; lengths in words are log-normal around `USUAL_LENGTH`, at least 3."""
    lengths = np.maximum(3, np.exp(rng.normal(np.log(USUAL_LENGTH), _SPREAD_OF_LENGTH, count)).round().astype(int))
    words = _words(int(lengths.sum()), rng)
    ends = np.cumsum(lengths)
    return tuple(
        " ".join(words[end - length : end]).capitalize() + "." for length, end in zip(lengths, ends, strict=True)
    )


def _words(count: int, rng: np.random.Generator) -> NDArray[np.str_]:
    """Words of one to four syllables from a vocabulary of their own."""
    syllables = np.array([first + second for first in _FIRST for second in _SECOND])
    vocabulary = ["".join(rng.choice(syllables, size=rng.integers(1, 5))) for _ in range(400)]
    return rng.choice(np.array(vocabulary), size=count)
