"""The balance of a design, before anything is spent: counts, who meets whom, what the design alone adds, warnings."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from adjudge.core.judgments import SetAside
from adjudge.core.maths import divide
from adjudge.core.protocols import KINDS, PROTOCOLS
from adjudge.design.bias import measure_bias
from adjudge.design.controls import plan_amounts
from adjudge.design.counts import Counts, count_components, count_judgments, work_tasks
from adjudge.design.result import ControlCount, DesignedSystem, DesignReport, Meetings, Selection, Spread, Workload
from adjudge.design.warnings import warn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from adjudge.core.test_set import TestSet
    from adjudge.design.campaign import Campaign
    from adjudge.design.tasks import TaskSet
    from adjudge.results.result import Setting


def measure_balance(tasks: TaskSet, campaign: Campaign, testset: TestSet | None = None) -> DesignReport:
    """The report on the tasks of a campaign; with the test set it also says which segments are not judged."""
    counts = count_judgments(tasks)
    judged = counts.columns(tasks.systems)
    scale = campaign.score_scale
    work = work_tasks(tasks)
    report = DesignReport(
        settings=_settings(campaign),
        data=tasks.fingerprint,
        set_aside=_list_unjudged(tasks, testset) if testset is not None else (),
        campaign=tasks.campaign,
        protocol=tasks.protocol,
        structure=campaign.design.structure if not PROTOCOLS[tasks.protocol].relative else "blocks",
        tasks=len(tasks.tasks),
        screens=sum(len(task.screens) for task in tasks.tasks),
        items=sum(task.size for task in tasks.tasks),
        judgments=_count_answers(tasks, special=False),
        control_judgments=_count_answers(tasks, special=True),
        annotators=len(tasks.annotators),
        systems=_describe_systems(tasks, counts),
        controls=_count_shown_controls(tasks, campaign),
        task_items=_measure_spread([task.size for task in work]),
        systems_per_task=_measure_spread((counts.by_task[:, judged] > 0).sum(axis=1).tolist()),
        meetings=_list_meetings(tasks, counts),
        bias=measure_bias(counts, tasks, points=scale.high - scale.low),
        workload=_plan_workload(tasks),
        connected_systems=_connected_systems(tasks, counts),
        connected_annotators=count_components(task.annotators for task in tasks.tasks if task.kind != "tutorial"),
        selection=_describe_selection(tasks, campaign, testset),
    )
    return replace(report, notes=tuple(warn(report, tasks, campaign)))


def _count_answers(tasks: TaskSet, *, special: bool) -> int:
    """Answers wanted of all people together: to controls and examples (`special`), or those that count as judgments."""
    return sum(
        task.judgments
        for task in tasks.tasks
        for _, _, output in task.outputs()
        if (KINDS[output.kind].control or output.kind == "tutorial") == special
    )


def _settings(campaign: Campaign) -> dict[str, Setting]:
    design, controls = campaign.design, campaign.controls
    return {
        "protocol": campaign.protocol,
        "structure": design.structure if not PROTOCOLS[campaign.protocol].relative else None,
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
    by = "how much the outputs differ" if campaign.design.select == "outputs" else "the numbers of the file"
    apart = campaign.controls.calibration
    return Selection(
        by=by,
        segments=len(chosen),
        of=len(chosen) if testset is None else len(testset) - apart,
        least=float(probability.min()),
        most=float(probability.max()),
        worth=float((1 / probability).sum() ** 2 / (1 / probability**2).sum()),
    )


def _measure_spread(numbers: Sequence[float]) -> Spread:
    return Spread(min(numbers), float(np.median(numbers)), max(numbers))


def _describe_systems(tasks: TaskSet, counts: Counts) -> tuple[DesignedSystem, ...]:
    shared: Counter[str] = Counter()
    for task in work_tasks(tasks):
        for _, _, output in task.outputs():
            if output.kind == "system" and len(output.systems) > 1:
                shared.update(output.systems)
    human = set(tasks.human)
    return tuple(
        DesignedSystem(
            system=name,
            human=name in human,
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
    for task in tasks.tasks:
        for screen in task.screens:
            for item in screen.items:
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


def _list_meetings(tasks: TaskSet, counts: Counts) -> tuple[Meetings, ...]:
    judged = counts.columns(tasks.systems)
    if len(judged) < 2:
        return ()
    names = tuple(counts.names[i] for i in judged)
    meetings = [count_meetings("task", names, counts.by_task[:, judged])]
    if PROTOCOLS[tasks.protocol].relative:
        meetings.append(count_meetings("screen", names, counts.by_screen[:, judged]))
    return tuple(meetings)


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
    rows: list[Workload] = []
    if any(task.annotators for task in work_tasks(tasks)):
        for name in tasks.annotators:
            planned = [task for task in tasks.tasks if name in task.annotators]
            judgments = sum(sum(1 for _ in task.outputs()) for task in planned)
            rows.append(Workload(name, len(planned), sum(task.size for task in planned), judgments))
    return tuple(rows)


def _connected_systems(tasks: TaskSet, counts: Counts) -> int:
    """Groups of systems that are linked by being scored in one task, or compared on one screen."""
    table = counts.by_task if not PROTOCOLS[tasks.protocol].relative else counts.by_screen
    return count_components([counts.names[i] for i in np.flatnonzero(row)] for row in table)
