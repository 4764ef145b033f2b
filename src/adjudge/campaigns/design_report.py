"""The balance of a design, before anything is spent: counts, who meets whom, what the design alone adds, warnings."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from adjudge.campaigns.adaptive import GIVEN_UP
from adjudge.campaigns.controls import plan_amounts
from adjudge.table.judgments import SetAside
from adjudge.table.maths import divide
from adjudge.table.protocols import PROTOCOLS, WORK, counted_kinds
from adjudge.table.results import Result, Setting, Table, number, percent, tabulate, text
from adjudge.table.wording import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from adjudge.campaigns.campaign_file import Campaign
    from adjudge.campaigns.tasks import Task, TaskSet
    from adjudge.table.texts import TestSet


# Counting a design: how many judgments each system gets in every task, from every person, on every segment.


@dataclass(frozen=True, eq=False)
class Counts:
    """Judgments of systems (columns), over all people; `people` are tasks' planned annotators, or tasks in a pool."""

    names: tuple[str, ...]
    by_task: NDArray[np.float64]
    by_person: NDArray[np.float64]
    by_segment: NDArray[np.float64]
    by_document: NDArray[np.float64]
    by_screen: NDArray[np.float64]

    def columns(self, systems: Sequence[str]) -> list[int]:
        """The columns of these systems."""
        return [self.names.index(system) for system in systems if system in self.names]


def work_tasks(tasks: TaskSet) -> tuple[Task, ...]:
    """The tasks whose judgments count."""
    return tuple(task for task in tasks.tasks if task.kind == "work")


def count_judgments(tasks: TaskSet) -> Counts:
    """Count the genuine outputs of all work tasks; a text of several systems counts for each of them."""
    by: dict[str, Counter[tuple[str, str]]] = {
        name: Counter() for name in ("task", "person", "segment", "document", "screen")
    }
    for task in work_tasks(tasks):
        people = task.annotators or (task.id,) * task.judgments
        for screen, item, output in task.outputs():
            # What a standardisation by task or annotator averages over: controls made to be bad are left out.
            if output.kind not in WORK:
                continue
            segment = f"{screen.document}\n{item.segment}"
            for system in output.systems:
                by["task"][task.id, system] += task.judgments
                # A repeat is averaged with its original before texts are compared.
                if output.kind != "repeat":
                    by["segment"][segment, system] += task.judgments
                    by["document"][screen.document, system] += task.judgments
                by["screen"][f"{screen.id}/{item.id}", system] += task.judgments
                by["person"].update((person, system) for person in people)
    names = (*tasks.systems, *sorted({system for _, system in by["task"]} - set(tasks.systems)))
    columns = {name: i for i, name in enumerate(names)}
    tables: list[NDArray[np.float64]] = []
    for counts in by.values():
        rows = {row: i for i, row in enumerate(dict.fromkeys(row for row, _ in counts))}
        tables.append(np.zeros((len(rows), len(names))))
        for (row, system), count in counts.items():
            tables[-1][rows[row], columns[system]] = count
    return Counts(names, *tables)


def count_components(links: Iterable[Iterable[str]]) -> int:
    """How many separate groups there are, where each of `links` ties its members together."""
    parent: dict[str, str] = {}

    def root(node: str) -> str:
        while parent.setdefault(node, node) != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for link in links:
        members = list(link)
        for other in members:
            parent[root(other)] = root(members[0])
    return len({root(node) for node in list(parent)})


# Warnings about a design, after Knowles (2021): what could later be said against the ranking.

FEW_CONTROLS = 10
TEAMS = 2
"""Of people, where two versions of a test set are judged."""


def warn(report: DesignReport, tasks: TaskSet, campaign: Campaign) -> Iterator[str]:
    """All warnings, the gravest first."""
    yield from _about_systems(report, campaign)
    yield from _about_company(report, campaign)
    yield from _about_people(report, tasks, campaign)
    yield from _about_controls(report, tasks)
    yield from _about_texts(tasks)


def _about_texts(tasks: TaskSet) -> Iterator[str]:
    outputs = [output for task in work_tasks(tasks) for _, _, output in task.outputs() if output.kind == "system"]
    skipped = sum(output.original is not None and output.editor is None for output in outputs)
    if skipped:
        count = f"{skipped} of {len(outputs)} outputs"
        yield f"{count} were skipped in the first campaign, and are as the machine made them"
    empty = Counter(
        system
        for task in work_tasks(tasks)
        for _, _, output in task.outputs()
        if output.kind == "system" and not output.text.strip()
        for system in output.systems
    )
    if empty:
        counts = ", ".join(f"{system} {count}" for system, count in sorted(empty.items()))
        yield f"some translations are empty ({counts}), and are shown as such; check the files if that is not meant"


def _about_systems(report: DesignReport, campaign: Campaign) -> Iterator[str]:
    if campaign.adaptive is not None:
        policy = campaign.adaptive.policy
        yield f"the policy '{policy}' gives up {GIVEN_UP['top:k' if policy.startswith('top:') else policy]}"
    if report.connected_systems > 1:
        how = "judged in one task" if not PROTOCOLS[campaign.protocol].relative else "compared with each other"
        yield (
            f"the systems fall into {report.connected_systems} groups that are never {how}, not even through others; "
            "no method can rank across them"
        )
    if never := [row.system for row in report.systems if row.judgments == 0]:
        yield f"{', '.join(never)}: never judged; raise design.segments or design.screens_per_segment"
    texts = next((bias for bias in report.bias if bias.source == "different texts" and bias.pair), None)
    if texts is not None and texts.rms >= 0.05 * texts.spread:
        yield (
            f"systems are judged on different texts, which alone makes two equal systems differ by about "
            f"{texts.rms:.2g} {texts.unit}; the structure 'pages-same-documents' or more segments avoid it"
        )


def _about_company(report: DesignReport, campaign: Campaign) -> Iterator[str]:
    if PROTOCOLS[campaign.protocol].relative or not report.meetings:
        return
    meetings, systems = report.meetings[0], len(report.meetings[0].systems)
    least, most = report.systems_per_task.least, report.systems_per_task.most
    if least < systems:
        held = f"{least:g}" if least == most else f"{least:g} to {most:g}"
        yield (
            f"a task holds {held} of {systems} systems, so a z-score by task depends on the other systems in it; "
            "smaller pages (context.max_segments), larger tasks or a mixed model (rank --method mixed) help"
        )
    if meetings.least_share is not None and meetings.least_share < 0.5:
        first, second = meetings.least_pair or ("", "")
        met = f"'{first}' meets '{second}' in {meetings.least_share:.0%} of its own"
        yield f"two systems meet in fewer than half of their tasks ({met})"
    company = report.bias[0] if report.bias else None
    if company is not None and company.worst >= 0.05 * company.spread:
        first, second = company.pair or ("", "")
        yield (
            f"z-scores by task move the difference of '{first}' and '{second}' by about {company.worst:.2g} "
            f"{company.unit} through the other systems in a task alone"
        )


def _about_people(report: DesignReport, tasks: TaskSet, campaign: Campaign) -> Iterator[str]:
    work = work_tasks(tasks)
    given = Counter(name for task in work for name in task.annotators)
    if given:
        idle = len(tasks.annotators) - len(given)
        if idle:
            have = f"{agreeing(idle, 'has', 'have')} no task"
            yield f"{idle} of {len(tasks.annotators)} annotators {have}; make tasks smaller or invite fewer"
        single = sum(1 for number in given.values() if number == 1)
        if not PROTOCOLS[campaign.protocol].relative and 2 * single > len(given):
            do = agreeing(single, "does", "do")
            of_all = f"{single} of {counted(len(given), 'annotator')}"
            yield f"{of_all} {do} one task only, so their z-scores are z-scores by task"
    shared = campaign.design.judgments > 1 or any(task.kind == "calibration" for task in tasks.tasks)
    if len(tasks.annotators) > 1 and not shared:
        yield (
            "no two annotators judge the same items, so their agreement and leniency cannot be compared directly; "
            "set design.judgments to 2 or add controls.calibration"
        )
    elif campaign.files.after is not None and report.connected_annotators == TEAMS:
        yield "two versions: the annotators are two teams, so that nobody sees a document in both; parity compares them"
    elif given and report.connected_annotators > 1 and len(given) > 1:
        groups = report.connected_annotators
        yield f"the annotators fall into {groups} groups without common items; add controls.calibration to link them"


def _about_controls(report: DesignReport, tasks: TaskSet) -> Iterator[str]:
    shown = {control.kind: control.made for control in report.controls}
    if not shown.get("degraded") and not shown.get("attention"):
        yield "there are no degraded copies and no attention checks, so careless annotators cannot be detected"
    elif shown.get("degraded"):
        per_task = [sum(output.kind == "degraded" for _, _, output in task.outputs()) for task in work_tasks(tasks)]
        tasks_each = min(Counter(n for t in work_tasks(tasks) for n in t.annotators).values(), default=1)
        fewest = min(per_task) * tasks_each
        if fewest < FEW_CONTROLS:
            yield (
                f"some annotators see only {counted(fewest, 'degraded copy', 'degraded copies')}; with fewer than "
                f"{FEW_CONTROLS}, a significance test can hardly detect careless annotators"
            )
    if PROTOCOLS[tasks.protocol].relative:
        return
    seen = Counter(
        (name, screen.document, item.segment, output.text)
        for task in tasks.tasks
        for screen, item, output in task.outputs()
        if output.kind != "repeat"
        for name in task.annotators
    )
    if again := seen.total() - len(seen):
        often = counted(again, "time")
        yield f"{often} an annotator sees a text twice by accident, because there are too few for the controls"


# The result of designing tasks: what will be judged, by whom, and how far the design itself could mislead.


@dataclass(frozen=True)
class DesignedSystem:
    """How often a system is judged; `shared` are texts that another system produced exactly the same."""

    system: str
    human: bool
    judgments: int
    segments: int
    documents: int
    tasks: int
    shared: int


@dataclass(frozen=True)
class ControlCount:
    """Items of a control: planned per task, and made in all tasks."""

    kind: str
    per_task: float
    made: int


@dataclass(frozen=True)
class Spread:
    """The least, the middle and the most of a count."""

    least: float
    median: float
    most: float


@dataclass(frozen=True)
class Meetings:
    """How often systems meet. The diagonal of `matrix` counts where a system is at all.

    `cv` is the standard deviation of the pairs' counts in units of their mean. `least_share` is the smallest share of
    its own tasks (or screens) in which a system meets another one; `least_pair` says which.
    """

    where: str
    systems: tuple[str, ...]
    matrix: tuple[tuple[int, ...], ...]
    least: int
    most: int
    cv: float | None
    least_share: float | None
    least_pair: tuple[str, str] | None


@dataclass(frozen=True)
class DesignBias:
    """What the design alone adds to the difference of two systems, in `unit`: typically (`rms`), for the worst pair.

    `spread` is the standard deviation assumed for what is unevenly distributed (`varies`).
    """

    source: str
    varies: str
    spread: float
    unit: str
    rms: float
    worst: float
    pair: tuple[str, str] | None


@dataclass(frozen=True)
class Workload:
    """The work planned for one person."""

    annotator: str
    tasks: int
    items: int
    judgments: int


@dataclass(frozen=True)
class Selection:
    """Segments chosen with known, unequal probabilities.

    `worth` is how many segments of equal weight the chosen ones count for where outputs differ alike on all of them;
    what is gained on segments that differ more comes on top.
    """

    by: str
    segments: int
    of: int
    least: float
    most: float
    worth: float


@dataclass(frozen=True, kw_only=True)
class DesignReport(Result):
    """The balance of a design. `warnings` are its notes."""

    verb: ClassVar[str] = "design"

    campaign: str
    protocol: str
    structure: str
    tasks: int
    screens: int
    items: int
    judgments: int
    """Of all people together, without answers to controls and examples, as the export counts them."""
    control_judgments: int
    annotators: int
    systems: tuple[DesignedSystem, ...]
    controls: tuple[ControlCount, ...]
    task_items: Spread
    systems_per_task: Spread
    meetings: tuple[Meetings, ...]
    bias: tuple[DesignBias, ...]
    workload: tuple[Workload, ...]
    connected_systems: int
    connected_annotators: int
    selection: Selection | None = None
    """None where all segments are judged, or were as likely to be chosen."""

    def to_dict(self) -> dict[str, Any]:
        """The report for machines; the notes are repeated as `warnings`."""
        return {**super().to_dict(), "warnings": list(self.notes)}

    def tables(self) -> tuple[Table, ...]:
        """Counts, systems, balance of meetings, and what the design adds to differences."""
        tables = [self._counts(), self._systems()]
        if self.selection is not None:
            tables.append(_selection_table(self.selection))
        if self.meetings:
            tables.append(self._meetings())
        if self.bias:
            tables.append(self._bias())
        return tuple(tables)

    def _counts(self) -> Table:
        loads = [person.judgments for person in self.workload]
        rows: list[tuple[str, float | None]] = [
            ("tasks", self.tasks),
            ("screens", self.screens),
            ("items", self.items),
            ("judgments (all people together)", self.judgments),
            ("answers to controls and examples besides", self.control_judgments),
            ("annotators", self.annotators),
            ("items per task, least", self.task_items.least),
            ("items per task, most", self.task_items.most),
            ("systems per task, least", self.systems_per_task.least),
            ("systems per task, most", self.systems_per_task.most),
        ]
        if loads:
            rows += [("answers per annotator, least", min(loads)), ("answers per annotator, most", max(loads))]
        rows += [
            (f"{control.kind} (planned per task: {control.per_task:g})", control.made) for control in self.controls
        ]
        return Table(f"Design of {self.campaign} ({self.structure})", (text("what"), number("count", 0)), tuple(rows))

    def _systems(self) -> Table:
        counts = {name: number(name, 0) for name in ("judgments", "segments", "documents", "tasks")}
        shared = number("shared", 0, help="texts that another system produced exactly the same")
        return tabulate("Systems", self.systems, {"system": text("system"), **counts, "shared": shared})

    def _meetings(self) -> Table:
        rows = tuple(
            (row.where, row.least, row.most, row.cv, row.least_share, " – ".join(row.least_pair or ()))
            for row in self.meetings
        )
        columns = (
            text("two systems meet in the same"),
            number("least", 0),
            number("most", 0),
            number("cv", help="standard deviation of the pairs' counts over their mean"),
            percent("least share", help="smallest share of its own tasks or screens where a system meets another"),
            text("pair"),
        )
        return Table("Who meets whom", columns, rows)

    def _bias(self) -> Table:
        rows = tuple((row.source, row.rms, row.worst, row.unit, " – ".join(row.pair or ())) for row in self.bias)
        columns = (
            text("source"),
            number("typical", help="root mean square over pairs of systems"),
            number("worst pair"),
            text("unit"),
            text("pair"),
        )
        assumed = dict.fromkeys(f"{row.varies} {row.spread:g}" for row in self.bias)
        note = f"Standard deviations assumed: {', '.join(assumed)}."
        return Table("What the design alone adds to the difference of two systems", columns, rows, note)


def _selection_table(chosen: Selection) -> Table:
    rows = (
        ("segments chosen", float(chosen.segments)),
        ("of segments that could be judged", float(chosen.of)),
        ("smallest probability", chosen.least),
        ("largest probability", chosen.most),
        ("segments of equal weight that they are worth", chosen.worth),
    )
    note = "Each score counts 1 / probability when systems are ranked, so that differences are those of all segments."
    return Table(f"Segments chosen by {chosen.by}", (text("what"), number("value", 3)), rows, note)


# What the design alone adds to the difference of two systems.
#
# A z-score subtracts the mean of a task (or of an annotator). If tasks hold different systems, that mean depends on the
# systems beside which one is judged, its company. With N[t, s] judgments of system s in task t, the company of s is row
#
#     C[s, r] = sum over t of  N[t, s] / N[., s]  *  N[t, r] / N[t, .]
#
# and the difference of systems s and r moves by (C[s] - C[r]) m, m being the true means. If true means have the
# standard deviation S, this movement has the standard deviation S |C[s] - C[r]|: exact, so nothing needs to be
# simulated. The same form says what uneven texts and uneven leniency add, with shares of segments, documents and
# annotators instead of C.
#
# The reason for these numbers: Knowles (2021), On the stability of system rankings at WMT.

# Standard deviations on a scale of 100 points, of the size found in released judgments: of the systems of a language
# pair, and of the components of a mixed model.
SYSTEMS, DOCUMENTS, SEGMENTS, ANNOTATORS = 5.0, 2.0, 6.0, 11.0

SPREAD = "spread of systems"


def mean_company(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Row s: the mean composition of the rows of `table` in which system s (a column) is judged."""
    rows = divide(table, table.sum(axis=1, keepdims=True), otherwise=0.0)
    mixed: NDArray[np.float64] = shares(table).T @ rows
    return mixed


def shares(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """How each system's judgments (a column) are spread over the rows; columns sum to 1."""
    return divide(table, table.sum(axis=0, keepdims=True), otherwise=0.0)


def opponents(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Row s: how the opponents of system s on its screens differ from all others in equal parts; rows sum to 0."""
    present = (table > 0).astype(float)
    met = present.T @ present
    np.fill_diagonal(met, 0)
    even = (1 - np.eye(len(met))) / max(len(met) - 1, 1)
    mix = divide(met, met.sum(axis=1, keepdims=True), otherwise=0.0)
    return np.where(met.any(axis=1, keepdims=True), mix - even, 0)


def distances(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Euclidean distance of every two rows."""
    distances: NDArray[np.float64] = np.sqrt(((rows[:, None, :] - rows[None, :, :]) ** 2).sum(axis=2))
    return distances


def measure_bias(counts: Counts, tasks: TaskSet, *, points: float) -> tuple[DesignBias, ...]:
    """All sources of bias; `points` is the length of the scale."""
    judged = counts.columns(tasks.systems)
    names = [counts.names[i] for i in judged]
    if len(names) < 2:
        return ()
    if PROTOCOLS[tasks.protocol].relative:
        mix = distances(opponents(counts.by_screen[:, judged]))
        return (_make_bias("opponents (win ratios)", "systems", mix, spread=1.0, unit=SPREAD, names=names),)
    # Without a scale there are no points: everything is said in terms of how much systems differ.
    on_scale = PROTOCOLS[tasks.protocol].on_scale
    unit, scale = (f"points of {points:g}", points / 100) if on_scale else (SPREAD, 1 / SYSTEMS)
    of_tasks, of_people = distances(mean_company(counts.by_task)), distances(mean_company(counts.by_person))
    documents, segments = distances(shares(counts.by_document).T), distances(shares(counts.by_segment).T)
    texts = np.hypot(segments, documents * DOCUMENTS / SEGMENTS)
    leniency = distances(shares(counts.by_person).T)
    sources = (
        ("company in tasks (z-score by task)", "systems", of_tasks, SYSTEMS),
        ("company by annotator (z-score by annotator)", "systems", of_people, SYSTEMS),
        ("different texts", "segments", texts, SEGMENTS),
        ("leniency of annotators (raw scores)", "annotators", leniency, ANNOTATORS),
    )
    return tuple(
        _make_bias(source, varies, distance[np.ix_(judged, judged)], spread=spread * scale, unit=unit, names=names)
        for source, varies, distance, spread in sources
    )


def _make_bias(
    source: str, varies: str, distance: NDArray[np.float64], *, spread: float, unit: str, names: Sequence[str]
) -> DesignBias:
    first, second = np.triu_indices(len(names), 1)
    moved = spread * distance[first, second]
    # Differences of rounding size are none.
    moved[moved < 1e-12] = 0
    worst = int(np.argmax(moved))
    pair = (names[first[worst]], names[second[worst]]) if moved[worst] > 0 else None
    return DesignBias(source, varies, spread, unit, float(np.sqrt((moved**2).mean())), float(moved[worst]), pair)


def measure_balance(tasks: TaskSet, campaign: Campaign, testset: TestSet | None = None) -> DesignReport:
    """The report on the tasks of a campaign; with the test set it also says which segments are not judged."""
    counts = count_judgments(tasks)
    judged = counts.columns(tasks.systems)
    scale, relative = campaign.score_scale, PROTOCOLS[tasks.protocol].relative
    names = tuple(counts.names[i] for i in judged)
    meetings = []
    if len(names) > 1:
        met = {"task": counts.by_task, **({"screen": counts.by_screen} if campaign.side_by_side > 1 else {})}
        meetings = [count_meetings(where, names, table[:, judged]) for where, table in met.items()]
    report = DesignReport(
        settings=_settings(campaign),
        data=tasks.fingerprint,
        set_aside=_list_unjudged(tasks, testset) if testset is not None else (),
        campaign=tasks.campaign,
        protocol=tasks.protocol,
        structure="blocks" if relative else campaign.design.structure,
        tasks=len(tasks.tasks),
        screens=sum(len(task.screens) for task in tasks.tasks),
        items=sum(task.size for task in tasks.tasks),
        judgments=_count_answers(tasks, special=False),
        control_judgments=_count_answers(tasks, special=True),
        annotators=len(tasks.annotators),
        systems=_describe_systems(tasks, counts),
        controls=_count_shown_controls(tasks, campaign),
        task_items=_measure_spread([task.size for task in work_tasks(tasks)]),
        systems_per_task=_measure_spread((counts.by_task[:, judged] > 0).sum(axis=1).tolist()),
        meetings=tuple(meetings),
        bias=measure_bias(counts, tasks, points=scale.high - scale.low),
        workload=_plan_workload(tasks),
        # Systems are linked by being scored in one task, or compared on one screen.
        connected_systems=count_components(
            [counts.names[i] for i in np.flatnonzero(row)] for row in (counts.by_screen if relative else counts.by_task)
        ),
        connected_annotators=count_components(task.annotators for task in tasks.tasks if task.kind != "tutorial"),
        selection=_describe_selection(tasks, campaign, testset),
    )
    return replace(report, notes=tuple(warn(report, tasks, campaign)))


def _count_answers(tasks: TaskSet, *, special: bool) -> int:
    """Answers wanted of all people together: to controls and examples (`special`), or those that count as judgments."""
    kinds = (*counted_kinds(tasks.protocol), "calibration")
    return sum(
        task.judgments
        for task in tasks.tasks
        for _, _, output in task.outputs()
        if (output.kind not in kinds) == special
    )


def _settings(campaign: Campaign) -> dict[str, Setting]:
    design, controls = campaign.design, campaign.controls
    relative, outputs = PROTOCOLS[campaign.protocol].relative, campaign.side_by_side
    return {
        "protocol": campaign.protocol,
        "structure": None if relative else design.structure,
        "outputs": outputs if outputs > 1 and not relative else None,
        "task_size": design.task_size,
        "judgments": design.judgments,
        "segments": design.segments,
        "select": design.select,
        "degraded": controls.degraded or None,
        "repeats": controls.repeats or None,
        "references": controls.references or design.reference_rate or None,
        "attention": controls.attention or None,
        "calibration": controls.calibration or None,
        "assignment": campaign.assignment.policy,
        "seed": campaign.seed,
    }


def _list_unjudged(tasks: TaskSet, testset: TestSet) -> tuple[SetAside, ...]:
    """Segments that nobody judges, and why."""
    judged = {(screen.document, item.segment) for task in tasks.tasks for screen, item, _ in task.outputs()}
    left = [i for i, segment in enumerate(testset.source) if (segment.document, segment.segment) not in judged]
    agreed = [i for i in left if len({texts[i] for texts in testset.systems.values()}) == 1]
    reasons = {
        "segment on which all systems agree, so that nothing can be compared": len(agreed),
        "segment not drawn into the sample of design.segments": len(left) - len(agreed),
    }
    return tuple(SetAside(reason, rows) for reason, rows in reasons.items() if rows)


def _describe_selection(tasks: TaskSet, campaign: Campaign, testset: TestSet | None) -> Selection | None:
    chosen = {
        (screen.document, item.segment): item.inclusion
        for task in work_tasks(tasks)
        for screen, item, _ in task.outputs()
        if item.inclusion is not None
    }
    if not chosen:
        return None
    probability = np.array(list(chosen.values()))
    return Selection(
        by="how much the outputs differ" if campaign.design.select == "outputs" else "the numbers of the file",
        segments=len(chosen),
        of=len(chosen) if testset is None else len(testset) - campaign.controls.calibration,
        least=float(probability.min()),
        most=float(probability.max()),
        worth=float((1 / probability).sum() ** 2 / (1 / probability**2).sum()),
    )


def _measure_spread(numbers: Sequence[float]) -> Spread:
    return Spread(min(numbers), float(np.median(numbers)), max(numbers))


def _describe_systems(tasks: TaskSet, counts: Counts) -> tuple[DesignedSystem, ...]:
    outputs = (output for task in work_tasks(tasks) for _, _, output in task.outputs() if output.kind == "system")
    shared = Counter(name for output in outputs if len(output.systems) > 1 for name in output.systems)
    return tuple(
        DesignedSystem(
            system=name,
            human=name in tasks.human,
            judgments=int(counts.by_task[:, i].sum()),
            segments=int((counts.by_segment[:, i] > 0).sum()),
            documents=int((counts.by_document[:, i] > 0).sum()),
            tasks=int((counts.by_task[:, i] > 0).sum()),
            shared=shared[name],
        )
        for i, name in enumerate(counts.names)
    )


def _count_shown_controls(tasks: TaskSet, campaign: Campaign) -> tuple[ControlCount, ...]:
    """Screens or items of every control that was asked for."""
    shown: Counter[str] = Counter()
    for item in (item for task in tasks.tasks for screen in task.screens for item in screen.items):
        # In a pair, the genuine output beside a control is a repeat, but the screen is none.
        kinds = {output.kind for output in item.outputs}
        shown.update(kinds - {"repeat"} or kinds)
    amounts = plan_amounts(campaign)
    planned = {
        "degraded": amounts.degraded,
        "repeat": amounts.repeats,
        "reference": amounts.references or campaign.design.reference_rate * campaign.design.task_size,
        "attention": amounts.attention,
    }
    rows = [ControlCount(kind, count, shown[kind]) for kind, count in planned.items() if count or shown[kind]]
    rows += [ControlCount(kind, shown[kind], shown[kind]) for kind in ("calibration", "tutorial") if shown[kind]]
    return tuple(rows)


def count_meetings(where: str, names: tuple[str, ...], table: NDArray[np.float64]) -> Meetings:
    """How often systems (columns) are present together in the rows of the table."""
    present = (table > 0).astype(np.int64)
    matrix = present.T @ present
    first, second = np.triu_indices(len(names), 1)
    pairs = matrix[first, second]
    share = divide(matrix, np.diag(matrix)[:, None], otherwise=np.inf)
    np.fill_diagonal(share, np.inf)
    s, r = np.unravel_index(int(np.argmin(share)), share.shape)
    known = bool(np.isfinite(share[s, r]))
    apart = known and bool(share[s, r] < 1)
    return Meetings(
        where=where,
        systems=names,
        matrix=tuple(tuple(int(number) for number in row) for row in matrix),
        least=int(pairs.min()),
        most=int(pairs.max()),
        cv=float(pairs.std() / pairs.mean()) if pairs.mean() > 0 else None,
        least_share=float(share[s, r]) if known else None,
        least_pair=(names[s], names[r]) if apart else None,
    )


def _plan_workload(tasks: TaskSet) -> tuple[Workload, ...]:
    """The planned work of everybody; nothing where tasks are handed out from a pool."""
    if not any(task.annotators for task in work_tasks(tasks)):
        return ()
    rows = []
    for name in tasks.annotators:
        planned = [task for task in tasks.tasks if name in task.annotators]
        judgments = sum(sum(1 for _ in task.outputs()) for task in planned)
        rows.append(Workload(name, len(planned), sum(task.size for task in planned), judgments))
    return tuple(rows)
