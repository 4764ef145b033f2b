"""Scores by system and segment, each once: what names a segment, and what to do with two scores of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.core.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from adjudge.formats.metric_scores import MetricScore

    Cells = dict[tuple[str, str], float]
    Naming = Callable[[MetricScore], str]


def place_of(human: Sequence[MetricScore], metrics: Sequence[MetricScore]) -> Naming:
    """What names the segment of a score: its own name, or document and segment where names start again."""
    twice = _in_two_documents(human) or _in_two_documents(metrics)
    if twice is None:
        return lambda one: str(one.segment)
    for whose, scores in (("human", human), ("metric", metrics)):
        if any(one.document is None for one in scores):
            segment, first, second = twice
            raise DataError(
                f"segment '{segment}' is in the documents '{first}' and '{second}', but {whose} scores do not all say "
                "their document; give a column 'document', or number the segments through"
            )
    return lambda one: f"{one.document}:{one.segment}"


def _in_two_documents(scores: Sequence[MetricScore]) -> tuple[str, str, str] | None:
    seen: dict[str | None, str] = {}
    for one in scores:
        if one.document is not None and seen.setdefault(one.segment, one.document) != one.document:
            return str(one.segment), seen[one.segment], one.document
    return None


def score_cells(scores: Sequence[MetricScore], named: Naming) -> tuple[dict[str, Cells], int]:
    """By metric, the score of every system and segment; and how many scores repeat another exactly."""
    found: dict[str, Cells] = {}
    repeated = 0
    for one in scores:
        if one.score is None:
            continue
        cells, place = found.setdefault(one.metric, {}), (one.system, named(one))
        if place not in cells:
            cells[place] = one.score
        elif cells[place] == one.score:
            repeated += 1
        else:
            raise DataError(
                f"'{one.metric}' has two scores of segment '{place[1]}' by system '{one.system}' "
                f"({cells[place]:g} and {one.score:g}); keep one, or give their mean"
            )
    return found, repeated
