"""Parquet with a checksum: adjudge's own files say when a single bit of them has changed; others are tried out first.

The file holds the checksum of all its bytes, computed with zeros in the checksum's own place. Files of other tools
have none. Reading a damaged one can end the whole process, so it is read in a process of its own first.
"""

from __future__ import annotations

import hashlib
import io
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.errors import InputError, shown

if TYPE_CHECKING:
    from pathlib import Path

PARQUET_MAGIC = b"PAR1"
_KEY = "adjudge"
_BEFORE = b"adjudge-sha256:"
_ZEROS = b"0" * 64
_CHECKSUM = re.compile(_BEFORE + rb"([0-9a-f]{64})")
# Longer than any file takes that fits into memory.
_SECONDS = 300
_TRY = "import io, sys, polars; polars.read_parquet(io.BytesIO(sys.stdin.buffer.read()))"


def parquet_bytes(frame: pl.DataFrame, fingerprint: str) -> bytes:
    """The frame as Parquet that holds the table's fingerprint and the file's checksum."""
    buffer = io.BytesIO()
    mark = (_BEFORE + _ZEROS).decode()
    frame.write_parquet(buffer, metadata={_KEY: f"{mark} fingerprint:{fingerprint}"})
    raw = buffer.getvalue()
    return raw.replace(_BEFORE + _ZEROS, _BEFORE + hashlib.sha256(raw).hexdigest().encode())


def read_parquet(raw: bytes, path: Path) -> pl.DataFrame:
    """The frame that a Parquet file holds; a damaged file is refused in one sentence."""
    mark = _CHECKSUM.search(raw)
    if mark is not None:
        plain = raw[: mark.start(1)] + _ZEROS + raw[mark.end(1) :]
        if hashlib.sha256(plain).hexdigest().encode() != mark[1]:
            raise InputError("is damaged Parquet: its checksum is not that of its content; make it again", file=path)
    else:
        _try_out(raw, path)
    try:
        return pl.read_parquet(io.BytesIO(raw))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as fault:
        reason = shown(str(fault).split("\n", 1)[0], 120)
        raise InputError(f"is damaged Parquet ({reason}); make it again", file=path) from fault


def _try_out(raw: bytes, path: Path) -> None:
    try:
        done = subprocess.run(
            [sys.executable, "-c", _TRY], input=raw, capture_output=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as fault:
        raise InputError(f"is damaged Parquet (not read in {_SECONDS} s); make it again", file=path) from fault
    if done.returncode:
        words = done.stderr.decode("utf-8", "replace").strip().split("\n")[-1]
        raise InputError(f"is damaged Parquet ({shown(words, 120) or 'reading it fails'}); make it again", file=path)
