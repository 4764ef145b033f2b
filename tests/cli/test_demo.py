"""The demo: the first thing that anybody runs."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from adjudge.cli.app import app
from adjudge.formats import read


def test_the_demo_runs_the_whole_flow_and_says_where_the_report_is(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    run = CliRunner().invoke(app, ["demo", "--output", str(folder)])
    assert run.exit_code == 0, run.exception
    for step in ("simulate", "check", "agree", "rank", "audit", "truth"):
        assert f"\n  {step} " in run.output
    assert f"The report is {folder / 'report.html'}" in run.output
    assert "of the pairs that a line separates, none is wrong" in run.output
    assert all(len(line) < 160 for line in run.output.splitlines())
    assert len(read([folder / "judgments.parquet"])) > 1000
    assert json.loads((folder / "ranking.json").read_text(encoding="utf-8"))["method"] == "bradley-terry"
    assert json.loads((folder / "truth.json").read_text(encoding="utf-8"))["careless"]
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert "<title>A simulated campaign</title>" in report
    assert "Agreement by length of the source" in report
