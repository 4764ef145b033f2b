"""Large campaigns: conjugate gradients and simulated traces against the direct solution."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from adjudge.mixed import border
from adjudge.mixed import draws as draws_module
from adjudge.mixed import layout as layout_module
from adjudge.mixed.border import IterativeBorder, Preconditioner
from adjudge.mixed.design import design_from
from adjudge.mixed.draws import ErrorDraws
from adjudge.mixed.equations import Equations, equations_at, totals
from adjudge.mixed.fit import fit, prepare, refit
from adjudge.table.judgments import Judgments
from adjudge.table.maths import contrasts
from adjudge.table.rng import generator
from tests.helpers.mixed_make import campaign


@pytest.mark.parametrize("shape", ["pages", "segments", "unnamed"])
def test_known_ratios_give_the_same_numbers(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    design = design_from(campaign(shape, 4, annotators=6, documents=8))
    ratios = fit(design).ratios
    direct = refit(design, ratios)
    monkeypatch.setattr(layout_module, "DENSE_LIMIT", 5)
    large = refit(design, ratios)
    assert not large.exact
    assert large.loglik is None
    assert large.converged
    np.testing.assert_allclose(large.effects, direct.effects, rtol=1e-8)
    np.testing.assert_allclose(large.covariance, direct.covariance, rtol=1e-7)
    np.testing.assert_allclose(large.df, direct.df, rtol=1e-6)


def test_simulated_traces_find_nearly_the_same_variances(monkeypatch: pytest.MonkeyPatch) -> None:
    """The simulation error is a fraction of the standard error that the variances have anyway."""
    design = design_from(campaign("pages", 4, annotators=30, documents=30, taste=4.0, screen=4.0))
    direct = fit(design)
    monkeypatch.setattr(layout_module, "DENSE_LIMIT", 5)
    large = fit(design)
    assert large.converged
    assert "annotator:document" in large.ratios
    for component, other in zip(direct.components, large.components, strict=True):
        assert component.low is not None
        assert component.high is not None
        error = np.log(component.high / component.low) / 4
        assert abs(np.log(other.sd / component.sd)) < 0.5 * error, component.effect
    np.testing.assert_allclose(large.effects, direct.effects, atol=0.1 * direct.se.max())
    again = fit(design)
    np.testing.assert_array_equal(again.effects, large.effects)


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


def test_full_steps_that_go_back_and_forth_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """People, texts and systems that meet at random: full steps never end on this campaign."""
    rng = np.random.default_rng(0)
    system, person, segment = (rng.integers(most, size=1500) for most in (20, 30, 300))
    score = 50 + system + rng.normal(0, 8, 30)[person] + rng.normal(0, 6, 300)[segment] + rng.normal(0, 15, 1500)
    names = {"system": system + 100, "annotator": person, "segment": segment, "document": segment // 10}
    table = pl.DataFrame(names).cast(pl.String).with_columns(score=score.clip(0, 100).round(), protocol=pl.lit("da"))
    prepared = prepare(design_from(Judgments.from_columns(table)))
    direct = prepared.fit()
    monkeypatch.setattr(layout_module, "DENSE_LIMIT", 5)
    large = prepare(prepared.design).fit()
    assert not large.exact
    assert large.converged
    np.testing.assert_allclose(large.effects, direct.effects, atol=0.1 * direct.se.max())
    np.testing.assert_allclose(large.se, direct.se, rtol=0.02)


def large_equations(monkeypatch: pytest.MonkeyPatch) -> Equations:
    """Of a small campaign, with a border that is solved by conjugate gradients."""
    monkeypatch.setattr(layout_module, "DENSE_LIMIT", 5)
    prepared = prepare(design_from(campaign("pages", 4, annotators=6, documents=8, taste=4.0)))
    return equations_at(prepared.layout, np.linspace(0.05, 0.3, len(prepared.effects.kept)))


def test_draws_are_the_errors_of_simulated_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    """The slow way: draw all effects and residuals, add them up for every row, and solve for the effects again."""
    equations = large_equations(monkeypatch)
    monkeypatch.setattr(draws_module, "DRAWS_TOLERANCE", 1e-8)
    layout = equations.layout
    assert isinstance(equations.border, IterativeBorder)
    none = np.empty((layout.width, 0))
    errors = ErrorDraws(layout).errors(equations, equations.border, draws=draws_module.DRAWS, near=none)
    spread = np.append(np.sqrt(layout.parts @ equations.ratios), 0.0)
    for chunk in range(draws_module.DRAWS // draws_module.CHUNK):
        rng = generator(draws_module._SEED, chunk)
        border, core, absorbed = (
            rng.standard_normal((len(kind), draws_module.CHUNK)) * spread[kind, None]
            for kind in (layout.border_kind, layout.core_kind, layout.absorbed_kind)
        )
        rows = rng.standard_normal((layout.rows, draws_module.CHUNK))
        rows += layout.border_rows @ border + layout.core_rows @ core + layout.absorbed_rows @ absorbed
        expected = equations.solve(totals(layout, rows)).border - border
        own = errors[:, chunk * draws_module.CHUNK : (chunk + 1) * draws_module.CHUNK]
        np.testing.assert_allclose(own[:-1], expected[:-1], atol=1e-5)


def test_a_coarse_solution_gives_exact_covariances(monkeypatch: pytest.MonkeyPatch) -> None:
    equations = large_equations(monkeypatch)
    assert isinstance(equations.border, IterativeBorder)
    unit = np.eye(equations.layout.width, equations.layout.systems)
    exact, coarse = (
        equations.border.solve(unit, tolerance=tolerance)[: equations.layout.systems] for tolerance in (1e-13, 1e-2)
    )
    monkeypatch.setattr(border, "COARSE", 1e-2)
    corrected = equations.border.first_columns(equations.layout.systems)[: equations.layout.systems]
    assert np.abs(corrected - exact).max() < 0.05 * np.abs(coarse - exact).max()


@pytest.mark.parametrize("largest", [0, 500])
def test_either_order_of_elimination_solves_the_border(largest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against numpy, with the order found by neighbours and with that of the library."""
    monkeypatch.setattr(border, "LARGEST_OWN_ORDER", largest)
    rng = np.random.default_rng(1)
    matrix = np.kron(np.eye(6), np.ones((3, 3))) * 0.4 + np.diag(rng.uniform(1, 2, 18))
    matrix[:, :2] += 0.1
    matrix[:2, :] += 0.1
    right = rng.standard_normal((18, 3))
    solved = Preconditioner(csr_array(matrix), np.arange(18) < 2).solve(right)
    np.testing.assert_allclose(solved, np.linalg.solve(matrix, right), rtol=1e-10)
