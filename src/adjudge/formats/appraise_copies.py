"""Rows that were given within a corrupted copy of a document although they name no corrupted segment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from adjudge.formats.appraise_batches import Batches, CorruptedCopy

_SHOWN = ("account", "page", "system")
_Row = tuple[int, str, float]  # line, item, time


def in_corrupted_copies(rows: pl.DataFrame, batches: Batches) -> list[int]:
    """The line numbers of intact segments of corrupted copies.

    An account that saw a document both ways saved the genuine versions of the corrupted segments at one time and the
    corrupted ones at another. Every other segment of the copy was saved near one of these two times.
    """
    corrupted = rows.filter(pl.col("kind") == "degraded")
    seen = rows.join(corrupted.select(_SHOWN).unique(), on=_SHOWN, how="semi").filter(pl.col("kind") != "tutorial")
    lines: list[int] = []
    for group in seen.partition_by(_SHOWN):
        page, system = group["page"][0], group["system"][0]
        bad = _rows_of(group.filter(pl.col("kind") == "degraded"))
        copies = [
            one for one in batches.copies.get((page, system), []) if {item for _, item, _ in bad} <= one.corrupted
        ]
        if copies:
            lines += _within_copy(_rows_of(group.filter(pl.col("kind") != "degraded")), bad, copies)
    return lines


def _rows_of(group: pl.DataFrame) -> list[_Row]:
    return [(line, item, end or 0.0) for line, item, end in group.select("line", "item", "end").iter_rows()]


def _within_copy(others: list[_Row], bad: list[_Row], copies: list[CorruptedCopy]) -> list[int]:
    intact = frozenset().union(*(one.intact for one in copies))
    corrupted = frozenset().union(*(one.corrupted for one in copies))
    genuine_times = [time for _, item, time in others if item in corrupted]
    copy_times = [time for _, _, time in bad]
    return [line for line, item, time in others if item in intact and _nearer(time, copy_times, genuine_times)]


def _nearer(time: float, these: list[float], those: list[float]) -> bool:
    return not those or min(abs(time - one) for one in these) < min(abs(time - one) for one in those)
