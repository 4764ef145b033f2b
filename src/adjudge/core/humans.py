"""Which systems are human translations: by a column of the file, by the user's choice, or by a name pattern."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.errors import UsageError
from adjudge.core.protocols import RELATIVE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from adjudge.core.judgments import Judgments

# HUMAN, HUMAN-A, human.A, Human-refA, ref, _ref, refA, ref-B, ref.A, reference, reference1, translator-A
_LETTER = r"([-_.]?[a-z0-9])?"
_NAME = rf"_?(human([-_.]?ref)?{_LETTER}|ref{_LETTER}|references?{_LETTER}|translator[-_.]?[a-z0-9]+)"
# Files add other parts to the name, separated by full stops: HUMAN-B.12, wmt23.refA, newstest.en-de.ref.A.de.txt
HUMAN_PATTERN = rf"([^.]+\.)*{_NAME}(\.[^.]+)*"


def compile_human_pattern(pattern: str | None) -> re.Pattern[str]:
    """The pattern for human systems; `pattern` is a name, or a regular expression over whole names; case ignored."""
    try:
        # A name may contain characters with a special meaning in regular expressions.
        either = HUMAN_PATTERN if pattern is None else f"(?:{pattern})|(?:{re.escape(pattern)})"
        return re.compile(either, re.IGNORECASE)
    except re.error as fault:
        raise UsageError(f"--human '{pattern}' is not a regular expression ({fault}); correct it") from fault


def is_human(system: str, pattern: re.Pattern[str] | None = None) -> bool:
    """Whether the name is that of a human translation."""
    return (pattern or compile_human_pattern(None)).fullmatch(system) is not None


def human_among(systems: Iterable[str], pattern: re.Pattern[str]) -> list[str]:
    """The names of human translations among these, sorted and without duplicates."""
    return sorted({system for system in systems if is_human(system, pattern)})


def human_columns(systems: pl.Series, pattern: str | None) -> dict[str, pl.Series]:
    """The columns `human` and `kind` for a column of system names: a human translation is a reference."""
    human = human_among(systems.unique().drop_nulls().to_list(), compile_human_pattern(pattern))
    flag = systems.is_in(human).fill_null(value=False)
    kind = pl.select(pl.when(flag).then(pl.lit("reference")).otherwise(pl.lit("system"))).to_series()
    return {"human": flag.alias("human"), "kind": kind.alias("kind")}


def mark_humans(judgments: Judgments, pattern: str | None, *, given: Collection[str] = ()) -> Judgments:
    """Set `human`, and `kind` for rankings: there a human translation is a reference.

    Args:
        judgments: the judgments.
        pattern: a name or a regular expression; None for the documented pattern of names.
        given: columns of the file. Its own `human` and `kind` are kept, but the user's pattern takes precedence.
    """
    if pattern is None and "human" in given:
        return judgments
    people = human_among(judgments.table["system"].unique().to_list(), compile_human_pattern(pattern))
    human = pl.col("system").is_in(people)
    columns = [human.alias("human")]
    if "kind" not in given:
        reference = human & pl.col("protocol").is_in(list(RELATIVE)) & (pl.col("kind") == "system")
        columns.append(pl.when(reference).then(pl.lit("reference")).otherwise("kind").alias("kind"))
    return replace(judgments, table=judgments.table.with_columns(columns))
