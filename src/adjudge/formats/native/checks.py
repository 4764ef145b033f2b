"""Faults of a judgment table that its columns' types do not show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.comparisons import BLOCK_KEY
from adjudge.core.judgments import SCHEMA
from adjudge.core.protocols import PROTOCOLS
from adjudge.formats.rankings.labels import scale_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.formats.options import ReadOptions
    from adjudge.formats.parsing.bad_rows import BadRows
    from adjudge.formats.tables.columns import ColumnMap

# How long the scale of the field's rankings is.
USUAL_LABELS = 5
ANSWERS = ("rank", "score", "spans", "text")


def check_answers(frame: pl.DataFrame, given: Sequence[str], mapping: ColumnMap) -> None:
    """Refuse a table without the column that holds its answers."""
    if not set(given) & set(ANSWERS):
        taken = set(mapping.columns.values())
        numbers = [name for name in columns_of_numbers(frame) if name not in taken and name not in SCHEMA]
        raise mapping.missing("score", instead="rank", guess=numbers[-1] if numbers else None)
    protocols = frame["protocol"].drop_nulls().unique().sort()
    for protocol in protocols.filter(protocols.is_in(list(PROTOCOLS))):
        needed = PROTOCOLS[protocol].needed_column
        if needed is not None and needed not in given:
            raise mapping.missing(needed, why=f", which protocol '{protocol}' needs")


def columns_of_numbers(frame: pl.DataFrame) -> list[str]:
    """The columns that hold numbers and nothing else."""
    return [
        name
        for name, dtype in frame.schema.items()
        if dtype.is_numeric()
        or (
            dtype == pl.String
            and frame[name].null_count() < frame.height
            and frame[name].str.strip_chars().cast(pl.Float64, strict=False).null_count() == frame[name].null_count()
        )
    ]


def check_scale(frame: pl.DataFrame, options: ReadOptions, bad: BadRows) -> None:
    """Set aside ranks beyond the scale; a table does not say its scale, so it is as long as --labels says."""
    if options.labels is None:
        return
    scale = scale_of(options, options.labels)
    bad.mark(
        frame["rank"] > scale,
        lambda row: f"rank is {frame['rank'][row]}, it must lie between 1 and {scale}; correct it",
        "rank beyond the scale",
    )


def warn_about_scale(table: pl.DataFrame, options: ReadOptions) -> tuple[str, ...]:
    """Point out ranks beyond the usual scale that no block of their size explains."""
    largest = table["rank"].max()
    if options.labels is not None or not isinstance(largest, int) or largest <= USUAL_LABELS:
        return ()
    together = table.filter(pl.col("rank").is_not_null()).group_by(BLOCK_KEY).len()["len"].max()
    assert isinstance(together, int)
    if largest <= together:
        return ()
    rows = int((table["rank"] == largest).sum())
    problem = f"the largest rank is {largest} (in {rows:,} rows), but at most {together:,} were ranked together"
    return (f"{problem}; if the scale is shorter, --labels refuses such ranks",)
