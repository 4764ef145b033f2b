"""The JSON interface of the annotators' page. Every call is authorised here; `/api/openapi.json` describes it."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase  # noqa: TC002 - ninja reads the types when it runs
from django.urls import path
from django.utils import timezone
from ninja import NinjaAPI, Router, Status
from ninja.errors import HttpError, ValidationError
from ninja.utils import check_csrf

from adjudge._version import __version__
from adjudge.campaigns.media import MEDIA_TYPES
from adjudge.readers import native
from adjudge.server import actions, erasing, forms, log, pages, tasks
from adjudge.server.actions import NewsOut
from adjudge.server.answers import Refused, find_lessons
from adjudge.server.commonmark import describe_instructions
from adjudge.server.database import decision_lock, write_transaction
from adjudge.server.export import current_stamp, read_judgments, with_record
from adjudge.server.forms import FilledIn, describe_form, fill_in, list_answers, list_pay
from adjudge.server.media import send_medium
from adjudge.server.models import Annotator, Assignment, Decision, Link, ScreenState, Visitor
from adjudge.server.organisers import (
    DoneOut,
    ErasedOut,
    ExtendedOut,
    LinkOut,
    OverviewOut,
    StatisticsOut,
    SummaryOut,
    count_work,
    make_overview,
    make_summary,
    panel_groups,
)
from adjudge.server.preparation import make_link, revoke_links
from adjudge.server.processes import ensure_tasks, load_new_tasks
from adjudge.server.responses import (
    EnterOut,
    Fault,
    FilledInOut,
    FinishOut,
    FormOut,
    InstructionsOut,
    SavedOut,
    WorkOut,
)
from adjudge.server.saves import (
    AnnotatorIn,
    DecisionIn,
    EnterIn,
    EraseIn,
    ExtendIn,
    MessageIn,
    ReassignIn,
    SaveIn,
    StateIn,
    save,
)
from adjudge.server.served_campaign import get_served
from adjudge.server.sessions import ANNOTATOR, ORGANISER, AnnotatorAuth, OrganiserAuth, enter
from adjudge.server.sessions import leave as end_sessions
from adjudge.table.participants import PREFIX, any_judge, visible_name

# The JSON interface of the organisers' page.

router = Router(auth=OrganiserAuth(), tags=["organising"])
_FAULTS = {401: Fault, 403: Fault, 422: Fault}
_WITH_404 = {**_FAULTS, 404: Fault}


@router.get("/overview", response={200: OverviewOut, **_FAULTS})
def show_overview(request: HttpRequest) -> dict[str, Any]:  # noqa: ARG001 - ninja hands it over
    """Progress, throughput, people and decisions."""
    return make_overview()


@router.get("/summary", response={200: SummaryOut, **_FAULTS})
def show_summary(request: HttpRequest) -> dict[str, Any]:  # noqa: ARG001
    """The campaign in a line of the overview of all campaigns."""
    return make_summary()


@router.get("/state", response={200: StatisticsOut, **_FAULTS})
def show_state(request: HttpRequest) -> dict[str, Any]:  # noqa: ARG001
    """How far the campaign is: verdict, possible ranks, what more judgments would buy."""
    return panel_groups()["state"].latest()


@router.get("/panels", response={200: StatisticsOut, **_FAULTS})
def show_panels(request: HttpRequest) -> dict[str, Any]:  # noqa: ARG001
    """Statistics of the judgments so far, as far as they can be computed."""
    return panel_groups()["statistics"].latest()


_TABLES = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}
_TABLE_CONTENT: dict[str, dict[str, Any]] = {name.partition(";")[0]: {} for name in _TABLES.values()}


@router.get("/export", response={200: None, **_FAULTS}, openapi_extra={"responses": {200: {"content": _TABLE_CONTENT}}})
def export(request: HttpRequest, format: Literal["csv", "parquet"] = "csv") -> HttpResponse:  # noqa: A002, ARG001
    """The judgment table, history included, excluded annotators marked; as Parquet with the record of the campaign."""
    judgments = read_judgments(with_excluded=True)
    if format == "parquet":
        statistics = get_served().statistics
        judgments = with_record(judgments, None if statistics is None else statistics.read_looks)
    with TemporaryDirectory() as folder:
        file = Path(folder) / f"judgments.{format}"
        native.write(judgments, file)
        answer = HttpResponse(file.read_bytes(), content_type=_TABLES[format])
    answer["Content-Disposition"] = f'attachment; filename="judgments.{format}"'
    return answer


_CSV_CONTENT: dict[str, Any] = {"responses": {200: {"content": {"text/csv": {}}}}}


@router.get("/people", response={200: None, **_FAULTS}, openapi_extra=_CSV_CONTENT)
def list_people(request: HttpRequest, what: Literal["pay", "answers"] = "pay") -> HttpResponse:  # noqa: ARG001
    """The pay list, with names; or what people answered before judging, by number and without names. As CSV."""
    table = list_answers() if what == "answers" else list_pay(count_work(current_stamp()))
    answer = HttpResponse(table, content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{what}.csv"'
    return answer


@router.post("/annotators", response={200: LinkOut, 409: Fault, **_FAULTS})
def add_annotator(request: HttpRequest, body: AnnotatorIn) -> LinkOut:
    """Add a person and make the personal link."""
    name = body.name.strip()
    if any_judge([name]):
        raise HttpError(422, f"a name cannot begin with '{PREFIX}', as those of machine judges do; choose another")
    with write_transaction():
        others = Annotator.objects.exclude(name=name).values_list("name", flat=True)
        if any(visible_name(other) == visible_name(name) for other in others):
            raise HttpError(409, "there is an annotator already whose name looks the same")
        annotator, new = Annotator.objects.get_or_create(name=name, defaults={"created": timezone.now()})
        if not new:
            raise HttpError(409, "there is an annotator of this name already")
        secret = make_link(days=get_served().campaign.links.lifetime_days, annotator=annotator)
        actions.enter_action("person", _visitor(request).label, name)
    return LinkOut(annotator=annotator.id, name=name, path=f"/enter#{secret}")


@router.post("/annotators/{annotator}/renew", response={200: LinkOut, **_WITH_404})
def renew(request: HttpRequest, annotator: int) -> LinkOut:
    """Revoke a person's links and make a new one."""
    with write_transaction():
        person = _find_person(annotator)
        revoke_links(person)
        secret = make_link(days=get_served().campaign.links.lifetime_days, annotator=person)
        actions.enter_action("link", _visitor(request).label, person.name)
    return LinkOut(annotator=person.id, name=person.name, path=f"/enter#{secret}")


@router.post("/annotators/{annotator}/revoke", response={200: DoneOut, **_WITH_404})
def revoke(request: HttpRequest, annotator: int) -> DoneOut:
    """Revoke a person's links; the sessions end at once."""
    with write_transaction():
        person = _find_person(annotator)
        changed = revoke_links(person)
        actions.enter_action("revoke", _visitor(request).label, person.name)
    return DoneOut(changed=changed)


@router.post("/state", response={200: DoneOut, **_FAULTS})
def change_state(request: HttpRequest, body: StateIn) -> DoneOut:
    """Pause the campaign (nobody gets another task), close it (nobody judges any more), or resume it."""
    return DoneOut(changed=int(actions.change_state(body.state, _visitor(request).label)))


@router.post("/annotators/{annotator}/reassign", response={200: DoneOut, **_WITH_404})
def reassign(request: HttpRequest, annotator: int, body: ReassignIn) -> DoneOut:
    """Give a person's unfinished and future tasks to others, or let the person get tasks again. Judgments stay."""
    person = _find_person(annotator)
    return DoneOut(changed=int(actions.reassign(person, _visitor(request).label, back=body.back)))


@router.post("/extend", response={200: ExtendedOut, 409: Fault, **_FAULTS})
def extend(request: HttpRequest, body: ExtendIn) -> ExtendedOut:
    """Want more judgments of the same texts, as `adjudge extend` does."""
    return ExtendedOut(said=actions.extend_campaign(body.judgments, _visitor(request).label))


_WAITING = """<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="3">
<title>Report</title><p>The report is being made. This may take minutes; it appears here as soon as it is ready.</p>
</html>"""


@router.get("/report", response={200: None, 409: Fault, **_FAULTS})
def report(request: HttpRequest) -> HttpResponse:  # noqa: ARG001
    """The report of the judgments so far, as a page; while it is being made, a page that waits for it."""
    page, trouble = actions.open_report()
    if trouble:
        raise Refused(trouble, status=409)
    if page is None:
        return HttpResponse(_WAITING)
    answer = HttpResponse(page)
    # The report has its own scripts and styles inside. In a sandbox they reach neither the session nor the server.
    own = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:"
    answer["Content-Security-Policy"] = f"sandbox allow-scripts allow-downloads; {own}; frame-ancestors 'none'"
    return answer


@router.post("/messages", response={200: DoneOut, **_WITH_404})
def send_message(request: HttpRequest, body: MessageIn) -> DoneOut:
    """Write to one annotator, or to all."""
    person = None if body.annotator is None else _find_person(body.annotator)
    actions.send_message(body.text.strip(), _visitor(request).label, person)
    return DoneOut(changed=1)


@router.post("/annotators/{annotator}/decision", response={200: DoneOut, **_WITH_404})
def decide(request: HttpRequest, annotator: int, body: DecisionIn) -> DoneOut:
    """Exclude a person, or take the person back in, with the reason. Nothing is deleted."""
    with write_transaction():
        tasks.lock_campaign()
        person = _find_person(annotator)
        changed = person.excluded != body.excluded
        person.excluded = body.excluded
        person.save(update_fields=["excluded"])
        why, who = body.reason.strip(), _visitor(request).label
        decision = Decision.objects.create(
            annotator=person, excluded=body.excluded, reason=why, who=who, made=timezone.now()
        )
        log.enter(log.EXCLUSION, decision.id, log.content_of_decision(person.name, decision))
    return DoneOut(changed=int(changed))


@router.post("/annotators/{annotator}/erase", response={200: ErasedOut, 409: Fault, **_WITH_404})
def erase(request: HttpRequest, annotator: int, body: EraseIn) -> ErasedOut:
    """Erase a person for good: name, form and links; the judgments stay under a number, or go too."""
    person, place = _find_person(annotator), get_served().place
    if body.name.strip() != person.name:
        raise Refused("this is not the person's name; nothing was erased", status=409)
    file = None if place is None else place[0]
    done = erasing.erase(person, _visitor(request).label, judgments=body.judgments, campaign_file=file)
    load_new_tasks()
    return ErasedOut(number=done.number, notes=list(done.notes))


@router.post("/links/{link}/revoke", response={200: DoneOut, **_WITH_404})
def revoke_organiser_link(request: HttpRequest, link: int) -> DoneOut:
    """Revoke an organiser's or a crowd platform's link."""
    with write_transaction():
        links = Link.objects.filter(pk=_in_range(link), annotator__isnull=True)
        if not links.exists():
            raise HttpError(404, "there is no such link")
        changed = links.filter(revoked__isnull=True).update(revoked=timezone.now())
        actions.enter_action("revoke", _visitor(request).label, links.get().label)
    return DoneOut(changed=changed)


def _find_person(number: int) -> Annotator:
    person = Annotator.objects.filter(pk=_in_range(number)).first()
    if person is None:
        raise HttpError(404, "there is no such annotator")
    return person


def _in_range(number: int) -> int:
    """A number that the database can compare with its own."""
    if not 0 <= number < 2**63:
        raise HttpError(404, "there is no such number")
    return number


api = NinjaAPI(
    title="adjudge",
    version=__version__,
    description="Judging translations: what the annotators' and the organisers' pages use.",
    docs_url=None,
    urls_namespace="api",
)
api.add_router("/organiser", router)
_as_annotator = AnnotatorAuth()


@api.exception_handler(Refused)
def _refused(request: HttpRequest, fault: Refused) -> HttpResponse:
    return api.create_response(request, {"detail": str(fault), "code": fault.code}, status=fault.status)


@api.exception_handler(ValidationError)
def _invalid(request: HttpRequest, fault: ValidationError) -> HttpResponse:
    """Say what is wrong with a request, in few words: a long wrong request gets no long answer."""
    most_faults, most_parts, longest_word, longest_message = 5, 6, 60, 200
    faults = [
        {"loc": [str(part)[:longest_word] for part in error["loc"][:most_parts]], "msg": error["msg"][:longest_message]}
        for error in fault.errors[:most_faults]
    ]
    return api.create_response(request, {"detail": faults}, status=422)


@api.post("/enter", response={200: EnterOut, 403: Fault, 422: Fault, 429: Fault}, auth=None, tags=["entering"])
def enter_by_link(request: HttpRequest, body: EnterIn) -> EnterOut:
    """Exchange a personal link for a session."""
    if check_csrf(request) is not None:
        raise HttpError(403, "CSRF check failed")
    link = enter(request, body.secret, body.person, body.signature)
    return EnterOut(role=link.role, name=link.label)


@api.post("/leave", response={204: None, 403: Fault, 422: Fault}, auth=None, tags=["entering"])
def leave(request: HttpRequest) -> Status[None]:
    """End the session in this browser."""
    if check_csrf(request) is not None:
        raise HttpError(403, "CSRF check failed")
    end_sessions(request)
    return Status(204, None)


@api.get("/work", response={200: WorkOut, **_FAULTS}, auth=_as_annotator, tags=["judging"], exclude_unset=True)
def work(request: HttpRequest, task: str | None = None) -> dict[str, Any]:
    """The task in hand with all its screens, or an earlier one by its id."""
    visitor = _visitor(request)
    return {**tasks.describe_work(visitor, task=task), "news": actions.news_for(visitor.name)}


@api.get("/instructions", response={200: InstructionsOut, **_FAULTS}, auth=_as_annotator, tags=["judging"])
def instructions(request: HttpRequest, language: str = "en") -> dict[str, Any]:  # noqa: ARG001
    """What annotators are told, in the language of the page if there are words in it."""
    return describe_instructions(language)


@api.get("/form", response={200: FormOut, **_FAULTS}, auth=_as_annotator, tags=["judging"])
def form(request: HttpRequest, language: str = "en") -> dict[str, Any]:  # noqa: ARG001
    """What people agree to and answer before they judge, in the language of the page if there are words in it."""
    return describe_form(language)


@api.post("/form", response={200: FilledInOut, **_FAULTS}, auth=_as_annotator, tags=["judging"])
def send_form(request: HttpRequest, body: FilledIn) -> FilledInOut:
    """Agree and answer. If answers of a quiz are wrong, nothing is stored, and they can be given anew."""
    with write_transaction():
        return FilledInOut(wrong=fill_in(_visitor(request), body))


@api.post("/decline", response={204: None, 409: Fault, **_FAULTS}, auth=_as_annotator, tags=["judging"])
def decline(request: HttpRequest) -> Status[None]:
    """Do not agree: nothing is kept of a person sent by a crowd platform, and the session ends."""
    with write_transaction():
        forms.decline(_visitor(request))
    end_sessions(request)
    return Status(204, None)


@api.get("/news", response={200: NewsOut, **_FAULTS}, auth=_as_annotator, tags=["judging"])
def news(request: HttpRequest) -> dict[str, Any]:
    """Whether the campaign goes on, and messages from the organisers."""
    return actions.news_for(_visitor(request).name)


@api.post("/tasks/next", response={200: WorkOut, **_FAULTS}, auth=_as_annotator, tags=["judging"], exclude_unset=True)
def take_next(request: HttpRequest) -> dict[str, Any]:
    """Take the next task, if the one in hand has been handed in."""
    visitor = _visitor(request)
    with decision_lock():
        proposal = tasks.propose(visitor)
        with write_transaction():
            tasks.current_assignment(visitor, proposal)
    return {**tasks.describe_work(visitor), "news": actions.news_for(visitor.name)}


@api.post(
    "/saves", response={200: SavedOut, 409: Fault, **_FAULTS}, auth=_as_annotator, tags=["judging"], exclude_unset=True
)
def save_changes(request: HttpRequest, body: SaveIn) -> dict[str, Any]:
    """Save changes of one screen. Acknowledged once they are on the disk; the same save twice counts once."""
    visitor = _visitor(request)
    if body.annotator != visitor.annotator_id:
        # Another person has entered in this browser since: what the first one judged must not become theirs.
        raise HttpError(401, "this browser is now used by somebody else")
    saved = save(visitor.annotator_id, body)
    task, screen = get_served().task_by_id.get(body.task), get_served().screen_by_id.get((body.task, body.screen))
    return {
        "id": body.id,
        "saved": saved.received,
        "state": tasks.describe_state(saved.state, task, screen),
        # The key of earlier versions: pages that are open while the server is upgraded read it.
        "met": list(saved.conflicts),
        "repeated": saved.repeated,
        "released": saved.released,
    }


@api.post(
    "/tasks/{task}/finish", response={200: FinishOut, 404: Fault, **_FAULTS}, auth=_as_annotator, tags=["judging"]
)
def finish(request: HttpRequest, task: str) -> FinishOut:
    """Hand in a task, if nothing is missing."""
    visitor = _visitor(request)
    ensure_tasks([task])
    if task not in get_served().task_by_id:
        raise HttpError(404, "there is no such task")
    with decision_lock(), write_transaction():
        tasks.lock_campaign()  # one at a time: observations and entries of the log are numbered
        assignment = Assignment.objects.select_for_update().filter(annotator_id=visitor.annotator_id, task=task).first()
        if assignment is None:
            raise HttpError(404, f"task '{task}' was not given to you")
        states = ScreenState.objects.filter(assignment=assignment, complete=True)
        answers = {screen: json.loads(given) for screen, given in states.values_list("screen", "answers")}
        whole = get_served().task_by_id[task]
        missing = [
            screen.id
            for screen in whole.screens
            if screen.id not in answers or find_lessons(answers[screen.id], whole, screen)
        ]
        if not missing and assignment.finished is None:
            assignment.finished = timezone.now()
            assignment.save(update_fields=["finished"])
            if tasks.is_adaptive():
                tasks.observe(assignment)
            tasks.enter_handed_in(assignment, visitor.name)
    return FinishOut(finished=not missing, missing=missing)


_MEDIA: dict[str, dict[str, Any]] = {kind: {} for kind in sorted(set(MEDIA_TYPES.values()))}


@api.get(
    "/media/{task}/{place}/{number}",
    response={200: None, 404: Fault, **_FAULTS},
    auth=_as_annotator,
    tags=["judging"],
    openapi_extra={"responses": {200: {"content": _MEDIA}}},
)
def medium(request: HttpRequest, task: str, place: str, number: int) -> HttpResponseBase:
    """A picture, sound or video of a task in hand or done, whole or in part (`Range`)."""
    return send_medium(request, _visitor(request), task, place, number)


def _visitor(request: HttpRequest) -> Visitor:
    visitor: Visitor = request.auth  # type: ignore[attr-defined]  # set by ninja once the visitor is known
    return visitor


# Every address of the app. `tests/server/test_authorisation.py` wants a row for each.

urlpatterns = [
    path("", pages.home),
    path("enter", pages.page, {"name": "enter", "role": None}),
    path("work", pages.page, {"name": "", "role": ANNOTATOR}),
    path("organise", pages.page, {"name": "organise", "role": ORGANISER}),
    path("health", pages.health),
    path("logo", pages.logo),
    path("static/<str:version>/<path:name>", pages.page_file),
    path("api/", api.urls),
]
handler400 = pages.bad_request
handler404 = pages.not_found
handler500 = pages.server_error
