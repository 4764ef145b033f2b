"""Marks that translations come with: read from a file with every fault named, and carried over to copies."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adjudge import read
from adjudge.campaigns.appraise import to_batches
from adjudge.campaigns.campaign_file import load_campaign
from adjudge.campaigns.design import design
from adjudge.campaigns.design_report import measure_balance
from adjudge.campaigns.tasks import parse_tasks, to_json
from adjudge.table.errors import InputError

HEADER = "system\tsegment\tstart\tend\tseverity\tside\ttext\n"
ROWS = ("alpha\t1\t0\t3\tminor\t\tone", "alpha\t1\t14\t18\tmajor\ttarget\t", "beta\t2\t\t\tmajor\tmissing\t")


def campaign_file(folder: Path, rows: tuple[str, ...] = ROWS, header: str = HEADER, more: str = "") -> Path:
    (folder / "source.txt").write_text("eins zwei drei vier fünf\nsechs sieben acht\n")
    (folder / "alpha.txt").write_text("one two three four five\nsix seven eight\n")
    (folder / "beta.txt").write_text("one two three for five\nsix eight seven\n")
    (folder / "marks.tsv").write_text(header + "\n".join(rows) + "\n")
    file = folder / "campaign.toml"
    file.write_text(
        'name = "marks"\nprotocol = "esa"\n[languages]\nsource = "de"\ntarget = "en"\n[files]\nsource = "source.txt"\n'
        'prefilled = "marks.tsv"\n[files.systems]\nalpha = "alpha.txt"\nbeta = "beta.txt"\n' + more
    )
    return file


def test_marks_come_with_their_translations_through_the_file_and_to_appraise(tmp_path: Path) -> None:
    tasks = design(load_campaign(campaign_file(tmp_path)))
    assert tasks.tasks[0].screens[0].items[0].outputs[0].prefilled or tasks.tasks[0].screens[1].items
    marks = {
        (output.systems, item.segment): output.prefilled for task in tasks.tasks for _, item, output in task.outputs()
    }
    assert [(item.start, item.text, item.severity) for item in marks[("alpha",), "1"]] == [
        (0, "one", "minor"),
        (14, "four", "major"),
    ]
    assert [item.side for item in marks[("beta",), "2"]] == ["missing"]
    assert parse_tasks(to_json(tasks), "here") == tasks
    items = [item for batch in to_batches(tasks) for item in batch["items"] if not item.get("_filled")]
    spans = {(item["targetID"], item["sourceID"].split("#")[-1]): item["mqm"] for item in items}
    assert spans["alpha", "1"][0] == {"start_i": 0, "end_i": 3, "severity": "minor"}
    assert spans["beta", "2"] == [{"start_i": "missing", "end_i": "missing", "severity": "major"}]
    assert {item["documentID"] for item in items} == {"1#alpha", "1#beta"}


def test_every_page_has_a_name_of_its_own_in_appraise_that_the_reader_takes_apart(tmp_path: Path) -> None:
    file = campaign_file(tmp_path, more="[controls]\ndegraded = 2\nrepeats = 2\n")
    (tmp_path / "gamma.txt").write_text((tmp_path / "alpha.txt").read_text())
    file.write_text(file.read_text().replace('beta = "', 'gamma = "gamma.txt"\nbeta = "'))
    pages: dict[str, set[tuple[str, str]]] = {}
    for batch in to_batches(design(load_campaign(file))):
        for item in batch["items"]:
            pages.setdefault(item["documentID"], set()).add((item["targetID"], item["itemType"]))
    assert all(len(kinds) == 1 for kinds in pages.values()), "never two systems, or a copy and its original, on a page"
    assert {"1#alpha+gamma", "1#beta"} <= set(pages)
    rows = [
        f"anna,{system},{i},{kind},deu,eng,50,{page},False,[],1700000000.0,1700000009.0"
        for i, (page, kinds) in enumerate(pages.items(), start=1)
        for joined, kind in kinds
        for system in joined.split("+")
    ]
    (tmp_path / "results.csv").write_text("\n".join(rows) + "\n")
    assert set(read([tmp_path / "results.csv"], format="appraise").table["document"]) == {"1"}


def test_tasks_without_marks_do_not_name_them(tmp_path: Path) -> None:
    tasks = design(load_campaign(campaign_file(tmp_path, rows=ROWS[:1])))
    lines = json.loads(to_json(tasks))["tasks"][0]["screens"]
    named = ["prefilled" in output for screen in lines for item in screen["items"] for output in item["outputs"]]
    assert sum(named) == 1


def test_degraded_copies_keep_the_marks_that_their_new_phrase_leaves(tmp_path: Path) -> None:
    file = campaign_file(tmp_path, more="[controls]\ndegraded = 4\n")
    tasks = design(load_campaign(file))
    copies = [output for task in tasks.tasks for _, _, output in task.outputs() if output.kind == "degraded"]
    assert copies
    for output in copies:
        for mark in output.prefilled:
            assert mark.side == "missing" or output.text[mark.start : mark.end] == mark.text
    repeated = [span for output in copies for span in output.prefilled]
    assert repeated, "some marks are still there"


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("gamma\t1\t0\t3\tminor\t\tone", "line 2: there is no system 'gamma'"),
        ("alpha\t9\t0\t3\tminor\t\tone", "line 2: segment '9' is not in the source"),
        ("alpha\t1\t0\tx\tminor\t\tone", "line 2: end is 'x'"),
        ("alpha\t1\t0\t99\tminor\t\t", "line 2: a mark from 0 to 99 does not lie within"),
        ("alpha\t1\t0\t3\tminor\t\ttwo", "line 2: a mark quotes 'two' where the text has 'one'"),
        ("alpha\t1\t0\t3\tawful\t\tone", "line 2: severity 'awful' is none of minor, major"),
        ("alpha\t1\t0\t4\tminor\tsource\teins", "line 2: side 'source' is none of"),
    ],
)
def test_faults_are_named_with_their_line(row: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=why):
        design(load_campaign(campaign_file(tmp_path, rows=(row,))))


def test_errors_with_categories_are_designed_and_weighed_without_a_scale(tmp_path: Path) -> None:
    header, row = HEADER.replace("\tside", "\tcategory\tside"), "alpha\t1\t0\t3\tcritical\tStyle/Awkward\t\tone"
    across = "alpha\t1\t2\t7\tminor\tFluency/Grammar\t\t"
    file = campaign_file(tmp_path, (row, across), header, more="[controls]\nattention = 1\n")
    file.write_text(file.read_text().replace('"esa"', '"mqm"'))
    campaign = load_campaign(file)
    tasks = design(campaign)
    outputs = [output for task in tasks.tasks for _, _, output in task.outputs()]
    assert [len(output.prefilled) for output in outputs if output.systems == ("alpha",)].count(2) == 1
    # An unrelated translation must cost at least a major error.
    assert [output.expected[0] for output in outputs if output.expected] == [5.0]
    assert {bia.unit for bia in measure_balance(tasks, campaign).bias} == {"spread of systems"}


def test_marks_that_overlap_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 3: two marks overlap"):
        design(load_campaign(campaign_file(tmp_path, rows=(ROWS[0], "alpha\t1\t2\t7\tminor\t\t"))))


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('protocol = "esa"', 'protocol = "da"', "'files.prefilled' is for marking errors"),
        ("[files]\n", '[page]\nhtml = "sanitised"\n[files]\n', "cannot be used if texts are marked"),
        ("[files]\n", '[spans]\nseverities = ["minor", "bad"]\n[files]\n', "spans.severities"),
        ("[files]\n", '[spans]\nseverities = ["minor", "minor"]\n[files]\n', "names one twice"),
        ("[files]\n", '[spans.categories]\nA = ["x"]\n[files]\n', "'esa' has no categories"),
        ("[files]\n", "[spans.weights]\nmajor = 3\n[files]\n", "'esa' has no categories and no weights"),
        ('"esa"', '"mqm"\n[spans.categories]\nA = ["x", "x"]', "'A' names one twice"),
        ('"esa"', '"mqm"\n[spans.categories]\n"A/B" = []', "spans.categories"),
        ('"esa"', '"mqm"\n[spans.weights]\nmajor = -1', "spans.weights.major"),
        ('"esa"', '"mqm"\n[scale]\nlow = 0', "'scale' has no meaning for protocol 'mqm'"),
    ],
)
def test_campaign_files_that_do_not_fit_are_explained(old: str, new: str, why: str, tmp_path: Path) -> None:
    file = campaign_file(tmp_path)
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(InputError, match=why):
        load_campaign(file)
