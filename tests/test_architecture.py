"""The page that shows the house names files that exist, and the walk of one judgment is short."""

from __future__ import annotations

import re
from pathlib import Path

from tests.conftest import ROOT

PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
PACKAGE = ROOT / "src" / "adjudge"
MOST_FILES = 25


def walk() -> list[str]:
    """The files named in the walk of one judgment, each once."""
    part = PAGE.partition("## The walk of one judgment")[2].partition("\n## ")[0]
    return list(dict.fromkeys(re.findall(r"`([a-z_]+/[a-z_/]+\.py)`", part)))


def test_the_walk_is_short_and_its_files_exist() -> None:
    files = walk()
    assert 15 < len(files) <= MOST_FILES
    assert [file for file in files if not (PACKAGE / file).is_file()] == []


def test_every_folder_is_named() -> None:
    folders = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert {folder for folder in folders if f"`{folder}/`" not in PAGE} == set()


def test_files_hold_one_idea_each() -> None:
    """Between 380 and 450 sources, none above 300 lines: neither dust nor large files."""
    sizes = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in PACKAGE.rglob("*.py")}
    assert {path.relative_to(PACKAGE): size for path, size in sizes.items() if size > 300} == {}


def test_a_page() -> None:
    assert len(PAGE.splitlines()) <= 90
    assert Path("/") not in {Path(match) for match in re.findall(r"`(/[a-z]+)/", PAGE)}
