"""Safe reading of arbitrary files, and atomic writing."""

from __future__ import annotations

import codecs
import errno
import gzip
import io
import json
import lzma
import os
import re
import select
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from adjudge.table.errors import InputError, UsageError, param, shown

if TYPE_CHECKING:
    from collections.abc import Iterator


# Text files as text: UTF-8, another encoding that the user names, or what a byte-order mark says.

_UTF8 = "utf-8-sig"
_ENCODING: ContextVar[str | None] = ContextVar("adjudge_encoding", default=None)


@contextmanager
def text_encoding(name: str | None) -> Iterator[None]:
    """A context in which text files have this encoding, such as cp1252; UTF-8 where it is None."""
    if name is not None:
        try:
            "".encode(name)
        except LookupError as fault:
            raise UsageError(
                f"{param('encoding')} '{name}' is not known; give one such as cp1252, cp1251 or latin-1"
            ) from fault
    token = _ENCODING.set(name or _UTF8)
    try:
        yield
    finally:
        _ENCODING.reset(token)


def encoding_of(raw: bytes) -> str:
    """The encoding of a text file that begins with these bytes: by its byte-order mark, or as `text_encoding` says."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return _ENCODING.get() or _UTF8


def decode_text(raw: bytes, path: Path) -> str:
    """The bytes of a file as text, without a byte-order mark; `path` names the file in the error."""
    return utf8_of(raw, path).decode()


def utf8_of(raw: bytes, path: Path) -> bytes:
    """The bytes of a text file in UTF-8, without a byte-order mark; `path` names the file in the error.

    Text is UTF-8 unless `text_encoding` says otherwise, or UTF-16 if it has a byte-order mark, as spreadsheets save
    "Unicode text". Lines end in line feeds, or all of them in carriage returns alone, as some spreadsheets still save
    them.
    """
    refuse_other_files(raw, path)
    encoding = encoding_of(raw)
    if encoding != _UTF8:
        raw = _as_utf8(raw, encoding, path)
    if b"\0" in raw:
        raise _binary(raw, path)
    if b"\r" in raw and b"\n" not in raw:
        raw = raw.replace(b"\r", b"\n")
    try:
        if not raw.isascii():
            raw.decode(_UTF8)
    except UnicodeDecodeError as fault:
        line = raw[: fault.start].count(b"\n") + 1
        value = raw[fault.start : fault.start + 1].hex()
        # The option exists only where judgments are read.
        option = (
            "" if _ENCODING.get() is None else f", or name its encoding, as {param('encoding')} {_likely_encoding(raw)}"
        )
        raise InputError(
            f"byte 0x{value} is not UTF-8; convert the file to UTF-8{option}", file=path, line=line
        ) from fault
    return raw.removeprefix(codecs.BOM_UTF8)


# Encodings by the signs that texts in them hold (nearly) alone beyond ASCII: Cyrillic, kana and signs, hangul, hanzi.
_SCRIPTS = (
    ("cp1251", r"[\u0410-\u044f]"),
    ("shift_jis", r"[\u3000-\u30ff\u4e00-\u9fff\uff01-\uff5e]"),
    ("euc_kr", r"[\uac00-\ud7a3]"),
    ("gb18030", r"[\u3000-\u303f\u4e00-\u9fff\uff01-\uff5e]"),
)
_MOSTLY = 0.9
_IN_WORDS = re.compile(r"[^\W\d_]*[^\x00-\x7f\W\d_][^\W\d_]*")
# Letters of Czech, Polish and others in cp1250, and what they look like in cp1252.
_CENTRAL = re.compile(r"(?<=\w)[ìøïò¹³¿æ](?=\w)|[Øè]\w*[ìøùï]|[ìøùï]\w*è|\w[¹³¿]")


def _likely_encoding(raw: bytes) -> str:
    """The encoding that a text that is not UTF-8 is probably in, by the letters that it then holds."""
    beginning = raw[: 1 << 16].rpartition(b"\n")[0] or raw[: 1 << 16]
    for encoding, signs in _SCRIPTS:
        try:
            text = beginning.decode(encoding)
        except UnicodeDecodeError:
            continue
        beyond = re.findall(r"[^\x00-\x7f]", text)
        words = _IN_WORDS.findall(text)
        # In Latin scripts single letters have accents, in these whole words are written.
        whole = sum(not re.search("[A-Za-z]", word) for word in words)
        if len(re.findall(signs, text)) > _MOSTLY * len(beyond) and whole > _MOSTLY * len(words):
            return encoding
    return "cp1250" if _CENTRAL.search(beginning.decode("cp1252", "replace")) else "cp1252"


_UNPACK = "unpack it and give the file inside"
_EXPORT = "export the table as CSV or Parquet"
_OTHER_FILES = (
    (b"PK\x03\x04", "is a zip archive of several files", _UNPACK),
    (b"BZh", "is compressed by bzip2", _UNPACK),
    (b"\xfd7zXZ\0", "is compressed by xz", _UNPACK),
    (b"\x28\xb5\x2f\xfd", "is compressed by Zstandard", _UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "is a 7z archive", _UNPACK),
    (b"Rar!", "is a RAR archive", _UNPACK),
    (b"ARROW1", "is an Arrow (Feather) file", "write the table as Parquet"),
    (b"SQLite format 3\0", "is an SQLite database", _EXPORT),
    (b"%PDF", "is a PDF document", "give the table that it was made from"),
    (b"\x89HDF", "is an HDF5 file", _EXPORT),
    (b"RDX", "is a file of R", _EXPORT),
    (b"X\n\0\0\0", "is a file of R", _EXPORT),
    (b"<stata_dta>", "is a file of Stata", _EXPORT),
    (b"$FL2", "is a file of SPSS", _EXPORT),
    (b"\x80\x04\x95", "is a Python pickle, which may run code", _EXPORT),
    (b"\x80\x05\x95", "is a Python pickle, which may run code", _EXPORT),
    (b"\x93NUMPY", "is a NumPy array", _EXPORT),
    (b"\x89PNG", "is a picture", "give the table"),
    (b"\xff\xd8\xff", "is a picture", "give the table"),
)
_WEB_PAGE = re.compile(rb"(\xef\xbb\xbf)?\s*(<!doctype html|<html|<table)", re.IGNORECASE)
_TAR_MARK = slice(257, 262)


def refuse_other_files(raw: bytes, path: Path) -> None:
    """Refuse archives and files of other programs by name, with what to do instead."""
    if raw[_TAR_MARK] == b"ustar":
        name = raw[:100].split(b"\0", 1)[0].decode(errors="replace")
        raise InputError(f"is a tar archive; {_UNPACK}, such as '{shown(name)}'", file=path)
    for mark, what, advice in _OTHER_FILES:
        if raw.startswith(mark):
            raise InputError(f"{what}; {advice}", file=path)
    if _WEB_PAGE.match(raw[:200]):
        raise InputError("is a web page, not a table; open it in a spreadsheet and save it as CSV", file=path)


def _binary(raw: bytes, path: Path) -> InputError:
    """The error for a file with zero bytes; UTF-16 without a byte-order mark has one for each Latin letter."""
    place = raw.index(b"\0")
    what = "is a binary file (it holds a zero byte); give a text file"
    if _ENCODING.get() == _UTF8 and raw[place % 2 : 200 : 2].count(0) > len(raw[:200]) // 4:
        what = "looks like UTF-16 without a byte-order mark"
        what += f"; say {param('encoding')} {'utf-16-le' if place % 2 else 'utf-16-be'}, or convert the file to UTF-8"
    return InputError(what, file=path, line=raw[:place].count(b"\n") + 1)


def _as_utf8(raw: bytes, encoding: str, path: Path) -> bytes:
    """The text of a file in another encoding."""
    try:
        return raw.decode(encoding).encode()
    except UnicodeError as fault:
        if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise InputError("begins as UTF-16 and is not; convert the file to UTF-8", file=path) from fault
        start = getattr(fault, "start", 0)
        what = (
            f"byte 0x{raw[start : start + 1].hex()} is not {encoding}; name the file's "
            f"own encoding by {param('encoding')}"
        )
        raise InputError(what, file=path, line=raw[:start].count(b"\n") + 1) from fault


# What Python's readers of packed files raise where these are damaged or of kinds that they do not know. Offsets that
# point outside of a file are plain ValueErrors.
PACKING_FAULTS = (
    OSError, EOFError, ValueError, KeyError, IndexError, OverflowError, RuntimeError, NotImplementedError,
    struct.error, zlib.error, lzma.LZMAError, zipfile.BadZipFile,
)  # fmt: skip
GZIP_MAGIC = b"\x1f\x8b"
ZIP_MAGIC = b"PK\x03\x04"
# How many copies of a file's content (bytes, text, columns) are in memory at the same time while it is read.
COPIES_IN_MEMORY = 4
BYTES_PER_CELL = 90
"""Measured memory for each cell of a table while it is read: a text of short cells takes many times its size."""
# Seconds to wait for a pipe.
PATIENCE = 10
STANDARD_INPUT = Path("/dev/stdin")
_UNKNOWN_MEMORY = 1 << 40


def exists(path: Path) -> bool:
    """Whether the file or folder exists; one without access permission counts as missing."""
    try:
        return path.exists()
    except OSError:
        return False


def read_bytes(path: Path) -> bytes:
    """The content of the file; of the one file inside, where it is compressed or a zip archive of a single file."""
    if not exists(path):
        raise InputError("no such file; check the path", file=path)
    if path.is_dir():
        raise InputError("this is a folder, a file is needed; name the file inside it", file=path)
    try:
        if path.is_file():
            check_size(path.stat().st_size, path, what="large")
            raw = path.read_bytes()
        else:
            raw = _read_stream(path)
        return _unpack(raw, path)
    except PACKING_FAULTS as fault:
        reason = shown(fault, 120)
        raise InputError(f"cannot be read ({reason}); check the file and its permissions", file=path) from fault


def memory_at_hand() -> int:
    """Free memory in bytes; a large number if the system does not report it."""
    try:
        with Path("/proc/meminfo").open(encoding="ascii") as lines:
            words = next((line.split() for line in lines if line.startswith("MemAvailable:")), None)
        return int(words[1]) * 1024 if words else _UNKNOWN_MEMORY
    except (OSError, ValueError, IndexError):
        return _UNKNOWN_MEMORY


def check_cells_fit(cells: int, path: Path | str) -> None:
    """Refuse a table that does not fit into free memory by its number of cells, whatever its file takes."""
    check_size(cells * BYTES_PER_CELL // COPIES_IN_MEMORY, path, what="once read")


def check_size(size: int, path: Path | str, *, what: str = "") -> None:
    """Refuse a file that does not fit into free memory; a table takes several times the size of its file."""
    room = memory_at_hand()
    if size * COPIES_IN_MEMORY > room:
        megabytes, free = size / 1e6, room / 1e6
        how = f"is {megabytes:,.0f} MB {what}".rstrip()
        raise InputError(f"{how}, too much for the {free:,.0f} MB of memory at hand; split it into parts", file=path)


_WITHIN_BOUNDS = """import resource, sys
for kind, most in zip((resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_CORE), sys.argv[1:], strict=True):
    _, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (int(most) if hard == resource.RLIM_INFINITY else min(int(most), hard), hard))
"""


def try_out(program: str, raw: bytes, *, memory: int, seconds: int) -> tuple[int, str, str]:
    """Run a Python program over data in a process of its own, which a damaged file may end, or fill with its memory.

    Args:
        program: the program, which finds the data in its standard input and `sys` imported.
        raw: the data.
        memory: bytes that it may take.
        seconds: of CPU that it may take.

    Returns:
        The exit code, and what it printed as output and as errors.
    """
    command = [sys.executable, "-c", _WITHIN_BOUNDS + program, str(memory), str(seconds), "0"]
    environment = {**os.environ, "RUST_BACKTRACE": "0"}
    done = subprocess.run(command, input=raw, capture_output=True, env=environment, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode("utf-8", "replace").strip()


def _read_stream(path: Path) -> bytes:
    """The content of a pipe or device, until it ends or memory is full."""
    parts: list[bytes] = []
    size = 0
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        end = time.monotonic() + PATIENCE
        while True:
            ready, _, _ = select.select([file], [], [], max(0.0, end - time.monotonic()))
            part = os.read(file, 1 << 20) if ready else b""
            if part:
                parts.append(part)
                size += len(part)
                check_size(size, path, what="so far")
                end = time.monotonic() + PATIENCE
            elif ready and parts:
                return b"".join(parts)
            elif time.monotonic() >= end:
                raise InputError(f"is a pipe from which nothing came for {PATIENCE} s; write to a file", file=path)
            elif ready:
                # A pipe without a writer is at its end at once.
                time.sleep(0.05)
    finally:
        os.close(file)


def keep_standard_input() -> Path:
    """A path under which standard input can be read repeatedly.

    The input is copied to an unnamed temporary file, which is read instead.
    """
    try:
        if os.isatty(0):
            raise InputError("nothing is piped into standard input; pipe judgments into it, or name a file", file="-")
        if not stat.S_ISREG(os.fstat(0).st_mode):
            with os.fdopen(os.dup(0), "rb") as pipe, tempfile.TemporaryFile() as kept:
                shutil.copyfileobj(pipe, kept, 1 << 20)
                kept.flush()
                os.dup2(kept.fileno(), 0)
    except OSError as fault:
        raise InputError(f"standard input cannot be read ({fault.strerror}); name a file", file="-") from fault
    return STANDARD_INPUT


def read_head(path: Path, size: int) -> bytes:
    """The first bytes of a file, or of the one inside it where `read_bytes` would read that."""
    with path.open("rb") as file:
        raw = file.read(size)
        if not raw.startswith((GZIP_MAGIC, ZIP_MAGIC)):
            return raw
        file.seek(0)
        with _open_packed(file) as inside:
            return raw if inside is None else inside.read(size)


def _unpack(raw: bytes, path: Path) -> bytes:
    """The content of packed data, unpacked in parts, so that a small file cannot fill the memory; other data as is."""
    if not raw.startswith((GZIP_MAGIC, ZIP_MAGIC)):
        return raw
    parts: list[bytes] = []
    size = 0
    with _open_packed(io.BytesIO(raw)) as file:
        if file is None:
            return raw
        while part := file.read(1 << 24):
            parts.append(part)
            size += len(part)
            check_size(size, path, what="once decompressed")
    return b"".join(parts)


@contextmanager
def _open_packed(file: IO[bytes]) -> Iterator[IO[bytes] | None]:
    """The one file inside packed data; None for a zip archive of several, such as a workbook, or one that is damaged.

    Archives made on a Mac hold a description beside each file.
    """
    if not zipfile.is_zipfile(file):
        file.seek(0)
        if file.read(len(GZIP_MAGIC)) != GZIP_MAGIC:
            yield None
            return
        file.seek(0)
        with gzip.GzipFile(fileobj=file) as unpacked:
            yield cast("IO[bytes]", unpacked)
        return
    with zipfile.ZipFile(file) as archive:
        names = [entry for entry in archive.infolist() if not entry.is_dir()]
        names = [entry for entry in names if not re.search(r"(^|/)(__MACOSX/|\.DS_Store$)", entry.filename)]
        if len(names) != 1:
            yield None
            return
        with archive.open(names[0]) as inside:
            yield inside


# Beyond these, an archive is no campaign: each file takes time and a place on the disk, however little it holds.
_MOST_FILES = 20_000
_ANSWERING_ITSELF = re.compile(r"(xl|ppt|word)/|content\.xml$|header\.json$", re.IGNORECASE)
ABOUT_FILES = re.compile(r"(^|/)(\.|__MACOSX/|readme|licen[cs]e|changelog|codebook|results_[0-9]{4}-)", re.IGNORECASE)


@contextmanager
def unpacked_archives(paths: list[Path]) -> Iterator[dict[Path, Path]]:
    """Zip archives of several files as folders, which are there as long as the context; each with its archive."""
    folders: dict[Path, Path] = {}
    with tempfile.TemporaryDirectory() as room:
        for number, path in enumerate(paths):
            with suppress(*PACKING_FAULTS):
                if path.is_file() and (names := _names_in_archive(path)):
                    folder = Path(room, str(number), path.name)
                    _extract(path, names, folder)
                    folders[folder] = path
        yield folders


def _names_in_archive(path: Path) -> list[str]:
    """The files in a zip archive that holds several, and no workbook or the like."""
    if not zipfile.is_zipfile(path):
        return []
    with zipfile.ZipFile(path) as archive:
        names = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
    kept = [name for name in names if not ABOUT_FILES.search(name)]
    return kept if len(names) > 1 and not any(_ANSWERING_ITSELF.match(name) for name in names) else []


def _extract(path: Path, names: list[str], folder: Path) -> None:
    if len(names) > _MOST_FILES:
        raise InputError(f"holds {len(names):,} files, more than {_MOST_FILES:,}; unpack it, and name those", file=path)
    with zipfile.ZipFile(path) as archive:
        check_size(sum(archive.getinfo(name).file_size for name in names), path, what="unpacked")
        for name in names:
            archive.extract(name, folder)


def is_gzip(path: Path) -> bool:
    """Whether the content of the file is gzip."""
    with path.open("rb") as file:
        return file.read(len(GZIP_MAGIC)) == GZIP_MAGIC


def read_text(path: Path) -> str:
    """The whole file as text: UTF-8 with or without a byte-order mark. Binary files are refused with their place."""
    return decode_text(read_bytes(path), path)


def parse_json(text: str) -> Any:
    """What JSON says. A ValueError where it is broken, nested too deeply, or holds half of a character as an escape.

    No file and no table can hold such halves.
    """
    try:
        content = json.loads(text)
        if "\\ud" in text or "\\uD" in text:
            json.dumps(content, ensure_ascii=False).encode()
    except RecursionError as fault:
        raise ValueError("nested too deeply") from fault
    return content


def read_json(path: Path) -> Any:
    """The parsed content of a JSON file."""
    try:
        return parse_json(read_text(path))
    except ValueError as fault:
        line = getattr(fault, "lineno", None)
        raise InputError("is not JSON that can be read; check the file", file=path, line=line) from fault


def _find_target(path: Path) -> Path:
    """The file that a symbolic link names, which is replaced instead of the link."""
    target = path.resolve() if path.is_symlink() else path
    if target.is_symlink():  # before Python 3.13, `resolve` refuses these itself
        raise OSError(errno.ELOOP, "its links go in a circle")
    return target


@contextmanager
def atomic_path(path: Path, *, secret: bool = False, inside: Path | None = None) -> Iterator[Path]:
    """A temporary path next to `path`. It replaces `path` if the block succeeds and is removed otherwise.

    A secret file is readable by its owner alone, at all times. `inside` is another folder of the same file system.
    """
    if exists(path) and path.is_dir():
        raise InputError("cannot be written, it is a folder; name a file", file=path)
    try:
        target = _find_target(path)
        # A device or pipe is no file to replace.
        special = exists(path) and not path.is_file()
        # Folders that are made now have names, too, which a power cut could lose with all that is in them.
        changed = {target.parent, *(folder.parent for folder in target.parents if not folder.exists())}
        if not special:
            target.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.gettempdir()) if special else target.parent
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=inside or beside)
    except (OSError, RuntimeError) as fault:
        reason = getattr(fault, "strerror", None) or "its links go in a circle"
        raise InputError(f"cannot be written ({reason}); choose another path", file=path) from fault
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        if special:
            with temporary.open("rb") as written, path.open("wb") as out:
                shutil.copyfileobj(written, out)
            return
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.chmod(0o600 if secret else _mode(target))
        temporary.replace(target)
        for folder in changed:
            sync_folder(folder)
    except OSError as fault:
        raise InputError(f"cannot be written ({fault.strerror or fault}); choose another path", file=path) from fault
    finally:
        temporary.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Put on the disk which files a folder has: a name that is new or changed may be lost in a power cut before."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except PermissionError:
        # A folder in which files may be made, but that may not be read.
        return
    try:
        os.fsync(handle)
    except OSError as fault:
        # Some file systems of networks cannot.
        if fault.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)


def _mode(path: Path) -> int:
    """The permissions of a written file: those of the existing file, or those that the user's umask allows."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return 0o666 & ~umask()


def umask() -> int:
    """The umask. Setting it in order to read it would affect files that other threads write at that moment."""
    try:
        with Path("/proc/self/status").open(encoding="ascii", errors="replace") as lines:
            return next(int(line.split()[1], 8) for line in lines if line.startswith("Umask:"))
    except (OSError, StopIteration, ValueError):
        mask = os.umask(0o077)
        os.umask(mask)
        return mask


def write_text(path: Path, text: str) -> None:
    """Write text atomically, as UTF-8 with Unix line ends."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def is_alive(number: int) -> bool:
    """Whether there is a process of this number on this machine."""
    try:
        os.kill(number, 0)
    except OSError as fault:
        # A process of another user may not be asked.
        return isinstance(fault, PermissionError)
    return True
