"""What looks save, against what is promised and against simulated walks (two-sided .05, power .90)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from adjudge.evidence.boundaries import SPENDING, Spending, boundaries, spent
from adjudge.planning.search import saving


def test_five_looks_save_a_quarter_and_nearly_half() -> None:
    savings = saving(5)
    assert savings.largest <= 1.04
    assert savings.planned <= 0.75
    assert savings.larger <= 0.55


# The R package rpact 3.3.4: getDesignCharacteristics(getDesignGroupSequential(kMax = K, alpha = .025, sided = 1,
# beta = .1, typeOfDesign = "asOF")), and "asP", and "asKD" with gammaA = 3: inflationFactor, averageSampleNumber1.
OTHER_PROGRAM: list[tuple[Spending, int, float, float]] = [
    ("obrien-fleming", 3, 1.0118528, 0.8114721),
    ("obrien-fleming", 5, 1.0230783, 0.7586671),
    ("obrien-fleming", 10, 1.0354853, 0.7222794),
    ("pocock", 5, 1.1923317, 0.6840168),
    ("pocock", 10, 1.2239244, 0.6597774),
    ("kim-demets", 3, 1.0184002, 0.7819613),
    ("kim-demets", 5, 1.0297170, 0.7327660),
    ("kim-demets", 10, 1.0419857, 0.6978125),
]


@pytest.mark.parametrize(("spending", "looks", "largest", "planned"), OTHER_PROGRAM)
def test_savings_are_those_of_another_program(spending: Spending, looks: int, largest: float, planned: float) -> None:
    savings = saving(looks, spending=spending)
    assert (savings.largest, savings.planned) == pytest.approx((largest, planned), abs=2e-4)


@pytest.mark.parametrize("spending", SPENDING)
def test_savings_agree_with_simulated_walks(spending: Spending) -> None:
    """20,000 random walks at the planned difference: the mean share of judgments within 4 standard errors."""
    times = np.arange(1, 6) / 5
    savings = saving(5, spending=spending)
    bounds = boundaries(times.tolist(), [spent(spending, 0.025, time) for time in times])
    drift = np.sqrt(savings.largest) * (norm.isf(0.025) + norm.isf(0.1))
    walks = np.random.default_rng(2).normal(drift / 5, np.sqrt(1 / 5), (20_000, 5)).cumsum(1) / np.sqrt(times)
    crossed = np.abs(walks) >= bounds
    assert crossed.any(1).mean() == pytest.approx(0.9, abs=4 * np.sqrt(0.09 / 20_000))
    share = savings.largest * times[np.where(crossed.any(1), crossed.argmax(1), 4)]
    assert share.mean() == pytest.approx(savings.planned, abs=4 * share.std() / np.sqrt(20_000))


def test_one_look_saves_nothing() -> None:
    savings = saving(1)
    assert (savings.largest, savings.planned, savings.larger) == pytest.approx((1.0, 1.0, 1.0), abs=1e-6)
