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
    faults: list[str] = field(default_factory=list)

    def share(self, part: float) -> float:
        """The time within which this part of the saves was acknowledged."""
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


class Connection:
    """HTTP on one kept-alive connection, just enough of it."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
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
            f"{method} {path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\nCookie: {cookies}\r\n"
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
        """Hang up."""
        if self.streams is not None:
            self.streams[1].close()


async def _enter(connection: Connection, secret: str, load: Load) -> Any:
    """Enter and take a task."""
    _, page = await connection.call("GET", "/enter")
    connection.csrf = re.findall(r'name="csrf" content="([^"]+)"', page)[0]
    status, said = await connection.call("POST", "/api/enter", {"secret": secret})
    if status != 200:
        load.faults.append(f"enter {status} {said}")
    _, said = await connection.call("POST", "/api/tasks/next")
    return json.loads(said)


async def _judge(connection: Connection, work: Any, load: Load, *, seconds: float, pause: float, seed: int) -> None:
    """Change one answer after the other until the time is over."""
    chance = random.Random(seed)
    until = time.monotonic() + seconds
    screens = work["task"]["screens"]
    places = [
        (screen["id"], output["id"]) for screen in screens for item in screen["items"] for output in item["outputs"]
    ]
    bases: dict[str, int] = {}
    await asyncio.sleep(chance.uniform(0, pause))
    while time.monotonic() < until:
        screen, output = chance.choice(places)
        score = chance.randrange(101)
        save = {
            "id": str(uuid.UUID(int=chance.getrandbits(128), version=4)),
            "annotator": work["annotator"]["id"],
            "task": work["task"]["id"],
            "screen": screen,
            "base": bases.get(screen, 0),
            "changes": [{"output": output, "score": score}],
            "spent": {"shown": pause, "visible": pause, "active": pause, "outputs": {output: pause}},
            "events": [[1, "shown"], [2, "act"], [3, "set", output, score]],
        }
        start = time.perf_counter()
        status, said = await connection.call("POST", "/api/saves", save)
        load.seconds.append(time.perf_counter() - start)
        if status == 200:
            bases[screen] = json.loads(said)["state"]["revision"]
            load.acknowledged.append((work["annotator"]["id"], output, float(score)))
        else:
            load.faults.append(f"save {status} {said}")
        await asyncio.sleep(chance.uniform(0.5, 1.5) * pause)


async def _all(
    connections: list[Connection], secrets: list[str], *, seconds: float, pause: float, entered: Callable[[], None]
) -> Load:
    load = Load()
    works: list[Any] = []
    for i in range(0, len(secrets), CONNECT_TOGETHER):
        some = zip(connections[i : i + CONNECT_TOGETHER], secrets[i : i + CONNECT_TOGETHER], strict=True)
        works += await asyncio.gather(*(_enter(connection, secret, load) for connection, secret in some))
    entered()
    judging = [
        _judge(connection, work, load, seconds=seconds, pause=pause, seed=i)
        for i, (connection, work) in enumerate(zip(connections, works, strict=True))
    ]
    for outcome in await asyncio.gather(*judging, return_exceptions=True):
        if isinstance(outcome, BaseException):
            load.faults.append(repr(outcome))
    for connection in connections:
        connection.close()
    return load


def simulate_annotators(
    host: str, port: int, secrets: list[str], *, seconds: float, pause: float, entered: Callable[[], None]
) -> Load:
    """So many annotators at once, for so many seconds, each saving about every `pause` seconds.

    `entered` is called when all have entered and taken their task, before the first save.
    """
    connections = [Connection(host, port) for _ in secrets]
    judging = _all(connections, secrets, seconds=seconds, pause=pause, entered=entered)
    # In a thread of its own, because another loop may run in this one.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, judging).result()
