"""The catalogue states only known facts, and its entries can be used."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from pathlib import Path

import pytest

from adjudge.datasets.catalogue import DataSet, catalogue, data_folder, find_set
from adjudge.readers.registry import FORMATS
from adjudge.shell.line import command_tree
from adjudge.shell.reference import commands
from tests.conftest import assert_explained
from tests.helpers.tables import command

SETS = list(catalogue().values())
COMMANDS = dict(commands(command_tree()))


@pytest.mark.parametrize("dataset", SETS, ids=lambda dataset: dataset.name)
def test_every_entry_is_whole(dataset: DataSet) -> None:
    assert re.fullmatch(r"[a-z0-9-]+", dataset.name)
    assert dataset.format in FORMATS
    assert dataset.files
    assert all(url.startswith(("https://", "http://www.statmt.org/")) for url in (dataset.page, *urls(dataset)))
    assert (dataset.found_in is None) == (dataset.probe is None)
    for file in dataset.files:
        assert not Path(file.path).is_absolute()
        assert ".." not in Path(file.path).parts
        assert (file.bytes is None) == (file.sha256 is None)
        assert file.sha256 is None or re.fullmatch(r"[0-9a-f]{64}", file.sha256)


def urls(dataset: DataSet) -> list[str]:
    return [url for file in dataset.files for url in (file.url, *file.mirrors)]


@pytest.mark.parametrize("dataset", SETS, ids=lambda dataset: dataset.name)
def test_addresses_on_github_name_a_commit(dataset: DataSet) -> None:
    """A checksum holds only for an address whose content cannot change."""
    for url in urls(dataset):
        if "github" in url:
            assert re.search(r"/[0-9a-f]{40}[/.]", url)
    for file in dataset.files:
        assert file.sha256 is None or "/raw.githubusercontent.com/" in file.url


@pytest.mark.parametrize("dataset", SETS, ids=lambda dataset: dataset.name)
def test_the_command_to_try_can_be_typed(dataset: DataSet) -> None:
    program, verb, *words = shlex.split(dataset.command_in("somewhere"))
    assert program == "adjudge"
    known = {option for param in COMMANDS[verb].params for option in param.opts}
    assert {word for word in words if word.startswith("--")} <= known
    assert "{" not in dataset.command_in("somewhere")
    if dataset.format in FORMATS and verb not in ("replicate", "meta"):
        assert dataset.format in words


AT_HAND = [dataset for dataset in SETS if dataset.found_in and any(file.sha256 for file in dataset.files)]


@pytest.mark.parametrize("dataset", AT_HAND, ids=lambda dataset: dataset.name)
def test_released_files_at_hand_have_the_recorded_checksums(dataset: DataSet, data: Path) -> None:
    folder = data / str(dataset.found_in)
    if not folder.is_dir():
        pytest.skip(f"the released files of {dataset.name} are not at {folder}")
    recorded = {folder / file.path: file for file in dataset.files if file.sha256 is not None}
    at_hand = [path for path in recorded if path.exists()]
    # A folder without any of its files would mean that the catalogue names them wrongly.
    assert at_hand
    for path in at_hand:
        assert hashlib.sha256(path.read_bytes()).hexdigest() == recorded[path].sha256
        assert path.stat().st_size == recorded[path].bytes


def test_the_folder_is_what_the_environment_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    monkeypatch.delenv("ADJUDGE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    assert data_folder() == Path("/home/somebody/.cache/adjudge/data")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert data_folder() == tmp_path / "adjudge" / "data"
    monkeypatch.setenv("ADJUDGE_DATA", "released")
    assert data_folder() == Path("released")


def test_the_commands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ADJUDGE_DATA", str(tmp_path))
    shown = command("data", "list")
    assert shown.code == 0
    assert all(name in shown.out for name in catalogue())
    plain = command("data", "list", "--json").json
    assert [part["name"] for part in plain["sets"]] == list(catalogue())
    assert {part["folder"] for part in plain["sets"]} == {None}
    details = command("data", "list", "suboptimal", "wmt10")
    assert "not known; see the page" in details.out
    assert "recorded for 0 of 1 files" in details.out
    assert "adjudge data get wmt10" in details.out
    assert_explained(command("data", "list", "wmt1"), code=2, names=("unknown data set 'wmt1'", "did you mean"))
    assert_explained(command("data", "get", "wmt99"), code=2, names=("unknown data set 'wmt99'",))


def test_get_takes_a_copy_and_refuses_another_content(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ADJUDGE_DATA", str(tmp_path / "data"))
    copy = tmp_path / "copy"
    copy.write_text("A B 1 2 3\n")
    wrong = command("data", "get", "wmt21-wikipedia", "--from", copy)
    assert_explained(wrong, names=("copy", "not the file that was published", "nothing was kept"))
    copied = command("data", "get", "wmt12", "--from", copy, "--json").json
    assert copied["files"][0]["confirmed"] is False
    assert copied["folder"] == str(tmp_path / "data" / "wmt12")
    assert json.loads((tmp_path / "data" / "wmt12" / ".adjudge-data.json").read_text())["files"]
    assert command("data", "list", "wmt12", "--json").json["sets"][0]["folder"] == copied["folder"]


def test_find_set_names_the_nearest() -> None:
    assert find_set("mqm-ted").format == "mqm"
