"""What `docs/python.md` and the notebook show runs as it stands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import adjudge
from tests.conftest import ROOT
from tests.helpers.tables import command

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


@pytest.mark.slow
def test_the_page_about_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) > 6
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)
    assert (tmp_path / "report.html").stat().st_size > 100_000
    assert (tmp_path / "paper" / "ranking.tex").exists()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the kernel's own packages
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_the_notebook_runs(path: Path, tmp_path: Path) -> None:
    import nbclient
    import nbformat

    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    kinds = {kind for output in shown for kind in output.get("data", {})}
    assert "text/html" in kinds
    assert "image/svg+xml" in kinds
    assert (tmp_path / "report.html").exists()


@pytest.mark.slow
def test_the_page_about_other_fields_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their tables are read unaided under the words of the field, and nothing is called a translation."""
    text = (ROOT / "docs" / "other-tasks.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name, table in _tables_of_other_fields().items():
        table.write_csv(name)
    lines = re.findall(r"^adjudge (.*)$", text, re.MULTILINE)
    named = {word for line in lines for word in shlex.split(line) if word.endswith(".csv")}
    assert named == {"summaries.csv", "listening.csv", "captions.csv", "votes.csv"}
    for line in lines:
        run = command(*shlex.split(line))
        assert run.code == 0, run.err
        assert "translation" not in run.out


def _tables_of_other_fields() -> dict[str, pl.DataFrame]:
    """A table of each field, with its own column names and answers."""
    simulated = adjudge.simulate("da", systems=3, humans=0, annotators=12, tasks=36, controls=0, spread=9.0, seed=5)
    scores = simulated.judgments.table.unique(["annotator", "document", "segment", "system"], maintain_order=True)
    item = pl.concat_str("document", pl.lit("-"), "segment")
    step = (pl.col("score") / 20).floor().clip(0, 4)
    words = {0: "very poor", 1: "poor", 2: "fair", 3: "good", 4: "very good"}
    votes = adjudge.simulate("ranking", systems=4, block_size=2, blocks=600, annotators=12, seed=5).judgments.table
    votes = votes.filter(~pl.col("human"))
    votes = votes.with_columns(place=pl.int_range(pl.len()).over("annotator", "segment", "screen"))
    left, right = (votes.filter(pl.col("place") == place) for place in (0, 1))
    both = left.join(right, on=["annotator", "segment", "screen"], suffix="_b")
    left_won = pl.when(pl.col("rank") < pl.col("rank_b")).then(pl.lit("A is better"))
    preferred = left_won.when(pl.col("rank") > pl.col("rank_b")).then(pl.lit("B is better"))
    return {
        "summaries.csv": scores.select(
            evaluator="annotator",
            article=item,
            summarizer="system",
            Coherence=step + 1,
            Consistency=(step + 2).clip(1, 5),
            Fluency=step + 1,
        ),
        "listening.csv": scores.select(listener_id="annotator", wav=item + ".wav", voice_model="system", mos=step + 1),
        "captions.csv": scores.select(
            worker="annotator",
            image_id=item + ".jpg",
            captioner="system",
            rating=step.cast(pl.Int64).replace_strict(words),
        ),
        "votes.csv": both.select(
            user="annotator",
            prompt_id="segment",
            model_a="system",
            model_b="system_b",
            preference=preferred.otherwise(pl.lit("About the same")),
        ),
    }
