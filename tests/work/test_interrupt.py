"""How a command with several processes ends, by itself or by Ctrl-C: no process is left, nothing is said of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

PATIENCE = 300.0
# A command whose tasks in other processes write down their process id and then wait.
WORK = """
import os, signal, sys, time
from pathlib import Path
from adjudge.shell import app as cli
from adjudge.work.tasks import map_tasks, workers
from adjudge.work import tasks

tasks.START_UP = tasks.HAND_OVER = 0.0
home = os.getpid()

def task(number):
    if os.getpid() != home:
        Path(sys.argv[1], str(os.getpid())).touch()
        time.sleep(600)
    sum(range(200_000))

def app(**_):
    with workers(jobs=3):
        map_tasks(task, range(50), what="tasks")

import adjudge.shell.line
adjudge.shell.line.command_tree = lambda: app
cli.main()
"""


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.05)


def ended(process: int) -> bool:
    """Whether a process is gone, or has ended and waits to be noticed."""
    status = Path(f"/proc/{process}/stat")
    try:
        return status.read_text().rpartition(") ")[2].startswith("Z")
    except OSError:
        return True


def holds_interrupts_back(process: int) -> bool:
    """Whether a process was started so that Ctrl-C does not reach it, not even while it imports modules."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    (blocked,) = (line.split()[1] for line in lines if line.startswith("SigBlk"))
    return bool(int(blocked, 16) >> (signal.SIGINT - 1) & 1)


# While processes start, an interrupt waits; it must not get lost.
EARLY = WORK.replace("def app", "from adjudge.work.processes import _interrupts_wait\n\ndef app").replace(
    "    with workers(jobs=3):\n",
    "    with _interrupts_wait():\n        Path(sys.argv[1], str(home)).touch()\n"
    "        while not Path(sys.argv[1], 'sent').exists():\n            time.sleep(0.01)\n"
    "    with workers(jobs=3):\n",
)


def test_an_interrupt_while_processes_start_is_heard_afterwards(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", EARLY, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    wait_for(lambda: len(list(tmp_path.iterdir())) == 1)
    process.send_signal(signal.SIGINT)
    (tmp_path / "sent").touch()
    output, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, output, errors) == (130, "", "adjudge: stopped\n")
    assert {file.name for file in tmp_path.iterdir()} == {str(process.pid), "sent"}, "no process was started"


# Libraries have threads that do not hold interrupts back; the signal may go to one of them.
ELSEWHERE = WORK.replace(
    "def app", "from threading import Thread\nfrom adjudge.work.processes import _interrupts_wait\n\ndef app"
).replace(
    "    with workers(jobs=3):\n",
    "    thread = Thread(target=time.sleep, args=(600,), daemon=True)\n    thread.start()\n"
    "    with _interrupts_wait():\n        signal.pthread_kill(thread.ident, signal.SIGINT)\n"
    "        for _ in range(20):\n            time.sleep(0.01)\n        print('started', flush=True)\n"
    "    print('not heard', flush=True)\n    with workers(jobs=3):\n",
)


def test_an_interrupt_that_another_thread_receives_waits_too(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, str(tmp_path)], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "started\n", "adjudge: stopped\n")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system has no /proc to look for processes in")
def test_an_interrupt_ends_the_command_and_its_workers(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WORK, str(tmp_path)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, env=dict(os.environ)
    )
    wait_for(lambda: len(list(tmp_path.iterdir())) == 2)
    workers = [int(file.name) for file in tmp_path.iterdir()]
    blocked = [holds_interrupts_back(worker) for worker in workers]
    # As a terminal does it: to the command and to all processes that it has started.
    os.killpg(process.pid, signal.SIGINT)
    output, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, output, errors) == (130, "", "adjudge: stopped\n")
    assert blocked == [True, True]
    wait_for(lambda: all(ended(worker) for worker in workers))


# What a library has registered for the end happens, though the process does not clear its memory.
TO_THE_END = (
    WORK.replace("time.sleep(600)", "return")
    .replace("map_tasks(task, range(50)", "print('working')\n        map_tasks(task, range(50)")
    .replace("cli.main()", "import atexit\natexit.register(Path(sys.argv[1], 'end').touch)\ncli.command()")
)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system has no /proc to look for processes in")
def test_a_command_that_is_done_leaves_no_process_and_no_output_behind(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", TO_THE_END, str(tmp_path)], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "working\n", "")
    names = {file.name for file in tmp_path.iterdir()}
    assert "end" in names
    workers = [int(name) for name in names - {"end"}]
    assert workers
    wait_for(lambda: all(ended(worker) for worker in workers))
