"""Agreement between every two annotators, and of each with themselves, as matrices: products of sparse matrices.

All sums over pairs of annotators follow from these, also with annotators counted several times, which makes resampling
of annotators cheap: with w the times an annotator was drawn, a sum becomes w' M w.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from adjudge.check.annotations import CATEGORIES, TIE, Annotations
from adjudge.check.coefficients.chance import ratio
from adjudge.check.coefficients.fleiss import pairs_within

if TYPE_CHECKING:
    import scipy.sparse as sp
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class AnnotatorPairs:
    """Pairs of annotations by `first` and `second` (codes, first < second, or equal for intra)."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    pairs: NDArray[np.float64]
    agreeing: NDArray[np.float64]
    expected: NDArray[np.float64]
    """P(E) from the two annotators' own shares of ties."""

    def summed(self, values: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of one value per pair of annotators, for every row of weights (resamples x annotators).

        Copies of one annotator are not paired with each other: they would always agree.
        """
        if np.array_equal(self.first, self.second):
            return np.asarray(weights[:, self.first] @ values)
        from scipy.sparse import csr_array

        matrix = csr_array((values, (self.first, self.second)), shape=(weights.shape[1],) * 2)
        return np.asarray(((weights @ matrix) * weights).sum(1))


def chance_with_ties(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """P(E) of better/tie/worse between two who tie with these probabilities and else prefer either side alike."""
    return np.asarray(first * second + (1 - first) * (1 - second) / 2)


def between_annotators(annotations: Annotations) -> AnnotatorPairs:
    """All pairs of different annotators who share an item; an annotator's ties are those on the items they share."""
    from scipy.sparse import triu

    by_category = [annotations.matrix(annotations.counts[:, c]) for c in range(CATEGORIES)]
    both = annotations.matrix(annotations.counts.sum(1))
    pairs = triu(both.T @ both, k=1, format="coo")
    pairs.sum_duplicates()
    first, second = pairs.coords
    agreeing = sum((_entries(one.T @ one, first, second) for one in by_category), np.zeros(len(first)))
    tied = by_category[TIE].T @ both
    shared = pairs.data
    first_ties, second_ties = _entries(tied, first, second), _entries(tied, second, first)
    expected = chance_with_ties(ratio(first_ties, shared), ratio(second_ties, shared))
    return AnnotatorPairs(first.astype(np.int64), second.astype(np.int64), shared, agreeing, expected)


def _entries(matrix: sp.sparray, rows: NDArray[np.int32], columns: NDArray[np.int32]) -> NDArray[np.float64]:
    # Depending on what is asked, SciPy answers with a sparse or a plain array.
    found = matrix.tocsr()[rows, columns]
    return np.asarray(found.toarray() if hasattr(found, "toarray") else found, dtype=float).ravel()


def within_annotators(annotations: Annotations) -> AnnotatorPairs:
    """Every annotator who annotated an item twice; their ties are those of all their annotations."""
    pairs, agreeing = (annotations.per_annotator(number) for number in pairs_within(annotations.counts))
    ties = tie_shares(annotations)
    who = np.flatnonzero(pairs)
    return AnnotatorPairs(who, who, pairs[who], agreeing[who], chance_with_ties(ties[who], ties[who]))


def tie_shares(annotations: Annotations) -> NDArray[np.float64]:
    """Each annotator's share of ties; NaN for those without annotations."""
    return ratio(
        annotations.per_annotator(annotations.counts[:, TIE]), annotations.per_annotator(annotations.counts.sum(1))
    )
