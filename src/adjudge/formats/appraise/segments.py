"""Which segment of a document an item is, where a campaign numbers the items of each task from 1 on.

Most campaigns number segments within the document or the test set; such numbers are taken as they are. Where the
numbers run from 1 to the length of the task instead, the same segment has another number in every task. Then a
segment is known by its place on the page, and a document that was cut at the end of a task goes on in the next.
"""

from __future__ import annotations

import re

import polars as pl

from adjudge.formats.appraise.rows import SOURCE

_PAGE = ("account", "page", "system")
_OUTPUT = ("document", "system")
# Some accounts break the rule, because they stopped midway or got an item twice.
_MOST = 0.9
_FLAG = re.compile(r"bad[0-9]*|dup|duplicate[0-9]*|incomplete")


def items_restart_in_each_task(rows: pl.DataFrame) -> bool:
    """Whether the item numbers of (nearly) every account run from 1 to the number of its items."""
    number = rows["item"].cast(pl.Int64, strict=False)
    if number.null_count():
        return False
    items = rows.select("account", *_PAGE[1:], number.alias("number")).unique()
    accounts = items.group_by("account").agg(
        (pl.col("number").is_unique().all() & (pl.col("number").min() == 1)).alias("once"),
        (pl.col("number").max() == pl.len()).alias("whole"),
        pl.struct("page", "system").n_unique().alias("pages"),
    )
    fits = accounts["once"] & accounts["whole"]
    several = bool((accounts["pages"] > 1).any())
    return several and float(fits.sum()) >= _MOST * accounts.height


def number_segments_by_place(rows: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """The rows with `segment` as the place in the document, and how many rows could not be placed."""
    number = pl.col("item").cast(pl.Int64)
    placed = rows.with_columns(number.rank("dense").over(_PAGE).cast(pl.Int64).alias("at"))
    pages = placed.group_by(*_PAGE, "document", maintain_order=True).agg(
        pl.col("at").max().alias("size"), pl.col("flags").first()
    )
    offsets = _offsets(pages)
    joined = placed.join(offsets, on=list(_PAGE), how="left", maintain_order="left")
    unknown = pl.format("{}:{}", "account", "item")
    segment = pl.coalesce((pl.col("at") + pl.col("before")).cast(pl.String), unknown)
    return joined.with_columns(segment.alias("segment")).drop("at", "before"), joined["before"].null_count()


def _offsets(pages: pl.DataFrame) -> pl.DataFrame:
    """Count the segments of the document before each page; null where that is unknown."""
    whole = pl.col("size").max().over("document")
    pages = pages.with_columns((pl.col("size") == whole).alias("is_whole"), whole.alias("whole"))
    parts = pages.filter((pl.col("flags") == "") & ~pl.col("is_whole")).sort("account")
    parts = parts.with_columns(
        (pl.col("size").cum_sum() - pl.col("size")).over(_OUTPUT).alias("before"),
        (pl.col("size").sum().over(_OUTPUT) == pl.col("whole")).alias("adds_up"),
    ).filter("adds_up")
    # A flagged page repeats one that the same account saw, so it begins where that one does.
    known = parts.select("account", *_OUTPUT, "size", "before").unique(["account", *_OUTPUT, "size"])
    placed = pages.join(known, on=["account", *_OUTPUT, "size"], how="left")
    before = pl.when("is_whole").then(0).otherwise(pl.col("before"))
    return placed.select(*_PAGE, before.cast(pl.Int64).alias("before")).unique(list(_PAGE))


def split_document_name(page: str | None, system: str) -> tuple[str | None, str]:
    """The document's own name, and what campaigns appended to it: `talk#SYS#bad2` by `x.SYS` is `talk` and `bad2`."""
    if page is None:
        return None, ""
    name, *added = page.split("#")
    flags: list[str] = []
    while added and _FLAG.fullmatch(added[-1]):
        flags.insert(0, added.pop())
    if added and (system in (added[-1], *added[-1].split("+")) or system.endswith("." + added[-1])):
        added.pop()
    return "#".join([name, *added]), "#".join(flags)


def place_in_document() -> pl.Expr:
    """The name of the source segment, without that of its document where it begins with it: `doc_#_3` is `3`."""
    within = pl.col("document").is_not_null() & pl.col(SOURCE).str.starts_with(pl.col("document"))
    after_document = pl.col(SOURCE).str.slice(pl.col("document").str.len_chars()).str.strip_chars_start("_#-:. ")
    return pl.when(within & (after_document != "")).then(after_document).otherwise(pl.col(SOURCE))
