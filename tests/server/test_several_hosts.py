"""Two servers on hosts of their own, one PostgreSQL database, nginx before them: nothing lost or doubled when one dies.

Both "hosts" are this machine: each server has its own folder (a copy of the campaign with its secret) and its own port.
"""

from __future__ import annotations

import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import polars as pl
import pytest
from bench.collect_load import Load, Plan, simulate_annotators

from tests.helpers.campaigns import make_campaign
from tests.helpers.databases import needed_postgres_url
from tests.helpers.serving import PATIENCE, Client, Server, exported, free_port, wait_for

ANNOTATORS = 24
SECONDS = 8

pytestmark = pytest.mark.postgres

# A save carries an id of its own, so that sending it a second time does no harm: nginx may hand it to the other host.
NGINX = """
daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    upstream adjudge {{ server 127.0.0.1:{first} fail_timeout=2s; server 127.0.0.1:{second} fail_timeout=2s; }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://adjudge;
            proxy_set_header Host $http_host;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_connect_timeout 2s;
            proxy_next_upstream error timeout non_idempotent;
        }}
    }}
}}
"""


@contextmanager
def balanced(folder: Path, port: int, hosts: list[Server]) -> Iterator[None]:
    nginx = shutil.which("nginx") or "/usr/sbin/nginx"
    if not Path(nginx).exists():
        pytest.skip("there is no nginx on this machine; install Debian's nginx-light")
    folder.mkdir()
    file = folder / "nginx.conf"
    file.write_text(NGINX.format(folder=folder, port=port, first=hosts[0].port, second=hosts[1].port))
    process = subprocess.Popen([nginx, "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(file)])
    try:
        wait_for(lambda: _answers(port))
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _answers(port: int) -> bool:
    client = Client(f"http://127.0.0.1:{port}")
    try:
        return client.get("/health").status == 200
    except OSError:
        return False
    finally:
        client.connection.close()


@pytest.fixture
def hosts(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[list[Server], int]]:
    """Two servers, and the port of nginx before them; the parameter is how many people are wanted for each task."""
    database = needed_postgres_url()
    port = free_port()
    campaign = make_campaign(
        tmp_path / "first",
        documents=4,
        task_size=12,
        annotators=str(ANNOTATORS),
        design=f"judgments = {request.param}",
        more='[assignment]\npolicy = "pool"\n',
    )
    options = ("--url", f"http://127.0.0.1:{port}", "--workers", "1")
    with ExitStack() as running:
        first = running.enter_context(Server(campaign, database=database, options=options))
        shutil.copytree(tmp_path / "first", tmp_path / "second")
        copy = tmp_path / "second" / campaign.name
        second = running.enter_context(Server(copy, database=database, options=options))
        running.enter_context(balanced(tmp_path / "nginx", port, [first, second]))
        yield [first, second], port


@pytest.mark.parametrize("hosts", [ANNOTATORS], indirect=True)
def test_a_host_that_dies_under_load_costs_nothing(hosts: tuple[list[Server], int], tmp_path: Path) -> None:
    servers, port = hosts
    first, second = servers
    secrets = [first.secret(name) for name in first.links if name.startswith("annotator-")]
    assert len(secrets) == ANNOTATORS
    loads: list[Load] = []
    entered = threading.Event()

    def judge() -> None:
        plan = Plan(SECONDS, pause=0.3, resend=20, least=3)
        loads.append(simulate_annotators("127.0.0.1", port, secrets, plan, entered=entered.set))

    judging = threading.Thread(target=judge)
    judging.start()
    assert entered.wait(PATIENCE)
    time.sleep(SECONDS / 4)
    first.kill()
    judging.join(PATIENCE)
    load = loads[0]
    table = exported(second, tmp_path).table
    assert "Traceback" not in second.log()
    # Saves in progress at the killed host get no answer, or half of one; sent again, as the page does, each was taken.
    assert load.faults == []
    assert len(load.acknowledged) >= 3 * ANNOTATORS
    stored = table.select("annotator", "output", "score").rows()
    numbers = {
        person["name"]: person["id"]
        for person in second.client("organiser").get("/api/organiser/overview").json["annotators"]
    }
    saved = [(numbers[name], output, score) for name, output, score in stored]
    lost = [save for save in load.acknowledged if save not in saved]
    assert lost == []
    assert table.select(pl.struct("annotator", "output", "revision").n_unique()).item() == len(table)


@pytest.mark.parametrize("hosts", [2], indirect=True)
def test_two_hosts_never_hand_out_more_places_than_there_are(hosts: tuple[list[Server], int]) -> None:
    """Each task is wanted from two people: asked for at both hosts at once, no third person gets it."""
    servers, _ = hosts
    names = [name for name in servers[0].links if name.startswith("annotator-")]
    works: list[tuple[str, str]] = []

    def take(name: str, server: Server) -> None:
        client = Client(server.url)
        try:
            assert client.enter(servers[0].secret(name)).status == 200
            task = client.work()["task"]
            if task:
                works.append((name, task["id"]))
        finally:
            client.connection.close()

    people = [threading.Thread(target=take, args=(name, servers[i % 2])) for i, name in enumerate(names)]
    for person in people:
        person.start()
    for person in people:
        person.join(PATIENCE)
    tasks = [task for _, task in works]
    assert tasks
    assert max(tasks.count(task) for task in tasks) <= 2
    assert len({name for name, _ in works}) == len(works)
