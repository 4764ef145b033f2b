"""Adaptive draws: the best system of a released campaign found again from part of its scores, and false claims.

    python -m bench adaptive                # replay of the scores in ADJUDGE_DATA/wmt23, and simulated campaigns
    ADAPTIVE_RUNS=150 python -m bench adaptive

Replay: every system was scored on every segment. A policy draws which system is judged next, on a segment at random
among those not yet judged for it; the truth is the order by all segments. Simulated campaigns of identical systems are
drawn by each policy and looked at five times.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from adjudge.adapt import Adaptive, Candidate, Observation, Running, decide, page_observation
from adjudge.adapt.policies import system_shares
from adjudge.core.humans import is_human
from adjudge.core.rng import generator
from adjudge.look.decide import LookPlan
from adjudge.look.goals import Goal
from bench.look_campaigns import GrowingCampaign, Pages, draw_campaign, run_looks

Floats = NDArray[np.float64]

RUNS = int(os.environ.get("ADAPTIVE_RUNS", "30"))
CAMPAIGNS = int(os.environ.get("ADAPTIVE_CAMPAIGNS", "40"))
SHARES = (0.1, 0.2, 0.4)
POLICIES = ("even", "1/rank", "best", "top:4", "pairs")
BATCH = 4
"""Draws between two updates of the shares, so that the bench takes minutes."""


@dataclass(frozen=True, eq=False)
class Replay:
    """The scores (systems, segments) of a campaign, NaN where there is none."""

    systems: tuple[str, ...]
    score: Floats

    @property
    def truth(self) -> Floats:
        """The mean of every system."""
        return np.asarray(np.nanmean(self.score, axis=1))


def read_scores(path: Path) -> Replay:
    """Lines of system and score, segment after segment; references, and segments not judged, are left out."""
    rows: dict[str, list[float]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        system, _, value = line.partition("\t")
        rows.setdefault(system, []).append(float("nan") if value == "None" else float(value))
    score = np.array(list(rows.values()))
    kept = np.array([not is_human(name) for name in rows]) & ~np.isnan(score).all(axis=1)
    score = score[kept]
    names = tuple(name for name, taken in zip(rows, kept, strict=True) if taken)
    return Replay(names, score[:, ~np.isnan(score).any(axis=0)])


def shares_of(running: Running, policy: str, number: int) -> Floats:
    """The share of each system among the next draws; `1/rank` is the draw of recent campaigns, by running means."""
    if policy == "1/rank":
        if running.observations.min() < 3:
            return np.full(len(running.systems), 1 / len(running.systems))
        place = np.argsort(np.argsort(-running.estimate()[0]))
        return np.asarray(1 / (1 + place) / (1 / (1 + place)).sum())
    return system_shares(running, Adaptive(policy), generator(3, number))


def replay(data: Replay, policy: str, run: int) -> dict[float, tuple[bool, float]]:
    """By share of the scores: whether the best system came first, and Kendall's tau with the true order."""
    from scipy.stats import kendalltau

    rng = generator(11, run)
    running = Running(data.systems)
    left = [rng.permutation(data.score.shape[1]).tolist() for _ in data.systems]
    total = data.score.size
    found: dict[float, tuple[bool, float]] = {}
    share = np.full(len(data.systems), 1 / len(data.systems))
    for number in range(round(max(SHARES) * total)):
        if number % BATCH == 0:
            share = shares_of(running, policy, run * total + number)
        possible = share * np.array([bool(segments) for segments in left])
        system = int(rng.choice(len(share), p=possible / possible.sum()))
        segment = left[system].pop()
        value = float(data.score[system, segment])
        running.add(Observation(data.systems[system], str(segment), "all", value))
        for part in SHARES:
            if number + 1 == round(part * total):
                effects = running.estimate()[0]
                best = int(effects.argmax()) == int(data.truth.argmax())
                found[part] = (best, float(kendalltau(effects, data.truth).statistic))
    return found


def print_replay() -> None:
    """The table of the replay."""
    path = Path(os.environ.get("ADJUDGE_DATA", "../shared/data")) / "wmt23" / "human-scores" / "en-de.mqm.seg.score"
    if not path.exists():
        print(f"no replay: {path} is missing")
        return
    data = read_scores(path)
    print(f"replay of {len(data.systems)} systems on {data.score.shape[1]} segments, {RUNS} runs")
    print("policy, then for each share judged: best system first (se), tau")
    for policy in POLICIES:
        runs = [replay(data, policy, run) for run in range(RUNS)]
        cells = []
        for part in SHARES:
            best = float(np.mean([run[part][0] for run in runs]))
            tau = float(np.mean([run[part][1] for run in runs]))
            cells.append(f"{part:.0%}: {best:.2f} ({np.sqrt(best * (1 - best) / RUNS):.2f}) {tau:.3f}")
        print(f"  {policy:8s}" + "   ".join(cells), flush=True)


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


def print_false_claims() -> None:
    """Identical systems, drawn by each policy and looked at five times."""
    campaign = GrowingCampaign(systems=4, annotators=10, page=4, pages=160)
    plan = LookPlan(campaign.judgments, 5, Goal())
    print(f"identical systems, {CAMPAIGNS} campaigns, five looks: any false claim (se); pairs told apart by segments")
    for policy in ("even", "best", "top:2", "pairs"):
        false, told_apart = [], []
        for number in range(CAMPAIGNS):
            pages = adaptive_campaign(campaign, policy, number)
            outcome = run_looks(pages, plan, campaign.systems)
            false.append(bool((outcome.settled.sign != 0).any()))
            told_apart.append(segment_tests(pages, campaign.systems))
        rate = float(np.mean(false))
        error = np.sqrt(max(rate * (1 - rate), 0.01) / CAMPAIGNS)
        print(f"  {policy:8s} {rate:.3f} ({error:.3f})   {np.mean(told_apart):.3f}", flush=True)


def segment_tests(pages: Pages, systems: int) -> float:
    """The share of pairs that an unpaired t-test on single segments calls different at .05, as is customary."""
    from scipy.stats import ttest_ind

    scores = [pages.score[pages.system == system].ravel() for system in range(systems)]
    first, second = np.triu_indices(systems, 1)
    return float(np.mean([ttest_ind(scores[i], scores[j]).pvalue < 0.05 for i, j in zip(first, second, strict=True)]))


def run() -> None:
    """Print all tables."""
    print_replay()
    print_false_claims()
