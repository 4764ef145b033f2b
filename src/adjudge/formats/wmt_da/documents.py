"""Where a judgment stands: task, page, document and segment, as far as the ids of a file tell.

- Ids such as `cs-en-3-71-1000434.2_2` carry the task (3), the document (71), the page (1000434) and the segment (2).
- Ids that are plain numbers count the segments of the test set. Where the rows of one page (`rid`) cover one contiguous
  range of them, a page is one document by one system, and documents are the ranges that overlap, taken together.
- Other ids that end in a number are read as document and segment.

Whatever the ids are, two rows have the same document and segment only if the file gave them the same segment id (or,
for ids that carry a task, the same document and segment in it).
"""

from __future__ import annotations

import polars as pl

_CODED = r"^(?:\p{L}+-\p{L}+-)?(?P<task>[0-9]+)-(?P<document>[0-9]+)-(?P<page>[0-9]+)\.(?P<segment>[0-9]+)_[0-9]+$"
_ENDS_IN_NUMBER = r"^(?P<document>.+?)[_.:#@|-]+(?P<segment>[0-9]+)$"
_PAGE = ("hit_id", "annotator", "rid")
# So few pages with holes are lost judgments, not another layout.
_HOLES = 0.01


def with_documents(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of one language pair with the columns task, screen, document and segment."""
    sid = rows["sid"]
    if sid.str.contains(_CODED).all():
        parts = sid.str.extract_groups(_CODED).struct.unnest()
        placed = rows.with_columns(
            pl.coalesce("hit_id", "hit", parts["task"]).alias("task"),
            pl.coalesce("rid", parts["page"]).alias("screen"),
            parts["document"],
            parts["segment"],
        )
    else:
        placed = rows.with_columns(
            pl.coalesce("hit_id", "hit").alias("task"), pl.col("rid").alias("screen"), pl.col("sid").alias("segment")
        )
        number = sid.cast(pl.Int64, strict=False)
        placed = _documents_by_ranges(placed, number) if number.null_count() == 0 else _documents_by_endings(placed)
    return placed


def _documents_by_ranges(rows: pl.DataFrame, number: pl.Series) -> pl.DataFrame:
    unknown = rows.with_columns(pl.lit(None, dtype=pl.String).alias("document"))
    pages = (
        rows.with_columns(number.alias("number"))
        .filter(pl.col("rid").is_not_null())
        .group_by(_PAGE)
        .agg(
            pl.col("number").min().alias("low"),
            pl.col("number").max().alias("high"),
            pl.col("number").n_unique().alias("size"),
        )
    )
    if pages.height == 0 or (pages["size"] == 1).all():
        return unknown
    holes = pages.filter(pl.col("high") - pl.col("low") + 1 != pl.col("size")).height
    if holes > _HOLES * pages.height:
        return unknown
    ranges = _join_ranges(pages.select("low", "high").unique().sort("low", "high"))
    placed = rows.with_columns(number.alias("number")).with_row_index("row").sort("number")
    placed = placed.join_asof(ranges, left_on="number", right_on="low", strategy="backward").sort("row")
    inside = pl.when(pl.col("number") <= pl.col("high")).then(pl.col("name"))
    return placed.with_columns(inside.alias("document")).drop("row", "number", "low", "high", "name", strict=False)


def _join_ranges(ranges: pl.DataFrame) -> pl.DataFrame:
    """Overlapping ranges taken together, each named after its ends."""
    reach = pl.col("high").cum_max().shift(1)
    parts = ranges.with_columns((pl.col("low") > reach).fill_null(value=True).cum_sum().alias("part"))
    joined = parts.group_by("part").agg(pl.col("low").min(), pl.col("high").max()).sort("low")
    return joined.select("low", "high", pl.format("{}-{}", "low", "high").alias("name"))


def _documents_by_endings(rows: pl.DataFrame) -> pl.DataFrame:
    """Document and segment from ids that end in a number, if most documents then have several segments."""
    parts = rows["sid"].str.extract_groups(_ENDS_IN_NUMBER).struct.unnest()
    different = parts.unique()
    sizes = different.group_by("document").len()["len"]
    ambiguous = different.height != rows["sid"].n_unique()
    if parts["segment"].null_count() or ambiguous or float(str(sizes.median())) <= 1:
        return rows.with_columns(pl.lit(None, dtype=pl.String).alias("document"))
    return rows.with_columns(parts["document"], parts["segment"])
