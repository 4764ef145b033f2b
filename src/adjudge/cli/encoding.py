"""Print on terminals that do not know every sign: a likeness where there is one, never a traceback."""

from __future__ import annotations

import codecs
import sys
from typing import TextIO

_LIKENESS = {
    "–": "-", "—": "-", "−": "-", "‑": "-", "…": "...", "×": "x", "≥": ">=", "≤": "<=", "≈": "~", "±": "+-", "→": "->",
    "’": "'", "‘": "'", "“": '"', "”": '"', "·": ".", "•": "*", "\u00a0": " ", "\u202f": " ", "─": "-", "│": "|",
}  # fmt: skip
_HANDLER = "adjudge.likeness"


def print_everywhere() -> None:
    """Let standard output and standard error print any text."""
    codecs.register_error(_HANDLER, _likeness)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None and not knows_every_sign(stream):
            reconfigure(errors=_HANDLER)


def knows_every_sign(stream: TextIO) -> bool:
    """Whether the stream writes Unicode; streams that are no files keep what they get."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return encoding.lower().replace("-", "").replace("_", "").startswith("utf")


def _likeness(fault: UnicodeError) -> tuple[str, int]:
    if not isinstance(fault, UnicodeEncodeError):
        raise fault
    signs = fault.object[fault.start : fault.end]
    return "".join(_LIKENESS.get(sign, "?") for sign in signs), fault.end
