"""What the workshops' files of rankings, edits and acceptability have in common: where and by whom a row was judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from adjudge.formats.parsing.sources import language_codes, pair_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.formats.options import ReadOptions
    from adjudge.formats.parsing.delimited import Delimited

CONTEXT = ("source_lang", "target_lang", "document", "segment", "annotator")


def context_uses(table: Delimited, *, annotator: tuple[str, ...]) -> dict[str, int | None]:
    """The index of every column of `CONTEXT` in a file."""
    segment = table.column("srcIndex", required=False)
    return {
        "source_lang": table.column("srclang", "source_lang", required=False),
        "target_lang": table.column("trglang", "tgtlang", "target_lang", required=False),
        "document": table.column("documentId", required=False),
        "segment": table.need("segmentId") if segment is None else segment,
        "annotator": table.column(*annotator, required=False),
    }


def context_columns(table: Delimited, options: ReadOptions, *, annotator: tuple[str, ...]) -> pl.DataFrame:
    """The columns of `CONTEXT`, one row per row of the file; `annotator` lists the names that column may have."""
    columns = context_uses(table, annotator=annotator)
    source, target = _languages(table, columns, options)
    return pl.DataFrame(
        {
            "source_lang": source,
            "target_lang": target,
            "document": null_where_unused(table.texts(columns["document"])),
            "segment": table.texts(columns["segment"]),
            "annotator": null_where_unused(table.texts(columns["annotator"])),
        }
    )


def null_where_unused(texts: pl.Series) -> pl.Series:
    """Null where a file does not use a column, which it then fills with nothing or with -1."""
    return pl.select(pl.when(~texts.is_in(["", "-1"])).then(texts)).to_series()


def _languages(
    table: Delimited, columns: Mapping[str, int | None], options: ReadOptions
) -> tuple[pl.Series, pl.Series]:
    source, target = columns["source_lang"], columns["target_lang"]
    if source is not None and target is not None:
        return language_codes(table.texts(source)), language_codes(table.texts(target))
    first, second = pair_of(table.path, options)
    return _constant(first, table), _constant(second, table)


def _constant(code: str, table: Delimited) -> pl.Series:
    return pl.repeat(code, len(table.rows), dtype=pl.String, eager=True)
