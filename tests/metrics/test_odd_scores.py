"""Scores as they come: missing, constant, repeated, of other systems or segments, and counting errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import kendalltau, pearsonr, spearmanr

from adjudge.metrics.join import Scores, join
from adjudge.metrics.levels import pooled_pairs, pooled_pearson, pooled_spearman, signs, soft_pairwise_accuracy
from adjudge.metrics.meta import evaluate
from adjudge.metrics.significance import permute_pearson, williams
from adjudge.readers.metric_scores import MetricScore, read_metric_scores
from adjudge.table.errors import DataError, InputError
from tests.conftest import Run, assert_explained, examples

Floats = NDArray[np.float64]
Cells = dict[tuple[str, str], float]


def drawn_scores(seed: int, missing: float) -> tuple[Cells, dict[str, Cells]]:
    """Human scores with ties, and a metric, one with ties and a constant one; some of each are missing."""
    rng = np.random.default_rng(seed)
    cells = [(f"s{s}", str(g)) for s in range(4) for g in range(5)]
    level = {cell: int(cell[0][1]) for cell in cells}
    made = {
        "human": {cell: float(np.round(level[cell] + rng.normal(0, 2))) for cell in cells},
        "fine": {cell: level[cell] + rng.normal(0, 2) for cell in cells},
        "coarse": {cell: float(np.round(level[cell] / 2 + rng.normal(0, 1))) for cell in cells},
        "constant": dict.fromkeys(cells, 0.1),
    }
    kept = {name: {at: value for at, value in own.items() if rng.random() >= missing} for name, own in made.items()}
    return kept.pop("human"), kept


def as_scores(name: str, cells: Cells) -> list[MetricScore]:
    return [MetricScore(name, system, segment, None, value) for (system, segment), value in cells.items()]


def slow(name: str, x: Sequence[float], y: Sequence[float]) -> float:
    """A coefficient by SciPy or spelled out; NaN where it is not defined."""
    if name == "pairwise_accuracy":
        agreeing = [np.sign(x[i] - x[j]) == np.sign(y[i] - y[j]) for i, j in combinations(range(len(x)), 2)]
        return float(np.mean(agreeing)) if agreeing else float("nan")
    if len(set(x)) < 2 or len(set(y)) < 2:
        return float("nan")
    return float({"pearson": pearsonr, "spearman": spearmanr, "kendall": kendalltau}[name](x, y).statistic)


def system_means(cells: Cells, systems: Sequence[str], segments: Sequence[str]) -> list[float | None]:
    """Rounded, so that means of one constant are equal."""
    parts = [[cells[s, g] for g in segments if (s, g) in cells] for s in systems]
    return [round(float(np.mean(part)), 12) if part else None for part in parts]


def mean_of(values: Sequence[float]) -> float:
    defined = [value for value in values if not np.isnan(value)]
    return float(np.mean(defined)) if defined else float("nan")


@settings(max_examples=examples(20))
@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.3]))
def test_every_level_is_that_of_scipy_whatever_is_missing(seed: int, missing: float) -> None:
    human, metrics = drawn_scores(seed, missing)
    joined, _ = join(
        as_scores("human", human), [as_score for name, own in metrics.items() for as_score in as_scores(name, own)]
    )
    result = evaluate(joined, permutations=5, resamples=0)
    for name, cells in metrics.items():
        shared = [cell for cell in human if cell in cells]
        system, segment = result.metrics[name]["system"], result.metrics[name]["segment"]
        judged = {at: value for at, value in human.items() if at in cells}
        means = [system_means(part, joined.systems, joined.segments) for part in (judged, cells)]
        assert segment.n == len(shared)
        for key in ("pearson", "spearman", "kendall", "pairwise_accuracy"):
            both = [(x, y) for x, y in zip(*means, strict=True) if x is not None and y is not None]
            expected = slow(key, [x for x, _ in both], [y for _, y in both])
            assert system.values[key] == pytest.approx(expected, abs=1e-9, nan_ok=True)
            pooled = slow(key, [human[at] for at in shared], [cells[at] for at in shared])
            assert segment.values[key] == pytest.approx(pooled, abs=1e-9, nan_ok=True)
            for side, group in ((0, "by_system"), (1, "by_item")):
                names = dict.fromkeys(at[side] for at in shared)
                parts = [[at for at in shared if at[side] == name] for name in names]
                each = [slow(key, [human[at] for at in part], [cells[at] for at in part]) for part in parts]
                assert segment.groups[group][key] == pytest.approx(mean_of(each), abs=1e-9, nan_ok=True)


def scores_without_hard_segments() -> tuple[Scores, Scores]:
    """A metric equal to the human, first with all scores, then without the hard half of the odd systems' segments."""
    rng = np.random.default_rng(5)
    hardness = np.where(np.arange(20) % 2, -10.0, 0.0)
    human = np.arange(6.0)[:, None] + hardness + rng.normal(0, 0.1, (6, 20))
    partial = human.copy()
    partial[1::2, 1::2] = np.nan
    metrics = {"complete": human + rng.normal(0, 0.1, (6, 20)), "other": human + rng.normal(0, 3, (6, 20))}
    systems, segments = tuple("abcdef"), tuple(str(segment) for segment in range(20))
    documents = tuple(str(segment // 4) for segment in range(20))
    alone = Scores(systems, segments, human, metrics, documents)
    return alone, replace(alone, metrics={**metrics, "partial": partial})


def test_human_scores_are_averaged_over_the_segments_that_the_metric_scored() -> None:
    """A metric that equals the human has r = 1 at every level, whatever it lacks; against means of all, r = .72."""
    alone, beside = scores_without_hard_segments()
    result = evaluate(beside, permutations=50, resamples=50)
    for level in ("system", "document", "segment"):
        assert result.metrics["partial"][level].values["pearson"] == pytest.approx(1)
    system = result.metrics["partial"]["system"]
    assert system.intervals["pearson"] == pytest.approx((1, 1))
    assert system.values["soft_pairwise_accuracy"] == pytest.approx(1)
    assert [note for note in result.notes if "partial 30 of 120" in note]
    # The others are as they are without it, and have no note.
    before = evaluate(alone, permutations=50, resamples=50)
    assert not [note for note in before.notes if "without a score" in note]
    assert all(before.metrics[name] == result.metrics[name] for name in before.metrics)


def test_two_metrics_are_compared_by_means_over_common_segments() -> None:
    """Williams' test at system level, from the means of what all three sides have, by NumPy."""
    _, beside = scores_without_hard_segments()
    tests = {
        frozenset((test.better, test.worse)): test
        for test in evaluate(beside, permutations=5, resamples=0).comparisons
        if (test.level, test.test) == ("system", "williams")
    }
    common = ~np.isnan(beside.metrics["partial"])
    human, other, partial = (
        np.array([row[kept].mean() for row, kept in zip(scores, common, strict=True)])
        for scores in (beside.human, beside.metrics["other"], beside.metrics["partial"])
    )
    r_partial, r_other, between = (
        np.corrcoef(*two)[0, 1] for two in ((human, partial), (human, other), (partial, other))
    )
    test = tests[frozenset(("partial", "other"))]
    assert test.better == "partial"
    assert test.difference == pytest.approx(r_partial - r_other)
    assert test.p == pytest.approx(williams(r_partial, r_other, between, 6), nan_ok=True)


def test_a_constant_metric_tells_nothing_at_any_level() -> None:
    """The mean of equal scores is that score: rounding must not make 0.1 in one system differ from 0.1 in another."""
    human, metrics = drawn_scores(3, 0.3)
    joined, _ = join(as_scores("human", human), as_scores("constant", metrics["constant"]))
    result = evaluate(joined, permutations=50, resamples=40)
    for value in result.metrics["constant"].values():
        assert np.isnan([value.values["pearson"], value.values["spearman"], value.values["kendall"]]).all()
        assert not {"pearson", "spearman", "kendall"} & set(value.intervals)
    json.dumps(result.to_dict(), allow_nan=False)


def test_soft_accuracy_does_not_hang_on_the_names_of_systems() -> None:
    human = np.random.default_rng(1).normal(size=(4, 30)) + np.arange(4)[:, None]
    flips = signs(200, 30, np.random.default_rng(2))
    constant = np.full_like(human, 0.1)
    there = soft_pairwise_accuracy(human, constant, flips)
    assert soft_pairwise_accuracy(human[::-1], constant, flips) == pytest.approx(there, abs=0.01)
    # Two systems without a segment in common say nothing about a metric.
    apart = human[:2].copy()
    apart[0, :15], apart[1, 15:] = np.nan, np.nan
    assert np.isnan(soft_pairwise_accuracy(apart, human[:2], flips))


@pytest.mark.parametrize("by_item", [False, True])
def test_permutations_are_those_of_all_exchanges(by_item: bool) -> None:
    """All 2^9 exchanges of nine scores, one being missing, against drawn ones."""
    rng = np.random.default_rng(4)
    human = rng.normal(size=(2, 5))
    first, second = human + rng.normal(size=human.shape), 0.3 * human + rng.normal(size=human.shape)
    first[0, 1] = np.nan
    known = ~np.isnan(first)
    a, b = ((scores - scores[known].mean()) / scores[known].std() for scores in (first, second))

    def difference(flips: NDArray[np.bool_]) -> float:
        x, y = np.where(flips, b, a), np.where(flips, a, b)
        groups = [known[:, [c]] & (np.arange(5) == c) for c in range(5)] if by_item else [known]
        used = [group for group in groups if group.sum() > 1]
        return float(np.mean([np.corrcoef(human[g], x[g])[0, 1] - np.corrcoef(human[g], y[g])[0, 1] for g in used]))

    # Pooled scores of one segment exchange together, scores of an item each by itself.
    _, segment = np.nonzero(known)
    unit = np.arange(len(segment)) if by_item else segment
    every = []
    for bits in product((False, True), repeat=len(np.unique(unit))):
        flips = np.zeros(human.shape, dtype=bool)
        flips[known] = np.array(bits)[unit]
        every.append(difference(flips))
    (permuted,) = permute_pearson(
        human, {"a": first, "b": second}, by_item=by_item, permutations=4000, rng=np.random.default_rng(1)
    )
    observed = difference(np.zeros(human.shape, dtype=bool))
    assert permuted.difference == pytest.approx(observed)
    assert permuted.p == pytest.approx(np.mean(np.abs(every) >= abs(observed) - 1e-12), abs=0.03)


def test_metrics_are_compared_on_what_they_share_even_if_no_segment_is_complete() -> None:
    rng = np.random.default_rng(2)
    human = rng.normal(size=(6, 40))
    holes = (np.arange(6)[:, None] + np.arange(40)) % 6 == 0
    good, poor = human + rng.normal(0, 0.5, human.shape), human + rng.normal(0, 8, human.shape)
    good[holes] = np.nan
    nothing = np.full_like(human, np.nan)
    tests = permute_pearson(
        human, {"good": good, "poor": poor, "nothing": nothing}, by_item=True, permutations=99,
        rng=np.random.default_rng(1),
    )  # fmt: skip
    # Three pairs of metrics take 120 permutations at least.
    assert tests[0].p == pytest.approx(1 / 121)
    assert np.isnan([tests[1].p, tests[2].p]).all()


def test_resampled_coefficients_are_those_of_the_redrawn_segments() -> None:
    rng = np.random.default_rng(5)
    human = np.round(rng.normal(size=(4, 9)))
    metric = np.round(human + rng.normal(size=human.shape), 1)
    human[0, 0], metric[1, 2] = np.nan, np.nan
    drawn = rng.multinomial(9, np.full(9, 1 / 9), size=5).astype(float)
    tau, accuracy = pooled_pairs(human, metric, drawn)
    rho, r = pooled_spearman(human, metric, drawn), pooled_pearson(human, metric, drawn)
    for k, weights in enumerate(drawn):
        columns = np.repeat(np.arange(9), weights.astype(int))
        x, y = human[:, columns].ravel(), metric[:, columns].ravel()
        own = (np.arange(4)[:, None] * 9 + columns).ravel()
        known = ~(np.isnan(x) | np.isnan(y))
        x, y, own = x[known], y[known], own[known]
        agreeing = [
            np.sign(x[i] - x[j]) == np.sign(y[i] - y[j]) for i, j in combinations(range(len(x)), 2) if own[i] != own[j]
        ]
        expected = [kendalltau(x, y).statistic, np.mean(agreeing), spearmanr(x, y).statistic, pearsonr(x, y).statistic]
        assert [tau[k], accuracy[k], rho[k], r[k]] == pytest.approx(expected)


def table(path: Path, lines: Sequence[str]) -> Path:
    path.write_text("\n".join(lines) + "\n")
    return path


def test_intervals_stand_beside_the_coefficients_at_every_level(tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    rng = np.random.default_rng(7)
    rows = [f"s{s}\td{g % 6}\t{g}\t{s + rng.normal():.3f}\t{s + rng.normal():.3f}" for s in range(5) for g in range(24)]
    file = table(tmp_path / "all.tsv", ["system\tdocument\tsegment\thuman\tm", *rows])
    levels = adjudge("meta", file, file, "--permutations", "20", "--resamples", "60", "--json").json["metrics"]["m"]
    for level in ("system", "document", "segment"):
        for name in ("pearson", "spearman", "kendall", "pairwise_accuracy"):
            low, high = levels[level]["intervals"][name]
            assert low <= levels[level][name] <= high


def test_segments_that_are_numbered_anew_in_every_document(tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    rows = [f"s{s}\t{d}\t{g}\t{s + g}\t{2 * s + g}" for s in range(3) for d in "abc" for g in range(4)]
    file = table(tmp_path / "all.tsv", ["system\tdocument\tsegment\thuman\tm", *rows])
    answer = adjudge("meta", file, file, "--permutations", "9", "--resamples", "0", "--json").json
    assert answer["metrics"]["m"]["segment"]["n"] == 36
    bare = table(tmp_path / "bare.tsv", ["system\tsegment\tm", *(f"s{s}\t{g}\t1" for s in range(3) for g in range(4))])
    names = ("segment '0'", "documents 'a' and 'b'", "metric scores do not all say their document")
    assert_explained(adjudge("meta", file, bare), names=names)


def test_scores_given_twice_are_counted_and_contradictions_refused() -> None:
    human = [MetricScore("human", s, g, None, float(i)) for i, s in enumerate("abc") for g in "12"]
    metric = [MetricScore("m", s, g, None, float(i)) for i, s in enumerate("abc") for g in "12"]
    _, aside = join(human, [*metric, metric[0]])
    assert [(reason.reason, reason.rows) for reason in aside] == [
        ("score that repeats another of the same system and segment", 1)
    ]
    with pytest.raises(DataError, match=r"'m' has two scores of segment '1' by system 'a' \(0 and 9\)"):
        join(human, [*metric, MetricScore("m", "a", "1", None, 9.0)])
    with pytest.raises(DataError, match="two scores of the whole test set by 'a'"):
        join(human, [*metric, MetricScore("w", "a", None, None, 1.0), MetricScore("w", "a", None, None, 2.0)])


def test_a_metric_of_whole_test_sets_stands_beside_one_of_segments() -> None:
    human, metrics = drawn_scores(1, 0.0)
    whole = [MetricScore("whole", f"s{s}", None, None, float(s)) for s in range(4)]
    nothing = [MetricScore("nothing", "s0", "1", None, None)]
    joined, aside = join(as_scores("human", human), [*whole, *as_scores("fine", metrics["fine"]), *nothing])
    assert ("metric without any score: nothing", 1) in {(reason.reason, reason.rows) for reason in aside}
    result = evaluate(joined, permutations=9, resamples=0)
    assert {name: set(levels) for name, levels in result.metrics.items()} == {
        "whole": {"system"},
        "fine": {"system", "segment"},
    }
    assert result.levels == ("system", "segment")
    assert {(comparison.level, comparison.test) for comparison in result.comparisons} == {("system", "williams")}


def test_systems_of_one_side_only_are_named(tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    gold = table(tmp_path / "h.sys.score", ["a 1", "b 2", "c 3", "refA 4"])
    metric = table(tmp_path / "m.sys.score", ["a 1", "b 3", "c 2", "online 5"])
    aside = adjudge("meta", gold, metric, "--json").json["set_aside"]
    assert {"reason": "human score of a system without metric scores: refA", "rows": 1} in aside
    assert {"reason": "metric score of a system without human scores: online", "rows": 1} in aside


def test_error_counts_are_turned_round_on_request(tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    rows = [f"s{s}\t{g}\t{s + g % 2}\t{-s - g % 3}" for s in range(4) for g in range(6)]
    file = table(tmp_path / "all.tsv", ["system\tsegment\thuman\tTER", *rows])
    as_given = adjudge("meta", file, file, "--permutations", "9", "--json").json
    assert any("--lower-is-better TER" in note for note in as_given["notes"])
    turned = adjudge("meta", file, file, "--permutations", "9", "--lower-is-better", "TER", "--json").json
    before, after = (result["metrics"]["TER"]["segment"]["pearson"] for result in (as_given, turned))
    assert after == pytest.approx(-before)
    assert "lower_is_better:TER" in turned["signature"]
    wrong = adjudge("meta", file, file, "--lower-is-better", "ter")
    assert_explained(wrong, code=2, names=("'ter'", "human, TER"))


def test_sacrebleu_on_several_systems(tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    """Forms as printed by sacrebleu 2.6.0: `sacrebleu ref -i a.txt b.txt -m bleu ter`, and with `--paired-ar`."""
    plain = [{"system": "a.txt", "BLEU": "54.0", "TER": "22.2"}, {"system": "b.txt", "BLEU": "30.2", "TER": "40.0"}]
    paired = [
        {"system": f"{mark}{name}.txt", "chrF2": {"score": value, "p_value": None, "mean": None, "ci": None}}
        for mark, name, value in (("Baseline: ", "a", 65.7), ("", "b", 67.7))
    ]
    for name, content in (("plain", plain), ("paired", paired)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    scores = read_metric_scores([tmp_path / "plain.json", tmp_path / "paired.json"])
    assert {(score.metric, score.system): score.score for score in scores} == {
        ("BLEU", "a"): 54.0, ("TER", "a"): -22.2, ("BLEU", "b"): 30.2, ("TER", "b"): -40.0,
        ("chrF2", "a"): 65.7, ("chrF2", "b"): 67.7,
    }  # fmt: skip
    gold = table(tmp_path / "h.sys.score", ["a 1", "b 2"])
    notes = adjudge("meta", gold, tmp_path / "plain.json", "--json").json["notes"]
    assert any("its sign is reversed" in note for note in notes)
    (tmp_path / "bad.json").write_text('[{"system": "a", "BLEU": "high"}]')
    with pytest.raises(InputError, match="the score of BLEU is 'high'"):
        read_metric_scores([tmp_path / "bad.json"])


def test_tables_separated_by_blanks_and_tabs(tmp_path: Path) -> None:
    """As the released averages of MQM are written: a header with blanks, rows with both."""
    file = table(tmp_path / "avg.tsv", ["system mqm_avg_score seg_id", "a\t-1.000000 1", "b\tNone 1"])
    assert read_metric_scores([file]) == [
        MetricScore("mqm_avg_score", "a", "1", None, -1.0),
        MetricScore("mqm_avg_score", "b", "1", None, None),
    ]
    with pytest.raises(InputError, match="line 2: 2 fields where the header has 3"):
        read_metric_scores([table(tmp_path / "cut.tsv", ["system score seg_id", "a 1"])])
    with pytest.raises(InputError, match=r"line 2: score in column 'm' is '1_000'"):
        read_metric_scores([table(tmp_path / "bad.tsv", ["system\tsegment\tm", "a\t1\t1_000"])])
    with pytest.raises(InputError, match="scores of documents or domains"):
        read_metric_scores([table(tmp_path / "x.doc.score", ["a 1"])])
