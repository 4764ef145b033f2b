"""The agreement of a person's work with that of the others, against the whole covariance matrix."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from adjudge.mixed import leaving_out
from adjudge.mixed.agreement import PersonFit, fit_from_products, fits_of_people
from adjudge.mixed.design import design_from
from adjudge.mixed.fit import MixedFit, Prepared, prepare
from adjudge.mixed.model import model_of
from tests.helpers.mixed_make import SHAPES, campaign
from tests.helpers.slow import slow_model


def slow_fits(prepared: Prepared, fitted: MixedFit) -> dict[int, tuple[float, float, float]]:
    """Slope, spread and information by the formulas of the module, with matrices of all rows."""
    design = prepared.design
    slow = slow_model(design, prepared.effects.kept)
    inverse = np.linalg.inv(slow.variance(np.array([part.sd**2 for part in fitted.components])))
    covariance = np.linalg.inv(slow.X.T @ inverse @ slow.X)
    P = inverse - inverse @ slow.X @ covariance @ slow.X.T @ inverse
    assert design.annotator is not None
    found = {}
    for code in range(design.annotator.max() + 1):
        own = design.annotator == code
        own_P, y, one = P[np.ix_(own, own)], slow.y[own], np.ones(own.sum())
        e = np.linalg.solve(own_P, (P @ slow.y)[own])
        m = y - e
        R = own_P - np.outer(own_P @ one, own_P @ one) / (one @ own_P @ one)
        information = m @ R @ m
        b = m @ R @ y / information
        s = np.sqrt((y - b * m) @ R @ (y - b * m) / (own.sum() - 2))
        found[code] = (float(b), float(s), float(information))
    return found


def numbers(fit: PersonFit) -> tuple[float, float | None, float]:
    return fit.slope, fit.spread, fit.information


@pytest.mark.parametrize("iterated", [False, True])
@pytest.mark.parametrize("shape", ["crossed", "pages", "nested", "segments", "no-documents", "unnamed"])
def test_fits_are_those_of_the_whole_covariance(shape: str, iterated: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shape in SHAPES
    if iterated:
        monkeypatch.setattr(leaving_out, "MOST_PRODUCTS", 0)
    design = design_from(campaign(shape, 4, annotators=5, documents=6, taste=2.0), model="mixed-points")
    model = model_of(design)
    assert design.annotator is not None
    fits = fits_of_people(design, np.ones(design.annotator.max() + 1, dtype=bool))
    slow = slow_fits(model.prepared, model.fitted)
    assert fits
    for code, fit in fits.items():
        assert numbers(fit) == pytest.approx(slow[code], rel=1e-5)


def test_who_is_not_trusted_is_compared_with_those_who_are() -> None:
    """The variances, and what is predicted, are those of the others; two who are not trusted do not meet."""
    design = design_from(campaign("pages", 4, annotators=6, documents=8, taste=2.0), model="mixed-points")
    trusted = np.array([True, False, True, True, False, True])
    fits = fits_of_people(design, trusted)
    assert design.annotator is not None
    rows = trusted[design.annotator]
    model = model_of(design.subset(rows))
    slow = slow_fits(model.prepared, model.fitted)
    for place, code in enumerate([0, 2, 3, 5]):
        assert numbers(fits[code]) == pytest.approx(slow[place], rel=1e-5)
    for code, place in ((1, 1), (4, 3)):
        beside = prepare(design.subset(rows | (design.annotator == code)))
        slow = slow_fits(beside, beside.refit(None, model.fitted.ratios))
        assert numbers(fits[code]) == pytest.approx(slow[place], rel=1e-5)


def test_how_a_person_uses_the_scale_does_not_matter() -> None:
    """A strict person who uses half of the scale has half the slope, and the same t as before."""
    design = design_from(campaign("pages", 5, annotators=6, documents=12), model="mixed-points")
    trusted = np.arange(6) > 0
    before = fits_of_people(design, trusted)[0]
    assert design.annotator is not None
    own = design.annotator == 0
    score = design.score.copy()
    score[own] = 20 + score[own] / 2
    after = fits_of_people(replace(design, score=score), trusted)[0]
    # The prediction rests on the others alone; the residual variance of the whole moves the unit of spread.
    assert after.slope / before.slope == pytest.approx(0.5, rel=1e-9)
    statistic = [fit.agreement * np.sqrt(fit.information) for fit in (before, after)]
    assert statistic[1] == pytest.approx(statistic[0], rel=1e-9)


def test_bayes_factor_by_hand() -> None:
    """r = 0 with I = 9: N(0, 1/9) at 0 over N(1, 1/9 + 1/9) at 0, which is e^(9/4) sqrt(2)."""
    assert PersonFit(0.0, 1.0, 9.0).log_bayes_factor == pytest.approx(9 / 4 + np.log(2) / 2)
    assert PersonFit(2.0, 2.0, 9.0).agreement == 1.0
    assert PersonFit(1.0, 1.0, 9.0).log_bayes_factor == pytest.approx(-9 / 2 + np.log(2) / 2)
    assert PersonFit(0.5, None, 9.0).agreement == 0.5


def test_what_tells_nothing_has_no_fit() -> None:
    assert fit_from_products(np.eye(3), 2) is None
    assert fit_from_products(np.diag([1.0, 1.0, 0.0]), 9) is None
    one = design_from(campaign("crossed", 1, annotators=1), model="mixed-points")
    assert fits_of_people(one, np.ones(1, dtype=bool)) == {}
