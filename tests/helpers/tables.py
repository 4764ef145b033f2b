"""Tiny native tables for the promises of the command line, and the command run in this process."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

import numpy as np

from adjudge.shell.app import main
from tests.conftest import Run

SYSTEMS = ("a", "b", "c", "ref")
PEOPLE = ("x", "y", "z")
_WHO = "protocol,source_lang,target_lang,annotator,task,screen,document,segment,system,kind,human"


def command(*arguments: str | Path) -> Run:
    """The command in this process, which spares the start of another for every call."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), mock.patch("sys.argv", ["adjudge", *map(str, arguments)]):
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    return Run(code, out.getvalue(), err.getvalue())


def ranking_rows(
    *,
    pair: str = "cs,en",
    groups: Sequence[Sequence[str]] = (SYSTEMS,),
    people: Sequence[str] = PEOPLE,
    ties: bool = False,
    blocks: int = 12,
) -> list[str]:
    """Rows of relative rankings: blocks of the groups in turn, every segment judged twice by everybody."""
    rng = np.random.default_rng(1)
    rows: list[str] = []
    for block in range(blocks):
        for person in people:
            for number, system in enumerate(groups[block % len(groups)]):
                rank = 1 if ties else min(5, number + 1 + int(rng.integers(0, 3)))
                human = str(system == "ref").lower()
                where = f"t{person},{person}{block},d{block // 4},{block // 2}"
                rows.append(f"ranking,{pair},{person},{where},{system},system,{human},{rank}")
    return rows


def score_rows(
    *,
    pair: str = "cs,en",
    systems: Sequence[str] = SYSTEMS,
    people: Sequence[str] = PEOPLE,
    ties: bool = False,
    segments: int = 24,
) -> list[str]:
    """Rows of direct assessment on pages of four segments, with some degraded and repeated items."""
    rng = np.random.default_rng(1)
    rows: list[str] = []
    for person in people:
        for segment in range(segments):
            for number, system in enumerate(systems):
                score = 50 if ties else int(np.clip(70 - 5 * number + rng.normal(0, 12), 0, 100))
                human = str(system == "ref").lower()
                page = f"d{segment // 4}"
                where = f"da,{pair},{person},t{person},{person}{page},{page},{segment},{system}"
                rows.append(f"{where},system,{human},{score}")
                if segment % 6 == 0:
                    rows.append(f"{where},degraded,false,{score if ties else max(0, score - 30)}")
                    rows.append(f"{where},repeat,{human},{score if ties else min(100, score + 2)}")
    return rows


def write_table(file: Path, rows: Sequence[str]) -> Path:
    """A CSV whose last column is the rank or the score."""
    answer = "rank" if rows[0].startswith("ranking") else "score"
    file.write_text("\n".join([f"{_WHO},{answer}", *rows]) + "\n", encoding="utf-8")
    return file
