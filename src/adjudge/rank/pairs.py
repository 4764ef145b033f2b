"""Ranking straight from columns of pairs: millions of rows `left, right, winner` are counted first, then ranked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.core.comparisons import NOBODY
from adjudge.core.errors import DataError
from adjudge.core.fingerprint import fingerprint
from adjudge.core.judgments import SetAside
from adjudge.formats.pairwise.table import TIES
from adjudge.rank.assemble import Provenance
from adjudge.rank.relative import rank_units
from adjudge.rank.units import pair_units

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from adjudge.rank import RankSettings
    from adjudge.rank.methods import Method
    from adjudge.results.rank import Ranking

COLUMNS = ("left", "right", "winner")
# Columns that mean the pairs are of several campaigns or language pairs: these need an ordinary look.
SEVERAL = ("campaign", "source_lang", "target_lang")
STRANGE = "winner is neither of the two systems nor a tie, or a system is missing"


def fits(header: list[str]) -> bool:
    """Whether a table with these columns holds pairs of one campaign."""
    return set(COLUMNS) <= set(header) and not set(SEVERAL) & set(header)


def rank_pairs_file(path: Path, method: Method, settings: RankSettings) -> Ranking | None:
    """Rank systems straight from a table of comparisons in CSV; None where it needs an ordinary look."""
    header = pl.read_csv(path, n_rows=0, infer_schema=False).columns
    if not fits(header) or settings.reference == "exclude" or method.reference == "exclude":
        return None
    used = [name for name in (*COLUMNS, "annotator") if name in header]
    return rank_pairs(pl.scan_csv(path, infer_schema=False).select(used), method, settings)


def rank_pairs(pairs: pl.DataFrame | pl.LazyFrame, method: Method, settings: RankSettings) -> Ranking:
    """Rank systems from a table of comparisons.

    Args:
        pairs: columns `left` and `right` (systems) and `winner`: `left`, `right`, `tie`, or the winner's name; and
            `annotator`, where it is known.
        method: a method for relative judgments.
        settings: what methods share.
    """
    counted, strange = _counted(pairs.lazy())
    if counted.height == 0:
        raise DataError("no comparison has two systems and a winner that is one of them, or a tie; check the columns")
    names = pl.concat([counted["left"], counted["right"]]).unique().sort()
    rows = np.stack([*(_codes(counted[side], names) for side in ("left", "right")), counted["outcome"].to_numpy()], 1)
    annotators = counted["annotator"].unique().sort()
    units = pair_units(
        tuple(names), rows.astype(np.int64), counted["times"].cast(pl.Int64).to_numpy(),
        _codes(counted["annotator"], annotators) if len(annotators) > 1 else None,
    )  # fmt: skip
    data = fingerprint(counted.write_csv())
    aside = (SetAside(STRANGE, strange),) if strange else ()
    return rank_units(units, Provenance(data, aside), method, settings)


def _codes(column: pl.Series, names: pl.Series) -> NDArray[np.int64]:
    return column.replace_strict(names, range(len(names)), return_dtype=pl.Int64).to_numpy()


def _counted(pairs: pl.LazyFrame) -> tuple[pl.DataFrame, int]:
    """How often an annotator gave each (left, right, outcome), left before right by name; and rows that fit nothing."""
    who = pl.col("annotator").cast(pl.String) if "annotator" in pairs.collect_schema() else pl.lit(None, pl.String)
    known = pairs.with_columns(annotator=who.fill_null(NOBODY))
    distinct = known.group_by("annotator", *COLUMNS).len("times").collect(engine="streaming")
    word = pl.col("winner").str.to_lowercase()
    # A winner's name counts before the words for sides, in case a system is called `left`.
    outcome = (
        pl.when(pl.col("winner") == pl.col("left"))
        .then(1)
        .when(pl.col("winner") == pl.col("right"))
        .then(-1)
        .when(word == "left")
        .then(1)
        .when(word == "right")
        .then(-1)
        .when(word.is_in(TIES))
        .then(0)
    )
    fitting = distinct.with_columns(outcome=outcome).filter(
        pl.col("outcome").is_not_null() & pl.col("left").is_not_null() & (pl.col("left") != pl.col("right"))
    )
    swap = pl.col("left") > pl.col("right")
    ordered = fitting.select(
        "annotator",
        pl.min_horizontal("left", "right").alias("left"),
        pl.max_horizontal("left", "right").alias("right"),
        pl.when(swap).then(-pl.col("outcome")).otherwise("outcome").alias("outcome"),
        "times",
    )
    key = ("annotator", "left", "right", "outcome")
    counted = ordered.group_by(key).agg(pl.col("times").sum()).sort(key)
    return counted, int(distinct["times"].sum()) - int(fitting["times"].sum())
