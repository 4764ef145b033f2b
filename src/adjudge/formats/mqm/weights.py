"""What an error costs in MQM: the weights of the workshops' rankings, and the score of a judgment from its errors.

minor 1 (punctuation 0.1), major and critical 5, non-translation 25, neutral errors, errors of the source and creative
reinterpretations 0. Categories are written in several ways: `Non-translation!`, `non_translation`. A score is the sum
of the costs below zero, so that more is better, as everywhere else.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from adjudge.core.errors import UsageError

if TYPE_CHECKING:
    from adjudge.core.spans import Span


@dataclass(frozen=True)
class Weights:
    """The costs of errors; by default those of the workshops."""

    minor: float = 1.0
    punctuation: float = 0.1
    major: float = 5.0
    critical: float = 5.0
    non_translation: float = 25.0
    source: bool = False
    """Whether errors of the source cost what their severity says; otherwise they cost nothing."""
    others: tuple[tuple[str, float], ...] = ()
    """Severities of a campaign's own, in small letters, and what they cost."""


WORKSHOPS = Weights()
NAMED: dict[str, Weights] = {"workshops": WORKSHOPS, "google": Weights(source=True)}
"""Weights by name. `google` are those of M. Freitag and others (2021), Experts, Errors, and Context: errors of the
source are no exception there."""
NO_ERROR = ("no-error", "no error")
_FREE = (*NO_ERROR, "neutral", "undecided")
_OF_SOURCE = re.compile(r"^source\b")
_FREE_CATEGORY = re.compile(r"reinterpretation")
_WORDS_APART = re.compile(r"[\s_]+")


def plain(label: str | None) -> str:
    """A severity or category in small letters, with blanks for underscores."""
    return _WORDS_APART.sub(" ", label or "").strip().casefold()


def weight(severity: str, category: str | None, weights: Weights = WORKSHOPS) -> float | None:
    """Return the cost of an error of this severity and category; None if the severity is not known."""
    severity, category = plain(severity), plain(category)
    if severity in _FREE or _FREE_CATEGORY.search(category) or (_OF_SOURCE.search(category) and not weights.source):
        return 0.0
    if re.match(r"non.translation", category):
        return weights.non_translation
    given = dict(weights.others)
    if severity in given:
        return given[severity]
    if severity == "trivial" or (severity == "minor" and "punctuation" in category):
        return weights.punctuation
    return {"minor": weights.minor, "major": weights.major, "critical": weights.critical}.get(severity)


def find_weights(text: str) -> Weights:
    """Weights by name, or stated as `minor=1,major=10`; what is not stated is as the workshops have it.

    A name that is none of the workshops' is a severity of the campaign's own.
    """
    if text in NAMED:
        return NAMED[text]
    numbers = [field.name for field in fields(Weights) if field.type == "float"]
    stated: dict[str, Any] = {}
    for part in text.split(","):
        name, _, value = (piece.strip() for piece in part.partition("="))
        try:
            stated[name] = float(value)
        except ValueError:
            stated[name] = math.nan
        if name in ("", "source", *_FREE) or not 0 <= stated[name] < math.inf:
            known = ", ".join(NAMED)
            raise UsageError(
                f"--mqm-weights '{text}' is neither a name ({known}) nor a list such as minor=1,major=5 "
                f"of {', '.join(numbers)}, or a severity of your own; correct it"
            )
    others = tuple((plain(name), stated.pop(name)) for name in list(stated) if name not in numbers)
    return replace(WORKSHOPS, **stated, others=others)


def score_spans(spans: list[Span]) -> float:
    """Score a judgment by its error spans, with the weights of the workshops."""
    return score([weight(span["severity"], span["category"]) or 0.0 for span in spans])


def score(weights: list[float]) -> float:
    """The score of a judgment whose errors have these weights, rounded so that 0.1 + 0.2 is 0.3."""
    return round(0.0 - sum(weights), 9) + 0.0
