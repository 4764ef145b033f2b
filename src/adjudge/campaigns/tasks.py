"""What is handed out: tasks of screens of items of outputs, the same for every protocol, and their file `tasks.json`.

A ranking screen has one item with up to five outputs; direct assessment has one output per item; with document
context a screen is one document by one system; a pairwise item has two outputs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

import polars as pl

from adjudge.campaigns.allocation import ROUNDS
from adjudge.campaigns.media import MediaFiles, read_media
from adjudge.readers.parsing import Delimited, read_delimited, to_int
from adjudge.table.errors import InputError, shown
from adjudge.table.files import read_text, write_text
from adjudge.table.judgments import SKIPPED, fingerprint
from adjudge.table.protocols import NOT_CONTROLS, PROTOCOLS, TaskKind
from adjudge.table.rng import generator
from adjudge.table.texts import MISSING, SOURCE, TARGET, Mark, TestSet, carry_over, find_mark_fault, find_marks_fault

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence
    from pathlib import Path

    from adjudge.campaigns.campaign_file import Campaign


SCHEMA_VERSION = 1
_EDITS = 7  # the stream of random numbers that draws edits, apart from those of `campaigns.design`
_Made = TypeVar("_Made")


OMITTED = "[missing]"
"""What an example says where something was left out, and must be marked as such."""


@dataclass(frozen=True)
class Output:
    """One translation as shown. `id` is its place in the tasks and says nothing of who made it.

    `systems` are all that produced exactly this text. `kind` is one of `table.protocols.KINDS`. `of` is the id of the
    output that this one repeats or degrades. `expected` bounds the right answer of a tutorial or an attention check:
    scores from low to high, or ranks (1 is best). `prefilled` are marks that annotators find already made. `to_mark`
    are the phrases of a tutorial in which errors must be marked, or `OMITTED`; `explanation` says why, once an answer
    is given. `media` are names of files that belong to it.
    `original` is what `editor` made this text from, where edits of another campaign are corrected or judged; of marks
    that are corrected, `editor` is who made them.
    """

    id: str
    systems: tuple[str, ...]
    text: str
    kind: str = "system"
    of: str | None = None
    expected: tuple[float, float] | None = None
    prefilled: tuple[Mark, ...] = ()
    to_mark: tuple[str, ...] = ()
    media: tuple[str, ...] = ()
    original: str | None = None
    editor: str | None = None
    explanation: str | None = None


@dataclass(frozen=True)
class Item:
    """One segment with the outputs judged together. `source` or `reference` is None where it is not to be shown.

    `note` is shown with a tutorial item: what is to be learnt from it. `inclusion` is the probability with which the
    segment was chosen, where segments were chosen with unequal ones. `media` are names of files beside the source.
    """

    id: str
    segment: str
    source: str | None
    outputs: tuple[Output, ...]
    reference: str | None = None
    note: str | None = None
    inclusion: float | None = None
    media: tuple[str, ...] = ()


@dataclass(frozen=True)
class ContextSegment:
    """A neighbour that is shown and not judged; `target` is None where screens show several systems."""

    segment: str
    source: str | None
    target: str | None = None


@dataclass(frozen=True)
class Screen:
    """What is shown together: one item, or the page of a document."""

    id: str
    document: str
    items: tuple[Item, ...]
    context_before: tuple[ContextSegment, ...] = ()
    context_after: tuple[ContextSegment, ...] = ()
    version: str | None = None
    """Of which version of the test set, where there are two; not shown."""


@dataclass(frozen=True)
class Task:
    """A unit of work. `judgments` different people do it; `annotators` are those planned (all of them, in `fixed`).

    Calibration and tutorial tasks are done first, by everybody.
    """

    id: str
    screens: tuple[Screen, ...]
    kind: TaskKind = "work"
    judgments: int = 1
    annotators: tuple[str, ...] = ()

    def outputs(self) -> Iterator[tuple[Screen, Item, Output]]:
        """Everything judged in this task, in order, with its place."""
        for screen in self.screens:
            for item in screen.items:
                for output in item.outputs:
                    yield screen, item, output

    @property
    def size(self) -> int:
        """The number of items."""
        return sum(len(screen.items) for screen in self.screens)


@dataclass(frozen=True)
class TaskSet:
    """All tasks of a campaign, with what is needed to show and to export them without the text files.

    `human` are the systems that are human translations. Directions are `ltr` or `rtl`.
    """

    campaign: str
    protocol: str
    source_lang: str
    target_lang: str
    source_direction: str
    target_direction: str
    seed: int
    annotators: tuple[str, ...]
    systems: tuple[str, ...]
    human: tuple[str, ...]
    tasks: tuple[Task, ...]

    @property
    def fingerprint(self) -> str:
        """Twelve hexadecimal digits that identify the tasks."""
        return fingerprint(to_json(self))


def corrected_segments(tasks: TaskSet) -> set[tuple[str, str]]:
    """Documents and segments whose source (or reference, where only that is shown) differs between two versions."""
    texts: dict[tuple[str, str], set[str | None]] = {}
    for task in tasks.tasks:
        for screen, item, _ in task.outputs():
            if screen.version is not None:
                texts.setdefault((screen.document, item.segment), set()).add(item.source or item.reference)
    return {segment for segment, different in texts.items() if len(different) > 1}


def text_hash(text: str) -> str:
    """Sixteen hexadecimal digits that identify a text; written beside it, so that a changed text is noticed."""
    return fingerprint(text, digits=16)


def to_json(tasks: TaskSet) -> str:
    """The content of `tasks.json`, a line per screen: the same tasks give the same bytes."""
    head = {name: value for name, value in vars(tasks).items() if name != "tasks"}
    blocks = [
        _open_object(vars(task), "screens") + ",\n".join(_to_line(screen) for screen in task.screens) + "\n]}"
        for task in tasks.tasks
    ]
    return _open_object({"schema": SCHEMA_VERSION, **head}, "tasks") + ",\n".join(blocks) + "\n]}\n"


def _open_object(values: dict[str, Any], last: str) -> str:
    """The start of an object, up to the bracket of its last key, a list."""
    start = _to_line({name: value for name, value in values.items() if name != last})
    return f'{start[:-1]}, "{last}": [\n'


def _to_line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=_list_fields)


_OPTIONAL: dict[type, tuple[str, ...]] = {
    Item: ("inclusion", "media"),
    Screen: ("version",),
    Output: ("prefilled", "to_mark", "media", "original", "editor", "explanation"),
}


def _list_fields(value: Output | Item | Screen | ContextSegment | Mark) -> dict[str, Any]:
    """The fields of a part, a text with its hash beside it; marks, probability and version only where there are any."""
    fields = {**vars(value), "hash": text_hash(value.text)} if isinstance(value, Output) else vars(value)
    optional = _OPTIONAL.get(type(value), ())
    left_out = [name for name in optional if fields[name] in (None, ())]
    return {name: content for name, content in fields.items() if name not in left_out}


def save_tasks(tasks: TaskSet, path: Path) -> None:
    """Write `tasks.json` atomically."""
    write_text(path, to_json(tasks))


def load_tasks(path: Path) -> TaskSet:
    """Read `tasks.json`; an unknown schema, a missing key or a text that does not match its hash is an error."""
    return parse_tasks(read_text(path), path)


def parse_tasks(text: str, path: Path | str) -> TaskSet:
    """The tasks in the text of `tasks.json`; `path` names the file, or where else the text comes from, in errors."""
    data = _parse_json(text, path)
    version = data.get("schema") if isinstance(data, dict) else None
    if version != SCHEMA_VERSION:
        raise InputError(
            f"has schema {shown(version)} where {SCHEMA_VERSION} is known; make the tasks again with 'adjudge design'",
            file=path,
        )
    try:
        return _make_task_set({key: value for key, value in data.items() if key != "schema"}, path)
    except (KeyError, TypeError, ValueError, AttributeError) as fault:
        reason = shown(fault, 120)
        raise InputError(f"lacks or misnames a key ({reason}); make the tasks again", file=path) from fault


def _parse_json(text: str, path: Path | str) -> Any:
    def no_number(word: str) -> float:
        raise ValueError(f"{word} is no number")

    try:
        return json.loads(text, parse_constant=no_number)
    except json.JSONDecodeError as fault:
        what = f"is not valid JSON ({fault.msg}); make the tasks again"
        raise InputError(what, file=path, line=fault.lineno) from None
    except (ValueError, RecursionError) as fault:
        deep = isinstance(fault, RecursionError)
        what = "is nested too deeply" if deep else f"holds a broken number ({shown(fault)})"
        raise InputError(f"{what}; make the tasks again", file=path) from None


def _make_task_set(data: dict[str, Any], path: Path | str) -> TaskSet:
    def make_screen(data: dict[str, Any]) -> Screen:
        around = {
            key: tuple(_make(ContextSegment, segment) for segment in data[key])
            for key in ("context_before", "context_after")
        }
        return _make(Screen, data, **around, items=tuple(map(make_item, data["items"])))

    def make_item(data: dict[str, Any]) -> Item:
        media = tuple(data.pop("media", ()))
        return _make(Item, data, outputs=tuple(map(make_output, data["outputs"])), media=media)

    def make_output(data: dict[str, Any]) -> Output:
        stored = data.pop("hash")
        expected = data["expected"] and tuple(data["expected"])
        prefilled = tuple(_make(Mark, mark) for mark in data.pop("prefilled", ()))
        tuples = {"systems": tuple(data["systems"])}
        tuples |= {name: tuple(data.pop(name, ())) for name in ("to_mark", "media")}
        output = _make(Output, data, expected=expected, prefilled=prefilled, **tuples)
        if text_hash(output.text) != stored:
            raise InputError(
                f"the text of output '{shown(output.id)}' does not match its hash; it was changed after the design, "
                "make the tasks again",
                file=path,
            )
        return output

    lists = {name: tuple(data.pop(name)) for name in ("annotators", "systems", "human")}
    tasks = [
        _make(Task, task, screens=tuple(map(make_screen, task["screens"])), annotators=tuple(task["annotators"]))
        for task in data["tasks"]
    ]
    whole = _make(TaskSet, data, **lists, tasks=tuple(tasks))
    if whole.protocol not in PROTOCOLS:
        raise ValueError(f"unknown protocol '{whole.protocol}'")
    return whole


def _make(kind: type[_Made], given: dict[str, Any], **parts: Any) -> _Made:
    """A value of the class whose fields all are of their types; JSON would let any of them be anything."""
    instance = kind(**{**given, **parts})
    for name, hint in _field_types(cast("Hashable", kind)).items():
        if not _has_type(getattr(instance, name), hint):
            raise TypeError(f"'{name}' is {shown(getattr(instance, name))!r}")
    return instance


@cache
def _field_types(kind: Hashable) -> dict[str, Any]:
    return get_type_hints(kind)


def _has_type(value: object, hint: Any) -> bool:
    arguments = get_args(hint)
    if get_origin(hint) is tuple:
        several = arguments[:1] * len(value) if isinstance(value, tuple) and arguments[-1] is ... else arguments
        return isinstance(value, tuple) and len(value) == len(several) and all(map(_has_type, value, several))
    if get_origin(hint) is Literal:
        return value in arguments
    if arguments:
        return any(_has_type(value, argument) for argument in arguments)
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, hint) and not (hint is int and isinstance(value, bool))


# Marks that annotators find already made, by a machine or by other people: read from a file, and checked.
#
# Columns of the TSV file: `system`, `segment`, `start`, `end` (half-open, in code points), `severity`; and `document`
# where segments are numbered anew in each, `category`, `side` (`target`, `source` or `missing`) and `text`, which must
# then be what stands at the offsets.

# Marks by system and index in the test set.
Prefilled = dict[tuple[str, int], tuple[Mark, ...]]


def read_prefilled(campaign: Campaign, testset: TestSet) -> Prefilled:
    """The marks of the campaign's file; every fault is named with its line."""
    path = campaign.files.prefilled
    if path is None or is_export(path):
        return {}
    table = read_delimited(path, "\t", quoting=False)
    reader = _Reader(campaign, testset, table, path)
    marks_of: dict[tuple[str, int], list[Mark]] = {}
    for line, fields in table.rows:
        system, index, mark = reader.mark(fields, line)
        marks = marks_of.setdefault((system, index), [])
        marks.append(mark)
        fault = find_marks_fault(marks, reader.rules, **reader.texts(system, index))
        if fault is not None:
            raise InputError(f"{fault}; correct it", file=path, line=line)
    return {key: tuple(marks) for key, marks in marks_of.items()}


class _Reader:
    """One file of marks, row by row."""

    def __init__(self, campaign: Campaign, testset: TestSet, table: Delimited, path: Path) -> None:
        self.rules = campaign.spans.rules(campaign.protocol)
        self.testset = testset
        self.path = path
        self.names: Mapping[str, int | None] = {
            **{name: table.need(name) for name in ("system", "segment", "start", "end", "severity")},
            **{name: table.find(name) for name in ("document", "category", "side", "text")},
        }
        self.translations = {**testset.references, **testset.systems}
        self.indices: dict[tuple[str, str], list[int]] = {}
        for index, segment in enumerate(testset.source):
            for document in (segment.document, ""):
                self.indices.setdefault((document, segment.segment), []).append(index)

    def mark(self, fields: list[str], line: int) -> tuple[str, int, Mark]:
        """The system, the index and the mark of a row."""
        given = {name: "" if at is None else fields[at] for name, at in self.names.items()}
        system, segment = given["system"].strip(), given["segment"].strip()
        if system not in self.translations:
            raise InputError(f"there is no system '{shown(system)}'; check its name", file=self.path, line=line)
        indices = self.indices.get((given["document"].strip(), segment), [])
        if len(indices) != 1:
            problem = "is not in the source" if not indices else f"is in {len(indices)} documents; name the document"
            raise InputError(f"segment '{shown(segment)}' {problem}", file=self.path, line=line)
        mark = self._make_mark(given, line, **self.texts(system, indices[0]))
        fault = find_mark_fault(mark, self.rules, **self.texts(system, indices[0]))
        if fault is not None:
            raise InputError(f"{fault}; correct it", file=self.path, line=line)
        return system, indices[0], mark

    def _make_mark(self, given: dict[str, str], line: int, *, target: str, source: str | None) -> Mark:
        side = given["side"].strip().casefold() or TARGET
        kind = (given["severity"].strip().casefold(), given["category"].strip() or None, side)
        if side == MISSING:
            return Mark(None, None, *kind)
        start, end = (to_int(given[name], name, self.path, line) for name in ("start", "end"))
        text = (source or "") if side == SOURCE else target
        # Without a text of its own, a mark quotes what stands there; where that is nothing, its offsets are at fault.
        quoted = given["text"] if self.names["text"] is not None and given["text"] else text[max(0, start) : end]
        return Mark(start, end, *kind, quoted)

    def texts(self, system: str, index: int) -> dict[str, str]:
        """The texts that a mark may lie in."""
        return {"target": self.translations[system][index], "source": self.testset.source[index].text}


def find_prefilled(material: Material, index: int, output: DraftOutput) -> tuple[Mark, ...]:
    """The marks that an output comes with; in a degraded copy those that its new phrase leaves in place."""
    for system in output.systems:
        marks = material.prefilled.get((system, index))
        if marks:
            before = {**material.testset.references, **material.systems}[system][index]
            return marks if output.text == before else carry_over(marks, before, output.text)
    return ()


# Tasks while they are made: screens without ids or order, and the material that they are made from.

# Which output another one repeats or degrades: key of its screen, number of its item, systems.
OutputKey = tuple[int, int, tuple[str, ...]]


@dataclass(frozen=True)
class DraftOutput:
    """A text to be judged, credited to all systems that made exactly this text."""

    systems: tuple[str, ...]
    text: str
    kind: str = "system"
    of: OutputKey | None = None
    expected: tuple[float, float] | None = None


@dataclass(frozen=True)
class DraftItem:
    """A segment, by its index in the test set, with the outputs judged together."""

    index: int
    outputs: tuple[DraftOutput, ...]


@dataclass(frozen=True)
class DraftScreen:
    """What is shown together. `copy_of` is the key of the screen that this one checks, to be shown far from it."""

    key: int
    items: tuple[DraftItem, ...]
    copy_of: int | None = None

    @property
    def size(self) -> int:
        """The number of items."""
        return len(self.items)

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems of the first item (of all, where a screen is one system's page)."""
        return tuple(system for output in self.items[0].outputs for system in output.systems)


# Screens that stay together, in this order: consecutive segments of a ranking.
Run = tuple[DraftScreen, ...]


@dataclass(frozen=True)
class Material:
    """What tasks are made from. `systems` are all that are judged, human ones included; `prefilled` their marks."""

    campaign: Campaign
    testset: TestSet
    systems: Mapping[str, Sequence[str]]
    prefilled: Mapping[tuple[str, int], tuple[Mark, ...]] = field(default_factory=dict)
    inclusion: Mapping[int, float] = field(default_factory=dict)
    """By index in the test set, the probability with which a segment was chosen; empty where none were."""
    media: MediaFiles = MediaFiles()
    edits: Edits = field(default_factory=dict)
    """Where edits of another campaign take the place of outputs: what they were made from, and by whom."""
    rounds: int = ROUNDS
    """How often deals are improved at most; plans, which ask for precision alone, do without."""
    _keys: Iterator[int] = field(default_factory=count, repr=False)

    def screen(self, items: Sequence[DraftItem], *, copy_of: int | None = None) -> DraftScreen:
        """A new screen under a key of its own."""
        return DraftScreen(next(self._keys), tuple(items), copy_of)

    def outputs(self, index: int) -> tuple[DraftOutput, ...]:
        """The distinct outputs of a segment, each with all systems that made it."""
        return tuple(output for (output,) in self.pages((index,)))

    def judged_as(self, index: int, systems: Sequence[str]) -> tuple[str, ...]:
        """What is to be balanced over tasks: the systems, of each version by itself where there are two."""
        version = self.testset.source[index].version
        return tuple(systems) if version is None else tuple(f"{name}\t{version}" for name in systems)

    def pages(self, indices: Sequence[int]) -> tuple[tuple[DraftOutput, ...], ...]:
        """The distinct translations of several segments as a whole: for each, one output per segment."""
        makers: dict[tuple[tuple[Any, ...], ...], list[str]] = {}
        for name, texts in self.systems.items():
            page = tuple(
                (texts[index], self.media.of_output((name,), index), self.edits.get((name, index))) for index in indices
            )
            makers.setdefault(page, []).append(name)
        return tuple(tuple(DraftOutput(tuple(names), text) for text, *_ in page) for page, names in makers.items())


# By system and index in the test set: what an edit was made from (nothing, where it is marks), and who made it (nobody,
# where the first editor skipped the output).
Edits = dict[tuple[str, int], tuple[str | None, str | None]]


def is_export(path: Path) -> bool:
    """Whether a file of marks is the exported judgments of another campaign, by its name."""
    return path.suffix.lower() in (".parquet", ".csv")


def read_marked(campaign: Campaign, testset: TestSet) -> tuple[Edits, Prefilled]:
    """The marks that people made in another campaign, to be corrected here, and who made them.

    Where several people marked an output, the marks of one are drawn, with the campaign's seed. What nobody judged has
    none.
    """
    path = campaign.files.prefilled
    if path is None or not is_export(path):
        return {}, {}
    from adjudge.readers.registry import read

    table = read(path).final().table.filter(pl.col("spans").is_not_null() & pl.col("kind").is_in(NOT_CONTROLS))
    if table.is_empty():
        raise InputError("holds no marks; give the judgments that 'adjudge export' writes of esa or mqm", file=path)
    made: dict[tuple[str, str, str], list[tuple[str, list[dict[str, Any]]]]] = {}
    columns = ("system", "document", "segment", "annotator", "spans")
    for system, document, segment, annotator, spans in sorted(table.select(columns).iter_rows(), key=str):
        made.setdefault((system, document, segment), []).append((annotator or "", spans))
    rules, rng = campaign.spans.rules(campaign.protocol), generator(campaign.seed, _EDITS)
    editors: Edits = {}
    marked: Prefilled = {}
    for name, outputs in testset.systems.items():
        for index, (segment, output) in enumerate(zip(testset.source, outputs, strict=True)):
            found = made.get((name, segment.document, segment.segment), [])
            if not found:
                continue
            annotator, spans = found[int(rng.integers(len(found)))]
            marks = tuple(Mark(**span) for span in spans)
            fault = find_marks_fault(list(marks), rules, target=output, source=segment.text)
            if fault is not None:
                where = f"segment '{segment.segment}' of document '{segment.document}' by system '{shown(name)}'"
                raise InputError(f"{where}: {fault}; name the texts and rules of the first campaign", file=path)
            editors[name, index] = (None, annotator)
            marked[name, index] = marks
    return editors, marked


def read_edits(campaign: Campaign, testset: TestSet) -> tuple[Edits, dict[str, tuple[str, ...]]]:
    """The edits of another campaign that take the place of outputs, with their texts by system.

    Where several people have edited an output, one of their edits is drawn, with the campaign's seed. What was skipped
    stays as the machine made it.
    """
    path = campaign.files.edits
    if path is None:
        return {}, {}
    made, skipped = _list_edits(path)
    rng = generator(campaign.seed, _EDITS)
    edits: Edits = {}
    texts: dict[str, tuple[str, ...]] = {}
    for name, outputs in testset.systems.items():
        chosen: list[str] = []
        for index, (segment, output) in enumerate(zip(testset.source, outputs, strict=True)):
            key = (name, segment.document, segment.segment)
            found = made.get(key, [(None, output, output)] if key in skipped else [])
            if not found:
                what = f"segment '{segment.segment}' of document '{segment.document}' by system '{shown(name)}'"
                raise InputError(f"has no edit of {what}; finish the first campaign, or leave it out", file=path)
            editor, original, text = found[int(rng.integers(len(found)))]
            if original != output:
                raise InputError(
                    f"the edit of segment '{segment.segment}' by system '{shown(name)}' was made from another text; "
                    "name the files of the first campaign",
                    file=path,
                )
            edits[name, index] = (original, editor)
            chosen.append(text)
        texts[name] = tuple(chosen)
    return edits, texts


_Key = tuple[str, str, str]


def _list_edits(path: Path) -> tuple[dict[_Key, list[tuple[str | None, str, str]]], set[_Key]]:
    """Editor, original and edit by system, document and segment of a post-editing campaign; and what was skipped."""
    from adjudge.readers.registry import read

    table = read(path).final().table
    if "postedit" not in table["protocol"].to_list() or not {"text", "target_text"} <= {*table.columns}:
        raise InputError("holds no post-edits; give the judgments that 'adjudge export' writes of them", file=path)
    made: dict[_Key, list[tuple[str | None, str, str]]] = {}
    columns = ("system", "document", "segment", "annotator", "target_text", "text", "kind")
    for system, document, segment, editor, original, text, kind in sorted(table.select(columns).iter_rows(), key=str):
        if text is not None and kind in NOT_CONTROLS:
            made.setdefault((system, document, segment), []).append((editor or "", original, text))
    if SKIPPED not in table.columns:
        return made, set()
    skipped = table.filter(pl.col(SKIPPED).is_not_null() & pl.col("kind").is_in(NOT_CONTROLS))
    return made, set(skipped.select("system", "document", "segment").iter_rows())


def make_material(campaign: Campaign, testset: TestSet) -> Material:
    """The systems to be judged: the outputs, and the references where the campaign treats them as systems."""
    systems = dict(testset.systems)
    if campaign.design.references_as_systems:
        systems |= testset.references
    edits, texts = read_edits(campaign, testset)
    markers, marked = read_marked(campaign, testset)
    media = read_media(campaign, testset)
    prefilled = read_prefilled(campaign, testset) | marked
    return Material(campaign, testset, systems | texts, prefilled, media=media, edits=edits | markers)
