"""docs/papers.md: every command that it names runs, and shows what the page says that it shows."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from adjudge.shell.line import app
from tests.conftest import ROOT
from tests.helpers.example_files import write_all

PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and "| shows |" not in line
]
ITEMS = [row for row in ROWS if row[4] in ("yes", "partly", "no")]
ADVICE = [row for row in ROWS if row not in ITEMS]
RUN = sorted(
    {(row[2].strip("`"), row[3].strip("`")) for row in ITEMS if row[2] != "–"}
    | {(row[1].strip("`"), row[2].strip("`")) for row in ADVICE}
)
RELEASED = Path(os.environ.get("ADJUDGE_DATA", ROOT.parent / "shared" / "data"))
FAULTS = """\
Mayor opens a new bridge
"We are very glad about it, said the mayor on Monday.
"Nobody expected this," she said.
The clients" files were lost in the fire.
He was monitorigin the river for several weeks.
Thisis the second bridge in the town .
The third one will be built in the next year
Photo: Getty Images

Farmers wait for rain
The fields are dry, and the farmers are worried.
'We have never seen this before,' one of them said.
12 March 2020

Museum shows old maps
The maps are more than two hundred years old.

However, he said that nothing had been decided so far.
The committee will meet again on Friday.
"""
UNEQUAL = "annotator,system,document,segment,score\n" + "".join(
    f"p{who},{system},d{segment // 5},{segment},{75 - 20 * (who % 2) + (segment * ord(system) + who**2) % 11}\n"
    for who in range(8)
    for segment in range(20)
    for system in ("AB"[who % 2], "C", "D")
)
"""Strict people alone judge B, the others alone A."""
SIMULATED = (
    "-o da.parquet --protocol da --systems 5 --annotators 8 --tasks 16 --documents 10 --seed 3",
    "-o rr.parquet --systems 6 --annotators 8 --blocks 300 --sources source.txt --seed 3",
    "-o cyclic.parquet --systems 8 --annotators 6 --blocks 80 --spread 0.1 --seed 5",
)


def prepare(folder: Path) -> None:
    """Write the files that the commands of the page read; the working folder is `folder`."""
    write_all(folder)
    (folder / "faults.en.txt").write_text(FAULTS)
    (folder / "unequal.csv").write_text(UNEQUAL)
    for options in SIMULATED:
        assert CliRunner().invoke(app, ["simulate", *shlex.split(options)]).exit_code == 0


def holds(output: str, shown: str) -> bool:
    """Whether the output has these words (in quotation marks), or something under this key."""
    if shown.startswith('"'):
        return shown.strip('"') in output
    return _has(json.loads(output), shown.split("."))


def _has(value: Any, path: list[str]) -> bool:
    if isinstance(value, list):
        return any(_has(part, path) for part in value)
    if not path:
        return value not in (None, "", {})
    return isinstance(value, dict) and path[0] in value and _has(value[path[0]], path[1:])


@cache
def _run(command: str) -> str:
    run = CliRunner().invoke(app, [*shlex.split(command.replace("$ADJUDGE_DATA", str(RELEASED))), "--json"])
    assert run.exit_code == 0, run.output
    return run.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("items")
    before = Path.cwd()
    os.chdir(made)
    prepare(made)
    os.chdir(before)
    return made


@pytest.mark.parametrize(("command", "shown"), RUN)
def test_a_command_shows_what_the_page_says(
    command: str, shown: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "$ADJUDGE_DATA" in command and not RELEASED.is_dir():
        pytest.skip(f"released judgments are not at {RELEASED}; set ADJUDGE_DATA to run this test")
    monkeypatch.chdir(folder)
    assert holds(_run(command), shown)


def test_the_page_counts_its_items() -> None:
    counts = Counter(row[4] for row in ITEMS)
    said = re.search(r"Of (\d+) items, (\d+) are done whole, (\d+) partly and (\d+) not", PAGE)
    assert said is not None
    assert [int(number) for number in said.groups()] == [len(ITEMS), counts["yes"], counts["partly"], counts["no"]]


def test_every_item_has_a_command_or_a_reason() -> None:
    assert [row for row in ITEMS if row[4] == "yes" and not row[2].startswith("`")] == []
    assert [row for row in ITEMS if row[4] != "yes" and not row[5].strip(" |")] == []
