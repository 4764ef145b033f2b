"""How long organisers wait: the export and the panels of a campaign with 108,000 judgments.

    .venv/bin/python -m bench.bench_organisers                       SQLite
    pg_virtualenv -t .venv/bin/python -m bench.bench_organisers      PostgreSQL

The judgments are written straight into the database, as saves would have left them. Limits: panels 5 s, export 3 s.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.helpers.campaigns import SYSTEMS, make_campaign
from tests.helpers.databases import open_campaign, postgres_url

BEGAN = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
GOODNESS = dict(zip(SYSTEMS, (74, 71, 70, 62, 50), strict=True))
LOOKS = '[looks]\nlooks = 5\nplanned = {planned}\ngoal = "pairs"\n'


def open_filled(folder: Path, *, people: int, documents: int, database: str | None) -> Path:
    """Make a campaign, open it in this process, and fill its database; returns the campaign file."""
    outputs = documents * 3 * len(SYSTEMS)
    file = make_campaign(
        folder,
        documents=documents,
        task_size=54,
        systems=len(SYSTEMS),
        annotators=str(people),
        design="judgments = 10",
        more='[assignment]\npolicy = "pool"\n' + LOOKS.format(planned=12 * outputs),
    )
    open_campaign(file, database)
    fill(random.Random(1))
    return file


def fill(chance: random.Random) -> None:
    """Judge every task as often as it is wanted."""
    from adjudge.server.models import Annotator, Assignment, Save, ScreenState
    from adjudge.server.served_campaign import get_served

    people = list(Annotator.objects.order_by("pk"))
    leniency = {person.pk: chance.gauss(0, 6) for person in people}
    turn = 0
    for task in get_served().tasks.tasks:
        for _ in range(task.judgments):
            person = people[turn % len(people)]
            taken = BEGAN + timedelta(minutes=turn)
            turn += 1
            assignment = Assignment.objects.create(
                annotator=person, task=task.id, position=turn, taken=taken, complete=True, finished=taken
            )
            states, saves = [], []
            for number, screen in enumerate(task.screens):
                shown = taken + timedelta(seconds=10 * number)
                answers, changes = {}, []
                for item in screen.items:
                    for output in item.outputs:
                        base = GOODNESS[output.systems[0]] - 30 * (output.kind == "degraded")
                        score = min(100, max(0, round(base + leniency[person.pk] + chance.gauss(0, 15))))
                        answers[output.id] = {"score": score, "at": 0, "seconds": 8.0}
                        changes.append([output.id, "score", score])
                states.append(
                    ScreenState(
                        assignment=assignment,
                        screen=screen.id,
                        revision=1,
                        answers=json.dumps(answers),
                        judged=len(changes),
                        complete=True,
                        first_shown=shown,
                        shown_seconds=9.0,
                        visible_seconds=8.5,
                        active_seconds=8.0 * len(changes),
                    )
                )
                saves.append((shown, changes))
            ScreenState.objects.bulk_create(states)
            stored = ScreenState.objects.filter(assignment=assignment).order_by("pk")
            Save.objects.bulk_create(
                Save(
                    id=uuid.UUID(int=chance.getrandbits(128), version=4),
                    state=state,
                    revision=1,
                    changes=json.dumps(changes),
                    digest="0" * 16,
                    edited=shown + timedelta(seconds=8),
                    received=shown + timedelta(seconds=9),
                    spent=json.dumps([9.0, 8.5, 8.0, {change[0]: 8.0 for change in changes}]),
                    events="[]",
                )
                for state, (shown, changes) in zip(stored, saves, strict=True)
            )


@contextmanager
def timed(what: str) -> Iterator[None]:
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    print(
        f"{what}: {time.perf_counter() - wall:.2f} s, {time.process_time() - cpu:.2f} s of CPU "
        f"(load average {os.getloadavg()[0]:.1f})",
        flush=True,
    )


def measure(folder: Path, *, people: int, documents: int, database: str | None, state: bool) -> None:
    with timed("design and fill (not counted)"):
        file = open_filled(folder, people=people, documents=documents, database=database)
    from adjudge.readers import native
    from adjudge.server.export import read_judgments
    from adjudge.server.organisers import make_overview
    from adjudge.server.panels import Group
    from adjudge.shell.panels import compute_apart

    with timed("overview"):
        make_overview()
    with timed("collected"):
        judgments = read_judgments(with_excluded=True)
    print(f"{len(judgments):,} judgments")
    with timed("export, as the page downloads it"):
        native.write(read_judgments(with_excluded=True), folder / "judgments.csv")
    groups: tuple[Group, ...] = ("statistics", "state") if state else ("statistics",)
    for group in groups:
        with timed(f"panels of the group {group}, judgments read anew, in a process of its own"):
            compute_apart(file, database, group)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--documents", type=int, default=720)
    parser.add_argument("--no-state", action="store_true", help="leave the model out, which takes a minute")
    chosen = parser.parse_args()
    database = postgres_url()
    print("PostgreSQL" if database else "SQLite")
    with tempfile.TemporaryDirectory() as folder:
        size = {"people": chosen.people, "documents": chosen.documents}
        measure(Path(folder), **size, database=database, state=not chosen.no_state)


if __name__ == "__main__":
    main()
