"""What a program puts on the disk, and in which order: all that is left after a power cut."""

from __future__ import annotations

import ctypes
import os
import random
import sqlite3
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pytest

State = dict[str, bytes]
"""The files below a folder, by their path in it, with their content."""


Written = tuple[int, bytes | None]
"""Bytes that were written at a place of a file; None where the file was cut there."""


class Disk:
    """Records every sync of a file, with its size at that moment, every sync of a folder, and every rename.

    With `root`, it also keeps what each power cut would leave below that folder. A file has the content of its last
    sync, and nothing if it was never synced. Names that were not synced may be lost or kept, so there are two
    states: one with the names of the last sync of each folder, one with all names there are.

    SQLite writes outside of Python. With `watch_sqlite` its writes and syncs are recorded in the library itself; then
    there are two states more at each cut: one in which the disk has all that was written since the last sync, and one
    in which it has part of it, in any order.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, root: Path | None = None) -> None:
        self.events: list[tuple[str, Path, int]] = []
        self.cuts: list[State] = []
        self._root = root
        self._contents: dict[int, bytes] = {}
        self._names: dict[int, dict[str, int]] = {}
        self._folders: set[int] = set()
        self._pending: dict[int, list[Written]] = {}
        self._chance = random.Random(1)
        self._removed = 0
        # Threads write at once, and what is kept must be of one moment.
        self._one_at_a_time = threading.RLock()
        if root is not None:
            for folder in [root, *(path for path in root.rglob("*") if path.is_dir())]:
                self._keep_names(folder)
            self._contents = {path.stat().st_ino: path.read_bytes() for path in root.rglob("*") if path.is_file()}
        for name in ("fsync", "replace", "rename", "link", "unlink", "rmdir"):
            monkeypatch.setattr(os, name, self._record(getattr(os, name)))

    def watch_sqlite(self) -> None:
        """Record what SQLite writes and syncs in this process, to databases opened from now on; it is never undone."""
        watch_sqlite(self._sqlite_wrote, self._sqlite_synced, self._keep_names)

    def _sqlite_wrote(self, number: int, written: Written) -> None:
        with self._one_at_a_time:
            self._pending.setdefault(number, []).append(written)

    def _sqlite_synced(self, number: int) -> None:
        with self._one_at_a_time:
            self._cut()
            self._contents[number] = _apply(self._contents.get(number, b""), self._pending.pop(number, ()))
            self._cut()

    def _left(self, number: int, share: float) -> bytes:
        """What is left of a file if that share of what was written since its last sync had reached the disk."""
        written = [each for each in self._pending.get(number, ()) if self._chance.random() < share]
        return _apply(self._contents.get(number, b""), written)

    def _record(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def recorded(*args: Any, **keywords: Any) -> Any:
            with self._one_at_a_time:
                self._cut()
                size = os.stat(args[0]).st_size if call.__name__ in ("replace", "rename") else 0  # noqa: PTH116
                if call.__name__ in ("unlink", "rmdir"):
                    self._renumber(os.stat(args[0], dir_fd=keywords.get("dir_fd"), follow_symlinks=False))
                answer = call(*args, **keywords)
                if call.__name__ == "fsync":
                    self._sync(args[0])
                elif call.__name__ in ("replace", "rename"):
                    self.events.append(("rename", Path(args[1]), size))
                self._cut()
            return answer

        return recorded

    def _renumber(self, gone: os.stat_result) -> None:
        """Keep what is being removed, which a cut may bring back, under another number: a new file may get its own."""
        if gone.st_nlink > 1 and not stat.S_ISDIR(gone.st_mode):
            return
        before, self._removed = gone.st_ino, self._removed - 1
        for names in self._names.values():
            names.update({name: self._removed for name, number in names.items() if number == before})
        kept: tuple[dict[int, Any], ...] = (self._contents, self._names)
        for each in kept:
            if before in each:
                each[self._removed] = each.pop(before)
        self._pending.pop(before, None)
        if before in self._folders:
            self._folders.remove(before)
            self._folders.add(self._removed)

    def _sync(self, file: int) -> None:
        path = Path(f"/proc/self/fd/{file}").readlink()
        self.events.append(("folder", path, 0) if path.is_dir() else ("file", path, os.fstat(file).st_size))
        if self._root is None:
            return
        if path.is_dir():
            self._keep_names(path)
        else:
            self._contents[os.fstat(file).st_ino] = path.read_bytes()
            self._pending.pop(os.fstat(file).st_ino, None)

    def _cut(self) -> None:
        if self._root is not None:
            root = self._root
            now = {str(path.relative_to(root)): path.stat().st_ino for path in root.rglob("*") if path.is_file()}
            for names in (dict(self._synced(root.stat().st_ino)), now):
                self.cuts.append({name: self._contents.get(number, b"") for name, number in names.items()})
            for share in (1, 0.5) if self._pending else ():
                self.cuts.append({name: self._left(number, share) for name, number in now.items()})

    def _synced(self, folder: int, before: str = "") -> Iterator[tuple[str, int]]:
        """The files below a folder whose names, and those of the folders above them, were synced."""
        for name, number in self._names.get(folder, {}).items():
            if number in self._folders:
                yield from self._synced(number, f"{before}{name}/")
            else:
                yield before + name, number

    def _keep_names(self, folder: Path) -> None:
        self._names[folder.stat().st_ino] = {path.name: path.stat().st_ino for path in folder.iterdir()}
        self._folders |= {path.stat().st_ino for path in folder.iterdir() if path.is_dir()}

    def kinds(self) -> list[str]:
        return [kind for kind, *_ in self.events]

    def holds(self, file: Path) -> bool:
        """Whether all of a file, and its name, would be there after a power cut."""
        synced = [size for kind, path, size in self.events if kind == "file" and path == file.resolve()]
        named = any(kind == "folder" and path == file.resolve().parent for kind, path, _ in self.events)
        return named and bool(synced) and synced[-1] == file.stat().st_size


def _apply(content: bytes, written: Iterable[Written]) -> bytes:
    changed = bytearray(content)
    for place, data in written:
        if data is None:
            del changed[place:]
            continue
        changed.extend(bytes(max(0, place - len(changed))))
        changed[place : place + len(data)] = data
    return bytes(changed)


# SQLite reaches files through a table of functions (its VFS) and one per file; some of these are replaced by others
# that tell of the call and pass it on. The layouts are those of sqlite3.h, which promises them.

_Address = ctypes.c_void_p
_OPEN = ctypes.CFUNCTYPE(ctypes.c_int, _Address, _Address, _Address, ctypes.c_int, _Address)
_WRITE = ctypes.CFUNCTYPE(ctypes.c_int, _Address, _Address, ctypes.c_int, ctypes.c_int64)
_TRUNCATE = ctypes.CFUNCTYPE(ctypes.c_int, _Address, ctypes.c_int64)
_SYNC = ctypes.CFUNCTYPE(ctypes.c_int, _Address, ctypes.c_int)
_FOLDER = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, _Address)
_SET_CALL = ctypes.CFUNCTYPE(ctypes.c_int, _Address, ctypes.c_char_p, _Address)
_GET_CALL = ctypes.CFUNCTYPE(_Address, _Address, ctypes.c_char_p)
_FUNCTIONS_OF_FILE = 19
_WRITE_PLACE, _TRUNCATE_PLACE, _SYNC_PLACE = 3, 4, 5
_KEPT: list[object] = []
"""What the library points to, so that Python does not throw it away."""


class _Vfs(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_int), ("file_size", ctypes.c_int), ("longest_path", ctypes.c_int), ("next", _Address),
        ("name", ctypes.c_char_p), ("data", _Address), ("open", _Address),
        ("others", _Address * 11), ("time", _Address), ("set_call", _Address), ("get_call", _Address),
    )  # fmt: skip


def sqlite_library() -> ctypes.CDLL | None:
    """The library that Python's sqlite3 has loaded; None where it is a part of Python that hides its functions."""
    assert sqlite3.sqlite_version
    lines = Path("/proc/self/maps").read_text().splitlines()
    for path in dict.fromkeys(line.split()[-1] for line in lines if "sqlite3" in line and "/" in line):
        library = ctypes.CDLL(path)
        if hasattr(library, "sqlite3_vfs_find"):
            library.sqlite3_vfs_find.restype = ctypes.POINTER(_Vfs)
            return library
    return None


def watch_sqlite(
    wrote: Callable[[int, Written], None], synced: Callable[[int], None], folder_synced: Callable[[Path], None]
) -> None:
    """Tell of each write and sync of a file, by its inode, and of each folder that SQLite syncs."""
    library = sqlite_library()
    assert library is not None
    vfs = library.sqlite3_vfs_find(None).contents
    open_file = _OPEN(vfs.open)
    inodes: dict[int, int] = {}
    tables: dict[int, ctypes.Array[_Address]] = {}

    def watched_table(table: int) -> ctypes.Array[_Address]:
        functions = (_Address * _FUNCTIONS_OF_FILE).from_address(table)
        write, cut = _WRITE(functions[_WRITE_PLACE] or 0), _TRUNCATE(functions[_TRUNCATE_PLACE] or 0)
        sync = _SYNC(functions[_SYNC_PLACE] or 0)

        def write_and_tell(file: int, data: int, size: int, place: int) -> int:
            wrote(inodes[file], (place, ctypes.string_at(data, size)))
            return int(write(file, data, size, place))

        def cut_and_tell(file: int, size: int) -> int:
            wrote(inodes[file], (size, None))
            return int(cut(file, size))

        def sync_and_tell(file: int, flags: int) -> int:
            code = int(sync(file, flags))
            synced(inodes[file])
            return code

        replaced = (_WRITE(write_and_tell), _TRUNCATE(cut_and_tell), _SYNC(sync_and_tell))
        copy = (_Address * _FUNCTIONS_OF_FILE)(*functions)
        for place, function in zip((_WRITE_PLACE, _TRUNCATE_PLACE, _SYNC_PLACE), replaced, strict=True):
            copy[place] = ctypes.cast(function, _Address)
        _KEPT.extend(replaced)
        return copy

    # SQLite keeps the name, so it is handed on where it is, not as a copy of Python's.
    def open_and_watch(which: int, name: int | None, file: int, flags: int, out: int) -> int:
        code = int(open_file(which, name, file, flags, out))
        if code == 0 and name is not None:
            inodes[file] = Path(os.fsdecode(ctypes.string_at(name))).stat().st_ino
            methods = _Address.from_address(file)
            table = methods.value or 0
            if table not in tables:
                tables[table] = watched_table(table)
            methods.value = ctypes.addressof(tables[table])
        return code

    opened = _OPEN(open_and_watch)
    vfs.open = ctypes.cast(opened, _Address)
    # A folder is opened only to be synced.
    open_folder = _FOLDER(_GET_CALL(vfs.get_call)(ctypes.addressof(vfs), b"openDirectory"))

    def sync_folder(name: bytes, handle: int) -> int:
        folder_synced(Path(os.fsdecode(name)).parent)
        return int(open_folder(name, handle))

    told = _FOLDER(sync_folder)
    _SET_CALL(vfs.set_call)(ctypes.addressof(vfs), b"openDirectory", ctypes.cast(told, _Address))
    _KEPT.extend((opened, open_file, told, open_folder, tables, vfs))
