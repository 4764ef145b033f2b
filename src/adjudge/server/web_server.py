"""The server's processes: gunicorn starts and watches them, one on SQLite, several on PostgreSQL; waitress serves.

Requests are read whole before a thread works on them, so that nobody can hold a thread up. Waitress reads all
connections in one thread, without blocking, and hands a request to one of a few worker threads once its last byte has
come. A client that sends half a request, or nothing at all, costs a file descriptor and no thread. Such connections are
closed after a while, and those of one address beyond a number at once, the oldest first: ordinary requests are complete
within milliseconds.

Nor does anything wait for a client that does not read: answers are kept for it, within bounds, while threads go on to
the next request. Who sends many requests before reading an answer, or reads nothing for a while, is closed.

Gunicorn starts, watches and replaces processes, which waitress does not; waitress reads requests without blocking,
which gunicorn's own workers with threads do not. That is why its channels run inside a worker of gunicorn, although
neither library promises the classes that are derived here.
"""

from __future__ import annotations

import ctypes
import gc
import logging
import os
import resource
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from gunicorn.app.base import BaseApplication
from gunicorn.workers.base import Worker
from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher
from waitress.utilities import Error

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

# Most threads wait: for the disk, for the database, or for their turn to be given a task. On PostgreSQL each has a
# connection to the database, of which there are few; on SQLite many can wait, so that saves find a free one.
THREADS = 24
THREADS_ON_SQLITE = 64
MOST_CONNECTIONS = 2000
MOST_HEADER_BYTES = 32_768
# Beyond what the app itself refuses in words, nothing is read at all.
MOST_BODY_BYTES = 20_000_000
# A request that is not complete by then is given up, however slowly its bytes come.
REQUEST_SECONDS = 20.0
# Somebody who connects and says nothing.
SILENT_SECONDS = 10.0
# Browsers keep a connection open between saves.
KEPT_SECONDS = 65.0
# Connections of one address that have sent no whole request yet: a proxy has one address for everybody.
MOST_WAITING = 500
# Requests of one connection that are not answered yet. Browsers and proxies send the next one after the answer.
MOST_AHEAD = 8
# Somebody who reads nothing of an answer; what one may leave unread before asking for more, and what all may.
UNREAD_SECONDS = 20.0
MOST_UNREAD_BYTES_OF_ONE = 5_000_000
MOST_UNREAD_BYTES = 200_000_000
# Requests that wait for a thread; those beyond are told to come back.
MOST_QUEUED = 1000
GRACE_SECONDS = 3.0
_LOOP_SECONDS = 0.5
_MOST_HEAPS = -8
"""M_ARENA_MAX in malloc.h."""


def make_application() -> Any:
    """The app with its pages."""
    from django.core.wsgi import get_wsgi_application

    # Imported and bundled before the processes fork, so that they share it and the first visitor need not wait.
    import adjudge.server.endpoints
    import adjudge.server.overview  # noqa: F401
    from adjudge.server.pages import static_prefix

    static_prefix()
    return get_wsgi_application()


def run_server(*, host: str, port: int, workers: int, ready: Callable[[], None]) -> None:
    """Serve until stopped; `ready` is called once the address is bound."""
    from adjudge.server.processes import end_serving
    from adjudge.server.sites import close_connections

    shown_host = f"[{host}]" if ":" in host else host
    _Server(
        {
            "bind": f"{shown_host}:{port}",
            "workers": workers,
            "worker_class": WaitressWorker,
            "graceful_timeout": int(GRACE_SECONDS) + 1,
            "timeout": 60,
            "loglevel": "warning",
            "accesslog": None,
            "preload_app": True,
            "control_socket_disable": True,
            "when_ready": lambda _server: ready(),
            # Processes share what is there before they fork, as long as nobody writes to it: the collector would.
            "pre_fork": lambda _server, _worker: gc.freeze(),
            "post_fork": lambda _server, _worker: close_connections(),
            "on_exit": lambda _server: end_serving(),
        }
    ).run()


class _Server(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options
        super().__init__()

    def load_config(self) -> None:
        for name, value in self._options.items():
            if name in self.cfg.settings:
                self.cfg.set(name, value)

    def load(self) -> Any:
        return make_application()


class OverloadedError(Error):  # type: ignore[misc]  # waitress has no types
    """The answer when too many requests wait."""

    code = 503
    reason = "Service Unavailable"


class Parser(HTTPRequestParser):  # type: ignore[misc]
    """A request of whose length nobody can think otherwise."""

    def parse_header(self, header_plus: bytes) -> None:
        """Refuse a body with two lengths: a proxy before this server might take the other one."""
        try:
            super().parse_header(header_plus)
        except ValueError as fault:
            # A length of thousands of digits, half of an address: waitress leaves these to whoever reads the log.
            raise ParsingError("an address or a length that cannot be read") from fault
        # PostgreSQL stores no zero byte, and a question about one is a fault of its own.
        if "\0" in self.path or "%00" in self.query:
            raise ParsingError("the address has a zero byte")
        if "TRANSFER_ENCODING" in self.headers or (self.chunked and "CONTENT_LENGTH" in self.headers):
            raise ParsingError("Content-Length and Transfer-Encoding do not fit together")


class Channel(HTTPChannel):  # type: ignore[misc]
    """A connection that remembers since when it has been waiting for the rest of a request, or for its reader."""

    parser_class = Parser

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.waiting_since: float | None = time.monotonic()
        self.unread_since: tuple[float, float] | None = None
        self.ever_heard = False
        super().__init__(*arguments, **options)

    def received(self, data: bytes) -> bool:
        """Take what has come, and note when a request has begun that is not complete."""
        self.ever_heard = True
        began = self.waiting_since if self.request is not None else None
        taken: bool = super().received(data)
        self.waiting_since = None if self.request is None else began or time.monotonic()
        if len(self.requests) > MOST_AHEAD:
            self._give_up()
        return taken

    def service(self) -> None:
        """Answer a request, unless this client leaves much unread, or anything while all of it is too much."""
        unread = self.total_outbufs_len
        if unread > MOST_UNREAD_BYTES_OF_ONE or (unread and self.server.count_unread() > MOST_UNREAD_BYTES):
            self._give_up()
        super().service()

    def _flush_outbufs_below_high_watermark(self) -> None:
        """Do not wait: the thread that reads all connections sends what is kept."""

    def _give_up(self) -> None:
        """Answer no more: the request in hand ends at its next word, and the connection is closed."""
        with self.requests_lock:
            del self.requests[1:]
        self.connected = False
        self.will_close = True

    def handle_error(self) -> None:
        """Close the connection after a fault of the server's own, and write that down as other faults."""
        logging.getLogger("waitress").exception("a connection failed")
        self.handle_close()

    def is_overdue(self, now: float) -> bool:
        """Whether this has waited too long for its first byte, for the rest of a request, or for its reader."""
        if self._is_unread(now):
            return True
        if self.waiting_since is None:
            return False
        return now - self.waiting_since > (REQUEST_SECONDS if self.ever_heard else SILENT_SECONDS)

    def _is_unread(self, now: float) -> bool:
        if not self.total_outbufs_len:
            self.unread_since = None
        elif self.unread_since is None or self.unread_since[1] != self.last_activity:
            # Something was read, or answered, since it was last looked at.
            self.unread_since = now, self.last_activity
        return self.unread_since is not None and now - self.unread_since[0] > UNREAD_SECONDS


class Listener(TcpWSGIServer):  # type: ignore[misc]
    """The listening socket: accepts connections, and closes those that only wait."""

    channel_class = Channel

    def handle_accept(self) -> None:
        """Accept a connection; where its address has too many that only wait, the oldest of them goes."""
        super().handle_accept()
        newest = next(reversed(self.active_channels.values()), None)
        if newest is None or newest.waiting_since is None:
            return
        waiting = [
            channel
            for channel in self.active_channels.values()
            if channel.waiting_since is not None and channel.addr[0] == newest.addr[0] and not channel.will_close
        ]
        if len(waiting) > MOST_WAITING:
            min(waiting, key=lambda channel: channel.waiting_since).will_close = True

    def count_unread(self) -> int:
        """How many bytes of answers wait for their readers."""
        return sum(channel.total_outbufs_len for channel in list(self.active_channels.values()))

    def maintenance(self, now: float) -> None:
        """Close what is overdue, besides idle connections and answers that are not being read."""
        super().maintenance(now)
        clock = time.monotonic()
        for channel in list(self.active_channels.values()):
            # At once: a channel that is told to close does so when it can send, and nothing can be sent to these.
            if channel.is_overdue(clock) or (channel.will_close and not channel.connected):
                channel.handle_close()


class Threads(ThreadedTaskDispatcher):  # type: ignore[misc]
    """The threads that work on requests, each started when a request finds no other one free.

    Most campaigns never need more than a few. Each that works once keeps a connection to the database.
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def add_task(self, task: Any) -> None:
        """Hand a request to a thread that waits, or to a new one; where there may be no more, it waits its turn."""
        with self.lock:
            if len(self.queue) >= MOST_QUEUED and task.requests:
                task.requests[0].error = OverloadedError("too many requests at once; try again in a moment")
            self.queue.append(task)
            # Under the same lock, so that two requests that come at once count each other.
            if len(self.queue) > len(self.threads) - self.active_count and len(self.threads) < self.most:
                self._start_one()
            self.queue_cv.notify()

    def _start_one(self) -> None:
        number = len(self.threads)
        try:
            self.start_new_thread(self.handler_thread, number)
        except RuntimeError:
            # The OS refuses another thread: the running ones will take this one.
            if not self.threads:
                raise
            return
        self.threads.add(number)
        self.active_count += 1


class WaitressWorker(Worker):  # type: ignore[misc]
    """A process that serves: started, watched and stopped by gunicorn."""

    def init_process(self) -> None:
        """Allow as many open files as there may be connections, and begin."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        from adjudge.server.sites import MOST_IDLE, all_sites

        # A connection has three files, and saves have one of their own in each database.
        databases = 3 * (THREADS_ON_SQLITE + (MOST_IDLE + 1) * len(all_sites()))
        wanted = 2 * MOST_CONNECTIONS + databases
        if soft != resource.RLIM_INFINITY and soft < wanted:
            most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        # Threads would each have a heap, and keep what they once needed. Not every C library has several.
        with suppress(AttributeError, OSError):
            ctypes.CDLL(None).mallopt(_MOST_HEAPS, 1)
        # waitress would log how many requests wait for a thread; Django reports faults of the application.
        logging.getLogger("waitress").setLevel(logging.ERROR)
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)
        super().init_process()

    # Ctrl-C: answer what has been begun and go, as when told to terminate.
    handle_quit = Worker.handle_exit

    def run(self) -> None:
        """Serve until told to stop, then answer what has been begun."""
        from adjudge.server.processes import SignsOfLife, keep_serving
        from adjudge.server.sites import all_sites

        signs = SignsOfLife(keep_serving)
        signs.start()
        connections: dict[int, Any] = {}
        embedded = all("sqlite" in site.database["ENGINE"] for site in all_sites())
        threads = Threads(THREADS_ON_SQLITE if embedded else THREADS)
        listeners = [self._listener(bound.sock, connections, threads) for bound in self.sockets]
        while self.alive and self.ppid == os.getppid():
            self.notify()
            wasyncore.loop(timeout=_LOOP_SECONDS, use_poll=True, map=connections, count=1)
        signs.stop()
        for listener in listeners:
            listener.accepting = False
            listener.del_channel()
        until = time.monotonic() + GRACE_SECONDS
        # While a request is being answered, or an answer is being sent.
        while time.monotonic() < until and any(
            channel.requests or channel.total_outbufs_len
            for channel in connections.values()
            if isinstance(channel, Channel)
        ):
            self.notify()
            wasyncore.loop(timeout=0.05, use_poll=True, map=connections, count=1)

    def _listener(self, sock: socket.socket, connections: dict[int, Any], threads: Threads) -> Listener:
        settings = Adjustments(
            connection_limit=MOST_CONNECTIONS,
            cleanup_interval=1,
            channel_timeout=KEPT_SECONDS,
            max_request_header_size=MOST_HEADER_BYTES,
            max_request_body_size=MOST_BODY_BYTES,
            # Whether they are trusted is for Django to say: only behind a proxy, where --url is given.
            clear_untrusted_proxy_headers=False,
            log_socket_errors=False,
            ident=None,
        )
        kind = (sock.family, sock.type, sock.proto, sock.getsockname())
        return Listener(
            self.wsgi, connections, _sock=sock, dispatcher=threads, adj=settings, sockinfo=kind, bind_socket=False
        )
