"""The A/A test: split every system at random into two pseudo-systems, and ask a test whether they differ.

They do not: both halves are the same system. A test at .05 should say "different" in 5% of the cases. There are two
ways to split:

by pages       half of what was judged of a system's translations of documents. The scores of one page were given in one
               go; a page that the same annotator judged twice (a repeat) stays together, or the halves would be more
               alike than two systems can be. A test that fails here takes one page for many judgments.
by annotators  half of the people who judged the system, drawn anew for every system: an annotator who is in one half of
               a system may be in the other half of the next, so that what the annotators give in general cancels out,
               and their tastes stay. A test that fails here takes the tastes of a few people for the quality of a
               system.

Tests of scores:

`raw`, `zscore`  Wilcoxon's rank-sum test on segment means, as customary (two-sided, normal approximation)
`page-welch`     Welch's t-test on the means of z-scores by page: the simplest test that respects pages
`mixed`          the contrast of the two halves in the mixed model, at the variances estimated from the whole data
`mixed-rank`     the same in the unit of normal scores

Tests of relative judgments, which are split by annotators only. The halves never meet each other; a test must compare
them through the other systems, and allow for tastes:

`bradley-terry`           with a model of tastes, as `rank` does by default
`bradley-terry resample`  the same strengths with resampled annotators
`expected-wins resample`  expected wins with resampled annotators
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from adjudge.evidence.trust import AARate, AATest, unnamed_note
from adjudge.ranking import bradley_terry
from adjudge.ranking import relative as ratios
from adjudge.ranking.estimator import estimator_of
from adjudge.ranking.relative_estimator import HELD, RelativeEstimator
from adjudge.ranking.significance import halves_differ
from adjudge.table.errors import DataError, unknown_choice
from adjudge.table.maths import Bools, Codes, Floats, proportion, student_tail
from adjudge.table.rng import DEFAULT_SEED, generator
from adjudge.work.tasks import map_tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from adjudge.evidence.audit import AuditSettings
    from adjudge.ranking.counts import Tally
    from adjudge.ranking.scores import ScoreEstimator
    from adjudge.table.judgments import Judgments

    Unit = Literal["pages", "annotators"]

TESTS = ("raw", "zscore", "page-welch", "mixed", "mixed-rank")
SAME_TESTS = {"mixed-rank": "mixed"}
"""Fitted to the same normal scores in another unit, which no test depends on."""
RESAMPLED: dict[str, Callable[[Tally], Floats]] = {
    "bradley-terry resample": bradley_terry.scores,
    "expected-wins resample": ratios.expected_wins,
}
RELATIVE_TESTS = ("bradley-terry", *RESAMPLED)
RESAMPLES = 200
SPLITS = 25
LARGE_TABLE = 200_000
"""Scores beyond which fewer splits are made: each is a fit of the mixed model to all of them, ..."""
LARGE_SPLITS = 10
"""... and so many, of ten systems, are a hundred tests."""
FEWEST_SPLITS, ENOUGH_TESTS = 5, 250
"""Of relative judgments, so many tests are enough, in so many splits at least."""
FEWEST_UNITS = 4
"""Systems with fewer pages (or annotators) are not split: a half would be a single one or nothing."""
_STREAMS = {"scores by pages": 31, "scores by annotators": 33, "relative by annotators": 41}


def aa_section(judgments: Judgments, settings: AuditSettings) -> AATest:
    """The section of an audit: by pages, and by annotators where there are enough."""
    estimator = estimator_of(judgments)
    if isinstance(estimator, RelativeEstimator):
        return aa(estimator, seed=settings.seed)
    splits = SPLITS if len(judgments) <= LARGE_TABLE else LARGE_SPLITS
    by_pages = aa(estimator, splits=splits, seed=settings.seed)
    try:
        by_annotator = aa(estimator, unit="annotators", splits=splits, seed=settings.seed)
    except DataError as fault:
        return replace(by_pages, no_annotators=fault.for_command_line())
    return replace(by_pages, by_annotator=by_annotator, notes=by_annotator.notes)


def aa(
    estimator: ScoreEstimator | RelativeEstimator,
    *,
    tests: Iterable[str] | None = None,
    unit: Unit = "pages",
    splits: int | None = None,
    seed: int = DEFAULT_SEED,
) -> AATest:
    """How often each test calls a system different from itself.

    Args:
        estimator: of the judgments.
        tests: names from `TESTS` or `RELATIVE_TESTS`; default: all that there are for these judgments.
        unit: what is split, `pages` or `annotators`; of relative judgments always annotators.
        splits: random splits of every system; default: 25, or for relative judgments as many as give 250 tests.
        seed: of the splits.
    """
    relative = isinstance(estimator, RelativeEstimator)
    unit = "annotators" if relative else unit
    known = RELATIVE_TESTS if relative else TESTS
    chosen = known if tests is None else tuple(tests)
    for name in chosen:
        if name not in known:
            raise unknown_choice("test", name, known)
    of_one_kind = estimator if unit == "pages" else estimator.of_named_annotators()
    split = _Relative(of_one_kind) if isinstance(of_one_kind, RelativeEstimator) else _Scores(of_one_kind, unit)
    number = splits or split.splits
    stream = _STREAMS[f"{estimator.kind} by {unit}"]
    made = tuple(dict.fromkeys(SAME_TESTS.get(name, name) for name in chosen))

    def p_values(division: int) -> dict[str, Floats]:
        return split.p_values(made, generator(seed, stream, division))

    by_split = map_tasks(p_values, range(number), what=f"A/A splits by {unit}")
    rates = {name: false_alarms(np.concatenate([p[SAME_TESTS.get(name, name)] for p in by_split])) for name in chosen}
    notes = unnamed_note(estimator.unnamed, estimator.judgment) if unit == "annotators" else ()
    if isinstance(of_one_kind, RelativeEstimator) and of_one_kind.is_large:
        notes = (*notes, f"in halves, {HELD}")
    return AATest(rates, number, len(split.systems), unit, notes=notes)


class _Scores:
    """Scores: pages, or all that an annotator judged of a system, go to either half."""

    splits = SPLITS

    def __init__(self, estimator: ScoreEstimator, unit: Unit) -> None:
        self.estimator, self.system = estimator, estimator.design.system
        page = estimator.pages()
        if page is None:
            problem = "the A/A test splits pages, but neither screens nor documents are known"
            raise DataError(f"{problem}; see docs/mixed.md")
        codes = page if unit == "pages" else estimator.annotators_by_system()
        if codes is None:
            raise DataError("the annotators are not named, so that they cannot be split")
        self.page, self.unit = page, codes
        self.unit_system = np.empty(int(codes.max()) + 1, dtype=np.int64)
        self.unit_system[codes] = self.system
        enough = np.bincount(self.unit_system, minlength=len(estimator.systems)) >= FEWEST_UNITS
        if not enough.any():
            raise DataError(f"the A/A test needs a system with {FEWEST_UNITS} {unit} or more; collect more judgments")
        self.systems = np.flatnonzero(enough)

    def p_values(self, tests: tuple[str, ...], rng: np.random.Generator) -> dict[str, Floats]:
        """Split every system at random, and give the p-value of its halves by each test."""
        half = self.random_halves(rng)
        by_test = {
            "raw": lambda: self._rank_sums(self.estimator.design.as_given, half),
            "zscore": lambda: self._rank_sums(self.estimator.z, half),
            "page-welch": lambda: self._page_welch(half),
            "mixed": lambda: self.estimator.p_of_halves(half, self.systems),
        }
        return {name: by_test[name]() for name in tests}

    def random_halves(self, rng: np.random.Generator) -> Codes:
        """For every row 0 or 1: half of each system's units, drawn at random, go to either side."""
        order = rng.permutation(len(self.unit_system))
        shuffled = self.unit_system[order]
        by_system = order[np.argsort(shuffled, kind="stable")]
        count = np.bincount(self.unit_system)
        position = np.arange(len(order)) - np.repeat(np.cumsum(count) - count, count)
        side = np.empty(len(order), dtype=np.int64)
        side[by_system] = (position >= np.repeat(count // 2, count)).astype(np.int64)
        return side[self.unit]

    def _rank_sums(self, value: Floats, half: Codes) -> Floats:
        """Wilcoxon's rank-sum test on the means of segments of each half."""
        mean, side = self.estimator.segment_means(value, 2 * self.system + half)
        return halves_differ(mean, side // 2, side % 2, len(self.estimator.systems))[self.systems]

    def _page_welch(self, half: Codes) -> Floats:
        """Welch's t-test on page means of z-scores, two-sided."""
        known = ~np.isnan(self.estimator.z)
        pages = int(self.page.max()) + 1
        count = np.bincount(self.page[known], minlength=pages)
        total = np.bincount(self.page[known], self.estimator.z[known], minlength=pages)
        side = np.empty(pages, dtype=np.int64)
        side[self.page] = 2 * self.system + half
        seen = count > 0
        return _welch(total[seen] / count[seen], side[seen], len(self.estimator.systems))[self.systems]


class _Relative:
    """Relative judgments: half of the people who judged a system get one half of it, the others the other."""

    def __init__(self, estimator: RelativeEstimator) -> None:
        self.estimator = estimator
        self.judged = estimator.people_by_system()
        self.systems = np.flatnonzero(self.judged.sum(0) >= FEWEST_UNITS)
        if not len(self.systems):
            raise DataError(
                f"halves of the annotators need a system that {FEWEST_UNITS} named annotators or more judged; "
                "there is none"
            )
        self.splits = min(SPLITS, max(FEWEST_SPLITS, ENOUGH_TESTS // len(self.systems)))

    def p_values(self, tests: tuple[str, ...], rng: np.random.Generator) -> dict[str, Floats]:
        """Split every system at random, and give the p-value of its halves by each test."""
        second_half = self.random_halves(rng)
        resampled = [name for name in RESAMPLED if name in tests]
        scores = [RESAMPLED[name] for name in resampled]
        p = self.estimator.p_of_halves(second_half, scores, RESAMPLES, rng)
        return {name: values[self.systems] for name, values in zip(("bradley-terry", *resampled), p, strict=True)}

    def random_halves(self, rng: np.random.Generator) -> Bools:
        """(annotators, systems): whose judgments of a system are of its second half."""
        second_half = np.zeros_like(self.judged)
        for system in self.systems:
            people = rng.permutation(np.flatnonzero(self.judged[:, system]))
            second_half[people[len(people) // 2 :], system] = True
        return second_half


def _welch(value: Floats, side: Codes, systems: int) -> Floats:
    """Welch's t-test between sides 2i and 2i + 1, for every system i; NaN where one has fewer than two values."""
    n = np.bincount(side, minlength=2 * systems)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.bincount(side, value, minlength=2 * systems) / n
        square = np.bincount(side, (value - mean[side]) ** 2, minlength=2 * systems)
        error = (square / (n - 1) / n).reshape(systems, 2)
        both, freedom = error.sum(axis=1), n.reshape(systems, 2) - 1
        df = both**2 / (error**2 / freedom).sum(axis=1)
        p = 2 * student_tail(np.abs(mean[::2] - mean[1::2]) / np.sqrt(both), df)
    # Equal within either half, and not between them.
    p[both == 0] = 0.0
    p[(freedom.min(axis=1) < 1) | _all_equal(value, side // 2, systems)] = np.nan
    return p


def _all_equal(value: Floats, system: Codes, systems: int) -> Bools:
    """Whether all values of each system are the same."""
    low, high = np.full(systems, np.inf), np.full(systems, -np.inf)
    np.minimum.at(low, system, value)
    np.maximum.at(high, system, value)
    equal: Bools = low >= high
    return equal


def false_alarms(p: Floats) -> AARate:
    """How often a test of equal halves said "different", from its p-values; NaN is no test."""
    known = p[~np.isnan(p)]
    at_05, at_01 = (proportion(int((known < level).sum()), len(known)) for level in (0.05, 0.01))
    return AARate(len(known), at_05.share, at_01.share, at_05.interval)
