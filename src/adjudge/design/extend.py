"""More tasks for a campaign that runs or has run: what exists stays as it is, and the new tasks are balanced with it.

The campaign file says what is wanted, the tasks so far what there is. What the file has beyond them is added: people,
systems, documents and segments; and as many more judgments of the same texts as asked for.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from adjudge.core.errors import DataError
from adjudge.core.protocols import PROTOCOLS
from adjudge.core.rng import generator
from adjudge.core.wording import counted, short_list
from adjudge.design.assemble import Assembler
from adjudge.design.controls import Controller, TooFewItems
from adjudge.design.controls_of_rankings import ComparedController
from adjudge.design.drafts import make_material
from adjudge.design.extension_work import BESIDE, Judged, Work, count_judged, draft_extension
from adjudge.design.input_texts import human_names, read_texts
from adjudge.design.make import check_material, count_room, make_controller
from adjudge.design.order import Positions, order_screens
from adjudge.design.select_segments import can_be_judged

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import numpy as np

    from adjudge.core.test_set import TestSet
    from adjudge.design.campaign import Campaign
    from adjudge.design.drafts import Material, Run
    from adjudge.design.tasks import Task, TaskSet

# Streams of random numbers beyond those of the first design; each extension has its own, by the number of tasks so far.
_EXTENSION = 100


@dataclass(frozen=True)
class Extension:
    """All tasks, those added, and what is new in them."""

    tasks: TaskSet
    added: tuple[Task, ...]
    annotators: tuple[str, ...]
    systems: tuple[str, ...]
    segments: int


def extend_tasks(
    campaign: Campaign, stored: TaskSet, *, judgments: int = 0, beside: float = BESIDE, excluded: Collection[str] = (),
    testset: TestSet | None = None,
) -> Extension:  # fmt: skip
    """Add tasks to those of a campaign.

    Args:
        campaign: the campaign as it is wanted now.
        stored: the tasks so far.
        judgments: how many more judgments of the same texts and systems are wanted.
        beside: outputs of former systems for each of a new one, in scored protocols.
        excluded: people who get no new tasks.
        testset: the texts; default: read from the campaign's files.
    """
    _check_extendable(campaign)
    material = make_material(campaign, read_texts(campaign) if testset is None else testset)
    check_material(material)
    places = _find_places(material, stored)
    new_people = _find_new_names(stored.annotators, campaign.design.annotator_names, "design.annotators", "annotator")
    new_systems = _find_new_names(stored.systems, tuple(material.systems), "files.systems", "system")
    judged = count_judged(stored, places)
    rng = generator(campaign.seed, _EXTENSION, len(stored.tasks))
    work = Work(_choose_new_segments(material, judged, rng), new_systems, judgments, beside)
    people = [name for name in campaign.design.annotator_names if name not in excluded]
    drafts: list[list[Run]] = []
    if work.segments or work.systems or work.judgments:
        stream = _EXTENSION + len(stored.tasks)
        drafts = draft_extension(
            material, judged, work, capacity=count_room(material), stream=stream, rng=rng
        )  # fmt: skip
    added = _make_new_tasks(material, stored, drafts, people, rng)
    tasks = replace(
        stored,
        annotators=(*stored.annotators, *new_people),
        systems=(*stored.systems, *new_systems),
        human=tuple(dict.fromkeys((*stored.human, *human_names(campaign, material.testset)))),
        tasks=(*stored.tasks, *added),
    )
    return Extension(tasks, added, new_people, new_systems, len(work.segments))


def _check_extendable(campaign: Campaign) -> None:
    refused = {
        "design.select": (campaign.design.select, "the probabilities of segments would no longer be those recorded"),
        "files.after": (campaign.files.after, "the two teams would no longer be balanced"),
    }
    for key, (value, why) in refused.items():
        if value is not None:
            raise DataError(f"a campaign with {key} cannot be extended, because {why}; begin a new campaign")


def _find_new_names(before: Sequence[str], now: Sequence[str], key: str, what: str) -> tuple[str, ...]:
    """The names that were added; none may have gone."""
    gone = [name for name in before if name not in now]
    if gone:
        who = "who" if what == "annotator" else "which"
        raise DataError(
            f"{key} no longer names the {what} {short_list(gone)}, {who} is in the tasks so far; put it back"
        )
    return tuple(name for name in now if name not in before)


def _find_places(material: Material, stored: TaskSet) -> dict[tuple[str, str], int]:
    """The index of every segment; a text that differs from what was shown is refused."""
    source = material.testset.source
    places = {(segment.document, segment.segment): i for i, segment in enumerate(source)}
    for task in stored.tasks:
        for screen, item, output in task.outputs() if task.kind != "tutorial" else ():
            index = places.get((screen.document, item.segment))
            same = index is not None and item.source in (None, source[index].text)
            if same and index is not None and output.kind == "system":
                known = [material.systems[name][index] for name in output.systems if name in material.systems]
                same = all(text == output.text for text in known)
            if not same:
                raise DataError(
                    f"segment '{item.segment}' of document '{screen.document}' is not the text that is in task "
                    f"'{task.id}'; leave the former texts as they were, and add new documents at the end"
                )
    return places


def _choose_new_segments(material: Material, judged: Judged, rng: np.random.Generator) -> list[int]:
    """Segments that no task has: all of them, or as many as `design.segments` asks for beyond those judged."""
    known = set(judged.indices) | judged.apart
    new = [i for i in range(len(material.testset)) if i not in known and can_be_judged(material, i)]
    limit = material.campaign.design.segments
    if limit is None:
        return new
    wanted = max(0, limit - len(judged.indices))
    if wanted > len(new):
        raise DataError(
            f"design.segments = {limit}, but only {len(judged.indices) + len(new)} segments can be judged; lower it"
        )
    if material.campaign.design.structure == "pages":
        raise DataError("design.segments of structure 'pages' draws documents for each system; it cannot be extended")
    return sorted(int(new[i]) for i in rng.permutation(len(new))[:wanted])


def _make_new_tasks(
    material: Material, stored: TaskSet, drafts: Sequence[list[Run]], people: Sequence[str], rng: np.random.Generator
) -> tuple[Task, ...]:
    if not drafts:
        return ()
    campaign = material.campaign
    if len(people) < campaign.design.judgments:
        raise DataError(f"design.judgments = {campaign.design.judgments}, but only {len(people)} people can judge")
    controls = make_controller(material, drafts, rng)
    positions = Positions(rng)
    _continue_balance(controls, positions, stored)
    numbers = [int(match[1]) for task in stored.tasks if (match := re.fullmatch(r"t(\d+)", task.id))]
    width = max([3, *(len(task.id) - 1 for task in stored.tasks if re.fullmatch(r"t\d+", task.id))])
    fixed = campaign.assignment.policy == "fixed"
    teams = assign_new_tasks(material, stored, drafts, people, rng) if fixed else [()] * len(drafts)
    assembler = Assembler(material)
    added: list[Task] = []
    for number, (runs, team) in enumerate(zip(drafts, teams, strict=True), start=max(numbers, default=0) + 1):
        name = f"t{number:0{width}d}"
        try:
            with_controls = controls.add(runs, team)
        except TooFewItems as fault:
            raise DataError(
                f"the new task '{name}' would have {counted(fault.screens, 'screen')}, too few for the controls that "
                "the campaign file asks for; add more at once, such as more --judgments, or lower the controls"
            ) from fault
        screens = positions.order_outputs(order_screens(material, with_controls, rng))
        added.append(assembler.task(name, screens, kind="work", people=team, judgments=campaign.design.judgments))
    return tuple(added)


def _continue_balance(controls: Controller | ComparedController, positions: Positions, stored: TaskSet) -> None:
    """Continue controls and positions from the tasks so far: who was checked, and who stood where."""
    for task in stored.tasks:
        for _, item, output in task.outputs() if task.kind == "work" else ():
            if output.kind in ("degraded", "repeat"):
                if isinstance(controls, Controller):
                    controls.checked.setdefault(output.kind, Counter()).update(output.systems)
                elif output.kind == "degraded":
                    controls.checked.update(output.systems)
            if len(item.outputs) > 1:
                place = item.outputs.index(output)
                positions.stood.update((system, place) for system in output.systems)
                later = (other.systems for other in item.outputs[place + 1 :])
                positions.before.update((a, b) for others in later for a in output.systems for b in others)
    if isinstance(controls, ComparedController):
        controls.shown.update(
            system for task in stored.tasks for _, _, output in task.outputs() if output.kind == "system"
            for system in output.systems
        )  # fmt: skip


def assign_new_tasks(
    material: Material, stored: TaskSet, drafts: Sequence[list[Run]], people: Sequence[str], rng: np.random.Generator
) -> list[tuple[str, ...]]:
    """The people of every new task: those who have met none of its texts, then those with the least work so far."""
    segments = material.testset.source
    met: dict[str, set[tuple[str, str, str]]] = {name: set() for name in people}
    load: Counter[str] = Counter()
    for task in stored.tasks:
        texts = {(screen.document, item.segment, output.text) for screen, item, output in task.outputs()}
        for name in task.annotators:
            if name in met:
                met[name] |= texts
                load[name] += task.size
    teams: list[tuple[str, ...]] = []
    relative = PROTOCOLS[material.campaign.protocol].relative
    for runs in drafts:
        items = [item for run in runs for screen in run for item in screen.items]
        texts = {
            (segments[item.index].document, segments[item.index].segment, output.text)
            for item in items
            for output in item.outputs
        }
        order = [people[i] for i in rng.permutation(len(people))]
        # In blocks, the same text beside other outputs is another question.
        order.sort(key=lambda name: (0 if relative else len(met[name] & texts), load[name]))
        team = order[: material.campaign.design.judgments]
        for name in team:
            met[name] |= texts
            load[name] += len(items)
        teams.append(tuple(sorted(team, key=people.index)))
    return teams
