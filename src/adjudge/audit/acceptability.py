"""Acceptability of post-edits by system: yes, no or unknown, with the interval of the share of yes.

Each judgment counts for the system that it names. Where the edits are given too, the judgments are counted whose edit
belongs to another system there: joining the two by the number of the edit would move them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from adjudge.audit.edits import held_apart, same_pair
from adjudge.audit.proportion import proportion
from adjudge.core.errors import DataError
from adjudge.results.audit.edits import Acceptability, AcceptedSystem

if TYPE_CHECKING:
    from adjudge.audit.settings import AuditSettings
    from adjudge.core.judgments import Judgments


def section(judgments: Judgments, settings: AuditSettings) -> Acceptability:
    """Count judgments of edits by system."""
    table = same_pair(held_apart(judgments, settings.acceptability, "acceptability"), judgments)
    if table.height == 0:
        raise DataError("there are no judgments of post-edits of this language pair")
    yes, no = (pl.col("score") == 1).sum(), (pl.col("score") == 0).sum()
    counted = (
        table.group_by("system")
        .agg(pl.col("human").any(), yes.alias("yes"), no.alias("no"), pl.col("score").is_null().sum().alias("unknown"))
        .sort("system")
    )
    return Acceptability(
        judgments=table.height,
        systems=tuple(
            AcceptedSystem(**row, acceptable=proportion(row["yes"], row["yes"] + row["no"]))
            for row in counted.iter_rows(named=True)
        ),
        mismatched=_mismatched(table, held_apart(judgments, settings.edits, "postedit")),
    )


def _mismatched(table: pl.DataFrame, edits: pl.DataFrame) -> int | None:
    if edits.height == 0 or "edit" not in edits.columns or "edit" not in table.columns:
        return None
    owners = edits.select("edit", pl.col("system").alias("edited")).unique("edit", keep="first")
    joined = table.select("edit", "system").join(owners, on="edit", how="inner")
    return int((joined["system"] != joined["edited"]).sum())
