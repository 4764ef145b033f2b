"""What a judge's own answers say: whether it repeats them, whether it notices damage, and where it gave them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.audit.intervals import correlate, proportion
from adjudge.core.machine_judges import PREFIX
from adjudge.core.protocols import RELATIVE
from adjudge.results.audit.judges import Bias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjudge.audit.judges.answers import Answers
    from adjudge.core.arrays import Floats

FEWEST_REPEATS = 10
_ITEM = ["annotator", "key", "system"]


def self_agreement(answers: Answers, name: str) -> Iterator[Bias]:
    """The correlation of a judge's scores with those that it gave when asked again; people's beside it."""
    pairs = _pairs(_rows(answers, name), "repeat")
    if pairs is None or len(pairs) < FEWEST_REPEATS:
        return
    agreement = correlate(pairs[:, 0], pairs[:, 1])
    if np.isnan(agreement.pearson):
        return
    apart = float(np.abs(pairs[:, 0] - pairs[:, 1]).mean())
    sentence = f"correlates {agreement.pearson:.2f} with itself when asked again, {apart:.1f} points apart on average"
    people = _pairs(answers.table, "repeat")
    if people is not None and len(people) >= FEWEST_REPEATS:
        sentence += f" (people: {correlate(people[:, 0], people[:, 1]).pearson:.2f})"
    yield Bias("self-agreement", agreement.pearson, agreement.interval, None, len(pairs), sentence)


def degraded_controls(answers: Answers, name: str) -> Iterator[Bias]:
    """How often a damaged output has a lower score than the output that it was made from."""
    pairs = _pairs(_rows(answers, name), "degraded")
    if pairs is None or not len(pairs):
        return
    lower = proportion(int((pairs[:, 1] < pairs[:, 0]).sum()), len(pairs))
    sentence = f"scores {100 * lower.share:.0f}% of damaged outputs lower than the originals"
    people = _pairs(answers.table, "degraded")
    if people is not None and len(people):
        sentence += f" (people: {100 * float((people[:, 1] < people[:, 0]).mean()):.0f}%)"
    yield Bias("degraded controls", lower.share, lower.interval, None, len(pairs), sentence)


def position_of_items(answers: Answers, name: str) -> Floats:
    """Where in its task the judge answered: 0 for the first item, 1 for the last; NaN where that is not known."""
    positions = np.full(answers.items.height, np.nan)
    rows = _rows(answers, name)
    if "task" not in rows.columns or rows["task"].null_count() == rows.height:
        return positions
    if rows["started"].null_count() == 0:
        rows = rows.sort("started", maintain_order=True)
    order = pl.int_range(pl.len()).over("task") / (pl.len().over("task") - 1)
    placed = rows.filter(pl.len().over("task") > 1).with_columns(order.alias("position")).unique(_ITEM, keep="first")
    found = answers.items.join(placed.select("key", "system", "position"), on=["key", "system"], how="inner")
    positions[found["row"].to_numpy()] = found["position"].to_numpy()
    return positions


def _rows(answers: Answers, name: str) -> pl.DataFrame:
    return answers.machine.filter(pl.col("annotator") == f"{PREFIX}{name}")


def _pairs(rows: pl.DataFrame, kind: str) -> Floats | None:
    """First and second score of every output that has both: a genuine one, and one of this kind."""
    if "kind" not in rows.columns or (rows["kind"] == kind).sum() == 0 or _is_relative(rows):
        return None
    scored = rows.filter(pl.col("score").is_not_null() & pl.col("annotator").is_not_null())
    first, second = (
        scored.filter(pl.col("kind") == which).group_by(_ITEM).agg(pl.col("score").first().alias(column))
        for which, column in (("system", "first"), (kind, "second"))
    )
    both = first.join(second, on=_ITEM, how="inner").sort(_ITEM)
    return both.select("first", "second").to_numpy().astype(float)


def _is_relative(rows: pl.DataFrame) -> bool:
    return "protocol" in rows.columns and bool(rows["protocol"].is_in(list(RELATIVE)).any())


def shown_first(answers: Answers, name: str) -> pl.DataFrame | None:
    """Of every pair that a judge compared: its answer and which system was shown first, each without the pair's mean.

    Where every two systems were always shown in the same order, nothing can be told.
    """
    rows = _rows(answers, name)
    if not _is_relative(rows):
        return None
    identity = ["key", "screen"]
    two = rows.filter(pl.col("rank").is_not_null() & (pl.len().over(identity) == 2))
    pairs = two.group_by(identity, maintain_order=True).agg("system", "rank", pl.col("document").first())
    one, other = pl.col("system").list.first(), pl.col("system").list.last()
    turned = pl.when(one < other).then(1.0).otherwise(-1.0)
    better = (pl.col("rank").list.last().cast(pl.Int64) - pl.col("rank").list.first()).sign() * turned
    pair = [pl.min_horizontal(one, other).alias("a"), pl.max_horizontal(one, other).alias("b")]
    coded = pairs.filter(one != other).with_columns(
        turned.alias("first"), better.cast(pl.Float64).alias("better"), *pair
    )
    centred = coded.with_columns(pl.col("first", "better") - pl.col("first", "better").mean().over("a", "b"))
    return centred if centred.height >= FEWEST_REPEATS and centred["first"].abs().sum() > 0 else None
