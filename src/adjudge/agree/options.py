"""What agreement is measured with, and what both kinds of it share: resamples of annotators, notes, the empty case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from adjudge.core.errors import DataError, UsageError
from adjudge.core.maths import expanded_tail
from adjudge.core.rng import generator
from adjudge.core.settings import option, seed_option
from adjudge.core.wording import counted
from adjudge.work import map_tasks

if TYPE_CHECKING:
    from collections.abc import Callable

    from adjudge.core.arrays import Floats, Ints


LengthUnit = Literal["words", "characters"]
RESAMPLES = 1000
RESAMPLES_PER_TASK = 50
# With two people, half of all draws hold only one of them, who has nobody to agree with.
MIN_ANNOTATORS = 3
FEW_ANNOTATORS = 5
CONFIDENCE = 0.95
ANY_LANGUAGE = ""
"""The key of texts that serve every source language that has none of its own."""


def _read_texts(named: list[str]) -> Mapping[str, Sequence[str]]:
    from adjudge.agree.lengths import read_source_texts

    return read_source_texts(named)


def texts_by_language(texts: Mapping[str, Sequence[str]] | Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Texts by the code of their language; those without one serve every language."""
    return texts if isinstance(texts, Mapping) else {ANY_LANGUAGE: texts}


@dataclass(frozen=True)
class AgreeOptions:
    """The settings of `agree`, explained there."""

    labels: int | None = option(
        None, "Number of ranks on the scale. Default: the largest in the data.", only="python", reads=True
    )
    texts: Mapping[str, Sequence[str]] | None = option(
        None,
        "Source text with segment n on line n, for agreement by length. Once, or once per source language.",
        metavar="[LANG=]FILE",
        typed=list[str] | None,
        parse=_read_texts,
        python="Mapping[str, Sequence[str]] | Sequence[str] | None",
        about="the lines of the source text (or those of each source language by its code), for agreement by length.",
        convert=texts_by_language,
    )
    length_unit: Literal["words", "characters"] = option("words", "Unit of text length.")
    resamples: int = option(RESAMPLES, "Bootstrap resamples of annotators for intervals; 0 for no intervals.")
    seed: int = seed_option()

    def __post_init__(self) -> None:
        if self.resamples < 0:
            raise UsageError(f"{self.resamples} resamples were asked for; give 0 or more")

    def draws(self, annotator: Ints, people: int) -> Floats | None:
        """Draw how often each annotator counts in each resample; None if there are too few to draw from."""
        active = np.unique(annotator)
        if self.resamples == 0 or len(active) < MIN_ANNOTATORS:
            return None
        weights = np.zeros((self.resamples, people))
        share = np.full(len(active), 1 / len(active))
        weights[:, active] = generator(self.seed).multinomial(len(active), share, size=self.resamples)
        return weights


def over_resamples(statistic: Callable[[Floats], Floats], weights: Floats) -> Floats:
    """A statistic of every resample, along the last axis; the resamples are divided among the workers.

    They were drawn beforehand and are always cut in the same places, so the number of workers changes nothing.

    Args:
        statistic: computes the statistic for rows of weights (resamples x annotators).
        weights: how often each annotator was drawn in each resample.
    """
    pieces = [weights[start : start + RESAMPLES_PER_TASK] for start in range(0, len(weights), RESAMPLES_PER_TASK)]
    return np.concatenate(map_tasks(statistic, pieces, what="resamples of annotators"), axis=-1)


def notes_on(inter: int, intra: int, people: int) -> tuple[str, ...]:
    """Note what cannot be measured with so few pairs or annotators; refuse judgments without any pair."""
    if inter + intra == 0:
        raise DataError(
            "nothing was judged twice, so there is no agreement to measure; let people share or repeat some segments"
        )
    notes = []
    if inter == 0:
        notes.append("no two people judged the same thing: there is no agreement between annotators to measure")
    if intra == 0:
        notes.append("nobody judged the same thing twice: there is no agreement within annotators to measure")
    if people < MIN_ANNOTATORS:
        few = counted(people, "annotator is", "annotators are")
        notes.append(f"{few} too few to draw from, so there are no intervals")
    elif people < FEW_ANNOTATORS:
        notes.append(f"only {people} annotators: intervals from resampling so few people are too narrow")
    return tuple(notes)


def percentile_interval(values: Floats, weights: Floats) -> tuple[float, float]:
    """A 95% interval from resampled values, wider where people are few (`expanded_tail`); NaN where most have none.

    Args:
        values: the statistic of every resample.
        weights: how often each annotator was drawn in each resample.
    """
    defined = values[np.isfinite(values)]
    if len(defined) * 2 <= len(values):
        return (float("nan"), float("nan"))
    people = int((weights > 0).any(axis=0).sum())
    tail = expanded_tail((1 - CONFIDENCE) / 2, people)
    low, high = np.quantile(defined, [tail, 1 - tail])
    return (float(low), float(high))
