"""The examination of an installation: findings for healthy and for broken ones."""

from __future__ import annotations

import io
import socket
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from importlib import metadata
from pathlib import Path

import pytest

from adjudge.server import migrations
from adjudge.shell import doctor
from adjudge.shell.doctor import Diagnosis, Finding, examine, find_import_faults
from tests.helpers.databases import needed_postgres_url
from tests.helpers.serving import free_port
from tests.helpers.tables import command

MIGRATIONS = sorted(file.stem for file in Path(migrations.__path__[0]).glob("0*.py"))


def states(findings: Iterator[Finding]) -> list[str]:
    return [finding.state for finding in findings]


@pytest.mark.slow
def test_this_installation_is_healthy_and_every_line_that_is_not_says_what_to_do() -> None:
    lines: list[str] = []
    diagnosis = examine(port=free_port(), tell=lines.append)
    assert diagnosis.healthy, diagnosis.findings
    assert all(finding.advice for finding in diagnosis.findings if finding.state != "ok")
    assert {"Python", "dependencies", "SQLite", "port", "encoding"} <= {finding.what for finding in diagnosis.findings}
    assert "dependencies" in lines


def test_findings_are_counted_in_words() -> None:
    found = [Finding("a", "ok", "here"), Finding("b", "warning", "old", "mend it")]
    for findings, words in ((found, "1 ok, 1 warning, 0 faults."), (found[:1] * 2, "2 ok, 0 warnings, 0 faults.")):
        assert Diagnosis(settings={}, data="", findings=tuple(findings)).tables()[0].note == words


@pytest.mark.parametrize(
    ("version", "versions", "expected"),
    [
        ("2.2", ">=2.2,<3", True),
        ("2.2.0", "<3,>=2.2", True),
        ("3.0.0rc1", "<3", False),
        ("2.10", ">=2.9", True),
        ("1.9", ">=1.10", False),
        ("2025.9.1", ">=2025.7", True),
        ("5.3", "<5.3,>=5.2", False),
        ("1", "", True),
        ("1.2", "!=1.2", False),
        ("1.2", "==1.2.0", True),
    ],
)
def test_versions_are_compared_by_their_numbers(version: str, versions: str, expected: bool) -> None:
    assert doctor.is_in_range(version, versions) is expected


def test_requirements_are_taken_apart() -> None:
    assert doctor.parse_requirement("numpy<3,>=2.2") == doctor.Requirement("numpy", "<3,>=2.2", None)
    named = doctor.parse_requirement("psycopg[binary]<4,>=3.2; extra == 'postgres'")
    assert named == doctor.Requirement("psycopg", "<4,>=3.2", "postgres")
    wanted = {(requirement.name, requirement.extra) for requirement in doctor.list_requirements()}
    assert wanted >= {("numpy", None), ("polars", None), ("django", "serve")}
    assert ("django", None) not in wanted


def test_packages_that_are_missing_too_old_or_broken_are_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = ["no-such-package>=1", "numpy>=99", "rich>=14"]
    monkeypatch.setattr(metadata, "requires", lambda _: wanted)
    monkeypatch.setattr(doctor, "find_import_faults", lambda _: {"rich": "ImportError: broken"})
    findings = {finding.what: finding for finding in doctor.examine_dependencies()}
    assert list(findings) == ["no-such-package", "numpy", "rich"]
    assert findings["no-such-package"].found == "not installed"
    assert ">=99 is needed" in findings["numpy"].found
    assert "ImportError: broken" in findings["rich"].found
    assert {item.state for item in findings.values()} == {"fault"}
    assert findings["numpy"].advice.startswith("pip install 'numpy>=99'")


def test_extras_that_are_missing_are_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = [
        "no-such>=1; extra == 'one'",
        "rich>=14; extra == 'two'",
        "no-such>=1; extra == 'two'",
        "rich; extra == 'x'",
    ]
    monkeypatch.setattr(metadata, "requires", lambda _: wanted)
    findings = {finding.what: finding for finding in doctor.examine_extras()}
    assert [item.state for item in findings.values()] == ["ok", "warning", "ok"]
    assert "not installed" in findings["extra one"].found
    assert findings["extra two"].advice == "pip install 'adjudge[two]' (in a clone: '.[two]')"


def test_a_module_that_breaks_or_ends_the_interpreter_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_one.py").write_text("raise ImportError('no such\\nlibrary')")
    (tmp_path / "deadly_one.py").write_text("import os; os._exit(3)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert find_import_faults({"json": "json", "broken": "broken_one", "deadly": "deadly_one"}) == {
        "broken": "ImportError: no such library",
        "deadly": "ends the interpreter",
    }


def test_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert doctor.examine_folder("x", tmp_path / "not" / "yet", "").state == "ok"
    file = tmp_path / "file"
    file.touch()
    assert doctor.examine_folder("x", file, "elsewhere").state == "warning"
    assert doctor.examine_folder("x", file, "elsewhere", needed=True).state == "fault"
    monkeypatch.setattr(doctor, "LITTLE_ROOM", 10**18)
    assert doctor.examine_folder("x", tmp_path, "elsewhere").advice == "make room, or elsewhere"


def test_letters_that_no_font_has_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_SCRIPTS", {"Latin": "A", "none": "\u0379"})
    assert [finding.found for finding in doctor.examine_letters()] == ["none for none"]


def test_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:   4000000 kB\n")
    (tmp_path / "memory.max").write_text("2000000000\n")
    (tmp_path / "memory.current").write_text("1500000000\n")
    tight = list(doctor.examine_resources(tmp_path / "meminfo", tmp_path / "memory.max"))[1]
    assert (tight.state, tight.found) == ("warning", "500.0 MB free")
    (tmp_path / "memory.max").write_text("max\n")
    assert list(doctor.examine_resources(tmp_path / "meminfo", tmp_path / "memory.max"))[1].found == "4.1 GB free"
    assert list(doctor.examine_resources(tmp_path / "no", tmp_path / "no"))[1].found == "not known on this system"
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    assert states(doctor.examine_terminal()) == ["warning"]


def test_a_port_that_is_taken_is_said() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        (finding,) = doctor.examine_port(taken.getsockname()[1])
    assert (finding.state, finding.advice) == ("warning", "serve with another one: --port")


def made(file: Path, applied: list[str] | None) -> Path:
    with closing(sqlite3.connect(file)) as opened:
        opened.execute("CREATE TABLE answers (id INTEGER PRIMARY KEY, text TEXT)")
        opened.executemany("INSERT INTO answers (text) VALUES (?)", [("x" * 500,)] * 100)
        if applied is not None:
            opened.execute("CREATE TABLE django_migrations (app TEXT, name TEXT)")
            opened.executemany("INSERT INTO django_migrations VALUES ('collect', ?)", [(name,) for name in applied])
        opened.commit()
    return file


@pytest.mark.parametrize(
    ("applied", "expected", "words"),
    [
        (MIGRATIONS, "ok", "of this version"),
        ([*MIGRATIONS, "0999_later"], "fault", "newer adjudge (0999_later)"),
        ([], "warning", "no campaign"),
        (None, "warning", "no campaign"),
    ],
)
def test_the_tables_of_a_database(tmp_path: Path, applied: list[str] | None, expected: str, words: str) -> None:
    file = made(tmp_path / "a campaign?.sqlite3", applied)
    whole, tables = doctor.examine_given(str(file))
    assert (whole.state, tables.state) == ("ok", expected)
    assert words in tables.found
    assert states(doctor.examine_given(f"sqlite://{str(file).replace('?', '%3F')}")) == ["ok", expected]


def test_tables_of_an_older_version_are_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "0999_later.py").touch()
    monkeypatch.setattr(migrations, "__path__", [*migrations.__path__, str(tmp_path)])
    _, tables = doctor.examine_given(str(made(tmp_path / "old.sqlite3", MIGRATIONS)))
    assert (tables.state, tables.found) == ("warning", "of an older adjudge (without 0999_later)")


def test_databases_that_cannot_be_used_are_faults(tmp_path: Path) -> None:
    text = tmp_path / "text.sqlite3"
    text.write_text("no database at all, but long enough to be taken for one " * 20)
    damaged = made(tmp_path / "damaged.sqlite3", MIGRATIONS)
    raw = bytearray(damaged.read_bytes())
    raw[4096 * 3 : 4096 * 5] = b"\xff" * 8192
    damaged.write_bytes(raw)
    for given in (text, damaged, tmp_path / "missing.sqlite3", tmp_path):
        findings = list(doctor.examine_given(str(given)))
        assert [item.state for item in findings] == ["fault"], findings
        assert str(given) in findings[0].found
    (unknown,) = doctor.examine_given("mysql://ann:secret@host/name")
    assert "mysql://ann:***@host/name is of no known kind" in unknown.found
    (nobody,) = doctor.examine_given("postgres://ann:secret@127.0.0.1:9/name?pooling=transaction")
    assert nobody.state == "fault"
    assert "secret" not in nobody.found


@pytest.mark.postgres
def test_a_database_on_a_server() -> None:
    url = needed_postgres_url(with_tables=False)
    reached, *rest = doctor.examine_given(f"{url}?pooling=transaction")
    assert reached.state == "ok"
    assert rest[-1].found.startswith("no campaign")


@pytest.fixture
def no_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spares the import of every package, which another test does."""
    monkeypatch.setattr(doctor, "find_import_faults", lambda _: {})


@pytest.mark.usefixtures("no_imports")
def test_an_examination_that_breaks_off_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> Iterator[Finding]:
        raise RuntimeError("out of order")

    monkeypatch.setattr("adjudge.shell.doctor.examine_terminal", broken)
    diagnosis = examine(port=free_port())
    assert [(finding.what, finding.state) for finding in diagnosis.findings if finding.state == "fault"] == [
        ("terminal", "fault")
    ]
    assert not diagnosis.healthy


@pytest.mark.usefixtures("no_imports")
def test_the_command_ends_with_one_where_there_is_a_fault(tmp_path: Path) -> None:
    run = command("doctor", "--database", tmp_path / "missing.sqlite3", "--port", str(free_port()))
    assert run.code == 1
    assert "no such file" in run.out
    assert run.err == ""
    plain = command("doctor", "--json").json
    assert plain["healthy"] is True
    assert set(plain["findings"][0]) == {"what", "state", "found", "advice"}
