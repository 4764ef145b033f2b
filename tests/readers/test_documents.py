"""The documents of data and formats say what the code does, and their commands run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from adjudge.readers.registry import FORMATS
from adjudge.table import errors
from adjudge.table.judgments import SCHEMA
from adjudge.table.protocols import KINDS, PROTOCOLS
from tests.conftest import ROOT, Run
from tests.helpers.samples import SAMPLES
from tests.helpers.tables import command

DOCS = ROOT / "docs"
TABLE = "\tID\tSource\tRef_rating\tMT_A_rating\tMT_B_rating\n0\t1\ttext\t1\t3\t2\n"


def text_of(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def test_every_column_kind_and_protocol_is_explained() -> None:
    explained = text_of("data.md")
    for name in (*SCHEMA, *KINDS, *PROTOCOLS):
        assert f"`{name}`" in explained, name


def test_every_format_is_explained() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in DOCS.glob("formats*.md"))
    for name in FORMATS:
        assert f"`{name}`" in pages, name


def test_every_slug_is_explained() -> None:
    page = text_of("messages.md")
    for var in vars(errors).values():
        if isinstance(var, type) and issubclass(var, errors.AdjudgeError):
            assert f"| `{var.slug}` | {var.exit_code} | `{var.__name__}` |" in page


def commands() -> list[str]:
    pages = text_of("formats.md") + text_of("data.md")
    return [line for line in re.findall(r"^adjudge .*$", pages, re.MULTILINE) if "FILE" not in line]


@pytest.mark.parametrize("line", commands())
def test_the_commands_of_the_documents_run(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = shlex.split(line)[1:]
    name = arguments[arguments.index("--format") + 1] if "--format" in arguments else "judgments"
    monkeypatch.chdir(tmp_path)
    file = tmp_path / arguments[1]
    if name == "rank-lines":
        file.mkdir()
        for candidate, ranks in (("ref", "1\n1\n2\n1\n"), ("mt", "2\n2\n1\n2\n")):
            (file / f"{candidate}.txt").write_text(ranks, encoding="utf-8")
    elif arguments[1].endswith("/"):
        file.mkdir()
        (file / "a1.csv").write_text(TABLE, encoding="utf-8")
    else:
        file.write_text(SAMPLES[name][0], encoding="utf-8")
    run: Run = command(*arguments)
    assert run.code == 0, run.err
    assert (tmp_path / arguments[arguments.index("-o") + 1]).stat().st_size > 0
