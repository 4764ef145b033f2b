"""Clients that send half a request, or nothing, hold up nobody: honest people go on saving meanwhile."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from bench.collect_slow import KINDS, SlowClients, connect_deaf, request_for_script, timed
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.server import TcpWSGIServer

from adjudge.server import web_server
from tests.helpers.campaigns import make_campaign
from tests.helpers.serving import PATIENCE, Server, new_save, outputs, wait_for

SLOW_CLIENTS = 300
SAVES = 40


def test_saves_go_on_while_three_hundred_clients_hang(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Server(make_campaign(tmp_path)) as server:
        client = server.client("anna")
        work = client.work()
        output = outputs(work, 0)[0]
        score = iter(range(1000))

        def save() -> int:
            changes = [{"output": output, "score": next(score) % 101}]
            return client.post("/api/saves", new_save(work, 0, changes)).status

        with SlowClients(server.port, SLOW_CLIENTS):
            seconds, statuses = timed(save, SAVES)
            # Somebody who comes anew is let in, too.
            assert server.client("organiser").get("/api/organiser/overview").status == 200
        assert statuses == [200] * SAVES
    with capsys.disabled():
        print(f"\nsaves beside {SLOW_CLIENTS} slow clients: the longest took {max(seconds) * 1000:.0f} ms")


@pytest.mark.slow
def test_clients_that_do_not_read_hold_up_nobody_and_are_closed(tmp_path: Path) -> None:
    """More of them than there are threads: those that ask for much ahead, and those that ask for what is allowed."""
    with Server(make_campaign(tmp_path)) as server, ExitStack() as opened:
        client = server.client("anna")
        work = client.work()
        request = request_for_script(server.port, server.client().load_page().text)
        connect_deaf(server.port, opened, 70, request * 110)
        deaf = connect_deaf(server.port, opened, 100, request * web_server.MOST_AHEAD)
        for score in range(20):
            changes = [{"output": outputs(work, 0)[0], "score": score}]
            assert client.post("/api/saves", new_save(work, 0, changes)).status == 200
        assert server.client("organiser").get("/api/organiser/overview").status == 200

        def closed(connection: socket.socket) -> bool:
            """Whether the server has closed it: what had been sent can be read, then nothing more comes."""
            try:
                return connection.send(b"G") == 0
            except OSError:
                return True

        wait_for(lambda: all(closed(connection) for connection in deaf))
        # By a new connection: of one address, the oldest that only wait are closed.
        assert server.client().get("/health").text == "ok\n"


def test_many_requests_before_the_first_answer_end_the_connection(tmp_path: Path) -> None:
    with Server(make_campaign(tmp_path)) as server:
        health = f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode()
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as few:
            few.sendall(health * 3)
            answer = b""
            while answer.count(b"ok\n") < 3:
                part = few.recv(10_000)
                assert part, f"closed after {answer!r}"
                answer += part
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as many:
            many.sendall(health * (web_server.MOST_AHEAD + 5))
            answer = b""
            with suppress(ConnectionError):
                while part := many.recv(10_000):
                    answer += part
            assert answer.count(b"ok\n") <= web_server.MOST_AHEAD


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_a_body_with_two_lengths_is_refused_and_the_connection_closed(tmp_path: Path, version: str) -> None:
    """A proxy might take the other length, and what follows for a request of its own."""
    with Server(make_campaign(tmp_path)) as server:
        head = f"POST /api/enter HTTP/{version}\r\nHost: 127.0.0.1:{server.port}\r\nConnection: keep-alive\r\n"
        lengths = "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /health HTTP/1.1\r\n\r\n"
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
            connection.sendall((head + lengths).encode())
            answer = b""
            with suppress(ConnectionError):
                while part := connection.recv(10_000):
                    answer += part
        assert answer.split(b"\r\n")[0].endswith(b"400 Bad Request")
        assert answer.count(b"HTTP/1.") == 1


@pytest.mark.parametrize(
    "begin",
    [
        "GET /health HTTP/1.1\r\nContent-Length: " + "9" * 5000,
        "GET http://[::1 HTTP/1.1",
        "GET /api/media/%00/x/0 HTTP/1.1",
        "GET /api/work?task=t001%00 HTTP/1.1",
    ],
    ids=["a length of many digits", "half of an address", "a zero byte", "a zero byte in the query"],
)
def test_what_cannot_be_read_is_a_fault_of_the_request(begin: str) -> None:
    """It would be a fault of the server, with a line in its log for every request."""
    parser = web_server.Parser(Adjustments())
    parser.received(f"{begin}\r\n\r\n".encode())
    assert parser.completed
    assert parser.error.code == 400


def test_a_fault_of_a_connection_closes_it_and_is_written_where_all_are(caplog: pytest.LogCaptureFixture) -> None:
    channel = web_server.Channel.__new__(web_server.Channel)
    closed: list[bool] = []
    channel.handle_close = lambda: closed.append(True)
    channel.handle_error()
    assert closed
    assert [record.name for record in caplog.records] == ["waitress"]


def test_requests_beyond_those_that_may_wait_are_told_to_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_server, "MOST_QUEUED", 2)
    threads = web_server.Threads(most=0)
    waiting = [SimpleNamespace(requests=[SimpleNamespace(error=None)]) for _ in range(4)]
    for channel in waiting:
        threads.add_task(channel)
    codes = [getattr(channel.requests[0].error, "code", None) for channel in waiting]
    assert codes == [None, None, 503, 503]


class NobodyWaits:
    """A lock whose holder would wait for ever."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass

    def wait(self) -> None:
        pytest.fail("a thread waits until somebody reads")


def test_no_thread_waits_until_an_answer_is_read() -> None:
    channel = web_server.Channel.__new__(web_server.Channel)
    channel.adj, channel.server = SimpleNamespace(outbuf_high_watermark=1), SimpleNamespace(pull_trigger=lambda: None)
    channel.connected, channel.total_outbufs_len, channel.outbuf_lock = True, 10**9, NobodyWaits()
    channel._flush_outbufs_below_high_watermark()


@pytest.mark.parametrize(
    ("own", "of_all", "given_up"),
    [
        (0, 0, False),
        (0, 10**9, False),
        (1000, 1000, False),
        (1000, web_server.MOST_UNREAD_BYTES + 1, True),
        (web_server.MOST_UNREAD_BYTES_OF_ONE + 1, 6_000_000, True),
    ],
)
def test_who_leaves_too_much_unread_gets_no_more(
    monkeypatch: pytest.MonkeyPatch, own: int, of_all: int, *, given_up: bool
) -> None:
    monkeypatch.setattr(HTTPChannel, "service", lambda _: None)
    channel = web_server.Channel.__new__(web_server.Channel)
    channel.connected, channel.will_close, channel.total_outbufs_len = True, False, own
    channel.server, channel.requests, channel.requests_lock = (
        SimpleNamespace(count_unread=lambda: of_all),
        [],
        NobodyWaits(),
    )
    channel.service()
    assert (channel.will_close, not channel.connected) == (given_up, given_up)


def test_of_one_address_the_oldest_that_only_wait_are_closed(tmp_path: Path) -> None:
    with Server(make_campaign(tmp_path)) as server:
        first = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
        others = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(web_server.MOST_WAITING + 20)]
        try:
            assert first.recv(10) == b"", "closed before its time"
            assert server.client("anna").get("/api/work").status == 200
        finally:
            for connection in (first, *others):
                connection.close()


def test_the_oldest_of_those_that_only_wait_goes_and_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others of this address that are being answered, or are closed already, count for nothing."""

    def channel(since: float | None, address: str = "192.0.2.1", *, will_close: bool = False) -> SimpleNamespace:
        return SimpleNamespace(waiting_since=since, addr=(address, 1), will_close=will_close)

    monkeypatch.setattr(TcpWSGIServer, "handle_accept", lambda _: None)
    others = [channel(None), channel(1, "192.0.2.2"), channel(1, will_close=True)]
    waiting = [channel(10.0 + number) for number in range(web_server.MOST_WAITING)]
    listener = web_server.Listener.__new__(web_server.Listener)
    listener.active_channels = dict(enumerate([*others, *waiting]))
    listener.handle_accept()
    assert [one.will_close for one in others] == [False, False, True]
    assert not any(one.will_close for one in waiting)
    listener.active_channels[-1] = channel(9000)
    listener.handle_accept()
    assert [one.waiting_since for one in waiting if one.will_close] == [10]


@pytest.mark.slow
def test_requests_that_never_end_are_given_up(tmp_path: Path) -> None:
    """All kinds at once: each has the same time."""
    with Server(make_campaign(tmp_path)) as server, ExitStack() as opened:
        waiting = {
            kind: opened.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE))
            for kind in KINDS
        }
        for kind, connection in waiting.items():
            if KINDS[kind]:
                connection.sendall(KINDS[kind])
            connection.setblocking(False)

        def all_closed() -> bool:
            for kind, connection in list(waiting.items()):
                if is_closed(connection, drip=kind == "drip"):
                    del waiting[kind]
            return not waiting

        wait_for(all_closed)
        assert server.client("anna").get("/health").text == "ok\n"


def is_closed(connection: socket.socket, *, drip: bool) -> bool:
    """Whether the server has closed a connection; a dripping one sends another byte."""
    try:
        if drip:
            connection.send(b"x")
        return connection.recv(4096) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def test_a_kept_connection_is_not_taken_for_a_slow_one() -> None:
    """A connection on which whole requests came waits for nothing; one that has begun another does."""
    channel = web_server.Channel.__new__(web_server.Channel)
    channel.waiting_since, channel.ever_heard = None, True
    assert not channel.is_overdue(time.monotonic() + 10_000)
    channel.waiting_since = 100.0
    assert not channel.is_overdue(100 + web_server.REQUEST_SECONDS)
    assert channel.is_overdue(101 + web_server.REQUEST_SECONDS)
    channel.ever_heard = False
    assert channel.is_overdue(101 + web_server.SILENT_SECONDS)


def test_who_reads_nothing_for_a_while_is_overdue() -> None:
    channel = web_server.Channel.__new__(web_server.Channel)
    channel.waiting_since, channel.ever_heard, channel.unread_since = None, True, None
    channel.total_outbufs_len, channel.last_activity = 10, 1
    long = web_server.UNREAD_SECONDS + 1
    assert not channel.is_overdue(100)
    assert channel.is_overdue(100 + long)
    channel.last_activity = 2
    assert not channel.is_overdue(100 + long), "something was read"
    channel.total_outbufs_len = 0
    assert not channel.is_overdue(100 + 3 * long), "nothing is left to read"


class Waiting:
    """A request that is worked on until it may end."""

    def __init__(self) -> None:
        self.begun, self.may_end, self.ended = threading.Event(), threading.Event(), threading.Event()

    def service(self) -> None:
        self.begun.set()
        self.may_end.wait(PATIENCE)
        self.ended.set()


def test_threads_are_started_when_all_others_are_busy_and_never_more_than_allowed() -> None:
    threads = web_server.Threads(most=2)
    assert not threads.threads, "started before there was anything to do"
    first, second, third = Waiting(), Waiting(), Waiting()
    for request in (first, second, third):
        threads.add_task(request)
    assert first.begun.wait(PATIENCE)
    assert second.begun.wait(PATIENCE)
    assert len(threads.threads) == 2
    assert not third.begun.is_set()
    second.may_end.set()
    assert third.begun.wait(PATIENCE), "waits for the first that is free"
    for request in (first, third):
        request.may_end.set()
        assert request.ended.wait(PATIENCE)
    wait_for(lambda: threads.active_count == 0)
    for _ in range(5):
        later = Waiting()
        later.may_end.set()
        threads.add_task(later)
        assert later.ended.wait(PATIENCE)
    assert threads.shutdown(), "a thread does not end"


def test_a_thread_that_is_free_is_used_again() -> None:
    threads = web_server.Threads(most=64)
    for _ in range(20):
        request = Waiting()
        request.may_end.set()
        threads.add_task(request)
        assert request.ended.wait(PATIENCE)
        wait_for(lambda: threads.active_count == 0)
    assert len(threads.threads) == 1
    threads.shutdown()


def test_where_the_system_allows_no_more_threads_those_that_there_are_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = web_server.Threads(most=64)
    first, second = Waiting(), Waiting()
    threads.add_task(first)
    assert first.begun.wait(PATIENCE)

    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads, "start_new_thread", refuse)
    threads.add_task(second)
    second.may_end.set()
    first.may_end.set()
    assert second.ended.wait(PATIENCE)
    threads.shutdown()
