"""Working rows of relative judgments: variances, strengths and errors against dense linear algebra, row by row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from adjudge.ranking import working_rows
from adjudge.ranking.bradley_terry import RIDGE, expectations, fit
from adjudge.ranking.counts import count_people, group_of, person_of
from adjudge.ranking.working_rows import Equations, Solution, fit_rows, rows_of, rows_of_counts
from adjudge.table.comparisons import Comparisons
from tests.helpers.relative_campaigns import RelativeCampaign, as_comparisons

Floats = NDArray[np.float64]


class Dense:
    """All rows of all screens, and the covariance of what is observed as one matrix."""

    def __init__(self, compared: Comparisons) -> None:
        people = count_people(compared, person_of(compared), group_of(compared))
        plain = fit(people.wins.sum(0), people.ties.sum(0))
        self.strength, log_tie = plain.strength, float(plain.log_tie)
        self.n = n = len(self.strength)
        mean, variance = expectations(self.strength, log_tie)
        texts = {"segment": compared.segment, "document": compared.document}
        x, y, levels = [], [], []
        for screen in np.unique(compared.block):
            score, information = np.zeros(n), np.zeros((n, n))
            for pair in np.flatnonzero(compared.block == screen):
                i, j = compared.first[pair], compared.second[pair]
                direction = np.eye(n)[i] - np.eye(n)[j]
                score += ((compared.outcome[pair] + 1) / 2 - mean[i, j]) * direction
                information += variance[i, j] * np.outer(direction, direction)
            value, vector = np.linalg.eigh(information)
            for r in np.flatnonzero(value > 1e-9):
                x.append(np.sqrt(value[r]) * vector[:, r])
                y.append(vector[:, r] @ score / np.sqrt(value[r]))
                levels.append(
                    (screen, compared.annotator[pair], *(t[pair] if t is not None else 0 for t in texts.values()))
                )
        self.x, self.y, level = np.array(x), np.array(y), np.array(levels)
        self.level = {"annotator": level[:, 1]}
        self.alone: dict[str, NDArray[np.bool_]] = {}
        for column, name in ((2, "segment"), (3, "document")):
            text = level[:, column]
            shown: dict[int, list[int]] = {code: [] for code in set(text)}
            for screen in np.unique(level[:, 0]):
                rows = level[:, 0] == screen
                shown[text[rows][0]] += np.flatnonzero((np.abs(self.x[rows]) > 1e-6).any(0)).tolist()
            shared = np.array([len(set(shown[code])) < len(shown[code]) for code in text])
            same = name == "document" and len(set(text)) == len(set(zip(level[:, 2], text, strict=True)))
            if len(shown) > 1 and shared.any() and not same:
                self.level[name], self.alone[name] = np.where(shared, text, -1), ~shared

    def v(self, parameters: Floats, weighing: Floats) -> Floats:
        """The covariance with the luck of texts on one screen alone at other parameters, as weights in units of phi."""
        errors = np.ones(len(self.y))
        for k, (name, _) in enumerate(self.level.items()):
            if name in self.alone:
                errors += self.alone[name] * weighing[k + 1] / weighing[0] * (self.x**2).sum(1)
        found = parameters[0] * np.diag(errors)
        for k, level in enumerate(self.level.values()):
            together = (level[:, None] == level[None, :]) & (level >= 0)[:, None]
            found += parameters[k + 1] * together * (self.x @ self.x.T)
        return np.asarray(found)

    def at(self, parameters: Floats, weighing: Floats, ridge: float) -> tuple[float, Floats, Floats]:
        """The restricted log-likelihood, delta and its covariance; along the mean of all strengths nothing is known."""
        basis = np.linalg.svd(np.eye(self.n) - 1 / self.n)[0][:, : self.n - 1]
        x, start = self.x @ basis, basis.T @ self.strength
        v = self.v(parameters, weighing)
        inverse = np.linalg.inv(v)
        a = x.T @ inverse @ x + ridge * np.eye(self.n - 1)
        covariance = np.linalg.inv(a)
        delta = covariance @ (x.T @ inverse @ self.y - ridge * start)
        left = self.y - x @ delta
        quadratic = left @ inverse @ left + ridge * (start + delta) @ (start + delta)
        likelihood = -0.5 * (np.linalg.slogdet(v)[1] + np.linalg.slogdet(a)[1] + quadratic)
        return float(likelihood), basis @ delta, basis @ covariance @ basis.T

    def gradient(self, parameters: Floats) -> Floats:
        """By central differences, with weights and the ridge held."""
        found = []
        for k in range(len(parameters)):
            step = np.zeros(len(parameters))
            step[k] = 1e-4 * parameters[k]
            ends = [self.at(parameters + sign * step, parameters, RIDGE / parameters[0])[0] for sign in (1, -1)]
            found.append((ends[0] - ends[1]) / (2 * step[k]))
        return np.array(found)


def campaign(seed: int, *, shown: int = 3, repeated: int = 5, documents: bool = False, people: int = 4) -> Comparisons:
    """Some screens on a few segments that many judge, the others on segments of their own."""
    rng = np.random.default_rng(seed)
    systems, number = 5, 15 * people
    who = np.repeat(np.arange(people), 15)
    system = np.sort(np.argsort(rng.random((number, systems)), axis=1)[:, :shown], axis=1)
    segment = np.where(rng.random(number) < 0.6, rng.integers(0, max(repeated, 1), number), 100 + np.arange(number))
    if repeated == 0:
        segment = np.arange(number)
    view = np.linspace(0.5, -0.5, systems)[system] + rng.normal(0, 0.7, (people, systems))[who[:, None], system]
    view += rng.normal(0, 1.0, (300, systems))[segment[:, None], system] + rng.gumbel(size=system.shape)
    rounded = np.round(view)
    ranks = 1 + (rounded[:, :, None] < rounded[:, None, :]).sum(2)
    compared = as_comparisons(systems, who, segment, system, ranks)
    if documents:
        compared = replace(compared, document=(compared.segment // 3).astype(np.int32))
    return compared


def solved(compared: Comparisons) -> tuple[Equations, Solution]:
    dense = Dense(compared)
    people = count_people(compared, person_of(compared), group_of(compared))
    plain = fit(people.wins.sum(0), people.ties.sum(0))
    equations = Equations(rows_of(compared, person_of(compared), plain.strength, float(plain.log_tie)), dense.strength)
    return equations, equations.estimate().solution()


CASES: dict[str, dict[str, Any]] = {
    "own segments, pairs": {"shown": 2, "repeated": 0},
    "own segments, blocks": {"repeated": 0},
    "shared segments": {},
    "shared segments, pairs": {"shown": 2, "repeated": 3},
    "one shared segment": {"repeated": 1},
    "documents": {"documents": True, "repeated": 8},
    "more people than texts": {"people": 9, "repeated": 2},
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", range(2))
def test_it_is_the_dense_model(case: str, seed: int) -> None:
    """The gradient of the dense likelihood is 0 at the variances found, or points below the bound of one at it."""
    compared = campaign(seed, **CASES[case])
    dense, (equations, found) = Dense(compared), solved(compared)
    assert set(dense.level) == set(equations.effects)
    variances = found.variances
    parameters = np.array([variances.errors, *(variances.errors * ratio for ratio in variances.ratios.values())])
    gradient = dense.gradient(parameters)
    least = 1 - equations.rows.typical_information() * parameters[1:].sum()
    above = np.array(
        [variances.errors > max(least, 0.25) * 1.001, *(ratio > 2e-6 for ratio in variances.ratios.values())]
    )
    assert np.abs(gradient[above] * parameters[above]).max(initial=0) < 1e-4
    assert (gradient[~above] <= 1e-6).all()
    _, delta, covariance = dense.at(parameters, parameters, RIDGE / parameters[0])
    assert found.delta == pytest.approx(delta, abs=1e-6)
    assert found.covariance == pytest.approx(covariance, abs=1e-6)


def test_counts_are_rows_of_pairs() -> None:
    """Where every comparison is a screen on a text of its own, its counts say all."""
    compared = campaign(3, shown=2, repeated=0)
    people = count_people(compared, person_of(compared), group_of(compared))
    plain = fit(people.wins.sum(0), people.ties.sum(0))
    _, one = solved(compared)
    other = fit_rows(rows_of_counts(people, plain.strength, float(plain.log_tie)), plain.strength)
    assert other.variances.errors == pytest.approx(one.variances.errors, rel=1e-6)
    assert other.delta == pytest.approx(one.delta, abs=1e-6)
    assert other.covariance == pytest.approx(one.covariance, abs=1e-6)
    for tastes, expected in zip(other.own_tastes, one.own_tastes, strict=True):
        assert tastes == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("bound", ["MOST_DENSE", "MOST_EXACT"])
def test_random_signs_give_nearly_the_same(bound: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compared = campaign(1, people=8, repeated=12, documents=True)
    _, exact = solved(compared)
    monkeypatch.setattr(working_rows, "MOST_DENSE", 0)
    monkeypatch.setattr(working_rows, bound, 0)
    _, sampled = solved(compared)
    names = list(exact.variances.ratios)
    one, other = ([found.variances.of(name) for name in names] for found in (exact, sampled))
    assert other == pytest.approx(one, abs=0.15 if bound == "MOST_EXACT" else 1e-2)
    assert np.diag(sampled.covariance) == pytest.approx(np.diag(exact.covariance), rel=0.1)


def test_slopes_are_those_of_the_covariance() -> None:
    """Against differences of the dense covariance, with weights held."""
    compared = campaign(0, people=6, repeated=6)
    dense, (_, found) = Dense(compared), solved(compared)
    variances = found.variances
    parameters = np.array([variances.errors, *(variances.errors * ratio for ratio in variances.ratios.values())])
    moving = [0, *(k + 1 for k, ratio in enumerate(variances.ratios.values()) if ratio > 2e-6)]
    assert len(found.slopes) == len(moving) > 1
    for slope, k in zip(found.slopes, moving, strict=True):
        step = np.zeros(len(parameters))
        step[k] = 1e-4 * parameters[k]
        ends = [dense.at(parameters + sign * step, parameters, RIDGE / parameters[0])[2] for sign in (1, -1)]
        assert slope == pytest.approx((ends[0] - ends[1]) / (2 * step[k]), abs=1e-5 * np.abs(slope).max())


@pytest.mark.parametrize("work", [(40,) * 6, (200, 10, 10, 10)])
def test_degrees_of_freedom_are_bounded_by_the_people_who_carry_the_estimate(work: tuple[int, ...]) -> None:
    """By hand: all saw all n systems, so (A - 1)(n - 1) ways to differ, times (A_e - 1) / (A - 1)."""
    compared = RelativeCampaign(3, work, shown=2).draw(np.random.default_rng(2))
    equations, found = solved(compared)
    dense = Dense(compared)
    shares = []
    for who in range(len(work)):
        x = dense.x[dense.level["annotator"] == who]
        value = np.maximum(np.linalg.eigvalsh(x.T @ x), 0)
        shares.append((value / (1 + found.variances.ratios["annotator"] * value)).sum())
    worth = sum(shares) ** 2 / sum(share**2 for share in shares)
    assert found.bound == pytest.approx((worth - 1) * 2, rel=1e-6)
    assert equations.people == len(work)


def test_a_system_on_which_people_part_has_wider_errors() -> None:
    compared = RelativeCampaign(6, (60,) * 12, taste=0.2, polarising=1.5).draw(np.random.default_rng(1))
    _, found = solved(compared)
    of_tastes = np.array(list(found.own_tastes)).sum(0)
    added = np.diag(of_tastes)
    assert added[0] > 0.3 * found.covariance[0, 0]
    assert added[0] > 3 * np.abs(added[1:]).max()
    whole = found.covariance + of_tastes
    assert np.linalg.eigvalsh(whole)[1:].min() > 0
