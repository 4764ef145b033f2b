"""Middleware: headers that protect browsers, and limits on what may be sent to the JSON interface."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from django.http import JsonResponse

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse
    from django.http.response import HttpResponseBase

# Everything comes from this server, nothing is inline, nothing can frame the page, and no text can become markup.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'"
)
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
# A year: longer than any campaign lets a link live.
BROWSER_COOKIE_SECONDS = 31_536_000
INTERFACE = "/api/"
# Up to here a body that is too long is read and thrown away: an answer before its end looks like a broken connection.
MOST_DISCARDED = 20_000_000
_CHUNK = 65_536


def browser_cookie(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: give a browser the cookie by which it is known again, where a crowd worker came in it first."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        value = request.META.get("adjudge.new_browser")
        if value:
            response.set_cookie(
                settings.ADJUDGE_BROWSER_COOKIE,
                value,
                max_age=BROWSER_COOKIE_SECONDS,
                secure=settings.SESSION_COOKIE_SECURE,
                httponly=True,
                samesite="Lax",
            )
        return response

    return middleware


def security_headers(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: add the headers to every answer; Django's own middleware adds the remaining ones."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        for name, value in HEADERS.items():
            response.setdefault(name, value)
        return response

    return middleware


def only_json(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: refuse other bodies before anything reads them, in words that the page can pass on."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if request.method == "POST" and request.path.startswith(INTERFACE):
            length = request.headers.get("Content-Length", "0")
            most: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
            if length.isdecimal() and int(length) > most:
                _discard(request, int(length))
                return JsonResponse({"detail": f"this is too long: at most {most} bytes are taken"}, status=413)
            if length != "0" and request.content_type != "application/json":
                return JsonResponse({"detail": "only application/json is understood"}, status=415)
        return get_response(request)

    return middleware


def _discard(request: HttpRequest, length: int) -> None:
    while length <= MOST_DISCARDED and request.read(_CHUNK):
        pass
