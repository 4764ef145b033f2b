"""Released judgments, read once per process: many tests ask the same large files."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import adjudge

if TYPE_CHECKING:
    from adjudge.table.judgments import Judgments


@cache
def read_released(path: Path, file_format: str) -> Judgments:
    """The judgments of a file or folder below the released data."""
    return adjudge.read([path], format=file_format)
