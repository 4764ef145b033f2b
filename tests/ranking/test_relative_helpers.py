"""Helpers and sampling weights of rankings and pairs, against rows written out one by one."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import adjudge
from adjudge.ranking.bradley_terry import expectations, fit
from adjudge.ranking.counts import people_counts, units_of
from adjudge.ranking.relative_helpers import sums_of, total, weighted_strengths
from adjudge.ranking.tastes import fit_tastes, plain_rows
from adjudge.ranking.working_rows import Rows
from adjudge.table.comparisons import Comparisons, comparisons

Floats = NDArray[np.float64]
SYSTEMS, SEGMENTS = 4, 300


def campaign(seed: int, *, shown: int = 3, screens: int = 120, luck: float = 1.5) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Rankings of random segments, and a metric that sees the luck of all outputs and loves the later systems."""
    rng = np.random.default_rng(seed)
    value = rng.normal(0, luck, (SEGMENTS, SYSTEMS))
    rows = []
    for screen, segment in enumerate(rng.choice(SEGMENTS, screens, replace=False)):
        systems = rng.choice(SYSTEMS, shown, replace=False)
        seen = value[segment, systems] + rng.gumbel(size=shown)
        ranks = 1 + (seen[:, None] < seen[None, :]).sum(1)
        rows += [
            (f"p{screen % 5}", f"v{screen}", str(segment), f"s{system}", int(rank))
            for system, rank in zip(systems, ranks, strict=True)
        ]
    table = pl.DataFrame(rows, schema=["annotator", "screen", "segment", "system", "rank"], orient="row")
    metric = value + rng.normal(0, 0.5, value.shape) + 3 * np.arange(SYSTEMS)
    place = [(f"s{system}", str(segment)) for segment in range(SEGMENTS) for system in range(SYSTEMS)]
    scores = pl.DataFrame(place, schema=["system", "segment"], orient="row").with_columns(good=metric.ravel())
    return table.with_columns(protocol=pl.lit("ranking" if shown > 2 else "pairwise")), scores


def compared_of(table: pl.DataFrame) -> Comparisons:
    return comparisons(adjudge.read(table))


def written_out(rows: Rows, columns: Floats, luck: float) -> tuple[Floats, Floats, Floats]:
    """All rows of all screens with their weights in them: those of systems, of columns, and the answers."""
    systems, extra, answers = [], [], []
    for group in rows.groups:
        for label, score, information in zip(group.label, group.score, group.information, strict=True):
            values, vectors = np.linalg.eigh(information)
            for value, vector in zip(values, vectors.T, strict=True):
                if value > 1e-9:
                    weight = 1 / np.sqrt(1 + luck * value)
                    row = np.zeros(rows.systems)
                    np.add.at(row, rows.system[label], np.sqrt(value) * vector)
                    systems.append(weight * row)
                    extra.append(weight * np.sqrt(value) * vector @ columns[label])
                    answers.append(weight * vector @ score / np.sqrt(value))
    return np.array(systems), np.array(extra), np.array(answers)


@pytest.mark.parametrize("shown", [2, 3])
def test_products_are_those_of_rows_written_out(shown: int) -> None:
    compared = compared_of(campaign(1, shown=shown)[0])
    rows = plain_rows(people_counts(units_of(compared)), compared)[1]
    rng = np.random.default_rng(2)
    columns, part = rng.normal(size=(len(rows.system), 2)), rng.integers(0, 3, len(np.unique(compared.block)))
    systems, extra, answers = written_out(rows, columns, 0.3)
    left = np.column_stack([answers, extra])
    left = left - systems @ np.linalg.lstsq(systems, left, rcond=None)[0]
    found = total(sums_of(rows, columns, 0.3, part)).products
    assert found.score == pytest.approx(left[:, 0] @ left[:, 0])
    np.testing.assert_allclose(found.cross, left[:, 1:].T @ left[:, 0], atol=1e-9)
    np.testing.assert_allclose(found.helpers, left[:, 1:].T @ left[:, 1:], atol=1e-9)
    strengths = total(sums_of(rows, columns, 0.3, part)).strengths()
    for number in range(3):
        answered = answers - (extra[:, number - 1] if number else 0)
        delta = np.linalg.lstsq(systems, answered, rcond=None)[0]
        np.testing.assert_allclose(strengths[number] - strengths[number].mean(), delta - delta.mean(), atol=1e-9)


def test_a_metric_that_sees_luck_helps_and_its_favourites_do_not_matter() -> None:
    table, scores = campaign(3)
    plain, helped = adjudge.rank(table), adjudge.rank(table, with_scores=scores)
    errors = [np.mean([pair.numbers["se"] for pair in one.comparisons]) for one in (plain, helped)]
    assert errors[1] < 0.95 * errors[0]
    assert [helper.name for helper in helped.helpers] == ["good"]
    assert helped.helpers[0].slope > 0
    assert helped.gain is not None
    assert helped.gain >= 1
    assert helped.settings["helpers"] == 1
    less = scores.with_columns(pl.col("good") - 3 * pl.col("system").str.slice(1).cast(pl.Float64))
    again = adjudge.rank(table, with_scores=less)
    for one, other in zip(helped.systems, again.systems, strict=True):
        assert one.system == other.system
        assert one.score == pytest.approx(other.score, abs=0.15), "normal scores of all outputs move a little"


def test_a_metric_that_says_nothing_changes_nothing() -> None:
    table, scores = campaign(4)
    plain = adjudge.rank(table)
    constant = adjudge.rank(table, with_scores=scores.with_columns(good=pl.lit(1.0)))
    assert constant.gain == 1
    assert [system.score for system in constant.systems] == pytest.approx([system.score for system in plain.systems])
    assert any("cannot help" in note for note in constant.notes)


def test_weights_estimate_strengths_as_if_screens_were_repeated() -> None:
    """Strengths are those of the plain fit to each comparison so many times; errors are sums over segments."""
    table = campaign(5)[0]
    compared = compared_of(table)
    people = people_counts(units_of(compared))
    weight = np.where(compared.segment % 3 == 0, 3.0, 1.0)
    found, model = weighted_strengths(compared, weight, people), fit_tastes(people, compared)
    wins, ties = np.zeros((SYSTEMS, SYSTEMS)), np.zeros((SYSTEMS, SYSTEMS))
    for first, second, outcome, times in zip(compared.first, compared.second, compared.outcome, weight, strict=True):
        if outcome == 0:
            ties[first, second] += times
            ties[second, first] += times
        else:
            wins[(first, second) if outcome > 0 else (second, first)] += times
    plain = fit(wins, ties)
    np.testing.assert_allclose(found.strength, plain.strength, atol=1e-8)
    mean, variance = expectations(plain.strength, float(plain.log_tie))
    number = len(np.unique(compared.segment))
    sums: dict[int, Floats] = {}
    by_person: dict[int, Floats] = {}
    by_both: dict[tuple[int, int], Floats] = {}
    for n, (first, second) in enumerate(zip(compared.first, compared.second, strict=True)):
        direction = np.eye(SYSTEMS)[first] - np.eye(SYSTEMS)[second]
        who, text = int(compared.annotator[n]), int(compared.segment[n])
        residual = (compared.outcome[n] + 1) / 2 - mean[first, second]
        told = weight[n] * variance[first, second] * np.outer(direction, direction)
        sums[text] = sums.get(text, np.zeros(SYSTEMS)) + weight[n] * residual * direction
        by_person[who] = by_person.get(who, np.zeros((SYSTEMS, SYSTEMS))) + told
        by_both[who, text] = by_both.get((who, text), np.zeros((SYSTEMS, SYSTEMS))) + told
    inverse = np.linalg.pinv(sum(by_person.values()))
    inner = sum(np.outer(part, part) for part in sums.values()) * number / (number - 1)
    tastes = sum(part @ part for part in by_person.values()) - sum(part @ part for part in by_both.values())
    expected = inverse @ (inner + model.taste**2 * tastes) @ inverse
    np.testing.assert_allclose(found.covariance, expected, atol=1e-9)
    assert (found.df[np.triu_indices(SYSTEMS, 1)] >= 1).all()


def test_chosen_segments_are_weighed() -> None:
    table = campaign(6)[0]
    chosen = table.with_columns(inclusion=pl.when(pl.col("segment").cast(pl.Int64) % 2 == 0).then(0.2).otherwise(0.8))
    ranking = adjudge.rank(chosen)
    assert any("each comparison counts 1 / probability" in note for note in ranking.notes)
    equal = adjudge.rank(table.with_columns(inclusion=pl.lit(0.5)))
    assert [system.score for system in equal.systems] == [system.score for system in adjudge.rank(table).systems]


def test_what_is_not_possible_is_refused() -> None:
    table, scores = campaign(7)
    chosen = table.with_columns(inclusion=pl.when(pl.col("segment").cast(pl.Int64) % 2 == 0).then(0.2).otherwise(0.8))
    with pytest.raises(adjudge.AdjudgeError, match="expected-wins cannot use 'with_scores'; choose one of bradley"):
        adjudge.rank(table, with_scores=scores, method="expected-wins")
    with pytest.raises(adjudge.AdjudgeError, match="needs bradley-terry with its model of tastes"):
        adjudge.rank(chosen, method="expected-wins")
    with pytest.raises(adjudge.AdjudgeError, match="needs the names of two annotators or more"):
        adjudge.rank(table.drop("annotator"), with_scores=scores)
    with pytest.raises(adjudge.AdjudgeError, match="go together for scores only"):
        adjudge.rank(chosen, with_scores=scores)
    with pytest.raises(adjudge.AdjudgeError, match="audits of rankings and pairs cannot undo"):
        adjudge.audit(chosen, only="claims")
