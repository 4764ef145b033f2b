"""The result of an audit: sections, each of which looks at the judgments from one side.

A section is a frozen dataclass with `tables()`; its JSON is that of its fields, or what its `to_dict()` says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from adjudge.results.result import Result, to_plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.results.table import Table


class Section(Protocol):
    """One side of an audit."""

    def tables(self) -> tuple[Table, ...]:
        """The summary tables of this section."""
        ...


@dataclass(frozen=True, kw_only=True)
class Audit(Result):
    """How far a ranking can be trusted: one section per question that applies to the data."""

    verb: ClassVar[str] = "audit"

    sections: Mapping[str, Section]

    def tables(self) -> tuple[Table, ...]:
        """The tables of all sections."""
        return tuple(table for section in self.sections.values() for table in section.tables())

    def to_dict(self) -> dict[str, Any]:
        """The documented keys: every section under its own name, beside the settings."""
        plain = super().to_dict()
        del plain["sections"]
        return plain | {name: to_plain(section) for name, section in self.sections.items()}
