"""Agreement on scores: interval alpha, typical difference, correlations, and each annotator's own agreement.

Alpha is Krippendorff's with the interval metric. Where a person scored an item more than once, only the pairs of the
kind asked for count (inter or intra), and an item weighs as many times as it has scores; without repeats this is the
usual definition. Correlations are computed for every two annotators on the items they share (repeats averaged first),
and averaged with n - 1 as weight; of repeats, for every annotator, each pair in both orders because neither is first.
"""

from __future__ import annotations

from dataclasses import dataclass
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
        raise DataError("no judgment has a score, an annotator and a segment; agreement needs all three")
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
        annotators=annotators_of_scores(every),
    )


def annotators_of_scores(cells: ScoreCells) -> tuple[AnnotatorAgreement, ...]:
    """One entry per annotator, who judged most first."""
    judgments = cells.per_annotator(cells.number)
    within, between = _within(cells), _between(cells)
    order = sorted(range(len(cells.annotators)), key=lambda i: (-judgments[i], cells.annotators[i]))
    return tuple(
        AnnotatorAgreement(
            annotator=cells.annotators[i],
            judgments=int(judgments[i]),
            ties=float("nan"),
            intra=within[i],
            inter=between[i],
        )
        for i in order
    )


def _within(cells: ScoreCells) -> list[dict[str, Number]]:
    pairs, correlation = repeat_correlations(cells)
    difference = np.sqrt(divide(cells.per_annotator(cells.own_distance), pairs))
    return [
        {"pairs": int(pairs[i]), "difference": difference[i], "pearson": correlation[i]}
        for i in range(len(cells.annotators))
    ]


def _between(cells: ScoreCells) -> list[dict[str, Number]]:
    # What the others gave to the item of each cell; squared differences to them follow from the sums.
    number, total, squares = (
        cells.per_item(sums)[cells.item] - sums for sums in (cells.number, cells.total, cells.squares)
    )
    pairs = cells.per_annotator(cells.number * number)
    distance = cells.number * squares + number * cells.squares - 2 * cells.total * total
    difference = np.sqrt(divide(np.maximum(cells.per_annotator(distance), 0), pairs))
    correlation = correlations_between(cells)
    rows: list[dict[str, Number]] = []
    for i in range(len(cells.annotators)):
        own = correlation.filter((pl.col("who") == i) | (pl.col("who_2") == i))
        rows.append({"pairs": int(pairs[i]), "difference": difference[i], **mean_correlations(own)})
    return rows


MIN_SHARED = 3


def score_coefficients(cells: ScoreCells, kind: str, *, weights: NDArray[np.float64] | None = None) -> Coefficients:
    """All that is said of scores of one kind, `inter` or `intra`."""
    once = np.ones((1, len(cells.annotators)))
    if kind == "inter":
        cells = _shared(cells)
        pairs, distance = _inter_pairs(cells)
        alphas, correlation = patterns(cells).alpha, mean_correlations(correlations_between(cells))
    else:
        cells = cells.where(cells.number > 1)
        pairs, distance = cells.own_pairs, cells.own_distance
        alphas, correlation = _repeat_sums(cells).alpha, _mean_repeat_correlation(cells)
    interval = {} if weights is None else {"alpha": percentile_interval(over_resamples(alphas, weights))}
    numbers: dict[str, Number] = {"difference": _typical(float(distance.sum()), float(pairs.sum()))}
    return Coefficients(
        pairs=int(pairs.sum()),
        items=int((pairs > 0).sum()),
        alpha=float(alphas(once)[0]),
        interval=interval,
        numbers=numbers | correlation,
    )


def _shared(cells: ScoreCells) -> ScoreCells:
    """The cells of items that two or more people scored."""
    people = np.bincount(cells.item, minlength=cells.items)
    return cells.where(people[cells.item] > 1)


def _inter_pairs(cells: ScoreCells) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Per item: pairs of scores by different people, and the sum of their squared differences."""
    number, total, squares = (cells.per_item(sums) for sums in (cells.number, cells.total, cells.squares))
    pairs = number * (number - 1) / 2 - cells.per_item(cells.own_pairs)
    distance = number * squares - total**2 - cells.per_item(cells.own_distance)
    return pairs, np.maximum(distance, 0)


@dataclass(frozen=True, eq=False)
class _RepeatSums:
    """What alpha of repeats needs: four rows of sums by annotator, in the order that `alpha_from_sums` has."""

    by_annotator: NDArray[np.float64]

    def alpha(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Alpha for every row of weights (resamples x annotators)."""
        return alpha_from_sums(*(weights @ sums for sums in self.by_annotator))


def _repeat_sums(cells: ScoreCells) -> _RepeatSums:
    per_cell = divide(2 * cells.own_distance, 2 * cells.own_pairs) * cells.number
    values = (per_cell, cells.number, cells.total, cells.squares)
    return _RepeatSums(np.stack([cells.per_annotator(sums) for sums in values]))


def _typical(distance: float, pairs: float) -> float:
    """Root of the mean squared difference, in points of the scale."""
    return float(np.sqrt(distance / pairs)) if pairs else float("nan")


def correlations_between(cells: ScoreCells) -> pl.DataFrame:
    """Pearson's and Spearman's correlation of every two annotators on the items they share."""
    here, there = pairs_of_cells(cells.item)
    mean = cells.total / cells.number
    people = cells.annotator
    return (
        pl.LazyFrame({"who": people[here], "who_2": people[there], "mean": mean[here], "mean_2": mean[there]})
        .group_by("who", "who_2", maintain_order=True)
        .agg(
            pl.len().alias("shared"),
            pl.corr("mean", "mean_2").alias("pearson"),
            pl.corr(pl.col("mean").rank(), pl.col("mean_2").rank()).alias("spearman"),
        )
        .filter(pl.col("shared") >= MIN_SHARED)
        .sort("who", "who_2")
        .collect()
    )


def repeat_correlations(cells: ScoreCells) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Per annotator: pairs of repeats, and their correlation with each pair in both orders."""
    often = cells.number - 1
    pairs = cells.per_annotator(2 * cells.own_pairs)
    mean = divide(cells.per_annotator(often * cells.total), pairs)
    product = divide(cells.per_annotator(cells.total**2 - cells.squares), pairs)
    variance = divide(cells.per_annotator(often * cells.squares), pairs) - mean**2
    return pairs / 2, divide(product - mean**2, np.where(variance > 1e-9, variance, 0))


def _mean_repeat_correlation(cells: ScoreCells) -> dict[str, Number]:
    pairs, correlation = repeat_correlations(cells)
    used = (pairs >= MIN_SHARED) & np.isfinite(correlation)
    weight = pairs[used] - 1
    mean = float(divide((correlation[used] * weight).sum(), weight.sum()))
    return {"pearson": mean, "annotators": int(used.sum())}


def mean_correlations(correlation: pl.DataFrame) -> dict[str, Number]:
    """The mean over pairs of annotators, a pair with n shared items weighing n - 1; constant scores have none."""
    if correlation.height == 0:
        return {"pearson": float("nan"), "spearman": float("nan"), "annotator_pairs": 0}
    means: dict[str, Number] = {}
    for name in ("pearson", "spearman"):
        defined = correlation.filter(pl.col(name).is_finite())
        weight = (defined["shared"] - 1).to_numpy().astype(float)
        means[name] = float(divide((defined[name].to_numpy() * weight).sum(), weight.sum()))
    return means | {"annotator_pairs": correlation.height}
