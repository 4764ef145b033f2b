"""The same campaign in another database: copied, compared row by row, and only then switched over."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from adjudge.collect.copies.backup import list_copied
from adjudge.collect.copies.snapshot import Snapshot, create_database, open_database, read_migration, read_snapshot
from adjudge.collect.copies.working_folder import working_folder
from adjudge.collect.database import (
    choose_database,
    database_note_file,
    is_postgres,
    is_same_database,
    show_database,
    sqlite_file,
    write_database_note,
)
from adjudge.collect.django_settings import database_file
from adjudge.core.errors import DataError, InputError, UsageError
from adjudge.design.campaign.toml_file import load_campaign
from adjudge.results.campaigns import Moved

if TYPE_CHECKING:
    from adjudge.collect.copies.archive import TableEntry

_FIRST_WITH_PROCESSES = "0005_processes"


def move(campaign_file: Path, to: str, *, database: str | None = None) -> Moved:
    """Copy a campaign that is not being served into another, empty database, and use that from now on.

    Args:
        campaign_file: the campaign.
        to: the address of a PostgreSQL database, or a new SQLite file.
        database: its present database; default: the one that it is served from.
    """
    load_campaign(campaign_file)
    source = choose_database(campaign_file, database)
    embedded = sqlite_file(source, database_file(campaign_file))
    if embedded is not None and not embedded.is_file():
        raise InputError("has not been served yet, so there is nothing to move", file=campaign_file)
    target = _parse_target(to)
    if is_same_database(source, target, database_file(campaign_file)):
        raise UsageError(f"--to is {_shown(target)}, where the campaign is already; name another database")
    with open_database(source, database_file(campaign_file)) as connection:
        where = show_database(source, database_file(campaign_file))
        if read_migration(connection, where) < _FIRST_WITH_PROCESSES:
            raise InputError(
                "is of an earlier version; start and stop adjudge serve once, which upgrades it", file=where
            )
        from adjudge.collect.running import lock_for_move

        with lock_for_move(connection.alias, lambda: open_database(source, database_file(campaign_file))):
            copied = _copy(campaign_file, source, target)
            write_database_note(campaign_file, _choose_note(campaign_file, target))
    return Moved(
        settings={"from": _kind(source), "to": _kind(target)},
        data=copied[0],
        campaign_file=str(campaign_file),
        source=show_database(source, database_file(campaign_file)),
        target=_shown(target),
        copied=list_copied(copied[1]),
        notes=_notes(campaign_file, source, database),
    )


def _kind(database: str | None) -> str:
    return "postgresql" if is_postgres(database) else "sqlite"


def _shown(target: str) -> str:
    return show_database(target, Path())


def _parse_target(to: str) -> str:
    """The address of the target; SQLite files as `sqlite:/path`."""
    if is_postgres(to):
        return to
    if "://" in to and not to.startswith("sqlite://"):
        raise UsageError(
            f"--to '{to.partition('://')[0]}://…' is of no known kind; give postgres://… or a file.sqlite3"
        )
    file = (sqlite_file(to, Path()) if to.startswith("sqlite:") else None) or Path(to)
    if file.suffix != ".sqlite3":
        # With an @, it may be an address without its beginning, and hold a password.
        given = "the address given" if "@" in to else f"'{file}'"
        raise UsageError(f"--to: {given} is neither postgres://user@host/name nor a file that ends in .sqlite3")
    return f"sqlite:{quote(str(file.absolute()))}"


def _copy(campaign_file: Path, source: str | None, target: str) -> tuple[str, list[TableEntry]]:
    """Copy all tables and compare them; returns the fingerprint of the tasks, and what was copied."""
    file = sqlite_file(target, Path())
    beside = file if file is not None else campaign_file.absolute()
    for part in () if file is None else (file, file.with_name(file.name + "-wal")):
        if part.exists():
            raise InputError("is there already, and is not overwritten; name a new file", file=part)
    with working_folder(beside) as working:
        new_file = working / "new.sqlite3"
        with (
            read_snapshot(source, database_file(campaign_file), working) as snapshot,
            create_database(None if file is not None else target, new_file, snapshot.migration) as new,
        ):
            fingerprint: str = snapshot.campaign(campaign_file).fingerprint
            copied = _copy_rows(snapshot, new, _shown(target))
        if file is not None:
            _publish(new_file, file)
    return fingerprint, copied


def _copy_rows(snapshot: Snapshot, target: Snapshot, shown_name: str) -> list[TableEntry]:
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


def _publish(new_file: Path, file: Path) -> None:
    """Give a new database its name, unless there is one of that name by now."""
    try:
        new_file.chmod(0o600)
        with new_file.open("rb") as written:
            os.fsync(written.fileno())
        os.link(new_file, file)
    except OSError as fault:
        raise InputError(f"cannot be made ({fault.strerror}); name another file", file=file) from fault


def _choose_note(campaign_file: Path, target: str) -> str | None:
    """How the target is noted: not at all where the database is expected anyway, by name alone beside the campaign."""
    file = sqlite_file(target, Path())
    if file is None:
        return target
    if file.resolve() == database_file(campaign_file).resolve():
        return None
    beside = file.resolve().parent == campaign_file.resolve().parent
    return f"sqlite:{quote(file.name)}" if beside else target


def _notes(campaign_file: Path, source: str | None, given: str | None) -> tuple[str, ...]:
    former = show_database(source, database_file(campaign_file))
    notes = [f"the former database is unchanged ({former}); delete it when all is well"]
    if database_note_file(campaign_file).exists():
        notes.append(
            f"{database_note_file(campaign_file)} says where the database is now; copy it to all hosts that serve"
        )
    if given is not None:
        notes.append("leave --database out from now on (and ADJUDGE_DATABASE unset)")
    return tuple(notes)
