"""Boundaries against another program, an independent simulation, and direct integrals over all looks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal, norm

from adjudge.evidence.boundaries import SPENDING, Spending, boundaries, crossing, spent
from tests.conftest import examples

# Constants and boundaries below were computed with the R package rpact 3.3.4, which has code of its own:
#   getDesignGroupSequential(kMax = K, alpha = .05, sided = 2, typeOfDesign = "P")$criticalValues[1], and "OF", [K]
#   getDesignGroupSequential(informationRates = t, alpha = a, sided = 1, typeOfDesign = "asOF")$criticalValues, and
#   "asP", and "asKD" with gammaA = 3.
# To three digits they are the constants of Jennison and Turnbull (2000), Tables 2.1 and 2.3.
POCOCK = [(2, 2.1782721), (3, 2.2894781), (5, 2.4131762), (10, 2.5550128), (20, 2.6719678)]
OBRIEN_FLEMING = [(2, 1.977431), (3, 2.0040356), (5, 2.0400732), (10, 2.0865022), (20, 2.1256516)]


@pytest.mark.parametrize(("looks", "constant"), POCOCK)
def test_pocock_constants_keep_the_level(looks: int, constant: float) -> None:
    above, below = crossing(range(1, looks + 1), [constant] * looks, [-constant] * looks)
    assert above.sum() + below.sum() == pytest.approx(0.05, abs=1e-6)


@pytest.mark.parametrize(("looks", "constant"), OBRIEN_FLEMING)
def test_obrien_fleming_constants_keep_the_level(looks: int, constant: float) -> None:
    bounds = [constant * np.sqrt(looks / look) for look in range(1, looks + 1)]
    above, below = crossing(range(1, looks + 1), bounds, [-bound for bound in bounds])
    assert above.sum() + below.sum() == pytest.approx(0.05, abs=1e-6)


@pytest.mark.parametrize("looks", [2, 3, 4])
def test_constants_agree_with_a_multivariate_normal_integral(looks: int) -> None:
    """SciPy integrates over all looks at once by the method of Genz, without any recursion."""
    times = np.arange(1, looks + 1)
    correlation = np.sqrt(np.minimum.outer(times, times) / np.maximum.outer(times, times))
    joint = multivariate_normal(np.zeros(looks), correlation, seed=1, maxpts=500_000, abseps=1e-5)
    bounds = np.linspace(2.6, 2.1, looks)
    above, below = crossing(times.astype(float), bounds.tolist(), (-bounds).tolist())
    assert above.sum() + below.sum() == pytest.approx(1 - joint.cdf(bounds, lower_limit=-bounds), abs=5e-5)


FIVE = (0.2, 0.4, 0.6, 0.8, 1.0)
PUBLISHED: list[tuple[Spending, float, tuple[float, ...], tuple[float, ...]]] = [
    ("obrien-fleming", 0.025, FIVE, (4.8768849, 3.3570119, 2.6802801, 2.2898168, 2.0310321)),
    ("pocock", 0.025, FIVE, (2.4379767, 2.4268139, 2.4101941, 2.3966493, 2.3859997)),
    ("kim-demets", 0.025, FIVE, (3.5400838, 2.9743106, 2.6045142, 2.3063568, 2.0454799)),
    ("kim-demets", 0.0042, (0.1, 0.35, 0.5, 1.0), (4.4547270, 3.5732281, 3.3426005, 2.6626656)),
]


@pytest.mark.parametrize(("spending", "level", "times", "expected"), PUBLISHED)
def test_spending_boundaries_are_those_of_another_program(
    spending: Spending, level: float, times: tuple[float, ...], expected: tuple[float, ...]
) -> None:
    bounds = boundaries(times, [spent(spending, level, time) for time in times])
    assert bounds == pytest.approx(expected, abs=2e-5)


def test_two_looks_agree_with_the_bivariate_normal_integral() -> None:
    bounds = boundaries([0.3, 1.0], [0.01, 0.025])
    correlation = np.sqrt(0.3)
    both = multivariate_normal([0, 0], [[1, correlation], [correlation, 1]])
    assert 1 - both.cdf(bounds) == pytest.approx(0.025, abs=1e-5)
    assert bounds[0] == pytest.approx(norm.isf(0.01), abs=1e-9)


def test_crossings_agree_with_simulated_paths() -> None:
    """20,000 random walks with a drift; the shares that cross at each look lie within four standard errors."""
    times = np.array([0.15, 0.4, 0.75, 1.0])
    upper, lower, drift = [2.6, 2.4, 2.2, 2.0], [-2.6, -2.4, -2.2, -2.0], 1.5
    above, below = crossing(times, upper, lower, drift=drift)
    steps = np.diff(times, prepend=0.0)
    walks = np.random.default_rng(5).normal(drift * steps, np.sqrt(steps), (20_000, 4)).cumsum(1) / np.sqrt(times)
    outside = np.where(walks >= upper, 1, np.where(walks <= lower, -1, 0))
    first = np.where((outside != 0).any(1), (outside != 0).argmax(1), 4)
    for look in range(4):
        for sign, probability in ((1, above[look]), (-1, below[look])):
            share = np.mean((first == look) & (outside[:, min(look, 3)] == sign))
            assert abs(share - probability) < 4 * np.sqrt(probability * (1 - probability) / 20_000) + 1e-4


@settings(max_examples=examples(30))
@given(
    st.lists(st.floats(0.01, 1.0), min_size=1, max_size=6, unique=True),
    st.sampled_from(SPENDING),
    st.floats(1e-4, 0.2),
)
def test_the_level_is_spent_exactly(times: list[float], spending: Spending, level: float) -> None:
    ordered = sorted(times)
    levels = [spent(spending, level, time) for time in ordered]
    # Looks that are closer than the smallest step are taken as further apart: keep them distinct here.
    kept = [i for i in range(len(ordered)) if i == 0 or ordered[i] - ordered[i - 1] > 0.02 * ordered[i]]
    ordered, levels = [ordered[i] for i in kept], [levels[i] for i in kept]
    bounds = boundaries(ordered, levels)
    above, _ = crossing(ordered, bounds, [-np.inf] * len(bounds))
    assert above.sum() == pytest.approx(levels[-1], rel=1e-3, abs=1e-9)


@given(st.floats(0.001, 0.2), st.sampled_from(SPENDING))
def test_spending_grows_from_nothing_to_the_level(level: float, spending: Spending) -> None:
    shares = [spent(spending, level, fraction) for fraction in (0.0, 0.1, 0.5, 0.9, 1.0, 2.0)]
    assert shares[0] == 0.0
    assert shares == sorted(shares)
    assert shares[-2] == shares[-1] == level


def test_looks_that_bring_no_information_widen_the_boundary_only() -> None:
    wide = boundaries([0.5, 0.5, 1.0], [0.01, 0.012, 0.025])
    narrow = boundaries([0.5, 1.0], [0.012, 0.025])
    assert wide[0] == pytest.approx(norm.isf(0.01), abs=1e-9)
    assert wide[-1] >= narrow[-1] - 1e-3
    assert all(np.isfinite(wide))


@pytest.mark.parametrize("information", [[1e-12, 1e-12, 1.0], [0.0, 0.0, 1.0], [5.0, 2.0, 1.0]])
def test_odd_information_gives_boundaries_all_the_same(information: list[float]) -> None:
    """Few annotators make standard errors jump: information may be nearly nothing, or fall."""
    bounds = boundaries(information, [0.005, 0.01, 0.025])
    assert np.isfinite(bounds).all()
    # No boundary lies inside that of the whole level spent until then.
    assert all(bound >= norm.isf(level) - 1e-6 for bound, level in zip(bounds, [0.005, 0.01, 0.025], strict=True))
