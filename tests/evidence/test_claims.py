"""Claims: which ones the data support, which ones survive the audits, and how the others are worded."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from adjudge.evidence.audit import AuditSettings, audit
from adjudge.evidence.claims import Claim, Claims, Trial, try_claim
from adjudge.evidence.verdict import OWN_SPREAD
from adjudge.mixed import model
from adjudge.ranking.estimator import Estimate
from adjudge.ranking.methods import rank
from adjudge.table.judgments import Judgments
from tests.helpers.rank_make import blocks, random_blocks


def campaign(effects: dict[str, float], *, seed: int = 1, annotators: int = 10, documents: int = 12) -> Judgments:
    """Every annotator judges every system on four documents; annotators, documents and pages have their own effects."""
    rng = np.random.default_rng(seed)
    document_effect = rng.normal(0, 4, documents)
    rows = []
    for a in range(annotators):
        lenient = rng.normal(0, 8)
        for d in rng.choice(documents, size=4, replace=False):
            for system, effect in effects.items():
                page = rng.normal(0, 2)
                for s in range(4):
                    score = 60 + effect + lenient + document_effect[d] + page + rng.normal(0, 6)
                    rows.append((f"a{a}", f"d{d}", f"{s}", system, float(np.clip(score, 0, 100))))
    names = ("annotator", "document", "segment", "system", "score")
    columns: dict[str, object] = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    fixed = {"protocol": ["da"] * len(rows), "campaign": ["t"] * len(rows)}
    task = [f"{row[0]}-task" for row in rows]
    return Judgments.from_columns(
        {**columns, **fixed, "task": task, "human": [row[3] in ("HUMAN", "refA", "refB") for row in rows]}
    )


def claims_of(judgments: Judgments, settings: AuditSettings | None = None) -> Claims:
    claims = audit(judgments, only=["claims"], settings=settings).sections["claims"]
    assert isinstance(claims, Claims)
    return claims


def by_text(claims: Claims) -> dict[str, Claim]:
    return {claim.claim: claim for claim in claims.claims}


def test_a_large_campaign_says_how_units_were_left_out_and_claims_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    judgments = campaign({"good": 25.0, "fair": 0.0, "near": 4.0, "poor": -25.0}, seed=21)
    usual = claims_of(judgments)
    assert "too large" not in usual.tables()[0].note
    monkeypatch.setattr(model, "MANY_ROWS", 5)
    model.forget_models()
    large = claims_of(judgments)
    assert "The campaign is too large to be fitted again" in large.tables()[0].note
    assert [(claim.claim, claim.verdict) for claim in large.claims] == [
        (claim.claim, claim.verdict) for claim in usual.claims
    ]
    model.forget_models()


def test_a_clear_difference_holds_and_equal_systems_are_not_told_apart() -> None:
    audited = claims_of(campaign({"good": 25.0, "fair": 0.0, "same": 0.0, "poor": -25.0}))
    claims = by_text(audited)
    assert claims["good is better than poor"].verdict == "holds"
    assert claims["good is better than poor"].broken_by == ()
    assert "any annotator left out" in claims["good is better than poor"].survives
    assert "order by z-scores" in claims["good is better than poor"].survives
    assert (claims["good is better than poor"].replication or 0.0) > 0.9
    pair = next(claim for name, claim in claims.items() if "fair" in name and "same" in name)
    assert pair.verdict == "not supported"
    assert pair.survives == pair.broken_by == ()
    assert claims["good is the best"].verdict == "holds"
    low, high = claims["good is better than poor"].interval or (0, 0)
    assert low < 50 < high


def test_what_rests_on_one_annotator_is_not_supported() -> None:
    """Only one person, who judged a great deal, sees any difference between x and y; this may be a taste."""
    rng = np.random.default_rng(3)
    rows = []
    for a in range(6):
        for d in range(12 if a == 0 else 3):
            for system in ("x", "y", "z"):
                for s in range(4):
                    lead = 30.0 if a == 0 and system == "x" else 0.0
                    rows.append((f"a{a}", f"d{d}", str(s), system, 50 + lead + rng.normal(0, 4)))
    names = ("annotator", "document", "segment", "system", "score")
    columns: dict[str, object] = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    judgments = Judgments.from_columns({**columns, "protocol": ["da"] * len(rows), "campaign": ["t"] * len(rows)})
    claim = by_text(claims_of(judgments))["x is better than y"]
    assert claim.verdict == "not supported"


@pytest.mark.slow
def test_parity_is_shown_not_assumed() -> None:
    """Few data cannot show equality: absence of a difference is no parity. Many can."""
    few = by_text(claims_of(campaign({"HUMAN": 0.0, "mt": 0.0, "bad": -30.0}, annotators=3)))
    assert few["mt is at parity with HUMAN"].verdict == "not supported"
    large = campaign({"HUMAN": 0.0, "mt": 0.0, "bad": -30.0}, annotators=40, documents=40)
    many = by_text(claims_of(large, AuditSettings(margin=6.0)))
    assert many["mt is at parity with HUMAN"].verdict == "holds"
    assert many["bad is at parity with HUMAN"].verdict == "not supported"
    assert many["HUMAN is better than bad"].verdict == "holds"


def test_rankings_make_claims_too() -> None:
    audited = claims_of(random_blocks(3, number=400, annotators=12))
    claims = by_text(audited)
    assert audited.method == "bradley-terry"
    assert claims["ref is better than s4"].verdict == "holds"
    assert "any annotator left out" in claims["ref is better than s4"].survives
    assert "without the reference" in {name for claim in audited.claims for name in claim.survives}
    few = claims_of(random_blocks(4, number=30, annotators=6))
    assert few.counted("not supported") > 0
    assert all(claim.survives == claim.broken_by == () for claim in few.claims if claim.verdict == "not supported")


def test_the_json_is_a_list_of_claims() -> None:
    plain = audit(campaign({"a": 20.0, "b": 0.0}), only=["claims"]).to_dict()["claims"]
    assert {"claim", "estimate", "interval", "p_holm", "p_adjusted", "survives", "broken_by", "verdict",
            "replication", "reason"} <= set(plain[0])  # fmt: skip
    assert {claim["verdict"] for claim in plain} <= {"holds", "needs more people", "fragile", "not supported"}


def test_a_family_is_survived_only_whole() -> None:
    ahead, behind = (np.array([[0.0, sign], [-sign, 0.0]]) for sign in (1.0, -1.0))
    trials = [Trial("one", "all", ahead), Trial("two", "all", behind), Trial("other", "other", ahead)]
    assert try_claim(trials, lambda trial: trial.keeps_better(0, 1)) == (("other",), ("two",), ("all",))


def test_audits_are_counted_whole_whether_survived_or_not() -> None:
    """Of four audits, one of which breaks the claim three times, three are survived."""
    claim = Claim(
        "a is better than b", "better", ("a", "b"), 1.0, (0.5, 1.5), 0.01, ("x", "y", "z"), ("ann", "bob", "cy"),
        "fragile", fails=("any annotator left out",), reason="without annotator ann the order is reversed",
    )  # fmt: skip
    (table,) = Claims("mixed", "points", 0.05, None, (claim,), ()).tables()
    assert table.rows[0][-2:] == ("3 of 4", "without annotator ann the order is reversed")


def test_a_claim_names_the_audits_that_it_fails() -> None:
    claims = by_text(claims_of(campaign({"good": 30.0, "fair": 0.0, "poor": -30.0})))
    assert claims["good is better than poor"].fails == ()
    lone = campaign({"good": 20.0, "fair": 0.0}).select(pl.col("annotator").is_in(["a1", "a2", "a3"]))
    three = claims_of(lone).claims[0]
    assert (three.verdict, three.fails) == ("fragile", ("any annotator left out",))
    two = claims_of(lone.select(pl.col("annotator") != "a3")).claims[0]
    assert two.verdict in ("needs more people", "not supported")


def test_a_claim_about_a_system_that_one_person_judged_never_holds() -> None:
    """However far ahead it is, nothing is known of it without that person."""
    whole = campaign({"good": 30.0, "fair": 0.0, "poor": -30.0})
    lone = whole.select((pl.col("system") != "good") | (pl.col("annotator") == "a3"))
    assert any("good was judged by one annotator" in note for note in rank(lone).notes)
    claims = by_text(claims_of(lone))
    assert claims["good is better than poor"].verdict == "fragile"
    assert claims["good is better than poor"].broken_by[0] == "annotator a3 left out"
    assert claims["good is better than poor"].reason == "nothing is known of it without annotator a3"
    assert claims["fair is better than poor"].verdict == "holds"


def test_a_lead_that_one_of_several_people_saw_is_not_supported() -> None:
    """Ranks: one person alone put the new system first, thirty times in a row; five others never saw it."""
    rankings: list[dict[str, int | None]] = [
        {"new": 1, "old": 2 + (i % 7 == 0), "poor": 2 + (i % 7 != 0)} for i in range(30)
    ]
    rankings += [{"old": 1 + (i % 7 == 0), "poor": 1 + (i % 7 != 0)} for i in range(100)]
    judgments = blocks(rankings, annotators=["a0"] * 30 + [f"a{1 + i % 5}" for i in range(100)])
    ranking = rank(judgments)
    assert any("new was judged by one annotator" in note for note in ranking.notes)
    claims = by_text(claims_of(judgments))
    assert claims["new is better than old"].verdict == "not supported"
    assert claims["old is better than poor"].verdict != "not supported"


def test_a_trial_needs_order_and_significance() -> None:
    difference, ones = np.array([[0.0, 2.0], [-2.0, 0.0]]), np.ones((2, 2))
    assert Trial("t", "t", difference, ones * 0.04).keeps_better(0, 1)
    assert not Trial("t", "t", difference, ones * 0.06).keeps_better(0, 1)
    assert not Trial("t", "t", difference, ones * 0.04, level=0.01).keeps_better(0, 1)
    assert not Trial("t", "t", -difference, ones * 0.01).keeps_better(0, 1)
    # What is not in the trial is not tried, unless it rests on what was left out.
    nothing = np.full((2, 2), np.nan)
    assert not Trial("t", "t", nothing, nothing).applies(0, 1)
    assert Trial("t", "t", nothing, nothing, needed=True).applies(0, 1)
    estimates = [
        Estimate.of_effects(("a", "b"), np.zeros(2, dtype=bool), np.array([2.0, 0.0]), np.eye(2) * size, ones * np.inf)
        for size in (0.02, 0.5)
    ]
    # By two one-sided tests: 1 point from the margin, with errors of .2 and 1.
    kept = [Trial("t", "t", difference, estimate=estimate).keeps_parity(("a", "b"), 3.0) for estimate in estimates]
    assert kept == [True, False]


def test_a_claim_that_annotators_part_over_is_fragile() -> None:
    """Nine of twelve people prefer x to y by 20 points, three prefer y: the mean is clear, the people are not one."""
    rng = np.random.default_rng(8)
    rows = []
    for a in range(12):
        for d in range(6):
            for system in ("x", "y", "u", "v", "w"):
                lead = {"x": 20.0 if a < 9 else -14.0}.get(system, 0.0)
                rows += [(f"a{a}", f"d{d}", str(s), system, 50 + lead + rng.normal(0, 3)) for s in range(3)]
    names = ("annotator", "document", "segment", "system", "score")
    columns: dict[str, object] = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    claims = by_text(claims_of(Judgments.from_columns({**columns, "protocol": ["da"] * len(rows)})))
    claim = claims["x is better than y"]
    assert claim.verdict in ("fragile", "not supported")
    if claim.verdict == "fragile":
        assert OWN_SPREAD in claim.fails


@pytest.mark.slow
@pytest.mark.parametrize("annotators", [5, 12])
def test_claims_that_hold_are_hardly_ever_false(annotators: int) -> None:
    """Equal systems, annotators with tastes (sd 3 points) and scales of their own.

    At most 5% of campaigns may support a claim, and at most 1% a claim that holds. With 30 campaigns the bounds are
    those that a true rate exceeds in fewer than one test in a hundred (binomial).
    """
    rng = np.random.default_rng(annotators)
    supported = held = 0
    for _ in range(30):
        claims = [claim for claim in claims_of(with_tastes(rng, annotators)).claims if claim.kind == "better"]
        supported += any(claim.verdict != "not supported" for claim in claims)
        held += any(claim.verdict == "holds" for claim in claims)
    assert supported <= 5
    assert held <= 2


@pytest.mark.slow
@pytest.mark.parametrize("annotators", [5, 12])
def test_claims_from_ranks_that_hold_are_hardly_ever_false(annotators: int) -> None:
    """Equal systems, tastes of .5 logit; bounds as for scores, of 40 campaigns."""
    rng = np.random.default_rng(annotators)
    supported = held = 0
    for _ in range(40):
        claims = [claim for claim in claims_of(ranked_with_tastes(rng, annotators)).claims if claim.kind == "better"]
        supported += any(claim.verdict != "not supported" for claim in claims)
        held += any(claim.verdict == "holds" for claim in claims)
    assert supported <= 6
    assert held <= 2


def ranked_with_tastes(rng: np.random.Generator, annotators: int) -> Judgments:
    """Five equally good systems; every annotator ranks twenty screens of four."""
    rankings: list[dict[str, int | None]] = []
    for _ in range(annotators):
        taste = rng.normal(0, 0.5, 5)
        for _ in range(20):
            shown = rng.choice(5, size=4, replace=False)
            liked = np.round(taste[shown] + rng.gumbel(size=4))
            ranks = 1 + (liked[:, None] < liked[None, :]).sum(1)
            rankings.append({f"s{system}": int(own) for system, own in zip(shown, ranks, strict=True)})
    return blocks(rankings, annotators=[f"a{number // 20}" for number in range(len(rankings))])


def with_tastes(rng: np.random.Generator, annotators: int, systems: int = 5) -> Judgments:
    """Five equally good systems, judged by people who like some of them more than others."""
    tastes, documents = rng.normal(0, 3, (annotators, systems)), rng.normal(0, 4, 8)
    rows = []
    for a in range(annotators):
        lenient, wide = rng.normal(0, 8), np.exp(rng.normal(0, 0.2))
        for d in rng.choice(8, 4, replace=False):
            for system in range(systems):
                page = rng.normal(0, 2)
                for segment in range(3):
                    score = 70 + lenient + wide * (tastes[a, system] + documents[d] + page + rng.normal(0, 12))
                    rows.append((f"a{a}", f"d{d}", str(segment), f"s{system}", float(np.clip(score, 0, 100))))
    names = ("annotator", "document", "segment", "system", "score")
    columns: dict[str, object] = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    return Judgments.from_columns({**columns, "protocol": ["da"] * len(rows), "campaign": ["t"] * len(rows)})
