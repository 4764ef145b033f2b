"""Power cuts at every step: what was acknowledged is there, and nothing is there by half.

`Disk` forgets what was not synced. SQLite writes and syncs by itself, outside of Python: where it matters, the calls
of the library are recorded, and what a cut leaves is opened by another process, as after a real one.
"""

from __future__ import annotations

import io
import json
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from base64 import b64decode
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from adjudge.judges.clients import Answered, Journal
from adjudge.server.database import database_file, write_database_note
from adjudge.server.serve import LinkFile
from adjudge.table.files import write_text
from tests.conftest import ROOT
from tests.helpers.campaigns import make_campaign
from tests.helpers.databases import migrated_campaign
from tests.helpers.disk import Disk, State, sqlite_library
from tests.helpers.serving import Server, judge, run
from tests.helpers.warm_command import PATIENCE, warm_command

# Copies need a database, and so a process of their own, which prints what each cut would leave.
COPY = """
import base64, json, sys
from pathlib import Path
import pytest
from adjudge.shell.app import main
from tests.helpers.disk import Disk, sqlite_library
disk = Disk(pytest.MonkeyPatch(), Path(sys.argv.pop(1)))
if sqlite_library() is not None:
    disk.watch_sqlite()
try:
    main()
finally:
    shown = [{name: base64.b64encode(content).decode() for name, content in state.items()} for state in disk.cuts]
    Path(sys.argv[0]).write_text(json.dumps(shown))
"""

# The app in one process, as a server has it, with the saves of one person. Prints what each cut would leave, after how
# many acknowledged saves.
SAVE = """
import base64, hashlib, json, sys, uuid
from pathlib import Path
import pytest
from tests.helpers.disk import Disk
file, log = Path(sys.argv[1]), Path(sys.argv[2])
disk = Disk(pytest.MonkeyPatch(), file.parent)
disk.watch_sqlite()
from tests.helpers.databases import open_campaign
links = open_campaign(file, new_links=True)
from django.db import connection
from django.test import Client
from adjudge.server.saves import run_durably
client = Client(HTTP_HOST="127.0.0.1")

def post(path, body=None):
    answer = client.post(path, json.dumps(body), content_type="application/json")
    assert answer.status_code == 200, answer.content
    return answer.json()

client.get("/enter")
post("/api/enter", {"secret": next(link.secret for link in links if link.name == "anna")})
work = post("/api/tasks/next")
acknowledged, disk.cuts = [], []
for number in range(12):
    screen = work["task"]["screens"][number % len(work["task"]["screens"])]
    new = {"id": str(uuid.UUID(int=number + 1)), "annotator": work["annotator"]["id"], "task": work["task"]["id"]}
    new |= {"screen": screen["id"], "base": 0, "events": [[0, "x" * 900]]}
    new["changes"] = [{"output": screen["items"][0]["outputs"][0]["id"], "score": number}]
    post("/api/saves", new)
    acknowledged.append(len(disk.cuts))
    if number % 5 == 4:
        # What the log holds goes into the database, which SQLite does by itself when the log is long.
        connection.cursor().execute("PRAGMA wal_checkpoint(RESTART)").fetchall()
contents = {}
for state in disk.cuts:
    for name, content in state.items():
        key = hashlib.sha256(content).hexdigest()
        contents.setdefault(key, base64.b64encode(content).decode())
        state[name] = key
log.write_text(json.dumps({"cuts": disk.cuts, "contents": contents, "acknowledged": acknowledged}))
"""


def after_a_cut(state: State, place: Path) -> Path:
    """The files of a state, as the next start finds them; what SQLite keeps in shared memory is on no disk."""
    for name, content in state.items():
        if not name.endswith("-shm"):
            file = place / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
    return place


def rows_of(database: Path, statement: str) -> list[str]:
    """The first column of what a whole database answers."""
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return [str(row[0]) for row in connection.execute(statement)]


def needs_sqlite_library() -> None:
    if sqlite_library() is None:
        pytest.skip("the SQLite of this Python hides its functions, so what it writes cannot be recorded")


def copy_with_cuts(root: Path, log: Path, *arguments: object) -> list[State]:
    """Run a command and list what a power cut at each of its steps would leave below a folder."""
    code = COPY.replace("sys.argv[0]", repr(str(log)))
    call = [sys.executable, "-c", code, str(root), *map(str, arguments)]
    done = subprocess.run(call, capture_output=True, text=True, check=False, cwd=ROOT, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    states = json.loads(log.read_text(encoding="utf-8"))
    return [{name: b64decode(content) for name, content in state.items()} for state in states]


def test_a_file_that_is_replaced_is_the_old_one_or_the_new_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "out.csv"
    file.write_text("old\n")
    disk = Disk(monkeypatch, tmp_path)
    write_text(file, "new\n")
    assert {state["out.csv"] for state in disk.cuts} == {b"old\n", b"new\n"}
    assert disk.cuts[-1]["out.csv"] == disk.cuts[-2]["out.csv"] == b"new\n", "it is new when the call returns"


def test_a_file_that_is_not_synced_would_be_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The simulation itself can fail: a rename without a sync leaves an empty file."""
    file = tmp_path / "out.csv"
    file.write_text("old\n")
    disk = Disk(monkeypatch, tmp_path)
    (tmp_path / "temporary").write_text("new\n")
    (tmp_path / "temporary").replace(file)
    assert [state["out.csv"] for state in disk.cuts[-2:]] == [b"old\n", b""]


def test_a_file_in_new_folders_is_there_with_its_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(monkeypatch, tmp_path)
    write_text(tmp_path / "new" / "newer" / "out.csv", "new\n")
    assert all(state == {"new/newer/out.csv": b"new\n"} for state in disk.cuts[-2:])


def test_a_note_that_was_removed_does_not_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would lead a campaign that was moved back to the database that it left."""
    campaign = tmp_path / "campaign.toml"
    write_database_note(campaign, "postgres://u@h/d")
    disk = Disk(monkeypatch, tmp_path)
    write_database_note(campaign, None)
    assert disk.cuts[0].keys() == {"campaign.database"}
    assert all(not state for state in disk.cuts[-2:])


@pytest.mark.slow
def test_every_save_that_was_acknowledged_is_in_the_database(tmp_path: Path) -> None:
    """Cuts at each sync of SQLite: nothing, part or all of what it had written since the last one is on the disk."""
    needs_sqlite_library()
    campaign, log = make_campaign(tmp_path / "served"), tmp_path / "log.json"
    shutil.copyfile(database_file(migrated_campaign()), database_file(campaign))
    done = warm_command().run_code(SAVE, campaign, log)
    assert done.code == 0, done.err
    held = json.loads(log.read_text())
    acknowledged = held["acknowledged"]
    found: dict[tuple[str, ...], list[str]] = {}
    for number, state in enumerate(held["cuts"]):
        files = {name: digest for name, digest in state.items() if ".sqlite3" in name and not name.endswith("-shm")}
        key = tuple(sorted(f"{name}={digest}" for name, digest in files.items()))
        if key not in found:
            contents = {name: b64decode(held["contents"][digest]) for name, digest in files.items()}
            place = after_a_cut(contents, tmp_path / f"cut-{number}")
            found[key] = rows_of(place / "campaign.sqlite3", "SELECT id FROM collect_save ORDER BY received")
            shutil.rmtree(place)
        kept = sum(before <= number for before in acknowledged)
        stored = [int(each.replace("-", ""), 16) for each in found[key]]
        assert stored == list(range(1, len(stored) + 1)), "in order, each once"
        assert kept <= len(stored) <= kept + 1, f"{kept} were acknowledged"
    assert len(acknowledged) == 12
    assert len(found) > 24, "many different cuts"


@pytest.mark.slow
@pytest.mark.parametrize("target", ["new.sqlite3", "elsewhere/new.sqlite3"])
def test_a_campaign_that_is_moved_is_whole_in_the_one_database_or_the_other(tmp_path: Path, target: str) -> None:
    needs_sqlite_library()
    with Server(make_campaign(tmp_path / "served")) as server:
        judge(server)
    folder = server.campaign.parent
    (folder / target).parent.mkdir(exist_ok=True)
    saves = "SELECT id FROM collect_save ORDER BY id"
    before = rows_of(database_file(server.campaign), saves)
    cuts = copy_with_cuts(folder, tmp_path / "move.json", "move", server.campaign, "--to", folder / target)
    assert b"new.sqlite3" in cuts[-1]["campaign.database"]
    assert b"new.sqlite3" in cuts[-2]["campaign.database"]
    seen = set()
    for number, state in enumerate(cuts):
        noted = "campaign.database" in state
        name = target if noted else "campaign.sqlite3"
        files = {each: content for each, content in state.items() if each.startswith(name)}
        key = tuple(sorted(files.items()))
        if key not in seen:
            seen.add(key)
            place = after_a_cut(files, tmp_path / f"cut-{number}")
            assert rows_of(place / name, saves) == before
            shutil.rmtree(place)


def test_every_link_that_was_handed_out_is_in_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The module of addresses needs a database, which this test does not.
    addresses = SimpleNamespace(address=lambda secret, base: f"{base}/enter#{secret}")
    monkeypatch.setitem(sys.modules, "adjudge.server.preparation", addresses)
    disk = Disk(monkeypatch, tmp_path)
    links = LinkFile(tmp_path / "links.tsv", "http://127.0.0.1")
    for number in range(3):
        links.add([SimpleNamespace(role="annotator", name=f"p{number}", secret="secret")])  # type: ignore[list-item]
        handed_out = len(disk.cuts)
        links.add([SimpleNamespace(role="annotator", name=f"q{number}", secret="secret")])  # type: ignore[list-item]
        assert all(f"p{number}\t".encode() in state["links.tsv"] for state in disk.cuts[handed_out:])


def test_every_answer_that_was_kept_is_in_the_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(monkeypatch, tmp_path)
    with Journal(tmp_path / "journal.jsonl", {}, accepts=bool) as kept:
        for name in ("first", "second", "third"):
            kept.add(Answered(name, 1.0, None, "1", 0.0, 1.0))
            for state in disk.cuts[-2:]:
                lines = state["journal.jsonl"].decode().splitlines()
                assert name in json.loads(lines[-1])["id"]


@pytest.mark.slow
def test_a_backup_is_whole_or_not_there_and_a_campaign_comes_back_whole(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path / "served")
    # A file that lies outside comes back in a folder of its own.
    (campaign.parent / "alpha.txt").rename(tmp_path / "alpha.txt")
    campaign.write_text(campaign.read_text().replace('"alpha.txt"', '"../alpha.txt"'))
    with Server(campaign) as server:
        judge(server)
    target = tmp_path / "backups"
    target.mkdir()
    cuts = copy_with_cuts(target, tmp_path / "backup.json", "backup", server.campaign, "-o", target / "b.zip")
    archives = [state["b.zip"] for state in cuts if "b.zip" in state]
    assert archives
    assert all(zipfile.ZipFile(io.BytesIO(archive)).testzip() is None for archive in archives)
    assert all("b.zip" in state for state in cuts[-2:])

    place = tmp_path / "restored"
    place.mkdir()
    again = place / "again"
    cuts = copy_with_cuts(place, tmp_path / "restore.json", "restore", target / "b.zip", again)
    wanted = {path.relative_to(place).as_posix(): path.read_bytes() for path in again.rglob("*") if path.is_file()}
    texts = {name: content for name, content in wanted.items() if ".sqlite3" not in name}
    assert all(state.keys() >= wanted.keys() for state in cuts[-4:]), "also by the names that were synced"
    contents: dict[bytes, State] = {}
    for state in cuts:
        if "again/campaign.toml" in state:
            assert wanted.keys() <= state.keys(), "what has a campaign file has everything"
            assert texts.items() <= state.items()
            contents[state["again/campaign.sqlite3"]] = state
    assert contents
    judged = rows_of(database_file(server.campaign), "SELECT id FROM collect_save ORDER BY id")
    for number, state in enumerate(contents.values()):
        cut = after_a_cut(state, tmp_path / f"cut-{number}") / "again" / "campaign.sqlite3"
        assert rows_of(cut, "SELECT id FROM collect_save ORDER BY id") == judged
    run("verify", again / "campaign.toml")
