"""The result of a command whose work is files: which it wrote, and from what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adjudge.results.result import Result
from adjudge.results.table import Table, text

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, kw_only=True)
class Written(Result):
    """Files and folders that were written, for the language pairs named."""

    command: str
    files: Sequence[str]
    pairs: Sequence[str]

    @property
    def verb(self) -> str:  # type: ignore[override]
        """The command that wrote the files."""
        return self.command

    def to_dict(self) -> dict[str, Any]:
        """As promised to users: what was written, beside the settings."""
        plain = super().to_dict()
        del plain["command"]
        return plain

    def tables(self) -> tuple[Table, ...]:
        """One line per file."""
        return (Table("Written", (text("file"),), tuple((file,) for file in self.files)),)
