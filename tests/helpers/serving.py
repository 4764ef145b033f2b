"""A real server in a process of its own, and a client that talks to it over a real socket."""

from __future__ import annotations

import http.client
import json
import os
import re
import resource
import secrets
import shutil
import signal
import socket
import subprocess
import threading
import time
import uuid
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import polars as pl

from adjudge import read
from adjudge.server.database import database_file
from adjudge.table.judgments import Judgments
from tests.conftest import Run
from tests.helpers.databases import migrated_campaign
from tests.helpers.warm_command import Started, warm_command

# Seconds, long for busy machines: what is waited for comes or does not come, and time decides nothing.
PATIENCE = 300
# Statistics are computed by processes that give way to all others: where there are many, it takes minutes.
PATIENCE_WITH_STATISTICS = 450


def free_port() -> int:
    """A port that nobody uses, below those that connections get, one of which could take it before the server does."""
    while True:
        port = 15_000 + secrets.randbelow(17_000)
        if _reserve(port) and _is_free(port):
            return port


_RESERVED: deque[socket.socket] = deque()


def _reserve(port: int) -> bool:
    """Keep other tests of this machine, which run side by side, from taking a port before its server listens there."""
    sign = socket.socket(socket.AF_UNIX)
    try:
        # A name that is in no folder, and is gone with this process.
        sign.bind(f"\0adjudge-tests-port-{port}")
    except OSError:
        sign.close()
        return False
    _RESERVED.append(sign)
    if len(_RESERVED) > 50:
        _RESERVED.popleft().close()
    return True


def _is_free(port: int, *, again: bool = False) -> bool:
    """Whether a server could listen at a port; `again`: one did so before, whose last connections count for nothing."""
    with socket.socket() as probe, suppress(OSError):
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, int(again))
        probe.bind(("127.0.0.1", port))
        return True
    return False


@dataclass
class Server:
    """`adjudge serve` as a user runs it, from a process that has its modules at hand."""

    campaign: Path
    database: str | None = None
    options: tuple[str, ...] = ()
    own_database: bool = False
    """Whether it makes its tables itself, as at a user's first start; else a file with all tables lies ready."""
    port: int = field(default_factory=free_port)
    links: dict[str, str] = field(default_factory=dict)
    process: Started | None = None
    clients: list[Client] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> Self:
        arguments = ["serve", str(self.campaign), "--port", str(self.port), "--json", *self.options]
        if self.database:
            arguments += ["--database", self.database]
        elif not self.own_database:
            for file in self.files:
                if not database_file(file).exists():
                    shutil.copyfile(database_file(migrated_campaign()), database_file(file))
        with self.campaign.with_name("server.log").open("a") as log:
            self.process = warm_command().start(*arguments, stderr=log)
        line = self.process.first_line()
        assert line, self.log()
        for link in json.loads(line)["links"]:
            name = link["name"] if link["role"] == "annotator" else link["role"]
            path = urlsplit(link["link"]).path.removesuffix("/enter")
            self.links[f"{path}:{name}" if self.campaign.is_dir() and path else name] = link["link"]
        return self

    @property
    def files(self) -> list[Path]:
        """The campaign file, or those in the folder."""
        return sorted(self.campaign.rglob("campaign.toml")) if self.campaign.is_dir() else [self.campaign]

    def log(self) -> str:
        return self.campaign.with_name("server.log").read_text()

    def kill(self) -> None:
        """Kill master and workers at once without a signal they could handle, as a power cut would."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._close()
        # On a busy machine the workers outlive their master for a moment, and hold the port.
        wait_for(lambda: _is_free(self.port, again=True))

    def kill_worker(self) -> None:
        """Kill the processes that serve, and wait until others do."""
        assert self.process is not None
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        for worker in children.read_text().split():
            os.kill(int(worker), signal.SIGKILL)
        wait_for(self._answers)

    def _answers(self) -> bool:
        client = Client(self.url)
        try:
            client.connection.timeout = 30
            return client.get("/health").status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            client.connection.close()

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.kill()
            self._close()

    def _close(self) -> None:
        assert self.process is not None
        self.process.stdout.close()

    def secret(self, name: str) -> str:
        return self.links[name].partition("#")[2]

    def client(self, name: str | None = None) -> Client:
        """A visitor; of one of several campaigns as `/path:name`."""
        base = urlsplit(self.links[name]).path.removesuffix("/enter") if name is not None else ""
        client = Client(self.url, base=base)
        self.clients.append(client)
        if name is not None:
            assert client.enter(self.secret(name)).status == 200
        return client

    def __enter__(self) -> Self:
        return self.start() if self.process is None or self.process.poll() is not None else self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        for client in self.clients:
            client.connection.close()
        # The quickest way to stop it; a clean shutdown has a test of its own.
        if self.process is not None and self.process.poll() is None:
            self.kill()


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


class Client:
    """A visitor with cookies, as a browser has them, on one kept-alive connection."""

    def __init__(self, url: str, cookies: dict[str, str] | None = None, base: str = "") -> None:
        parts = urlsplit(url)
        assert parts.hostname is not None
        self.base = base
        self.connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=PATIENCE)
        self.cookies: dict[str, str] = dict(cookies or {})
        self.csrf = ""

    def request(self, method: str, path: str, body: Any = None, *, csrf: bool = True) -> Answer:
        headers = {"Content-Type": "application/json"}
        if self.cookies:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if csrf and self.csrf:
            headers["X-CSRFToken"] = self.csrf
        content = None if body is None else json.dumps(body)
        self.connection.request(method, self.base + path, content, headers)
        response = self.connection.getresponse()
        for header in response.headers.get_all("Set-Cookie", []):
            for name, morsel in SimpleCookie(header).items():
                self.cookies[name] = morsel.value
        return Answer(response.status, dict(response.headers.items()), response.read().decode())

    @property
    def session(self) -> str:
        """The name of the session cookie."""
        return next(name for name in self.cookies if name.startswith("adjudge_session"))

    def get(self, path: str) -> Answer:
        return self.request("GET", path)

    def post(self, path: str, body: Any = None) -> Answer:
        return self.request("POST", path, body)

    def load_page(self, path: str = "/enter") -> Answer:
        """Load a page, for its token against forged requests."""
        answer = self.get(path)
        token = re.search(r'name="csrf" content="([^"]+)"', answer.text)
        if token:
            self.csrf = token[1]
        return answer

    def enter(self, secret: str, **more: str) -> Answer:
        self.load_page()
        return self.post("/api/enter", {"secret": secret, **more})

    def work(self) -> Any:
        """The task in hand, taken if need be."""
        work = self.get("/api/work").json
        return work if work["task"] else self.post("/api/tasks/next").json


def new_save(work: Any, screen: int, changes: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A save as the page makes it."""
    task = work["task"]
    shown = task["screens"][screen]
    return {
        "id": str(uuid.uuid4()),
        "annotator": work["annotator"]["id"],
        "task": task["id"],
        "screen": shown["id"],
        "base": task["states"].get(shown["id"], {}).get("revision", 0),
        "changes": changes,
        **more,
    }


def outputs(work: Any, screen: int) -> list[str]:
    """The ids of what is judged on a screen."""
    return [output["id"] for item in work["task"]["screens"][screen]["items"] for output in item["outputs"]]


def wait_for(condition: Any, seconds: float = PATIENCE) -> Any:
    """The condition's value once it holds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError("waited in vain")


def panels_of(server: Server, group: str = "panels") -> Any:
    """The statistics of the organisers' page once they are computed: `panels`, or `state` for that of the campaign."""
    organiser = server.client("organiser")

    def computed() -> Any:
        answer = organiser.get(f"/api/organiser/{group}").json
        return None if answer["computing"] or answer["computed"] is None else answer["panels"]

    return wait_for(computed, PATIENCE_WITH_STATISTICS)


def exported(server: Server, folder: Path) -> Judgments:
    """What the organisers' page exports, read back."""
    answer = server.client("organiser").get("/api/organiser/export")
    assert answer.status == 200, answer.text
    if len(answer.text.splitlines()) == 1:  # only the header: nothing is saved yet, and readers refuse that
        return Judgments.from_columns(pl.DataFrame(schema=dict.fromkeys(answer.text.strip().split(","), pl.String)))
    file = folder / "exported.csv"
    file.write_text(answer.text, encoding="utf-8")
    return read([file])


class Writer(threading.Thread):
    """Saves whole screens as fast as it can, each answer of a save with the same score, until the server is gone."""

    def __init__(self, client: Client, work: Any, start: int) -> None:
        super().__init__(daemon=True)
        self.client, self.work, self.value = client, work, start
        self.last = ""
        self.sent: list[tuple[int, float]] = []
        self.acknowledged: list[tuple[int, float]] = []

    def run(self) -> None:
        screens = len(self.work["task"]["screens"])
        while True:
            self.value += 1
            screen, score = self.value % screens, float(self.value % 101)
            changes = [{"output": output, "score": score} for output in outputs(self.work, screen)]
            self.sent.append((screen, score))
            try:
                answer = self.client.post("/api/saves", new_save(self.work, screen, changes))
            except (OSError, http.client.HTTPException):
                return
            self.last = answer.text
            if answer.status == 200:
                self.acknowledged.append((screen, score))

    def finish(self) -> None:
        """Wait until it has noticed that the server is gone."""
        self.join(PATIENCE)
        assert not self.is_alive(), f"it still saves, though the server was killed; the last answer: {self.last}"

    def has_saved(self, count: int) -> bool:
        """Whether so many saves were acknowledged; a writer that has ended will never have them."""
        enough = len(self.acknowledged) >= count
        assert enough or self.is_alive(), f"ended after {len(self.acknowledged)} saves; the last answer: {self.last}"
        return enough


def limit_files(server: Server, size: int) -> None:
    """Let the processes that serve write no file beyond this size."""
    assert server.process is not None
    children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()
    for child in children:
        resource.prlimit(int(child), resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


KILLS = 12


def run(*arguments: str | Path) -> Run:
    done = warm_command()(*arguments)
    assert done.code == 0, done.err
    return done


def names_in(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}


def judge(server: Server, name: str = "anna", saves: int = 12) -> list[tuple[str, float]]:
    """Save some scores, several of the same output."""
    client = server.client(name)
    work = client.work()
    screens = len(work["task"]["screens"])
    saved = []
    for number in range(saves):
        output = outputs(work, number % screens)[0]
        answer = client.post("/api/saves", new_save(work, number % screens, [{"output": output, "score": number}]))
        assert answer.status == 200
        saved.append((output, float(number)))
    return saved


def export(campaign: Path, database: str | None = None) -> bytes:
    output = campaign.with_name("exported.parquet")
    run("export", campaign, "-o", output, *(["--database", database] if database else []))
    content = output.read_bytes()
    output.unlink()
    return content


def export_file(campaign: Path) -> Path:
    output = campaign.with_name("exported.parquet")
    run("export", campaign, "-o", output)
    return output


def start_and_kill(arguments: list[str | Path], delay: float, folder: Path) -> bool:
    """Start a command and kill it after a while, as a power cut would; returns whether it was done before."""
    with (folder / "log").open("w") as log:
        started = warm_command().start(*arguments, stderr=log)
    time.sleep(delay)
    done = started.poll() is not None
    if not done:
        os.kill(started.pid, signal.SIGKILL)
        started.wait()
    started.stdout.close()
    return done


def refused_start(campaign: Path, *options: str) -> str:
    """What a server says that does not start."""
    run = warm_command()("serve", campaign, "--port", str(free_port()), *options)
    assert run.code in (1, 2), run.out
    assert "Traceback" not in run.err
    return run.err


def scores(server: Server, folder: Path, name: str) -> list[float | None]:
    """The final scores of an annotator, in the order of the screen."""
    table = exported(server, folder).final().table.filter(pl.col("annotator") == name)
    return table.sort("output")["score"].to_list()
