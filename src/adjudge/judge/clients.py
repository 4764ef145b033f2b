"""Who is asked: an OpenAI-compatible endpoint over HTTP; `program` has the other kind.

Answers are limited in size and in time, whatever the other side does. The key stands in an environment variable, goes
into one header, and is removed from everything that is shown.
"""

from __future__ import annotations

import http.client
import json
import math
import os
import socket
import ssl
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from adjudge._version import __version__
from adjudge.core.errors import AdjudgeError, UsageError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MOST_BYTES = 1_000_000
"""The longest answer that is read."""
AGAIN = (408, 409, 425, 429, 500, 502, 503, 504, 529)
"""Statuses after which the same question may be answered later."""
REFUSED = (401, 403, 404, 405)
"""Statuses after which no question will be answered."""
REDIRECTS = (301, 302, 303, 307, 308)
"""Never followed: texts and the key go to the address that the user gave, and nowhere else."""
LONGEST_WAIT = 60.0
_PIECE = 65536


class EndpointError(AdjudgeError):
    """The endpoint or program that should judge does not work: nothing more is asked."""

    slug = "endpoint"


class NoAnswerError(Exception):
    """No answer to this question; `later` says whether it may come if asked again, and after how many seconds."""

    def __init__(self, reason: str, *, later: bool, wait: float | None = None) -> None:
        super().__init__(reason)
        self.later = later
        self.wait = wait


class Client(Protocol):
    """Something that answers prompts."""

    def ask(self, prompt: str) -> str:
        """The answer, or `NoAnswerError`, or `EndpointError`."""
        ...

    def stop(self) -> None:
        """End what is under way."""
        ...


@dataclass(frozen=True)
class Endpoint:
    """The address of chat completions, such as `http://127.0.0.1:8000/v1`."""

    url: str
    model: str
    key: str | None = field(repr=False)
    parameters: Mapping[str, Any]
    timeout: float
    reached: threading.Event = field(default_factory=threading.Event, init=False, repr=False)
    """Set when it has answered anything."""

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            port = parts.port
            plain = _is_plain(self.url) and bool((parts.hostname or "").encode("idna"))
        except ValueError:
            parts, port, plain = urlsplit(""), None, False
        if parts.scheme not in ("http", "https") or not plain or parts.username or parts.query or parts.fragment:
            example = "http://127.0.0.1:8000/v1"
            raise UsageError(f"--endpoint is '{shown(_hide_user(self.url))}', an address such as {example} is needed")
        if self.key and not _is_plain(self.key):
            raise UsageError("the key has characters that no key has, such as spaces or accents; check the variable")
        if self.key and parts.scheme == "http" and not _is_this_machine(parts.hostname or ""):
            raise UsageError(
                "--endpoint is not encrypted, so the key would be sent openly; use https, or unset the key"
            )
        object.__setattr__(self, "_parts", (parts.scheme, parts.hostname, port, parts.path.rstrip("/")))

    def ask(self, prompt: str) -> str:
        """Post one question and read the answer."""
        status, headers, content = self._post(
            {"model": self.model, "messages": [_make_message(prompt)], **self.parameters}
        )
        if status == 200:
            return self._without_key(_find_content(content))
        detail = self._shown(content)
        if status in REDIRECTS:
            where = self._shown(headers.get("Location", "").encode(errors="replace"))
            raise EndpointError(f"the endpoint answered {status} and points to '{where}'; give the right --endpoint")
        if status in REFUSED:
            raise EndpointError(f"the endpoint answered {status} ({detail}); check its address, the model and the key")
        if status in AGAIN:
            raise NoAnswerError(f"status {status}", later=True, wait=_parse_seconds(headers.get("Retry-After")))
        raise NoAnswerError(f"status {status} ({detail})", later=False)

    def stop(self) -> None:
        """Nothing to end: requests are given up with their threads."""

    def _post(self, body: Mapping[str, Any]) -> tuple[int, http.client.HTTPMessage, bytes]:
        scheme, host, port, path = self._parts  # type: ignore[attr-defined]
        deadline = time.monotonic() + self.timeout
        secure = scheme == "https"
        connection = (
            http.client.HTTPSConnection(host, port, timeout=self.timeout, context=ssl.create_default_context())
            if secure
            else http.client.HTTPConnection(host, port, timeout=self.timeout)
        )
        headers = {"Content-Type": "application/json", "User-Agent": f"adjudge/{__version__}"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        watch = start_timer(self.timeout, _shut_down, connection)
        try:
            connection.request("POST", f"{path}/chat/completions", json.dumps(body).encode(), headers)
            with connection.getresponse() as response:
                self.reached.set()
                return response.status, response.headers, _read_body(response, deadline)
        except TimeoutError as fault:
            raise NoAnswerError("no answer in time", later=True) from fault
        except ssl.SSLCertVerificationError as fault:
            raise EndpointError(f"the endpoint's certificate is not trusted ({fault.verify_message})") from fault
        except (ConnectionRefusedError, socket.gaierror) as fault:
            if not self.reached.is_set():
                what = f"nothing answers at {self.url} ({fault.strerror})"
                raise EndpointError(f"{what}; start it, or check --endpoint") from fault
            raise NoAnswerError("no connection (refused)", later=True) from fault
        except (OSError, http.client.HTTPException) as fault:
            if time.monotonic() >= deadline:
                raise NoAnswerError("no answer in time", later=True) from fault
            raise NoAnswerError(f"no connection ({self._shown(str(fault).encode())})", later=True) from fault
        finally:
            watch.cancel()
            connection.close()

    def _shown(self, content: bytes) -> str:
        """What the other side said, for a message: short, printable, and without the key."""
        text = " ".join(self._without_key(content.decode(errors="replace")).split())
        return shown("".join(character if character.isprintable() else "\ufffd" for character in text[:300]), 200)

    def _without_key(self, text: str) -> str:
        """A text of the other side, which may repeat what it was sent."""
        return text.replace(self.key, "...") if self.key else text


def _is_plain(text: str) -> bool:
    """Whether a text can stand in the head of a request: printable ASCII without spaces."""
    return text.isascii() and text.isprintable() and " " not in text


def _make_message(prompt: str) -> dict[str, str]:
    return {"role": "user", "content": prompt}


def _hide_user(url: str) -> str:
    """An address without a name and password in it, which messages must not show."""
    return url.rpartition("@")[2] if "@" in url else url


def _is_this_machine(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def start_timer(seconds: float, function: Callable[..., None], *arguments: object) -> threading.Timer:
    """Call a function later, unless cancelled; it does not keep the program from ending."""
    timer = threading.Timer(seconds, function, arguments)
    timer.daemon = True
    timer.start()
    return timer


def _shut_down(connection: http.client.HTTPConnection) -> None:
    """Give up a connection whose headers come too slowly: every byte would start the timeout anew."""
    with suppress(OSError):
        if connection.sock is not None:
            connection.sock.shutdown(socket.SHUT_RDWR)


def _read_body(response: http.client.HTTPResponse, deadline: float) -> bytes:
    """The body, in pieces, so that one that never ends is given up."""
    pieces: list[bytes] = []
    size = 0
    while piece := response.read1(_PIECE):
        size += len(piece)
        pieces.append(piece)
        if size > MOST_BYTES:
            raise NoAnswerError(f"the answer has more than {MOST_BYTES:,} bytes", later=False)
        if time.monotonic() > deadline:
            raise NoAnswerError("no answer in time", later=True)
    if time.monotonic() >= deadline:
        # The connection was cut here, wherever it had come to.
        raise NoAnswerError("no answer in time", later=True)
    if response.length:
        # `read1` returns what came before the connection was cut.
        raise NoAnswerError("no connection (the answer was cut)", later=True)
    return b"".join(pieces)


def _find_content(body: bytes) -> str:
    """The text of the first choice."""
    try:
        content = json.loads(body)["choices"][0]["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError) as fault:
        raise NoAnswerError("the answer is not that of chat completions", later=True) from fault
    return content if isinstance(content, str) else ""


def _parse_seconds(given: str | None) -> float | None:
    """The header Retry-After in seconds; dates are not understood, and the usual wait is used."""
    try:
        seconds = float(given or "")
    except ValueError:
        return None
    return min(max(seconds, 0.0), 5 * LONGEST_WAIT) if math.isfinite(seconds) else None


def read_key(variable: str, *, must: bool) -> str | None:
    """The key in an environment variable; nothing else may hold one."""
    key = os.environ.get(variable, "").strip()
    if must and not key:
        raise UsageError(f"--key-variable names {variable}, which is not set; export it, or leave the option out")
    return key or None
