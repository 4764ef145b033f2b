"""What goals take by policy and looks, against exact savings of one comparison; and what choosing segments takes."""

from __future__ import annotations

import numpy as np
import pytest

from adjudge.planning.search import Noise, goals_for, plan_goals, plan_selection, saving
from adjudge.planning.settings import PlanGoal, PlanSettings
from adjudge.table.errors import DataError, UsageError


def rows_for(systems: int, noise: Noise, difference: float) -> dict[tuple[str, str, int], PlanGoal]:
    settings = PlanSettings(systems=systems, difference=difference, power=0.9)
    return {(row.goal, row.policy, row.looks): row for row in plan_goals(settings, noise, 1000)}


def test_two_systems_agree_with_the_exact_savings() -> None:
    """One pair without tastes: a fixed campaign needs (1.96 + 1.28)^2 variances over the squared difference."""
    rows = rows_for(2, Noise(0.0, 1.0), 3.0)
    fixed, looked, exact = rows["pairs", "even", 1], rows["pairs", "even", 5], saving(5)
    assert fixed.largest is not None
    assert looked.largest is not None
    assert looked.expected is not None
    assert looked.expected_larger is not None
    # Of 600 campaigns, a power of .9 is known to .012, which moves the size by about 4%.
    assert fixed.largest == pytest.approx(1000 * 2 * 3.2415**2 / 9, rel=0.12)
    assert looked.largest / fixed.largest == pytest.approx(exact.largest, abs=0.06)
    assert looked.expected / fixed.largest == pytest.approx(exact.planned, abs=0.06)
    assert looked.expected_larger / fixed.largest == pytest.approx(exact.larger, abs=0.06)


@pytest.mark.slow
def test_a_policy_reaches_its_goal_with_fewer_judgments() -> None:
    rows = rows_for(8, Noise(0.05, 1.0), 4.0)
    for goal in goals_for(8):
        even, own = rows[str(goal), "even", 5], rows[str(goal), str(goal), 5]
        assert own.largest is not None
        assert even.largest is not None
        assert own.largest < 0.95 * even.largest
        assert own.expected is not None
        assert own.expected_none is not None
        assert own.expected < own.expected_none <= own.largest
    best = rows["best", "best", 5].expected
    pairs = rows["pairs", "even", 1].expected
    assert best is not None
    assert pairs is not None
    assert best < pairs


def test_what_tastes_forbid_has_no_size() -> None:
    row = rows_for(3, Noise(5.0, 1.0), 2.0)["best", "even", 5]
    assert row.largest is None
    assert row.expected is None


def test_choosing_segments_lies_between_gain_and_loss() -> None:
    equal = plan_selection(1000, np.ones(50))
    assert (equal.expected, equal.largest, equal.spread_cv) == (1000, 1000, 0.0)
    # Half of the segments have no spread: q is .2 there and 1.8 elsewhere, so that both means can be had by hand.
    half = plan_selection(1000, np.repeat([0.0, 2.0], 25))
    assert half.expected == pytest.approx(1000 * (4 / 1.8 / 2) / 2, abs=1)
    assert half.largest == pytest.approx(1000 * (5 + 1 / 1.8) / 2, abs=1)
    assumed = plan_selection(1000)
    assert assumed.assumed
    assert assumed.expected < 1000 < assumed.largest
    with pytest.raises(DataError, match="all 0"):
        plan_selection(1000, np.zeros(4))


def test_looks_are_checked() -> None:
    with pytest.raises(UsageError, match="'looks' is 0"):
        PlanSettings(looks=0)
