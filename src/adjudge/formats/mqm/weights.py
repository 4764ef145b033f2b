"""What an error costs in MQM: the weights of the workshops' rankings, and the score of a judgment from its errors.

minor 1 (punctuation 0.1), major and critical 5, non-translation 25, neutral errors, errors of the source and creative
reinterpretations 0. Categories are written in several ways: `Non-translation!`, `non_translation`. A score is the sum
of the costs below zero, so that more is better, as everywhere else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Weights:
    """What errors cost; as the workshops have it where nothing else is said."""

    minor: float = 1.0
    punctuation: float = 0.1
    major: float = 5.0
    critical: float = 5.0
    non_translation: float = 25.0


WORKSHOPS = Weights()
NO_ERROR = ("no-error", "no error")
_FREE = (*NO_ERROR, "neutral", "undecided")
_FREE_CATEGORY = re.compile(r"^source\b|reinterpretation")
_WORDS_APART = re.compile(r"[\s_]+")


def plain(label: str | None) -> str:
    """A severity or category in small letters, with blanks for underscores."""
    return _WORDS_APART.sub(" ", label or "").strip().casefold()


def weight(severity: str, category: str | None, weights: Weights = WORKSHOPS) -> float | None:
    """What an error of this severity and category costs; None where the severity is not known."""
    how_bad, what = plain(severity), plain(category)
    if how_bad in _FREE or _FREE_CATEGORY.search(what):
        return 0.0
    if re.match(r"non.translation", what):
        return weights.non_translation
    if how_bad == "trivial" or (how_bad == "minor" and "punctuation" in what):
        return weights.punctuation
    return {"minor": weights.minor, "major": weights.major, "critical": weights.critical}.get(how_bad)


def score(weights: list[float]) -> float:
    """The score of a judgment whose errors have these weights; tenths add up to tenths."""
    return round(0.0 - sum(weights), 9) + 0.0
