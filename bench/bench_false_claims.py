"""Identical systems under every policy, number of looks and spending: how often is anything settled, and coverage.

    python -m bench false_claims                            # some minutes, the table so far after every round
    FALSE_CLAIMS_SECONDS=3000 FALSE_CLAIMS_FILE=claims.jsonl python -m bench false_claims

A cell is a policy, a number of annotators, of segments on a page and of systems; the 36 cells are a Latin square, so
that every two settings meet. A campaign is drawn once by its policy and fitted at twenty times; one, five and twenty
looks with each spending, for all pairs and for the policy's own goal, are decided from these fits. Every campaign is a
line of the file, and another run goes on where the last one ended.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from adjudge.adapt import Adaptive, Candidate, Running, decide, page_observation
from adjudge.core.rng import generator
from adjudge.look.boundaries import SPENDING
from adjudge.look.claims import claims_of, settled_top, with_final_estimates
from adjudge.look.decide import LookPlan, Observed, Settled, State, settle
from adjudge.look.goals import Goal, parse_goal
from bench.look_campaigns import GrowingCampaign, Pages, draw_campaign, observe

SECONDS = float(os.environ.get("FALSE_CLAIMS_SECONDS", "600"))
FILE = Path(os.environ.get("FALSE_CLAIMS_FILE", "false-claims.jsonl"))
MOST = int(os.environ.get("FALSE_CLAIMS_CAMPAIGNS", "200"))
POLICIES = ("even", "best", "top:2", "pairs")
ANNOTATORS = (5, 10, 50)
PAGES = (1, 4, 8)
SYSTEMS = (2, 4, 8)
LOOKS = (1, 5, 20)
MOST_LOOKS = 20
ROUND = 10
"""Campaigns of every cell before the next round."""


@dataclass(frozen=True)
class Cell:
    """One kind of campaign."""

    policy: str
    annotators: int
    page: int
    systems: int

    @property
    def campaign(self) -> GrowingCampaign:
        """With tastes of 3 points, and enough pages that everybody judges several."""
        pages = max({1: 320, 4: 160, 8: 120}[self.page], 4 * self.annotators)
        return GrowingCampaign(
            systems=self.systems, annotators=self.annotators, page=self.page, pages=pages, taste_sd=3.0
        )


def all_cells() -> list[Cell]:
    """The Latin square; the top two of two systems would be no question, so there are three."""
    cells = []
    for shift, policy in enumerate(POLICIES):
        for row, annotators in enumerate(ANNOTATORS):
            for column, page in enumerate(PAGES):
                systems = SYSTEMS[(row + column + shift) % 3]
                cells.append(Cell(policy, annotators, page, 3 if policy == "top:2" and systems == 2 else systems))
    return cells


def adaptive_campaign(campaign: GrowingCampaign, policy: str, number: int) -> Pages:
    """A simulated campaign whose pages are drawn by a policy."""
    names = tuple(f"system-{system:02d}" for system in range(campaign.systems))
    running, settings = Running(names), Adaptive(policy, seed=number + 1)

    def choose(page: int, before: Pages) -> int:
        if page:
            system, annotator = names[before.system[page - 1]], f"a{before.annotator[page - 1]}"
            scores = before.score[page - 1].tolist()
            running.add(page_observation(system, str(before.document[page - 1]), annotator, scores))
        candidates = [Candidate(name, (name,)) for name in names]
        who = f"a{before.annotator[page]}"
        return names.index(decide(running, candidates, annotator=who, number=page, settings=settings).drawn)

    return draw_campaign(campaign, generator(17, number), choose)


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
    return {**vars(cell), "number": number, "settled": settled, "covered": covered}


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
        state = State(plan, names, pairs, fits[:number], settled, plan.planned)
        if settled_top(state) if plan.goal.kind == "top" else (settled.sign != 0).any():
            return True
    return False


def final_interval_covers(plan: LookPlan, fits: list[Observed], systems: int, number: int) -> bool | None:
    """Whether the final interval of one pair, drawn by lot, holds the true difference, 0."""
    names, pairs = names_and_pairs(systems)
    settled = Settled.none(len(pairs))
    tested = np.ones(len(pairs), dtype=bool)
    seen: list[Observed] = []
    for fit in fits:
        seen.append(fit)
        settled = settle(plan, seen, settled, tested, systems)
        if (settled.sign != 0).all():
            break
    state = State(plan, names, pairs, seen, settled, plan.planned)
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
    seen = {(run["policy"], run["annotators"], run["page"], run["systems"], run["number"]) for run in done}
    for start in range(0, MOST, ROUND):
        for cell in all_cells():
            for number in range(start, start + ROUND):
                if (*vars(cell).values(), number) not in seen:
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
    for name, values in (
        ("policy", POLICIES), ("annotators", ANNOTATORS), ("page", PAGES), ("systems", (2, 3, 4, 8)),
    ):  # fmt: skip
        rows += [(f"{name} {value}", [run for run in done if run[name] == value]) for value in values]
    for label, runs in rows:
        cells = [share([run["settled"][f"pairs {kind}"] for run in runs]) for kind in kinds]
        covers = [share([run["covered"][str(k)] for run in runs if run["covered"][str(k)] is not None]) for k in LOOKS]
        print(f"{label:18s}{len(runs):6d}" + "".join(f"{cell:>18s}" for cell in cells + covers))
    for goal in ("best", "top:2"):
        runs = [run for run in done if run["policy"] == goal]
        print(f"goal {goal:13s}{len(runs):6d}" + "".join(
            f"{share([run['settled'][f'{goal} {kind}'] for run in runs]):>18s}" for kind in kinds
        ))  # fmt: skip
