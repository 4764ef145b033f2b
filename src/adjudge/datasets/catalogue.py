"""The catalogue of public data sets: what is known of each, and which are on this machine.

Data sets are looked for in `ADJUDGE_DATA` and in the cache of the user. The entries stand in `catalogue.toml`. The
results of listing and fetching data sets are defined here too.
"""

from __future__ import annotations

import json
import os
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adjudge.table.errors import unknown_choice
from adjudge.table.files import exists
from adjudge.table.results import Result, Table, text, to_plain

if TYPE_CHECKING:
    from collections.abc import Sequence

UNKNOWN = "not known"


@dataclass(frozen=True)
class DataFile:
    """One file of a set. Size and checksum are given only where they were computed from its content."""

    path: str
    url: str
    mirrors: tuple[str, ...] = ()
    bytes: int | None = None
    sha256: str | None = None
    unpack: bool = False
    """An archive, whose content is put in its place."""
    inside: str = ""
    """Of an archive: the folder to keep."""


@dataclass(frozen=True)
class DataSet:
    """A released data set: what it holds, how to read it, where it comes from."""

    name: str
    holds: str
    format: str
    command: str
    cite: str
    page: str
    files: tuple[DataFile, ...]
    licence: str | None = None
    note: str | None = None
    found_in: str | None = None
    probe: str | None = None
    read: tuple[str, ...] = ()
    """The files of judgments; the whole folder where none is named."""
    published: str | None = None
    """The file with the published ranking, where the set has it."""
    rule: str | None = None
    """The ranking method of the publication."""

    @property
    def size(self) -> int | None:
        """Bytes to fetch, where all are known."""
        sizes = [file.bytes for file in self.files]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    def command_in(self, folder: str) -> str:
        """The command to try, on the folder where the set lies."""
        return self.command.format(folder=folder)


@dataclass(frozen=True)
class Listed:
    """A data set and the folder where it was found, if it was."""

    dataset: DataSet
    folder: str | None
    location: str
    """Where it is, or would be put."""

    @property
    def command(self) -> str:
        """The command to try, as it can be typed."""
        return self.dataset.command_in(self.location)

    def to_dict(self) -> dict[str, Any]:
        """One object per set, with the command as it can be typed."""
        known: dict[str, Any] = to_plain(self.dataset)
        return {**known, "size": self.dataset.size, "folder": self.folder, "command": self.command}


@dataclass(frozen=True, kw_only=True)
class DataSets(Result):
    """The known data sets, and which of them are downloaded."""

    verb: ClassVar[str] = "data list"

    folder: str
    sets: tuple[Listed, ...]
    details: bool = False

    def tables(self) -> tuple[Table, ...]:
        """One line per set; where single sets were asked for, all that is known of each."""
        return tuple(_make_details(entry) for entry in self.sets) if self.details else (self._overview(),)

    def to_dict(self) -> dict[str, Any]:
        """All that is known, whatever is shown."""
        plain = super().to_dict()
        del plain["details"]
        return plain

    def _overview(self) -> Table:
        columns = (text("name"), text("contents"), text("format"), text("size"), text("downloaded to"))
        rows = tuple(
            (known.name, known.holds, known.format, show_size(known.size), folder or "–")
            for known, folder in ((entry.dataset, entry.folder) for entry in self.sets)
        )
        note = f"'adjudge data list NAME' shows details; 'adjudge data get NAME' downloads it to {self.folder}."
        return Table("Public data sets", columns, rows, note)


def _make_details(entry: Listed) -> Table:
    dataset = entry.dataset
    checked = sum(file.sha256 is not None for file in dataset.files)
    rows = (
        ("contents", dataset.holds),
        ("format", dataset.format),
        ("size", show_size(dataset.size)),
        ("licence", dataset.licence or f"{UNKNOWN}; see the page"),
        ("cite", dataset.cite),
        ("page", dataset.page),
        ("files", ", ".join(file.path for file in dataset.files)),
        ("checksums", f"recorded for {checked} of {len(dataset.files)} files"),
        ("note", dataset.note),
        ("downloaded to", entry.folder or f"not downloaded; use: adjudge data get {dataset.name}"),
        ("try", entry.command),
    )
    return Table(dataset.name, (text(""), text("")), tuple((name, value) for name, value in rows if value is not None))


@dataclass(frozen=True)
class FetchedFile:
    """A file that was fetched: what it is, and whether a recorded checksum confirmed it."""

    path: str
    source: str
    bytes: int
    sha256: str
    confirmed: bool
    fresh: bool = True
    """False where the file was there already."""


@dataclass(frozen=True, kw_only=True)
class Fetched(Result):
    """What was fetched, and how to go on."""

    verb: ClassVar[str] = "data get"

    name: str
    folder: str
    files: Sequence[FetchedFile]
    command: str

    def tables(self) -> tuple[Table, ...]:
        """One line per file."""
        columns = (text("file"), text("size"), text("SHA-256"), text("checksum"), text(""))
        rows = tuple(
            (
                file.path,
                show_size(file.bytes),
                file.sha256,
                "confirmed" if file.confirmed else "none recorded: computed and shown",
                "fetched" if file.fresh else "was there",
            )
            for file in self.files
        )
        return (Table(f"{self.name} in {self.folder}", columns, rows, note=f"Try: {self.command}"),)


def show_size(size: int | None) -> str:
    """A number of bytes as people say it."""
    if size is None:
        return UNKNOWN
    for unit, step in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= step:
            return f"{size / step:.1f} {unit}"
    return f"{size} bytes"


@cache
def catalogue() -> dict[str, DataSet]:
    """Every data set by its name, in the order of the file."""
    text = (files("adjudge.datasets") / "catalogue.toml").read_text(encoding="utf-8")
    known: dict[str, DataSet] = {}
    for entry in tomllib.loads(text)["set"]:
        given = [DataFile(**{**file, "mirrors": tuple(file.get("mirrors", ()))}) for file in entry["file"]]
        about = {key: value for key, value in entry.items() if key != "file"}
        known[entry["name"]] = DataSet(**about, files=tuple(given))
    return known


def find_set(name: str) -> DataSet:
    """The data set of this name."""
    known = catalogue()
    if name not in known:
        raise unknown_choice("data set", name, known)
    return known[name]


RECORD = ".adjudge-data.json"
"""Written into the folder of a set when all of its files are there."""


def data_folder() -> Path:
    """The folder of released data: ADJUDGE_DATA, or `adjudge/data` in the user's cache."""
    given = os.environ.get("ADJUDGE_DATA")
    if given:
        return Path(given)
    # The standard for folders (XDG) says that a path that is not absolute is to be ignored.
    cache = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(cache) if Path(cache).is_absolute() else Path.home() / ".cache") / "adjudge" / "data"


def find_folder(dataset: DataSet, folder: Path) -> Path | None:
    """The folder that holds the set: one that was fetched, or one of a collection that has it under another name."""
    if exists(folder / dataset.name / RECORD):
        return folder / dataset.name
    if dataset.found_in and dataset.probe and exists(folder / dataset.found_in / dataset.probe):
        return folder / dataset.found_in
    return None


def list_sets(sets: Sequence[DataSet], *, details: bool = False) -> DataSets:
    """The data sets, each with the folder to which it was downloaded."""
    folder = data_folder()
    listed = tuple(
        Listed(dataset, None if location is None else str(location), str(location or folder / dataset.name))
        for dataset, location in ((dataset, find_folder(dataset, folder)) for dataset in sets)
    )
    settings = {"folder": str(folder)}
    return DataSets(settings=settings, data=f"{len(sets)} sets", folder=str(folder), sets=listed, details=details)


def read_record(folder: Path) -> dict[str, dict[str, str]]:
    """What was fetched into the folder before: by path, the source and checksum; nothing where that cannot be read."""
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        return {str(path): dict(known) for path, known in record["files"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
