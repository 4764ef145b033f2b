"""One file of ranks per candidate, one rank per line, all files of a folder in step.

A candidate is called after its file, the campaign after the folder. Several annotators may stand one after the other in
each file (`stacked`): lines 1 to n are the first annotator's, lines n + 1 to 2n the second's, on the same segments.
A file of as many lines that does not hold ranks (the source, marks of contaminated segments) is kept as a column under
its name; one called `id` or `segment` names the segments, one called `document` their documents.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.errors import InputError
from adjudge.core.files import read_text
from adjudge.core.judgments import SCHEMA, Judgments, concat
from adjudge.formats.parsing.sources import campaign_names, files_in, pair_of, stem
from adjudge.formats.rankings.labels import BLANKS, human_columns, parse_ranks, scale_of

if TYPE_CHECKING:
    from collections.abc import Sequence
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
        folders.setdefault(path.resolve().parent, []).append(_File(path, _lines(path)))
    names = campaign_names(list(folders))
    parts: list[Judgments] = []
    screens = 0
    for name, files in zip(names, folders.values(), strict=True):
        part = _read_folder(name, files, screens, options)
        screens += part.table["screen"].n_unique()
        parts.append(part)
    return concat(parts)


def _lines(path: Path) -> tuple[str, ...]:
    lines = [line.strip() for line in read_text(path).split("\n")]
    return tuple(lines[:-1] if lines and not lines[-1] else lines)


def _read_folder(campaign: str, files: list[_File], screens: int, options: ReadOptions) -> Judgments:
    ranks = [one for one in files if one.holds_ranks and one.name.lower() not in NAMING]
    if len(ranks) < 2:
        found = f"{len(ranks)} of {len(files)} files hold ranks"
        raise InputError(f"{found}, two or more are needed, one per candidate; name them all", file=files[0].path)
    count = _length(ranks, options.stacked)
    beside = [one for one in files if one not in ranks]
    fitting = [one for one in beside if len(one.lines) == count]
    lines, scale = pl.int_range(1, count + 1, eager=True, dtype=pl.Int64), scale_of(options, len(ranks))
    block = _block(fitting, count, options.stacked).with_columns(
        pl.lit(campaign).alias("campaign"),
        pl.lit("ranking").alias("protocol"),
        (lines + screens).cast(pl.String).alias("screen"),
        *(
            pl.lit(one).alias(name)
            for name, one in zip(("source_lang", "target_lang"), _pair(ranks, options), strict=True)
        ),
    )
    labels = pl.concat(
        block.with_row_index(_LINE).with_columns(
            pl.lit(one.name).alias("system"),
            parse_ranks(pl.Series(one.lines, dtype=pl.String), scale=scale, path=one.path, lines=lines),
        )
        for one in ranks
    )
    labels = labels.sort(_LINE, maintain_order=True).drop(_LINE)
    labels = labels.with_columns(**human_columns(labels["system"], options.human))
    notes = [
        f"{one.path.name} is left alone: it has {len(one.lines):,} lines, the ranks have {count:,}"
        for one in beside
        if one not in fitting
    ]
    return Judgments.from_columns(labels, notes=notes, source=str(ranks[0].path))


def _pair(ranks: list[_File], options: ReadOptions) -> tuple[str, str]:
    return pair_of(ranks[0].path.resolve().parent, options)


def _length(ranks: list[_File], stacked: int) -> int:
    """The number of lines that all files of ranks share."""
    count = len(ranks[0].lines)
    for one in ranks[1:]:
        if one.name in {other.name for other in ranks if other is not one}:
            raise InputError(f"another file is called '{one.name}' as well; candidates need names", file=one.path)
        if len(one.lines) != count:
            other = f"{ranks[0].path.name} has {count:,}"
            raise InputError(f"has {len(one.lines):,} lines where {other}; they must be in step", file=one.path)
    if stacked < 1 or count % stacked:
        what = f"has {count:,} lines, which are not {stacked} annotators one after the other; check --stacked"
        raise InputError(what, file=ranks[0].path)
    return count


def _block(beside: list[_File], count: int, stacked: int) -> pl.DataFrame:
    """Who judged what, line by line, and the columns of the files beside the ranks."""
    each = count // stacked
    columns: dict[str, list[str]] = {"segment": [str(i % each + 1) for i in range(count)]}
    if stacked > 1:
        columns["annotator"] = [f"annotator {i // each + 1}" for i in range(count)]
    for one in beside:
        name = NAMING.get(one.name.lower(), one.name)
        taken = name in {*SCHEMA, *columns, _LINE} and one.name.lower() not in NAMING
        columns[f"{name} (file)" if taken else name] = list(one.lines)
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
