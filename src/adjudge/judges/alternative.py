"""The alternative annotator test: may a judge stand in for a person like those who judged?

N. Calderon, R. Reichart, R. Dror (2025): The alternative annotator test for LLM-as-a-judge: how to statistically
justify replacing human annotators with LLMs. ACL 2025.

Each person is left out in turn. On every item that this person, the judge and at least one other person answered,
whoever is closer to the others has the advantage. The judge stands up to the person if it has the advantage as often,
up to an allowance: a one-sided test of the mean difference d (1: the person is closer, -1: the judge, 0: as close),
whose null hypothesis is that d is at least the allowance. Benjamini and Yekutieli correct the p-values of all people.
The winning rate is the share of people to whom the judge stands up; with one half or more it passes.

What differs from the paper:

- A judge's scores are matched to those of the person left out, unless told otherwise, so that nothing is won by scores
  that keep to the middle of the scale (see `matched`).
- Where people agree little, even answers shuffled among the items are hardly worse than a person. So the allowance is
  at most half of what shuffled answers fall short by, and it is counted how often they would pass.
- Items of one document (or segment) depend on each other: the test is Student's t on sums over documents. Its standard
  error is at least the smallest that a mean at the allowance can have, else few items that differ would pass.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from adjudge.table.maths import Bools, Codes, Floats, divide, normal_quantile, student_quantile, student_tail
from adjudge.table.results import Cell, Table, number, p_value, percent, text, to_plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.judges.answers import Answers


# Differences between a judge and people: means, contrasts and slopes with their errors.
#
# Errors allow for what items of one document share, and from three people on for what each person's answers share
# (two-way clusters, the largest of both and of their combination), so that they hold for other people and texts.


FEWEST_PEOPLE = 3
"""People from whom on errors hold for other people too."""


@dataclass(frozen=True, eq=False)
class Differences:
    """The judge minus a person, one entry per person and item (for comparisons: per person, item and side)."""

    value: Floats
    item: Codes
    cluster: Codes
    person: Codes
    system: pl.Series
    unit: str

    def mean(self) -> tuple[float, tuple[float, float], float]:
        """Estimate, 95% interval and p-value of the mean."""
        return self._estimate(np.ones(len(self.value)))

    def contrast(self, chosen: Bools) -> tuple[float, tuple[float, float], float]:
        """Estimate, 95% interval and p-value of the mean over the chosen entries minus that over the others."""
        return self.slope(chosen.astype(float))

    def slope(self, x: Floats) -> tuple[float, tuple[float, float], float]:
        """Estimate, 95% interval and p-value of the slope on a variable."""
        return self._estimate(x - x.mean())

    def _estimate(self, weight: Floats) -> tuple[float, tuple[float, float], float]:
        scale = float((weight**2).sum())
        estimate = float((weight * self.value).sum()) / scale
        centre = 0.0 if np.ptp(weight) == 0 else float(self.value.mean())
        residual = weight * (self.value - centre - estimate * weight) / scale
        variance, df = variance_of(residual, self.cluster, self.person)
        se = float(np.sqrt(variance))
        reach = float(student_quantile(0.025, df)) * se
        p = 2 * float(student_tail(abs(estimate) / se, df)) if se > 0 else (1.0 if estimate == 0 else 0.0)
        return estimate, (estimate - reach, estimate + reach), min(p, 1.0)

    def keep(self, kept: Bools) -> Differences:
        """Keep the marked entries."""
        return replace(
            self,
            value=self.value[kept],
            item=self.item[kept],
            cluster=self.cluster[kept],
            person=self.person[kept],
            system=self.system.filter(pl.Series(kept)),
        )


def variance_of(residual: Floats, cluster: Codes, person: Codes) -> tuple[float, int]:
    """The variance of a sum, by documents and, where there are enough, by people; and its degrees of freedom."""
    documents, by_document = _variance_by(residual, cluster)
    people = len(np.unique(person))
    if people < FEWEST_PEOPLE:
        return by_document, documents - 1
    _, by_person = _variance_by(residual, person)
    _, by_both = _variance_by(residual, cluster * (int(person.max()) + 1) + person)
    return max(by_document, by_person, by_document + by_person - by_both), min(documents, people) - 1


def _variance_by(residual: Floats, cluster: Codes) -> tuple[int, float]:
    """The number of clusters, and the variance of a sum whose entries may depend on each other within clusters."""
    sums = np.bincount(np.unique(cluster, return_inverse=True)[1], weights=residual)
    number = len(sums)
    return number, float((sums**2).sum()) * number / (number - 1) if number > 1 else float("inf")


# Machine judges beside people: whether one may stand in for a person, and where its answers lean.


Outcome = Literal["passed", "failed", "open"]


@dataclass(frozen=True)
class PersonTest:
    """One person left out: who is closer to the others, this person or the judge?"""

    annotator: str
    items: int
    clusters: int
    judge_as_close: float
    """Share of items on which the judge is at least as close to the others as the person."""
    person_as_close: float
    """The same for the person; both count where they are as close."""
    difference: float
    """The second share minus the first: how much more often the person is closer."""
    interval: tuple[float, float]
    """95% interval of the difference."""
    p: float
    """That the person is closer by the allowance or more; a small one speaks for the judge."""
    p_worse: float
    """That the person is closer by less than the allowance; a small one speaks against the judge."""
    se: float
    """Standard error of the difference."""
    allowance: float
    """The difference that is allowed: as asked for, or half of `shuffled` where that is less."""
    shuffled: float = float("nan")
    """The difference that the same answers have if they are shuffled among the items."""
    p_by: float = float("nan")
    """`p` corrected for the number of people (Benjamini and Yekutieli)."""
    needed: int = 0
    """About how many items would show with a probability of 80% that a judge like the person is one."""


@dataclass(frozen=True)
class Bias:
    """One way in which a judge's answers lean, compared with those of people."""

    name: str
    estimate: float
    interval: tuple[float, float] | None
    p: float | None
    n: int
    sentence: str
    system: str | None = None
    p_holm: float | None = None
    """`p` corrected for the number of systems."""


@dataclass(frozen=True)
class ChangedPair:
    """Two systems between which a judge sees another difference than people do, by more than people differ."""

    first: str
    second: str
    by_people: float
    by_judge: float
    p: float
    """That another person could differ as much from the people; corrected for the number of pairs (Holm)."""
    reversed: bool
    decided: bool
    """Whether the people's own difference is significant."""


@dataclass(frozen=True)
class JudgeRanking:
    """What a judge does to the ranking if it replaces people."""

    tau: float
    """Kendall's tau of the order by the judge and that by the people."""
    person_tau: float
    """The same of one person and the others, on average."""
    pairs: int
    """Pairs of systems that could be compared."""
    changed: tuple[ChangedPair, ...]
    """Those whose difference the judge changes by more than another person would; the clearest first."""
    moved: int
    """Pairs whose order changes if the judge replaces one of the people, on average over people, rounded."""


@dataclass(frozen=True)
class Likeness:
    """A person whose answers a judge follows more closely than one could who does not know them."""

    annotator: str
    kind: Literal["copy", "primed"]
    correlation: float
    bound: float
    """The correlation that the best possible judge has with a person: the root of that of two people."""
    equal: float
    """Share of answers that are the same."""


@dataclass(frozen=True)
class JudgeReport:
    """One judge: the test, its verdict, what it does to the ranking, and what its answers lean to."""

    judge: str
    outcome: Outcome
    passed: bool
    winning_rate: float | None
    """Share of people to whom it stands up; None if nobody could be compared."""
    p: float | None
    """Corrected p-value that decides: of the person who makes up the half that is needed to pass."""
    verdict: str
    shuffled: float | None
    """How often the same answers would pass if they were shuffled among the items: should be about never."""
    people: tuple[PersonTest, ...]
    biases: tuple[Bias, ...]
    ranking: JudgeRanking | None = None
    """None if fewer than two people judged enough outputs of two systems."""
    likenesses: tuple[Likeness, ...] = ()
    """People whom it copies, or whose answers it seems to have seen."""


@dataclass(frozen=True)
class Judges:
    """All judges, and how they were tested."""

    judges: tuple[JudgeReport, ...]
    allowance: float
    scale: str
    """How scores were compared: `matched`, `z` or `raw`; `labels` for comparisons."""
    clusters: str
    """What the items were grouped by: `document` or `segment`."""
    level: float
    notes: tuple[str, ...] = ()

    def to_dict(self) -> list[dict[str, Any]]:
        """The documented list: a judge each, with the settings of the test."""
        settings = {"allowance": self.allowance, "scale": self.scale, "clusters": self.clusters}
        return [{**to_plain(judge), **settings} for judge in self.judges]

    def tables(self) -> tuple[Table, ...]:
        """The verdicts; then every person, and the biases."""
        return (self._verdicts(), *self._rankings(), self._people(), self._biases())

    def _verdicts(self) -> Table:
        rows = tuple(
            (judge.judge, judge.winning_rate, len(judge.people), judge.p, judge.shuffled, judge.verdict)
            for judge in self.judges
        )
        columns = (
            text("judge"),
            percent("winning rate", help="share of people whom it equals or beats, up to the allowance"),
            number("people", 0),
            p_value("p", help="corrected for the number of people; decides"),
            percent("shuffled", help="how often shuffled answers would pass"),
            text("verdict"),
        )
        note = (
            "Each person was left out in turn: is the judge as close to the others as this person, up to an allowance "
            f"of {self.allowance:g} (at most half of what shuffled answers fall short by)? Items of one "
            f"{self.clusters} count as dependent. {_ON_SCALE[self.scale]}"
        )
        return Table("Machine judges", columns, rows, note)

    def _rankings(self) -> tuple[Table, ...]:
        """What each judge does to the order of systems."""
        ranked = [(judge.judge, judge.ranking) for judge in self.judges if judge.ranking is not None]
        if not ranked:
            return ()
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (name, one.tau, one.person_tau, one.pairs, len(one.changed), one.moved) for name, one in ranked
        )
        columns = (
            text("judge"),
            number("tau", 2, help="Kendall's tau of the judge's order and the people's"),
            number("of a person", 2, help="the same of one person and the others, on average"),
            number("pairs", 0),
            number("changed", 0, help="differences that it changes by more than another person would"),
            number("moved", 0, help="pairs whose order changes if it replaces one person"),
        )
        return (Table("What judges do to the ranking", columns, rows),)

    def _people(self) -> Table:
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (judge.judge, person.annotator, person.items, person.clusters, person.judge_as_close,
             person.person_as_close, person.difference, *person.interval, person.allowance, person.p_by)
            for judge in self.judges for person in judge.people
        )  # fmt: skip
        columns = (
            text("judge"),
            text("person"),
            number("items", 0),
            number(f"{self.clusters}s", 0),
            percent("judge as close", help="items on which the judge is at least as close to the others"),
            percent("person as close"),
            number("difference", 2, help="how much more often the person is closer"),
            number("low", 2),
            number("high", 2),
            number("allowed", 2, help="the allowance, or half of what shuffled answers fall short by"),
            p_value("p (BY)"),
        )
        return Table("Judges against each person", columns, rows)

    def _biases(self) -> Table:
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (judge.judge, bias.name if bias.system is None else f"system {bias.system}", bias.estimate,
             *(bias.interval or (None, None)), bias.p if bias.p_holm is None else bias.p_holm, bias.n, bias.sentence)
            for judge in self.judges for bias in judge.biases
        )  # fmt: skip
        columns = (
            text("judge"),
            text("bias"),
            number("estimate", 2),
            number("low", 2),
            number("high", 2),
            p_value("p", help="of systems: corrected for their number (Holm)"),
            number("n", 0),
            text("in words"),
        )
        return Table("Biases of judges", columns, rows)


_ON_SCALE = {
    "matched": "The judge was given the scores of the person left out, in the order of its own.",
    "z": "Scores were standardised, those of every person and of the judge.",
    "raw": "Scores were compared as they are.",
    "labels": "Better, tie and worse were compared.",
}


Scale = Literal["matched", "z", "raw"]
SCALES: tuple[Scale, ...] = ("matched", "z", "raw")
LEVEL = 0.05
PASSING = 0.5
"""The winning rate from which on a judge passes."""
FEWEST_ITEMS = 30
FEWEST_CLUSTERS = 8
FEWEST_SHARED = 10
"""Items that another person must share with the person left out to be compared with both; fewer show no scale."""
LEAST_ALLOWANCE = 0.01
POWER = 0.8
EQUAL = 1e-9
"""Distances that differ by less are equal: rounding decides nothing."""


@dataclass(frozen=True, eq=False)
class LeftOut:
    """The items of one person who is left out, and how far any answer to them is from the others' answers.

    For scores, `first` and `second` are the mean of the others' scores and of their squares; for comparisons, `shares`
    has the share of the others who said -1, 0 and 1.
    """

    name: str
    item: Codes
    own: Floats
    cluster: Codes
    first: Floats | None = None
    second: Floats | None = None
    shares: Floats | None = None

    def distance(self, answers: Floats) -> Floats:
        """How far answers to the items are from those of the others: mean squared difference, or share that differ."""
        if self.shares is not None:
            return np.asarray(1 - self.shares[np.arange(len(answers)), np.round(answers).astype(int) + 1])
        assert self.first is not None
        assert self.second is not None
        return answers**2 - 2 * answers * self.first + self.second

    def differences(self, judge: Floats) -> Floats:
        """By item: 1 where the person is closer to the others, -1 where the judge is, 0 where both are as close."""
        apart = self.distance(judge) - self.distance(self.own)
        return np.where(np.abs(apart) <= EQUAL, 0.0, np.sign(apart))


@dataclass(frozen=True, eq=False)
class LeftOutJudge:
    """One person's items with the judge's answers to them, on the scale on which they are compared."""

    person: LeftOut
    judge: Floats


def left_out(answers: Answers, judge: Floats, scale: Scale, rng: np.random.Generator) -> list[LeftOutJudge]:
    """Every person who shares enough items with the judge and with others; `rng` orders a judge's equal scores."""
    known = np.isfinite(judge)[answers.item]
    person, item, value = answers.person[known], answers.item[known], answers.value[known]
    order = np.argsort(item, kind="stable")
    person, item, value = person[order], item[order], value[order]
    left_out_people = []
    for code, name in enumerate(answers.people):
        judged_rows = np.flatnonzero(person == code)
        answered = np.zeros(answers.items.height, dtype=bool)
        answered[item[judged_rows]] = True
        rows = np.flatnonzero(answered[item] & (person != code))
        rows = rows[np.bincount(person[rows], minlength=len(answers.people))[person[rows]] >= FEWEST_SHARED]
        judged_rows = judged_rows[np.isin(item[judged_rows], item[rows])]
        if len(judged_rows) < FEWEST_ITEMS:
            continue
        own, others = (item[judged_rows], value[judged_rows]), (person[rows], item[rows], value[rows])
        left = _leave_person_out(answers, name, own, others, scale=scale)
        judged = judge[own[0]]
        if answers.kind == "scores" and scale != "raw":
            judged = matched(judged, left.own, rng) if scale == "matched" else standardised(judged)
        left_out_people.append(LeftOutJudge(left, judged))
    return [entry for entry in left_out_people if len(np.unique(entry.person.cluster)) >= FEWEST_CLUSTERS]


def _leave_person_out(
    answers: Answers,
    name: str,
    own: tuple[Codes, Floats],
    others: tuple[Codes, Codes, Floats],
    *,
    scale: Scale,
) -> LeftOut:
    item, value = own
    who, where, given = others
    place = np.searchsorted(item, where)
    cluster = answers.cluster[item]
    if answers.kind == "comparisons":
        shares = np.zeros((len(item), 3))
        np.add.at(shares, (place, np.round(given).astype(int) + 1), 1.0)
        return LeftOut(name, item, value, cluster, shares=shares / shares.sum(axis=1, keepdims=True))
    if scale != "raw":
        # The person and the judge are measured on the same items, so that neither has the scale of others.
        value, given = standardised(value), standardise_by_person(given, who)
    count = np.bincount(place, minlength=len(item))
    first = np.bincount(place, weights=given, minlength=len(item)) / count
    second = np.bincount(place, weights=given**2, minlength=len(item)) / count
    return LeftOut(name, item, value, cluster, first, second)


def matched(judge: Floats, person: Floats, rng: np.random.Generator) -> Floats:
    """The person's scores in the order of the judge's: the judge's highest becomes the person's highest, and so on.

    Whoever keeps to the middle of a scale is closer to other people most of the time without knowing anything: with
    their own scores, a judge that always says the same would pass. Only the order of a judge's scores counts here, and
    its equal scores are ordered at random, so that what it does not tell apart wins nothing.
    """
    order = np.lexsort((rng.random(len(judge)), judge))
    scores = np.empty(len(judge))
    scores[order] = np.sort(person)
    return scores


def standardised(values: Floats) -> Floats:
    """Values with mean 0 and standard deviation 1; all 0 where they do not differ."""
    return standardise_by_person(values, np.zeros(len(values), dtype=np.int64))


def standardise_by_person(values: Floats, group: Codes) -> Floats:
    """Values standardised within each group."""
    groups = int(group.max()) + 1 if len(group) else 0
    count = np.bincount(group, minlength=groups)
    mean = divide(np.bincount(group, weights=values, minlength=groups), count)
    centred = values - mean[group]
    sd = np.sqrt(divide(np.bincount(group, weights=centred**2, minlength=groups), count))
    scale = np.where(sd > EQUAL * (1 + np.abs(mean)), sd, np.inf)
    return np.asarray(centred / scale[group])


def compare_with_person(name: str, differences: Floats, cluster: Codes, allowance: float) -> PersonTest:
    """Whether the judge stands up to one person: Student's t on sums over clusters, one-sided."""
    n, mean = len(differences), float(differences.mean())
    variance, clusters = _variance(differences, cluster, allowance)
    se, df = sqrt(variance), clusters - 1
    reach = float(student_quantile(0.025, df)) * se
    return PersonTest(
        annotator=name,
        items=n,
        clusters=clusters,
        judge_as_close=float((differences <= 0).mean()),
        person_as_close=float((differences >= 0).mean()),
        difference=mean,
        interval=(max(-1.0, mean - reach), min(1.0, mean + reach)),
        p=float(student_tail((allowance - mean) / se, df)),
        p_worse=float(student_tail((mean - allowance) / se, df)),
        se=se,
        allowance=allowance,
    )


def _variance(differences: Floats, cluster: Codes, allowance: float) -> tuple[float, int]:
    """The variance of the mean difference, and the number of clusters.

    On the boundary of the null hypothesis, the difference that varies least is 1 with the probability of the allowance
    and 0 otherwise. Where the differences found vary even less, that variance counts, with their own design effect.
    """
    n = len(differences)
    residual = differences - differences.mean()
    _, code = np.unique(cluster, return_inverse=True)
    sums = np.bincount(code, weights=residual)
    clusters = len(sums)
    found = float((sums**2).sum()) / n**2 * clusters / (clusters - 1)
    independent = float((residual**2).sum()) / n**2
    design_effect = max(1.0, found / independent) if independent > 0 else n / clusters
    return max(found, allowance * (1 - allowance) / n * design_effect), clusters


def compare_with_people(
    people: Sequence[LeftOutJudge], allowance: float, rng: np.random.Generator, *, shuffles: int
) -> tuple[tuple[PersonTest, ...], float]:
    """The tests of all people, and the share of shuffles in which the same answers would pass."""
    if not people:
        return (), float("nan")
    tests, of_shuffled = [], np.empty((shuffles, len(people)))
    for place, entry in enumerate(people):
        shuffled = [entry.person.differences(rng.permutation(entry.judge)) for _ in range(shuffles)]
        apart = float(np.mean(shuffled))
        allowed = min(allowance, max(apart / 2, LEAST_ALLOWANCE))
        test = compare_with_person(
            entry.person.name, entry.person.differences(entry.judge), entry.person.cluster, allowed
        )
        tests.append(replace(test, shuffled=apart))
        of_shuffled[:, place] = [
            compare_with_person("", differences, entry.person.cluster, allowed).p for differences in shuffled
        ]
    corrected = benjamini_yekutieli(np.array([test.p for test in tests])).tolist()
    level = LEVEL * ceil(PASSING * len(tests)) / len(tests) / harmonic(len(tests))
    passed = [deciding_p(benjamini_yekutieli(p).tolist()) <= LEVEL for p in of_shuffled]
    return tuple(
        replace(test, p_by=p_by, needed=_count_needed_items(test.items, test.se, test.allowance, level))
        for test, p_by in zip(tests, corrected, strict=True)
    ), float(np.mean(passed))


def _count_needed_items(items: int, se: float, allowance: float, level: float) -> int:
    """About how many items show with a probability of 80% that a judge like the person is one, all else being equal."""
    quantile = float(normal_quantile(1 - level)) + float(normal_quantile(POWER))
    return ceil(items * (quantile * se / allowance) ** 2)


def benjamini_yekutieli(p: Floats) -> Floats:
    """Adjusted p-values that hold under any dependence (Benjamini and Yekutieli 2001)."""
    from adjudge.ranking.decisions import benjamini_hochberg

    return np.minimum(benjamini_hochberg(p) * harmonic(len(p)), 1.0)


def harmonic(number: int) -> float:
    """1 + 1/2 + ... + 1/number."""
    return float((1 / np.arange(1, number + 1)).sum())


def deciding_p(adjusted: Sequence[float]) -> float:
    """The adjusted p-value that decides: the judge passes if it is at most the level."""
    return sorted(adjusted)[ceil(PASSING * len(adjusted)) - 1]
