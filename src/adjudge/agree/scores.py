"""Agreement on scores: interval alpha, typical difference, correlations, and each annotator's own agreement.

Alpha is Krippendorff's with the interval metric. Where a person scored an item more than once, only the pairs of the
kind asked for count (inter or intra), and an item weighs as many times as it has scores; without repeats this is the
usual definition. Correlations are computed for every two annotators on the items they share (repeats averaged first),
and averaged with n - 1 as weight; of repeats, for every annotator, each pair in both orders because neither is first.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.agree.options import notes_on, over_resamples, percentile_interval
from adjudge.agree.score_cells import alpha_from_sums, pairs_of_cells, patterns, score_cells, usable_scores
from adjudge.core.errors import DataError
from adjudge.core.maths import divide
from adjudge.results.agree import PARTS, Agreement, AnnotatorAgreement, Coefficients

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.agree.options import AgreeOptions
    from adjudge.agree.score_cells import ScoreCells
    from adjudge.core.judgments import Judgments
    from adjudge.results.agree import Number


def agree_on_scores(judgments: Judgments, options: AgreeOptions) -> Agreement:
    """Agreement on numbers given to the same outputs."""
    usable = usable_scores(judgments)
    if len(usable) == 0:
        raise DataError("no judgment has a score, an annotator and a segment (or document); agreement needs all three")
    every = score_cells(usable)
    weights = options.draws(every.annotator, len(every.annotators))
    parts = dict(zip(PARTS, (every, every.where(~every.human)), strict=True))
    inter = {name: score_coefficients(part, "inter", weights=weights) for name, part in parts.items()}
    intra = {name: score_coefficients(part, "intra", weights=weights) for name, part in parts.items()}
    return Agreement(
        settings={"kind": "scores", "resamples": options.resamples, "seed": options.seed},
        data=judgments.fingerprint,
        set_aside=usable.set_aside,
        notes=judgments.notes + notes_on(inter["all"].pairs, intra["all"].pairs, len(every.annotators)),
        kind="scores",
        inter=inter,
        intra=intra,
        annotators=_by_annotator(every),
    )


def _by_annotator(cells: ScoreCells) -> tuple[AnnotatorAgreement, ...]:
    """One entry per annotator who gave a score, who judged most first."""
    names, sums = cells.annotators, _annotator_sums(cells)
    judgments = sums[0]
    within, between = _within(sums), _between(sums, correlations_between(cells))
    order = sorted(np.flatnonzero(judgments).tolist(), key=lambda i: (-judgments[i], names[i]))
    return tuple(
        AnnotatorAgreement(
            annotator=names[i],
            judgments=int(judgments[i]),
            ties=float("nan"),
            intra=within[i],
            inter=between[i],
        )
        for i in order
    )


def _annotator_sums(cells: ScoreCells) -> NDArray[np.float64]:
    """Eight rows of sums by annotator.

    Scores; squared differences of repeats; the four of `repeat_products`; pairs with others, and their squared
    differences.
    """
    # What the others gave to the item of each cell; squared differences to them follow from the sums.
    number, total, squares = (
        cells.per_item(sums)[cells.item] - sums for sums in (cells.number, cells.total, cells.squares)
    )
    distance = cells.number * squares + number * cells.squares - 2 * cells.total * total
    repeats = [cells.per_annotator(value) for value in (cells.number, cells.own_distance)]
    others = [cells.per_annotator(value) for value in (cells.number * number, distance)]
    return np.stack([*repeats, *repeat_products(cells), *others])


def _within(sums: NDArray[np.float64]) -> list[dict[str, Number]]:
    pairs, correlation = repeat_correlations(sums[2:6])
    difference = np.sqrt(divide(sums[1], pairs))
    return [{"pairs": int(pairs[i]), "difference": difference[i], "pearson": correlation[i]} for i in range(len(pairs))]


def _between(sums: NDArray[np.float64], correlation: pl.DataFrame) -> list[dict[str, Number]]:
    pairs, distance = sums[6:]
    difference = np.sqrt(divide(np.maximum(distance, 0), pairs))
    means = [mean_correlations(correlation, rows) for rows in _rows_by_annotator(correlation, len(pairs))]
    return [{"pairs": int(pairs[i]), "difference": difference[i], **means[i]} for i in range(len(pairs))]


def _rows_by_annotator(correlation: pl.DataFrame, annotators: int) -> list[NDArray[np.int64]]:
    """The rows of each annotator among those of every two, in their order."""
    who = np.concatenate([correlation["who"].to_numpy(), correlation["who_2"].to_numpy()])
    row = np.tile(np.arange(correlation.height), 2)
    order = np.lexsort((row, who))
    return np.split(row[order], np.searchsorted(who[order], np.arange(1, annotators)))


MIN_SHARED = 3


def score_coefficients(cells: ScoreCells, kind: str, *, weights: NDArray[np.float64] | None = None) -> Coefficients:
    """All that is said of scores of one kind, `inter` or `intra`."""
    once = np.ones((1, len(cells.annotators)))
    if kind == "inter":
        cells = shared_cells(cells)
        pairs, distance = inter_pairs(cells)
        alphas, correlation = patterns(cells).alpha, mean_correlations(correlations_between(cells))
    else:
        cells = cells.where(cells.number > 1)
        pairs, distance = cells.own_pairs, cells.own_distance
        alphas = partial(_alpha_of_repeats, _repeat_sums(cells))
        correlation = mean_repeat_correlation(repeat_products(cells))
    interval = {} if weights is None else {"alpha": percentile_interval(over_resamples(alphas, weights), weights)}
    numbers: dict[str, Number] = {"difference": typical_difference(float(distance.sum()), float(pairs.sum()))}
    return Coefficients(
        pairs=int(pairs.sum()),
        items=int((pairs > 0).sum()),
        alpha=float(alphas(once)[0]),
        interval=interval,
        numbers=numbers | correlation,
    )


def shared_cells(cells: ScoreCells) -> ScoreCells:
    """The cells of items that two or more people scored."""
    people = np.bincount(cells.item, minlength=cells.items)
    return cells.where(people[cells.item] > 1)


def inter_pairs(cells: ScoreCells) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Per item: pairs of scores by different people, and the sum of their squared differences."""
    number, total, squares = (cells.per_item(sums) for sums in (cells.number, cells.total, cells.squares))
    pairs = number * (number - 1) / 2 - cells.per_item(cells.own_pairs)
    distance = number * squares - total**2 - cells.per_item(cells.own_distance)
    return pairs, np.maximum(distance, 0)


def _alpha_of_repeats(by_annotator: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Alpha of repeats for every row of weights (resamples x annotators), from `_repeat_sums`."""
    return alpha_from_sums(*(weights @ sums for sums in by_annotator))


def _repeat_sums(cells: ScoreCells) -> NDArray[np.float64]:
    """Four rows of sums by annotator over cells with repeats, in the order that `alpha_from_sums` has."""
    per_cell = divide(2 * cells.own_distance, 2 * cells.own_pairs) * cells.number
    values = (per_cell, cells.number, cells.total, cells.squares)
    return np.stack([cells.per_annotator(sums) for sums in values])


def typical_difference(distance: float, pairs: float) -> float:
    """Root of the mean squared difference, in points of the scale."""
    return float(np.sqrt(divide(distance, pairs)))


def item_means(cells: ScoreCells) -> NDArray[np.float64]:
    """The mean score of each cell, without the noise of rounding, which would turn equal scores into different ones."""
    return np.round(cells.total / cells.number, 9)


def correlations_between(cells: ScoreCells) -> pl.DataFrame:
    """Pearson's and Spearman's correlation of every two annotators on the items they share."""
    first, second = pairs_of_cells(cells.item)
    mean = item_means(cells)
    people = cells.annotator
    return (
        pl.LazyFrame({"who": people[first], "who_2": people[second], "mean": mean[first], "mean_2": mean[second]})
        .group_by("who", "who_2", maintain_order=True)
        .agg(
            pl.len().alias("shared"),
            pl.corr("mean", "mean_2").alias("pearson"),
            pl.corr(pl.col("mean").rank(), pl.col("mean_2").rank()).alias("spearman"),
            # The correlation with equal scores is 0 / 0, and would come out as any number.
            ((pl.col("mean").min() == pl.col("mean").max()) | (pl.col("mean_2").min() == pl.col("mean_2").max())).alias(
                "equal"
            ),
        )
        .with_columns(pl.when("equal").then(float("nan")).otherwise(pl.col("pearson", "spearman")).name.keep())
        .filter(pl.col("shared") >= MIN_SHARED)
        .sort("who", "who_2")
        .collect(engine="in-memory")
    )


def repeat_products(cells: ScoreCells) -> NDArray[np.float64]:
    """Four sums by annotator for `repeat_correlations`: pairs in both orders, scores, products, squares."""
    often = cells.number - 1
    values = (2 * cells.own_pairs, often * cells.total, cells.total**2 - cells.squares, often * cells.squares)
    return np.stack([cells.per_annotator(value) for value in values])


def repeat_correlations(sums: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Per annotator: pairs of repeats, and their correlation with each pair in both orders."""
    pairs = sums[0]
    mean, product, squares = (divide(value, pairs) for value in sums[1:])
    variance = squares - mean**2
    return pairs / 2, divide(product - mean**2, np.where(variance > 1e-9, variance, 0))


def mean_repeat_correlation(sums: NDArray[np.float64]) -> dict[str, Number]:
    """The mean over annotators, who weigh by their pairs of repeats."""
    pairs, correlation = repeat_correlations(sums)
    used = (pairs >= MIN_SHARED) & np.isfinite(correlation)
    weight = pairs[used] - 1
    mean = float(divide((correlation[used] * weight).sum(), weight.sum()))
    return {"pearson": mean, "annotators": int(used.sum())}


def mean_correlations(correlation: pl.DataFrame, rows: NDArray[np.int64] | None = None) -> dict[str, Number]:
    """The mean over pairs of annotators, a pair with n shared items weighing n - 1; constant scores have none.

    Args:
        correlation: of every two annotators.
        rows: the pairs to take; default: all.
    """
    chosen = slice(None) if rows is None else rows
    weight = correlation["shared"].to_numpy()[chosen] - 1.0
    means: dict[str, Number] = {}
    for name in ("pearson", "spearman"):
        value = correlation[name].to_numpy()[chosen]
        defined = np.isfinite(value)
        means[name] = float(divide((value[defined] * weight[defined]).sum(), weight[defined].sum()))
    return means | {"annotator_pairs": len(weight)}
