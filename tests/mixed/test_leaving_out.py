"""Fits to parts of a campaign at the variances of the whole, against fits that are laid out from scratch."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from adjudge.mixed import layout as layout_module
from adjudge.mixed import leaving_out as exact
from adjudge.mixed.design import MixedDesign, design_from
from adjudge.mixed.effects import identify, most_degrees
from adjudge.mixed.fit import fit, prepare, refit
from adjudge.mixed.leaving_out import Whole, most_degrees_without_each
from adjudge.mixed.model import FitsWithout, Model, Unit, model_of
from adjudge.table.errors import DataError
from adjudge.table.maths import Bools, contrasts
from tests.helpers.compare import check_alike, with_degrees_of_whole
from tests.helpers.mixed_make import SHAPES, campaign

pytestmark = pytest.mark.slow

UNITS: tuple[Unit, ...] = ("annotator", "document")


def parts(design: MixedDesign) -> list[Bools]:
    """Each annotator and document left out, a system left out, and every third row, which cuts pages."""
    codes = [code for code in (design.annotator, design.document) if code is not None]
    kept = [code != level for code in codes for level in range(int(code.max()) + 1)]
    return [*kept, design.system != 0, np.arange(len(design)) % 3 > 0]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("seed", "most_products"), [(0, 20_000), (1, 0), (2, 10**9)])
def test_fits_made_from_the_solution_of_the_whole_are_those_made_anew(
    shape: str, seed: int, most_products: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By changing the solution of the whole, or anew where that takes too long."""
    monkeypatch.setattr(exact, "MOST_PRODUCTS", most_products)
    design = design_from(campaign(shape, seed, annotators=5, documents=6, taste=2.0))
    model = model_of(design)
    leave_out = FitsWithout(model.prepared, model.fitted)
    for rows in parts(design):
        try:
            expected = refit(design.subset(rows), model.fitted.ratios)
        except DataError as fault:
            with pytest.raises(DataError, match=str(fault)[:20]):
                leave_out.refit(rows)
            continue
        expected = with_degrees_of_whole(expected, model.fitted, design.subset(rows))
        check_alike(leave_out.refit(rows), expected)


@pytest.mark.parametrize("shape", ["pages", "crossed", "segments"])
@pytest.mark.parametrize("most_products", [0, 10**9])
def test_effects_without_each_document_are_those_of_fits_without_it(
    shape: str, most_products: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By conjugate gradients, where documents touch too many unknowns, and by changing the solution of the whole."""
    monkeypatch.setattr(exact, "MOST_PRODUCTS", most_products)
    monkeypatch.setattr(exact, "MOST_NUMBERS", 2_000)  # a few documents at a time
    design = design_from(campaign(shape, 1, annotators=5, documents=6, taste=2.0))
    model, codes = model_of(design), design.segment if design.document is None else design.document
    assert codes is not None
    chosen = np.unique(codes)[::2]
    found = FitsWithout(model.prepared, model.fitted).effects(codes, chosen)
    for code, effects in zip(chosen, found, strict=True):
        expected = prepare(design.subset(codes != code), model.fitted.ratios).effects_at(None, model.fitted.ratios)
        np.testing.assert_allclose(effects, expected, rtol=0, atol=1e-7)


@pytest.mark.parametrize("most_kept", [0, 50_000_000])
@pytest.mark.parametrize("shape", ["pages", "crossed", "segments"])
def test_every_unit_left_out_by_counts_is_that_of_a_fit_without_it(
    shape: str, most_kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether what blocks need of the border's inverse is kept or computed again."""
    monkeypatch.setattr(exact, "MOST_KEPT", most_kept)
    design = design_from(campaign(shape, 3, systems=4, annotators=7, documents=9, taste=2.0))
    model = Model(prepare(design), fit(design))
    fitted = 0
    for unit in UNITS:
        codes = model.codes(unit)
        for code, found in enumerate([] if codes is None else model.leave_out(unit, range(int(codes.max()) + 1))):
            assert found is not None
            rest = design.subset(np.asarray(codes != code))
            check_alike(found, with_degrees_of_whole(refit(rest, model.fitted.ratios), model.fitted, rest))
            fitted += 1
    assert fitted >= 7, "each annotator can be left out"


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rows", [1, 7, 40])
def test_any_rows_can_be_taken_from_the_whole(shape: str, rows: int) -> None:
    """Rows that are parts of pages, of which the rest stays."""
    design = design_from(campaign(shape, 4, annotators=5, documents=6, taste=2.0))
    prepared, fitted = prepare(design), fit(design)
    scale, standard = prepared.standardised(None)
    whole = Whole(prepared.layout, prepared.effects.ratios(fitted.ratios), standard)
    gone = np.zeros(len(design), dtype=bool)
    gone[np.random.default_rng(rows).choice(len(design), rows, replace=False)] = True
    found, rest = whole.without(gone), design.subset(~gone)
    if found is None or not prepared.effects.alike(identify(rest), ~gone):
        return
    expected = refit(rest, fitted.ratios)
    assert found.effects * scale.sd + scale.mean == pytest.approx(expected.effects, abs=1e-8)
    assert np.sqrt(found.variance) * scale.sd == pytest.approx(expected.components[-1].sd, abs=1e-8)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", [(3, 4, 4), (4, 9, 12), (5, 14, 10)])
def test_what_counts_tell_of_the_rest_is_what_its_design_tells(shape: str, size: tuple[int, int, int]) -> None:
    """Annotators, documents and random groups of rows left out: where counts give an answer, it is that of the rest."""
    systems, annotators, documents = size
    rng = np.random.default_rng(systems)
    design = design_from(campaign(shape, 7, systems=systems, annotators=annotators, documents=documents, taste=2.0))
    effects, told = identify(design), 0
    ratios = {effect.narrowest: float(ratio) for effect, ratio in zip(effects.kept, rng.uniform(0, 1, 9), strict=False)}
    groups = [rng.integers(0, several, len(design)) for several in (2, 3, 20)]
    page = [] if design.page is None else [rng.integers(0, 4, int(design.page.max()) + 1)[design.page]]
    for unit in [*(code for code in (design.annotator, design.document) if code is not None), *groups, *page]:
        bounds = most_degrees_without_each(design, effects, effects.ratios(ratios), unit)
        for code in np.flatnonzero(~np.isnan(bounds)):
            rest = design.subset(unit != code)
            rest.check()
            assert rest.systems == design.systems
            left = identify(rest)
            assert effects.alike(left, unit != code)
            assert bounds[code] == most_degrees(rest, left, left.ratios(ratios))
            told += 1
    assert told >= 13 or shape not in ("pages", "crossed") or systems == 3, "counts nearly always suffice"


@pytest.mark.parametrize("limit", [5, 4000])
def test_parts_and_halves_of_systems_are_fitted_as_alone(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the border is solved by conjugate gradients. Systems are divided by pages, as in an A/A test."""
    design = design_from(campaign("pages", 2, systems=4, annotators=8, documents=12, taste=2.0))
    fitted = fit(design)
    half = np.random.default_rng(1).integers(0, 2, int(design.page.max()) + 1)[design.page]  # type: ignore[union-attr]
    names = tuple(f"{name} {side}" for name in design.systems for side in "AB")
    other = refit(design.with_systems(2 * design.system + half, names, np.repeat(design.human, 2)), fitted.ratios)
    compared = contrasts(other.effects, other.covariance, other.df).two_sided
    rows = np.asarray(design.annotator) % 2 == 0
    expected = refit(design.subset(rows), fitted.ratios)
    monkeypatch.setattr(layout_module, "DENSE_LIMIT", limit)
    model = Model(prepare(design), fitted)
    p = [compared[2 * system, 2 * system + 1] for system in (0, 2, 3)]
    assert model.p_of_halves(half, np.array([0, 2, 3])) == pytest.approx(p, rel=1e-6)
    check_alike(model.part(rows), expected)
    assert model.effects_of(rows) == pytest.approx(expected.effects, abs=1e-8)
    assert model.effects_of_parts([rows], what="halves")[0] == pytest.approx(expected.effects, abs=1e-8)


def test_parts_that_cannot_be_ranked() -> None:
    design = design_from(campaign("pages", 1, annotators=6, documents=8))
    model = model_of(design)
    assert np.isnan(model.effects_of(design.system != 0)[0]), "a system without rows"
    equal = design.as_given == design.as_given[0]
    with pytest.raises(DataError):
        model.part(equal)
    assert model.parts([equal]) == [None]
    one = np.arange(len(design)) == 0
    assert np.isnan(model.effects_of(one)).all()


def test_equations_are_laid_out_again_by_those_who_receive_them() -> None:
    prepared = prepare(design_from(campaign("pages", 3, annotators=6, documents=8)))
    received = pickle.loads(pickle.dumps(prepared))
    assert "layout" not in vars(received)
    assert received.layout.width == prepared.layout.width
    assert "layout" in vars(received)
    with pytest.raises(AttributeError, match="colour"):
        received.colour  # noqa: B018
