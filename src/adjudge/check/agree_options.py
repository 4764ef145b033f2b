"""What agreement is measured with, and what both kinds of it share: draws of annotators, notes, the empty case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from adjudge.core.errors import DataError
from adjudge.core.rng import DEFAULT_SEED, generator

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

LengthUnit = Literal["words", "characters"]
RESAMPLES = 1000
ANY_LANGUAGE = ""
"""The key of texts that serve every source language that has none of its own."""


@dataclass(frozen=True)
class AgreeOptions:
    """The settings of `agree`, explained there."""

    labels: int | None = None
    texts: Mapping[str, Sequence[str]] | None = None
    length_unit: LengthUnit = "words"
    resamples: int = RESAMPLES
    seed: int = DEFAULT_SEED

    def draws(self, annotator: NDArray[np.int64], people: int) -> NDArray[np.float64] | None:
        """How often each annotator is drawn in each resample; None where fewer than two can be drawn."""
        active = np.unique(annotator)
        if self.resamples == 0 or len(active) < 2:
            return None
        weights = np.zeros((self.resamples, people))
        share = np.full(len(active), 1 / len(active))
        weights[:, active] = generator(self.seed).multinomial(len(active), share, size=self.resamples)
        return weights


def notes_on(inter: int, intra: int) -> tuple[str, ...]:
    """What is missing, from the numbers of pairs; an error where there are none at all."""
    if inter + intra == 0:
        raise DataError(
            "nothing was judged twice, so there is no agreement to measure; let people share or repeat some segments"
        )
    notes = []
    if inter == 0:
        notes.append("no two people judged the same thing: there is no agreement between annotators to measure")
    if intra == 0:
        notes.append("nobody judged the same thing twice: there is no agreement within annotators to measure")
    return tuple(notes)
