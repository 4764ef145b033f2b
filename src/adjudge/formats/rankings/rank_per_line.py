"""One file of ranks per candidate, one rank per line, all files of a folder in step.

A candidate is called after its file, the campaign after the folder. Several annotators may stand one after the other in
each file (`stacked`): lines 1 to n are the first annotator's, lines n + 1 to 2n the second's, on the same segments.
A file of as many lines that does not hold ranks (the source, marks of contaminated segments) is kept as a column under
its name; one called `id` or `segment` names the segments, one called `document` their documents.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.errors import InputError, Source
from adjudge.core.files import read_text
from adjudge.core.humans import human_columns
from adjudge.core.judgments import SCHEMA, Judgments, SetAside, concat
from adjudge.core.wording import agreeing, counted
from adjudge.formats.duplicates import COPIED_TABLE, copied_table_note, lines_once
from adjudge.formats.parsing.bad_rows import BadRows
from adjudge.formats.parsing.delimited import stripped_lines
from adjudge.formats.parsing.sources import campaign_names, files_in, pair_of, stem
from adjudge.formats.rankings.labels import BLANKS, parse_ranks, scale_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from adjudge.formats.options import ReadOptions

NAMING = {"id": "segment", "ids": "segment", "segment": "segment", "document": "document", "documents": "document"}
_LINE = "line of the file"


@dataclass(frozen=True)
class _File:
    path: Path
    lines: tuple[str, ...]

    @property
    def name(self) -> str:
        return stem(self.path)

    @property
    def holds_ranks(self) -> bool:
        """Whether most lines are small whole numbers; a stray line among them is then a fault, not a text."""
        numbers = sum(line.isascii() and line.removesuffix(".0").isdigit() and len(line) < 6 for line in self.lines)
        filled = sum(line.lower() not in BLANKS for line in self.lines)
        return numbers > 0 and 2 * numbers >= filled


def read(paths: Sequence[Path], options: ReadOptions) -> Judgments:
    """Read folders (or files of one folder); `options.stacked` is the number of annotators in each file."""
    folders: dict[Path, list[_File]] = {}
    for path in files_in(paths):
        folders.setdefault(path.resolve().parent, []).append(_File(path, stripped_lines(read_text(path))))
    names = campaign_names(list(folders))
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
    source, target = pair_of(ranks[0].path.resolve().parent, options)
    block = _context_columns(fitting, count, options.stacked).with_columns(
        pl.lit(campaign).alias("campaign"),
        pl.lit("ranking").alias("protocol"),
        (pl.int_range(1, count + 1, dtype=pl.Int64) + screens).cast(pl.String).alias("screen"),
        pl.lit(source).alias("source_lang"),
        pl.lit(target).alias("target_lang"),
    )
    bad = {file.name: BadRows(Source(str(file.path), lambda row: row + 1), options, count) for file in ranks}
    labels = _parse_labels(block, ranks, bad, options)
    settled = [of_file.settle() for of_file in bad.values()]
    labels = _drop_broken_lines(labels, bad)
    notes = [
        f"{file.path.name} is ignored: it has {counted(len(file.lines), 'line')}, the ranks have {count:,}"
        for file in beside
        if file not in fitting
    ]
    notes += [note for _, row_notes in settled for note in row_notes]
    set_aside = [record for records, _ in settled for record in records]
    if times > 1:
        set_aside.append(SetAside(COPIED_TABLE, (times - 1) * count * len(ranks)))
        notes.append(copied_table_note(times))
    return Judgments.from_columns(labels, set_aside=set_aside, notes=notes, source=str(ranks[0].path))


def _parse_labels(
    block: pl.DataFrame, ranks: Sequence[_File], bad: Mapping[str, BadRows], options: ReadOptions
) -> pl.DataFrame:
    """A row for every line of every file of ranks, with what all files have in common."""
    scale = scale_of(options, len(ranks))
    labels = pl.concat(
        block.with_row_index(_LINE).with_columns(
            pl.lit(file.name).alias("system"),
            parse_ranks(pl.Series(file.lines, dtype=pl.String), scale=scale, bad=bad[file.name]),
        )
        for file in ranks
    )
    return labels.with_columns(**human_columns(labels["system"], options.human))


def _drop_broken_lines(labels: pl.DataFrame, bad: Mapping[str, BadRows]) -> pl.DataFrame:
    """All labels line by line. The files are in step: a line that is broken in one of them is left out of all."""
    broken = {row for of_file in bad.values() for row in of_file.problems}
    return labels.filter(~pl.col(_LINE).is_in(list(broken))).sort(_LINE, maintain_order=True).drop(_LINE)


def _drop_copied_lines(files: list[_File]) -> tuple[list[_File], int]:
    """The files with every line once, where all of them hold all their lines several times."""
    if len({len(file.lines) for file in files}) > 1:
        return files, 1
    kept, times = lines_once(list(zip(*(file.lines for file in files), strict=True)))
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
        what = f"has {count:,} lines, which are not {stacked} annotators one after the other; check --stacked"
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
