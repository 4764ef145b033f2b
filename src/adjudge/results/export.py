"""The result of exporting: what a campaign has collected."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, ClassVar

from adjudge.results.import_ import Imported, describe

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.core.judgments import Judgments
    from adjudge.results.result import Setting
    from adjudge.results.table import Table


@dataclass(frozen=True, kw_only=True)
class Exported(Imported):
    """How much was collected."""

    verb: ClassVar[str] = "export"

    def tables(self) -> tuple[Table, ...]:
        """One table of counts."""
        return tuple(replace(table, title="Exported") for table in super().tables())


def describe_export(judgments: Judgments, settings: Mapping[str, Setting]) -> Exported:
    """Count what an export holds."""
    counted = describe(judgments, settings)
    return Exported(**{field.name: getattr(counted, field.name) for field in fields(counted)})
