"""Customary rankings of judgment tables in Parquet, streamed: a hundred million judgments within a few gigabytes.

The table is never held: polars streams it three times, for what the rows are, for the scale of every annotator, and
for sums by segment and system. Of each row one number is kept for a moment, by which repeated judgments are found. The
result is that of `scores_csv`, which counts the rows of CSV files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.core.errors import DataError, InputError
from adjudge.core.fingerprint import fingerprint_of_file
from adjudge.core.judgments import KEY
from adjudge.core.machine_judges import MARK
from adjudge.core.protocols import KINDS, ON_SCALE, PROTOCOLS, RATED, SCORED
from adjudge.core.score_sheet import significant
from adjudge.formats.options import ReadOptions
from adjudge.formats.tables.cells import ROUNDING, SCORE_SCALE
from adjudge.formats.tables.large_file_rows import ROW, last_by_number, repeated_numbers
from adjudge.rank.assemble import Provenance
from adjudge.rank.large_files.columns import CONSTANT, NO_RESAMPLES, fits, human_systems
from adjudge.rank.large_files.item_sums import ordered_means
from adjudge.rank.score_means import SystemItems, assemble_means, equal_scores_note, few_annotators_note

if TYPE_CHECKING:
    from pathlib import Path

    from adjudge.core.judgments import SetAside
    from adjudge.core.score_sheet import ItemMeans
    from adjudge.rank import RankSettings
    from adjudge.rank.methods import Method
    from adjudge.results.rank import Ranking

_WORDS = ("system", "annotator", "segment", "document")
_NAMED = ("system", "annotator", "segment")
_IDENTITY = "identity"


def rank_scores_parquet(
    path: Path, method: Method, settings: RankSettings, options: ReadOptions | None = None
) -> Ranking | None:
    """Rank systems by `raw` or `zscore` straight from a judgment table in Parquet; None if it must be read whole."""
    try:
        table = pl.scan_parquet(path)
        schema = table.collect_schema()
        if not _fits(schema) or not _is_plain(table, schema):
            return None
        table, copies, notes = _each_once(table, schema)
        return _ranked(path, table, method, settings, options=options or ReadOptions(), copies=copies, notes=notes)
    except pl.exceptions.PolarsError as fault:
        reason = str(fault).split("\n", 1)[0]
        raise InputError(f"cannot be read as scores ({reason}); check the file", file=path) from fault


def _fits(schema: pl.Schema) -> bool:
    """Whether the columns are those that counting can do with, and of the usual types."""
    # The table that adjudge writes has a column for ranks; whether it holds any is seen later.
    names = [name for name in schema.names() if name != "rank"]
    words = all(schema[name] in (pl.String, pl.Categorical) for name in _WORDS if name in schema)
    return fits(names) and words and schema["score"].is_numeric()


def _is_plain(table: pl.LazyFrame, schema: pl.Schema) -> bool:
    """Whether the file can be counted as it stands: one campaign and pair, no revisions, all names, scores on scale."""
    odd: list[pl.Expr] = [(pl.col(name).min() != pl.col(name).max()).alias(name) for name in CONSTANT if name in schema]
    odd += [pl.col(name).is_null().any().alias(f"{name} missing") for name in _NAMED]
    odd += [(pl.col(name).cast(pl.String) == "").any().alias(f"{name} empty") for name in _NAMED]
    odd.append(pl.col("annotator").cast(pl.String).str.contains(MARK).any().alias("machine judges"))
    for name, allowed in (("protocol", PROTOCOLS), ("kind", KINDS)):
        if name in schema:
            unknown = pl.col(name).is_not_null() & ~pl.col(name).cast(pl.String).is_in(list(allowed))
            odd.append(unknown.any().alias(f"{name} unknown"))
    if "rank" in schema:
        odd.append(pl.col("rank").is_not_null().any().alias("ranks"))
    score = pl.col("score").cast(pl.Float64)
    off = ~score.is_between(SCORE_SCALE[0] - ROUNDING, SCORE_SCALE[1] + ROUNDING) & _word(
        schema, "protocol", "da"
    ).is_in(ON_SCALE)
    odd.append((off | ~score.is_finite()).any().alias("off the scale"))
    return not any(value for value in table.select(odd).collect(engine="streaming").row(0) if value is not None)


def _word(schema: pl.Schema, name: str, otherwise: str) -> pl.Expr:
    """A column of words, or what it is taken for where it is missing or empty."""
    return pl.col(name).cast(pl.String).fill_null(otherwise) if name in schema else pl.lit(otherwise)


def _each_once(table: pl.LazyFrame, schema: pl.Schema) -> tuple[pl.LazyFrame, tuple[SetAside, ...], tuple[str, ...]]:
    """The table with each judgment once, by the rule of `formats.duplicates`: its last row counts."""
    identity = pl.struct(name for name in (*KEY, "revision") if name in schema).hash().alias(_IDENTITY)
    twice, _ = repeated_numbers(table, identity)
    if not len(twice):
        return table, (), ()
    numbered = table.with_row_index(ROW)
    alike = numbered.with_columns(identity).filter(pl.col(_IDENTITY).is_in(pl.Series(twice).implode()))
    rows = alike.select(ROW, _IDENTITY).collect(engine="streaming").sort(ROW)
    # Who judged what is known of every row here (`_is_plain`).
    counts, set_aside, notes = last_by_number(rows[_IDENTITY], pl.repeat(value=True, n=rows.height, eager=True))
    earlier = rows.filter(~counts)[ROW]
    return numbered.filter(~pl.col(ROW).is_in(earlier.implode())).drop(ROW), tuple(set_aside), tuple(notes)


def _ranked(
    path: Path,
    table: pl.LazyFrame,
    method: Method,
    settings: RankSettings,
    *,
    options: ReadOptions,
    copies: tuple[SetAside, ...],
    notes: tuple[str, ...],
) -> Ranking:
    schema = table.collect_schema()
    scored = table.filter(
        pl.col("score").is_not_null() & _word(schema, "protocol", "da").is_in(list(SCORED))
    ).with_columns(pl.col("score").cast(pl.Float64), _word(schema, "kind", "system").is_in(list(RATED)).alias("rated"))
    scales = _scales(scored)
    rated = scored.filter("rated")
    sums = _item_sums(rated, scales, schema)
    systems = sorted(sums["system"].cast(pl.String).unique().to_list())
    if len(systems) < 2:
        raise DataError(f"at least two systems must be scored, check {path}; nothing can be ranked")
    constant = scales.filter(pl.col("rated") & pl.col("sd").is_null()).height
    human = human_systems(systems, _said_human(rated, schema), options)
    items = SystemItems(tuple(systems), human, *_means(sums, systems), np.empty((0, len(systems))))
    without_z = int(sums.select(pl.col("judgments").sum() - pl.col("with z").sum()).item())
    every = (NO_RESAMPLES, *equal_scores_note(constant, without_z), *few_annotators_note(scales.height))
    source = Provenance(fingerprint_of_file(path), copies, notes)
    return assemble_means(source, items, method, settings, notes=every)


def _scales(scored: pl.LazyFrame) -> pl.DataFrame:
    """Mean and standard deviation of every annotator, as `standardised` has them; no spread is null."""
    score = pl.col("score")
    by_annotator = scored.group_by("annotator").agg(
        score.mean().alias("mean"),
        score.std().alias("sd"),
        (score.min() == score.max()).alias("equal"),
        pl.col("rated").any(),
    )
    people = by_annotator.collect(engine="streaming")
    sd = significant(people["sd"].fill_null(0.0).to_numpy())
    spread = pl.Series("sd", np.where((sd > 0) & ~people["equal"].to_numpy(), sd, np.nan)).fill_nan(None)
    return people.select("annotator", "rated", pl.Series("mean", significant(people["mean"].to_numpy())), spread)


def _item_sums(rated: pl.LazyFrame, scales: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    """For every segment, of whatever document, of every system: judgments, those with a z, sums of scores and of z."""
    z = (pl.col("score") - pl.col("mean")) / pl.col("sd")
    item = [name for name in ("document", "segment", "system") if name in schema]
    sums = rated.join(scales.lazy().select("annotator", "mean", "sd"), on="annotator").group_by(item)
    counted = sums.agg(
        pl.len().alias("judgments"),
        z.count().alias("with z"),
        _exact_sum(pl.col("score")).alias("score"),
        _exact_sum(z).alias("z"),
    )
    return counted.collect(engine="streaming")


def _exact_sum(numbers: pl.Expr) -> pl.Expr:
    """A sum of whole multiples of 2**-60, which does not depend on the order: that of streamed rows is never the same.

    Numbers above 2**-7 keep all their digits, and sums up to 2**66 find room.
    """
    return (numbers * 2.0**60).round().cast(pl.Int128).sum().cast(pl.Float64) / 2.0**60


def _means(sums: pl.DataFrame, systems: list[str]) -> tuple[ItemMeans, ItemMeans]:
    """Raw and standardised means of items; a judgment without z counts for the raw mean alone."""
    system = (
        sums["system"].cast(pl.String).replace_strict(systems, range(len(systems)), return_dtype=pl.Int64).to_numpy()
    )
    count, with_z, raw, z = (sums[name].cast(pl.Float64).to_numpy() for name in ("judgments", "with z", "score", "z"))
    judged = np.bincount(system, weights=count, minlength=len(systems)).astype(np.int64)
    has_z = with_z > 0
    standardised = ordered_means(z[has_z] / with_z[has_z], system[has_z], judged)
    return ordered_means(raw / count, system, judged), standardised


def _said_human(rated: pl.LazyFrame, schema: pl.Schema) -> set[str] | None:
    """The systems that the file calls human; None where it does not say."""
    if "human" not in schema or schema["human"] != pl.Boolean:
        return None
    human = rated.filter(pl.col("human").fill_null(value=False)).select(pl.col("system").unique())
    return set(human.collect(engine="streaming").to_series().cast(pl.String).to_list())
