"""The balance report: formulas agree with simulation, optimised designs beat luck, warnings say what they should."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adjudge.campaigns.allocation import Unit, assign_people, spread_units
from adjudge.campaigns.design import design
from adjudge.campaigns.design_report import (
    count_components,
    count_judgments,
    count_meetings,
    distances,
    mean_company,
    measure_balance,
    opponents,
    shares,
)
from tests.helpers.texts import make_campaign, make_texts


def test_company_is_what_z_scores_by_task_really_do() -> None:
    """The slow way: true means drawn many times, centred by task, averaged by system."""
    rng = np.random.default_rng(1)
    table = rng.integers(0, 6, size=(12, 5)).astype(float)
    moved: list[np.ndarray[Any, Any]] = []
    for _ in range(4000):
        means = rng.normal(0, 5, size=5)
        by_task = (table * means).sum(axis=1) / table.sum(axis=1)
        centred = [((means[s] - by_task) * table[:, s]).sum() / table[:, s].sum() for s in range(5)]
        moved.append(np.subtract.outer(centred, centred) - np.subtract.outer(means, means))
    simulated = np.std(moved, axis=0)
    np.testing.assert_allclose(5 * distances(mean_company(table)), simulated, rtol=0.06, atol=1e-9)


def test_even_designs_add_nothing() -> None:
    table = np.full((4, 3), 7.0)
    assert distances(mean_company(table)).max() == pytest.approx(0, abs=1e-12)
    assert distances(shares(table).T).max() == pytest.approx(0, abs=1e-12)
    # Every pair meets once: opponents are even.
    round_robin = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]], dtype=float)
    assert distances(opponents(round_robin)).max() == pytest.approx(0, abs=1e-12)


def test_uneven_opponents_show() -> None:
    table = np.array([[1, 1, 0], [1, 1, 0], [0, 1, 1]], dtype=float)
    # The first meets only the second, the third too; the second meets the first twice and the third once.
    mix = opponents(table)
    assert mix[0].tolist() == pytest.approx([0, 0.5, -0.5])
    assert mix[1].tolist() == pytest.approx([2 / 3 - 1 / 2, 0, 1 / 3 - 1 / 2])


def test_meetings_are_counted_by_hand() -> None:
    table = np.array([[2, 1, 0], [1, 0, 0], [1, 1, 1]], dtype=float)
    meetings = count_meetings("task", ("A", "B", "C"), table)
    assert meetings.matrix == ((3, 2, 1), (2, 2, 1), (1, 1, 1))
    assert (meetings.least, meetings.most) == (1, 2)
    assert meetings.least_share == pytest.approx(1 / 3)
    assert meetings.least_pair == ("A", "C")


@pytest.mark.slow
def test_the_optimiser_beats_luck() -> None:
    """As the workshops did it: pages sampled without replacement until a task is full (Knowles 2021, section 2)."""
    rng = np.random.default_rng(1)
    units = [
        Unit(size, {f"S{s}": size}, str(d))
        for d in range(30)
        for size in (int(rng.integers(6, 13)),)
        for s in range(12)
    ]
    chance: list[list[int]] = [[]]
    for i in rng.permutation(len(units)):
        if sum(units[j].size for j in chance[-1]) + units[i].size > 70:
            chance.append([])
        chance[-1].append(int(i))
    planned = spread_units(units, capacity=70, rng=rng)

    def table(groups: list[list[int]]) -> np.ndarray[Any, Any]:
        rows = np.zeros((len(groups), 12))
        for t, group in enumerate(groups):
            for i in group:
                [(name, number)] = units[i].systems.items()
                rows[t, int(name[1:])] += number
        return rows

    assert len(planned) <= len(chance)
    assert sorted(i for group in planned for i in group) == list(range(len(units)))
    names = tuple(f"S{s}" for s in range(12))
    ours, theirs = count_meetings("task", names, table(planned)), count_meetings("task", names, table(chance))
    assert (ours.cv or 0) < (theirs.cv or 0) / 2
    assert ours.least > theirs.least
    assert distances(mean_company(table(planned))).max() < distances(mean_company(table(chance))).max()
    for group in planned:
        assert len({units[i].label for i in group}) == len(group), "a task needs no document twice here"


@pytest.mark.parametrize(("tasks", "people", "k"), [(10, 4, 1), (7, 5, 3), (12, 4, 2), (3, 8, 2)])
def test_people_share_work_and_tasks_evenly(tasks: int, people: int, k: int) -> None:
    names = [f"p{i}" for i in range(people)]
    teams = assign_people(tasks, names, judgments=k, rng=np.random.default_rng(1))
    loads = [sum(name in team for team in teams) for name in names]
    assert all(len(set(team)) == k for team in teams)
    assert max(loads) - min(loads) <= 1
    if k > 1 and tasks * k >= 2 * people:
        assert count_components(teams) == 1


def test_the_report_counts_what_is_there() -> None:
    testset = make_texts(documents=[5, 5, 5, 5], systems=3, same=0.2)
    campaign = make_campaign(
        design={"task_size": 20, "annotators": 4, "judgments": 2}, controls={"degraded": 2, "repeats": 1}
    )
    tasks = design(campaign, testset)
    report = measure_balance(tasks, campaign, testset)
    # Answers to controls are counted apart, as the export and the organisers' page count them.
    assert report.control_judgments == 2 * 3 * report.tasks
    assert report.judgments + report.control_judgments == sum(2 * task.size for task in tasks.tasks)
    assert [(control.kind, control.made) for control in report.controls] == [
        ("degraded", 2 * report.tasks),
        ("repeat", report.tasks),
    ]
    assert sum(load.tasks for load in report.workload) == 2 * report.tasks
    assert {system.system: system.segments for system in report.systems} == dict.fromkeys(testset.systems, 20)
    assert report.bias[2].rms == pytest.approx(0, abs=1e-12), "all systems are judged on the same texts"
    assert report.systems_per_task.least == 3
    assert report.connected_systems == report.connected_annotators == 1
    assert report.set_aside == ()
    assert report.to_dict()["warnings"] == list(report.notes)
    counts = count_judgments(tasks)
    assert counts.by_task.sum() == counts.by_person.sum()


WARNINGS: list[tuple[str, dict[str, Any], str]] = [
    ("da", {"design": {"structure": "pages", "task_size": 12, "annotators": 2}}, "of 8 systems"),
    ("da", {"design": {"structure": "pages", "task_size": 12, "annotators": 2}}, "fewer than half of their tasks"),
    (
        "da",
        {"design": {"structure": "pages", "task_size": 12, "annotators": 2}},
        "through the other systems in a task alone",
    ),
    ("da", {"design": {"structure": "pages", "task_size": 12, "segments": 8}}, "judged on different texts"),
    ("da", {"design": {"task_size": 40, "annotators": 5}}, "do one task only"),
    ("da", {"design": {"task_size": 400, "annotators": 5}}, "4 of 5 annotators have no task"),
    ("da", {"design": {"task_size": 40, "annotators": 2}}, "no two annotators judge the same items"),
    ("da", {}, "no degraded copies"),
    ("da", {"controls": {"degraded": 1}}, "with fewer than 10"),
    ("da", {"design": {"annotators": 4, "judgments": 2, "task_size": 100}}, "2 groups without common items"),
    ("pairwise", {"design": {"segments": 3, "consecutive": 1}}, "no method can rank across them"),
    ("pairwise", {"design": {"segments": 3, "consecutive": 1}}, "never judged"),
]


@pytest.mark.parametrize(("protocol", "parts", "words"), WARNINGS)
def test_warnings(protocol: str, parts: dict[str, Any], words: str) -> None:
    testset = make_texts(documents=[4] * 6, systems=8)
    campaign = make_campaign(protocol, **parts)
    report = measure_balance(design(campaign, testset), campaign, testset)
    assert any(words in note for note in report.notes), report.notes


def test_a_good_design_has_no_warnings() -> None:
    testset = make_texts(documents=[5] * 12, systems=5)
    campaign = make_campaign(
        design={"task_size": 100, "annotators": 2, "judgments": 2}, controls={"degraded": 12, "repeats": 8}
    )
    assert measure_balance(design(campaign, testset), campaign, testset).notes == ()
