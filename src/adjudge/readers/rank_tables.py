"""Any delimited table with one column of ranks per candidate and one row per segment; one file per annotator.

The annotator is the file's name without its ending, the campaign its folder. A candidate is called after its column,
without an ending that all rank columns share (`Ref_rating`, `MT_A_rating`: `Ref`, `MT_A`). Columns that are neither
segment nor rank are kept under their own names.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from adjudge.readers import parsing
from adjudge.readers.columns import BLANKS, parse_ranks, scale_of
from adjudge.readers.duplicates import COPIED_TABLE, copied_table_note, keep_lines_once
from adjudge.table.errors import InputError, Source, param, shown
from adjudge.table.files import read_text
from adjudge.table.judgments import SCHEMA, Judgments, SetAside, concat
from adjudge.table.participants import human_columns
from adjudge.table.wording import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adjudge.readers.options import ReadOptions


DEFAULT_SEGMENT = "segment"
_ROW = "row of the file"


def read_rank_table(paths: Sequence[Path], options: ReadOptions) -> Judgments:
    """Read the files, each by one annotator; `options` names the segment column and the rank columns."""
    parts: list[Judgments] = []
    screens = 0
    for path in parsing.files_in(paths):
        table = parsing.read_delimited(path, None, options=options)
        parts.append(_read_table(table, screens, options))
        screens += len(table.rows)
    return concat(parts)


def _read_table(table: parsing.Delimited, screens: int, options: ReadOptions) -> Judgments:
    ranks = _rank_columns(table, options)
    segment = _segment_columns(table, options)
    if not table.rows:
        raise InputError("holds a header but no rows; check that the file is complete", file=table.path)
    scale = scale_of(options, len(ranks))
    segments = pl.select(pl.concat_str([table.texts(column) for column in segment], separator="/")).to_series()
    kept = [i for i in range(len(table.header)) if i not in {*ranks.values(), *segment} and not _counts_rows(table, i)]
    block = pl.DataFrame({"segment": segments, **_extra_columns(table, kept)})
    source, target = parsing.pair_of(table.path, options)
    block = block.with_columns(
        _number_screens(block, screens).alias("screen"),
        campaign=pl.lit(table.path.resolve().parent.name),
        protocol=pl.lit("ranking"),
        annotator=pl.lit(parsing.stem(table.path)),
        source_lang=pl.lit(source),
        target_lang=pl.lit(target),
    )
    labels = pl.concat(
        block.with_row_index(_ROW).with_columns(
            pl.lit(name).alias("system"), parse_ranks(table.texts(column), scale=scale, bad=table.bad)
        )
        for name, column in ranks.items()
    )
    set_aside, notes = table.bad.settle()
    labels = labels.filter(~pl.col(_ROW).is_in(list(table.bad.problems)))
    labels = labels.sort(_ROW, maintain_order=True).drop(_ROW)
    labels = labels.with_columns(**human_columns(labels["system"], options.human))
    taken = {"segment": segment, **{f"rank of {name}": [column] for name, column in ranks.items()}}
    uses = parsing.column_uses(table.path, table.header, taken, kept=kept)
    return Judgments.from_columns(labels, set_aside=set_aside, notes=notes, source=str(table.path), uses=uses)


def _number_screens(block: pl.DataFrame, screens: int) -> pl.Series:
    """A number for every row, the same for rows that show the same: judging a segment again is a correction.

    Rows that share a segment but differ in what is kept beside the ranks, such as a text, show different things.
    """
    row = pl.col(_ROW)
    named = pl.col("segment").fill_null("").str.strip_chars("/ ") != ""
    first = pl.when(named).then(row.min().over(block.columns)).otherwise(row)
    return block.with_row_index(_ROW).select((first.rank("dense").cast(pl.Int64) + screens).cast(pl.String)).to_series()


def _rank_columns(table: parsing.Delimited, options: ReadOptions) -> dict[str, int]:
    """The place of every candidate's ranks, by the candidate's name."""
    if len(options.rank_columns) < 2:
        raise InputError(
            f"name two or more rank columns with {param('rank_columns')}; {_list_columns(table)}",
            file=table.path,
            line=1,
        )
    columns = [_column(table, name, "rank_columns") for name in options.rank_columns]
    if len(set(columns)) < len(columns):
        raise InputError(f"{param('rank_columns')} names a column twice; name each once", file=table.path)
    names = candidate_names([table.header[column] for column in columns])
    return dict(zip(names, columns, strict=True))


def _segment_columns(table: parsing.Delimited, options: ReadOptions) -> list[int]:
    """The columns that make up the segment: one, or several joined by commas."""
    wanted = options.segment_column or DEFAULT_SEGMENT
    if table.find(wanted) is not None:
        return [table.need(wanted)]
    if options.segment_column is None:
        what = f"name the column of the segments with {param('segment_column')}; {_list_columns(table)}"
        raise InputError(what, file=table.path, line=1)
    return [_column(table, name, "segment_column") for name in wanted.split(",")]


def _column(table: parsing.Delimited, name: str, option: str) -> int:
    column = table.find(name.strip())
    if column is None:
        raise InputError(f"{param(option)} names '{shown(name)}', but {_list_columns(table)}", file=table.path, line=1)
    return column


def _list_columns(table: parsing.Delimited) -> str:
    return "the columns are " + shown(", ".join(name or "(without a name)" for name in table.header), 300)


def candidate_names(columns: Sequence[str]) -> list[str]:
    """Column names without the longest ending they share, if it starts at `_`, `-`, `.` or a blank."""
    shortest = min(len(name) for name in columns)
    for length in range(shortest - 1, 1, -1):
        ending = columns[0][-length:]
        if ending[0] in "_-. " and all(name.endswith(ending) for name in columns):
            return [name[:-length] for name in columns]
    return list(columns)


def _extra_columns(table: parsing.Delimited, kept: Sequence[int]) -> dict[str, pl.Series]:
    """Columns under their own names; one that is called as a column of the judgment table gets a suffix."""
    extra: dict[str, pl.Series] = {}
    for column in kept:
        header = table.header[column] or f"column {column + 1}"
        free = header if header not in {*SCHEMA, *extra, _ROW} else f"{header} (column {column + 1})"
        extra[free] = table.texts(column)
    return extra


def _counts_rows(table: parsing.Delimited, column: int) -> bool:
    """Whether a column has no name and only counts the rows from 0, as data frames write it: it holds nothing."""
    return not table.header[column] and table.texts(column).to_list() == [str(i) for i in range(len(table.rows))]


# One file of ranks per candidate, one rank per line, all files of a folder in step.
# A candidate is called after its file, the campaign after the folder. Several annotators may stand one after the
# other in each file (`stacked`): lines 1 to n are the first annotator's, lines n + 1 to 2n the second's, on the same
# segments. A file of as many lines that does not hold ranks (the source, marks of contaminated segments) is kept as a
# column under its name; one called `id` or `segment` names the segments, one called `document` their documents.

NAMING = {"id": "segment", "ids": "segment", "segment": "segment", "document": "document", "documents": "document"}
_LINE = "line of the file"


@dataclass(frozen=True)
class _File:
    path: Path
    lines: tuple[str, ...]

    @property
    def name(self) -> str:
        return parsing.stem(self.path)

    @property
    def holds_ranks(self) -> bool:
        """Whether most lines are small whole numbers; a stray line among them is then a fault, not a text."""
        numbers = sum(line.isascii() and line.removesuffix(".0").isdigit() and len(line) < 6 for line in self.lines)
        filled = sum(line.lower() not in BLANKS for line in self.lines)
        return numbers > 0 and 2 * numbers >= filled


def read_rank_lines(paths: Sequence[Path], options: ReadOptions) -> Judgments:
    """Read folders (or files of one folder); `options.stacked` is the number of annotators in each file."""
    folders: dict[Path, list[_File]] = {}
    for path in parsing.files_in(paths):
        folders.setdefault(path.resolve().parent, []).append(_File(path, parsing.stripped_lines(read_text(path))))
    names = parsing.campaign_names(list(folders))
    parts: list[Judgments] = []
    screens = 0
    for name, files in zip(names, folders.values(), strict=True):
        part = _read_folder(name, files, screens, options)
        screens += part.table["screen"].n_unique()
        parts.append(part)
    return concat(parts)


def _read_folder(campaign: str, files: list[_File], screens: int, options: ReadOptions) -> Judgments:
    files, times = _drop_copied_lines(files)
    ranks = [file for file in files if file.holds_ranks and file.name.lower() not in NAMING]
    if len(ranks) < 2:
        problem = f"{len(ranks)} of {counted(len(files), 'file')} {agreeing(len(ranks), 'holds', 'hold')} ranks"
        raise InputError(f"{problem}, two or more are needed, one per candidate; name them all", file=files[0].path)
    count = _common_length(ranks, options.stacked)
    beside = [file for file in files if file not in ranks]
    fitting = [file for file in beside if len(file.lines) == count]
    source, target = parsing.pair_of(ranks[0].path.resolve().parent, options)
    block = _context_columns(fitting, count, options.stacked).with_columns(
        campaign=pl.lit(campaign),
        protocol=pl.lit("ranking"),
        screen=(pl.int_range(1, count + 1, dtype=pl.Int64) + screens).cast(pl.String),
        source_lang=pl.lit(source),
        target_lang=pl.lit(target),
    )
    bad = {file.name: parsing.BadRows(Source(str(file.path), lambda row: row + 1), options, count) for file in ranks}
    scale = scale_of(options, len(ranks))
    labels = pl.concat(
        block.with_row_index(_LINE).with_columns(
            pl.lit(file.name).alias("system"),
            parse_ranks(pl.Series(file.lines, dtype=pl.String), scale=scale, bad=bad[file.name]),
        )
        for file in ranks
    )
    settled = [of_file.settle() for of_file in bad.values()]
    # The files are in step: a line that is broken in one of them is left out of all.
    broken = {row for of_file in bad.values() for row in of_file.problems}
    labels = labels.filter(~pl.col(_LINE).is_in(list(broken))).sort(_LINE, maintain_order=True).drop(_LINE)
    labels = labels.with_columns(**human_columns(labels["system"], options.human))
    notes = [
        f"{file.path.name} is ignored: it has {counted(len(file.lines), 'line')}, the ranks have {count:,}"
        for file in beside
        if file not in fitting
    ]
    if options.stacked > 1:
        parts = f"the {options.stacked} parts of each file are taken for {options.stacked} annotators"
        notes.append(
            f"{parts}. If several people share a part, read files by person, so that verdicts reach beyond them"
        )
    notes += [note for _, row_notes in settled for note in row_notes]
    set_aside = [record for records, _ in settled for record in records]
    if times > 1:
        set_aside.append(SetAside(COPIED_TABLE, (times - 1) * count * len(ranks)))
        notes.append(copied_table_note(times))
    return Judgments.from_columns(labels, set_aside=set_aside, notes=notes, source=str(ranks[0].path))


def _drop_copied_lines(files: list[_File]) -> tuple[list[_File], int]:
    """The files with every line once, where all of them hold all their lines several times."""
    if len({len(file.lines) for file in files}) > 1:
        return files, 1
    kept, times = keep_lines_once(list(zip(*(file.lines for file in files), strict=True)))
    if times == 1:
        return files, 1
    return [replace(file, lines=file.lines[kept.start : kept.stop : kept.step]) for file in files], times


def _common_length(ranks: list[_File], stacked: int) -> int:
    """The number of lines that all files of ranks share."""
    count = len(ranks[0].lines)
    for file in ranks[1:]:
        if file.name in {other.name for other in ranks if other is not file}:
            raise InputError(f"another file is called '{file.name}' as well; candidates need names", file=file.path)
        if len(file.lines) != count:
            other = f"{ranks[0].path.name} has {count:,}"
            held = counted(len(file.lines), "line")
            raise InputError(f"has {held} where {other}; they must be in step", file=file.path)
    if stacked < 1 or count % stacked:
        what = f"has {count:,} lines, which are not {stacked} annotators one after the other; check {param('stacked')}"
        raise InputError(what, file=ranks[0].path)
    return count


def _context_columns(beside: list[_File], count: int, stacked: int) -> pl.DataFrame:
    """Make the columns of annotators and segments, and those of the files beside the ranks."""
    each = count // stacked
    columns: dict[str, list[str]] = {"segment": [str(i % each + 1) for i in range(count)]}
    if stacked > 1:
        columns["annotator"] = [f"annotator {i // each + 1}" for i in range(count)]
    for file in beside:
        name = NAMING.get(file.name.lower(), file.name)
        taken = name in {*SCHEMA, *columns, _LINE} and file.name.lower() not in NAMING
        columns[f"{name} (file)" if taken else name] = list(file.lines)
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
