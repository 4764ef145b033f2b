"""Databases: SQLite itself, and one that holds a campaign. It is only read, never changed."""

from __future__ import annotations

import pkgutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

from adjudge.collect.database import hide_password, is_postgres
from adjudge.doctor.diagnosis import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

OLDEST_SQLITE = (3, 31)  # asked for by Django 5.2
_APPLIED = "SELECT name FROM django_migrations WHERE app = 'collect'"
SECONDS = 5


def examine_sqlite() -> Iterator[Finding]:
    """The library, and a log that can be written ahead, without which saves would wait for readers."""
    version = f"version {sqlite3.sqlite_version}"
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        yield Finding("SQLite", "fault", version, "install a Python with SQLite 3.31 or newer")
        return
    with tempfile.TemporaryDirectory() as folder, closing(sqlite3.connect(Path(folder) / "tried.sqlite3")) as tried:
        mode = tried.execute("PRAGMA journal_mode=WAL").fetchone()[0]
    if mode == "wal":
        yield Finding("SQLite", "ok", f"{version}, write-ahead log works")
    else:
        advice = "keep campaigns on a local disk, not on a network folder"
        yield Finding("SQLite", "warning", f"{version}, no write-ahead log in the temporary folder ({mode})", advice)


def examine_given(database: str) -> Iterator[Finding]:
    """The database that was asked about: a file, sqlite:///file, or the address of a PostgreSQL server."""
    if is_postgres(database):
        yield from _examine_postgres(database)
        return
    parts = urlsplit(database)
    if "://" in database and parts.scheme != "sqlite":
        advice = "give a file, or postgres://user@host/name"
        yield Finding("database", "fault", f"{hide_password(database)} is of no known kind", advice)
        return
    yield from _examine_file(Path(unquote(parts.path) if parts.scheme == "sqlite" else database))


def _examine_file(file: Path) -> Iterator[Finding]:
    if not file.is_file():
        yield Finding("database", "fault", f"{file}: no such file", "check the path; 'adjudge serve' makes the file")
        return
    try:
        with closing(
            sqlite3.connect(f"file:{quote(str(file.resolve()))}?mode=ro", uri=True, timeout=SECONDS)
        ) as opened:
            problems = [str(row[0]) for row in opened.execute("PRAGMA integrity_check(10)")]
            applied = _read_applied(opened) if problems == ["ok"] else set()
    except sqlite3.Error as fault:
        advice = "restore it from a copy; it must be a database that 'adjudge serve' made"
        yield Finding("database", "fault", f"{file}: {fault}", advice)
        return
    if problems != ["ok"]:
        yield Finding(
            "database", "fault", f"{file}: {'; '.join(problems)}", "restore it from a copy, then export again"
        )
        return
    yield Finding("database", "ok", f"{file}: whole (integrity check)")
    yield _compare_tables(applied)


def _read_applied(opened: sqlite3.Connection) -> set[str]:
    held = opened.execute("SELECT 1 FROM sqlite_master WHERE name = 'django_migrations'").fetchone()
    return {str(row[0]) for row in opened.execute(_APPLIED)} if held else set()


def _examine_postgres(url: str) -> Iterator[Finding]:
    try:
        import psycopg
    except ImportError:
        yield Finding("database", "fault", "PostgreSQL needs its driver", "pip install 'adjudge[postgres]'")
        return
    shown = hide_password(url)
    try:
        with psycopg.connect(_without_pooling(url), connect_timeout=SECONDS) as opened:
            version = opened.info.server_version // 10_000
            # What a server without it acknowledges can be lost with its power.
            durable = (opened.execute("SHOW fsync").fetchone() or ("",))[0]
            held = (opened.execute("SELECT to_regclass('django_migrations')").fetchone() or (None,))[0]
            applied = {str(row[0]) for row in opened.execute(_APPLIED)} if held else set()
    except psycopg.Error as fault:
        reason = " ".join(str(fault).split())
        yield Finding(
            "database", "fault", f"{shown}: {reason}", "check the address, the rights and that the server runs"
        )
        return
    yield Finding("database", "ok", f"{shown}: PostgreSQL {version}")
    if durable != "on":
        yield Finding("durability", "warning", f"fsync is {durable}", "set fsync = on, or a power cut loses judgments")
    yield _compare_tables(applied)


def _without_pooling(url: str) -> str:
    # Our own word in the address, which the server's library does not know.
    parts = urlsplit(url)
    kept = [(name, value) for name, value in parse_qsl(parts.query) if name != "pooling"]
    return urlunsplit(parts._replace(query=urlencode(kept)))


def _compare_tables(applied: set[str]) -> Finding:
    """Whether the tables are those of this version."""
    import adjudge.collect.migrations as kept

    known = {module.name for module in pkgutil.iter_modules(kept.__path__)}
    if not applied:
        return Finding("tables", "warning", "no campaign has been served from it yet", "start 'adjudge serve' with it")
    if later := sorted(applied - known):
        return Finding("tables", "fault", f"made by a newer adjudge ({', '.join(later)})", "upgrade adjudge")
    if missing := sorted(known - applied):
        advice = "make a copy; 'adjudge serve' brings them up to date"
        return Finding("tables", "warning", f"of an older adjudge (without {', '.join(missing)})", advice)
    return Finding("tables", "ok", "of this version")
