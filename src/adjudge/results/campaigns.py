"""Results of the commands for the daily work with a campaign: `init`, `backup`, `restore`, `move`, `extend`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from adjudge.core.wording import counted
from adjudge.results.result import Result
from adjudge.results.table import Table, number, text


@dataclass(frozen=True)
class NewFile:
    """A file of a new campaign: its name in the folder, and what it is."""

    file: str
    what: str
    written: bool = True
    """False for a text that was in the folder before."""


@dataclass(frozen=True, kw_only=True)
class Initialised(Result):
    """A new campaign folder. `next` are the commands that come next."""

    verb: ClassVar[str] = "init"

    campaign: str
    protocol: str
    pair: str
    folder: str
    campaign_file: str
    files: tuple[NewFile, ...]
    systems: tuple[str, ...]
    segments: int
    tasks: int
    annotators: int
    example: bool
    """Whether the texts are made-up examples."""
    next: tuple[str, ...]

    def tables(self) -> tuple[Table, ...]:
        """The files."""
        rows = tuple((file.file, file.what) for file in self.files)
        return (Table(f"New campaign in {self.folder}", (text("file"), text("what it is")), rows),)


@dataclass(frozen=True)
class CopiedTable:
    """A table of the database that was copied: its rows, and what identifies them all."""

    table: str
    rows: int
    digest: str


def _table_of_rows(title: str, tables: tuple[CopiedTable, ...], note: str = "") -> Table:
    rows = tuple((table.table, table.rows, table.digest[:12]) for table in tables)
    return Table(title, (text("table"), number("rows", 0), text("digest")), rows, note)


@dataclass(frozen=True, kw_only=True)
class BackedUp(Result):
    """What a backup holds."""

    verb: ClassVar[str] = "backup"

    campaign: str
    archive: str
    bytes: int
    made: str
    files: tuple[str, ...]
    copied: tuple[CopiedTable, ...]

    def tables(self) -> tuple[Table, ...]:
        """The tables, and how many files are beside them."""
        held = f"{counted(len(self.files), 'file')} besides; {self.bytes / 1e6:,.1f} MB"
        return (_table_of_rows(f"Backup of {self.campaign} in {self.archive}", self.copied, held),)


@dataclass(frozen=True, kw_only=True)
class Restored(Result):
    """What was restored, every row of it read back and compared with the backup."""

    verb: ClassVar[str] = "restore"

    campaign: str
    folder: str
    campaign_file: str
    database: str
    made: str
    files: tuple[str, ...]
    copied: tuple[CopiedTable, ...]

    def tables(self) -> tuple[Table, ...]:
        """The tables, and where they are."""
        held = f"as of {self.made}; {counted(len(self.files), 'file')} besides; the database is {self.database}"
        return (_table_of_rows(f"{self.campaign} restored in {self.folder}", self.copied, held),)


@dataclass(frozen=True, kw_only=True)
class Moved(Result):
    """A campaign that has another database now, whose rows were compared with the former one's."""

    verb: ClassVar[str] = "move"

    campaign_file: str
    source: str
    target: str
    copied: tuple[CopiedTable, ...]

    def tables(self) -> tuple[Table, ...]:
        """The tables."""
        return (_table_of_rows(f"Moved to {self.target}", self.copied, "the same rows in both databases"),)
