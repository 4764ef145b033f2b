"""Which database, and how it is written to: every write is one durable transaction, or nothing."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from adjudge.core.errors import UsageError
from adjudge.core.files import atomic_path, read_text

if TYPE_CHECKING:
    from collections.abc import Iterator

# FULL: the log is on the disk before a save is acknowledged, so that even a power cut loses nothing acknowledged.
_SQLITE_PRAGMAS = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA fullfsync=ON; PRAGMA cache_size=-16000;"
# Acknowledged only when on the disk; statements are planned once per connection, which halves the server's work.
_POSTGRES_OPTIONS = {"options": "-c synchronous_commit=on", "server_side_binding": True, "prepare_threshold": 3}
# Behind a pool that hands out connections by transaction, nothing may be left on a connection for later.
_POOLED_OPTIONS = {"server_side_binding": True, "prepare_threshold": None}
_POSTGRES_SCHEMES = ("postgres", "postgresql")
# SQLite has one writer at a time. Threads that queue here wait their turn; SQLite itself would let them poll.
_ONE_DECISION = threading.Lock()
_ONE_WRITER = threading.Lock()


def is_postgres(url: str | None) -> bool:
    """Whether a database URL names a PostgreSQL server."""
    return url is not None and urlsplit(url).scheme in _POSTGRES_SCHEMES


def database_settings(url: str | None, default_file: Path) -> dict[str, Any]:
    """Django's settings for a database: a SQLite file, or PostgreSQL by URL."""
    if url is None:
        return _sqlite_settings(default_file)
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        return _sqlite_settings(Path(unquote(parts.path)))
    if parts.scheme in _POSTGRES_SCHEMES:
        return _postgres_settings(url)
    shown = hide_password(url)
    raise UsageError(
        f"database '{shown}' is of no known kind; give postgres://user@host/name, or leave it out for SQLite"
    )


def sqlite_file(database: str | None, default_file: Path) -> Path | None:
    """The file of an embedded database; None where it is PostgreSQL."""
    if database is None:
        return default_file
    parts = urlsplit(database)
    return Path(unquote(parts.path)) if parts.scheme == "sqlite" else None


def show_database(database: str | None, default_file: Path) -> str:
    """Name a database in a message: its file, or its address without the password."""
    file = sqlite_file(database, default_file)
    return str(file) if file is not None else hide_password(database or "")


def database_note_file(campaign_file: Path) -> Path:
    """The file in which `adjudge move` notes where the database of a campaign is now."""
    return campaign_file.with_suffix(".database")


def write_database_note(campaign_file: Path, database: str | None) -> None:
    """Write down which database a campaign has from now on; None: the embedded one beside it. Holds at once."""
    note = database_note_file(campaign_file)
    if database is None:
        note.unlink(missing_ok=True)
        return
    with atomic_path(note, secret=True) as temporary:
        temporary.write_text(f"{database}\n", encoding="utf-8")


def choose_database(campaign_file: Path, given: str | None) -> str | None:
    """The database of a campaign: as given, or as noted when it was moved; None for the embedded one beside it.

    An address that is given and another one that is noted are refused: work would go on in a database that was left.
    """
    note = database_note_file(campaign_file)
    if not note.is_file():
        return given
    noted = read_text(note).strip()
    file = sqlite_file(noted, campaign_file)
    if file is not None and not file.is_absolute():
        noted = f"sqlite:{quote(str(campaign_file.resolve().parent / file))}"
    if given is None or _identify(given) == _identify(noted):
        return given or noted
    raise UsageError(
        f"--database is {hide_password(given)}, but the campaign was moved to {hide_password(noted)}; leave the "
        f"option out (and ADJUDGE_DATABASE unset), or delete {note} to return to the former database"
    )


def is_same_database(first: str | None, second: str | None, default_file: Path) -> bool:
    """Whether two addresses lead to the same database; None is the embedded one."""
    places = [(address or f"sqlite:{quote(str(default_file.absolute()))}") for address in (first, second)]
    return _identify(places[0]) == _identify(places[1])


def _identify(database: str) -> tuple[str, ...]:
    """Identify what an address leads to, however it is written."""
    parts = urlsplit(database)
    if parts.scheme in _POSTGRES_SCHEMES:
        return ("postgres", parts.hostname or "", _read_port(database) or "5432", unquote(parts.path))
    return (parts.scheme, str(Path(unquote(parts.path)).resolve()))


def _sqlite_settings(file: Path) -> dict[str, Any]:
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(file),
        "CONN_MAX_AGE": None,
        "OPTIONS": {"transaction_mode": "IMMEDIATE", "timeout": 20, "init_command": _SQLITE_PRAGMAS},
    }


def _postgres_settings(url: str) -> dict[str, Any]:
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise UsageError("PostgreSQL needs its driver; install it with: pip install 'adjudge[postgres]'") from None
    parts = urlsplit(url)
    name = unquote(parts.path.lstrip("/"))
    if not name:
        raise UsageError(f"database '{hide_password(url)}' names no database; write postgres://user@host/name")
    given = dict(parse_qsl(parts.query))
    pooled = _is_pooled(given.pop("pooling", "session"))
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(parts.hostname or ""),
        "PORT": _read_port(url),
        "CONN_MAX_AGE": None,
        "DISABLE_SERVER_SIDE_CURSORS": pooled,
        "OPTIONS": {**given, **(_POOLED_OPTIONS if pooled else _POSTGRES_OPTIONS)},
    }


def _is_pooled(pooling: str) -> bool:
    if pooling not in ("session", "transaction"):
        raise UsageError(f"pooling={pooling} in --database is not known; write pooling=transaction, or leave it out")
    return pooling == "transaction"


def _read_port(url: str) -> str:
    try:
        return str(urlsplit(url).port or "")
    except ValueError:
        raise UsageError(
            f"database '{hide_password(url)}' has a port that is no number; write postgres://user@host:5432/name"
        ) from None


def hide_password(url: str) -> str:
    """Make a database address that may be shown and logged, from the parts that hold no secret.

    What cannot be parsed is not shown at all: it may be an address with a password in an unknown form.
    """
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "an address that cannot be read"
    if not parts.scheme or not parts.scheme.isalnum():
        return url if url.isalnum() else "an address that cannot be read"
    # A password with an unquoted @, / or # in it ends up in the parts behind it.
    unclear = "@" in parts.path + parts.query + parts.fragment or "@" in (parts.hostname or "")
    if unclear or (parts.netloc.count("@") > 1):
        return f"{parts.scheme}://…"
    hidden = "" if parts.password is None else ":***"
    user = f"{parts.username}{hidden}@" if parts.username else ""
    return f"{parts.scheme}://{user}{parts.hostname or ''}{port}{parts.path}"


@contextmanager
def decision_lock() -> Iterator[None]:
    """One decision at a time about who gets what. Enter it before `write_transaction`.

    PostgreSQL needs no more than the lock on the campaign, which holds up no saves. SQLite has one writer: there a
    decision is made under this lock, and only its outcome is written while saves wait.
    """
    from django.db import connection

    if connection.vendor != "sqlite":
        yield
        return
    with _ONE_DECISION:
        yield


@contextmanager
def write_transaction() -> Iterator[None]:
    """One transaction: what is written inside is on the disk when the block has ended, or not at all."""
    from django.db import connection, transaction

    if connection.vendor == "sqlite":
        with _ONE_WRITER, transaction.atomic():
            yield
    else:
        with transaction.atomic():
            if connection.settings_dict.get("DISABLE_SERVER_SIDE_CURSORS"):
                connection.cursor().execute("SET LOCAL synchronous_commit = on")
            yield
