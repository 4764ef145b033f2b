"""A light installation: analysis needs no extra, and what needs one says which in one sentence."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from itertools import product
from pathlib import Path

import pytest

import adjudge
from adjudge.table.errors import EXTRAS, MissingExtraError, explain_missing_module
from tests.helpers.warm_command import PATIENCE

PROJECT = Path(__file__).parents[2]
# `None` in sys.modules is what Python takes for a module that is not installed.
WITHOUT = f"""
import sys
sys.modules.update(dict.fromkeys({sorted({module for modules in EXTRAS.values() for module in modules})!r}))
from adjudge.shell.app import main
main()
"""


def run_without_extras(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    call = [sys.executable, "-c", WITHOUT, *arguments]
    return subprocess.run(call, capture_output=True, text=True, check=False, cwd=folder, timeout=PATIENCE)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = ["annotator,segment,system,score"]
    for number, (who, segment, system) in enumerate(product("abc", range(12), "xy")):
        rows.append(f"{who},{segment},{system},{40 + 37 * number % 41 + 9 * (system == 'x')}")
    (tmp_path / "ratings.csv").write_text("\n".join(rows), encoding="utf-8")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(
    "call",
    [
        ["rank", "ratings.csv"],
        ["check", "ratings.csv"],
        ["agree", "ratings.csv"],
        ["audit", "ratings.csv", "--only", "claims"],
        ["report", "ratings.csv", "-o", "report.html"],
        ["plan", "--help"],
        ["formats"],
    ],
    ids=" ".join,
)
def test_analysis_needs_no_extra(table: Path, call: list[str]) -> None:
    run = run_without_extras(*call, folder=table)
    assert run.returncode == 0, run.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "extra"),
    [
        (["testset", "ratings.csv"], "testset"),
        (["init", "new"], None),
        (["serve", "new/campaign.toml"], "serve"),
        (["rank", "ratings.csv", "--scheduler", "tcp://127.0.0.1:1"], "cluster"),
        (["report", "ratings.csv", "-o", "report.pdf"], "pdf"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_a_missing_extra_is_named_in_one_sentence(table: Path, call: list[str], extra: str | None) -> None:
    if call[0] == "serve":
        run_without_extras("init", "new", folder=table)
    run = run_without_extras(*call, folder=table)
    if extra is None:
        assert run.returncode == 0, run.stderr
        return
    assert run.returncode == MissingExtraError.exit_code, run.stderr
    assert f"pip install 'adjudge[{extra}]'" in run.stderr
    assert len(run.stderr.strip().splitlines()) == 1


def test_python_raises_an_error_that_names_the_extra(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in EXTRAS["testset"]:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=re.escape("adjudge[testset]")):
        adjudge.testset(table / "ratings.csv")


def test_a_module_of_no_extra_is_a_fault_of_adjudge() -> None:
    assert explain_missing_module(ModuleNotFoundError(name="adjudge.nothing")) is None


def test_every_extra_names_the_modules_of_its_packages() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    base = {_distribution(line) for line in project["dependencies"]}
    modules = {each for modules in EXTRAS.values() for each in modules}
    provided = {module: names for module, names in packages_distributions().items() if module in modules}
    known = {name.lower() for names in provided.values() for name in names}
    for extra, lines in project["optional-dependencies"].items():
        asked = {_distribution(line) for line in lines} - {"adjudge"}
        assert not asked & base, extra
        assert asked <= known | {"dask"}, extra


def _distribution(line: str) -> str:
    return re.split(r"[\[<>=!~; ]", line, maxsplit=1)[0].lower()
