"""`ARCHITECTURE.md` is true: the files it names exist, all folders and commands are in it, and the walk is short."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

from tests.conftest import ROOT

PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
PACKAGE = ROOT / "src" / "adjudge"
MOST_FILES = 25
MOST_SOURCES = 564
MOST_IN_A_FOLDER = 35
LARGEST = 300
SMALLEST_ALONE = 50


def walk() -> tuple[list[str], list[str]]:
    """The files in the steps of the walk of one judgment, each once; and those beside, which need not be opened."""
    part = PAGE.partition("## The walk of one judgment")[2].partition("\n## ")[0]
    beside, _, steps = part.partition("\n1. ")
    files = re.compile(r"`([a-z_]+/[a-z_/]+\.py)`")
    return list(dict.fromkeys(files.findall(steps))), files.findall(beside)


def test_the_walk_is_short_and_its_files_exist() -> None:
    files, beside = walk()
    assert 15 < len(files) <= MOST_FILES
    assert f"through {len(files)} files" in PAGE
    assert [file for file in [*files, *beside] if not (PACKAGE / file).is_file()] == []


def test_the_walk_is_unbroken() -> None:
    """Every file on it is imported by another one, but for the command, and the reader, which the registry names."""
    files, beside = walk()
    modules = {module_of(PACKAGE / file) for file in [*files, *beside]}
    reached = {name for file in files for name in imported_by(PACKAGE / file) if module_of(PACKAGE / file) != name}
    assert modules - reached == {"adjudge.cli.commands.report", "adjudge.readers.wmt_rankings"}


def test_every_file_that_is_named_exists() -> None:
    """Placeholders are called `x`; tests and documents are named from the root, the package's own file from `src`."""
    files = [file for file in re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.[a-z]+)`", PAGE) if not re.search(r"/x\b", file)]
    assert len(files) > 60
    assert missing(files) == []


def test_every_source_that_the_documents_name_exists() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md"))
    files = re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.py)`", text)
    assert len(files) > 5
    assert missing(files) == []


def missing(files: list[str]) -> list[str]:
    homes = (PACKAGE, ROOT, PACKAGE.parent)
    return [file for file in files if not any((home / file).is_file() for home in homes)]


def folders_and_commands() -> dict[str, list[str]]:
    """The rows of the table of folders: the commands of each."""
    rows = re.findall(r"^\| `([a-z]+)/` \| .* \| ?(.*) \|$", PAGE.partition("\n## ")[0], re.MULTILINE)
    return {folder: re.findall(r"`([a-z]+)`", commands) for folder, commands in rows}


def test_every_folder_and_every_command_has_a_row() -> None:
    table = folders_and_commands()
    assert set(table) == {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    commands = {path.stem.rstrip("_") for path in (PACKAGE / "cli/commands").glob("[a-z]*.py")}
    assert sorted(command for named in table.values() for command in named) == sorted(commands)


def importers() -> Counter[str]:
    """By module, how many other modules import it or something from it."""
    modules = {module_of(path): path for path in PACKAGE.rglob("*.py")}
    count: Counter[str] = Counter()
    for name, path in modules.items():
        count.update((imported_by(path) & modules.keys()) - {name})
    return count


def imported_by(path: Path) -> set[str]:
    """All that a file imports, and what may be a module among what it imports from others."""
    imported: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            imported |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
    return imported


def module_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_files_hold_one_idea_each() -> None:
    """At most 300 lines in a file, and no small file that only one other needs: it belongs into that one.

    Files that a framework or a rule of this project asks for by name may be small: those of a folder, a command or a
    migration, and Django's own.
    """
    sizes = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in PACKAGE.rglob("*.py")}
    assert {path.relative_to(PACKAGE): size for path, size in sizes.items() if size > LARGEST} == {}
    asked_for = {"__init__.py", "__main__.py", "apps.py", "urls.py"}
    counts = importers()
    dust = [
        str(path.relative_to(PACKAGE))
        for path, size in sizes.items()
        if size < SMALLEST_ALONE and counts[module_of(path)] == 1
        if path.name not in asked_for and path.parent.name not in {"commands", "migrations"}
    ]
    assert dust == []


def test_no_folder_is_too_full() -> None:
    """A folder can be read on one screen, and the whole tree in a few minutes."""
    files = list(PACKAGE.rglob("*.py"))
    assert len(files) <= MOST_SOURCES
    most = Counter(path.parent.relative_to(PACKAGE) for path in files).most_common(1)[0]
    assert most[1] <= MOST_IN_A_FOLDER, most


def test_a_page() -> None:
    assert len(PAGE.splitlines()) <= 90
    assert Path("/") not in {Path(match) for match in re.findall(r"`(/[a-z]+)/", PAGE)}
