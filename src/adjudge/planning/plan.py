"""How many judgments, annotators and which design for the power wanted. `plan` is the main function.

Designs of many sizes are made and their precision is computed exactly; the recommended one is then simulated, ranked
and compared with the truth.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from adjudge.mixed.effects import TASTE
from adjudge.mixed.fit import Prepared, prepare
from adjudge.planning.search import (
    Noise,
    fewest_people,
    mixed_design,
    people_or_judgments,
    pilot_doubt,
    plan_goals,
    plan_selection,
    saving,
    search,
)
from adjudge.planning.settings import Plan, PlanCheck, PlanLooks, PlanSettings, Variances, plan_gold
from adjudge.planning.simulated_scores import ScoreCampaign, ScoreDesign, draw_scores
from adjudge.ranking.decisions import holm
from adjudge.table.judgments import fingerprint
from adjudge.table.maths import NORMAL_95, Floats, Ints, contrasts
from adjudge.table.rng import generator
from adjudge.table.wording import agreeing, counted, measured
from adjudge.work.tasks import map_tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from adjudge.evidence.boundaries import Spending
    from adjudge.planning.search import Layout


# The recommended design put to the test: campaigns simulated, ranked by the mixed model, and compared with the truth.
#
# Half of the systems are better than the other half by the difference asked for. So every campaign holds pairs with a
# true difference, which should be found, and equal pairs, about which nothing should be claimed.

_DRAWS = 3003


def simulate_plan(layout: Layout, settings: PlanSettings, variances: Variances, per_item: int) -> PlanCheck:
    """Draw, rank and count."""
    rows = layout.rows(settings.annotators, per_item)
    quality = np.where(np.arange(settings.systems) % 2 == 0, 0.5, -0.5) * settings.difference
    design = _score_design(settings, variances, rows, quality)
    rng = generator(settings.seed, _DRAWS)
    first, second = np.triu_indices(settings.systems, 1)
    truth = np.sign(quality[first] - quality[second])
    detected: list[float] = []
    claimed: list[float] = []
    campaigns = [draw_scores(design, rng).score[0] for _ in range(settings.draws)]
    prepared = prepare(mixed_design(rows, settings.systems, campaigns[0]))
    for p, sign in map_tasks(partial(_test_pairs, prepared), campaigns, what="simulated campaigns"):
        significant = p < settings.level
        detected.append(float((significant & (sign == truth))[truth != 0].mean()))
        if (truth == 0).any():
            claimed.append(float(significant[truth == 0].mean()))
    wrong = [share > 0 for share in claimed]
    return PlanCheck(
        draws=settings.draws,
        found=float(np.mean(detected)),
        found_interval=_interval(detected),
        claimed=float(np.mean(claimed)) if claimed else None,
        any_claim=float(np.mean(wrong)) if claimed else None,
        any_claim_interval=_share_interval(sum(wrong), len(wrong)) if claimed else None,
    )


def _score_design(settings: PlanSettings, variances: Variances, rows: dict[str, Ints], quality: Floats) -> ScoreDesign:
    task_annotator = np.empty(int(rows["task"].max()) + 1, dtype=np.int64)
    task_annotator[rows["task"]] = rows["annotator"]
    return ScoreDesign(
        campaign=_campaign(settings, variances, rows, quality),
        **{name: rows[name] for name in ("task", "screen", "document", "segment", "system")},
        kind=np.zeros(len(rows["task"]), dtype=np.int64),
        task_annotator=task_annotator,
    )


def _test_pairs(prepared: Prepared, score: Floats) -> tuple[Floats, Floats]:
    """Holm-adjusted p and the sign of every difference in a campaign with these scores, in points."""
    model = prepared.fit(score)
    tested = contrasts(model.effects, model.covariance, model.df)
    first, second = np.triu_indices(len(model.systems), 1)
    return holm(tested.two_sided[first, second]), np.sign(tested.difference[first, second])


def _campaign(settings: PlanSettings, variances: Variances, rows: dict[str, Ints], quality: Floats) -> ScoreCampaign:
    """Parameters of the simulator. Variances found in data already contain what the ends of the scale do to scores."""
    sd = variances.sd
    plain = {"scale": 0.0, "ends": False, "round_numbers": 0.0} if variances.fitted else {}
    return ScoreCampaign(
        systems=settings.systems,
        humans=0,
        annotators=settings.annotators,
        tasks=int(rows["task"].max()) + 1,
        documents=int(rows["document"].max()) + 1,
        qualities=tuple(quality.tolist()),
        leniency=sd["annotator"],
        taste=sd[TASTE],
        task_effect=sd["task"],
        document_effect=sd["document"],
        segment_effect=sd["segment"],
        system_document_effect=sd["system:document"],
        page_effect=sd["page"],
        residual=sd["residual"],
        **plain,  # type: ignore[arg-type]
    )


def _interval(shares: list[float]) -> tuple[float, float]:
    """A 95% interval of a mean over campaigns."""
    half = NORMAL_95 * float(np.std(shares, ddof=1)) / len(shares) ** 0.5 if len(shares) > 1 else 1.0
    mean = float(np.mean(shares))
    return max(0.0, mean - half), min(1.0, mean + half)


def _share_interval(hits: int, total: int) -> tuple[float, float]:
    """Clopper and Pearson's exact 95% interval of a share."""
    from scipy.stats import beta

    low = float(beta.ppf(0.025, hits, total - hits + 1)) if hits else 0.0
    high = float(beta.ppf(0.975, hits + 1, total - hits)) if hits < total else 1.0
    return low, high


FEW_PEOPLE = 5
LOOKS: tuple[tuple[int, Spending], ...] = ((3, "kim-demets"), (5, "kim-demets"), (10, "kim-demets"), (5, "pocock"))


def plan(
    settings: PlanSettings | None = None,
    *,
    variances: Variances | None = None,
    spread: Floats | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Plan:
    """Find what each design needs.

    Args:
        settings: the question, and what there is to answer it with.
        variances: how scores vary; default: of the size found in large shared tasks.
        spread: a number per segment by which segments would be chosen; default: assumed.
        progress: is told what is being tried.
    """
    asked, assumed = settings or PlanSettings(), variances or Variances()
    progress("trying designs")
    choices, tried = search(asked, assumed)
    best, per_item = choices[0], choices[0].point.judgments_per_item
    layout = next(
        layout
        for (name, _), layout in tried.layouts.items()
        if name == best.point.structure and layout.segments == best.point.segments
    )
    checked: PlanCheck | None = None
    if best.suffices and asked.draws > 0:
        progress(f"simulating {best.point.structure}")
        checked = simulate_plan(layout, asked, assumed, per_item)
    sd = dict(assumed.sd)
    unchecked = Plan(
        settings=asked.as_settings(),
        data=fingerprint(repr(sorted(sd.items()))),
        difference=asked.difference,
        power=asked.power,
        level=asked.level,
        comparisons=asked.tests,
        annotators=asked.annotators,
        choices=tuple(choices),
        curve=tuple(sorted(tried.points.values(), key=lambda p: (p.structure, p.judgments_per_item, p.judgments))),
        spread=sd,
        checked=checked,
        looks=_looks(asked, best.point.judgments) if best.suffices else (),
        goals=plan_goals(asked, _noise(asked, assumed, best.point.se), best.point.judgments) if best.suffices else (),
        selection=plan_selection(best.point.judgments, spread) if best.suffices else None,
        people=people_or_judgments(layout, asked, assumed, per_item),
        gold=plan_gold(asked, assumed),
        pilot=pilot_doubt(layout, asked, assumed, per_item),
    )
    return replace(unchecked, notes=tuple(_notes(unchecked, asked, fewest_people(asked, assumed))))


def _looks(settings: PlanSettings, judgments: int) -> tuple[PlanLooks, ...]:
    """Compute what looks on the way save, by the exact distribution of one comparison."""
    level = settings.level / settings.tests
    planned: list[PlanLooks] = []
    for looks, spending in LOOKS:
        row = saving(looks, spending=spending, level=level, power=settings.power)
        shares = (row.largest, row.planned, row.larger, row.none)
        planned.append(PlanLooks(looks, spending, *(ceil(judgments * share) for share in shares)))
    return tuple(planned)


def _noise(settings: PlanSettings, variances: Variances, se: float) -> Noise:
    """Half of the variance of a difference is each system's; tastes average out over people only."""
    taste = min(variances.sd[TASTE] ** 2 / settings.annotators, 0.99 * se**2 / 2)
    return Noise(taste, se**2 / 2 - taste)


def _notes(result: Plan, settings: PlanSettings, fewest: int | None) -> Iterator[str]:
    """Note what is out of reach, whether people or judgments are short, and how far a pilot can be trusted."""
    short = settings.annotators > 1 and (fewest is None or fewest > settings.annotators)
    if result.recommended is None:
        segments = counted(settings.documents * settings.segments, "segment")
        found = (
            f"no design finds {measured(settings.difference, 'point')} with power {settings.power:.0%} in {segments}"
        )
        yield found if short else f"{found}; add segments or judgments per item, or ask for less"
    if short:
        yield _say_short_of_people(result, settings, fewest)
    yield from _note_few_people(result, settings)
    yield from _note_people_or_judgments(result)
    yield from _note_missed_power(result, settings)
    if result.pilot is not None:
        low, high = result.pilot.times
        yield (
            f"the spread comes from {result.pilot.judgments:,} judgments, so the size needed is known roughly: from "
            f"{low:.1f} to {high:.1f} times that of the recommended design (90%)"
        )


def _say_short_of_people(result: Plan, settings: PlanSettings, fewest: int | None) -> str:
    """That there are too few people for their tastes."""
    tastes, difference = f"with tastes of {result.spread[TASTE]:.1f} points", measured(settings.difference, "point")
    if fewest is None:
        return f"{tastes}, no number of people can find {difference}; ask for less"
    alone = "however much each of them judges; ask more people"
    return f"{tastes}, fewer than {fewest} people cannot find {difference}, {alone}"


def _note_few_people(result: Plan, settings: PlanSettings) -> Iterator[str]:
    """Whether the verdict will hold for these people only, and whether there are tasks for all of them."""
    if settings.annotators == 1:
        yield (
            "one annotator only: the plan is about what this person likes better; whether others agree "
            "needs other people"
        )
    elif settings.annotators < FEW_PEOPLE:
        yield f"{settings.annotators} annotators are few: the verdict will hold for them more than for others"
    busy = result.choices[0].point.tasks
    if busy < settings.annotators:
        yield (
            f"the first design has {counted(busy, 'task')}, so only {busy} of {settings.annotators} annotators "
            f"{agreeing(busy, 'judges', 'judge')}; lower --task-size, so that all take part"
        )


def _note_people_or_judgments(result: Plan) -> Iterator[str]:
    more = [choice for choice in result.people if choice.annotators > result.annotators]
    each = [choice for choice in result.people[1:] if choice.annotators == result.annotators]
    if more and each:
        buys = "more people gain more than" if more[0].detectable < each[0].detectable else "more people gain less than"
        yield (
            f"twice the people for the same {more[0].judgments:,} judgments find {more[0].detectable:.1f} points, "
            f"twice the judgments by the same people {each[0].detectable:.1f}: {buys} more judgments per person"
        )


def _note_missed_power(result: Plan, settings: PlanSettings) -> Iterator[str]:
    checked = result.checked
    if checked is not None and checked.found_interval is not None and checked.found_interval[1] < settings.power:
        yield (
            f"in simulated campaigns {checked.found:.0%} of the differences were found, below the power wanted: people "
            "use the scale differently and its ends cut scores off; plan for a smaller difference"
        )
