"""A side table: more columns for judgments, such as domain, original language or topic, joined on shared names.

The table is any file that holds one (CSV, TSV, Excel, JSON, Parquet). Its columns that name something in the judgments
(`KEYS`, most under any of their usual names) say which judgments a row is about: the document, the segment, or both.
All others are added. What has no row in the table stays without a value, and a note counts it.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import compress
from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.errors import shown
from adjudge.core.judgments import SCHEMA, first_true
from adjudge.core.languages import language_code
from adjudge.core.wording import agreeing, counted
from adjudge.formats.parsing.sources import with_languages
from adjudge.formats.tables.columns import map_columns, renamed
from adjudge.formats.tables.load import load_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adjudge.core.errors import Source
    from adjudge.core.judgments import Judgments

KEYS = ("campaign", "source_lang", "target_lang", "annotator", "task", "document", "segment")
UNDER_OTHER_NAMES = ("annotator", "document", "segment", "source_lang", "target_lang", "pair")
"""Keys that are known by their usual other names, too; a column `project` or `batch` may well be an attribute."""


def add_attributes(judgments: Judgments, path: Path) -> Judgments:
    """Add the columns of a side table to the judgments."""
    loaded = load_table(path)
    source = loaded.source
    if loaded.ragged:
        raise source.fault(loaded.ragged[min(loaded.ragged)], min(loaded.ragged))
    mapping = map_columns(loaded.frame.columns, source, meanings=UNDER_OTHER_NAMES)
    mapping.refuse_twice(loaded.twice)
    frame, pair_notes = with_languages(renamed(loaded.frame, mapping))
    keys = [name for name in KEYS if name in frame.columns]
    added = [name for name in frame.columns if name not in (*keys, "pair")]
    _check(keys, added, judgments, source)
    frame = frame.select(*keys, *added).with_columns(pl.col(keys).cast(pl.String).str.strip_chars())
    for language in {"source_lang", "target_lang"} & set(keys):
        frame = frame.with_columns(pl.col(language).map_elements(language_code, return_dtype=pl.String))
    known = _parse_numbers(_drop_equal_rows(frame, keys, source), added)
    if not judgments.table.join(known, on=keys, how="semi").height:
        example = " ".join(shown(judgments.table[name][0]) for name in keys)
        raise source.fault(f"has no row for any {' and '.join(keys)} of the judgments, such as '{example}'")
    table = judgments.table.join(known, on=keys, how="left", maintain_order="left", validate="m:1")
    notes = (*loaded.notes, *pair_notes, *_notes(judgments.table, known, keys, path))
    return replace(judgments, table=table, notes=(*judgments.notes, *notes))


def _check(keys: Sequence[str], added: Sequence[str], judgments: Judgments, source: Source) -> None:
    if not keys:
        named = "'document', 'segment' or another name of what was judged"
        raise source.fault(f"has no column {named}, so its rows belong to no judgment; add one")
    if not added:
        raise source.fault(f"has nothing but {', '.join(keys)}; add columns that say more of them")
    for name in added:
        if name in judgments.table.columns and (name in SCHEMA or judgments.table[name].is_not_null().any()):
            raise source.fault(f"has a column '{shown(name)}', which the judgments have, too; give it another name")


def _drop_equal_rows(frame: pl.DataFrame, keys: Sequence[str], source: Source) -> pl.DataFrame:
    """Keep one row for each key; two that contradict each other are refused."""
    distinct = frame.unique(maintain_order=True)
    again = first_true(distinct.select(pl.struct(keys).is_duplicated()).to_series())
    if again is not None:
        key = ", ".join(f"{name} '{shown(distinct[name][again])}'" for name in keys)
        raise source.fault(f"says two different things of {key}; keep one row")
    return distinct


def _parse_numbers(frame: pl.DataFrame, added: Sequence[str]) -> pl.DataFrame:
    """Convert columns of numbers, which files hold as text."""
    texts = [frame[name] for name in added if frame[name].dtype == pl.String and frame[name].is_not_null().any()]
    numbers = [text.cast(pl.Float64, strict=False) for text in texts]
    same = (number.null_count() == text.null_count() for number, text in zip(numbers, texts, strict=True))
    return frame.with_columns(compress(numbers, same))


def _notes(table: pl.DataFrame, known: pl.DataFrame, keys: Sequence[str], path: Path) -> tuple[str, ...]:
    """Count what did not match."""
    judged = table.select(keys).unique()
    without = judged.join(known.select(keys), on=keys, how="anti")
    rows = table.join(without, on=keys, how="semi", nulls_equal=True).height
    never = known.select(keys).join(judged, on=keys, how="anti").height
    unit = " and ".join(keys)
    notes = []
    if without.height:
        example = shown(" ".join(str(value) for value in without.row(0) if value is not None))
        what = f"{without.height:,} of {judged.height:,} values of {unit} in the judgments ({counted(rows, 'row')})"
        notes.append(f"{what} {agreeing(without.height, 'has', 'have')} no row in {path.name}, such as '{example}'")
    if never:
        of_all = f"{never:,} of {counted(known.height, 'row')} of {path.name}"
        notes.append(f"{of_all} {agreeing(never, 'names', 'name')} a {unit} that nobody judged")
    return tuple(notes)
