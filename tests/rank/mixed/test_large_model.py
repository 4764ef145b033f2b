"""Fits by cells of large campaigns, by conjugate gradients, against dense fits of the same rows."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from adjudge.rank.mixed import MixedDesign, design_from, fit, prepare, refit
from adjudge.rank.mixed.known_ratios import cells as cells_module
from adjudge.rank.mixed.known_ratios import large_model as large_module
from adjudge.rank.mixed.known_ratios.cells import cells_of
from adjudge.rank.mixed.known_ratios.large_model import LargeModel
from adjudge.rank.mixed.shared_fits import FitsWithout, known_model
from adjudge.rank.mixed.solver import layout as layout_module
from tests.rank.mixed.compare import check_alike
from tests.rank.mixed.make import SHAPES, campaign
from tests.rank.mixed.test_known_ratios import check_differences, parts

pytestmark = pytest.mark.slow


def large_model(design: MixedDesign, monkeypatch: pytest.MonkeyPatch) -> tuple[LargeModel, dict[str, float]]:
    """The model of a small design as if it were large, with solutions that are as good as exact."""
    fitted = fit(design)
    monkeypatch.setattr(large_module, "COARSE", 1e-9)
    monkeypatch.setattr(layout_module, "DENSE_LIMIT", 5)
    model = known_model(prepare(design), fitted)
    assert isinstance(model, LargeModel)
    return model, dict(fitted.ratios)


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape in ("pages", "crossed", "segments")])
def test_a_fit_to_some_cells_is_that_to_their_rows(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    design = design_from(campaign(shape, 1, annotators=6, documents=8, taste=2.0))
    model, ratios = large_model(design, monkeypatch)
    monkeypatch.setattr(layout_module, "DENSE_LIMIT", 4000)
    fitted = 0
    for rows in parts(design):
        kept = model.cells.whole(rows)
        part = None if kept is None else model.part(kept)
        if kept is not None and part is not None:
            expected = refit(design.subset(rows), ratios)
            check_alike(part, expected)
            alone = model.effects_of_part(kept)
            assert alone is not None
            assert alone[1] == pytest.approx(expected.effects, abs=1e-8)
            fitted += 1
    assert fitted >= 14, "each annotator and document can be left out"


def test_cells_of_other_systems_are_fitted_as_rows_of_other_systems_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in an A/A test: every system is divided by pages at random."""
    design = design_from(campaign("pages", 2, systems=4, annotators=8, documents=12, taste=2.0))
    model, ratios = large_model(design, monkeypatch)
    monkeypatch.setattr(layout_module, "DENSE_LIMIT", 4000)
    half = np.random.default_rng(1).integers(0, 2, len(model.cells))
    names = tuple(f"{name} {side}" for name in design.systems for side in "AB")
    system = 2 * design.system + half[model.cells.of_row]
    by_cell = model.cells.values_of(system)
    assert by_cell is not None
    human = np.repeat(design.human, 2)
    other = design.with_systems(system, names, human)
    check_differences(model, by_cell, other, prepare(other).refit(design.score, ratios))


def test_coarse_solutions_give_errors_that_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Covariances have the square of the error, degrees of freedom the error itself."""
    design = design_from(campaign("pages", 3, annotators=10, documents=10, taste=2.0))
    model, _ = large_model(design, monkeypatch)
    every = np.ones(len(model.cells), dtype=bool)
    exact = model.part(every)
    monkeypatch.setattr(large_module, "COARSE", 1e-4)
    coarse = model.part(every)
    assert exact is not None
    assert coarse is not None
    assert coarse.covariance == pytest.approx(exact.covariance, rel=1e-7)
    assert coarse.df == pytest.approx(exact.df, rel=1e-3)


def test_too_many_counts_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    design = design_from(campaign("pages", 3, annotators=6, documents=8))
    monkeypatch.setattr(layout_module, "DENSE_LIMIT", 5)
    prepared = prepare(design)
    standard = prepared.standardised(None)[1]
    cells = cells_of(prepared, standard)
    assert cells is not None
    assert cells.same(0) == ()
    monkeypatch.setattr(cells_module, "MOST_COUNTS", 10)
    assert cells_of(prepared, standard) is None


def test_large_equations_are_laid_out_again_by_those_who_receive_them(monkeypatch: pytest.MonkeyPatch) -> None:
    design = design_from(campaign("pages", 3, annotators=6, documents=8))
    small = prepare(design)
    assert "layout" in small.__getstate__()
    monkeypatch.setattr(layout_module, "DENSE_LIMIT", 5)
    prepared = prepare(design)
    received = pickle.loads(pickle.dumps(prepared))
    assert "layout" not in vars(received)
    assert received.layout.width == prepared.layout.width
    assert "layout" in vars(received)
    with pytest.raises(AttributeError, match="colour"):
        received.colour  # noqa: B018


def test_blocks_with_many_pairs_of_cells_are_fitted_as_large_campaigns_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    design = design_from(campaign("pages", 4, annotators=8, documents=6, taste=2.0))
    fitted = fit(design)
    monkeypatch.setattr(large_module, "COARSE", 1e-9)
    monkeypatch.setattr(cells_module, "MOST_PRODUCTS", 10)
    model = known_model(prepare(design), fitted)
    assert isinstance(model, LargeModel)
    rows = np.asarray(design.annotator) % 2 == 0
    kept = model.cells.whole(rows)
    assert kept is not None
    part = model.part(kept)
    assert part is not None
    check_alike(part, refit(design.subset(rows), fitted.ratios))
    without = FitsWithout(prepare(design), fitted)(("annotator", 1))
    assert without is not None
    expected = refit(design.subset(np.asarray(design.annotator) != 1), fitted.ratios)
    assert without.effects == pytest.approx(expected.effects, abs=1e-8)
