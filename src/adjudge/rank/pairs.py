"""Ranking straight from columns of pairs: millions of rows `left, right, winner` are counted first, then ranked."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.core.errors import DataError
from adjudge.core.judgments import SetAside
from adjudge.formats.pairwise_table import TIES
from adjudge.rank.assemble import Provenance
from adjudge.rank.methods import find_method
from adjudge.rank.relative import rank_units
from adjudge.rank.units import pair_units

if TYPE_CHECKING:
    from adjudge.rank import RankSettings
    from adjudge.results.rank import Ranking


def rank_pairs(pairs: pl.DataFrame, *, method: str = "bradley-terry", settings: RankSettings | None = None) -> Ranking:
    """Rank systems from a table of comparisons; use `rank` where annotators are known.

    Args:
        pairs: columns `left` and `right` (systems) and `winner`: `left`, `right`, `tie`, or the winner's name.
        method: a method for relative judgments.
        settings: what methods share.
    """
    from adjudge.rank import RankSettings

    counted, strange = _counted(pairs)
    if counted.height == 0:
        raise DataError("no comparison has two systems and a winner that is one of them, or a tie; check the columns")
    names = pl.concat([counted["left"], counted["right"]]).unique().sort()
    code = dict(zip(names, range(len(names)), strict=True))
    rows = np.stack(
        [
            counted["left"].replace_strict(code, return_dtype=pl.Int64).to_numpy(),
            counted["right"].replace_strict(code, return_dtype=pl.Int64).to_numpy(),
            counted["outcome"].cast(pl.Int64).to_numpy(),
        ],
        axis=1,
    )
    units = pair_units(tuple(names), rows, counted["times"].cast(pl.Int64).to_numpy())
    data = hashlib.sha256(counted.write_csv().encode()).hexdigest()[:12]
    aside = (
        (SetAside("winner is neither of the two systems nor a tie, or a system is missing", strange),)
        if strange
        else ()
    )
    return rank_units(units, Provenance(data, aside), find_method(method), settings or RankSettings())


def _counted(pairs: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """How often each (left, right, outcome) occurs, left before right in name order; and the rows that fit nothing."""
    distinct = pairs.lazy().group_by("left", "right", "winner").len("times").collect()
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
        pl.min_horizontal("left", "right").alias("left"),
        pl.max_horizontal("left", "right").alias("right"),
        pl.when(swap).then(-pl.col("outcome")).otherwise("outcome").alias("outcome"),
        "times",
    )
    counted = ordered.group_by("left", "right", "outcome").agg(pl.col("times").sum()).sort("left", "right", "outcome")
    return counted, pairs.height - int(fitting["times"].sum())
