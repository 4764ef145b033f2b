"""How long copies of a campaign with 108,000 judgments take, and what a save waits for meanwhile.

    .venv/bin/python -m bench.bench_copies                       SQLite
    pg_virtualenv -t .venv/bin/python -m bench.bench_copies      also PostgreSQL

First the times of backup, restore and move, each in a process of its own; then the times of saves on SQLite by one
person, one after the other, without a backup and with one backup after the other.
"""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from pathlib import Path

from tests.helpers.campaigns import make_campaign
from tests.helpers.databases import postgres_url
from tests.helpers.serving import Server, new_save, outputs
from tests.helpers.warm_command import warm_command

FILL = """
import sys
from pathlib import Path
from bench.bench_organisers import open_filled
open_filled(Path(sys.argv[1]), people=100, documents=int(sys.argv[2]), database=sys.argv[3] or None)
from django.db import connections
connections.close_all()
"""
SECONDS = 8.0


def timed(what: str, *arguments: str | Path) -> None:
    """Run a command and print how long it took."""
    began = time.perf_counter()
    done = warm_command()(*arguments)
    assert done.code == 0, done.err
    print(f"{what:<40} {time.perf_counter() - began:6.1f} s")


def copies(folder: Path, documents: int) -> Path:
    """Times of copies; returns a campaign file."""
    filled = warm_command().run_code(FILL, folder / "c", str(documents), "")
    assert filled.code == 0, filled.err
    campaign = folder / "c" / "campaign.toml"
    archive = folder / "backup.zip"
    timed("backup from SQLite", "backup", campaign, "-o", archive)
    print(f"{'archive, database':<40} {archive.stat().st_size / 1e6:.1f} MB, "
          f"{campaign.with_suffix('.sqlite3').stat().st_size / 1e6:.1f} MB")  # fmt: skip
    timed("restore into SQLite", "restore", archive, folder / "again")
    timed("move from SQLite to SQLite", "move", campaign, "--to", folder / "c" / "other.sqlite3")
    url = postgres_url(with_tables=False)
    if url is not None:
        timed("move from SQLite to PostgreSQL", "move", campaign, "--to", url)
        timed("backup from PostgreSQL", "backup", campaign, "-o", archive)
        new = postgres_url(with_tables=False)
        timed("restore into PostgreSQL", "restore", archive, folder / "third", "--database", new or "")
    return folder / "again" / "campaign.toml"


def waiting(folder: Path, large: Path) -> None:
    """What saves wait for while a large campaign is backed up again and again, and while its own server's is."""
    with Server(make_campaign(folder / "small")) as server:
        client = server.client("anna")
        work = client.work()
        for what, campaign in (("alone", None), ("this campaign backed up", server.campaign), ("a large one", large)):
            stop = threading.Event()
            worker = threading.Thread(target=_again_and_again, args=(campaign, folder / "x.zip", stop))
            if campaign is not None:
                worker.start()
            times: list[float] = []
            end = time.monotonic() + SECONDS
            while time.monotonic() < end:
                began = time.perf_counter()
                save = new_save(work, 0, [{"output": outputs(work, 0)[0], "score": len(times) % 101}])
                assert client.post("/api/saves", save).status == 200
                times.append(1000 * (time.perf_counter() - began))
                time.sleep(0.02)
            stop.set()
            if campaign is not None:
                worker.join()
            times.sort()
            late = times[int(0.99 * len(times))]
            print(f"saves, {what:<33} p50 {statistics.median(times):5.1f} ms, p99 {late:6.1f} ms, "
                  f"longest {times[-1]:6.1f} ms, {len(times)} saves")  # fmt: skip


def _again_and_again(campaign: Path, archive: Path, stop: threading.Event) -> None:
    while not stop.is_set():
        assert warm_command()("backup", campaign, "-o", archive).code == 0


def main() -> None:
    """Measure both."""
    with tempfile.TemporaryDirectory(prefix="adjudge-bench-") as name:
        large = copies(Path(name), documents=720)
        waiting(Path(name), large)


if __name__ == "__main__":
    main()
