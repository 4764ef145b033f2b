"""Documents as points, and groups of them.

Points are weights of words (TF-IDF), reduced to the main directions of their variation (LSA). Topics are groups of
points (k-means); two sets of documents are compared by their energy distance (permutation test).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import regex

from adjudge.core.rng import generator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.core.arrays import Bools, Floats, Ints


_WORD = regex.compile(r"\p{L}{3,}")
TOO_COMMON = 0.4
"""Words in more documents than this share say nothing of a topic."""
DIMENSIONS = 50
NO_LENGTH = 1e-9
"""Documents have length 1 before they are reduced; a length below this is rounding error."""
_CHUNK = 200


@dataclass(frozen=True, eq=False)
class Space:
    """`points` are documents by dimensions, of length 1; `weights` documents by words, of length 1, sparse."""

    words: tuple[str, ...]
    weights: Any
    points: Floats

    def terms_of(self, chosen: Bools, number: int) -> tuple[str, ...]:
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
    return Space(tuple(words), weights, _reduce(weights, seed))


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


def _reduce(weights: Any, seed: int) -> Floats:
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


def energy_test(points: Floats, first: Bools, *, permutations: int, seed: int) -> tuple[float, float]:
    """The energy distance of the marked points to the others, and the share of permutations with one as large."""
    distances = _distances(points)
    observed = float(_energy(distances, first[None, :].astype(np.float64))[0])
    random = generator(seed, 73)
    larger = 0
    for start in range(0, permutations, _CHUNK):
        size = min(_CHUNK, permutations - start)
        marked = random.permuted(np.tile(first.astype(np.float64), (size, 1)), axis=1)
        larger += int((_energy(distances, marked) >= observed - 1e-12).sum())
    return observed, (1 + larger) / (1 + permutations)


def _distances(points: Floats) -> Floats:
    squares = (points**2).sum(axis=1)
    between: Floats = np.sqrt(np.maximum(squares[:, None] + squares[None, :] - 2 * points @ points.T, 0.0))
    return between


def _energy(distances: Floats, marked: Floats) -> Floats:
    """2 E|X - Y| - E|X - X'| - E|Y - Y'|, for every row of marks."""
    others = 1 - marked
    x, y = marked.sum(axis=1), others.sum(axis=1)
    to_marked = marked @ distances
    between = (to_marked * others).sum(axis=1) / (x * y)
    within_x = (to_marked * marked).sum(axis=1) / x**2
    within_y = ((others @ distances) * others).sum(axis=1) / y**2
    return np.asarray(2 * between - within_x - within_y, dtype=np.float64)


STARTS = 10
STEPS = 50


def group(points: Floats, number: int, seed: int) -> Ints:
    """The group of every point: the best of several starts."""
    random = generator(seed, 74)
    best: tuple[float, Ints] | None = None
    for _ in range(STARTS):
        spread, member = _cluster_once(points, number, random)
        if best is None or spread < best[0]:
            best = spread, member
    assert best is not None
    return best[1]


def _cluster_once(points: Floats, number: int, random: np.random.Generator) -> tuple[float, Ints]:
    centres = points[random.choice(len(points), number, replace=False)]
    member = np.zeros(len(points), dtype=np.int64)
    spread = np.inf
    for _ in range(STEPS):
        squares = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        member = squares.argmin(axis=1)
        now = float(squares[np.arange(len(points)), member].sum())
        if now >= spread - 1e-9:
            break
        spread = now
        centres = np.array(
            [points[member == i].mean(axis=0) if (member == i).any() else centres[i] for i in range(number)]
        )
    return spread, member
