"""Whose judgments follow those of the others: suspects are named with evidence, and nobody is dropped for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from math import comb
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from adjudge.evidence.annotator_fit import (
    check_with_fit,
    reference_wins,
    relative_fits,
    score_fits,
    verdict_on,
    with_fit,
)
from adjudge.mixed.agreement import PersonFit, fits_of_people
from adjudge.mixed.design import design_from
from adjudge.people.check import check
from adjudge.ranking import bradley_terry
from adjudge.ranking.counts import count_people, person_of
from adjudge.ranking.tastes import fit_tastes
from adjudge.readers import native
from adjudge.table.comparisons import Comparisons, comparisons
from adjudge.table.judgments import Judgments
from tests.conftest import Run
from tests.helpers.check_make import random_rankings, rankings

Block = tuple[str, str, dict[str, int]]


def scored(seed: int, *, clickers: int = 2, each: int = 140) -> Judgments:
    """Eight people score pages of four segments of five systems; the first ones draw their scores at random."""
    rng = np.random.default_rng(seed)
    systems, people = 5, 8
    page = np.arange(each * 2)
    who = np.repeat(np.concatenate([rng.permutation(page % people), rng.permutation(page % people)]), 4)
    shown = np.repeat(np.tile(page, 2), 4)
    what, text, segment = shown % systems, shown // systems, np.tile(np.arange(4), len(shown) // 4)
    score = (
        70
        + rng.normal(0, 6, systems)[what]
        + rng.normal(0, 6, people)[who]
        + rng.normal(0, 8, (text.max() + 1, 4, systems))[text, segment, what]
        + rng.normal(0, 6, len(who))
    )
    score = np.where(who < clickers, rng.normal(75, 10, len(who)), score)
    columns = {
        "annotator": who,
        "system": what,
        "document": text,
        "segment": segment,
        "screen": np.arange(len(who)) // 4,
    }
    named = {name: [f"{name[0]}{code}" for code in codes] for name, codes in columns.items()}
    return Judgments.from_columns({**named, "score": score.round().clip(0, 100), "protocol": ["esa"] * len(who)})


def fits_of(judgments: Judgments) -> dict[str, PersonFit | None]:
    return score_fits(design_from(judgments), {code: f"a{code}" for code in range(8)})


def test_clickers_are_named_with_evidence_and_stay() -> None:
    judgments = scored(1)
    plain, checked = check(judgments), check_with_fit(judgments)
    fit = {one.annotator: one.fit for one in checked.annotators}
    assert {name for name, verdict in fit.items() if verdict == "careless"} == {"a0", "a1"}
    assert all(verdict == "as expected" for name, verdict in fit.items() if name not in ("a0", "a1"))
    assert checked.passing == plain.passing == {f"a{i}" for i in range(8)}
    assert checked.dropped == plain.dropped
    told = [note for note in checked.notes if "do not follow those of the others" in note]
    assert len(told) == 2
    assert "expected 1, Bayes factor" in told[0]
    assert any("not left out" in note for note in checked.notes)
    table = next(table for table in checked.tables() if table.title == "Agreement with the others")
    assert {table.rows[0][0], table.rows[1][0]} == {"a0", "a1"}


def test_nobody_is_named_where_all_are_ordinary() -> None:
    for seed in range(3):
        checked = check_with_fit(scored(seed, clickers=0))
        assert all(one.fit == "as expected" for one in checked.annotators)
        assert not any("follow" in note or "vary" in note for note in checked.notes)


def test_who_gives_nearly_the_same_score_throughout_is_named_before_agreement_tells() -> None:
    judgments = scored(1, clickers=0, each=20)
    line = np.random.default_rng(1).normal(80, 1, judgments.table.height).round()
    by_last = pl.col("annotator") == "a7"
    drawn = replace(
        judgments, table=judgments.table.with_columns(score=pl.when(by_last).then(pl.lit(line)).otherwise("score"))
    )
    checked = check_with_fit(drawn)
    assert checked.annotators[-1].fit != "careless"
    assert [note[:26] for note in checked.notes if "hardly vary" in note] == ["scores of a7 hardly vary: "]


def test_everybody_is_compared_with_those_who_can_be_trusted() -> None:
    judgments = scored(1)
    fits = fits_of(judgments)
    beside = fits_of_people(design_from(judgments), np.arange(8) > 1)
    assert {name: fit for name, fit in fits.items() if fit} == {f"a{code}": fit for code, fit in beside.items()}


def test_where_few_could_be_trusted_all_are_compared_with_each_other() -> None:
    """Six of eight click at random: the others are no majority."""
    judgments = scored(2, clickers=6)
    beside = fits_of_people(design_from(judgments), np.ones(8, dtype=bool))
    assert fits_of(judgments) == {f"a{code}": beside.get(code) for code in range(8)}


def test_verdicts() -> None:
    assert verdict_on(PersonFit(1.0, 1.0, 25.0)) == "as expected"
    assert verdict_on(PersonFit(0.32, 1.0, 25.0)) == "not shown"
    assert verdict_on(PersonFit(0.0, 1.0, 25.0)) == "careless"
    assert verdict_on(PersonFit(1.0, 1.0, 4.0)) == "too little to tell"
    # A few comparisons that all went the other way prove nothing.
    assert verdict_on(PersonFit(-3.0, None, 1.0)) == "too little to tell"


def test_json_has_the_new_keys_beside_the_old(adjudge: Callable[..., Run], tmp_path: Path) -> None:
    native.write(scored(1), tmp_path / "scores.parquet")
    (first, *_) = json.loads(adjudge("check", tmp_path / "scores.parquet", "--json").out)["annotators"]
    assert {"agreement", "slope", "spread", "careless", "fit", "passed", "reasons", "p_controls"} <= first.keys()
    assert (first["fit"], first["passed"]) == ("careless", True)
    assert first["careless"] > 30


def test_judgments_without_a_model_are_checked_all_the_same() -> None:
    one_system = scored(1).select(scored(1).table["system"] == "s0")  # type: ignore[arg-type]
    checked = check(one_system)
    assert with_fit(checked, one_system) == checked


def compared_pairs(seed: int, *, clickers: int, each: int = 150) -> Comparisons:
    rng = np.random.default_rng(seed)
    strength = {"s0": 1.0, "s1": 0.5, "s2": 0.0, "s3": -0.5, "s4": -1.0}
    blocks: list[Block] = []
    for person in range(6):
        for i in range(each):
            first, second = rng.choice(list(strength), 2, replace=False)
            ahead = 0.0 if person < clickers else strength[first] - strength[second]
            won = int(rng.random() < 1 / (1 + np.exp(-ahead)))
            blocks.append((f"a{person}", f"{person}-{i}", {first: 2 - won, second: 1 + won}))
    return comparisons(rankings(blocks))


def test_random_choices_are_told_from_others() -> None:
    fits = relative_fits(compared_pairs(3, clickers=1))
    verdicts = {name: verdict_on(fit) for name, fit in fits.items() if fit is not None}
    assert verdicts == {"a0": "careless", **{f"a{i}": "as expected" for i in range(1, 6)}}


@pytest.mark.parametrize("seed", range(3))
def test_relative_fits_are_those_of_the_whole_covariance(seed: int) -> None:
    """Rows of all people below each other, V = phi + tau^2 x x' within people, and P of the whole."""
    compared = comparisons(random_rankings(seed, blocks=200, people=4, segments=150))
    counts = count_people(compared, person_of(compared), np.arange(4))
    fitted = fit_tastes(counts, compared)
    plain = bradley_terry.fit(counts.wins.sum(0), counts.ties.sum(0))
    mean, variance = bradley_terry.expectations(plain.strength, float(plain.log_tie))
    rows, targets, owner = [], [], []
    for person in range(4):
        own = compared.annotator == person
        information, score = np.zeros((4, 4)), np.zeros(4)
        for first, second, outcome in zip(
            compared.first[own], compared.second[own], compared.outcome[own], strict=True
        ):
            way = np.eye(4)[first] - np.eye(4)[second]
            information += variance[first, second] * np.outer(way, way)
            score += ((outcome + 1) / 2 - mean[first, second]) * way
        values, vectors = np.linalg.eigh(information)
        for value, vector in list(zip(values, vectors.T, strict=True))[1:]:
            rows.append(np.sqrt(value) * vector)
            targets.append(vector @ score / np.sqrt(value) + rows[-1] @ plain.strength)
            owner.append(person)
    x, z, who = np.array(rows), np.array(targets), np.array(owner)
    V = fitted.dispersion * np.eye(len(z)) + fitted.taste**2 * (x @ x.T) * (who[:, None] == who[None, :])
    inverse = np.linalg.inv(V)
    P = inverse - inverse @ x @ np.linalg.pinv(x.T @ inverse @ x) @ x.T @ inverse
    fits = relative_fits(compared)
    if any(fit is not None and verdict_on(fit) == "careless" for fit in fits.values()):
        pytest.fail("the example must not need a second round")
    for person in range(4):
        own = who == person
        own_P = P[np.ix_(own, own)]
        m = z[own] - np.linalg.solve(own_P, (P @ z)[own])
        found = fits[f"a{person}"]
        assert found is not None
        assert found.information == pytest.approx(m @ own_P @ m, rel=1e-6)
        assert found.slope == pytest.approx(m @ own_P @ z[own] / (m @ own_P @ m), rel=1e-6)


def test_wins_of_the_reference_by_counting() -> None:
    """Anna lets it win on 1 of 4 screens, the others on 5 of 6: C(6, 1) C(4, 3) + C(4, 4) of C(10, 4) ways."""
    wins, loses = {"ref": 1, "s": 2}, {"ref": 2, "s": 1}
    blocks: list[Block] = [("anna", str(i), loses if i else wins) for i in range(4)]
    blocks += [("ben", f"b{i}", wins) for i in range(3)] + [
        ("eva", f"e{i}", wins if i else {"ref": 1, "s": 1}) for i in range(3)
    ]
    blocks.append(("eva", "without", {"s": 1, "t": 2}))
    found = reference_wins(comparisons(rankings(blocks)))
    assert (found["anna"].screens, found["anna"].wins, found["anna"].others) == (4, 1, 5 / 6)
    assert found["anna"].p == pytest.approx((comb(6, 1) * comb(4, 3) + 1) / comb(10, 4))
    assert found["eva"].wins == 2  # a tie is no win
    assert reference_wins(comparisons(rankings([("anna", "1", {"s": 1, "t": 2})]))) == {}


def test_who_lets_the_reference_lose_is_told() -> None:
    blocks: list[Block] = []
    for person in range(5):
        for i in range(30):
            best = "s" if person == 0 and i % 3 else "ref"
            ranks = {"ref": 1 if best == "ref" else 3, "s": 1 if best == "s" else 2, "t": 3 if best == "ref" else 2}
            blocks.append((f"a{person}", f"{person}-{i}", ranks if i < 29 else {"ref": 2, "s": 1, "t": 3}))
    checked = check_with_fit(rankings(blocks))
    (note,) = (note for note in checked.notes if "human translation" in note)
    assert note.startswith(
        "annotator a0 ranks the human translation above all systems in 33% of 30 screens, the others in 97%"
    )
    assert checked.annotators[0].reference_wins == 10
