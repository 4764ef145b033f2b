"""What some formats need to know besides the files. Every field has a command-line option of the same name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class ReadOptions:
    """Options of the readers; each reader uses those that concern it."""

    human: str | None = None
    """Regular expression for systems that are human translations (default: `core.humans.HUMAN_PATTERN`)."""
    pair: str | None = None
    """The language pair of files that do not say it."""
    segment_column: str | None = None
    """`rank-table`: the column that identifies the segment."""
    rank_columns: tuple[str, ...] = ()
    """`rank-table`: the columns that hold the ranks, one per candidate."""
    batches: tuple[Path, ...] = ()
    """`appraise`: the batch files that the tasks came from."""
    annotators: Path | None = None
    """`appraise`: the map from accounts to people."""
    stacked: int = 1
    """`rank-lines`: how many annotators stand one after the other in each file."""
