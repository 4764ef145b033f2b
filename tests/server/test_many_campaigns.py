"""Several campaigns on one server: each at its path with people, cookies, judgments and keys of its own."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import polars as pl
import pytest
from playwright.sync_api import expect

from adjudge import read
from tests.helpers.campaigns import make_campaign
from tests.helpers.databases import needed_postgres_url
from tests.helpers.serving import (
    PATIENCE,
    Client,
    Server,
    export,
    free_port,
    new_save,
    outputs,
    refused_start,
    run,
    wait_for,
)
from tests.server.conftest import shoot

if TYPE_CHECKING:
    from playwright.sync_api import Page

PAIRS = {"en-de": ("en", "de"), "de-en": ("de", "en"), "de-ja": ("de", "ja")}


def make_folder(folder: Path) -> Path:
    for name, (source, target) in PAIRS.items():
        make_campaign(folder / name, source=source, target=target, annotators='["anna", "ben"]')
    return folder


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    database = None if request.param == "sqlite" else needed_postgres_url(with_tables=False)
    with Server(make_folder(tmp_path_factory.mktemp("many") / "task"), database=database) as running:
        yield running


def visit(server: Server, base: str = "", cookies: dict[str, str] | None = None) -> Client:
    """Somebody who has not entered, or has these cookies."""
    client = Client(server.url, cookies, base)
    server.clients.append(client)
    return client


def save_scores(client: Client, score: float) -> list[str]:
    """Judge the first screen; returns what was judged."""
    work = client.work()
    judged = outputs(work, 0)
    answer = client.post("/api/saves", new_save(work, 0, [{"output": output, "score": score} for output in judged]))
    assert answer.status == 200, answer.text
    return judged


def test_a_folder_is_served_by_a_process_that_starts_anew(tmp_path: Path) -> None:
    """Other servers of these tests have all modules imported before they know their campaigns."""
    port = free_port()
    command = [
        sys.executable,
        "-m",
        "adjudge",
        "serve",
        str(make_folder(tmp_path / "task")),
        "--port",
        str(port),
        "--json",
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stderr is not None
        line = process.stdout.readline()
        assert line, process.stderr.read()
        for entry in json.loads(line)["links"]:
            address, _, secret = entry["link"].partition("#")
            client = Client(f"http://127.0.0.1:{port}", base=urlsplit(address).path.removesuffix("/enter"))
            if entry["role"] == "annotator":
                assert client.enter(secret).status == 200
                assert client.work()["task"]
                # The description of the interface names the cookie that this campaign has.
                assert f'"{client.session}"' in client.get("/api/openapi.json").text
            client.connection.close()
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


def test_each_campaign_has_its_own_people_and_judgments(server: Server, tmp_path: Path) -> None:
    for number, path in enumerate(PAIRS):
        client = server.client(f"/{path}:anna")
        assert client.work()["campaign"]["name"] == f"Test da {path}"
        save_scores(client, 10.0 + number)
    for number, path in enumerate(PAIRS):
        table = server.client(f"/{path}:organiser").get("/api/organiser/export").text
        file = tmp_path / f"{path}.csv"
        file.write_text(table, encoding="utf-8")
        judged = read(file).table
        assert set(judged["score"]) == {10.0 + number}
        assert judged["target_lang"].unique().to_list() == [PAIRS[path][1]]


def test_a_person_of_one_campaign_sees_nothing_of_another(server: Server) -> None:
    anna = server.client("/en-de:anna")
    other = visit(server, "/de-en", anna.cookies)
    other.csrf = anna.csrf
    assert other.get("/api/work").status == 401
    assert other.post("/api/tasks/next").status == 403
    assert other.get("/work").status == 302
    # Nor does the cookie under the name that the other campaign has for it: another key signs there.
    ben = server.client("/de-en:ben")
    forged = visit(server, "/de-en", {**ben.cookies, ben.session: anna.cookies[anna.session]})
    forged.csrf = ben.csrf
    assert forged.get("/api/work").status == 401
    # The token against forged requests belongs to one campaign, too.
    mixed = visit(server, "/de-en", {**anna.cookies, **ben.cookies})
    mixed.csrf = anna.csrf
    assert mixed.post("/api/tasks/next").status == 403
    mixed.csrf = ben.csrf
    assert mixed.post("/api/tasks/next").status == 200
    # And a link opens its own campaign only.
    stranger = visit(server, "/de-en")
    assert stranger.enter(server.secret("/en-de:anna")).status == 403


def test_cookies_are_sent_to_their_campaign_only(server: Server) -> None:
    client = visit(server, "/en-de")
    answer = client.load_page()
    assert "Path=/en-de;" in answer.headers["Set-Cookie"] + ";"


def test_the_server_finds_the_campaign_of_a_link(server: Server) -> None:
    visitor = visit(server)
    found = visitor.post("/api/campaigns", {"secret": server.secret("/de-ja:ben")})
    assert found.json == {"campaigns": [{"path": "/de-ja", "name": "Test da de-ja", "role": "annotator"}]}
    assert visitor.post("/api/campaigns", {"secret": "x" * 43}).status == 403
    wrong: list[Any] = [{}, {"secret": 1}, [], None]
    for body in wrong:
        assert visitor.post("/api/campaigns", body).status == 422
    assert visitor.get("/api/work").status == 404
    assert visitor.get("/nowhere/enter").status == 404


def test_one_link_opens_all_campaigns_to_organisers(server: Server) -> None:
    secret = urlsplit(server.links["overview"]).fragment
    found = visit(server).post("/api/campaigns", {"secret": secret}).json["campaigns"]
    assert [(place["path"], place["role"]) for place in found] == [(f"/{name}", "organiser") for name in sorted(PAIRS)]
    for place in found:
        client = visit(server, place["path"])
        assert client.enter(secret).status == 200
        summary = client.get("/api/organiser/summary").json
        assert summary["progress"]["judgments_wanted"] > 0
        assert summary["state"] == "running"
        # Revoked in one campaign, it is valid in the others.
    first = visit(server, "/de-en")
    first.enter(secret)
    links = first.get("/api/organiser/overview").json["links"]
    shared = next(link for link in links if "all campaigns" in link["label"])
    assert first.post(f"/api/organiser/links/{shared['id']}/revoke").json == {"changed": 1}
    assert first.get("/api/organiser/summary").status == 401
    left = visit(server).post("/api/campaigns", {"secret": secret}).json["campaigns"]
    assert [place["path"] for place in left] == ["/de-ja", "/en-de"]


def test_files_of_pages_are_shared(server: Server) -> None:
    pages = [visit(server, f"/{name}").get("/enter").text for name in PAIRS]
    scripts = {page.partition('type="module" src="')[2].partition('"')[0] for page in pages}
    assert len(scripts) == 1
    assert visit(server).get(scripts.pop()).status == 200


def test_health_names_the_campaign(server: Server) -> None:
    assert visit(server).get("/health").text == "ok\n"
    assert visit(server, "/en-de").get("/health").text == "ok\n"


def test_other_commands_work_on_one_campaign_beside_the_server(server: Server, tmp_path: Path) -> None:
    save_scores(server.client("/en-de:ben"), 33.0)
    file = server.campaign / "en-de" / "campaign.toml"
    assert json.loads(run("verify", file, "--json").out)["faults"] == []
    run("backup", file, "-o", tmp_path / "copy.zip")
    run("restore", tmp_path / "copy.zip", tmp_path / "again")
    assert export(tmp_path / "again" / "campaign.toml") == export(file)
    extended = json.loads(run("extend", file, "--judgments", "6", "--json").out)
    ids = extended["tasks_added"]

    def known() -> bool:
        wanted = server.client("/en-de:organiser").get("/api/organiser/overview").json["progress"]["tasks_wanted"]
        return bool(wanted >= len(ids) + 1)

    wait_for(known)


def test_judgments_survive_a_kill(tmp_path: Path, database: str | None) -> None:
    url = None if database is None else needed_postgres_url(with_tables=False)
    server = Server(make_folder(tmp_path / "task"), database=url)
    with server:
        judged = {path: save_scores(server.client(f"/{path}:anna"), 50.0) for path in PAIRS}
        links = dict(server.links)
        server.kill()
        server.start()
        server.links |= {name: link for name, link in links.items() if name.endswith(":anna")}
        for path, saved in judged.items():
            client = server.client(f"/{path}:anna")
            states = client.work()["task"]["states"].values()
            assert {output for state in states for output in state["answers"]} == set(saved)


@pytest.mark.postgres
def test_a_campaign_can_be_moved_out_of_a_shared_database(tmp_path: Path) -> None:
    url = needed_postgres_url(with_tables=False)
    with Server(make_folder(tmp_path / "task"), database=url) as server:
        save_scores(server.client("/en-de:anna"), 42.0)
        server.stop()
    file = tmp_path / "task" / "en-de" / "campaign.toml"
    assert "schema=adjudge_en_de" in file.with_suffix(".database").read_text()
    before = export(file)
    run("move", file, "--to", tmp_path / "task" / "en-de" / "campaign.sqlite3")
    assert export(file) == before
    run("move", file, "--to", f"{url}?schema=elsewhere")
    assert export(file) == before


@pytest.mark.parametrize("strips", [True, False])
def test_behind_a_path_of_a_proxy(tmp_path: Path, strips: bool) -> None:
    """Proxies differ in whether they take their path away before they hand a request on."""
    url = "http://127.0.0.1:{}/judge/here"
    with ExitStack() as running:
        port = free_port()
        server = Server(make_folder(tmp_path / "task"), port=port, options=("--url", url.format(port)))
        running.enter_context(server)
        assert urlsplit(server.links["/judge/here/en-de:anna"]).path == "/judge/here/en-de/enter"
        before = "" if strips else "/judge/here"
        client = visit(server, f"{before}/en-de")
        page = client.load_page()
        assert 'data-base="/judge/here/en-de"' in page.text
        assert "Path=/judge/here/en-de;" in page.headers["Set-Cookie"] + ";"
        assert client.enter(server.secret("/judge/here/en-de:anna")).status == 200
        assert client.get("/").headers["Location"] == "/judge/here/en-de/work"
        save_scores(client, 5.0)
        assert visit(server, before).get("/health").status == 200


def test_one_campaign_behind_a_path(tmp_path: Path) -> None:
    port = free_port()
    campaign = make_campaign(tmp_path)
    with Server(campaign, port=port, options=("--url", f"http://127.0.0.1:{port}/judge")) as server:
        assert urlsplit(server.links["anna"]).path == "/judge/enter"
        client = server.client("anna")
        assert client.base == "/judge"
        save_scores(client, 5.0)
        assert visit(server).get("/health").status == 200


def test_campaigns_with_the_same_tasks_keep_apart_in_a_browser(tmp_path: Path) -> None:
    make_campaign(tmp_path / "task" / "first")
    shutil.copytree(tmp_path / "task" / "first", tmp_path / "task" / "second")
    with Server(tmp_path / "task") as server:
        ids = [server.client(f"/{name}:anna").work()["campaign"]["id"] for name in ("first", "second")]
    assert ids[0] != ids[1]


def test_what_cannot_be_served_together_is_refused(tmp_path: Path) -> None:
    first = make_campaign(tmp_path / "a" / "x")
    second = make_campaign(tmp_path / "b" / "x")
    assert "would have the same address" in refused_start(first, str(second))
    third = make_campaign(tmp_path / "c" / "enter")
    assert "lies in a folder called 'enter'" in refused_start(first, str(third))
    shutil.copyfile(first, first.with_name("other.toml"))
    assert "would have the same address" in refused_start(tmp_path / "a")
    make_folder(tmp_path / "d")
    (tmp_path / "empty").mkdir()
    assert "holds no campaign" in refused_start(tmp_path / "empty")
    assert "no such campaign file or folder" in refused_start(tmp_path / "none")
    assert "is for one campaign" in refused_start(tmp_path / "d", "--tasks", "tasks.json")


def test_links_of_several_campaigns_go_to_one_file(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "task")
    with Server(folder, options=("--links", str(tmp_path / "links.tsv"))):
        rows: list[dict[str, Any]] = pl.read_csv(tmp_path / "links.tsv", separator="\t").to_dicts()
    assert [row["role"] for row in rows].count("overview") == 1
    assert sorted({urlsplit(row["link"]).path for row in rows}) == [
        "/de-en/enter",
        "/de-ja/enter",
        "/en-de/enter",
        "/enter",
    ]


@pytest.mark.browser
def test_organisers_see_all_campaigns_and_go_to_each(page: Page, tmp_path: Path) -> None:
    with Server(make_folder(tmp_path / "task")) as server:
        page.goto(server.links["overview"])
        rows = page.locator("tbody tr:has(td)")
        expect(rows).to_have_count(3)
        expect(page.get_by_role("link", name="German → Japanese")).to_be_visible()
        # The secret is gone from the address bar.
        assert server.secret("overview") not in page.url
        page.set_viewport_size({"width": 390, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        shoot(page, "overview-phone")
        page.set_viewport_size({"width": 1280, "height": 800})
        page.emulate_media(color_scheme="dark")
        shoot(page, "overview-dark")
        page.get_by_role("link", name="German → Japanese").press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("Test da de-ja German → Japanese")
        assert urlsplit(page.url).path == "/de-ja/organise"
        page.get_by_role("link", name="All campaigns").click()
        expect(rows).to_have_count(3)


@pytest.mark.browser
def test_a_link_without_the_path_leads_to_its_campaign(page: Page, tmp_path: Path) -> None:
    """As of a campaign that was served alone before."""
    with Server(make_folder(tmp_path / "task")) as server:
        page.goto(f"{server.url}/enter#{server.secret('/en-de:anna')}")
        page.get_by_role("button", name="Begin").click()
        assert urlsplit(page.url).path == "/en-de/work"
        page.goto(f"{server.url}/enter#mistyped")
        expect(page.get_by_role("alert")).to_contain_text("This link is not valid")
