"""Adaptive draws: quick estimates against a direct solution, floors, balance, goals, and replay bit for bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from adjudge.campaigns.adaptive import (
    ANNOTATOR_RATIO,
    GIVEN_UP,
    ITEM_RATIO,
    POLICIES,
    Adaptive,
    Candidate,
    Decision,
    Observation,
    RunningEstimates,
    decide,
    first_difference,
    parse_policy,
    system_shares,
)
from adjudge.table.errors import DataError, UsageError

SYSTEMS = ("A", "B", "C", "D", "E")


def observations(count: int, seed: int = 1, lead: float = 4.0) -> list[Observation]:
    """A is better by `lead`, the others are equal."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        system = SYSTEMS[int(rng.integers(5))]
        value = 70 + (lead if system == "A" else 0.0) + rng.normal(0, 8)
        made.append(Observation(system, f"d{rng.integers(9)}", f"a{rng.integers(4)}", value, float(rng.integers(1, 4))))
    return made


def pages() -> list[Candidate]:
    return [Candidate(f"{document}/{system}", (system,)) for document in range(6) for system in SYSTEMS]


def test_estimates_agree_with_all_equations_solved_at_once() -> None:
    """The slow way: one unknown per system, annotator and item, ridges for the random ones."""
    observed = observations(60)
    running = RunningEstimates(SYSTEMS)
    running.add_all(observed)
    people = sorted({entry.annotator for entry in observed})
    items = sorted({entry.item for entry in observed})
    columns = [*SYSTEMS, *people, *items]
    design = np.zeros((len(observed), len(columns)))
    for row, entry in enumerate(observed):
        for name in (entry.system, entry.annotator, entry.item):
            design[row, columns.index(name)] = 1
    weight = np.array([entry.weight for entry in observed])
    ridge = np.concatenate([np.full(5, 1e-3), np.full(len(people), ANNOTATOR_RATIO), np.full(len(items), ITEM_RATIO)])
    mean = running._right[:5].sum() / weight.sum()
    values = np.array([entry.value for entry in observed]) - mean
    direct = np.linalg.solve(design.T * weight @ design + np.diag(ridge), design.T @ (weight * values))
    assert running.estimate()[0] - mean == pytest.approx(direct[:5], abs=1e-6)


def test_estimates_find_the_better_system_with_an_honest_error() -> None:
    running = RunningEstimates(SYSTEMS)
    running.add_all(observations(600))
    effects, covariance = running.estimate()
    assert int(effects.argmax()) == 0
    own = np.diag(covariance)
    se = np.sqrt(own[0] + own[1] - 2 * covariance[0, 1])
    assert abs(effects[0] - effects[1] - 4) < 4 * se
    # 120 observations of weight 2 on average and residual 8 a side: roughly 8 sqrt(2 / 120) = 1.0, less by the weights.
    assert 0.5 < se < 2.0


@pytest.mark.parametrize("policy", ["even", "best", "top:2", "pairs"])
def test_every_policy_keeps_the_floor(policy: str) -> None:
    running = RunningEstimates(SYSTEMS)
    running.add_all(observations(300))
    for seed in range(5):
        settings = Adaptive(policy, floor=0.2, seed=seed)
        decision = decide(running, pages(), annotator="a1", number=seed, settings=settings)
        assert sum(decision.probabilities) == pytest.approx(1.0, abs=1e-6)
        if policy != "even":
            assert min(decision.probabilities) >= 0.2 / 5 - 1e-6
        assert decision.drawn.endswith(decision.systems[0])
        assert 0 < decision.probability <= 1


def test_policies_favour_what_they_are_for() -> None:
    running = RunningEstimates(SYSTEMS)
    running.add_all(observations(400, lead=12.0))
    rng = np.random.default_rng(1)
    best = system_shares(running, Adaptive("best"), rng)
    assert int(best.argmax()) == 0
    assert best[0] == pytest.approx(0.2 / 5 + 0.8 / 2, abs=0.02)
    border = system_shares(running, Adaptive("top:2"), rng)
    assert border[0] == pytest.approx(0.2 / 5, abs=0.02)
    named = system_shares(running, Adaptive("pairs"), rng, [("C", "D")])
    assert named[[2, 3]] == pytest.approx([0.44, 0.44])


def test_the_policy_waits_until_every_system_was_seen() -> None:
    running = RunningEstimates(SYSTEMS)
    running.add(Observation("A", "d", "a", 90.0))
    share = system_shares(running, Adaptive("best"), np.random.default_rng(1))
    assert share[0] < share[1]


def test_pages_that_were_judged_least_come_first() -> None:
    candidates = [Candidate("old", ("A",), 2), Candidate("new", ("A",), 0), Candidate("other", ("B",), 5)]
    running = RunningEstimates(SYSTEMS)
    drawn = {decide(running, candidates, annotator="x", number=n, settings=Adaptive()).drawn for n in range(40)}
    assert drawn == {"new", "other"}


def test_an_annotator_meets_all_systems() -> None:
    running = RunningEstimates(SYSTEMS)
    running.add_all(observations(200))
    running.add_all([Observation("A", f"x{n}", "late", 70.0) for n in range(20)])
    settings = Adaptive("even")
    first = decide(running, pages(), annotator="late", number=1, settings=settings)
    other = decide(running, pages(), annotator="a1", number=1, settings=settings)
    assert first.probabilities[0] < other.probabilities[0]


def test_drawing_follows_the_probabilities() -> None:
    """Of 3,000 draws with the same state, every system's share lies within four standard errors."""
    running = RunningEstimates(SYSTEMS)
    running.add_all(observations(300))
    decisions = [
        decide(running, pages(), annotator="new", number=n, settings=Adaptive("pairs", seed=3)) for n in range(3000)
    ]
    for group, systems in enumerate(decisions[0].groups):
        share = np.mean([decision.systems == systems for decision in decisions])
        wanted = np.mean([decision.probabilities[group] for decision in decisions])
        assert abs(share - wanted) < 4 * np.sqrt(wanted * (1 - wanted) / 3000)


def campaign(policy: str, count: int = 60) -> tuple[list[tuple[Decision, list[Candidate]]], list[Observation]]:
    running, settings, rng = RunningEstimates(SYSTEMS), Adaptive(policy, seed=5), np.random.default_rng(9)
    log, saved = [], []
    for number in range(count):
        annotator = f"a{number % 3}"
        decision = decide(running, pages(), annotator=annotator, number=number, settings=settings)
        log.append((decision, pages()))
        document, system = decision.drawn.split("/")
        saved.append(Observation(system, document, annotator, float(rng.normal(70, 8))))
        # People save after the next page was handed out: some decisions are made without the last observation.
        if number % 4:
            running.add_all(saved[running.count :])
    return log, saved


@pytest.mark.parametrize("policy", ["even", "best", "top:2", "pairs"])
def test_a_finished_campaign_replays_bit_for_bit(policy: str) -> None:
    log, saved = campaign(policy)
    assert first_difference(log, saved, RunningEstimates(SYSTEMS), Adaptive(policy, seed=5)) is None
    assert first_difference(log, saved, RunningEstimates(SYSTEMS), Adaptive(policy, seed=6)) is not None


def test_a_replay_knows_which_pairs_were_open() -> None:
    running, settings = RunningEstimates(SYSTEMS), Adaptive("pairs", seed=5)
    saved = observations(60)
    running.add_all(saved)
    open_pairs = [("A", "B")]
    log = [
        (decide(running, pages(), annotator="a1", number=n, settings=settings, open_pairs=open_pairs), pages())
        for n in range(8)
    ]
    assert log[0][0].open_pairs == (("A", "B"),)
    assert first_difference(log, saved, RunningEstimates(SYSTEMS), settings) is None
    # With the estimates as the guide, other systems are drawn.
    forgotten = [(replace(decision, open_pairs=None), candidates) for decision, candidates in log]
    assert first_difference(forgotten, saved, RunningEstimates(SYSTEMS), settings) is not None
    with pytest.raises(DataError, match="'Z' is not among the systems"):
        decide(running, pages(), annotator="a1", number=9, settings=settings, open_pairs=[("A", "Z")])


def test_what_cannot_be_decided_is_refused() -> None:
    with pytest.raises(DataError, match="no page left"):
        decide(RunningEstimates(SYSTEMS), [], annotator="a", number=0, settings=Adaptive())
    with pytest.raises(UsageError, match="unknown policy 'greedy'"):
        Adaptive("greedy")
    with pytest.raises(UsageError, match="the floor is 0"):
        Adaptive("best", floor=0.0)
    with pytest.raises(UsageError, match="warm_up is 0"):
        Adaptive("best", warm_up=0)
    assert [parse_policy(name) for name in ("even", "pairs", "best", "top:4")] == [0, 0, 1, 4]


def shared_pages(documents: int = 6) -> list[Candidate]:
    return [
        Candidate(f"{document}/{system}", (system,), items=(str(document),))
        for document in range(documents)
        for system in SYSTEMS
    ]


def draw_everything(*, paired: bool, people: int, count: int = 15) -> list[tuple[str, str, str]]:
    """Annotator, document and system of every page that an even draw shows, no page twice."""
    running, left, shown = RunningEstimates(SYSTEMS), shared_pages(), []
    for number in range(count):
        who = f"a{number % people}"
        decision = decide(running, left, annotator=who, number=number, settings=Adaptive(seed=2), paired=paired)
        document, system = decision.drawn.split("/")
        running.add(Observation(system, document, who, 70.0))
        left = [page for page in left if page.key != decision.drawn]
        shown.append((who, document, system))
        assert decision.paired is paired
    return shown


def common_documents(shown: list[tuple[str, str, str]]) -> int:
    """Pairs of systems and documents on which both were judged."""
    return sum(
        (a, b) != (c, d) and b < d and a == c for _, a, b in shown for _, c, d in shown
    )  # fmt: skip


def test_draws_lead_all_systems_to_the_same_documents() -> None:
    """15 pages of five systems: three documents by everybody have 30 common pairs; an even draw comes close."""
    paired, apart = (draw_everything(paired=paired, people=15) for paired in (True, False))
    assert common_documents(paired) >= 24
    assert common_documents(apart) < common_documents(paired)
    order = list(dict.fromkeys(document for _, document, _ in paired))
    # Every system goes through the documents in one order, whatever it is.
    for system in SYSTEMS:
        mine = [document for _, document, name in paired if name == system]
        assert mine == [document for document in order if document in mine]


def test_a_person_is_led_to_documents_that_the_person_knows() -> None:
    """Two people: each judges four systems of a document before another one, and no more than that by preference."""
    shown = draw_everything(paired=True, people=2, count=8)
    for who in ("a0", "a1"):
        assert len({document for name, document, _ in shown if name == who}) <= 2
    running = RunningEstimates(SYSTEMS)
    running.add_all([Observation(system, "3", "a1", 70.0) for system in "ABCD"])
    pages = [page for page in shared_pages() if page.systems == ("E",)]
    tired = decide(running, pages, annotator="a1", number=0, settings=Adaptive(seed=2)).drawn
    fresh = decide(running, pages, annotator="a2", number=0, settings=Adaptive(seed=2)).drawn
    assert tired == fresh, "four systems of document 3 are enough for one person"
    running = RunningEstimates(SYSTEMS)
    running.add(Observation("A", "3", "a1", 70.0))
    assert decide(running, pages, annotator="a1", number=0, settings=Adaptive(seed=2)).drawn == "3/E"


def test_a_campaign_that_began_without_pairing_replays_as_it_was_drawn() -> None:
    """Decisions of earlier versions say nothing of pairing: their pages were drawn at random among the least judged."""
    running, settings = RunningEstimates(SYSTEMS), Adaptive("even", seed=5)
    old = [
        (decide(running, shared_pages(), annotator="a", number=n, settings=settings, paired=False), shared_pages())
        for n in range(20)
    ]
    assert Decision.paired is False
    assert {decision.pages for decision, _ in old} == {(6,) * 5}
    assert first_difference(old, [], RunningEstimates(SYSTEMS), settings) is None
    new = [(replace(decision, paired=True), candidates) for decision, candidates in old]
    assert first_difference(new, [], RunningEstimates(SYSTEMS), settings) is not None


def test_the_probability_of_a_paired_page_is_that_of_its_systems() -> None:
    decision = decide(RunningEstimates(SYSTEMS), shared_pages(), annotator="a", number=1, settings=Adaptive())
    assert decision.pages == (1,) * 5
    assert decision.probability == pytest.approx(0.2, abs=1e-6)


def test_every_policy_says_what_it_gives_up() -> None:
    assert set(GIVEN_UP) == set(POLICIES)
