"""The file in which new links are handed out. Their secrets are nowhere else, so nothing in it is ever overwritten."""

from __future__ import annotations

import csv
import errno
import io
import os
from typing import TYPE_CHECKING, TextIO

from adjudge.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adjudge.collect.prepare_database import NewLink

HEADER = "role\tname\tlink\n"


class LinkFile:
    """A table of links (TSV), readable by its owner alone. New links are added at its end."""

    def __init__(self, path: Path, base: str) -> None:
        """Look into the file now, so that no link is made that could not be written down.

        Args:
            path: the file; made where it does not exist.
            base: the address that links begin with.
        """
        self.path, self.base = path, base
        try:
            with self._open() as file:
                first = file.readline()
        except (OSError, UnicodeDecodeError) as fault:
            reason = getattr(fault, "strerror", None) or "it holds something else"
            raise InputError(f"links cannot be written here ({reason}); choose another file", file=path) from fault
        if first not in ("", HEADER):
            raise InputError("holds something other than links; choose another file for --links", file=path)
        self._empty = first == ""

    def add(self, links: Sequence[NewLink]) -> None:
        """Write links at the end; they are on the disk when this returns."""
        from adjudge.collect.links import address

        text = io.StringIO()
        rows = csv.writer(text, delimiter="\t", lineterminator="\n")
        rows.writerows([link.role, link.name, address(link.secret, self.base)] for link in links)
        try:
            with self._open() as file:
                file.write((HEADER if self._empty else "") + text.getvalue())
                file.flush()
                os.fsync(file.fileno())
        except OSError as fault:
            raise InputError(f"links cannot be written ({fault.strerror}); no link was made", file=self.path) from fault
        self._empty = False

    def _open(self) -> TextIO:
        """The file for reading from its beginning and writing at its end, readable by its owner alone."""
        if self.path.exists() and not self.path.is_file():
            raise OSError(errno.EINVAL, "it is no plain file")
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        os.fchmod(handle, 0o600)
        return os.fdopen(handle, "r+", encoding="utf-8", newline="")
