"""`backup` and `restore`: what was acknowledged is in a backup, it comes back as it was, or nothing does."""

from __future__ import annotations

import random
import time
from pathlib import Path

import polars as pl
import pytest

from tests.conftest import examples
from tests.helpers.campaigns import make_campaign
from tests.helpers.databases import needed_postgres_url
from tests.helpers.serving import (
    KILLS,
    Server,
    Writer,
    export,
    export_file,
    judge,
    names_in,
    outputs,
    run,
    start_and_kill,
    wait_for,
)
from tests.helpers.warm_command import warm_command

PEOPLE = 4


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Server:
    """A campaign on SQLite with some judgments, which is not being served any more."""
    with Server(make_campaign(tmp_path_factory.mktemp("served"))) as server:
        judge(server)
    return server


@pytest.fixture(scope="module")
def archive(served: Server) -> Path:
    path = served.campaign.with_name("backup.zip")
    run("backup", served.campaign, "-o", path)
    return path


@pytest.mark.parametrize("into", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def test_a_campaign_comes_back_as_it_was(database: str | None, into: str, tmp_path: Path) -> None:
    """From and into both databases: same export, same links, same sessions, and judging goes on."""
    campaign = make_campaign(tmp_path / "first", more='[page]\nlogo = "logo.svg"\n', annotators='["anna", "bo"]')
    (tmp_path / "first" / "logo.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>', encoding="utf-8")
    given = ["--database", database] if database else []
    # A database of one's own: the fixture's serves all tests of this module.
    if database is not None:
        database = needed_postgres_url()
        given = ["--database", database]
    with Server(campaign, database=database) as server:
        judge(server)
        cookies = dict(server.clients[0].cookies)
        made = run("backup", campaign, "-o", tmp_path / "b.zip", *given, "--json").json
    assert (tmp_path / "b.zip").stat().st_mode & 0o777 == 0o600
    assert "secret" in made["notes"][0]
    before = export(campaign, database)
    target = needed_postgres_url(with_tables=False) if into == "postgres" else None
    restored = run(
        "restore", tmp_path / "b.zip", tmp_path / "again", *(["--database", target] if target else []), "--json"
    ).json
    again = tmp_path / "again" / "campaign.toml"
    assert restored["copied"] == made["copied"]
    assert export(again) == before
    for name in ("campaign.toml", "campaign.secret", "tasks.json", "logo.svg", "source.txt"):
        assert (again.parent / name).read_bytes() == (campaign.parent / name).read_bytes()
    secret = ["campaign.secret", "campaign.database" if into == "postgres" else "campaign.sqlite3"]
    assert all((again.parent / name).stat().st_mode & 0o777 == 0o600 for name in secret)
    with Server(again, own_database=True) as second:
        links = {name: link for name, link in second.links.items() if name != "organiser"}
        assert links == {}, "nobody got a new link, because the former ones hold"
        second.links |= {name: server.links[name] for name in ("anna", "bo")}
        judge(second, saves=3)
        judge(second, "bo", saves=2)
        visitor = second.client()
        visitor.cookies |= cookies
        assert visitor.get("/api/work").status == 200, "a session goes on"
    rows = pl.read_parquet(export_file(again))
    assert rows.filter(pl.col("annotator") == "anna").height == 12 + 3
    assert rows.filter(pl.col("annotator") == "bo").height == 2


def test_a_backup_under_load_holds_every_save_acknowledged_before(database: str | None, tmp_path: Path) -> None:
    if database is not None:
        database = needed_postgres_url()
    campaign = make_campaign(
        tmp_path / "first",
        documents=3,
        task_size=30,
        annotators=str(PEOPLE),
        design=f'judgments = {PEOPLE}\nstructure = "pages"',
        more='[assignment]\npolicy = "pool"\n',
    )
    with Server(campaign, database=database) as server:
        names = [name for name in server.links if name.startswith("annotator-")]
        clients = {name: server.client(name) for name in names}
        works = {name: client.work() for name, client in clients.items()}
        writers = {name: Writer(clients[name], works[name], 10 * i) for i, name in enumerate(names)}
        for writer in writers.values():
            writer.start()
        known: dict[str, int] = {}
        for number in range(4):
            wanted = 12 * (number + 1)
            wait_for(lambda wanted=wanted: all(writer.has_saved(wanted) for writer in writers.values()))
            known = {name: len(writer.acknowledged) for name, writer in writers.items()}
            run("backup", campaign, "-o", tmp_path / f"{number}.zip", *(["--database", database] if database else []))
        later = {name: len(writer.acknowledged) for name, writer in writers.items()}
        server.kill()
        for writer in writers.values():
            writer.finish()
    assert all(later[name] >= known[name] for name in names), "saving went on meanwhile"
    run("restore", tmp_path / "3.zip", tmp_path / "again")
    table = pl.read_parquet(export_file(tmp_path / "again" / "campaign.toml"))
    for name in names:
        own = table.filter(pl.col("annotator") == name)
        for screen in range(len(works[name]["task"]["screens"])):
            histories = [
                own.filter(pl.col("output") == output).sort("revision")["score"].to_list()
                for output in outputs(works[name], screen)
            ]
            assert all(history == histories[0] for history in histories), "a screen is half-saved"
            acknowledged = [score for at, score in writers[name].acknowledged[: known[name]] if at == screen]
            assert histories[0][: len(acknowledged)] == acknowledged


def test_a_backup_that_is_killed_leaves_the_former_one_and_the_campaign(served: Server, tmp_path: Path) -> None:
    chance = random.Random(2)
    before = export(served.campaign)
    output = tmp_path / "b.zip"
    run("backup", served.campaign, "-o", output)
    former = output.read_bytes()
    began = time.monotonic()
    run("backup", served.campaign, "-o", tmp_path / "timed.zip")
    usual = time.monotonic() - began
    killed = 0
    for number in range(KILLS):
        done = start_and_kill(["backup", served.campaign, "-o", output], chance.uniform(0, usual), tmp_path)
        killed += not done
        if not done and output.read_bytes() == former:
            continue
        former = output.read_bytes()
        run("restore", output, tmp_path / f"again-{number}")
    assert killed > 0
    assert export(served.campaign) == before
    run("backup", served.campaign, "-o", output)
    left = {name for name in names_in(tmp_path) if name.startswith(".")}
    assert left == set(), "the next one tidies up"


def test_a_restoring_that_is_killed_leaves_no_folder(served: Server, archive: Path, tmp_path: Path) -> None:
    chance = random.Random(3)
    wanted = export(served.campaign)
    began = time.monotonic()
    run("restore", archive, tmp_path / "timed")
    usual = time.monotonic() - began
    killed = 0
    for number in range(KILLS):
        folder = tmp_path / f"again-{number}"
        done = start_and_kill(["restore", archive, folder], chance.uniform(0, usual), tmp_path)
        killed += not done
        if folder.exists():
            assert export(folder / "campaign.toml") == wanted, "a folder that is there is whole"
        else:
            run("restore", archive, folder)
            assert export(folder / "campaign.toml") == wanted
    assert killed > 0
    assert not [name for name in names_in(tmp_path) if name.endswith(".part")]


@pytest.mark.postgres
def test_a_restoring_into_postgresql_that_is_killed_leaves_it_empty(archive: Path, tmp_path: Path) -> None:
    import psycopg

    chance = random.Random(4)
    began = time.monotonic()
    run("restore", archive, tmp_path / "timed", "--database", needed_postgres_url(with_tables=False))
    usual = time.monotonic() - began
    url = needed_postgres_url(with_tables=False)
    for number in range(KILLS):
        folder = tmp_path / f"again-{number}"
        start_and_kill(["restore", archive, folder, "--database", url], chance.uniform(0, usual), tmp_path)
        if folder.exists():
            url = needed_postgres_url(with_tables=False)
            continue
        with psycopg.connect(url) as connection:
            tables = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
        if tables != (0,):
            # Killed between the commit and the renaming of the folder: the database is whole then.
            url = needed_postgres_url(with_tables=False)
    run("restore", archive, tmp_path / "last", "--database", url)


FUZZ = """
import random, shutil, sys
from pathlib import Path
from adjudge.server.copies import restore
from adjudge.table.errors import AdjudgeError

archive, folder, count = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
whole = archive.read_bytes()
known = restore(archive, folder / "whole")
shutil.rmtree(folder / "whole")
digests = {entry.table: entry.digest for entry in known.copied}
chance = random.Random(5)
refused = restored = 0
for number in range(count):
    content = bytearray(whole)
    how = chance.randrange(4)
    if how == 0:
        for _ in range(chance.randint(1, 4)):
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    elif how == 1:
        del content[chance.randrange(len(content)):]
    elif how == 2:
        start = chance.randrange(len(content))
        others = bytes(chance.randrange(256) for _ in range(chance.randint(0, 40)))
        content[start:start + chance.randint(1, 40)] = others
    else:
        start = chance.randrange(len(content) - 40)
        content[start:start + 30] = content[chance.randrange(len(content) - 40):][:30]
    damaged = folder / f"{number}.zip"
    damaged.write_bytes(bytes(content))
    target = folder / f"out-{number}"
    try:
        made = restore(damaged, target)
    except AdjudgeError as fault:
        assert len(str(fault).splitlines()) == 1 and str(damaged) in str(fault), str(fault)
        assert not target.exists(), fault
        refused += 1
    else:
        found = {entry.table: entry.digest for entry in made.copied}
        assert found == digests
        restored += 1
        shutil.rmtree(target)
    damaged.unlink()
assert [file for file in folder.iterdir()] == [], list(folder.iterdir())
print(refused, restored)
"""


def test_a_damaged_archive_is_refused_in_one_sentence_or_comes_back_whole(archive: Path, tmp_path: Path) -> None:
    done = warm_command().run_code(FUZZ, archive, tmp_path, str(examples(150)))
    assert done.code == 0, done.err
    refused, _ = map(int, done.out.split())
    assert refused > examples(150) / 2
