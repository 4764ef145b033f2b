"""Systems over which people part more than over others: their own variance of tastes, beside a dense slow version."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from adjudge.mixed.design import MODELS, MixedDesign, combine, link
from adjudge.mixed.effects import Effects, identify
from adjudge.mixed.fit import MixedFit, Prepared, fit, fit_parting, maximise, parting_statistics, prepare
from adjudge.mixed.model import forget_models, model_of
from adjudge.ranking.scores import shared_tastes

Floats = NDArray[np.float64]


def polarising(seed: int, odd: float, *, people: int = 8, systems: int = 8, documents: int = 30) -> MixedDesign:
    """Two people judge every output once; tastes for the first system have their own standard deviation."""
    rng = np.random.default_rng(seed)
    system, document, turn = (axis.ravel() for axis in np.indices((systems, documents, 2)))
    person = (np.repeat(rng.integers(people, size=systems * documents), 2) + turn * 3) % people
    taste = rng.standard_normal((people, systems)) * np.where(np.arange(systems) == 0, odd, 2.0)
    score = 70 + taste[person, system] + 5 * rng.standard_normal(people)[person]
    score += 3 * rng.standard_normal(documents)[document] + 5 * rng.standard_normal(len(system))
    return MixedDesign(
        score=score,
        systems=tuple("ABCDEFGH"[:systems]),
        human=np.zeros(systems, dtype=bool),
        system=system,
        annotator=person,
        task=None,
        document=document,
        segment=None,
        page=None,
        row=np.arange(len(system)),
        annotator_system=combine(person, system),
        model=MODELS["mixed-points"],
    )


class Dense:
    """The model by the whole covariance matrix of the scores, and its restricted likelihood from the definition."""

    def __init__(self, design: MixedDesign, effects: Effects, ratios: Floats) -> None:
        spread = np.eye(len(design))
        for effect, ratio in zip(effects.kept, ratios, strict=True):
            has = np.ones(len(design), dtype=bool) if effect.marked is None else effect.marked[effect.codes]
            spread += ratio * ((effect.codes[:, None] == effect.codes) & has)
        shown = np.eye(len(design.systems))[design.system]
        weight = np.linalg.inv(spread)
        self.relative = np.linalg.inv(shown.T @ weight @ shown)
        self.projection = weight - weight @ shown @ self.relative @ shown.T @ weight
        self.effects = self.relative @ shown.T @ weight @ design.score
        free = len(design) - len(design.systems)
        self.variance = float(design.score @ self.projection @ design.score) / free
        determinants = np.linalg.slogdet(spread)[1] - np.linalg.slogdet(self.relative)[1]
        self.loglik = -(determinants + free * (1 + np.log(2 * np.pi * self.variance))) / 2


def dense(prepared: Prepared, model: MixedFit) -> Dense:
    return Dense(prepared.design, prepared.effects, prepared.effects.ratios(model.ratios))


@pytest.fixture(scope="module")
def parted() -> tuple[Prepared, MixedFit]:
    return fit_parting(prepare(polarising(1, 9.0)))


def test_predictions_are_those_of_the_dense_equations(parted: tuple[Prepared, MixedFit]) -> None:
    """Tastes for one system add nothing to the scores of others, and the residuals of every system have the mean 0."""
    prepared, model = parted
    design, slow = prepared.design, dense(prepared, model)
    # With the inverse of the spread W, the predicted residuals are W (y - X b), which the projection gives of y.
    residual, ratios = slow.projection @ design.score, prepared.effects.ratios(model.ratios)
    predicted = prepared.predictions(model.ratios)
    for effect, ratio in zip(prepared.effects.kept, ratios, strict=True):
        has = np.ones(len(design), dtype=bool) if effect.marked is None else effect.marked[effect.codes]
        added = ratio * ((effect.codes[:, None] == effect.codes) & has & has[:, None]) @ residual
        assert predicted[effect.parts] == pytest.approx(added, abs=1e-6)
    left = design.score - slow.effects[design.system] - sum(predicted.values())
    assert np.bincount(design.system, left) == pytest.approx(0, abs=1e-6)


def test_the_parted_model_is_that_of_dense_matrices(parted: tuple[Prepared, MixedFit]) -> None:
    prepared, model = parted
    assert prepared.design.parted == ("A",)
    expected = dense(prepared, model)
    assert model.effects == pytest.approx(expected.effects, abs=1e-8)
    assert model.covariance == pytest.approx(expected.relative * expected.variance, rel=1e-7)
    assert model.loglik == pytest.approx(expected.loglik, abs=1e-7)


def test_no_variances_nearby_are_more_likely(parted: tuple[Prepared, MixedFit]) -> None:
    prepared, model = parted
    ratios = prepared.effects.ratios(model.ratios)
    best = dense(prepared, model).loglik
    for place in np.flatnonzero(ratios > 1e-6):
        for factor in (0.97, 1.03):
            moved = ratios.copy()
            moved[place] *= factor
            assert Dense(prepared.design, prepared.effects, moved).loglik < best


def test_statistics_are_those_of_the_definition() -> None:
    design = polarising(2, 4.0)
    prepared = prepare(design)
    _, standard = prepared.standardised(None)
    optimum = maximise(prepared.layout, standard)
    found = parting_statistics(prepared, optimum.evaluation, standard)
    whole = Dense(design, prepared.effects, optimum.evaluation.equations.ratios)
    projection = whole.projection / whole.variance
    assert design.annotator_system is not None
    for system in range(len(design.systems)):
        levels = np.unique(design.annotator_system[design.system == system])
        tastes = (design.annotator_system[:, None] == levels).astype(float)
        z, explained = tastes.T @ projection @ design.score, tastes.T @ projection @ tastes
        expected = (z @ z - np.trace(explained)) / np.sqrt(2 * np.sum(explained**2))
        assert found[system] == pytest.approx(expected, rel=1e-6)


def test_statistics_do_not_depend_on_how_many_are_looked_at_together(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = prepare(polarising(2, 4.0))
    _, standard = prepared.standardised(None)
    evaluation = maximise(prepared.layout, standard).evaluation
    together = parting_statistics(prepared, evaluation, standard)
    monkeypatch.setattr("adjudge.mixed.fit._MOST_COLUMNS", 20)
    assert parting_statistics(prepared, evaluation, standard) == pytest.approx(together, rel=1e-9)
    some = parting_statistics(prepared, evaluation, standard, np.array([4, 1]))
    assert some[[1, 4]] == pytest.approx(together[[1, 4]], rel=1e-9)
    assert np.isneginf(np.delete(some, [1, 4])).all()


def test_a_search_that_pauses_goes_on_as_if_it_had_not() -> None:
    prepared = prepare(polarising(3, 2.0))
    _, standard = prepared.standardised(None)
    whole, pause = maximise(prepared.layout, standard), maximise(prepared.layout, standard, tolerance=0.02)
    on = maximise(prepared.layout, standard, pause)
    assert pause.steps < whole.steps == on.steps
    assert np.array_equal(on.evaluation.equations.ratios, whole.evaluation.equations.ratios)


def test_two_of_five_systems_are_parted() -> None:
    """Three share a variance then; a third one stays with them, however odd."""
    design = polarising(4, 20.0, systems=5, people=16, documents=60)
    assert design.annotator is not None
    rng = np.random.default_rng(4)
    odd = rng.normal(0.0, 20.0, (16, 5))[design.annotator, design.system]
    for last in (1, 2):
        score = design.score + odd * ((design.system > 0) & (design.system <= last))
        found = fit_parting(prepare(replace(design, score=score)))[0].design.parted
        assert len(found) == 2
        assert set(found) <= set("ABC"[: last + 1])


def test_another_reading_of_the_same_judgments_shares_the_equations() -> None:
    forget_models()
    design = polarising(1, 9.0)
    first, second = model_of(design), model_of(design.with_model("mixed-rank"))
    assert first.design.parted == second.design.parted == ("A",)
    assert second.prepared.layout is first.prepared.layout
    alone = fit(design.with_model("mixed-rank"))
    assert np.array_equal(second.fitted.effects, alone.effects)


def test_own_pairs_are_wider_and_others_narrower(parted: tuple[Prepared, MixedFit]) -> None:
    model = parted[1]
    one = prepare(polarising(1, 9.0)).fit()
    ratio = np.diag(model.covariance) / np.diag(one.covariance)
    # Less of all others' spread is left to tastes, and much more of the first system's.
    assert ratio[0] > 1.2
    assert (ratio[1:] < 1).all()
    assert (model.df[0, 1:] < model.df[1, 2:].min()).all()


def test_the_component_and_the_note_name_the_system(parted: tuple[Prepared, MixedFit]) -> None:
    model = parted[1]
    sd = {component.effect: component for component in model.components}
    own, others = sd["annotator:system (A)"], sd["annotator:system"]
    assert own.meaning == "how much annotators part over A"
    assert own.levels == 8
    # All of what people part over it: the extra variance beside that of tastes for others.
    residual = sd["residual"].sd
    assert own.sd**2 == pytest.approx(others.sd**2 + model.ratios["annotator:system (A)"] * residual**2)
    assert own.low is not None
    assert own.high is not None
    assert own.low < own.sd < own.high
    assert any(note.startswith("people part over A more than over other systems") for note in model.notes)


def test_what_tastes_add_includes_the_systems_own(parted: tuple[Prepared, MixedFit]) -> None:
    """tau^2 dC/dtau^2 summed over both variances, by differences of dense covariances at fixed residual variance."""
    prepared, model = parted
    ratios = prepared.effects.ratios(model.ratios)
    residual = model.components[-1].sd ** 2
    expected = np.zeros_like(model.covariance)
    step = 1e-5
    for place, effect in enumerate(prepared.effects.kept):
        if effect.parts[0].startswith("annotator:system"):
            sides = []
            for sign in (1, -1):
                moved = ratios.copy()
                moved[place] *= 1 + sign * step
                sides.append(Dense(prepared.design, prepared.effects, moved).relative)
            expected += (sides[0] - sides[1]) / (2 * step) * residual
    assert shared_tastes(model) == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_equal_tastes_leave_everything_as_it_was() -> None:
    design = polarising(5, 2.0)
    one, model = prepare(design).fit(), fit(design)
    for name in ("effects", "covariance", "df"):
        assert np.array_equal(getattr(model, name), getattr(one, name)), name
    assert model.components == one.components
    assert model.notes == one.notes


def test_parts_keep_the_separation_of_the_whole() -> None:
    design = polarising(1, 9.0)
    model = model_of(design)
    assert model.design.parted == ("A",)
    for unit, codes in (("annotator", design.annotator), ("document", design.document)):
        assert codes is not None
        for code in (0, 3):
            found = model.leave_out(unit, [code])[0]  # type: ignore[arg-type]
            part = model.design.subset(codes != code)
            effects = identify(part)
            expected = Dense(part, effects, effects.ratios(model.fitted.ratios))
            assert found is not None
            assert found.effects == pytest.approx(expected.effects, abs=1e-7)
            assert found.covariance == pytest.approx(expected.relative * expected.variance, rel=1e-6)


def test_halves_of_a_system_share_its_tastes() -> None:
    """In A/A tests both halves of the system are judged by the same tastes, which have its own variance."""
    model = model_of(polarising(1, 9.0))
    half = np.arange(len(model.design)) % 2
    halves = model.design.with_systems(
        2 * model.design.system + half,
        tuple(f"{name}{side}" for name in "ABCDEFGH" for side in "12"),
        np.zeros(16, bool),
    )
    own = identify(halves).kept[-1]
    assert own.parts == ("annotator:system (A)",)
    assert set(halves.system[own.marked[own.codes]]) == {0, 1}  # type: ignore[index]


def test_without_the_system_nothing_is_apart() -> None:
    model = model_of(polarising(1, 9.0))
    rest = model.part(model.design.system > 0)
    assert "annotator:system (A)" not in rest.ratios
    assert not any("annotator:system (" in component.effect for component in rest.components)


def test_no_system_is_parted_by_two_people_or_under_weights() -> None:
    design = polarising(1, 9.0, people=8)
    assert design.annotator is not None
    two = design.subset(np.isin(design.annotator, (0, 3)))
    assert fit_parting(prepare(two))[0].design.parted == ()
    weighted = replace(design, weight=np.ones(len(design)))
    assert fit_parting(prepare(weighted))[0].design.parted == ()


def test_few_systems_share_one_variance() -> None:
    """What is common must be known from others: of three systems none is parted."""
    design = polarising(1, 9.0)
    three = design.subset(design.system < 3)
    assert fit_parting(prepare(three))[0].design.parted == ()


def test_calibration_items_of_the_system_are_of_its_tastes() -> None:
    """The last rows are of the last system; as calibration items they are of a further one, but of the same tastes."""
    design = polarising(1, 9.0)
    linked = link(design, len(design) - 20).parting("H")
    rows = linked.stacked()
    assert rows.apart is not None
    assert np.array_equal(rows.apart == 1, design.system == 7)
    own = identify(linked).kept[-1]
    assert own.levels == len(np.unique(design.annotator_system[design.system == 7]))  # type: ignore[index]
