"""How fast saves are: 200 annotators at once, each saving about every two seconds, on SQLite and PostgreSQL.

    .venv/bin/python -m bench.bench_collect                       SQLite
    pg_virtualenv -t .venv/bin/python -m bench.bench_collect      SQLite and PostgreSQL with two workers

Loopback only; the clients run on the same machine and take their share of it. CPU is that of the server's processes,
read from /proc, divided by the saves; on PostgreSQL also that of the database's processes.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from tests.collect.campaigns import make_campaign
from tests.collect.serving import Server, exported, postgres_url

from bench.collect_load import simulate_annotators

TICKS = os.sysconf("SC_CLK_TCK")


def measure(name: str, database: str | None, *, annotators: int, seconds: float, pause: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        campaign = make_campaign(
            Path(folder),
            "da",
            documents=20,
            task_size=60,
            annotators=str(annotators),
            design=f"judgments = {annotators}",
            more='[assignment]\npolicy = "pool"\n',
        )
        with Server(campaign, database=database) as server:
            assert server.process is not None
            secrets = [server.secret(link) for link in server.links if link.startswith("annotator-")]
            clocks: list[tuple[float, float, float]] = []

            def look(group: int = server.process.pid) -> None:
                clocks.append((time.monotonic(), group_cpu(group), database_cpu(database)))

            load = simulate_annotators("127.0.0.1", server.port, secrets, seconds=seconds, pause=pause, entered=look)
            look()
            wall, cpu, cpu_of_database = (after - before for before, after in zip(*clocks, strict=True))
            rows = len(exported(server, Path(folder)))
        saves = len(load.acknowledged)
        print(
            f"{name}: {saves} saves by {annotators} annotators in {wall:.0f} s, {saves / wall:.0f} saves/s; "
            f"p50 {1000 * load.share(0.5):.1f} ms, p99 {1000 * load.share(0.99):.1f} ms, "
            f"longest {1000 * max(load.seconds):.0f} ms; {1000 * cpu / saves:.2f} ms CPU per save"
            + (f" + {1000 * cpu_of_database / saves:.2f} ms in PostgreSQL" if database else "")
            + f"; faults {len(load.faults)}, lost or doubled {rows - saves}; load average {os.getloadavg()[0]:.1f}"
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
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            title = (folder / "cmdline").read_text()
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        found.append((title, int(fields[2]), sum(int(field) for field in fields[11:15])))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--annotators", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--pause", type=float, default=2)
    chosen = parser.parse_args()
    settings = {"annotators": chosen.annotators, "seconds": chosen.seconds, "pause": chosen.pause}
    measure("SQLite, one process", None, **settings)
    if url := postgres_url():
        measure("PostgreSQL, two processes", url, **settings)
    else:
        print("PostgreSQL: not measured; run under pg_virtualenv -t")


if __name__ == "__main__":
    main()
