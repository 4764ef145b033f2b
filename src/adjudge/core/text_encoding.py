"""Text files as text: UTF-8, another encoding that the user names, or what a byte-order mark says."""

from __future__ import annotations

import codecs
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from adjudge.core.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_UTF8 = "utf-8-sig"
_ENCODING: ContextVar[str | None] = ContextVar("adjudge_encoding", default=None)


@contextmanager
def text_encoding(name: str | None) -> Iterator[None]:
    """A context in which text files have this encoding, such as cp1252; UTF-8 where it is None."""
    if name is not None:
        try:
            "".encode(name)
        except LookupError as fault:
            raise UsageError(f"--encoding '{name}' is not known; give one such as cp1252, cp1251 or latin-1") from fault
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
    """The bytes of a file as text, without a byte-order mark; `path` names the file in the error.

    Text is UTF-8 unless `text_encoding` says otherwise, or UTF-16 if it has a byte-order mark, as spreadsheets save
    "Unicode text". Lines end in line feeds, or all of them in carriage returns alone, as some spreadsheets still save
    them.
    """
    encoding = encoding_of(raw)
    if encoding != _UTF8:
        raw = _as_utf8(raw, encoding, path)
    if b"\0" in raw:
        raise _binary(raw, path)
    if b"\r" in raw and b"\n" not in raw:
        raw = raw.replace(b"\r", b"\n")
    try:
        return raw.decode(_UTF8)
    except UnicodeDecodeError as fault:
        line = raw[: fault.start].count(b"\n") + 1
        value = raw[fault.start : fault.start + 1].hex()
        # The option exists only where judgments are read.
        option = "" if _ENCODING.get() is None else ", or name its encoding, such as --encoding cp1252"
        raise InputError(
            f"byte 0x{value} is not UTF-8; convert the file to UTF-8{option}", file=path, line=line
        ) from fault


def _binary(raw: bytes, path: Path) -> InputError:
    """The error for a file with zero bytes; UTF-16 without a byte-order mark has one for each Latin letter."""
    place = raw.index(b"\0")
    what = "is a binary file (it holds a zero byte); give a text file"
    if _ENCODING.get() == _UTF8 and raw[place % 2 : 200 : 2].count(0) > len(raw[:200]) // 4:
        what = "looks like UTF-16 without a byte-order mark"
        what += f"; say --encoding {'utf-16-le' if place % 2 else 'utf-16-be'}, or convert the file to UTF-8"
    return InputError(what, file=path, line=raw[:place].count(b"\n") + 1)


def _as_utf8(raw: bytes, encoding: str, path: Path) -> bytes:
    """The text of a file in another encoding."""
    try:
        return raw.decode(encoding).encode()
    except UnicodeError as fault:
        if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise InputError("begins as UTF-16 and is not; convert the file to UTF-8", file=path) from fault
        start = getattr(fault, "start", 0)
        what = f"byte 0x{raw[start : start + 1].hex()} is not {encoding}; name the file's own encoding by --encoding"
        raise InputError(what, file=path, line=raw[:start].count(b"\n") + 1) from fault
