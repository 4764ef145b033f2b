"""The JSON interface of the annotators' page. Every call is authorised here; `/api/openapi.json` describes it."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from ninja import NinjaAPI, Status
from ninja.errors import HttpError, ValidationError
from ninja.utils import check_csrf

from adjudge._version import __version__
from adjudge.collect.adaptive import is_adaptive, observe
from adjudge.collect.answers import Refused
from adjudge.collect.assign import current_assignment, lock_campaign, propose
from adjudge.collect.current_task import describe_state, describe_work
from adjudge.collect.database import decision_lock, write_transaction
from adjudge.collect.models import Assignment, ScreenState
from adjudge.collect.organisers.endpoints import router as organiser_router
from adjudge.collect.responses import EnterOut, Fault, FinishOut, SavedOut, WorkOut
from adjudge.collect.running import ensure_tasks
from adjudge.collect.saves import save
from adjudge.collect.schemas import EnterIn, SaveIn
from adjudge.collect.served_campaign import get_served
from adjudge.collect.sessions import AnnotatorAuth, enter
from adjudge.collect.sessions import leave as end_sessions
from adjudge.collect.sql_statements import Visitor

api = NinjaAPI(
    title="adjudge",
    version=__version__,
    description="Judging translations: what the annotators' and the organisers' pages use.",
    docs_url=None,
    urls_namespace="api",
)
api.add_router("/organiser", organiser_router)
_FAULTS = {401: Fault, 403: Fault, 422: Fault}
MOST_FAULTS, MOST_PARTS, LONGEST_WORD, LONGEST_MESSAGE = 5, 6, 60, 200
_as_annotator = AnnotatorAuth()


@api.exception_handler(Refused)
def _refused(request: HttpRequest, fault: Refused) -> HttpResponse:
    return api.create_response(request, {"detail": str(fault), "code": fault.code}, status=fault.status)


@api.exception_handler(ValidationError)
def _invalid(request: HttpRequest, fault: ValidationError) -> HttpResponse:
    """Say what is wrong with a request, in few words: a long wrong request gets no long answer."""
    faults = [
        {
            "loc": [str(part)[:LONGEST_WORD] for part in error["loc"][:MOST_PARTS]],
            "msg": str(error["msg"])[:LONGEST_MESSAGE],
        }
        for error in fault.errors[:MOST_FAULTS]
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
    return describe_work(_visitor(request), task=task)


@api.post("/tasks/next", response={200: WorkOut, **_FAULTS}, auth=_as_annotator, tags=["judging"], exclude_unset=True)
def take_next(request: HttpRequest) -> dict[str, Any]:
    """Take the next task, if the one in hand has been handed in."""
    visitor = _visitor(request)
    with decision_lock():
        proposal = propose(visitor)
        with write_transaction():
            current_assignment(visitor, proposal)
    return describe_work(visitor)


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
    return {
        "id": body.id,
        "saved": saved.received,
        "state": describe_state(saved.state),
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
        if is_adaptive():  # one at a time: observations are numbered
            lock_campaign()
        assignment = Assignment.objects.select_for_update().filter(annotator_id=visitor.annotator_id, task=task).first()
        if assignment is None:
            raise HttpError(404, f"task '{task}' was not given to you")
        states = ScreenState.objects.filter(assignment=assignment, complete=True)
        complete = set(states.values_list("screen", flat=True))
        missing = [screen.id for screen in get_served().task_by_id[task].screens if screen.id not in complete]
        if not missing and assignment.finished is None:
            assignment.finished = timezone.now()
            assignment.save(update_fields=["finished"])
            if is_adaptive():
                observe(assignment)
    return FinishOut(finished=not missing, missing=missing)


def _visitor(request: HttpRequest) -> Visitor:
    visitor: Visitor = request.auth  # type: ignore[attr-defined]  # set by ninja once the visitor is known
    return visitor
