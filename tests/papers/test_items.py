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

import numpy as np
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

Orchestra plays by the lake
The orchestra played in the park near the lake
They drove though the park at night.
She bought a apple there from Zoltan Kovary.
Zoltán Kőváry sells fruit by the lake.
"""
UNEQUAL = "annotator,system,document,segment,score\n" + "".join(
    f"p{who},{system},d{segment // 5},{segment},{75 - 20 * (who % 2) + (segment * ord(system) + who**2) % 11}\n"
    for who in range(8)
    for segment in range(20)
    for system in ("AB"[who % 2], "C", "D")
)
"""Strict people alone judge B, the others alone A."""
CALIBRATION = "annotator,segment,system,kind,score\n" + "".join(
    f"p{who},{kind}{item},{system},{kind},"
    f"{50 + 6 * who * (kind == 'system') + (item * 7 + who * 3 + ord(system)) % 23}\n"
    for who in range(6)
    for kind in ("calibration", "system")
    for item in range(12)
    for system in "ABC"
)
"""Six people, each a little more lenient than the one before with items that are not for calibration."""
ANSWERS = np.random.default_rng(5).integers(0, 101, size=(4, 40, 4))
COPIED = "annotator,segment,system,score,target_text,rater_type,origlang,shown\n" + "".join(
    f"{who},{item},{system},{ANSWERS['abcd'.index(who.replace('b', 'a')), item, number]},"
    f"{'the same text' if item % 4 == 0 and system in 'YZ' else f'text {item} {system}'},expert,de,source\n"
    for who in "abcd"
    for item in range(40)
    for number, system in enumerate(("X", "Y", "Z", "human-A"))
)
"""Two people (a and b) with the same answers, two systems with equal texts in places, and stated conditions."""
TIED = "annotator,screen,segment,system,rank,source_text\n" + "".join(
    f"p{block % 4},{block},{block},{system},{rank},{'word ' * (3 + block % 9)}\n"
    for block in range(120)
    for system, rank in zip(
        "ABCD", (1 + block % 3, 1 + block % 3, 1 + (block * 7) % 4, 1 + (block * 5) % 4), strict=True
    )
)
"""A and B always share a rank."""
NEWS = {
    "sport": "team match goal season coach league player score final club",
    "money": "bank market price share trade profit budget tax loan growth",
    "weather": "rain storm wind flood snow river cold cloud heat drought",
}


def news(topics: str, documents: int) -> str:
    """Documents that talk of one topic each, in turn."""
    texts = []
    for number in range(documents):
        words = NEWS[topics.split()[number % len(topics.split())]].split()
        lines = [
            f"The {words[(number + i) % 10]} and the {words[(number * 3 + i * 2) % 10]} were here." for i in range(6)
        ]
        texts.append("\n".join(lines))
    return "\n\n".join(texts) + "\n"


SIMULATED = (
    "-o da.parquet --protocol da --systems 5 --annotators 8 --tasks 16 --documents 10 --seed 3",
    "-o rr.parquet --systems 6 --annotators 8 --blocks 300 --sources source.txt --seed 3",
    "-o cyclic.parquet --systems 8 --annotators 6 --blocks 80 --spread 0.1 --seed 5",
)


def prepare(folder: Path) -> None:
    """Write the files that the commands of the page read; the working folder is `folder`."""
    write_all(folder)
    (folder / "faults.en.txt").write_text(FAULTS)
    for name, content in (("unequal", UNEQUAL), ("calibration", CALIBRATION), ("copied", COPIED), ("tied", TIED)):
        (folder / f"{name}.csv").write_text(content)
    order = [f"system-0{number}\torder\t{number}" for number in range(1, 6)]
    (folder / "order.tsv").write_text("\n".join(["system\tmetric\tscore", *order]) + "\n")
    shown = [
        f"{who},{item},{name},{50 + 7 * number + (item * 13 + number * 5 + ord(who)) % 19},"
        f"{'reference' if who in 'ab' else 'source'}"
        for who in "abcd"
        for item in range(24)
        for number, name in enumerate("xyz")
    ]
    (folder / "shown.csv").write_text("\n".join(["annotator,segment,system,score,shown", *shown]) + "\n")
    (folder / "builders.csv").write_text("annotator,own_system\nc,X\nd,Y\n")
    (folder / "news.en.txt").write_text(news("sport sport money", 24) + "\n" + news("sport", 1))
    (folder / "corpus.en.txt").write_text(news("sport money weather", 60))
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
