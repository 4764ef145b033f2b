"""Fits without a few rows, made from the layout of all, against fits laid out from scratch."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from adjudge.core.errors import DataError
from adjudge.rank.mixed import MixedDesign, MixedFit, design_from, prepare, refit
from adjudge.rank.mixed.leaving_out import rows as leaving_out
from adjudge.rank.mixed.leaving_out.rows import Whole, without
from adjudge.rank.mixed.shared_fits import FitsWithout, model_of
from tests.rank.mixed.compare import check_alike as check_known_alike
from tests.rank.mixed.compare import with_degrees_of_whole
from tests.rank.mixed.make import SHAPES, campaign

pytestmark = pytest.mark.slow

RATIOS = {"annotator": 0.3, "task": 0.1, "document": 0.2, "segment": 0.15, "system:document": 0.05, "page": 0.4}


def parts(design: MixedDesign) -> list[NDArray[np.bool_]]:
    """Each annotator and document left out, a system left out, and every third row, which cuts pages."""
    codes = [code for code in (design.annotator, design.document) if code is not None]
    kept = [code != level for code in codes for level in range(int(code.max()) + 1)]
    return [*kept, design.system != 0, np.arange(len(design)) % 3 > 0]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(3))
def test_a_part_is_fitted_as_if_it_were_laid_out_alone(shape: str, seed: int) -> None:
    design = design_from(campaign(shape, seed))
    prepared = prepare(design)
    for rows in parts(design):
        try:
            expected = refit(design.subset(rows), RATIOS)
        except DataError as fault:
            with pytest.raises(DataError, match=str(fault)[:20]):
                prepared.part(rows).refit(design.score[rows], RATIOS)
            continue
        check_alike(prepared.part(rows).refit(design.score[rows], RATIOS), expected)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("seed", "small_change"), [(0, 0.3), (1, 0.0), (2, 1.0)])
def test_fits_made_from_the_equations_of_the_whole_are_those_made_anew(
    shape: str, seed: int, small_change: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The border is factored again, or its inverse changed."""
    monkeypatch.setattr(leaving_out, "SMALL_CHANGE", small_change)
    design = design_from(campaign(shape, seed, annotators=5, documents=6))
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
        check_known_alike(leave_out.refit(rows), expected)


def check_alike(fitted: MixedFit, expected: MixedFit) -> None:
    assert (fitted.systems, fitted.left_out, fitted.components[-1].levels) == (
        expected.systems,
        expected.left_out,
        expected.components[-1].levels,
    )
    assert fitted.effects == pytest.approx(expected.effects, abs=1e-9)
    assert fitted.covariance == pytest.approx(expected.covariance, abs=1e-9)
    assert fitted.df == pytest.approx(expected.df, rel=1e-6)
    assert fitted.loglik == pytest.approx(expected.loglik, abs=1e-7)
    assert [component.sd for component in fitted.components] == pytest.approx(
        [component.sd for component in expected.components], abs=1e-9
    )


def test_only_what_can_be_taken_away_is() -> None:
    """Otherwise the layout is made anew: where a page would be cut, or a system have no row left."""
    design = design_from(campaign("pages", 1, annotators=6, documents=8))
    prepared = prepare(design)
    assert design.annotator is not None
    assert without(prepared.layout, design.annotator != 0) is not None
    assert without(prepared.layout, design.system != 0) is None
    assert without(prepared.layout, np.arange(len(design)) > 0) is None
    whole = Whole(prepared.layout, prepared.effects.ratios(RATIOS), design.score)
    assert whole.without(design.annotator != 0) is not None
    assert whole.without(np.arange(len(design)) > 0) is None
