"""Data flow one way: a folder imports only folders that stand above it in the table of `ARCHITECTURE.md`."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.test_architecture import folders_and_commands

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "adjudge"
FLOW = (
    "core",
    "results",
    "work",
    "formats",
    "testset",
    "design",
    "adapt",
    "collect",
    "judge",
    "simulate",
    "check",
    "agree",
    "rank",
    "look",
    "audit",
    "meta",
    "compare",
    "plan",
    "replicate",
)
ALLOWED = {stage: set(FLOW[: i + 1]) for i, stage in enumerate(FLOW)}
ALLOWED["core"] = {"core"}
ALLOWED["work"] = {"core", "work"}
ALLOWED["adapt"] = {"core", "adapt"}
ALLOWED["collect"] = {"core", "results", "formats", "design", "adapt", "collect"}
ALLOWED["judge"] = {"core", "results", "formats", "design", "judge"}
ALLOWED["report"] = {"core", "results", "work", "report"}
ALLOWED["datasets"] = {"core", "results", "datasets"}
ALLOWED["doctor"] = {"core", "results", "collect", "datasets", "doctor"}
ALLOWED["api"] = {*FLOW, "report", "api"}
ALLOWED["cli"] = {*FLOW, "datasets", "doctor", "report", "api", "cli"}
# A result draws its charts by the report's functions when a notebook asks for one.
EXCEPTIONS = {"reports/display.py": {"report"}}


def imports_of(file: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{file}: relative import"
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name.split(".")[1] for name in names if name.startswith("adjudge.")}


@pytest.mark.parametrize("folder", sorted(p.name for p in PACKAGE.iterdir() if (p / "__init__.py").exists()))
def test_a_folder_imports_only_what_it_may(folder: str) -> None:
    assert folder in ALLOWED, f"{folder} has no place among the layers"
    for file in (PACKAGE / folder).rglob("*.py"):
        stages = {name for name in imports_of(file) if (PACKAGE / name / "__init__.py").exists()}
        allowed = ALLOWED[folder] | EXCEPTIONS.get(str(file.relative_to(PACKAGE)), set())
        assert stages <= allowed, f"{file} imports {sorted(stages - allowed)}"


def test_the_table_of_folders_has_this_order() -> None:
    """A reader takes from `ARCHITECTURE.md` that a folder imports only folders above it."""
    rows = list(folders_and_commands())
    assert rows == [*FLOW, *(folder for folder in ALLOWED if folder not in FLOW)]
    for number, folder in enumerate(rows):
        assert ALLOWED[folder] <= set(rows[: number + 1])


def test_by_its_name_only_the_package_loads_the_api() -> None:
    """Modules that are loaded by a string escape the test above. `api` starts a process of its own."""
    users = {
        file.relative_to(PACKAGE).parts[0]
        for file in PACKAGE.rglob("*.py")
        if '"adjudge.api.' in file.read_text("utf-8")
    }
    assert users == {"__init__.py", "api"}
