"""Identical systems under every policy, number of looks and spending: how often is anything claimed, and coverage.

    python -m bench false_claims                            # some minutes, the table so far after every round
    FALSE_CLAIMS_SECONDS=3000 FALSE_CLAIMS_FILE=claims.jsonl python -m bench false_claims

A cell is a policy, a number of annotators, of segments on a page and of systems; the 45 cells are a Latin square, so
that every two settings meet. 15 more have the variances of released campaigns (ADJUDGE_DATA). A campaign is drawn once
by its policy and fitted at twenty times; one, five and twenty looks with each spending, for all pairs and for the
policy's own goal, are decided from these fits. Beside them stand what people do: the draw by 1 / rank, a model tested
anew at every look, and the better of a paired and an unpaired t-test on single segments. Every campaign is a line of
the file, and another run goes on where the last one ended.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.campaigns.adaptive import Adaptive, Candidate, RunningEstimates, decide, page_observation
from adjudge.evidence.boundaries import SPENDING, LookPlan, Observed, Settled, State, settle
from adjudge.evidence.look_claims import Goal, claims_of, parse_goal, settled_top, with_final_estimates
from adjudge.table.rng import generator
from bench.look_campaigns import GrowingCampaign, Pages, draw_campaign, observe
from bench.real_variances import CAMPAIGNS, standard_deviations

SECONDS = float(os.environ.get("FALSE_CLAIMS_SECONDS", "600"))
FILE = Path(os.environ.get("FALSE_CLAIMS_FILE", "false-claims.jsonl"))
MOST = int(os.environ.get("FALSE_CLAIMS_CAMPAIGNS", "200"))
POLICIES = ("even", "best", "top:2", "pairs", "1/rank")
ANNOTATORS = (5, 10, 50)
PAGES = (1, 4, 8)
SYSTEMS = (2, 4, 8)
LOOKS = (1, 5, 20)
MOST_LOOKS = 20
LEVEL = 0.05
ROUND = 5
"""Campaigns of every cell before the next round."""


@dataclass(frozen=True)
class Cell:
    """One kind of campaign."""

    policy: str
    annotators: int
    page: int
    systems: int
    like: str = ""
    """The released campaign that the variances are from."""

    @property
    def campaign(self) -> GrowingCampaign:
        """With tastes of 3 points, and enough pages that everybody judges several."""
        pages = max({1: 320, 4: 160, 8: 120}[self.page], 4 * self.annotators)
        spread: dict[str, Any] = dict(standard_deviations(self.like) if self.like else {"taste_sd": 3.0})
        return replace(
            GrowingCampaign(systems=self.systems, annotators=self.annotators, page=self.page, pages=pages), **spread
        )


def all_cells() -> list[Cell]:
    """The Latin square; the top two of two systems would be no question, so there are three."""
    cells = []
    for shift, policy in enumerate(POLICIES):
        for row, annotators in enumerate(ANNOTATORS):
            for column, page in enumerate(PAGES):
                systems = SYSTEMS[(row + column + shift) % 3]
                cells.append(Cell(policy, annotators, page, 3 if policy == "top:2" and systems == 2 else systems))
    return cells + [Cell(policy, 10, 4, 4, like) for policy in POLICIES for like in CAMPAIGNS]


def adaptive_campaign(
    campaign: GrowingCampaign, policy: str, number: int, probability: list[float] | None = None
) -> Pages:
    """A simulated campaign whose pages are drawn by a policy; probabilities of the draws are added to the list."""
    names = tuple(f"system-{system:02d}" for system in range(campaign.systems))
    by_rank = policy == "1/rank"
    running, settings = RunningEstimates(names), Adaptive("even" if by_rank else policy, seed=number + 1)

    def choose(page: int, before: Pages) -> int:
        if page:
            system, annotator = names[before.system[page - 1]], f"a{before.annotator[page - 1]}"
            scores = before.score[page - 1].tolist()
            running.add(page_observation(system, str(before.document[page - 1]), annotator, scores))
        if by_rank:
            return draw_by_rank(running, generator(18, number, page))
        candidates = [Candidate(name, (name,)) for name in names]
        who = f"a{before.annotator[page]}"
        decision = decide(running, candidates, annotator=who, number=page, settings=settings)
        if probability is not None:
            probability.append(decision.probability)
        return names.index(decision.drawn)

    return draw_campaign(campaign, generator(17, number), choose)


def draw_by_rank(running: RunningEstimates, rng: np.random.Generator) -> int:
    """The draw of recent campaigns: weight 1 / (1 + rank) by running estimates, after three pages of every system."""
    systems = len(running.systems)
    if running.observations.min() < 3:
        return int(rng.integers(systems))
    rank = np.argsort(np.argsort(-running.estimate()[0]))
    weight = 1 / (1 + rank)
    return int(rng.choice(systems, p=weight / weight.sum()))


def run_campaign(cell: Cell, number: int) -> dict[str, Any]:
    """What each kind of looks came to in one campaign: by goal, looks and spending, whether anything was settled."""
    campaign = cell.campaign
    pages = adaptive_campaign(campaign, cell.policy, number)
    fits = [
        observe(pages, round(campaign.pages * k / MOST_LOOKS), cell.systems, k / MOST_LOOKS)
        for k in range(1, MOST_LOOKS + 1)
    ]
    goals = {"pairs"} | ({cell.policy} if cell.policy in ("best", "top:2") else set())
    settled: dict[str, bool] = {}
    for goal in sorted(goals):
        for looks in LOOKS:
            every = MOST_LOOKS // looks
            for spending in SPENDING:
                plan = LookPlan(campaign.judgments, looks, parse_goal(goal), spending)
                settled[f"{goal} {looks} {spending}"] = anything_settled(plan, fits[every - 1 :: every], cell.systems)
    covered = {}
    for looks in LOOKS:
        every = MOST_LOOKS // looks
        plan = LookPlan(campaign.judgments, looks, Goal())
        covered[str(looks)] = final_interval_covers(plan, fits[every - 1 :: every], cell.systems, number)
    holm = [smallest_holm(fit) < LEVEL for fit in fits]
    segments = [told_apart(pages, round(campaign.pages * k / MOST_LOOKS), cell.systems) for k in range(1, 21)]
    customary = {
        str(looks): {
            "model at every look": any(holm[MOST_LOOKS // looks - 1 :: MOST_LOOKS // looks]),
            "segments": any(part > 0 for part in segments[MOST_LOOKS // looks - 1 :: MOST_LOOKS // looks]),
            "pairs by segments": segments[-1],
        }
        for looks in LOOKS
    }
    return {**vars(cell), "number": number, "settled": settled, "covered": covered, "customary": customary}


def smallest_holm(fit: Observed) -> float:
    """The smallest p of all pairs, corrected for their number."""
    from scipy.special import ndtr

    return float(min(1.0, 2 * ndtr(-np.abs(fit.z).max()) * len(fit.z)))


def told_apart(pages: Pages, count: int, systems: int) -> float:
    """The share of pairs that the better of a paired and an unpaired t-test on single segments calls different."""
    score, document, system = pages.score[:count], pages.document[:count], pages.system[:count]
    documents, size = int(document.max()) + 1, score.shape[1]
    means = np.full((systems, documents, size), np.nan)
    for shown in range(systems):
        for number in np.unique(document[system == shown]):
            means[shown, number] = score[(system == shown) & (document == number)].mean(axis=0)
    different = []
    for first, second in zip(*np.triu_indices(systems, 1), strict=True):
        apart = (means[first] - means[second]).ravel()
        p = (
            unpaired_p(score[system == first].ravel(), score[system == second].ravel()),
            paired_p(apart[~np.isnan(apart)]),
        )
        different.append(min(p) < LEVEL)
    return float(np.mean(different))


def paired_p(difference: NDArray[np.float64]) -> float:
    """Student's t-test on differences, two-sided."""
    from scipy.special import stdtr

    count = len(difference)
    if count < 2:
        return 1.0
    t = difference.mean() / max(difference.std(ddof=1) / np.sqrt(count), 1e-300)
    return float(2 * stdtr(count - 1, -abs(t)))


def unpaired_p(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Student's t-test on two samples, two-sided."""
    from scipy.special import stdtr

    freedom = len(first) + len(second) - 2
    if min(len(first), len(second)) < 2:
        return 1.0
    squares = first.var() * len(first) + second.var() * len(second)
    error = np.sqrt(squares / freedom * (1 / len(first) + 1 / len(second)))
    return float(2 * stdtr(freedom, -abs(first.mean() - second.mean()) / max(error, 1e-300)))


def names_and_pairs(systems: int) -> tuple[tuple[str, ...], list[tuple[int, int]]]:
    """The systems of a simulated campaign, and their pairs."""
    first, second = np.triu_indices(systems, 1)
    names = tuple(f"system-{number:02d}" for number in range(systems))
    return names, list(zip(first.tolist(), second.tolist(), strict=True))


def anything_settled(plan: LookPlan, fits: list[Observed], systems: int) -> bool:
    """Whether any look settled a claim of the goal."""
    names, pairs = names_and_pairs(systems)
    settled = Settled.none(len(pairs))
    for number in range(1, len(fits) + 1):
        settled = settle(plan, fits[:number], settled, np.ones(len(pairs), dtype=bool), systems)
        state = State(plan, names, fits[:number], settled, plan.planned)
        if settled_top(state) if plan.goal.kind == "top" else (settled.sign != 0).any():
            return True
    return False


def final_interval_covers(plan: LookPlan, fits: list[Observed], systems: int, number: int) -> bool | None:
    """Whether the final interval of one pair, drawn by lot, holds the true difference, 0."""
    names, pairs = names_and_pairs(systems)
    settled = Settled.none(len(pairs))
    tested = np.ones(len(pairs), dtype=bool)
    looks: list[Observed] = []
    for fit in fits:
        looks.append(fit)
        settled = settle(plan, looks, settled, tested, systems)
        if (settled.sign != 0).all():
            break
    state = State(plan, names, looks, settled, plan.planned)
    chosen = int(generator(19, number).integers(len(pairs)))
    wanted = frozenset(names[system] for system in pairs[chosen])
    claims = tuple(claim for claim in claims_of(state) if frozenset(claim.systems) == wanted)
    interval = with_final_estimates(state, claims)[0].final_interval
    return None if interval is None else bool(interval[0] <= 0 <= interval[1])


def campaigns_so_far() -> list[dict[str, Any]]:
    """What the file holds."""
    return [json.loads(line) for line in FILE.read_text("utf-8").splitlines()] if FILE.exists() else []


def waiting(done: list[dict[str, Any]]) -> Iterator[tuple[Cell, int]]:
    """The campaigns that are still to be drawn, round by round."""
    known = {(*(run[name] for name in vars(Cell("even", 5, 1, 2))), run["number"]) for run in done}
    for start in range(0, MOST, ROUND):
        for cell in all_cells():
            for number in range(start, start + ROUND):
                if (*vars(cell).values(), number) not in known:
                    yield cell, number


def run() -> None:
    """Draw campaigns until time is up, then print the tables."""
    done = campaigns_so_far()
    begun = process_time()
    with FILE.open("a", encoding="utf-8") as file:
        for cell, number in waiting(done):
            if process_time() - begun > SECONDS:
                break
            done.append(run_campaign(cell, number))
            file.write(json.dumps(done[-1]) + "\n")
            file.flush()
    print_tables(done)


def share(flags: list[bool]) -> str:
    """A share in percent with its standard error."""
    rate = float(np.mean(flags)) if flags else float("nan")
    error = np.sqrt(max(rate * (1 - rate), 0.25 / max(len(flags), 1)) / max(len(flags), 1))
    return f"{100 * rate:5.1f} ({100 * error:.1f})"


def print_tables(done: list[dict[str, Any]]) -> None:
    """By every setting, how often anything was settled with each kind of looks, and coverage."""
    print(f"{len(done)} campaigns of identical systems in {len(all_cells())} cells; percent of campaigns with anything")
    print("settled (standard error), by looks and spending; then coverage of the final interval of one pair")
    kinds = [f"{looks} {spending}" for looks in LOOKS for spending in SPENDING if looks > 1 or spending == SPENDING[0]]
    print(f"{'':24s}" + "".join(f"{kind:>18s}" for kind in kinds) + "".join(f"  cover {looks:<5d}" for looks in LOOKS))
    rows: list[tuple[str, list[dict[str, Any]]]] = [("all", done)]
    own = [run for run in done if not run["like"]]
    for name, values in (
        ("policy", POLICIES), ("annotators", ANNOTATORS), ("page", PAGES), ("systems", (2, 3, 4, 8)),
    ):  # fmt: skip
        rows += [(f"{name} {value}", [run for run in own if run[name] == value]) for value in values]
    rows += [(f"like {like}", [run for run in done if run["like"] == like]) for like in CAMPAIGNS]
    for label, runs in rows:
        cells = [share([run["settled"][f"pairs {kind}"] for run in runs]) for kind in kinds]
        covers = [share([run["covered"][str(k)] for run in runs if run["covered"][str(k)] is not None]) for k in LOOKS]
        print(f"{label:18s}{len(runs):6d}" + "".join(f"{cell:>18s}" for cell in cells + covers))
    for goal in ("best", "top:2"):
        runs = [run for run in done if run["policy"] == goal]
        print(f"goal {goal:13s}{len(runs):6d}" + "".join(
            f"{share([run['settled'][f'{goal} {kind}'] for run in runs]):>18s}" for kind in kinds
        ))  # fmt: skip
    print(
        "what people do: any pair called different at any look (segments: better of two t-tests), and pairs at the end"
    )
    names = [(what, looks) for what in ("model at every look", "segments", "pairs by segments") for looks in LOOKS]
    print(f"{'':24s}" + "".join(f"{what[:16]} {looks:<3d}".rjust(22) for what, looks in names))
    for label, runs in rows:
        shares = [share([run["customary"][str(looks)][what] for run in runs]) for what, looks in names]
        print(f"{label:18s}{len(runs):6d}" + "".join(f"{cell:>22s}" for cell in shares))
