"""Scores given side by side: every output is judged, systems meet evenly, and controls are as planned."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from adjudge.campaigns.design import design
from adjudge.campaigns.design_report import measure_balance
from adjudge.campaigns.extension import extend_tasks
from adjudge.campaigns.tasks import Task, TaskSet
from adjudge.table.errors import AdjudgeError, DataError
from adjudge.table.texts import TestSet
from tests.conftest import examples
from tests.helpers.texts import assert_sound, make_campaign, make_texts, work

STRUCTURES = ["mixed", "all-systems", "pages-same-documents", "pages-all-systems"]
few = settings(max_examples=examples(25))


def judged(tasks: TaskSet) -> Counter[tuple[str, str, str]]:
    """How often each output of a system is judged, controls left out."""
    return Counter(
        (screen.document, item.segment, system)
        for task in work(tasks)
        for screen, item, output in task.outputs()
        if output.kind == "system"
        for system in output.systems
    )


def meetings(tasks: TaskSet) -> Counter[tuple[str, str]]:
    """How often two systems stand on one screen, counted item by item."""
    met: Counter[tuple[str, str]] = Counter()
    for task in work(tasks):
        for screen in task.screens:
            for item in screen.items:
                names = sorted(output.systems[0] for output in item.outputs if output.kind == "system")
                met.update(combinations(names, 2))
    return met


@given(
    documents=st.lists(st.integers(1, 7), min_size=1, max_size=6),
    systems=st.integers(2, 7),
    outputs=st.integers(2, 6),
    structure=st.sampled_from(STRUCTURES),
    same=st.sampled_from([0.0, 0.3, 0.9]),
    seed=st.integers(0, 3),
)
@few
def test_every_output_is_judged_and_no_screen_shows_more_than_asked(
    documents: list[int], systems: int, outputs: int, structure: str, same: float, seed: int
) -> None:
    assume(outputs <= systems)
    testset = make_texts(documents=documents, systems=systems, same=same, seed=seed)
    campaign = make_campaign(
        "esa", design={"task_size": 60, "outputs": outputs, "structure": structure, "annotators": 3}, seed=seed
    )
    tasks = design(campaign, testset)
    assert_sound(tasks, campaign)
    counts = judged(tasks)
    assert set(counts) == {(row.document, row.segment, name) for row in testset.source for name in testset.systems}
    # Twice only where an output would stand alone: pairs of an odd number.
    assert max(counts.values()) <= (2 if outputs == 2 else 1)
    for task in work(tasks):
        for screen in task.screens:
            assert len({len(item.outputs) for item in screen.items}) == 1
            # On a page a system stays in its column.
            assert len({tuple(output.systems for output in item.outputs) for item in screen.items}) == 1
            assert len(screen.items[0].outputs) <= outputs


@pytest.mark.parametrize(
    ("systems", "outputs", "spread"), [(4, 2, 1), (6, 3, 2), (6, 2, 2), (12, 3, 3), (12, 4, 3), (7, 3, 3), (5, 2, 2)]
)
def test_systems_meet_evenly(systems: int, outputs: int, spread: int) -> None:
    testset = make_texts(documents=[10] * 6, systems=systems)
    campaign = make_campaign("da", design={"task_size": 30, "outputs": outputs, "annotators": 4})
    met = meetings(design(campaign, testset))
    counts = [met[pair] for pair in combinations(sorted(testset.systems), 2)]
    assert max(counts) - min(counts) <= spread, counts


def test_systems_stand_equally_often_at_every_place() -> None:
    testset = make_texts(documents=[8] * 5, systems=6)
    campaign = make_campaign("da", design={"task_size": 30, "outputs": 3})
    stood = Counter(
        (output.systems[0], place)
        for task in work(design(campaign, testset))
        for screen in task.screens
        for item in screen.items
        for place, output in enumerate(item.outputs)
    )
    assert max(stood.values()) - min(stood.values()) <= 3


def test_a_given_number_of_screens_samples_the_outputs() -> None:
    testset = make_texts(documents=[10] * 3, systems=6)
    campaign = make_campaign("sqm", design={"task_size": 30, "outputs": 2, "screens_per_segment": 1})
    tasks = design(campaign, testset)
    shown = Counter(name for _, _, name in judged(tasks))
    assert sum(shown.values()) == 2 * 30
    assert set(shown.values()) == {10}


def test_long_sources_have_fewer_outputs() -> None:
    testset = make_texts(documents=[6] * 3, systems=4)
    longest = sorted(len(row.text) for row in testset.source)[9]
    campaign = make_campaign(
        "da", design={"task_size": 40, "outputs": 4, "long_sources": [{"characters": longest, "outputs": 2}]}
    )
    for task in work(design(campaign, testset)):
        for screen in task.screens:
            text = screen.items[0].source or ""
            assert len(screen.items[0].outputs) == (2 if len(text) >= longest else 4)


def controls_of(task: Task) -> Counter[str]:
    return Counter(
        next((output.kind for output in item.outputs if output.kind not in ("system", "repeat")), "repeat")
        for screen in task.screens
        for item in screen.items
        if any(output.kind != "system" for output in item.outputs)
    )


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("protocol", ["da", "esa", "mqm", "sqm"])
def test_controls_are_as_planned_and_each_stands_beside_outputs_shown_again(structure: str, protocol: str) -> None:
    testset = make_texts(documents=[4] * 8, systems=6, references=1)
    wanted = {"degraded": 3, "repeats": 2, "references": 2, "attention": 1}
    campaign = make_campaign(
        protocol,
        design={"task_size": 40, "outputs": 3, "structure": structure, "annotators": 2},
        controls=wanted,
    )
    for task in work(design(campaign, testset)):
        assert controls_of(task) == {"degraded": 3, "repeat": 2, "reference": 2, "attention": 1}
        shown = {output.id: output for _, _, output in task.outputs()}
        for _, item, output in task.outputs():
            if output.kind in ("degraded", "repeat"):
                assert output.of is not None
                original = shown[output.of]
                assert original.systems == output.systems
                assert (original.text == output.text) == (output.kind == "repeat")
            if output.kind == "attention":
                assert len(item.outputs) == 3


def test_degraded_references_are_made_of_those_shown() -> None:
    testset = make_texts(documents=[4] * 8, systems=4, references=1)
    controls = {"degraded": 2, "references": 2, "degraded_from": "references"}
    campaign = make_campaign("da", design={"task_size": 30, "outputs": 2}, controls=controls)
    for task in work(design(campaign, testset)):
        shown = {output.id: output for _, _, output in task.outputs()}
        degraded = [output for output in shown.values() if output.kind == "degraded"]
        assert len(degraded) == 2
        assert all(shown[output.of or ""].kind == "reference" for output in degraded)


@pytest.mark.parametrize(
    ("protocol", "parts", "message"),
    [
        ("da", {"design": {"outputs": 7}}, "at most 6 outputs side by side"),
        ("postedit", {"design": {"outputs": 2}}, "shows one output"),
        ("ranking", {"design": {"outputs": 1}}, "compares outputs"),
        ("da", {"design": {"outputs": 2, "structure": "pages", "segments": 3}}, "pages-same-documents"),
        ("da", {"design": {"outputs": 2, "long_sources": [{"characters": 9, "outputs": 2}]}}, "fewer than 2"),
    ],
)
def test_what_cannot_stand_side_by_side_is_explained(protocol: str, parts: dict[str, Any], message: str) -> None:
    with pytest.raises((AdjudgeError, ValueError), match=message):
        make_campaign(protocol, **parts)


def test_more_outputs_than_systems_are_refused() -> None:
    with pytest.raises(DataError, match="only 2 systems"):
        design(make_campaign("da", design={"outputs": 3}), make_texts(documents=[3], systems=2))


def test_the_report_counts_meetings_on_screens() -> None:
    testset = make_texts(documents=[5] * 4, systems=4)
    campaign = make_campaign("da", design={"task_size": 20, "outputs": 2})
    report = measure_balance(design(campaign, testset), campaign, testset)
    assert [row.where for row in report.meetings] == ["task", "screen"]
    assert report.settings["outputs"] == 2


def test_an_extension_lets_a_new_system_meet_the_others() -> None:
    texts = make_texts(documents=[5] * 6, systems=5)
    known = TestSet(texts.source, {}, {name: texts.systems[name] for name in list(texts.systems)[:4]})
    new = next(iter(set(texts.systems) - set(known.systems)))
    campaign = make_campaign("esa", design={"task_size": 20, "outputs": 2, "structure": "mixed", "annotators": 2})
    stored = design(campaign, known)
    added = extend_tasks(campaign, stored, testset=texts).added
    met: Counter[str] = Counter()
    for task in added:
        for screen in task.screens:
            names = [output.systems[0] for output in screen.items[0].outputs]
            assert len(names) == 2
            if new in names:
                met.update(name for name in names if name != new)
    assert len(met) == 4
    assert max(met.values()) - min(met.values()) <= 2
