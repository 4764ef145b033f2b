"""The fast REML against the slow one, on random campaigns of every shape."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from adjudge.mixed import layout as layout_module
from adjudge.mixed.design import MixedDesign, design_from
from adjudge.mixed.effects import SMALLEST_RATIO, Effect, identify
from adjudge.mixed.equations import totals
from adjudge.mixed.fit import Evaluation, Neighbourhood, evaluate, fit, maximise, refit
from adjudge.mixed.layout import lay_out
from adjudge.table.errors import DataError
from adjudge.table.judgments import Judgments
from tests.helpers.mixed_make import SHAPES, campaign
from tests.helpers.slow import SlowModel, slow_model

CASES = [(shape, seed) for shape in SHAPES for seed in (1, 2, 3)]


def prepared(shape: str, seed: int) -> tuple[MixedDesign, SlowModel]:
    design = design_from(campaign(shape, seed))
    return design, slow_model(design, identify(design).kept)


@pytest.mark.parametrize(("shape", "seed"), CASES)
def test_known_ratios_give_the_textbook_numbers(shape: str, seed: int) -> None:
    design, slow = prepared(shape, seed)
    names = [effect.narrowest for effect in identify(design).kept]
    ratios = np.random.default_rng(seed).uniform(0.01, 2.0, len(names))
    fitted = refit(design, dict(zip(names, ratios, strict=True)))
    residual = slow.residual_variance(ratios)
    components = np.append(ratios, 1.0) * residual
    np.testing.assert_allclose([component.sd for component in fitted.components], np.sqrt(components), rtol=1e-9)
    np.testing.assert_allclose(fitted.effects, slow.effects(components), rtol=1e-9)
    np.testing.assert_allclose(fitted.covariance, slow.covariance(components), rtol=1e-8)
    assert fitted.loglik == pytest.approx(-slow.criterion(components) / 2, rel=1e-10)


@pytest.mark.parametrize(("shape", "seed"), CASES)
def test_the_gradient_is_the_slope_of_the_criterion(shape: str, seed: int) -> None:
    design, _ = prepared(shape, seed)
    effects = identify(design).kept
    layout = lay_out(design.system, len(design.systems), effects)
    score = totals(layout, ((design.score - design.score.mean()) / design.score.std())[:, None])
    here = np.log(np.random.default_rng(seed).uniform(0.05, 1.0, len(effects)))
    step = 1e-4 * np.eye(len(here))
    slopes = [
        (evaluate(layout, score, here + change).criterion - evaluate(layout, score, here - change).criterion) / 2e-4
        for change in step
    ]
    np.testing.assert_allclose(evaluate(layout, score, here).gradient, slopes, rtol=1e-5, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "seed"), CASES)
def test_no_other_variances_are_more_likely(shape: str, seed: int) -> None:
    design, slow = prepared(shape, seed)
    fitted = fit(design)
    assert fitted.converged
    best = np.array([max(component.sd, 1e-4) ** 2 for component in fitted.components])
    lowest = slow.lowest([best, np.full(len(best), best.mean())])
    assert fitted.loglik is not None
    # Seventeen scores and eight variances: the likelihood is flat there to the fourth digit.
    assert -2 * fitted.loglik <= lowest + (1e-4 if shape == "sparse" else 1e-6)
    np.testing.assert_allclose(fitted.effects, slow.effects(best), rtol=1e-6)
    np.testing.assert_allclose(fitted.covariance, slow.covariance(best), rtol=1e-4)


@pytest.mark.parametrize("noise", [0.0, 1e-5])
def test_scores_without_a_residual_are_refused(noise: float) -> None:
    """Systems and segments explain all: no variance is the most likely, and rounding must not choose one.

    With four scores the search had ended after a step, with 8 degrees of freedom and p = .0005.
    """
    rng = np.random.default_rng(2)
    segment, system = (codes.ravel() for codes in np.indices((5, 3)))
    score = 60 + rng.normal(size=5)[segment] + 4 * system + noise * rng.normal(size=15)
    columns = {"segment": [f"s{code}" for code in segment], "system": [f"m{code}" for code in system], "score": score}
    judgments = Judgments.from_columns({**columns, "protocol": ["da"] * 15})
    with pytest.raises(DataError, match="explain every score exactly"):
        fit(design_from(judgments, model="mixed-points"))


@pytest.mark.parametrize("seed", [0, 4, 5])
def test_degrees_of_freedom_do_not_exceed_those_of_the_scores(seed: int) -> None:
    """One person, two systems, four segments, three of which lack a score: five scores leave 3; it was 12."""
    score = np.random.default_rng(seed).normal(60, 8, 5)
    columns = {"annotator": ["a"] * 5, "segment": list("11234"), "system": list("xyxyx"), "score": score}
    found = fit(design_from(Judgments.from_columns({**columns, "protocol": ["da"] * 5}), model="mixed-points"))
    assert 1 <= found.df[0, 1] <= 3


def test_a_second_valley_is_not_mistaken_for_the_lowest() -> None:
    """Scores that pages explain to a thousandth: from the usual start the search ends at a local minimum."""
    design = design_from(campaign("sparse", 22, systems=3, annotators=3, documents=4))
    rng = np.random.default_rng(22)
    assert design.page is not None
    for codes in (design.document, design.segment, design.page):
        assert codes is not None
        pages = rng.normal(size=int(codes.max()) + 1)[codes] + 0.001 * rng.normal(size=len(codes))
    design = design.with_scores(pages)
    slow = slow_model(design, identify(design).kept)
    fitted = fit(design)
    best = np.array([max(component.sd, 1e-9) ** 2 for component in fitted.components])
    ratios = [np.append(np.full(len(best) - 1, ratio), 1.0) for ratio in (1e-3, 1.0, 1e3, 1e5)]
    starts = [ratio * slow.residual_variance(ratio[:-1]) for ratio in ratios]
    assert fitted.loglik is not None
    assert -2 * fitted.loglik <= slow.lowest([best, *starts]) + 1e-3


@pytest.mark.parametrize("shape", SHAPES)
def test_blocks_that_are_too_large_are_moved_to_the_border(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    design, _ = prepared(shape, 5)
    usual = fit(design)
    monkeypatch.setattr(layout_module, "LARGEST_BLOCK", 3)
    moved = fit(design)
    np.testing.assert_allclose(moved.effects, usual.effects, rtol=1e-6)
    np.testing.assert_allclose(moved.covariance, usual.covariance, rtol=1e-4)


def test_the_order_of_rows_does_not_matter() -> None:
    design = design_from(campaign("pages", 7))
    rows = np.random.default_rng(1).permutation(len(design))
    judgments = campaign("pages", 7)
    shuffled = design_from(type(judgments)(judgments.table[rows.tolist()]))
    np.testing.assert_allclose(fit(shuffled).effects, fit(design).effects, rtol=1e-8)


def test_a_shift_and_a_stretch_of_the_scale_only_shift_and_stretch_the_effects() -> None:
    design = design_from(campaign("pages", 8))
    plain, other = fit(design), fit(design.with_scores(1000 + 7 * design.score))
    np.testing.assert_allclose(other.effects, 1000 + 7 * plain.effects, rtol=1e-9)
    np.testing.assert_allclose(other.covariance, 49 * plain.covariance, rtol=1e-6)
    np.testing.assert_allclose(other.df, plain.df, rtol=1e-6)
    names = [component.effect for component in plain.components]
    assert [component.effect for component in other.components] == names


def test_degrees_of_freedom_are_those_of_the_analysis_of_variance_where_that_is_exact() -> None:
    """Each of 3 systems has 6 pages of 4 segments and nothing else is named: pages within systems, 3 (6 - 1) = 15."""
    rng = np.random.default_rng(3)
    page = np.repeat(np.arange(18), 4)
    design = MixedDesign(
        score=50 + 4 * rng.standard_normal(18)[page] + 3 * rng.standard_normal(72),
        systems=("a", "b", "c"),
        human=np.zeros(3, dtype=bool),
        system=page // 6,
        annotator=None,
        task=None,
        document=None,
        segment=None,
        page=page,
        row=np.arange(72),
    )
    fitted = fit(design)
    off = ~np.eye(3, dtype=bool)
    np.testing.assert_allclose(fitted.df[off], 15.0, rtol=1e-5)
    means = design.score.reshape(18, 4).mean(1).reshape(3, 6)
    np.testing.assert_allclose(fitted.effects, means.mean(1), rtol=1e-10)
    between = means.var(axis=1, ddof=1).mean() / 6
    np.testing.assert_allclose(np.diag(fitted.covariance), between, rtol=1e-6)


class Bowl:
    """An evaluation as `Neighbourhood` sees it: of effects with ten levels each."""

    def __init__(self, ratios: list[float], gradient: object, curvature: object) -> None:
        self.equations = SimpleNamespace(ratios=np.array(ratios), levels=np.full(len(ratios), 10.0))
        self.gradient, self.curvature = np.array(gradient), np.array(curvature)
        # n = 4 scores for each level
        self.freedoms = 10 * 4 * self.equations.ratios / (1 + 4 * self.equations.ratios)


def test_a_step_below_no_variance_is_cut_and_pulls_the_others_as_far_as_it_goes() -> None:
    share = np.array([0.5, 0.5, 0.2])
    bend = np.array([[2.0, 0.5, 0.3], [0.5, 1.0, 0.2], [0.3, 0.2, 0.1]])
    slope = np.array([-0.4, -0.3, 1.0])
    around = Neighbourhood(cast(Evaluation, Bowl([0.25, 0.25, 0.0625], slope * share, bend * np.outer(share, share))))
    bend = bend + np.diag([0.0, 0.0, 1.0])
    lowest = -np.log(1.25)
    assert np.linalg.solve(bend, -slope)[2] < lowest
    expected = np.linalg.solve(bend[:2, :2], -slope[:2] - bend[:2, 2] * lowest)
    found = around.after_step()
    assert np.log((1 + 4 * found[:2]) / 2) == pytest.approx(expected)
    assert found[2] == SMALLEST_RATIO


def test_a_variance_of_0_is_held_there_only_while_it_wants_to_fall() -> None:
    for slope in (1.0, -1.0):
        around = Neighbourhood(
            cast(Evaluation, Bowl([SMALLEST_RATIO, 0.25], [4e-8 * slope, 0.1], [[1.6e-15, 0.0], [0.0, 0.25]]))
        )
        assert around.free.tolist() == [slope < 0, True]
        assert (around.after_step()[0] > 0.01) == (slope < 0)


def test_few_steps_lead_to_the_optimum_from_anywhere() -> None:
    """Pages of four segments whose variance is that of the residual, and a second effect that is not there."""
    rng = np.random.default_rng(4)
    page = np.repeat(np.arange(40), 4)
    score = 2 * rng.standard_normal(40)[page] + rng.standard_normal(160)
    nothing = Effect(("task",), np.arange(160) % 7, 7)
    layout = lay_out(page % 3, 3, [Effect(("page",), page, 40), nothing])
    standard = (score - score.mean()) / score.std()
    found = [maximise(layout, standard, np.full(2, ratio)) for ratio in (1e-6, 0.01, 1.0, 30.0)]
    for optimum in found:
        assert optimum.converged
        assert optimum.steps <= 10
        assert optimum.evaluation.equations.ratios[0] == pytest.approx(
            found[0].evaluation.equations.ratios[0], rel=1e-4
        )
