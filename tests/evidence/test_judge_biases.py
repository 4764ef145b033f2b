"""Where a judge's answers lean: planted leanings are found, absent ones are not."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from adjudge.judges.alternative import Differences
from tests.evidence.test_judges import judges_of, report_of
from tests.helpers.judged import campaign

if TYPE_CHECKING:
    from adjudge.judges.alternative import Bias
    from adjudge.table.judgments import Judgments


def biases(judgments: Judgments, **settings: object) -> dict[str, Bias]:
    report = report_of(judgments, **settings)
    return {bias.name if bias.system is None else bias.system: bias for bias in report.biases}


def rows_like(machine: pl.DataFrame, kind: str, change: float, noise: float, seed: int = 1) -> pl.DataFrame:
    """The same outputs once more, of another kind, with other scores."""
    shift = change + np.random.default_rng(seed).normal(0, noise, machine.height)
    return machine.with_columns(
        kind=pl.lit(kind), score=pl.Series(np.clip(machine["score"].to_numpy() + shift, 0, 100))
    )


def with_machine(judgments: Judgments, machine: pl.DataFrame) -> Judgments:
    return replace(judgments, machine=machine)


def machine_of(judgments: Judgments) -> pl.DataFrame:
    assert judgments.machine is not None
    return judgments.machine


def test_a_favoured_system_is_found_and_its_family_too() -> None:
    def favour(score: np.ndarray) -> np.ndarray:
        score[:, :, 2] += 15
        return score

    judgments = campaign(np.random.default_rng(1), documents=60, people=8, change=favour)
    found = biases(judgments, judge_families=("model=s2",))
    assert found["s2"].p_holm is not None
    assert found["s2"].p_holm < 0.05
    assert 8 < found["s2"].estimate < 22
    assert "higher than people do" in found["s2"].sentence
    assert found["own family"].estimate == pytest.approx(found["s2"].estimate)
    assert found["own family"].p is not None
    assert found["own family"].p < 0.05


@pytest.mark.slow
def test_where_tastes_alone_differ_systems_are_seldom_called_favoured() -> None:
    """A judge that is drawn from people, item by item, has no taste but theirs: 5% of the p-values are below .05."""
    rng = np.random.default_rng(4)
    p = []
    for _ in range(60):
        judgments = campaign(rng, documents=30, people=6)
        table = judgments.table
        chosen = table.with_columns(draw=pl.Series(rng.random(table.height))).sort("draw")
        machine = chosen.unique(["segment", "system"], keep="first", maintain_order=True).drop("draw")
        machine = machine.with_columns(annotator=pl.lit("judge:model"))
        found = biases(with_machine(judgments, machine))
        p += [found[f"s{number}"].p for number in range(5)]
    rate = np.mean(np.array(p) < 0.05)
    assert rate <= 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / len(p))


def test_leniency_and_spread_are_those_of_the_scores() -> None:
    """Three people who say the same, and a judge that says it 10 points higher and with half the spread."""
    judgments = campaign(np.random.default_rng(2), documents=40, people=3)
    first = judgments.table.filter(pl.col("annotator") == "p0").with_columns(pl.col("score").clip(20, 80))
    people = pl.concat([first.with_columns(annotator=pl.lit(name)) for name in ("a", "b", "c")])
    mean = first["score"].mean()
    assert isinstance(mean, float)
    machine = first.with_columns(annotator=pl.lit("judge:model"), score=(pl.col("score") - mean) / 2 + mean + 10)
    found = biases(replace(judgments, table=people, machine=machine))
    assert found["leniency"].estimate == pytest.approx(10)
    assert found["spread"].estimate == pytest.approx(0.5)
    assert found["spread"].interval == pytest.approx((0.5, 0.5))
    assert found["leniency"].sentence == "scores 10.0 points higher than people on average"


def test_metrics_have_a_scale_of_their_own_and_no_leniency() -> None:
    judgments = campaign(np.random.default_rng(2), documents=40)
    machine = machine_of(judgments)
    scores = machine.select("annotator", "system", "segment", "document", pl.col("score") / 100)
    found = biases(replace(judgments, machine=None), judge_scores=scores)
    assert not {"leniency", "spread"} & set(found)
    assert "s1" in found


def test_lengths_and_positions_are_told_where_they_are_known() -> None:
    rng = np.random.default_rng(3)
    judgments = campaign(rng, documents=60, people=6)
    machine = machine_of(judgments)
    length = np.exp2(rng.uniform(4, 8, machine.height))
    position = np.tile(np.arange(100), machine.height // 100)
    leaning = machine.with_columns(
        target_length=pl.Series(length),
        task=pl.Series([f"t{number}" for number in range(machine.height // 100) for _ in range(100)]),
        score=pl.col("score") + 5 * pl.Series(np.log2(length)) - 20 * pl.Series(position) / 99,
    )
    found = biases(with_machine(judgments, leaning))
    assert found["output length"].estimate == pytest.approx(4.4, abs=1.5)
    assert found["position"].estimate == pytest.approx(-17, abs=6)
    assert "source length" not in found
    for name in ("output length", "position"):
        p = found[name].p
        assert p is not None
        assert p < 0.05
    plain = biases(with_machine(judgments, leaning.with_columns(score=machine["score"])))
    low, high = plain["output length"].interval or (1, 1)
    assert low < 0 < high


def test_lengths_may_come_from_texts_of_people() -> None:
    judgments = campaign(np.random.default_rng(3), documents=20)
    texts = pl.Series(["word " * (1 + number % 9) for number in range(judgments.table.height)])
    found = biases(replace(judgments, table=judgments.table.with_columns(source_text=texts)))
    assert "source length" in found


def test_repeats_and_damaged_outputs() -> None:
    judgments = campaign(np.random.default_rng(5), documents=20)
    machine = machine_of(judgments)
    damaged = rows_like(machine.head(40), "degraded", -30, 0)
    unchanged = rows_like(machine.slice(40, 10), "degraded", 0, 0)
    repeats = rows_like(machine.head(100), "repeat", 0, 5)
    found = biases(with_machine(judgments, pl.concat([machine, damaged, unchanged, repeats])))
    assert found["degraded controls"].estimate == pytest.approx(0.8)
    assert found["degraded controls"].sentence == "scores 80% of damaged outputs lower than the originals"
    first, second = machine["score"].head(100).to_numpy(), repeats["score"].to_numpy()
    assert found["self-agreement"].estimate == pytest.approx(np.corrcoef(first, second)[0, 1])
    assert found["self-agreement"].n == 100
    # They count for nothing else.
    plain = biases(judgments)
    assert found["leniency"].estimate == pytest.approx(plain["leniency"].estimate)


def test_a_mean_has_the_error_of_its_clusters() -> None:
    """Two people and three documents by hand: only documents count as units, and t has two degrees of freedom."""
    value = np.array([1.0, 2, 3, 4, 5, 9])
    cluster, person = np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 0, 1, 0, 1])
    differences = Differences(value, np.arange(6), cluster, person, pl.Series(["s"] * 6), "points")
    estimate, (low, high), p = differences.mean()
    sums = np.array([1 + 2 - 8, 3 + 4 - 8, 5 + 9 - 8])
    se = np.sqrt((sums**2).sum() / 36 * 3 / 2)
    assert estimate == 4
    # 4.3027 is the 97.5% quantile of Student's t with 2 degrees of freedom in any table.
    assert (high - low) / 2 == pytest.approx(4.302653 * se)
    assert 0.05 < p < 0.25


def test_comparisons_have_ties_systems_and_families() -> None:
    rng = np.random.default_rng(6)
    rows = []
    for segment in range(60):
        quality = rng.normal(0, 1, 4) + np.array([0, 0.5, 1, 1.5])
        for name in ("a", "b", "c", "judge:m"):
            seen = quality + rng.normal(0, 0.7, 4) + (np.array([2, 0, 0, 0]) if name == "judge:m" else 0)
            order = np.argsort(np.argsort(-seen)) + 1
            if name != "judge:m":
                order = (order + 1) // 2
            rows += [(name, f"d{segment // 3}", str(segment), f"{name}{segment}", f"s{s}", "ranking", int(order[s]))
                     for s in range(4)]  # fmt: skip
    columns = ["annotator", "document", "segment", "screen", "system", "protocol", "rank"]
    from adjudge.table.judgments import Judgments
    from adjudge.table.participants import set_judges_apart

    judgments = set_judges_apart(Judgments.from_columns(pl.DataFrame(rows, schema=columns, orient="row")))
    section = judges_of(judgments, judge_families=("m=s0",))
    assert (section.scale, section.clusters) == ("labels", "document")
    found = {bias.system or bias.name: bias for bias in section.judges[0].biases}
    # Two pairs of six are tied by people, none by the judge.
    assert found["ties"].estimate == pytest.approx(-1 / 3)
    assert found["s0"].estimate > 0.2
    assert found["own family"].estimate == pytest.approx(found["s0"].estimate)
    assert re.search(r"lets s0 win \d+ percentage points more often than people do", found["s0"].sentence)


def test_scores_of_a_judge_are_compared_where_people_rank() -> None:
    rng = np.random.default_rng(7)
    rows, scores = [], []
    for segment in range(60):
        quality = rng.normal(0, 1, 4)
        for name in ("a", "b", "c"):
            order = np.argsort(np.argsort(-(quality + rng.normal(0, 0.5, 4)))) + 1
            rows += [(name, str(segment), f"{name}{segment}", f"s{s}", "ranking", int(order[s])) for s in range(4)]
        scores += [("judge:good", str(segment), f"s{s}", quality[s] + rng.normal(0, 0.3)) for s in range(4)]
        scores += [("judge:noise", str(segment), f"s{s}", rng.normal()) for s in range(4)]
    from adjudge.table.judgments import Judgments

    columns = ["annotator", "segment", "screen", "system", "protocol", "rank"]
    judgments = Judgments.from_columns(pl.DataFrame(rows, schema=columns, orient="row"))
    frame = pl.DataFrame(scores, schema=["annotator", "segment", "system", "score"], orient="row").with_columns(
        document=pl.lit(None, pl.String)
    )
    good, noise = judges_of(judgments, judge_scores=frame).judges
    assert (good.judge, good.outcome, noise.judge, noise.outcome) == ("good", "passed", "noise", "failed")


@pytest.mark.parametrize("sorted_by_name", [False, True])
def test_a_judge_that_likes_what_is_shown_first(sorted_by_name: bool) -> None:
    """A quarter of the answers is the first output, whatever it is. Where the order never changes, that is not seen."""
    from adjudge.table.judgments import Judgments
    from adjudge.table.participants import set_judges_apart

    rng = np.random.default_rng(8)
    rows = []
    for segment in range(300):
        shown = ["s0", "s1"] if sorted_by_name or rng.random() < 0.5 else ["s1", "s0"]
        for name in ("a", "b", "judge:m"):
            best = "s0" if rng.random() < 0.6 else "s1"
            if name == "judge:m" and rng.random() < 0.25:
                best = shown[0]
            rows += [(name, str(segment), f"{name}{segment}", s, "pairwise", 1 if s == best else 2) for s in shown]
    columns = ["annotator", "segment", "screen", "system", "protocol", "rank"]
    judgments = set_judges_apart(Judgments.from_columns(pl.DataFrame(rows, schema=columns, orient="row")))
    found = {bias.name: bias for bias in judges_of(judgments).judges[0].biases}
    assert ("shown first" in found) is not sorted_by_name
    if not sorted_by_name:
        assert found["shown first"].estimate == pytest.approx(0.25, abs=0.1)
        low, high = found["shown first"].interval or (0, 0)
        assert low < 0.25 < high
        assert found["shown first"].p is not None
        assert found["shown first"].p < 0.01
