"""Customary rankings of very large tables, straight from CSV: ten million judgments in seconds and half a gigabyte.

Only the columns needed are read, words as codes, in one go. A few sums over whole columns show whether every row is
plain; where one is not, the file is read again with an eye on its rows (`csv_with_faults`). The rest is counting on
codes, a slice of rows at a time. The result is that of `rank` with the methods `raw` and `zscore` and without
resamples, which would take minutes.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.core.errors import DataError, InputError
from adjudge.core.fingerprint import fingerprint_of_file
from adjudge.core.judgments import KEY
from adjudge.core.machine_judges import any_judge
from adjudge.core.protocols import KINDS, PROTOCOLS
from adjudge.formats.options import ReadOptions
from adjudge.formats.tables.cells import BOOLEANS, ROUNDING, SCORE_SCALE
from adjudge.formats.tables.large_file_rows import FileRows, own_codes
from adjudge.rank.assemble import Provenance
from adjudge.rank.large_files.columns import (
    CONSTANT,
    NO_RESAMPLES,
    WORDS,
    among,
    fits,
    human_systems,
    scored_rows,
    words_of,
)
from adjudge.rank.large_files.csv_with_faults import read_with_faults
from adjudge.rank.large_files.item_sums import (
    ITEM,
    ItemSums,
    annotator_scales,
    any_twice,
    codes_of,
    combined_codes,
    item_sums,
    joined_codes,
    occurring,
)
from adjudge.rank.score_means import SystemItems, assemble_means, equal_scores_note, few_annotators_note

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from numpy.typing import NDArray

    from adjudge.rank import RankSettings
    from adjudge.rank.methods import Method
    from adjudge.results.rank import Ranking

_KNOWN: dict[str, Collection[str]] = {"protocol": PROTOCOLS, "kind": KINDS}
# What must have a name in every row.
_NAMED = ("system", "annotator", "segment")


def rank_scores_csv(
    path: Path, method: Method, settings: RankSettings, options: ReadOptions | None = None
) -> Ranking | None:
    """Rank systems by `raw` or `zscore` straight from a judgment table in CSV; None if it must be read whole."""
    if not path.is_file():
        raise InputError("no such file; check the path", file=path)
    rows = FileRows(path, options or ReadOptions())
    if not fits(rows.header):
        return None
    plain = _read_plain(rows)
    read = (plain, (), ()) if plain is not None else read_with_faults(rows)
    if read is None:
        return None
    table, set_aside, notes = read
    # Counting takes one core; the digest is computed on another meanwhile.
    with ThreadPoolExecutor(1) as beside:
        digest = beside.submit(fingerprint_of_file, path)
        items, item_notes = _items(rows, table)
        return assemble_means(
            Provenance(digest.result(), set_aside, notes), items, method, settings, notes=(NO_RESAMPLES, *item_notes)
        )


def _items(rows: FileRows, table: pl.DataFrame) -> tuple[SystemItems, tuple[str, ...]]:
    """The means of all items, and notes on annotators; the column `item`, where it is there, numbers the items."""
    rated = table if table["rated"].all() else table.filter("rated")
    scales = annotator_scales(table)
    item = rated["item"].to_numpy() if "item" in rated.columns else combined_codes(rated, ITEM)
    sums = item_sums(rated, item, scales)
    names, human = _systems(rated, sums, rows.options)
    if len(names) < 2:
        raise DataError(f"at least two systems must be scored, check {rows.path}; nothing can be ranked")
    items = SystemItems(tuple(names), human, *sums.means(names), np.empty((0, len(names))))
    without_z = int((sums.values[0] - sums.values[1]).sum())
    constant = scales.without_spread(codes_of(rated["annotator"]))
    people = int(np.count_nonzero(scales.count))
    return items, (*equal_scores_note(constant, without_z), *few_annotators_note(people))


def _systems(table: pl.DataFrame, sums: ItemSums, options: ReadOptions) -> tuple[dict[str, int], NDArray[np.bool_]]:
    """The code of every system, in name order; and which are human: as the user or the file says, or by their names."""
    words = words_of(table["system"])
    codes = {str(words[code]): code for code in occurring(sums.system).tolist()}
    ordered = {name: codes[name] for name in sorted(codes)}
    marked = None
    if "human" in table.columns:
        true = [word for word in words_of(table["human"]) if BOOLEANS.get(word.lower())]
        human = table.filter(among(table, "human", true, otherwise=""))
        marked = set(human["system"].unique().cast(pl.String).to_list())
    return ordered, human_systems(list(ordered), marked, options)


def _read_plain(rows: FileRows) -> pl.DataFrame | None:
    """All scores, read in one go; None where a row may be faulty or stand there twice, or nothing can be counted."""
    header = rows.header
    types: dict[str, pl.DataType] = {name: own_codes() for name in (*WORDS, *KEY) if name in header}
    types["score"] = pl.Float64()
    try:
        # A row with too many fields, or a score that is no number, is an error here.
        table = pl.read_csv(
            rows.path, columns=[name for name in header if name in types], schema_overrides=types, infer_schema=False
        )
    except pl.exceptions.PolarsError:
        return None
    if not _is_plain(table, header):
        return None
    complete = header[-1] in table.columns and not table[header[-1]].null_count()
    if not complete and not rows.has_as_many_fields(table.height):
        return None
    table = table.with_columns(pl.Series("item", combined_codes(table, ITEM)))
    if any_twice(joined_codes(table, ("item", *(name for name in KEY if name not in (*ITEM, *CONSTANT))))):
        return None
    scored = scored_rows(table)
    if scored.height < table.height or not scored["rated"].all():
        scored = scored.drop("item")
    return scored if scored["rated"].any() else None


def _is_plain(table: pl.DataFrame, header: list[str]) -> bool:
    """Whether every row has its names, a known protocol and kind and a score on the scale, and all are of one pair."""
    if any(table[name].null_count() or "" in words_of(table[name]) for name in _NAMED):
        return False
    if any_judge(words_of(table["annotator"])):
        return False
    constant = [table[name] for name in CONSTANT if name in header]
    several = any(len(words_of(column)) + bool(column.null_count()) > 1 for column in constant)
    strange = any(set(words_of(table[name])) - set(allowed) for name, allowed in _KNOWN.items() if name in header)
    unclear = "protocol" in header and "rank" in header and table["protocol"].null_count() > 0
    return not (several or strange or unclear) and _is_on_scale(table["score"])


def _is_on_scale(score: pl.Series) -> bool:
    least, most = score.min(), score.max()
    if least is None or most is None or not np.isfinite(float(score.sum())):
        return False
    return float(least) >= SCORE_SCALE[0] - ROUNDING and float(most) <= SCORE_SCALE[1] + ROUNDING  # type: ignore[arg-type]
