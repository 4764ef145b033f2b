"""Schemathesis against the published OpenAPI description: whatever is sent, no fault of the server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

from tests.helpers.campaigns import make_campaign
from tests.helpers.serving import Client, Server

CHECKS = [not_a_server_error, status_code_conformance, response_schema_conformance]
# A guessed number would end the visit of this visitor; what these do has its tests elsewhere.
LEFT_OUT = ("/revoke", "/renew")


@pytest.fixture(scope="module")
def visitor(database: str | None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Client]]:
    """A visitor who is annotator and organiser at once, so that every route is reached."""
    campaign = make_campaign(tmp_path_factory.mktemp("schema"), more="[page]\ncomments = true\n")
    with Server(campaign, database=database) as server:
        client = server.client("anna")
        client.enter(server.secret("organiser"))
        client.work()
        yield server, client


def test_no_fault_of_the_server_whatever_is_sent(visitor: tuple[Server, Client]) -> None:
    server, client = visitor
    schema = schemathesis.openapi.from_url(f"{server.url}/api/openapi.json")
    tried = 0
    for result in schema.get_all_operations():
        operation = result.ok()  # type: ignore[union-attr]
        if operation.path.endswith(LEFT_OUT):
            continue

        @settings(
            max_examples=10,
            deadline=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
            derandomize=True,
            database=None,
        )
        @given(case=operation.as_strategy())
        def send(case: Any) -> None:
            headers = {"X-CSRFToken": client.csrf, "Origin": server.url}
            case.call_and_validate(cookies=client.cookies, headers=headers, checks=CHECKS)

        send()
        tried += 1
    assert tried >= 10
    assert "Traceback" not in server.log()


def test_the_description_names_the_cookie_of_this_campaign(visitor: tuple[Server, Client]) -> None:
    _, client = visitor
    schemes = client.get("/api/openapi.json").json["components"]["securitySchemes"]
    cookie = {"type": "apiKey", "in": "cookie", "name": client.session}
    assert schemes == {"AnnotatorAuth": cookie, "OrganiserAuth": cookie}
