"""One file over HTTP: resumed where it stopped, complete or not there at all."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

from adjudge._version import __version__
from adjudge.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TIMEOUT = 30
PIECE = 1 << 16
ELSEWHERE = "or get the file by other means and give it with --from"


def download(url: str, target: Path, tell: Callable[[int, int | None], None]) -> None:
    """Fetch the file to `target`; what came so far stays in `target.part`, from where the next call goes on.

    Args:
        url: the address, http or https.
        target: the file to write; it appears only when it is complete.
        tell: called with the bytes that are there and those expected, where the server says.
    """
    part = _Part(target)
    try:
        with _open_url(url, part) as answer:
            _receive(answer, url, part, tell)
    except urllib.error.HTTPError as fault:
        fault.close()
        raise InputError(f"the server answers {fault.code} {fault.reason}; try later, {ELSEWHERE}", file=url) from fault
    except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError) as fault:
        reason = getattr(fault, "reason", None) or fault or type(fault).__name__
        raise InputError(
            f"cannot be reached ({reason}); check the network and run the command again, {ELSEWHERE}", file=url
        ) from fault
    except OSError as fault:
        raise InputError(f"cannot be written ({fault.strerror or fault}); choose another path", file=target) from fault
    part.finish()


class _Part:
    """What came so far, and of which state of the file on the server it is a part."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.file = target.with_name(target.name + ".part")
        self.about = target.with_name(target.name + ".part.json")

    def known(self, url: str) -> tuple[int, str]:
        """The bytes that are there and the state they belong to; none where another address was asked."""
        try:
            about = json.loads(self.about.read_text(encoding="utf-8"))
            if about["url"] == url and about["state"]:
                return self.file.stat().st_size, str(about["state"])
        except (OSError, ValueError, KeyError, TypeError):
            pass
        return 0, ""

    def begin(self, url: str, state: str | None) -> None:
        # Weak tags (W/) promise the same meaning, not the same bytes.
        strong = state if state and not state.startswith("W/") else ""
        self.about.write_text(json.dumps({"url": url, "state": strong}), encoding="utf-8")

    def finish(self) -> None:
        self.file.replace(self.target)
        self.about.unlink(missing_ok=True)

    def drop(self) -> None:
        self.file.unlink(missing_ok=True)
        self.about.unlink(missing_ok=True)


def _open_url(url: str, part: _Part) -> Any:
    done, state = part.known(url)
    headers = {"User-Agent": f"adjudge/{__version__}", "Accept-Encoding": "identity"}
    resumed = {"Range": f"bytes={done}-", "If-Range": state} if done else {}
    try:
        return urllib.request.urlopen(urllib.request.Request(url, headers=headers | resumed), timeout=TIMEOUT)  # noqa: S310
    except urllib.error.HTTPError as fault:
        if fault.code != http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE or not resumed:
            raise
        # All was there, or the file has become shorter: from the beginning.
        fault.close()
        part.drop()
        return urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=TIMEOUT)  # noqa: S310


def _receive(answer: Any, url: str, part: _Part, tell: Callable[[int, int | None], None]) -> None:
    going_on = answer.status == http.HTTPStatus.PARTIAL_CONTENT
    done = part.known(url)[0] if going_on else 0
    length = answer.headers.get("Content-Length")
    total = done + int(length) if length else None
    if not going_on:
        part.begin(url, answer.headers.get("ETag"))
    with part.file.open("ab" if going_on else "wb") as out:
        while piece := answer.read(PIECE):
            out.write(piece)
            done += len(piece)
            tell(done, total)
    if total is not None and done < total:
        raise http.client.IncompleteRead(b"", total - done)
