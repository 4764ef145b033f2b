"""Which systems are human translations: by a column of the file, by what the user says, or by their names."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.humans import compile_human_pattern
from adjudge.core.protocols import RELATIVE

if TYPE_CHECKING:
    from collections.abc import Collection

    from adjudge.core.judgments import Judgments


def mark_humans(judgments: Judgments, pattern: str | None, *, given: Collection[str] = ()) -> Judgments:
    """Set `human`, and `kind` for rankings: there a human translation is a reference.

    Args:
        judgments: the judgments.
        pattern: a name or a regular expression; where it is None, the documented pattern of names.
        given: columns that the file has itself. Its own `human` and `kind` stay, but what the user says comes first.
    """
    if pattern is None and "human" in given:
        return judgments
    names = judgments.table["system"].unique().to_list()
    compiled = compile_human_pattern(pattern)
    people = [name for name in names if compiled.fullmatch(name)]
    human = pl.col("system").is_in(people)
    columns = [human.alias("human")]
    if "kind" not in given:
        reference = human & pl.col("protocol").is_in(list(RELATIVE)) & (pl.col("kind") == "system")
        columns.append(pl.when(reference).then(pl.lit("reference")).otherwise("kind").alias("kind"))
    return replace(judgments, table=judgments.table.with_columns(columns))
