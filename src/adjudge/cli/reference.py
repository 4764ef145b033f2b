"""The command reference, `docs/commands.md`, made from the commands themselves: `python -m adjudge.cli.reference`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

# The command-line library keeps its classes to itself.
Command = Any
Parameter = Any

HEAD = """# Commands

Commands print readable tables; `--json` gives one JSON object on standard output instead, for machines.
A fault is explained in one sentence on standard error. The exit code is 0 on success, 1 on a fault in the data,
2 on a wrong call. `adjudge COMMAND --help` shows what follows here.

This page is made by `make docs`; a test checks that it is current.
"""


def reference() -> str:
    """The whole page."""
    from adjudge.cli.app import command_tree

    return "\n".join([HEAD, *(_page(name, command) for name, command in commands(command_tree()))])


def commands(command: Command, prefix: str = "") -> Iterator[tuple[str, Command]]:
    """All commands that are not hidden, with groups taken apart."""
    for name, member in getattr(command, "commands", {}).items():
        if member.hidden:
            continue
        if hasattr(member, "commands"):
            yield from commands(member, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", member


def _page(name: str, command: Command) -> str:
    summary, _, example = (command.help or "").partition("Example:")
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    usage = " ".join([f"adjudge {name}", *(_usage(argument) for argument in arguments), "[OPTIONS]"])
    lines = [f"## {name}", "", " ".join(summary.split()), "", "```", usage, "```", ""]
    if example:
        lines += [f"Example: `{' '.join(example.split())}`", ""]
    rows = [_row(parameter) for parameter in command.params if parameter.name != "help"]
    if rows:
        lines += ["| option | default | meaning |", "|---|---|---|", *rows, ""]
    return "\n".join(lines)


def _usage(argument: Parameter) -> str:
    name = argument.metavar or (argument.name or "").upper()
    name = name if argument.nargs == 1 else f"{name}..."
    return name if argument.required else f"[{name}]"


def _row(parameter: Parameter) -> str:
    shown = (
        _usage(parameter)
        if parameter.param_type_name == "argument"
        else ", ".join([*parameter.opts, *parameter.secondary_opts])
    )
    default = "needed" if parameter.required else _default(parameter)
    return f"| `{shown}` | {default} | {_cell(getattr(parameter, 'help', None) or '')} |"


def _default(parameter: Parameter) -> str:
    value = parameter.default
    if value is None or value is False or callable(value) or value == "" or not _plain(value):
        return ""
    if value is True:
        return "yes"
    return f"`{value}`"


def _plain(value: object) -> bool:
    # Enumerations and sentinels of the library have no form that a user would type.
    return isinstance(value, str | int | float) or hasattr(value, "__fspath__")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(reference())
