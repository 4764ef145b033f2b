"""A language model judges the outputs of a campaign, as one more annotator. `judge` is the main function.

Nothing is sent anywhere unless the user names an endpoint or a program.
"""

from __future__ import annotations

import json
import queue
import re
import threading
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from adjudge.campaigns.tasks import Item, Output, Screen, TaskSet, load_tasks, text_hash
from adjudge.judges import clients
from adjudge.readers import native
from adjudge.table.errors import DataError, InputError, UsageError, param, shown
from adjudge.table.files import read_text
from adjudge.table.judgments import INCLUSION, SCHEMA, Judgments, SetAside, fingerprint
from adjudge.table.participants import PREFIX
from adjudge.table.protocols import ON_SCALE, PROTOCOLS
from adjudge.table.results import UNWRITTEN, Result, Table, number, text
from adjudge.table.rng import generator
from adjudge.table.settings import option, seed_option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from adjudge.campaigns.questions import Scale
    from adjudge.judges.clients import Client


# Asking many questions side by side: retries with growing pauses, one more try for answers that cannot be used.


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
    reader: clients.AnswerReader
    retries: int
    stopped: threading.Event = field(default_factory=threading.Event)

    def ask(self, question: Question) -> clients.Answered | Unanswered:
        """The answer to one question; one that cannot be used is asked for once more, with the reason."""
        prompt = self.template.prompt(question)
        started = time.time()
        reason = ""
        try:
            text = self._answer(prompt)
            for attempt in (1, 2):
                try:
                    value = self.reader.read(text)
                    return clients.Answered(question.id, value, None, text, started, time.time())
                except clients.UnusableAnswerError as fault:
                    reason = str(fault)
                if attempt == 1:
                    text = self._answer(prompt + _AGAIN.format(reason=reason))
        except clients.NoAnswerError as fault:
            return Unanswered(question.id, str(fault))
        return clients.Answered(question.id, None, reason, text, started, time.time())

    def _answer(self, prompt: str) -> str:
        """Ask until there is an answer, with pauses that double."""
        wait = FIRST_WAIT
        for attempt in range(self.retries + 1):
            try:
                return self.client.ask(prompt)
            except clients.NoAnswerError as fault:
                if not fault.later or attempt == self.retries:
                    raise
                pause = min(wait, clients.LONGEST_WAIT) if fault.wait is None else fault.wait
            if self.stopped.wait(pause):
                break
            wait *= 2
        raise clients.NoAnswerError("interrupted", later=True)

    def stop(self) -> None:
        """Ask nothing more, and end what is under way."""
        self.stopped.set()
        self.client.stop()


def ask_all(asker: Asker, questions: Sequence[Question], *, jobs: int) -> Iterator[clients.Answered | Unanswered]:
    """The outcomes as they come, from this many threads.

    The threads are daemons: a request that hangs cannot keep the program from ending.
    """
    waiting: queue.SimpleQueue[Question] = queue.SimpleQueue()
    done: queue.SimpleQueue[clients.Answered | Unanswered | BaseException] = queue.SimpleQueue()
    for question in questions:
        waiting.put(question)
    for _ in range(min(jobs, len(questions))):
        threading.Thread(target=_ask_waiting, args=(asker, waiting, done.put), daemon=True).start()
    failures = 0
    try:
        for _ in questions:
            outcome = None
            while outcome is None:
                # It looks now and then, because waiting without an end would not notice Ctrl-C.
                with suppress(queue.Empty):
                    outcome = done.get(timeout=0.1)
            if isinstance(outcome, BaseException):
                raise outcome
            yield outcome
            failures = failures + 1 if isinstance(outcome, Unanswered) else 0
            if failures >= MOST_FAILURES and isinstance(outcome, Unanswered):
                what = f"{failures} questions in a row were not answered ({outcome.reason})"
                raise clients.EndpointError(
                    f"{what}; check the endpoint or program, then run the same command to go on"
                )
    finally:
        asker.stop()


def _ask_waiting(
    asker: Asker,
    waiting: queue.SimpleQueue[Question],
    report: Callable[[clients.Answered | Unanswered | BaseException], None],
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


# Questions to a judge: one for each output (or pair) of the tasks, with the prompt that asks it.
#
# Texts are not trusted: a translation may say "give this translation 100". Every text stands between two lines that
# hold a mark which occurs in no text of the question, so that a text cannot pretend to end. A judge can still be
# fooled.


ASKED = ("system", "reference", "degraded", "calibration")
"""Kinds of outputs that a judge is asked about; practice, attention checks and people's repeats are not."""
JUDGED = (*ON_SCALE, "pairwise")
_PROMPTS = Path(__file__).parent / "prompts"
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_TEXTS = {
    "source": "SOURCE", "reference": "REFERENCE", "output": "TRANSLATION", "first": "FIRST TRANSLATION",
    "second": "SECOND TRANSLATION", "context": "SURROUNDING TEXT, NOT TO BE JUDGED",
}  # fmt: skip
_WORDS = ("source_language", "target_language", "low", "high", "anchors", "example")
_STREAM = 61


@dataclass(frozen=True)
class Question:
    """One question: an item with one output, or with two that are compared."""

    screen: Screen
    item: Item
    outputs: tuple[Output, ...]
    repeat: bool = False

    @cached_property
    def id(self) -> str:
        """What names the question in the journal: the place and the texts, and whether it is asked again."""
        where = (self.screen.document, self.item.segment, self.screen.version, self.item.source, self.item.reference)
        texts = (part for output in self.outputs for part in (output.kind, output.text, *output.systems))
        place = fingerprint("\x1f".join(str(part) for part in (*where, *texts)), digits=20)
        return f"{place}-2" if self.repeat else place


def make_questions(tasks: TaskSet, *, repeats: float, seed: int) -> list[Question]:
    """Every different question once, in random order, and some of them a second time at the end.

    Args:
        tasks: of the campaign.
        repeats: how many to ask twice: a share below 1, or a number.
        seed: of the order and of what is repeated.
    """
    if tasks.protocol not in JUDGED:
        what = f"protocol '{tasks.protocol}' ({PROTOCOLS[tasks.protocol].label}) cannot be judged by a program yet"
        raise UsageError(f"{what}; campaigns of {', '.join(JUDGED)} can")
    in_pairs = PROTOCOLS[tasks.protocol].in_pairs
    by_id: dict[str, Question] = {}
    for task in tasks.tasks:
        for screen in task.screens:
            for item in screen.items:
                for outputs in (item.outputs,) if in_pairs else [(output,) for output in item.outputs]:
                    question = Question(screen, item, outputs)
                    if all(output.kind in ASKED for output in outputs):
                        by_id.setdefault(question.id, question)
    if repeats and in_pairs:
        raise UsageError(f"{param('repeats')} is for scores; leave it out for pairs")
    rng = generator(seed, _STREAM)
    different = list(by_id.values())
    questions = [different[place] for place in rng.permutation(len(different))]
    if not questions:
        raise UsageError("the tasks hold nothing that a judge could be asked about; check the campaign")
    if not (0 <= repeats < 1 or (repeats >= 1 and float(repeats).is_integer())):
        raise UsageError(f"{param('repeats')} is {repeats:g}; give a share below 1, or a whole number of questions")
    genuine = [question for question in questions if question.outputs[0].kind == "system"]
    again = genuine[: round(repeats * len(genuine)) if repeats < 1 else int(repeats)]
    return questions + [replace(question, repeat=True) for question in again]


@dataclass(frozen=True)
class Template:
    """The text of a prompt with placeholders in braces."""

    text: str
    tasks: TaskSet
    scale: Scale

    @property
    def fingerprint(self) -> str:
        """Identifies what is asked, whatever the item."""
        return fingerprint("\x1f".join((self.text, *self._words().values())))

    def prompt(self, question: Question) -> str:
        """The prompt of one question. Placeholders in texts are left alone: everything is replaced in one go."""
        texts = self._texts(question)
        # A word that occurs in none of the texts.
        content, number = "\x1f".join(texts.values()), 0
        while (mark := fingerprint(f"{number}{content}", digits=8)) in content:
            number += 1
        values = {**self._words(), **{name: _make_block(name, text, mark) for name, text in texts.items()}}
        return _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), self.text)

    def _texts(self, question: Question) -> dict[str, str]:
        item, screen = question.item, question.screen
        before, after = (
            "\n".join(segment.source or "" for segment in segments)
            for segments in (screen.context_before, screen.context_after)
        )
        page = "\n".join(other.source or "" for other in screen.items) if len(screen.items) > 1 else ""
        around = "\n".join(part for part in (before, page, after) if part.strip())
        texts = {"source": item.source or "", "reference": item.reference or "", "context": around}
        names = ("first", "second") if len(question.outputs) == 2 else ("output",)
        return texts | {name: output.text for name, output in zip(names, question.outputs, strict=True)}

    def _words(self) -> dict[str, str]:
        scale = self.scale
        return {
            "source_language": self.tasks.source_lang,
            "target_language": self.tasks.target_lang,
            "low": f"{scale.low:g}",
            "high": f"{scale.high:g}",
            "example": f"{(scale.low + scale.high) / 2:g}",
            "anchors": "\n".join(f"{anchor.at:g}: {anchor.text}" for anchor in scale.anchors),
        }


def make_template(tasks: TaskSet, scale: Scale, file: Path | None) -> Template:
    """The template of the protocol, or the one in a file, whose placeholders are checked."""
    in_pairs = PROTOCOLS[tasks.protocol].in_pairs
    text = read_text(file or _PROMPTS / ("pair.txt" if in_pairs else "score.txt"))
    if file is not None:
        needed = ("first", "second") if in_pairs else ("output",)
        used = set(_PLACEHOLDER.findall(text))
        for name in needed:
            if name not in used:
                raise InputError(f"does not say where the translation stands; write {{{name}}} there", file=file)
        known = {*_TEXTS, *_WORDS} - ({"output"} if in_pairs else {"first", "second"})
        for name in sorted(used - known):
            names = ", ".join(f"{{{name}}}" for name in sorted(known))
            raise InputError(f"has the placeholder '{{{shown(name)}}}', which is unknown; use {names}", file=file)
    return Template(text.strip() + "\n", tasks, scale)


def _make_block(name: str, text: str, mark: str) -> str:
    """A text between marked lines; nothing where there is no text."""
    if not text and name not in ("output", "first", "second"):
        return ""
    title = f"{_TEXTS[name]} {mark}"
    return f"\n----- BEGIN {title} -----\n{text}\n----- END {title} -----\n"


# What a machine judge was asked and answered.


_COLUMNS = (text("what"), number("count", 0))


@dataclass(frozen=True, kw_only=True)
class Judged(Result):
    """The answers of one judge; `judgments` has the table."""

    verb: ClassVar[str] = "judge"

    judge: str
    questions: int
    asked: int
    """Questions that this run asked; the others were answered before."""
    answers: int
    """Answers that can be used."""
    repeats: int
    rows: int
    seconds: float
    """The time that the judge took, of all answers together."""
    judgments: Judgments = field(metadata=UNWRITTEN)

    def tables(self) -> tuple[Table, ...]:
        """One table of counts."""
        rows = (
            ("questions", self.questions),
            ("asked in this run", self.asked),
            ("usable answers", self.answers),
            ("repeats among the questions", self.repeats),
            ("rows written", self.rows),
            ("seconds that the judge took", round(self.seconds)),
        )
        return (Table(f"Answers of judge:{self.judge}", _COLUMNS, rows),)


@dataclass(frozen=True, kw_only=True)
class Preview(Result):
    """What a judge would be asked."""

    verb: ClassVar[str] = "judge"

    judge: str
    questions: int
    characters: int
    """Of all prompts together."""
    prompt: str
    """The first prompt."""

    def tables(self) -> tuple[Table, ...]:
        """One table of counts; the prompt is printed by the command."""
        rows = (("questions", self.questions), ("characters of all prompts", self.characters))
        note = "Nothing was sent. Answers, and second tries for answers that cannot be used, come on top."
        return (Table(f"What judge:{self.judge} would be asked", _COLUMNS, rows, note),)


KEY_VARIABLE = "ADJUDGE_JUDGE_KEY"
_RANKS = {0.0: (1, 1), 1.0: (1, 2), 2.0: (2, 1)}


@dataclass(frozen=True)
class JudgeSettings:
    """Who is asked, and how."""

    endpoint: str | None = option(
        None, "Address of an OpenAI-compatible endpoint, such as http://127.0.0.1:8000/v1.", metavar="URL"
    )
    model: str | None = option(None, "The model to ask at the endpoint.")
    command: str | None = option(
        None, "Instead: a program that reads a prompt and prints the answer.", metavar="PROGRAM"
    )
    name: str | None = option(None, "The judge's name in the table, after 'judge:'. Default: model or program.")
    prompt: Path | None = option(
        None,
        "A file with the prompt, with placeholders such as {source} and {output}.",
        python="str | Path | None",
        convert=Path,
    )
    repeats: float = option(0.0, "Questions to ask twice, for self-agreement: a share below 1, or a number.")
    parameters: str = option(
        '{"temperature": 0}',
        "Further fields of the request.",
        metavar="JSON",
        python="Mapping[str, Any] | None",
        about='further fields of the request; default: `{"temperature": 0}`.',
        convert=lambda given: given if isinstance(given, str) else json.dumps(dict(given)),
    )
    """A JSON object."""
    key_variable: str | None = option(
        None, "Environment variable with the key. Default: ADJUDGE_JUDGE_KEY, if set.", metavar="NAME"
    )
    jobs: int = option(1, "Number of questions asked at the same time.")
    retries: int = option(5, "Further tries if the endpoint is busy or fails.")
    timeout: float = option(120.0, "Seconds to wait for an answer.")
    ask_again: bool = option(False, "Ask again what could not be used in an earlier run.", "--ask-again")
    seed: int = seed_option()


def judge(
    campaign: Path, output: Path, *, settings: JudgeSettings, tell: Callable[[str], None] = lambda _: None
) -> Judged:
    """Ask a judge about all outputs of a campaign, and write a judgment table.

    Args:
        campaign: the campaign file, or the tasks that `design` made from it (JSON).
        output: the judgment table; answers are kept beside it as they come, and a second run asks what is missing.
        settings: who is asked, and how.
        tell: is told how far it has come.
    """
    native.check_ending(output)
    _check_settings(settings)
    asked = _prepare_questions(campaign, settings)
    client: Client
    if settings.command is not None:
        client = clients.Program(settings.command, settings.timeout)
    else:
        key = clients.read_key(settings.key_variable or KEY_VARIABLE, must=settings.key_variable is not None)
        parameters = _parse_parameters(settings)
        client = clients.Endpoint(settings.endpoint or "", settings.model or "", key, parameters, settings.timeout)
    missing: Counter[str] = Counter()
    with clients.Journal(output.with_name(output.name + clients.ENDING), asked.header, asked.reader.accepts) as journal:
        answered = {
            name for name, answer in journal.answers.items() if answer.value is not None or not settings.ask_again
        }
        todo = [question for question in asked.questions if question.id not in answered]
        asker = Asker(client, asked.template, asked.reader, settings.retries)
        for number, outcome in enumerate(ask_all(asker, todo, jobs=settings.jobs), start=1):
            if isinstance(outcome, Unanswered):
                missing[outcome.reason] += 1
            else:
                journal.add(outcome)
            tell(f"{len(asked.questions) - len(todo) + number:,} of {len(asked.questions):,} questions asked")
        answers = [journal.answers.get(question.id) for question in asked.questions]
    judgments = _make_judgments(asked, answers, missing)
    native.write(judgments, output)
    return Judged(
        settings=asked.settings,
        data=asked.tasks.fingerprint,
        set_aside=judgments.set_aside,
        judge=asked.name,
        questions=len(asked.questions),
        asked=len(todo),
        answers=sum(answer is not None and answer.value is not None for answer in answers),
        repeats=sum(question.repeat for question in asked.questions),
        rows=len(judgments),
        seconds=sum(answer.ended - answer.started for answer in answers if answer is not None),
        judgments=judgments,
    )


def preview(campaign: Path, *, settings: JudgeSettings) -> Preview:
    """What would be asked: one prompt, the number of questions, and their characters. Nothing is sent."""
    asked = _prepare_questions(campaign, settings)
    lengths = [len(asked.template.prompt(question)) for question in asked.questions]
    return Preview(
        settings=asked.settings,
        data=asked.tasks.fingerprint,
        judge=asked.name,
        questions=len(lengths),
        characters=sum(lengths),
        prompt=asked.template.prompt(asked.questions[0]),
    )


@dataclass(frozen=True)
class _Questioning:
    """All that is asked, and by which name the answers go."""

    name: str
    tasks: TaskSet
    template: Template
    reader: clients.AnswerReader
    questions: Sequence[Question]
    settings: Mapping[str, str | int | float | None]
    command: str | None
    """Fingerprint of the whole command: programs that start alike are different judges."""

    @property
    def header(self) -> dict[str, Any]:
        """What a run that goes on must share with the run that began; questions have names of their own."""
        shared = ("model", "prompt", "parameters")
        return {"judge": self.name, "command": self.command, **{name: self.settings.get(name) for name in shared}}


def _prepare_questions(campaign: Path, settings: JudgeSettings) -> _Questioning:
    tasks, scale = _load_tasks(campaign)
    template = make_template(tasks, scale, settings.prompt)
    questions = make_questions(tasks, repeats=settings.repeats, seed=settings.seed)
    program = (settings.command or "").split()[0] if (settings.command or "").strip() else "unnamed"
    name = (settings.name or settings.model or Path(program).stem).strip().removeprefix(PREFIX)
    if not name or not name.isprintable():
        raise UsageError(f"{param('name')} is '{name}'; a name of printable characters is needed")
    chosen: dict[str, str | int | float | None] = {
        "judge": name,
        "endpoint": settings.endpoint,
        # Arguments of a program may hold a key.
        "command": Path(program).name if settings.command else None,
        "model": settings.model,
        "prompt": template.fingerprint,
        "parameters": fingerprint(json.dumps(_parse_parameters(settings), sort_keys=True)),
        "repeats": settings.repeats or None,
        "seed": settings.seed,
    }
    reader = clients.AnswerReader(scale, PROTOCOLS[tasks.protocol].in_pairs)
    command = fingerprint(settings.command) if settings.command else None
    return _Questioning(name, tasks, template, reader, questions, chosen, command)


def _load_tasks(campaign: Path) -> tuple[TaskSet, Scale]:
    from adjudge.campaigns.questions import SCALES, Scale

    if campaign.suffix.lower() == ".json":
        tasks = load_tasks(campaign)
        return tasks, SCALES.get(tasks.protocol, Scale())
    from adjudge.campaigns.campaign_file import load_campaign
    from adjudge.campaigns.design import design

    loaded = load_campaign(campaign)
    return design(loaded), loaded.score_scale


def _check_settings(settings: JudgeSettings) -> None:
    if (settings.endpoint is None) == (settings.command is None):
        raise UsageError(f"name who is asked: either {param('endpoint')} with {param('model')}, or {param('command')}")
    if settings.endpoint is not None and not settings.model:
        raise UsageError(f"{param('endpoint')} needs {param('model')}, the name of the model to ask")
    for name, value, least in (("jobs", settings.jobs, 1), ("retries", settings.retries, 0)):
        if value < least:
            raise UsageError(f"{param(name)} is {value}, at least {least} is needed")
    if not 0 < settings.timeout <= 86_400:
        raise UsageError(f"{param('timeout')} is {settings.timeout:g}, a number of seconds up to a day is needed")


def _parse_parameters(settings: JudgeSettings) -> dict[str, Any]:
    try:
        parameters = json.loads(settings.parameters, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        parameters = None
    if not isinstance(parameters, dict):
        raise UsageError(f"{param('parameters')} is no JSON object; write one such as '{{\"temperature\": 0}}'")
    for name in ("model", "messages", "stream"):
        if name in parameters:
            raise UsageError(f"{param('parameters')} sets '{name}', which adjudge sets itself; leave it out")
    return parameters


def _refuse_constant(name: str) -> Any:
    """NaN and Infinity, which Python reads and no endpoint understands."""
    raise ValueError(name)


def _make_judgments(
    asked: _Questioning, answers: Sequence[clients.Answered | None], missing: Mapping[str, int]
) -> Judgments:
    """The table: one row per output and system, in the order in which the questions stand."""
    rows = [
        row
        for position, (question, answer) in enumerate(zip(asked.questions, answers, strict=True), start=1)
        if answer is not None and answer.value is not None
        for row in _make_rows(asked, question, answer, position)
    ]
    # Reasons end with the value in parentheses, which the journal has; they are counted without it.
    unusable = Counter(
        str(answer.reason).partition(" (")[0] for answer in answers if answer is not None and answer.value is None
    )
    aside = [SetAside(f"answer that cannot be used: {reason}", number) for reason, number in sorted(unusable.items())]
    aside += [SetAside(f"question without an answer: {reason}", number) for reason, number in sorted(missing.items())]
    if not rows:
        reasons = "; ".join(record.reason for record in aside[:3])
        raise DataError(f"no answer of {asked.name} can be used ({reasons}); look into the journal")
    extra = {"position": pl.Int64, "source_length": pl.Int64, "target_length": pl.Int64, "text_hash": pl.String}
    if any(row.get(INCLUSION) is not None for row in rows):
        extra[INCLUSION] = pl.Float64
    return Judgments.from_columns(pl.DataFrame(rows, schema={**SCHEMA, **extra}, strict=False), set_aside=aside)


def _make_rows(
    asked: _Questioning, question: Question, answer: clients.Answered, position: int
) -> list[dict[str, Any]]:
    tasks, item = asked.tasks, question.item
    in_pairs = len(question.outputs) == 2
    assert answer.value is not None
    common = {
        "campaign": tasks.campaign,
        "protocol": tasks.protocol,
        "source_lang": tasks.source_lang,
        "target_lang": tasks.target_lang,
        "annotator": f"{PREFIX}{asked.name}",
        "task": f"{PREFIX}{asked.name}",
        "screen": question.id,
        "document": question.screen.document,
        "segment": item.segment,
        "started": datetime.fromtimestamp(answer.started, UTC),
        "ended": datetime.fromtimestamp(answer.ended, UTC),
        "active_seconds": (answer.ended - answer.started) / sum(len(output.systems) for output in question.outputs),
        "revision": 1,
        "position": position,
        "source_length": len(item.source or "") or None,
        INCLUSION: item.inclusion,
    }
    return [
        {
            **common,
            "system": system,
            "human": system in tasks.human,
            "kind": "repeat" if question.repeat else output.kind,
            "score": None if in_pairs else answer.value,
            "rank": _RANKS[answer.value][place] if in_pairs else None,
            "target_length": len(output.text),
            "text_hash": text_hash(output.text),
        }
        for place, output in enumerate(question.outputs)
        for system in output.systems
    ]
