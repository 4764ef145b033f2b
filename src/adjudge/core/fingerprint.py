"""Fingerprints: a few hexadecimal digits that identify content, whatever file it came from."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

DIGITS = 12
"""Long enough to distinguish data: ten million tables all have different ones with probability 0.84."""


def fingerprint(content: str | bytes, *, digits: int = DIGITS) -> str:
    """The first digits of the SHA-256 digest of the content; text is encoded as UTF-8."""
    data = content.encode() if isinstance(content, str) else content
    return hashlib.sha256(data).hexdigest()[:digits]


def fingerprint_of_parts(parts: Iterable[str]) -> str:
    """One fingerprint from the fingerprints of several parts, in their order."""
    return fingerprint("".join(parts))


def fingerprint_of_file(path: Path, *, digits: int = DIGITS) -> str:
    """The fingerprint of a file's bytes, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:digits]
