"""Estimates after stopping, and confidence sequences: against hand-made cases and simulated paths."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from adjudge.evidence.boundaries import boundaries, mixture_bound, mixture_share, spent
from adjudge.evidence.look_claims import Path, final_estimate

TIMES = (0.2, 0.4, 0.6, 0.8, 1.0)
BOUNDS = tuple(boundaries(TIMES, [spent("obrien-fleming", 0.025, time) for time in TIMES]))


def test_one_look_gives_the_usual_interval() -> None:
    estimate, interval = final_estimate(Path((4.0,), (), 2.0))
    assert estimate == pytest.approx(1.0, abs=1e-6)
    assert interval == pytest.approx((1 - norm.isf(0.025) / 2, 1 + norm.isf(0.025) / 2), abs=1e-6)


def test_an_early_stop_is_shrunk_and_the_other_direction_mirrors_it() -> None:
    path = Path(TIMES[:3], BOUNDS[:2], 2.8)
    estimate, (low, high) = final_estimate(path)
    mirrored, interval = final_estimate(Path(TIMES[:3], BOUNDS[:2], -2.8))
    assert estimate < 2.8 / np.sqrt(0.6)
    assert mirrored == pytest.approx(-estimate)
    assert interval == pytest.approx((-high, -low))


@pytest.mark.parametrize("z", [9.0, 25.0, 40.0])
def test_a_statistic_that_leaps_has_an_estimate_too(z: float) -> None:
    """In the order by stage, an outcome of the second look says little more than that the first bound was not reached.

    It was not reached with the probability .025 where the true mean of Z at the first look lies 1.96 above it.
    """
    times, bound = (0.5, 1.0), 2.8
    estimate, (low, high) = final_estimate(Path(times, (bound,), z))
    assert low < estimate < high
    assert (low, high) == pytest.approx(((bound - 1.96) / np.sqrt(0.5), (bound + 1.96) / np.sqrt(0.5)), abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("true", [0.0, 2.5])
def test_coverage_and_median_after_stopping(true: float) -> None:
    """Of 200 paths, 95% of the intervals hold the truth and half of the estimates are too large, within 4 errors."""
    rng = np.random.default_rng(11)
    inside, above = [], []
    for _ in range(200):
        walk = np.cumsum(rng.normal(true * 0.2, np.sqrt(0.2), 5)) / np.sqrt(TIMES)
        last = next((look for look in range(5) if abs(walk[look]) >= BOUNDS[look]), 4)
        estimate, (low, high) = final_estimate(Path(TIMES[: last + 1], BOUNDS[:last], float(walk[last])))
        inside.append(low <= true <= high)
        above.append(estimate > true)
    assert abs(np.mean(inside) - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 200)
    assert abs(np.mean(above) - 0.5) < 4 * np.sqrt(0.25 / 200)


def test_the_price_of_looking_at_any_time() -> None:
    """1.55 times the interval for one look, as measured for the normal mixture (Robbins 1970) at level .05."""
    assert mixture_bound(1.0, 0.05, mixture_share(0.05)) / 1.959964 == pytest.approx(1.55, abs=0.005)


def test_anytime_bounds_hold_at_every_time() -> None:
    """2,000 random walks of 400 steps: at most 5% ever leave the bound, within 4 standard errors."""
    fractions = np.arange(1, 401) / 400
    share = mixture_share(0.05)
    bounds = np.array([mixture_bound(fraction, 0.05, share) for fraction in fractions])
    walks = np.random.default_rng(3).normal(0, np.sqrt(1 / 400), (2000, 400)).cumsum(1) / np.sqrt(fractions)
    left = np.mean((np.abs(walks) >= bounds).any(1))
    assert left < 0.05 + 4 * np.sqrt(0.05 * 0.95 / 2000)
    assert left > 0.01
