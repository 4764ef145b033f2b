"""What a program puts on the disk, and in which order: all that is left after a power cut."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


class Disk:
    """Records every sync of a file, with its size at that moment, every sync of a folder, and every rename."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.events: list[tuple[str, Path, int]] = []
        sync, replace = os.fsync, Path.replace

        def record_sync(file: int) -> None:
            sync(file)
            path = Path(f"/proc/self/fd/{file}").readlink()
            self.events.append(("folder", path, 0) if path.is_dir() else ("file", path, os.fstat(file).st_size))

        def record_rename(path: Path, target: Path) -> Path:
            self.events.append(("rename", Path(target), path.stat().st_size))
            return replace(path, target)

        monkeypatch.setattr(os, "fsync", record_sync)
        monkeypatch.setattr(Path, "replace", record_rename)

    def kinds(self) -> list[str]:
        return [kind for kind, *_ in self.events]

    def holds(self, file: Path) -> bool:
        """Whether all of a file, and its name, would be there after a power cut."""
        synced = [size for kind, path, size in self.events if kind == "file" and path == file.resolve()]
        named = any(kind == "folder" and path == file.resolve().parent for kind, path, _ in self.events)
        return named and bool(synced) and synced[-1] == file.stat().st_size
