"""How far leads can be trusted: against closed forms, plain searches, and campaigns with a known truth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge import read
from adjudge.ranking.tournament import Tournament, TournamentSettings, tournament
from adjudge.ranking.tournament_uncertainty import Edge, Uncertainty, lead_confidence, partial_order
from adjudge.table.judgments import Judgments
from tests.conftest import examples
from tests.helpers.rank_make import blocks

Ranking = dict[str, int | None]


def ordered_campaign(
    seed: int, *, spread: float = 0.3, people: int = 10, each: int = 20, mirrored: int = 0, systems: int = 7
) -> Judgments:
    """Blocks of four by people with tastes; a single scale orders the systems. Some rank upside down."""
    rng = np.random.default_rng(seed)
    strength, taste = rng.normal(0, spread, systems), rng.normal(0, 0.2, (people, systems))
    rankings: list[Ranking] = []
    annotators: list[str] = []
    for person in range(people):
        for _ in range(each):
            shown = rng.choice(systems, 4, replace=False)
            value = np.round(strength[shown] + taste[person, shown] + rng.gumbel(size=4))
            value = -value if person < mirrored else value
            ranks = 1 + (value[:, None] < value[None, :]).sum(1)
            rankings.append({f"s{s}": int(r) for s, r in zip(shown, ranks, strict=True)})
            annotators.append(f"a{person}")
    return blocks(rankings, annotators=annotators)


def doubts(judgments: Judgments, **chosen: float) -> Uncertainty:
    wanted = TournamentSettings(uncertainty=True, resamples=int(chosen.pop("resamples", 40)), **chosen)  # type: ignore[arg-type]
    found = tournament(judgments, methods=["wins-no-ties"], settings=wanted).uncertainty
    assert found is not None
    return found


def test_confidence_of_a_lead_is_the_posterior_probability() -> None:
    """Closed forms: a share with a uniform prior is above 1/2 after k wins and no loss with 1 - 2^-(k + 1)."""
    wins, losses = np.array([0.0, 1, 3, 5, 2]), np.array([0.0, 0, 0, 0, 2])
    assert lead_confidence(wins, losses) == pytest.approx([0.5, 0.75, 0.9375, 1 - 2**-6, 0.5])
    assert lead_confidence(wins, losses, effect=3.0)[2] == pytest.approx(0.75)


@settings(max_examples=examples(40))
@given(st.integers(0, 10_000), st.integers(2, 7))
def test_partial_order_says_what_can_be_reached(seed: int, n: int) -> None:
    """Against a search along the leads, with systems in circles taken as one place."""
    rng = np.random.default_rng(seed)
    names = tuple("abcdefg"[:n])
    pairs = [(names[i], names[j]) for i in range(n) for j in range(n) if i != j and rng.random() < 0.25]
    edges = tuple(Edge(b, w, 1, 3, 0.99, kept=True) for b, w in pairs if (w, b) not in pairs)
    order = partial_order(names, edges, 0.95)

    def below(start: str, seen: frozenset[str] = frozenset()) -> set[str]:
        found = {edge.worse for edge in edges if edge.better == start} - seen
        return found.union(*(below(name, seen | found) for name in found))

    reach = {name: below(name) for name in names}
    strict = {(a, b) for a in names for b in reach[a] if a not in reach[b]}
    assert order.statements == len(strict)
    linked = {(link.better, link.worse) for link in order.links}
    assert linked <= strict
    level = {name: i for i, members in enumerate(order.levels) for name in members}
    assert set(level) == set(names)
    assert all(level[a] < level[b] for a, b in strict)


def test_weak_leads_are_dropped() -> None:
    found = doubts(ordered_campaign(1))
    order = found.partial_order
    assert order.kept + order.dropped == len(found.edges)
    assert all(edge.kept == (edge.confidence >= 0.95) for edge in found.edges)
    assert doubts(ordered_campaign(1), confidence=1.0).partial_order.statements == 0
    assert doubts(ordered_campaign(1), confidence=0.5).partial_order.dropped == 0


def test_a_real_circle_is_more_than_chance() -> None:
    """Rock beats scissors, scissors paper, paper rock: for everybody, four times in five."""
    rng = np.random.default_rng(1)
    beats = [("rock", "scissors"), ("scissors", "paper"), ("paper", "rock")]
    rankings: list[Ranking] = []
    for i in range(300):
        better, worse = beats[i % 3] if rng.random() < 0.8 else beats[i % 3][::-1]
        rankings.append({better: 1, worse: 2})
    found = doubts(blocks(rankings, annotators=[f"a{i % 10}" for i in range(300)]))
    assert found.cycles_by_chance.p == 0
    assert "more than chance" in found.cycles_by_chance.words
    assert found.partial_order.cycles == (("paper", "rock", "scissors"),)
    assert found.partial_order.statements == 0


@pytest.mark.slow
def test_cycles_of_ordered_campaigns_are_chance() -> None:
    """At a level of .1, about a tenth of campaigns with an order behind them are called circular; 4 in 24 at most."""
    chances = [doubts(ordered_campaign(seed)).cycles_by_chance for seed in range(24)]
    assert sum(chance.p < 0.1 for chance in chances) <= 4
    observed, expected = (np.mean([getattr(one, name) for one in chances]) for name in ("observed", "expected"))
    assert 0.6 < observed / expected < 1.4


def test_who_works_against_the_others_is_named() -> None:
    honest = doubts(ordered_campaign(3, spread=0.8, each=30)).against_others
    assert honest == ()
    (named,) = doubts(ordered_campaign(3, spread=0.8, each=30, mirrored=1)).against_others
    assert named.annotator == "a0"
    assert named.against > 0.6


def test_copies_vary_together() -> None:
    """`copy` always has the rank of s0."""
    original = ordered_campaign(5, each=30).table
    rankings: list[Ranking] = []
    people: list[str] = []
    for (screen, annotator), block in original.group_by("screen", "annotator", maintain_order=True):
        ranks: Ranking = dict(block.select("system", "rank").iter_rows())
        rankings.append({**ranks, "copy": ranks["s0"]} if "s0" in ranks and int(str(screen)) % 2 else ranks)
        people.append(str(annotator))
    cohort = doubts(blocks(rankings, annotators=people)).cohort
    assert [(pair.first, pair.second) for pair in cohort] == [("copy", "s0")]


def test_more_judgments_make_the_order_stable() -> None:
    found = doubts(ordered_campaign(2, spread=1.0, each=60))
    correlations = [part.spearman for part in found.stability]
    assert correlations[-1] > correlations[0]
    assert found.stable_from is not None
    assert 0 < found.block_worth < 1
    assert found.design_effect >= 1


def test_the_result_has_the_documented_keys() -> None:
    wanted = TournamentSettings(uncertainty=True, resamples=20)
    result = tournament(ordered_campaign(1), settings=wanted)
    plain = result.to_dict()
    assert {"better", "worse", "weight", "confidence"} <= set(plain["edges"][0])
    assert {"observed", "expected", "p"} <= set(plain["cycles_by_chance"])
    assert {"links", "levels", "statements", "dropped"} <= set(plain["partial_order"])
    assert "uncertainty" not in plain
    assert "edges" not in tournament(ordered_campaign(1)).to_dict()
    assert "<svg" in result.plot("order")._repr_svg_()


def test_the_released_cycles(data: Path) -> None:
    """French-English 2010 contradicts no more than chance would, English-Czech 2010 more (Lopez 2012, section 5.1)."""

    def chance(pair: str) -> Tournament:
        judgments = read([data / "wmt10" / "data_RNK.csv"], format="wmt-ranking", pair=pair)
        return tournament(judgments, methods=[], settings=TournamentSettings(uncertainty=True, resamples=40))

    french, czech = (chance(pair).uncertainty for pair in ("fr-en", "en-cs"))
    assert french is not None
    assert czech is not None
    assert (french.cycles_by_chance.observed, czech.cycles_by_chance.observed) == (61, 43)
    assert french.cycles_by_chance.p > 0.2
    assert czech.cycles_by_chance.p < 0.05
