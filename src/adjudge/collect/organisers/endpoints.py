"""The JSON interface of the organisers' page."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from ninja import Router
from ninja.errors import HttpError

from adjudge.collect.database import write_transaction
from adjudge.collect.export import read_judgments
from adjudge.collect.links import make_link, renew_link, revoke_links
from adjudge.collect.models import Annotator, Decision, Link
from adjudge.collect.organisers.overview import make_overview
from adjudge.collect.organisers.panel_refresh import latest_panels
from adjudge.collect.organisers.responses import DoneOut, LinkOut, OverviewOut, StatisticsOut
from adjudge.collect.responses import Fault
from adjudge.collect.schemas import AnnotatorIn, DecisionIn
from adjudge.collect.served_campaign import get_served
from adjudge.collect.sessions import OrganiserAuth
from adjudge.core.machine_judges import PREFIX, any_judge
from adjudge.formats import native

if TYPE_CHECKING:
    from adjudge.collect.sql_statements import Visitor

router = Router(auth=OrganiserAuth(), tags=["organising"])
_FAULTS = {401: Fault, 403: Fault, 422: Fault}
_WITH_404 = {**_FAULTS, 404: Fault}


@router.get("/overview", response={200: OverviewOut, **_FAULTS})
def show_overview(request: HttpRequest) -> dict[str, Any]:  # noqa: ARG001 - ninja hands it over
    """Progress, throughput, people and decisions."""
    return make_overview()


@router.get("/state", response={200: StatisticsOut, **_FAULTS})
def show_state(request: HttpRequest) -> dict[str, Any]:  # noqa: ARG001
    """How far the campaign is: verdict, possible ranks, what more judgments would buy."""
    return latest_panels("state")


@router.get("/panels", response={200: StatisticsOut, **_FAULTS})
def show_panels(request: HttpRequest) -> dict[str, Any]:  # noqa: ARG001
    """Statistics of the judgments so far, as far as they can be computed."""
    return latest_panels("statistics")


@router.get(
    "/export", response={200: None, **_FAULTS}, openapi_extra={"responses": {200: {"content": {"text/csv": {}}}}}
)
def export(request: HttpRequest) -> HttpResponse:  # noqa: ARG001
    """The judgment table as CSV, history included, excluded annotators marked."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "judgments.csv"
        native.write(read_judgments(with_excluded=True), file)
        answer = HttpResponse(file.read_bytes(), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = 'attachment; filename="judgments.csv"'
    return answer


@router.post("/annotators", response={200: LinkOut, 409: Fault, **_FAULTS})
def add_annotator(request: HttpRequest, body: AnnotatorIn) -> LinkOut:  # noqa: ARG001
    """Add a person and make the personal link."""
    name = body.name.strip()
    if any_judge([name]):
        raise HttpError(422, f"a name cannot begin with '{PREFIX}', as those of machine judges do; choose another")
    with write_transaction():
        annotator, new = Annotator.objects.get_or_create(name=name, defaults={"created": timezone.now()})
        if not new:
            raise HttpError(409, "there is an annotator of this name already")
        secret = make_link(days=_days(), annotator=annotator)
    return LinkOut(annotator=annotator.id, name=name, path=f"/enter#{secret}")


@router.post("/annotators/{annotator}/renew", response={200: LinkOut, **_WITH_404})
def renew(request: HttpRequest, annotator: int) -> LinkOut:  # noqa: ARG001
    """Revoke a person's links and make a new one."""
    with write_transaction():
        person = _person(annotator)
        secret = renew_link(person, days=_days())
    return LinkOut(annotator=person.id, name=person.name, path=f"/enter#{secret}")


@router.post("/annotators/{annotator}/revoke", response={200: DoneOut, **_WITH_404})
def revoke(request: HttpRequest, annotator: int) -> DoneOut:  # noqa: ARG001
    """Revoke a person's links; the sessions end at once."""
    with write_transaction():
        return DoneOut(changed=revoke_links(_person(annotator)))


@router.post("/annotators/{annotator}/decision", response={200: DoneOut, **_WITH_404})
def decide(request: HttpRequest, annotator: int, body: DecisionIn) -> DoneOut:
    """Exclude a person, or take the person back in, with the reason. Nothing is deleted."""
    visitor: Visitor = request.auth  # type: ignore[attr-defined]  # set by ninja once the visitor is known
    with write_transaction():
        person = _person(annotator)
        changed = person.excluded != body.excluded
        person.excluded = body.excluded
        person.save(update_fields=["excluded"])
        Decision.objects.create(
            annotator=person,
            excluded=body.excluded,
            reason=body.reason.strip(),
            who=visitor.label,
            made=timezone.now(),
        )
    return DoneOut(changed=int(changed))


@router.post("/links/{link}/revoke", response={200: DoneOut, **_WITH_404})
def revoke_organiser_link(request: HttpRequest, link: int) -> DoneOut:  # noqa: ARG001
    """Revoke an organiser's or a crowd platform's link."""
    with write_transaction():
        links = Link.objects.filter(pk=_in_range(link), annotator__isnull=True)
        if not links.exists():
            raise HttpError(404, "there is no such link")
        return DoneOut(changed=links.filter(revoked__isnull=True).update(revoked=timezone.now()))


def _person(number: int) -> Annotator:
    person = Annotator.objects.filter(pk=_in_range(number)).first()
    if person is None:
        raise HttpError(404, "there is no such annotator")
    return person


def _in_range(number: int) -> int:
    """A number that the database can compare with its own."""
    if not 0 <= number < 2**63:
        raise HttpError(404, "there is no such number")
    return number


def _days() -> int:
    return get_served().campaign.links.lifetime_days
