"""The A/A test of relative judgments: split every system between the annotators into two, and ask whether they differ.

Half of the people who judged a system get one half of it and the others the other half, drawn anew for every system.
Both halves are the same system, so a test at .05 should call them different in 5% of the cases. The halves never meet
each other; a test must compare them through the other systems, and allow for tastes.

`bradley-terry`           with a model of tastes, as `rank` does by default
`bradley-terry resample`  the same strengths with resampled annotators
`expected-wins resample`  expected wins with resampled annotators
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from adjudge.audit.halves import unnamed_note
from adjudge.audit.intervals import false_alarms
from adjudge.core.comparisons import comparisons
from adjudge.core.errors import DataError
from adjudge.core.rng import DEFAULT_SEED, generator
from adjudge.rank import bradley_terry, ratios
from adjudge.rank.connected_groups import groups_that_met
from adjudge.rank.relative import check_comparable
from adjudge.rank.resampling_units import annotator_units
from adjudge.rank.significance import difference_spread, resampling_tests
from adjudge.rank.strengths import compare_strengths
from adjudge.results.audit.trust import AATest
from adjudge.work import map_tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from adjudge.audit.settings import AuditSettings
    from adjudge.core.arrays import Floats
    from adjudge.core.comparisons import Comparisons
    from adjudge.core.judgments import Judgments
    from adjudge.rank.counts import Tally
    from adjudge.rank.resampling_units import Units


FEWEST_ANNOTATORS = 4
"""Systems that fewer people judged are not split."""
MOST_SPLITS, FEWEST_SPLITS, ENOUGH_TESTS = 25, 5, 250
RESAMPLES = 200
_STREAM = 41


def section(judgments: Judgments, settings: AuditSettings) -> AATest:
    """The section of an audit."""
    compared = comparisons(judgments)
    check_comparable(compared)
    return aa(compared, seed=settings.seed)


def aa(
    compared: Comparisons, *, splits: int | None = None, resampling: bool = True, seed: int = DEFAULT_SEED
) -> AATest:
    """How often each test calls a system different from itself.

    Args:
        compared: comparisons of one language pair.
        splits: random splits of every system; default: about 250 tests.
        resampling: whether the tests by resampling are made too.
        seed: of the splits.
    """
    every, compared = len(compared), compared.of_named_annotators()
    split_systems = np.flatnonzero(_people_by_system(compared).sum(0) >= FEWEST_ANNOTATORS)
    if not len(split_systems):
        raise DataError(
            f"halves of the annotators need a system that {FEWEST_ANNOTATORS} named annotators or more judged; "
            "there is none"
        )
    number = splits or min(MOST_SPLITS, max(FEWEST_SPLITS, ENOUGH_TESTS // len(split_systems)))

    def p_values(split: int) -> dict[str, Floats]:
        rng = generator(seed, _STREAM, split)
        tests = _tests(halved(compared, split_systems, rng), len(compared.systems), resampling, rng)
        return {name: values[split_systems] for name, values in tests}

    by_split = map_tasks(p_values, range(number), what="A/A splits by annotators")
    rates = {name: false_alarms(np.concatenate([p[name] for p in by_split])) for name in by_split[0]}
    notes = unnamed_note(every - len(compared), "comparison")
    return AATest(rates, number, len(split_systems), "annotators", notes=notes)


def _people_by_system(compared: Comparisons) -> NDArray[np.bool_]:
    """Who judged which system: (annotators, systems)."""
    judged = np.zeros((len(compared.annotators), len(compared.systems)), dtype=bool)
    judged[compared.annotator, compared.first] = True
    judged[compared.annotator, compared.second] = True
    return judged


def halved(compared: Comparisons, systems: NDArray[np.int64], rng: np.random.Generator) -> Comparisons:
    """The comparisons with systems 0, 1, ... for the first halves and n, n + 1, ... for the second ones."""
    n = len(compared.systems)
    judged = _people_by_system(compared)
    second_half = np.zeros_like(judged)
    for system in systems:
        people = rng.permutation(np.flatnonzero(judged[:, system]))
        second_half[people[len(people) // 2 :], system] = True
    label_annotator = compared.block_annotator[compared.label_block]
    first, second, label = (
        system + n * second_half[who, system]
        for who, system in (
            (compared.annotator, compared.first),
            (compared.annotator, compared.second),
            (label_annotator, compared.label_system),
        )
    )
    swapped = first > second
    return replace(
        compared,
        systems=(*(f"{name} A" for name in compared.systems), *(f"{name} B" for name in compared.systems)),
        human=np.tile(compared.human, 2),
        first=np.where(swapped, second, first).astype(np.int32),
        second=np.where(swapped, first, second).astype(np.int32),
        outcome=np.where(swapped, -compared.outcome, compared.outcome).astype(np.int8),
        label_system=label.astype(np.int32),
    )


def _tests(compared: Comparisons, n: int, resampling: bool, rng: np.random.Generator) -> Iterator[tuple[str, Floats]]:
    """The p-value of every system's two halves by each test; NaN where no comparison connects them."""
    whole = annotator_units(compared)
    # Systems that are not split have no second half.
    present = np.flatnonzero(whole.total().met.sum(1) > 0)
    gone = np.ones(len(compared.systems), dtype=bool)
    gone[present] = False
    part = compared.without(gone)
    units = annotator_units(part)
    group = groups_that_met(units.total())
    index = np.full(2 * n, -1)
    index[present] = np.arange(len(present))
    halves = (index[:n] >= 0) & (index[n:] >= 0)
    halves &= group[index[:n]] == group[index[n:]]

    def of_halves(p: Floats) -> Floats:
        return np.where(halves, p[index[:n], index[n:]], np.nan)

    yield "bradley-terry", of_halves(compare_strengths(units, part).pairs.two_sided)
    if resampling:
        yield "bradley-terry resample", of_halves(_resampled(units, bradley_terry.scores, rng))
        yield "expected-wins resample", of_halves(_resampled(units, ratios.expected_wins, rng))


def _resampled(units: Units, score: Callable[[Tally], Floats], rng: np.random.Generator) -> Floats:
    drawn = np.concatenate([score(resample) for resample in units.resampled(RESAMPLES, rng)])
    usable = drawn[~np.isnan(drawn).any(axis=1)]
    tally = units.total()
    return resampling_tests(score(tally), difference_spread(usable, units.number), units.number, tally.wins).two_sided
