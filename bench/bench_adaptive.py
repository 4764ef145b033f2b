"""Adaptive draws: the best system of a released campaign found again from part of its scores, and bias of estimates.

    python -m bench adaptive                # replay of the scores in ADJUDGE_DATA/wmt23, and simulated campaigns
    ADAPTIVE_RUNS=150 python -m bench adaptive

Replay: every system was scored on every text (document, or segment where documents are not known). A policy draws which
system is judged next: on a text at random among those not yet judged for it (`apart`), or on the first of them in one
order for all systems (`paired`, as `decide` does). The truth is the order by all texts. Simulated campaigns of unequal
systems are drawn by each policy, and their estimates compared with the truth; in those of equal systems everything that
a look settles is wrong.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from adjudge.campaigns.adaptive import (
    Adaptive,
    Candidate,
    Observation,
    RunningEstimates,
    decide,
    system_shares,
)
from adjudge.evidence.boundaries import LookPlan
from adjudge.evidence.look_claims import Goal
from adjudge.mixed.fit import fit
from adjudge.table.maths import contrasts
from adjudge.table.participants import is_human
from adjudge.table.rng import generator
from bench.look_campaigns import GrowingCampaign, Pages, design_of, draw_campaign, run_looks

Floats = NDArray[np.float64]

RUNS = int(os.environ.get("ADAPTIVE_RUNS", "30"))
CAMPAIGNS = int(os.environ.get("ADAPTIVE_CAMPAIGNS", "40"))
LOOKS = 5
DRAWN_BY = ("even", "best", "top:2", "pairs")
"""Policies of simulated campaigns."""
QUALITIES = (6.0, 4.0, 3.0, 1.0, 0.0)
SHARES = (0.1, 0.2, 0.4)
POLICIES = ("even", "1/rank", "best", "top:4", "pairs")
TOP = 4
ESA_PAIRS = ("en-ja", "en-zh")
BATCH = 4
"""Draws between two updates of the shares, so that the bench takes minutes."""
WITHIN_PAGE = 0.3
"""As in `server/tasks.py`: how much the segments of one page are alike."""


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
    return complete(tuple(rows), np.array(list(rows.values())))


def complete(names: tuple[str, ...], score: Floats) -> Replay:
    """Systems that are machines, and texts that all of them have."""
    judged = ~np.isnan(score)
    kept = np.array([not is_human(name) for name in names]) & (judged.sum(axis=1) > 0.5 * judged.sum(axis=1).max())
    score = score[kept]
    names = tuple(name for name, taken in zip(names, kept, strict=True) if taken)
    return Replay(names, score[:, ~np.isnan(score).any(axis=0)])


def read_campaign(path: Path, pair: str | None = None, **options: Any) -> Replay:
    """A released campaign: the mean of every system on every document, annotators' strictness taken out."""
    import adjudge

    judgments = adjudge.read(path, pair=pair, **options)
    table = judgments.table.filter((pl.col("kind") == "system") & pl.col("score").is_not_null())
    table = table.with_columns(pl.col("score") - pl.col("score").mean().over("annotator"))
    cells = table.group_by("system", "document").agg(pl.col("score").mean()).sort("system", "document")
    wide = cells.pivot("document", index="system", values="score").sort("system")
    return complete(tuple(wide["system"]), wide.drop("system").to_numpy().astype(float))


def released() -> Iterator[tuple[str, Replay]]:
    """The campaigns at hand in which all systems were judged on the same texts."""
    folder = Path(os.environ.get("ADJUDGE_DATA", "../shared/data"))
    for kind in ("mqm", "da-sqm"):
        file = folder / "wmt23" / "human-scores" / f"en-de.{kind}.seg.score"
        if file.exists():
            yield f"WMT23 en-de {kind}, segments", read_scores(file)
    file = folder / "mqm" / "mqm_ted_ende.avg_seg_scores.tsv"
    if file.exists():
        rows: dict[str, list[float]] = {}
        for line in file.read_text(encoding="utf-8").splitlines()[1:]:
            system, value = line.split()[:2]
            rows.setdefault(system, []).append(float("nan") if value == "None" else float(value))
        yield "MQM TED en-de, segments", complete(tuple(rows), np.array(list(rows.values())))
    file = folder / "wmt24esa" / "esa_generalMT2024_wave3.csv"
    for pair in ESA_PAIRS if file.exists() else ():
        yield f"ESA 2024 {pair}, documents", read_campaign(file, pair)


def shares_of(running: RunningEstimates, policy: str, number: int) -> Floats:
    """The share of each system among the next draws; `1/rank` is the draw of recent campaigns, by running means."""
    if policy == "1/rank":
        if running.observations.min() < 3:
            return np.full(len(running.systems), 1 / len(running.systems))
        ranks = np.argsort(np.argsort(-running.estimate()[0]))
        return np.asarray(1 / (1 + ranks) / (1 / (1 + ranks)).sum())
    return system_shares(running, Adaptive(policy), generator(3, number))


def replay(data: Replay, policy: str, run: int, *, paired: bool) -> dict[float, tuple[bool, bool, float]]:
    """By share of the scores: whether the best system, and the best four, came first, and Kendall's tau."""
    from scipy.stats import kendalltau

    rng = generator(11, run)
    running = RunningEstimates(data.systems)
    common = rng.permutation(data.score.shape[1])
    left = [(common if paired else rng.permutation(data.score.shape[1]))[::-1].tolist() for _ in data.systems]
    total = data.score.size
    outcomes: dict[float, tuple[bool, bool, float]] = {}
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
                top = set(np.argsort(-effects)[:TOP]) == set(np.argsort(-data.truth)[:TOP])
                outcomes[part] = (best, top, float(kendalltau(effects, data.truth).statistic))
    return outcomes


def print_replay() -> None:
    """The tables of the replay."""
    for label, data in released():
        print(f"replay of {label}: {len(data.systems)} systems, {data.score.shape[1]} texts, {RUNS} runs")
        print(f"policy, then for each share judged: best system first (se), best {TOP} first (se), tau (se)")
        for policy in POLICIES:
            for paired in (False, True):
                runs = [replay(data, policy, run, paired=paired) for run in range(RUNS)]
                cells = []
                for part in SHARES:
                    shares = [float(np.mean([run[part][k] for run in runs])) for k in (0, 1)]
                    text = " ".join(f"{share:.2f} ({np.sqrt(share * (1 - share) / RUNS):.2f})" for share in shares)
                    tau = np.array([run[part][2] for run in runs])
                    cells.append(f"{part:.0%}: {text} {tau.mean():.3f} ({tau.std() / np.sqrt(RUNS):.3f})")
                print(f"  {policy:8s}{'paired' if paired else 'apart':8s}" + "   ".join(cells), flush=True)


@dataclass(frozen=True, eq=False)
class Estimated:
    """Errors of every system's estimate, around their mean, in one campaign; and the share of pairs covered."""

    plain: Floats
    weighted: Floats
    model: Floats
    covered: float


def print_estimates() -> None:
    """Does the draw bias estimates? Plain means, means weighted by 1 / probability of the draw, and the mixed model."""
    campaign = GrowingCampaign(systems=5, annotators=10, page=4, pages=160, qualities=QUALITIES, taste_sd=3.0)
    print(f"five systems {QUALITIES}, {CAMPAIGNS} campaigns: bias of the lower three systems, in points (se)")
    print("  draw       plain means        1 / probability    mixed model        rms errors        coverage (se)")
    for policy in DRAWN_BY:
        runs = [estimated(campaign, policy, number) for number in range(CAMPAIGNS)]
        cells = []
        for name in ("plain", "weighted", "model"):
            errors = np.array([getattr(run, name)[2:].mean() for run in runs])
            cells.append(f"{errors.mean():6.2f} ({errors.std() / np.sqrt(CAMPAIGNS):.2f})")
        squares = [np.mean([getattr(run, name) ** 2 for run in runs]) for name in ("plain", "weighted", "model")]
        spread = "  ".join(f"{np.sqrt(value):.2f}" for value in squares)
        covered = np.array([run.covered for run in runs])
        print(
            f"  {policy:8s}" + "".join(f"{cell:>17s}  " for cell in cells) + spread
            + f"   {covered.mean():.3f} ({covered.std() / np.sqrt(CAMPAIGNS):.3f})",
            flush=True,
        )  # fmt: skip


def page_observation(system: str, document: str, annotator: str, scores: list[float]) -> Observation:
    """A page of scores as the server observes it: their mean, weighing less than their number."""
    count = len(scores)
    return Observation(system, document, annotator, float(np.mean(scores)), count / (1 + (count - 1) * WITHIN_PAGE))


def adaptive_campaign(
    campaign: GrowingCampaign, policy: str, number: int, probability: list[float] | None = None
) -> Pages:
    """A simulated campaign whose pages are drawn by a policy; probabilities of the draws are added to the list."""
    names = tuple(f"system-{system:02d}" for system in range(campaign.systems))
    running, settings = RunningEstimates(names), Adaptive(policy, seed=number + 1)
    candidates = [Candidate(name, (name,)) for name in names]

    def choose(page: int, before: Pages) -> int:
        if page:
            system, annotator = names[before.system[page - 1]], f"a{before.annotator[page - 1]}"
            scores = before.score[page - 1].tolist()
            running.add(page_observation(system, str(before.document[page - 1]), annotator, scores))
        decision = decide(running, candidates, annotator=f"a{before.annotator[page]}", number=page, settings=settings)
        if probability is not None:
            probability.append(decision.probability)
        return names.index(decision.drawn)

    return draw_campaign(campaign, generator(17, number), choose)


def print_false_claims() -> None:
    """How often any of several looks settles anything of equal systems, where a policy draws the pages."""
    print(f"equal systems, {LOOKS} looks, {CAMPAIGNS} campaigns: policy, people, anything settled (se)")
    for policy in DRAWN_BY:
        for people in (5, 10):
            campaign = GrowingCampaign(annotators=people, taste_sd=3.0)
            plan = LookPlan(campaign.judgments, LOOKS, Goal())
            wrong = 0
            for number in range(CAMPAIGNS):
                found = run_looks(adaptive_campaign(campaign, policy, number), plan, campaign.systems)
                wrong += bool((found.settled.sign != 0).any())
            share = wrong / CAMPAIGNS
            print(f"  {policy:8s}{people:4d}{share:7.3f} ({np.sqrt(share * (1 - share) / CAMPAIGNS):.3f})", flush=True)


def estimated(campaign: GrowingCampaign, policy: str, number: int) -> Estimated:
    """The estimates of one campaign drawn by a policy."""
    probability: list[float] = []
    pages = adaptive_campaign(campaign, policy, number, probability)
    truth = np.array(QUALITIES) - np.mean(QUALITIES)
    model = fit(design_of(pages, campaign.pages, campaign.systems).with_model("mixed-points"))
    compared = contrasts(model.effects, model.covariance, model.df)
    low, high = compared.interval()
    true, upper = truth[:, None] - truth[None, :], np.triu_indices(campaign.systems, 1)

    def errors(means: Floats) -> Floats:
        return np.asarray(means - means.mean() - truth)

    return Estimated(
        plain=errors(weighted_means(pages, np.ones(campaign.pages), campaign.systems)),
        weighted=errors(weighted_means(pages, 1 / np.array(probability), campaign.systems)),
        model=errors(model.effects),
        covered=float(((low <= true) & (true <= high))[upper].mean()),
    )


def weighted_means(pages: Pages, weight: Floats, systems: int) -> Floats:
    """The weighted mean score of every system."""
    total = np.bincount(pages.system, weight * pages.score.mean(axis=1), minlength=systems)
    return np.asarray(total / np.bincount(pages.system, weight, minlength=systems))


def print_decisions() -> None:
    """How long a decision takes with 30 systems, 20,000 judgments (5,000 pages of four) and 18,000 pages to choose."""
    from time import perf_counter, process_time

    names = tuple(f"system-{number:02d}" for number in range(30))
    rng, running = generator(41), RunningEstimates(names)
    for page in range(5000):
        scores = rng.normal(70, 15, 4).tolist()
        running.add(page_observation(names[page % 30], str(page // 30), f"a{int(rng.integers(50))}", scores))
    pages = [Candidate(f"{document}/{name}", (name,), document % 3) for document in range(600) for name in names]
    print(
        "one decision with 30 systems, 20,000 judgments, 18,000 pages: wall and CPU milliseconds, median and most of 50"
    )
    for policy in ("even", "best", "top:4", "pairs"):
        wall, cpu = [], []
        for number in range(50):
            begun, used = perf_counter(), process_time()
            decide(running, pages, annotator="a1", number=number, settings=Adaptive(policy))
            wall.append(1000 * (perf_counter() - begun))
            cpu.append(1000 * (process_time() - used))
        print(
            f"  {policy:8s} wall {np.median(wall):5.1f} {max(wall):5.1f}   CPU {np.median(cpu):5.1f} {max(cpu):5.1f}",
            flush=True,
        )


def run() -> None:
    """Print all tables."""
    print_decisions()
    print_replay()
    print_estimates()
    print_false_claims()
