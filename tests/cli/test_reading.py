"""The readers' options: held once, offered by every command that reads judgments."""

from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from adjudge.cli.app import command_tree
from adjudge.cli.reading import Reading, takes_reading
from adjudge.cli.reference import commands
from adjudge.formats import ReadOptions

COMMANDS = dict(commands(command_tree()))
READING = ("agree", "audit", "check", "gold", "import", "meta", "parity", "plan", "rank", "report", "tournament")


def through_the_command_line(command: object, *words: str) -> None:
    small = typer.Typer()
    small.command()(takes_reading(command))  # type: ignore[arg-type]
    run = CliRunner().invoke(small, list(words), catch_exceptions=False)
    assert run.exit_code == 0, run.output


@pytest.mark.parametrize("option", fields(ReadOptions), ids=lambda option: option.name)
def test_every_field_says_what_it_is_for(option: object) -> None:
    assert str(option.metadata["help"]).endswith(".")  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", READING)
def test_every_command_that_reads_judgments_offers_every_option(name: str) -> None:
    offered = {parameter.name for parameter in COMMANDS[name].params}
    assert offered >= {"format", *(field.name for field in fields(ReadOptions))}


def test_what_is_typed_reaches_the_readers_in_their_types() -> None:
    readings: list[Reading] = []

    def command(file: Path, reading: Reading) -> None:
        readings.append(reading)

    typed = "x -f appraise -p cs-en --human ref --rank-columns a,\\ b --batches one --batches two --stacked 2"
    through_the_command_line(command, *typed.replace("\\ ", "").split())
    options = ReadOptions(
        human="ref", pair="cs-en", rank_columns=("a", "b"), batches=(Path("one"), Path("two")), stacked=2
    )
    assert readings == [Reading("appraise", "cs-en", options)]


def test_nothing_typed_gives_the_defaults() -> None:
    readings: list[Reading] = []
    through_the_command_line(lambda: None)

    def command(reading: Reading) -> None:
        readings.append(reading)

    through_the_command_line(command)
    assert readings == [Reading(None, None, ReadOptions())]


def test_an_option_of_the_command_itself_takes_the_place_of_the_readers_one() -> None:
    calls: list[tuple[int, Reading]] = []

    def command(reading: Reading, annotators: Annotated[int, typer.Option(help="People who judge.")] = 10) -> None:
        calls.append((annotators, reading))

    assert list(inspect.signature(takes_reading(command)).parameters).count("annotators") == 1
    through_the_command_line(command, "--annotators", "3")
    assert calls == [(3, Reading())]
