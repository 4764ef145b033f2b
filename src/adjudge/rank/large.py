"""Customary rankings of very large tables, straight from CSV: ten million judgments in seconds and half a gigabyte.

Only the columns needed are read, words as codes. The rest is counting on codes, a slice of rows at a time so that
nothing but the codes and scores themselves is ever held for all rows. The result is that of `rank` with the methods
`raw` and `zscore` and without resamples, which would take minutes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.core.errors import DataError, InputError, shown
from adjudge.core.fingerprint import fingerprint_of_file
from adjudge.core.humans import compile_human_pattern
from adjudge.core.inclusion import INCLUSION
from adjudge.core.judgments import KEY
from adjudge.core.protocols import KINDS, ON_SCALE, PROTOCOLS, RATED, SCORED
from adjudge.core.score_sheet import ItemMeans, significant
from adjudge.formats.duplicates import REPETITION
from adjudge.formats.options import ReadOptions
from adjudge.formats.tables.cells import BOOLEANS, MISSING, ROUNDING, SCALE
from adjudge.rank.assemble import Provenance
from adjudge.rank.customary import SystemItems, assemble_means, equal_scores_note, few_annotators_note
from adjudge.rank.large_rows import ROW, LargeRows, last_of_each

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from numpy.typing import NDArray

    from adjudge.core.arrays import Floats, Ints
    from adjudge.formats.parsing.bad_rows import BadRows
    from adjudge.rank import RankSettings
    from adjudge.rank.methods import Method
    from adjudge.results.rank import Ranking


NEEDED = ("system", "annotator", "segment", "score")
# Where one of these stands in the table, or one of the next has several values, the rows need more than counting.
SPECIAL = ("passed", "copy", "z", "n", "slider", INCLUSION, REPETITION)
CONSTANT = ("campaign", "source_lang", "target_lang", "revision")
WORDS = ("system", "annotator", "segment", "document", "kind", "protocol", "human", *CONSTANT)
# Rows at a time: few enough to stay in the processor's cache.
SLICE = 1 << 16
# Beyond so many combinations of codes, those that occur are sorted instead of marked in a table.
MOST_MARKS = 1 << 26
NO_RESAMPLES = "the table is very large, so it was ranked straight from its columns and nothing was resampled"


def rank_scores_file(
    path: Path, method: Method, settings: RankSettings, options: ReadOptions | None = None
) -> Ranking | None:
    """Rank systems by `raw` or `zscore` straight from a judgment table in CSV; None where it needs an ordinary look."""
    if not path.is_file():
        raise InputError("no such file; check the path", file=path)
    rows = LargeRows(path, options or ReadOptions())
    if not fits(rows.header):
        return None
    read = _read(rows)
    if read is None:
        return None
    table, source = read
    rated = table if table["rated"].all() else table.filter("rated")
    if rated["system"].n_unique() < 2:
        raise DataError(f"at least two systems must be scored, check {path}; nothing can be ranked")
    names, human = _systems(rated, rows.options)
    scales = _scales(table)
    sums = _item_sums(rated, scales)
    items = SystemItems(tuple(names), human, *sums.means(names), np.empty((0, len(names))))
    without_z = int((sums.values[0] - sums.values[1]).sum())
    constant = int(np.isnan(scales[1][np.unique(_codes(rated["annotator"]))]).sum())
    people = table["annotator"].n_unique()
    notes = (NO_RESAMPLES, *equal_scores_note(constant, without_z), *few_annotators_note(people))
    return assemble_means(source, items, method, settings, notes=notes)


def fits(header: list[str]) -> bool:
    """Whether a table with these columns can be ranked by counting alone."""
    # Without a protocol, a row with a rank is a ranking.
    unclear = "protocol" not in header and "rank" in header
    return set(NEEDED) <= set(header) and not set(SPECIAL) & set(header) and not unclear


def _systems(table: pl.DataFrame, options: ReadOptions) -> tuple[dict[str, int], NDArray[np.bool_]]:
    """The code of every system, in name order; and which are human: as the user or the file says, or by their names."""
    words = table["system"].unique()
    codes = dict(zip(words.cast(pl.String).to_list(), words.to_physical().to_list(), strict=True))
    ordered = {name: int(codes[name]) for name in sorted(codes)}
    said = None
    if "human" in table.columns:
        true = [word for word, value in BOOLEANS.items() if value]
        human = table.filter(pl.col("human").cast(pl.String).str.to_lowercase().is_in(true))
        said = set(human["system"].cast(pl.String).unique().to_list())
    return ordered, human_systems(list(ordered), said, options)


def human_systems(systems: list[str], said: set[str] | None, options: ReadOptions) -> NDArray[np.bool_]:
    """Which systems are human: as the user says, as the file says, or by their names."""
    if options.human is None and said is not None:
        return np.array([name in said for name in systems], dtype=bool)
    pattern = compile_human_pattern(options.human)
    return np.array([pattern.fullmatch(name) is not None for name in systems], dtype=bool)


def _read(rows: LargeRows) -> tuple[pl.DataFrame, Provenance] | None:
    """The scores with their codes, and where they come from.

    None where revisions, campaigns, language pairs, or annotators and segments without a name need a closer look.
    """
    table = _collect(rows)
    if any(table[name].n_unique() > 1 for name in CONSTANT if name in table.columns):
        return None
    if "protocol" in table.columns and table["protocol"].null_count() and "rank" in rows.header:
        return None
    table = table.drop(CONSTANT, strict=False)
    bad = rows.bad_rows(table.height)
    table = _odd_scores(table, rows, bad)
    _record_bad_rows(table, bad)
    set_aside, notes = bad.settle()
    if bad.problems:
        table = table.filter(~pl.col(ROW).is_in(list(bad.problems)))
    if any(_among(table, name, ("",), otherwise="").any() for name in ("annotator", "segment")):
        return None
    everyone = pl.repeat(value=True, n=table.height, eager=True)
    counts, copies, told = last_of_each(table["identity"], everyone)
    table = table if counts.all() else table.filter(counts)
    scored = table["score"].is_not_null() & _among(table, "protocol", SCORED, otherwise="da")
    rated = _among(table, "kind", RATED, otherwise="system").alias("rated")
    table = table.with_columns(rated) if scored.all() else table.with_columns(rated).filter(scored)
    if not table["rated"].any():
        return None
    source = Provenance(fingerprint_of_file(rows.path), (*set_aside, *copies), (*notes, *told))
    return table.drop(ROW, "identity", "odd"), source


def _among(table: pl.DataFrame, name: str, words: Collection[str], *, otherwise: str) -> pl.Series:
    """Where a column holds one of these words; `otherwise` is what it is taken for where it is missing or empty.

    Words are compared once each, not row by row.
    """
    if name not in table.columns:
        return pl.repeat(otherwise in words, table.height, dtype=pl.Boolean, eager=True)
    different = table[name].unique().drop_nulls()
    wanted = different.filter(different.cast(pl.String).is_in(list(words)))
    if len(wanted) == len(different) and not table[name].null_count():
        return pl.repeat(len(different) > 0, table.height, dtype=pl.Boolean, eager=True)
    if not len(wanted) and not table[name].null_count():
        return pl.repeat(value=False, n=table.height, eager=True)
    return table[name].to_physical().is_in(wanted.to_physical().implode()).fill_null(otherwise in words)


def _collect(rows: LargeRows) -> pl.DataFrame:
    """Scores and codes of the rows that hold anything; `identity` is a number for all that identifies a judgment."""
    header = rows.header
    number = pl.col("score").cast(pl.Float64, strict=False)
    identity = [name for name in (*KEY, "revision") if name in header]
    try:
        filled = rows.scan(words=WORDS).filter(~pl.all_horizontal(pl.col(name).is_null() for name in header))
        return filled.select(
            ROW,
            number.alias("score"),
            (pl.col("score").is_not_null() & ~number.is_finite().fill_null(value=False)).alias("odd"),
            pl.struct(identity).hash().alias("identity"),
            *(name for name in WORDS if name in header),
        ).collect(engine="streaming")
    except pl.exceptions.PolarsError as fault:
        reason = str(fault).split("\n", 1)[0]
        raise InputError(f"cannot be read as scores ({reason}); check the columns", file=rows.path) from fault


def _odd_scores(table: pl.DataFrame, rows: LargeRows, bad: BadRows) -> pl.DataFrame:
    """The table with scores that have blanks around them, without words for missing ones; others are bad rows."""
    if not table["odd"].any():
        return table
    texts = rows.scan().join(table.lazy().filter("odd").select(ROW), on=ROW, how="semi").select(ROW, "score")
    stripped = texts.collect(engine="streaming").with_columns(
        pl.col("score").cast(pl.String).str.strip_chars().alias("text")
    )
    given = stripped.filter(~pl.col("text").str.to_lowercase().is_in(list(MISSING)))
    read = given.with_columns(pl.col("text").cast(pl.Float64, strict=False).alias("number"))
    usable = pl.col("number").is_finite().fill_null(value=False)
    for row, text in read.filter(~usable).select(ROW, "score").iter_rows():
        problem = f"column 'score' holds '{shown(text)}', a finite number is needed; correct it"
        bad.row(row, problem, "row with a broken score")
    numbers = table.join(read.filter(usable).select(ROW, "number"), on=ROW, how="left", maintain_order="left")
    score = pl.when("odd").then("number").otherwise("score").alias("score")
    return numbers.with_columns(score).drop("number")


def _record_bad_rows(table: pl.DataFrame, bad: BadRows) -> None:
    """Record the rows that the ordinary reader would not use either."""
    nameless = _among(table, "system", ("",), otherwise="")
    faults = {"row without a system": (nameless, "has no system; name what was judged")}
    for name, allowed, otherwise in (("protocol", PROTOCOLS, "da"), ("kind", KINDS, "system")):
        strange = ~_among(table, name, tuple(allowed), otherwise=otherwise)
        faults[f"row with an unknown {name}"] = (strange, f"column '{name}' is none of {', '.join(allowed)}")
    off = ~table["score"].is_between(SCALE[0] - ROUNDING, SCALE[1] + ROUNDING).fill_null(value=True)
    off &= _among(table, "protocol", ON_SCALE, otherwise="da")
    faults["score off the scale"] = (off, "score must lie between 0 and 100; correct it")
    for reason, (strange, problem) in faults.items():
        for row in table[ROW].filter(strange):
            bad.row(row, problem, reason)


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


def _items(table: pl.DataFrame) -> Ints:
    """A number for every segment, of whatever document, of every system: that of the segment, then of the system."""
    joined = np.zeros(table.height, dtype=np.int64)
    for name in ("document", "segment", "system"):
        if name in table.columns:
            joined *= _size(table[name])
            joined += _codes(table[name])
            joined = _numbered(joined)
    return joined


def _numbered(codes: Ints) -> Ints:
    """Codes renumbered without gaps."""
    most = int(codes.max(initial=0)) + 1
    if most > MOST_MARKS:
        return np.unique(codes, return_inverse=True)[1]
    seen = np.zeros(most, dtype=bool)
    seen[codes] = True
    # Every code is in range; "clip" only spares the check, which would copy all of them.
    return np.take(np.cumsum(seen) - 1, codes, out=codes, mode="clip")


@dataclass(frozen=True, eq=False)
class _ItemSums:
    """The system of every item, and four rows of sums: judgments, those with a z, scores, z."""

    system: NDArray[np.uint32]
    values: Floats

    def means(self, codes: dict[str, int]) -> tuple[ItemMeans, ItemMeans]:
        """Raw and standardised means of items; a judgment without z counts for the raw mean alone."""
        number = np.full(int(self.system.max(initial=0)) + 1, -1, dtype=np.int64)
        number[list(codes.values())] = np.arange(len(codes))
        system = number[self.system]
        count, with_z, raw, z = self.values
        judged = np.bincount(system, weights=count, minlength=len(codes)).astype(np.int64)
        has_z = with_z > 0
        return (
            ItemMeans(raw / count, system, judged),
            ItemMeans(z[has_z] / with_z[has_z], system[has_z], judged),
        )


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
