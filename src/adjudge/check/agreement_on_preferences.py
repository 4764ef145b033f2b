"""Agreement of rankings and pairwise judgments, put together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.check.agree_options import notes_on
from adjudge.check.annotations import group_annotations
from adjudge.check.lengths import by_length, segment_lengths
from adjudge.check.preferences import coefficients
from adjudge.check.preferences_by_annotator import annotators_of_preferences
from adjudge.core.comparisons import NOBODY, comparisons, relative_judgments, segment_keys
from adjudge.core.errors import DataError, UsageError
from adjudge.core.judgments import SetAside
from adjudge.results.agree import PARTS, Agreement

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from adjudge.check.agree_options import AgreeOptions
    from adjudge.check.annotations import Annotations
    from adjudge.core.comparisons import Comparisons
    from adjudge.core.judgments import Judgments
    from adjudge.results.agree import LengthAgreement
    from adjudge.results.result import Setting


def agree_on_preferences(judgments: Judgments, options: AgreeOptions) -> Agreement:
    """Agreement on better, tie and worse."""
    compared = comparisons(judgments)
    segments = segment_keys(judgments)
    known = _known(compared, segments)
    if len(known) and not known.any():
        raise DataError("the data do not say who judged which segment; agreement needs both")
    every = group_annotations(compared, known)
    people = len(np.unique(every.annotator))
    notes = notes_on(int(every.inter.pairs.sum()), int(every.intra.pairs.sum()), people)
    labels = _label_scale(compared, options.labels)
    weights = options.draws(every.annotator, len(every.annotators))
    parts = dict(zip(PARTS, (every, every.where(~every.human)), strict=True))
    return Agreement(
        settings=_settings(options, labels),
        data=judgments.fingerprint,
        set_aside=_set_aside(judgments, known),
        notes=judgments.notes + notes,
        kind="preferences",
        inter={name: coefficients(part, "inter", labels, weights=weights) for name, part in parts.items()},
        intra={name: coefficients(part, "intra", labels, weights=weights) for name, part in parts.items()},
        annotators=annotators_of_preferences(every, _labels_given(compared)),
        by_length=_lengths(every, segments, options, labels),
    )


def _settings(options: AgreeOptions, labels: int) -> dict[str, Setting]:
    length = None if options.texts is None else options.length_unit
    return {
        "kind": "preferences",
        "labels": labels,
        "length": length,
        "resamples": options.resamples,
        "seed": options.seed,
    }


def _known(compared: Comparisons, segments: pl.DataFrame) -> NDArray[np.bool_]:
    """Which comparisons can be matched with others: their annotator and segment are known."""
    named = segments["segment"].is_not_null().to_numpy()
    person = np.array([name != NOBODY for name in compared.annotators], dtype=bool)
    return np.asarray(named[compared.segment] & person[compared.annotator])


def _set_aside(judgments: Judgments, known: NDArray[np.bool_]) -> tuple[SetAside, ...]:
    unknown = int((~known).sum())
    record = (SetAside("comparison without annotator or segment", unknown),) if unknown else ()
    return relative_judgments(judgments).set_aside + record


def _label_scale(compared: Comparisons, labels: int | None) -> int:
    largest = int(compared.label_rank.max(initial=1))
    if labels is None:
        return max(largest, int(np.bincount(compared.label_block).max(initial=0)), 2)
    if labels < max(largest, 2):
        raise UsageError(f"{labels} labels were said to exist, but the data use label {largest}; give at least that")
    return labels


def _labels_given(compared: Comparisons) -> NDArray[np.int64]:
    who = compared.block_annotator[compared.label_block]
    given = np.bincount(who, minlength=len(compared.annotators))
    return np.where([name != NOBODY for name in compared.annotators], given, 0)


def _lengths(
    every: Annotations, segments: pl.DataFrame, options: AgreeOptions, labels: int
) -> tuple[LengthAgreement, ...] | None:
    if options.texts is None:
        return None
    return by_length(every, segment_lengths(segments, options.texts, options.length_unit), labels)
