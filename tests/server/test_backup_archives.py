"""Archives that others made, or that came from elsewhere: each is refused in one sentence, and leaves nothing."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import adjudge
from adjudge.campaigns.campaign_file import load_campaign
from adjudge.campaigns.texts import read_texts
from adjudge.server.archives import campaign_files, named_paths, working_folder
from adjudge.table.errors import InputError
from tests.conftest import assert_explained
from tests.helpers.campaigns import make_campaign
from tests.helpers.databases import OLDER, needed_postgres_url
from tests.helpers.serving import Server, export, judge, names_in, run
from tests.helpers.warm_command import warm_command


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("archive")
    with Server(make_campaign(folder)) as server:
        judge(server)
    run("backup", server.campaign, "-o", folder / "backup.zip")
    return folder / "backup.zip"


def remade(archive: Path, path: Path, change: Callable[[dict[str, Any], dict[str, bytes]], None]) -> Path:
    """The archive written anew, with another manifest and other entries; checksums are right unless changed."""
    with zipfile.ZipFile(archive) as old:
        entries = {name: old.read(name) for name in old.namelist()}
    manifest = json.loads(entries.pop("manifest.json"))
    change(manifest, entries)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name, content in entries.items():
            new.writestr(name, content)
        new.writestr("manifest.json", json.dumps(manifest))
    return path


def add_entry(name: str, content: bytes = b"evil") -> Callable[[dict[str, Any], dict[str, bytes]], None]:
    def change(manifest: dict[str, Any], entries: dict[str, bytes]) -> None:
        entries[name] = content
        digest = hashlib.sha256(content).hexdigest()
        manifest["entries"].append({"name": name, "size": len(content), "sha256": digest, "secret": False})

    return change


def with_key(key: str, value: object) -> Callable[[dict[str, Any], dict[str, bytes]], None]:
    return lambda manifest, _: manifest.__setitem__(key, value)


def without_last_save(manifest: dict[str, Any], entries: dict[str, bytes]) -> None:
    """As if somebody had edited the table and its checksum, but not the digest of its rows."""
    name = "tables/save.jsonl"
    entries[name] = b"".join(entries[name].splitlines(keepends=True)[:-1])
    for entry in manifest["entries"]:
        if entry["name"] == name:
            entry |= {"size": len(entries[name]), "sha256": hashlib.sha256(entries[name]).hexdigest()}


def a_row_of_another_shape(manifest: dict[str, Any], entries: dict[str, bytes]) -> None:
    name = "tables/annotator.jsonl"
    entries[name] = b'[1,"anna"]\n'
    for entry in manifest["entries"]:
        if entry["name"] == name:
            entry |= {"size": len(entries[name]), "sha256": hashlib.sha256(entries[name]).hexdigest()}


def too_many_tables(manifest: dict[str, Any], entries: dict[str, bytes]) -> None:
    add_entry("tables/other.jsonl", b"")(manifest, entries)
    manifest["tables"].append({"name": "other", "columns": [], "rows": 0, "digest": "0" * 64})


def a_save_of_nobody(manifest: dict[str, Any], entries: dict[str, bytes]) -> None:
    """Rows that fit their checksums and digests, but not each other."""
    name = "tables/assignment.jsonl"
    row = json.loads(entries[name])
    [table] = [table for table in manifest["tables"] if table["name"] == "assignment"]
    row[table["columns"].index("annotator_id")] = 999
    line = json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode()
    entries[name] = line + b"\n"
    for entry in manifest["entries"]:
        if entry["name"] == name:
            entry |= {"size": len(entries[name]), "sha256": hashlib.sha256(entries[name]).hexdigest()}
    table["digest"] = hashlib.sha256(line).hexdigest()


def naming_a_file_elsewhere(manifest: dict[str, Any], entries: dict[str, bytes]) -> None:
    name = "files/campaign.toml"
    entries[name] = entries[name].replace(b'source = "source.txt"', b'source = "/etc/hostname"')
    for entry in manifest["entries"]:
        if entry["name"] == name:
            entry |= {"size": len(entries[name]), "sha256": hashlib.sha256(entries[name]).hexdigest()}


def with_value(table_name: str, column: str, value: bytes) -> Callable[[dict[str, Any], dict[str, bytes]], None]:
    """One value of a table replaced, with checksums and digests that are right."""

    def change(manifest: dict[str, Any], entries: dict[str, bytes]) -> None:
        name = f"tables/{table_name}.jsonl"
        [table] = [table for table in manifest["tables"] if table["name"] == table_name]
        rows = [json.loads(line) for line in entries[name].splitlines()]
        rows[0][table["columns"].index(column)] = "REPLACED"
        lines = [json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() for row in rows]
        lines[0] = lines[0].replace(b'"REPLACED"', value)
        entries[name] = b"".join(line + b"\n" for line in lines)
        for entry in manifest["entries"]:
            if entry["name"] == name:
                entry |= {"size": len(entries[name]), "sha256": hashlib.sha256(entries[name]).hexdigest()}
        total = sum(int.from_bytes(hashlib.sha256(line).digest(), "big") for line in lines)
        table["digest"] = f"{total % (1 << 256):064x}"

    return change


BAD = {
    "leads out": (add_entry("files/../../evil.txt"), "unsafe file name"),
    "leads out at its start": (add_entry("../evil.txt"), "unsafe file name"),
    "absolute": (add_entry("/var/evil.txt"), "unsafe file name"),
    "with backslashes": (add_entry("files/..\\evil.txt"), "unsafe file name"),
    "with a drive": (add_entry("files/c:evil.txt"), "unsafe file name"),
    "with a line break": (add_entry("files/a\nb"), "unsafe file name"),
    "a campaign file elsewhere": (with_key("campaign_file", "../campaign.toml"), "unsafe file name"),
    "a campaign file that is missing": (with_key("campaign_file", "other.toml"), "does not name a campaign file"),
    "an entry more than named": (lambda _, entries: entries.__setitem__("files/x", b"x"), "does not name exactly"),
    "an entry less than named": (lambda _, entries: entries.__delitem__("tables/save.jsonl"), "does not name exactly"),
    "a table that does not exist": (too_many_tables, "its tables are not those of"),
    "a database besides": (add_entry("files/campaign.sqlite3"), "'campaign.sqlite3' besides its tables"),
    "a log besides": (add_entry("files/campaign.sqlite3-wal"), "'campaign.sqlite3-wal' besides its tables"),
    "another database": (add_entry("files/campaign.database", b"postgres://evil/x"), "'campaign.database' besides"),
    "a campaign that reads elsewhere": (naming_a_file_elsewhere, "names '/etc/hostname', which is not in the archive"),
    "another kind": (with_key("format", "other"), "is no backup of adjudge"),
    "newer": (with_key("schema", 2), "made by a newer adjudge"),
    "of a newer database": (with_key("migration", "0099_future"), "made by a newer adjudge"),
    "a wrong manifest": (with_key("tables", [{"name": "save"}]), "its manifest has a wrong 'tables.0.columns'"),
    "rows that are missing": (without_last_save, "11 rows of 'save' are not the 12"),
    "a row of another shape": (a_row_of_another_shape, "a damaged row"),
    "rows that do not fit each other": (a_save_of_nobody, "the database refuses a row"),
    "half a character": (with_value("annotator", "name", rb'"\ud800"'), "a value that no database holds"),
    "a number too large": (with_value("annotator", "id", b"9" * 30), "a value that no database holds"),
    "a date too late": (
        with_value("annotator", "created", b'"9999-12-31T23:59:59.999999-12:00"'),
        "a value that no database holds",
    ),
    "a name that steers the terminal": (with_key("campaign", "\x1b[31mred"), "its manifest has a wrong 'campaign'"),
    "a bomb": (add_entry("files/zeros", bytes(120_000_000)), "as no backup does"),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_no_backup_holds_is_refused(kind: str, archive: Path, tmp_path: Path) -> None:
    change, words = BAD[kind]
    inner = tmp_path / "inner"
    inner.mkdir()
    bad = remade(archive, tmp_path / "bad.zip", change)
    done = warm_command()("restore", bad, inner / "again")
    assert_explained(done, names=(words,) if "refuses a row" in words else (words, str(bad)))
    assert names_in(inner) == set()
    assert names_in(tmp_path) == {"inner", "bad.zip"}
    assert not Path("/var/evil.txt").exists()


def test_a_checksum_that_is_wrong_is_found_though_the_zip_file_is_whole(archive: Path, tmp_path: Path) -> None:
    def change(_: dict[str, Any], entries: dict[str, bytes]) -> None:
        entries["files/source.txt"] = entries["files/source.txt"].swapcase()

    bad = remade(archive, tmp_path / "bad.zip", change)
    assert_explained(warm_command()("restore", bad, tmp_path / "again"), names=("checksum of 'files/source.txt'",))


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "is damaged"), (b"no zip", "is damaged"), (None, "no such file"), ("foreign", "has no manifest.json")],
)
def test_other_files_are_no_backups(content: bytes | str | None, words: str, tmp_path: Path) -> None:
    file = tmp_path / "x.zip"
    if content == "foreign":
        with zipfile.ZipFile(file, "w") as foreign:
            foreign.writestr("hello.txt", "hello")
    elif isinstance(content, bytes):
        file.write_bytes(content)
    assert_explained(warm_command()("restore", file, tmp_path / "again"), names=(words,))
    assert not (tmp_path / "again").exists()


def test_two_entries_of_one_name_are_refused(archive: Path, tmp_path: Path) -> None:
    twice = tmp_path / "twice.zip"
    shutil.copy(archive, twice)
    with zipfile.ZipFile(twice, "a") as changed, pytest.warns(UserWarning, match="Duplicate name"):
        changed.writestr("files/source.txt", "another")
    assert_explained(warm_command()("restore", twice, tmp_path / "again"), names=("some have the same name",))


def test_nothing_is_overwritten(archive: Path, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine", encoding="utf-8")
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    for target in ("full", "file"):
        assert_explained(warm_command()("restore", archive, tmp_path / target), names=("is not empty",))
    (tmp_path / "empty").mkdir()
    run("restore", archive, tmp_path / "empty")
    assert (tmp_path / "full" / "mine").read_text(encoding="utf-8") == "mine"


def test_an_empty_folder_that_the_user_is_in_stays_the_same_folder(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    before = folder.stat().st_ino
    # What a restoring that was killed has left is removed.
    (folder / ".here.1.part" / "campaign").mkdir(parents=True)
    monkeypatch.chdir(folder)
    adjudge.restore(archive, ".")
    assert folder.stat().st_ino == before
    assert names_in(folder) >= {"campaign.toml", "campaign.sqlite3", "campaign.secret", "source.txt"}
    assert not [name for name in names_in(folder) | names_in(tmp_path) if name.startswith(".")]
    assert (folder / "campaign.sqlite3").stat().st_mode & 0o777 == 0o600
    assert export(folder / "campaign.toml") == export(archive.with_name("campaign.toml"))


def test_what_a_killed_command_left_is_removed_and_what_is_in_use_stays(tmp_path: Path) -> None:
    """Whatever the numbers of processes: in a container, the next command may have the number of the killed one."""
    output = tmp_path / "b.zip"
    (tmp_path / f".b.zip.{os.getpid()}.part").mkdir()
    (tmp_path / ".b.zip.1.part").mkdir()
    (tmp_path / ".new.sqlite3.1.adjudge.part").mkdir()
    (tmp_path / ".b.zip.link.part").symlink_to(tmp_path)
    with working_folder(output) as first, working_folder(output) as second:
        assert first.is_dir()
        assert second.is_dir()
        assert first.stat().st_mode & 0o777 == 0o700
        assert names_in(tmp_path) == {first.name, second.name, ".b.zip.link.part"}
    assert names_in(tmp_path) == {".b.zip.link.part"}


@pytest.mark.postgres
def test_a_database_that_is_not_empty_is_refused(archive: Path, tmp_path: Path) -> None:
    url = needed_postgres_url()
    done = warm_command()("restore", archive, tmp_path / "again", "--database", url)
    assert_explained(done, names=("is not empty",))
    assert "postgres:postgres" not in done.err.replace("***", "")
    assert not (tmp_path / "again").exists()


@pytest.mark.postgres
def test_a_database_that_cannot_be_reached_is_explained_without_its_password(archive: Path, tmp_path: Path) -> None:
    url = "postgres://ann:s3cret@127.0.0.1:1/nowhere"
    done = warm_command()("restore", archive, tmp_path / "again", "--database", url)
    assert_explained(done, names=("cannot be used", "ann:***@127.0.0.1"))
    assert "s3cret" not in done.err
    assert not (tmp_path / "again").exists()


def test_wrong_calls_are_explained(archive: Path, tmp_path: Path) -> None:
    unserved = make_campaign(tmp_path / "unserved")
    assert_explained(warm_command()("backup", unserved, "-o", tmp_path / "b.zip"), names=("has not been served yet",))
    assert_explained(warm_command()("backup", unserved, "-o", tmp_path / "b.tar"), code=2, names=("b.tar",))
    wrong = warm_command()("restore", archive, tmp_path / "again", "--database", "sqlite:///x")
    assert_explained(wrong, code=2, names=("--database",))
    unserved.with_suffix(".sqlite3").write_bytes(b"this is no database, but long enough to look at" * 50)
    broken = warm_command()("backup", unserved, "-o", tmp_path / "b.zip")
    assert_explained(broken, names=("campaign.sqlite3", "cannot be copied"))
    assert names_in(tmp_path) == {"unserved"}


def test_a_damaged_database_is_not_backed_up(archive: Path, tmp_path: Path) -> None:
    run("restore", archive, tmp_path / "again")
    file = tmp_path / "again" / "campaign.sqlite3"
    content = bytearray(file.read_bytes())
    content[8192:12288] = bytes(4096)
    file.write_bytes(content)
    done = warm_command()("backup", tmp_path / "again" / "campaign.toml", "-o", tmp_path / "b.zip")
    assert_explained(done, names=("campaign.sqlite3",))
    assert not (tmp_path / "b.zip").exists()


def test_a_database_whose_index_is_wrong_is_not_backed_up(archive: Path, tmp_path: Path) -> None:
    """All rows can be read, so that only SQLite's own check of the copy can tell."""
    run("restore", archive, tmp_path / "again")
    with closing(sqlite3.connect(tmp_path / "again" / "campaign.sqlite3")) as connection, connection:
        connection.execute("PRAGMA writable_schema = ON")
        wrong = "replace(sql, '(\"annotator_id\")', '(\"taken\")')"
        connection.execute(f"UPDATE sqlite_master SET sql = {wrong} WHERE type = 'index'")
    done = warm_command()("backup", tmp_path / "again" / "campaign.toml", "-o", tmp_path / "b.zip")
    assert_explained(done, names=("campaign.sqlite3", "the database is damaged"))
    assert not (tmp_path / "b.zip").exists()


def test_files_outside_of_the_folder_come_along(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path / "here" / "first")
    (tmp_path / "texts").mkdir()
    for name in ("source.txt", "alpha.txt"):
        (tmp_path / "here" / "first" / name).rename(tmp_path / "texts" / name)
    absolute = tmp_path / "texts" / "alpha.txt"
    text = campaign.read_text(encoding="utf-8")
    text = text.replace('source = "source.txt"', "source = '../../texts/source.txt' # a remark")
    text = text.replace('alpha = "alpha.txt"', f'alpha = {{ file = "{absolute}" }}')
    campaign.write_text(text, encoding="utf-8")
    with Server(campaign) as server:
        judge(server)
    run("backup", campaign, "-o", tmp_path / "b.zip")
    before = export(campaign)
    shutil.rmtree(tmp_path / "texts")
    shutil.rmtree(tmp_path / "here")
    run("restore", tmp_path / "b.zip", tmp_path / "again")
    again = tmp_path / "again" / "campaign.toml"
    assert "# a remark" in again.read_text(encoding="utf-8")
    assert export(again) == before
    with Server(again, own_database=True) as server:
        assert "without effect" not in server.log()
    assert (tmp_path / "again" / "outside").is_dir()


def through_a_link(campaign: Path) -> tuple[str, str]:
    campaign.with_name("alpha.txt").rename(campaign.with_name("run-3.txt"))
    campaign.with_name("alpha.txt").symlink_to("run-3.txt")
    return "alpha.txt", "run-3.txt"


def by_a_detour(campaign: Path) -> tuple[str, str]:
    campaign.with_name("sub").mkdir()
    return "sub/../alpha.txt", "alpha.txt"


def by_its_whole_path(campaign: Path) -> tuple[str, str]:
    return str(campaign.with_name("alpha.txt")), "alpha.txt"


def with_an_unsafe_name(campaign: Path) -> tuple[str, str]:
    campaign.with_name("alpha.txt").rename(campaign.with_name("news:alpha.txt"))
    return "news:alpha.txt", "outside/1/news-alpha.txt"


def outside_beside_a_former_one(campaign: Path) -> tuple[str, str]:
    """As after an earlier restoring, with one more file outside of the same name."""
    campaign.with_name("outside").joinpath("1").mkdir(parents=True)
    campaign.with_name("beta.txt").rename(campaign.with_name("outside") / "1" / "alpha.txt")
    text = campaign.read_text(encoding="utf-8").replace('"beta.txt"', '"outside/1/alpha.txt"')
    campaign.write_text(text, encoding="utf-8")
    (campaign.parent.parent / "alpha.txt").write_bytes(campaign.with_name("alpha.txt").read_bytes())
    return "../alpha.txt", "outside/2/alpha.txt"


@pytest.mark.parametrize(
    "arranged",
    [through_a_link, by_a_detour, by_its_whole_path, with_an_unsafe_name, outside_beside_a_former_one],
)
def test_a_backup_can_be_restored_however_the_campaign_names_its_files(
    arranged: Callable[[Path], tuple[str, str]], tmp_path: Path
) -> None:
    campaign = make_campaign(tmp_path / "first")
    named, in_the_copy = arranged(campaign)
    text = campaign.read_text(encoding="utf-8")
    assert '"alpha.txt"' in text
    campaign.write_text(text.replace('"alpha.txt"', f'"{named}"'), encoding="utf-8")
    before = read_texts(load_campaign(campaign)).fingerprint
    made = warm_command().run_code(OLDER, campaign.with_suffix(".sqlite3"), campaign)
    assert made.code == 0, made.err
    run("backup", campaign, "-o", tmp_path / "b.zip")
    campaign.parent.rename(tmp_path / "gone")
    run("restore", tmp_path / "b.zip", tmp_path / "again")
    again = tmp_path / "again" / "campaign.toml"
    assert f'"{in_the_copy}"' in again.read_text(encoding="utf-8")
    assert (again.parent / in_the_copy).is_file()
    assert read_texts(load_campaign(again)).fingerprint == before


def test_a_campaign_file_whose_name_no_archive_can_hold_is_refused_by_the_backup(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path / "first").rename(tmp_path / "first" / "a:b.toml")
    with pytest.raises(InputError, match="rename it with plain letters"):
        campaign_files(campaign)


def test_all_files_that_a_campaign_can_name_are_found() -> None:
    head = {"name": "x", "languages": {"source": "en", "target": "de"}}
    marked = {
        **head,
        "protocol": "esa",
        "design": {"select": "spread", "segments": 1},
        "files": {
            "testset": "a", "source": {"file": "b", "column": "no"}, "systems": {"s": "c", "t": {"file": "d"}},
            "references": {"r": "e"}, "documents": "f", "tutorial": "g", "prefilled": "h", "spread": "i",
            "format": "tsv", "only": ["s"],
        },
        "page": {"logo": "j"},
        "instructions": {"en": {"file": "k"}, "de": "Lies alles.", "file": {"file": "l"}},
    }  # fmt: skip
    after = {"source": "m", "systems": {"s": {"file": "n"}}, "testset": "o", "documents": "p"}
    versions = {**head, "protocol": "da", "files": {"testset": "a", "after": after}}
    found = [value for data in (marked, versions) for _, value in named_paths(data)]
    assert sorted(found) == sorted("aabcdefghijklmnop")


def test_a_name_that_cannot_be_changed_in_the_copy_is_explained(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path / "first")
    (tmp_path / "first" / "source.txt").rename(tmp_path / "source.txt")
    text = campaign.read_text(encoding="utf-8").replace('source = "source.txt"', 'source = "\\u002e./source.txt"')
    campaign.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="in a way that cannot be changed in a copy"):
        campaign_files(campaign)


def test_a_database_of_an_earlier_version_is_copied_as_it_is_and_upgraded_when_served(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path / "first")
    made = warm_command().run_code(OLDER, campaign.with_suffix(".sqlite3"), campaign)
    assert made.code == 0, made.err
    run("backup", campaign, "-o", tmp_path / "b.zip")
    run("restore", tmp_path / "b.zip", tmp_path / "again")
    again = tmp_path / "again" / "campaign.toml"
    for file in (campaign, again):
        with closing(sqlite3.connect(file.with_suffix(".sqlite3"))) as connection:
            names = [name for (name,) in connection.execute("SELECT name FROM django_migrations ORDER BY name")]
        assert names[-1] == "0003_draws"
    with Server(again, own_database=True) as server:
        judge(server)
    assert export(again)


ONE_SESSION = """
import asyncio, sys
from pathlib import Path
import adjudge

async def notebook():
    campaign, folder = Path(sys.argv[1]), Path(sys.argv[2])
    for number in range(2):
        adjudge.backup(campaign, folder / f"{number}.zip")
        restored = adjudge.restore(folder / f"{number}.zip", folder / f"again-{number}")
        again = Path(restored.campaign_file)
        adjudge.extend(again, judgments=3)
        adjudge.move(again, again.with_name("other.sqlite3"))
        print(adjudge.backup(again, folder / f"{number}b.zip").copied == restored.copied)
    print(adjudge.init(folder / "new").next[0])

asyncio.run(notebook())
"""


def test_all_functions_work_in_one_session_beside_an_event_loop(archive: Path, tmp_path: Path) -> None:
    """As in a notebook; the campaign differs after an extension, and nothing else does."""
    done = warm_command().run_code(ONE_SESSION, archive.with_name("campaign.toml"), tmp_path)
    assert done.code == 0, done.err
    assert done.out.split()[:2] == ["False", "False"]
    assert "adjudge design" in done.out


def test_a_full_disk_leaves_no_backup(archive: Path, tmp_path: Path) -> None:
    code = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))\n"
        "from adjudge.shell.app import main\n"
        "main()\n"
    )
    done = warm_command().run_code(code, "backup", archive.with_name("campaign.toml"), "-o", tmp_path / "b.zip")
    assert done.code == 1, done.err
    assert "Traceback" not in done.err
    assert len(done.err.strip().splitlines()) == 1, done.err
    assert f"adjudge: {tmp_path}: the database cannot be copied here" in done.err, "the database itself is in order"
    assert names_in(tmp_path) == set()


def test_a_database_of_a_newer_version_is_left_alone(archive: Path, tmp_path: Path) -> None:
    run("restore", archive, tmp_path / "again")
    campaign = tmp_path / "again" / "campaign.toml"
    with closing(sqlite3.connect(campaign.with_suffix(".sqlite3"))) as connection, connection:
        connection.execute(
            "INSERT INTO django_migrations (app, name, applied) VALUES ('collect', '0099_future', '2030-01-01')"
        )
    for arguments in (["backup", "-o", "x.zip"], ["move", "--to", "x.sqlite3"], ["extend", "--judgments", "3"]):
        verb, *more = arguments
        done = warm_command()(verb, campaign, *more, folder=tmp_path)
        assert_explained(done, names=("made by a newer adjudge (it has 0099_future)",))
    assert names_in(tmp_path) == {"again"}
