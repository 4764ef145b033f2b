"""A campaign rehearsed: simulated annotators do its tasks, so that its report can be read before anybody is paid.

Who judges what, the controls and the texts are the campaign's own. Answers are drawn as in other simulated campaigns
(`simulated_scores`, `simulated_rankings`). Errors are not marked: with ESA people only give their scores, and of MQM
only the scores that follow from errors are drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from adjudge.campaigns.campaign_file import load_campaign
from adjudge.campaigns.design import design
from adjudge.campaigns.questions import SCALES, Scale
from adjudge.campaigns.tasks import TaskSet, load_tasks, text_hash
from adjudge.planning.simulated_rankings import RankingCampaign, draw_abilities, draw_careless, draw_ranks
from adjudge.planning.simulated_scores import KIND_NAMES, ScoreCampaign, ScoreDesign, draw_scores
from adjudge.planning.truth import Simulated, numbered, truth_of
from adjudge.table.errors import UsageError
from adjudge.table.judgments import INCLUSION, POSITION, SCHEMA, Judgments
from adjudge.table.protocols import PROTOCOLS
from adjudge.table.rng import DEFAULT_SEED, generator

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from adjudge.campaigns.tasks import Item, Output, Screen, Task
    from adjudge.table.maths import Bools, Codes, Floats

_STREAM = 1003
_CROWD = 20
"""So many people come where the campaign names none."""
_WORST = 25.0
"""Points of MQM that a translation without any value loses."""
_DEGRADED = 2.0
"""Log-odds that a degraded translation loses among others."""


@dataclass(frozen=True)
class _Place:
    """Somebody who judges an output, and where it stands."""

    person: int
    work: int
    task: Task
    screen: Screen
    item: Item
    output: Output
    position: int


@dataclass(frozen=True, eq=False)
class _Cast:
    """The tasks of a campaign and who does them; `systems` are the machines, then the human translations."""

    tasks: TaskSet
    people: tuple[str, ...]
    places: tuple[_Place, ...]
    works: int

    @cached_property
    def systems(self) -> tuple[str, ...]:
        human = set(self.tasks.human)
        machines = tuple(name for name in self.tasks.systems if name not in human)
        others = sorted({name for place in self.places for name in place.output.systems} - {*machines, *human})
        return (*machines, *others, *self.tasks.human)

    def codes(self, values: list[Any]) -> Codes:
        order = {value: code for code, value in enumerate(dict.fromkeys(values))}
        return np.array([order[value] for value in values], dtype=np.int64)

    @cached_property
    def person(self) -> Codes:
        return np.array([place.person for place in self.places], dtype=np.int64)

    @cached_property
    def system(self) -> Codes:
        code = {name: number for number, name in enumerate(self.systems)}
        return np.array([code[place.output.systems[0]] for place in self.places], dtype=np.int64)

    @cached_property
    def document(self) -> Codes:
        return self.codes([place.screen.document for place in self.places])

    @cached_property
    def segment(self) -> Codes:
        return self.codes([(place.screen.document, place.item.segment) for place in self.places])


def read_tasks(file: Path) -> tuple[TaskSet, Scale]:
    """The tasks of a campaign file, or those that `adjudge design` wrote, with the scale of their scores."""
    if file.suffix.lower() == ".json":
        tasks = load_tasks(file)
        return tasks, SCALES.get(tasks.protocol, Scale())
    campaign = load_campaign(file)
    stored = file.with_name("tasks.json")
    return load_tasks(stored) if stored.exists() else design(campaign), campaign.score_scale


def rehearse(file: Path, parameters: Mapping[str, Any], *, seed: int = DEFAULT_SEED) -> Simulated:
    """Let simulated annotators do the tasks of a campaign.

    Args:
        file: the campaign file, or its tasks from `adjudge design` (JSON).
        parameters: how people and systems are simulated, as `ScoreCampaign` and `RankingCampaign` have it. What the
            campaign decides itself (systems, people, tasks, documents, language pair) is taken from there.
        seed: the same tasks, parameters and seed give the same judgments.

    Returns:
        The judgments and the truth behind them.
    """
    tasks, scale = read_tasks(file)
    protocol = PROTOCOLS[tasks.protocol]
    if protocol.edited:
        raise UsageError(
            f"the campaign is one of {protocol.label}, which cannot be simulated; rehearse it with another protocol"
        )
    rng = generator(seed, _STREAM)
    cast = _cast(tasks, rng, parameters.get("annotators", _CROWD))
    if protocol.relative:
        drawn = _answer_ranks(cast, RankingCampaign(**_parameters(cast, parameters, RankingCampaign)), rng)
    else:
        drawn = _answer_scores(cast, ScoreCampaign(**_parameters(cast, parameters, ScoreCampaign)), scale, rng)
    judgments = _make_table(cast, drawn, relative=protocol.relative, rng=rng)
    truth = truth_of(
        drawn.campaign,
        seed,
        judgments.fingerprint,
        names=cast.systems,
        people=cast.people,
        quality=drawn.quality,
        careless=drawn.careless,
        protocol=tasks.protocol,
        unit="log-odds of winning" if protocol.relative else "points of 100 above the average system",
    )
    sources = {(place.screen.document, place.item.segment): place.item.source or "" for place in cast.places}
    return Simulated(judgments, truth, tuple(sources.values()))


def _cast(tasks: TaskSet, rng: np.random.Generator, crowd: int) -> _Cast:
    """Give every task to its people; tasks of a pool go to those who have done least so far."""
    people = tasks.annotators or tuple(numbered("annotator", crowd))
    code, done = {name: number for number, name in enumerate(people)}, np.zeros(len(people))
    places: list[_Place] = []
    works = 0
    for task in tasks.tasks:
        if task.kind == "tutorial":
            continue
        chosen = [code[name] for name in task.annotators] or list(code.values())
        if task.kind == "work" and len(chosen) != task.judgments:
            order = np.lexsort((rng.random(len(chosen)), done[chosen]))
            chosen = [chosen[at] for at in order[: task.judgments]]
        for person in chosen:
            done[person] += task.size
            places.extend(_place(task, person, works))
            works += 1
    return _Cast(tasks, people, tuple(places), works)


def _place(task: Task, person: int, work: int) -> Iterator[_Place]:
    for screen in task.screens:
        for item in screen.items:
            for position, output in enumerate(item.outputs):
                yield _Place(person, work, task, screen, item, output, position)


def _parameters(cast: _Cast, given: Mapping[str, Any], kind: type[RankingCampaign | ScoreCampaign]) -> dict[str, Any]:
    """The parameters of the simulation; whatever the campaign decides is as it is there."""
    known = {each.name for each in fields(kind)}
    humans, tasks = len(cast.tasks.human), cast.tasks
    own = {
        "systems": len(cast.systems) - humans,
        "humans": humans,
        "annotators": len(cast.people),
        "tasks": cast.works,
        "documents": int(cast.document.max()) + 1,
        "name": tasks.campaign,
        "pair": f"{tasks.source_lang}-{tasks.target_lang}",
    }
    return {name: value for name, value in {**given, **own}.items() if name in known}


@dataclass(frozen=True, eq=False)
class _Answers:
    """An answer per place, a score or a rank, and the truth behind them."""

    campaign: RankingCampaign | ScoreCampaign
    values: Floats
    quality: Floats
    careless: Bools


def _answer_scores(cast: _Cast, campaign: ScoreCampaign, scale: Scale, rng: np.random.Generator) -> _Answers:
    """Draw scores from 0 to 100, and take them to the scale of the campaign."""
    known = {name: code for code, name in enumerate(KIND_NAMES)}
    who = np.zeros(cast.works, dtype=np.int64)
    who[[place.work for place in cast.places]] = cast.person
    planned = ScoreDesign(
        campaign,
        task=np.array([place.work for place in cast.places], dtype=np.int64),
        screen=cast.codes([(place.work, place.screen.id) for place in cast.places]),
        document=cast.document,
        segment=cast.segment,
        system=cast.system,
        kind=np.array([known.get(place.output.kind, 0) for place in cast.places], dtype=np.int64),
        task_annotator=who,
    )
    drawn = draw_scores(planned, rng)
    careless, score = drawn.careless[0], drawn.score[0]
    if PROTOCOLS[cast.tasks.protocol].chosen:
        score = scale.low + (scale.high - scale.low) * score / 100
        score = np.clip(scale.low + np.round((score - scale.low) / scale.step) * scale.step, scale.low, scale.high)
    else:
        score = -np.round(_WORST * (100 - score) / 100)
    for at, place in enumerate(cast.places):
        # Whoever reads a check answers as it asks.
        if place.output.kind == "attention" and place.output.expected and not careless[place.person]:
            score[at] = sum(place.output.expected) / 2
    return _Answers(campaign, score, drawn.quality[0], careless)


def _answer_ranks(cast: _Cast, campaign: RankingCampaign, rng: np.random.Generator) -> _Answers:
    """Draw the ranks of the outputs of every item."""
    count = len(cast.systems)
    ability = draw_abilities(campaign, len(cast.tasks.human), rng)
    careless = draw_careless(campaign, rng)
    kinds = np.array([place.output.kind for place in cast.places])
    strength = np.where(kinds == "reference", ability.max() + campaign.reference_lead, ability[cast.system])
    strength = strength - _DEGRADED * (kinds == "degraded")
    cells = cast.segment * count + cast.system
    strength += rng.normal(0, campaign.segment_spread, int(cells.max()) + 1)[cells]
    met = cast.codes(list(zip(cast.person.tolist(), cells.tolist(), strict=True)))
    strength += rng.normal(0, campaign.taste, int(met.max()) + 1)[met]
    strength += rng.normal(0, campaign.system_taste, (len(cast.people), count))[cast.person, cast.system]
    block = cast.codes([(place.work, place.screen.id, place.item.id) for place in cast.places])
    sizes = np.bincount(block)
    ranks = np.empty(len(cast.places))
    for size in np.unique(sizes):
        rows = np.flatnonzero(sizes[block] == size).reshape(-1, size)
        labels = draw_ranks(strength[rows], campaign.ties, rng)
        clicks = rng.integers(1, size + 1, size=labels.shape)
        ranks[rows] = np.where(careless[cast.person[rows]], clicks, labels)
    return _Answers(campaign, ranks, ability, careless)


def _make_table(cast: _Cast, answers: _Answers, *, relative: bool, rng: np.random.Generator) -> Judgments:
    """One row per answer and system that made the output, with the names that the campaign has."""
    tasks = cast.tasks
    side_by_side = not relative and any(place.position for place in cast.places)
    seconds = np.exp(rng.normal(np.where(answers.careless[cast.person], 1.2, 2.7), 0.5)).round(1)
    rows = [
        {
            "campaign": tasks.campaign,
            "protocol": tasks.protocol,
            "source_lang": tasks.source_lang,
            "target_lang": tasks.target_lang,
            "annotator": cast.people[place.person],
            "task": place.task.id,
            "screen": place.screen.id,
            "document": place.screen.document,
            "segment": place.item.segment,
            "system": system,
            "human": system in tasks.human,
            "kind": place.output.kind,
            "rank" if relative else "score": value,
            "active_seconds": spent,
            "revision": 1,
            "text_hash": text_hash(place.output.text),
            INCLUSION: place.item.inclusion,
            POSITION: place.position,
        }
        for place, value, spent in zip(cast.places, answers.values.tolist(), seconds.tolist(), strict=True)
        for system in place.output.systems
    ]
    extra: dict[str, Any] = {"text_hash": pl.String}
    if side_by_side:
        extra[POSITION] = pl.Int64
    if any(row[INCLUSION] is not None for row in rows):
        extra[INCLUSION] = pl.Float64
    return Judgments.from_columns(pl.DataFrame(rows, schema={**SCHEMA, **extra}, strict=False))
