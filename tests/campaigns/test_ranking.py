"""Rankings and pairs: meetings are balanced, positions too, consecutive segments stand together."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.campaigns.design import design
from adjudge.campaigns.tasks import Item, TaskSet, to_json
from adjudge.table.comparisons import comparisons
from adjudge.table.judgments import Judgments
from tests.conftest import examples
from tests.helpers.texts import assert_sound, make_campaign, make_texts, work


def items(tasks: TaskSet) -> list[Item]:
    return [item for task in work(tasks) for screen in task.screens for item in screen.items]


def meetings(tasks: TaskSet) -> Counter[tuple[str, str]]:
    counts: Counter[tuple[str, str]] = Counter()
    for item in items(tasks):
        systems = sorted(system for output in item.outputs if output.kind == "system" for system in output.systems)
        counts.update(combinations(systems, 2))
    return counts


@given(
    documents=st.lists(st.integers(1, 8), min_size=1, max_size=6),
    systems=st.integers(2, 9),
    outputs=st.integers(2, 6),
    size=st.integers(1, 12),
    protocol=st.sampled_from(["ranking", "pairwise"]),
    same=st.sampled_from([0.0, 0.3]),
    screens=st.integers(1, 3),
)
@settings(max_examples=examples(25))
def test_every_block_is_full_and_judged_by_k_people(
    documents: list[int], systems: int, outputs: int, size: int, protocol: str, same: float, screens: int
) -> None:
    # The last system never copies, so that every segment has two different outputs.
    testset = make_texts(documents=documents, systems=systems, same=same)
    own = {"S-last": tuple(f"own {i}" for i in range(len(testset)))}
    testset = type(testset)(testset.source, testset.references, {**testset.systems, **own})
    parts = {"outputs": outputs, "task_size": size, "annotators": 3, "judgments": 2, "screens_per_segment": screens}
    campaign = make_campaign(protocol, design=parts)
    tasks = design(campaign, testset)
    assert_sound(tasks, campaign)
    places = {(segment.document, segment.segment): i for i, segment in enumerate(testset.source)}
    blocks = [(screen.document, item) for task in work(tasks) for screen in task.screens for item in screen.items]
    assert Counter((document, item.segment) for document, item in blocks) == dict.fromkeys(places, screens)
    for document, item in blocks:
        texts = {output.text for output in item.outputs}
        different = {made[places[document, item.segment]] for made in testset.systems.values()}
        limit = 2 if protocol == "pairwise" else outputs
        assert len(texts) == len(item.outputs) == min(limit, len(different))
        for output in item.outputs:
            makers = {
                name for name, made in testset.systems.items() if made[places[document, item.segment]] == output.text
            }
            assert set(output.systems) == makers
    assert to_json(tasks) == to_json(design(campaign, testset))


@pytest.mark.parametrize(("protocol", "systems", "segments"), [("ranking", 12, 66), ("pairwise", 7, 63)])
def test_all_pairs_of_systems_meet_equally_often(protocol: str, systems: int, segments: int) -> None:
    testset = make_texts(documents=[segments], systems=systems)
    tasks = design(make_campaign(protocol, design={"consecutive": 1}), testset)
    counts = meetings(tasks)
    every = [counts[pair] for pair in combinations(sorted(testset.systems), 2)]
    # 66 blocks of five hold 660 pairs, ten for each of the 66 pairs of systems; 63 pairs are three for each of 21.
    assert sum(every) == {"ranking": 660, "pairwise": 63}[protocol]
    spread = max(every) - min(every)
    assert spread <= {"ranking": 2, "pairwise": 0}[protocol]
    shown = Counter(system for item in items(tasks) for output in item.outputs for system in output.systems)
    assert max(shown.values()) - min(shown.values()) <= 1


def test_no_side_is_preferred() -> None:
    testset = make_texts(documents=[60], systems=5)
    tasks = design(make_campaign("pairwise", design={"screens_per_segment": 2}), testset)
    left = Counter(tuple(output.systems[0] for output in item.outputs) for item in items(tasks))
    for combination, other in combinations(testset.systems, 2):
        assert abs(left[combination, other] - left[other, combination]) <= 1


def test_consecutive_segments_stand_together() -> None:
    testset = make_texts(documents=[7, 6], systems=6)
    tasks = design(make_campaign("ranking", design={"consecutive": 3, "task_size": 8}), testset)
    # Documents of 7 and 6 in runs of three: 3, 3, 1 and 3, 3.
    runs = [("d0", 1, 3), ("d0", 4, 6), ("d0", 7, 7), ("d1", 1, 3), ("d1", 4, 6)]
    shown = [(screen.document, int(screen.items[0].segment)) for task in work(tasks) for screen in task.screens]
    tasks_of = {
        (screen.document, int(screen.items[0].segment)): task.id for task in work(tasks) for screen in task.screens
    }
    for document, first, last in runs:
        start = shown.index((document, first))
        run = [(document, segment) for segment in range(first, last + 1)]
        assert shown[start : start + len(run)] == run
        assert len({tasks_of[item] for item in run}) == 1


def test_the_reference_has_its_own_rate() -> None:
    testset = make_texts(documents=[100], systems=8)
    tasks = design(make_campaign("ranking", design={"reference_rate": 0.25, "task_size": 20}), testset)
    per_task = [sum(o.kind == "reference" for _, _, o in task.outputs()) for task in work(tasks)]
    assert 24 <= sum(per_task) <= 26
    assert max(per_task) - min(per_task) <= 4
    assert all(len(item.outputs) == 5 for item in items(tasks))


CONTROLS: list[dict[str, Any]] = [
    {"degraded": 2, "repeats": 3, "attention": 1},
    {"degraded": 0.2},
    {"repeats": 2},
]


@pytest.mark.parametrize("controls", CONTROLS)
@pytest.mark.parametrize("protocol", ["ranking", "pairwise"])
def test_controls_of_comparisons_are_as_planned(protocol: str, controls: dict[str, Any]) -> None:
    testset = make_texts(documents=[8, 8, 8, 8], systems=6)
    extra = {"references": 1} if protocol == "pairwise" else {}
    campaign = make_campaign(protocol, design={"task_size": 15}, controls={**controls, **extra})
    tasks = design(campaign, testset)
    assert_sound(tasks, campaign)
    for task in work(tasks):
        screens = [{output.kind for output in item.outputs} for screen in task.screens for item in screen.items]
        degraded = controls.get("degraded", 0)
        assert sum("degraded" in screen for screen in screens) == (degraded if isinstance(degraded, int) else 3)
        assert sum(screen == {"repeat"} for screen in screens) == controls.get("repeats", 0)
        assert sum("attention" in screen for screen in screens) == controls.get("attention", 0)
        assert sum("reference" in screen for screen in screens) == extra.get("references", 0)
        for screen in task.screens:
            assert all(2 <= len(item.outputs) <= (2 if protocol == "pairwise" else 5) for item in screen.items)


def test_repeats_show_the_same_outputs_again() -> None:
    testset = make_texts(documents=[10], systems=7)
    [task] = work(design(make_campaign("ranking", controls={"repeats": 3}), testset))
    screens = {output.id: screen for screen, _, output in task.outputs()}
    again = [screen for screen in task.screens if screen.items[0].outputs[0].kind == "repeat"]
    assert len(again) == 3
    for screen in again:
        first = screens[screen.items[0].outputs[0].of or ""]
        assert {o.text for o in first.items[0].outputs} == {o.text for o in screen.items[0].outputs}


def test_segments_on_which_all_agree_are_left_out() -> None:
    testset = make_texts(documents=[6], systems=3, same=0.0)
    same = {name: ("same", *texts[1:]) for name, texts in testset.systems.items()}
    tasks = design(make_campaign("pairwise"), type(testset)(testset.source, testset.references, same))
    assert {item.segment for item in items(tasks)} == {"2", "3", "4", "5", "6"}


def test_controls_in_a_block_are_not_compared() -> None:
    rows = [("A", "system", 1), ("B", "system", 2), ("A", "degraded", 3), ("attention", "attention", 3)]
    judgments = Judgments.from_columns(
        {
            "protocol": ["ranking"] * 4,
            "annotator": ["x"] * 4,
            "screen": ["1"] * 4,
            "segment": ["1"] * 4,
            "system": [system for system, _, _ in rows],
            "kind": [kind for _, kind, _ in rows],
            "rank": [rank for _, _, rank in rows],
        }
    )
    compared = comparisons(judgments)
    assert compared.systems == ("A", "B")
    assert compared.outcome.tolist() == [1]
