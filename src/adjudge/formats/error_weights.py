"""What an error costs in MQM: the weights of the workshops' rankings, and the score of a judgment from its errors.

minor 1 (punctuation 0.1), major and critical 5, non-translation 25, neutral errors and errors of the source 0. A score
is the sum of the costs below zero, so that more is better, as everywhere else.
"""

from __future__ import annotations

MINOR, PUNCTUATION, MAJOR, NON_TRANSLATION = 1.0, 0.1, 5.0, 25.0
_FREE = ("no-error", "no error", "neutral", "undecided")


def weight(severity: str, category: str | None) -> float | None:
    """What an error of this severity and category costs; None where the severity is not known."""
    how_bad = severity.strip().casefold()
    what = (category or "").strip().casefold()
    if how_bad in _FREE or what.startswith(("source error", "source issue")):
        return 0.0
    if what.startswith("non-translation"):
        return NON_TRANSLATION
    if how_bad == "minor":
        return PUNCTUATION if what.endswith("punctuation") else MINOR
    return MAJOR if how_bad in ("major", "critical") else None


def score(weights: list[float]) -> float:
    """The score of a judgment whose errors have these weights; tenths add up to tenths."""
    return round(0.0 - sum(weights), 9) + 0.0
