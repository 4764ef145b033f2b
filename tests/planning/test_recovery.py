"""What methods recover of a known truth."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from adjudge import simulate
from adjudge.planning.simulated_rankings import RankingCampaign
from adjudge.planning.truth import Simulated, TrueSystem, Truth, recovery
from adjudge.ranking.bradley_terry import fit
from adjudge.ranking.counts import units_of
from adjudge.ranking.methods import RankSettings, rank
from adjudge.ranking.ranking import Lines, RankedSystem, Ranking
from adjudge.table.comparisons import comparisons

SEEDS = range(12)


@cache
def drawn(uneven: float, blocks: int) -> list[Simulated]:
    """One campaign per seed: 12 systems, a tenth of the judges careless."""
    campaign = RankingCampaign(
        systems=12,
        blocks=blocks,
        uneven=uneven,
        careless=0.1,
        reference=0,
        segment_spread=0.5,
        taste=0,
        system_taste=0,
    )
    return [simulate(campaign, seed=seed) for seed in SEEDS]


def mean_tau(method: str, *, uneven: float, blocks: int = 600) -> float:
    """Kendall's tau with the truth, averaged over seeds."""
    taus = []
    for simulated in drawn(uneven, blocks):
        ranking = rank(simulated.judgments, method=method, settings=RankSettings(resamples=0))
        taus.append(recovery(simulated.truth, ranking).kendall)
    return float(np.mean([tau for tau in taus if tau is not None]))


@pytest.mark.slow
def test_bradley_terry_recovers_the_truth_where_ratios_do_not() -> None:
    """Where similar systems mostly meet each other, a ratio of wins says little about strength.

    30 seeds at uneven 0.6: Bradley-Terry .90, expected wins .86, wins-no-ties .66, wins-or-ties .66 (standard errors
    .01 to .025); with four times the data .92, .90, .69, .69: more data do not help the ratios.
    """
    uneven = 0.6
    tau = {m: mean_tau(m, uneven=uneven) for m in ("bradley-terry", "expected-wins", "wins-no-ties", "wins-or-ties")}
    assert 0.84 < tau["bradley-terry"] < 0.96
    assert 0.78 < tau["expected-wins"] < 0.94
    for ratio in ("wins-no-ties", "wins-or-ties"):
        assert tau["bradley-terry"] - tau[ratio] > 0.15
        assert tau["expected-wins"] - tau[ratio] > 0.1
    assert mean_tau("wins-no-ties", uneven=uneven, blocks=2400) < 0.78
    assert mean_tau("bradley-terry", uneven=uneven, blocks=2400) > tau["bradley-terry"]


@pytest.mark.slow
def test_with_even_opponents_the_ratios_do_as_well() -> None:
    """30 seeds: .89 and .885; who meets whom does not matter when everybody meets everybody."""
    assert mean_tau("wins-no-ties", uneven=0) == pytest.approx(mean_tau("bradley-terry", uneven=0), abs=0.03)


def test_the_fit_of_pairs_finds_strengths_and_ties() -> None:
    """Screens of two follow the model of the fit exactly, so the fit must come back to what was drawn."""
    qualities = (1.0, 0.4, 0.0, -0.3, -1.1)
    campaign = RankingCampaign(
        systems=5,
        qualities=qualities,
        ties=0.7,
        block_size=2,
        blocks=30_000,
        reference=0,
        segment_spread=0,
        taste=0,
        system_taste=0,
    )
    tally = units_of(comparisons(simulate(campaign).judgments)).total()
    fitted = fit(tally.wins, tally.ties)
    # A strength has a standard error of about .015 here, log nu one of .014.
    assert fitted.strength == pytest.approx(np.array(qualities), abs=0.06)
    assert fitted.log_tie == pytest.approx(np.log(0.7), abs=0.06)


def made_ranking(*systems: tuple[str, int, tuple[int, int]]) -> Ranking:
    """A ranking in the order given: name, cluster, rank set."""
    return Ranking(
        settings={}, data="0", method="by hand", kind="relative", unit="",
        comparisons=(), clusters=(), lines=Lines("rank-sets", 0.05),
        systems=tuple(
            RankedSystem(name, human=False, score=-i, rank=i + 1, rank_set=span, cluster=cluster, n=1)
            for i, (name, cluster, span) in enumerate(systems)
        ),
    )  # fmt: skip


def made_truth(**quality: float) -> Truth:
    systems = tuple(TrueSystem(name, human=False, quality=value, rank=0) for name, value in quality.items())
    return Truth(settings={}, data="0", protocol="ranking", unit="", systems=systems, careless=())


def test_recovery_counts_wrong_pairs_and_wrong_claims() -> None:
    """By hand: b before a and c before a are wrong; b and a share a cluster, so only (c, a) was claimed."""
    ranking = made_ranking(("c", 1, (1, 1)), ("b", 2, (2, 3)), ("a", 2, (2, 3)))
    recovered = recovery(made_truth(a=3, b=2, c=2.5, unranked=9), ranking)
    assert (recovered.systems, recovered.pairs, recovered.misordered) == (3, 3, (("c", "a"), ("b", "a")))
    assert recovered.kendall == pytest.approx(1 - 2 * 2 / 3)
    assert recovered.wrong_claims == (("c", "a"),)
    assert not recovered.best_found
    assert recovered.rank_sets_covering == 1


def test_equal_systems_can_stand_in_any_order() -> None:
    ranking = made_ranking(("a", 1, (1, 2)), ("b", 1, (1, 2)))
    recovered = recovery(made_truth(b=1, a=1), ranking)
    assert recovered.kendall is None
    assert recovered.misordered == ()
    assert recovered.best_found
