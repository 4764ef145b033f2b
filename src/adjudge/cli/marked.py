"""Which segments a user marks: by their names, by a file of names, or by a column of the judgments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.core.judgments import Judgments

YES = ("t", "true", "yes", "y", "1")


def marked_segments(wanted: str, tables: Sequence[Judgments]) -> frozenset[str]:
    """The names of marked segments: the lines of a file, the rows where a column says yes, or names given directly."""
    import polars as pl

    from adjudge.core.errors import InputError
    from adjudge.core.files import exists, read_text

    holding = [one.table for one in tables if wanted in one.table.columns]
    if holding:
        says_yes = pl.col(wanted).cast(pl.String).str.strip_chars().str.to_lowercase().is_in(YES)
        rows = pl.concat([one.filter(says_yes).select("document", "segment") for one in holding])
        # Where segments are numbered anew in every document, the document is part of the name.
        places = pl.concat([one.table.select("document", "segment") for one in tables]).drop_nulls().unique()
        anew = places["segment"].n_unique() < places.height
        name = pl.concat_str("document", "segment", separator=":") if anew else pl.col("segment")
        return frozenset(rows.select(name=name)["name"].drop_nulls().to_list())
    path = Path(wanted)
    if exists(path) and path.is_file():
        names = frozenset(line.strip() for line in read_text(path).splitlines() if line.strip())
        if not names:
            raise InputError("is empty; one segment per line is needed", file=path)
        return names
    return frozenset(part.strip() for part in wanted.split(",") if part.strip())
