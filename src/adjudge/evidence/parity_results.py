"""The result of asking whether systems are at human parity, and whether the claim survives a clean test set."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from adjudge.evidence.verdict_human import (
    PARITY_VERDICTS,
    BesideRanking,
    ParityVerdict,
    explain_parity,
    say_parity,
)
from adjudge.table.results import (
    P_HOLM,
    UNWRITTEN,
    Cell,
    Result,
    Table,
    number,
    p_value,
    percent,
    shown_name,
    text,
    to_plain,
)
from adjudge.table.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from adjudge.evidence.conditions import Conditions


Interval = tuple[float, float]


@dataclass(frozen=True)
class Change:
    """A figure of one system before and after: the difference with its 95% interval by resampling documents."""

    system: str
    measure: str
    part: str
    before: float
    after: float
    difference: float
    interval: Interval
    p: float
    """Two-sided: before and after exchanged at random, document by document."""


@dataclass(frozen=True)
class ModelChange:
    """The change of a system's distance from the human by a model that allows for annotators, documents and tastes."""

    system: str
    part: str
    """The segments: `all`, `contaminated`, `untouched`, or `beyond untouched`, the difference of the last two."""
    change: float
    """In points of the scores, or in log-odds of ranks."""
    se: float
    interval: Interval
    p: float
    p_holm: float
    """Corrected for all systems, within the part."""


@dataclass(frozen=True)
class ParityChange:
    """What becomes of parity between two versions of a test set."""

    before: tuple[ParityPart, ...]
    changes: tuple[Change, ...]
    difference_in_differences: tuple[Change, ...]
    """The change on contaminated segments beyond the change on untouched ones."""
    units: int
    unit: str
    by_model: tuple[ModelChange, ...] = ()


def model_table(changes: tuple[ModelChange, ...]) -> Table:
    """The changes of distances from the human, one line each."""
    rows = tuple(
        (change.system, change.part, change.change, f"{change.interval[0]:+.2f} to {change.interval[1]:+.2f}",
         change.p, change.p_holm)
        for change in changes
    )  # fmt: skip
    columns = (text("system"), text("segments"), number("change", 2), text("95% interval"), p_value("p"), P_HOLM)
    note = (
        "How much closer to the human a system is after than before, in points of scores or log-odds of ranks, with "
        "annotators, documents and tastes allowed for. 'beyond untouched' is the difference in differences."
    )
    return Table("Change of the distance from the human, by the model", columns, rows, note)


def change_table(change: ParityChange) -> Table:
    """Every figure before and after."""
    rows: list[tuple[Cell, ...]] = []
    for figure in (*change.changes, *change.difference_in_differences):
        unit = 100 if figure.measure == "parity_share" else 1
        low, high = (f"{unit * limit:+.2f}" for limit in figure.interval)
        values = (unit * value for value in (figure.before, figure.after, figure.difference))
        rows.append(
            (figure.system, figure.measure.replace("_", " "), figure.part, *values, f"{low} to {high}", figure.p)
        )
    columns = (
        text("system"),
        text("measure", help="parity share in percentage points"),
        text("segments"),
        number("before", 2),
        number("after", 2),
        number("change", 2),
        text("95% interval"),
        p_value("p", help="before and after exchanged at random within documents"),
    )
    note = (
        f"Intervals by resampling {change.units} {change.unit}, before and after together. "
        "'beyond untouched' is the change on contaminated segments minus the change on untouched ones."
    )
    return Table("Change from before to after", columns, tuple(rows), note)


Part = Literal["all", "contaminated", "untouched"]
LEVEL = 0.05


@dataclass(frozen=True)
class Contrast:
    """System minus human by the mixed model, in points; `p_equivalence` where a margin was given."""

    difference: float
    se: float
    interval: Interval
    p: float
    margin: float | None = None
    p_equivalence: float | None = None
    p_holm: float | None = None
    """p corrected for all systems (Holm)."""
    p_equivalence_holm: float | None = None

    @property
    def corrected_p(self) -> float:
        """P corrected for all systems, where several were tested."""
        return self.p if self.p_holm is None else self.p_holm

    @property
    def shows_parity(self) -> bool:
        """Whether the difference is surely within the margin; never beside a significant difference beyond it."""
        p = self.p_equivalence if self.p_equivalence_holm is None else self.p_equivalence_holm
        if self.margin is None or p is None or p > LEVEL:
            return False
        return self.p > LEVEL or abs(self.difference) <= self.margin


@dataclass(frozen=True)
class SystemParity:
    """One system against the human: how often it was better, as good and worse."""

    system: str
    human: bool
    mt_better: int
    tie: int
    human_better: int
    n: int
    p: float
    """Two-sided binomial test of the system against the human."""
    p_holm: float
    parity_share: float
    """Share of judgments in which the system is at least as good."""
    interval: Interval
    """95% interval of the share, resampling documents."""
    lead: float
    """Share better minus share worse; 0 where both are equally good."""
    lead_interval: Interval
    rank_points: float | None
    """Mean of candidates + 1 - rank."""
    mean_score: float | None
    contrast: Contrast | None = None
    p_people: float | None = None
    """For ranks by two named people or more: p with annotators' tastes allowed for, corrected for all systems."""
    in_ranking: bool | None = None
    """Whether a ranking of all pairs decides between the system and the human; None where that is not known."""

    @property
    def verdict(self) -> ParityVerdict:
        """What the model of scores says where there is one, else what three tests agree on.

        They are the sign test (Holm), the interval over documents, and the test that allows for annotators' tastes,
        where people are named.

        `at parity` needs evidence: a difference that is surely smaller than the margin.
        """
        if self.contrast is not None and self.contrast.shows_parity:
            return "at parity"
        low, high = self.lead_interval if self.contrast is None else self.contrast.interval
        p = max(self.p_holm, self.p_people or 0.0) if self.contrast is None else self.contrast.corrected_p
        if p <= LEVEL and high < 0:
            return "below the human"
        return "above the human" if p <= LEVEL and low > 0 else "not told apart"

    def to_dict(self) -> dict[str, Any]:
        """The documented keys, with the verdict."""
        return {**{name: to_plain(getattr(self, name)) for name in self.__dataclass_fields__}, "verdict": self.verdict}


@dataclass(frozen=True)
class ParityPart:
    """All systems on all segments, on the contaminated ones, or on the others."""

    part: Part
    judgments: int
    segments: int
    systems: tuple[SystemParity, ...]
    human_rank_points: float | None
    human_mean_score: float | None


@dataclass(frozen=True)
class GroupAgreement:
    """Two annotators on what both judged: Cohen's kappa over rank numbers, and over preferences."""

    annotators: tuple[str, str]
    segments: int
    kappa_ranks: float
    kappa_preferences: float


@dataclass(frozen=True, kw_only=True)
class Parity(Result):
    """Is a system at human parity? With two versions of a test set, `parts` is the later one."""

    verb: ClassVar[str] = "parity"

    human: str
    parts: tuple[ParityPart, ...]
    agreement: tuple[GroupAgreement, ...] = ()
    change: ParityChange | None = None
    annotators: int | None = None
    """How many people judged, where they are named."""
    conditions: Conditions | None = None
    """Under which they judged."""
    pairs: int = field(default=0, metadata=UNWRITTEN)
    """Of all systems, for which a ranking corrects."""

    @property
    def first_lines(self) -> tuple[str, ...]:
        """The verdict that matters most, the others, and under which conditions they stand."""
        names = {
            verdict: [system.system for system in self.systems if system.verdict == verdict]
            for verdict in PARITY_VERDICTS
        }
        given = {verdict: systems for verdict, systems in names.items() if systems}
        margin, beside = margin_of(self.systems), self._beside_the_ranking
        return say_parity(given, self.human, margin, self.annotators, conditions=self.conditions, beside=beside)

    @property
    def _beside_the_ranking(self) -> BesideRanking:
        """What a ranking of all pairs leaves open of this, and what it decides besides."""
        apart = ("above the human", "below the human")
        known = [system for system in self.systems if system.in_ranking is not None]
        return BesideRanking(
            tuple(system.system for system in known if system.verdict in apart and not system.in_ranking),
            tuple(system.system for system in known if system.verdict == "not told apart" and system.in_ranking),
            pairs=self.pairs,
            scores=self.parts[0].human_mean_score is not None,
        )

    @property
    def systems(self) -> tuple[SystemParity, ...]:
        """The systems on all segments."""
        return self.parts[0].systems

    @property
    def mean_kappa(self) -> tuple[float, float] | None:
        """Mean kappa of all groups, over rank numbers and over preferences."""
        if not self.agreement:
            return None
        ranks, preferences = (
            [value for group in self.agreement if math.isfinite(value := getattr(group, name))]
            for name in ("kappa_ranks", "kappa_preferences")
        )
        return (fmean(ranks) if ranks else math.nan), (fmean(preferences) if preferences else math.nan)

    def to_dict(self) -> dict[str, Any]:
        """The documented keys: the systems on all segments under `systems`, other parts under their own names."""
        plain = super().to_dict()
        del plain["parts"], plain["agreement"], plain["change"]
        plain |= to_plain({"systems": self.systems, **{part.part: part for part in self.parts}})
        if self.agreement:
            ranks, preferences = self.mean_kappa or (None, None)
            means = {"mean_kappa_ranks": ranks, "mean_kappa_preferences": preferences}
            plain["agreement"] = to_plain({**means, "groups": self.agreement})
        if self.change is not None:
            change = self.change
            plain["before"] = to_plain({part.part: part for part in change.before})
            plain["change"] = to_plain(change.changes)
            plain["difference_in_differences"] = to_plain(change.difference_in_differences)
            plain["model_change"] = to_plain(change.by_model)
        return plain

    def tables(self) -> tuple[Table, ...]:
        """The change first where there is one, then every part, then agreement."""
        tables: list[Table] = []
        later = "" if self.change is None else ", after"
        if self.change is not None:
            tables.append(change_table(self.change))
            tables += [model_table(self.change.by_model)] if self.change.by_model else []
        tables += [_part_table(part, self.human, later) for part in self.parts]
        if self.change is not None:
            tables += [_part_table(part, self.human, ", before") for part in self.change.before]
        if self.agreement:
            tables.append(self._agreement_table())
        return tuple(tables)

    def _agreement_table(self) -> Table:
        groups = sorted(self.agreement, key=lambda group: -group.segments)
        rows = [(*group.annotators, group.segments, group.kappa_ranks, group.kappa_preferences) for group in groups]
        means = self.mean_kappa or (None, None)
        columns = (text("annotator"), text("annotator"), number("segments", 0), number("kappa of ranks"),
                   number("kappa of preferences"))  # fmt: skip
        return Table("Agreement", columns, (*rows, ("mean", "", None, *means)), "Cohen's kappa, unweighted.")


def _part_table(part: ParityPart, human: str, when: str) -> Table:
    scores = part.human_mean_score is not None
    modelled = any(system.contrast is not None for system in part.systems)
    people = any(system.p_people is not None for system in part.systems)
    rows: list[tuple[Cell, ...]] = []
    for system in part.systems:
        worth = system.mean_score if scores else system.rank_points
        counts = (system.mt_better, system.tie, system.human_better, system.n, system.p, system.parity_share)
        model = _model_cells(system.contrast)[: 3 * modelled]
        name = shown_name(system.system, system.human)
        rows.append((name, *counts, _span(system.interval), worth, *[system.p_people] * people, *model, system.verdict))
    worth = part.human_mean_score if scores else part.human_rank_points
    rows.append((shown_name(human, human=True), *[None] * 7, worth, *[None] * (people + 3 * modelled), None))
    columns = (
        text("system"),
        number("better", 0, help="judgments in which the system is better than the human"),
        number("tie", 0),
        number("worse", 0),
        number("n", 0),
        p_value("p", help="two-sided binomial test"),
        percent("parity share", help="better or tie"),
        text("95% interval", help="by resampling documents"),
        number("mean score", 2) if scores else number("rank points", 4),
        *([p_value("p, other people", help="annotators' tastes allowed for; corrected for all systems")] * people),
        *(
            number("difference", 2, help="system minus human by the mixed model, in points"),
            text("95% interval"),
            p_value("p of equivalence", help="small where the difference is surely within the margin"),
        )[: 3 * modelled],
        text("verdict"),
    )
    return Table(f"Against {human}{when}: {part.part} segments", columns, tuple(rows), _part_note(part))


def _part_note(part: ParityPart) -> str:
    """How much was judged, and what the verdicts mean."""
    unit = "judgment" if part.human_mean_score is None else "segment"
    most = "" if len({system.n for system in part.systems}) == 1 else "at most "
    apart = "" if unit == "segment" and not most else f", {counted(part.segments, 'segment')}"
    note = f"{most}{counted(part.judgments, unit)} per system{apart}.".capitalize()
    as_they_are = "Counts, p, share and mean score are of the judgments as they are."
    modelled = f"{as_they_are} Difference and verdict allow for who judged what. "
    known = any(system.contrast is not None for system in part.systems)
    return f"{note} {modelled if known else ''}{explain_parity(margin_of(part.systems))}"


def margin_of(systems: Iterable[SystemParity]) -> float | None:
    """The margin within which systems are at parity, where one was given."""
    contrasts = (system.contrast for system in systems if system.contrast is not None)
    return next((contrast.margin for contrast in contrasts if contrast.margin is not None), None)


def _model_cells(contrast: Contrast | None) -> tuple[Cell, Cell, Cell]:
    if contrast is None:
        return None, None, None
    low, high = contrast.interval
    return contrast.difference, f"{low:+.2f} to {high:+.2f}", contrast.p_equivalence


def _span(interval: Interval) -> str:
    low, high = (f"{100 * limit:.1f}" for limit in interval)
    return f"{low} to {high}"
