"""Reading text that may be anything, and writing so that nothing half-written stays behind."""

from __future__ import annotations

import codecs
import gzip
import io
import json
import os
import select
import shutil
import stat
import tempfile
import time
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

GZIP_MAGIC = b"\x1f\x8b"
# Bytes, text, columns: how often a file's content is in memory at the same time while it is read.
COPIES_IN_MEMORY = 4
# Seconds to wait for a pipe.
PATIENCE = 10
STANDARD_INPUT = Path("/dev/stdin")
_UNKNOWN_MEMORY = 1 << 40


def exists(path: Path) -> bool:
    """Whether there is such a file or folder; one that may not even be asked for counts as missing."""
    try:
        return path.exists()
    except OSError:
        return False


def read_bytes(path: Path) -> bytes:
    """The whole file, decompressed where its content says that it is gzip."""
    if not exists(path):
        raise InputError("no such file; check the path", file=path)
    if path.is_dir():
        raise InputError("this is a folder, a file is needed; name the file inside it", file=path)
    try:
        raw = _read_regular(path) if path.is_file() else _read_stream(path)
        return _decompress(raw, path) if raw.startswith(GZIP_MAGIC) else raw
    except (OSError, EOFError, zlib.error) as fault:
        raise InputError(f"cannot be read ({fault}); check the file and its permissions", file=path) from fault


def memory_at_hand() -> int:
    """The bytes of memory that are free, by what the system says; a large number where it does not say."""
    try:
        with Path("/proc/meminfo").open(encoding="ascii") as lines:
            words = next((line.split() for line in lines if line.startswith("MemAvailable:")), None)
        return int(words[1]) * 1024 if words else _UNKNOWN_MEMORY
    except (OSError, ValueError, IndexError):
        return _UNKNOWN_MEMORY


def check_size(size: int, path: Path, *, what: str = "") -> None:
    """Refuse what does not fit into the memory at hand; a table takes several times the size of its file."""
    room = memory_at_hand()
    if size * COPIES_IN_MEMORY > room:
        megabytes, free = size / 1e6, room / 1e6
        how = f"is {megabytes:,.0f} MB {what}".rstrip()
        raise InputError(f"{how}, too much for the {free:,.0f} MB of memory at hand; split it into parts", file=path)


def _read_regular(path: Path) -> bytes:
    check_size(path.stat().st_size, path, what="large")
    return path.read_bytes()


def _read_stream(path: Path) -> bytes:
    """A pipe or a device, as long as something comes and as much as there is room for."""
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
                # A pipe that nobody writes to yet is at its end at once.
                time.sleep(0.05)
    finally:
        os.close(file)


def keep_standard_input() -> Path:
    """Standard input under a name by which it can be read as often as a file.

    What a pipe brings is kept in a file without a name, however long it takes; the process reads this file instead.
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


def _decompress(raw: bytes, path: Path) -> bytes:
    """The content of gzip, one part at a time, so that a small file cannot fill the memory."""
    parts: list[bytes] = []
    size = 0
    with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
        while part := file.read(1 << 24):
            parts.append(part)
            size += len(part)
            check_size(size, path, what="once decompressed")
    return b"".join(parts)


def is_gzip(path: Path) -> bool:
    """Whether the file's content says that it is gzip."""
    with path.open("rb") as file:
        return file.read(len(GZIP_MAGIC)) == GZIP_MAGIC


def read_text(path: Path) -> str:
    """The whole file as text: UTF-8 with or without a byte-order mark. Binary files are refused with their place."""
    return decode_text(read_bytes(path), path)


def read_json(path: Path) -> Any:
    """What a JSON file holds."""
    try:
        return json.loads(read_text(path))
    except (ValueError, RecursionError) as fault:
        line = getattr(fault, "lineno", None)
        raise InputError("is not JSON that can be read; check the file", file=path, line=line) from fault


def decode_text(raw: bytes, path: Path) -> str:
    """The bytes of a file as text, without a byte-order mark; `path` names the file in the error.

    Text is UTF-8, or UTF-16 where the mark says so, as spreadsheets save "Unicode text".
    """
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            raw = raw.decode("utf-16").encode()
        except UnicodeError as fault:
            raise InputError("begins as UTF-16 and is not; convert the file to UTF-8", file=path) from fault
    if b"\0" in raw:
        line = raw[: raw.index(b"\0")].count(b"\n") + 1
        raise InputError("is a binary file (it holds a zero byte); give a text file", file=path, line=line)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        line = raw[: fault.start].count(b"\n") + 1
        value = raw[fault.start : fault.start + 1].hex()
        raise InputError(f"byte 0x{value} is not UTF-8; convert the file to UTF-8", file=path, line=line) from fault


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` that replaces it when the block ends well, and vanishes when it does not."""
    if exists(path) and path.is_dir():
        raise InputError("cannot be written, it is a folder; name a file", file=path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
    except OSError as fault:
        raise InputError(f"cannot be written ({fault.strerror}); choose another path", file=path) from fault
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.chmod(_mode(path))
        temporary.replace(path)
    except OSError as fault:
        raise InputError(f"cannot be written ({fault.strerror or fault}); choose another path", file=path) from fault
    finally:
        temporary.unlink(missing_ok=True)


def _mode(path: Path) -> int:
    """Who may read a file that is written: whoever could before, and for a new one whom the user's mask allows."""
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return 0o666 & ~_umask()


def _umask() -> int:
    """The mask for new files. To set it in order to learn it would open what other threads write in that moment."""
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
