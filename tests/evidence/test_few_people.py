"""With few people the standard error changes from look to look: boundaries must allow for that."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri, stdtr, stdtrit
from scipy.stats import binom, norm, t

from adjudge.evidence.boundaries import Spending, boundaries, few_people_power, spent

CAMPAIGNS = 20_000


def scores_of_people(people: int, looks: int, seed: int) -> np.ndarray:
    """|z| of equal systems at every look, from t over people with tastes of their own: (campaigns, looks)."""
    rng = np.random.default_rng(seed)
    times = np.arange(1, looks + 1)
    z = []
    for _ in range(CAMPAIGNS // 1000):
        noise = rng.normal(0, np.sqrt(1.8 * looks), (1000, looks, people)).cumsum(axis=1) / times[None, :, None]
        liked = noise + rng.normal(0, 1, (1000, 1, people))
        statistic = liked.mean(axis=2) / (liked.std(axis=2, ddof=1) / np.sqrt(people))
        z.append(-ndtri(stdtr(people - 1, -np.abs(statistic))))
    return np.concatenate(z)


def bounds_for(people: int, looks: int, spending: Spending, *, rough: bool) -> np.ndarray:
    information = 1 / (1 + 1.8 * looks / np.arange(1, looks + 1))
    levels = [spent(spending, 0.025, number / looks) for number in range(1, looks + 1)]
    bounds = []
    for number in range(1, looks + 1):
        power = few_people_power(people - 1, levels[number - 1]) if rough else 1.0
        ratios = (information[:number] / information[number - 1]) ** power
        bounds.append(boundaries(ratios.tolist(), levels[:number])[-1])
    return np.array(bounds)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("people", "looks", "spending"),
    [(3, 5, "kim-demets"), (5, 20, "kim-demets"), (5, 20, "obrien-fleming"), (10, 20, "pocock")],
)
def test_the_level_holds_for_few_people(people: int, looks: int, spending: Spending) -> None:
    """At most 5.3% of 20,000 campaigns, within four standard errors; without the correction it is 6 to 7% and more."""
    z = scores_of_people(people, looks, seed=people + looks)
    wrong = int((z >= bounds_for(people, looks, spending, rough=True)).any(axis=1).sum())
    assert wrong <= binom.isf(3e-5, CAMPAIGNS, 0.053)
    before = int((z >= bounds_for(people, looks, spending, rough=False)).any(axis=1).sum())
    assert before > binom.isf(3e-5, CAMPAIGNS, 0.05)


@pytest.mark.parametrize(("df", "tail"), [(2.0, 0.025), (4.0, 0.001), (9.5, 1e-6), (200.0, 0.01)])
def test_the_formula_in_plain_terms(df: float, tail: float) -> None:
    """The same by SciPy's densities."""
    quantile, z = -stdtrit(df, tail), -ndtri(tail)
    slope = t.pdf(quantile, df) / norm.pdf(z)
    expected = slope**2 * (1 + quantile**2 / df) * (df + quantile**2) / (df - 1)
    assert few_people_power(df, tail) == pytest.approx(min(expected, 1e4), rel=1e-6)


def test_many_people_need_no_correction() -> None:
    assert few_people_power(np.inf, 0.025) == 1.0
    assert few_people_power(1e6, 0.025) == pytest.approx(1.0, abs=1e-4)
    assert few_people_power(1.0, 0.025) == 1e4
    assert few_people_power(5.0, 0.0) == 1.0
