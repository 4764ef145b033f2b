"""A gold standard from direct assessment: mean z per segment first, then per document (Graham et al. 2017).

A second run of the same items tells how far the gold standard repeats itself, and the curve how many judgments that
takes. The curve follows the order in which assignments were submitted; because one order wiggles by luck, a band over
random orders stands beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from adjudge.metrics.levels import TAIL, draws, interval, pooled_pearson
from adjudge.metrics.results import CurvePoint, Gold, GoldReliability, GoldRun, GoldScore
from adjudge.people.check import quality_of
from adjudge.table.errors import DataError, UsageError, param
from adjudge.table.judgments import Judgments, SetAside
from adjudge.table.maths import Correlation, Floats, Ints, correlate, divide, pearson
from adjudge.table.protocols import RATED, SCORED
from adjudge.table.rng import generator
from adjudge.table.score_sheet import PRINTED_DIGITS
from adjudge.table.settings import option, seed_option

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


UNIT = ("system", "document")
ASSIGNMENT = ("annotator", "task")
FEWEST_FOR_R = 3
RESAMPLES = 1000
_TEXTS = 72
_HALVES = 73
HALVES = 50
"""Random halves of the annotators for the reliability of one run."""


@dataclass(frozen=True, kw_only=True)
class GoldSettings:
    """What is scored, whose judgments count, and how the curve is drawn."""

    level: Literal["documents", "segments"] | None = option(
        None, "What to score; default: documents if they are known.", only="python"
    )
    all_annotators: bool = option(False, f"The same as {param('everyone')}.")
    orders: int = option(200, "Random orders of judgments for the band around the curve.")
    reliability: float = option(
        0.9, "Reliability to plan for: how many judgments per document (or segment) reach it.", above=0, most=0.999
    )
    seed: int = seed_option()

    def __post_init__(self) -> None:
        if self.orders < 0:
            raise UsageError(f"{param('orders')} is {self.orders}, it must be 0 or more")


def gold(
    runs: Sequence[Judgments],
    settings: GoldSettings | None = None,
    *,
    names: Sequence[str] = ("first", "second"),
    keys: Mapping[str, str] | None = None,
) -> Gold:
    """Score documents (or segments, where documents are not known) from one or two runs of judgments.

    Args:
        runs: one or two runs of direct assessment.
        settings: what is scored. Annotators are checked where there are controls to check them by.
        names: what to call the runs.
        keys: the document of every segment, for judgments that do not say it.
    """
    settings = settings or GoldSettings()
    checked, orders, seed = not settings.all_annotators, settings.orders, settings.seed
    check_runs(len(runs))
    standardised = [_standardise(run, keys, checked=checked) for run in runs]
    tables = [table for table, _ in standardised]
    level: str = settings.level or ("documents" if tables[0]["document"].is_not_null().any() else "segments")
    scores = [_scores(table, level) for table in tables]
    two = len(runs) > 1
    return Gold(
        settings={"level": level, "checked": checked, "orders": orders if two else None, "seed": seed if two else None},
        data="+".join(run.fingerprint for run in runs),
        set_aside=tuple(
            aside for run, (_, left) in zip(runs, standardised, strict=True) for aside in (*run.set_aside, *left)
        ),
        notes=tuple(dict.fromkeys(note for run in runs for note in run.notes)),
        runs=tuple(
            GoldRun(name, run.table["annotator"].n_unique(), table["annotator"].n_unique(), table.height)
            for name, run, table in zip(names, runs, tables, strict=False)
        ),
        level=level,
        scores=_rows(scores[0]),
        second=_rows(scores[1]) if two else (),
        reliability=measure_reliability(tables[0], level, target=settings.reliability, seed=seed),
        correlation=_correlation(scores[0], scores[1], seed) if two else None,
        curve=_curve(scores[0], tables[1], level, orders, seed) if two else (),
    )


def measure_reliability(table: pl.DataFrame, level: str, *, target: float, seed: int) -> GoldReliability | None:
    """The reliability of a run's own scores, by random halves of its annotators, and the judgments that `target` needs.

    The correlation r of scores by two halves gives 2 r / (1 + r) for all, and n times the judgments give
    n R / (1 + (n - 1) R) (Spearman-Brown). None if the halves share too little.
    """
    table = table.drop_nulls("z")
    people = table["annotator"].unique().sort().to_list()
    if len(people) < 2 * FEWEST_FOR_R:
        return None
    key = list(UNIT) if level == "documents" else ["system", "document", "segment"]
    found = []
    for half in range(HALVES):
        chosen = generator(seed, _HALVES, half).permutation(people)[: len(people) // 2].tolist()
        mine = pl.col("annotator").is_in(chosen).fill_null(value=False)
        first, second = (_scores(table.filter(part), level) for part in (mine, ~mine))
        both = first.join(second, on=key, nulls_equal=True)
        if both.height >= FEWEST_FOR_R:
            found.append(pearson(both["z"].to_numpy(), both["z_right"].to_numpy()))
    known = [r for r in found if np.isfinite(r)]
    if not known:
        return None
    half_r = float(np.mean(known))
    each = table.height / table.select(key).n_unique()
    whole = 2 * half_r / (1 + half_r) if half_r > -1 else float("nan")
    needed = None if whole <= 0 else target / (1 - target) * (1 - whole) / whole * each
    repeats = table.height / table.select("system", "document", "segment").n_unique()
    return GoldReliability(whole, each, target, needed, repeats, len(people))


def check_runs(runs: int) -> None:
    """Refuse more runs than can be compared."""
    if runs > 2:
        raise UsageError(f"{runs} runs were given, one or two are needed; join files of one run in a folder")


def runs_by_pair(runs: Sequence[Judgments]) -> dict[str, list[Judgments]]:
    """Group the runs by language pair; where each run holds one pair only, they belong together whatever it is."""
    first = runs[0].pairs
    if all(len(run.pairs) == 1 for run in runs):
        return {first[0]: list(runs)}
    common = [name for name in first if all(name in run.pairs for run in runs)]
    if not common:
        pairs = " and ".join(", ".join(run.pairs) for run in runs)
        raise DataError(f"the runs have no language pair in common, they hold {pairs}; check {param('pair')}")
    return {name: [run.for_pair(name) for run in runs] for name in common}


def _standardise(
    run: Judgments, keys: Mapping[str, str] | None, *, checked: bool
) -> tuple[pl.DataFrame, tuple[SetAside, ...]]:
    """The rated scores of annotators who are kept, with z from all of each annotator's scores; and what is left out."""
    final = run.final()
    table = final.table.filter(pl.col("protocol").is_in(SCORED) & pl.col("score").is_not_null())
    if table.height == 0:
        raise DataError(f"scores are needed for a gold standard, but the data hold none; check {param('format')}")
    score = pl.col("score")
    mean, sd = (part.over("annotator").round_sig_figs(PRINTED_DIGITS) for part in (score.mean(), score.std()))
    z = (score - mean) / sd
    rated = table = table.with_columns(z=z.fill_nan(None)).filter(pl.col("kind").is_in(RATED))
    if table.schema.get("passed") == pl.Boolean:
        table = table.filter(pl.col("passed").fill_null(True))
    elif checked:
        table = table.filter(~pl.col("annotator").is_in(quality_of(final).left_out).fill_null(value=False))
    if keys is not None:
        table = table.with_columns(
            document=pl.col("segment").replace_strict(dict(keys), default=None, return_dtype=pl.String)
        )
        strangers = table.filter(pl.col("document").is_null())["segment"]
        if strangers.len():
            raise DataError(f"segment '{strangers[0]}' is not in the keys; give the keys of this data set")
    left = (
        ("judgment of an annotator who does not pass the check", rated.height - table.height),
        ("judgment without z, as its annotator gave one score only", table["z"].null_count()),
    )
    return table, tuple(SetAside(reason, rows) for reason, rows in left if rows)


def _scores(table: pl.DataFrame, level: str) -> pl.DataFrame:
    segments = table.group_by("system", "document", "segment", maintain_order=True).agg(
        pl.col("z").mean(), pl.col("score").mean().alias("raw"), pl.len().alias("n")
    )
    if level == "segments":
        return segments.sort("system", "segment")
    return (
        segments.group_by(UNIT, maintain_order=True)
        .agg(pl.col("z").mean(), pl.col("raw").mean(), pl.col("n").sum())
        .sort(UNIT)
    )


def _rows(scores: pl.DataFrame) -> tuple[GoldScore, ...]:
    has_segment = "segment" in scores.columns
    return tuple(
        GoldScore(
            row["system"], row["document"], row["segment"] if has_segment else None, row["z"], row["raw"], row["n"]
        )
        for row in scores.iter_rows(named=True)
    )


def _correlation(first: pl.DataFrame, second: pl.DataFrame, seed: int) -> Correlation:
    """The correlation of two runs. Where scores share texts, they are not independent, and texts are drawn again."""
    key = [name for name in ("system", "document", "segment") if name in first.columns]
    both = first.join(second, on=key, nulls_equal=True).drop_nulls(["z", "z_right"])
    x, y = both["z"].to_numpy(), both["z_right"].to_numpy()
    fisher = correlate(x, y)
    text = both.select(pl.coalesce(key[1:]).fill_null("").alias("text"))["text"]
    if text.n_unique() in (1, text.len()) or not np.isfinite(fisher.interval).all():
        return fisher
    drawn = draws(RESAMPLES, np.unique(text.to_numpy(), return_inverse=True)[1], generator(seed, _TEXTS))
    if drawn is None:
        return fisher
    ends = interval(pooled_pearson(x[None], y[None], drawn.weights), units=drawn.texts)
    return fisher if ends is None else replace(fisher, interval=ends)


@dataclass(frozen=True, eq=False)
class _Growth:
    """The second run as sums per (assignment, segment), and the first run's score of every unit."""

    sums: Floats
    counts: Floats
    member: Floats
    """(segments, units): 1 where the segment belongs to the unit."""
    target: Floats

    def along(self, order: Ints) -> tuple[Floats, Floats, Floats]:
        """Compute correlation, fewest and mean judgments per unit seen so far, after each assignment in this order."""
        seen = np.cumsum(self.counts[order], axis=0)
        means = divide(np.cumsum(self.sums[order], axis=0), seen, otherwise=0.0)
        present = (seen > 0).astype(float) @ self.member
        value = divide(means @ self.member, present)
        judged = seen @ self.member
        usable = (present > 0) & ~np.isnan(self.target)
        r = [
            pearson(self.target[row], value[i][row]) if row.sum() >= FEWEST_FOR_R else np.nan
            for i, row in enumerate(usable)
        ]
        fewest = np.array([judged[i][present[i] > 0].min() for i in range(len(order))])
        mean = judged.sum(1) / (present > 0).sum(1)
        return np.array(r), fewest, mean


def _curve(first: pl.DataFrame, second: pl.DataFrame, level: str, orders: int, seed: int) -> tuple[CurvePoint, ...]:
    growth, submitted = _make_growth(first, second.drop_nulls("z"), level)
    r, fewest, mean = growth.along(submitted)
    rng = generator(seed)
    random = np.array([growth.along(rng.permutation(len(submitted)))[0] for _ in range(orders)])
    low, middle, high = _band(random, len(r))
    return tuple(
        CurvePoint(
            i + 1, int(fewest[i]), float(mean[i]), *(None if np.isnan(value) else float(value) for value in values)
        )
        for i, values in enumerate(zip(r, middle, low, high, strict=True))
    )


def _band(random: Floats, points: int) -> tuple[Floats, ...]:
    nothing = np.full(points, np.nan)
    if len(random) == 0:
        return nothing, nothing, nothing
    usable = ~np.isnan(random).any(axis=0)
    filled = np.where(usable, random, 0.0)
    low, high = np.quantile(filled, (TAIL, 1 - TAIL), axis=0)
    return tuple(np.where(usable, limit, np.nan) for limit in (low, filled.mean(0), high))


def _make_growth(first: pl.DataFrame, second: pl.DataFrame, level: str) -> tuple[_Growth, Ints]:
    """The second run by assignment, and the order in which assignments were submitted."""
    unit = ["system", "document"] if level == "documents" else ["system", "document", "segment"]
    assignments = second.group_by(ASSIGNMENT, maintain_order=True).agg(pl.col("ended").max())
    units = second.select(unit).unique().sort(unit)
    segments = second.select("system", "document", "segment").unique().sort("system", "document", "segment")
    shape = (assignments.height, segments.height)
    assignment = _row_numbers(second, assignments, list(ASSIGNMENT))
    cell = assignment * shape[1] + _row_numbers(second, segments, ["system", "document", "segment"])
    sums = np.bincount(cell, weights=second["z"].to_numpy(), minlength=shape[0] * shape[1]).astype(float)
    counts = np.bincount(cell, minlength=shape[0] * shape[1]).astype(float)
    target = units.join(first.select(*unit, "z"), on=unit, how="left", nulls_equal=True, maintain_order="left")["z"]
    submitted = assignments.with_row_index("place").sort("ended", nulls_last=True, maintain_order=True)["place"]
    member = np.eye(units.height)[_row_numbers(segments, units, unit)]
    growth = _Growth(
        sums.reshape(shape), counts.reshape(shape), member, target.cast(pl.Float64).fill_null(np.nan).to_numpy()
    )
    return growth, submitted.to_numpy().astype(np.int64)


def _row_numbers(table: pl.DataFrame, among: pl.DataFrame, key: list[str]) -> Ints:
    """Find, for every row of the table, the row of `among` that has the same key."""
    numbered = among.select(key).with_row_index("place")
    joined = table.select(key).join(numbered, on=key, how="left", nulls_equal=True, maintain_order="left")
    return joined["place"].to_numpy().astype(np.int64)
