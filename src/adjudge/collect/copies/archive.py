"""The archive of a backup: a zip file with a manifest that names every entry, its size and its checksum.

Reading trusts nothing: entries must be exactly those of the manifest, their names must stay inside a folder, and what
they unpack to is bounded before anything is unpacked. Whatever is wrong is one sentence.
"""

from __future__ import annotations

import hashlib
import json
import struct
import time
import zipfile
import zlib
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Annotated, BinaryIO, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from adjudge.core.errors import InputError, shown
from adjudge.design.campaign.parts import is_one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from types import TracebackType

FORMAT = "adjudge-backup"
SCHEMA = 1
MANIFEST = "manifest.json"
MOST_ENTRIES = 20_000
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
    """A table: its columns, rows and digest, as `snapshot.py` computes it."""

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
        info.compress_type = zipfile.ZIP_DEFLATED
        with self._zip.open(info, "w", force_zip64=True) as entry:
            for piece in pieces:
                entry.write(piece)
                size += len(piece)
                digest.update(piece)
        self._entries.append(Entry(name=name, size=size, sha256=digest.hexdigest(), secret=secret))

    def finish(self, about: About, tables: list[TableEntry]) -> None:
        """Write the manifest, without which there is no backup."""
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

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
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
        for info in infos:
            if info.filename != MANIFEST:
                check_name(path, info.filename)
                if info.file_size != named[info.filename].size:
                    raise damage_error(path, f"'{shown(info.filename)}' has another size than its manifest says")
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
