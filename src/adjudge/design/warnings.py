"""Warnings about a design, after Knowles (2021): what could later be said against the ranking."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from adjudge.core.protocols import PROTOCOLS
from adjudge.core.wording import agreeing, counted
from adjudge.design.counts import work_tasks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjudge.design.campaign import Campaign
    from adjudge.design.result import DesignReport
    from adjudge.design.tasks import TaskSet

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
    if report.connected_systems > 1:
        how = "judged in one task" if not PROTOCOLS[campaign.protocol].relative else "compared with each other"
        yield (
            f"the systems fall into {report.connected_systems} groups that are never {how}, not even through others; "
            "no method can rank across them"
        )
    judged = {row.system: row for row in report.systems}
    never = [name for name, row in judged.items() if row.judgments == 0]
    if never:
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
    systems = len(report.meetings[0].systems)
    least, most = report.systems_per_task.least, report.systems_per_task.most
    if least < systems:
        held = f"{least:g}" if least == most else f"{least:g} to {most:g}"
        yield (
            f"a task holds {held} of {systems} systems, so a z-score by task depends on the other systems in it; "
            "smaller pages (context.max_segments), larger tasks or a mixed model (rank --method mixed) help"
        )
    share = report.meetings[0].least_share
    if share is not None and share < 0.5:
        first, second = report.meetings[0].least_pair or ("", "")
        met = f"'{first}' meets '{second}' in {share:.0%} of its own"
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
    if met := _count_met_twice(tasks):
        often = counted(met, "time")
        yield f"{often} an annotator sees a text twice by accident, because there are too few for the controls"


def _count_met_twice(tasks: TaskSet) -> int:
    """How often a person sees a text of a segment again that is neither a repeat nor shown beside other outputs."""
    if PROTOCOLS[tasks.protocol].relative:
        return 0
    seen: Counter[tuple[str, str, str, str]] = Counter()
    for task in tasks.tasks:
        for screen, item, output in task.outputs():
            if output.kind != "repeat":
                for name in task.annotators:
                    seen[name, screen.document, item.segment, output.text] += 1
    return sum(number - 1 for number in seen.values())
