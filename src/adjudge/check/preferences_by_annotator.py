"""Each annotator's own agreement: with themselves on repeats, and with everybody else on shared items.

Chance is taken from the annotators' own habits: who ties most pairs agrees more easily (Bojar et al. 2011, 2.2.2).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adjudge.check.annotations import CATEGORIES
from adjudge.check.annotator_pairs import between_annotators, tie_shares, within_annotators
from adjudge.check.coefficients.chance import above_chance_all, ratio
from adjudge.results.agree import AnnotatorAgreement

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from adjudge.check.annotations import Annotations
    from adjudge.check.annotator_pairs import AnnotatorPairs
    from adjudge.results.agree import Number


def annotators_of_preferences(annotations: Annotations, judgments: NDArray[np.int64]) -> tuple[AnnotatorAgreement, ...]:
    """One entry per annotator, who judged most first; `judgments` are the labels that each has given."""
    people = len(annotations.annotators)
    within = _of_each(within_annotators(annotations), people, chance="pi")
    between = _of_each(between_annotators(annotations), people, chance="kappa")
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


def _of_each(pairs: AnnotatorPairs, people: int, *, chance: str) -> list[dict[str, Number]]:
    own = np.array_equal(pairs.first, pairs.second)
    ends = (pairs.first,) if own else (pairs.first, pairs.second)

    def total(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(sum(np.bincount(end, weights=values, minlength=people) for end in ends))

    number = total(pairs.pairs)
    observed = ratio(total(pairs.agreeing), number)
    expected = ratio(total(pairs.pairs * pairs.expected), number)
    uniform = above_chance_all(observed, np.full(people, 1 / CATEGORIES))
    corrected = above_chance_all(observed, expected)
    return [
        {"pairs": int(number[i]), "observed": observed[i], "s": uniform[i], chance: corrected[i]} for i in range(people)
    ]
