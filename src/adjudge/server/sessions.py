"""Who is asking: a link is exchanged for a session, and every request is checked against the link again."""

from __future__ import annotations

import gzip
import hashlib
import hmac
import re
import secrets
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeGuard

from django.conf import settings
from django.contrib.sessions.backends import signed_cookies
from django.core import signing
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from ninja.errors import HttpError
from ninja.security import APIKeyCookie
from ninja.security.base import SecuritySchema

from adjudge.server.answers import Refused
from adjudge.server.database import SESSION_COOKIE, write_transaction
from adjudge.server.models import Annotator, Campaign, EndedSession, Link, Visitor, find_visitor
from adjudge.server.preparation import NAME_LENGTH, find_link, make_link, valid_links
from adjudge.server.served_campaign import get_served
from adjudge.server.sites import current_site, find_current_site
from adjudge.table.participants import PREFIX, any_judge, visible_name

if TYPE_CHECKING:
    from collections.abc import Callable


ANNOTATOR, ORGANISER, CROWD = "annotator", "organiser", "crowd"
# A session that is in use is prolonged once per this share of its life.
_PROLONG_AFTER = 1 / 24


def enter(request: HttpRequest, secret: str, person: str | None, signature: str | None) -> Link:
    """Exchange a link for a session, or raise `Refused`. A visitor may be organiser and annotator at once."""
    given = find_link(secret)
    link = _find_crowd_link(request, person, signature) if given is not None and given.role == CROWD else given
    if given is None or link is None:
        raise Refused("this link is not valid: it is mistyped, has expired or was revoked", "link", 403)
    # Another person in this browser, or the same one again: the former session ends, also where its cookie was copied.
    _end_sessions(request, link.role)
    request.session[link.role] = [link.id, secrets.token_hex(16)]
    request.session["since"] = int(time.time())
    # Of a crowd both are used: the link for everybody, and the one that was made for this person.
    Link.objects.filter(pk__in=(given.pk, link.pk)).update(last_entered=timezone.now())
    return link


def leave(request: HttpRequest) -> None:
    """End the sessions of this browser, for copies of its cookie too."""
    _end_sessions(request, ANNOTATOR, ORGANISER)
    request.session.flush()


def _end_sessions(request: HttpRequest, *roles: str) -> None:
    ended = [entry[1] for role in roles if _is_entry(entry := request.session.get(role))]
    if not ended:
        return
    now = timezone.now()
    with write_transaction():
        for number in ended:
            EndedSession.objects.get_or_create(id=number, defaults={"ended": now})
        # No link, and so no session, lives longer.
        oldest = now - timedelta(days=get_served().campaign.links.lifetime_days)
        EndedSession.objects.filter(ended__lt=oldest).delete()


def _is_entry(entry: object) -> TypeGuard[list[Any]]:
    """Whether this is what a session holds under a role: the number of a link, and the session's own."""
    return isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], int) and isinstance(entry[1], str)


def _find_crowd_link(request: HttpRequest, person: str | None, signature: str | None) -> Link | None:
    """The link of a person whom a crowd platform sends; made at the first visit, gone for good once revoked."""
    if not person or len(person) > NAME_LENGTH:
        raise Refused("this link needs the id of the person, which the platform adds to it", "person-missing", 403)
    if any_judge([visible_name(person)]):
        # Judgments under such a name would count as a machine's, and be left out of every ranking.
        raise Refused(f"an id cannot begin with '{PREFIX}', as the names of machine judges do", "person-missing", 403)
    signed = _is_signed(person, signature)
    crowd = get_served().campaign.crowd
    with write_transaction():
        annotator = Annotator.objects.filter(name=person).first()
        if annotator is None:
            # One registration at a time: the same id may come from several browsers at once, and each one counts.
            Campaign.objects.select_for_update().values_list("pk").first()
            annotator = Annotator.objects.filter(name=person).first()
        if annotator is None:
            if visible_name(person) != person:
                problem = "an id cannot hold invisible signs or needless blanks: it would look like another one"
                raise Refused(problem, "person-missing", 403)
            now = timezone.now()
            recent = Annotator.objects.filter(crowd=True, created__gt=now - timedelta(minutes=1)).count()
            if recent >= crowd.registrations_per_minute:
                raise Refused("too many people are registering; try again in a minute", "too-many", 429)
            browser = _browser_hash(request, new=True)
            annotator = Annotator.objects.create(name=person, created=now, crowd=True, browser_hash=browser)
        elif not annotator.crowd:
            # The name belongs to a personal link: no other person may enter under it.
            raise Refused("this id belongs to somebody who has a personal link", "person-taken", 403)
        elif not signed and annotator.browser_hash != _browser_hash(request):
            raise Refused("this id is already in use in another browser", "person-taken", 403)
        if not Link.objects.filter(annotator=annotator).exists():
            make_link(days=get_served().campaign.links.lifetime_days, annotator=annotator)
    return valid_links().select_related("annotator").filter(annotator=annotator).first()


def _is_signed(person: str, signature: str | None) -> bool:
    """Whether the platform vouches for the id. Where it could and does not, nobody is let in."""
    key = get_served().campaign.crowd.signing_key
    if key is None:
        return False
    expected = hmac.new(key.encode(), person.encode(), hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected, (signature or "").lower()):
        raise Refused("the id has no valid signature of the platform", "person-unsigned", 403)
    return True


def _browser_hash(request: HttpRequest, *, new: bool = False) -> str:
    """The hash of the cookie by which this browser is known; with `new`, one is given where there is none."""
    value = request.COOKIES.get(BROWSER_COOKIE, "")
    if new and not value:
        value = secrets.token_urlsafe(32)
        request.META["adjudge.new_browser"] = value
    return hashlib.sha256(value.encode()).hexdigest() if value else "unknown"


class SessionStore(signed_cookies.SessionStore):
    """A session in a cookie, signed with the key of its campaign."""

    _SALT = "django.contrib.sessions.backends.signed_cookies"

    def load(self) -> dict[str, Any]:
        """What the cookie holds; nothing where it is too old or of somebody else's making."""
        try:
            held: dict[str, Any] = signing.loads(
                self.session_key or "",
                key=current_site().key,
                serializer=self.serializer,
                max_age=self.get_session_cookie_age(),
                salt=self._SALT,
            )
        except Exception:  # noqa: BLE001 - whatever is wrong with it, it is no session
            self.create()
            return {}
        return held

    def get_session_cookie_age(self) -> int:
        """For how many seconds a session lives without work."""
        return current_site().session_seconds

    def _get_session_key(self) -> str:
        content = self._session  # type: ignore[attr-defined]
        return signing.dumps(
            content, key=current_site().key, compress=True, salt=self._SALT, serializer=self.serializer
        )


def find_visitor_of(request: HttpRequest, role: str) -> Visitor | None:
    """Who this visitor is in that role, if the link still holds by which the visitor came."""
    entry = request.session.get(role)
    if not _is_entry(entry):
        return None
    visitor, now = find_visitor(entry[0], role, entry[1]), int(time.time())
    in_use = now - int(request.session.get("since", 0))
    if visitor is not None and in_use > current_site().session_seconds * _PROLONG_AFTER:
        request.session["since"] = now
    return visitor


class _SessionAuth(APIKeyCookie):
    """The session cookie, with protection against forged requests for everything that changes something."""

    role: str

    @property
    def openapi_security_schema(self) -> SecuritySchema:
        """How the OpenAPI description names the cookie. Each campaign has its own name for it, so it is asked anew."""
        # A server of several campaigns has none at hand when it imports this module.
        site = find_current_site()
        campaign = "" if site is None else f"_{site.suffix}"
        return SecuritySchema("apiKey", **{"in": "cookie", "name": f"{SESSION_COOKIE}{campaign}"})

    @openapi_security_schema.setter
    def openapi_security_schema(self, schema: SecuritySchema) -> None:
        """Ignore what ninja sets: it would keep the name that the cookie has when this module is imported."""

    def authenticate(self, request: HttpRequest, key: str | None) -> Visitor | None:  # noqa: ARG002
        visitor = find_visitor_of(request, self.role)
        other = ORGANISER if self.role == ANNOTATOR else ANNOTATOR
        if visitor is None and find_visitor_of(request, other) is not None:
            raise HttpError(403, f"this is for the {self.role} only")
        return visitor


class AnnotatorAuth(_SessionAuth):
    """Annotators only."""

    role = ANNOTATOR


class OrganiserAuth(_SessionAuth):
    """Organisers only."""

    role = ORGANISER


# Middleware: headers that protect browsers, and limits on what may be sent to the JSON interface.

# Everything comes from this server, nothing is inline, nothing can frame the page, and no text can become markup.
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; "
        "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; "
        "require-trusted-types-for 'script'"
    ),
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
# What is no page shows nothing, runs nothing and links to nothing, also where somebody opens it by itself.
HEADERS_OF_DATA = HEADERS | {"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'"}
del HEADERS_OF_DATA["Permissions-Policy"]
_OF_PAGES = ("Cross-Origin-Opener-Policy", "Referrer-Policy", "X-Frame-Options")
# A year: longer than any campaign lets a link live.
BROWSER_COOKIE_SECONDS = 31_536_000
BROWSER_COOKIE = "adjudge_browser"
INTERFACE = "/api/"
# Up to here a body that is too long is read and thrown away: an answer before its end looks like a broken connection.
MOST_DISCARDED = 20_000_000
_CHUNK = 65_536
_TAKES_GZIP = re.compile(r"\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))")
_COMPRESSED = re.compile(r"text/html|application/json")
_LEAST_COMPRESSED = 600


def security_headers(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: add the headers to every answer; Django's own middleware adds the remaining ones.

    A browser in which a crowd worker came first gets the cookie by which it is known again.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        shown = response.get("Content-Type", "").startswith("text/html")
        for name, value in (HEADERS if shown else HEADERS_OF_DATA).items():
            response.setdefault(name, value)
        for name in () if shown else _OF_PAGES:
            del response[name]
        if browser := request.META.get("adjudge.new_browser"):
            secure: bool = settings.SESSION_COOKIE_SECURE
            age = BROWSER_COOKIE_SECONDS
            response.set_cookie(BROWSER_COOKIE, browser, age, secure=secure, httponly=True, samesite="Lax")
        return response

    return middleware


def compress(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: send pages and longer answers compressed. Tokens in pages are masked anew each time."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        plain = not response.streaming and not response.has_header("Content-Encoding")
        if plain and len(response.content) > _LEAST_COMPRESSED and _COMPRESSED.match(response.get("Content-Type", "")):
            patch_vary_headers(response, ["Accept-Encoding"])
            if takes_gzip(request):
                response.content = gzip.compress(response.content, compresslevel=6, mtime=0)
                response["Content-Encoding"] = "gzip"
        return response

    return middleware


def takes_gzip(request: HttpRequest) -> bool:
    """Whether the browser can unpack gzip, as all of today can."""
    return _TAKES_GZIP.search(request.headers.get("Accept-Encoding", "")) is not None


def only_json(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: refuse other bodies before anything reads them, in words that the page can pass on."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.method == "POST" and request.path_info.startswith(INTERFACE):
            # int() refuses thousands of digits; so few already say too much.
            length = request.headers.get("Content-Length", "0")[:18]
            most: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
            if length.isdecimal() and int(length) > most:
                while int(length) <= MOST_DISCARDED and request.read(_CHUNK):
                    pass
                return JsonResponse({"detail": f"this is too long: at most {most} bytes are taken"}, status=413)
            if length != "0" and request.content_type != "application/json":
                return JsonResponse({"detail": "only application/json is understood"}, status=415)
        return get_response(request)

    return middleware
