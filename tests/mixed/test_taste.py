"""Tastes of annotators in the model: what is estimated, with which degrees of freedom, and what is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import adjudge
from adjudge.mixed.design import MODELS, MixedDesign, design_from, normal_scores, points_per_unit
from adjudge.mixed.effects import identify, taste_degrees
from adjudge.mixed.fit import MixedFit, fit, prepare, refit
from adjudge.mixed.model import model_of
from adjudge.ranking.decisions import holm
from adjudge.readers.options import ReadOptions
from adjudge.table.judgments import Judgments
from adjudge.table.maths import contrasts
from tests.helpers.mixed_make import campaign
from tests.helpers.released import read_released


def pairs_told_apart(model: MixedFit) -> int:
    compared = contrasts(model.effects, model.covariance, model.df)
    return int((holm(compared.two_sided[np.triu_indices(len(model.systems), 1)]) < 0.05).sum())


def taste(model: MixedFit) -> float:
    return next(component.sd for component in model.components if "annotator:system" in component.effect)


NEWS_2021 = {"cs-en": (7, 0.1217, 25.8), "is-en": (12, 0.1613, None), "ru-en": (7, 0.0593, None)}


@pytest.mark.slow
@pytest.mark.parametrize("pair", NEWS_2021)
def test_released_judgments_of_2021(data: Path, pair: str) -> None:
    """Pairs after Holm, sd of tastes on the normal scale, points per unit.

    Source: lme4 1.1-31 with the call of `test_taste_against_lme4`, and p.adjust(p, "holm") of its contrasts by normal
    quantiles, which tell 8 pairs of cs-en apart; the last of them has p = .0490, by Student's t with 211 degrees of
    freedom .0560.
    """
    pairs, expected, slope = NEWS_2021[pair]
    design = design_from(read_released(data / "wmt21" / "newstest2021-toen", "wmt-da").for_pair(pair))
    model = fit(design)
    unit = points_per_unit(design.as_given, normal_scores(design.as_given))
    assert pairs_told_apart(model) == pairs
    assert taste(model) / unit == pytest.approx(expected, abs=0.0006)
    assert slope is None or unit == pytest.approx(slope, abs=0.06)


def test_the_esa_study_by_file(data: Path) -> None:
    """Pairs after Holm, sd of tastes on the normal scale, points per unit, of the file `240520rc6ESA.scores.csv`.

    Source of the taste: lme4 1.1-31 (`test_taste_against_lme4`). An independent sparse REML without annotator:document
    tells the same number of pairs apart. The other file of the study, `240520rc6GEMBA.scores.csv`, is another campaign.
    """
    path = data / "esa-study" / "240520rc6ESA.scores.csv"
    people = ReadOptions(annotators=data / "esa-study" / "Annotators_mapping.csv")
    judgments = adjudge.read([path], format="appraise", options=people)
    design = design_from(judgments.for_pair(judgments.pairs[0]))
    model = fit(design)
    unit = points_per_unit(design.as_given, normal_scores(design.as_given))
    assert pairs_told_apart(model) == 32
    assert taste(model) / unit == pytest.approx(0.13225, abs=0.0001)
    assert unit == pytest.approx(21.4, abs=0.06)


def test_the_unit_changes_nothing_but_the_unit() -> None:
    design = design_from(campaign("pages", 3, annotators=6, documents=8, taste=5.0))
    model, other = fit(design), fit(design.with_model("mixed-rank"))
    unit = points_per_unit(design.as_given, normal_scores(design.as_given))
    np.testing.assert_allclose(np.diff(model.effects), unit * np.diff(other.effects), rtol=1e-6)
    np.testing.assert_allclose(model.covariance, unit**2 * other.covariance, rtol=1e-5)
    np.testing.assert_allclose(model.df, other.df, rtol=1e-5)
    # The line through mean and slope: regressing the scores on what is fitted gives back slope 1.
    assert np.cov(design.as_given, design.score)[0, 1] / design.score.var(ddof=1) == pytest.approx(1)
    assert design.score.mean() == pytest.approx(design.as_given.mean())


def test_each_model_fits_its_own_scores() -> None:
    design = design_from(campaign("pages", 3), model="mixed-plain")
    assert "annotator:system" not in fit(design).ratios
    for name, model in MODELS.items():
        other = design.with_model(name)
        assert ("annotator:system" in fit(other).ratios) == model.taste
        np.testing.assert_array_equal(other.as_given, design.score)
        np.testing.assert_allclose(other.score, model.fitted_scores(design.score))
    np.testing.assert_array_equal(design.with_model("mixed").with_model("mixed-plain").score, design.score)


def test_degrees_of_freedom_never_exceed_those_of_the_tastes() -> None:
    """Everybody judged everything: (annotators - 1)(systems - 1) = 3 x 2; scores without any taste."""
    design = design_from(campaign("crossed", 1, annotators=4, systems=3, documents=12))
    assert taste_degrees(design, strictness=True) == 6
    model = fit(design)
    off = ~np.eye(3, dtype=bool)
    assert (model.df[off] <= 6).all()
    assert np.isinf(np.diag(model.df)).all()
    assert (fit(design.with_model("mixed-plain")).df[off] > 6).all()


def test_degrees_of_tastes_are_a_difference_of_ranks() -> None:
    """Against the ranks of the matrices themselves, on sparse campaigns."""
    for seed in range(5):
        design = design_from(campaign("sparse", seed, annotators=5, systems=4, documents=3))
        assert design.annotator is not None
        assert design.annotator_system is not None
        columns = [
            (codes[:, None] == np.arange(codes.max() + 1)).astype(float)
            for codes in (design.system, design.annotator, design.annotator_system)
        ]
        with_tastes = np.linalg.matrix_rank(np.hstack(columns))
        expected = with_tastes - np.linalg.matrix_rank(np.hstack(columns[:2]))
        assert taste_degrees(design, strictness=True) == expected
        assert taste_degrees(design, strictness=False) == with_tastes - np.linalg.matrix_rank(columns[0])


def test_halves_of_a_system_keep_the_tastes_for_it() -> None:
    design = design_from(campaign("pages", 3, annotators=6, documents=8))
    half = 2 * design.system + (np.arange(len(design)) % 2)
    halved = design.with_systems(half, tuple("abcdef"), np.zeros(6, dtype=bool))
    assert halved.annotator_system is design.annotator_system
    assert taste_degrees(halved, strictness=True) == taste_degrees(design, strictness=True)


def test_an_annotator_with_one_system_each_has_one_variance_for_strictness_and_taste() -> None:
    judgments = campaign("pages", 3, annotators=9, documents=8)
    own = (pl.col("annotator").str.slice(1).cast(pl.Int64) % 3) == pl.col("system").str.slice(1).cast(pl.Int64)
    design = design_from(judgments.select(own))
    assert "annotator + annotator:system" in [effect.name for effect in identify(design).kept]
    model = fit(design)
    assert (model.df[~np.eye(3, dtype=bool)] <= 9 - 3).all()


def test_tastes_that_nobody_shares_are_left_out_and_nothing_is_claimed() -> None:
    """a0 judged s0 and s1, a1 judged s1 and s2: whether a1 is strict or dislikes s1 cannot be known."""
    judgments = campaign("pages", 3, annotators=2, documents=12)
    chain = pl.col("system") != pl.when(pl.col("annotator") == "a0").then(pl.lit("s2")).otherwise(pl.lit("s0"))
    model = fit(design_from(judgments.select(chain)))
    reason = next(effect.reason for effect in model.left_out if effect.effect == "annotator:system")
    assert reason == "no two annotators share two systems, so tastes and strictness cannot be told apart"
    assert any(reason in note for note in model.notes)
    assert (model.df[~np.eye(3, dtype=bool)] == 1).all()


FEW_PEOPLE = [
    (1, "this annotator only"),
    (2, "these people only"),
    (3, "errors are large"),
    (4, ""),
]


@pytest.mark.parametrize(("annotators", "words"), FEW_PEOPLE)
def test_few_people_are_told(annotators: int, words: str) -> None:
    model = fit(design_from(campaign("pages", 5, annotators=annotators, documents=8)))
    assert model.annotators == annotators
    assert any(words in note for note in model.notes) if words else not model.notes


def test_one_person_has_no_tastes_beside_others() -> None:
    model = fit(design_from(campaign("pages", 5, annotators=1, documents=8)))
    assert next(effect.reason for effect in model.left_out if effect.effect == "annotator:system") == (
        "there is one annotator only"
    )
    assert (model.df > 1).all()


def test_parts_keep_the_scores_that_the_whole_was_fitted_to() -> None:
    design = design_from(campaign("pages", 6, annotators=6, documents=8, taste=4.0))
    ratios = fit(design).ratios
    assert design.annotator is not None
    rows = design.annotator != 2
    part = prepare(design.subset(rows))
    np.testing.assert_array_equal(part.design.score, design.score[rows])
    np.testing.assert_allclose(part.refit(None, ratios).effects, refit(design.subset(rows), ratios).effects, atol=1e-8)


def linked_campaign(seed: int, shown: tuple[str, ...]) -> Judgments:
    """Two people with one system each, the first 20 points stricter; 80 calibration items that both judged.

    `good` is 3 points better than `poor`.
    """
    rng = np.random.default_rng(seed)
    quality = {"good": 3.0, "poor": 0.0}
    hard = 5 * rng.standard_normal(80)
    rows = []
    for annotator, strict, own in (("a0", -20.0, "good"), ("a1", 0.0, "poor")):
        rows += [
            (annotator, "work", f"d{i // 8}", str(i % 8), own, "system", 65 + strict + quality[own] + rng.normal(0, 8))
            for i in range(400)
        ]
        rows += [
            (annotator, "shared", f"c{i // 8}", str(i % 8), shown[i % len(shown)], "calibration",
             65 + strict + hard[i] + quality.get(shown[i % len(shown)], 1.0) + rng.normal(0, 8))
            for i in range(80)
        ]  # fmt: skip
    names = ("annotator", "task", "document", "segment", "system", "kind", "score")
    columns: dict[str, object] = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    return Judgments.from_columns({**columns, "protocol": ["da"] * len(rows)})


@pytest.mark.parametrize("shown", [("good", "poor"), ("other",), ("good",)])
def test_calibration_items_link_people_who_share_nothing_else(shown: tuple[str, ...]) -> None:
    judgments = linked_campaign(1, shown)
    for method in MODELS:
        design = design_from(judgments, model=method)
        model = fit(design)
        assert model.systems == ("good", "poor")
        assert model.n.tolist() == [400, 400]
        # True difference 3; both scales together have an error of about 1.3 points.
        assert 0 < contrasts(model.effects, model.covariance, model.df).difference[0, 1] * _unit(design) < 6
        assert any("160 scores of calibration items link the annotators" in note for note in model.notes)
        mixed_otherwise = any("another mix of systems" in note for note in model.notes)
        assert mixed_otherwise == (len(shown) == 1)
    assert pairs_told_apart(fit(design_from(judgments))) == 0


def _unit(design: MixedDesign) -> float:
    return 1.0 if design.model.points else points_per_unit(design.as_given, normal_scores(design.as_given))


def test_without_them_the_two_cannot_be_compared() -> None:
    alone = linked_campaign(1, ("good",)).select(pl.col("kind") == "system")
    model = fit(design_from(alone))
    reason = next(effect.reason for effect in model.left_out if effect.effect == "annotator")
    assert reason == "each system has one annotator only, so the two cannot be told apart"
    assert pairs_told_apart(model) == 0
    # The stricter one's system lies 17 points below; strictness may be anything up to the spread of all scores.
    compared = contrasts(model.effects, model.covariance, model.df)
    assert compared.se[0, 1] > design_from(alone).score.std()


def test_parts_keep_the_calibration_items_of_those_who_are_left() -> None:
    base = campaign("pages", 6, annotators=5, documents=8)
    shared = base.table.filter(pl.col("document") == "d0").with_columns(
        kind=pl.lit("calibration"), document=pl.lit("shared"), task=pl.lit("first")
    )
    judgments = Judgments(pl.concat([base.table, shared]))
    design = design_from(judgments)
    assert design.linking is not None
    assert len(design.linking) == shared.height
    assert design.annotator is not None
    rows = design.annotator != 1
    part = prepare(design.subset(rows))
    assert part.design.linking is not None
    assert len(part.design.linking) == shared.filter(pl.col("annotator") != "a1").height
    ratios = fit(design).ratios
    again = design_from(Judgments(judgments.table.filter(pl.col("annotator") != "a1"))).with_model("mixed-points")
    score = again.score
    np.testing.assert_allclose(
        prepare(design.with_model("mixed-points").subset(rows)).refit(None, ratios).effects,
        prepare(again).refit(score, ratios).effects,
        atol=1e-8,
    )


def test_without_a_document_calibration_items_stay() -> None:
    """Effects are folded here, as every document is a task, and have more rows than the outputs that are ranked."""
    base = campaign("pages", 6, annotators=5, documents=8).table
    shared = base.filter(pl.col("document") == "d0").with_columns(kind=pl.lit("calibration"), document=pl.lit("shared"))
    table = pl.concat([base, shared]).with_columns(task="document")
    model = model_of(design_from(Judgments(table), model="mixed-points"))
    assert model.design.linking is not None
    assert any(len(effect.parts) > 1 for effect in model.prepared.effects.kept)
    documents = model.codes("document")
    assert documents is not None
    for code, without in enumerate(model.leave_out("document", range(3))):
        assert without is not None
        np.testing.assert_allclose(without.effects, model.part(documents != code).effects, atol=1e-8)
