"""Audits of rankings and pairs: on judgments made by hand, against rankings made again, and by simulation."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import kendalltau

from adjudge.evidence.aa import _Relative, aa
from adjudge.evidence.audit import AuditSettings, audit
from adjudge.evidence.claims import claims_section as claims_of_rankings
from adjudge.evidence.compared_campaigns import campaign_of_judgments, draw_documents
from adjudge.evidence.stability import StabilityRow, stability_section
from adjudge.evidence.trust import influence, random_halves, reliability
from adjudge.ranking import relative_estimator
from adjudge.ranking.changes import ChangeFamily, block_weights, near_pairs, relative_changes
from adjudge.ranking.counts import (
    MOST_PEOPLE,
    annotator_units,
    count_people,
    group_of,
    grouped,
    people_counts,
    person_of,
)
from adjudge.ranking.estimator import estimator_of
from adjudge.ranking.methods import RankSettings, find_method, rank
from adjudge.ranking.relative_estimator import HELD, RelativeEstimator
from adjudge.ranking.tastes import fit_tastes, refit
from adjudge.ranking.tournament import tournament
from adjudge.table.comparisons import comparisons
from adjudge.table.errors import DataError
from adjudge.table.judgments import Judgments
from adjudge.table.rng import generator
from tests.helpers.rank_make import blocks, random_blocks
from tests.helpers.relative_campaigns import RelativeCampaign

STRENGTHS = find_method("bradley-terry")
RATIO = find_method("wins-no-ties")


def stability_of(judgments: Judgments, method: str = "bradley-terry", lines: str = "rank-sets") -> list[StabilityRow]:
    return [*stability_section(judgments, AuditSettings(method=method, lines=lines)).rows]


def rows_of(judgments: Judgments, method: str = "wins-no-ties") -> dict[str, StabilityRow]:
    return {row.change: row for row in stability_of(judgments, method, "holm")}


def ratio_order(judgments: Judgments) -> tuple[str, ...]:
    return rank(judgments, method="wins-no-ties", settings=RankSettings(resamples=0)).order


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        ("human removed", pl.col("system") != "ref"),
        ("without annotator a2", pl.col("annotator") != "a2"),
        ("without source segment 7", pl.col("segment") != "7"),
        ("without s2", pl.col("system") != "s2"),
    ],
)
def test_what_is_left_out_is_left_out(change: str, kept: pl.Expr) -> None:
    """The order after a change is that of the table without those rows."""
    judgments = random_blocks(3)
    rows = rows_of(judgments)
    if change not in rows:
        change = next(name for name in rows if name.startswith("without source segment"))
        kept = pl.col("segment") != change.rsplit(" ", 1)[1]
    assert rows[change].order == ratio_order(judgments.select(kept))


def test_ties_repeats_and_weights_by_hand() -> None:
    judgments = blocks(
        [{"a": 1, "b": 2, "c": 2}, {"a": 1, "b": 2, "c": 2}, {"a": 2, "b": 1}],
        annotators=["x", "x", "y"],
    )
    again = judgments.table.with_columns(segment=pl.lit("1"))
    compared = comparisons(Judgments(again))
    made = {change.name: change for change in relative_changes(compared, np.arange(3))}
    assert made["ties dropped"].apply(compared).outcome.tolist().count(0) == 0
    without = made["repeats dropped"].apply(compared)
    # x judged the same three pairs twice; y judged one.
    assert (len(compared), len(without)) == (7, 4)
    # Each of three systems meets two others in a block of three, and one in a block of two.
    assert sorted(block_weights(compared).tolist()) == [0.5] * 6 + [1.0]


def test_the_human_on_top_is_removed_once() -> None:
    judgments = blocks([{"a": 1, "b": 2, "c": 3}], annotators=["x"])
    table = judgments.table.with_columns(human=pl.col("system") == "a")
    compared = comparisons(Judgments(table))
    first, last = (
        {one.name for one in relative_changes(compared, np.array(order))} for order in ([0, 1, 2], [1, 2, 0])
    )
    assert ("human removed" in first, "highest removed" in first) == (True, False)
    assert ("human removed" in last, "highest removed" in last) == (True, True)


@pytest.mark.parametrize("unknown", ["annotator", "segment"])
def test_what_names_neither_person_nor_text_repeats_nothing(unknown: str) -> None:
    """Counts of pairs name nobody: all comparisons of two systems but one would be dropped as repeats."""
    judgments = blocks([{"a": 1, "b": 2}, {"a": 1, "b": 2}], annotators=["x", "x"])
    table = judgments.table.with_columns(pl.lit("1").alias("segment"))
    named = comparisons(Judgments(table))
    assert "repeats dropped" in {change.name for change in relative_changes(named, np.arange(2), ("1",))}
    blank = Judgments(table.with_columns(pl.lit(None, dtype=pl.String).alias(unknown)))
    segments = ("(unknown)" if unknown == "segment" else "1",)
    changes = {change.name for change in relative_changes(comparisons(blank), np.arange(2), segments)}
    assert "ties dropped" in changes
    assert "repeats dropped" not in changes


def test_neighbours_are_a_quarter_of_the_ranks_apart() -> None:
    near = near_pairs(np.array([2, 0, 1, 3, 4, 5, 6, 7]))
    # Eight systems: two ranks at most. System 2 is first, then 0, 1, 3.
    assert near[2].tolist() == [True, True, True, False, False, False, False, False]


def test_every_family_is_there_and_counts_are_told() -> None:
    rows = stability_of(random_blocks(4, systems=8, number=200))
    families = {row.family for row in rows}
    only_of_scores = (
        ChangeFamily.HUMAN_DIVIDED,
        ChangeFamily.LOWEST_RAISED,
        ChangeFamily.DOCUMENT_REMOVED,
        ChangeFamily.REFERENCES_REMOVED,
    )
    # The human is the highest, which is removed once.
    assert families == {*ChangeFamily} - {*only_of_scores, ChangeFamily.HIGHEST_REMOVED}
    for row in rows:
        common = set(row.order) & set(row.baseline_order)
        assert row.pairs == len(common) * (len(common) - 1) // 2
        assert row.rank_changed == bool(row.flips)
        assert [name for cluster in row.clusters for name in cluster] == list(row.order)


def test_the_baseline_is_the_ranking_itself() -> None:
    judgments = random_blocks(5, number=150)
    row = next(row for row in stability_of(judgments) if not row.removed)
    ranking = rank(judgments)
    assert row.baseline_order == ranking.order


def test_a_planted_annotator_has_the_most_influence() -> None:
    """Nine people order a, b, c with some noise; one who does as much work says the opposite."""
    rng = np.random.default_rng(1)
    rankings: list[dict[str, int | None]] = []
    people = []
    for person in range(10):
        for _ in range(15):
            value = np.array([1.0, 0.0, -1.0]) * (-2 if person == 4 else 1) + rng.gumbel(size=3)
            ranks = 1 + (value[:, None] < value[None, :]).sum(1)
            rankings.append(dict(zip("abc", ranks.tolist(), strict=True)))
            people.append(f"p{person}")
    influences = influence(estimator_of(blocks(rankings, annotators=people)))
    assert (influences.rows[0].unit, influences.rows[0].name) == ("annotator", "p4")
    assert influences.rows[0].judgments == 45
    assert {row.unit for row in influences.rows} == {"annotator", "segment"}
    assert influences.pairs == 3


def test_people_who_agree_wholly_are_reliable_by_every_method() -> None:
    judgments = blocks([{"a": 2, "b": 3, "c": 4, "ref": 1}] * 40, annotators=[f"p{i % 8}" for i in range(40)])
    reliability_result = reliability(estimator_of(judgments), splits=4)
    assert {name: round(agreement.tau, 6) for name, agreement in reliability_result.methods.items()} == dict.fromkeys(
        reliability_result.methods, 1.0
    )
    assert set(reliability_result.methods) >= {"bradley-terry", "expected-wins", "mfas", "trueskill", "wins-or-ties"}
    with pytest.raises(DataError, match="4 named annotators"):
        reliability(estimator_of(random_blocks(1, annotators=3)))


def test_reliability_is_tau_between_rankings_of_halves() -> None:
    compared = comparisons(random_blocks(6, number=120, annotators=8))
    reliability_result = reliability(RelativeEstimator(compared), splits=1, seed=3)
    units = annotator_units(compared)
    halves = random_halves(units.number, generator(3, 42, 0))
    scores = [find_method("wins").score(units.weighted(half.astype(float)), generator(1)) for half in halves]
    assert reliability_result.methods["wins"].tau == pytest.approx(kendalltau(*scores).statistic)


def test_halves_of_systems_keep_every_comparison() -> None:
    compared = RelativeCampaign(5, (20,) * 8).draw(np.random.default_rng(1))
    estimator = RelativeEstimator(compared)
    split = estimator.halved(_Relative(estimator).random_halves(np.random.default_rng(2)))
    assert len(split.systems) == 10
    assert len(split) == len(compared)
    assert (split.first < split.second).all()
    again = np.stack([split.first % 5, split.second % 5])
    turned = again[0] > again[1]
    assert np.where(turned, again[1], again[0]).tolist() == compared.first.tolist()
    assert np.where(turned, -split.outcome, split.outcome).tolist() == compared.outcome.tolist()
    for system in range(5):
        people = [set(split.annotator[(split.first == half) | (split.second == half)]) for half in (system, system + 5)]
        assert not people[0] & people[1]
        assert len(people[0]) == len(people[1]) == 4


LARGE_CAMPAIGN = RelativeCampaign(6, (40,) * 16, segments=120, segment_sd=0.8, strengths=(0.0, 0.2, 0.4, 0.6, 0.8, 1.0))


def test_changes_of_large_campaigns_are_near_those_fitted_again() -> None:
    """The slow counterpart fits the texts of every change again. What is unchanged is the whole itself."""
    compared = LARGE_CAMPAIGN.draw(np.random.default_rng(0))
    estimator = RelativeEstimator(compared)
    whole, same = estimator.estimate, estimator.changed(compared)
    assert same.effects == pytest.approx(whole.effects, abs=1e-12)
    assert same.contrasts.two_sided == pytest.approx(whole.contrasts.two_sided, abs=1e-12, nan_ok=True)
    taste = estimator.estimate_at()[1]
    units = (ChangeFamily.ANNOTATOR_REMOVED, ChangeFamily.SEGMENT_REMOVED)
    for change in relative_changes(compared, np.argsort(-whole.effects)):
        if change.weighted:
            continue
        part = change.apply(compared)
        slow, fast = RelativeEstimator(part).estimate_at(taste)[0], estimator.changed(part)
        assert fast.systems == slow.systems
        upper = np.triu_indices(len(part.systems), 1)
        error = slow.contrasts.se[upper]
        shift = np.abs(fast.contrasts.difference - slow.contrasts.difference)[upper] / error
        ratio = fast.contrasts.se[upper] / error
        few = change.family in units
        assert shift.max() < (0.15 if few else 0.5), change.name
        assert np.abs(np.log(ratio)).max() < (0.15 if few else 0.25), change.name


def test_large_campaigns_say_what_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    judgments = random_blocks(1, annotators=12, systems=5, number=200)
    small = stability_section(judgments, AuditSettings())
    assert not any(HELD in note for note in small.notes)
    with monkeypatch.context() as patched:
        patched.setattr(RelativeEstimator, "is_large", True)
        held = stability_section(judgments, AuditSettings())
    assert held.notes[0] == f"after changes, {HELD}"
    assert len(held.notes[0].split()) <= 25
    assert [row.change for row in held.rows] == [row.change for row in small.rows]
    assert [row.baseline_order for row in held.rows] == [row.baseline_order for row in small.rows]
    monkeypatch.setattr(relative_estimator, "LARGE", 10)
    large = RelativeEstimator(AA_KINDS["12 people, shared segments"].draw(np.random.default_rng(3)))
    assert large.is_large
    assert aa(large, tests=["bradley-terry"], splits=1).notes == (f"in halves, {HELD}",)
    alone = RelativeEstimator(AA_KINDS["5 people"].draw(np.random.default_rng(3)))
    assert not alone.is_large, "no two screens share a text, so that nothing takes long"


@pytest.mark.slow
def test_the_a_a_test_of_large_campaigns_is_honest(monkeypatch: pytest.MonkeyPatch) -> None:
    """As below, where halves are compared at what all judgments say of tastes and texts."""
    monkeypatch.setattr(relative_estimator, "LARGE", 0)
    test_the_a_a_test_is_honest_where_people_have_tastes("12 people, shared segments")


AA_KINDS = {
    "5 people": RelativeCampaign(6, (40,) * 5),
    "10 people, pairs": RelativeCampaign(5, (60,) * 10, shown=2),
    "12 people, shared segments": RelativeCampaign(6, (30,) * 12, segments=60, segment_sd=1.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", AA_KINDS)
def test_the_a_a_test_is_honest_where_people_have_tastes(kind: str) -> None:
    """4 to 6% are promised; the bounds allow for the Monte-Carlo error of 50 campaigns."""
    rng = np.random.default_rng(11)
    rates = np.array(
        [
            aa(RelativeEstimator(AA_KINDS[kind].draw(rng)), tests=["bradley-terry"], splits=3, seed=seed)
            .rates["bradley-terry"]
            .rate_05
            for seed in range(50)
        ]
    )
    error = rates.std(ddof=1) / np.sqrt(len(rates))
    assert 0.04 - 3 * error < rates.mean() < 0.06 + 3 * error


def test_the_a_a_test_needs_people() -> None:
    with pytest.raises(DataError, match="4 named annotators"):
        aa(estimator_of(random_blocks(1, annotators=3)))


@pytest.mark.slow
def test_all_sections_of_rankings_have_tables_and_json() -> None:
    judgments = random_blocks(7, number=160, annotators=6)
    names = ("stability", "aa", "reliability", "influence")
    audit_result = audit(judgments, only=names, settings=AuditSettings(seed=2))
    assert tuple(audit_result.sections) == names
    plain = audit_result.to_dict()
    assert {
        "change",
        "removed",
        "rank_changed",
        "cluster_changed",
        "both_changed",
        "order",
        "clusters",
        "flips",
    } <= set(plain["stability"][0])
    tests = {"bradley-terry", "bradley-terry resample", "expected-wins resample"}
    assert set(plain["aa"]) == {*tests, "by_annotator"}
    assert set(plain["aa"]["bradley-terry"]) == {"tests", "rate_05", "rate_01", "interval"}
    assert all(section.tables()[0].rows for section in audit_result.sections.values())
    assert plain == audit(judgments, only=names, settings=AuditSettings(seed=2)).to_dict()


def test_another_method_can_be_audited() -> None:
    audit_result = audit(random_blocks(8), only=["stability"], settings=AuditSettings(method="wins-or-ties"))
    assert rows_of(random_blocks(8), "wins-or-ties").keys()
    assert getattr(audit_result.sections["stability"], "method", None) == "wins-or-ties"


def test_counts_of_people_are_those_of_units() -> None:
    compared = RelativeCampaign(5, (7, 3, 9)).draw(np.random.default_rng(3))
    counted = count_people(compared, person_of(compared), group_of(compared))
    expected = people_counts(annotator_units(compared))
    assert counted.wins == pytest.approx(expected.wins)
    assert counted.ties == pytest.approx(expected.ties)


def test_very_many_people_share_places_evenly() -> None:
    group = grouped(np.arange(2.0 * MOST_PEOPLE))
    assert np.bincount(group).tolist() == [2] * MOST_PEOPLE
    assert group[-1] == 0


def busy_annotator(seed: int) -> Judgments:
    """Six people rank six systems and a reference; one of them does half of the work and has a taste of their own."""
    rng = np.random.default_rng(seed)
    names = ["ref", *(f"s{number}" for number in range(6))]
    taste = rng.normal(0, 1.0, (6, 7))
    who = np.repeat(np.arange(6), [60, 12, 12, 12, 12, 12])
    rankings: list[dict[str, int | None]] = []
    for person in who:
        shown = rng.choice(7, size=4, replace=False)
        value = np.where(shown == 0, 1.5, 0.0) + taste[person, shown] + rng.gumbel(size=4)
        ranks = 1 + (value[:, None] < value[None, :]).sum(1)
        rankings.append({names[system]: int(own) for system, own in zip(shown, ranks, strict=True)})
    return blocks(rankings, annotators=[f"a{person}" for person in who])


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_one_set_of_strengths_everywhere(seed: int) -> None:
    """The ranking, the tournament, the comparison of campaigns and the baseline of stability have the same order.

    One annotator does half of the work, so that strengths without tastes have another order.
    """
    judgments = busy_annotator(seed)
    ranking = rank(judgments, method="bradley-terry")
    order = tuple(name for name in ranking.order if name != "ref")
    plain = rank(judgments, method="bradley-terry", settings=RankSettings(significance="resample", resamples=2))
    assert ranking.order != plain.order
    assert tournament(judgments, methods=["bradley-terry"]).orders["bradley-terry"] == order
    draws = draw_documents([judgments], resamples=20, seed=1)
    scores = campaign_of_judgments("campaign", judgments, 0, None, draws).scores
    assert scores == pytest.approx({system.system: system.score for system in ranking.systems}, abs=1e-9)
    assert stability_of(judgments, lines="holm")[0].baseline_order == order


def test_split_halves_have_the_strengths_of_the_ranking() -> None:
    """Each half ranked by itself, at the taste that all show."""
    judgments = busy_annotator(4)
    compared = comparisons(judgments)
    people = people_counts(annotator_units(compared))
    fitted = fit_tastes(people, compared)
    both = random_halves(6, generator(1, 42, 0))
    halves = [refit(people.of(rows), fitted.taste, fitted.errors) for rows in both]
    expected = float(kendalltau(*halves).statistic)
    assert reliability(RelativeEstimator(compared), splits=1, seed=1).methods["bradley-terry"].tau == pytest.approx(
        expected
    )


def test_what_is_not_tried_is_said() -> None:
    """Thirty segments and annotators are left out for stability, sixty for influence; the rest is counted."""
    judgments = random_blocks(3, number=90)
    table = judgments.table.with_columns(segment=pl.col("screen"))
    made = audit(Judgments(table), only=["stability", "influence"])
    segments = table["segment"].n_unique()
    assert segments > 60
    busiest = [note for note in made.notes if "with the most comparisons" in note]
    assert busiest == [
        f"stability: of {segments} source segments, the 30 with the most comparisons are left out in turn",
        f"influence: of {segments} source segments, the 60 with the most comparisons are left out in turn",
    ]


def test_changes_after_which_nothing_can_be_ranked_are_named() -> None:
    """c was judged by p1 alone: without p1 it is compared with nobody."""
    rankings: list[dict[str, int | None]] = [{"a": 1, "b": 2, "c": 3}, {"a": 3, "b": 2, "c": 1}]
    rankings += [{"a": 1, "b": 2}, {"a": 2, "b": 1}]
    made = audit(blocks(rankings, annotators=["p1", "p1", "p2", "p3"]), only=["stability"])
    assert any(
        "after which the rest cannot be ranked (" in note and "without annotator p1" in note for note in made.notes
    )


def test_the_a_a_test_has_the_shape_of_scores() -> None:
    made = audit(random_blocks(5), only=["aa"]).to_dict()["aa"]
    assert made["by_annotator"]["bradley-terry"] == made["bradley-terry"]
    assert "by_annotator" not in made["by_annotator"]


def without_names(judgments: Judgments, *people: str) -> Judgments:
    unnamed = pl.when(~pl.col("annotator").is_in(people)).then("annotator")
    return Judgments(judgments.table.with_columns(unnamed.alias("annotator")))


def test_comparisons_without_an_annotator_are_in_no_half() -> None:
    """Halves are those of the named people alone; three of them and judgments without a name are no four people."""
    judgments = random_blocks(6, number=120, annotators=8)
    crowd = without_names(judgments, "a1", "a2")
    named = Judgments(judgments.table.filter(~pl.col("annotator").is_in(["a1", "a2"])))
    unnamed = len(comparisons(judgments)) - len(comparisons(named))
    note = f"{unnamed} comparisons name no annotator, and are in no half of the annotators"
    for section in (reliability, aa):
        mixed, alone = (section(estimator_of(part), splits=2, seed=1) for part in (crowd, named))
        assert mixed.to_dict() == alone.to_dict()
        assert (mixed.notes, alone.notes) == ((note,), ())
    few = estimator_of(without_names(judgments, "a0", "a1", "a2", "a3", "a4"))
    with pytest.raises(DataError, match="4 named annotators"):
        reliability(few)
    with pytest.raises(DataError, match="4 named annotators"):
        aa(few)


def test_claims_count_the_people_who_are_named() -> None:
    rankings = [{"a": 1, "b": 2, "c": 3}] * 40
    judgments = blocks(rankings, annotators=[f"p{i % 5}" for i in range(40)])
    everybody, four, three = (
        claims_of_rankings(without_names(judgments, *people), AuditSettings()) for people in ((), ("p4",), ("p3", "p4"))
    )
    assert (everybody.annotators, everybody.notes) == (5, ())
    assert (four.annotators, three.annotators) == (None, None)
    assert {claim.verdict for claim in everybody.claims} >= {"holds"} or everybody.counted("fragile")
    two = claims_of_rankings(without_names(judgments, "p2", "p3", "p4"), AuditSettings())
    assert two.counted("holds") == 0
