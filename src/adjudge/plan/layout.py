"""A design without texts: who would judge what, as codes for the mixed model and for the simulator."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.integer_codes import renumber
from adjudge.core.rng import generator
from adjudge.core.test_set import SourceSegment, TestSet
from adjudge.design.campaign import Campaign
from adjudge.design.campaign.parts import Context, Design, Files, Languages, TextFile
from adjudge.design.make import design
from adjudge.design.task_allocation import assign_people
from adjudge.rank.mixed.design import MixedDesign, combine
from adjudge.rank.mixed.models import find_model

if TYPE_CHECKING:
    from adjudge.core.arrays import Codes, Floats
    from adjudge.plan.settings import PlanSettings


_PEOPLE = 3001
_NOWHERE = Path("nowhere")


@dataclass(frozen=True, eq=False)
class Layout:
    """One entry per output of a task: codes of task, screen, document, segment and system; all tasks done once."""

    structure: str
    tasks: int
    task: Codes
    screen: Codes
    document: Codes
    segment: Codes
    system: Codes
    seed: int

    @property
    def segments(self) -> int:
        """Segments that are judged."""
        return len(np.unique(self.segment))

    @property
    def documents(self) -> int:
        """Documents that are judged."""
        return len(np.unique(self.document))

    def rows(self, people: int, per_item: int) -> dict[str, Codes]:
        """Codes of every judgment when each task is done by `per_item` of the people."""
        names = [str(i) for i in range(people)]
        teams = assign_people(self.tasks, names, judgments=per_item, rng=generator(self.seed, _PEOPLE))
        row = np.tile(np.arange(len(self.task)), per_item)
        turn = np.repeat(np.arange(per_item), len(self.task))
        team = np.array([[int(name) for name in names_of_team] for names_of_team in teams], dtype=np.int64)
        annotator = team[self.task[row], turn]
        return {
            "annotator": annotator,
            "task": combine(self.task[row], annotator),
            "screen": combine(self.screen[row], annotator),
            "document": self.document[row],
            "segment": self.segment[row],
            "system": self.system[row],
        }


def make_layout(settings: PlanSettings, structure: str, segments: int) -> Layout:
    """Design tasks for this many segments, with texts made up for the purpose."""
    testset = _texts(settings)
    campaign = Campaign(
        name="plan",
        protocol="da",
        seed=settings.seed,
        languages=Languages(source="und", target="und"),
        files=Files(source=TextFile(file=_NOWHERE), systems={"s": TextFile(file=_NOWHERE)}),
        design=Design(
            structure="pages-same-documents" if structure == "pages" else structure,  # type: ignore[arg-type]
            task_size=settings.room,
            segments=segments if segments < len(testset) else None,
        ),
        context=Context(max_segments=settings.page),
    )
    tasks = design(campaign, testset)
    documents = {name: i for i, name in enumerate(dict.fromkeys(segment.document for segment in testset.source))}
    rows: list[tuple[int, int, int, int, int]] = []
    screens = 0
    for number, task in enumerate(tasks.tasks):
        for screen in task.screens:
            for item in screen.items:
                system = int(item.outputs[0].systems[0])
                rows.append((number, screens, documents[screen.document], int(item.segment), system))
            screens += 1
    task_, screen_, document, segment, system_ = np.array(rows, dtype=np.int64).T
    return Layout(
        structure, len(tasks.tasks), task_, screen_, renumber(document), renumber(segment), system_, settings.seed
    )


def _texts(settings: PlanSettings) -> TestSet:
    segments = range(settings.documents * settings.segments)
    source = tuple(SourceSegment(str(i // settings.segments), str(i), "x") for i in segments)
    return TestSet(source, {}, {str(s): tuple(f"{s}.{i}" for i in segments) for s in range(settings.systems)})


def mixed_design(rows: dict[str, Codes], systems: int, score: Floats) -> MixedDesign:
    """The table of the mixed model with these scores."""
    screens = rows["screen"]
    single = len(np.unique(screens)) == len(screens)
    page = combine(rows["task"], rows["system"], rows["document"]) if single else screens
    return MixedDesign(
        score=score,
        systems=tuple(str(s) for s in range(systems)),
        human=np.zeros(systems, dtype=bool),
        system=rows["system"],
        annotator=renumber(rows["annotator"]),
        task=rows["task"],
        document=rows["document"],
        segment=rows["segment"],
        page=page,
        row=np.arange(len(score)),
        annotator_system=combine(rows["annotator"], rows["system"]),
        model=find_model("mixed-points"),
    )
