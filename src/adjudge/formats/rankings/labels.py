"""Rank labels as people wrote them, and how long their scale is: what the readers of relative ranks share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.errors import UsageError, shown

if TYPE_CHECKING:
    from adjudge.formats.options import ReadOptions
    from adjudge.formats.parsing.bad_rows import BadRows

# How long the scale of the field's rankings is. Pairs are drawn from blocks of as many, so tables of pairs have it too.
USUAL_LABELS = 5
# How files write "left blank". No rank is 0, so a 0 can mean nothing else.
BLANKS = ("", "-1", "-1.0", "-", "0", "0.0", "na", "n/a", "nan", "null", "none")


def parse_ranks(texts: pl.Series, *, scale: int, bad: BadRows) -> pl.Series:
    """Rank labels from 1 to `scale`, null where left blank.

    Args:
        texts: the labels as written; `3.0` is 3, because spreadsheets write whole columns so.
        scale: the highest label.
        bad: where rows with a label that is no rank are recorded.
    """
    plain = texts.fill_null("").str.strip_chars().str.to_lowercase()
    number = plain.str.extract(r"^\+?([0-9]{1,9})(?:\.0*)?$", 1).cast(pl.Int32)
    blank = plain.is_in(BLANKS)
    wrong = ~blank & ~(number.is_between(1, scale).fill_null(value=False))

    def problem(row: int) -> str:
        hint = "; --labels is for longer scales" if number[row] is not None and number[row] > scale else ""
        where = f"it must lie between 1 and {scale} (or be -1 or empty where left blank){hint}"
        return f"rank is '{shown(texts[row])}', {where}"

    bad.mark(wrong, problem, "row with a broken rank")
    return pl.select(pl.when(~blank & ~wrong).then(number)).to_series().alias("rank")


def scale_of(options: ReadOptions, usual: int) -> int:
    """The highest label that counts: what the user says, or what is usual in the format."""
    if options.labels is None:
        return usual
    if options.labels < 2:
        raise UsageError(f"--labels is {options.labels}, a scale has at least 2 labels")
    return options.labels
