"""Scores of a CSV file with rows that are faulty or stand there twice: the rules of the ordinary reader, on codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.errors import InputError, shown
from adjudge.core.judgments import KEY
from adjudge.core.machine_judges import any_judge
from adjudge.core.protocols import KINDS, ON_SCALE, PROTOCOLS
from adjudge.formats.tables.cells import MISSING, ROUNDING, SCORE_SCALE
from adjudge.formats.tables.large_file_rows import ROW, FileRows, last_by_number
from adjudge.rank.large_files.columns import CONSTANT, WORDS, among, scored_rows, words_of

if TYPE_CHECKING:
    from adjudge.core.judgments import SetAside
    from adjudge.formats.parsing.bad_rows import BadRows


def read_with_faults(rows: FileRows) -> tuple[pl.DataFrame, tuple[SetAside, ...], tuple[str, ...]] | None:
    """The scores with their codes, what is set aside, and notes.

    None where revisions, campaigns, language pairs, machine judges, or annotators and segments without a name need a
    closer look.
    """
    table = _collect(rows)
    if any(table[name].n_unique() > 1 for name in CONSTANT if name in table.columns):
        return None
    if "protocol" in table.columns and table["protocol"].null_count() and "rank" in rows.header:
        return None
    if any_judge(words_of(table["annotator"])):
        return None
    table = table.drop(CONSTANT, strict=False)
    bad = rows.bad_rows(table.height)
    table = _odd_scores(table, rows, bad)
    _record_bad_rows(table, bad)
    set_aside, notes = bad.settle()
    if bad.problems:
        table = table.filter(~pl.col(ROW).is_in(list(bad.problems)))
    if any(among(table, name, ("",), otherwise="").any() for name in ("annotator", "segment")):
        return None
    everyone = pl.repeat(value=True, n=table.height, eager=True)
    counts, copies, repeated_notes = last_by_number(table["identity"], everyone)
    table = table if counts.all() else table.filter(counts)
    table = scored_rows(table)
    if not table["rated"].any():
        return None
    return table.drop(ROW, "identity", "odd"), (*set_aside, *copies), (*notes, *repeated_notes)


def _collect(rows: FileRows) -> pl.DataFrame:
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


def _odd_scores(table: pl.DataFrame, rows: FileRows, bad: BadRows) -> pl.DataFrame:
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
    nameless = among(table, "system", ("",), otherwise="")
    faults = {"row without a system": (nameless, "has no system; name what was judged")}
    for name, allowed, otherwise in (("protocol", PROTOCOLS, "da"), ("kind", KINDS, "system")):
        strange = ~among(table, name, tuple(allowed), otherwise=otherwise)
        faults[f"row with an unknown {name}"] = (strange, f"column '{name}' is none of {', '.join(allowed)}")
    off = ~table["score"].is_between(SCORE_SCALE[0] - ROUNDING, SCORE_SCALE[1] + ROUNDING).fill_null(value=True)
    off &= among(table, "protocol", ON_SCALE, otherwise="da")
    faults["score off the scale"] = (off, "score must lie between 0 and 100; correct it")
    for reason, (strange, problem) in faults.items():
        for row in table[ROW].filter(strange):
            bad.row(row, problem, reason)
