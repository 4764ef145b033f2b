"""Bradley-Terry with tastes: against dense linear algebra straight from the formulas, and by what it promises."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binom

from adjudge.ranking import counts as people_module
from adjudge.ranking import tastes
from adjudge.ranking.bradley_terry import fit
from adjudge.ranking.counts import PeopleCounts, annotator_units, people_counts
from adjudge.ranking.methods import RankSettings, rank
from adjudge.ranking.significance import circles, contradicted, unanimous_p
from adjudge.ranking.tastes import TasteFit, compare_people, fit_tastes, refit
from adjudge.table.comparisons import comparisons
from adjudge.table.errors import UsageError
from adjudge.table.judgments import Judgments
from tests.conftest import examples
from tests.helpers.rank_make import blocks, random_blocks
from tests.helpers.relative_campaigns import Outcome, RelativeCampaign, outcomes

Floats = NDArray[np.float64]


def random_people(seed: int, people: int, systems: int, *, games: int = 6) -> PeopleCounts:
    rng = np.random.default_rng(seed)
    lean = np.exp(rng.normal(0, 0.5, (people, systems, 1)))
    wins = rng.poisson(games * lean / (lean + np.swapaxes(lean, 1, 2))).astype(float)
    wins[:, np.arange(systems), np.arange(systems)] = 0
    ties = np.triu(rng.poisson(games / 4, (people, systems, systems)), 1).astype(float)
    return PeopleCounts(wins, ties + np.swapaxes(ties, 1, 2), np.arange(people))


@settings(max_examples=examples(8))
@given(st.integers(0, 10_000), st.integers(2, 6), st.integers(2, 4))
def test_strengths_at_known_variances_are_those_of_the_fit(seed: int, people: int, systems: int) -> None:
    counts = random_people(seed, people, systems)
    fitted = fit_tastes(counts)
    assert refit(counts, fitted.taste, fitted.dispersion) == pytest.approx(fitted.strength, abs=1e-4)
    known = fit_tastes(counts, taste=0.7)
    assert known.taste == 0.7
    assert refit(counts, 0.7, known.dispersion) == pytest.approx(known.strength, abs=1e-6)


def test_without_taste_and_dispersion_strengths_are_the_plain_ones() -> None:
    counts = random_people(2, 4, 5)
    assert refit(counts, 0.0, 1.0) == pytest.approx(fit(counts.wins.sum(0), counts.ties.sum(0)).strength, abs=1e-6)


def test_one_busy_annotator_does_not_outvote_the_others() -> None:
    """By hand: 300 judgments of one person for b, 20 each of six others for a; the majority of people is for a."""
    wins = np.zeros((7, 2, 2))
    wins[0] = [[0, 90], [210, 0]]
    wins[1:] = [[0, 14], [6, 0]]
    counts = PeopleCounts(wins, np.zeros_like(wins), np.arange(7))
    plain, fitted = fit(wins.sum(0), np.zeros((2, 2))).strength, fit_tastes(counts)
    assert plain[0] < plain[1]
    assert fitted.taste > 0
    assert fitted.strength[0] > fitted.strength[1]


def test_people_taken_together_change_little(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = RelativeCampaign(5, (4,) * 90).draw(np.random.default_rng(1))
    units = annotator_units(compared)
    single = compare_people(people_counts(units), compared).fit
    monkeypatch.setattr(people_module, "MOST_PEOPLE", 30)
    together = people_counts(units)
    assert together.wins.sum(0) == pytest.approx(people_counts(units).wins.sum(0))
    assert np.bincount(together.group).tolist() == [3] * 30
    joined = compare_people(people_counts(units), compared).fit
    assert joined.strength == pytest.approx(single.strength, abs=0.1)
    assert joined.system_errors() == pytest.approx(single.system_errors(), rel=0.4)


def test_shared_segments_are_found_and_widen_errors() -> None:
    campaign = RelativeCampaign(6, (60,) * 10, segments=30, segment_sd=1.0, taste=0.0)
    rng = np.random.default_rng(3)
    fits = [_fit(campaign, rng) for _ in range(10)]
    # Gumbel noise and rounding leave log-odds of about .9 of the scale; the estimate is of that order.
    sds = [fit.segment_sd for fit in fits if fit.segment_sd is not None]
    assert len(sds) == 10
    assert 0.6 < float(np.mean(sds)) < 1.1
    alone = RelativeCampaign(6, (60,) * 10, taste=0.0)
    assert _fit(alone, rng).segment_sd is None
    errors = [float(fit.system_errors().mean()) for fit in fits]
    assert float(np.mean(errors)) > 1.5 * float(_fit(alone, rng).system_errors().mean())


def test_the_latest_fits_are_kept_and_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tastes, "WORTH_KEEPING", 1)
    compared = RelativeCampaign(5, (20,) * 6, segments=30, segment_sd=0.8).draw(np.random.default_rng(4))
    people = people_counts(annotator_units(compared))
    first = fit_tastes(people, compared)
    assert fit_tastes(people, compared) is first
    assert fit_tastes(people, compared, taste=0.1) is not first
    other = replace(compared, segment=compared.segment[::-1].copy())
    assert fit_tastes(people, other).segment_sd != first.segment_sd
    for taste in (0.2, 0.3, 0.4, 0.5):
        fit_tastes(people, compared, taste=taste)
    again = fit_tastes(people, compared)
    assert again is not first
    assert again.strength.tolist() == first.strength.tolist()


def _fit(campaign: RelativeCampaign, rng: np.random.Generator) -> TasteFit:
    compared = campaign.draw(rng)
    return compare_people(people_counts(annotator_units(compared)), compared).fit


def test_segments_on_which_people_share_no_system_say_nothing() -> None:
    """Two annotators judge the same ten segments, each other systems; a third joins them on segments of their own."""
    rankings: list[dict[str, int | None]] = []
    people: list[str] = []
    for number in range(60):
        first, second = (("a", "b"), ("c", "d"), ("b", "c"))[number % 3]
        rankings.append({first: 1 + (number % 4 == 0), second: 1 + (number % 4 != 0)})
        people.append(f"p{number % 3}")
    table = blocks(rankings, annotators=people).table
    number_of_block = pl.col("screen").cast(pl.Int64)
    shared = pl.when(pl.col("annotator") == "p2").then(100 + number_of_block).otherwise(number_of_block // 3)
    compared = comparisons(Judgments(table.with_columns(segment=shared.cast(pl.String))))
    strengths = compare_people(people_counts(annotator_units(compared)), compared)
    assert strengths.fit.segment_sd is None
    assert np.isfinite(strengths.fit.covariance).all()


# Rates over simulated campaigns of equal systems. The bench makes more of them.

NUMBER = 100
KINDS = {
    "2 people": RelativeCampaign(6, (30,) * 2),
    "3 people": RelativeCampaign(6, (30,) * 3),
    "5 people, pairs": RelativeCampaign(4, (60,) * 5, shown=2),
    "8 people": RelativeCampaign(6, (30,) * 8),
    "15 people": RelativeCampaign(6, (15,) * 15),
    "one dominates": RelativeCampaign(6, (150, *[30] * 7)),
    # The blocks of 16 annotators of a released campaign (English-German, 2010), about a third of them.
    "released work": RelativeCampaign(4, (180, 60, 40, 33, 30, 20, 17, 13, 12, 10, 8, 7, 5, 3, 2, 1), shown=2),
    "two systems": RelativeCampaign(2, (40,) * 5, shown=2),
    "14 systems": RelativeCampaign(14, (40,) * 5),
    "one polarises": RelativeCampaign(6, (30,) * 6, polarising=1.0),
    "shared segments": RelativeCampaign(6, (40,) * 12, segments=40, segment_sd=1.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_equal_systems_are_told_apart_no_more_often_than_promised(kind: str) -> None:
    number = NUMBER if KINDS[kind].systems < 10 else NUMBER // 2
    results = outcomes(KINDS[kind], number, seed=7)
    most = int(binom.ppf(0.999, number, 0.05))
    assert sum(result.claimed for result in results) <= most
    assert sum(result.line for result in results) <= most
    covered = np.array([result.covered for result in results])
    error = covered.std(ddof=1) / np.sqrt(number)
    assert covered.mean() > 0.95 - 3.3 * max(error, np.sqrt(0.05 * 0.95 / number) / 2)


def test_differences_are_found_where_there_are_some() -> None:
    campaign = RelativeCampaign(4, (30,) * 15, shown=3, strengths=(0.9, 0.3, -0.3, -0.9))
    results: list[Outcome] = outcomes(campaign, 10, seed=1)
    assert all(result.claimed for result in results)
    assert any(result.line for result in results)


# Rules besides the model.


@pytest.mark.parametrize(("streaks", "expected"), [((4, 4), 0.021), ((10, 10, 10), 4e-6)])
def test_unanimous_leads(streaks: tuple[int, ...], expected: float) -> None:
    """Figures from numerical integration with a taste of .5, to the digits given."""
    wins = np.zeros((len(streaks), 2, 2))
    wins[:, 0, 1] = streaks
    p = unanimous_p(wins, 0.0)
    assert p[0, 1] == pytest.approx(expected, rel=0.05)
    assert p[1, 0] == p[0, 1]
    assert unanimous_p(wins, 1.0)[0, 1] > p[0, 1]


@pytest.mark.parametrize(("people", "times"), [(2, 3), (2, 5), (3, 2), (5, 2)])
@pytest.mark.parametrize("taste", [0.0, 0.3, 0.5])
def test_unanimity_is_no_more_frequent_than_its_p_says(people: int, times: int, taste: float) -> None:
    """Two equal systems, tastes as large as released campaigns show or larger; bounds of four Monte-Carlo errors."""
    wins = np.zeros((people, 2, 2))
    wins[:, 0, 1] = times
    p = unanimous_p(wins, 0.0)[0, 1]
    rng = np.random.default_rng(people * 10 + times)
    liking = rng.normal(0, taste, (20_000, people, 2))
    won = rng.binomial(times, 1 / (1 + np.exp(liking[..., 1] - liking[..., 0])))
    unanimous = ((won == times).all(1) | (won == 0).all(1)).mean()
    assert unanimous <= p + 4 * np.sqrt(p / 20_000)


def circle() -> Judgments:
    rounds = [{"a": 1, "b": 2}, {"b": 1, "c": 2}, {"c": 1, "a": 2}]
    return blocks(rounds * 30, annotators=[f"p{i // 3 % 5}" for i in range(90)])


@pytest.mark.parametrize("method", ["bradley-terry", "expected-wins", "wins-no-ties", "trueskill"])
@pytest.mark.parametrize("significance", [None, "resample"])
def test_a_circle_claims_nothing_and_is_told(method: str, significance: None) -> None:
    ranking = rank(circle(), method=method, settings=RankSettings(resamples=60, significance=significance))
    assert any("the direct comparisons of a, b, c form a cycle" in note for note in ranking.notes)
    against = [pair for pair in ranking.comparisons if pair.numbers["wins"] == 0]
    assert [pair.p for pair in against] == [1.0] * len(against)
    assert len(against) == 1
    assert any("won 0 and lost 30" in note for note in ranking.notes)


def test_circles_and_contradictions_by_hand() -> None:
    wins = np.array([[0, 30, 0, 9], [0, 0, 30, 9], [30, 0, 0, 9], [1, 1, 1, 0]], dtype=float)
    assert circles(wins, 0.05) == [[0, 1, 2]]
    marked = contradicted(np.array([3.0, 2, 1, 0]), wins)
    assert np.argwhere(np.triu(marked)).tolist() == [[0, 2]]


def test_one_person_gets_a_note() -> None:
    judgments = blocks([{"a": 1, "b": 2, "c": 3}] * 40 + [{"a": 2, "b": 1, "c": 3}] * 4, annotators=["only"] * 44)
    for method in ("bradley-terry", "expected-wins"):
        ranking = rank(judgments, method=method)
        assert any("holds for this person only" in note for note in ranking.notes)
        unnamed = Judgments(judgments.table.with_columns(annotator=pl.lit(None, dtype=pl.String)))
        assert any("holds for those who judged only" in note for note in rank(unnamed, method=method).notes)
    assert len(rank(judgments).clusters) > 1
    assert len(rank(judgments, settings=RankSettings(lines="none")).clusters) == 1


def test_few_people_are_told() -> None:
    two = rank(random_blocks(1, annotators=2))
    assert any("only 2 annotators: tastes are allowed for" in note for note in two.notes)
    five = rank(random_blocks(1, annotators=5))
    assert not any("annotators" in note for note in five.notes)
    ratio = rank(random_blocks(1, annotators=5), method="expected-wins", settings=RankSettings(resamples=50))
    assert any("too narrow; bradley-terry allows for it" in note for note in ratio.notes)
    assert any("ignore that annotators have tastes" in note for note in ratio.notes)


def test_tastes_are_for_strengths_only() -> None:
    with pytest.raises(UsageError, match="wins has no model of tastes"):
        rank(random_blocks(1), method="wins", settings=RankSettings(significance="tastes"))


def test_comparisons_without_an_annotator_are_told() -> None:
    rows = [("p", "x", "y")] * 5 + [("q", "y", "x")] * 4 + [(None, "x", "y")] * 3
    columns: dict[str, Any] = {
        "protocol": ["pairwise"] * 2 * len(rows),
        "annotator": [who for who, *_ in rows for _ in range(2)],
        "segment": [str(number) for number in range(len(rows)) for _ in range(2)],
        "system": [system for _, *systems in rows for system in systems],
        "rank": [1, 2] * len(rows),
    }
    told = "3 comparisons name no annotator: they count as those of one more person; name the annotators"
    partly = Judgments.from_columns(columns)
    people = "only 2 annotators and judgments without a name, which count as one person's"
    for method, few in (
        ("bradley-terry", f"{people}: tastes are allowed"),
        ("wins", f"{people}: intervals, rank sets"),
    ):
        notes = rank(partly, method=method).notes
        assert told in notes
        assert any(note.startswith(few) for note in notes), notes
    columns["annotator"] = [who or "r" for who in columns["annotator"]]
    assert told not in rank(Judgments.from_columns(columns)).notes


@pytest.mark.parametrize(
    ("who", "note"),
    [
        (["a0"], "new was judged by one annotator: the result for it rests on that person's taste"),
        (["a0", "a1"], None),
        (["a0", None], "new was judged by one annotator with a name: the result for it rests on that person's taste"),
        ([None], "new was judged by nobody with a name: the result for it may rest on one person's taste"),
    ],
)
def test_judgments_without_a_name_are_no_judge(who: list[str | None], note: str | None) -> None:
    # Names before and after "(unknown)", which stands for those without.
    table = random_blocks(5, systems=4, annotators=3).table.with_columns(pl.col("annotator").replace("a2", "#2"))
    people = [who[i % len(who)] for i in range(6)]
    ranks = {"screen": [f"n{i // 2}" for i in range(12)], "segment": [f"n{i // 2}" for i in range(12)]}
    added = blocks([{"new": 1 + i % 2, "s1": 2 - i % 2} for i in range(6)]).table.with_columns(
        pl.Series("annotator", [person for person in people for _ in range(2)], dtype=pl.String),
        *(pl.Series(name, values) for name, values in ranks.items()),
    )
    told = [note for note in rank(Judgments(pl.concat([table, added]))).notes if note.startswith("new was judged")]
    assert len(told) == (note is not None)
    assert note is None or told[0].startswith(note)
