"""Power cuts at every step: what was acknowledged is there, and nothing is there by half.

`Disk` forgets what was not synced. SQLite syncs by itself, outside of Python; `test_durable.py` tests its settings.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from adjudge.judges.clients import Answered, Journal
from adjudge.server.serve import LinkFile
from adjudge.table.files import write_text
from tests.conftest import ROOT
from tests.helpers.campaigns import make_campaign
from tests.helpers.disk import Disk, State
from tests.helpers.serving import Server, judge, run
from tests.helpers.warm_command import PATIENCE

# Copies need a database, and so a process of their own, which prints what each cut would leave.
COPY = """
import base64, json, sys
from pathlib import Path
import pytest
from adjudge.shell.app import main
from tests.helpers.disk import Disk
disk = Disk(pytest.MonkeyPatch(), Path(sys.argv.pop(1)))
try:
    main()
finally:
    shown = [{name: base64.b64encode(content).decode() for name, content in state.items()} for state in disk.cuts]
    Path(sys.argv[0]).write_text(json.dumps(shown))
"""


def copy_with_cuts(root: Path, log: Path, *arguments: object) -> list[State]:
    """Run a command and list what a power cut at each of its steps would leave below a folder."""
    from base64 import b64decode

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
    with Server(make_campaign(tmp_path / "served")) as server:
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
    assert cuts[-1].keys() >= wanted.keys()
    for state in cuts:
        if "again/campaign.toml" in state:
            assert wanted.keys() <= state.keys(), "what has a campaign file has everything"
            assert texts.items() <= state.items()
    run("verify", again / "campaign.toml")
