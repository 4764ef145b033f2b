"""Fetch a data set into its folder: every file checked before it is put in its place."""

from __future__ import annotations

import hashlib
import json
import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from adjudge.core.errors import InputError, UsageError
from adjudge.core.files import atomic_path, exists, write_text
from adjudge.datasets.download import download
from adjudge.datasets.places import RECORD, read_record
from adjudge.datasets.sets import DataFile, DataSet, Fetched, FetchedFile
from adjudge.datasets.unpack import unpack

if TYPE_CHECKING:
    from collections.abc import Callable

    Tell = Callable[[str, int, int | None], None]


def fetch(
    dataset: DataSet,
    folder: Path,
    *,
    source: str | None = None,
    again: bool = False,
    tell: Tell = lambda *_: None,
) -> Fetched:
    """Fetch what is not there yet.

    Args:
        dataset: what to fetch.
        folder: the folder of all data; the set gets one of its own in it.
        source: a file, a folder or an address to take it from instead of the published ones.
        again: fetch also what is there.
        tell: called with the file, the bytes that are there and those expected.
    """
    place = folder / dataset.name
    _make(place)
    before = {} if again else read_record(place)
    try:
        files = [
            _one(one, place, _sources(one, dataset, source), before, again=again, tell=tell) for one in dataset.files
        ]
    except BaseException:
        # What came so far is kept for the next time; a folder with nothing in it is not.
        with suppress(OSError):
            place.rmdir()
        raise
    _write_record(place, files)
    return _result(dataset, place, files, source)


def at_hand(dataset: DataSet, place: Path) -> Fetched:
    """A set that a folder of released data holds under another name: what is there of it."""
    files = [there for one in dataset.files if (there := _there(one, place)) is not None]
    return _result(dataset, place, files, None)


def _write_record(place: Path, files: list[FetchedFile]) -> None:
    record = {"files": {one.path: {"source": one.source, "sha256": one.sha256, "bytes": one.bytes} for one in files}}
    write_text(place / RECORD, json.dumps(record, indent=1, ensure_ascii=False) + "\n")


def _result(dataset: DataSet, place: Path, files: list[FetchedFile], source: str | None) -> Fetched:
    joined = hashlib.sha256("".join(one.sha256 for one in files).encode()).hexdigest()
    return Fetched(
        settings={"name": dataset.name, "from": source},
        data=joined[:8],
        name=dataset.name,
        folder=str(place),
        files=files,
        command=dataset.command_in(str(place)),
    )


def _make(place: Path) -> None:
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise InputError(
            f"cannot be written ({fault.strerror}); set ADJUDGE_DATA to a folder of your own", file=place
        ) from fault


def _sources(file: DataFile, dataset: DataSet, source: str | None) -> list[str]:
    """Where to take a file from, the first choice first."""
    if source is None:
        return [file.url, *file.mirrors]
    alone = len(dataset.files) == 1
    if _is_address(source):
        return [source if alone and not source.endswith("/") else f"{source.rstrip('/')}/{quote(file.path)}"]
    given = Path(source)
    if not exists(given):
        raise InputError("no such file or folder; check --from", file=given)
    if given.is_dir():
        return [str(given / file.path)]
    if not alone:
        raise UsageError(f"--from is one file, {dataset.name} has {len(dataset.files)}; give a folder that holds them")
    return [source]


def _is_address(source: str) -> bool:
    return source.startswith(("http://", "https://"))


def _one(
    file: DataFile, place: Path, sources: list[str], before: dict[str, dict[str, str]], *, again: bool, tell: Tell
) -> FetchedFile:
    target = place / file.path
    known = before.get(file.path)
    if file.unpack and known is not None:
        return _described(file, known["source"], int(known["bytes"]), known["sha256"], fresh=False)
    if not again and (there := _there(file, place)) is not None:
        return there if known is None else replace(there, source=known["source"])
    _make(target.parent)
    arrived = target.with_name(f"{target.name}.arrived")
    source = _bring(sources, arrived, lambda done, total: tell(file.path, done, total))
    size, found = arrived.stat().st_size, _checksum(arrived)
    if file.sha256 is not None and found != file.sha256:
        arrived.unlink()
        raise InputError(
            f"is not the file that was published (SHA-256 {found}, {file.sha256} is recorded for {file.path}); "
            "nothing was kept, try another source with --from",
            file=source,
        )
    if file.unpack:
        unpack(arrived, place, file.inside)
        arrived.unlink()
    else:
        arrived.replace(target)
    return _described(file, source, size, found, fresh=True)


def _there(file: DataFile, place: Path) -> FetchedFile | None:
    """The file where it is in its place already, and is what was published as far as that is known."""
    target = place / file.path
    if file.unpack or not exists(target):
        return None
    found = _checksum(target)
    if file.sha256 not in (None, found):
        return None
    return _described(file, str(target), target.stat().st_size, found, fresh=False)


def _bring(sources: list[str], target: Path, tell: Callable[[int, int | None], None]) -> str:
    """The file from the first source that gives it; the fault of the first where none does."""
    faults: list[InputError] = []
    for source in sources:
        try:
            _take(source, target, tell)
        except InputError as fault:
            faults.append(fault)
        else:
            return source
    raise faults[0]


def _take(source: str, target: Path, tell: Callable[[int, int | None], None]) -> None:
    if _is_address(source):
        download(source, target, tell)
        return
    given = Path(source)
    if not given.is_file():
        raise InputError("no such file; check --from", file=given)
    with atomic_path(target) as temporary:
        shutil.copyfile(given, temporary)
    tell(given.stat().st_size, given.stat().st_size)


def _checksum(path: Path) -> str:
    try:
        with path.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError as fault:
        raise InputError(f"cannot be read ({fault.strerror}); check its permissions", file=path) from fault


def _described(file: DataFile, source: str, size: int, checksum: str, *, fresh: bool) -> FetchedFile:
    return FetchedFile(file.path, source, size, checksum, confirmed=file.sha256 is not None, fresh=fresh)
