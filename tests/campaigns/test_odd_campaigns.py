"""Campaigns at the edge: one system, one segment, one endless document, silent or identical systems, odd names."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.campaigns.campaign_file import PAGES, Campaign, load_campaign
from adjudge.campaigns.design import design
from adjudge.campaigns.design_report import measure_balance
from adjudge.table.errors import DataError, InputError
from adjudge.table.texts import TestSet
from tests.helpers.texts import make_campaign, make_texts

STRUCTURES = ("mixed", "all-systems", *PAGES)


def judged(campaign: Campaign, testset: TestSet) -> dict[str, int]:
    """How many outputs of each system the tasks hold."""
    counts: dict[str, int] = {}
    for task in design(campaign, testset).tasks:
        for _, _, output in task.outputs():
            for system in output.systems:
                counts[system] = counts.get(system, 0) + 1
    return counts


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize(("documents", "systems"), [([20], 1), ([1], 2), ([1], 1), ([3, 1, 2], 7)])
def test_every_output_is_judged_once(structure: str, documents: list[int], systems: int) -> None:
    testset = make_texts(documents=documents, systems=systems)
    counts = judged(make_campaign(design={"structure": structure}), testset)
    assert counts == dict.fromkeys(testset.systems, sum(documents))


@pytest.mark.parametrize("structure", STRUCTURES)
def test_systems_that_agree_on_everything_are_judged_once_and_credited_to_all(structure: str) -> None:
    testset = make_texts(documents=[5, 4], systems=3)
    first = next(iter(testset.systems.values()))
    same = TestSet(testset.source, {}, dict.fromkeys(testset.systems, first))
    tasks = design(make_campaign(design={"structure": structure}), same)
    assert [output.systems for task in tasks.tasks for _, _, output in task.outputs()] == [tuple(same.systems)] * 9


@pytest.mark.parametrize("structure", PAGES)
def test_an_endless_document_asks_for_pages(structure: str) -> None:
    testset = make_texts(documents=[400], systems=2)
    with pytest.raises(DataError, match=r"has 400 segments.*lower context\.max_segments"):
        design(make_campaign(design={"structure": structure}), testset)
    counts = judged(make_campaign(design={"structure": structure}, context={"max_segments": 10}), testset)
    assert counts == dict.fromkeys(testset.systems, 400)


def test_empty_translations_are_pointed_out() -> None:
    testset = make_texts(documents=[6], systems=2)
    silent, loud = testset.systems.items()
    gaps = TestSet(testset.source, {}, {silent[0]: ("", *silent[1][1:5], ""), loud[0]: loud[1]})
    campaign = make_campaign()
    notes = measure_balance(design(campaign, gaps), campaign, gaps).notes
    assert f"some translations are empty ({silent[0]} 2), and are shown as such" in " ".join(notes)


@pytest.mark.parametrize("name", ["two\\nlines", "a\\ttab", " spaces ", "", "x" * 201])
def test_a_name_of_a_person_is_one_line(tmp_path: Path, name: str) -> None:
    file = tmp_path / "campaign.toml"
    file.write_text(
        'name = "x"\nprotocol = "da"\nlanguages = { source = "en", target = "de" }\n'
        f'files = {{ source = "s", systems = {{ a = "a" }} }}\ndesign = {{ annotators = ["ann", "{name}"] }}\n'
    )
    with pytest.raises(InputError, match=r"design\.annotators\.1: "):
        load_campaign(file)
