"""The readers' options: held once, offered by every command that reads judgments."""

from __future__ import annotations

import gzip
import json
import os
import pty
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import pytest

from adjudge.readers.options import ReadOptions
from adjudge.shell.declare import COMMANDS as DECLARED
from adjudge.shell.line import _reading_settings, command_tree, settings_on_line
from adjudge.shell.reading import Reading
from adjudge.shell.reference import commands
from adjudge.table.errors import UsageError
from tests.conftest import Run, assert_explained
from tests.helpers.tables import command, ranking_rows, write_table
from tests.helpers.warm_command import PATIENCE

COMMANDS = dict(commands(command_tree()))
READING = ("agree", "audit", "check", "gold", "import", "meta", "parity", "plan", "rank", "report", "tournament")


@pytest.mark.parametrize("option", fields(ReadOptions), ids=lambda option: option.name)
def test_every_field_says_what_it_is_for(option: object) -> None:
    assert option.metadata["option"].help.endswith(".")  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", READING)
def test_every_command_that_reads_judgments_offers_every_option(name: str) -> None:
    offered = {parameter.name for parameter in COMMANDS[name].params}
    assert offered >= {"format", *(field.name for field in fields(ReadOptions))}


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[Reading]:
    """How `import` would read, instead of reading."""
    seen: list[Reading] = []

    def keep(reading: Reading, source: object) -> None:
        seen.append(reading)
        raise UsageError("enough")

    monkeypatch.setattr(Reading, "_read", keep)
    return seen


def test_what_is_typed_reaches_the_readers_in_their_types(readings: list[Reading]) -> None:
    typed = "-f appraise -p cs-en --human ref --rank-columns a,b --batches one --batches two --stacked 2"
    command("import", "x", "-o", "y.csv", *typed.split())
    options = ReadOptions(
        human="ref", pair="cs-en", rank_columns=("a", "b"), batches=(Path("one"), Path("two")), stacked=2
    )
    assert readings == [Reading("appraise", "cs-en", options)]


def test_nothing_typed_gives_the_defaults(readings: list[Reading]) -> None:
    command("import", "x", "-o", "y.csv")
    assert readings == [Reading(None, None, ReadOptions())]


def test_few_options_mean_something_else_in_a_command() -> None:
    """Who read a table with an option for one command gives the same one to the next."""
    readers = {setting.name for setting in _reading_settings()}
    reading = {name: declared for name, declared in DECLARED.items() if declared.reads}
    own = {name: {each.name for each in settings_on_line(declared)} & readers for name, declared in reading.items()}
    # A human that must be named, formats of several files, sizes of a plan, a metric's name.
    assert {name: found for name, found in own.items() if found} == {
        "parity": {"human"},
        "compare": {"format"},
        "meta": {"format", "lower_is_better"},
        "plan": {"systems", "annotators"},
    }


def test_an_option_of_the_command_itself_takes_the_place_of_the_readers_one(readings: list[Reading]) -> None:
    assert [parameter.name for parameter in COMMANDS["plan"].params].count("annotators") == 1
    command("plan", "--annotators", "3", "--like", "x")
    assert readings == [Reading()]


def piped(words: Sequence[str], text: bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "adjudge", *words], input=text, capture_output=True, check=False, timeout=PATIENCE
    )


def test_a_dash_is_standard_input_by_pipe_and_by_file(tmp_path: Path) -> None:
    table = write_table(tmp_path / "judgments.csv", ranking_rows())
    wanted = command("rank", table, "--method", "wins", "--json").json["systems"]
    by_pipe = piped(["rank", "-", "--method", "wins", "--json"], gzip.compress(table.read_bytes()))
    assert json.loads(by_pipe.stdout)["systems"] == wanted
    with table.open("rb") as file:
        call = [sys.executable, "-m", "adjudge", "rank", "-", "--method", "wins", "--json"]
        by_file = subprocess.run(call, stdin=file, capture_output=True, check=True, timeout=PATIENCE)
    assert json.loads(by_file.stdout)["systems"] == wanted


def test_the_format_of_standard_input_is_recognised(tmp_path: Path) -> None:
    output = tmp_path / "counts.parquet"
    done = piped(["import", "-", "-o", str(output), "--json"], b"a b 10 2 3\na c 5 2 3\n")
    assert done.returncode == 0, done.stderr
    assert any("recognised as pairwise-counts" in note for note in json.loads(done.stdout)["notes"])


def test_a_terminal_is_no_standard_input_and_neither_are_two() -> None:
    main, terminal = pty.openpty()
    call = [sys.executable, "-m", "adjudge", "rank", "-"]
    done = subprocess.run(call, stdin=terminal, capture_output=True, text=True, check=False, timeout=PATIENCE)
    os.close(main)
    os.close(terminal)
    assert_explained(Run(done.returncode, done.stdout, done.stderr), names=("-: nothing is piped", "name a file"))
    assert_explained(command("rank", "-", "-"), code=2, names=("'-' is standard input",))


def test_results_record_how_a_table_was_read(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_bytes("segment,system,Анна,Борис\n1,A,80,70\n1,B,60,50\n".encode("cp1251"))
    options = ("--raters", "Анна,Борис", "--encoding", "cp1251")
    done = command("import", table, "-o", tmp_path / "read.csv", *options, "--json").json
    assert {name: done["settings"][name] for name in ("raters", "encoding")} == {
        "raters": "Анна,Борис",
        "encoding": "cp1251",
    }
    assert "|encoding:cp1251|" in done["signature"]
    assert [column["taken_for"] for column in done["columns"]] == ["score by Анна", "score by Борис"]
