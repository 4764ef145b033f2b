"""The rows of a campaign's database, whichever it is: read from one snapshot, written, counted and compared.

A row is a line of JSON, the same from SQLite and PostgreSQL. The digest of a table is the sum of the SHA-256 of its
lines modulo 2^256: databases sort differently, and a sum does not depend on the order. Tables are those of the
migration that the database is at, so that a copy neither needs nor makes an upgrade.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from itertools import count, islice
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import UUID

from adjudge.collect.copies.archive import TableEntry
from adjudge.collect.database import database_settings, is_postgres, show_database, sqlite_file
from adjudge.core.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.models import Model

APP = "collect"
# Who is at work now; says nothing of the campaign.
LEFT_OUT = ("process",)
ROWS_AT_ONCE = 500
_MODULUS = 1 << 256
_numbers = count(1)


class Digest:
    """Counts lines and sums up their hashes, so that their order does not matter."""

    def __init__(self) -> None:
        self.rows, self._sum = 0, 0

    def watch(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """Hand the lines on, and count them."""
        for line in lines:
            self.rows += 1
            self._sum = (self._sum + int.from_bytes(sha256(line).digest(), "big")) % _MODULUS
            yield line

    @property
    def hexadecimal(self) -> str:
        """What identifies the lines so far, in any order."""
        return f"{self._sum:064x}"


class Snapshot:
    """An open database at one moment: its migration, and its tables in an order in which they can be filled."""

    def __init__(self, connection: BaseDatabaseWrapper, migration: str) -> None:
        from django.db.migrations.loader import MigrationLoader

        self.connection, self.migration = connection, migration
        state = MigrationLoader(None).project_state((APP, migration))
        models = {model._meta.model_name or "": model for model in state.apps.get_models()}  # noqa: SLF001
        self.models = {name: model for name, model in _sort_tables(models) if name not in LEFT_OUT}

    def columns(self, name: str) -> tuple[str, ...]:
        """The columns of a table."""
        return tuple(field.attname for field in self.models[name]._meta.concrete_fields)  # noqa: SLF001

    def lines(self, name: str) -> Iterator[bytes]:
        """The rows of a table as lines without their ends, by primary key."""
        rows = self.models[name]._default_manager.using(self.connection.alias).order_by("pk")  # noqa: SLF001
        for values in rows.values_list(*self.columns(name)).iterator(chunk_size=ROWS_AT_ONCE):
            yield json.dumps(values, ensure_ascii=False, separators=(",", ":"), default=_value_to_json).encode()

    def campaign(self, file: Path) -> Any:
        """The row of the campaign; `file` names it in the error where there is none."""
        row = self.models["campaign"]._default_manager.using(self.connection.alias).first()  # noqa: SLF001
        if row is None:
            raise InputError("has not been served yet, so there is nothing to copy", file=file)
        return row

    def copy_table(self, name: str, write: Callable[[Iterable[bytes]], None]) -> TableEntry:
        """Hand all rows of a table to `write`; returns what identifies them."""
        digest = Digest()
        write(digest.watch(self.lines(name)))
        return TableEntry(name=name, columns=self.columns(name), rows=digest.rows, digest=digest.hexadecimal)

    def digest_tables(self) -> list[TableEntry]:
        """Count and digest every table by reading all of it."""

        def read(lines: Iterable[bytes]) -> None:
            for _ in lines:
                pass

        return [self.copy_table(name, read) for name in self.models]

    def fill(self, name: str, lines: Iterable[bytes], *, source: Path | str) -> None:
        """Write rows into an empty table; `source` names where they come from in errors."""
        model = self.models[name]
        manager = model._default_manager.using(self.connection.alias)  # noqa: SLF001
        waiting = iter(lines)
        while rows := [_parse_row(model, line, source) for line in islice(waiting, ROWS_AT_ONCE)]:
            manager.bulk_create(rows)

    def continue_numbering(self) -> None:
        """Let the next row of each table get the next number. SQLite does so by itself."""
        from django.core.management.color import no_style

        statements = self.connection.ops.sequence_reset_sql(no_style(), list(self.models.values()))
        with self.connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)


def _sort_tables(models: dict[str, type[Model]]) -> Iterator[tuple[str, type[Model]]]:
    """Tables after those that they refer to."""
    left = dict(sorted(models.items()))
    while left:
        name = next(name for name, model in left.items() if not _referenced_tables(model) & left.keys())
        yield name, left.pop(name)


def _referenced_tables(model: type[Model]) -> set[str]:
    related = (field.related_model for field in model._meta.concrete_fields)  # noqa: SLF001
    return {other._meta.model_name or "" for other in related if other is not None and not isinstance(other, str)}  # noqa: SLF001


def _value_to_json(value: object) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(f"a {type(value).__name__} cannot be copied")


def _parse_row(model: type[Model], line: bytes, source: Path | str) -> Model:
    from django.core.exceptions import ValidationError

    fields = model._meta.concrete_fields  # noqa: SLF001
    try:
        values = json.loads(line)
        if not isinstance(values, list) or len(values) != len(fields):
            raise ValueError("the number of values is wrong")  # noqa: TRY301
        given = zip(fields, values, strict=True)
        return model(**{field.attname: None if value is None else field.to_python(value) for field, value in given})
    except (ValueError, TypeError, RecursionError, ValidationError) as fault:
        raise InputError(f"holds a damaged row ({shown(fault)}); take another backup", file=source) from fault


@contextmanager
def read_snapshot(database: str | None, default_file: Path, working: Path) -> Iterator[Snapshot]:
    """One consistent moment of a database that may be in use; `working` is a folder for a copy of a SQLite file."""
    file = sqlite_file(database, default_file)
    if file is not None:
        copy = working / "snapshot.sqlite3"
        copy_sqlite(file, copy)
        database, default_file = None, copy
    with open_database(database, default_file, reading=True) as connection, _transaction(connection):
        name = show_database(database, file or default_file)
        yield Snapshot(connection, read_migration(connection, name))


def copy_sqlite(file: Path, copy: Path) -> None:
    """Copy a SQLite database through its online backup, while others write to it; a damaged one is refused."""
    log = file.with_name(file.name + "-wal")
    address = f"file:{quote(str(file.resolve()))}?mode=ro"
    # In a folder that cannot be written to, a database that nobody uses can be read only in this way.
    addresses = (address, f"{address}&immutable=1") if not log.exists() else (address,)
    for number, source_address in enumerate(addresses, start=1):
        try:
            with (
                closing(sqlite3.connect(source_address, uri=True, timeout=60)) as source,
                closing(sqlite3.connect(copy)) as target,
            ):
                source.backup(target)
                problems = [str(row[0]) for row in target.execute("PRAGMA integrity_check(3)")]
            break
        except (sqlite3.Error, OSError) as fault:
            if number == len(addresses):
                raise InputError(f"cannot be copied ({fault}); check it with adjudge doctor", file=file) from fault
    copy.chmod(0o600)
    if problems != ["ok"]:
        raise InputError(f"the database is damaged ({shown('; '.join(problems), 120)}); see adjudge doctor", file=file)


@contextmanager
def open_database(database: str | None, file: Path, *, reading: bool = False) -> Iterator[BaseDatabaseWrapper]:
    """A connection to any database, beside the one that a server of this process may use."""
    from django.db import DatabaseError, DataError, IntegrityError, connections
    from django.db.utils import ConnectionHandler

    from adjudge.collect.django_settings import set_up_models

    set_up_models()
    settings = database_settings(database, file)
    if reading and is_postgres(database):
        from psycopg import IsolationLevel

        settings["OPTIONS"]["isolation_level"] = IsolationLevel.REPEATABLE_READ
    alias = f"copy-{next(_numbers)}"
    connection = ConnectionHandler({"default": {}, alias: settings})[alias]
    connections[alias] = connection
    try:
        yield connection
    except DatabaseError as fault:
        reason = shown(" ".join(str(fault).split()), 200)
        what = f"the database cannot be used ({reason}); check its address and rights"
        if isinstance(fault, IntegrityError | DataError):
            what = f"the database refuses a row ({reason}), so that nothing was stored; check where the rows come from"
        raise InputError(what, file=show_database(database, file)) from fault
    finally:
        connection.close()
        del connections[alias]


@contextmanager
def _transaction(connection: BaseDatabaseWrapper) -> Iterator[None]:
    from django.db import transaction

    with transaction.atomic(using=connection.alias):
        yield


def read_migration(connection: BaseDatabaseWrapper, shown_name: str) -> str:
    """The last migration of a database of this version or an earlier one."""
    from django.db.migrations.loader import MigrationLoader

    loader = MigrationLoader(connection)
    applied = sorted(name for app, name in loader.applied_migrations or {} if app == APP)
    if not applied:
        raise InputError("holds no campaign; begin with adjudge serve", file=shown_name)
    unknown = [name for name in applied if (APP, name) not in loader.disk_migrations]
    if unknown:
        raise InputError(
            f"the database was made by a newer adjudge (it has {', '.join(unknown)}); upgrade adjudge", file=shown_name
        )
    return applied[-1]


def known_migrations() -> set[str]:
    """The migrations of this version."""
    from django.db.migrations.loader import MigrationLoader

    from adjudge.collect.django_settings import set_up_models

    set_up_models()
    return {name for app, name in MigrationLoader(None).disk_migrations if app == APP}


@contextmanager
def create_database(database: str | None, file: Path, migration: str) -> Iterator[Snapshot]:
    """A new database with its tables, to be filled. On PostgreSQL all of it is one transaction."""
    from django.db.migrations.executor import MigrationExecutor

    def make_tables(connection: BaseDatabaseWrapper) -> Snapshot:
        MigrationExecutor(connection).migrate([(APP, migration)])
        return Snapshot(connection, migration)

    with open_database(database, file) as connection:
        if is_postgres(database):
            with _transaction(connection):
                check_empty(connection, show_database(database, file))
                yield make_tables(connection)
        else:
            # SQLite changes its schema outside of transactions. The file gets its name only when it is whole.
            target = make_tables(connection)
            with _transaction(connection):
                yield target


def check_empty(connection: BaseDatabaseWrapper, shown_name: str) -> None:
    """Refuse a database that has any tables."""
    with connection.cursor() as cursor:
        tables: Any = connection.introspection.table_names(cursor)
    if tables:
        raise InputError(
            f"is not empty (it has the table '{shown(tables[0])}'); give an empty database", file=shown_name
        )
