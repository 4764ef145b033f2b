"""Archives of data sets: unpacked beside, nothing outside the folder, and all or nothing."""

from __future__ import annotations

import shutil
import tarfile
import tempfile
import zipfile
import zlib
from pathlib import Path

from adjudge.core.errors import InputError


def unpack(archive: Path, folder: Path, inside: str = "") -> None:
    """Put the content of an archive into a folder, without a single outermost folder; `inside` keeps only that part."""
    with tempfile.TemporaryDirectory(prefix=".unpacking.", dir=folder) as name:
        fresh = Path(name)
        try:
            _extract(archive, fresh)
        except (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError, zlib.error) as fault:
            raise InputError(f"cannot be unpacked ({fault}); fetch it again with --again", file=archive) from fault
        held = list(fresh.iterdir())
        if len(held) == 1 and held[0].is_dir():
            fresh = held[0]
        if inside and not (fresh / inside).is_dir():
            raise InputError(f"holds no folder '{inside}'; is it the right file?", file=archive)
        _move(fresh / inside, folder)


def _extract(archive: Path, folder: Path) -> None:
    # Neither leaves the folder: zipfile drops what leads out of it, tarfile's filter refuses it.
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as zipped:
            zipped.extractall(folder)  # noqa: S202
        return
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")


def _move(source: Path, folder: Path) -> None:
    for one in sorted(source.iterdir()):
        target = folder / one.name
        if target.is_dir() and not target.is_symlink():
            shutil.rmtree(target)
        one.replace(target)
