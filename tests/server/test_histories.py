"""Many clients at once, with faults: what was acknowledged is there, once, in an order that could have been.

Two tabs per annotator save, revise, take and hand in tasks; an organiser excludes, takes back in, extends and looks;
meanwhile processes are killed and connections are cut. `tests/helpers/histories.py` has the model.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import sqlite3
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run
from tests.helpers.campaigns import make_campaign
from tests.helpers.histories import Operation, Read, faults_of_lists, faults_of_reads
from tests.helpers.serving import PATIENCE, PATIENCE_WITH_STATISTICS, Server, new_save, outputs, wait_for

PEOPLE = 4
STEPS = int(os.environ.get("ADJUDGE_STEPS", "40"))
"""Operations per tab."""
KILLS = 4
SEED = int(os.environ.get("ADJUDGE_SEED", "1"))
PLACES = 2
LOOKS = """[looks]
looks = 4
planned = 48
goal = "pairs"
"""


@dataclass(frozen=True)
class Count:
    """How many outputs the organisers' page said that a person had judged, and when."""

    person: str
    judged: int
    begin: float
    end: float


@dataclass(frozen=True)
class Look:
    """A planned look that somebody saw: its number, judgments and digest, and when it was seen."""

    number: int
    judgments: int
    digest: str
    seen: float


class Record:
    """What all clients asked for and saw; they write to it at once."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.writes: list[Operation] = []
        self.reads: list[Read] = []
        self.finished: list[tuple[str, str, bool]] = []
        self.counts: list[Count] = []
        self.looks: list[Look] = []

    def done(self, key: str, which: str, value: Any, begin: float, answer: Any) -> None:
        """Note an operation: `answer` is None where the connection broke."""
        lost = answer is None or answer.status >= 500
        end = inf if lost else time.monotonic()
        operation = Operation(key, which, value, begin, end, refused=not lost and answer.status != 200)
        self.operations.append(operation)


class Person(threading.Thread):
    """One of two tabs in which somebody judges; cut connections and killed servers are met by asking again."""

    def __init__(self, server: Server, name: str, tab: int, record: Record) -> None:
        super().__init__(daemon=True)
        self.server, self.person, self.record = server, name, record
        self.chance = random.Random(f"{SEED} {name} {tab}")
        self.tab, self.number = str(uuid.UUID(int=self.chance.getrandbits(128))), 0
        self.client = server.client(name)
        self.work: Any = None
        self.faults: list[str] = []

    def run(self) -> None:
        try:
            for _ in range(STEPS):
                self.step()
        except Exception as fault:  # noqa: BLE001 - told by the test, whose thread this is not
            self.faults.append(repr(fault))

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The answer, or None where none came; now and then the connection is cut before one can come."""
        try:
            if method == "POST" and self.chance.random() < 0.05:
                self.send_and_cut(path, body)
                return None
            return self.client.request(method, path, body)
        except (OSError, http.client.HTTPException):
            self.client.connection.close()
            return None

    def send_and_cut(self, path: str, body: Any) -> None:
        connection = self.client.connection
        cookies = "; ".join(f"{name}={value}" for name, value in self.client.cookies.items())
        headers = {"Content-Type": "application/json", "Cookie": cookies, "X-CSRFToken": self.client.csrf}
        connection.request("POST", path, json.dumps(body), headers)
        connection.close()

    def step(self) -> None:
        if self.work is None or self.work.get("task") is None:
            self.take()
            return
        what = self.chance.choices(["save", "finish", "read"], [12, 1, 3])[0]
        {"save": self.save, "finish": self.finish, "read": self.read}[what]()

    def take(self) -> None:
        begin = time.monotonic()
        answer = self.ask("POST", "/api/tasks/next", {})
        self.work = answer.json if answer is not None and answer.status == 200 else None
        if self.work and self.work["task"]:
            task = self.work["task"]["id"]
            self.record.done(f"{self.person} {task}", "taken", None, begin, answer)

    def save(self) -> None:
        screen = self.chance.randrange(len(self.work["task"]["screens"]))
        output, score = self.chance.choice(outputs(self.work, screen)), self.chance.randrange(101)
        self.number += 1
        new = new_save(self.work, screen, [{"output": output, "score": score}], tab=self.tab, number=self.number)
        name = f"{self.person} {new['task']} {new['screen']}"
        begin = time.monotonic()
        answer = self.ask("POST", "/api/saves", new)
        # A page sends again what was not acknowledged; sometimes it is closed before.
        for _ in range(self.chance.choice((0, 3, 200))):
            if answer is not None and answer.status < 500:
                break
            time.sleep(0.05)
            answer = self.ask("POST", "/api/saves", new)
        self.record.done(new["id"], name, (output, score), begin, answer)
        lost = answer is None or answer.status >= 500
        if answer is not None and answer.status == 200:
            assert answer.json["id"] == new["id"]
        end = inf if lost else time.monotonic()
        refused = not lost and answer.status != 200
        self.record.writes.append(Operation(new["id"], f"{name} {output}", float(score), begin, end, refused))

    def finish(self) -> None:
        task = self.work["task"]["id"]
        answer = self.ask("POST", f"/api/tasks/{task}/finish", {})
        if answer is not None and answer.status == 200:
            self.record.finished.append((self.person, task, answer.json["finished"]))
            if answer.json["finished"]:
                self.work = None

    def read(self) -> None:
        task = self.work["task"]["id"]
        begin = time.monotonic()
        answer = self.ask("GET", f"/api/work?task={task}")
        end = time.monotonic()
        if answer is None or answer.status != 200 or answer.json["task"] is None:
            return
        states = answer.json["task"]["states"]
        for screen, shown in enumerate(answer.json["task"]["screens"]):
            answers = states.get(shown["id"], {}).get("answers", {})
            for output in outputs(answer.json, screen):
                name = f"{self.person} {task} {shown['id']} {output}"
                self.record.reads.append(Read(name, answers.get(output, {}).get("score"), begin, end))


class Organiser(threading.Thread):
    """Somebody who excludes people, takes them back in, extends the campaign once, and looks at counts and verdicts."""

    def __init__(self, server: Server, record: Record, people: list[Person]) -> None:
        super().__init__(daemon=True)
        self.server, self.record, self.people = server, record, people
        self.client, self.chance = server.client("organiser"), random.Random(f"{SEED} organiser")
        self.faults: list[str] = []

    def run(self) -> None:
        try:
            number = 0
            while any(person.is_alive() for person in self.people):
                number += 1
                self.decide(number)
                self.count()
                self.look()
                if number == 3:
                    self.extend()
        except Exception as fault:  # noqa: BLE001
            self.faults.append(repr(fault))

    def decide(self, number: int) -> None:
        name = self.chance.choice(self.people).person
        excluded, reason = self.chance.random() < 0.3, f"decision {number}"
        begin = time.monotonic()
        answer = None
        with suppress(OSError, http.client.HTTPException):
            ids = {each["name"]: each["id"] for each in self.client.get("/api/organiser/overview").json["annotators"]}
            begin = time.monotonic()
            body = {"excluded": excluded, "reason": reason}
            answer = self.client.post(f"/api/organiser/annotators/{ids[name]}/decision", body)
        if answer is None:
            self.client.connection.close()
        self.record.done(reason, "decisions", (name, excluded), begin, answer)

    def extend(self) -> None:
        begin, more, answer = time.monotonic(), 6, None
        with suppress(OSError, http.client.HTTPException):
            answer = self.client.post("/api/organiser/extend", {"judgments": more})
        if answer is None:
            self.client.connection.close()
        self.record.done("extension", "extended", more, begin, answer)

    def count(self) -> None:
        begin = time.monotonic()
        with suppress(OSError, http.client.HTTPException):
            answer = self.client.get("/api/organiser/overview")
            assert answer.status == 200, answer.text
            end = time.monotonic()
            people = answer.json["annotators"]
            self.record.counts += [Count(each["name"], each["judgments"], begin, end) for each in people]
            return
        self.client.connection.close()

    def look(self) -> dict[str, Any]:
        """Open the verdict, for which a planned look is taken where one is due, and note the looks taken so far."""
        with suppress(OSError, http.client.HTTPException):
            answer = self.client.get("/api/organiser/state")
            assert answer.status == 200, answer.text
            looks = taken_looks(self.server)
            now = time.monotonic()
            self.record.looks += [Look(number, *rest, now) for number, rest in looks.items()]
            state: dict[str, Any] = answer.json
            return state
        self.client.connection.close()
        return {"computing": True}


def taken_looks(server: Server) -> dict[int, tuple[int, str]]:
    """Judgments and digest of every look in the file of looks."""
    file = server.campaign.with_name("looks.json")
    looks = json.loads(file.read_text(encoding="utf-8"))["looks"] if file.exists() else []
    return {number: (look["record"]["judgments"], look["digest"]) for number, look in enumerate(looks, start=1)}


def rows(server: Server, statement: str) -> list[tuple[Any, ...]]:
    if server.database is None:
        with closing(sqlite3.connect(server.campaign.with_suffix(".sqlite3"))) as connection:
            return connection.execute(statement).fetchall()
    import psycopg

    with psycopg.connect(server.database.replace("postgres://", "postgresql://")) as connection:
        return list(connection.execute(statement).fetchall())


def stored_lists(server: Server) -> dict[str, list[tuple[str, Any]]]:
    """The lists of the model, as they are in the database."""
    lists: dict[str, list[tuple[str, Any]]] = {}
    saves = rows(
        server,
        "SELECT s.id, p.name, a.task, t.screen, s.changes FROM collect_save s JOIN collect_screenstate t "
        "ON t.id = s.state_id JOIN collect_assignment a ON a.id = t.assignment_id "
        "JOIN collect_annotator p ON p.id = a.annotator_id ORDER BY s.state_id, s.number",
    )
    for key, person, task, screen, changes in saves:
        ((output, _, score),) = json.loads(changes)
        lists.setdefault(f"{person} {task} {screen}", []).append((str(uuid.UUID(str(key))), (output, int(score))))
    taken = "SELECT p.name, a.task FROM collect_assignment a JOIN collect_annotator p ON p.id = a.annotator_id"
    lists["taken"] = [(f"{person} {task}", None) for person, task in rows(server, f"{taken} ORDER BY a.id")]
    decided = (
        "SELECT d.reason, p.name, d.excluded FROM collect_decision d JOIN collect_annotator p ON p.id = d.annotator_id"
    )
    lists["decisions"] = [(why, (name, bool(out))) for why, name, out in rows(server, f"{decided} ORDER BY d.id")]
    done = rows(
        server, "SELECT content FROM collect_entry WHERE kind = 'organiser' AND subject = 'extend' ORDER BY number"
    )
    lists["extended"] = [("extension", int(json.loads(content)[2])) for (content,) in done]
    return lists


@pytest.mark.slow
def test_what_was_acknowledged_is_there_once_in_an_order_that_could_have_been(
    own_database: str | None, tmp_path: Path, adjudge: Callable[..., Run]
) -> None:
    campaign = make_campaign(
        tmp_path,
        documents=4,
        task_size=6,
        annotators=str(PEOPLE),
        design=f"judgments = {PLACES}",
        more=f'[assignment]\npolicy = "pool"\n{LOOKS}',
    )
    record = Record()
    options = () if own_database is None else ("--workers", "2")
    with Server(campaign, database=own_database, options=options) as server:
        names = [name for name in server.links if name.startswith("annotator-")]
        people = [Person(server, name, tab, record) for name in names for tab in (1, 2)]
        organiser = Organiser(server, record, people)
        for thread in (*people, organiser):
            thread.start()
        chance = random.Random(SEED)
        for _ in range(KILLS):
            time.sleep(chance.uniform(0.2, 0.6))
            if any(person.is_alive() for person in people):
                server.kill_worker()
        everybody: list[Person | Organiser] = [*people, organiser]
        for thread in everybody:
            thread.join(PATIENCE)
            assert not thread.is_alive()
            assert not thread.faults
        # A new process looks at once, where one that has just looked rests for a while.
        server.kill_worker()
        organiser.client = server.client("organiser")
        wait_for(lambda: organiser.look().get("computed"), PATIENCE_WITH_STATISTICS)
        stored = stored_lists(server)
        # Tasks that were given though the answer was cut off were taken by an operation that nobody saw the end of.
        seen = {operation.id for operation in record.operations}
        unseen = [Operation(key, "taken", None, 0) for key, _ in stored["taken"] if key not in seen]
        taken: dict[str, Operation] = {}
        for operation in record.operations:
            if operation.list == "taken" and (operation.id not in taken or operation.end < taken[operation.id].end):
                taken[operation.id] = operation
        others = [operation for operation in record.operations if operation.list != "taken"]
        asked = [*others, *unseen, *(Operation(key, "taken", None, 0, each.end) for key, each in taken.items())]
        assert not list(faults_of_lists(asked, stored))
        assert not list(faults_of_reads(record.writes, record.reads))
        _check_places(server, record)
        _check_counts(record)
        _check_looks(server, record)
        arguments = () if own_database is None else ("--database", own_database)
        assert adjudge("verify", campaign, *arguments).code == 0
    acknowledged = sum(operation.acknowledged for operation in record.operations)
    print(
        f"{acknowledged} of {len(record.operations)} operations acknowledged, {len(record.reads)} answers read, "
        f"{len({look.number for look in record.looks})} looks"
    )
    assert acknowledged > PEOPLE * STEPS


def _check_places(server: Server, record: Record) -> None:
    """What was handed in is handed in and complete, and who is excluded is who was so last."""
    handed_in = (
        "SELECT p.name, a.task, a.complete FROM collect_assignment a JOIN collect_annotator p ON p.id = a.annotator_id"
    )
    complete = {(n, task): bool(done) for n, task, done in rows(server, f"{handed_in} WHERE a.finished IS NOT NULL")}
    for person, task, finished in record.finished:
        assert not finished or (person, task) in complete, f"{task} was handed in by {person}, and is not any more"
    assert all(complete.values()), "a task is handed in with answers missing"
    last = {name: out for _, (name, out) in stored_lists(server)["decisions"]}
    now = {name: bool(out) for name, out in rows(server, "SELECT name, excluded FROM collect_annotator")}
    assert {name: now[name] for name in last} == last


def _check_counts(record: Record) -> None:
    """What was judged when somebody looked: all that was acknowledged before, and nothing that was begun after."""
    assert record.counts
    for count in record.counts:
        own = [write for write in record.writes if write.list.startswith(f"{count.person} ") and not write.refused]
        least = {write.list for write in own if write.end < count.begin}
        most = {write.list for write in own if write.begin < count.end}
        assert len(least) <= count.judged <= len(most), f"{count}: between {len(least)} and {len(most)}"


def _check_looks(server: Server, record: Record) -> None:
    """Whatever look was seen is in the log once, as it was seen, of no more than had been judged; none is missing."""
    taken = taken_looks(server)
    entered = rows(server, "SELECT subject, content FROM collect_entry WHERE kind = 'look' ORDER BY number")
    assert [int(subject) for subject, _ in entered] == list(range(1, len(taken) + 1)), "in order, each once"
    for (number, (judgments, digest)), (_, content) in zip(taken.items(), entered, strict=True):
        assert json.loads(content) == [number, judgments, digest]
    assert taken, "a look was due, and none was taken"
    for look in record.looks:
        assert taken[look.number] == (look.judgments, look.digest), f"{look} was changed after it was seen"
        asked = {write.list for write in record.writes if write.begin < look.seen and not write.refused}
        assert look.judgments <= len(asked), f"{look}: only {len(asked)} could have been judged"


# What the checker must find, so that a history without faults means something.

BEFORE, AFTER = Operation("a", "x", 1, 0, 1), Operation("b", "x", 2, 2, 3)


@pytest.mark.parametrize(
    ("operations", "stored", "found"),
    [
        ([BEFORE, AFTER], [("a", 1), ("b", 2)], ""),
        ([BEFORE, AFTER], [("b", 2)], "a of x was acknowledged, and is lost"),
        ([BEFORE, AFTER], [("a", 1), ("b", 2), ("a", 1)], "a stands 2 times in x"),
        ([BEFORE, AFTER], [("b", 2), ("a", 1)], "a of x was acknowledged before b began, and stands behind it"),
        ([BEFORE], [("a", 5)], "a of x is 5, asked for was 1"),
        ([BEFORE], [("a", 1), ("c", 5)], "c is in x, though nobody asked for it"),
        ([BEFORE, Operation("b", "x", 2, 2)], [("a", 1)], ""),
        ([BEFORE, Operation("b", "x", 2, 0.5)], [("b", 2), ("a", 1)], ""),
        ([Operation("a", "x", 1, 0, 1, refused=True)], [("a", 1)], "a is in x, though it was refused"),
    ],
)
def test_a_history_that_cannot_have_been_is_found(operations: list[Operation], stored: list[Any], found: str) -> None:
    assert "".join(list(faults_of_lists(operations, {"x": stored}))[:1]) == found


@pytest.mark.parametrize(
    ("value", "begin", "end", "possible"),
    [
        (1, 0.5, 0.7, True),
        (None, 0.5, 0.7, True),
        (None, 1.2, 1.4, False),
        (1, 1.5, 2.5, True),
        (1, 3.5, 4, False),
        (2, 2.5, 2.6, True),
        (2, 1.2, 1.4, False),
        (7, 5, 6, False),
    ],
)
def test_a_read_of_what_was_not_current_is_found(value: Any, begin: float, end: float, *, possible: bool) -> None:
    assert (not list(faults_of_reads([BEFORE, AFTER], [Read("x", value, begin, end)]))) == possible
