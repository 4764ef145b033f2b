"""Documents as points: weights of words (TF-IDF), and the main directions of their variation (LSA)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import regex

from adjudge.core.rng import generator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_WORD = regex.compile(r"\p{L}{3,}")
TOO_COMMON = 0.4
"""Words in more documents than this share say nothing of a topic."""
DIMENSIONS = 50
NO_LENGTH = 1e-9
"""Documents have length 1 before they are reduced; a length below this is rounding error."""


@dataclass(frozen=True, eq=False)
class Space:
    """`points` are documents by dimensions, of length 1; `weights` documents by words, of length 1, sparse."""

    words: tuple[str, ...]
    weights: Any
    points: NDArray[np.float64]

    def terms_of(self, chosen: NDArray[np.bool_], number: int) -> tuple[str, ...]:
        """The words that tell these documents from the others best."""
        inside = np.asarray(self.weights[chosen].mean(axis=0)).ravel()
        outside = np.asarray(self.weights[~chosen].mean(axis=0)).ravel() if (~chosen).any() else 0.0
        return tuple(self.words[i] for i in np.argsort(-(inside - outside), kind="stable")[:number])


def make_space(texts: Sequence[str], seed: int) -> Space:
    """The space of all texts together."""
    counted = [Counter(_WORD.findall(text.lower())) for text in texts]
    spread = Counter(word for counts in counted for word in counts)
    words = sorted(word for word, times in spread.items() if 1 < times <= max(2, TOO_COMMON * len(texts)))
    weights = _tf_idf(counted, words, spread)
    return Space(tuple(words), weights, _reduced(weights, seed))


def _tf_idf(counted: list[Counter[str]], words: list[str], spread: Counter[str]) -> Any:
    from scipy.sparse import csr_array

    code = {word: i for i, word in enumerate(words)}
    rarity = np.array([np.log((1 + len(counted)) / (1 + spread[word])) + 1 for word in words])
    rows, columns, values = [], [], []
    for row, counts in enumerate(counted):
        for word, times in counts.items():
            if word in code:
                rows.append(row)
                columns.append(code[word])
                values.append((1 + np.log(times)) * rarity[code[word]])
    table = csr_array((values, (rows, columns)), shape=(len(counted), max(1, len(words))), dtype=np.float64)
    lengths = np.sqrt(np.asarray(table.multiply(table).sum(axis=1)).ravel())
    return csr_array(table.multiply(1 / np.where(lengths > 0, lengths, 1)[:, None]))


def _reduced(weights: Any, seed: int) -> NDArray[np.float64]:
    """Latent semantic analysis: the largest singular vectors; documents are scaled to length 1 again."""
    from scipy.sparse.linalg import svds

    most = min(DIMENSIONS, min(weights.shape) - 1)
    if most < 1:
        return np.asarray(weights.todense(), dtype=np.float64)
    start = generator(seed, 72).standard_normal(min(weights.shape))
    left, values, _ = svds(weights, k=most, v0=start)
    points = left * values
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    # A document without any word of the space lies at the origin: what the decomposition leaves there is rounding
    # error, which must not be scaled up to a direction.
    known = lengths > NO_LENGTH
    return np.where(known, points / np.where(known, lengths, 1), 0.0)
