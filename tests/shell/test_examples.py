"""Every example of every help text runs, on small files of the same names."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from adjudge.shell.line import command_tree
from adjudge.shell.reference import commands
from tests.helpers.campaigns import make_campaign
from tests.helpers.example_files import write_all
from tests.helpers.serving import Server, new_save, outputs
from tests.helpers.tables import command
from tests.helpers.warm_command import warm_command

EXAMPLES = {name: shlex.split(command.help.partition("Example:")[2])[1:] for name, command in commands(command_tree())}
# These need a campaign that was served, released data or a language model; the demo has a test of its own.
APART = (
    "serve",
    "export",
    "verify",
    "backup",
    "restore",
    "move",
    "extend",
    "archive",
    "erase",
    "doctor",
    "replicate",
    "demo",
    "judge",
)
# All designs with simulated campaigns take their time, and are tested elsewhere.
QUICKLY = {"plan": ["--draws", "0", "--structures", "pages", "--per-item", "1", "--documents", "60"]}
# What an example writes, besides printing.
WRITTEN = {
    "simulate": "judgments.parquet",
    "import": "wmt10.parquet",
    "report": "report.html",
    "check": "kept.parquet",
    "design": "tasks.json",
    "testset": "clean",
    "data get": "data/wmt12/wmt12.RNK_results.csv",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    examples = tmp_path_factory.mktemp("examples")
    write_all(examples)
    return examples


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in EXAMPLES if name not in APART])
def test_the_example_runs(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("ADJUDGE_DATA", str(folder / "data"))
    run = command(*EXAMPLES[name], *QUICKLY.get(name, []))
    assert (run.code, run.err if run.code else "") == (0, "")
    assert run.out or run.err
    if name in WRITTEN:
        assert (folder / WRITTEN[name]).exists()


@pytest.mark.slow
def test_the_example_of_replicate_runs_on_the_released_data(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It writes a page where it runs, which must not be the folder of the data.
    (tmp_path / "wmt10").symlink_to((data / "wmt10").resolve())
    monkeypatch.chdir(tmp_path)
    assert command(*EXAMPLES["replicate"]).code == 0
    assert (tmp_path / "grain-of-salt.html").exists()


@pytest.mark.slow
def test_the_examples_of_serving_run_one_after_the_other(tmp_path: Path) -> None:
    assert EXAMPLES["serve"] == ["serve", "campaign.toml", "--port", "8000"]
    with Server(make_campaign(tmp_path)) as server:
        client = server.client("anna")
        work = client.work()
        saved = client.post("/api/saves", new_save(work, 0, [{"output": outputs(work, 0)[0], "score": 70}]))
        assert saved.status == 200
    for name in ("export", "verify", "doctor", "extend", "archive", "erase", "backup", "restore", "move"):
        # In processes of their own: Django can be set up once per process. Nobody here has the name of the example.
        call = ["anna" if word == "Anna Smith" else word for word in EXAMPLES[name]]
        run = warm_command()(*call, folder=tmp_path)
        assert run.code == 0, run.out + run.err
    assert (tmp_path / "judgments.parquet").exists()
    assert (tmp_path / "restored" / "campaign.sqlite3").exists()
