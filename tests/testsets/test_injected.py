"""Errors put into clean text one at a time: how many are found, and how quiet clean text is.

The floors are what a good implementation reaches (see `bench/bench_testset.py`, which prints the figures).
"""

from __future__ import annotations

import pytest
from bench.bench_testset import look, outcome

from tests.helpers.inject import Injected, clean_lines, injected

LINES = clean_lines()
ERRORS = injected(LINES, most=60)
BEFORE = {(finding.line, finding.category, finding.what) for finding in look("\n".join(LINES))}
RECALL = {
    "end quote": 0.96,
    "opening quote": 0.95,
    "period": 0.98,
    "one-letter typo": 0.9,
    "dropped space": 0.75,
    "apostrophe turned quote": 0.9,
    "mojibake": 1.0,
}


@pytest.mark.parametrize("kind", RECALL)
def test_errors_are_found(kind: str) -> None:
    errors: list[Injected] = ERRORS[kind]
    outcomes = [outcome(error, BEFORE) for error in errors]
    hits, beside = sum(hit for hit, _ in outcomes), sum(others for _, others in outcomes)
    assert len(errors) >= 25
    assert hits / len(errors) >= RECALL[kind]
    assert hits / (hits + beside) >= 0.9


def test_clean_text_is_quiet() -> None:
    """At most 6% of segments; here only long quotations that open anew in each paragraph."""
    segments = sum(bool(line) for line in LINES)
    assert segments == 185
    assert len({line for line, _, _ in BEFORE}) <= 0.02 * segments
    assert all("convention" in what for _, _, what in BEFORE)
