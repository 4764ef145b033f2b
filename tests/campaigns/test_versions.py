"""Two versions of a test set in one campaign: mixed in every task, and nobody sees a document in both."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import pytest

from adjudge.campaigns.appraise import to_batches
from adjudge.campaigns.campaign_file import load_campaign
from adjudge.campaigns.design import design
from adjudge.campaigns.design_report import measure_balance
from adjudge.campaigns.tasks import TaskSet, corrected_segments, parse_tasks, to_json
from adjudge.campaigns.texts import join_versions, read_texts
from adjudge.table.errors import DataError, InputError
from tests.helpers.texts import SYSTEMS, campaign_file, write_texts


def versions_by_person(tasks: TaskSet) -> dict[tuple[str, str], set[str | None]]:
    versions: dict[tuple[str, str], set[str | None]] = defaultdict(set)
    for task in tasks.tasks:
        for screen in task.screens:
            for person in task.annotators:
                versions[person, screen.document].add(screen.version)
    return versions


@pytest.mark.parametrize(
    ("protocol", "structure"),
    [
        ("da", 'structure = "mixed"'),
        ("da", 'structure = "all-systems"'),
        ("da", 'structure = "pages-same-documents"'),
        ("da", 'structure = "pages-all-systems"'),
        ("esa", ""),
        ("ranking", "outputs = 4\nscreens_per_segment = 2"),
        ("pairwise", "screens_per_segment = 2"),
    ],
)
def test_both_versions_are_judged_by_all_but_no_document_in_both_by_anybody(
    tmp_path: Path, protocol: str, structure: str
) -> None:
    write_texts(tmp_path)
    controls = "[controls]\nrepeats = 2\ndegraded = 2" if protocol == "da" else ""
    # A task must have room for pages of both versions, by all systems where they stay together.
    size = 72 if "pages" in structure else 32
    campaign = load_campaign(
        campaign_file(tmp_path, protocol=protocol, design=structure, more=controls, task_size=size)
    )
    tasks = design(campaign)
    assert {len(own) for own in versions_by_person(tasks).values()} == {1}
    for task in tasks.tasks:
        sizes = Counter(screen.version for screen in task.screens for _ in screen.items)
        assert set(sizes) == {"before", "after"}
        assert 0.6 < sizes["before"] / sizes["after"] < 1.7
    judged = Counter(
        (screen.version, screen.document, item.segment, system)
        for task in tasks.tasks
        for screen, item, output in task.outputs()
        if output.kind == "system"
        for system in output.systems
    )
    if protocol in ("da", "esa"):
        assert set(judged.values()) == {1}
        assert len(judged) == 2 * 32 * len(SYSTEMS)
    by_version = Counter(key[0] for key in judged.elements())
    assert by_version["before"] == by_version["after"]
    loads = Counter(person for task in tasks.tasks for person in task.annotators)
    assert max(loads.values()) - min(loads.values()) <= 1


def test_tasks_keep_the_version_and_tell_what_was_corrected(tmp_path: Path) -> None:
    write_texts(tmp_path)
    campaign = load_campaign(campaign_file(tmp_path))
    tasks = design(campaign)
    assert design(campaign) == tasks
    assert parse_tasks(to_json(tasks), "tasks.json") == tasks
    lines = (segment for segment in read_texts(campaign).source if segment.text.endswith("corrected"))
    assert corrected_segments(tasks) == {(segment.document, segment.segment) for segment in lines}
    ids = {output.id for task in tasks.tasks for _, _, output in task.outputs()}
    assert not any("before" in name or "after" in name for name in ids)
    notes = measure_balance(tasks, campaign, read_texts(campaign)).notes
    assert any(note.startswith("two versions: the annotators are two teams") for note in notes)
    with pytest.raises(DataError, match="do not tell the versions of a test set apart"):
        to_batches(tasks)


def test_without_a_second_version_nothing_is_said_of_versions(tmp_path: Path) -> None:
    write_texts(tmp_path)
    text = campaign_file(tmp_path).read_text()
    start, end = text.index("[files.after]"), text.index("[design]")
    (tmp_path / "campaign.toml").write_text(text[:start] + text[end:])
    tasks = design(load_campaign(tmp_path / "campaign.toml"))
    assert '"version"' not in to_json(tasks)


def test_what_does_not_go_together_is_refused(tmp_path: Path) -> None:
    before, after = write_texts(tmp_path)
    with pytest.raises(InputError, match="cannot be used with two versions"):
        load_campaign(campaign_file(tmp_path, more='[assignment]\npolicy = "pool"'))
    with pytest.raises(InputError, match=r"controls\.calibration cannot be used"):
        load_campaign(campaign_file(tmp_path, more="[controls]\ncalibration = 4"))
    with pytest.raises(InputError, match="both must have the same segments"):
        join_versions(before, replace(after, source=after.source[1:]))
    with pytest.raises(InputError, match=r"do not have the same systems \(S2\)"):
        join_versions(before, replace(after, systems={name: after.systems[name] for name in SYSTEMS[:-1]}))
    with pytest.raises(DataError, match=r"two teams of at least design\.judgments = 2 people"):
        design(load_campaign(_with_people(campaign_file(tmp_path), 3)))


def _with_people(campaign: Path, number: int) -> Path:
    campaign.write_text(campaign.read_text().replace("annotators = 6", f"annotators = {number}"))
    return campaign


def test_one_document_cannot_be_divided(tmp_path: Path) -> None:
    write_texts(tmp_path, documents=1)
    with pytest.raises(DataError, match="at least two documents"):
        design(load_campaign(campaign_file(tmp_path)))
