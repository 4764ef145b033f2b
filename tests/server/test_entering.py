"""Links, sessions and headers: who comes in, for how long, and what a browser is told."""

from __future__ import annotations

import http.client
import json
import logging
import re
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from adjudge.campaigns.campaign_file import load_campaign
from adjudge.server import fault_log
from adjudge.server.database import _secret_key
from adjudge.table.errors import InputError
from tests.helpers.campaigns import make_campaign
from tests.helpers.disk import Disk
from tests.helpers.serving import Client, Server, new_save, outputs

CROWD = """
[assignment]
policy = "pool"
[crowd]
least_seconds = 0
completion_code = "DONE-1"
failure_code = "FAIL-1"
return_url = "https://crowd.example/return"
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("entering")
    campaign = make_campaign(folder, annotators="9", design="judgments = 9", more=CROWD)
    with Server(campaign) as running:
        yield running


def sql(server: Server, statement: str, *values: object) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(server.campaign.with_suffix(".sqlite3"))) as connection, connection:
        return connection.execute(statement, values).fetchall()


def test_a_link_is_long_random_and_stored_as_a_hash_only(server: Server) -> None:
    secrets = [server.secret(name) for name in server.links]
    assert len(set(secrets)) == len(secrets)
    assert all(len(secret) >= 43 for secret in secrets), "256 bits in base 64"
    stored = b"".join(file.read_bytes() for file in server.campaign.parent.glob("campaign.*"))
    assert not any(secret.encode() in stored for secret in secrets)


def test_the_secret_stands_where_browsers_send_it_to_nobody(server: Server) -> None:
    assert all(link.startswith(f"{server.url}/enter#") for link in server.links.values())


def test_a_session_cookie_is_out_of_reach_of_scripts(server: Server) -> None:
    client = Client(server.url)
    server.clients.append(client)
    answer = client.enter(server.secret("annotator-01"))
    assert answer.json == {"role": "annotator", "name": "annotator-01"}
    cookie = answer.headers["Set-Cookie"]
    assert cookie.startswith("adjudge_session_")
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Max-Age=86400" in cookie


def test_the_cookie_against_forged_requests_is_sent_to_no_other_site(server: Server) -> None:
    cookie = server.client().load_page().headers["Set-Cookie"]
    assert cookie.startswith("adjudge_csrf_")
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie


def test_a_key_that_others_could_read_is_made_private(tmp_path: Path) -> None:
    campaign = tmp_path / "campaign.toml"
    key = _secret_key(campaign)
    file = tmp_path / "campaign.secret"
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(0o644)
    assert _secret_key(campaign) == key
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_new_key_is_on_the_disk_before_it_signs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(monkeypatch)
    _secret_key(tmp_path / "campaign.toml")
    assert disk.kinds() == ["file", "rename", "folder"]


@pytest.mark.parametrize("secret", ["x", "a" * 43, "'; DROP TABLE collect_link; --"])
def test_a_wrong_link_does_not_hold(server: Server, secret: str) -> None:
    client = server.client()
    assert client.enter(secret).status == 403
    assert client.get("/api/work").status == 401


def test_nothing_is_accepted_without_the_token_against_forged_requests(server: Server) -> None:
    client = server.client("annotator-01")
    # A link that holds: what is refused is the missing token, not the link.
    body = {"secret": server.secret("annotator-01")}
    for path in ("/api/enter", "/api/leave", "/api/tasks/next", "/api/saves"):
        assert client.request("POST", path, body, csrf=False).status == 403, path
    assert client.post("/api/enter", body).status == 200


def test_a_revoked_link_ends_its_session_at_once(server: Server) -> None:
    client, organiser = server.client("annotator-02"), server.client("organiser")
    number = client.work()["annotator"]["id"]
    assert organiser.post(f"/api/organiser/annotators/{number}/revoke").json == {"changed": 1}
    assert client.get("/api/work").status == 401
    assert server.client().enter(server.secret("annotator-02")).status == 403


def test_a_renewed_link_replaces_the_old_one(server: Server) -> None:
    client, organiser = server.client("annotator-03"), server.client("organiser")
    number = client.work()["annotator"]["id"]
    made = organiser.post(f"/api/organiser/annotators/{number}/renew").json
    assert client.get("/api/work").status == 401
    assert server.client().enter(server.secret("annotator-03")).status == 403
    again = server.client()
    assert again.enter(made["path"].partition("#")[2]).status == 200
    assert again.work()["annotator"]["id"] == number


def test_an_expired_link_does_not_hold(server: Server) -> None:
    client = server.client("annotator-04")
    assert client.get("/api/work").status == 200
    sql(server, "UPDATE collect_link SET expires = '2020-01-01 00:00:00' WHERE label = 'annotator-04'")
    assert client.get("/api/work").status == 401
    assert server.client().enter(server.secret("annotator-04")).status == 403


def test_a_forged_session_does_not_hold(server: Server) -> None:
    client = server.client("annotator-01")
    value = client.cookies[client.session]
    client.cookies[client.session] = value[:-2] + ("aa" if value[-2:] != "aa" else "bb")
    assert client.get("/api/work").status == 401


def test_an_organiser_may_also_judge_in_the_same_browser(server: Server) -> None:
    client = server.client("organiser")
    assert client.enter(server.secret("annotator-05")).status == 200
    assert client.get("/api/work").status == 200
    assert client.get("/api/organiser/overview").status == 200
    assert client.post("/api/leave").status == 204
    assert client.get("/api/work").status == 401


def test_people_of_a_crowd_platform_come_by_one_link(server: Server) -> None:
    first, second, nobody = server.client(), server.client(), server.client()
    assert first.enter(server.secret("crowd"), person="P-1").json == {"role": "annotator", "name": "P-1"}
    assert second.enter(server.secret("crowd"), person="P-2").status == 200
    assert nobody.enter(server.secret("crowd")).status == 403
    assert nobody.enter(server.secret("crowd"), person="annotator-01").status == 403, "somebody else's name"
    first_work, second_work = first.work(), second.work()
    assert first_work["annotator"]["id"] != second_work["annotator"]["id"]
    assert first.enter(server.secret("crowd"), person="P-1").status == 200
    assert first.work()["annotator"]["id"] == first_work["annotator"]["id"]


def test_the_completion_code_comes_with_the_last_judgment_and_not_before(server: Server) -> None:
    client = server.client("annotator-06")
    work = client.work()
    count = len(work["task"]["screens"])
    for i in range(count):
        assert client.get("/api/work").json["completion"] is None
        assert client.post(f"/api/tasks/{work['task']['id']}/finish").json["missing"]
        client.post("/api/saves", new_save(work, i, [{"output": output, "score": 50} for output in outputs(work, i)]))
    assert client.post(f"/api/tasks/{work['task']['id']}/finish").json == {"finished": True, "missing": []}
    completion = client.get("/api/work").json["completion"]
    assert (completion["code"], completion["url"]) == ("DONE-1", "https://crowd.example/return")


@pytest.mark.parametrize("path", ["/health", "/api/openapi.json", "/api/work", "/nowhere", "/static/x.js"])
def test_what_is_no_page_can_load_and_run_nothing(server: Server, path: str) -> None:
    headers = server.client().get(path).headers
    assert headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", ["/", "/enter"])
def test_every_answer_carries_the_headers(server: Server, path: str) -> None:
    headers = server.client().get(path).headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    rules = dict(rule.strip().partition(" ")[::2] for rule in policy.split(";"))
    assert all(rules[f"{kind}-src"] == "'self'" for kind in ("script", "style", "img", "connect"))
    assert "frame-ancestors 'none'" in policy
    assert "base-uri 'none'" in policy
    assert "require-trusted-types-for 'script'" in policy
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Cache-Control"] == "no-store"


def test_the_server_listens_on_this_machine_alone(server: Server) -> None:
    listening = "0A"
    lines = [line.split() for file in ("tcp", "tcp6") for line in Path("/proc/net", file).read_text().splitlines()[1:]]
    places = {line[1] for line in lines if line[3] == listening and line[1].endswith(f":{server.port:04X}")}
    assert places == {f"0100007F:{server.port:04X}"}, "127.0.0.1, as Linux writes it"


def test_a_foreign_host_name_is_refused_and_said_once_in_a_line(server: Server) -> None:
    client = server.client()
    for number in range(5):
        client.connection.request("GET", "/enter", headers={"Host": f"evil-{number}.example"})
        response = client.connection.getresponse()
        response.read()
        assert response.status == 400
    lines = [line for line in server.log().splitlines() if "evil" in line]
    assert len(lines) == 1
    assert "evil-0.example" in lines[0]
    assert "Traceback" not in server.log()


def test_a_fault_is_written_whole_once_and_then_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("adjudge.server.fault_log.time.monotonic", lambda: clock[0])
    kinds = fault_log.OncePerKind()

    def fault(kind: type[Exception], name: str = "django.request") -> logging.LogRecord:
        raised = kind("why")
        return logging.LogRecord(name, logging.ERROR, "x.py", 1, "failed: %s", ("/a\nb",), (kind, raised, None))

    first, others = fault(ValueError), [fault(ValueError) for _ in range(3)]
    assert kinds.filter(first)
    assert first.exc_info is not None, "whoever runs the server needs to know where"
    assert first.getMessage() == "failed: /a b"
    assert [kinds.filter(other) for other in others] == [False] * 3
    assert kinds.filter(fault(KeyError)), "another kind"
    clock[0] += fault_log.AGAIN_SECONDS
    again = fault(ValueError)
    assert kinds.filter(again)
    assert again.getMessage() == "failed: /a b (and 3 more of this kind)"
    monkeypatch.setattr(fault_log, "MOST_KINDS", 0)
    assert not kinds.filter(fault(OSError))


def test_the_key_that_signs_sessions_is_readable_by_its_owner_alone(server: Server) -> None:
    mode = server.campaign.with_suffix(".secret").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600


def test_behind_a_proxy_with_tls_cookies_travel_over_tls_only(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path)
    with Server(campaign, options=("--url", "https://judge.example.org")) as server:
        assert server.links["anna"].startswith("https://judge.example.org/enter#")
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        headers = {"Host": "judge.example.org", "X-Forwarded-Proto": "https"}
        connection.request("GET", "/enter", headers=headers)
        response = connection.getresponse()
        page = response.read().decode()
        csrf = re.findall(r'name="csrf" content="([^"]+)"', page)[0]
        cookie = response.headers["Set-Cookie"]
        assert "Secure" in cookie
        assert response.headers["Strict-Transport-Security"].startswith("max-age=")
        headers |= {"Cookie": cookie.split(";")[0], "X-CSRFToken": csrf, "Content-Type": "application/json"}
        for origin, status in (("https://evil.example", 403), ("https://judge.example.org", 200)):
            body = json.dumps({"secret": server.secret("anna")})
            connection.request("POST", "/api/enter", body, {**headers, "Origin": origin})
            response = connection.getresponse()
            response.read()
            assert response.status == status
        cookies = response.headers.get_all("Set-Cookie", [])
        session = next(cookie for cookie in cookies if cookie.startswith("adjudge_session"))
        assert "Secure" in session
        connection.close()


def test_campaigns_on_the_same_host_do_not_share_cookies(server: Server, tmp_path: Path) -> None:
    with Server(make_campaign(tmp_path)) as other:
        client, theirs = server.client("annotator-07"), other.client("anna")
        assert client.session != theirs.session
        client.cookies |= theirs.cookies
        assert client.get("/api/work").json["annotator"]["name"] == "annotator-07"


def test_where_a_crowd_comes_nobody_need_be_named(tmp_path: Path) -> None:
    crowd = '[assignment]\npolicy = "pool"\n[crowd]\ncompletion_code = "DONE"\n'
    campaign = make_campaign(tmp_path, documents=2, annotators="[]", design="judgments = 2\n", more=crowd)
    with Server(campaign) as server:
        assert set(server.links) == {"organiser", "crowd"}
        for name in ("P-1", "P-2"):
            client = server.client()
            assert client.enter(server.secret("crowd"), person=name).status == 200
            assert client.work()["task"] is not None
        overview = server.client("organiser").get("/api/organiser/overview").json
        assert [person["name"] for person in overview["annotators"]] == ["P-1", "P-2"]
        extended = server.client("organiser").post("/api/organiser/extend", {"judgments": 6})
        assert extended.status == 200, extended.text
    with pytest.raises(InputError, match="names nobody"):
        load_campaign(make_campaign(tmp_path / "fixed", annotators="[]"))
