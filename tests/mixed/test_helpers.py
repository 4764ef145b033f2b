"""Helpers: the fast code against whole matrices, and what must hold whatever the helpers say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from adjudge.mixed.design import design_from
from adjudge.mixed.helpers import (
    Helped,
    Matched,
    covariance_of_means,
    estimate_gains,
    folds_of,
    gain_of,
    help_design,
    match,
    sources_of,
    standard_errors_off,
)
from adjudge.mixed.model import model_of
from adjudge.readers.metric_scores import MetricScore
from adjudge.table.judgments import Judgments
from adjudge.table.maths import Codes
from tests.conftest import examples
from tests.helpers.mixed_make import campaign
from tests.helpers.slow_helpers import Floats, slow_gain, slow_help, slow_numbers

SHAPES = ("crossed", "pages", "nested", "segments", "sparse")


def scores_for(
    judgments: Judgments, seed: int, *, names: tuple[str, ...] = ("good", "poor"), missing: float = 0.0, more: int = 6
) -> list[MetricScore]:
    """Scores of every judged output and of `more` documents that nobody judged; the first helper knows the humans'."""
    rng = np.random.default_rng(seed)
    means = judgments.table.group_by("system", "document", "segment").agg(pl.col("score").mean()).sort(pl.all())
    outputs = list(means.iter_rows())
    systems = sorted({system for system, *_ in outputs})
    outputs += [(s, f"new{d}", str(i), 60 + 8 * rng.normal()) for s in systems for d in range(more) for i in range(2)]
    scores = []
    for number, name in enumerate(names):
        for system, document, segment, mean in outputs:
            score = (mean if number == 0 else 0.0) + 4 * rng.normal()
            if rng.random() >= missing:
                scores.append(MetricScore(name, system, segment, document, float(score)))
    return scores


def helped(
    judgments: Judgments, scores: list[MetricScore], *, model: str = "mixed-points", seed: int = 1
) -> tuple[Helped, Matched]:
    design = design_from(judgments, model=model)
    matched = match(judgments, design, scores)
    return help_design(design, matched, seed=seed), matched


def connect_all(system: Codes, effects: list[Codes]) -> bool:
    """Whether one can walk from every system to every other through levels that two systems share."""
    reached = {int(system[0])}
    while True:
        met = [np.isin(codes, codes[np.isin(system, list(reached))]) for codes in effects]
        more = {int(number) for meets in met for number in system[meets]}
        if more <= reached:
            return len(reached) == len(np.unique(system))
        reached |= more


@pytest.mark.slow
@settings(max_examples=examples(15))
@example(seed=40, shape="nested", normal=True, unnamed=False)
@given(seed=st.integers(0, 10_000), shape=st.sampled_from(SHAPES), normal=st.booleans(), unnamed=st.booleans())
def test_whole_matrices_give_the_same(seed: int, shape: str, normal: bool, unnamed: bool) -> None:
    judgments = campaign(shape, seed, taste=2.0, documents=6)
    design = design_from(judgments, model="mixed" if normal else "mixed-points")
    linked = [design.annotator, design.task, design.document, design.segment]
    # Systems without a common scale are refused; the shape "nested" sometimes draws them.
    assume(connect_all(design.system, [codes for codes in linked if codes is not None]))
    matched = match(judgments, design, scores_for(judgments, seed, missing=0.15))
    if unnamed:
        # As in files of scores without documents: those of segments that nobody judged are unknown.
        judged = np.isin(np.arange(matched.given.shape[2]), matched.segment)
        matched = replace(matched, document=np.where(judged, matched.document, -1))
    fast = sources_of(design, matched, seed).corrected_by([0, 1])
    without = model_of(design).fitted
    slow = slow_help(design, matched, without, fast.fit, seed)
    unit = float(design.score.std())
    assert fast.slopes == pytest.approx(slow.slopes, abs=1e-4 * unit)
    assert design.score - fast.predicted == pytest.approx(slow.corrected, abs=1e-3 * unit)
    assert fast.fit.effects == pytest.approx(slow.effects, abs=1e-3 * unit)
    assert fast.fit.covariance == pytest.approx(slow.covariance, rel=2e-3, abs=1e-6 * unit**2)
    pairs = [(a, b) for a in range(len(without.systems)) for b in range(a)]
    plain, better = (
        np.array([cov[a, a] + cov[b, b] - 2 * cov[a, b] for a, b in pairs])
        for cov in (without.covariance, slow.covariance)
    )
    gain = float(np.mean(plain / better))
    assert gain_of(without.covariance, fast.fit.covariance) == pytest.approx(gain, rel=2e-3)
    result = help_design(design, matched, seed=seed, alone=False)
    [estimated] = estimate_gains(sources_of(design, matched, seed), matched, [fast], seed)
    # Helpers that would make errors larger are left out.
    used = gain >= 1 and (estimated.high is None or estimated.high >= 1)
    assert (result.fit.effects == (fast.fit if used else without).effects).all()
    assert (result.gain_low, result.gain_high) == ((estimated.low, estimated.high) if used else (1.0, 1.0))
    assert result.gain == (estimated.shown if used else 1.0)
    part = folds_of(design, seed, 40)
    complete = all(len(np.unique(design.system[part != g])) == len(design.systems) for g in range(int(part.max()) + 1))
    # The slow version compares systems pair by pair, and needs all of them without each part of the documents.
    if fast.predicted.any() and complete:
        expected = slow_gain(design, matched, without, slow, seed)
        assert (estimated.estimate, estimated.low, estimated.high) == pytest.approx(expected, rel=5e-3)
        assert estimated.shown == (estimated.estimate if expected[1] > 1 else 1.0)


def random_given(seed: int, missing: float) -> Floats:
    rng = np.random.default_rng(seed)
    given = rng.normal(0, 3, (4, 12)) + rng.normal(0, 2, 12) + np.arange(4)[:, None]
    given[rng.random(given.shape) < missing] = np.nan
    given[:, 0] = rng.normal(size=4)
    return np.asarray(given)


@given(seed=st.integers(0, 10_000), missing=st.sampled_from([0.0, 0.3, 0.8]), normal=st.booleans())
def test_numbers_of_every_system_average_to_zero_over_the_test_set(seed: int, missing: float, normal: bool) -> None:
    """So that a random draw of segments leaves differences of systems unbiased, whichever scores are missing."""
    given_scores = random_given(seed, missing)
    matched = Matched(
        ("m",), tuple("abcd"), np.zeros(4, dtype=bool), given_scores[None], np.zeros(1, dtype=np.int64),
        np.zeros(1, dtype=np.int64), np.arange(12), "", (),
    )  # fmt: skip
    numbers = matched.numbers(normal=normal)[0]
    assert numbers.mean(axis=1) == pytest.approx(0, abs=1e-12)
    assert numbers == pytest.approx(slow_numbers(given_scores, normal=normal), abs=1e-9)


@pytest.mark.parametrize("unit", [1e300, 1e-300])
def test_numbers_have_no_unit(unit: float) -> None:
    given_scores = random_given(1, 0.3)
    matched = Matched(
        ("m",), tuple("abcd"), np.zeros(4, dtype=bool), given_scores[None], np.zeros(1, dtype=np.int64),
        np.zeros(1, dtype=np.int64), np.arange(12), "", (),
    )  # fmt: skip
    other = replace(matched, given=unit * matched.given)
    assert other.numbers(normal=False) == pytest.approx(matched.numbers(normal=False), abs=1e-9)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_helper_that_loves_a_system_changes_nothing(seed: int) -> None:
    """A constant for one system, another unit, the other direction: the corrected scores are the same."""
    judgments = campaign("pages", seed, taste=1.0, documents=15)
    scores = scores_for(judgments, seed, names=("good",), more=80)
    bent = [replace(score, score=-3 * float(score.score or 0) + 50 * (score.system == "s1")) for score in scores]
    (plain, _), (loving, _) = helped(judgments, scores), helped(judgments, bent)
    assert loving.fit.effects == pytest.approx(plain.fit.effects, abs=1e-5)
    assert loving.gain == pytest.approx(plain.gain, abs=1e-5)
    assert loving.helpers[0].slope == pytest.approx(-plain.helpers[0].slope, abs=1e-5)
    assert plain.helpers[0].slope > 1


def test_a_helper_given_twice_says_no_more_than_once() -> None:
    judgments = campaign("pages", 4)
    once = scores_for(judgments, 4, names=("good",))
    twice = [*once, *(replace(score, metric="again") for score in once)]
    (single, _), (double, _) = helped(judgments, once), helped(judgments, twice)
    assert double.fit.effects == pytest.approx(single.fit.effects, abs=1e-5)
    assert double.gain == pytest.approx(single.gain, abs=1e-5)
    assert [each.slope for each in double.helpers] == pytest.approx([single.helpers[0].slope / 2] * 2, abs=1e-5)


@pytest.mark.parametrize("model", ["mixed", "mixed-points"])
def test_a_constant_helper_does_nothing(model: str) -> None:
    judgments = campaign("pages", 5)
    by_system = [
        replace(score, score=float(len(score.system) + int(score.system[1:])))
        for score in scores_for(judgments, 5, names=("flat",))
    ]
    result, _ = helped(judgments, by_system, model=model)
    without = model_of(design_from(judgments, model=model)).fitted
    assert result.gain == 1.0
    assert result.helpers[0].slope == 0.0
    assert (result.fit.effects == without.effects).all()
    assert any("flat: the same score for all outputs of a system" in note for note in result.notes)


def test_nothing_is_gained_where_everything_was_judged() -> None:
    """The corrections of a system average to 0, and what is explained is added to the errors again."""
    all_judged, few_judged = [], []
    for seed in range(6):
        judgments = campaign("crossed", seed, documents=30)
        result, matched = helped(judgments, scores_for(judgments, seed, names=("good",), more=0))
        assert matched.judged_share == 1.0
        assert any("100% of the outputs" in note for note in result.notes)
        more, _ = helped(judgments, scores_for(judgments, seed, names=("good",), more=200))
        all_judged.append(result.gain)
        few_judged.append(more.gain)
    assert 1.0 <= np.mean(all_judged) < 1.02
    assert np.mean(few_judged) > 1.3


def test_a_system_without_scores_shares_what_is_common_to_its_segments() -> None:
    judgments = campaign("crossed", 7, documents=12)
    scores = [score for score in scores_for(judgments, 7, names=("good",)) if score.system != "s2"]
    result, matched = helped(judgments, scores)
    numbers = matched.numbers(normal=False)[0]
    common = numbers[:2].mean(axis=0)
    assert numbers[2] == pytest.approx(common - common.mean(), abs=1e-12)
    assert result.helpers[0].unscored == int((matched.system == 2).sum())
    assert any("s2: no scores by good" in note for note in result.notes)


def test_folds_hold_whole_documents_and_follow_the_seed() -> None:
    design = design_from(campaign("pages", 8, documents=7))
    assert design.document is not None
    fold = folds_of(design, 1)
    assert all(len(np.unique(fold[design.document == d])) == 1 for d in range(7))
    assert len(np.unique(fold)) == 7
    assert (folds_of(design, 1) == fold).all()
    assert (folds_of(design, 2) != fold).any()
    segments = replace(design, document=None)
    assert segments.segment is not None
    of_segment = [np.unique(folds_of(segments, 1)[segments.segment == s]) for s in np.unique(segments.segment)]
    assert {len(one) for one in of_segment} == {1}


def test_slopes_of_a_document_do_not_depend_on_its_own_scores() -> None:
    """Other scores in one document change the corrections of all documents but that one (at given variances)."""
    judgments = campaign("pages", 9, documents=8)
    design = design_from(judgments, model="mixed-points")
    scores = scores_for(judgments, 9, names=("good",))
    assert design.document is not None
    inside = design.document == 0
    changed = replace(design, score=design.score + np.where(inside, np.arange(len(design)) % 7, 0))
    matched = match(judgments, design, scores)
    from adjudge.mixed.helpers import products_elsewhere

    rows, fold = matched.of_rows(matched.numbers(normal=False)), folds_of(design, 1)
    ratios = model_of(design).fitted.ratios
    before, after = (
        np.array([part.slopes[0] for part in products_elsewhere(each, rows, ratios, fold)])
        for each in (design, changed)
    )
    own = fold[inside][0]
    assert after[own] == before[own]
    assert (np.delete(after, own) != np.delete(before, own)).all()


def test_documents_of_the_test_set_count_as_units() -> None:
    """Two systems, four segments in two documents, by hand: means 0; documents' sums (2, -2) and (1, -1) over 4."""
    numbers = np.array([[1.0, 1.0, -1.0, -1.0], [1.0, 0.0, 0.0, -1.0]])
    found = covariance_of_means(numbers, np.array([0, 0, 1, 1]))
    # (2 * 2 + 2 * 2) / 16 * 2 / 1, (2 * 1 + 2 * 1) / 16 * 2, (1 + 1) / 16 * 2
    assert found == pytest.approx(np.array([[1.0, 0.5], [0.5, 0.25]]))


def test_a_choice_that_the_helpers_see_is_warned_of() -> None:
    """What nobody judged is much worse by the helper: that is no random draw."""
    judgments = campaign("crossed", 3, documents=20)
    scores = scores_for(judgments, 3, names=("good",), more=40)
    chosen = [replace(each, score=(each.score or 0) - 30 * str(each.document).startswith("new")) for each in scores]
    (drawn, _), (picked, _) = helped(judgments, scores), helped(judgments, chosen)
    assert not any("unlikely in a random draw" in note for note in drawn.notes)
    assert any("better by the helpers' scores than the rest" in note for note in picked.notes)


def test_judged_documents_that_the_helpers_find_better_are_no_random_draw() -> None:
    design = design_from(campaign("crossed", 3, documents=20))
    assert standard_errors_off(design, np.full(len(design), 0.5)) > 3
    assert standard_errors_off(design, np.zeros(len(design))) == 0
    assert gain_of(np.eye(3), np.eye(3) / 2) == pytest.approx(2)
