"""Extending tasks: what exists stays, what is new is complete and balanced with it, what cannot be is refused."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.campaigns.campaign_file import Campaign, load_campaign
from adjudge.campaigns.controls import plan_amounts
from adjudge.campaigns.design import design
from adjudge.campaigns.extension import extend_tasks
from adjudge.campaigns.tasks import Task, TaskSet
from adjudge.table.errors import DataError
from adjudge.table.protocols import COLLECTED
from adjudge.table.texts import SourceSegment, TestSet
from tests.conftest import examples
from tests.helpers.campaigns import make_campaign


def texts(documents: int, systems: tuple[str, ...], *, length: int = 4) -> TestSet:
    """Distinct texts of documents of the same length."""
    places = [(str(d), str(d * length + s)) for d in range(1, documents + 1) for s in range(length)]
    source = tuple(SourceSegment(d, s, f"Source sentence {s} of document {d} is here.") for d, s in places)
    return TestSet(
        source,
        {},
        {name: tuple(f"Sentence {s} of {d} as {name} has written it." for d, s in places) for name in systems},
    )


def campaign_of(folder: Path, protocol: str = "da", **design: object) -> Campaign:
    """A campaign whose texts are given to the functions, not read."""
    controls = "degraded = 1\nrepeats = 1"
    file = make_campaign(folder, protocol, task_size=20, annotators="4", more=f"[controls]\n{controls}\n")
    loaded = load_campaign(file)
    return loaded.model_copy(update={"design": loaded.design.model_copy(update=dict(design))})


OLD, NEW = ("a", "b", "c", "d"), ("a", "b", "c", "d", "e")


def shown(tasks: tuple[Task, ...]) -> Counter[tuple[str, str, str]]:
    """How often each system's output of a segment is shown, controls left out."""
    return Counter(
        (system, screen.document, item.segment)
        for task in tasks
        for screen, item, output in task.outputs()
        if output.kind == "system"
        for system in output.systems
    )


def totals(tasks: tuple[Task, ...]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for (system, _, _), times in shown(tasks).items():
        counts[system] += times
    return counts


def check_added(before: TaskSet, after: TaskSet, added: tuple[Task, ...], campaign: Campaign) -> None:
    """What must hold of every extension."""
    assert after.tasks == (*before.tasks, *added)
    ids = [task.id for task in after.tasks]
    assert len(set(ids)) == len(ids)
    assert ids == sorted(ids)
    outputs = [output.id for task in after.tasks for _, _, output in task.outputs()]
    assert len(set(outputs)) == len(outputs)
    amounts = plan_amounts(campaign)
    for task in added:
        kinds = Counter(output.kind for _, _, output in task.outputs())
        assert kinds["degraded"] == amounts.degraded
        assert task.size <= campaign.design.task_size
        assert task.judgments == campaign.design.judgments
        assert len(set(task.annotators)) == task.judgments


@pytest.mark.parametrize("protocol", COLLECTED)
def test_more_of_everything_at_once(protocol: str, tmp_path: Path) -> None:
    campaign = campaign_of(tmp_path, protocol, judgments=2)
    before = design(campaign, texts(6, OLD))
    wider = campaign.model_copy(update={"design": campaign.design.model_copy(update={"annotators": 6})})
    extension = extend_tasks(wider, before, judgments=24, testset=texts(8, NEW))
    check_added(before, extension.tasks, extension.added, wider)
    assert (extension.systems, extension.segments) == (("e",), 8)
    assert extension.annotators == ("annotator-05", "annotator-06")
    assert extension.tasks.systems == NEW
    again = extend_tasks(wider, before, judgments=24, testset=texts(8, NEW))
    assert again.tasks.fingerprint == extension.tasks.fingerprint, "chance is fixed by the seed"
    nothing = extend_tasks(wider, extension.tasks, testset=texts(8, NEW))
    assert nothing.added == (), "what was added is known"


@pytest.mark.parametrize("structure", ["mixed", "all-systems", "pages", "pages-same-documents", "pages-all-systems"])
def test_new_documents_are_judged_by_all_systems_and_nothing_else_is_added(structure: str, tmp_path: Path) -> None:
    campaign = campaign_of(tmp_path, structure=structure)
    before = design(campaign, texts(5, OLD))
    extension = extend_tasks(campaign, before, testset=texts(7, OLD))
    check_added(before, extension.tasks, extension.added, campaign)
    new = {(document, str(int(document) * 4 + s)) for document in ("6", "7") for s in range(4)}
    assert shown(extension.added) == Counter({(name, *place): 1 for name in OLD for place in new})


@pytest.mark.parametrize("structure", ["mixed", "pages", "pages-same-documents"])
def test_a_new_system_is_judged_on_all_former_texts_beside_the_former_systems(structure: str, tmp_path: Path) -> None:
    campaign = campaign_of(tmp_path, structure=structure)
    before = design(campaign, texts(6, OLD))
    extension = extend_tasks(campaign, before, testset=texts(6, NEW))
    check_added(before, extension.tasks, extension.added, campaign)
    counts = totals(extension.added)
    assert counts["e"] == 24, "each former segment once"
    assert sum(counts[name] for name in OLD) == 24, "as many of the former ones"
    assert max(counts[name] for name in OLD) - min(counts[name] for name in OLD) <= 4, "each alike, in whole pages"
    fewer = extend_tasks(campaign, before, beside=0.25, testset=texts(6, NEW))
    assert 6 <= sum(totals(fewer.added)[name] for name in OLD) < 6 + 4
    for task in extension.added:
        assert set(OLD) & set(totals((task,))), "no task holds the new system alone"


@pytest.mark.parametrize("protocol", ["ranking", "pairwise"])
def test_a_new_system_meets_the_former_ones_evenly(protocol: str, tmp_path: Path) -> None:
    campaign = campaign_of(tmp_path, protocol, outputs=3, consecutive=2)
    before = design(campaign, texts(12, OLD))
    extension = extend_tasks(campaign, before, testset=texts(12, NEW))
    met: Counter[tuple[str, str]] = Counter()
    for task in extension.added:
        for screen in task.screens:
            for item in screen.items:
                names = sorted(o.systems[0] for o in item.outputs if o.kind == "system")
                met.update(combinations(names, 2))
    with_new = [met[name, "e"] for name in OLD]
    assert min(with_new) > 0
    assert max(with_new) - min(with_new) <= 2
    former = totals(before.tasks)
    assert abs(totals(extension.added)["e"] - sum(former[name] for name in OLD) / 4) <= 3, "as often as the others"


@settings(max_examples=examples(30))
@given(
    seed=st.integers(0, 10_000),
    judgments=st.integers(1, 60),
    missing=st.dictionaries(st.sampled_from(OLD), st.integers(0, 14), max_size=2),
)
def test_more_judgments_go_to_those_who_have_fewest(
    seed: int, judgments: int, missing: dict[str, int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The slow way: give every judgment in turn to the system that has fewest. The totals must be the same."""
    campaign = campaign_of(tmp_path_factory.mktemp("c")).model_copy(update={"seed": seed})
    campaign = campaign.model_copy(update={"controls": campaign.controls.model_copy(update={"degraded": 0})})
    campaign = campaign.model_copy(update={"controls": campaign.controls.model_copy(update={"repeats": 0})})
    before = thinned(design(campaign, texts(6, OLD)), missing)
    extension = extend_tasks(campaign, before, judgments=judgments, testset=texts(6, OLD))
    expected = totals(before.tasks)
    room = Counter(dict.fromkeys(OLD, 24))
    for _ in range(judgments):
        name = min((name for name in OLD if room[name]), key=lambda name: expected[name])
        expected[name] += 1
        room[name] -= 1
    got = totals(extension.tasks.tasks)
    assert sorted(got.values()) == sorted(expected.values())


def thinned(tasks: TaskSet, missing: dict[str, int]) -> TaskSet:
    """The tasks without some screens of some systems, as if these had been judged less."""
    left = dict(missing)
    kept: list[Task] = []
    for task in tasks.tasks:
        screens = []
        for screen in task.screens:
            name = screen.items[0].outputs[0].systems[0]
            if left.get(name, 0) > 0:
                left[name] -= 1
            else:
                screens.append(screen)
        kept.append(replace(task, screens=tuple(screens)))
    return replace(tasks, tasks=tuple(kept))


def test_nobody_meets_a_text_again_if_it_can_be_avoided(tmp_path: Path) -> None:
    campaign = campaign_of(tmp_path, judgments=1)
    before = design(campaign, texts(6, OLD))
    extension = extend_tasks(campaign, before, judgments=48, testset=texts(6, OLD))
    times: Counter[tuple[str, str, str]] = Counter()
    load: Counter[str] = Counter()
    for task in extension.tasks.tasks:
        for _, item, output in task.outputs():
            if output.kind == "system":
                times.update((name, item.segment, output.text) for name in task.annotators)
        load.update(dict.fromkeys(task.annotators, task.size))
    again = sum(count - 1 for count in times.values())
    every = sum(times.values())
    assert again <= 0.1 * every, "tasks cut across each other, so that a few are met again"
    assert max(load.values()) - min(load.values()) <= 40


def test_people_who_are_excluded_get_nothing_and_new_ones_get_most(tmp_path: Path) -> None:
    campaign = campaign_of(tmp_path, judgments=1)
    before = design(campaign, texts(6, OLD))
    wider = campaign.model_copy(update={"design": campaign.design.model_copy(update={"annotators": 5})})
    extension = extend_tasks(wider, before, judgments=60, excluded={"annotator-01"}, testset=texts(6, OLD))
    given = Counter(name for task in extension.added for name in task.annotators)
    assert given["annotator-01"] == 0
    assert given["annotator-05"] == max(given.values())


def test_positions_go_on_from_where_they_were(tmp_path: Path) -> None:
    """Over both rounds together, no system stands first much more often than another."""
    campaign = campaign_of(tmp_path, "pairwise")
    before = design(campaign, texts(12, OLD))
    tasks = extend_tasks(campaign, before, judgments=90, testset=texts(12, OLD)).tasks.tasks
    first: Counter[str] = Counter()
    second: Counter[str] = Counter()
    for task in tasks:
        for _, item, _ in task.outputs():
            first.update(item.outputs[0].systems)
            second.update(item.outputs[1].systems)
    for name in OLD:
        share = first[name] / (first[name] + second[name])
        assert 0.4 < share < 0.6, name


def refused(campaign: Campaign, before: TaskSet, testset: TestSet, words: str, judgments: int = 0) -> None:
    with pytest.raises(DataError, match=words):
        extend_tasks(campaign, before, judgments=judgments, testset=testset)


def test_what_would_change_the_past_is_refused(tmp_path: Path) -> None:
    campaign = campaign_of(tmp_path)
    whole = texts(6, OLD)
    before = design(campaign, whole)
    other = list(whole.source)
    other[5] = replace(other[5], text="another text")
    refused(campaign, before, replace(whole, source=tuple(other)), "is not the text that is in task")
    swapped = {**whole.systems, "a": (*whole.systems["a"][:5], "another text", *whole.systems["a"][6:])}
    refused(campaign, before, replace(whole, systems=swapped), "segment '9' of document '2' is not the text")
    refused(campaign, before, texts(5, OLD), "is not the text that is in task")
    refused(campaign, before, texts(6, ("a", "b", "c")), "files.systems no longer names the system d")
    fewer = campaign.model_copy(update={"design": campaign.design.model_copy(update={"annotators": 3})})
    refused(fewer, before, whole, "no longer names the annotator annotator-04")
    refused(campaign, before, whole, "more than one round of the same texts", judgments=97)
    chosen = campaign.model_copy(update={"design": campaign.design.model_copy(update={"select": "outputs"})})
    refused(chosen, before, whole, "with design.select cannot be extended")


def test_a_sample_grows_to_the_size_that_the_file_asks_for(tmp_path: Path) -> None:
    campaign = campaign_of(tmp_path, segments=8)
    before = design(campaign, texts(6, OLD))
    assert extend_tasks(campaign, before, testset=texts(6, OLD)).added == ()
    larger = campaign.model_copy(update={"design": campaign.design.model_copy(update={"segments": 15})})
    extension = extend_tasks(larger, before, testset=texts(6, OLD))
    assert extension.segments == 7
    segments = {segment for _, _, segment in shown(extension.tasks.tasks)}
    assert len(segments) == 15
    too_large = campaign.model_copy(update={"design": campaign.design.model_copy(update={"segments": 99})})
    refused(too_large, before, texts(6, OLD), "only 24 segments can be judged")


def test_blocks_bring_together_who_met_least(tmp_path: Path) -> None:
    from adjudge.campaigns.rankings import make_blocks
    from adjudge.campaigns.tasks import make_material
    from adjudge.table.rng import generator

    material = make_material(campaign_of(tmp_path, "pairwise"), texts(6, OLD))
    before = {pair: 0.0 if pair == ("b", "d") else 50.0 for pair in combinations(OLD, 2)}
    tasks = make_blocks(material, [[i] for i in range(24)], capacity=20, rng=generator(1), before=before)
    pairs = Counter(tuple(sorted(screen.systems)) for runs in tasks for run in runs for screen in run)
    assert pairs["b", "d"] >= 18, "until systems would be shown too unevenly"
    assert set(pairs) <= {("b", "d"), ("a", "c")}
