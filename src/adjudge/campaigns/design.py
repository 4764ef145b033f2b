"""The main function of design: a campaign and its texts become tasks. Same campaign, texts and seed, same tasks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from adjudge.campaigns.allocation import Positions, assign_people, order_screens
from adjudge.campaigns.campaign_file import PAGES, Campaign
from adjudge.campaigns.controls import ComparedController, Controller, plan_amounts
from adjudge.campaigns.questions import MOST_POINTS
from adjudge.campaigns.rankings import make_ranking
from adjudge.campaigns.scores import (
    make_all_systems,
    make_mixed,
    make_pages,
    make_pages_all_systems,
    make_side_by_side,
)
from adjudge.campaigns.segment_selection import select_segments
from adjudge.campaigns.tasks import (
    OMITTED,
    ContextSegment,
    Item,
    Material,
    Output,
    Run,
    Screen,
    Task,
    TaskSet,
    find_prefilled,
    make_material,
)
from adjudge.campaigns.texts import divide_documents, divide_people, first_version, human_names, read_texts
from adjudge.readers.parsing import Delimited, read_delimited, to_float, to_int
from adjudge.table.errors import DataError, InputError
from adjudge.table.languages import text_direction
from adjudge.table.protocols import PROTOCOLS, TaskKind
from adjudge.table.rng import generator
from adjudge.table.wording import agreeing, counted, short_list

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import numpy as np

    from adjudge.campaigns.tasks import DraftItem, DraftScreen, OutputKey
    from adjudge.table.texts import TestSet


# Drafts become tasks: ids, context, what is shown of source and reference, and links between copies and originals.


# What is shown of a segment beside its outputs.
_WITHOUT_SOURCE, _WITH_REFERENCE = ("reference", "nothing"), ("reference", "both")


@dataclass(frozen=True)
class Assembler:
    """Makes tasks from ordered drafts."""

    material: Material

    def task(
        self, name: str, screens: Sequence[DraftScreen], *, kind: TaskKind, people: Sequence[str], judgments: int
    ) -> Task:
        """One task with its screens in the order given."""
        # The ids of originals, which copies refer to.
        ids = {
            (screen.key, i, output.systems): f"{name}-s{number:02d}-i{i + 1}-o{o}"
            for number, screen in enumerate(screens, start=1)
            for i, item in enumerate(screen.items)
            for o, output in enumerate(item.outputs, start=1)
            if output.of is None
        }
        assembled = (
            self._screen(f"{name}-s{number:02d}", screen, kind, ids) for number, screen in enumerate(screens, start=1)
        )
        return Task(name, tuple(assembled), kind, judgments, tuple(people))

    def _screen(self, name: str, screen: DraftScreen, kind: TaskKind, ids: dict[OutputKey, str]) -> Screen:
        items: list[Item] = []
        edits = self.material.edits
        for number, item in enumerate(screen.items, start=1):
            made = [edits.get((output.systems[0], item.index), (None, None)) for output in item.outputs]
            outputs = tuple(
                Output(
                    f"{name}-i{number}-o{i}",
                    output.systems,
                    output.text,
                    "calibration" if kind == "calibration" and output.kind == "system" else output.kind,
                    of=None if output.of is None else ids[output.of],
                    expected=output.expected,
                    prefilled=find_prefilled(self.material, item.index, output),
                    media=self.material.media.of_output(output.systems, item.index),
                    original=original,
                    editor=editor,
                )
                for i, (output, (original, editor)) in enumerate(zip(item.outputs, made, strict=True), start=1)
            )
            items.append(self._item(f"{name}-i{number}", item, outputs))
        before, after = self._context(screen)
        source = self.material.testset.source[screen.items[0].index]
        return Screen(name, source.document, tuple(items), before, after, source.version)

    def _item(self, name: str, item: DraftItem, outputs: tuple[Output, ...]) -> Item:
        source = self.material.testset.source[item.index]
        show, references = self.material.campaign.context.show, self.material.testset.references
        reference = next(iter(references.values()))[item.index] if show in _WITH_REFERENCE and references else None
        return Item(
            name,
            source.segment,
            None if show in _WITHOUT_SOURCE else source.text,
            outputs,
            reference,
            inclusion=self.material.inclusion.get(item.index),
            media=() if show in _WITHOUT_SOURCE else self.material.media.of_source(item.index),
        )

    def _context(self, screen: DraftScreen) -> tuple[tuple[ContextSegment, ...], tuple[ContextSegment, ...]]:
        """Neighbours within the document; with the same system's translation where the screen is one system's page."""
        wanted, source = self.material.campaign.context, self.material.testset.source
        first, last = screen.items[0].index, screen.items[-1].index
        document, version = source[first].document, source[first].version

        texts = None
        if self.material.campaign.design.structure in PAGES and len(screen.items[0].outputs) == 1:
            name = screen.items[0].outputs[0].systems[0]
            texts = {**self.material.testset.references, **self.material.systems}.get(name)

        def beside(indices: range) -> tuple[ContextSegment, ...]:
            inside = [i for i in indices if (source[i].document, source[i].version) == (document, version)]
            return tuple(
                ContextSegment(
                    source[i].segment,
                    None if wanted.show in _WITHOUT_SOURCE else source[i].text,
                    None if texts is None else texts[i],
                )
                for i in inside
            )

        before = beside(range(max(0, first - wanted.before), first))
        return before, beside(range(last + 1, min(len(source), last + 1 + wanted.after)))


# The tutorial: items with known answers from a TSV file, which everybody does first.
#
# Columns: `source`, `target` (for rankings and pairs `target1`, `target2`, ...), `note` (what to do, shown from the
# start), `explanation` (why, shown beside the answer), and the right answer: `low` and `high` for scores (or for what
# the errors cost, or for how many percent are changed), `best` (the number of the best target, 0 for a tie) for
# comparisons. Where errors are marked, `errors` may list the phrases in which they are, separated by `|`; `[missing]`
# is something that was left out.

TUTORIAL = "tutorial"
# The largest answer, where there is no scale: what errors cost, and how much of a text is changed in percent.
_MOST = {"mqm": MOST_POINTS, "postedit": 100.0}


def read_tutorial(campaign: Campaign, path: Path) -> Task:
    """The tutorial task; every answer is checked against the protocol and its scale."""
    table = read_delimited(path, "\t", quoting=False)
    if not table.rows:
        raise InputError("holds no tutorial item; add one or remove files.tutorial", file=path)
    source, note, explanation = table.need("source"), table.find("note"), table.find("explanation")
    screens: list[Screen] = []
    for number, (line, fields) in enumerate(table.rows, start=1):
        name = f"{TUTORIAL}-s{number:02d}"
        first, *others = _read_outputs(campaign, table, fields, line, f"{name}-i1")
        why = fields[explanation].strip() if explanation is not None else ""
        outputs = (replace(first, explanation=why or None), *others)
        text = fields[note].strip() if note is not None else ""
        item = Item(f"{name}-i1", str(number), fields[source].strip(), outputs, note=text or None)
        screens.append(Screen(name, TUTORIAL, (item,)))
    people = campaign.design.annotator_names
    return Task(TUTORIAL, tuple(screens), "tutorial", len(people), people)


def _read_outputs(campaign: Campaign, table: Delimited, fields: list[str], line: int, item: str) -> tuple[Output, ...]:
    if not PROTOCOLS[campaign.protocol].relative:
        text = fields[table.need("target", "target1")].strip()
        expected = _read_score_range(campaign, table, fields, line)
        phrases = _read_phrases(campaign, table, fields, line, text)
        return (Output(f"{item}-o1", (TUTORIAL,), text, TUTORIAL, expected=expected, to_mark=phrases),)
    columns = [column for i in range(1, 10) if (column := table.find(f"target{i}")) is not None]
    texts = [fields[column].strip() for column in columns if fields[column].strip()]
    in_pairs = PROTOCOLS[campaign.protocol].in_pairs
    if len(texts) < 2 or (in_pairs and len(texts) != 2):
        wanted = "exactly 2" if in_pairs else "at least 2"
        raise InputError(f"has {counted(len(texts), 'target')} where {wanted} are needed", file=table.path, line=line)
    best = to_int(fields[table.need("best")], "best", table.path, line)
    if not 0 <= best <= len(texts):
        raise InputError(f"best is {best}, it must lie between 0 and {len(texts)}", file=table.path, line=line)
    others = (1.0, 1.0) if best == 0 else (2.0, float(len(texts)))
    return tuple(
        Output(f"{item}-o{i}", (f"{TUTORIAL}-{i}",), text, TUTORIAL, expected=(1.0, 1.0) if i == best else others)
        for i, text in enumerate(texts, start=1)
    )


def _read_phrases(campaign: Campaign, table: Delimited, fields: list[str], line: int, text: str) -> tuple[str, ...]:
    """The phrases of a tutorial item in which errors must be marked."""
    column = table.find("errors")
    phrases = tuple(part.strip() for part in fields[column].split("|") if part.strip()) if column is not None else ()
    if phrases and not PROTOCOLS[campaign.protocol].marked:
        raise InputError(
            f"'errors' is for marking errors, which protocol '{campaign.protocol}' does not; remove the column",
            file=table.path,
            line=line,
        )
    if OMITTED in phrases and not campaign.spans.missing:
        raise InputError(
            f"'errors' holds {OMITTED}, but spans.missing is false, so nobody can mark that", file=table.path, line=line
        )
    for phrase in phrases:
        if phrase != OMITTED and phrase not in text:
            raise InputError(
                f"the error '{phrase}' does not stand in the target; correct it", file=table.path, line=line
            )
    return phrases


def _read_score_range(campaign: Campaign, table: Delimited, fields: list[str], line: int) -> tuple[float, float]:
    low, high = (to_float(fields[table.need(name)], name, table.path, line) for name in ("low", "high"))
    scale = campaign.score_scale
    least, most = (scale.low, scale.high) if PROTOCOLS[campaign.protocol].chosen else (0, _MOST[campaign.protocol])
    if not least <= low <= high <= most:
        raise InputError(
            f"expects scores from {low:g} to {high:g}, the scale runs from {least:g} to {most:g}; correct it",
            file=table.path,
            line=line,
        )
    return low, high


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


def draft_work(campaign: Campaign, testset: TestSet) -> list[list[Run]]:
    """The work of every task, without controls, people and order, dealt once and not improved: enough for plans."""
    material = replace(make_material(campaign, testset), rounds=0)
    _, work, _ = select_segments(material, generator(campaign.seed, _SELECT))
    return make_drafts(material, work, count_room(material), _WORK)


def check_material(material: Material) -> None:
    """Faults that only campaign and texts together show."""
    campaign, amounts = material.campaign, plan_amounts(material.campaign)
    scored = not PROTOCOLS[campaign.protocol].relative
    if not scored and len(material.systems) < 2:
        raise DataError("one system cannot be compared with others; add systems or use a protocol with scores")
    if scored and campaign.side_by_side > max(1, len(material.systems)):
        raise DataError(
            f"design.outputs = {campaign.side_by_side}, but there {agreeing(len(material.systems), 'is', 'are')} only "
            f"{counted(len(material.systems), 'system')} to stand side by side; lower it or add systems"
        )
    editors = {editor for _, editor in material.edits.values() if editor is not None}
    own = sorted(editors & {*campaign.design.annotator_names})
    if own and campaign.assignment.policy == "fixed":
        raise DataError(
            f"design.annotators names {short_list(own)}, whose own edits or marks would be corrected; name others, or "
            'set assignment.policy = "pool", where nobody gets their own'
        )
    if campaign.context.show in _WITH_REFERENCE and not material.testset.references:
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
    campaign = material.campaign
    if PROTOCOLS[campaign.protocol].relative:
        maker = make_ranking
    else:
        maker = make_side_by_side if campaign.side_by_side > 1 else _STRUCTURES[campaign.design.structure]
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
        # Where nobody is named, tasks go to whomever a crowd platform sends.
        people += (
            [()] * len(drafted)
            if not team
            else assign_people(len(drafted), team, judgments=campaign.design.judgments, rng=people_rng)
        )
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
