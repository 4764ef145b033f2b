"""Each annotator and document left out of a large campaign at once, against fits without their rows."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray

from adjudge.mixed import large_leaving_out as each_unit
from adjudge.mixed import layout as layout_module
from adjudge.mixed import model as shared_fits
from adjudge.mixed.design import MixedDesign, design_from
from adjudge.mixed.fit import MixedFit, Prepared, fit, prepare, refit
from adjudge.mixed.large_leaving_out import UnitBlocks, WholeRows, fits_without_each
from adjudge.mixed.model import model_of
from tests.helpers.mixed_make import campaign

pytestmark = pytest.mark.slow

UNITS = ("annotator", "document")


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> tuple[Prepared, MixedFit]:
    """A campaign whose border is solved by conjugate gradients, for which a few unknowns are many here."""
    design = design_from(campaign("pages", 4, annotators=16, documents=14, taste=4.0))
    fitted = fit(design)
    monkeypatch.setattr(layout_module, "DENSE_LIMIT", 5)
    return prepare(design), fitted


def codes_of(design: MixedDesign, unit: str) -> NDArray[np.int64]:
    codes = design.annotator if unit == "annotator" else design.document
    assert codes is not None
    return codes


@pytest.mark.parametrize("unit", UNITS)
def test_fits_without_each_unit_are_those_to_the_rest(unit: str, large: tuple[Prepared, MixedFit]) -> None:
    """Shifts up to a hundredth of a standard error, and errors up to a thousandth."""
    prepared, fitted = large
    codes = codes_of(prepared.design, unit)
    fits = fits_without_each(prepared, fitted, codes)
    assert sorted(fits) == list(range(int(codes.max()) + 1))
    for code, without_unit in fits.items():
        expected = refit(prepared.design.subset(codes != code), fitted.ratios)
        shift = expected.effects - fitted.effects
        np.testing.assert_allclose(without_unit.effects - fitted.effects, shift, atol=0.01 * fitted.se.max())
        np.testing.assert_allclose(np.sqrt(np.diag(without_unit.covariance)), expected.se, rtol=2e-3)


@pytest.mark.parametrize("unit", UNITS)
def test_refined_shifts_are_closer(unit: str, large: tuple[Prepared, MixedFit]) -> None:
    prepared, fitted = large
    codes = codes_of(prepared.design, unit)
    scale, standard = prepared.standardised(None)
    whole = WholeRows(prepared.layout, prepared.effects.kept, prepared.effects.ratios(fitted.ratios), standard)
    shifts = np.array(
        [
            refit(prepared.design.subset(codes != code), fitted.ratios).effects - fitted.effects
            for code in range(int(codes.max()) + 1)
        ]
    )
    roughly, finely = (whole.without_each(codes, refined=units) for units in (0, 1000))
    errors = [np.abs(left_out.shift * scale.sd - shifts).max() for left_out in (roughly, finely)]
    assert errors[1] < errors[0] / 4
    assert finely.refined is not None
    assert len(finely.refined) == len(shifts)
    some = whole.without_each(codes, refined=6)
    assert some.refined is not None
    np.testing.assert_allclose(some.shift[some.refined], finely.shift[some.refined], rtol=0.01, atol=1e-5)
    others = np.setdiff1d(np.arange(len(shifts)), some.refined)
    np.testing.assert_allclose(some.shift[others], roughly.shift[others])


@pytest.mark.parametrize("unit", UNITS)
def test_blocks_are_the_covariance_given_the_other_scores_of_the_same_block(
    unit: str, large: tuple[Prepared, MixedFit]
) -> None:
    """By dense matrices: own effects at full variance, shared ones given the others' scores, systems beside them."""
    prepared, fitted = large
    codes = codes_of(prepared.design, unit)
    ratios = prepared.effects.ratios(fitted.ratios).tolist()
    effects = list(zip(prepared.effects.kept, ratios, strict=True))
    relative = np.diag(np.arange(1.0, len(fitted.systems) + 1)) / 100
    system = prepared.design.system
    blocks = UnitBlocks(codes, effects, system, relative)
    values = np.random.default_rng(1).standard_normal((len(codes), 2))
    product = blocks.times(values)
    own = {"annotator": ("annotator", "annotator:system", "task", "page"), "document": ("document", "segment")}
    mine = [*own[unit], *(("system:document", "page") if unit == "document" else ())]
    own_spread = sum(ratio * same(effect.codes) for effect, ratio in effects if effect.parts[0] in mine)
    shared = sum(ratio * same(effect.codes) for effect, ratio in effects if effect.parts[0] not in mine)
    page = sum(ratio * same(effect.codes) for effect, ratio in effects if effect.parts[0] == "page")
    for code in (0, 3):
        gone, kept = np.flatnonzero(codes == code), np.flatnonzero(codes != code)
        noise = np.eye(len(kept)) + page[np.ix_(kept, kept)]
        across = shared[np.ix_(gone, kept)]
        given = shared[np.ix_(gone, gone)] - across @ np.linalg.solve(noise + shared[np.ix_(kept, kept)], across.T)
        spread = own_spread[np.ix_(gone, gone)] + given + relative[np.ix_(system[gone], system[gone])]
        np.testing.assert_allclose(product[gone], spread @ values[gone], atol=1e-9)


def same(codes: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(codes[:, None] == codes[None, :], dtype=np.float64)


def test_units_without_which_nothing_can_be_compared_are_left_to_others() -> None:
    met = np.array([[5, 5, 0], [0, 3, 3], [2, 2, 0]])
    assert each_unit._still_comparable(met).tolist() == [True, False, True]
    assert each_unit._still_comparable(np.ones((3, 3), dtype=np.int64)).all()


@pytest.mark.parametrize(("module", "limit"), [(layout_module, "DENSE_LIMIT"), (shared_fits, "MANY_ROWS")])
def test_a_model_of_many_unknowns_or_rows_leaves_units_out_at_once(
    module: ModuleType, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, limit, 5)
    design = design_from(campaign("pages", 6, annotators=8, documents=8))
    model = model_of(design)
    assert model.left_out_notes == (each_unit.NOTE,)
    (without,) = model.leave_out("annotator", [2])
    assert without is not None
    expected = refit(design.subset(codes_of(design, "annotator") != 2), model.fitted.ratios)
    np.testing.assert_allclose(without.effects, expected.effects, atol=0.02 * expected.se.max())


def test_models_that_differ_in_scores_alone_share_their_equations() -> None:
    design = design_from(campaign("pages", 7, annotators=5, documents=5))
    first, second = model_of(design), model_of(design.with_model("mixed-points"))
    assert second.prepared.layout is first.prepared.layout
    np.testing.assert_array_equal(second.fitted.effects, fit(design.with_model("mixed-points")).effects)
    assert model_of(design.with_model("mixed-plain")).prepared.layout is not first.prepared.layout
