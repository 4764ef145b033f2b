"""Files that stand beside the judgments: post-edits and their acceptability."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.core.errors import InputError
from adjudge.core.files import read_bytes
from adjudge.formats import read
from adjudge.formats.native import PARQUET_MAGIC

if TYPE_CHECKING:
    from pathlib import Path

    from adjudge.core.judgments import Judgments
    from adjudge.formats.options import ReadOptions

_PROTOCOLS = {"wmt-edits": "postedit", "wmt-acceptability": "acceptability"}


def read_companion(path: Path, released: str, options: ReadOptions) -> Judgments:
    """Read the native table, or else the format in which such a file was released."""
    native = _is_native(read_bytes(path))
    judgments = read([path], format="judgments" if native else released, options=options)
    if _PROTOCOLS[released] not in judgments.protocols:
        found = ", ".join(judgments.protocols)
        raise InputError(f"holds {found} judgments, {_PROTOCOLS[released]} is needed; name another file", file=path)
    return judgments


def _is_native(raw: bytes) -> bool:
    header = raw.split(b"\n", 1)[0].removeprefix(b"\xef\xbb\xbf").strip()
    names = header.replace(b"\t", b",").split(b",")
    return raw.startswith(PARQUET_MAGIC) or {b"system", b"protocol"} <= set(names)
