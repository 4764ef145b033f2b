"""The program `adjudge`: it runs a command, and explained faults become one sentence and an exit code."""

from __future__ import annotations

import atexit
import os
import sys

# One thread of linear algebra per process is faster on a busy machine than two that wait for each other.
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")


class _Outcome:
    """Whether the command of this process has succeeded."""

    succeeded = False


@atexit.register  # before libraries register what they do at the end: what is registered first runs last
def _end_at_once() -> None:
    """End the process after a command without freeing its memory piece by piece, which takes a while."""
    if _Outcome.succeeded:
        sys.stderr.flush()
        os._exit(0)


def command() -> None:
    """`main` as a process of its own, which ends at once when it has succeeded."""
    main()
    if processes := sys.modules.get("adjudge.work.processes"):
        processes.end_processes()
    _Outcome.succeeded = True


def main() -> None:
    """Run the command; explained faults become one sentence on standard error and an exit code."""
    from adjudge.shell.output import INTERRUPTED, fail, give_standard_output, ignore_closed_pipe, say_not_written

    give_standard_output()
    try:
        code = _run()
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        code = ignore_closed_pipe()
    except SystemExit as end:
        # rich, which prints the tables, ends like this when the reader has gone.
        if not isinstance(end.__context__, BrokenPipeError):
            raise
        code = ignore_closed_pipe()
    except OSError as fault:
        if fault.filename is not None:
            raise
        # What was printed last is only now written.
        ignore_closed_pipe()
        fail(say_not_written(fault), 1)
    if code == INTERRUPTED:
        fail("stopped", INTERRUPTED)
    if code:
        sys.exit(code)


def _run() -> int:
    from adjudge.shell.output import (
        FILE_FAULTS,
        OUTPUT_FAULTS,
        allow_any_text,
        fail,
        fail_on_wrong_call,
        ignore_closed_pipe,
        say_not_written,
    )
    from adjudge.table.errors import AdjudgeError, explain_missing_module, shown

    allow_any_text()
    try:
        from adjudge.shell.line import command_tree

        return command_tree()(standalone_mode=False) or 0
    except AdjudgeError as fault:
        fail(fault.for_command_line(), fault.exit_code)
    except BrokenPipeError:
        raise
    except Exception as fault:
        if isinstance(fault, ModuleNotFoundError) and (missing := explain_missing_module(fault)):
            fail(str(missing), missing.exit_code)
        fail_on_wrong_call(fault)
        if isinstance(fault, OSError) and fault.filename is None and fault.errno in OUTPUT_FAULTS:
            ignore_closed_pipe()
            fail(say_not_written(fault), 1)
        if os.environ.get("ADJUDGE_DEBUG"):
            raise
        if isinstance(fault, OSError) and isinstance(fault.filename, str) and fault.errno in FILE_FAULTS:
            fail(f"{shown(fault.filename)}: cannot be used ({fault.strerror}); check the path and its rights", 1)
        kind = type(fault).__name__
        fail(f"a fault of adjudge itself ({kind}: {fault}); set ADJUDGE_DEBUG=1 for details and report it", 1)
