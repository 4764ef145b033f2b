"""The main function of design: a campaign and its texts become tasks. Same campaign, texts and seed, same tasks."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from adjudge.core.errors import DataError
from adjudge.core.languages import text_direction
from adjudge.core.protocols import PROTOCOLS
from adjudge.core.rng import generator
from adjudge.core.wording import counted
from adjudge.design.assemble import Assembler
from adjudge.design.controls import Controller, plan_amounts
from adjudge.design.controls_of_rankings import ComparedController
from adjudge.design.direct_assessment import make_all_systems, make_mixed, make_pages, make_pages_all_systems
from adjudge.design.drafts import Material, Run, make_material
from adjudge.design.input_texts import human_names, read_texts
from adjudge.design.order import Positions, order_screens
from adjudge.design.ranking import make_ranking
from adjudge.design.select_segments import select_segments
from adjudge.design.task_allocation import assign_people
from adjudge.design.tasks import Task, TaskSet
from adjudge.design.tutorial import read_tutorial
from adjudge.design.versions import divide_documents, divide_people, first_version

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from adjudge.core.test_set import TestSet
    from adjudge.design.campaign import Campaign

# Streams of random numbers, one per step, so that a change of one step leaves the others as they are.
_SELECT, _WORK, _PEOPLE, _CONTROLS, _ORDER, _CALIBRATION, _VERSIONS = range(7)

_STRUCTURES: dict[str, Callable[..., list[list[Run]]]] = {
    "mixed": make_mixed,
    "all-systems": make_all_systems,
    "pages": make_pages,
    "pages-same-documents": make_pages,
    "pages-all-systems": make_pages_all_systems,
}


def design(campaign: Campaign, testset: TestSet | None = None) -> TaskSet:
    """Make the tasks of a campaign.

    Args:
        campaign: what is wanted.
        testset: the texts; default: read from the campaign's files.
    """
    testset = read_texts(campaign) if testset is None else testset
    material = make_material(campaign, testset)
    check_material(material)
    chosen_from = material if campaign.files.after is None else first_version(material)
    calibration, work, inclusion = select_segments(chosen_from, generator(campaign.seed, _SELECT))
    material = replace(material, inclusion=inclusion)
    tasks: list[Task] = []
    if campaign.files.tutorial is not None:
        tasks.append(read_tutorial(campaign, campaign.files.tutorial))
    if calibration:
        tasks.append(_make_calibration_task(material, calibration))
    tasks += _make_work_tasks(material, work)
    return _make_task_set(material, tasks)


def check_material(material: Material) -> None:
    """Faults that only campaign and texts together show."""
    campaign, amounts = material.campaign, plan_amounts(material.campaign)
    scored = not PROTOCOLS[campaign.protocol].relative
    if not scored and len(material.systems) < 2:
        raise DataError("one system cannot be compared with others; add systems or use a protocol with scores")
    if campaign.context.show != "source" and not material.testset.references:
        raise DataError(f"context.show = '{campaign.context.show}' needs a reference; name one in files.references")
    if campaign.design.references_as_systems and not material.testset.references:
        raise DataError("design.references_as_systems needs a reference; name one in files.references")
    if campaign.design.references_as_systems and amounts.references:
        raise DataError("design.references_as_systems judges every reference; set controls.references to 0")
    in_blocks = PROTOCOLS[campaign.protocol].in_blocks
    if in_blocks and amounts.references:
        raise DataError(
            "in rankings the reference has its own rate: use design.reference_rate, not controls.references"
        )
    if not in_blocks and campaign.design.reference_rate:
        raise DataError("design.reference_rate is for rankings; use controls.references here")
    if scored and campaign.controls.degraded_from == "references" and amounts.degraded > amounts.references:
        raise DataError(
            f"{amounts.degraded} degraded references are wanted per task, each beside its genuine one, but "
            f"controls.references is {amounts.references}; raise it to {amounts.degraded}"
        )


def count_room(material: Material) -> int:
    """Count the items of work per task: its size without its controls."""
    campaign, amounts = material.campaign, plan_amounts(material.campaign)
    # In a block, other controls take the place of an output.
    taken = amounts.repeats if PROTOCOLS[campaign.protocol].in_blocks else amounts.total
    room = campaign.design.task_size - taken
    if room < 1:
        size = counted(campaign.design.task_size, "item")
        raise DataError(
            f"the controls take {taken} of design.task_size = {size}, which leaves no room "
            " for work; lower the controls or raise the size"
        )
    return room


def make_drafts(material: Material, indices: Sequence[int], capacity: int, *stream: int) -> list[list[Run]]:
    """The work of every task on these segments, in the structure of the campaign."""
    rng = generator(material.campaign.seed, *stream)
    scored = not PROTOCOLS[material.campaign.protocol].relative
    maker = _STRUCTURES[material.campaign.design.structure] if scored else make_ranking
    return maker(material, indices, capacity=capacity, rng=rng)


def _make_calibration_task(material: Material, indices: Sequence[int]) -> Task:
    """One task for everybody: all outputs of the segments set apart, in one order."""
    seed, people = material.campaign.seed, material.campaign.design.annotator_names
    [runs] = make_drafts(material, indices, 10**9, _CALIBRATION)
    rng = generator(seed, _CALIBRATION, _ORDER)
    screens = Positions(rng).order_outputs(order_screens(material, runs, rng))
    return Assembler(material).task("calibration", screens, kind="calibration", people=people, judgments=len(people))


def _draft_tasks(material: Material, indices: Sequence[int]) -> tuple[list[list[Run]], list[tuple[str, ...]]]:
    """The work of every task, and its people; of two versions, each team has tasks of its own."""
    campaign = material.campaign
    people_rng = generator(campaign.seed, _PEOPLE)
    parts = [(indices, campaign.design.annotator_names)]
    if campaign.files.after is not None:
        rng = generator(campaign.seed, _VERSIONS)
        parts = list(zip(divide_documents(material, indices, rng), divide_people(campaign, rng), strict=True))
    drafts: list[list[Run]] = []
    people: list[tuple[str, ...]] = []
    for part, team in parts:
        drafted = make_drafts(material, part, count_room(material), _WORK)
        people += assign_people(len(drafted), team, judgments=campaign.design.judgments, rng=people_rng)
        drafts += drafted
    if campaign.assignment.policy == "pool":
        people = [()] * len(drafts)
    if len(parts) > 1:
        # Shuffled, so that the number of a task does not tell which team it is for.
        order = people_rng.permutation(len(drafts))
        drafts, people = [drafts[i] for i in order], [people[i] for i in order]
    return drafts, people


def _make_work_tasks(material: Material, indices: Sequence[int]) -> list[Task]:
    campaign = material.campaign
    drafts, people = _draft_tasks(material, indices)
    controls = make_controller(material, drafts, generator(campaign.seed, _CONTROLS))
    rng = generator(campaign.seed, _ORDER)
    positions, assembler = Positions(rng), Assembler(material)
    width = max(3, len(str(len(drafts))))
    tasks: list[Task] = []
    for number, (runs, team) in enumerate(zip(drafts, people, strict=True), start=1):
        screens = positions.order_outputs(order_screens(material, controls.add(runs, team), rng))
        tasks.append(
            assembler.task(
                f"t{number:0{width}d}", screens, kind="work", people=team, judgments=campaign.design.judgments
            )
        )
    return tasks


def make_controller(
    material: Material, drafts: Sequence[Sequence[Run]], rng: np.random.Generator
) -> Controller | ComparedController:
    """What adds the campaign's controls to these tasks."""
    amounts = plan_amounts(material.campaign)
    if not PROTOCOLS[material.campaign.protocol].relative:
        return Controller(material, amounts, rng)
    screens = (screen for runs in drafts for run in runs for screen in run)
    return ComparedController(material, amounts, rng, Counter(name for screen in screens for name in screen.systems))


def _make_task_set(material: Material, tasks: Sequence[Task]) -> TaskSet:
    campaign, testset = material.campaign, material.testset
    languages = campaign.languages
    source_lang, target_lang = languages.codes
    targets = [text for texts in material.systems.values() for text in texts]
    given_source, given_target = languages.source_direction, languages.target_direction
    return TaskSet(
        campaign=campaign.name,
        protocol=campaign.protocol,
        source_lang=source_lang,
        target_lang=target_lang,
        source_direction=text_direction(s.text for s in testset.source) if given_source == "auto" else given_source,
        target_direction=text_direction(targets) if given_target == "auto" else given_target,
        seed=campaign.seed,
        annotators=campaign.design.annotator_names,
        systems=tuple(material.systems),
        human=human_names(campaign, testset),
        tasks=tuple(tasks),
    )
