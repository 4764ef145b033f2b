"""Stability of a ranking from relative judgments: make it again after every change, and compare orders and clusters.

The ranking is that of Bradley-Terry with tastes, at the taste of the whole data, and lines come from rank sets. Other
methods are ranked by their scores, with lines by sign tests after Holm's correction.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from adjudge.audit.relative.changes import MOST_LEFT_OUT, all_changes, block_weights, segment_names, untried_notes
from adjudge.audit.stability import Order, compared_orders
from adjudge.core.comparisons import comparisons
from adjudge.core.errors import DataError
from adjudge.core.rng import DEFAULT_SEED, generator
from adjudge.rank.connected_groups import check_connected
from adjudge.rank.counts import count_people, group_of, person_of
from adjudge.rank.lines_and_rank_sets import cluster_numbers, line_after, named_clusters, rank_sets
from adjudge.rank.methods import find_method
from adjudge.rank.relative import check_comparable
from adjudge.rank.resampling_units import units_of
from adjudge.rank.significance import PairTests, sign_tests
from adjudge.rank.strengths import compare_people
from adjudge.results.audit.stability import Stability
from adjudge.work import map_tasks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from adjudge.audit.relative.changes import RelativeChange
    from adjudge.audit.settings import AuditSettings
    from adjudge.core.comparisons import Comparisons
    from adjudge.core.judgments import Judgments
    from adjudge.rank.methods import Method
    from adjudge.rank.strengths import ComparedStrengths
    from adjudge.results.audit.stability import StabilityRow

LEVEL = 0.05
DRAWS = 500
STYLE = "relative"


def section(judgments: Judgments, settings: AuditSettings) -> Stability:
    """The section of an audit."""
    compared = comparisons(judgments)
    check_comparable(compared)
    method = find_method(settings.method or "bradley-terry")
    rule = settings.lines or ("rank-sets" if method.significance == "tastes" else "holm")
    rows, unranked = _tried(compared, method, rule, segment_names(judgments), settings.seed)
    notes = [*untried_notes(compared, MOST_LEFT_OUT)]
    if unranked:
        more = f" and {len(unranked) - 3:,} more" if len(unranked) > 3 else ""
        what = f"changes after which the rest cannot be ranked ({len(unranked):,}) are left out"
        notes.append(f"{what}: {', '.join(unranked[:3])}{more}")
    return Stability(rows, STYLE, method.name, rule, tuple(notes))


def stability(
    compared: Comparisons,
    method: Method,
    rule: str,
    *,
    segments: Sequence[str] | None = None,
    seed: int = DEFAULT_SEED,
) -> tuple[StabilityRow, ...]:
    """Make every change that applies, rank again, and compare; what cannot be ranked any more is left out.

    Args:
        compared: comparisons of one language pair.
        method: a method for relative judgments.
        rule: how lines between clusters are drawn, see `rank.lines_and_rank_sets`.
        segments: the names of source segments, by code.
        seed: of methods that draw at random.
    """
    return _tried(compared, method, rule, segments, seed)[0]


def _tried(
    compared: Comparisons, method: Method, rule: str, segments: Sequence[str] | None, seed: int
) -> tuple[tuple[StabilityRow, ...], tuple[str, ...]]:
    """What became of the ranking after each change, and the changes after which the rest cannot be ranked."""
    ranker = _Ranker(method, rule, seed)
    whole = ranker.estimate(compared)
    changes = list(all_changes(compared, whole.order, segments))
    ranked = map_tasks(partial(ranker.changed, compared), changes, what="changes to the data")
    rows = tuple(
        compared_orders(compared.systems, change, whole.without(change.removed, rule), after)
        for change, after in zip(changes, ranked, strict=True)
        if after is not None
    )
    return rows, tuple(change.name for change, after in zip(changes, ranked, strict=True) if after is None)


@dataclass(frozen=True, eq=False)
class _Estimate:
    """Scores of systems with what lines are drawn from."""

    systems: tuple[str, ...]
    scores: NDArray[np.float64]
    tests: PairTests
    strengths: ComparedStrengths | None

    @property
    def order(self) -> NDArray[np.int64]:
        known = [i for i, score in enumerate(self.scores) if not np.isnan(score)]
        return np.array(sorted(known, key=lambda i: (-self.scores[i], self.systems[i])), dtype=np.int64)

    def without(self, removed: NDArray[np.bool_], rule: str) -> Order:
        """Order and clusters of the systems that are not removed."""
        order = np.array([i for i in self.order if not removed[i]], dtype=np.int64)
        names = tuple(self.systems[i] for i in order)
        if len(order) < 2:
            return Order(names, (names,))
        part = np.ix_(order, order)
        tests = PairTests(self.tests.greater[part], self.tests.two_sided[part])
        lines = line_after(rule, np.arange(len(order)), tests, self._rank_sets(order), LEVEL)
        return Order(names, named_clusters(names, cluster_numbers(lines)))

    def _rank_sets(self, order: NDArray[np.int64]) -> NDArray[np.int64]:
        n = len(order)
        if self.strengths is None:
            return np.tile([1, n], (n, 1))
        part = np.ix_(order, order)
        pairs = self.strengths.pairs
        chosen = {name: getattr(pairs, name)[part] for name in ("difference", "se", "df", "t", "greater", "two_sided")}
        covariance = self.strengths.fit.covariance[part]
        return rank_sets(replace(pairs, **chosen), covariance, level=LEVEL, draws=DRAWS).simultaneous


class _Ranker:
    """Ranks comparisons by one method and rule; the taste found first is kept."""

    def __init__(self, method: Method, rule: str, seed: int) -> None:
        self.method, self.rule, self.seed = method, rule, seed
        self.taste: float | None = None

    def estimate(self, compared: Comparisons, *, weighted: bool = False) -> _Estimate:
        """Score all systems and compare them."""
        check_comparable(compared)
        units = units_of(compared)
        tally = units.total()
        check_connected(tally)
        weights = block_weights(compared) if weighted else None
        if self.method.significance == "tastes" and units.kind == "annotators":
            people = count_people(compared, person_of(compared), group_of(compared), weights=weights)
            strengths = compare_people(people, None if weighted else compared, taste=self.taste)
            self.taste = strengths.fit.taste if self.taste is None else self.taste
            tests = PairTests(strengths.pairs.greater, strengths.pairs.two_sided)
            return _Estimate(compared.systems, strengths.fit.strength, tests, strengths)
        if weights is not None:
            nobody = np.zeros(len(compared), dtype=np.int64)
            people = count_people(compared, nobody, nobody[:1], weights=weights)
            tally = replace(tally, wins=people.wins[0], ties=people.ties[0])
        scores = self.method.score(tally, generator(self.seed))
        return _Estimate(compared.systems, scores, sign_tests(tally.wins), None)

    def changed(self, compared: Comparisons, change: RelativeChange) -> Order | None:
        """The ranking after a change; None where the rest cannot be ranked any more."""
        try:
            after = self.estimate(change.apply(compared), weighted=change.weighted)
        except DataError:
            return None
        return after.without(np.zeros(len(after.systems), dtype=bool), self.rule)
