"""Three checks of a ranking: reliability over random halves of the annotators, influence of each unit, A/A results.

The A/A test itself is in `evidence/aa.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from adjudge.ranking.estimator import Estimator, UnitKind, Units, estimator_of
from adjudge.ranking.scores import ScoreEstimator
from adjudge.table.comparisons import NOBODY
from adjudge.table.errors import DataError, unknown_choice
from adjudge.table.maths import Bools, Floats, kendall
from adjudge.table.results import Table, number, percent, tabulate, text, to_plain
from adjudge.table.rng import DEFAULT_SEED, generator
from adjudge.table.wording import agreeing, as_sentences, counted, short_list

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from adjudge.evidence.audit import AuditSettings
    from adjudge.ranking.estimator import Estimate
    from adjudge.table.judgments import Judgments


FEWEST_ANNOTATORS = 4
"""With fewer people, a half of them is a single person or nobody."""


# Random halves of the annotators.
#
# Judgments that name no annotator are in neither half: nobody knows how many people they are of, or whether some of
# these are among the annotators with a name.


def random_halves(people: int, rng: np.random.Generator) -> tuple[Bools, Bools]:
    """Two halves of the annotators, drawn at random; of an odd number the first half is the smaller."""
    first = np.zeros(people, dtype=bool)
    first[rng.permutation(people)[: people // 2]] = True
    return first, ~first


def unnamed_note(unnamed: int, what: str) -> tuple[str, ...]:
    """Say what halves of the annotators leave out."""
    if not unnamed:
        return ()
    named = counted(unnamed, f"{what} names", f"{what}s name")
    return (f"{named} no annotator, and {agreeing(unnamed, 'is', 'are')} in no half of the annotators",)


# How far a ranking can be trusted: the A/A test, reliability over halves of the annotators, influence of each unit.


@dataclass(frozen=True)
class AARate:
    """How often one test said "different" at .05 and at .01, and an interval of the former.

    The interval (Wilson, 95%) is for further random splits of the same judgments.
    """

    tests: int
    rate_05: float
    rate_01: float
    interval: tuple[float, float]


@dataclass(frozen=True)
class AATest:
    """The rates by test, from `splits` random splits of every system that has enough pages (or annotators)."""

    rates: Mapping[str, AARate]
    splits: int
    systems: int
    unit: Literal["pages", "annotators"] = "pages"
    by_annotator: AATest | None = None
    """The same where whole annotators are split instead of pages."""
    no_annotators: str = ""
    """Why annotators could not be split, where that was tried."""
    notes: tuple[str, ...] = ()
    """What is in no half of the annotators, and why."""

    def to_dict(self) -> dict[str, Any]:
        """The documented keys: by test, and under `by_annotator` by halves of the annotators.

        Of relative judgments only annotators are split, so there the two are the same.
        """
        halves = self if self.unit == "annotators" else self.by_annotator
        plain: dict[str, Any] = to_plain(self.rates)
        return {**plain, "by_annotator": None if halves is None else to_plain(halves.rates)}

    def tables(self) -> tuple[Table, ...]:
        """One line per test; a table for pages and one for annotators."""
        others = () if self.by_annotator is None else self.by_annotator.tables()
        return (self._table(), *others)

    def _table(self) -> Table:
        rows = tuple(
            (name, rate.tests, rate.rate_05, *rate.interval, rate.rate_01) for name, rate in self.rates.items()
        )
        columns = (
            text("test"),
            number("tests", 0),
            percent("p < .05", help="should be 5%"),
            percent("low"),
            percent("high"),
            percent("p < .01", help="should be 1%"),
        )
        note = (
            f"Each of {self.systems} systems was split at random into two halves of its {self.unit}, {self.splits} "
            "times: how often a test calls the halves different. A correct test does so in 5% of the cases at .05."
        )
        if self.no_annotators:
            note += f" Halves of the annotators were not compared: {self.no_annotators}."
        return Table(f"{_TITLES[self.unit]} on these data", columns, rows, note)


_TITLES = {
    "pages": "A/A test: which tests can be trusted",
    "annotators": "A/A test by annotators: which tests can be trusted for other people",
}


@dataclass(frozen=True)
class HalfAgreement:
    """Kendall's tau between the orders of two halves of the annotators: mean over splits, and its middle 95%."""

    splits: int
    tau: float
    low: float
    high: float


@dataclass(frozen=True)
class Reliability:
    """Agreement of disjoint halves of the annotators, by method."""

    methods: Mapping[str, HalfAgreement]
    annotators: int
    systems: int
    notes: tuple[str, ...] = ()
    """What is in neither half, and why."""

    def to_dict(self) -> dict[str, Any]:
        """By method."""
        plain: dict[str, Any] = to_plain(self.methods)
        return plain

    def tables(self) -> tuple[Table, ...]:
        """One line per method."""
        rows = tuple(
            (name, agreement.tau, agreement.low, agreement.high, agreement.splits)
            for name, agreement in self.methods.items()
        )
        columns = (text("method"), number("tau", 2), number("low", 2), number("high", 2), number("splits", 0))
        note = (
            f"Kendall's tau between the orders of {self.systems} systems by one half of the {self.annotators} "
            "annotators and by the other. Low and high hold 95% of the random splits."
        )
        return (Table("Reliability: one half of the annotators against the other", columns, rows, note),)


@dataclass(frozen=True)
class LeftOutUnit:
    """What changes when one annotator or document is left out."""

    unit: Literal["annotator", "document", "segment"]
    name: str
    judgments: int
    system: str
    """The system whose effect moves most, compared with the mean of all."""
    shift: float
    """By how much, in the unit of the scores."""
    in_se: float
    """The same in standard errors of that effect."""
    flips: int
    """Pairs of systems whose order is reversed."""
    lost: int
    gained: int
    """Pairs that are no longer significant, and pairs that have become so (p < .05, each by itself)."""


@dataclass(frozen=True)
class Influence:
    """Every annotator and document left out in turn, those that move most first."""

    rows: tuple[LeftOutUnit, ...]
    pairs: int
    significant: int
    """Pairs of systems, and how many differ significantly on the whole data (p < .05, each by itself)."""
    notes: tuple[str, ...] = ()
    """What was not tried, and why."""

    def to_dict(self) -> list[dict[str, Any]]:
        """A list of units."""
        plain: list[dict[str, Any]] = to_plain(self.rows)
        return plain

    def tables(self) -> tuple[Table, ...]:
        """All of them, those that move most first."""
        columns = {
            "unit": text("left out"),
            "name": text("name"),
            "judgments": number("judgments", 0),
            "system": text("moves most"),
            "shift": number("shift", 2),
            "in_se": number("in se", 2),
            **{name: number(name, 0) for name in ("flips", "lost", "gained")},
        }
        differing = f"{self.significant} {agreeing(self.significant, 'differs', 'differ')}"
        note = (
            "All units that were left out, those that move an effect most first. "
            f"Of {counted(self.pairs, 'pair')}, {differing} at .05, each by itself. "
            "Flips are pairs whose order is reversed; lost and gained are pairs that cease or begin to differ."
        )
        note = " ".join([note, *as_sentences(self.notes)])
        return (tabulate("Influence: who moves the ranking", self.rows, columns, note),)


LEVEL = 0.05
MOST_LEFT_OUT = 60
"""Units of relative judgments that are left out in turn."""


# Influence of single annotators and texts: leave each out, and estimate again at the variances of the whole.
#
# Effects are compared after subtracting their mean, because the general level says nothing about the systems. Of scores
# every annotator and every document is left out. Of relative judgments those annotators and source segments with the
# most comparisons are, and what is left is judged by the errors of the whole.


def influence_section(judgments: Judgments, settings: AuditSettings) -> Influence:  # noqa: ARG001
    """The section of an audit."""
    estimator = estimator_of(judgments)
    # Shifts are shown in points, so these are what is estimated.
    return influence(estimator.in_points() if isinstance(estimator, ScoreEstimator) else estimator)


def influence(estimator: Estimator) -> Influence:
    """What happens to the effects when each annotator, and each document or segment, is left out."""
    if estimator.kind == "relative" and estimator.units[0].number < 2:
        raise DataError("there are no two annotators, so none can be left out; nothing to audit")
    rows: list[LeftOutUnit] = []
    needed: list[str] = []
    for units in estimator.units:
        for name, judgments, after in _left_out(estimator, units):
            if after is None:
                needed.append(f"{units.kind} {name}")
            else:
                rows.append(_compared(estimator, after, (units.kind, name, judgments)))
    if not rows and estimator.kind == "scores":
        if needed:
            rest = f"without {short_list(needed, 'or')} the other scores cannot be ranked"
            raise DataError(f"{rest}; collect more judgments")
        raise DataError("there are no two annotators or documents, so none can be left out; nothing to audit")
    notes = list(untried_notes(estimator.units, MOST_LEFT_OUT)) if estimator.kind == "relative" else []
    if needed and estimator.kind == "relative":
        notes.append(f"without {len(needed):,} of them a system was never judged, so they are not tried")
    elif needed:
        without = short_list(needed, "or")
        notes.append(f"without {without} the other scores cannot be ranked, so no shift is shown")
    n = len(estimator.systems)
    return Influence(
        tuple(sorted(rows, key=lambda row: (-row.in_se, row.name))),
        n * (n - 1) // 2,
        int(np.triu(estimator.estimate.significant(LEVEL), 1).sum()),
        (*estimator.left_out_notes, *notes),
    )


def _left_out(estimator: Estimator, units: Units) -> Iterator[tuple[str, int, Estimate | None]]:
    """The name and judgments of each unit, and the estimate without it; None where the rest cannot be ranked."""
    if units.number < 2:
        return
    codes = np.arange(len(units.names)) if estimator.kind == "scores" else units.busiest(MOST_LEFT_OUT)
    for code, after in zip(codes, estimator.without_each(units, codes), strict=True):
        name = units.names[code]
        yield NOBODY if name is None else name, int(units.work[code]), after if after and after.complete else None


def untried_notes(every: Sequence[Units], most: int) -> Iterator[str]:
    """Which annotators and segments are not left out in turn, because only the busiest are."""
    for units in every:
        if units.number > most:
            name = {"segment": "source segments"}.get(units.kind, f"{units.kind}s")
            yield f"of {units.number:,} {name}, the {most} with the most comparisons are left out in turn"


def _compared(estimator: Estimator, after: Estimate, unit: tuple[UnitKind, str, int]) -> LeftOutUnit:
    """How far effects move without a unit, and which pairs change."""
    whole = estimator.baseline
    kept = [whole.systems.index(system) for system in after.systems]
    before, moved = whole.effects[kept], after.effects
    shift = (moved - moved.mean()) - (before - before.mean())
    in_se = np.abs(shift) / np.maximum(whole.errors_from_mean(kept), 1e-12)
    most = int(np.argmax(in_se))
    upper = np.triu_indices(len(kept), 1)
    reversed_ = ((before[:, None] - before) * (moved[:, None] - moved) < 0)[upper]
    was, now = whole.significant(LEVEL)[np.ix_(kept, kept)][upper], after.significant(LEVEL)[upper]
    return LeftOutUnit(
        *unit,
        after.systems[most],
        float(shift[most]),
        float(in_se[most]),
        int(reversed_.sum()),
        int((was & ~now).sum()),
        int((~was & now).sum()),
    )


# Split-half reliability: divide the annotators at random into two halves, and compare the orders of the systems.
#
# No annotator is in both halves, so agreement between them is agreement about the systems. Models take the variances
# (or the taste) found on the whole data; z-scores are each annotator's own in any case.


SPLITS = 25
SLOW_SPLITS = 5
"""Splits of methods that search for an order or play every match."""
SLOW = ("mfas", "trueskill")
SAME_ORDERS = {"mixed-rank": "mixed"}
"""Methods that are fitted to the same scores in another unit, which no order depends on."""
_STREAMS = {"scores": 32, "relative": 42}


def reliability_section(judgments: Judgments, settings: AuditSettings) -> Reliability:
    """The section of an audit."""
    return reliability(estimator_of(judgments), seed=settings.seed)


def reliability(
    estimator: Estimator, *, methods: Iterable[str] | None = None, splits: int = SPLITS, seed: int = DEFAULT_SEED
) -> Reliability:
    """Kendall's tau between halves of the annotators.

    Args:
        estimator: of the judgments.
        methods: names from `estimator.methods`; default: all.
        splits: random divisions of the annotators.
        seed: of the divisions.
    """
    chosen = estimator.methods if methods is None else tuple(methods)
    for name in chosen:
        if name not in estimator.methods:
            raise unknown_choice("method", name, estimator.methods)
    if estimator.people < FEWEST_ANNOTATORS:
        raise DataError(f"halves of the annotators need {FEWEST_ANNOTATORS} named annotators or more; there are fewer")
    stream = _STREAMS[estimator.kind]
    first = np.stack([random_halves(estimator.people, generator(seed, stream, split))[0] for split in range(splits)])
    agreement: dict[str, HalfAgreement] = {}
    for name in dict.fromkeys(SAME_ORDERS.get(name, name) for name in chosen):
        some = first[:SLOW_SPLITS] if name in SLOW else first
        halves = (estimator.scores_of(name, half, generator(seed, stream)) for half in (some, ~some))
        tau = np.array([tau_of_halves(*pair) for pair in zip(*halves, strict=True)])
        known = tau[~np.isnan(tau)]
        low, high = np.quantile(known, [0.025, 0.975]) if len(known) else (np.nan, np.nan)
        mean = known.mean() if len(known) else np.nan
        agreement[name] = HalfAgreement(len(known), float(mean), float(low), float(high))
    return Reliability(
        {name: agreement[SAME_ORDERS.get(name, name)] for name in chosen},
        estimator.people,
        len(estimator.systems),
        unnamed_note(estimator.unnamed, estimator.judgment),
    )


def tau_of_halves(first: Floats, other: Floats) -> float:
    """Kendall's tau-b of the systems that have a score in both halves."""
    both = ~np.isnan(first) & ~np.isnan(other)
    return kendall(first[both], other[both])
