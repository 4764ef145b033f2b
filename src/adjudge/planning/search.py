"""The least work that suffices: sizes tried in steps, then narrowed down, for every structure."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from adjudge.campaigns.adaptive import Adaptive, shares_by_pairs
from adjudge.campaigns.allocation import assign_people
from adjudge.campaigns.campaign_file import PAGES, Campaign, Context, Design, Files, Languages, TextFile
from adjudge.campaigns.design import draft_work
from adjudge.campaigns.segment_selection import EVEN
from adjudge.evidence.boundaries import Spending, boundaries, crossing, spent
from adjudge.evidence.look_claims import Goal, parse_goal
from adjudge.mixed.design import MixedDesign, combine, find_model
from adjudge.mixed.effects import TASTE, identify
from adjudge.mixed.fit import Prepared, prepare
from adjudge.planning.settings import (
    PeopleChoice,
    PilotDoubt,
    PlanChoice,
    PlanGoal,
    PlanPoint,
    PlanSelection,
    variances_like,
)
from adjudge.table.errors import AdjudgeError, DataError, UsageError, param
from adjudge.table.judgments import renumber
from adjudge.table.maths import normal_quantile, student_below, student_quantile, student_tail
from adjudge.table.rng import DEFAULT_SEED, generator
from adjudge.table.texts import SourceSegment, TestSet
from adjudge.table.wording import counted
from adjudge.work.tasks import map_tasks

if TYPE_CHECKING:
    from collections.abc import Callable

    from adjudge.planning.settings import PlanSettings, Variances
    from adjudge.table.maths import Bools, Codes, Floats


# A design without texts: who would judge what, as codes for the mixed model and for the simulator.

_PEOPLE = 3001
_NOWHERE = Path("nowhere")


@dataclass(frozen=True, eq=False)
class Layout:
    """One entry per output of a task: codes of task, screen, document, segment and system; all tasks done once."""

    structure: str
    tasks: int
    task: Codes
    screen: Codes
    document: Codes
    segment: Codes
    system: Codes
    seed: int

    @property
    def segments(self) -> int:
        """Segments that are judged."""
        return len(np.unique(self.segment))

    @property
    def documents(self) -> int:
        """Documents that are judged."""
        return len(np.unique(self.document))

    def judgments(self, per_item: int) -> int:
        """Outputs judged by a person, if each task is done by `per_item` people; controls are counted apart."""
        return len(self.task) * per_item

    def controls(self, settings: PlanSettings, per_item: int) -> int:
        """Answers to controls besides."""
        return self.tasks * per_item * (settings.task_size - settings.room)

    def rows(self, people: int, per_item: int) -> dict[str, Codes]:
        """Codes of every judgment when each task is done by `per_item` of the people."""
        names = [str(i) for i in range(people)]
        teams = assign_people(self.tasks, names, judgments=per_item, rng=generator(self.seed, _PEOPLE))
        row = np.tile(np.arange(len(self.task)), per_item)
        turn = np.repeat(np.arange(per_item), len(self.task))
        team = np.array([[int(name) for name in names_of_team] for names_of_team in teams], dtype=np.int64)
        annotator = team[self.task[row], turn]
        return {
            "annotator": annotator,
            "task": combine(self.task[row], annotator),
            "screen": combine(self.screen[row], annotator),
            "document": self.document[row],
            "segment": self.segment[row],
            "system": self.system[row],
        }


def make_layout(settings: PlanSettings, structure: str, segments: int) -> Layout:
    """Design tasks for this many segments, with texts made up for the purpose."""
    testset = _made_up_texts(settings.documents, settings.segments, settings.systems)
    campaign = Campaign(
        name="plan",
        protocol="da",
        seed=settings.seed,
        languages=Languages(source="und", target="und"),
        files=Files(source=TextFile(file=_NOWHERE), systems={"s": TextFile(file=_NOWHERE)}),
        design=Design(
            structure="pages-same-documents" if structure == "pages" else structure,  # type: ignore[arg-type]
            task_size=settings.room,
            segments=segments if segments < len(testset) else None,
        ),
        context=Context(max_segments=settings.page),
    )
    drafts = draft_work(campaign, testset)
    rows = [
        (number, screen.key, item.index, int(item.outputs[0].systems[0]))
        for number, runs in enumerate(drafts) for run in runs for screen in run for item in screen.items
    ]  # fmt: skip
    task, screen_key, segment, system = np.array(rows, dtype=np.int64).T
    document = renumber(segment // settings.segments)
    return Layout(
        structure, len(drafts), task, renumber(screen_key), document, renumber(segment), system, settings.seed
    )


@lru_cache(maxsize=1)
def _made_up_texts(documents: int, segments: int, systems: int) -> TestSet:
    """Texts that differ everywhere, so that nothing is judged once for several systems."""
    lines = range(documents * segments)
    source = tuple(SourceSegment(str(i // segments), str(i), "x") for i in lines)
    return TestSet(source, {}, {str(system): tuple(f"{system}.{i}" for i in lines) for system in range(systems)})


def mixed_design(rows: dict[str, Codes], systems: int, score: Floats) -> MixedDesign:
    """The table of the mixed model with these scores."""
    screens = rows["screen"]
    single = len(np.unique(screens)) == len(screens)
    page = combine(rows["task"], rows["system"], rows["document"]) if single else screens
    return MixedDesign(
        score=score,
        systems=tuple(str(s) for s in range(systems)),
        human=np.zeros(systems, dtype=bool),
        system=rows["system"],
        annotator=renumber(rows["annotator"]),
        task=rows["task"],
        document=rows["document"],
        segment=rows["segment"],
        page=page,
        row=np.arange(len(score)),
        annotator_system=combine(rows["annotator"], rows["system"]),
        model=find_model("mixed-points"),
    )


# How precisely a design measures differences: exact for known variances, so that nothing needs to be simulated.
#
# The covariance of system effects in a mixed model depends on who judges what and on the variances, not on the
# scores. With the standard error se of a difference d, the power of a two-sided test at level a shared by m
# comparisons is about P(T > t(1 - a/2m) - d/se), T having the degrees of freedom of the difference.

DRAWS = 4
_SCORES = 3002


@dataclass(frozen=True, eq=False)
class Precision:
    """Standard errors and degrees of freedom of the difference of every pair of systems."""

    se: Floats
    df: Floats

    @property
    def typical(self) -> float:
        """Root mean square of the standard errors."""
        return float(np.sqrt((self.se**2).mean()))

    def power(self, difference: float, level: float) -> float:
        """The chance to find a difference, mean over pairs; `level` is that of a single comparison."""
        return float(student_tail(student_quantile(level / 2, self.df) - difference / self.se, self.df).mean())

    def detectable(self, power: float, level: float) -> float:
        """The difference that is found with this power, for a pair of typical precision."""
        df = float(np.median(self.df))
        return float(self.typical * (student_quantile(level / 2, df) + student_below(power, df)))


def measure(layout: Layout, settings: PlanSettings, variances: Variances, per_item: int) -> Precision:
    """The precision of a design whose tasks are each done by `per_item` people."""
    rows = layout.rows(settings.annotators, per_item)
    systems = settings.systems
    design = mixed_design(rows, systems, np.zeros(len(rows["system"])))
    prepared = prepare(design)
    ratios = variances.ratios
    drawn = [_draw_scores(prepared, variances, generator(settings.seed, _SCORES, number)) for number in range(DRAWS)]
    models = prepared.refits(drawn, ratios)
    # Effects that the design cannot separate from the residual are part of it.
    residual = variances.sd["residual"] ** 2 * (
        1 + sum(ratios.get(effect, 0.0) for effect in prepared.effects.in_residual)
    )
    covariance = models[0].covariance * residual / models[0].components[-1].sd ** 2
    first, second = np.triu_indices(systems, 1)
    alone = np.diag(covariance)
    variance = alone[first] + alone[second] - 2 * covariance[first, second]
    # The errors are exact; the degrees of freedom depend a little on the scores, so several draws are averaged.
    df = 1 / np.mean([1 / model.df[first, second] for model in models], axis=0)
    return Precision(np.sqrt(variance), df)


def _draw_scores(prepared: Prepared, variances: Variances, rng: np.random.Generator) -> Floats:
    """Draw scores from the variances: a fit needs some, and its degrees of freedom depend a little on them."""
    score = rng.standard_normal(len(prepared.design))
    for effect, ratio in zip(prepared.effects.kept, prepared.effects.ratios(variances.ratios), strict=True):
        score += np.sqrt(ratio) * rng.standard_normal(effect.levels)[effect.codes]
    return score


STEPS = 4
NARROWINGS = 4
CLOSE_ENOUGH = 1.06
"""A size is narrowed down until it is at most so many times one that does not suffice."""


class Search:
    """Tries designs and remembers them: a layout is made once, however many people do it."""

    def __init__(self, settings: PlanSettings, variances: Variances) -> None:
        self.settings, self.variances = settings, variances
        self.layouts: dict[tuple[str, int], Layout] = {}
        self.points: dict[tuple[str, int, int], PlanPoint] = {}

    def layout(self, structure: str, segments: int) -> Layout:
        """The layout of a structure for so many segments."""
        key = (structure, segments)
        if key not in self.layouts:
            self.layouts[key] = make_layout(self.settings, structure, segments)
        return self.layouts[key]

    def point(self, structure: str, per_item: int, segments: int) -> PlanPoint:
        """Compute what a structure of this size can find."""
        key = (structure, per_item, segments)
        if key not in self.points:
            settings, layout = self.settings, self.layout(structure, segments)
            precision = measure(layout, settings, self.variances, per_item)
            level = settings.level / settings.tests
            self.points[key] = PlanPoint(
                structure=structure,
                judgments_per_item=per_item,
                segments=layout.segments,
                documents=layout.documents,
                tasks=layout.tasks * per_item,
                judgments=layout.judgments(per_item),
                controls=layout.controls(settings, per_item),
                se=precision.typical,
                power=precision.power(settings.difference, level),
                detectable=precision.detectable(settings.power, level),
            )
        return self.points[key]

    def least(self, structure: str, per_item: int) -> PlanChoice:
        """The smallest size with the power wanted, or the largest there is."""
        most = self.settings.documents * self.settings.segments
        small, large = None, None
        # Sizes from an eighth of what there is, doubling.
        for segments in sorted({self._rounded(structure, most / 2**step) for step in range(STEPS)}):
            if self.point(structure, per_item, segments).power >= self.settings.power:
                large = segments
                break
            small = segments
        if large is None:
            return self._choice(self.point(structure, per_item, most), suffices=False)
        for _ in range(NARROWINGS):
            if small is None or large <= CLOSE_ENOUGH * small:
                break
            guess = self._guess(structure, per_item, small, large)
            # A little beyond the guess on either side in turn, so that both bounds close in on it.
            middle = self._rounded(structure, guess * 1.02 if large > 1.04 * guess else guess / 1.03)
            if not small < middle < large:
                middle = self._rounded(structure, math.sqrt(small * large))
            if middle in (small, large):
                break
            enough = self.point(structure, per_item, middle).power >= self.settings.power
            small, large = (small, middle) if enough else (middle, large)
        return self._choice(self.point(structure, per_item, large), suffices=True)

    def _guess(self, structure: str, per_item: int, small: int, large: int) -> float:
        """The size that would just suffice: squares of what is detectable fall about linearly in 1 / size."""
        below, above = (self.point(structure, per_item, size).detectable ** 2 for size in (small, large))
        steps = (below - self.settings.difference**2) / max(below - above, 1e-12)
        return 1 / (1 / small - float(np.clip(steps, 0.02, 0.98)) * (1 / small - 1 / large))

    def _rounded(self, structure: str, segments: float) -> int:
        """Round to whole documents where pages are judged."""
        if structure not in PAGES:
            return max(2, round(segments))
        return max(2, round(segments / self.settings.segments)) * self.settings.segments

    def _choice(self, point: PlanPoint, *, suffices: bool) -> PlanChoice:
        hours = (point.judgments + point.controls) * self.settings.seconds / 3600 / self.settings.annotators
        return PlanChoice(point, suffices, hours)


def search(settings: PlanSettings, variances: Variances) -> tuple[list[PlanChoice], Search]:
    """The choice for every structure and number of judgments per item, the least work first."""

    def search_structure(structure: str) -> tuple[list[PlanChoice], list[AdjudgeError], Search]:
        found: list[PlanChoice] = []
        faults: list[AdjudgeError] = []
        trials = Search(settings, variances)
        for per_item in settings.per_item:
            if per_item <= settings.annotators:
                try:
                    found.append(trials.least(structure, per_item))
                except AdjudgeError as fault:
                    faults.append(fault)
        return found, faults, trials

    searched = map_tasks(search_structure, settings.structures, what="designs")
    choices = [choice for found, _, _ in searched for choice in found]
    if not choices:
        people = counted(settings.annotators, "annotator")
        too_many = UsageError(f"{param('per_item')} asks for more judgments than the {people} can give; ask for fewer")
        raise next((fault for _, faults, _ in searched for fault in faults), too_many)
    every = Search(settings, variances)
    for _, _, trials in searched:
        every.layouts |= trials.layouts
        every.points |= trials.points
    choices.sort(key=_worth)
    return choices, every


def _worth(choice: PlanChoice) -> tuple[bool, float, float]:
    """Those that suffice first, the least work first; then the others, the most precise first."""
    point = choice.point
    work = point.judgments + point.controls
    return (not choice.suffices, work if choice.suffices else point.detectable, point.detectable)


# More people or more judgments? And how far a pilot can be trusted.
#
# Tastes average out over people only: the variance of a difference never falls below 2 taste^2 / people, however much
# each of them judges. A pilot knows the variances, and tastes most of all, only roughly; what that means for the size
# of the campaign is found by drawing pilots like it from its own variances (a parametric bootstrap).

PILOTS = 24
TOLD = 4
"""After so many pilots it is told again how many are done."""
MOST_PEOPLE = 10_000
_STREAM = 3004
_QUANTILES = (0.05, 0.95)


def pilot_variances(
    design: MixedDesign,
    *,
    pilots: int = PILOTS,
    seed: int = DEFAULT_SEED,
    progress: Callable[[str], None] = lambda _: None,
) -> Variances:
    """The variances of real judgments, in points, and those that pilots of the same design might have shown instead.

    Args:
        design: the real judgments.
        pilots: how many to draw.
        seed: of the pilots.
        progress: is told what is being done.
    """
    progress(f"estimating the spread of {counted(len(design), 'judgment')}")
    alone = replace(design.with_model("mixed-points"), linking=None)
    alone.check()
    prepared = prepare(alone)
    model = prepared.fit()
    sd = {component.effect: component.sd for component in model.components}
    drawn = []
    for number in range(pilots):
        if number % TOLD == 0:
            progress(f"drawing judgments like them, {number} of {pilots} times done")
        rng = generator(seed, _STREAM, number)
        score = sd["residual"] * rng.standard_normal(len(alone))
        for effect in identify(alone).kept:
            score += sd[effect.name] * rng.standard_normal(effect.levels)[effect.codes]
        drawn.append(variances_like(prepared.fit(score)))
    return replace(variances_like(model), resampled=tuple(drawn), judgments=len(alone))


def pilot_doubt(layout: Layout, settings: PlanSettings, variances: Variances, per_item: int) -> PilotDoubt | None:
    """Estimate how many times the size of a design may be needed, and its power, given the doubt of the pilot."""
    if not variances.resampled:
        return None
    level = settings.level / settings.tests
    known = measure(layout, settings, variances, per_item).detectable(settings.power, level)
    drawn = [measure(layout, settings, other, per_item) for other in variances.resampled]
    # Draws deviate from the pilot as the pilot does from the truth, so the truth lies on the opposite side.
    times = [(known / precision.detectable(settings.power, level)) ** 2 for precision in drawn]
    power = [precision.power(settings.difference, level) for precision in drawn]
    low, high = np.quantile(times, _QUANTILES)
    weak, strong = np.quantile(power, _QUANTILES)
    return PilotDoubt(
        pilots=len(drawn),
        judgments=variances.judgments,
        times=(float(low), float(high)),
        power=(float(weak), float(strong)),
    )


def people_or_judgments(
    layout: Layout, settings: PlanSettings, variances: Variances, per_item: int
) -> tuple[PeopleChoice, ...]:
    """A design as it is, with twice the people for the same work, and with twice the work by the same people."""
    people = settings.annotators
    variants = [(people, per_item), (2 * people, per_item), (people, 2 * per_item)]
    level = settings.level / settings.tests
    choices = []
    for count, each in variants:
        # Every task needs a person, and a second judgment of a task needs another person.
        if count <= layout.tasks * each and each <= count:
            precision = measure(layout, replace(settings, annotators=count), variances, each)
            detectable = precision.detectable(settings.power, level)
            choices.append(
                PeopleChoice(
                    count, each, layout.judgments(each), layout.controls(settings, each), precision.typical, detectable
                )
            )
    return tuple(choices)


def fewest_people(settings: PlanSettings, variances: Variances) -> int | None:
    """The least number of people who could find the difference if each judged without end; None beyond all measure."""
    level = settings.level / settings.tests
    people = np.unique(np.geomspace(2, MOST_PEOPLE, 2000).astype(np.int64))
    df = (people - 1) * (settings.systems - 1)
    reach = student_quantile(level / 2, df) + student_below(settings.power, df)
    detectable = variances.sd[TASTE] * np.sqrt(2 / people) * reach
    enough = np.flatnonzero(detectable <= settings.difference)
    return int(people[enough[0]]) if len(enough) else None


# What settling a goal takes, by policy and looks: campaigns simulated by the precision of a design.
#
# The estimate of a system after n times its share of the recommended design is its quality, the mean taste for it,
# which more judgments by the same people do not change, and noise of variance other / n. A policy spreads the
# judgments between two looks over the systems; a look settles what lies beyond its boundary, as `adjudge look` does.
# The size that reaches the power wanted is found by bisection. Errors are taken as known here, so with few people it
# takes a little more.
#
# Qualities: the best system, or the top k, lead all others by the difference asked for; for `pairs`, neighbours in the
# order lie that far apart.

CAMPAIGNS = 600
_DRAWS = 32
_UPDATES = 15
"""About how often the policy learns of the estimates in a campaign."""
_STEPS = 9
_MOST = 8.0
"""Sizes are searched up to so many times the recommended design."""
_STREAM_GOALS = 3003
_TOP_SHARE = 3


@dataclass(frozen=True)
class Noise:
    """Variances of a system's estimate in the recommended design: of tastes, which lasts, and of all else."""

    taste: float
    other: float


def plan_goals(settings: PlanSettings, noise: Noise, judgments: int) -> tuple[PlanGoal, ...]:
    """Judgments for every goal, by the even draw and by the goal's own policy."""
    return tuple(
        _row(_Simulation(settings, noise, goal, policy, looks=looks), settings, judgments)
        for goal in goals_for(settings.systems)
        for policy, looks in (("even", 1), ("even", settings.looks), (str(goal), settings.looks))
    )


def goals_for(systems: int) -> tuple[Goal, ...]:
    """The best system, the top third, all pairs."""
    top = max(2, systems // _TOP_SHARE)
    between = (parse_goal(f"top:{top}"),) if top < systems - 1 else ()
    return (parse_goal("best"), *between, parse_goal("pairs"))


def _row(simulation: _Simulation, settings: PlanSettings, judgments: int) -> PlanGoal:
    goal, policy, looks = str(simulation.goal), simulation.policy, simulation.looks
    places = np.arange(settings.systems)
    steps = places[::-1] if simulation.goal.kind == "pairs" else places < simulation.goal.size
    quality = np.asarray(steps * settings.difference, dtype=np.float64)
    size = _least_size(simulation, quality, settings.power)
    if size is None:
        return PlanGoal(goal, policy, looks, None, None, None, None)
    truths = (quality, 1.5 * quality, np.zeros(settings.systems))
    expected = (ceil(judgments * size * simulation.run(size, truth)[1]) for truth in truths)
    return PlanGoal(goal, policy, looks, ceil(judgments * size), *expected)


def _least_size(simulation: _Simulation, quality: Floats, power: float) -> float | None:
    """The smallest size, in units of the recommended design, that settles the goal with the power wanted."""
    low, high = 0.0, 1.0
    while simulation.run(high, quality)[0] < power:
        low, high = high, 2 * high
        if high > _MOST:
            return None
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if simulation.run(middle, quality)[0] >= power else (middle, high)
    return high


class _Simulation:
    """Campaigns of one policy with planned looks; all runs use the same chance."""

    def __init__(self, settings: PlanSettings, noise: Noise, goal: Goal, policy: str, *, looks: int) -> None:
        self.noise, self.goal, self.policy, self.looks = noise, goal, policy, looks
        self.systems, self.seed, self.floor = settings.systems, settings.seed, Adaptive().floor
        self.times = [number / looks for number in range(1, looks + 1)]
        self.pairs = self.systems * (self.systems - 1) // 2
        if goal.kind == "pairs":
            shares = [settings.level / 2 / left for left in range(1, self.pairs + 1)]
        else:
            shares = [goal.one_sided_level(settings.level, self.systems)]
        # Tastes do not average out, so information grows more slowly than the number of judgments.
        information = [1 / (noise.taste + noise.other / time) for time in self.times]
        spendings = [[spent(settings.spending, share, time) for time in self.times] for share in shares]
        self.bounds = np.array([boundaries(information, spending) for spending in spendings])
        """By the number of open pairs less 1 (or alone), the boundary at every look."""

    def run(self, size: float, quality: Floats) -> tuple[float, float]:
        """Of all campaigns of a size, in units of the recommended design: the share settled, the mean share used."""
        rng = generator(self.seed, _STREAM_GOALS)
        shape = (CAMPAIGNS, self.systems)
        taste = rng.standard_normal(shape) * np.sqrt(self.noise.taste)
        amount, total = np.zeros(shape), np.zeros(shape)
        better = np.zeros((*shape, self.systems), dtype=bool)
        settled, used = np.zeros(CAMPAIGNS, dtype=bool), np.ones(CAMPAIGNS)
        updates = max(1, round(_UPDATES / self.looks))
        step = size / self.looks / updates
        for look in range(self.looks):
            for _ in range(updates):
                more = step * self.systems * self._shares(total, amount, quality, rng)
                total += rng.standard_normal(shape) * np.sqrt(more * self.noise.other)
                amount += more
            estimate = quality + taste + total / amount
            self._settle(better, estimate, self.noise.taste + self.noise.other / amount, look)
            now = ~settled & self._reached(better)
            used[now] = self.times[look]
            settled |= now
        return float(settled.mean()), float(used.mean())

    def _shares(self, total: Floats, amount: Floats, quality: Floats, rng: np.random.Generator) -> Floats:
        even = np.full(total.shape, 1 / self.systems)
        if self.policy == "even" or not amount.all():
            return even
        estimate, spread = quality + total / amount, np.sqrt(self.noise.other / amount)
        if self.goal.kind == "pairs":
            share = shares_by_pairs(estimate, np.sqrt(spread[:, :, None] ** 2 + spread[:, None, :] ** 2))
        else:
            drawn = estimate[:, None, :] + spread[:, None, :] * rng.standard_normal((len(total), _DRAWS, self.systems))
            order = np.argsort(-drawn, axis=2)[:, :, self.goal.size - 1 : self.goal.size + 1]
            share = np.stack([(order == system).mean(axis=(1, 2)) for system in range(self.systems)], axis=1)
        return np.asarray(self.floor * even + (1 - self.floor) * share)

    def _settle(self, better: Bools, estimate: Floats, variance: Floats, look: int) -> None:
        """Mark what is settled at this look; `better[c, i, j]` says that i is settled as better than j."""
        difference = estimate[:, :, None] - estimate[:, None, :]
        z = difference / np.sqrt(variance[:, :, None] + variance[:, None, :])
        if self.goal.kind != "pairs":
            better |= z >= self.bounds[0, look]
            return
        while True:
            # Holm: the level of a settled pair is shared by the others.
            left = self.pairs - better.sum(axis=(1, 2))
            bound = self.bounds[np.maximum(left, 1) - 1, look]
            new = (z >= bound[:, None, None]) & ~better & ~better.transpose(0, 2, 1)
            if not new.any():
                return
            better |= new

    def _reached(self, better: Bools) -> Bools:
        if self.goal.kind == "pairs":
            return np.asarray(better.sum(axis=(1, 2)) == self.pairs)
        member = better.sum(axis=2) >= self.systems - self.goal.size
        across = member[:, :, None] & ~member[:, None, :]
        return np.asarray((member.sum(axis=1) == self.goal.size) & (better | ~across).all(axis=(1, 2)))


# What saves judgments: looks on the way, which may stop a campaign early, and choosing segments by probability.
#
# Looks: all numbers are exact for one difference with normal statistics, by the integration of `evidence.boundaries`.
#
# Chosen segments: with q = (1 - EVEN) x + EVEN for spreads x of mean 1, an even draw of n segments has the variance
# mean(v) / n for segments whose differences vary by v, and a weighted draw mean(v / q) / n. Where differences vary just
# as the spread (v = x^2), that is mean(x^2 / q) beside mean(x^2); where the spread tells nothing (v = 1), mean(1 / q)
# beside 1. Tastes of annotators stay as they are.

ASSUMED_CV = 0.7
"""The standard deviation of spreads in units of their mean, where no file tells them: as metrics' spreads have it."""
_POINTS = 2000


@dataclass(frozen=True)
class Saving:
    """Judgments as shares of a campaign of the same power with one look at the end."""

    looks: int
    largest: float
    """Where nothing stops the campaign."""
    planned: float
    """On average, where the difference is the one planned for."""
    larger: float
    """On average, where it is one and a half times that."""
    none: float
    """On average, where there is no difference."""


def saving(looks: int, *, spending: Spending = "kim-demets", level: float = 0.05, power: float = 0.9) -> Saving:
    """The judgments that equally spaced looks take (two-sided level)."""
    from scipy.optimize import brentq

    times = [number / looks for number in range(1, looks + 1)]
    upper = boundaries(times, [spent(spending, level / 2, time) for time in times])
    lower = [-bound for bound in upper]
    fixed = float(-normal_quantile(level / 2) + normal_quantile(power))

    def missed(drift: float) -> float:
        return float(crossing(times, upper, lower, drift=drift)[0].sum()) - power

    drift = float(brentq(missed, 0.5 * fixed, 2 * fixed, xtol=1e-8))
    largest = (drift / fixed) ** 2

    def mean(times_planned: float) -> float:
        above, below = crossing(times, upper, lower, drift=times_planned * drift)
        stopped = above + below
        stopped[-1] += 1 - stopped.sum()
        return float(largest * (stopped @ np.array(times)))

    return Saving(looks, largest, mean(1.0), mean(1.5), mean(0.0))


def plan_selection(judgments: int, spread: Floats | None = None) -> PlanSelection:
    """Judgments with segments chosen by this spread; default: by an assumed one.

    Args:
        judgments: those of the recommended design.
        spread: a number per segment, as for `design --select FILE`.
    """
    if spread is None:
        # The quantiles of a lognormal distribution with the assumed variation.
        sigma = np.sqrt(np.log1p(ASSUMED_CV**2))
        x = np.asarray(np.exp(sigma * normal_quantile((np.arange(_POINTS) + 0.5) / _POINTS)))
    else:
        x = np.asarray(spread, dtype=float)
    if not x.mean() > 0:
        raise DataError(
            f"the numbers of {param('select')} are all 0, so nothing can be chosen by them; leave the option out"
        )
    x = x / x.mean()
    q = (1 - EVEN) * x + EVEN
    return PlanSelection(
        spread_cv=float(x.std()),
        assumed=spread is None,
        even=judgments,
        expected=ceil(judgments * float((x**2 / q).mean() / (x**2).mean())),
        largest=ceil(judgments * float((1 / q).mean())),
    )
