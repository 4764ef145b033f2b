"""The command `agree` as a user calls it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from adjudge.people.agreement import read_source_texts
from adjudge.readers import native
from adjudge.table.errors import InputError, UsageError
from tests.conftest import Run, assert_explained
from tests.helpers.check_make import random_rankings, rankings, scores


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "judgments.csv"
    native.write(random_rankings(4), path)
    return path


def test_json_has_the_promised_keys(adjudge: Callable[..., Run], table: Path) -> None:
    answer = adjudge("agree", table, "--json", "--seed", "7").json
    assert {"signature", "settings", "version", "set_aside", "inter", "intra", "annotators"} <= set(answer)
    for kind in ("inter", "intra"):
        for part in ("all", "without_reference"):
            names = {"pairs", "observed", "s", "s_corrected", "pi", "kappa", "fleiss", "alpha", "expected", "interval"}
            assert names <= set(answer[kind][part])
    assert answer["settings"]["seed"] == 7
    assert "seed:7" in answer["signature"]


def test_tables_by_length(adjudge: Callable[..., Run], table: Path, tmp_path: Path) -> None:
    texts = tmp_path / "source.txt"
    texts.write_text("one\none two\none two three\nfour words are here\nand this has five\n", encoding="utf-8")
    run = adjudge("agree", table, "--texts", f"eng={texts}", "--pooled")
    assert run.code == 0, run.err
    for title in ("Agreement", "expected by chance", "95% intervals", "Annotators", "by length of the source"):
        assert title in run.out


def test_scores_are_measured_too(adjudge: Callable[..., Run], tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    native.write(scores([(who, str(i), "x", float(i)) for who in "ab" for i in range(5)]), path)
    assert adjudge("agree", path, "--json").json["inter"]["all"]["alpha"] == 1


def test_faults_are_one_sentence(adjudge: Callable[..., Run], table: Path, tmp_path: Path) -> None:
    lonely = tmp_path / "lonely.csv"
    native.write(rankings([("a", "1", {"x": 1, "y": 2})]), lonely)
    assert_explained(adjudge("agree", lonely), names=("nothing was judged twice",))
    assert_explained(adjudge("agree", table, "--texts", tmp_path / "none.txt"), names=("none.txt", "no such file"))


def test_source_texts_by_language(tmp_path: Path) -> None:
    text = tmp_path / "source.txt"
    text.write_text("one\u2028two\nthree\n", encoding="utf-8")
    assert read_source_texts([f"Czech={text}", str(text)]) == {
        "cs": ["one\u2028two", "three"],
        "": ["one\u2028two", "three"],
    }
    with pytest.raises(UsageError, match="two source texts are given for 'cs'"):
        read_source_texts([f"cs={text}", f"ces={text}"])
    text.write_text(" \n", encoding="utf-8")
    with pytest.raises(InputError, match="is empty"):
        read_source_texts([str(text)])
