"""A campaign as pages to publish with its data: what annotators saw and did, without scripts, with numbers for names.

One page per person and task, an index, and the judgment table with the same numbers. Everything is escaped by the
templates; nothing personal is read: no names, forms, links, messages or reasons of decisions.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from adjudge._version import __version__
from adjudge.campaigns.guide import make_guide
from adjudge.readers import native
from adjudge.server import log
from adjudge.server.answers import TAGS, sanitise
from adjudge.server.commonmark import MARKDOWN_TAGS, render_commonmark
from adjudge.server.export import read_judgments
from adjudge.server.models import Annotator, Assignment, Decision, Entry, Save, ScreenState
from adjudge.server.organisers import WorkDone, count_work
from adjudge.server.served_campaign import effective_spans, get_served, list_questions
from adjudge.table.errors import InputError
from adjudge.table.languages import text_direction
from adjudge.table.protocols import KINDS
from adjudge.table.texts import MISSING
from adjudge.table.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from adjudge.campaigns.tasks import ContextSegment, Item, Output, Screen
    from adjudge.server.answers import Node
    from adjudge.server.served_campaign import Question
    from adjudge.table.judgments import Judgments

_TEMPLATES = Path(__file__).resolve().parent / "templates" / "archive"
_INDEX, _TABLE = "index.html", "judgments.csv"
_EDITOR = "first_editor"


@dataclass(frozen=True)
class Archive:
    """What was written: pages of people, and judgments in the table."""

    pages: int
    people: int
    rows: int


def write_archive(folder: Path) -> Archive:
    """Write the pages into a new or empty folder: all of them, or none."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError("is there already and not an empty folder; name another one", file=folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", suffix=".part", dir=folder.parent) as scratch:
        made = Path(scratch) / "made"
        made.mkdir()
        written = _write(made)
        if folder.exists():
            folder.rmdir()
        shutil.move(made, folder)
    return written


def with_numbers(judgments: Judgments) -> Judgments:
    """The judgments with numbers in the place of people's names, also in their record and its notes."""
    numbers = dict(Annotator.objects.values_list("name", "number"))
    shown = {name: str(number) for name, number in numbers.items()}
    table = judgments.table.with_columns(pl.col("annotator").replace_strict(shown, default=None))
    if _EDITOR in table.columns:
        # Editors of another campaign have no number here.
        others = [name for name in table[_EDITOR].drop_nulls().unique(maintain_order=True) if name not in shown]
        editors = shown | {name: f"editor {place}" for place, name in enumerate(others, start=1)}
        table = table.with_columns(pl.col(_EDITOR).replace_strict(editors, default=None))
    record = judgments.record
    if record is not None:
        exclusions = (
            replace(each, annotator=str(numbers.get(each.annotator, "")), reason="", by="")
            for each in record.exclusions
        )
        record = replace(record, exclusions=tuple(exclusions))
    kept = [aside for aside in judgments.set_aside if "annotator" not in aside.reason]
    return replace(judgments, table=table, record=record, set_aside=tuple(kept))


def _write(folder: Path) -> Archive:
    shutil.copyfile(_TEMPLATES / "style.css", folder / "style.css")
    judgments = with_numbers(read_judgments(with_excluded=True, with_texts=True))
    native.write(judgments, folder / _TABLE)
    done = count_work((Save.objects.count(), ()))
    people, pages = [], 0
    for person in Annotator.objects.order_by("number"):
        links = [
            {"name": assignment.task, "path": _write_task(folder, person, assignment)}
            for assignment in Assignment.objects.filter(annotator=person).order_by("position")
            if ScreenState.objects.filter(assignment=assignment).exists()
        ]
        if links:
            people.append(_describe_person(person, links, done.get(person.id, WorkDone())))
            pages += len(links)
    _render(folder / _INDEX, _describe_campaign(people))
    return Archive(pages, len(people), judgments.table.height)


def _render(file: Path, content: dict[str, Any]) -> None:
    served = get_served()
    tasks = served.tasks
    shared = {
        "campaign": served.campaign.name,
        "source": {"lang": tasks.source_lang, "dir": tasks.source_direction},
        "target": {"lang": tasks.target_lang, "dir": tasks.target_direction},
    }
    file.parent.mkdir(exist_ok=True)
    file.write_text(render_to_string("archive/page.html", {**shared, **content}), encoding="utf-8")


def _describe_person(person: Annotator, links: list[dict[str, str]], work: WorkDone) -> dict[str, Any]:
    checked = work.checked
    return {
        "number": person.number,
        "excluded": person.excluded,
        "judgments": work.judgments,
        "controls": f"{checked.right} of {checked.total}" if checked.total else "–",
        "minutes": round(work.active_seconds / 60),
        "pages": links,
    }


def _describe_campaign(people: list[dict[str, Any]]) -> dict[str, Any]:
    served = get_served()
    campaign, tasks = served.campaign, served.tasks
    instructions = {name: own.text for name, own in campaign.instructions.items()}
    consent = {name: own.text for name, own in (campaign.form.consent or {}).items()}
    last = Entry.objects.order_by("-number").values_list("digest", flat=True).first()
    facts = (
        f"Protocol {campaign.protocol}, {tasks.source_lang} to {tasks.target_lang}; "
        f"{counted(len(tasks.systems), 'system')}, {counted(len(people), 'annotator')}, "
        f"{counted(sum(person['judgments'] for person in people), 'judgment')}."
    )
    return {
        "title": campaign.name,
        "root": "",
        "facts": facts,
        "told": {
            "Instructions": list(_in_all_languages(instructions or {"en": make_guide(campaign, "en")})),
            "Consent": list(_in_all_languages(consent)),
        },
        "people": people,
        "actions": list(_list_actions()),
        "version": __version__,
        "fingerprint": served.fingerprint or tasks.fingerprint,
        "digest": last,
    }


def _in_all_languages(texts: dict[str, str | None]) -> Iterator[dict[str, Any]]:
    """What people were told, in each language that the campaign file has."""
    for language, text in texts.items():
        if text:
            direction = text_direction([text])
            yield {"lang": language, "dir": direction, "text": tree_to_html(render_commonmark(text))}


def _list_actions() -> Iterator[dict[str, str]]:
    """What organisers did, without what they wrote."""
    numbers = dict(Annotator.objects.values_list("name", "number"))
    rows = []
    for made, subject, content in Entry.objects.filter(kind=log.ORGANISER).values_list("made", "subject", "content"):
        _, about, text = json.loads(content)
        what = f"{subject}: {text}" if subject in ("state", "extend") else subject
        rows.append((made, what, str(numbers.get(about, ""))))
    decisions = Decision.objects.values_list("made", "excluded", "annotator__number")
    rows += [(made, "excluded" if excluded else "included again", str(number)) for made, excluded, number in decisions]
    for made, number in Entry.objects.filter(kind=log.ERASURE).values_list("made", "subject"):
        rows.append((made, "erased", number))
    for made, what, about in sorted(rows):
        yield {"made": f"{made:%Y-%m-%d %H:%M}", "what": what, "about": about}


def _write_task(folder: Path, person: Annotator, assignment: Assignment) -> str:
    """The page of a task that somebody did; returns where it is."""
    task = get_served().task_by_id[assignment.task]
    states = {state.screen: state for state in ScreenState.objects.filter(assignment=assignment)}
    history = _read_history(assignment)
    number = [each.id for each in get_served().tasks.tasks].index(task.id) + 1
    path = f"{person.number}/{number:04d}.html"
    seconds = sum(state.active_seconds for state in states.values())
    finished = "handed in" if assignment.finished else "not handed in"
    content = {
        "title": f"Task {task.id} by annotator {person.number}",
        "root": "../",
        "task": {
            "facts": f"A task of kind “{task.kind}”, {finished}, {seconds / 60:.0f} minutes of work.",
            "screens": [
                _describe_screen(screen, states[screen.id], history[screen.id])
                for screen in task.screens
                if screen.id in states
            ],
        },
    }
    _render(folder / path, content)
    return path


def _read_history(assignment: Assignment) -> dict[str, list[str]]:
    """What was changed on each screen, in order, with the seconds since it was first shown."""
    lines: dict[str, list[str]] = defaultdict(list)
    campaign = get_served().campaign
    names = {
        question.id: _question_name(question)
        for screen in get_served().task_by_id[assignment.task].screens
        for question in list_questions(screen, campaign)
    }
    saves = Save.objects.filter(state__assignment=assignment, revision__isnull=False).select_related("state")
    for save in saves.order_by("edited", "revision"):
        passed = (save.edited - save.state.first_shown).total_seconds()
        for output, field, value in json.loads(save.changes):
            lines[save.state.screen].append(f"{passed:,.0f} s: {names.get(output, output)}: {_say(field, value)}")
    return lines


def output_name(item: Item, output: Output) -> str:
    """Which output it is: where several stand together by its letter, and always by its system."""
    letter = f"{chr(ord('A') + item.outputs.index(output))}, " if len(item.outputs) > 1 else ""
    kind = "" if output.kind == "system" else f" ({KINDS[output.kind].meaning})"
    return f"segment {item.segment}, {letter}{' + '.join(output.systems)}{kind}"


def _question_name(question: Question) -> str:
    """What is asked about: an output or a whole page, and the criterion if it has a name."""
    asked = question.asked.name if question.asked is not None else ""
    about = f"the whole page of {' + '.join(question.output.systems)}" if question.whole else ""
    return ", ".join(filter(None, (about or output_name(question.item, question.output), asked)))


def _say(field: str, value: Any) -> str:
    if value is None:
        return f"{field} taken back"
    if field == "spans":
        return f"errors {'; '.join(_say_error(span) for span in value) or 'none'}"
    return f"{field} {value:g}" if isinstance(value, float) else f"{field} {value}"


def _say_error(span: dict[str, Any]) -> str:
    what = "something is missing" if span["side"] == MISSING else f"“{span['text']}”"
    where = " in the source" if span["side"] == "source" else ""
    return f"{span['severity']}{where}: {what}" + (f" ({span['category']})" if span["category"] else "")


def _describe_screen(screen: Screen, state: ScreenState, history: list[str]) -> dict[str, Any]:
    answers = json.loads(state.answers)
    facts = f"{state.active_seconds:.0f} s of work, {counted(state.revision, 'change')}."
    return {
        "document": screen.document,
        "facts": facts,
        "before": _describe_context(screen.context_before),
        "after": _describe_context(screen.context_after),
        "items": [_describe_item(item, answers, screen) for item in screen.items],
        "whole": [
            f"{_question_name(question)}: {said}"
            for question in list_questions(screen, get_served().campaign)
            if question.whole and (said := _say_answer(answers.get(question.id, {})))
        ],
        "history": history,
    }


def _describe_context(segments: Sequence[ContextSegment]) -> list[dict[str, Any]]:
    return [{"source": _shown(segment.source), "target": _shown(segment.target)} for segment in segments]


def _say_answer(answer: dict[str, Any]) -> str:
    """What was answered to one question, but for marks, corrections and comments."""
    fields = ("score", "rank", "both", "skipped")
    return ", ".join(_say(field, answer[field]) for field in fields if answer.get(field) is not None)


def _describe_item(item: Item, answers: dict[str, Any], screen: Screen) -> dict[str, Any]:
    marked = [effective_spans(answers.get(output.id, {}), output) for output in item.outputs]
    in_source = [span for spans in marked for span in spans if span["side"] == "source"]
    return {
        "segment": item.segment,
        "note": item.note,
        "source": _marked(item.source, in_source),
        "reference": _shown(item.reference),
        "outputs": [
            _describe_output(item, output, answers, spans, screen)
            for output, spans in zip(item.outputs, marked, strict=True)
        ],
    }


def _describe_output(
    item: Item, output: Output, answers: dict[str, Any], spans: list[dict[str, Any]], screen: Screen
) -> dict[str, Any]:
    answer = answers.get(output.id, {})
    given = []
    for question in list_questions(screen, get_served().campaign):
        said = _say_answer(answers.get(question.id, {}))
        if said and question.output.id == output.id and not question.whole:
            criterion = question.asked.name if question.asked is not None else ""
            given.append(f"{criterion}: {said}" if criterion else said)
    if answer.get("spans") is not None and not given:
        given = [counted(len(spans), "error")]
    if answer.get("edit") is not None:
        given.append("changed" if answer["edit"] != output.text else "nothing to change")
    return {
        "name": output_name(item, output),
        "text": _marked(output.text, [span for span in spans if span["side"] == "target"]),
        "answer": ", ".join(given),
        "errors": [_say_error(span) for span in spans],
        "original": output.original,
        "edit": answer.get("edit"),
        "comment": answer.get("comment"),
    }


# Texts as HTML, escaped.


def _shown(text: str | None) -> str | SafeString | None:
    plain = get_served().campaign.page.html == "no"
    return text if text is None or plain else tree_to_html(sanitise(text))


def _marked(text: str | None, spans: Sequence[dict[str, Any]]) -> str | SafeString | None:
    """A text with its errors marked; where they overlap, the gravest shows."""
    placed = [span for span in spans if span["start"] is not None]
    if text is None or not placed:
        return _shown(text)
    grave = ("neutral", "minor", "major", "critical")
    cuts = sorted({0, len(text), *(span[end] for span in placed for end in ("start", "end"))})
    parts = []
    for start, end in pairwise(cuts):
        over = [span for span in placed if span["start"] <= start and end <= span["end"]]
        worst = max(over, key=lambda span: grave.index(span["severity"]), default=None)
        if worst is None:
            parts.append(format_html("{}", text[start:end]))
        else:
            said = "; ".join(f"{span['severity']} {span['category'] or ''}".strip() for span in over)
            parts.append(format_html('<mark class="{}" title="{}">{}</mark>', worst["severity"], said, text[start:end]))
    return _join(parts)


def tree_to_html(nodes: Sequence[Node]) -> SafeString:
    """A tree of harmless tags as HTML; every text in it is escaped."""
    parts = []
    for node in nodes:
        if isinstance(node, str):
            parts.append(format_html("{}", node))
            continue
        tag, more = str(node[0]), str(node[1])
        inside = tree_to_html(node[2:])
        if tag not in TAGS | MARKDOWN_TAGS:
            parts.append(inside)
        elif tag in ("br", "hr"):
            parts.append(mark_safe(f"<{tag}>"))  # noqa: S308 - one of two tags
        else:
            name = "href" if tag == "a" else "dir"
            attribute = format_html(' {}="{}"', mark_safe(name), more) if more else ""  # noqa: S308 - one of two names
            parts.append(format_html("<{}{}>{}</{}>", mark_safe(tag), attribute, inside, mark_safe(tag)))  # noqa: S308 - a known tag
    return _join(parts)


def _join(parts: Sequence[SafeString]) -> SafeString:
    return mark_safe("".join(parts))  # noqa: S308 - every part is escaped
