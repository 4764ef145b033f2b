"""The demo: the first thing that anybody runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from adjudge import read
from adjudge.shell.line import app
from adjudge.shell.reporting import _find_typed_name


@pytest.mark.slow
def test_the_demo_runs_the_whole_flow_and_says_where_the_report_is(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    run = CliRunner().invoke(app, ["demo", "--output", str(folder)])
    assert run.exit_code == 0, run.exception
    for step in ("simulate", "check", "agree", "rank", "audit", "truth"):
        assert run.output.count(f"\n  {step} ") == 2
    assert f"The report is {folder / 'report.html'}" in run.output
    assert (folder / "report.html").as_uri() in run.output
    assert run.output.count("of the pairs separated by a line, none is wrong") == 2
    assert all(len(line) < 160 for line in run.output.splitlines())
    judgments = read([folder / "judgments.parquet"])
    assert judgments.protocols == ("da", "ranking")
    rankings = json.loads((folder / "ranking.json").read_text(encoding="utf-8"))["pairs"]
    assert list(rankings) == list(judgments.by_pair())
    assert [ranking["method"] for ranking in rankings.values()] == ["bradley-terry", "mixed"]
    truths = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    assert all(truth["careless"] for truth in truths.values())
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert len(report.encode()) < 400_000, "a report must stay light enough for mail"
    assert "<title>Two simulated campaigns</title>" in report
    assert "Agreement by length of the source" in report


def test_the_command_is_named_as_it_can_be_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.argv", [".venv/bin/adjudge", "demo"])
    assert _find_typed_name() == ".venv/bin/adjudge"
    monkeypatch.setattr("sys.argv", ["/elsewhere/bin/adjudge", "demo"])
    assert _find_typed_name() == "/elsewhere/bin/adjudge"
    program = tmp_path / "adjudge"
    program.touch(mode=0o755)
    assert _find_typed_name() == "adjudge"
