"""The pages of a server with several campaigns that belong to none of them: the way in, and the organisers' overview.

They know nothing of what is judged. A link that is opened here leads to the campaign that it belongs to. A link of the
organisers of all campaigns is valid in each of them; the page enters each, and asks each how far it is.
"""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from adjudge.server import pages
from adjudge.server.preparation import find_link
from adjudge.server.served_campaign import get_served
from adjudge.server.sites import Site, all_sites, public_path, working_for

_LONGEST_SECRET = 200


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """The page: asks for a link, or shows the campaigns that the browser has entered as organiser."""
    return pages.render_page(request, "overview", "adjudge")


# It changes nothing, and says nothing without a secret.
@csrf_exempt
@require_POST
def campaigns(request: HttpRequest) -> HttpResponse:
    """The campaigns in which a link is valid."""
    try:
        secret = json.loads(request.body)["secret"]
    except (ValueError, KeyError, TypeError, RecursionError):
        secret = None
    if not isinstance(secret, str) or not 0 < len(secret) <= _LONGEST_SECRET:
        return JsonResponse({"detail": "the secret of a link is missing"}, status=422)
    found = [place for site in all_sites() if (place := _describe(site, secret)) is not None]
    if not found:
        problem = "this link is not valid: it is mistyped, has expired or was revoked"
        return JsonResponse({"detail": problem, "code": "link"}, status=403)
    return JsonResponse({"campaigns": found})


def _describe(site: Site, secret: str) -> dict[str, Any] | None:
    with working_for(site):
        link = find_link(secret)
        if link is None:
            return None
        return {"path": public_path(site), "name": get_served().campaign.name, "role": link.role}


@require_safe
def health(request: HttpRequest) -> HttpResponse:  # noqa: ARG001
    """For watchdogs: whether all campaigns can be read and written to."""
    troubles = []
    for site in all_sites():
        with working_for(site):
            if reason := pages.find_trouble():
                troubles.append(f"{site.path}: {reason}")
    text = "\n".join(troubles) or "ok"
    return HttpResponse(f"{text}\n", content_type="text/plain", status=503 if troubles else 200)


urlpatterns = [
    path("", overview),
    path("enter", overview),
    path("organise", overview),
    path("health", health),
    path("api/campaigns", campaigns),
    path("static/<str:version>/<path:name>", pages.page_file),
]
handler400 = pages.bad_request
handler404 = pages.not_found
handler500 = pages.server_error
