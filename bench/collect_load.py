"""Simulated annotators: each enters by a link, takes a task and saves, on a connection of its own, over loopback."""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

CONNECT_TOGETHER = 10


@dataclass
class Load:
    """What came of it: every save that was acknowledged, how long each took, and every answer that was not 200."""

    seconds: list[float] = field(default_factory=list)
    acknowledged: list[tuple[int, str, float]] = field(default_factory=list)
    handed_in: list[float] = field(default_factory=list)
    """How long it took to hand a task in and get the next one."""
    faults: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    """Saves without an answer of the server's own that were sent again."""

    def share(self, part: float) -> float:
        """The time within which this part of the saves was acknowledged."""
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


@dataclass(frozen=True)
class Plan:
    """For how long annotators judge, how long each waits between two saves, and how they work.

    With `whole_tasks` they hand tasks in and take the next; `organiser` is the secret of somebody who watches.
    A save that gets no answer from the server itself is sent again as often as `resend` says, as the page does.
    Everybody saves `least` times, however long that takes. Who judges once more needs another `seed`.
    """

    seconds: float
    pause: float
    whole_tasks: bool = False
    organiser: str | None = None
    resend: int = 0
    least: int = 0
    seed: int = 0


class Connection:
    """HTTP on one kept-alive connection, just enough of it."""

    def __init__(self, host: str, port: int, base: str = "") -> None:
        self.host, self.port, self.base = host, port, base
        self.cookies: dict[str, str] = {}
        self.csrf = ""
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def call(self, method: str, path: str, body: Any = None) -> tuple[int, str]:
        """Status and content of the answer."""
        if self.streams is None:
            self.streams = await asyncio.open_connection(self.host, self.port)
        reader, writer = self.streams
        content = b"" if body is None else json.dumps(body).encode()
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        head = (
            f"{method} {self.base}{path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\nCookie: {cookies}\r\n"
            f"X-CSRFToken: {self.csrf}\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        writer.write(head.encode() + content)
        await writer.drain()
        headers = (await reader.readuntil(b"\r\n\r\n")).decode()
        for name, value in re.findall(r"(?im)^set-cookie: ([^=]+)=([^;\r]*)", headers):
            self.cookies[name] = value
        length = re.search(r"(?im)^content-length: (\d+)", headers)
        text = (await reader.readexactly(int(length[1]))).decode() if length else ""
        return int(headers.split(" ", 2)[1]), text

    def close(self) -> None:
        """Hang up; the next call connects anew."""
        if self.streams is not None:
            self.streams[1].close()
            self.streams = None


async def _enter(connection: Connection, secret: str, load: Load) -> Any:
    """Enter and take a task."""
    _, page = await connection.call("GET", "/enter")
    connection.csrf = re.findall(r'name="csrf" content="([^"]+)"', page)[0]
    status, body = await connection.call("POST", "/api/enter", {"secret": secret})
    if status != 200:
        load.faults.append(f"enter {status} {body}")
    _, body = await connection.call("POST", "/api/tasks/next")
    return json.loads(body)


class _Annotator:
    """Somebody who judges the task in hand, and perhaps the next ones."""

    def __init__(self, connection: Connection, work: Any, load: Load, plan: Plan, seed: int) -> None:
        self.connection, self.work, self.load, self.plan = connection, work, load, plan
        self.chance = random.Random(f"{plan.seed} {seed}")
        states = {} if work["task"] is None else work["task"]["states"]
        self.bases: dict[str, int] = {screen: state["revision"] for screen, state in states.items()}
        self.saves = 0

    async def judge(self) -> None:
        """Judge until the time is over."""
        until = time.monotonic() + self.plan.seconds

        def is_over() -> bool:
            return time.monotonic() > until and self.saves >= self.plan.least

        # Not all begin, and so hand in, at the same time.
        work = len(self._places()) if self.plan.whole_tasks and self.work["task"] is not None else 1
        await asyncio.sleep(self.chance.uniform(0, work * self.plan.pause))
        while self.work["task"] is not None and not is_over():
            places = self._places() if self.plan.whole_tasks else [self.chance.choice(self._places())]
            for screen, output in places:
                if is_over():
                    return
                await self._save(screen, output)
                self.saves += 1
                await asyncio.sleep(self.chance.uniform(0.5, 1.5) * self.plan.pause)
            if self.plan.whole_tasks:
                await self._hand_in()

    def _places(self) -> list[tuple[str, str]]:
        return [
            (screen["id"], output["id"])
            for screen in self.work["task"]["screens"]
            for item in screen["items"]
            for output in item["outputs"]
        ]

    async def _save(self, screen: str, output: str) -> None:
        score, pause = self.chance.randrange(101), self.plan.pause
        save = {
            "id": str(uuid.UUID(int=self.chance.getrandbits(128), version=4)),
            "annotator": self.work["annotator"]["id"],
            "task": self.work["task"]["id"],
            "screen": screen,
            "base": self.bases.get(screen, 0),
            "changes": [{"output": output, "score": score}],
            "spent": {"shown": pause, "visible": pause, "active": pause, "outputs": {output: pause}},
            "events": [[1, "shown"], [2, "act"], [3, "set", output, score]],
        }
        start = time.perf_counter()
        status, body = await self._send(save)
        self.load.seconds.append(time.perf_counter() - start)
        if status == 200:
            self.bases[screen] = json.loads(body)["state"]["revision"]
            self.load.acknowledged.append((self.work["annotator"]["id"], output, float(score)))
        else:
            self.load.faults.append(f"save {status} {body}")

    async def _send(self, save: dict[str, Any]) -> tuple[int, str]:
        """Send a save until the server has answered it: a host that dies leaves half an answer, or the proxy's own."""
        for _ in range(self.plan.resend):
            try:
                status, body = await self.connection.call("POST", "/api/saves", save)
            except (OSError, EOFError) as error:
                self.connection.close()
                self.load.broken.append(repr(error))
            else:
                if status not in (502, 504):
                    return status, body
                self.load.broken.append(f"{status} {body}")
            await asyncio.sleep(0.2)
        return await self.connection.call("POST", "/api/saves", save)

    async def _hand_in(self) -> None:
        """Hand the task in and take the next one."""
        start = time.perf_counter()
        status, body = await self.connection.call("POST", f"/api/tasks/{self.work['task']['id']}/finish")
        if status != 200:
            self.load.faults.append(f"finish {status} {body}")
        _, body = await self.connection.call("POST", "/api/tasks/next")
        self.load.handed_in.append(time.perf_counter() - start)
        self.work = json.loads(body)
        self.bases = {}


async def _watch(connection: Connection, secret: str, load: Load, seconds: float) -> None:
    """An organiser with the page open: it asks for the state every few seconds."""
    _, page = await connection.call("GET", "/enter")
    connection.csrf = re.findall(r'name="csrf" content="([^"]+)"', page)[0]
    await connection.call("POST", "/api/enter", {"secret": secret})
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for path in ("overview", "state", "panels"):
            status, body = await connection.call("GET", f"/api/organiser/{path}")
            if status != 200:
                load.faults.append(f"{path} {status} {body[:200]}")
        await asyncio.sleep(4)


async def _all(connections: list[Connection], secrets: list[str], plan: Plan, entered: Callable[[], None]) -> Load:
    load = Load()
    works: list[Any] = []
    for i in range(0, len(secrets), CONNECT_TOGETHER):
        some = zip(connections[i : i + CONNECT_TOGETHER], secrets[i : i + CONNECT_TOGETHER], strict=True)
        works += await asyncio.gather(*(_enter(connection, secret, load) for connection, secret in some))
    entered()
    judging = [
        _Annotator(connection, work, load, plan, seed).judge()
        for seed, (connection, work) in enumerate(zip(connections, works, strict=True))
    ]
    if plan.organiser is not None:
        base, _, secret = plan.organiser.rpartition("#")
        watching = Connection(connections[0].host, connections[0].port, base)
        connections = [*connections, watching]
        judging.append(_watch(watching, secret, load, plan.seconds))
    for outcome in await asyncio.gather(*judging, return_exceptions=True):
        if isinstance(outcome, BaseException):
            load.faults.append(repr(outcome))
    for connection in connections:
        connection.close()
    return load


def simulate_annotators(
    host: str, port: int, secrets: list[str], plan: Plan, *, entered: Callable[[], None] = lambda: None
) -> Load:
    """Annotators at once, one for each secret.

    `entered` is called when all have entered and taken their task, before the first save. The secret of one of several
    campaigns has the campaign's path before it, `/en-de#secret`.
    """
    places = [secret.rpartition("#") for secret in secrets]
    connections, secrets = [Connection(host, port, base) for base, _, _ in places], [secret for _, _, secret in places]
    # In a thread of its own, because another loop may run in this one.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, _all(connections, secrets, plan, entered)).result()
