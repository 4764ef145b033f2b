"""Sentences agree with the numbers in them, also where there is one judgment, one annotator or one pair."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from adjudge.evidence.compared_campaigns import Flip, FlipCount, ScoreCorrelation, verdict_on
from adjudge.table.wording import agreeing, counted, measured
from tests.helpers.campaigns import make_campaign
from tests.helpers.tables import command, score_rows, write_table

if TYPE_CHECKING:
    from pathlib import Path

BLOCK = "ranking,cs,en,anna,t1,s1,d1,1"
NOUNS = (
    "annotators|blocks|campaigns|cases|comparisons|columns|differences|documents|fields|files|items|judgments|lines|"
    "looks|pairs|people|points|rows|scores|seconds|segments|systems|tasks|times|units"
)
# "1 pairs", "1 of 3 pairs stay"; figures such as 0.1 or 11 are other numbers.
WRONG = re.compile(
    rf"(?<![\d.,–-])1 (more |other |different )?({NOUNS})\b|(?<![\d.,])1 (of \S+ \w+ )?(are|were|have|do)\b"
)
COMMANDS = {
    "rank": ("rank", "ranking.csv"),
    "check": ("check", "ranking.csv"),
    "audit": ("audit", "ranking.csv"),
    "compare": ("compare", "ranking.csv", "other.csv", "--resamples", "20"),
    "parity": ("parity", "ranking.csv", "--human", "a"),
    "look, ended": ("look", "ranking.csv", "--planned", "2", "--looks", "1"),
    "look, under way": ("look", "ranking.csv", "--planned", "9", "--looks", "2"),
    "audit of scores": ("audit", "scores.csv", "--only", "claims,influence,composition"),
    "check of scores": ("check", "scores.csv", "--longest-run", "1"),
    "parity of scores": ("parity", "scores.csv", "--human", "A", "--margin", "1"),
    "plan": (
        "plan", "--systems", "2", "--annotators", "1", "--documents", "8", "--segments", "4", "--difference", "1",
        "--draws", "1", "--structures", "pages", "--per-item", "1",
    ),
    "plan, too few people": ("plan", "--systems", "2", "--annotators", "1", "--per-item", "2", "--draws", "0"),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One block of two systems, the same with the other order, and scores of two systems by one annotator."""
    write_table(tmp_path / "ranking.csv", [f"{BLOCK},a,system,false,1", f"{BLOCK},b,system,false,2"])
    write_table(tmp_path / "other.csv", [f"{BLOCK},a,system,false,2", f"{BLOCK},b,system,false,1"])
    write_table(tmp_path / "scores.csv", score_rows(systems=("A", "B"), people=("anna",), segments=4))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_says_one_of_something_in_the_plural(name: str) -> None:
    run = command(*COMMANDS[name])
    # The rows of tables are indented.
    text = " ".join(line.strip() for line in f"{run.out}\n{run.err}".splitlines() if not line.startswith(" "))
    assert text.strip()
    assert [match[0] for match in WRONG.finditer(text)] == []


def test_warnings_about_a_design_for_one_person(tmp_path: Path) -> None:
    campaign = make_campaign(tmp_path, annotators='["anna", "bert"]', documents=1, task_size=40)
    warnings = command("design", campaign, "--json").json["warnings"]
    assert "1 of 2 annotators has no task; make tasks smaller or invite fewer" in warnings
    assert "1 of 1 annotator does one task only, so their z-scores are z-scores by task" in warnings


def test_one_pair_of_campaigns_flips() -> None:
    unknown = ScoreCorrelation(3, float("nan"), float("nan"), float("nan"), None)
    sentence = verdict_on(("x", "y"), unknown, [Flip("a", "b", None, None)], FlipCount(1, 3, None, None))
    assert sentence == "Between x and y 1 of 3 pairs of systems flips, and the role of chance is unknown."


def test_the_forms_themselves() -> None:
    assert [counted(number, "pair") for number in (0, 1, 2000)] == ["0 pairs", "1 pair", "2,000 pairs"]
    assert counted(1, "person", "people") == "1 person"
    assert [measured(number, "point") for number in (1, 1.0, 0.5, 3)] == [
        "1 point",
        "1 point",
        "0.5 points",
        "3 points",
    ]
    assert [agreeing(number, "is", "are") for number in (0, 1, 2)] == ["are", "is", "are"]
