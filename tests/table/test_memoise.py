"""Results computed from the same judgments are computed once."""

from __future__ import annotations

import gc

from adjudge.table.judgments import Judgments
from adjudge.table.maths import LATEST, memoised


def judgments() -> Judgments:
    return Judgments.from_columns({"system": ["a"], "score": [1.0], "protocol": ["da"]})


def test_the_same_judgments_and_settings_are_made_once() -> None:
    made: list[str] = []

    @memoised
    def make(own: Judgments, *, method: str = "raw") -> list[int]:
        made.append(f"{len(own)} {method}")
        return [len(made)]

    first, equal = judgments(), judgments()
    assert make(first) is make(first)
    assert make(first, method="z") is not make(first)
    assert make(equal) is not make(first), "equal judgments are others"
    assert made == ["1 raw", "1 z", "1 raw"]
    for _ in range(LATEST):
        make(judgments())
    assert make(first) == [len(made)], "the oldest are forgotten"


def test_judgments_that_are_gone_are_not_taken_for_others() -> None:
    made: list[int] = []

    @memoised
    def make(own: Judgments) -> int:
        made.append(len(own))
        return len(made)

    for expected in range(1, 4):
        assert make(judgments()) == expected
        gc.collect()
