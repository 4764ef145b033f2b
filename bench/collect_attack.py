"""Attacks on a server of one's own, bounded in count and time, over loopback: what was tried, and what failed.

    .venv/bin/python -m bench.collect_attack                       SQLite
    pg_virtualenv -t .venv/bin/python -m bench.collect_attack      SQLite and PostgreSQL with two processes

Prints a table; ends with 1 where something was lost, doubled, let in or held up.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import resource
import sqlite3
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

from tests.helpers.campaigns import make_campaign
from tests.helpers.databases import postgres_url
from tests.helpers.serving import Client, Server, Writer, exported, limit_files, new_save, outputs

from bench.collect_load import Plan, simulate_annotators
from bench.collect_slow import SlowClients, connect_deaf, request_for_script, timed

POOL = '[assignment]\npolicy = "pool"\n'
MOST_SECONDS = 0.2
MOST_MORE_MEGABYTES = 250
CROWD = f'{POOL}[crowd]\ncompletion_code = "DONE"\nregistrations_per_minute = 20\n'


@dataclass(frozen=True)
class Outcome:
    """What was tried, how often, what came of it, and how much of it went wrong."""

    attack: str
    tried: int
    result: str
    failed: int


@contextmanager
def serving(database: str | None, *, people: int = 4, more: str = POOL) -> Iterator[Server]:
    """A server of its own for one attack."""
    with tempfile.TemporaryDirectory() as folder:
        campaign = make_campaign(
            Path(folder), documents=6, task_size=18, annotators=str(people), design=f"judgments = {people}", more=more
        )
        with Server(campaign, database=database) as server:
            yield server


def names(server: Server) -> list[str]:
    """The annotators."""
    return [name for name in server.links if name.startswith("annotator-")]


def kills(database: str | None, count: int) -> Outcome:
    """Kill the processes that serve in the middle of a stream of saves."""
    chance = random.Random(7)
    acknowledged: dict[str, int] = {}
    with serving(database) as server:
        for _ in range(count):
            writers = {}
            for name in names(server):
                client = server.client(name)
                writers[name] = Writer(client, client.work(), start=chance.randrange(1000))
                writers[name].start()
            time.sleep(chance.uniform(0.1, 0.4))
            server.kill_worker()
            for name, writer in writers.items():
                writer.join()
                width = len(outputs(writer.work, 0))
                acknowledged[name] = acknowledged.get(name, 0) + width * len(writer.acknowledged)
        table = exported(server, server.campaign.parent).table
        stored = dict(table.group_by("annotator").len().iter_rows())
    missing = sum(max(0, count - stored.get(name, 0)) for name, count in acknowledged.items())
    total = sum(acknowledged.values())
    return Outcome("kills of serving processes", count, f"{total} acknowledged answers, {missing} lost", missing)


def load(database: str | None, seconds: float) -> Outcome:
    """Many annotators at once."""
    with serving(database, people=60) as server:
        secrets = [server.secret(name) for name in names(server)]
        came = simulate_annotators("127.0.0.1", server.port, secrets, Plan(seconds, pause=1))
        rows = len(exported(server, server.campaign.parent))
    wrong = len(came.faults) + abs(rows - len(came.acknowledged))
    latency = f"p50 {1000 * came.share(0.5):.0f} ms, p99 {1000 * came.share(0.99):.0f} ms"
    return Outcome("annotators at once, saves", len(came.acknowledged), latency, wrong)


def slow_clients(database: str | None, count: int) -> Outcome:
    """Clients that send half a request, or nothing, beside somebody who saves."""
    with serving(database) as server:
        save = saving(server)
        with SlowClients(server.port, count) as slow:
            seconds, statuses = timed(save, 60)
    latency = f"{latencies(seconds)}, {slow.closed_by_server} connections closed"
    return Outcome("slow clients beside 60 saves", count, latency, sum(status != 200 for status in statuses))


def deaf_clients(database: str | None, count: int) -> Outcome:
    """Clients that ask for a script 110 times at once and read nothing, beside somebody who saves."""
    with serving(database) as server, ExitStack() as opened:
        save = saving(server)
        before, _ = timed(save, 20)
        memory = memory_of(server)
        requests = 110 * request_for_script(server.port, server.client().load_page().text)
        connect_deaf(server.port, opened, count, requests)
        seconds, statuses = timed(save, 60)
        during = memory_of(server)
    result = f"{memory} MB before, {during} MB after; before {latencies(before)}; beside {latencies(seconds)}"
    wrong = sum(status != 200 for status in statuses) + (during > memory + MOST_MORE_MEGABYTES)
    return Outcome("110 requests by each who reads nothing, 60 saves", count, result, wrong)


def saving(server: Server) -> Callable[[], int]:
    """A function that saves another score, and returns the status of the answer."""
    client = server.client(names(server)[0])
    work = client.work()
    output = outputs(work, 0)[0]
    scores = cycle(range(101))

    def save() -> int:
        changes = [{"output": output, "score": next(scores)}]
        return client.post("/api/saves", new_save(work, 0, changes)).status

    return save


def latencies(seconds: list[float]) -> str:
    """The middle and the longest time of saves, and how many were slow."""
    ordered = sorted(seconds)
    over = sum(took > MOST_SECONDS for took in seconds)
    middle, longest = (1000 * took for took in (ordered[len(ordered) // 2], ordered[-1]))
    return f"p50 {middle:.0f} ms, longest {longest:.0f} ms, {over} above {1000 * MOST_SECONDS:.0f} ms"


def memory_of(server: Server) -> int:
    """Megabytes of the processes that serve."""
    assert server.process is not None
    children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()
    texts = (Path(f"/proc/{child}/smaps_rollup").read_text() for child in children)
    return sum(int(re.findall(r"Pss:\s+(\d+)", text)[0]) for text in texts) // 1000


def forgeries(database: str | None) -> Outcome:
    """Tries at other people's work: ids, cookies, tasks, saves, roles."""
    with serving(database, more=CROWD) as server:
        mine, theirs = server.client(names(server)[0]), server.client(names(server)[1])
        work, other = mine.work(), theirs.work()
        victim = server.client()
        assert victim.enter(server.secret("crowd"), person="victim").status == 200
        tries: list[Callable[[], int]] = [*_forged_entries(server), *_forged_cookies(server, mine)]
        output = outputs(other, 0)[0]
        save = new_save(other, 0, [{"output": output, "score": 1}])
        tries += [
            lambda: mine.post("/api/saves", save).status,
            lambda: mine.post("/api/saves", {**save, "annotator": work["annotator"]["id"], "task": "t999"}).status,
            lambda: mine.get("/api/organiser/overview").status,
            lambda: mine.post(f"/api/organiser/annotators/{other['annotator']['id']}/renew").status,
        ]
        statuses = [attempt() for attempt in tries]
        bots = [server.client() for _ in range(40)]
        let_in = sum(bot.enter(server.secret("crowd"), person=f"bot{i}").status == 200 for i, bot in enumerate(bots))
    succeeded = sum(status < 400 for status in statuses) + max(0, let_in - 20)
    return Outcome(
        "forged ids, cookies and saves; 40 invented people", len(statuses) + 40, f"{let_in} registered", succeeded
    )


def _forged_entries(server: Server) -> list[Callable[[], int]]:
    secret = server.secret("crowd")
    ids = ["victim", "annotator-01", "", "x" * 300, "victim\u0000"]
    guesses = ["", "a", secret[:-1], secret.swapcase(), str(uuid.uuid4())]

    def entering(guess: str, **more: str) -> Callable[[], int]:
        return lambda: server.client().enter(guess, **more).status

    return [*(entering(secret, person=person) for person in ids), *(entering(guess) for guess in guesses)]


def _forged_cookies(server: Server, known: Client) -> list[Callable[[], int]]:
    value = known.cookies[known.session]
    forged = [value[:-1], value + "a", value[5:], value.swapcase(), "eyJhbm5vdGF0b3IiOjF9:1:1"]

    def attempt(cookie: str) -> int:
        client = Client(server.url, {known.session: cookie})
        server.clients.append(client)
        return client.get("/api/work").status

    return [partial(attempt, cookie) for cookie in forged]


def clock_steps(database: str | None) -> Outcome:
    """Saves by browsers whose clocks are wrong, and while the server's clock has been set back by an hour."""
    with serving(database) as server:
        client = server.client(names(server)[0])
        began = time.time()
        work = client.work()
        wrong = 0
        for number, age in enumerate((0, 1, 3600, 2_600_000)):
            changes = [{"output": outputs(work, 0)[0], "score": number}]
            spent = {"shown": 2e6, "visible": 2e6, "active": 2e6, "outputs": {}}
            wrong += client.post("/api/saves", new_save(work, 0, changes, age=age, spent=spent)).status != 200
        # Seen from the server, a clock that was set back means that the task was taken in the future.
        in_sql = (
            "UPDATE collect_assignment SET taken = datetime(taken, '+1 hour')",
            "UPDATE collect_assignment SET taken = taken + interval '1 hour'",
        )
        run_statement(server, *in_sql)
        for score in (8, 9):
            changes = [{"output": outputs(work, 0)[0], "score": score}]
            wrong += client.post("/api/saves", new_save(work, 0, changes)).status != 200
        passed = time.time() - began
        seconds = client.get("/api/work").json["active_seconds"]
        table = exported(server, server.campaign.parent).final().table
    wrong += not 0 <= seconds <= passed
    wrong += table["score"].to_list() != [9.0]
    return Outcome("steps of clocks", 6, f"{seconds:.1f} active seconds believed, the last answer counts", wrong)


def run_statement(server: Server, for_sqlite: str, for_postgres: str) -> None:
    """Change the database of a server beside it."""
    if server.database is None:
        with closing(sqlite3.connect(server.campaign.with_suffix(".sqlite3"))) as connection, connection:
            connection.execute(for_sqlite)
        return
    import psycopg

    with psycopg.connect(server.database.replace("postgres://", "postgresql://")) as session:
        session.execute(for_postgres)


# PostgreSQL's own words for a full disk, raised when a transaction that holds a save is committed.
FULL_DISK = """
CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$;
CREATE CONSTRAINT TRIGGER full_disk AFTER INSERT ON collect_save DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION full_disk();
"""
ROOM_AGAIN = "DROP TRIGGER full_disk ON collect_save"


def full_disk(database: str | None) -> Outcome:
    """A disk that is full for a while: a limit on the size of files, or on PostgreSQL an error at every commit."""
    with serving(database) as server:
        client = server.client(names(server)[0])
        work = client.work()
        output = outputs(work, 0)[0]

        def save(score: int) -> Any:
            changes = [{"output": output, "score": score}]
            return client.post("/api/saves", new_save(work, 0, changes, events=[[0, "x" * 900]])).status

        kept = [0] if save(0) == 200 else []
        if database is None:
            largest = max(file.stat().st_size for file in server.campaign.parent.glob("campaign.sqlite3*"))
            limit_files(server, largest + 20_000)
        else:
            run_statement(server, "", FULL_DISK)
        kept += [score for score in range(1, 40) if save(score) == 200]
        reads = client.get("/api/work").status == 200
        if database is None:
            limit_files(server, resource.RLIM_INFINITY)
        else:
            run_statement(server, "", ROOM_AGAIN)
        kept += [99] if save(99) == 200 else []
        stored = exported(server, server.campaign.parent).table.sort("revision")["score"].to_list()
    what = "full disk (files limited), saves" if database is None else "full disk (error at commit), saves"
    wrong = int(stored != kept or kept[-1] != 99) + (not reads)
    return Outcome(what, 41, f"{len(kept)} acknowledged, {len(stored)} stored, reading went on", wrong)


ATTACKS: tuple[Callable[[str | None, argparse.Namespace], Outcome], ...] = (
    lambda database, chosen: kills(database, chosen.kills),
    lambda database, chosen: load(database, chosen.seconds),
    lambda database, chosen: slow_clients(database, chosen.slow),
    lambda database, chosen: deaf_clients(database, chosen.deaf),
    lambda database, _: forgeries(database),
    lambda database, _: clock_steps(database),
    lambda database, _: full_disk(database),
)


def main() -> None:
    """Try everything, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--slow", type=int, default=300)
    parser.add_argument("--deaf", type=int, default=70)
    chosen = parser.parse_args()
    stores: dict[str, Callable[[], str | None]] = {"SQLite": lambda: None}
    if postgres_url() is not None:
        stores["PostgreSQL"] = postgres_url
    failed = 0
    print(f"load average {os.getloadavg()[0]:.1f} at the start")
    print(f"{'store':<12}{'attack':<52}{'tried':>7}  {'failed':>6}  what came of it")
    for store, database in stores.items():
        for attack in ATTACKS:
            outcome = attack(database(), chosen)
            failed += outcome.failed
            print(
                f"{store:<12}{outcome.attack:<52}{outcome.tried:>7}  {outcome.failed:>6}  {outcome.result}", flush=True
            )
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
