"""Fits by cells at known variances, against the same fits laid out row by row."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from adjudge.core.arrays import Codes
from adjudge.core.errors import DataError
from adjudge.core.judgments import Judgments
from adjudge.rank.contrasts import contrasts
from adjudge.rank.mixed import MixedDesign, MixedFit, design_from, prepare, refit
from adjudge.rank.mixed.degrees import most_degrees
from adjudge.rank.mixed.known_ratios.model import KnownModel
from adjudge.rank.mixed.leaving_out import cells as without_cells
from adjudge.rank.mixed.leaving_out.cells import CellsLeftOut
from adjudge.rank.mixed.leaving_out.remaining import Remaining
from adjudge.rank.mixed.shared_fits import fit_to_part, model_of
from tests.rank.mixed.compare import check_alike, with_degrees_of_whole
from tests.rank.mixed.make import SHAPES, campaign

pytestmark = pytest.mark.slow


def parts(design: MixedDesign) -> list[NDArray[np.bool_]]:
    """Each annotator and document left out, both halves of the annotators, and a system left out."""
    assert design.annotator is not None
    codes = [code for code in (design.annotator, design.document) if code is not None]
    kept = [code != level for code in codes for level in range(int(code.max()) + 1)]
    return [*kept, design.annotator % 2 == 0, design.annotator % 2 == 1, design.system != 0]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(2))
def test_a_fit_to_some_cells_is_that_to_their_rows(shape: str, seed: int) -> None:
    design = design_from(campaign(shape, seed, annotators=6, documents=8, taste=2.0))
    model = model_of(design)
    fitted = 0
    for rows in parts(design):
        kept = None if model.known is None else model.known.cells.whole(rows)
        part = None if model.known is None or kept is None else model.known.part(kept)
        if part is not None:
            expected = refit(design.subset(rows), model.fitted.ratios)
            check_alike(part, expected)
            assert model.known is not None
            assert kept is not None
            alone = model.known.effects_of_part(kept)
            assert alone is not None
            assert alone[1] == pytest.approx(expected.effects, abs=1e-8)
            fitted += 1
    assert shape not in ("pages", "crossed") or fitted >= 14, "each annotator and document can be left out"


@pytest.mark.parametrize("few_cells", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("shape", ["pages", "crossed", "segments"])
def test_cells_left_out_of_the_whole_are_those_of_a_fit_without_them(
    shape: str, few_cells: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By changing the solution for all cells, or by solving again where that is a large part."""
    monkeypatch.setattr(without_cells, "FEW_CELLS", few_cells)
    design = design_from(campaign(shape, 3, systems=4, annotators=7, documents=9, taste=2.0))
    model = model_of(design)
    assert model.known is not None
    left_out = CellsLeftOut(model.known, model.fitted.df)
    fitted = 0
    for rows in parts(design):
        kept = model.known.cells.whole(rows)
        part = None if kept is None else left_out.part(kept)
        if part is not None:
            rest = design.subset(rows)
            check_alike(part, with_degrees_of_whole(refit(rest, model.fitted.ratios), model.fitted, rest))
            fitted += 1
    assert fitted >= 16, "each of 7 annotators and 9 documents can be left out"


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", [(3, 4, 4), (4, 9, 12), (5, 14, 10)])
def test_what_counts_tell_of_the_rest_is_what_its_design_tells(shape: str, size: tuple[int, int, int]) -> None:
    """Random parts, down to those with one annotator or document: where counts give an answer, it is that of rows."""
    systems, annotators, documents = size
    rng = np.random.default_rng(systems)
    design = design_from(campaign(shape, 7, systems=systems, annotators=annotators, documents=documents, taste=2.0))
    model = model_of(design)
    if model.known is None:
        return
    remaining, told = Remaining(model.known), 0
    cells = model.known.cells
    random_parts = [rng.random(len(cells)) < share for share in rng.uniform(0.05, 1, 60)]
    units = [kept for rows in parts(design) if (kept := cells.whole(rows)) is not None]
    for kept in [*units, *random_parts]:
        most = remaining.most_degrees(kept)
        if most is not None:
            part = model.known.comparable(kept)
            assert part is not None
            assert part.design.systems == design.systems
            assert most == most_degrees(part.design, part.effects)
            told += 1
    assert told >= 20 or shape not in ("pages", "crossed") or systems == 3, "counts nearly always suffice"


def check_differences(model: KnownModel, by_cell: Codes, design: MixedDesign, expected: MixedFit) -> None:
    """The differences of all pairs of the systems of a design are those of the fit to its rows."""
    pairs = np.triu_indices(len(design.systems), 1)
    found = model.differences(by_cell, design.systems, design.human, pairs=pairs)
    assert found is not None
    compared = contrasts(expected.effects, expected.covariance, expected.df)
    assert found.difference == pytest.approx(compared.difference[pairs], abs=1e-8)
    assert np.sqrt(found.variance) == pytest.approx(compared.se[pairs], rel=1e-7)
    assert found.df == pytest.approx(compared.df[pairs], rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_cells_of_other_systems_are_fitted_as_rows_of_other_systems_are(seed: int) -> None:
    """As in an A/A test: every system is divided by pages at random."""
    design = design_from(campaign("pages", seed, systems=4, annotators=8, documents=12, taste=2.0))
    model = model_of(design)
    assert model.known is not None
    cells = model.known.cells
    half = np.random.default_rng(seed).integers(0, 2, len(cells))[cells.of_row]
    sides, system = np.unique(2 * design.system + half, return_inverse=True)
    names = tuple(str(side) for side in sides)
    other = design.with_systems(system, names, design.human[sides // 2])
    by_cell = cells.values_of(system)
    assert by_cell is not None
    check_differences(model.known, by_cell, other, prepare(other).refit(design.score, model.fitted.ratios))


def test_rows_that_cut_a_cell_are_no_cells() -> None:
    design = design_from(campaign("pages", 1, annotators=6, documents=8))
    model = model_of(design)
    assert model.known is not None
    cells = model.known.cells
    assert int(cells.scores.max()) > 1
    assert cells.whole(np.arange(len(design)) > 0) is None
    assert cells.values_of(np.arange(len(design))) is None
    assert cells.whole(np.ones(len(design), dtype=bool)) is not None


@pytest.mark.parametrize("shape", SHAPES)
def test_what_cells_cannot_tell_is_fitted_or_refused_as_by_rows(shape: str) -> None:
    design = design_from(campaign(shape, 5, systems=3, annotators=3, documents=3))
    model = model_of(design)
    for rows in parts(design):
        try:
            expected = refit(design.subset(rows), model.fitted.ratios)
        except DataError as fault:
            with pytest.raises(DataError, match=str(fault)[:20]):
                fit_to_part(model.prepared, model.fitted, model.known, rows)
            continue
        fitted = fit_to_part(model.prepared, model.fitted, model.known, rows)
        assert fitted.effects == pytest.approx(expected.effects, abs=1e-8)
        assert fitted.df == pytest.approx(expected.df, rel=1e-6)


def test_segments_that_nothing_else_keeps_together_are_in_one_block() -> None:
    """As where means of segments alone were released: neither annotators nor documents, so each system is a cell."""
    rng = np.random.default_rng(4)
    systems, segments = (codes.ravel() for codes in np.divmod(np.arange(4 * 30), 30))
    score = 50 + 3 * systems + 5 * rng.normal(size=30)[segments] + rng.normal(size=len(systems))
    judgments = Judgments.from_columns({
        "system": [f"s{code}" for code in systems], "segment": [str(code) for code in segments],
        "score": score.tolist(), "protocol": ["da"] * len(systems),
    })  # fmt: skip
    design = design_from(judgments)
    model = model_of(design)
    assert model.known is not None
    assert set(model.known.cells.block) == {0}, "segments of the same system are in one block"
    rows = design.system != 0
    fitted = fit_to_part(model.prepared, model.fitted, model.known, rows)
    assert fitted.effects == pytest.approx(refit(design.subset(rows), model.fitted.ratios).effects, abs=1e-8)
