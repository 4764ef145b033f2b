"""What the readers of relative ranks share: rank labels as people wrote them, and which systems are human."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.errors import InputError, UsageError, shown
from adjudge.core.humans import compile_human_pattern

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable
    from pathlib import Path

    from adjudge.formats.options import ReadOptions

# How files write "left blank". No rank is 0, so a 0 can mean nothing else.
BLANKS = ("", "-1", "-1.0", "-", "0", "0.0", "na", "n/a", "nan", "null", "none")


def parse_ranks(texts: pl.Series, *, scale: int, path: Path, lines: pl.Series) -> pl.Series:
    """Rank labels from 1 to `scale`, null where left blank.

    Args:
        texts: the labels as written; `3.0` is 3, because spreadsheets write whole columns so.
        scale: the highest label.
        path: the file, for messages.
        lines: the line of every label, for messages.
    """
    plain = texts.fill_null("").str.strip_chars().str.to_lowercase()
    number = plain.str.extract(r"^\+?([0-9]{1,9})(?:\.0*)?$", 1).cast(pl.Int32)
    blank = plain.is_in(BLANKS)
    wrong = ~blank & ~(number.is_between(1, scale).fill_null(value=False))
    if wrong.any():
        first = wrong.arg_true()[int(lines.gather(wrong.arg_true()).arg_min() or 0)]
        value = shown(texts[first])
        hint = "; --labels is for longer scales" if number[first] is not None and number[first] > scale else ""
        raise InputError(
            f"rank is '{value}', it must lie between 1 and {scale} (or be -1 or empty where left blank){hint}",
            file=path,
            line=lines[first],
        )
    return pl.select(pl.when(~blank).then(number)).to_series().alias("rank")


def scale_of(options: ReadOptions, usual: int) -> int:
    """The highest label that counts: what the user says, or what is usual in the format."""
    if options.labels is None:
        return usual
    if options.labels < 2:
        raise UsageError(f"--labels is {options.labels}, a scale has at least 2 labels")
    return options.labels


def human_columns(systems: pl.Series, pattern: str | None) -> dict[str, pl.Series]:
    """The columns `human` and `kind` for a column of system names: a human translation is a reference."""
    human = human_names(systems.unique().drop_nulls().to_list(), compile_human_pattern(pattern))
    flag = systems.is_in(sorted(human)).fill_null(value=False)
    kind = pl.select(pl.when(flag).then(pl.lit("reference")).otherwise(pl.lit("system"))).to_series()
    return {"human": flag.alias("human"), "kind": kind.alias("kind")}


def human_names(names: Iterable[str], pattern: re.Pattern[str]) -> set[str]:
    """The names that the pattern matches as a whole."""
    return {name for name in names if pattern.fullmatch(name)}
