"""Customary means of very large tables, straight from CSV: ten million judgments in seconds and half a gigabyte.

Only the columns needed are read, words as codes. The rest is counting on codes, a slice of rows at a time so that
nothing but the codes and scores themselves is ever held for all rows. The result is that of `rank(method="zscore")`,
without tests.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.core.errors import InputError
from adjudge.core.sheet import RATED, significant

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

NEEDED = ("system", "annotator", "segment", "score")
# Rows at a time: few enough to stay in the processor's cache.
SLICE = 1 << 16
# Beyond so many combinations of codes, those that occur are sorted instead of marked in a table.
MOST_MARKS = 1 << 26


@dataclass(frozen=True)
class SystemMeans:
    """One system: raw and standardised mean over its segments, segments, judgments."""

    system: str
    raw: float
    z: float
    n: int
    n_all: int


def means_of_file(path: Path) -> tuple[SystemMeans, ...]:
    """The means of every system in a judgment table in CSV, the best z first."""
    table = _read(path)
    scales = _scales(table)
    rated = table if table["rated"].all() else table.filter("rated")
    if rated["system"].null_count():
        raise InputError("has scores without a system; name one in every row", file=path)
    found = _system_means(rated, scales)
    return tuple(sorted(found, key=lambda one: (math.isnan(one.z), -one.z, one.system)))


def _read(path: Path) -> pl.DataFrame:
    if not path.is_file():
        raise InputError("no such file; check the path", file=path)
    header = pl.read_csv(path, n_rows=0).columns
    missing = [name for name in NEEDED if name not in header]
    if missing:
        raise InputError(f"has no column '{missing[0]}'; see docs/data.md for the judgment table", file=path, line=1)
    wanted = [name for name in (*NEEDED, "document", "kind") if name in header]
    types = {name: pl.Float64 if name == "score" else pl.Categorical for name in wanted}
    rated = pl.col("kind").cast(pl.String).is_in(RATED) if "kind" in wanted else pl.lit(value=True)
    scored = pl.col("score").is_not_null() & pl.col("annotator").is_not_null()
    try:
        rows = pl.scan_csv(path, schema_overrides=types).select(*wanted, rated=rated).filter(scored)
        return rows.collect(engine="streaming")
    except pl.exceptions.PolarsError as fault:
        reason = str(fault).split("\n", 1)[0]
        raise InputError(f"cannot be read as scores ({reason}); check the columns", file=path) from fault


def _codes(column: pl.Series) -> NDArray[np.uint32]:
    """Codes of words; where there is none, the code after the last one."""
    codes = column.to_physical()
    return (codes.fill_null(_size(column) - 1) if codes.null_count() else codes).to_numpy()


def _size(column: pl.Series) -> int:
    """How many codes a column may hold: one for every word, and one for none."""
    highest = column.to_physical().max()
    return 1 if highest is None else int(highest) + 2  # type: ignore[arg-type]


def _scales(table: pl.DataFrame) -> tuple[Floats, Floats]:
    """Mean and standard deviation of every annotator by code, as `standardised` has them; no spread is NaN."""
    people = _size(table["annotator"])
    own, count, total, squares = (np.zeros(people) for _ in range(4))
    parts = [(_codes(part["annotator"]), part["score"].to_numpy()) for part in table.iter_slices(SLICE)]
    for who, score in parts:
        own[who] = score
    # Around a score of the annotator's own little is lost to rounding, and equal scores have no spread at all.
    for who, score in parts:
        around = score - own[who]
        count += np.bincount(who, minlength=people)
        total += np.bincount(who, weights=around, minlength=people)
        squares += np.bincount(who, weights=around * around, minlength=people)
    shift = total / np.maximum(count, 1)
    sd = significant(np.sqrt(np.maximum(squares - total * shift, 0) / np.maximum(count - 1, 1)))
    return significant(own + shift), np.where((count > 1) & (sd > 0), sd, np.nan)


def _items(table: pl.DataFrame) -> Integers:
    """A number for every segment, of whatever document, of every system: that of the segment, then of the system."""
    joined = np.zeros(table.height, dtype=np.int64)
    for name in ("document", "segment", "system"):
        if name in table.columns:
            joined *= _size(table[name])
            joined += _codes(table[name])
            joined = _numbered(joined)
    return joined


def _numbered(codes: Integers) -> Integers:
    """Codes replaced by their place among those that occur."""
    most = int(codes.max(initial=0)) + 1
    if most > MOST_MARKS:
        return np.unique(codes, return_inverse=True)[1]
    seen = np.zeros(most, dtype=bool)
    seen[codes] = True
    # Every code is in range; "clip" only spares the check, which would copy all of them.
    return np.take(np.cumsum(seen) - 1, codes, out=codes, mode="clip")


def _system_means(table: pl.DataFrame, scales: tuple[Floats, Floats]) -> Iterator[SystemMeans]:
    """Judgments averaged within items, items within systems; a judgment without z counts for the raw mean alone."""
    sums = _item_sums(table, scales)
    for code, name in _names(table["system"]):
        count, with_z, raw, z = sums.values[:, sums.system == code]
        yield SystemMeans(
            system=name,
            raw=float((raw / count).mean()),
            z=float((z[with_z > 0] / with_z[with_z > 0]).mean()) if with_z.any() else math.nan,
            n=len(count),
            n_all=int(count.sum()),
        )


@dataclass(frozen=True, eq=False)
class _ItemSums:
    """The system of every item, and four rows of sums: judgments, those with a z, scores, z."""

    system: NDArray[np.uint32]
    values: Floats


def _item_sums(table: pl.DataFrame, scales: tuple[Floats, Floats]) -> _ItemSums:
    mean, sd = scales
    item = _items(table)
    items = int(item.max(initial=-1)) + 1
    system = np.zeros(items, dtype=np.uint32)
    values = np.zeros((4, items))
    step = max(SLICE, items)
    for start in range(0, table.height, step):
        part, where = table.slice(start, step), item[start : start + step]
        who, score = _codes(part["annotator"]), part["score"].to_numpy()
        z = (score - mean[who]) / sd[who]
        has_z = ~np.isnan(z)
        z[~has_z] = 0.0
        system[where] = _codes(part["system"])
        for row, weights in enumerate((None, has_z, score, z)):
            values[row] += np.bincount(where, weights, minlength=items)
    return _ItemSums(system, values)


def _names(column: pl.Series) -> list[tuple[int, str]]:
    """The code and the name of every word in a column."""
    words = column.unique()
    return list(zip(words.to_physical().to_list(), words.cast(pl.String).to_list(), strict=True))
