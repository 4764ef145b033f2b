"""How fast saves are: many annotators at once, each saving about every two seconds, on SQLite and PostgreSQL.

    .venv/bin/python -m bench.bench_collect                                   SQLite
    pg_virtualenv -t .venv/bin/python -m bench.bench_collect 50 200 1000      also PostgreSQL with two processes
    .venv/bin/python -m bench.bench_collect 200 --adaptive                    tasks of nine, drawn by a policy
    .venv/bin/python -m bench.bench_collect 200 --campaigns 10                ten campaigns and one, in turns

Loopback only; the clients run on the same machine and take their share of it, and an organiser has the page open. CPU
is that of the server's processes, read from /proc, divided by the saves; on PostgreSQL also that of the database's.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.helpers.campaigns import make_campaign
from tests.helpers.databases import postgres_url
from tests.helpers.serving import Server, exported

from bench.collect_load import Load, Plan, simulate_annotators

TICKS = os.sysconf("SC_CLK_TCK")
POOL = '[assignment]\npolicy = "pool"\n'
ADAPTIVE = f'{POOL}[adaptive]\npolicy = "best"\n[looks]\nlooks = 5\nplanned = 60000\ngoal = "best"\n'


def make(folder: Path, annotators: int, *, adaptive: bool) -> Path:
    """A campaign in which everybody judges everything, or one of short tasks that a policy hands out."""
    if adaptive:
        people = f'structure = "pages"\njudgments = {min(annotators, 50)}'
        return make_campaign(
            folder, documents=80, task_size=9, annotators=str(annotators), design=people, more=ADAPTIVE, systems=5
        )
    people = f"judgments = {annotators}"
    return make_campaign(folder, documents=20, task_size=60, annotators=str(annotators), design=people, more=POOL)


def measure(name: str, database: str | None, annotators: int, *, adaptive: bool, seconds: float, pause: float) -> None:
    """Let people judge, and print what it took."""
    with tempfile.TemporaryDirectory() as folder:
        with Server(make(Path(folder), annotators, adaptive=adaptive), database=database) as server:
            assert server.process is not None
            secrets = [server.secret(person) for person in server.links if person.startswith("annotator-")]
            clocks: list[tuple[float, float, float]] = []

            def read_clocks(group: int = server.process.pid) -> None:
                clocks.append((time.monotonic(), group_cpu(group), database_cpu(database)))

            plan = Plan(seconds, pause, whole_tasks=adaptive, organiser=server.secret("organiser"))
            load = simulate_annotators("127.0.0.1", server.port, secrets, plan, entered=read_clocks)
            read_clocks()
            rows = len(exported(server, Path(folder)))
        spent = tuple(after - before for before, after in zip(*clocks, strict=True))
        report(f"{name}, {annotators} annotators{', adaptive' if adaptive else ''}", load, spent, rows)


ROUNDS = 6


@dataclass
class Arm:
    """A server with so many campaigns, and what was measured of it."""

    server: Server
    plan: Plan
    secrets: list[str]
    load: Load = field(default_factory=Load)
    wall: float = 0.0
    cpu: float = 0.0

    def run(self, turn: int) -> None:
        """Let people judge once more; entering is not counted."""
        assert self.server.process is not None
        group = self.server.process.pid
        clocks: list[tuple[float, float]] = []

        def read_clocks() -> None:
            clocks.append((time.monotonic(), group_cpu(group)))

        load = simulate_annotators(
            "127.0.0.1", self.server.port, self.secrets, replace(self.plan, seed=turn), entered=read_clocks
        )
        read_clocks()
        self.wall += clocks[1][0] - clocks[0][0]
        self.cpu += clocks[1][1] - clocks[0][1]
        self.load.seconds += load.seconds
        self.load.acknowledged += load.acknowledged
        self.load.faults += load.faults


def measure_several(annotators: int, campaigns: int, *, seconds: float, pause: float) -> None:
    """Let people judge in one campaign and in several on one server, in turns, so that other work disturbs both alike.

    SQLite, a file for each campaign. Prints memory, too.
    """
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as servers:
        arms = {}
        for number in (1, campaigns):
            folder = Path(scratch) / f"of-{number}"
            for each in range(number):
                make(folder / f"c{each:02d}", annotators // number, adaptive=False)
            make(folder / "idle", 1, adaptive=False)  # so that both have paths
            server = servers.enter_context(Server(folder))
            named = {name: f"{name.partition(':')[0]}#{server.secret(name)}" for name in server.links if ":" in name}
            people = [
                secret for name, secret in named.items() if ":annotator-" in name and not name.startswith("/idle")
            ]
            arms[number] = Arm(server, Plan(seconds / ROUNDS, pause, organiser=named["/c00:organiser"]), people)
        for turn in range(ROUNDS):
            for number in (1, campaigns) if turn % 2 else (campaigns, 1):
                arms[number].run(turn)
        for number, arm in arms.items():
            assert arm.server.process is not None
            organisers = [name for name in arm.server.links if name.endswith(":organiser") and ":" in name]
            rows = sum(
                len(arm.server.client(name).get("/api/organiser/export").text.splitlines()) - 1 for name in organisers
            )
            print(f"memory of the server with {number}: {memory(arm.server.process.pid):.0f} MB")
            report(
                f"SQLite, {number} campaigns, {len(arm.secrets)} annotators", arm.load, (arm.wall, arm.cpu, 0.0), rows
            )


def memory(group: int) -> float:
    """Megabytes that the processes of a group hold, shared ones counted by their share."""
    held = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[2]) == group:
                rollup = (folder / "smaps_rollup").read_text()
                held += int(rollup.partition("Pss:")[2].split()[0])
        except OSError:
            continue
    return held / 1024


def report(name: str, load: Load, spent: tuple[float, ...], rows: int) -> None:
    """Print the figures; end with 1 where something went wrong."""
    wall, cpu, cpu_of_database = spent
    saves = len(load.acknowledged)
    drawn = sorted(load.handed_in)
    handing_in = f"; {len(drawn)} tasks handed in, p50 {1000 * drawn[len(drawn) // 2]:.0f} ms" if drawn else ""
    print(
        f"{name}: {saves} saves in {wall:.0f} s, {saves / wall:.0f} saves/s; "
        f"p50 {1000 * load.share(0.5):.1f} ms, p99 {1000 * load.share(0.99):.1f} ms, "
        f"longest {1000 * max(load.seconds):.0f} ms; {1000 * cpu / saves:.2f} ms CPU per save"
        + (f" + {1000 * cpu_of_database / saves:.2f} ms in PostgreSQL" if cpu_of_database else "")
        + f"{handing_in}; faults {len(load.faults)}, lost or doubled {rows - saves}; "
        f"load average {os.getloadavg()[0]:.1f}",
        flush=True,
    )
    if load.faults or rows != saves:
        print("\n".join(load.faults[:5]))
        sys.exit(1)


def group_cpu(group: int) -> float:
    """CPU seconds of a process group."""
    return sum(ticks for _, of, ticks in processes() if of == group) / TICKS


def database_cpu(url: str | None) -> float:
    """CPU seconds of the PostgreSQL processes that serve a database: their titles name it."""
    name = "no database" if url is None else url.rpartition("/")[2]
    return sum(ticks for title, _, ticks in processes() if name in title and title.startswith("postgres:")) / TICKS


def processes() -> list[tuple[str, int, int]]:
    """Title, process group, and ticks of user and system time (own and of children waited for) of every process."""
    running = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            title = (folder / "cmdline").read_text()
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        running.append((title, int(fields[2]), sum(int(field) for field in fields[11:15])))
    return running


def main() -> None:
    """Measure each number of annotators on each database."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("annotators", type=int, nargs="*", default=[200])
    parser.add_argument("--adaptive", action="store_true")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--pause", type=float, default=2)
    parser.add_argument("--campaigns", type=int, default=1)
    chosen = parser.parse_args()
    for annotators in chosen.annotators:
        settings = {"seconds": chosen.seconds, "pause": chosen.pause}
        if chosen.campaigns > 1:
            measure_several(annotators, chosen.campaigns, **settings)
            continue
        measure("SQLite, one process", None, annotators, adaptive=chosen.adaptive, **settings)
        if url := postgres_url():
            measure("PostgreSQL, two processes", url, annotators, adaptive=chosen.adaptive, **settings)
        else:
            print("PostgreSQL: not measured; run under pg_virtualenv -t")


if __name__ == "__main__":
    main()
