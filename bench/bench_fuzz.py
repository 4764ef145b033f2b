"""Fuzzing: damaged inputs for every reader. No traceback, no hang (20 s of CPU), none above 2 GB, no silent loss.

Whole files of every kind (judgments, texts, scores of metrics, post-edits, campaigns, tasks) are damaged by bytes, by
cells and by lines, and packed; in files of forty records single ones are damaged, to see whether anything is lost. A
process of its own reads them; this one watches it, so that a crash, a hang or too much memory costs one input only.

    python -m bench fuzz                                               2,000 inputs
    ADJUDGE_FUZZ=100000 ADJUDGE_FUZZ_SEED=2 python -m bench fuzz
    ADJUDGE_FUZZ=100000 ADJUDGE_FUZZ_SECONDS=600 python -m bench fuzz    as many as there is time for
    ADJUDGE_FUZZ_ONLY=4711 ADJUDGE_FUZZ_SEED=2 python -m bench fuzz    this input again, in this process
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.fuzz_checks import TooLongError, outcome
from bench.fuzz_inputs import make_input

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

INPUTS = int(os.environ.get("ADJUDGE_FUZZ", "2000"))
SEED = int(os.environ.get("ADJUDGE_FUZZ_SEED", "1"))
SECONDS = float(os.environ.get("ADJUDGE_FUZZ_SECONDS", "inf"))
ONLY = os.environ.get("ADJUDGE_FUZZ_ONLY")
MOST_SECONDS = 20
PATIENCE = 300
MOST_BYTES = 2_000_000_000
FINE = ("read", "explained")
# Kinds of faults are printed so many times each.
MOST_PRINTED = 5
_PAGE = os.sysconf("SC_PAGE_SIZE")


def run() -> None:
    """Fuzz all readers and print a table of what came out."""
    # Inputs are small: more threads would only wait for each other.
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    if ONLY is not None:
        fuzzed = make_input(int(ONLY), SEED)
        with tempfile.TemporaryDirectory() as folder:
            print(fuzzed, *outcome(fuzzed, Path(folder)), sep="\n")
        return
    began = time.monotonic()
    outcomes: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        watched = _Watched(Path(folder))
        while time.monotonic() < began + SECONDS and (result := watched.next()) is not None:
            number, kind, details = result
            target = make_input(number, SEED).target.replace("#", "/").split("/")[0]
            outcomes[target, kind] += 1
            if kind not in FINE and sum(n for (_, other), n in outcomes.items() if other == kind) <= MOST_PRINTED:
                print(f"input {number}: {kind}\n{make_input(number, SEED)}\n{details}", flush=True)
        watched.process.kill()
    _print_table(outcomes, time.monotonic() - began)


def _print_table(outcomes: Counter[tuple[str, str]], seconds: float) -> None:
    total = sum(outcomes.values())
    kinds = [*FINE, *sorted({kind for _, kind in outcomes} - set(FINE))]
    print(f"{total:,} inputs in {seconds:.0f} s, seed {SEED}")
    print(f"{'':20}" + "".join(f"{kind:>13}" for kind in kinds))
    for target in sorted({target for target, _ in outcomes}):
        print(f"{target:20}" + "".join(f"{outcomes[target, kind]:13,}" for kind in kinds))
    sums = Counter(kind for (_, kind), count in outcomes.items() for _ in range(count))
    print(f"{'all':20}" + "".join(f"{sums[kind]:13,}" for kind in kinds))


class _Watched:
    """A process that reads one input after the other; it is started again when an input ends it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.number = folder, 0
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, self.folder, self.number), daemon=True)
        self.process.start()
        theirs.close()
        self.waiting = time.monotonic()

    def next(self) -> tuple[int, str, str] | None:
        """What came of the next input; None after the last."""
        if self.number >= INPUTS:
            self.process.join(5)
            return None
        kind, details = self._result()
        self.number += 1
        if kind in ("hang", "crash", "too large"):
            self.process.kill()
            self.process.join()
            self._start()
        else:
            self.waiting = time.monotonic()
        return self.number - 1, kind, details

    def _result(self) -> tuple[str, str]:
        while not self.connection.poll(0.2):
            if self._resident() > MOST_BYTES:
                return "too large", "more than 2 GB"
            # The reading process stops itself; this is for one that cannot even do that, or that waits.
            if time.monotonic() > self.waiting + PATIENCE:
                return "hang", "not to be interrupted"
        try:
            result: tuple[str, str] = self.connection.recv()
        except EOFError:
            self.process.join()
            return "crash", f"exit code {self.process.exitcode}"
        return result

    def _resident(self) -> int:
        try:
            return int(Path(f"/proc/{self.process.pid}/statm").read_text(encoding="ascii").split()[1]) * _PAGE
        except OSError:
            return 0


def _serve(connection: Connection, folder: Path, first: int) -> None:
    """Read all inputs from the first on, and send what came of each."""

    def too_long(*_: Any) -> None:
        raise TooLongError

    signal.signal(signal.SIGPROF, too_long)
    for number in range(first, INPUTS):
        fuzzed = make_input(number, SEED)
        # Seconds of CPU, so that a busy machine is not taken for a hang.
        signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
        try:
            result = outcome(fuzzed, folder)
        except TooLongError:
            result = ("hang", traceback.format_exc(limit=-4))
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        connection.send(result)
