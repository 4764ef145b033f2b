"""What people agree to and answer before they judge, and the lists made of it: pay, and answers without names.

Answers lie apart from the judgments. Those that identify a person go to the pay list only, the others to a table that
knows people by their numbers only.
"""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

from django.db.models import Count
from django.utils import timezone
from ninja import Schema
from pydantic import Field

from adjudge.campaigns.questions import in_language
from adjudge.server.answers import Refused
from adjudge.server.commonmark import render_commonmark
from adjudge.server.models import Annotator, Assignment, FilledForm, Link
from adjudge.server.served_campaign import get_served
from adjudge.table.judgments import fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.campaigns.campaign_file import Question
    from adjudge.server.models import Visitor
    from adjudge.server.organisers import WorkDone

LONGEST_ANSWER = 2000
Answer = str | list[str]


class FilledIn(Schema):
    """A form as it was filled in: that the person agrees, and the answers by their keys."""

    agreed: bool
    answers: dict[str, Answer] = Field(default={})


def must_fill_in(annotator_id: int) -> bool:
    """Whether a person has yet to agree and to answer before the first task."""
    form = get_served().campaign.form
    return form.asks and not FilledForm.objects.filter(annotator_id=annotator_id).exists()


def describe_form(language: str) -> dict[str, Any]:
    """The form for the page. Which answers of a quiz are right is not among it."""
    form = get_served().campaign.form
    consent = in_language(form.consent, language).text if form.consent else None

    def describe(question: Question) -> dict[str, Any]:
        shown = in_language(question.answers, language) if question.answers else ()
        return {
            "key": question.key,
            "ask": in_language(question.ask, language),
            "answers": [list(pair) for pair in zip(question.choices, shown, strict=True)],
            "several": question.several,
            "required": question.required,
            "personal": question.personal,
        }

    return {
        "consent": None if consent is None else render_commonmark(consent),
        "questions": list(map(describe, form.questions)),
    }


def fill_in(visitor: Visitor, filled: FilledIn) -> list[str]:
    """Store a form; returns the questions of the quiz that were answered wrongly, if any: then nothing is stored."""
    form = get_served().campaign.form
    if not filled.agreed:
        raise Refused("nobody judges without having agreed", "form", 422)
    unknown = filled.answers.keys() - {question.key for question in form.questions}
    if unknown:
        raise Refused(f"the form has no question '{min(unknown)[:40]}'", "form", 422)
    answers = {question.key: _check_answer(question, filled.answers.get(question.key)) for question in form.questions}
    wrong = [
        question.key for question in form.questions if question.rights and answers[question.key] != set(question.rights)
    ]
    if wrong:
        return wrong
    parts: dict[bool, dict[str, Any]] = {True: {}, False: {}}
    for question in form.questions:
        given = filled.answers.get(question.key)
        if given and not question.rights:
            parts[question.personal][question.key] = given
    FilledForm.objects.get_or_create(
        annotator_id=visitor.annotator_id,
        defaults={
            "agreed": timezone.now(),
            "consent": fingerprint(json.dumps({name: text.text for name, text in form.consent.items()}), digits=64)
            if form.consent
            else "",
            "answers": json.dumps(parts[False], ensure_ascii=False),
            "personal": json.dumps(parts[True], ensure_ascii=False),
        },
    )
    return []


def decline(visitor: Visitor) -> None:
    """Forget who does not agree: a person sent by a crowd platform altogether, of others that the link was used."""
    person = Annotator.objects.get(pk=visitor.annotator_id)
    given = (FilledForm.objects, Assignment.objects)
    if any(rows.filter(annotator=person).exists() for rows in given):
        raise Refused("this person has agreed before; the organisers can erase what there is", "form", 409)
    if person.crowd:
        person.delete()
    else:
        Link.objects.filter(annotator=person).update(last_entered=None)


def _check_answer(question: Question, given: Answer | None) -> set[str]:
    """What was answered, as a set of texts; what the form does not have is refused."""
    several = [given] if isinstance(given, str) else list(given or [])
    chosen = {text for text in several if text.strip()}
    if question.required and not chosen:
        raise Refused(f"the question '{question.key}' has no answer", "form", 422)
    if len(several) > 1 and not question.several:
        raise Refused(f"the question '{question.key}' has one answer, not {len(several)}", "form", 422)
    if question.answers and not chosen <= set(question.choices):
        raise Refused(f"the question '{question.key}' has no such answer", "form", 422)
    if any(len(text) > LONGEST_ANSWER for text in chosen):
        raise Refused(f"an answer has at most {LONGEST_ANSWER} characters", "form", 422)
    return chosen


# Lists for organisers, as CSV. A cell that a spreadsheet would take for a formula begins with an apostrophe.


def _to_csv(rows: list[dict[str, Any]], columns: list[str]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(row.get(column)) for column in columns] for row in rows)
    return out.getvalue()


def _cell(value: Any) -> Any:
    text = "; ".join(value) if isinstance(value, list) else value
    return f"'{text}" if isinstance(text, str) and text.lstrip()[:1] in ("=", "+", "-", "@") else text


def _filled() -> Mapping[int, FilledForm]:
    return {form.annotator_id: form for form in FilledForm.objects.all()}  # type: ignore[attr-defined]


def list_answers() -> str:
    """What people answered, by number: no names, and nothing that was marked as personal."""
    questions = [question.key for question in get_served().campaign.form.questions if not question.personal]
    filled = _filled()
    people = Annotator.objects.filter(pk__in=list(filled)).order_by("number")
    rows = [{"annotator": person.number, **json.loads(filled[person.id].answers)} for person in people]
    return _to_csv(rows, ["annotator", *(key for key in questions if any(key in row for row in rows))])


def list_pay(done: Mapping[int, WorkDone]) -> str:
    """What everybody has done and is to be paid, with the answers that identify people."""
    campaign = get_served().campaign
    pay, personal = campaign.pay, [question.key for question in campaign.form.questions if question.personal]
    filled = _filled()
    finished = dict(
        Assignment.objects.filter(finished__isnull=False).values_list("annotator").annotate(count=Count("pk"))
    )
    rows = []
    for person in Annotator.objects.order_by("name"):
        work, tasks = done.get(person.id), finished.get(person.id, 0)
        if work is None and not tasks:
            continue
        seconds, judgments = (0.0, 0) if work is None else (work.active_seconds, work.judgments + work.controls)
        amount = pay.per_hour * seconds / 3600 + pay.per_judgment * judgments + pay.per_task * tasks
        form = filled.get(person.id)
        rows.append(
            {
                "annotator": person.name,
                **({} if form is None else json.loads(form.personal)),
                "tasks": tasks,
                "answers": judgments,
                "hours": round(seconds / 3600, 3),
                "amount": f"{amount:.2f}",
                "currency": pay.currency,
                "excluded": "yes" if person.excluded else "no",
                "attention": "; ".join(work.faults) if work is not None else "",
            }
        )
    columns = ["tasks", "answers", "hours", "amount", "currency", "excluded", "attention"]
    return _to_csv(rows, ["annotator", *personal, *columns])
