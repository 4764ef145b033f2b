"""Invented campaigns, and the exact sentences that the claims of each must get."""

from __future__ import annotations

from typing import Literal

import numpy as np
import polars as pl
import pytest
from bench.bench_verdicts import drawn
from bench.campaign_cells import EQUAL

import adjudge
from adjudge.evidence.audit import AuditSettings, audit
from adjudge.evidence.claims import Claim, Claims
from adjudge.evidence.verdict import say_claims
from adjudge.evidence.verdict_facts import HumanStanding, Verdict, decide_by_claims, people_needed
from adjudge.table.judgments import Judgments
from tests.evidence import test_claims, test_one_verdict
from tests.reports import test_collected


def campaign(
    effects: dict[str, float], *, annotators: int = 12, noise: float = 6.0, steps: float = 0.1, divide: float = 1.0
) -> Judgments:
    """Every annotator scores every system on six documents of three segments; names in capitals are human.

    Scores are around 60 plus the effect, in steps; `divide` makes another scale of them.
    """
    rng = np.random.default_rng(7)
    rows = []
    for annotator in range(annotators):
        lenient = rng.normal(0, 5)
        for document in range(6):
            for system, effect in effects.items():
                for segment in range(3):
                    score = 60 + effect + lenient + rng.normal(0, noise)
                    score = float(np.round(np.clip(score, 0, 100) / steps) * steps) / divide
                    rows.append((f"a{annotator}", f"d{document}", str(segment), system, score, system.isupper()))
    names = ("annotator", "document", "segment", "system", "score", "human")
    columns: dict[str, object] = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    return Judgments.from_columns({**columns, "protocol": ["da"] * len(rows), "campaign": ["c"] * len(rows)})


def claims_of(judgments: Judgments, margin: float | str | None = None) -> Claims:
    section = audit(judgments, only=["claims"], settings=AuditSettings(margin=margin)).sections["claims"]
    assert isinstance(section, Claims)
    return section


def sentences(claims: Claims) -> tuple[str, ...]:
    untested = bool(claims.humans) and claims.margin is None and claims.kind == "scores"
    return say_claims(decide_by_claims(claims), untested=untested)


BEST = "alpha is the best: better than every other system, and no check changes that."
BEST_MACHINE = "alpha is the best machine translation: better than every other system, and no check changes that."
ONLY_HUMAN = "alpha is the best machine translation; only the human translation is better."
NOTHING = "No system is shown to be better than another."
NO_MACHINE = "No machine translation is shown to be better than another."
LEADING = (
    "alpha and beta lead the machine translations: all other ones are behind one of them, and these judgments cannot "
    "separate the two."
)
TOGETHER = (
    "alpha and beta lead together: all others are behind one of them, and these judgments cannot separate the two."
)
OPEN = "that leaves the question open, it does not show that they are equal"
ALARM = "Alarm: both systems come out better than the human translation POOR, which is hard to believe."
LOOK_FIRST = (
    "Look first at this human translation, its source text, the people who judged, and whether the source is itself a "
    "translation."
)
CONDITIONS = (
    "Judged by 12 people.",
    (
        "Not known: experts or crowd; source or reference beside it; in context or not; the original language; "
        "faults of the test set."
    ),
)
ONE_HUMAN = "There is one human translation: another translator may do better or worse."
CASES = {
    "one human, above one system and at parity with the other": (
        campaign({"REF": 10.0, "alpha": 10.0, "beta": -10.0}),
        (
            BEST_MACHINE,
            "alpha is at parity with REF, within 3 points, as 12 people judged.",
            "beta is worse than the human translation REF.",
            *CONDITIONS,
            ONE_HUMAN,
        ),
    ),
    "one human above all": (
        campaign({"REF": 20.0, "alpha": 0.0, "beta": -20.0}),
        (ONLY_HUMAN, "The human translation REF is better than every system."),
    ),
    "two humans, one above and one below all systems": (
        campaign({"GOOD": 25.0, "alpha": 0.0, "beta": 0.0, "POOR": -25.0}),
        (
            NO_MACHINE,
            "The human translation GOOD is better than every system.",
            ALARM,
            LOOK_FIRST,
            *CONDITIONS,
        ),
    ),
    "no human": (
        campaign({"alpha": 15.0, "beta": 15.0, "gamma": -15.0}),
        (TOGETHER,),
    ),
    "nothing told apart": (
        campaign({"alpha": 0.0, "beta": 0.0, "gamma": 0.0}),
        (NOTHING,),
    ),
    "one system far ahead": (
        campaign({"alpha": 40.0, "beta": 0.0, "gamma": 0.0}),
        (BEST,),
    ),
    "two people only": (
        campaign({"alpha": 30.0, "beta": -30.0}, annotators=2, noise=3.0),
        ("This is the view of two people: for them alpha is better than beta; others may see it differently.",),
    ),
    "three people": (
        campaign({"alpha": 30.0, "beta": -30.0}, annotators=3, noise=3.0),
        (BEST,),
    ),
    "a scale from 0 to 5 without a margin": (
        campaign({"REF": 0.0, "alpha": 0.0, "beta": -20.0}, divide=20.0),
        (
            BEST_MACHINE,
            f"The data do not separate alpha from REF; {OPEN}.",
            "beta is worse than the human translation REF.",
            "Parity was not tested: no margin is customary on this scale; give one with --margin.",
        ),
    ),
}


CASES |= {
    "nothing decided, but near": (
        campaign({"alpha": 1.0, "beta": 0.0, "gamma": 0.0}),
        (
            (
                "No system is shown to be better than another; about 44 people instead of 12 could separate the first "
                "two."
            ),
        ),
    ),
    "a winner that needs more people": (
        campaign({"alpha": 2.4, "beta": 0.0, "gamma": 0.0}),
        ("alpha comes out best, but narrowly: as many other people would confirm it about as likely as not.",),
    ),
    "a fragile winner": (
        campaign({"alpha": 2.0, "beta": 0.0, "gamma": 0.0}),
        ("alpha comes out best, but not without annotator a1: let other people judge alpha and gamma first.",),
    ),
    "a human that loses to three of four": (
        campaign({"alpha": 20.0, "beta": 10.0, "gamma": 10.0, "POOR": 0.0, "delta": -10.0}),
        (
            BEST,
            "Alarm: 3 of 4 systems come out better than the human translation POOR, which is hard to believe.",
            LOOK_FIRST,
            "delta is worse than the human translation POOR.",
            *CONDITIONS,
            ONE_HUMAN,
        ),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_every_case_gets_its_sentences(name: str) -> None:
    judgments, expected = CASES[name]
    assert sentences(claims_of(judgments)) == expected


REF_AND_THREE = tuple((better, worse) for number, better in enumerate(("REF", "alpha", "beta", "gamma"))
                      for worse in ("REF", "alpha", "beta", "gamma")[number + 1 :])  # fmt: skip


def claims_with(verdicts: dict[tuple[str, str], Verdict], *, parity: dict[str, Verdict] | None = None) -> Claims:
    """Claims about all pairs of three systems and a human with these verdicts; others are not supported."""
    better = [claim("better", f"{a} is better than {b}", (a, b), verdicts.get((a, b), "not supported"))
              for a, b in REF_AND_THREE]  # fmt: skip
    equal = [claim("parity", f"{a} is at parity with REF", (a, "REF"), verdict)
             for a, verdict in (parity or {}).items()]  # fmt: skip
    margin = None if parity is None else 3.0
    return Claims("mixed", "points", 0.05, margin, (*equal, *better), (), humans=("REF",), annotators=12)


def claim(kind: Literal["better", "parity"], words: str, systems: tuple[str, str], verdict: Verdict) -> Claim:
    p = 0.3 if verdict == "not supported" else 0.01
    return Claim(words, kind, systems, 1.0, (0.5, 1.5), p, (), (), verdict, p)


STRENGTHS: dict[str, tuple[Claims, tuple[str, ...]]] = {
    "the human above all, in every audit": (
        claims_with(dict.fromkeys(REF_AND_THREE, "holds")),
        (ONLY_HUMAN, "The human translation REF is better than every system."),
    ),
    "the human above all, over one not in every audit": (
        claims_with({pair: "fragile" if pair == ("REF", "alpha") else "holds" for pair in REF_AND_THREE}),
        (
            "alpha is the best machine translation; the human translation comes out better, but not in every audit.",
            "The human translation REF comes out better than every system, but for alpha not in every audit.",
        ),
    ),
    "the human above all, nowhere in every audit": (
        claims_with(dict.fromkeys(REF_AND_THREE, "fragile")),
        (
            (
                "alpha comes out best of the machine translations, but not in every audit: let other people judge "
                "alpha and beta first."
            ),
            "The human translation REF comes out better than every system, but not in every audit.",
        ),
    ),
    "the human above all, over one narrowly": (
        claims_with({pair: "needs more people" if pair == ("REF", "alpha") else "holds" for pair in REF_AND_THREE}),
        (
            (
                "alpha is the best machine translation; the human translation comes out better, but more people "
                "should judge."
            ),
            "The human translation REF comes out better than every system, but for alpha more people should judge.",
        ),
    ),
    "the human above all, over one narrowly, over one in doubt": (
        claims_with(
            {
                pair: "needs more people"
                if pair == ("REF", "alpha")
                else "fragile"
                if pair == ("REF", "gamma")
                else "holds"
                for pair in REF_AND_THREE
            }
        ),
        (
            (
                "alpha is the best machine translation; the human translation comes out better, but more people "
                "should judge."
            ),
            (
                "The human translation REF comes out better than every system, but for gamma not in every audit and "
                "for alpha more people should judge."
            ),
        ),
    ),
    "one worse narrowly, one in doubt": (
        claims_with({("REF", "gamma"): "needs more people", ("REF", "beta"): "fragile", ("alpha", "gamma"): "holds"}),
        (
            LEADING,
            f"The data do not separate alpha from REF; {OPEN}.",
            "gamma comes out worse than the human translation REF, but more people should judge.",
            "beta comes out worse than the human translation REF, but not in every audit.",
        ),
    ),
    "one worse for sure, one perhaps, one open": (
        claims_with({("REF", "gamma"): "holds", ("REF", "beta"): "fragile", ("alpha", "gamma"): "holds"}),
        (
            LEADING,
            f"The data do not separate alpha from REF; {OPEN}.",
            "gamma is worse than the human translation REF.",
            "beta comes out worse than the human translation REF, but not in every audit.",
        ),
    ),
    "parity in every audit and not": (
        claims_with(
            {("REF", "gamma"): "fragile"}, parity={"alpha": "holds", "beta": "fragile", "gamma": "not supported"}
        ),
        (
            NO_MACHINE,
            "alpha is at parity with REF, within 3 points.",
            "beta comes out at parity with REF, within 3 points, but not in every audit.",
            "gamma comes out worse than the human translation REF, but not in every audit.",
        ),
    ),
}


@pytest.mark.parametrize("name", STRENGTHS)
def test_sentences_are_as_strong_as_the_claims(name: str) -> None:
    claims, expected = STRENGTHS[name]
    untested = "Parity was not tested: no margin is customary on this scale; give one with --margin."
    assert sentences(claims) == (expected if claims.margin else (*expected, untested))


def test_ties_everywhere() -> None:
    """Most scores are the same: the few differences are no evidence, and equality is not claimed either."""
    tied = campaign({"REF": 0.0, "alpha": 0.0, "beta": 0.0}, noise=4.0, steps=50.0)
    claims = claims_of(tied)
    assert {claim.verdict for claim in claims.claims if claim.kind == "better"} == {"not supported"}
    assert sentences(claims)[0] == NO_MACHINE


def test_a_margin_is_a_share_of_the_scale() -> None:
    """The scale from 0 to 5 again: 3 points are most of it, 10% are half a point."""
    small = campaign({"REF": 0.0, "alpha": 0.0, "beta": -20.0}, divide=20.0)
    share = claims_of(small, "10%")
    assert share.margin == pytest.approx(0.1 * np.ptp(small.table["score"].to_numpy()))
    assert decide_by_claims(share).standings == (HumanStanding("REF", (), ("alpha",), (), ("beta",)),)


def test_parity_never_stands_beside_a_larger_significant_difference() -> None:
    """Even at an absurd margin: beta is 20 points worse, on a scale of 5 a whole point."""
    small = campaign({"REF": 0.0, "alpha": 0.0, "beta": -20.0}, divide=20.0)
    claims = claims_of(small, 0.9)
    verdicts = {claim.claim: claim.verdict for claim in claims.claims}
    assert verdicts["REF is better than beta"] == "holds"
    assert verdicts["beta is at parity with REF"] == "not supported"


def test_what_the_correction_decides_is_said() -> None:
    """Fifteen pairs of six systems in small steps; some differ by themselves and not after Holm's correction."""
    claims = claims_of(campaign({name: 0.7 * step for step, name in enumerate("abcdef")}, noise=9.0))
    lost = [claim for claim in claims.claims if claim.kind == "better" and claim.lost_to_correction(0.05)]
    assert lost
    for claim in lost:
        low, high = claim.interval or (0.0, 0.0)
        assert low > 0 or high < 0
    would = "One more pair would be decided" if len(lost) == 1 else f"{len(lost)} more pairs would be decided"
    assert sentences(claims)[-1].startswith(would)


# What `rank` prints before its table


def with_clickers() -> Judgments:
    """Eight people with controls, and three who click at random on everything."""
    rng = np.random.default_rng(1)
    people = campaign({"alpha": 4.0, "beta": 0.0, "gamma": -1.0}, annotators=8).table
    clicked = people.filter(pl.col("annotator").is_in(["a0", "a1", "a2"]))
    clicked = clicked.with_columns(
        annotator=pl.col("annotator").str.replace("a", "clicker"),
        score=pl.Series(rng.uniform(0, 100, clicked.height).round()),
    )
    both = pl.concat([people, clicked])
    controls = both.filter((pl.col("system") == "alpha") & (pl.col("segment") == "0"))
    at_random = pl.Series(rng.uniform(0, 100, controls.height).round())
    told = pl.when(pl.col("annotator").str.starts_with("clicker")).then(at_random).otherwise(pl.col("score") - 40)
    return Judgments(pl.concat([both, controls.with_columns(kind=pl.lit("degraded"), score=told.clip(0, 100))]))


def with_a_copy() -> Judgments:
    table = campaign({"alpha": 40.0, "beta": 0.0, "gamma": 0.0}).table
    copy = table.filter(pl.col("system") == "beta").with_columns(system=pl.lit("delta"))
    return Judgments(pl.concat([table, copy]))


def behind_accounts() -> Judgments:
    name = "9 people behind 50 accounts"
    return Judgments.from_columns(drawn(name, EQUAL[name], 0))


LED = "it is decided better than every other system."
PAIRS = "2 of 3 pairs are decided, at a level of 5% for all together."
FIRST_LINES = {
    "clickers change the verdict": (
        with_clickers,
        (
            f"alpha comes out best: {LED}",
            "3 annotators fail the check of controls and are left out: clicker0, clicker1 and clicker2.",
            "Settle the check first: with them the verdict is another.",
            (
                "With them: No system is shown to be better than another; about 12 people instead of 11 could separate "
                "the first two."
            ),
            PAIRS,
        ),
    ),
    "two looks and an exclusion": (
        lambda: test_collected.collected(test_collected.RECORD),
        (
            "The planned looks settled that A is better than B.",
            "The campaign was looked at 2 of 5 times while it grew; 0.0187 of the level 0.05 is spent.",
            "An ordinary test at the full level, as below, does not know of the looks; what only it finds is open.",
            "The rest of the level is left for a final look (adjudge look --final).",
            f"A test at the end would say: A comes out best: {LED}",
            PAIRS,
            "The organisers excluded cleo (too fast) while judgments were collected.",
        ),
    ),
    "accounts": (
        behind_accounts,
        (
            NOTHING,
            "The 50 accounts may be as few as 3 people, and pairs are decided as if they were.",
            "Tell which accounts are one person, or that each is a person of their own.",
        ),
    ),
    "disasters": (
        test_one_verdict.with_disasters,
        (
            (
                "daring is usually better than steady, but 11% of its scores are very low (steady: 2%), so its average "
                "is not: no winner."
            ),
        ),
    ),
    "a copy": (
        with_a_copy,
        (
            f"alpha comes out best: {LED}",
            "beta and delta have the same score on all 216 shared items: is one a copy of the other?",
            "3 of 6 pairs are decided, at a level of 5% for all together.",
        ),
    ),
    "two leaders, no line but many decided": (
        lambda: test_claims.campaign({name: 1.2 * i for i, name in enumerate("ABCDEFGH")}, seed=5),
        (
            "H and G lead together: all others are behind one of them, and these judgments cannot separate the two.",
            "19 of 28 pairs are decided, but no group is better than all the rest: see each system's ranks.",
        ),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FIRST_LINES)
def test_rank_says_first_what_matters_first(name: str) -> None:
    judgments, expected = FIRST_LINES[name]
    assert adjudge.rank(judgments()).first_lines == expected


def test_sentences_have_at_most_25_words() -> None:
    every = [expected for table in (CASES, STRENGTHS, FIRST_LINES) for _, expected in table.values()]
    for sentence in (sentence for expected in every for sentence in expected):
        assert len(sentence.split()) <= 25, sentence


def test_the_people_needed_follow_from_the_statistic() -> None:
    """With z = 1 and a critical value of 2, four times as many; of more than ten times nothing is said."""
    pair = {("a", "b"): 0.3173105078629141}
    assert people_needed(("a", "b", "c"), pair, 2.0, 12) == 48
    assert people_needed(("a", "b", "c"), pair, 3.2, 12) is None
    assert people_needed(("a", "b", "c"), pair, None, 12) is None
    assert people_needed(("a", "b", "c"), pair, 2.0, 2) is None
    # What is beyond the critical value is open for another reason, which more people may not change.
    assert people_needed(("a", "b", "c"), pair, 0.9, 12) is None
