"""Counts of comparisons: lines `A B wins ties losses` from the point of view of A, both directions or one.

Who judged which segment is lost in such files. Each comparison becomes a screen with two ranks; the annotator is null.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.core.errors import InputError, Source, shown
from adjudge.core.files import memory_at_hand, read_text
from adjudge.core.humans import human_columns
from adjudge.core.judgments import Judgments, SetAside
from adjudge.core.wording import counted
from adjudge.formats.parsing.bad_rows import BadRows
from adjudge.formats.parsing.delimited import numbered_lines
from adjudge.formats.parsing.sources import files_in, pair_of, read_each

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from adjudge.formats.options import ReadOptions

# Beyond this a count is more likely damage than work that people did.
MOST_COMPARISONS = 5_000_000
# Measured memory for the two rows of a comparison while they are made.
BYTES_PER_COMPARISON = 300
_NO_COUNTS = "line that is no comparison"
_WHOLE = re.compile(r"[+]?[0-9]{1,18}")


@dataclass(frozen=True)
class _Count:
    first: str
    second: str
    wins: int
    ties: int
    losses: int
    row: int

    @property
    def numbers(self) -> tuple[int, int, int]:
        return self.wins, self.ties, self.losses

    @property
    def reversed_numbers(self) -> tuple[int, int, int]:
        return self.losses, self.ties, self.wins


def read(paths: Sequence[Path], options: ReadOptions) -> Judgments:
    """Read the files; each becomes a campaign named after it. The language pair comes from its name or --pair."""
    return read_each(files_in(paths), options, _read_file)


def _read_file(path: Path, campaign: str, options: ReadOptions) -> Judgments:
    lines = list(numbered_lines(read_text(path)))
    bad = BadRows(Source(str(path), lambda row: lines[row][0]), options, len(lines))
    counts, copies = _merge_directions(_parse_counts(lines, bad), bad)
    set_aside, row_notes = bad.settle()
    total = sum(count.wins + count.ties + count.losses for count in counts)
    if total == 0:
        raise InputError("holds no comparison; lines like 'A B wins ties losses' are needed", file=path)
    most = min(MOST_COMPARISONS, memory_at_hand() // BYTES_PER_COMPARISON)
    if total > most:
        what = f"stands for {total:,} comparisons, more than the {most:,} that are read"
        raise InputError(f"{what}; check the counts", file=path)
    source, target = pair_of(path, options)
    columns = _make_rows(counts)
    repeat = "1 line repeats another" if copies == 1 else f"{copies:,} lines repeat others"
    columns = columns.with_columns(
        pl.lit(campaign).alias("campaign"),
        pl.lit("pairwise").alias("protocol"),
        pl.lit(source).alias("source_lang"),
        pl.lit(target).alias("target_lang"),
        **human_columns(columns["system"], options.human),
    )
    return Judgments.from_columns(
        columns,
        set_aside=[*set_aside, SetAside("line repeated later in the file", copies)],
        notes=[*_never_compared(counts), *row_notes, *([f"{repeat}; each pair counts once"] if copies else [])],
        source=str(path),
    )


def _parse_counts(lines: list[tuple[int, str]], bad: BadRows) -> Iterator[_Count]:
    for row, (line, text) in enumerate(lines):
        fields = text.split()
        if line == 1 and [field.casefold() for field in fields[2:]] == ["wins", "ties", "losses"]:
            bad.rows -= 1
            continue
        if len(fields) != 5:
            held = counted(len(fields), "field")
            bad.row(row, f"{held} where 'A B wins ties losses' has 5; correct the line", _NO_COUNTS)
        elif fields[0] == fields[1]:
            bad.row(row, f"'{shown(fields[0])}' is compared with itself; correct the line", _NO_COUNTS)
        elif broken := next((value for value in fields[2:] if not _WHOLE.fullmatch(value)), None):
            needed = "it cannot be negative" if broken.startswith("-") else "a whole number is needed"
            bad.row(row, f"a count is '{shown(broken)}', {needed}; correct it", _NO_COUNTS)
        else:
            wins, ties, losses = map(int, fields[2:])
            yield _Count(fields[0], fields[1], wins, ties, losses, row)


def _merge_directions(counts: Iterable[_Count], bad: BadRows) -> tuple[list[_Count], int]:
    """Each pair of systems once, and how many lines are copies of others.

    A line that mirrors another says the same. One that contradicts another cannot be used.
    """
    kept: dict[frozenset[str], _Count] = {}
    seen: set[tuple[str, str]] = set()
    copies = 0
    for count in counts:
        other = kept.setdefault(frozenset((count.first, count.second)), count)
        same = other.numbers if other.first == count.first else other.reversed_numbers
        if same == count.numbers:
            copies += (count.first, count.second) in seen
            seen.add((count.first, count.second))
        else:
            line = bad.source.line_of(other.row) if bad.source.line_of else other.row
            what = f"'{shown(count.first)}' and '{shown(count.second)}' have other counts than on line {line}"
            bad.row(count.row, f"{what}; correct one of the two, or add them up", "line that contradicts another")
    return list(kept.values()), copies


def _make_rows(counts: list[_Count]) -> pl.DataFrame:
    """Two rows per comparison: first and second system with ranks 1/2, 1/1 or 2/1."""
    names = sorted({name for count in counts for name in (count.first, count.second)})
    code = {name: i for i, name in enumerate(names)}
    repeats = np.array([(count.wins, count.ties, count.losses) for count in counts]).ravel()
    systems = np.array([(code[count.first], code[count.second]) for count in counts], dtype=np.uint32).repeat(3, axis=0)
    ranks = np.tile(np.array([(1, 2), (1, 1), (2, 1)], dtype=np.int32), (len(counts), 1))
    screens = pl.int_range(1, int(repeats.sum()) + 1, eager=True).cast(pl.String)
    return pl.DataFrame(
        {
            "system": pl.Series(names).gather(systems.repeat(repeats, axis=0).ravel()),
            "rank": ranks.repeat(repeats, axis=0).ravel(),
            "screen": screens.gather(np.arange(len(screens), dtype=np.uint32).repeat(2)),
        }
    )


def _never_compared(counts: list[_Count]) -> list[str]:
    named = {name for count in counts for name in (count.first, count.second)}
    compared = {
        name for count in counts if count.wins + count.ties + count.losses for name in (count.first, count.second)
    }
    return [f"'{shown(name)}' is named but never compared" for name in sorted(named - compared)]
