"""`ARCHITECTURE.md` is true: packages, layers, named files, and the way of a judgment through the sources."""

from __future__ import annotations

import ast
import importlib
import pydoc
import re
from pathlib import Path

import pytest

import adjudge
from adjudge.readers import native
from tests.conftest import ROOT
from tests.helpers.walk import walk

PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
PACKAGE = ROOT / "src" / "adjudge"
PACKAGES = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
# A result asks for a chart when a notebook calls `plot()`; a ranking carries its breakdown by attributes.
EXCEPTIONS = {("table/results.py", "reports"), ("ranking/ranking.py", "evidence")}


def rows() -> dict[str, list[str]]:
    """The table of packages: the commands of each, in the order of the layers."""
    found = re.findall(r"^\| `([a-z]+)/` \| .* \| ?(.*) \|$", PAGE.partition("\n## ")[0], re.MULTILINE)
    return {package: re.findall(r"`([a-z]+)`", commands) for package, commands in found}


def imported_packages(file: Path) -> set[str]:
    """The packages from which a file imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{file}: relative import"
            names |= {node.module} if node.module != "adjudge" else {f"adjudge.{alias.name}" for alias in node.names}
    return {name.split(".")[1] for name in names if name.startswith("adjudge.")} & set(PACKAGES)


def test_every_package_has_a_row() -> None:
    assert sorted(rows()) == PACKAGES


def test_every_command_has_a_row() -> None:
    from adjudge.shell.line import command_tree

    assert sorted(command for commands in rows().values() for command in commands) == sorted(command_tree().commands)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_imports_only_packages_above_it(package: str) -> None:
    order = list(rows())
    allowed = set(order[: order.index(package) + 1])
    for file in (PACKAGE / package).rglob("*.py"):
        name = str(file.relative_to(PACKAGE))
        below = {other for other in imported_packages(file) - allowed if (name, other) not in EXCEPTIONS}
        assert not below, f"{name} imports {sorted(below)}, which stand below {package} in ARCHITECTURE.md"


DOCUMENTED = {
    "adjudge.planning.simulate",  # docs/qe.md
    "adjudge.evidence.stability.Stability",  # a result
    "adjudge.evidence.stability.rating_style",  # of campaigns with one system, which no audit takes
    "adjudge.readers.wmt_da_files.find_campaigns",  # which files of a folder are one campaign
}


@pytest.mark.parametrize("paper", ["document_qe", "grain_of_salt", "in_order", "stability", "suboptimal"])
def test_a_replication_uses_public_names(paper: str) -> None:
    """It is the first customer of the Python interface; what is imported for types alone does not count."""
    tree = ast.parse((PACKAGE / "papers" / f"{paper}.py").read_text())
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module is not None]
    names = {f"{node.module}.{name.name}" for node in imports for name in node.names if node.module != "adjudge"}
    inside = [name for name in names if name.startswith("adjudge.") and not name.startswith("adjudge.papers.")]
    assert [name for name in inside if not {name, name.rpartition(".")[0]} & DOCUMENTED] == []


def test_no_package_has_the_name_of_a_public_function() -> None:
    assert set(PACKAGES) & set(adjudge.__all__) == set()


def test_modules_are_reached_by_their_dotted_names() -> None:
    """`import adjudge.ranking.methods as m` and documentation tools follow attributes from package to package."""
    methods = importlib.import_module("adjudge.ranking.methods")
    assert adjudge.ranking.methods is methods
    assert pydoc.locate("adjudge.ranking.methods.METHODS") is methods.METHODS
    assert adjudge.rank is adjudge.shell.ranking.rank  # type: ignore[attr-defined]


def test_every_file_that_is_named_exists() -> None:
    """Placeholders are called `x`; tests and documents are named from the root."""
    pages = [PAGE, *(page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md"))]
    files = [
        file
        for page in pages
        for file in re.findall(r"`((?:[a-z_]+/)+[a-z_0-9]+\.py)`", page)
        if not re.search(r"/x\b", file)
    ]
    assert len(files) > 30
    assert [file for file in files if not any((home / file).is_file() for home in (PACKAGE, ROOT))] == []


def test_a_page() -> None:
    assert len(PAGE.splitlines()) <= 90


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A simulated campaign of direct assessment: documents, tasks, two kinds of controls, a human translation."""
    table = tmp_path_factory.mktemp("walk") / "scores.csv"
    native.write(adjudge.simulate(protocol="da", seed=1).judgments, table)
    return table


@pytest.mark.slow
@pytest.mark.parametrize(("command", "most"), [("rank", 30), ("report", 60)])
def test_the_way_of_a_score_is_short(scores: Path, command: str, most: int) -> None:
    """How many files receive data on the way from a row of scores to a ranking, and to a report."""
    output = ("-o", "report.html", "--jobs", "1") if command == "report" else ("--json",)
    files = walk(command, str(scores), *output).receives
    assert 5 < len(files) <= most, files


@pytest.mark.slow
def test_the_traced_way_is_the_one_that_is_described(scores: Path) -> None:
    """The walk of a score in ARCHITECTURE.md names files that the command really runs through."""
    part = PAGE.partition("## The walk of a score")[2].partition("\n## ")[0]
    named = list(dict.fromkeys(re.findall(r"`([a-z_]+/[a-z_]+\.py)`", part)))
    traced = walk("rank", str(scores), "--json").runs
    assert len(named) > 5
    assert [file for file in named if file not in traced] == []
