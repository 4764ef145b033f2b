"""Results of the commands for the daily work with a campaign.

`init`, `backup`, `restore`, `move`, `extend`, `verify`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from adjudge.table.results import Column, Result, Table, number, tabulate, text
from adjudge.table.wording import counted, short_list

if TYPE_CHECKING:
    from collections.abc import Mapping


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
        columns = {"file": text("file"), "what": text("what it is")}
        return (tabulate(f"New campaign in {self.folder}", self.files, columns),)


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


@dataclass(frozen=True)
class ExtendedSystem:
    """How often a system is judged, and on how many segments, before and after an extension."""

    system: str
    human: bool
    judgments_before: int
    judgments: int
    segments_before: int
    segments: int


@dataclass(frozen=True)
class ExtendedMeetings:
    """How often two systems meet in the same task or screen: least, most and coefficient of variation."""

    where: str
    least_before: int
    most_before: int
    cv_before: float | None
    least: int
    most: int
    cv: float | None


@dataclass(frozen=True)
class GivenLink:
    """The personal link of a new annotator, which cannot be shown again."""

    name: str
    link: str


def _before_and_after(name: str) -> dict[str, Column]:
    return {f"{name}_before": number(f"{name} before", 0), name: number(f"{name} after", 0)}


@dataclass(frozen=True, kw_only=True)
class Extended(Result):
    """What was added to a campaign, or would be (`dry_run`), and its balance before and after."""

    verb: ClassVar[str] = "extend"

    campaign: str
    dry_run: bool
    tasks_before: int
    tasks_added: tuple[str, ...]
    judgments_before: int
    judgments_added: int
    controls_added: int
    annotators: tuple[str, ...]
    new_systems: tuple[str, ...]
    new_segments: int
    systems: tuple[ExtendedSystem, ...]
    meetings: tuple[ExtendedMeetings, ...]
    links: tuple[GivenLink, ...]

    def tables(self) -> tuple[Table, ...]:
        """What is added, and the balance before and after."""
        return (self._added(), self._systems(), *([self._meetings()] if self.meetings else []))

    def _added(self) -> Table:
        ids = " to ".join(dict.fromkeys((*self.tasks_added[:1], *self.tasks_added[-1:])))
        rows = (
            ("tasks", self.tasks_before, len(self.tasks_added), ids),
            ("judgments (all people together)", self.judgments_before, self.judgments_added, ""),
            ("answers to controls besides", None, self.controls_added, ""),
            ("annotators", None, len(self.annotators), short_list(self.annotators) if self.annotators else ""),
            ("systems", None, len(self.new_systems), short_list(self.new_systems) if self.new_systems else ""),
            ("segments", None, self.new_segments, ""),
        )
        title = f"{'Would be added' if self.dry_run else 'Added'} to {self.campaign}"
        return Table(title, (text("what"), number("before", 0), number("added", 0), text("which")), rows)

    def _systems(self) -> Table:
        columns = {"system": text("system"), **_before_and_after("judgments"), **_before_and_after("segments")}
        return tabulate("Systems", self.systems, columns)

    def _meetings(self) -> Table:
        columns = {
            "where": text("two systems meet in the same"),
            "least_before": number("least before", 0),
            "most_before": number("most before", 0),
            "cv_before": number("cv before"),
            "least": number("least after", 0),
            "most": number("most after", 0),
            "cv": number("cv after"),
        }
        return tabulate("Who meets whom", self.meetings, columns)


@dataclass(frozen=True, kw_only=True)
class Verified(Result):
    """Whether the log of a campaign is whole, and all else follows from it."""

    verb: ClassVar[str] = "verify"

    campaign: str
    checked: Mapping[str, int]
    """How many saves, draws, looks, exclusions, screens and entries of the log were checked."""
    faults: tuple[str, ...]
    """What was changed, removed or reordered; nothing if all is well."""

    @property
    def failed(self) -> bool:
        """Whether there is any fault."""
        return bool(self.faults)

    def tables(self) -> tuple[Table, ...]:
        """The faults, and what was checked."""
        note = f"{counted(len(self.faults), 'fault')} found." if self.faults else "Nothing was changed or removed."
        rows = tuple(self.checked.items())
        checked = Table(f"Log of {self.campaign}", (text("checked"), number("count", 0)), rows, note)
        faults = Table("Faults", (text("fault"),), tuple((fault,) for fault in self.faults))
        return (faults, checked) if self.faults else (checked,)


@dataclass(frozen=True, kw_only=True)
class Erased(Result):
    """A person who was erased from a campaign."""

    verb: ClassVar[str] = "erase"

    campaign: str
    number: int
    """What stands for the person now."""
    saves_removed: int
    """How many saves went; none if the judgments were kept."""

    def tables(self) -> tuple[Table, ...]:
        """What is left of the person."""
        rows = (("number", str(self.number)), ("saves removed", f"{self.saves_removed:,}"))
        return (Table(f"Erased from {self.campaign}", (text("what"), text("value")), rows),)


@dataclass(frozen=True, kw_only=True)
class Archived(Result):
    """Pages that show what annotators saw and did."""

    verb: ClassVar[str] = "archive"

    campaign: str
    folder: str
    pages: int
    """One per person and task."""
    people: int
    rows: int
    """Rows of the judgment table beside the pages."""

    def tables(self) -> tuple[Table, ...]:
        """What was written."""
        rows = tuple((name, getattr(self, name)) for name in ("pages", "people", "rows"))
        note = f"Open {self.folder}/index.html in a browser."
        return (Table(f"Archive of {self.campaign}", (text("what"), number("count", 0)), rows, note),)
