"""Every route for every kind of visitor. The routes come from the running app: one without a row here fails."""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.core.signing import Signer, b62_encode

from tests.helpers.campaigns import make_campaign
from tests.helpers.serving import Client, Server, new_save, outputs
from tests.helpers.warm_command import warm_command

VISITORS = ("nobody", "other", "annotator", "organiser", "expired", "revoked")
ANYBODY = dict.fromkeys(VISITORS, 200)
ANNOTATORS = {"nobody": 401, "other": 200, "annotator": 200, "organiser": 403, "expired": 401, "revoked": 401}
ORGANISERS = {"nobody": 401, "other": 403, "annotator": 403, "organiser": 200, "expired": 401, "revoked": 401}
# What is asked of the annotator's own task; "other" is another annotator who tries.
EXPECTED: dict[tuple[str, str], dict[str, int]] = {
    ("GET", "/"): {"nobody": 200, "other": 302, "annotator": 302, "organiser": 302, "expired": 200, "revoked": 200},
    ("GET", "/enter"): ANYBODY,
    ("GET", "/work"): {**dict.fromkeys(VISITORS, 302), "other": 200, "annotator": 200},
    ("GET", "/organise"): {**dict.fromkeys(VISITORS, 302), "organiser": 200},
    ("GET", "/health"): ANYBODY,
    ("GET", "/logo"): dict.fromkeys(VISITORS, 404),
    ("GET", "/static/{version}/{name}"): ANYBODY,
    ("GET", "/api/"): dict.fromkeys(VISITORS, 404),
    ("GET", "/api/openapi.json"): ANYBODY,
    ("POST", "/api/enter"): dict.fromkeys(VISITORS, 403),
    ("GET", "/api/work"): ANNOTATORS,
    ("POST", "/api/tasks/next"): ANNOTATORS,
    ("POST", "/api/saves"): {**ANNOTATORS, "other": 401},
    ("POST", "/api/tasks/{task}/finish"): {**ANNOTATORS, "other": 404},
    ("GET", "/api/organiser/overview"): ORGANISERS,
    ("GET", "/api/organiser/panels"): ORGANISERS,
    ("GET", "/api/organiser/summary"): ORGANISERS,
    ("GET", "/api/organiser/state"): ORGANISERS,
    ("GET", "/api/organiser/export"): ORGANISERS,
    ("GET", "/api/instructions"): ANNOTATORS,
    # Without media there is nothing; `test_media.py` has a campaign with some.
    ("GET", "/api/media/{task}/{place}/{number}"): {**ANNOTATORS, "annotator": 404, "other": 404},
    ("GET", "/api/news"): ANNOTATORS,
    ("GET", "/api/form"): ANNOTATORS,
    ("POST", "/api/form"): ANNOTATORS,
    # Who has a task has agreed, if there was anything to agree to.
    ("POST", "/api/decline"): {**ANNOTATORS, "annotator": 409, "other": 409},
    ("GET", "/api/organiser/people"): ORGANISERS,
    ("POST", "/api/organiser/annotators/{annotator}/erase"): {**ORGANISERS, "organiser": 409},
    ("GET", "/api/organiser/report"): ORGANISERS,
    ("POST", "/api/organiser/state"): ORGANISERS,
    ("POST", "/api/organiser/messages"): ORGANISERS,
    ("POST", "/api/organiser/extend"): ORGANISERS,
    ("POST", "/api/organiser/annotators/{annotator}/reassign"): ORGANISERS,
    ("POST", "/api/organiser/annotators"): ORGANISERS,
    ("POST", "/api/organiser/annotators/{annotator}/decision"): ORGANISERS,
    ("POST", "/api/organiser/annotators/{annotator}/renew"): ORGANISERS,
    ("POST", "/api/organiser/annotators/{annotator}/revoke"): ORGANISERS,
    ("POST", "/api/organiser/links/{link}/revoke"): ORGANISERS,
    ("POST", "/api/leave"): dict.fromkeys(VISITORS, 204),
}

LIST_ROUTES = """
import json, sys
from pathlib import Path
from tests.helpers.databases import open_campaign
open_campaign(Path(sys.argv[1]))
from adjudge.server.endpoints import api
from adjudge.server.endpoints import urlpatterns

def walk(patterns, prefix):
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if hasattr(pattern, "url_patterns"):
            yield from walk(pattern.url_patterns, path)
        else:
            yield path.replace("<", "{").replace(">", "}").replace("int:", "").replace("str:", "").replace("path:", "")

methods = {path: sorted(pattern) for path, pattern in api.get_openapi_schema()["paths"].items()}
print(json.dumps({"paths": sorted(set(walk(urlpatterns, "/"))), "methods": methods}))
"""


@dataclass
class Scene:
    server: Server
    work: Any
    cookies: dict[str, dict[str, str]]
    victim: int
    link: int

    def visitor(self, name: str) -> Client:
        client = Client(self.server.url, self.cookies[name])
        self.server.clients.append(client)
        client.load_page()
        return client


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    campaign = make_campaign(tmp_path_factory.mktemp("matrix"), documents=4, annotators='["anna", "bert", "carl"]')
    with Server(campaign) as server:
        annotator, other, organiser = (server.client(name) for name in ("anna", "bert", "organiser"))
        other.work()
        # One visitor in both roles, whose links are then revoked; and the same session, signed too long ago.
        revoked = server.client("carl")
        number = revoked.work()["annotator"]["id"]
        revoked.enter(_another_organiser(campaign))
        expired = {**organiser.cookies, organiser.session: _aged(_both(annotator, organiser, server), campaign)}
        _sql(campaign, "UPDATE collect_link SET revoked = '2020-01-01 00:00:00' WHERE label IN ('carl', 'spare')")
        spare = _sql(campaign, "SELECT id FROM collect_link WHERE label = 'spare'")[0][0]
        cookies = {
            "nobody": {},
            "other": other.cookies,
            "annotator": annotator.cookies,
            "organiser": organiser.cookies,
            "expired": expired,
            "revoked": revoked.cookies,
        }
        yield Scene(server, annotator.work(), cookies, number, int(str(spare)))


def _sql(campaign: Path, statement: str, *values: object) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(campaign.with_suffix(".sqlite3"))) as connection, connection:
        return connection.execute(statement, values).fetchall()


def _another_organiser(campaign: Path) -> str:
    secret = "spare" * 9
    hashed = hashlib.sha256(secret.encode()).hexdigest()
    _sql(
        campaign,
        "INSERT INTO collect_link (role, label, secret_hash, created, expires) VALUES ('organiser', 'spare', ?, ?, ?)",
        hashed,
        "2026-01-01 00:00:00",
        "2100-01-01 00:00:00",
    )
    return secret


def _both(annotator: Client, organiser: Client, server: Server) -> str:
    client = Client(server.url, annotator.cookies)
    server.clients.append(client)
    client.enter(server.secret("organiser"))
    return client.cookies[client.session]


def _aged(cookie: str, campaign: Path) -> str:
    """A session cookie as if it had been signed two days ago, with the server's own key."""
    content = cookie.rsplit(":", 2)[0]
    key = campaign.with_suffix(".secret").read_text()
    salt = "django.contrib.sessions.backends.signed_cookies"
    signer = Signer(key=key, salt=salt, algorithm="sha256", fallback_keys=[])
    return signer.sign(f"{content}:{b62_encode(int(time.time()) - 2 * 86400)}")


def test_every_route_has_a_row(scene: Scene) -> None:
    routes = warm_command().run_code(LIST_ROUTES, scene.server.campaign).json
    described = {(method.upper(), path) for path, methods in routes["methods"].items() for method in methods}
    plain = {("GET", path) for path in routes["paths"] if path not in routes["methods"]}
    assert set(routes["methods"]) <= set(routes["paths"])
    assert described | plain == set(EXPECTED)


def _body(path: str, scene: Scene) -> Any:
    bodies: dict[str, Any] = {
        "/api/enter": {"secret": "wrong"},
        "/api/saves": new_save(scene.work, 0, [{"output": outputs(scene.work, 0)[0], "score": 3}]),
        "/api/organiser/annotators": {"name": f"new-{time.monotonic_ns()}"},
        "/api/organiser/state": {"state": "running"},
        "/api/organiser/messages": {"text": "Please go on."},
        "/api/organiser/extend": {"judgments": 1},
        "/api/form": {"agreed": True},
        "/api/organiser/annotators/{annotator}/erase": {"name": "nobody"},
        "/api/organiser/annotators/{annotator}/reassign": {"back": True},
        "/api/organiser/annotators/{annotator}/decision": {"excluded": True, "reason": "a test"},
    }
    return bodies.get(path)


@pytest.mark.parametrize("visitor", VISITORS)
@pytest.mark.parametrize(("method", "path"), list(EXPECTED), ids=str)
def test_a_route_answers_each_visitor_as_it_should(scene: Scene, method: str, path: str, visitor: str) -> None:
    client = scene.visitor(visitor)
    version = client.get("/enter").text.partition('data-static="/static/')[2].partition("/")[0]
    ids = {"task": scene.work["task"]["id"], "annotator": scene.victim, "link": scene.link, "place": "i1", "number": 0}
    url = path.format(version=version, name="judge_score.js", **ids)
    if path == "/api/leave":
        # Leaving ends a session for all copies of its cookie: not that of the other tests.
        client = scene.server.client({"annotator": "anna", "other": "bert", "organiser": "organiser"}.get(visitor))
        client.load_page()
    answer = client.request(method, url, _body(path, scene))
    assert answer.status == EXPECTED[method, path][visitor], answer.text[:300]


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "POST"])
@pytest.mark.parametrize(
    "path", ["/", "/enter", "/work", "/organise", "/health", "/static/x/judge_score.js", "/api/work", "/api/saves"]
)
def test_other_methods_are_refused(scene: Scene, method: str, path: str) -> None:
    if (method, path) in EXPECTED:
        return
    assert scene.visitor("organiser").request(method, path).status in (403, 404, 405)


def test_somebody_elses_task_cannot_be_saved_to_under_the_own_name(scene: Scene) -> None:
    other = scene.visitor("other")
    mine = other.work()["annotator"]["id"]
    save = new_save(scene.work, 0, [{"output": outputs(scene.work, 0)[0], "score": 3}], annotator=mine)
    answer = other.post("/api/saves", save)
    assert answer.status == 409
    assert "was not given to you" in answer.text


def test_what_annotators_get_says_nothing_of_systems_controls_or_others(scene: Scene) -> None:
    text = scene.visitor("annotator").get("/api/work").text
    for word in ("alpha", "beta", "gamma", "bert", "carl", '"kind": "system"', "degraded", "hash"):
        assert word not in text
