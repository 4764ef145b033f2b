"""The command `adjudge`: one short file per verb. Nothing is computed here, and heavy modules are imported on use."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

# One thread of linear algebra per process is faster on a busy machine than two that wait for each other.
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")


STOPPED = 130
"""The exit code after Ctrl-C, as shells count it."""


def main() -> None:
    """Run the command; explained faults become one sentence on standard error and an exit code."""
    try:
        code = _run()
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = STOPPED
    except BrokenPipeError:
        code = _nobody_reads()
    except SystemExit as end:
        # The library behind the tables ends like this when the reader has gone.
        if not isinstance(end.__context__, BrokenPipeError):
            raise
        code = _nobody_reads()
    if code == STOPPED:
        _fail("stopped", STOPPED)
    if code:
        sys.exit(code)


def _run() -> int:
    from adjudge.cli.encoding import print_everywhere
    from adjudge.core.errors import AdjudgeError

    print_everywhere()
    try:
        from adjudge.cli.app import app

        return app(standalone_mode=False) or 0
    except AdjudgeError as fault:
        _fail(f"{fault}", fault.exit_code)
    except BrokenPipeError:
        raise
    except Exception as fault:
        _explain_call(fault)
        if os.environ.get("ADJUDGE_DEBUG"):
            raise
        kind = type(fault).__name__
        _fail(f"a fault of adjudge itself ({kind}: {fault}); set ADJUDGE_DEBUG=1 for details and report it", 1)


def _nobody_reads() -> int:
    """The reader of our output has gone, as with `| head`: not a fault, and nothing is to be flushed any more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _explain_call(fault: Exception) -> None:
    """A wrong option or argument as one sentence; anything else is none of this."""
    explain = getattr(fault, "format_message", None)
    if explain is None:
        return
    context = getattr(fault, "ctx", None)
    path = "adjudge" if context is None else context.command_path
    if type(fault).__name__ == "NoArgsIsHelpError":
        print(explain(), end="")
        sys.exit(2)
    # The library behind the options ends its sentences, and begins some with the name of a Python error.
    sentence = explain().replace("Value error, ", "").rstrip(". \n")
    _fail(f"{sentence} (see '{path} --help')", 2)


def _fail(sentence: str, code: int) -> NoReturn:
    one_line = " ".join(sentence.split())
    print(f"adjudge: {one_line}", file=sys.stderr)
    sys.exit(code)
