"""The command `adjudge`: one short file per verb. Nothing is computed here, and heavy modules are imported on use."""

from __future__ import annotations

import os
import sys

# One thread of linear algebra per process is faster on a busy machine than two that wait for each other.
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")


def main() -> None:
    """Run the command; explained faults become one sentence on standard error and an exit code."""
    from adjudge.cli.app import app
    from adjudge.core.errors import AdjudgeError

    try:
        code = app(standalone_mode=False)
        if code:
            sys.exit(code)
    except AdjudgeError as fault:
        _fail(f"{fault}", fault.exit_code)
    except BrokenPipeError:
        # The reader of our output has gone (as with `| head`): not a fault.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except KeyboardInterrupt:
        _fail("stopped", 130)
    except Exception as fault:
        _explain_call(fault)
        if os.environ.get("ADJUDGE_DEBUG"):
            raise
        kind = type(fault).__name__
        _fail(f"a fault of adjudge itself ({kind}: {fault}); set ADJUDGE_DEBUG=1 for details and report it", 1)


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


def _fail(sentence: str, code: int) -> None:
    one_line = " ".join(sentence.split())
    print(f"adjudge: {one_line}", file=sys.stderr)
    sys.exit(code)
