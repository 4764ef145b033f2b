"""More tasks for a campaign that runs or has run: what exists stays as it is, and the new tasks are balanced with it.

The campaign file says what is wanted, the tasks so far what there is. What the file has beyond them is added: people,
systems, documents and segments; and as many more judgments of the same texts as asked for.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING

from adjudge.campaigns.allocation import Positions, order_screens
from adjudge.campaigns.campaign_file import PAGES, Campaign
from adjudge.campaigns.controls import ComparedController, Controller, TooFewItems
from adjudge.campaigns.design import Assembler, check_material, count_room, make_controller, make_drafts
from adjudge.campaigns.rankings import consecutive_runs, make_blocks
from adjudge.campaigns.scores import (
    Chunk,
    Page,
    check_lengths,
    choose_sides,
    deal_pages,
    deal_sides,
    list_parts,
    make_chunks,
)
from adjudge.campaigns.segment_selection import can_be_judged
from adjudge.campaigns.tasks import Material, Run, Task, TaskSet, make_material
from adjudge.campaigns.texts import human_names, read_texts
from adjudge.table.errors import DataError, param
from adjudge.table.protocols import PROTOCOLS
from adjudge.table.rng import generator
from adjudge.table.wording import counted, short_list

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    import numpy as np

    from adjudge.table.texts import TestSet


# What an extension adds: new texts whole, new systems on the texts judged so far, and more judgments of the same.
#
# New systems are judged on all segments that were judged before, beside as many outputs of the former systems, so
# that both are scored in the same tasks: people score differently on other days, and only such tasks tell days from
# systems. In blocks, the new systems meet the former ones, as often as these were shown on average. More judgments go
# to the systems and segments that have fewest. In all, the systems judged least come first, and in blocks those that
# met least.

BESIDE = 1.0
"""Outputs of former systems for each of a new one: more precise per judgment than half or twice as many (docs)."""


@dataclass
class Judged:
    """What the tasks so far hold: by system and index in the test set, and which systems met on screens."""

    times: Counter[tuple[str, int]] = field(default_factory=Counter)
    met: Counter[tuple[str, str]] = field(default_factory=Counter)
    apart: set[int] = field(default_factory=set)
    """Segments of calibration tasks, which no other task uses."""

    @property
    def indices(self) -> list[int]:
        """The segments judged so far, in the order of the text."""
        return sorted({index for _, index in self.times})

    def total(self, system: str) -> int:
        """All judgments of a system."""
        return sum(times for (name, _), times in self.times.items() if name == system)


def count_judged(stored: TaskSet, places: dict[tuple[str, str], int]) -> Judged:
    """Count the genuine outputs of the tasks; `places` are the indices of documents and segments."""
    judged = Judged()
    for task in stored.tasks:
        for screen in task.screens if task.kind != "tutorial" else ():
            for item in screen.items:
                index = places[screen.document, item.segment]
                shown = [output for output in item.outputs if output.kind == "system"]
                if task.kind == "calibration":
                    judged.apart.add(index)
                    continue
                for output in shown:
                    judged.times.update({(system, index): task.judgments for system in output.systems})
                judged.met.update(dict.fromkeys(_list_meetings([output.systems for output in shown]), task.judgments))
    return judged


def _list_meetings(shown: Sequence[tuple[str, ...]]) -> Iterator[tuple[str, str]]:
    """Every system with itself, and every two in different outputs."""
    yield from ((system, system) for systems in shown for system in systems)
    for first, second in combinations(shown, 2):
        yield from ((min(a, b), max(a, b)) for a in first for b in second if a != b)


@dataclass(frozen=True)
class Work:
    """What is to be added: segments of the test set, systems, and a number of judgments of what there is."""

    segments: list[int]
    systems: tuple[str, ...]
    judgments: int
    beside: float = BESIDE


def draft_extension(
    material: Material, judged: Judged, work: Work, *, capacity: int, stream: int, rng: np.random.Generator
) -> list[list[Run]]:
    """The work of the new tasks."""
    if material.campaign.side_by_side > 1:
        return _draft_blocks(material, judged, work, capacity=capacity, rng=rng)
    drafts = make_drafts(material, work.segments, capacity, stream) if work.segments else []
    chosen: list[Page] = []
    others: list[Page] = []
    for part, page in _list_pages(material, judged.indices):
        (others if set(page[0].systems).isdisjoint(work.systems) else chosen).append((part, page))
    there = sum(len(page) for _, page in others)
    link = min(there, math.ceil(work.beside * sum(len(page) for _, page in chosen)))
    more = math.ceil(work.judgments / material.campaign.design.judgments)
    chosen += _choose_least_judged(others, judged, link + more, material.campaign.design.judgments, rng)
    if there < link + more:
        most = there - link
        raise DataError(
            f"{param('judgments')} {work.judgments} is more than one round of the same texts "
            f"({counted(most * material.campaign.design.judgments, 'judgment')}); extend several times"
        )
    if chosen:
        check_lengths([part for part, _ in chosen], 1, capacity)
        drafts += deal_pages(material, chosen, capacity=capacity, rng=rng)
    return drafts


def _list_pages(material: Material, indices: Sequence[int]) -> list[Page]:
    """What stays together: pages, or single segments, each in one translation."""
    if material.campaign.design.structure in PAGES:
        parts = make_chunks(material, indices)
        return [(part, page) for part in parts for page in material.pages(part.indices)]
    return [(Chunk(str(index), (index,)), (output,)) for index in indices for output in material.outputs(index)]


def _choose_least_judged(
    pages: Sequence[Page], judged: Judged, items: int, people: int, rng: np.random.Generator
) -> list[Page]:
    """Pages of about so many items: of the system judged least, its segments judged least, again and again."""
    totals = Counter({name: judged.total(name) for _, page in pages for name in page[0].systems})
    left: dict[str, list[Page]] = {}
    for i in rng.permutation(len(pages)):
        left.setdefault(pages[i][1][0].systems[0], []).append(pages[i])
    for system, group in left.items():
        group.sort(key=lambda page: sum(judged.times[system, i] for i in page[0].indices) / len(page[1]))
    chosen: list[Page] = []
    while items > 0 and left:
        system = min(left, key=lambda name: totals[name])
        chosen.append(left[system].pop(0))
        if not left[system]:
            del left[system]
        outputs = chosen[-1][1]
        totals.update(dict.fromkeys(outputs[0].systems, people * len(outputs)))
        items -= len(outputs)
    return chosen


def _draft_blocks(
    material: Material, judged: Judged, work: Work, *, capacity: int, rng: np.random.Generator
) -> list[list[Run]]:
    """Tasks of blocks: on all new segments, and on former ones as many as new systems and judgments need."""
    design = material.campaign.design
    scored = not PROTOCOLS[material.campaign.protocol].relative
    size = min(material.campaign.side_by_side, len(material.systems))
    length = min(design.consecutive, capacity)
    wanted = math.ceil(work.judgments / (size * design.judgments))
    if work.systems:
        former = [judged.met[name, name] / design.judgments for name in material.systems if name not in work.systems]
        shown = sum(former) / len(former)
        wanted += math.ceil(shown * max(1.0, len(work.systems) / (size - 1)))
    parts = list_parts(material, judged.indices) if scored else []
    runs = [list(part.indices) for part in parts] or consecutive_runs(material, judged.indices, length)
    order = [runs[i] for i in rng.permutation(len(runs))]
    order.sort(key=lambda run: sum(judged.times[name, i] for name in material.systems for i in run) / len(run))
    chosen: list[list[int]] = []
    while order and wanted > 0:
        # Each segment once before any comes again.
        run = order[len(chosen) % len(order)]
        chosen.append(run)
        wanted -= len(run)
    before = {pair: times / design.judgments for pair, times in judged.met.items()}
    if scored:
        more = [Chunk(material.testset.source[run[0]].document, tuple(run)) for run in chosen]
        whole = list_parts(material, work.segments)
        sides = choose_sides(material, whole, rng, screens=design.screens_per_segment, before=before)
        sides += choose_sides(material, more, rng, screens=1, before=before)
        return deal_sides(material, sides, capacity=capacity, rng=rng) if sides else []
    new = consecutive_runs(material, work.segments, length) * (design.screens_per_segment or 1)
    if not new and not chosen:
        return []
    return make_blocks(material, [*new, *chosen], capacity=capacity, rng=rng, before=before)


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
    refused = {
        "design.select": (campaign.design.select, "the probabilities of segments would no longer be those recorded"),
        "files.after": (campaign.files.after, "the two teams would no longer be balanced"),
    }
    for key, (value, why) in refused.items():
        if value is not None:
            raise DataError(f"a campaign with {key} cannot be extended, because {why}; begin a new campaign")
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
        room, stream = count_room(material), _EXTENSION + len(stored.tasks)
        drafts = draft_extension(material, judged, work, capacity=room, stream=stream, rng=rng)
    added = _make_new_tasks(material, stored, drafts, people, rng)
    tasks = replace(
        stored,
        annotators=(*stored.annotators, *new_people),
        systems=(*stored.systems, *new_systems),
        human=tuple(dict.fromkeys((*stored.human, *human_names(campaign, material.testset)))),
        tasks=(*stored.tasks, *added),
    )
    return Extension(tasks, added, new_people, new_systems, len(work.segments))


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
    # Where nobody is named, whoever a crowd platform sends judges.
    if campaign.design.annotator_names and len(people) < campaign.design.judgments:
        raise DataError(f"design.judgments = {campaign.design.judgments}, but only {len(people)} people can judge")
    controls = make_controller(material, drafts, rng)
    positions = Positions(rng)
    _continue_balance(controls, positions, stored)
    numbers = [match[1] for task in stored.tasks if (match := re.fullmatch(r"t(\d+)", task.id))]
    first, width = max(map(int, numbers), default=0) + 1, max([3, *map(len, numbers)])
    fixed = campaign.assignment.policy == "fixed"
    teams = assign_new_tasks(material, stored, drafts, people, rng) if fixed else [()] * len(drafts)
    assembler = Assembler(material)
    added: list[Task] = []
    for number, (runs, team) in enumerate(zip(drafts, teams, strict=True), start=first):
        name = f"t{number:0{width}d}"
        try:
            with_controls = controls.add(runs, team)
        except TooFewItems as fault:
            raise DataError(
                f"the new task '{name}' would have {counted(fault.screens, 'screen')}, too few for the controls that "
                "the campaign file asks for; add more at once, such as more "
                f"{param('judgments')}, or lower the controls"
            ) from fault
        screens = positions.order_outputs(order_screens(material, with_controls, rng))
        added.append(assembler.task(name, screens, kind="work", people=team, judgments=campaign.design.judgments))
    return tuple(added)


def _continue_balance(controls: Controller | ComparedController, positions: Positions, stored: TaskSet) -> None:
    """Continue controls and positions from the tasks so far: who was checked, and who stood where."""
    for task in stored.tasks:
        for _, _, output in task.outputs():
            if isinstance(controls, ComparedController) and output.kind == "system":
                controls.shown.update(output.systems)
            if task.kind == "work" and output.kind in ("degraded", "repeat"):
                if isinstance(controls, Controller):
                    controls.checked.setdefault(output.kind, Counter()).update(output.systems)
                elif output.kind == "degraded":
                    controls.checked.update(output.systems)
        for screen in task.screens if task.kind == "work" else ():
            for item in screen.items:
                if len(item.outputs) > 1:
                    positions.remember(item.outputs)


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
    together = material.campaign.side_by_side > 1
    for runs in drafts:
        items = [item for run in runs for screen in run for item in screen.items]
        texts = {
            (segments[item.index].document, segments[item.index].segment, output.text)
            for item in items
            for output in item.outputs
        }
        order = [people[i] for i in rng.permutation(len(people))]
        # Side by side, the same text beside other outputs is another question.
        order.sort(key=lambda name: (0 if together else len(met[name] & texts), load[name]))
        team = order[: material.campaign.design.judgments]
        for name in team:
            met[name] |= texts
            load[name] += len(items)
        teams.append(tuple(sorted(team, key=people.index)))
    return teams
