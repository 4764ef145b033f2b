"""Simulated annotators do the tasks of a campaign."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

import adjudge
from adjudge.campaigns.campaign_file import load_campaign
from adjudge.campaigns.design import design
from adjudge.campaigns.tasks import save_tasks
from adjudge.table.errors import AdjudgeError, UsageError
from tests.helpers.campaigns import make_campaign

if TYPE_CHECKING:
    from pathlib import Path

PEOPLE = '["anna", "bert", "cleo"]'
PROTOCOLS = ("da", "sqm", "esa", "mqm", "ranking", "pairwise")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_everybody_judges_what_the_design_gives_them(tmp_path: Path, protocol: str) -> None:
    campaign = make_campaign(tmp_path, protocol, annotators=PEOPLE, documents=4)
    table = adjudge.simulate(design=campaign, seed=3).judgments.table
    tasks = design(load_campaign(campaign))
    planned: Counter[tuple[str, str, str, str, str]] = Counter()
    for task in tasks.tasks:
        for screen, item, output in task.outputs():
            for system in output.systems:
                for person in task.annotators:
                    planned[person, task.id, screen.id, item.segment, system] += 1
    judged = Counter(table.select("annotator", "task", "screen", "segment", "system").iter_rows())
    assert judged == planned
    value = table["rank" if protocol in ("ranking", "pairwise") else "score"]
    assert value.null_count() == 0


def test_answers_lie_on_the_scale_of_the_campaign(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, "da", annotators=PEOPLE, more="[scale]\nlow = 1\nhigh = 5\nstep = 0.5\n")
    scores = adjudge.simulate(design=campaign).judgments.table["score"]
    assert scores.min() >= 1  # type: ignore[operator]
    assert scores.max() <= 5  # type: ignore[operator]
    assert (scores * 2 % 1 == 0).all()


@pytest.mark.parametrize(("protocol", "far"), [("da", (30.0, 0.0, -30.0)), ("ranking", (8.0, 4.0, 0.0, -4.0, -8.0))])
def test_the_ranking_finds_qualities_that_lie_far_apart(tmp_path: Path, protocol: str, far: tuple[float, ...]) -> None:
    campaign = make_campaign(tmp_path, protocol, annotators=PEOPLE, documents=6)
    drawn = adjudge.simulate(design=campaign, qualities=far)
    ranking = adjudge.rank(drawn.judgments)
    assert tuple(line.system for line in ranking.systems) == drawn.truth.order
    names = design(load_campaign(campaign)).systems
    assert drawn.truth.order == names  # the qualities are given from the best to the worst


def test_a_pool_is_done_as_often_as_planned_by_a_crowd_without_names(tmp_path: Path) -> None:
    campaign = make_campaign(
        tmp_path, "da", annotators="4", design="judgments = 2\n", more='[assignment]\npolicy = "pool"\n'
    )
    table = adjudge.simulate(design=campaign).judgments.table
    by_task = table.select("task", "annotator").unique().group_by("task").len()
    assert len(by_task) == len(design(load_campaign(campaign)).tasks)
    assert by_task["len"].to_list() == [2] * len(by_task)


def test_tasks_that_were_made_are_used_and_seeds_repeat(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, "da", annotators=PEOPLE, documents=4)
    made = design(load_campaign(campaign))
    save_tasks(made, tmp_path / "tasks.json")
    first, again = (adjudge.simulate(design=tmp_path / "tasks.json", seed=5).judgments for _ in range(2))
    other = adjudge.simulate(design=campaign, seed=6).judgments
    assert first.table.equals(again.table)
    assert not first.table["score"].equals(other.table["score"])
    assert first.table["screen"].equals(other.table["screen"])


def test_careless_people_are_named_and_found(tmp_path: Path) -> None:
    # Controls and 12 documents: the person who clicks at random cannot tell degraded copies from genuine ones.
    campaign = make_campaign(
        tmp_path, "da", annotators=PEOPLE, documents=12, task_size=30, more="[controls]\ndegraded = 0.3\n"
    )
    drawn = adjudge.simulate(design=campaign, careless=0.34, residual=5.0)
    (careless,) = drawn.truth.careless
    assert careless in ("anna", "bert", "cleo")
    people = adjudge.check(drawn.judgments).annotators
    assert [person.annotator for person in people if not person.passed] == [careless]


def test_what_cannot_be_simulated_is_refused(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, "postedit")
    with pytest.raises(UsageError, match="post-editing, which cannot be simulated"):
        adjudge.simulate(design=campaign)
    with pytest.raises(AdjudgeError, match="1 quality was given for 3 systems"):
        adjudge.simulate(design=make_campaign(tmp_path / "da", "da"), qualities=(1.0,))
    with pytest.raises(UsageError, match="setting 'lenience'"):
        adjudge.simulate(design=make_campaign(tmp_path / "b", "da"), lenience=3)
