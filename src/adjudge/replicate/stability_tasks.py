"""What tasks and files are made of (Knowles 2021, Table 1 and section 5.1), for the campaigns in the folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from adjudge.audit.settings import AuditSettings
from adjudge.audit.tasks import composition_section
from adjudge.core.errors import DataError
from adjudge.results.replication import ReplicatedCell, ReplicatedTable, Source

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.core.judgments import Judgments
    from adjudge.replicate.published import Published

    Parts = Mapping[tuple[str, str], Judgments]

KINDS = {"system": "SYSTEM", "repeat": "REPEAT", "reference": "REF", "degraded": "BAD_REF"}
_ABSENT = "this campaign is not in the folder"


def kinds_of_items(published: Published, parts: Parts) -> tuple[ReplicatedTable, ReplicatedTable]:
    """Table 1: how many items of each kind passed quality control; and the same of other campaigns in the folder."""
    counts = _counted(parts)
    cells = {f"{campaign}: {kind}": float(n) for (campaign, kind), n in counts.items()}
    printed = published.cells("Table 1")
    absent = [name for name in printed if name not in cells]
    own = tuple(ReplicatedCell(name, None, 0, count) for name, count in cells.items() if name not in printed)
    title = (
        "The same for every other campaign in the folder; language pairs of which only means were released are left out"
    )
    return (
        published.compared("Table 1", cells, dict.fromkeys(absent, _ABSENT), absent=absent),
        ReplicatedTable("Table 1, by campaign", title, None, own, Source.NONE),
    )


def _counted(parts: Parts) -> dict[tuple[str, str], int]:
    counts: dict[tuple[str, str], int] = {}
    for (campaign, _), judgments in parts.items():
        table = judgments.table
        if "z" in table.columns and table["z"].is_not_null().any():
            continue
        if "passed" in table.columns:
            table = table.filter(pl.col("passed").fill_null(value=True))
        by_kind = dict(table.group_by("kind").len().iter_rows())
        for kind, name in KINDS.items():
            counts[campaign, name] = counts.get((campaign, name), 0) + int(by_kind.get(kind, 0))
    return counts


def workers_who_saw(published: Published, parts: Parts) -> ReplicatedTable:
    """Section 5.1: the share of workers who judged references, degraded references or a human translation."""
    cells: dict[str, float] = {}
    for name, (campaign, pair, what) in published.content["workers"].items():
        if (campaign, pair) in parts:
            try:
                composition = composition_section(parts[campaign, pair], AuditSettings())
            except DataError:
                continue
            cells[name] = 100 * composition.annotators_with[what]
    absent = [name for name in published.cells("Section 5.1") if name not in cells]
    return published.compared("Section 5.1", cells, dict.fromkeys(absent, _ABSENT), absent=absent)
