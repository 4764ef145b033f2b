"""Place and company of an output on a screen with several systems: slopes, tests, correction, beside dense matrices."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import adjudge
from adjudge.mixed.design import Screens, design_from, screens_of
from adjudge.mixed.model import Model, model_of
from adjudge.mixed.screens import ScreenFit, company_of, fit_screens
from adjudge.table.judgments import Judgments

Floats = NDArray[np.float64]
SYSTEMS, PEOPLE, DOCUMENTS = 6, 5, 24


def contrastive(seed: int, *, place: float = 0.0, shown: int = 3, positions: bool = True) -> pl.DataFrame:
    """Each person judges some systems' outputs of each document on one screen; a later place costs points."""
    rng = np.random.default_rng(seed)
    taste, view = rng.normal(0, 2, (PEOPLE, SYSTEMS)), rng.normal(0, 4, (PEOPLE, DOCUMENTS))
    rows = []
    for person in range(PEOPLE):
        for document in range(DOCUMENTS):
            for position, system in enumerate(rng.choice(SYSTEMS, shown, replace=False)):
                for segment in range(2):
                    score = 60 + 2 * system + taste[person, system] + view[person, document] + place * position
                    score += rng.normal(0, 5)
                    name = (f"a{person}", f"a{person}-d{document}", f"d{document}", f"{segment}", f"s{system}")
                    rows.append((*name, position, float(score)))
    columns = ["annotator", "screen", "document", "segment", "system", "position", "score"]
    table = pl.DataFrame(rows, schema=columns, orient="row").with_columns(protocol=pl.lit("da"))
    return table if positions else table.drop("position")


def fitted(table: pl.DataFrame) -> tuple[Model, Screens, ScreenFit]:
    judgments = Judgments.from_columns(table)
    design = design_from(judgments, model="mixed-points")
    screens, model = screens_of(judgments, design), model_of(design)
    assert screens is not None
    found = fit_screens(model, screens)
    assert found is not None
    return model, screens, found


def dense(model: Model, columns: Floats, log_shift: Floats) -> tuple[Floats, Floats]:
    """Coefficients and covariance by generalised least squares, at variances moved by so much in their logarithms."""
    prepared, design = model.prepared, model.design
    scale, standard = prepared.standardised(None)
    residual = (model.fitted.components[-1].sd / scale.sd) ** 2 * np.exp(log_shift[0])
    covariance = np.eye(len(design))
    for effect, moved in zip(prepared.effects.kept, log_shift[1:], strict=True):
        level = np.eye(effect.levels)[effect.codes]
        covariance += model.fitted.ratios[effect.narrowest] * np.exp(moved) * level @ level.T
    x = np.column_stack([np.eye(len(design.systems))[design.system], columns])
    inverse = np.linalg.inv(covariance)
    spread = np.linalg.inv(x.T @ inverse @ x)
    return spread @ x.T @ inverse @ standard * scale.sd, spread * residual * scale.sd**2


def test_slopes_and_corrected_effects_are_those_of_dense_least_squares() -> None:
    model, screens, found = fitted(contrastive(1, place=-1.0))
    company = company_of(screens, model.design.system, model.fitted.effects)
    assert screens.position is not None
    columns = np.column_stack([part - part.mean() for part in (screens.position, company)])
    still = np.zeros(1 + len(model.prepared.effects.kept))
    expected, covariance = dense(model, columns, still)
    assert found.names == ("position", "company")
    np.testing.assert_allclose(found.slope, expected[SYSTEMS:], rtol=1e-7)
    np.testing.assert_allclose(found.covariance, covariance[SYSTEMS:, SYSTEMS:], rtol=1e-7)
    corrected = found.corrected(model.fitted)
    mean = model.prepared.standardised(None)[0].mean
    np.testing.assert_allclose(corrected.effects, expected[:SYSTEMS] + mean, rtol=1e-7)
    np.testing.assert_allclose(corrected.covariance, covariance[:SYSTEMS, :SYSTEMS], rtol=1e-6, atol=1e-9)
    # Satterthwaite: 2 / Var(log variance), with numerical derivatives in the logarithms of the variances.
    gradient = []
    for number in range(len(still)):
        step = still.copy()
        step[number] = 1e-5
        up, down = (np.log(np.diag(dense(model, columns, side * step)[1])[SYSTEMS:]) for side in (1, -1))
        gradient.append((up - down) / 2e-5)
    slopes = np.array(gradient).T
    df = 2 / np.einsum("ck,kl,cl->c", slopes, model.fitted.degrees.spread, slopes)
    np.testing.assert_allclose(found.df, df, rtol=1e-4)


def test_company_is_the_best_other_system_on_the_screen() -> None:
    screens = Screens(np.array([0, 0, 0, 1, 1, -1]), None)
    company = company_of(screens, np.array([0, 1, 2, 2, 0, 1]), np.array([3.0, 5.0, 4.0]))
    np.testing.assert_array_equal(company, [5.0, 4.0, 5.0, 3.0, 4.0, np.nan])


def test_a_place_that_costs_points_is_said_and_corrected_if_asked() -> None:
    table = contrastive(2, place=-3.0)
    ranking = adjudge.rank(table)
    effect = next(effect for effect in ranking.screen_effects if effect.name == "position")
    assert effect.low < -3 < effect.high < 0
    assert any("lower for each place further on the screen" in note for note in ranking.notes)
    assert "Screens with several systems" in [shown.title for shown in ranking.tables()]
    corrected = adjudge.rank(table, correct_screens=True)
    assert corrected.settings["correct_screens"] is True
    assert any("the ranking takes this into account" in note for note in corrected.notes)
    # Systems stood on all places by chance alone, so that scores move, but little.
    scores = [dict(one.to_frame().select("system", "score").iter_rows()) for one in (ranking, corrected)]
    moved = [abs(scores[0][name] - scores[1][name]) for name in scores[0]]
    assert 0 < max(moved) < 2


def test_nothing_is_tested_where_nothing_can_be_told() -> None:
    alone = contrastive(3, shown=1, positions=False)
    assert screens_of(Judgments.from_columns(alone), design_from(Judgments.from_columns(alone))) is None
    assert adjudge.rank(alone).screen_effects == ()
    everything = adjudge.rank(contrastive(3, shown=SYSTEMS, positions=False))
    assert everything.screen_effects == (), "company is a function of the system where all are on every screen"
    names = [effect.name for effect in adjudge.rank(contrastive(3, positions=False)).screen_effects]
    assert names == ["company"]


def test_correction_is_refused_where_there_is_nothing_to_correct() -> None:
    with pytest.raises(adjudge.AdjudgeError, match="no screen shows several systems"):
        adjudge.rank(contrastive(3, shown=1), correct_screens=True)
    with pytest.raises(adjudge.AdjudgeError, match="is for the mixed model of scores"):
        adjudge.rank(contrastive(3), method="zscore", correct_screens=True)


def test_position_beside_a_score_is_no_rank() -> None:
    judgments = adjudge.read(contrastive(4))
    assert judgments.table["rank"].null_count() == len(judgments)
    assert judgments.table["position"].dtype == pl.Int64
    ranked = pl.DataFrame({"system": ["a", "b"], "screen": ["1", "1"], "position": [1, 2]})
    assert adjudge.read(ranked).table["rank"].to_list() == [1, 2]
