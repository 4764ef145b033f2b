"""A language model judges the outputs of a campaign, as one more annotator. `judge` is the main function.

Nothing is sent anywhere unless the user names an endpoint or a program.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from adjudge.core.errors import DataError, UsageError
from adjudge.core.fingerprint import fingerprint
from adjudge.core.inclusion_weights import INCLUSION
from adjudge.core.judgments import SCHEMA, Judgments, SetAside
from adjudge.core.machine_judges import PREFIX
from adjudge.core.protocols import PROTOCOLS
from adjudge.core.settings import option, seed_option
from adjudge.design.tasks import load_tasks, text_hash
from adjudge.formats import native
from adjudge.judge.answers import AnswerReader
from adjudge.judge.asking import Asker, Unanswered, ask_all
from adjudge.judge.clients import Endpoint, read_key
from adjudge.judge.journal import ENDING, Journal
from adjudge.judge.program import Program
from adjudge.judge.questions import make_questions, make_template
from adjudge.results.judge import Judged, Preview

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from adjudge.design.campaign import Scale
    from adjudge.design.tasks import TaskSet
    from adjudge.judge.clients import Client
    from adjudge.judge.journal import Answered
    from adjudge.judge.questions import Question, Template

__all__ = ["KEY_VARIABLE", "JudgeSettings", "judge", "preview"]

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
        python_default=None,
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
    client = _make_client(settings)
    missing: Counter[str] = Counter()
    with Journal(output.with_name(output.name + ENDING), asked.header, asked.reader.accepts) as journal:
        todo = [question for question in asked.questions if _is_open(journal.answers.get(question.id), settings)]
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
    reader: AnswerReader
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
        raise UsageError(f"--name is '{name}'; a name of printable characters is needed")
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
    reader = AnswerReader(scale, PROTOCOLS[tasks.protocol].in_pairs)
    command = fingerprint(settings.command) if settings.command else None
    return _Questioning(name, tasks, template, reader, questions, chosen, command)


def _load_tasks(campaign: Path) -> tuple[TaskSet, Scale]:
    from adjudge.design.campaign import SCALES, Scale

    if campaign.suffix.lower() == ".json":
        tasks = load_tasks(campaign)
        return tasks, SCALES.get(tasks.protocol, Scale())
    from adjudge.design.campaign.toml_file import load_campaign
    from adjudge.design.make import design

    loaded = load_campaign(campaign)
    return design(loaded), loaded.score_scale


def _check_settings(settings: JudgeSettings) -> None:
    if (settings.endpoint is None) == (settings.command is None):
        raise UsageError("name who is asked: either --endpoint with --model, or --command")
    if settings.endpoint is not None and not settings.model:
        raise UsageError("--endpoint needs --model, the name of the model to ask")
    for name, value, least in (("jobs", settings.jobs, 1), ("retries", settings.retries, 0)):
        if value < least:
            raise UsageError(f"--{name} is {value}, at least {least} is needed")
    if not 0 < settings.timeout <= 86_400:
        raise UsageError(f"--timeout is {settings.timeout:g}, a number of seconds up to a day is needed")


def _parse_parameters(settings: JudgeSettings) -> dict[str, Any]:
    try:
        parameters = json.loads(settings.parameters, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        parameters = None
    if not isinstance(parameters, dict):
        raise UsageError("--parameters is no JSON object; write one such as '{\"temperature\": 0}'")
    for name in ("model", "messages", "stream"):
        if name in parameters:
            raise UsageError(f"--parameters sets '{name}', which adjudge sets itself; leave it out")
    return parameters


def _refuse_constant(name: str) -> Any:
    """NaN and Infinity, which Python reads and no endpoint understands."""
    raise ValueError(name)


def _make_client(settings: JudgeSettings) -> Client:
    if settings.command is not None:
        return Program(settings.command, settings.timeout)
    assert settings.endpoint is not None
    assert settings.model is not None
    key = read_key(settings.key_variable or KEY_VARIABLE, must=settings.key_variable is not None)
    return Endpoint(settings.endpoint, settings.model, key, _parse_parameters(settings), settings.timeout)


def _is_open(answer: Answered | None, settings: JudgeSettings) -> bool:
    return answer is None or (answer.value is None and settings.ask_again)


def _make_judgments(asked: _Questioning, answers: Sequence[Answered | None], missing: Mapping[str, int]) -> Judgments:
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


def _make_rows(asked: _Questioning, question: Question, answer: Answered, position: int) -> list[dict[str, Any]]:
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
