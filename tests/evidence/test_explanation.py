"""Why systems moved: invented campaigns with a known truth, and the parts of a mean by a dense computation."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import polars as pl
import pytest

import adjudge
from adjudge.evidence.explanation import PARTS, Explained, ExplainedSystem, explain, with_explanation
from adjudge.evidence.verdict_comparison import say_place
from adjudge.mixed.design import design_from
from adjudge.mixed.model import model_of
from adjudge.ranking.methods import rank
from adjudge.table.judgments import Judgments
from tests.helpers.mixed_make import SHAPES
from tests.helpers.mixed_make import campaign as any_campaign

QUALITY = {"A": 75.0, "B": 72.0, "C": 69.0, "D": 66.0, "E": 63.0}
GENEROUS = {"strict": -16.0, "b": 1.0, "c": 3.0, "d": 5.0, "e": 7.0}


def unfair(seed: int = 3) -> Judgments:
    """The strictest person judged four fifths of A, the best system, and a fifth of every other one."""
    rng = np.random.default_rng(seed)
    rows = []
    for document in range(30):
        hard = rng.normal(0, 4)
        for system, quality in QUALITY.items():
            strict = rng.random() < (0.8 if system == "A" else 0.2)
            who = "strict" if strict else str(rng.choice(list(GENEROUS)[1:]))
            for segment in range(4):
                score = quality + GENEROUS[who] + hard + rng.normal(0, 5)
                rows.append((who, system, f"d{document}", str(segment), float(np.clip(score, 0, 100))))
    return _judgments(rows)


def _judgments(rows: list[tuple[str, str, str, str, float]]) -> Judgments:
    names = ("annotator", "system", "document", "segment", "score")
    columns: dict[str, object] = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    return Judgments.from_columns({**columns, "protocol": ["da"] * len(rows), "campaign": ["c"] * len(rows)})


def by_name(explained: Explained) -> Mapping[str, ExplainedSystem]:
    return {one.system: one for one in explained.systems}


def test_the_strictest_rater_did_most_of_the_best_system() -> None:
    """The truth is known: the cost is the mean of what the people who judged A add, compared with the other systems."""
    judgments = unfair()
    explained = explain(judgments)
    table = judgments.table.with_columns(pl.col("annotator").replace_strict(GENEROUS).alias("adds"))
    truth = dict(table.group_by("system").agg(pl.col("adds").mean()).iter_rows())
    average = np.mean(list(truth.values()))
    found = np.mean([one.parts["strictness"] for one in explained.systems])
    for name, one in by_name(explained).items():
        assert one.parts["strictness"] - found == pytest.approx(truth[name] - average, abs=1.0)
    best = by_name(explained)["A"]
    assert (best.ranks["raw"], best.ranks["model"]) == (5, 1)
    share = float(np.mean(judgments.table.filter(system="A")["annotator"].to_numpy() == "strict"))
    cost = f"{found - best.parts['strictness']:.1f}"
    assert explained.story == (
        f"A is 5th by raw mean and 1st by the model: the strictest person judged most of it ({share:.0%}), "
        f"which took {float(cost):g} points off its mean."
    )
    assert 8 < float(cost) < 14  # the truth is about 11


def test_a_fair_campaign_has_no_story() -> None:
    rng = np.random.default_rng(1)
    rows = [
        (who, system, f"d{document}", "1", quality + adds + float(rng.normal(0, 2)))
        for who, adds in GENEROUS.items()
        for system, quality in QUALITY.items()
        for document in range(8)
    ]
    explained = explain(_judgments(rows))
    assert explained.story == ""
    assert all(set(one.ranks.values()) == {rank} for rank, one in enumerate(explained.systems, start=1))
    assert not any(one.moves for one in explained.systems)


@pytest.mark.parametrize("shape", SHAPES)
def test_predictions_are_those_of_the_dense_equations(shape: str) -> None:
    """Best linear unbiased predictions u = r Z' inv(V) (y - X b), V = I + sum of r Z Z', row by row."""
    design = design_from(any_campaign(shape, 5, systems=4, annotators=5, taste=2.0), model="mixed-points")
    model = model_of(design)
    kept = model.prepared.effects.kept
    ratios = model.prepared.effects.ratios(model.fitted.ratios)
    of_effects = [np.eye(effect.levels)[effect.codes] for effect in kept]
    covariance = np.eye(len(design)) + sum(r * z @ z.T for r, z in zip(ratios, of_effects, strict=True))
    systems = np.eye(len(design.systems))[design.system]
    weighed = np.linalg.solve(covariance, np.column_stack([systems, design.score]))
    effects = np.linalg.solve(systems.T @ weighed[:, :-1], systems.T @ weighed[:, -1])
    residual = weighed[:, -1] - weighed[:, :-1] @ effects
    assert model.fitted.effects == pytest.approx(effects, abs=1e-6)
    total = np.zeros(len(design))
    for effect, ratio, z in zip(kept, ratios, of_effects, strict=True):
        assert model.predictions[effect.parts] == pytest.approx(ratio * z @ z.T @ residual, abs=1e-6)
        total += model.predictions[effect.parts]
    n = np.bincount(design.system)
    raw, added = (np.bincount(design.system, values) / n for values in (design.as_given, total))
    assert raw - effects == pytest.approx(added, abs=1e-6)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_parts_add_up_and_the_rest_is_what_it_says(shape: str) -> None:
    """The rest is computed as what is left: it must be the residuals, weighed as raw means."""
    judgments = any_campaign(shape, 11, systems=4, annotators=5)
    explained = by_name(explain(judgments))
    design = design_from(judgments, model="mixed-points")
    model = model_of(design)
    rest = design.score - model.fitted.effects[design.system] - sum(model.predictions.values())
    output = list(zip(design.system, np.arange(len(design)) if design.segment is None else design.segment, strict=True))
    frame = pl.DataFrame({"system": design.system, "output": [str(one) for one in output], "rest": rest})
    slow = dict(frame.group_by("system", "output").agg(pl.col("rest").mean()).group_by("system").agg(
        pl.col("rest").mean()).iter_rows())  # fmt: skip
    for code, name in enumerate(design.systems):
        one = explained[name]
        assert tuple(one.parts) == PARTS
        assert one.means["raw"] - one.means["model"] == pytest.approx(sum(one.parts.values()), abs=1e-9)
        assert one.parts["set_aside"] == pytest.approx(0, abs=1e-9)
        assert one.parts["rest"] == pytest.approx(slow[code], abs=1e-6)


def test_long_documents_that_suit_a_system_less_are_the_reason_where_nothing_else_is() -> None:
    """Everybody judges everything: A is better on 20 short documents, and worse on two that hold half of the scores."""
    rng = np.random.default_rng(4)
    rows = [
        (who, system, f"d{document}", str(segment), base + luck + adds + rng.normal(0, 3))
        for document in range(22)
        for system, base in (("A", 70.0), ("B", 66.0), ("C", 60.0))
        for luck in [(-12.0 if document < 2 else 2.0) * (system == "A") + rng.normal(0, 0.5)]
        for segment in range(40 if document < 2 else 4)
        for who, adds in GENEROUS.items()
    ]
    explained = by_name(explain(_judgments(rows)))
    one = explained["A"]
    assert (one.ranks["raw"], one.ranks["model"]) == (2, 1)
    held = one.parts["pages"] - np.mean([other.parts["pages"] for other in explained.values()])
    # A scores 5 below its quality, and .7 above where documents count alike; a third of that is the average's.
    assert held == pytest.approx((-5 - (20 * 2 - 2 * 12) / 22) * 2 / 3, abs=0.6)
    (move,) = [move for move in one.moves if (move.first, move.second) == ("raw", "model")]
    assert move.reasons == (f"it did worse on long documents, which took {-held:.1f} points off its mean",)


def test_ranks_are_those_of_the_methods() -> None:
    judgments = unfair()
    explained = by_name(explain(judgments))
    for method, way in (("raw", "raw"), ("zscore", "z"), ("mixed-points", "model"), ("mixed-rank", "typical")):
        assert {system.system: system.rank for system in rank(judgments, method=method).systems} == {
            name: one.ranks[way] for name, one in explained.items()
        }
    above = 0
    for cluster in rank(judgments, method="zscore").clusters:
        assert {explained[name].ranks["official"] for name in cluster} == {above + 1}
        above += len(cluster)


def test_what_those_who_do_not_count_did() -> None:
    """Somebody who praises E beyond reason is set aside: E is no longer first."""
    judgments = unfair()
    names = ("annotator", "system", "document", "segment", "score")
    rows = [tuple(row) for row in judgments.table.select(names).iter_rows()]
    praise = [("fan", "E", f"d{document}", f"x{segment}", 100.0) for document in range(30) for segment in range(9)]
    everyone = _judgments([*rows, *praise])
    explained = by_name(explain(judgments, everyone))["E"]
    before, after = (rank(some, method="raw").order.index("E") + 1 for some in (everyone, judgments))
    assert (explained.ranks["everyone"], explained.ranks["raw"]) == (before, after) == (1, 3)
    (move,) = [move for move in explained.moves if move.first == "everyone"]
    assert move.reasons[0].startswith("270 of its 390 judgments are set aside, which added ")


def test_disasters_part_average_and_typical() -> None:
    """A fails on a tenth of the segments and is better than B on all others."""
    rows = [
        (who, system, f"d{document}", "1", (0.0 if system == "A" and document % 10 == 0 else base) + noise % 7)
        for noise, (who, system, document, base) in enumerate(
            (who, system, document, base)
            for who in "abcd"
            for system, base in (("A", 85.0), ("B", 81.0), ("C", 40.0))
            for document in range(40)
        )
    ]
    explained = by_name(explain(_judgments(rows)))["A"]
    assert (explained.ranks["model"], explained.ranks["typical"]) == (2, 1)
    (move,) = [move for move in explained.moves if move.second == "typical"]
    assert "of its scores are very low, more than in all" in move.reasons[0]
    (why,) = [row[-1] for row in explain(_judgments(rows)).tables()[0].rows if row[0] == "A"]
    assert str(why).startswith("1st by typical scores: 10.0% of its scores are very low")


def test_json_tables_and_picture() -> None:
    judgments = unfair()
    ranking = with_explanation(rank(judgments), judgments)
    assert ranking.explained is not None
    written = ranking.to_dict()["explained"]
    assert {"system", "human", "raw", "z", "official", "model", "typical", "means", "parts", "moves"} == set(written[0])
    assert {"from", "to", "before", "after", "reasons"} == set(written[0]["moves"][0])
    assert ranking.explained.story in ranking.first_lines
    titles = [table.title for table in ranking.tables()]
    assert titles[-3:] == ["Why systems moved", "Where raw mean and model part", "Every move"]
    assert ranking.explained.orders["the model"] == ("A", "B", "C", "D", "E")
    assert rank(judgments).to_dict()["explained"] is None


def test_in_python() -> None:
    ranking = adjudge.rank(unfair(), explain=True)
    assert ranking.explained is not None
    assert "the strictest person judged most of it" in str(ranking)


def relative(blocks: list[tuple[str, dict[str, int]]]) -> Judgments:
    """Blocks of (annotator, ranks)."""
    rows = [(who, str(i), name, place) for i, (who, ranks) in enumerate(blocks) for name, place in ranks.items()]
    columns: dict[str, object] = {
        name: [row[i] for row in rows] for i, name in enumerate(("annotator", "segment", "system", "rank"))
    }
    shown: dict[str, object] = {"protocol": ["ranking"] * len(rows), "screen": columns["segment"]}
    return Judgments.from_columns({**columns, **shown, "task": columns["segment"]})


def test_ties_of_rankings() -> None:
    """All meet equally often. A wins 4 of 10 and loses 6, B ties 5 of 10, wins 1 and loses 4."""
    blocks = []
    for number in range(200):
        who, tenth = f"a{number % 5}", number // 5 % 10
        blocks.append((who, {"A": 1 if tenth < 4 else 2, "C": 2 if tenth < 4 else 1}))
        blocks.append((who, {"B": 1 if tenth < 6 else 2, "C": 2 if tenth < 1 else 1}))
        blocks.append((who, {"A": 1 if tenth < 6 else 2, "B": 2 if tenth < 6 else 1}))
    explained = by_name(explain(relative(blocks)))["B"]
    (move,) = explained.moves
    assert (move.first, move.second, move.before, move.after) == ("wins-or-ties", "expected-wins", 2, 3)
    # Of 20 comparisons of B 5 are tied, of all 60 as well: counted from both sides 10 of 60.
    assert move.reasons == ("25% of its comparisons are ties (17% in all), which only wins-or-ties counts as won",)


def test_opponents_of_rankings() -> None:
    """A meets the weakest, B the strongest."""
    rng = np.random.default_rng(2)
    strength = {"top": 2.0, "A": 0.0, "B": 0.6, "low": -2.0}
    blocks = []
    for number in range(600):
        first, second = (("A", "low"), ("A", "B"), ("B", "top"), ("top", "low"))[number % 4]
        won = rng.random() < 1 / (1 + np.exp(strength[second] - strength[first]))
        blocks.append((f"a{rng.integers(5)}", {first: 1 if won else 2, second: 2 if won else 1}))
    explained = explain(relative(blocks))
    assert list(explained.ways) == ["wins-or-ties", "expected-wins", "bradley-terry"]
    ranks = by_name(explained)["B"].ranks
    assert ranks["wins-or-ties"] > ranks["bradley-terry"]  # type: ignore[operator]
    reasons = [reason for move in by_name(explained)["B"].moves for reason in move.reasons]
    assert any(reason.startswith("it met stronger opponents than an even spread has") for reason in reasons)
    assert by_name(explained)["B"].parts == {}


@pytest.mark.parametrize(("rank", "said"), [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (12, "12th"),
                                            (13, "13th"), (21, "21st"), (22, "22nd"), (111, "111th")])  # fmt: skip
def test_places_in_words(rank: int, said: str) -> None:
    assert say_place(rank) == said


@pytest.mark.parametrize(("method", "noted"), [("mixed", True), ("raw", True), ("zscore", False)])
def test_ranking_notes_what_the_composition_of_tasks_is_worth(method: str, *, noted: bool) -> None:
    """Strict people add -20 and alone judge B, the others alone judge A; so that is 10 points up and 10 down.

    Both kinds of people see C and D as well, all four systems are equally good, and z-scores by person take it off.
    """
    rng = np.random.default_rng(1)
    rows = [
        (f"p{person}", system, f"d{segment // 5}", str(segment), 75 - 20 * (person % 2) + rng.normal(0, 8))
        for person in range(8)
        for segment in range(20)
        for system in ("AB"[person % 2], "C", "D")
    ]
    judgments = _judgments([(*row[:4], float(np.clip(row[4], 0, 100))) for row in rows])
    found = [note for note in adjudge.rank(judgments, method=method).notes if "happened to get" in note]
    assert bool(found) is noted
    for note in found:
        amount = re.search(r"that ([AB]) happened to get (favour it|hold it down) by ([0-9.]+) points", note)
        assert amount is not None
        assert (amount[1], amount[2]) in (("A", "favour it"), ("B", "hold it down"))
        assert float(amount[3]) == pytest.approx(10, abs=1.5)


def test_ranking_notes_nothing_where_everybody_judges_everything() -> None:
    rng = np.random.default_rng(2)
    rows = [
        (f"p{person}", system, f"d{segment // 5}", str(segment), 75 - 20 * (person % 2) + rng.normal(0, 8))
        for person in range(8)
        for segment in range(20)
        for system in "ABCD"
    ]
    judgments = _judgments([(*row[:4], float(np.clip(row[4], 0, 100))) for row in rows])
    for method in ("mixed", "raw", "zscore"):
        assert not [note for note in adjudge.rank(judgments, method=method).notes if "happened to get" in note]


def test_a_composition_that_cannot_be_told_does_not_stop_a_ranking_of_means() -> None:
    """All scores are equal, so that there is no model to compare the means with."""
    rows = [
        {"annotator": a, "segment": str(i), "system": s, "score": 20.0} for a in "ab" for i in range(6) for s in "xy"
    ]
    assert [one.score for one in adjudge.rank(pl.DataFrame(rows), method="raw").systems] == [20.0, 20.0]
