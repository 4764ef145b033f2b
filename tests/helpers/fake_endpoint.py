"""A fake endpoint of chat completions on this machine, and a small campaign to be judged."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Behaviour = Callable[["Handler", str, int], None]
"""What to do with a request: the handler, the prompt, and the number of the request."""
SEGMENTS = 12


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = body["messages"][0]["content"]
        endpoint = self.server.endpoint
        with endpoint.lock:
            endpoint.requests.append({"path": self.path, "body": body, "key": self.headers.get("Authorization")})
            number = len(endpoint.requests)
        endpoint.behaviour(self, prompt, number)

    def answer(self, text: str) -> None:
        """A usual answer."""
        self.send(200, json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]}).encode())

    def send(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""


class Server(ThreadingHTTPServer):
    daemon_threads = True
    endpoint: FakeEndpoint

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that go away are part of the tests."""


@dataclass
class FakeEndpoint:
    """What was asked, and how it is answered."""

    behaviour: Behaviour
    requests: list[dict[str, Any]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    url: str = ""


def score_of(prompt: str) -> int:
    """The number in the translation of the campaign below: `Satz 7 von nord.` scores 70 and something."""
    found = re.search(r"BEGIN TRANSLATION \w+ -----\nSatz (\d+) von (\w+)", prompt)
    return 0 if found is None else 5 * int(found[1]) + len(found[2])


def usual(handler: Handler, prompt: str, _: int) -> None:
    handler.answer(json.dumps({"score": score_of(prompt)}))


@contextmanager
def endpoint(behaviour: Behaviour = usual) -> Iterator[FakeEndpoint]:
    """An endpoint on a free port of 127.0.0.1."""
    fake = FakeEndpoint(behaviour)
    server = Server(("127.0.0.1", 0), Handler)
    server.endpoint = fake
    fake.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join(60)


def make_campaign(folder: Path, *, protocol: str = "da", extra: str = "") -> Path:
    """Twelve segments by two systems; `extra` is the first translation of the second system."""
    lines = range(1, SEGMENTS + 1)
    (folder / "source.txt").write_text("\n".join(f"Sentence {number}." for number in lines) + "\n")
    for name in ("nord", "sud"):
        texts = [f"Satz {number} von {name}." for number in lines]
        if extra and name == "sud":
            texts[0] = extra
        (folder / f"{name}.txt").write_text("\n".join(texts) + "\n")
    path = folder / "campaign.toml"
    path.write_text(
        f'name = "small"\nprotocol = "{protocol}"\n[languages]\nsource = "en"\ntarget = "de"\n'
        '[files]\nsource = "source.txt"\n[files.systems]\nnord = "nord.txt"\nsud = "sud.txt"\n'
        "[design]\ntask_size = 24\nannotators = 2\njudgments = 2\n"
    )
    return path


def wait_until(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Wait for something that comes or does not come; the time is long for busy machines."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)
