"""Simulated campaigns with helpers: differences stay unbiased, and errors say what they promise.

`python -m bench helpers` prints the same with more campaigns and for more kinds of helpers; `docs/helpers.md` has its
figures. Tolerances are about four Monte-Carlo standard errors, so that a right method fails once in ten thousand runs.
"""

from __future__ import annotations

import numpy as np
import pytest
from bench.bench_helpers import Campaign, Outcome, outcome

RUNS = 60


def outcomes(case: Campaign) -> list[Outcome]:
    return [outcome(case, number) for number in range(RUNS)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("helper", "least", "most"),
    [("good", 1.15, 1.8), ("lover", 1.1, 1.8), ("useless", 0.97, 1.02), ("bent", 1.0, 1.4)],
)
def test_differences_are_unbiased_and_intervals_cover_them(helper: str, least: float, most: float) -> None:
    found = outcomes(Campaign(helper=helper))
    errors = np.array([each.error[1] for each in found])
    for pair in errors.T:
        assert abs(pair.mean()) < 4 * pair.std() / np.sqrt(RUNS)
    covered = np.array([each.covered[1] for each in found])
    assert covered.mean() > 0.95 - 4 * max(float(covered.std()), 0.08) / np.sqrt(RUNS)
    estimated = float(np.mean([each.gain for each in found]))
    assert least < estimated < most
    squares = [np.mean([each.error[i] ** 2 for each in found]) for i in (0, 1)]
    # The errors really get smaller, or at least no larger.
    assert squares[0] / squares[1] > least - 0.1


@pytest.mark.slow
@pytest.mark.parametrize("helper", ["lover", "several"])
def test_equal_systems_are_rarely_called_different(helper: str) -> None:
    """At most 5% of campaigns; more than 9 of 60 happen once in 2,000 runs then."""
    equal = (0.0, 0.0, 0.0, 0.0)
    alarms = sum(each.alarm[1] for each in outcomes(Campaign(helper=helper, quality=equal, model="mixed")))
    assert alarms <= 9


@pytest.mark.slow
def test_few_documents_do_not_make_errors_too_small() -> None:
    found = outcomes(Campaign(documents=30, judged=3, length=10))
    assert np.mean([each.covered[1] for each in found]) > 0.9
