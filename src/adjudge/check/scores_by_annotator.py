"""Each annotator's own agreement on scores: with themselves on repeats, and with everybody else on shared items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.check.coefficients.chance import ratio
from adjudge.check.score_coefficients import correlations_between, mean_correlations, repeat_correlations
from adjudge.results.agree import AnnotatorAgreement

if TYPE_CHECKING:
    from adjudge.check.scores import ScoreCells
    from adjudge.results.agree import Number


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
    difference = np.sqrt(ratio(cells.per_annotator(cells.own_distance), pairs))
    return [
        {"pairs": int(pairs[i]), "difference": difference[i], "pearson": correlation[i]}
        for i in range(len(cells.annotators))
    ]


def _between(cells: ScoreCells) -> list[dict[str, Number]]:
    # What the others gave to the item of each cell; squared differences to them follow from the sums.
    number, total, squares = (
        cells.per_item(one)[cells.item] - one for one in (cells.number, cells.total, cells.squares)
    )
    pairs = cells.per_annotator(cells.number * number)
    distance = cells.number * squares + number * cells.squares - 2 * cells.total * total
    difference = np.sqrt(ratio(np.maximum(cells.per_annotator(distance), 0), pairs))
    correlation = correlations_between(cells)
    found: list[dict[str, Number]] = []
    for i in range(len(cells.annotators)):
        own = correlation.filter((pl.col("who") == i) | (pl.col("who_2") == i))
        found.append({"pairs": int(pairs[i]), "difference": difference[i], **mean_correlations(own)})
    return found
