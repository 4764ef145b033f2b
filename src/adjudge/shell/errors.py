"""How the command line reports errors: one sentence on standard error and an exit code."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from adjudge.table.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells count it."""
# Parameters of commands that are input files.
_FILE_PARAMETERS = ("source", "files", "runs", "gold", "texts", "before", "after")
_FILES_SHOWN = 3


def fail(message: str, code: int) -> NoReturn:
    """Print the message as one line on standard error, and exit."""
    print(f"adjudge: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(code)


def fail_on_wrong_call(fault: Exception) -> None:
    """Exit with a message if the error is a wrong option or argument; otherwise return."""
    explain = getattr(fault, "format_message", None)
    if explain is None:
        return
    context = getattr(fault, "ctx", None)
    path = "adjudge" if context is None else context.command_path
    if type(fault).__name__ == "NoArgsIsHelpError":
        print(explain(), end="")
        sys.exit(2)
    # typer ends its messages with a period, and starts some with the name of a Python error.
    message = explain().replace("Value error, ", "").rstrip(". \n")
    fail(f"{message} (see '{path} --help')", 2)


def ignore_closed_pipe() -> int:
    """Ignore that the reader of standard output has gone, as with `| head`; nothing more is flushed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


@contextmanager
def files_named(arguments: Mapping[str, Any]) -> Iterator[None]:
    """Let errors about the data start with the names of the files that the command was given."""
    try:
        yield
    except DataError as fault:
        files = _given_files(arguments)
        if not files or any(name in str(fault) for name in files):
            raise
        more = f" and {len(files) - _FILES_SHOWN} more" if len(files) > _FILES_SHOWN else ""
        raise DataError(f"{', '.join(files[:_FILES_SHOWN])}{more}: {fault.args[0]}") from fault


def _given_files(arguments: Mapping[str, Any]) -> list[str]:
    values = [arguments.get(name) for name in _FILE_PARAMETERS]
    paths = [path for value in values for path in (value if isinstance(value, list) else [value])]
    return [str(path) for path in paths if isinstance(path, Path)]
