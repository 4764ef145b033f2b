"""Agreement on rankings and pairwise judgments: all coefficients, and each annotator's own agreement.

An annotator's agreement is measured with themselves on repeats and with everybody else on shared items. Chance is taken
from the annotators' own habits: who ties most pairs agrees more easily (Bojar et al. 2011, 2.2.2).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.people.agreement import by_length, segment_lengths
from adjudge.people.coefficients import (
    CATEGORIES,
    above_chance_all,
    coefficients,
    cohen_kappa,
    fleiss_kappa,
    group_annotations,
    notes_on,
    pair_annotators,
    pair_repeats,
    tie_shares,
)
from adjudge.people.results import PARTS, Agreement, AnnotatorAgreement, Coefficients, Number, PeopleKappas
from adjudge.table.comparisons import NOBODY, Comparisons, block_rows, comparisons, relative_judgments, segment_keys
from adjudge.table.errors import DataError, UsageError, param
from adjudge.table.judgments import Judgments, SetAside
from adjudge.table.maths import Bools, Floats, Ints, divide

if TYPE_CHECKING:
    from adjudge.people.coefficients import AgreeOptions, Annotations, AnnotatorPairs

MODERATE, TENTATIVE = 0.4, 0.67
"""Below which agreement is not even moderate, and not enough for tentative conclusions."""
FEWEST_SHARED = 10
"""Annotations that two people must share for a kappa of their own."""


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
    inter = {name: coefficients(part, "inter", labels, weights=weights) for name, part in parts.items()}
    notes += _advise(inter["without_reference"], "without the reference, " * bool(every.human.any()))
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
        inter=inter,
        intra={name: coefficients(part, "intra", labels, weights=weights) for name, part in parts.items()},
        annotators=annotators_of_preferences(every, _labels_given(compared)),
        by_length=None
        if options.texts is None
        else by_length(every, segment_lengths(segments, options.texts, options.length_unit), labels),
        pairs_of_people=(
            *_kappas_of_people(every),
            *_two_labels(compared, known),
            *_four_classes(judgments, compared, known),
        ),
    )


def _advise(inter: Coefficients, among: str) -> tuple[str, ...]:
    """What low agreement among some of the outputs asks for, by the thresholds of the literature."""
    kappa = inter.kappa
    if not np.isfinite(kappa) or kappa >= TENTATIVE:
        return ()
    found = f"{among}agreement between annotators (kappa {kappa:.2f}) is"
    if kappa >= MODERATE:
        below = f"below the {TENTATIVE} that Krippendorff (1980) asks for, even for tentative conclusions"
        return (f"{found} {below}. Use the intervals, not the order alone",)
    below = f"below {MODERATE}, not even moderate (Landis and Koch 1977; Krippendorff 1980 asks for {TENTATIVE})"
    cure = "Show fewer outputs together, split long segments, brief the annotators, or let more people judge"
    return (f"{found} {below}. {cure}",)


def _kappas_of_people(annotations: Annotations) -> tuple[PeopleKappas, ...]:
    """Cohen's kappa of every two annotators who share enough."""
    pairs = pair_annotators(annotations)
    enough = pairs.pairs >= FEWEST_SHARED
    share = divide(pairs.agreeing[enough], pairs.pairs[enough])
    kappas = above_chance_all(share, pairs.expected[enough])
    return _spread_of("better, tie, worse", kappas, same=_share_unanimous(annotations))


def _share_unanimous(annotations: Annotations) -> float:
    """Of the items that two people or more judged, the share on which they all say the same."""
    people = np.bincount(annotations.item)
    chosen = np.stack([np.bincount(annotations.item, given, len(people)) > 0 for given in annotations.counts.T])
    several = people > 1
    return float((chosen.sum(0) == 1)[several].mean()) if several.any() else float("nan")


def _spread_of(
    reading: str, kappas: Floats, fleiss: float = float("nan"), same: float = float("nan")
) -> tuple[PeopleKappas, ...]:
    known = kappas[np.isfinite(kappas)]
    if not len(known):
        return ()
    sd = float(known.std(ddof=1)) if len(known) > 1 else float("nan")
    low, mean, high = float(known.min()), float(known.mean()), float(known.max())
    return (PeopleKappas(reading, len(known), low, mean, sd, high, fleiss, same),)


def _two_labels(compared: Comparisons, known: Bools) -> tuple[PeopleKappas, ...]:
    """The same if there were two labels only: best of the block, and not (Bojar et al. 2011, 2.1)."""
    if len(compared) == 0 or np.bincount(compared.label_block).max(initial=0) < 3:
        return ()
    best = np.full(len(compared.block_annotator), np.iinfo(np.int32).max)
    np.minimum.at(best, compared.label_block, compared.label_rank)
    n = len(compared.systems)
    key = compared.label_block.astype(np.int64) * n + compared.label_system
    order = np.argsort(key, kind="stable")
    top = (compared.label_rank == best[compared.label_block])[order].astype(np.int8)
    block = compared.block.astype(np.int64) * n
    first, second = (top[np.searchsorted(key[order], block + side)] for side in (compared.first, compared.second))
    pairs = pair_annotators(group_annotations(replace(compared, outcome=first - second), known))
    enough = pairs.pairs >= FEWEST_SHARED
    share = divide(pairs.agreeing[enough], pairs.pairs[enough])
    return _spread_of("best of the block or not", above_chance_all(share, pairs.expected[enough]))


def _four_classes(judgments: Judgments, compared: Comparisons, known: Bools) -> tuple[PeopleKappas, ...]:
    """The same with "both good" and "both bad" apart, as in Table 7 of Bojar et al. (2011)."""
    rows = block_rows(judgments)
    if "both" not in rows.columns:
        return ()
    both = rows["both"].replace_strict({"good": 2, "bad": 3}, default=1, return_dtype=pl.Int64).to_numpy()
    outcome = compared.outcome.astype(np.int64)
    category = np.where(outcome == 0, 1 + both[compared.block], np.where(outcome > 0, 0, 1))[known]
    key = (compared.segment.astype(np.int64) * len(compared.systems) + compared.first) * len(compared.systems)
    item = np.unique((key + compared.second)[known], return_inverse=True)[1]
    who = compared.annotator[known]
    answers = np.full((len(compared.annotators), int(item.max()) + 1), -1)
    answers[who[::-1], item[::-1]] = category[::-1]
    kappas = []
    for one, other in combinations(answers, 2):
        shared = (one >= 0) & (other >= 0)
        if shared.sum() >= FEWEST_SHARED:
            kappas.append(cohen_kappa(one[shared].tolist(), other[shared].tolist()))
    complete = answers[:, (answers >= 0).all(0)]
    counts = np.stack([(complete == one).sum(0) for one in range(5)], axis=1)
    same = float((counts.max(1) == len(answers)).mean()) if len(counts) else float("nan")
    fleiss = fleiss_kappa(counts) if len(counts) else float("nan")
    return _spread_of("both good and both bad apart", np.array(kappas), fleiss, same)


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
