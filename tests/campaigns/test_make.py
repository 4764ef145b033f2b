"""Any size, any number of systems and people: every item is judged as often as asked, and controls are as planned."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from adjudge.campaigns.design import design
from adjudge.campaigns.tasks import Task, TaskSet, to_json
from adjudge.table.errors import AdjudgeError, DataError
from adjudge.table.texts import TestSet
from tests.conftest import examples
from tests.helpers.texts import assert_sound, make_campaign, make_texts, work

PAGES = ["pages", "pages-same-documents", "pages-all-systems"]
few = settings(max_examples=examples(25))


def kinds(task: Task) -> Counter[str]:
    return Counter(output.kind for _, _, output in task.outputs())


def judged(tasks: TaskSet) -> Counter[tuple[str, str, str]]:
    """Judgments per document, segment and system, repeats and other controls left out."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for task in work(tasks):
        for screen, item, output in task.outputs():
            if output.kind == "system":
                for system in output.systems:
                    counts[screen.document, item.segment, system] += task.judgments
    return counts


def everything(testset: TestSet) -> set[tuple[str, str, str]]:
    return {(segment.document, segment.segment, system) for segment in testset.source for system in testset.systems}


@given(
    documents=st.lists(st.integers(1, 9), min_size=1, max_size=8),
    systems=st.integers(1, 6),
    people=st.integers(1, 5),
    k=st.integers(1, 3),
    size=st.integers(1, 40),
    same=st.sampled_from([0.0, 0.2, 0.9]),
    seed=st.integers(0, 3),
)
@few
def test_without_context_every_output_is_judged_k_times(
    documents: list[int], systems: int, people: int, k: int, size: int, same: float, seed: int
) -> None:
    assume(k <= people)
    testset = make_texts(documents=documents, systems=systems, same=same, seed=seed)
    campaign = make_campaign(design={"task_size": size, "annotators": people, "judgments": k}, seed=seed)
    tasks = design(campaign, testset)
    assert_sound(tasks, campaign)
    assert judged(tasks) == dict.fromkeys(everything(testset), k)
    assert to_json(tasks) == to_json(design(campaign, testset))


@pytest.mark.parametrize("structure", ["all-systems", *PAGES])
@given(
    documents=st.lists(st.integers(1, 9), min_size=1, max_size=6),
    systems=st.integers(1, 5),
    k=st.integers(1, 2),
    size=st.integers(10, 60),
    same=st.sampled_from([0.0, 0.3]),
)
@few
def test_with_any_structure_every_output_is_judged_k_times(
    structure: str, documents: list[int], systems: int, k: int, size: int, same: float
) -> None:
    testset = make_texts(documents=documents, systems=systems, same=same)
    campaign = make_campaign(
        "sqm",
        design={"structure": structure, "task_size": size, "annotators": 3, "judgments": k},
        context={"max_segments": 2, "before": 1, "after": 2},
    )
    tasks = design(campaign, testset)
    counts = judged(tasks)
    assert counts == dict.fromkeys(everything(testset), k)
    assert all(task.size <= size for task in tasks.tasks)
    if structure == "all-systems":
        for task in work(tasks):
            held = Counter(item.segment + screen.document for screen, item, _ in task.outputs())
            for screen, item, output in task.outputs():
                others = {
                    s
                    for sc, it, o in task.outputs()
                    if (sc.document, it.segment) == (screen.document, item.segment)
                    for s in o.systems
                }
                assert others == set(testset.systems), (held, output)


CONTROLS: list[dict[str, Any]] = [
    {"degraded": 3, "repeats": 2, "references": 4, "attention": 1},
    {"degraded": 0.1, "repeats": 0.05, "references": 0.1},
    {"degraded": 2, "references": 3, "degraded_from": "references"},
    {"attention": 2, "attention_text": "Give {score}."},
    {"degraded": 10, "repeats": 10, "references": 10},
]


@pytest.mark.parametrize("structure", ["mixed", "all-systems", *PAGES])
@pytest.mark.parametrize("controls", CONTROLS)
def test_controls_of_scores_are_as_planned(structure: str, controls: dict[str, Any]) -> None:
    # A sentence that two pages share is judged on both, because its context differs.
    testset = make_texts(documents=[6, 4, 8, 5, 7, 6, 9, 3], systems=5, same=0.0 if structure in PAGES else 0.1)
    campaign = make_campaign(
        design={"structure": structure, "task_size": 50, "annotators": 4, "judgments": 1},
        context={"max_segments": 4},
        controls=controls,
    )
    tasks = design(campaign, testset)
    assert_sound(tasks, campaign)
    planned = {
        kind: round(amount * 50) if isinstance(amount, float) else amount
        for kind, name in (("degraded", "degraded"), ("repeat", "repeats"), ("reference", "references"))
        if (amount := controls.get(name, 0))
    }
    for task in work(tasks):
        counts = kinds(task)
        assert {kind: counts[kind] for kind in planned} == planned
        assert counts["attention"] == controls.get("attention", 0)
        assert counts.keys() <= {"system", "degraded", "repeat", "reference", "attention"}


def test_copies_stand_far_from_their_originals_and_repeats_after_them() -> None:
    testset = make_texts(documents=[10] * 10, systems=4)
    campaign = make_campaign(controls={"degraded": 10, "repeats": 10}, design={"annotators": 2})
    for task in work(design(campaign, testset)):
        places = {output.id: i for i, (_, _, output) in enumerate(task.outputs())}
        for _, _, output in task.outputs():
            if output.of is not None:
                distance = places[output.id] - places[output.of]
                assert abs(distance) >= 0.35 * task.size
                assert output.kind != "repeat" or distance > 0


def test_controls_check_all_systems_alike() -> None:
    testset = make_texts(documents=[10] * 10, systems=5)
    tasks = design(make_campaign(controls={"degraded": 4, "repeats": 3}, design={"task_size": 40}), testset)
    for kind in ("degraded", "repeat"):
        counts = Counter(
            system
            for task in work(tasks)
            for _, _, output in task.outputs()
            if output.kind == kind
            for system in output.systems
        )
        assert max(counts.values()) - min(counts.values()) <= 1


def test_the_mixed_structure_gives_every_task_the_same_share_of_every_system() -> None:
    testset = make_texts(documents=[7] * 9, systems=6)
    tasks = design(make_campaign(design={"task_size": 31, "annotators": 3}), testset)
    sizes = [task.size for task in tasks.tasks]
    assert max(sizes) - min(sizes) <= 1
    for system in tasks.systems:
        counts = [sum(system in output.systems for _, _, output in task.outputs()) for task in tasks.tasks]
        assert max(counts) - min(counts) <= 1
    for task in tasks.tasks:
        segments = Counter((screen.document, item.segment) for screen, item, _ in task.outputs())
        assert max(segments.values()) == 1, "with more tasks than systems no task needs a segment twice"


def test_calibration_comes_first_for_everybody_and_is_set_apart() -> None:
    testset = make_texts(documents=[5, 5, 5], systems=3)
    campaign = make_campaign(design={"annotators": 4, "judgments": 2}, controls={"calibration": 2})
    tasks = design(campaign, testset)
    first, *rest = tasks.tasks
    assert first.kind == "calibration"
    assert first.annotators == tasks.annotators
    assert first.judgments == 4
    assert kinds(first) == {"calibration": 6}
    apart = {(screen.document, item.segment) for screen, item, _ in first.outputs()}
    assert not apart & {(screen.document, item.segment) for task in rest for screen, item, _ in task.outputs()}
    assert len(judged(tasks)) == (15 - 2) * 3


def test_pages_of_a_sample_use_documents_evenly() -> None:
    testset = make_texts(documents=[5] * 12, systems=4)
    parts: dict[str, Any] = {"structure": "pages", "segments": 20, "task_size": 25}
    tasks = design(make_campaign(design=parts), testset)
    counts = judged(tasks)
    assert Counter(system for _, _, system in counts) == dict.fromkeys(testset.systems, 20)
    used = Counter(document for document, _, _ in counts)
    assert set(used.values()) <= {5, 10}
    same = design(make_campaign(design={**parts, "structure": "pages-same-documents"}), testset)
    assert {(d, s) for d, s, system in judged(same)} == {(d, s) for d, s, system in judged(same) if system == "S0"}


def test_context_stays_within_the_document() -> None:
    testset = make_texts(documents=[3, 3], systems=2)
    campaign = make_campaign(
        design={"structure": "pages"}, context={"max_segments": 2, "before": 5, "after": 5, "show": "both"}
    )
    for task in design(campaign, testset).tasks:
        for screen in task.screens:
            shown = [*screen.context_before, *screen.context_after]
            assert sorted([item.segment for item in shown] + [item.segment for item in screen.items]) == ["1", "2", "3"]
            system = screen.items[0].outputs[0].systems[0]
            texts = testset.systems[system]
            for item in shown:
                index = next(
                    i
                    for i, s in enumerate(testset.source)
                    if (s.document, s.segment) == (screen.document, item.segment)
                )
                assert (item.source, item.target) == (testset.source[index].text, texts[index])
            assert all(item.reference is not None for item in screen.items)


@pytest.mark.parametrize(
    ("protocol", "parts", "message"),
    [
        ("da", {"controls": {"degraded": 100}}, "leaves no room"),
        ("da", {"design": {"task_size": 4, "structure": "all-systems"}}, "5 different outputs"),
        ("da", {"design": {"task_size": 2, "structure": "pages"}}, "has 4 segments"),
        ("da", {"design": {"task_size": 19, "structure": "pages-all-systems"}}, "4 segments by 5 systems"),
        ("da", {"design": {"segments": 99}}, "only 12 segments"),
        ("da", {"controls": {"calibration": 12}}, "leaves no segment"),
        ("da", {"design": {"reference_rate": 0.5}}, "is for rankings"),
        ("da", {"design": {"task_size": 5}, "controls": {"degraded": 4}}, "too few items"),
        ("da", {"controls": {"degraded": 4, "degraded_from": "references"}}, "raise it to 4"),
        ("ranking", {"controls": {"references": 3}}, "use design.reference_rate"),
        ("ranking", {"design": {"task_size": 5}, "controls": {"repeats": 4}}, "too few screens"),
        ("pairwise", {"design": {"task_size": 5}, "controls": {"degraded": 4}}, "too few screens"),
        ("da", {"design": {"references_as_systems": True}, "controls": {"references": 1}}, "judges every reference"),
    ],
)
def test_what_cannot_be_made_is_explained(protocol: str, parts: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        design(make_campaign(protocol, **parts), make_texts(documents=[4, 4, 4], systems=5))


def test_without_a_reference_what_needs_one_is_refused() -> None:
    testset = make_texts(documents=[4], systems=3, references=0)
    for protocol, parts in (
        ("da", {"controls": {"references": 1}}),
        ("da", {"context": {"show": "reference"}}),
        ("da", {"design": {"references_as_systems": True}}),
        ("ranking", {"design": {"reference_rate": 0.2}}),
        ("pairwise", {"controls": {"references": 1}}),
    ):
        with pytest.raises(AdjudgeError, match="reference"):
            design(make_campaign(protocol, **parts), testset)


def test_another_seed_gives_other_tasks() -> None:
    testset = make_texts(documents=[5, 5], systems=3)
    assert to_json(design(make_campaign(seed=1), testset)) != to_json(design(make_campaign(seed=2), testset))
