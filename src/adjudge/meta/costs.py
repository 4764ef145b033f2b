"""What a gold standard costs: assessments at a price each, against post-editing by the word."""

from __future__ import annotations

from dataclasses import dataclass

from adjudge.core.errors import UsageError
from adjudge.results.qe import Costs


@dataclass(frozen=True)
class Prices:
    """Assessments needed and the price of one; the prices of a post-edited word; all in one currency."""

    assessments: int
    assessment: float
    word_low: float
    word_high: float


def costs(words: int, prices: Prices) -> Costs:
    """Both costs for a test set of so many words."""
    if min(prices.assessments, prices.assessment, prices.word_low, prices.word_high) <= 0:
        raise UsageError("prices and the number of assessments must be above 0")
    assessing = prices.assessments * prices.assessment
    return Costs(words, assessing, (words * prices.word_low, words * prices.word_high))
