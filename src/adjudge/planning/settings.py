"""What is to be planned: the question asked, what is available, and how scores are thought to vary."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

import numpy as np

from adjudge.evidence.boundaries import SPENDING, Spending
from adjudge.table.errors import UsageError, param, unknown_choice
from adjudge.table.results import Column, Result, Setting, Table, number, percent, tabulate, text
from adjudge.table.rng import DEFAULT_SEED
from adjudge.table.settings import check_least, check_shares, column_names, option, seed_option
from adjudge.table.wording import counted, measured

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from _typeshed import DataclassInstance

    from adjudge.mixed.fit import MixedFit

_Settings = TypeVar("_Settings", bound="DataclassInstance")

STRUCTURES = ("mixed", "all-systems", "pages", "pages-all-systems")
EFFECTS = ("annotator", "annotator:system", "task", "document", "segment", "system:document", "page", "residual")


@dataclass(frozen=True)
class Variances:
    """Standard deviations in points, by effect of the mixed model, of the size found in large shared tasks."""

    sd: Mapping[str, float] = field(
        default_factory=lambda: dict(zip(EFFECTS, (10.0, 3.0, 5.0, 2.0, 6.0, 4.0, 3.0, 18.0), strict=True))
    )
    fitted: bool = False
    resampled: tuple[Variances, ...] = ()
    """What pilots of the same design might have shown instead; none where the variances are assumed."""
    judgments: int = 0
    """How many judgments the variances were estimated from."""

    @property
    def ratios(self) -> dict[str, float]:
        """Variance over residual variance, by effect."""
        residual = self.sd["residual"] ** 2
        return {name: self.sd[name] ** 2 / residual for name in EFFECTS[:-1]}


def variances_like(fit: MixedFit) -> Variances:
    """The variances that a mixed model found in real judgments; of folded effects, the narrowest takes all.

    What annotators of one output share (system:segment, in judgments without documents) is residual where outputs are
    judged once; so is what one annotator thinks of a segment, and of a document part of the page.
    """
    sd = {component.parts[-1]: component.sd for component in fit.components}
    for other, home in (
        ("system:segment", "residual"),
        ("annotator:segment", "residual"),
        ("annotator:document", "page"),
    ):
        sd[home] = float(np.hypot(sd.get(home, 0.0), sd.get(other, 0.0)))
    return Variances({name: sd.get(name, 0.0) for name in EFFECTS}, fitted=True)


@dataclass(frozen=True, kw_only=True)
class PlanSettings:
    """The question, and what there is to answer it with."""

    systems: int = 8
    difference: float = 3.0
    power: float = 0.8
    level: float = 0.05
    comparisons: int | None = None
    annotators: int = 10
    documents: int = 200
    segments: int = 8
    page: int | None = None
    task_size: int = 100
    controls: float = 0.2
    per_item: tuple[int, ...] = (1, 2)
    structures: tuple[str, ...] = STRUCTURES
    seconds: float = 20.0
    draws: int = 30
    looks: int = 5
    """How many looks there are on the way, where goals and policies are compared."""
    spending: Spending = "kim-demets"
    seed: int = DEFAULT_SEED

    def __post_init__(self) -> None:
        check_least(self, 2, "systems", "task_size")
        check_least(self, 1, "annotators", "documents", "segments", "looks")
        check_shares(self, "power", "level", ends=False)
        check_shares(self, "controls", most=0.9)
        if self.spending not in SPENDING:
            raise unknown_choice("spending", self.spending, SPENDING)
        if self.difference <= 0:
            raise UsageError(
                f"{param('difference')} is {self.difference:g}; give the points that matter to you, above 0"
            )
        for name in self.structures:
            if name not in STRUCTURES:
                raise unknown_choice("structure", name, STRUCTURES)

    @property
    def room(self) -> int:
        """Items of work in a task."""
        return max(1, round(self.task_size * (1 - self.controls)))

    @property
    def tests(self) -> int:
        """How many comparisons the level is shared by: all pairs of systems unless set."""
        return self.comparisons or self.systems * (self.systems - 1) // 2

    def as_settings(self) -> dict[str, Setting]:
        """For the signature."""
        plain = {name: value for name, value in vars(self).items() if not isinstance(value, tuple)}
        return {**plain, "per_item": ",".join(map(str, self.per_item)), "structures": ",".join(self.structures)}


_COUNTED = "outputs judged by a person"


def _per_item(given: str | Iterable[int]) -> tuple[int, ...]:
    if not isinstance(given, str):
        return tuple(given)
    try:
        numbers = tuple(int(part) for part in given.split(","))
    except ValueError:
        numbers = (0,)
    if min(numbers) < 1:
        raise UsageError(f"{param('per_item')} is '{given}'; give whole numbers from 1, joined by commas")
    return numbers


@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    """What is to be planned, for scores or relative judgments. What is None depends on the protocol."""

    systems: int = option(PlanSettings.systems, "Number of systems.")
    protocol: Literal["scores", "ranking", "pairwise"] = option(
        "scores", "How annotators judge: scores, ranking of blocks, or pairwise comparison."
    )
    difference: float | None = option(
        None, "Smallest difference to detect. Default: 3 points of 100; for rankings and pairs, 0.3 log-odds."
    )
    block_size: int = option(5, "Rankings: systems per block.")
    power: float = option(PlanSettings.power, "Probability of detecting the difference.")
    level: float = option(PlanSettings.level, "Significance level over all comparisons together.")
    comparisons: int | None = option(
        PlanSettings.comparisons, "Number of comparisons to correct for. Default: all pairs."
    )
    annotators: int = option(PlanSettings.annotators, "Number of annotators.")
    documents: int = option(PlanSettings.documents, "Number of documents available.")
    segments: int = option(PlanSettings.segments, "Segments per document.")
    page: int | None = option(PlanSettings.page, "Largest number of segments on a page. Default: whole documents.")
    task_size: int = option(
        PlanSettings.task_size, "Items per task, controls included. Judgments are counted without controls."
    )
    controls: float = option(PlanSettings.controls, "Share of control items in a task.")
    per_item: tuple[int, ...] = option(
        PlanSettings.per_item,
        "Numbers of judgments per item to try, comma-separated.",
        typed=str,
        python="Iterable[int]",
        about="numbers of judgments per item to try.",
        convert=_per_item,
    )
    structures: tuple[str, ...] = option(
        (),
        "Designs to try, comma-separated. Default: all.",
        typed=str,
        python="Iterable[str]",
        about="designs to try; default: all.",
        convert=column_names,
    )
    seconds: float | None = option(None, "Seconds per judgment (default 20) or per block (default 60).")
    looks: int = option(
        PlanSettings.looks, "Number of looks during the campaign, for the comparison of goals and policies."
    )
    spending: Literal["kim-demets", "obrien-fleming", "pocock"] = option(
        PlanSettings.spending, "How the level is spread over looks."
    )
    draws: int = option(PlanSettings.draws, "Campaigns to simulate with the recommended design; 0 for none.")
    seed: int = seed_option()

    def as_kind(self, kind: type[_Settings]) -> _Settings:
        """The settings of a plan for scores, or for rankings and pairs: those that it has; None keeps its default."""
        asked = {**vars(self), "structures": self.structures or None}
        names = {each.name for each in fields(kind)}
        return kind(**{name: value for name, value in asked.items() if name in names and value is not None})


# The result of planning: how many judgments each design needs to find a difference of a given size.


@dataclass(frozen=True)
class PlanPoint:
    """One design of one size, and what it can find.

    `judgments` counts outputs judged by a person, as everywhere; `controls` are answered besides. `se` is the standard
    error of the difference of two systems (root mean square over pairs), `detectable` the difference detected with the
    requested power.
    """

    structure: str
    judgments_per_item: int
    segments: int
    documents: int
    tasks: int
    judgments: int
    controls: int
    se: float
    power: float
    detectable: float


@dataclass(frozen=True)
class PlanChoice:
    """A design with the size that suffices, or the largest possible where none does."""

    point: PlanPoint
    suffices: bool
    hours_per_annotator: float


@dataclass(frozen=True)
class PlanCheck:
    """The recommended design simulated and ranked: how often true differences were found, and false ones claimed.

    `found` and `claimed` are shares of pairs, `any_claim` the share of campaigns with any false claim; each with a 95%
    interval over campaigns.
    """

    draws: int
    found: float | None
    found_interval: tuple[float, float] | None
    claimed: float | None
    any_claim: float | None
    any_claim_interval: tuple[float, float] | None


@dataclass(frozen=True)
class PlanLooks:
    """The recommended design with looks on the way: judgments that one comparison takes, with the same power."""

    looks: int
    spending: str
    largest: int
    """Where nothing stops the campaign: what is to be planned for."""
    expected: int
    """On average, where the difference is the one asked for."""
    expected_larger: int
    """On average, where it is one and a half times that."""
    expected_none: int
    """On average, where there is no difference."""


@dataclass(frozen=True)
class PlanGoal:
    """What settling a goal takes with a policy and looks, with the power wanted; None where nothing tried suffices.

    Where the goal is `best` or `top:k`, these lead all others by the difference asked for; where it is `pairs`,
    neighbours in the order lie that far apart.
    """

    goal: str
    policy: str
    looks: int
    largest: int | None
    """Where nothing stops the campaign: what is to be planned for."""
    expected: int | None
    """On average, where the difference is the one asked for."""
    expected_larger: int | None
    """On average, where it is one and a half times that."""
    expected_none: int | None
    """On average, where all systems are equal."""


@dataclass(frozen=True)
class PlanSelection:
    """The recommended design with segments chosen by probability: judgments of the same precision."""

    spread_cv: float
    """Standard deviation of the spreads by which segments are chosen, in units of their mean."""
    assumed: bool
    """Whether the spreads are assumed, and not given."""
    even: int
    """Without choosing."""
    expected: int
    """Where differences between systems vary from segment to segment just as the spread."""
    largest: int
    """Where the spread tells nothing of them."""


@dataclass(frozen=True)
class PeopleChoice:
    """The recommended design with other numbers of people and judgments, and what it finds with the power wanted."""

    annotators: int
    judgments_per_item: int
    judgments: int
    controls: int
    se: float
    detectable: float


@dataclass(frozen=True)
class PilotDoubt:
    """What the uncertainty of a pilot leaves open: 90% intervals.

    `times` is how many times the size of the recommended design may be needed, `power` the power that it may have.
    """

    pilots: int
    judgments: int
    times: tuple[float, float]
    power: tuple[float, float]


@dataclass(frozen=True)
class GoldPlan:
    """How many different people must judge each output for gold scores of a reliability (`adjudge gold`)."""

    level: str
    """`documents` (each judged in whole by a person) or `segments`."""
    reliability: float
    people: int
    judgments: int
    """For one document (or segment) of one system."""


RELIABILITIES = (0.7, 0.8, 0.9)


def plan_gold(settings: PlanSettings, variances: Variances) -> tuple[GoldPlan, ...]:
    """The people that gold scores need: the reliability of n people is S / (S + N / n), with signal S and noise N.

    Signal is what an output of a system has to itself; strictness is taken off by z-scores, tastes are not.
    """
    square = {name: sd**2 for name, sd in variances.sd.items()}
    of_person = square["annotator:system"] + square["page"]
    found = []
    for level, segments in (("documents", settings.segments), ("segments", 1)):
        signal = square["document"] + square["system:document"] + square["segment"] / segments
        noise = of_person + square["residual"] / segments
        for wanted in RELIABILITIES if signal > 0 else ():
            people = max(1, ceil(wanted / (1 - wanted) * noise / signal))
            found.append(GoldPlan(level, wanted, people, people * segments))
    return tuple(found)


@dataclass(frozen=True, kw_only=True)
class Plan(Result):
    """What every design needs. `choices` are sorted, the least work first; the first one is recommended."""

    verb: ClassVar[str] = "plan"

    difference: float
    power: float
    level: float
    comparisons: int
    annotators: int
    choices: tuple[PlanChoice, ...]
    curve: tuple[PlanPoint, ...]
    spread: dict[str, float]
    """Standard deviations assumed, in points, by effect."""
    checked: PlanCheck | None = None
    looks: tuple[PlanLooks, ...] = ()
    """What planned looks would save; nothing where no design suffices."""
    goals: tuple[PlanGoal, ...] = ()
    """What settling the best system, the top, or all pairs takes, by policy; nothing where no design suffices."""
    selection: PlanSelection | None = None
    """What choosing segments by probability would take; None where no design suffices."""
    people: tuple[PeopleChoice, ...] = ()
    """The first of the choices as it is, with twice the people, and with twice the judgments by the same people."""
    gold: tuple[GoldPlan, ...] = ()
    """What gold scores of documents and segments need."""
    pilot: PilotDoubt | None = None
    """Where the spread comes from a pilot: how far its size can be trusted."""

    @property
    def recommended(self) -> PlanChoice | None:
        """The design that suffices with the least work; None where none does."""
        return next((choice for choice in self.choices if choice.suffices), None)

    def tables(self) -> tuple[Table, ...]:
        """What each design needs, what was assumed, and the simulated check."""
        tables = [self._choices(), self._assumed()]
        if self.people:
            tables.insert(1, self._people())
        if self.checked is not None:
            tables.append(self._check(self.checked))
        if self.looks:
            tables.append(self._looks())
        if self.goals:
            tables.append(_goals_table(self.goals))
        if self.selection is not None:
            tables.append(_selection_table(self.selection))
        if self.gold:
            tables.append(_gold_table(self.gold))
        return tuple(tables)

    def _choices(self) -> Table:
        columns: dict[Any, Column] = {
            lambda one: one.point.structure: text("structure"),
            lambda one: one.point.judgments_per_item: number("per item", 0, help="different people who judge an item"),
            lambda one: "yes" if one.suffices else "no": text("suffices"),
            lambda one: one.point.judgments: number("judgments", 0, help=_COUNTED),
            lambda one: one.point.controls: number("controls", 0, help="answers to controls besides"),
            lambda one: one.point.tasks: number("tasks", 0),
            lambda one: one.point.segments: number("segments", 0),
            lambda one: one.point.documents: number("documents", 0),
            "hours_per_annotator": number("hours each", 1, help="work of each annotator"),
            lambda one: one.point.se: number("se", 2, help="standard error of the difference of two systems"),
            lambda one: one.point.power: percent("power", 0),
            lambda one: one.point.detectable: number(
                "detectable", 2, help="difference detected with the requested power"
            ),
        }
        note = (
            f"To find a difference of {measured(self.difference, 'point')} with power {self.power:.0%}, "
            f"{counted(self.annotators, 'annotator')}, {counted(self.comparisons, 'comparison')} at level "
            f"{self.level:g}."
        )
        return tabulate("What each design needs", self.choices, columns, note)

    def _looks(self) -> Table:
        columns = {"looks": number("looks", 0), "spending": text("spending")}
        columns |= _until_settled("there is no difference")
        note = "Judgments until 'adjudge look' settles one comparison, at its share of the level and the same power."
        return tabulate("With looks on the way", self.looks, columns, note)

    def _people(self) -> Table:
        columns = {
            "annotators": number("people", 0),
            "judgments_per_item": number("per item", 0, help="different people who judge an item"),
            "judgments": number("judgments", 0, help=_COUNTED),
            "controls": number("controls", 0, help="answers to controls besides"),
            "se": number("se", 2, help="standard error of the difference of two systems"),
            "detectable": number("detectable", 2, help="difference detected with the requested power"),
        }
        return tabulate("More people or more judgments", self.people, columns)

    def _assumed(self) -> Table:
        columns = (text("effect"), number("points", 2))
        return Table("Standard deviations assumed", columns, tuple(self.spread.items()))

    def _check(self, checked: PlanCheck) -> Table:
        def interval(pair: tuple[float, float] | None) -> str:
            return "" if pair is None else f"{pair[0]:.0%} to {pair[1]:.0%}"

        rows = (
            ("differences found", checked.found, interval(checked.found_interval)),
            ("equal pairs called different", checked.claimed, ""),
            ("campaigns with any such claim", checked.any_claim, interval(checked.any_claim_interval)),
        )
        columns = (text("what"), percent("share"), text("95% interval"))
        return Table(f"The recommended design, simulated {counted(checked.draws, 'time')}", columns, rows)


def _gold_table(gold: tuple[GoldPlan, ...]) -> Table:
    columns: dict[Any, Column] = {
        "level": text("of"), "reliability": number("reliability", 1),
        "people": number("people", 0, help="different people who judge each output"),
        "judgments": number("judgments", 0, help="for one document, or segment, of one system"),
    }  # fmt: skip
    note = (
        "Reliability is the correlation to expect with a second campaign of the same size; 'adjudge gold' measures it."
    )
    return tabulate("For gold scores of single outputs", gold, columns, note)


def _until_settled(none: str) -> dict[str, Column]:
    """Judgments until something is settled; `none` says what it is like where there is nothing to find."""
    return {
        "largest": number("largest", 0, help="judgments to plan for: where nothing stops the campaign"),
        "expected": number("at the difference", 0, help="on average, where the difference is the one asked for"),
        "expected_larger": number("at 1.5 times it", 0),
        "expected_none": number("at none", 0, help=f"on average, where {none}"),
    }


def _goals_table(goals: tuple[PlanGoal, ...]) -> Table:
    columns = {"goal": text("goal"), "policy": text("policy"), "looks": number("looks", 0)}
    note = "Simulated with the precision of the recommended design; empty where eight times its size do not suffice."
    columns |= _until_settled("all systems are equal")
    return tabulate("Until a goal is settled, by policy", goals, columns, note)


def _selection_table(selection: PlanSelection) -> Table:
    rows = (
        ("drawn evenly", selection.even),
        ("chosen, and the spread tells where systems differ", selection.expected),
        ("chosen, and the spread tells nothing", selection.largest),
    )
    what = "assumed" if selection.assumed else "as given"
    varied = f"{selection.spread_cv:.0%} of their mean ({what})"
    note = f"Judgments of the same precision; spreads of segments vary by {varied}."
    return Table("With segments chosen by probability", (text("segments"), number("judgments", 0)), rows, note)
