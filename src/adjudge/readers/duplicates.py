"""Judgments that stand twice in the files count once.

What identifies a judgment is `table.judgments.KEY`. Rows that agree in all of it, and in their revision, are copies or
corrections of one judgment, where both the annotator and the segment are known: the last one counts. In some formats
such rows are judgments of their own (the registry says in which); a column `repetition` then numbers them, so that they
are told apart also when the table is written and read again.

Where people or segments are not known, equal rows may be different judgments. Only if every block of the table stands
there the same number of times (twice, three times ...) is the table itself a copy.

Names that differ in blanks or case only may be slips of the pen: both stay, and a note names them.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import polars as pl

from adjudge.table.comparisons import BLOCK_KEY
from adjudge.table.errors import shown
from adjudge.table.judgments import KEY, SCHEMA, Judgments, has_single, key_hashes, mark_repeated
from adjudge.table.wording import counted, listed

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from adjudge.table.maths import Bools

Repeated = Literal["corrections", "judgments", "counts"]
REPETITION = "repetition"
REPEATED = "repeated later in the files; the last one is used"
COPIED_TABLE = "copy: the files hold every judgment of the table several times"
# With fewer different blocks, equal counts may be chance.
ENOUGH_BLOCKS = 30
# The most notes on similar names that are shown.
MOST_ALIKE = 5
# Lines that hold so much information do not repeat by chance.
ENOUGH_BITS = 64
# A file whose lines have no names is searched for up to so many copies of itself.
MOST_TIMES = 5
FEW_VALUES = 12
"""A column of more values tells any rows apart."""


def remove_copies(judgments: Judgments, *, repeated: Repeated = "corrections") -> Judgments:
    """Keep every judgment once; copies and corrected ones are set aside.

    Args:
        judgments: the judgments as they stand in the files.
        repeated: what rows of the same identity are in the format.
    """
    if repeated == "counts":
        return judgments
    if repeated == "corrections":
        return drop_copied_table(_keep_last_of_each(judgments))
    return _number_repetitions(drop_copied_table(judgments))


def repeated_note(rows: int, exact: int = 0, apart: str | None = None) -> str:
    """Word the note on rows that judge again what others judged.

    Args:
        rows: how many.
        exact: how many of them are exact copies.
        apart: the column that tells the judgments of an output apart.
    """
    judge = "row judges" if rows == 1 else "rows judge"
    alike = f" ({exact:,} of them {'is an exact copy' if exact == 1 else 'are exact copies'})" if exact else ""
    told = f"; '{shown(apart)}' tells them apart, and --columns task={shown(apart)} counts all" if apart else ""
    return f"{rows:,} {judge} what a later row of the same annotator judges again; the last counts{alike}{told}"


def copied_table_note(times: int) -> str:
    """Word the note on files that hold the whole table several times."""
    return f"every judgment occurs in the table {times} times, as if files had been joined; each counts once"


def _identity(table: pl.DataFrame) -> list[str]:
    return [*KEY, "revision", *([REPETITION] if REPETITION in table.columns else [])]


def _has_identity() -> pl.Expr:
    return (pl.col("annotator").fill_null("") != "") & (pl.col("segment").fill_null("") != "")


def _number_repetitions(judgments: Judgments) -> Judgments:
    """Number the judgments that were made several times; those made once have no number."""
    table = judgments.table
    repeated = pl.Series(_mark_repeated_keys(table, _identity(table)))
    if not repeated.any() or not table.filter(repeated).select(_has_identity().any()).item():
        return judgments
    number = (times_before(table, _identity(table), repeated) + 1).cast(pl.Int32)
    return replace(judgments, table=table.with_columns(pl.when(repeated).then(number).alias(REPETITION)))


def times_before(table: pl.DataFrame, key: Sequence[str], repeated: pl.Series) -> pl.Series:
    """Count the earlier rows with the same key, for every row.

    Args:
        table: the rows.
        key: the columns of the key.
        repeated: which rows have a key that others have too, mostly few; only these are counted.
    """
    counted = table.filter(repeated).select(pl.int_range(pl.len(), dtype=pl.UInt32).over(key)).to_series()
    return pl.zeros(table.height, dtype=pl.UInt32, eager=True).scatter(repeated.arg_true(), counted)


def _mark_repeated_keys(table: pl.DataFrame, key: Sequence[str]) -> Bools:
    """Which rows have a key that others have too."""
    repeated = mark_repeated(key_hashes(table, key))
    if repeated.any():
        repeated[repeated] = table.filter(repeated).select(pl.struct(key).is_duplicated()).to_series().to_numpy()
    return repeated


def _keep_last_of_each(judgments: Judgments) -> Judgments:
    """Keep the last of rows that judge the same; set the others aside, and say how many are exact copies."""
    table = judgments.table
    key = _identity(table)
    repeated = _mark_repeated_keys(table, key)
    if not repeated.any():
        return judgments
    rows = table.filter(repeated)
    again = rows.select(_has_identity() & ~pl.struct(key).is_last_distinct()).to_series()
    exact = rows.select((again & ~pl.struct(pl.all()).is_unique()).sum()).item()
    repeated[repeated] = again.to_numpy()
    kept = judgments.keep(pl.lit(pl.Series(~repeated)), otherwise=REPEATED)
    number = len(judgments) - len(kept)
    if not number:
        return judgments
    own = [name for name in _flat_columns(table) if name not in SCHEMA and 1 < rows[name].n_unique() <= FEW_VALUES]
    apart = next((name for name in own if not rows.select(pl.struct(*key, name).is_duplicated().any()).item()), None)
    return replace(kept, notes=(*kept.notes, repeated_note(number, exact, apart)))


def drop_copied_table(judgments: Judgments) -> Judgments:
    """Keep half of the table, or a third, where every row or every block occurs twice, or three times."""
    table = judgments.table
    if table.height < 2 * ENOUGH_BLOCKS or REPETITION in table.columns:
        return judgments
    # In a copied table no row is unique, apart from its screen. In most tables some row is, which its key alone shows.
    for columns in (_identity(table), _flat_columns(table)):
        if has_single(key_hashes(table, (name for name in columns if name != "screen"))):
            return judgments
    once = _keep_blocks_once(judgments, None, left_out=())
    if len(once) < len(judgments):
        return once
    # Rows of one screen are a block; rows without a screen are blocks of their own.
    screen = pl.when(pl.col("screen").is_null()).then(pl.int_range(pl.len()).cast(pl.UInt64))
    block = table.select(screen.otherwise(pl.struct(BLOCK_KEY).hash()).alias("block")).to_series()
    return _keep_blocks_once(judgments, block, left_out=("screen",))


def _keep_blocks_once(judgments: Judgments, block: pl.Series | None, *, left_out: Collection[str]) -> Judgments:
    """Keep every block once, where all blocks occur several times.

    Args:
        judgments: the judgments.
        block: the block of every row; None where every row is a block.
        left_out: columns in which a block may differ from its copy.
    """
    table = judgments.table
    plain = [name for name in _flat_columns(table) if name not in left_out]
    # The sum over a block does not depend on the order of its rows; the division keeps it within the number's range.
    blocks = table.select((pl.struct(plain).hash() // 65_536).alias("content"))
    if block is not None:
        by_block = blocks.with_columns(block).group_by("block", maintain_order=True)
        blocks = by_block.agg(pl.col("content").sum(), pl.len().alias("rows"))
    times = times_copied(blocks.group_by("content").len()["len"])
    if times == 1:
        return judgments
    wanted = blocks.with_columns(mark_last_copy("content", times).alias("wanted"))
    if block is not None:
        wanted = block.to_frame().join(wanted, on="block", how="left", maintain_order="left")
    kept = judgments.keep(pl.lit(wanted["wanted"]), otherwise=COPIED_TABLE)
    return replace(kept, notes=(*kept.notes, copied_table_note(times)))


def times_copied(counts: pl.Series) -> int:
    """Count how often a table repeats itself, from how often each content occurs in it; 1 if it does not."""
    times = math.gcd(*counts.unique().to_list())
    return times if len(counts) >= ENOUGH_BLOCKS else 1


def mark_last_copy(content: str, times: int) -> pl.Expr:
    """Mark the rows of the last copy in a table that holds every content a multiple of `times` times."""
    number, size = pl.int_range(pl.len()).over(content), pl.len().over(content)
    return number >= size // times * (times - 1)


def _flat_columns(table: pl.DataFrame) -> list[str]:
    return [name for name, dtype in table.schema.items() if not dtype.is_nested()]


def keep_lines_once(lines: Sequence[object]) -> tuple[range, int]:
    """Choose the lines to read where a line is known by its number alone, and count how often the file holds them.

    A file in which all lines stand several times, one after the other or the whole file again, is a copy. The last ones
    count. Few lines, or lines that hardly differ, may be alike by chance.
    """
    for times in range(2, MOST_TIMES + 1):
        size = len(lines) // times
        if len(lines) % times or size < ENOUGH_BLOCKS:
            continue
        for kept in (range(len(lines) - size, len(lines)), range(times - 1, len(lines), times)):
            once = lines[kept.start : kept.stop : kept.step]
            again = list(once) * times if kept.step == 1 else [line for line in once for _ in range(times)]
            if list(lines) == again and _measure_information(once) >= ENOUGH_BITS:
                return kept, times
    return range(len(lines)), 1


def _measure_information(lines: Sequence[object]) -> float:
    """Compute the bits that it takes to write the order of the lines: none where all are equal."""
    return sum(count * math.log2(len(lines) / count) for count in Counter(lines).values())


def note_similar_names(judgments: Judgments) -> Judgments:
    """Add notes on names of systems and annotators that may stand for the same."""
    blanks = pl.col("name").str.replace_all(r"\s+", " ").str.strip_chars()
    alike = {
        "systems": (blanks.str.to_lowercase(), "differ in blanks or case only and are ranked apart"),
        "annotators": (blanks, "differ in blanks only and count as different people"),
    }
    pair = ["source_lang", "target_lang"]
    notes: list[str] = []
    for what, (form, but) in alike.items():
        every = judgments.table[what.removesuffix("s")].drop_nulls().unique().alias("name")
        # In most tables no two names are similar, whatever the languages.
        if every.to_frame().select(form.n_unique()).item() == len(every):
            continue
        names = judgments.table.select(*pair, name=what.removesuffix("s")).drop_nulls().unique().sort("name")
        for same in names.group_by(*pair, form.alias("form"), maintain_order=True).agg("name")["name"]:
            if len(same) > 1:
                quoted = listed([f"'{shown(name)}'" for name in same])
                notes.append(f"{what} {quoted} {but}; correct the file if they are one")
    more = [f"{counted(len(notes) - MOST_ALIKE, 'further name')} alike"] if len(notes) > MOST_ALIKE else []
    return replace(judgments, notes=(*judgments.notes, *dict.fromkeys(notes[:MOST_ALIKE]), *more))
