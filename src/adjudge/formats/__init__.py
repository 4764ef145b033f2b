"""The file formats of the field: one module per format, each with `read(paths, options)`. `read` chooses by name."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.core.errors import InputError, UsageError, unknown_choice
from adjudge.formats.options import ReadOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.core.judgments import Judgments

__all__ = ["FORMATS", "ReadOptions", "read"]

# name: (module, what it is)
FORMATS: dict[str, tuple[str, str]] = {
    "judgments": ("native", "the judgment table of adjudge, Parquet or CSV"),
    "wmt-ranking": ("wmt_ranking", "relative rankings with columns srclang ... system5rank (WMT10 and later)"),
}


def read(paths: Sequence[Path | str], *, format: str | None = None, options: ReadOptions | None = None) -> Judgments:  # noqa: A002
    """Read one or several files (or folders, where a format has several files) into one judgment table.

    Args:
        paths: the files.
        format: a name from `FORMATS`; the native table where left out.
        options: what a format needs besides, such as the columns of a `rank-table`.

    Returns:
        The judgments, with everything that was set aside and why.
    """
    name = format or "judgments"
    if name not in FORMATS:
        raise unknown_choice("format", name, FORMATS)
    if not paths:
        raise UsageError("no file was given; name at least one")
    files = [Path(path) for path in paths]
    for file in files:
        if not file.exists():
            raise InputError("no such file or folder; check the path", file=file)
    module = import_module(f"adjudge.formats.{FORMATS[name][0]}")
    judgments: Judgments = module.read(files, options or ReadOptions())
    return judgments
