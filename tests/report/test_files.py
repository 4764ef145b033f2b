"""`adjudge report` as a user runs it: the document, and tables and charts as files."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

from adjudge.core.judgments import concat
from adjudge.formats import native
from adjudge.simulate import RankingCampaign, simulate
from tests.conftest import Run, assert_explained


@pytest.fixture(scope="module")
def judgments(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "campaign.parquet"
    parts = [
        simulate(RankingCampaign(systems=4, blocks=80, pair=pair), seed=seed).judgments
        for seed, pair in enumerate(("en-cs", "de-en"))
    ]
    native.write(concat(parts), path)
    return path


def test_all_pairs_go_into_one_file_with_tables_and_plots_beside_it(
    adjudge: Callable[..., Run], judgments: Path, tmp_path: Path
) -> None:
    out, tables, plots = tmp_path / "report.html", tmp_path / "tables", tmp_path / "plots"
    run = adjudge("report", judgments, "-o", out, "--tables", tables, "--plots", plots)
    assert run.code == 0, run.err
    text = out.read_text(encoding="utf-8")
    assert "<title>campaign, 2 language pairs</title>" in text
    assert 'id="en-cs"' in text
    assert 'id="de-en"' in text
    assert "system-01" in text
    with (tables / "en-cs-ranking-by-bradley-terry.csv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[1][:3] == ["rank", "system", "score"]
    assert len(rows) == 7
    assert r"\toprule" in (tables / "en-cs-ranking-by-bradley-terry.tex").read_text(encoding="utf-8")
    svg = (plots / "en-cs-forest.svg").read_text(encoding="utf-8")
    assert svg.startswith("<svg")
    assert "system-01" in svg
    assert "var(--" not in svg
    assert (plots / "en-cs-forest.png").read_bytes().startswith(b"\x89PNG")


def test_faults_leave_no_file_behind(adjudge: Callable[..., Run], judgments: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    assert_explained(adjudge("report", judgments, "-o", out, "--method", "winz"), code=2, names=("winz",))
    assert_explained(adjudge("report", judgments, "-o", out, "--pair", "fr-en"), names=("fr-en",))
    assert_explained(adjudge("report", tmp_path / "none.csv", "-o", out), names=("none.csv",))
    assert list(tmp_path.iterdir()) == []
