"""Ranking straight from columns of pairs: millions of rows `left, right, winner` are counted first, then ranked.

Columns, winners, humans, copies and bad rows are understood as the reader of such tables understands them
(`readers.pairs`); only distinct rows are looked at one by one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.ranking.counts import pair_units
from adjudge.ranking.ranking import Provenance, Ranking
from adjudge.ranking.relative import COUNTED_WITHOUT_TEXTS, TEXTS_NOT_NAMED, rank_units
from adjudge.readers.columns import SYNONYMS, map_columns
from adjudge.readers.contents import may_hold_criteria
from adjudge.readers.large_files import ROW, last_by_number, one_copy_by_number, repeated_numbers, rows_of_file
from adjudge.readers.options import ReadOptions
from adjudge.readers.pairs import fixed_sides, outcomes
from adjudge.readers.parsing import BadRows
from adjudge.table.comparisons import NOBODY
from adjudge.table.errors import DataError, Source
from adjudge.table.judgments import SetAside, fingerprint
from adjudge.table.participants import APART, MARK, compile_human_pattern

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from adjudge.ranking.methods import Method, RankSettings
    from adjudge.readers.large_files import FileRows

COLUMNS = ("left", "right", "winner")
# What identifies a comparison besides; where a table has one of the next, the table must be read whole.
_IDENTITY = ("annotator", "task", "document", "segment")
SEVERAL = ("campaign", "source_lang", "target_lang", "pair", "screen", "revision")
_OUTCOMES = {"left": 1, "right": -1, "tie": 0, "both-good": 0, "both-bad": 0}
_TIMES = "times"
ALMOST_ALL = 0.9
"""Texts are counted roughly: so many of them beside the comparisons are one for each."""
ROWS_AT_ONCE = 25_000_000
"""Comparisons that are counted in one go."""


def _find_pairs(header: list[str], options: ReadOptions) -> dict[str, str] | None:
    """Which column is what in a table of pairs of one campaign; None where it is another table."""
    chosen = options.columns
    source = Source("table")
    if "system" in map_columns(header, source, columns=chosen, meanings=SYNONYMS):
        return None
    mapping = map_columns(header, source, columns=chosen)
    if not all(side in mapping for side in COLUMNS) or any(name in mapping for name in SEVERAL):
        return None
    if may_hold_criteria(name for name in header if name not in mapping.columns.values()) or "criterion" in mapping:
        return None
    return {name: mapping.need(name) for name in (*COLUMNS, *_IDENTITY) if name in mapping}


def rank_pairs_file(
    path: Path, method: Method, settings: RankSettings, options: ReadOptions | None = None
) -> Ranking | None:
    """Rank systems straight from a table of comparisons in CSV or Parquet; None if it must be read whole."""
    rows = rows_of_file(path, options or ReadOptions())
    columns = _find_pairs(rows.header, rows.options) if rows.header else None
    if columns is None or settings.reference == "exclude" or method.reference == "exclude":
        return None
    return _rank(rows, columns, method, settings)


def _rank(rows: FileRows, columns: Mapping[str, str], method: Method, settings: RankSettings) -> Ranking:
    table, options = rows.scan(), rows.options
    everything = [name for name in table.collect_schema().names() if name != ROW]
    table = table.filter(~pl.all_horizontal(pl.col(name).is_null() for name in everything))
    pairs = table.with_columns(
        pl.col(column).cast(pl.String).str.strip_chars().alias(name) for name, column in columns.items()
    )
    height = pairs.select(pl.len()).collect(engine="streaming").item()
    bad = rows.bad_rows(height)
    distinct = _distinct(pairs, height, bad, options)
    set_aside, notes = bad.settle()
    usable = pairs.filter(~pl.col(ROW).is_in(list(bad.problems))) if bad.problems else pairs
    usable, copies, copy_notes = _each_once(usable, height - len(bad.problems), columns, everything)
    if copies or bad.problems:
        distinct = _with_outcomes(_counts(usable, height), distinct)
    distinct, machine = _of_people(distinct)
    counted = _counted(distinct)
    if counted.height == 0:
        raise DataError("no comparison has two systems and a winner that is one of them, or a tie; check the columns")
    sides = fixed_sides(distinct.group_by("left", "right").agg(pl.col(_TIMES).sum().alias("len")))
    all_notes = (*notes, *copy_notes, *sides, *_notes_on_texts(usable, columns, height))
    source = Provenance(fingerprint(counted.write_csv()), (*set_aside, *copies, *machine), all_notes)
    return _rank_counted(counted, source, method, settings, options)


def _of_people(distinct: pl.DataFrame) -> tuple[pl.DataFrame, tuple[SetAside, ...]]:
    """The answers of people, and how many a machine gave."""
    is_machine = distinct["annotator"].str.contains(MARK)
    if not is_machine.any():
        return distinct, ()
    return distinct.filter(~is_machine), (SetAside(APART, int(distinct.filter(is_machine)[_TIMES].sum())),)


def _notes_on_texts(pairs: pl.LazyFrame, columns: Mapping[str, str], height: int) -> tuple[str, ...]:
    """Say that segments, or documents, are not in the errors, where comparisons share them."""
    texts = [name for name in ("segment", "document") if name in columns]
    if not texts:
        return (TEXTS_NOT_NAMED,)
    different = pairs.select(pl.col(texts[0]).approx_n_unique()).collect(engine="streaming").item()
    return (COUNTED_WITHOUT_TEXTS,) if different < ALMOST_ALL * height else ()


def _rank_counted(
    counted: pl.DataFrame, source: Provenance, method: Method, settings: RankSettings, options: ReadOptions
) -> Ranking:
    names = pl.concat([counted["left"], counted["right"]]).unique().sort()
    rows = np.stack([*(_codes(counted[side], names) for side in ("left", "right")), counted["outcome"].to_numpy()], 1)
    annotators = counted["annotator"].unique().sort()
    units = pair_units(
        tuple(names), rows.astype(np.int64), counted[_TIMES].cast(pl.Int64).to_numpy(),
        _codes(counted["annotator"], annotators) if len(annotators) > 1 else None,
    )  # fmt: skip
    pattern = compile_human_pattern(options.human)
    human = np.array([pattern.fullmatch(name) is not None for name in names], dtype=bool)
    unnamed = int(counted.filter(annotator=NOBODY)[_TIMES].sum())
    nobody = annotators.to_list().index(NOBODY) if unnamed and len(annotators) > 1 else None
    return rank_units(replace(units, human=human, unnamed=unnamed, nobody=nobody), source, method, settings)


def _codes(column: pl.Series, names: pl.Series) -> NDArray[np.int64]:
    return column.replace_strict(names, range(len(names)), return_dtype=pl.Int64).to_numpy()


def _counts(pairs: pl.LazyFrame, height: int) -> pl.DataFrame:
    """How often an annotator gave each answer, as it is written.

    Args:
        pairs: the comparisons.
        height: how many there are. A streamed count keeps about fifty bytes of every row until it ends, so annotators
            of large tables are counted some at a time.
    """
    passes = 1
    if "annotator" in pairs.collect_schema():
        passes = max(1, -(-height // ROWS_AT_ONCE))
        who = pl.col("annotator")
        known = pairs.with_columns(pl.when(who != "").then(who).fill_null(NOBODY).alias("annotator"))
    else:
        known = pairs.with_columns(pl.lit(NOBODY).alias("annotator"))
    parts = (
        known.filter(pl.col("annotator").hash() % passes == number) if passes > 1 else known for number in range(passes)
    )
    return pl.concat(part.group_by("annotator", *COLUMNS).len(_TIMES).collect(engine="streaming") for part in parts)


def _distinct(pairs: pl.LazyFrame, height: int, bad: BadRows, options: ReadOptions) -> pl.DataFrame:
    """The distinct answers with their outcome and number; the rows of those that fit nothing are recorded as bad."""
    counts = _counts(pairs, height)
    answers = counts.select(COLUMNS).unique(maintain_order=True)
    strange = BadRows(bad.source, options, answers.height)
    known = answers.with_columns(outcomes(answers, options, strange).alias("outcome"))
    if strange.problems:
        wanted = answers.with_row_index("answer").filter(pl.col("answer").is_in(list(strange.problems)))
        rows = pairs.select(ROW, *COLUMNS).join(wanted.lazy(), on=COLUMNS, nulls_equal=True)
        for row, answer in rows.select(ROW, "answer").collect(engine="streaming").sort(ROW).iter_rows():
            bad.row(row, strange.problems[answer], strange.reasons[answer])
    return _with_outcomes(counts, known)


def _with_outcomes(counts: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    answers = known.select(*COLUMNS, "outcome").unique()
    return counts.join(answers, on=COLUMNS, how="left", nulls_equal=True)


def _each_once(
    pairs: pl.LazyFrame, height: int, columns: Mapping[str, str], everything: list[str]
) -> tuple[pl.LazyFrame, list[SetAside], list[str]]:
    """The comparisons that count; copies and corrected ones are set aside.

    Rows are numbered and looked at only where some of them are alike, since that takes memory.
    """
    identity = pl.struct(name for name in ("left", "right", *_IDENTITY) if name in columns).hash()
    known = [(pl.col(name).fill_null("") != "") for name in ("annotator", "segment") if name in columns]
    identified = pl.all_horizontal(known) if len(known) == 2 else pl.lit(value=False)
    set_aside: list[SetAside] = []
    notes: list[str] = []
    repeated, number = repeated_numbers(pairs.filter(identified), identity) if len(known) == 2 else ((), 0)
    if len(repeated):
        rows = pairs.select(ROW, identity.alias("identity"), identified.alias("identified"))
        table = rows.collect(engine="streaming").sort(ROW)
        counts, set_aside, notes = last_by_number(table["identity"], table["identified"])
        pairs = _only(pairs, table[ROW], counts)
    content = pl.struct(everything).hash()
    if number < height and len(repeated_numbers(pairs, content)[0]):
        whole = pairs.select(ROW, content.alias("content")).collect(engine="streaming").sort(ROW)
        counts, copied, copy_notes = one_copy_by_number(whole["content"])
        pairs = _only(pairs, whole[ROW], counts)
        set_aside, notes = [*set_aside, *copied], [*notes, *copy_notes]
    return pairs, set_aside, notes


def _only(pairs: pl.LazyFrame, rows: pl.Series, counts: pl.Series) -> pl.LazyFrame:
    if counts.all():
        return pairs
    return pairs.join(rows.filter(~counts).to_frame().lazy(), on=ROW, how="anti")


def _counted(distinct: pl.DataFrame) -> pl.DataFrame:
    """How often an annotator gave each (left, right, outcome), left before right by name."""
    outcome = pl.col("outcome").replace_strict(_OUTCOMES, default=None, return_dtype=pl.Int64)
    fitting = distinct.with_columns(outcome.alias("outcome")).filter(pl.col("outcome").is_not_null())
    swap = pl.col("left") > pl.col("right")
    ordered = fitting.select(
        "annotator",
        pl.min_horizontal("left", "right").alias("left"),
        pl.max_horizontal("left", "right").alias("right"),
        pl.when(swap).then(-pl.col("outcome")).otherwise("outcome").alias("outcome"),
        _TIMES,
    )
    key = ("annotator", "left", "right", "outcome")
    return ordered.group_by(key).agg(pl.col(_TIMES).sum()).sort(key)
