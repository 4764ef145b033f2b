"""Machine judges: may one stand in for a person, and where do its answers lean? `docs/judges.md` explains both."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from adjudge.audit.judges.alternative import (
    FEWEST_CLUSTERS,
    FEWEST_ITEMS,
    LEAST_ALLOWANCE,
    LEVEL,
    PASSING,
    SCALES,
    benjamini_yekutieli,
    compare_with_people,
    deciding_p,
    left_out,
)
from adjudge.audit.judges.answers import comparison_answers, read_judge_scores, score_answers
from adjudge.audit.judges.biases import biases_of, parse_families
from adjudge.core.errors import UsageError, unknown_choice
from adjudge.core.rng import generator
from adjudge.core.wording import counted
from adjudge.evidence.verdict import say_judge
from adjudge.ranking.estimator import is_relative
from adjudge.results.audit.judges import JudgeReport, Judges

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from adjudge.audit.judges.alternative import Scale
    from adjudge.audit.judges.answers import Answers
    from adjudge.audit.settings import AuditSettings
    from adjudge.core.judgments import Judgments
    from adjudge.results.audit.judges import Outcome, PersonTest

__all__ = ["comparisons_section", "read_judge_scores", "scores_section"]

SHUFFLES = 40
MOST_SHUFFLED = 0.05
"""If shuffled answers pass more often than this, the people agree too little to tell a judge from noise."""
_STREAM = 48


def scores_section(judgments: Judgments, settings: AuditSettings) -> Judges:
    """The section for scores."""
    scale = next((scale for scale in SCALES if scale == settings.judge_scale), None)
    if scale is None:
        raise unknown_choice("scale for --judge-scale", settings.judge_scale, SCALES)
    return _section(score_answers(judgments, settings.judge_scores), settings, scale, scale)


def section(judgments: Judgments, settings: AuditSettings) -> Judges:
    """The section of an audit."""
    return (comparisons_section if is_relative(judgments) else scores_section)(judgments, settings)


def comparisons_section(judgments: Judgments, settings: AuditSettings) -> Judges:
    """The section for rankings and pairs."""
    return _section(comparison_answers(judgments, settings.judge_scores), settings, "raw", "labels")


def _section(answers: Answers, settings: AuditSettings, scale: Scale, shown_scale: str) -> Judges:
    if not 0 < settings.judge_allowance < 1:
        raise UsageError(f"--judge-allowance is {settings.judge_allowance:g}, it must lie between 0 and 1")
    families = parse_families(settings.judge_families)
    for name in families:
        if name not in answers.judges:
            raise unknown_choice("judge for --judge-family", name, sorted(answers.judges))
    reports = tuple(_report(answers, name, settings, scale=scale, families=families) for name in sorted(answers.judges))
    alone = [name for name in answers.own_scale & answers.judges.keys() if scale == "raw" and shown_scale == "raw"]
    notes = [
        f"{name} has a scale of its own, so that raw distances say little; use --judge-scale matched" for name in alone
    ]
    notes += _unanswered(answers)
    return Judges(reports, settings.judge_allowance, shown_scale, answers.cluster_kind, LEVEL, tuple(sorted(notes)))


def _unanswered(answers: Answers) -> Iterator[str]:
    """Say of which judges some answers are missing: what they left out counts neither for them nor against them."""
    what = "outputs" if answers.kind == "scores" else "comparisons"
    for name, values in answers.judges.items():
        missing = int((~np.isfinite(values)).sum())
        if missing:
            where = f"{missing:,} of the {len(values):,} {what} that people judged"
            yield f"{name} has no answer to {where}; they do not count"


def _report(
    answers: Answers, name: str, settings: AuditSettings, *, scale: Scale, families: Mapping[str, str]
) -> JudgeReport:
    values = answers.judges[name]
    rng = generator(settings.seed, _STREAM, sorted(answers.judges).index(name))
    people = left_out(answers, values, scale, rng)
    biases = biases_of(answers, name, values, families)
    tests, shuffled = compare_with_people(people, settings.judge_allowance, rng, shuffles=SHUFFLES)
    if len(tests) < 2:
        items = int(np.isfinite(values).sum())
        return JudgeReport(name, "open", False, None, None, _too_few(answers, items, len(tests)), None, (), biases)
    stood_up = sum(test.p_by <= LEVEL for test in tests)
    rate = stood_up / len(tests)
    outcome, reason = _outcome(tests, rate, shuffled)
    return JudgeReport(
        judge=name,
        outcome=outcome,
        passed=outcome == "passed",
        winning_rate=rate,
        p=deciding_p([test.p_by for test in tests]),
        verdict=say_judge(outcome, stood_up, len(tests), reason=reason),
        shuffled=shuffled,
        people=tests,
        biases=biases,
    )


def _too_few(answers: Answers, items: int, people: int) -> str:
    """Why nothing can be said, and what is needed."""
    what = "output" if answers.kind == "scores" else "comparison"
    needed = f"{FEWEST_ITEMS} {what}s of {FEWEST_CLUSTERS} {answers.cluster_kind}s with the judge and with others"
    found = "nobody does" if people == 0 else "only one does"
    return f"cannot be told from {counted(items, what)}: two people must share {needed}, {found}"


def _outcome(tests: Sequence[PersonTest], rate: float, shuffled: float) -> tuple[Outcome, str]:
    """What the tests say, and the reason where they leave it open.

    A judge fails where it is shown to be worse than most people, or where the items were enough to show that a judge
    like the people is one. Otherwise it is open.
    """
    if shuffled > MOST_SHUFFLED:
        reason = ": people agree so little with each other that answers shuffled among the items would pass "
        return "open", f"{reason}{100 * shuffled:.0f}% of the time"
    if rate >= PASSING:
        return "passed", ""
    worse = benjamini_yekutieli(np.array([test.p_worse for test in tests]))
    if (worse <= LEVEL).mean() > 1 - PASSING:
        return "failed", ""
    items, needed = median(test.items for test in tests), median(test.needed for test in tests)
    if items >= needed:
        return "failed", ""
    if median(test.shuffled for test in tests) <= 2 * LEAST_ALLOWANCE:
        # However many items there were, nobody could be told from chance.
        return "open", ": people agree no more with each other than with answers shuffled among the items"
    return "open", f" from {items:,.0f} items per person; about {needed:,.0f} are needed"
