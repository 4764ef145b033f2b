"""Agreement: how often annotators say the same about the same thing, twice by themselves and against each other.

Rankings and pairwise judgments are compared as preferences (better, tie, worse) for a pair of systems on a segment;
scores as numbers for one system's output. docs/agree.md defines every coefficient.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.agree.lengths import read_source_texts
from adjudge.agree.options import RESAMPLES, AgreeOptions, texts_by_language
from adjudge.core.errors import UsageError
from adjudge.core.protocols import RELATIVE
from adjudge.core.rng import DEFAULT_SEED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from adjudge.agree.options import LengthUnit
    from adjudge.core.judgments import Judgments
    from adjudge.results.agree import Agreement

__all__ = ["agree", "measure_agreement", "read_source_texts"]


def agree(
    judgments: Judgments,
    *,
    labels: int | None = None,
    texts: Mapping[str, Sequence[str]] | Sequence[str] | None = None,
    length_unit: LengthUnit = "words",
    resamples: int = RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> Agreement:
    """Measure agreement within and between annotators. Several language pairs in the table are pooled.

    Args:
        judgments: rankings or pairwise judgments, or scores.
        labels: how many rank labels there were to choose from; default: the largest label or block.
        texts: the source's lines (or those of each source language by its code), for agreement by length.
        length_unit: count the length of texts in words or characters.
        resamples: how often annotators are drawn again for the intervals; 0 for none.
        seed: seed of the draws.
    """
    by_language = None if texts is None else texts_by_language(texts)
    return measure_agreement(judgments, AgreeOptions(labels, by_language, length_unit, resamples, seed))


def measure_agreement(judgments: Judgments, options: AgreeOptions) -> Agreement:
    """Measure agreement with these settings."""
    if judgments.table["protocol"].is_in(RELATIVE).any():
        from adjudge.agree.preferences import agree_on_preferences

        return agree_on_preferences(judgments, options)
    if options.texts is not None:
        raise UsageError("agreement by length is measured for rankings only; leave the texts out")
    from adjudge.agree.scores import agree_on_scores

    return agree_on_scores(judgments, options)
