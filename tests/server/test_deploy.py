"""What `deploy/` starts: its commands are taken from its files and run here, without containers and systemd."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.helpers.campaigns import make_campaign
from tests.helpers.serving import Server

DEPLOY = ROOT / "deploy"


def words_of(name: str) -> list[str]:
    """The arguments behind `adjudge` in a file."""
    text = (DEPLOY / name).read_text()
    if name == "Containerfile":
        found: list[str] = json.loads(re.findall(r"^CMD (\[.*\])$", text, re.MULTILINE)[0])
        return found
    if name == "compose.yaml":
        listed = re.findall(r"^    command: \[(serve.*)\]$", text, re.MULTILINE)[0]
        return [word.strip().strip('"') for word in listed.split(", ")]
    return shlex.split(re.findall(r"^ExecStart=\S+/adjudge (.*)$", text, re.MULTILINE)[0])


@pytest.mark.parametrize("name", ["Containerfile", "compose.yaml", "adjudge.service"])
def test_the_command_serves_a_folder_of_campaigns(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "campaigns"
    make_campaign(folder / "first")
    words = words_of(name)
    assert words[0] == "serve"
    assert words[1].endswith("/campaigns")
    # Nothing in the tests listens beyond this machine.
    local = {"0.0.0.0": "127.0.0.1", f"{words[1]}/links.tsv": str(folder / "links.tsv")}
    options = [re.sub(r"\$\{HOST[^}]*\}", "judge.example.org", local.get(word, word)) for word in words[2:]]
    with Server(folder, options=tuple(options)) as server:
        assert server.client().get("/health").text == "ok\n"
        assert "/first/enter#" in (folder / "links.tsv").read_text()
        base = "https://judge.example.org" if "--url" in words else "http://"
        assert server.links["overview"].startswith(base)


def test_the_image_installs_extras_that_exist() -> None:
    extras = re.findall(r"/source\[([a-z,]+)\]", (DEPLOY / "Containerfile").read_text())[0].split(",")
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(extras) <= set(known)


def test_the_readme_copies_an_example_that_exists() -> None:
    example = re.findall(r"cp -r \.\./(\S+)", (DEPLOY / "README.md").read_text())[0]
    assert (ROOT / example / "campaign.toml").is_file()
