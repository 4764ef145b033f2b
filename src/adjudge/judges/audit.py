"""Machine judges: may one stand in for a person, and where do its answers lean? `docs/judges.md` explains both."""

from __future__ import annotations

import re
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from adjudge.evidence.verdict_comparison import say_changed_ranking, say_copy, say_judge, say_primed
from adjudge.judges import alternative
from adjudge.judges.answers import (
    comparison_answers,
    degraded_controls,
    find_positions,
    find_shown_first,
    score_answers,
    self_agreement,
)
from adjudge.judges.effect import effect_on_ranking, likenesses
from adjudge.ranking.decisions import holm
from adjudge.ranking.estimator import is_relative
from adjudge.table.errors import UsageError, param, unknown_choice
from adjudge.table.maths import Codes, Floats, divide, student_quantile, student_tail
from adjudge.table.rng import generator
from adjudge.table.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from adjudge.evidence.audit import AuditSettings
    from adjudge.judges.alternative import Outcome, PersonTest, Scale
    from adjudge.judges.answers import Answers
    from adjudge.table.judgments import Judgments


# Where the answers of a judge lean, compared with those of people: only what the data allow.
#
# For scores, each person's items are taken together: the judge's scores are given the mean and the spread of the
# person's there, and what is left of the difference is in points on people's scale. For rankings and pairs, the
# difference is in shares of comparisons won (a tie is half).


FEWEST_OF_SYSTEM = 10


def find_biases(
    answers: Answers, name: str, judge: Floats, families: Mapping[str, str]
) -> tuple[alternative.Bias, ...]:
    """All biases of one judge that can be measured."""
    differences = (
        _subtract_scores(answers, judge) if answers.kind == "scores" else _subtract_comparisons(answers, judge)
    )
    biases = [*self_agreement(answers, name)]
    if differences is None or len(np.unique(differences.cluster)) < 2:
        return tuple(biases)
    if answers.kind == "scores":
        biases += [*_find_leniency_and_spread(answers, name, judge)]
        biases += [*_find_slopes(answers, name, differences), *degraded_controls(answers, name)]
    else:
        biases += [*_find_tie_bias(answers, judge), *_find_order_bias(answers, name)]
    biases += [*_find_family_bias(differences, families.get(name)), *_find_system_biases(differences)]
    return tuple(biases)


def _keep_shared(answers: Answers, judge: Floats) -> tuple[Codes, Codes, Floats]:
    """Person, item and value of answers to items that the judge answered, by people who share enough of them."""
    known = np.isfinite(judge)[answers.item]
    counts = np.bincount(answers.person[known], minlength=len(answers.people))
    kept = known & (counts >= alternative.FEWEST_SHARED)[answers.person]
    return answers.person[kept], answers.item[kept], answers.value[kept]


def _subtract_scores(answers: Answers, judge: Floats) -> alternative.Differences | None:
    person, item, value = _keep_shared(answers, judge)
    if not len(value):
        return None
    count = np.bincount(person)
    mean, square = (divide(np.bincount(person, weights=values), count) for values in (value, value**2))
    spread = np.nan_to_num(np.sqrt(square - mean**2))
    points = spread[person] * (
        alternative.standardise_by_person(judge[item], person) - alternative.standardise_by_person(value, person)
    )
    return alternative.Differences(points, item, answers.cluster[item], person, answers.items["system"][item], "points")


def _subtract_comparisons(answers: Answers, judge: Floats) -> alternative.Differences | None:
    person, item, value = _keep_shared(answers, judge)
    if not len(value):
        return None
    # Seen from the first system and from the second.
    half = (judge[item] - value) / 2
    sides = pl.concat([answers.items[side][item].rename("system") for side in ("first", "second")])
    return alternative.Differences(
        np.concatenate([half, -half]), np.tile(item, 2), np.tile(answers.cluster[item], 2), np.tile(person, 2), sides,
        "of the comparisons",
    )  # fmt: skip


def _find_leniency_and_spread(answers: Answers, name: str, judge: Floats) -> Iterator[alternative.Bias]:
    if name in answers.own_scale:
        return
    person, item, value = _keep_shared(answers, judge)
    raw = alternative.Differences(
        judge[item] - value, item, answers.cluster[item], person, answers.items["system"][item], "points"
    )
    estimate, interval, p = raw.mean()
    sentence = f"scores {abs(estimate):.1f} points {_say_direction(estimate)} than people on average{_say_doubt(p)}"
    yield alternative.Bias("leniency", estimate, interval, p, len(value), sentence)
    # The judge's standard deviation as a multiple of people's, within the items of each person.
    squares = [(values - divide(np.bincount(person, values), np.bincount(person))[person]) ** 2
               for values in (judge[item], value)]  # fmt: skip
    judged, of_people = (float(values.sum()) for values in squares)
    if judged == 0 or of_people == 0:
        return
    variance, df = alternative.variance_of(squares[0] / judged - squares[1] / of_people, raw.cluster, person)
    log, se = float(np.log(judged / of_people)) / 2, float(np.sqrt(variance)) / 2
    reach = float(student_quantile(0.025, df)) * se
    p = min(1.0, 2 * float(student_tail(abs(log) / se, df))) if se > 0 else 1.0
    ratio = float(np.exp(log))
    interval = float(np.exp(log - reach)), float(np.exp(log + reach))
    sentence = f"its scores spread {ratio:.2f} times as far as a person's{_say_doubt(p)}"
    yield alternative.Bias("spread", ratio, interval, p, len(value), sentence)


def _find_slopes(answers: Answers, name: str, differences: alternative.Differences) -> Iterator[alternative.Bias]:
    """Slopes with the position in the task and with the lengths of texts."""
    variables = [
        ("position", find_positions(answers, name), "from the first to the last item of a task"),
        ("output length", _log_length(answers, "target"), "where the translation is twice as long"),
        ("source length", _log_length(answers, "source"), "where the source is twice as long"),
    ]
    for variable, by_item, where in variables:
        known = np.isfinite(by_item[differences.item])
        part = differences.keep(known)
        if (
            known.sum() < alternative.FEWEST_SHARED
            or np.ptp(x := by_item[part.item]) == 0
            or len(np.unique(part.cluster)) < 2
        ):
            continue
        estimate, interval, p = part.slope(x)
        scored = f"scores {abs(estimate):.1f} points {_say_direction(estimate)}"
        sentence = f"{scored}, compared with people, {where}{_say_doubt(p)}"
        yield alternative.Bias(variable, estimate, interval, p, int(known.sum()), sentence)


def _log_length(answers: Answers, side: str) -> Floats:
    """The logarithm to base 2 of the length of every item's text, from a column of lengths or of texts."""
    lengths = np.full(answers.items.height, np.nan)
    for table in (answers.table, answers.machine):
        if f"{side}_length" in table.columns:
            length = pl.col(f"{side}_length").cast(pl.Float64, strict=False)
        elif f"{side}_text" in table.columns:
            length = pl.col(f"{side}_text").str.len_chars().cast(pl.Float64)
        else:
            continue
        known = table.select("key", "system", length.alias("length")).filter(pl.col("length") > 0)
        found = answers.items.join(known.unique(["key", "system"], keep="first"), on=["key", "system"], how="inner")
        lengths[found["row"].to_numpy()] = np.log2(found["length"].to_numpy())
    return lengths


def _find_tie_bias(answers: Answers, judge: Floats) -> Iterator[alternative.Bias]:
    person, item, value = _keep_shared(answers, judge)
    ties = (judge[item] == 0).astype(float) - (value == 0)
    names = answers.items["first"][item]
    estimate, interval, p = alternative.Differences(ties, item, answers.cluster[item], person, names, "").mean()
    sentence = f"calls two outputs equal {_say_frequency(estimate)} than people{_say_doubt(p)}"
    yield alternative.Bias("ties", estimate, interval, p, len(value), sentence)


def _find_order_bias(answers: Answers, name: str) -> Iterator[alternative.Bias]:
    """Whether the output that is shown first wins more often than the same output shown second."""
    pairs = find_shown_first(answers, name)
    if pairs is None:
        return
    named = pairs["document"] if answers.cluster_kind == "document" else pairs["key"]
    cluster = named.rank("dense").cast(pl.Int64).fill_null(0).to_numpy()
    if len(np.unique(cluster)) < 2:
        return
    alone = np.zeros(pairs.height, dtype=np.int64)
    better = pairs["better"].to_numpy()
    estimate, interval, p = alternative.Differences(better, alone, cluster, alone, pairs["a"], "").slope(
        pairs["first"].to_numpy()
    )
    sentence = f"an output wins {_say_frequency(estimate)} if it is shown first{_say_doubt(p)}"
    yield alternative.Bias("shown first", estimate, interval, p, pairs.height, sentence)


def _find_family_bias(differences: alternative.Differences, pattern: str | None) -> Iterator[alternative.Bias]:
    """Whether outputs of the judge's own family are favoured."""
    if pattern is None:
        return
    try:
        of_family = differences.system.str.contains(pattern, strict=True).to_numpy()
    except pl.exceptions.ComputeError as fault:
        raise UsageError(
            f"{param('judge_family')} has the pattern '{pattern}', which is no regular expression"
        ) from fault
    if of_family.all() or not of_family.any():
        which = "all systems match" if of_family.all() else "no system matches"
        raise UsageError(f"{param('judge_family')} has the pattern '{pattern}', which {which}; check the names")
    estimate, interval, p = differences.contrast(of_family)
    sentence = f"{_say_rating('outputs of its own family', estimate, differences.unit)}{_say_doubt(p)}"
    yield alternative.Bias("own family", estimate, interval, p, int(of_family.sum()), sentence)


def _find_system_biases(differences: alternative.Differences) -> Iterator[alternative.Bias]:
    """Every system that the judge rates higher or lower than people do, compared with the other systems."""
    names = differences.system.unique().sort().to_list()
    contrasts = []
    for name in names:
        of_system = (differences.system == name).to_numpy()
        if of_system.sum() >= FEWEST_OF_SYSTEM and not of_system.all():
            contrasts.append((name, *differences.contrast(of_system), int(of_system.sum())))
    corrected = holm(np.array([p for _, _, _, p, _ in contrasts]))
    for (name, estimate, interval, p, n), p_holm in zip(contrasts, corrected, strict=True):
        sentence = f"{_say_rating(name, estimate, differences.unit)}{_say_doubt(p_holm)}"
        yield alternative.Bias("system", estimate, interval, p, n, sentence, name, float(p_holm))


def _say_rating(whom: str, estimate: float, unit: str) -> str:
    """How a judge treats some outputs, compared with people."""
    if unit == "points":
        return f"rates {whom} {abs(estimate):.1f} points {_say_direction(estimate)} than people do"
    return f"lets {whom} win {_say_frequency(estimate)} than people do"


def _say_direction(estimate: float) -> str:
    return "higher" if estimate > 0 else "lower"


def _say_frequency(estimate: float) -> str:
    return f"{counted(round(100 * abs(estimate)), 'percentage point')} {'more' if estimate > 0 else 'less'} often"


def _say_doubt(p: float) -> str:
    return "" if p < 0.05 else ", which may be chance"


def parse_families(given: Sequence[str]) -> dict[str, str]:
    """Judges and the patterns of their own systems, from `JUDGE=PATTERN`."""
    families = {}
    for text in given:
        name, equals, pattern = text.partition("=")
        if not (name and equals and pattern):
            raise UsageError(f"{param('judge_family')} is '{text}'; write JUDGE=PATTERN, such as gpt-4=GPT.*")
        try:
            re.compile(pattern)
        except re.error as fault:
            raise UsageError(
                f"{param('judge_family')} has the pattern '{pattern}', which is no regular expression"
            ) from fault
        families[name.removeprefix("judge:")] = pattern
    return families


SHUFFLES = 40
MOST_SHUFFLED = 0.05
"""If shuffled answers pass more often than this, the people agree too little to tell a judge from noise."""
_STREAM = 48


def section(judgments: Judgments, settings: AuditSettings) -> alternative.Judges:
    """The section of an audit."""
    if is_relative(judgments):
        return _make_section(comparison_answers(judgments, settings.judge_scores), settings, "raw", "labels")
    scale = next((scale for scale in alternative.SCALES if scale == settings.judge_scale), None)
    if scale is None:
        raise unknown_choice(f"scale for {param('judge_scale')}", settings.judge_scale, alternative.SCALES)
    return _make_section(score_answers(judgments, settings.judge_scores), settings, scale, scale)


def _make_section(answers: Answers, settings: AuditSettings, scale: Scale, shown_scale: str) -> alternative.Judges:
    if not 0 < settings.judge_allowance < 1:
        raise UsageError(f"{param('judge_allowance')} is {settings.judge_allowance:g}, it must lie between 0 and 1")
    families = parse_families(settings.judge_families)
    for name in families:
        if name not in answers.judges:
            raise unknown_choice(f"judge for {param('judge_family')}", name, sorted(answers.judges))
    reports = tuple(
        _make_report(answers, name, settings, scale=scale, families=families) for name in sorted(answers.judges)
    )
    notes = [
        f"{name} has a scale of its own, so that raw distances say little; use --judge-scale matched"
        for name in answers.own_scale & answers.judges.keys()
        if shown_scale == "raw"
    ]
    # What a judge left out counts neither for it nor against it.
    what = "outputs" if answers.kind == "scores" else "comparisons"
    for name, values in answers.judges.items():
        missing = int((~np.isfinite(values)).sum())
        if missing:
            where = f"{missing:,} of the {len(values):,} {what} that people judged"
            notes.append(f"{name} has no answer to {where}; they do not count")
    return alternative.Judges(
        reports, settings.judge_allowance, shown_scale, answers.cluster_kind, alternative.LEVEL, tuple(sorted(notes))
    )


def _make_report(
    answers: Answers, name: str, settings: AuditSettings, *, scale: Scale, families: Mapping[str, str]
) -> alternative.JudgeReport:
    values = answers.judges[name]
    rng = generator(settings.seed, _STREAM, sorted(answers.judges).index(name))
    people = alternative.left_out(answers, values, scale, rng)
    biases = find_biases(answers, name, values, families)
    tests, shuffled = alternative.compare_with_people(people, settings.judge_allowance, rng, shuffles=SHUFFLES)
    enough = len(tests) >= 2
    stood_up = sum(test.p_by <= alternative.LEVEL for test in tests)
    rate = stood_up / len(tests) if enough else None
    if rate is None:
        outcome: Outcome = "open"
        verdict = _say_too_few(answers, int(np.isfinite(values).sum()), len(tests))
    else:
        outcome, reason = _decide_outcome(tests, rate, shuffled)
        verdict = say_judge(outcome, stood_up, len(tests), reason=reason)
    ranking, like = effect_on_ranking(answers, values), likenesses(answers, values)
    copied, primed = ([one for one in like if one.kind == kind] for kind in ("copy", "primed"))
    # Answers that are a person's own, or follow them, say nothing of what the judge can do by itself; and what it does
    # to the ranking is seen even where nobody shares enough outputs with others to be compared with it.
    if copied:
        outcome, verdict = "failed", say_copy(copied[0].annotator, copied[0].equal, copied[0].correlation)
    elif primed:
        outcome, verdict = "open", say_primed(primed[0].annotator, primed[0].correlation, primed[0].bound)
    elif ranking is not None and ranking.changed and outcome != "failed":
        worst, turned = ranking.changed[0], sum(one.reversed for one in ranking.changed)
        outcome = "failed"
        differences = (worst.first, worst.second, worst.by_people, worst.by_judge)
        verdict = say_changed_ranking(len(ranking.changed), turned, ranking.pairs, differences)
    return alternative.JudgeReport(
        judge=name,
        outcome=outcome,
        passed=outcome == "passed",
        winning_rate=rate,
        p=alternative.deciding_p([test.p_by for test in tests]) if enough else None,
        verdict=verdict,
        shuffled=shuffled if enough else None,
        people=tests if enough else (),
        biases=biases,
        ranking=ranking,
        likenesses=like,
    )


def _say_too_few(answers: Answers, items: int, people: int) -> str:
    """Why nothing can be said, and what is needed."""
    what = "output" if answers.kind == "scores" else "comparison"
    needed = f"{alternative.FEWEST_ITEMS} {what}s of {alternative.FEWEST_CLUSTERS} {answers.cluster_kind}s"
    found = "nobody did" if people == 0 else "only one did"
    return f"cannot be told from {counted(items, what)}: two people must judge {needed} beside others and it; {found}"


def _decide_outcome(tests: Sequence[PersonTest], rate: float, shuffled: float) -> tuple[Outcome, str]:
    """What the tests say, and the reason where they leave it open.

    A judge fails where it is shown to be worse than most people, or where the items were enough to show that a judge
    like the people is one. Otherwise it is open.
    """
    if shuffled > MOST_SHUFFLED:
        reason = ": people agree so little with each other that answers shuffled among the items would pass "
        return "open", f"{reason}{100 * shuffled:.0f}% of the time"
    if rate >= alternative.PASSING:
        return "passed", ""
    worse = alternative.benjamini_yekutieli(np.array([test.p_worse for test in tests]))
    if (worse <= alternative.LEVEL).mean() > 1 - alternative.PASSING:
        return "failed", ""
    items, needed = median(test.items for test in tests), median(test.needed for test in tests)
    if items >= needed:
        return "failed", ""
    if median(test.shuffled for test in tests) <= 2 * alternative.LEAST_ALLOWANCE:
        # However many items there were, nobody could be told from chance.
        return "open", ": people agree no more with each other than with answers shuffled among the items"
    return "open", f" from {items:,.0f} items per person; about {needed:,.0f} are needed"
