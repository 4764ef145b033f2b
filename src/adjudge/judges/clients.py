"""Who is asked: an OpenAI-compatible endpoint over HTTP, or a program; and the journal of their answers.

Answers are limited in size and in time, whatever the other side does. The key stands in an environment variable, goes
into one header, and is removed from everything that is shown.
"""

from __future__ import annotations

import http.client
import json
import math
import os
import re
import shlex
import signal
import socket
import ssl
import subprocess
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Protocol, Self
from urllib.parse import urlsplit

from adjudge._version import __version__
from adjudge.table.errors import AdjudgeError, InputError, UsageError, param, shown
from adjudge.table.files import read_bytes, sync_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from types import TracebackType

    from adjudge.campaigns.questions import Scale


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
            # A name and password in an address must not be shown.
            given, example = shown(self.url.rpartition("@")[2]), "http://127.0.0.1:8000/v1"
            raise UsageError(f"{param('endpoint')} is '{given}', an address such as {example} is needed")
        if self.key and not _is_plain(self.key):
            raise UsageError("the key has characters that no key has, such as spaces or accents; check the variable")
        if self.key and parts.scheme == "http" and not _is_this_machine(parts.hostname or ""):
            raise UsageError(
                f"{param('endpoint')} is not encrypted, so the key would be sent openly; use https, or unset the key"
            )
        object.__setattr__(self, "_parts", (parts.scheme, parts.hostname, port, parts.path.rstrip("/")))

    def ask(self, prompt: str) -> str:
        """Post one question and read the answer."""
        message = {"role": "user", "content": prompt}
        status, headers, content = self._post({"model": self.model, "messages": [message], **self.parameters})
        if status == 200:
            return self._without_key(_find_content(content))
        detail = self._shown(content)
        if status in REDIRECTS:
            where = self._shown(headers.get("Location", "").encode(errors="replace"))
            raise EndpointError(
                f"the endpoint answered {status} and points to '{where}'; give the right {param('endpoint')}"
            )
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
        connection = http.client.HTTPConnection(host, port, timeout=self.timeout)
        if scheme == "https":
            context = ssl.create_default_context()
            connection = http.client.HTTPSConnection(host, port, timeout=self.timeout, context=context)
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
                raise EndpointError(f"{what}; start it, or check {param('endpoint')}") from fault
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
        raise UsageError(
            f"{param('key_variable')} names {variable}, which is not set; export it, or leave the option out"
        )
    return key or None


# A program as a judge: it reads the prompt on standard input, and prints the answer.


class Program:
    """A program that reads the prompt on standard input and prints the answer; it is started for every question."""

    def __init__(self, command: str, timeout: float) -> None:
        try:
            self._words = shlex.split(command)
        except ValueError as fault:
            raise UsageError(f"{param('command')} is '{shown(command)}', in which a quote is not closed") from fault
        if not self._words:
            raise UsageError(f"{param('command')} is empty; name a program that reads a prompt and prints an answer")
        self._timeout = timeout
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()

    def ask(self, prompt: str) -> str:
        """Run the program once."""
        try:
            pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
            process = subprocess.Popen(self._words, stdin=pipe, stdout=pipe, stderr=nowhere, start_new_session=True)
        except OSError as fault:
            raise EndpointError(
                f"'{self._words[0]}' cannot be started ({fault.strerror}); check {param('command')}"
            ) from fault
        with self._lock:
            self._running.add(process)
        deadline = time.monotonic() + self._timeout
        timer = start_timer(self._timeout, _kill, process)
        try:
            return self._answer(process, prompt, deadline)
        finally:
            timer.cancel()
            _kill(process)
            process.wait()
            for stream in (process.stdin, process.stdout):
                # What was not read of the prompt cannot be given to a program that has ended.
                with suppress(BrokenPipeError):
                    if stream is not None:
                        stream.close()
            with self._lock:
                self._running.discard(process)

    def _answer(self, process: subprocess.Popen[bytes], prompt: str, deadline: float) -> str:
        assert process.stdin is not None
        assert process.stdout is not None
        writer = threading.Thread(target=_write_prompt, args=(process.stdin, prompt), daemon=True)
        writer.start()
        content = process.stdout.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise NoAnswerError(f"the answer has more than {MOST_BYTES:,} bytes", later=False)
        code = process.wait()
        writer.join()
        # The timer's thread may still be about to end when the program that it killed has ended.
        if time.monotonic() >= deadline:
            raise NoAnswerError("no answer in time", later=True)
        if code != 0:
            raise NoAnswerError(f"the program ended with code {code}", later=True)
        return content.decode(errors="replace")

    def stop(self) -> None:
        """End the programs that are running."""
        with self._lock:
            for process in self._running:
                _kill(process)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a program and all that it has started, which would keep its output open."""
    if hasattr(os, "killpg"):
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def _write_prompt(stream: Any, prompt: str) -> None:
    """Write the prompt; a program need not read it all."""
    with suppress(OSError, ValueError):
        stream.write(prompt.encode(errors="replace"))
        stream.close()


# What a judge answered: a number on the scale or a choice, read strictly. What cannot be used has a reason.


_NUMBER = re.compile(r"[-+]?\d[\d.,]*")
_CHOICES = (0, 1, 2)
_DECODER = json.JSONDecoder()


class UnusableAnswerError(ValueError):
    """An answer that cannot be used; the text says why, the value in parentheses, and is shown to the judge once."""


@dataclass(frozen=True)
class AnswerReader:
    """Reads the answers of one campaign."""

    scale: Scale
    in_pairs: bool

    def read(self, text: str) -> float:
        """The score, or the choice: 1, 2, or 0 for a tie."""
        if not text.strip():
            raise UnusableAnswerError("the answer is empty")
        value = _find_in_json(text, "better" if self.in_pairs else "score")
        if value is None and self.in_pairs:
            raise UnusableAnswerError('the answer has no JSON object with "better"')
        number = self._last_number(text) if value is None else _to_number(value)
        if not self.accepts(number):
            on_scale = f"the score is not on the scale from {self.scale.low:g} to {self.scale.high:g}"
            what = '"better" is not 0, 1 or 2' if self.in_pairs else on_scale
            raise UnusableAnswerError(f"{what} ({number:g})")
        return number

    def accepts(self, number: float) -> bool:
        """Whether this number is a choice, or on the scale."""
        return number in _CHOICES if self.in_pairs else self.scale.low <= number <= self.scale.high

    def _last_number(self, text: str) -> float:
        """The last number of a text that does not only name the scale, as "85/100" and "from 0 to 100" do."""
        low, high = (re.escape(f"{end:g}") for end in (self.scale.low, self.scale.high))
        plain = re.sub(rf"(/|\bout\s+of|\b{low}\s*(to|and|-|–))\s*{high}(\.0+)?(?![\d.,]*\d)", " ", text)
        numbers = _NUMBER.findall(plain)
        if not numbers:
            raise UnusableAnswerError("the answer has no number")
        # 85,5 and 1.000,0 are not the same everywhere, so they are refused rather than guessed.
        return _to_number(numbers[-1].rstrip(".,"))


def _find_in_json(text: str, key: str) -> Any:
    """The value of the key in the last JSON object that has it, whatever else the object holds; None without the key.

    Where the key is there but no value can be read, as in an answer that was cut, other numbers are not the answer.
    """
    value, start = None, text.find("{")
    while start >= 0:
        end = start + 1
        try:
            content, after = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            content = {}
        else:
            if content.get(key) is not None:
                value, end = content[key], after
        start = text.find("{", end)
    if value is None and re.search(rf"[\"']{key}[\"']\s*:", text):
        raise UnusableAnswerError(f'no value of "{key}" can be read in the JSON object')
    return value


def _to_number(value: Any) -> float:
    if isinstance(value, str):
        value = value.strip()
    try:
        number = math.nan if isinstance(value, bool | list | dict) else float(value)
    except (ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise UnusableAnswerError(f"the answer is not a number ({shown(value)})")
    return number


# The journal of answers: a line per answer, on disk before the next one counts, so that nothing is asked twice.
#
# The first line says what was asked: judge, prompt, tasks and parameters. A run that goes on must ask the same.


ENDING = ".journal.jsonl"
MOST_KEPT = 2000
"""Characters of an answer that the journal keeps."""
LATEST = 2**35
"""Seconds since 1970 that no clock shows: the year 3058."""


@dataclass(frozen=True)
class Answered:
    """One answer: its value, or why it cannot be used; when it was asked and answered (seconds since 1970)."""

    id: str
    value: float | None
    reason: str | None
    text: str
    started: float
    ended: float


class Journal:
    """The answers so far; `add` appends one durably. One process at a time writes to it."""

    def __init__(self, path: Path, asked: Mapping[str, Any], accepts: Callable[[float], bool]) -> None:
        """Name the file, what a run that goes on must share, and which values can be answers."""
        self.path = path
        self._accepts = accepts
        self.answers: dict[str, Answered] = {}
        self._asked = {"journal": 1, **asked}

    def __enter__(self) -> Self:
        existed = self.path.exists()
        try:
            self._file = self.path.open("ab")
        except OSError as fault:
            raise InputError(f"cannot be written ({fault.strerror}); check the folder", file=self.path) from fault
        try:
            self._lock()
            whole = self._read() if existed else 0
            self._file.truncate(whole)
        except BaseException:
            self._file.close()
            raise
        if not whole:
            self._write(self._asked)
            sync_folder(self.path.parent)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def add(self, answer: Answered) -> None:
        """Keep an answer: when this returns, it is on disk."""
        self.answers[answer.id] = answer
        self._write(asdict(answer) | {"text": answer.text[:MOST_KEPT]})

    def _write(self, line: Mapping[str, Any]) -> None:
        try:
            self._file.write(json.dumps(line, ensure_ascii=True).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as fault:
            raise InputError(f"cannot be written ({fault.strerror}); make room, then go on", file=self.path) from fault

    def _lock(self) -> None:
        try:
            import fcntl
        except ImportError:
            # Not on Windows; two runs at once would ask twice, and lose nothing.
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as fault:
            raise InputError("is in use by another run; wait for it, or name another output", file=self.path) from fault

    def _read(self) -> int:
        """Read the answers, and return the length without a last line that was cut when the program ended."""
        content = read_bytes(self.path)
        whole = content.rfind(b"\n") + 1
        lines = content[:whole].split(b"\n")[:-1]
        for number, line in enumerate(lines, start=1):
            entry = None
            with suppress(ValueError, RecursionError):
                entry = json.loads(line)
            if not isinstance(entry, dict):
                fault = "is no line of a journal; delete it, or name another output"
                raise InputError(fault, file=self.path, line=number)
            if number == 1 and len(lines) == 1 and "journal" in entry:
                # No answer yet, as after a wrong address: nothing would be mixed.
                return whole if entry == self._asked else 0
            if number == 1:
                self._check(entry)
                continue
            if not self._is_answer(entry):
                raise InputError("is no answer to this judge's questions; delete it", file=self.path, line=number)
            self.answers[entry["id"]] = Answered(**entry)
        return whole

    def _is_answer(self, entry: Mapping[str, Any]) -> bool:
        """Whether a line has what an answer has, of the right kinds."""
        if set(entry) != {field.name for field in fields(Answered)}:
            return False
        value, reason = entry["value"], entry["reason"]
        usable = _is_number(value) and self._accepts(value) and reason is None
        unusable = value is None and isinstance(reason, str)
        texts = isinstance(entry["id"], str) and isinstance(entry["text"], str)
        times = all(_is_number(entry[name]) and 0 <= entry[name] <= LATEST for name in ("started", "ended"))
        return (usable or unusable) and texts and times

    def _check(self, header: Mapping[str, Any]) -> None:
        for name, value in self._asked.items():
            if header.get(name) != value:
                what = f"was begun with {name} '{shown(header.get(name))}', this run has '{shown(value)}'"
                raise InputError(f"{what}; name another output, or delete the journal to begin anew", file=self.path)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
