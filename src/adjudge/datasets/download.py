"""Fetch a data set into its folder: every file is checked before it is put there, archives are unpacked safely."""

from __future__ import annotations

import http.client
import json
import shutil
import tarfile
import tempfile
import urllib.error
import urllib.request
import zipfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from adjudge._version import __version__
from adjudge.datasets.catalogue import RECORD, DataFile, DataSet, Fetched, FetchedFile, read_record
from adjudge.table.errors import InputError, UsageError, param
from adjudge.table.files import PACKING_FAULTS, atomic_path, exists, write_text
from adjudge.table.judgments import fingerprint_of_file, fingerprint_of_parts

if TYPE_CHECKING:
    from collections.abc import Callable

    Tell = Callable[[str, int, int | None], None]


# One file over HTTP: resumed where it stopped, complete or not there at all.

TIMEOUT = 30
PIECE = 1 << 16
ADDRESS = ("http://", "https://")
ELSEWHERE = f"or get the file by other means and give it with {param('from')}"


def download(url: str, target: Path, tell: Callable[[int, int | None], None]) -> None:
    """Fetch the file to `target`; what came so far stays in `target.part`, from where the next call goes on.

    Args:
        url: the address, http or https.
        target: the file to write; it appears only when it is complete.
        tell: called with the bytes that are there and those expected, where the server says.
    """
    part = _Part(target)
    try:
        with _open_url(url, part) as answer:
            going_on = answer.status == http.HTTPStatus.PARTIAL_CONTENT
            done = part.known(url)[0] if going_on else 0
            length = answer.headers.get("Content-Length")
            total = done + int(length) if length else None
            if not going_on:
                part.begin(url, answer.headers.get("ETag"))
            with part.file.open("ab" if going_on else "wb") as out:
                while piece := answer.read(PIECE):
                    out.write(piece)
                    done += len(piece)
                    tell(done, total)
        if total is not None and done < total:
            raise http.client.IncompleteRead(b"", total - done)
    except urllib.error.HTTPError as fault:
        fault.close()
        raise InputError(f"the server answers {fault.code} {fault.reason}; try later, {ELSEWHERE}", file=url) from fault
    except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError) as fault:
        reason = getattr(fault, "reason", None) or fault or type(fault).__name__
        raise InputError(
            f"cannot be reached ({reason}); check the network and run the command again, {ELSEWHERE}", file=url
        ) from fault
    except OSError as fault:
        raise InputError(f"cannot be written ({fault.strerror or fault}); choose another path", file=target) from fault
    part.finish()


class _Part:
    """What came so far, and of which state of the file on the server it is a part."""

    def __init__(self, target: Path) -> None:
        self.target = target
        self.file = target.with_name(target.name + ".part")
        self.about = target.with_name(target.name + ".part.json")

    def known(self, url: str) -> tuple[int, str]:
        """The bytes that are there and the state they belong to; none where another address was asked."""
        try:
            about = json.loads(self.about.read_text(encoding="utf-8"))
            if about["url"] == url and about["state"]:
                return self.file.stat().st_size, str(about["state"])
        except (OSError, ValueError, KeyError, TypeError):
            pass
        return 0, ""

    def begin(self, url: str, state: str | None) -> None:
        # Weak tags (W/) promise the same meaning, not the same bytes.
        strong = state if state and not state.startswith("W/") else ""
        self.about.write_text(json.dumps({"url": url, "state": strong}), encoding="utf-8")

    def finish(self) -> None:
        self.file.replace(self.target)
        self.about.unlink(missing_ok=True)

    def drop(self) -> None:
        self.file.unlink(missing_ok=True)
        self.about.unlink(missing_ok=True)


def _open_url(url: str, part: _Part) -> Any:
    done, state = part.known(url)
    headers = {"User-Agent": f"adjudge/{__version__}", "Accept-Encoding": "identity"}
    resumed = {"Range": f"bytes={done}-", "If-Range": state} if done else {}
    try:
        return urllib.request.urlopen(urllib.request.Request(url, headers=headers | resumed), timeout=TIMEOUT)  # noqa: S310
    except urllib.error.HTTPError as fault:
        if fault.code != http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE or not resumed:
            raise
        # All was there, or the file has become shorter: from the beginning.
        fault.close()
        part.drop()
        return urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=TIMEOUT)  # noqa: S310


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
    folder_of_set = folder / dataset.name
    _make_folder(folder_of_set)
    before = {} if again else read_record(folder_of_set)
    try:
        files = [
            _fetch_file(file, folder_of_set, _list_sources(file, dataset, source), before, again=again, tell=tell)
            for file in dataset.files
        ]
    except BaseException:
        # What came so far is kept for the next time; a folder with nothing in it is not.
        with suppress(OSError):
            folder_of_set.rmdir()
        raise
    known = {file.path: {"source": file.source, "sha256": file.sha256, "bytes": file.bytes} for file in files}
    write_text(folder_of_set / RECORD, json.dumps({"files": known}, indent=1, ensure_ascii=False) + "\n")
    return _make_result(dataset, folder_of_set, files, source)


def describe_found(dataset: DataSet, folder_of_set: Path) -> Fetched:
    """A set that a folder of released data holds under another name: what is there of it."""
    files = [there for file in dataset.files if (there := _already_fetched(file, folder_of_set)) is not None]
    return _make_result(dataset, folder_of_set, files, None)


def _make_result(dataset: DataSet, folder_of_set: Path, files: list[FetchedFile], source: str | None) -> Fetched:
    return Fetched(
        settings={"name": dataset.name, "from": source},
        data=fingerprint_of_parts(file.sha256 for file in files)[:8],
        name=dataset.name,
        folder=str(folder_of_set),
        files=files,
        command=dataset.command_in(str(folder_of_set)),
    )


def _make_folder(folder_of_set: Path) -> None:
    try:
        folder_of_set.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise InputError(
            f"cannot be written ({fault.strerror}); set ADJUDGE_DATA to a folder of your own", file=folder_of_set
        ) from fault


def _list_sources(file: DataFile, dataset: DataSet, source: str | None) -> list[str]:
    """Where to take a file from, the first choice first."""
    if source is None:
        return [file.url, *file.mirrors]
    alone = len(dataset.files) == 1
    if source.startswith(ADDRESS):
        return [source if alone and not source.endswith("/") else f"{source.rstrip('/')}/{quote(file.path)}"]
    given = Path(source)
    if not exists(given):
        raise InputError(f"no such file or folder; check {param('from')}", file=given)
    if given.is_dir():
        return [str(given / file.path)]
    if not alone:
        raise UsageError(
            f"{param('from')} is one file, {dataset.name} has {len(dataset.files)}; give a folder that holds them"
        )
    return [source]


def _fetch_file(
    file: DataFile, folder: Path, sources: list[str], before: dict[str, dict[str, str]], *, again: bool, tell: Tell
) -> FetchedFile:
    target = folder / file.path
    known = before.get(file.path)
    if file.unpack and known is not None:
        return _describe_file(file, known["source"], int(known["bytes"]), known["sha256"], fresh=False)
    if not again and (there := _already_fetched(file, folder)) is not None:
        return there if known is None else replace(there, source=known["source"])
    _make_folder(target.parent)
    arrived = target.with_name(f"{target.name}.arrived")
    source = _fetch_from_first(sources, arrived, lambda done, total: tell(file.path, done, total))
    size, checksum = arrived.stat().st_size, _checksum(arrived)
    if file.sha256 is not None and checksum != file.sha256:
        arrived.unlink()
        raise InputError(
            f"is not the file that was published (SHA-256 {checksum}, {file.sha256} is recorded for {file.path}); "
            f"nothing was kept, try another source with {param('from')}",
            file=source,
        )
    if file.unpack:
        unpack(arrived, folder, file.inside)
        arrived.unlink()
    else:
        arrived.replace(target)
    return _describe_file(file, source, size, checksum, fresh=True)


def _already_fetched(file: DataFile, folder: Path) -> FetchedFile | None:
    """The file where it is in its place already, and is what was published as far as that is known."""
    target = folder / file.path
    if file.unpack or not exists(target):
        return None
    checksum = _checksum(target)
    if file.sha256 not in (None, checksum):
        return None
    return _describe_file(file, str(target), target.stat().st_size, checksum, fresh=False)


def _fetch_from_first(sources: list[str], target: Path, tell: Callable[[int, int | None], None]) -> str:
    """The file from the first source that gives it; the fault of the first where none does."""
    faults: list[InputError] = []
    for source in sources:
        try:
            if source.startswith(ADDRESS):
                download(source, target, tell)
                return source
            given = Path(source)
            if not given.is_file():
                raise InputError(f"no such file; check {param('from')}", file=given)  # noqa: TRY301
            with atomic_path(target) as temporary:
                shutil.copyfile(given, temporary)
            tell(given.stat().st_size, given.stat().st_size)
        except InputError as fault:
            faults.append(fault)
        else:
            return source
    raise faults[0]


def _checksum(path: Path) -> str:
    try:
        return fingerprint_of_file(path, digits=64)
    except OSError as fault:
        raise InputError(f"cannot be read ({fault.strerror}); check its permissions", file=path) from fault


def _describe_file(file: DataFile, source: str, size: int, checksum: str, *, fresh: bool) -> FetchedFile:
    return FetchedFile(file.path, source, size, checksum, confirmed=file.sha256 is not None, fresh=fresh)


def unpack(archive: Path, folder: Path, inside: str = "") -> None:
    """Put the content of an archive into a folder, without a single outermost folder; `inside` keeps only that part."""
    with tempfile.TemporaryDirectory(prefix=".unpacking.", dir=folder) as name:
        fresh = Path(name)
        try:
            _extract(archive, fresh)
        except (*PACKING_FAULTS, tarfile.TarError) as fault:
            raise InputError(
                f"cannot be unpacked ({fault}); fetch it again with {param('again')}", file=archive
            ) from fault
        held = list(fresh.iterdir())
        if len(held) == 1 and held[0].is_dir():
            fresh = held[0]
        if inside and not (fresh / inside).is_dir():
            raise InputError(f"holds no folder '{inside}'; is it the right file?", file=archive)
        for path in sorted((fresh / inside).iterdir()):
            target = folder / path.name
            if target.is_dir() and not target.is_symlink():
                shutil.rmtree(target)
            path.replace(target)


def _extract(archive: Path, folder: Path) -> None:
    # Neither leaves the folder: zipfile drops what leads out of it, tarfile's filter refuses it.
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as zipped:
            zipped.extractall(folder)  # noqa: S202
        return
    with tarfile.open(archive) as packed:
        if hasattr(tarfile, "data_filter"):
            packed.extractall(folder, filter="data")
        else:
            _extract_files(packed, folder)


def _extract_files(packed: tarfile.TarFile, folder: Path) -> None:
    """The same for Python before 3.11.4, such as Debian 12's, which has no filters; links are refused."""
    for member in packed:
        target = folder / member.name
        if not target.resolve().is_relative_to(folder.resolve()):
            raise tarfile.TarError(f"'{member.name}' leads out of the folder")
        if member.isdir():
            target.mkdir(parents=True, exist_ok=True)
            continue
        content = packed.extractfile(member) if member.isfile() else None
        if content is None:
            raise tarfile.TarError(f"'{member.name}' is a link or a device, which takes Python 3.11.4 or later")
        target.parent.mkdir(parents=True, exist_ok=True)
        with content, target.open("wb") as file:
            shutil.copyfileobj(content, file)
