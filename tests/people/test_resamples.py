"""Resamples of annotators are divided among workers, and the number of workers changes no byte."""

from __future__ import annotations

import os

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm
from scipy.stats import t as student

from adjudge.people.agreement import agree
from adjudge.people.coefficients import RESAMPLES_PER_TASK, percentile_interval, resample_statistic
from adjudge.table.judgments import Judgments
from adjudge.table.rng import generator
from adjudge.work import tasks as work_tasks
from adjudge.work.tasks import workers
from tests.helpers.check_make import random_rankings, scores


def random_scores() -> Judgments:
    rng = np.random.default_rng(5)
    return scores(
        [
            (f"a{person}", str(segment), f"sys{system}", float(rng.integers(0, 101)))
            for segment in range(12)
            for system in range(3)
            for person in rng.choice(6, size=3, replace=False)
        ]
    )


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat processes as free of cost, so that all tasks but the first are sent to them."""
    monkeypatch.setattr(work_tasks, "START_UP", 0.0)
    monkeypatch.setattr(work_tasks, "HAND_OVER", 0.0)


def process(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    sum(range(100_000))
    return np.full(len(weights), float(os.getpid()))


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("judgments", [random_rankings(3), random_scores()], ids=["preferences", "scores"])
def test_one_and_two_workers_give_the_same_bytes(judgments: Judgments) -> None:
    with workers(jobs=1):
        alone = agree(judgments, resamples=3 * RESAMPLES_PER_TASK + 1)
    with workers(jobs=2):
        together = agree(judgments, resamples=3 * RESAMPLES_PER_TASK + 1)
    assert alone.inter["all"].interval["alpha" if alone.kind == "scores" else "kappa"]
    assert str(together.to_dict()) == str(alone.to_dict())


@pytest.mark.usefixtures("eager")
def test_resamples_go_to_other_processes_where_that_is_faster() -> None:
    with workers(jobs=2):
        ids = resample_statistic(process, np.ones((4 * RESAMPLES_PER_TASK, 3)))
    assert ids[0] == os.getpid()
    # This process takes its share of the rest too, so that two workers are two processes.
    assert len(set(ids)) == 2


def test_small_work_stays_in_this_process() -> None:
    with workers(jobs=2):
        assert set(resample_statistic(process, np.ones((4 * RESAMPLES_PER_TASK, 3)))) == {os.getpid()}


def test_intervals_of_normal_values_are_those_of_students_t() -> None:
    """Means of resamples of k people have the variance s^2 / k (k - 1) / k; the interval is t s / sqrt(k) wide."""
    people, error = 6, 0.3
    weights = generator(1).multinomial(people, np.full(people, 1 / people), size=50).astype(float)
    spread = error * np.sqrt((people - 1) / people)
    values = norm.ppf((np.arange(200_000) + 0.5) / 200_000) * spread
    half = student.ppf(0.975, people - 1) * error
    assert percentile_interval(values, weights) == pytest.approx((-half, half), rel=2e-3)
