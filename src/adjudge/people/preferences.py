"""Agreement on rankings and pairwise judgments: all coefficients, and each annotator's own agreement.

An annotator's agreement is measured with themselves on repeats and with everybody else on shared items. Chance is taken
from the annotators' own habits: who ties most pairs agrees more easily (Bojar et al. 2011, 2.2.2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.people.agreement import by_length, segment_lengths
from adjudge.people.coefficients import (
    CATEGORIES,
    above_chance_all,
    coefficients,
    group_annotations,
    notes_on,
    pair_annotators,
    pair_repeats,
    tie_shares,
)
from adjudge.people.results import PARTS, Agreement, AnnotatorAgreement, Number
from adjudge.table.comparisons import NOBODY, Comparisons, comparisons, relative_judgments, segment_keys
from adjudge.table.errors import DataError, UsageError, param
from adjudge.table.judgments import Judgments, SetAside
from adjudge.table.maths import Bools, Floats, Ints, divide

if TYPE_CHECKING:
    import polars as pl

    from adjudge.people.coefficients import AgreeOptions, Annotations, AnnotatorPairs


def agree_on_preferences(judgments: Judgments, options: AgreeOptions) -> Agreement:
    """Measure agreement on better, tie and worse."""
    compared = comparisons(judgments)
    segments = segment_keys(judgments)
    known = _find_known(compared, segments)
    if len(known) and not known.any():
        raise DataError("the data do not say who judged which segment; agreement needs both")
    every = group_annotations(compared, known)
    people = len(np.unique(every.annotator))
    notes = notes_on(int(every.inter.pairs.sum()), int(every.intra.pairs.sum()), people)
    labels = _label_scale(compared, options.labels)
    weights = options.draws(every.annotator, len(every.annotators))
    parts = dict(zip(PARTS, (every, every.keep(~every.human)), strict=True))
    unknown = int((~known).sum())
    aside = (SetAside("comparison without annotator or segment", unknown),) if unknown else ()
    return Agreement(
        settings={
            "kind": "preferences",
            "labels": labels,
            "length": None if options.texts is None else options.length_unit,
            "resamples": options.resamples,
            "seed": options.seed,
        },
        data=judgments.fingerprint,
        set_aside=relative_judgments(judgments).set_aside + aside,
        notes=judgments.notes + notes,
        kind="preferences",
        inter={name: coefficients(part, "inter", labels, weights=weights) for name, part in parts.items()},
        intra={name: coefficients(part, "intra", labels, weights=weights) for name, part in parts.items()},
        annotators=annotators_of_preferences(every, _labels_given(compared)),
        by_length=None
        if options.texts is None
        else by_length(every, segment_lengths(segments, options.texts, options.length_unit), labels),
    )


def _find_known(compared: Comparisons, segments: pl.DataFrame) -> Bools:
    """Mark the comparisons that can be matched with others: their annotator and segment are known."""
    named = segments["segment"].is_not_null().to_numpy()
    person = np.array([name != NOBODY for name in compared.annotators], dtype=bool)
    return np.asarray(named[compared.segment] & person[compared.annotator])


def _label_scale(compared: Comparisons, labels: int | None) -> int:
    largest = int(compared.label_rank.max(initial=1))
    if labels is None:
        return max(largest, int(np.bincount(compared.label_block).max(initial=0)), 2)
    if labels < max(largest, 2):
        raise UsageError(f"{param('labels')} is {labels}, but the data use label {largest}; give at least that")
    return labels


def _labels_given(compared: Comparisons) -> Ints:
    who = compared.block_annotator[compared.label_block]
    given = np.bincount(who, minlength=len(compared.annotators))
    return np.where([name != NOBODY for name in compared.annotators], given, 0)


def annotators_of_preferences(annotations: Annotations, judgments: Ints) -> tuple[AnnotatorAgreement, ...]:
    """One entry per annotator, who judged most first; `judgments` are the labels that each has given."""
    people = len(annotations.annotators)
    within = _sum_by_annotator(pair_repeats(annotations), people, chance="pi")
    between = _sum_by_annotator(pair_annotators(annotations), people, chance="kappa")
    ties = tie_shares(annotations)
    order = sorted(range(people), key=lambda i: (-judgments[i], annotations.annotators[i]))
    return tuple(
        AnnotatorAgreement(
            annotator=annotations.annotators[i],
            judgments=int(judgments[i]),
            ties=float(ties[i]),
            intra=within[i],
            inter=between[i],
        )
        for i in order
        if judgments[i]
    )


def _sum_by_annotator(pairs: AnnotatorPairs, people: int, *, chance: str) -> list[dict[str, Number]]:
    of_one_person = np.array_equal(pairs.first, pairs.second)
    ends = (pairs.first,) if of_one_person else (pairs.first, pairs.second)

    def total(values: Floats) -> Floats:
        return np.asarray(sum(np.bincount(end, weights=values, minlength=people) for end in ends))

    number = total(pairs.pairs)
    observed = divide(total(pairs.agreeing), number)
    expected = divide(total(pairs.pairs * pairs.expected), number)
    uniform = above_chance_all(observed, np.full(people, 1 / CATEGORIES))
    corrected = above_chance_all(observed, expected)
    return [
        {"pairs": int(number[i]), "observed": observed[i], "s": uniform[i], chance: corrected[i]} for i in range(people)
    ]
