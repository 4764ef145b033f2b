"""`init`: a new campaign folder works at once, says what it is, and never overwrites anything."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import adjudge
from adjudge.campaigns.campaign_file import load_campaign
from adjudge.campaigns.design import design
from adjudge.campaigns.design_report import measure_balance
from adjudge.campaigns.start import init
from adjudge.table.errors import InputError, UsageError
from adjudge.table.files import write_text
from adjudge.table.protocols import COLLECTED
from tests.conftest import assert_explained, examples
from tests.helpers.serving import Server
from tests.helpers.tables import command


def texts(folder: Path, count: int = 6, systems: tuple[str, ...] = ("ours", "theirs")) -> dict[str, Path]:
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for name in ("source", *systems):
        files[name] = folder / f"{name}.txt"
        lines = [f"Sentence {number} of {name} is here." for number in range(count)]
        files[name].write_text("\n".join(lines) + "\n", encoding="utf-8")
    return files


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("protocol", COLLECTED)
def test_every_protocol_gets_a_campaign_that_can_be_designed(protocol: str, tmp_path: Path) -> None:
    made = init(tmp_path / "new", protocol=protocol, annotators=3)  # type: ignore[arg-type]
    campaign = load_campaign(tmp_path / "new" / "campaign.toml")
    tasks = design(campaign)
    assert tasks.fingerprint == made.data, "what is on the disk gives the tasks that were tried"
    report = measure_balance(tasks, campaign)
    assert {control.kind for control in report.controls} == {"degraded", "repeat"}
    assert (made.tasks, made.annotators, campaign.name) == (len(tasks.tasks), 3, "new")
    assert campaign.protocol == protocol
    assert {file.file for file in made.files} == set(contents(tmp_path / "new"))


def test_the_commands_that_it_prints_are_the_next_three(tmp_path: Path) -> None:
    run = command("init", tmp_path / "a b")
    assert run.code == 0, run.err
    following = [line.strip() for line in run.out.partition("Next:")[2].splitlines() if line.strip()]
    assert [line.split()[:2] for line in following] == [["adjudge", verb] for verb in ("design", "serve", "export")]
    assert f"'{tmp_path}/a b/campaign.toml'" in following[0], "names with blanks are quoted for the shell"


def test_json_lists_the_files(tmp_path: Path) -> None:
    made = command("init", tmp_path / "x", "--pair", "en-cs", "--json").json
    assert [file["file"] for file in made["files"]] == [
        "campaign.toml", "source.txt", "alpha.txt", "beta.txt", "gamma.txt",
    ]  # fmt: skip
    assert (made["pair"], made["example"], len(made["next"])) == ("en-cs", True, 3)
    assert "English and German" in made["notes"][0]


def test_own_texts_are_copied_and_named_by_their_systems(tmp_path: Path) -> None:
    files = texts(tmp_path / "texts", systems=("a", "b", "c"))
    given = {"Système 1/α": files["a"], "système 1-α": files["b"], "campaign": files["c"]}
    made = adjudge.init(tmp_path / "new", pair="French-English", source=files["source"], systems=given)
    campaign = load_campaign(tmp_path / "new" / "campaign.toml")
    assert campaign.languages.codes == ("fr", "en")
    for name, file in given.items():
        copy = campaign.files.systems[name].file
        assert copy.read_bytes() == file.read_bytes()
        assert copy.parent == tmp_path / "new"
    assert len({file.file for file in made.files}) == 5
    assert not made.example


def test_texts_in_the_folder_stay_where_they_are(tmp_path: Path) -> None:
    files = texts(tmp_path / "new" / "texts")
    before = contents(tmp_path / "new")
    made = init(
        tmp_path / "new", pair="en-de", source=files["source"], systems={"ours": files["ours"]}, annotators=("Ann",)
    )
    after = contents(tmp_path / "new")
    assert {name: after[name] for name in before} == before
    assert set(after) - set(before) == {"campaign.toml"}
    assert [file.written for file in made.files] == [True, False, False]
    parsed = tomllib.loads(after["campaign.toml"].decode())
    assert parsed["files"]["systems"] == {"ours": "texts/ours.txt"}
    assert (parsed["design"]["annotators"], parsed["design"]["judgments"]) == (["Ann"], 1)


def test_a_folder_of_systems_is_taken_whole(tmp_path: Path) -> None:
    files = texts(tmp_path / "texts", systems=("news.ours.1.de", "news.theirs.1.de", "refA"))
    (tmp_path / "texts" / "README.md").write_text("what these are\n", encoding="utf-8")
    run = command("init", tmp_path / "new", "--pair", "en-de", "--systems", tmp_path / "texts",
                  "--source", files["source"], "--reference", f"refA={files['refA']}", "--json")  # fmt: skip
    assert run.code == 0, run.err
    campaign = load_campaign(tmp_path / "new" / "campaign.toml")
    assert set(campaign.files.systems) == {"ours", "theirs"}
    assert set(campaign.files.references) == {"refA"}
    assert design(campaign).fingerprint == run.json["data"]


def test_each_language_pair_gets_a_campaign_or_none_does(tmp_path: Path) -> None:
    for pair in ("en-de", "en-cs"):
        files = texts(tmp_path / "outputs" / pair)
        for folder, name in (("sources", f"{pair}.txt"), ("references", f"{pair}.refA.txt")):
            (tmp_path / folder).mkdir(exist_ok=True)
            (tmp_path / folder / name).write_bytes(files["source"].read_bytes())
        files["source"].unlink()
    given: dict[str, Any] = {
        "source": tmp_path / "sources",
        "systems": tmp_path / "outputs",
        "references": tmp_path / "references",
    }
    made = adjudge.init(tmp_path / "new", **given)
    for pair in ("en-de", "en-cs"):
        campaign = load_campaign(tmp_path / "new" / pair / "campaign.toml")
        # The name of the whole, by which the organisers' overview puts the pairs together.
        assert ("-".join(campaign.languages.codes), campaign.name) == (pair, "new")
        assert (set(campaign.files.systems), set(campaign.files.references)) == ({"ours", "theirs"}, {"refA"})
    assert {file.file for file in made.files} == set(contents(tmp_path / "new"))
    assert f"adjudge serve {tmp_path / 'new'}" in made.next
    assert adjudge.init(tmp_path / "one", pair="en-cs", **given).pair == "en-cs"
    (tmp_path / "outputs" / "en-de" / "ours.txt").write_text("one line\n", encoding="utf-8")
    with pytest.raises(InputError, match="has 1 line"):
        adjudge.init(tmp_path / "third", **given)
    assert not contents(tmp_path / "third")


def test_few_texts_get_no_controls_and_a_note(tmp_path: Path) -> None:
    files = texts(tmp_path / "texts", count=1, systems=("ours",))
    made = init(tmp_path / "new", pair="en-de", source=files["source"], systems={"ours": files["ours"]})
    assert "too few for controls" in made.notes[0]
    assert made.tasks == 1


@pytest.mark.parametrize("protocol", ["da", "postedit"])
def test_a_new_campaign_can_be_served_at_once(protocol: str, tmp_path: Path) -> None:
    made = command("init", tmp_path / "new", "--protocol", protocol, "--annotators", "Ann,Bo", "--json").json
    with Server(Path(made["campaign_file"])) as server:
        for name in ("Ann", "Bo"):
            assert server.client(name).work()["task"]["screens"]


@pytest.mark.parametrize("there", ["campaign.toml", "beta.txt"])
def test_nothing_is_overwritten(there: str, tmp_path: Path) -> None:
    (tmp_path / there).write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match=f"{there}: is there already"):
        init(tmp_path)
    assert contents(tmp_path) == {there: b"mine"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--protocol", "dda"], "did you mean 'da'"),
        (["--pair", "english"], "'english' is no pair of languages"),
        (["--annotators", "0"], "--annotators is 0"),
        (["--annotators=-3"], "--annotators is -3"),
        (["--annotators", "Ann,Bo,Ann"], "lists a name twice"),
        (["--system", "ours"], "neither a folder nor of the form NAME=FILE"),
        (["--reference", "x"], "--reference belongs to a --source"),
        (["--system", "a=x", "--system", "a=y"], "names 'a' twice"),
        (["--system", "a=x", "--pair", "en-de"], "belong together"),
        (["--source", "x", "--pair", "en-de"], "belong together"),
        (["--source", "x", "--system", "a=y"], "--pair is missing"),
    ],
)
def test_a_wrong_call_is_explained_and_leaves_nothing(arguments: list[str], words: str, tmp_path: Path) -> None:
    assert_explained(command("init", tmp_path / "new", *arguments), code=2, names=(words,))
    assert not (tmp_path / "new").exists()


def test_texts_that_do_not_line_up_are_named_as_the_user_named_them(tmp_path: Path) -> None:
    files = texts(tmp_path / "texts")
    files["ours"].write_text("one line\n", encoding="utf-8")
    with pytest.raises(InputError, match=rf"{files['ours']} has 1 line"):
        init(tmp_path / "new", pair="en-de", source=files["source"], systems={"ours": files["ours"]})
    with pytest.raises(InputError, match="no such file"):
        init(tmp_path / "new", pair="en-de", source=files["source"], systems={"ours": tmp_path / "gone.txt"})
    assert not (tmp_path / "new").exists()


def test_a_failure_in_the_middle_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from adjudge.campaigns import start

    def failing(path: Path, text: str) -> None:
        if path.parent == tmp_path / "new":
            raise InputError("the disk is full", file=path)
        write_text(path, text)

    monkeypatch.setattr(start, "write_text", failing)
    with pytest.raises(InputError, match="disk is full"):
        init(tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=examples(25))
@given(
    name=st.text(min_size=1, max_size=12),
    people=st.one_of(st.integers(1, 12), st.lists(st.text(min_size=1, max_size=9), min_size=1, max_size=4)),
)
def test_any_names_work_or_are_refused(
    name: str, people: int | list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What is accepted is read back from the file as it was given."""
    folder = tmp_path_factory.mktemp("names")
    files = texts(folder / "texts", systems=("ours",))
    try:
        init(folder / "new", pair="en-de", source=files["source"], systems={name: files["ours"]}, annotators=people)
    except (UsageError, InputError):
        assert not (folder / "new").exists()
        return
    campaign = load_campaign(folder / "new" / "campaign.toml")
    assert list(campaign.files.systems) == [name]
    assert campaign.design.annotators == (people if isinstance(people, int) else tuple(people))


def test_names_in_one_text_are_names_in_python_too(tmp_path: Path) -> None:
    adjudge.init(tmp_path / "c", annotators="Marie, Jean")
    assert 'annotators = ["Marie", "Jean"]' in (tmp_path / "c" / "campaign.toml").read_text(encoding="utf-8")
