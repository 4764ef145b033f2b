"""Backing a campaign up while people judge, and restoring it: all of it, as it was, or nothing.

A backup is written in a hidden folder and gets its name when it is whole. So does a restored campaign, after all rows
were read back and compared with the manifest; PostgreSQL is filled in one transaction.
"""

from __future__ import annotations

import os
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from adjudge._version import __version__
from adjudge.campaigns.campaign_file import load_campaign
from adjudge.campaigns.results import BackedUp, CopiedTable, Moved, Restored
from adjudge.server import archives
from adjudge.server.database import (
    database_file,
    database_note_file,
    is_postgres,
    is_same_database,
    locate_database,
    show_database,
    sqlite_file,
    write_database_note,
)
from adjudge.table.errors import DataError, InputError, UsageError, param, shown
from adjudge.table.files import atomic_path, sync_folder, umask

if TYPE_CHECKING:
    from collections.abc import Iterable


_FILES, _TABLES = "files", "tables"


def backup(campaign_file: Path, output: Path, *, database: str | None = None) -> BackedUp:
    """Write all of a campaign to one archive, while it is served or not.

    Args:
        campaign_file: the campaign.
        output: the archive, readable by its owner alone.
        database: its database; default: the one that it is served from.
    """
    if output.suffix != ".zip":
        raise UsageError(f"{param('output')} '{output}' does not end in .zip; a backup is a zip archive")
    text, files = archives.campaign_files(campaign_file)
    chosen, embedded = locate_database(campaign_file, database, ", so there is nothing to back up")
    made = datetime.now(UTC).isoformat(timespec="seconds")
    output = output.resolve() if output.is_symlink() else output
    with (
        archives.working_folder(output.absolute()) as working,
        atomic_path(output, secret=True, inside=working) as temporary,
        archives.read_snapshot(chosen, database_file(campaign_file), working) as snapshot,
        archives.ArchiveWriter(temporary) as writer,
    ):
        writer.add(f"{_FILES}/{campaign_file.name}", [text.encode()])
        for file in files:
            with file.path.open("rb") as content:
                writer.add(f"{_FILES}/{file.name}", archives.read_pieces(content), secret=file.secret)

        def add_table(name: str) -> archives.TableEntry:
            def write(lines: Iterable[bytes]) -> None:
                writer.add(f"{_TABLES}/{name}.jsonl", (line + b"\n" for line in lines), secret=True)

            return snapshot.copy_table(name, write)

        tables = [add_table(name) for name in snapshot.models]
        campaign = snapshot.campaign(campaign_file)
        about = archives.About(
            version=__version__,
            made=made,
            campaign=campaign.name,
            campaign_file=campaign_file.name,
            fingerprint=campaign.fingerprint,
            database="sqlite" if embedded is not None else "postgresql",
            migration=snapshot.migration,
        )
        writer.finish(about, tables)
    return BackedUp(
        settings={"database": about.database},
        data=about.fingerprint,
        campaign=about.campaign,
        archive=str(output),
        bytes=output.stat().st_size,
        made=made,
        files=(campaign_file.name, *(file.name for file in files)),
        copied=list_copied(tables),
        notes=("the archive holds everything that people said and the campaign's key; keep it as secret as these",),
    )


def list_copied(tables: Iterable[archives.TableEntry]) -> tuple[CopiedTable, ...]:
    """List copied tables as results show them."""
    return tuple(CopiedTable(table.name, table.rows, table.digest) for table in tables)


def restore(archive: Path, folder: Path, *, database: str | None = None) -> Restored:
    """Make a campaign again from a backup.

    Args:
        archive: what `backup` wrote.
        folder: where the campaign comes; it must be empty or not exist.
        database: an empty PostgreSQL database; default: SQLite in the folder.
    """
    if database is not None and not is_postgres(database):
        raise UsageError(f"{param('database')} is not the address of a PostgreSQL database; leave it out for SQLite")
    place = _choose_place(folder)
    with archives.read_archive(archive) as reader, archives.working_folder(place) as working:
        manifest = reader.manifest
        archives.check_name(archive, manifest.campaign_file)
        if manifest.migration not in archives.known_migrations():
            raise InputError(f"was made by a newer adjudge (version {manifest.version}); upgrade adjudge", file=archive)
        if shutil.disk_usage(working).free < 2 * reader.unpacked:
            raise InputError(f"needs {2 * reader.unpacked / 1e6:,.1f} MB, more than the disk has free", file=archive)
        inside = working / "campaign"
        inside.mkdir()
        _unpack(reader, inside)
        campaign_file = inside / manifest.campaign_file
        # What no backup holds: a database besides the tables, and a campaign file that names files elsewhere.
        own = database_file(campaign_file)
        for name in (own.name, f"{own.name}-wal", f"{own.name}-shm", database_note_file(campaign_file).name):
            if campaign_file.with_name(name).exists():
                raise archives.damage_error(archive, f"it holds '{name}' besides its tables")
        if outside := archives.find_outside_path(campaign_file):
            raise archives.damage_error(
                archive, f"its campaign file names '{shown(outside)}', which is not in the archive"
            )
        load_campaign(campaign_file)
        _fill_database(reader, campaign_file, database)
        _move_into_place(inside, folder, last=manifest.campaign_file)
    return Restored(
        settings={"database": "sqlite" if database is None else "postgresql"},
        data=manifest.fingerprint,
        campaign=manifest.campaign,
        folder=str(folder),
        campaign_file=str(folder / manifest.campaign_file),
        database=show_database(database, database_file(folder / manifest.campaign_file)),
        made=manifest.made,
        files=tuple(entry.name.partition("/")[2] for entry in manifest.entries if entry.name.startswith(f"{_FILES}/")),
        copied=list_copied(manifest.tables),
    )


def _unpack(reader: archives.ArchiveReader, folder: Path) -> None:
    names = [name for name in reader.entries if name.startswith(f"{_FILES}/")]
    wanted = {f"{_TABLES}/{table.name}.jsonl" for table in reader.manifest.tables}
    if f"{_FILES}/{reader.manifest.campaign_file}" not in names or wanted != reader.entries.keys() - set(names):
        raise archives.damage_error(reader.path, "its manifest does not name a campaign file and its tables")
    for name in names:
        file = folder / name.partition("/")[2]
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as written:
                for piece in reader.read(name):
                    written.write(piece)
                written.flush()
                os.fsync(written.fileno())
        except OSError as fault:
            raise InputError(f"cannot be written ({fault.strerror}); choose another folder", file=file) from fault
        if not reader.entries[name].secret:
            file.chmod(0o666 & ~umask())


def _fill_database(reader: archives.ArchiveReader, campaign_file: Path, database: str | None) -> None:
    """Fill the new database, and compare what it then holds with the manifest."""
    file = database_file(campaign_file)
    tables = {table.name: table for table in reader.manifest.tables}
    with archives.create_database(database, file, reader.manifest.migration) as target:
        if {name: target.columns(name) for name in target.models} != {n: t.columns for n, t in tables.items()}:
            raise archives.damage_error(reader.path, f"its tables are not those of {reader.manifest.migration}")
        try:
            for name in target.models:
                target.fill(name, reader.lines(f"{_TABLES}/{name}.jsonl"), source=reader.path)
            target.continue_numbering()
            stored = target.digest_tables()
        except (UnicodeError, OverflowError) as fault:
            # Numbers and dates beyond what databases hold, and halves of characters: no database had such rows.
            raise archives.damage_error(
                reader.path, f"a row has a value that no database holds: {shown(fault, 100)}"
            ) from fault
        for table in stored:
            if table != (saved := tables[table.name]):
                what = f"{table.rows} rows of '{table.name}' are not the {saved.rows} that were saved"
                raise archives.damage_error(reader.path, what)
        if database is not None:
            write_database_note(campaign_file, database)
    if database is None:
        file.chmod(0o600)


def _choose_place(folder: Path) -> Path:
    """Choose where to unpack: beside the new folder, or inside one that exists, which may be all that is writable."""
    folder = folder.absolute()
    if not folder.exists():
        return folder
    place = folder / folder.name
    if not folder.is_dir() or any(not archives.is_working_folder(path, place) for path in folder.iterdir()):
        raise InputError("is not empty, and nothing is overwritten; name an empty or new folder", file=folder)
    return place


def _move_into_place(restored: Path, folder: Path, *, last: str) -> None:
    """Give the folder its name, or fill one that exists; without the campaign file, the last, there is no campaign."""
    folder = folder.absolute()
    try:
        # The files are all there, by name, before a campaign file says that there is a campaign.
        for changed in (*(path for path in restored.rglob("*") if path.is_dir()), restored):
            sync_folder(changed)
        if restored.parent.parent == folder:
            # It may be the folder that the user is in, or a file system of its own; neither can be replaced.
            final = restored / Path(last).parts[0]
            for path in restored.iterdir():
                if path != final:
                    path.rename(folder / path.name)
            sync_folder(folder)
            final.rename(folder / final.name)
        else:
            restored.chmod(0o777 & ~umask())
            restored.rename(folder)
        sync_folder(folder)
        sync_folder(folder.parent)
    except OSError as fault:
        raise InputError(f"cannot be made ({fault.strerror}); choose another folder", file=folder) from fault


# The same campaign in another database: copied, compared row by row, and only then switched over.

_FIRST_WITH_PROCESSES = "0005_processes"


def move(campaign_file: Path, to: str, *, database: str | None = None) -> Moved:
    """Copy a campaign that is not being served into another, empty database, and use that from now on.

    Args:
        campaign_file: the campaign.
        to: the address of a PostgreSQL database, or a new SQLite file.
        database: its present database; default: the one that it is served from.
    """
    load_campaign(campaign_file)
    source, _ = locate_database(campaign_file, database, ", so there is nothing to move")
    target, beside = _parse_target(to), database_file(campaign_file)
    if is_same_database(source, target, beside):
        raise UsageError(
            f"{param('to')} is {show_database(target, Path())}, where the campaign is already; name another database"
        )
    where = show_database(source, beside)
    with archives.open_database(source, beside) as connection:
        if archives.read_migration(connection, where) < _FIRST_WITH_PROCESSES:
            raise InputError(
                "is of an earlier version; start and stop adjudge serve once, which upgrades it", file=where
            )
        from adjudge.server.processes import lock_for_move

        with lock_for_move(connection.alias, lambda: archives.open_database(source, beside)):
            fingerprint, copied = _copy(campaign_file, source, target)
            write_database_note(campaign_file, _choose_note(campaign_file, target))
    note_file = database_note_file(campaign_file)
    notes = [f"the former database is unchanged ({where}); delete it when all is well"]
    if note_file.exists():
        notes.append(f"{note_file} says where the database is now; copy it to all hosts that serve")
    if database is not None:
        notes.append("leave --database out from now on (and ADJUDGE_DATABASE unset)")
    kinds = ["postgresql" if is_postgres(place) else "sqlite" for place in (source, target)]
    return Moved(
        settings={"from": kinds[0], "to": kinds[1]},
        data=fingerprint,
        campaign_file=str(campaign_file),
        source=where,
        target=show_database(target, Path()),
        copied=list_copied(copied),
        notes=tuple(notes),
    )


def _parse_target(to: str) -> str:
    """The address of the target; SQLite files as `sqlite:/path`."""
    if is_postgres(to):
        return to
    if "://" in to and not to.startswith("sqlite://"):
        raise UsageError(
            f"{param('to')} '{to.partition('://')[0]}://…' is of no known kind; give postgres://… or a file.sqlite3"
        )
    file = (sqlite_file(to, Path()) if to.startswith("sqlite:") else None) or Path(to)
    if file.suffix != ".sqlite3":
        # With an @, it may be an address without its beginning, and hold a password.
        given = "the address given" if "@" in to else f"'{file}'"
        raise UsageError(
            f"{param('to')}: {given} is neither postgres://user@host/name nor a file that ends in .sqlite3"
        )
    return f"sqlite:{quote(str(file.absolute()))}"


def _copy(campaign_file: Path, source: str | None, target: str) -> tuple[str, list[archives.TableEntry]]:
    """Copy all tables and compare them; returns the fingerprint of the tasks, and what was copied."""
    file = sqlite_file(target, Path())
    beside = file if file is not None else campaign_file.absolute()
    for part in () if file is None else (file, file.with_name(file.name + "-wal")):
        if part.exists():
            raise InputError("is there already, and is not overwritten; name a new file", file=part)
    with archives.working_folder(beside) as working:
        new_file = working / "new.sqlite3"
        with (
            archives.read_snapshot(source, database_file(campaign_file), working) as snapshot,
            archives.create_database(None if file is not None else target, new_file, snapshot.migration) as new,
        ):
            fingerprint: str = snapshot.campaign(campaign_file).fingerprint
            copied = _copy_rows(snapshot, new, show_database(target, Path()))
        if file is not None:
            # It gets its name now, unless there is one of that name. SQLite synced it when the connection was closed.
            try:
                new_file.chmod(0o600)
                os.link(new_file, file)
                sync_folder(file.parent)
            except OSError as fault:
                raise InputError(f"cannot be made ({fault.strerror}); name another file", file=file) from fault
    return fingerprint, copied


def _copy_rows(snapshot: archives.Snapshot, target: archives.Snapshot, shown_name: str) -> list[archives.TableEntry]:
    """Copy the rows of all tables, and compare what the target then holds."""
    for name in snapshot.models:
        target.fill(name, snapshot.lines(name), source=shown_name)
    target.continue_numbering()
    before, after = snapshot.digest_tables(), target.digest_tables()
    for former, new in zip(before, after, strict=True):
        if former != new:
            raise DataError(
                f"the table '{former.name}' came out differently in {shown_name} ({new.rows} of {former.rows} rows); "
                "the campaign stays where it is"
            )
    return before


def _choose_note(campaign_file: Path, target: str) -> str | None:
    """How the target is noted: not at all where the database is expected anyway, by name alone beside the campaign."""
    file = sqlite_file(target, Path())
    if file is None:
        return target
    if file.resolve() == database_file(campaign_file).resolve():
        return None
    beside = file.resolve().parent == campaign_file.resolve().parent
    return f"sqlite:{quote(file.name)}" if beside else target
