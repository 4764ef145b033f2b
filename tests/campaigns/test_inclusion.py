"""Segments chosen with known probabilities: these are exact, weighted differences unbiased, and all is carried on."""

from __future__ import annotations

from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from adjudge.campaigns.appraise import to_batches
from adjudge.campaigns.campaign_file import set_selection
from adjudge.campaigns.design import design
from adjudge.campaigns.design_report import measure_balance
from adjudge.campaigns.segment_selection import (
    EVEN,
    draw_by_steps,
    draw_groups,
    inclusion_probabilities,
    measure_difference,
    read_spread,
)
from adjudge.campaigns.tasks import TaskSet, parse_tasks, to_json
from adjudge.table.errors import DataError, InputError, UsageError
from tests.conftest import examples
from tests.helpers.texts import make_campaign, make_texts


@given(
    spread=st.lists(st.floats(0, 50), min_size=2, max_size=30).filter(lambda values: max(values) > 1e-3),
    length=st.integers(1, 5),
    share=st.floats(0.05, 0.9),
)
@settings(max_examples=examples(60))
def test_probabilities_add_up_and_follow_the_spread(spread: list[float], length: int, share: float) -> None:
    segments = length * len(spread)
    wanted = max(1, round(share * segments))
    probability = inclusion_probabilities(spread, [length] * len(spread), wanted)
    assert ((probability > 0) & (probability <= 1)).all()
    assert length * probability.sum() == pytest.approx(wanted, abs=1e-6)
    # No weight is larger than 1 / EVEN times what an even draw would give.
    assert (probability >= EVEN * wanted / segments - 1e-9).all()
    order = np.argsort(spread, kind="stable")
    assert (np.diff(probability[order]) >= -1e-9).all()


def every_draw(probability: np.ndarray) -> list[tuple[float, list[int]]]:
    """All outcomes of the systematic draw with their chances: every order, and every stretch of starts alike."""
    outcomes = []
    orders = list(permutations(range(len(probability))))
    for order in orders:
        ends = np.cumsum(probability[list(order)])
        cuts = np.unique(np.concatenate([[0.0, 1.0], ends % 1]))
        for low, high in pairwise(cuts):
            if high - low > 1e-12:
                outcomes.append(((high - low) / len(orders), draw_by_steps(probability, order, (low + high) / 2)))
    return outcomes


def test_inclusion_is_exact_and_weighted_sums_are_unbiased() -> None:
    """By going through all draws: nothing is left to chance."""
    probability = inclusion_probabilities([0.1, 0.5, 0.9, 0.2, 2.0], [1] * 5, 2)
    outcomes = every_draw(probability)
    assert sum(chance for chance, _ in outcomes) == pytest.approx(1)
    # Probabilities are rounded to nine digits, so that one may be missing with a chance of that size.
    assert {len(chosen) for chance, chosen in outcomes if chance > 1e-9} == {2}
    for number in range(5):
        included = sum(chance for chance, chosen in outcomes if number in chosen)
        assert included == pytest.approx(probability[number], abs=1e-9)
    difference = np.array([0.3, -2.0, 4.0, 1.0, 9.0])
    mean = sum(chance * sum(difference[i] / probability[i] for i in chosen) / 5 for chance, chosen in outcomes)
    assert mean == pytest.approx(difference.mean(), abs=1e-7)
    # What the most different segments alone would say.
    assert difference[[2, 4]].mean() > 2 * difference.mean()


def test_the_draw_is_the_same_for_the_same_seed() -> None:
    probability = inclusion_probabilities(np.linspace(0.1, 1, 40).tolist(), [3] * 40, 30)
    draws = [draw_groups(probability, np.random.default_rng(4)) for _ in range(2)]
    assert draws[0] == draws[1]
    assert len(draws[0]) in (9, 10, 11)


def test_how_much_outputs_differ() -> None:
    assert measure_difference(["the same", "the same"]) == 0
    assert measure_difference(["abc"]) == 0
    assert measure_difference(["aaaa", "bbbb"]) == 1
    # " ab " has the sequences " ab", "ab "; " abc " has " ab", "abc", "bc ": one of 2 + 3 is shared.
    assert measure_difference(["ab", "abc"]) == pytest.approx(1 - 2 * 1 / 5)
    # Three pairs, of which one is equal.
    assert measure_difference(["ab", "ab", "abc"]) == pytest.approx(2 / 3 * (1 - 2 / 5))


def inclusion_of(tasks: TaskSet) -> dict[tuple[str, str], float | None]:
    return {
        (screen.document, item.segment): item.inclusion
        for task in tasks.tasks
        if task.kind == "work"
        for screen, item, _ in task.outputs()
    }


@pytest.mark.parametrize("structure", ["mixed", "pages-same-documents"])
def test_probabilities_are_in_the_tasks_and_their_file(structure: str) -> None:
    testset = make_texts(documents=[5] * 12, systems=3)
    parts = {"structure": structure, "segments": 20, "task_size": 40, "annotators": 2, "judgments": 1}
    campaign = make_campaign(design={**parts, "select": "outputs"}, controls={"repeats": 2, "calibration": 5})
    tasks = design(campaign, testset)
    chosen = inclusion_of(tasks)
    assert 15 <= len(chosen) <= 25
    assert all(value is not None and 0 < value <= 1 for value in chosen.values())
    assert parse_tasks(to_json(tasks), "tasks.json") == tasks
    report = measure_balance(tasks, campaign, testset)
    assert report.selection is not None
    assert (report.selection.segments, report.selection.of) == (len(chosen), 55)
    assert report.selection.worth <= len(chosen)
    plain = design(make_campaign(design=parts), testset)
    assert set(inclusion_of(plain).values()) == {None}
    assert "inclusion" not in to_json(plain)
    with pytest.raises(DataError, match="Appraise's results do not tell"):
        to_batches(tasks)


def test_a_file_of_numbers(tmp_path: Path) -> None:
    file = tmp_path / "spread.txt"
    file.write_text("0.5\n2\n0\n")
    assert read_spread(file, 3).tolist() == [0.5, 2, 0]
    with pytest.raises(InputError, match="holds 3 numbers where there are 4 segments"):
        read_spread(file, 4)
    file.write_text("0.5\n-2\n0\n")
    with pytest.raises(InputError, match="'-2' is no spread"):
        read_spread(file, 3)
    file.write_text("".join(f"{number}\n" for number in range(60)))
    testset = make_texts(documents=[5] * 12, systems=3)
    plain = make_campaign(design={"segments": 20, "task_size": 40})
    chosen = inclusion_of(design(set_selection(plain, str(file)), testset))
    assert len(chosen) == 20
    # The first document has the smallest numbers.
    first = [value for (document, _), value in chosen.items() if document == "d0" and value is not None]
    last = [value for (document, _), value in chosen.items() if document == "d11" and value is not None]
    assert max(first, default=0.0) < min(last)


@pytest.mark.parametrize(
    ("protocol", "parts", "message"),
    [
        ("da", {"design": {"select": "outputs"}}, "say how many in 'segments'"),
        ("da", {"design": {"select": "outputs", "segments": 5, "structure": "pages"}}, "pages-same-documents"),
        ("ranking", {"design": {"select": "outputs", "segments": 5}}, "rankings and pairs cannot be weighted"),
        ("da", {"design": {"select": "spread", "segments": 5}}, "belong together"),
        ("da", {"design": {"select": "largest", "segments": 5}}, "outputs"),
    ],
)
def test_what_cannot_be_chosen_is_refused(protocol: str, parts: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        make_campaign(protocol, **parts)


def test_wrong_options_are_explained() -> None:
    plain = make_campaign(design={"segments": 20})
    with pytest.raises(UsageError, match="neither 'outputs' nor a file"):
        set_selection(plain, "no-such-file")
    with pytest.raises(UsageError, match="say how many in 'segments'"):
        set_selection(make_campaign(), "outputs")
    texts = make_texts(documents=[2] * 3, systems=1)
    with pytest.raises(DataError, match="differ on no segment"):
        design(set_selection(make_campaign(design={"segments": 3}), "outputs"), texts)
