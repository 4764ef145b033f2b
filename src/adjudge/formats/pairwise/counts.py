"""Counts of comparisons: lines `A B wins ties losses` from the point of view of A, both directions or one.

Who judged which segment is lost in such files. Each comparison becomes a screen with two ranks; the annotator is null.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import numpy as np
import polars as pl

from adjudge.core.errors import InputError, shown
from adjudge.core.files import memory_at_hand, read_text
from adjudge.core.judgments import Judgments, concat
from adjudge.formats.parsing.delimited import numbered_lines, to_int
from adjudge.formats.parsing.sources import campaign_names, files_in, pair_of
from adjudge.formats.rankings.labels import human_columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from adjudge.formats.options import ReadOptions

# Beyond this a count is more likely damage than work that people did.
MOST_COMPARISONS = 50_000_000
# What the two rows of a comparison take while they are made, as measured.
BYTES_PER_COMPARISON = 300


@dataclass(frozen=True)
class _Count:
    first: str
    second: str
    wins: int
    ties: int
    losses: int
    line: int

    @property
    def mirrored(self) -> tuple[int, int, int]:
        return self.losses, self.ties, self.wins


def read(paths: Sequence[Path], options: ReadOptions) -> Judgments:
    """Read the files; each becomes a campaign named after it. The language pair comes from its name or --pair."""
    files = files_in(paths)
    return concat([_read_file(path, name, options) for path, name in zip(files, campaign_names(files), strict=True)])


def _read_file(path: Path, campaign: str, options: ReadOptions) -> Judgments:
    counts = _one_direction(_counts(path), path)
    total = sum(count.wins + count.ties + count.losses for count in counts)
    if total == 0:
        raise InputError("holds no comparison; lines like 'A B wins ties losses' are needed", file=path)
    most = min(MOST_COMPARISONS, memory_at_hand() // BYTES_PER_COMPARISON)
    if total > most:
        what = f"stands for {total:,} comparisons, more than the {most:,} that fit into memory"
        raise InputError(f"{what}; check the counts", file=path)
    source, target = pair_of(path, options)
    columns = _expanded(counts)
    columns = columns.with_columns(
        pl.lit(campaign).alias("campaign"),
        pl.lit("pairwise").alias("protocol"),
        pl.lit(source).alias("source_lang"),
        pl.lit(target).alias("target_lang"),
        **human_columns(columns["system"], options.human),
    )
    return Judgments.from_columns(columns, notes=_never_compared(counts), source=str(path))


def _counts(path: Path) -> Iterator[_Count]:
    for line, text in numbered_lines(read_text(path)):
        fields = text.split()
        if line == 1 and [field.casefold() for field in fields[2:]] == ["wins", "ties", "losses"]:
            continue
        if len(fields) != 5:
            problem = f"{len(fields)} fields where 'A B wins ties losses' has 5"
            raise InputError(f"{problem}; correct the line", file=path, line=line)
        first, second = fields[:2]
        if first == second:
            raise InputError(f"'{shown(first)}' is compared with itself; correct the line", file=path, line=line)
        wins, ties, losses = (to_int(value, "count", path, line) for value in fields[2:])
        if min(wins, ties, losses) < 0:
            raise InputError(f"a count is {min(wins, ties, losses)}; it cannot be negative", file=path, line=line)
        yield _Count(first, second, wins, ties, losses, line)


def _one_direction(counts: Iterator[_Count], path: Path) -> list[_Count]:
    """Each pair of systems once: a line that mirrors another is dropped, one that contradicts another is an error."""
    kept: dict[frozenset[str], _Count] = {}
    mirrored: set[frozenset[str]] = set()
    for count in counts:
        pair = frozenset((count.first, count.second))
        other = kept.setdefault(pair, count)
        if other is count:
            continue
        if other.first == count.first or pair in mirrored:
            _refuse(count, f"are counted again, see line {other.line}; add up the counts", path)
        if other.mirrored != (count.wins, count.ties, count.losses):
            _refuse(count, f"have other counts than on line {other.line}; correct one of the two", path)
        mirrored.add(pair)
    return list(kept.values())


def _refuse(count: _Count, why: str, path: Path) -> NoReturn:
    raise InputError(f"'{shown(count.first)}' and '{shown(count.second)}' {why}", file=path, line=count.line)


def _expanded(counts: list[_Count]) -> pl.DataFrame:
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
