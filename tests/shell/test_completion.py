"""The tab key: commands, options, and the names that adjudge knows."""

from __future__ import annotations

import pytest

from tests.helpers.tables import command


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("adjudge ra", ["rank"]),
        ("adjudge data ", ["list", "get"]),
        ("adjudge rank --segm", ["--segment-column"]),
        ("adjudge rank --format mqm", ["mqm"]),
        ("adjudge rank -f wmt-ranking", ["wmt-ranking", "wmt-ranking-2007"]),
        ("adjudge rank --method zsc", ["zscore", "zscore-task", "zscore-calibrated"]),
        ("adjudge data get wmt21-", ["wmt21-wikipedia", "wmt21-toen"]),
        ("adjudge replicate gr", ["grain-of-salt"]),
    ],
)
def test_the_shell_is_offered(typed: str, offered: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_ADJUDGE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", str(typed.count(" ")))
    run = command()
    assert (run.code, run.out.split(), run.err) == (0, offered, "")
