"""Who is asking: a link is exchanged for a session, and every request is checked against the link again."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils import timezone
from ninja.errors import HttpError
from ninja.security import APIKeyCookie

from adjudge.collect.links import NAME_LENGTH, find_link, make_link, valid_links
from adjudge.collect.models import Annotator, Link
from adjudge.collect.running import running
from adjudge.collect.statements import Visitor, find_visitor

if TYPE_CHECKING:
    from django.http import HttpRequest

ANNOTATOR, ORGANISER, CROWD = "annotator", "organiser", "crowd"
# A session that is in use is prolonged once per this share of its life.
_PROLONG_AFTER = 1 / 24


def enter(request: HttpRequest, secret: str, person: str | None) -> Link | None:
    """Exchange a link for a session; None where the link does not hold. A visitor may be organiser and annotator."""
    link = find_link(secret)
    if link is not None and link.role == CROWD:
        link = _crowd_link(person)
    if link is None:
        return None
    request.session[link.role] = link.id
    request.session["since"] = int(time.time())
    Link.objects.filter(pk=link.pk).update(last_entered=timezone.now())
    return link


def _crowd_link(person: str | None) -> Link | None:
    """The link of a person whom a crowd platform sends; made at the first visit, gone for good once revoked."""
    if not person or len(person) > NAME_LENGTH:
        return None
    annotator, new = Annotator.objects.get_or_create(name=person, defaults={"created": timezone.now(), "crowd": True})
    if not annotator.crowd:
        # The name of somebody with a personal link: nobody else may come in under it.
        return None
    if new or not Link.objects.filter(annotator=annotator).exists():
        make_link(role=ANNOTATOR, label=person, days=running().campaign.links.lifetime_days, annotator=annotator)
    return valid_links().select_related("annotator").filter(annotator=annotator).first()


def visitor_of(request: HttpRequest, role: str) -> Visitor | None:
    """Who this visitor is in that role, if the link still holds by which the visitor came."""
    number = request.session.get(role)
    if not isinstance(number, int):
        return None
    visitor = find_visitor(number, role)
    if visitor is not None:
        _prolong(request)
    return visitor


def _prolong(request: HttpRequest) -> None:
    now = int(time.time())
    if now - int(request.session.get("since", 0)) > settings.SESSION_COOKIE_AGE * _PROLONG_AFTER:
        request.session["since"] = now


class _SessionAuth(APIKeyCookie):
    """The session cookie, with protection against forged requests for everything that changes something."""

    role: str
    other: str

    def __init__(self) -> None:
        self.param_name = settings.SESSION_COOKIE_NAME
        super().__init__()

    def authenticate(self, request: HttpRequest, key: str | None) -> Visitor | None:  # noqa: ARG002
        visitor = visitor_of(request, self.role)
        if visitor is not None:
            return visitor
        if visitor_of(request, self.other) is not None:
            raise HttpError(403, f"this is for the {self.role} only")
        return None


class AnnotatorAuth(_SessionAuth):
    """Annotators only."""

    role, other = ANNOTATOR, ORGANISER


class OrganiserAuth(_SessionAuth):
    """Organisers only."""

    role, other = ORGANISER, ANNOTATOR
