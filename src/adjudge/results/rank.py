"""The result of ranking systems, of the same form for every method, and the sources of variation of scores."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from adjudge.results.result import UNWRITTEN, Result, to_plain
from adjudge.results.table import Cell, Column, Span, Table, comparison_table, number, shown_name, span, tabulate, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from adjudge.results.audit.breakdown import Breakdown


TASTE = "annotator:system"
"""The effect of annotators' tastes."""


@dataclass(frozen=True)
class VarianceComponent:
    """One source of variation: its standard deviation in the unit of the scores, with an optional interval."""

    effect: str
    sd: float
    low: float | None
    high: float | None
    levels: int
    meaning: str
    at_zero: bool = False
    """Whether the estimate is at its lower limit: the data show no such variation."""
    folded: tuple[str, ...] = field(default=(), metadata=UNWRITTEN)
    """The merged effects, if there are several."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The merged effects, the narrowest last."""
        return self.folded or (self.effect,)


class Cause(StrEnum):
    """Why an effect is not modelled separately."""

    NOT_NAMED = "the data do not name its levels"
    ONE_LEVEL = "it has one level only"
    STRICTNESS = "tastes are not told from strictness"
    SYSTEMS = "each system has one level, so it is not told from systems"
    RESIDUAL = "nearly every score has its own level"
    FOLDED = "it holds the same scores together as another effect"

    @property
    def confounded(self) -> bool:
        """Whether standard errors fail to include this effect."""
        return self in (Cause.STRICTNESS, Cause.SYSTEMS)


@dataclass(frozen=True)
class LeftOut:
    """An effect that is not modelled separately, and the reason."""

    effect: str
    reason: str
    cause: Cause = field(metadata=UNWRITTEN)


def tabulate_components(
    components: Sequence[VarianceComponent], left_out: Sequence[LeftOut] = (), *, judged: str = "scores"
) -> Table:
    """The components as a table, with the left-out effects in its note; `judged` says what spreads."""
    columns = {
        "effect": text("effect"),
        "sd": number("sd", 2, help="standard deviation in the unit of the scores"),
        "low": number("low", 2),
        "high": number("high", 2),
        "levels": number("levels", 0),
        "meaning": text("meaning"),
    }
    listed = "; ".join(f"{effect.effect} ({effect.reason})" for effect in left_out)
    note = f"Not modelled separately: {listed}." if left_out else ""
    return tabulate(f"Where the spread of {judged} comes from", components, columns, note)


_MEANINGS = {
    "raw": "mean score",
    "z": "mean of the scores standardised by annotator",
    "n_all": "judgments behind the segments",
    "se": "standard error of the score",
    "points": "the same by a model of the scores themselves, not of their normal scores",
    "rank_low": "best rank possible, for this system considered on its own",
    "rank_high": "worst rank possible, for this system considered on its own",
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

    def to_dict(self) -> dict[str, Any]:
        """The documented keys, flat: numbers of the method are at the same level as the common ones."""
        placed = {name: to_plain(getattr(self, name)) for name in ("system", "human", "score", "rank", "rank_set")}
        return {**placed, "cluster": self.cluster, "n": self.n, **to_plain(dict(self.numbers))}


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

    def to_dict(self) -> dict[str, Any]:
        """The documented keys, flat."""
        common = ("better", "worse", "difference", "p", "p_holm", "p_bh")
        compared = {name: to_plain(getattr(self, name)) for name in common}
        return {**compared, **to_plain(dict(self.numbers))}


@dataclass(frozen=True)
class Helper:
    """A metric, or a judge that is a model, whose scores of all outputs helped human scores."""

    name: str
    slope: float
    """How much higher human scores are per standard deviation of the helper's scores, the other helpers held equal."""
    gain: float
    """The helper alone makes differences of systems as precise as this many times the judgments would."""
    scored: int
    """Judgments of outputs that have a score by the helper."""
    unscored: int
    """Judgments of outputs that have none."""


@dataclass(frozen=True)
class Lines:
    """How clusters are separated: the name of the rule and its level."""

    rule: str
    level: float


@dataclass(frozen=True, kw_only=True)
class Ranking(Result):
    """Systems in rank order with rank sets, clusters, and every pair compared."""

    verb: ClassVar[str] = "rank"

    method: str
    kind: Literal["relative", "scores"]
    """Whether systems were compared or scored."""
    unit: str
    """What a score is, for the axis of a chart."""
    difference_unit: str = field(default="", metadata=UNWRITTEN)
    """The unit of score differences, if it has a shorter name."""
    systems: tuple[RankedSystem, ...]
    comparisons: tuple[PairComparison, ...]
    clusters: tuple[tuple[str, ...], ...]
    lines: Lines
    components: tuple[VarianceComponent, ...] = ()
    """The sources of variation of scores, for methods that model them."""
    left_out: tuple[LeftOut, ...] = ()
    """Effects that such a model could not separate from others, and why."""
    helpers: tuple[Helper, ...] = ()
    """Metrics whose scores of all outputs helped the human scores, if any."""
    gain: float | None = None
    """All helpers together are worth this many times the judgments."""
    breakdown: Breakdown | None = None
    """Scores within subsets of the judgments, if requested."""

    @property
    def order(self) -> tuple[str, ...]:
        """The systems' names, the best first."""
        return tuple(system.system for system in self.systems)

    def tables(self) -> tuple[Table, ...]:
        """The ranking with a line between clusters."""
        names = list(dict.fromkeys(name for system in self.systems for name in system.numbers))
        rows = tuple(_row(system, names) for system in self.systems)
        neighbours = zip(self.systems, self.systems[1:], strict=False)
        lines = frozenset(i for i, (above, below) in enumerate(neighbours, start=1) if above.cluster != below.cluster)
        columns = (
            number("rank", 0),
            text("system"),
            number("score", 3, help=f"by {self.method}"),
            span("rank set", help="ranks that the data leave possible", name="rank_set"),
            number("n", 0, help="judgments (or segments) behind the score"),
            *(Column(name.replace("_", " "), help=_MEANINGS.get(name, ""), name=name) for name in names),
        )
        drawn = "Lines separate clusters" if lines else "No line is drawn"
        note = f"{drawn} by the rule '{self.lines.rule}' at {self.lines.level:g}."
        ranking = Table(f"Ranking by {self.method}", columns, rows, note, lines)
        return (
            ranking,
            *self._helpers(),
            *self._spread(),
            *(() if self.breakdown is None else self.breakdown.tables()),
        )

    def _helpers(self) -> tuple[Table, ...]:
        """What helpers are worth, where there are any."""
        if not self.helpers or self.gain is None:
            return ()
        unit = self.difference_unit or "units of the score"
        columns = {
            "name": text("helper"),
            "slope": number(
                "slope", 2, help=f"{unit} per standard deviation of the helper's scores, the others held equal"
            ),
            "gain": number("gain", 2, help="the helper alone is worth this many times the judgments"),
            "scored": number("scored", 0, help="judgments of outputs with a score"),
            "unscored": number("unscored", 0, help="judgments of outputs without a score"),
        }
        note = (
            f"Gains are by each helper alone. All together are worth {self.gain:.2f} times the judgments, an estimate."
        )
        return (tabulate("Helpers: metrics with scores of all outputs", self.helpers, columns, note),)

    def _spread(self) -> tuple[Table, ...]:
        """Where the spread comes from, where the method models it."""
        if not self.components:
            return ()
        judged = "comparisons" if self.kind == "relative" else "scores"
        return (tabulate_components(self.components, self.left_out, judged=judged),)

    def all_tables(self) -> tuple[Table, ...]:
        """The ranking, and every pair of systems."""
        return (*self.tables(), self.comparison_table())

    def comparison_table(self) -> Table:
        """Every pair of systems: difference and p-values."""
        return comparison_table("Pairs of systems", self.comparisons)


def _row(system: RankedSystem, names: Sequence[str]) -> tuple[Cell, ...]:
    numbers = (system.numbers.get(name) for name in names)
    name = shown_name(system.system, system.human)
    return (system.rank, name, system.score, Span(*system.rank_set), system.n, *numbers)
