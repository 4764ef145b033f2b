"""Asking many questions side by side: retries with growing pauses, one more try for answers that cannot be used."""

from __future__ import annotations

import queue
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from adjudge.judge.answers import UnusableAnswerError
from adjudge.judge.clients import LONGEST_WAIT, EndpointError, NoAnswerError
from adjudge.judge.journal import Answered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from adjudge.judge.answers import AnswerReader
    from adjudge.judge.clients import Client
    from adjudge.judge.questions import Question, Template

FIRST_WAIT = 1.0
"""Seconds before the second try; the pauses double."""
MOST_FAILURES = 10
"""Questions in a row without an answer, after which nothing more is asked."""
_AGAIN = "\n\nYour last answer could not be used: {reason}. Answer with the JSON object alone.\n"


@dataclass(frozen=True)
class Unanswered:
    """A question that the judge did not answer; the next run asks it again."""

    id: str
    reason: str


@dataclass
class Asker:
    """Asks one question after the other, in several threads; `stopped` ends all of them."""

    client: Client
    template: Template
    reader: AnswerReader
    retries: int
    stopped: threading.Event = field(default_factory=threading.Event)

    def ask(self, question: Question) -> Answered | Unanswered:
        """The answer to one question; one that cannot be used is asked for once more, with the reason."""
        prompt = self.template.prompt(question)
        started = time.time()
        reason = ""
        try:
            text = self._answer(prompt)
            for attempt in (1, 2):
                try:
                    value = self.reader.read(text)
                    return Answered(question.id, value, None, text, started, time.time())
                except UnusableAnswerError as fault:
                    reason = str(fault)
                if attempt == 1:
                    text = self._answer(prompt + _AGAIN.format(reason=reason))
        except NoAnswerError as fault:
            return Unanswered(question.id, str(fault))
        return Answered(question.id, None, reason, text, started, time.time())

    def _answer(self, prompt: str) -> str:
        """Ask until there is an answer, with pauses that double."""
        wait = FIRST_WAIT
        for attempt in range(self.retries + 1):
            try:
                return self.client.ask(prompt)
            except NoAnswerError as fault:
                if not fault.later or attempt == self.retries:
                    raise
                pause = min(wait, LONGEST_WAIT) if fault.wait is None else fault.wait
            if self.stopped.wait(pause):
                break
            wait *= 2
        raise NoAnswerError("interrupted", later=True)

    def stop(self) -> None:
        """Ask nothing more, and end what is under way."""
        self.stopped.set()
        self.client.stop()


def ask_all(asker: Asker, questions: Sequence[Question], *, jobs: int) -> Iterator[Answered | Unanswered]:
    """The outcomes as they come, from this many threads.

    The threads are daemons: a request that hangs cannot keep the program from ending.
    """
    waiting: queue.SimpleQueue[Question] = queue.SimpleQueue()
    done: queue.SimpleQueue[Answered | Unanswered | BaseException] = queue.SimpleQueue()
    for question in questions:
        waiting.put(question)
    for _ in range(min(jobs, len(questions))):
        threading.Thread(target=_ask_waiting, args=(asker, waiting, done.put), daemon=True).start()
    failures = 0
    try:
        for _ in questions:
            outcome = _wait_for_outcome(done)
            if isinstance(outcome, BaseException):
                raise outcome
            yield outcome
            failures = failures + 1 if isinstance(outcome, Unanswered) else 0
            if failures >= MOST_FAILURES and isinstance(outcome, Unanswered):
                what = f"{failures} questions in a row were not answered ({outcome.reason})"
                raise EndpointError(f"{what}; check the endpoint or program, then run the same command to go on")
    finally:
        asker.stop()


def _wait_for_outcome(
    done: queue.SimpleQueue[Answered | Unanswered | BaseException],
) -> Answered | Unanswered | BaseException:
    """The next outcome. It looks now and then, because waiting without an end would not notice Ctrl-C."""
    while True:
        try:
            return done.get(timeout=0.1)
        except queue.Empty:
            continue


def _ask_waiting(
    asker: Asker,
    waiting: queue.SimpleQueue[Question],
    report: Callable[[Answered | Unanswered | BaseException], None],
) -> None:
    while not asker.stopped.is_set():
        try:
            question = waiting.get_nowait()
        except queue.Empty:
            return
        try:
            report(asker.ask(question))
        except BaseException as fault:  # noqa: BLE001, the main thread raises it
            report(fault)
            return
