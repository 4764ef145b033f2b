"""`move`: the same campaign in another database, compared before it is used, and never from under a server."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

from adjudge.server.database import choose_database, write_database_note
from adjudge.table.errors import UsageError
from tests.conftest import assert_explained
from tests.helpers.campaigns import make_campaign
from tests.helpers.databases import OLDER, needed_postgres_url
from tests.helpers.serving import KILLS, Server, export, export_file, judge, names_in, run, start_and_kill, wait_for
from tests.helpers.warm_command import warm_command


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """A campaign on SQLite with some judgments."""
    with Server(make_campaign(tmp_path / "c", annotators='["anna", "bo"]')) as server:
        judge(server)
    (tmp_path / "c" / "links").write_text("\n".join([server.links["anna"], server.links["bo"]]), encoding="utf-8")
    return server.campaign


def go_on(campaign: Path, name: str, saves: int) -> None:
    """Serve the campaign as its folder says, and judge under the link from the beginning."""
    with Server(campaign, own_database=True) as server:
        assert set(server.links) == {"organiser"}
        links = (campaign.parent / "links").read_text(encoding="utf-8").splitlines()
        server.links |= dict(zip(("anna", "bo"), links, strict=True))
        judge(server, name, saves)


@pytest.mark.postgres
def test_from_sqlite_to_postgresql_and_back(campaign: Path) -> None:
    """Judging goes on in each; new rows get new numbers, or saving would fail."""
    before = export(campaign)
    first = campaign.with_suffix(".sqlite3").read_bytes()
    url = needed_postgres_url(with_tables=False)
    moved = run("move", campaign, "--to", url, "--json").json
    assert export(campaign) == before
    assert {table["table"]: table["rows"] for table in moved["copied"]}["save"] == 12
    assert "***" in moved["target"]
    note = campaign.with_suffix(".database")
    assert note.read_text(encoding="utf-8") == f"{url}\n"
    assert note.stat().st_mode & 0o777 == 0o600
    go_on(campaign, "bo", 5)
    with closing(sqlite3.connect(campaign.with_suffix(".sqlite3"))) as former:
        assert former.execute("SELECT count(*) FROM collect_save").fetchone() == (12,), "nobody wrote to the former one"
        assert former.execute("SELECT count(*) FROM collect_process").fetchone() == (0,)
    assert len(first) == campaign.with_suffix(".sqlite3").stat().st_size
    assert_explained(
        warm_command()("move", campaign, "--to", campaign.with_suffix(".sqlite3")), names=("is there already",)
    )
    middle = export(campaign)
    run("move", campaign, "--to", campaign.with_name("other.sqlite3"))
    assert note.read_text(encoding="utf-8") == "sqlite:other.sqlite3\n"
    assert export(campaign) == middle
    go_on(campaign, "anna", 2)
    campaign.with_suffix(".sqlite3").unlink()
    run("move", campaign, "--to", campaign.with_suffix(".sqlite3"))
    assert not note.exists()
    go_on(campaign, "bo", 1)
    rows = pl.read_parquet(export_file(campaign))
    assert dict(rows.group_by("annotator").len().iter_rows()) == {"anna": 12 + 2, "bo": 5 + 1}


def test_a_folder_that_goes_elsewhere_takes_its_database_along(campaign: Path, tmp_path: Path) -> None:
    run("move", campaign, "--to", campaign.with_name("other.sqlite3"))
    campaign.with_suffix(".sqlite3").unlink()
    before = export(campaign)
    shutil.move(campaign.parent, tmp_path / "elsewhere")
    assert export(tmp_path / "elsewhere" / "campaign.toml") == before


def test_a_campaign_that_is_being_served_is_not_moved(own_database: str | None, tmp_path: Path) -> None:
    """A server says that it is there; one that was stopped or killed on this machine is known to have gone."""
    campaign = make_campaign(tmp_path / "c")
    given = ["--database", own_database] if own_database else []
    arguments = ["move", str(campaign), "--to", str(tmp_path / "new.sqlite3"), *given]
    server = Server(campaign, database=own_database).start()
    judge(server)
    assert_explained(warm_command()(*arguments), names=("is being served by process", "stop the server"))
    assert not (tmp_path / "new.sqlite3").exists()
    for client in server.clients:
        client.connection.close()
    server.stop()
    run(*arguments)
    note = campaign.with_suffix(".database")
    note.unlink()
    (tmp_path / "new.sqlite3").unlink()
    with Server(campaign, database=own_database) as server:
        server.kill()
    run(*arguments)


PROCESS = """
import sys
from pathlib import Path
from adjudge.server.database import start_django
start_django(Path(sys.argv[1]), database=None, session_hours=1)
from datetime import timedelta
from django.utils import timezone
from adjudge.server.models import Process
from adjudge.server.processes import machine_id
where = machine_id() if sys.argv[4] == "here" else "elsewhere"
seen = timezone.now() - timedelta(seconds=int(sys.argv[5]))
Process.objects.all().delete()
Process.objects.create(id="x", machine=where, number=int(sys.argv[3]), doing=sys.argv[2], seen=seen)
"""


@pytest.mark.parametrize(
    ("doing", "where", "alive", "silent", "in_the_way"),
    [
        ("serve", "here", True, 30, True),
        ("serve", "here", False, 0, False),
        ("serve", "elsewhere", False, 30, True),
        ("serve", "elsewhere", True, 90, False),
        ("move", "here", True, 3000, True),
        ("move", "here", False, 0, False),
        ("move", "elsewhere", False, 30, True),
        ("move", "elsewhere", False, 90, False),
    ],
)
def test_who_counts_as_there(
    campaign: Path, doing: str, where: str, alive: bool, silent: int, in_the_way: bool
) -> None:
    dead = 2**22 - 3
    number = os.getpid() if alive else dead
    noted = warm_command().run_code(PROCESS, campaign, doing, str(number), where, str(silent))
    assert noted.code == 0, noted.err
    done = warm_command()("move", campaign, "--to", campaign.with_name("new.sqlite3"))
    if in_the_way:
        assert_explained(done, names=(f"process {number}",))
    else:
        assert done.code == 0, done.err


SLOW_MOVE = """
import sqlite3
import sys
import time
import adjudge
from adjudge.server import copies
from adjudge.server.database import set_up_models
set_up_models()
from adjudge.server import processes
processes.SIGN_SECONDS = 0.05
copy = copies._copy

def slowly(*given):
    def seen():
        with sqlite3.connect(sys.argv[1].replace(".toml", ".sqlite3")) as connection:
            return connection.execute("SELECT seen FROM collect_process WHERE doing = 'move'").fetchone()[0]
    first, end = seen(), time.monotonic() + 200
    while seen() == first:
        assert time.monotonic() < end, "no other sign of life came"
        time.sleep(0.02)
    return copy(*given)

copies._copy = slowly
adjudge.move(sys.argv[1], sys.argv[2])
"""


def test_a_move_says_again_and_again_that_it_is_there(campaign: Path) -> None:
    """A long one is not forgotten, and one that was killed on another host is, after a minute."""
    done = warm_command().run_code(SLOW_MOVE, campaign, str(campaign.with_name("new.sqlite3")))
    assert done.code == 0, done.err
    for name in ("campaign.sqlite3", "new.sqlite3"):
        with closing(sqlite3.connect(campaign.with_name(name))) as connection:
            assert connection.execute("SELECT count(*) FROM collect_process").fetchone() == (0,)


def test_no_server_starts_while_the_database_is_being_moved(campaign: Path) -> None:
    noted = warm_command().run_code(PROCESS, campaign, "move", str(os.getpid()), "here", "0")
    assert noted.code == 0, noted.err
    assert_explained(warm_command()("serve", campaign, "--port", "18765"), names=("is being moved by process",))


def test_a_server_says_again_and_again_that_it_is_there(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path)

    def seen() -> datetime | None:
        with closing(sqlite3.connect(campaign.with_suffix(".sqlite3"))) as connection:
            row = connection.execute("SELECT seen FROM collect_process").fetchone()
        return None if row is None else datetime.fromisoformat(row[0]).replace(tzinfo=UTC)

    server = Server(campaign).start()
    first = seen()
    assert first is not None
    assert datetime.now(UTC) - first < timedelta(minutes=5)
    wait_for(lambda: (seen() or first) > first)
    server.stop()
    assert seen() is None


def test_a_move_that_is_killed_leaves_the_campaign_in_one_whole_database(campaign: Path) -> None:
    chance = random.Random(6)
    before = export(campaign)
    began = time.monotonic()
    run("move", campaign, "--to", campaign.with_name("timed.sqlite3"))
    usual = time.monotonic() - began
    campaign.with_suffix(".database").unlink()
    killed = 0
    for number in range(KILLS):
        target = campaign.with_name(f"to-{number}.sqlite3")
        done = start_and_kill(["move", campaign, "--to", target], chance.uniform(0, usual), campaign.parent)
        killed += not done
        assert export(campaign) == before
    assert killed > 0
    run("move", campaign, "--to", campaign.with_name("last.sqlite3"))
    assert export(campaign) == before


@pytest.mark.postgres
def test_a_move_to_postgresql_that_is_killed_leaves_the_campaign_where_it_was(campaign: Path) -> None:
    chance = random.Random(7)
    before = export(campaign)
    note = campaign.with_suffix(".database")
    for _ in range(KILLS):
        url = needed_postgres_url(with_tables=False)
        done = start_and_kill(["move", campaign, "--to", url], chance.uniform(0, 0.5), campaign.parent)
        assert export(campaign) == before
        assert note.exists() or not done
        note.unlink(missing_ok=True)


BROKEN = """
import sys
from pathlib import Path
from adjudge.server.archives import Snapshot
from adjudge.server.copies import move
fill = Snapshot.fill
def losing(self, name, lines, *, source):
    fill(self, name, list(lines)[:-1] if name == "save" else lines, source=source)
Snapshot.fill = losing
move(Path(sys.argv[1]), sys.argv[2])
"""


def test_a_copy_that_differs_is_never_used(campaign: Path) -> None:
    before = export(campaign)
    target = campaign.with_name("new.sqlite3")
    done = warm_command().run_code(BROKEN, campaign, target)
    assert "the table 'save' came out differently" in done.err
    assert "11 of 12 rows" in done.err
    assert not target.exists()
    assert not campaign.with_suffix(".database").exists()
    assert export(campaign) == before
    assert not [name for name in names_in(campaign.parent) if name.endswith(".part")]


@pytest.mark.postgres
def test_a_database_that_is_not_empty_is_refused(campaign: Path) -> None:
    assert_explained(warm_command()("move", campaign, "--to", needed_postgres_url()), names=("is not empty",))
    assert not campaign.with_suffix(".database").exists()


def test_wrong_calls_are_explained(campaign: Path, tmp_path: Path) -> None:
    def refused(to: str | Path, code: int, words: str) -> None:
        assert_explained(warm_command()("move", campaign, "--to", to), code=code, names=(words,))

    refused("mysql://x/y", 2, "is of no known kind")
    refused(campaign.with_name("new.db"), 2, "ends in .sqlite3")
    forgotten = warm_command()("move", campaign, "--to", "ann:TOPSECRET@db.example/judge")
    assert_explained(forgotten, code=2, names=("--to: the address given is neither",))
    assert "TOPSECRET" not in forgotten.err
    refused(campaign.with_suffix(".sqlite3"), 2, "where the campaign is already")
    (tmp_path / "there.sqlite3").write_text("mine", encoding="utf-8")
    refused(tmp_path / "there.sqlite3", 1, "is there already")
    unserved = make_campaign(tmp_path / "unserved")
    done = warm_command()("move", unserved, "--to", tmp_path / "new.sqlite3")
    assert_explained(done, names=("has not been served yet",))
    made = warm_command().run_code(OLDER, unserved.with_suffix(".sqlite3"), unserved)
    assert made.code == 0, made.err
    done = warm_command()("move", unserved, "--to", tmp_path / "new.sqlite3")
    assert_explained(done, names=("is of an earlier version",))


def test_a_database_without_a_campaign_has_nothing_to_move_or_back_up(campaign: Path) -> None:
    """As after a server that stopped before it had its tasks."""
    with closing(sqlite3.connect(campaign.with_suffix(".sqlite3"))) as connection, connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("DELETE FROM collect_campaign")
    new = campaign.with_name("new.sqlite3")
    assert_explained(warm_command()("move", campaign, "--to", new), names=("has not been served yet",))
    assert not new.exists()
    archive = campaign.with_name("b.zip")
    assert_explained(warm_command()("backup", campaign, "-o", archive), names=("has not been served yet",))
    assert not archive.exists()


@pytest.fixture
def noted(tmp_path: Path) -> Path:
    campaign = tmp_path / "campaign.toml"
    write_database_note(campaign, "postgres://ann:s3cret@db.example/judge")
    return campaign


def test_a_campaign_that_was_moved_is_not_served_from_where_it_was(noted: Path) -> None:
    assert choose_database(noted, None) == "postgres://ann:s3cret@db.example/judge"
    same = "postgresql://bob@db.example:5432/judge"
    assert choose_database(noted, same) == same, "another way to write it, or another user"
    with pytest.raises(UsageError, match=r"was moved to postgres://ann:...@db.example/judge") as fault:
        choose_database(noted, "postgres://ann:s3cret@db.example/former")
    assert "s3cret" not in str(fault.value)
    write_database_note(noted, None)
    assert choose_database(noted, None) is None
