"""Request bodies that no page sends: too long, too deep, of another type, or with invalid numbers and characters."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.helpers.campaigns import make_campaign
from tests.helpers.serving import Client, Server, new_save, outputs


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(make_campaign(tmp_path_factory.mktemp("bodies"))) as running:
        yield running


def send(client: Client, body: str | bytes, kind: str = "application/json", path: str = "/api/saves") -> Any:
    cookies = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    headers = {"Content-Type": kind, "Cookie": cookies, "X-CSRFToken": client.csrf}
    client.connection.request("POST", path, body, headers)
    answer = client.connection.getresponse()
    return answer.status, json.loads(answer.read())


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("[" * 200_000, 400),
        ('{"a":' * 100_000, 400),
        (b'{"id": "\xff\xfe"}', 400),
        ('{"annotator": ' + "9" * 5000 + "}", 400),
        ("null", 422),
        ("", 422),
        ("[]", 422),
        ('{"a": "' + "x" * 2_000_000 + '"}', 413),
    ],
)
def test_what_is_no_save_is_refused_in_words(server: Server, body: str | bytes, status: int) -> None:
    client = server.client("anna")
    answer_status, answer = send(client, body)
    assert answer_status == status
    assert answer["detail"]
    assert client.get("/health").status == 200, "the connection can be used further"


@pytest.mark.parametrize(
    "kind", ["multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "text/plain", ""]
)
def test_only_json_is_understood(server: Server, kind: str) -> None:
    client = server.client("anna")
    work = client.work()
    save = new_save(work, 0, [{"output": outputs(work, 0)[0], "score": 5}])
    assert send(client, json.dumps(save), kind) == (415, {"detail": "only application/json is understood"})
    assert send(client, "--x\r\n\r\n", kind)[0] == 415


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_are_none_are_refused_everywhere(server: Server, number: str) -> None:
    client = server.client("anna")
    work = client.work()
    save = json.dumps(new_save(work, 0, [{"output": outputs(work, 0)[0], "score": 5}], events=[[1, "a"]], age=1))
    for field in ('"score": 5', '"age": 1', '"events": [[1'):
        name = field[: field.rindex(":") + 1] if "[" not in field else '"events": [['
        assert send(client, save.replace(field, f"{name} {number}"))[0] == 422, field


@pytest.mark.parametrize("name", ["two\nlines", "a\ttab", "zero\0", "half \ud800", "   ", "x" * 201, "\x7f"])
def test_a_name_is_one_line_of_text(server: Server, name: str) -> None:
    organiser = server.client("organiser")
    assert organiser.post("/api/organiser/annotators", {"name": name}).status == 422
    assert organiser.post("/api/enter", {"secret": "x", "person": name}).status == 422
