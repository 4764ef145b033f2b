"""How people judged is taken from the judgments, what they do not say is unknown, and copies of systems are noticed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from adjudge.evidence.audit import audit
from adjudge.evidence.conditions import FEWEST_SHARED, Alike, Conditions, Oddities, find_conditions, find_oddities
from adjudge.evidence.verdict import add_verdict, say_oddities
from adjudge.evidence.verdict_facts import HumanStanding
from adjudge.evidence.verdict_human import alarm_about_humans, say_conditions, say_judged_by
from adjudge.ranking.methods import rank
from adjudge.table.judgments import Judgments
from tests.evidence.test_claims import campaign
from tests.helpers.rank_make import blocks

LONGEST = 25


def judged() -> Judgments:
    return campaign({"A": 6.0, "B": 0.0, "C": -4.0}, annotators=4, documents=12, seed=3)


def copied(judgments: Judgments, system: str, name: str, *, changed: int = 0) -> Judgments:
    """A copy of a system under another name; the scores of some of its rows are changed."""
    copy = judgments.table.filter(pl.col("system") == system).with_columns(system=pl.lit(name))
    shift = (pl.int_range(pl.len()) < changed).cast(pl.Float64)
    return Judgments(pl.concat([judgments.table, copy.with_columns(score=(pl.col("score") - 7 * shift))]))


def test_a_copy_under_another_name_is_noticed() -> None:
    whole = judged()
    items = whole.table.filter(pl.col("system") == "A").height
    found = find_oddities(copied(whole, "A", "Z", changed=2))
    assert found.alike == (Alike(("A", "Z"), "score", items - 2, items),)
    share = int(100 * (items - 2) / items)
    sentence = f"A and Z have the same score on {share}% of {items} shared items: is one a copy of the other?"
    assert say_oddities(found) == [sentence]
    assert find_oddities(whole) == Oddities()


def test_a_copy_is_said_in_the_first_lines_of_rank_and_audit() -> None:
    data = copied(judged(), "A", "Z")
    first = say_oddities(find_oddities(data))[0]
    assert first.startswith("A and Z have the same score on all ")
    assert add_verdict(rank(data), oddities=find_oddities(data)).first_lines[1] == first
    assert audit(data, only=["claims"]).first_lines[1] == first


def test_the_usual_score_says_nothing() -> None:
    """Two good systems with 100 on 97 of 100 items are not copies: their other scores differ."""
    rng = np.random.default_rng(1)
    rows = 400
    scores = {name: np.where(rng.random(rows) < 0.97, 100.0, rng.integers(0, 99, rows)) for name in "AB"}
    table = pl.concat(
        pl.DataFrame({"system": name, "segment": [str(i) for i in range(rows)], "score": values.tolist()})
        for name, values in scores.items()
    )
    columns: dict[str, object] = {name: table[name].to_list() for name in table.columns}
    same = {"protocol": ["da"] * len(table), "campaign": ["c"] * len(table), "annotator": ["a"] * len(table)}
    data = Judgments.from_columns({**columns, **same, "document": ["d"] * len(table)})
    assert np.mean(scores["A"] == scores["B"]) > 0.93
    assert find_oddities(data).alike == ()


def test_one_answer_to_a_text_of_two_systems_does_not_make_a_copy() -> None:
    """Everybody judges one system, and answers count for both where both have the same text: a third of them."""
    whole = campaign({"A": 6.0, "B": 0.0, "C": -4.0}, annotators=8, documents=12, seed=3).table
    by_one = whole.with_columns(annotator=pl.format("{}-{}", "annotator", "system"))
    of_first = by_one.filter(pl.col("system") == "A")
    given = of_first.filter(pl.int_range(pl.len()) % 3 == 0).with_columns(system=pl.lit("B"))
    data = Judgments(pl.concat([by_one, given]))
    assert FEWEST_SHARED < given.height < of_first.height / 2
    assert find_oddities(data).alike == ()


def test_the_same_texts_are_noticed_though_scores_differ() -> None:
    whole = judged()
    text = pl.format("{} {} {}", pl.col("system").replace({"B": "A"}), "document", "segment")
    found = find_oddities(Judgments(whole.table.with_columns(target_text=text)))
    assert [(alike.systems, alike.what) for alike in found.alike] == [(("A", "B"), "text")]
    assert say_oddities(found)[0].startswith("A and B have the same text on all ")


def test_systems_that_always_tie_are_noticed() -> None:
    rng = np.random.default_rng(2)
    rankings = [
        {"A": int(a), "B": int(a), "C": int(c)}
        for a, c in zip(rng.integers(1, 5, 60), rng.integers(1, 5, 60), strict=True)
    ]
    found = find_oddities(blocks(rankings, annotators=[f"a{i % 3}" for i in range(60)]))
    assert [(alike.systems, alike.what, alike.shared) for alike in found.alike] == [(("A", "B"), "rank", 60)]


def test_one_score_throughout_and_one_person_alone() -> None:
    whole = judged().table
    constant = whole.with_columns(score=pl.when(pl.col("system") == "C").then(75.0).otherwise("score"))
    found = find_oddities(Judgments(constant))
    assert [name for name, _, _ in found.constant] == ["C"]
    assert say_oddities(found)[0].endswith("scores of C are 75: is a column mistaken?")
    first = whole["annotator"].unique().sort()[0]
    alone = Judgments(whole.filter((pl.col("system") != "B") | (pl.col("annotator") == first)))
    assert find_oddities(alone).alone == (("B", first),)
    assert say_oddities(find_oddities(alone)) == [
        f"Annotator {first} alone judged B: what is said of it is one person's view."
    ]
    assert find_oddities(Judgments(whole.filter(pl.col("annotator") == first))).alone == ()


def test_conditions_are_those_that_the_judgments_name() -> None:
    table = judged().table.with_columns(
        source_lang=pl.lit("cs"), origlang=pl.lit("cs"), raters=pl.lit("experts"), shown=pl.lit("source"),
        screen=pl.format("{}-{}", "document", "system"),
    )  # fmt: skip
    known = find_conditions(Judgments(table), humans=2)
    assert known == Conditions(people=4, raters="experts", shown="source", context="pages", original=1.0, humans=2)
    assert say_judged_by(known) == ", as 4 experts judged in context"
    assert say_conditions(known) == (
        "Judged by 4 people (experts) with the source in context on original source texts.",
        "Not known: faults of the test set.",
    )
    half = table.with_columns(
        origlang=pl.when(pl.int_range(pl.len()) % 2 == 0).then(pl.lit("en")).otherwise("origlang")
    )
    assert find_conditions(Judgments(half), humans=2).original == pytest.approx(0.5, abs=0.01)
    # A screen with one segment may have shown its neighbours, so it says nothing.
    single = table.with_columns(screen=pl.format("{}-{}-{}", "document", "segment", "system"))
    assert find_conditions(Judgments(single), humans=1).context is None
    named = single.with_columns(context=pl.lit("segments"))
    assert say_judged_by(find_conditions(Judgments(named), humans=1)) == ", as 4 experts judged without context"


def test_what_the_judgments_do_not_say_is_unknown() -> None:
    table = judged().table.with_columns(annotator=pl.lit(None, pl.String), screen=pl.lit(None, pl.String))
    unknown = find_conditions(Judgments(table), humans=1)
    assert unknown == Conditions()
    assert say_judged_by(unknown) == ""
    assert say_conditions(unknown) == (
        (
            "Not known: how many people; experts or crowd; source or reference beside it; in context or not; "
            "the original language; faults of the test set."
        ),
        "There is one human translation: another translator may do better or worse.",
    )
    accounts = replace(unknown, people=50, accounts=True, checked=True)
    assert say_judged_by(accounts) == ""
    assert say_conditions(accounts)[0] == "Judged by 50 accounts."


@pytest.mark.parametrize(
    ("better", "others", "alarm"), [(10, 1, "10 of 11"), (2, 0, "both"), (5, 0, "all 5"), (1, 0, ""), (5, 5, "")]
)
def test_a_human_that_loses_to_most_systems_raises_an_alarm(better: int, others: int, alarm: str) -> None:
    names = tuple(f"s{i}" for i in range(better + others))
    said = alarm_about_humans([HumanStanding("refB", names[:better], (), names[better:], ())])
    assert bool(said) == bool(alarm)
    if alarm:
        assert said[0] == (
            f"Alarm: {alarm} systems come out better than the human translation refB, which is hard to believe."
        )
        assert all(len(sentence.split()) <= LONGEST for sentence in said)


def test_sentences_are_short() -> None:
    full = Conditions(12, raters="experts", shown="source", context="segments", original=0.4, humans=1, agreement=0.31)
    odd = Oddities(
        tuple(Alike((f"a{i}", f"b{i}"), "score", 98, 100) for i in range(5)),
        (("c", 1.0, 40), ("d", 2.0, 40)),
        (("e", "p1"), ("f", "p2")),
    )
    for sentence in (*say_conditions(full), *say_conditions(Conditions()), *say_oddities(odd)):
        assert len(sentence.split()) <= LONGEST, sentence
    assert "2 more pairs of systems are as alike." in say_oddities(odd)
