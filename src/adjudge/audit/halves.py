"""Random halves of the annotators, and z-scores beside the rows of the mixed model.

Judgments that name no annotator are in neither half: nobody knows how many people they are of, or whether some of these
are among the annotators with a name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.core.integer_codes import renumber
from adjudge.core.protocols import SCORED
from adjudge.core.score_sheet import sheet_of, standardised
from adjudge.core.wording import agreeing, counted
from adjudge.rank.mixed.design import combine, levels_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.core.arrays import Bools, Codes, Floats
    from adjudge.core.judgments import Judgments
    from adjudge.rank.mixed import MixedDesign


def named_annotators(judgments: Judgments, design: MixedDesign) -> Codes | None:
    """The annotator of every row of the design, from 0 on, and -1 for none; None where nobody is named."""
    if design.annotator is None:
        return None
    named = judgments.final().table["annotator"].gather(design.row).is_not_null().to_numpy()
    annotator = np.full(len(design), -1, dtype=np.int64)
    annotator[named] = renumber(design.annotator[named])
    return annotator


def random_halves(annotator: Codes, rng: np.random.Generator) -> tuple[Bools, Bools]:
    """The rows of two halves of the annotators, drawn at random; of an odd number the first half is the smaller."""
    people = int(annotator.max()) + 1
    # The last place is for rows without an annotator, whose code is -1.
    chosen = np.zeros(people + 1, dtype=bool)
    chosen[rng.permutation(people)[: people // 2]] = True
    first = chosen[annotator]
    return first, ~first & (annotator >= 0)


def unnamed_note(unnamed: int, what: str) -> tuple[str, ...]:
    """Say what halves of the annotators leave out."""
    if not unnamed:
        return ()
    named = counted(unnamed, f"{what} names", f"{what}s name")
    return (f"{named} no annotator, and {agreeing(unnamed, 'is', 'are')} in no half of the annotators",)


def segment_means(design: MixedDesign, value: Floats, owner: Codes) -> tuple[Floats, Codes]:
    """The means within segments of each owner (a system, or half of one), and whose they are; NaN does not count."""
    known = ~np.isnan(value)
    segment = np.arange(len(design)) if design.segment is None else design.segment
    item = combine(owner[known], segment[known])
    item_owner = np.empty(levels_of(item), dtype=np.int64)
    item_owner[item] = owner[known]
    return np.bincount(item, value[known]) / np.bincount(item), item_owner


def z_by_row(judgments: Judgments) -> NDArray[np.float64]:
    """The z-score of every row in the table of last revisions; NaN where there is none."""
    table = judgments.final().table
    scored = table.select(pl.col("protocol").is_in(SCORED) & pl.col("score").is_not_null()).to_series()
    z = np.full(table.height, np.nan)
    z[scored.fill_null(value=False).to_numpy()] = standardised(sheet_of(judgments)).score
    return z
