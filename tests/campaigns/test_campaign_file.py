"""The campaign file: all faults at once, each with its key; paths beside the file; nothing converted silently."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.campaigns.campaign_file import load_campaign
from adjudge.campaigns.texts import human_names, read_texts
from adjudge.table.errors import InputError
from adjudge.table.languages import text_direction

GOOD = """
name = "small"
protocol = "da"
[languages]
source = "English"
target = "he"
[files]
source = "s.txt"
[files.references]
ref = "r.txt"
[files.systems]
A = "a.txt"
human-B = { file = "t.tsv", column = "B" }
[design]
annotators = ["Ann", "Bo"]
[controls]
degraded = 0.1
[instructions]
en = "Judge."
he = { file = "he.txt" }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {
        "campaign.toml": GOOD,
        "s.txt": "one\n\ntwo\n",
        "r.txt": "אחת\nשתיים\n",
        "a.txt": "אחד\n\nשניים\n",
        "t.tsv": "document\tB\nx\tאחת!\ny\tשתיים!\n",
        "he.txt": "שפוט.\n",
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def change(folder: Path, old: str, new: str) -> Path:
    path = folder / "campaign.toml"
    path.write_text(GOOD.replace(old, new), encoding="utf-8")
    return path


def test_a_good_file_is_read_with_its_texts(folder: Path) -> None:
    campaign = load_campaign(folder / "campaign.toml")
    assert campaign.languages.codes == ("en", "he")
    assert campaign.design.annotator_names == ("Ann", "Bo")
    assert campaign.instructions["he"].text == "שפוט.\n"
    testset = read_texts(campaign)
    assert [segment.document for segment in testset.source] == ["1", "2"]
    assert testset.systems == {"A": ("אחד", "שניים"), "human-B": ("אחת!", "שתיים!")}
    assert human_names(campaign, testset) == ("human-B", "ref")
    assert text_direction(testset.systems["A"]) == "rtl"
    assert text_direction(segment.text for segment in testset.source) == "ltr"


def test_all_faults_are_named_at_once(folder: Path) -> None:
    path = folder / "campaign.toml"
    path.write_text(
        GOOD.replace('target = "he"', "")
        .replace("degraded = 0.1", "degraded = 1.5\nrepeat = 3")
        .replace('annotators = ["Ann", "Bo"]', 'task_size = "100"\nannotators = 0'),
        encoding="utf-8",
    )
    with pytest.raises(InputError) as fault:
        load_campaign(path)
    message = str(fault.value)
    assert message.startswith(str(path))
    for key in ("languages.target: this key is missing", "controls.degraded", "(got 1.5)", "controls.repeat: this key"):
        assert key in message
    assert 'design.task_size: input should be a valid integer (got "100")' in message
    assert "design.annotators" in message


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'protocol = "da"',
            'protocol = "likert"',
            "protocol: .*'ranking', 'da', 'pairwise', 'sqm', 'esa', 'mqm', 'postedit' or 'acceptability'",
        ),
        ('name = "small"', 'name = "small', "not valid TOML"),
        ('source = "s.txt"', 'source = "nowhere.txt"', "files.source: no such file 'nowhere.txt'"),
        ("[design]", "[design]\njudgments = 3", "'judgments' = 3 different people"),
        ('annotators = ["Ann", "Bo"]', 'annotators = ["Ann", "Ann"]', "lists a name twice"),
        ('annotators = ["Ann", "Bo"]', 'annotators = ["Ann", "judge:Bo"]', "as those of machines do"),
        ("[controls]", '[controls]\nattention_text = "hello"', "write {score}"),
        ("[design]", "[scale]\nlow = 5\nhigh = 2\n[design]", "'low' = 5 must lie below"),
        ('he = { file = "he.txt" }', 'he = { file = "he.txt", text = "x" }', "either 'text' or 'file'"),
        ('en = "Judge."', "en = 5", "instructions.en: give a text"),
        ("[design]", '[crowd]\nreturn_url = "javascript:alert(1)"\n[design]', "crowd.return_url"),
    ],
)
def test_faults_are_explained(folder: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_campaign(change(folder, old, new))


def test_files_that_do_not_line_up_are_named_with_their_counts(folder: Path) -> None:
    (folder / "a.txt").write_text("x\n", encoding="utf-8")
    (folder / "t.tsv").write_text("document\tB\nx\t1\ny\t2\nz\t3\n", encoding="utf-8")
    with pytest.raises(InputError) as fault:
        read_texts(load_campaign(folder / "campaign.toml"))
    message = str(fault.value)
    for part in ("s.txt has 3 lines (2 with text)", "a.txt has 1 line (1 with text)", "t.tsv has 3 lines"):
        assert part in message


def test_one_file_may_hold_all_and_some_systems_may_be_chosen(folder: Path) -> None:
    (folder / "all.tsv").write_text("document\tsource\trefA\tX\tY\nd\tone\tr\tx\ty\n", encoding="utf-8")
    text = GOOD[: GOOD.index("[files]")] + '[files]\ntestset = "all.tsv"\nonly = ["Y"]\n'
    (folder / "campaign.toml").write_text(text, encoding="utf-8")
    testset = read_texts(load_campaign(folder / "campaign.toml"))
    assert testset.references == {"refA": ("r",)}
    assert testset.systems == {"Y": ("y",)}


def test_document_names_may_come_from_a_file(folder: Path) -> None:
    (folder / "docs.txt").write_text("news\tfirst\nnews\tsecond\n", encoding="utf-8")
    testset = read_texts(load_campaign(change(folder, "[files]", '[files]\ndocuments = "docs.txt"')))
    assert [segment.document for segment in testset.source] == ["first", "second"]
    (folder / "docs.txt").write_text("first\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"names 1 document where .* has 2 segments"):
        read_texts(load_campaign(folder / "campaign.toml"))


@pytest.mark.parametrize(
    ("documents", "message"), [(["a", "b", "a"], "are not consecutive"), (["a", "a", "a"], "twice")]
)
def test_torn_or_doubled_documents_are_refused(folder: Path, documents: list[str], message: str) -> None:
    rows = [f"{name}\t1\tx{i}\ty{i}" for i, name in enumerate(documents)]
    if message == "are not consecutive":
        rows[2] = rows[2].replace("\t1\t", "\t2\t")
    (folder / "all.tsv").write_text("document\tsegment\tsource\tX\n" + "\n".join(rows), encoding="utf-8")
    (folder / "campaign.toml").write_text(
        GOOD[: GOOD.index("[files]")] + '[files]\ntestset = "all.tsv"\n', encoding="utf-8"
    )
    with pytest.raises(InputError, match=message):
        read_texts(load_campaign(folder / "campaign.toml"))
