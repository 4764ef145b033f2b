"""Human scores in the form of metric scores: from judgments, or from a table that holds them already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.core.errors import DataError
from adjudge.formats.metric_scores import MetricScore, read_metric_scores
from adjudge.meta.gold import gold
from adjudge.meta.join import HUMAN

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adjudge.core.judgments import Judgments
    from adjudge.results.gold import Gold

# Names under which tables keep human scores.
COLUMNS = ("human", "gold", "da", "z", "mqm", "esa", "score")


def from_judgments(judgments: Judgments) -> tuple[list[MetricScore], Gold]:
    """The mean z-score of every segment of every system, and the gold standard with what it left out."""
    made = gold([judgments], level="segments")
    return [MetricScore(HUMAN, one.system, one.segment, one.document, one.z) for one in made.scores], made


def from_table(paths: Sequence[Path], column: str | None) -> list[MetricScore]:
    """The column of human scores of a table (`human`, `gold` and the like, or the one named)."""
    found = read_metric_scores(paths)
    names = list(dict.fromkeys(one.metric for one in found))
    chosen = column or next((name for wanted in COLUMNS for name in names if name.casefold() == wanted), None)
    if chosen is None and len(names) == 1:
        chosen = names[0]
    if chosen not in names:
        raise DataError(f"no column of human scores among {', '.join(names)}; name it with --gold-column")
    return [one for one in found if one.metric == chosen]
