"""The comparison of campaigns: do they give the same order?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from adjudge.results.result import Result, to_plain
from adjudge.results.table import P_HOLM, Cell, Table, number, p_value, percent, shown_name, tabulate, text

Interval = tuple[float, float]
LEVEL = 0.05


@dataclass(frozen=True)
class ScoreCorrelation:
    """Correlation of scores (Pearson) and of orders (Spearman, Kendall's tau-b), with 95% intervals.

    The intervals say what other annotators and documents could show.
    """

    n: int
    pearson: float
    spearman: float
    kendall: float
    interval: Interval | None
    spearman_interval: Interval | None = None
    kendall_interval: Interval | None = None


@dataclass(frozen=True)
class Flip:
    """A pair that the second campaign orders differently: `better` is the better one in the first."""

    better: str
    worse: str
    p: float | None
    """p-value of the flip: the larger of the two campaigns' one-sided p-values. None if one cannot be tested."""
    p_holm: float | None

    @property
    def certain(self) -> bool:
        """Whether the campaigns contradict each other by more than chance."""
        return self.p_holm is not None and self.p_holm < LEVEL


@dataclass(frozen=True)
class FlipCount:
    """How many pairs flip, and how many would by chance if both campaigns measured the same truth."""

    flips: int
    pairs: int
    expected: float | None
    p: float | None


@dataclass(frozen=True)
class ItemAgreement:
    """Agreement on single translations that both campaigns judged, or on which of two was preferred."""

    n: int
    pearson: float
    kendall: float
    unit: str = "translations"
    """`translations`, or `preferences` between two systems on one segment if a campaign is relative."""
    decided: int | None = None
    """Preferences that are decided in both campaigns."""
    same: float | None = None
    """The share of these for which both prefer the same system."""


@dataclass(frozen=True)
class ComparedSystem:
    """One unit (a system, or a document if there is only one system) with its score and rank in every campaign."""

    system: str
    human: bool
    scores: tuple[float | None, ...]
    ranks: tuple[int | None, ...]


@dataclass(frozen=True)
class CampaignCost:
    """The effort of a campaign, in all and per pair of systems that differ significantly."""

    campaign: str
    method: str
    judgments: int
    minutes: float | None
    certain_pairs: int | None
    judgments_per_certain_pair: float | None
    minutes_per_certain_pair: float | None
    timing: str | None = None
    """The source of the minutes: active time, from start to end, or between answers."""


@dataclass(frozen=True)
class CampaignPair:
    """Two of the campaigns side by side."""

    campaigns: tuple[str, str]
    scores: ScoreCorrelation
    flips: tuple[Flip, ...]
    flip_count: FlipCount
    items: ItemAgreement | None
    verdict: str


@dataclass(frozen=True, kw_only=True)
class CampaignComparison(Result):
    """Two or more campaigns over the same systems."""

    verb: ClassVar[str] = "compare"

    campaigns: tuple[str, ...]
    unit: str
    """The compared units: `systems`, or `documents` or `segments` if the campaigns share only one system."""
    systems: tuple[ComparedSystem, ...]
    pairs: tuple[CampaignPair, ...]
    """Every two campaigns, in the order in which they were given."""
    costs: tuple[CampaignCost, ...]

    @property
    def verdict(self) -> str:
        """The verdict on the first two campaigns."""
        return self.pairs[0].verdict

    def to_dict(self) -> dict[str, Any]:
        """The documented keys: correlation, flips and verdict of the first two campaigns, and all campaign pairs."""
        plain = super().to_dict()
        first: dict[str, Any] = to_plain(self.pairs[0])
        del first["campaigns"]
        return plain | first | {"comparisons": plain.pop("pairs")}

    def tables(self) -> tuple[Table, ...]:
        """Correlations, scores side by side, flips, costs."""
        shown = (self._pairs_table(), self._systems_table(), *self._flip_tables())
        return (*shown, *self._preference_tables(), self._costs_table())

    def _preference_tables(self) -> tuple[Table, ...]:
        """How often two campaigns prefer the same translation, if that can be computed."""
        rows = tuple(
            (*pair.campaigns, pair.items.n, pair.items.decided, pair.items.same)
            for pair in self.pairs
            if pair.items is not None and pair.items.unit == "preferences"
        )
        if not rows:
            return ()
        columns = (
            text("campaign"), text("other campaign"), number("shared preferences", 0), number("decided in both", 0),
            percent("the same"),
        )  # fmt: skip
        note = "On one segment and two systems: is it the same translation that both prefer?"
        return (Table("Preferences compared", columns, rows, note),)

    def _pairs_table(self) -> Table:
        rows: list[tuple[Cell, ...]] = []
        for pair in self.pairs:
            low, high = pair.scores.interval or (None, None)
            count, items = pair.flip_count, pair.items
            rows.append(
                (*pair.campaigns, pair.scores.n, pair.scores.pearson, low, high, pair.scores.spearman,
                 pair.scores.kendall, count.flips, count.expected, count.p, None if items is None else items.pearson)
            )  # fmt: skip
        columns = (
            text("campaign"), text("campaign"), number(self.unit, 0), number("pearson"), number("low"), number("high"),
            number("spearman"), number("kendall"), number("flips", 0),
            number("by chance", 1, help="flips if both campaigns measured the same truth"),
            p_value("p", help="so many flips or more by chance"), number("items", help="Pearson's r over shared items"),
        )  # fmt: skip
        return Table("Campaigns compared", columns, tuple(rows), " ".join(pair.verdict for pair in self.pairs[:1]))

    def _systems_table(self) -> Table:
        rows = tuple(
            (shown_name(system.system, system.human), *system.scores, *system.ranks) for system in self.systems
        )
        columns = (
            text(self.unit.removesuffix("s")),
            *(number(name, 2, help="score") for name in self.campaigns),
            *(number(f"rank in {name}", 0) for name in self.campaigns),
        )
        return Table("Scores side by side", columns, rows)

    def _flip_tables(self) -> tuple[Table, ...]:
        rows = tuple(
            (*pair.campaigns, flip.better, flip.worse, flip.p, flip.p_holm, "yes" if flip.certain else "no")
            for pair in self.pairs
            for flip in pair.flips
        )
        if not rows:
            return ()
        columns = (
            text("campaign"), text("other campaign"), text("better in the first"), text("better in the other"),
            p_value("p"), P_HOLM, text("more than chance"),
        )  # fmt: skip
        return (Table("Pairs that flip", columns, rows),)

    def _costs_table(self) -> Table:
        columns = {
            "campaign": text("campaign"),
            "method": text("scores by"),
            "judgments": number("judgments", 0),
            "minutes": number("minutes", 0),
            "certain_pairs": number(
                "certain pairs", 0, help="told apart by the default ranking after Holm's correction"
            ),
            "judgments_per_certain_pair": number("judgments per certain pair", 0),
            "minutes_per_certain_pair": number("minutes per certain pair", 1),
            "timing": text("minutes are", help="active time, from start to end, or between answers"),
        }
        return tabulate("What each campaign took", self.costs, columns)
