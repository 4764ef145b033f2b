"""Answers are read strictly: a number on the scale, or a choice, and nothing that has to be guessed."""

from __future__ import annotations

import pytest

from adjudge.campaigns.questions import Scale
from adjudge.judges.clients import AnswerReader, UnusableAnswerError

SCORES = AnswerReader(Scale(), in_pairs=False)
PAIRS = AnswerReader(Scale(), in_pairs=True)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"score": 85}', 85),
        ('{"score": "85"}', 85),
        ('```json\n{"score": 85.5, "reason": "good"}\n```', 85.5),
        ('I first thought {"score": 20}, but then {"score": 30}', 30),
        ("85", 85),
        ("The score is 85.", 85),
        ("Score: 85/100", 85),
        ("I give 85 out of 100 points", 85),
        ("85%", 85),
        ("100", 100),
        ("100/100", 100),
        ("Of 3 errors one is serious. Score: 40", 40),
        ('{"verdict": 3} 60', 60),
        ('{"score": 85, "errors": [{"severity": 1}]}', 85),
        ('{"errors": [{"severity": 1}], "result": {"score": 85}}', 85),
        ('{"score": 85, "comment": "the placeholder {x} is kept 2 times"}', 85),
        ("85 on a scale from 0 to 100", 85),
        ("On the scale 0-100 this is 85", 85),
        ("85 (between 0 and 100)", 85),
    ],
)
def test_what_is_a_score(text: str, value: float) -> None:
    assert SCORES.read(text) == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("  \n", "empty"),
        ("excellent", "no number"),
        ('{"score": 101}', r"not on the scale from 0 to 100 \(101\)"),
        ('{"score": -1}', r"not on the scale .* \(-1\)"),
        ("1000", r"not on the scale .* \(1000\)"),
        ('{"score": true}', "not a number"),
        ('{"score": [85]}', "not a number"),
        ('{"score": "high"}', "not a number"),
        ('{"score": NaN}', "not a number"),
        ('{"score": 1e999}', "not a number"),
        ("85,5", "not a number"),
        ("1.2.3", "not a number"),
        ("9" * 400, "not a number"),
        ('{"score": 85, "errors": ["word 3 is', 'no value of "score" can be read'),
        ("{'score': 85, 'errors': 2}", 'no value of "score" can be read'),
        ('{"score": null, "confidence": 3}', 'no value of "score" can be read'),
    ],
)
def test_what_is_none(text: str, reason: str) -> None:
    with pytest.raises(UnusableAnswerError, match=reason):
        SCORES.read(text)


@pytest.mark.parametrize(("text", "value"), [('{"better": 1}', 1), ('{"better": "2"}', 2), ('so {"better": 0}', 0)])
def test_what_is_a_choice(text: str, value: float) -> None:
    assert PAIRS.read(text) == value


@pytest.mark.parametrize("text", ["1", "the first", '{"better": 3}', '{"better": "A"}', '{"better": 1.5}'])
def test_what_is_no_choice(text: str) -> None:
    with pytest.raises(UnusableAnswerError):
        PAIRS.read(text)


def test_the_scale_is_that_of_the_campaign() -> None:
    assert AnswerReader(Scale(low=0, high=6), in_pairs=False).read("5/6") == 5
    with pytest.raises(UnusableAnswerError, match=r"not on the scale from 0 to 6 \(7\)"):
        AnswerReader(Scale(low=0, high=6), in_pairs=False).read("7")
