"""When HITs were done, how long they took, and which were rejected: from the files beside the scores, one row per HIT.

Only the time of a whole HIT is known. It is divided evenly among its items, so that sums over a HIT, a worker or a
system are right, while nothing is claimed about single items.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from adjudge.formats.parsing.spaced import Spaced, read_spaced

if TYPE_CHECKING:
    from adjudge.formats.options import ReadOptions
    from adjudge.formats.wmt_da.files import Campaign

_WAYS_TO_WRITE_A_TIME = ("%Y-%m-%d %H:%M:%S", "%a %b %d %H:%M:%S %Y")
_HIT = ("hit_id", "annotator")


def with_times(
    rows: pl.DataFrame, campaign: Campaign, item: str, options: ReadOptions
) -> tuple[pl.DataFrame, list[str]]:
    """The rows with the columns started, ended, active_seconds and rejected, and notes on what cannot be read."""
    hits, notes = _read_hits(campaign, item, options)
    timed = rows.join(hits, on=_HIT, how="left", maintain_order="left")
    seconds = pl.coalesce("hit_seconds", pl.when(pl.col("seconds") > 0).then("seconds"))
    items = (~pl.col("copy")).sum().over(*_HIT)
    has_hit = pl.col("hit_id").is_not_null() & (items > 0)
    timed = timed.with_columns(pl.when(has_hit).then(seconds / items).alias("active_seconds"))
    rejected, rejection_notes = _find_rejected(timed, campaign, item, options)
    return timed.with_columns(rejected).drop("hit_seconds", "approval"), [*notes, *rejection_notes]


def _read_hits(campaign: Campaign, item: str, options: ReadOptions) -> tuple[pl.DataFrame, list[str]]:
    """Times by HIT and worker; corrected for HITs done at the same time, where such a file is there."""
    schema: dict[str, pl.DataType | type[pl.DataType]] = {
        "hit_id": pl.String, "annotator": pl.String, "hit_seconds": pl.Float64,
        "started": pl.Datetime("us", "UTC"), "ended": pl.Datetime("us", "UTC"), "approval": pl.String,
    }  # fmt: skip
    files = sorted(campaign.find("times", item=item), key=lambda companion: "corrected" not in companion.path.name)
    for companion in files:
        table = read_spaced(companion.path, header="approval")
        if table is not None and table.frame.height and table.header:
            hits, notes = _parse_hits(table, options)
            return hits.unique(_HIT, keep="last").match_to_schema(schema, missing_columns="insert"), notes
    return pl.DataFrame(schema=schema), []


def _parse_hits(table: Spaced, options: ReadOptions) -> tuple[pl.DataFrame, list[str]]:
    bad = table.bad_rows(options)
    columns: dict[str, pl.Series] = {}
    for name, names in (("hit_id", ("HITId", "hit")), ("annotator", ("WorkerId", "wid")), ("approval", ("approval",))):
        if (column := table.column_index(*names)) is not None:
            columns[name] = table.texts(column)
    if (column := table.column_index("corrected.work.seconds", "work-seconds", "work.seconds")) is not None:
        columns["hit_seconds"] = table.numbers(column, "work seconds", bad, optional=True)
    for name, names in (("started", ("accept", "accept.time")), ("ended", ("submit", "submit.time"))):
        if (column := table.column_index(*names)) is not None:
            columns[name] = _parse_times(table.texts(column))
    _, notes = bad.settle()
    return pl.DataFrame(columns).filter(bad.usable()), notes


def _parse_times(texts: pl.Series) -> pl.Series:
    """Times, taken as UTC: the files do not say their zone."""
    ways = [texts.str.to_datetime(way, time_unit="us", strict=False) for way in _WAYS_TO_WRITE_A_TIME]
    return pl.select(pl.coalesce(ways)).to_series().dt.replace_time_zone("UTC")


def _find_rejected(
    rows: pl.DataFrame, campaign: Campaign, item: str, options: ReadOptions
) -> tuple[pl.Series, list[str]]:
    """Whether a row's HIT was rejected; where only the worker's rate of rejection is known, whether it is not 0."""
    if rows["approval"].null_count() < rows.height:
        return (rows["approval"] == "Rejected").alias("rejected"), []
    for companion in campaign.find("workers", item=item):
        table = read_spaced(companion.path, header="reject.rate")
        if table is None or not table.header:
            continue
        worker, rate = table.column_index("wid", "WorkerId"), table.column_index("reject.rate")
        if worker is not None and rate is not None:
            bad = table.bad_rows(options)
            often = table.numbers(rate, "reject.rate", bad, optional=True) > 0
            _, notes = bad.settle()
            people = table.texts(worker).filter(bad.usable() & often).to_list()
            return rows["annotator"].is_in(people).alias("rejected"), notes
    return pl.repeat(None, rows.height, dtype=pl.Boolean, eager=True).alias("rejected"), []
