"""Clients that hold a server up on loopback: half-sent requests, silence, single bytes, and answers never read."""

from __future__ import annotations

import re
import selectors
import socket
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Self

_HALF_HEADER = b"POST /api/saves HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
_HALF_BODY = (
    b"POST /api/saves HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n{"
)
# What each kind sends at first; `drip` goes on with a byte a second.
KINDS = {"silence": b"", "half a header": _HALF_HEADER, "half a body": _HALF_BODY, "drip": _HALF_HEADER}
_DRIP_SECONDS = 1.0


class SlowClients:
    """Connections that say too little, kept up to the wanted number for as long as the block lasts."""

    def __init__(self, port: int, count: int) -> None:
        self.port, self.count = port, count
        self.closed_by_server = 0
        self._sockets: dict[socket.socket, str] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _connect(self, kind: str) -> None:
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        if KINDS[kind]:
            connection.sendall(KINDS[kind])
        connection.setblocking(False)
        self._sockets[connection] = kind

    def _run(self) -> None:
        last = time.monotonic()
        while not self._stop.wait(0.05):
            self._renew()
            if time.monotonic() - last > _DRIP_SECONDS:
                last = time.monotonic()
                for connection in [_socket for _socket, kind in self._sockets.items() if kind == "drip"]:
                    try:
                        connection.send(b"x")
                    except OSError:
                        continue

    def _renew(self) -> None:
        """Connect anew for every connection that the server has closed."""
        with selectors.DefaultSelector() as selector:
            for connection, kind in self._sockets.items():
                selector.register(connection, selectors.EVENT_READ, (connection, kind))
            ready = [key.data for key, _ in selector.select(timeout=0)]
        for connection, kind in ready:
            if self._has_ended(connection):
                self.closed_by_server += 1
                del self._sockets[connection]
                connection.close()
                try:
                    self._connect(kind)
                except OSError:
                    continue

    @staticmethod
    def _has_ended(connection: socket.socket) -> bool:
        try:
            return connection.recv(65536) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True

    def __enter__(self) -> Self:
        kinds = list(KINDS)
        for number in range(self.count):
            self._connect(kinds[number % len(kinds)])
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
        for connection in self._sockets:
            connection.close()


def timed(action: Callable[[], int], count: int) -> tuple[list[float], list[int]]:
    """Seconds and results of an action, one after the other."""
    seconds, results = [], []
    for _ in range(count):
        start = time.perf_counter()
        results.append(action())
        seconds.append(time.perf_counter() - start)
    return seconds, results


def request_for_script(port: int, page: str) -> bytes:
    """A request for the largest file that anybody may have, which a page names."""
    path = re.search(r'src="([^"]+\.js)"', page)
    if path is None:
        raise ValueError("the page names no script")
    return f"GET {path[1]} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()


def connect_deaf(port: int, opened: ExitStack, count: int, requests: bytes) -> list[socket.socket]:
    """Connections that send requests and read nothing; the system keeps as little for them as it can."""
    deaf = []
    for _ in range(count):
        connection = opened.enter_context(socket.socket())
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        connection.settimeout(60)
        connection.connect(("127.0.0.1", port))
        with suppress(OSError):
            connection.sendall(requests)
        deaf.append(connection)
    return deaf
