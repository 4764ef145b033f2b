"""Statistics for the organisers' page: the verdict at planned looks, annotators and agreement so far.

They are handed to the server by `adjudge serve`, because collecting knows no statistics.
"""

from __future__ import annotations

import fcntl
import json
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from adjudge.collect.running import PanelInterval, PanelTable
    from adjudge.core.judgments import Judgments
    from adjudge.design.campaign_parts import Looks
    from adjudge.results.look import Look
    from adjudge.results.result import Result


def panels_of(campaign_file: Path) -> list[Callable[[Judgments], list[PanelTable]]]:
    """The panels of a campaign, the verdict first where looks are planned."""
    from adjudge.design.campaign_file import load_campaign

    looks = load_campaign(campaign_file).looks
    verdict = [] if looks is None else [verdict_panel(looks, campaign_file.with_name("looks.json"))]
    return [*verdict, annotators, agreement]


def verdict_panel(looks: Looks, history: Path) -> Callable[[Judgments], list[PanelTable]]:
    """What is settled: computed when a planned look is due, and shown again until the next one.

    Looking more often than planned would spend the level, so that nothing new is computed between two planned looks.
    """

    def verdict(judgments: Judgments) -> list[PanelTable]:
        with _alone(history):
            return _verdict(judgments, looks, history)

    return verdict


@contextmanager
def _alone(history: Path) -> Iterator[None]:
    """One process at a time: two that look at once would spend two looks."""
    with history.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _verdict(judgments: Judgments, looks: Looks, history: Path) -> list[PanelTable]:
    from adjudge.core.files import write_text
    from adjudge.look import look
    from adjudge.look.estimates import count_judgments
    from adjudge.look.history import read_history

    past = read_history(history)
    taken = 0 if past is None else len(past.records)
    count = count_judgments(judgments)
    due = looks.looks if count >= looks.planned else count * looks.looks // looks.planned
    if due <= taken and looks.spending != "anytime":
        return _waiting(_shown(history), count, taken, looks)
    result: Look = look(
        planned_part(judgments, looks.planned),
        planned=looks.planned,
        looks=looks.looks,
        goal=looks.goal,
        spending=looks.spending,
        level=looks.level,
        history=history,
    )
    first, *others = as_panels(result, "look")
    panels = [replace(first, headline=result.advice, intervals=_intervals(result)), *others]
    write_text(_shown_file(history), json.dumps([asdict(panel) for panel in panels], ensure_ascii=False))
    return panels


def _intervals(result: Look) -> tuple[PanelInterval, ...]:
    from adjudge.collect.running import PanelInterval

    return tuple(
        PanelInterval(claim.claim, low, claim.estimate, high, claim.verdict == "settled")
        for claim in (*result.settled, *result.open)
        if claim.estimate is not None
        for low, high in [claim.interval]
        if low is not None and high is not None
    )


def _waiting(shown: list[PanelTable], count: int, taken: int, looks: Looks) -> list[PanelTable]:
    """The last verdict once more, with what is still to come."""
    from adjudge.collect.running import PanelTable

    at = -(-(taken + 1) * looks.planned // looks.looks)
    coming = f"the next planned look comes at {at:,}" if taken < looks.looks else "all planned looks have been taken"
    now = f"Now {count:,} of {looks.planned:,} judgments are in; {coming}."
    if not shown:
        said = f"{now} Until then nothing is said, so that what is said stays true."
        return [PanelTable("Verdict (adjudge look)", (), (), headline=said)]
    return [replace(shown[0], note=f"{shown[0].note} {now}"), *shown[1:]]


def planned_part(judgments: Judgments, planned: int) -> Judgments:
    """The judgments up to the plan, in the order in which they were saved: the last task may go beyond it."""
    import polars as pl

    from adjudge.look.estimates import counted

    rows = counted(judgments)
    if rows.height <= planned or "saved" not in rows.columns:
        return judgments
    border = rows["saved"].sort()[planned - 1]
    beyond = (pl.col("saved") > border).fill_null(value=False)
    return judgments.keep(~beyond, otherwise="judged after the planned number was reached")


def _shown_file(history: Path) -> Path:
    return history.with_name("looks.shown.json")


def _shown(history: Path) -> list[PanelTable]:
    """The verdict of the last look as it was shown."""
    from adjudge.collect.running import PanelInterval, PanelTable

    file = _shown_file(history)
    if not file.exists():
        return []
    return [
        PanelTable(
            title=table["title"],
            columns=tuple(table["columns"]),
            rows=tuple(tuple(row) for row in table["rows"]),
            note=table["note"],
            headline=table["headline"],
            intervals=tuple(PanelInterval(**interval) for interval in table["intervals"]),
        )
        for table in json.loads(file.read_text(encoding="utf-8"))
    ]


def annotators(judgments: Judgments) -> list[PanelTable]:
    """What `adjudge check` says of the annotators so far."""
    from adjudge.check import check

    return as_panels(check(judgments), "check")


def agreement(judgments: Judgments) -> list[PanelTable]:
    """What `adjudge agree` says of the judgments so far."""
    from adjudge.agree import agree

    return as_panels(agree(judgments), "agree")


def as_panels(result: Result, command: str) -> list[PanelTable]:
    """The tables of a result as the page shows them."""
    from adjudge.collect.running import PanelTable
    from adjudge.results.table import show

    panels = []
    for table in result.tables():
        rows = tuple(
            tuple(show(cell, column) for cell, column in zip(row, table.columns, strict=True)) for row in table.rows
        )
        title = f"{table.title} (adjudge {command})"
        panels.append(PanelTable(title, tuple(column.label for column in table.columns), rows, table.note))
    return panels
