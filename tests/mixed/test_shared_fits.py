"""Models that sections share: the same fit as made alone, made once, and forgotten when there are too many."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from adjudge.mixed import model as shared_fits
from adjudge.mixed.design import design_from
from adjudge.mixed.fit import fit, prepare
from adjudge.mixed.model import FitsWithout, model_of
from adjudge.planning.simulate import simulate
from adjudge.planning.simulated_scores import ScoreCampaign


@pytest.fixture(scope="module")
def judgments() -> object:
    return simulate(ScoreCampaign(systems=3, annotators=4, tasks=8, documents=4, task_size=30), seed=3).judgments


def test_the_fit_is_that_of_the_design(judgments: object) -> None:
    design = design_from(judgments)  # type: ignore[arg-type]
    own = fit(design)
    assert model_of(design).fitted.effects.tolist() == own.effects.tolist()
    assert model_of(design).fitted.covariance.tolist() == own.covariance.tolist()


def test_equal_content_is_fitted_once_and_other_content_again(judgments: object) -> None:
    design = design_from(judgments)  # type: ignore[arg-type]
    assert model_of(design_from(judgments)) is model_of(design)  # type: ignore[arg-type]
    assert model_of(design.with_scores(design.as_given + 1)) is not model_of(design)


def test_units_left_out_are_those_of_a_fit_without_their_rows(judgments: object) -> None:
    design = design_from(judgments)  # type: ignore[arg-type]
    model = model_of(design)
    (left_out,) = model.leave_out("annotator", [1])
    assert left_out is not None
    kept = design.annotator != 1
    alone = prepare(design.subset(np.asarray(kept))).refit(None, model.fitted.ratios)
    assert left_out.effects == pytest.approx(alone.effects, rel=1e-10)
    assert model.leave_out("annotator", [1, 0])[0] is left_out


def test_a_worker_solves_the_whole_once_for_all_pieces_of_its_tasks(judgments: object) -> None:
    design = design_from(judgments)  # type: ignore[arg-type]
    model = model_of(design)
    carried = pickle.dumps(FitsWithout(model.prepared, model.fitted, "this model"))
    pieces = [pickle.loads(carried) for _ in range(2)]
    fits = [piece(("annotator", 1)) for piece in pieces]
    assert pieces[0]._whole is pieces[1]._whole
    assert fits[0].effects.tolist() == fits[1].effects.tolist()
    other = FitsWithout(model.prepared, model.fitted, "another")
    assert other._whole is not pieces[0]._whole


def test_only_so_many_rows_are_remembered(judgments: object, monkeypatch: pytest.MonkeyPatch) -> None:
    design = design_from(judgments)  # type: ignore[arg-type]
    first = model_of(design)
    monkeypatch.setattr(shared_fits, "MOST_ROWS", len(design))
    assert model_of(design.with_scores(design.as_given + 1)).prepared.layout is first.prepared.layout
    assert model_of(design) is first
    model_of(design.with_model("mixed-plain"))
    assert model_of(design) is not first


def test_designs_that_know_different_things_have_models_of_their_own(judgments: object) -> None:
    """Documents and pages of one are known, those of the other are not, in either order."""
    design = design_from(judgments)  # type: ignore[arg-type]
    unknown = replace(design, document=None, page=None, segment=None)
    for first, second in ((design, unknown), (unknown, design)):
        shared_fits.forget_models()
        known = [model_of(own).fitted.effects.tolist() for own in (first, second)]
        assert known == [fit(own).effects.tolist() for own in (first, second)]
