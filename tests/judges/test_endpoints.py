"""Whatever an endpoint does, nothing is lost, nothing is kept that must not be, and the run is explained."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

import adjudge
from adjudge.judges.clients import EndpointError
from adjudge.table.errors import DataError
from tests.helpers.asking import KEY, QUESTIONS, ask
from tests.helpers.fake_endpoint import Handler, endpoint, usual
from tests.helpers.tables import command
from tests.helpers.warm_command import PATIENCE

if TYPE_CHECKING:
    from pathlib import Path


def test_busy_and_failing_endpoints_are_asked_again(campaign: Path) -> None:
    def busy(handler: Handler, prompt: str, number: int) -> None:
        if number % 4 == 1:
            handler.send(429, b"slow down", Retry_After="0")
        elif number % 4 == 2:
            handler.send(500, b"oops")
        elif number % 4 == 3:
            handler.connection.close()
        else:
            usual(handler, prompt, number)

    with endpoint(busy) as fake:
        result = ask(campaign, fake.url)
    assert result.answers == QUESTIONS
    assert len(fake.requests) == 4 * QUESTIONS


def broken_json(handler: Handler, prompt: str, number: int) -> None:
    handler.send(200, b'{"choices": [')


def other_json(handler: Handler, prompt: str, number: int) -> None:
    handler.send(200, b'{"answer": "85"}')


def cut(handler: Handler, prompt: str, number: int) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "5000")
    handler.end_headers()
    handler.wfile.write(b'{"choices"')
    handler.wfile.flush()
    handler.connection.close()


def slow(handler: Handler, prompt: str, number: int) -> None:
    time.sleep(3)
    handler.close_connection = True


def dripping(handler: Handler, prompt: str, number: int) -> None:
    """A byte of a header now and then, which would start a timeout for each read anew."""
    handler.wfile.write(b"HTTP/1.0 200 OK\r\n")
    for _ in range(40):
        handler.wfile.write(b"X")
        handler.wfile.flush()
        time.sleep(0.1)


def endless(handler: Handler, prompt: str, number: int) -> None:
    handler.send_response(200)
    handler.end_headers()
    piece = b" " * 65536
    for _ in range(1000):
        handler.wfile.write(piece)


def bad_request(handler: Handler, prompt: str, number: int) -> None:
    handler.send(400, b'{"error": "too long"}')


@pytest.mark.parametrize(
    ("behaviour", "timeout", "reason"),
    [
        (broken_json, PATIENCE, "not that of chat completions"),
        (other_json, PATIENCE, "not that of chat completions"),
        (cut, PATIENCE, "the answer was cut"),
        (slow, 0.4, "no answer in time"),
        (dripping, 0.4, "no answer in time"),
        (endless, PATIENCE, "more than 1,000,000 bytes"),
        (bad_request, PATIENCE, "status 400"),
    ],
)
def test_what_is_no_answer_stops_after_ten_and_is_explained(
    behaviour: Any, timeout: float, reason: str, campaign: Path
) -> None:
    with endpoint(behaviour) as fake, pytest.raises(EndpointError, match=f"10 questions in a row.*({reason})"):
        ask(campaign, fake.url, retries=1, timeout=timeout, jobs=4)
    assert not (campaign.parent / "judge.parquet").exists()
    with endpoint() as fake:
        assert ask(campaign, fake.url).answers == QUESTIONS


def test_an_endpoint_that_is_not_there_is_said_at_once(campaign: Path) -> None:
    with endpoint() as fake:
        url = fake.url
    message = r"nothing answers at http://127\.0\.0\.1:\d+/v1 .*; start it, or check 'endpoint'"
    with pytest.raises(EndpointError, match=message):
        ask(campaign, url)


def test_questions_without_an_answer_are_counted_and_asked_by_the_next_run(campaign: Path) -> None:
    def unwilling(handler: Handler, prompt: str, number: int) -> None:
        if "Satz 3 " in prompt:
            handler.send(503, b"not now")
        else:
            usual(handler, prompt, number)

    with endpoint(unwilling) as fake:
        result = ask(campaign, fake.url, retries=1)
    assert [(record.reason, record.rows) for record in result.set_aside] == [
        ("question without an answer: status 503", 2)
    ]
    assert (result.answers, result.rows) == (QUESTIONS - 2, QUESTIONS - 2)
    with endpoint() as fake:
        again = ask(campaign, fake.url)
    assert (len(fake.requests), again.asked, again.answers) == (2, 2, QUESTIONS)


def test_answers_that_cannot_be_used_are_asked_for_once_more_with_the_reason(campaign: Path) -> None:
    def wordy(handler: Handler, prompt: str, number: int) -> None:
        if "Satz 5 " in prompt:
            handler.answer("excellent")
        elif "Satz 6 " in prompt and "could not be used" not in prompt:
            handler.answer("700")
        else:
            usual(handler, prompt, number)

    with endpoint(wordy) as fake:
        result = ask(campaign, fake.url)
    again = [request["body"]["messages"][0]["content"] for request in fake.requests]
    reasons = [prompt for prompt in again if "could not be used" in prompt]
    assert len(reasons) == 4
    assert any("the score is not on the scale from 0 to 100 (700)" in prompt for prompt in reasons)
    unusable = ("answer that cannot be used: the answer has no number", 2)
    assert [(record.reason, record.rows) for record in result.set_aside] == [unusable]
    assert result.answers == QUESTIONS - 2
    # Asking again costs money and seldom helps, so it is a choice.
    with endpoint() as fake:
        assert ask(campaign, fake.url).asked == 0
        assert ask(campaign, fake.url, ask_again=True).asked == 2
    assert adjudge.read(campaign.parent / "judge.parquet").machine.height == QUESTIONS  # type: ignore[union-attr]


def test_reasons_are_counted_without_the_values_that_an_endpoint_sent(campaign: Path) -> None:
    """Neither a line for every value, nor characters that steer a terminal or that no encoding has."""

    def hostile(handler: Handler, prompt: str, number: int) -> None:
        if "Satz 5 " in prompt:
            handler.answer(json.dumps({"score": 100 + number}))
        elif "Satz 6 " in prompt:
            handler.answer(r'{"score": "\u001b[31m \ud800"}')
        elif "Satz 7 " in prompt:
            handler.send(400, b"\x1b[31mno")
        else:
            usual(handler, prompt, number)

    with endpoint(hostile) as fake:
        result = ask(campaign, fake.url)
    assert [(record.reason, record.rows) for record in result.set_aside] == [
        ("answer that cannot be used: the answer is not a number", 2),
        ("answer that cannot be used: the score is not on the scale from 0 to 100", 2),
        ("question without an answer: status 400 (\N{REPLACEMENT CHARACTER}[31mno)", 2),
    ]
    str(result).encode()


def test_nothing_that_can_be_used_is_an_error(campaign: Path) -> None:
    with (
        endpoint(lambda handler, prompt, number: handler.answer("no comment")) as fake,
        pytest.raises(DataError, match="no answer of fake can be used"),
    ):
        ask(campaign, fake.url, jobs=4)


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refused_key_or_model_ends_the_run_at_once(
    status: int, campaign: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key is in the header and nowhere else, even where the other side repeats it."""
    monkeypatch.setenv("ADJUDGE_JUDGE_KEY", KEY)

    def refuse(handler: Handler, prompt: str, number: int) -> None:
        handler.send(status, f"the key {KEY} is wrong".encode())

    with endpoint(refuse) as fake, pytest.raises(EndpointError, match=f"answered {status}") as fault:
        ask(campaign, fake.url)
    assert len(fake.requests) == 1
    assert fake.requests[0]["key"] == f"Bearer {KEY}"
    assert KEY not in str(fault.value)
    assert "the key ... is wrong" in str(fault.value)


def test_a_redirect_is_not_followed(campaign: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADJUDGE_JUDGE_KEY", KEY)
    with endpoint() as other:
        elsewhere = f"{other.url}/chat/completions"
        with (
            endpoint(lambda handler, prompt, number: handler.send(307, b"", Location=elsewhere)) as fake,
            pytest.raises(EndpointError, match=f"answered 307 and points to '{elsewhere}'"),
        ):
            ask(campaign, fake.url)
    assert (len(fake.requests), other.requests) == (1, [])


def test_a_key_that_the_endpoint_repeats_is_not_kept(campaign: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADJUDGE_JUDGE_KEY", KEY)

    def repeat(handler: Handler, prompt: str, number: int) -> None:
        handler.answer(f"Satz 5 {KEY}" if "Satz 5 " in prompt else json.dumps({"score": 50, "you sent": KEY}))

    with endpoint(repeat) as fake:
        result = ask(campaign, fake.url)
    assert result.answers >= QUESTIONS - 2
    assert not any(KEY.encode() in path.read_bytes() for path in campaign.parent.iterdir() if path.is_file())
    (campaign.parent / "judge.parquet.journal.jsonl").unlink()
    with (
        endpoint(lambda handler, prompt, number: handler.send(400, b" " * 1990 + KEY.encode())) as fake,
        pytest.raises(EndpointError, match=r"status 400 \(\.\.\.\)"),
    ):
        ask(campaign, fake.url)


def test_the_key_is_written_nowhere(campaign: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    with endpoint() as fake:
        run = command(
            "judge", campaign, "--endpoint", fake.url, "--model", "fake", "--key-variable", "MY_KEY",
            "-o", campaign.parent / "judge.csv", "--json",
        )  # fmt: skip
    assert run.code == 0
    assert {request["key"] for request in fake.requests} == {f"Bearer {KEY}"}
    assert KEY not in run.out + run.err
    assert not any(KEY.encode() in path.read_bytes() for path in campaign.parent.iterdir() if path.is_file())
    assert KEY not in json.dumps([request["body"] for request in fake.requests])
