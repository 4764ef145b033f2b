"""Differences and equivalence from estimates with a covariance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm, t

from adjudge.table.maths import contrasts, equivalence

EFFECTS = np.array([10.0, 7.0, 6.5, 1.0])
COVARIANCE = np.eye(4) * 0.5 + 3.0


def test_a_shared_part_of_the_covariance_cancels() -> None:
    compared = contrasts(EFFECTS, COVARIANCE)
    assert compared.se[0, 1] == pytest.approx(1.0)
    assert compared.two_sided[0, 1] == pytest.approx(2 * norm.sf(3.0))
    assert compared.greater[1, 0] == pytest.approx(norm.cdf(3.0))
    assert np.isnan(np.diag(compared.two_sided)).all()
    np.testing.assert_allclose(compared.difference, -compared.difference.T)


def test_few_degrees_of_freedom_widen_intervals() -> None:
    compared = contrasts(EFFECTS, COVARIANCE, np.full((4, 4), 5.0))
    low, high = compared.interval(0.05)
    assert high[0, 1] - low[0, 1] == pytest.approx(2 * t.isf(0.025, 5))
    assert compared.two_sided[0, 1] == pytest.approx(2 * t.sf(3.0, 5))


def test_equivalence_is_shown_by_the_interval_inside_the_margins() -> None:
    compared = contrasts(np.array([0.5, 0.0]), np.eye(2) * 0.02)
    shown = equivalence(compared, 0, 1, margin=1.0)
    assert shown.p == pytest.approx(norm.sf(2.5))
    assert -1 < shown.low < shown.high < 1
    assert equivalence(compared, 0, 1, margin=0.6).p > 0.05
    # A difference that is far from significant is no parity where the errors are wide.
    wide = equivalence(contrasts(np.array([0.5, 0.0]), np.eye(2) * 2), 0, 1, margin=1.0)
    assert wide.p > 0.3
