"""System minus human by the mixed model, and whether the two are equivalent within a margin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from adjudge.core.errors import DataError
from adjudge.results.parity import Contrast

if TYPE_CHECKING:
    from adjudge.core.judgments import Judgments


def model_contrasts(
    judgments: Judgments, human: str, margin: float | None
) -> tuple[dict[str, Contrast], tuple[str, ...]]:
    """The contrast of every system with the human, and what is to be known of the model.

    Where the model cannot be fitted, there are none and the note says why.
    """
    from adjudge.rank.contrasts import contrasts, equivalence
    from adjudge.rank.mixed import design_from, fit

    # The model leaves references out as controls; here the human is one of those compared.
    competing = pl.when(pl.col("system") == human).then(pl.lit("system")).otherwise(pl.col("kind")).alias("kind")
    table = judgments.final().table.with_columns(competing)
    try:
        found = fit(design_from(type(judgments)(table)))
    except DataError as fault:
        return {}, (f"the mixed model is left out: {fault}",)
    if human not in found.systems:
        return {}, (f"the mixed model is left out: it has no scores of '{human}'",)
    own = found.systems.index(human)
    compared = contrasts(found.effects, found.covariance, found.df)
    low, high = compared.interval()
    results = {}
    for i, name in enumerate(found.systems):
        if i == own:
            continue
        tested = None if margin is None else equivalence(compared, i, own, margin=margin)
        results[name] = Contrast(
            difference=float(compared.difference[i, own]),
            se=float(compared.se[i, own]),
            interval=(float(low[i, own]), float(high[i, own])),
            p=float(compared.two_sided[i, own]),
            margin=margin,
            p_equivalence=None if tested is None else tested.p,
        )
    return results, found.notes
