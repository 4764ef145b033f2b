"""The archive of a backup: a zip file with a manifest that names every entry, its size and its checksum.

Reading trusts nothing: entries must be exactly those of the manifest, their names must stay inside a folder, and what
they unpack to is bounded before anything is unpacked. Whatever is wrong is one sentence.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import sqlite3
import struct
import tempfile
import time
import tomllib
import zipfile
import zlib
from collections import deque
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import reduce
from itertools import count, islice
from operator import getitem
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Self
from urllib.parse import quote
from uuid import UUID

from django.core.exceptions import ValidationError as WrongValue
from django.core.management.color import no_style
from django.db import DatabaseError, DataError, IntegrityError, connections, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.utils import ConnectionHandler
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from adjudge.campaigns.campaign_file import check_campaign, is_one_line, load_campaign, map_paths
from adjudge.campaigns.media import MEDIA_TYPES, list_files
from adjudge.server.database import (
    database_settings,
    is_postgres,
    make_schema,
    read_schema,
    set_up_models,
    show_database,
    sqlite_file,
)
from adjudge.table.errors import InputError, shown
from adjudge.table.files import read_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from django.db.backends.base.base import BaseDatabaseWrapper
    from django.db.models import Model

    from adjudge.campaigns.campaign_file import Campaign


FORMAT = "adjudge-backup"
SCHEMA = 1
MANIFEST = "manifest.json"
MOST_ENTRIES = 80_000
MOST_MANIFEST_BYTES = 20_000_000
# Text packs to a tenth or so. What unpacks to far more was made to fill disks.
MOST_RATIO = 300
MOST_NAME = 250
"""Bytes of a file name."""
SMALL = 100_000_000
"""Bytes that may be unpacked whatever the ratio."""
_PIECE = 1 << 20
_DAMAGE = (
    zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError,
    ValueError, KeyError, OverflowError, IndexError, MemoryError,
)  # fmt: skip


def _one_line(text: str) -> str:
    """Refuse what would steer the terminal on which it is shown."""
    if not is_one_line(text):
        raise ValueError("has control characters")
    return text


Line = Annotated[str, Field(max_length=1000), AfterValidator(_one_line)]


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)


class Entry(_Part):
    """A file in the archive: its checksum, and whether only its owner may read it."""

    name: str = Field(min_length=1, max_length=1000)
    size: int = Field(ge=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    secret: bool = False


class TableEntry(_Part):
    """A table: its columns, rows and digest, as `Snapshot` computes it."""

    name: str = Field(pattern=r"^[a-z_]{1,60}$")
    columns: tuple[str, ...]
    rows: int = Field(ge=0)
    digest: str = Field(pattern=r"^[0-9a-f]{64}$")


class About(_Part):
    """What the manifest says of the campaign, apart from its entries."""

    version: Line
    made: Line
    campaign: Line
    campaign_file: Line
    fingerprint: Line
    database: Line
    migration: Line


class Manifest(About):
    """What a backup holds."""

    format: Line
    schema_: int = Field(alias="schema")
    tables: tuple[TableEntry, ...]
    entries: tuple[Entry, ...]


class ArchiveWriter:
    """Adds entries to a new archive, and their checksums to its manifest."""

    def __init__(self, file: Path) -> None:
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6)
        self._entries: list[Entry] = []

    def add(self, name: str, pieces: Iterable[bytes], *, secret: bool = False) -> None:
        """Add a file whose content comes in pieces."""
        size, digest = 0, hashlib.sha256()
        info = zipfile.ZipInfo(name, date_time=time.localtime()[:6])
        # Pictures and sound are compressed already.
        packed = PurePosixPath(name).suffix.lower() in MEDIA_TYPES
        info.compress_type = zipfile.ZIP_STORED if packed else zipfile.ZIP_DEFLATED
        with self._zip.open(info, "w", force_zip64=True) as entry:
            for piece in pieces:
                entry.write(piece)
                size += len(piece)
                digest.update(piece)
        self._entries.append(Entry(name=name, size=size, sha256=digest.hexdigest(), secret=secret))

    def finish(self, about: About, tables: list[TableEntry]) -> None:
        """Write the manifest, without which there is no backup."""
        if len(self._entries) >= MOST_ENTRIES:
            problem = f"{len(self._entries):,} files are more than a backup holds ({MOST_ENTRIES:,})"
            raise InputError(f"{problem}; copy the folder of pictures, sound and video by other means")
        manifest = {
            "format": FORMAT,
            "schema": SCHEMA,
            **about.model_dump(),
            "tables": [table.model_dump() for table in tables],
            "entries": [entry.model_dump() for entry in self._entries],
        }
        self._zip.writestr(MANIFEST, json.dumps(manifest, ensure_ascii=False, indent=1))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Write the directory of the archive; after a fault, which is what matters, nothing else is said."""
        with suppress(Exception) if kind is not None else nullcontext():
            self._zip.close()


def read_pieces(file: BinaryIO) -> Iterator[bytes]:
    """The content of a file in pieces."""
    while piece := file.read(_PIECE):
        yield piece


class ArchiveReader:
    """An archive whose manifest was read and found to name exactly its entries."""

    def __init__(self, path: Path, opened: zipfile.ZipFile) -> None:
        self.path, self._zip = path, opened
        infos = opened.infolist()
        if len(infos) > MOST_ENTRIES or len({info.filename for info in infos}) < len(infos):
            raise _foreign_error(path, "its entries are too many, or some have the same name")
        self.manifest = _read_manifest(path, opened)
        named = {entry.name: entry for entry in self.manifest.entries}
        if len(named) < len(self.manifest.entries) or named.keys() | {MANIFEST} != {info.filename for info in infos}:
            raise _foreign_error(path, "its manifest does not name exactly its entries")
        for name, entry in named.items():
            check_name(path, name)
            if opened.getinfo(name).file_size != entry.size:
                raise damage_error(path, f"'{shown(name)}' has another size than its manifest says")
        self.entries = named
        self.unpacked = sum(info.file_size for info in infos)
        packed = path.stat().st_size
        if self.unpacked > max(SMALL, MOST_RATIO * packed):
            raise InputError(
                f"unpacks to {self.unpacked / 1e6:,.0f} MB from {packed / 1e6:,.1f} MB, as no backup does; "
                "it is not unpacked",
                file=path,
            )

    def read(self, name: str) -> Iterator[bytes]:
        """The content of an entry in pieces; a wrong checksum is an error after the last of them."""
        entry, digest, size = self.entries[name], hashlib.sha256(), 0
        with explain_damage(self.path), self._zip.open(name) as file:
            while piece := file.read(_PIECE):
                size += len(piece)
                if size > entry.size:
                    break
                digest.update(piece)
                yield piece
        if (size, digest.hexdigest()) != (entry.size, entry.sha256):
            raise damage_error(self.path, f"the checksum of '{shown(name)}' is wrong")

    def lines(self, name: str) -> Iterator[bytes]:
        """The lines of an entry, without their ends."""
        rest = b""
        for piece in self.read(name):
            *whole, rest = (rest + piece).split(b"\n")
            yield from whole
        if rest:
            raise damage_error(self.path, f"'{shown(name)}' ends in the middle of a row")


@contextmanager
def read_archive(path: Path) -> Iterator[ArchiveReader]:
    """Open a backup."""
    if not path.is_file():
        raise InputError("no such file; check the path", file=path)
    with explain_damage(path):
        opened = zipfile.ZipFile(path)
    with opened:
        with explain_damage(path):
            reader = ArchiveReader(path, opened)
        yield reader


@contextmanager
def explain_damage(path: Path) -> Iterator[None]:
    """Turn whatever a broken archive makes its reader raise into one sentence."""
    try:
        yield
    except _DAMAGE as fault:
        raise damage_error(path, shown(fault, 100) or "it cannot be unpacked") from fault
    except OSError as fault:
        raise InputError(f"cannot be read ({fault.strerror or fault}); check it and its rights", file=path) from fault


def damage_error(path: Path, why: str) -> InputError:
    """The error for an archive that is not as it was written."""
    return InputError(f"is damaged, or no backup of adjudge ({why}); take another copy of it", file=path)


def _foreign_error(path: Path, why: str) -> InputError:
    return InputError(f"is no backup of adjudge ({why}); give a file that adjudge backup wrote", file=path)


def _read_manifest(path: Path, opened: zipfile.ZipFile) -> Manifest:
    try:
        info = opened.getinfo(MANIFEST)
    except KeyError:
        raise _foreign_error(path, f"it has no {MANIFEST}") from None
    if info.file_size > MOST_MANIFEST_BYTES:
        raise _foreign_error(path, "its manifest is too long")
    try:
        data = json.loads(opened.read(info))
    except (ValueError, RecursionError) as fault:
        raise damage_error(path, "its manifest cannot be read") from fault
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise _foreign_error(path, "its manifest is of another kind")
    if not isinstance(data.get("schema"), int) or data["schema"] > SCHEMA:
        version = shown(data.get("version"))
        raise InputError(f"was made by a newer adjudge (version {version}); upgrade adjudge", file=path)
    try:
        return Manifest.model_validate_json(json.dumps(data))
    except ValidationError as fault:
        key = ".".join(str(part) for part in fault.errors()[0]["loc"])
        raise damage_error(path, f"its manifest has a wrong '{shown(key)}'") from fault


def check_name(path: Path, name: str) -> None:
    """Refuse a name that could lead out of the folder, or is no plain file name on some system."""
    if not is_safe_name(name):
        raise InputError(
            f"holds the unsafe file name '{shown(name)}', which could lead out of its folder; it is not unpacked",
            file=path,
        )


def is_safe_name(name: str) -> bool:
    """Whether an entry may have this name: a plain path that stays inside a folder on every system."""
    parts = name.split("/")
    plain = all(part not in ("", ".", "..") and len(part.encode(errors="replace")) < MOST_NAME for part in parts)
    return plain and not any(character in name for character in "\\:\0") and name.isprintable()


# The rows of a campaign's database, whichever it is: read from one snapshot, written, counted and compared.
#
# A row is a line of JSON, the same from SQLite and PostgreSQL. The digest of a table is the sum of the SHA-256 of its
# lines modulo 2^256: databases sort differently, and a sum does not depend on the order. Tables are those of the
# migration that the database is at, so that a copy neither needs nor makes an upgrade.

APP = "collect"
# Who is at work now; says nothing of the campaign.
LEFT_OUT = ("process",)
ROWS_AT_ONCE = 500
_MODULUS = 1 << 256
_numbers = count(1)


class Snapshot:
    """An open database at one moment: its migration, and its tables in an order in which they can be filled."""

    def __init__(self, connection: BaseDatabaseWrapper, migration: str) -> None:
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

    def copy_table(self, name: str, write: Callable[[Iterable[bytes]], object]) -> TableEntry:
        """Hand all rows of a table to `write`; returns what identifies them."""
        rows = total = 0

        def watch() -> Iterator[bytes]:
            nonlocal rows, total
            for line in self.lines(name):
                rows += 1
                # The sum does not depend on the order of the lines.
                total = (total + int.from_bytes(hashlib.sha256(line).digest(), "big")) % _MODULUS
                yield line

        write(watch())
        return TableEntry(name=name, columns=self.columns(name), rows=rows, digest=f"{total:064x}")

    def digest_tables(self) -> list[TableEntry]:
        """Count and digest every table by reading all of it."""
        return [self.copy_table(name, deque[bytes](maxlen=0).extend) for name in self.models]

    def fill(self, name: str, lines: Iterable[bytes], *, source: Path | str) -> None:
        """Write rows into an empty table; `source` names where they come from in errors."""
        model = self.models[name]
        manager = model._default_manager.using(self.connection.alias)  # noqa: SLF001
        waiting = iter(lines)
        while rows := [_parse_row(model, line, source) for line in islice(waiting, ROWS_AT_ONCE)]:
            manager.bulk_create(rows)

    def continue_numbering(self) -> None:
        """Let the next row of each table get the next number. SQLite does so by itself."""
        statements = self.connection.ops.sequence_reset_sql(no_style(), list(self.models.values()))
        with self.connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)


def _sort_tables(models: dict[str, type[Model]]) -> Iterator[tuple[str, type[Model]]]:
    """Tables after those that they refer to."""
    left = dict(sorted(models.items()))

    def refers_to_left(model: type[Model]) -> bool:
        return any(field.related_model in left.values() for field in model._meta.concrete_fields)  # noqa: SLF001

    while left:
        name = next(name for name, model in left.items() if not refers_to_left(model))
        yield name, left.pop(name)


def _value_to_json(value: object) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(f"a {type(value).__name__} cannot be copied")


def _parse_row(model: type[Model], line: bytes, source: Path | str) -> Model:
    fields = model._meta.concrete_fields  # noqa: SLF001
    try:
        values = json.loads(line)
        if not isinstance(values, list) or len(values) != len(fields):
            raise ValueError("the number of values is wrong")  # noqa: TRY301
        given = zip(fields, values, strict=True)
        return model(**{field.attname: None if value is None else field.to_python(value) for field, value in given})
    except (ValueError, TypeError, RecursionError, WrongValue) as fault:
        raise InputError(f"holds a damaged row ({shown(fault)}); take another backup", file=source) from fault


@contextmanager
def read_snapshot(database: str | None, default_file: Path, working: Path) -> Iterator[Snapshot]:
    """One consistent moment of a database that may be in use; `working` is a folder for a copy of a SQLite file."""
    file = sqlite_file(database, default_file)
    if file is not None:
        copy = working / "snapshot.sqlite3"
        copy_sqlite(file, copy)
        database, default_file = None, copy
    with open_database(database, default_file, reading=True) as connection, transaction.atomic(using=connection.alias):
        name = show_database(database, file or default_file)
        yield Snapshot(connection, read_migration(connection, name))


# What SQLite says of a copy that cannot be written; the second may be said of the original, too.
_NOT_WRITTEN = ("database or disk is full", "disk I/O error")


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
            if str(fault) in _NOT_WRITTEN:
                # The folder of the copy itself is gone when this is read.
                what = (
                    f"the database cannot be copied here ({fault}); make room, or check {file.name} with adjudge doctor"
                )
                raise InputError(what, file=copy.parent.parent) from fault
            if number == len(addresses):
                raise InputError(f"cannot be copied ({fault}); check it with adjudge doctor", file=file) from fault
    copy.chmod(0o600)
    if problems != ["ok"]:
        raise InputError(f"the database is damaged ({shown('; '.join(problems), 120)}); see adjudge doctor", file=file)


@contextmanager
def open_database(database: str | None, file: Path, *, reading: bool = False) -> Iterator[BaseDatabaseWrapper]:
    """A connection to any database, beside the one that a server of this process may use."""
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


def read_migration(connection: BaseDatabaseWrapper, shown_name: str) -> str:
    """The last migration of a database of this version or an earlier one."""
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
    set_up_models()
    return {name for app, name in MigrationLoader(None).disk_migrations if app == APP}


@contextmanager
def create_database(database: str | None, file: Path, migration: str) -> Iterator[Snapshot]:
    """A new database with its tables, to be filled. On PostgreSQL all of it is one transaction."""

    def make_tables(connection: BaseDatabaseWrapper) -> Snapshot:
        MigrationExecutor(connection).migrate([(APP, migration)])
        return Snapshot(connection, migration)

    with open_database(database, file) as connection:
        # SQLite changes its schema outside of transactions. The file gets its name only when it is whole.
        target = None if is_postgres(database) else make_tables(connection)
        with transaction.atomic(using=connection.alias):
            if target is None:
                if (schema := read_schema(database)) is not None:
                    make_schema(connection, schema)
                tables: list[Any] = connection.introspection.table_names(connection.cursor())
                if tables:
                    what = f"is not empty (it has the table '{shown(tables[0])}'); give an empty database"
                    raise InputError(what, file=show_database(database, file))
            yield target or make_tables(connection)


# The files that belong to a campaign, and the campaign file as it has to be where they all lie in one folder.

OUTSIDE = "outside"
"""The folder for files that lie outside of the campaign's folder, or have names that are unsafe in archives."""
# Beside the campaign file, where they exist: tasks, looks, the key that signs cookies, links that were handed out.
_BESIDE = ("tasks.json", "looks.json", "looks.start.json", "looks.shown.json")
_BESIDE_SECRET = (".secret", ".links.tsv")


@dataclass(frozen=True)
class CampaignFile:
    """A file of a campaign: where it is, its name in a copy of the folder, and whether it is secret."""

    path: Path
    name: str
    secret: bool = False


def campaign_files(campaign_file: Path) -> tuple[str, list[CampaignFile]]:
    """The text of the campaign file for a copy of its folder, and all other files that belong there."""
    campaign = load_campaign(campaign_file)  # names all files that are missing
    if not is_safe_name(campaign_file.name):
        raise InputError("has a name that is unsafe in an archive; rename it with plain letters", file=campaign_file)
    folder = campaign_file.resolve().parent
    text = read_text(campaign_file)
    others = [CampaignFile(campaign_file.with_name(name), name) for name in _BESIDE]
    secrets = [campaign_file.with_suffix(ending) for ending in _BESIDE_SECRET]
    others += [CampaignFile(path, path.name, secret=True) for path in secrets]
    named = list(dict.fromkeys(value for _, value in named_paths(tomllib.loads(text))))
    files = _name_files(folder, named)
    media = _name_media(campaign, files)
    # Links and detours such as sub/../a.txt are not in the copy: there, the campaign file names the files themselves.
    renamed = {
        given: files[path].name
        for given in named
        if files[path := (folder / given).resolve()].name != PurePosixPath(given).as_posix()
    }
    # Of a folder, only the files that lists name belong to the campaign.
    listed = {file.name: file for file in (*files.values(), *media) if file.path.is_file()}
    others = [file for file in others if file.path.is_file() and file.name not in listed]
    return _rename_paths(text, renamed, campaign_file), [*listed.values(), *others]


def _name_media(campaign: Campaign, files: dict[Path, CampaignFile]) -> Iterator[CampaignFile]:
    """Pictures, sound and video, in the folder of the copy that stands for their own."""
    media = campaign.files.media
    for path in list_files(campaign):
        assert media is not None
        name = path.relative_to(media.folder).as_posix()
        if not is_safe_name(name):
            raise InputError(f"has a name that is unsafe in an archive ('{shown(name)}'); rename it", file=path)
        yield CampaignFile(path, f"{files[media.folder.resolve()].name}/{name}")


def _name_files(folder: Path, named: list[str]) -> dict[Path, CampaignFile]:
    """The files that a campaign file names, each with a name in the copy that no other file has."""
    paths = list(dict.fromkeys((folder / given).resolve() for given in named))
    inside = {path: path.relative_to(folder).as_posix() for path in paths if path.is_relative_to(folder)}
    names = {path: name for path, name in inside.items() if is_safe_name(name)}
    free = (number for number in count(1) if not (folder / OUTSIDE / str(number)).exists())
    for path in paths:
        if path not in names:
            plain = re.sub(r"[^\w.-]", "-", path.name)[-60:]  # the ending says what the file is
            names[path] = f"{OUTSIDE}/{next(free)}/{plain}"
    return {path: CampaignFile(path, names[path]) for path in paths}


def find_outside_path(campaign_file: Path) -> str | None:
    """A file outside of its folder that a campaign file names; None where there is none, or no campaign file."""
    folder = campaign_file.resolve().parent
    try:
        data = tomllib.loads(read_text(campaign_file))
    except ValueError:
        return None  # said better by those who read it whole
    named = (value for _, value in named_paths(data))
    return next((value for value in named if not (folder / value).resolve().is_relative_to(folder)), None)


def named_paths(data: dict[str, Any]) -> list[tuple[tuple[str, ...], str]]:
    """List all files that a campaign file names, with their keys, in the order of the file."""
    places: list[tuple[str, ...]] = []

    def note(path: Path, keys: tuple[str, ...]) -> Path:
        places.append(keys)
        return path

    def place_in_file(keys: tuple[str, ...]) -> list[int]:
        place, table = [], data
        for key in keys:
            place.append(list(table).index(key))
            table = table[key]
        return place

    map_paths(check_campaign(data), note)
    named = []
    for keys in sorted(places, key=place_in_file):
        value = reduce(getitem, keys, data)
        named.append(((*keys, "file"), value["file"]) if isinstance(value, dict) else (keys, value))
    return named


def _rename_paths(text: str, renamed: dict[str, str], campaign_file: Path) -> str:
    """The campaign file with other names of files; everything else, remarks included, stays as it is."""
    changed, wanted = text, tomllib.loads(text)
    for keys, value in named_paths(wanted):
        if value in renamed:
            reduce(getitem, keys[:-1], wanted)[keys[-1]] = renamed[value]
    for old, new in renamed.items():
        for quoted in (json.dumps(old, ensure_ascii=False), f"'{old}'"):
            changed = changed.replace(quoted, json.dumps(new, ensure_ascii=False))
    if tomllib.loads(changed) != wanted:
        raise InputError(
            f"names a file ('{next(iter(renamed))}') in a way that cannot be changed in a copy; "
            "copy that file beside the campaign file and name it there",
            file=campaign_file,
        )
    return changed


# Folders for work in progress, which the next command removes where one was killed.
#
# A folder is locked while it is in use. The system gives the lock up when its process ends, however it ends. Numbers of
# processes would not do: in containers, one process after the other has the same number.

ENDING = ".adjudge.part"


@contextmanager
def working_folder(beside: Path) -> Iterator[Path]:
    """A folder beside a file or folder, readable by its owner alone; what killed processes left there is removed."""
    try:
        beside.parent.mkdir(parents=True, exist_ok=True)
        for former in beside.parent.iterdir():
            # Whatever they worked on: a folder holds what people said.
            if is_working_folder(former, beside) or (former.name[:1] == "." and former.name.endswith(ENDING)):
                _remove_if_free(former)
        folder, lock = _make_folder(beside)
    except OSError as fault:
        raise InputError(f"cannot be written ({fault.strerror}); choose another place", file=beside) from fault
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def is_working_folder(path: Path, beside: Path) -> bool:
    """Whether this is a folder for work in progress on `beside`."""
    return path.name.startswith(f".{beside.name[:100]}.") and path.name.endswith(".part")


def _make_folder(beside: Path) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f".{beside.name[:100]}.", suffix=ENDING, dir=beside.parent))
        # Another command may take it for one that was left, in the moment before it is locked.
        with suppress(FileNotFoundError):
            lock = os.open(folder, os.O_RDONLY)
            # A file system without locks does without: there, what is left must be removed by hand.
            with suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if folder.exists():
                return folder, lock
            os.close(lock)


def _remove_if_free(folder: Path) -> None:
    with suppress(OSError):
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)
