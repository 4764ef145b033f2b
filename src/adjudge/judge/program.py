"""A program as a judge: it reads the prompt on standard input, and prints the answer."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import threading
from contextlib import suppress
from typing import Any

from adjudge.core.errors import UsageError, shown
from adjudge.judge.clients import MOST_BYTES, EndpointError, NoAnswerError, start_timer


class Program:
    """A program that reads the prompt on standard input and prints the answer; it is started for every question."""

    def __init__(self, command: str, timeout: float) -> None:
        try:
            self._words = shlex.split(command)
        except ValueError as fault:
            raise UsageError(f"--command is '{shown(command)}', in which a quote is not closed") from fault
        if not self._words:
            raise UsageError("--command is empty; name a program that reads a prompt and prints an answer")
        self._timeout = timeout
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()

    def ask(self, prompt: str) -> str:
        """Run the program once."""
        try:
            process = subprocess.Popen(
                self._words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as fault:
            raise EndpointError(f"'{self._words[0]}' cannot be started ({fault.strerror}); check --command") from fault
        with self._lock:
            self._running.add(process)
        timer = start_timer(self._timeout, _kill, process)
        try:
            return self._answer(process, prompt, timer)
        finally:
            timer.cancel()
            _kill(process)
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()
            with self._lock:
                self._running.discard(process)

    def _answer(self, process: subprocess.Popen[bytes], prompt: str, timer: threading.Timer) -> str:
        assert process.stdin is not None
        assert process.stdout is not None
        writer = threading.Thread(target=_write_prompt, args=(process.stdin, prompt), daemon=True)
        writer.start()
        content = process.stdout.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise NoAnswerError(f"the answer has more than {MOST_BYTES:,} bytes", later=False)
        code = process.wait()
        writer.join()
        if not timer.is_alive():
            raise NoAnswerError("no answer in time", later=True)
        if code != 0:
            raise NoAnswerError(f"the program ended with code {code}", later=True)
        return content.decode(errors="replace")

    def stop(self) -> None:
        """End the programs that are running."""
        with self._lock:
            for process in self._running:
                _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a program and all that it has started, which would keep its output open."""
    if hasattr(os, "killpg"):
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def _write_prompt(stream: Any, prompt: str) -> None:
    """Write the prompt; a program need not read it all."""
    with suppress(OSError, ValueError):
        stream.write(prompt.encode(errors="replace"))
        stream.close()
