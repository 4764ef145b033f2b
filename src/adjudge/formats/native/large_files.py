"""Large judgment tables in parts: rows that belong together are brought together on disk, then read a part at a time.

A table of a hundred million rows does not fit into memory as the ordinary reader holds it. It is streamed once into
files by a key, such as the annotator, so that each file holds all rows of some annotators in their order. Every part is
then read by the ordinary reader, and whatever is computed by annotator (or by segment, if that is the key) comes out as
it would from the whole table. Where a part holds a row that cannot be used, or something that only the whole table can
tell, the table needs the ordinary reader.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.errors import InputError, Source
from adjudge.core.fingerprint import fingerprint_of_file
from adjudge.core.judgments import Judgments, SetAside
from adjudge.core.machine_judges import any_judge
from adjudge.core.protocols import RELATIVE
from adjudge.formats.duplicates import REPEATED, last_of_each, repeated_note, without_copied_table
from adjudge.formats.native.reader import read_loaded, unsaid_protocol_note
from adjudge.formats.parsing.sources import stem
from adjudge.formats.tables.large_file_rows import ROW, rows_of_file
from adjudge.formats.tables.load import LoadedTable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from adjudge.formats.options import ReadOptions
    from adjudge.formats.tables.large_file_rows import FileRows

ROWS_PER_PART = 250_000
# Rows of every part that are held in memory while the table is split.
ROWS_HELD = 8192
ENDINGS = (".csv", ".parquet")
_NEEDED = ("system", "annotator", "segment")
# A table with several values in one of these is several tables.
_CONSTANT = ("campaign", "source_lang", "target_lang")
_PART = "part of the table"


@dataclass(frozen=True)
class PartRecord:
    """What is said of a part, to be added up over all parts."""

    unsaid: int
    """Rows that do not say their protocol."""
    repeated: int
    """Rows that judge what a later row judges again."""
    exact: int
    """Of those, exact copies."""
    set_aside: tuple[SetAside, ...] = ()
    """What was set aside after reading."""


@dataclass(frozen=True)
class PartRead:
    """The judgments of a part, each once, and what is said of them."""

    judgments: Judgments
    record: PartRecord


@dataclass(frozen=True)
class PartFile:
    """One part of a large table."""

    folder: Path
    table: Path
    """The file that the part is of."""
    options: ReadOptions

    def kept_file(self, name: str) -> Path:
        """A file or folder for what is needed of the part later; it lasts as long as the parts."""
        return self.folder / f"kept {name}"

    def read(self) -> PartRead | None:
        """The judgments; None where the ordinary reader must see the whole table."""
        frame = pl.read_parquet(self.folder / "*.parquet", hive_partitioning=False).sort(ROW).drop(ROW)
        unsaid = _unsaid(frame)
        try:
            judgments = read_loaded(LoadedTable(frame, Source(str(self.table))), self.options, stem(self.table))
        except InputError:
            return None
        if judgments.set_aside or judgments.notes != ((unsaid_protocol_note(unsaid),) if unsaid else ()):
            return None
        each, exact = last_of_each(Judgments(judgments.table))
        if len(without_copied_table(each)) < len(each):
            return None
        return PartRead(Judgments(each.table), PartRecord(unsaid, len(judgments) - len(each), exact))


@dataclass(frozen=True)
class LargeTable:
    """A large table in parts."""

    path: Path
    parts: tuple[PartFile, ...]
    annotators: tuple[str, ...]
    """All that are named, sorted."""
    is_relative: bool
    """Whether some judgments are rankings or choices between systems."""

    @cached_property
    def fingerprint(self) -> str:
        """That of the file, not of the table in it, for which the whole table would have to be read."""
        return fingerprint_of_file(self.path)


def record_of(parts: Sequence[PartRecord]) -> tuple[tuple[SetAside, ...], tuple[str, ...]]:
    """What is set aside and noted of the whole table."""
    unsaid, repeated, exact = (sum(getattr(part, name) for part in parts) for name in ("unsaid", "repeated", "exact"))
    rows = {REPEATED: repeated} if repeated else {}
    for record in (record for part in parts for record in part.set_aside):
        rows[record.reason] = rows.get(record.reason, 0) + record.rows
    notes = [unsaid_protocol_note(unsaid)] if unsaid else []
    notes += [repeated_note(repeated, exact)] if repeated else []
    return tuple(SetAside(reason, number) for reason, number in rows.items()), tuple(notes)


@contextmanager
def large_table(path: Path, by: Sequence[str], options: ReadOptions) -> Iterator[LargeTable | None]:
    """A table in parts, for as long as the context lasts; None where it is no plain table of one campaign and pair.

    Args:
        path: a judgment table in CSV or Parquet.
        by: columns in which the rows of a part agree with no row of another part; those that are not there are ignored.
        options: how to read.
    """
    rows = rows_of_file(path, options)
    if path.suffix.lower() not in ENDINGS or not set(_NEEDED) <= set(rows.header):
        yield None
        return
    with TemporaryDirectory(prefix="adjudge-") as folder:
        try:
            parts = _split(rows, [name for name in by if name in rows.header], folder)
            people = rows.scan_whole().select(pl.col("annotator").cast(pl.String).unique().drop_nulls())
            annotators = tuple(people.collect(engine="streaming").to_series().sort())
            is_relative = _is_relative(rows)
        except pl.exceptions.PolarsError:
            parts = None
        else:
            parts = None if any_judge(annotators) else parts
        if parts is None:
            yield None
            return
        yield LargeTable(path, tuple(PartFile(part, path, options) for part in parts), annotators, is_relative)


def _split(rows: FileRows, by: Sequence[str], folder: str) -> list[Path] | None:
    """The folders of the parts; None where the rows are of several campaigns or pairs, or of different lengths."""
    from pathlib import Path

    table = rows.scan_whole()
    several = [pl.col(name).n_unique().alias(name) for name in _CONSTANT if name in rows.header]
    last = pl.col(rows.header[-1]).null_count().alias("incomplete")
    height, incomplete, *values = table.select(pl.len(), last, *several).collect(engine="streaming").row(0)
    if height == 0 or any(number > 1 for number in values):
        return None
    if incomplete and not rows.has_as_many_fields(height):
        return None
    filled = table.filter(~pl.all_horizontal(pl.col(name).is_null() for name in rows.header))
    number = (pl.struct(pl.col(name).cast(pl.String) for name in by).hash() % -(-height // ROWS_PER_PART)).alias(_PART)
    filled.with_columns(number).sink_parquet(
        pl.PartitionBy(folder, key=_PART, include_key=False), compression="lz4", row_group_size=ROWS_HELD, mkdir=True
    )
    return sorted(Path(folder).iterdir())


def _is_relative(rows: FileRows) -> bool:
    """Whether the protocol of some rows is one of rankings, or is left out beside a rank."""
    protocol = pl.col("protocol").cast(pl.String) if "protocol" in rows.header else pl.lit(None, pl.String)
    ranked = pl.col("rank").is_not_null() if "rank" in rows.header else pl.lit(value=False)
    relative = protocol.is_in(list(RELATIVE)).fill_null(ranked).any().fill_null(value=False)
    return bool(rows.scan_whole().select(relative.alias("relative")).collect(engine="streaming").item())


def _unsaid(frame: pl.DataFrame) -> int:
    """Rows with an answer and without a protocol."""
    answered = [pl.col(name).is_not_null() for name in ("score", "rank") if name in frame.columns]
    if not answered:
        return 0
    unsaid = pl.col("protocol").is_null() if "protocol" in frame.columns else pl.lit(value=True)
    return int(frame.select((unsaid & pl.any_horizontal(answered)).sum()).item())
