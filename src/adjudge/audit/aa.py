"""The A/A test: split every system at random into two pseudo-systems, and ask a test whether they differ.

They do not: both halves are the same system. A test at .05 should say "different" in 5% of the cases. There are two
ways to split:

by pages       half of what was judged of a system's translations of documents. The scores of one page were given in one
               go; a page that the same annotator judged twice (a repeat) stays together, or the halves would be more
               alike than two systems can be. A test that fails here takes one page for many judgments.
by annotators  half of the people who judged the system. People have tastes: some like a system more than others do. A
               test that fails here takes the tastes of a few people for the quality of a system.

`raw`, `zscore`  Wilcoxon's rank-sum test on segment means, as customary (two-sided, normal approximation)
`page-welch`     Welch's t-test on the means of z-scores by page: the simplest test that respects pages
`mixed`          the contrast of the two halves in the mixed model, at the variances estimated from the whole data
`mixed-rank`     the same in the unit of normal scores
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from adjudge.audit.halves import named_annotators, segment_means, unnamed_note, z_by_row
from adjudge.audit.intervals import false_alarms
from adjudge.core.errors import DataError, unknown_choice
from adjudge.core.maths import student_tail
from adjudge.core.rng import DEFAULT_SEED, generator
from adjudge.rank.mann_whitney import halves_differ
from adjudge.rank.mixed import design_from
from adjudge.rank.mixed.design import combine, levels_of
from adjudge.rank.mixed.shared_fits import model_of
from adjudge.results.audit.trust import AATest
from adjudge.work import map_tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from adjudge.audit.settings import AuditSettings
    from adjudge.core.arrays import Codes, Floats
    from adjudge.core.judgments import Judgments
    from adjudge.rank.mixed import MixedDesign
    from adjudge.rank.mixed.shared_fits import Model

    Unit = Literal["pages", "annotators"]

TESTS = ("raw", "zscore", "page-welch", "mixed", "mixed-rank")
SAME_TESTS = {"mixed-rank": "mixed"}
SPLITS = 25
LARGE_TABLE = 200_000
"""Judgments beyond which fewer splits are made: each is a fit of the mixed model to all of them, ..."""
LARGE_SPLITS = 10
"""... and so many, of ten systems, are a hundred tests."""
FEWEST_UNITS = 4
"""Systems with fewer pages (or annotators) are not split: a half would be a single one or nothing."""
_STREAMS = {"pages": 31, "annotators": 33}


def section(judgments: Judgments, settings: AuditSettings) -> AATest:
    """The section of an audit: by pages, and by annotators where there are enough."""
    splits = SPLITS if len(judgments) <= LARGE_TABLE else LARGE_SPLITS
    by_pages = aa(judgments, splits=splits, seed=settings.seed)
    try:
        by_annotator = aa(judgments, unit="annotators", splits=splits, seed=settings.seed)
    except DataError as fault:
        return replace(by_pages, no_annotators=str(fault))
    return replace(by_pages, by_annotator=by_annotator, notes=by_annotator.notes)


def aa(
    judgments: Judgments,
    *,
    tests: Iterable[str] = TESTS,
    unit: Unit = "pages",
    splits: int = SPLITS,
    seed: int = DEFAULT_SEED,
) -> AATest:
    """How often each test calls a system different from itself.

    Args:
        judgments: scores of one language pair and campaign.
        tests: names from `TESTS`.
        unit: what is split, `pages` or `annotators`.
        splits: random splits of every system.
        seed: of the splits.
    """
    chosen = tuple(tests)
    for name in chosen:
        if name not in TESTS:
            raise unknown_choice("test", name, TESTS)
    halved = _halved(judgments, unit)
    compute = _tests(halved, chosen)

    def p_values(split: int) -> dict[str, Floats]:
        half = _random_halves(halved, generator(seed, _STREAMS[unit], split))
        p = {name: test(half) for name, test in compute.items()}
        # Fitted to the same normal scores in another unit, which no test depends on.
        return {name: p[SAME_TESTS.get(name, name)] for name in chosen}

    by_split = map_tasks(p_values, range(splits), what=f"A/A splits by {unit}")
    rates = {name: false_alarms(np.concatenate([p[name] for p in by_split])) for name in chosen}
    return AATest(rates, splits, len(halved.systems), unit, notes=unnamed_note(halved.unnamed, "score"))


@dataclass(frozen=True, eq=False)
class _Halved:
    """What is split: the design, z-scores beside it, the page and the unit of each row, and the system of each unit."""

    design: MixedDesign
    z: Floats
    page: Codes
    unit: Codes
    unit_system: Codes
    systems: Codes
    """Those with enough units."""
    unnamed: int
    """Scores that are not split, because they name no annotator."""


def _halved(judgments: Judgments, unit: Unit) -> _Halved:
    design, unnamed = design_from(judgments), 0
    if unit == "annotators":
        design, unnamed = _of_named_annotators(judgments, design)
    design.check()
    page = _pages(design)
    codes = page if unit == "pages" else _annotators_by_system(design)
    unit_system = np.empty(levels_of(codes), dtype=np.int64)
    unit_system[codes] = design.system
    enough = np.bincount(unit_system, minlength=len(design.systems)) >= FEWEST_UNITS
    if not enough.any():
        raise DataError(f"the A/A test needs a system with {FEWEST_UNITS} {unit} or more; collect more judgments")
    z = z_by_row(judgments)[design.row]
    return _Halved(design, z, page, codes, unit_system, np.flatnonzero(enough), unnamed)


def _of_named_annotators(judgments: Judgments, design: MixedDesign) -> tuple[MixedDesign, int]:
    """The rows that name an annotator, and how many do not."""
    annotator = named_annotators(judgments, design)
    if annotator is None or (annotator >= 0).all():
        return design, 0
    return design.subset(annotator >= 0), int((annotator < 0).sum())


def _pages(design: MixedDesign) -> Codes:
    """All that one annotator judged of one system's translation of one document."""
    if design.annotator is not None and design.document is not None:
        return combine(design.annotator, design.system, design.document)
    if design.page is not None:
        return design.page
    raise DataError("the A/A test splits pages, but neither screens nor documents are known; see docs/mixed.md")


def _annotators_by_system(design: MixedDesign) -> Codes:
    """All that one annotator judged of one system.

    Every system is split for itself, so that an annotator who is in one half of a system may be in the other half of
    the next: what the annotators give in general cancels out, and their tastes stay.
    """
    if design.annotator is None:
        raise DataError("the annotators are not named, so that they cannot be split")
    return combine(design.annotator, design.system)


def _random_halves(halved: _Halved, rng: np.random.Generator) -> Codes:
    """For every row 0 or 1: half of each system's units, drawn at random, go to either side."""
    order = rng.permutation(len(halved.unit_system))
    shuffled = halved.unit_system[order]
    by_system = order[np.argsort(shuffled, kind="stable")]
    count = np.bincount(halved.unit_system)
    position = np.arange(len(order)) - np.repeat(np.cumsum(count) - count, count)
    side = np.empty(len(order), dtype=np.int64)
    side[by_system] = (position >= np.repeat(count // 2, count)).astype(np.int64)
    return side[halved.unit]


def _tests(halved: _Halved, chosen: tuple[str, ...]) -> Mapping[str, Callable[[Codes], Floats]]:
    """The tests asked for, each from the sides of rows to a p-value per system."""
    design = halved.design
    makers: dict[str, Callable[[], Callable[[Codes], Floats]]] = {
        "raw": lambda: lambda half: _rank_sums(halved, design.as_given, half),
        "zscore": lambda: lambda half: _rank_sums(halved, halved.z, half),
        "page-welch": lambda: lambda half: _page_welch(halved, half),
        "mixed": lambda: partial(_halves_differ, model_of(design), halved.systems),
    }
    return {name: makers[name]() for name in dict.fromkeys(SAME_TESTS.get(name, name) for name in chosen)}


def _halves_differ(model: Model, systems: Codes, half: Codes) -> Floats:
    return model.p_of_halves(half, systems)


def _rank_sums(halved: _Halved, value: Floats, half: Codes) -> Floats:
    """Wilcoxon's rank-sum test on the means of segments of each half."""
    design = halved.design
    mean, side = segment_means(design, value, 2 * design.system + half)
    return halves_differ(mean, side // 2, side % 2, len(design.systems))[halved.systems]


def _page_welch(halved: _Halved, half: Codes) -> Floats:
    """Welch's t-test on page means of z-scores, two-sided."""
    known = ~np.isnan(halved.z)
    pages, systems = levels_of(halved.page), len(halved.design.systems)
    count = np.bincount(halved.page[known], minlength=pages)
    total = np.bincount(halved.page[known], halved.z[known], minlength=pages)
    side = np.empty(pages, dtype=np.int64)
    side[halved.page] = 2 * halved.design.system + half
    seen = count > 0
    return _welch(total[seen] / count[seen], side[seen], systems)[halved.systems]


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


def _all_equal(value: Floats, system: Codes, systems: int) -> NDArray[np.bool_]:
    """Whether all values of each system are the same."""
    low, high = np.full(systems, np.inf), np.full(systems, -np.inf)
    np.minimum.at(low, system, value)
    np.maximum.at(high, system, value)
    equal: NDArray[np.bool_] = low >= high
    return equal
