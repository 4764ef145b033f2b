"""One declaration makes the command and the Python function: every setting is in both, unless it says otherwise."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, Literal

import pytest

import adjudge
from adjudge.readers.options import ReadOptions
from adjudge.shell.declare import COMMANDS, settings_of
from adjudge.shell.line import command_tree, settings_on_line
from adjudge.shell.reference import commands
from adjudge.table.errors import UsageError, in_python, on_command_line, param
from adjudge.table.settings import option

TYPED = dict(commands(command_tree()))
IN_PYTHON = [name for name in COMMANDS if name in adjudge.__all__]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_setting_is_an_option_with_its_help(name: str) -> None:
    shown = {parameter.name: parameter for parameter in TYPED[name].params}
    for setting in settings_on_line(COMMANDS[name]):
        assert shown[setting.name].help.startswith(on_command_line(setting.option.help)), setting.name
        assert setting.option.help.endswith((".", "?")), setting.name


@pytest.mark.parametrize("name", IN_PYTHON)
def test_every_setting_is_a_keyword_with_its_default_and_help(name: str) -> None:
    function = getattr(adjudge, name)
    parameters, documented = inspect.signature(function).parameters, inspect.getdoc(function) or ""
    for setting in COMMANDS[name].in_python:
        parameter = parameters[setting.name]
        assert parameter.annotation == setting.annotation
        assert parameter.default == setting.signature_default
        assert f"{setting.name}: " in documented
    assert "--" not in documented
    reading = {"reading"} if COMMANDS[name].reads else set()
    assert set(parameters) == {setting.name for setting in COMMANDS[name].in_python} | reading


@pytest.mark.parametrize("name", [name for name in IN_PYTHON if COMMANDS[name].reads])
def test_commands_and_functions_read_alike(name: str) -> None:
    shown = {parameter.name for parameter in TYPED[name].params}
    assert shown >= {setting.name for setting in settings_of(ReadOptions)}


def test_a_message_names_an_option_or_a_parameter() -> None:
    fault = UsageError(f"give {param('word_price')} or {param('with_scores')}=2, not --this")
    assert str(fault) == "give 'word_price' or 'with_scores'=2, not --this"
    assert fault.for_command_line() == "give --word-price or --with=2, not --this"
    assert in_python("nothing") == on_command_line("nothing") == "nothing"


@dataclass(frozen=True)
class _Settings:
    share: float = option(0.5, "A share.", above=0, unit="seconds")
    count: int | None = option(None, "A number.", least=2, most=9)
    kind: Literal["a", "b"] = option("a", "A kind.")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("share", 0, "'share' is 0, it must be more than 0 seconds"),
        ("share", "1", "'share' is '1', a number is needed"),
        ("count", 1, "'count' is 1, it must be 2 or more"),
        ("count", 10, "'count' is 10, it must be 9 or less"),
        ("count", 2.5, "'count' is 2.5, a whole number is needed"),
        ("kind", "c", "unknown kind 'c': choose one of a, b"),
    ],
)
def test_values_are_checked_by_type_and_bounds(name: str, value: Any, message: str) -> None:
    settings = {setting.name: setting for setting in settings_of(_Settings)}
    with pytest.raises(UsageError) as fault:
        settings[name].check(value)
    assert str(fault.value) == message
    settings[name].check(settings[name].default)
