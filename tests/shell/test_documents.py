"""What `docs/python.md` and the notebook show runs as it stands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

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
@pytest.mark.parametrize("field", ["summaries", "speech", "captions", "chat"])
def test_the_pages_about_other_fields_run(field: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their tables are read unaided under the words of the field, and nothing is called a translation."""
    text = (ROOT / "docs" / f"{field}.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    [made] = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    exec(compile(made, field, "exec"), {})
    lines = re.findall(r"^adjudge (.*)$", text, re.MULTILINE)
    assert len(lines) >= 3
    for line in lines:
        run = command(*shlex.split(line))
        assert run.code == 0, run.err
        assert "translation" not in run.out
