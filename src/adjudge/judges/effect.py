"""What a judge does to the ranking, and whether it knows the answers of people.

**The ranking.** S[p, k] is the mean answer of person p about system k, and J[p, k] that of the judge about the same
outputs, on the person's scale. The judge changes the difference of two systems by the mean over people of
(J - S)[p, i] - (J - S)[p, j]. People differ from each other as well: with v for the variance of their own differences,
mean over pairs, one more person would be off by a variance of v (1 + 1 / A) for A people. So the change is compared
with Student's t of (A - 1)(K - 1) degrees of freedom, corrected by Holm over all pairs. Whether the people's own
difference is significant, by the same v, is said beside it.

**Knowing the answers.** Where two people correlate by r, the best judge there can be, who knows the truth without
error, correlates with a person by sqrt(r). A judge that is closer to one person than this, by three standard errors on
Fisher's scale with documents as units, has seen that person's answers, or was trained on them; if nearly all answers
are the same, it is a copy, which is found even where no two people shared enough to know r.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from adjudge.judges.alternative import FEWEST_ITEMS, ChangedPair, JudgeRanking, Likeness, standardise_by_person
from adjudge.ranking.decisions import holm
from adjudge.table.maths import Codes, Floats, divide, student_tail

if TYPE_CHECKING:
    from adjudge.judges.answers import Answers

FEWEST_OF_SYSTEM = 10
LEVEL = 0.05
COPIED = 0.95
"""A judge that gives so many of a person's very answers is a copy."""
COPY_CORRELATION = 0.99
FAR = 3.0
"""Standard errors above the best possible correlation."""
LEAST_EXCESS = 0.1
_MOST = 1 - 1e-9


def effect_on_ranking(answers: Answers, judge: Floats) -> JudgeRanking | None:
    """Compare the differences between systems by the judge and by people."""
    names, own, judged = _by_system(answers, judge)
    kept = np.flatnonzero(~np.isnan(own).any(axis=0))
    names, own, judged = [names[place] for place in kept], own[:, kept], judged[:, kept]
    people, systems = own.shape
    if people < 2 or systems < 2:
        return None
    first, second = np.triu_indices(systems, 1)
    by_person, by_judge = own[:, first] - own[:, second], judged[:, first] - judged[:, second]
    spread = float(by_person.var(axis=0, ddof=1).mean())
    df = (people - 1) * (systems - 1)
    mean, change = by_person.mean(axis=0), (by_judge - by_person).mean(axis=0)
    p_changed, p_decided = (
        holm(_two_sided(difference, np.sqrt(spread * factor), df))
        for difference, factor in ((change, 1 + 1 / people), (mean, 1 / people))
    )
    changed = []
    for pair in np.flatnonzero(p_changed < LEVEL):
        seen, told = float(mean[pair]), float(by_judge[:, pair].mean())
        decided = bool(p_decided[pair] < LEVEL)
        a, b = names[first[pair]], names[second[pair]]
        changed.append(ChangedPair(a, b, seen, told, float(p_changed[pair]), seen * told < 0, decided))
    changed.sort(key=lambda one: (one.p, one.first, one.second))
    replaced = [(mean + (by_judge[p] - by_person[p]) / people) * mean < 0 for p in range(people)]
    others = [_tau(own[p], np.delete(own, p, axis=0).mean(axis=0)) for p in range(people)]
    return JudgeRanking(
        tau=_tau(judged.mean(axis=0), own.mean(axis=0)),
        person_tau=float(np.mean(others)),
        pairs=len(first),
        changed=tuple(changed),
        moved=round(float(np.mean([each.sum() for each in replaced]))),
    )


def _by_system(answers: Answers, judge: Floats) -> tuple[list[str], Floats, Floats]:
    """Systems, and the means (people, systems) of people and of the judge about the same outputs; NaN where few."""
    known = np.isfinite(judge)[answers.item]
    person, item, value = answers.person[known], answers.item[known], answers.value[known]
    told = judge[item]
    if answers.kind == "scores":
        count = np.bincount(person, minlength=len(answers.people))
        mean = divide(np.bincount(person, weights=value, minlength=len(count)), count)[person]
        square = divide(np.bincount(person, weights=value**2, minlength=len(count)), count)[person]
        told = mean + np.sqrt(np.maximum(square - mean**2, 0.0)) * standardise_by_person(told, person)
        sides = [("system", value, told)]
    else:
        sides = [("first", value / 2, told / 2), ("second", -value / 2, -told / 2)]
    names = sorted({name for side, _, _ in sides for name in answers.items[side].unique()})
    code = {name: number for number, name in enumerate(names)}
    shape = len(answers.people), len(names)
    counts, own, judged = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for side, values, others in sides:
        system = np.array([code[name] for name in answers.items[side][item]], dtype=np.int64)
        np.add.at(counts, (person, system), 1)
        np.add.at(own, (person, system), values)
        np.add.at(judged, (person, system), others)
    enough = counts >= FEWEST_OF_SYSTEM
    # People who judged most of the systems count; systems that not all of them judged do not.
    busy = enough.sum(axis=1) > len(names) / 2
    own, judged = (np.where(enough, divide(total, counts), np.nan)[busy] for total in (own, judged))
    return names, own, judged


def _two_sided(difference: Floats, error: float, df: int) -> Floats:
    if error <= 0:
        return np.where(difference == 0, 1.0, 0.0)
    return np.minimum(2 * student_tail(np.abs(difference) / error, df), 1.0)


def _tau(first: Floats, second: Floats) -> float:
    """Kendall's tau-a: pairs in the same order less those in the other, of all."""
    signs = [
        np.sign(first[i] - first[j]) * np.sign(second[i] - second[j]) for i, j in combinations(range(len(first)), 2)
    ]
    return float(np.mean(signs))


def likenesses(answers: Answers, judge: Floats) -> tuple[Likeness, ...]:
    """People whose answers the judge gives, or follows more closely than it could without knowing them."""
    people = [_answers_of(answers, code) for code in range(len(answers.people))]
    shared = [r for one, other in combinations(people, 2) if (r := _correlation(one, other)[0]) is not None]
    # Where people shared too little, only answers that are the same tell of a copy.
    bound = float(np.sqrt(max(np.median(shared), 0.0))) if shared else 1.0
    found = []
    for name, own in zip(answers.people, people, strict=True):
        r, items = _correlation(own, judge)
        if r is None:
            continue
        equal = float(np.mean(own[items] == judge[items]))
        units = len(np.unique(answers.cluster[items]))
        error = 1 / np.sqrt(max(units - 3, 1))
        above = float(np.arctanh(min(r, _MOST)) - np.arctanh(min(bound, _MOST)))
        if equal >= COPIED or (r >= COPY_CORRELATION and bound < COPIED):
            found.append(Likeness(name, "copy", r, bound, equal))
        elif above > FAR * error and r > bound + LEAST_EXCESS:
            found.append(Likeness(name, "primed", r, bound, equal))
    return tuple(found)


def _answers_of(answers: Answers, code: int) -> Floats:
    """A person's answers over all items, NaN where there is none."""
    own = np.full(answers.items.height, np.nan)
    mine = answers.person == code
    own[answers.item[mine]] = answers.value[mine]
    return own


def _correlation(one: Floats, other: Floats) -> tuple[float | None, Codes]:
    """Of the answers to the same items, and these; None where they are few or do not vary."""
    items = np.flatnonzero(np.isfinite(one) & np.isfinite(other))
    if len(items) < FEWEST_ITEMS or np.ptp(one[items]) == 0 or np.ptp(other[items]) == 0:
        return None, items
    return float(np.corrcoef(one[items], other[items])[0, 1]), items
