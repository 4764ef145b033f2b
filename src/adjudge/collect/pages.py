"""The pages: small shells that load the script which builds them. Everything shown comes by the JSON interface.

Also the health check: whether the database can be read and written to. A full disk shows there first.
"""

from __future__ import annotations

import os
import re
import threading
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from django.db import connection
from django.db.utils import DatabaseError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe

from adjudge.collect.database import write_transaction
from adjudge.collect.models import Campaign
from adjudge.collect.page_files import page_files, static_prefix
from adjudge.collect.served_campaign import get_served
from adjudge.collect.sessions import ANNOTATOR, ORGANISER, find_visitor_of
from adjudge.design.campaign.toml_file import logo_type

if TYPE_CHECKING:
    from django.http import HttpRequest

_TAKES_GZIP = re.compile(r"\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))")
# Anybody may ask, and each answer is a write: so it holds for a while.
_FRESH_SECONDS = 5.0
LEAST_FREE_BYTES = 50_000_000
_lock = threading.Lock()
_last: tuple[float, str] | None = None


@cache
def languages() -> str:
    """The languages of the interface: one catalogue file each."""
    return " ".join(sorted(Path(name).stem for name in page_files() if name.startswith("texts/")))


@require_safe
@ensure_csrf_cookie
def home(request: HttpRequest) -> HttpResponse:
    """The address without a path: redirects people to their page, or asks them to open their personal link."""
    if find_visitor_of(request, ANNOTATOR) is not None:
        return redirect("/work")
    if find_visitor_of(request, ORGANISER) is not None:
        return redirect("/organise")
    return _render_shell(request, "enter")


@require_safe
@ensure_csrf_cookie
def enter_page(request: HttpRequest) -> HttpResponse:
    """Where personal links lead: exchanges the secret behind `#` for a session."""
    return _render_shell(request, "enter")


@require_safe
@ensure_csrf_cookie
def work_page(request: HttpRequest) -> HttpResponse:
    """The annotator's page."""
    return redirect("/enter") if find_visitor_of(request, ANNOTATOR) is None else _render_shell(request, "work")


@require_safe
@ensure_csrf_cookie
def organise_page(request: HttpRequest) -> HttpResponse:
    """The organisers' page."""
    return redirect("/enter") if find_visitor_of(request, ORGANISER) is None else _render_shell(request, "organise")


@require_safe
def logo(request: HttpRequest) -> HttpResponse:
    """The campaign's logo. Opened by itself, an SVG file could hold scripts: the policy lets none run."""
    file = get_served().campaign.page.logo
    if file is None or not file.is_file():
        return not_found(request, FileNotFoundError())
    answer = HttpResponse(file.read_bytes(), content_type=logo_type(file))
    answer["Content-Security-Policy"] = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    answer["Cache-Control"] = "max-age=3600"
    return answer


@require_safe
def page_file(request: HttpRequest, version: str, name: str) -> HttpResponse:
    """A file that a page loads, compressed where the browser can unpack it, as all of today can."""
    file = page_files().get(name) if static_prefix() == f"/static/{version}/" else None
    if file is None:
        return not_found(request, FileNotFoundError())
    zipped = _TAKES_GZIP.search(request.headers.get("Accept-Encoding", "")) is not None
    answer = HttpResponse(file.zipped if zipped else file.content, content_type=file.kind)
    if zipped:
        answer["Content-Encoding"] = "gzip"
    answer["Vary"] = "Accept-Encoding"
    answer["Cache-Control"] = "max-age=31536000, public, immutable"
    return answer


@require_safe
def health(request: HttpRequest) -> HttpResponse:  # noqa: ARG001
    """For watchdogs: the process answers, and the database can be read and written to."""
    reason = find_trouble()
    return HttpResponse(f"{reason or 'ok'}\n", content_type="text/plain", status=503 if reason else 200)


def _render_shell(request: HttpRequest, page: str) -> HttpResponse:
    context = {
        "page": page,
        "static": static_prefix(),
        "languages": languages(),
        "title": get_served().campaign.name,
        "logo": "" if get_served().campaign.page.logo is None else "/logo",
    }
    return render(request, "collect/shell.html", context)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    """There is nothing at this address."""
    return HttpResponse("There is no such page. Please open your personal link.\n", "text/plain", status=404)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001
    """The request cannot be understood or allowed."""
    return HttpResponse("This request cannot be answered.\n", "text/plain", status=400)


def server_error(request: HttpRequest) -> HttpResponse:  # noqa: ARG001
    """A fault of the server itself; what was saved is safe."""
    return HttpResponse("Something went wrong here. What was saved is safe.\n", "text/plain", status=500)


def find_trouble() -> str:
    """What is wrong, in a few words; empty where nothing is. Tried anew every few seconds."""
    global _last  # noqa: PLW0603 - a cache of this process
    with _lock:
        if _last is None or time.monotonic() - _last[0] > _FRESH_SECONDS:
            _last = (time.monotonic(), _try_to_write())
        return _last[1]


def _try_to_write() -> str:
    try:
        with write_transaction():
            if not Campaign.objects.update(checked=timezone.now()):
                return "no campaign"
    except DatabaseError:
        return "the database cannot be written to (is the disk full?)"
    return _check_disk()


def _check_disk() -> str:
    """Whether there is room left where the embedded database lies."""
    if connection.vendor != "sqlite":
        return ""
    disk = os.statvfs(Path(str(connection.settings_dict["NAME"])).parent)
    return "the disk is almost full" if disk.f_bavail * disk.f_frsize < LEAST_FREE_BYTES else ""
