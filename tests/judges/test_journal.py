"""Nothing that was answered is lost or asked again, and no answer counts for another question."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import adjudge
from adjudge.campaigns.questions import Anchor
from adjudge.judges.ask import _load_tasks, make_questions, make_template
from adjudge.judges.clients import Answered, EndpointError, Journal
from adjudge.table.errors import InputError
from tests.helpers.asking import QUESTIONS, ask, journal
from tests.helpers.disk import Disk
from tests.helpers.fake_endpoint import Handler, endpoint, usual, wait_until

if TYPE_CHECKING:
    from pathlib import Path


def test_a_second_run_asks_only_what_is_missing_and_repeats_are_added(campaign: Path) -> None:
    with endpoint() as fake:
        first = ask(campaign, fake.url)
        second = ask(campaign, fake.url)
        third = ask(campaign, fake.url, repeats=0.25)
    assert (first.asked, second.asked, third.asked) == (QUESTIONS, 0, 6)
    assert second.judgments.table.equals(first.judgments.table)
    kinds = third.judgments.table["kind"].value_counts().sort("kind").rows()
    assert kinds == [("repeat", 6), ("system", QUESTIONS)]


def test_every_answer_is_on_the_disk_before_the_next_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, disk = tmp_path / "journal.jsonl", Disk(monkeypatch)
    with Journal(file, {}, accepts=bool) as kept:
        for name in ("a", "b"):
            kept.add(Answered(name, 1.0, None, "1", 0.0, 1.0))
            assert disk.holds(file)


def test_another_prompt_or_model_needs_another_output(campaign: Path, tmp_path: Path) -> None:
    own = tmp_path / "prompt.txt"
    own.write_text("{output}")
    with endpoint() as fake:
        ask(campaign, fake.url)
        changes: list[dict[str, Any]] = [{"prompt": own}, {"model": "other", "name": "fake"}, {"parameters": {}}]
        for change in changes:
            with pytest.raises(InputError, match=r"journal.jsonl: was begun with .*; name another output"):
                ask(campaign, fake.url, **change)


def test_a_journal_without_answers_binds_nobody(campaign: Path) -> None:
    with endpoint() as fake:
        with pytest.raises(EndpointError, match="nothing answers"):
            ask(campaign, "http://127.0.0.1:9/v1", model="mistyped")
        assert ask(campaign, fake.url).answers == QUESTIONS


def test_another_program_is_another_judge(campaign: Path, tmp_path: Path) -> None:
    """Both would be named after the interpreter."""
    for name, score in (("one", 10), ("two", 90)):
        (tmp_path / f"{name}.py").write_text(f"print({score})")
    adjudge.judge(campaign, tmp_path / "judge.parquet", command=f"{sys.executable} {tmp_path / 'one.py'}", jobs=2)
    with pytest.raises(InputError, match=r"was begun with command .*; name another output"):
        adjudge.judge(campaign, tmp_path / "judge.parquet", command=f"{sys.executable} {tmp_path / 'two.py'}")


def test_changed_references_and_anchors_are_asked_about_anew(campaign: Path) -> None:
    tasks, scale = _load_tasks(campaign)
    question = make_questions(tasks, repeats=0, seed=1)[0]
    changed = replace(question, item=replace(question.item, reference="another reference"))
    assert changed.id != question.id
    anchored = scale.model_copy(update={"anchors": (Anchor(at=50, text="half of the meaning"),)})
    assert make_template(tasks, anchored, None).fingerprint != make_template(tasks, scale, None).fingerprint


@pytest.mark.parametrize(
    "change",
    [
        {"value": "abc"}, {"value": 1e9}, {"value": True}, {"value": float("nan")}, {"value": None}, {"id": [1]},
        {"started": "x"}, {"ended": 1e300}, {"ended": None}, {"text": 5}, {"reason": 5, "value": None}, {"more": 1},
    ],
)  # fmt: skip
def test_journals_with_lines_that_are_no_answers_are_refused(change: dict[str, Any], campaign: Path) -> None:
    with endpoint() as fake:
        ask(campaign, fake.url)
        path = campaign.parent / "judge.parquet.journal.jsonl"
        header, first, *others = path.read_text().splitlines()
        path.write_text("\n".join((header, json.dumps(json.loads(first) | change), *others, "")))
        with pytest.raises(InputError, match="line 2: is no answer to this judge's questions; delete it"):
            ask(campaign, fake.url)


def test_a_line_that_was_cut_is_asked_again(campaign: Path) -> None:
    with endpoint() as fake:
        ask(campaign, fake.url)
        path = campaign.parent / "judge.parquet.journal.jsonl"
        content = path.read_bytes()
        path.write_bytes(content[:-20])
        assert ask(campaign, fake.url).asked == 1
        assert len(journal(campaign)) == QUESTIONS
        path.write_bytes(content.replace(b'{"id"', b"garbage", 1))
        with pytest.raises(InputError, match="line 2: is no line of a journal"):
            ask(campaign, fake.url)


def started_command(campaign: Path, *arguments: str) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-m", "adjudge", "judge", str(campaign), "-o", str(campaign.parent / "judge.parquet")]
    return subprocess.Popen([*words, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.slow
@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT])
def test_what_was_answered_survives_kill_and_interrupt(sign: int, campaign: Path) -> None:
    def hanging(handler: Handler, prompt: str, number: int) -> None:
        if number > 8:
            time.sleep(60)
        usual(handler, prompt, number)

    path = campaign.parent / "judge.parquet.journal.jsonl"
    with endpoint(hanging) as fake:
        process = started_command(campaign, "--endpoint", fake.url, "--model", "fake", "--jobs", "2")
        wait_until(lambda: path.exists() and path.read_bytes().count(b"\n") == 9)
        process.send_signal(sign)
        _, err = process.communicate(timeout=60)
    assert process.returncode == (-9 if sign == signal.SIGKILL else 130)
    if sign == signal.SIGINT:
        assert b"the answers so far are kept; run the same command to go on" in err
        assert b"Traceback" not in err
    assert not (campaign.parent / "judge.parquet").exists()
    assert len(journal(campaign)) == 8
    with endpoint() as fake:
        assert ask(campaign, fake.url).asked == QUESTIONS - 8
    table = pl.read_parquet(campaign.parent / "judge.parquet")
    assert (table["score"] == [5 * int(s) + len(n) for s, n in table.select("segment", "system").rows()]).all()


@pytest.mark.slow
def test_two_runs_at_once_are_refused(campaign: Path) -> None:
    def hanging(handler: Handler, prompt: str, number: int) -> None:
        time.sleep(60)

    path = campaign.parent / "judge.parquet.journal.jsonl"
    with endpoint(hanging) as fake, endpoint() as other:
        process = started_command(campaign, "--endpoint", fake.url, "--model", "fake")
        try:
            wait_until(lambda: path.exists() and path.stat().st_size > 0)
            with pytest.raises(InputError, match="in use by another run"):
                ask(campaign, other.url)
        finally:
            process.kill()
            process.communicate(timeout=60)


# A program instead of an endpoint.
