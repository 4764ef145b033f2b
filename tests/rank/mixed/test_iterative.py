"""Large campaigns: conjugate gradients and simulated traces against the direct solution."""

from __future__ import annotations

import numpy as np
import pytest

from adjudge.rank.contrasts import contrasts
from adjudge.rank.mixed import design_from, fit, refit
from adjudge.rank.mixed import layout as layout_module
from tests.rank.mixed.make import campaign


@pytest.mark.parametrize("shape", ["pages", "segments", "unnamed"])
def test_known_ratios_give_the_same_numbers(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    design = design_from(campaign(shape, 4, annotators=6, documents=8))
    ratios = fit(design).ratios
    direct = refit(design, ratios)
    monkeypatch.setattr(layout_module, "DENSE_LIMIT", 5)
    iterative = refit(design, ratios)
    assert not iterative.exact
    assert iterative.loglik is None
    assert iterative.converged
    np.testing.assert_allclose(iterative.effects, direct.effects, rtol=1e-8)
    np.testing.assert_allclose(iterative.covariance, direct.covariance, rtol=1e-7)
    np.testing.assert_allclose(iterative.df, direct.df, rtol=1e-6)


def test_simulated_traces_find_nearly_the_same_variances(monkeypatch: pytest.MonkeyPatch) -> None:
    """The simulation error is a fraction of the standard error that the variances have anyway."""
    design = design_from(campaign("pages", 4, annotators=30, documents=30, taste=4.0))
    direct = fit(design)
    monkeypatch.setattr(layout_module, "DENSE_LIMIT", 5)
    iterative = fit(design)
    assert iterative.converged
    for component, other in zip(direct.components, iterative.components, strict=True):
        assert component.low is not None
        assert component.high is not None
        error = np.log(component.high / component.low) / 4
        assert abs(np.log(other.sd / component.sd)) < 0.5 * error, component.effect
    np.testing.assert_allclose(iterative.effects, direct.effects, atol=0.1 * direct.se.max())
    again = fit(design)
    np.testing.assert_array_equal(again.effects, iterative.effects)


def test_tastes_of_many_people_beyond_the_dense_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pairs of annotator and system pass the limit first: the sparse way must tell the same pairs apart."""
    design = design_from(campaign("pages", 5, annotators=40, documents=12, taste=6.0))
    ratios = fit(design).ratios
    assert ratios["annotator:system"] > 0.01
    direct = refit(design, ratios)
    assert design.annotator_system is not None
    monkeypatch.setattr(layout_module, "DENSE_LIMIT", len(np.unique(design.annotator_system)) // 2)
    sparse = refit(design, ratios)
    assert not sparse.exact
    np.testing.assert_allclose(sparse.effects, direct.effects, rtol=1e-8)
    compared = [contrasts(model.effects, model.covariance, model.df) for model in (direct, sparse)]
    np.testing.assert_allclose(compared[1].two_sided, compared[0].two_sided, rtol=1e-5)
    fitted = fit(design)
    assert not fitted.exact
    assert fitted.ratios["annotator:system"] == pytest.approx(ratios["annotator:system"], rel=0.3)
    np.testing.assert_allclose(fitted.se, direct.se, rtol=0.1)
