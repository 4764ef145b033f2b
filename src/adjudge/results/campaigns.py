"""Results of the commands for the daily work with a campaign: `init`, `backup`, `restore`, `move`, `extend`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from adjudge.results.result import Result
from adjudge.results.table import Table, text


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
