"""What the command line prints and writes: results, progress, and errors as one sentence with an exit code."""

from __future__ import annotations

import codecs
import errno
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from adjudge.table.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from adjudge.reports.page import ReportPage
    from adjudge.table.results import Result


def write_output(
    results: Mapping[str, Result],
    *,
    json: bool,
    output: Path | None,
    summary: Result | None = None,
    details: bool = True,
) -> None:
    """Print or write results: the object itself for one pair, `{"pairs": {...}}` for several.

    A summary over several pairs follows them, in JSON under its own name.
    """
    from adjudge.reports.files import as_object, to_json, write_results
    from adjudge.table.files import write_text

    shown = results if summary is None else {**results, "all pairs": summary}
    if output is None:
        if json:
            print_json(as_object(results, summary))
        else:
            _print(shown, details=details)
        return
    if json or output.suffix.lower() == ".json":
        write_text(output, to_json(as_object(results, summary)) + "\n")
        tell_written(output)
        return
    for path in write_results(shown, output):
        tell_written(path)


def print_json(value: dict[str, Any]) -> None:
    """Print one JSON object; characters that the terminal cannot print are escaped."""
    from adjudge.reports.files import to_json

    print(to_json(value, plain=not is_unicode(sys.stdout)))


def _print(results: Mapping[str, Result], *, details: bool) -> None:
    from rich.console import Console

    from adjudge.reports.files import are_several
    from adjudge.reports.page import print_result

    # Output that goes to a file or a pipe is not folded at 80 characters.
    console = Console(width=None if sys.stdout.isatty() else 200)
    for name, result in results.items():
        print_result(result, console, heading=name if are_several(results) else "", details=details)


def write_page(page: ReportPage, path: Path) -> None:
    """Write a page as HTML or PDF, by file extension, and print its path."""
    from adjudge.reports.files import write_page as write

    write(page, path)
    tell_written(path)


def tell_written(path: Path) -> None:
    """Say that a file was written."""
    print(f"wrote {path}", file=sys.stderr)


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """A function that shows progress on a terminal, on a line that the next call replaces."""
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True).status("starting") as status:
        yield lambda what: status.update(escape(what))


# Substitutes for characters that the terminal cannot print.
_SUBSTITUTES = {
    "–": "-", "—": "-", "−": "-", "‑": "-", "…": "...", "×": "x", "≥": ">=", "≤": "<=", "≈": "~", "±": "+-", "→": "->",
    "’": "'", "‘": "'", "“": '"', "”": '"', "·": ".", "•": "*", "\u00a0": " ", "\u202f": " ", "─": "-", "│": "|",
    "┄": ".", "●": "*", "○": "o", "◆": "#", "◇": "+",
}  # fmt: skip
_ERROR_HANDLER = "adjudge.substitute"


def allow_any_text() -> None:
    """Let standard output and standard error print any text, even on terminals without Unicode."""
    codecs.register_error(_ERROR_HANDLER, _substitute)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None and not is_unicode(stream):
            reconfigure(errors=_ERROR_HANDLER)


def is_unicode(stream: TextIO) -> bool:
    """Whether the stream writes Unicode; a stream without an encoding, as in tests, does."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return encoding.lower().replace("-", "").replace("_", "").startswith("utf")


def _substitute(fault: UnicodeError) -> tuple[str, int]:
    if not isinstance(fault, UnicodeEncodeError):
        raise fault
    characters = fault.object[fault.start : fault.end]
    return "".join(_SUBSTITUTES.get(character, "?") for character in characters), fault.end


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


# A full disk, a quota, a limit on the size of files, a device that fails, and what is not open for writing.
OUTPUT_FAULTS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)
# What systems say of a file or folder, whoever asked them: nothing that is a fault of adjudge.
FILE_FAULTS = (
    errno.ENAMETOOLONG, errno.EACCES, errno.EPERM, errno.ELOOP, errno.EIO, errno.EROFS, errno.ENOSPC, errno.EDQUOT,
    errno.EMFILE, errno.ENFILE, errno.ESTALE,
)  # fmt: skip


def say_not_written(fault: OSError) -> str:
    """The message where standard output takes no more."""
    return f"standard output cannot be written ({fault.strerror or fault}); make room, or choose a file with -o"


def give_standard_output() -> None:
    """Let a program that was started without standard output or standard error, as by `>&-`, print to nowhere."""
    for number, name in ((1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            # Else the next file that is opened would get its number, and what is printed.
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            setattr(sys, name, os.fdopen(number, "w", encoding="utf-8", closefd=False))


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
