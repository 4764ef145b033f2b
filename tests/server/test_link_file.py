"""The file with the links: nothing in it is overwritten, and no link is made that could not be written down."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from adjudge.server.serve import LinkFile
from adjudge.shell.campaigns import _show
from adjudge.table.errors import InputError
from tests.helpers.campaigns import make_campaign
from tests.helpers.disk import Disk
from tests.helpers.serving import PATIENCE, Client, Server, free_port
from tests.helpers.warm_command import warm_command


def rows(file: Path) -> list[list[str]]:
    return [line.split("\t") for line in file.read_text(encoding="utf-8").splitlines()]


def test_a_second_start_adds_its_links_and_keeps_the_first(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, annotators="5")
    links = tmp_path / "links.tsv"
    options = ("--links", str(links))
    with Server(campaign, options=options) as server:
        first = rows(links)
        assert [row[0] for row in first] == ["role", *["annotator"] * 5, "organiser"]
        assert first[-1][2] == server.links["organiser"]
    links.chmod(0o644)
    with Server(campaign, options=options) as server:
        second = rows(links)
        assert second[: len(first)] == first, "the former links are nowhere else"
        assert [row[0] for row in second[len(first) :]] == ["organiser"]
        assert links.stat().st_mode & 0o777 == 0o600
        server.links["anna"] = first[1][2]
        assert server.client("anna").get("/api/work").status == 200, "the first start's links hold"


def test_links_are_on_the_disk_when_they_are_handed_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The module of addresses needs a database, which this test does not.
    addresses = SimpleNamespace(address=lambda secret, base: f"{base}/enter#{secret}")
    monkeypatch.setitem(sys.modules, "adjudge.server.preparation", addresses)
    file, disk = tmp_path / "links.tsv", Disk(monkeypatch)
    links = LinkFile(file, "http://127.0.0.1")
    for name in ("anna", "bela"):
        links.add([SimpleNamespace(role="annotator", name=name, secret="secret")])  # type: ignore[list-item]
        assert disk.holds(file)


def test_a_crowd_is_not_counted_as_nobody_and_first_links_are_not_called_old(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    addresses = SimpleNamespace(address=lambda secret, base: f"{base}/enter#{secret}", OVERVIEW="overview")
    monkeypatch.setitem(sys.modules, "adjudge.server.preparation", addresses)
    tasks = SimpleNamespace(campaign="spring", tasks=["one", "two"], annotators=())
    organiser, crowd = (SimpleNamespace(role=role, name=role, secret=role) for role in ("organiser", "crowd"))
    for links, old in (([organiser, crowd], False), ([organiser], True)):
        opened = SimpleNamespace(tasks=tasks, base="http://127.0.0.1", links=links)
        _show([opened], opened.base, links_file=None)  # type: ignore[list-item]
        said = capsys.readouterr().out
        assert said.startswith("spring: 2 tasks for whoever comes at http://127.0.0.1\n")
        assert ("existing links stay valid" in said) == old


@pytest.mark.parametrize("content", ["my notes\n", "\x00\xff"])
def test_a_file_that_holds_something_else_is_left_alone(content: str, tmp_path: Path) -> None:
    file = tmp_path / "links.tsv"
    file.write_text(content, encoding="latin-1")
    before = file.read_bytes()
    with pytest.raises(InputError, match=r"links\.tsv"):
        LinkFile(file, "http://127.0.0.1")
    assert file.read_bytes() == before


def test_where_links_cannot_be_written_none_is_made(tmp_path: Path) -> None:
    """Nothing is committed: a start with a file that can be written makes all the links."""
    campaign = make_campaign(tmp_path)
    command = ("serve", campaign, "--port", str(free_port()))
    missing = warm_command()(*command, "--links", tmp_path / "no" / "links.tsv")
    assert missing.code == 1
    assert "links cannot be written here" in missing.err
    device = warm_command()(*command, "--links", "/dev/full")
    assert device.code == 1
    assert "no plain file" in device.err
    with Server(campaign) as server:
        assert server.client("anna").work()["task"]


def test_links_go_to_a_file_where_nobody_looks_on(tmp_path: Path) -> None:
    """Under systemd, standard output is the journal, which many can read for long."""
    campaign = make_campaign(tmp_path)
    port = free_port()
    command = [sys.executable, "-m", "adjudge", "serve", str(campaign), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        file = campaign.with_suffix(".links.tsv")
        assert process.stdout is not None
        assert select.select([process.stdout], [], [], PATIENCE)[0], "it prints nothing"
        begun = process.stdout.readline() + process.stdout.readline()
        # Nothing was imported for this process beforehand, and it serves as the others do.
        anna = Client(f"http://127.0.0.1:{port}")
        assert anna.enter(rows(file)[1][2].partition("#")[2]).status == 200
        assert anna.work()["task"]
        assert anna.get("/work").status == 200
        anna.connection.close()
        os.kill(process.pid, 15)
        printed, errors = process.communicate(timeout=120)
    finally:
        process.kill()
    assert "enter#" not in begun + printed + errors
    assert str(file) in begun
    assert [row[1] for row in rows(file)][1] == "anna"
