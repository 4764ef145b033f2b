"""`adjudge report` as a user runs it: the document, and tables and charts as files."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge import simulate
from adjudge.planning.simulated_rankings import RankingCampaign
from adjudge.ranking.ranking import PairComparison
from adjudge.readers import native
from adjudge.reports.files import to_json
from adjudge.table.judgments import concat
from adjudge.table.results import to_plain
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


@pytest.mark.slow
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
    assert rows[0][:3] == ["rank", "system", "score"]
    assert len(rows) == 6
    assert "adjudge rank|" in (tables / "tables.signature.txt").read_text(encoding="utf-8")
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


@pytest.mark.slow
def test_a_pair_that_nobody_named_is_not_in_the_title(adjudge: Callable[..., Run], tmp_path: Path) -> None:
    table = tmp_path / "pilot.csv"
    table.write_text("annotator,screen,segment,system,rank\nx,1,1,a,1\nx,1,1,b,2\ny,2,1,a,1\ny,2,1,b,2\n")
    out = tmp_path / "report.html"
    assert adjudge("report", table, "-o", out).code == 0
    assert "<title>pilot</title>" in out.read_text()


VALUES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
NESTED = st.recursive(VALUES, lambda part: st.lists(part) | st.dictionaries(st.text(), part), max_leaves=30)


@given(value=st.dictionaries(st.text(), NESTED), plain=st.booleans())
def test_json_is_that_of_the_standard_library(value: dict[str, object], *, plain: bool) -> None:
    assert to_json(value, plain=plain) == json.dumps(value, ensure_ascii=plain, indent=2, allow_nan=False)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (1.5, 1.5), (math.nan, None), (-math.inf, None), (np.float32(0.5), 0.5), (np.float64("nan"), None),
        (True, True), (np.bool_(True), True), (np.int64(3), 3), (np.array([1.0, np.inf]), [1.0, None]),
        ({2: (1, math.nan)}, {"2": [1, None]}),
    ],
)  # fmt: skip
def test_every_kind_of_number_becomes_plain(value: object, plain: object) -> None:
    found = to_plain(value)
    assert found == plain
    assert type(found) is type(plain)


@given(numbers=st.dictionaries(st.text(), st.none() | st.integers() | st.floats()))
def test_a_comparison_is_written_as_its_common_keys_and_then_its_own(numbers: dict[str, float | int | None]) -> None:
    pair = PairComparison("a", "b", 0.5, math.nan, None, 1.0, numbers=numbers, p_adjusted=np.float64(0.25))
    common = {"better": "a", "worse": "b", "difference": 0.5, "p": None, "p_holm": None, "p_bh": 1.0}
    own = {name: None if value is None or not math.isfinite(value) else value for name, value in numbers.items()}
    assert pair.to_dict() == {**common, "p_adjusted": 0.25, "decided": False, "state": "open", **own}
