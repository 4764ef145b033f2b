"""The result of ranking systems, of the same form for every method, and the sources of variation of scores."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import repeat
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from adjudge.ranking.decisions import (
    benjamini_hochberg,
    best_first,
    cluster_numbers,
    decide,
    holm,
    levelled,
    line_after,
    named_clusters,
    rank_bounds,
)
from adjudge.ranking.methods import find_method
from adjudge.table import results

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from adjudge.evidence.breakdown import Breakdown
    from adjudge.evidence.explanation import Explained
    from adjudge.mixed.effects import Helper, LeftOut, ScreenEffect, VarianceComponent
    from adjudge.ranking.decisions import Correction, PairDecisions, PairTests, State
    from adjudge.table.judgments import Judgments, SetAside
    from adjudge.table.results import Setting


def tabulate_components(
    components: Sequence[VarianceComponent], left_out: Sequence[LeftOut] = (), *, judged: str = "scores"
) -> results.Table:
    """The components as a table, with the left-out effects in its note; `judged` says what spreads."""
    columns = {
        "effect": results.text("effect"),
        "sd": results.number("sd", 2, help="standard deviation in the unit of the scores"),
        "low": results.number("low", 2),
        "high": results.number("high", 2),
        "levels": results.number("levels", 0),
        "meaning": results.text("meaning"),
    }
    reasons = [f"{effect.effect}: {effect.reason}." for effect in left_out]
    note = " ".join(["Some effects are not modelled separately.", *reasons]) if left_out else ""
    return results.tabulate(f"Where the spread of {judged} comes from", components, columns, note)


_MEANINGS = {
    "raw": "mean score",
    "z": "mean of the scores standardised by annotator",
    "n_all": "judgments behind the segments",
    "se": "standard error of the distance from the mean of all systems, or of the score where annotators are resampled",
    "low": "lower end of an interval: see the note below the table",
    "high": "upper end of the same interval",
    "typical": "where the system's typical score stands among all scores, in percent",
    "low_share": "share of the system's scores among the lowest 5% of the campaign",
    "rank_low": "best rank in resamples, without the most extreme ones",
    "rank_high": "worst rank in resamples, without the most extreme ones",
}


@dataclass(frozen=True)
class RankedSystem:
    """One system of a ranking. `numbers` are the method's own (wins, raw mean, standard error, ...)."""

    system: str
    human: bool
    score: float | None
    rank: int
    rank_set: tuple[int, int]
    cluster: int
    n: int
    numbers: Mapping[str, float | int | None] = field(default_factory=dict)
    letters: str | None = None
    """Systems that share a letter are not separated; None where too many letters would be needed."""

    def to_dict(self) -> dict[str, Any]:
        """The documented keys, flat: numbers of the method are at the same level as the common ones."""
        placed = {
            name: results.to_plain(getattr(self, name)) for name in ("system", "human", "score", "rank", "rank_set")
        }
        own = results.to_plain(dict(self.numbers))
        return {**placed, "cluster": self.cluster, "letters": self.letters, "n": self.n, **own}


@dataclass(frozen=True)
class PairComparison:
    """Two systems: the lead of the better one, and its p-values.

    `numbers` are the method's own, such as the pair's wins, ties and losses.
    """

    better: str
    worse: str
    difference: float | None
    p: float | None
    p_holm: float | None
    p_bh: float | None
    numbers: Mapping[str, float | int | None] = field(default_factory=dict)
    p_adjusted: float | None = None
    """Corrected for all pairs, as the decisions are (`ranking.decisions`)."""
    decided: bool = False
    """Whether the first system is decided better than the other."""
    state: State = "open"
    """Decided, open, or on which reading of the scores alone the pair would be decided."""

    agreeing: bool = True
    """Whether both readings of scores, where there are two, point the same way, the second significantly."""

    def to_dict(self) -> dict[str, Any]:
        """The documented keys, flat."""
        common = ("better", "worse", "difference", "p", "p_holm", "p_bh", "p_adjusted", "decided", "state")
        flat = {**{name: getattr(self, name) for name in common}, **self.numbers}
        # A ranking of 500 systems has a million of these, of which only numbers may be infinite.
        return {name: None if type(value) is float and not isfinite(value) else value for name, value in flat.items()}


@dataclass(frozen=True)
class Lines:
    """How clusters are separated: the name of the rule and its level."""

    rule: str
    level: float


@dataclass(frozen=True, kw_only=True)
class Ranking(results.Result):
    """Systems in rank order with rank sets, clusters, and every pair compared."""

    verb: ClassVar[str] = "rank"

    method: str
    kind: Literal["relative", "scores"]
    """Whether systems were compared or scored."""
    unit: str
    """What a score is, for the axis of a chart."""
    difference_unit: str = field(default="", metadata=results.UNWRITTEN)
    """The unit of score differences, if it has a shorter name."""
    systems: tuple[RankedSystem, ...]
    comparisons: tuple[PairComparison, ...]
    clusters: tuple[tuple[str, ...], ...]
    lines: Lines
    correction: Correction = "holm"
    """How `p_adjusted` is corrected for all pairs."""
    critical: float | None = None
    """The normal statistic at which open pairs would be decided; None where more people would not narrow the test."""
    annotators: int | None = None
    """How many people judged; None where not all of them are named."""
    accounts: bool = False
    """Whether the annotators are accounts that may be fewer people."""
    fewest_people: int | None = None
    """As few people may be behind these accounts; None where nothing suggests it, or no times say how few."""
    verdict: tuple[str, ...] = ()
    """Who is best, and how many pairs are decided, in a sentence each (`evidence.verdict` words them)."""
    components: tuple[VarianceComponent, ...] = ()
    """The sources of variation of scores, for methods that model them."""
    left_out: tuple[LeftOut, ...] = ()
    """Effects that such a model could not separate from others, and why."""
    helpers: tuple[Helper, ...] = ()
    """Metrics whose scores of all outputs helped the human scores, if any."""
    gain: float | None = None
    """All helpers together are worth this many times the judgments; 1 where the interval includes 1."""
    gain_low: float | None = None
    gain_high: float | None = None
    screen_effects: tuple[ScreenEffect, ...] = ()
    """What place and company on a screen do to scores, where screens show several systems."""
    breakdown: Breakdown | None = None
    """Scores within subsets of the judgments, if requested."""
    explained: Explained | None = None
    """Why systems have other ranks by other ways of ranking, if requested."""

    @property
    def order(self) -> tuple[str, ...]:
        """The systems' names, the best first."""
        return tuple(system.system for system in self.systems)

    @property
    def first_lines(self) -> tuple[str, ...]:
        """Who is best, and how many pairs are decided."""
        return self.verdict

    def tables(self) -> tuple[results.Table, ...]:
        """The ranking with a line between clusters."""
        names = list(dict.fromkeys(name for system in self.systems for name in system.numbers))
        shown = [name for name in ("low", "high") if name in names]
        others = [name for name in names if name not in shown]
        rows = tuple(_row(system, shown, others) for system in self.systems)
        neighbours = zip(self.systems, self.systems[1:], strict=False)
        lines = frozenset(i for i, (above, below) in enumerate(neighbours, start=1) if above.cluster != below.cluster)
        columns = (
            results.number("rank", 0),
            results.text("system"),
            results.number("score", self._digits, help=f"by {self.method}"),
            *(results.Column(name, digits=self._digits, help=_MEANINGS.get(name, ""), name=name) for name in shown),
            results.text("letters", help="systems that share a letter are not separated"),
            results.span("rank set", help="ranks that the decided pairs leave possible", name="rank_set"),
            results.number("n", 0, help=self._counted),
            *(_detail(name) for name in others),
        )
        ranking = results.Table(f"Ranking by {self.method}", columns, rows, self._explain(lines), lines)
        return (
            ranking,
            *self._helpers(),
            *self._spread(),
            *self._screens(),
            *(() if self.breakdown is None else self.breakdown.tables()),
            *(() if self.explained is None else self.explained.tables()),
        )

    @property
    def _digits(self) -> int:
        """Two digits of points; strengths, z-scores and shares have three."""
        return 2 if self.difference_unit == "points" or self.method == "raw" else 3

    @property
    def _counted(self) -> str:
        """What `n` counts."""
        if self.kind == "relative":
            return "comparisons with other systems"
        return "judgments, without repeats" if self.components else "segments"

    def _explain(self, lines: frozenset[int]) -> str:
        """How to read the table."""
        shared = "Systems that share a letter are not separated."
        drawn = "A line means that everyone above is decided better than everyone below." if lines else ""
        if self.lines.rule not in ("decided", "rank-sets"):
            corrected = "letters are corrected for all pairs"
            drawn = f"Lines follow the rule '{self.lines.rule}' at {self.lines.level:g}; {corrected}."
        if "test" in self.settings:
            drawn = f"{drawn} The test ignores who judged.".lstrip()
        bars = ""
        if any(system.numbers.get("low") is not None for system in self.systems):
            units = self.settings.get("resampled", "annotators")
            of = "distance from the mean of all" if self.components else f"score, from resampled {units}"
            bars = f"Low and high are a {100 * (1 - self.lines.level):g}% interval of the {of}."
        return " ".join(part for part in (shared, drawn, bars) if part)

    def _helpers(self) -> tuple[results.Table, ...]:
        """What helpers are worth, where there are any."""
        if not self.helpers or self.gain is None:
            return ()
        unit = self.difference_unit or "units of the score"
        columns = {
            "name": results.text("helper"),
            "slope": results.number(
                "slope", 2, help=f"{unit} per standard deviation of the helper's scores, the others held equal"
            ),
            "gain": results.number("gain", 2, help="the helper alone is worth this many times the judgments"),
            "gain_low": results.number("low", 2, help="95% interval of the gain, which is 1 where this includes 1"),
            "gain_high": results.number("high", 2),
            "scored": results.number("scored", 0, help="judgments of outputs with a score"),
            "unscored": results.number("unscored", 0, help="judgments of outputs without a score"),
        }
        known = "" if self.gain_low is None else f" ({self.gain_low:.2f} to {self.gain_high:.2f})"
        note = f"Gains are by each helper alone. All together are worth {self.gain:.2f} times the judgments{known}."
        return (results.tabulate("Helpers: metrics with scores of all outputs", self.helpers, columns, note),)

    def _spread(self) -> tuple[results.Table, ...]:
        """Where the spread comes from, where the method models it."""
        if not self.components:
            return ()
        judged = "comparisons" if self.kind == "relative" else "scores"
        return (replace(tabulate_components(self.components, self.left_out, judged=judged), detail=True),)

    def _screens(self) -> tuple[results.Table, ...]:
        """What place and company on a screen do, where screens show several systems."""
        if not self.screen_effects:
            return ()
        columns = {
            "name": results.text("column"),
            "slope": results.number("slope", 3, help="points for each place, or for each point of the best other"),
            "low": results.number("low", 3, help="95% interval"),
            "high": results.number("high", 3),
            "p": results.number("p", 4),
            "meaning": results.text("meaning"),
        }
        return (replace(results.tabulate("Screens with several systems", self.screen_effects, columns), detail=True),)

    def all_tables(self) -> tuple[results.Table, ...]:
        """The ranking, and every pair of systems."""
        return (*self.tables(), self.comparison_table())

    def comparison_table(self) -> results.Table:
        """Every pair of systems: difference and p-values."""
        tested = any(pair.p is not None for pair in self.comparisons)
        return results.comparison_table("Pairs of systems", self.comparisons, decided=tested)


def _row(system: RankedSystem, shown: Sequence[str], others: Sequence[str]) -> tuple[results.Cell, ...]:
    beside, details = ((system.numbers.get(name) for name in names) for names in (shown, others))
    name = results.shown_name(system.system, system.human)
    ranks = results.Span(*system.rank_set)
    return (system.rank, name, system.score, *beside, system.letters, ranks, system.n, *details)


def _detail(name: str) -> results.Column:
    """A column with a method's own number."""
    help_ = _MEANINGS.get(name, "")
    if name == "low_share":
        return results.Column("low share", "percent", 1, help_, name, detail=True)
    digits = 1 if name == "typical" else 3
    return results.Column(name.replace("_", " "), digits=digits, help=help_, name=name, detail=True)


# From findings to a ranking: order, ranks, lines, and every pair with its p-values. The same for all methods.


@dataclass(frozen=True, eq=False)
class Findings:
    """What a method found out, by system index; `numbers` are (n,), `pair_numbers` (n, n) arrays of its own."""

    systems: tuple[str, ...]
    human: NDArray[np.bool_]
    scores: NDArray[np.float64]
    n: NDArray[np.int64]
    tests: PairTests
    decisions: PairDecisions | None = None
    """Of all pairs; default: by Holm's correction of the tests."""
    numbers: Mapping[str, NDArray[np.float64] | NDArray[np.int64]] = field(default_factory=dict)
    pair_numbers: Mapping[str, NDArray[np.float64] | NDArray[np.int64]] = field(default_factory=dict)


@dataclass(frozen=True)
class Provenance:
    """Where the numbers come from: the data's fingerprint, what was set aside, what must be said."""

    data: str
    set_aside: tuple[SetAside, ...] = ()
    notes: tuple[str, ...] = ()


def provenance(judgments: Judgments) -> Provenance:
    """The provenance of a ranking by last revisions; the fingerprint is that of the table as given."""
    final = judgments.final()
    return Provenance(judgments.fingerprint, final.set_aside, final.notes)


def assemble(
    source: Provenance,
    findings: Findings,
    *,
    method: str,
    rule: str,
    level: float,
    settings: Mapping[str, Setting],
    annotators: int | None = None,
    accounts: bool = False,
    fewest_people: int | None = None,
    notes: tuple[str, ...] = (),
    components: tuple[VarianceComponent, ...] = (),
    left_out: tuple[LeftOut, ...] = (),
    helpers: tuple[Helper, ...] = (),
    gain: tuple[float, float | None, float | None] | None = None,
    screen_effects: tuple[ScreenEffect, ...] = (),
) -> Ranking:
    """Put the ranking together."""
    se = findings.pair_numbers.get("se")
    findings = replace(findings, scores=levelled(findings.scores, None if se is None else se.astype(float)))
    order = np.array(best_first(findings.scores, findings.systems), dtype=np.int64)
    decisions = findings.decisions or _decide_by_tests(findings, level)
    after = line_after(rule, order, findings.tests, decisions.better, level)
    clusters = cluster_numbers(after)
    facts = find_method(method)
    systems = _ranked_systems(findings, order, clusters, decisions)
    return Ranking(
        settings=settings,
        data=source.data,
        set_aside=source.set_aside,
        notes=source.notes + notes,
        method=method,
        kind=facts.judgments,
        unit=facts.unit,
        difference_unit=facts.difference_unit,
        systems=systems,
        comparisons=_comparisons(findings, order, decisions),
        clusters=named_clusters([system.system for system in systems], clusters),
        lines=Lines(rule, level),
        correction=decisions.corrected.name,
        critical=decisions.corrected.critical,
        annotators=annotators,
        accounts=accounts,
        fewest_people=fewest_people,
        components=components,
        left_out=left_out,
        helpers=helpers,
        gain=None if gain is None else gain[0],
        gain_low=None if gain is None else gain[1],
        gain_high=None if gain is None else gain[2],
        screen_effects=screen_effects,
    )


def _decide_by_tests(findings: Findings, level: float) -> PairDecisions:
    """The decisions of a method that knows only p-values, by Holm's correction."""
    scores, p = findings.scores, findings.tests.reported
    # A one-sided test counts in the direction of the scores.
    p = np.where(scores[:, None] >= scores[None, :], p, p.T)
    return decide(scores, np.where(scores[:, None] == scores[None, :], np.maximum(p, p.T), p), None, level=level)


def _ranked_systems(
    findings: Findings,
    order: NDArray[np.int64],
    clusters: NDArray[np.int64],
    decisions: PairDecisions,
) -> tuple[RankedSystem, ...]:
    """The systems in their order; one without a score has the last rank."""
    ranks, rank_sets, letters = rank_bounds(findings.scores)[0], decisions.rank_sets, decisions.letters(order)
    return tuple(
        RankedSystem(
            system=findings.systems[i],
            human=bool(findings.human[i]),
            score=_number(findings.scores[i]),
            rank=int(ranks[i]) if not np.isnan(findings.scores[i]) else len(order),
            rank_set=(int(rank_sets[i, 0]), int(rank_sets[i, 1])),
            cluster=int(cluster),
            letters=None if letters is None else letters[i],
            n=int(findings.n[i]),
            numbers={name: _number(values[i]) for name, values in findings.numbers.items()},
        )
        for i, cluster in zip(order, clusters, strict=True)
    )


def _comparisons(findings: Findings, order: NDArray[np.int64], decisions: PairDecisions) -> tuple[PairComparison, ...]:
    first, second = np.triu_indices(len(order), 1)
    better, worse = order[first], order[second]
    p = findings.tests.reported[better, worse]
    difference = findings.scores[better] - findings.scores[worse]
    p_adjusted = decisions.corrected.p[better, worse]
    agreeing = np.ones(len(better), dtype=bool) if decisions.agreeing is None else decisions.agreeing[better, worse]
    own = [_plain(values[better, worse]) for values in findings.pair_numbers.values()]
    names, systems = tuple(findings.pair_numbers), findings.systems
    columns = zip(
        better.tolist(),
        worse.tolist(),
        *map(_plain, (difference, p, holm(p), benjamini_hochberg(p), p_adjusted)),
        decisions.better[better, worse].tolist(),
        decisions.states(better, worse),
        agreeing.tolist(),
        zip(*own, strict=True) if own else repeat((), len(better)),
        strict=True,
    )
    return tuple(
        PairComparison(
            systems[i], systems[j], lead, alone, by_holm, by_bh, dict(zip(names, numbers, strict=True)), adjusted,
            decided, state, agrees,
        )
        for i, j, lead, alone, by_holm, by_bh, adjusted, decided, state, agrees, numbers in columns
    )  # fmt: skip


def _plain(values: NDArray[Any]) -> list[float | int | None]:
    """Plain numbers, all at once; whole numbers stay whole, NaN is None."""
    plain: list[float | int | None] = values.tolist()
    return (
        plain
        if values.dtype.kind in "iu"
        else [None if number is None or isnan(number) else number for number in plain]
    )


def _number(value: np.floating | np.integer | float) -> float | int | None:
    """A plain number; whole numbers stay whole, NaN is None."""
    if isinstance(value, np.integer):
        return int(value)
    return None if np.isnan(value) else float(value)
