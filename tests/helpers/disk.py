"""What a program puts on the disk, and in which order: all that is left after a power cut."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pytest

State = dict[str, bytes]
"""The files below a folder, by their path in it, with their content."""


class Disk:
    """Records every sync of a file, with its size at that moment, every sync of a folder, and every rename.

    With `root`, it also keeps what each power cut would leave below that folder. A file has the content of its last
    sync, and nothing if it was never synced. Names that were not synced may be lost or kept, so there are two
    states: one with the names of the last sync of each folder, one with all names there are.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, root: Path | None = None) -> None:
        self.events: list[tuple[str, Path, int]] = []
        self.cuts: list[State] = []
        self._root = root
        self._contents: dict[int, bytes] = {}
        self._names: dict[int, dict[str, int]] = {}
        self._folders: set[int] = set()
        if root is not None:
            for folder in [root, *(path for path in root.rglob("*") if path.is_dir())]:
                self._keep_names(folder)
            self._contents = {path.stat().st_ino: path.read_bytes() for path in root.rglob("*") if path.is_file()}
        for name in ("fsync", "replace", "rename", "link", "unlink"):
            monkeypatch.setattr(os, name, self._record(getattr(os, name)))

    def _record(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def recorded(*args: Any, **keywords: Any) -> Any:
            self._cut()
            size = os.stat(args[0]).st_size if call.__name__ in ("replace", "rename") else 0  # noqa: PTH116
            answer = call(*args, **keywords)
            if call.__name__ == "fsync":
                self._sync(args[0])
            elif call.__name__ in ("replace", "rename"):
                self.events.append(("rename", Path(args[1]), size))
            self._cut()
            return answer

        return recorded

    def _sync(self, file: int) -> None:
        path = Path(f"/proc/self/fd/{file}").readlink()
        self.events.append(("folder", path, 0) if path.is_dir() else ("file", path, os.fstat(file).st_size))
        if self._root is None:
            return
        if path.is_dir():
            self._keep_names(path)
        else:
            self._contents[os.fstat(file).st_ino] = path.read_bytes()

    def _cut(self) -> None:
        if self._root is not None:
            root = self._root
            now = {str(path.relative_to(root)): path.stat().st_ino for path in root.rglob("*") if path.is_file()}
            for names in (dict(self._synced(root.stat().st_ino)), now):
                self.cuts.append({name: self._contents.get(number, b"") for name, number in names.items()})

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
